//! An episode for reading while it runs: the model's text as it arrives, then the step that came of it.

use super::page::{PLAIN, Page, YELLOW};
use super::{after_action, answer, end, show_step};
use crate::report::view::View;
use crate::types::text::visible;
use crate::types::{Step, Tool, Trajectory};

/// Turns the events of an episode into text to print at once. Control characters in its texts are escaped.
#[derive(Debug)]
pub(crate) struct Live {
    view: View,
    question: String,
    step: usize,
    /// Whether text of this step was shown.
    said: bool,
    /// Whether text of this reply was shown.
    replying: bool,
    /// White space that is shown only when more text follows.
    held: String,
}

impl Live {
    pub(crate) fn new(question: &str, view: View) -> Self {
        Self { view, question: question.to_owned(), step: 1, said: false, replying: false, held: String::new() }
    }

    /// More of a reply.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let text = if self.replying { text } else { text.trim_start() };
        let end = text.trim_end().len();
        if end == 0 {
            if self.replying {
                self.held.push_str(text);
            }
            return String::new();
        }
        let mut page = self.page();
        if !self.said {
            page.blank();
            page.rule(&format!("step {}", self.step));
        }
        (self.said, self.replying) = (true, true);
        page.text.push_str(&visible(&self.held));
        page.text.push_str(&visible(&text[..end]));
        self.held.replace_range(.., &text[end..]);
        page.text
    }

    /// The reply was interrupted; the request is sent again.
    pub(crate) fn again(&mut self) -> String {
        let mut page = self.page();
        if self.replying {
            page.blank();
            page.styled("(the reply was interrupted; asking again)", YELLOW);
            page.blank();
        }
        self.close();
        page.text
    }

    pub(crate) fn call_ended(&mut self) -> String {
        let replied = self.replying;
        self.close();
        if replied { "\n".to_owned() } else { String::new() }
    }

    /// A step is complete. Text that was not shown as it arrived is shown now.
    pub(crate) fn step(&mut self, step: &Step) -> String {
        let mut page = self.page();
        if self.said {
            // The tool's observation after an answer matters only in the record.
            let observation = step.observation.as_deref().filter(|_| step.tool != Some(Tool::Finish));
            after_action(&mut page, step, observation);
        } else {
            page.blank();
            show_step(&mut page, step, None, false);
            if step.tool.is_none() {
                step.calls.iter().for_each(|call| page.field("reply", call.completion.trim(), PLAIN));
            }
        }
        self.close();
        self.said = false;
        self.step = step.n + 1;
        page.text
    }

    /// The episode is over: its outcome, and the answer last.
    pub(crate) fn end(&mut self, trajectory: &Trajectory) -> String {
        let mut page = self.page();
        if self.replying {
            page.blank();
        }
        self.close();
        page.blank();
        end(&mut page, trajectory);
        if trajectory.answer.is_some() || trajectory.measured() {
            answer(&mut page, trajectory);
        }
        page.text
    }

    fn close(&mut self) {
        self.replying = false;
        self.held.clear();
    }

    fn page(&self) -> Page {
        Page::about(&self.question, self.view)
    }
}

#[cfg(test)]
mod tests {
    use super::{Live, Step, Tool, View};
    use crate::types::Call;

    fn live() -> Live {
        Live::new("Why?", View { width: 40, colour: false })
    }

    fn step(n: usize) -> Step {
        Step {
            n,
            thought: Some("I \u{1b}[31mthink.".into()),
            tool: Some(Tool::Search),
            action_text: Some("Search[x]".into()),
            observation: Some("A \u{202e}page.\n".into()),
            ..Step::default()
        }
    }

    #[test]
    fn a_reply_is_shown_as_it_comes_and_its_step_after_it() {
        let mut live = live();
        let mut shown = String::new();
        for piece in ["", " ", "I think", ".\n", "\n", "Action 1: Search[\u{1b}[2J]", "\n "] {
            shown += &live.text(piece);
        }
        shown += &live.call_ended();
        shown += &live.step(&step(1));
        shown += &live.text("Done");
        assert_eq!(
            shown,
            "\n── step 1 ──────────────────────────────\nI think.\n\nAction 1: Search[\\u{1b}[2J]\n\
             observation  A \\u{202e}page.\n\n── step 2 ──────────────────────────────\nDone"
        );
        assert_eq!(live.again(), "\n(the reply was interrupted; asking again)\n");
        assert_eq!((live.text("Done"), live.call_ended()), ("Done".into(), "\n".into()));
        assert_eq!((live.again(), live.call_ended()), (String::new(), String::new()));
    }

    #[test]
    fn what_was_not_shown_as_it_came_is_shown_with_its_step() {
        let text = live().step(&step(3));
        assert!(text.starts_with("\n── step 3 ─"), "{text}");
        assert!(text.contains("thought      I \\u{1b}[31mthink.\naction       Search[x]\nobservation  A"), "{text}");
        let call = Call { completion: " So it is.\n".into(), latency_ms: 1, attempts: 1, ..Call::default() };
        let text = live().step(&Step { n: 1, sample: Some(4), calls: vec![call], ..Step::default() });
        assert!(text.contains("── sample 4, step 1 ─") && text.ends_with("reply        So it is.\n"), "{text}");
    }
}
