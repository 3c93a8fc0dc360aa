//! The journal of a run: what took place in episodes that have not ended, and what all of it cost.
//!
//! ```text
//! {"v":1,"paid":{"main":{"calls":8,"uncounted":0,"usage":{…}}},"carried":0}
//! {"key":"<sha256>","variant":"main","call":{…}}
//! {"key":"<sha256>","variant":"main","sample":0,"tool":{…}}
//! ```
//!
//! Each completion and observation is on disk before its episode goes on; lines of many episodes are synced together.
//! When an episode is recorded, its lines are no longer needed. The file is rewritten without such lines when the run
//! begins and ends, and when it has grown: what they cost is added to `paid` in the first line, and the first `carried`
//! lines after it are among that. So nothing that was paid for is forgotten or counted twice, whenever a run is killed.
//! Whole lines that cannot be read are told and stay in the file.

use super::{Records, Skipped, StoreError, line, tape_error};
use crate::base::{Event, Paid, bounded, json_error, locked};
use crate::net::recording::{LineFile, TapeError, Writer, check_own, create_beside, sync_folder};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const VERSION: u32 = 1;
/// Bytes of lines that are no longer needed, from which on the file is rewritten during a run.
const MAX_DEAD: u64 = 64 << 20;

pub(crate) type PaidByVariant = BTreeMap<String, Paid>;

pub(super) type Episodes = HashMap<String, Vec<Kept>>;

#[derive(Debug)]
pub(super) struct Kept {
    variant: Arc<str>,
    sample: Option<u32>,
    event: Event,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Header {
    v: u32,
    paid: PaidByVariant,
    carried: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(borrow)]
    variant: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sample: Option<u32>,
    #[serde(flatten)]
    event: Event,
}

#[derive(Debug, Default)]
pub(super) struct Journaled {
    pub(crate) paid: PaidByVariant,
    pub(super) episodes: Episodes,
    /// Whole lines that cannot be read, as they are. They stay in the file when it is rewritten.
    damaged: Vec<Damaged>,
}

/// A line that something else than a crash of this program has changed.
#[derive(Debug)]
struct Damaged {
    bytes: Vec<u8>,
    skipped: Skipped,
}

#[derive(Debug)]
pub(crate) struct Journal {
    writer: Writer<Item>,
    kept: Mutex<Episodes>,
    skipped: Vec<Skipped>,
}

#[derive(Debug)]
enum Item {
    Line(String, Vec<u8>),
    Ended(String),
}

impl Journaled {
    /// Reads a journal; none if the file does not exist. An incomplete last line, as a crash leaves it, is left out.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, StoreError> {
        let Some(mut lines) = lines(path)? else { return Ok(None) };
        let Some(header) = header(&mut lines, path)? else { return Ok(None) };
        let mut journaled = Self { paid: header.paid, ..Self::default() };
        for (at, bytes) in lines.enumerate() {
            let mut bytes = bytes.map_err(StoreError::io("read", path))?;
            let is_whole = bytes.pop_if(|end| *end == b'\n').is_some();
            let Line { key, variant, sample, event } = match serde_json::from_slice(&bytes) {
                Ok(line) => line,
                Err(_) if !is_whole || bytes.trim_ascii().is_empty() => continue,
                Err(error) => {
                    let reason = format!("not a line of a journal: {}", json_error::in_line(&error));
                    let skipped = Skipped { path: path.to_owned(), line: at + 2, reason };
                    journaled.damaged.push(Damaged { bytes, skipped });
                    continue;
                }
            };
            if let (Event::Call(call), true) = (&event, at >= header.carried) {
                *journaled.paid.entry(variant.clone().into_owned()).or_default() += Paid::of_call(call);
            }
            let known = journaled.episodes.entry(key.into_owned()).or_default();
            let variant = match known.last() {
                Some(last) if *last.variant == *variant => Arc::clone(&last.variant),
                _ => variant.into(),
            };
            known.push(Kept { variant, sample, event });
        }
        Ok(Some(journaled))
    }

    pub(super) fn skipped(&self) -> impl Iterator<Item = &Skipped> {
        self.damaged.iter().map(|damaged| &damaged.skipped)
    }

    /// What each variant has cost in episodes that `--resume` goes on with: those that are not measured.
    pub(super) fn unfinished(&self, records: &Records) -> PaidByVariant {
        let measured = records.keys().filter(|(key, _, measured)| *measured && self.episodes.contains_key(*key));
        let measured: HashSet<&str> = measured.map(|(key, ..)| key).collect();
        let mut paid = PaidByVariant::new();
        for kept in self.episodes.iter().filter(|(key, _)| !measured.contains(key.as_str())).flat_map(|(_, kept)| kept)
        {
            if let Event::Call(call) = &kept.event {
                *paid.entry(kept.variant.to_string()).or_default() += Paid::of_call(call);
            }
        }
        paid
    }
}

