//! What the source articles do and the protocols did not: each point with its smallest example.

use crate::common::{WorkDir, setup, shared};
use crate::protocol_golden::{dialogue, protocol};
use serde_json::{Value, json};
use std::fmt::Write as _;
use wikitrail::base::{Message, Outcome, Prompt, Question, Reply, Tool};
use wikitrail::prompting::protocol::{Dialogue, Frame, Kind, Setup, Turn};

const ZH: &str = "prompts/hotpotqa-zh.toml";
const EN: &str = "prompts/hotpotqa.toml";

/// The frame that a run stores.
fn frame(dir: &WorkDir, prompt: &str, id: &str, args: &[&str]) -> Frame {
    let shown = dir.wikitrail(&[&["prompt", "show", prompt, "--protocol", id], args].concat()).ok();
    Frame::read(&shown.stdout, protocol(id, &[]).layout()).expect("a stored frame")
}

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

const WEATHER: &str = "Thought: t\nAction: Weather\nAction Input: {\"city\": \"北京\"}";

#[test]
fn the_go_agent_names_the_tools_in_the_language_of_the_run() {
    let dir = WorkDir::new();
    let answer = |frame: Frame| tool_reply(begin_dialogue("go-blog", &[], frame).as_mut(), WEATHER);
    let english = answer(frame(&dir, EN, "go-blog", &[]));
    assert!(english.starts_with("Error: there is no tool `Weather`. The tools are: Search, Lookup."), "{english}");
    let chinese = answer(frame(&dir, ZH, "go-blog", &[]));
    assert!(chinese.starts_with("Error: 工具 `Weather` 不存在，可用的工具是：Search, Lookup。"), "{chinese}");

    let words = "[go-blog]\nsystem = \"{{.ToolNames}}\"\nfeedback = \"{error}!\"\n";
    dir.write("words.toml", words);
    let texts = ["--texts", "words.toml"];
    assert_eq!(answer(frame(&dir, ZH, "go-blog", &texts)), chinese, "left out, ours is said");
    dir.write("words.toml", format!("language = \"en\"\n{words}"));
    assert_eq!(answer(frame(&dir, ZH, "go-blog", &texts)), english, "in the language of the file");
    dir.write("words.toml", format!("{words}unknown_tool = \"Error: 没有 {{tool}}，只有 {{tools}}\"\n"));
    assert_eq!(answer(frame(&dir, EN, "go-blog", &texts)), "Error: 没有 Weather，只有 Search, Lookup");
    assert!(
        answer(Frame { tools: frame(&dir, EN, "go-blog", &[]).tools, ..Frame::default() }).contains("工具不存在"),
        "a run of before is replayed in its words"
    );
}

#[test]
fn the_go_agent_has_the_articles_other_treatments_of_an_unknown_tool() {
    let dir = WorkDir::new();
    let stored = frame(&dir, EN, "go-blog", &[]);
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
    let dir = WorkDir::new();
    for (id, reply, chinese, english) in REASONS {
        let zh = tool_reply(begin_dialogue(id, &[], frame(&dir, ZH, id, &[])).as_mut(), reply);
        assert!(zh.contains(chinese) && !zh.contains(english), "{id} {reply:?}: {zh}");
        let en = tool_reply(begin_dialogue(id, &[], frame(&dir, EN, id, &[])).as_mut(), reply);
        assert!(en.contains(english) && en.is_ascii(), "{id} {reply:?}: {en}");
    }
}

fn toml(instruction: &str, exemplars: &str) -> String {
    format!(
        "name = \"s\"\nlanguage = \"zh\"\nquestion_label = \"Question\"\ntask = \"t\"\n[instruction]\n\
         react = {}\n{exemplars}",
        json!(instruction)
    )
}

/// An exemplar of a prompt file; a step is thought, action and observation.
fn exemplar(question: &str, answer: &str, steps: &[[Option<&str>; 3]]) -> String {
    let mut text = format!("[[exemplar]]\nquestion = {}\nanswer = {}\n", json!(question), json!(answer));
    for step in steps {
        text += "[[exemplar.step]]\n";
        for (key, value) in ["thought", "action", "observation"].iter().zip(step) {
            if let Some(value) = value {
                writeln!(text, "{key} = {}", json!(value)).expect("a string");
            }
        }
    }
    text
}

/// The article's own three exemplars.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_scripts_prompt_is_made_of_its_exemplars() {
    let page = shared::text("sources/001_60287820b8d93760.txt");
    let (_, rest) = page.split_once("REACT_PROMPT = \"\"\"").expect("the prompt");
    let (script, _) = rest.split_once("\"\"\"").expect("its end");
    let mut parts = script.split("\nQuestion:");
    let instruction = parts.next().expect("an instruction");
    let exemplars: String = parts.map(read_exemplar).collect();
    let dir = WorkDir::new();
    dir.write("article.toml", toml(instruction, &exemplars));
    let shown = dir.wikitrail(&["prompt", "show", "article.toml", "--protocol", "react-zh"]).ok().stdout;
    assert_eq!(shown, script);
    assert_eq!(shown.matches("\nQuestion:").count(), 3);
}

