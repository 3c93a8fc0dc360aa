//! The run folder: creating, opening and locking it; its manifest and prompts.

use super::read::Shard;
use super::{Appender, Records, StoreError};
use crate::tape::{TEMPORARY, check_own, create_beside, create_own_folder, open_own, sync_folder};
use crate::types::Manifest;
use crate::types::bounded::{read_at_most, text_at_most};
use crate::types::manifest::MANIFEST_VERSION;
use serde::Deserialize;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, Write as _};
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

    /// Opens the trajectory file for appending; the caller must hold the [`Lock`].
    pub(crate) fn appender(&self, _lock: &Lock) -> Result<Appender, StoreError> {
        Appender::open(&self.path.join(Self::TRAJECTORIES))
    }

    /// The recorded episodes of all shards.
    pub(crate) fn records(&self) -> Result<Records, StoreError> {
        Records::index(self.shards()?)
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
fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let (mut file, beside) =
        check_own(path).and_then(|()| create_beside(path)).map_err(StoreError::io("write", path))?;
    if let Err(source) = file.write_all(bytes).and_then(|()| file.sync_data()) {
        let _ = fs::remove_file(&beside);
        return Err(StoreError::Io { action: "write", path: path.to_owned(), source });
    }
    fs::rename(&beside, path).map_err(StoreError::io("write", path))?;
    sync_folder(path);
    Ok(())
}
