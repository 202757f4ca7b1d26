//! From the tables of a file to a benchmark that makes sense, or the first mistake with its place.

use std::ops::Range;
use std::path::PathBuf;

use super::expression::{code_fault, fault, is_function_name, is_identifier};
use super::file::{
    ArgumentTable, At, CheckTable, Code, Dimensions, EntryField, File, FillField, FillTable, Kind, ProgramTable,
    ShapeTable,
};
use super::locate::{Located, did_you_mean};
use super::{
    Argument, Benchmark, Element, ElementType, Entry, Expression, Fill, Program, Reference, Role, Shape, Tolerance,
};
use crate::LabError;

/// Names of fills.
pub(super) const FILLS: [&str; 9] =
    ["zeros", "ones", "iota", "permutation", "uniform", "normal", "integers", "constant", "expression"];

/// Checks `file` and works out what it leaves to defaults.
pub(super) fn validate(file: File, located: &Located<'_>) -> Result<Benchmark, LabError> {
    let program = program(file.program, located);
    let (parameters, shapes) = shapes(&file.shape, located)?;
    let entry = file.entry.map(|entry| self::entry(entry, located)).transpose()?;
    let arguments = arguments(file.argument, &file.check, located)?;
    check_whole(entry.is_some(), &arguments, &shapes, &program, located)?;
    let cost = |code: Option<At<Code>>| code.map(|code| expression(&code, located)).transpose();
    Ok(Benchmark {
        path: located.path(),
        reference: file.check.reference.map(|text| reference(&text, located)).transpose()?,
        flops: cost(file.cost.flops)?,
        bytes: cost(file.cost.bytes)?,
        cache: file.cache,
        entry,
        arguments,
        parameters,
        shapes,
        program,
    })
}

/// What the parts need of each other.
fn check_whole(
    has_entry: bool,
    arguments: &[Argument],
    shapes: &[Shape],
    program: &Program,
    located: &Located<'_>,
) -> Result<(), LabError> {
    if !has_entry {
        return match (arguments.is_empty() && shapes.is_empty(), *program == Program::default()) {
            (true, false) => Ok(()),
            (true, true) => Err(located.whole(
                "the file is empty; name what is called with `entry = \"FUNCTION\"` and its `[[argument]]` tables, or \
                 give a `[program]` section",
            )),
            (false, _) => Err(located.whole(
                "`entry` is missing; name the host function or kernel that is called, such as `entry = \"launch_add\"`",
            )),
        };
    }
    let is_output =
        |argument: &Argument| matches!(argument.role, Role::Buffer { kind: Kind::Output | Kind::Inout, .. });
    if !arguments.iter().any(is_output) {
        return Err(located.whole(
            "no argument is an output, so nothing could be checked; give one `kind = \"output\"` or `\"inout\"`",
        ));
    }
    if !shapes.iter().any(|shape| !shape.held_out) {
        return Err(located
            .whole("no shape is shown: add a `[[shape]]` without `held_out`, such as `[[shape]]` with `n = 4096`"));
    }
    Ok(())
}

fn expression(code: &At<Code>, located: &Located<'_>) -> Result<Expression, LabError> {
    expression_at(&code.value.0, &code.span, located)
}

fn expression_at(text: &str, span: &Range<usize>, located: &Located<'_>) -> Result<Expression, LabError> {
    match fault(text) {
        Some(fault) => Err(located.error(span, format!("`{text}`: {fault}"))),
        None => Ok(Expression { text: text.trim().to_owned(), line: located.line(span) }),
    }
}

fn entry(entry: At<EntryField>, located: &Located<'_>) -> Result<Entry, LabError> {
    match entry.value {
        EntryField::Function(name) => function(&name, &entry.span, located).map(Entry::Function),
        EntryField::Kernel(table) => Ok(Entry::Kernel {
            kernel: function(&table.kernel.value, &table.kernel.span, located)?,
            grid: dimensions(&table.grid, located)?,
            block: dimensions(&table.block, located)?,
            shared: table.shared.map(|code| expression(&code, located)).transpose()?,
        }),
    }
}