/// An exemplar of the article as one of a prompt file.
fn read_exemplar(text: &str) -> String {
    let (question, mut rest) = text.trim_end().split_once("\nThought 1:").expect("a question");
    let mut steps = Vec::new();
    let mut answer = "";
    for n in 1.. {
        let (thought, behind) = rest.split_once(&format!("\nAction {n}:")).expect("an action");
        let Some((action, behind)) = behind.split_once(&format!("\nObservation {n}:")) else {
            answer = behind.strip_prefix("Finish[").and_then(|end| end.strip_suffix(']')).expect("an answer");
            steps.push([Some(thought), Some(behind), None]);
            break;
        };
        let (observation, behind) = behind.split_once(&format!("\nThought {}:", n + 1)).expect("a thought");
        steps.push([Some(thought), Some(action), Some(observation)]);
        rest = behind;
    }
    exemplar(question, answer, &steps)
}

#[test]
fn qwen_agent_says_in_which_form_arguments_are_wanted_where_the_words_have_it() {
    let dir = WorkDir::new();
    let words = "[qwen-agent]\ntemplate = \"\"\"{tool_descs}\nQuestion: {query}\nThought: \"\"\"\n";
    let described = |words: &str| {
        dir.write("words.toml", words);
        frame(&dir, ZH, "qwen-agent", &["--texts", "words.toml", "--shots", "0"]).prefix.to_string()
    };
    let without = described(words);
    assert!(without.contains("\"required\": true}]\n\nLookup: "), "{without}");
    let with = described(&format!("{words}args_format = \"此工具的输入应为JSON对象。\"\n"));
    assert_eq!(with.matches("\"required\": true}] 此工具的输入应为JSON对象。\n").count(), 2, "{with}");
}

#[test]
fn llama_index_describes_a_tool_as_the_library_describes_a_function() {
    let dir = WorkDir::new();
    let frame = frame(&dir, EN, "llama-index", &[]);
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
        let tools = protocol("lagent", &[]).tools(&wikitrail::prompting::protocol::ToolTexts::default());
        let mut dialogue = begin_dialogue("lagent", options, Frame { tools, ..Frame::default() });
        dialogue.completion("Thought: t\nAction: Search\nAction Input: {\"query\": \"x\"}");
        assert_eq!(messages(dialogue.observation("o")).pop(), Some(Message::system(shown)));
    }
}

#[test]
fn transcripts_of_a_chinese_question_have_chinese_labels() {
    let dir = WorkDir::new();
    let asked = ["ask", "《边城》的作者是谁？", "--prompt", ZH, "--wiki", "corpus:datasets/sample-wiki-zh"];
    let asked = dir.wikitrail(&[&asked[..], &["--save", "one.jsonl"]].concat()).ok().stdout;
    let last = asked.lines().last().expect("a line");
    assert!(last.starts_with("最终答案     "), "{asked}");
    for label in ["\n观察         ", "\noutcome      ", "\nsum          "] {
        assert!(asked.contains(label), "{asked}");
    }
    let record: Value = serde_json::from_str(&dir.read("one.jsonl")).expect("a record");
    assert_eq!(record["outcome"], "finished");
    let id = record["id"].as_str().expect("an id");
    let shown = dir.wikitrail(&["show", "one.jsonl", id]).ok().stdout;
    for label in ["\n问题         《边城》", "\n最终答案     ", "\n行动         Search[", "\n思考         "]
    {
        assert!(shown.contains(label), "{label}: {shown}");
    }
    let english = dir.wikitrail(&["ask", "Where did Mikhail Bulgakov die?"]).ok().stdout;
    assert!(english.lines().last().is_some_and(|line| line.starts_with("answer       ")), "{english}");
}

/// The questions of docs/commands.md and docs/methods.md.
#[test]
fn the_example_questions_have_sensible_answers() {
    let dir = WorkDir::new();
    let pages = [crate::common::repository("docs/commands.md"), crate::common::repository("docs/methods.md")].concat();
    let asked: Vec<&str> =
        pages.lines().filter(|line| line.starts_with("wikitrail ask \"") && !line.contains("--model")).collect();
    let answers = ["Lwów", "a French mathematician", "Blaise Pascal"];
    assert_eq!(asked.len(), answers.len(), "{asked:?}");
    for (line, answer) in asked.iter().zip(answers) {
        let said = crate::common::shell(dir.root(), &line.replace("results/", "")).ok().stdout;
        assert_eq!(said.lines().last(), Some(&*format!("answer       {answer}")), "{line}");
    }
}
