use super::super::Why;
use super::super::{CanonicalRequest, Kind, LeftOut, Player, Recorder, TapeError, in_episode, in_sample};
use super::{asked, file, missed, play, why};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const HEADER: &str = "{\"v\":1,\"tape\":\"wikitrail\"}\n";

async fn record(recorder: &Recorder, prompt: &str, answer: Value) {
    let place = recorder.place(asked(prompt));
    recorder.record(place, &answer).await.expect("is recorded");
}

/// A recording with the answers 1, 2 and 3 to `a`, `b` and `a`.
async fn small(path: &Path) {
    let recorder = Recorder::open(path).expect("opens");
    for (prompt, answer) in [("a", 1), ("b", 2), ("a", 3)] {
        record(&recorder, prompt, json!(answer)).await;
    }
}

#[tokio::test]
async fn the_file_is_a_header_and_a_line_for_each_answer() {
    let (_dir, path) = file();
    small(&path).await;
    let text = fs::read_to_string(&path).expect("reads");
    // The keys are those of `printf 'model\n{"prompt":"a","model":"m"}' | sha256sum`, and of the same with `b`.
    let a = "8aaf4bd46f456c05ad0679bbd134aee1cc45afd9ea5a0759274433f95d2d894d";
    let b = "a3da7d196f6af03b7cd305c7976ec1b3d5ece6ec0602879db7ff58f8f1552693";
    let line = |key: &str, prompt: &str, n: u32, answer: u32| {
        format!(
            "{{\"v\":1,\"kind\":\"model\",\"key\":\"{key}\",\"request\":{{\"prompt\":\"{prompt}\",\"model\":\"m\"}},\
             \"n\":{n},\"answer\":{answer}}}\n"
        )
    };
    assert_eq!(text, [HEADER.to_owned(), line(a, "a", 0, 1), line(b, "b", 0, 2), line(a, "a", 1, 3)].concat());
}

#[tokio::test]
async fn the_same_request_has_its_answers_in_order_until_they_run_out() {
    let (_dir, path) = file();
    small(&path).await;
    let player = Player::open(&path).expect("opens");
    assert_eq!(player.len(), 3);
    assert_eq!(play(&player, "a").await, Ok(json!(1)));
    assert_eq!(play(&player, "b").await, Ok(json!(2)));
    assert_eq!(play(&player.clone(), "a").await, Ok(json!(3)), "clones count together");
    let (why_not, text) = missed(&player, asked("a")).await;
    assert_eq!(why_not, Why::RanOut { recorded: 2 });
    assert!(text.ends_with("answers this model request 2 times, and it was made once more"), "{text}");
    assert_eq!(why(&player, "b").await, Why::RanOut { recorded: 1 });
    // Opening it again starts again.
    assert_eq!(play(&Player::open(&path).expect("opens"), "a").await, Ok(json!(1)));
}

#[tokio::test]
async fn a_request_that_failed_leaves_its_place_empty() {
    let (_dir, path) = file();
    let recorder = Recorder::open(&path).expect("opens");
    drop(recorder.place(asked("a")));
    record(&recorder, "a", json!("second")).await;
    let player = Player::open(&path).expect("opens while it is recorded");
    assert_eq!(why(&player, "a").await, Why::Gap { number: 1 });
    assert_eq!(play(&player, "a").await, Ok(json!("second")));
}

