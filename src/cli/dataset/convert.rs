//! `dataset convert`: a file in the canonical form, one question per line.

use super::FileArgs;
use crate::analysis::output_file::{Force, OutputFile, Start};
use crate::analysis::report::console::stdout;
use crate::analysis::report::counted;
use crate::base::Question;
use crate::cli::failure;
use crate::cli::output_file::{self, json_line};
use crate::cli::say::say;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ConvertArgs {
    #[command(flatten)]
    file: FileArgs,
    /// File to write, which replaces an earlier one in this form once it is complete [default: stdout].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace any other file too; never the input.
    #[arg(long, requires = "out")]
    force: bool,
}

pub(super) fn convert(args: &ConvertArgs) -> anyhow::Result<u8> {
    let file = output_file::named(args.out.as_deref()).map(|path| OutputFile {
        path,
        what: "a dataset that wikitrail dataset convert wrote",
        is_earlier: &is_canonical,
        force: Force::Flag(args.force),
        inputs: vec![args.file.file.clone().into()],
    });
    file.as_ref().map_or(Ok(()), OutputFile::check)?;
    let dataset = args.file.load()?;
    let Some(file) = file else {
        question_lines(&dataset.questions, BufWriter::new(stdout()))?;
        return Ok(failure::OK);
    };
    output_file::write(&file, |file| Ok(question_lines(&dataset.questions, BufWriter::with_capacity(1 << 16, file))?))?;
    let (count, left_out) = (dataset.questions.len(), dataset.skipped.len());
    let and = if left_out == 0 { String::new() } else { format!(", {} left out", counted(left_out, "bad record")) };
    say(format_args!("{} written to {}{and}", counted(count, "question"), file.path.display()));
    Ok(failure::OK)
}

fn question_lines(questions: &[Question], mut out: impl Write) -> io::Result<()> {
    questions.iter().try_for_each(|question| json_line(&mut out, question))?;
    out.flush()
}

/// Whether the first line is what would be written again: a dataset that people wrote in this form has other spaces, or
/// fewer fields.
fn is_canonical(start: &Start) -> bool {
    let question: Option<Question> = serde_json::from_str(start.line()).ok();
    question.and_then(|question| serde_json::to_string(&question).ok()).is_some_and(|line| line == start.line())
}
