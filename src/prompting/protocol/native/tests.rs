use super::{ID, Native};
use crate::base::{Call, FunctionCall, Message, Outcome, Prompt, Reply, Request, Role, Tool, Verbatim};
use crate::prompting::protocol::testing::{begun, kinds, options, setup, stopped, used};
use crate::prompting::protocol::{Dialogue, Frame, Kind, Options, Protocol, ToolTexts, Turn};
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;

fn native(pairs: &[(&str, &str)]) -> Native {
    Native::new(&options(pairs)).expect("known options")
}

fn frame(protocol: Native) -> Frame {
    let texts = [("feedback", "Error: {error}."), ("no_call", "Call a tool."), ("force_stop", "Finish now.")];
    Frame {
        system: Some("SYSTEM".into()),
        tools: protocol.tools(&ToolTexts::default()),
        texts: texts.map(|(name, text)| (name.to_owned(), text.into())).into(),
        ..Frame::default()
    }
}

/// A dialogue of at most four steps that has been asked `Why?`, and its first request.
fn asked(protocol: Native) -> (Box<dyn Dialogue>, Request) {
    let (dialogue, turn) = begun(&protocol, setup(frame(protocol), 4));
    (dialogue, request(turn))
}

fn request(turn: Turn) -> Request {
    match turn {
        Turn::Ask(request) => request,
        other => panic!("expected a request, got {other:?}"),
    }
}

fn messages(request: &Request) -> &[Message] {
    match &request.prompt {
        Prompt::Messages(messages) => messages,
        Prompt::Text { .. } => panic!("expected messages"),
    }
}

fn reply(text: &str, calls: &[(&str, &str)]) -> Call {
    let call = |(n, (name, arguments)): (usize, &(&str, &str))| FunctionCall {
        id: format!("c{n}"),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
    };
    Call { completion: text.to_owned(), calls: calls.iter().enumerate().map(call).collect(), ..Call::default() }
}

