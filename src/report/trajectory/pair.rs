//! Two episodes of one question: steps that are the same once, then both side by side from where they diverge.

use super::page::{BOLD, DIM, Page, YELLOW};
use super::{Verdict, answer, branch, end, gold, semantics, step_fields, verdict};
use crate::graded::Graded;
use crate::report::view::View;
use crate::score::{Divergence, Part};
use crate::types::text::visible_line;
use crate::types::{Branch, Trajectory};
use std::fmt::Write as _;
use textwrap::core::display_width;

/// On narrower terminals one episode is shown above the other: half the width is too little for prose.
const SIDE_BY_SIDE: usize = 100;

const GUTTER: &str = " │ ";

/// One of the two episodes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'a> {
    /// Its name, such as `results/a:q-1`.
    pub name: &'a str,
    pub trajectory: &'a Trajectory,
    /// The verdict on its answer, if there is one.
    pub verdict: Option<Verdict<'a>>,
}

impl<'a> Side<'a> {
    pub(crate) fn of(name: &'a str, graded: &'a Graded) -> Self {
        Self { name, trajectory: &graded.trajectory, verdict: Some(graded.into()) }
    }
}

/// Both as text, ending in a line break. Control characters in their texts are escaped.
///
/// Steps that are the same are shown once. The first step that differs is marked with what differs: thought, action or
/// observation.
pub(crate) fn render_pair(a: Side<'_>, b: Side<'_>, view: &View) -> String {
    let mut page = Page::about(&a.trajectory.question, *view);
    page.field("question", &a.trajectory.question, BOLD);
    gold(&mut page, a.trajectory);
    let diverged = Divergence::of(a.trajectory, b.trajectory);
    page.field("divergence", &divergence(diverged), if diverged.is_some() { YELLOW } else { DIM });
    let fork = branch::common_fork(a.trajectory, b.trajectory);
    page.optional("fork", fork.map(forked).as_deref(), YELLOW);
    page.blank();
    page.both(|page, side| pair_head(page, side), a, b);
    let (first, second) = (&a.trajectory.steps, &b.trajectory.steps);
    for at in 0..first.len().max(second.len()) {
        page.blank();
        let number = at + 1;
        let here = diverged.filter(|at| at.step == number && at.part != Part::Answer);
        match (first.get(at), second.get(at)) {
            (Some(step), Some(other))
                if Part::of(step, other).is_none() && fork.is_none_or(|fork| number < fork.at) =>
            {
                let same = if fork.is_some() { "copied by both" } else { "the same in both" };
                page.rule(&format!("step {number}, {same}"));
                step_fields(&mut page, step, branch::is_written(a.trajectory, number));
            }
            (step, other) => {
                match here {
                    Some(here) => page.marked_rule(&format!("step {number}: divergence in {}", part_name(here.part))),
                    None => page.rule(&format!("step {number}")),
                }
                let shown = |page: &mut Page, side: Side<'_>| {
                    let step = if std::ptr::eq(side.trajectory, a.trajectory) { step } else { other };
                    let origin = branch::step_origin(side.trajectory, number).filter(|_| step.is_some());
                    page.optional("", origin.as_deref(), YELLOW);
                    match step {
                        Some(step) => step_fields(page, step, branch::is_written(side.trajectory, number)),
                        None => page.field("", "(already ended)", DIM),
                    }
                };
                page.both(shown, a, b);
            }
        }
    }
    page.blank();
    if diverged.is_some_and(|at| at.part == Part::Answer) {
        page.marked_rule("end: divergence in the answer");
    }
    page.both(|page, side| end(page, side.trajectory), a, b);
    page.text
}

fn divergence(at: Option<Divergence>) -> String {
    match at {
        None => "none: same steps, same answer".to_owned(),
        Some(Divergence { part: Part::Answer, .. }) => "in the answer: all steps are the same".to_owned(),
        Some(Divergence { step, part }) => format!("at step {step}, in {}", part_name(part)),
    }
}

/// Where two branches of one episode begin.
fn forked(branch: &Branch) -> String {
    format!("both branch off {}, at step {}", branch::branch_parent(branch), branch.at)
}

fn part_name(part: Part) -> &'static str {
    match part {
        Part::Thought => "the thought",
        Part::Action => "the action",
        Part::Observation => "the observation",
        Part::End => "the number of steps",
        Part::Answer => "the answer",
    }
}

fn pair_head(page: &mut Page, side: Side<'_>) {
    let Trajectory { variant, repeat, compat, .. } = side.trajectory;
    page.field("episode", side.name, BOLD);
    page.field("variant", &format!("{variant} (repeat {repeat}{})", semantics(*compat)), DIM);
    answer(page, side.trajectory);
    if let Some(known) = &side.verdict {
        verdict::show_verdict(page, side.trajectory, known);
    }
}

impl Page {
    /// What `show` writes for each side, side by side or one above the other.
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
            let view = View { width: half, ..self.view };
            let mut page = Self { text: String::new(), view, chinese: self.chinese };
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
