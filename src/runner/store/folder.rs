//! The run folder: creating and opening it; its manifest, questions, prompts and notes.

use super::journal::{self, Episodes, Journaled, replace, replace_with};
use super::lock::{CLASSIFICATIONS, Claim, NOTES, VERDICTS, await_lock, is_held, is_lock};
use super::records::{Shard as RecordFile, is_of_another, json};
use super::{Appender, Journal, Lock, PaidByVariant, Records, Skipped, StoreError};
use crate::base::bounded::{MAX_LINE_BYTES, read_at_most, read_line, size, text_at_most, too_long};
use crate::base::json_error::{self, in_file};
use crate::base::manifest::{MANIFEST_VERSION, NOTES_VERSION};
use crate::base::shard::SHARD_VERSION;
use crate::base::text::{excerpt, printable};
use crate::base::{Manifest, Notes, Question, Shard, ShardRecord, Variant, sha256_hex};
use crate::net::recording::{TEMPORARY, create_beside, create_own_folder, sync_folder};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::borrow::Borrow;
use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};

/// Largest manifest, experiment or prompt that is read, in bytes.
const MAX_BYTES: u64 = 64 << 20;

const BEGINNING: &str = "{\"id\":\"";
/// How much of a line is copied at once, in bytes: one that is too long to be read may be in the file.
const MAX_PIECE: u64 = 1 << 20;

#[derive(Debug, Clone)]
pub(crate) struct RunFolder {
    path: PathBuf,
}

/// What the names of files begin with that each part of a run has for itself: a shard, or a process without one.
pub(super) const TRAJECTORIES: &str = "trajectories";
pub(super) const JOURNAL: &str = "journal";
const ANNOTATIONS: &str = "annotations.jsonl";

impl RunFolder {
    pub(crate) const EXPERIMENT: &'static str = "experiment.toml";

