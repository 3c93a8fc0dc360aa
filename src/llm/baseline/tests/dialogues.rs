//! The policy in conversation with every protocol's own dialogue.

use super::tool;
use crate::llm::{Baseline, BaselineSettings, cut_at_stop};
use crate::protocol::{self, Frame, Layout, Options, Protocol, Setup, ToolSpec, Turn};
use crate::types::{Decoding, Message, Outcome, Question, Reply, Request, Tool};
use std::sync::Arc;

const FORCE_STOP: &str = "No step is left after this one. Say what you know.";

/// Each protocol with each option that changes what a model sees.
const VARIANTS: &[(&str, &[(&str, &str)])] = &[
    ("react-paper", &[]),
    ("react-zh", &[]),
    ("robust", &[]),
    ("qwen-agent", &[]),
    ("llama-index", &[]),
    ("llama-index", &[("variant", "workflow")]),
    ("go-blog", &[]),
    ("lagent", &[]),
    ("lagent", &[("labels", "v0.1")]),
    ("lagent", &[("variant", "json")]),
];

/// One question, and what is special about it.
struct Trial<'a> {
    question: &'a str,
    claim: bool,
    thoughts: bool,
    max_steps: usize,
    /// Whether the tool answers, or complains of everything.
    works: bool,
    history: Vec<Message>,
}

impl<'a> Trial<'a> {
    fn of(question: &'a str) -> Self {
        Self { question, claim: false, thoughts: true, max_steps: 8, works: true, history: vec![] }
    }
}

/// What came of it.
#[derive(Debug, Default)]
struct Run {
    actions: Vec<(Tool, String)>,
    outcome: Option<Outcome>,
    answer: Option<String>,
    memory: Vec<Message>,
}

fn protocol(id: &str, options: &[(&str, &str)]) -> Arc<dyn Protocol> {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    protocol::find(id, &Options(options)).expect("a protocol").expect("options that it has")
}

fn spec(tool: Tool, name: &str, parameter: &str) -> ToolSpec {
    let [name, parameter] = [name, parameter].map(str::to_owned);
    ToolSpec { tool, name, description: "d".into(), parameter, parameter_description: "p".into() }
}

fn frame(protocol: &dyn Protocol) -> Frame {
    let example = [
        protocol.step(1, Some("I look."), Tool::Search, "Ann Bee"),
        protocol.observation(1, "Ann Bee was a painter. She was born in Arven."),
        protocol.step(2, Some("I know."), Tool::Finish, "a painter"),
    ];
    let question = protocol.question("Question", "Who was Ann Bee?");
    let mut frame = Frame {
        tools: vec![spec(Tool::Search, "Search", "query"), spec(Tool::Lookup, "Lookup", "keyword")],
        texts: [("force_stop".to_owned(), FORCE_STOP.into()), ("feedback".to_owned(), "Error: {error}{error}".into())]
            .into(),
        ..Frame::default()
    };
    match protocol.layout() {
        Layout::Text => frame.prefix = format!("Do it.\n{question}{}", example.concat()).into(),
        Layout::Template => {
            let [first, observed, last] = example;
            let solved = format!("{question}\nThought: {first}{observed}{last}\n\n");
            frame.prefix = format!("Question: the question\nThought: …\nAction: a tool\n\n{solved}Question: ").into();
            frame.suffix = "\nThought: ".into();
        }
        Layout::System | Layout::Instruction => {
            let [first, observed, last] = example;
            frame.system = Some("Do it.\nQuestion: the question\nThought: …\nAction: a tool".into());
            let observed = Message { role: protocol.observation_role(), content: observed.into() };
            frame.examples =
                vec![Message::user(question), Message::assistant(first), observed, Message::assistant(last)];
        }
    }
    frame
}

