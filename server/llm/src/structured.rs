//! Answers that must be JSON of a certain form.
//!
//! The schema comes from a Rust type. It is sent along, so that providers which can keep the model to it; whatever comes
//! back is checked here all the same, and a first answer that does not fit is sent back with what is wrong, once.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::foreign;

/// What is wrong with an answer is told up to so many times.
const COMPLAINTS: usize = 8;

/// Keywords that say how large or long something may be.
const BOUNDS: [&str; 15] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "default",
];

/// How much of an answer that cannot be used stands in the question for another, in bytes.
const REMEMBERED: usize = 64 << 10;

/// An answer as it stands in the conversation that goes on after it: whole, unless it is longer than any that is asked for. Each
/// word of it is paid for once more.
pub fn remembered(answer: &str) -> String {
    if answer.len() <= REMEMBERED {
        return answer.to_owned();
    }
    let end = (0..=REMEMBERED).rev().find(|at| answer.is_char_boundary(*at)).unwrap_or(0);
    format!("{}\n[... {} bytes in all]", &answer[..end], answer.len())
}

/// The schema of a type, with every subschema in its place, since some servers do not follow references.
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>().to_value();
    if let Value::Object(fields) = &mut schema {
        fields.remove("title");
    }
    schema
}

/// The schema without bounds, which some providers refuse; they are checked here.
pub(crate) fn without_bounds(schema: &Value) -> Value {
    changed(schema, &|fields| {
        fields.retain(|name, _| !BOUNDS.contains(&name.as_str()));
        if fields.contains_key("properties") {
            fields.insert("additionalProperties".into(), json!(false));
        }
    })
}

/// As OpenAI's strict mode wants it: every property required, no others, no bounds.
pub(crate) fn strict(schema: &Value) -> Value {
    changed(&without_bounds(schema), &|fields| {
        if let Some(Value::Object(properties)) = fields.get("properties") {
            let names: Vec<&String> = properties.keys().collect();
            let names = json!(names);
            fields.insert("required".into(), names);
        }
    })
}

/// Changes every schema in a schema; the names of properties are none.
fn changed(schema: &Value, change: &dyn Fn(&mut Map<String, Value>)) -> Value {
    match schema {
        Value::Object(fields) => {
            let mut fields: Map<String, Value> = fields
                .iter()
                .map(|(name, value)| match (name.as_str(), value) {
                    ("properties" | "$defs", Value::Object(inner)) => {
                        let inner = inner.iter().map(|(name, value)| (name.clone(), changed(value, change)));
                        (name.clone(), Value::Object(inner.collect()))
                    }
                    ("enum" | "const" | "required" | "default", value) => (name.clone(), value.clone()),
                    (_, value) => (name.clone(), changed(value, change)),
                })
                .collect();
            change(&mut fields);
            Value::Object(fields)
        }
        Value::Array(items) => items.iter().map(|item| changed(item, change)).collect(),
        other => other.clone(),
    }
}

/// Reads an answer.
///
/// # Errors
/// What is wrong with it, in words that a model can act upon.
pub fn parse<T: DeserializeOwned>(text: &str, schema: &Value) -> Result<T, String> {
    let json = json_in(text)?;
    let mut value: Value = serde_json::from_str(json).map_err(|error| format!("it is not JSON: {error}"))?;
    // Here the model's words enter: titles and reasons are shown in terminals.
    foreign::clean(&mut value);
    let validator = jsonschema::validator_for(schema).map_err(|error| format!("the schema cannot be used: {error}"))?;
    let complaints: Vec<String> = validator
        .iter_errors(&value)
        .take(COMPLAINTS)
        .map(|error| match error.instance_path().to_string() {
            at if at.is_empty() => error.to_string(),
            at => format!("at {at}: {error}"),
        })
        .map(|complaint| crate::http::quoted(&complaint))
        .collect();
    if !complaints.is_empty() {
        return Err(complaints.join("; "));
    }
    T::deserialize(value).map_err(|error| error.to_string())
}

/// The JSON in an answer: all of it, what stands in its one fence, or what stands between its first and last brace.
fn json_in(text: &str) -> Result<&str, String> {
    let text = text.trim();
    if text.starts_with('{') && text.ends_with('}') {
        return Ok(text);
    }
    let fences: Vec<usize> = text.match_indices("```").map(|(at, _)| at).collect();
    if let [open, close] = fences[..] {
        let inner = &text[open + 3..close];
        return Ok(inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim());
    }
    match (text.find('{'), text.rfind('}')) {
        (Some(first), Some(last)) if first < last => Ok(&text[first..=last]),
        _ => Err("there is no JSON object in it".into()),
    }
}

/// The question for a second try.
pub(crate) fn complaint(problem: &str) -> String {
    format!(
        "Your answer cannot be used: {problem}.\nAnswer again with one JSON object that fits the schema and nothing else: \
         no text around it, no fence."
    )
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Plan {
        /// In one line.
        title: String,
        #[schemars(range(min = 0, max = 100))]
        innovation: u8,
        note: Option<String>,
        steps: Vec<Step>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Step {
        what: String,
    }

    fn read(text: &str) -> Result<Plan, String> {
        parse(text, &schema_of::<Plan>())
    }

    const GOOD: &str = r#"{"title":"t","innovation":5,"steps":[{"what":"w"}]}"#;

    #[test]
    fn json_is_found_where_models_put_it() {
        let good = read(GOOD).unwrap();
        for text in [
            format!("\n{GOOD}\n"),
            format!("```json\n{GOOD}\n```"),
            format!("Here you are:\n```\n{GOOD}\n```\nI hope {{it}} helps."),
            format!("Sure! {GOOD} Good luck."),
        ] {
            assert_eq!(read(&text).as_ref(), Ok(&good), "{text}");
        }
    }

    #[test]
    fn complaints_name_the_place() {
        let check = |text: &str, expected: &str| {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("I cannot do that.", "no JSON object");
        check("", "no JSON object");
        check(r#"{"title":"t","innovation":5,"steps":[{"what":"w"}"#, "not JSON");
        check(r#"{"title":"t","innovation":5,"steps":[{"what":"w"}] "x"}"#, "not JSON");
        check(r#"{"title":"t","innovation":500,"steps":[]}"#, "at /innovation: 500 is greater than");
        check(r#"{"title":"t","innovation":5,"steps":[{"who":"w"}]}"#, "at /steps/0: \"what\" is a required property");
        check(r#"{"title":"t","innovation":5}"#, "\"steps\" is a required property");
    }

    #[test]
    fn schemas_are_put_as_providers_want_them() {
        let schema = schema_of::<Plan>();
        assert!(schema.get("$defs").is_none(), "{schema}");
        assert_eq!(schema["properties"]["innovation"]["maximum"], json!(100));
        let loose = without_bounds(&schema);
        assert!(loose["properties"]["innovation"].get("maximum").is_none(), "{loose}");
        assert_eq!(loose["properties"]["title"], schema["properties"]["title"]);
        let strict = strict(&schema);
        assert_eq!(strict["additionalProperties"], json!(false));
        assert_eq!(strict["properties"]["steps"]["items"]["additionalProperties"], json!(false));
        let mut required: Vec<&str> = strict["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        required.sort_unstable();
        assert_eq!(required, ["innovation", "note", "steps", "title"]);
    }
}
