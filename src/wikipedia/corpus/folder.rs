//! A corpus in a folder, as `corpus build` writes it: read where it lies, by many processes at once.

use super::CorpusError;
use super::index::{INDEX, Rule, TextIndex, guarded};
use super::manifest::{self, Digest, Manifest};
use super::names::{self, Fold, Names};
use super::pages::{self, Pages};
use super::record::Identity;
use crate::base::sha256_of_files;
use crate::base::text::printable;
use crate::net::recording::Inside;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr};
use tantivy::{Directory, Index};

const FILES: [&str; 6] = [pages::BLOCKS, pages::PLACES, names::TITLES, names::REDIRECTS, names::KEYS, "bm25/meta.json"];
/// Folders up to this size have their files compared with the manifest when they are opened, in bytes.
const SMALL: u64 = 16 << 20;

pub(super) struct Folder {
    pub(super) names: Names,
    pub(super) index: TextIndex,
    pub(super) pages: Pages,
}

impl Folder {
    pub(super) fn open(dir: &Path, manifest: &Manifest) -> Result<Self, CorpusError> {
        if let Some(file) = FILES.into_iter().find(|file| !manifest.files.contains_key(*file)) {
            return Err(CorpusError::damaged(manifest::FILE, format!("it does not list {file}")));
        }
        for (file, written) in &manifest.files {
            sized(dir, file, written)?;
            if manifest.bytes() <= SMALL
                && sha256_of_files(&[dir.join(file)]).map_err(CorpusError::in_file(file))? != written.sha256
            {
                return Err(CorpusError::damaged(file, "it is not the file that was written"));
            }
        }
        let names = Names::open(dir, Fold::of(manifest.build.fold))?;
        let index = open_index(&dir.join(INDEX), Rule::of(manifest.build.rank), names.fold)?;
        let counted = (names.counts().0, index.articles());
        if counted != (manifest.articles as usize, Some(manifest.articles)) {
            return Err(CorpusError::damaged(INDEX, "it has another number of articles than there are titles"));
        }
        let file = |name: &str| File::open(dir.join(name)).map_err(CorpusError::in_file(name));
        let dictionary = if manifest.files.contains_key(pages::DICTIONARY) {
            fs::read(dir.join(pages::DICTIONARY)).map_err(CorpusError::in_file(pages::DICTIONARY))?
        } else {
            Vec::new()
        };
        let pages = Pages::new(file(pages::BLOCKS)?, file(pages::PLACES)?, dictionary, manifest.articles);
        Ok(Self { names, index, pages })
    }
}

/// Makes sure that what a manifest lists is a file of a corpus, with the length that was written. A manifest may be
/// anybody's, and another path may lead out of the folder, or to what never ends.
pub(super) fn sized(dir: &Path, file: &str, written: &Digest) -> Result<(), CorpusError> {
    let of_index = |name: &str| name.starts_with(|c: char| c.is_ascii_alphanumeric()) && !name.contains(['/', '\\']);
    let known = FILES.contains(&file)
        || [pages::DICTIONARY, manifest::SEARCHES_FILE, manifest::LEFT_OUT_FILE].contains(&file)
        || file.strip_prefix("bm25/").is_some_and(of_index);
    if !known {
        let reason = format!("it lists `{}`, which is not a file of a corpus", printable(file, 80));
        return Err(CorpusError::damaged(manifest::FILE, reason));
    }
    let member = Inside::of(dir).and_then(|inside| inside.member(&dir.join(file)));
    let found = member.and_then(fs::metadata).map_err(CorpusError::in_file(file))?;
    if !found.is_file() {
        return Err(CorpusError::damaged(file, "it is not a file"));
    }
    if found.len() != written.bytes {
        let reason = format!("it has {} bytes, and {} were written", found.len(), written.bytes);
        return Err(CorpusError::damaged(file, reason));
    }
    Ok(())
}

fn open_index(dir: &Path, rule: Rule, fold: Fold) -> Result<TextIndex, CorpusError> {
    // The index opens files that the manifest need not list.
    let members = || -> io::Result<()> {
        let inside = Inside::of(dir)?;
        fs::read_dir(dir)?.try_for_each(|entry| inside.member(&entry?.path()).map(|_| ()))
    };
    members().map_err(CorpusError::in_file(INDEX))?;
    let directory = MmapDirectory::open(dir).map_err(CorpusError::in_file(INDEX))?;
    guarded(|| TextIndex::over(&Index::open(ReadOnly(directory))?, rule, fold))
}

