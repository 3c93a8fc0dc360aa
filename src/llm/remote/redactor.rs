//! Cuts a streamed completion at stops and masks secrets in it.
//!
//! Text cannot be taken back once it is shown, so whatever may still become a stop or a secret is held back. In the end,
//! the text shown is exactly that of a whole answer: cut before the earliest stop, with secrets masked.

use crate::llm::stop;
use crate::net::redact;

/// The text before the earliest stop, secrets masked: a server that echoes the key must not bring it into a record.
pub(super) fn redacted(mut text: String, stops: &[String], secrets: &[&str]) -> String {
    text.truncate(stop::cut_at_stop(&text, stops));
    let mut done = 0;
    let mut out = String::new();
    mask(&text, &mut done, secrets, &mut out);
    out.push_str(&text[done..]);
    out
}

/// Moves the text from `done` to the end of its last secret to `out`, masking each secret.
fn mask(text: &str, done: &mut usize, secrets: &[&str], out: &mut String) {
    let first = |from: usize| {
        let found = secrets.iter().filter_map(|secret| Some((text[from..].find(secret)? + from, secret.len())));
        found.min()
    };
    while let Some((at, length)) = first(*done) {
        out.push_str(&text[*done..at]);
        out.push_str(redact::MASK);
        *done = at + length;
    }
}

/// The text so far. No secret may contain another.
#[derive(Debug)]
pub(super) struct StreamRedactor<'a> {
    stops: &'a [String],
    secrets: Vec<&'a str>,
    text: String,
    /// Bytes of the text that are dealt with: no later stop or secret begins before.
    done: usize,
}

impl<'a> StreamRedactor<'a> {
    pub(super) fn new(stops: &'a [String], secrets: Vec<&'a str>) -> Self {
        Self { stops, secrets, text: String::new(), done: 0 }
    }

    /// Starts over with an empty text.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.done = 0;
    }

    /// The text as the server sent it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Takes the next piece and shows what has become certain. Returns whether the text has ended: a stop is complete,
    /// and no other can begin before it.
    pub(super) fn push(&mut self, piece: &str, show: &mut dyn FnMut(&str)) -> bool {
        self.text.push_str(piece);
        let cut = self.cut();
        let stops = self.stops.iter().map(String::as_str);
        let open =
            stops.map(|stop| partial(&self.text[self.done..], stop)).min().map_or(self.text.len(), |at| self.done + at);
        self.show(cut.min(open), false, show);
        cut < self.text.len() && cut <= open
    }

    /// After the last piece: shows the rest.
    pub(super) fn finish(&mut self, show: &mut dyn FnMut(&str)) {
        self.show(self.cut(), true, show);
        self.done = self.text.len();
    }

    fn cut(&self) -> usize {
        self.done + stop::cut_at_stop(&self.text[self.done..], self.stops)
    }

    /// Shows the text up to `end` without secrets; unless this is the `last` call, holds back what may become one.
    fn show(&mut self, mut end: usize, last: bool, show: &mut dyn FnMut(&str)) {
        let mut out = String::new();
        mask(&self.text[..end], &mut self.done, &self.secrets, &mut out);
        if !last {
            let rest = &self.text[self.done..end];
            end = self.done + self.secrets.iter().map(|secret| partial(rest, secret)).min().unwrap_or(rest.len());
        }
        out.push_str(&self.text[self.done..end]);
        self.done = end;
        if !out.is_empty() {
            show(&out);
        }
    }
}

/// Where in `text` the longest proper start of `pattern` begins that `text` ends in; its length if there is none.
fn partial(text: &str, pattern: &str) -> usize {
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let longest = text.len().min(pattern.len().saturating_sub(1));
    // Both are UTF-8 and a pattern starts with a whole character, so this is a character boundary.
    let length = (1..=longest).rev().find(|length| text.ends_with(&pattern[..*length]));
    text.len() - length.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{StreamRedactor, redacted};
    use proptest::prelude::*;

    /// Everything that is shown, and after how many pieces the end was known.
    fn shown(pieces: &[&str], stops: &[&str], secrets: &[&str]) -> (Vec<String>, Option<usize>) {
        let stops: Vec<String> = stops.iter().map(|stop| (*stop).to_owned()).collect();
        let mut redactor = StreamRedactor::new(&stops, secrets.to_vec());
        let mut all = Vec::new();
        let mut show = |text: &str| all.push(text.to_owned());
        let ended = pieces.iter().position(|piece| redactor.push(piece, &mut show)).map(|at| at + 1);
        redactor.finish(&mut show);
        (all, ended)
    }

    #[test]
    fn a_possible_stop_waits_until_it_is_certain() {
        let stop = &["\nObservation"][..];
        for (pieces, stops, all, ended) in [
            (&["I ", "think.\n", "Obs", "ervation 1: x"][..], stop, &["I ", "think."][..], Some(4)),
            (&["a\nObs", "tacle", "\n"], stop, &["a", "\nObstacle", "\n"], None),
            (&["a\n", "\nObservation"], stop, &["a", "\n"], Some(2)),
            (&["\nObservation", "b"], stop, &[], Some(1)),
            (&["a", "", "b"], &["", "x"], &["a", "b"], None),
            // The second one is complete first, but the first one would begin before it.
            (&["one two", " th", "ree four"], &["two three", "o th"], &["one "], Some(3)),
            (&["one two", " th", "en"], &["two three", "o th"], &["one ", "tw"], Some(3)),
            (&["one two", " th"], &["two three", "o th"], &["one ", "tw"], None),
            (&["東", "京。", "駅"], &["京。"], &["東"], Some(2)),
        ] {
            let (got, at) = shown(pieces, stops, &[]);
            assert_eq!((got.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), at), (all, ended), "{pieces:?}");
        }
    }

    #[test]
    fn the_key_is_shown_in_no_piece() {
        let keys = ["sk-012345", "2345678"];
        for (pieces, text) in [
            (&["it is sk-0", "12345", "!"][..], "it is ***!"),
            (&["sk-012345sk-012345"], "******"),
            (&["sk-01", "2"], "sk-012"),
            (&["sk-sk-012345", "\nObs"], "sk-***\nObs"),
            (&["234567", "8 sk-012345678 ", "2345678"], "*** ***678 ***"),
        ] {
            let (all, _) = shown(pieces, &["\nObservation"], &keys);
            assert_eq!(all.concat(), text);
            assert!(all.iter().all(|piece| keys.iter().all(|key| !piece.contains(key))));
        }
    }

    proptest! {
        #[test]
        fn in_the_end_all_is_shown_that_a_whole_answer_holds(
            pieces in prop::collection::vec("[ab\u{e9}]{0,4}", 0..12),
            stops in prop::collection::vec("[ab\u{e9}]{0,5}", 0..4),
            keys in prop::collection::vec("[ab]{2,5}", 0..3),
        ) {
            let parts: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let ends: Vec<&str> = stops.iter().map(String::as_str).collect();
            let inside = |key: &&str| keys.iter().any(|other| other != key && key.contains(other.as_str()));
            let keys: Vec<&str> = keys.iter().map(String::as_str).filter(|key| !inside(key)).collect();
            let (all, ended) = shown(&parts, &ends, &keys);
            prop_assert_eq!(all.concat(), redacted(pieces.concat(), &stops, &keys));
            if let Some(at) = ended {
                // What came later cannot have mattered.
                prop_assert_eq!(all.concat(), redacted(pieces[..at].concat(), &stops, &keys));
            }
        }
    }
}
