//! Reading trajectories back: all shards, the latest record of each episode, one at a time.

use super::StoreError;
use super::index::{self, Content, Head, Line, json, parse};
use crate::types::bounded::read_line;
use crate::types::trajectory::{TRAJECTORY_VERSION, TextLength};
use crate::types::{Paid, Trajectory};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The recorded episodes of a run, sorted by variant, repeat and position in the dataset file, so that neither scores
/// nor exports depend on the order in which episodes ended. Memory grows by a few hundred bytes per episode, since
/// trajectories stay on disk.
#[derive(Debug)]
pub(crate) struct Records {
    shards: Vec<Shard>,
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
    /// Line number, from 1.
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

/// The state of a trajectory file before it was read.
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
    /// Finds the latest record of each episode. Unreadable lines are skipped and listed.
    pub(super) fn index(shards: Vec<Shard>) -> Result<Self, StoreError> {
        Self::index_lines(shards, None)
    }

    /// The same for one question. Lines of others are not parsed, and what is wrong inside them is not said.
    pub(super) fn index_question(shards: Vec<Shard>, id: &str) -> Result<Self, StoreError> {
        Self::index_lines(shards, Some(id))
    }

    fn index_lines(shards: Vec<Shard>, id: Option<&str>) -> Result<Self, StoreError> {
        let (superseded, paid) = (Vec::new(), vec![BTreeMap::new(); shards.len()]);
        let (places, skipped, open) = (Vec::new(), Vec::new(), Mutex::default());
        let mut records = Self { shards, places, skipped, superseded, paid, open };
        let mut seen: HashMap<String, usize> = HashMap::new();
        for shard in 0..records.shards.len() {
            records.index_shard(shard, id, &mut seen)?;
        }
        records.places.sort_by(|a, b| a.head.place().cmp(&b.head.place()));
        Ok(records)
    }

    /// Whether these are the records of exactly these `shards`.
    pub(super) fn are_of(&self, shards: &[Shard]) -> bool {
        self.shards == shards
    }

    /// The episodes of a trajectory file outside any run folder. A file with other content is refused.
    pub(crate) fn of_file(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(StoreError::io("read", path))?;
        only_trajectories(path, BufReader::new(file))?;
        Self::index(vec![Shard::look_at(path.to_owned())?])
    }

    fn index_shard(
        &mut self,
        shard: usize,
        id: Option<&str>,
        seen: &mut HashMap<String, usize>,
    ) -> Result<(), StoreError> {
        let path = self.shards[shard].path.clone();
        for line in index::lines(&path, id).map_err(StoreError::io("read", &path))? {
            let Line { number, offset, length, content } = line;
            match content {
                Content::Episode(head) => self.note(Place { shard, offset, length, head }, seen),
                Content::Newer(found) => return Err(StoreError::Newer { path, found, known: TRAJECTORY_VERSION }),
                Content::Unreadable(reason) => {
                    self.skipped.push(Skipped { path: path.clone(), line: number, reason });
                }
            }
        }
        Ok(())
    }

    /// A later record replaces an earlier one, unless only the earlier one was measured.
    fn note(&mut self, place: Place, seen: &mut HashMap<String, usize>) {
        *self.paid[place.shard].entry(place.head.variant.clone()).or_default() += place.head.paid;
        let Some(&at) = seen.get(&place.head.key) else {
            seen.insert(place.head.key.clone(), self.places.len());
            return self.places.push(place);
        };
        let known = &mut self.places[at];
        let (winner, loser) = if place.head.measured || !known.head.measured {
            let old = std::mem::replace(known, place);
            (known.shard, old)
        } else {
            (known.shard, place)
        };
        // Another file may be rewritten by another process meanwhile.
        if winner == loser.shard {
            self.superseded.push((loser.shard, loser.offset));
        }
    }

    /// What the episodes in the file at `path` have cost, by variant, including those that were repeated later.
    pub(super) fn paid(&self, path: &Path) -> BTreeMap<String, Paid> {
        let shard = self.shards.iter().position(|shard| shard.path == path);
        shard.map(|shard| self.paid[shard].clone()).unwrap_or_default()
    }

    /// Offsets in the file at `path` of lines that another one takes the place of.
    pub(super) fn superseded(&self, path: &Path) -> HashSet<u64> {
        let of_file = |(shard, _): &&(usize, u64)| self.shards[*shard].path == path;
        self.superseded.iter().filter(of_file).map(|(_, offset)| *offset).collect()
    }

    pub(crate) fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The key and variant of each episode, and whether it was measured.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        self.places.iter().map(|place| (place.head.key.as_str(), place.head.variant.as_str(), place.head.measured))
    }

    /// The trajectories, read one at a time.
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

    /// What is kept in memory of the episodes, in their order.
    pub(super) fn heads(&self) -> impl Iterator<Item = &Head> {
        self.places.iter().map(|place| &place.head)
    }

    /// What is kept in memory of the episode at this place in their order.
    pub(super) fn head(&self, at: usize) -> &Head {
        &self.places[at].head
    }

    /// The record at this place as it is on disk; `open` is the file that was read last.
    pub(super) fn line(&self, at: usize, open: &mut Option<(usize, File)>) -> Result<Vec<u8>, StoreError> {
        let mut line = Vec::new();
        self.bytes(&self.places[at], open, &mut line)?;
        Ok(line)
    }

    /// The episode at this place.
    pub(crate) fn trajectory(&self, at: usize) -> Result<Trajectory, StoreError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        self.read(&self.places[at], &mut open, &mut Vec::new())
    }

    /// Where the record at this place is: its file, and its line from 1.
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
            Err(_) if torn => {}
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
