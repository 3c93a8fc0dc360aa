use super::parse::{Reading, fallback};
use super::{LlamaIndex, MAX_STEPS};
use crate::protocol::{Dialogue, Frame, Kind, Options, Parsed, Protocol, Setup, ToolSpec, Turn};
use crate::types::{Decoding, Message, Outcome, Prompt, Question, Repair, Reply, Role, Tool};
use std::sync::Arc;

const SEARCH: &str = "Thought: t\nAction: Search\nAction Input: {\"query\": \"X\"}";
const ANSWER: &str = "Thought: done\nAnswer: 42";

fn protocol(options: &[(&str, &str)]) -> LlamaIndex {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    LlamaIndex::new(&Options(options)).expect("known options")
}

/// A dialogue that has been asked `Why?`, after an example and an earlier question.
fn asked(options: &[(&str, &str)], max_steps: usize) -> Box<dyn Dialogue> {
    let texts = [("feedback", "Bad {x}: {error}"), ("empty_reply", "Empty."), ("force_stop", "{max_steps} are over.")];
    let frame = Frame {
        system: Some("S".into()),
        examples: vec![Message::user("eq"), Message::assistant("ea")],
        tools: vec![ToolSpec::search("opens a page", "a title")],
        texts: texts.map(|(name, text)| (name.to_owned(), text.into())).into(),
        ..Frame::default()
    };
    let setup = Arc::new(Setup {
        frame,
        question_label: "Question".to_owned(),
        max_steps,
        thoughts: true,
        decoding: Decoding::default(),
        history: vec![Message::user("hq"), Message::assistant("ha")],
    });
    let mut dialogue = protocol(options).dialogue(&setup);
    let turn = dialogue.begin(&Question::new("q", "Why?", vec![]));
    assert_eq!(shown(turn), ["S: S", "U: eq", "A: ea", "U: hq", "A: ha", "U: Why?"]);
    dialogue
}

fn line(message: &Message) -> String {
    let role = match message.role {
        Role::System => 'S',
        Role::User => 'U',
        Role::Assistant => 'A',
    };
    format!("{role}: {}", message.content)
}

/// The messages that the model is shown.
fn shown(turn: Turn) -> Vec<String> {
    let Turn::Ask(request) = turn else { panic!("{turn:?}") };
    assert_eq!(request.stop, [""; 0]);
    let Prompt::Messages(messages) = request.prompt else { panic!("messages") };
    messages.iter().map(line).collect()
}

/// The messages behind system message, examples and history.
fn shown_since(turn: Turn) -> Vec<String> {
    shown(turn).split_off(5)
}

fn used(turn: Turn) -> (Tool, String, Reply) {
    let Turn::Use(call) = turn else { panic!("{turn:?}") };
    (call.tool, call.input, call.reply)
}

fn stopped(turn: Turn) -> (Outcome, Option<String>, Option<String>) {
    let Turn::Stop(stop) = turn else { panic!("{turn:?}") };
    (stop.outcome, stop.answer, stop.detail)
}

fn remembered(dialogue: &dyn Dialogue) -> Vec<String> {
    dialogue.memory().iter().map(line).collect()
}

fn parsed(reply: &str) -> Parsed {
    protocol(&[]).parse(reply, 1)
}

fn tool_and_thought(reply: &str) -> Option<(String, String)> {
    let parsed = parsed(reply);
    Some((parsed.tool?, parsed.thought?))
}

mod replies {
    use super::*;

    #[test]
    fn behind_a_leading_thought_the_first_action_counts_and_otherwise_the_last() {
        let steps = "t\nAction: A\nAction Input: {}\nThought: u\nAction: B\nAction Input: {}";
        let (tool, thought) = tool_and_thought(&format!(" \nThought: {steps}")).expect("an action");
        assert_eq!((tool.as_str(), thought.as_str()), ("A", "t"));
        let (tool, thought) = tool_and_thought(&format!("Hm.\nThought: {steps}")).expect("an action");
        assert_eq!(
            (tool.as_str(), thought.as_str()),
            ("B", "Hm.\nThought: t\nAction: A\nAction Input: {}\nThought: u")
        );
    }

