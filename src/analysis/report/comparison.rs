//! A comparison as a report: settings, means, pairs, verdicts, breakdowns, flipped answers.

use super::agreement::of_labels;
use super::console::dash;
use super::sheet::{Block, Cell, Columns, Grid, Heading, Key, Row, Sheet, headings};
use super::verdict::{best_first, best_variant, is_decided};
use crate::analysis::compare::conditions::ConditionResult;
use crate::analysis::compare::verdict::{p_equals, p_value, percent, shown_end, signed, value};
use crate::analysis::compare::{
    Bounds, Breakdown, Comparison, Effort, FigureComparison, GoldState, Group, GroupMean, GroupPair, Ids,
    MethodInterval, NamedFigure, Pair, Unit, ValueSpread, VariantMean, Within, Word,
};
use crate::analysis::grouped;
use crate::analysis::results::{CorrectedFigure, Correction, Looks, Setting};
use crate::base::stats::{CochranQ, Interval, McNemar, Needed, Reach};
use crate::base::text::{counted, cut, joined, thousands, visible_line};
use crate::scoring::figure::Better;
use crate::scoring::{ClosedBook, Divergence, FailureClass, Share, float};
use serde::Serialize;
use std::cmp::Reverse;

/// Ids that are named when questions are left out; JSON lists more.
const NAMED: usize = 5;

/// Notes and tables that a report adds to the figures of a comparison; JSON has them behind the figures.
#[derive(Debug, Default, Serialize)]
pub(crate) struct ComparisonExtras {
    pub sources: Vec<serde_json::Value>,
    #[serde(rename = "differing_settings")]
    pub settings: Vec<Setting>,
    /// Mismatches between the variants, a sentence each.
    pub warnings: Vec<String>,
    /// Judges' figures, held against labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub corrected: Vec<CorrectedFigure>,
    /// What it takes to see small differences, if that and the minimum detectable difference are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efforts: Option<Vec<Effort>>,
    #[serde(rename = "closed_book", skip_serializing_if = "Vec::is_empty")]
    pub closed_books: Vec<ClosedBook>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holdout: Option<Looks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flips: Option<Vec<FlipList>>,
    #[serde(rename = "conditions", skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<ConditionResult>,
}

pub(crate) fn sheet(comparison: &Comparison, extras: &ComparisonExtras) -> Sheet {
    let ComparisonExtras { settings, flips, warnings, holdout, efforts, .. } = extras;
    let names: Vec<&str> = comparison.variants.iter().map(|column| column.name.as_str()).collect();
    let mut blocks: Vec<Block> = settings_grid(&names, settings).map(Block::Table).into_iter().collect();
    for figure in comparison.distinct_figures() {
        blocks.push(means(figure, comparison));
        blocks.extend(overall(figure));
        blocks.push(pairs(figure));
        blocks.extend(Block::lines("", bounds_notes(figure)));
        blocks.extend(only_together(figure, comparison.settings.alpha));
        blocks.extend(comparison.within.iter().flat_map(|within| combinations(within, figure)));
        blocks.extend(comparison.within.iter().flat_map(|within| spread(within, figure)));
        blocks.extend(corrected_blocks(comparison, extras, &figure.figure.name));
        if let Some(efforts) = efforts {
            blocks.push(power(figure, comparison.settings.power));
            blocks.extend(without_power(figure));
            blocks.extend(effort_lines(figure, efforts));
        }
        let sentences = figure.pairs.iter().map(|pair| pair.verdict.sentence.clone()).collect();
        blocks.push(Block::Lines { title: format!("{}, verdicts", figure.figure.label()), lines: sentences });
    }
    for breakdown in comparison.breakdowns.iter().filter(|breakdown| !breakdown.groups.is_empty()) {
        let mut figures = comparison.distinct_figures();
        let Some(figure) = figures.find(|own| own.figure.name == breakdown.figure) else { continue };
        blocks.extend(breakdown_tables(breakdown, figure));
    }
    blocks.extend(flips.iter().flatten().flat_map(flip_blocks));
    blocks.extend(Block::lines("holdout", holdout.iter().flat_map(Looks::lines).cloned().collect()));
    blocks.extend(Block::lines("notes", [&warnings[..], &comparison.notes[..], &left_out(comparison)[..]].concat()));
    // `is_title` recognises it.
    let title = format!(
        "{} on {} of {}",
        names.join(" vs "),
        counted(comparison.shared, "shared question"),
        thousands(comparison.questions)
    );
    Sheet { title, blocks }
}

/// Variants whose pairs are printed one by one.
const MAX_UNFOLDED: usize = 6;
/// Variants in a table of a folded comparison.
const MAX_FOLDED_ROWS: usize = 20;

