//! Verdicts of judges as figures that are compared.

use super::Args;
use crate::cli::failure::Failure;
use crate::cli::metric_files::with_judges;
use crate::cli::say::say;
use crate::graded::{JUDGE, JoinedMetric, JudgedRuns, runs};
use crate::types::text::visible_line;
use std::path::Path;

/// The verdicts of the runs if they are asked for, and the metrics that are not figures of every run: those of judges, and
/// those of files.
pub(super) fn judges_and_metrics(args: &Args) -> anyhow::Result<(JudgedRuns, Vec<JoinedMetric>)> {
    let typed_runs = if args.from_csv.is_empty() { runs(&args.runs)? } else { Vec::new() };
    let mut paths: Vec<&Path> = typed_runs.iter().map(|run| run.path.as_path()).collect();
    paths.dedup();
    let files = args.metrics.read(&paths)?;
    let of_file = |name: &str| files.iter().any(|file| file.name.eq_ignore_ascii_case(name));
    let is_judge = |name: &&str| {
        let name = name.to_ascii_lowercase();
        name == JUDGE || name.starts_with("judge:")
    };
    let typed = args.metric.iter().map(|name| name.trim());
    let wanted: Vec<&str> = typed.filter(is_judge).filter(|name| !of_file(name)).collect();
    if wanted.is_empty() || !args.from_csv.is_empty() {
        return Ok((JudgedRuns::default(), files));
    }
    let judged = JudgedRuns::read(paths)?;
    let mut metrics = judged.metrics()?;
    let names: Vec<String> = metrics.iter().map(|metric| visible_line(&metric.name, 80)).collect();
    if let Some(unknown) =
        wanted.iter().find(|name| !metrics.iter().any(|metric| metric.name.eq_ignore_ascii_case(name)))
    {
        let hint = match names.as_slice() {
            [] => "judge a run first: wikitrail score RUN --judge openai:NAME".to_owned(),
            names => format!("judges of these runs are {}", names.join(", ")),
        };
        let unknown = visible_line(unknown, 80);
        return Err(Failure::usage(format!("--metric: these runs have no verdicts of `{unknown}`"), hint));
    }
    judged.notes().iter().for_each(say);
    metrics.retain(|metric| wanted.iter().any(|name| metric.name.eq_ignore_ascii_case(name)));
    Ok((judged, with_judges(files, metrics)?))
}
