//! Conversations as the protocols with messages have them: what is written is read back, complaints are obeyed.

use super::{PastStep, Transcript};
use crate::llm::{Baseline, BaselineSettings};
use crate::protocol::{self, Kind, Options, Protocol};
use crate::types::{Decoding, Message, Prompt, Request, Role, Tool};
use std::sync::Arc;

const QUESTION: &str = "In which town was the director of Nightfall of Arven born?";
const FIRST: &str = "Nightfall of Arven is a 1961 drama film directed by Mara Lindqvist.";
const SECOND: &str = "Mara Lindqvist was a Swedish film director. She was born in Tolvsund.";
const ALL: [&str; 5] = ["robust", "qwen-agent", "llama-index", "go-blog", "lagent"];

/// A conversation, put together as the systems do it.
struct Talk {
    settings: BaselineSettings,
    messages: Vec<Message>,
    step: usize,
}

impl Talk {
    /// A solved example, then the question.
    fn about(id: &str, question: &str) -> Self {
        let protocol = protocol::find(id, &Options::default()).expect("a protocol").expect("no options");
        let settings = BaselineSettings {
            protocol: Some(protocol),
            last_step: 20,
            force_stop: "Step {n} is the last one: answer with what you know.".to_owned(),
            ..BaselineSettings::default()
        };
        let mut talk = Self { settings, messages: vec![Message::system("Use Search and Lookup.")], step: 1 };
        talk.say(&talk.protocol().question("Question", "Who was Ann Bee?"));
        talk.act(Tool::Search, "Ann Bee", "Ann Bee was a painter.");
        talk.messages.push(Message::assistant(talk.protocol().step(2, Some("t"), Tool::Finish, "a painter")));
        talk.say(&talk.protocol().question("Question", question));
        talk.step = 1;
        talk
    }

    fn protocol(&self) -> Arc<dyn Protocol> {
        Arc::clone(self.settings.protocol.as_ref().expect("a protocol"))
    }

    fn act(&mut self, tool: Tool, input: &str, observation: &str) {
        let protocol = self.protocol();
        self.messages.push(Message::assistant(protocol.step(self.step, Some("t"), tool, input)));
        let content = protocol.observation(self.step, observation).into();
        self.messages.push(Message { role: protocol.observation_role(), content });
        self.step += 1;
    }

    fn say(&mut self, text: &str) {
        self.messages.push(Message::user(text));
    }

    /// The prompt; a template's is one message.
    fn prompt(&self) -> Prompt {
        if self.protocol().layout() != protocol::Layout::Template {
            return Prompt::Messages(self.messages.clone());
        }
        let all: Vec<&str> = self.messages.iter().map(|message| message.content.trim_start()).collect();
        Prompt::Messages(vec![Message::user(all.join("\n"))])
    }

    fn read(&self) -> Transcript {
        Transcript::read(&self.prompt(), &self.settings)
    }

    fn written(&self) -> String {
        let request = Request { prompt: self.prompt(), stop: vec![], decoding: Decoding::default() };
        Baseline::new(self.settings.clone()).write(&request)
    }

    /// What the next reply does, read as the system would.
    fn next(&self) -> (Kind, String) {
        let parsed = self.protocol().parse(&self.written(), self.read().step());
        (parsed.kind, parsed.answer.or(parsed.input).unwrap_or_default().trim().to_owned())
    }
}

fn past(action: &str, observation: &str) -> PastStep {
    PastStep { action: action.into(), observation: observation.into() }
}

#[test]
fn arguments_survive_the_way_through_every_form() {
    for id in ALL {
        for argument in ["b's", "\"quoted\"", "a 'b' \"c\"", "{x: 'y'}", "甲(乙)", "O'Neil, \"Ann\""] {
            if id == "robust" && argument.starts_with('"') {
                continue; // It takes quotes off.
            }
            let mut talk = Talk::about(id, QUESTION);
            talk.act(Tool::Search, argument, "No such page.");
            let read = talk.read();
            let expected = [past(&format!("Search[{argument}]"), "No such page.")];
            assert_eq!((&*read.question, &read.steps[..]), (QUESTION, &expected[..]), "{id}");
        }
    }
}

#[test]
fn a_forced_stop_is_obeyed() {
    let said = "Step 2 is the last one: answer with what you know.";
    for (id, role, join) in [
        ("robust", Role::User, true),
        ("go-blog", Role::User, true),
        ("robust", Role::User, false),
        ("lagent", Role::System, false),
    ] {
        let mut talk = Talk::about(id, QUESTION);
        let shown = if join { format!("{FIRST}\n{said}") } else { FIRST.to_owned() };
        talk.act(Tool::Search, "Nightfall of Arven", &shown);
        if !join {
            talk.messages.push(Message { role, content: said.into() });
        }
        let read = talk.read();
        assert!(read.forced && read.must_answer() && read.steps[0].observation.starts_with(FIRST), "{id}");
        assert_eq!((read.steps.len(), talk.next().0), (1, Kind::Finish), "{id} {}", talk.written());
    }
}

#[test]
fn a_refused_answer_may_be_given_again_after_another_step() {
    let mut talk = Talk::about("robust", QUESTION);
    talk.act(Tool::Search, "Nightfall of Arven", FIRST);
    talk.act(Tool::Search, "Mara Lindqvist", SECOND);
    let answer = (Kind::Finish, "Tolvsund".to_owned());
    assert_eq!(talk.next(), answer);
    talk.messages.push(Message::assistant(talk.written()));
    talk.say("Error: no.");
    assert_eq!(talk.next(), (Kind::Act, "Tolvsund".to_owned()));
    talk.step += 1;
    talk.act(Tool::Search, "Tolvsund", "Tolvsund is a town on the coast.");
    assert_eq!(talk.next(), answer);
}

#[test]
fn the_answer_that_llama_index_asks_for_at_its_limit_is_bare() {
    let mut talk = Talk::about("llama-index", "");
    let limit = Message::system("You have reached the maximum number of iterations (2).");
    talk.messages = vec![Message::user("Who was Ann Bee?"), limit];
    assert_eq!(talk.written(), "Ann Bee");
}

#[test]
fn any_conversation_can_be_read() {
    let contents = ["", "Observation 99999999999999999999: x", "Error:", "Thought:", "{", "Action 1: Search[", "é："];
    for id in protocol::IDS {
        let mut talk = Talk::about(id, QUESTION);
        for role in [Role::System, Role::User, Role::Assistant] {
            for content in contents {
                let message = |role| Message { role, content: content.into() };
                talk.messages = [Role::User, role, Role::Assistant, role].map(message).into();
                talk.written();
            }
        }
        talk.messages.clear();
        talk.written();
    }
}
