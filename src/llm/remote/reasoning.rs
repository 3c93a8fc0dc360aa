//! Removes from the start of an answer what is not part of it.
//!
//! | at the start | what happens |
//! |---|---|
//! | `<think>` … `</think>` and the white space after it | removed and kept apart: some servers send reasoning this way |
//! | `<think>` without an end | all of the text is reasoning: nothing is left |
//! | the label that the model continues | removed: some servers and models repeat it |
//!
//! The text arrives in pieces that end anywhere; what may still become one of these is held back.

use super::answer::Reasoning;
use crate::llm::capability::IN_TEXT;

const CLOSE: &str = "</think>";

/// Strips reasoning and a repeated label from the start of a text.
#[derive(Debug)]
pub(super) struct ReasoningStripper {
    state: State,
    label: String,
    thought: Option<Reasoning>,
}

#[derive(Debug)]
enum State {
    /// Reasoning may begin; holds the text so far.
    Before(String),
    /// Inside the reasoning; holds what may be the start of `</think>`.
    Thinking(String),
    /// After the reasoning, before any text.
    After,
    /// The label may follow; holds the text so far.
    Label(String),
    /// Everything from here on is text.
    Text,
}

impl ReasoningStripper {
    /// Before the first piece. `thinks`: whether there may be reasoning; `label`: what the model continues, or empty.
    pub(super) fn new(thinks: bool, label: &str) -> Self {
        let state = if thinks { State::Before(String::new()) } else { State::Label(String::new()) };
        Self { state, label: label.trim().to_owned(), thought: None }
    }

    /// The reasoning so far, if there is any.
    pub(super) fn thought(&self) -> Option<&str> {
        self.thought.as_ref().map(|thought| thought.text.trim())
    }

    /// Takes the next piece, and returns what is certainly text.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut piece = piece.to_owned();
        loop {
            let (state, rest) = match std::mem::replace(&mut self.state, State::Text) {
                State::Before(held) => before(held + &piece),
                State::Thinking(held) => self.thinking(&(held + &piece)),
                State::After => match piece.trim_start() {
                    "" => (State::After, None),
                    text => (State::Label(String::new()), Some(text.to_owned())),
                },
                State::Label(held) => self.after_label(held + &piece),
                State::Text => return piece,
            };
            self.state = state;
            match rest {
                Some(rest) => piece = rest,
                None => return String::new(),
            }
        }
    }

    /// After the last piece: returns the text that was held back.
    pub(super) fn finish(&mut self) -> String {
        match std::mem::replace(&mut self.state, State::Text) {
            State::Before(held) | State::Label(held) => held,
            State::Thinking(held) => self.think(&held),
            State::After | State::Text => String::new(),
        }
    }

    fn think(&mut self, piece: &str) -> String {
        self.thought.get_or_insert_with(|| Reasoning::new(IN_TEXT)).push(piece);
        String::new()
    }

    fn thinking(&mut self, held: &str) -> (State, Option<String>) {
        if let Some((thought, rest)) = held.split_once(CLOSE) {
            self.think(thought);
            return (State::After, Some(rest.to_owned()));
        }
        let end = held.rfind('<').filter(|at| CLOSE.starts_with(&held[*at..])).unwrap_or(held.len());
        self.think(&held[..end]);
        (State::Thinking(held[end..].to_owned()), None)
    }

    fn after_label(&self, held: String) -> (State, Option<String>) {
        let text = held.trim_start();
        if self.label.is_empty() {
            return (State::Text, Some(held));
        }
        if let Some(rest) = text.strip_prefix(self.label.as_str()) {
            return (State::Text, Some(rest.to_owned()));
        }
        if self.label.starts_with(text) { (State::Label(held), None) } else { (State::Text, Some(held)) }
    }
}

fn before(held: String) -> (State, Option<String>) {
    let text = held.trim_start();
    if let Some(rest) = text.strip_prefix(IN_TEXT) {
        return (State::Thinking(String::new()), Some(rest.to_owned()));
    }
    if IN_TEXT.starts_with(text) { (State::Before(held), None) } else { (State::Label(String::new()), Some(held)) }
}

#[cfg(test)]
mod tests {
    use super::ReasoningStripper;
    use proptest::prelude::*;

    fn text(pieces: &[&str], label: &str) -> String {
        let mut stripper = ReasoningStripper::new(true, label);
        let text: String = pieces.iter().map(|piece| stripper.push(piece)).collect();
        text + &stripper.finish()
    }

    #[test]
    fn thinking_and_an_echo_are_taken_from_the_beginning_only() {
        for (sent, label, left) in [
            ("<think>a < b</think>\n\nIt is.", "", "It is."),
            (" \n<think>\n</think> Thought 1: It is.", "Thought 1:", " It is."),
            ("<think>never ends, Thought 1: x", "Thought 1:", ""),
            ("<think>a</thin</think>b", "", "b"),
            ("Thought 1: It is. Thought 1: x", "Thought 1: ", " It is. Thought 1: x"),
            (" It is. <think>a</think>", "Thought 1:", " It is. <think>a</think>"),
            ("<thinking> is hard", "", "<thinking> is hard"),
            ("<thi", "", "<thi"),
            ("Thou", "Thought 1:", "Thou"),
            ("\u{3000}é", "Thought 1:", "\u{3000}é"),
            (" ", "Thought 1:", " "),
            ("", "", ""),
            ("</think>x", "", "</think>x"),
        ] {
            assert_eq!(text(&[sent], label), left, "{sent:?}");
            let single: Vec<String> = sent.chars().map(String::from).collect();
            assert_eq!(
                text(&single.iter().map(String::as_str).collect::<Vec<_>>(), label),
                left,
                "{sent:?} by character"
            );
        }
        let mut stripper = ReasoningStripper::new(false, "");
        assert_eq!((stripper.push("<think>a</think>b"), stripper.thought()), ("<think>a</think>b".to_owned(), None));
    }

    #[test]
    fn what_was_thought_is_kept_up_to_a_limit() {
        for (pieces, thought) in [
            (&["<think>\na < b</th", "in</think>", "\nIt"][..], Some("a < b</thin")),
            (&["<think>never", " ends</thi"], Some("never ends</thi")),
            (&["<think>", "</think>x"], Some("")),
            (&["<thi"], None),
        ] {
            let mut stripper = ReasoningStripper::new(true, "");
            for piece in pieces {
                stripper.push(piece);
            }
            stripper.finish();
            assert_eq!(stripper.thought(), thought, "{pieces:?}");
        }
        let mut stripper = ReasoningStripper::new(true, "");
        stripper.push("<think>");
        for _ in 0..3 {
            stripper.push(&"\u{6771}".repeat(10_000));
        }
        assert_eq!(stripper.thought().map(str::len), Some(65_535));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_pieces_end(
            pieces in prop::collection::vec("(<think>|</think>|<|/t|T:|[ ab\u{e9}\n]){0,3}", 0..8),
        ) {
            let parts: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(text(&parts, "T:"), text(&[&pieces.concat()], "T:"));
        }
    }
}