fn function(name: &str, span: &Range<usize>, located: &Located<'_>) -> Result<Expression, LabError> {
    if is_function_name(name) {
        return Ok(Expression { text: name.trim().to_owned(), line: located.line(span) });
    }
    Err(located.error(span, format!("`{name}` is no function name, such as `launch_add` or `gemm<float, 16>`")))
}

fn dimensions(dimensions: &At<Dimensions>, located: &Located<'_>) -> Result<Vec<Expression>, LabError> {
    let one = |code: &At<Code>| {
        let span = if code.span.is_empty() { &dimensions.span } else { &code.span };
        expression_at(&code.value.0, span, located)
    };
    dimensions.value.0.iter().map(one).collect()
}

fn reference(text: &At<String>, located: &Located<'_>) -> Result<Reference, LabError> {
    // The text of a multi-line string begins on the line after its quotes.
    let line = located.line(&text.span) + u32::from(located.opens_a_multi_line_string(&text.span));
    if is_function_name(&text.value) {
        return Ok(Reference::Function(Expression { text: text.value.trim().to_owned(), line }));
    }
    if let Some(fault) = code_fault(&text.value) {
        return Err(located.error(&text.span, format!("the reference: {fault}")));
    }
    if !text.value.contains(['=', '(']) {
        let message = "the reference is neither a function's name nor C++ statements that write the outputs";
        return Err(located.error(&text.span, message));
    }
    Ok(Reference::Code(Expression { text: text.value.clone(), line }))
}

fn shapes(tables: &[At<ShapeTable>], located: &Located<'_>) -> Result<(Vec<String>, Vec<Shape>), LabError> {
    let Some(first) = tables.first() else { return Ok(Default::default()) };
    let names: Vec<&str> = first.value.parameters.iter().map(|(name, _)| name.value.as_str()).collect();
    if names.is_empty() {
        return Err(located.error(&first.span, "the shape has no parameters; give it some, such as `n = 4096`"));
    }
    let mut shapes: Vec<Shape> = Vec::new();
    for table in tables {
        let shape = Shape {
            values: values(table, &names, located)?,
            held_out: table.value.held_out,
            line: located.line(&table.span),
        };
        if shapes.iter().any(|other| other.values == shape.values) {
            return Err(located.error(&table.span, "this shape is in the file already; leave one of them out"));
        }
        shapes.push(shape);
    }
    Ok((names.into_iter().map(String::from).collect(), shapes))
}

/// The shape's values in the order of `names`, which the first shape gave.
fn values(table: &At<ShapeTable>, names: &[&str], located: &Located<'_>) -> Result<Vec<i64>, LabError> {
    for (name, _) in &table.value.parameters {
        if !is_identifier(&name.value) || name.value.starts_with("ks_") {
            let message = format!("`{}` cannot name a parameter: use a C++ identifier, such as `n`", name.value);
            return Err(located.error(&name.span, message));
        }
        if !names.contains(&name.value.as_str()) {
            let hint = did_you_mean(&name.value, names.iter().copied());
            let message = format!("the first shape has no parameter `{}`; all have the same ones{hint}", name.value);
            return Err(located.error(&name.span, message));
        }
    }
    let value = |wanted: &&str| {
        table.value.parameters.iter().find(|(name, _)| name.value == *wanted).map(|(_, value)| *value).ok_or_else(
            || located.error(&table.span, format!("this shape lacks the parameter `{wanted}`; all have the same ones")),
        )
    };
    names.iter().map(value).collect()
}

fn arguments(
    tables: Vec<At<ArgumentTable>>,
    check: &CheckTable,
    located: &Located<'_>,
) -> Result<Vec<Argument>, LabError> {
    let tolerances = Tolerances::new(check, located)?;
    let mut arguments: Vec<Argument> = Vec::new();
    for table in tables {
        let argument = argument(table.value, &table.span, &tolerances, located)?;
        if arguments.iter().any(|other| other.name == argument.0.name) {
            let message = format!("there is an argument `{}` already; names are unique", argument.0.name);
            return Err(located.error(&argument.1, message));
        }
        arguments.push(argument.0);
    }
    Ok(arguments)
}

