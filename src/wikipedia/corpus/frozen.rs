//! A corpus that was frozen from a site: what is kept of each title while it is fetched, and what is built of it.

use super::CorpusError;
use super::manifest::{self, Build, Freeze, License, Manifest, SEARCHES_FILE};
use crate::base::bounded::{MAX_LINE_BYTES, lines};
use crate::base::json_error;
use crate::wikipedia::api_source::{LeftOut, SitePage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

pub(super) const LEFT_OUT_FILE: &str = "left-out.jsonl";

/// A line of what was fetched. The first line of its file says of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FetchedLine {
    Page {
        asked: String,
        title: String,
        /// Titles of the redirects between them.
        names: Vec<String>,
        /// Titles that the lead links to, as many as were wanted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        links: Vec<String>,
        /// The page; absent where another line has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        page: Option<SitePage>,
    },
    LeftOut {
        asked: String,
        reason: LeftOut,
    },
    Search {
        query: String,
        answer: SearchAnswer,
    },
}

/// A title without a page, as a line has it.
#[derive(Serialize, Deserialize)]
struct NoPage {
    title: String,
    reason: LeftOut,
}

impl NoPage {
    fn lines(left_out: &BTreeSet<(LeftOut, String)>) -> Vec<Self> {
        left_out.iter().map(|(reason, title)| Self { title: title.clone(), reason: *reason }).collect()
    }

    fn collect(lines: Vec<Self>) -> BTreeSet<(LeftOut, String)> {
        lines.into_iter().map(|Self { title, reason }| (reason, title)).collect()
    }
}

/// The lines of a file that a folder need not have.
fn read_lines<T: DeserializeOwned>(dir: &Path, manifest: &Manifest, name: &str) -> Result<Vec<T>, CorpusError> {
    if !manifest.files.contains_key(name) {
        return Ok(Vec::new());
    }
    let damaged = |line: usize, reason: String| CorpusError::Line { file: name.to_owned(), line, reason };
    let file = File::open(dir.join(name)).map_err(|error| damaged(1, error.to_string()))?;
    let read = |(number, line): (usize, io::Result<Vec<u8>>)| {
        let line = line.map_err(|error| damaged(number, error.to_string()))?;
        serde_json::from_slice(&line).map_err(|error| damaged(number, json_error::in_line(&error)))
    };
    (1..).zip(lines(BufReader::new(file))).map(read).collect()
}

/// Makes a file of these lines, unless there are none.
fn write_lines(path: &Path, lines: &[impl Serialize]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let mut file = BufWriter::new(File::create_new(path)?);
    for line in lines {
        serde_json::to_writer(&mut file, line)?;
        file.write_all(b"\n")?;
    }
    file.into_inner()?.sync_all()
}

/// What is built beside the articles, and said of them.
#[derive(Debug, Clone)]
pub struct Frozen {
    pub facts: Freeze,
    pub license: License,
    pub searches: FrozenSearches,
    pub left_out: BTreeSet<(LeftOut, String)>,
}

impl Frozen {
    pub(super) fn write(&self, dir: &Path) -> io::Result<()> {
        write_lines(&dir.join(SEARCHES_FILE), &SearchLine::lines(&self.searches))?;
        write_lines(&dir.join(LEFT_OUT_FILE), &NoPage::lines(&self.left_out))
    }
}

// Searches that were frozen with a corpus: what the site answered to each.

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchAnswer {
    Page(String),
    /// No page, but these titles, as the site words them; none if it found nothing.
    Titles(Vec<String>),
}

#[derive(Serialize, Deserialize)]
struct SearchLine {
    query: String,
    #[serde(flatten)]
    answer: SearchAnswer,
}

impl SearchLine {
    fn lines(searches: &FrozenSearches) -> Vec<Self> {
        searches.iter().map(|(query, answer)| Self { query: query.clone(), answer: answer.clone() }).collect()
    }

    fn collect(lines: Vec<Self>) -> FrozenSearches {
        lines.into_iter().map(|Self { query, answer }| (query, answer)).collect()
    }
}

/// Searches by their words, without spaces around them.
pub(super) type FrozenSearches = BTreeMap<String, SearchAnswer>;

pub(super) fn read_searches(dir: &Path, manifest: &Manifest) -> Result<FrozenSearches, CorpusError> {
    read_lines(dir, manifest, SEARCHES_FILE).map(SearchLine::collect)
}

