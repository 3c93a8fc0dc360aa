//! `prompt`: lists, shows, writes, checks and compares prompts.

mod diff;
mod new;
mod preview;
mod show;

pub(super) use show::write_prompt;

use super::failure;
use crate::analysis::report::console::{stderr, stdout};
use crate::analysis::report::counted;
use crate::prompting::protocol::{self, Layout, OptionError, Options};
use crate::prompting::{self, Checked, PromptError, PromptSource};
use crate::runner::experiment::shipped;
use serde_json::json;
use std::io::Write as _;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Write a prompt file to edit, made from another one.
    New(new::NewArgs),
    /// List the built-in prompts and protocol texts, and those in ./prompts.
    List(ListArgs),
    /// Print a prompt as the model sees it, or the first request for a question.
    Show(show::ShowArgs),
    /// Show what differs between two prompts as the model sees them.
    Diff(diff::DiffArgs),
    /// List the protocols with their options.
    Protocols(ListArgs),
    /// Check prompt files and list every problem.
    Check(CheckArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// Prompt files (TOML or plain text), keys of the paper's JSON, or files of protocol texts.
    #[arg(required = true, value_name = "FILE[#KEY]")]
    prompts: Vec<String>,
}

pub(super) fn execute(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::New(args) => new::new_prompt(&args),
        Command::List(args) => list(&args),
        Command::Show(args) => show::show(&args),
        Command::Diff(args) => diff::diff_prompts(&args),
        Command::Protocols(args) => protocols(&args),
        Command::Check(args) => check(&args),
    }
}

fn list(args: &ListArgs) -> anyhow::Result<u8> {
    let mut names: Vec<String> = shipped::prompts().map(str::to_owned).collect();
    let here = ["prompts", "prompts/protocols"].into_iter().flat_map(in_folder);
    names.extend(here.filter(|name| shipped::file(name).is_none()));
    let mut out = stdout();
    let mut code = failure::OK;
    for name in names {
        let origin = if std::path::Path::new(&name).exists() { "file" } else { "built in" };
        let (words, line) = match prompting::check(&name, &shipped::file) {
            Ok(Checked::Prompt(PromptSource::File(file))) => {
                let (label, language, exemplars) = (&file.question_label, &file.language, file.exemplars.len());
                let line = json!({
                    "prompt": name, "name": file.name, "language": language, "question_label": label,
                    "exemplars": exemplars, "origin": origin,
                });
                (format!("{name:<28} {language:<3} {label:<9} {:>12}  {origin}", counted(exemplars, "exemplar")), line)
            }
            Ok(Checked::Prompt(source @ PromptSource::Text(_))) => {
                let line =
                    json!({ "prompt": name, "name": source.name(), "language": source.language(), "origin": origin });
                (format!("{name:<28} {:<3} text                    {origin}", source.language()), line)
            }
            Ok(Checked::Texts(file)) => {
                let (language, sections) =
                    (file.language.as_deref().unwrap_or("-"), file.sections().collect::<Vec<_>>());
                let line = json!({
                    "texts": name, "language": file.language, "sections": sections, "origin": origin,
                });
                (
                    format!("{name:<28} {language:<3} texts     {:>12}  {origin}", counted(sections.len(), "protocol")),
                    line,
                )
            }
            Err(error) => {
                tell(&error)?;
                code = failure::BAD_INPUT;
                continue;
            }
        };
        if args.json { writeln!(out, "{line}")? } else { writeln!(out, "{words}")? }
    }
    Ok(code)
}

/// Prompts in a folder below the current one, sorted by name.
fn in_folder(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| std::path::Path::new(name).extension().is_some_and(|end| end == "toml" || end == "txt"))
        .map(|name| format!("{folder}/{name}"))
        .collect();
    names.sort();
    names
}

fn protocols(args: &ListArgs) -> anyhow::Result<u8> {
    let mut out = stdout();
    for id in protocol::IDS {
        let Some(Ok(protocol)) = protocol::find(id, &Options::default()) else { continue };
        // The error about an unknown option lists the known ones.
        let none = Options([(String::new(), String::new())].into());
        let options: &[&str] = match protocol::find(id, &none) {
            Some(Err(OptionError::Unknown { known, .. })) => known,
            _ => &[],
        };
        let form = match protocol.layout() {
            Layout::Text => "text",
            Layout::Template | Layout::System | Layout::Instruction => "messages",
        };
        let (steps, act) = (protocol.max_steps(), protocol.acts_without_thoughts());
        if args.json {
            let line = json!({ "protocol": id, "form": form, "max_steps": steps, "act": act, "options": options });
            writeln!(out, "{line}")?;
            continue;
        }
        let methods = if act { "react, act" } else { "react" };
        // One option per line, to fit 80 columns.
        let head = format!(
            "{id:<12} {form:<8} {:>8}  {methods:<10} {}",
            counted(steps, "step"),
            options.first().unwrap_or(&"")
        );
        writeln!(out, "{}", head.trim_end())?;
        for option in options.iter().skip(1) {
            writeln!(out, "{:<43}{option}", "")?;
        }
    }
    Ok(failure::OK)
}

fn check(args: &CheckArgs) -> anyhow::Result<u8> {
    let mut code = failure::OK;
    let mut out = stdout();
    for name in &args.prompts {
        match prompting::check(name, &shipped::file) {
            Ok(Checked::Prompt(PromptSource::File(file))) => {
                writeln!(out, "{name}: ok, {}", counted(file.exemplars.len(), "exemplar"))?;
            }
            Ok(Checked::Prompt(PromptSource::Text(text))) => {
                let place = if text.is_plain() && !text.has_question() { "; the question follows it" } else { "" };
                writeln!(out, "{name}: ok, a finished text{place}")?;
            }
            Ok(Checked::Texts(file)) => {
                writeln!(out, "{name}: ok, texts for {}", file.sections().collect::<Vec<_>>().join(", "))?;
            }
            Err(error) => {
                tell(&error)?;
                code = failure::BAD_INPUT;
            }
        }
    }
    Ok(code)
}

fn tell(error: &PromptError) -> anyhow::Result<()> {
    let mut err = stderr();
    writeln!(err, "error: {error}\nhint: {}", error.hint())?;
    Ok(())
}
