//! The methods with a scripted model: number of requests, votes, and a replay without differences.

use super::replay::replay;
use super::{Acting, Agent, Answering, Approach, Episode, Stage};
use crate::base::{
    Completion, Decoding, Message, Method, Outcome, Question, Request, Trajectory, Usage, Variant, Voting,
};
use crate::models::{CompletionFuture, Model, ModelError, OnEvent, Price};
use crate::prompting::protocol::{Frame, Setup, react_paper, robust, testing};
use crate::tests::made_up::{OnePage, variant};
use crate::wikipedia::SessionOptions;
use futures_util::FutureExt as _;
use std::sync::{Arc, Mutex};

mod continued;

/// The reply to a prompt by its number; none is an error.
type Answer = dyn Fn(&str, usize) -> Option<Completion> + Send + Sync;

/// Answers by the prompt's last line and the number of requests so far; fails where there is no answer.
pub(super) struct Scripted {
    answer: Box<Answer>,
    asked: Mutex<Vec<Request>>,
}

/// An agent over a scripted model that only says something.
pub(super) fn scripted(
    approach: Approach,
    answer: impl Fn(&str, usize) -> Option<String> + Send + Sync + 'static,
) -> (Agent, Arc<Scripted>) {
    let completion =
        move |prompt: &str, number| answer(prompt, number).map(|text| Completion { text, ..Completion::default() });
    replying(approach, completion)
}

/// An agent over a scripted model.
pub(super) fn replying(
    approach: Approach,
    answer: impl Fn(&str, usize) -> Option<Completion> + Send + Sync + 'static,
) -> (Agent, Arc<Scripted>) {
    let model = Arc::new(Scripted { answer: Box::new(answer), asked: Mutex::default() });
    let price = Some(Price::new(1.0, 2.0));
    let (source, session) = (Arc::new(OnePage), SessionOptions::default());
    let (breaker, learned) = (None, None);
    (Agent { model: model.clone(), source, session, approach, price, journaled: true, breaker, learned }, model)
}

impl Model for Scripted {
    fn complete<'a>(&'a self, request: &'a Request, _: Option<OnEvent<'a>>) -> CompletionFuture<'a> {
        let mut asked = self.asked.lock().expect("sound");
        let answer = (self.answer)(&request.prompt.to_text(), asked.len());
        asked.push(request.clone());
        let completion =
            answer.map(|completion| Completion { usage: Some(Usage::new(10, 2)), attempts: 1, ..completion });
        let (message, cause) = ("no more".to_owned(), crate::base::Cause::BadRequest);
        let refused = || ModelError::Refused { status: 400, message, cause, body: None };
        std::future::ready(completion.ok_or_else(refused)).boxed()
    }
}

fn setup(max_steps: usize, seed: Option<u64>) -> Arc<Setup> {
    let setup = testing::setup(Frame::text("PREFIX\n"), max_steps);
    Arc::new(Setup { decoding: Decoding { seed, ..Decoding::default() }, ..setup })
}

fn approach(method: Method, voting: Voting, seed: Option<u64>) -> Approach {
    let acting = |_| Ok(Acting { protocol: Arc::new(react_paper::Paper), setup: setup(2, seed) });
    let answering = |method| {
        Ok::<_, ()>(Answering { setup: setup(2, seed), reasons: method == Method::Cot, oracle_context: false })
    };
    Approach::of(method, acting, answering, voting).expect("both parts are there")
}

pub(super) fn episode(method: Method) -> Episode {
    let variant = Variant { method: method.name().to_owned(), max_steps: Some(2), ..variant("main") };
    let question = Arc::new(Question::new("q", "Who?", vec!["Ada".to_owned()]));
    Episode { question, variant: Arc::new(variant), repeat: 0, key: "k".to_owned(), fork: None }
}

/// Runs a method and replays its record.
async fn run(
    method: Method,
    voting: Voting,
    seed: Option<u64>,
    answer: fn(&str, usize) -> Option<String>,
) -> (Trajectory, Vec<Request>) {
    let approach = approach(method, voting, seed);
    let (agent, model) = scripted(approach.clone(), answer);
    let episode = episode(method);
    let record = agent.answer(&episode, None).await;
    let replayed = replay(&record, &episode.question, &approach);
    assert_eq!(replayed.differences, [], "{}", method.name());
    let asked = std::mem::take(&mut *model.asked.lock().expect("sound"));
    assert_eq!(replayed.calls, record.call_count());
    (record, asked)
}

fn voting(samples: u32) -> Voting {
    Voting { samples, ..Voting::default() }
}

/// Agents never finish, chains of thought disagree: three for B, two for A.
fn undecided(prompt: &str, number: usize) -> Option<String> {
    Some(match prompt.lines().next_back()? {
        line if line.starts_with("Thought ") => {
            let n: usize = line.trim_start_matches("Thought ").trim_end_matches(':').parse().ok()?;
            format!(" look.\nAction {n}: Search[page {n}]")
        }
        _ => format!(" so.\nAnswer: {}", ["A", "B", "The b.", "a", "B", "c", "d", "e"][number % 8]),
    })
}

