//! Several runs together: the variants that answered the same questions, compared.

use super::{
    CorrectedFigure, Episode, Field, JUDGE, JoinedMetric, JudgedRuns, RunRef, Setting, Source, Wanted, differences,
    load, name_accuracy, names, planned_of, short_names, stopped, with_recorded,
};
use crate::analysis::compare::{
    Comparison, DecidedPair, FigureComparison, NamedFigure, RESAMPLES, Settings, StoppedRun, Variant, VariantMean,
    decided_pairs, means_and_pairs, pairs_of,
};
use crate::base::short_names::ShortNames;
use crate::base::stats::holm;
use crate::base::text::visible_line;
use crate::dataset::ValueTable;
use crate::runner::RunError;
use crate::runner::store::RunFolder;
use crate::scoring::{Figure, figure, float};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// Figures that are compared, and after them those of which only the means are shown.
const FIGURES: [&Figure; 9] = [
    &figure::EM,
    &figure::F1,
    &figure::STEPS,
    &figure::CALLS,
    &figure::TOKENS,
    &figure::COST_USD,
    &figure::WALL_MS,
    &figure::ALL_HOPS,
    &figure::CUT_CALLS,
];

const COMPARED: usize = 2;

#[derive(Debug)]
pub(crate) struct Results {
    /// Variants that share questions, in the order in which their runs were named.
    pub(crate) groups: Vec<Group>,
    /// What a reader should know of them, a sentence each.
    pub(crate) notes: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) sources: Vec<Source>,
    /// Their names, unique among all variants of the results; compared ones are called by what differs.
    pub(crate) names: Vec<String>,
    /// EM, which may be an accuracy.
    pub(crate) score: NamedFigure,
    /// Their comparison, or why they cannot be compared.
    pub(crate) comparison: Result<Comparison, String>,
    /// Judges' figures, held against labels.
    pub(crate) corrected: Vec<CorrectedFigure>,
    /// Their runs that a rule could stop.
    pub(crate) stopped: Vec<StoppedRun>,
    pub(crate) standings: Vec<Standing>,
    pub(crate) settings: Vec<Setting>,
}

type Member = (Source, String);

impl Results {
    /// Reads all variants of these runs and, if that is asked for, compares them as their experiments plan it. Of several
    /// runs, one that cannot be read is left out with a note.
    pub(crate) fn of(runs: &[RunRef], compared: bool) -> Result<Self, RunError> {
        let (judged, mut joined, judge_notes) = if compared { judged(runs) } else { Default::default() };
        if compared {
            add_recorded(&mut joined, runs);
        }
        let (sources, mut notes) = read(runs, &joined)?;
        notes.extend(judge_notes);
        let (sources, begun): (Vec<Source>, Vec<Source>) =
            sources.into_iter().partition(|source| !source.episodes.is_empty());
        notes.extend(begun.iter().map(|source| format!("note: `{}` has no finished episode yet", source.run.typed())));
        let names = names(&sources);
        let short = if compared { short_names(&sources, &names) } else { ShortNames::default() };
        let groups = grouped(sources.into_iter().zip(names).collect());
        let groups = groups
            .into_iter()
            .map(|members| Group::of(members, &short, compared, (&judged, &joined), &mut notes))
            .collect();
        Ok(Self { groups, notes })
    }

    pub(crate) fn variants(&self) -> impl Iterator<Item = (&Source, &String)> {
        self.groups.iter().flat_map(|group| group.sources.iter().zip(&group.names))
    }
}

/// The verdicts of these runs, the metric of all judges, and what a reader should know of them. What cannot be read is left
/// out: a page of the other figures is worth having.
fn judged(runs: &[RunRef]) -> (JudgedRuns, Vec<JoinedMetric>, Vec<String>) {
    let read = JudgedRuns::read(runs.iter().map(|run| run.path.as_path()));
    match read.and_then(|judged| Ok((judged.metrics()?, judged))) {
        Ok((mut metrics, judged)) => {
            metrics.truncate(1);
            let notes = judged.notes();
            (judged, metrics, notes)
        }
        Err(error) => {
            let note = format!("warning: verdicts are left out: {}", visible_line(&error.to_string(), 500));
            (JudgedRuns::default(), Vec::new(), vec![note])
        }
    }
}

