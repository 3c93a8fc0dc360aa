//! What is recorded of an experiment, beside what others have published: one table per dataset and metric, one row per method.

use crate::analysis::report::console::percent;
use crate::analysis::report::sheet::{Block, Cell, Columns, Grid, Heading, Key, Sheet};
use crate::analysis::report::summary::{LEVEL, em_interval, f1_interval};
use crate::analysis::report::{counted, thousands};
use crate::analysis::results::runs_at;
use crate::analysis::scores;
use crate::base::stats::Interval;
use crate::base::text::{excerpt, joined, shell_word};
use crate::base::{DatasetRecord, ExperimentRecord, Manifest, Method, Variant};
use crate::dataset::PUBLIC_SOURCES;
use crate::runner::experiment::{
    Assignment, DatasetDraft, Effect, ExperimentFile, Overrides, Published, PublishedMetric, value_text,
};
use crate::runner::store::RunFolder;
use crate::runner::{RunError, Summary, VariantScore};
use crate::scoring::figure::label;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(crate) struct Reproduction {
    pub(crate) folder: PathBuf,
    pub(crate) experiment: ExperimentFile,
    /// The datasets that are recorded, each with its figures.
    pub(crate) runs: Vec<(DatasetDraft, Summary)>,
    /// Datasets of which nothing is recorded.
    absent: Vec<String>,
    /// For a run without an experiment file: the experiment's variant that each of its variants is compared with.
    methods: BTreeMap<String, String>,
}

/// The published figures for a run without an experiment file, and what the run itself does not say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures<'a> {
    pub(crate) experiment: &'a Path,
    pub(crate) dataset: Option<&'a str>,
    pub(crate) method: Option<Method>,
}

/// A dataset by a metric: what is recorded, beside what others have published.
pub(crate) struct Table<'a> {
    pub(crate) summary: &'a Summary,
    pub(crate) dataset: &'a str,
    /// `em`, `accuracy` or `f1`.
    pub(crate) metric: &'static str,
    /// Names of the published systems, one per column.
    pub(crate) sources: Vec<&'a str>,
    pub(crate) rows: Vec<ReproductionRow<'a>>,
}

/// A row: our figure, and the published ones for the same method.
pub(crate) struct ReproductionRow<'a> {
    pub(crate) variant: &'a str,
    /// Our mean, 0 to 1; absent if nothing was measured.
    pub(crate) mean: Option<f64>,
    /// Its interval, 0 to 1.
    pub(crate) interval: Option<Interval>,
    pub(crate) n: u64,
    /// Episodes that were not measured; they are left out of the mean.
    pub(crate) not_measured: u64,
    /// Published figures in per cent, one per source.
    pub(crate) published: Vec<Option<f64>>,
}

impl ReproductionRow<'_> {
    /// Where a figure in per cent lies relative to the interval, whose ends are `inside`.
    pub(crate) fn position(&self, percent: f64) -> Option<&'static str> {
        let share = share(percent);
        self.interval.map(|Interval { low, high }| match share {
            _ if share < low => "below",
            _ if share > high => "above",
            _ => "inside",
        })
    }
}

