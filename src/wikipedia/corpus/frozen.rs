//! A corpus that was frozen from a site: what is kept of each title while it is fetched, and what is built of it.

use super::CorpusError;
use super::manifest::{Freeze, License, Manifest, SEARCHES_FILE};
use crate::base::bounded::lines;
use crate::base::json_error;
use crate::wikipedia::api_source::{LeftOut, SitePage};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

/// The file that names what was left out.
pub(super) const LEFT_OUT_FILE: &str = "left-out.jsonl";

/// A line of what was fetched. The first line of its file says of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FetchedLine {
    /// A title that leads to a page.
    Page {
        /// The title that was asked for.
        asked: String,
        /// That of the page.
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
    /// A title without a page.
    LeftOut {
        /// The title that was asked for.
        asked: String,
        /// Why the page is missing.
        reason: LeftOut,
    },
    /// A search that the site was asked.
    Search {
        /// Its words.
        query: String,
        /// What the site answered.
        answer: SearchAnswer,
    },
}

/// A title without a page, as a line has it.
#[derive(Serialize, Deserialize)]
pub(super) struct NoPage {
    title: String,
    reason: LeftOut,
}

impl From<(LeftOut, String)> for NoPage {
    fn from((reason, title): (LeftOut, String)) -> Self {
        Self { title, reason }
    }
}

impl From<NoPage> for (LeftOut, String) {
    fn from(left_out: NoPage) -> Self {
        (left_out.reason, left_out.title)
    }
}

/// The titles without a page in a folder.
pub(super) fn read_left_out(dir: &Path, manifest: &Manifest) -> Result<BTreeSet<(LeftOut, String)>, CorpusError> {
    if !manifest.files.contains_key(LEFT_OUT_FILE) {
        return Ok(BTreeSet::new());
    }
    let damaged = |line: usize, reason: String| CorpusError::Line { file: LEFT_OUT_FILE.to_owned(), line, reason };
    let file = File::open(dir.join(LEFT_OUT_FILE)).map_err(|error| damaged(1, error.to_string()))?;
    let read = |(number, line): (usize, io::Result<Vec<u8>>)| {
        let line = line.map_err(|error| damaged(number, error.to_string()))?;
        let found: NoPage =
            serde_json::from_slice(&line).map_err(|error| damaged(number, json_error::in_line(&error)))?;
        Ok(found.into())
    };
    (1..).zip(lines(BufReader::new(file))).map(read).collect()
}

/// What is built beside the articles, and said of them.
#[derive(Debug, Clone)]
pub struct Frozen {
    /// Where the pages are from.
    pub facts: Freeze,
    /// Under which terms they may be used.
    pub license: License,
    /// Searches, and what the site answered.
    pub searches: BTreeMap<String, SearchAnswer>,
    /// Titles without a page.
    pub left_out: BTreeSet<(LeftOut, String)>,
}

impl Frozen {
    pub(super) fn write(&self, dir: &Path) -> io::Result<()> {
        if !self.searches.is_empty() {
            write_searches(dir, &self.searches)?;
        }
        if self.left_out.is_empty() {
            return Ok(());
        }
        let mut file = BufWriter::new(File::create_new(dir.join(LEFT_OUT_FILE))?);
        for left_out in &self.left_out {
            serde_json::to_writer(&mut file, &NoPage::from(left_out.clone()))?;
            file.write_all(b"\n")?;
        }
        file.into_inner()?.sync_all()
    }
}

// Searches that were frozen with a corpus: what the site answered to each.

/// What a site answered to a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchAnswer {
    /// The page of this title.
    Page(String),
    /// No page, but these titles, as the site words them; none if it found nothing.
    Titles(Vec<String>),
}

/// A line.
#[derive(Serialize, Deserialize)]
pub(super) struct SearchLine {
    query: String,
    #[serde(flatten)]
    answer: SearchAnswer,
}

impl From<(String, SearchAnswer)> for SearchLine {
    fn from((query, answer): (String, SearchAnswer)) -> Self {
        Self { query, answer }
    }
}

impl From<SearchLine> for (String, SearchAnswer) {
    fn from(line: SearchLine) -> Self {
        (line.query, line.answer)
    }
}

/// Searches by their words, without spaces around them.
pub(super) type FrozenSearches = HashMap<String, SearchAnswer>;

/// The searches of a corpus, if it has any.
pub(super) fn read_searches(dir: &Path, manifest: &Manifest) -> Result<FrozenSearches, CorpusError> {
    if !manifest.files.contains_key(SEARCHES_FILE) {
        return Ok(FrozenSearches::new());
    }
    let damaged = |line: usize, reason: String| CorpusError::Line { file: SEARCHES_FILE.to_owned(), line, reason };
    let file = File::open(dir.join(SEARCHES_FILE)).map_err(|error| damaged(1, error.to_string()))?;
    let mut queries = FrozenSearches::new();
    for (number, line) in (1..).zip(lines(BufReader::new(file))) {
        let line = line.map_err(|error| damaged(number, error.to_string()))?;
        let SearchLine { query, answer } =
            serde_json::from_slice(&line).map_err(|error| damaged(number, json_error::in_line(&error)))?;
        queries.insert(query, answer);
    }
    Ok(queries)
}

/// Writes the searches in the order of their words.
pub(super) fn write_searches(dir: &Path, queries: &BTreeMap<String, SearchAnswer>) -> io::Result<()> {
    let mut file = io::BufWriter::new(File::create_new(dir.join(SEARCHES_FILE))?);
    for (query, answer) in queries {
        serde_json::to_writer(&mut file, &SearchLine { query: query.clone(), answer: answer.clone() })?;
        file.write_all(b"\n")?;
    }
    file.into_inner()?.sync_all()
}

/// The title in the heading of a hit: what follows says which redirect, category or section was found.
pub fn title_of(heading: &str) -> &str {
    let end = heading.find(" (redirect from ").into_iter().chain(heading.find("  ")).min();
    &heading[..end.unwrap_or(heading.len())]
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