impl Journal {
    /// Opens or creates the journal of a run whose folder is locked. `is_open` says which episodes still need their lines;
    /// `before` is what was paid before the run had a journal; `elsewhere` is what other journals, which have counted it,
    /// hold of episodes that go on here.
    pub(super) fn open(
        path: &Path,
        before: &PaidByVariant,
        is_open: impl Fn(&str) -> bool,
        elsewhere: Episodes,
    ) -> Result<Self, StoreError> {
        let mut file = JournalFile::new(path.to_owned());
        let (mut episodes, mut skipped) = (Episodes::new(), Vec::new());
        let journaled = Journaled::read(path)?;
        if journaled.is_some() || !elsewhere.is_empty() {
            let mut journaled = journaled.unwrap_or_else(|| Journaled { paid: before.clone(), ..Journaled::default() });
            journaled.episodes.retain(|key, _| is_open(key));
            adopt(&mut journaled.episodes, elsewhere);
            file.rewrite(&journaled)?;
            skipped.extend(journaled.skipped().cloned());
            episodes = journaled.episodes;
        } else {
            file.before.clone_from(before);
        }
        let writer = Writer::start(path.to_owned(), move |batch| file.write(batch));
        let writer = writer.map_err(|error| StoreError::io("write", path)(std::io::Error::other(error)))?;
        Ok(Self { writer, kept: Mutex::new(episodes), skipped })
    }

    /// Lines that could not be read when it was opened. They stay in the file, and what they held is asked again.
    pub(crate) fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Begins the journal of a run that has none with what was paid so far.
    pub(super) fn begin(path: &Path, paid: &PaidByVariant) -> Result<(), StoreError> {
        if path.exists() { Ok(()) } else { Self::write(path, paid.clone(), Episodes::new()) }
    }

    /// Writes a journal with what was paid, that for these episodes included.
    pub(super) fn write(path: &Path, paid: PaidByVariant, episodes: Episodes) -> Result<(), StoreError> {
        JournalFile::new(path.to_owned()).rewrite(&Journaled { paid, episodes, damaged: Vec::new() })
    }

    /// What was kept of an episode's agent, or of one sample of its vote, in order. It is handed out once.
    pub(crate) fn take(&self, key: &str, sample: Option<u32>) -> VecDeque<Event> {
        let mut kept = locked(&self.kept);
        let Some(events) = kept.get_mut(key) else { return VecDeque::new() };
        events.extract_if(.., |kept| kept.sample == sample).map(|kept| kept.event).collect()
    }

    /// What was paid for of an episode that [`take`](Self::take) has not handed out yet.
    pub(crate) fn paid_for(&self, key: &str) -> Paid {
        let mut paid = Paid::default();
        let kept = locked(&self.kept);
        for kept in kept.get(key).into_iter().flatten() {
            if let Event::Call(call) = &kept.event {
                paid += Paid::of_call(call);
            }
        }
        paid
    }

    /// Keeps an event, and waits until it is on disk. One whose line could not be read again is not kept: a resumed run
    /// makes it once more.
    pub(crate) async fn keep(
        &self,
        key: &str,
        variant: &str,
        sample: Option<u32>,
        event: Event,
    ) -> Result<(), TapeError> {
        let (path, of) = (self.writer.path(), Line { key: key.into(), variant: variant.into(), sample, event });
        let line = line("append to", &of, path).map_err(|error| tape_error("append to", path, error))?;
        if line.len() as u64 > bounded::MAX_LINE_BYTES {
            return Ok(());
        }
        self.writer.write(Item::Line(key.to_owned(), line)).await
    }

    /// Notes that an episode is recorded, so that its lines are no longer needed.
    pub(crate) fn ended(&self, key: &str) {
        // The lines may stay: they are only space.
        drop(self.writer.send(Item::Ended(key.to_owned())));
    }
}

/// Adds what another journal holds. The longer one counts: who goes on with an episode copies what was there.
pub(super) fn adopt(episodes: &mut Episodes, others: impl IntoIterator<Item = (String, Vec<Kept>)>) {
    for (key, events) in others {
        let known = episodes.entry(key).or_default();
        if events.len() > known.len() {
            *known = events;
        }
    }
}