// A folder of the text index that is only read: no lock is taken and nothing is written, as on a read-only disk.

#[derive(Debug, Clone)]
struct ReadOnly(MmapDirectory);

fn read_only() -> io::Error {
    io::Error::from(io::ErrorKind::ReadOnlyFilesystem)
}

impl Directory for ReadOnly {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_owned() })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_owned() })
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::<PathBuf>::default()))
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

// Whether a folder is still what was built.

/// Articles between two that are searched for.
const SEARCHED: u32 = 1_000;
/// Articles that are looked through for one of them.
const HITS: usize = 1_000;
/// Differences that are named; nobody reads more.
const MAX_LISTED: usize = 20;

/// Compares every file with the manifest. With `deep`, reads every article too: names lead to it, and all of them have the
/// identity of the corpus. Gives the differences, in words.
pub fn verify(dir: &Path, deep: bool) -> Result<Vec<String>, CorpusError> {
    let manifest = match Manifest::read(dir) {
        Err(CorpusError::Damaged { reason, .. }) => return Ok(vec![format!("{}: {reason}", manifest::FILE)]),
        manifest => manifest?,
    };
    let mut differences = Vec::new();
    for (file, written) in &manifest.files {
        let path = dir.join(file);
        match sized(dir, file, written).and_then(|()| sha256_of_files(&[path]).map_err(CorpusError::in_file(file))) {
            Err(CorpusError::Damaged { file, reason }) => differences.push(format!("{file}: {reason}")),
            Err(error) => differences.push(error.to_string()),
            Ok(sha256) if sha256 != written.sha256 => {
                differences.push(format!("{file}: it is not the file that was written (its SHA-256 is {sha256})"));
            }
            Ok(_) => {}
        }
    }
    if deep
        && differences.is_empty()
        && let Err(error) = read_all(dir, &manifest, &mut differences)
    {
        differences.push(error.to_string());
    }
    differences.truncate(MAX_LISTED);
    Ok(differences)
}

fn read_all(dir: &Path, manifest: &Manifest, differences: &mut Vec<String>) -> Result<(), CorpusError> {
    let folder = Folder::open(dir, manifest)?;
    let (mut identity, mut redirects, mut last) = (Identity::default(), 0, None);
    for number in 0..manifest.articles {
        let article = folder.pages.article_in(number, &mut last)?;
        let names = &folder.names;
        let title = &article.title;
        let shown = || printable(title, 80);
        if names.title(number)? != *title || names.exact(title)? != Some(number) {
            differences.push(format!("the title `{}` does not lead to its article", shown()));
        }
        let keys: Vec<String> = names.fold.keys(title).collect();
        for key in &keys {
            if !leads_to(&folder, key, number)? {
                differences.push(format!("the title `{}` is not found as `{}`", shown(), printable(key, 80)));
            }
        }
        for redirect in &article.redirects {
            if names.redirects.get(redirect)? != Some(number) {
                differences.push(format!("the redirect `{}` does not lead to `{}`", printable(redirect, 80), shown()));
            }
        }
        redirects += article.redirects.len() as u64;
        if number % SEARCHED == 0 && !keys.is_empty() {
            let hits = folder.index.search_or_like(names, title, HITS)?;
            if hits.len() < HITS && hits.iter().all(|hit| hit.number != number) {
                differences.push(format!("`{}` is not found by its words", shown()));
            }
        }
        identity.add(&article).map_err(|error| CorpusError::Index { reason: error.to_string() })?;
    }
    if (redirects, folder.names.counts().1 as u64) != (manifest.redirects, manifest.redirects) {
        differences.push("there is another number of redirects than the manifest says".to_owned());
    }
    let id = identity.finish();
    if id != manifest.id {
        differences.push(format!("the articles have the identity {id}, and the manifest says {}", manifest.id));
    }
    Ok(())
}

/// Whether a folded name leads to an article, or to another one that has it as well.
fn leads_to(folder: &Folder, key: &str, number: u32) -> Result<bool, CorpusError> {
    match folder.names.keys.get(key)? {
        Some(found) if found != number => {
            let other = folder.pages.article(found)?;
            let mut names = other.redirects.iter().chain([&other.title]);
            Ok(names.any(|name| folder.names.fold.keys(name).any(|other| other == key)))
        }
        found => Ok(found.is_some()),
    }
}
