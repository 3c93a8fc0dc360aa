//! Figures of a run beside published ones: one table per dataset and metric, one row per method.

use super::console::percent;
use super::sheet::{Block, Cell, Grid, Heading, Key, Row, Sheet, headings};
use super::summary::{LEVEL, em_interval, f1_interval};
use crate::base::stats::Interval;
use crate::scoring::RunScore;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PublishedComparison {
    pub dataset: String,
    /// Which questions of the dataset were run, for the title.
    pub about: String,
    /// The metric: `em`, `accuracy` or `f1`.
    pub metric: &'static str,
    /// Names of the published systems, one per column.
    pub sources: Vec<String>,
    pub rows: Vec<Ours>,
}

/// A row: our figure, and the published ones for the same method.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ours {
    pub cell: String,
    /// Our mean, 0 to 1; absent if nothing was measured.
    pub mean: Option<f64>,
    /// Its interval, 0 to 1.
    pub interval: Option<Interval>,
    /// Questions in the mean.
    pub n: u64,
    /// Episodes that were not measured; they are left out of the mean.
    pub not_measured: u64,
    /// Published figures in per cent, one per source.
    pub published: Vec<Option<f64>>,
}

/// Where a published figure lies relative to our interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Below,
    /// In our interval or at one of its ends.
    Inside,
    Above,
}

/// A figure in per cent as a share: the nearest number to the printed decimal, which a division by 100 may miss.
pub(crate) fn share(percent: f64) -> f64 {
    format!("{percent}e-2").parse().unwrap_or(percent / 100.0)
}

impl Place {
    /// Where a figure in per cent lies.
    pub(crate) fn of(percent: f64, interval: Interval) -> Self {
        let share = share(percent);
        if share < interval.low {
            Self::Below
        } else if share > interval.high {
            Self::Above
        } else {
            Self::Inside
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Below => "below",
            Self::Inside => "inside",
            Self::Above => "above",
        }
    }
}

impl Ours {
    /// The row of a variant with this score; with `f1`, its F1 instead of its EM.
    pub(crate) fn of(cell: &str, score: &RunScore, f1: bool, published: Vec<Option<f64>>) -> Self {
        let (mean, interval) = if f1 { (score.f1, f1_interval(score)) } else { (score.em, em_interval(score)) };
        Self {
            cell: cell.to_owned(),
            mean,
            interval,
            n: score.questions.map_or(score.scored, |questions| questions.n),
            not_measured: score.not_measured + score.budget,
            published,
        }
    }

    /// Where the figure of a source lies, if both exist.
    pub(crate) fn place(&self, source: usize) -> Option<Place> {
        let percent = self.published.get(source).copied().flatten()?;
        Some(Place::of(percent, self.interval?))
    }
}

/// The report: all tables, and notes on reading them.
pub(crate) fn sheet(title: String, tables: &[PublishedComparison], notes: Vec<String>) -> Sheet {
    let mut blocks: Vec<Block> = tables.iter().map(|table| Block::Table(grid(table))).collect();
    if tables.iter().any(|table| !table.sources.is_empty()) {
        let line = format!(
            "below, inside, above: the published figure relative to our {} % interval, which covers our sample of questions only",
            LEVEL * 100.0
        );
        blocks.push(Block::Lines { title: String::new(), lines: vec![line] });
    }
    if !notes.is_empty() {
        blocks.push(Block::Lines { title: "notes".to_owned(), lines: notes });
    }
    Sheet { title, blocks }
}

fn grid(table: &PublishedComparison) -> Grid {
    // The title has the whole word, and the columns have to fit.
    let metric = if table.metric == "accuracy" { "acc." } else { label(table.metric) };
    let mut header = headings("method", &[metric, &format!("{} %", LEVEL * 100.0), "n"]);
    header.extend(table.sources.iter().map(Heading::numbers));
    let not_measured = table.rows.iter().any(|row| row.not_measured > 0);
    if not_measured {
        header.push(Heading::numbers("not measured"));
    }
    let rows = table.rows.iter().map(|row| {
        let mut cells = vec![
            Cell::text(&row.cell),
            row.mean.map_or_else(Cell::nothing, |mean| Cell::figure("mean", mean, percent(mean))),
            row.interval.map_or_else(Cell::nothing, interval),
            Cell::count("n", row.n),
        ];
        cells.extend((0..table.sources.len()).map(|source| published(row, source)));
        if not_measured {
            cells.push(Cell::count("not_measured", row.not_measured));
        }
        let (metric, group) = (table.metric.to_owned(), table.dataset.clone());
        let key = Key { metric, group, a: row.cell.clone(), ..Key::default() };
        Row { key, cells }
    });
    Grid {
        id: "reproduction",
        title: format!("{}, {} in per cent; {}", table.dataset, label(table.metric), table.about),
        header,
        rows: rows.collect(),
    }
}

fn label(metric: &'static str) -> &'static str {
    match metric {
        "em" => "EM",
        "f1" => "F1",
        other => other,
    }
}

fn interval(interval: Interval) -> Cell {
    let Interval { low, high } = interval;
    Cell { text: format!("{} to {}", percent(low), percent(high)), figures: vec![("low", low), ("high", high)] }
}

fn published(row: &Ours, source: usize) -> Cell {
    let Some(percent) = row.published.get(source).copied().flatten() else { return Cell::nothing() };
    let place = row.place(source).map_or("", Place::name);
    Cell::figure("published", share(percent), format!("{percent:.1} {place}").trim_end())
}

#[cfg(test)]
mod tests {
    use super::{Place, share};
    use crate::base::stats::Interval;

    #[test]
    fn the_ends_of_an_interval_belong_to_it() {
        let interval = Interval { low: 0.25, high: 0.5 };
        let places = [24.9, 25.0, 30.0, 50.0, 50.1].map(|percent| Place::of(percent, interval).name());
        assert_eq!(places, ["below", "inside", "inside", "inside", "above"]);
    }

    #[test]
    fn a_share_is_what_was_printed() {
        assert_eq!([33.4, 0.0, 100.0, 57.1].map(share).map(f64::to_bits), [0.334, 0.0, 1.0, 0.571].map(f64::to_bits));
    }
}
