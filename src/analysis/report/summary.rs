//! The tables at the end of a run: scores with intervals, outcomes, costs, retrieval and grounding, repeats of questions.

use super::console::{dash, duration, percent, wrapped, wrapped_command};
use super::sheet::{Columns, Heading};
use crate::analysis::results::Correction;
use crate::base::short_names::ShortNames;
use crate::base::stats::{Interval, Mean, Moments, Sums, wilson};
use crate::base::text::{counted, joined, thousands, visible_line};
use crate::base::{Outcome, Usage};
use crate::runner::VariantScore;
use crate::scoring::{Pass, Repeats, RunAssessment, RunScore, Share, Unit, float};
use serde::Serialize;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

/// A longer variant name is cut after this many characters.
const NAME: usize = 80;

pub(crate) struct RunSummary<'a> {
    /// Line above the table, such as the run's folder.
    pub title: String,
    /// Whether EM is an accuracy and F1 says the same.
    pub accuracy: bool,
    pub rows: &'a [VariantScore],
    pub short: ShortNames,
    pub joined: &'a [JoinedRow],
    /// Time of the run's parts together, in milliseconds, where it is known.
    pub wall_ms: Option<u64>,
    /// Other remarks, one a line below the tables.
    pub notes: Vec<String>,
    /// Further tables below the remarks; empty, or ending in a line break.
    pub below: String,
    /// Commands to try next, one a line at the end.
    pub next: Vec<String>,
}

