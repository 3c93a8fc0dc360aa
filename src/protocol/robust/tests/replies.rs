//! How replies are read.

use super::super::fault::Fault;
use super::super::repair::*;
use super::super::reply::Reply;
use crate::protocol::{Kind, Protocol as _, robust::Robust};
use crate::types::Tool;
use std::fmt::Write as _;

/// Reads a reply to step 1; the kinds of its repairs, the action and the thought.
fn read(reply: &str) -> (Vec<&'static str>, Tool, String, Option<String>) {
    let Reply { thought, action, repairs, .. } = Reply::read(reply, 1, true);
    let action = action.unwrap_or_else(|refused| panic!("{reply:?}: {}", refused.fault));
    (repairs.kinds().collect(), action.tool, action.input, thought)
}

/// Checks tool, argument and repairs of replies whose thought is `t`.
fn check(cases: &[(&str, Tool, &str, &[&str])]) {
    for (reply, tool, input, kinds) in cases {
        let thought = Some("t".to_owned());
        assert_eq!(read(reply), (kinds.to_vec(), *tool, (*input).to_owned(), thought), "{reply:?}");
    }
}

/// The sentence that a reply is refused with.
fn refused(reply: &str) -> String {
    match Reply::read(reply, 1, true).action {
        Err(refused) => refused.fault.to_string(),
        Ok(action) => panic!("{reply:?} was taken as {:?} {:?}", action.tool, action.input),
    }
}

fn discarded(reply: &str) -> String {
    Reply::read(reply, 1, true).discarded.unwrap_or_default()
}

#[test]
fn a_step_in_the_form_asked_for_needs_no_repair() {
    check(&[
        ("Thought 1: t\nAction 1: Search[x]", Tool::Search, "x", &[]),
        (" Thought 1: t\n\nAction 1: Lookup[x y]\n", Tool::Lookup, "x y", &[]),
        ("Thought 1: t\r\nAction 1: Finish[yes]\r\n", Tool::Finish, "yes", &[]),
        ("Thought 1: t\nAction 1: Think[hm]", Tool::Think, "hm", &[]),
        ("Thought 1: t\nAction 1: Search[北京]", Tool::Search, "北京", &[]),
        ("Thought 1: t\nAction 1: Lookup[]", Tool::Lookup, "", &[]),
    ]);
}

#[test]
fn the_text_is_cut_where_an_observation_begins() {
    for observation in ["Observation 1: foo", "**Observation:** foo", "observation 7: x", "观察 1：x"] {
        let reply = format!("Thought 1: t\nAction 1: Search[x]\n{observation}");
        assert_eq!(read(&reply), (vec![INVENTED_OBSERVATION], Tool::Search, "x".into(), Some("t".into())));
        assert_eq!(discarded(&reply), observation);
        let reply = format!("Thought 1: t\n{observation}\nAction 1: Search[x]");
        assert_eq!(refused(&reply), "the reply has no action");
        assert_eq!(discarded(&reply), format!("{observation}\nAction 1: Search[x]"));
    }
}

#[test]
fn the_text_is_cut_where_a_later_step_begins() {
    for later in ["Thought 2: u\nAction 2: Finish[y]", "action 2: Finish[y]", "**Action 10:** Finish[y]"] {
        let reply = format!("Thought 1: t\nAction 1: Search[x]\n{later}");
        assert_eq!(read(&reply), (vec![LATER_STEP], Tool::Search, "x".into(), Some("t".into())));
        assert_eq!(discarded(&reply), later);
        assert_eq!(refused(&format!("Thought 1: t\n{later}")), "the reply has no action");
    }
}

/// Whether the server honoured the stops or not, the same is executed.
#[test]
fn the_literal_stops_change_nothing() {
    let reply = "Thought 1: t\nAction 1: nothing\nAction 2: Search[x]\nObservation 2: y";
    let stopped = &reply[..reply.find("\nAction 2:").expect("the stop")];
    assert_eq!(Reply::read(reply, 1, true).action, Reply::read(stopped, 1, true).action);
}

