//! The lines of `articles.jsonl`.

use super::CorpusError;
use crate::types::bounded::fill_at_most;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::Arc;

/// How much a packed file may unpack to, in bytes; a corpus lives in memory.
const LARGEST: u64 = 8 << 30;
/// Bytes that are looked at before the rest is read.
const FIRST: u64 = 64 << 10;
/// How a gzip file begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

#[derive(Debug)]
pub(super) struct Article {
    pub(super) title: String,
    pub(super) blocks: Arc<[String]>,
    /// On a disambiguation page: the titles it lists.
    pub(super) entries: Option<Arc<[String]>>,
}

/// Where an article's record stands, and what else leads to it.
#[derive(Debug)]
pub(super) struct Place {
    line: usize,
    redirects: Vec<String>,
}

/// A line as it is written.
#[derive(Deserialize)]
struct Line {
    title: String,
    #[serde(default)]
    blocks: Option<Vec<String>>,
    #[serde(default)]
    redirects: Vec<String>,
    #[serde(default)]
    entries: Option<Vec<(String, String)>>,
}

/// The bytes of a file, unpacked if they are gzip.
pub(super) fn unpacked<'a>(file: &str, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, CorpusError> {
    if !bytes.starts_with(&GZIP) {
        return Ok(Cow::Borrowed(bytes));
    }
    let broken = |error: io::Error| CorpusError::Unpack { file: file.to_owned(), reason: error.to_string() };
    read_text(MultiGzDecoder::new(bytes), 0).map(Cow::Owned).map_err(broken)
}

/// Bytes of text, packed or not, up to [`LARGEST`], about `size` of them. A device or a packed bomb, which often have nothing but zero bytes, are not read to
/// their end.
pub(super) fn read_text(mut source: impl Read, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Without so much memory it grows as far as it goes.
    let _ = bytes.try_reserve_exact(usize::try_from(size.min(LARGEST) + 1).unwrap_or_default());
    (&mut source).take(FIRST).read_to_end(&mut bytes)?;
    if !bytes.starts_with(&GZIP) && bytes.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it contains NUL bytes, so it is not text"));
    }
    fill_at_most(&mut bytes, source, LARGEST)?;
    Ok(bytes)
}

/// Reads all articles; blank lines are passed over.
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Vec<(Article, Place)>, CorpusError> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut records = Vec::new();
    for (number, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let number = number + 1;
        let wrong = |reason: String| CorpusError::Line { file: file.to_owned(), line: number, reason };
        let parsed: Line = serde_json::from_slice(line).map_err(|error| wrong(said(&error)))?;
        if parsed.title.trim().is_empty() {
            return Err(wrong("`title` is empty".to_owned()));
        }
        if parsed.blocks.is_none() && parsed.entries.is_none() {
            return Err(wrong("there are neither `blocks` nor `entries`".to_owned()));
        }
        let place = Place { line: number, redirects: parsed.redirects };
        records.push((article(parsed.title, parsed.blocks, parsed.entries), place));
    }
    Ok(records)
}

/// The library's words without its own count of lines, which is always 1 here.
fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.replacen(" at line 1 column", " at column", 1)
}

fn article(title: String, blocks: Option<Vec<String>>, entries: Option<Vec<(String, String)>>) -> Article {
    let lists = |entries: &[(String, String)]| {
        let line = |(entry, description): &(String, String)| match description.trim() {
            "" => entry.clone(),
            description => format!("{entry}, {description}"),
        };
        entries.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let blocks = blocks.filter(|blocks| !blocks.is_empty() || entries.is_none());
    let blocks =
        blocks.unwrap_or_else(|| vec![format!("{title} may refer to:"), lists(entries.as_deref().unwrap_or_default())]);
    let entries = entries
        .map(|entries| entries.into_iter().map(|(entry, _)| entry).collect::<Vec<_>>())
        .or_else(|| listed_entries(&blocks));
    Article { title, blocks: blocks.into(), entries: entries.map(Arc::from) }
}

/// The entries of a disambiguation page that is one by its text alone: the lines below `… may refer to:`, up to the
/// comma that begins a description.
fn listed_entries(blocks: &[String]) -> Option<Vec<String>> {
    let (first, rest) = blocks.split_first()?;
    if !first.trim_end().ends_with("may refer to:") {
        return None;
    }
    let lines = rest.iter().flat_map(|block| block.lines());
    let entries = lines.map(|line| line.split(", ").next().unwrap_or(line).trim().to_owned());
    Some(entries.filter(|entry| !entry.is_empty()).collect())
}

/// Places of articles by a name.
type Names = HashMap<String, usize>;

/// Titles and redirects, each leading to the place of one article.
pub(super) fn names(file: &str, records: &[(Article, Place)]) -> Result<(Names, Names), CorpusError> {
    let taken = |what, name: &str, taken, at: usize, first: usize| CorpusError::Taken {
        file: file.to_owned(),
        line: records[at].1.line,
        what,
        name: name.to_owned(),
        taken,
        first: records[first].1.line,
    };
    let mut titles = Names::with_capacity(records.len());
    for (at, (article, _)) in records.iter().enumerate() {
        if let Some(first) = titles.insert(article.title.clone(), at) {
            return Err(taken("title", &article.title, "a title", at, first));
        }
    }
    let mut redirects = Names::new();
    for (at, (_, place)) in records.iter().enumerate() {
        for redirect in &place.redirects {
            if let Some(&first) = titles.get(redirect) {
                return Err(taken("redirect", redirect, "a title", at, first));
            }
            match redirects.insert(redirect.clone(), at) {
                Some(first) if first != at => return Err(taken("redirect", redirect, "a redirect", at, first)),
                _ => {}
            }
        }
    }
    Ok((titles, redirects))
}