    #[test]
    fn an_action_needs_a_character_before_its_line() {
        let action = "Action: A\nAction Input: {}";
        assert_eq!(parsed(action).kind, Kind::Invalid);
        let error = format!("Could not extract tool use from input text: \n{action}");
        assert_eq!(parsed(&format!("\n{action}")).error, Some(error));
        let (tool, thought) = tool_and_thought(&format!("\n\n{action}")).expect("an action");
        assert_eq!((tool.as_str(), thought.as_str()), ("A", ""));
    }

    #[test]
    fn an_action_without_input_takes_a_later_one_s() {
        let (tool, thought) = tool_and_thought(
            "x\nAction: A\nAction: (\nAction: B (b)\n\nAction Input: f({})\nAction: C\nAction Input: {",
        )
        .expect("an action");
        assert_eq!((tool.as_str(), thought.as_str()), ("B", "x\nAction: A\nAction: ("));
        assert_eq!(tool_and_thought("Thought: t\nAction: A\n\nAction Input: }{"), None);
    }

    #[test]
    fn an_empty_thought_is_python_s_none() {
        let reply = "Thought: \nAction: A\nAction Input: {}";
        let error = "'NoneType' object has no attribute 'strip'";
        assert_eq!(parsed(reply), Parsed::invalid(error));
        assert_eq!(parsed("Thought:  \nAction: A\nAction Input: {}").thought.as_deref(), Some(""));
        let (outcome, answer, detail) = stopped(asked(&[], 9).completion(reply));
        assert_eq!((outcome, answer), (Outcome::FormatFailure, None));
        assert!(detail.expect("a reason").contains(error));
        let (tool, _, reply) = used(asked(&[("variant", "workflow")], 9).completion(reply));
        let complaint = format!("There was an error in parsing my reasoning: {error}");
        assert_eq!((tool, reply), (Tool::Invalid, Reply::Given(complaint)));
    }

    #[test]
    fn the_first_answer_behind_the_first_thought_counts_wherever_it_stands() {
        let reading = parsed("Answer: a Thought: b Final Answer:  c\nAnswer: d ");
        assert_eq!(reading, Parsed::finish(Some("b Final".to_owned()), "c\nAnswer: d"));
        assert_eq!(parsed("Thought: The Answer: is\nAction: A\nAction Input: {}").kind, Kind::Finish);
        assert_eq!(parsed("Answer: a\nThought: b").kind, Kind::Invalid);
    }

    #[test]
    fn without_a_label_the_whole_is_the_answer() {
        let reading = parsed(" x\n");
        assert_eq!(reading.thought.as_deref(), Some("(Implicit) I can answer without any more tools!"));
        assert_eq!(reading.answer.as_deref(), Some(" x\n"));
    }

    #[test]
    fn quotes_at_the_edges_of_words_are_double_in_the_fallback() {
        let pairs = fallback("{'a': 'O'Brien', \"b\": 5, 'c d': 'x', é: 'y', 'é':\u{a0}\n'''z'");
        assert_eq!(pairs, [("a".to_owned(), "O'Brien".to_owned()), ("é".to_owned(), String::new())]);
        assert_eq!(fallback("'a': 'b'c', 'd': 'e"), [("a".to_owned(), "b'c".to_owned())]);
    }

