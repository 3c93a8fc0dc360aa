//! Prompts in the format of every protocol, and prompts that nobody should send.

use super::{
    Action, BaselineSettings, Decision, ParsedAction, PastStep, Transcript, Wanted, argument, is_complaint, is_error,
    worded,
};
use crate::base::{Decoding, Message, Prompt, Request, Role, Tool};
use crate::models::Baseline;
use crate::prompting::protocol::{self, Kind, Layout, Options, Protocol};
use std::sync::Arc;

const QUESTION: &str = "In which town was the director of Nightfall of Arven born?";

fn read(prefix: &str, rest: &str) -> Transcript {
    Transcript::read(&Prompt::text(prefix.into(), rest), &BaselineSettings::default())
}

fn decision() -> Decision {
    Decision { thought: "I think.".into(), action: Action::Search("X".into()) }
}

fn written_after(transcript: &Transcript, decision: &Decision) -> String {
    transcript.write(decision, &BaselineSettings::default())
}

#[test]
fn the_paper_s_prompt() {
    let rest = "Question: Who?\nThought 1: a\nAction 1: Search[B]\nObservation 1: C. D.\nThought 2: e\nAction 2: Lookup[f]\nObservation 2: (Result 1 / 1) g.\nThought 3:";
    let got = read("Question: other\nThought 1: x\nAction 1: Finish[y]\n", rest);
    let past = |action: &str, observation: &str| PastStep { action: action.into(), observation: observation.into() };
    assert_eq!(got.history.question, "Who?");
    assert!(!got.history.is_claim);
    assert_eq!(got.history.steps, [past("Search[B]", "C. D."), past("Lookup[f]", "(Result 1 / 1) g.")]);
    assert_eq!(got.wanted, Wanted::Step { n: 3, labelled: true });
    assert_eq!(written_after(&got, &decision()), " I think.\nAction 3: Search[X]");
}

#[test]
fn an_action_alone_an_answer_alone_and_a_claim() {
    let got = read("", "Claim: It is so.\nThought 1: a\nAction 1:");
    assert_eq!((got.history.is_claim, got.wanted), (true, Wanted::Action(1)));
    assert_eq!(written_after(&got, &decision()), " Search[X]");
    let got = read("", "Question: Who?\nAnswer:");
    assert!(got.must_answer());
    let finish = Decision { action: Action::Finish("Me".into()), ..decision() };
    assert_eq!(written_after(&got, &finish), " Me");
    let got = read("", "Question: Who?\nAction 1: Search[B]\nObservation 1: C.\nAction 2:");
    assert_eq!((got.history.steps.len(), got.wanted), (1, Wanted::Action(2)));
}

#[test]
fn messages_and_all_in_one() {
    let message = |role, content: &str| Message::new(role, content);
    let prompt = Prompt::Messages(vec![
        message(Role::System, "Rules."),
        message(Role::User, "Question: Who?"),
        message(Role::Assistant, "Thought 1: a\nAction 1: Search[B]"),
        message(Role::User, "Observation 1: C."),
    ]);
    let got = Transcript::read(&prompt, &BaselineSettings::default());
    assert_eq!((got.history.question.as_str(), got.history.steps.len()), ("Who?", 1));
    assert_eq!(got.wanted, Wanted::Step { n: 2, labelled: false });
    assert_eq!(written_after(&got, &decision()), "Thought 2: I think.\nAction 2: Search[X]");
    let got = read("Question: a\nAnswer: b\nQuestion: Who is it?\n", "Thought 1:");
    assert_eq!((got.history.question.as_str(), got.step()), ("Who is it?", 1));
}

#[test]
fn answers_without_tools() {
    for (question, expected) in [
        ("Question: Who was Ann Bee?\nAnswer:", "Ann Bee"),
        ("Question: Who was Ann Bee?\n答案：", "Ann Bee"),
        ("Question: Who was Ann Bee?\nThought:", "The answer is Ann Bee.\nAnswer: Ann Bee"),
    ] {
        let text = Prompt::text("Question: a\nThought: b\nAnswer: c\n\n".into(), question);
        let messages = Prompt::Messages(vec![Message::system("Answer."), Message::user(question)]);
        for (prompt, gap) in [(text, " "), (messages, "")] {
            let read = Transcript::read(&prompt, &BaselineSettings::default());
            assert_eq!((&*read.history.question, read.must_answer()), ("Who was Ann Bee?", true));
            let finish =
                Decision { thought: "The answer is Ann Bee.".into(), action: Action::Finish("Ann Bee".into()) };
            assert_eq!(written_after(&read, &finish), format!("{gap}{expected}"));
        }
    }
}

