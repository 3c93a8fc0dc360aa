//! Reading trajectories back: all shards, the latest record of each episode, one at a time.

use super::StoreError;
use crate::base::bounded::{read_line, too_long};
use crate::base::trajectory::{TRAJECTORY_VERSION, TextLength};
use crate::base::{Paid, Trajectory, json_error, processors};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::SystemTime;

/// The recorded episodes of a run, sorted by variant, repeat and position in the dataset file, so that neither scores
/// nor exports depend on the order in which episodes ended. Memory grows by a few hundred bytes per episode, since
/// trajectories stay on disk.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(super) shards: Vec<Shard>,
    places: Vec<Place>,
    skipped: Vec<Skipped>,
    /// Shard and offset of lines that another one of the same file takes the place of.
    superseded: Vec<(usize, u64)>,
    /// What the episodes of each shard have cost, by variant.
    paid: Vec<BTreeMap<String, Paid>>,
    /// The shard that a single episode was last read from, and its file.
    open: Mutex<Option<(usize, File)>>,
}

/// A line that could not be read; its episode counts as missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skipped {
    pub path: PathBuf,
    pub line: usize,
    pub reason: String,
}

#[derive(Debug)]
struct Place {
    shard: usize,
    offset: u64,
    length: usize,
    head: Head,
}

