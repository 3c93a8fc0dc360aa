use super::super::testing::{self, kinds, lines, message_lines, options, stopped, used};
use super::*;
use crate::base::Reply;
use crate::prompting::protocol::Frame;
use crate::prompting::protocol::tools::{ARGUMENT_NAME, BARE_ARGUMENT};

fn qwen(arguments: &str) -> QwenAgent {
    QwenAgent::new(&options(&[("arguments", arguments)])).expect("an option")
}

fn begun(arguments: &str, suffix: &str) -> Box<dyn Dialogue> {
    let frame = Frame { prefix: "Begin!\n\nQuestion: ".into(), suffix: suffix.into(), ..testing::messages_frame(&[]) };
    testing::begun(&qwen(arguments), testing::setup(Frame { system: None, ..frame }, 3)).0
}

#[test]
fn steps_are_appended_to_the_one_message() {
    let code = "Action: Search\nAction Input: \n```json\n{\"query\": \"X\"}\n```";
    let reply = code.replace("Input: \n", "Input: ");
    // A newline is added only where neither the template nor the thought brings one.
    for (suffix, thought, appended) in
        [("", "t\n", "\nt\n"), ("", "\nt\n", "\nt\n"), ("\nThought: ", "\n", "\nThought: \n")]
    {
        let mut dialogue = begun("mend", suffix);
        assert_eq!(used(dialogue.completion(&format!("{thought}{reply}"))).input, "X");
        let content = format!("U: Begin!\n\nQuestion: Why?{appended}{code}\nObservation: o\nThought: ");
        assert_eq!(message_lines(dialogue.observation("o")), [content]);
        let transcript = format!("A: Thought: {thought}{reply}\nObservation: o\nThought: ");
        assert_eq!(lines(&dialogue.memory()), ["U: Why?", &transcript], "the user sees replies as they came");
    }
}

#[test]
fn the_system_answers_what_no_tool_can() {
    let mut dialogue = begun("mend", "\nThought: ");
    for (call, answer) in [
        ("search\nAction Input: X", "Tool search does not exists."),
        (
            "Lookup\nAction Input: {\"a\\nb\": 1, \"c\": 2}",
            "Tool Lookup needs the text argument `keyword`, not `a b`, `c`.",
        ),
        ("Search\nAction Input:", "Tool Search needs the text argument `query`."),
    ] {
        let call = used(dialogue.completion(&format!("t\nAction: {call}")));
        assert_eq!((call.tool, call.reply), (Tool::Invalid, Reply::Given(answer.to_owned())));
        dialogue.observation(answer);
    }
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
        let mut dialogue = begun(arguments, "\nThought: ");
        let call = used(dialogue.completion(&format!("t\nAction: Search\nAction Input: {raw}")));
        assert_eq!((call.tool, call.input.as_str()), (Tool::Search, input), "{arguments} {raw}");
        dialogue.observation("o");
        used(dialogue.completion("Final Answer:"));
        let stop = stopped(dialogue.observation(""));
        assert_eq!((kinds(&stop), stop.answer.as_deref()), (repairs.to_vec(), Some("")), "{arguments} {raw}");
    }
}

#[test]
fn a_step_is_read_back_as_it_was_written() {
    let protocol = qwen("mend");
    let parsed = protocol.parse(&protocol.step(1, None, Tool::Lookup, "a \"b\"\n中"), 1);
    assert_eq!(parsed.input.as_deref(), Some(r#"{"keyword": "a \"b\"\n中"}"#));
    let parsed = protocol.parse(&protocol.step(2, Some("done"), Tool::Finish, "x"), 2);
    assert_eq!((parsed.thought.as_deref(), parsed.answer.as_deref()), (Some("done\n"), Some("x")));
}
