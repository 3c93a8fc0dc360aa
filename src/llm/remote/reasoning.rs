//! What stands at the beginning of an answer and is no part of it.
//!
//! | at the beginning | what becomes of it |
//! |---|---|
//! | `<think>` … `</think>`, and the white space after it | left out: servers that do not part a model's reasoning from its answer send it so |
//! | `<think>` that nothing ends | all of the text is reasoning, and nothing is left |
//! | the label that the model was given to continue | left out: some servers, and models that were not continued after all, repeat it |
//!
//! The text comes in pieces that end anywhere; what may still become one of these waits.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Takes the beginning away.
#[derive(Debug)]
pub(super) struct ReasoningStripper {
    state: State,
    label: String,
    thought: bool,
}

#[derive(Debug)]
enum State {
    /// Thinking may begin; holds the text so far.
    Before(String),
    /// The thinking goes on; holds what may be the beginning of its end.
    Thinking(String),
    /// The thinking is over, and no text has come.
    After,
    /// The label may come; holds the text so far.
    Label(String),
    /// All that comes is text.
    Text,
}

impl ReasoningStripper {
    /// The beginning of a text. Thinking is looked for where `thinks`; `label` is the end of the prompt, if the model
    /// was given it to continue.
    pub(super) fn new(thinks: bool, label: &str) -> Self {
        let state = if thinks { State::Before(String::new()) } else { State::Label(String::new()) };
        Self { state, label: label.trim().to_owned(), thought: false }
    }

    /// Whether there was thinking.
    pub(super) fn thought(&self) -> bool {
        self.thought
    }

    /// Takes the next piece, and gives what is known to be text.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut piece = piece.to_owned();
        loop {
            let (state, rest) = match std::mem::replace(&mut self.state, State::Text) {
                State::Before(held) => before(held + &piece),
                State::Thinking(held) => thinking(&(held + &piece)),
                State::After => match piece.trim_start() {
                    "" => (State::After, None),
                    text => (State::Label(String::new()), Some(text.to_owned())),
                },
                State::Label(held) => self.after_label(held + &piece),
                State::Text => return piece,
            };
            self.thought |= matches!(state, State::Thinking(_));
            self.state = state;
            match rest {
                Some(rest) => piece = rest,
                None => return String::new(),
            }
        }
    }

    /// No more pieces come: gives the text that waited.
    pub(super) fn finish(&mut self) -> String {
        match std::mem::replace(&mut self.state, State::Text) {
            State::Before(held) | State::Label(held) => held,
            State::Thinking(_) | State::After | State::Text => String::new(),
        }
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
    if let Some(rest) = text.strip_prefix(OPEN) {
        return (State::Thinking(String::new()), Some(rest.to_owned()));
    }
    if OPEN.starts_with(text) { (State::Before(held), None) } else { (State::Label(String::new()), Some(held)) }
}

fn thinking(held: &str) -> (State, Option<String>) {
    if let Some((_, rest)) = held.split_once(CLOSE) {
        return (State::After, Some(rest.to_owned()));
    }
    let end = held.rfind('<').map_or("", |at| &held[at..]);
    (State::Thinking(if CLOSE.starts_with(end) { end.to_owned() } else { String::new() }), None)
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
        assert_eq!((stripper.push("<think>a</think>b"), stripper.thought()), ("<think>a</think>b".to_owned(), false));
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
