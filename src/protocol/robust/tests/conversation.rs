//! How the conversation goes.

use crate::protocol::{Dialogue, Frame, Protocol as _, Setup, Stop, Turn, robust::Robust};
use crate::types::{Decoding, Message, Outcome, Prompt, Question, Repair, Reply, Request, Role, Tool, ToolCall};
use std::sync::Arc;

fn setup() -> Setup {
    Setup {
        frame: Frame {
            system: Some("INSTRUCTION".into()),
            examples: vec![Message::user("Question: e"), Message::assistant("Thought 1: f\nAction 1: Finish[g]")],
            ..Frame::default()
        },
        question_label: "Question".to_owned(),
        max_steps: 7,
        thoughts: true,
        decoding: Decoding::default(),
        history: Vec::new(),
    }
}

fn begin(setup: Setup) -> (Box<dyn Dialogue>, Request) {
    let mut dialogue = Robust.dialogue(&Arc::new(setup));
    let turn = dialogue.begin(&Question::new("q", "Why?", vec![]));
    (dialogue, asked(turn))
}

fn asked(turn: Turn) -> Request {
    match turn {
        Turn::Ask(request) => request,
        other => panic!("not asked: {other:?}"),
    }
}

fn used(turn: Turn) -> ToolCall {
    match turn {
        Turn::Use(call) => call,
        other => panic!("not used: {other:?}"),
    }
}

fn stopped(turn: Turn) -> Stop {
    match turn {
        Turn::Stop(stop) => stop,
        other => panic!("not stopped: {other:?}"),
    }
}

/// Messages as `role: content`.
fn said(request: &Request) -> Vec<String> {
    let Prompt::Messages(messages) = &request.prompt else { panic!("not messages") };
    let role = |message: &Message| match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    messages.iter().map(|message| format!("{}: {}", role(message), message.content)).collect()
}

#[test]
fn steps_and_observations_alternate() {
    let (mut dialogue, request) = begin(setup());
    let head = [
        "system: INSTRUCTION",
        "user: Question: e",
        "assistant: Thought 1: f\nAction 1: Finish[g]",
        "user: Question: Why?",
    ];
    assert_eq!(said(&request), head);
    assert_eq!(request.stop, ["\nObservation 1:", "\nThought 2:", "\nAction 2:"]);
    let call = used(dialogue.completion("**Thought:** I look.\nsearch: \"X\"\nObservation: invented"));
    assert_eq!((call.step, call.tool, call.input.as_str(), &call.reply), (1, Tool::Search, "X", &Reply::Tool));
    assert_eq!((call.thought.as_deref(), call.action_text.as_str()), (Some("I look."), "search: \"X\""));
    assert_eq!(call.discarded.as_deref(), Some("Observation: invented"));
    let request = asked(dialogue.observation("No more results.\n"));
    let turns = ["assistant: Thought 1: I look.\nAction 1: Search[X]", "user: Observation 1: No more results."];
    assert_eq!(said(&request), [&head[..], &turns].concat(), "only the normalised step is shown again");
    assert_eq!(request.stop, ["\nObservation 2:", "\nThought 3:", "\nAction 3:"]);
    let call = used(dialogue.completion("Thought 2: done\nAction 2: Finish[yes]"));
    assert_eq!((call.step, call.tool, call.input.as_str()), (2, Tool::Finish, "yes"));
    let stop = stopped(dialogue.observation("Episode finished, reward = 1\n"));
    assert_eq!((stop.outcome, stop.answer.as_deref(), stop.detail), (Outcome::Finished, Some("yes"), None));
    let kinds: Vec<_> = stop.repairs.iter().map(|Repair { step, kind }| (*step, kind.as_str())).collect();
    let expected =
        ["label_form", "missing_label", "action_form", "verb_form", "argument_quotes", "invented_observation"];
    assert_eq!(kinds, expected.map(|kind| (1, kind)));
}

#[test]
fn a_reply_without_an_action_gets_feedback_once() {
    let (mut dialogue, request) = begin(setup());
    let head = said(&request);
    let call = used(dialogue.completion("I do not know."));
    let feedback = "Error: the reply has no action. Write one line `Thought 2: …` and one line `Action 2: …` with Search[title], Lookup[keyword] or Finish[answer].";
    assert_eq!((call.step, call.tool, call.input.as_str()), (1, Tool::Invalid, ""));
    assert_eq!((call.thought.as_deref(), call.reply), (Some("I do not know."), Reply::Given(feedback.to_owned())));
    let request = asked(dialogue.observation(feedback));
    let told = ["assistant: Thought 1: I do not know.".to_owned(), format!("user: {feedback}")];
    assert_eq!(said(&request), [&head[..], &told].concat());
    let call = used(dialogue.completion("t\nAction 2: Login\nObservation 2: x"));
    assert_eq!((call.step, call.tool, call.input.as_str()), (2, Tool::Invalid, "Login"));
    assert_eq!(call.discarded.as_deref(), Some("Observation 2: x"));
    let stop = stopped(dialogue.observation("Error"));
    assert_eq!((stop.outcome, stop.answer), (Outcome::FormatFailure, None));
    let detail = "two replies in a row could not be used; the last: `Login` is not an action: the tools are Search, Lookup and Finish";
    assert_eq!(stop.detail.as_deref(), Some(detail));
}