impl Place {
    /// Episodes of one place in the dataset keep the order of the files.
    fn order(&self) -> ((&str, u32, usize), usize, u64) {
        (self.head.place(), self.shard, self.offset)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shard {
    path: PathBuf,
    length: u64,
    modified: Option<SystemTime>,
}

impl Shard {
    pub(super) fn look_at(path: PathBuf) -> Result<Self, StoreError> {
        let metadata = path.metadata().map_err(StoreError::io("read", &path))?;
        Ok(Self { length: metadata.len(), modified: metadata.modified().ok(), path })
    }
}

impl Records {
    /// Finds the latest record of each episode; lists unreadable lines. With `id`, lines of others are not parsed.
    pub(super) fn index(shards: Vec<Shard>, id: Option<&str>) -> Result<Self, StoreError> {
        let mut records = Self { paid: vec![BTreeMap::new(); shards.len()], shards, ..Self::default() };
        for shard in 0..records.shards.len() {
            records.index_shard(shard, id)?;
        }
        records.keep_latest();
        records.places.sort_unstable_by(|a, b| a.order().cmp(&b.order()));
        Ok(records)
    }

    /// The episodes of a trajectory file outside any run folder. A file with other content is refused.
    pub(crate) fn of_file(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(StoreError::io("read", path))?;
        only_trajectories(path, BufReader::new(file))?;
        Self::index(vec![Shard::look_at(path.to_owned())?], None)
    }

    fn index_shard(&mut self, shard: usize, id: Option<&str>) -> Result<(), StoreError> {
        let path = self.shards[shard].path.clone();
        for line in lines(&path, id).map_err(StoreError::io("read", &path))? {
            let Line { number, offset, length, content } = line;
            match content {
                Content::Episode(head) => {
                    *self.paid[shard].entry(head.variant.clone()).or_default() += head.paid;
                    self.places.push(Place { shard, offset, length, head });
                }
                Content::Newer(found) => return Err(StoreError::Newer { path, found, known: TRAJECTORY_VERSION }),
                Content::Unreadable(reason) => {
                    self.skipped.push(Skipped { path: path.clone(), line: number, reason });
                }
            }
        }
        Ok(())
    }

    /// A later record replaces an earlier one, unless only the earlier one was measured.
    fn keep_latest(&mut self) {
        // Equal keys keep their order.
        self.places.sort_by(|a, b| a.head.key.cmp(&b.head.key));
        let superseded = &mut self.superseded;
        self.places.dedup_by(|later, kept| {
            if later.head.key != kept.head.key {
                return false;
            }
            if later.head.measured || !kept.head.measured {
                std::mem::swap(later, kept);
            }
            // Another file may be rewritten by another process meanwhile.
            if later.shard == kept.shard {
                superseded.push((later.shard, later.offset));
            }
            true
        });
    }

    /// What the episodes in the file at `path` have cost, by variant, including those that were repeated later.
    pub(super) fn paid(&self, path: &Path) -> BTreeMap<String, Paid> {
        let shard = self.shards.iter().position(|shard| shard.path == path);
        shard.map(|shard| self.paid[shard].clone()).unwrap_or_default()
    }

    /// What the records that count have cost, by variant.
    pub(super) fn paid_for_latest(&self) -> BTreeMap<String, Paid> {
        let mut paid = BTreeMap::<String, Paid>::new();
        for head in self.heads() {
            *paid.entry(head.variant.clone()).or_default() += head.paid;
        }
        paid
    }

    /// Offsets in the file at `path` of lines that another one takes the place of.
    pub(super) fn superseded(&self, path: &Path) -> HashSet<u64> {
        let of_file = |(shard, _): &&(usize, u64)| self.shards[*shard].path == path;
        self.superseded.iter().filter(of_file).map(|(_, offset)| *offset).collect()
    }

    pub(crate) fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        self.places.iter().map(|place| (place.head.key.as_str(), place.head.variant.as_str(), place.head.measured))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<Trajectory, StoreError>> {
        let (mut open, mut line) = (None, Vec::new());
        self.places.iter().map(move |place| self.read(place, &mut open, &mut line))
    }

    fn read(
        &self,
        place: &Place,
        open: &mut Option<(usize, File)>,
        line: &mut Vec<u8>,
    ) -> Result<Trajectory, StoreError> {
        self.bytes(place, open, line)?;
        let mut trajectory: Trajectory = json(line).map_err(|error| StoreError::Io {
            action: "read",
            path: self.shards[place.shard].path.clone(),
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, error),
        })?;
        // Imports of older versions did not say that there are no steps, and made semantics of the tool up.
        if !trajectory.has_steps() {
            (trajectory.steps_recorded, trajectory.compat) = (false, None);
        }
        Ok(trajectory)
    }

    fn bytes(&self, place: &Place, open: &mut Option<(usize, File)>, line: &mut Vec<u8>) -> Result<(), StoreError> {
        let path = &self.shards[place.shard].path;
        if open.as_ref().is_none_or(|(shard, _)| *shard != place.shard) {
            *open = Some((place.shard, File::open(path).map_err(StoreError::io("read", path))?));
        }
        line.resize(place.length, 0);
        if let Some((_, file)) = open {
            file.seek(SeekFrom::Start(place.offset))
                .and_then(|_| file.read_exact(line))
                .map_err(StoreError::io("read", path))?;
        }
        Ok(())
    }

    pub(super) fn heads(&self) -> impl Iterator<Item = &Head> {
        self.places.iter().map(|place| &place.head)
    }

    pub(super) fn head(&self, at: usize) -> &Head {
        &self.places[at].head
    }

    /// The record at this place as it is on disk; `open` is the file that was read last.
    pub(super) fn line(&self, at: usize, open: &mut Option<(usize, File)>) -> Result<Vec<u8>, StoreError> {
        let mut line = Vec::new();
        self.bytes(&self.places[at], open, &mut line)?;
        Ok(line)
    }

    pub(crate) fn trajectory(&self, at: usize) -> Result<Trajectory, StoreError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        self.read(&self.places[at], &mut open, &mut Vec::new())
    }

    pub(super) fn file_and_line(&self, at: usize) -> Result<(PathBuf, usize), StoreError> {
        let Place { shard, offset, .. } = self.places[at];
        let path = &self.shards[shard].path;
        let line = line_number(path, offset).map_err(StoreError::io("read", path))?;
        Ok((path.clone(), line))
    }
}

/// Fails if the file contains anything but trajectories. The last line may be incomplete if it starts like one.
pub(super) fn only_trajectories(path: &Path, mut reader: impl BufRead) -> Result<(), StoreError> {
    const BEGINNING: &[u8] = b"{\"v\":";
    let mut line = Vec::new();
    for number in 1.. {
        let length = read_line(&mut reader, &mut line).map_err(StoreError::io("read", path))?;
        if length == 0 {
            break;
        }
        let torn = length == line.len()
            && line.last() != Some(&b'\n')
            && (line.starts_with(BEGINNING) || BEGINNING.starts_with(&line));
        match parse::<TextLength>(&line) {
            _ if line.trim_ascii().is_empty() => {}
            Ok(Ok(_)) => {}
            Ok(Err(found)) => {
                return Err(StoreError::Newer { path: path.to_owned(), found, known: TRAJECTORY_VERSION });
            }
            Err(error) if torn && error.is_eof() => {}
            Err(_) => return Err(StoreError::Foreign { path: path.to_owned(), line: number }),
        }
    }
    Ok(())
}

