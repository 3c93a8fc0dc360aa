//! Variants of many runs as a list: what each was, what it scored, and which of them are tied.

use super::page::rank;
use super::sheet::{Block, Cell, Grid, Heading, Key, Row, Sheet};
use crate::compare::Unit;
use crate::compare::number::value;
use crate::graded::{Group, Origin, Results, Source};
use crate::score::figure;
use crate::types::Notes;
use crate::types::text::counted;
use serde::Serialize;

/// One variant of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Entry {
    /// Its unique name among those listed.
    pub(crate) name: String,
    /// The run as `show` and `compare` take it.
    pub(crate) run: String,
    /// The run's folder.
    pub(crate) path: String,
    /// When the run began, RFC 3339 in UTC.
    pub(crate) started_at: String,
    pub(crate) dataset: String,
    pub(crate) model: String,
    pub(crate) method: String,
    pub(crate) protocol: String,
    pub(crate) prompt: String,
    pub(crate) wiki: String,
    /// Recorded and planned episodes.
    pub(crate) episodes: usize,
    pub(crate) planned: usize,
    /// Questions over which EM is the mean: those that all variants of the group measured.
    pub(crate) n: usize,
    pub(crate) em: Option<f64>,
    /// The ends of its 95 % interval.
    pub(crate) em_interval: Option<[f64; 2]>,
    /// 1 + the number of variants of the group that are distinguishably better.
    pub(crate) rank: Option<usize>,
    /// Names of the variants of the group that are not distinguishable from it.
    pub(crate) tied_with: Vec<String>,
    /// What all its measured episodes cost, in US dollars.
    pub(crate) cost_usd: Option<f64>,
    pub(crate) tags: Vec<String>,
    pub(crate) note: String,
}

/// The variants of each group, the best first.
pub(crate) fn entries(results: &Results, notes: impl Fn(&Source) -> Notes) -> Vec<Vec<Entry>> {
    let of = |group: &Group| {
        let variants = group.sources.iter().zip(&group.names);
        variants.filter_map(|(source, name)| entry(group, source, name, notes(source))).collect()
    };
    results.groups.iter().map(of).collect()
}

fn entry(group: &Group, source: &Source, name: &str, Notes { tags, note, .. }: Notes) -> Option<Entry> {
    let Origin { variant, manifest, .. } = source.origin.as_ref()?;
    let em = group.comparison.as_ref().ok().and_then(|comparison| comparison.figure("em"));
    let mean = em.and_then(|em| em.mean(name));
    let tied = |em: &crate::compare::FigureComparison| {
        let pairs = em.pairs.iter().filter(|pair| !pair.verdict.distinguishable && (pair.a == name || pair.b == name));
        pairs.map(|pair| if pair.a == name { pair.b.clone() } else { pair.a.clone() }).collect()
    };
    let costs = source.values(&figure::COST_USD);
    Some(Entry {
        name: name.to_owned(),
        run: source.typed(),
        path: source.run.path.display().to_string(),
        started_at: manifest.started_at.clone(),
        dataset: manifest.dataset.name.clone(),
        model: variant.model.clone(),
        method: variant.method.clone(),
        protocol: variant.protocol.clone(),
        prompt: variant.prompt.clone(),
        wiki: variant.wiki.clone(),
        episodes: source.episodes.len(),
        planned: manifest.dataset.selected * manifest.repeats as usize,
        n: em.map_or(0, |em| em.n),
        em: mean.and_then(|mean| mean.mean),
        em_interval: mean.and_then(|mean| mean.interval).map(|of| [of.low, of.high]),
        rank: em.map(|em| rank(em, name)),
        tied_with: em.map_or_else(Vec::new, tied),
        cost_usd: costs.clone().next().map(|first| first + costs.skip(1).sum::<f64>()),
        tags,
        note,
    })
}

/// The list for a terminal, a table for each group of variants that share questions.
pub(crate) fn sheet(groups: &[Vec<Entry>]) -> Sheet {
    let all: usize = groups.iter().map(Vec::len).sum();
    let blocks = groups.iter().filter(|entries| !entries.is_empty()).flat_map(|entries| {
        let n = entries.iter().map(|entry| entry.n).max().unwrap_or_default();
        let shared = counted(n, "question");
        let title = format!("{}, EM on the {shared} that all of these measured", entries[0].dataset);
        let noted: Vec<String> = entries
            .iter()
            .filter(|entry| !entry.note.is_empty())
            .map(|entry| format!("{}: {}", entry.name, entry.note))
            .collect();
        let below = (!noted.is_empty()).then(|| Block::Lines { title: "notes".to_owned(), lines: noted });
        std::iter::once(Block::Table(grid(title, entries))).chain(below)
    });
    Sheet { title: counted(all, "variant"), blocks: blocks.collect() }
}

fn grid(title: String, entries: &[Entry]) -> Grid {
    let priced = entries.iter().any(|entry| entry.cost_usd.is_some());
    let tagged = entries.iter().any(|entry| !entry.tags.is_empty());
    let mut header = vec![Heading::words("run"), Heading::numbers("EM % [95 %]"), Heading::numbers("rank")];
    header.extend(priced.then(|| Heading::numbers("US $")));
    header.extend(["begun", "model", "episodes"].map(Heading::words));
    header.extend(tagged.then(|| Heading::words("tags")));
    let row = |entry: &Entry| {
        let mut cells = vec![
            Cell::text(&entry.run),
            Cell::text(em(entry)),
            entry.rank.map_or_else(Cell::nothing, |rank| Cell::count("rank", rank)),
        ];
        cells
            .extend(priced.then(|| Cell::text(entry.cost_usd.map_or_else(|| "–".into(), |cost| format!("{cost:.4}")))));
        cells.push(Cell::text(entry.started_at.chars().take(10).collect::<String>()));
        cells.push(Cell::text(&entry.model));
        cells.push(Cell::text(match entry.episodes {
            n if n < entry.planned => format!("{n} of {}", entry.planned),
            n => n.to_string(),
        }));
        cells.extend(tagged.then(|| Cell::text(entry.tags.join(", "))));
        Row { key: Key { a: entry.name.clone(), ..Key::default() }, cells }
    };
    Grid { id: "runs", title, header, rows: entries.iter().map(row).collect() }
}

fn em(entry: &Entry) -> String {
    let shown = |share: f64| value(Unit::Share, share);
    let ends = entry.em_interval.map(|[low, high]| format!(" [{}, {}]", shown(low), shown(high)));
    entry.em.map_or_else(|| "–".to_owned(), |em| shown(em) + &ends.unwrap_or_default())
}
