//! The datasets of an experiment, and the settings that variants have on one of them only.

use super::expand::{DatasetDraft, Draft, dataset_name};
use super::matrix::settings;
use super::problem::ProblemKind;
use super::reader::{Entry, Notes, Table};
use super::setting::Assignment;
use super::settings::DATASET_SETTINGS;

/// Settings by which variants are named, and which are therefore the same on all datasets.
const OF_THE_VARIANT: [&str; 4] = ["method", "protocol", "option", "model"];

/// Reads `dataset`: a path, a table, or a list of either.
pub(super) fn read_datasets(notes: &mut Notes<'_>, entry: Entry<'_>) -> Vec<DatasetDraft> {
    let mut found: Vec<DatasetDraft> = Vec::new();
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

fn dataset(notes: &mut Notes<'_>, table: &Table<'_>) -> Option<DatasetDraft> {
    let (mut file, mut name, mut settings, mut variant_settings) = (None, None, Vec::new(), Vec::new());
    for entry in notes.entries(table) {
        let path = table.path(entry.key);
        match DATASET_SETTINGS.iter().find(|key| key.name == entry.key) {
            Some(key) => settings.extend(notes.setting(&path, key, entry.value)),
            None if entry.key == "path" => {
                file = Some((notes.text(&path, entry.value)?, notes.line_of(entry.value)));
            }
            None if entry.key == "settings" => variant_settings = of_variants(notes, path, entry)?,
            None if entry.key == "name" => name = Some(notes.name(&path, entry.value, true)?),
            None => {
                let known: Vec<&'static str> =
                    DATASET_SETTINGS.iter().map(|key| key.name).chain(["path", "name", "settings"]).collect();
                notes.unknown_key(table, entry, &known);
            }
        }
    }
    let Some((file, path_line)) = file else {
        notes.missing(table, "path");
        return None;
    };
    match name {
        Some(name) => {
            Some(DatasetDraft { name, path: file, line: table.line(), path_line, settings, variant_settings })
        }
        None => unnamed(notes, table.name(), file, table.line()).map(|dataset| DatasetDraft {
            path_line,
            settings,
            variant_settings,
            ..dataset
        }),
    }
}

/// A dataset that is named after its file.
fn unnamed(notes: &mut Notes<'_>, key: &str, path: String, line: usize) -> Option<DatasetDraft> {
    let name = dataset_name(&path);
    if name.is_empty() {
        notes.note(line, ProblemKind::MissingKey(format!("{key}.name")));
        return None;
    }
    Some(DatasetDraft { name, path, line, path_line: line, settings: Vec::new(), variant_settings: Vec::new() })
}

/// Reads the `settings` of a dataset.
fn of_variants(notes: &mut Notes<'_>, path: String, entry: Entry<'_>) -> Option<Vec<Assignment>> {
    let table = notes.table(path, entry.value)?;
    let found = settings(notes, &table, &[]);
    for setting in found.iter().filter(|setting| OF_THE_VARIANT.contains(&setting.setting.name)) {
        notes.note(setting.line, ProblemKind::SameEverywhere(table.path(setting.setting.name)));
    }
    Some(found)
}

/// Notes settings of a dataset that no variant uses.
pub(super) fn check_use(notes: &mut Notes<'_>, datasets: &[DatasetDraft], variants: &[Draft]) {
    // Variants with a problem are not among the variants.
    if !notes.is_clean() {
        return;
    }
    for (i, dataset) in datasets.iter().enumerate() {
        let on: Vec<Draft> = variants.iter().map(|variant| variant.with(&dataset.variant_settings)).collect();
        for setting in &dataset.variant_settings {
            let is = |other: &Assignment| other.line == setting.line && other.setting.name == setting.setting.name;
            if !on.iter().flat_map(|variant| &variant.settings).any(is) {
                let name = format!("dataset[{}].settings.{}", i + 1, setting.setting.name);
                notes.note(setting.line, ProblemKind::Useless(name));
            }
        }
    }
}
