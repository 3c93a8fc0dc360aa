//! Output files that are complete or absent, their formats, and lines of JSON.

use super::failure::Failure;
use crate::analysis::output_file::OutputFile;
use crate::base::text::visible_line;
use crate::net::recording::create_beside;
use clap::ValueEnum;
use serde::Serialize;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The file that `--out` names; `-` is standard output, as is no `--out`.
pub(super) fn file_of(out: Option<&Path>) -> Option<&Path> {
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
    let Some(path) = file_of(out).filter(|path| path.metadata().map_or(true, |metadata| metadata.is_file())) else {
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
            let message = format!("`{file}` ends in {ending}, but --format is {}", shown(typed));
            Err(Failure::usage(message, format!("omit --format to write {usual}{own}")))
        }
        (None, _) => {
            let known: Vec<&str> = endings.iter().map(|(ending, _)| *ending).collect();
            let formats: Vec<String> = F::value_variants().iter().map(|format| shown(*format)).collect();
            let hint = format!("name a file that ends in {}, or add --format {}", known.join(", "), formats.join("|"));
            Err(Failure::usage(format!("`{file}` has no ending that says which format to write"), hint))
        }
    }
}

/// Fills the file through a neighbouring one that takes its name once it is complete, so that a failure leaves an older
/// file unchanged.
pub(super) fn write<T>(output: &OutputFile<'_>, fill: impl FnOnce(File) -> anyhow::Result<T>) -> anyhow::Result<T> {
    output.check()?;
    let path = output.path;
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return File::create(path).map_err(anyhow::Error::from).and_then(fill).map_err(|error| explained(path, error));
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

/// Prints a value as a line of JSON, or the text for people.
pub(super) fn json_or<T: Serialize>(
    json: bool,
    value: impl FnOnce() -> T,
    text: impl FnOnce() -> String,
    out: &mut impl Write,
) -> io::Result<()> {
    if json { json_line(out, &value()) } else { out.write_all(text().as_bytes()) }
}

pub(super) fn json_line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

fn explained(path: &Path, error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<io::Error>() {
        // The chain is kept, so that a closed pipe is recognised.
        Ok(error) if error.kind() == io::ErrorKind::BrokenPipe => error.into(),
        Ok(error) => unwritable(path.display(), &error),
        Err(error) => error,
    }
}

pub(super) fn unwritable(path: impl Display, error: &io::Error) -> anyhow::Error {
    let hint = "check that the folder exists, is writable and has space";
    Failure::unexpected(format!("cannot write `{path}`: {error}"), hint)
}

#[cfg(test)]
mod tests;
