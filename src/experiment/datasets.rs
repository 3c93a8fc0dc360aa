//! The datasets of an experiment, and the settings that variants have on one of them only.

use super::matrix::settings;
use super::problem::ProblemKind;
use super::reader::{Entry, Notes, Table};
use super::setting::{DATASET_KEYS, Setting};
use super::{Cell, DatasetSpec};
use std::path::Path;

/// Settings by which variants are named, and which are therefore the same on all datasets.
const OF_THE_CELL: [&str; 4] = ["method", "protocol", "option", "model"];

/// Reads `dataset`: a path, a table, or a list of either.
pub(super) fn read(notes: &mut Notes<'_>, entry: Entry<'_>) -> Vec<DatasetSpec> {
    let mut found: Vec<DatasetSpec> = Vec::new();
    let items = match entry.value.get_ref().as_array() {
        Some(items) => items.iter().enumerate().map(|(i, item)| (format!("dataset[{}]", i + 1), item)).collect(),
        None => vec![("dataset".to_owned(), entry.value)],
    };
    if items.is_empty() {
        notes.note(entry.line, ProblemKind::Empty("dataset".to_owned()));
    }
    for (path, item) in items {
        let line = notes.line_of(item);
        let dataset = if item.get_ref().is_str() {
            notes.text(&path, item).and_then(|file| unnamed(notes, &path, file, line))
        } else {
            notes.table(path, item).and_then(|table| dataset(notes, &table))
        };
        let Some(dataset) = dataset else { continue };
        if let Some(other) = found.iter().find(|other| other.name == dataset.name) {
            notes.note(line, ProblemKind::DatasetTwice { name: dataset.name.clone(), first: other.line });
        }
        found.push(dataset);
    }
    found
}

fn dataset(notes: &mut Notes<'_>, table: &Table<'_>) -> Option<DatasetSpec> {
    let (mut file, mut name, mut settings, mut cell_settings) = (None, None, Vec::new(), Vec::new());
    for entry in notes.entries(table) {
        let path = table.path(entry.key);
        match DATASET_KEYS.iter().find(|key| key.name == entry.key) {
            Some(key) => settings.extend(notes.setting(&path, key, entry.value)),
            None if entry.key == "path" => {
                file = Some((notes.text(&path, entry.value)?, notes.line_of(entry.value)));
            }
            None if entry.key == "settings" => cell_settings = of_cells(notes, path, entry)?,
            None if entry.key == "name" => name = Some(notes.name(&path, entry.value, true)?),
            None => {
                let known: Vec<&'static str> =
                    DATASET_KEYS.iter().map(|key| key.name).chain(["path", "name", "settings"]).collect();
                notes.unknown_key(table, entry, &known);
            }
        }
    }
    let Some((file, path_line)) = file else {
        notes.missing(table, "path");
        return None;
    };
    match name {
        Some(name) => Some(DatasetSpec { name, path: file, line: table.line(), path_line, settings, cell_settings }),
        None => unnamed(notes, table.name(), file, table.line()).map(|dataset| DatasetSpec {
            path_line,
            settings,
            cell_settings,
            ..dataset
        }),
    }
}

/// A dataset is named after its file: everything before the first dot, as `dev` of `dev.jsonl.gz`.
fn unnamed(notes: &mut Notes<'_>, key: &str, path: String, line: usize) -> Option<DatasetSpec> {
    let file = Path::new(&path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default();
    let sound = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    let name: String = stem.chars().map(sound).collect();
    if name.is_empty() {
        notes.note(line, ProblemKind::MissingKey(format!("{key}.name")));
        return None;
    }
    Some(DatasetSpec { name, path, line, path_line: line, settings: Vec::new(), cell_settings: Vec::new() })
}

/// Reads the `settings` of a dataset.
fn of_cells(notes: &mut Notes<'_>, path: String, entry: Entry<'_>) -> Option<Vec<Setting>> {
    let table = notes.table(path, entry.value)?;
    let found = settings(notes, &table, &[]);
    for setting in found.iter().filter(|setting| OF_THE_CELL.contains(&setting.key.name)) {
        notes.note(setting.line, ProblemKind::SameEverywhere(table.path(setting.key.name)));
    }
    Some(found)
}

/// Notes settings of a dataset that no variant uses.
pub(super) fn check(notes: &mut Notes<'_>, datasets: &[DatasetSpec], cells: &[Cell]) {
    // Variants with a problem are not among the cells.
    if !notes.is_clean() {
        return;
    }
    for (i, dataset) in datasets.iter().enumerate() {
        let on: Vec<Cell> = cells.iter().map(|cell| cell.on(dataset)).collect();
        for setting in &dataset.cell_settings {
            let is = |other: &Setting| other.line == setting.line && other.key.name == setting.key.name;
            if !on.iter().flat_map(|cell| &cell.settings).any(is) {
                let name = format!("dataset[{}].settings.{}", i + 1, setting.key.name);
                notes.note(setting.line, ProblemKind::Useless(name));
            }
        }
    }
}
