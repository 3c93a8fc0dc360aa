use super::super::{Dialogue, Frame, Kind, OptionError, Options, Protocol, Setup, ToolSpec, Turn};
use super::executor::{Effect, Executor};
use super::{Lagent, Release, json, parse};
use crate::types::{Decoding, Message, Outcome, Prompt, Question, Reply, Request, Role, Tool};
use std::collections::BTreeMap;
use std::sync::Arc;

fn lagent(options: &[(&str, &str)]) -> Lagent {
    made(options).expect("known options")
}

fn made(options: &[(&str, &str)]) -> Result<Lagent, OptionError> {
    Lagent::new(&Options(options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()))
}

fn tool() -> ToolSpec {
    ToolSpec {
        tool: Tool::Search,
        name: "Search".to_owned(),
        description: "It's a tool.".to_owned(),
        parameter: "query".to_owned(),
        parameter_description: "a \"title\"".to_owned(),
    }
}

fn setup(max_steps: usize) -> Setup {
    Setup {
        frame: Frame {
            system: Some("PROTOCOL".into()),
            examples: vec![Message::user("example")],
            tools: vec![tool()],
            texts: BTreeMap::from([("force_stop".to_owned(), Arc::from("STOP"))]),
            ..Frame::default()
        },
        question_label: "Question".to_owned(),
        max_steps,
        thoughts: true,
        decoding: Decoding::default(),
        history: vec![Message::user("before"), Message::assistant("then")],
    }
}

fn begun(options: &[(&str, &str)], max_steps: usize) -> (Box<dyn Dialogue>, Turn) {
    let mut dialogue = lagent(options).dialogue(&Arc::new(setup(max_steps)));
    let turn = dialogue.begin(&Question::new("q", "Why?", vec![]));
    (dialogue, turn)
}

fn contents(turn: &Turn) -> Vec<(Role, String)> {
    let Turn::Ask(Request { prompt: Prompt::Messages(messages), .. }) = turn else { panic!("{turn:?}") };
    messages.iter().map(|message| (message.role, message.content.to_string())).collect()
}

fn run(release: Release, mend: bool, name: &str, input: &str) -> Effect {
    Executor { tools: &[tool()], mend }.run(release, name, input)
}

fn say(text: &str) -> Effect {
    Effect::Say(text.to_owned())
}

fn raised(effect: Effect) -> String {
    match effect {
        Effect::Raise(exception) => exception,
        other => panic!("{other:?}"),
    }
}

#[test]
fn options_are_checked() {
    for options in [
        [("labels", "v0.3")],
        [("variant", "xml")],
        [("language", "de")],
        [("arguments", "yes")],
        [("thought", "")],
        [("color", "red")],
    ] {
        made(&options).expect_err("an option that there is not");
    }
    made(&[("variant", "json"), ("finish", "F:")]).expect_err("no labels in JSON");
    assert_eq!(lagent(&[]).max_steps(), 4);
    assert_eq!(lagent(&[("labels", "v0.1")]).max_steps(), 2);
    assert_eq!(lagent(&[("variant", "json")]).max_steps(), 5);
}

#[test]
fn single_labels_replace_those_of_the_release() {
    let own = lagent(&[("response", "Observation:"), ("action", "Do:"), ("labels", "v0.1")]);
    let parsed = own.parse("Thought: t\nDo: Search\nActionInput: x", 1);
    assert_eq!((parsed.kind, parsed.tool.as_deref(), parsed.input.as_deref()), (Kind::Act, Some("Search"), Some("x")));
    assert_eq!(own.observation(1, "o"), "Observation:o\n");
    assert_eq!(own.step(1, Some("t"), Tool::Search, "x"), "Thought: t\nDo: Search\nActionInput: x");
}

#[test]
fn the_last_action_goes_with_everything_after_the_first_input() {
    let labels = lagent(&[]).labels;
    let reply = parse::reply("Action: A\nAction Input: \"1\nAction: B\nAction: cut off", &labels);
    assert_eq!((reply.thought, reply.action, reply.input), ("", "B", "1\nAction: B\nAction: cut off"));
    let reply = parse::reply("Action: x Action: y\nAction Input: \u{1f}{\"a\"", &labels);
    assert_eq!((reply.action, reply.input), ("x Action: y", "{\"a"));
    let reply = parse::reply("a Thought: b Thought: c Final Answer: d Final Answer: e \n", &labels);
    assert_eq!((reply.thought, reply.action, reply.input), (" c ", "FinishAction", " e \n"));
}

