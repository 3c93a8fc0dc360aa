//! `score --metric M --gold G --predictions P`: the files that the official scripts take, and what those print.

mod answers;
mod fever;
mod general;
mod hotpot;
mod input;
mod musique;
mod open;
mod report;
mod squad;

use super::failure::{self, Failure};
use super::say::say;
use input::Source;
use musique::Subset;
use open::OpenMetric;
use report::Report;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

/// Flags of `score` for files of predictions.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Files of predictions")]
pub(super) struct Files {
    /// The dataset's own file with the gold answers, instead of a run. Metrics are hotpot, 2wiki, musique
    /// (musique-answerable, musique-full), squad11, squad20, fever, trivia, nq-open (orqa), fid, paper and cjk.
    #[arg(long, value_name = "FILE", requires_all = ["predictions", "metric"])]
    gold: Option<PathBuf>,
    /// Predictions as the metric's official script takes them.
    #[arg(long, value_name = "FILE", requires = "gold")]
    predictions: Option<PathBuf>,
    /// Other names of entities, as the file `id_aliases.json` of 2WikiMultiHopQA lists them (2wiki).
    #[arg(long, value_name = "FILE", requires = "gold")]
    aliases: Option<PathBuf>,
    /// Print the scores of each question too (of a run: of each episode).
    #[arg(long, help_heading = None)]
    pub(super) per_item: bool,
}

/// The names of all metrics for files.
const METRICS: [&str; 14] = [
    "hotpot",
    "2wiki",
    "musique",
    "musique-answerable",
    "musique-full",
    "squad11",
    "squad20",
    "fever",
    "trivia",
    "nq-open",
    "orqa",
    "fid",
    "paper",
    "cjk",
];

/// Scores files where they are named; nothing where a run is to be scored.
pub(super) fn execute(files: &Files, metric: Option<&str>, json: bool) -> Option<anyhow::Result<u8>> {
    let (gold, predictions) = (files.gold.as_ref()?, files.predictions.as_ref()?);
    let scored = || -> anyhow::Result<u8> {
        let metric = known(metric.unwrap_or_default())?;
        if files.aliases.is_some() && metric != "2wiki" {
            return Err(Failure::usage(format!("--aliases is not for metric `{metric}`"), "leave --aliases away"));
        }
        let aliases = files.aliases.as_deref().map(Source::read).transpose()?;
        let sources = (&Source::read(gold)?, &Source::read(predictions)?);
        print(&score(metric, sources, aliases.as_ref(), files.per_item)?, files.per_item, json)
    };
    Some(scored())
}

fn known(metric: &str) -> anyhow::Result<&'static str> {
    METRICS.into_iter().find(|name| name.eq_ignore_ascii_case(metric.trim())).ok_or_else(|| {
        let what = format!("unknown metric `{}` for files of predictions", input::shown(metric));
        Failure::usage(what, format!("metrics are {}", METRICS.join(", ")))
    })
}

fn score(
    metric: &str,
    (gold, predictions): (&Source, &Source),
    aliases: Option<&Source>,
    per_item: bool,
) -> anyhow::Result<Report> {
    match metric {
        "2wiki" => hotpot::wiki2(gold, predictions, aliases, per_item),
        "musique" => musique::musique(gold, predictions, Subset::Seen, per_item),
        "musique-answerable" => musique::musique(gold, predictions, Subset::Answerable, per_item),
        "musique-full" => musique::musique(gold, predictions, Subset::Full, per_item),
        "squad11" => squad::version_1(gold, predictions, per_item),
        "squad20" => squad::version_2(gold, predictions, per_item),
        "fever" => fever::score(gold, predictions, per_item),
        "trivia" => open::triviaqa(gold, predictions, per_item),
        "nq-open" | "orqa" => open::nq_open(gold, predictions, OpenMetric::Orqa, per_item),
        "fid" => open::nq_open(gold, predictions, OpenMetric::Fid, per_item),
        "paper" => general::paper(gold, predictions, per_item),
        "cjk" => general::cjk(gold, predictions, per_item),
        _ => hotpot::hotpot(gold, predictions, per_item),
    }
}

fn print(report: &Report, per_item: bool, json: bool) -> anyhow::Result<u8> {
    let none = |(what, count): &(&str, usize)| ["answer", "prediction"].contains(what) && *count == report.n;
    if report.missing.iter().any(none) {
        say("note: no question of the gold file has a prediction; are both of one split?");
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    if json {
        report.write_json(per_item, &mut out)?;
    } else {
        report.write_text(per_item, &mut out)?;
    }
    out.flush()?;
    Ok(failure::OK)
}
