//! What chat models write today in place of the form asked for.

use super::super::Fault;
use super::super::repair::*;
use super::super::reply::Reply;
use super::replies::{check, check_actions, discarded, read, refused, reply_of};
use crate::base::Tool::{Finish, Search};

#[test]
fn a_reply_with_the_numbers_of_another_step_is_this_step() {
    const OTHER: &[&str] = &[RENUMBERED];
    check(&[
        ("Thought 4: t\nAction 4: Finish[x]", Finish, "x", OTHER),
        ("Thought 2: t\nAction 2: Search[x]", Search, "x", OTHER),
        ("Thought 0: t\nAction 0: Search[x]", Search, "x", OTHER),
        ("```\nThought 4: t\nAction 4: Finish[x]\n```", Finish, "x", &[FENCE, RENUMBERED]),
        ("Thought 3: t\nAction 1: Search[x]", Search, "x", OTHER),
        ("Sure!\nThought 4: t\n**Action 4:** Finish[x]", Finish, "x", &[PREAMBLE, LABEL_FORM, RENUMBERED]),
        ("t\nAction 2: Search[x]", Search, "x", &[RENUMBERED, MISSING_LABEL]),
        (
            "Thought 4: t\nAction 4: Search[x]\nThought 5: u\nAction 5: Finish[y]",
            Search,
            "x",
            &[RENUMBERED, LATER_STEP],
        ),
        // What it thinks of is not what it does.
        ("Thought 4: t\nAction 4: Search[x]\nAction 5: Search[y]", Search, "x", &[RENUMBERED, LATER_STEP]),
    ]);
    // Thought and action counted apart, with no other action before.
    check(&[
        ("Thought 1: t\nAction 2: Search[x]", Search, "x", OTHER),
        ("Thought 4: t\nAction 5: Search[x]\nThought 6: u", Search, "x", &[RENUMBERED, LATER_STEP]),
    ]);
    let (_, _, input, thought) = read("Thought 4: I use Search[x].\nAction 4: Search[y]");
    assert_eq!((input.as_str(), thought.as_deref()), ("y", Some("I use Search[x].")));
    // Where this step has an action of its own, a later number is a later step.
    let (_, _, input, thought) = read("Let me use Search[x].\nThought 2: It is y.\nAction 2: Finish[y]");
    assert_eq!((input.as_str(), thought.as_deref()), ("x", Some("Let me use")));
    for reply in [
        "Thought 1: t\nThought 2: u\nAction 2: Search[x]",
        "Thought 1: t\nAction 1:\nAction 2: Search[x]",
        "Thought 4: t\nObservation 4: y\nAction 4: Finish[x]",
        "Observation 1: y\nThought 2: t\nAction 2: Finish[x]",
    ] {
        assert_eq!(refused(reply), "the reply has no action", "{reply}");
    }
}

#[test]
fn placeholders_are_not_executed() {
    const ECHO: &str = "the argument is a placeholder from the instruction, not a value";
    for reply in [
        "Action 1: Finish[answer]",
        "The answer is: Finish[answer].",
        "The action is: Search[title]",
        "The answer is: Action 2: Search[title], Action 2: Lookup[keyword] or Action 2: Finish[answer].",
        "I cannot do Search[title] here",
        "Thought 1: t\nAction 1: Finish[<answer>]",
        "Action 1: Search: the title",
        "{\"finish\": \"your answer\"}",
        "Final Answer: answer",
        "Answer: Finish[answer]",
        "Action 1: Search[标题]",
    ] {
        let Reply { action, repairs, .. } = reply_of(reply, 1, true);
        assert_eq!(action.map_err(|refused| refused.fault.to_string()), Err(ECHO.to_owned()), "{reply}");
        assert_eq!(repairs.kinds().collect::<Vec<_>>(), [ECHOED_PLACEHOLDER], "{reply}");
    }
    // A real action beside an echo counts.
    let (kinds, _, input, _) = read("Thought 1: t\nAction 1: Search[title]\nAction 1: Search[x]");
    assert_eq!((input.as_str(), kinds.contains(&ECHOED_PLACEHOLDER)), ("x", true));
    assert_eq!(read("Action 1: Lookup[title]").2, "title");
}

