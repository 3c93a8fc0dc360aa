//! How replies are read. `docs/protocols.md` has one example of each repair and of each refusal; these are the others.

use super::super::Fault;
use super::super::line::Offered;
use super::super::repair::*;
use super::super::reply::Reply;
use crate::base::Tool::{self, Finish, Lookup, Search, Think};
use crate::base::ToolSet;
use crate::prompting::protocol::{Protocol as _, robust::Robust};

/// Reads a reply with no other placeholders than ours.
pub(super) fn reply_of(reply: &str, n: usize, thoughts: bool) -> Reply {
    Reply::read(reply, n, thoughts, &Offered::of(ToolSet::default()))
}

/// Reads a reply to step 1; the kinds of its repairs, the action and the thought.
pub(super) fn read(reply: &str) -> (Vec<&'static str>, Tool, String, Option<String>) {
    let Reply { thought, action, repairs, .. } = reply_of(reply, 1, true);
    let action = action.unwrap_or_else(|refused| panic!("{reply:?}: {}", refused.fault));
    (repairs.kinds().collect(), action.tool, action.input, thought)
}

/// Checks tool, argument and repairs of replies whose thought is `t`.
pub(super) fn check(cases: &[(&str, Tool, &str, &[&str])]) {
    for (reply, tool, input, kinds) in cases {
        let thought = Some("t".to_owned());
        assert_eq!(read(reply), (kinds.to_vec(), *tool, (*input).to_owned(), thought), "{reply:?}");
    }
}

/// The same for actions with thought and label in the form asked for.
pub(super) fn check_actions(cases: &[(&str, Tool, &str, &[&str])]) {
    for (action, tool, input, kinds) in cases {
        check(&[(&format!("Thought 1: t\nAction 1: {action}"), *tool, input, kinds)]);
    }
}

/// The sentence that a reply is refused with.
pub(super) fn refused(reply: &str) -> String {
    match reply_of(reply, 1, true).action {
        Err(refused) => refused.fault.to_string(),
        Ok(action) => panic!("{reply:?} was taken as {:?} {:?}", action.tool, action.input),
    }
}

pub(super) fn discarded(reply: &str) -> String {
    reply_of(reply, 1, true).discarded.unwrap_or_default()
}

#[test]
fn a_step_in_the_form_asked_for_needs_no_repair() {
    check(&[
        (" Thought 1: t\n\nAction 1: Lookup[x y]\n", Lookup, "x y", &[]),
        ("Thought 1: t\r\nAction 1: Finish[yes]\r\n", Finish, "yes", &[]),
    ]);
    check_actions(&[
        ("Search[北京]", Search, "北京", &[]),
        ("Think[hm]", Think, "hm", &[]),
        ("Lookup[]", Lookup, "", &[]),
        ("Search[  x ].", Search, "x", &[]),
        ("\nAction 1: Search[x]", Search, "x", &[]),
    ]);
}

#[test]
fn the_text_is_cut_where_an_observation_or_a_later_step_begins() {
    const INVENTED: &str = INVENTED_OBSERVATION;
    for (later, kind) in [
        ("Observation 1: foo", INVENTED),
        ("**Observation:** foo", INVENTED),
        ("observation 7: x", INVENTED),
        ("观察 1：x", INVENTED),
        ("Thought 2: u\nAction 2: Finish[y]", LATER_STEP),
        ("action 2: Finish[y]", LATER_STEP),
        ("**Action 10:** Finish[y]", LATER_STEP),
    ] {
        let reply = format!("Thought 1: t\nAction 1: Search[x]\n{later}");
        check(&[(&reply, Search, "x", &[kind])]);
        assert_eq!(discarded(&reply), later);
        let reply = format!("Thought 1: t\nAction 1:\n{later}\nAction 1: Search[x]");
        assert_eq!(refused(&reply), "the reply has no action");
        assert_eq!(discarded(&reply), format!("{later}\nAction 1: Search[x]"));
    }
    // A server that honours the stops changes nothing.
    let reply = "Thought 1: t\nAction 1: nothing\nAction 2: Search[x]\nObservation 2: y";
    let stopped = &reply[..reply.find("\nAction 2:").expect("the stop")];
    assert_eq!(reply_of(reply, 1, true).action, reply_of(stopped, 1, true).action);
}