/// The argument and where its name stands.
fn argument(
    table: ArgumentTable,
    span: &Range<usize>,
    tolerances: &Tolerances,
    located: &Located<'_>,
) -> Result<(Argument, Range<usize>), LabError> {
    let name = table.name.value.clone();
    if !is_identifier(&name) || name.starts_with("ks_") {
        let message = format!("`{name}` cannot name an argument: use a C++ identifier, such as `input`");
        return Err(located.error(&table.name.span, message));
    }
    let element = element(&table.cpp_type, located)?;
    let refuse = |code: &Option<At<Code>>, key: &str, of: &str| match code {
        Some(code) => Err(located.error(&code.span, format!("`{key}` is for {of}; leave it out for `{name}`"))),
        None => Ok(()),
    };
    let role = if table.kind == Kind::Scalar {
        refuse(&table.count, "count", "buffers")?;
        if let Some(fill) = &table.fill {
            return Err(located.error(&fill.span, format!("`fill` is for buffers; give `{name}` a `value`")));
        }
        let value = table.value.ok_or_else(|| {
            located.error(span, format!("the scalar `{name}` needs a `value`, such as `value = \"n\"`"))
        })?;
        Role::Scalar(expression(&value, located)?)
    } else {
        refuse(&table.value, "value", "scalars")?;
        let count = table.count.ok_or_else(|| {
            located.error(span, format!("the buffer `{name}` needs a `count` of elements, such as `count = \"n\"`"))
        })?;
        let fill = fill(table.fill, table.kind, &element, located)?;
        Role::Buffer { kind: table.kind, count: expression(&count, located)?, fill }
    };
    let tolerance = tolerances.of(&element);
    Ok((Argument { name, element, role, tolerance }, table.name.span))
}

fn element(name: &At<String>, located: &Located<'_>) -> Result<Element, LabError> {
    Element::parse(&name.value).ok_or_else(|| {
        let hint = did_you_mean(&name.value, Element::known());
        let message = format!(
            "the type `{}` cannot be filled and compared{hint}; known are the C++ number types, the fixed-width ones \
             (int32_t), half, __half, _Float16, hip_bfloat16, and vectors such as float4",
            name.value
        );
        located.error(&name.span, message)
    })
}

fn fill(field: Option<At<FillField>>, kind: Kind, element: &Element, located: &Located<'_>) -> Result<Fill, LabError> {
    let number = |text: &str| Expression { text: text.to_owned(), line: 0 };
    let Some(At { span, value: FillField(table) }) = field else {
        return Ok(match element.lane {
            _ if kind == Kind::Output => Fill::Zeros,
            ElementType::Bool => Fill::Integers(number("0"), number("1")),
            lane if lane.is_floating() => Fill::Uniform(number("-1"), number("1")),
            _ => Fill::Integers(number("0"), number("99")),
        });
    };
    if kind == Kind::Output {
        return Err(located.error(&span, "an output is poisoned before each call; use `kind = \"inout\"` to fill it"));
    }
    FillReader { table: &table, span: &span, located }.read()
}

/// Reads a fill and makes sure that it has the numbers it needs and no others.
struct FillReader<'a> {
    table: &'a FillTable,
    span: &'a Range<usize>,
    located: &'a Located<'a>,
}

