//! The policy in conversation with every protocol's own dialogue.

use super::tool;
use crate::base::{Call, Completion, EpisodeState, Message, Outcome, Question, Reply, Request, Tool};
use crate::models::{Baseline, BaselineSettings, cut_at_stop};
use crate::prompting::protocol::{self, Frame, Layout, Options, Protocol, Setup, ToolTexts, Turn};
use std::sync::Arc;

const BRIDGE: &str = "In which town was the director of Nightfall of Arven born?";
const FORCE_STOP: &str = "No step is left after this one. Say what you know.";

/// Each protocol with each option that changes what a model sees.
const VARIANTS: &[(&str, &[(&str, &str)])] = &[
    ("react-paper", &[]),
    ("react-zh", &[]),
    ("robust", &[]),
    ("tools", &[]),
    ("tools", &[("answer", "text"), ("parallel", "on")]),
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
    /// Whether the policy knows how many steps there are; otherwise only the protocol's words tell.
    told: bool,
    /// What the tool says to everything instead of answers, if it is broken.
    complaint: Option<&'a str>,
    history: Vec<Message>,
}

impl<'a> Trial<'a> {
    fn of(question: &'a str) -> Self {
        Self { question, claim: false, thoughts: true, max_steps: 8, told: true, complaint: None, history: vec![] }
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

fn frame(protocol: &dyn Protocol) -> Frame {
    let example = [
        protocol.step(1, Some("I look."), Tool::Search, "Ann Bee"),
        protocol.observation(1, "Ann Bee was a painter. She was born in Arven."),
        protocol.step(2, Some("I know."), Tool::Finish, "a painter"),
    ];
    let question = protocol.question("Question", "Who was Ann Bee?");
    let mut frame = Frame {
        tools: protocol.tools(&ToolTexts::default()),
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
            frame.system = Some("Do it.\nQuestion: the question\nThought: …\nAction: a tool".into());
            frame.examples = vec![
                Message::user(question),
                protocol.reply(1, Some("I look."), Tool::Search, "Ann Bee"),
                protocol.result(1, "Ann Bee was a painter. She was born in Arven."),
                protocol.reply(2, Some("I know."), Tool::Finish, "a painter"),
            ];
        }
    }
    frame
}

fn run(protocol: &Arc<dyn Protocol>, trial: &Trial<'_>) -> Run {
    let max_steps = trial.max_steps;
    let label = if trial.claim { "Claim" } else { "Question" };
    let (thoughts, history) = (trial.thoughts, trial.history.clone());
    let setup = Setup { thoughts, history, ..Setup::new(frame(protocol.as_ref()), label, max_steps) };
    let mut dialogue = protocol.dialogue(&Arc::new(setup));
    // The library compares the number of replies before it uses the answer, so the last step is lost.
    let lost = usize::from(protocol.id() == "llama-index");
    let model = Baseline::new(BaselineSettings {
        protocol: Some(Arc::clone(protocol)),
        last_step: if trial.told { max_steps - lost } else { 100 },
        claims: trial.claim,
        thoughts: trial.thoughts,
        force_stop: FORCE_STOP.to_owned(),
    });
    let mut run = Run::default();
    let mut state = EpisodeState { question: trial.question.to_owned(), steps: vec![] };
    let mut turn = dialogue.begin(&Question::new("q", trial.question, vec![]));
    for _ in 0..200 {
        turn = match turn {
            Turn::Ask(mut request) => {
                request.state = Some(Arc::new(state.clone()));
                let completion = asked(&model, &request);
                dialogue.called(&Call::of(&request, completion))
            }
            Turn::Use(call) => {
                run.actions.push((call.tool, call.input.clone()));
                let reply = match (&call.reply, call.tool, trial.complaint) {
                    (Reply::Given(text), ..) => text.clone(),
                    (Reply::None, ..) => String::new(),
                    (Reply::Tool, Tool::Search | Tool::Lookup, Some(complaint)) => complaint.to_owned(),
                    (Reply::Tool, Tool::Search, None) => tool(&format!("Search[{}]", call.input)),
                    (Reply::Tool, Tool::Lookup, None) => "No more results.".to_owned(),
                    (Reply::Tool, ..) => "Episode finished, reward = 0".to_owned(),
                };
                let next = dialogue.observation(&reply);
                state.steps.push((call, reply));
                next
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

fn asked(model: &Baseline, request: &Request) -> Completion {
    let mut reply = model.reply(request);
    reply.text.truncate(cut_at_stop(&reply.text, &request.stop));
    assert!(!reply.text.trim().is_empty() || !reply.calls.is_empty(), "{request:?}");
    reply
}

/// A bridge and its answer; all protocols take the same steps.
fn assert_crossed(run: &Run, what: &str) {
    let searches: Vec<&str> = run.actions.iter().filter(|(tool, _)| *tool == Tool::Search).map(|(_, i)| &**i).collect();
    assert_eq!(searches, ["Nightfall of Arven", "Mara Lindqvist"], "{what} {:?}", run.actions);
    assert_eq!((run.answer.as_deref(), run.actions.len()), (Some("Tolvsund"), 4), "{what} {:?}", run.actions);
    assert_eq!(run.outcome, Some(Outcome::Finished), "{what}");
}

#[test]
fn the_protocols_words_force_an_answer() {
    // The first releases of lagent have such words, too, but send them too late.
    for (id, options) in [("robust", &[][..]), ("tools", &[]), ("lagent", &[]), ("lagent", &[("variant", "json")])] {
        let run = run(&protocol(id, options), &Trial { max_steps: 3, told: false, ..Trial::of(BRIDGE) });
        assert_eq!((run.outcome, run.actions.len()), (Some(Outcome::Finished), 3), "{id} {options:?} {run:?}");
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
        let complaints =
            ["Error: no", "Invalid action: x", "无效动作:x", "Please follow the format", "Tool X does not exists."];
        let broken = complaints.map(|complaint| [4, 8, 20].map(|max_steps| (max_steps, Some(complaint))));
        for (max_steps, complaint) in [(2, None), (3, None)].into_iter().chain(broken.into_iter().flatten()) {
            let question = "Who was the sister of the painter Ann Cee of Dalby?";
            let run = run(&protocol, &Trial { max_steps, complaint, ..Trial::of(question) });
            let what = format!("{id} {options:?} {max_steps} {complaint:?} {:?}", run.actions);
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
        if protocol.profile().acts_without_thoughts {
            assert_crossed(&run(&protocol, &Trial { thoughts: false, ..Trial::of(BRIDGE) }), id);
        }
    }
}

#[test]
fn questions_are_answered_in_every_protocol_with_and_without_memory() {
    for (id, options) in VARIANTS {
        let protocol = protocol(id, options);
        let mut history = Vec::new();
        for (question, answer) in [
            (BRIDGE, "Tolvsund"),
            ("Which is longer, the River Ark or the River Bel?", "River Bel"),
            (BRIDGE, "Tolvsund"),
        ] {
            let first = history.is_empty();
            let run = run(&protocol, &Trial { history, ..Trial::of(question) });
            if first && question == BRIDGE {
                assert_crossed(&run, &format!("{id} {options:?}"));
            }
            assert_eq!(run.answer.as_deref(), Some(answer), "{id} {options:?} {:?}", run.actions);
            history = run.memory;
        }
    }
}
