//! Reading a recording: an index in memory, answers on demand; for a miss the nearest recorded request and the first
//! difference.

use super::line::{self, CanonicalRequest, Counter, Digest, Entry, Head, MAX_HEADER_BYTES};
use super::{Kind, Nearest, TapeError, Why};
use crate::base::bounded::{read_line, too_long};
use crate::base::{excerpt, json_error, locked};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A recording that is replayed. Cheap to clone; clones share their counts.
#[derive(Debug, Clone)]
pub struct Player {
    recording: Arc<Recording>,
}

trait Bytes: Read + Seek + Send + std::fmt::Debug {}

impl<T: Read + Seek + Send + std::fmt::Debug> Bytes for T {}

#[derive(Debug)]
struct Recording {
    path: PathBuf,
    bytes: Mutex<Box<dyn Bytes>>,
    known: HashMap<Digest, Known>,
    scopes: HashMap<String, u32>,
    scoped: Counter,
    shared: Counter,
    /// The nearest request to each one without an answer. Locked during the search, which reads the whole file.
    nearest: Mutex<HashMap<Digest, Option<Nearest>>>,
}

#[derive(Debug)]
struct Known {
    kind: Kind,
    /// In the order of the file.
    spots: Vec<Spot>,
    /// Their indices, by scope and number.
    of: HashMap<u32, BTreeMap<u32, usize>>,
}

#[derive(Debug, Clone, Copy)]
struct Spot {
    line: u64,
    offset: u64,
    length: usize,
    /// Offset and length of the request within the line.
    request: (usize, usize),
}

/// For how many requests without an answer the nearest one is looked for. Each search reads the whole recording, and a
/// changed prompt makes every request one of them.
const MOST_SEARCHES: usize = 10;
/// The scope of requests outside episodes.
const NOBODY: u32 = 0;

impl Player {
    /// Indexes the recording. An incomplete last line is ignored.
    pub fn open(path: &Path) -> Result<Self, TapeError> {
        let file = File::open(path).map_err(TapeError::io("open", path))?;
        if !file.metadata().map_err(TapeError::io("open", path))?.is_file() {
            return Err(TapeError::Foreign { path: path.to_owned(), reason: "it is not a regular file" });
        }
        let again = file.try_clone().map_err(TapeError::io("open", path))?;
        Self::over(path, BufReader::new(file), Box::new(again))
    }

    /// The same of a recording that is part of the program.
    pub fn of_shipped(path: &Path, bytes: &'static [u8]) -> Result<Self, TapeError> {
        Self::over(path, bytes, Box::new(Cursor::new(bytes)))
    }

    fn over(path: &Path, lines: impl BufRead, bytes: Box<dyn Bytes>) -> Result<Self, TapeError> {
        let mut recording = Recording {
            path: path.to_owned(),
            bytes: Mutex::new(bytes),
            known: HashMap::new(),
            scopes: HashMap::from([(String::new(), NOBODY)]),
            scoped: Counter::default(),
            shared: Counter::default(),
            nearest: Mutex::default(),
        };
        recording.index(lines)?;
        Ok(Self { recording: Arc::new(recording) })
    }

    /// Whether a request was recorded; its answers may have been given already.
    pub fn has(&self, asked: &CanonicalRequest) -> bool {
        self.recording.known.contains_key(&asked.digest)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.recording.known.values().map(|known| known.spots.len()).sum()
    }

    /// The answer to a request; counts the occurrence now, and reads the answer when the future runs.
    ///
    /// Answers recorded for the current scope are returned in their order. Without any, such as after a variant was
    /// renamed, all recorded answers to the request are returned one after the other.
    pub fn answer<A>(&self, asked: CanonicalRequest) -> impl Future<Output = Result<A, TapeError>> + Send + use<A>
    where
        A: DeserializeOwned + Send + 'static,
    {
        let found = self.recording.find(&asked);
        let recording = Arc::clone(&self.recording);
        let path = recording.path.clone();
        async move {
            let reading = tokio::task::spawn_blocking(move || match found {
                Ok(spot) => recording.read(spot),
                Err(why) => Err(recording.miss(&asked, why)),
            });
            reading.await.map_err(|_| TapeError::Stopped { path })?
        }
    }
}

impl Recording {
    fn index(&mut self, mut reader: impl BufRead) -> Result<(), TapeError> {
        let path = self.path.clone();
        let read = || TapeError::io("read", &path);
        let mut line = Vec::new();
        (&mut reader).take(MAX_HEADER_BYTES).read_until(b'\n', &mut line).map_err(read())?;
        let Head::Recording(length) = line::read_head(&line, &path)? else { return Ok(()) };
        let (mut offset, mut number) = (length as u64, 1);
        loop {
            let length = read_line(&mut reader, &mut line).map_err(read())?;
            if length == 0 {
                return Ok(());
            }
            number += 1;
            if let Some(reason) = too_long(&line, length) {
                return Err(TapeError::BadLine { path, line: number, reason });
            }
            match Entry::parse(&line, &path, number) {
                Ok(entry) => self.note(&entry, Spot::of(&entry, &line, number, offset)),
                // A crash leaves an incomplete last line.
                Err(TapeError::BadLine { .. }) if line.last() != Some(&b'\n') => {}
                Err(error) => return Err(error),
            }
            offset += length as u64;
        }
    }

    fn note(&mut self, entry: &Entry<'_>, spot: Spot) {
        let next = u32::try_from(self.scopes.len()).unwrap_or(u32::MAX);
        let scope = entry.scope.as_deref().unwrap_or_default().to_owned();
        let scope = *self.scopes.entry(scope).or_insert(next);
        let known = self.known.entry(entry.digest).or_insert_with(|| Known {
            kind: entry.kind,
            spots: Vec::new(),
            of: HashMap::new(),
        });
        let numbers = known.of.entry(scope).or_default();
        if let Some(at) = numbers.get(&entry.n) {
            known.spots[*at] = spot;
        } else {
            numbers.insert(entry.n, known.spots.len());
            known.spots.push(spot);
        }
    }

