//! `run`: a dataset file through an agent, or an experiment, recorded, scored, with a table at the end.

mod args;
mod drive;
mod estimate;
mod experiment;
mod folder;
mod forecast;
mod given;
mod inputs;
mod limits;
mod load;
mod part;
mod pool;
mod revision;
mod settings;

pub(super) use args::{Args, Replaced};
pub(super) use experiment::read as read_experiment;
pub(super) use folder::fresh;
pub(super) use given::Given;
pub(super) use limits::LimitArgs;

use super::failure::{self, Failure};
use super::say::say;
use super::score::{self, Summary};
use crate::llm::Budget;
use crate::report::counted;
use crate::types::request::BYTES_PER_TOKEN;
use drive::End;
use folder::Target;
use load::Job;
use part::Part;
use pool::Pool;
use std::io::Write as _;
use std::path::Path;

/// Carries the command out and returns its exit code.
pub(super) async fn execute(args: Args) -> anyhow::Result<u8> {
    let args = args.completed()?;
    let parts = if experiment::is_experiment(&args.questions.dataset) {
        experiment::parts(&args)?
    } else {
        vec![Part::of_flags(&args)]
    };
    if let Some(part) = parts.first() {
        part::refuse_unpriced(&args, &part.cells)?;
    }
    let mut pool = Pool::new(&args, args.limits.limits())?;
    // All runs are built and looked at before the first begins, so that what is wrong with any of them is said at once.
    let runs = built(&args, parts, &mut pool)?;
    refuse_nothing_to_resume(&args, &runs)?;
    for (job, target) in &runs {
        target.tell(job);
    }
    if args.dry_run {
        forecast::print(&runs, args.json)?;
        return Ok(failure::OK);
    }
    // All folders are taken before the first run begins: what earlier parts of each spent counts for all.
    let mut opened = Vec::new();
    for (mut job, target) in runs {
        let open = target.open(&mut job)?;
        opened.push((job, open));
    }
    let several = opened.len() > 1;
    let tables_follow = args.replaced.is_some();
    let (mut summaries, mut ended) = (Vec::new(), End::Done);
    for (mut job, mut open) in opened {
        if ended == End::Done {
            open.start();
            ended = drive::drive(&args, &job, &mut open).await?;
        }
        let summary = open.close(&mut job)?;
        let later = tables_follow || several && args.json;
        if !later {
            score::print(&summary, args.json)?;
        }
        summaries.push(summary);
    }
    pool.tapes.tell();
    if several && args.json && !tables_follow {
        writeln!(std::io::stdout(), "{}", score::together(&summaries))?;
    }
    tell_the_end(&ended, &summaries, &pool.budget);
    Ok(code(&ended, &summaries))
}

/// The runs, and where each goes; else what is wrong with any of them, a fault that several have once.
fn built(args: &Args, parts: Vec<Part>, pool: &mut Pool) -> anyhow::Result<Vec<(Job, Target)>> {
    let (mut runs, mut faults) = (Vec::new(), Vec::new());
    for part in parts {
        let job = load::job(args, part, pool);
        match job.and_then(|job| Ok((Target::choose(args, &job)?, job))) {
            Ok((target, job)) => runs.push((job, target)),
            Err(fault) => faults.push(fault),
        }
    }
    failure::together(faults).map_or(Ok(runs), Err)
}

/// Carries out an experiment with what was typed of another command. Prints the plan of a dry run, and no figures.
pub(super) async fn replaced(experiment: &Path, given: &Given, out: &Path, replaced: Replaced) -> anyhow::Result<u8> {
    let mut args = Args::of_experiment(experiment, given)?;
    args.out = Some(out.to_owned());
    args.replaced = Some(replaced);
    execute(args).await
}

fn unfinished(summary: &Summary) -> bool {
    summary.unmeasured() > 0 || summary.missing() > 0
}

fn code(ended: &End, summaries: &[Summary]) -> u8 {
    match ended {
        End::Interrupted => failure::INTERRUPTED,
        End::Stopped(_) if summaries.iter().any(unfinished) => failure::NOT_MEASURED,
        _ if summaries.iter().any(|summary| summary.unmeasured() > 0) => failure::NOT_MEASURED,
        _ => failure::OK,
    }
}

/// Whoever wants to go on with a run means one that is there; a slip in its name must not start another one.
fn refuse_nothing_to_resume(args: &Args, runs: &[(Job, Target)]) -> anyhow::Result<()> {
    let Some((_, first)) = runs.first() else { return Ok(()) };
    if !args.resume || runs.iter().any(|(_, target)| target.is_recorded()) {
        return Ok(());
    }
    // Of several datasets, what was named is the folder around the first one's.
    let path = args.out.as_deref().unwrap_or(first.path());
    Err(Failure::bad_input(
        format!("there is no run in `{}` to go on with", path.display()),
        "check the folder's name, or leave --resume out to start a run there",
    ))
}

/// Says why the run stopped by itself and how to go on, where there is something left to do.
fn tell_the_end(ended: &End, summaries: &[Summary], budget: &Budget) {
    let left = summaries.iter().find(|summary| unfinished(summary));
    if let (End::Stopped(reason), Some(summary)) = (ended, left) {
        say(format_args!("stopped: {reason}; what was in flight is recorded"));
        let spent = budget.refusal().is_some();
        let how = if spent { "go on with a larger limit" } else { "go on" };
        say(format_args!("{how}: {}", summary.resume_command(spent)));
    }
    let estimated = budget.spent().estimated;
    if estimated > 0 && budget.limits().is_any() {
        say(format_args!(
            "note: the tokens of {} were not counted by the server; the budget took {BYTES_PER_TOKEN} bytes for a token",
            counted(estimated, "call")
        ));
    }
}