#[test]
fn the_first_complete_action_counts() {
    check(&[
        ("Thought 1: t\nAction 1: Search[x]\nAction 1: Search[y]", Tool::Search, "x", &[LATER_STEP]),
        ("Thought: t\nAction: Search[x]\nThought: u\nAction: Finish[y]", Tool::Search, "x", &[LABEL_FORM, LATER_STEP]),
        ("Thought 1: t\nAction 1: Search[x] Search[y]", Tool::Search, "x", &[LATER_TEXT]),
        ("Thought 1: t\nAction 1:\nAction 1: Search[x]", Tool::Search, "x", &[]),
    ]);
    let (_, _, input, thought) = read("Action 1: Search[x]\nThought 1: t");
    assert_eq!((input.as_str(), thought), ("x", None), "a thought behind the action comes too late");
}

#[test]
fn text_after_the_action_is_set_aside() {
    check(&[
        ("Thought 1: t\nAction 1: Search[x] on a website", Tool::Search, "x", &[LATER_TEXT]),
        ("Thought 1: t\nAction 1: Search[x]\nI shall wait.", Tool::Search, "x", &[LATER_TEXT]),
        ("Thought 1: t\nAction 1: Search[x].", Tool::Search, "x", &[]),
        ("Thought 1: t\nAction 1: Search[x]\nObservation", Tool::Search, "x", &[LATER_TEXT]),
    ]);
    assert_eq!(discarded("Thought 1: t\nAction 1: Search[x] on a website\n\nmore"), "on a website\n\nmore");
}

#[test]
fn labels_are_found_in_every_form() {
    for (thought, action) in [
        ("Thought: t", "Action: Search[x]"),
        ("THOUGHT 1: t", "action 1: Search[x]"),
        ("Thought 1:t", "Action 1:Search[x]"),
        ("Thought  1 : t", "Action1 : Search[x]"),
        ("**Thought 1:** t", "**Action 1:** Search[x]"),
        ("**Thought 1**: t", "### Action 1: Search[x]"),
        ("> Thought 1: t", "- Action 1: Search[x]"),
        ("Thought 1：t", "Action 1：Search[x]"),
        ("思考 1：t", "行动 1：Search[x]"),
        ("Thought 0: t", "Action 0: Search[x]"),
        ("Thought 1: Thought 1: t", "Action 1: Search[x]"),
    ] {
        check(&[(&format!("{thought}\n{action}"), Tool::Search, "x", &[LABEL_FORM])]);
    }
    // The first line cannot begin a later step: the model has miscounted.
    check(&[("Thought 3: t\nAction 1: Search[x]", Tool::Search, "x", &[LABEL_FORM])]);
}

#[test]
fn labels_may_be_missing() {
    check(&[
        ("t\nAction 1: Search[x]", Tool::Search, "x", &[MISSING_LABEL]),
        ("Thought 1: t\nSearch[x]", Tool::Search, "x", &[MISSING_LABEL]),
        ("Thought 1: t\n`search[x]`", Tool::Search, "x", &[MISSING_LABEL, ACTION_MARKS, VERB_FORM]),
        ("Thought 1: t\nSearch: x", Tool::Search, "x", &[MISSING_LABEL, ACTION_FORM]),
        ("Thought 1: t\nSearch \"x\"", Tool::Search, "x", &[MISSING_LABEL, ACTION_FORM]),
    ]);
}

#[test]
fn fences_and_tags_are_left_out() {
    check(&[
        ("```\nThought 1: t\nAction 1: Search[x]\n```", Tool::Search, "x", &[FENCE]),
        ("Thought 1: t\n```text\nAction 1: Search[x]\n```", Tool::Search, "x", &[FENCE]),
        (
            "Thought 1: t\nAction 1:\n```json\n{\"search\": \"x\"}\n```",
            Tool::Search,
            "x",
            &[FENCE, ACTION_BELOW, ACTION_FORM],
        ),
        (
            "Thought 1: t\n<tool_call>\n{\"name\": \"Search\", \"arguments\": {\"q\": \"x\"}}\n</tool_call>",
            Tool::Search,
            "x",
            &[FENCE, ACTION_FORM],
        ),
        ("Thought 1: t\n<tool_call>{\"search\": \"x\"}</tool_call>", Tool::Search, "x", &[FENCE, ACTION_FORM]),
    ]);
}

