//! `--metric-file`: metrics that were made elsewhere, joined to runs.

use super::failure::Failure;
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
}

impl MetricFiles {
    /// Reads the files.
    pub(super) fn read(&self) -> anyhow::Result<Vec<JoinedMetric>> {
        let mut read: Vec<JoinedMetric> = Vec::new();
        for typed in &self.metric_file {
            let (name, file) = match typed.split_once('=').filter(|(name, _)| !name.contains('/')) {
                Some((name, file)) if !Path::new(typed).is_file() => (Some(name), file),
                _ => (None, typed.as_str()),
            };
            let bytes = bytes_of(Path::new(file)).map_err(|error| explain(error, file))?;
            let table = read_values(file, &bytes, name).map_err(|error| explain(error, file))?;
            let metric = JoinedMetric::new(file, table)?;
            if read.iter().any(|known| known.name.eq_ignore_ascii_case(&metric.name)) {
                return Err(Failure::usage(
                    format!("--metric-file: two metrics are called `{}`", visible_line(&metric.name, 60)),
                    "name them: --metric-file first=a.csv --metric-file second=b.csv",
                ));
            }
            read.push(metric);
        }
        Ok(read)
    }
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
