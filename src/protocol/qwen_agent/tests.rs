use super::*;
use crate::protocol::Frame;
use crate::protocol::tools::{ARGUMENT_NAME, BARE_ARGUMENT};
use crate::types::{Decoding, Reply, Request, Role, ToolCall};

fn qwen(arguments: &str) -> QwenAgent {
    let options = Options([("arguments".to_owned(), arguments.to_owned())].into());
    QwenAgent::new(&options).expect("an option")
}

fn setup(suffix: &str, max_steps: usize) -> Arc<Setup> {
    Arc::new(Setup {
        frame: Frame {
            prefix: "Begin!\n\nQuestion: ".into(),
            suffix: suffix.into(),
            tools: vec![ToolSpec::search("finds pages", "title"), ToolSpec::lookup("finds sentences", "word")],
            ..Frame::default()
        },
        question_label: "Question".to_owned(),
        max_steps,
        thoughts: true,
        decoding: Decoding::default(),
        history: Vec::new(),
    })
}

fn begun(protocol: &QwenAgent, suffix: &str) -> Box<dyn Dialogue> {
    let mut dialogue = protocol.dialogue(&setup(suffix, 3));
    asked(dialogue.begin(&Question::new("q", "Why {x}?", vec![])));
    dialogue
}

fn asked(turn: Turn) -> Request {
    match turn {
        Turn::Ask(request) => request,
        other => panic!("expected a request, got {other:?}"),
    }
}

fn last_message(turn: Turn) -> String {
    match asked(turn).prompt {
        Prompt::Messages(messages) => messages.last().expect("a message").content.to_string(),
        Prompt::Text { .. } => panic!("a text prompt"),
    }
}

fn used(turn: Turn) -> ToolCall {
    match turn {
        Turn::Use(call) => call,
        other => panic!("expected a tool call, got {other:?}"),
    }
}

fn stopped(turn: Turn) -> super::super::Stop {
    match turn {
        Turn::Stop(stop) => stop,
        other => panic!("expected a stop, got {other:?}"),
    }
}

#[test]
fn what_happens_is_appended_to_the_one_message() {
    let mut dialogue = qwen("mend").dialogue(&setup("\nThought: ", 3));
    let first = asked(dialogue.begin(&Question::new("q", "Why {x}?", vec![])));
    assert_eq!(first.stop, ["Observation:", "Observation:\n"]);
    assert_eq!(first.prompt, Prompt::Messages(vec![Message::user("Begin!\n\nQuestion: Why {x}?\nThought: ")]));
    let call = used(dialogue.completion(" t \nAction:  Search \nAction Input: {\"query\": \"X\"} \n"));
    assert_eq!((call.step, call.tool, call.input.as_str(), call.reply), (1, Tool::Search, "X", Reply::Tool));
    assert_eq!(call.thought.as_deref(), Some(" t "));
    assert_eq!(call.action_text, "Action:  Search \nAction Input: {\"query\": \"X\"}");
    let content = last_message(dialogue.observation("a\n"));
    let begin = "Begin!\n\nQuestion: Why {x}?\nThought: ";
    let written = " t \nAction: Search\nAction Input: {\"query\": \"X\"}\nObservation: a\n\nThought: ";
    assert_eq!(content, format!("{begin}{written}"));
    let call = used(dialogue.completion("I know\nFinal Answer: not\nFinal Answer: yes \n"));
    assert_eq!((call.step, call.tool, call.input.as_str(), call.reply), (2, Tool::Finish, "yes", Reply::None));
    let stop = stopped(dialogue.observation(""));
    assert_eq!((stop.outcome, stop.answer.as_deref(), stop.repairs.len()), (Outcome::Finished, Some("yes"), 0));
    let memory = dialogue.memory();
    assert_eq!((memory[0].role, &*memory[0].content), (Role::User, "Why {x}?"));
    let shown = "Thought:  t \nAction:  Search \nAction Input: {\"query\": \"X\"} \n\nObservation: a\n\nThought: \
                 I know\nFinal Answer: not\nFinal Answer: yes \n";
    assert_eq!(&*memory[1].content, shown);
}

#[test]
fn a_newline_is_added_only_where_no_thought_was_asked_for() {
    for (suffix, reply, appended) in [
        ("", "t\nAction: Search\nAction Input: X", "?\nt\nAction: Search\nAction Input: X\nObservation: o\nThought: "),
        (
            "",
            "\nt\nAction: Search\nAction Input: X",
            "?\nt\nAction: Search\nAction Input: X\nObservation: o\nThought: ",
        ),
        ("\nThought: ", "\nAction: Search\nAction Input: X", "?\nThought: \nAction: Search\nAction Input: X\nObserv"),
    ] {
        let mut dialogue = begun(&qwen("mend"), suffix);
        used(dialogue.completion(reply));
        let content = last_message(dialogue.observation("o"));
        assert!(content.contains(&format!("Why {{x}}{appended}")), "{content}");
    }
}

#[test]
fn code_begins_on_a_line_of_its_own_in_the_message_alone() {
    let mut dialogue = begun(&qwen("mend"), "\nThought: ");
    let call = used(dialogue.completion("t\nAction: Search\nAction Input: ```json\n{\"query\": \"X\"}\n```"));
    assert_eq!(call.input, "X");
    assert!(last_message(dialogue.observation("o")).contains("Action Input: \n```json\n{"));
    assert!(dialogue.memory()[1].content.contains("Action Input: ```json\n{"));
}

