//! Episodes that were cut short go on from what their journal holds.

use super::*;
use crate::base::Event;
use crate::runner::agent::Journal;
use std::collections::{HashMap, VecDeque};

type Events = Vec<(Option<u32>, Event)>;

/// A journal in memory.
#[derive(Default)]
struct Kept(Mutex<HashMap<String, Events>>);

impl Journal for Kept {
    fn take(&self, key: &str, sample: Option<u32>) -> VecDeque<Event> {
        // Unlike a file, which is read once, it goes on to hold what it hands out.
        let all = self.0.lock().expect("sound").get(key).cloned().unwrap_or_default();
        all.into_iter().filter(|(of, _)| *of == sample).map(|(_, event)| event).collect()
    }

    fn keep<'a>(&'a self, key: &'a str, _variant: &'a str, sample: Option<u32>, event: Event) -> BoxFuture<'a, ()> {
        self.0.lock().expect("sound").entry(key.to_owned()).or_default().push((sample, event));
        std::future::ready(()).boxed()
    }
}

/// Looks a word up twice, then says what it read; chains of thought agree.
fn looks_up(prompt: &str, _: usize) -> Option<String> {
    let said = match prompt.lines().next_back()? {
        "Thought 1:" => " look.\nAction 1: Search[page]",
        // The action is missing, which takes a second call.
        "Thought 2:" => " again.",
        "Action 2:" => " Lookup[page]",
        "Thought 3:" => " once more.\nAction 3: Lookup[page]",
        "Thought 4:" => " done.\nAction 4: Finish[]",
        _ => " so.\nAnswer: Ada",
    };
    Some(said.to_owned())
}

fn agent(
    method: Method,
    model: impl Fn(&str, usize) -> Option<String> + Send + Sync + 'static,
) -> (Agent, Arc<Scripted>) {
    let acting = |_| Ok(Acting { protocol: Arc::new(react_paper::Paper), setup: setup(4, None) });
    let answering = |_| Ok::<_, ()>(Answering { setup: setup(2, None), reasons: true, oracle_context: false });
    let approach = Approach::of(method, acting, answering, voting(3)).expect("both parts are there");
    scripted(approach, model)
}

fn asked(model: &Scripted) -> usize {
    model.asked.lock().expect("sound").len()
}

#[tokio::test]
async fn wherever_an_episode_is_cut_it_goes_on_without_asking_again() {
    for method in [Method::React, Method::ReactThenCotSc, Method::CotScThenReact, Method::CotSc] {
        let episode = episode(method);
        let (whole, model) = agent(method, looks_up);
        let expected = whole.answer(&episode, None).await;
        let calls = asked(&model);
        for cut in 0..calls {
            let journal = Kept::default();
            let (broken, model) =
                agent(method, move |prompt, number| (number < cut).then(|| looks_up(prompt, number)).flatten());
            let record = broken.answer(&episode, Some(&journal)).await;
            assert_eq!(record.outcome, Outcome::NotMeasured, "{} {cut}", method.name());
            assert!(asked(&model) > cut);
            let (mended, model) = agent(method, looks_up);
            let record = mended.answer(&episode, Some(&journal)).await;
            assert_eq!(record.without_times(), expected.clone().without_times(), "{} {cut}", method.name());
            assert_eq!(asked(&model), calls - cut, "{} {cut}", method.name());
        }
    }
}

#[tokio::test]
async fn what_was_kept_of_another_conversation_is_not_used() {
    let (episode, journal) = (episode(Method::React), Kept::default());
    let (first, _) = agent(Method::React, |prompt, number| (number < 3).then(|| looks_up(prompt, number)).flatten());
    first.answer(&episode, Some(&journal)).await;
    for (_, event) in journal.0.lock().expect("sound").values_mut().flatten() {
        if let Event::Call(call) = event {
            call.prompt_sha256 = "0".repeat(64);
        }
    }
    let (second, model) = agent(Method::React, looks_up);
    let record = second.answer(&episode, Some(&journal)).await;
    assert_eq!((record.outcome, record.call_count()), (Outcome::Finished, asked(&model)));
}
