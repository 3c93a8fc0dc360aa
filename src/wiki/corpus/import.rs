//! From somebody's files to records: one file for each format.
//!
//! An importer is an iterator over what it finds. It reads its file once, from front to end, and keeps no more of it in
//! memory than it needs for the next record.

mod folder;
mod hotpotqa;
mod jsonl;
mod redirects;

use super::manifest::{self, License};
use super::record::Record;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

/// A form in which encyclopedias are published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A corpus that was built.
    Corpus,
    /// `HotpotQA`'s dumps of abstracts or of whole pages, as `tar.bz2` or unpacked.
    Hotpotqa,
    /// One JSON object a line: our own records, or title and text.
    Jsonl,
    /// Redirects alone, a name and its target a line, with a tab between them.
    Redirects,
}

/// All formats with their names.
pub const FORMATS: &[(&str, Format)] = &[
    ("corpus", Format::Corpus),
    ("hotpotqa", Format::Hotpotqa),
    ("jsonl", Format::Jsonl),
    ("redirects", Format::Redirects),
];

impl Format {
    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        FORMATS.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }

    /// Under which terms its publisher says that the texts may be used.
    pub(super) fn license(self) -> Option<License> {
        let (id, attribution, changes) = match self {
            Self::Hotpotqa => {
                ("CC-BY-SA-4.0", "Wikipedia contributors, as published by HotpotQA", "plain text, links removed")
            }
            Self::Corpus | Self::Jsonl | Self::Redirects => return None,
        };
        Some(License {
            id: id.to_owned(),
            attribution: Some(attribution.to_owned()),
            changes: Some(changes.to_owned()),
        })
    }

    /// What a file or a folder is, by its name and its first bytes.
    pub fn detect(path: &Path) -> Option<Self> {
        if path.is_dir() {
            if path.join(manifest::FILE).is_file() {
                return Some(Self::Corpus);
            }
            let lines = super::lines_of(path).map(|_| Self::Jsonl);
            return lines.or_else(|| hotpotqa::is_folder(path).then_some(Self::Hotpotqa));
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
        Format::Corpus => folder::open(path),
        Format::Hotpotqa => hotpotqa::open(path),
        Format::Jsonl => jsonl::open(path),
        Format::Redirects => redirects::open(path),
    }
}

/// A text that may be packed with gzip or zstd, which its first bytes say.
fn text_of(source: impl Read + Send + 'static) -> std::io::Result<Box<dyn BufRead + Send>> {
    let mut source = BufReader::with_capacity(1 << 18, source);
    let first = source.fill_buf()?;
    if first.starts_with(super::plain::GZIP) {
        let unpacked = flate2::bufread::MultiGzDecoder::new(source);
        return Ok(Box::new(BufReader::with_capacity(1 << 18, unpacked)));
    }
    if first.starts_with(super::plain::ZSTD) {
        return Ok(Box::new(BufReader::with_capacity(1 << 18, zstd::stream::read::Decoder::with_buffer(source)?)));
    }
    Ok(Box::new(source))
}