#[test]
fn a_reply_ends_at_the_first_stop_anywhere_and_loses_half_a_stop() {
    assert_eq!(before_stop("an Observation: x\nObservation: y"), "an ");
    assert_eq!(before_stop("t\nObservation"), "t\n");
    assert_eq!(before_stop("t ObservationObservation"), "t Observation");
    assert_eq!(before_stop("t\nObserv"), "t\nObserv");
    assert_eq!(before_stop("ObservationObservation: x"), "");
}

#[test]
fn an_action_in_the_first_line_ends_the_run() {
    let mut dialogue = begun(&qwen("mend"), "\nThought: ");
    let call = used(dialogue.completion("Action: Search\nAction Input: X"));
    assert_eq!((call.tool, call.input.as_str()), (Tool::Finish, "Action: Search\nAction Input: X"));
    assert_eq!((call.thought, call.action_text.as_str()), (None, "Action: Search\nAction Input: X"));
}

#[test]
fn the_system_answers_what_no_tool_can() {
    let mut dialogue = begun(&qwen("mend"), "\nThought: ");
    let call = used(dialogue.completion("t\nAction: search\nAction Input: X"));
    assert_eq!((call.tool, call.reply), (Tool::Invalid, Reply::Given("Tool search does not exists.".to_owned())));
    dialogue.observation("Tool search does not exists.");
    let call = used(dialogue.completion("t\nAction: Lookup\nAction Input: {\"a\\nb\": 1, \"c\": 2}"));
    let complaint = "Tool Lookup needs the text argument `keyword`, not `a b`, `c`.";
    assert_eq!(call.reply, Reply::Given(complaint.to_owned()));
    dialogue.observation(complaint);
    let call = used(dialogue.completion("t\nAction: Search\nAction Input:"));
    assert_eq!(call.reply, Reply::Given("Tool Search needs the text argument `query`.".to_owned()));
}

#[test]
fn arguments_are_mended_or_handed_on_as_they_are() {
    for (arguments, raw, input, repairs) in [
        ("mend", "Milhouse", "Milhouse", &[BARE_ARGUMENT][..]),
        ("mend", "{\"Query\": \"X\"}", "X", &[ARGUMENT_NAME]),
        ("strict", "{\"query\": \"X\"}", "X", &[]),
        ("strict", "\"Milhouse\"", "\"Milhouse\"", &[]),
        ("strict", "{\"Query\": \"X\"}", "{\"Query\": \"X\"}", &[]),
        ("strict", "{\"query\": 5}", "{\"query\": 5}", &[]),
        ("strict", "", "", &[]),
    ] {
        let mut dialogue = begun(&qwen(arguments), "\nThought: ");
        let call = used(dialogue.completion(&format!("t\nAction: Search\nAction Input: {raw}")));
        assert_eq!((call.tool, call.input.as_str()), (Tool::Search, input), "{arguments} {raw}");
        dialogue.observation("o");
        used(dialogue.completion("x"));
        let kinds: Vec<_> = stopped(dialogue.observation("")).repairs.into_iter().map(|repair| repair.kind).collect();
        assert_eq!(kinds, repairs, "{arguments} {raw}");
    }
    assert!(QwenAgent::new(&Options([("arguments".to_owned(), "json5".to_owned())].into())).is_err());
}

#[test]
fn an_empty_reply_is_no_answer_but_an_empty_answer_is_one() {
    let mut dialogue = begun(&qwen("mend"), "\nThought: ");
    let stop = stopped(dialogue.completion(" \nObservation: made up"));
    assert_eq!((stop.outcome, stop.answer), (Outcome::FormatFailure, None));
    let mut dialogue = begun(&qwen("mend"), "\nThought: ");
    used(dialogue.completion("Final Answer:"));
    assert_eq!(stopped(dialogue.observation("")).answer.as_deref(), Some(""));
}

#[test]
fn the_limit_counts_model_calls() {
    let mut dialogue = begun(&qwen("mend"), "\nThought: ");
    for call in 1..=3 {
        assert_eq!(used(dialogue.completion("t\nAction: Search\nAction Input: X")).step, call);
        let turn = dialogue.observation("o");
        if call == 3 {
            let stop = stopped(turn);
            assert_eq!((stop.outcome, stop.answer, stop.repairs.len()), (Outcome::StepLimit, None, 3));
        } else {
            asked(turn);
        }
    }
    assert!(dialogue.memory()[1].content.ends_with("\nThought: "));
}

#[test]
fn a_step_is_read_back_as_it_was_written() {
    let protocol = qwen("mend");
    let parsed = protocol.parse(&protocol.step(1, None, Tool::Lookup, "a \"b\"\n中"), 1);
    assert_eq!(
        (parsed.tool.as_deref(), parsed.input.as_deref()),
        (Some("Lookup"), Some(r#"{"keyword": "a \"b\"\n中"}"#))
    );
    let parsed = protocol.parse(&protocol.step(2, Some("done"), Tool::Finish, "x"), 2);
    assert_eq!((parsed.thought.as_deref(), parsed.answer.as_deref()), (Some("done\n"), Some("x")));
}

#[test]
fn files_stand_before_the_question() {
    assert_eq!(with_files("q", &[], true), "q");
    assert_eq!(with_files("q", &["/a/b.csv", "c.txt"], false), "(Uploaded [file](b.csv) [file](c.txt)) q");
    assert_eq!(with_files("问", &["/a/b.csv"], true), "（上传了 [文件](b.csv)）问");
}
