//! `run`: a dataset file through an agent, recorded, scored, with a table at the end.

mod args;
mod drive;
mod estimate;
mod folder;
mod limits;
mod load;
mod revision;

pub(super) use args::Args;

use super::failure;
use super::say::say;
use crate::llm::Budget;
use crate::types::request::BYTES_PER_TOKEN;
use drive::End;
use std::io::Write as _;

/// Carries the command out and returns its exit code.
pub(super) async fn execute(args: Args) -> anyhow::Result<u8> {
    let mut job = load::job(&args)?;
    let target = folder::Target::choose(&args, &job)?;
    target.tell(&job);
    if args.dry_run {
        target.tell_estimate();
        if args.json {
            writeln!(std::io::stdout(), "{}", target.to_json(&job))?;
        }
        return Ok(failure::OK);
    }
    let open = target.open(&mut job)?;
    let end = drive::drive(&args, &job, &open).await?;
    job.tapes.tell();
    let summary = open.close(&mut job)?;
    super::score::print(&summary, args.json)?;
    let unfinished = summary.unmeasured() > 0 || summary.missing() > 0;
    tell_the_end(&end, unfinished.then(|| summary.resume_command()), &job.budget);
    Ok(match end {
        End::Interrupted => failure::INTERRUPTED,
        End::Stopped(_) if unfinished => failure::NOT_MEASURED,
        _ if summary.unmeasured() > 0 => failure::NOT_MEASURED,
        _ => failure::OK,
    })
}

/// Says why the run stopped by itself and how to go on, where there is something left to do.
fn tell_the_end(end: &End, resume: Option<String>, budget: &Budget) {
    if let (End::Stopped(reason), Some(resume)) = (end, resume) {
        say(format_args!("stopped: {reason}; what was in flight is recorded"));
        say(format_args!("go on with a larger limit: {resume}"));
    }
    let estimated = budget.spent().estimated;
    if estimated > 0 && budget.limits().is_any() {
        say(format_args!(
            "note: the tokens of {estimated} calls were not counted by the server; the budget took {BYTES_PER_TOKEN} bytes for a token"
        ));
    }
}
