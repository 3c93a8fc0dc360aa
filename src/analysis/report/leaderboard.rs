//! Variants of many runs as a list: what each was, what it scored, and which of them are tied.

use super::sheet::{Block, Cell, Grid, Heading, Key, Row, Sheet};
use crate::analysis::compare::verdict::value;
use crate::analysis::compare::{Unit, VariantMean};
use crate::analysis::results::{Group, Origin, Results, Source, Standing};
use crate::base::manifest::empty_as_null;
use crate::base::text::counted;
use crate::base::{Notes, Stopping};
use crate::scoring::{Metric, figure};
use serde::Serialize;
use std::collections::HashSet;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Entry {
    /// Its unique name among those listed.
    pub(crate) name: String,
    /// The run as `show` and `compare` take it.
    pub(crate) run: String,
    pub(crate) path: String,
    /// Its name in the run.
    #[serde(skip)]
    pub(crate) variant: String,
    /// When the run began, RFC 3339 in UTC; `null` where another program did not say it.
    #[serde(serialize_with = "empty_as_null")]
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
    /// Its own questions, over which EM is the mean.
    pub(crate) n: usize,
    /// Whether EM is an accuracy.
    #[serde(skip)]
    pub(crate) accuracy: bool,
    /// The mean itself, for a chart.
    #[serde(skip)]
    pub(crate) own: Option<VariantMean>,
    pub(crate) em: Option<f64>,
    /// The ends of its 95 % interval.
    pub(crate) em_interval: Option<[f64; 2]>,
    /// 1 + the number of variants that are distinguishably better, each pair compared on its shared questions.
    pub(crate) rank: Option<usize>,
    pub(crate) tied_with: Vec<String>,
    /// What all its measured episodes cost, in US dollars.
    pub(crate) cost_usd: Option<f64>,
    /// What the rule of its run has found, where that may stop by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stopping: Option<Stopping>,
    pub(crate) tags: Vec<String>,
    pub(crate) note: String,
}

/// The variants of each group, the best first.
pub(crate) fn entries(results: &Results, notes: impl Fn(&Source) -> Notes) -> Vec<Vec<Entry>> {
    let of = |group: &Group| {
        let variants = group.sources.iter().zip(&group.names).zip(&group.standings);
        let stopping = |name: &String| group.stopped.iter().find(|run| run.variants.contains(name))?.found.clone();
        let entry = |((source, name), standing): ((&Source, &String), &Standing)| {
            Some(Entry { stopping: stopping(name), ..entry(source, name, standing, notes(source))? })
        };
        variants.filter_map(entry).collect()
    };
    results.groups.iter().map(of).collect()
}

fn entry(source: &Source, name: &str, standing: &Standing, Notes { tags, note, .. }: Notes) -> Option<Entry> {
    let Origin { variant, manifest, .. } = source.origin.as_ref()?;
    let gold = source.episodes.iter().find_map(|episode| episode.gold.clone());
    let costs = source.values(&figure::COST_USD);
    Some(Entry {
        name: name.to_owned(),
        run: source.typed(),
        path: source.run.path.display().to_string(),
        variant: variant.name.clone(),
        started_at: manifest.started_at.clone(),
        dataset: manifest.dataset.name.clone(),
        model: variant.model.clone(),
        method: variant.method.clone(),
        protocol: variant.protocol.clone(),
        prompt: variant.prompt.clone(),
        wiki: variant.wiki.clone(),
        episodes: source.episodes.len(),
        planned: manifest.planned(variant),
        n: standing.n,
        accuracy: gold.is_some_and(|gold| Metric::for_answers(&manifest.dataset.name, &[gold]).is_accuracy()),
        own: standing.own.clone(),
        em: standing.own.as_ref().and_then(|own| own.mean),
        em_interval: standing.own.as_ref().and_then(|own| own.interval).map(|of| [of.low, of.high]),
        rank: standing.rank,
        tied_with: standing.tied_with.clone(),
        cost_usd: costs.clone().next().map(|first| first + costs.skip(1).sum::<f64>()),
        stopping: None,
        tags,
        note,
    })
}

/// The list for a terminal, a table for each group of variants that share questions.
pub(crate) fn sheet(groups: &[Vec<Entry>]) -> Sheet {
    let all: usize = groups.iter().map(Vec::len).sum();
    let blocks = groups.iter().filter(|entries| !entries.is_empty()).flat_map(|entries| {
        let title = format!("{}, EM of each one's own questions", entries[0].dataset);
        // A note is about the run, and its variants have lines of their own.
        let mut known = HashSet::new();
        let noted: Vec<String> = entries
            .iter()
            .filter(|entry| !entry.note.is_empty() && known.insert(&entry.path))
            .map(|entry| format!("{}: {}", entry.path, entry.note))
            .collect();
        let mut ruled = HashSet::new();
        let stopped = entries.iter().filter_map(|entry| Some((entry, entry.stopping.as_ref()?)));
        let stopped = stopped.filter(|(entry, _)| ruled.insert(&entry.path));
        let stopped =
            stopped.map(|(entry, found)| format!("{}: {}", entry.path, found.sentence(&found.rule.a, &found.rule.b)));
        let noted: Vec<String> = stopped.chain(noted).collect();
        let below = (!noted.is_empty()).then(|| Block::Lines { title: "notes".to_owned(), lines: noted });
        std::iter::once(Block::Table(grid(title, entries))).chain(below)
    });
    Sheet { title: counted(all, "variant"), blocks: blocks.collect() }
}

fn grid(title: String, entries: &[Entry]) -> Grid {
    let priced = entries.iter().any(|entry| entry.cost_usd.is_some());
    let tagged = entries.iter().any(|entry| !entry.tags.is_empty());
    let mut header = vec![Heading::words("run"), Heading::numbers("EM % [95 %]"), Heading::numbers("rank")];
    header.extend(priced.then(|| Heading::numbers("USD")));
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
