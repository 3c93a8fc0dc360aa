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
pub(super) const FILE: &str = "queries.jsonl";

/// What a site answered to a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The page of this title.
    Page(String),
    /// No page, but these titles, as the site words them; none if it found nothing.
    Titles(Vec<String>),
}

/// A line.
#[derive(Serialize, Deserialize)]
pub(super) struct Line {
    query: String,
    #[serde(flatten)]
    answer: Answer,
}

impl From<(String, Answer)> for Line {
    fn from((query, answer): (String, Answer)) -> Self {
        Self { query, answer }
    }
}

impl From<Line> for (String, Answer) {
    fn from(line: Line) -> Self {
        (line.query, line.answer)
    }
}

/// Searches by their words, without spaces around them.
pub(super) type Queries = HashMap<String, Answer>;

/// The searches of a corpus, if it has any.
pub(super) fn open(dir: &Path, manifest: &Manifest) -> Result<Queries, CorpusError> {
    if !manifest.files.contains_key(FILE) {
        return Ok(Queries::new());
    }
    let damaged = |line: usize, reason: String| CorpusError::Line { file: FILE.to_owned(), line, reason };
    let file = File::open(dir.join(FILE)).map_err(|error| damaged(1, error.to_string()))?;
    let mut queries = Queries::new();
    for (number, line) in (1..).zip(lines(BufReader::new(file))) {
        let line = line.map_err(|error| damaged(number, error.to_string()))?;
        let Line { query, answer } =
            serde_json::from_slice(&line).map_err(|error| damaged(number, json_error::in_line(&error)))?;
        queries.insert(query, answer);
    }
    Ok(queries)
}

/// Writes the searches in the order of their words.
pub(super) fn write(dir: &Path, queries: &BTreeMap<String, Answer>) -> io::Result<()> {
    let mut file = io::BufWriter::new(File::create_new(dir.join(FILE))?);
    for (query, answer) in queries {
        serde_json::to_writer(&mut file, &Line { query: query.clone(), answer: answer.clone() })?;
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
