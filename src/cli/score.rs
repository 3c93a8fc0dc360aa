//! `score`: a run's figures, computed from its trajectories.

mod judge;
mod people;

use super::failure::{self, Failure};
use super::metric_files::MetricFiles;
use super::output_file::json_line;
use super::say::say;
use super::score_files;
use super::suggested::Suggested;
use crate::analysis::annotations::Judgements;
use crate::analysis::report::console::stdout;
use crate::analysis::report::summary::{LEVEL, em_interval, f1_interval, shares_interval};
use crate::analysis::report::{JoinedRow, RunSummary, SummaryRow, View, counted, thousands, wrapped};
use crate::analysis::results::{
    EpisodeName, GradedRun, JoinedMetric, JudgedRun, check_one, folder_name, judged_metrics,
};
use crate::analysis::results::{EpisodeNames, with_judges};
use crate::base::Trajectory;
use crate::base::stats::{Interval, Mean};
use crate::base::text::{shell_word, visible_line};
use crate::runner::{Spending, Summary, UnfinishedShard, VariantScore};
use crate::scoring::{AnswerScore, Figure, Metric, ScoredEpisode, Unit, figure};
use clap::builder::StringValueParser;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Unfinished shards that are named in one line.
const MAX_SHARDS_LISTED: usize = 7;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run folder.
    #[arg(required_unless_present = "gold", conflicts_with = "gold")]
    run: Option<PathBuf>,
    /// Metric of a run: hotpot, aliases, fever, paper, cjk, strategyqa or rougel [default: the dataset's]; metrics of files are listed below.
    #[arg(long, value_name = "NAME", value_parser = metrics(), hide_possible_values = true)]
    metric: Option<String>,
    #[command(flatten)]
    metrics: MetricFiles,
    /// Print the figures as one JSON object.
    #[arg(long)]
    json: bool,
    /// Print one line for each variant, and nothing else.
    #[arg(long, short, conflicts_with_all = ["json", "gold", "per_item"])]
    quiet: bool,
    #[command(flatten)]
    files: score_files::Files,
    #[command(flatten)]
    judge: judge::JudgeArgs,
}

/// What is printed extras a run's own figures.
#[derive(Debug, Default)]
pub(super) struct ExtraScores {
    /// A line for each episode, with `--per-item`.
    lines: Option<Vec<String>>,
    /// An object for each episode, with `--per-item --json`.
    items: Option<Vec<Value>>,
    /// Metrics from files.
    joined: Vec<JoinedRow>,
    /// What people said.
    judgements: Option<Judgements>,
    /// What judges said.
    judged: Option<JudgedRun>,
    /// How many episodes models read to classify them, a sentence each.
    readers: Vec<String>,
}

pub(super) async fn execute(args: &Args) -> anyhow::Result<u8> {
    if let Some(scored) = score_files::execute(&args.files, args.metric.as_deref(), args.json) {
        return scored;
    }
    let run = args.run.as_deref().unwrap_or(Path::new("."));
    let metric = args.metric.as_deref().map(parse_metric).transpose()?;
    check_one(run, "wikitrail score")?;
    let mut code = failure::OK;
    if args.judge.is_any() {
        match judge::execute(&args.judge, run, args.json).await? {
            Some(judged) => code = judged,
            None => return Ok(failure::OK),
        }
    }
    let (annotations, readers) = people::annotations(run)?;
    let mut items = (args.files.per_item && args.json).then(Vec::new);
    let mut lines = (args.files.per_item && !args.json).then(Vec::new);
    let mut episodes = Vec::new();
    let summary = Summary::of_each(run, metric, |episode| {
        if let Some(items) = &mut items {
            items.push(item_json(episode));
        }
        if let Some(lines) = &mut lines {
            lines.push(item_line(episode));
        }
        if annotations.is_some() {
            episodes.push(people::judged(episode));
        }
    })?;
    summary.notes.iter().for_each(say);
    summary.evidence.note().iter().for_each(say);
    let metrics = args.metrics.read(&[run])?;
    let judged = JudgedRun::read(run)?;
    let is_kilt = summary.manifest.dataset.format == "kilt";
    let joined = joined_rows(run, is_kilt, metrics, judged.as_ref())?;
    let judgements = annotations.map(|annotations| people::judgements(&annotations, &episodes));
    let how = if args.json {
        Print::Json
    } else if args.quiet {
        Print::Lines
    } else {
        Print::Tables
    };
    print(&summary, ExtraScores { lines, items, joined, judgements, judged, readers }, how)?;
    Ok(code)
}

