//! `completions`: what a shell has to know to complete commands, flags and files.

use super::failure;
use crate::report::console::stdout;
use clap_complete::Shell;
use std::io::Write as _;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    // Into memory first: the library panics where it cannot write.
    clap_complete::generate(args.shell, &mut super::command(), "wikitrail", &mut script);
    stdout().write_all(&script)?;
    Ok(failure::OK)
}