    /// What takes the original's regular expressions seconds or more is read in linear time.
    #[test]
    fn hostile_replies_are_read() {
        let many = |text: &str| text.repeat(1_000_000 / text.len());
        let thought = "Thought: t\nAction: A\nAction Input: {";
        for reply in [
            format!("Thought: {}", "\n".repeat(20_000)),
            format!("Thought: {}Action: A\nAction Input: {{}}", many("\n")),
            format!("{}\nAction: ", many("\n")),
            format!("Thought: {}", many("\nAction: A")),
            format!("x{}{{}}", many("\nAction: A\nAction Input: ")),
            format!("x\nAction: A{{{}}}", many("\nAction Input: ")),
            format!("{thought}{}}}", many("{")),
            format!("{thought}{}}}", many("{\"a\":")),
            format!("{thought}{}}}", many("}")),
            format!("{thought}\"a\": {}}}", many("[")),
            format!("{thought}{}}}", many("\"")),
            format!("{thought}{}}}", many("'")),
            format!("{thought}{}}}", many("\"a\": ")),
            format!("{thought}{}}}", many("'a\" : \"")),
            format!("{thought}\"a\": {}}}", many("(")),
            format!("{thought}\"a\": {}}}", many("-")),
            format!("{thought}\"a\": {}}}", many("9")),
            format!("{thought}\"a\": \"{}}}", many("\\")),
            format!("{thought}{}}}", many(" //\n")),
            format!("{thought}{}}}", many("a: 1, ")),
            many("Thought:Answer"),
            many("\0"),
        ] {
            let reading = Reading::of(&reply);
            if let Reading::Action(action) = &reading {
                assert!(action.content().len() < 2 * reply.len());
            }
            reading.parsed();
        }
    }
}

mod agent {
    use super::*;

    #[test]
    fn the_scratchpad_shows_python_s_dictionaries() {
        let mut dialogue = asked(&[], 9);
        let step = "Thought: t\nAction: Search\nAction Input: {\"query\": \"it's\", \"n\": [null, {}]} more";
        let Turn::Use(call) = dialogue.completion(step) else { panic!("no action") };
        assert_eq!((call.tool, call.input.as_str(), call.reply), (Tool::Search, "it's", Reply::Tool));
        assert_eq!(call.action_text, "Search {\"query\": \"it's\", \"n\": [null, {}]}");
        let action = "A: Thought: t\nAction: Search\nAction Input: {'query': \"it's\", 'n': [None, AttributedDict()]}";
        assert_eq!(shown_since(dialogue.observation("o")), ["U: Why?", action, "U: Observation: o"]);
    }

    #[test]
    fn an_unreadable_reply_is_shown_once_before_the_scratchpad() {
        let mut dialogue = asked(&[], 9);
        dialogue.completion(SEARCH);
        dialogue.observation("o");
        let step = ["A: Thought: t\nAction: Search\nAction Input: {'query': 'X'}", "U: Observation: o"];
        let retry = shown_since(dialogue.completion("Thought: {x}"));
        let feedback = "U: Bad {x}: Could not parse output: Thought: {x}";
        assert_eq!(retry, ["U: Why?", "U: Why?", "A: Thought: {x}", feedback, step[0], step[1]]);
        dialogue.completion(SEARCH);
        assert_eq!(shown_since(dialogue.observation("o")), ["U: Why?", step[0], step[1], step[0], step[1]]);
        dialogue.completion(ANSWER);
        let Turn::Stop(end) = dialogue.observation("") else { panic!("no stop") };
        assert_eq!(end.repairs, [Repair { step: 2, kind: "unreadable_reply".to_owned() }]);
    }

    #[test]
    fn an_empty_reply_is_asked_for_again_but_white_space_is_an_answer() {
        let mut dialogue = asked(&[], 9);
        assert_eq!(shown_since(dialogue.completion("")), ["U: Why?", "U: Why?", "A: ", "U: Empty."]);
        assert_eq!(used(dialogue.completion(" ")), (Tool::Finish, " ".to_owned(), Reply::None));
        assert_eq!(stopped(dialogue.observation("")), (Outcome::Finished, Some(" ".to_owned()), None));
    }

