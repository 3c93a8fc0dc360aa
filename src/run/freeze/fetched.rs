//! What was fetched so far: a file beside the corpus to be, to which a line is appended for each title. It stays if its writer
//! is killed, and goes when the corpus is there.

use crate::run::error::RunError;
use crate::store::StoreError;
use crate::tape::LineFile;
use crate::types::bounded::lines;
use crate::wiki::corpus::{FetchedLine, SearchAnswer};
use crate::wiki::{LeftOut, SiteFacts};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What was asked for, which is the first line: the same command goes on with the file, another one is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FreezeRequest {
    /// Version of the file.
    pub(super) v: u32,
    /// The site, and how its pages are read.
    pub(super) site: String,
    pub(super) compat: String,
    pub(super) footnotes: bool,
    /// The date of the revisions.
    pub(super) as_of: Option<String>,
    /// Links of each lead.
    pub(super) links: usize,
    /// Digest of the titles and searches.
    pub(super) titles: String,
    /// What the site said of itself.
    pub(super) facts: SiteFacts,
    /// The day of the first request.
    pub(super) began: String,
}

/// The file, and what it says.
pub(super) struct FetchedFile {
    lines: LineFile,
    pub(super) path: PathBuf,
    pub(super) asked: Option<FreezeRequest>,
    /// Title that was asked for → title of the page, or why there is none.
    pub(super) done: BTreeMap<String, Result<String, LeftOut>>,
    /// Titles of the pages that were fetched.
    pub(super) pages: BTreeSet<String>,
    /// Titles that leads link to, by the title that was asked for.
    pub(super) links: BTreeMap<String, Vec<String>>,
    /// Names of pages.
    pub(super) names: BTreeMap<String, String>,
    pub(super) searches: BTreeMap<String, SearchAnswer>,
}

impl FetchedFile {
    /// Where what is fetched for a corpus at `dir` is kept.
    pub(super) fn beside(dir: &Path) -> PathBuf {
        dir.with_added_extension("fetched.jsonl")
    }

    /// Opens the file, or makes it. A torn last line is dropped.
    pub(super) fn open(dir: &Path) -> Result<Self, RunError> {
        let path = Self::beside(dir);
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
        }
        let mut file = LineFile::open(&path).map_err(StoreError::from)?;
        if !file.lock().map_err(StoreError::from)? {
            let message = format!("another process is freezing `{}`", dir.display());
            return Err(RunError::unexpected(message, "wait for it to end, or name another folder"));
        }
        let tail = file.tail().map_err(StoreError::from)?;
        file.repair(&tail, false).map_err(StoreError::from)?;
        let mut kept = Self {
            lines: file,
            path,
            asked: None,
            done: BTreeMap::new(),
            pages: BTreeSet::new(),
            links: BTreeMap::new(),
            names: BTreeMap::new(),
            searches: BTreeMap::new(),
        };
        kept.read()?;
        Ok(kept)
    }

    fn read(&mut self) -> Result<(), RunError> {
        let file = self.lines.reader().map_err(StoreError::from)?;
        for (number, line) in (1..).zip(lines(file)) {
            let line = line.map_err(StoreError::io("read", &self.path))?;
            let parsed = if number == 1 {
                serde_json::from_slice(&line).map(|asked| self.asked = Some(asked))
            } else {
                serde_json::from_slice(&line).map(|kept| self.note(&kept))
            };
            parsed.map_err(|_| {
                let message = format!("`{}`, line {number}, is not what `corpus freeze` wrote", self.path.display());
                RunError::input(message, "remove the file to begin anew, or name another folder")
            })?;
        }
        // Another line was to have the page, and was not written.
        let pages = &self.pages;
        self.done.retain(|_, found| found.as_ref().map_or(true, |title| pages.contains(title)));
        Ok(())
    }

    fn note(&mut self, kept: &FetchedLine) {
        match kept {
            FetchedLine::Page { asked, title, names, links, page } => {
                self.done.insert(asked.clone(), Ok(title.clone()));
                for name in names.iter().chain([asked, title]) {
                    self.names.insert(name.clone(), title.clone());
                }
                if !links.is_empty() {
                    self.links.insert(title.clone(), links.clone());
                }
                if page.is_some() {
                    self.pages.insert(title.clone());
                }
            }
            FetchedLine::LeftOut { asked, reason } => {
                self.done.insert(asked.clone(), Err(*reason));
            }
            FetchedLine::Search { query, answer } => {
                self.searches.insert(query.clone(), answer.clone());
            }
        }
    }

    /// Whether a title was fetched, under this name or another.
    pub(super) fn has(&self, title: &str) -> bool {
        self.done.contains_key(title) || self.names.get(title).is_some_and(|title| self.pages.contains(title))
    }

    /// Writes what was asked for, at the beginning.
    pub(super) fn begin(&mut self, asked: FreezeRequest) -> Result<(), RunError> {
        self.append(&asked)?;
        self.asked = Some(asked);
        Ok(())
    }

    /// Appends a line, which is on disk then.
    pub(super) fn keep(&mut self, kept: &FetchedLine) -> Result<(), RunError> {
        self.append(kept)?;
        self.note(kept);
        Ok(())
    }

    fn append(&mut self, value: &impl Serialize) -> Result<(), RunError> {
        let mut line = serde_json::to_vec(value).map_err(RunError::unwritable)?;
        line.push(b'\n');
        Ok(self.lines.append(&line).map_err(StoreError::from)?)
    }

    /// Removes the file; the corpus has all of it.
    pub(super) fn remove(self) -> Result<(), RunError> {
        Ok(fs::remove_file(&self.path).map_err(StoreError::io("remove", &self.path))?)
    }
}
