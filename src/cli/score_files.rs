//! `score --metric M --gold G --predictions P`: the input files of the official scripts, and their figures.

use super::failure::{self, Failure};
use super::output_file::json_line;
use super::say::say;
use crate::analysis::report::console::stdout;
use crate::base::text::visible_line;
use crate::dataset::{self, Problem, ReadOptions};
use crate::scoring::files::{self, FileError, FileMetric, JsonFile, Report};
use serde_json::Value;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Flags of `score` for files of predictions.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Files of predictions")]
pub(super) struct PredictionFiles {
    #[arg(long, value_name = "FILE", requires_all = ["predictions", "metric"], help = format!(
        "Score --predictions against this gold file, in the dataset's own format, instead of a run. Metrics: {}", FileMetric::names()
    ))]
    gold: Option<PathBuf>,
    /// Predictions in the format of the metric's official script.
    #[arg(long, value_name = "FILE", requires = "gold")]
    predictions: Option<PathBuf>,
    /// Aliases of entities, such as 2WikiMultiHopQA's file `id_aliases.json` (2wiki).
    #[arg(long, value_name = "FILE", requires = "gold")]
    aliases: Option<PathBuf>,
    /// Also print the scores of each question (of a run, of each episode).
    #[arg(long, help_heading = None)]
    pub(super) per_item: bool,
}

/// Scores files if they are named; none if a run is to be scored.
pub(super) fn score_named_files(
    files: &PredictionFiles,
    metric: Option<&str>,
    json: bool,
) -> Option<anyhow::Result<u8>> {
    let (gold, predictions) = (files.gold.as_deref()?, files.predictions.as_deref()?);
    let scored = || -> anyhow::Result<u8> {
        print_report(&score_files(files, (gold, predictions), parse_file_metric(metric.unwrap_or_default())?)?, json)?;
        Ok(failure::OK)
    };
    Some(scored())
}

fn parse_file_metric(metric: &str) -> anyhow::Result<&'static FileMetric> {
    FileMetric::parse(metric).ok_or_else(|| {
        let what = format!("unknown metric `{}` for files of predictions", visible_line(metric, 80));
        Failure::usage(what, format!("use {}", FileMetric::names()))
    })
}

fn score_files(
    files: &PredictionFiles,
    (gold, predictions): (&Path, &Path),
    metric: &FileMetric,
) -> anyhow::Result<Report> {
    if files.aliases.is_some() && metric.name != "2wiki" {
        let what = format!("metric `{}` does not use --aliases", metric.name);
        return Err(Failure::usage(what, "omit --aliases, or use --metric 2wiki"));
    }
    let aliases = files.aliases.as_deref().map(Source::read).transpose()?;
    let (gold, predictions) = (Source::read(gold)?, Source::read(predictions)?);
    let aliases_text = aliases.as_ref().map(Source::text).transpose()?;
    let (gold_text, predictions_text) = (gold.text()?, predictions.text()?);
    let questions = || match dataset::load(&gold.name, &gold.raw, &ReadOptions::default()) {
        Ok(dataset) => Ok(dataset.questions),
        Err(error) => Err(FileError::new(&error, error.hint())),
    };
    Ok(metric.score(&files::Files {
        gold: JsonFile::new(&gold.name, &gold_text)?,
        predictions: JsonFile::new(&predictions.name, &predictions_text)?,
        aliases: aliases
            .as_ref()
            .zip(aliases_text.as_ref())
            .map(|(file, text)| JsonFile::new(&file.name, text))
            .transpose()?,
        questions: &questions,
        per_item: files.per_item,
    })?)
}

struct Source {
    name: String,
    raw: Vec<u8>,
}

impl Source {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let name = path.display().to_string();
        let raw = dataset::bytes_of(path).map_err(|error| match error.problem {
            Problem::Io(error) => Failure::bad_input(format!("cannot read `{name}`: {error}"), "check the path"),
            _ => error.into(),
        })?;
        Ok(Self { name, raw })
    }

    fn text(&self) -> anyhow::Result<std::borrow::Cow<'_, str>> {
        Ok(dataset::text_of(&self.name, &self.raw)?)
    }
}

fn print_report(report: &Report, json: bool) -> anyhow::Result<()> {
    report.notes.iter().for_each(|note| say(format!("note: {note}")));
    let none = |what: &str| report.missing.get(what).is_some_and(|count| *count == report.n);
    if none("answer") || none("prediction") {
        say("note: no question of the gold file has a prediction; do both files belong to the same split?");
    }
    let mut out = BufWriter::new(stdout());
    if json {
        json_line(&mut out, report)?;
    } else {
        write_text(report, &mut out)?;
    }
    Ok(out.flush()?)
}

fn write_text(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let noun = if report.n == 1 { "question" } else { "questions" };
    writeln!(out, "{}: {} {noun}", report.metric, report.n)?;
    let width = report.aggregate.keys().map(String::len).max().unwrap_or(0);
    for (name, value) in &report.aggregate {
        writeln!(out, "  {name:width$}  {:>8}", value_text(value))?;
    }
    for (what, count) in report.missing.iter().filter(|(_, count)| **count != 0) {
        writeln!(out, "  without {what}: {count}")?;
    }
    let Some(items) = &report.items else { return Ok(()) };
    writeln!(out)?;
    for fields in items.iter().filter_map(Value::as_object) {
        let parts: Vec<String> = fields.iter().map(|(name, value)| part(name, value)).collect();
        writeln!(out, "{}", parts.join("  "))?;
    }
    Ok(())
}

fn part(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) if name == "id" => visible_line(text, 80),
        Value::Number(_) if name == "id" => value.to_string(),
        _ => format!("{name} {}", value_text(value)),
    }
}

/// Shares with four decimals, counts and the rest as they are.
fn value_text(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => format!("{:.4}", number.as_f64().unwrap_or_default()),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Report, write_text};
    use serde_json::json;

    #[test]
    fn the_table_is_aligned_and_harmless() {
        let object = |value| serde_json::from_value(value).expect("an object");
        let report = Report {
            metric: "hotpot",
            n: 2,
            aggregate: object(json!({"em": 0.5, "sp_recall": 1.0})),
            official: None,
            missing: object(json!({"answer": 1, "sp": 0})),
            notes: Vec::new(),
            items: Some(vec![json!({"id": "a\u{1b}", "em": 1.0, "ok": true})]),
        };
        let mut out = Vec::new();
        write_text(&report, &mut out).expect("memory");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "hotpot: 2 questions\n  em           0.5000\n  sp_recall    1.0000\n  without answer: 1\n\n\
             a\\u{1b}  em 1.0000  ok true\n"
        );
    }
}