    #[test]
    fn an_answer_in_the_last_reply_is_lost() {
        let mut dialogue = asked(&[], 2);
        dialogue.completion(SEARCH);
        dialogue.observation("o");
        let (outcome, answer, detail) = stopped(dialogue.completion(ANSWER));
        assert_eq!((outcome, answer), (Outcome::StepLimit, None));
        assert!(detail.expect("a reason").starts_with("Max iterations of 2 reached! Either"));
        assert_eq!(remembered(dialogue.as_ref()), ["U: hq", "A: ha", "U: Why?"]);
    }

    #[test]
    fn generate_asks_for_an_answer_without_the_steps() {
        let mut dialogue = asked(&[("early_stopping", "generate")], 1);
        assert_eq!(shown(dialogue.completion(ANSWER)), ["U: hq", "A: ha", "U: Why?", "S: 1 are over."]);
        assert_eq!(used(dialogue.completion(SEARCH)), (Tool::Finish, SEARCH.to_owned(), Reply::None));
        assert_eq!(stopped(dialogue.observation("")), (Outcome::Finished, Some(SEARCH.to_owned()), None));
        assert_eq!(remembered(dialogue.as_ref()).pop(), Some(format!("A: {SEARCH}")));
    }

    #[test]
    fn memory_holds_all_steps_in_one_message() {
        let mut dialogue = asked(&[], 9);
        dialogue.completion(SEARCH);
        dialogue.observation("o");
        dialogue.completion(ANSWER);
        dialogue.observation("");
        let steps =
            "A: Thought: t\nAction: Search\nAction Input: {'query': 'X'}\nObservation: o\nThought: done\nAnswer: 42";
        assert_eq!(remembered(dialogue.as_ref()), ["U: hq", "A: ha", "U: Why?", steps]);
    }

    #[test]
    fn the_answer_given_is_the_reply_behind_its_first_label() {
        let mut dialogue = asked(&[], 9);
        let (_, input, _) = used(dialogue.completion("Answer: a\nThought: b\nAnswer: c "));
        assert_eq!(input, "a\nThought: b\nAnswer: c");
        dialogue.observation("");
        assert_eq!(remembered(dialogue.as_ref()).pop().as_deref(), Some("A: Thought: b\nAnswer: c"));
    }

    #[test]
    fn tools_and_arguments_that_do_not_exist_are_answered_by_the_system() {
        let call = |name: &str, args: &str| format!("Thought: t\nAction: {name}\nAction Input: {args}");
        let answer = |options: &[(&str, &str)], reply: &str| used(asked(options, 9).completion(reply));
        let (tool, input, reply) = answer(&[], &call("search", "{}"));
        assert_eq!((tool, input.as_str()), (Tool::Invalid, "search {}"));
        let unknown = "Tool search not found. Please select a tool that is available.";
        assert_eq!(reply, Reply::Given(unknown.to_owned()));
        let missing = Reply::Given("Search needs the argument \"query\".".to_owned());
        assert_eq!(answer(&[], &call("Search", "{}")).2, missing);
        let other = call("Search", "{\"Query\": \"X\"}");
        assert_eq!(answer(&[], &other), (Tool::Search, "X".to_owned(), Reply::Tool));
        let refused = "Search has no argument \"Query\"; it needs \"query\".";
        assert_eq!(answer(&[("arguments", "strict")], &other).2, Reply::Given(refused.to_owned()));
        let workflow = Reply::Given("Error calling tool Search: Search needs the argument \"query\".".to_owned());
        assert_eq!(answer(&[("variant", "workflow")], &call("Search", "{}")).2, workflow);
    }
}

mod workflow {
    use super::*;

    const WORKFLOW: [(&str, &str); 1] = [("variant", "workflow")];

    #[test]
    fn an_unreadable_reply_is_observed_but_not_shown() {
        let mut dialogue = asked(&WORKFLOW, 9);
        let (tool, input, reply) = used(dialogue.completion("Thought: x"));
        assert_eq!((tool, input.as_str()), (Tool::Invalid, "Thought: x"));
        let Reply::Given(complaint) = reply else { panic!("{reply:?}") };
        let observed = "U: Observation: There was an error in parsing my reasoning: Could not parse output: Thought: x";
        assert_eq!(shown_since(dialogue.observation(&complaint)), ["U: Why?", observed]);
    }

