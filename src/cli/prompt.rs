//! `prompt`: lists, shows, writes, checks and compares prompts.

use super::failure::{self, Failure};
use super::flags::{method, options};
use super::output_file::{json_line, unwritable};
use super::say::say;
use crate::analysis::report::console::{binary_stdout, stderr, stdout, stdout_is_terminal};
use crate::analysis::report::{View, counted};
use crate::base::line_diff::{AROUND, LineDiff, line_diff};
use crate::base::text::{shell_word, visible, visible_line};
use crate::base::{Method, Prompt, Question, Request, Tool, ToolSet, sha256_hex};
use crate::prompting::protocol::direct::Direct;
use crate::prompting::protocol::{self, Dialogue, Layout, OptionError, Options, Protocol, Setup, Turn};
use crate::prompting::{
    self, Checked, Exemplar, ExemplarOrder, PromptError, PromptSource, RenderSettings, Rendered, texts,
};
use crate::runner::experiment::{VariantSettings, shipped};
use crate::runner::{find_protocol, usual_protocol};
use anyhow::Context as _;
use serde_json::json;
use similar::ChangeTag;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Write a prompt file to edit, made from another one.
    New(NewArgs),
    /// List the built-in prompts and protocol texts, and those in ./prompts.
    List(ListArgs),
    /// Print a prompt as the model sees it, or the first request for a question.
    Show(ShowArgs),
    /// Show what differs between two prompts as the model sees them.
    Diff(DiffArgs),
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
        Command::New(args) => new_prompt(&args),
        Command::List(args) => list(&args),
        Command::Show(args) => show(&args),
        Command::Diff(args) => diff_prompts(&args),
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
        let origin = if Path::new(&name).exists() { "file" } else { "built in" };
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
                let (own, language) = (source.name(), source.language());
                let line = json!({ "prompt": name, "name": own, "language": language, "origin": origin });
                (format!("{name:<28} {language:<3} text                    {origin}"), line)
            }
            Ok(Checked::Texts(file)) => {
                let (language, sections) = (&file.language, file.sections().collect::<Vec<_>>());
                let line = json!({ "texts": name, "language": language, "sections": sections, "origin": origin });
                let (language, count) = (language.as_deref().unwrap_or("-"), counted(sections.len(), "protocol"));
                (format!("{name:<28} {language:<3} texts     {count:>12}  {origin}"), line)
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
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_prompt = |name: &String| Path::new(name).extension().is_some_and(|end| end == "toml" || end == "txt");
    let mut names: Vec<String> = names.filter(is_prompt).map(|name| format!("{folder}/{name}")).collect();
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
        let (steps, act) = (protocol.profile().max_steps, protocol.profile().acts_without_thoughts);
        if args.json {
            let line = json!({ "protocol": id, "form": form, "max_steps": steps, "act": act, "options": options });
            writeln!(out, "{line}")?;
            continue;
        }
        let methods = if act { "react, act" } else { "react" };
        // One option per line, to fit 80 columns.
        let (steps, first) = (counted(steps, "step"), options.first().unwrap_or(&""));
        let head = format!("{id:<12} {form:<8} {steps:>8}  {methods:<10} {first}");
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

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct NewArgs {
    /// The file to write, which ends in .toml; the prompt is named after it. An existing file is not replaced.
    #[arg(value_name = "FILE")]
    file: String,
    /// Prompt that it is made from: a prompt file (TOML), built in or your own, or a text whose exemplars have numbered steps.
    #[arg(long, value_name = "FILE[#KEY]", default_value = "prompts/hotpotqa.toml")]
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
    let passages = made.prompt.exemplars.iter().flat_map(Exemplar::tools).any(|tool| tool == Tool::Passages);
    let tools = if passages { " --tools passages" } else { "" };
    say(format_args!("next:\n  wikitrail prompt check {file}\n  wikitrail run {claims}--prompt {file}{tools}"));
    Ok(failure::OK)
}

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
        _ => unwritable(&shown, &error),
    };
    let mut file = File::create_new(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(|error| {
        // Half a prompt is none; the first error is the one to report.
        let _ = std::fs::remove_file(path);
        failed(error)
    })
}

