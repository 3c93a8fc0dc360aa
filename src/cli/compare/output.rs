//! Writes a comparison in the requested format.

use super::Args;
use crate::cli::output_file;
use crate::cli::say::say;
use crate::export::{CsvOptions, FigureRow, FiguresCsv};
use crate::report::View;
use crate::report::console::stdout;
use crate::report::sheet::{Sheet, latex, markdown, terminal};
use crate::types::text::visible_line;
use serde_json::Value;
use std::io::Write as _;

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

impl Format {
    /// Endings of files, and the formats that they have.
    pub(super) const ENDINGS: &[(&str, &[Self])] = &[
        (".txt", &[Self::Table]),
        (".md", &[Self::Markdown]),
        (".tex", &[Self::Latex]),
        (".csv", &[Self::Csv]),
        (".json", &[Self::Json]),
    ];
}

pub(super) fn write(
    args: &Args,
    format: Format,
    sheet: &Sheet,
    json: impl FnOnce() -> anyhow::Result<Value>,
) -> anyhow::Result<()> {
    let text = match format {
        Format::Table => terminal::render(sheet, View::of_stdout().width).into_bytes(),
        Format::Markdown => markdown::render(sheet).into_bytes(),
        Format::Latex => latex::render(sheet).into_bytes(),
        Format::Csv => csv(sheet)?,
        Format::Json => format!("{}\n", json()?).into_bytes(),
    };
    match output_file::named(args.out.as_deref()) {
        None => stdout().write_all(&text)?,
        Some(path) => {
            output_file::write(path, |mut file| Ok(file.write_all(&text)?))?;
            say(format_args!("comparison written to {}", visible_line(&path.display().to_string(), 300)));
        }
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