    #[test]
    fn an_empty_reply_is_an_empty_answer() {
        let mut dialogue = asked(&WORKFLOW, 9);
        assert_eq!(used(dialogue.completion("")), (Tool::Finish, String::new(), Reply::None));
        assert_eq!(stopped(dialogue.observation("")), (Outcome::Finished, Some(String::new()), None));
    }

    #[test]
    fn memory_holds_question_and_answer_alone() {
        let mut dialogue = asked(&WORKFLOW, 9);
        dialogue.completion(SEARCH);
        dialogue.observation("o");
        assert_eq!(used(dialogue.completion("Answer: a Thought: b Answer: c")).1, "c");
        dialogue.observation("");
        assert_eq!(remembered(dialogue.as_ref()), ["U: hq", "A: ha", "U: Why?", "A: c"]);
    }

    #[test]
    fn the_last_reply_may_answer_and_nothing_follows_it() {
        let mut dialogue = asked(&WORKFLOW, 1);
        assert_eq!(used(dialogue.completion(ANSWER)).1, "42");
        let mut dialogue = asked(&WORKFLOW, 1);
        assert_eq!(used(dialogue.completion(SEARCH)).0, Tool::Search);
        assert_eq!(stopped(dialogue.observation("o")).0, Outcome::StepLimit);
    }
}

#[test]
fn options_are_checked() {
    let hint = |name: &str, value: &str| {
        let options = [("variant", "workflow"), (name, value)].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        LlamaIndex::new(&Options(options)).expect_err("an error").hint()
    };
    assert!(hint("labels", "v0.1").contains("arguments=mend|strict"));
    assert_eq!(hint("variant", "x"), "it can be `agent` or `workflow`");
    assert_eq!(hint("arguments", "lax"), "it can be `mend` or `strict`");
    // The workflow has no limit at which it could ask for an answer.
    assert!(hint("early_stopping", "generate").contains("with the variant `agent`"));
    assert_eq!(protocol(&[("early_stopping", "generate")]).max_steps(), MAX_STEPS);
}

#[test]
fn steps_are_written_as_the_parser_reads_them() {
    let protocol = protocol(&[]);
    let step = protocol.step(1, Some("t"), Tool::Lookup, "a \"b\" 中");
    assert_eq!(step, "Thought: t\nAction: Lookup\nAction Input: {\"keyword\": \"a \\\"b\\\" 中\"}");
    let read = parsed(&step);
    assert_eq!((read.tool.as_deref(), read.thought.as_deref()), (Some("Lookup"), Some("t")));
    assert_eq!(read.args.expect("arguments").object()["keyword"], "a \"b\" 中");
    assert_eq!(protocol.step(2, Some("t"), Tool::Finish, "x"), "Thought: t\nAnswer: x");
    assert_eq!(protocol.observation(2, "o"), "Observation: o");
    assert_eq!(protocol.question("Question", "Why?"), "Why?");
}

#[test]
fn slots_describe_the_tools() {
    let slots =
        protocol(&[]).slots(&[ToolSpec::search("opens a page", "a title 题"), ToolSpec::lookup("finds", "a word")]);
    let described = "> Tool Name: Search\nTool Description: opens a page\nTool Args: {\"properties\": {\"query\": \
                     {\"description\": \"a title 题\", \"type\": \"string\"}}, \"required\": [\"query\"], \"type\": \
                     \"object\"}\n\n> Tool Name: Lookup\nTool Description: finds\nTool Args: {\"properties\": \
                     {\"keyword\": {\"description\": \"a word\", \"type\": \"string\"}}, \"required\": [\"keyword\"], \
                     \"type\": \"object\"}\n";
    assert_eq!(slots, [("tool_desc", described.to_owned()), ("tool_names", "Search, Lookup".to_owned())]);
}
