//! The episodes of several folders of one run, each once.

use super::folder::{JOURNAL, TRAJECTORIES};
use super::journal::{self, Episodes, Journaled};
use super::lock::hold_still;
use super::{Journal, PaidByVariant, Records, RunFolder, StoreError};
use crate::base::Trajectory;
use crate::net::recording::{FolderBeside, sync_folder};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Which of two different records of one episode is kept, in the order in which the folders are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    First,
    Last,
}

#[derive(Debug)]
pub(crate) struct Conflict {
    pub(crate) id: String,
    pub(crate) variant: String,
    pub(crate) repeat: u32,
    /// File and line, from 1, of both.
    pub(crate) places: [(PathBuf, usize); 2],
}

type Entry = (usize, usize);

/// Which record of each episode counts.
#[derive(Debug)]
pub(crate) struct Union<'a> {
    records: &'a [Records],
    entries: Vec<Entry>,
    /// Records that differ from the first one of their episode.
    conflicts: BTreeMap<Entry, Vec<Entry>>,
    /// Records that other folders have copies of, with these.
    same: BTreeMap<Entry, Vec<Entry>>,
    pub(crate) copies: usize,
}

impl<'a> Union<'a> {
    /// Finds the record of each episode: a measured one comes before one that is not, a later attempt before an earlier one.
    pub(crate) fn of(records: &'a [Records]) -> Result<Self, StoreError> {
        let (entries, conflicts, same) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let mut union = Self { records, entries, conflicts, same, copies: 0 };
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (folder, of_folder) in records.iter().enumerate() {
            for (place, head) in of_folder.heads().enumerate() {
                if let Some(&at) = seen.get(head.key.as_str()) {
                    union.meet(at, (folder, place))?;
                } else {
                    seen.insert(&head.key, union.entries.len());
                    union.entries.push((folder, place));
                }
            }
        }
        union.entries.sort_by(|a, b| union.records[a.0].head(a.1).place().cmp(&union.records[b.0].head(b.1).place()));
        Ok(union)
    }

    fn meet(&mut self, at: usize, new: Entry) -> Result<(), StoreError> {
        let old = self.entries[at];
        let (was, is) = (self.records[old.0].head(old.1), self.records[new.0].head(new.1));
        match (was.measured, is.measured) {
            (true, false) => {}
            (false, true) => self.entries[at] = new,
            _ if self.are_equal(old, new)? => self.copy(old, new),
            (true, _) => {
                let others = self.conflicts.get(&old).cloned().unwrap_or_default();
                for other in others {
                    if self.are_equal(other, new)? {
                        self.copy(other, new);
                        return Ok(());
                    }
                }
                self.conflicts.entry(old).or_default().push(new);
            }
            (false, _) => self.entries[at] = new,
        }
        Ok(())
    }

    fn copy(&mut self, of: Entry, new: Entry) {
        self.copies += usize::from(self.records[new.0].head(new.1).measured);
        self.same.entry(of).or_default().push(new);
    }

    /// What all folders have paid together, from what `each` has paid. A copied record counts once. A folder that is an
    /// earlier copy of another one, with no measured record of its own, does not count.
    fn paid_once(&self, each: &[PaidByVariant]) -> PaidByVariant {
        let earlier = self.earlier_copies(each);
        let counts = |folder: usize| !earlier.contains(&folder);
        let mut paid = PaidByVariant::new();
        for (_, own) in each.iter().enumerate().filter(|(folder, _)| counts(*folder)) {
            for (variant, cost) in own {
                *paid.entry(variant.clone()).or_default() += *cost;
            }
        }
        for (first, copies) in &self.same {
            let head = self.records[first.0].head(first.1);
            let holders = std::iter::once(first).chain(copies).filter(|(folder, _)| counts(*folder)).count();
            for _ in 1..holders {
                let cost = paid.entry(head.variant.clone()).or_default();
                *cost = cost.saturating_sub(head.paid);
            }
        }
        paid
    }

    /// Folders whose measured records are all in another folder, which has more of them or has paid more.
    fn earlier_copies(&self, paid: &[PaidByVariant]) -> HashSet<usize> {
        let measured = |folder: usize| self.records[folder].heads().filter(|head| head.measured).count();
        let calls = |folder: usize| paid[folder].values().map(|paid| paid.calls).sum::<u64>();
        let sizes: Vec<_> = (0..self.records.len()).map(|folder| (measured(folder), calls(folder), folder)).collect();
        let mut shared: HashMap<(usize, usize), usize> = HashMap::new();
        for (first, copies) in self.same.iter().filter(|(first, _)| self.records[first.0].head(first.1).measured) {
            let holders: Vec<usize> = std::iter::once(first).chain(copies).map(|(folder, _)| *folder).collect();
            for &one in &holders {
                for &other in holders.iter().filter(|other| sizes[**other] > sizes[one]) {
                    *shared.entry((one, other)).or_default() += 1;
                }
            }
        }
        let all = shared.into_iter().filter(|((one, _), count)| *count == sizes[*one].0);
        all.map(|((one, _), _)| one).collect()
    }

