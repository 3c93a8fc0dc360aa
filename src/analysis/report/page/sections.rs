//! The sections of a group of variants: scores, differences, flipped answers, why answers are wrong, and for branches what their edit
//! repairs and what was edited in each question.

use super::charts;
use super::data::{QuestionRow, alike, without_its_folders};
use super::html::{Html, NUMBER, encoded, minus, short_path, without_folders};
use crate::analysis::compare::verdict::{p_value, shown_end, signed, value};
use crate::analysis::compare::{FigureComparison, MethodInterval, Pair, Unit, VariantMean, Word};
use crate::analysis::repair::{Branches, Classes, Repair};
use crate::analysis::report::comparison::{ComparisonExtras, bounds_notes, sheet};
use crate::analysis::report::console::dash;
use crate::analysis::report::leaderboard::correction;
use crate::analysis::report::sheet::{Heading, Sheet, headings, to_latex, to_markdown};
use crate::analysis::report::summary::corrected as corrected_share;
use crate::analysis::report::trajectory::{branch_edit, edited_parts};
use crate::analysis::report::verdict::some;
use crate::analysis::results::{Group, JUDGE, Results, Source, folder_name};
use crate::base::Branch;
use crate::base::text::{counted, cut, thousands};
use crate::runner::branch::{CONTROL, EDITED, PLACEBO};
use crate::scoring::{FailureClass, figure};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// The one group of a section: its variants are `first..` among those of the page.
#[derive(Clone, Copy)]
pub(super) struct PageGroup<'a> {
    pub(super) group: &'a Group,
    pub(super) rows: &'a [QuestionRow<'a>],
    pub(super) first: usize,
    /// Which group it is, from 0.
    pub(super) at: usize,
    /// Whether there are others, so that headings name the dataset.
    pub(super) named: bool,
    /// Whether another group has the same dataset, so that headings name the variants too.
    pub(super) is_ambiguous: bool,
}

impl<'a> PageGroup<'a> {
    /// The id of a section, and its heading.
    pub(super) fn id(&self, name: &str) -> String {
        if self.at == 0 { name.to_owned() } else { format!("{name}-{}", self.at) }
    }

    pub(super) fn heading(&self, words: &str) -> String {
        if self.named { format!("{words}: {}", self.name()) } else { words.to_owned() }
    }

    /// What tells the group from others: its dataset, or its variants where another group has that too.
    pub(super) fn name(&self) -> String {
        let names: Vec<&str> = self.group.names.iter().map(String::as_str).collect();
        let dataset = self.group.dataset();
        if self.is_ambiguous { format!("{dataset}, {}", some(&names)) } else { dataset.to_owned() }
    }

    pub(super) fn em(&self) -> Option<&FigureComparison> {
        self.group.comparison.as_ref().ok()?.figure("em")
    }

    /// The comparison on the questions that all measured, where pairs and variants have others.
    fn of_all(&self) -> Option<&'a FigureComparison> {
        let em = self.group.comparison.as_ref().ok()?.figure(&self.group.score.name)?;
        Some(em).filter(|em| em.n > 0 && self.group.common().is_none())
    }

    /// The places of the variants, those with the highest mean first.
    pub(super) fn order(&self) -> Vec<usize> {
        let means = self.group.means();
        let mean = |at: usize| means[at].and_then(|mean| mean.mean).unwrap_or(-1.0);
        let mut order: Vec<usize> = (0..means.len()).collect();
        order.sort_by(|a, b| mean(*b).total_cmp(&mean(*a)));
        order
    }

    pub(super) fn whole(&self, at: usize) -> Option<&'a str> {
        whole_name(&self.group.sources[at], &self.group.names[at])
    }

    pub(super) fn is_measured(&self) -> bool {
        self.group.sources.iter().any(|source| source.episodes.iter().any(|episode| episode.item.measured))
    }

    pub(super) fn own_rows(&self) -> impl Iterator<Item = &QuestionRow<'_>> {
        self.rows.iter().filter(|row| row.group == self.at)
    }

    /// The questions that one of its variants has right and another one wrong.
    pub(super) fn flips(&self, right: usize, wrong: usize) -> impl Iterator<Item = &QuestionRow<'_>> {
        let [right, wrong] = [right, wrong].map(|at| self.first + at);
        self.own_rows().filter(move |row| row.right(right) == Some(true) && row.right(wrong) == Some(false))
    }
}

