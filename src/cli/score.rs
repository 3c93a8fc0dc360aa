//! `score`: a run's figures, computed from its trajectories.

mod judge;

use super::failure::{self, Failure};
use super::metric_files::MetricFiles;
use super::output_file::json_line;
use super::say::say;
use super::score_files;
use super::suggested::Suggested;
use crate::analysis::report::View;
use crate::analysis::report::console::stdout;
use crate::analysis::results::{JudgedRun, check_one};
use crate::analysis::scores::{
    ExtraScores, annotations, item_json, item_line, joined_rows, judged_by_rules, judgements, run_summary, to_json,
};
use crate::base::text::shell_word;
use crate::runner::Summary;
use crate::scoring::Metric;
use clap::builder::StringValueParser;
use std::io::Write as _;
use std::path::{Path, PathBuf};

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

pub(super) async fn execute(args: &Args) -> anyhow::Result<u8> {
    if let Some(scored) = score_files::execute(&args.files, args.metric.as_deref(), args.json) {
        return scored;
    }
    let run = args.run.as_deref().unwrap_or(Path::new("."));
    let metric = args.metric.as_deref().map(parse_metric).transpose()?;
    check_one(run, "wikitrail score")?;
    let (mut code, tell) = (failure::OK, |text| say(text));
    if args.judge.is_any() {
        match judge::judge_run(&args.judge, run, args.json).await? {
            Some(judged) => code = judged,
            None => return Ok(failure::OK),
        }
    }
    let (annotations, readers) = annotations(run, &tell)?;
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
            episodes.push(judged_by_rules(episode));
        }
    })?;
    summary.notes.iter().for_each(say);
    summary.evidence.note().iter().for_each(say);
    let metrics = args.metrics.read(&[run])?;
    let judged = JudgedRun::read(run)?;
    let is_kilt = summary.manifest.dataset.format == "kilt";
    let joined = joined_rows(run, is_kilt, metrics, judged.as_ref(), &tell)?;
    let judgements = annotations.map(|annotations| judgements(&annotations, &episodes, &tell));
    let extra = ExtraScores { lines, items, joined, judgements, judged, readers };
    print(&summary, &extra, Print::of(args.json, args.quiet))?;
    Ok(code)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Print {
    /// Tables, with commands to try next.
    Tables,
    /// One line for each variant; what else a reader should know goes to stderr.
    Lines,
    Json,
}

impl Print {
    pub(super) fn of(json: bool, quiet: bool) -> Self {
        match (json, quiet) {
            (true, _) => Self::Json,
            (false, true) => Self::Lines,
            (false, false) => Self::Tables,
        }
    }
}

pub(super) fn print(summary: &Summary, extra: &ExtraScores, how: Print) -> anyhow::Result<()> {
    let mut out = std::io::BufWriter::new(stdout());
    if how == Print::Json {
        json_line(&mut out, &to_json(summary, extra))?;
        out.flush()?;
        return Ok(());
    }
    let report = run_summary(summary, extra, View::of_stdout().width);
    if how == Print::Lines {
        out.write_all(report.lines().as_bytes())?;
        out.flush()?;
        report.remarks().for_each(say);
        return Ok(());
    }
    out.write_all(report.render(View::of_stdout().width).as_bytes())?;
    if let Some(lines) = &extra.lines {
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
