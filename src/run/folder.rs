//! The run's folder: which one, what of it is kept, and what stands in it at the end.

use super::asked;
use super::error::RunError;
use super::estimate::Estimate;
use super::job::Job;
use super::plan::{Due, differences};
use super::prices;
use super::summary::Summary;
use crate::experiment::Output;
use crate::llm::{Price, Spent};
use crate::store::{Appender, Journal, Lock, Records, RunFolder};
use crate::tape::NOT_OWN_HINT;
use crate::types::text::counted;
use crate::types::{Manifest, Method, Paid, Variant};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Variants that are named in one line.
const NAMED: usize = 7;

/// Where a run goes, held against what is there.
pub(super) struct OutputPlan {
    pub(super) folder: RunFolder,
    pub(super) recorded: Option<Manifest>,
    records: Option<Records>,
    pub(super) due: Due,
    pub(super) estimate: Estimate,
    resume: bool,
    notes: Vec<String>,
}

/// A run's folder that this process writes.
pub(super) struct OpenRun {
    pub(super) folder: RunFolder,
    pub(super) due: Due,
    /// When its first episode was begun; another run of the experiment may come first, or stop everything.
    started: Option<Instant>,
    appender: Mutex<Option<Appender>>,
    pub(super) journal: Arc<Journal>,
    lock: Lock,
}

impl OutputPlan {
    /// Finds the folder and what is left to do in it. Writes nothing.
    pub(super) fn choose(output: &Output, job: &Job) -> Result<Self, RunError> {
        let path = job.out.clone().unwrap_or_else(|| fresh(&named(&job.manifest)));
        if output.folder.as_ref().is_some_and(|typed| *typed != path) && path.is_symlink() {
            return Err(RunError::input(
                format!("`{}` is a symbolic link inside the experiment's folder", path.display()),
                NOT_OWN_HINT,
            ));
        }
        let folder = RunFolder::at(&path);
        let recorded = if folder.exists() { Some(folder.manifest()?) } else { None };
        match &recorded {
            Some(recorded) if output.resume => refuse_other_settings(&path, recorded, &job.manifest)?,
            Some(_) => return Err(holds_a_run(&path)),
            None => refuse_other_files(&path)?,
        }
        let records = if recorded.is_some() { Some(folder.records()?) } else { None };
        let due = job.plan.against(records.as_ref());
        if due.foreign > 0 {
            return Err(RunError::input(
                format!(
                    "`{}` holds {} that this selection does not ask for",
                    path.display(),
                    counted(due.foreign, "episode")
                ),
                "use the selection that the run was started with, or a larger one, or another --out",
            ));
        }
        let skipped = |line: &crate::store::Skipped| {
            format!("warning: {}:{}: {}; its episode is run again", line.path.display(), line.line, line.reason)
        };
        let notes = records.iter().flat_map(Records::skipped).map(skipped).collect();
        let estimate = Estimate::of(job, &due.episodes, records.as_ref().filter(|_| output.dry_run))?;
        Ok(Self { folder, recorded, records, due, estimate, resume: output.resume, notes })
    }

    pub(super) fn notes(&self, job: &Job) -> Vec<String> {
        let mut lines = self.notes.clone();
        lines.extend(about(&job.manifest));
        let Due { keep, redo, new, other, .. } = self.due;
        let calls = counted(self.estimate.most_calls(), "model call");
        let others = if other > 0 { format!(", other {other}") } else { String::new() };
        lines.push(format!("plan: keep {keep}, redo {redo}, new {new}{others}; at most {calls}"));
        if other > 0 {
            let episodes = counted(other, "episode");
            lines.push(format!("note: {episodes} of variants that are not run any more; what is recorded stays"));
        }
        lines.extend(price_notes(job));
        lines.extend(other_language(job).map(str::to_owned));
        let hidden = job.plan.without_gold();
        if hidden > 0 {
            lines.push(format!("note: {hidden} of these episodes have no gold answer and cannot be scored"));
        }
        lines
    }

