//! The functions that compute a comparison, of all questions and of parts: by type, level, hops, or any other field.

use super::comparison::{Breakdown, Comparison, FigureComparison, Group, GroupMean, GroupPair, VariantMean, Verdict};
use super::pairing::{FigureValues, Pairing, Values};
use super::pairs::{Sample, pairs, stopped_by};
use super::settings::FIGURES_AND_FIELDS;
use super::{NamedFigure, Settings, Unit, Variant};
use crate::base::Pairs;
use crate::base::stats::{Interval, cochran_q};
use crate::base::text::{counted, joined};
use crate::runner::RunError;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The hint where variants share no question, for those who do not know where they are from.
pub(crate) const PAIRED_BY_ID: &str = "variants are paired by question id; did they run the same questions?";

/// Compares variants, each two on the questions that both measured; the means are those of the questions that all measured.
///
/// Repeats are averaged within a question first. Equal input gives equal output to the last bit.
pub(crate) fn compare(variants: &[Variant], settings: &Settings) -> Result<Comparison, RunError> {
    if variants.len() < 2 {
        return Err(RunError::usage(
            format!("a comparison needs at least two variants, found {}", variants.len()),
            "name another run, or a run with several variants (--method act,react)",
        ));
    }
    means_and_pairs(variants, settings)
}

/// The same for one variant too, which has means and no pairs.
pub(crate) fn means_and_pairs(variants: &[Variant], settings: &Settings) -> Result<Comparison, RunError> {
    settings.check()?;
    check(variants, settings)?;
    let pairing = Pairing::of(variants)?;
    let shared = pairing.shared();
    let paired = |(a, b): &(usize, usize)| pairing.has_shared(*a, *b);
    if shared == 0 && !pairing.pairs(settings).iter().any(paired) {
        let names = names_or_none(pairing.names().into_iter());
        return Err(RunError::input(format!("the variants {names} share no question"), PAIRED_BY_ID));
    }
    let (mut figures, mut parts) = (Vec::new(), Vec::new());
    for figure in &settings.figures {
        let figure = &with_range(figure, variants)?;
        let values = pairing.values(figure)?;
        parts.extend(settings.breakdowns.iter().map(|field| breakdown(field, &values, settings)));
        figures.push(compare_figure(&values, settings));
    }
    let mut comparison = Comparison {
        settings: settings.clone(),
        questions: pairing.all(),
        shared,
        variants: pairing.summaries(),
        figures,
        breakdowns: parts,
        within: None,
        notes: Vec::new(),
    };
    comparison.notes = [notes_on_missing_values(&comparison), notes_on_tests(&comparison)].concat();
    let of_parts = "parts are not corrected for their number: they suggest where to look and prove nothing";
    comparison.notes.extend((!comparison.breakdowns.is_empty()).then(|| of_parts.to_owned()));
    let accuracy = settings.figures.iter().any(|figure| figure.accuracy);
    comparison.notes.extend(settings.stopped.iter().map(|run| run.note(accuracy)));
    Ok(comparison)
}

fn check(variants: &[Variant], settings: &Settings) -> Result<(), RunError> {
    let mut names = HashSet::new();
    if let Some(variant) = variants.iter().find(|variant| !names.insert(variant.name.as_str())) {
        let message = format!("two variants have the name `{}`", variant.name);
        return Err(RunError::input(message, "rename one of the files or folders"));
    }
    let Pairs { baseline, contrasts } = &settings.pairs;
    if let Some(wanted) = baseline.iter().chain(contrasts.iter().flatten()).find(|name| !names.contains(name.as_str()))
    {
        let known = names_or_none(variants.iter().map(|variant| variant.name.as_str()));
        let message = format!("no variant `{wanted}` to compare with; the variants are {known}");
        return Err(RunError::usage(message, "--baseline and --contrast take these names"));
    }
    if let Some([same, _]) = contrasts.iter().find(|[a, b]| a == b) {
        return Err(RunError::usage(format!("`{same}` cannot be compared with itself"), "--contrast takes two names"));
    }
    for field in &settings.breakdowns {
        if variants.iter().all(|variant| variant.grouping(field).is_none()) {
            let mut listed = HashSet::new();
            let names = variants.iter().flat_map(|variant| &variant.groupings).map(String::as_str);
            let known = names_or_none(names.filter(|name| listed.insert(*name)));
            let message = format!("no variant has the field `{field}` to break down by; the fields are {known}");
            return Err(RunError::usage(message, FIGURES_AND_FIELDS));
        }
    }
    Ok(())
}