    /// A run folder that may not exist yet. Creates nothing.
    pub(crate) fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub(crate) fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let folder = Self::at(path);
        if folder.exists() { Ok(folder) } else { Err(folder.not_a_run()) }
    }

    fn not_a_run(&self) -> StoreError {
        let path = self.path.clone();
        if path.exists() { StoreError::NotARun { path } } else { StoreError::Absent { path } }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn exists(&self) -> bool {
        self.manifest_path().is_file()
    }

    /// Whether a start that was killed early may have left a file of this name: a lock, a claim, or half a manifest.
    pub(crate) fn is_left_over(name: &str) -> bool {
        is_lock(name) || name.starts_with("manifest.") && name.ends_with(TEMPORARY)
    }

    pub(crate) fn is_own(name: &str) -> bool {
        let lines =
            [TRAJECTORIES, JOURNAL].iter().any(|stem| name.starts_with(stem)) && name.strip_suffix(".jsonl").is_some();
        lines
            || is_lock(name)
            || ["manifest.json", "questions.jsonl", ANNOTATIONS, VERDICTS, CLASSIFICATIONS, NOTES, Self::EXPERIMENT]
                .contains(&name)
    }

    /// Locks the folder or a shard for writing, creating the folder if needed. Fails if another process holds the lock.
    pub(crate) fn lock(&self, shard: Option<Shard>) -> Result<Lock, StoreError> {
        fs::create_dir_all(&self.path).map_err(StoreError::io("create", &self.path))?;
        Lock::take(&self.path, shard)
    }

    /// Whether a process writes the run, as far as its locks tell.
    pub(crate) fn is_going(&self) -> bool {
        is_held(&self.path)
    }

    /// When something was last recorded of its episodes.
    #[cfg(feature = "serve")]
    pub(crate) fn last_written(&self) -> Option<std::time::SystemTime> {
        let parts = self.parts(None).ok()?;
        let files = parts.iter().flat_map(|part| [TRAJECTORIES, JOURNAL].map(|stem| self.lines(stem, part)));
        files.filter_map(|path| path.metadata().ok()?.modified().ok()).max()
    }

    pub(crate) fn manifest(&self) -> Result<Manifest, StoreError> {
        let path = self.manifest_path();
        if !path.is_file() {
            return Err(self.not_a_run());
        }
        let mut manifest: Manifest = read_versioned(&path, MANIFEST_VERSION)?;
        manifest.variants.iter_mut().for_each(Variant::forget_made_up);
        Ok(manifest)
    }

    /// Writes the manifest if there is none, and says whether it did: of several processes that try at once, one does.
    pub(crate) fn create_manifest(&self, manifest: &Manifest) -> Result<bool, StoreError> {
        self.create_manifest_by(manifest, |beside, path| fs::hard_link(beside, path))
    }

    /// The same with what links a whole file to its name, which fails if that name is taken. Some disks have no links.
    fn create_manifest_by(
        &self,
        manifest: &Manifest,
        link: impl FnOnce(&Path, &Path) -> io::Result<()>,
    ) -> Result<bool, StoreError> {
        let path = self.manifest_path();
        let text = pretty(manifest, &path)?;
        let (mut file, beside) = create_beside(&path).map_err(StoreError::io("write", &path))?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
        let linked = written.and_then(|()| link(&beside, &path));
        let created = match linked {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::StorageFull => Err(StoreError::io("write", &path)(error)),
            // It is not asked what a disk without links says: they differ. What is wrong otherwise is wrong here, too.
            Err(_) => Claim::rename(&beside, &path),
        };
        let _ = fs::remove_file(&beside);
        if matches!(created, Ok(true)) {
            sync_folder(&path);
        }
        created
    }

    pub(crate) fn write_manifest(&self, manifest: &Manifest) -> Result<(), StoreError> {
        write_json(&self.manifest_path(), manifest)
    }

    /// Writes down how a run goes: in the manifest, or, of a shard, in a file of its own.
    pub(crate) fn write_state(&self, shard: Option<Shard>, manifest: &Manifest) -> Result<(), StoreError> {
        match shard {
            None => self.write_manifest(manifest),
            Some(shard) => write_json(&self.shard_path(shard), &ShardRecord::of(shard, manifest)),
        }
    }

    pub(crate) fn shard(&self, shard: Shard) -> Result<Option<ShardRecord>, StoreError> {
        let path = self.shard_path(shard);
        if path.is_file() { read_versioned(&path, SHARD_VERSION).map(Some) } else { Ok(None) }
    }

    pub(crate) fn shards(&self) -> Result<Vec<ShardRecord>, StoreError> {
        let mut shards: Vec<Shard> = self.names()?.iter().filter_map(|name| shard_recorded(name)).collect();
        shards.sort();
        shards.into_iter().filter_map(|shard| self.shard(shard).transpose()).collect()
    }

    fn shard_path(&self, shard: Shard) -> PathBuf {
        self.path.join(format!("shard.{}.json", shard.name()))
    }

    pub(crate) fn write_experiment(&self, text: &str) -> Result<(), StoreError> {
        replace(&self.path.join(Self::EXPERIMENT), text.as_bytes())
    }

    pub(crate) fn experiment(&self) -> Result<Option<String>, StoreError> {
        let path = self.path.join(Self::EXPERIMENT);
        if !path.is_file() {
            return Ok(None);
        }
        read_text(&path).map(Some).map_err(StoreError::io("read", &path))
    }

    /// Refuses a question that takes more than half of the longest line, before anything is paid: the line of each of its
    /// episodes holds the question, too.
    pub(crate) fn write_questions(
        &self,
        questions: impl Iterator<Item = impl Borrow<Question>>,
    ) -> Result<(), StoreError> {
        const MOST: u64 = MAX_LINE_BYTES / 2;
        replace_with(&self.questions_path(), |file| {
            for question in questions {
                let question = question.borrow();
                let line = serde_json::to_vec(question)?;
                if line.len() as u64 > MOST {
                    let why = format!("the question `{}` is longer than {}", excerpt(&question.id), size(MOST));
                    return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
                }
                file.write_all(&line)?;
                file.write_all(b"\n")?;
            }
            Ok(())
        })
    }

    /// Whether a process has begun to write the questions and not ended, or was killed meanwhile.
    pub(crate) fn has_unfinished_questions(&self) -> Result<bool, StoreError> {
        Ok(self.names()?.iter().any(|name| name.starts_with("questions.jsonl.") && name.ends_with(TEMPORARY)))
    }

    pub(crate) fn has_questions(&self) -> bool {
        self.questions_path().is_file()
    }

    pub(super) fn questions_path(&self) -> PathBuf {
        self.path.join("questions.jsonl")
    }

    /// The questions; none for a run from before they were kept. With `id`, lines of other questions are not parsed.
    pub(crate) fn questions<'a>(
        &self,
        id: Option<&'a str>,
    ) -> Result<Option<impl Iterator<Item = Result<Question, StoreError>> + use<'a>>, StoreError> {
        let path = self.questions_path();
        if !path.is_file() {
            return Ok(None);
        }
        let mut file = BufReader::new(File::open(&path).map_err(StoreError::io("read", &path))?);
        let (mut bytes, mut number) = (Vec::new(), 0);
        Ok(Some(std::iter::from_fn(move || {
            loop {
                let length = match read_line(&mut file, &mut bytes) {
                    Ok(0) => return None,
                    Ok(length) => length,
                    Err(error) => return Some(Err(StoreError::io("read", &path)(error))),
                };
                number += 1;
                let bad = |message| StoreError::BadQuestion { path: path.clone(), line: number, message };
                if let Some(why) = too_long(&bytes, length) {
                    return Some(Err(bad(format!("it is {why}"))));
                }
                if id.is_none_or(|id| !is_of_another(&bytes, BEGINNING, id)) {
                    return Some(json(&bytes).map_err(|error| bad(json_error::in_line(&error))));
                }
            }
        })))
    }

    pub(crate) fn write_prompt(&self, sha256: &str, text: &str) -> Result<(), StoreError> {
        let folder = self.path().join("prompts");
        create_own_folder(&folder).map_err(StoreError::io("write to", &folder))?;
        let path = folder.join(format!("{sha256}.txt"));
        let is_stored = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if is_stored { Ok(()) } else { replace(&path, text.as_bytes()) }
    }

    pub(crate) fn prompt(&self, sha256: &str) -> Result<String, StoreError> {
        let path = self.path().join("prompts").join(format!("{sha256}.txt"));
        // A manifest is somebody's: it names no other file.
        if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let message = format!("`prompt_sha256` is `{}`, which is not a SHA-256", printable(sha256, 80));
            return Err(StoreError::BadManifest { path: self.path().join("manifest.json"), message });
        }
        let text = read_text(&path).map_err(StoreError::io("read", &path))?;
        // A link to another file of this machine would be shown as the prompt.
        if sha256_hex([text.as_bytes()]) != sha256 {
            let message = "its SHA-256 is not its name, so it is not the prompt of the run";
            return Err(StoreError::io("read", &path)(io::Error::new(io::ErrorKind::InvalidData, message)));
        }
        Ok(text)
    }

    pub(crate) fn notes(&self) -> Result<Notes, StoreError> {
        let path = self.path().join(NOTES);
        if path.is_file() { read_versioned(&path, NOTES_VERSION) } else { Ok(Notes::default()) }
    }

    /// Changes the notes under a lock, as several processes may at once. Writes nothing if `change` fails or changes nothing.
    pub(crate) fn change_notes<E: From<StoreError>>(
        &self,
        change: impl FnOnce(&mut Notes) -> Result<(), E>,
    ) -> Result<Notes, E> {
        let path = self.path().join(NOTES);
        let _lock = await_lock(&path)?;
        let before = self.notes()?;
        let mut notes = before.clone();
        change(&mut notes)?;
        if notes != before {
            write_json(&path, &notes)?;
        }
        Ok(notes)
    }

    pub(crate) fn annotations(&self) -> PathBuf {
        self.path.join(ANNOTATIONS)
    }

    pub(crate) fn verdicts(&self) -> PathBuf {
        self.path.join(VERDICTS)
    }

    pub(crate) fn classifications(&self) -> PathBuf {
        self.path.join(CLASSIFICATIONS)
    }

    pub(crate) fn appender(&self, lock: &Lock) -> Result<Appender, StoreError> {
        Appender::open(&self.lines(TRAJECTORIES, &part(lock.shard)))
    }

    /// Opens the journal. The lines of measured episodes in `records` are dropped. An episode that is due here may have been
    /// begun in another part of the run, whose process is gone: then it continues from what was recorded there.
    pub(crate) fn journal(
        &self,
        lock: &Lock,
        records: &Records,
        is_due: impl Fn(&str) -> bool,
    ) -> Result<Journal, StoreError> {
        let measured: HashSet<&str> = records.keys().filter(|(.., measured)| *measured).map(|(key, ..)| key).collect();
        let own = part(lock.shard);
        let mut elsewhere = Episodes::new();
        for part in self.parts(lock.shard)?.iter().filter(|part| **part != own) {
            // Whoever writes that part tells of its damaged lines.
            let journaled = Journaled::read(&self.lines(JOURNAL, part))?.unwrap_or_default();
            journal::adopt(&mut elsewhere, journaled.episodes.into_iter().filter(|(key, _)| is_due(key)));
        }
        let before = records.paid(&self.lines(TRAJECTORIES, &own));
        Journal::open(&self.lines(JOURNAL, &own), &before, |key| !measured.contains(key), elsewhere)
    }

    pub(crate) fn damaged_journal_lines(&self) -> Result<Vec<Skipped>, StoreError> {
        let mut skipped = Vec::new();
        for part in self.parts(None)? {
            let journaled = Journaled::read(&self.lines(JOURNAL, &part))?.unwrap_or_default();
            skipped.extend(journaled.skipped().cloned());
        }
        Ok(skipped)
    }

    /// What each variant has cost, whether its episodes ended or not: in the whole run, or in one shard.
    pub(crate) fn paid(&self, records: &Records, shard: Option<Shard>) -> Result<PaidByVariant, StoreError> {
        Ok(self.paid_and_unfinished(records, shard)?.0)
    }

    /// The same, and how much of it went to episodes that `--resume` goes on with.
    pub(crate) fn paid_and_unfinished(
        &self,
        records: &Records,
        shard: Option<Shard>,
    ) -> Result<(PaidByVariant, PaidByVariant), StoreError> {
        let parts = if shard.is_some() { BTreeSet::from([part(shard)]) } else { self.parts(None)? };
        let (mut sum, mut unfinished) = Default::default();
        let add = |sum: &mut PaidByVariant, paid: PaidByVariant| {
            for (variant, paid) in paid {
                *sum.entry(variant).or_default() += paid;
            }
        };
        // A file with another name is a copy that a person made. What its episodes cost is added below if no part has them.
        for part in parts.into_iter().filter(|part| part.is_empty() || shard_of(part).is_some()) {
            let mut paid = records.paid(&self.lines(TRAJECTORIES, &part));
            // Variants that are not journaled cost nothing.
            let journaled = Journaled::read(&self.lines(JOURNAL, &part))?.unwrap_or_default();
            add(&mut unfinished, journaled.unfinished(records));
            paid.extend(journaled.paid);
            add(&mut sum, paid);
        }
        // Journals lack what a full disk kept out of them. An episode that goes on elsewhere is in the journal of one part and
        // recorded in another, so that only those of all parts compare; its earlier records have calls of the last one.
        for (variant, of_episodes) in records.paid_for_latest().into_iter().filter(|_| shard.is_none()) {
            let known = sum.entry(variant).or_default();
            *known = known.larger(of_episodes);
        }
        Ok((sum, unfinished))
    }

    /// Rewrites the trajectory file with one line an episode. What the removed lines cost stays in the journal's sum.
    pub(crate) fn compact(&self, lock: &Lock, records: &Records) -> Result<(), StoreError> {
        let part = part(lock.shard);
        let path = self.lines(TRAJECTORIES, &part);
        if !records.superseded(&path).is_empty() {
            Journal::begin(&self.lines(JOURNAL, &part), &records.paid(&path))?;
        }
        compact(&path, records)
    }

    /// Removes all records, of a run that begins anew.
    pub(crate) fn clear(&self, _lock: &Lock) -> Result<(), StoreError> {
        for part in self.parts(None)? {
            for path in [TRAJECTORIES, JOURNAL].map(|stem| self.lines(stem, &part)) {
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(StoreError::io("remove", &path)(error));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    pub(crate) fn records(&self) -> Result<Records, StoreError> {
        self.records_of(None)
    }

    /// The same, or only the files that may hold episodes of one shard.
    pub(crate) fn records_of(&self, shard: Option<Shard>) -> Result<Records, StoreError> {
        Records::index(self.record_files(shard)?, None)
    }

    /// Those of one question. Lines of others are not parsed, and what is wrong inside them is not said.
    pub(crate) fn records_of_question(&self, id: &str) -> Result<Records, StoreError> {
        Records::index(self.record_files(None)?, Some(id))
    }

    /// The same; `known` is returned if nothing was written since it was read.
    pub(crate) fn records_since(&self, known: Option<Records>, shard: Option<Shard>) -> Result<Records, StoreError> {
        let files = self.record_files(shard)?;
        match known {
            Some(known) if known.shards == files => Ok(known),
            _ => Records::index(files, None),
        }
    }

    fn record_files(&self, shard: Option<Shard>) -> Result<Vec<RecordFile>, StoreError> {
        self.trajectory_files(shard)?.into_iter().map(RecordFile::look_at).collect()
    }

    /// The trajectory files of all shards, or those that may hold episodes of one, as far as they are there.
    pub(crate) fn trajectory_files(&self, shard: Option<Shard>) -> Result<Vec<PathBuf>, StoreError> {
        let parts = self.parts(shard)?;
        let paths = parts.iter().map(|part| self.lines(TRAJECTORIES, part));
        let mut paths: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
        paths.sort();
        // Records that somebody has packed would be missing without a word.
        let is_packed = |name: &&String| name.starts_with(TRAJECTORIES) && name.ends_with(".jsonl.gz");
        match self.names()?.iter().filter(|_| paths.is_empty()).find(is_packed) {
            Some(name) => Err(StoreError::Packed { path: self.path.join(name) }),
            None => Ok(paths),
        }
    }

    pub(super) fn lines(&self, stem: &str, part: &str) -> PathBuf {
        self.path.join(format!("{stem}{part}.jsonl"))
    }

    /// The suffix of file names for each part of the run. For a shard, others of the same number are left out.
    pub(super) fn parts(&self, shard: Option<Shard>) -> Result<BTreeSet<String>, StoreError> {
        let concerns = |of: Option<Shard>| match (of, shard) {
            (Some(of), Some(shard)) => of == shard || of.count() != shard.count(),
            _ => true,
        };
        let mut parts = BTreeSet::new();
        for name in self.names()? {
            let Some(stem) = name.strip_suffix(".jsonl") else { continue };
            let journal = stem.strip_prefix(JOURNAL).filter(|part| part.is_empty() || shard_of(part).is_some());
            if let Some(part) = stem.strip_prefix(TRAJECTORIES).or(journal).filter(|part| concerns(shard_of(part))) {
                parts.insert(part.to_owned());
            }
        }
        Ok(parts)
    }

    fn names(&self) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(StoreError::io("read", &self.path))? {
            names.push(entry.map_err(StoreError::io("read", &self.path))?.file_name().to_string_lossy().into_owned());
        }
        Ok(names)
    }

    fn manifest_path(&self) -> PathBuf {
        self.path.join("manifest.json")
    }
}

/// The part of a file name that identifies a part of the run.
fn part(shard: Option<Shard>) -> String {
    shard.map(|shard| format!(".{}", shard.name())).unwrap_or_default()
}

fn shard_recorded(name: &str) -> Option<Shard> {
    Shard::in_name(name.strip_prefix("shard.")?.strip_suffix(".json")?)
}

pub(super) fn is_shard_record(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).and_then(shard_recorded).is_some()
}

