//! Searches that were frozen with a corpus: what the site answered to each.

use super::CorpusError;
use super::manifest::Manifest;
use crate::types::bounded::lines;
use crate::types::json_error;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;

/// The file of frozen searches.
pub(super) const SEARCHES_FILE: &str = "queries.jsonl";

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