#[test]
fn a_think_block_is_left_out() {
    check(&[
        (
            "<think>Action 1: Finish[y]\n</think>\n\nThought 1: t\nAction 1: Search[x]",
            Tool::Search,
            "x",
            &[THINK_BLOCK],
        ),
        ("Finish[y]</think>Thought 1: t\nAction 1: Search[x]", Tool::Search, "x", &[THINK_BLOCK]),
        ("<think></think><thinking>a</thinking>Thought 1: t\nAction 1: Search[x]", Tool::Search, "x", &[THINK_BLOCK]),
    ]);
    assert_eq!(refused("<think>\nAction 1: Search[x]"), "the reply ends inside its <think> block");
}

#[test]
fn text_before_the_thoughts_label_is_set_aside() {
    let reply = "Sure!\n\nThought 1: t\nAction 1: Search[x]";
    check(&[(reply, Tool::Search, "x", &[PREAMBLE])]);
    assert_eq!(discarded(reply), "Sure!");
}

#[test]
fn a_thought_is_one_line() {
    check(&[("Thought 1: t\nAction 1: Search[x]", Tool::Search, "x", &[])]);
    let (kinds, _, _, thought) = read("Thought 1: a\n\n- b\nc \nAction 1: Search[x]");
    assert_eq!((kinds, thought.as_deref()), (vec![THOUGHT_LINES], Some("a - b c")));
}

#[test]
fn an_action_may_stand_below_its_label() {
    check(&[
        ("Thought 1: t\nAction 1: \n\nFinish[NO]", Tool::Finish, "NO", &[ACTION_BELOW]),
        ("Thought 1: t\n**Action 1:**\nFinish[NO]", Tool::Finish, "NO", &[LABEL_FORM, ACTION_BELOW]),
    ]);
    assert_eq!(refused("Thought 1: t\nAction 1:"), "the reply has no action");
}

#[test]
fn an_action_has_many_forms() {
    for action in [
        "Search: x",
        "Search：x",
        "Search: [x]",
        "Search: {\"query\": \"x\"}",
        "Search(x)",
        "Search(\"x\")",
        "Search(query=\"x\")",
        "Search (x)",
        "Search [x]",
        "Search \"x\"",
        "Search “x”",
        "Search `x`",
        "Search\nAction Input: x",
        "Search\nAction Input: {\"query\": \"x\"}",
        "Search\nAction Input:\n```json\n{\"query\": \"x\"}\n```",
        "Search［x］",
        "Search【x】",
        "Search（x）",
        "{\"action\": \"Search\", \"input\": \"x\"}",
        "{\n  \"action\": \"Search\",\n  \"action_input\": \"x\"\n}",
    ] {
        let (kinds, tool, input, _) = read(&format!("Thought 1: t\nAction 1: {action}"));
        assert_eq!((tool, input.as_str()), (Tool::Search, "x"), "{action}");
        assert!(kinds.iter().all(|kind| [ACTION_FORM, ARGUMENT_QUOTES].contains(kind)), "{action}: {kinds:?}");
        assert!(kinds.contains(&ACTION_FORM), "{action}");
    }
}