#[test]
fn the_first_complete_action_counts_and_the_rest_is_set_aside() {
    check_actions(&[
        ("Search[x]\nAction 1: Search[y]", Search, "x", &[LATER_STEP]),
        ("Search[x] Search[y]", Search, "x", &[LATER_TEXT]),
        ("Search[x]\nI shall wait.", Search, "x", &[LATER_TEXT]),
        ("Search[x]\nObservation", Search, "x", &[LATER_TEXT]),
    ]);
    check(&[("Thought: t\nAction: Search[x]\nThought: u\nAction: Finish[y]", Search, "x", &[LABEL_FORM, LATER_STEP])]);
    assert_eq!(discarded("Thought 1: t\nAction 1: Search[x] on a website\n\nmore"), "on a website\n\nmore");
    let (_, _, input, thought) = read("Action 1: Search[x]\nThought 1: t");
    assert_eq!((input.as_str(), thought), ("x", None), "a thought after the action is too late");
    let reply = "Sure!\n\nThought 1: t\nAction 1: Search[x]";
    check(&[(reply, Search, "x", &[PREAMBLE])]);
    assert_eq!(discarded(reply), "Sure!");
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
        ("> Thought 1: t", "  > - _Action_ : Search[x]"),
        ("Thought 1：t", "Action １：Search[x]"),
        ("思考 1：t", "行动 1：Search[x]"),
        ("Thought 1: Thought 1: t", "Action 1: Search[x]"),
    ] {
        check(&[(&format!("{thought}\n{action}"), Search, "x", &[LABEL_FORM])]);
    }
    for line in ["Actions: Search[x] a", "My Action: Search[x] a", "Action 1 (a): Search[x] a", "Action 1 Search[x] a"]
    {
        assert_eq!(refused(line), "the reply has no action", "{line}");
    }
}

#[test]
fn labels_may_be_missing() {
    check(&[
        ("Thought 1: t\nSearch[x]", Search, "x", &[MISSING_LABEL]),
        ("Thought 1: t\n`search[x]`", Search, "x", &[MISSING_LABEL, ACTION_MARKS, VERB_FORM]),
        ("Thought 1: t\nSearch: x", Search, "x", &[MISSING_LABEL, ACTION_FORM]),
        ("Thought 1: t\nSearch \"x\"", Search, "x", &[MISSING_LABEL, ACTION_FORM]),
        ("Thought 1: t Action 1: Search[x]", Search, "x", &[INLINE_ACTION]),
        ("Thought 1: t search[x].", Search, "x", &[INLINE_ACTION, VERB_FORM]),
    ]);
    assert_eq!(read("Let me do Search[x].\nSo: Search[x]").2, "x");
}

#[test]
fn fences_tags_and_think_blocks_are_left_out() {
    let reply = "Thought 1: t\nAction 1: Search[x]";
    check(&[
        ("Thought 1: t\n```text\nAction 1: Search[x]\n```", Search, "x", &[FENCE]),
        ("Thought 1: t\n<tool_call>{\"search\": \"x\"}</tool_call>", Search, "x", &[FENCE, ACTION_FORM]),
        (
            "Thought 1: t\n<tool_call>\n{\"name\": \"Search\", \"arguments\": {\"q\": \"x\"}}\n</tool_call>",
            Search,
            "x",
            &[FENCE, ACTION_FORM],
        ),
        (&format!("Finish[y]</think>{reply}"), Search, "x", &[THINK_BLOCK]),
        (&format!("<think></think><thinking>a</thinking>{reply}"), Search, "x", &[THINK_BLOCK]),
    ]);
    check_actions(&[
        ("\n```json\n{\"search\": \"x\"}\n```", Search, "x", &[FENCE, ACTION_BELOW, ACTION_FORM]),
        ("\n\nFinish[NO]", Finish, "NO", &[ACTION_BELOW]),
    ]);
}

#[test]
fn a_thought_is_one_line() {
    let (kinds, _, _, thought) = read("Thought 1: a\n\n- b\nc \nAction 1: Search[x]");
    assert_eq!((kinds, thought.as_deref()), (vec![THOUGHT_LINES], Some("a - b c")));
    let (kinds, tool, input, thought) = read(r#"{"thought": "t", "action": "Finish", "input": "x"}"#);
    assert_eq!((kinds, tool, input.as_str(), thought.as_deref()), (vec![ACTION_FORM], Finish, "x", Some("t")));
    let reply = reply_of("Thought 1: t\nAction 1: Search[x]", 1, false);
    assert_eq!((reply.thought, reply.discarded.as_deref()), (None, Some("t")), "the method has no thoughts");
    assert_eq!(reply_of("Action 1: Search[x]", 1, false).repairs.kinds().count(), 0);
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
        "Search “x”",
        "Search `x`",
        "Search\nAction Input: x",
        "Search\nAction Input: {\"query\": \"x\"}",
        "Search［x］",
        "Search【x】",
        "Search（x）",
        "{\"action\": \"Search\", \"input\": \"x\"}",
        "{\n  \"action\": \"Search\",\n  \"action_input\": \"x\"\n}",
    ] {
        let (kinds, tool, input, _) = read(&format!("Thought 1: t\nAction 1: {action}"));
        assert_eq!((tool, input.as_str()), (Search, "x"), "{action}");
        assert!(kinds.iter().all(|kind| [ACTION_FORM, ARGUMENT_QUOTES].contains(kind)), "{action}: {kinds:?}");
        assert!(kinds.contains(&ACTION_FORM), "{action}");
    }
}

