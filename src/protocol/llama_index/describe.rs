//! How the system's prompt describes its tools.

use super::super::ToolSpec;
use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

/// The value of the slot `tool_desc`.
pub(super) fn descriptions(tools: &[ToolSpec]) -> String {
    let described: Vec<String> =
        tools.iter().map(|tool| describe(&tool.name, &tool.description, &python_json(&tool.schema()))).collect();
    described.join("\n")
}

/// The value of the slot `tool_names`.
pub(super) fn names(tools: &[ToolSpec]) -> String {
    tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// One tool; `schema` is its arguments' JSON schema as text.
pub fn describe(name: &str, description: &str, schema: &str) -> String {
    format!("> Tool Name: {name}\nTool Description: {description}\nTool Args: {schema}\n")
}

/// JSON as Python's `json.dumps(…, ensure_ascii=False)` writes it: spaces behind commas and colons.
pub(super) fn python_json(value: &Value) -> String {
    let mut bytes = Vec::new();
    // A value that is in memory always serialises, as UTF-8.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, Spaced));
    String::from_utf8(bytes).unwrap_or_default()
}

struct Spaced;

impl Spaced {
    fn comma<W: ?Sized + Write>(writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }
}

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        Self::comma(writer, first)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        Self::comma(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