/// How the figures of a run are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Print {
    /// Tables, with commands to try next.
    Tables,
    /// One line for each variant; what else a reader should know goes to stderr.
    Lines,
    Json,
}

/// Prints the figures.
pub(super) fn print(summary: &Summary, extra: ExtraScores, how: Print) -> anyhow::Result<()> {
    let mut out = std::io::BufWriter::new(stdout());
    if how == Print::Json {
        json_line(&mut out, &to_json(summary, &extra))?;
        out.flush()?;
        return Ok(());
    }
    let ExtraScores { lines, items: _, joined, judgements, judged, readers } = extra;
    let rows = summary
        .variants
        .iter()
        .map(|variant| SummaryRow {
            variant: variant.name.clone(),
            score: variant.score.clone(),
            assessment: variant.assessment,
            episode_ms: variant.episode_ms.and_then(|ms| ms.checked_div(variant.score.episodes)),
        })
        .collect();
    let dataset = &summary.manifest.dataset;
    let metric = summary.variants.first().map_or("", |variant| variant.metric);
    let scored_by = if metric.is_empty() { String::new() } else { format!(", scored by metric `{metric}`") };
    let shard = summary.shard.map(|shard| format!(", shard {shard}")).unwrap_or_default();
    let title = format!(
        "{}{shard}: {} of {} of {}{scored_by}",
        summary.run.display(),
        thousands(dataset.selected),
        counted(dataset.questions, "question"),
        dataset.name
    );
    let (wall_ms, mut notes, next) = (wall_ms(summary), notes(summary), next_steps(summary));
    notes.extend(judged.iter().flat_map(|judged| judge::notes(judged, summary)));
    notes.extend(readers);
    let people = judgements.map(|judgements| people::text(&judgements, summary)).unwrap_or_default();
    let below = judged.as_ref().map(|judged| judge::text(judged, &joined)).unwrap_or_default() + &people;
    let accuracy = Metric::parse(metric).is_some_and(Metric::is_accuracy);
    let report = RunSummary { title, accuracy, rows, joined, wall_ms, notes, below, next };
    if how == Print::Lines {
        out.write_all(report.lines().as_bytes())?;
        out.flush()?;
        report.remarks().for_each(say);
        return Ok(());
    }
    out.write_all(report.render(View::of_stdout().width).as_bytes())?;
    if let Some(lines) = lines {
        writeln!(out)?;
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    out.flush()?;
    // A variant without an episode cannot be compared.
    if summary.variants.len() > 1 && summary.variants.iter().all(|variant| variant.score.episodes > 0) {
        let run = shell_word(&summary.run.display().to_string());
        say(format_args!("note: to test these differences for significance: wikitrail compare {run}"));
    }
    Ok(())
}

/// The figures with what stands extra them, in full precision.
fn to_json(summary: &Summary, extra: &ExtraScores) -> Value {
    let mut value = summary_json(summary);
    if let Some(items) = &extra.items {
        value["items"] = serde_json::json!(items);
    }
    if let Some(judgements) = &extra.judgements {
        value["annotations"] = people::to_json(judgements, summary);
    }
    if let Some(judged) = &extra.judged {
        value["judges"] = judge::to_json(judged);
    }
    if !extra.joined.is_empty() {
        value["metrics"] = serde_json::json!(extra.joined);
    }
    value
}

pub(super) fn together(summaries: &[Summary]) -> Value {
    serde_json::json!({ "runs": summaries.iter().map(summary_json).collect::<Vec<_>>() })
}

/// Missing episodes, and the commonest reasons for episodes that were not measured.
fn notes(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(found) = &summary.stopping {
        let sentence = wrapped(&found.sentence(&found.rule.a, &found.rule.b), View::of_stdout().width, "");
        lines.extend(sentence.lines().map(str::to_owned));
    }
    let missing = summary.missing();
    if missing > 0 {
        lines.push(format!("{missing} of {} planned episodes are not recorded yet", summary.planned()));
    }
    lines.extend(unfinished(&summary.unfinished_shards));
    let mut reasons: Vec<(&String, &u64)> = summary.reasons.iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let mut hints: Vec<&String> = Vec::new();
    for (reason, count) in reasons.iter().take(3) {
        lines.push(format!("not measured ({count}): {reason}"));
        // Several reasons may have one remedy.
        if let Some(hint) = summary.hints.get(*reason).filter(|hint| !hints.contains(hint)) {
            lines.push(format!("hint: {hint}"));
            hints.push(hint);
        }
    }
    if reasons.len() > 3 {
        lines.push(format!("not measured: {} more reasons; see `detail` in the records", reasons.len() - 3));
    }
    lines.extend(summary.shortfalls());
    lines.extend(spent(&summary.spending));
    lines.extend(other_statuses(summary));
    lines
}

/// What was spent, where not all of it is in the figures.
fn spent(spending: &Spending) -> Option<String> {
    let Spending { total, unfinished, discarded, .. } = spending;
    let unfinished = (unfinished.calls > 0)
        .then(|| format!("{unfinished} on episodes that have not ended, which --resume goes on with"));
    let discarded = (discarded.calls > 0).then(|| format!("{discarded} on episodes that were run again"));
    let parts: Vec<String> = unfinished.into_iter().chain(discarded).collect();
    (!parts.is_empty()).then(|| format!("spent: {total}; of these {}", parts.join(", and ")))
}

/// The first shards that lack episodes.
fn unfinished(shards: &[UnfinishedShard]) -> Option<String> {
    let told = |UnfinishedShard { shard, planned, recorded }: &UnfinishedShard| {
        format!("{shard} ({} of {})", thousands(*recorded), counted(*planned, "episode"))
    };
    let first: Vec<String> = shards.iter().take(MAX_SHARDS_LISTED).map(told).collect();
    let more = if shards.len() > MAX_SHARDS_LISTED {
        format!(" and {} more", shards.len() - MAX_SHARDS_LISTED)
    } else {
        String::new()
    };
    (!shards.is_empty()).then(|| format!("unfinished shards: {}{more}", first.join(", ")))
}

/// Error pages that the paper's environment takes for pages.
fn other_statuses(summary: &Summary) -> Option<String> {
    let all = &summary.other_statuses;
    let each: Vec<String> = all.iter().map(|(status, count)| format!("{status}: {}", thousands(*count))).collect();
    (!all.is_empty()).then(|| {
        format!(
            "{} came from answers with a status other than 200 ({}): `--compat paper` reads any answer as a page, as the \
             original does",
            counted(all.values().sum::<u64>(), "observation"),
            each.join(", ")
        )
    })
}

fn next_steps(summary: &Summary) -> Vec<String> {
    let run = shell_word(&summary.run.display().to_string());
    let mut lines = Vec::new();
    if summary.is_unfinished() && !summary.manifest.is_imported() {
        lines.push(summary.resume_command(summary.cut_short() > 0));
    }
    // Of nothing there is nothing to show.
    if summary.variants.iter().all(|variant| variant.score.measured == 0) && !lines.is_empty() {
        return lines;
    }
    if summary.shard.is_some() {
        lines.push(format!("wikitrail score {run}"));
        return lines;
    }
    if let Some(id) = &summary.show_id {
        // An id such as -1 would be read as a flag.
        let end = if id.starts_with('-') { "-- " } else { "" };
        lines.push(format!("wikitrail show {run} {end}{}", shell_word(id)));
    }
    lines.push(format!("wikitrail export {run} --format csv --rows questions --out questions.csv"));
    lines
}

/// Any text; completions offer the metrics of runs.
fn metrics() -> Suggested<StringValueParser> {
    let words = || Metric::ALL.iter().map(|metric| metric.name()).collect();
    Suggested { parser: StringValueParser::new(), words }
}

fn parse_metric(name: &str) -> anyhow::Result<Metric> {
    Metric::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
        Failure::usage(format!("unknown metric `{name}`"), format!("metrics of a run are {}", known.join(", ")))
    })
}

