//! A request that a tape has no answer to: the nearest that it has one to, and where the two part.

use super::asked::Kind;
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;

/// Characters shown on either side of the place where two texts part.
const AROUND: usize = 30;
/// Longest value shown, in characters.
const LONGEST: usize = 80;

/// A request that a tape has no answer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// The tape.
    pub path: PathBuf,
    /// Who was asked.
    pub kind: Kind,
    /// What is missing.
    pub why: Why,
}

/// What is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The request was never recorded.
    Unknown {
        /// The nearest request of the same kind; none where the tape has no such request at all.
        nearest: Option<Nearest>,
    },
    /// The request was recorded, but not so often.
    RanOut {
        /// How many answers there are.
        recorded: usize,
    },
    /// The request was made once more when it was recorded, and brought no answer then.
    Gap {
        /// Which of its answers is missing, from 1.
        number: u32,
    },
}

/// A recorded request that is much like another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// Its line on the tape, from 1.
    pub line: u64,
    /// The first difference, such as `prompt, character 12: recorded "…abc", asked "…abd"`; on one line.
    pub difference: String,
}

impl std::error::Error for Miss {}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, path) = (self.kind.name(), self.path.display());
        match &self.why {
            Why::Unknown { nearest: None } => write!(f, "the recording `{path}` has no {kind} request at all"),
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
                "the recording `{path}` lacks answer {number} to this {kind} request: it failed when it was recorded"
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
pub(super) fn difference(recorded: &[u8], asked: &[u8]) -> String {
    let parsed = |text| serde_json::from_slice::<Value>(text).unwrap_or_default();
    // Equal values with different digests are spelled differently, which our own spelling never is.
    first("", &parsed(recorded), &parsed(asked)).unwrap_or_else(|| "its spelling".to_owned())
}

/// Where `asked` first departs from `recorded`, in the order of the recorded fields.
fn first(at: &str, recorded: &Value, asked: &Value) -> Option<String> {
    let plain = |recorded: Option<&Value>, asked: Option<&Value>| {
        Some(format!("{at}: recorded {}, asked {}", shown(recorded), shown(asked)))
    };
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
        _ => plain(Some(recorded), Some(asked)),
    }
}

fn part(at: &str, recorded: Option<&Value>, asked: Option<&Value>) -> Option<String> {
    match (recorded, asked) {
        (Some(recorded), Some(asked)) => first(at, recorded, asked),
        _ => Some(format!("{at}: recorded {}, asked {}", shown(recorded), shown(asked))),
    }
}

/// A value on one line; `nothing` where there is none.
fn shown(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => cut(&text.chars().take(LONGEST + 1).collect::<Vec<_>>(), 0, LONGEST),
        Some(value) => {
            let text = value.to_string();
            let mut short: String = text.chars().take(LONGEST).collect();
            if short.len() < text.len() {
                short.push('…');
            }
            short.escape_debug().to_string().replace("\\\"", "\"")
        }
    }
}

/// The character at which two texts part, counted from 1, with what stands around it.
fn texts(at: &str, recorded: &str, asked: &str) -> Option<String> {
    if recorded == asked {
        return None;
    }
    let place = recorded.chars().zip(asked.chars()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| {
        let begin = place.saturating_sub(AROUND);
        let window: Vec<char> = text.chars().skip(begin).take(place - begin + AROUND + 1).collect();
        cut(&window, begin, place - begin + AROUND)
    };
    Some(format!("{at}, character {}: recorded {}, asked {}", place + 1, around(recorded), around(asked)))
}

/// At most `most` of `window`, quoted and escaped, with `…` where there is more; `before` characters come before it.
fn cut(window: &[char], before: usize, most: usize) -> String {
    let text: String = window.iter().take(most).collect();
    let quoted = format!("{text:?}");
    let begin = if before > 0 { "\"…" } else { "\"" };
    let end = if window.len() > most { "…\"" } else { "\"" };
    format!("{begin}{}{end}", &quoted[1..quoted.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::difference;

    fn told(recorded: &str, asked: &str) -> String {
        difference(recorded.as_bytes(), asked.as_bytes())
    }

    #[test]
    fn texts_part_at_a_character_and_show_what_stands_around_it() {
        let long =
            |middle: &str| format!(r#"{{"prompt":"{}{middle}{}","model":"m"}}"#, "é".repeat(100), "z".repeat(50));
        let told = told(&long("abc"), &long("abd"));
        let (before, after) = ("é".repeat(28), "z".repeat(29));
        assert_eq!(
            told,
            format!(r#"prompt, character 103: recorded "…{before}abc{after}…", asked "…{before}abd{after}…""#)
        );
    }

    #[test]
    fn the_ends_of_a_text_have_no_ellipsis_and_everything_is_one_line() {
        assert_eq!(
            told(r#"{"prompt":"a\nb"}"#, r#"{"prompt":"a\nb\u202e\"c"}"#),
            r#"prompt, character 4: recorded "a\nb", asked "a\nb\u{202e}\"c""#
        );
        assert_eq!(told(r#"{"prompt":""}"#, r#"{"prompt":"x"}"#), r#"prompt, character 1: recorded "", asked "x""#);
    }

    #[test]
    fn fields_items_and_kinds_are_named() {
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
                r#"prompt: recorded "text", asked [{"content":"t\\n"}]"#,
            ),
            (r#"{"a":1}"#, r#"{ "a":1}"#, "its spelling"),
        ] {
            assert_eq!(told(recorded, asked), difference);
        }
        let long = format!(r#"{{"prompt":"{}"}}"#, "x".repeat(10_000));
        assert!(told(&long, r#"{"prompt":["y"]}"#).len() < 200);
    }
}
