//! From what to run to its figures: prepare, execute, summarise.

use super::costs::Estimate;
use super::error::RunError;
use super::execute::{End, Interrupts, Listener, execute};
use super::folder::{OutputPlan, fresh};
use super::job::Job;
use super::named_files;
use super::plan::Due;
use super::pool::Pool;
use super::summary::Summary;
use crate::base::request::BYTES_PER_TOKEN;
use crate::base::text::counted;
use crate::base::{Manifest, RunEvent, Shard};
use crate::runner::experiment::{Experiment, ExperimentFile, Overrides};
use crate::runner::store::{Lock, WATCH};
use std::path::Path;
use std::time::Instant;

/// An experiment with everything it needs, held against what its folders hold already.
pub struct Prepared {
    runs: Vec<(Job, OutputPlan)>,
    pool: Pool,
    max_failures: Option<u64>,
}

pub struct PlannedRun<'a> {
    pub folder: &'a Path,
    pub manifest: &'a Manifest,
    pub keep: usize,
    pub redo: usize,
    pub new: usize,
    /// Recorded episodes of variants that are not run any more.
    pub other: usize,
    pub shard: Option<Shard>,
    pub estimate: &'a Estimate,
}

/// What became of an experiment.
#[derive(Debug)]
pub struct Finished {
    /// The figures of each dataset's run.
    pub summaries: Vec<Summary>,
    /// How it ended.
    pub end: End,
    /// What a person should know at the end.
    pub notes: Vec<String>,
    /// How to go on, where the run stopped by itself and something is left to do.
    pub resume: Option<String>,
    /// Whether the budget is spent.
    pub budget_spent: bool,
}

/// Reads an experiment file, and looks at every file that it names: everything that is wrong is one error. Also returns
/// what a person should know.
pub fn load_experiment(path: &Path, overrides: &Overrides) -> Result<(Experiment, Vec<String>), RunError> {
    let file = ExperimentFile::load(path)?;
    file.check_used(overrides)?;
    let notes = check_files(&file, overrides)?;
    Ok((file.experiment(overrides)?, notes))
}

/// Looks at every file that an experiment file names: everything that is wrong is one error. Returns notes.
pub(crate) fn check_files(file: &ExperimentFile, overrides: &Overrides) -> Result<Vec<String>, RunError> {
    named_files::check(file, overrides)?;
    let mut notes = Vec::new();
    if file.merged > 0 {
        let combinations = counted(file.merged, "combination");
        notes.push(format!("note: {combinations} left out: equal to another one in every setting that is used"));
    }
    if file.excluded > 0 {
        notes.push(format!("note: {} excluded", counted(file.excluded, "combination")));
    }
    Ok(notes)
}

/// Builds everything that an experiment needs and holds it against what its folder holds already, so that a bad setting,
/// file or folder is found before anything is sent. Writes nothing; everything that is wrong is one error.
///
/// ```
/// use wikitrail::run::{Experiment, VariantSettings, prepare};
///
/// let experiment = Experiment::over("datasets/sample.jsonl").variant("main", VariantSettings::default()).limit(3);
/// let prepared = prepare(&experiment)?;
/// assert_eq!(prepared.runs().map(|run| run.new).sum::<usize>(), 3);
/// # Ok::<(), wikitrail::run::RunError>(())
/// ```
pub fn prepare(experiment: &Experiment) -> Result<Prepared, RunError> {
    let mut experiment = experiment.clone();
    if experiment.output.folder.is_none() {
        if experiment.output.shard.is_some() {
            let message = "a shard needs the folder of its run";
            return Err(RunError::usage(message, "name with --out the folder of all shards"));
        }
        // An experiment's datasets share a folder; a plain run is named when its variants are known.
        let results = experiment.output.results.as_deref();
        experiment.output.folder = experiment.name.as_deref().map(|name| fresh(results, name));
    }
    let mut pool = Pool::new(&experiment)?;
    refuse_unpriced(&experiment, &pool)?;
    let (mut runs, mut faults) = (Vec::new(), Vec::new());
    for dataset in &experiment.datasets {
        let job = Job::new(&experiment, dataset, &mut pool);
        match job.and_then(|job| Ok((OutputPlan::choose(&experiment.output, &job)?, job))) {
            Ok((output, job)) => runs.push((job, output)),
            Err(fault) => faults.push(fault),
        }
    }
    if let Some(error) = RunError::together(faults) {
        return Err(error);
    }
    refuse_nothing_to_resume(&experiment, &runs)?;
    Ok(Prepared { runs, pool, max_failures: experiment.limits.max_failures })
}

/// A budget in dollars needs a price for every model that costs something.
fn refuse_unpriced(experiment: &Experiment, pool: &Pool) -> Result<(), RunError> {
    let Some(dataset) = experiment.datasets.first().filter(|_| experiment.limits.budget_usd.is_some()) else {
        return Ok(());
    };
    let (mut priced, mut unpriced) = (false, Vec::new());
    for variant in experiment.variants_on(dataset) {
        if pool.prices.of(&variant.settings).is_some() {
            priced = true;
        } else {
            // Models that an agent names itself are priced when it names them.
            let of_agent = variant.settings.agent.is_some() && variant.settings.model.is_none();
            unpriced.extend((!of_agent).then(|| variant.settings.model.as_deref().unwrap_or("baseline")));
        }
    }
    // The rules cost nothing; a run of nothing else has nothing to limit.
    unpriced.iter().find(|model| **model != "baseline" || !priced).map_or(Ok(()), |model| {
        let message = format!("--budget-usd needs a price, and none is known for `{model}`");
        let hint = "give the price with --price IN/OUT or --prices FILE, or limit tokens with --budget-tokens";
        Err(RunError::usage(message, hint))
    })
}

