use super::super::testing::{self, lines, message_lines, messages_frame, options, stopped, used};
use super::super::{Dialogue, Kind, Protocol, Setup, ToolSpec, Turn};
use super::{Effect, Executor, Form, Lagent, json_reply};
use crate::base::{Message, Outcome, Reply, Tool};

const JSON: (&str, &str) = ("variant", "json");
const V01: (&str, &str) = ("labels", "v0.1");

fn lagent(pairs: &[(&str, &str)]) -> Lagent {
    Lagent::new(&options(pairs)).expect("known options")
}

fn tool() -> ToolSpec {
    ToolSpec::new(Tool::Search, "It's a tool.", "a \"title\"")
}

/// A dialogue that has been asked `Why?`, after an example and an earlier question.
fn begun(pairs: &[(&str, &str)], max_steps: usize) -> (Box<dyn Dialogue>, Turn) {
    let history = vec![Message::user("before"), Message::assistant("then")];
    let setup = Setup { history, ..testing::setup(messages_frame(&[("force_stop", "STOP")]), max_steps) };
    testing::begun(&lagent(pairs), setup)
}

fn run(form: Form, mend: bool, name: &str, input: &str) -> Effect {
    Executor { tools: &[tool()], mend }.run(form, name, input)
}

fn say(text: &str) -> Effect {
    Effect::Say(text.to_owned())
}

#[test]
fn the_json_form_has_no_labels() {
    Lagent::new(&options(&[JSON, ("finish", "F:")])).expect_err("no labels in JSON");
}

#[test]
fn single_labels_replace_those_of_the_release() {
    let own = lagent(&[("response", "Observation:"), ("action", "Do:"), V01]);
    let parsed = own.parse("Thought: t\nDo: Search\nActionInput: x", 1);
    assert_eq!((parsed.kind, parsed.tool.as_deref(), parsed.input.as_deref()), (Kind::Act, Some("Search"), Some("x")));
    assert_eq!(own.observation(1, "o"), "Observation:o\n");
    assert_eq!(own.step(1, Some("t"), Tool::Search, "x"), "Thought: t\nDo: Search\nActionInput: x");
}

#[test]
fn arguments_are_refused_in_upstreams_words() {
    let strict = |input: &str| run(Form::V02, false, "Search", input);
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
    for input in ["{\"query\": \"x\"}\n```", "```json\n{\"query\": \"x\"}\n``` \n"] {
        assert!(matches!(strict(input), Effect::Use(call) if call.input == "x"), "{input}");
    }
}

#[test]
fn an_unknown_action_says_its_own_arguments() {
    for (name, input, effect) in [
        ("nope", "{\"q\": 1}", say("{\"q\": 1}")),
        ("nope", "", say("The action is invalid, please check the action name.")),
        ("FinishAction.run", "x", say("x")),
        ("NoAction", "hello", say("hello")),
        ("FinishAction", "42", Effect::Finish("42".to_owned())),
        ("Search.nope", "{}", say("invalid API: nope")),
        ("Search.", "{}", say("invalid API: ")),
    ] {
        assert_eq!(run(Form::V02, false, name, input), effect, "{name}");
    }
}

#[test]
fn the_first_releases_hand_text_on() {
    let object = "{\"query\": \"x\"}";
    for (mend, raw, input, repairs) in [(true, "x y", "x y", 0), (true, object, "x", 1), (false, object, object, 0)] {
        let Effect::Use(call) = run(Form::V01, mend, "Search", raw) else { panic!("{raw}") };
        assert_eq!((call.input.as_str(), call.repairs.len()), (input, repairs));
    }
    assert_eq!(run(Form::V01, false, "Search.run", ""), say("The action is invalid, please check the action name."));
    assert_eq!(run(Form::V01, false, "a.b.c", "x"), say("x"));
}

#[test]
fn the_last_turn_is_told_to_stop_and_the_first_releases_remember() {
    let head = ["S: SYSTEM", "U: eq", "A: ea", "U: before", "A: then", "U: Why?"];
    let (mut dialogue, turn) = begun(&[], 2);
    assert_eq!(message_lines(turn), head);
    let call = used(dialogue.completion("no labels"));
    assert_eq!(
        (call.action_text.as_str(), call.reply),
        ("no labels", Reply::Given("Please follow the format".to_owned()))
    );
    let told = ["A: no labels", "S: Response:Please follow the format\n", "S: STOP"];
    assert_eq!(message_lines(dialogue.observation("Please follow the format")), [&head[..], &told].concat());
    dialogue.completion("Action: nope\nAction Input: ö");
    let stop = stopped(dialogue.observation("ö"));
    assert_eq!(
        (stop.outcome, stop.detail.as_deref()),
        (Outcome::StepLimit, Some("Sorry that I cannot answer your question."))
    );
    assert!(dialogue.memory().is_empty());

    let (mut dialogue, turn) = begun(&[V01, ("language", "zh")], 1);
    assert_eq!(message_lines(turn), head, "the first releases never ask for the end");
    dialogue.completion("hm");
    let given_up = "对不起，我无法回答你的问题";
    assert_eq!(stopped(dialogue.observation("Please follow the format")).detail.as_deref(), Some(given_up));
    assert_eq!(lines(&dialogue.memory()), ["U: before", "A: then", "U: Why?", &format!("A: {given_up}")]);
    let (mut dialogue, _) = begun(&[V01], 1);
    dialogue.completion("FinalAnswer: 42");
    assert_eq!(stopped(dialogue.observation("")).answer.as_deref(), Some("42"));
    assert_eq!(dialogue.memory()[3], Message::assistant(" 42"));
    for options in [&[][..], &[JSON]] {
        assert_eq!(stopped(begun(options, 0).1).outcome, Outcome::StepLimit);
    }
}