impl RunSummary<'_> {
    /// The summary as text. Episodes without a measurement count in no mean; a note gives the bounds they leave.
    pub(crate) fn render(&self, width: usize) -> String {
        let mut text = self.head(width);
        if self.is_measured() {
            text += &self.tables(width);
        }
        text += &joined_table(self.joined, &self.short, width).unwrap_or_default();
        for note in self.rows.iter().flat_map(|row| details_of(self.name(row), row)) {
            text += &wrapped(&note, width, "");
        }
        text.push_str(&self.below);
        text + &self.commands("next", width)
    }

    /// The end of a run: what was not measured and why, one table, the verdict, and what to do next.
    pub(crate) fn brief(&self, verdict: &[String], width: usize) -> String {
        let mut text = self.head(width);
        if self.is_measured() {
            let intervals = caption(self.rows.iter().map(|row| &row.score), true);
            text = text + &self.overview(width) + "\n" + &wrapped(&format!("{intervals}{}", self.took()), width, "");
        }
        for sentence in verdict {
            text += &wrapped(&self.short.in_text(sentence), width, "");
        }
        let title = if self.is_measured() { "next (`score` has costs, retrieval and failure classes)" } else { "next" };
        text + &self.commands(title, width)
    }

    fn is_measured(&self) -> bool {
        self.rows.iter().any(|row| row.score.measured > 0)
    }

    /// The title, and what is missing from the figures: a reader should know it before them.
    fn head(&self, width: usize) -> String {
        let lines = std::iter::once(self.title.clone()).chain(self.remarks());
        lines.map(|line| wrapped(&visible_line(&line, 500), width, "")).collect()
    }

    fn tables(&self, width: usize) -> String {
        let intervals = caption(self.rows.iter().map(|row| &row.score), self.accuracy);
        let (scores, costs, took) = (self.scores(width), self.costs(width), self.took());
        let variants: Vec<Assessed> = self.rows.iter().map(|row| (self.shown_name(row), &row.assessment)).collect();
        // Only where an answer is wrong.
        let why = failures(&variants, width)
            .map_or_else(String::new, |table| format!("{table}\n{}\n", paper(&variants, width)));
        let shares = shares(&variants, width);
        format!(
            "{scores}\n{intervals}\n{costs}\ntime: mean per episode{took}\n{shares}\n{why}explained in: wikitrail docs metrics\n"
        )
    }

    fn commands(&self, title: &str, width: usize) -> String {
        let commands = self.next.iter().map(|command| wrapped_command(&visible_line(command, 500), width, "  "));
        if self.next.is_empty() { String::new() } else { commands.fold(format!("{title}:\n"), |text, it| text + &it) }
    }

    fn shown_name(&self, row: &VariantScore) -> String {
        visible_line(self.name(row), NAME)
    }

    fn name<'r>(&'r self, row: &'r VariantScore) -> &'r str {
        self.short.of_name(&row.name)
    }

    /// One row for each variant, with the columns that have a value.
    fn overview(&self, width: usize) -> String {
        let shows = |has: fn(&RunScore) -> bool| self.rows.iter().any(|row| has(&row.score));
        let (priced, unmeasured) = (shows(|score| score.cost_usd.is_some()), shows(|score| score.not_measured > 0));
        let wrong = self.rows.iter().any(|row| row.assessment.wrong > 0);
        let columns = |of_all: bool| {
            self.scored()
                .only_if(!self.accuracy, Heading::numbers("F1 %"), |row| row.score.f1.map_or_else(dash, percent))
                .numbers("steps", mean_steps)
                .only_if(priced, Heading::numbers("USD"), cost)
                .only_if(unmeasured, Heading::numbers("not\nmeasured"), |row| thousands(row.score.not_measured))
                .only_if(wrong, Heading::words("top failure"), move |row| commonest_failure(&row.assessment, of_all))
        };
        // Names on one line are worth more than how many answers are wrong.
        let whole: Vec<Vec<String>> = self.rows.iter().map(|row| columns(true).cells(row)).collect();
        let widest = |at: usize| whole.iter().map(|row| row[at].width() + 2).max().unwrap_or_default();
        let needed: usize = (0..whole.first().map_or(0, Vec::len)).map(widest).sum();
        columns(needed <= width).table(self.rows, width)
    }

    /// The first columns of what the variants score.
    fn scored(&self) -> Columns<'_, VariantScore, String> {
        let em = if self.accuracy { "accuracy % [95 %]" } else { "EM % [95 %]" };
        Columns::of("variant", |row| self.shown_name(row))
            .numbers("n", |row: &VariantScore| thousands(row.score.scored))
            .numbers(em, |row| estimate(row.score.em, em_interval(&row.score)))
    }

    fn scores(&self, width: usize) -> String {
        let f1 = |row: &VariantScore| estimate(row.score.f1, f1_interval(&row.score));
        let columns = self.scored().only_if(!self.accuracy, Heading::numbers("F1 % [95 %]"), f1);
        columns.words("outcomes", |row| outcomes(&row.score)).table(self.rows, width)
    }

    /// A line for each variant: `react  EM 65.0 [52.4, 75.8]  F1 65.5  n 60`.
    pub(crate) fn lines(&self) -> String {
        let name = |row: &VariantScore| visible_line(&row.name, NAME);
        let longest = self.rows.iter().map(|row| name(row).width()).max().unwrap_or_default();
        let line = |row: &VariantScore| {
            let (name, score) = (name(row), &row.score);
            let space = " ".repeat(longest - name.width());
            let em = estimate(score.em, em_interval(score));
            let joined = self.joined.iter().filter(|joined| joined.variant == row.name).map(joined_line);
            let joined: String = joined.collect();
            let figures = if self.accuracy {
                format!("accuracy {em}")
            } else {
                format!("EM {em}  F1 {}", score.f1.map_or_else(dash, percent))
            };
            format!("{name}{space}  {figures}{joined}  n {}\n", thousands(score.scored))
        };
        self.rows.iter().map(line).collect()
    }

    /// What a reader of [`Self::lines`] should know.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = String> {
        let notes = self.notes.iter().map(|note| visible_line(note, 500));
        // Where nothing was measured, the reasons say it all.
        let measured = self.rows.iter().filter(|_| self.is_measured());
        measured.flat_map(|row| missing(self.name(row), row)).chain(notes)
    }

    /// Variants run side by side, so that the time of the run does not belong to any of them.
    fn took(&self) -> String {
        self.wall_ms.map_or_else(String::new, |ms| format!("; the run took {}", duration(ms)))
    }

    fn costs(&self, width: usize) -> String {
        let tokens = |of: fn(Usage) -> u64| {
            move |row: &VariantScore| {
                row.score.counted_usage().and_then(Usage::split).map_or_else(dash, |usage| thousands(of(usage)))
            }
        };
        let time = |VariantScore { score, episode_ms, .. }: &VariantScore| {
            episode_ms.and_then(|ms| ms.checked_div(score.episodes)).map_or_else(dash, duration)
        };
        Columns::of("variant", |row| self.shown_name(row))
            .numbers("steps", mean_steps)
            .numbers("calls", |row| row.score.calls.map_or_else(dash, thousands))
            .numbers("bad calls", |row| row.score.bad_calls.map_or_else(dash, thousands))
            .numbers("tokens in", tokens(|usage| usage.prompt_tokens))
            .numbers("tokens out", tokens(|usage| usage.completion_tokens))
            .numbers("USD", cost)
            .numbers("time", time)
            .table(self.rows, width)
    }
}

