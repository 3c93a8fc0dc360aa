//! What follows a complaint: never the same action again.

use super::forms::{ALL, Form};
use super::talk::{FIRST_PAGE, QUESTION, SECOND_PAGE, Talk, past};
use crate::llm::baseline::transcript::Wanted;
use crate::protocol::{Kind, Protocol};
use crate::types::{Message, Tool};

#[test]
fn an_error_leads_to_another_action() {
    for form in ALL {
        let mut talk = Talk::about(form, "Question", QUESTION);
        let mut before = (Kind::Invalid, String::new());
        for round in 0..12 {
            let next = talk.next();
            assert_ne!(next.0, Kind::Invalid, "{form:?} {}", talk.written());
            assert_ne!(next, before, "{form:?} round {round}");
            let reply = talk.written();
            talk.reply(&reply);
            complain(&mut talk);
            before = next;
        }
    }
}

/// The complaint as each system makes it.
fn complain(talk: &mut Talk) {
    match talk.form {
        Form::Go | Form::Turns => talk.say("Error: this is not understood."),
        Form::Llama => talk.observe("Tool Search not found. Please select a tool that is available."),
        Form::Qwen => talk.observe("Tool Search does not exists."),
        Form::Tight => talk.observe("无效动作:x"),
        Form::Paper => talk.observe("Invalid action: x"),
        Form::Lagent | Form::LagentOld | Form::LagentJson => talk.observe("Please follow the format"),
    }
}

#[test]
fn a_reply_that_is_asked_for_again_is_another_one() {
    let form = Form::Llama;
    let bad = Talk::about(form, "Question", QUESTION).written();
    let mut talk = Talk::about(form, "Question", QUESTION);
    talk.messages.push(Message::user(QUESTION));
    talk.messages.push(Message::assistant(&*bad));
    talk.messages.push(Message::user("Error while parsing the output: Could not parse output: x\n\nFormats:"));
    talk.reply(&form.step(1, Some("t"), Tool::Search, "x"));
    talk.observe("X is a town.");
    let read = talk.transcript();
    assert_eq!(read.question, QUESTION);
    assert_eq!(read.steps, [past("Search[Nightfall of Arven]", ""), past("Search[x]", "X is a town.")]);
    assert_eq!(read.just_failed.as_deref(), Some("Search[Nightfall of Arven]"));
    assert_ne!(talk.written(), bad);
}

#[test]
fn complaints_about_hidden_replies_change_the_reply() {
    let mut talk = Talk::about(Form::Llama, "Question", QUESTION);
    let mut before = talk.written();
    for _ in 0..4 {
        talk.messages.push(Message::user("Observation: There was an error in parsing my reasoning: x"));
        let reply = talk.written();
        assert_ne!(reply, before);
        before = reply;
    }
}

#[test]
fn a_refused_answer_may_be_given_again_after_another_step() {
    let form = Form::Turns;
    let mut talk = Talk::about(form, "Question", QUESTION);
    talk.reply(&form.step(1, Some("t"), Tool::Search, "Nightfall of Arven"));
    talk.observe(FIRST_PAGE);
    talk.reply(&form.step(2, Some("t"), Tool::Search, "Mara Lindqvist"));
    talk.observe(SECOND_PAGE);
    talk.reply(&form.step(3, Some("t"), Tool::Finish, "Tolvsund"));
    talk.say("Error: no.");
    assert_eq!(talk.next(), (Kind::Act, "Tolvsund".to_owned()));
    let reply = talk.written();
    talk.reply(&reply);
    talk.observe("Tolvsund is a town on the coast.");
    assert_eq!(talk.next(), (Kind::Finish, "Tolvsund".to_owned()));
}

#[test]
fn feedback_without_a_label_is_known_by_the_question_put_twice() {
    let mut talk = Talk::about(Form::Llama, "Question", QUESTION);
    let bad = talk.written();
    talk.messages.push(Message::user(QUESTION));
    talk.messages.push(Message::assistant(""));
    talk.messages.push(Message::user("Your reply was empty. Write a thought."));
    assert_eq!(talk.transcript().question, QUESTION);
    let mut again = Talk::about(Form::Llama, "Question", QUESTION);
    again.messages.push(Message::user(QUESTION));
    again.messages.push(Message::assistant(&*bad));
    again.messages.push(Message::user("Your reply could not be read: x"));
    let read = again.transcript();
    assert_eq!((read.question.as_str(), read.failed.len()), (QUESTION, 1));
    assert_ne!(again.written(), bad);
}

#[test]
fn a_conversation_that_is_remembered_is_not_the_question() {
    let mut talk = Talk::about(Form::Llama, "Question", "Who was Ann Bee?");
    let memory = "Thought: t\nAction: Search\nAction Input: {'query': 'x'}\nObservation: y\nThought: d\nAnswer: z";
    talk.messages.push(Message::assistant(memory));
    talk.messages.push(Message::user(QUESTION));
    let read = talk.transcript();
    assert_eq!((read.question.as_str(), read.steps.len(), read.failed.len()), (QUESTION, 0, 0));
}

#[test]
fn a_complaint_may_stand_below_what_it_follows() {
    let mut talk = Talk::about(Form::Turns, "Question", QUESTION);
    let first = talk.written();
    let complain = |talk: &mut Talk, more: &str| {
        let last = talk.messages.pop().expect("a message");
        talk.messages.push(Message::user(format!(
            "{}\nError: your reply has no action. Write Finish[answer].{more}",
            last.content
        )));
        talk.step += 1;
    };
    complain(&mut talk, "");
    let read = talk.transcript();
    assert_eq!((read.question.as_str(), read.unseen_failures, read.step()), (QUESTION, 1, 2));
    assert!(!read.forced);
    assert_ne!(talk.written().replace(" 2:", " 1:"), first);
    talk.reply(&Form::Turns.step(2, Some("t"), Tool::Search, "x"));
    talk.observe("X is a town.");
    complain(&mut talk, "\nStep 4 is the last one: answer with what you know.");
    let read = talk.transcript();
    assert_eq!((read.steps, read.unseen_failures), (vec![past("Search[x]", "X is a town.")], 1));
    assert!(read.forced && read.wanted == Wanted::Step { n: 4, labelled: false });
    assert_eq!(talk.next().0, Kind::Finish);
}
