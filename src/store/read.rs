//! Reading trajectories back: all shards, the latest record of each episode, one at a time.

use super::StoreError;
use crate::types::Trajectory;
use crate::types::trajectory::TRAJECTORY_VERSION;
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

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
        let mut records = Self { shards, places: Vec::new(), skipped: Vec::new() };
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
