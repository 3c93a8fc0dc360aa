//! Where gold sentences and gold answers are in what an episode read.

use super::evidence::{is_unspaced, pieces, words};
use super::normalize::is_article;
use super::observed::{cap, is_verdict};
use std::borrow::Cow;
use std::ops::Range;

/// A piece of an observation, and whether it is (part of) a gold sentence or a gold answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marked<'a> {
    pub text: &'a str,
    pub sentence: bool,
    pub answer: bool,
}

/// One word of a text: where it is, and how it is compared.
struct Word<'a> {
    at: Range<usize>,
    normal: Cow<'a, str>,
}

/// Cuts an observation into pieces with their marks; joined, they are the observation as far as it is looked at.
///
/// Texts are compared as the trajectory metrics do: word by word, where only letters and digits count. Of an answer that
/// is yes, no or a label nothing is marked.
pub fn marks<'a>(observation: &'a str, sentences: &[String], answers: &[String]) -> Vec<Marked<'a>> {
    let text = cap(observation);
    let tokens = tokens(text);
    let mut sentence_words = vec![false; tokens.len()];
    for piece in sentences.iter().flat_map(|sentence| pieces(sentence)) {
        mark(&tokens, &piece, &mut sentence_words);
    }
    let mut answer_words = vec![false; tokens.len()];
    for answer in answers.iter().filter(|answer| !is_verdict(answer)) {
        mark(&tokens, &words(answer), &mut answer_words);
    }
    merge_marks(text, &tokens, &sentence_words, &answer_words)
}

fn tokens(text: &str) -> Vec<Word<'_>> {
    let joins = |c: char| c.is_alphanumeric() && !is_unspaced(c);
    let (mut tokens, mut characters) = (Vec::new(), text.char_indices().peekable());
    while let Some((start, c)) = characters.next() {
        if !c.is_alphanumeric() {
            continue;
        }
        let mut end = start + c.len_utf8();
        while joins(c)
            && let Some((at, next)) = characters.next_if(|(_, next)| joins(*next))
        {
            end = at + next.len_utf8();
        }
        let normal = normal(&text[start..end]);
        if !normal.is_empty() {
            tokens.push(Word { at: start..end, normal });
        }
    }
    tokens
}

/// A run of letters and digits as [`words`] writes it: empty for an article, one word for each character of a script
/// without spaces.
fn normal(run: &str) -> Cow<'_, str> {
    let is_plain = run.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if is_plain && !is_article(run) { Cow::Borrowed(run) } else { Cow::Owned(words(run).trim().to_owned()) }
}

fn mark(tokens: &[Word<'_>], wanted: &str, marked: &mut [bool]) {
    let wanted: Vec<&str> = wanted.split(' ').filter(|word| !word.is_empty()).collect();
    if wanted.is_empty() {
        return;
    }
    for (start, part) in tokens.windows(wanted.len()).enumerate() {
        if part.iter().zip(&wanted).all(|(token, word)| token.normal == *word) {
            marked[start..start + wanted.len()].fill(true);
        }
    }
}

fn merge_marks<'a>(text: &'a str, tokens: &[Word<'_>], sentence: &[bool], answer: &[bool]) -> Vec<Marked<'a>> {
    let mut pieces: Vec<(Range<usize>, bool, bool)> = Vec::new();
    let mut push = |at: Range<usize>, sentence: bool, answer: bool| match pieces.last_mut() {
        Some((last, s, a)) if *s == sentence && *a == answer => last.end = at.end,
        _ if at.is_empty() => {}
        _ => pieces.push((at, sentence, answer)),
    };
    let mut end = 0;
    for (at, token) in tokens.iter().enumerate() {
        // What is between two marked words belongs to them.
        let between = |marks: &[bool]| at > 0 && marks[at - 1] && marks[at];
        push(end..token.at.start, between(sentence), between(answer));
        push(token.at.clone(), sentence[at], answer[at]);
        end = token.at.end;
    }
    // So is the full stop after a sentence.
    let last = sentence.last().copied().unwrap_or_default();
    push(end..text.len(), last, false);
    pieces.into_iter().map(|(at, sentence, answer)| Marked { text: &text[at], sentence, answer }).collect()
}

#[cfg(test)]
mod tests {
    use super::marks;

    fn shown(observation: &str, sentence: &str, answer: &str) -> String {
        let pieces = marks(observation, &[sentence.to_owned()], &[answer.to_owned()]);
        let mark = |piece: &super::Marked<'_>| match (piece.sentence, piece.answer) {
            (false, false) => piece.text.to_owned(),
            (true, false) => format!("<{}>", piece.text),
            (false, true) => format!("[{}]", piece.text),
            (true, true) => format!("<[{}]>", piece.text),
        };
        pieces.iter().map(mark).collect()
    }

    #[test]
    fn sentences_and_answers_are_found_whatever_their_punctuation() {
        assert_eq!(
            shown("A b. The “Opera” burnt down in 1971.. More", "\"Opera\" burnt down in 1971.", "1971"),
            "A b. The “<Opera” burnt down in ><[1971]>.. More"
        );
        assert_eq!(shown("no match here", "another one", "nothing"), "no match here");
        assert_eq!(shown("Yes, he was.", "", "yes"), "Yes, he was.");
        assert_eq!(shown("", "a", "b"), "");
        assert_eq!(shown("北京是中国的首都。", "", "中国"), "北京是[中国]的首都。");
    }

    #[test]
    fn nothing_of_the_text_is_lost() {
        for text in ["  a  b ", "…", "x\u{0301}y 1971", "1971", "<b>1971</b>"] {
            let joined: String = marks(text, &["1971".into()], &["b".into()]).iter().map(|piece| piece.text).collect();
            assert_eq!(joined, text);
        }
    }

    #[test]
    fn a_sentence_and_the_answer_in_it_are_marked() {
        let pieces = marks("It was. Built in 1889, by him.", &["Built in 1889, by him.".into()], &["1889".into()]);
        let shown: Vec<_> = pieces.iter().map(|piece| (piece.text, piece.sentence, piece.answer)).collect();
        let expected =
            [("It was. ", false, false), ("Built in ", true, false), ("1889", true, true), (", by him.", true, false)];
        assert_eq!(shown, expected);
    }
}