/// The name of a variant in its run, where it is called by a shorter one.
pub(super) fn whole_name<'a>(source: &'a Source, called: &str) -> Option<&'a str> {
    // The run's name may be in front, and the number of a variant that is named twice behind.
    source.run.variant.as_deref().filter(|whole| !called.contains(*whole))
}

/// The pairs without those whose variants have the same results as another pair's, and how many these are.
pub(super) fn distinct<'a>(figure: &'a FigureComparison, part: &PageGroup<'_>) -> (Vec<&'a Pair>, usize) {
    let same = alike(&part.group.sources);
    let class = |name: &str| {
        let at = part.group.names.iter().position(|known| known == name);
        at.and_then(|at| same.iter().position(|members| members.contains(&at)))
    };
    let mut said = HashSet::new();
    let speaks = |pair: &&Pair| {
        let (a, b) = (class(&pair.a), class(&pair.b));
        a != b && said.insert((a.min(b), a.max(b)))
    };
    let pairs: Vec<&Pair> = figure.pairs.iter().filter(speaks).collect();
    let others = figure.pairs.len() - pairs.len();
    (pairs, others)
}

/// A column of the scores: its heading, and what writes the cell of a variant.
type Column<'a> = (String, Box<dyn Fn(&mut Html, usize) + 'a>);

fn numbers<'a>(heading: impl Into<String>, of: impl Fn(usize) -> String + 'a) -> Column<'a> {
    (heading.into(), Box::new(move |html, at| html.number(&of(at))))
}

/// The columns of what the variants score; `means` are those that the bars show.
fn score_columns<'a>(part: PageGroup<'a>, means: &'a [Option<&'a VariantMean>]) -> Vec<Column<'a>> {
    let Group { names, standings, comparison, .. } = part.group;
    let (common, label) = (part.group.common(), part.group.score.label());
    let of_all = part.of_all();
    let of =
        move |figure: &'a FigureComparison| move |at: usize| share(figure.mean(&names[at]).and_then(|mean| mean.mean));
    // The questions of a mean are named where they are not those of the first one.
    let on = |name: &str, n: usize| match common {
        Some(em) if em.n == n => format!("{name} %"),
        _ => format!("{name} % on {}", thousands(n)),
    };
    let mut columns = vec![
        numbers(format!("{label} %"), move |at| share(means[at].and_then(|mean| mean.mean))),
        numbers("95 %", move |at| interval(means[at].and_then(|mean| mean.interval))),
    ];
    columns.extend(common.is_none().then(|| numbers("n", move |at| thousands(standings[at].n))));
    columns.extend(of_all.map(|em| numbers(on(label, em.n), of(em))));
    let compared = |name| comparison.as_ref().ok()?.figure(name).filter(|figure| figure.n > 0);
    columns.extend(compared("f1").map(|f1| numbers(on("F1", f1.n), of(f1))));
    // A variant may have measured more questions than the other.
    let own = move |at: usize| {
        let of = counted(standings[at].n, "question");
        let em = standings[at].own.as_ref().and_then(|own| own.mean);
        em.map_or_else(dash, |em| format!("{} ({of})", share(Some(em))))
    };
    let has_own = common.is_some_and(|em| standings.iter().any(|standing| standing.n != em.n));
    columns.extend(has_own.then(|| numbers(format!("own {label} %"), own)));
    if let Some(judge) = compared(JUDGE) {
        columns.push(numbers(on("judge", judge.n), of(judge)));
        columns.extend(corrected_column(part.group));
        columns.push((format!("judge ≠ {label}"), Box::new(move |html, at| disputed_cell(html, &part, at))));
    }
    if names.len() > 2 {
        columns.push(numbers("rank", move |at| standings[at].rank.map_or_else(dash, |rank| rank.to_string())));
    }
    columns
}

