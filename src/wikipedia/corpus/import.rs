//! From somebody's files to records: one file for each format.
//!
//! An importer is an iterator over what it finds. It reads its file once, from front to end, and keeps no more of it in
//! memory than it needs for the next record.

mod lines;
mod own;
#[cfg(feature = "parquet")]
mod parquet_file;
mod published;
mod zim;

use super::manifest::{self, Extent};
use super::record::Record;
use super::{CorpusError, lines_file};
use crate::base::named;
pub(super) use lines::Compression;
use lines::{is_archive, unpacked_text};
use serde::de::{self, Deserialize as _, Deserializer};
use serde_json::Value;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a row of a Parquet file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    Articles,
    Passages,
}

#[cfg(not(feature = "parquet"))]
mod parquet_file {
    use super::{ImportError, Path, Records, Rows};

    pub(super) fn open(_: &Path, _: Rows) -> Result<Records, ImportError> {
        let reason = "it is Parquet, and this program was built without the feature parquet".to_owned();
        Err(ImportError::Broken { reason })
    }

    pub(super) fn has_passages(_: &Path) -> bool {
        false
    }

    pub(super) fn unread_ids(_: &Path) -> Option<String> {
        None
    }
}

named! {
    /// A form in which encyclopedias are published.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Format {
        /// What `corpus freeze` fetched. No name leads to it.
        Frozen = "site",
        /// `HotpotQA`'s dumps of abstracts or of whole pages, as `tar.bz2` or unpacked.
        Hotpotqa = "hotpotqa",
        /// JSON objects, one a line or a list: our own records, or title and text.
        Jsonl = "jsonl",
        /// `DSPy`'s abstracts of 2017, as `tar.gz` or unpacked.
        Dspy = "dspy",
        /// The passages of DPR, as a table.
        Dpr = "dpr",
        Wiki18 = "wiki18",
        Beir = "beir",
        Kilt = "kilt",
        Fever = "fever",
        /// The paragraphs that `2WikiMultiHopQA` was made from.
        Wiki2 = "2wiki",
        /// The paragraphs that come with the questions of a dataset.
        Dataset = "dataset",
        /// Tables with the columns `title` and `text`, as Hugging Face has Wikipedia.
        Parquet = "parquet",
        /// Kiwix' archives of pages as HTML.
        Zim = "zim",
        Corpus = "corpus",
        /// Redirects alone, a name and its target a line, with a tab between them.
        Redirects = "redirects",
    }
}

impl Format {
    /// Those that people may name.
    pub const NAMED: &[Self] = Self::ALL.split_at(1).1;

    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().copied().find(|format| format.name() == name)
    }

    pub fn is_built(self) -> bool {
        self != Self::Parquet || cfg!(feature = "parquet")
    }

    /// How much of a page the articles of an input have.
    pub fn extent(self, path: &Path) -> Extent {
        let named = |word: &str| path.file_name().is_some_and(|name| name.to_string_lossy().contains(word));
        match self {
            Self::Hotpotqa if named("abstracts") => Extent::Lead,
            Self::Zim if named("_mini_") => Extent::Lead,
            Self::Dspy | Self::Fever | Self::Wiki2 => Extent::Lead,
            Self::Dpr | Self::Wiki18 | Self::Beir | Self::Dataset => Extent::Passages,
            Self::Frozen | Self::Hotpotqa | Self::Jsonl | Self::Kilt | Self::Parquet | Self::Zim => Extent::Page,
            // A corpus says it itself, and redirects say nothing.
            Self::Corpus | Self::Redirects => Extent::default(),
        }
    }
}

/// The files that hold an input: itself, or the parts that it was split into.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let parts = zim::zim_parts(path);
    if parts.is_empty() { vec![path.to_owned()] } else { parts }
}

/// Facts about the texts, from the command that builds, a corpus that is read, or a publisher.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    pub language: Option<String>,
    pub as_of: Option<String>,
    pub license: Option<String>,
    pub attribution: Option<String>,
    pub changes: Option<String>,
}

impl Facts {
    /// Each fact of the two by this rule.
    pub(super) fn merged(self, other: Self, rule: fn(Option<String>, Option<String>) -> Option<String>) -> Self {
        Self {
            language: rule(self.language, other.language),
            as_of: rule(self.as_of, other.as_of),
            license: rule(self.license, other.license),
            attribution: rule(self.attribution, other.attribution),
            changes: rule(self.changes, other.changes),
        }
    }
}

