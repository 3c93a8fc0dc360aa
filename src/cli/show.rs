//! `show`: one recorded trajectory for reading.

use super::failure::{self, Failure};
use crate::report::trajectory::{View, render};
use crate::store::RunFolder;
use crate::types::Trajectory;
use std::io::Write as _;
use std::path::PathBuf;

/// Flags of `show`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run's folder.
    run: PathBuf,
    /// Id of the question.
    id: String,
    /// Which repeat of the question, from 0 [default: all].
    #[arg(long, value_name = "N")]
    repeat: Option<u32>,
    /// Which variant, by its name in the manifest [default: all].
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Print the stored record, one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Carries the command out and returns its exit code.
pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let folder = RunFolder::open(&args.run)?;
    let records = folder.records()?;
    let view = View::of_stdout();
    let mut out = std::io::stdout().lock();
    let (mut shown, mut some) = (0, Vec::new());
    for trajectory in records.iter() {
        let trajectory = trajectory?;
        if !wanted(args, &trajectory) {
            // Enough to show what ids look like.
            if some.len() < 3 {
                some.push(trajectory.id);
            }
            continue;
        }
        if args.json {
            serde_json::to_writer(&mut out, &trajectory).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            if shown > 0 {
                writeln!(out)?;
            }
            out.write_all(render(&trajectory, &view).as_bytes())?;
        }
        shown += 1;
    }
    if shown == 0 {
        return Err(not_found(args, &some));
    }
    Ok(failure::OK)
}

fn wanted(args: &Args, trajectory: &Trajectory) -> bool {
    trajectory.id == args.id
        && args.repeat.is_none_or(|repeat| trajectory.repeat == repeat)
        && args.variant.as_ref().is_none_or(|variant| trajectory.variant == *variant)
}

fn not_found(args: &Args, some: &[String]) -> anyhow::Error {
    let run = args.run.display();
    let hint = if some.is_empty() {
        "the run has no finished episode yet".to_owned()
    } else {
        let ids: Vec<String> = some.iter().map(|id| id.escape_debug().take(60).collect()).collect();
        format!("ids look like {}; --repeat and --variant narrow the choice", ids.join(", "))
    };
    Failure::bad_input(format!("`{run}` holds no episode of question `{}`", args.id.escape_debug()), hint)
}
