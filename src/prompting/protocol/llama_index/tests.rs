use super::super::testing::{self, kinds, lines, message_lines, messages_frame, options, stopped, used};
use super::{LlamaIndex, Memory, TOKEN_LIMIT, tokens};
use crate::base::{Message, Outcome, Reply, Tool};
use crate::prompting::protocol::{Dialogue, Protocol, Setup, Turn};

const SEARCH: &str = "Thought: t\nAction: Search\nAction Input: {\"query\": \"X\"}";
const ANSWER: &str = "Thought: done\nAnswer: 42";
const WORKFLOW: (&str, &str) = ("variant", "workflow");

/// A dialogue that has been asked `Why?`, after an example and an earlier question.
fn begun(pairs: &[(&str, &str)], max_steps: usize) -> Box<dyn Dialogue> {
    let frame = messages_frame(&[
        ("feedback", "Bad {x}: {error}"),
        ("empty_reply", "Empty."),
        ("force_stop", "{max_steps} are over."),
    ]);
    let history = vec![Message::user("hq"), Message::assistant("ha")];
    let protocol = LlamaIndex::new(&options(pairs)).expect("known options");
    let (dialogue, turn) = testing::begun(&protocol, Setup { history, ..testing::setup(frame, max_steps) });
    assert_eq!(message_lines(turn), ["S: SYSTEM", "U: eq", "A: ea", "U: hq", "A: ha", "U: Why?"]);
    dialogue
}

/// The messages after system message, examples and history.
fn shown_since(turn: Turn) -> Vec<String> {
    message_lines(turn).split_off(5)
}

/// The last remembered message.
fn remembered(dialogue: &dyn Dialogue) -> String {
    lines(&dialogue.memory()).pop().expect("a message")
}

#[test]
fn an_empty_thought_is_python_s_none() {
    let reply = "Thought: \nAction: A\nAction Input: {}";
    let error = "'NoneType' object has no attribute 'strip'";
    let stop = stopped(begun(&[], 9).completion(reply));
    assert_eq!(stop.outcome, Outcome::FormatFailure);
    assert!(stop.detail.expect("a reason").contains(error));
    let complaint = format!("There was an error in parsing my reasoning: {error}");
    assert_eq!(used(begun(&[WORKFLOW], 9).completion(reply)).reply, Reply::Given(complaint));
}

#[test]
fn an_unreadable_reply_is_shown_once_before_the_scratchpad() {
    let mut dialogue = begun(&[], 9);
    dialogue.completion(SEARCH);
    dialogue.observation("o");
    let step = ["A: Thought: t\nAction: Search\nAction Input: {'query': 'X'}", "U: Observation: o"];
    let retry = shown_since(dialogue.completion("Thought: {x}"));
    let feedback = "U: Bad {x}: Could not parse output: Thought: {x}";
    assert_eq!(retry, ["U: Why?", "U: Why?", "A: Thought: {x}", feedback, step[0], step[1]]);
    dialogue.completion(SEARCH);
    assert_eq!(shown_since(dialogue.observation("o")), ["U: Why?", step[0], step[1], step[0], step[1]]);
    assert_eq!(shown_since(dialogue.completion(""))[1..4], ["U: Why?", "A: ", "U: Empty."]);
    assert_eq!(used(dialogue.completion(" ")).input, " ", "white space is an answer");
    assert_eq!(kinds(&stopped(dialogue.observation(""))), ["unreadable_reply", "empty_reply"]);
}

#[test]
fn an_answer_in_the_last_reply_is_lost() {
    let mut dialogue = begun(&[], 1);
    let stop = stopped(dialogue.completion(ANSWER));
    assert_eq!((stop.outcome, stop.answer), (Outcome::StepLimit, None));
    assert!(stop.detail.expect("a reason").starts_with("Max iterations of 1 reached! Either"));
    assert_eq!(remembered(dialogue.as_ref()), "U: Why?");
    let mut dialogue = begun(&[("early_stopping", "generate")], 1);
    assert_eq!(message_lines(dialogue.completion(ANSWER)), ["U: hq", "A: ha", "U: Why?", "S: 1 are over."]);
    assert_eq!(used(dialogue.completion(SEARCH)).input, SEARCH);
    assert_eq!(remembered(dialogue.as_ref()), format!("A: {SEARCH}"));
    let mut dialogue = begun(&[WORKFLOW], 1);
    assert_eq!(used(dialogue.completion(ANSWER)).input, "42", "the workflow takes it");
    let mut dialogue = begun(&[WORKFLOW], 1);
    dialogue.completion(SEARCH);
    assert_eq!(stopped(dialogue.observation("o")).outcome, Outcome::StepLimit);
}