/// The comparison of many variants for a terminal: who is best, each variant beside the baseline or the best one, and how many
/// pairs there are besides. Nothing where all pairs can be read.
pub(crate) fn folded(comparison: &Comparison, extras: &ComparisonExtras) -> Option<Sheet> {
    let names: Vec<String> = comparison.variants.iter().map(|column| column.name.clone()).collect();
    let is_planned = !comparison.settings.pairs.contrasts.is_empty();
    if names.len() <= MAX_UNFOLDED || is_planned || comparison.within.is_some() {
        return None;
    }
    let with_reference = |figure: &FigureComparison| {
        let reference = reference(figure, comparison)?.to_owned();
        let mut figure = figure.clone();
        figure.pairs.retain(|pair| pair.a == reference || pair.b == reference);
        Some(figure)
    };
    let figures = comparison.figures.iter().map(with_reference).collect::<Option<Vec<_>>>()?;
    let verdict = |figure: &FigureComparison| format!("{}: {}", figure.figure.label(), best_variant(figure, &names));
    let mut lines: Vec<String> = comparison.figures.iter().map(verdict).collect();
    let differing: Vec<&str> = extras.settings.iter().map(|setting| setting.name.as_str()).collect();
    lines.extend((!differing.is_empty()).then(|| format!("settings that differ: {}", differing.join(", "))));
    let whole = sheet(&Comparison { figures, ..comparison.clone() }, extras);
    let of = counted(comparison.shared, "shared question");
    let title = format!("{} variants on {of} of {}", names.len(), thousands(comparison.questions));
    let mut blocks = vec![Block::Lines { title: String::new(), lines }];
    for block in whole.blocks {
        match &block {
            Block::Table(Grid { id: "settings" | "overall" | "pairs", .. }) => {}
            Block::Lines { title, .. } if title.ends_with(", verdicts") => {}
            Block::Table(grid @ Grid { id: "means", .. }) => {
                let figure = grid.rows.first().and_then(|row| comparison.figure(&row.key.metric))?;
                blocks.extend(beside_reference(figure, comparison));
            }
            _ => blocks.push(block),
        }
    }
    Some(Sheet { title, blocks })
}

/// The variant that the others are read against: the baseline, else the first of the planned pairs or of two, else the one with
/// the best mean.
pub(super) fn reference<'c>(figure: &'c FigureComparison, comparison: &'c Comparison) -> Option<&'c str> {
    let best = || by_mean(figure).first().filter(|mean| mean.mean.is_some()).map(|mean| mean.variant.as_str());
    let pairs = &comparison.settings.pairs;
    let first = || match (&pairs.contrasts[..], &figure.means[..]) {
        ([[a, _], ..], _) => Some(a.as_str()),
        (_, [first, _]) => Some(first.variant.as_str()),
        _ => None,
    };
    pairs.baseline.as_deref().or_else(first).or_else(best)
}

/// The best mean first, or the highest where neither is better.
fn by_mean(figure: &FigureComparison) -> Vec<&VariantMean> {
    let mut means: Vec<&VariantMean> = figure.means.iter().collect();
    means.sort_by(|a, b| best_first(figure.figure.better, a.mean, b.mean));
    means
}

/// The difference to one of the two, with its interval.
pub(super) fn difference_to(reference: &str, pair: &Pair) -> (Option<f64>, Option<MethodInterval>) {
    if pair.a == reference {
        return (pair.difference, pair.interval);
    }
    let turned = |interval: MethodInterval| MethodInterval { low: -interval.high, high: -interval.low, ..interval };
    // Not `-0.0`.
    (pair.difference.map(|difference| 0.0 - difference), pair.interval.map(turned))
}

/// Each variant with its mean and its difference to the reference, and what is known of the other pairs.
fn beside_reference(figure: &FigureComparison, comparison: &Comparison) -> Vec<Block> {
    let Some(reference) = reference(figure, comparison) else { return Vec::new() };
    let NamedFigure { name, unit, better, .. } = &figure.figure;
    let is_baseline = comparison.settings.pairs.baseline.is_some();
    let (own, unmeasured) = (figure.has_own_questions(), figure.means.iter().any(|mean| mean.not_measured > 0));
    let pair = |mean: &VariantMean| figure.pair(reference, &mean.variant);
    let word = match better {
        _ if is_baseline => "baseline",
        Better::Neither => "highest",
        Better::Higher | Better::Lower => "best",
    };
    let columns = mean_columns(figure)
        .numbers(difference_heading(*unit, level_of(&figure.pairs)), |mean| {
            let (difference, interval) = pair(mean).map_or((None, None), |pair| difference_to(reference, pair));
            change_cell(*unit, difference, None, interval)
        })
        .numbers("p Holm", |mean| pair(mean).map_or_else(Cell::nothing, corrected_p))
        .words("verdict", |mean| Cell::text(pair(mean).map_or(word, |pair| seen_from(reference, pair))))
        .only_if(own, Heading::numbers("n"), |mean| pair(mean).map_or_else(Cell::nothing, |of| Cell::count("n", of.n)))
        .only_if(unmeasured, Heading::numbers(not_measured(comparison)), |mean| {
            Cell::count("not_measured", mean.not_measured)
        });
    let means = by_mean(figure);
    let (label, n) = (figure.figure.label(), counted(figure.n, "question"));
    let title = format!("{label} of {n}, and each variant minus the {word}, {reference}");
    let left = means.len().saturating_sub(MAX_FOLDED_ROWS);
    let further = format!("{} further down; --all-pairs prints them", counted(left, "more variant"));
    let together = figure.cochran_q.map(|test| {
        let p = p_equals(test.p);
        format!("all variants together: Cochran's Q {:.3}, df {}, {p}", test.q, test.freedom)
    });
    let lines =
        (left > 0).then_some(further).into_iter().chain(other_pairs(figure, reference)).chain(together).collect();
    let shown = means.iter().copied().take(MAX_FOLDED_ROWS);
    let grid = columns.grid("beside", title, shown, |mean| Key::of(name, &mean.variant));
    vec![Block::Table(grid), Block::Lines { title: String::new(), lines }]
}

/// The p after Holm, or what the rule of the run found.
pub(super) fn corrected_p(pair: &Pair) -> Cell {
    match pair.p_holm {
        Some(p) if pair.stopping.is_none() => {
            let mut cell = Cell::figure("p_holm", p, p_value(p));
            if pair.stopped_by.is_some() {
                mark_stopped(&mut cell);
            }
            cell
        }
        _ => p_cell(pair),
    }
}

