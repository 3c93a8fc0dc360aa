//! Variants of many runs as a list: what each was, what it scored, and which of them are tied.

use super::console::dash;
use super::sheet::{Block, Cell, Columns, Grid, Heading, Key, Sheet};
use crate::analysis::compare::verdict::value;
use crate::analysis::compare::{Unit, VariantMean};
use crate::analysis::results::{Group, Origin, Results, Source};
use crate::base::manifest::empty_as_null;
use crate::base::text::{counted, joined};
use crate::base::{Notes, Stopping};
use crate::scoring::figure;
use serde::Serialize;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Entry {
    /// Its unique name among those listed.
    pub(crate) name: String,
    /// The run as `show` and `compare` take it.
    pub(crate) run: String,
    /// The same with the variant's short name.
    #[serde(skip)]
    pub(crate) short: String,
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
    /// Recorded episodes that were not measured.
    pub(crate) not_measured: usize,
    /// What `em` is called: an accuracy where answers are labels.
    #[serde(skip)]
    pub(crate) label: String,
    /// Over how many pairs p is corrected for the rank; absent for one pair or none.
    #[serde(skip)]
    pub(crate) correction: Option<String>,
    /// Its own questions, over which EM is the mean.
    pub(crate) n: usize,
    /// The mean itself, for a chart.
    #[serde(skip)]
    pub(crate) own: Option<VariantMean>,
    pub(crate) em: Option<f64>,
    /// The ends of its 95 % interval.
    pub(crate) em_interval: Option<[f64; 2]>,
    /// 1 + the number of variants that are distinguishably better, each pair compared on its shared questions.
    pub(crate) rank: Option<usize>,
    pub(crate) tied_with: Vec<String>,
    /// What all its measured episodes cost, in US dollars; absent where that of some is unknown.
    pub(crate) cost_usd: Option<f64>,
    /// What the rule of its run has found, where that may stop by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stopping: Option<Stopping>,
    pub(crate) tags: Vec<String>,
    pub(crate) note: String,
}

impl Entry {
    fn measured(&self) -> usize {
        self.episodes - self.not_measured
    }
}

/// The variants of each group, the best first.
pub(crate) fn entries(results: &Results, notes: impl Fn(&Source) -> Notes) -> Vec<Vec<Entry>> {
    let of = |group: &Group| {
        let entry = |at: usize| entry(group, at, notes(&group.sources[at]));
        (0..group.sources.len()).filter_map(entry).collect()
    };
    results.groups.iter().map(of).collect()
}

/// `p corrected over 105 pairs of 15 variants`
pub(super) fn correction(pairs: usize, variants: usize) -> Option<String> {
    (pairs > 1).then(|| format!("p corrected over {} of {}", counted(pairs, "pair"), counted(variants, "variant")))
}

fn entry(group: &Group, at: usize, Notes { tags, note, .. }: Notes) -> Option<Entry> {
    let (source, name, standing) = (&group.sources[at], &group.names[at], &group.standings[at]);
    let stopped = group.stopped.iter().find(|run| run.variants.contains(name));
    let Origin { variant, manifest, .. } = source.origin.as_ref()?;
    let costs: Vec<f64> = source.values(&figure::COST_USD).collect();
    let measured = source.episodes.iter().filter(|episode| episode.item.measured).count();
    let run = source.typed();
    let short_name = manifest.short_names().of_name(&variant.name).to_owned();
    let short = run.strip_suffix(&format!("@{}", variant.name)).map(|path| format!("{path}@{short_name}"));
    Some(Entry {
        name: name.clone(),
        short: short.unwrap_or_else(|| run.clone()),
        run,
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
        not_measured: source.episodes.len() - measured,
        label: group.score.label().to_owned(),
        correction: correction(standing.pairs, group.sources.len()),
        n: standing.n,
        own: standing.own.clone(),
        em: standing.own.as_ref().and_then(|own| own.mean),
        em_interval: standing.own.as_ref().and_then(|own| own.interval).map(|of| [of.low, of.high]),
        rank: standing.rank,
        tied_with: standing.tied_with.clone(),
        cost_usd: (measured > 0 && costs.len() == measured).then(|| costs.iter().sum()),
        stopping: stopped.and_then(|run| run.found.clone()),
        tags,
        note,
    })
}

