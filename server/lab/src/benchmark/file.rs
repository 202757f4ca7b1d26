//! The tables of a benchmark file as they are written, and their JSON schema.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

/// The JSON schema of benchmark files, for editors.
pub fn json_schema() -> Schema {
    let mut schema = schemars::schema_for!(File);
    schema.insert("title".into(), "Benchmark of HIP kernels (NAME.bench.toml)".into());
    schema
}

/// A value and where it stands in the file.
#[derive(Clone, Debug)]
pub(super) struct At<T> {
    pub(super) span: Range<usize>,
    pub(super) value: T,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<T>::deserialize(deserializer)?;
        Ok(Self { span: spanned.span(), value: spanned.into_inner() })
    }
}

impl<T: JsonSchema> JsonSchema for At<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A benchmark: how a kernel is fed, checked and timed.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// What is called: the name of a host function that launches, or a kernel with its grid and block.
    pub(super) entry: Option<At<EntryField>>,
    /// Arguments of the entry, in its order.
    #[serde(default)]
    pub(super) argument: Vec<At<ArgumentTable>>,
    /// How results are checked.
    #[serde(default)]
    pub(super) check: CheckTable,
    /// Work of one call, for the roofline.
    #[serde(default)]
    pub(super) cost: CostTable,
    /// State of the caches before a call: `warm` (they hold what they hold) or `cold` (flushed).
    #[serde(default)]
    pub(super) cache: CacheState,
    /// Problem sizes: parameters that expressions use, all with the same names.
    #[serde(default)]
    pub(super) shape: Vec<At<ShapeTable>>,
    /// How the whole program is built and run, for files with a main function.
    #[serde(default)]
    pub(super) program: ProgramTable,
}

/// State of the caches before a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// They hold what they hold, the inputs perhaps among it.
    #[default]
    Warm,
    /// Flushed before each sample.
    Cold,
}

/// A C++ expression over the shape's parameters, or a number.
#[derive(Clone, Debug)]
pub(super) struct Code(pub(super) String);

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;
        impl Visitor<'_> for Words {
            type Value = Code;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a C++ expression in quotes, or a number")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Code, E> {
                Ok(Code(text.to_owned()))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Code, E> {
                Ok(Code(number.to_string()))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Code, E> {
                if number.is_finite() {
                    Ok(Code(format!("{number:?}")))
                } else {
                    Err(E::custom("a number must be finite"))
                }
            }
        }
        deserializer.deserialize_any(Words)
    }
}

impl JsonSchema for Code {
    fn schema_name() -> Cow<'static, str> {
        "Expression".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A C++ expression over the shape's parameters, or a number.",
            "type": ["string", "number"]
        })
    }
}

/// One expression, or one to three of them for x, y and z.
#[derive(Clone, Debug)]
pub(super) struct Dimensions(pub(super) Vec<At<Code>>);

impl<'de> Deserialize<'de> for Dimensions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Dimensions;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a C++ expression, a number, or one to three of them in brackets for x, y and z")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Dimensions, E> {
                Ok(Dimensions(vec![At { span: 0..0, value: Code(text.to_owned()) }]))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Dimensions, E> {
                self.visit_str(&number.to_string())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Dimensions, A::Error> {
                let mut dimensions = Vec::new();
                while let Some(dimension) = sequence.next_element()? {
                    dimensions.push(dimension);
                }
                if (1..=3).contains(&dimensions.len()) {
                    Ok(Dimensions(dimensions))
                } else {
                    Err(A::Error::invalid_length(dimensions.len(), &self))
                }
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

impl JsonSchema for Dimensions {
    fn schema_name() -> Cow<'static, str> {
        "Dimensions".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<Code>();
        json_schema!({
            "description": "Size in x, or in x, y and z.",
            "anyOf": [one, { "type": "array", "items": one, "minItems": 1, "maxItems": 3 }]
        })
    }
}

/// What is called.
#[derive(Clone, Debug)]
pub(super) enum EntryField {
    Function(String),
    Kernel(KernelTable),
}

/// A kernel that the harness launches.
#[derive(Clone, Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct KernelTable {
    /// Its name, with template arguments where it has any.
    pub(super) kernel: At<String>,
    /// Blocks.
    pub(super) grid: At<Dimensions>,
    /// Work-items of a block.
    pub(super) block: At<Dimensions>,
    /// Bytes of dynamic shared memory.
    pub(super) shared: Option<At<Code>>,
}

impl<'de> Deserialize<'de> for EntryField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = EntryField;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("the name of a host function, or a table with `kernel`, `grid` and `block`")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<EntryField, E> {
                Ok(EntryField::Function(name.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<EntryField, A::Error> {
                KernelTable::deserialize(MapAccessDeserializer::new(map)).map(EntryField::Kernel)
            }
        }
        deserializer.deserialize_any(NameOrTable)
    }
}

impl JsonSchema for EntryField {
    fn schema_name() -> Cow<'static, str> {
        "Entry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kernel = generator.subschema_for::<KernelTable>();
        json_schema!({ "anyOf": [{ "type": "string", "description": "A host function that launches." }, kernel] })
    }
}

/// Which way a buffer's data flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Read only; the harness makes sure of it.
    Input,
    /// Written; holds poison before the call.
    Output,
    /// Read and written.
    Inout,
    /// A number, not a buffer.
    Scalar,
}

