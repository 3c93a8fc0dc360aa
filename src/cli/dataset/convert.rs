//! `dataset convert`: a file in the canonical form, one question per line.

use super::FileArgs;
use crate::cli::failure::{self, Failure};
use crate::cli::output_file;
use crate::cli::output_file::json_line;
use crate::cli::say::say;
use crate::report::console::stdout;
use crate::report::counted;
use crate::types::Question;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ConvertArgs {
    #[command(flatten)]
    file: FileArgs,
    /// File to write; an existing one is replaced once the new one is complete [default: stdout].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn execute(args: &ConvertArgs) -> anyhow::Result<u8> {
    if let Some(out) = args.out.as_deref().filter(|out| same_file(&args.file.file, out)) {
        return Err(Failure::usage(format!("`{}` is the input file", out.display()), "name another file with --out"));
    }
    let dataset = args.file.load()?;
    let Some(path) = output_file::named(args.out.as_deref()) else {
        lines(&dataset.questions, BufWriter::new(stdout()))?;
        return Ok(failure::OK);
    };
    output_file::write(path, |file| Ok(lines(&dataset.questions, BufWriter::with_capacity(1 << 16, file))?))?;
    let (count, left_out) = (dataset.questions.len(), dataset.skipped.len());
    let and = if left_out == 0 { String::new() } else { format!(", {} left out", counted(left_out, "bad record")) };
    say(format_args!("{} written to {}{and}", counted(count, "question"), path.display()));
    Ok(failure::OK)
}

fn lines(questions: &[Question], mut out: impl Write) -> io::Result<()> {
    questions.iter().try_for_each(|question| json_line(&mut out, question))?;
    out.flush()
}

/// Whether two paths name the same file, also through links.
fn same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let identity = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
        identity(one).is_some_and(|id| Some(id) == identity(other))
    }
    #[cfg(not(unix))]
    {
        let canonical = |path: &Path| path.canonicalize().ok();
        canonical(one).is_some_and(|path| Some(path) == canonical(other))
    }
}
