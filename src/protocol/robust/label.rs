//! Labels at the beginning of a line: `Thought 1:`, in whatever form a model writes them.

use crate::types::python::is_python_space;

/// What a label announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Thought,
    Action,
    /// The argument of an action whose tool stands alone: `Action Input:`.
    Input,
    Observation,
    /// `Final Answer:` or `Answer:`.
    Answer,
}

/// Longer words before those that they begin with.
const WORDS: [(&str, Word); 15] = [
    ("thought", Word::Thought),
    ("思考", Word::Thought),
    ("想法", Word::Thought),
    ("action input", Word::Input),
    ("action_input", Word::Input),
    ("行动输入", Word::Input),
    ("action", Word::Action),
    ("行动", Word::Action),
    ("动作", Word::Action),
    ("observation", Word::Observation),
    ("观察", Word::Observation),
    ("final answer", Word::Answer),
    ("最终答案", Word::Answer),
    ("answer", Word::Answer),
    ("答案", Word::Answer),
];

/// A label and what follows it on its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label<'a> {
    pub(super) word: Word,
    pub(super) number: Option<usize>,
    pub(super) rest: &'a str,
}

/// Marks that stand around words in markdown.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '*' | '_' | '`' | '#' | '>' | '~')
}

/// Marks, and what begins the item of a list.
fn before_label(c: char) -> bool {
    is_python_space(c) || is_mark(c) || matches!(c, '-' | '•')
}

/// The label at the beginning of `line`, behind marks if need be.
pub(super) fn label(line: &str) -> Option<Label<'_>> {
    let text = line.trim_start_matches(before_label);
    // Most lines begin with none of these letters, and every line is looked at.
    text.bytes().next().filter(|byte| b"tTaAoOfF".contains(byte) || *byte >= 0x80)?;
    let (name, word) = WORDS.iter().find(|(name, _)| starts_with(text, name))?;
    let (number, rest) = number(text[name.len()..].trim_start_matches(is_python_space));
    let rest = rest.trim_start_matches(|c| is_python_space(c) || is_mark(c));
    let rest = rest.strip_prefix([':', '：'])?.trim_start_matches(['*', '_']);
    Some(Label { word: *word, number, rest: rest.trim_start_matches(is_python_space) })
}

/// Whether a line begins as it should, apart from white space: `{name} {n}:`, then a space or nothing.
pub(super) fn is_canonical(line: &str, name: &str, n: usize) -> bool {
    let rest = line.trim_start_matches(is_python_space).strip_prefix(&format!("{name} {n}:"));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Without regard to the case of ASCII letters.
pub(super) fn starts_with(text: &str, beginning: &str) -> bool {
    text.get(..beginning.len()).is_some_and(|head| head.eq_ignore_ascii_case(beginning))
}

fn number(text: &str) -> (Option<usize>, &str) {
    let digit = |c: char| c.to_digit(10).or_else(|| ('０'..='９').contains(&c).then(|| c as u32 - '０' as u32));
    let end = text.find(|c| digit(c).is_none()).unwrap_or(text.len());
    let value = text[..end].chars().filter_map(digit).fold(0_usize, |value, digit| {
        value.saturating_mul(10).saturating_add(usize::try_from(digit).unwrap_or(usize::MAX))
    });
    ((end > 0).then_some(value), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::{Word, is_canonical, label};

    #[test]
    fn labels_are_found_in_every_form() {
        for (line, word, number, rest) in [
            ("Thought 1: t", Word::Thought, Some(1), "t"),
            ("Thought: t", Word::Thought, None, "t"),
            ("ACTION 12:Search[x]", Word::Action, Some(12), "Search[x]"),
            ("Action1 : Search[x]", Word::Action, Some(1), "Search[x]"),
            ("**Action 1:** Search[x]", Word::Action, Some(1), "Search[x]"),
            ("**Action 1**: Search[x]", Word::Action, Some(1), "Search[x]"),
            ("  > - _Action_ : Search[x]", Word::Action, None, "Search[x]"),
            ("### Thought 2", Word::Thought, Some(2), ""),
            ("Action 1：Search[x]", Word::Action, Some(1), "Search[x]"),
            ("行动 １：Search[x]", Word::Action, Some(1), "Search[x]"),
            ("思考1：好", Word::Thought, Some(1), "好"),
            ("观察 1: x", Word::Observation, Some(1), "x"),
            ("Action Input: x", Word::Input, None, "x"),
            ("Final Answer: x", Word::Answer, None, "x"),
            ("答案：x", Word::Answer, None, "x"),
            ("Observation 99999999999999999999999: x", Word::Observation, Some(usize::MAX), "x"),
        ] {
            let found = label(&if line.ends_with('2') { format!("{line}:") } else { line.to_owned() })
                .map(|label| (label.word, label.number, label.rest.to_owned()));
            assert_eq!(found, Some((word, number, rest.to_owned())), "{line}");
        }
        for line in ["Thought", "Action 1", "Actions: x", "My Action: x", "Action 1 (a): x", "", "*", "Thoughtful: x"] {
            assert_eq!(label(line), None, "{line}");
        }
    }

    #[test]
    fn one_form_is_canonical() {
        assert!(is_canonical("Action 1: x", "Action", 1));
        assert!(is_canonical(" Action 1:", "Action", 1));
        for line in ["Action 1:x", "Action 2: x", "action 1: x", "*Action 1: x", "Action: x", "Action 1： x"] {
            assert!(!is_canonical(line, "Action", 1), "{line}");
        }
    }
}