fn speaking(id: &str) -> (BaselineSettings, Arc<dyn Protocol>) {
    let protocol = protocol::find(id, &Options::default()).expect("a protocol").expect("no options");
    let own = Some(Arc::clone(&protocol));
    (BaselineSettings { protocol: own, last_step: 20, ..BaselineSettings::default() }, protocol)
}

/// A thought may quote a question or a page that contains labels of the protocol.
#[test]
fn labels_in_a_thought_do_not_break_a_reply() {
    for id in ["lagent", "qwen-agent"] {
        let (settings, protocol) = speaking(id);
        let prompt = Prompt::Messages(vec![Message::user("Question: Who wrote Final Answer: A Life?\nThought: ")]);
        let decision = Decision { thought: "I look for Final Answer: A Life.".into(), ..decision() };
        let reply = Transcript::read(&prompt, &settings).write(&decision, &settings);
        assert_eq!(protocol.parse(&reply, 1).kind, Kind::Act, "{id} {reply}");
    }
}

/// A step and what the tool answered, as the protocol writes them.
fn step(protocol: &dyn Protocol, n: usize, input: &str, observation: &str) -> [Message; 2] {
    let observed = protocol.observation(n, observation);
    let reply = Message::assistant(protocol.step(n, Some("t"), Tool::Search, input));
    [reply, Message::new(protocol.observation_role(), observed)]
}

/// A solved example, then the question.
fn conversation(protocol: &dyn Protocol) -> Vec<Message> {
    let question = |text| Message::user(protocol.question("Question", text));
    let solved = protocol.step(2, Some("t"), Tool::Finish, "a painter");
    let mut messages = vec![Message::system("Use Search and Lookup."), question("Who was Ann Bee?")];
    messages.extend(step(protocol, 1, "Ann Bee", "Ann Bee was a painter."));
    messages.extend([Message::assistant(solved), question(QUESTION)]);
    messages
}

/// The prompt of a conversation; a template's is one message.
fn prompt(protocol: &dyn Protocol, messages: &[Message]) -> Prompt {
    if protocol.layout() != Layout::Template {
        return Prompt::Messages(messages.to_vec());
    }
    let all: Vec<&str> = messages.iter().map(|message| message.content.trim_start()).collect();
    Prompt::Messages(vec![Message::user(all.join("\n"))])
}

fn written(settings: &BaselineSettings, prompt: Prompt) -> String {
    let request = Request::new(prompt, vec![], Decoding::default());
    Baseline::new(settings.clone()).reply(&request).text
}

#[test]
fn arguments_are_read_back_in_every_protocol() {
    for id in ["robust", "qwen-agent", "llama-index", "go-blog", "lagent"] {
        let (settings, protocol) = speaking(id);
        for argument in ["b's", "\"quoted\"", "a 'b' \"c\"", "{x: 'y'}", "甲(乙)", "O'Neil, \"Ann\""] {
            if id == "robust" && argument.starts_with('"') {
                continue; // It removes quotes.
            }
            let mut messages = conversation(&*protocol);
            messages.extend(step(&*protocol, 1, argument, "No such page."));
            let read = Transcript::read(&prompt(&*protocol, &messages), &settings);
            let expected = [PastStep { action: format!("Search[{argument}]"), observation: "No such page.".into() }];
            assert_eq!((&*read.history.question, &read.history.steps[..]), (QUESTION, &expected[..]), "{id}");
        }
    }
}

#[test]
fn a_refused_answer_may_be_given_again_after_another_step() {
    let (settings, protocol) = speaking("robust");
    let mut messages = conversation(&*protocol);
    let film = "Nightfall of Arven is a 1961 drama film directed by Mara Lindqvist.";
    let director = "Mara Lindqvist was a Swedish film director. She was born in Tolvsund.";
    messages.extend(step(&*protocol, 1, "Nightfall of Arven", film));
    messages.extend(step(&*protocol, 2, "Mara Lindqvist", director));
    let next = |messages: &[Message], n| {
        let reply = written(&settings, prompt(&*protocol, messages));
        let parsed = protocol.parse(&reply, n);
        (parsed.kind, parsed.answer.or(parsed.input).unwrap_or_default().trim().to_owned(), reply)
    };
    let (kind, answer, reply) = next(&messages, 3);
    assert_eq!((kind, &*answer), (Kind::Finish, "Tolvsund"));
    messages.extend([Message::assistant(reply), Message::user("Error: no.")]);
    let (kind, input, _) = next(&messages, 4);
    assert_eq!((kind, &*input), (Kind::Act, "Tolvsund"));
    messages.extend(step(&*protocol, 4, "Tolvsund", "Tolvsund is a town on the coast."));
    let (kind, answer, _) = next(&messages, 5);
    assert_eq!((kind, &*answer), (Kind::Finish, "Tolvsund"));
}

