//! Which existing file is an earlier export of the same kind, and which files the exported runs were made from.

use super::{Format, Job};
use crate::cli::output_file::{Force, OutputFile, Start, of_run};
use crate::export::header;
use serde_json::Value;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// What `write` is given.
pub(super) fn output<'a>(job: &'a Job<'_>, path: &'a Path, is_earlier: &'a dyn Fn(&Start) -> bool) -> OutputFile<'a> {
    let of_runs = job.runs.iter().flat_map(|run| of_run(&run.manifest));
    let metrics = job.args.metrics.files().map(PathBuf::from);
    let force = Force::Flag(job.args.force);
    OutputFile { path, what: what(job), is_earlier, force, inputs: of_runs.chain(metrics.map(Into::into)).collect() }
}

fn what(job: &Job<'_>) -> &'static str {
    match (job.format, job.table().is_some()) {
        (Format::Chat, _) => "an earlier export of these runs as conversations",
        (Format::Inspect, _) => "a log that wikitrail export wrote",
        (Format::Atif, _) => "an earlier export of trajectories in ATIF",
        (_, true) => "an earlier export of the same table",
        (_, false) => "an earlier export of trajectories",
    }
}

/// Whether a file that begins like this is an earlier export in the same format.
pub(super) fn is_earlier(job: &Job<'_>, start: &Start) -> bool {
    let layout = || job.layout(Vec::new());
    match (job.format, layout()) {
        (Format::Parquet, _) => is_own_parquet(start.path()).unwrap_or(false),
        (Format::Chat, _) => is_conversation_of(job, start).unwrap_or(false),
        (Format::Atif, _) => {
            start.line().starts_with(r#"{"schema_version":"ATIF-"#)
                && Value::Object(start.object())["agent"]["name"] == "wikitrail"
        }
        (Format::Inspect, _) => {
            start.line().starts_with(r#"{"version":2,"status":"#) && start.line().contains(r#""task":"wikitrail/"#)
        }
        (Format::Jsonl, Some(layout)) => layout.is_header(&start.object().keys().cloned().collect::<Vec<_>>()),
        (Format::Jsonl, None) => {
            let object = start.object();
            ["v", "id", "variant", "steps", "key", "run", "score"].iter().all(|name| object.contains_key(*name))
        }
        (_, Some(layout)) => layout.is_header(&header(start.line())),
        (_, None) => false,
    }
}

/// Our name is in the footer, as the program that wrote the file.
fn is_own_parquet(path: &Path) -> std::io::Result<bool> {
    const LAST: u64 = 512;
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST)))?;
    let mut end = Vec::new();
    file.take(LAST).read_to_end(&mut end)?;
    Ok(end.ends_with(b"PAR1") && end.windows(10).any(|bytes| bytes == b"wikitrail "))
}

/// Other programs write conversations in the same form, so it is the question that counts.
fn is_conversation_of(job: &Job<'_>, start: &Start) -> anyhow::Result<bool> {
    let object = start.object();
    let Some(Value::Array(messages)) = object.get("messages") else { return Ok(false) };
    let said: Vec<&str> = messages.iter().filter_map(|message| message["content"].as_str()).collect();
    for run in &job.runs {
        for trajectory in run.folder.records()?.iter() {
            let question = trajectory?.question;
            if !question.is_empty() && said.iter().any(|said| said.contains(&question)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