/// How a prompt is rendered.
#[derive(Debug, clap::Args)]
pub(super) struct How {
    /// File with the instruction before the exemplars of a JSON prompt [default: none].
    #[arg(long, value_name = "FILE")]
    pub(super) instruction: Option<String>,
    /// Model to render for, such as openai:NAME: it decides the protocol unless --protocol does [default: baseline].
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(super) model: Option<String>,
    /// Protocol to render for; `wikitrail prompt protocols` lists them [default: that of the model, react-paper for the baseline].
    #[arg(long, value_name = "ID", value_parser = protocol::IDS)]
    pub(super) protocol: Option<String>,
    /// Option of the protocol; may be repeated.
    #[arg(long, value_name = "K=V")]
    pub(super) option: Vec<String>,
    /// Tools that the agent is offered [default: search,lookup].
    #[arg(long, value_name = "TOOLS", value_parser = ToolSet::ALL.map(ToolSet::name))]
    pub(super) tools: Option<String>,
    /// File with protocol texts, in the form of `wikitrail docs protocol-texts` [default: built in, in the prompt's language].
    #[arg(long, value_name = "FILE")]
    pub(super) texts: Option<String>,
    /// Prompting method; of two in a row, the first.
    #[arg(long, value_name = "NAME", default_value = "react", value_parser = method())]
    pub(super) method: Method,
    /// Label before the question [default: the prompt's].
    #[arg(long, value_name = "LABEL")]
    pub(super) question_label: Option<String>,
    /// Use only the first N exemplars [default: all].
    #[arg(long, value_name = "N")]
    pub(super) shots: Option<usize>,
    /// Step limit in the texts [default: the protocol's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(super) max_steps: Option<u16>,
}

pub(super) struct Preview {
    pub(super) source: PromptSource,
    /// What a chat model is sent, where that is another protocol and nothing was said of either.
    chat: Option<&'static str>,
    protocol: Arc<dyn Protocol>,
    /// The method of the first part.
    method: Method,
    max_steps: usize,
    pub(super) rendered: Rendered,
}

impl How {
    pub(super) fn preview(&self, prompt: &str) -> anyhow::Result<Preview> {
        let mut options = options(&self.option)?;
        let other = self.tools.as_ref().filter(|tools| *tools != ToolSet::default().name());
        options.0.extend(other.map(|tools| (protocol::TOOLS.to_owned(), tools.clone())));
        let method = match self.method {
            Method::ReactThenCotSc => Method::React,
            Method::CotSc | Method::CotScThenReact => Method::Cot,
            method => method,
        };
        let source = prompting::load(prompt, self.instruction.as_deref(), &shipped::file)?;
        let usual = |model: &str| {
            let (model, tools) = (Some(model.to_owned()), self.tools.clone());
            usual_protocol(&VariantSettings { tools, model, ..VariantSettings::default() }, &source)
        };
        let (of_model, of_chat) = (usual(self.model.as_deref().unwrap_or("baseline"))?, usual("openai:NAME")?);
        let id = self.protocol.as_deref().unwrap_or(of_model);
        let is_open = self.protocol.is_none() && self.model.is_none() && method.agent().is_some();
        let chat = Some(of_chat).filter(|chat| *chat != id && is_open);
        let protocol = find_protocol(id, &options, None)?;
        let section = texts::section(id, &options);
        let texts = texts::load(self.texts.as_deref(), source.language(), &section, &shipped::file)?;
        let max_steps = self.max_steps.map_or(protocol.profile().max_steps, usize::from);
        let (shots, order) = (self.shots, ExemplarOrder::default());
        let settings = RenderSettings { protocol: protocol.as_ref(), method, shots, order, max_steps };
        let rendered = prompting::render(&source, &texts, &settings)?;
        Ok(Preview { source, chat, protocol, method, max_steps, rendered })
    }

    pub(super) fn request(&self, shown: &Preview, question: &str) -> anyhow::Result<Request> {
        let label = self.question_label.as_deref().or(shown.source.question_label()).unwrap_or("Question");
        let setup = Setup::new(shown.rendered.frame.clone(), label, shown.max_steps);
        let setup = Arc::new(Setup { thoughts: shown.method != Method::Act, ..setup });
        match preview_dialogue(shown, &setup).begin(&Question::new("question", question, Vec::new())) {
            Turn::Ask(request) => Ok(request),
            Turn::Use(_) | Turn::Stop(_) => {
                Err(Failure::unexpected("this question needs no request", "omit --question to see the prompt"))
            }
        }
    }
}

