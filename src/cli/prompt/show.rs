//! `prompt show`: a prompt as it is stored, or the first request for a question.

use super::super::failure;
use super::preview::{How, Preview};
use crate::analysis::report::console::{binary_stdout, stderr, stdout, stdout_is_terminal};
use crate::analysis::report::counted;
use crate::base::{Prompt, Request};
use crate::prompting::{self, Rendered};
use crate::runner::experiment::shipped;
use anyhow::Context as _;
use serde_json::json;
use std::io::Write;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ShowArgs {
    /// Prompt file (TOML or plain text), or a key of the paper's JSON.
    #[arg(value_name = "FILE[#KEY]")]
    prompt: String,
    #[command(flatten)]
    how: How,
    /// Show the first request for this question, exactly as it is sent.
    #[arg(long, value_name = "TEXT")]
    question: Option<String>,
    /// Print the prompt's source as it is: the file, also a built-in one, or the entry of a JSON file.
    #[arg(long, conflicts_with_all = ["instruction", "protocol", "option", "texts", "method", "question", "question_label", "shots",
        "max_steps", "json"])]
    source: bool,
    /// Print the text or messages, their digest and length as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn show(args: &ShowArgs) -> anyhow::Result<u8> {
    if args.source {
        print_source(&args.prompt)?;
        return Ok(failure::OK);
    }
    let shown = args.how.preview(&args.prompt)?;
    match &args.question {
        Some(question) => print_request(args, &shown, &args.how.request(&shown, question)?)?,
        None => print_frame(args, &shown)?,
    }
    Ok(failure::OK)
}

/// Byte for byte, but for what a terminal would obey.
fn print_source(prompt: &str) -> anyhow::Result<()> {
    let source = prompting::source(prompt, &shipped::file)?;
    if stdout_is_terminal() {
        stdout().write_all(&source)?;
    } else {
        let mut out = binary_stdout();
        out.write_all(&source)?;
        out.flush()?;
    }
    Ok(())
}

fn print_request(args: &ShowArgs, shown: &Preview, request: &Request) -> anyhow::Result<()> {
    let (sha256, chars) = (request.prompt.sha256(), request.prompt.chars());
    let mut out = stdout();
    if args.json {
        let (key, content) = request.prompt.to_json();
        let mut line = json!({
            "prompt": args.prompt, "name": shown.source.name(), "protocol": args.how.protocol, "method": args.how.method.name(),
            "question": args.question, "sha256": sha256, "chars": chars, "stop": request.stop, key: content,
        });
        if let Some(functions) = &request.functions {
            line["functions"] = json!(functions);
        }
        writeln!(out, "{line}")?;
        return Ok(());
    }
    write_prompt(&mut out, request)?;
    out.flush()?;
    let stop = json!(request.stop);
    writeln!(stderr(), "sha256 {sha256}, {chars} characters, stop {stop}").context("cannot write to stderr")
}

/// A prompt for reading: a text exactly as it is sent and digested, so that `sha256sum` agrees; messages under their roles,
/// with their calls.
pub(in crate::cli) fn write_prompt(out: &mut impl Write, request: &Request) -> anyhow::Result<()> {
    match &request.prompt {
        Prompt::Text { .. } => out.write_all(request.prompt.to_text().as_bytes())?,
        Prompt::Messages(messages) => {
            for message in messages {
                let role = json!(message.role);
                writeln!(out, "[{}]\n{}", role.as_str().unwrap_or_default(), message.content)?;
                for call in &message.calls {
                    writeln!(out, "{}({})", call.name, call.arguments)?;
                }
            }
        }
    }
    if let Some(functions) = &request.functions {
        writeln!(out, "[functions]\n{}", serde_json::to_string_pretty(functions)?)?;
    }
    Ok(())
}

fn print_frame(args: &ShowArgs, shown: &Preview) -> anyhow::Result<()> {
    let Rendered { sha256, chars, exemplars, .. } = &shown.rendered;
    let text = &shown.rendered.stored;
    let mut out = stdout();
    if args.json {
        let line = json!({
            "prompt": args.prompt, "name": shown.source.name(), "protocol": args.how.protocol, "method": args.how.method.name(),
            "sha256": sha256, "chars": chars, "exemplars": exemplars, "text": text,
        });
        writeln!(out, "{line}")?;
        return Ok(());
    }
    // Exactly the bytes that are stored and digested, so that `sha256sum` agrees.
    out.write_all(text.as_bytes())?;
    out.flush()?;
    let exemplars = exemplars.map_or_else(|| "a finished text".to_owned(), |n| counted(n, "exemplar"));
    writeln!(stderr(), "sha256 {sha256}, {chars} characters, {exemplars}").context("cannot write to stderr")
}