    /// Takes the lock and writes down what is about to run.
    pub(super) fn open(self, job: &mut Job) -> Result<OpenRun, RunError> {
        let lock = self.folder.lock()?;
        // Another process may have started or ended a run here between the look and the lock.
        let recorded = if self.folder.exists() { Some(self.folder.manifest()?) } else { None };
        match &recorded {
            Some(recorded) if self.resume => refuse_other_settings(self.folder.path(), recorded, &job.manifest)?,
            Some(_) => return Err(holds_a_run(self.folder.path())),
            None => {}
        }
        let selected = recorded.as_ref().map(|recorded| recorded.dataset.selected);
        if let Some(recorded) = recorded {
            // The first start stays on record; what may have grown is the selection.
            let manifest = &mut job.manifest;
            manifest.started_at = recorded.started_at;
            manifest.command_line = recorded.command_line;
            manifest.active_ms = recorded.active_ms;
            manifest.limit_history = recorded.limit_history;
            manifest.paid = recorded.paid;
            for variant in &mut manifest.variants {
                let was = recorded.variants.iter().chain(&recorded.retired).find(|was| was.name == variant.name);
                variant.not_sent = was.map(|was| was.not_sent.clone()).unwrap_or_default();
            }
            // A variant that is back is none of the past any more.
            let gone = |variant: &Variant| manifest.variants.iter().all(|now| now.name != variant.name);
            let retired = recorded.variants.into_iter().chain(recorded.retired);
            manifest.retired = retired.filter(gone).collect();
            // One dataset of an experiment may be resumed by flags; it still belongs to the experiment.
            manifest.experiment = manifest.experiment.take().or(recorded.experiment);
        }
        self.folder.write_manifest(&job.manifest)?;
        if let Some(text) = &job.experiment {
            self.folder.write_experiment(text)?;
        }
        if !self.folder.has_questions() || selected != Some(job.manifest.dataset.selected) {
            asked::keep(&self.folder, job.plan.questions())?;
        }
        for prompt in &job.prompts {
            self.folder.write_prompt(&prompt.sha256, &prompt.text)?;
        }
        let appender = self.folder.appender(&lock)?;
        job.notes.clear();
        job.notes.extend(appender.dropped().map(|bytes| {
            format!("note: dropped {} of a torn last line; its episode is run again", counted(bytes, "byte"))
        }));
        // Another process may have written between the look and the lock.
        let records = self.folder.records_since(self.records)?;
        // Nobody asks the plan after this, so that each episode is held once.
        let due = std::mem::take(&mut job.plan).against(Some(&records));
        for (variant, Paid { calls, uncounted, usage }) in self.folder.paid(&records)? {
            let price = job.prices().get(variant.as_str()).map(|price| Price::from(*price));
            job.budget.charge(Spent { estimated: uncounted, ..Spent::of(calls, usage, price) });
        }
        let journal = Arc::new(self.folder.journal(&lock, &records)?);
        let appender = Mutex::new(Some(appender.with_journal(Arc::clone(&journal))));
        Ok(OpenRun { folder: self.folder, due, started: None, appender, journal, lock })
    }
}

impl OpenRun {
    pub(super) fn start(&mut self) {
        self.started = Some(Instant::now());
    }

    /// The appender, for the one runner that needs it.
    pub(super) fn take_appender(&self) -> Option<Appender> {
        self.appender.lock().ok()?.take()
    }

    /// Writes the end into the manifest and sums the run up from what is on disk.
    pub(super) fn close(self, job: &mut Job) -> Result<Summary, RunError> {
        job.manifest.ended_at = Some(jiff::Timestamp::now().to_string());
        let active = self.started.map_or(0, |started| started.elapsed().as_millis());
        job.manifest.active_ms += u64::try_from(active).unwrap_or(u64::MAX);
        if self.started.is_some() {
            job.manifest.limit_history.extend(job.pacer.history());
        }
        job.note_unsent();
        let records = self.folder.records()?;
        self.folder.compact(&self.lock, &records)?;
        job.manifest.paid = self.folder.paid(&records)?;
        // Nobody was paid for the baseline and for replays.
        job.manifest.paid.retain(|name, _| job.agents.get(name).is_none_or(|agent| agent.journaled));
        self.folder.write_manifest(&job.manifest)?;
        Summary::of_records(&self.folder, &self.folder.records_since(Some(records))?, None, false)
    }
}