/// What the verdict says of the other variant.
fn seen_from(reference: &str, pair: &Pair) -> &'static str {
    match pair.verdict.winner.as_deref() {
        Some(winner) if winner == reference => "behind",
        Some(_) => "ahead",
        None if pair.difference.is_none() => "–",
        None if pair.verdict.word == Word::Undecided => "undecided",
        None if !pair.verdict.distinguishable => "unclear",
        None if difference_to(reference, pair).0 > Some(0.0) => "above",
        None => "below",
    }
}

fn other_pairs(figure: &FigureComparison, reference: &str) -> Option<String> {
    let others = || figure.pairs.iter().filter(|pair| pair.a != reference && pair.b != reference);
    let distinguishable = others().filter(|pair| is_decided(pair)).count();
    (others().count() > 0).then(|| {
        let all = counted(others().count(), "pair");
        format!("{all} of other variants, {distinguishable} of them distinguishable; --all-pairs prints them")
    })
}

/// Whether this is the title of a comparison: names on so many shared questions of so many.
pub(crate) fn is_title(line: &str) -> bool {
    let is_number = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == ',');
    let Some((names, counts)) = line.trim_end().rsplit_once(" on ") else { return false };
    match counts.split(' ').collect::<Vec<_>>()[..] {
        [shared, "shared", "question" | "questions", "of", all] => {
            !names.is_empty() && is_number(shared) && is_number(all)
        }
        _ => false,
    }
}

/// Questions that are not compared, with the first of their ids.
fn left_out(comparison: &Comparison) -> Vec<String> {
    let named = |what: &str, name: &str, ids: &Ids| {
        let more = if ids.count > NAMED { ", …" } else { "" };
        joined(ids.listed.iter().take(NAMED), ", ").map(|first| format!("{what} {name}: {} ({first}{more})", ids.count))
    };
    let variants = comparison.variants.iter();
    let unmatched = variants.clone().filter_map(|of| named("not in every variant, but in", &of.name, &of.unmatched));
    let unmeasured = variants.filter_map(|of| named("not measured by", &of.name, &of.unmeasured));
    unmatched.chain(unmeasured).collect()
}

/// The settings in which these variants differ; nothing where they do in none.
pub(super) fn settings_grid<N: AsRef<str>>(names: &[N], settings: &[Setting]) -> Option<Grid> {
    let rows: Vec<(usize, &str)> = names.iter().map(AsRef::as_ref).enumerate().collect();
    let variants = Columns::of("variant", |(_, name): &(usize, &str)| Cell::text(*name));
    let columns = settings.iter().fold(variants, |columns, Setting { name, values }| {
        columns.words(name, |(at, _)| Cell::text(values.get(*at).map_or("–", String::as_str)))
    });
    let grid = || columns.grid("settings", "settings that differ", &rows, |(_, name)| Key::of("", name));
    (!settings.is_empty()).then(grid)
}

fn mean_columns(figure: &FigureComparison) -> Columns<'_, VariantMean, Cell> {
    let unit = figure.figure.unit;
    let heading = mean_heading(&figure.figure, figure.means.iter().find_map(|mean| mean.interval));
    Columns::of("variant", |mean: &VariantMean| Cell::text(&mean.variant))
        .numbers(heading, move |mean| mean_cell(unit, "mean", mean.mean, mean.se, mean.interval))
}

/// The heading of what was not measured, which is counted in episodes; questions have several where they are repeated.
fn not_measured(comparison: &Comparison) -> &'static str {
    let repeated = comparison.variants.iter().any(|variant| variant.rows > variant.questions);
    if repeated { "episodes not\nmeasured" } else { "not\nmeasured" }
}

fn means(figure: &FigureComparison, comparison: &Comparison) -> Block {
    let NamedFigure { name, unit, .. } = &figure.figure;
    let bounded = figure.means.iter().any(|mean| mean.bounds.is_some());
    let columns = mean_columns(figure)
        .numbers("n", |_| Cell::count("n", figure.n))
        .numbers(not_measured(comparison).replace('\n', " "), |mean| Cell::count("not_measured", mean.not_measured))
        .only_if(bounded, Heading::numbers("bounds"), |mean| bounds(mean.bounds, |end| value(*unit, end)));
    let clusters = figure.clusters.map(|n| format!(" in {}", counted(n, "cluster"))).unwrap_or_default();
    // How many questions there would be was not known before.
    let stopped = if comparison.settings.stopped.is_empty() { "" } else { " (stop rule)" };
    let title = format!("{} of {}{clusters}{stopped}", figure.figure.label(), counted(figure.n, "question"));
    Block::Table(columns.grid("means", title, &figure.means, |mean| Key::of(name, &mean.variant)))
}

fn overall(figure: &FigureComparison) -> Option<Block> {
    let test = figure.cochran_q?;
    let mut p = Cell::figure("p", test.p, p_value(test.p));
    if figure.cochran_q_stopped_by.is_some() {
        mark_stopped(&mut p);
    }
    let columns = Columns::of("test", |_: &CochranQ| Cell::text("Cochran's Q"))
        .numbers("statistic", |test| Cell::figure("cochran_q", test.q, format!("{:.3}", test.q)))
        .numbers("df", |test| Cell::count("freedom", test.freedom))
        .numbers("p", |_| p.clone());
    let title = format!("{}, all variants together", figure.figure.label());
    Some(Block::Table(columns.grid("overall", title, [&test], |_| Key::of(&figure.figure.name, ""))))
}

