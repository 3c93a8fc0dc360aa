//! Output files that are complete or absent and replace nothing by mistake, and lines of JSON.

mod inputs;
mod start;

use inputs::is_input;
pub(super) use inputs::{Input, of_run};
pub(super) use start::Start;

use super::failure::Failure;
use crate::store::RunFolder;
use crate::tape::create_beside;
use crate::types::text::visible_line;
use clap::ValueEnum;
use serde::Serialize;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// A file that a person named to be written.
///
/// It replaces an existing file if that one is empty or an earlier output of the same kind, and others if the person
/// insists; a file that the command reads is never replaced. A pipe or a device is written directly.
pub(super) struct OutputFile<'a> {
    pub(super) path: &'a Path,
    /// What is written, such as `a page of wikitrail report`.
    pub(super) what: &'a str,
    /// Whether a file that begins like this is an earlier output of the same kind.
    pub(super) is_earlier: &'a dyn Fn(&Start) -> bool,
    /// Whether any other file is replaced too.
    pub(super) force: Force,
    /// What the command and its runs read.
    pub(super) inputs: Vec<Input>,
}

/// Whether a file is replaced, whatever it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    /// By `--force`, if it was given.
    Flag(bool),
    /// Never; this is what to do instead.
    Never(&'static str),
}

impl OutputFile<'_> {
    /// Refuses what must not be replaced. Commands that take long ask before they begin.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let Self { path, what, .. } = self;
        let shown = visible_line(&path.display().to_string(), 300);
        refuse_file_of_run(path)?;
        let Some(metadata) = path.metadata().ok().filter(fs::Metadata::is_file) else { return Ok(()) };
        if is_input(&self.inputs, path) {
            return Err(Failure::usage(
                format!("`{shown}` is an input of this command or of its runs and is never replaced"),
                "name another file to write",
            ));
        }
        if metadata.len() == 0 || self.force == Force::Flag(true) {
            return Ok(());
        }
        let message = match Start::read(path) {
            Ok(start) if (self.is_earlier)(&start) => return Ok(()),
            Ok(_) => format!("`{shown}` exists and is not {what}"),
            Err(error) => format!("`{shown}` exists, and it cannot be read: {error}"),
        };
        Err(Failure::usage(
            message,
            match self.force {
                Force::Flag(_) => "name another file, or replace this one with --force",
                Force::Never(instead) => instead,
            },
        ))
    }

    /// Fills the file through a neighbouring one that takes its name once it is complete, so that a failure leaves an older
    /// file unchanged.
    pub(super) fn write<T>(&self, fill: impl FnOnce(File) -> anyhow::Result<T>) -> anyhow::Result<T> {
        self.check()?;
        let path = self.path;
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return File::create(path)
                .map_err(anyhow::Error::from)
                .and_then(fill)
                .map_err(|error| explained(path, error));
        }
        let (created, part) = create_beside(path).map_err(|error| explained(path, error.into()))?;
        let complete = |result| -> anyhow::Result<T> {
            File::open(&part)?.sync_all()?;
            fs::rename(&part, path)?;
            Ok(result)
        };
        let written = fill(created).and_then(complete);
        written.map_err(|error| {
            // The first error is the one to report.
            let _ = fs::remove_file(&part);
            explained(path, error)
        })
    }
}

/// Refuses a file that nothing but a run itself writes, also where a link leads to it.
pub(super) fn refuse_file_of_run(path: &Path) -> anyhow::Result<()> {
    let is_own = |path: &Path| {
        let (folder, name) = (path.parent().map(RunFolder::at), path.file_name().and_then(|name| name.to_str()));
        folder.is_some_and(|folder| folder.exists()) && name.is_some_and(RunFolder::is_own)
    };
    if is_own(path) || path.canonicalize().is_ok_and(|path| is_own(&path)) {
        let message =
            format!("`{}` is a file of a run, which would be lost", visible_line(&path.display().to_string(), 300));
        return Err(Failure::usage(message, "name another file to write"));
    }
    Ok(())
}

/// The file that `--out` names; `-` is standard output, as is no `--out`.
pub(super) fn named(out: Option<&Path>) -> Option<&Path> {
    out.filter(|path| *path != Path::new("-"))
}

/// The format in which an output is written: the one that is typed, else the one that the file's ending says. A
/// contradiction is refused, and so is an ending that says nothing. `endings` holds the formats of each ending, the usual
/// one first; a name may end in `.gz` behind those that say so themselves.
///
/// Standard output, pipes and devices have no ending: there it is the one that is typed, or the default.
pub(super) fn format<F: ValueEnum + Copy + PartialEq>(
    typed: Option<F>,
    out: Option<&Path>,
    endings: &[(&str, &[F])],
    default: F,
) -> anyhow::Result<F> {
    let Some(path) = named(out).filter(|path| path.metadata().map_or(true, |metadata| metadata.is_file())) else {
        return Ok(typed.unwrap_or(default));
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let by_name = endings.iter().find(|(ending, _)| name.ends_with(ending)).map(|(ending, formats)| (ending, *formats));
    let shown = |format: F| format.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    let file = visible_line(&path.display().to_string(), 200);
    match (typed, by_name) {
        (Some(typed), None) => Ok(typed),
        (None, Some((_, [format, ..]))) => Ok(*format),
        (Some(typed), Some((_, formats))) if formats.contains(&typed) => Ok(typed),
        (Some(typed), Some((ending, formats))) => {
            let usual = formats.first().map_or_else(String::new, |format| shown(*format));
            let own = endings.iter().find(|(_, formats)| formats.contains(&typed));
            let own = own.map_or_else(String::new, |(ending, _)| format!(", or name a file that ends in {ending}"));
            Err(Failure::usage(
                format!("`{file}` ends in {ending}, but --format is {}", shown(typed)),
                format!("omit --format to write {usual}{own}"),
            ))
        }
        (None, _) => {
            let known: Vec<&str> = endings.iter().map(|(ending, _)| *ending).collect();
            let formats: Vec<String> = F::value_variants().iter().map(|format| shown(*format)).collect();
            Err(Failure::usage(
                format!("`{file}` has no ending that says which format to write"),
                format!("name a file that ends in {}, or add --format {}", known.join(", "), formats.join("|")),
            ))
        }
    }
}

/// Writes a value as JSON on a line of its own.
pub(super) fn json_line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

fn explained(path: &Path, error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<io::Error>() {
        // The chain is kept, so that a closed pipe is recognised.
        Ok(error) if error.kind() == io::ErrorKind::BrokenPipe => error.into(),
        Ok(error) => Failure::unexpected(
            format!("cannot write `{}`: {error}", path.display()),
            "check that the folder exists, is writable and has space",
        ),
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests;