fn mean_steps(row: &VariantScore) -> String {
    row.score.mean_steps().map_or_else(dash, |steps| format!("{steps:.2}"))
}

fn cost(row: &VariantScore) -> String {
    row.score.cost_usd.map_or_else(dash, |cost| format!("{cost:.4}"))
}

/// Episodes that are in no figure.
fn missing(name: &str, row: &VariantScore) -> Vec<String> {
    let (variant, score) = (visible_line(name, 40), &row.score);
    // An unmeasured episode without a gold answer leaves the mean as it is.
    let bounds = score.em_bounds.filter(|[low, high]| low < high).map_or_else(String::new, |[low, high]| {
        format!("; counting them, EM is between {} and {} %", percent(low), percent(high))
    });
    let stopped = "stopped by the budget, left out of all means; --resume runs them again";
    [
        (score.not_measured, format!("not measured, left out of all means{bounds}")),
        (score.budget, stopped.to_owned()),
        (score.hidden, "without a gold answer, not scored".to_owned()),
    ]
    .into_iter()
    .filter(|(episodes, _)| *episodes > 0)
    .map(|(episodes, what)| format!("{variant}: {} {what}", counted(episodes, "episode")))
    .collect()
}

/// What the tables leave out.
fn details_of(name: &str, row: &VariantScore) -> Vec<String> {
    let (variant, score) = (visible_line(name, 40), &row.score);
    let leak = leak(&variant, row.assessment.leak);
    let partly = uncounted(&variant, score);
    prices(&variant, score).into_iter().chain(partly).chain(details(&variant, score.usage)).chain(leak).collect()
}

/// How often what was read repeats the question, where it does.
fn leak(variant: &str, Share { count, of }: Share) -> Option<String> {
    let (count, of) = ((count > 0).then(|| thousands(count))?, counted(of, "episode"));
    Some(format!("{variant}: in {count} of {of} an observation repeats eight words in a row of the question"))
}

fn details(variant: &str, usage: Usage) -> Vec<String> {
    [
        (usage.cached_tokens, "prompt tokens came from the provider's cache"),
        (usage.cache_write_tokens, "prompt tokens were written to the provider's cache"),
        (usage.reasoning_tokens, "completion tokens were reasoning"),
    ]
    .into_iter()
    .filter_map(|(tokens, what)| Some((tokens.filter(|tokens| *tokens > 0)?, what)))
    .map(|(tokens, what)| format!("{variant}: {} {what}", thousands(tokens)))
    .collect()
}

/// How many episodes the tokens are not of, where they are of some.
fn uncounted(variant: &str, score: &RunScore) -> Option<String> {
    let (uncounted, measured) = (score.uncounted, counted(score.measured, "measured episode"));
    let partly = uncounted > 0 && score.usage.total() > 0;
    partly.then(|| format!("{variant}: tokens were not fully counted in {} of {measured}", thousands(uncounted)))
}

