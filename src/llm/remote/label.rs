//! The label at the end of a text prompt, such as `Thought 1:`, which can be sent to a chat model as the beginning of its
//! own answer.

/// Longer last lines, in characters, are not labels.
const LABEL_CHARS: usize = 40;

/// Where in `rest` the label at the end of a prompt begins: its last line, if that is short, ends in a colon (white
/// space aside) and is not the whole prompt.
pub(in crate::llm) fn label_start(prefix: &str, rest: &str) -> Option<usize> {
    let start = match rest.rfind('\n') {
        Some(newline) => newline + 1,
        None if prefix.ends_with('\n') => 0,
        None => return None,
    };
    let line = rest[start..].trim();
    let label = line.ends_with([':', '\u{ff1a}']) && line.chars().nth(LABEL_CHARS).is_none();
    let alone = rest[..start].trim().is_empty() && prefix.trim().is_empty();
    (label && !alone).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::label_start;

    #[test]
    fn a_label_is_a_short_last_line_with_a_colon() {
        for (prefix, rest, label) in [
            ("Examples.\n", "Question: x\nThought 1:", Some("Thought 1:")),
            ("Examples.\n", "Question: x\nThought: ", Some("Thought: ")),
            ("Examples.\n", "Thought 1:", Some("Thought 1:")),
            ("", "问题：x\n思考 1：", Some("思考 1：")),
            ("Examples.", "Thought 1:", None),
            ("", "Thought 1:", None),
            ("\n", "\nThought 1:", None),
            ("Examples.\n", "Question: x\nThought 1: I", None),
            ("Examples.\n", "Question: x\n", None),
            ("Examples.\n", "", None),
            ("Examples.\n", "One long line about something that is no label at all:", None),
        ] {
            assert_eq!(label_start(prefix, rest).map(|start| &rest[start..]), label, "{rest}");
        }
    }
}
