//! Which rules a question falls under, when an answer is due, and what is done instead of an action that failed.

use super::compare::Pair;
use super::question::Question;
use super::reading::Notes;
use super::transcript::{Action, Decision, Past, Transcript};
use super::{bridge, chinese, claim, compare};

/// What to do next.
pub(super) fn decide(transcript: &Transcript, last_step: usize) -> Decision {
    let mut steps = transcript.steps.clone();
    let mut failed = transcript.failed.clone();
    let mut newest = transcript.just_failed.clone();
    loop {
        let seen = Seen { transcript, steps: &steps, failed: &failed, newest: newest.as_deref() };
        let decision = seen.decide(last_step);
        // A complaint about a reply that is not shown is about what would be written without it.
        let unseen = failed.len() - transcript.failed.len();
        if unseen >= transcript.unseen_failures {
            return decision;
        }
        let action = decision.action.text();
        steps.push(Past { action: action.clone(), observation: String::new() });
        failed.push(action.clone());
        newest = Some(action);
    }
}

/// The rules for a kind of question, with `left` steps to go, this one included; an answer in any case if this is
/// the last. Rules for another language are asked here.
fn rules(transcript: &Transcript, steps: &[Past], left: usize) -> Decision {
    let question = Question::read(&transcript.question);
    let notes = Notes::read(steps);
    if !transcript.is_claim && chinese::is_chinese(&transcript.question) {
        chinese::decide(&transcript.question, &notes, left)
    } else if transcript.is_claim {
        claim::decide(&question, &notes, left)
    } else if let Some(pair) = Pair::read(&question) {
        compare::decide(&pair, &question, &notes, left)
    } else {
        bridge::decide(&question, &notes, left)
    }
}

/// A transcript, with what is known of failures that it does not show.
struct Seen<'a> {
    transcript: &'a Transcript,
    steps: &'a [Past],
    failed: &'a [String],
    /// The failure that the prompt complains of last.
    newest: Option<&'a str>,
}

impl Seen<'_> {
    fn decide(&self, last_step: usize) -> Decision {
        // The step that is written may lag behind the steps that are there; the later one counts.
        let step = self.transcript.step().max(self.steps.len() + 1);
        let left = if self.transcript.must_answer() { 1 } else { (last_step + 1).saturating_sub(step) };
        let decision = self.ask(left);
        match decision.action {
            Action::Search(_) | Action::Lookup(_) if self.is_failed(&decision.action) => {
                let answer = self.ask(1);
                if self.is_failed(&answer.action) { self.otherwise(answer, left) } else { answer }
            }
            Action::Finish(_) if self.is_failed(&decision.action) => self.otherwise(decision, left),
            _ => decision,
        }
    }

    fn ask(&self, left: usize) -> Decision {
        let decision = rules(self.transcript, self.steps, left);
        Decision { thought: line(&decision.thought), action: clean(decision.action) }
    }

    /// Whether an action would fail again. An answer may be given again once something else was done.
    fn is_failed(&self, action: &Action) -> bool {
        let text = action.text();
        let known = self.newest == Some(&text);
        known || !matches!(action, Action::Finish(_)) && self.failed.contains(&text)
    }

    /// Instead of an answer that was refused: one more step if there is one, or other words.
    fn otherwise(&self, refused: Decision, left: usize) -> Decision {
        let Action::Finish(answer) = &refused.action else { return refused };
        let plain: String = answer.chars().filter(|c| c.is_alphanumeric() || c.is_whitespace()).collect();
        let tried = |action: &Action| self.steps.iter().any(|step| step.action == action.text());
        let mut others = Vec::new();
        if left > 1 {
            others.push(Action::Search(plain.clone()));
        }
        if self.transcript.is_claim {
            others.extend(["NOT ENOUGH INFO", "REFUTES"].map(|verdict| Action::Finish(verdict.to_owned())));
        } else {
            others.extend([plain, "unknown".to_owned(), "not known".to_owned()].map(Action::Finish));
        }
        let fits = |action: &Action| {
            let again = matches!(action, Action::Search(_)) && tried(action);
            !again && !self.is_failed(action) && *action != refused.action
        };
        match others.into_iter().find(fits) {
            Some(action) => Decision { action: clean(action), ..refused },
            None => refused,
        }
    }
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