#[test]
fn the_answer_that_llama_index_asks_for_at_its_limit_is_bare() {
    let limit = Message::system("You have reached the maximum number of iterations (2).");
    let messages = vec![Message::user("Who was Ann Bee?"), limit];
    assert_eq!(written(&speaking("llama-index").0, Prompt::Messages(messages)), "Ann Bee");
}

#[test]
fn any_conversation_can_be_read() {
    let contents = ["", "Observation 99999999999999999999: x", "Error:", "Thought:", "{", "Action 1: Search[", "é："];
    for id in protocol::IDS {
        let (settings, protocol) = speaking(id);
        written(&settings, prompt(&*protocol, &[]));
        for (role, content) in [Role::System, Role::User, Role::Assistant]
            .into_iter()
            .flat_map(|role| contents.map(|content| (role, content)))
        {
            let message = |role| Message::new(role, content);
            written(&settings, prompt(&*protocol, &[Role::User, role, Role::Assistant, role].map(message)));
        }
    }
}

#[test]
fn anything_can_be_read() {
    for text in [
        "",
        "Question:",
        "\n\n",
        "Observation 1: x",
        "Question: é\nAction 1: \nObservation 1:",
        "Action 99999999999999999999:",
    ] {
        let got = read("", text);
        assert!(got.step() >= 1, "{text:?}");
    }
    let long = format!("Question: {}\nThought 1:", "é".repeat(100_000));
    assert!(read("", &long).history.question.len() <= 4096);
}

#[test]
fn arguments_are_read_however_they_are_quoted() {
    for (input, expected) in [
        (r#"{"query": "Ann \"Bee\""}"#, r#"Ann "Bee""#),
        (r#"{"query": "x"} and more"#, "x"),
        (r"{'query': 'x'}", "x"),
        (r#"{'query': "b's"}"#, "b's"),
        (r"{'query': 'b\'s \\ \xe9\u3000乙'}", "b's \\ \u{e9}\u{3000}乙"),
        (r#"{"n": 1}"#, ""),
        ("{", "{"),
        ("{'query'}", "{'query'}"),
        ("{'query': 'x", "x"),
        (" plain ", "plain"),
        ("", ""),
    ] {
        assert_eq!(argument(input), expected, "{input}");
    }
}

#[test]
fn tools_are_known_by_their_names() {
    let action = |tool: &str| ParsedAction::call(tool, "x", String::new()).action;
    assert_eq!(action(" WikiSearch"), "Search[x]");
    assert_eq!(action("lookup"), "Lookup[x]");
    assert_eq!(action("FinishAction"), "Finish[x]");
    assert_eq!(action("Calculator"), "Calculator[x]");
}

#[test]
fn the_chinese_tool_says_what_the_english_one_does() {
    for (chinese, english) in [
        ("找不到[甲]。相似结果:['乙', \"b's\"]。", "Could not find 甲. Similar: ['乙', \"b's\"]."),
        ("找不到[甲]。相似结果：[]。", "Could not find 甲. Similar: []."),
        ("找不到[[甲]]。相似结果:['乙']。", "Could not find [甲]. Similar: ['乙']."),
        ("(结果 1 / 2) 乙是一座城。", "(Result 1 / 2) 乙是一座城。"),
        ("没有更多结果。", "No more results."),
        ("没有页面内容可以查找。", "No more results."),
        ("乙是一座城。", "乙是一座城。"),
        ("X is a town.", "X is a town."),
    ] {
        assert_eq!(worded(chinese), english);
    }
}

#[test]
fn complaints_are_distinguished_from_pages() {
    for text in [
        "Invalid action: search x",
        "无效动作:查找",
        "搜索出错:timeout",
        "Tool Look does not exists.",
        "Tool Look does not exist",
        "Tool Look not found. Please select a tool that is available.",
        "Please follow the format",
        "Error: no such tool",
    ] {
        assert!(is_complaint(text, None), "{text}");
    }
    for text in ["Tool is a band.", "Errors were made.", "The tool does not exist", "{}", "No more results."] {
        assert!(!is_complaint(text, None), "{text}");
    }
    assert!(is_complaint("{\"q\": 1}", Some(" {\"q\": 1}")));
    assert!(!is_complaint("Paris", Some("Paris")));
    assert!(is_error("错误：工具不存在") && is_error("Error: x") && is_error("FAILURE: Your previous response"));
    assert!(!is_error("Errors") && !is_error("Observation: x"));
}
