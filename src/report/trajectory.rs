//! One trajectory for reading: question, steps, how it ended.

pub mod live;
pub mod pair;
pub mod verdict;

use super::escape::{visible, visible_line};
use super::table::counted;
use crate::types::{Outcome, Provenance, Step, Trajectory};
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use textwrap::{Options, WordSplitter, WrapAlgorithm};
pub use verdict::Verdict;

/// A field longer than this many characters is cut; `show --json` has it whole.
const MAX_FIELD_CHARS: usize = 20_000;

/// Width of the column of labels.
const LABELS: usize = 13;

/// How a trajectory is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Columns of the terminal; fewer than 40 are taken as 40.
    pub width: usize,
    /// Whether to use colours.
    pub colour: bool,
}

impl View {
    /// For standard output: the terminal's width, 80 where it is none; colours for a terminal whose user did not
    /// say no (<https://no-color.org>).
    pub fn of_stdout() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { width: textwrap::termwidth(), colour: wanted && std::io::stdout().is_terminal() }
    }
}

/// The trajectory as text, ending in a line break, with what its answer is worth where that is known. No control
/// character of its texts is left in it.
pub fn render(trajectory: &Trajectory, verdict: Option<&Verdict<'_>>, view: &View) -> String {
    let mut page = Page { text: String::new(), view: *view };
    head(&mut page, trajectory);
    if let Some(known) = verdict {
        verdict::show(&mut page, trajectory, known);
    }
    for step in &trajectory.steps {
        page.blank();
        show_step(&mut page, step);
    }
    page.blank();
    end(&mut page, trajectory);
    page.text
}

/// The line above one of several trajectories: what it is called.
pub fn heading(name: &str, view: &View) -> String {
    let mut page = Page { text: String::new(), view: *view };
    page.marked_rule(&visible_line(name, 200));
    page.text
}

fn head(page: &mut Page, trajectory: &Trajectory) {
    let Trajectory { id, variant, repeat, compat, .. } = trajectory;
    page.field("id", &format!("{id} (variant {variant}, repeat {repeat}, {})", compat.name()), BOLD);
    page.field("question", &trajectory.question, BOLD);
    gold(page, trajectory);
    match &trajectory.answer {
        Some(answer) => page.field("answer", answer, GREEN),
        None => page.field("answer", "none", RED),
    }
}

fn gold(page: &mut Page, trajectory: &Trajectory) {
    match trajectory.answers.split_first() {
        Some((gold, [])) => page.field("gold", gold, PLAIN),
        Some((gold, aliases)) => page.field("gold", &format!("{gold} (or: {})", aliases.join("; ")), PLAIN),
        None => page.field("gold", "hidden", DIM),
    }
}

fn show_step(page: &mut Page, step: &Step) {
    match step.sample {
        Some(number) => page.rule(&format!("sample {number}, step {}", step.n)),
        None => page.rule(&format!("step {}", step.n)),
    }
    step_fields(page, step);
}

fn step_fields(page: &mut Page, step: &Step) {
    page.optional("thought", step.thought.as_deref(), PLAIN);
    page.optional("action", step.action_text.as_deref().map(str::trim), CYAN);
    page.optional("observation", step.observation.as_deref().map(str::trim_end), PLAIN);
    page.optional("source", step.provenance.as_ref().map(source).as_deref(), DIM);
    page.optional("note", step.note.as_deref(), YELLOW);
    page.optional("set aside", step.discarded.as_deref(), DIM);
    if !step.calls.is_empty() {
        page.field("calls", &calls(step), DIM);
    }
}

fn source(provenance: &Provenance) -> String {
    let Provenance { source, url, title, revid, status, .. } = provenance;
    let revision = revid.map(|revid| format!(", revision {revid}")).unwrap_or_default();
    let status = if *status == 200 { String::new() } else { format!(", status {status}") };
    format!("{title}{revision}{status}, {source} {url}")
}

