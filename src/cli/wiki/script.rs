//! The script form: one action a line in, one JSON object a line out.

use super::lines::{InputLine, InputLines};
use crate::cli::output_file::json_line;
use crate::types::Tool;
use crate::wiki::{Session, SessionError, SessionState};
use serde::Serialize;
use std::io::Write;
use tokio::io::AsyncRead;

#[derive(Serialize)]
struct Row<'a> {
    /// What the tool answers; where it failed, what it answered last.
    observation: &'a str,
    /// Whether an answer was given.
    done: bool,
    error: Option<Fault>,
    state: SessionState,
}

#[derive(Serialize)]
struct Fault {
    /// `page` where the paper's environment raises, `source` where pages could not be had, `input` for unusable lines.
    kind: &'static str,
    /// Class of the exception, or kind of the failure.
    #[serde(rename = "type")]
    class: &'static str,
    message: String,
}

impl From<SessionError> for Fault {
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
pub(super) async fn run_script(
    input: impl AsyncRead + Unpin,
    out: &mut impl Write,
    start: impl Fn() -> Session,
) -> anyhow::Result<()> {
    let mut lines = InputLines::new(input);
    let mut session = start();
    while let Some(line) = lines.next().await? {
        let error = match line {
            InputLine::Text(text) if text.trim() == "reset" => {
                session = start();
                continue;
            }
            InputLine::Text(text) => {
                let text = unquoted(text);
                let (tool, input) = Tool::parse_action(&text);
                session.call(tool, input).await.err().map(Fault::from)
            }
            InputLine::Bad { class, message } => Some(Fault { kind: "input", class, message: message.to_owned() }),
        };
        let row = Row { observation: session.observation(), done: session.done(), error, state: session.state() };
        json_line(out, &row)?;
        out.flush()?;
    }
    Ok(())
}
