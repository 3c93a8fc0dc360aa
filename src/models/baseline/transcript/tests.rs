//! Requests in the format of every protocol, and requests that nobody should send.

use super::{Action, BaselineSettings, Decision, PastStep, Transcript, Wanted, is_complaint, worded};
use crate::base::{
    Decoding, EpisodeState, Function, Functions, Message, Prompt, Question, Request, Role, Tool, ToolCall,
};
use crate::models::Baseline;
use crate::models::baseline::notes::quoted;
use crate::models::baseline::tests::past;
use crate::prompting::protocol::testing::{setup, used};
use crate::prompting::protocol::{self, Frame, Kind, Layout, Options, Protocol, ToolTexts};
use serde_json::Value;
use std::sync::Arc;

const QUESTION: &str = "In which town was the director of Nightfall of Arven born?";

fn request(prompt: Prompt, question: &str, steps: &[(ToolCall, String)]) -> Request {
    let state = EpisodeState { question: question.to_owned(), steps: steps.to_vec() };
    Request { state: Some(Arc::new(state)), ..Request::new(prompt, vec![], Decoding::default()) }
}

/// What is read of a text and these steps.
fn read(text: &str, steps: &[(ToolCall, String)]) -> Transcript {
    Transcript::read(&request(Prompt::text("".into(), text), "Who?", steps), &BaselineSettings::default())
}

fn action(tool: Tool, input: &str) -> Action {
    Action { tool, input: input.into() }
}

fn decision() -> Decision {
    Decision { thought: "I think.".into(), action: action(Tool::Search, "X") }
}

fn written_after(transcript: &Transcript, decision: &Decision) -> String {
    transcript.write(decision, &BaselineSettings::default())
}

#[test]
fn the_paper_s_prompt() {
    let steps = [past("Search[B]", "C. D."), past("Lookup[f]", "(Result 1 / 1) g.")];
    let got = read("Question: Who?\n…\nThought 3:", &steps);
    let expected = [(Tool::Search, "B", "C. D."), (Tool::Lookup, "f", "(Result 1 / 1) g.")];
    let expected = expected
        .map(|(tool, input, observation)| PastStep { action: action(tool, input), observation: observation.into() });
    assert_eq!((&*got.question, &got.steps[..]), ("Who?", &expected[..]));
    assert_eq!((got.wanted, got.step()), (Wanted::Step { labelled: true }, 3));
    assert_eq!(written_after(&got, &decision()), " I think.\nAction 3: Search[X]");
}

#[test]
fn an_action_alone_an_answer_alone_and_a_claim() {
    let got = read("Claim: It is so.\nThought 1: a\nAction 1:", &[]);
    assert_eq!(got.wanted, Wanted::Action);
    assert_eq!(written_after(&got, &decision()), " Search[X]");
    let got = read("Question: Who?\nAnswer:", &[]);
    assert!(got.must_answer());
    let finish = Decision { action: action(Tool::Finish, "Me"), ..decision() };
    assert_eq!(written_after(&got, &finish), " Me");
    let got = read("Question: Who?\nAction 1: Search[B]\nObservation 1: C.\nAction 2:", &[past("Search[B]", "C.")]);
    assert_eq!((got.steps.len(), got.wanted), (1, Wanted::Action));
}

#[test]
fn messages_and_all_in_one() {
    let messages = [Message::system("Rules."), Message::user("Question: Who?"), Message::user("Observation 1: C.")];
    let request = request(Prompt::Messages(messages.to_vec()), "Who?", &[past("Search[B]", "C.")]);
    let got = Transcript::read(&request, &BaselineSettings::default());
    assert_eq!((got.question.as_str(), got.steps.len()), ("Who?", 1));
    assert_eq!(got.wanted, Wanted::Step { labelled: false });
    assert_eq!(written_after(&got, &decision()), "Thought 2: I think.\nAction 2: Search[X]");
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
            let read = Transcript::read(&request(prompt, "Who was Ann Bee?", &[]), &BaselineSettings::default());
            assert!(read.must_answer());
            let finish = Decision { thought: "The answer is Ann Bee.".into(), action: action(Tool::Finish, "Ann Bee") };
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
        let question = "Who wrote Final Answer: A Life?";
        let prompt = Prompt::Messages(vec![Message::user(format!("Question: {question}\nThought: "))]);
        let decision = Decision { thought: "I look for Final Answer: A Life.".into(), ..decision() };
        let reply = Transcript::read(&request(prompt, question, &[]), &settings).write(&decision, &settings);
        assert_eq!(protocol.parse(&reply, 1).kind, Kind::Act, "{id} {reply}");
    }
}

/// The prompt of a conversation; a template's is one message.
fn prompt(protocol: &dyn Protocol, messages: &[Message]) -> Prompt {
    if protocol.layout() != Layout::Template {
        return Prompt::Messages(messages.to_vec());
    }
    let all: Vec<&str> = messages.iter().map(|message| message.content.trim_start()).collect();
    Prompt::Messages(vec![Message::user(all.join("\n"))])
}

