//! The run folder: creating, opening and locking it; its manifest and prompts.

use super::compact::compact;
use super::read::Shard;
use super::{Appender, Journal, Journaled, PaidByVariant, Records, StoreError};
use crate::tape::{TEMPORARY, check_own, create_beside, create_own_folder, open_own, sync_folder};
use crate::types::bounded::{read_at_most, text_at_most};
use crate::types::manifest::MANIFEST_VERSION;
use crate::types::{Manifest, Question};
use serde::Deserialize;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Seek as _, Write};
use std::path::{Path, PathBuf};

/// Largest manifest, experiment or prompt that is read, in bytes.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Debug, Clone)]
pub(crate) struct RunFolder {
    path: PathBuf,
}

/// The lock on a run folder, released on drop.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl RunFolder {
    /// The file that episodes are appended to.
    pub(crate) const TRAJECTORIES: &'static str = "trajectories.jsonl";

    /// The experiment that the run belongs to.
    pub(crate) const EXPERIMENT: &'static str = "experiment.toml";

    /// A run folder that may not exist yet. Creates nothing.
    pub(crate) fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// An existing run folder.
    pub(crate) fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let folder = Self::at(path);
        if folder.exists() { Ok(folder) } else { Err(StoreError::NotARun { path: folder.path }) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn exists(&self) -> bool {
        self.manifest_path().is_file()
    }

    /// Whether a start that was killed early may have left a file of this name: its lock, or half a manifest.
    pub(crate) fn is_left_over(name: &str) -> bool {
        name == ".lock" || name.starts_with("manifest.") && name.ends_with(TEMPORARY)
    }

    /// Locks the folder for writing, creating it if needed. Fails if another process holds the lock.
    pub(crate) fn lock(&self) -> Result<Lock, StoreError> {
        fs::create_dir_all(&self.path).map_err(StoreError::io("create", &self.path))?;
        let path = self.path.join(".lock");
        let mut file = open_own(&path).map_err(StoreError::io("open", &path))?;
        if let Err(error) = file.try_lock() {
            if let std::fs::TryLockError::Error(source) = error {
                return Err(StoreError::Io { action: "lock", path, source });
            }
            let mut holder = String::new();
            let known = file.read_to_string(&mut holder).is_ok() && !holder.is_empty();
            return Err(StoreError::Locked { path: self.path.clone(), holder: known.then_some(holder) });
        }
        // Only for the error message of a second process.
        let _ =
            file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "process {}", std::process::id()));
        Ok(Lock { _file: file })
    }

    pub(crate) fn manifest(&self) -> Result<Manifest, StoreError> {
        #[derive(Deserialize)]
        struct Version {
            v: u64,
        }
        let path = self.manifest_path();
        if !path.is_file() {
            return Err(StoreError::NotARun { path: self.path.clone() });
        }
        let bytes = File::open(&path).and_then(|file| read_at_most(file, MOST_BYTES));
        let bytes = bytes.map_err(StoreError::io("read", &path))?;
        let bad = |error: serde_json::Error| StoreError::BadManifest { path: path.clone(), message: error.to_string() };
        // The version first: a newer manifest may lack fields that this program expects.
        let version: Version = serde_json::from_slice(&bytes).map_err(bad)?;
        if version.v > u64::from(MANIFEST_VERSION) {
            return Err(StoreError::Newer { path, found: version.v, known: MANIFEST_VERSION });
        }
        serde_json::from_slice(&bytes).map_err(bad)
    }

    /// Writes the manifest, atomically replacing an older one.
    pub(crate) fn write_manifest(&self, manifest: &Manifest) -> Result<(), StoreError> {
        let path = self.manifest_path();
        let text =
            serde_json::to_string_pretty(manifest).map_err(|error| StoreError::io("write", &path)(error.into()))?;
        replace(&path, format!("{text}\n").as_bytes())
    }

    /// Writes the text of the experiment that the run belongs to, atomically replacing an older one.
    pub(crate) fn write_experiment(&self, text: &str) -> Result<(), StoreError> {
        replace(&self.path.join(Self::EXPERIMENT), text.as_bytes())
    }

    /// The text of the experiment that the run belongs to, if any.
    pub(crate) fn experiment(&self) -> Result<Option<String>, StoreError> {
        let path = self.path.join(Self::EXPERIMENT);
        if !path.is_file() {
            return Ok(None);
        }
        read_text(&path).map(Some).map_err(StoreError::io("read", &path))
    }

    /// Stores a rendered prompt prefix under its digest, unless it is stored already.
    pub(crate) fn write_prompt(&self, sha256: &str, text: &str) -> Result<(), StoreError> {
        let folder = self.path.join("prompts");
        create_own_folder(&folder).map_err(StoreError::io("write to", &folder))?;
        let path = folder.join(format!("{sha256}.txt"));
        let is_stored = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if is_stored { Ok(()) } else { replace(&path, text.as_bytes()) }
    }

    /// The rendered prompt prefix with this digest.
    pub(crate) fn prompt(&self, sha256: &str) -> Result<String, StoreError> {
        let path = self.path.join("prompts").join(format!("{sha256}.txt"));
        read_text(&path).map_err(StoreError::io("read", &path))
    }

    /// Writes the questions that the run asks, one a line, atomically replacing older ones.
    pub(crate) fn write_questions(&self, questions: impl Iterator<Item = Question>) -> Result<(), StoreError> {
        replace_with(&self.questions_path(), |file| {
            for question in questions {
                serde_json::to_writer(&mut *file, &question)?;
                file.write_all(b"\n")?;
            }
            Ok(())
        })
    }

    /// Whether the questions were written.
    pub(crate) fn has_questions(&self) -> bool {
        self.questions_path().is_file()
    }

    pub(super) fn questions_path(&self) -> PathBuf {
        self.path.join("questions.jsonl")
    }

    /// Opens the trajectory file for appending; the caller must hold the [`Lock`].
    pub(crate) fn appender(&self, _lock: &Lock) -> Result<Appender, StoreError> {
        Appender::open(&self.path.join(Self::TRAJECTORIES))
    }

    /// Opens the journal; the caller must hold the [`Lock`]. The lines of measured episodes in `records` are dropped.
    pub(crate) fn journal(&self, _lock: &Lock, records: &Records) -> Result<Journal, StoreError> {
        let measured: HashSet<&str> = records.keys().filter(|(.., measured)| *measured).map(|(key, ..)| key).collect();
        Journal::open(&self.journal_path(), records.paid(), |key| !measured.contains(key))
    }

    /// What each variant has cost, whether its episodes ended or not.
    pub(crate) fn paid(&self, records: &Records) -> Result<PaidByVariant, StoreError> {
        let mut paid = records.paid().clone();
        // Variants that are not journaled cost nothing.
        paid.extend(Journaled::read(&self.journal_path())?.unwrap_or_default().paid);
        Ok(paid)
    }

    /// Rewrites the trajectories with one line an episode; the caller must hold the [`Lock`]. What the removed lines cost
    /// stays in the journal's sum.
    pub(crate) fn compact(&self, _lock: &Lock, records: &Records) -> Result<(), StoreError> {
        if records.has_superseded() {
            Journal::begin(&self.journal_path(), records.paid())?;
        }
        compact(&self.path.join(Self::TRAJECTORIES), records)
    }

    fn journal_path(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    /// The recorded episodes of all shards.
    pub(crate) fn records(&self) -> Result<Records, StoreError> {
        Records::index(self.shards()?)
    }

    /// Those of one question. Lines of others are not parsed, and what is wrong inside them is not said.
    pub(crate) fn records_of_question(&self, id: &str) -> Result<Records, StoreError> {
        Records::index_question(self.shards()?, id)
    }

    /// The recorded episodes; `known` is returned if nothing was written since it was read.
    pub(crate) fn records_since(&self, known: Option<Records>) -> Result<Records, StoreError> {
        let shards = self.shards()?;
        match known {
            Some(known) if known.are_of(&shards) => Ok(known),
            _ => Records::index(shards),
        }
    }

    fn shards(&self) -> Result<Vec<Shard>, StoreError> {
        let mut shards = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(StoreError::io("read", &self.path))? {
            let path = entry.map_err(StoreError::io("read", &self.path))?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let lines = path.extension().is_some_and(|extension| extension == "jsonl");
            if lines && name.starts_with("trajectories") {
                shards.push(path);
            }
        }
        shards.sort();
        shards.into_iter().map(Shard::look_at).collect()
    }

    fn manifest_path(&self) -> PathBuf {
        self.path.join("manifest.json")
    }
}

fn read_text(path: &Path) -> std::io::Result<String> {
    text_at_most(File::open(path)?, MOST_BYTES)
}

/// Writes a temporary file and renames it, so that a crash leaves the old file or the new one.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    replace_with(path, |file| file.write_all(bytes))
}

/// The same with a function that writes the content.
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
