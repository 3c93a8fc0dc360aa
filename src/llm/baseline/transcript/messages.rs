//! Parses conversations.
//!
//! Solved examples are turns before the question, so a question discards what was before it. Observations are recognised
//! by their label, whatever their role; in protocols without a label before a question, every other message of the user
//! is one.

use super::history::History;
use super::labels::Labels;
use super::observation::is_error;
use super::{Transcript, Wanted, step, text};
use crate::types::{Message, Role};

pub(super) fn read_messages(messages: &[Message], labels: &Labels<'_>) -> Transcript {
    if labels.template()
        && let Some(last) = messages.iter().rfind(|message| message.role == Role::User)
    {
        return text::read_text(&last.content, labels);
    }
    let mut history = History::default();
    for message in messages {
        match message.role {
            Role::Assistant if history.asked() => {
                history.step(step::read_reply(&message.content, labels, history.next))
            }
            Role::Assistant => {}
            Role::Tool => history.observe(&message.content, None),
            Role::System => read_system(&message.content, labels, &mut history),
            Role::User => {
                let (text, forced) = labels.force_stop(&message.content);
                read_user(text, labels, &mut history);
                history.forced |= forced;
            }
        }
    }
    if !history.asked() {
        let all: Vec<&str> = messages.iter().map(|message| &*message.content).collect();
        history.ask(&all.join("\n"), false);
    }
    let wanted = wanted_after(messages, labels, &history);
    Transcript { history, wanted, spaced: true }
}

/// An observation, if the system role is used for them. Otherwise an instruction: after the question, to answer now.
fn read_system(text: &str, labels: &Labels<'_>, history: &mut History) {
    match labels.observation(text) {
        Some((observation, number)) if history.waits() => history.observe(observation, number),
        _ => history.forced = history.asked(),
    }
}

fn read_user(text: &str, labels: &Labels<'_>, history: &mut History) {
    if labels.bare() && history.waits() && !history.finished() {
        history.observe(text, None);
    } else if let Some((observation, number)) = labels.observation(text).filter(|_| history.asked()) {
        history.observe(observation, number);
    } else if is_error(text) && (history.waits() || history.asked() && !labels.raw) {
        history.fail();
    } else if let Some((question, is_claim)) = labels.question(text) {
        history.ask(without_tail(question, labels), is_claim);
    } else if labels.raw || !history.asked() || history.finished() {
        let (question, is_claim) = labels.inside(text).unwrap_or((text, false));
        history.ask(without_tail(question, labels), is_claim);
    } else if history.waits() {
        history.fail();
    } else {
        // Neither a question nor about a reply: an instruction.
        history.forced = true;
    }
}

/// A question without the label below it that asks for the answer.
fn without_tail<'t>(question: &'t str, labels: &Labels<'_>) -> &'t str {
    match question.trim_end().rsplit_once('\n') {
        Some((before, line)) if labels.wanted(line, 1).is_some() => before,
        _ => question,
    }
}

fn wanted_after(messages: &[Message], labels: &Labels<'_>, history: &History) -> Wanted {
    let step = Wanted::Step { n: history.next.max(1), labelled: false };
    match messages.last() {
        // The request for an answer when no steps are left comes without the instructions.
        Some(last) if last.role == Role::System && labels.raw => {
            let explained = messages.first().is_some_and(|first| first.role == Role::System);
            if explained { step } else { Wanted::Answer }
        }
        Some(last) if last.role == Role::User => {
            let line = last.content.trim_end().rsplit('\n').next().unwrap_or_default();
            labels.wanted(line, history.next).unwrap_or(step)
        }
        _ => step,
    }
}