fn expense_columns(sources: &[Source]) -> Vec<Column<'_>> {
    let mean = move |figure: &'static figure::Figure| move |at: usize| amount(sources[at].mean(figure));
    let has = |figure: &figure::Figure| sources.iter().any(|source| source.mean(figure).is_some());
    let mut columns: Vec<Column<'_>> =
        figures(sources).iter().map(|&figure| numbers(figure.name, mean(figure))).collect();
    columns.extend(has(&figure::COST_USD).then(|| numbers("US $", move |at| total_cost(&sources[at]))));
    columns.extend(
        has(&figure::ALL_HOPS).then(|| numbers("all hops %", move |at| share(sources[at].mean(&figure::ALL_HOPS)))),
    );
    let unmeasured = move |at: usize| sources[at].episodes.iter().filter(|episode| !episode.item.measured).count();
    columns.push(numbers("not measured", move |at| thousands(unmeasured(at))));
    columns
}

pub(super) fn scores_section(html: &mut Html, part: &PageGroup<'_>) {
    let Group { sources, names, standings, .. } = part.group;
    let (means, label) = (part.group.means(), part.group.score.label());
    let scale = charts::score_scale(means.iter().flatten().copied());
    let mut columns = score_columns(*part, &means);
    columns.extend(expense_columns(sources));
    let mut headings = vec![Heading::words("variant"), Heading::words(charts::ends_of(scale))];
    headings.extend(columns.iter().map(|(heading, _)| Heading::numbers(heading)));
    html.section(&part.id("scores"), &part.heading("Scores"), |html| {
        html.table(&scores_caption(part), &headings, |html| {
            for at in part.order() {
                html.row_of(&names[at], part.whole(at), |html| {
                    html.element("td", &[], |html| {
                        means[at].iter().for_each(|mean| charts::score(html, mean, scale, label));
                    });
                    for (_, cell) in &columns {
                        cell(html, at);
                    }
                });
            }
        });
        let priced = sources.iter().any(|source| source.mean(&figure::COST_USD).is_some());
        let cost = if priced { "; US $ is the cost of measured episodes" } else { "" };
        html.facts(&format!("Steps, calls and tokens are means of an episode{cost}."));
        if sources.len() > 2 {
            let pairs = standings.first().map_or(0, |standing| standing.pairs);
            let end = correction(pairs, sources.len()).map_or_else(String::new, |of| format!("; {of}"));
            html.facts(&format!("{RANK}{end}."));
        }
        copy_buttons(html, part);
    });
}

/// The judge's share, corrected by the labels of people.
fn corrected_column(group: &Group) -> Option<Column<'_>> {
    let figure = group.corrected.iter().find(|figure| figure.metric == JUDGE)?;
    let of = |at: usize| {
        let mean = figure.means.iter().find(|mean| mean.variant == group.names[at]);
        mean.map_or_else(dash, |mean| corrected_share(&mean.correction))
    };
    Some(numbers("judge % corrected by labels", of))
}

/// The number of questions of a variant on which judges and EM disagree; it lists them.
fn disputed_cell(html: &mut Html, part: &PageGroup<'_>, at: usize) {
    let count = part.own_rows().filter(|row| row.is_disputed(part.first + at)).count();
    let data = [("data-show", "disputed"), ("data-variant", part.group.names[at].as_str())];
    html.element("td", NUMBER, |html| match count {
        0 => html.text("0"),
        n => html.filter(&thousands(n), &data, " questions on which judge and metric disagree"),
    });
}

/// Figures of which the scores have the mean: tokens only where a server counted them.
fn figures(sources: &[Source]) -> &'static [&'static figure::Figure] {
    let counted = sources.iter().any(|source| source.mean(&figure::TOKENS) > Some(0.0));
    if counted { &[&figure::STEPS, &figure::CALLS, &figure::TOKENS] } else { &[&figure::STEPS, &figure::CALLS] }
}

fn scores_caption(part: &PageGroup<'_>) -> String {
    let what = if part.group.score.accuracy { "Accuracy" } else { "Exact match" };
    let Some(em) = part.group.common() else {
        let beside = match part.of_all() {
            Some(em) => format!(" and on the {} that all measured", thousands(em.n)),
            None => ", as no question was measured in all".to_owned(),
        };
        return format!("{what} of each variant's own questions{beside}; bars are 95 % intervals, the best first");
    };
    let kind = em.means.iter().find_map(|mean| mean.interval).map_or("", |interval| kind(interval.method));
    let questions = counted(em.n, "question");
    let stopped = if part.group.stopped.is_empty() { "" } else { " (stop rule)" };
    format!("{what} on {questions}{stopped} that all variants measured; bars are 95 % intervals{kind}, the best first")
}