/// What a question and a correct answer cost; nothing if no tokens were counted.
fn prices(variant: &str, score: &RunScore) -> Option<String> {
    let amount = |tokens: Option<f64>, cost: Option<f64>, of: &str| {
        let cost = cost.map_or_else(String::new, |cost| format!(" ({cost:.6} USD)"));
        tokens.map(|tokens| format!("{} tokens{cost} per {of}", grouped(tokens)))
    };
    let question = amount(score.tokens_per_question(), score.cost_per_question(), "question")?;
    let correct = amount(score.tokens_per_correct(), score.cost_per_correct(), "correct answer");
    let none = if score.scored == 0 { "no answer is scored" } else { "no correct answer" };
    let correct = correct.unwrap_or_else(|| none.to_owned());
    let unpriced = if score.cost_usd.is_none() { "; price unknown" } else { "" };
    (score.usage.total() > 0).then(|| format!("{variant}: {question}; {correct}{unpriced}"))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of counts, which is 0 or more")]
fn grouped(number: f64) -> String {
    thousands(number.round() as u64)
}

fn outcomes(score: &RunScore) -> String {
    let counts = Outcome::ALL.iter().filter_map(|of| Some((of.name(), *score.outcomes.get(of.name())?)));
    let parts = counts.filter(|(_, count)| *count > 0).map(|(name, count)| format!("{} {name}", thousands(count)));
    joined(parts, ", ").unwrap_or_else(dash)
}

/// A share in per cent with its interval.
fn estimate(value: Option<f64>, interval: Option<Interval>) -> String {
    written(value, interval, percent)
}

fn written(value: Option<f64>, interval: Option<Interval>, number: fn(f64) -> String) -> String {
    let interval = interval.map(|Interval { low, high }| format!(" [{}, {}]", number(low), number(high)));
    value.map_or_else(dash, |value| number(value) + &interval.unwrap_or_default())
}

/// A variant by its name, and what its answers came from.
type Assessed<'a> = (String, &'a RunAssessment);

