//! Tests of plan and runner with episodes that need neither model nor Wikipedia.

use super::execute::{Answer, Gate, run_episodes};
use super::plan::{Due, Plan};
use crate::base::{Compat, DatasetRecord, Decoding, Manifest, Outcome, Question, RunEvent, Trajectory, Variant};
use crate::runner::agent::Episode;
use crate::runner::store::{Appender, Lock, RunFolder};
use crate::tests::made_up;
use futures_util::FutureExt as _;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

type Room = Box<dyn Fn() -> usize + Send + Sync>;

mod differences;

fn variant(name: &str) -> Variant {
    Variant { model: "baseline".to_owned(), wiki: "corpus:x".to_owned(), ..made_up::variant(name) }
}

fn manifest(variant: Variant) -> Manifest {
    let dataset = DatasetRecord {
        name: "d".to_owned(),
        path: "d.jsonl".to_owned(),
        format: "jsonl".to_owned(),
        sha256: "1".repeat(64),
        questions: 3,
        selected: 3,
        ..DatasetRecord::default()
    };
    let wikitrail = "0".to_owned();
    Manifest { v: 1, variants: vec![variant], repeats: 1, dataset, wikitrail, ..Manifest::default() }
}

fn questions(n: usize) -> Vec<Arc<Question>> {
    let question = |i: usize| Question::new(format!("q{i}"), format!("Question {i}?"), vec![]);
    (0..n).map(|i| Arc::new(Question { index: i, ..question(i) })).collect()
}

fn finished(episode: &Episode) -> Trajectory {
    Trajectory { outcome: Outcome::Finished, detail: None, ..episode.not_measured("") }
}

fn answer(f: impl Fn(&Episode) -> Trajectory + Send + Sync + 'static) -> Answer {
    let f = Arc::new(f);
    Arc::new(move |episode| {
        let f = Arc::clone(&f);
        async move {
            tokio::task::yield_now().await;
            Some(f(&episode))
        }
        .boxed()
    })
}

struct Bench {
    dir: tempfile::TempDir,
    stop: watch::Sender<bool>,
}

impl Bench {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), stop: watch::channel(false).0 }
    }

    fn folder(&self) -> RunFolder {
        RunFolder::at(self.dir.path())
    }

    fn due(&self, plan: &Plan) -> Due {
        plan.against(Some(&self.folder().records().unwrap()))
    }

    fn appender(&self) -> (Lock, Appender) {
        let lock = self.folder().lock(None).unwrap();
        let appender = self.folder().appender(&lock).unwrap();
        (lock, appender)
    }

    /// Runs what is due and returns the events.
    async fn run(&self, plan: &Plan, in_flight: usize, answer: Answer) -> Vec<RunEvent> {
        self.run_in(plan, Box::new(move || in_flight), answer).await
    }

    async fn run_in(&self, plan: &Plan, room: Room, answer: Answer) -> Vec<RunEvent> {
        let gate = Gate { room, admits: Box::new(|_| true) };
        let (_lock, appender) = self.appender();
        let (sender, mut receiver) = mpsc::channel(3);
        let running = run_episodes(self.due(plan).episodes, answer, appender, gate, sender, self.stop.subscribe());
        let listening = async {
            let mut events = Vec::new();
            while let Some(event) = receiver.recv().await {
                events.push(event);
            }
            events
        };
        let (ended, events) = tokio::join!(running, listening);
        ended.unwrap();
        events
    }
}

