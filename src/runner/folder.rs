//! The folder of a run: which one, which of its records stay, what it holds at the end, and why it refuses a run with other settings.

use super::costs::Estimate;
use super::error::RunError;
use super::job::Job;
use super::plan::{Due, Plan, changed_prices, differences, differences_of_parts};
use super::prices::price_origin;
use super::prompt_forms::layout_notes;
use super::questions;
use super::stopping::{self, Watch};
use super::summary::{Summary, warnings};
use crate::base::line_diff::line_diff;
use crate::base::text::{counted, is_chinese, shell_word, thousands, visible_line};
use crate::base::{Manifest, Method, Shard, Variant};
use crate::models::{Price, Spent};
use crate::net::recording::NOT_OWN_HINT;
use crate::runner::agent::Episode;
use crate::runner::experiment::{Output, defaults};
use crate::runner::store::{Appender, Journal, Lock, Records, RunFolder, StoreError};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const RESUME: &str = "add --resume to continue it, or name another folder with --out";
const MAX_LISTED: usize = 3;
/// Lines of a prompt's difference that are shown.
const MAX_LINES: usize = 40;

pub(super) struct OutputPlan {
    pub(super) folder: RunFolder,
    pub(super) recorded: Option<Manifest>,
    records: Option<Records>,
    pub(super) due: Due,
    pub(super) estimate: Estimate,
    resume: bool,
    pub(super) shard: Option<Shard>,
    notes: Vec<String>,
    watch: Option<Watch>,
}

pub(super) struct OpenRun {
    pub(super) folder: RunFolder,
    /// When its first episode was begun; another run of the experiment may come first, or stop everything.
    pub(super) started: Option<Instant>,
    pub(super) journal: Arc<Journal>,
    pub(super) watch: Option<Arc<Watch>>,
    /// How many episodes the shard has, where it is one.
    shard_episodes: Option<u64>,
    pub(super) lock: Lock,
}

/// What is left to do, and what stops the run. Asked without the lock for the plan that is shown, and again under it.
fn due(plan: &Plan, manifest: &Manifest, records: Option<&Records>) -> Result<(Due, Option<Watch>), RunError> {
    let mut due = plan.against(records);
    let watch = stopping::watch_from_records(manifest, &plan.questions, records, &mut due)?;
    Ok((due, watch))
}

impl OutputPlan {
    /// Finds the folder and what is left to do in it. Writes nothing.
    pub(super) fn choose(output: &Output, job: &Job) -> Result<Self, RunError> {
        let path = job.out.clone().unwrap_or_else(|| fresh(output.results.as_deref(), &folder_name(&job.manifest)));
        if output.folder.as_ref().is_some_and(|typed| *typed != path) && path.is_symlink() {
            let message = format!("`{}` is a symbolic link inside the experiment's folder", path.display());
            return Err(RunError::input(message, NOT_OWN_HINT));
        }
        let folder = RunFolder::at(&path);
        let recorded = recorded(&folder)?;
        let is_renewed = refuse_other_run(&folder, recorded.as_ref(), job, output.resume, output.shard)?;
        let goes_on = recorded.is_some() && !is_renewed;
        let records = if goes_on { Some(folder.records_of(output.shard)?) } else { None };
        let known = recorded.as_ref().filter(|_| goes_on).unwrap_or(&job.manifest);
        let (due, watch) = due(&job.plan, known, records.as_ref())?;
        if due.foreign > 0 {
            let (shown, episodes) = (path.display(), counted(due.foreign, "episode"));
            let hint = "use the selection that the run was started with, or a larger one, or another --out";
            return Err(RunError::input(
                format!("`{shown}` holds {episodes} that this selection does not ask for"),
                hint,
            ));
        }
        let skipped = |line: &crate::runner::store::Skipped| {
            format!("warning: {}:{}: {}; its episode is run again", line.path.display(), line.line, line.reason)
        };
        let mut notes: Vec<String> = records.iter().flat_map(Records::skipped).map(skipped).collect();
        notes.extend(is_renewed.then(|| {
            format!("note: nothing was measured in `{}` before, so it takes the new settings", path.display())
        }));
        let estimate = Estimate::of(job, &due.episodes, records.as_ref().filter(|_| output.dry_run))?;
        let Output { resume, shard, .. } = *output;
        Ok(Self { folder, recorded, records, due, estimate, resume, shard, notes, watch })
    }

