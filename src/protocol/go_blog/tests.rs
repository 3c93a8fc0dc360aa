use super::super::{Dialogue, Frame, Kind, Options, Protocol, Setup, ToolSpec, Turn};
use super::{GoBlog, NO_SUCH_TOOL};
use crate::types::{Decoding, Message, Outcome, Prompt, Question, Reply, Request, Role, Tool};
use std::collections::BTreeMap;
use std::sync::Arc;

fn go(arguments: &str) -> GoBlog {
    let options = BTreeMap::from([("arguments".to_owned(), arguments.to_owned())]);
    GoBlog::new(&Options(options)).expect("a known option")
}

fn tool() -> ToolSpec {
    ToolSpec {
        tool: Tool::Search,
        name: "Search".to_owned(),
        description: "Finds.".to_owned(),
        parameter: "query".to_owned(),
        parameter_description: "A title.".to_owned(),
    }
}

fn begun(arguments: &str, max_steps: usize) -> (Box<dyn Dialogue>, Turn) {
    let setup = Setup {
        frame: Frame {
            system: Some("SYSTEM".into()),
            examples: vec![Message::user("example")],
            tools: vec![tool()],
            texts: BTreeMap::from([("feedback".to_owned(), Arc::from("{error}, once more"))]),
            ..Frame::default()
        },
        question_label: "Claim".to_owned(),
        max_steps,
        thoughts: true,
        decoding: Decoding::default(),
        history: vec![Message::user("before")],
    };
    let mut dialogue = go(arguments).dialogue(&Arc::new(setup));
    let turn = dialogue.begin(&Question::new("q", "Why?", vec![]));
    (dialogue, turn)
}

fn contents(turn: &Turn) -> Vec<(Role, &str)> {
    let Turn::Ask(Request { prompt: Prompt::Messages(messages), stop, .. }) = turn else { panic!("{turn:?}") };
    assert!(stop.is_empty());
    messages.iter().map(|message| (message.role, &*message.content)).collect()
}

