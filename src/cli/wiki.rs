//! `wiki`: the tool by hand, for people and for other agents.

use super::config;
use super::failure::Failure;
use super::flags::{OfWiki, TypedSettings};
use super::output_file::json_line;
use super::say::{InputLine, input_line, say, typed_line};
use crate::base::Tool;
use crate::base::python::lower_first;
use crate::base::text::{counted, visible_line};
use crate::runner::one_agent;
use crate::wikipedia::{Observation, Session, SessionError, SessionOptions, SessionState};
use rustyline::DefaultEditor;
use serde::Serialize;
use std::io::{IsTerminal as _, Write};
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;
use tokio::io::{AsyncRead, BufReader};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Open a page by its title, or list similar titles.
    Search(SearchArgs),
    /// Find the sentences of a page that contain a keyword.
    Lookup(LookupArgs),
    /// Use the tool action by action: `search[X]`, `lookup[y]`, `finish[z]`.
    Session(SessionArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct SearchArgs {
    /// What to search for.
    #[arg(allow_hyphen_values = true)]
    query: String,
    /// Print one JSON object instead of the observation.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    wiki: TypedSettings<OfWiki>,
}

#[derive(Debug, clap::Args)]
pub(super) struct LookupArgs {
    /// The page to open.
    title: String,
    /// Keyword to look for, in any case.
    keyword: String,
    /// Print all results instead of the first.
    #[arg(long)]
    all: bool,
    /// Print one JSON object instead of the observations.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    wiki: TypedSettings<OfWiki>,
}

#[derive(Debug, clap::Args)]
pub(super) struct SessionArgs {
    /// Read one action per line from stdin and write one JSON object for each; the line `reset` starts over.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    wiki: TypedSettings<OfWiki>,
}

pub(super) async fn execute(command: Command, out: &mut (impl Write + Send)) -> anyhow::Result<u8> {
    match command {
        Command::Search(args) => search(&args, out).await?,
        Command::Lookup(args) => lookup(&args, out).await?,
        Command::Session(args) => {
            let start = starter(&args.wiki)?;
            if args.json {
                run_script(tokio::io::stdin(), out, start).await?;
            } else if std::io::stdin().is_terminal() {
                run_terminal(out, start).await?;
            } else {
                run_plain(tokio::io::stdin(), out, start).await?;
            }
        }
    }
    Ok(0)
}

fn starter(args: &TypedSettings<OfWiki>) -> anyhow::Result<impl Fn() -> Session + Send + Sync + use<>> {
    let settings = config::completed(args)?.variant()?;
    let source = one_agent::source(&settings)?;
    let (compat, wording) = one_agent::semantics(&settings);
    let options = SessionOptions { wording: wording.unwrap_or_default(), ..SessionOptions::default() };
    Ok(move || Session::new(Arc::clone(&source), compat, options))
}

async fn search(args: &SearchArgs, out: &mut (impl Write + Send)) -> anyhow::Result<()> {
    let mut session = starter(&args.wiki)?();
    let observation = session.call(Tool::Search, &args.query).await.map_err(failed)?;
    if args.json {
        let Observation { text, provenance, note, missed } = observation;
        let value = serde_json::json!({
            "query": args.query, "observation": text, "page_chars": session.state().page_chars, "missed": missed,
            "note": note, "provenance": provenance,
        });
        return Ok(json_line(out, &value)?);
    }
    Ok(writeln!(out, "{}", observation.text)?)
}

async fn lookup(args: &LookupArgs, out: &mut (impl Write + Send)) -> anyhow::Result<()> {
    let mut session = starter(&args.wiki)?();
    let opened = session.call(Tool::Search, &args.title).await.map_err(failed)?;
    if session.state().page_chars.is_none() {
        return Err(Failure::bad_input(opened.text, "`wiki search` lists similar titles"));
    }
    let mut results = Vec::new();
    loop {
        let before = session.state().lookup_cnt.unwrap_or(0);
        let observation = session.call(Tool::Lookup, &args.keyword).await.map_err(failed)?;
        let state = session.state();
        let found = state.lookup_cnt.unwrap_or(0) > before;
        if found || results.is_empty() {
            results.push(observation.text);
        }
        if !args.all || state.lookup_cnt >= state.lookup_len {
            break;
        }
    }
    if args.json {
        let matches = session.state().lookup_len;
        let value = serde_json::json!({
            "title": args.title, "keyword": args.keyword, "matches": matches, "observations": results,
            "provenance": opened.provenance,
        });
        return Ok(json_line(out, &value)?);
    }
    for result in results {
        writeln!(out, "{}", result.trim_end_matches('\n'))?;
    }
    Ok(())
}

fn failed(error: SessionError) -> anyhow::Error {
    let hint = error.hint().unwrap_or_else(|| "try again later".to_owned());
    Failure::unexpected(error, hint)
}

// The tool for a person: a prompt, line editing, and help.

const PROMPT: &str = "wiki> ";
const HELP: &str = "\
search[X]   open the page X, or see similar titles
lookup[y]   the next sentence of the open page that contains y
finish[z]   give an answer; then only `reset` continues
reset       start over
state       show the title of the open page and the position of the lookup
help        this text
quit        leave (also Ctrl-D)
";

/// Runs at a terminal. The history ends with the program.
async fn run_terminal(out: &mut impl Write, start: impl Fn() -> Session) -> anyhow::Result<()> {
    let mut editor = Some(DefaultEditor::new()?);
    let mut session = start();
    writeln!(out, "{}`help` lists what else there is.", session.observation())?;
    out.flush()?;
    while let Some(line) = typed_line(&mut editor, PROMPT).await? {
        if let Break(()) = answer_line(&line, &mut session, &start, out).await? {
            break;
        }
    }
    Ok(())
}

/// The same without a terminal: lines in, observations out.
async fn run_plain(
    input: impl AsyncRead + Unpin,
    out: &mut impl Write,
    start: impl Fn() -> Session,
) -> anyhow::Result<()> {
    let mut lines = BufReader::new(input);
    let mut session = start();
    while let Some(line) = input_line(&mut lines).await? {
        match line {
            InputLine::Text(line) => {
                if let Break(()) = answer_line(&line, &mut session, &start, out).await? {
                    break;
                }
            }
            InputLine::Bad { message, .. } => writeln!(out, "error: {message}")?,
        }
        out.flush()?;
    }
    Ok(())
}

async fn answer_line(
    line: &str,
    session: &mut Session,
    start: &impl Fn() -> Session,
    out: &mut impl Write,
) -> anyhow::Result<ControlFlow<()>> {
    match line.trim() {
        "" => {}
        "quit" | "exit" => return Ok(Break(())),
        "help" | "?" => write!(out, "{HELP}")?,
        "reset" => {
            *session = start();
            write!(out, "{}", session.observation())?;
        }
        "state" => show_state(session, out)?,
        action => act(action, session, out).await?,
    }
    out.flush()?;
    Ok(Continue(()))
}

fn show_state(session: &Session, out: &mut impl Write) -> std::io::Result<()> {
    let state = session.state();
    match session.title().zip(state.page_chars) {
        Some((title, chars)) => {
            writeln!(out, "open page: {}, {}", visible_line(title, 200), counted(chars, "character"))?;
        }
        None => writeln!(out, "open page: none")?,
    }
    match (state.lookup_keyword, state.lookup_cnt, state.lookup_len) {
        (Some(keyword), Some(shown), Some(found)) => {
            let keyword = visible_line(&keyword, 200);
            writeln!(out, "lookup: `{keyword}`, {shown} of {} shown", counted(found, "sentence"))?;
        }
        _ => writeln!(out, "lookup: none")?,
    }
    if let Some(answer) = state.answer {
        writeln!(out, "answer: {}", visible_line(&answer, 200))?;
    }
    writeln!(out, "steps: {}", state.steps)
}

async fn act(action: &str, session: &mut Session, out: &mut impl Write) -> anyhow::Result<()> {
    // People write `Search[X]` as models do.
    let lowered = lower_first(action);
    let (tool, input) = Tool::parse_action(&lowered);
    match session.call(tool, input).await {
        Ok(observation) => {
            writeln!(out, "{}", observation.text.trim_end_matches('\n'))?;
            if let Some((name, rest)) = lowered.split_once(' ')
                && ["search", "lookup", "finish"].contains(&name)
            {
                say(format_args!("hint: write {name}[{}]; `help` lists the actions", visible_line(rest.trim(), 80)));
            }
            if let Some(note) = observation.note {
                writeln!(out, "({note})")?;
            }
        }
        Err(error) => {
            writeln!(out, "error: {error}")?;
            if let Some(hint) = error.hint() {
                writeln!(out, "hint: {hint}")?;
            }
        }
    }
    Ok(())
}

// The script form: one action a line in, one JSON object a line out.

#[derive(Serialize)]
struct Row<'a> {
    /// What the tool answers; where it failed, what it answered last.
    observation: &'a str,
    done: bool,
    error: Option<ScriptError>,
    state: SessionState,
}