    pub(super) fn notes(&self, job: &Job) -> Vec<String> {
        let mut lines = self.notes.clone();
        lines.extend(about(&job.manifest));
        if let Some(shard) = self.shard {
            let all = job.plan.questions.len() * job.manifest.variants.len() * job.manifest.repeats as usize;
            lines.push(format!("shard {shard}: {} of {}", thousands(job.plan.episodes.len()), counted(all, "episode")));
        }
        let Due { keep, redo, new, other, .. } = self.due;
        let calls = counted(self.estimate.most_calls(), "model call");
        let others = if other > 0 { format!(", other {other}") } else { String::new() };
        lines.push(format!("plan: keep {keep}, redo {redo}, new {new}{others}; at most {calls}"));
        if other > 0 {
            let episodes = counted(other, "episode");
            lines.push(format!("note: {episodes} of variants that are not run any more; what is recorded stays"));
        }
        lines.extend(self.watch.iter().flat_map(|watch| watch.notes(&job.manifest.dataset.selection)));
        lines.extend(price_notes(job));
        let stored = |sha256: &str| job.prompts.iter().find(|prompt| prompt.sha256 == sha256);
        let variants = job.manifest.variants.iter();
        let prompts = variants.filter_map(|variant| Some((variant, stored(&variant.prompt_sha256)?.text.clone())));
        lines.extend(layout_notes(prompts).into_iter().map(|note| format!("note: {note}")));
        // Questions in Chinese that an English agent is asked over an English encyclopedia say nothing about either.
        let english = job.manifest.variants.iter().any(|variant| variant.wording.is_english());
        if english && job.plan.episodes.first().is_some_and(|first| is_chinese(&first.question.question)) {
            lines.push(
                "note: the questions are in Chinese, the prompt is not; add --prompt prompts/hotpotqa-zh.toml, and a Chinese \
                 --wiki such as corpus:datasets/sample-wiki-zh"
                    .to_owned(),
            );
        }
        let hidden = job.plan.episodes.iter().filter(|episode| episode.question.answers.is_empty()).count();
        if hidden > 0 {
            let all = counted(job.plan.episodes.len(), "episode");
            let has = if hidden == 1 { "has" } else { "have" };
            lines.push(format!("note: {hidden} of {all} {has} no gold answer and cannot be scored"));
        }
        lines
    }

