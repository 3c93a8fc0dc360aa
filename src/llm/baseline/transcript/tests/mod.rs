//! Prompts in the paper's labels, and prompts that no one should send.

mod conversations;

use super::{Action, BaselineSettings, Decision, PastStep, Transcript, Wanted};
use crate::protocol::{self, Kind, Options};
use crate::types::{Message, Prompt, Role};
use std::sync::Arc;

fn read(prefix: &str, rest: &str) -> Transcript {
    Transcript::read(&Prompt::text(prefix.into(), rest), &BaselineSettings::default())
}

fn decision() -> Decision {
    Decision { thought: "I think.".into(), action: Action::Search("X".into()) }
}

#[test]
fn the_paper_s_prompt() {
    let rest = "Question: Who?\nThought 1: a\nAction 1: Search[B]\nObservation 1: C. D.\nThought 2: e\nAction 2: Lookup[f]\nObservation 2: (Result 1 / 1) g.\nThought 3:";
    let got = read("Question: other\nThought 1: x\nAction 1: Finish[y]\n", rest);
    let past = |action: &str, observation: &str| PastStep { action: action.into(), observation: observation.into() };
    assert_eq!(got.question, "Who?");
    assert!(!got.is_claim);
    assert_eq!(got.steps, [past("Search[B]", "C. D."), past("Lookup[f]", "(Result 1 / 1) g.")]);
    assert_eq!(got.wanted, Wanted::Step { n: 3, labelled: true });
    assert_eq!(got.write(&decision(), &BaselineSettings::default()), " I think.\nAction 3: Search[X]");
}

#[test]
fn an_action_alone_an_answer_alone_and_a_claim() {
    let got = read("", "Claim: It is so.\nThought 1: a\nAction 1:");
    assert_eq!((got.is_claim, got.wanted), (true, Wanted::Action(1)));
    assert_eq!(got.write(&decision(), &BaselineSettings::default()), " Search[X]");
    let got = read("", "Question: Who?\nAnswer:");
    assert!(got.must_answer());
    assert_eq!(
        got.write(&Decision { action: Action::Finish("Me".into()), ..decision() }, &BaselineSettings::default()),
        " Me"
    );
    let got = read("", "Question: Who?\nAction 1: Search[B]\nObservation 1: C.\nAction 2:");
    assert_eq!((got.steps.len(), got.wanted), (1, Wanted::Action(2)));
}

#[test]
fn messages_and_all_in_one() {
    let message = |role, content: &str| Message { role, content: content.into() };
    let prompt = Prompt::Messages(vec![
        message(Role::System, "Rules."),
        message(Role::User, "Question: Who?"),
        message(Role::Assistant, "Thought 1: a\nAction 1: Search[B]"),
        message(Role::User, "Observation 1: C."),
    ]);
    let got = Transcript::read(&prompt, &BaselineSettings::default());
    assert_eq!((got.question.as_str(), got.steps.len()), ("Who?", 1));
    assert_eq!(got.wanted, Wanted::Step { n: 2, labelled: false });
    assert_eq!(got.write(&decision(), &BaselineSettings::default()), "Thought 2: I think.\nAction 2: Search[X]");
    let got = read("Question: a\nAnswer: b\nQuestion: Who is it?\n", "Thought 1:");
    assert_eq!((got.question.as_str(), got.step()), ("Who is it?", 1));
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
            assert_eq!((&*read.question, read.must_answer()), ("Who was Ann Bee?", true));
            let finish =
                Decision { thought: "The answer is Ann Bee.".into(), action: Action::Finish("Ann Bee".into()) };
            assert_eq!(read.write(&finish, &BaselineSettings::default()), format!("{gap}{expected}"));
        }
    }
}

/// A thought may quote a question or a page that has words of the labels.
#[test]
fn words_of_the_form_in_a_thought_do_not_break_a_reply() {
    for id in ["lagent", "qwen-agent"] {
        let protocol = protocol::find(id, &Options::default()).expect("a protocol").expect("no options");
        let settings = BaselineSettings { protocol: Some(Arc::clone(&protocol)), ..BaselineSettings::default() };
        let prompt = Prompt::Messages(vec![Message::user("Question: Who wrote Final Answer: A Life?\nThought: ")]);
        let decision = Decision { thought: "I look for Final Answer: A Life.".into(), ..decision() };
        let reply = Transcript::read(&prompt, &settings).write(&decision, &settings);
        assert_eq!(protocol.parse(&reply, 1).kind, Kind::Act, "{id} {reply}");
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
    assert!(read("", &long).question.len() <= 4096);
}
