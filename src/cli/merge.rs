//! `merge`: one run folder from several of the same run.

use super::failure;
use super::output_file::json_line;
use super::say::say;
use crate::analysis::report::console::stdout;
use crate::analysis::report::{counted, thousands};
use crate::analysis::results::runs_in;
use crate::analysis::{Merged, merge};
use crate::base::text::shell_word;
use crate::runner::store::Keep;
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Folders of one run, such as those that shards wrote on disks of their own, or a folder that contains them. They are not changed.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The new folder: every episode once, and all that was paid.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Where an episode was recorded with different results, keep that of the folder that is named first or last [default:
    /// such episodes are listed, and nothing is written].
    #[arg(long, value_name = "WHICH", value_parser = keep)]
    keep: Option<Keep>,
    /// Print what was merged as one JSON object.
    #[arg(long)]
    json: bool,
}

fn keep(text: &str) -> Result<Keep, String> {
    match text {
        "first" => Ok(Keep::First),
        "last" => Ok(Keep::Last),
        _ => Err("`first` or `last` is expected".to_owned()),
    }
}

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    // What is not there is named by the merge.
    let parts =
        |path: &PathBuf| Some(runs_in(path)).filter(|found| !found.is_empty()).unwrap_or_else(|| vec![path.clone()]);
    let runs: Vec<PathBuf> = args.runs.iter().flat_map(parts).collect();
    let merged = merge(&runs, &args.out, args.keep)?;
    merged.notes.iter().for_each(say);
    let mut out = stdout();
    if args.json {
        json_line(&mut out, &to_json(&merged))?;
        return Ok(failure::OK);
    }
    let folder = shell_word(&merged.folder.display().to_string());
    let Merged { episodes, measured, copies, settled, planned, .. } = merged;
    writeln!(out, "{folder}: {} of {}", thousands(episodes), counted(planned, "episode"))?;
    for (count, what) in [
        (episodes - measured, "not measured"),
        (copies, "in several folders, all alike"),
        (settled, "recorded with different results, one of which was kept"),
    ] {
        if count > 0 {
            writeln!(out, "{} {what}", thousands(count))?;
        }
    }
    writeln!(out, "next:\n  wikitrail score {folder}")?;
    Ok(failure::OK)
}

fn to_json(merged: &Merged) -> serde_json::Value {
    let Merged { folder, episodes, measured, copies, settled, planned, .. } = merged;
    json!({
        "run": folder.display().to_string(),
        "planned": planned,
        "episodes": episodes,
        "measured": measured,
        "missing": planned.saturating_sub(*episodes),
        "copies": copies,
        "settled": settled,
    })
}