/// The figure with the bounds of its values: a figure that the program does not know has those of shares where all its values lie
/// between 0 and 1. Refuses values outside of bounds that are given.
fn with_range(figure: &NamedFigure, variants: &[Variant]) -> Result<NamedFigure, RunError> {
    let outside = |range: Interval| {
        variants.iter().find_map(|variant| {
            let at = variant.figure(&figure.name)?;
            let values = variant.items.iter().filter_map(|item| Some((item, item.value(at)?)));
            let (item, value) = values.into_iter().find(|(_, value)| !range.contains(*value))?;
            let of = format!("`{}` of question `{}` in `{}`", figure.name, item.id, variant.name);
            let message = format!("{of} is {value}, outside of its bounds {}..{}", range.low, range.high);
            Some(RunError::input(message, "correct the value, or give wider bounds by --bounds"))
        })
    };
    let Some(range) = figure.range else {
        let range = Some(Interval::SHARES).filter(|range| figure.is_own() && outside(*range).is_none());
        return Ok(NamedFigure { range, ..figure.clone() });
    };
    outside(range).map_or_else(|| Ok(figure.clone()), Err)
}

fn names_or_none<'a>(names: impl Iterator<Item = &'a str>) -> String {
    joined(names, ", ").unwrap_or_else(|| "none".to_owned())
}

fn compare_figure(values: &FigureValues<'_, '_>, settings: &Settings) -> FigureComparison {
    let (figure, variants) = (values.figure, &values.pairing.variants);
    let mut pairs = pairs(values, settings);
    let corrected = pairs.iter().filter(|pair| pair.p.is_some()).count();
    for pair in &mut pairs {
        // Shares differ by 1 at most: what only more than that would show is not shown.
        pair.reach.mde = pair.reach.mde.filter(|mde| figure.unit != Unit::Share || *mde <= 1.0);
        pair.verdict = Verdict::of(pair, figure, corrected, settings);
    }
    let common = values.common();
    let means = variants.iter().zip(values.bounds()).enumerate().map(|(at, (variant, bounds))| {
        let sample = common.sample(at);
        let estimate = sample.mean();
        VariantMean {
            variant: variant.name.clone(),
            mean: estimate.map(|estimate| estimate.mean),
            se: estimate.and_then(|estimate| estimate.se),
            interval: sample.mean_interval(common.binary[at], figure.range, settings.level),
            intervals: sample.mean_intervals(common.binary[at], settings.level),
            not_measured: values.not_measured(at),
            bounds,
        }
    });
    let right = |variant: &Vec<f64>| variant.iter().map(|value| *value > 0.0).collect();
    let several = common.all_binary() && variants.len() > 2 && !common.questions.is_empty();
    let cochran_q =
        several.then(|| cochran_q(&common.variants.iter().map(right).collect::<Vec<Vec<bool>>>())).flatten();
    FigureComparison {
        figure: figure.clone(),
        n: common.questions.len(),
        binary: common.all_binary() && !common.questions.is_empty(),
        clusters: common.clusters.as_ref().map(|clusters| clusters.iter().collect::<HashSet<_>>().len()),
        means: means.collect(),
        cochran_q,
        cochran_q_stopped_by: cochran_q.and_then(|_| stopped_by(&values.pairing.names(), settings)),
        pairs,
        excluded: values.excluded(),
    }
}

fn notes_on_missing_values(Comparison { questions: all, shared, variants, figures, .. }: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    // Of three variants two may have what the third lacks.
    let left_out = if variants.len() > 2 { "are in no mean" } else { "are excluded" };
    if shared < all {
        notes.push(format!("{} of {all} questions are not in all variants and {left_out}", all - shared));
    }
    if variants.iter().any(|variant| variant.not_measured > 0) {
        notes.push(
            "episodes that were not measured (the model or Wikipedia failed, or the budget was spent) are in no mean; the bounds show how much they could change"
                .to_owned(),
        );
    }
    for figure in figures.iter().filter(|figure| figure.excluded.count > 0) {
        let (label, count) = (figure.figure.label(), figure.excluded.count);
        notes.push(format!(
            "{label}: {count} of {shared} shared questions have no value in at least one variant and {left_out}"
        ));
    }
    let failed: usize = variants.iter().map(|variant| variant.not_measured).sum();
    for figure in figures {
        let all: usize = figure.means.iter().map(|mean| mean.not_measured).sum();
        if all > failed {
            let (label, some) = (figure.figure.label(), counted(all - failed, "measured episode"));
            notes.push(format!("{label}: {some} without a value of it; they count as not measured"));
        }
    }
    notes
}