struct JournalFile {
    path: PathBuf,
    /// Absent until there is something to write.
    lines: Option<LineFile>,
    /// What was paid before there was a file.
    before: PaidByVariant,
    /// Bytes of the lines of each open episode.
    open: HashMap<String, u64>,
    dead: u64,
}

impl JournalFile {
    fn new(path: PathBuf) -> Self {
        Self { path, lines: None, before: PaidByVariant::new(), open: HashMap::new(), dead: 0 }
    }

    /// Writes a new file with these lines in place of the old one. Damaged ones come last, as they are not counted.
    fn rewrite(&mut self, Journaled { paid, episodes, damaged }: &Journaled) -> Result<(), StoreError> {
        let carried = episodes.values().map(Vec::len).sum();
        let mut bytes = line("write", &Header { v: VERSION, paid: paid.clone(), carried }, &self.path)?;
        let mut open = HashMap::new();
        for (key, events) in episodes {
            let before = bytes.len();
            for Kept { variant, sample, event } in events {
                let (key, variant, event) = (key.into(), Cow::Borrowed(&**variant), event.clone());
                bytes.extend(line("write", &Line { key, variant, sample: *sample, event }, &self.path)?);
            }
            open.insert(key.clone(), (bytes.len() - before) as u64);
        }
        for Damaged { bytes: line, .. } in damaged {
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
        }
        replace(&self.path, &bytes)?;
        let mut lines = LineFile::open(&self.path)?;
        let tail = lines.tail()?;
        lines.repair(&tail, false)?;
        (self.lines, self.open, self.dead) = (Some(lines), open, 0);
        Ok(())
    }

    fn write(&mut self, batch: Vec<Item>) -> Result<(), TapeError> {
        let mut bytes = Vec::new();
        for item in batch {
            match item {
                Item::Line(key, line) => {
                    *self.open.entry(key).or_default() += line.len() as u64;
                    bytes.extend(line);
                }
                Item::Ended(key) => self.dead += self.open.remove(&key).unwrap_or_default(),
            }
        }
        if !bytes.is_empty() {
            self.append(&bytes)?;
        }
        if self.dead > MAX_DEAD {
            self.shrink().map_err(|error| tape_error("rewrite", &self.path, error))?;
        }
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), TapeError> {
        if self.lines.is_none() {
            let (before, open) = (std::mem::take(&mut self.before), std::mem::take(&mut self.open));
            let begun = Journaled { paid: before, ..Journaled::default() };
            self.rewrite(&begun).map_err(|error| tape_error("write", &self.path, error))?;
            self.open = open;
        }
        match &mut self.lines {
            Some(lines) => Ok(lines.append(bytes)?),
            None => Ok(()),
        }
    }

    fn shrink(&mut self) -> Result<(), StoreError> {
        let Some(mut journaled) = Journaled::read(&self.path)? else { return Ok(()) };
        journaled.episodes.retain(|key, _| self.open.contains_key(key));
        self.rewrite(&journaled)
    }
}

fn lines(path: &Path) -> Result<Option<impl Iterator<Item = io::Result<Vec<u8>>>>, StoreError> {
    match File::open(path) {
        Ok(file) => Ok(Some(bounded::whole_lines(BufReader::new(file)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io("open", path)(error)),
    }
}

fn header(lines: &mut impl Iterator<Item = io::Result<Vec<u8>>>, path: &Path) -> Result<Option<Header>, StoreError> {
    let Some(first) = lines.next() else { return Ok(None) };
    let mut first = first.map_err(StoreError::io("read", path))?;
    first.pop_if(|end| *end == b'\n');
    let header: Header = serde_json::from_slice(&first)
        .map_err(|error| StoreError::BadManifest { path: path.to_owned(), message: json_error::in_line(&error) })?;
    if header.v > VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found: header.v.into(), known: VERSION });
    }
    Ok(Some(header))
}

/// Writes a temporary file and renames it, so that a crash leaves the old file or the new one.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    replace_with(path, |file| file.write_all(bytes))
}

pub(super) fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), StoreError> {
    let (file, beside) = check_own(path).and_then(|()| create_beside(path)).map_err(StoreError::io("write", path))?;
    let mut buffered = BufWriter::new(file);
    let written = write(&mut buffered).and_then(|()| buffered.into_inner()?.sync_data());
    if let Err(source) = written {
        let _ = fs::remove_file(&beside);
        return Err(StoreError::Io { action: "write", path: path.to_owned(), source });
    }
    fs::rename(&beside, path).map_err(StoreError::io("write", path))?;
    sync_folder(path);
    Ok(())
}