/// Time that the run's parts took, if one has ended by itself.
fn wall_ms(summary: &Summary) -> Option<u64> {
    (summary.active_ms > 0).then_some(summary.active_ms)
}

/// The whole summary.
fn summary_json(summary: &Summary) -> Value {
    let variants: Vec<Value> = summary.variants.iter().map(variant_json).collect();
    let mut value = json!({
        "run": summary.run.display().to_string(),
        "dataset": summary.manifest.dataset.name,
        "selected": summary.manifest.dataset.selected,
        "planned": summary.planned(),
        "missing": summary.missing(),
        "unfinished_shards": summary.unfinished_shards,
        "not_measured_reasons": summary.reasons,
        "observations_not_200": summary.other_statuses,
        "level": LEVEL,
        "wall_ms": wall_ms(summary),
        "spending": Some(&summary.spending).filter(|_| !summary.manifest.is_imported()),
        "supporting_facts": {"questions": summary.evidence.len(), "missing": summary.evidence.missing},
        "variants": variants,
    });
    if let Some(stopping) = &summary.stopping {
        value["stopping"] = json!(stopping);
    }
    if let Some(shard) = summary.shard {
        value["shard"] = json!(shard);
    }
    value
}

fn variant_json(variant: &VariantScore) -> Value {
    let pair = |interval: Option<Interval>| interval.map(|interval| [interval.low, interval.high]);
    let score = &variant.score;
    // The name says which interval it is: with repeats there is no Wilson interval.
    let em = pair(em_interval(score));
    let (em_wilson, em_t) = if score.questions.is_none() { (em, None) } else { (None, em) };
    json!({
        "name": variant.name,
        "metric": variant.metric,
        "episodes": score.episodes,
        "measured": score.measured,
        "scored": score.scored,
        "hidden": score.hidden,
        "em": score.em,
        "em_wilson": em_wilson,
        "em_t": em_t,
        "em_bounds": score.em_bounds,
        "f1": score.f1,
        "f1_t": pair(f1_interval(score)),
        "intervals_over": if score.questions.is_none() { "episodes" } else { "questions" },
        "questions": score.questions.map_or(score.scored, |questions| questions.n),
        "outcomes": score.outcomes,
        "steps": score.steps,
        "calls": score.calls,
        "bad_calls": score.bad_calls,
        "shortfalls": score.steps.map(|_| &variant.shortfalls),
        "usage": score.counted_usage(),
        "cost_usd": score.cost_usd,
        "tokens_per_question": score.tokens_per_question(),
        "tokens_per_correct": score.tokens_per_correct(),
        "cost_per_question_usd": score.cost_per_question(),
        "cost_per_correct_usd": score.cost_per_correct(),
        "episode_ms": variant.episode_ms,
        "trajectory": score.steps.map(|_| &variant.assessment),
    })
}

