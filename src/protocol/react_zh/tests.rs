use super::*;
use crate::protocol::{Frame, Kind};
use crate::types::Decoding;

fn begun(thoughts: bool, max_steps: usize) -> (Box<dyn Dialogue>, Turn) {
    let mut dialogue = Script.dialogue(&Arc::new(Setup {
        frame: Frame::text("EXAMPLES\n"),
        question_label: "Question".to_owned(),
        max_steps,
        thoughts,
        decoding: Decoding::default(),
        history: Vec::new(),
    }));
    let turn = dialogue.begin(&Question::new("q", "为什么？", vec![]));
    (dialogue, turn)
}

fn asked(turn: Turn) -> (String, Vec<String>) {
    match turn {
        Turn::Ask(request) => (request.prompt.to_text(), request.stop),
        other => panic!("expected a request, got {other:?}"),
    }
}

fn used(turn: Turn) -> ToolCall {
    match turn {
        Turn::Use(call) => call,
        other => panic!("expected a tool call, got {other:?}"),
    }
}

fn stopped(turn: Turn) -> Stop {
    match turn {
        Turn::Stop(stop) => stop,
        other => panic!("expected a stop, got {other:?}"),
    }
}

#[test]
fn a_step_is_written_without_spaces() {
    let (mut dialogue, turn) = begun(true, MAX_STEPS);
    let (prompt, stop) = asked(turn);
    assert_eq!(prompt, "EXAMPLES\n\nQuestion:为什么？\nThought 1:");
    assert_eq!(stop, ["\nObservation 1:", "\nQuestion:", "\nThought 2:"]);
    let call = used(dialogue.completion(" look \nAction 1: Search[X] "));
    assert_eq!((call.tool, call.input.as_str(), call.reply), (Tool::Search, "X", Reply::Tool));
    assert_eq!((call.thought.as_deref(), call.action_text.as_str()), (Some("look"), "Search[X]"));
    let (prompt, stop) = asked(dialogue.observation("a\\n\n"));
    let steps = "Thought 1:look\nAction 1:Search[X]\nObservation 1:a\\n\n\nThought 2:";
    assert_eq!(prompt, format!("EXAMPLES\n\nQuestion:为什么？\n{steps}"));
    assert_eq!(stop, ["\nObservation 2:", "\nQuestion:", "\nThought 3:"]);
    let call = used(dialogue.completion("ok\nAction 2:Finish[yes]"));
    assert_eq!((call.tool, call.reply), (Tool::Finish, Reply::Given("任务完成。".to_owned())));
    let stop = stopped(dialogue.observation("任务完成。"));
    assert_eq!((stop.outcome, stop.answer.as_deref()), (Outcome::Finished, Some("yes")));
}

#[test]
fn an_empty_answer_ends_nothing_and_a_blank_one_does() {
    let (mut dialogue, _) = begun(true, MAX_STEPS);
    assert_eq!(used(dialogue.completion("t\nAction 1:Finish[]")).tool, Tool::Finish);
    asked(dialogue.observation("任务完成。"));
    used(dialogue.completion("t\nAction 2:Finish[ ]"));
    assert_eq!(stopped(dialogue.observation("任务完成。")).answer.as_deref(), Some(" "));
}

#[test]
fn without_an_action_a_step_is_lost() {
    let (mut dialogue, _) = begun(true, 2);
    for n in 1..=2 {
        let call = used(dialogue.completion("search[x]"));
        assert_eq!((call.tool, call.reply), (Tool::Invalid, Reply::Given("无效动作:".to_owned())));
        let turn = dialogue.observation("无效动作:");
        if n == 2 {
            let stop = stopped(turn);
            assert_eq!((stop.outcome, stop.answer), (Outcome::StepLimit, None));
            assert_eq!(stop.detail.as_deref(), Some("no answer within 2 steps"));
        } else {
            assert!(asked(turn).0.ends_with("Thought 1:search[x]\nAction 1:\nObservation 1:无效动作:\nThought 2:"));
        }
    }
}

#[test]
fn the_form_without_thoughts_asks_for_actions_alone() {
    let (mut dialogue, turn) = begun(false, MAX_STEPS);
    let (prompt, stop) = asked(turn);
    assert_eq!(prompt, "EXAMPLES\n\nQuestion:为什么？\nAction 1:");
    assert_eq!(stop, ["\nObservation 1:", "\nQuestion:", "\nAction 2:"]);
    let call = used(dialogue.completion(" action 1：Lookup[x]\n"));
    assert_eq!((call.tool, call.input.as_str(), call.thought), (Tool::Lookup, "x", None));
    assert!(asked(dialogue.observation("o")).0.ends_with("Action 1:Lookup[x]\nObservation 1:o\nAction 2:"));
}

#[test]
fn labels_are_found_in_the_order_of_the_script() {
    for (reply, thought, action) in [
        ("t Action 1:a\nAction 1:b\nc", "t Action 1:a", "b\nc"),
        ("ACTION 1 :a\nt Action 1:b", "ACTION 1 :a\nt", "b"),
        ("t\nACTION1 ： \n a \nb", "t", "a"),
        ("t\nActıon 1 :a", "t", "a"),
        ("t\nAction 1 :", "t\nAction 1 :", ""),
        ("t\nAction 11 :a", "t\nAction 11 :a", ""),
        ("Thought 1:Thought 1:\nThought 1:thought1：Thought: t", "Thought: t", ""),
        ("Thought 1:Thought 1:Action 1:a", "", "a"),
    ] {
        assert_eq!(split_step(reply, 1), (thought, action), "{reply:?}");
    }
}

#[test]
fn an_action_that_is_none_is_told_so() {
    let parsed = Script.parse("t\nAction 3:Think[x]", 3);
    assert_eq!((parsed.kind, parsed.thought.as_deref()), (Kind::Invalid, Some("t")));
    assert_eq!(parsed.error.as_deref(), Some("无效动作:Think[x]"));
}

#[test]
fn a_step_is_read_back_as_it_was_written() {
    let step = Script.step(4, Some("想"), Tool::Lookup, "a]b");
    assert_eq!(step, "Thought 4:想\nAction 4:Lookup[a]b]\n");
    let parsed = Script.parse(&step, 4);
    assert_eq!((parsed.thought.as_deref(), parsed.tool.as_deref()), (Some("想"), Some("Lookup")));
    assert_eq!(parsed.input.as_deref(), Some("a]b"));
    assert_eq!(Script.step(4, None, Tool::Finish, "x"), "Action 4:Finish[x]\n");
}
