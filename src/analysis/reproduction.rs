//! What is recorded of an experiment, beside what others have published.

use crate::analysis::report::reproduction::{self, Ours, PublishedComparison};
use crate::analysis::report::sheet::Sheet;
use crate::analysis::report::{counted, thousands};
use crate::analysis::results::runs_at;
use crate::base::text::shell_word;
use crate::base::{DatasetRecord, Manifest, Variant};
use crate::dataset::PUBLIC_SOURCES;
use crate::runner::RunError;
use crate::runner::experiment::{
    Assignment, DatasetDraft, Effect, ExperimentFile, Overrides, Published, PublishedMetric, shown,
};
use crate::runner::store::RunFolder;
use crate::runner::{Summary, VariantScore};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(crate) struct Reproduction {
    pub(crate) folder: PathBuf,
    pub(crate) experiment: ExperimentFile,
    /// The datasets that are recorded, each with its figures.
    pub(crate) runs: Vec<(DatasetDraft, Summary)>,
    /// Datasets of which nothing is recorded.
    absent: Vec<String>,
}

/// Figures of one dataset by one metric.
pub(crate) struct Table<'a> {
    pub(crate) summary: &'a Summary,
    pub(crate) beside: PublishedComparison,
}

impl Reproduction {
    /// Whether the folder holds runs of an experiment.
    pub(crate) fn is_there(folder: &Path) -> Result<bool, RunError> {
        Ok(Self::manifest(folder)?.is_some_and(|(_, manifest)| manifest.experiment.is_some()))
    }

    /// The first manifest of the folder or of those right below it, and where it is.
    fn manifest(folder: &Path) -> Result<Option<(RunFolder, Manifest)>, RunError> {
        let Some(run) = runs_at(folder).next() else { return Ok(None) };
        let manifest = run.manifest()?;
        Ok(Some((run, manifest)))
    }

    /// Reads what is recorded. The experiment is the one that is stored there.
    pub(crate) fn open(folder: &Path) -> Result<Self, RunError> {
        let Some((run, manifest)) = Self::manifest(folder)? else {
            return Err(RunError::input(
                format!("`{}` holds no run", folder.display()),
                "name the folder that `wikitrail reproduce --out` wrote",
            ));
        };
        let (Some(record), Some(text)) = (&manifest.experiment, run.experiment()?) else {
            return Err(RunError::input(
                format!("`{}` is not an experiment run, so it has no published figures", folder.display()),
                format!("its own figures: wikitrail score {}", shell_word(&folder.display().to_string())),
            ));
        };
        let stored = run.path().join(RunFolder::EXPERIMENT);
        let names: Vec<&str> = manifest.variants.iter().map(|variant| variant.name.as_str()).collect();
        let text = text.trim_start_matches('\u{feff}');
        let experiment = ExperimentFile::recorded(&stored.display().to_string(), text, &names)?;
        // Of several datasets, each has a folder in the experiment's.
        let several = !record.datasets.is_empty();
        let around = if several && run.path() == folder {
            std::path::absolute(folder)?.parent().map(Path::to_owned).unwrap_or_default()
        } else {
            folder.to_owned()
        };
        let (mut runs, mut absent) = (Vec::new(), Vec::new());
        for dataset in &experiment.datasets {
            let run = RunFolder::at(if several { around.join(&dataset.name) } else { around.clone() });
            if run.exists() {
                runs.push((dataset.clone(), Summary::of(run.path(), None)?));
            } else {
                absent.push(dataset.name.clone());
            }
        }
        Ok(Self { folder: around, experiment, runs, absent })
    }