/// What is run: questions, variants, models, sources.
fn about(manifest: &Manifest) -> Option<String> {
    let Manifest { dataset, variants, .. } = manifest;
    let [first, others @ ..] = variants.as_slice() else { return None };
    let how = if others.is_empty() {
        by_protocol(first)
    } else {
        let names: Vec<&str> = variants.iter().take(NAMED).map(|variant| variant.name.as_str()).collect();
        let more = if variants.len() > NAMED { ", …" } else { "" };
        format!("{} ({}{more})", counted(variants.len(), "variant"), names.join(", "))
    };
    let each = |of: fn(&Variant) -> &str| {
        let all: BTreeSet<&str> = variants.iter().map(of).collect();
        all.into_iter().collect::<Vec<_>>().join(", ")
    };
    Some(format!(
        "{} of {}, {how} with {} over {} ({})",
        counted(dataset.selected, "question"),
        dataset.path,
        each(|variant| &variant.model),
        each(|variant| &variant.wiki),
        each(|variant| variant.compat.name()),
    ))
}

/// A method with its protocol, if it has a part that speaks one.
fn by_protocol(variant: &Variant) -> String {
    if speaks(variant) { format!("{} by {}", variant.method, variant.protocol) } else { variant.method.clone() }
}

fn speaks(variant: &Variant) -> bool {
    Method::parse(&variant.method).is_none_or(|method| method.agent().is_some())
}

/// Prices that nobody typed, each model's once.
fn price_notes(job: &Job) -> Vec<String> {
    let (mut told, mut lines) = (BTreeSet::new(), Vec::new());
    for variant in &job.manifest.variants {
        let Some(price) = &variant.price else { continue };
        let Some(origin) = prices::origin(price) else { continue };
        if told.insert(&variant.model) {
            let (prompt, completion) = (price.prompt, price.completion);
            let of = if job.manifest.variants.len() > 1 { format!(" of {}", variant.model) } else { String::new() };
            lines.push(format!("price{of}: {prompt} in, {completion} out US $ a million tokens ({origin})"));
        }
    }
    lines
}

/// Questions in Chinese that an English agent is asked over an English encyclopedia say nothing about either.
fn other_language(job: &Job) -> Option<&'static str> {
    let english = job.manifest.variants.iter().any(|variant| variant.wording.is_english());
    (english && job.plan.is_chinese()).then_some(
        "note: the questions are in Chinese, the prompt is not; add --prompt prompts/hotpotqa-zh.toml, and a Chinese --wiki such as corpus:datasets/sample-wiki-zh",
    )
}

fn holds_a_run(path: &Path) -> RunError {
    RunError::input(
        format!("`{}` holds a run already", path.display()),
        "add --resume to continue it, or name another folder with --out",
    )
}

fn refuse_other_settings(path: &Path, recorded: &Manifest, planned: &Manifest) -> Result<(), RunError> {
    let differing = differences(recorded, planned);
    if differing.is_empty() {
        return Ok(());
    }
    Err(RunError::input(
        format!("`{}` holds a run with other settings:\n  {}", path.display(), differing.join("\n  ")),
        "use the settings that the run was started with, or another --out",
    ))
}

/// A folder that is not ours is left alone, unless it is empty.
fn refuse_other_files(path: &Path) -> Result<(), RunError> {
    let Ok(entries) = std::fs::read_dir(path) else { return Ok(()) };
    let mut entries = entries.flatten();
    let foreign = entries.find(|entry| !RunFolder::is_left_over(&entry.file_name().to_string_lossy()));
    match foreign {
        None => Ok(()),
        Some(entry) => Err(RunError::input(
            format!(
                "`{}` is not a run and is not empty (it holds `{}`)",
                path.display(),
                entry.file_name().to_string_lossy()
            ),
            "name a new folder with --out",
        )),
    }
}

/// What is run, for the name of a folder.
fn named(manifest: &Manifest) -> String {
    let (what, model) = match manifest.variants.as_slice() {
        [variant] if speaks(variant) => (variant.protocol.clone(), variant.model.as_str()),
        [variant] => (variant.method.clone(), variant.model.as_str()),
        variants => (format!("{}-variants", variants.len()), variants.first().map_or("", |first| &first.model)),
    };
    format!("{}-{what}-{}", manifest.dataset.name, model.rsplit(':').next().unwrap_or("model"))
}

/// A new folder under `results/`, named after what is run and when.
pub(crate) fn fresh(what: &str) -> PathBuf {
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let name: String = format!("{what}-{time}")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '_' })
        .collect();
    let base = Path::new("results").join(&name);
    // Two starts within one second get two folders.
    let mut path = base.clone();
    let mut n = 1;
    while path.exists() {
        n += 1;
        path = base.with_file_name(format!("{name}-{n}"));
    }
    path
}
