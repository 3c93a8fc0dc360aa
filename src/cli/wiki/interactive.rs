//! The tool for a person: a prompt, line editing, and help.

use super::lines::{InputLine, InputLines, typed_line};
use crate::cli::say::say;
use crate::types::Tool;
use crate::types::text::visible_line;
use crate::wiki::Session;
use rustyline::DefaultEditor;
use std::io::Write;
use std::ops::ControlFlow::{self, Break, Continue};
use tokio::io::AsyncRead;

const PROMPT: &str = "wiki> ";
const HELP: &str = "\
search[X]   open the page X, or see similar titles
lookup[y]   the next sentence of the open page that contains y
finish[z]   give an answer; then only `reset` continues
reset       start over
state       show the open page and the position of the lookup
help        this text
quit        leave (also Ctrl-D)
";

/// Runs at a terminal. The history ends with the program.
pub(super) async fn run_terminal(out: &mut impl Write, start: impl Fn() -> Session) -> anyhow::Result<()> {
    let mut editor = Some(DefaultEditor::new()?);
    let mut session = start();
    writeln!(out, "{}`help` lists what else there is.", session.observation())?;
    out.flush()?;
    while let Some(line) = typed_line(&mut editor, PROMPT).await? {
        if !line.trim().is_empty()
            && let Break(()) = answer_line(&line, &mut session, &start, out).await?
        {
            return Ok(());
        }
    }
    Ok(())
}

/// The same without a terminal: lines in, observations out.
pub(super) async fn run_plain(
    input: impl AsyncRead + Unpin,
    out: &mut impl Write,
    start: impl Fn() -> Session,
) -> anyhow::Result<()> {
    let mut lines = InputLines::new(input);
    let mut session = start();
    while let Some(line) = lines.next().await? {
        match line {
            InputLine::Text(line) if line.trim().is_empty() => {}
            InputLine::Text(line) => {
                if let Break(()) = answer_line(&line, &mut session, &start, out).await? {
                    return Ok(());
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
        "quit" | "exit" => return Ok(Break(())),
        "help" | "?" => write!(out, "{HELP}")?,
        "reset" => {
            *session = start();
            write!(out, "{}", session.observation())?;
        }
        "state" => writeln!(out, "{}", serde_json::to_string(&session.state())?)?,
        action => act(action, session, out).await?,
    }
    out.flush()?;
    Ok(Continue(()))
}

async fn act(action: &str, session: &mut Session, out: &mut impl Write) -> anyhow::Result<()> {
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

/// People write `Search[X]` as models do.
fn lower_first(action: &str) -> String {
    let mut chars = action.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