fn notes_on_tests(Comparison { variants, figures, .. }: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(repeats) = variants.iter().map(|variant| variant.repeats).max().filter(|repeats| *repeats > 1) {
        notes.push(format!(
            "questions were asked up to {repeats} times: repeats are averaged within a question first. An average is \
             neither right nor wrong, so McNemar's test and Cochran's Q are left out"
        ));
    }
    if figures.iter().any(|figure| figure.figure.pass().is_some()) {
        notes.push(
            "pass@k is the chance that one of k repeats of a question is right, pass^k that all are; a question with fewer \
             than k measured repeats has no value"
                .to_owned(),
        );
    }
    if let Some(figure) = figures.iter().find(|figure| figure.clusters.is_some()) {
        let (questions, clusters) =
            (counted(figure.n, "question"), counted(figure.clusters.unwrap_or_default(), "cluster"));
        notes.push(format!(
            "{questions} are in {clusters}: standard errors, intervals and the permutation test are by \
             cluster. McNemar's test, Wilcoxon's and Cochran's Q assume independent questions and decide nothing"
        ));
    }
    // The pair of a rule has no p to correct, nor have two that share no question.
    let corrected = |figure: &FigureComparison| figure.pairs.iter().filter(|pair| pair.p.is_some()).count();
    if let Some(most) = figures.iter().map(corrected).max().filter(|most| *most > 1) {
        notes.push(format!("Holm's correction covers the {most} pairs of a figure, not several figures"));
    }
    notes
}

fn breakdown(field: &str, values: &FigureValues<'_, '_>, settings: &Settings) -> Breakdown {
    let parts = FieldGroups::of(values.pairing, field);
    let group = |(value, part): (&Option<String>, Values)| Group {
        value: value.clone(),
        n: part.questions.len(),
        means: group_means(values, &part, settings.level),
        pairs: Vec::new(),
    };
    let mut groups: Vec<Group> = parts.values.iter().zip(parts.split(&values.common())).map(group).collect();
    for (a, b) in values.pairing.pairs(settings) {
        let names = [a, b].map(|at| values.pairing.variants[at].name.as_str());
        for (group, part) in groups.iter_mut().zip(parts.split(&values.pair((a, b)))) {
            group.pairs.push(group_pair(names, values.figure, &part, settings));
        }
    }
    groups.retain(|group| group.n > 0 || group.pairs.iter().any(|pair| pair.n > 0));
    Breakdown { by: field.to_owned(), figure: values.figure.name.clone(), groups }
}

/// The values of a field in their order, and which of them each question has.
struct FieldGroups {
    values: Vec<Option<String>>,
    of_question: Vec<usize>,
}

impl FieldGroups {
    fn of(pairing: &Pairing<'_>, field: &str) -> Self {
        // Numbers by size, then other texts, then no value.
        let order = |value: Option<&'_ str>| {
            let number: Option<u64> = value.and_then(|value| value.parse().ok());
            (number.is_none(), value.is_none(), number, value.map(str::to_owned))
        };
        let orders: Vec<_> = (0..pairing.all()).map(|question| order(pairing.group(question, field))).collect();
        let known: BTreeSet<_> = orders.iter().collect();
        let places: BTreeMap<_, usize> = known.into_iter().zip(0..).collect();
        Self {
            values: places.keys().map(|(.., value)| value.clone()).collect(),
            of_question: orders.iter().map(|order| places[order]).collect(),
        }
    }

    /// The values of each part's questions.
    fn split(&self, values: &Values) -> Vec<Values> {
        let mut rows = vec![Vec::new(); self.values.len()];
        for (at, question) in values.questions.iter().enumerate() {
            rows[self.of_question[*question]].push(at);
        }
        rows.iter().map(|rows| values.part(rows)).collect()
    }
}

fn group_means(values: &FigureValues<'_, '_>, part: &Values, level: f64) -> Vec<GroupMean> {
    let mean = |(at, variant): (usize, &&Variant)| GroupMean {
        variant: variant.name.clone(),
        mean: part.sample(at).mean().map(|mean| mean.mean),
        interval: part.sample(at).mean_interval(part.binary[at], values.figure.range, level),
    };
    values.pairing.variants.iter().enumerate().map(mean).collect()
}

fn group_pair([a, b]: [&str; 2], figure: &NamedFigure, part: &Values, settings: &Settings) -> GroupPair {
    let differences = part.differences();
    let sample = Sample { values: &differences, clusters: part.clusters.as_deref() };
    let estimate = sample.mean();
    GroupPair {
        a: a.to_owned(),
        b: b.to_owned(),
        n: differences.len(),
        difference: estimate.map(|estimate| estimate.mean),
        se: estimate.and_then(|estimate| estimate.se),
        interval: sample.padded_interval(figure.range_of_differences(), settings.level),
        stopped_by: stopped_by(&[a, b], settings),
    }
}