/// The last two messages after a reply and its observation.
fn kept(reply: &str, observation: &str) -> (String, String) {
    let (mut dialogue, _) = begun("mend", 9);
    dialogue.completion(reply);
    let turn = dialogue.observation(observation);
    match contents(&turn)[..] {
        [.., (Role::Assistant, kept), (Role::User, shown)] => (kept.to_owned(), shown.to_owned()),
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_object_counts_and_newlines_are_the_labels() {
    let parsed = go("mend").parse(
        "\u{c}\nThought: a\n\n\nAction: web-search (x)\n\nAction Input: so {\"a\": {\"b\": 1}} {\"c\": 2}\nAnswer: }",
        1,
    );
    assert_eq!((parsed.kind, parsed.thought.as_deref(), parsed.tool.as_deref()), (Kind::Act, Some("a"), Some("web")));
    assert_eq!(parsed.input.as_deref(), Some("{\"a\": {\"b\": 1}}"));
    let second = go("mend").parse("Thought: \nAction: 天气\nAction: B\nAction Input: {}", 1);
    assert_eq!((second.thought.as_deref(), second.tool.as_deref()), (Some("Action: 天气"), Some("B")));
}

#[test]
fn what_the_regular_expressions_refuse() {
    for text in [
        "Sure. Thought: a\nAction: B\nAction Input: {}",
        "\u{a0}Thought: a\nAction: B\nAction Input: {}",
        "Thought:a\nAction: B\nAction Input: {}",
        "Thought: a Action: B\nAction Input: {}",
        "Thought: a\nAction: B Action Input: {}",
        "Thought: a\nAction: B\nAction Input: }{",
        "Thought: a\nAction: B\nAction Input: {'a': 1}",
        "Thought: a\nAnswer: Action: x",
        "Thought: a Answer: x",
        "Answer: x",
        "x",
        "",
    ] {
        assert_eq!(go("mend").parse(text, 1).kind, Kind::Invalid, "{text}");
    }
}

#[test]
fn the_first_answer_splits() {
    let parsed = go("mend").parse("Well. Thought:a\n\nAnswer: x\nAnswer: y\n", 1);
    assert_eq!((parsed.thought.as_deref(), parsed.answer.as_deref()), (Some("a"), Some("x\nAnswer: y")));
}

#[test]
fn invented_observations_are_set_aside() {
    let call = "Thought: t\nAction: Search\nAction Input: {\"query\": \"x\"}";
    let (mut dialogue, turn) = begun("mend", 9);
    assert_eq!(
        contents(&turn),
        [(Role::System, "SYSTEM"), (Role::User, "example"), (Role::User, "before"), (Role::User, "Question: Why?")]
    );
    let Turn::Use(used) = dialogue.completion(&format!("{call}\nObservation: y\nAnswer: z")) else { panic!("no call") };
    assert_eq!((used.tool, used.input.as_str(), used.reply), (Tool::Search, "x", Reply::Tool));
    assert_eq!(used.discarded.as_deref(), Some("Observation: y\nAnswer: z"));
    let turn = dialogue.observation("found");
    assert_eq!(contents(&turn)[4..], [(Role::Assistant, call), (Role::User, "Observation: found")]);
    let Turn::Use(used) = dialogue.completion("Thought: u\nAnswer:  z ") else { panic!("no answer") };
    assert_eq!((used.tool, used.discarded, used.reply), (Tool::Finish, None, Reply::None));
    let Turn::Stop(stop) = dialogue.observation("") else { panic!("no stop") };
    assert_eq!((stop.outcome, stop.answer.as_deref()), (Outcome::Finished, Some("z")));
    assert_eq!(stop.repairs.iter().map(|repair| repair.kind.as_str()).collect::<Vec<_>>(), ["discarded_text"]);
    let memory =
        [Message::user("before"), Message::user("Question: Why?"), Message::assistant("Thought: u\nAnswer: z")];
    assert_eq!(dialogue.memory(), memory);
}

#[test]
fn a_reply_without_more_is_kept_as_it_is() {
    let reply = " Thought: t\n\nAction: Search()\nAction Input: {\"query\": \"x\"}\n";
    assert_eq!(kept(reply, "o"), (reply.to_owned(), "Observation: o".to_owned()));
}

#[test]
fn errors_are_told() {
    let said = |arguments: &str, reply: &str| {
        let (mut dialogue, _) = begun(arguments, 9);
        let Turn::Use(call) = dialogue.completion(reply) else { panic!("no step") };
        let Reply::Given(text) = call.reply else { panic!("{call:?}") };
        let turn = dialogue.observation(&text);
        assert_eq!(contents(&turn).last(), Some(&(Role::User, text.as_str())));
        text
    };
    let call = |tool: &str, input: &str| format!("Thought: t\nAction: {tool}\nAction Input: {input}");
    assert_eq!(said("mend", &call("Nope", "{}")), NO_SUCH_TOOL);
    assert_eq!(said("mend", &call("Nope", "{x}")), NO_SUCH_TOOL);
    assert_eq!(said("mend", &call("Search", "{x}")), "Error: the Action Input is not a valid JSON object, once more");
    assert_eq!(said("mend", &call("Search", "{}")), "Error: the argument `query` is missing, once more");
    assert_eq!(said("strict", &call("Search", "{\"q\": 1}")), "Error: the tool has no argument `q`, once more");
    assert_eq!(said("mend", "hm"), "Error: the reply has neither an `Action: ` nor an `Answer: `, once more");
}

#[test]
fn replies_are_limited_and_what_is_unanswered_is_forgotten() {
    let (mut dialogue, _) = begun("mend", 2);
    dialogue.completion("hm");
    assert!(matches!(dialogue.observation("Error: no"), Turn::Ask(_)));
    dialogue.completion("hm");
    let Turn::Stop(stop) = dialogue.observation("Error: no") else { panic!("no stop") };
    assert_eq!((stop.outcome, stop.answer), (Outcome::StepLimit, None));
    assert_eq!(dialogue.memory(), [Message::user("before")]);
    assert!(matches!(begun("mend", 0).1, Turn::Stop(_)));
}

#[test]
fn steps_and_tools_are_written_in_the_prompts_form() {
    let go = go("mend");
    let step = go.step(1, Some("t"), Tool::Lookup, "a \"b\"");
    assert_eq!(step, "Thought: t\nAction: Lookup\nAction Input: {\"keyword\": \"a \\\"b\\\"\"}");
    assert_eq!(go.parse(&step, 1).kind, Kind::Act);
    assert_eq!(go.parse(&go.step(1, Some("t"), Tool::Finish, "x"), 1).answer.as_deref(), Some("x"));
    let [(_, description), (_, names)] = &go.slots(&[tool(), tool()])[..] else { panic!("two slots") };
    assert_eq!(names, "Search, Search");
    let one = "> Tool Name: Search\nTool Description: Finds.\nTool Args: {\"properties\": {\"query\": {";
    assert!(description.starts_with(one) && description.contains(&format!("}}\n\n{one}")), "{description}");
}

/// In a time that grows with the square of its length, one of them would take hours.
#[test]
fn long_replies_are_read_in_linear_time() {
    for text in [
        format!("Thought: {}", "\n".repeat(1_000_000)),
        format!("Thought: {}Action:", "\n".repeat(1_000_000)),
        format!("Thought: {}", "\nAction: a".repeat(100_000)),
        format!("Thought: {}", "\nAction: -\nAction Input: ".repeat(40_000)),
        format!("Thought: \nAction: a\nAction Input: {}", "{".repeat(1_000_000)),
        format!("Thought: \nAction: a\nAction Input: {}}}", "{\"a\":".repeat(200_000)),
        format!("Thought: \nAction: a\nAction Input: {{\"{}}}", "\\\"".repeat(500_000)),
        "Thought:\nAnswer".repeat(70_000),
    ] {
        let parsed = go("mend").parse(&text, 1);
        assert!(parsed.input.is_none_or(|input| input.len() <= text.len()), "{} …", &text[..20]);
        begun("mend", 3).0.completion(&text);
    }
}