/// The title in the heading of a hit: what follows says which redirect, category or section was found.
pub fn title_of(heading: &str) -> &str {
    let end = heading.find(" (redirect from ").into_iter().chain(heading.find("  ")).min();
    &heading[..end.unwrap_or(heading.len())]
}

// What a corpus says of itself, beside its articles: in its folder, and in the first line of a pack.

/// Keys of the manifest that are true of one folder only.
const OF_THE_FOLDER: [&str; 2] = ["build", "files"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct About {
    pub(super) manifest: Manifest,
    pub(super) searches: FrozenSearches,
    /// Titles without a page in what was frozen.
    pub(super) left_out: BTreeSet<(LeftOut, String)>,
}

#[derive(Serialize, Deserialize)]
struct Head<T> {
    corpus: T,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    searches: Vec<SearchLine>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<NoPage>,
}

impl About {
    pub(super) fn of_folder(dir: &Path, manifest: Manifest) -> Result<Self, CorpusError> {
        let searches = read_searches(dir, &manifest)?;
        let left_out = NoPage::collect(read_lines(dir, &manifest, LEFT_OUT_FILE)?);
        Ok(Self { manifest, searches, left_out })
    }

    pub(super) fn write_line(&self, out: &mut impl Write) -> io::Result<()> {
        let mut corpus = serde_json::to_value(&self.manifest)?;
        if let Some(corpus) = corpus.as_object_mut() {
            corpus.retain(|key, _| !OF_THE_FOLDER.contains(&key.as_str()));
        }
        let head =
            Head { corpus, searches: SearchLine::lines(&self.searches), left_out: NoPage::lines(&self.left_out) };
        let line = serde_json::to_vec(&head)?;
        if line.len() as u64 >= MAX_LINE_BYTES {
            let what = format!("its frozen searches take more than {} MiB", MAX_LINE_BYTES >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        out.write_all(&line)?;
        out.write_all(b"\n")
    }

    /// Whether a line is meant to be the first one of a pack.
    pub(super) fn is_meant(line: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Meant {
            #[serde(rename = "corpus")]
            _corpus: serde::de::IgnoredAny,
        }
        serde_json::from_slice::<Meant>(line).is_ok()
    }

    /// Reads a line that is meant to be the first one of a pack; what is wrong with it is said in words.
    pub(super) fn parse(line: &[u8]) -> Option<Result<Self, String>> {
        Self::is_meant(line).then(|| Self::read(line))
    }

    fn read(line: &[u8]) -> Result<Self, String> {
        let wrong = |reason: &dyn Display| format!("`corpus`: {reason}");
        let head: Head<Map<String, Value>> =
            serde_json::from_slice(line).map_err(|error| wrong(&json_error::in_line(&error)))?;
        let mut corpus = head.corpus;
        match corpus.get("format").and_then(Value::as_u64) {
            Some(found) if found > u64::from(manifest::FORMAT) => {
                let newest = manifest::FORMAT;
                return Err(wrong(&format_args!(
                    "it has format {found}, and this version reads formats up to {newest}"
                )));
            }
            _ => {}
        }
        let folder = [json!(Build::current()), json!({})];
        corpus.extend(OF_THE_FOLDER.map(str::to_owned).into_iter().zip(folder));
        let manifest: Manifest =
            serde_json::from_value(corpus.into()).map_err(|error| wrong(&json_error::in_line(&error)))?;
        let text = toml::to_string(&manifest).map_err(|error| wrong(&error))?;
        // What cannot be read again would be known only when the corpus is built.
        text.parse::<toml::Table>().map_err(|error| wrong(&error.message()))?;
        if text.len() as u64 > manifest::LARGEST / 2 {
            return Err(wrong(&"it is larger than 512 KiB"));
        }
        Ok(Self { manifest, searches: SearchLine::collect(head.searches), left_out: NoPage::collect(head.left_out) })
    }
}

#[cfg(test)]
mod tests {
    use super::title_of;

    #[test]
    fn a_heading_begins_with_the_title() {
        for heading in
            ["Go (game)", "Go (game) (redirect from Weiqi)", "Go (game)  (category Games)", "Go (game)   (section X)"]
        {
            assert_eq!(title_of(heading), "Go (game)");
        }
    }
}