#[test]
fn a_call_is_a_step_and_its_result_answers_it() {
    let (mut dialogue, first) = asked(native(&[]));
    let functions = first.functions.as_ref().expect("functions");
    let names: Vec<&str> = functions.list.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["search", "lookup", "finish"]);
    assert_eq!((functions.required, functions.parallel, functions.strict), (false, false, false));
    let verbatim = Verbatim { endpoint: "messages".into(), content: json!(["signed"]) };
    let call = Call { verbatim: Some(verbatim.clone()), ..reply(" I look. ", &[("search", r#"{"query":"Lviv"}"#)]) };
    let step = used(dialogue.called(&call));
    assert_eq!((step.tool, step.input.as_str(), step.thought.as_deref()), (Tool::Search, "Lviv", Some("I look.")));
    assert_eq!((step.action_text.as_str(), step.reply), (r#"search({"query":"Lviv"})"#, Reply::Tool));
    let second = request(dialogue.observation("A city."));
    let [.., said, result] = messages(&second) else { panic!("too few messages") };
    assert_eq!((said.calls.as_slice(), said.verbatim.as_deref()), (call.calls.as_slice(), Some(&verbatim)));
    assert_eq!((result.role, result.answers.as_deref(), &*result.content), (Role::Tool, Some("c0"), "A city."));
    let finish = used(dialogue.called(&reply("", &[("finish", r#"{"answer":"in Ukraine"}"#)])));
    assert_eq!((finish.tool, finish.step, finish.reply), (Tool::Finish, 2, Reply::None));
    let ended = stopped(dialogue.observation(""));
    assert_eq!(
        (ended.outcome, ended.answer.as_deref(), kinds(&ended)),
        (Outcome::Finished, Some("in Ukraine"), vec![])
    );
    assert_eq!(dialogue.memory(), [Message::user("Question: Why?"), Message::assistant("in Ukraine")]);
}

#[test]
fn parallel_calls_are_steps_in_order_and_every_call_is_answered() {
    let calls = [("search", r#"{"query":"A"}"#), ("lookup", r#"{"keyword":"b"}"#)];
    let (mut dialogue, _) = asked(native(&[("parallel", "on")]));
    assert_eq!(used(dialogue.called(&reply("Both.", &calls))).input, "A");
    let second = used(dialogue.observation("a"));
    assert_eq!((second.step, second.tool, second.thought), (2, Tool::Lookup, None));
    let request = request(dialogue.observation("b"));
    let results: Vec<_> = messages(&request).iter().filter_map(|message| message.answers.as_deref()).collect();
    assert_eq!(results, ["c0", "c1"]);

    let (mut dialogue, _) = asked(native(&[]));
    let step = used(dialogue.called(&reply("", &calls)));
    assert_eq!(step.discarded.as_deref(), Some(r#"lookup({"keyword":"b"})"#));
    let request = super::tests::request(dialogue.observation("a"));
    let [.., first, extra] = messages(&request) else { panic!("too few messages") };
    assert_eq!((first.answers.as_deref(), &*first.content), (Some("c0"), "a"));
    assert!(extra.answers.as_deref() == Some("c1") && extra.content.starts_with("Error: one call at a time"));
    used(dialogue.called(&reply("", &[("finish", r#"{"answer":"x"}"#)])));
    assert_eq!(kinds(&stopped(dialogue.observation(""))), ["extra_call"]);
}

#[test]
fn every_call_has_an_id_of_its_own_and_what_is_sent_back_agrees() {
    for (version, given, ids) in [
        (2, ["a", "b"], ["a", "b"]),
        (2, ["same", "same"], ["same", "c00010002"]),
        (2, ["", ""], ["c00010001", "c00010002"]),
        (2, ["c00010002", ""], ["c00010002", "c00010003"]),
        (2, ["", "c00010001"], ["c00010002", "c00010001"]),
        (1, ["a", "b"], ["a", "b"]),
        (1, ["same", "same"], ["same", "call_1_2"]),
        (1, ["", ""], ["call_1_1", "call_1_2"]),
        (1, ["call_1_2", ""], ["call_1_2", "call_1_2_"]),
        (1, ["", "call_1_1"], ["call_1_1_", "call_1_1"]),
    ] {
        for endpoint in ["messages", "responses", "chat", "generateContent"] {
            let (mut dialogue, _) = asked(native(&[("parallel", "on")]).of_version(version));
            let search = ("search", r#"{"query":"A"}"#);
            let mut call = reply("", &[search, search]);
            call.calls.iter_mut().zip(given).for_each(|(call, id)| id.clone_into(&mut call.id));
            call.verbatim = Some(Verbatim { endpoint: endpoint.into(), content: json!([]) });
            used(dialogue.called(&call));
            used(dialogue.observation("1"));
            let next = request(dialogue.observation("2"));
            let [.., said, first, second] = messages(&next) else { panic!("too few messages") };
            assert_eq!(said.calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ids);
            assert_eq!([first.answers.as_deref(), second.answers.as_deref()], ids.map(Some), "{endpoint}");
            let agrees = given == ids || !["messages", "responses"].contains(&endpoint);
            assert_eq!(said.verbatim.is_some(), agrees, "{endpoint} {given:?}");
        }
    }
}

#[test]
fn ids_of_our_own_are_nine_letters_and_digits_and_differ_over_many_steps() {
    let (mut dialogue, turn) = begun(&native(&[("parallel", "on")]), setup(frame(native(&[])), 500));
    let (mut turn, mut said) = (turn, Vec::new());
    while let Turn::Ask(request) = &turn {
        said = messages(request).iter().flat_map(|message| message.calls.clone()).collect();
        let search = ("search", r#"{"query":"A"}"#);
        let mut call = reply("", &[search; 45]);
        // Some servers give no ids, others count from 1 in every reply.
        call.calls.iter_mut().step_by(2).for_each(|call| call.id.clear());
        turn = dialogue.called(&call);
        while let Turn::Use(_) = &turn {
            turn = dialogue.observation("A page.");
        }
    }
    let ids: HashSet<&str> = said.iter().map(|call| call.id.as_str()).collect();
    assert!(said.len() > 400 && ids.len() == said.len(), "{} of {}", ids.len(), said.len());
    let is_ours = |id: &&&str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    // Those that the server gives once are kept.
    assert_eq!(ids.iter().filter(is_ours).count(), ids.len() - 22);
}

#[test]
fn an_earlier_version_is_spoken_where_a_run_began_with_it() {
    for (version, call, exemplar) in [(1, "call_3", "example_2_call_3"), (2, "c00030000", "x00020003")] {
        let found = |find: fn(&str, &Options, u32) -> Option<_>| {
            let protocol: Result<Arc<dyn Protocol>, _> = find(ID, &options(&[]), version).expect("a version");
            protocol.expect("no options")
        };
        for protocol in [found(crate::prompting::protocol::find_version), found(crate::prompting::protocol::going_on)] {
            assert_eq!(protocol.version(), version);
            assert_eq!(protocol.reply(3, None, Tool::Search, "A").calls[0].id, call);
            assert_eq!(protocol.result(3, "a").answers.as_deref(), Some(call));
            assert_eq!(protocol.of_exemplar(2, 3), exemplar);
        }
    }
    assert!(crate::prompting::protocol::going_on(ID, &options(&[]), 3).is_none());
    assert_eq!(native(&[]).version(), Native::VERSION);
}

#[test]
fn what_cannot_be_carried_out_is_answered_with_an_error() {
    for (name, arguments, error, kind) in [
        ("fetch", "{}", "there is no tool `fetch`; the tools are search, lookup, finish", "unknown_tool"),
        ("search", r#"{"query":"#, "the arguments are not a JSON object", "malformed_arguments"),
        ("search", "[1]", "the arguments are not a JSON object", "malformed_arguments"),
        ("search", "", "the argument `query` is missing, or is not a text", "malformed_arguments"),
        ("finish", r#"{"answer":null}"#, "the argument `answer` is missing, or is not a text", "malformed_arguments"),
        ("search", r#"{"a":"x","b":"y"}"#, "the tool has no arguments `a`, `b`", "malformed_arguments"),
    ] {
        let (mut dialogue, _) = asked(native(&[]));
        let step = used(dialogue.called(&reply("", &[(name, arguments)])));
        let told = format!("Error: {error}.");
        assert_eq!((step.tool, &step.reply), (Tool::Invalid, &Reply::Given(told.clone())), "{name} {arguments}");
        let next = request(dialogue.observation(&told));
        let last = messages(&next).last().expect("a message");
        assert_eq!((last.answers.as_deref(), &*last.content), (Some("c0"), told.as_str()));
        used(dialogue.called(&reply("", &[("finish", r#"{"answer":"x"}"#)])));
        assert_eq!(kinds(&stopped(dialogue.observation(""))), [kind]);
    }
    let (mut dialogue, _) = asked(native(&[]));
    assert_eq!(used(dialogue.called(&reply("", &[("Search", r#"{"title":1984}"#)]))).input, "1984");
    used(dialogue.observation("x").ask_finish(&mut dialogue));
    assert_eq!(kinds(&stopped(dialogue.observation(""))), ["tool_name", "argument_name", "argument_type"]);
}

impl Turn {
    /// Answers a request by finishing.
    fn ask_finish(self, dialogue: &mut Box<dyn Dialogue>) -> Turn {
        request(self);
        dialogue.called(&reply("", &[("finish", r#"{"answer":"x"}"#)]))
    }
}

#[test]
fn a_reply_without_a_call_is_the_answer_or_is_told_about_once() {
    let (mut dialogue, _) = asked(native(&[("answer", "text")]));
    let step = used(dialogue.called(&reply(" Paris \n", &[])));
    assert_eq!((step.tool, step.input.as_str()), (Tool::Finish, "Paris"));
    assert_eq!(stopped(dialogue.observation("")).answer.as_deref(), Some("Paris"));

    for (protocol, text) in [(native(&[]), "It is Paris."), (native(&[("answer", "text")]), " \n")] {
        let (mut dialogue, _) = asked(protocol);
        assert_eq!(used(dialogue.called(&reply(text, &[]))).reply, Reply::Given("Call a tool.".into()));
        let next = request(dialogue.observation("Call a tool."));
        assert_eq!(messages(&next).last(), Some(&Message::user("Call a tool.")));
        used(dialogue.called(&reply(text, &[])));
        let ended = stopped(dialogue.observation("Call a tool."));
        assert_eq!((ended.outcome, ended.answer.as_deref()), (Outcome::FormatFailure, None));
        assert_eq!(kinds(&ended), ["missing_call", "missing_call"]);
    }
}

#[test]
fn uses_of_tools_are_limited_and_the_last_is_announced() {
    let (mut dialogue, _) = asked(native(&[("parallel", "on")]));
    let search = ("search", r#"{"query":"A"}"#);
    used(dialogue.called(&reply("", &[search; 3])));
    used(dialogue.observation("1"));
    used(dialogue.observation("2"));
    let last = request(dialogue.observation("3"));
    assert_eq!(messages(&last).last(), Some(&Message::user("Finish now.")));
    used(dialogue.called(&reply("", &[search; 2])));
    let ended = stopped(dialogue.observation("4"));
    assert_eq!((ended.outcome, ended.detail.as_deref()), (Outcome::StepLimit, Some("no answer within 4 steps")));
}

#[test]
fn options_are_checked_and_steps_are_read_back() {
    let refused = |pairs| Native::new(&options(pairs)).expect_err("refused").hint();
    assert!(refused(&[("answer", "both")]).contains("`tool` or `text`"));
    assert!(refused(&[("answer", "text"), ("choice", "required")]).contains("answer=text"));
    assert!(refused(&[("format", "json")]).contains("parallel=off|on"));
    let strict = native(&[("strict", "on"), ("choice", "required")]);
    let functions = strict.functions(&frame(strict).tools);
    assert!(functions.required && functions.list[0].parameters["additionalProperties"] == false);
    for (protocol, tool, input, kind) in [
        (native(&[]), Tool::Search, "a \"b\"\n{c}", Kind::Act),
        (native(&[]), Tool::Lookup, "k", Kind::Act),
        (native(&[]), Tool::Finish, "yes", Kind::Finish),
        (native(&[("answer", "text")]), Tool::Finish, "yes", Kind::Finish),
    ] {
        let parsed = protocol.parse(&protocol.step(2, Some("So."), tool, input), 2);
        assert_eq!((parsed.kind, parsed.answer.or(parsed.input).as_deref()), (kind, Some(input)), "{tool:?}");
    }
    assert_eq!(native(&[]).parse("It is Paris.", 1).kind, Kind::Invalid);
    assert_eq!(native(&[]).id(), ID);
}

#[test]
fn a_reply_is_parsed_as_a_run_reads_its_calls() {
    for (calls, kind, read) in [
        (&[("finish", r#"{"answer":true}"#)][..], Kind::Finish, "true"),
        (&[("FINISH", r#"{"Answer":"x"}"#)], Kind::Finish, "x"),
        (&[("Search", r#"{"query":"A"}"#), ("finish", r#"{"answer":"x"}"#)], Kind::Act, "A"),
        (&[("finish", r#"{"answer":["a","b"]}"#)], Kind::Invalid, "the argument `answer` is missing, or is not a text"),
        (&[("search", "[1]")], Kind::Invalid, "the arguments are not a JSON object"),
        (&[("fetch", "{}")], Kind::Invalid, "there is no tool `fetch`; the tools are search, lookup, finish"),
    ] {
        let (mut dialogue, _) = asked(native(&[]));
        let step = used(dialogue.called(&reply("So.", calls)));
        let lines =
            calls.iter().map(|(name, arguments)| format!("\n{{\"name\":\"{name}\",\"arguments\":{arguments}}}"));
        let parsed = native(&[]).parse(&format!("So.{}", lines.collect::<String>()), 1);
        let found = parsed.answer.or(parsed.input).or(parsed.error);
        assert_eq!((parsed.kind, found.as_deref(), parsed.thought), (kind, Some(read), step.thought), "{calls:?}");
        match step.reply {
            Reply::Given(told) => assert_eq!(told, format!("Error: {read}.")),
            _ => assert_eq!(step.input, read),
        }
    }
}
