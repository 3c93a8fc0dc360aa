//! Events of a conversation.
//!
//! Solved examples stand before the question as turns of their own, so a question ends what was before it. Whoever
//! speaks an observation, its label tells; in protocols without a label before a question, every other message of the
//! user's is one.

use super::form::Form;
use super::observation::is_error;
use super::story::Story;
use super::{Transcript, Wanted, step, text};
use crate::types::{Message, Role};

/// Reads a conversation.
pub(super) fn read(messages: &[Message], form: &Form<'_>) -> Transcript {
    if form.template()
        && let Some(last) = messages.iter().rfind(|message| message.role == Role::User)
    {
        return text::read(&last.content, form);
    }
    let mut story = Story::default();
    for message in messages {
        match message.role {
            Role::Assistant if story.asked() => story.step(step::read(&message.content, form, story.next)),
            Role::Assistant => {}
            Role::System => system(&message.content, form, &mut story),
            Role::User => user(&message.content, form, &mut story),
        }
    }
    if !story.asked() {
        let all: Vec<&str> = messages.iter().map(|message| &*message.content).collect();
        story.ask(&all.join("\n"), false);
    }
    let wanted = wanted(messages, form, &story);
    Transcript::of(story, form, wanted, true)
}

/// A tool's answer where the system speaks it. Otherwise an instruction, which after the question can only be that
/// the answer is due.
fn system(text: &str, form: &Form<'_>, story: &mut Story) {
    match form.observation(text) {
        Some((observation, number)) if story.waits() => story.observe(observation, number),
        _ => story.forced = story.asked(),
    }
}

fn user(message: &str, form: &Form<'_>, story: &mut Story) {
    let (text, forced) = form.force_stop(message);
    turn(text, form, story);
    story.forced |= forced;
}

fn turn(text: &str, form: &Form<'_>, story: &mut Story) {
    if form.bare() && story.waits() && !story.finished() {
        story.observe(text, None);
    } else if let Some((observation, number)) = form.observation(text).filter(|_| story.asked()) {
        story.observe(observation, number);
    } else if is_error(text) && (story.waits() || story.asked() && !form.raw) {
        story.fail();
    } else if let Some((question, is_claim)) = form.question(text) {
        story.ask(without_tail(question, form), is_claim);
    } else if form.raw || !story.asked() || story.finished() {
        story.ask(without_tail(text, form), false);
    } else if story.waits() {
        story.fail();
    } else {
        // Not a question, not about a reply: an instruction.
        story.forced = true;
    }
}

/// A question without the label in the line below it that asks for its answer.
fn without_tail<'t>(question: &'t str, form: &Form<'_>) -> &'t str {
    match question.trim_end().rsplit_once('\n') {
        Some((before, line)) if form.wanted(line, 1).is_some() => before,
        _ => question,
    }
}

fn wanted(messages: &[Message], form: &Form<'_>, story: &Story) -> Wanted {
    let step = Wanted::Step { n: story.next.max(1), labelled: false };
    match messages.last() {
        // The request for an answer when all steps are spent comes without the instructions that explain the form.
        Some(last) if last.role == Role::System && form.raw => {
            let explained = messages.first().is_some_and(|first| first.role == Role::System);
            if explained { step } else { Wanted::Answer }
        }
        Some(last) if last.role == Role::User => {
            let line = last.content.trim_end().rsplit('\n').next().unwrap_or_default();
            form.wanted(line, story.next).unwrap_or(step)
        }
        _ => step,
    }
}