/// The dataset of a run of this experiment, where it has several.
fn dataset_of(run: &RunFolder, experiment: &ExperimentRecord) -> Option<String> {
    let recorded = run.manifest().ok()?.experiment.filter(|recorded| recorded.name == experiment.name)?;
    recorded.dataset_in(run.path()).map(str::to_owned)
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
    pub(crate) fn open(folder: &Path, figures: Figures<'_>) -> Result<Self, RunError> {
        let Some((run, manifest)) = Self::manifest(folder)? else {
            let message = format!("`{}` holds no run", folder.display());
            return Err(RunError::input(message, "name the folder that `wikitrail reproduce --out` wrote"));
        };
        let (Some(record), Some(text)) = (&manifest.experiment, run.experiment()?) else {
            return Self::of_run(&run, &manifest, folder, figures);
        };
        if figures.dataset.is_some() || figures.method.is_some() {
            let message =
                format!("`{}` is a run of an experiment, which says what its figures are of", folder.display());
            return Err(RunError::usage(message, "leave --dataset and --method out"));
        }
        let stored = run.path().join(RunFolder::EXPERIMENT);
        let names: Vec<&str> = manifest.variants.iter().map(|variant| variant.name.as_str()).collect();
        let text = text.trim_start_matches('\u{feff}');
        let experiment = ExperimentFile::recorded(&stored.display().to_string(), text, &names)?;
        let around = if run.path() == folder { manifest.folder_of_experiment(folder) } else { Some(folder.to_owned()) };
        let several = !record.datasets.is_empty();
        // Each of several datasets has a folder of its name, unless it was renamed or merged into another.
        let candidates = match around.as_deref().filter(|_| several) {
            Some(around) => runs_at(around).collect(),
            None => vec![run],
        };
        let found = candidates.into_iter().map(|run| (dataset_of(&run, record), run));
        let mut found: Vec<(Option<String>, RunFolder)> = found.collect();
        found.sort_by_key(|(dataset, run)| !dataset.as_ref().is_some_and(|dataset| run.path().ends_with(dataset)));
        let (mut runs, mut absent) = (Vec::new(), Vec::new());
        for dataset in &experiment.datasets {
            let is_over = |name: &Option<String>| !several || name.as_ref() == Some(&dataset.name);
            if let Some((_, run)) = found.iter().find(|(name, _)| is_over(name)) {
                runs.push((dataset.clone(), Summary::of(run.path(), None)?));
            } else {
                absent.push(dataset.name.clone());
            }
        }
        let folder = around.unwrap_or_else(|| folder.to_owned());
        Ok(Self { folder, experiment, runs, absent, methods: BTreeMap::new() })
    }

    /// A run without an experiment file, such as an imported one: each variant is compared with the experiment's of its method.
    fn of_run(run: &RunFolder, manifest: &Manifest, folder: &Path, figures: Figures<'_>) -> Result<Self, RunError> {
        let (shown, typed) = (folder.display(), shell_word(&folder.display().to_string()));
        if run.path() != folder {
            let hint =
                format!("name one of them: wikitrail reproduce {}", shell_word(&run.path().display().to_string()));
            return Err(RunError::input(format!("`{shown}` holds runs that are no experiment's"), hint));
        }
        let experiment = ExperimentFile::load(figures.experiment)?;
        let name = figures.dataset.unwrap_or(&manifest.dataset.name);
        let Some(dataset) = experiment.datasets.iter().find(|dataset| dataset.name == name) else {
            let names = joined(experiment.datasets.iter().map(|dataset| &dataset.name), " or ").unwrap_or_default();
            let of = figures.experiment.display();
            return Err(RunError::input(
                format!("`{shown}` is a run over `{}`, and `{of}` has figures of {names}", excerpt(name)),
                format!("if its questions are of one of them: wikitrail reproduce {typed} --dataset NAME"),
            ));
        };
        let mut methods = BTreeMap::new();
        for variant in &manifest.variants {
            let recorded = Method::parse(&variant.method);
            let name = excerpt(&variant.name);
            let method = match (recorded, figures.method) {
                (Some(recorded), Some(typed)) if recorded != typed => {
                    let message = format!("`{name}` of `{shown}` was run with method {}", recorded.name());
                    return Err(RunError::usage(message, "leave --method out"));
                }
                (recorded, typed) => recorded.or(typed),
            };
            let Some(method) = method else {
                let message = format!("`{name}` of `{shown}` does not say its method");
                return Err(RunError::input(message, format!("name it: wikitrail reproduce {typed} --method react")));
            };
            methods.insert(variant.name.clone(), method.name().to_owned());
        }
        let runs = vec![(dataset.clone(), Summary::of(run.path(), None)?)];
        Ok(Self { folder: folder.to_owned(), experiment, runs, absent: Vec::new(), methods })
    }

    /// The variant of the experiment that one of a run stands for.
    fn stands_for<'a>(&'a self, variant: &'a str) -> &'a str {
        self.methods.get(variant).map_or(variant, String::as_str)
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
            tables.extend(metrics.into_iter().map(|metric| self.table(dataset, summary, metric)));
        }
        tables
    }

    fn published(&self, dataset: &str, metric: PublishedMetric) -> impl Iterator<Item = &Published> {
        self.experiment.published.iter().filter(move |published| {
            published.figures.iter().any(|figure| figure.dataset == dataset && figure.metric == metric)
        })
    }

    fn table<'a>(&'a self, dataset: &'a DatasetDraft, summary: &'a Summary, metric: PublishedMetric) -> Table<'a> {
        let f1 = metric == PublishedMetric::F1;
        let row = |VariantScore { name, score, .. }: &'a VariantScore| {
            let (mean, interval) = if f1 { (score.f1, f1_interval(score)) } else { (score.em, em_interval(score)) };
            let published = |published: &Published| {
                let mut figures =
                    published.figures.iter().filter(|of| of.dataset == dataset.name && of.metric == metric);
                Some(figures.find(|figure| figure.variant == self.stands_for(name))?.percent)
            };
            ReproductionRow {
                variant: name,
                mean,
                interval,
                n: score.questions.map_or(score.scored, |questions| questions.n),
                not_measured: score.not_measured + score.budget,
                published: self.published(&dataset.name, metric).map(published).collect(),
            }
        };
        let labels = summary.variants.iter().any(|variant| variant.metric == "fever");
        Table {
            summary,
            dataset: &dataset.name,
            metric: if labels && !f1 { "accuracy" } else { metric.name() },
            sources: self.published(&dataset.name, metric).map(|published| published.name.as_str()).collect(),
            rows: summary.variants.iter().map(row).collect(),
        }
    }

    pub(crate) fn models(&self) -> String {
        self.each(|variant| variant.model.clone())
    }

    fn each(&self, of: impl Fn(&Variant) -> String) -> String {
        let variants = self.runs.iter().flat_map(|(_, summary)| &summary.manifest.variants);
        joined(variants.map(of).collect::<BTreeSet<_>>(), ", ").unwrap_or_default()
    }

    pub(crate) fn sheet(&self) -> Sheet {
        let wiki = self.each(|variant| format!("{} ({})", variant.wiki, variant.compat_name()));
        let title = format!("{}: {} over {wiki}; {}", self.experiment.name, self.models(), self.folder.display());
        let tables = self.tables();
        let mut blocks: Vec<Block> = tables.iter().map(|table| Block::Table(grid(table))).collect();
        if tables.iter().any(|table| !table.sources.is_empty()) {
            let line = format!(
                "below, inside, above: the published figure relative to our {} % interval, which covers our sample of questions only",
                LEVEL * 100.0
            );
            blocks.push(Block::Lines { title: String::new(), lines: vec![line] });
        }
        blocks.extend(Block::lines("notes", self.notes()));
        Sheet { title, blocks }
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
        notes.extend(self.methods.iter().map(|(variant, method)| format!("`{variant}` stands for `{method}`")));
        notes.extend(self.deviating_settings());
        for (dataset, summary) in &self.runs {
            notes.extend(deviating_questions(dataset, &summary.manifest.dataset));
            let (missing, unmeasured) = (summary.missing(), summary.unmeasured());
            if missing + unmeasured > 0 {
                let go_on =
                    summary.command_to_go_on(false).map_or_else(String::new, |command| format!("; go on: {command}"));
                let (missing, unmeasured) = (counted(missing, "episode"), thousands(unmeasured));
                notes.push(format!("{}: {missing} not recorded yet, {unmeasured} not measured{go_on}", dataset.name));
                notes.extend(scores::unmeasured(summary).iter().map(|line| format!("{}: {line}", dataset.name)));
            }
        }
        notes.extend(self.absent.iter().map(|name| format!("{name}: nothing is recorded")));
        notes
    }

    /// Settings that differ from the file's, in one sentence for all variants.
    fn deviating_settings(&self) -> Option<String> {
        let mut found = BTreeSet::new();
        for (dataset, summary) in &self.runs {
            for draft in self.experiment.variants_on(dataset, &Overrides::default()) {
                let stands = |variant: &&Variant| self.stands_for(&variant.name) == draft.name;
                let Some(variant) = summary.manifest.variants.iter().find(stands) else { continue };
                for Assignment { setting, value, .. } in &draft.settings {
                    // A prompt's file may have been found elsewhere; its digest is compared when a run is resumed.
                    let compared = setting.effect == Effect::Decides || setting.name.starts_with("exemplar");
                    let recorded = setting.of(variant).filter(|recorded| compared && *recorded != value_text(value));
                    found.extend(recorded.map(|it| format!("{} {it} in place of {}", setting.name, value_text(value))));
                }
            }
        }
        joined(found, "; ").map(|found| format!("settings that differ from the file's: {found}"))
    }
}

