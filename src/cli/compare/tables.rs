//! `--from-csv`: tables of figures, one file per variant.

use crate::cli::failure::Failure;
use crate::cli::say::say;
use crate::dataset::{DatasetError, Problem, ScoreRow, ScoreTable, bytes_of, read_scores};
use crate::graded::{Episode, RunRef, Source};
use crate::types::text::visible_line;
use std::path::{Path, PathBuf};

/// Reads all files.
pub(super) fn read_all(paths: &[PathBuf]) -> anyhow::Result<Vec<(PathBuf, ScoreTable)>> {
    paths.iter().map(|path| Ok((path.clone(), read(path)?))).collect()
}

/// Figures that every file has, in the order of the first.
pub(super) fn figures(files: &[(PathBuf, ScoreTable)]) -> Vec<String> {
    let Some(((_, first), others)) = files.split_first() else { return Vec::new() };
    let everywhere = |name: &&String| others.iter().all(|(_, table)| table.figures.contains(name));
    first.figures.iter().filter(everywhere).cloned().collect()
}

fn read(path: &Path) -> anyhow::Result<ScoreTable> {
    let shown = path.display().to_string();
    let bytes = bytes_of(path).map_err(|error| match error.problem {
        Problem::Io(error) => {
            Failure::bad_input(format!("cannot read the table `{shown}`: {error}"), "check the path of the file")
        }
        _ => error.into(),
    })?;
    let table = read_scores(&shown, &bytes).map_err(explain)?;
    for other in &table.others {
        say(format_args!(
            "note: {shown}: column `{}` is not a figure: line {} holds `{}`",
            visible_line(&other.column, 60),
            other.line,
            other.value
        ));
    }
    Ok(table)
}

/// The error of a table; its hint is about tables rather than datasets.
fn explain(error: DatasetError) -> anyhow::Error {
    let hint = match &error.problem {
        Problem::NoColumn(..) => "the first line names the columns; `id` is needed, `em` and `f1` are usual",
        Problem::Field(..) => "correct the cell, or leave it empty if nothing was measured",
        Problem::Duplicate(..) => {
            "a file holds one variant: distinguish repeats by a column `repeat`; `wikitrail export RUN --variant \
             NAME --out FILE` writes one variant of a run"
        }
        Problem::Empty => "a table has a header and at least one row",
        _ => return error.into(),
    };
    Failure::bad_input(error, hint)
}

/// The variant in a file with these figures; one that the file lacks is an error.
pub(super) fn source(path: PathBuf, table: &ScoreTable, figures: &[String]) -> anyhow::Result<Source> {
    let mut places = Vec::with_capacity(figures.len());
    for figure in figures {
        let Some(place) = table.figures.iter().position(|name| name == figure) else {
            return Err(no_figure(&path, table, figure));
        };
        places.push(place);
    }
    let em = table.figures.iter().position(|name| name == "em");
    let measured = |row: &ScoreRow| match em {
        Some(em) => row.values[em].is_some(),
        None => row.values.iter().any(Option::is_some),
    };
    let episode = |row: &ScoreRow| Episode {
        id: row.id.clone(),
        repeat: row.repeat,
        measured: measured(row),
        values: places.iter().map(|place| row.values[*place]).collect(),
        right: em.and_then(|em| row.values[em]).map(|em| em > 0.0),
        cluster: row.cluster.clone(),
        ..Episode::default()
    };
    let episodes = table.rows.iter().map(episode).collect();
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Ok(Source { run: RunRef { path, variant: stem }, origin: None, episodes })
}

fn no_figure(path: &Path, table: &ScoreTable, figure: &str) -> anyhow::Error {
    let shown = visible_line(figure, 60);
    let known = || {
        let names: Vec<String> = table.figures.iter().map(|name| visible_line(name, 40)).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    match table.others.iter().find(|other| other.column == *figure) {
        Some(other) => Failure::bad_input(
            format!(
                "`{}`, line {}, column `{shown}`: expected a number, found `{}`",
                path.display(),
                other.line,
                other.value
            ),
            "correct the cell, or leave it empty if nothing was measured",
        ),
        None => Failure::bad_input(
            format!("`{}` has no column `{shown}`", path.display()),
            format!("its columns of numbers are {}", known()),
        ),
    }
}
