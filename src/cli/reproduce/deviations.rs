//! Where a run is another one than its experiment file says: figures are shown all the same, and the reader is told.

use crate::dataset::PUBLIC_SOURCES;
use crate::experiment::{Assignment, DatasetDraft, Effect, ExperimentFile, Overrides, shown};
use crate::report::counted;
use crate::run::Summary;
use crate::types::DatasetRecord;
use std::collections::BTreeSet;
use std::path::Path;

/// Settings that were typed in place of the file's, in one sentence for all variants.
pub(super) fn deviating_settings(experiment: &ExperimentFile, runs: &[(DatasetDraft, Summary)]) -> Option<String> {
    let mut found = BTreeSet::new();
    for (dataset, summary) in runs {
        for draft in experiment.variants_on(dataset, &Overrides::default()) {
            let Some(variant) = summary.manifest.variants.iter().find(|variant| variant.name == draft.name) else {
                continue;
            };
            for Assignment { setting, value, .. } in draft.settings {
                // A prompt's file may have been found elsewhere; its digest is compared when a run is resumed.
                let compared = setting.effect == Effect::Decides || setting.name.starts_with("exemplar");
                let recorded = setting.of(variant).filter(|recorded| compared && *recorded != shown(&value));
                found.extend(recorded.map(|it| format!("{} {it} in place of {}", setting.name, shown(&value))));
            }
        }
    }
    let found: Vec<String> = found.into_iter().collect();
    (!found.is_empty()).then(|| format!("settings that differ from the file's: {}", found.join("; ")))
}

/// Says where other questions were asked than those of which figures are published.
pub(super) fn deviating_questions(dataset: &DatasetDraft, record: &DatasetRecord) -> Vec<String> {
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
    let limit = dataset.settings.iter().find(|assignment| assignment.setting.name == "limit");
    if let Some(limit) = limit.map(|assignment| shown(&assignment.value))
        && limit != record.selected.to_string()
    {
        notes.push(format!(
            "{}: {}, where the experiment has {limit}",
            dataset.name,
            counted(record.selected, "question")
        ));
    }
    notes
}