fn shard_of(part: &str) -> Option<Shard> {
    Shard::in_name(part.strip_prefix('.')?)
}

/// Reads a JSON file whose version must not be newer than what this program knows.
fn read_versioned<T: DeserializeOwned>(path: &Path, known: u32) -> Result<T, StoreError> {
    #[derive(Deserialize)]
    struct Version {
        v: u64,
    }
    let bytes = File::open(path).and_then(|file| read_at_most(file, MAX_BYTES));
    let bytes = bytes.map_err(StoreError::io("read", path))?;
    let bad = |error| StoreError::BadManifest { path: path.to_owned(), message: in_file(&error) };
    // The version first: a newer file may lack fields that this program expects.
    let version: Version = serde_json::from_slice(&bytes).map_err(bad)?;
    if version.v > u64::from(known) {
        return Err(StoreError::Newer { path: path.to_owned(), found: version.v, known });
    }
    serde_json::from_slice(&bytes).map_err(bad)
}

/// Writes a JSON file, atomically replacing an older one.
fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), StoreError> {
    replace(path, pretty(value, path)?.as_bytes())
}

fn pretty(value: &impl serde::Serialize, path: &Path) -> Result<String, StoreError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| StoreError::io("write", path)(error.into()))?;
    Ok(text + "\n")
}