/// Says where other questions were asked than those of which figures are published.
fn deviating_questions(dataset: &DatasetDraft, record: &DatasetRecord) -> Vec<String> {
    let file = Path::new(&dataset.path).file_name().map(|name| name.to_string_lossy());
    let public = PUBLIC_SOURCES.iter().find(|source| file.as_deref() == Some(source.file));
    let other_file = match public.and_then(|source| source.sha256) {
        Some(sha256) => sha256 != record.sha256,
        None => !Path::new(&record.path).ends_with(&dataset.path),
    };
    let other_file =
        other_file.then(|| format!("{}: {} is another file than {}", dataset.name, record.path, dataset.path));
    let limit = dataset.settings.iter().find(|assignment| assignment.setting.name == "limit");
    let limit = limit.map(|limit| value_text(&limit.value)).filter(|limit| *limit != record.selected.to_string());
    let asked = counted(record.selected, "question");
    let other_limit = limit.map(|limit| format!("{}: {asked}, where the experiment has {limit}", dataset.name));
    other_file.into_iter().chain(other_limit).collect()
}

/// A figure in per cent as a share: the nearest number to the printed decimal, which a division by 100 may miss.
pub(crate) fn share(percent: f64) -> f64 {
    format!("{percent}e-2").parse().unwrap_or(percent / 100.0)
}

