//! Where a run is another one than its experiment file says: figures are shown all the same, and the reader is told.

use crate::cli::score::Summary;
use crate::dataset::PUBLIC_SOURCES;
use crate::experiment::{DatasetSpec, Experiment, Setting, Value};
use crate::report::counted;
use crate::types::{DatasetRecord, Variant};
use std::collections::BTreeSet;
use std::path::Path;

/// Settings that were typed in place of the file's, in one sentence for all cells.
pub(super) fn settings(experiment: &Experiment, runs: &[(DatasetSpec, Summary)]) -> Option<String> {
    let mut found = BTreeSet::new();
    for (dataset, summary) in runs {
        for cell in &experiment.cells {
            let Some(variant) = summary.manifest().variants.iter().find(|variant| variant.name == cell.name) else {
                continue;
            };
            for setting in cell.on(dataset).settings {
                let Some(recorded) = recorded(variant, &setting) else { continue };
                found.insert(format!("{} {recorded} in place of {}", setting.key.name, setting.shown()));
            }
        }
    }
    let found: Vec<String> = found.into_iter().collect();
    (!found.is_empty()).then(|| format!("other settings than the file's: {}", found.join("; ")))
}

/// What was recorded of a setting, where that is something else.
fn recorded(variant: &Variant, setting: &Setting) -> Option<String> {
    let wanted = setting.shown();
    let voting = variant.voting;
    let recorded = match setting.key.name {
        "protocol" => variant.protocol.clone(),
        "compat" => variant.compat.name().to_owned(),
        // Its mark for footnotes follows from other settings.
        "wiki" => variant.wiki.trim_end_matches("+footnotes").to_owned(),
        "model" => variant.model.clone(),
        "max_steps" => variant.max_steps.to_string(),
        // What is usual is not written down.
        "shots" => variant.shots.map_or_else(|| "all".to_owned(), |shots| shots.to_string()),
        "exemplar_order" => variant.exemplar_order.clone().unwrap_or_else(|| "file".to_owned()),
        "exemplar_seed" => variant.exemplar_seed?.to_string(),
        "samples" => voting?.samples.to_string(),
        "sample_temperature" => voting?.temperature.to_string(),
        "majority" => voting?.majority.to_string(),
        "temperature" => variant.decoding.temperature.to_string(),
        "max_tokens" => variant.decoding.max_tokens.to_string(),
        _ => return None,
    };
    (recorded != wanted).then_some(recorded)
}

/// Says where other questions were asked than those of which figures are published.
pub(super) fn questions(dataset: &DatasetSpec, record: &DatasetRecord) -> Vec<String> {
    let file = Path::new(&dataset.path).file_name().map(|name| name.to_string_lossy());
    let public = PUBLIC_SOURCES.iter().find(|source| file.as_deref() == Some(source.file));
    let other_file = match public.and_then(|source| source.sha256) {
        Some(sha256) => sha256 != record.sha256,
        None => !Path::new(&record.path).ends_with(&dataset.path),
    };
    let mut notes = Vec::new();
    if other_file {
        notes.push(format!("{}: {} is another file than {}", dataset.name, record.path, dataset.path));
    }
    let limit = dataset.settings.iter().find(|setting| setting.key.name == "limit");
    if let Some(Value::One(limit)) = limit.map(|setting| &setting.value)
        && *limit != record.selected.to_string()
    {
        notes.push(format!(
            "{}: {}, where the experiment has {limit}",
            dataset.name,
            counted(record.selected, "question")
        ));
    }
    notes
}