/// Cochran's Q finds a difference and no pair does: both are right, and a reader should not have to find out why.
fn only_together(figure: &FigureComparison, alpha: f64) -> Option<Block> {
    let test = figure.cochran_q.filter(|test| test.p < alpha && figure.cochran_q_stopped_by.is_none())?;
    if figure.pairs.is_empty() || figure.pairs.iter().any(|pair| pair.verdict.distinguishable) {
        return None;
    }
    let line = format!(
        "Cochran's Q ({}) says that not all {} variants are equal; no pair is distinguishable, so which of them differ stays open",
        p_equals(test.p),
        figure.means.len()
    );
    let title = format!("{}, all variants and pairs", figure.figure.label());
    Some(Block::Lines { title, lines: vec![line] })
}

fn pairs(figure: &FigureComparison) -> Block {
    let unit = figure.figure.unit;
    // A rule has a level of its own.
    let fixed = figure.pairs.iter().filter(|pair| pair.stopping.is_none());
    let level = level_of(fixed.chain(&figure.pairs));
    let (binary, bounded) = (figure.has_mcnemar(), figure.has_bounds());
    let one_sided = |name, of: fn(&McNemar) -> u64| {
        move |pair: &Pair| pair.tests.mcnemar.map_or_else(Cell::nothing, |test| Cell::count(name, of(&test)))
    };
    let columns = Columns::of("b − a", |pair: &Pair| Cell::text(minus(&pair.b, &pair.a)))
        .numbers(difference_heading(unit, level), |pair| change_of_pair(unit, level, pair))
        .numbers("n", |pair| Cell::count("n", pair.n))
        .numbers("p", p_cell)
        .numbers("p Holm", |pair| pair.p_holm.map_or_else(Cell::nothing, |p| Cell::figure("p_holm", p, p_value(p))))
        .only_if(binary, Heading::numbers("only a"), one_sided("only_a", |test| test.only_a))
        .only_if(binary, Heading::numbers("only b"), one_sided("only_b", |test| test.only_b))
        .only_if(bounded, Heading::numbers("bounds"), |pair| bounds(pair.bounds, |end| signed(unit, end)));
    let title = format!("{}, pairwise", figure.figure.label());
    Block::Table(columns.grid("pairs", title, &figure.pairs, |pair| key(figure, pair)))
}

/// The difference of a pair, with the level of its interval where that is not `level`.
fn change_of_pair(unit: Unit, level: f64, pair: &Pair) -> Cell {
    let mut change = change_cell(unit, pair.difference, pair.se, pair.interval);
    if let Some(own) = pair.interval.map(|interval| interval.level).filter(|own| percent(*own) != percent(level)) {
        change.text = format!("{} at {} %", change.text, percent(own));
        change.figures.push(("level", own));
    }
    if let Some(MethodInterval { level, low, high, .. }) = pair.distribution_free {
        change.figures.extend([
            ("distribution_free_low", low),
            ("distribution_free_high", high),
            ("distribution_free_level", level),
        ]);
    }
    change
}

/// `b − a`
fn minus(b: &str, a: &str) -> String {
    format!("{b} − {a}")
}

/// The single combinations behind the values of one setting, and where the sign of a difference is not that of the mean.
fn combinations(within: &Within, figure: &FigureComparison) -> Vec<Block> {
    if within.combinations.len() < 2 {
        return Vec::new();
    }
    let NamedFigure { name, unit, .. } = &figure.figure;
    let of_all = |pair: &Pair| figure.pairs.iter().find(|other| other.a == pair.a && other.b == pair.b);
    let is_opposite = |pair: &Pair| {
        let signs = pair.difference.zip(of_all(pair).and_then(|merged| merged.difference));
        signs.is_some_and(|(here, all)| here * all < 0.0)
    };
    let columns = Columns::of("combination", |(combination, _): &(&str, &Pair)| Cell::text(*combination))
        .words("b − a", |(_, pair)| Cell::text(minus(&pair.b, &pair.a)))
        .numbers(difference_heading(*unit, level_of(&figure.pairs)), |(_, pair)| {
            change_cell(*unit, pair.difference, pair.se, pair.interval)
        })
        .numbers("n", |(_, pair)| Cell::count("n", pair.n))
        .numbers("p", |(_, pair)| p_cell(pair))
        .words("sign", |(_, pair)| Cell::text(if is_opposite(pair) { "opposite" } else { "" }));
    let title = format!("{} by combination of the other settings", figure.figure.label());
    let rows: Vec<(&str, &Pair)> = within.pairs_of(name).collect();
    let of = |(combination, pair): &(&str, &Pair)| Key { group: (*combination).to_owned(), ..key(figure, pair) };
    let table = Block::Table(columns.grid("combinations", title, &rows, of));
    let line = |pair: &Pair| {
        let same = |(_, other): &(&str, &Pair)| other.a == pair.a && other.b == pair.b;
        let measured = || within.pairs_of(name).filter(same).filter(|(_, other)| other.difference.is_some());
        let (all, opposite) = (measured().count(), measured().filter(|(_, other)| is_opposite(other)).count());
        let pair = minus(&pair.b, &pair.a);
        let line = format!("{pair}: the difference has the opposite sign in {opposite} of {all} combinations");
        (opposite > 0).then_some(line)
    };
    let lines = figure.pairs.iter().filter_map(line).collect();
    std::iter::once(table).chain(Block::lines("", lines)).collect()
}

