//! `corpus verify`: whether a folder is what was built.

use super::{manifest, megabytes, unusable};
use crate::cli::failure;
use crate::report::console::stdout;
use crate::report::counted;
use crate::types::text::{shell_word, visible_line};
use crate::wiki::corpus::verify;
use std::io::Write as _;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct VerifyArgs {
    /// Folder that `corpus build` wrote.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Also read every article, look up every name, and compute the identity anew.
    #[arg(long)]
    deep: bool,
}

pub(super) fn execute_verify(args: &VerifyArgs) -> anyhow::Result<u8> {
    let manifest = manifest(&args.dir)?;
    let differences = verify(&args.dir, args.deep).map_err(unusable)?;
    let mut out = stdout();
    let dir = shell_word(&args.dir.display().to_string());
    if differences.is_empty() {
        let files = counted(manifest.files.len() as u64, "file");
        let size = megabytes(manifest.files.values().map(|file| file.bytes).sum());
        let articles =
            if args.deep { format!(", {} with this id", counted(manifest.articles, "article")) } else { String::new() };
        writeln!(out, "{dir}: {files}, {size}, as they were built{articles}\n  {}", visible_line(&manifest.id, 80))?;
        return Ok(failure::OK);
    }
    for difference in &differences {
        writeln!(out, "{}", visible_line(difference, 400))?;
    }
    writeln!(out, "{dir} is not what was built: copy it again, or build it again")?;
    Ok(failure::DIFFERENCE)
}