fn grid(table: &Table<'_>) -> Grid {
    // The title has the whole word, and the columns have to fit.
    let metric = if table.metric == "accuracy" { "acc." } else { label(table.metric, false) };
    let not_measured = table.rows.iter().any(|row| row.not_measured > 0);
    let ours = Columns::of("method", |row: &ReproductionRow<'_>| Cell::text(row.variant))
        .numbers(metric, |row| row.mean.map_or_else(Cell::nothing, |mean| Cell::figure("mean", mean, percent(mean))))
        .numbers(format!("{} %", LEVEL * 100.0), |row| row.interval.map_or_else(Cell::nothing, interval))
        .numbers("n", |row| Cell::count("n", row.n));
    let sources = table.sources.iter().enumerate();
    let columns = sources
        .fold(ours, |columns, (at, source)| columns.numbers(*source, move |row| published(row, at)))
        .only_if(not_measured, Heading::numbers("not measured"), |row| Cell::count("not_measured", row.not_measured));
    let DatasetRecord { selected, questions, path, .. } = &table.summary.manifest.dataset;
    let about = format!("{} of {} of {path}", thousands(*selected), counted(*questions, "question"));
    let title = format!("{}, {} in per cent; {about}", table.dataset, label(table.metric, false));
    let key = |row: &ReproductionRow<'_>| Key { group: table.dataset.to_owned(), ..Key::of(table.metric, row.variant) };
    columns.grid("reproduction", title, &table.rows, key)
}

fn interval(interval: Interval) -> Cell {
    let Interval { low, high } = interval;
    Cell { text: format!("{} to {}", percent(low), percent(high)), figures: vec![("low", low), ("high", high)] }
}

fn published(ours: &ReproductionRow<'_>, at: usize) -> Cell {
    let Some(percent) = ours.published[at] else { return Cell::nothing() };
    let position = ours.position(percent).unwrap_or_default();
    Cell::figure("published", share(percent), format!("{percent:.1} {position}").trim_end())
}

#[cfg(test)]
mod tests {
    use super::{ReproductionRow, share};
    use crate::base::stats::Interval;

    #[test]
    fn the_ends_of_an_interval_belong_to_it() {
        let interval = Some(Interval { low: 0.25, high: 0.5 });
        let ours = ReproductionRow { variant: "", mean: None, interval, n: 0, not_measured: 0, published: Vec::new() };
        let positions = [24.9, 25.0, 30.0, 50.0, 50.1].map(|percent| ours.position(percent));
        assert_eq!(positions, ["below", "inside", "inside", "inside", "above"].map(Some));
    }

    #[test]
    fn a_share_is_what_was_printed() {
        assert_eq!([33.4, 0.0, 100.0, 57.1].map(share).map(f64::to_bits), [0.334, 0.0, 1.0, 0.571].map(f64::to_bits));
    }
}