/// One argument of the entry.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ArgumentTable {
    /// Its name.
    pub(super) name: At<String>,
    /// Which way its data flows.
    pub(super) kind: Kind,
    /// C++ type of the scalar, or of the buffer's elements.
    #[serde(rename = "type")]
    pub(super) cpp_type: At<String>,
    /// Number of elements (buffers only).
    pub(super) count: Option<At<Code>>,
    /// Contents before the call (inputs only; random uniform numbers if left out).
    pub(super) fill: Option<At<FillField>>,
    /// The number (scalars only).
    pub(super) value: Option<At<Code>>,
}

/// Contents of a buffer: a name, or a table with the name as `kind` and its numbers.
#[derive(Clone, Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FillTable {
    /// `zeros`, `ones`, `iota`, `permutation`, `uniform`, `normal`, `integers`, `constant` or `expression`.
    pub(super) kind: At<String>,
    /// Least value (uniform, integers).
    pub(super) low: Option<At<Code>>,
    /// Greatest value (uniform, integers).
    pub(super) high: Option<At<Code>>,
    /// Mean (normal).
    pub(super) mean: Option<At<Code>>,
    /// Standard deviation (normal).
    pub(super) deviation: Option<At<Code>>,
    /// The value (constant), or the value at index `i` (expression).
    pub(super) value: Option<At<Code>>,
}

#[derive(Clone, Debug)]
pub(super) struct FillField(pub(super) FillTable);

impl<'de> Deserialize<'de> for FillField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = FillField;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("the name of a fill, or a table with `kind`")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<FillField, E> {
                let kind = At { span: 0..0, value: name.to_owned() };
                Ok(FillField(FillTable { kind, low: None, high: None, mean: None, deviation: None, value: None }))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FillField, A::Error> {
                FillTable::deserialize(MapAccessDeserializer::new(map)).map(FillField)
            }
        }
        deserializer.deserialize_any(NameOrTable)
    }
}

impl JsonSchema for FillField {
    fn schema_name() -> Cow<'static, str> {
        "Fill".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<FillTable>();
        let names = super::validate::FILLS;
        json_schema!({ "anyOf": [{ "type": "string", "enum": names }, table] })
    }
}

/// How results are checked.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckTable {
    /// A host function of the file with the entry's arguments, or C++ statements over their names. Left out: the original
    /// version of the code.
    pub(super) reference: Option<At<String>>,
    /// Allowed share of the expected value, for all floating-point outputs.
    pub(super) rtol: Option<At<f64>>,
    /// Allowed difference added to that.
    pub(super) atol: Option<At<f64>>,
    /// Allowed differences by element type, such as `[check.tolerance.float]`.
    #[serde(default)]
    pub(super) tolerance: BTreeMap<String, At<ToleranceTable>>,
}

/// Allowed differences of one element type.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ToleranceTable {
    /// Share of the expected value.
    pub(super) rtol: Option<At<f64>>,
    /// Added to that.
    pub(super) atol: Option<At<f64>>,
}

/// Work of one call.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CostTable {
    /// Floating-point operations.
    pub(super) flops: Option<At<Code>>,
    /// Bytes that must be read and written at least once.
    pub(super) bytes: Option<At<Code>>,
}

/// One problem size.
#[derive(Debug)]
pub(super) struct ShapeTable {
    pub(super) held_out: bool,
    pub(super) parameters: Vec<(At<String>, i64)>,
}

impl<'de> Deserialize<'de> for ShapeTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parameters;
        impl<'de> Visitor<'de> for Parameters {
            type Value = ShapeTable;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a table of whole numbers, and perhaps `held_out = true`")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ShapeTable, A::Error> {
                let mut shape = ShapeTable { held_out: false, parameters: Vec::new() };
                while let Some(key) = map.next_key::<At<String>>()? {
                    if key.value == "held_out" {
                        shape.held_out = map.next_value()?;
                    } else {
                        shape.parameters.push((key, map.next_value()?));
                    }
                }
                // The reader hands the keys over sorted; people read the order that they wrote.
                shape.parameters.sort_by_key(|(name, _)| name.span.start);
                Ok(shape)
            }
        }
        deserializer.deserialize_map(Parameters)
    }
}

impl JsonSchema for ShapeTable {
    fn schema_name() -> Cow<'static, str> {
        "Shape".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One problem size: parameters that expressions use.",
            "type": "object",
            "properties": {
                "held_out": {
                    "type": "boolean",
                    "default": false,
                    "description": "Never shown to a stage that writes code; used to confirm a winner."
                }
            },
            "additionalProperties": { "type": "integer" }
        })
    }
}

/// How the whole program is built and run.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProgramTable {
    /// Arguments.
    #[serde(default)]
    pub(super) args: Vec<String>,
    /// Smaller arguments for the check.
    pub(super) check_args: Option<Vec<String>>,
    /// The main file, where the open file is a header of it; relative to this file.
    pub(super) main: Option<String>,
    /// Further source files of the program, which are compiled and linked with it; relative to this file.
    #[serde(default)]
    pub(super) sources: Vec<String>,
    /// The language standard, such as `c++20`; without it that of `compile_commands.json`, else `gnu++17` as with hipcc.
    pub(super) standard: Option<String>,
    /// Macros, `NAME` or `NAME=VALUE`.
    #[serde(default)]
    pub(super) defines: Vec<String>,
    /// Include folders, relative to this file.
    #[serde(default)]
    pub(super) includes: Vec<String>,
}