#[test]
fn json_replies_are_read_as_upstream_reads_them() {
    let comments =
        "  // said\n{\"thought_process\": \"t\",\n\u{a0}// {\n\"\\u0063onclusion\": \" c \", \"action\": \"dict\"}";
    let reply = json_reply(comments).expect("a reply");
    assert_eq!((reply.kind, reply.answer.as_deref()), (Kind::Finish, Some(" c ")));
    let both = "{\"thought_process\": \"t\", \"conclusion\": \"c\", \"action\": {\"name\": \"n\", \"parameters\": {}, \"x\": 1}}";
    assert!(json_reply(both).is_ok_and(|reply| reply.kind == Kind::Finish && reply.answer.is_none()));
}

#[test]
fn json_conversations_are_of_users_and_assistants() {
    let act = |thought: &str, name: &str, parameters: &str| {
        format!(
            "{{\"thought_process\": \"{thought}\", \"action\": {{\"name\": \"{name}\", \"parameters\": {parameters}}}}}"
        )
    };
    let (mut dialogue, turn) = begun(&[JSON], 2);
    assert_eq!(message_lines(turn), ["S: SYSTEM", "U: eq", "A: ea", "U: before", "A: then", "U: Why?"]);
    let call = used(dialogue.completion(&act("t", "nope", "{\"a\": 1}")));
    assert_eq!(call.reply, Reply::Given("{\"a\":1}".to_owned()));
    assert_eq!(message_lines(dialogue.observation("{\"a\":1}"))[7..], ["U: {\"a\":1}", "S: STOP"]);
    let last = act("t", "Search", "{\"query\": \"x\"}");
    dialogue.completion(&last);
    let stop = stopped(dialogue.observation("found"));
    assert_eq!((stop.outcome, stop.answer), (Outcome::StepLimit, None));
    assert_eq!(dialogue.memory().last(), Some(&Message::assistant(last.as_str())));

    let stop = stopped(begun(&[JSON], 2).0.completion(&act("t", "FinishAction", "{}")));
    assert_eq!(stop.outcome, Outcome::FormatFailure);
    assert!(stop.detail.is_some_and(|detail| detail.contains("TypeError")));

    let (mut dialogue, _) = begun(&[JSON], 2);
    let call = used(dialogue.completion(&act("no conclusion", "Search", "{\"query\": \"x\"}")));
    assert_eq!((call.tool, call.reply), (Tool::Finish, Reply::None), "the word alone ends the run");
    assert_eq!(stopped(dialogue.observation("")).answer.as_deref(), Some(""));
}

#[test]
fn users_in_a_row_become_one_message() {
    let history = vec![Message::user("before"), Message::assistant("then")];
    let mut frame = messages_frame(&[]);
    frame.examples.truncate(1);
    let (_, turn) = testing::begun(&lagent(&[JSON]), Setup { history, ..testing::setup(frame, 2) });
    assert_eq!(message_lines(turn), ["S: SYSTEM", "U: eqbefore", "A: then", "U: Why?"]);
}

#[test]
fn tools_are_listed_in_python_or_json() {
    let listed = |options: &[(&str, &str)]| lagent(options).slots(&[tool()]).swap_remove(0).1;
    assert_eq!(listed(&[V01]), "{'Search': \"It's a tool.\"}");
    let json = "[{\"name\": \"Search\", \"description\": \"It's a tool.\", \"parameters\": [{";
    assert!(listed(&[JSON]).starts_with(json));
}

#[test]
fn a_step_is_read_back_as_it_was_written() {
    let labels = lagent(&[]);
    assert_eq!(
        labels.step(1, Some("t"), Tool::Search, "a \"b\" é"),
        "Thought: t\nAction: Search\nAction Input: {\"query\": \"a \\\"b\\\" é\"}"
    );
    assert_eq!(labels.step(1, None, Tool::Finish, "x"), "Final Answer: x");
    let json = lagent(&[JSON]);
    let step = json.step(1, Some("t"), Tool::Lookup, "x");
    assert_eq!(json.parse(&step, 1).tool.as_deref(), Some("Lookup"));
    assert_eq!(json.step(1, Some("t"), Tool::Finish, "x"), "{\"thought_process\": \"t\", \"conclusion\": \"x\"}");
}