const RANK: &str =
    "Rank: 1 + the number of variants that are distinguishably better, each pair is compared on its shared questions";

fn kind(method: &str) -> &'static str {
    match method {
        "wilson" => " (Wilson)",
        "cluster padded t" => " (padded t over clusters)",
        _ => " (padded t)",
    }
}

/// The tables of the comparison for a paper and for an issue.
fn copy_buttons(html: &mut Html, part: &PageGroup<'_>) {
    let Ok(comparison) = &part.group.comparison else { return };
    let (settings, corrected) = (part.group.settings.clone(), part.group.corrected.clone());
    let sheet = sheet(comparison, &ComparisonExtras { settings, corrected, ..ComparisonExtras::default() });
    html.element("div", &[("class", "buttons")], |html| {
        for name in ["LaTeX", "Markdown"] {
            let id = part.id(&name.to_ascii_lowercase());
            html.leaf("button", &[("type", "button"), ("data-copy", &id)], &format!("Copy tables as {name}"));
            html.text(" ");
        }
    });
    for (name, text) in copies(sheet) {
        html.leaf("pre", &[("hidden", ""), ("id", &part.id(name))], &text);
    }
}

/// The tables as LaTeX and as Markdown. Folders go before the texts are escaped: `\_` and `&#58;` look like parts of a path.
fn copies(sheet: Sheet) -> [(&'static str, String); 2] {
    let sheet = sheet.with_texts(without_folders);
    [("latex", to_latex(&sheet)), ("markdown", to_markdown(&sheet))]
}

/// Rows of the first table of differences at most; with more, it has those of the best variant.
const PAIRS: usize = 10;

pub(super) fn differences_section(html: &mut Html, part: &PageGroup<'_>) {
    let Some(em) = part.em().filter(|figure| !figure.pairs.is_empty()) else { return };
    html.section(&part.id("differences"), &part.heading("Differences on the same questions"), |html| {
        let (mut pairs, alike) = distinct(em, part);
        if pairs.len() > PAIRS {
            let best = em.means.iter().max_by(|a, b| a.mean.unwrap_or(-1.0).total_cmp(&b.mean.unwrap_or(-1.0)));
            pairs.retain(|pair| best.is_some_and(|best| [&pair.a, &pair.b].contains(&&best.variant)));
        }
        if alike > 0 {
            html.facts("Variants with identical results are shown once.");
        }
        if !pairs.is_empty() {
            forest(html, em, &pairs);
        }
        let all: Vec<&Pair> = em.pairs.iter().collect();
        if pairs.len() < all.len() {
            let summary = match all.len() {
                1 => "The pair".to_owned(),
                n => format!("All {}", counted(n, "pair")),
            };
            html.folded(&summary, |html| forest(html, em, &all));
        }
        let others = part.group.comparison.iter().flat_map(|comparison| &comparison.figures);
        for figure in others.filter(|figure| figure.figure.name != em.figure.name) {
            let pairs: Vec<&Pair> = figure.pairs.iter().collect();
            html.folded(&format!("Differences in {}", figure.figure.label()), |html| forest(html, figure, &pairs));
        }
    });
}

fn forest(html: &mut Html, figure: &FigureComparison, pairs: &[&Pair]) {
    let scale = charts::difference_scale(figure);
    let axis = signed(figure.figure.unit, charts::reach(figure));
    let questions = if figure.has_own_questions() {
        "the questions that both measured".to_owned()
    } else {
        format!("the same {}", counted(figure.n, "question"))
    };
    let caption = format!(
        "Differences in points {} on {questions}, 95 % intervals, from −{axis} to {axis}; hollow: {}not distinguishable{}",
        figure.figure.label(),
        if pairs.iter().any(|pair| pair.verdict.word == Word::Undecided) { "undecided or " } else { "" },
        corrected(figure).map_or_else(String::new, |over| format!(" ({over})")),
        axis = axis.trim_start_matches('+'),
    );
    let mut headings = ["b − a", "difference"].map(Heading::words).to_vec();
    headings.extend(["points", "95 %", "n", "p Holm"].map(Heading::numbers));
    let (binary, bounded) = (figure.has_mcnemar(), figure.has_bounds());
    if binary {
        headings.extend(["only a right", "only b right"].map(Heading::numbers));
    }
    headings.extend(bounded.then(|| Heading::numbers("bounds")));
    headings.push(Heading::words("verdict"));
    html.table(&caption, &headings, |html| {
        for pair in pairs {
            html.row(&format!("{} − {}", pair.b, pair.a), |html| {
                html.element("td", &[], |html| charts::pair(html, pair, &scale));
                html.number(&minus(&pair.difference.map_or_else(dash, |found| signed(Unit::Share, found))));
                html.number(&minus(&ends(pair)));
                html.number(&thousands(pair.n));
                let rule = pair.stopping.as_ref().map(|found| format!("e = {:.3}", found.e_value));
                let stopped = if pair.stopped_by.is_some() { " (stop rule)" } else { "" };
                html.number(&rule.unwrap_or_else(|| pair.p_holm.map_or_else(dash, |p| p_value(p) + stopped)));
                if binary {
                    let counts = pair.tests.mcnemar.map(|test| [test.only_a, test.only_b]);
                    for at in [0, 1] {
                        html.number(&counts.map_or_else(dash, |counts| thousands(counts[at])));
                    }
                }
                if bounded {
                    let shown = |at| signed(Unit::Share, at);
                    let bounds = pair.bounds.map(|of| format!("{} to {}", shown(of.low), shown(of.high)));
                    html.number(&minus(&bounds.unwrap_or_else(dash)));
                }
                let how = if pair.verdict.word == Word::Beats { "better" } else { "ahead" };
                let winner = pair.verdict.winner.as_ref().map(|winner| format!("{winner} is {how}"));
                html.leaf("td", &[], &winner.unwrap_or_else(|| pair.verdict.word.name().to_owned()));
            });
        }
    });
    for line in bounds_notes(figure) {
        html.facts(&format!("{line}."));
    }
}

/// Over how many pairs p is corrected by Holm.
pub(super) fn corrected(figure: &FigureComparison) -> Option<String> {
    correction(figure.pairs.iter().filter(|pair| pair.p.is_some()).count(), figure.means.len())
}

fn share(value_: Option<f64>) -> String {
    value_.map_or_else(dash, |share| value(Unit::Share, share))
}

fn amount(value_: Option<f64>) -> String {
    value_.map_or_else(dash, |mean| match mean {
        ..10.0 => format!("{mean:.2}"),
        ..100.0 => format!("{mean:.1}"),
        // Halves go up, as in `score`.
        _ => format!("{:.0}", mean.round()),
    })
}

fn total_cost(source: &Source) -> String {
    let costs = source.values(&figure::COST_USD);
    source.mean(&figure::COST_USD).map_or_else(dash, |_| format!("{:.4}", costs.sum::<f64>()))
}

fn interval(interval: Option<MethodInterval>) -> String {
    interval.map_or_else(dash, |of| format!("{} to {}", value(Unit::Share, of.low), value(Unit::Share, of.high)))
}

/// The ends of a difference. The rule of a run has a level of its own.
fn ends(pair: &Pair) -> String {
    let shown = |at: f64| signed(Unit::Share, shown_end(Unit::Share, at));
    pair.interval.map_or_else(dash, |of| {
        let ends = of.ends(" to ", shown);
        charts::own_level(pair).map_or_else(|| ends.clone(), |level| format!("{ends} at {level} %"))
    })
}

pub(super) fn flips_section(html: &mut Html, part: &PageGroup<'_>) {
    // Variants with identical results are shown once.
    let same = alike(&part.group.sources);
    if same.len() < 2 {
        return;
    }
    let name = |members: &Vec<usize>| part.group.names[members[0]].as_str();
    let more = |members: &Vec<usize>| match members.len() {
        1 => name(members).to_owned(),
        n => format!("{} (+{})", name(members), n - 1),
    };
    let count = |right: &[usize], wrong: &[usize]| part.flips(right[0], wrong[0]).count();
    let counts: Vec<Vec<usize>> =
        same.iter().map(|right| same.iter().map(|wrong| count(right, wrong)).collect()).collect();
    let most = counts.iter().flatten().copied().max().unwrap_or_default();
    html.section(&part.id("flips"), &part.heading("Flipped answers"), |html| {
        let names: Vec<String> = same.iter().map(more).collect();
        let headings = headings("right ↓ wrong →", &names.iter().map(String::as_str).collect::<Vec<_>>());
        html.table("Questions that the row has right and the column wrong; a number lists them", &headings, |html| {
            for (right, counts) in same.iter().zip(&counts) {
                html.row(&more(right), |html| {
                    for (wrong, count) in same.iter().zip(counts) {
                        let data = [("data-show", "flip"), ("data-a", name(right)), ("data-b", name(wrong))];
                        let noun = if *count == 1 { "question" } else { "questions" };
                        let about = format!(" {noun} that {} has right and {} wrong", name(right), name(wrong));
                        heat_cell(html, *count, most, &data, &about);
                    }
                });
            }
        });
    });
}

/// A number that lists its questions, on a ground that is darker the larger it is.
fn heat_cell(html: &mut Html, count: usize, most: usize, data: &[(&str, &str)], about: &str) {
    if count == 0 {
        html.number("·");
        return;
    }
    let heat = (4 * count).div_ceil(most.max(1)).min(4);
    html.element("td", &[("class", &format!("n h{heat}"))], |html| {
        html.filter(&thousands(count), data, about);
    });
}

pub(super) fn failures_section(html: &mut Html, part: &PageGroup<'_>) {
    // Of a run that failed as a whole there is nothing to draw.
    if !part.is_measured() {
        return;
    }
    html.section(&part.id("why"), &part.heading("Why wrong, and at what cost"), |html| {
        let names = &part.group.names;
        let of = |at: usize, class: FailureClass| {
            let wrong = |row: &&QuestionRow<'_>| row.right(at) == Some(false) && row.class(at) == Some(class);
            part.own_rows().filter(wrong).count()
        };
        let counts: Vec<Vec<usize>> = (0..names.len())
            .map(|at| FailureClass::ALL.iter().map(|class| of(part.first + at, *class)).collect())
            .collect();
        let most = counts.iter().flatten().copied().max().unwrap_or_default();
        // A class that no variant has gets no column.
        let has = |at: usize| counts.iter().any(|counts| counts[at] > 0);
        let classes: Vec<usize> = (0..FailureClass::ALL.len()).filter(|at| has(*at)).collect();
        let names_of: Vec<&str> = classes.iter().map(|at| FailureClass::ALL[*at].name()).collect();
        let mut headings = headings("variant", &names_of);
        headings.extend(["wrong", "ended at the step limit"].map(Heading::numbers));
        html.table("Wrong questions by failure class; a number lists them", &headings, |html| {
            for ((name, counts), at) in names.iter().zip(&counts).zip(part.first..) {
                html.row_of(name, part.whole(at - part.first), |html| {
                    for (class, count) in classes.iter().map(|at| (FailureClass::ALL[*at], counts[*at])) {
                        let data =
                            [("data-show", "wrong"), ("data-variant", name.as_str()), ("data-class", class.name())];
                        heat_cell(html, count, most, &data, &format!(" wrong answers of {name}: {}", class.name()));
                    }
                    html.number(&thousands(counts.iter().sum::<usize>()));
                    html.number(&thousands(part.own_rows().filter(|row| row.ended_wrong_at_limit(at)).count()));
                });
            }
        });
        html.element("div", &[("class", "side-by-side")], |html| {
            let label = part.group.score.label();
            let points = charts::cost_points(part.group);
            if points.0.len() > 1 {
                html.figure(&format!("{label} against cost"), |html| charts::cost(html, label, &points));
            }
        });
        html.element("details", &[("class", "steps")], |html| {
            html.leaf("summary", &[], "Steps of each variant's episodes (filled: right)");
            html.element("div", &[("class", "small-multiples")], |html| {
                for (name, source) in names.iter().zip(&part.group.sources) {
                    html.figure(name, |html| charts::steps(html, name, source));
                }
            });
        });
    });
}

/// Questions whose edits are listed.
const LISTED: usize = 200;
const EDIT_CHARS: usize = 200;

/// The folders of branches among these variants.
pub(super) fn folders<'a>(part: &PageGroup<'a>) -> BTreeSet<&'a Path> {
    let sources = part.group.sources.iter();
    let is_branch = |source: &&Source| source.origin.as_ref().is_some_and(|origin| origin.manifest.is_branch());
    sources.filter(is_branch).map(|source| &*source.run.path).collect()
}

