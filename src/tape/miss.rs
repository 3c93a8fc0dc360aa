//! Requests without a recorded answer: the nearest recorded request, and the first difference.

use super::asked::Kind;
use crate::types::excerpt;
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;

/// Characters shown on either side of a difference.
const AROUND: usize = 30;
/// Longest text shown, in characters.
const LONGEST: usize = 80;

/// A request without a recorded answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    pub path: PathBuf,
    pub kind: Kind,
    pub why: Why,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The request was never recorded; `nearest` is of the same kind, if the recording has any.
    Unknown { nearest: Option<Nearest> },
    /// The same, after so many others that the nearest was not looked for.
    Unsearched,
    /// The request was made more often than it was recorded.
    RanOut { recorded: usize },
    /// The request failed when it was recorded: answer `number`, from 1, is missing.
    Gap { number: u32 },
}

/// The recorded request most like another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// Its line in the recording, from 1.
    pub line: u64,
    /// The first difference, such as `prompt, character 12: recorded "…abc", asked "…abd"`; on one line.
    pub difference: String,
}

impl std::error::Error for Miss {}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, path) = (self.kind.name(), self.path.display());
        match &self.why {
            Why::Unsearched => write!(f, "the recording `{path}` has no such {kind} request, like others before"),
            Why::Unknown { nearest: None } => write!(f, "the recording `{path}` has no {kind} requests"),
            Why::Unknown { nearest: Some(Nearest { line, difference }) } => write!(
                f,
                "the recording `{path}` has no such {kind} request; the nearest, in line {line}, differs in {difference}"
            ),
            Why::RanOut { recorded } => {
                let times = if *recorded == 1 { "once" } else { &format!("{recorded} times") };
                write!(f, "the recording `{path}` answers this {kind} request {times}, and it was made once more")
            }
            Why::Gap { number } => write!(
                f,
                "the recording `{path}` has no answer {number} to this {kind} request: it failed when recorded"
            ),
        }
    }
}

impl From<Miss> for super::TapeError {
    fn from(miss: Miss) -> Self {
        Self::Miss(Box::new(miss))
    }
}

/// The first difference of two requests, both JSON.
pub(super) fn first_difference(recorded: &[u8], asked: &[u8]) -> String {
    let parsed = |text| serde_json::from_slice::<Value>(text).unwrap_or_default();
    // Equal values with different digests are formatted differently, which this program never does.
    first("", &parsed(recorded), &parsed(asked)).unwrap_or_else(|| "formatting".to_owned())
}

/// The first difference, in the order of the recorded fields.
fn first(at: &str, recorded: &Value, asked: &Value) -> Option<String> {
    match (recorded, asked) {
        (Value::Object(recorded), Value::Object(asked)) => {
            let names = recorded.keys().chain(asked.keys().filter(|name| !recorded.contains_key(*name)));
            names.into_iter().find_map(|name| {
                let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                part(&at, recorded.get(name), asked.get(name))
            })
        }
        (Value::Array(recorded), Value::Array(asked)) => (0..recorded.len().max(asked.len()))
            .find_map(|i| part(&format!("{at}[{i}]"), recorded.get(i), asked.get(i))),
        (Value::String(recorded), Value::String(asked)) => texts(at, recorded, asked),
        _ if recorded == asked => None,
        _ => Some(whole(at, Some(recorded), Some(asked))),
    }
}

fn part(at: &str, recorded: Option<&Value>, asked: Option<&Value>) -> Option<String> {
    match (recorded, asked) {
        (Some(recorded), Some(asked)) => first(at, recorded, asked),
        _ => Some(whole(at, recorded, asked)),
    }
}

fn whole(at: &str, recorded: Option<&Value>, asked: Option<&Value>) -> String {
    format!("{at}: recorded {}, asked {}", shown(recorded), shown(asked))
}

/// A value on one line, or `nothing`.
fn shown(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => quoted(text, 0, LONGEST),
        Some(value) => excerpt(&value.to_string()),
    }
}

/// The first character that differs, from 1, with its surroundings.
fn texts(at: &str, recorded: &str, asked: &str) -> Option<String> {
    if recorded == asked {
        return None;
    }
    let place = recorded.chars().zip(asked.chars()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| quoted(text, place.saturating_sub(AROUND), place + AROUND);
    Some(format!("{at}, character {}: recorded {}, asked {}", place + 1, around(recorded), around(asked)))
}

/// The characters from `begin` to `end`, quoted and escaped, with `…` where text is left out.
fn quoted(text: &str, begin: usize, end: usize) -> String {
    let before = if begin > 0 { "…" } else { "" };
    let after = if text.chars().nth(end).is_some() { "…" } else { "" };
    let window: String = text.chars().skip(begin).take(end - begin).collect();
    format!("{:?}", format!("{before}{window}{after}"))
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn the_first_difference_is_named_and_shown() {
        let told = |recorded: &str, asked: &str| first_difference(recorded.as_bytes(), asked.as_bytes());
        for (recorded, asked, difference) in [
            (r#"{"a":1,"b":{"c":0.0}}"#, r#"{"a":1,"b":{"c":0.7}}"#, "b.c: recorded 0.0, asked 0.7"),
            (r#"{"b":{"c":1}}"#, r#"{"b":{"c":1,"seed":5}}"#, "b.seed: recorded nothing, asked 5"),
            (r#"{"stop":["\n"]}"#, r#"{"stop":[]}"#, r#"stop[0]: recorded "\n", asked nothing"#),
            (
                r#"{"prompt":[{"role":"user","content":"ab"}]}"#,
                r#"{"prompt":[{"role":"user","content":"ac"}]}"#,
                r#"prompt[0].content, character 2: recorded "ab", asked "ac""#,
            ),
            (
                r#"{"prompt":"text"}"#,
                r#"{"prompt":[{"content":"t\n"}]}"#,
                r#"prompt: recorded "text", asked [{"content":"t\n"}]"#,
            ),
            (r#"{"a":1}"#, r#"{ "a":1}"#, "formatting"),
            (
                r#"{"prompt":"a\nb"}"#,
                r#"{"prompt":"a\nb\u202e\"c"}"#,
                r#"prompt, character 4: recorded "a\nb", asked "a\nb\u{202e}\"c""#,
            ),
            (r#"{"prompt":""}"#, r#"{"prompt":"x"}"#, r#"prompt, character 1: recorded "", asked "x""#),
        ] {
            assert_eq!(told(recorded, asked), difference);
        }
        let long = |middle| format!(r#"{{"prompt":"{}{middle}{}"}}"#, "é".repeat(100), "z".repeat(10_000));
        let (before, after) = ("é".repeat(28), "z".repeat(29));
        let expected =
            format!(r#"prompt, character 103: recorded "…{before}abc{after}…", asked "…{before}abd{after}…""#);
        assert_eq!(told(&long("abc"), &long("abd")), expected);
        assert!(told(&long(""), r#"{"prompt":["y"]}"#).len() < 300);
    }
}