#[test]
fn json_brings_its_thought_along() {
    let (kinds, tool, input, thought) = read(r#"{"thought": "t", "action": "Finish", "input": "x"}"#);
    assert_eq!((kinds, tool, input.as_str(), thought.as_deref()), (vec![ACTION_FORM], Tool::Finish, "x", Some("t")));
}

#[test]
fn quotes_and_marks_around_an_action_go() {
    for action in ["\"Search[x]\"", "`Search[x]`", "**Search[x]**", "- Search[x]"] {
        check(&[(&format!("Thought 1: t\nAction 1: {action}"), Tool::Search, "x", &[ACTION_MARKS])]);
    }
}

#[test]
fn verbs_in_any_case_or_chinese() {
    for (verb, tool) in [
        ("search", Tool::Search),
        ("SEARCH", Tool::Search),
        ("Look up", Tool::Lookup),
        ("LookUp", Tool::Lookup),
        ("look_up", Tool::Lookup),
        ("搜索", Tool::Search),
        ("查找", Tool::Lookup),
        ("完成", Tool::Finish),
    ] {
        check(&[(&format!("Thought 1: t\nAction 1: {verb}[x]"), tool, "x", &[VERB_FORM])]);
    }
    for verb in ["Searching", "Finished", "Research", "搜索一下"] {
        let sentence = refused(&format!("Thought 1: t\nAction 1: {verb}[x]"));
        assert!(sentence.starts_with(&format!("`{verb}[x]` is not an action")), "{sentence}");
    }
}

#[test]
fn brackets_balance() {
    check(&[
        ("Thought 1: t\nAction 1: Search[[x] y]", Tool::Search, "[x] y", &[]),
        ("Thought 1: t\nAction 1: Search[List [of] things]", Tool::Search, "List [of] things", &[]),
        ("Thought 1: t\nAction 1: Search[x", Tool::Search, "x", &[UNCLOSED_BRACKET]),
        ("Thought 1: t\nAction 1: Search[a [b]", Tool::Search, "a [b]", &[UNCLOSED_BRACKET]),
        ("Thought 1: t\nAction 1: Search[x\n\nI wait]", Tool::Search, "x", &[UNCLOSED_BRACKET, LATER_TEXT]),
        ("Thought 1: t\nAction 1: Search(x (2017 film))", Tool::Search, "x (2017 film)", &[ACTION_FORM]),
    ]);
}

#[test]
fn an_argument_is_one_trimmed_line_without_quotes() {
    check(&[
        ("Thought 1: t\nAction 1: Search[  x ]", Tool::Search, "x", &[]),
        ("Thought 1: t\nAction 1: Search[\"x\"]", Tool::Search, "x", &[ARGUMENT_QUOTES]),
        ("Thought 1: t\nAction 1: Search[“x”]", Tool::Search, "x", &[ARGUMENT_QUOTES]),
        ("Thought 1: t\nAction 1: Finish[\"a\" and \"b\"]", Tool::Finish, "\"a\" and \"b\"", &[]),
        ("Thought 1: t\nAction 1: Finish[a\nb]", Tool::Finish, "a b", &[ARGUMENT_LINES]),
    ]);
}

#[test]
fn a_labelled_answer_is_a_finish() {
    check(&[
        ("Thought 1: t\nFinal Answer: 42", Tool::Finish, "42", &[ANSWER_LABEL]),
        ("Thought 1: t\n**Answer:** 42", Tool::Finish, "42", &[ANSWER_LABEL]),
        ("Thought 1: t\n**Answer: 42**", Tool::Finish, "42", &[ANSWER_LABEL]),
        ("Thought 1: t\nAnswer: \"42\"", Tool::Finish, "42", &[ANSWER_LABEL, ARGUMENT_QUOTES]),
        ("Thought 1: t\n最终答案：42", Tool::Finish, "42", &[ANSWER_LABEL]),
        ("Thought 1: t\nFinal Answer:\n42", Tool::Finish, "42", &[ACTION_BELOW, ANSWER_LABEL]),
        ("Thought 1: t\nAnswer: Finish[42]", Tool::Finish, "42", &[ANSWER_LABEL]),
    ]);
}

#[test]
fn an_action_at_the_end_of_a_sentence_counts_if_it_is_the_only_one() {
    check(&[
        ("Thought 1: t Action 1: Search[x]", Tool::Search, "x", &[INLINE_ACTION]),
        ("Thought 1: t search[x].", Tool::Search, "x", &[INLINE_ACTION, VERB_FORM]),
    ]);
    assert_eq!(read("Let me do Search[x].\nSo: Search[x]").2, "x");
    assert_eq!(refused("I can do Search[x]\nor maybe Search[y]"), Fault::Several.to_string());
    assert_eq!(refused("I did Search[x] already"), "the reply has no action");
    assert_eq!(refused("I did Research[x]"), "the reply has no action");
}

#[test]
fn what_is_no_action_is_named() {
    for (reply, problem) in [
        ("", "the reply is empty"),
        (" \n", "the reply is empty"),
        ("I think so.", "the reply has no action"),
        ("t\nAction 1: Login", "`Login` is not an action: the tools are Search, Lookup and Finish"),
        ("t\nAction 1: Search", "Search lacks its argument in brackets"),
        ("t\nAction 1: Search for x", "Search lacks its argument in brackets"),
        ("t\nAction 1: Search[]", "the argument of Search is empty"),
        ("t\nAction 1: Finish[\"\"]", "the argument of Finish is empty"),
        ("t\nAction 1: {'search': 'x'}", "the JSON of the action cannot be read, or names no tool"),
    ] {
        assert_eq!(refused(reply), problem, "{reply:?}");
    }
    let long = refused(&format!("Action 1: {}", "é".repeat(1000)));
    assert!(long.contains(&format!("`{}…`", "é".repeat(40))), "{long}");
}

#[test]
fn without_thoughts_a_thought_is_set_aside() {
    let reply = Reply::read("Thought 1: t\nAction 1: Search[x]", 1, false);
    assert_eq!((reply.thought, reply.discarded.as_deref()), (None, Some("t")));
    assert_eq!(reply.repairs.kinds().collect::<Vec<_>>(), [UNASKED_THOUGHT]);
    assert_eq!(Reply::read("Action 1: Search[x]", 1, false).repairs.kinds().count(), 0);
}

#[test]
fn the_common_form() {
    let parsed = Robust.parse("Thought 2: t\nAction 2: search[\"x\"]", 2);
    let fields = (parsed.kind, parsed.thought.as_deref(), parsed.tool.as_deref(), parsed.input.as_deref());
    assert_eq!(fields, (Kind::Act, Some("t"), Some("Search"), Some("x")));
    let parsed = Robust.parse("Final Answer: x", 1);
    assert_eq!((parsed.kind, parsed.thought, parsed.answer.as_deref()), (Kind::Finish, None, Some("x")));
    let parsed = Robust.parse("t", 1);
    let fields = (parsed.kind, parsed.thought.as_deref(), parsed.error.as_deref());
    assert_eq!(fields, (Kind::Invalid, Some("t"), Some("the reply has no action")));
}

/// What is shown to the model again reads as what was executed, without a repair.
#[test]
fn a_normalised_step_is_a_step() {
    for reply in
        ["**Thought:** t\nmore\nsearch: \"x\"", "{\"thought\": \"t\", \"finish\": \"a\\nb\"}", "t\nSearch[[x] y]"]
    {
        let (_, tool, input, thought) = read(reply);
        let step = Robust.step(1, thought.as_deref(), tool, &input);
        assert_eq!(read(&step), (vec![], tool, input, thought), "{step}");
    }
}

/// Each of these is long; a reader that looks back would take minutes.
#[test]
fn long_replies_are_read_once() {
    const LENGTH: usize = 400_000;
    let mut texts = [
        "Search[",
        "\n",
        "Thought: ",
        "Action 1:\n",
        "Action 1: {\n",
        "{\"a\":",
        "Search[x] a ",
        "[",
        "\"",
        "<think>",
        "Action: Search\n",
        "Search[x\n",
        "Answer:\n",
        "*",
        "Action 1: ",
        "```\n",
        "Observation",
        "Search\n\n",
        "Search: {\n",
    ]
    .map(|piece| piece.repeat(LENGTH / piece.len()))
    .to_vec();
    texts.push(format!("{}{}", "Search[x] a ".repeat(LENGTH / 24), " ".repeat(LENGTH / 2)));
    texts.push(format!("Thought: {}Action 1: Search[x]", "\n".repeat(LENGTH)));
    let mut objects = String::from("{\"a\":[");
    for _ in 0..LENGTH / 20 {
        objects.write_str("\n{\"a\":[0],\"b\":1},").expect("a string");
    }
    texts.push(objects);
    for text in texts {
        let _ = Reply::read(&text, 1, true);
    }
}
