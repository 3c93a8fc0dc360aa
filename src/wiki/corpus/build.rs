//! From records to a folder, in memory of a fixed size.
//!
//! Records are sorted by title in runs on disk; of equal titles one stays; redirects are followed to their ends; then one
//! pass in title order writes pages, names, index and identity. The folder is written beside its place and renamed when it
//! is whole. Nothing that ends up in it depends on the order of the input, on memory or on threads.

mod collect;
mod distinct;
mod facts;
mod redirects;
mod sorter;
mod write;

use super::CorpusError;
use super::folder::{self, Folder};
use super::frozen::Frozen;
use super::import::Format;
use super::manifest::{self, Digest, Extent, Manifest};
use collect::Collected;
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The file that whoever builds keeps locked, by which an unfinished folder is known.
const LOCK: &str = "build.lock";
/// The folder of runs.
const WORK: &str = "work";
/// The least memory that sorting is done in.
pub const LEAST_MEMORY: u64 = 16 << 20;

/// What to build from, and how.
#[derive(Debug, Clone)]
pub struct BuildSettings {
    /// Files and folders to read, with their formats.
    pub sources: Vec<(Format, PathBuf)>,
    /// What people call it. Without these facts, those of the first source that is a corpus hold; else the name of the folder…
    pub name: Option<String>,
    /// How much of a page an article has.
    pub extent: Option<Extent>,
    /// Code of the language.
    pub language: Option<String>,
    /// The date of the encyclopedia.
    pub as_of: Option<String>,
    /// SPDX identifier of the license.
    pub license: Option<String>,
    /// Whom to name.
    pub attribution: Option<String>,
    /// What was changed.
    pub changes: Option<String>,
    /// What becomes of a title that comes twice.
    pub on_duplicate: OnDuplicate,
    /// Threads that work at once, 1 or more.
    pub threads: usize,
    /// Bytes of memory to sort in.
    pub memory: u64,
    /// Whether the other sources are added to the first, so that one of them has to give something.
    pub adds: bool,
    /// What was frozen with the pages of a site.
    pub frozen: Option<Frozen>,
}

/// Which of several articles with one title is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDuplicate {
    /// The one with the lowest page number; where these are the same, one that does not depend on the order of the input.
    LowestId,
    /// The one that was read last.
    Last,
    /// None: the build ends.
    Error,
}

impl Default for BuildSettings {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            name: None,
            extent: None,
            language: None,
            as_of: None,
            license: None,
            attribution: None,
            changes: None,
            on_duplicate: OnDuplicate::LowestId,
            threads: 1,
            memory: 1 << 30,
            adds: false,
            frozen: None,
        }
    }
}

/// How far a build is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// So many rows were read.
    Reading(u64),
    /// So many of the articles were written.
    Writing(u32, u32),
    /// The rest is to be put together and checked.
    Finishing,
}

/// A corpus that was built.
#[derive(Debug)]
pub struct Built {
    /// What it is.
    pub manifest: Manifest,
    /// What was left out, the first of each input by file and line.
    pub notes: Vec<String>,
}

