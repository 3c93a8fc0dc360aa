//! The page: one file that shows what runs did, without a request to anywhere.
//!
//! Every figure is computed here and written as HTML, SVG or JSON. `page.css` and the scripts only show.

mod charts;
mod data;
mod document;
mod html;
#[cfg(feature = "serve")]
mod index;
mod sections;
mod verdict;

use crate::analysis::compare::Comparison;
use crate::analysis::report::progress::Bar;
use crate::analysis::results::Results;
use crate::runner::RunError;
pub(crate) use charts::is_figure;
use data::{Chunks, QuestionRow, rows};
use jiff::Timestamp;
use sections::PageGroup;
use serde::Serialize;
#[cfg(feature = "serve")]
pub(crate) use {
    html::encoded,
    index::{Listing, index, unknown_address},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Episodes {
    /// All, as far as they fit.
    #[default]
    All,
    /// Those of questions that a variant gets wrong, or did not measure.
    Wrong,
    /// Those of questions on which variants differ.
    Flips,
    None,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) episodes: Episodes,
    /// Bytes of packed episodes at most.
    pub(crate) most: u64,
}

/// What a page that `view` serves can do beside showing.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Live {
    #[serde(skip)]
    pub(crate) name: String,
    /// Empty where judgements are not taken.
    pub(crate) token: String,
    pub(crate) annotations: String,
    /// The address at which the run is followed; empty where it has ended.
    pub(crate) events: String,
    /// What tells the records that the page shows from later ones.
    pub(crate) version: String,
    #[serde(skip)]
    pub(crate) stopped: Option<Stopped>,
}

/// A run that was interrupted or killed.
#[derive(Debug, Clone)]
pub(crate) struct Stopped {
    pub(crate) path: String,
    /// Episodes recorded, and planned.
    pub(crate) done: usize,
    pub(crate) total: usize,
    /// When something was last recorded.
    pub(crate) at: Option<Timestamp>,
    /// The command that goes on with it; absent where that is not `wikitrail run`.
    pub(crate) resume: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) html: String,
    pub(crate) questions: usize,
    /// Questions whose episodes did not fit.
    pub(crate) left_out: usize,
}

pub(crate) fn page(results: &Results, limits: &Limits, live: Option<&Live>, bar: &Bar) -> Result<Page, RunError> {
    let rows = rows(results);
    let chunks = chosen(results, &rows, limits, bar)?;
    let (table, digest) = data::question_table(results, &rows, &chunks)?;
    let repeats = rows.iter().flat_map(|row| &row.episodes).map(Vec::len).max().unwrap_or_default();
    let meta = data::metadata(results, &digest, repeats, &chunks, live)?;
    let content = document::Content { results, rows: &rows, limits, live, meta: &meta, table: &table, chunks: &chunks };
    Ok(Page { html: content.document(), questions: rows.len(), left_out: chunks.left_out() })
}

/// Whether a file that begins like this is a page of ours.
pub(crate) fn is_page(start: &str) -> bool {
    start.starts_with("<!doctype html>\n<html lang=\"en\"><head>") && start.contains(" – wikitrail</title>")
}

/// The charts of these results as files: their names and contents.
pub(crate) fn figures(results: &Results) -> Vec<(String, String)> {
    let several = results.groups.len() > 1;
    let files = results.groups.iter().zip(1..).flat_map(|(group, number)| {
        let em = group.comparison.as_ref().ok().and_then(|comparison: &Comparison| comparison.figure("em"));
        let files = em.map(|em| charts::files(em, group)).unwrap_or_default();
        let suffix = if several { format!("-{number}") } else { String::new() };
        files.into_iter().map(move |(name, text)| (format!("{name}{suffix}.svg"), text))
    });
    files.collect()
}

/// The episodes that the page has: in the order of the dataset if they fit, else the most telling ones first.
fn chosen(results: &Results, rows: &[QuestionRow<'_>], limits: &Limits, bar: &Bar) -> Result<Chunks, RunError> {
    let wanted = |row: &QuestionRow<'_>| match limits.episodes {
        Episodes::All => true,
        Episodes::Wrong => !is_right(row),
        Episodes::Flips => row.differs(),
        Episodes::None => false,
    };
    let mut order: Vec<usize> = (0..rows.len()).filter(|at| wanted(&rows[*at])).collect();
    let all = order.len();
    let chunks = Chunks::of(results, rows, &order, (limits.most, true), bar)?;
    if chunks.left_out() == rows.len() - all {
        return Ok(chunks);
    }
    order.sort_by_cached_key(|at| {
        let row = &rows[*at];
        let rank = if row.differs() { 0 } else { 1 + u8::from(is_right(row)) };
        // Right ones in an order that says nothing about them.
        let drawn = if rank == 2 { crate::base::sha256_hex([row.id.as_bytes()]) } else { String::new() };
        (rank, drawn)
    });
    Chunks::of(results, rows, &order, (limits.most, false), bar)
}

/// Whether every variant that was asked is right.
fn is_right(row: &QuestionRow<'_>) -> bool {
    (0..row.episodes.len()).all(|at| row.episodes[at].is_empty() || row.right(at) == Some(true))
}

/// The parts of the page, one for each group of variants that share questions.
fn parts<'a>(results: &'a Results, rows: &'a [QuestionRow<'a>]) -> Vec<PageGroup<'a>> {
    let mut first = 0;
    let named = results.groups.len() > 1;
    let part = |(at, group): (usize, &'a crate::analysis::results::Group)| {
        let others = || results.groups.iter().enumerate().filter(|(other, _)| *other != at);
        let is_ambiguous = others().any(|(_, other)| other.dataset() == group.dataset());
        let part = PageGroup { group, rows, first, at, named, is_ambiguous };
        first += group.sources.len();
        part
    };
    results.groups.iter().enumerate().map(part).collect()
}