/// For reading, on one line: the id first, as with files of predictions.
fn item_line(episode: &ScoredEpisode) -> String {
    let figures = episode
        .score
        .map_or_else(|| "em –  f1 –".to_owned(), |AnswerScore { em, f1, .. }| format!("em {em:.4}  f1 {f1:.4}"));
    let failure = episode.class().map_or_else(String::new, |class| format!("  {}", class.name()));
    let Trajectory { id, variant, repeat, outcome, .. } = &episode.trajectory;
    let (id, variant) = (visible_line(id, 80), visible_line(variant, 40));
    format!("{id}  {variant}  repeat {repeat}  {figures}  {}{failure}", outcome.name())
}

fn item_json(episode: &ScoredEpisode) -> Value {
    let ScoredEpisode { trajectory, score, assessment, .. } = episode;
    let gold = assessment.as_ref().and_then(|assessment| assessment.retrieval.gold);
    json!({
        "variant": trajectory.variant,
        "repeat": trajectory.repeat,
        "id": trajectory.id,
        "outcome": trajectory.outcome.name(),
        "em": score.map(|score| score.em),
        "f1": score.map(|score| score.f1),
        "precision": score.map(|score| score.precision),
        "recall": score.map(|score| score.recall),
        "retrieval": assessment.as_ref().map(|assessment| assessment.retrieval),
        "first_hop": gold.map(|gold| gold.first_hop()),
        "all_hops": gold.map(|gold| gold.all_hops()),
        "grounding": assessment.as_ref().and_then(|assessment| assessment.grounding),
        "failure": episode.failure(),
    })
}

