//! The text of a protocol around a question: rendered once per variant, the same for every question.

use super::tools::Misfit;
use super::{Layout, ToolSpec};
use crate::base::{Message, Prefix};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The fixed part of every request of a variant, and texts for occasions; the [`Layout`] determines which fields are used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub prefix: Prefix,
    /// Text after the question, before the first reply.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub suffix: Arc<str>,
    /// Whether the question itself stands between the two, in place of the protocol's line with its label.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub around: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Message>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// Texts by occasion, such as `feedback` and `force_stop`; slots in braces are filled in by the dialogue.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, Arc<str>>,
}

/// What marks the place of the question in a stored text.
const QUESTION: &str = "{question}";

impl Frame {
    pub fn text(prefix: impl Into<Prefix>) -> Self {
        Self { prefix: prefix.into(), ..Self::default() }
    }

    pub fn around(prefix: impl Into<Prefix>, suffix: impl Into<Arc<str>>) -> Self {
        Self { prefix: prefix.into(), suffix: suffix.into(), around: true, ..Self::default() }
    }

    pub fn text_for(&self, occasion: &str) -> &str {
        self.texts.get(occasion).map_or("", |text| text)
    }

    /// A sentence in the frame's words or else in `ours`. Text of the model's may look like a slot, so it comes last.
    pub(super) fn sentence(&self, key: &str, ours: &str, slots: &[(&str, &str)]) -> String {
        let words = self.texts.get(key).filter(|text| !text.is_empty()).map_or(ours, |text| text).to_owned();
        slots.iter().fold(words, |words, (slot, value)| words.replace(&format!("{{{slot}}}"), value))
    }

    /// What the model is told of arguments that do not fit a tool, where `ours` is for an unknown one and a missing one.
    pub(super) fn misfit(
        &self,
        misfit: &Misfit,
        tool: &ToolSpec,
        [unknown, missing]: [&str; 2],
        list: impl Fn(&[String]) -> String,
    ) -> String {
        let (name, parameter) = (("tool", tool.name.as_str()), ("parameter", tool.parameter.as_str()));
        let (key, ours, argument) = match misfit {
            Misfit::Unknown(names) => ("unknown_argument", unknown, list(names)),
            Misfit::Missing(argument) => ("missing_argument", missing, argument.clone()),
        };
        self.sentence(key, ours, &[name, parameter, ("argument", &argument)])
    }

    /// The form that is stored and hashed: the text for [`Layout::Text`], with `{question}` where the question stands between
    /// two parts of it; otherwise indented JSON, also of a text that would be read as another one.
    pub fn stored(&self, layout: Layout) -> String {
        if layout == Layout::Text {
            let place = if self.around { QUESTION } else { "" };
            let text = format!("{}{place}{}", &*self.prefix, self.suffix);
            if Self::of_text(&text) == *self {
                return text;
            }
        }
        // Strings and lists of strings always serialise.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    pub fn read(stored: &str, layout: Layout) -> Result<Self, serde_json::Error> {
        if layout == Layout::Text { Ok(Self::of_text(stored)) } else { serde_json::from_str(stored) }
    }

    fn of_text(stored: &str) -> Self {
        let json =
            || serde_json::from_str::<Self>(stored).ok().filter(|frame| !frame.prefix.is_empty() || frame.around);
        if let Some(frame) = Some(stored).filter(|text| text.starts_with('{')).and_then(|_| json()) {
            return frame;
        }
        match stored.split_once(QUESTION) {
            Some((prefix, suffix)) => Self::around(prefix, suffix),
            None => Self::text(stored),
        }
    }
}

// Prompts that say the same with other white space.

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
        let spaced = |text: &str| spacing.text(text);
        let message =
            |message: &Message| Message { content: spaced(&message.content).into(), verbatim: None, ..message.clone() };
        Self {
            prefix: spaced(&self.prefix).into(),
            suffix: spaced(&self.suffix).into(),
            system: self.system.as_ref().map(|text| spaced(text).into()),
            examples: self.examples.iter().map(message).collect(),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, Layout, Spacing};
    use crate::base::Question;
    use crate::prompting::protocol::react_paper::Paper;
    use crate::prompting::protocol::{Episode, Setup};
    use std::collections::BTreeSet;
    use std::sync::Arc;

    #[test]
    fn stored_texts_are_read_as_what_they_were() {
        for (frame, stored) in [
            (Frame::text("One\n"), "One\n"),
            (Frame::around("Q: ", "\nGo on.\n"), "Q: {question}\nGo on.\n"),
            (Frame::around("", ""), "{question}"),
            // A mark behind the place is a text.
            (Frame::around("Q: ", " {question}"), "Q: {question} {question}"),
            (Frame::text("{\"a\": 1}"), "{\"a\": 1}"),
        ] {
            assert_eq!(frame.stored(Layout::Text), stored);
            assert_eq!(Frame::read(stored, Layout::Text).expect("sound"), frame);
        }
        // These would be read as something else.
        for frame in
            [Frame::text("a {question} b"), Frame::around("{question} ", ""), Frame::text("{\"prefix\":\"x\"}")]
        {
            let stored = frame.stored(Layout::Text);
            assert!(stored.starts_with("{\n"), "{stored}");
            assert_eq!(Frame::read(&stored, Layout::Text).expect("sound"), frame);
        }
    }

    #[test]
    fn a_question_stands_in_the_text_or_on_the_protocols_line() {
        let question = Question::new("", "Who?", Vec::new());
        for (frame, text, message) in [
            (Frame::text("x"), "Question: Who?\n", "Question: Who?\n"),
            (Frame::around("Say: ", " Now."), "Who? Now.", "Say: Who? Now."),
        ] {
            let episode = Episode::new(&Arc::new(Setup::new(frame, "Question", 7)));
            assert_eq!(episode.question_text(&Paper, &question), text);
            assert_eq!(&*episode.question(&Paper, &question).content, message);
        }
    }

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