/// The number, from 1, of the line that begins at `offset`.
fn line_number(path: &Path, offset: u64) -> std::io::Result<usize> {
    let mut before = BufReader::new(File::open(path)?).take(offset);
    let (mut block, mut number) = ([0; 1 << 13], 1);
    loop {
        match before.read(&mut block)? {
            0 => return Ok(number),
            read => number += memchr::memchr_iter(b'\n', &block[..read]).count(),
        }
    }
}

/// Minimum bytes per thread.
const SHARE: u64 = 4 << 20;
const BLOCK: usize = 256 << 10;

pub(super) struct Line {
    pub(super) number: usize,
    pub(super) offset: u64,
    /// In bytes, including the line end.
    pub(super) length: usize,
    pub(super) content: Content,
}

pub(super) enum Content {
    Episode(Head),
    Newer(u64),
    Unreadable(String),
}

#[derive(Debug)]
pub(super) struct Head {
    pub(super) key: String,
    pub(super) measured: bool,
    pub(super) variant: String,
    repeat: u32,
    index: usize,
    pub(super) paid: Paid,
}

impl Head {
    pub(super) fn place(&self) -> (&str, u32, usize) {
        (&self.variant, self.repeat, self.index)
    }
}

/// Only the version: a newer record may lack fields that this program expects.
#[derive(Deserialize)]
struct Version {
    v: u64,
}

/// The lines of a file, in order; with `id`, those that may be of that question.
pub(super) fn lines(path: &Path, id: Option<&str>) -> io::Result<impl Iterator<Item = Line> + use<>> {
    let shares = (path.metadata()?.len() / SHARE).max(1);
    in_parts(path, usize::try_from(shares).unwrap_or(usize::MAX).min(processors()), id)
}

/// The same, read in `parts` parts at once.
fn in_parts(path: &Path, parts: usize, id: Option<&str>) -> io::Result<impl Iterator<Item = Line> + use<>> {
    let share = path.metadata()?.len() / parts as u64;
    let read = thread::scope(|scope| {
        let started: Vec<_> =
            (1..parts as u64).map(|n| scope.spawn(move || part(path, (n - 1) * share, n * share, id))).collect();
        // The last part extends to the end of the file, which may have grown. A small file needs no other thread.
        let last = part(path, (parts as u64 - 1) * share, u64::MAX, id);
        let ended =
            started.into_iter().map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        ended.chain([last]).collect::<io::Result<Vec<_>>>()
    })?;
    let mut before = 0;
    Ok(read.into_iter().flat_map(move |(lines, count)| {
        let first = before;
        before += count;
        lines.into_iter().map(move |line| Line { number: first + line.number, ..line })
    }))
}

/// The lines that start in a part of the file, numbered within it, and their number including blank ones.
fn part(path: &Path, begin: u64, end: u64, id: Option<&str>) -> io::Result<(Vec<Line>, usize)> {
    let beginning = format!("{{\"v\":{TRAJECTORY_VERSION},\"id\":\"");
    let mut reader = BufReader::with_capacity(BLOCK, File::open(path)?);
    let (mut lines, mut bytes, mut number, mut offset) = (Vec::new(), Vec::new(), 0, begin);
    if begin > 0 {
        // Skip the rest of a line that starts in the previous part.
        offset = reader.seek(SeekFrom::Start(begin - 1))?;
        offset += reader.skip_until(b'\n')? as u64;
    }
    while offset < end {
        let length = read_line(&mut reader, &mut bytes)?;
        if length == 0 {
            break;
        }
        number += 1;
        let passed = id.is_some_and(|id| is_of_another(&bytes, &beginning, id));
        if !passed && !bytes.trim_ascii().is_empty() {
            let content = too_long(&bytes, length).map_or_else(|| content(&bytes), Content::Unreadable);
            lines.push(Line { number, offset, length, content });
        }
        offset += length as u64;
    }
    Ok((lines, number))
}

