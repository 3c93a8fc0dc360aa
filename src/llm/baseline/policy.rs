//! Which rules a question falls under, and when an answer is due.

use super::compare::Pair;
use super::question::Question;
use super::reading::Notes;
use super::transcript::{Action, Decision, Transcript};
use super::{bridge, claim, compare};

/// What to do next.
pub(super) fn decide(transcript: &Transcript, last_step: usize) -> Decision {
    let question = Question::read(&transcript.question);
    let notes = Notes::read(&transcript.steps);
    // The step that is written may lag behind the steps that are there; the later one counts.
    let step = transcript.step().max(transcript.steps.len() + 1);
    let left = if transcript.must_answer() { 1 } else { (last_step + 1).saturating_sub(step) };
    let decision = if transcript.is_claim {
        claim::decide(&question, &notes, left)
    } else if let Some(pair) = Pair::read(&question) {
        compare::decide(&pair, &question, &notes, left)
    } else {
        bridge::decide(&question, &notes, left)
    };
    Decision { thought: line(&decision.thought), action: clean(decision.action) }
}

fn clean(action: Action) -> Action {
    match action {
        Action::Search(text) => Action::Search(line(&text)),
        Action::Lookup(text) => Action::Lookup(line(&text)),
        Action::Finish(text) => Action::Finish(line(&text)),
    }
}

/// One line of moderate length: whatever a page says, an action stays an action.
fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(40).collect();
    words.join(" ").chars().filter(|c| !c.is_control()).take(300).collect()
}