/// Adds what the records of imported runs say of their episodes. The place of the judges stays theirs, whoever was asked. A run
/// that cannot be read is told elsewhere.
fn add_recorded(joined: &mut Vec<JoinedMetric>, runs: &[RunRef]) {
    let mut paths: Vec<&Path> = runs.iter().map(|run| run.path.as_path()).collect();
    paths.dedup();
    paths.retain(|path| RunFolder::at(*path).manifest().is_ok());
    let recorded = with_recorded(Vec::new(), &paths).unwrap_or_default();
    if joined.is_empty() && !recorded.is_empty() {
        joined.push(JoinedMetric::judged(ValueTable { name: JUDGE.to_owned(), rows: Vec::new() }));
    }
    joined.extend(recorded.into_iter().filter(|metric| !metric.name.eq_ignore_ascii_case(JUDGE)));
}

/// The variants of runs that can be read, and what a reader should know of them.
fn read(runs: &[RunRef], joined: &[JoinedMetric]) -> Result<(Vec<Source>, Vec<String>), RunError> {
    let wanted = Wanted {
        figures: &FIGURES,
        joined,
        cluster: Some(&Field::Cluster),
        by: &[Field::Type, Field::Level],
        gold_pages: true,
    };
    let (mut sources, mut notes) = (Vec::new(), Vec::new());
    let mut failed = None;
    // The variants of a run that is named several times are read once.
    for of_run in runs.chunk_by(|a, b| a.path == b.path) {
        match load(of_run, &wanted) {
            Ok((found, new)) => {
                sources.extend(found);
                notes.extend(new);
            }
            Err(error) => {
                let path = visible_line(&of_run[0].path.display().to_string(), 200);
                notes.push(format!("warning: `{path}` is left out: {}", visible_line(&error.to_string(), 500)));
                failed = Some(error);
            }
        }
    }
    match failed {
        Some(error) if sources.is_empty() => Err(error),
        _ => Ok((sources, notes)),
    }
}

