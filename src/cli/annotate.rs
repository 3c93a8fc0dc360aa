//! `annotate`: episodes judged by reading, and judgements from files.

mod file;
mod session;

use super::failure::Failure;
use crate::analysis::annotations::bad_name;
use crate::analysis::results::{RunRef, check_one};
use crate::analysis::sampled::Stratum;
use crate::runner::store::RunFolder;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run folder; `RUN@VARIANT` judges one variant.
    run: String,
    /// Judge this many episodes, as many of each stratum [default: 50 of each stratum].
    #[arg(long, value_name = "N", conflicts_with = "import")]
    sample: Option<usize>,
    /// What strata have in common: em, variant, class, outcome, repeat, or a field of the questions, such as type, level,
    /// hops or meta.NAME.
    #[arg(long, value_name = "FIELDS", default_value = "em,variant", value_delimiter = ',', value_parser = Stratum::parse, conflicts_with = "import")]
    stratify: Vec<Stratum>,
    /// Seed of the sample: the same seed chooses the same episodes for everybody.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "import")]
    seed: u64,
    /// Who judges [default: $USER; with --import, whom each line names].
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Take judgements from this file instead: annotations.jsonl of a page or of another folder, or CSV with the columns
    /// id, variant, correct, class.
    #[arg(long, value_name = "FILE")]
    import: Option<PathBuf>,
    /// Print what became of the file as one JSON object.
    #[arg(long, requires = "import")]
    json: bool,
    /// Width of the output in columns [default: the terminal's].
    #[arg(long, value_name = "N", conflicts_with = "import")]
    width: Option<usize>,
}

pub(super) async fn execute(args: &Args) -> anyhow::Result<u8> {
    let run = RunRef::parse(&args.run).unwrap_or_else(|| RunRef::meant(&args.run));
    if run.path.is_file() {
        let what = format!("`{}` is a file of trajectories, which has no place for judgements", run.path.display());
        return Err(Failure::usage(what, "name the folder of a run"));
    }
    check_one(&run.path, "wikitrail annotate")?;
    let folder = RunFolder::open(&run.path)?;
    if let Some(why) = args.by.as_deref().and_then(bad_name) {
        return Err(Failure::usage(
            format!("--by is not a name: {why}"),
            "give a short name of your own, such as --by anna",
        ));
    }
    match &args.import {
        Some(path) => file::import_file(args, &folder, path),
        None => session::ask_session(args, &run, &folder, &by(args)?).await,
    }
}

/// Who judges: judgements without a name could not be kept apart.
fn by(args: &Args) -> anyhow::Result<String> {
    let user = || ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    args.by.clone().or_else(|| user().filter(|name| bad_name(name).is_none())).ok_or_else(|| {
        Failure::usage("the judgements need a name: --by is missing", "add --by with a short name of your own")
    })
}
