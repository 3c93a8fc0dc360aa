//! Two trajectories of one question beside one another: what both did once, and where they part.

use super::{BOLD, DIM, GREEN, Page, RED, Verdict, View, YELLOW, end, gold, step_fields, verdict};
use crate::report::escape::visible_line;
use crate::score::{Divergence, Part};
use crate::types::Trajectory;
use std::fmt::Write as _;
use textwrap::core::display_width;

/// Narrower terminals show one trajectory above the other: half of one has no room for a line of prose.
const SIDE_BY_SIDE: usize = 100;

/// Between the two columns.
const GUTTER: &str = " │ ";

/// One of the two.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// What it is called, such as `results/a:q-1`.
    pub name: &'a str,
    /// What happened.
    pub trajectory: &'a Trajectory,
    /// What its answer is worth, where that is known.
    pub verdict: Option<Verdict<'a>>,
}

/// Both as text, ending in a line break. No control character of their texts is left in it.
///
/// Steps that are the same are shown once. The first step that differs says in what: thought, action, observation.
pub fn render_pair(a: Side<'_>, b: Side<'_>, view: &View) -> String {
    let mut page = Page { text: String::new(), view: *view };
    page.field("question", &a.trajectory.question, BOLD);
    gold(&mut page, a.trajectory);
    let parted = Divergence::of(a.trajectory, b.trajectory);
    page.field("parting", &parting(parted), if parted.is_some() { YELLOW } else { DIM });
    page.blank();
    page.both(|page, side| head(page, side), a, b);
    let (first, second) = (&a.trajectory.steps, &b.trajectory.steps);
    for at in 0..first.len().max(second.len()) {
        page.blank();
        let number = at + 1;
        let here = parted.filter(|parted| parted.step == number && parted.part != Part::Answer);
        match (first.get(at), second.get(at)) {
            (Some(step), Some(other)) if Part::of(step, other).is_none() => {
                page.rule(&format!("step {number}, the same in both"));
                step_fields(&mut page, step);
            }
            (step, other) => {
                match here {
                    Some(here) => page.marked_rule(&format!("step {number}: they part here, by {}", what(here.part))),
                    None => page.rule(&format!("step {number}")),
                }
                let shown = |page: &mut Page, side: Side<'_>| {
                    let step = if std::ptr::eq(side.trajectory, a.trajectory) { step } else { other };
                    match step {
                        Some(step) => step_fields(page, step),
                        None => page.field("", "(ended before)", DIM),
                    }
                };
                page.both(shown, a, b);
            }
        }
    }
    page.blank();
    if parted.is_some_and(|parted| parted.part == Part::Answer) {
        page.marked_rule("end: they part here, by the answer");
    }
    page.both(|page, side| end(page, side.trajectory), a, b);
    page.text
}

fn parting(parted: Option<Divergence>) -> String {
    match parted {
        None => "nowhere: steps and answer are the same".to_owned(),
        Some(Divergence { part: Part::Answer, .. }) => "all steps are the same, the answers differ".to_owned(),
        Some(Divergence { step, part }) => format!("at step {step}, by {}", what(part)),
    }
}

fn what(part: Part) -> &'static str {
    match part {
        Part::Thought => "the thought",
        Part::Action => "the action",
        Part::Observation => "the observation",
        Part::End => "one that ended",
        Part::Answer => "the answer",
    }
}

fn head(page: &mut Page, side: Side<'_>) {
    let Trajectory { variant, repeat, compat, answer, .. } = side.trajectory;
    page.field("episode", side.name, BOLD);
    page.field("variant", &format!("{variant} (repeat {repeat}, {})", compat.name()), DIM);
    match answer {
        Some(answer) => page.field("answer", answer, GREEN),
        None => page.field("answer", "none", RED),
    }
    if let Some(known) = &side.verdict {
        verdict::show(page, side.trajectory, known);
    }
}

impl Page {
    /// What `show` writes for each side: beside one another, or one above the other.
    fn both<'a>(&mut self, show: impl Fn(&mut Self, Side<'a>), a: Side<'a>, b: Side<'a>) {
        if self.view.width < SIDE_BY_SIDE {
            for (letter, side) in [("A", a), ("B", b)] {
                self.styled(&format!("{letter}: {}", visible_line(side.name, 60)), DIM);
                self.blank();
                show(self, side);
            }
            return;
        }
        let half = (self.view.width - GUTTER.chars().count()) / 2;
        let column = |side| {
            let mut page = Self { text: String::new(), view: View { width: half, ..self.view } };
            show(&mut page, side);
            page.text
        };
        let (left, right) = (column(a), column(b));
        let (mut left, mut right) = (left.lines(), right.lines());
        loop {
            let (first, second) = (left.next(), right.next());
            if first.is_none() && second.is_none() {
                return;
            }
            let first = first.unwrap_or_default();
            let room = " ".repeat(half.saturating_sub(display_width(first)));
            let line = format!("{first}{room}{GUTTER}{}", second.unwrap_or_default());
            // Writing to a String cannot fail.
            let _ = writeln!(self.text, "{}", line.trim_end());
        }
    }
}

#[cfg(test)]
mod tests;