fn preview_dialogue(shown: &Preview, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
    match shown.method {
        Method::Standard | Method::Cot => Box::new(Direct::new(setup, shown.method == Method::Cot, false)),
        _ => shown.protocol.dialogue(setup),
    }
}

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
    #[arg(long, conflicts_with_all = ["instruction", "model", "protocol", "option", "texts", "method", "question", "question_label", "shots",
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
            "prompt": args.prompt, "name": shown.source.name(), "protocol": shown.protocol.id(), "method": args.how.method.name(),
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
    let ends = matches!(request.prompt, Prompt::Messages(_)) || request.prompt.to_text().ends_with('\n');
    let stop = json!(request.stop);
    say_below(ends, shown, &format!("sha256 {sha256}, {chars} characters, stop {stop}"))
}

/// A line about the prompt that was printed, and what a chat model is sent instead.
fn say_below(ends: bool, shown: &Preview, line: &str) -> anyhow::Result<()> {
    let mut err = stderr();
    // The text itself has no line break at its end.
    let start = if !ends && stdout_is_terminal() { "\n" } else { "" };
    writeln!(err, "{start}{line}").context("cannot write to stderr")?;
    if let Some(chat) = shown.chat {
        writeln!(err, "note: this is protocol {}; a chat model is sent --protocol {chat}", shown.protocol.id())?;
    }
    Ok(())
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
            "prompt": args.prompt, "name": shown.source.name(), "protocol": shown.protocol.id(), "method": args.how.method.name(),
            "sha256": sha256, "chars": chars, "exemplars": exemplars, "text": text,
        });
        writeln!(out, "{line}")?;
        return Ok(());
    }
    // Exactly the bytes that are stored and digested, so that `sha256sum` agrees.
    out.write_all(text.as_bytes())?;
    out.flush()?;
    let exemplars = exemplars.map_or_else(|| "a finished text".to_owned(), |n| counted(n, "exemplar"));
    say_below(text.ends_with('\n'), shown, &format!("sha256 {sha256}, {chars} characters, {exemplars}"))
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct DiffArgs {
    /// The older prompt: a file (TOML or plain text), or a key of the paper's JSON.
    #[arg(value_name = "A")]
    a: String,
    /// The newer one.
    #[arg(value_name = "B")]
    b: String,
    #[command(flatten)]
    how: How,
    /// The question in the requests that are compared.
    #[arg(long, value_name = "TEXT", default_value = "{question}")]
    question: String,
    /// Compare the files, not what the model sees.
    #[arg(long, conflicts_with_all = ["instruction", "model", "protocol", "option", "texts", "method", "question", "question_label", "shots",
        "max_steps"])]
    source: bool,
    /// Print one JSON object: `a`, `b`, `equal`, `removed`, `added` and the `diff`.
    #[arg(long)]
    json: bool,
}

struct Side<'a> {
    prompt: &'a str,
    /// That it was rendered for; none of a file.
    protocol: &'static str,
    text: String,
    sha256: String,
}

pub(super) fn diff_prompts(args: &DiffArgs) -> anyhow::Result<u8> {
    let [a, b] = [side(args, &args.a)?, side(args, &args.b)?];
    let diff = line_diff(&a.text, &b.text);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let (removed, added) = (count(ChangeTag::Delete), count(ChangeTag::Insert));
    let equal = removed + added == 0;
    if args.json {
        let of = |side: &Side<'_>| json!({ "prompt": side.prompt, "sha256": side.sha256 });
        let plain = plain(&a, &b, &diff);
        let line =
            json!({ "a": of(&a), "b": of(&b), "equal": equal, "removed": removed, "added": added, "diff": plain });
        json_line(&mut stdout(), &line)?;
    } else if equal {
        let how =
            if args.source { String::new() } else { format!(" under {}, {}", a.protocol, args.how.method.typed()) };
        say(format_args!("no difference{how}"));
    } else if View::of_stdout().colour {
        stdout().styled().write_all(coloured(&a, &b, &diff).as_bytes())?;
    } else {
        stdout().write_all(plain(&a, &b, &diff).as_bytes())?;
    }
    Ok(if equal { failure::OK } else { failure::DIFFERENCE })
}