    /// One table a dataset and published metric; by EM where nothing is published.
    pub(crate) fn tables(&self) -> Vec<Table<'_>> {
        let mut tables = Vec::new();
        for (dataset, summary) in &self.runs {
            let published = |metric| self.published(&dataset.name, metric).next().is_some();
            let mut metrics: Vec<PublishedMetric> =
                PublishedMetric::ALL.into_iter().filter(|metric| published(*metric)).collect();
            if metrics.is_empty() {
                metrics.push(PublishedMetric::Em);
            }
            for metric in metrics {
                tables.push(Table { summary, beside: self.beside(dataset, summary, metric) });
            }
        }
        tables
    }

    /// Those who published figures of a dataset by a metric.
    fn published(&self, dataset: &str, metric: PublishedMetric) -> impl Iterator<Item = &Published> {
        self.experiment.published.iter().filter(move |published| {
            published.figures.iter().any(|figure| figure.dataset == dataset && figure.metric == metric)
        })
    }

    fn beside(&self, dataset: &DatasetDraft, summary: &Summary, metric: PublishedMetric) -> PublishedComparison {
        let figure = |published: &Published, variant: &str| {
            let is = |figure: &&crate::runner::experiment::PublishedFigure| {
                figure.dataset == dataset.name && figure.metric == metric && figure.variant == variant
            };
            published.figures.iter().find(is).map(|figure| figure.percent)
        };
        let f1 = metric == PublishedMetric::F1;
        let mut labels = false;
        let rows = summary.variants.iter().map(|VariantScore { name, metric: scored_by, score, .. }| {
            labels |= *scored_by == "fever";
            let published = self.published(&dataset.name, metric).map(|published| figure(published, name));
            Ours::of(name, score, f1, published.collect())
        });
        let rows = rows.collect();
        let record = &summary.manifest.dataset;
        PublishedComparison {
            dataset: dataset.name.clone(),
            about: format!(
                "{} of {} of {}",
                thousands(record.selected),
                counted(record.questions, "question"),
                record.path
            ),
            metric: if labels && !f1 { "accuracy" } else { metric.name() },
            sources: self.published(&dataset.name, metric).map(|published| published.name.clone()).collect(),
            rows,
        }
    }

    pub(crate) fn models(&self) -> String {
        self.each(|variant| variant.model.clone())
    }

    fn each(&self, of: impl Fn(&Variant) -> String) -> String {
        let variants = self.runs.iter().flat_map(|(_, summary)| &summary.manifest.variants);
        variants.map(of).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn sheet(&self) -> Sheet {
        let tables: Vec<PublishedComparison> = self.tables().into_iter().map(|table| table.beside).collect();
        let wiki = self.each(|variant| format!("{} ({})", variant.wiki, variant.compat_name()));
        let title = format!("{}: {} over {wiki}; {}", self.experiment.name, self.models(), self.folder.display());
        reproduction::sheet(title, &tables, self.notes())
    }

    /// What a reader must know before holding the figures against each other.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self
            .experiment
            .published
            .iter()
            .map(|published| format!("{}: {}", published.name, published.source))
            .collect();
        if self.experiment.published.is_empty() {
            notes.push("the experiment file names no published figures".to_owned());
        }
        if self.models() == "baseline" {
            notes.push(
                "baseline is a policy of rules and no language model; its figures say nothing about the paper's"
                    .to_owned(),
            );
        }
        notes.extend(deviating_settings(&self.experiment, &self.runs));
        for (dataset, summary) in &self.runs {
            notes.extend(deviating_questions(dataset, &summary.manifest.dataset));
            let (missing, unmeasured) = (summary.missing(), summary.unmeasured());
            if missing + unmeasured > 0 {
                notes.push(format!(
                    "{}: {} not recorded yet, {} not measured; go on: {}",
                    dataset.name,
                    counted(missing, "episode"),
                    thousands(unmeasured),
                    summary.resume_command(false)
                ));
            }
        }
        notes.extend(self.absent.iter().map(|name| format!("{name}: nothing is recorded")));
        notes
    }
}

/// Settings that were typed in place of the file's, in one sentence for all variants.
pub(crate) fn deviating_settings(experiment: &ExperimentFile, runs: &[(DatasetDraft, Summary)]) -> Option<String> {
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
pub(crate) fn deviating_questions(dataset: &DatasetDraft, record: &DatasetRecord) -> Vec<String> {
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
