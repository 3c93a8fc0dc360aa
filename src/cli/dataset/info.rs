//! `dataset info`: counts, supporting facts, duplicates and leaked exemplars.

use super::FileArgs;
use crate::analysis::dataset_info::{dataset_info, write_info};
use crate::analysis::report::View;
use crate::analysis::report::console::stdout;
use crate::cli::failure;
use crate::cli::output_file::json_line;
use crate::runner::experiment::shipped;
use crate::runner::questions;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct InfoArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Prompt whose exemplars to look for; may be repeated [default: the shipped prompts].
    #[arg(long, value_name = "FILE[#KEY]")]
    prompt: Vec<String>,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn info(args: &InfoArgs) -> anyhow::Result<u8> {
    let dataset = args.file.load_with(true)?;
    let prompts: Vec<String> =
        if args.prompt.is_empty() { shipped::prompt_files().map(str::to_owned).collect() } else { args.prompt.clone() };
    let info = dataset_info(questions::shown(&args.file.file), &dataset, &prompts)?;
    let mut out = stdout();
    if args.json {
        json_line(&mut out, &info)?;
    } else {
        write_info(&info, View::of_stdout().width, &mut out)?;
    }
    Ok(failure::OK)
}