    fn are_equal(&self, one: Entry, other: Entry) -> Result<bool, StoreError> {
        let line = |(folder, place): Entry| self.records[folder].line(place, &mut None);
        let (one, other) = (line(one)?, line(other)?);
        let trajectory = |line: &[u8]| serde_json::from_slice::<Trajectory>(line).ok();
        Ok(one.trim_ascii() == other.trim_ascii() || trajectory(&one) == trajectory(&other))
    }

    pub(crate) fn conflicts(&self) -> usize {
        self.conflicts.len()
    }

    pub(crate) fn first_conflicts(&self, most: usize) -> Result<Vec<Conflict>, StoreError> {
        let place = |(folder, place): Entry| self.records[folder].file_and_line(place);
        let conflict = |(first, others): (&Entry, &Vec<Entry>)| {
            let Trajectory { id, variant, repeat, .. } = self.records[first.0].trajectory(first.1)?;
            Ok(Conflict { id, variant, repeat, places: [place(*first)?, place(others[0])?] })
        };
        self.conflicts.iter().take(most).map(conflict).collect()
    }

    /// Takes the first or the last of the records of an episode where they differ. Returns the key and the start of the others.
    pub(crate) fn settle(&mut self, keep: Keep) -> Result<HashSet<(String, String)>, StoreError> {
        let mut dropped = HashSet::new();
        for entry in &mut self.entries {
            let Some(mut others) = self.conflicts.remove(entry) else { continue };
            if keep == Keep::Last
                && let Some(last) = others.last_mut()
            {
                std::mem::swap(entry, last);
            }
            for (folder, place) in others {
                let Trajectory { key, started_at, .. } = self.records[folder].trajectory(place)?;
                dropped.insert((key, started_at));
            }
        }
        Ok(dropped)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        let head = |(folder, place): &Entry| self.records[*folder].head(*place);
        self.entries.iter().map(head).map(|head| (head.key.as_str(), head.variant.as_str(), head.measured))
    }

    pub(crate) fn paid(&self) -> PaidByVariant {
        let mut paid = PaidByVariant::new();
        for (folder, place) in &self.entries {
            let head = self.records[*folder].head(*place);
            *paid.entry(head.variant.clone()).or_default() += head.paid;
        }
        paid
    }

    pub(super) fn write(&self, file: &mut dyn Write) -> io::Result<()> {
        let mut open: Vec<_> = self.records.iter().map(|_| None).collect();
        for (folder, place) in &self.entries {
            let line = self.records[*folder].line(*place, &mut open[*folder]).map_err(io::Error::other)?;
            file.write_all(line.trim_ascii_end())?;
            file.write_all(b"\n")?;
        }
        Ok(())
    }
}

impl RunFolder {
    /// Keeps others from writing the folder, where that can be had without changing anything in it.
    pub(crate) fn hold_still(&self) -> Result<Option<File>, StoreError> {
        hold_still(self.path())
    }

    /// Makes and fills a folder beside `path`, and gives it that name: it is whole, or not there. Notes name left-overs.
    pub(crate) fn build<E: From<StoreError>>(
        path: &Path,
        fill: impl FnOnce(&Self) -> Result<(), E>,
    ) -> Result<Vec<String>, E> {
        // One that is there and empty may have been named as `.`.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
        }
        let beside = FolderBeside::create(&path).map_err(StoreError::io("create", &path))?;
        fill(&Self::at(beside.path()))?;
        let left = |path: &PathBuf| {
            format!("note: `{}` may be left by a process that was killed; remove it if none is running", path.display())
        };
        let notes = beside.doubtful.iter().map(left).collect();
        beside.rename(&path).map_err(StoreError::io("create", &path))?;
        sync_folder(&path);
        Ok(notes)
    }

    /// Writes the records of several folders, and a journal with what these have paid and with their unfinished episodes,
    /// if they have any. Returns what was paid, where it is known from journals.
    pub(crate) fn write_union(
        &self,
        union: &Union<'_>,
        folders: &[&Self],
        records: &[Records],
    ) -> Result<PaidByVariant, StoreError> {
        super::journal::replace_with(&self.lines(TRAJECTORIES, ""), |file| union.write(file))?;
        let measured: HashSet<&str> = union.keys().filter(|(.., measured)| *measured).map(|(key, ..)| key).collect();
        let (mut paid, mut open, mut is_journaled) = (Vec::new(), Episodes::new(), false);
        for (folder, records) in folders.iter().zip(records) {
            paid.push(folder.paid(records, None)?);
            for part in folder.parts(None)? {
                let Some(journaled) = Journaled::read(&folder.lines(JOURNAL, &part))? else { continue };
                is_journaled = true;
                let left = journaled.episodes.into_iter().filter(|(key, _)| !measured.contains(key.as_str()));
                journal::adopt(&mut open, left);
            }
        }
        let paid = union.paid_once(&paid);
        if !is_journaled && paid == union.paid() {
            return Ok(PaidByVariant::new());
        }
        Journal::write(&self.lines(JOURNAL, ""), paid.clone(), open)?;
        Ok(paid)
    }
}