/// Why there is no corpus.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Something is where the corpus would be.
    #[error("`{0}` exists already")]
    Exists(String),
    /// Another process builds it.
    #[error("another process is building `{0}`")]
    Busy(String),
    /// A folder of that name that no build began.
    #[error("`{0}` exists, and is not an unfinished corpus")]
    InTheWay(String),
    /// An input that cannot be read to its end.
    #[error("cannot read `{file}` to its end: {reason}")]
    Input {
        /// The input.
        file: String,
        /// Why not.
        reason: String,
        /// Whether it is a packed corpus whose articles are not those that it names.
        is_edited: bool,
    },
    /// Nothing to build from.
    #[error("no article was found in what was read")]
    Empty(Vec<String>),
    /// Nothing that could be added: the rows that were read, and what was wrong with them.
    #[error("nothing that was read could be added")]
    NothingAdded(u64, Vec<String>),
    /// A title twice, where that was to be refused.
    #[error("{0}")]
    Duplicate(String),
    /// A file of the corpus cannot be written.
    #[error("cannot write `{path}`: {reason}")]
    Write {
        /// The folder or the file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// What was written cannot be opened.
    #[error("the corpus that was written does not open: {0}")]
    Unsound(#[from] CorpusError),
}

/// Builds a corpus at `dir`, where nothing may be yet.
pub fn build(dir: &Path, settings: &BuildSettings, progress: &mut dyn FnMut(Progress)) -> Result<Built, BuildError> {
    if dir.symlink_metadata().is_ok() {
        return Err(BuildError::Exists(dir.display().to_string()));
    }
    let partial = Partial::begin(dir)?;
    let work = partial.path.join(WORK);
    let cannot =
        |error: io::Error| BuildError::Write { path: partial.path.display().to_string(), reason: error.to_string() };
    fs::create_dir(&work).map_err(cannot)?;
    let Collected { articles, redirects, mut sources, mut notes } =
        collect::collect_records(&work, settings, progress)?;
    if settings.adds {
        let added = || sources.iter().skip(1);
        let rows = added().map(|source| source.rows).sum::<u64>();
        if rows == added().map(|source| source.skipped.bad + source.skipped.empty).sum::<u64>() {
            return Err(BuildError::NothingAdded(rows, notes.listed(settings, &sources)));
        }
    }
    let distinct = distinct::write_distinct(&work, articles, settings, &mut sources, &mut notes)?;
    if distinct.count == 0 {
        return Err(BuildError::Empty(notes.listed(settings, &sources)));
    }
    let (redirects, mut names) = redirects::follow_redirects(&work, &distinct, redirects, settings).map_err(cannot)?;
    let written = write::write(&partial.path, &work, &distinct, redirects, settings, progress)
        .map_err(|error| cannot(error.0))?;
    facts::check_same_corpus(settings, &sources, &written.id)?;
    progress(Progress::Finishing);
    let frozen = facts::frozen_of_build(settings, &sources);
    frozen.as_ref().map_or(Ok(()), |frozen| frozen.write(&partial.path)).map_err(cannot)?;
    fs::remove_dir_all(&work).map_err(cannot)?;
    names.collisions = written.collisions;
    let manifest = facts::manifest_of_build(
        dir,
        settings,
        &sources,
        (written, names),
        frozen,
        digests(&partial.path).map_err(cannot)?,
    )?;
    partial.finish(dir, &manifest)?;
    let notes = notes.listed(settings, &sources);
    Ok(Built { manifest, notes })
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Sizes and digests of all files, which are on the disk then.
fn digests(dir: &Path) -> io::Result<BTreeMap<String, Digest>> {
    let mut digests = BTreeMap::new();
    for below in ["", folder::INDEX] {
        for entry in fs::read_dir(dir.join(below))? {
            let path = entry?.path();
            let name = file_name(&path);
            if !path.is_file() || name == LOCK {
                continue;
            }
            let file = File::open(&path)?;
            file.sync_all()?;
            let digest = Digest { bytes: file.metadata()?.len(), sha256: folder::digest(&[path])? };
            digests.insert(if below.is_empty() { name } else { format!("{below}/{name}") }, digest);
        }
    }
    Ok(digests)
}

/// A folder that is not whole yet. It stays if its maker is killed, and the next build of that name begins with it anew.
struct Partial {
    path: PathBuf,
    lock: Option<File>,
}

impl Partial {
    fn begin(dir: &Path) -> Result<Self, BuildError> {
        let path = dir.with_added_extension("partial");
        let shown = path.display().to_string();
        let cannot = |error: io::Error| BuildError::Write { path: shown.clone(), reason: error.to_string() };
        if let Some(parent) = dir.parent() {
            fs::create_dir_all(parent).map_err(cannot)?;
        }
        let lock = path.join(LOCK);
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let ours = path.symlink_metadata().is_ok_and(|found| found.is_dir());
                if !ours || !lock.symlink_metadata().is_ok_and(|found| found.is_file()) {
                    return Err(BuildError::InTheWay(shown));
                }
            }
            made => made.map_err(cannot)?,
        }
        let file = File::create(&lock).map_err(cannot)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(BuildError::Busy(dir.display().to_string())),
            // Some disks have no locks.
            Err(TryLockError::Error(_)) | Ok(()) => {}
        }
        for entry in fs::read_dir(&path).map_err(cannot)? {
            let left = entry.map_err(cannot)?.path();
            if left != lock {
                if left.is_dir() { fs::remove_dir_all(&left) } else { fs::remove_file(&left) }.map_err(cannot)?;
            }
        }
        Ok(Self { path, lock: Some(file) })
    }

    /// Opens what was written, as anybody would, and moves it to its place.
    fn finish(mut self, dir: &Path, manifest: &Manifest) -> Result<(), BuildError> {
        Folder::open(&self.path, manifest)?;
        let shown = self.path.display().to_string();
        let cannot = |error: io::Error| BuildError::Write { path: shown.clone(), reason: error.to_string() };
        let text = toml::to_string(manifest).map_err(|error| cannot(io::Error::other(error)))?;
        let mut file = File::create_new(self.path.join(manifest::FILE)).map_err(cannot)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(cannot)?;
        let lock = self.path.join(LOCK);
        fs::remove_file(lock).and_then(|()| fs::rename(&self.path, dir)).map_err(cannot)?;
        self.lock = None;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // The first error is the one to report.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests;
