//! `prompt show`: a prompt as it is stored, or the first request for a question.

use super::super::failure::{self, Failure};
use super::super::flags::options;
use crate::experiment::shipped;
use crate::prompt::{self, PromptSource, RenderSettings, Rendered, texts};
use crate::protocol::direct::Direct;
use crate::protocol::{self, Dialogue, Protocol, Setup, Turn};
use crate::report::console::{binary_stdout, stderr, stdout, stdout_is_terminal};
use crate::report::counted;
use crate::run::{find_method, find_protocol};
use crate::types::{Decoding, Method, Prompt, Question, Request};
use anyhow::Context as _;
use serde_json::json;
use std::io::Write;
use std::sync::Arc;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Prompt file (TOML or plain text), or a key of the paper's JSON.
    #[arg(value_name = "FILE[#KEY]")]
    prompt: String,
    /// File with the instruction before the exemplars of a JSON prompt [default: none].
    #[arg(long, value_name = "FILE")]
    instruction: Option<String>,
    /// Protocol to render for; `wikitrail prompt protocols` lists them.
    #[arg(long, value_name = "ID", default_value = protocol::react_paper::ID, value_parser = protocol::IDS)]
    protocol: String,
    /// Option of the protocol; may be repeated.
    #[arg(long, value_name = "K=V")]
    option: Vec<String>,
    /// File with protocol texts, in the form of `wikitrail docs protocol-texts` [default: built in, in the prompt's language].
    #[arg(long, value_name = "FILE")]
    texts: Option<String>,
    /// Prompting method; of two in a row, the first.
    #[arg(long, value_name = "NAME", default_value = "react", value_parser = Method::NAMES)]
    method: String,
    /// Show the first request for this question, exactly as it is sent.
    #[arg(long, value_name = "TEXT")]
    question: Option<String>,
    /// Label before the question [default: the prompt's].
    #[arg(long, value_name = "LABEL")]
    question_label: Option<String>,
    /// Use only the first N exemplars [default: all].
    #[arg(long, value_name = "N")]
    shots: Option<usize>,
    /// Step limit in the texts [default: the protocol's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    max_steps: Option<u16>,
    /// Print the prompt's source as it is: the file, also a built-in one, or the entry of a JSON file.
    #[arg(long, conflicts_with_all = ["instruction", "protocol", "option", "texts", "method", "question", "question_label", "shots",
        "max_steps", "json"])]
    source: bool,
    /// Print the text or messages, their digest and length as JSON.
    #[arg(long)]
    json: bool,
}

struct Preview {
    source: PromptSource,
    protocol: Arc<dyn Protocol>,
    /// The method of the first part.
    method: Method,
    max_steps: usize,
    rendered: Rendered,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    if args.source {
        print_source(&args.prompt)?;
        return Ok(failure::OK);
    }
    let shown = rendered(args)?;
    match &args.question {
        Some(question) => print_request(args, &shown, &request(args, &shown, question)?)?,
        None => print_frame(args, &shown)?,
    }
    Ok(failure::OK)
}

/// Byte for byte, but for what a terminal would obey.
fn print_source(prompt: &str) -> anyhow::Result<()> {
    let source = prompt::source(prompt, &shipped::file)?;
    if stdout_is_terminal() {
        stdout().write_all(&source)?;
    } else {
        let mut out = binary_stdout();
        out.write_all(&source)?;
        out.flush()?;
    }
    Ok(())
}

fn rendered(args: &Args) -> anyhow::Result<Preview> {
    let options = options(&args.option)?;
    let protocol = find_protocol(&args.protocol, &options)?;
    let method = match find_method(&args.method)? {
        Method::ReactThenCotSc => Method::React,
        Method::CotSc | Method::CotScThenReact => Method::Cot,
        method => method,
    };
    let source = prompt::load(&args.prompt, args.instruction.as_deref(), &shipped::file)?;
    let section = texts::section(&args.protocol, &options);
    let texts = texts::load(args.texts.as_deref(), source.language(), &section, &shipped::file)?;
    let max_steps = args.max_steps.map_or(protocol.max_steps(), usize::from);
    let settings = RenderSettings {
        protocol: protocol.as_ref(),
        method,
        shots: args.shots,
        max_steps,
        ..RenderSettings::default()
    };
    let rendered = prompt::render(&source, &texts, &settings)?;
    Ok(Preview { source, protocol, method, max_steps, rendered })
}

fn request(args: &Args, shown: &Preview, question: &str) -> anyhow::Result<Request> {
    let label = args.question_label.as_deref().or(shown.source.question_label()).unwrap_or("Question");
    let setup = Arc::new(Setup {
        frame: shown.rendered.frame.clone(),
        question_label: label.to_owned(),
        max_steps: shown.max_steps,
        thoughts: shown.method != Method::Act,
        decoding: Decoding::default(),
        history: Vec::new(),
    });
    match dialogue(shown, &setup).begin(&Question::new("question", question, Vec::new())) {
        Turn::Ask(request) => Ok(request),
        Turn::Use(_) | Turn::Stop(_) => {
            Err(Failure::unexpected("this question needs no request", "omit --question to see the prompt"))
        }
    }
}

fn dialogue(shown: &Preview, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
    match shown.method {
        Method::Standard | Method::Cot => Box::new(Direct::new(setup, shown.method == Method::Cot, false)),
        _ => shown.protocol.dialogue(setup),
    }
}

fn print_request(args: &Args, shown: &Preview, request: &Request) -> anyhow::Result<()> {
    let (sha256, chars) = (request.prompt.sha256(), request.prompt.chars());
    let mut out = stdout();
    if args.json {
        let (key, content) = request.prompt.to_json();
        let mut line = json!({
            "prompt": args.prompt, "name": shown.source.name(), "protocol": args.protocol, "method": args.method,
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

fn print_frame(args: &Args, shown: &Preview) -> anyhow::Result<()> {
    let Rendered { sha256, chars, exemplars, .. } = &shown.rendered;
    let text = &shown.rendered.stored;
    let mut out = stdout();
    if args.json {
        let line = json!({
            "prompt": args.prompt, "name": shown.source.name(), "protocol": args.protocol, "method": args.method,
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