/// Whoever resumes a run means one that exists; a slip in its name must not start another one.
fn refuse_nothing_to_resume(experiment: &Experiment, runs: &[(Job, OutputPlan)]) -> Result<(), RunError> {
    let Some((_, first)) = runs.first() else { return Ok(()) };
    if !experiment.output.resume || runs.iter().any(|(_, output)| output.recorded.is_some()) {
        return Ok(());
    }
    // Of several datasets, what was named is the folder around the first one's.
    let path = experiment.output.folder.as_deref().unwrap_or(first.folder.path());
    let message = format!("`{}` holds no run to resume", path.display());
    Err(RunError::input(message, "check the folder's name, or remove --resume to start a run there"))
}

impl Prepared {
    /// What is about to happen, for reading.
    pub fn notes(&self) -> Vec<String> {
        let of_runs = self.runs.iter().flat_map(|(job, output)| [job.notes.clone(), output.notes(job)].concat());
        self.pool.notes().chain(of_runs).collect()
    }

    /// The runs as planned, one for each dataset.
    pub fn runs(&self) -> impl Iterator<Item = PlannedRun<'_>> {
        self.runs.iter().map(|(job, OutputPlan { folder, due, shard, estimate, .. })| {
            let (folder, manifest, shard) = (folder.path(), &job.manifest, *shard);
            let Due { keep, redo, new, other, .. } = *due;
            PlannedRun { folder, manifest, keep, redo, new, other, shard, estimate }
        })
    }

    /// Makes the copied steps of all branches again, without the model. Returns the questions that differ, and how.
    pub(crate) async fn verify_prefixes(&self) -> Vec<(String, String)> {
        let mut different = Vec::new();
        let episodes =
            self.runs.iter().flat_map(|(job, _)| job.plan.episodes.iter().map(move |episode| (job, episode)));
        for (job, episode) in episodes.filter(|(_, episode)| episode.repeat == 0) {
            let Some(agent) = job.agents.get(&episode.variant.name) else { continue };
            if let Err(reason) = agent.verify_prefix(episode).await {
                different.push((episode.question.id.clone(), reason));
            }
        }
        different
    }

    /// Runs what is due, into the folder, and tells the listener what happens. Must be called inside a Tokio runtime.
    ///
    /// At the first request to stop, episodes in flight are finished; at the second, they are dropped. Every episode that
    /// ended is on disk either way, and a resumed run does the rest.
    pub async fn execute(self, listener: &mut impl Listener, mut interrupts: Interrupts) -> Result<Finished, RunError> {
        let Self { runs, pool, max_failures } = self;
        // All folders are taken before the first run begins: what earlier parts of each spent counts for all.
        let mut opened = Vec::new();
        for (mut job, output) in runs {
            let lock = lock(&output, listener).await?;
            let (open, appender, episodes) = output.open(lock, &mut job)?;
            job.notes.drain(..).for_each(|note| listener.event(&RunEvent::Note(note)));
            opened.push((job, open, appender, episodes));
        }
        let (mut summaries, mut end) = (Vec::new(), End::Done);
        for (mut job, mut open, appender, episodes) in opened {
            if end == End::Done {
                open.started = Some(Instant::now());
                end = execute(&job, &open, appender, episodes, max_failures, listener, &mut interrupts).await?;
            }
            let mut summary = open.close(&mut job)?;
            summary.budget_spent = pool.budget.is_spent();
            if pool.breakers.trip().is_some() {
                // Said once, where the run says why it was given up.
                summary.hints.clear();
            }
            listener.ended(&summary);
            summaries.push(summary);
        }
        let budget_spent = pool.budget.is_spent();
        let left = summaries.iter().find(|summary| summary.is_unfinished());
        let left = left.filter(|_| matches!(end, End::Stopped(_)));
        let how = if budget_spent { "resume with a larger limit" } else { "resume" };
        let resume = left.map(|summary| format!("{how}: {}", summary.resume_command(budget_spent)));
        let notes = closing_notes(&pool, &end, left);
        Ok(Finished { summaries, end, notes, resume, budget_spent })
    }
}

/// Takes the lock of a run's folder. A shard that may be running on another machine is watched first.
async fn lock(output: &OutputPlan, listener: &mut impl Listener) -> Result<Lock, RunError> {
    let mut lock = output.folder.lock(output.shard)?;
    if let (Some(before), Some(shard)) = (lock.before(), output.shard) {
        listener.event(&RunEvent::Note(format!(
            "note: {before} began shard {shard} and did not say that it ended; watching for {} s whether it still runs",
            WATCH.as_secs()
        )));
        tokio::time::sleep(WATCH).await;
        lock.confirm()?;
    }
    Ok(lock)
}

/// Why the run stopped by itself, where something is `left` to do.
fn closing_notes(pool: &Pool, end: &End, left: Option<&Summary>) -> Vec<String> {
    let mut lines = pool.tapes.notes();
    if let (End::Stopped(reason), Some(summary)) = (end, left) {
        lines.push(format!("stopped: {reason}; what was in flight is recorded"));
        let hint = pool.breakers.trip().and_then(|trip| trip.hint(&summary.manifest));
        lines.extend(hint.map(|hint| format!("hint: {hint}")));
    }
    let estimated = pool.budget.spent().paid.uncounted;
    if estimated > 0 && pool.budget.limits().is_any() {
        lines.push(format!(
            "note: the tokens of {} were not counted; the budget took {BYTES_PER_TOKEN} bytes for a token",
            counted(estimated, "call")
        ));
    }
    lines
}