/// The figures that KILT asks for.
const OF_KILT: [&Figure; 4] = [&figure::R_PRECISION, &figure::RECALL_AT_5, &figure::KILT_EM, &figure::KILT_F1];

/// Values of the episodes of a question, by variant and by the question's id.
type Values = BTreeMap<(String, String), Vec<f64>>;

/// A row for each variant and metric, the judges' first, after what is missing was said.
fn joined_rows(
    run: &Path,
    is_kilt: bool,
    of_files: Vec<JoinedMetric>,
    judged: Option<&JudgedRun>,
) -> anyhow::Result<Vec<JoinedRow>> {
    let metrics = &with_judges(of_files, judged_metrics(judged)?)?;
    let figures: &[&Figure] = if is_kilt { &OF_KILT } else { &[] };
    if metrics.is_empty() && figures.is_empty() {
        return Ok(Vec::new());
    }
    let (folder, graded) = (folder_name(run), GradedRun::open(run)?);
    let mut values: Vec<Values> = vec![Values::new(); metrics.len() + figures.len()];
    let mut names = EpisodeNames::default();
    let mut variants: Vec<String> = Vec::new();
    for (_, episode) in graded.counted_episodes() {
        let graded = episode?;
        let trajectory = &graded.trajectory;
        names.add(&folder, trajectory);
        if !variants.contains(&trajectory.variant) {
            variants.push(trajectory.variant.clone());
        }
        if !trajectory.measured() {
            continue;
        }
        let of_files = metrics.iter().map(|metric| metric.value(EpisodeName::of(&folder, trajectory)));
        let of_episode = figures.iter().map(|figure| figure.value(&graded));
        for (value, values) in of_files.chain(of_episode).zip(&mut values) {
            if let Some(value) = value {
                values.entry((trajectory.variant.clone(), trajectory.id.clone())).or_default().push(value);
            }
        }
    }
    names.coverage(metrics)?.iter().for_each(say);
    let of_files = metrics.iter().map(|metric| (metric.name.as_str(), metric.unit));
    let columns: Vec<(&str, Unit)> =
        of_files.chain(figures.iter().map(|figure| (figure.name, figure.unit()))).collect();
    let row = |variant: &String, (name, unit): (&str, Unit), values: &Values| {
        let of_variant = || values.iter().filter(|((of, _), _)| of == variant).map(|(_, values)| values);
        // Repeats of a question are not independent: its mean counts.
        let means: Vec<f64> = of_variant().filter_map(|values| Some(Mean::of(values)?.mean)).collect();
        let mean = Mean::of(&means);
        JoinedRow {
            variant: variant.clone(),
            metric: name.to_owned(),
            unit,
            episodes: of_variant().map(Vec::len).sum(),
            questions: means.len(),
            mean: mean.map(|mean| mean.mean),
            correction: judged.and_then(|judged| judged.correction(name, variant, LEVEL)),
            interval: match unit {
                Unit::Share => shares_interval(&means, of_variant().all(|values| values.len() == 1)),
                Unit::Amount => mean.and_then(|mean| mean.t_interval(LEVEL)),
            },
        }
    };
    let of_variant = |variant| columns.iter().zip(&values).map(move |(name, values)| row(variant, *name, values));
    Ok(variants.iter().flat_map(of_variant).collect())
}