/// What inputs say of themselves, as far as all say the same.
pub(super) fn published_facts(sources: &[(Format, PathBuf)]) -> Facts {
    // Redirects are names, and say nothing of texts.
    let articles = sources.iter().filter(|(format, _)| *format != Format::Redirects);
    let facts = articles.map(|(format, path)| match format {
        Format::Zim => zim::facts(path),
        Format::Hotpotqa => published::facts(),
        _ => Facts::default(),
    });
    let common =
        facts.reduce(|one, other| one.merged(other, |one, other| one.filter(|one| other.as_ref() == Some(one))));
    common.unwrap_or_default()
}

#[derive(Debug)]
pub(super) struct Imported {
    pub(super) record: Record,
    pub(super) place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Place {
    /// The file inside an archive or a folder.
    pub(super) member: Option<Arc<str>>,
    /// The line, from 1; 0 means the whole member.
    pub(super) line: u64,
}

impl Place {
    fn found(self, record: Result<Record, String>) -> Found {
        match record {
            Ok(record) => Ok(Imported { record, place: self }),
            Err(reason) => Err(ImportError::Record { place: self, reason }),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(member) = &self.member {
            write!(f, ", `{}`", crate::base::text::printable(member, 200))?;
        }
        if self.line > 0 {
            write!(f, ", line {}", self.line)?;
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(super) enum ImportError {
    /// One record cannot be read; the others can.
    Record { place: Place, reason: String },
    /// The file cannot be read, or not to its end.
    Broken { reason: String },
    /// A packed corpus whose articles do not have the identity in its first line.
    Edited { found: String, claimed: String },
}

impl From<io::Error> for ImportError {
    fn from(error: io::Error) -> Self {
        let reason = match error.kind() {
            // Each library has words of its own.
            io::ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
            io::ErrorKind::OutOfMemory => {
                format!("unpacking it takes more than {} MiB of memory", lines::XZ_MEMORY >> 10)
            }
            _ => error.to_string(),
        };
        Self::Broken { reason }
    }
}

impl From<CorpusError> for ImportError {
    fn from(error: CorpusError) -> Self {
        Self::Broken { reason: error.to_string() }
    }
}

impl ImportError {
    pub(super) fn reason(self) -> String {
        match self {
            Self::Record { reason, .. } | Self::Broken { reason } => reason,
            Self::Edited { found, claimed } => {
                format!("its articles do not match the id in its first line: theirs is {found}, and it says {claimed}")
            }
        }
    }
}

type Found = Result<Imported, ImportError>;

pub(super) type Records = Box<dyn Iterator<Item = Found> + Send>;

pub(super) fn open(format: Format, path: &Path) -> Result<Records, ImportError> {
    match format {
        Format::Frozen => own::open_frozen(path),
        Format::Hotpotqa => published::open(path),
        Format::Jsonl | Format::Dspy => own::open_json_lines(path),
        Format::Dpr => lines::open_lines(path, published::dpr_parser()),
        Format::Wiki18 => lines::open_json(path, lines::RECORD, published::parse_wiki18),
        Format::Beir if is_parquet(path) && !path.join(published::BEIR_FILE).is_file() => {
            parquet_file::open(path, Rows::Passages)
        }
        Format::Beir => published::open_beir(path),
        Format::Kilt => lines::open_json(path, lines::RECORD, published::parse_kilt),
        Format::Fever => published::open_fever(path),
        Format::Wiki2 => lines::open_json(path, lines::RECORD, published::parse_two_wiki),
        Format::Dataset => lines::open_json(path, "question", published::parse_question),
        Format::Parquet => parquet_file::open(path, Rows::Articles),
        Format::Zim => zim::open(path),
        Format::Corpus => own::open_corpus_folder(path),
        Format::Redirects => lines::open_lines(path, own::parse_redirect),
    }
}

/// The files below a folder that have such a name, in order; without one, `what` is missing.
fn files_below(folder: &Path, what: &str, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, ImportError> {
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            // A link to a folder may lead in a circle.
            if path.symlink_metadata()?.is_dir() {
                folders.push(path);
            } else if path.is_file() && path.file_name().and_then(|name| name.to_str()).is_some_and(&wanted) {
                found.push(path);
            }
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(ImportError::Broken { reason: format!("there is no {what} in it") });
    }
    Ok(found)
}

fn tables(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    files_below(folder, ".parquet file", |name| name.ends_with(".parquet"))
}

/// What a line with a passage is read as.
fn passage_record(title: &str, id: String, text: &str) -> lines::Parsed {
    passage(title, id, text).map(|record| vec![record])
}

fn passage(title: &str, id: String, text: &str) -> Result<Record, String> {
    if title.trim().is_empty() {
        return Err("the title is empty".to_owned());
    }
    Ok(Record::Passage { title: title.trim().to_owned(), id: Some(id), text: text.trim().to_owned() })
}

/// Whether an input is Parquet: a file by its first bytes, a folder by the names in it.
fn is_parquet(path: &Path) -> bool {
    if path.is_dir() {
        return tables(path).is_ok();
    }
    magic(path) == Some(*b"PAR1")
}

/// An id, which may be written as a number.
fn deserialize_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(id) => Ok(id),
        Value::Number(id) => Ok(id.to_string()),
        _ => Err(de::Error::custom("an id is a string or a number")),
    }
}

// What a file or a folder is, by its name and its first record.

/// So much of a file is looked at, in bytes.
const MAX_DETECTION_BYTES: u64 = 256 << 10;

impl Format {
    pub fn detect(path: &Path) -> Option<Self> {
        if path.is_dir() {
            return match path {
                _ if path.join(manifest::FILE).is_file() => Some(Self::Corpus),
                _ if lines_file(path).is_some() => Some(Self::Jsonl),
                _ if path.join(published::BEIR_FILE).is_file() => Some(Self::Beir),
                _ if is_parquet(path) => Some(Self::of_tables(path)),
                _ if published::hotpotqa_files(path).is_ok() => Some(Self::Hotpotqa),
                _ => published::fever_files(path).is_ok().then_some(Self::Fever),
            };
        }
        match files(path).first().and_then(|file| magic(file)) {
            Some(zim::MAGIC) => return Some(Self::Zim),
            Some(_) if is_parquet(path) => return Some(Self::of_tables(path)),
            _ => {}
        }
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_lowercase();
        if name.ends_with(".tar.bz2") {
            return Some(Self::Hotpotqa);
        }
        if is_archive(path) {
            return Some(Self::Dspy);
        }
        let bare = Compression::ALL.iter().find_map(|packed| name.strip_suffix(packed.name())?.strip_suffix('.'));
        let bare = bare.unwrap_or(&name);
        let named = |endings: &[&str]| endings.iter().any(|ending| bare.ends_with(ending));
        let text = beginning(path).unwrap_or_default();
        match text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&text).trim_ascii_start() {
            [] => named(&[".jsonl", ".ndjson", ".json"]).then_some(Self::Jsonl),
            text @ [b'{' | b'[', ..] => Self::of_keys(&keys(text), text[0] == b'['),
            text if text.starts_with(b"id\ttext\ttitle") => Some(Self::Dpr),
            // The passages of DPR have three columns.
            text if named(&[".tsv"]) => Some(if columns(text) == 2 { Self::Redirects } else { Self::Dpr }),
            _ => None,
        }
    }

    fn of_tables(path: &Path) -> Self {
        if parquet_file::has_passages(path) { Self::Beir } else { Self::Parquet }
    }

    /// What of an input is not read in this format though it may matter.
    pub fn unread(self, path: &Path) -> Option<String> {
        if self == Self::Parquet { parquet_file::unread_ids(path) } else { None }
    }

    fn of_keys(keys: &[&[u8]], in_list: bool) -> Option<Self> {
        let has = |key: &str| keys.contains(&key.as_bytes());
        match () {
            () if has("context") || has("paragraphs") => Some(Self::Dataset),
            () if has("wikipedia_title") => Some(Self::Kilt),
            () if has("contents") => Some(Self::Wiki18),
            () if has("id") && has("lines") => Some(Self::Fever),
            () if has("sentences") && has("title") => Some(Self::Wiki2),
            () if has("_id") && has("title") => Some(Self::Beir),
            // A list of anything else is no corpus.
            () => (has("title") || !in_list).then_some(Self::Jsonl),
        }
    }
}

/// Columns of the first line, which tabs part.
fn columns(text: &[u8]) -> usize {
    text.split(|byte| *byte == b'\n').next().unwrap_or_default().split(|byte| *byte == b'\t').count()
}

/// The first four bytes of a regular file.
fn magic(path: &Path) -> Option<[u8; 4]> {
    let mut bytes = [0; 4];
    let regular = path.metadata().ok()?.is_file();
    (regular && File::open(path).ok()?.read_exact(&mut bytes).is_ok()).then_some(bytes)
}

/// The first bytes of a regular file, unpacked. A pipe would lose them.
fn beginning(path: &Path) -> Option<Vec<u8>> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    // What can be read of a damaged file tells as much.
    let _ = unpacked_text(File::open(path).ok()?).ok()?.take(MAX_DETECTION_BYTES).read_to_end(&mut bytes);
    Some(bytes)
}

/// The keys of the first object, as far as `text` goes.
fn keys(text: &[u8]) -> Vec<&[u8]> {
    let (mut keys, mut string, mut rest) = (Vec::new(), None, text.trim_ascii_start());
    let mut depth = if rest.starts_with(b"[") { -1 } else { 0 };
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'"' => {
                let mut escaped = false;
                let end = after.iter().position(|byte| {
                    let ends = *byte == b'"' && !escaped;
                    escaped = *byte == b'\\' && !escaped;
                    ends
                });
                let Some(end) = end else { break };
                string = Some(&after[..end]);
                rest = &after[end + 1..];
            }
            b':' if depth == 1 => keys.extend(string.take()),
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => break,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    keys
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod unit_tests {
    use super::Format;
    use std::fs;

    #[test]
    fn inputs_are_told_by_their_names_and_first_records() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        for (format, text) in [
            ("jsonl", "\u{feff} {\"title\": \"contents\", \"text\": \"\\\"lines\\\": [\"}"),
            ("jsonl", "{\"title\": \"A\", \"blocks\": [{\"contents\": 1}]}"),
            ("wiki18", "{\"id\": \"0\", \"contents\": \"\\\"A\\\"\\na\"}"),
            ("beir", "{\"_id\": \"0\", \"title\": \"A\", \"text\": \"a\", \"metadata\": {}}"),
            ("kilt", "{\"_id\": \"0\", \"wikipedia_id\": \"0\", \"wikipedia_title\": \"A\", \"text\": [\"cut"),
            ("fever", "{\"id\": \"\", \"text\": \"\", \"lines\": \"\"}"),
            ("2wiki", "{\"id\": \"1\", \"title\": \"A\", \"sentences\": [\"a\"], \"mentions\": []}"),
            ("dataset", "[\n  {\"_id\": \"1\", \"question\": \"?\", \"context\": [[\"A\", [\"a\"]]]}]"),
            ("dataset", "{\"id\": \"1\", \"paragraphs\": [{\"title\": \"A\", \"paragraph_text\": \"a\"}]}"),
            ("dpr", "id\ttext\ttitle\n1\ta\tA\n"),
            ("jsonl", "[{\"title\": \"A\", \"text\": \"a\"}]"),
            ("beir", "[\n  {\"_id\": 7, \"title\": \"A\", \"text\": \"a\"}]"),
            ("none", "[{\"question\": \"?\", \"answer\": \"a\"}]"),
            ("none", "[[[[\""),
            ("none", "}}]]"),
            ("none", ""),
        ] {
            fs::write(&path, text).expect("written");
            assert_eq!(Format::detect(&path).map_or("none", Format::name), format, "{text}");
        }
        for (format, name) in [
            ("jsonl", "jsonl/articles.jsonl"),
            ("beir", "beir/corpus.jsonl"),
            ("fever", "fever/wiki-pages/wiki-001.jsonl"),
            ("hotpotqa", "hotpotqa/AA/wiki_00.gz"),
        ] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "").expect("written");
            assert_eq!(Format::detect(&dir.path().join(format)).map(Format::name), Some(format));
        }
        for (format, text) in [("redirects", "NYC\tNew York\n\t\n"), ("dpr", "1\ta\tA\n"), ("dpr", "a\n")] {
            fs::write(dir.path().join("y.tsv"), text).expect("written");
            assert_eq!(Format::detect(&dir.path().join("y.tsv")).map(Format::name), Some(format), "{text}");
        }
        let by_name = ["x.jsonl", "x.tsv.gz", "wiki.abstracts.2017.tar.gz", "x.tar.bz2", "x.zip"];
        let found = by_name.map(|name| Format::detect(&dir.path().join(name)).map(Format::name));
        assert_eq!(found, [Some("jsonl"), None, Some("dspy"), Some("hotpotqa"), None]);
    }
}
