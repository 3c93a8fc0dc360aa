//! Writes a comparison in the requested format.

use super::Args;
use crate::cli::output_file::{self, Force, Input, OutputFile, Start, of_run};
use crate::cli::say::say;
use crate::export::{CsvOptions, FigureRow, FiguresCsv, is_figures_header};
use crate::graded::runs;
use crate::report::View;
use crate::report::comparison::is_title;
use crate::report::console::stdout;
use crate::report::sheet::{Sheet, to_latex, to_markdown, to_terminal};
use crate::store::RunFolder;
use crate::types::text::visible_line;
use serde_json::Value;
use std::io::Write as _;
use std::path::{Path, PathBuf};

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

    /// Whether a file that begins like this is an earlier comparison in this format.
    fn is_earlier(self, start: &Start) -> bool {
        let text = start.text();
        // A long title takes several lines of a terminal.
        let first = || text.replace("\r\n", "\n").split("\n\n").next().unwrap_or_default().replace('\n', " ");
        match self {
            Self::Table => is_title(&first()),
            Self::Markdown => start.line().strip_prefix("## ").is_some_and(is_title),
            Self::Latex => {
                let mut lines = text.lines();
                lines.next() == Some("% \\usepackage{booktabs}")
                    && lines.next().and_then(|line| line.strip_prefix("% ")).is_some_and(is_title)
            }
            Self::Csv => is_figures_header(start.line()),
            Self::Json => start.line().starts_with(r#"{"settings":{"level":"#) && start.line().contains(r#""shared":"#),
        }
    }
}

/// Refuses what must not be replaced, before anything is computed.
pub(super) fn check_output(args: &Args, format: Format) -> anyhow::Result<()> {
    let is_earlier = |start: &Start| format.is_earlier(start);
    output_file::named(args.out.as_deref()).map_or(Ok(()), |path| output_of(args, path, &is_earlier).check())
}

fn output_of<'a>(args: &Args, path: &'a Path, is_earlier: &'a dyn Fn(&Start) -> bool) -> OutputFile<'a> {
    let mut inputs: Vec<Input> = args.from_csv.iter().chain(&args.holdout).cloned().map(Into::into).collect();
    inputs.extend(args.metrics.files().map(PathBuf::from).map(Into::into));
    for run in runs(&[&args.runs[..], &args.dev].concat()).unwrap_or_default() {
        inputs.extend(RunFolder::at(&run.path).manifest().iter().flat_map(of_run));
        inputs.push(run.path.into());
    }
    let what = "a comparison that wikitrail compare wrote in this format";
    OutputFile { path, what, is_earlier, force: Force::Flag(args.force), inputs }
}

pub(super) fn write_output(
    args: &Args,
    format: Format,
    sheet: &Sheet,
    json: impl FnOnce() -> anyhow::Result<Value>,
) -> anyhow::Result<()> {
    let text = match format {
        Format::Table => to_terminal(sheet, View::of_stdout().width).into_bytes(),
        Format::Markdown => to_markdown(sheet).into_bytes(),
        Format::Latex => to_latex(sheet).into_bytes(),
        Format::Csv => csv(sheet)?,
        Format::Json => format!("{}\n", json()?).into_bytes(),
    };
    match output_file::named(args.out.as_deref()) {
        None => stdout().write_all(&text)?,
        Some(path) => {
            let is_earlier = |start: &Start| format.is_earlier(start);
            output_of(args, path, &is_earlier).write(|mut file| Ok(file.write_all(&text)?))?;
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
