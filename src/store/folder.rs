//! The folder itself: made, opened, locked; its manifest and prompts.

use super::read::Shard;
use super::{Appender, Records, StoreError};
use crate::types::Manifest;
use crate::types::manifest::MANIFEST_VERSION;
use serde::Deserialize;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// A run's folder.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
}

/// The right to write a run; given back when dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl RunFolder {
    /// Name of the file that every append goes to.
    pub const TRAJECTORIES: &'static str = "trajectories.jsonl";

    /// Name of the file with the experiment that the run is a part of.
    pub const EXPERIMENT: &'static str = "experiment.toml";

    /// The folder of a run that may not exist yet. Creates nothing.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The folder of a run that exists.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let folder = Self::at(path);
        if folder.exists() { Ok(folder) } else { Err(StoreError::NotARun { path: folder.path }) }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it holds a run.
    pub fn exists(&self) -> bool {
        self.manifest_path().is_file()
    }

    /// Takes the right to write, creating the folder if need be. A second process is refused.
    pub fn lock(&self) -> Result<Lock, StoreError> {
        fs::create_dir_all(&self.path).map_err(StoreError::io("create", &self.path))?;
        let path = self.path.join(".lock");
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(StoreError::io("open", &path))?;
        if let Err(error) = file.try_lock() {
            if let std::fs::TryLockError::Error(source) = error {
                return Err(StoreError::Io { action: "lock", path, source });
            }
            let mut holder = String::new();
            let known = file.read_to_string(&mut holder).is_ok() && !holder.is_empty();
            return Err(StoreError::Locked { path: self.path.clone(), holder: known.then_some(holder) });
        }
        // The note only helps a person to find the holder; the lock itself does not depend on it.
        let _ =
            file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "process {}", std::process::id()));
        Ok(Lock { _file: file })
    }

    /// The manifest.
    pub fn manifest(&self) -> Result<Manifest, StoreError> {
        #[derive(Deserialize)]
        struct Version {
            v: u64,
        }
        let path = self.manifest_path();
        if !path.is_file() {
            return Err(StoreError::NotARun { path: self.path.clone() });
        }
        let bytes = fs::read(&path).map_err(StoreError::io("read", &path))?;
        let bad = |error: serde_json::Error| StoreError::BadManifest { path: path.clone(), message: error.to_string() };
        // The version first: a newer manifest need not have the fields that this program expects.
        let version: Version = serde_json::from_slice(&bytes).map_err(bad)?;
        if version.v > u64::from(MANIFEST_VERSION) {
            return Err(StoreError::Newer { path, found: version.v, known: MANIFEST_VERSION });
        }
        serde_json::from_slice(&bytes).map_err(bad)
    }

    /// Writes the manifest, replacing an older one in one step.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), StoreError> {
        // Plain data with string keys always serialises.
        let mut text = serde_json::to_string_pretty(manifest).unwrap_or_default();
        text.push('\n');
        replace(&self.manifest_path(), text.as_bytes())
    }

    /// Stores the text of the experiment that the run is a part of, replacing an older one in one step.
    pub fn write_experiment(&self, text: &str) -> Result<(), StoreError> {
        replace(&self.path.join(Self::EXPERIMENT), text.as_bytes())
    }

    /// The stored text of the experiment that the run is a part of, or nothing where it is of none.
    pub fn experiment(&self) -> Result<Option<String>, StoreError> {
        let path = self.path.join(Self::EXPERIMENT);
        if !path.is_file() {
            return Ok(None);
        }
        fs::read_to_string(&path).map(Some).map_err(StoreError::io("read", &path))
    }

    /// Stores a rendered prompt prefix under its digest; the same prefix is stored once.
    pub fn write_prompt(&self, sha256: &str, text: &str) -> Result<(), StoreError> {
        let folder = self.path.join("prompts");
        fs::create_dir_all(&folder).map_err(StoreError::io("create", &folder))?;
        let path = folder.join(format!("{sha256}.txt"));
        if path.is_file() { Ok(()) } else { replace(&path, text.as_bytes()) }
    }

    /// The rendered prompt prefix of that digest.
    pub fn prompt(&self, sha256: &str) -> Result<String, StoreError> {
        let path = self.path.join("prompts").join(format!("{sha256}.txt"));
        fs::read_to_string(&path).map_err(StoreError::io("read", &path))
    }

    /// Opens the file of trajectories for appending; the caller must hold the [`Lock`].
    pub fn appender(&self, _lock: &Lock) -> Result<Appender, StoreError> {
        Appender::open(self.path.join(Self::TRAJECTORIES))
    }

    /// Reads what is recorded, all shards.
    pub fn records(&self) -> Result<Records, StoreError> {
        Records::index(self.shards()?)
    }

    /// What is recorded, read again only where something was written since `known` was read.
    pub fn records_since(&self, known: Option<Records>) -> Result<Records, StoreError> {
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

/// Writes beside the target and renames over it, so that a crash leaves the old file or the new one.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let beside = path.with_extension("tmp");
    let written = File::create(&beside).and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_data()));
    if let Err(source) = written {
        // Half a file beside the good one helps nobody.
        let _ = fs::remove_file(&beside);
        return Err(StoreError::Io { action: "write", path: path.to_owned(), source });
    }
    fs::rename(&beside, path).map_err(StoreError::io("write", path))?;
    // The new name is on disk once the folder is; a file system that cannot sync one loses nothing by it.
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
    Ok(())
}
