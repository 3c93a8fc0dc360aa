//! Episodes that are recorded, many at once, and replayed without model and source.

use crate::base::{Compat, Completion, Method, Question, Request, Trajectory, Variant, Voting};
use crate::models::{CompletionFuture, Model, ModelIdentity, OnEvent, recorded};
use crate::net::recording::{Player, Recorder};
use crate::prompting::protocol::{Frame, react_paper};
use crate::runner::agent::{Acting, Agent, Answering, Approach, Episode};
use crate::tests::made_up::{OnePage, variant};
use crate::wikipedia::{SessionOptions, Source, SourceIdentity, recorded_source};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Agents never finish, and samples disagree: every request is told something else, whoever makes it.
#[derive(Default)]
struct Undecided {
    asked: AtomicUsize,
}

impl Model for Undecided {
    fn complete<'a>(&'a self, request: &'a Request, _: Option<OnEvent<'a>>) -> CompletionFuture<'a> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let prompt = request.prompt.to_text();
        let text = match prompt.lines().next_back() {
            Some(line) if line.starts_with("Thought ") => {
                let n = line.trim_start_matches("Thought ").trim_end_matches(':');
                format!(" look {number}.\nAction {n}: Search[page {n}]")
            }
            _ => format!(" so.\nAnswer: {number}"),
        };
        let completion = Completion { text, latency_ms: 5, attempts: 1, ..Completion::default() };
        // Whoever is asked later answers earlier, now and then.
        async move {
            for _ in 0..number * 7 % 5 {
                tokio::task::yield_now().await;
            }
            Ok(completion)
        }
        .boxed()
    }
}

/// A vote of seven samples, and then an agent of two steps.
fn approach() -> Approach {
    let setup = crate::tests::setup(Frame::text("PREFIX\n"), 2);
    let acting = Acting { protocol: Arc::new(react_paper::Paper), setup: Arc::clone(&setup) };
    let answering = Answering { setup, reasons: true, oracle_context: false };
    let voting = Voting { samples: 7, ..Voting::default() };
    Approach::of(Method::CotScThenReact, |_| Ok::<_, ()>(acting), |_| Ok(answering), voting)
        .expect("both parts are there")
}

fn episode(repeat: u32) -> Episode {
    let variant = Variant { method: Method::CotScThenReact.name().to_owned(), max_steps: Some(2), ..variant("main") };
    let question = Arc::new(Question::new("q", "Who?", vec!["Ada".to_owned()]));
    Episode { question, variant: Arc::new(variant), repeat, key: "k".to_owned(), fork: None }
}

fn model() -> ModelIdentity {
    ModelIdentity::new("made", "m", "none", None)
}

fn source() -> SourceIdentity {
    SourceIdentity::new("made", Compat::Fixed, None)
}

fn agent(model: Arc<dyn Model>, source: Arc<dyn Source>, approach: Approach) -> Agent {
    let (session, breaker, learned) = (SessionOptions::default(), None, None);
    Agent { model, source, session, approach, price: None, journaled: false, breaker, learned }
}

fn replaying(path: &Path, approach: Approach) -> Agent {
    let player = Player::open(path).expect("opens");
    let model = recorded::Replaying::new(model(), player.clone());
    agent(Arc::new(model), Arc::new(recorded_source::Replaying::new(source(), player)), approach)
}

fn recording(path: &Path, approach: Approach) -> Agent {
    let tape = Arc::new(Recorder::open(path).expect("opens"));
    let model = recorded::Recording::new(Arc::new(Undecided::default()), model(), Arc::clone(&tape));
    agent(Arc::new(model), Arc::new(recorded_source::Recording::new(Arc::new(OnePage), source(), tape)), approach)
}

/// All episodes at once; their trajectories in the order of the repeats, without times.
async fn answers(agent: &Agent, repeats: impl Iterator<Item = u32>) -> Vec<Trajectory> {
    let episodes: Vec<Episode> = repeats.map(episode).collect();
    let running: FuturesUnordered<_> = episodes.iter().map(|episode| agent.answer(episode, None)).collect();
    let mut ended: Vec<Trajectory> = running.collect().await;
    ended.sort_by_key(|trajectory| trajectory.repeat);
    ended.into_iter().map(Trajectory::without_times).collect()
}

#[tokio::test]
async fn many_episodes_at_once_replay_identically_in_another_order() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("t.jsonl");
    let agent = recording(&path, approach());
    let before = answers(&agent, 0..5).await;
    drop(agent);
    for trajectory in &before {
        assert!(trajectory.measured());
        assert_eq!((trajectory.sample_count(), trajectory.agent_steps().count()), (7, 3));
    }
    assert_ne!(before[0].votes, before[1].votes);
    assert_eq!(answers(&replaying(&path, approach()), (0..5).rev()).await, before);
}
