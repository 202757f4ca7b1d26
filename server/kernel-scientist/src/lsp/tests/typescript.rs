//! The extension's types are written from the server's, so that the two cannot drift apart.
//!
//! After a change of the protocol: `KERNEL_SCIENTIST_WRITE_PROTOCOL=1 cargo nextest run -p kernel-scientist typescript`.

use std::fmt::Write;
use std::path::PathBuf;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::lsp::commands;
use crate::lsp::protocol::{self, Everything};

const VARIABLE: &str = "KERNEL_SCIENTIST_WRITE_PROTOCOL";

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vscode-extension/src/protocol.ts")
}

#[test]
fn the_extension_has_the_types_of_the_server() {
    let written = module();
    if std::env::var_os(VARIABLE).is_some() {
        std::fs::create_dir_all(file().parent().unwrap()).unwrap();
        std::fs::write(file(), &written).unwrap();
    }
    let present = std::fs::read_to_string(file()).unwrap_or_default();
    assert!(present == written, "{} is not what the server says; write it anew with {VARIABLE}=1", file().display());
}

/// All of the module.
fn module() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let schema = generator.into_root_schema_for::<Everything>().to_value();
    let mut out = "// What client and server say to each other beyond the Language Server Protocol.\n\
                   // Written from server/kernel-scientist/src/lsp/protocol.rs by its tests; changes go there.\n\n"
        .to_owned();
    out.push_str("/** Methods, by what they are for. */\nexport const Methods = {\n");
    for (name, method) in [
        ("population", protocol::POPULATION),
        ("runs", protocol::RUNS),
        ("version", protocol::VERSION),
        ("kernels", protocol::KERNELS),
        ("status", protocol::STATUS),
        ("plan", protocol::PLAN),
        ("propose", protocol::PROPOSE),
        ("preview", protocol::PREVIEW),
        ("machineCode", protocol::MACHINE_CODE),
        ("proposed", protocol::PROPOSED),
        ("key", protocol::KEY),
        ("runEvent", protocol::RUN_EVENT),
        ("model", protocol::MODEL),
        ("modelPart", protocol::MODEL_PART),
    ] {
        let _ = writeln!(out, "  {name}: \"{method}\",");
    }
    out.push_str(
        "} as const;\n\n/** Commands of the server, for `workspace/executeCommand`. */\nexport const Commands = {\n",
    );
    for command in commands::NAMES {
        let _ = writeln!(out, "  {}: \"{command}\",", command.rsplit('.').next().unwrap());
    }
    out.push_str("} as const;\n");
    for (name, schema) in schema["$defs"].as_object().unwrap() {
        out.push('\n');
        document(&mut out, schema, "");
        if is_plain_object(schema) {
            let _ = writeln!(out, "export interface {name} {}", of_type(schema, ""));
        } else {
            let _ = writeln!(out, "export type {name} = {};", of_type(schema, ""));
        }
    }
    out
}

fn document(out: &mut String, schema: &Value, indent: &str) {
    let Some(words) = schema["description"].as_str() else { return };
    let lines: Vec<&str> = words.lines().collect();
    if let [line] = lines[..] {
        let _ = writeln!(out, "{indent}/** {line} */");
        return;
    }
    let _ = writeln!(out, "{indent}/**");
    for line in lines {
        let _ = writeln!(out, "{}", format!("{indent} * {line}").trim_end());
    }
    let _ = writeln!(out, "{indent} */");
}

fn is_plain_object(schema: &Value) -> bool {
    schema["properties"].is_object() && ["oneOf", "anyOf", "allOf", "$ref"].iter().all(|key| schema[*key].is_null())
}