#[derive(Serialize)]
struct ScriptError {
    /// `page` where the paper's environment raises, `source` where pages could not be had, `input` for unusable lines.
    kind: &'static str,
    /// Class of the exception, or kind of the failure.
    #[serde(rename = "type")]
    class: &'static str,
    message: String,
}

impl From<SessionError> for ScriptError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Page(error) => Self { kind: "page", class: error.kind(), message: error.message() },
            SessionError::Source(error) => Self { kind: "source", class: error.kind(), message: error.to_string() },
        }
    }
}

/// The action of a line: a JSON string is decoded, so that an action with a line end in it can be given.
fn unquoted(line: String) -> String {
    if line.starts_with('"') { serde_json::from_str(&line).unwrap_or(line) } else { line }
}

/// Carries out actions until the input ends. A line `reset` starts a new session and is not answered.
async fn run_script(
    input: impl AsyncRead + Unpin,
    out: &mut impl Write,
    start: impl Fn() -> Session,
) -> anyhow::Result<()> {
    let mut lines = BufReader::new(input);
    let mut session = start();
    while let Some(line) = input_line(&mut lines).await? {
        let error = match line {
            InputLine::Text(text) if text.trim() == "reset" => {
                session = start();
                continue;
            }
            InputLine::Text(text) => {
                let text = unquoted(text);
                let (tool, input) = Tool::parse_action(&text);
                session.call(tool, input).await.err().map(ScriptError::from)
            }
            InputLine::Bad { class, message } => {
                Some(ScriptError { kind: "input", class, message: message.to_owned() })
            }
        };
        let row = Row { observation: session.observation(), done: session.done(), error, state: session.state() };
        json_line(out, &row)?;
        out.flush()?;
    }
    Ok(())
}

#[cfg(all(test, feature = "index"))]
mod tests;