#[test]
fn arguments_are_read_back_in_every_protocol() {
    for id in ["robust", "qwen-agent", "llama-index", "go-blog", "lagent"] {
        let (settings, protocol) = speaking(id);
        for argument in ["b's", "\"quoted\"", "a 'b' \"c\"", "{x: 'y'}", "甲(乙)", "O'Neil, \"Ann\""] {
            if id == "robust" && argument.starts_with('"') {
                continue; // It removes quotes.
            }
            let prompt = Prompt::Messages(vec![Message::system("Use Search."), Message::user(QUESTION)]);
            let decision = Decision { action: action(Tool::Search, argument), ..decision() };
            let reply = Transcript::read(&request(prompt, QUESTION, &[]), &settings).write(&decision, &settings);
            let frame = Frame { tools: protocol.tools(&ToolTexts::default()), ..Frame::default() };
            let mut dialogue = protocol.dialogue(&Arc::new(setup(frame, 7)));
            dialogue.begin(&Question::new("q", QUESTION, vec![]));
            assert_eq!(used(dialogue.completion(&reply)).input, argument, "{id} {reply}");
        }
    }
}

#[test]
fn a_refused_answer_may_be_given_again_after_another_step() {
    let (settings, protocol) = speaking("robust");
    let film = "Nightfall of Arven is a 1961 drama film directed by Mara Lindqvist.";
    let director = "Mara Lindqvist was a Swedish film director. She was born in Tolvsund.";
    let mut steps = vec![past("Search[Nightfall of Arven]", film), past("Search[Mara Lindqvist]", director)];
    let next = |steps: &[(ToolCall, String)]| {
        let messages = vec![Message::system("Rules."), Message::user("Observation.")];
        let reply = Baseline::new(settings.clone()).reply(&request(Prompt::Messages(messages), QUESTION, steps));
        let parsed = protocol.parse(&reply.text, steps.len() + 1);
        (parsed.kind, parsed.answer.or(parsed.input).unwrap_or_default().trim().to_owned())
    };
    assert_eq!(next(&steps), (Kind::Finish, "Tolvsund".to_owned()));
    steps.push(past("Finish[Tolvsund]", "Error: no."));
    assert_eq!(next(&steps), (Kind::Act, "Tolvsund".to_owned()));
    steps.push(past("Search[Tolvsund]", "Tolvsund is a town on the coast."));
    assert_eq!(next(&steps), (Kind::Finish, "Tolvsund".to_owned()));
}

#[test]
fn the_answer_that_llama_index_asks_for_at_its_limit_is_bare() {
    let limit = Message::system("You have reached the maximum number of iterations (2).");
    let prompt = Prompt::Messages(vec![Message::user("Who was Ann Bee?"), limit]);
    let request = request(prompt, "Who was Ann Bee?", &[]);
    assert_eq!(Baseline::new(speaking("llama-index").0).reply(&request).text, "Ann Bee");
}

#[test]
fn any_conversation_can_be_read() {
    let contents = ["", "Observation 99999999999999999999: x", "Error:", "Thought:", "{", "Action 1: Search[", "é："];
    for id in protocol::IDS {
        let (settings, protocol) = speaking(id);
        let written = |messages: &[Message]| {
            Baseline::new(settings.clone()).reply(&Request::new(
                prompt(&*protocol, messages),
                vec![],
                Decoding::default(),
            ))
        };
        written(&[]);
        for (role, content) in [Role::System, Role::User, Role::Assistant]
            .into_iter()
            .flat_map(|role| contents.map(|content| (role, content)))
        {
            let message = |role| Message::new(role, content);
            written(&[Role::User, role, Role::Assistant, role].map(message));
        }
    }
}

#[test]
fn anything_can_be_read() {
    for text in
        ["", "Question:", "\n\n", "Observation 1: x", "Action 1: \nObservation 1:", "Action 99999999999999999999:"]
    {
        assert_eq!(read(text, &[]).step(), 1, "{text:?}");
    }
    let long = request(Prompt::text("".into(), "Thought 1:"), &"é".repeat(100_000), &[]);
    assert!(Transcript::read(&long, &BaselineSettings::default()).question.len() <= 4096);
}

#[test]
fn arguments_are_read_however_they_are_quoted() {
    for (input, expected) in [
        (r#"["Ann \"Bee\""]"#, r#"Ann "Bee""#),
        (r"'x'", "x"),
        (r#""b's""#, "b's"),
        (r"'b\'s \\ \xe9\u3000乙'", "b's \\ \u{e9}\u{3000}乙"),
        ("'x", "x"),
        ("plain", ""),
        ("", ""),
    ] {
        assert_eq!(quoted(&mut input.chars()), expected, "{input}");
    }
}

#[test]
fn tools_are_known_by_their_names() {
    let called = |name: &str, tool| {
        let function = Function { name: name.into(), description: String::new(), parameters: Value::Null };
        let functions = Functions { list: vec![function], required: false, parallel: false, strict: false };
        let decision = Decision { action: action(tool, "x"), ..decision() };
        let reply = read("", &[]).call(&decision, &functions);
        reply.calls.first().map_or(reply.text, |call| format!("{}({})", call.name, call.arguments))
    };
    assert_eq!(called(" WikiSearch", Tool::Search), r#" WikiSearch({"input":"x"})"#);
    assert_eq!(called("lookup", Tool::Lookup), r#"lookup({"input":"x"})"#);
    assert_eq!(called("FinishAction", Tool::Finish), r#"FinishAction({"input":"x"})"#);
    assert_eq!(called("Calculator", Tool::Finish), "x");
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
        assert!(is_complaint(text), "{text}");
    }
    for text in ["Tool is a band.", "Errors were made.", "The tool does not exist", "{}", "No more results."] {
        assert!(!is_complaint(text), "{text}");
    }
    assert!(is_complaint("错误：工具不存在") && is_complaint("Error: x"));
    assert!(is_complaint("FAILURE: Your previous response"));
    assert!(!is_complaint("Errors") && !is_complaint("Observation: x"));
}