#[tokio::test]
async fn an_answer_that_is_too_long_for_its_line_is_left_out_and_the_rest_stays_readable() {
    let (_dir, path) = file();
    let recorder = Recorder::open(&path).expect("opens");
    let record = async |prompt, answer: String| {
        recorder.record_up_to(400, recorder.place(asked(prompt)), &json!(answer)).await.expect("is no error");
    };
    record("a", "short".to_owned()).await;
    assert_eq!(recorder.left_out(), LeftOut::default());
    for prompt in ["long", "a", "longer"] {
        // Each of these characters takes six bytes of a line.
        record(prompt, "\u{1}".repeat(100)).await;
    }
    record("b", "last".to_owned()).await;
    let first = Some((Kind::Model, r#"{"prompt":"long","model":"m"}"#.into()));
    assert_eq!(recorder.left_out(), LeftOut { answers: 3, first });
    let player = Player::open(&path).expect("opens");
    assert_eq!(play(&player, "a").await, Ok(json!("short")));
    assert_eq!(play(&player, "b").await, Ok(json!("last")));
    assert!(matches!(why(&player, "long").await, Why::Unknown { .. }));
}

#[tokio::test]
async fn a_miss_names_the_nearest_request_of_its_kind_and_the_difference() {
    let (_dir, path) = file();
    let recorder = Recorder::open(&path).expect("opens");
    for prompt in ["Question: A\nThought 1:", "Question: B\nThought 1: x", "Question: C"] {
        record(&recorder, prompt, json!("")).await;
    }
    let player = Player::open(&path).expect("opens");
    let text = missed(&player, asked("Question: B\nThought 2:")).await.1;
    let expected = "has no such model request; the nearest, in line 3, differs in prompt, character 21: \
                    recorded \"Question: B\\nThought 1: x\", asked \"Question: B\\nThought 2:\"";
    assert!(text.ends_with(expected), "{text}");
    assert_eq!(missed(&player, asked("Question: B\nThought 2:")).await.1, text, "from memory");
    let other = CanonicalRequest::new(Kind::Model, &json!({ "prompt": "Question: C", "model": "n" }));
    let text = missed(&player, other).await.1;
    assert!(text.ends_with("in line 4, differs in model, character 1: recorded \"m\", asked \"n\""), "{text}");
    let (why_not, text) =
        missed(&player, CanonicalRequest::new(Kind::Wiki, &json!({ "prompt": "Question: C", "model": "m" }))).await;
    assert_eq!(why_not, Why::Unknown { nearest: None });
    assert!(text.ends_with("has no wiki requests"), "{text}");
}

#[tokio::test]
async fn the_nearest_request_is_looked_for_the_first_times_only() {
    let (_dir, path) = file();
    small(&path).await;
    let player = Player::open(&path).expect("opens");
    let mut unsearched = 0;
    for n in 0..30 {
        let (why_not, text) = missed(&player, asked(&format!("Question: {n}?"))).await;
        unsearched += usize::from(why_not == Why::Unsearched);
        assert!(text.contains("has no such model request"), "{text}");
    }
    assert_eq!(unsearched, 20);
    let first = missed(&player, asked("Question: 0?")).await.1;
    assert!(first.contains("the nearest, in line "), "{first}");
}

#[tokio::test]
async fn wherever_a_crash_cuts_the_file_the_complete_lines_are_read_and_appended_to() {
    let (dir, path) = file();
    let cut = dir.path().join("cut.jsonl");
    small(&path).await;
    let whole = fs::read(&path).expect("reads");
    let before = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').expect("lines") + 1;
    for length in 0..=whole.len() {
        fs::write(&cut, &whole[..length]).expect("writes");
        let lines = whole[..length].split(|byte| *byte == b'\n').count() - 1;
        let after = length - whole[..length].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        // A line that only lacks its line end is complete, except for the header.
        let complete = length > 0 && whole.get(length) == Some(&b'\n') && lines > 0;
        let (entries, torn) = if complete { (lines, None) } else { (lines.saturating_sub(1), Some(after as u64)) };
        let torn = torn.filter(|torn| *torn > 0);
        let player = Player::open(&cut).expect("opens");
        assert_eq!(player.len(), entries, "{length}");
        if length < before && length % 7 != 0 {
            continue;
        }
        let recorder = Recorder::open(&cut).expect("opens");
        assert_eq!(recorder.dropped(), torn, "{length}");
        record(&recorder, "new", json!("appended")).await;
        drop(recorder);
        let player = Player::open(&cut).expect("opens");
        assert_eq!(player.len(), entries + 1, "{length}");
        assert_eq!(play(&player, "new").await, Ok(json!("appended")));
    }
}

#[tokio::test]
async fn other_files_are_neither_read_nor_changed() {
    let (dir, path) = file();
    for text in [
        "{\"v\":1,\"id\":\"q\"}\n",
        "notes\n",
        "no line end",
        "{\"v\":1,\"tape\":\"other\"}\n",
        "{\"v\":0,\"tape\":\"wikitrail\"}\n",
        "{\"v\":1,\"tape\":\"wikitrail\",\"more\":1}\n",
        "{\"v\":9,\"other\":\"wikitrail\"}\n",
        "\n",
        &"x".repeat(1 << 16),
    ] {
        fs::write(&path, text).expect("writes");
        assert!(matches!(Player::open(&path), Err(TapeError::Foreign { .. })), "{text:.40}");
        assert!(matches!(Recorder::open(&path), Err(TapeError::Foreign { .. })), "{text:.40}");
        assert_eq!(fs::read_to_string(&path).expect("reads"), text);
    }
    assert!(Player::open(dir.path()).is_err() && Recorder::open(dir.path()).is_err());
    assert!(matches!(Player::open(&dir.path().join("none")), Err(TapeError::Io { action: "open", .. })));
    assert!(!dir.path().join("none").exists());
}

#[tokio::test]
async fn newer_and_changed_recordings_are_refused_by_line() {
    let (_dir, path) = file();
    small(&path).await;
    let good = fs::read_to_string(&path).expect("reads");
    let refused = |text: String| {
        fs::write(&path, text).expect("writes");
        Player::open(&path).expect_err("refused")
    };
    let newer = TapeError::Newer { path: path.clone(), found: 2, known: 1 };
    assert_eq!(refused("{\"v\":2,\"tape\":\"wikitrail\",\"new\":true}\n".to_owned()), newer);
    assert_eq!(Recorder::open(&path).expect_err("refused"), newer);
    assert_eq!(refused(format!("{HEADER}{{\"v\":2,\"new\":true}}\n")), newer);
    for (from, to, reason) in [
        ("\"prompt\":\"b\"", "\"prompt\":\"c\"", "the key does not match the request"),
        ("\"n\":0,\"answer\":2", "\"n\":0,\"more\":1,\"answer\":2", "unknown field `more`"),
        ("\"n\":0,\"answer\":2", "\"answer\":2", "field `n` is missing"),
        ("\"n\":0,\"answer\":2", "\"n\":0,\"n\":0,\"answer\":2", "field `n` is there twice"),
        ("\"answer\":2}", "\"answer\":2", "not an entry"),
    ] {
        assert!(good.contains(from));
        match refused(good.replace(from, to)) {
            TapeError::BadLine { line: 3, reason: found, .. } => assert!(found.contains(reason), "{found}"),
            error => panic!("{error}"),
        }
    }
    // An answer may be edited.
    fs::write(&path, good.replace("\"answer\":2", "\"answer\":\"two\"")).expect("writes");
    assert_eq!(play(&Player::open(&path).expect("opens"), "b").await, Ok(json!("two")));
}

#[tokio::test]
async fn one_writer_at_a_time() {
    let (_dir, path) = file();
    let first = Recorder::open(&path).expect("opens");
    let locked = Recorder::open(&path).expect_err("refused");
    assert_eq!(locked, TapeError::Locked { path: path.clone() });
    assert_eq!(fs::read_to_string(&path).expect("reads"), HEADER);
    record(&first, "a", json!(1)).await;
    drop(first);
    let second = Recorder::open(&path).expect("free again");
    record(&second, "b", json!(2)).await;
    assert_eq!(Player::open(&path).expect("opens").len(), 2);
}

#[tokio::test]
async fn an_answer_is_written_even_if_its_future_is_dropped() {
    let (_dir, path) = file();
    let recorder = Recorder::open(&path).expect("opens");
    for number in 0..100 {
        let place = recorder.place(asked("a"));
        // Polled once, then dropped, as by an episode that is stopped.
        let _ = futures_util::FutureExt::now_or_never(recorder.record(place, &json!(number)));
    }
    drop(recorder);
    assert_eq!(Player::open(&path).expect("opens").len(), 100);
}

#[tokio::test]
async fn samples_get_their_own_answers_in_any_order_and_unknown_episodes_get_all() {
    let (_dir, path) = file();
    let recorder = Recorder::open(&path).expect("opens");
    for repeat in 0..2 {
        for sample in 0..2 {
            let ask = async { in_sample(sample, record(&recorder, "same", json!([repeat, sample]))).await };
            in_episode("main/q".to_owned(), repeat, ask).await;
        }
    }
    let player = Player::open(&path).expect("opens");
    for (repeat, sample) in [(1, 1), (0, 1), (1, 0), (0, 0)] {
        let ask = async { in_sample(sample, play(&player, "same")).await };
        assert_eq!(in_episode("main/q".to_owned(), repeat, ask).await, Ok(json!([repeat, sample])));
    }
    in_episode("renamed/q".to_owned(), 0, async {
        for answer in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            assert_eq!(play(&player, "same").await, Ok(json!(answer)));
        }
        assert_eq!(why(&player, "same").await, Why::RanOut { recorded: 4 });
    })
    .await;
}

#[tokio::test]
async fn an_episode_that_is_repeated_replaces_its_first_attempt() {
    let (_dir, path) = file();
    for attempt in ["first", "second"] {
        let recorder = Recorder::open(&path).expect("opens");
        let again = async {
            record(&recorder, "a", json!(attempt)).await;
            record(&recorder, "b", json!(attempt)).await;
        };
        in_episode("main/q".to_owned(), 0, again).await;
    }
    let player = Player::open(&path).expect("opens");
    assert_eq!(player.len(), 2);
    let play = in_episode("main/q".to_owned(), 0, async {
        (play(&player, "b").await, play(&player, "b").await.is_err(), play(&player, "a").await)
    });
    assert_eq!(play.await, (Ok(json!("second")), true, Ok(json!("second"))));
}