#[test]
fn prose_that_names_several_actions_is_refused() {
    for reply in [
        "You could use Search[x] or Finish[z].",
        "Search[x], Lookup[y] or Finish[z].",
        "Search[x] Search[y]",
        "I did Search[x] already.\nNow Finish[y].",
        "The answer is: Search[title] or Finish[z].",
    ] {
        assert_eq!(refused(reply), Fault::Several.to_string(), "{reply}");
    }
}

#[test]
fn native_tool_calls_are_read() {
    for (call, kinds) in [
        ("[TOOL_CALLS][{\"name\":\"search\",\"arguments\":{\"query\":\"x\"}}]", &[ACTION_FORM, NATIVE_CALL][..]),
        ("[TOOL_CALLS] [\n  {\"name\": \"search\", \"arguments\": {\"q\": \"x\"}}\n]", &[ACTION_FORM, NATIVE_CALL]),
        ("[TOOL_CALLS]search{\"query\": \"x\"}", &[ACTION_FORM, NATIVE_CALL, VERB_FORM]),
        ("[TOOL_CALLS]search[ARGS]{\"query\": \"x\"}", &[ACTION_FORM, NATIVE_CALL, VERB_FORM]),
        ("<|python_tag|>search.call(query=\"x\")", &[ACTION_FORM, NATIVE_CALL, VERB_FORM, ARGUMENT_QUOTES]),
        ("<|python_tag|>{\"name\": \"search\", \"parameters\": {\"query\": \"x\"}}", &[ACTION_FORM, NATIVE_CALL]),
        ("[{\"name\": \"search\", \"arguments\": {\"query\": \"x\"}}]", &[ACTION_FORM]),
        ("<tool_call>[{\"search\": \"x\"}]</tool_call>", &[FENCE, ACTION_FORM]),
    ] {
        check(&[(&format!("Thought 1: t\n{call}"), Search, "x", kinds)]);
        check_actions(&[(call, Search, "x", kinds)]);
    }
    let two = "[TOOL_CALLS][{\"search\": \"x\"}, {\"search\": \"y\"}]";
    for reply in [format!("Action 1: {two}"), two.to_owned()] {
        assert_eq!(read(&reply).2, "x", "the first of several");
        assert_eq!(discarded(&reply), ", {\"search\": \"y\"}]");
    }
    for reply in
        ["[TOOL_CALLS]", "[TOOL_CALLS][{\"name\": \"login\"}]", "<|python_tag|>print(1)", "[\n\n", "I use [TOOL_CALLS]"]
    {
        refused(reply);
    }
}

#[test]
fn tags_around_the_parts_of_a_step_are_left_out() {
    const TAGS: &[&str] = &[ACTION_TAGS, MISSING_LABEL];
    check(&[
        ("<thought>t</thought>\n<action>Search[x]</action>", Search, "x", TAGS),
        ("<thought>\nt\n</thought>\n<action>\nSearch[x]\n</action>", Search, "x", TAGS),
        ("Thought 1: t\n<Action>Search[x]</Action>", Search, "x", &[ACTION_TAGS]),
        (
            "<thought>Thought 1: t</thought>\n<action>Action 1: Search[x]</action>",
            Search,
            "x",
            &[ACTION_TAGS, LABEL_FORM],
        ),
        ("t <action>Search[x]</action>", Search, "x", &[ACTION_TAGS, MISSING_LABEL, INLINE_ACTION]),
    ]);
    check_actions(&[("<action>Search[x]</action>", Search, "x", &[ACTION_TAGS])]);
}