pub(super) fn read_text(path: &Path) -> std::io::Result<String> {
    text_at_most(File::open(path)?, MAX_BYTES)
}

/// Removes the lines of the file that later ones take the place of. Lines that cannot be read stay.
pub(super) fn compact(path: &Path, records: &Records) -> Result<(), StoreError> {
    let superseded = records.superseded(path);
    if superseded.is_empty() {
        return Ok(());
    }
    let mut old = BufReader::new(File::open(path).map_err(StoreError::io("open", path))?);
    let copy = |new: &mut dyn Write| -> io::Result<()> {
        let (mut piece, mut offset, mut is_kept) = (Vec::new(), 0, true);
        loop {
            if piece.last().is_none_or(|last| *last == b'\n') {
                is_kept = !superseded.contains(&offset);
            }
            piece.clear();
            let length = old.by_ref().take(MAX_PIECE).read_until(b'\n', &mut piece)?;
            if length == 0 {
                return Ok(());
            }
            if is_kept {
                new.write_all(&piece)?;
            }
            offset += length as u64;
        }
    };
    replace_with(path, copy)
}

#[cfg(test)]
mod tests {
    use super::RunFolder;
    use crate::base::Manifest;
    use std::sync::Barrier;
    use std::{fs, io};

    fn manifest(name: &str) -> Manifest {
        let text = serde_json::json!({"v": 1, "variants": [], "repeats": 1, "wikitrail": name, "git_revision": null,
            "dataset": {"name": "q", "path": "", "sha256": "", "questions": 3, "selection": {}, "selected": 3},
            "command_line": [], "started_at": "", "ended_at": null});
        serde_json::from_value(text).expect("a manifest")
    }