fn run(protocol: &Arc<dyn Protocol>, trial: &Trial<'_>) -> Run {
    let max_steps = trial.max_steps;
    let setup = Setup {
        frame: frame(protocol.as_ref()),
        question_label: if trial.claim { "Claim" } else { "Question" }.to_owned(),
        max_steps,
        thoughts: trial.thoughts,
        decoding: Decoding::default(),
        history: trial.history.clone(),
    };
    let mut dialogue = protocol.dialogue(&Arc::new(setup));
    // The library compares the number of replies before it uses the answer, so the last step is lost.
    let lost = usize::from(protocol.id() == "llama-index");
    let model = Baseline::new(BaselineSettings {
        protocol: Some(Arc::clone(protocol)),
        last_step: max_steps - lost,
        claims: trial.claim,
        thoughts: trial.thoughts,
        force_stop: FORCE_STOP.to_owned(),
        ..BaselineSettings::default()
    });
    let mut run = Run::default();
    let mut turn = dialogue.begin(&Question::new("q", trial.question, vec![]));
    for _ in 0..200 {
        turn = match turn {
            Turn::Ask(request) => dialogue.completion(&asked(&model, &request)),
            Turn::Use(call) => {
                run.actions.push((call.tool, call.input.clone()));
                let reply = match call.reply {
                    Reply::Given(text) => text,
                    Reply::None => String::new(),
                    Reply::Tool if !trial.works && call.tool != Tool::Finish => {
                        "Error: the tool does not work".to_owned()
                    }
                    Reply::Tool => match call.tool {
                        Tool::Search => tool(&format!("Search[{}]", call.input)),
                        Tool::Lookup => "No more results.".to_owned(),
                        _ => "Episode finished, reward = 0".to_owned(),
                    },
                };
                dialogue.observation(&reply)
            }
            Turn::Stop(stop) => {
                (run.outcome, run.answer) = (Some(stop.outcome), stop.answer);
                assert!(stop.repairs.is_empty(), "{} {:?}", protocol.id(), stop.repairs);
                run.memory = dialogue.memory();
                return run;
            }
        }
    }
    panic!("{} does not end: {:?}", protocol.id(), run.actions);
}

fn asked(model: &Baseline, request: &Request) -> String {
    let mut reply = model.write(request);
    reply.truncate(cut_at_stop(&reply, &request.stop));
    assert!(!reply.trim().is_empty(), "{request:?}");
    reply
}

#[test]
fn questions_are_answered_in_every_protocol() {
    for (id, options) in VARIANTS {
        let protocol = protocol(id, options);
        let run = run(&protocol, &Trial::of("In which town was the director of Nightfall of Arven born?"));
        let searches = [(Tool::Search, "Nightfall of Arven".to_owned()), (Tool::Search, "Mara Lindqvist".to_owned())];
        assert!(run.actions.starts_with(&searches), "{id} {options:?} {:?}", run.actions);
        assert_eq!((run.answer.as_deref(), run.actions.len()), (Some("Tolvsund"), 3), "{id} {options:?}");
        assert_eq!(run.outcome, Some(Outcome::Finished), "{id} {options:?}");
    }
}

#[test]
fn claims_are_judged_in_every_protocol() {
    for (id, options) in VARIANTS {
        let protocol = protocol(id, options);
        let claim = "Mara Lindqvist was a film director who was born in Tolvsund.";
        let run = run(&protocol, &Trial { claim: true, ..Trial::of(claim) });
        assert_eq!(run.answer.as_deref(), Some("SUPPORTS"), "{id} {options:?} {:?}", run.actions);
    }
}

#[test]
fn every_protocol_gets_an_answer_within_its_steps() {
    for (id, options) in VARIANTS {
        let protocol = protocol(id, options);
        for (max_steps, works) in [(2, true), (3, true), (4, false), (8, false), (20, false)] {
            let question = "Who was the sister of the painter Ann Cee of Dalby?";
            let run = run(&protocol, &Trial { max_steps, works, ..Trial::of(question) });
            let what = format!("{id} {options:?} {max_steps} {works} {:?}", run.actions);
            assert_eq!(run.outcome, Some(Outcome::Finished), "{what}");
            assert!(run.answer.is_some_and(|answer| !answer.is_empty()), "{what}");
            assert!(run.actions.windows(2).all(|pair| pair[0] != pair[1]), "{what}");
        }
    }
}

#[test]
fn steps_may_do_without_thoughts() {
    for (id, options) in VARIANTS {
        let protocol = protocol(id, options);
        // The paper's dialogue asks for thoughts in any case.
        if protocol.acts_without_thoughts() {
            let question = "In which town was the director of Nightfall of Arven born?";
            let run = run(&protocol, &Trial { thoughts: false, ..Trial::of(question) });
            assert_eq!((run.answer.as_deref(), run.actions.len()), (Some("Tolvsund"), 3), "{id} {:?}", run.actions);
        }
    }
}

#[test]
fn what_is_remembered_does_not_stand_in_the_way() {
    for (id, options) in VARIANTS {
        let protocol = protocol(id, options);
        let mut history = Vec::new();
        for (question, answer) in [
            ("In which town was the director of Nightfall of Arven born?", "Tolvsund"),
            ("Which is longer, the River Ark or the River Bel?", "River Bel"),
            ("In which town was the director of Nightfall of Arven born?", "Tolvsund"),
        ] {
            let run = run(&protocol, &Trial { history, ..Trial::of(question) });
            assert_eq!(run.answer.as_deref(), Some(answer), "{id} {options:?} {:?}", run.actions);
            history = run.memory;
        }
    }
}
