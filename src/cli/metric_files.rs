//! `--metric-file` and `--metric-command`: metrics that are made elsewhere, joined to runs.
//!
//! A program is named on the command line and nowhere else: no file that came with data starts one. No shell is between.

use super::say::say;
use crate::analysis::results::{JoinedMetric, add_metric, explain_metric, program_output};
use crate::dataset::bytes_of;
use std::path::Path;

#[derive(Debug, clap::Args)]
pub(super) struct MetricFiles {
    /// Metric of a judge or a person to join: a CSV or JSON Lines file with `id`, `value`, and where needed `variant`, `repeat`
    /// and `run`; may be repeated [default name: that of the column].
    #[arg(long, value_name = "[NAME=]FILE")]
    metric_file: Vec<String>,
    /// Metric of your own: a program that reads episodes as JSON lines and writes {"id", "variant", "repeat", "value"}, a line
    /// each; started without a shell, may be repeated [default name: that of the program].
    #[arg(long, value_name = "[NAME=]PROGRAM")]
    metric_command: Vec<String>,
}

impl MetricFiles {
    /// The files, and the programs as far as they are files.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.metric_file.iter().chain(&self.metric_command).map(|typed| split_name(typed).1)
    }

    pub(super) fn read(&self, runs: &[&Path]) -> anyhow::Result<Vec<JoinedMetric>> {
        let mut read: Vec<JoinedMetric> = Vec::new();
        for typed in &self.metric_file {
            let (name, file) = split_name(typed);
            let bytes = bytes_of(Path::new(file)).map_err(|error| explain_metric(error, file))?;
            add_metric(&mut read, file, &bytes, name, "--metric-file")?;
        }
        for typed in &self.metric_command {
            let (name, program) = split_name(typed);
            let stem = Path::new(program).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let bytes = program_output(program, runs, &say)?;
            add_metric(&mut read, program, &bytes, name.or(stem.as_deref()), "--metric-command")?;
        }
        Ok(read)
    }
}

/// The name before a `=`, and the file or program behind it.
fn split_name(typed: &str) -> (Option<&str>, &str) {
    match typed.split_once('=').filter(|(name, _)| !name.contains('/')) {
        Some((name, file)) if !Path::new(typed).is_file() => (Some(name), file),
        _ => (None, typed),
    }
}