#[test]
fn the_answer_is_the_reply_after_its_first_label() {
    let reply = "Answer: a\nThought: b\nAnswer: c ";
    for (options, answer, memory) in
        [(&[][..], "a\nThought: b\nAnswer: c", "A: Thought: b\nAnswer: c"), (&[WORKFLOW], "c", "A: c")]
    {
        let mut dialogue = begun(options, 9);
        assert_eq!(used(dialogue.completion(reply)).input, answer);
        assert_eq!(stopped(dialogue.observation("")).answer.as_deref(), Some(answer));
        assert_eq!(remembered(dialogue.as_ref()), memory);
    }
}

#[test]
fn the_system_answers_calls_that_fit_no_tool() {
    const STRICT: (&str, &str) = ("arguments", "strict");
    for (options, name, args, answer) in [
        (&[][..], "search", "{}", "Tool search not found. Please select a tool that is available."),
        (&[], "Search", "{}", "Search needs the argument \"query\"."),
        (&[STRICT], "Search", "{\"Query\": \"X\"}", "Search has no argument \"Query\"; it needs \"query\"."),
        (&[WORKFLOW], "search", "{}", "Tool search does not exist"),
        (&[WORKFLOW], "Search", "{}", "Error calling tool Search: Search needs the argument \"query\"."),
    ] {
        let call = used(begun(options, 9).completion(&format!("Thought: t\nAction: {name}\nAction Input: {args}")));
        assert_eq!((call.tool, call.input), (Tool::Invalid, format!("{name} {args}")));
        assert_eq!(call.reply, Reply::Given(answer.to_owned()));
    }
    let call = used(begun(&[], 9).completion(&SEARCH.replace("query", "Query")));
    assert_eq!((call.input.as_str(), call.reply), ("X", Reply::Tool));
}

/// The workflow has no limit at which it could ask for an answer.
#[test]
fn only_the_agent_generates_an_answer() {
    let error = LlamaIndex::new(&options(&[WORKFLOW, ("early_stopping", "generate")])).expect_err("an error");
    assert!(error.hint().contains("with the variant `agent`"));
}

#[test]
fn a_step_is_read_back_as_it_was_written() {
    let protocol = LlamaIndex::new(&options(&[])).expect("no options");
    let step = protocol.step(1, Some("t"), Tool::Lookup, "a \"b\" 中");
    assert_eq!(step, "Thought: t\nAction: Lookup\nAction Input: {\"keyword\": \"a \\\"b\\\" 中\"}");
    assert_eq!(protocol.parse(&step, 1).args.expect("arguments").to_json()["keyword"], "a \"b\" 中");
    assert_eq!(protocol.step(2, Some("t"), Tool::Finish, "x"), "Thought: t\nAnswer: x");
}

/// The lengths in tokens of what is kept of questions and answers with these lengths.
fn kept(lengths: &[usize]) -> Vec<usize> {
    let message = |(n, tokens): (usize, &usize)| {
        let text = "word".repeat(*tokens);
        if n % 2 == 0 { Message::user(text) } else { Message::assistant(text) }
    };
    let messages = lengths.iter().enumerate().map(message).collect();
    Memory::new(TOKEN_LIMIT).recent(messages).iter().map(tokens).collect()
}

#[test]
fn the_oldest_turns_are_forgotten_from_seven_tenths_of_the_limit_on() {
    assert_eq!(kept(&[10, 20_989, 1]), [10, 20_989, 1]);
    assert_eq!(kept(&[10, 25_000, 1]), [1]);
    assert_eq!(kept(&[10, 25_000]), [10, 25_000], "the newest turn stays");
    assert_eq!(kept(&[25_000]), [25_000]);
    assert_eq!(kept(&[2_000, 2_000, 100, 18_000, 5]), [100, 18_000, 5]);
    assert_eq!(kept(&[10, 10, 10, 20_000, 10, 980]), [10, 980], "3,000 tokens at a time, as whole turns");
    assert_eq!(kept(&[]), [0; 0]);
    assert_eq!(Memory::new(7), Memory { history: 4, flush: 4 });
}

#[test]
fn tokens_are_counted_by_characters() {
    assert_eq!(
        [Message::user("four"), Message::user("fours"), Message::user("谁写的?")].map(|m| tokens(&m)),
        [1, 2, 4]
    );
}