    /// Writes down what is about to run, and opens what it is recorded in. Also returns the episodes that are due.
    pub(super) fn open(self, lock: Lock, job: &mut Job) -> Result<(OpenRun, Appender, Vec<Episode>), RunError> {
        match lock.shard {
            None => self.begin(job, &lock)?,
            Some(shard) => self.join(shard, job)?,
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
        let records = self.folder.records_since(self.records, lock.shard)?;
        // Nobody asks the plan after this, so that each episode is held once.
        let plan = std::mem::take(&mut job.plan);
        let shard_episodes = plan.shard.map(|_| plan.episodes.len() as u64);
        let (due, watch) = due(&plan, &job.manifest, Some(&records))?;
        let watch = watch.map(Arc::new);
        drop(plan);
        stopping::remember(watch.as_deref(), &self.folder, &mut job.manifest)?;
        for (variant, paid) in self.folder.paid(&records, lock.shard)? {
            let price = job.prices().get(variant.as_str()).map(|price| Price::from(*price));
            job.budget.charge(Spent::of(paid, price));
        }
        let keys: HashSet<&str> = due.episodes.iter().map(|episode| episode.key.as_str()).collect();
        let journal = Arc::new(self.folder.journal(&lock, &records, |key| keys.contains(key))?);
        job.notes.extend(warnings(journal.skipped(), "kept in the file, and its call is made again"));
        let appender = appender.with_journal(Arc::clone(&journal));
        let open = OpenRun { folder: self.folder, started: None, journal, watch, shard_episodes, lock };
        Ok((open, appender, due.episodes))
    }

    fn begin(&self, job: &mut Job, lock: &Lock) -> Result<(), RunError> {
        // Another process may have started or ended a run here between the look and the lock.
        let recorded = if self.folder.exists() { Some(self.folder.manifest()?) } else { None };
        let is_renewed = refuse_other_run(&self.folder, recorded.as_ref(), job, self.resume, None)?;
        job.notes.extend(recorded.iter().flat_map(|before| changed_prices(before, &job.manifest)).collect::<Vec<_>>());
        if is_renewed {
            self.folder.clear(lock)?;
        }
        let recorded = recorded.filter(|_| !is_renewed);
        let selected = recorded.as_ref().map(|recorded| recorded.dataset.selected);
        if let Some(recorded) = recorded {
            // The first start stays on record, but for its command: the selection may have grown.
            let manifest = &mut job.manifest;
            manifest.started_at = recorded.started_at;
            manifest.defaults = recorded.defaults;
            manifest.active_ms = recorded.active_ms;
            manifest.limit_history = recorded.limit_history;
            manifest.paid = recorded.paid;
            manifest.stop_looked = recorded.stop_looked;
            for variant in &mut manifest.variants {
                let was = recorded.variants.iter().chain(&recorded.retired).find(|was| was.name == variant.name);
                variant.not_sent = was.map(|was| was.not_sent.clone()).unwrap_or_default();
            }
            // A re-added variant is no longer retired.
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
            self.folder.write_questions(job.plan.questions.iter().map(Arc::as_ref))?;
        }
        Ok(())
    }

    /// Joins a run as one of its shards. The first of them writes the manifest and what belongs to it, for all.
    fn join(&self, shard: Shard, job: &mut Job) -> Result<(), RunError> {
        let is_first = !self.folder.exists() && self.folder.create_manifest(&job.manifest)?;
        refuse_other_run(&self.folder, Some(&self.folder.manifest()?), job, false, Some(shard))?;
        if let Some(text) = job.experiment.as_ref().filter(|_| is_first) {
            self.folder.write_experiment(text)?;
        }
        // The first one may have been killed before it came to this.
        if is_first || !self.folder.has_questions() && !self.folder.has_unfinished_questions()? {
            self.folder.write_questions(job.plan.questions.iter().map(Arc::as_ref))?;
        }
        if let Some(before) = self.folder.shard(shard)? {
            let manifest = &mut job.manifest;
            manifest.started_at = before.started_at;
            manifest.active_ms = before.active_ms;
            manifest.limit_history = before.limit_history;
        }
        Ok(self.folder.write_state(Some(shard), &job.manifest)?)
    }
}

impl OpenRun {
    pub(super) fn close(self, job: &mut Job) -> Result<Summary, RunError> {
        job.manifest.ended_at = Some(jiff::Timestamp::now().to_string());
        let active = self.started.map_or(0, |started| started.elapsed().as_millis());
        job.manifest.active_ms += u64::try_from(active).unwrap_or(u64::MAX);
        if self.started.is_some() {
            job.manifest.limit_history.extend(job.pacer.history());
        }
        job.note_unsent();
        let shard = self.lock.shard;
        let records = self.folder.records_of(shard)?;
        self.folder.compact(&self.lock, &records)?;
        if shard.is_none() {
            job.manifest.paid = self.folder.paid(&records, None)?;
            // Nobody was paid for the baseline and for replays.
            job.manifest.paid.retain(|name, _| job.agents.get(name).is_none_or(|agent| agent.journaled));
        }
        self.folder.write_state(shard, &job.manifest)?;
        let records = self.folder.records_since(Some(records), shard)?;
        Summary::of_records(&self.folder, &records, None, shard.zip(self.shard_episodes), |_| {})
    }
}

fn about(manifest: &Manifest) -> Option<String> {
    let Manifest { dataset, variants, .. } = manifest;
    let [first, others @ ..] = variants.as_slice() else { return None };
    let program = first.settings.get("agent").and_then(serde_json::Value::as_str);
    let how = if let Some(program) = program.filter(|_| others.is_empty()) {
        format!("`{}`", visible_line(program, 80))
    } else if others.is_empty() && speaks(first) {
        format!("{} by {}", first.method, first.protocol)
    } else if others.is_empty() {
        first.method.clone()
    } else {
        let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
        let list = if names.len() > MAX_LISTED { String::new() } else { format!(" ({})", names.join(", ")) };
        format!("{}{list}", counted(names.len(), "variant"))
    };
    let each = |of: fn(&Variant) -> &str| {
        let all: BTreeSet<&str> = variants.iter().map(of).collect();
        all.into_iter().collect::<Vec<_>>().join(", ")
    };
    Some(format!(
        "{} of {}, {how} with {} over {} ({})",
        counted(dataset.selected, "question"),
        questions::path_or_stdin(Path::new(&dataset.path)),
        each(|variant| &variant.model),
        each(|variant| &variant.wiki),
        each(Variant::compat_name),
    ))
}

fn speaks(variant: &Variant) -> bool {
    Method::parse(&variant.method).is_none_or(|method| method.agent().is_some())
}

fn price_notes(job: &Job) -> Vec<String> {
    let (mut models, mut lines) = (BTreeSet::new(), Vec::new());
    for variant in &job.manifest.variants {
        let Some(price) = &variant.price else { continue };
        let Some(origin) = price_origin(price) else { continue };
        if models.insert(&variant.model) {
            let (prompt, completion) = (price.prompt, price.completion);
            let other =
                |price: Option<f64>, what: &str| price.map(|price| format!(", {price} {what}")).unwrap_or_default();
            let kept = other(price.cached, "cache read") + &other(price.cache_write, "cache write");
            let of = if job.manifest.variants.len() > 1 { format!(" of {}", variant.model) } else { String::new() };
            lines
                .push(format!("USD per million tokens{of}: {prompt} prompt{kept}, {completion} completion ({origin})"));
        }
    }
    lines
}

pub(super) fn holds_a_run(path: &Path, hint: &str) -> RunError {
    RunError::input(format!("`{}` holds a run already", path.display()), hint)
}

/// A run that is there must be this one, and be continued on purpose. A shard continues without saying so. Says whether the
/// run takes other settings, because nothing was measured with its own.
fn refuse_other_run(
    folder: &RunFolder,
    recorded: Option<&Manifest>,
    job: &Job,
    resume: bool,
    shard: Option<Shard>,
) -> Result<bool, RunError> {
    let differing = match recorded {
        None => return Ok(false),
        Some(recorded) if shard.is_some() => differences_of_parts(recorded, &job.manifest),
        Some(recorded) if resume => differences(recorded, &job.manifest),
        Some(_) => return Err(holds_a_run(folder.path(), RESUME)),
    };
    match recorded.filter(|_| !differing.is_empty()) {
        None => Ok(false),
        Some(_) if shard.is_none() && holds_no_answer(folder)? => Ok(true),
        Some(recorded) => Err(refusal(folder, recorded, job, &differing)),
    }
}

/// A prompt that a resumed run would send otherwise, although all its settings are the same.
struct Edited<'a> {
    prompt: &'a str,
    was: &'a str,
    now: &'a str,
    variants: Vec<&'a str>,
}

