//! `prompt`: which prompts there are, what the model is shown, and what is wrong with a file.

use super::builtin;
use super::failure;
use crate::prompt::{self, PromptError, PromptSource, RenderSettings, Rendered};
use anyhow::Context as _;
use serde_json::json;
use std::io::Write as _;

/// Flags of `prompt`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the prompts that are built in, and those in the folder `prompts` here.
    List(ListArgs),
    /// Print a prompt as the model is shown it.
    Show(ShowArgs),
    /// Check prompt files and name every problem.
    Check(CheckArgs),
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Print one JSON object a prompt.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Prompt file (TOML), or a key of the paper's JSON.
    #[arg(value_name = "FILE[#KEY]")]
    prompt: String,
    /// Instruction put before the exemplars of a JSON prompt.
    #[arg(long, value_name = "FILE")]
    instruction: Option<String>,
    /// Protocol whose form is shown.
    #[arg(long, value_name = "ID", default_value = "react-paper")]
    protocol: String,
    /// Prompting method.
    #[arg(long, value_name = "NAME", default_value = "react")]
    method: String,
    /// Use only the first N exemplars.
    #[arg(long, value_name = "N")]
    shots: Option<usize>,
    /// Step limit that the instruction names.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=100))]
    max_steps: u16,
    /// Print text, digest, length and number of exemplars as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// Prompt files (TOML), or keys of the paper's JSON.
    #[arg(required = true, value_name = "FILE[#KEY]")]
    prompts: Vec<String>,
}

/// Carries the command out and returns its exit code.
pub(super) fn execute(args: Args) -> anyhow::Result<u8> {
    match args.command {
        Command::List(args) => list(&args),
        Command::Show(args) => show(&args),
        Command::Check(args) => check(&args),
    }
}

fn list(args: &ListArgs) -> anyhow::Result<u8> {
    let mut names: Vec<String> = builtin::prompts().map(str::to_owned).collect();
    names.extend(in_folder().into_iter().filter(|name| builtin::file(name).is_none()));
    let mut out = std::io::stdout().lock();
    let mut code = failure::OK;
    for name in names {
        let origin = if std::path::Path::new(&name).exists() { "file" } else { "built in" };
        match prompt::load(&name, None, &builtin::file) {
            Ok(source) => {
                let PromptSource::File(file) = &source else { continue };
                let (label, language, exemplars) = (&file.question_label, &file.language, file.exemplars.len());
                if args.json {
                    let line = json!({
                        "prompt": name, "name": file.name, "language": language, "question_label": label,
                        "exemplars": exemplars, "origin": origin,
                    });
                    writeln!(out, "{line}")?;
                } else {
                    writeln!(out, "{name:<28} {language:<3} {label:<9} {exemplars:>2} exemplars  {origin}")?;
                }
            }
            Err(error) => {
                tell(&error)?;
                code = failure::BAD_INPUT;
            }
        }
    }
    Ok(code)
}

/// Prompt files in the folder `prompts` of the current folder, by name.
fn in_folder() -> Vec<String> {
    let entries = std::fs::read_dir("prompts").into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| std::path::Path::new(name).extension().is_some_and(|end| end == "toml"))
        .map(|name| format!("prompts/{name}"))
        .collect();
    names.sort();
    names
}

fn show(args: &ShowArgs) -> anyhow::Result<u8> {
    let (source, rendered) = rendered(args)?;
    let Rendered { text, sha256, chars, exemplars } = rendered;
    let mut out = std::io::stdout().lock();
    if args.json {
        let shown = json!({
            "prompt": args.prompt, "name": source.name(), "protocol": args.protocol, "method": args.method,
            "sha256": sha256, "chars": chars, "exemplars": exemplars, "text": &*text,
        });
        writeln!(out, "{shown}")?;
        return Ok(failure::OK);
    }
    // Exactly the bytes that are sent and digested, so that `sha256sum` agrees.
    out.write_all(text.as_bytes())?;
    out.flush()?;
    let exemplars = exemplars.map_or_else(|| "a finished text".to_owned(), |n| format!("{n} exemplars"));
    writeln!(std::io::stderr(), "sha256 {sha256}, {chars} characters, {exemplars}")
        .context("cannot write to stderr")?;
    Ok(failure::OK)
}

fn rendered(args: &ShowArgs) -> Result<(PromptSource, Rendered), PromptError> {
    let source = prompt::load(&args.prompt, args.instruction.as_deref(), &builtin::file)?;
    let settings = RenderSettings {
        protocol: &args.protocol,
        method: &args.method,
        shots: args.shots,
        max_steps: usize::from(args.max_steps),
        ..RenderSettings::default()
    };
    let rendered = prompt::render(&source, &settings)?;
    Ok((source, rendered))
}

fn check(args: &CheckArgs) -> anyhow::Result<u8> {
    let mut code = failure::OK;
    let mut out = std::io::stdout().lock();
    for name in &args.prompts {
        match prompt::load(name, None, &builtin::file) {
            Ok(PromptSource::File(file)) => writeln!(out, "{name}: ok, {} exemplars", file.exemplars.len())?,
            Ok(PromptSource::Text(_)) => writeln!(out, "{name}: ok, a finished text")?,
            Err(error) => {
                tell(&error)?;
                code = failure::BAD_INPUT;
            }
        }
    }
    Ok(code)
}

/// Prints an error and goes on, where one bad file must not hide the others.
fn tell(error: &PromptError) -> anyhow::Result<()> {
    let mut err = std::io::stderr().lock();
    writeln!(err, "error: {error}")?;
    if let Some(hint) = error.hint() {
        writeln!(err, "hint: {hint}")?;
    }
    Ok(())
}