/// How far the values of a setting are apart, if they are three or more, and a sentence that says it.
fn spread(within: &Within, figure: &FigureComparison) -> Vec<Block> {
    let NamedFigure { name, unit, .. } = &figure.figure;
    let Some(of) = within.spreads.iter().find(|spread| spread.figure == *name) else { return Vec::new() };
    let ValueSpread { values, n, mean, interval, between, .. } = of;
    let (what, setting) = (figure.figure.label(), &within.setting);
    let level = interval.map_or(0.95, |interval| interval.level);
    let ends = |ends: Option<Interval>| ends.map(|ends| MethodInterval::new("noncentral F", level, ends));
    let row = |kind: &str, found: Cell, corrected: Cell| Row {
        key: Key::of(name, kind),
        cells: vec![Cell::text(kind), found, corrected],
    };
    let found = |name, figure| Cell::figure(name, figure, value(*unit, figure));
    let beyond = |name, figure, interval| mean_cell(*unit, name, Some(figure), None, ends(interval));
    let rows = vec![
        row("mean", Cell::nothing(), mean_cell(*unit, "mean", Some(*mean), None, *interval)),
        row("SD", found("sd", between.sd), beyond("corrected_sd", between.corrected_sd, between.sd_interval)),
        row(
            "range",
            found("range", between.range),
            beyond("corrected_range", between.corrected_range, between.range_interval),
        ),
    ];
    let sign = if *unit == Unit::Share { " %" } else { "" };
    let header = headings("", &[&format!("as found{sign}"), &format!("beyond sampling{sign} [{} %]", percent(level))]);
    let title = format!("{what} over the {values} values of {setting}, {}", counted(*n, "question"));
    let points = if *unit == Unit::Share { " points" } else { "" };
    let [sd, sampling] = [between.corrected_sd, between.sampling_sd].map(|figure| value(*unit, figure));
    let equal = between.sd_interval.is_some_and(|interval| interval.low <= 0.0);
    let equal = if equal { "; they may be equal" } else { "" };
    let line = format!(
        "the values of {setting} differ by an SD of {sd}{points} {what} beyond the {sampling}{points} that equal ones would show on \
         these questions{equal}"
    );
    let lines = Block::Lines { title: String::new(), lines: vec![line] };
    vec![Block::Table(Grid { id: "spread", title, header, rows }), lines]
}

/// What the bounds of pairs are, and that pairs need not have the questions of the means.
pub(super) fn bounds_notes(figure: &FigureComparison) -> Vec<String> {
    let mut lines = Vec::new();
    if figure.has_bounds() {
        let bounds = "what a figure could be over all questions that were tried, if every unmeasured one went one way";
        lines.push(format!("bounds: {bounds}; not a confidence interval"));
    }
    if figure.has_own_questions() {
        let of_all = if figure.cochran_q.is_some() { "means and Cochran's Q" } else { "means" };
        lines.push(format!(
            "n: each pair is compared on the questions that both measured, {of_all} are of those that all measured"
        ));
        lines.push("means may not subtract to the difference of a pair, and results need not be transitive".to_owned());
    }
    lines
}

/// The p of a pair, marked where a rule could stop its run, or what the rule found.
fn p_cell(pair: &Pair) -> Cell {
    if let Some(found) = &pair.stopping {
        let mut cell = Cell::figure("e_value", found.e_value, format!("e = {:.3}", found.e_value));
        cell.figures.extend(Cell::count("looked", found.looked).figures);
        cell.figures.extend(Cell::count("decided", u8::from(found.decided)).figures);
        return cell;
    }
    let Some(p) = pair.p else { return Cell::nothing() };
    let mut cell = Cell::figure("p", p.value, p_value(p.value));
    if pair.stopped_by.is_some() {
        mark_stopped(&mut cell);
    }
    cell
}

/// The difference that this many questions can detect, and the number of questions needed to detect the difference found.
fn power(figure: &FigureComparison, power: f64) -> Block {
    let unit = figure.figure.unit;
    let needed = format!("questions needed [{} %]", percent(level_of(&figure.pairs)));
    let columns = Columns::of("b − a", |pair: &Pair| Cell::text(minus(&pair.b, &pair.a)))
        .numbers("difference", |pair| change_cell(unit, pair.difference, None, None))
        .numbers("detectable", |pair| {
            pair.reach.mde.map_or_else(Cell::nothing, |least| Cell::figure("mde", least, value(unit, least)))
        })
        .numbers("differing", differing)
        .numbers(needed, needed_for);
    // The column has the questions of each pair where these are not those of the means.
    let of = if figure.has_own_questions() { String::new() } else { format!(" of {}", counted(figure.n, "question")) };
    let title = format!("{}, minimum detectable difference{of} at {} % power", figure.figure.label(), percent(power));
    Block::Table(columns.grid("power", title, &figure.pairs, |pair| key(figure, pair)))
}

/// Such as `12 of 60`; the rule of a run has its own number of questions.
fn differing(pair: &Pair) -> Cell {
    let Reach { differing, units, .. } = pair.reach;
    let mut cell = Cell::count("differing", differing);
    cell.text = format!("{differing} of {units}");
    cell.figures.extend(Cell::count("units", units).figures);
    if pair.stopping.is_none() { cell } else { Cell::nothing() }
}

