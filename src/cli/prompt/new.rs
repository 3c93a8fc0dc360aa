//! `prompt new`: a prompt file to edit, made from another one.

use super::super::failure::{self, Failure};
use crate::analysis::report::counted;
use crate::base::text::{shell_word, visible_line};
use crate::cli::say::say;
use crate::prompting;
use crate::runner::experiment::shipped;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct NewArgs {
    /// The file to write, which ends in .toml; the prompt is named after it. An existing file is not replaced.
    #[arg(value_name = "FILE")]
    file: String,
    /// Prompt file (TOML) that it is made from, built in or your own.
    #[arg(long, value_name = "FILE", default_value = "prompts/hotpotqa.toml")]
    from: String,
    /// Keep only the first N exemplars; 0 for a prompt without any [default: all].
    #[arg(long, value_name = "N")]
    exemplars: Option<usize>,
}

pub(super) fn new_prompt(args: &NewArgs) -> anyhow::Result<u8> {
    let path = Path::new(&args.file);
    let made = prompting::new(&args.file, &prompt_name(path)?, &args.from, args.exemplars, &shipped::file)?;
    write_new(path, &made.text)?;
    let (count, from) = (counted(made.prompt.exemplars.len(), "exemplar"), visible_line(&args.from, 200));
    say(format_args!("{} written, with {count} of {from}", visible_line(&args.file, 200)));
    // A name that begins with a minus would be a flag.
    let file = shell_word(&if args.file.starts_with('-') { format!("./{}", args.file) } else { args.file.clone() });
    let claims = if made.prompt.question_label == "Claim" { "datasets/sample-claims.jsonl " } else { "" };
    say(format_args!("next:\n  wikitrail prompt check {file}\n  wikitrail run {claims}--prompt {file}"));
    Ok(failure::OK)
}

/// The prompt's name: the file's, without its ending.
fn prompt_name(path: &Path) -> anyhow::Result<String> {
    let is_toml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
    match path.file_stem().map(|stem| stem.to_string_lossy()) {
        Some(stem) if is_toml && !stem.trim().is_empty() => Ok(stem.into_owned()),
        _ => Err(Failure::usage(
            format!("`{}` does not end in .toml", visible_line(&path.display().to_string(), 200)),
            "name a file such as my.toml",
        )),
    }
}

fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    let shown = visible_line(&path.display().to_string(), 200);
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::usage(format!("`{shown}` exists already"), "name another file, or remove this one first")
        }
        _ => Failure::unexpected(
            format!("cannot write `{shown}`: {error}"),
            "check that the folder exists, is writable and has space",
        ),
    };
    let mut file = File::create_new(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(|error| {
        // Half a prompt is none; the first error is the one to report.
        let _ = std::fs::remove_file(path);
        failed(error)
    })
}
