//! Messages for people, on standard error, and lines of input, which people type or which come from a file or a program.

use crate::analysis::report::console::stderr;
use crate::analysis::report::{View, wrapped};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader, Stdin};

/// Writes one message. It does not stop if the terminal is gone.
pub(super) fn say(message: impl Display) {
    // In one piece, so that messages do not mix.
    let _ = stderr().write_all(format!("{message}\n").as_bytes());
}

/// Writes one message in lines of the terminal's width, where there is a terminal or a width that somebody set. A message with a
/// command stays on one line, so that the command can be copied.
pub(super) fn say_wrapped(message: impl Display) {
    let message = message.to_string();
    match View::of_stderr().filter(|_| !message.contains("wikitrail ")) {
        Some(View { width, .. }) => say(wrapped(&message, width, "").trim_end()),
        None => say(message),
    }
}

pub(super) enum Lines {
    /// A person types them at this prompt. The editor is absent while one is being typed.
    Typed(Option<DefaultEditor>, &'static str),
    Piped(BufReader<Stdin>),
}

impl Lines {
    /// Those of standard input; `how` is said to a person at a terminal.
    pub(super) fn new(prompt: &'static str, how: &str) -> anyhow::Result<Self> {
        if !std::io::stdin().is_terminal() {
            return Ok(Self::Piped(BufReader::new(tokio::io::stdin())));
        }
        say(how);
        Ok(Self::Typed(Some(DefaultEditor::new()?), prompt))
    }

    pub(super) async fn next(&mut self) -> anyhow::Result<Option<String>> {
        match self {
            Self::Typed(editor, prompt) => typed_line(editor, prompt).await,
            Self::Piped(lines) => loop {
                match input_line(lines).await? {
                    None => return Ok(None),
                    Some(InputLine::Text(line)) => return Ok(Some(line)),
                    Some(InputLine::Bad { message, .. }) => say(format_args!("error: {message}")),
                }
            },
        }
    }
}

/// Longest line in bytes; an action is far shorter.
const MAX_LINE: usize = 1 << 20;

/// A line, or why it is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InputLine {
    /// Its text without the line end.
    Text(String),
    /// Its bytes are not UTF-8, or it is longer than any action and the rest of it was passed over.
    Bad { class: &'static str, message: &'static str },
}

/// The next line of input; nothing at its end.
pub(super) async fn input_line(input: &mut BufReader<impl AsyncRead + Unpin>) -> std::io::Result<Option<InputLine>> {
    let mut bytes = Vec::new();
    if piece(input, &mut bytes).await? == 0 {
        return Ok(None);
    }
    if bytes.len() > MAX_LINE {
        while bytes.last() != Some(&b'\n') {
            bytes.clear();
            if piece(input, &mut bytes).await? == 0 {
                break;
            }
        }
        return Ok(Some(InputLine::Bad { class: "length", message: "the line is longer than 1 MiB" }));
    }
    Ok(Some(match String::from_utf8(bytes) {
        Ok(text) => {
            let text = text.strip_suffix('\n').unwrap_or(&text);
            InputLine::Text(text.strip_suffix('\r').unwrap_or(text).to_owned())
        }
        Err(_) => InputLine::Bad { class: "encoding", message: "the line is not UTF-8" },
    }))
}

async fn piece(input: &mut BufReader<impl AsyncRead + Unpin>, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
    input.take(MAX_LINE as u64 + 1).read_until(b'\n', bytes).await
}

/// The next line that a person types; nothing at the end. The editor is absent while a line is being typed.
pub(super) async fn typed_line(
    place: &mut Option<DefaultEditor>,
    prompt: &'static str,
) -> anyhow::Result<Option<String>> {
    while let Some(mut editor) = place.take() {
        // The editor waits for keys, so it does so on a thread of its own.
        let (mut back, line) = tokio::task::spawn_blocking(move || {
            let line = editor.readline(prompt);
            (editor, line)
        })
        .await?;
        if let Ok(line) = &line {
            // A line that cannot be remembered can still be used.
            let _ = back.add_history_entry(line.as_str());
        }
        *place = Some(back);
        match line {
            Ok(line) => return Ok(Some(line)),
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::{InputLine, MAX_LINE, input_line};
    use tokio::io::BufReader;

    #[tokio::test]
    async fn bad_lines_do_not_stop_the_good_ones() {
        let long = "x".repeat(3 * MAX_LINE);
        let input = [b"a\r\n\n\xff\n".as_slice(), long.as_bytes(), b"\nlast"].concat();
        let mut lines = BufReader::new(input.as_slice());
        let mut read = Vec::new();
        while let Some(line) = input_line(&mut lines).await.expect("memory does not fail") {
            read.push(line);
        }
        let kinds = read.iter().map(|line| match line {
            InputLine::Text(text) => text.as_str(),
            InputLine::Bad { class, .. } => class,
        });
        assert_eq!(kinds.collect::<Vec<_>>(), ["a", "", "encoding", "length", "last"]);
    }
}