/// Refuses other settings than those in the folder, of which there is at least one.
fn refusal(folder: &RunFolder, recorded: &Manifest, job: &Job, differing: &[String]) -> RunError {
    let path = folder.path().display();
    let is_of_prompts =
        |line: &String| line.starts_with("prompt_sha256: ") || line.starts_with("direct_prompt_sha256: ");
    let edited = if differing.iter().all(is_of_prompts) { edited_prompts(recorded, &job.manifest) } else { Vec::new() };
    let diffs: Vec<String> = edited.iter().filter_map(|edited| prompt_diff(folder, job, edited)).collect();
    let cache = "start another folder with --out; requests that both have are paid once if both name one --cache DIR";
    let dataset = &job.manifest.dataset;
    if let Some(first) = edited.first().filter(|_| diffs.len() == edited.len()) {
        let typed = Path::new(first.prompt);
        let [stem, ending] =
            [typed.file_stem(), typed.extension()].map(|part| part.unwrap_or_default().to_string_lossy());
        let copy = typed.with_file_name(format!("{stem}-2.{ending}"));
        let copy = shell_word(&visible_line(&copy.display().to_string(), 200));
        let prompt = shell_word(&visible_line(first.prompt, 200));
        return RunError::input(
            format!("a prompt of `{path}` was edited since the run was started:\n{}", diffs.concat().trim_end()),
            format!(
                "to measure both, keep the new text as {copy}, restore {prompt}, and name both as prompts of an experiment file; or {cache}"
            ),
        );
    }
    let is_edited = recorded.dataset.path == dataset.path && recorded.dataset.sha256 != dataset.sha256;
    let hint = if is_edited && differing.len() == 1 {
        format!("restore {}, or {cache}", shell_word(&visible_line(&dataset.path, 200)))
    } else {
        "use the settings that the run was started with, or another --out".to_owned()
    };
    RunError::input(format!("`{path}` holds a run with other settings:\n  {}", differing.join("\n  ")), hint)
}

