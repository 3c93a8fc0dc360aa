//! The questions of a conversation, from a terminal or from anywhere else.

use crate::cli::say::say;
use crate::cli::wiki::lines::{Line, Lines as Plain, typed};
use rustyline::DefaultEditor;
use std::io::IsTerminal as _;
use tokio::io::Stdin;

const PROMPT: &str = "ask> ";

pub(super) enum Lines {
    /// A person types them. Absent while one is being typed.
    Typed(Option<DefaultEditor>),
    /// They come from a file or a program.
    Piped(Plain<Stdin>),
}

impl Lines {
    pub(super) fn new() -> anyhow::Result<Self> {
        if !std::io::stdin().is_terminal() {
            return Ok(Self::Piped(Plain::new(tokio::io::stdin())));
        }
        say("an empty line or Ctrl-D ends the conversation");
        Ok(Self::Typed(Some(DefaultEditor::new()?)))
    }

    /// The next line; nothing at the end.
    pub(super) async fn next(&mut self) -> anyhow::Result<Option<String>> {
        match self {
            Self::Typed(editor) => typed(editor, PROMPT).await,
            Self::Piped(lines) => loop {
                match lines.next().await? {
                    None => return Ok(None),
                    Some(Line::Text(line)) => return Ok(Some(line)),
                    Some(Line::Bad { message, .. }) => say(format_args!("error: {message}")),
                }
            },
        }
    }
}
