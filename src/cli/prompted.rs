//! Lines that a person types at a prompt, or that come from a file or a program.

use super::say::say;
use super::wiki::{InputLine, InputLines as Plain, typed_line};
use rustyline::DefaultEditor;
use std::io::IsTerminal as _;
use tokio::io::Stdin;

pub(super) enum Lines {
    /// A person types them at this prompt. The editor is absent while one is being typed.
    Typed(Option<DefaultEditor>, &'static str),
    /// They come from a file or a program.
    Piped(Plain<Stdin>),
}

impl Lines {
    /// Those of standard input; `how` is said to a person at a terminal.
    pub(super) fn new(prompt: &'static str, how: &str) -> anyhow::Result<Self> {
        if !std::io::stdin().is_terminal() {
            return Ok(Self::Piped(Plain::new(tokio::io::stdin())));
        }
        say(how);
        Ok(Self::Typed(Some(DefaultEditor::new()?), prompt))
    }

    pub(super) async fn next(&mut self) -> anyhow::Result<Option<String>> {
        match self {
            Self::Typed(editor, prompt) => typed_line(editor, prompt).await,
            Self::Piped(lines) => loop {
                match lines.next().await? {
                    None => return Ok(None),
                    Some(InputLine::Text(line)) => return Ok(Some(line)),
                    Some(InputLine::Bad { message, .. }) => say(format_args!("error: {message}")),
                }
            },
        }
    }
}