    /// Where the next answer to this request is, or why there is none; the nearest request is not yet filled in.
    fn find(&self, asked: &CanonicalRequest) -> Result<Spot, Why> {
        let scope = line::current_scope().map(|scope| scope.to_string()).unwrap_or_default();
        let known = self.known.get(&asked.digest).ok_or(Why::Unknown { nearest: None })?;
        let Some(numbers) = self.scopes.get(&scope).and_then(|scope| known.of.get(scope)) else {
            let n = self.shared.next(&asked.digest, "") as usize;
            return known.spots.get(n).copied().ok_or(Why::RanOut { recorded: known.spots.len() });
        };
        let n = self.scoped.next(&asked.digest, &scope);
        match numbers.get(&n) {
            Some(at) => Ok(known.spots[*at]),
            None if numbers.range(n..).next().is_some() => Err(Why::Gap { number: n.saturating_add(1) }),
            None => Err(Why::RanOut { recorded: numbers.len() }),
        }
    }

    fn bytes(&self, offset: u64, length: usize) -> Result<Vec<u8>, TapeError> {
        let mut bytes = vec![0; length];
        // A panic leaves at most another position, and every read seeks first.
        let mut recorded = locked(&self.bytes);
        recorded
            .seek(SeekFrom::Start(offset))
            .and_then(|_| recorded.read_exact(&mut bytes))
            .map_err(TapeError::io("read", &self.path))?;
        Ok(bytes)
    }

    fn read<A: DeserializeOwned>(&self, spot: Spot) -> Result<A, TapeError> {
        let line = self.bytes(spot.offset, spot.length)?;
        let entry = Entry::parse(&line, &self.path, spot.line)?;
        serde_json::from_str(entry.answer.get()).map_err(|error| {
            let reason = format!("not an answer: {}", json_error::in_line(&error));
            TapeError::BadLine { path: self.path.clone(), line: spot.line, reason }
        })
    }

    fn miss(&self, asked: &CanonicalRequest, why: Why) -> TapeError {
        let missed = |why| TapeError::Miss { path: self.path.clone(), kind: asked.kind, why };
        let why = match why {
            Why::Unknown { .. } => {
                let mut kept = locked(&self.nearest);
                let searched = kept.len();
                let nearest = match kept.get(&asked.digest) {
                    Some(nearest) => nearest.clone(),
                    None if searched >= MOST_SEARCHES => return missed(Why::Unsearched),
                    None => match self.nearest(asked) {
                        Ok(nearest) => kept.entry(asked.digest).or_insert(nearest).clone(),
                        Err(error) => return error,
                    },
                };
                Why::Unknown { nearest }
            }
            why => why,
        };
        missed(why)
    }

    /// The recorded request with the longest common prefix; the first of equals.
    fn nearest(&self, asked: &CanonicalRequest) -> Result<Option<Nearest>, TapeError> {
        let mut spots: Vec<Spot> =
            self.known.values().filter(|known| known.kind == asked.kind).map(|known| known.spots[0]).collect();
        spots.sort_unstable_by_key(|spot| spot.offset);
        let wanted = asked.request.get();
        let mut best: Option<(usize, u64, Vec<u8>)> = None;
        for spot in spots {
            let text = self.bytes(spot.offset + spot.request.0 as u64, spot.request.1)?;
            if best.as_ref().is_some_and(|(most, ..)| text.get(..=*most) != wanted.as_bytes().get(..=*most)) {
                continue;
            }
            let common = text.iter().zip(wanted.as_bytes()).take_while(|(a, b)| a == b).count();
            if best.as_ref().is_none_or(|(most, ..)| common > *most) {
                best = Some((common, spot.line, text));
            }
        }
        Ok(best.map(|(_, line, text)| Nearest { line, difference: first_difference(&text, wanted.as_bytes()) }))
    }
}

impl Spot {
    fn of(entry: &Entry<'_>, line: &[u8], number: u64, offset: u64) -> Self {
        let request = entry.request.get();
        // The request borrows from the line, so their distance is its offset.
        let begin = request.as_ptr().addr().saturating_sub(line.as_ptr().addr());
        Self { line: number, offset, length: line.len(), request: (begin, request.len()) }
    }
}

/// Characters shown on either side of a difference.
const AROUND: usize = 30;
/// Longest text shown, in characters.
const LONGEST: usize = 80;

fn first_difference(recorded: &[u8], asked: &[u8]) -> String {
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
        (Value::String(recorded), Value::String(asked)) => text_difference(at, recorded, asked),
        _ if recorded == asked => None,
        _ => Some(value_difference(at, Some(recorded), Some(asked))),
    }
}

fn part(at: &str, recorded: Option<&Value>, asked: Option<&Value>) -> Option<String> {
    match (recorded, asked) {
        (Some(recorded), Some(asked)) => first(at, recorded, asked),
        _ => Some(value_difference(at, recorded, asked)),
    }
}

fn value_difference(at: &str, recorded: Option<&Value>, asked: Option<&Value>) -> String {
    format!("{at}: recorded {}, asked {}", value_line(recorded), value_line(asked))
}

fn value_line(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => quoted(text, 0, LONGEST),
        Some(value) => excerpt(&value.to_string()),
    }
}

/// The first character that differs, from 1, with its surroundings.
fn text_difference(at: &str, recorded: &str, asked: &str) -> Option<String> {
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
