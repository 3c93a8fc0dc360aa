//! A prompt for providers that take a system text and then alternating turns of two speakers.
//!
//! | in the prompt | in the turns |
//! |---|---|
//! | a text | one turn of the user; with prefill, a label at its end is the beginning of the model's turn |
//! | system messages at the start | the system text, each on a new line |
//! | later system messages | part of the user's turn |
//! | messages of one speaker in a row | one turn, each on a new line |
//! | blank messages | left out: providers refuse them |
//! | system messages only | the user's turn: providers refuse an empty conversation |

use super::interface::{add_line, lines};
use super::label;
use crate::types::{Prompt, Role};

/// A conversation in that form.
#[derive(Debug, PartialEq, Eq, Default)]
pub(in crate::llm) struct Turns {
    /// The system text, or empty.
    pub(in crate::llm) system: String,
    /// The turns; speakers alternate.
    pub(in crate::llm) said: Vec<Turn>,
    /// The label that the model continues, or empty.
    pub(in crate::llm) label: String,
}

/// What one speaker says before the other.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::llm) struct Turn {
    /// Whether the model says it, not the user.
    pub(in crate::llm) own: bool,
    pub(in crate::llm) text: String,
}

impl Turns {
    pub(in crate::llm) fn of(prompt: &Prompt, prefill: bool) -> Self {
        let mut turns = Self::default();
        match prompt {
            Prompt::Text { prefix, rest } => {
                let at = label::at(prefix, rest).filter(|_| prefill);
                let (before, label) = rest.split_at(at.unwrap_or(rest.len()));
                turns.say(false, &[prefix, before].concat());
                turns.say(true, label);
                label.clone_into(&mut turns.label);
            }
            Prompt::Messages(messages) => {
                let first = messages.iter().position(|m| m.role != Role::System).unwrap_or(messages.len());
                let (system, rest) = messages.split_at(first);
                turns.system = lines(system);
                for message in rest {
                    turns.say(message.role == Role::Assistant, &message.content);
                }
                if turns.said.is_empty() {
                    let text = std::mem::take(&mut turns.system);
                    turns.say(false, &text);
                }
            }
        }
        turns
    }

    fn say(&mut self, own: bool, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        match self.said.last_mut().filter(|last| last.own == own) {
            Some(last) => add_line(&mut last.text, text),
            None => self.said.push(Turn { own, text: text.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Turns;
    use crate::types::{Message, Prompt};

    fn of(messages: &[Message]) -> (String, Vec<(bool, String)>) {
        let turns = Turns::of(&Prompt::Messages(messages.to_vec()), true);
        assert_eq!(turns.label, "");
        (turns.system, turns.said.into_iter().map(|turn| (turn.own, turn.text)).collect())
    }

    #[test]
    fn speakers_alternate_below_the_system_text() {
        let messages = [
            Message::system("Answer."),
            Message::system("Briefly.\n"),
            Message::user("Q\n"),
            Message::user(" \n"),
            Message::system("Call a tool."),
            Message::assistant("A"),
            Message::assistant(""),
            Message::system("Stop now."),
        ];
        let (system, turns) = of(&messages);
        assert_eq!(system, "Answer.\nBriefly.\n");
        let turns: Vec<(bool, &str)> = turns.iter().map(|(own, text)| (*own, text.as_str())).collect();
        assert_eq!(turns, [(false, "Q\nCall a tool."), (true, "A"), (false, "Stop now.")]);
        assert_eq!(of(&messages[..2]), (String::new(), vec![(false, "Answer.\nBriefly.\n".to_owned())]));
        assert_eq!(of(&[]), (String::new(), vec![]));
    }
}