#[test]
fn the_final_channel_is_the_reply() {
    const REPLY: &str = "Thought 1: t\nAction 1: Search[x]";
    const CHANNELS: &[&str] = &[CHANNEL_MARKERS];
    let analysis = "<|channel|>analysis<|message|>Hm, Search[y]?\nAction 1: Finish[z]";
    for reply in [
        format!("{analysis}<|end|><|start|>assistant<|channel|>final<|message|>{REPLY}<|return|>"),
        format!("{analysis}<|channel|>final<|message|>{REPLY}"),
        format!("<|channel|>final <|constrain|>text<|message|>{REPLY}<|end|>"),
        format!("{analysis}<|end|>{REPLY}"),
        format!("{analysis}<|end|><|start|>assistant<|message|>{REPLY}<|end|>"),
        format!("<|start|>assistant<|message|>{REPLY}<|return|>"),
        format!("{REPLY}<|return|>"),
    ] {
        check(&[(&reply, Search, "x", CHANNELS)]);
    }
    let call = "<|start|>assistant<|channel|>commentary to=functions.search <|constrain|>json<|message|>{\"query\": \"x\"}<|call|>";
    let (kinds, tool, input, _) = read(&format!("{analysis}<|end|>{call}"));
    assert_eq!(
        (kinds, tool, input.as_str()),
        (vec![CHANNEL_MARKERS, ACTION_FORM, NATIVE_CALL, VERB_FORM], Search, "x")
    );
    for reply in [analysis.to_owned(), format!("{analysis}<|end|>"), format!("{analysis}<|end|><|start|>assistant")] {
        assert_eq!(refused(&reply), "the reply ends inside its reasoning", "{reply}");
        assert_eq!(discarded(&reply), reply);
    }
    assert_eq!(refused("<|channel|>final<|message|>"), "the reply is empty");
    assert_eq!(refused("a <| b |> c"), "the reply has no action");
}

#[test]
fn fenced_inputs_are_read_whole() {
    const FORM: &[&str] = &[FENCE, ACTION_FORM];
    const LINES: &[&str] = &[FENCE, ACTION_FORM, ARGUMENT_LINES];
    check_actions(&[
        ("Search\nAction Input:\n```json\n{\"query\": \"x\"}\n```", Search, "x", FORM),
        ("Search\nAction Input:\n```json\n{\n\"query\": \"x\"\n}\n```", Search, "x", FORM),
        ("Search\nAction Input:\n```\nx\ny\n```", Search, "x y", LINES),
        ("Search\nAction Input: ```x```", Search, "x", FORM),
        ("Search\n```\nx\n```", Search, "x", FORM),
        ("Search[```x```]", Search, "x", &[FENCE]),
        ("Search[```text\nx\n```]", Search, "x", &[FENCE]),
    ]);
    assert_eq!(refused("```\nAction 1: Search\n```\nI wait."), "Search lacks its argument in brackets");
}

#[test]
fn an_answer_may_have_several_lines() {
    const LINES: &[&str] = &[ANSWER_LABEL, ANSWER_LINES];
    check(&[
        ("Thought 1: t\nFinal Answer: 1994\n1993", Finish, "1994 1993", LINES),
        (
            "Thought 1: t\nAnswer: - Ann Lee\n- Bo Ray\n\nI hope it helps.",
            Finish,
            "Ann Lee Bo Ray",
            &[ANSWER_LABEL, ANSWER_LINES, LATER_TEXT],
        ),
        (
            "Thought 1: t\nFinal Answer:\n```\n1994\n1993\n```",
            Finish,
            "1994 1993",
            &[FENCE, ACTION_BELOW, ANSWER_LABEL, ANSWER_LINES],
        ),
        ("Thought 1: t\nFinal Answer: ```1994```", Finish, "1994", &[FENCE, ANSWER_LABEL]),
        ("Thought 1: t\nAction 1: Finish\nAction Input: 1994\n1993", Finish, "1994 1993", &[ACTION_FORM, ANSWER_LINES]),
    ]);
    // What is not part of a list is not part of the answer.
    for more in [
        "It was released in that year.",
        "Question: Who was born in 1994?",
        "Note: not 1993",
        "Thought 1: so it is",
        "Finish[1993]",
        "```",
    ] {
        assert_eq!(read(&format!("Final Answer: 1994\n{more}")).2, "1994", "{more}");
    }
}