/// Such as `110 [40, ∞]`: where the interval of the difference holds 0, no number of questions may be enough.
fn needed_for(pair: &Pair) -> Cell {
    let mut cell = pair.reach.questions_needed.map_or_else(Cell::nothing, |n| Cell::count("questions_needed", n));
    let Some(Needed { low, high }) = pair.reach.questions_needed_interval else { return cell };
    let ends = [("questions_needed_low", low), ("questions_needed_high", high)]
        .map(|(name, end)| end.map_or_else(|| Cell::figure(name, f64::INFINITY, "∞"), |n| Cell::count(name, n)));
    cell.text = format!("{} [{}, {}]", cell.text, ends[0].text, ends[1].text);
    cell.figures.extend(ends.into_iter().flat_map(|end| end.figures));
    cell
}

/// Why a pair has neither of the two.
fn without_power(figure: &FigureComparison) -> Option<Block> {
    let of_rule = figure.pairs.iter().filter(|pair| pair.stopping.is_some());
    let why = "a rule decided when to stop, and both figures are those of a number of questions that was fixed before";
    let lines = of_rule.map(|pair| format!("{}: {why}", minus(&pair.b, &pair.a))).collect();
    Block::lines(format!("{}, without a minimum detectable difference", figure.figure.label()), lines)
}

/// What it takes to see differences that these questions need not show.
fn effort_lines(figure: &FigureComparison, efforts: &[Effort]) -> Option<Block> {
    let of_it = |effort: &&Effort| effort.metric.name == figure.figure.name;
    let mut lines: Vec<String> = efforts.iter().filter(of_it).map(|effort| effort.sentence.clone()).collect();
    if lines.is_empty() {
        return None;
    }
    let known = efforts.iter().filter(of_it).all(|effort| effort.twice.is_some());
    lines.push(if known {
        "each repeat asks all questions again: it never costs less than further questions do".to_owned()
    } else {
        "no question was repeated, so how much repeats would save is not known: --repeats 2 over some questions tells"
            .to_owned()
    });
    Some(Block::Lines { title: format!("{}, what it takes to see a difference", figure.figure.label()), lines })
}

fn key(figure: &FigureComparison, pair: &Pair) -> Key {
    Key::of_pair(&figure.figure.name, &pair.a, &pair.b)
}

/// The level of the first interval of these pairs.
pub(super) fn level_of<'p>(pairs: impl IntoIterator<Item = &'p Pair>) -> f64 {
    pairs.into_iter().find_map(|pair| pair.interval).map_or(0.95, |interval| interval.level)
}

/// `points [95 %]`
fn difference_heading(unit: Unit, level: f64) -> String {
    let points = if unit == Unit::Share { "points" } else { "difference" };
    format!("{points} [{} %]", percent(level))
}

/// `EM % [95 %]`
pub(super) fn mean_heading(figure: &NamedFigure, interval: Option<MethodInterval>) -> String {
    let unit = if figure.unit == Unit::Share { " %" } else { "" };
    let level = interval.map(|interval| format!(" [{} %]", percent(interval.level))).unwrap_or_default();
    format!("{}{unit}{level}", visible_line(figure.label(), 40))
}

pub(super) fn mean_cell(
    unit: Unit,
    name: &'static str,
    mean: Option<f64>,
    se: Option<f64>,
    interval: Option<MethodInterval>,
) -> Cell {
    with_interval(mean.map(|mean| (name, mean, value(unit, mean))), se, interval, &|end| value(unit, end))
}

pub(super) fn change_cell(unit: Unit, mean: Option<f64>, se: Option<f64>, interval: Option<MethodInterval>) -> Cell {
    let shown = mean.map(|mean| ("difference", mean, signed(unit, mean)));
    let end = |end: f64| signed(unit, shown_end(unit, end));
    with_interval(shown, se, interval, &end)
}

