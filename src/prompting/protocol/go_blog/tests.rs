use super::super::testing::{self, kinds, lines, message_lines, messages_frame, options, stopped, used};
use super::super::{Dialogue, Kind, Protocol, Setup, Turn};
use super::{GoBlog, NO_SUCH_TOOL};
use crate::base::{Message, Outcome, Reply, Tool};

fn go(arguments: &str) -> GoBlog {
    GoBlog::new(&options(&[("arguments", arguments)])).expect("a known option")
}

fn begun(arguments: &str, max_steps: usize) -> (Box<dyn Dialogue>, Turn) {
    let frame = messages_frame(&[("feedback", "{error}, once more")]);
    testing::begun(&go(arguments), Setup { history: vec![Message::user("before")], ..testing::setup(frame, max_steps) })
}

#[test]
fn invented_observations_are_set_aside() {
    let call = "Thought: t\nAction: Search\nAction Input: {\"query\": \"x\"}";
    let (mut dialogue, turn) = begun("mend", 9);
    assert_eq!(message_lines(turn), ["S: SYSTEM", "U: eq", "A: ea", "U: before", "U: Question: Why?"]);
    let step = used(dialogue.completion(&format!("{call}\nObservation: y\nAnswer: z")));
    assert_eq!((step.tool, step.input.as_str(), step.reply), (Tool::Search, "x", Reply::Tool));
    assert_eq!(step.discarded.as_deref(), Some("Observation: y\nAnswer: z"));
    assert_eq!(
        message_lines(dialogue.observation("found"))[5..],
        [format!("A: {call}"), "U: Observation: found".to_owned()]
    );
    let unchanged = format!(" {call}\n");
    assert_eq!(used(dialogue.completion(&unchanged)).discarded, None);
    assert_eq!(message_lines(dialogue.observation("found"))[7], format!("A: {unchanged}"));
    let step = used(dialogue.completion("Thought: u\nAnswer:  z "));
    assert_eq!((step.tool, step.discarded, step.reply), (Tool::Finish, None, Reply::None));
    let end = stopped(dialogue.observation(""));
    assert_eq!((end.answer.as_deref(), kinds(&end)), (Some("z"), vec!["discarded_text"]));
    assert_eq!(lines(&dialogue.memory()), ["U: before", "U: Question: Why?", "A: Thought: u\nAnswer: z"]);
}

#[test]
fn errors_are_told() {
    for (arguments, call, error) in [
        ("mend", "Action: Nope\nAction Input: {}", NO_SUCH_TOOL),
        ("mend", "Action: Nope\nAction Input: {x}", NO_SUCH_TOOL),
        ("mend", "Action: Search\nAction Input: {x}", "Error: the Action Input is not a valid JSON object, once more"),
        ("mend", "Action: Search\nAction Input: {}", "Error: the argument `query` is missing, once more"),
        ("strict", "Action: Search\nAction Input: {\"q\": 1}", "Error: the tool has no argument `q`, once more"),
        ("mend", "hm", "Error: the reply has neither an `Action: ` nor an `Answer: `, once more"),
    ] {
        let (mut dialogue, _) = begun(arguments, 9);
        let step = used(dialogue.completion(&format!("Thought: t\n{call}")));
        assert_eq!(step.reply, Reply::Given(error.to_owned()), "{call}");
        assert_eq!(message_lines(dialogue.observation(error)).last(), Some(&format!("U: {error}")), "{call}");
    }
}

#[test]
fn replies_are_limited_and_an_unanswered_question_is_forgotten() {
    let (mut dialogue, _) = begun("mend", 2);
    dialogue.completion("hm");
    message_lines(dialogue.observation("Error: no"));
    dialogue.completion("hm");
    let stop = stopped(dialogue.observation("Error: no"));
    assert_eq!((stop.outcome, stop.answer), (Outcome::StepLimit, None));
    assert_eq!(lines(&dialogue.memory()), ["U: before"]);
    stopped(begun("mend", 0).1);
}

#[test]
fn a_step_is_read_back_as_it_was_written() {
    let go = go("mend");
    let step = go.step(1, Some("t"), Tool::Lookup, "a \"b\"");
    assert_eq!(step, "Thought: t\nAction: Lookup\nAction Input: {\"keyword\": \"a \\\"b\\\"\"}");
    assert_eq!(go.parse(&step, 1).kind, Kind::Act);
    assert_eq!(go.parse(&go.step(1, Some("t"), Tool::Finish, "x"), 1).answer.as_deref(), Some("x"));
}
