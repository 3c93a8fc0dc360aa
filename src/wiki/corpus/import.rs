//! From somebody's files to records: one file for each format.
//!
//! An importer is an iterator over what it finds. It reads its file once, from front to end, and keeps no more of it in
//! memory than it needs for the next record.

mod frozen;
mod hotpotqa;
mod jsonl;
#[cfg(feature = "parquet")]
mod parquet_file;
mod zim;

use super::record::Record;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// What is said where a library panicked.
const FAULT: &str = "its reader failed inside; is it damaged?";

/// A form in which encyclopedias are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// What `corpus freeze` fetched. No name leads to it.
    Frozen,
    /// `HotpotQA`'s dumps of abstracts or of whole pages, as `tar.bz2` or unpacked.
    Hotpotqa,
    /// One JSON object a line: our own records, or title and text.
    Jsonl,
    /// Tables with the columns `title` and `text`, as Hugging Face has Wikipedia.
    Parquet,
    /// Kiwix' archives of pages as HTML.
    Zim,
}

/// All formats with their names.
pub const FORMATS: &[(&str, Format)] =
    &[("hotpotqa", Format::Hotpotqa), ("jsonl", Format::Jsonl), ("parquet", Format::Parquet), ("zim", Format::Zim)];

impl Format {
    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        FORMATS.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|(_, format)| *format == self).map_or("site", |(name, _)| name)
    }

    /// Whether this program was built with it.
    pub fn is_built(self) -> bool {
        self != Self::Parquet || cfg!(feature = "parquet")
    }

    /// What a file or a folder is, by its name and its first bytes.
    pub fn detect(path: &Path) -> Option<Self> {
        if path.is_dir() {
            let lines = super::lines_of(path).map(|_| Self::Jsonl);
            let tables = || tables(path).is_ok_and(|files| !files.is_empty()).then_some(Self::Parquet);
            return lines.or_else(tables).or_else(|| hotpotqa::is_folder(path).then_some(Self::Hotpotqa));
        }
        match first_bytes(files(path).first()?) {
            Some(zim::MAGIC) => return Some(Self::Zim),
            Some([b'P', b'A', b'R', b'1']) => return Some(Self::Parquet),
            _ => {}
        }
        let first = first_byte(path);
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_lowercase();
        if name.ends_with(".tar.bz2") {
            return Some(Self::Hotpotqa);
        }
        let bare = [".gz", ".zst"].into_iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(&name);
        let named = [".jsonl", ".ndjson", ".json"].iter().any(|ending| bare.ends_with(ending));
        (first == Some(b'{') || named && first.is_none()).then_some(Self::Jsonl)
    }
}

/// The first byte of a regular file that is not white space, unpacked. A pipe would lose it.
fn first_byte(path: &Path) -> Option<u8> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = [0; 64];
    let read = text_of(File::open(path).ok()?).ok()?.take(64).read(&mut bytes).ok()?;
    let text = bytes.get(..read)?;
    text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text).iter().copied().find(|byte| !byte.is_ascii_whitespace())
}

/// The first four bytes of a regular file.
fn first_bytes(path: &Path) -> Option<[u8; 4]> {
    let mut bytes = [0; 4];
    let regular = path.metadata().ok()?.is_file();
    (regular && File::open(path).ok()?.read_exact(&mut bytes).is_ok()).then_some(bytes)
}

/// The files that hold an input: itself, or the parts that it was split into.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let parts = zim::paths(path);
    if parts.is_empty() { vec![path.to_owned()] } else { parts }
}

/// The Parquet files of a folder, in the order of their names.
fn tables(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files: Vec<PathBuf> = entries.collect::<io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "parquet"));
    files.sort();
    Ok(files)
}

/// What a source says of itself, for whoever does not say otherwise.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) language: Option<String>,
    pub(super) as_of: Option<String>,
    pub(super) license: Option<String>,
    pub(super) attribution: Option<String>,
}

/// What inputs say of themselves, as far as all say the same.
pub(super) fn facts(sources: &[(Format, PathBuf)]) -> Facts {
    let facts = sources.iter().map(|(format, path)| match format {
        Format::Zim => zim::facts(path),
        _ => Facts::default(),
    });
    let both = |one: Option<String>, other: Option<String>| one.filter(|one| other.as_ref() == Some(one));
    let common = |one: Facts, other: Facts| Facts {
        language: both(one.language, other.language),
        as_of: both(one.as_of, other.as_of),
        license: both(one.license, other.license),
        attribution: both(one.attribution, other.attribution),
    };
    facts.reduce(common).unwrap_or_default()
}

/// A record, and where it stands.
#[derive(Debug)]
pub(super) struct Imported {
    pub(super) record: Record,
    pub(super) place: Place,
}

/// Where a record is in its file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Place {
    /// The file inside an archive or a folder.
    pub(super) member: Option<Arc<str>>,
    /// The line, from 1; 0 means the whole member.
    pub(super) line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(member) = &self.member {
            write!(f, ", `{}`", crate::types::text::printable(member, 200))?;
        }
        if self.line > 0 {
            write!(f, ", line {}", self.line)?;
        }
        Ok(())
    }
}

/// What is wrong with an input.
#[derive(Debug)]
pub(super) enum ImportError {
    /// One record cannot be read; the others can.
    Record { place: Place, reason: String },
    /// The rest cannot be read.
    Broken { reason: String },
}

/// What an importer is.
pub(super) type Records = Box<dyn Iterator<Item = Result<Imported, ImportError>> + Send>;

/// Opens an input.
pub(super) fn open(format: Format, path: &Path) -> Result<Records, ImportError> {
    match format {
        Format::Frozen => frozen::open(path),
        Format::Hotpotqa => hotpotqa::open(path),
        Format::Jsonl => jsonl::open(path),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet_file::open(path),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(ImportError::Broken { reason: "this program was built without it".to_owned() }),
        Format::Zim => zim::open(path),
    }
}

/// What one piece of work finds.
type Found = Vec<Result<Imported, ImportError>>;

/// Does pieces of work on as many threads as there are processors.
fn on_all_processors<J: Send + 'static>(
    jobs: Receiver<J>,
    work: impl Fn(J) -> Found + Send + Sync + 'static,
) -> Receiver<Found> {
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (send, found) = sync_channel(threads);
    let shared = Arc::new((Mutex::new(jobs), work));
    for _ in 0..threads {
        let (shared, send) = (Arc::clone(&shared), send.clone());
        thread::spawn(move || {
            let (jobs, work) = &*shared;
            let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
            while let Ok(job) = next() {
                // A job must not be lost without a word, whatever a library does on damaged bytes.
                let found = catch_unwind(AssertUnwindSafe(|| work(job)));
                let found = found.unwrap_or_else(|_| vec![Err(ImportError::Broken { reason: FAULT.to_owned() })]);
                // Nobody listens after an error.
                if send.send(found).is_err() {
                    return;
                }
            }
        });
    }
    found
}

/// A text that may be packed with gzip or zstd, which its first bytes say.
fn text_of(source: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut source = BufReader::with_capacity(1 << 18, source);
    let first = source.fill_buf()?;
    if first.starts_with(&[0x1f, 0x8b]) {
        let unpacked = flate2::bufread::MultiGzDecoder::new(source);
        return Ok(Box::new(BufReader::with_capacity(1 << 18, unpacked)));
    }
    if first.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return Ok(Box::new(BufReader::with_capacity(1 << 18, zstd::stream::read::Decoder::with_buffer(source)?)));
    }
    Ok(Box::new(source))
}