/// Whether a line begins and ends as ours do, and is of another question: such a line need not be parsed.
pub(super) fn is_of_another(line: &[u8], beginning: &str, id: &str) -> bool {
    let Some(rest) = line.strip_prefix(beginning.as_bytes()).filter(|_| line.trim_ascii_end().ends_with(b"}")) else {
        return false;
    };
    // An id with an escape is left to the parser.
    memchr::memchr2(b'"', b'\\', rest).is_some_and(|end| rest[end] == b'"' && rest[..end] != *id.as_bytes())
}

fn content(line: &[u8]) -> Content {
    match parse::<TextLength>(line) {
        Ok(Ok(trajectory)) => Content::Episode(Head {
            measured: trajectory.measured(),
            paid: Paid::of(&trajectory),
            key: trajectory.key,
            variant: trajectory.variant,
            repeat: trajectory.repeat,
            index: trajectory.index,
        }),
        Ok(Err(newer)) => Content::Newer(newer),
        Err(_) if line.last() != Some(&b'\n') => Content::Unreadable("cut in the middle of a line".to_owned()),
        Err(error) => Content::Unreadable(format!("not a trajectory: {}", json_error::in_line(&error))),
    }
}

/// The trajectory of a line, or its version if that is too new.
pub(super) fn parse<S: DeserializeOwned + Default>(
    line: &[u8],
) -> Result<Result<Trajectory<S>, u64>, serde_json::Error> {
    let known = u64::from(TRAJECTORY_VERSION);
    match json::<Trajectory<S>>(line) {
        Ok(trajectory) if u64::from(trajectory.v) > known => Ok(Err(trajectory.v.into())),
        Ok(trajectory) => Ok(Ok(trajectory)),
        Err(error) => match serde_json::from_slice(line) {
            Ok(Version { v }) if v > known => Ok(Err(v)),
            _ => Err(error),
        },
    }
}

/// The value of a line. Looking for UTF-8 once takes less time than doing so in each text.
pub(super) fn json<T: DeserializeOwned>(line: &[u8]) -> Result<T, serde_json::Error> {
    std::str::from_utf8(line).map_or_else(|_| serde_json::from_slice(line), serde_json::from_str)
}

#[cfg(test)]
mod tests {
    use super::{Content, TRAJECTORY_VERSION, in_parts, is_of_another, parse};
    use crate::base::trajectory::TextLength;
    use crate::base::{
        Call, FunctionCall, Outcome, Paid, Provenance, Repair, SentBody, Step, Tool, Trajectory, Verbatim, Vote,
    };
    use crate::runner::store::tests::trajectory;

    /// An episode with something in every field.
    fn full() -> Trajectory {
        let call = Call {
            prompt_sha256: "p".to_owned(),
            prompt_chars: 400,
            stop: vec!["\n".to_owned()],
            completion: "said: ü".to_owned(),
            calls: vec![FunctionCall { id: "c".to_owned(), name: "search".to_owned(), arguments: "{}".to_owned() }],
            verbatim: Some(Verbatim { endpoint: "chat".to_owned(), content: "signed".into() }),
            reasoning: Some("hm".to_owned()),
            finish_reason: Some("stop".to_owned()),
            cause: None,
            at_limit: true,
            usage: None,
            started_at: Some("2026-01-01T00:00:00Z".to_owned()),
            latency_ms: 3,
            attempts: 1,
            cached: false,
            copied: true,
            sent: Some(SentBody::new("chat", serde_json::Map::new(), None)),
        };
        let step = Step {
            n: 1,
            sample: Some(1),
            thought: Some("thought".to_owned()),
            tool: Some(Tool::Search),
            input: Some("input".to_owned()),
            action_text: Some("action".to_owned()),
            observation: Some("seen".to_owned()),
            provenance: Some(Provenance::default()),
            note: Some("note".to_owned()),
            tool_started_at: Some("2026-01-01T00:00:00Z".to_owned()),
            tool_ms: Some(7),
            discarded: Some("rest".to_owned()),
            calls: vec![call],
        };
        Trajectory {
            steps: vec![step],
            detail: Some("detail".to_owned()),
            cost_usd: Some(0.5),
            repairs: vec![Repair { step: 1, kind: "kind".to_owned() }],
            votes: vec![Vote { answer: "a".to_owned(), normalized: "a".to_owned(), count: 1 }],
            ..trajectory("a", 3, Outcome::Finished)
        }
    }