#[tokio::test]
async fn every_episode_is_recorded_once_and_no_more_are_in_flight_than_asked() {
    let bench = Bench::new();
    let plan = Plan::new(questions(100), &[variant("a"), Variant { max_steps: Some(5), ..variant("b") }], 2, None);
    assert_eq!(plan.against(None).new, 400);
    let (flying, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (f, m) = (Arc::clone(&flying), Arc::clone(&most));
    let slow: Answer = Arc::new(move |episode| {
        let (f, m) = (Arc::clone(&f), Arc::clone(&m));
        async move {
            m.fetch_max(f.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            f.fetch_sub(1, Ordering::SeqCst);
            Some(finished(&episode))
        }
        .boxed()
    });
    let events = bench.run(&plan, 8, slow).await;
    assert_eq!(events.len(), 400);
    assert!(most.load(Ordering::SeqCst) <= 8);
    let keys: HashSet<String> =
        bench.folder().records().unwrap().iter().map(|trajectory| trajectory.unwrap().key).collect();
    assert_eq!(keys.len(), 400);
}

#[tokio::test]
async fn room_that_grows_is_filled_although_nothing_ends() {
    let bench = Bench::new();
    let plan = Plan::new(questions(9), &[variant("a")], 1, None);
    let begun = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&begun);
    // No episode ends before seven have begun, and there is room for two at first.
    let patient: Answer = Arc::new(move |episode| {
        let begun = Arc::clone(&counted);
        async move {
            begun.fetch_add(1, Ordering::SeqCst);
            while begun.load(Ordering::SeqCst) < 7 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            Some(finished(&episode))
        }
        .boxed()
    });
    let looks = AtomicUsize::new(1);
    let room: Room = Box::new(move || looks.fetch_add(1, Ordering::SeqCst).min(7));
    bench.run_in(&plan, room, patient).await;
    assert_eq!((begun.load(Ordering::SeqCst), bench.folder().records().unwrap().keys().count()), (9, 9));
}

#[tokio::test]
async fn what_was_not_measured_is_done_again_and_the_rest_is_kept() {
    let bench = Bench::new();
    let plan = Plan::new(questions(10), &[variant("a")], 1, None);
    let first = answer(|e| match e.question.index {
        // What a budget cut short is not measured either.
        0 => Trajectory { outcome: Outcome::Budget, ..e.not_measured("spent") },
        index if index % 3 == 0 => e.not_measured("503"),
        _ => finished(e),
    });
    bench.run(&plan, 3, first).await;
    let due = bench.due(&plan);
    assert_eq!((due.keep, due.redo, due.new, due.foreign), (6, 4, 0, 0));
    let again: Vec<usize> = due.episodes.iter().map(|episode| episode.question.index).collect();
    assert_eq!(again, [0, 3, 6, 9]);
    assert_eq!(bench.run(&plan, 3, answer(finished)).await.len(), 4);
    let due = bench.due(&plan);
    assert_eq!((due.keep, due.redo, due.new), (10, 0, 0));
}

#[tokio::test]
async fn a_stop_begins_nothing_new_and_loses_nothing() {
    let bench = Bench::new();
    let plan = Plan::new(questions(50), &[variant("a")], 1, None);
    let stop = bench.stop.clone();
    let stopping = answer(move |e| {
        if e.question.index == 9 {
            stop.send_replace(true);
        }
        finished(e)
    });
    let events = bench.run(&plan, 4, stopping).await;
    let recorded = events.iter().filter(|event| matches!(event, RunEvent::Recorded(_))).count();
    assert!((10..=16).contains(&recorded), "{recorded}");
    assert_eq!(events.iter().filter(|event| matches!(event, RunEvent::Stopping)).count(), 1);
    bench.stop.send_replace(false);
    assert_eq!(bench.run(&plan, 4, answer(finished)).await.len(), 50 - recorded);
}

#[tokio::test]
async fn a_panic_costs_one_episode_and_says_why() {
    let bench = Bench::new();
    let plan = Plan::new(questions(5), &[variant("a")], 1, None);
    let panicking = answer(|e| {
        assert_ne!(e.question.index, 2, "planted");
        finished(e)
    });
    bench.run(&plan, 2, panicking).await;
    let unmeasured: Vec<Trajectory> =
        bench.folder().records().unwrap().iter().map(Result::unwrap).filter(|t| !t.measured()).collect();
    assert_eq!(unmeasured.len(), 1);
    assert!(unmeasured[0].detail.as_ref().unwrap().contains("planted"), "{unmeasured:?}");
}

/// Episodes that a run may be ahead of a listener: in flight, on their way to the writer, with the writer, in the channel.
const AHEAD: usize = 4 + 2 * (256 + 1) + 2;

#[tokio::test]
async fn a_slow_listener_slows_the_run_instead_of_filling_memory() {
    let bench = Bench::new();
    let due = Plan::new(questions(2_000), &[variant("a")], 1, None).against(None).episodes;
    let ended = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&ended);
    let counting = answer(move |episode| {
        counted.fetch_add(1, Ordering::SeqCst);
        finished(episode)
    });
    let (_lock, appender) = bench.appender();
    let (sender, mut receiver) = mpsc::channel(1);
    let gate = Gate { room: Box::new(|| 4), admits: Box::new(|_| true) };
    let running = tokio::spawn(run_episodes(due, counting, appender, gate, sender, bench.stop.subscribe()));
    let mut seen = 0;
    while receiver.recv().await.is_some() {
        seen += 1;
        // Time enough for an episode that nothing holds back.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        let ahead = ended.load(Ordering::SeqCst) - seen;
        assert!(ahead <= AHEAD, "{ahead} episodes wait for the listener");
    }
    running.await.expect("no panic").expect("written");
    assert_eq!((seen, bench.folder().records().unwrap().keys().count()), (2_000, 2_000));
}

#[tokio::test]
async fn a_run_that_is_dropped_while_its_listener_is_slow_ends_and_tells_what_it_wrote() {
    let bench = Bench::new();
    let due = Plan::new(questions(2_000), &[variant("a")], 1, None).against(None).episodes;
    let (_lock, appender) = bench.appender();
    let (sender, mut receiver) = mpsc::channel(1);
    let gate = Gate { room: Box::new(|| 4), admits: Box::new(|_| true) };
    let running = tokio::spawn(run_episodes(due, answer(finished), appender, gate, sender, bench.stop.subscribe()));
    let mut seen = usize::from(receiver.recv().await.is_some());
    running.abort();
    assert!(running.await.is_err_and(|error| error.is_cancelled()));
    // The writer still has some, and ends when they are told.
    while receiver.recv().await.is_some() {
        seen += 1;
    }
    let recorded = bench.folder().records().unwrap().keys().count();
    assert_eq!(seen, recorded);
    assert!(recorded < 2_000, "{recorded}");
}

