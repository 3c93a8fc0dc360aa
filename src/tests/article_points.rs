//! What the source articles do and the protocols did not: each point with its smallest example.

use crate::base::{Message, Outcome, Prompt, Question, Reply, Tool};
use crate::prompting::protocol::{Dialogue, Frame, Kind, Options, Setup, Turn};
use crate::prompting::{self, RenderSettings, texts};
use crate::runner::experiment::shipped;
use crate::tests::protocol_golden::{dialogue, protocol};
use crate::tests::setup;

const ZH: &str = "prompts/hotpotqa-zh.toml";
const EN: &str = "prompts/hotpotqa.toml";

fn begin_dialogue(id: &str, options: &[(&str, &str)], frame: Frame) -> Box<dyn Dialogue> {
    let mut dialogue = dialogue(protocol(id, options).as_ref(), frame, 9);
    dialogue.begin(&Question::new("0", "Why?", vec![]));
    dialogue
}

/// What a system answers to a reply by itself.
#[track_caller]
fn tool_reply(dialogue: &mut dyn Dialogue, reply: &str) -> String {
    match dialogue.completion(reply) {
        Turn::Use(call) => match call.reply {
            Reply::Given(text) => text,
            other => panic!("{reply}: {other:?}"),
        },
        other => panic!("{reply}: {other:?}"),
    }
}

/// The frame that a run stores, with words from a file, if any.
fn frame(prompt: &str, id: &str, words: Option<&str>, shots: Option<usize>) -> Frame {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("words.toml");
    let file = words.map(|words| {
        std::fs::write(&file, words).expect("a file");
        file.to_str().expect("UTF-8")
    });
    let source = prompting::load(prompt, None, &shipped::file).expect("a shipped prompt");
    let section = texts::section(id, &Options::default());
    let texts = texts::load(file, source.language(), &section, &shipped::file).expect("texts");
    let protocol = protocol(id, &[]);
    let max_steps = protocol.profile().max_steps;
    let settings = RenderSettings { protocol: protocol.as_ref(), shots, max_steps, ..RenderSettings::default() };
    prompting::render(&source, &texts, &settings).expect("renders").frame
}

const WEATHER: &str = "Thought: t\nAction: Weather\nAction Input: {\"city\": \"北京\"}";

#[test]
fn the_go_agent_names_the_tools_in_the_language_of_the_run() {
    let answer = |frame: Frame| tool_reply(begin_dialogue("go-blog", &[], frame).as_mut(), WEATHER);
    let english = answer(frame(EN, "go-blog", None, None));
    assert!(english.starts_with("Error: there is no tool `Weather`. The tools are: Search, Lookup."), "{english}");
    let chinese = answer(frame(ZH, "go-blog", None, None));
    assert!(chinese.starts_with("Error: 工具 `Weather` 不存在，可用的工具是：Search, Lookup。"), "{chinese}");

    let words = "[go-blog]\nsystem = \"{{.ToolNames}}\"\nfeedback = \"{error}!\"\n";
    let with = |prompt, words: &str| answer(frame(prompt, "go-blog", Some(words), None));
    assert_eq!(with(ZH, words), chinese, "ours, where the file has none");
    assert_eq!(with(ZH, &format!("language = \"en\"\n{words}")), english, "in the language of the file");
    let own = format!("{words}unknown_tool = \"Error: 没有 {{tool}}，只有 {{tools}}\"\n");
    assert_eq!(with(EN, &own), "Error: 没有 Weather，只有 Search, Lookup");
    assert!(
        answer(Frame { tools: frame(EN, "go-blog", None, None).tools, ..Frame::default() }).contains("工具不存在"),
        "a run of before is replayed in its words"
    );
}

#[test]
fn the_go_agent_has_the_articles_other_treatments_of_an_unknown_tool() {
    let stored = frame(EN, "go-blog", None, None);
    let mut abort = begin_dialogue("go-blog", &[("unknown_tool", "abort")], stored.clone());
    let Turn::Stop(stop) = abort.completion(WEATHER) else { panic!("it goes on") };
    assert_eq!(stop.outcome, Outcome::FormatFailure);
    assert_eq!(stop.detail.as_deref(), Some("the model called the tool `Weather`, which does not exist"));
    let mut default = begin_dialogue("go-blog", &[("unknown_tool", "default"), ("arguments", "strict")], stored);
    let Turn::Use(call) = default.completion(WEATHER) else { panic!("no step") };
    assert_eq!((call.tool, call.input.as_str(), call.reply), (Tool::Search, "北京", Reply::Tool));
    let Turn::Ask(_) = default.observation("o") else { panic!("it ends") };
    let Turn::Use(_) = default.completion("Thought: t\nAnswer: y") else { panic!("no answer") };
    let Turn::Stop(stop) = default.observation("") else { panic!("it goes on") };
    assert_eq!(stop.repairs[0].kind, "unknown_tool");
}

