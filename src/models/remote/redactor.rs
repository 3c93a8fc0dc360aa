//! Cuts a streamed completion at stops and masks secrets in it.
//!
//! Text cannot be taken back once it is shown, so whatever may still become a stop or a secret is held back. In the end,
//! the text shown is exactly that of a whole answer: cut before the earliest stop, with secrets masked.

use crate::models::cut_at_stop;
use crate::net::{SecretSet, redact};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The text before the earliest stop, secrets masked: a server that echoes the key must not bring it into a record.
pub(super) fn redacted(mut text: String, stops: &[String], secrets: &[&str]) -> String {
    text.truncate(cut_at_stop(&text, stops));
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

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.done = 0;
    }

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

    pub(super) fn finish(&mut self, show: &mut dyn FnMut(&str)) {
        self.show(self.cut(), true, show);
        self.done = self.text.len();
    }

    fn cut(&self) -> usize {
        self.done + cut_at_stop(&self.text[self.done..], self.stops)
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

// Masks secrets in what a server sends beside its text: calls, and replies that are sent back as they came.

/// The same without secrets, in strings of any length. JSON inside a string is searched as it reads once it is decoded,
/// as a call's arguments are. Nothing if it is not the same kind of thing without them.
pub(super) fn masked<T: Serialize + DeserializeOwned>(value: &T, secrets: &[&str]) -> Option<T> {
    let mut json = serde_json::to_value(value).ok()?;
    mask_value(&mut json, secrets);
    serde_json::from_value(json).ok()
}

/// An answer as its server wrote it, JSON or events of a stream, without secrets, however their letters are written.
pub(super) fn body(text: &str, secrets: &[&str]) -> String {
    if secrets.is_empty() {
        return text.to_owned();
    }
    // Only what has a secret is written anew.
    let json = |text: &str| {
        let value: Value = serde_json::from_str(text).ok()?;
        masked(&value, secrets).filter(|without| *without != value).map(|without| without.to_string())
    };
    if text.trim_start().starts_with(['{', '[']) {
        return json(text).unwrap_or_else(|| redacted(text.to_owned(), &[], secrets));
    }
    let line = |line: &str| {
        let without = line.strip_prefix("data:").and_then(|data| json(data.trim()));
        without.map_or_else(|| redacted(line.to_owned(), &[], secrets), |without| format!("data: {without}"))
    };
    let lines: Vec<String> = text.split('\n').map(line).collect();
    lines.join("\n")
}

fn mask_value(value: &mut Value, secrets: &[&str]) {
    match value {
        Value::String(text) => *text = masked_text(std::mem::take(text), secrets),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_value(item, secrets)),
        Value::Object(fields) => {
            for (name, mut inner) in std::mem::take(fields) {
                mask_value(&mut inner, secrets);
                fields.insert(masked_text(name, secrets), inner);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn masked_text(text: String, secrets: &[&str]) -> String {
    let text = redacted(text, &[], secrets);
    if !text.contains('\\') || secrets.is_empty() {
        return text;
    }
    if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(&text) {
        let mut clean = inner.clone();
        mask_value(&mut clean, secrets);
        return if clean == inner { text } else { clean.to_string() };
    }
    // Broken JSON is recorded, too.
    let plain = unescaped(&text);
    let clean = redacted(plain.clone(), &[], secrets);
    if clean == plain { text } else { clean }
}

/// The text with the escapes of JSON decoded, as far as they are some.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code =
            after.strip_prefix('u').and_then(|hex| hex.get(..4)).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        if let Some(c) = code.and_then(char::from_u32) {
            out.push(c);
            rest = &after[5..];
        } else {
            // Of `\/`, `\"` and `\\` the second character; others cannot be part of a secret.
            let length = after.chars().next().map_or(0, char::len_utf8);
            out.push_str(&after[..length]);
            rest = &after[length..];
        }
    }
    out + rest
}

// What is masked in everything a server says: the key, secrets in headers, and those in user parts and queries of URLs.

/// Shorter keys may be part of any word.
const LEAST: usize = 8;

/// The key, for sending, and everything that must not appear in a completion or a record.
pub(super) struct Secrets {
    pub(super) key: Option<SecretString>,
    pub(super) hidden: SecretSet,
    /// The words of headers with secrets, without the one before them, such as `Bearer`.
    in_headers: Vec<SecretString>,
}

impl Secrets {
    pub(super) fn new(key: Option<SecretString>, headers: &[(String, SecretString)], addresses: &[String]) -> Self {
        let of = |address: &String| [redact::user_secrets(address), redact::query_secrets(address)].concat();
        let words = headers.iter().flat_map(|(_, value)| value.expose_secret().split_whitespace());
        let in_headers: Vec<SecretString> = words.map(SecretString::from).collect();
        let hidden = SecretSet::new(key.iter().chain(&in_headers).cloned().chain(addresses.iter().flat_map(of)));
        let hidden = hidden.with_credentials(headers.iter().filter_map(|(_, value)| credentials(value)));
        let in_headers = in_headers.into_iter().filter(|word| !word.expose_secret().eq_ignore_ascii_case("bearer"));
        Self { key, hidden, in_headers: in_headers.collect() }
    }

    /// A text masked for an error; here, keys too short to mask elsewhere are masked where they are whole words.
    pub(super) fn out_of(&self, text: &str) -> String {
        self.key.iter().chain(&self.in_headers).fold(self.hidden.out_of(text), |text, key| {
            let secret = key.expose_secret();
            if secret.len() < LEAST { without_word(&text, secret) } else { redact::secret(&text, key) }
        })
    }
}

/// What follows the scheme in a header, as in `Basic dXNlcjpwYXNz`.
fn credentials(value: &SecretString) -> Option<SecretString> {
    let (scheme, credentials) = value.expose_secret().trim().split_once(' ')?;
    let is_known = ["basic", "bearer", "token"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    is_known.then(|| credentials.trim().to_owned().into())
}

/// The text with a word masked; a part of a longer word stays, as a key of one letter is in most words.
fn without_word(text: &str, word: &str) -> String {
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, found) in text.match_indices(word).filter(|(_, found)| !found.is_empty()) {
        let end = at + found.len();
        if !is_part(text[..at].chars().next_back()) && !is_part(text[end..].chars().next()) {
            out.push_str(&text[done..at]);
            out.push_str(redact::MASK);
            done = end;
        }
    }
    out + &text[done..]
}

#[cfg(test)]
mod tests {
    use super::{Secrets, StreamRedactor, body, masked, redacted};
    use crate::base::FunctionCall;
    use proptest::prelude::*;
    use serde_json::{Value, json};

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
    fn a_body_has_no_secret_however_its_letters_are_written() {
        let secrets = ["sk-0123/456789"];
        for written in ["sk-0123/456789", "sk-0123\\/456789", "sk\\u002d0123/456789"] {
            let whole = format!("{{\"a\": \"{written}\", \"n\": 1.50}}");
            assert_eq!(body(&whole, &secrets), r#"{"a":"***","n":1.5}"#);
            let events = format!("event: x\ndata: {whole}\n\ndata: {{\"b\": 1}}\r\n\r\ndata: [DONE]\n\n");
            let masked = "event: x\ndata: {\"a\":\"***\",\"n\":1.5}\n\ndata: {\"b\": 1}\r\n\r\ndata: [DONE]\n\n";
            assert_eq!(body(&events, &secrets), masked);
        }
        assert_eq!(body("{\"a\": 1.50}", &secrets), "{\"a\": 1.50}");
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

    fn call(arguments: &str, secret: &str) -> String {
        let call = FunctionCall { id: "1".to_owned(), name: "search".to_owned(), arguments: arguments.to_owned() };
        masked(&call, &[secret]).expect("a call").arguments
    }

    #[test]
    fn secrets_are_masked_in_whatever_way_json_writes_them() {
        let secret = "tok/01234567\"89";
        for (arguments, kept) in [
            (r#"{"query":"tok/01234567\"89"}"#, r#"{"query":"***"}"#),
            (r#"{"query":"\u0074ok\/01234567\u002289"}"#, r#"{"query":"***"}"#),
            (r#"{"tok\/01234567\"89":["a tok\/01234567\"89"]}"#, r#"{"***":["a ***"]}"#),
            (r#"{"query":"{\"a\":\"tok/01234567\\\"89\"}"}"#, r#"{"query":"{\"a\":\"***\"}"}"#),
            (r#"{"query": "tok\/01234567\u002289"#, r#"{"query": "***"#),
            (r#"{"query":"tok/01234567"}"#, r#"{"query":"tok/01234567"}"#),
            (r#"{"query": "\u00e9t\u00e9"}"#, r#"{"query": "\u00e9t\u00e9"}"#),
            (r"\", r"\"),
            (r"\u12", r"\u12"),
        ] {
            assert_eq!(call(arguments, secret), kept, "{arguments}");
        }
    }

    #[test]
    fn length_makes_no_difference_and_pieces_of_a_secret_are_not_masked() {
        let long = format!("{}sk-copenhagen-0001", "x".repeat(1 << 20));
        assert_eq!(call(&long, "sk-copenhagen-0001").len(), (1 << 20) + 3);
        assert_eq!(call(r#"{"query":"Copenhagen"}"#, "sk-copenhagen-0001"), r#"{"query":"Copenhagen"}"#);
        let reply = json!([{ "signature": "s".repeat(5000), "thinking": "of sk-copenhagen-0001" }]);
        let kept: Value = masked(&reply, &["sk-copenhagen-0001"]).expect("a reply");
        assert_eq!((kept[0]["signature"].as_str().map(str::len), &kept[0]["thinking"]), (Some(5000), &json!("of ***")));
    }

    #[test]
    fn the_key_and_secrets_of_queries_are_hidden() {
        let addresses = ["http://h/v1?key=ab%2F0123456&v=1&api-version=2024-06-01", "http://h/v1?env=production"];
        let secrets = Secrets::new(Some("sk-0123456789".into()), &[], &addresses.map(str::to_owned));
        assert_eq!(secrets.hidden.all(), ["sk-0123456789", "ab%2F0123456", "ab/0123456"]);
        assert_eq!(
            secrets.hidden.out_of("ab/0123456 ab%2F0123456 sk-0123456789 1 production"),
            "*** *** *** 1 production"
        );
        let short = Secrets::new(Some("none".into()), &[], &[]);
        assert_eq!((short.hidden.out_of("none"), short.out_of("none")), ("none".to_owned(), "***".to_owned()));
    }

    #[test]
    fn a_key_of_one_letter_is_in_no_word() {
        let secrets = Secrets::new(Some("x".into()), &[], &[]);
        assert_eq!(secrets.out_of("the maximum context: x, `x`, xx"), "the maximum context: ***, `***`, xx");
        let secrets = Secrets::new(Some("é".into()), &[], &[]);
        assert_eq!(secrets.out_of("é été é"), "*** été ***");
    }

    #[test]
    fn secrets_in_headers_are_hidden_with_and_without_what_stands_before_them() {
        let header = |value: &str| ("authorization".to_owned(), value.into());
        let secrets = Secrets::new(None, &[header("Bearer tok-0123456789"), header("short")], &[]);
        assert_eq!(secrets.hidden.out_of("Bearer tok-0123456789, short"), "Bearer ***, short");
        assert_eq!(secrets.out_of("the bearer of tok-0123456789 is short"), "the bearer of *** is ***");
        let letters = Secrets::new(None, &[header("Basic dXNlcjpwYXNz"), header("production")], &[]);
        assert_eq!(letters.hidden.out_of("dXNlcjpwYXNz in production"), "*** in production");
    }

    #[test]
    fn passwords_in_addresses_are_hidden() {
        let secrets = Secrets::new(None, &[], &["http://me:pass%2Fword@h/v1".to_owned()]);
        assert_eq!(
            secrets.hidden.out_of("me, pass/word, pass%2Fword, Basic bWU6cGFzcy93b3Jk"),
            "me, ***, ***, Basic ***"
        );
    }
}
