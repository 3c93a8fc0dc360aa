//! A folder for the Hugging Face Hub.

use super::{Job, Written, explain};
use crate::cli::failure::Failure;
use crate::cli::output_file;
use crate::cli::say::say;
use crate::dataset::PUBLIC_SOURCES;
use crate::experiment::shipped;
use crate::export::{Hf, HfSource};
use crate::graded::NamedRun;
use crate::tape::{FolderBeside, sync_folder};
use crate::types::sha256_hex;
use crate::types::text::{shell_word, visible_line};
use std::fs;
use std::path::Path;

/// Writes a new folder beside its place and gives it its name when it is whole.
pub(super) fn write(job: &Job<'_>) -> anyhow::Result<Written> {
    let Some(path) = output_file::named(job.args.out.as_deref()) else {
        return Err(Failure::usage("a Hugging Face dataset is a folder", "name a new one with --out"));
    };
    let shown = shell_word(&visible_line(&path.display().to_string(), 300));
    if path.exists() && !is_empty_folder(path) {
        return Err(Failure::usage(format!("{shown} is there already"), "name a new folder with --out"));
    }
    let cannot = |error: std::io::Error| {
        let hint = "check that the folder above it is writable and has space";
        Failure::unexpected(format!("cannot write {shown}: {error}"), hint)
    };
    let beside = FolderBeside::create(path).map_err(cannot)?;
    let written = fill(job, beside.path())?;
    for left in &beside.doubtful {
        let left = shell_word(&visible_line(&left.display().to_string(), 300));
        say(format_args!("note: {left} may be left by a process that was killed; remove it if none is running"));
    }
    beside.rename(path).map_err(cannot)?;
    sync_folder(path);
    say(format_args!("{} written to {shown}", written.said(job)));
    say(format_args!("next:\n  hf upload USER/NAME {shown} . --repo-type dataset"));
    Ok(written)
}

fn is_empty_folder(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

fn fill(job: &Job<'_>, folder: &Path) -> anyhow::Result<Written> {
    let sources: Vec<HfSource<'_>> = job.runs.iter().map(source).collect();
    job.fill(|meta| {
        let hf = Hf::new(folder, sources, meta, job.metric_names(), job.args.with_prompts).map_err(explain)?;
        Ok(Box::new(hf))
    })
}

/// The terms of a run's questions: those of a public file with these bytes, or with this name where a publisher gives no such
/// digest, or our own of a shipped sample.
fn source(run: &NamedRun) -> HfSource<'_> {
    let dataset = &run.manifest.dataset;
    let file = Path::new(&dataset.path).file_name().unwrap_or_default();
    let is_public = |digest: Option<&str>, name: &str| match digest {
        Some(digest) => digest == dataset.sha256,
        None => file == name,
    };
    let public = PUBLIC_SOURCES.iter().find(|source| is_public(source.sha256, source.file));
    let is_ours = || shipped::file(&dataset.path).is_some_and(|bytes| sha256_hex([bytes]) == dataset.sha256);
    let licence = match public {
        Some(source) => Some((source.licence, source.url)),
        None => is_ours().then_some(("MIT OR Apache-2.0", "wikitrail, which ships them as a sample")),
    };
    HfSource { run: &run.name, manifest: &run.manifest, licence }
}
