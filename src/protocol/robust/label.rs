//! Labels at the beginning of a line: `Thought 1:`, in whatever form a model writes them.

use crate::types::python::is_python_space;

/// What a label announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelKind {
    Thought,
    Action,
    /// The argument of an action whose tool is alone on its line: `Action Input:`.
    Input,
    Observation,
    /// `Final Answer:` or `Answer:`.
    Answer,
}

/// Longer words before those that they begin with.
const WORDS: [(&str, LabelKind); 15] = [
    ("thought", LabelKind::Thought),
    ("思考", LabelKind::Thought),
    ("想法", LabelKind::Thought),
    ("action input", LabelKind::Input),
    ("action_input", LabelKind::Input),
    ("行动输入", LabelKind::Input),
    ("action", LabelKind::Action),
    ("行动", LabelKind::Action),
    ("动作", LabelKind::Action),
    ("observation", LabelKind::Observation),
    ("观察", LabelKind::Observation),
    ("final answer", LabelKind::Answer),
    ("最终答案", LabelKind::Answer),
    ("answer", LabelKind::Answer),
    ("答案", LabelKind::Answer),
];

/// A label and what follows it on its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label<'a> {
    pub(super) kind: LabelKind,
    pub(super) number: Option<usize>,
    pub(super) rest: &'a str,
}

/// Marks around words in markdown.
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
    Some(Label { kind: *word, number, rest: rest.trim_start_matches(is_python_space) })
}

/// Whether a line begins in the form asked for, apart from white space: `{name} {n}:`, then a space or nothing.
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