#[test]
fn an_action_between_them_forgives_a_reply_without_one() {
    let (mut dialogue, _) = begin(setup());
    for n in [1, 3] {
        used(dialogue.completion("hm"));
        asked(dialogue.observation("Error"));
        used(dialogue.completion(&format!("Action {}: Lookup[x]", n + 1)));
        asked(dialogue.observation("No more results.\n"));
    }
}

#[test]
fn what_was_wrong_is_shown_again_in_the_form_asked_for() {
    let (mut dialogue, _) = begin(setup());
    used(dialogue.completion("**Thought:** I see\nAction: Login now"));
    let request = asked(dialogue.observation("Error: no."));
    let last = said(&request);
    assert_eq!(last[last.len() - 2..], ["assistant: Thought 1: I see\nAction 1: Login now", "user: Error: no."]);
}

#[test]
fn after_an_empty_reply_turns_still_alternate() {
    let (mut dialogue, request) = begin(setup());
    let mut expected = said(&request);
    used(dialogue.completion("  "));
    let request = asked(dialogue.observation("Error: say something."));
    expected.pop();
    expected.push("user: Question: Why?\nError: say something.".to_owned());
    assert_eq!(said(&request), expected);
}

#[test]
fn the_frame_words_feedback_and_force_stop() {
    let mut setup = setup();
    setup.max_steps = 2;
    setup.frame.texts.insert("feedback".to_owned(), "Error: {error}; step {n}.".into());
    setup.frame.texts.insert("force_stop".to_owned(), "NOW".into());
    let (mut dialogue, request) = begin(setup);
    assert!(said(&request).last().is_some_and(|last| last == "user: Question: Why?"));
    let call = used(dialogue.completion("t\nAction 1: use {n}"));
    let given = "Error: `use {n}` is not an action: the tools are Search, Lookup and Finish; step 2.";
    assert_eq!(call.reply, Reply::Given(given.to_owned()), "text of the model's is no slot");
    let request = asked(dialogue.observation("Error"));
    assert_eq!(said(&request).last().map(String::as_str), Some("user: Error\nNOW"));
}

#[test]
fn the_last_step_is_announced_and_is_the_last() {
    let (mut dialogue, mut request) = begin(Setup { max_steps: 2, ..setup() });
    for n in 1..=2 {
        let said = said(&request);
        let last = said.last().expect("a message");
        assert_eq!(
            last.lines().nth(1).is_some_and(|line| line.starts_with("This is the last step:")),
            n == 2,
            "{last}"
        );
        assert_eq!(used(dialogue.completion("Action: Lookup[x]")).step, n);
        match dialogue.observation("y") {
            Turn::Ask(next) => request = next,
            turn => {
                let stop = stopped(turn);
                assert_eq!((n, stop.outcome, stop.answer), (2, Outcome::StepLimit, None));
                assert_eq!(stop.detail.as_deref(), Some("no answer within 2 steps"));
            }
        }
    }
    let mut none = Robust.dialogue(&Arc::new(Setup { max_steps: 0, ..setup() }));
    let stop = stopped(none.begin(&Question::new("q", "Why?", vec![])));
    assert_eq!(stop.outcome, Outcome::StepLimit);
}

#[test]
fn without_thoughts_none_are_shown_or_asked_for() {
    let (mut dialogue, _) = begin(Setup { thoughts: false, ..setup() });
    let call = used(dialogue.completion("Thought 1: t\nAction 1: Lookup[x]"));
    assert_eq!((call.thought, call.discarded.as_deref()), (None, Some("t")));
    let request = asked(dialogue.observation("y"));
    let shown = said(&request);
    assert_eq!(shown[shown.len() - 2], "assistant: Action 1: Lookup[x]");
    let Reply::Given(feedback) = used(dialogue.completion("hm")).reply else { panic!("no feedback") };
    assert!(!feedback.contains("Thought"), "{feedback}");
}

#[test]
fn the_question_and_the_last_step_are_remembered() {
    let history = vec![Message::user("Question: before"), Message::assistant("Thought 1: a\nAction 1: Finish[b]")];
    let (mut dialogue, request) = begin(Setup { max_steps: 2, history: history.clone(), ..setup() });
    assert_eq!(said(&request)[3], "user: Question: before");
    assert_eq!(dialogue.memory(), history);
    used(dialogue.completion("Action 1: Search[x]"));
    asked(dialogue.observation("y"));
    used(dialogue.completion("Thought 2: t\nAction 2: Finish[z]"));
    stopped(dialogue.observation(""));
    let answered = [Message::user("Question: Why?"), Message::assistant("Thought 2: t\nAction 2: Finish[z]")];
    assert_eq!(dialogue.memory(), [&history[..], &answered].concat());
}