fn shares(variants: &[Assessed<'_>], width: usize) -> String {
    let columns: [(&str, Of); 8] = [
        ("gold\npages", |of| of.gold_pages),
        ("all\nhops", |of| of.all_hops),
        ("facts\nseen", |of| of.sentences),
        ("missed\nsearch", |of| of.missed_searches),
        ("empty\nlookup", |of| of.empty_lookups),
        ("grounded", |of| of.grounded),
        ("lucky", |of| of.lucky),
        ("un-\ngrounded", |of| of.ungrounded),
    ];
    shares_table("% of", &columns, variants, width)
}

type Of = fn(&RunAssessment) -> Share;

/// Shares in per cent; a dash where there is nothing to take a share of.
fn shares_table(title: &str, columns: &[(&str, Of)], variants: &[Assessed<'_>], width: usize) -> String {
    let names = Columns::of(title, |(name, _): &Assessed<'_>| name.clone());
    let shares = columns.iter().fold(names, |table, (heading, share)| {
        table.numbers(*heading, |(_, of)| share(of).value().map_or_else(dash, percent))
    });
    shares.table(variants, width)
}

/// The rows of Table 2 of the `ReAct` paper as columns: shares of the right answers that have a text, and of the wrong.
fn paper(variants: &[Assessed<'_>], width: usize) -> String {
    fn of_right(of: &RunAssessment, count: u64) -> Share {
        Share { count, of: of.paper.true_positive + of.paper.false_positive }
    }
    fn of_wrong(of: &RunAssessment, count: u64) -> Share {
        Share { count, of: of.wrong }
    }
    let columns: [(&str, Of); 7] = [
        ("true\npositive", |of| of_right(of, of.paper.true_positive)),
        ("false\npositive", |of| of_right(of, of.paper.false_positive)),
        ("reason-\ning", |of| of_wrong(of, of.paper.reasoning_error)),
        ("search\nresult", |of| of_wrong(of, of.paper.search_result_error)),
        ("halluci-\nnation", |of| of_wrong(of, of.paper.hallucination)),
        ("label\nambig.", |of| of_wrong(of, of.paper.label_ambiguity)),
        ("other\nfailure", |of| of_wrong(of, of.paper.other)),
    ];
    shares_table("% as in\nReAct, Table 2", &columns, variants, width)
}

/// Such as `search, 22 of 35`, or `search, 22`: of equals the first in the order of the classes.
fn commonest_failure(of: &RunAssessment, of_all: bool) -> String {
    let failures = of.failures.iter().filter(|(_, count)| *count > 0);
    let most = failures.reduce(|most, other| if other.1 > most.1 { other } else { most });
    most.map_or_else(dash, |(class, count)| {
        let all = if of_all { format!(" of {}", thousands(of.wrong)) } else { String::new() };
        format!("{}, {}{all}", class.name(), thousands(count))
    })
}

fn failures(variants: &[Assessed<'_>], width: usize) -> Option<String> {
    let classes = |(_, of): &Assessed<'_>| {
        let classes = of.failures.iter().filter(|(_, count)| *count > 0);
        let classes = classes.map(|(class, count)| format!("{} {}", thousands(count), class.name()));
        let ended = match of.step_limit {
            0 => String::new(),
            count => format!("; {} ended at the step limit", thousands(count)),
        };
        classes.collect::<Vec<_>>().join(", ") + &ended
    };
    let wrong = || variants.iter().filter(|(_, of)| of.wrong > 0);
    let columns = Columns::of("variant", |(name, _): &Assessed<'_>| name.clone())
        .numbers("wrong", |(_, of)| thousands(of.wrong))
        .words("failure classes", classes);
    wrong().next().map(|_| columns.table(wrong(), width))
}

/// A metric from a file over the episodes of a variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct JoinedRow {
    pub variant: String,
    pub metric: String,
    pub unit: Unit,
    /// Episodes with a value.
    pub episodes: usize,
    /// Questions with a value; the mean is over their means.
    pub questions: usize,
    pub mean: Option<f64>,
    /// Over the questions: Wilson's or the padded t of shares, Student's of amounts.
    pub interval: Option<Interval>,
    /// Of a judge: the same held against what people said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correction: Option<Correction>,
}

/// What variants score where they answer, ending in a line break; nothing where every answer was attempted.
pub(crate) fn attempts_table(rows: &[VariantScore], width: usize) -> String {
    if rows.iter().all(|row| row.score.attempted == row.score.scored) {
        return String::new();
    }
    let columns = Columns::of("variant", |row: &VariantScore| visible_line(&row.name, NAME))
        .numbers("n", |row| thousands(row.score.scored))
        .numbers("attempted", |row| thousands(row.score.attempted))
        .numbers("right given\nattempted % [95 %]", |VariantScore { score, .. }| {
            estimate(score.given_attempted.mean(), given_attempted_interval(score))
        })
        .numbers("SimpleQA F1\n% [95 %]", |VariantScore { score, .. }| {
            estimate(score.simpleqa_f1.mean(), ratio_interval(score.simpleqa_f1))
        });
    columns.table(rows, width) + "\n"
}

/// The table, ending in a line break; shares are in per cent. Nothing without rows.
fn joined_table(rows: &[JoinedRow], short: &ShortNames, width: usize) -> Option<String> {
    let judged = rows.iter().any(|row| row.correction.is_some());
    let sign = |row: &JoinedRow| if row.unit == Unit::Share { " %" } else { "" };
    let columns = Columns::of("variant", |row: &JoinedRow| visible_line(short.of_name(&row.variant), 80))
        .words("metric", |row| visible_line(&row.metric, 60) + sign(row))
        .numbers("episodes", |row| thousands(row.episodes))
        .numbers("mean [95 %]", joined_estimate)
        .only_if(judged, Heading::numbers("corrected [95 %]"), |row| {
            row.correction.as_ref().map_or_else(dash, corrected)
        });
    (!rows.is_empty()).then(|| columns.table(rows, width) + "\n")
}

fn joined_line(row: &JoinedRow) -> String {
    let corrected = row.correction.as_ref().map(|correction| match correction.corrected {
        Some(_) => format!(" corrected {}", corrected(correction)),
        None => " (uncorrected)".to_owned(),
    });
    format!("  {} {}{}", visible_line(&row.metric, 60), joined_estimate(row), corrected.unwrap_or_default())
}

/// The corrected share, or that there is none.
pub(crate) fn corrected(correction: &Correction) -> String {
    match (correction.corrected, correction.interval) {
        (Some(found), Some(interval)) => estimate(Some(found.mean), Some(interval)),
        _ if correction.labels > 0 => format!("uncorrected ({})", counted(correction.labels, "label")),
        _ => "uncorrected".to_owned(),
    }
}

fn joined_estimate(row: &JoinedRow) -> String {
    let number = if row.unit == Unit::Share { percent } else { |value| format!("{value:.2}") };
    written(row.mean, row.interval, number)
}

/// Coverage of every interval of a run.
pub(crate) const LEVEL: f64 = 0.95;

/// The interval of the mean EM: Wilson's if each question was run once, else the padded t over the means of the questions.
pub(crate) fn em_interval(score: &RunScore) -> Option<Interval> {
    match score.questions {
        None => (score.scored > 0).then(|| wilson(score.correct, score.scored, LEVEL)),
        Some(questions) => padded(score.em?, questions.em_variance?, questions.n),
    }
}

/// The interval of the accuracy given attempted: Wilson's if each question was run once, else the padded t of the ratio.
pub(crate) fn given_attempted_interval(score: &RunScore) -> Option<Interval> {
    match score.questions {
        None => (score.attempted > 0).then(|| wilson(score.correct, score.attempted, LEVEL)),
        Some(_) => ratio_interval(score.given_attempted),
    }
}

/// The padded t of a ratio over questions.
pub(crate) fn ratio_interval(of: Moments) -> Option<Interval> {
    of.mean().and_then(|_| of.padded_interval(Interval::SHARES, LEVEL))
}

/// The interval of the mean F1: the padded t, but Wilson's where every F1 is 0 or 1, as `compare` has it.
pub(crate) fn f1_interval(score: &RunScore) -> Option<Interval> {
    match (score.questions, right_by_f1(score)) {
        (Some(questions), _) => padded(score.f1?, questions.f1_variance?, questions.n),
        (None, Some(right)) => Some(wilson(right, score.scored, LEVEL)),
        (None, None) => padded(score.f1?, score.f1_variance?, score.scored),
    }
}

/// How many episodes have an F1 of 1, where all have 0 or 1: only then is the sum of the squares the sum.
fn right_by_f1(score: &RunScore) -> Option<u64> {
    let (mean, variance) = (score.f1?, score.f1_variance.unwrap_or_default());
    let n = float(score.scored);
    let (sum, squares) = (n * mean, (n - 1.0) * variance + n * mean * mean);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of episodes")]
    let right = sum.round() as u64;
    (score.scored > 0 && (squares - sum).abs() < 1e-9 * n).then_some(right)
}

/// The interval of the mean of these shares; Wilson's where all are 0 or 1 and each question was run once.
pub(crate) fn shares_interval(values: &[f64], once: bool) -> Option<Interval> {
    let right = values.iter().filter(|value| **value >= 1.0).count();
    if once && !values.is_empty() && values.iter().all(|value| *value <= 0.0 || *value >= 1.0) {
        return Some(wilson(u64::try_from(right).ok()?, u64::try_from(values.len()).ok()?, LEVEL));
    }
    Moments::of(&Sums::of(values, None)).padded_interval(Interval::SHARES, LEVEL).filter(|_| !values.is_empty())
}

fn padded(mean: f64, variance: f64, n: u64) -> Option<Interval> {
    Moments::of_mean(mean, variance, n).padded_interval(Interval::SHARES, LEVEL)
}

/// The names of these scores' intervals, on one line.
pub(super) fn caption<'a>(mut scores: impl Iterator<Item = &'a RunScore> + Clone, accuracy: bool) -> &'static str {
    let of_right = |score: &RunScore| right_by_f1(score).is_some();
    if scores.clone().any(|score| score.questions.is_some()) {
        "intervals: padded t over the means of each question's repeats, 95 %"
    } else if accuracy || scores.clone().all(|score| score.scored == 0 || of_right(score)) {
        "intervals: Wilson's, 95 %"
    } else if scores.any(of_right) {
        "intervals: Wilson's for EM, and for F1 of 0 and 1 alone, else padded t for F1, 95 %"
    } else {
        "intervals: Wilson's for EM, padded t for F1, 95 %"
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Estimate {
    mean: Option<f64>,
    /// The padded t.
    interval: Option<Interval>,
}

impl Estimate {
    fn of(values: &[f64]) -> Self {
        Self { mean: Mean::of(values).map(|mean| mean.mean), interval: shares_interval(values, false) }
    }

    fn cell(self) -> String {
        estimate(self.mean, self.interval)
    }
}

/// `pass@k` and `pass^k` of one `k`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct PassRow {
    k: u64,
    /// Questions with a value.
    questions: usize,
    /// Questions with a scored repeat, but with fewer than `k`.
    left_out: usize,
    pass_at: Estimate,
    pass_hat: Estimate,
}

/// A row for each `k` up to the number of repeats.
fn pass_rows(repeats: &Repeats) -> impl Iterator<Item = PassRow> {
    (1..=repeats.most()).map(|k| {
        let [any, all] = [Pass::Any(k), Pass::All(k)].map(|pass| repeats.values(pass));
        PassRow {
            k,
            questions: any.len(),
            left_out: repeats.questions() - any.len(),
            pass_at: Estimate::of(&any),
            pass_hat: Estimate::of(&all),
        }
    })
}

/// The tables of these variants, each ending in a line break; nothing where no question was repeated.
pub(crate) fn repeats_tables<'a>(
    variants: impl Iterator<Item = (&'a str, Option<&'a Repeats>)>,
    width: usize,
) -> Option<String> {
    let repeated: Vec<(&str, &Repeats)> = variants.filter_map(|(name, repeats)| Some((name, repeats?))).collect();
    (!repeated.is_empty()).then(|| stability(&repeated, width) + &passes(&repeated, width).unwrap_or_default())
}

fn stability(variants: &[(&str, &Repeats)], width: usize) -> String {
    let columns = Columns::of("repeats", |(name, _): &(&str, &Repeats)| visible_line(name, 80))
        .numbers("questions", |(_, repeats)| thousands(repeats.questions()))
        .numbers("unstable", |(_, repeats)| thousands(repeats.unstable().count()))
        .numbers("same answer\n% [95 %]", |(_, repeats)| Estimate::of(&repeats.agreement()).cell())
        .numbers("SD of\nsteps", |(_, of)| of.steps_deviation().map_or_else(dash, |steps| format!("{steps:.2}")))
        .numbers("SD of\nUSD", |(_, of)| of.cost_deviation().map_or_else(dash, |cost| format!("{cost:.4}")));
    columns.table(variants, width) + "\n"
}

/// A row for each variant and `k`. `pass@1` is EM.
fn passes(variants: &[(&str, &Repeats)], width: usize) -> Option<String> {
    let of = |(name, repeats): &(&'_ str, &Repeats)| {
        let name = visible_line(name, 80);
        pass_rows(repeats).filter(|row| row.k > 1).map(move |row| (name.clone(), row)).collect::<Vec<_>>()
    };
    let rows: Vec<(String, PassRow)> = variants.iter().flat_map(of).collect();
    let columns = Columns::of("variant", |(name, _): &(String, PassRow)| name.clone())
        .numbers("k", |(_, row)| row.k.to_string())
        .numbers("pass@k % [95 %]", |(_, row)| row.pass_at.cell())
        .numbers("pass^k % [95 %]", |(_, row)| row.pass_hat.cell())
        .numbers("questions", |(_, row)| thousands(row.questions))
        .numbers("fewer\nthan k", |(_, row)| if row.left_out > 0 { thousands(row.left_out) } else { dash() });
    (!rows.is_empty()).then(|| columns.table(&rows, width) + "\n")
}

/// The same in full precision.
pub(crate) fn repeats_json(repeats: &Repeats) -> Value {
    let unstable = repeats.unstable().map(|(id, right)| json!({ "id": id, "right": right }));
    json!({
        "questions": repeats.questions(),
        "unstable": unstable.collect::<Vec<_>>(),
        "agreement": Estimate::of(&repeats.agreement()),
        "steps_sd": repeats.steps_deviation(),
        "cost_sd_usd": repeats.cost_deviation(),
        "passes": pass_rows(repeats).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests;
