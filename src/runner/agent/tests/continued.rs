//! Episodes that were cut short go on from what their journal holds.

use super::*;
use crate::runner::store::{Journal, RunFolder};
use std::path::Path;

/// The journal of the folder, with what an earlier one kept.
fn journal(folder: &Path) -> Journal {
    let folder = RunFolder::at(folder);
    let lock = folder.lock(None).expect("a lock");
    let records = folder.records().expect("no records");
    folder.journal(&lock, &records, |_| true).expect("a journal")
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
            let folder = tempfile::tempdir().expect("a folder");
            let (broken, model) =
                agent(method, move |prompt, number| (number < cut).then(|| looks_up(prompt, number)).flatten());
            let record = broken.answer(&episode, Some(&journal(folder.path()))).await;
            assert_eq!(record.outcome, Outcome::NotMeasured, "{} {cut}", method.name());
            assert!(asked(&model) > cut);
            let (mended, model) = agent(method, looks_up);
            let record = mended.answer(&episode, Some(&journal(folder.path()))).await;
            assert_eq!(record.without_times(), expected.clone().without_times(), "{} {cut}", method.name());
            assert_eq!(asked(&model), calls - cut, "{} {cut}", method.name());
        }
    }
}

#[tokio::test]
async fn what_was_kept_of_another_conversation_is_not_used() {
    let (episode, folder) = (episode(Method::React), tempfile::tempdir().expect("a folder"));
    let (first, _) = agent(Method::React, |prompt, number| (number < 3).then(|| looks_up(prompt, number)).flatten());
    first.answer(&episode, Some(&journal(folder.path()))).await;
    let path = folder.path().join("journal.jsonl");
    let of_another = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).expect("a line");
        if let Some(call) = line.get_mut("call") {
            call["prompt_sha256"] = "0".repeat(64).into();
        }
        line.to_string() + "\n"
    };
    let lines: String = std::fs::read_to_string(&path).expect("a journal").lines().map(of_another).collect();
    std::fs::write(&path, lines).expect("written");
    let (second, model) = agent(Method::React, looks_up);
    let record = second.answer(&episode, Some(&journal(folder.path()))).await;
    assert_eq!((record.outcome, record.call_count()), (Outcome::Finished, asked(&model)));
}
