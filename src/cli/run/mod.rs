//! `run`: a dataset file through an agent, recorded, scored, with a table at the end.

mod args;
mod drive;
mod folder;
mod load;
mod revision;

pub(super) use args::Args;

use super::failure;
use crate::types::Outcome;
use std::io::Write as _;

/// Carries the command out and returns its exit code.
pub(super) async fn execute(args: Args) -> anyhow::Result<u8> {
    let mut job = load::job(&args)?;
    let target = folder::Target::choose(&args, &job)?;
    target.tell(&job);
    if args.dry_run {
        if args.json {
            writeln!(std::io::stdout(), "{}", target.to_json(&job))?;
        }
        return Ok(failure::OK);
    }
    let open = target.open(&mut job)?;
    let interrupted = drive::drive(&args, &job, &open).await?;
    let summary = open.close(&mut job)?;
    super::score::print(&summary, args.json)?;
    Ok(if interrupted {
        failure::INTERRUPTED
    } else if summary.outcome_count(Outcome::NotMeasured) > 0 {
        failure::NOT_MEASURED
    } else {
        failure::OK
    })
}