#[test]
fn arguments_are_refused_in_upstreams_words() {
    let strict = |input: &str| run(Release::V02, false, "Search", input);
    for (input, text) in [
        ("{\"q\": 1, \"it's\": 2}", "unknown arguments: {'q', \"it's\"}"),
        ("[\"query\"]", "Search.run() argument after ** must be a mapping"),
        ("```json\nnull\n```", "Search.run() argument after ** must be a mapping"),
        ("```\n{}\n```", "invalid json format: ```\n{}"),
        ("```json\n```", "invalid json format: ```json"),
        ("```json{}```", "invalid json format: ```json{}```"),
        ("x", "invalid json format: x"),
    ] {
        assert_eq!(strict(input), say(text), "{input}");
    }
    for input in ["{\"query\": \"x\"}\n```", "```json\n{\"query\": \"x\"}\n``` \n", "{\"query\": \"x\"}"] {
        assert!(matches!(strict(input), Effect::Use(call) if call.input == "x"), "{input}");
    }
}

#[test]
fn what_raises_upstream_is_named() {
    let strict = |name: &str, input: &str| raised(run(Release::V02, false, name, input));
    assert_eq!(strict("a.b.c", ""), "ValueError: too many values to unpack (expected 2)");
}

#[test]
fn an_unknown_action_says_its_own_arguments() {
    let strict = |name: &str, input: &str| run(Release::V02, false, name, input);
    assert_eq!(strict("nope", "{\"q\": 1}"), say("{\"q\": 1}"));
    assert_eq!(strict("nope", ""), say("The action is invalid, please check the action name."));
    assert_eq!(strict("FinishAction.run", "x"), say("x"));
    assert_eq!(strict("NoAction", "hello"), say("hello"));
    assert_eq!(strict("FinishAction", "42"), Effect::Finish("42".to_owned()));
    assert_eq!(strict("Search.nope", "{}"), say("invalid API: nope"));
    assert_eq!(strict("Search.", "{}"), say("invalid API: "));
}

#[test]
fn the_first_releases_hand_text_on() {
    let input = |effect: Effect| match effect {
        Effect::Use(call) => (call.input, call.repairs.len()),
        other => panic!("{other:?}"),
    };
    let object = "{\"query\": \"x\"}";
    assert_eq!(input(run(Release::V01, true, "Search", "x y")), ("x y".to_owned(), 0));
    assert_eq!(input(run(Release::V01, true, "Search", object)), ("x".to_owned(), 1));
    assert_eq!(input(run(Release::V01, false, "Search", object)), (object.to_owned(), 0));
    assert_eq!(run(Release::V01, false, "Search.run", ""), say("The action is invalid, please check the action name."));
    assert_eq!(run(Release::V01, false, "a.b.c", "x"), say("x"));
}

#[test]
fn messages_stand_in_upstreams_order() {
    let (mut dialogue, turn) = begun(&[], 2);
    let start = [
        (Role::System, "PROTOCOL"),
        (Role::User, "example"),
        (Role::User, "before"),
        (Role::Assistant, "then"),
        (Role::User, "Why?"),
    ]
    .map(|(role, content)| (role, content.to_owned()));
    assert_eq!(contents(&turn), start);
    let Turn::Use(call) = dialogue.completion("no labels") else { panic!("no step") };
    assert_eq!(
        (call.tool, call.action_text.as_str(), call.reply),
        (Tool::Invalid, "no labels", Reply::Given("Please follow the format".to_owned()))
    );
    let turn = dialogue.observation("Please follow the format");
    let rest =
        [(Role::Assistant, "no labels"), (Role::System, "Response:Please follow the format\n"), (Role::System, "STOP")]
            .map(|(role, content)| (role, content.to_owned()));
    assert_eq!(contents(&turn), [start.as_slice(), &rest].concat());
    dialogue.completion("Action: nope\nAction Input: ö");
    let Turn::Stop(stop) = dialogue.observation("ö") else { panic!("no stop") };
    assert_eq!((stop.outcome, stop.answer), (Outcome::StepLimit, None));
    assert_eq!(stop.detail.as_deref(), Some("Sorry that I cannot answer your question."));
    assert!(dialogue.memory().is_empty());
}