pub(super) fn branches_sections(html: &mut Html, results: &Results, part: &PageGroup<'_>) {
    let named: Vec<&Path> = results.variants().map(|(source, _)| &*source.run.path).collect();
    let folders = folders(part);
    for (number, folder) in folders.iter().enumerate() {
        let id = if number == 0 { "branches".to_owned() } else { format!("branches-of-{number}") };
        let which = if folders.len() > 1 { format!(": {}", folder_name(folder)) } else { String::new() };
        html.section(
            &part.id(&id),
            &part.heading(&format!("What the edit repairs{which}")),
            |html| match Branches::read(folder, &named) {
                Ok(branches) => Arms::of(part, folder).branches(html, &branches),
                Err(error) => {
                    let reason = format!("Repair rates are left out: {error}.");
                    html.leaf("p", &[("class", "notice")], &without_folders(&reason));
                }
            },
        );
    }
}

/// The arms of a folder of branches, each with its place in the group.
struct Arms<'a> {
    part: &'a PageGroup<'a>,
    places: Vec<(&'static str, usize)>,
}

impl<'a> Arms<'a> {
    fn of(part: &'a PageGroup<'a>, folder: &Path) -> Self {
        let place = |arm: &'static str| {
            let mut sources = part.group.sources.iter();
            let is_arm = |source: &Source| source.run.path == folder && source.run.variant.as_deref() == Some(arm);
            Some((arm, sources.position(is_arm)?))
        };
        Self { part, places: [CONTROL, PLACEBO, EDITED].into_iter().filter_map(place).collect() }
    }

    fn branches(&self, html: &mut Html, Branches { edits, repaired }: &Branches) {
        let edits: Vec<(&QuestionRow<'_>, &Branch)> =
            self.part.own_rows().filter_map(|row| Some((row, edits.get(row.id)?))).collect();
        let Some((_, first)) = edits.first() else { return };
        html.leaf("p", &[], &summary(&edits));
        if let Some((_, repair)) = repaired {
            repair_rates(html, repair);
        } else {
            let at = self.places.last().map_or(0, |(_, at)| *at);
            let folder = folder_name(&self.part.group.sources[at].run.path);
            let command = format!("wikitrail report {} {folder}", short_path(&first.run));
            html.element("p", &[("class", "notice")], |html| {
                html.text("Repair rates need the run that was branched off. Name both: ");
                html.leaf("code", &[], &command);
            });
        }
        let summary = format!("The edit in each of {}", counted(edits.len(), "question"));
        html.folded(&summary, |html| self.edits(html, &edits, repaired.as_ref().map(|(classes, _)| classes)));
    }

    /// The step and the edit of each question, with what the arms make of it.
    fn edits(&self, html: &mut Html, edits: &[(&QuestionRow<'_>, &Branch)], classes: Option<&Classes>) {
        let mut headings = vec![Heading::words("question")];
        headings.extend(classes.map(|_| Heading::words("class")));
        headings.extend([Heading::numbers("step"), Heading::words("edit")]);
        headings.extend(self.places.iter().map(|(name, _)| Heading::words(*name)));
        let caption = match edits.len() {
            n if n > LISTED => format!("The first {LISTED} questions; a link opens both branches side by side"),
            _ => "A link opens both branches side by side".to_owned(),
        };
        html.table(&caption, &headings, |html| {
            for (row, branch) in edits.iter().take(LISTED) {
                html.element("tr", &[], |html| {
                    html.element("th", &[("scope", "row")], |html| {
                        html.leaf("a", &[("href", &self.address(row))], row.id);
                    });
                    if let Some(classes) = classes {
                        html.leaf("td", &[], classes.get(row.id).copied().unwrap_or("–"));
                    }
                    html.number(&branch.at.to_string());
                    let edit = branch_edit(&without_its_folders(branch)).unwrap_or_default();
                    html.leaf("td", &[("class", "edit"), ("dir", "auto")], &cut(&edit, EDIT_CHARS));
                    for (_, at) in &self.places {
                        html.leaf("td", &[], &verdict(row.em(self.part.first + at)));
                    }
                });
            }
        });
    }

    fn address(&self, row: &QuestionRow<'_>) -> String {
        let name = |arm: &str| {
            let place = self.places.iter().find(|(known, _)| *known == arm);
            place.map_or_else(String::new, |(_, at)| encoded(&self.part.group.names[*at]))
        };
        format!("#/q/{}?left={}&right={}", encoded(row.id), name(CONTROL), name(EDITED))
    }
}

/// `The edit: action edited by rule gold-page, at step 2, in 22 questions of r@main.`
fn summary(edits: &[(&QuestionRow<'_>, &Branch)]) -> String {
    let each =
        |of: &dyn Fn(&Branch) -> String| -> BTreeSet<String> { edits.iter().map(|(_, branch)| of(branch)).collect() };
    let parts = each(&|branch| edited_parts(branch).unwrap_or_default());
    let rules = each(&|branch| if branch.by == "hand" { String::new() } else { format!(" by rule {}", branch.by) });
    let runs = each(&|branch| format!("{}@{}", short_path(&branch.run), branch.variant));
    let listed = |values: BTreeSet<String>, word: &str| values.into_iter().collect::<Vec<_>>().join(word);
    let steps = || edits.iter().map(|(_, branch)| branch.at);
    let steps = match (steps().min().unwrap_or_default(), steps().max().unwrap_or_default()) {
        (least, most) if least == most => format!("step {least}"),
        (least, most) => format!("steps {least} to {most}"),
    };
    let (parts, rules, runs) = (listed(parts, " or "), listed(rules, " or"), listed(runs, ", "));
    let questions = counted(edits.len(), "question");
    format!("The edit: {parts}{rules}, at {steps}, in {questions} of {}.", cut(&runs, 200))
}

fn repair_rates(html: &mut Html, repair: &Repair) {
    let (headings, rows) = repair.table();
    html.table("EM % by the class of the recorded episode, and what the edit adds in points", &headings, |html| {
        for row in rows {
            let Some((class, cells)) = row.split_first() else { continue };
            html.row(class, |html| cells.iter().for_each(|cell| html.number(&minus(cell))));
        }
    });
    for note in repair.notes() {
        html.facts(&format!("{note}."));
    }
}

/// Whether an arm is right, of several repeats the share.
fn verdict(em: Option<f64>) -> String {
    match em {
        None => "–".to_owned(),
        Some(em) if em <= 0.0 => "✗ wrong".to_owned(),
        Some(em) if em >= 1.0 => "✓ right".to_owned(),
        Some(em) => format!("{:.0} % right", 100.0 * em),
    }
}

#[cfg(test)]
mod tests {
    use super::{amount, copies};
    use crate::analysis::report::sheet::{Block, Sheet};

    #[test]
    fn halves_of_large_amounts_go_up() {
        assert_eq!([9.994, 99.94, 124.5, 124.4].map(|mean| amount(Some(mean))), ["9.99", "99.9", "125", "124"]);
    }

    #[test]
    fn copied_tables_keep_addresses_and_lose_folders() {
        let lines = vec!["http://127.0.0.1:8/v1, corpus:/data/my_wiki_a".to_owned()];
        let blocks = Block::lines("", lines).into_iter().collect();
        let [(_, latex), (_, markdown)] = copies(Sheet { title: "t".to_owned(), blocks });
        assert!(latex.contains("http://127.0.0.1:8/v1, corpus:my_wiki_a"), "{latex}");
        assert!(markdown.contains("http&#58;//127.0.0.1&#58;8/v1, corpus&#58;my\\_wiki\\_a"), "{markdown}");
    }
}
