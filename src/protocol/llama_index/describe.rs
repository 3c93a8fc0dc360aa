//! How the system's prompt describes its tools.

use super::super::ToolSpec;
use super::super::python::dumps;

/// The value of the slot `tool_desc`.
pub(super) fn descriptions(tools: &[ToolSpec]) -> String {
    let described: Vec<String> =
        tools.iter().map(|tool| describe(&tool.name, &tool.description, &dumps(&tool.schema()))).collect();
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