    /// As exFAT and some network disks do.
    fn refused() -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    #[test]
    fn of_many_that_begin_a_run_at_once_on_a_disk_without_links_one_does() {
        for _ in 0..20 {
            let dir = tempfile::tempdir().expect("a folder");
            let begin = Barrier::new(8);
            let created: Vec<bool> = std::thread::scope(|scope| {
                let start = |number: usize| {
                    let (folder, begin) = (RunFolder::at(dir.path()), &begin);
                    scope.spawn(move || {
                        begin.wait();
                        folder.create_manifest_by(&manifest(&number.to_string()), |_, _| refused()).expect("written")
                    })
                };
                let started: Vec<_> = (0..8).map(start).collect();
                started.into_iter().map(|one| one.join().expect("no panic")).collect()
            });
            let first = created.iter().position(|created| *created).expect("one of them");
            assert_eq!(created.iter().filter(|created| **created).count(), 1, "{created:?}");
            let folder = RunFolder::at(dir.path());
            assert_eq!(folder.manifest().expect("whole").wikitrail, first.to_string());
            assert!(!folder.create_manifest(&manifest("late")).expect("there already"));
            let names = fs::read_dir(dir.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name());
            assert_eq!(names.collect::<Vec<_>>(), ["manifest.json"], "nothing is left over");
        }
    }

    #[test]
    fn a_claim_of_a_process_that_was_killed_holds_nobody_up() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = RunFolder::at(dir.path());
        let claim = dir.path().join(super::super::lock::CLAIM);
        fs::write(&claim, format!("process 1 on {}", crate::net::recording::machine())).expect("written");
        assert!(RunFolder::is_left_over(super::super::lock::CLAIM));
        assert!(folder.create_manifest_by(&manifest("next"), |_, _| refused()).expect("written"));
        assert!(!claim.exists());
    }
}