/// Protocol, reply, what a Chinese run is told, and what an English one is.
const REASONS: [(&str, &str, &str, &str); 14] = [
    ("go-blog", "Thought: t\nAction: Search\nAction Input: {}", "缺少参数 `query`", "is missing"),
    ("go-blog", "Thought: t\nAction: Search\nAction Input: {x}", "不是有效的 JSON 对象", "not a valid JSON"),
    (
        "go-blog",
        "Thought: t\nAction: Search\nAction Input: {\"a\": \"1\", \"b\": \"2\"}",
        "没有参数 `a`, `b`",
        "no argument",
    ),
    ("go-blog", "hm", "既没有 `Action: `，也没有", "neither an"),
    ("go-blog", "Action: x", "调用工具要写三行", "a tool call is"),
    ("go-blog", "Answer: x", "回答要写两行", "an answer is"),
    ("robust", "hm", "回复里没有行动", "has no action"),
    ("robust", " ", "回复是空的", "is empty"),
    ("robust", "<think>hm", "推理过程中就中断了", "inside its reasoning"),
    ("robust", "Action 1: Login", "`Login` 不是行动", "is not an action"),
    ("robust", "Action 1: Search[]", "Search 的参数是空的", "argument of Search is empty"),
    ("robust", "You could use Search[x] or Finish[z].", "提到了几个行动", "several actions"),
    ("qwen-agent", "t\nAction: Search\nAction Input: {}", "需要文字参数 `query`", "needs the text argument"),
    ("llama-index", "Thought: t\nAction: Search\nAction Input: {}", "需要参数 \"query\"", "needs the argument"),
];

#[test]
fn chinese_runs_hear_chinese_reasons() {
    for (id, reply, chinese, english) in REASONS {
        let zh = tool_reply(begin_dialogue(id, &[], frame(ZH, id, None, None)).as_mut(), reply);
        assert!(zh.contains(chinese) && !zh.contains(english), "{id} {reply:?}: {zh}");
        let en = tool_reply(begin_dialogue(id, &[], frame(EN, id, None, None)).as_mut(), reply);
        assert!(en.contains(english) && en.is_ascii(), "{id} {reply:?}: {en}");
    }
}

#[test]
fn qwen_agent_says_in_which_form_arguments_are_wanted_where_the_words_have_it() {
    let words = "[qwen-agent]\ntemplate = \"\"\"{tool_descs}\nQuestion: {query}\nThought: \"\"\"\n";
    let described = |words: &str| frame(ZH, "qwen-agent", Some(words), Some(0)).prefix.to_string();
    let without = described(words);
    assert!(without.contains("\"required\": true}]\n\nLookup: "), "{without}");
    let with = described(&format!("{words}args_format = \"此工具的输入应为JSON对象。\"\n"));
    assert_eq!(with.matches("\"required\": true}] 此工具的输入应为JSON对象。\n").count(), 2, "{with}");
}

#[test]
fn llama_index_describes_a_tool_as_the_library_describes_a_function() {
    let frame = frame(EN, "llama-index", None, None);
    let system = frame.system.expect("a system message");
    let tool = "> Tool Name: Search\nTool Description: Search(query: str) -> str\nOpens the Wikipedia page";
    assert!(system.contains(tool), "{system}");
    let schema = r#"", "title": "Query", "type": "string"}}, "required": ["query"], "type": "object"}"#;
    assert!(system.contains(schema), "{system}");
}

fn messages(turn: Turn) -> Vec<Message> {
    let Turn::Ask(request) = turn else { panic!("no request") };
    let Prompt::Messages(messages) = request.prompt else { panic!("no messages") };
    messages
}

#[test]
fn llama_index_forgets_what_is_beyond_its_limit_of_tokens() {
    for variant in ["agent", "workflow"] {
        let asked = |options: &[(&str, &str)], words: usize| {
            let history = vec![Message::user("q1"), Message::assistant("word ".repeat(words))];
            let setup = Setup { history, ..Setup::clone(&setup(Frame::default(), 9)) };
            let options = [&[("variant", variant)], options].concat();
            let mut dialogue = protocol("llama-index", &options).dialogue(&setup.into());
            messages(dialogue.begin(&Question::new("0", "q2", vec![]))).len()
        };
        assert_eq!([asked(&[], 25_000), asked(&[], 10_000)], [1, 3], "{variant}");
        assert_eq!(asked(&[("memory_tokens", "100000")], 25_000), 3, "{variant}");
    }
}

#[test]
fn llama_index_accepts_an_answer_without_a_thought_where_it_is_told_to() {
    let parse = |rule: &str, reply: &str| protocol("llama-index", &[("answer_without_thought", rule)]).parse(reply, 1);
    for reply in ["Answer: The sum is 8", "I worked it out.\nAnswer: The sum is 8"] {
        assert_eq!(parse("refused", reply).kind, Kind::Invalid);
        let parsed = parse("accepted", reply);
        assert_eq!((parsed.kind, parsed.answer.as_deref()), (Kind::Finish, Some("The sum is 8")), "{reply}");
    }
    for rule in ["refused", "accepted"] {
        let parsed = parse(rule, "Thought: t\nAnswer: y");
        assert_eq!((parsed.thought.as_deref(), parsed.answer.as_deref()), (Some("t"), Some("y")));
        assert_eq!(parse(rule, "no label").answer.as_deref(), Some("no label"));
    }
    let mut dialogue = begin_dialogue("llama-index", &[("answer_without_thought", "accepted")], Frame::default());
    let Turn::Use(call) = dialogue.completion("Answer: y") else { panic!("asked again") };
    assert_eq!((call.tool, call.input.as_str()), (Tool::Finish, "y"));
}

#[test]
fn lagents_answers_of_tools_end_as_the_pattern_says() {
    for (options, shown) in [(&[][..], "Response:o\n"), (&[("response_end", "<end>")], "Response:o<end>")] {
        let tools = protocol("lagent", &[]).tools(&crate::prompting::protocol::ToolTexts::default());
        let mut dialogue = begin_dialogue("lagent", options, Frame { tools, ..Frame::default() });
        dialogue.completion("Thought: t\nAction: Search\nAction Input: {\"query\": \"x\"}");
        assert_eq!(messages(dialogue.observation("o")).pop(), Some(Message::system(shown)));
    }
}