#[test]
fn the_first_releases_never_force_a_stop_and_remember() {
    let (mut dialogue, turn) = begun(&[("labels", "v0.1"), ("language", "zh")], 1);
    assert_eq!(contents(&turn).last().map(|(_, content)| content.as_str()), Some("Why?"));
    dialogue.completion("hm");
    let Turn::Stop(stop) = dialogue.observation("Please follow the format") else { panic!("no stop") };
    assert_eq!(stop.detail.as_deref(), Some("对不起，我无法回答你的问题"));
    let kept = [
        Message::user("before"),
        Message::assistant("then"),
        Message::user("Why?"),
        Message::assistant("对不起，我无法回答你的问题"),
    ];
    assert_eq!(dialogue.memory(), kept);
    let (mut dialogue, _) = begun(&[("labels", "v0.1")], 1);
    dialogue.completion("FinalAnswer: 42");
    let Turn::Stop(stop) = dialogue.observation("") else { panic!("no stop") };
    assert_eq!((stop.outcome, stop.answer.as_deref()), (Outcome::Finished, Some("42")));
    assert_eq!(dialogue.memory()[3], Message::assistant(" 42"));
}

#[test]
fn no_turns_at_all_give_the_question_up() {
    assert!(matches!(begun(&[], 0).1, Turn::Stop(stop) if stop.outcome == Outcome::StepLimit));
    assert!(matches!(begun(&[("variant", "json")], 0).1, Turn::Stop(stop) if stop.outcome == Outcome::StepLimit));
}

#[test]
fn json_replies_are_read_as_upstream_reads_them() {
    let error = |text: &str| json::reply(text).expect_err(text);
    assert_eq!(
        error("{\"thought_process\": \"t\", \"conclusion\": \"int\"}"),
        "ValueError: Field 'conclusion' is required but not provided"
    );
    assert!(
        error("{\"thought_process\": \"t\", \"action\": {\"name\": 1, \"parameters\": {}}}")
            .starts_with("UnboundLocalError")
    );
    assert!(error(&"[".repeat(100_000)).starts_with("ValueError"));
    let comments =
        "  // said\n{\"thought_process\": \"t\",\n\u{a0}// {\n\"\\u0063onclusion\": \" c \", \"action\": \"dict\"}";
    let reply = json::reply(comments).expect("a reply");
    assert!(reply.last);
    assert_eq!(reply.body, json::Body::Conclusion(" c ".to_owned()));
    let both = "{\"thought_process\": \"t\", \"conclusion\": \"c\", \"action\": {\"name\": \"n\", \"parameters\": {}, \"x\": 1}}";
    assert!(matches!(json::reply(both), Ok(reply) if reply.last && matches!(reply.body, json::Body::Action { .. })));
}

#[test]
fn json_conversations_are_of_users_and_assistants() {
    let act = |name: &str, parameters: &str| {
        format!("{{\"thought_process\": \"t\", \"action\": {{\"name\": \"{name}\", \"parameters\": {parameters}}}}}")
    };
    let (mut dialogue, turn) = begun(&[("variant", "json")], 2);
    assert_eq!(
        contents(&turn)[1..],
        [
            (Role::User, "examplebefore".to_owned()),
            (Role::Assistant, "then".to_owned()),
            (Role::User, "Why?".to_owned())
        ]
    );
    let Turn::Use(call) = dialogue.completion(&act("nope", "{\"a\": 1}")) else { panic!("no step") };
    assert_eq!(call.reply, Reply::Given("{\"a\":1}".to_owned()));
    let asked = contents(&dialogue.observation("{\"a\":1}"));
    assert_eq!(asked[5..], [(Role::User, "{\"a\":1}".to_owned()), (Role::System, "STOP".to_owned())]);
    let last = act("Search", "{\"query\": \"x\"}");
    dialogue.completion(&last);
    let Turn::Stop(stop) = dialogue.observation("found") else { panic!("no stop") };
    assert_eq!((stop.outcome, stop.answer), (Outcome::StepLimit, None));
    assert_eq!(dialogue.memory().last(), Some(&Message::assistant(last.as_str())));
    let (mut dialogue, _) = begun(&[("variant", "json")], 2);
    let Turn::Stop(stop) = dialogue.completion(&act("FinishAction", "{}")) else { panic!("no stop") };
    assert_eq!(stop.outcome, Outcome::FormatFailure);
    assert!(stop.detail.is_some_and(|detail| detail.contains("TypeError")));
}

