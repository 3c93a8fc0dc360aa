//! `--from-csv`: tables of figures, such as exports.

use super::{Episode, Field, RunRef, Source};
use crate::analysis::compare::Item;
use crate::base::StopRule;
use crate::base::text::visible_line;
use crate::dataset::{DatasetError, Problem, ScoreRow, ScoreTable, bytes_of, read_scores};
use crate::runner::RunError;
use crate::scoring::{Figure, Unit};
use std::path::{Path, PathBuf};

/// The variants in tables, and the figures that each has: those that are asked for, and EM where all have it.
pub(crate) fn table_sources(
    paths: &[PathBuf],
    mut figures: Vec<String>,
    fields: &[Field],
    cluster: Option<&Field>,
) -> Result<(Vec<Source>, Vec<String>), RunError> {
    let texts: Vec<String> = fields.iter().chain(cluster).flat_map(columns).collect();
    let tables =
        paths.iter().map(|path| Ok((path.clone(), read(path, &texts)?))).collect::<Result<Vec<_>, RunError>>()?;
    // EM decides whether an answer flipped.
    let has_em = |(_, table): &(PathBuf, ScoreTable)| table.figures.iter().any(|name| name == "em");
    if !figures.iter().any(|name| name == "em") && tables.iter().all(has_em) {
        figures.push("em".to_owned());
    }
    let mut found = Vec::new();
    for (path, table) in &tables {
        found.extend(variants(path, table, &figures, fields, cluster)?);
    }
    Ok((found, figures))
}

fn read(path: &Path, texts: &[String]) -> Result<ScoreTable, RunError> {
    let shown = path.display().to_string();
    let bytes = bytes_of(path).map_err(|error| match error.problem {
        Problem::Io(error) => {
            RunError::input(format!("cannot read the table `{shown}`: {error}"), "check the path of the file")
        }
        _ => error.into(),
    })?;
    read_scores(&shown, &bytes, texts).map_err(explain)
}

/// The error of a table; its hint is about tables rather than datasets.
fn explain(error: DatasetError) -> RunError {
    let hint = match &error.problem {
        Problem::NoColumn(..) => "the first line names the columns; `id` is needed, `em` and `f1` are usual",
        Problem::Field(..) => "correct the cell, or leave it empty if nothing was measured",
        Problem::Duplicate(..) => {
            "distinguish repeats by a column `repeat`, and variants by a column `variant` or a file for each; `wikitrail export \
             RUN --out FILE` writes one run"
        }
        Problem::Empty => "a table has a header and at least one row",
        _ => return error.into(),
    };
    RunError::input(error, hint)
}

/// The variants in a file with these figures, each under its name if the file has several, else under the file's; a figure
/// that the file lacks is an error.
fn variants(
    path: &Path,
    table: &ScoreTable,
    figures: &[String],
    fields: &[Field],
    cluster: Option<&Field>,
) -> Result<Vec<Source>, RunError> {
    let mut places = Vec::with_capacity(figures.len());
    for figure in figures {
        let Some(place) = table.figures.iter().position(|name| name == figure) else {
            return Err(no_figure(path, table, figure));
        };
        places.push(place);
    }
    let em = table.figures.iter().position(|name| name == "em");
    // An export has counts of 0, such as steps, for an episode that was not measured.
    let is_count = |name: &str| Figure::named(name).is_some_and(|figure| figure.unit() == Unit::Amount);
    // A question may have no gold pages: their figures are empty, in an export too.
    let is_retrieval = |name: &str| {
        Figure::named(name).is_some_and(|figure| figure.unit() == Unit::Share) && !StopRule::METRICS.contains(&name)
    };
    let telling: Vec<usize> =
        figures.iter().zip(&places).filter(|(name, _)| !is_count(name)).map(|(_, place)| *place).collect();
    let measured = |row: &ScoreRow| {
        let of_all = || row.values.iter().any(Option::is_some);
        if telling.is_empty() { of_all() } else { telling.iter().any(|place| row.values[*place].is_some()) }
    };
    let item = |row: &ScoreRow| Item {
        id: row.id.clone(),
        repeat: row.repeat,
        measured: measured(row),
        values: places.iter().map(|place| row.values[*place]).collect(),
        missing: (0..places.len())
            .filter(|at| row.values[places[*at]].is_none() && !is_retrieval(&figures[*at]))
            .collect(),
        cluster: cluster.and_then(|field| cell(row, field)),
        groups: fields.iter().map(|field| cell(row, field)).collect(),
    };
    let right = |row: &ScoreRow| em.and_then(|em| row.values[em]).map(|em| em > 0.0);
    let episode = |row: &ScoreRow| Episode { item: item(row), right: right(row), ..Episode::default() };
    let mut names: Vec<Option<&str>> = Vec::new();
    for row in &table.rows {
        if !names.contains(&row.variant.as_deref()) {
            names.push(row.variant.as_deref());
        }
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let source = |name: Option<&str>| {
        let variant = if names.len() > 1 { name.map(str::to_owned).or_else(|| stem.clone()) } else { stem.clone() };
        let rows = table.rows.iter().filter(|row| row.variant.as_deref() == name);
        Source { run: RunRef { path: path.to_owned(), variant }, origin: None, episodes: rows.map(episode).collect() }
    };
    Ok(names.iter().copied().map(source).collect())
}

/// The columns that a field may be in: exports call a field of the dataset's own `meta.NAME`.
fn columns(field: &Field) -> Vec<String> {
    let name = field.name().to_owned();
    if let Field::Meta(_) = field { vec![format!("meta.{name}"), name] } else { vec![name] }
}

fn cell(row: &ScoreRow, field: &Field) -> Option<String> {
    columns(field).iter().find_map(|column| row.texts.get(column).cloned())
}

fn no_figure(path: &Path, table: &ScoreTable, figure: &str) -> RunError {
    let shown = visible_line(figure, 60);
    let known = || {
        let names: Vec<String> = table.figures.iter().map(|name| visible_line(name, 40)).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    match table.others.iter().find(|other| other.column == *figure) {
        Some(other) => RunError::input(
            format!(
                "`{}`, line {}, column `{shown}`: expected a number, found `{}`",
                path.display(),
                other.line,
                other.value
            ),
            "correct the cell, or leave it empty if nothing was measured",
        ),
        None => RunError::input(
            format!("`{}` has no column `{shown}`", path.display()),
            format!("its columns of numbers are {}", known()),
        ),
    }
}
