//! Width and colours of the terminal.

use super::console::stdout_is_terminal;
use crate::types::text::visible_line;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct View {
    /// Columns of the terminal. Episodes are laid out for at least 40.
    pub width: usize,
    pub colour: bool,
}

impl View {
    /// For standard output: the width that `COLUMNS` says, else the terminal's, or 80 if it is not a terminal; colours if it is a terminal and
    /// `NO_COLOR` is unset or empty (<https://no-color.org>).
    pub(crate) fn of_stdout() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let columns =
            std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
        Self { width: columns.unwrap_or_else(textwrap::termwidth), colour: wanted && stdout_is_terminal() }
    }
}

/// A line of a list: a label in a column of that width, and its text, wrapped beside it between words. A digest or a path stays
/// whole.
pub(crate) fn labelled(label: &str, text: &str, labels: usize, width: usize) -> String {
    let begin = format!("  {label:<labels$} ");
    let after = " ".repeat(labels + 3);
    let options = textwrap::Options::new(width.max(40))
        .initial_indent(&begin)
        .subsequent_indent(&after)
        .break_words(false)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
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
    let options = textwrap::Options::new(width)
        .initial_indent(indent)
        .subsequent_indent(&after)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(&line, options).iter().fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

/// A word that needs attention, for standard output.
#[cfg(feature = "index")]
pub(crate) fn yellow(word: &str) -> String {
    let style = anstyle::AnsiColor::Yellow.on_default();
    if View::of_stdout().colour { format!("{style}{word}{style:#}") } else { word.to_owned() }
}