#[tokio::test]
async fn direct_methods_ask_once() {
    let (record, asked) =
        run(Method::Standard, voting(1), None, |prompt, _| prompt.ends_with("Answer:").then(|| " Ada".into())).await;
    assert_eq!((record.outcome, record.answer.as_deref(), asked.len()), (Outcome::Finished, Some("Ada"), 1));
    assert_eq!(record.steps.len(), 1);
    let (record, asked) = run(Method::Cot, voting(1), None, undecided).await;
    assert_eq!((record.answer.as_deref(), asked.len(), record.votes.len()), (Some("A"), 1, 0));
    assert_eq!(record.steps[0].thought.as_deref(), Some("so."));
}

#[tokio::test]
async fn a_vote_counts_samples_of_its_own_temperature_and_seed() {
    let (record, asked) = run(Method::CotSc, voting(5), Some(40), undecided).await;
    assert_eq!(record.answer.as_deref(), Some("B"));
    let votes: Vec<_> = record.votes.iter().map(|vote| (vote.answer.as_str(), vote.count)).collect();
    assert_eq!(votes, [("B", 3), ("A", 2)]);
    assert_eq!((record.sample_count(), record.agent_steps().count()), (5, 0));
    let mut seeds: Vec<_> = asked.iter().map(|request| request.decoding.seed).collect();
    seeds.sort_unstable();
    assert_eq!(seeds, [Some(40), Some(41), Some(42), Some(43), Some(44)]);
    assert!(asked.iter().all(|request| (request.decoding.temperature - 0.7).abs() < 1e-9));
    assert_eq!(record.usage, Usage::new(50, 10));
    assert!((record.cost_usd.expect("a price") - 70e-6).abs() < 1e-12);
}

#[tokio::test]
async fn an_agent_without_an_answer_falls_back_on_the_vote() {
    let (record, asked) = run(Method::ReactThenCotSc, voting(3), None, undecided).await;
    // Two steps, the closing empty finish, then samples that see the third to fifth answer of the script.
    assert_eq!((record.outcome, record.answer.as_deref(), asked.len()), (Outcome::Finished, Some("The b."), 5));
    assert_eq!((record.agent_steps().count(), record.sample_count()), (3, 3));
    let finishes = |prompt: &str, _: usize| prompt.ends_with("Thought 1:").then(|| " x\nAction 1: Finish[Ada]".into());
    let (record, asked) = run(Method::ReactThenCotSc, voting(3), None, finishes).await;
    assert_eq!((record.answer.as_deref(), asked.len(), record.votes.len()), (Some("Ada"), 1, 0));
    // An empty answer is none.
    let empty = |prompt: &str, number: usize| {
        if prompt.ends_with("Thought 1:") { Some(" x\nAction 1: Finish[]".into()) } else { undecided(prompt, number) }
    };
    let (record, _) = run(Method::ReactThenCotSc, voting(3), None, empty).await;
    assert_eq!((record.answer.as_deref(), record.sample_count()), (Some("B"), 3));
}

#[test]
fn repeats_and_samples_have_seeds_of_their_own() {
    let approach = approach(Method::CotSc, voting(3), Some(7)).repeated(2);
    let [Stage::Vote(answering, voting)] = &approach.0[..] else { panic!("a vote") };
    let seeds: Vec<_> = (0..3).map(|number| answering.sample(number, voting).setup.decoding.seed).collect();
    assert_eq!(seeds, [Some(2007), Some(2008), Some(2009)]);
}

#[tokio::test]
async fn a_vote_without_a_majority_falls_back_on_the_agent() {
    // Eight samples: three B, two A, one each of three others; half would be four.
    let (record, _) = run(Method::CotScThenReact, voting(8), None, undecided).await;
    assert_eq!((record.outcome, record.answer.as_deref()), (Outcome::StepLimit, None));
    assert_eq!((record.sample_count(), record.agent_steps().count(), record.votes[0].count), (8, 3, 3));
    let (record, asked) = run(Method::CotScThenReact, voting(5), None, undecided).await;
    assert_eq!((record.answer.as_deref(), asked.len(), record.agent_steps().count()), (Some("B"), 5, 0));
}

#[tokio::test]
async fn a_sample_that_fails_for_good_spoils_the_vote() {
    let fails = |prompt: &str, number: usize| (number != 2).then(|| undecided(prompt, number)).flatten();
    let (record, _) = run(Method::CotSc, voting(4), None, fails).await;
    assert_eq!((record.outcome, record.answer), (Outcome::NotMeasured, None));
    assert!(record.detail.expect("a reason").starts_with("model: "));
    assert_eq!(record.steps.len(), 3, "what was paid for is kept");
}

#[tokio::test]
async fn a_vote_that_decides_leaves_the_conversation_as_it_was() {
    let history = vec![Message::user("Question: Before?"), Message::assistant("Action 1: Finish[x]")];
    let talking = Arc::new(Setup { history: history.clone(), ..Setup::clone(&setup(2, None)) });
    let approach = Approach::of(
        Method::CotScThenReact,
        |_| Ok::<_, ()>(Acting { protocol: Arc::new(robust::Robust::default()), setup: talking }),
        |_| Ok(Answering { setup: setup(2, None), reasons: true, oracle_context: false }),
        voting(1),
    );
    let (agent, _) = scripted(approach.expect("both parts are there"), undecided);
    let (record, memory) = agent.answer_observed(&episode(Method::CotScThenReact), None, None).await;
    assert_eq!((record.answer.as_deref(), memory), (Some("A"), history));
}
