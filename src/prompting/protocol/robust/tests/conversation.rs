//! How the conversation goes.

use crate::base::{Message, Outcome, Prompt, Reply, Tool};
use crate::prompting::protocol::testing::{self, kinds, lines, message_lines, messages_frame, stopped, used};
use crate::prompting::protocol::{Dialogue, Kind, OptionError, Options, Protocol, Setup, Turn, robust::Robust};
use std::sync::Arc;

const HEAD: [&str; 4] = ["S: SYSTEM", "U: eq", "A: ea", "U: Question: Why?"];

fn setup(max_steps: usize) -> Setup {
    testing::setup(messages_frame(&[]), max_steps)
}

fn begun(setup: Setup) -> Box<dyn Dialogue> {
    testing::begun(&Robust::default(), setup).0
}

/// The last message of a request.
fn last(turn: Turn) -> String {
    message_lines(turn).pop().expect("a message")
}

#[test]
fn only_the_normalised_step_is_shown_again() {
    let (mut dialogue, turn) = testing::begun(&Robust::default(), setup(7));
    assert_eq!(message_lines(turn), HEAD);
    let call = used(dialogue.completion("**Thought:** I look.\nsearch: \"X\"\nObservation: invented"));
    assert_eq!((call.step, call.tool, call.input.as_str(), &call.reply), (1, Tool::Search, "X", &Reply::Tool));
    assert_eq!((call.thought.as_deref(), call.action_text.as_str()), (Some("I look."), "search: \"X\""));
    assert_eq!(call.discarded.as_deref(), Some("Observation: invented"));
    let Turn::Ask(request) = dialogue.observation("No more results.\n") else { panic!("no request") };
    assert_eq!(request.stop, ["\nObservation"]);
    let Prompt::Messages(messages) = request.prompt else { panic!("no messages") };
    let added = ["A: Thought 1: I look.\nAction 1: Search[X]", "U: Observation 1: No more results."];
    assert_eq!(lines(&messages), [&HEAD[..], &added].concat());
    assert_eq!(used(dialogue.completion("Thought 2: done\nAction 2: Finish[yes]")).step, 2);
    let stop = stopped(dialogue.observation("Episode finished, reward = 1\n"));
    assert_eq!((stop.outcome, stop.answer.as_deref(), &stop.detail), (Outcome::Finished, Some("yes"), &None));
    let repairs =
        ["label_form", "missing_label", "action_form", "verb_form", "argument_quotes", "invented_observation"];
    assert_eq!(kinds(&stop), repairs);
    assert!(stop.repairs.iter().all(|repair| repair.step == 1));
}

#[test]
fn a_reply_without_an_action_gets_feedback_once() {
    let mut dialogue = begun(setup(7));
    let call = used(dialogue.completion("I do not know."));
    let feedback = "Error: the reply has no action. Write a line that begins with Thought 2 and a colon, then a line that begins with Action 2, a colon and the name of one tool (Search, Lookup, Finish), directly followed by its argument in square brackets.";
    assert_eq!((call.step, call.tool, call.input.as_str()), (1, Tool::Invalid, ""));
    assert_eq!((call.thought.as_deref(), call.reply), (Some("I do not know."), Reply::Given(feedback.to_owned())));
    let told = ["A: Thought 1: I do not know.".to_owned(), format!("U: {feedback}")];
    assert_eq!(message_lines(dialogue.observation(feedback))[4..], told);
    let call = used(dialogue.completion("t\nAction 2: Login\nObservation 2: x"));
    assert_eq!((call.step, call.tool, call.input.as_str()), (2, Tool::Invalid, "Login"));
    assert_eq!(call.discarded.as_deref(), Some("Observation 2: x"));
    let stop = stopped(dialogue.observation("Error"));
    assert_eq!((stop.outcome, stop.answer), (Outcome::FormatFailure, None));
    let detail = "two replies in a row could not be used; the last: `Login` is not an action: the tools are Search, Lookup and Finish";
    assert_eq!(stop.detail.as_deref(), Some(detail));
}

/// Whatever a weak model repeats of what it is told, nothing is executed.
#[test]
fn nothing_that_the_model_is_told_is_an_action() {
    for thoughts in [true, false] {
        let mut dialogue = begun(Setup { thoughts, ..setup(2) });
        let Reply::Given(feedback) = used(dialogue.completion("Login")).reply else { panic!("no feedback") };
        let told = last(dialogue.observation(&feedback));
        assert!(told.contains("This is the last step"), "{told}");
        for (at, _) in told.char_indices() {
            for echo in [told[at..].to_owned(), format!("Thought 2: t\nAction 2: {}", &told[at..])] {
                assert_eq!(Robust::default().parse(&echo, 2).kind, Kind::Invalid, "{echo}");
            }
        }
    }
}