#[test]
fn verbs_count_in_any_case_or_in_chinese() {
    for (verb, tool) in [
        ("SEARCH", Search),
        ("Look up", Lookup),
        ("LookUp", Lookup),
        ("look_up", Lookup),
        ("搜索", Search),
        ("查找", Lookup),
        ("完成", Finish),
    ] {
        check_actions(&[(&format!("{verb}[x]"), tool, "x", &[VERB_FORM])]);
    }
    for verb in ["Searching", "Finished", "Research", "搜索一下"] {
        let sentence = refused(&format!("Thought 1: t\nAction 1: {verb}[x]"));
        assert!(sentence.starts_with(&format!("`{verb}[x]` is not an action")), "{sentence}");
    }
}

#[test]
fn brackets_balance_and_quotes_around_the_whole_go() {
    const QUOTES: &[&str] = &[ARGUMENT_QUOTES];
    check_actions(&[
        ("\"Search[x]\"", Search, "x", &[ACTION_MARKS]),
        ("`Search[x]`", Search, "x", &[ACTION_MARKS]),
        ("- Search[x]", Search, "x", &[ACTION_MARKS]),
        ("Search[[x] y]", Search, "[x] y", &[]),
        ("Search[[Solaris (novel)]]", Search, "Solaris (novel)", &[DOUBLED_BRACKETS]),
        ("Finish[[[x]]]", Finish, "x", &[DOUBLED_BRACKETS]),
        ("Finish[[x], [y]]", Finish, "[x], [y]", &[]),
        ("Search[List [of] things]", Search, "List [of] things", &[]),
        ("Search[a [b]", Search, "a [b]", &[UNCLOSED_BRACKET]),
        ("Search[x\n\nI wait]", Search, "x", &[UNCLOSED_BRACKET, LATER_TEXT]),
        ("Search(x (2017 film))", Search, "x (2017 film)", &[ACTION_FORM]),
        ("Search[“x”]", Search, "x", QUOTES),
        ("Search[「x」]", Search, "x", QUOTES),
        ("Search[' \"x\" ']", Search, "x", QUOTES),
        ("Search[《x》]", Search, "《x》", &[]),
        ("Search[x's]", Search, "x's", &[]),
        ("Search[\"]", Search, "\"", &[]),
        ("Finish[\"a\" and \"b\"]", Finish, "\"a\" and \"b\"", &[]),
        ("Finish[a\nb\r\n c]", Finish, "a b c", &[ARGUMENT_LINES]),
    ]);
}

#[test]
fn a_labelled_answer_is_a_finish() {
    check(&[
        ("Thought 1: t\n**Answer:** 42", Finish, "42", &[ANSWER_LABEL]),
        ("Thought 1: t\n**Answer: 42**", Finish, "42", &[ANSWER_LABEL]),
        ("Thought 1: t\nAnswer: \"42\"", Finish, "42", &[ANSWER_LABEL, ARGUMENT_QUOTES]),
        ("Thought 1: t\n最终答案：42", Finish, "42", &[ANSWER_LABEL]),
        ("Thought 1: t\nFinal Answer:\n42", Finish, "42", &[ACTION_BELOW, ANSWER_LABEL]),
        ("Thought 1: t\nAnswer: Finish[42]", Finish, "42", &[ANSWER_LABEL]),
    ]);
}

#[test]
fn the_fault_of_an_unusable_reply_is_named() {
    for (reply, problem) in [
        ("", "the reply is empty"),
        (" \n", "the reply is empty"),
        ("I think so.", "the reply has no action"),
        ("I did Search[x] already", "the reply has no action"),
        ("I did Research[x]", "the reply has no action"),
        ("Thought 1: t\nAction 1:", "the reply has no action"),
        ("<think>\nAction 1: Search[x]", "the reply ends inside its reasoning"),
        ("I can do Search[x]\nor maybe Search[y]", &Fault::Several.to_string()),
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
    let parsed = Robust::default().parse("t", 1);
    assert_eq!((parsed.thought.as_deref(), parsed.error.as_deref()), (Some("t"), Some("the reply has no action")));
}

/// A normalised step reads as what was executed, without a repair.
#[test]
fn a_normalised_step_is_a_step() {
    for reply in
        ["**Thought:** t\nmore\nsearch: \"x\"", "{\"thought\": \"t\", \"finish\": \"a\\nb\"}", "t\nSearch[[x] y]"]
    {
        let (_, tool, input, thought) = read(reply);
        let step = Robust::default().step(1, thought.as_deref(), tool, &input);
        assert_eq!(read(&step), (vec![], tool, input, thought), "{step}");
    }
}

/// Each of these is long; a reader that looks back would take minutes.
#[test]
fn long_replies_are_read_once() {
    const LENGTH: usize = 400_000;
    for piece in [
        "Action 1: {\n",
        "Action: Search\n",
        "Search[x\n",
        "Answer:\n",
        "*",
        "Observation",
        "Search\n\n",
        "Search: {\n",
        "{\"a\":[\n{\"a\":[0],\"b\":1},",
        "[\n\n",
        "<action>",
        "Answer: x\n",
        "<|channel|>",
        "Search[title] ",
        "Action 1: Search\n```\n",
    ] {
        let _ = reply_of(&piece.repeat(LENGTH / piece.len()), 1, true);
    }
}
