//! Prompts that say the same with other white space.

use super::Frame;
use crate::types::Message;

/// What is written otherwise: its name, what is replaced, and by what.
const WAYS: [(&str, &str, &str); 3] = [
    ("two spaces after a full stop", ". ", ".  "),
    ("two blank lines for one", "\n\n", "\n\n\n"),
    ("a space at the ends of lines", "\n", " \n"),
];
const IN_FRONT: &str = "a line break in front";

/// Ways to write white space otherwise, as bits: those of `WAYS`, then `IN_FRONT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spacing(u8);

impl Spacing {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..1 << (WAYS.len() + 1)).map(Self)
    }

    /// Its name, such as `two blank lines for one and a line break in front`.
    pub fn name(self) -> String {
        let names = WAYS.iter().map(|way| way.0).chain([IN_FRONT]).enumerate();
        let used: Vec<&str> = names.filter(|(bit, _)| self.has(*bit)).map(|(_, name)| name).collect();
        used.join(" and ")
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|spacing| spacing.name() == name)
    }

    fn has(self, bit: usize) -> bool {
        self.0 >> bit & 1 == 1
    }

    fn text(self, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let front = if self.has(WAYS.len()) { "\n" } else { "" };
        let used = WAYS.iter().enumerate().filter(|(bit, _)| self.has(*bit));
        used.fold(format!("{front}{text}"), |text, (_, (_, from, to))| text.replace(from, to))
    }
}

impl Frame {
    /// The same with other white space in what stands before and after the question.
    #[must_use]
    pub fn spaced(&self, spacing: Spacing) -> Self {
        let said = |text: &str| spacing.text(text);
        let message =
            |message: &Message| Message { content: said(&message.content).into(), verbatim: None, ..message.clone() };
        Self {
            prefix: said(&self.prefix).into(),
            suffix: said(&self.suffix).into(),
            system: self.system.as_ref().map(|text| said(text).into()),
            examples: self.examples.iter().map(message).collect(),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, Spacing};
    use std::collections::BTreeSet;

    #[test]
    fn spacings_differ_in_white_space_alone_and_are_found_by_name() {
        let frame = Frame::text("Answer. Be short.\n\nQuestion: Who?\n");
        let mut texts = BTreeSet::new();
        for spacing in Spacing::all() {
            let text = frame.spaced(spacing).prefix.to_string();
            assert!(text.split_whitespace().eq(frame.prefix.split_whitespace()), "{text:?}");
            assert_eq!(Spacing::named(&spacing.name()), Some(spacing));
            texts.insert(text);
        }
        assert_eq!(texts.len(), 15);
        assert!(!texts.contains(&*frame.prefix));
        assert_eq!(Spacing::named("none"), None);
    }
}