fn edited_prompts<'a>(recorded: &'a Manifest, planned: &'a Manifest) -> Vec<Edited<'a>> {
    let mut found: Vec<Edited<'a>> = Vec::new();
    for now in &planned.variants {
        let Some(was) = recorded.known_variants().find(|was| was.name == now.name) else { continue };
        let direct = |variant: &'a Variant| variant.direct_prompt_sha256.as_deref().unwrap_or_default();
        let pairs = [(&*was.prompt_sha256, &*now.prompt_sha256), (direct(was), direct(now))];
        for (was, new) in pairs.into_iter().filter(|(was, now)| was != now) {
            match found.iter_mut().find(|known| known.prompt == now.prompt) {
                // One difference says what was edited; other protocols and methods show it in their own form.
                Some(known) if known.variants.contains(&&*now.name) => {}
                Some(known) => known.variants.push(&now.name),
                None => found.push(Edited { prompt: &now.prompt, was, now: new, variants: vec![&now.name] }),
            }
        }
    }
    found
}

/// The prompt with the lines that differ; nothing if the folder does not hold the old text.
fn prompt_diff(folder: &RunFolder, job: &Job, edited: &Edited<'_>) -> Option<String> {
    let was = folder.prompt(edited.was).ok()?;
    let now = &job.prompts.iter().find(|prompt| prompt.sha256 == edited.now)?.text;
    let (prompt, variants) = (visible_line(edited.prompt, 200), visible_line(&edited.variants.join(", "), 300));
    let header = [format!("{prompt} as it was sent"), format!("{prompt} now")];
    let text = line_diff(&was, now).unified_diff().context_radius(1).header(&header[0], &header[1]).to_string();
    let lines: Vec<&str> = text.lines().collect();
    let mut out = format!("  {prompt} ({variants})\n");
    for line in lines.iter().take(MAX_LINES) {
        out = out + "    " + &visible_line(line, 200) + "\n";
    }
    if lines.len() > MAX_LINES {
        out.push_str("    …\n");
    }
    Some(out)
}

/// Whether a folder has no measured episode and no answer of a model that an episode could go on with.
fn holds_no_answer(folder: &RunFolder) -> Result<bool, StoreError> {
    let records = folder.records()?;
    Ok(folder.shards()?.is_empty()
        && records.keys().all(|(_, _, measured)| !measured)
        && folder.paid(&records, None)?.values().all(|paid| paid.calls == 0))
}

/// The manifest of the run in the folder, if there is one. A folder that is not ours is left alone, unless it is empty.
pub(super) fn recorded(folder: &RunFolder) -> Result<Option<Manifest>, RunError> {
    if folder.exists() {
        return Ok(Some(folder.manifest()?));
    }
    let Ok(entries) = std::fs::read_dir(folder.path()) else { return Ok(None) };
    let mut names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    match names.find(|name| !RunFolder::is_left_over(name)) {
        None => Ok(None),
        // Another shard began the run meanwhile.
        Some(_) if folder.exists() => Ok(Some(folder.manifest()?)),
        Some(name) => Err(RunError::input(
            format!("`{}` is not a run and is not empty (it holds `{name}`)", folder.path().display()),
            "name a new folder with --out",
        )),
    }
}

fn folder_name(manifest: &Manifest) -> String {
    let (what, model) = match manifest.variants.as_slice() {
        [variant] if speaks(variant) => (variant.protocol.clone(), variant.model.as_str()),
        [variant] => (variant.method.clone(), variant.model.as_str()),
        variants => (format!("{}-variants", variants.len()), variants.first().map_or("", |first| &first.model)),
    };
    format!("{}-{what}-{}", manifest.dataset.name, model.rsplit(':').next().unwrap_or("model"))
}

/// A new folder below `results`, or the folder of that name, named after what is run and when.
pub(crate) fn fresh(results: Option<&Path>, what: &str) -> PathBuf {
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let sound = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '_' };
    let name: String = format!("{what}-{time}").chars().map(sound).collect();
    let base = results.unwrap_or(Path::new(defaults::RESULTS)).join(&name);
    // Two starts within one second get two folders.
    let mut path = base.clone();
    let mut n = 1;
    while path.exists() {
        n += 1;
        path = base.with_file_name(format!("{name}-{n}"));
    }
    path
}

/// The new folder must not be there, or be empty; the hint says what else to do.
pub(crate) fn refuse_target(target: &RunFolder, hint: &str) -> Result<(), RunError> {
    let path = target.path();
    if path.is_symlink() {
        return Err(RunError::input(format!("`{}` is a symbolic link", path.display()), NOT_OWN_HINT));
    }
    recorded(target)?.map_or(Ok(()), |_| Err(holds_a_run(path, hint)))
}
