//! Inspect's log, which has one task and one model: one variant of one run.

use super::Job;
use crate::cli::failure::Failure;
use crate::cli::say::say;
use crate::export::{LogHeader, Origin};
use crate::types::text::{shell_word, visible_line};
use std::path::Path;

/// What the log says of its episodes together. Several runs or variants are refused.
pub(super) fn header<'a>(job: &'a Job<'_>) -> anyhow::Result<LogHeader<'a>> {
    let [run] = &job.runs[..] else {
        let folder = job.runs.first().map(|run| run.folder.path().display().to_string()).unwrap_or_default();
        return Err(Failure::usage(
            "a log of Inspect is of one run, and here are several",
            format!("name one of them, such as {}", shell_word(&visible_line(&folder, 300))),
        ));
    };
    let filter = &job.args.filter;
    let known: Vec<&str> = run.manifest.variants.iter().map(|variant| variant.name.as_str()).collect();
    let wanted: Vec<&str> = filter.variants().iter().map(String::as_str).collect();
    let (([name], _) | ([], [name])) = (&wanted[..], &known[..]) else {
        let names: Vec<String> = known.iter().map(|name| shell_word(&visible_line(name, 80))).collect();
        return Err(Failure::usage(
            "a log of Inspect is of one variant, and here are several",
            format!("name one with --variant: {}", names.join(", ")),
        ));
    };
    let variant = run.manifest.variants.iter().find(|variant| variant.name == *name);
    let planned = variant.filter(|_| !filter.is_partial()).map(|variant| run.manifest.planned(variant));
    Ok(LogHeader { origin: Origin::new(&run.name, &run.manifest, name), planned })
}

/// `inspect view DIR` lists a JSON log only if its name begins with a time; says which one would do.
pub(super) fn note_name(job: &Job<'_>, path: &Path) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let shape = |at: usize, c: char| match at {
        4 | 7 => c == '-',
        10 => c == 'T',
        13 | 16 => matches!(c, '-' | ':'),
        _ => c.is_ascii_digit(),
    };
    let is_timed = name.chars().count() > 19 && name.chars().take(19).enumerate().all(|(at, c)| shape(at, c));
    let Some(run) = job.runs.first().filter(|_| !is_timed) else { return };
    let time: String = run.manifest.started_at.chars().take(19).map(|c| if c == ':' { '-' } else { c }).collect();
    let better = visible_line(&format!("{time}_{name}"), 200);
    say(format_args!(
        "note: a folder's list in `inspect view` has JSON logs whose names begin with a time, such as {better}"
    ));
}