#[tokio::test]
async fn a_listener_that_is_gone_holds_nothing_back() {
    let bench = Bench::new();
    let due = Plan::new(questions(1_000), &[variant("a")], 1, None).against(None).episodes;
    let (_lock, appender) = bench.appender();
    let (sender, receiver) = mpsc::channel(1);
    drop(receiver);
    let gate = Gate { room: Box::new(|| 4), admits: Box::new(|_| true) };
    run_episodes(due, answer(finished), appender, gate, sender, bench.stop.subscribe()).await.expect("written");
    assert_eq!(bench.folder().records().unwrap().keys().count(), 1_000);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_ends_the_run_with_an_error() {
    let bench = Bench::new();
    let appender = Appender::full();
    let due = Plan::new(questions(1000), &[variant("a")], 1, None).against(None).episodes;
    let (sender, receiver) = mpsc::channel(1);
    drop(receiver);
    let gate = Gate { room: Box::new(|| 4), admits: Box::new(|_| true) };
    let result = run_episodes(due, answer(finished), appender, gate, sender, bench.stop.subscribe()).await;
    assert!(result.unwrap_err().to_string().contains("No space left"));
}

#[test]
fn the_key_follows_what_decides_an_episode_and_nothing_else() {
    let key = |variant: Variant, question: Question, repeats: u32| {
        Plan::new(vec![Arc::new(question)], &[variant], repeats, None)
            .against(None)
            .episodes
            .last()
            .unwrap()
            .key
            .clone()
    };
    let question = || Question::new("q", "Why?", vec!["x".to_owned()]);
    let base = key(variant("a"), question(), 1);
    assert_eq!(base, key(variant("another name"), question(), 1));
    assert_eq!(base, key(Variant { base_url: Some("http://h".to_owned()), ..variant("a") }, question(), 1));
    assert_eq!(base, key(variant("a"), Question { index: 7, ..question() }, 1));
    let warm = Decoding { temperature: 0.7, ..Decoding::default() };
    let changed = [
        key(Variant { model: "openai:x".to_owned(), ..variant("a") }, question(), 1),
        key(Variant { max_steps: Some(5), ..variant("a") }, question(), 1),
        key(Variant { compat: Some(Compat::Paper), ..variant("a") }, question(), 1),
        key(Variant { prompt_sha256: "2".repeat(64), ..variant("a") }, question(), 1),
        key(Variant { decoding: warm.into(), ..variant("a") }, question(), 1),
        key(variant("a"), Question { question: "Why not?".to_owned(), ..question() }, 1),
        key(variant("a"), question(), 2),
        base,
    ];
    assert_eq!(changed.iter().collect::<HashSet<_>>().len(), changed.len());
}

/// Runs recorded by earlier versions are resumed, so keys must not change.
#[test]
fn a_key_is_what_it_always_was() {
    let question = Question::new("q", "Who said \"yes\"?", vec!["Zoë".to_owned(), "\n".to_owned()]);
    let plan = Plan::new(vec![Arc::new(question)], &[variant("a")], 2, None);
    let keys: Vec<String> = plan.against(None).episodes.into_iter().map(|episode| episode.key).collect();
    assert_eq!(
        keys,
        [
            "c3f89cf220e9eceabc0f7bdda624631c54cf3f4e266f4c804b758a162b79e477",
            "735f2953a9d1c3564474007787172d3fbc710edbc30460f859846b9f5ba807ba"
        ]
    );
}

#[tokio::test]
async fn episodes_of_other_variants_are_left_alone() {
    let bench = Bench::new();
    let (a, b) = (variant("a"), Variant { max_steps: Some(5), ..variant("b") });
    bench.run(&Plan::new(questions(10), &[a.clone(), b], 1, None), 3, answer(finished)).await;
    let due = bench.due(&Plan::new(questions(4), &[a], 1, None));
    assert_eq!((due.keep, due.redo, due.new, due.foreign, due.other), (4, 0, 0, 6, 10));
}

#[test]
fn variants_of_a_question_stand_next_to_each_other() {
    let episodes = Plan::new(questions(2), &[variant("a"), Variant { max_steps: Some(5), ..variant("b") }], 2, None)
        .against(None)
        .episodes;
    let place = |episode: &Episode| format!("{}{}{}", episode.question.id, episode.repeat, episode.variant.name);
    let order: Vec<String> = episodes.iter().map(place).collect();
    assert_eq!(order, ["q00a", "q00b", "q01a", "q01b", "q10a", "q10b", "q11a", "q11b"]);
}
