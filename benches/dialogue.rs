//! How many episodes a second there could be if neither model nor Wikipedia took any time: the paper's dialogue alone,
//! and the agent's whole loop around it. Prompt, questions and encyclopedia are those that come with the program.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wikitrail::base::{
    Compat, Completion, Decoding, Method, Outcome, Prompt, Question, Request, Usage, Variant, Wording,
};
use wikitrail::dataset::{self, ReadOptions};
use wikitrail::models::{Baseline, BaselineSettings, Model, ModelError};
use wikitrail::prompting::protocol::react_paper::Paper;
use wikitrail::prompting::protocol::{Protocol, Setup, Turn};
use wikitrail::prompting::{self, ExemplarOrder, RenderSettings, texts::ProtocolTexts};
use wikitrail::runner::agent::{Acting, Agent, Approach, Episode};
use wikitrail::wikipedia::{Corpus, SessionOptions, Source};

const MAX_STEPS: usize = 7;

/// What the scripted model writes: a search, another one, a lookup on that page, the answer. Each reply goes on where
/// only the stop would end it.
const REPLIES: [&str; 4] = [
    " I need to search Hafnium, and then who found it.\nAction 1: Search[Hafnium]\nObservation 1: made up",
    " One of them is George de Hevesy. I need to search him next.\nAction 2: Search[George de Hevesy]\nObservation 2: made up",
    " The paragraph does not say it. Maybe I can look up \"prize\".\nAction 3: Lookup[prize]\nObservation 3: made up",
    " The page says it clearly, so the answer is 1943.\nAction 4: Finish[1943]\nObservation 4: made up",
];

fn shipped(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn setup() -> Arc<Setup> {
    let file = shipped("prompts/hotpotqa.toml").display().to_string();
    let source = prompting::load(&file, None, &|_| None).expect("a shipped prompt");
    let settings = RenderSettings {
        protocol: &Paper,
        method: Method::React,
        shots: None,
        order: ExemplarOrder::default(),
        max_steps: MAX_STEPS,
    };
    Arc::new(Setup {
        frame: prompting::render(&source, &ProtocolTexts::default(), &settings).expect("renders").frame,
        question_label: "Question".to_owned(),
        max_steps: MAX_STEPS,
        thoughts: true,
        decoding: Decoding::default(),
        history: Vec::new(),
    })
}

fn questions() -> Vec<Question> {
    let file = shipped("datasets/sample.jsonl");
    dataset::load_file(&file, &ReadOptions::default()).expect("shipped questions").questions
}

/// A reply as a model gives it, cut before the first stop.
fn reply(number: usize, stops: &[String]) -> &'static str {
    let text = REPLIES[number];
    let end = stops.iter().filter_map(|stop| text.find(stop.as_str())).min();
    &text[..end.unwrap_or(text.len())]
}

/// Answers by the number of observations that the question has got so far.
struct Scripted;

impl Model for Scripted {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, ModelError>> {
        let Prompt::Text { rest, .. } = &request.prompt else { panic!("the paper's prompts are texts") };
        let completion = Completion {
            text: reply(rest.matches("\nObservation ").count(), &request.stop).to_owned(),
            finish_reason: Some("stop".to_owned()),
            usage: Some(Usage::new(1700, 35)),
            attempts: 1,
            ..Completion::default()
        };
        futures_util::future::ready(Ok(completion)).boxed()
    }
}

include!("../tests/it/common/variant.rs");

fn agent(model: Arc<dyn Model>, source: &Arc<dyn Source>) -> Agent {
    Agent {
        model,
        source: Arc::clone(source),
        session: SessionOptions::default(),
        approach: Approach::Act(Acting { protocol: Arc::new(Paper), setup: setup() }),
        price: None,
        journaled: false,
    }
}

fn episodes() -> Vec<Episode> {
    let variant = Arc::new(Variant { max_steps: Some(MAX_STEPS), ..variant("main") });
    let of = |question| Episode {
        fork: None,
        question: Arc::new(question),
        variant: Arc::clone(&variant),
        repeat: 0,
        key: String::new(),
    };
    questions().into_iter().map(of).collect()
}

/// One question from its first turn to its stop; gives the number of calls.
fn talk(setup: &Arc<Setup>, question: &Question) -> usize {
    const SEEN: &str = "It is a page of the usual sort. It has five sentences of the usual length, as the tool shows \
                        them. This is the third of them. Nobody reads the fourth. The fifth ends the observation.";
    let mut dialogue = Paper.dialogue(setup);
    let (mut turn, mut calls) = (dialogue.begin(question), 0);
    loop {
        turn = match turn {
            Turn::Ask(request) => {
                calls += 1;
                dialogue.completion(reply(calls - 1, &black_box(request).stop))
            }
            Turn::Use(call) => {
                black_box(call);
                dialogue.observation(SEEN)
            }
            Turn::Stop(_) => return calls,
        };
    }
}

fn dialogue(criterion: &mut Criterion) {
    let setup = setup();
    let question = &questions()[0];
    assert_eq!(talk(&setup, question), REPLIES.len());
    let mut group = criterion.benchmark_group("dialogue");
    group.throughput(Throughput::Elements(1));
    group.bench_function("paper", |bencher| bencher.iter(|| talk(&setup, black_box(question))));
    group.finish();
}

fn loops(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let corpus = Corpus::open(&shipped("datasets/sample-wiki")).expect("the shipped encyclopedia");
    let source: Arc<dyn Source> = Arc::new(corpus);
    let rules = BaselineSettings { protocol: Some(Arc::new(Paper)), ..BaselineSettings::default() };
    let agents = [
        ("scripted", agent(Arc::new(Scripted), &source)),
        ("baseline", agent(Arc::new(Baseline::new(rules)), &source)),
    ];
    let episodes = episodes();
    let mut group = criterion.benchmark_group("agent");
    group.throughput(Throughput::Elements(episodes.len() as u64)).sample_size(20);
    for (name, agent) in &agents {
        let run = || {
            let answered = episodes.iter().map(|episode| runtime.block_on(agent.answer(black_box(episode), None)));
            answered.filter(|trajectory| trajectory.outcome == Outcome::Finished).count()
        };
        assert!(run() * 2 > episodes.len(), "{name} answers most questions");
        group.bench_function(*name, |bencher| bencher.iter(run));
    }
    group.finish();
}

criterion_group!(benches, dialogue, loops);
criterion_main!(benches);