/// Variants that share questions, directly or by others.
fn grouped(members: Vec<Member>) -> Vec<Vec<Member>> {
    let mut groups: Vec<(HashSet<String>, Vec<Member>)> = Vec::new();
    for (source, name) in members {
        let mut ids: HashSet<String> = source.ids().map(str::to_owned).collect();
        let (sharing, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(known, _)| !known.is_disjoint(&ids));
        let mut of_it = Vec::new();
        for (known, members) in sharing {
            ids.extend(known);
            of_it.extend(members);
        }
        of_it.push((source, name));
        groups = others;
        groups.push((ids, of_it));
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

impl Group {
    fn of(
        members: Vec<Member>,
        short: &ShortNames,
        compared: bool,
        (judged, joined): (&JudgedRuns, &[JoinedMetric]),
        notes: &mut Vec<String>,
    ) -> Self {
        let (sources, whole): (Vec<_>, Vec<_>) = members.into_iter().unzip();
        let names: Vec<String> = whole.iter().map(|name| short.of_name(name).to_owned()).collect();
        notes.extend(differences::warnings(&sources, &names).iter().map(|warning| format!("warning: {warning}")));
        let mut figures: Vec<NamedFigure> =
            FIGURES[..COMPARED].iter().map(|figure| NamedFigure::new(figure.name)).collect();
        name_accuracy(&mut figures, &sources);
        // F1 of an accuracy is the same.
        figures.truncate(if figures[0].accuracy { 1 } else { COMPARED });
        // A judge that nobody asked about these variants has nothing to compare.
        let place = |source: &Source, at: usize| {
            source.episodes.iter().any(|one| one.item.values.get(at).is_some_and(Option::is_some))
        };
        let has = |at: usize| sources.iter().all(|source| place(source, FIGURES.len() + at));
        let asked = joined.iter().enumerate().filter(|(at, _)| has(*at));
        let asked = asked.map(|(_, metric)| NamedFigure::joined(&metric.name, metric.unit, metric.is_judged()));
        figures.extend(asked);
        let read = FIGURES.iter().map(|figure| figure.name.to_owned());
        let all: Vec<String> = read.chain(joined.iter().map(|metric| metric.name.clone())).collect();
        let columns: Vec<_> = sources.iter().zip(&names).map(|(source, name)| source.column(name, &all, &[])).collect();
        let stopped = stopped(&sources, &names).unwrap_or_else(|error| {
            notes.push(format!("warning: rules for stopping are left out: {}", visible_line(&error.to_string(), 500)));
            Vec::new()
        });
        let mut group = Self {
            corrected: Vec::new(),
            score: figures[0].clone(),
            settings: differences::of(&sources),
            standings: standings(&columns, &stopped),
            stopped,
            comparison: Err("it was not asked for".to_owned()),
            sources,
            names,
        };
        if compared {
            let (pairs, absent) = planned_of(&group.sources, &whole);
            let pairs = pairs.with_names(|name| short.of_name(name).to_owned());
            notes.extend(absent.map(|absent| format!("warning: {absent}")));
            let settings = Settings { pairs, figures, stopped: group.stopped.clone(), ..Settings::default() };
            group.comparison = means_and_pairs(&columns, &settings).map_err(|error| error.to_string());
            if let Ok(Comparison { figures, settings, .. }) = &mut group.comparison {
                let columns = group.names.iter().cloned().zip(group.sources.iter().map(|source| vec![Some(source)]));
                group.corrected = judged.correct(figures, settings, &columns.collect::<Vec<_>>());
            }
        }
        group
    }

    /// The means of the questions that all measured, where each pair is compared on these too.
    pub(crate) fn common(&self) -> Option<&FigureComparison> {
        let em = self.comparison.as_ref().ok()?.figure(&self.score.name)?;
        Some(em).filter(|em| em.n > 0 && !em.has_own_questions())
    }

    /// The mean of each variant: on common questions if there are any, else on its own ones.
    pub(crate) fn means(&self) -> Vec<Option<&VariantMean>> {
        let common = self.common();
        let variants = self.names.iter().zip(&self.standings);
        variants.map(|(name, standing)| common.and_then(|em| em.mean(name)).or(standing.own.as_ref())).collect()
    }

    pub(crate) fn means_of_pair(&self, pair: [usize; 2]) -> Vec<VariantMean> {
        let name = std::slice::from_ref(&self.score.name);
        let columns = pair.map(|at| self.sources[at].column(&self.names[at], name, &[]));
        // The means draw no resamples.
        let settings = Settings { figures: vec![self.score.clone()], resamples: 1, ..Settings::default() };
        let compared = means_and_pairs(&columns, &settings).ok().and_then(|mut found| found.figures.pop());
        compared.map(|figure| figure.means).unwrap_or_default()
    }

    pub(crate) fn dataset(&self) -> &str {
        self.sources.first().and_then(Source::manifest).map_or("", |manifest| &manifest.dataset.name)
    }
}

impl Episode {
    pub(crate) fn value(&self, figure: &Figure) -> Option<f64> {
        let at = FIGURES.iter().position(|known| known.name == figure.name)?;
        self.item.values.get(at).copied().flatten()
    }

    /// What the judges say of it: 1 where it is right.
    pub(crate) fn judged(&self) -> Option<f64> {
        self.item.values.get(FIGURES.len()).copied().flatten()
    }
}

impl Source {
    /// The values of a figure in the episodes that have one; none if it was not read.
    pub(crate) fn values(&self, figure: &Figure) -> impl Iterator<Item = f64> + Clone {
        self.episodes.iter().filter_map(move |episode| episode.value(figure))
    }

    pub(crate) fn mean(&self, figure: &Figure) -> Option<f64> {
        let (sum, n) = self.values(figure).fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
        (n > 0.0).then(|| sum / n)
    }
}

/// Resamples of a test that is not exact, while they are enough; more variants need as many as `compare` draws.
const FEW_RESAMPLES: usize = 1000;

#[derive(Debug, Clone, Default)]
pub(crate) struct Standing {
    /// EM over its own questions, and their number.
    pub(crate) own: Option<VariantMean>,
    pub(crate) n: usize,
    /// 1 + the number of variants that are distinguishably better; absent if it was compared with none, or if more resamples might
    /// distinguish it from another one.
    pub(crate) rank: Option<usize>,
    pub(crate) tied_with: Vec<String>,
    /// The pairs of all variants, over which p is corrected.
    pub(crate) pairs: usize,
}

/// The standings of these variants, in their order. Each two are compared on the questions that both have, so that a run of few
/// questions takes nothing from the others. Holm's correction covers all pairs.
pub(super) fn standings(variants: &[Variant], stopped: &[StoppedRun]) -> Vec<Standing> {
    let figures = vec![NamedFigure::new("em")];
    let settings = Settings { figures, stopped: stopped.to_vec(), ..Settings::default() };
    let settings = Settings { resamples: resamples(variants.len(), settings.alpha), ..settings };
    let em = |of: &[Variant]| means_and_pairs(of, &settings).ok().and_then(|mut found| found.figures.pop());
    let mut standings: Vec<Standing> = variants
        .iter()
        .map(|variant| {
            let own = em(std::slice::from_ref(variant)).filter(|em| em.n > 0);
            let n = own.as_ref().map_or(0, |em| em.n);
            Standing { own: own.and_then(|mut em| em.means.pop()), n, ..Standing::default() }
        })
        .collect();
    let pairs = decided_pairs(variants, &settings.figures[0], &settings).unwrap_or_default();
    for standing in &mut standings {
        standing.pairs = pairs.len();
    }
    let corrected = |p: fn(&DecidedPair) -> f64| holm(&pairs.iter().map(p).collect::<Vec<_>>());
    let both = corrected(|pair| pair.p).into_iter().zip(corrected(|pair| pair.p_highest));
    // That so many resamples can show.
    let is_smallest = |p: f64| (p * float(settings.resamples as u64 + 1) - 1.0).abs() < 1e-9;
    let mut undecided = BTreeSet::new();
    for (DecidedPair { variants: [a, b], p, leader, .. }, (own, highest)) in pairs.iter().zip(both) {
        for at in [*a, *b] {
            standings[at].rank.get_or_insert(1);
        }
        if let Some(winner) = leader.filter(|_| own < settings.alpha && highest < settings.alpha) {
            let beaten = &mut standings[if winner == *a { *b } else { *a }];
            beaten.rank = beaten.rank.map(|rank| rank + 1);
        } else if own >= settings.alpha && is_smallest(*p) {
            undecided.extend([*a, *b]);
        } else {
            standings[*a].tied_with.push(variants[*b].name.clone());
            standings[*b].tied_with.push(variants[*a].name.clone());
        }
    }
    for at in undecided {
        standings[at].rank = None;
    }
    standings
}

/// How many resamples to draw. The smallest p of `n` resamples is `1 / (n + 1)`, and Holm's correction multiplies it by the number
/// of pairs. Where even [`RESAMPLES`] leave that above alpha, more than [`FEW_RESAMPLES`] would be wasted.
fn resamples(variants: usize, alpha: f64) -> usize {
    let needed = float(pairs_of(variants) as u64) / alpha;
    let is_enough = |resamples: usize, factor: f64| factor * needed < float(resamples as u64);
    if is_enough(FEW_RESAMPLES, 4.0) || !is_enough(RESAMPLES, 1.0) { FEW_RESAMPLES } else { RESAMPLES }
}

#[cfg(test)]
mod tests {
    use super::standings;
    use crate::analysis::compare::{Item, Variant};

    /// Two repeats of 60 questions, so that sign flips decide.
    fn variant(right: usize) -> Variant {
        let mut variant = Variant::new(format!("v{right}"), vec!["em".into()], Vec::new());
        let item = |n: usize, repeat: u32| Item {
            id: format!("q{n}"),
            repeat,
            measured: true,
            values: vec![Some(if n < right || n == 59 && repeat == 1 { 1.0 } else { 0.0 })],
            ..Item::default()
        };
        variant.items = (0..60).flat_map(|n| [item(n, 0), item(n, 1)]).collect();
        variant
    }

    #[test]
    fn many_variants_have_ranks_where_sign_flips_decide() {
        let variants: Vec<Variant> = (0..12).map(|n| variant(5 * n)).collect();
        let found = standings(&variants, &[]);
        assert_eq!((found[11].rank, found[0].pairs), (Some(1), 66));
        assert!(found[0].rank > Some(5), "{:?}", found[0]);
        // 60 variants have more pairs than resamples could decide.
        let many: Vec<Variant> = (0..60).map(variant).collect();
        assert_eq!(standings(&many, &[])[0].rank, None);
    }
}
