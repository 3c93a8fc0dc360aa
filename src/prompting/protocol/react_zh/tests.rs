use super::super::testing::{begun, prompt_and_stop, setup, stopped, used};
use super::*;
use crate::base::Outcome;
use crate::prompting::protocol::Frame;

#[test]
fn an_empty_answer_does_not_end_the_episode() {
    let (mut dialogue, turn) = begun(&Script, setup(Frame::text("EXAMPLES\n"), 8));
    assert_eq!(prompt_and_stop(turn).0, "EXAMPLES\n\nQuestion:Why?\nThought 1:");
    assert_eq!(used(dialogue.completion(" t \nAction 1:Finish[] ")).tool, Tool::Finish);
    let (prompt, stop) = prompt_and_stop(dialogue.observation("任务完成。"));
    assert!(prompt.ends_with("Thought 1:t\nAction 1:Finish[]\nObservation 1:任务完成。\nThought 2:"), "{prompt}");
    assert_eq!(stop, ["\nObservation 2:", "\nQuestion:", "\nThought 3:"]);
    used(dialogue.completion("t\nAction 2:Finish[ ]"));
    assert_eq!(stopped(dialogue.observation("任务完成。")).answer.as_deref(), Some(" "));
}

#[test]
fn the_form_without_thoughts_asks_for_actions_alone() {
    let (mut dialogue, turn) = begun(&Script, Setup { thoughts: false, ..setup(Frame::text("EXAMPLES\n"), 1) });
    let (prompt, stop) = prompt_and_stop(turn);
    assert_eq!(prompt, "EXAMPLES\n\nQuestion:Why?\nAction 1:");
    assert_eq!(stop, ["\nObservation 1:", "\nQuestion:", "\nAction 2:"]);
    let call = used(dialogue.completion(" action 1：Lookup[x]\n"));
    assert_eq!((call.tool, call.input.as_str(), call.thought), (Tool::Lookup, "x", None));
    let stop = stopped(dialogue.observation("o"));
    assert_eq!((stop.outcome, stop.detail.as_deref()), (Outcome::StepLimit, Some("no answer within 1 steps")));
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
fn a_step_is_read_back_as_it_was_written() {
    let step = Script.step(4, Some("想"), Tool::Lookup, "a]b");
    assert_eq!(step, "Thought 4:想\nAction 4:Lookup[a]b]\n");
    let parsed = Script.parse(&step, 4);
    assert_eq!((parsed.thought.as_deref(), parsed.input.as_deref()), (Some("想"), Some("a]b")));
    assert_eq!(Script.step(4, None, Tool::Finish, "x"), "Action 4:Finish[x]\n");
}