/// The list for a terminal, a table for each group of variants that share questions.
pub(crate) fn sheet(groups: &[Vec<Entry>]) -> Sheet {
    let all: usize = groups.iter().map(Vec::len).sum();
    let blocks = groups.iter().filter(|entries| !entries.is_empty()).flat_map(|entries| {
        let correction = entries[0].correction.as_ref().map(|of| format!("; rank: {of}")).unwrap_or_default();
        // Of different files that use the same ids, neither is the dataset.
        let datasets: BTreeSet<&str> = entries.iter().map(|entry| entry.dataset.as_str()).collect();
        let datasets = joined(datasets, " and ").unwrap_or_default();
        let title = format!("{datasets}, {} over each variant's own questions{correction}", entries[0].label);
        let common = Common::of(entries);
        // A note is about the run, and its variants have lines of their own.
        let mut known = HashSet::new();
        let noted: Vec<String> = entries
            .iter()
            .filter(|entry| !entry.note.is_empty() && known.insert(&entry.path))
            .map(|entry| format!("{}: {}", common.below_folder(&entry.path), entry.note))
            .collect();
        let mut ruled = HashSet::new();
        let stopped = entries.iter().filter_map(|entry| Some((entry, entry.stopping.as_ref()?)));
        let stopped = stopped.filter(|(entry, _)| ruled.insert(&entry.path));
        let stopped = stopped.map(|(entry, found)| {
            let metric = figure::label(&found.rule.metric, entry.label == "accuracy");
            format!("{}: {}", common.below_folder(&entry.path), found.sentence(&found.rule.a, &found.rule.b, metric))
        });
        let noted: Vec<String> = stopped.chain(noted).collect();
        let below = Block::lines("notes", noted);
        let above = Block::lines("", common.line().into_iter().collect());
        above.into_iter().chain([Block::Table(grid(title, entries, &common))]).chain(below)
    });
    Sheet { title: counted(all, "variant"), blocks: blocks.collect() }
}

/// What all rows of a table have in common; nothing of a single row.
#[derive(Default)]
struct Common<'a> {
    /// The folder of all runs, with the slash at its end.
    folder: String,
    day: Option<&'a str>,
    model: Option<&'a str>,
    episodes: Option<usize>,
}

impl<'a> Common<'a> {
    fn of(entries: &'a [Entry]) -> Self {
        let [first, others @ ..] = entries else { return Self::default() };
        if others.is_empty() {
            return Self::default();
        }
        let all = |has: &dyn Fn(&Entry) -> bool| entries.iter().all(has);
        let folders = Path::new(&first.path).ancestors().skip(1);
        let folder =
            folders.map(Path::to_owned).find(|folder| all(&|entry| Path::new(&entry.path).starts_with(folder)));
        let folder = folder.filter(|folder| folder.file_name().is_some());
        let (day, planned) = (day(first), first.planned);
        Self {
            folder: folder.map(|folder| format!("{}/", folder.display())).unwrap_or_default(),
            day: day.filter(|day| all(&|entry| self::day(entry) == Some(*day))),
            model: Some(first.model.as_str()).filter(|model| all(&|entry| entry.model == *model)),
            episodes: Some(planned).filter(|n| all(&|entry| entry.planned == *n && entry.measured() == *n)),
        }
    }

    fn below_folder<'t>(&self, path: &'t str) -> &'t str {
        path.strip_prefix(&self.folder).unwrap_or(path)
    }

    /// `in results/, 2026-11-23 (UTC), model baseline, 60 episodes each`
    fn line(&self) -> Option<String> {
        let folder = (!self.folder.is_empty()).then(|| format!("in {}", self.folder));
        let day = self.day.map(|day| format!("{day} (UTC)"));
        let model = self.model.map(|model| format!("model {model}"));
        let episodes = self.episodes.map(|n| format!("{} each", counted(n, "episode")));
        joined([folder, day, model, episodes].into_iter().flatten(), ", ")
    }
}

fn day(entry: &Entry) -> Option<&str> {
    entry.started_at.get(..10)
}

fn grid(title: String, entries: &[Entry], common: &Common<'_>) -> Grid {
    let priced = entries.iter().any(|entry| entry.cost_usd.is_some());
    let tagged = entries.iter().any(|entry| !entry.tags.is_empty());
    let begun = |entry: &Entry| {
        let time = entry.started_at.get(11..16).unwrap_or("–");
        let day = day(entry).filter(|_| common.day.is_none());
        Cell::text(day.map_or_else(|| time.to_owned(), |day| format!("{day} {time}")))
    };
    let episodes = |entry: &Entry| match (entry.episodes, entry.not_measured) {
        (_, 1..) => format!("{} of {} measured", entry.measured(), entry.planned),
        (n, _) if n < entry.planned => format!("{n} of {}", entry.planned),
        (n, _) => n.to_string(),
    };
    let columns = Columns::of("run", |entry: &Entry| Cell::text(common.below_folder(&entry.short)))
        .numbers(format!("{} % [95 %]", entries[0].label), |entry| Cell::text(em(entry)))
        .numbers("rank", |entry| entry.rank.map_or_else(Cell::nothing, |rank| Cell::count("rank", rank)))
        .only_if(priced, Heading::numbers("USD"), |entry| {
            Cell::text(entry.cost_usd.map_or_else(dash, |cost| format!("{cost:.4}")))
        })
        .words(if common.day.is_some() { "begun" } else { "begun (UTC)" }, begun)
        .only_if(common.model.is_none(), Heading::words("model"), |entry| Cell::text(&entry.model))
        .only_if(common.episodes.is_none(), Heading::words("episodes"), |entry| Cell::text(episodes(entry)))
        .only_if(tagged, Heading::words("tags"), |entry| Cell::text(entry.tags.join(", ")));
    columns.grid("runs", title, entries, |entry| Key::of("", &entry.name))
}

fn em(entry: &Entry) -> String {
    let shown = |share: f64| value(Unit::Share, share);
    let ends = entry.em_interval.map(|[low, high]| format!(" [{}, {}]", shown(low), shown(high)));
    entry.em.map_or_else(dash, |em| shown(em) + &ends.unwrap_or_default())
}
