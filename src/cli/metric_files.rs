//! `--metric-file` and `--metric-command`: metrics that are made elsewhere, joined to runs.

use super::failure::Failure;
use super::metric_command;
use super::say::say;
use crate::dataset::{DatasetError, Problem, bytes_of, read_values};
use crate::graded::{EpisodeName, JoinedMetric};
use crate::types::Trajectory;
use crate::types::text::visible_line;
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
        self.metric_file.iter().chain(&self.metric_command).map(|typed| named(typed).1)
    }

    /// Reads the files, and asks the programs about the episodes of these runs.
    pub(super) fn read(&self, runs: &[&Path]) -> anyhow::Result<Vec<JoinedMetric>> {
        let mut read: Vec<JoinedMetric> = Vec::new();
        for typed in &self.metric_file {
            let (name, file) = named(typed);
            let bytes = bytes_of(Path::new(file)).map_err(|error| explain(error, file))?;
            add(&mut read, file, &bytes, name, "--metric-file")?;
        }
        for typed in &self.metric_command {
            let (name, program) = named(typed);
            let stem = Path::new(program).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let bytes = metric_command::program_output(program, runs)?;
            add(&mut read, program, &bytes, name.or(stem.as_deref()), "--metric-command")?;
        }
        Ok(read)
    }
}

/// The name before a `=`, and the file or program behind it.
fn named(typed: &str) -> (Option<&str>, &str) {
    match typed.split_once('=').filter(|(name, _)| !name.contains('/')) {
        Some((name, file)) if !Path::new(typed).is_file() => (Some(name), file),
        _ => (None, typed),
    }
}

fn add(read: &mut Vec<JoinedMetric>, file: &str, bytes: &[u8], name: Option<&str>, flag: &str) -> anyhow::Result<()> {
    let table = read_values(file, bytes, name).map_err(|error| explain(error, file))?;
    let metric = JoinedMetric::new(file, table)?;
    if read.iter().any(|known| known.name.eq_ignore_ascii_case(&metric.name)) {
        return Err(Failure::usage(
            format!("{flag}: two metrics are called `{}`", visible_line(&metric.name, 60)),
            format!("name them: {flag} first=A {flag} second=B"),
        ));
    }
    read.push(metric);
    Ok(())
}

/// The metrics of judges, and behind them those of files, whose names must be others.
pub(super) fn with_judges(files: Vec<JoinedMetric>, judges: Vec<JoinedMetric>) -> anyhow::Result<Vec<JoinedMetric>> {
    let same = |file: &&JoinedMetric| judges.iter().any(|judge| judge.name.eq_ignore_ascii_case(&file.name));
    if let Some(file) = files.iter().find(same) {
        let name = visible_line(&file.name, 60);
        return Err(Failure::usage(
            format!("--metric-file: `{name}` is what the verdicts in the run's folder are called"),
            format!("name the metric otherwise: --metric-file my_{name}=FILE"),
        ));
    }
    Ok(judges.into_iter().chain(files).collect())
}

/// Measured episodes by their names.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<(String, String, u32, String)>);

impl Names {
    /// Adds an episode of the run that has this name, if it was measured.
    pub(super) fn add(&mut self, run: &str, trajectory: &Trajectory) {
        if trajectory.measured() {
            let (variant, id) = (trajectory.variant.clone(), trajectory.id.clone());
            self.0.push((run.to_owned(), variant, trajectory.repeat, id));
        }
    }

    /// Says which of them have no value, and which values are of none of them.
    pub(super) fn note_coverage(&self, metrics: &[JoinedMetric]) -> anyhow::Result<()> {
        for metric in metrics {
            let names =
                self.0.iter().map(|(run, variant, repeat, id)| EpisodeName { run, variant, repeat: *repeat, id });
            metric.coverage(names)?.iter().for_each(say);
        }
        Ok(())
    }
}

/// The error of a file; its hint is about metrics rather than datasets.
fn explain(error: DatasetError, file: &str) -> anyhow::Error {
    let hint = match &error.problem {
        Problem::Io(cause) => {
            let what = format!("cannot read the metric file `{}`: {cause}", visible_line(file, 200));
            return Failure::bad_input(what, "check the path; a name comes before it: --metric-file judge=grades.csv");
        }
        Problem::NoColumn(name, _) if name == "id" => "a row has the `id` of its question, and a value",
        Problem::NoColumn(..) => {
            "the values are in the column `value`, or in one of the metric's name: --metric-file NAME=FILE"
        }
        Problem::Field(..) => "correct the line, or leave the value empty if there is none",
        Problem::Duplicate(..) => "distinguish the episodes of a question by the columns `variant`, `repeat` and `run`",
        Problem::Empty => "a metric needs at least one value",
        _ => "give a CSV or JSON Lines file with `id` and `value` in each row",
    };
    Failure::bad_input(error, hint)
}