    #[test]
    fn a_line_is_believed_exactly_where_all_of_it_can_be_read() {
        let line = serde_json::to_vec(&full()).expect("plain data");
        let agree = |line: &[u8]| {
            let told = |error: serde_json::Error| error.to_string();
            let checked = parse::<TextLength>(line).map_err(told);
            let read = parse::<String>(line).map_err(told);
            let text = String::from_utf8_lossy(line);
            assert_eq!(checked.as_ref().err(), read.as_ref().err(), "{text}");
            if let (Ok(checked), Ok(read)) = (checked, read) {
                assert_eq!(checked.as_ref().map(Paid::of), read.as_ref().map(Paid::of), "{text}");
            }
        };
        for at in 0..line.len() {
            agree(&line[..at]);
            for byte in [b'"', b'\\', b'{', b'5', b',', b'\n', 0xff] {
                agree(&[&line[..at], &[byte], &line[at + 1..]].concat());
            }
        }
        for escape in ["\\ud800", "\\ud83d\\ude00", "\\u00e9", "\\x"] {
            agree(String::from_utf8_lossy(&line).replace("thought", escape).as_bytes());
        }
    }

    #[test]
    fn lines_of_other_questions_are_told_by_how_they_begin() {
        let beginning = format!("{{\"v\":{TRAJECTORY_VERSION},\"id\":\"");
        for id in ["a", "ab", "", "ü", "quote\"d", "back\\slash", "line\nend"] {
            let line = serde_json::to_string(&trajectory(id, 0, Outcome::Finished)).expect("plain data") + "\r\n";
            let passed: Vec<&str> = ["a", "ab", "", "ü", "quote\"d", "back\\slash", "line\nend"]
                .into_iter()
                .filter(|wanted| is_of_another(line.as_bytes(), &beginning, wanted))
                .collect();
            assert!(!passed.contains(&id), "{id:?}");
            // What has an escape is left to the parser.
            assert_eq!(passed.len(), if id.contains(['"', '\\', '\n']) { 0 } else { 6 }, "{id:?}");
            // So is a torn line, one of another version, and one that says its id elsewhere.
            for odd in
                [&line[..line.len() - 3], &line.replacen('1', "2", 1), &line.replacen("\"id\"", "\"x\":\"\",\"id\"", 1)]
            {
                assert!(!is_of_another(odd.as_bytes(), &beginning, "other"), "{odd}");
            }
        }
    }

    #[test]
    fn the_lines_do_not_depend_on_the_number_of_parts() {
        let mut text = String::from("\n");
        for n in 0..40 {
            let mut trajectory = trajectory(&n.to_string(), n, Outcome::Finished);
            trajectory.question = "ß\n".repeat(n * 7);
            text += &serde_json::to_string(&trajectory).expect("plain data");
            text += if n % 9 == 4 { "\n \n" } else { "\n" };
        }
        text += "{\"v\":7}\nnotes\n{\"v\":1,\"id\":";
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("t.jsonl");
        std::fs::write(&path, &text).expect("written");
        let told = |parts: usize| -> Vec<String> {
            let lines: Vec<_> = in_parts(&path, parts, None).expect("read").collect();
            let begins = |line: &super::Line| &text[usize::try_from(line.offset).expect("small")..][..line.length];
            assert!(lines.iter().all(|line| text.split_inclusive('\n').nth(line.number - 1) == Some(begins(line))));
            let what = |content: &Content| match content {
                Content::Episode(head) => head.key.clone(),
                Content::Newer(version) => format!("version {version}"),
                Content::Unreadable(reason) => reason.clone(),
            };
            lines.iter().map(|line| format!("{}: {}", line.number, what(&line.content))).collect()
        };
        let whole = told(1);
        assert_eq!(whole.len(), 43);
        assert_eq!((whole[0].as_str(), whole[39].as_str()), ("2: key-0", "45: key-39"));
        assert_eq!(whole[40], "46: version 7");
        assert_eq!(whole[41], "47: not a trajectory: not valid JSON at column 2");
        assert_eq!(whole[42], "48: cut in the middle of a line");
        for parts in 2..60 {
            assert_eq!(told(parts), whole, "{parts}");
        }
        std::fs::write(&path, "").expect("written");
        assert_eq!(in_parts(&path, 3, None).expect("read").count(), 0);
    }
}
