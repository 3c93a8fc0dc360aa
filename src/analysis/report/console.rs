//! The terminal: its streams, width and colours, wrapped lines, and figures as people read them.
//!
//! Text of pages, models, files and servers is hostile. Wherever it is printed, and whatever forgot to look at it, a
//! character that would move the cursor, name the window or turn the direction of writing is written as `\u001b`. JSON stays
//! JSON by that, with the same meaning.

use crate::base::text::{is_control, visible_line};
use std::io::{self, IsTerminal as _, Stderr, Stdout, Write};
use unicode_width::UnicodeWidthStr as _;

/// What our own pages are coloured with. Texts in them are escaped before.
const STYLES: [&str; 7] =
    ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[36m"];

/// First bytes of all characters that are escaped; most text has none of them, and much of it is written.
const BEGINS_CONTROL: [bool; 256] = {
    let mut begins = [false; 256];
    let mut byte = 0;
    while byte < begins.len() {
        begins[byte] = matches!(byte, 0..0x09 | 0x0b..0x20 | 0x7f | 0xc2 | 0xd8 | 0xe2 | 0xf3);
        byte += 1;
    }
    begins
};

/// A writer of text in which control characters are escaped.
#[derive(Debug)]
pub(crate) struct Escaped<W> {
    out: W,
    /// Whether our own styles pass.
    styles: bool,
    /// The beginning of a character or of a line end, whose rest has not come yet.
    begun: Vec<u8>,
}

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn stdout() -> Escaped<Stdout> {
    Escaped::over(io::stdout())
}

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn stderr() -> Escaped<Stderr> {
    Escaped::over(io::stderr())
}

/// For data that must stay as it is; not for a terminal.
pub(crate) fn binary_stdout() -> Stdout {
    stdout().out
}

pub(crate) fn stdout_is_terminal() -> bool {
    stdout().out.is_terminal()
}

pub(crate) fn stderr_is_terminal() -> bool {
    stderr().out.is_terminal()
}

impl<W: Write> Escaped<W> {
    fn over(out: W) -> Self {
        Self { out, styles: false, begun: Vec::new() }
    }

    /// The same for pages in our own styles.
    pub(crate) fn styled(self) -> Self {
        Self { styles: true, ..self }
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        let (mut written, mut at) = (0, 0);
        while let Some(step) = text.as_bytes()[at..].iter().position(|byte| BEGINS_CONTROL[usize::from(*byte)]) {
            at += step;
            let rest = &text[at..];
            let Some(c) = rest.chars().next() else { break };
            let style = STYLES.iter().find(|style| self.styles && rest.starts_with(**style));
            if let Some(passed) = style.copied().or_else(|| rest.starts_with("\r\n").then_some("\r\n")) {
                at += passed.len();
                continue;
            }
            if is_control(c) {
                self.out.write_all(&text.as_bytes()[written..at])?;
                // As JSON has it: two units beyond U+FFFF.
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(self.out, "\\u{unit:04x}")?;
                }
                written = at + c.len_utf8();
            }
            at += c.len_utf8();
        }
        self.out.write_all(&text.as_bytes()[written..])
    }
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let joined;
        let mut all = bytes;
        if !self.begun.is_empty() {
            joined = [std::mem::take(&mut self.begun).as_slice(), bytes].concat();
            all = &joined;
        }
        let mut left = all.len();
        for chunk in all.utf8_chunks() {
            let (valid, invalid) = (chunk.valid(), chunk.invalid());
            left -= valid.len() + invalid.len();
            let is_last = left == 0;
            match std::str::from_utf8(invalid) {
                Ok(_) if is_last && valid.ends_with('\r') => {
                    self.text(&valid[..valid.len() - 1])?;
                    self.begun = vec![b'\r'];
                }
                Ok(_) => self.text(valid)?,
                Err(error) => {
                    self.text(valid)?;
                    if is_last && error.error_len().is_none() {
                        self.begun = invalid.to_vec();
                    } else {
                        self.out.write_all("\u{fffd}".as_bytes())?;
                    }
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct View {
    /// Columns of the terminal. Episodes are laid out for at least 40.
    pub width: usize,
    pub colour: bool,
}

impl View {
    /// Width and colours of standard output, by `COLUMNS`, the terminal and `NO_COLOR` (<https://no-color.org>).
    pub(crate) fn of_stdout() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { width: columns().unwrap_or_else(textwrap::termwidth), colour: wanted && stdout_is_terminal() }
    }

    /// The same of standard error, without colours; nothing where its lines need not fit.
    pub(crate) fn of_stderr() -> Option<Self> {
        let width = columns().or_else(|| stderr_is_terminal().then(textwrap::termwidth))?;
        Some(Self { width, colour: false })
    }
}

fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0)
}

/// First fit takes linear time. The optimal algorithm takes more, on text that a model may make very long.
pub(super) fn wrapping<'a>(width: usize) -> textwrap::Options<'a> {
    textwrap::Options::new(width)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
}

/// A line of a list: a label in a column of that width, and its text, wrapped beside it between words only.
pub(crate) fn labelled(label: &str, text: &str, labels: usize, width: usize) -> String {
    let begin = format!("  {label:<labels$} ");
    let after = " ".repeat(labels + 3);
    let options = wrapping(width.max(40)).initial_indent(&begin).subsequent_indent(&after).break_words(false);
    let lines = textwrap::wrap(text, options);
    if lines.is_empty() { begin.trim_end().to_owned() + "\n" } else { lines.join("\n") + "\n" }
}

/// A line, wrapped between words. A command stays on one line, so that it can be copied.
pub(crate) fn wrapped(line: &str, width: usize, indent: &str) -> String {
    let line = visible_line(line, 2000);
    if line.trim_start().starts_with("wikitrail ") {
        return format!("{indent}{line}\n");
    }
    let after = format!("{indent}  ");
    let options = wrapping(width).initial_indent(indent).subsequent_indent(&after);
    textwrap::wrap(&line, options).iter().fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

/// A command whose lines end in a backslash where it goes on, as a shell reads it.
pub(super) fn wrapped_command(command: &str, width: usize, indent: &str) -> String {
    let mut text = indent.to_owned();
    let mut column = indent.width();
    for (at, word) in shell_words(command).enumerate() {
        let (word, room) = (word.trim_end(), width.saturating_sub(2));
        if at > 0 && column + 1 + word.width() > room {
            text = text + " \\\n" + indent + "  ";
            column = indent.width() + 2;
        } else if at > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += word.width();
    }
    text + "\n"
}

/// The words of a command as they are written. What stands in quotes is part of a word.
fn shell_words(command: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    command.split_inclusive(move |c: char| {
        let ends = c == ' ' && !quoted && !escaped;
        quoted ^= c == '\'' && !escaped;
        escaped = c == '\\' && !quoted && !escaped;
        ends
    })
}

/// A word that needs attention, for standard output.
#[cfg(feature = "index")]
pub(crate) fn yellow(word: &str) -> String {
    let style = anstyle::AnsiColor::Yellow.on_default();
    if View::of_stdout().colour { format!("{style}{word}{style:#}") } else { word.to_owned() }
}

pub(super) fn dash() -> String {
    "–".to_owned()
}

/// A share from 0 to 1 in per cent, with one decimal.
pub(in crate::analysis) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// A time in milliseconds: `25 ms`, `1.8 s`, `12 s`, `3 min 5 s`, `2 h 7 min`.
pub(crate) fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms} ms"),
        1..10 => format!("{seconds}.{} s", ms % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// How many there are in a time, so that the number says something: `4.0/s`, `3.2/min`, `12.5/h`.
pub(crate) fn rate(per_second: f64) -> String {
    let (number, unit) = match per_second {
        fast if fast >= 1.0 => (fast, "s"),
        slow if 60.0 * slow >= 1.0 => (60.0 * slow, "min"),
        slower => (3600.0 * slower, "h"),
    };
    // Three digits are as many as people read.
    let digits = usize::from(number < 100.0);
    format!("{number:.digits$}/{unit}")
}

#[cfg(test)]
mod tests {
    use super::{BEGINS_CONTROL, Escaped, duration, is_control, rate, wrapped_command};
    use std::io::Write as _;

    /// What is written of `bytes` that come in pieces of this size.
    fn written(bytes: &[u8], size: usize, styles: bool) -> String {
        let mut out = Escaped { styles, ..Escaped::over(Vec::new()) };
        bytes.chunks(size).for_each(|piece| out.write_all(piece).expect("memory"));
        String::from_utf8(out.out).expect("text")
    }

    #[test]
    fn nothing_that_a_terminal_obeys_passes_however_it_is_cut() {
        let hostile = "a\u{1b}]0;t\u{7}b\u{9b}31m\u{202e}c\rd\r\ne\tf\u{7f}é東\u{2028}“😀”\n";
        let shown = "a\\u001b]0;t\\u0007b\\u009b31m\\u202ec\\u000dd\r\ne\tf\\u007fé東\\u2028“😀”\n";
        for size in 1..=hostile.len() {
            assert_eq!(written(hostile.as_bytes(), size, false), shown, "{size}");
        }
        assert_eq!(written(b"a\x9bb\xff\xe6c", 3, false), "a\u{fffd}b\u{fffd}\u{fffd}c");
    }

    #[test]
    fn every_control_character_begins_with_a_byte_that_is_looked_for() {
        for c in (char::MIN..=char::MAX).filter(|c| is_control(*c) && *c != '\t') {
            assert!(BEGINS_CONTROL[usize::from(c.to_string().as_bytes()[0])], "{c:?}");
        }
    }

    #[test]
    fn only_our_own_styles_pass_and_only_where_they_are_asked_for() {
        let text = "\u{1b}[1mb\u{1b}[0m\u{1b}[8mhidden\u{1b}[31;5m";
        assert_eq!(written(text.as_bytes(), 99, true), "\u{1b}[1mb\u{1b}[0m\\u001b[8mhidden\\u001b[31;5m");
        assert!(!written(text.as_bytes(), 99, false).contains('\u{1b}'));
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({"a\u{9b}": "\u{1b}[2J\u{202e}\u{e0041}\u{7f}\r\n\t\"\\"});
        let text = written(value.to_string().as_bytes(), 7, false);
        assert!(!text.contains(char::is_control) && !text.contains('\u{202e}'), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), value);
    }

    #[test]
    fn long_commands_go_on_after_a_backslash_between_words() {
        let command = "wikitrail run 'my data.csv' --model openai:'it'\\''s' --out results/first --resume";
        let text = wrapped_command(command, 40, "  ");
        let lines = [
            "  wikitrail run 'my data.csv' --model \\",
            "    openai:'it'\\''s' --out \\",
            "    results/first --resume",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
        assert_eq!(text.replace(" \\\n   ", "").trim(), command);
        assert_eq!(wrapped_command(command, 200, ""), format!("{command}\n"));
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(
            [25, 9_999, 12_000, 185_000, 7_620_000].map(duration),
            ["25 ms", "9.9 s", "12 s", "3 min 5 s", "2 h 7 min"]
        );
        assert_eq!([250.0, 4.0, 0.999, 0.0525, 0.004].map(rate), ["250/s", "4.0/s", "59.9/min", "3.1/min", "14.4/h"]);
    }
}
