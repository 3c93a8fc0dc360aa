//! Reading trajectories back: all shards, the latest record of each episode, one at a time.

use super::StoreError;
use crate::types::trajectory::TRAJECTORY_VERSION;
use crate::types::{Trajectory, Usage};
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// The recorded episodes of a run, sorted by variant, repeat and position in the dataset file.
///
/// So neither scores nor exports depend on which episode happened to end first.
///
/// Only places are held, not trajectories: memory grows by some hundred bytes an episode.
#[derive(Debug)]
pub struct Records {
    shards: Vec<PathBuf>,
    places: Vec<Place>,
    skipped: Vec<Skipped>,
    paid: Paid,
}

/// What recorded episodes cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Paid {
    /// Model calls that a server answered.
    pub calls: u64,
    /// Calls among them whose tokens nobody counted.
    pub uncounted: u64,
    /// Their tokens; those that nobody counted are estimated.
    pub usage: Usage,
}

impl Paid {
    /// What one episode cost.
    pub fn of(trajectory: &Trajectory) -> Self {
        let mut paid = Self::default();
        paid.add(trajectory);
        paid
    }

    fn add(&mut self, trajectory: &Trajectory) {
        for call in trajectory.steps.iter().flat_map(|step| &step.calls).filter(|call| !call.cached) {
            self.calls += 1;
            self.uncounted += u64::from(call.usage.is_none());
            self.usage += call.usage.unwrap_or_else(|| Usage::estimated(call.prompt_chars, call.completion.len()));
        }
    }
}

/// A line that could not be read; the episode it may have held counts as missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// Line number, from 1.
    pub line: usize,
    /// Why.
    pub reason: String,
}

#[derive(Debug)]
struct Place {
    shard: usize,
    offset: u64,
    length: usize,
    key: String,
    measured: bool,
    variant: String,
    repeat: u32,
    index: usize,
}

/// The version, which is looked at before anything else: a newer record need not have the fields we expect.
#[derive(Deserialize)]
struct Version {
    v: u64,
}

impl Records {
    /// Notes where each episode's latest record is. Lines that cannot be read are skipped and listed.
    pub(super) fn index(shards: Vec<PathBuf>) -> Result<Self, StoreError> {
        let mut records = Self { shards, places: Vec::new(), skipped: Vec::new(), paid: Paid::default() };
        let mut seen: HashMap<String, usize> = HashMap::new();
        for shard in 0..records.shards.len() {
            records.index_shard(shard, &mut seen)?;
        }
        records.places.sort_by(|a, b| (&a.variant, a.repeat, a.index).cmp(&(&b.variant, b.repeat, b.index)));
        Ok(records)
    }

    fn index_shard(&mut self, shard: usize, seen: &mut HashMap<String, usize>) -> Result<(), StoreError> {
        let path = self.shards[shard].clone();
        let file = File::open(&path).map_err(StoreError::io("read", &path))?;
        let (mut reader, mut line, mut offset, mut number) = (BufReader::new(file), Vec::new(), 0, 0);
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line).map_err(StoreError::io("read", &path))?;
            if length == 0 {
                return Ok(());
            }
            number += 1;
            if !line.trim_ascii().is_empty() {
                match parse(&line) {
                    Ok(Err(newer)) => {
                        return Err(StoreError::Newer { path, found: newer, known: TRAJECTORY_VERSION });
                    }
                    Ok(Ok(trajectory)) => self.note(shard, offset, length, trajectory, seen),
                    Err(error) => {
                        let reason = reason(&error, line.last() == Some(&b'\n'));
                        self.skipped.push(Skipped { path: path.clone(), line: number, reason });
                    }
                }
            }
            offset += length as u64;
        }
    }

    /// A later record replaces an earlier one, unless it would replace a measured one by nothing.
    fn note(&mut self, shard: usize, offset: u64, length: usize, head: Trajectory, seen: &mut HashMap<String, usize>) {
        let measured = head.measured();
        self.paid.add(&head);
        let place = Place {
            shard,
            offset,
            length,
            key: head.key.clone(),
            measured,
            variant: head.variant,
            repeat: head.repeat,
            index: head.index,
        };
        match seen.get(&head.key) {
            Some(&at) if measured || !self.places[at].measured => self.places[at] = place,
            Some(_) => {}
            None => {
                seen.insert(head.key, self.places.len());
                self.places.push(place);
            }
        }
    }

    /// Number of episodes recorded, each counted once.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// What all recorded episodes cost, those that were done again included.
    pub fn paid(&self) -> Paid {
        self.paid
    }

    /// Lines that could not be read.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Key of each recorded episode, and whether it was measured.
    pub fn keys(&self) -> impl Iterator<Item = (&str, bool)> {
        self.places.iter().map(|place| (place.key.as_str(), place.measured))
    }

    /// The trajectories, read one at a time.
    pub fn iter(&self) -> impl Iterator<Item = Result<Trajectory, StoreError>> {
        let mut open: Option<(usize, File)> = None;
        self.places.iter().map(move |place| self.read(place, &mut open))
    }

    fn read(&self, place: &Place, open: &mut Option<(usize, File)>) -> Result<Trajectory, StoreError> {
        let path = &self.shards[place.shard];
        if open.as_ref().is_none_or(|(shard, _)| *shard != place.shard) {
            *open = Some((place.shard, File::open(path).map_err(StoreError::io("read", path))?));
        }
        let mut line = vec![0; place.length];
        if let Some((_, file)) = open {
            file.seek(SeekFrom::Start(place.offset))
                .and_then(|_| file.read_exact(&mut line))
                .map_err(StoreError::io("read", path))?;
        }
        serde_json::from_slice(&line).map_err(|error| StoreError::Io {
            action: "read",
            path: path.clone(),
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, error),
        })
    }
}

/// Refuses a file that holds anything but trajectories. The last line may be torn, if it began like one.
pub(super) fn only_trajectories(path: &Path) -> Result<(), StoreError> {
    const BEGINNING: &[u8] = b"{\"v\":";
    let file = File::open(path).map_err(StoreError::io("read", path))?;
    let (mut reader, mut line) = (BufReader::new(file), Vec::new());
    for number in 1.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(StoreError::io("read", path))? == 0 {
            break;
        }
        let torn = line.last() != Some(&b'\n') && (line.starts_with(BEGINNING) || BEGINNING.starts_with(&line));
        match parse(&line) {
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

/// The trajectory of a line, or the version that is too new for us.
fn parse(line: &[u8]) -> Result<Result<Trajectory, u64>, serde_json::Error> {
    let Version { v } = serde_json::from_slice(line)?;
    if v > u64::from(TRAJECTORY_VERSION) {
        return Ok(Err(v));
    }
    serde_json::from_slice(line).map(Ok)
}

fn reason(error: &serde_json::Error, complete: bool) -> String {
    if complete { format!("not a trajectory: {error}") } else { "cut in the middle of a line".to_owned() }
}
