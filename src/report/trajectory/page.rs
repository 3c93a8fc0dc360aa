//! A page that grows field by field: labels, wrapped text, rules, colours.

use crate::report::view::View;
use crate::types::text::{counted, is_chinese, visible, visible_line};
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;
use textwrap::core::display_width;
use textwrap::{Options, WordSplitter, WrapAlgorithm};

/// A field longer than this many characters is cut; `show --json` has it whole.
pub(super) const MAX_FIELD_CHARS: usize = 20_000;

/// Width of the column of labels.
const LABELS: usize = 13;

pub(super) const PLAIN: Style = Style::new();
pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const CYAN: Style = AnsiColor::Cyan.on_default();
pub(super) const GREEN: Style = AnsiColor::Green.on_default();
pub(super) const RED: Style = AnsiColor::Red.on_default();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Labels of what question, model and tool say, in English and Chinese. The others are the program's and stay English.
const CHINESE: [(&str, &str); 7] = [
    ("question", "问题"),
    ("gold", "标准答案"),
    ("answer", "最终答案"),
    ("thought", "思考"),
    ("action", "行动"),
    ("observation", "观察"),
    ("reply", "回复"),
];

pub(super) struct Page {
    pub(super) text: String,
    pub(super) view: View,
    pub(super) chinese: bool,
}

impl Page {
    /// A page about a question, whose language some labels have.
    pub(super) fn about(question: &str, view: View) -> Self {
        Self { text: String::new(), view, chinese: is_chinese(question) }
    }

    pub(super) fn new(view: View) -> Self {
        Self { text: String::new(), view, chinese: false }
    }

    pub(super) fn blank(&mut self) {
        self.text.push('\n');
    }

    pub(super) fn rule(&mut self, title: &str) {
        self.line("─", title, DIM);
    }

    pub(super) fn marked_rule(&mut self, title: &str) {
        self.line("━", title, YELLOW);
    }

    fn line(&mut self, mark: &str, title: &str, style: Style) {
        let line = format!("{mark}{mark} {title} ");
        let rest = self.view.width.clamp(40, 200).saturating_sub(line.chars().count());
        self.styled(&format!("{line}{}", mark.repeat(rest)), style);
        self.blank();
    }

    pub(super) fn optional(&mut self, label: &str, text: Option<&str>, style: Style) {
        if let Some(text) = text {
            self.field(label, text, style);
        }
    }

    /// A label and its text, wrapped beside it.
    pub(super) fn field(&mut self, label: &str, text: &str, style: Style) {
        let chinese = CHINESE.iter().find(|(english, _)| self.chinese && *english == label);
        let label = chinese.map_or(label, |(_, chinese)| chinese);
        let cut: String = text.chars().take(MAX_FIELD_CHARS).collect();
        let more = text.chars().count().saturating_sub(MAX_FIELD_CHARS);
        let mut shown = visible(&cut).into_owned();
        if more > 0 {
            let _ = write!(shown, "… ({})", counted(more, "more character"));
        }
        // First fit takes linear time. The optimal algorithm takes more, on text that a model may make very long.
        let options = Options::new(self.view.width.max(40) - LABELS)
            .wrap_algorithm(WrapAlgorithm::FirstFit)
            .word_splitter(WordSplitter::NoHyphenation)
            .break_words(true);
        let lines = textwrap::wrap(&shown, options);
        for (i, line) in lines.iter().enumerate() {
            let label = if i == 0 { visible_line(label, LABELS) } else { String::new() };
            let room = " ".repeat(LABELS.saturating_sub(display_width(&label)));
            self.styled(&format!("{label}{room}"), BOLD);
            self.styled(line, style);
            let trimmed = self.text.trim_end_matches(' ').len();
            self.text.truncate(trimmed);
            self.blank();
        }
    }

    pub(super) fn styled(&mut self, text: &str, style: Style) {
        // Writing to a String cannot fail.
        let _ = if self.view.colour && !text.trim().is_empty() {
            write!(self.text, "{style}{text}{style:#}")
        } else {
            write!(self.text, "{text}")
        };
    }
}