fn side<'a>(args: &DiffArgs, prompt: &'a str) -> anyhow::Result<Side<'a>> {
    let (text, protocol) = if args.source {
        (String::from_utf8_lossy(&prompting::source(prompt, &shipped::file)?).into_owned(), "")
    } else {
        seen_text(args, prompt)?
    };
    let sha256 = sha256_hex([text.as_bytes()]);
    Ok(Side { prompt, protocol, text, sha256 })
}

/// The first request, and what is said on later occasions, each below its name in brackets; and the protocol.
fn seen_text(args: &DiffArgs, prompt: &str) -> anyhow::Result<(String, &'static str)> {
    let shown = args.how.preview(prompt)?;
    let mut text = Vec::new();
    write_prompt(&mut text, &args.how.request(&shown, &args.question)?)?;
    let mut text = String::from_utf8_lossy(&text).into_owned();
    for (occasion, said) in &shown.rendered.frame.texts {
        // Writing to a String cannot fail.
        let _ = write!(text, "{}[{occasion}]\n{said}", if text.ends_with('\n') { "" } else { "\n" });
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok((text, shown.protocol.id()))
}

fn plain<'d>(a: &Side<'_>, b: &Side<'_>, diff: &'d LineDiff<'d>) -> String {
    let [a, b] = [a, b].map(|side| visible_line(side.prompt, 200));
    diff.unified_diff().context_radius(AROUND).header(&a, &b).to_string()
}

/// The same in colours, with the words that changed in bold.
fn coloured<'d>(a: &Side<'_>, b: &Side<'_>, diff: &'d LineDiff<'d>) -> String {
    let [red, green, cyan, bold, reset] = ["\u{1b}[31m", "\u{1b}[32m", "\u{1b}[36m", "\u{1b}[1m", "\u{1b}[0m"];
    let mut text = String::new();
    for (mark, style, side) in [("---", red, a), ("+++", green, b)] {
        let _ = writeln!(text, "{style}{mark} {}{reset}", visible_line(side.prompt, 200));
    }
    for hunk in diff.grouped_ops(AROUND) {
        let _ = writeln!(text, "{cyan}{}{reset}", similar::udiff::UnifiedHunkHeader::new(&hunk));
        for change in hunk.iter().flat_map(|op| diff.iter_inline_changes(op)) {
            let (mark, style) = match change.tag() {
                ChangeTag::Delete => ("-", red),
                ChangeTag::Insert => ("+", green),
                ChangeTag::Equal => (" ", ""),
            };
            let _ = write!(text, "{style}{mark}");
            for (changed, words) in change.iter_strings_lossy() {
                // Nothing of the prompt's own may be a style.
                let words = visible(words.trim_end_matches(['\n', '\r'])).into_owned();
                let _ = if changed { write!(text, "{bold}{words}{reset}{style}") } else { write!(text, "{words}") };
            }
            let _ = writeln!(text, "{}", if style.is_empty() { "" } else { reset });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Side, coloured, line_diff};

    #[test]
    fn changed_words_are_marked_and_nothing_else_is_a_style() {
        let side =
            |text: &str| Side { prompt: "p\u{1b}[2J", protocol: "", text: text.to_owned(), sha256: String::new() };
        let (a, b) = (side("One\nUse one action now.\n"), side("One\nUse \u{1b}[1mtwo actions now.\n"));
        let diff = line_diff(&a.text, &b.text);
        let text = coloured(&a, &b, &diff);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "\u{1b}[31m--- p\\u{1b}[2J\u{1b}[0m");
        assert_eq!(lines[3], " One");
        assert!(lines[4].starts_with("\u{1b}[31m-Use \u{1b}[1mone"), "{text:?}");
        assert!(lines[5].starts_with("\u{1b}[32m+Use \u{1b}[1m\\u{1b}[1mtwo"), "{text:?}");
        assert!(lines[4].ends_with(" now.\u{1b}[0m"), "{text:?}");
    }
}