fn calls(step: &Step) -> String {
    let parts: Vec<String> = step
        .calls
        .iter()
        .map(|call| {
            let mut text = format!("{} ms", call.latency_ms);
            if let Some(usage) = call.usage {
                let _ = write!(text, ", {} + {} tokens", usage.prompt_tokens, usage.completion_tokens);
            }
            if let Some(reason) = &call.finish_reason {
                let _ = write!(text, ", {reason}");
            }
            if call.attempts > 1 {
                let _ = write!(text, ", {}", counted(call.attempts, "attempt"));
            }
            if call.cached {
                text.push_str(", cached");
            }
            text
        })
        .collect();
    parts.join("; ")
}

fn end(page: &mut Page, trajectory: &Trajectory) {
    let style = if trajectory.outcome == Outcome::Finished { GREEN } else { RED };
    page.field("outcome", trajectory.outcome.name(), style);
    page.optional("detail", trajectory.detail.as_deref(), PLAIN);
    if !trajectory.votes.is_empty() {
        let votes: Vec<String> =
            trajectory.votes.iter().map(|vote| format!("{} for `{}`", vote.count, vote.answer)).collect();
        page.field("votes", &votes.join("; "), PLAIN);
    }
    if !trajectory.repairs.is_empty() {
        let repairs: Vec<String> =
            trajectory.repairs.iter().map(|repair| format!("step {}: {}", repair.step, repair.kind)).collect();
        page.field("repairs", &repairs.join("; "), YELLOW);
    }
    let usage = trajectory.usage;
    let cost = trajectory.cost_usd.map(|cost| format!(", {cost:.4} US dollars")).unwrap_or_default();
    let sum = format!(
        "{}, {}, {} + {} tokens{cost}, {} ms from {}",
        counted(trajectory.agent_steps().count(), "step"),
        counted(trajectory.call_count(), "call"),
        usage.prompt_tokens,
        usage.completion_tokens,
        trajectory.wall_ms,
        trajectory.started_at,
    );
    page.field("sum", &sum, DIM);
}

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const CYAN: Style = AnsiColor::Cyan.on_default();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Text that grows field by field.
struct Page {
    text: String,
    view: View,
}

impl Page {
    fn blank(&mut self) {
        self.text.push('\n');
    }

    fn rule(&mut self, title: &str) {
        self.line("─", title, DIM);
    }

    fn marked_rule(&mut self, title: &str) {
        self.line("━", title, YELLOW);
    }

    fn line(&mut self, mark: &str, title: &str, style: Style) {
        let line = format!("{mark}{mark} {title} ");
        let rest = self.view.width.clamp(40, 200).saturating_sub(line.chars().count());
        self.styled(&format!("{line}{}", mark.repeat(rest)), style);
        self.blank();
    }

    fn optional(&mut self, label: &str, text: Option<&str>, style: Style) {
        if let Some(text) = text {
            self.field(label, text, style);
        }
    }

    /// A label and its text, wrapped beside it.
    fn field(&mut self, label: &str, text: &str, style: Style) {
        let cut: String = text.chars().take(MAX_FIELD_CHARS).collect();
        let more = text.chars().count().saturating_sub(MAX_FIELD_CHARS);
        let mut shown = visible(&cut).into_owned();
        if more > 0 {
            let _ = write!(shown, "… ({})", counted(more, "more character"));
        }
        // First fit is linear; the optimal algorithm is not worth its cost on text that a model made.
        let options = Options::new(self.view.width.max(40) - LABELS)
            .wrap_algorithm(WrapAlgorithm::FirstFit)
            .word_splitter(WordSplitter::NoHyphenation)
            .break_words(true);
        let lines = textwrap::wrap(&shown, options);
        for (i, line) in lines.iter().enumerate() {
            let label = if i == 0 { visible_line(label, LABELS) } else { String::new() };
            self.styled(&format!("{label:<LABELS$}"), BOLD);
            self.styled(line, style);
            let trimmed = self.text.trim_end_matches(' ').len();
            self.text.truncate(trimmed);
            self.blank();
        }
    }

    fn styled(&mut self, text: &str, style: Style) {
        // Writing to a String cannot fail.
        let _ = if self.view.colour && !text.trim().is_empty() {
            write!(self.text, "{style}{text}{style:#}")
        } else {
            write!(self.text, "{text}")
        };
    }
}

#[cfg(test)]
mod tests;