fn with_interval(
    shown: Option<(&'static str, f64, String)>,
    se: Option<f64>,
    interval: Option<MethodInterval>,
    end: &dyn Fn(f64) -> String,
) -> Cell {
    let Some((name, mean, text)) = shown else { return Cell::nothing() };
    let mut cell = Cell::figure(name, mean, text);
    if let Some(interval) = interval {
        cell.text = format!("{} [{}]", cell.text, interval.ends(", ", end));
        cell.figures.extend([("low", interval.low), ("high", interval.high)]);
    }
    cell.figures.extend(se.map(|se| ("se", se)));
    cell
}

fn bounds(bounds: Option<Bounds>, shown: impl Fn(f64) -> String) -> Cell {
    bounds.map_or_else(Cell::nothing, |bounds| Cell {
        text: format!("{} to {}", shown(bounds.low), shown(bounds.high)),
        figures: vec![("lowest", bounds.low), ("highest", bounds.high), ("bounds_n", float(bounds.n))],
    })
}

pub(super) const STOPPED: &str = " (stop rule)";

/// A rule could stop the run, so that this p or interval is not valid at its nominal level.
fn mark_stopped(cell: &mut Cell) {
    cell.text += STOPPED;
    cell.figures.push(("stopped_by_rule", 1.0));
}

/// The tables of a figure and what is known of the labels; lines where there are too few of them.
fn corrected_blocks(comparison: &Comparison, extras: &ComparisonExtras, metric: &str) -> Vec<Block> {
    let Some(figure) = extras.corrected.iter().find(|figure| figure.metric == metric) else { return Vec::new() };
    let of_means: Vec<_> = figure.means.iter().map(|mean| (mean.variant.clone(), &mean.correction)).collect();
    let lines = of_labels(&of_means);
    if !figure.is_any() {
        let line = "uncorrected: the judge's own errors are in these figures; labels of each variant by people correct \
                    them (wikitrail docs judge)";
        return vec![Block::Lines { title: String::new(), lines: [vec![line.to_owned()], lines].concat() }];
    }
    let level = percent(comparison.settings.level);
    let grid = |id, about, names, unit, shown: fn(Unit, f64) -> String, rows: Vec<(String, Key, Correction)>| {
        let columns = Columns::of(names, |(name, ..): &(String, Key, Correction)| Cell::text(name))
            .numbers("labels", |(.., of)| Cell::count("labels", of.labels))
            .numbers(format!("corrected {unit} [{level} %]"), move |(.., of)| corrected_cell(of, shown))
            .numbers("λ", |(.., of)| lambda(of));
        Block::Table(columns.grid(id, format!("{metric}, {about}"), &rows, |(_, key, _)| key.clone()))
    };
    let means = figure.means.iter().map(|mean| {
        let key = Key::of(metric, &mean.variant);
        (mean.variant.clone(), key, mean.correction)
    });
    let pairs = figure.pairs.iter().map(|pair| {
        let key = Key::of_pair(metric, &pair.a, &pair.b);
        (minus(&pair.b, &pair.a), key, pair.correction)
    });
    let mut blocks = vec![
        grid("corrected_means", "corrected by labels", "variant", "%", value, means.collect()),
        grid("corrected_pairs", "pairwise, corrected by labels", "b − a", "points", signed, pairs.collect()),
    ];
    blocks.extend(Block::lines(format!("{metric}, labels"), lines));
    blocks
}

fn corrected_cell(correction: &Correction, shown: fn(Unit, f64) -> String) -> Cell {
    let Some((found, Interval { low, high })) = correction.corrected.zip(correction.interval) else {
        return Cell::text("uncorrected");
    };
    let [mean, from, to] = [found.mean, low, high].map(|share| shown(Unit::Share, share));
    let mut cell = Cell::figure("corrected", found.mean, format!("{mean} [{from}, {to}]"));
    cell.figures.extend([("low", low), ("high", high), ("se", found.se), ("freedom", float(found.freedom))]);
    cell
}

fn lambda(correction: &Correction) -> Cell {
    let found = correction.corrected.filter(|_| correction.interval.is_some());
    found.map_or_else(Cell::nothing, |found| Cell::figure("lambda", found.lambda, format!("{:.2}", found.lambda)))
}

const QUESTION: usize = 60;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FlipList {
    pub a: String,
    pub b: String,
    /// Questions that both measured.
    pub n: usize,
    /// How many are printed; JSON has all.
    #[serde(skip)]
    pub most: usize,
    /// Right in `b` only.
    pub gained: Vec<FlippedQuestion>,
    /// Right in `a` only.
    pub lost: Vec<FlippedQuestion>,
    /// The older and the newer corpus, if gold was looked for in them, and why nothing can be told, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editions: Option<([Edition; 2], Option<String>)>,
}

/// The corpus of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Edition {
    pub variant: String,
    /// As it was named for the run; absent for tables of figures.
    pub wiki: Option<String>,
    pub as_of: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FlippedQuestion {
    pub id: String,
    pub question: String,
    pub class: Option<FailureClass>,
    /// Where the two episodes diverge; absent for tables of figures.
    pub parted: Option<Divergence>,
    /// The right answers among the repeats of both variants, the first's before the second's; absent where none was repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<[Share; 2]>,
    pub command: Option<String>,
    /// Whether the gold pages of both corpora have the gold answer, if that was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gold: Option<GoldState>,
}

fn flip_blocks(flips: &FlipList) -> Vec<Block> {
    let title = format!("flipped answers, {} vs {}", flips.b, flips.a);
    if flips.gained.is_empty() && flips.lost.is_empty() {
        let mut lines = vec![format!("none of {}", counted(flips.n, "question"))];
        lines.extend(flips.editions.as_ref().map(|_| "stale gold: no flipped answers to check".to_owned()));
        return vec![Block::Lines { title, lines }];
    }
    let is_repeated = flips.gained.iter().chain(&flips.lost).any(|flip| flip.repeats.is_some());
    let columns = Columns::of("id", |(_, flip): &(&String, &FlippedQuestion)| Cell::text(&flip.id))
        .words("right in", |(right, _)| Cell::text(*right))
        .only_if(is_repeated, Heading::words(format!("right: {}, {}", flips.a, flips.b)), |(_, flip)| {
            Cell::text(flip.repeats.map_or_else(dash, |[a, b]| format!("{a}, {b}")))
        })
        .words("failure class", |(_, flip)| Cell::text(flip.class.map_or("–", FailureClass::name)))
        .words("divergence", |(_, flip)| divergence(flip.parted))
        .words("question", |(_, flip)| Cell::text(cut(&flip.question, QUESTION)));
    // What the loser lost comes first: it is what somebody can mend.
    let mut sides = [(&flips.a, &flips.lost, &flips.b), (&flips.b, &flips.gained, &flips.a)];
    sides.sort_by_key(|(_, flips, _)| Reverse(flips.len()));
    let listed = || sides.iter().flat_map(|(right, flips, _)| flips.iter().map(move |flip| (*right, flip)));
    let rows: Vec<_> = listed().take(flips.most).collect();
    let key = |flip: &FlippedQuestion| Key { group: flip.id.clone(), ..Key::of_pair("em", &flips.a, &flips.b) };
    let mut blocks = vec![Block::Table(columns.grid("flips", title, &rows, |(_, flip)| key(flip)))];
    let by_side =
        sides.iter().map(|(right, flips, wrong)| format!("right in {right} only: {}", by_class(flips, wrong)));
    let mut lines: Vec<String> = by_side.collect();
    let all = flips.gained.len() + flips.lost.len();
    if all > flips.most {
        lines.push(format!("{} of {} are listed; --flips=all lists all", flips.most, counted(all, "flipped answer")));
    }
    lines.extend(rows.iter().filter_map(|(_, flip)| flip.command.clone()));
    let title = "flipped answers by failure class, and commands that show both episodes";
    blocks.extend(Block::lines(title, lines));
    blocks.extend(flips.editions.as_ref().map(|editions| stale_gold(flips, editions)));
    blocks
}

/// Which flipped answers have stale gold, and for how many that cannot be told.
fn stale_gold(flips: &FlipList, (editions, fault): &([Edition; 2], Option<String>)) -> Block {
    let title = format!("stale gold, {} vs {}", flips.b, flips.a);
    let [older, newer] = editions.each_ref().map(|edition| {
        let facts = [&edition.wiki, &edition.as_of].into_iter().flatten().map(String::as_str);
        format!("{} ({})", edition.variant, facts.collect::<Vec<_>>().join(", "))
    });
    if let Some(fault) = fault {
        return Block::Lines { title, lines: vec![format!("cannot be told: {fault}")] };
    }
    let all = || flips.gained.iter().chain(&flips.lost).filter_map(|flip| Some((flip, flip.gold.as_ref()?)));
    let page = |(flip, gold): (&FlippedQuestion, &GoldState)| match gold {
        GoldState::Stale { page } => Some(format!("{}: {page}", flip.id)),
        GoldState::Still | GoldState::Undecidable { .. } => None,
    };
    let pages: Vec<String> = all().filter_map(page).collect();
    let (stale, answers) = (pages.len(), counted(all().count(), "flipped answer"));
    let gone = "the answer was in this gold page, and is in no gold page of the newer corpus";
    let mut lines = vec![format!("older {older}, newer {newer}"), format!("{stale} of {answers}: {gone}")];
    lines.extend(pages);
    let still = all().filter(|(_, gold)| **gold == GoldState::Still).count();
    lines.push(format!("{still} with the answer in a gold page of both"));
    let undecidable = all().filter_map(|(flip, gold)| match gold {
        GoldState::Undecidable { reason } => Some((reason, flip)),
        GoldState::Still | GoldState::Stale { .. } => None,
    });
    lines.extend(grouped(undecidable).iter().map(|(reason, of)| format!("{} cannot be told: {reason}", of.len())));
    Block::Lines { title, lines }
}

fn divergence(parted: Option<Divergence>) -> Cell {
    let Some(parted) = parted else { return Cell::nothing() };
    Cell::figure("parted_at_step", float(parted.step), format!("step {}, {}", parted.step, parted.part.name()))
}

/// `12 (act: 9 search, 3 reasoning)`
fn by_class(flips: &[FlippedQuestion], wrong: &str) -> String {
    let counts = FailureClass::ALL.map(|class| (class, flips.iter().filter(|flip| flip.class == Some(class)).count()));
    let parts = joined(counts.iter().filter(|(_, n)| *n > 0).map(|(class, n)| format!("{n} {}", class.name())), ", ");
    parts.map_or_else(|| flips.len().to_string(), |parts| format!("{} ({wrong}: {parts})", flips.len()))
}

fn breakdown_tables(breakdown: &Breakdown, figure: &FigureComparison) -> [Block; 2] {
    let unit = figure.figure.unit;
    let of = |group: &Group| Cell::text(group.value.as_deref().unwrap_or("–"));
    let key = |group: &Group, a, b| {
        let group = format!("{}={}", breakdown.by, group.value.as_deref().unwrap_or_default());
        Key { group, ..Key::of_pair(&breakdown.figure, a, b) }
    };
    let groups = || breakdown.groups.iter();
    let interval = groups().flat_map(|group| &group.means).find_map(|mean| mean.interval);
    let means: Vec<_> = groups().flat_map(|group| group.means.iter().map(move |mean| (group, mean))).collect();
    let pairs: Vec<_> = groups().flat_map(|group| group.pairs.iter().map(move |pair| (group, pair))).collect();
    let of_means = Columns::of(&breakdown.by, |(group, _): &(&Group, &GroupMean)| of(group))
        .words("variant", |(_, mean)| Cell::text(&mean.variant))
        .numbers(mean_heading(&figure.figure, interval), |(_, of)| mean_cell(unit, "mean", of.mean, None, of.interval))
        .numbers("n", |(group, _)| Cell::count("n", group.n));
    let difference = |pair: &GroupPair| {
        let mut found = change_cell(unit, pair.difference, pair.se, pair.interval);
        if pair.interval.is_some() && pair.stopped_by.is_some() {
            mark_stopped(&mut found);
        }
        found
    };
    let of_pairs = Columns::of(&breakdown.by, |(group, _): &(&Group, &GroupPair)| of(group))
        .words("b − a", |(_, pair)| Cell::text(minus(&pair.b, &pair.a)))
        .numbers("difference", |(_, pair)| difference(pair))
        .numbers("n", |(_, pair)| Cell::count("n", pair.n));
    let title = format!("{} by {}", figure.figure.label(), breakdown.by);
    let pairwise = format!("{title}, pairwise");
    [
        of_means.grid("part_means", title, &means, |(group, mean)| key(group, &mean.variant, "")),
        of_pairs.grid("part_pairs", pairwise, &pairs, |(group, pair)| key(group, &pair.a, &pair.b)),
    ]
    .map(Block::Table)
}
