//! A comparison in the format that was asked for, to where it was asked for.

use super::Args;
use crate::cli::failure::Failure;
use crate::export::{CsvOptions, FigureRow, FiguresCsv};
use crate::report::View;
use crate::report::sheet::{Sheet, latex, markdown, terminal};
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;

/// How a comparison is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// Tables for a terminal.
    Table,
    /// GitHub-flavoured Markdown.
    Markdown,
    /// LaTeX tables with the rules of booktabs.
    Latex,
    /// Comma-separated values, one row a figure.
    Csv,
    /// JSON with every figure in full precision.
    Json,
}

/// Writes the comparison.
pub(super) fn write(args: &Args, sheet: &Sheet, json: impl FnOnce() -> Value) -> anyhow::Result<()> {
    let text = match args.format() {
        Format::Table => terminal::render(sheet, View::of_stdout().width).into_bytes(),
        Format::Markdown => markdown::render(sheet).into_bytes(),
        Format::Latex => latex::render(sheet).into_bytes(),
        Format::Csv => csv(sheet)?,
        Format::Json => format!("{}\n", json()).into_bytes(),
    };
    match &args.out {
        None => std::io::stdout().lock().write_all(&text)?,
        Some(path) => to_file(path, &text)?,
    }
    Ok(())
}

fn csv(sheet: &Sheet) -> anyhow::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut csv = FiguresCsv::new(&mut out, CsvOptions::default());
    for figure in sheet.figures() {
        let key = figure.key;
        csv.write(&FigureRow {
            table: figure.table,
            metric: &key.metric,
            group: &key.group,
            a: &key.a,
            b: &key.b,
            figure: figure.name,
            value: figure.value,
        })?;
    }
    csv.finish()?;
    drop(csv);
    Ok(out)
}

/// Writes beside the place and moves there, so that a failure leaves an older file as it was. A pipe or a device is
/// written directly.
fn to_file(path: &Path, text: &[u8]) -> anyhow::Result<()> {
    let unwritable = |error: std::io::Error| {
        Failure::unexpected(
            format!("cannot write `{}`: {error}", path.display()),
            "check that the folder exists, may be written, and has space",
        )
    };
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return std::fs::write(path, text).map_err(unwritable);
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = Path::new(&beside);
    std::fs::write(beside, text).and_then(|()| std::fs::rename(beside, path)).map_err(|error| {
        // Half a file helps nobody.
        let _ = std::fs::remove_file(beside);
        unwritable(error)
    })
}