/// A schema as a type. What it says with several keywords holds at once.
fn of_type(schema: &Value, indent: &str) -> String {
    let mut parts = Vec::new();
    if let Some(name) = schema["$ref"].as_str() {
        parts.push(name.rsplit('/').next().unwrap().to_owned());
    }
    if let Some(all) = schema["allOf"].as_array() {
        parts.extend(all.iter().map(|part| of_type(part, indent)));
    }
    if let Some(some) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        parts.push(union(some.iter().map(|part| of_type(part, indent)).collect()));
    }
    if let Some(value) = schema.get("const") {
        parts.push(value.to_string());
    } else if let Some(values) = schema["enum"].as_array() {
        parts.push(union(values.iter().map(Value::to_string).collect()));
    } else {
        match &schema["type"] {
            Value::String(name) => parts.push(basic(name, schema, indent)),
            Value::Array(names) => {
                parts.push(union(names.iter().map(|name| basic(name.as_str().unwrap(), schema, indent)).collect()));
            }
            _ => {}
        }
    }
    match parts.len() {
        0 => "unknown".into(),
        1 => parts.remove(0),
        _ => parts.iter().map(|part| grouped(part)).collect::<Vec<_>>().join(" & "),
    }
}

fn union(mut parts: Vec<String>) -> String {
    parts.dedup();
    parts.join(" | ")
}

/// In parentheses where something else could be read into it.
fn grouped(part: &str) -> String {
    let is_simple = !part.contains(" | ") || (part.starts_with('{') && !part.contains("} | "));
    if is_simple { part.to_owned() } else { format!("({part})") }
}

fn basic(name: &str, schema: &Value, indent: &str) -> String {
    match name {
        "integer" | "number" => "number".into(),
        "object" => object(schema, indent),
        "array" => match (&schema["prefixItems"], &schema["items"]) {
            (Value::Array(items), _) => {
                let items: Vec<String> = items.iter().map(|item| of_type(item, indent)).collect();
                format!("[{}]", items.join(", "))
            }
            (_, items) => format!("{}[]", grouped(&of_type(items, indent))),
        },
        other => other.to_owned(),
    }
}

fn object(schema: &Value, indent: &str) -> String {
    let Some(properties) = schema["properties"].as_object() else {
        let values = &schema["additionalProperties"];
        let values = if values.is_object() { of_type(values, indent) } else { "unknown".into() };
        return format!("Record<string, {values}>");
    };
    let inner = format!("{indent}  ");
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut out = "{\n".to_owned();
    for (name, property) in properties {
        document(&mut out, property, &inner);
        let mark = if required.iter().any(|known| known == name) { "" } else { "?" };
        let _ = writeln!(out, "{inner}{name}{mark}: {};", of_type(property, &inner));
    }
    out.push_str(indent);
    out.push('}');
    out
}

#[test]
fn schemas_become_types() {
    for (schema, expected) in [
        (serde_json::json!({ "type": "integer", "format": "int64" }), "number"),
        (serde_json::json!({ "type": ["string", "null"] }), "string | null"),
        (serde_json::json!({ "type": "array", "items": { "type": ["string", "null"] } }), "(string | null)[]"),
        (
            serde_json::json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "number" }] }),
            "[string, number]",
        ),
        (serde_json::json!({ "anyOf": [{ "$ref": "#/$defs/Basis" }, { "type": "null" }] }), "Basis | null"),
        (
            serde_json::json!({ "oneOf": [{ "type": "string", "const": "a" }, { "type": "string", "const": "b" }] }),
            "\"a\" | \"b\"",
        ),
        (
            serde_json::json!({ "type": "object", "additionalProperties": { "type": "number" } }),
            "Record<string, number>",
        ),
        (serde_json::json!(true), "unknown"),
        (
            serde_json::json!({ "type": "object", "properties": { "a": { "const": "x" }, "b": true }, "required": ["a"],
                "$ref": "#/$defs/Rest" }),
            "Rest & {\n  a: \"x\";\n  b?: unknown;\n}",
        ),
    ] {
        assert_eq!(of_type(&schema, ""), expected, "{schema}");
    }
}
