//! A prompt as providers want it that know a system text and then two speakers in turn.
//!
//! | in the prompt | what becomes of it |
//! |---|---|
//! | a text | one turn of the user's; with prefill, a label at its end is the beginning of the model's turn |
//! | system messages at the start | the system text, each on a new line |
//! | later system messages | the user's |
//! | messages of one speaker in a row | one turn, each on a new line |
//! | messages of nothing but white space | left out: providers refuse them |
//! | system messages only | the user's turn: somebody has to say something |

use super::interface::{add_line, lines};
use super::label;
use crate::types::{Prompt, Role};

/// A conversation in that form.
#[derive(Debug, PartialEq, Eq, Default)]
pub(in crate::llm) struct Turns {
    /// What stands above the conversation; empty if nothing does.
    pub(in crate::llm) system: String,
    /// Who says what; speakers alternate.
    pub(in crate::llm) said: Vec<Turn>,
    /// The label that the model is given to continue; empty if there is none.
    pub(in crate::llm) label: String,
}

/// What one speaker says before the other one does.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::llm) struct Turn {
    /// Whether the model says it, or the user.
    pub(in crate::llm) own: bool,
    /// What is said.
    pub(in crate::llm) text: String,
}

impl Turns {
    /// The prompt in that form.
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

    #[test]
    fn a_text_is_the_users_turn_up_to_its_label() {
        let prompt = Prompt::text("Examples.\n".into(), "Question: x\nThought 1:");
        let plain = Turns::of(&prompt, false);
        assert_eq!(
            (plain.said.len(), plain.said[0].text.as_str(), plain.label.as_str()),
            (1, "Examples.\nQuestion: x\nThought 1:", "")
        );
        let split = Turns::of(&prompt, true);
        assert_eq!(
            split.said.iter().map(|turn| turn.text.as_str()).collect::<Vec<_>>(),
            ["Examples.\nQuestion: x\n", "Thought 1:"]
        );
        assert_eq!((split.said[1].own, split.label.as_str()), (true, "Thought 1:"));
    }
}