#[test]
fn an_echo_of_what_the_model_was_shown_is_refused_and_counted() {
    let mut frame = messages_frame(&[("feedback", "Error: {error}. For instance Finish[final answer].")]);
    frame.system = Some("Search[entity], which searches; Finish[answer].".into());
    let mut dialogue = begun(testing::setup(frame, 7));
    let call = used(dialogue.completion("Thought 1: t\nAction 1: Search[entity]"));
    assert_eq!((call.tool, call.input.as_str()), (Tool::Invalid, "Search[entity]"));
    message_lines(dialogue.observation("Error"));
    assert_eq!(used(dialogue.completion("The answer is: Finish[final answer].")).tool, Tool::Invalid);
    let stop = stopped(dialogue.observation("Error"));
    assert_eq!((stop.outcome, stop.answer.as_deref()), (Outcome::FormatFailure, None));
    assert_eq!(kinds(&stop), ["echoed_placeholder"; 2]);
}

#[test]
fn an_earlier_version_asks_as_it_did() {
    let (_, turn) = testing::begun(&Robust::default().of_version(1), setup(7));
    let Turn::Ask(request) = turn else { panic!("no request") };
    assert_eq!(request.stop, ["\nObservation 1:", "\nThought 2:", "\nAction 2:"]);
    let found = |version| crate::prompting::protocol::find_version("robust", &Options::default(), version);
    let version = |found: Option<Result<Arc<dyn Protocol>, OptionError>>| Some(found?.expect("no options").version());
    assert_eq!([1, 2, 3].map(|asked| version(found(asked))), [Some(1), Some(2), None]);
    assert_eq!(version(crate::prompting::protocol::find_version("lagent", &Options::default(), 2)), None);
}

#[test]
fn an_action_in_between_resets_the_count_of_unusable_replies() {
    let mut dialogue = begun(setup(7));
    for n in [1, 3] {
        used(dialogue.completion("**Thought:** I see\nAction: Login now"));
        let messages = message_lines(dialogue.observation("Error: no."));
        let told = [format!("A: Thought {n}: I see\nAction {n}: Login now"), "U: Error: no.".to_owned()];
        assert_eq!(messages[messages.len() - 2..], told);
        used(dialogue.completion(&format!("Action {}: Lookup[x]", n + 1)));
        message_lines(dialogue.observation("No more results.\n"));
    }
    let mut dialogue = begun(setup(7));
    used(dialogue.completion("  "));
    assert_eq!(last(dialogue.observation("Error: say something.")), "U: Question: Why?\nError: say something.");
}

#[test]
fn the_frame_words_feedback_and_force_stop() {
    let mut dialogue =
        begun(testing::setup(messages_frame(&[("feedback", "Error: {error}; step {n}."), ("force_stop", "NOW")]), 2));
    let call = used(dialogue.completion("t\nAction 1: use {n}"));
    let given = "Error: `use {n}` is not an action: the tools are Search, Lookup and Finish; step 2.";
    assert_eq!(call.reply, Reply::Given(given.to_owned()), "slots are not filled in text of the model");
    assert_eq!(last(dialogue.observation("Error")), "U: Error\nNOW");
}

#[test]
fn the_last_step_is_announced_and_is_the_last() {
    let mut dialogue = begun(setup(2));
    used(dialogue.completion("Action: Lookup[x]"));
    let announced = last(dialogue.observation("y"));
    assert!(announced.starts_with("U: Observation 1: y\nThis is the last step:"), "{announced}");
    used(dialogue.completion("Action: Lookup[x]"));
    let stop = stopped(dialogue.observation("y"));
    assert_eq!((stop.outcome, stop.detail.as_deref()), (Outcome::StepLimit, Some("no answer within 2 steps")));
    assert_eq!(stopped(testing::begun(&Robust::default(), setup(0)).1).outcome, Outcome::StepLimit);
}

#[test]
fn without_thoughts_none_are_shown_or_asked_for() {
    let mut dialogue = begun(Setup { thoughts: false, ..setup(7) });
    let call = used(dialogue.completion("Thought 1: t\nAction 1: Lookup[x]"));
    assert_eq!((call.thought, call.discarded.as_deref()), (None, Some("t")));
    assert_eq!(message_lines(dialogue.observation("y"))[4], "A: Action 1: Lookup[x]");
    let Reply::Given(feedback) = used(dialogue.completion("hm")).reply else { panic!("no feedback") };
    assert!(!feedback.contains("Thought"), "{feedback}");
}

#[test]
fn the_question_and_the_last_step_are_remembered() {
    let history = vec![Message::user("Question: before"), Message::assistant("Thought 1: a\nAction 1: Finish[b]")];
    let mut dialogue = begun(Setup { history: history.clone(), ..setup(2) });
    assert_eq!(dialogue.memory(), history);
    used(dialogue.completion("Action 1: Search[x]"));
    assert_eq!(message_lines(dialogue.observation("y"))[3], "U: Question: before");
    used(dialogue.completion("Thought 2: t\nAction 2: Finish[z]"));
    stopped(dialogue.observation(""));
    let answered = ["U: Question: Why?", "A: Thought 2: t\nAction 2: Finish[z]"];
    assert_eq!(lines(&dialogue.memory())[2..], answered);
}