impl FillReader<'_> {
    fn read(&self) -> Result<Fill, LabError> {
        let kind = self.table.kind.value.as_str();
        let allowed: &[&str] = match kind {
            "uniform" | "integers" => &["low", "high"],
            "normal" => &["mean", "deviation"],
            "constant" | "expression" => &["value"],
            _ => &[],
        };
        self.refuse_others(kind, allowed)?;
        Ok(match kind {
            "zeros" => Fill::Zeros,
            "ones" => Fill::Ones,
            "iota" => Fill::Iota,
            "permutation" => Fill::Permutation,
            "uniform" => Fill::Uniform(self.number("low", Some("-1"))?, self.number("high", Some("1"))?),
            "normal" => Fill::Normal(self.number("mean", Some("0"))?, self.number("deviation", Some("1"))?),
            "integers" => Fill::Integers(self.number("low", Some("0"))?, self.number("high", Some("99"))?),
            "constant" => Fill::Constant(self.number("value", None)?),
            "expression" => Fill::Expression(self.number("value", None)?),
            _ => return Err(self.unknown(kind)),
        })
    }

    fn fields(&self) -> [(&'static str, &Option<At<Code>>); 5] {
        let table = self.table;
        [
            ("low", &table.low),
            ("high", &table.high),
            ("mean", &table.mean),
            ("deviation", &table.deviation),
            ("value", &table.value),
        ]
    }

    fn refuse_others(&self, kind: &str, allowed: &[&str]) -> Result<(), LabError> {
        if !FILLS.contains(&kind) {
            return Err(self.unknown(kind));
        }
        for (name, code) in self.fields() {
            if let Some(code) = code.as_ref().filter(|_| !allowed.contains(&name)) {
                let allowed =
                    if allowed.is_empty() { "no numbers".into() } else { format!("`{}`", allowed.join("`, `")) };
                return Err(self.located.error(&code.span, format!("the fill `{kind}` takes {allowed}, not `{name}`")));
            }
        }
        Ok(())
    }

    fn number(&self, wanted: &str, default: Option<&str>) -> Result<Expression, LabError> {
        let found = self.fields().into_iter().find(|(name, _)| *name == wanted).and_then(|(_, code)| code.as_ref());
        match (found, default) {
            (Some(code), _) => expression(code, self.located),
            (None, Some(text)) => Ok(Expression { text: text.to_owned(), line: 0 }),
            (None, None) => {
                let kind = &self.table.kind.value;
                let message =
                    format!("the fill `{kind}` needs a value: `fill = {{ kind = \"{kind}\", {wanted} = ... }}`");
                Err(self.located.error(self.span, message))
            }
        }
    }

    fn unknown(&self, kind: &str) -> LabError {
        let span = if self.table.kind.span.is_empty() { self.span } else { &self.table.kind.span };
        let hint = did_you_mean(kind, FILLS.into_iter());
        self.located.error(span, format!("there is no fill `{kind}`{hint}; known: {}", FILLS.join(", ")))
    }
}

/// The file's tolerances.
struct Tolerances {
    general: [Option<f64>; 2],
    by_type: Vec<(Element, [Option<f64>; 2])>,
}

impl Tolerances {
    fn new(check: &CheckTable, located: &Located<'_>) -> Result<Self, LabError> {
        let relative = |number: &Option<At<f64>>| match number {
            Some(At { span, value }) if *value >= 1.0 && value.is_finite() => Err(located.error(
                span,
                format!("the relative tolerance {value} would take any value for right; use less than 1"),
            )),
            _ => Ok(()),
        };
        let number = |number: &Option<At<f64>>| match number {
            Some(At { span, value }) if !value.is_finite() || *value < 0.0 => {
                Err(located.error(span, format!("the tolerance {value} is no number from 0 up")))
            }
            other => Ok(other.as_ref().map(|number| number.value)),
        };
        let mut by_type = Vec::new();
        for (name, table) in &check.tolerance {
            let name = At { span: table.span.clone(), value: name.clone() };
            relative(&table.value.rtol)?;
            by_type.push((element(&name, located)?, [number(&table.value.rtol)?, number(&table.value.atol)?]));
        }
        relative(&check.rtol)?;
        Ok(Self { general: [number(&check.rtol)?, number(&check.atol)?], by_type })
    }

    fn of(&self, element: &Element) -> Tolerance {
        let default = element.lane.default_tolerance();
        let general = if element.lane.is_floating() { self.general } else { [None; 2] };
        let own = self.by_type.iter().find(|(other, _)| other.lane == element.lane).map_or([None; 2], |(_, own)| *own);
        Tolerance {
            relative: own[0].or(general[0]).unwrap_or(default.relative),
            absolute: own[1].or(general[1]).unwrap_or(default.absolute),
        }
    }
}

fn program(table: ProgramTable, located: &Located<'_>) -> Program {
    let path = located.path();
    let absolute =
        |relative: &String| path.parent().map_or_else(|| PathBuf::from(relative), |folder| folder.join(relative));
    Program {
        args: table.args,
        check_args: table.check_args,
        main: table.main.as_ref().map(absolute),
        sources: table.sources.iter().map(absolute).collect(),
        standard: table.standard,
        defines: table.defines,
        includes: table.includes.iter().map(absolute).collect(),
    }
}