#[test]
fn a_word_in_the_thought_ends_a_json_run_without_an_answer() {
    let (mut dialogue, _) = begun(&[("variant", "json")], 2);
    let text = "{\"thought_process\": \"no conclusion\", \"action\": {\"name\": \"Search\", \"parameters\": {\"query\": \"x\"}}}";
    let Turn::Use(call) = dialogue.completion(text) else { panic!("no step") };
    assert_eq!((call.tool, call.reply), (Tool::Finish, Reply::None));
    let Turn::Stop(stop) = dialogue.observation("") else { panic!("no stop") };
    assert_eq!((stop.outcome, stop.answer.as_deref()), (Outcome::Finished, Some("")));
}

#[test]
fn lists_are_python_s_and_json_s() {
    let slots = |options: &[(&str, &str)]| lagent(options).slots(&[tool()]);
    let listed = |options: &[(&str, &str)]| slots(options).swap_remove(0).1;
    assert!(listed(&[]).starts_with("[{'name': 'Search', 'description': \"It's a tool.\", 'parameters': [{'name': 'query', 'type': 'STRING', 'description': 'a \"title\"'}], 'required': ['query'], 'parameter_description': 'If you"));
    assert_eq!(listed(&[("labels", "v0.1")]), "{'Search': \"It's a tool.\"}");
    assert!(
        listed(&[("variant", "json")])
            .starts_with("[{\"name\": \"Search\", \"description\": \"It's a tool.\", \"parameters\": [{")
    );
    assert_eq!(slots(&[])[1], ("action_names", "['Search']".to_owned()));
}

#[test]
fn steps_are_written_as_they_are_read() {
    let labels = lagent(&[]);
    assert_eq!(
        labels.step(1, Some("t"), Tool::Search, "a \"b\" é"),
        "Thought: t\nAction: Search\nAction Input: {\"query\": \"a \\\"b\\\" é\"}"
    );
    assert_eq!(labels.step(1, None, Tool::Finish, "x"), "Final Answer: x");
    let json = lagent(&[("variant", "json")]);
    let step = json.step(1, Some("t"), Tool::Lookup, "x");
    assert_eq!(
        step,
        "{\"thought_process\": \"t\", \"action\": {\"name\": \"Lookup\", \"parameters\": {\"keyword\": \"x\"}}}"
    );
    assert_eq!(json.parse(&step, 1).tool.as_deref(), Some("Lookup"));
    assert_eq!(json.step(1, Some("t"), Tool::Finish, "x"), "{\"thought_process\": \"t\", \"conclusion\": \"x\"}");
}

/// In a time that grows with the square of its length, one of them would take hours.
#[test]
fn long_replies_are_read_in_linear_time() {
    let texts = [
        "\n".repeat(1_000_000),
        "Action: ".repeat(125_000),
        "Action: a\nAction Input: ".repeat(40_000),
        format!("Action: Search\nAction Input: {}", "\"".repeat(1_000_000)),
        format!("Action: Search\nAction Input: {}", "{\"a\":".repeat(200_000)),
        format!("Action: Search\nAction Input: {}", "\n```".repeat(250_000)),
        format!("{{\"thought_process\": \"{}", "// \n".repeat(250_000)),
    ];
    for (text, options) in texts.iter().flat_map(|text| [(text, &[][..]), (text, &[("variant", "json")])]) {
        let parsed = lagent(options).parse(text, 1);
        assert!(parsed.input.is_none_or(|input| input.len() <= text.len()), "{} …", &text[..20]);
        begun(options, 3).0.completion(text);
    }
}
