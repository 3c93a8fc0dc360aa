//! `score`: a run's figures, computed from its trajectories.

mod items;
mod joined;
mod json;
mod judge;
mod people;

use super::failure::{self, Failure};
use super::metric_files::MetricFiles;
use super::output_file::json_line;
use super::say::say;
use super::score_files;
use super::suggested::Suggested;
use crate::graded::{JudgedRun, check_one};
use crate::label::Judgements;
use crate::report::console::stdout;
use crate::report::{JoinedRow, RunSummary, SummaryRow, View, counted, thousands, wrapped};
use crate::run::{Spending, Summary, UnfinishedShard};
use crate::score::Metric;
use crate::types::text::shell_word;
use clap::builder::StringValueParser;
use serde_json::Value;
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
        items.iter_mut().for_each(|items| items.push(items::item_json(episode)));
        lines.iter_mut().for_each(|lines| lines.push(items::item_line(episode)));
        if annotations.is_some() {
            episodes.push(people::judged(episode));
        }
    })?;
    summary.notes.iter().for_each(say);
    summary.evidence.note().iter().for_each(say);
    let metrics = args.metrics.read(&[run])?;
    let judged = JudgedRun::read(run)?;
    let is_kilt = summary.manifest.dataset.format == "kilt";
    let joined = joined::joined_rows(run, is_kilt, metrics, judged.as_ref())?;
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
    let mut value = json::summary_json(summary);
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
    serde_json::json!({ "runs": summaries.iter().map(json::summary_json).collect::<Vec<_>>() })
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
    let more = if shards.len() > MAX_SHARDS_LISTED { format!(" and {} more", shards.len() - MAX_SHARDS_LISTED) } else { String::new() };
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
