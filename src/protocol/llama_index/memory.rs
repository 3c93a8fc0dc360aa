//! What the library remembers of a conversation: its newest turns, within a number of tokens.

use crate::types::{Message, Role};

/// The library's own limit.
pub(super) const TOKEN_LIMIT: usize = 30_000;

/// Limits of a memory, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Memory {
    /// Messages may have so many; the library keeps the rest of its limit free.
    history: usize,
    /// So many are dropped at once.
    flush: usize,
}

impl Memory {
    pub(super) fn new(token_limit: usize) -> Self {
        let history = token_limit / 10 * 7 + token_limit % 10 * 7 / 10;
        let flush = TOKEN_LIMIT / 10;
        Self { history, flush: if flush > token_limit { history } else { flush } }
    }

    /// The messages that are still remembered after the last one was added. Whole turns are dropped, the oldest first;
    /// the newest turn stays, whatever its length.
    pub(super) fn kept(self, messages: Vec<Message>) -> Vec<Message> {
        let mut first = 0;
        while messages[first..].iter().map(tokens).sum::<usize>() > self.history {
            let (mut next, mut dropped) = (first, 0);
            while dropped < self.flush && next + 1 < messages.len() {
                dropped += tokens(&messages[next]);
                next += 1;
            }
            // What is left begins with a question.
            while next < messages.len() && messages[next].role != Role::User {
                next += 1;
            }
            if next == messages.len() {
                let questions = messages[first..].iter().rposition(|message| message.role == Role::User);
                next = questions.map_or(first, |at| first + at);
            }
            if next == first {
                break;
            }
            first = next;
        }
        messages.into_iter().skip(first).collect()
    }
}

/// About as many tokens as the library's tokenizer counts: four ASCII characters are one, and so is any other character.
fn tokens(message: &Message) -> usize {
    let ascii = message.content.bytes().filter(u8::is_ascii).count();
    ascii.div_ceil(4) + message.content.chars().filter(|c| !c.is_ascii()).count()
}

#[cfg(test)]
mod tests {
    use super::{Memory, TOKEN_LIMIT, tokens};
    use crate::types::Message;

    /// The lengths in tokens of what is kept of questions and answers with these lengths.
    fn kept(lengths: &[usize]) -> Vec<usize> {
        let message = |(n, tokens): (usize, &usize)| {
            let text = "word".repeat(*tokens);
            if n % 2 == 0 { Message::user(text) } else { Message::assistant(text) }
        };
        let messages = lengths.iter().enumerate().map(message).collect();
        Memory::new(TOKEN_LIMIT).kept(messages).iter().map(tokens).collect()
    }

    #[test]
    fn the_oldest_turns_are_forgotten_from_seven_tenths_of_the_limit_on() {
        assert_eq!(kept(&[10, 20_989, 1]), [10, 20_989, 1]);
        assert_eq!(kept(&[10, 25_000, 1]), [1]);
        assert_eq!(kept(&[10, 25_000]), [10, 25_000], "the newest turn stays");
        assert_eq!(kept(&[25_000]), [25_000]);
        assert_eq!(kept(&[2_000, 2_000, 100, 18_000, 5]), [100, 18_000, 5]);
        assert_eq!(kept(&[10, 10, 10, 20_000, 10, 980]), [10, 980], "3,000 tokens at a time, as whole turns");
        assert_eq!(kept(&[]), [0; 0]);
        assert_eq!(Memory::new(7), Memory { history: 4, flush: 4 });
    }

    #[test]
    fn tokens_are_counted_by_characters() {
        assert_eq!(
            [Message::user("four"), Message::user("fours"), Message::user("谁写的?")].map(|m| tokens(&m)),
            [1, 2, 4]
        );
    }
}
