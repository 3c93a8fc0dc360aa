//! Tests of a run's folder: what a crash leaves, what a second process may do, what a reader sees.

use super::*;
use crate::base::bounded::MAX_LINE_BYTES;
use crate::base::{Call, Compat, Notes, Outcome, Paid, Question, Step, Trajectory, Usage, Verbatim, Vote};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use tempfile::TempDir;

mod journal;
mod shards;

pub(crate) fn trajectory(id: &str, index: usize, outcome: Outcome) -> Trajectory {
    Trajectory {
        v: 1,
        id: id.to_owned(),
        index,
        variant: "main".to_owned(),
        question: "Why \"so\"?\nÄ".to_owned(),
        answers: vec!["because".to_owned()],
        steps: vec![Step::default()],
        steps_recorded: true,
        answer: Some(format!("answer of {id}")),
        outcome,
        started_at: "2026-11-21T07:00:00Z".to_owned(),
        wall_ms: 1,
        compat: Some(Compat::Fixed),
        key: format!("key-{id}"),
        ..Trajectory::default()
    }
}

fn finished(id: &str, index: usize) -> Trajectory {
    trajectory(id, index, Outcome::Finished)
}

fn append(folder: &RunFolder, trajectories: &[Trajectory]) -> Option<u64> {
    let lock = folder.lock(None).unwrap();
    let mut appender = folder.appender(&lock).unwrap();
    appender.append(trajectories).unwrap();
    appender.dropped()
}

/// A run's folder with these episodes, and its trajectory file.
fn run(trajectories: &[Trajectory]) -> (TempDir, RunFolder, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::at(dir.path().join("deep/run"));
    append(&folder, trajectories);
    let file = folder.path().join("trajectories.jsonl");
    (dir, folder, file)
}

fn ids(folder: &RunFolder) -> Vec<String> {
    folder.records().unwrap().iter().map(|t| t.unwrap().id).collect()
}

fn extend(file: &Path, bytes: &[u8]) {
    fs::write(file, [&fs::read(file).unwrap(), bytes].concat()).unwrap();
}

#[test]
fn appended_episodes_of_all_shards_are_read_in_dataset_order() {
    let (a, b) = (finished("a", 1), trajectory("b", 0, Outcome::StepLimit));
    let (_dir, folder, file) = run(std::slice::from_ref(&a));
    append(&folder, std::slice::from_ref(&b));
    let read: Vec<_> = folder.records().unwrap().iter().map(Result::unwrap).collect();
    assert_eq!(read, [b, a]);
    let text = fs::read_to_string(file).unwrap();
    assert!(text.lines().all(|line| line.starts_with("{\"v\":1,\"id\":")), "{text}");
    let line = serde_json::to_string(&finished("c", 0)).unwrap();
    fs::write(folder.path().join("trajectories-2.jsonl"), line + "\n").unwrap();
    assert_eq!(ids(&folder), ["c", "b", "a"]);
}

#[test]
fn an_incomplete_last_line_is_removed_and_reported_and_a_complete_one_is_kept() {
    let (_dir, folder, path) = run(&[finished("a", 0), finished("b", 1)]);
    let text = fs::read(&path).unwrap();
    let first = text.iter().position(|b| *b == b'\n').unwrap() + 1;
    for cut in [first + 1, first + 40, text.len() - 2] {
        fs::write(&path, &text[..cut]).unwrap();
        let records = folder.records().unwrap();
        assert_eq!((records.skipped()[0].line, &*records.skipped()[0].reason), (2, "cut in the middle of a line"));
        assert_eq!(append(&folder, &[finished("c", 2)]), Some((cut - first) as u64));
        assert_eq!(ids(&folder), ["a", "c"]);
    }
    // Only the line end is missing: nothing is lost.
    fs::write(&path, &text[..text.len() - 1]).unwrap();
    assert_eq!(append(&folder, &[finished("c", 2)]), None);
    assert_eq!(ids(&folder), ["a", "b", "c"]);
    // Longer than the blocks that are read backwards, with complete lines before it and without.
    for whole in [&text[..first], b""] {
        fs::write(&path, whole).unwrap();
        extend(&path, &vec![b'{'; 200_000]);
        assert_eq!(append(&folder, &[]), Some(200_000));
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
}

#[test]
fn a_damaged_line_in_the_middle_costs_only_itself() {
    let (_dir, folder, path) = run(&[finished("a", 0)]);
    let mut foreign = serde_json::to_value(finished("x", 1)).unwrap();
    foreign["steps"] = "none".into();
    extend(&path, format!("{foreign}\n").as_bytes());
    extend(&path, b"\xff\xfe garbage\n\n");
    append(&folder, &[finished("b", 1)]);
    let records = folder.records().unwrap();
    assert_eq!(records.skipped().iter().map(|skipped| skipped.line).collect::<Vec<_>>(), [2, 3]);
    assert!(records.skipped()[0].reason.starts_with("not a trajectory: "), "{:?}", records.skipped());
    assert_eq!(ids(&folder), ["a", "b"]);
}

#[test]
fn a_line_without_end_is_named_and_not_held() {
    let (_dir, folder, path) = run(&[finished("a", 0), trajectory("b", 1, Outcome::NotMeasured)]);
    let zeros = |path: &Path| {
        let file = File::options().append(true).create(true).open(path).unwrap();
        file.set_len(file.metadata().unwrap().len() + MAX_LINE_BYTES + 9).unwrap();
    };
    zeros(&path);
    extend(&path, b"\n");
    append(&folder, &[finished("b", 1)]);
    let records = folder.records().unwrap();
    assert_eq!((records.skipped()[0].line, &*records.skipped()[0].reason), (3, "longer than 16 MiB"));
    assert_eq!(ids(&folder), ["a", "b"]);
    let before = fs::metadata(&path).unwrap().len();
    folder.compact(&folder.lock(None).unwrap(), &records).unwrap();
    assert_eq!(ids(&folder), ["a", "b"]);
    assert!(fs::metadata(&path).unwrap().len() < before, "the line that another one takes the place of is removed");

    // Nothing of a last line of that length is cut off.
    fs::remove_file(&path).unwrap();
    zeros(&path);
    let told = |error: StoreError| error.to_string();
    let appended = folder.appender(&folder.lock(None).unwrap()).map(drop).map_err(told);
    assert!(appended.unwrap_err().ends_with("trajectories.jsonl`: its last line is longer than 16 MiB"));
    for name in ["journal.jsonl", "questions.jsonl"] {
        fs::write(folder.path().join(name), "{\"v\":1,\"paid\":{},\"carried\":0}\n").unwrap();
        zeros(&folder.path().join(name));
    }
    // The first line is not a question, and the second is too long.
    let mut questions = folder.questions(None).unwrap().unwrap();
    assert!(questions.next().unwrap().unwrap_err().to_string().contains("questions.jsonl`, line 1: "));
    let questions = questions.next().unwrap().map(drop);
    let read = [super::journal::Journaled::read(&folder.path().join("journal.jsonl")).map(drop), questions];
    let [journal, questions] = read.map(|read| read.unwrap_err().to_string());
    assert!(journal.ends_with("journal.jsonl`: line 2 is longer than 16 MiB"), "{journal}");
    assert!(questions.ends_with("questions.jsonl`, line 2: it is longer than 16 MiB"), "{questions}");
}

/// A thousand samples whose reasoning is kept, or a program's long requests, are more than a line may hold.
#[test]
fn an_episode_that_is_too_long_for_its_line_is_recorded_shortened() {
    let text = |length: usize| "word \u{1}".repeat(length / 6);
    let calls = |reasoning| {
        let usage = Some(Usage { prompt_tokens: 7, completion_tokens: 2, ..Usage::default() });
        let verbatim = Some(Verbatim { endpoint: "messages".to_owned(), content: text(900).into() });
        let call = Call { completion: text(600), reasoning: Some(text(reasoning)), usage, verbatim, ..Call::default() };
        vec![call]
    };
    let step = |reasoning| Step { observation: Some("seen".to_owned()), calls: calls(reasoning), ..Step::default() };
    let mut long = finished("a", 0);
    long.detail = Some("as it was".to_owned());
    let record = |long: &Trajectory, limit: u64| {
        let (line, is_whole) = episode_line(long, limit, Path::new("t")).unwrap();
        assert_eq!(is_whole, limit == 64 << 20);
        assert!(line.len() as u64 <= limit && line.ends_with(b"}\n"));
        serde_json::from_slice::<Trajectory>(&line).unwrap()
    };
    long.steps = (0..20).map(|_| step(90_000)).collect();
    assert_eq!(record(&long, 64 << 20), long, "it fits");
    let short = record(&long, 1 << 20);
    let cut = "as it was; the record was longer than 1 MiB: texts were cut after 16,384 characters";
    assert_eq!(short.detail.as_deref(), Some(cut));
    let first = &short.steps[0].calls[0];
    assert_eq!((&first.completion, &first.verbatim), (&text(600), &None));
    assert_eq!(
        first.reasoning.as_ref().map(|text| text.chars().count()),
        Some(16_385),
        "an ellipsis says that it is cut"
    );
    assert_eq!((short.measured(), &short.answer, Paid::of(&short)), (true, &long.answer, Paid::of(&long)));
    assert_eq!(short.steps.len(), 20);

    let bare = record(&long, 4 << 10);
    assert_eq!((bare.steps.len(), bare.has_steps(), &bare.answer), (0, false, &long.answer));
    assert!(bare.detail.unwrap().ends_with("4 KiB: its steps were left out"));
    long.question = text(9_000);
    let error = episode_line(&long, 8 << 10, Path::new("t")).unwrap_err();
    assert_eq!(error.to_string(), "cannot append to `t`: the record of `a` is longer than 8 KiB");
    assert!(error.hint().starts_with("shorten the question"));
}

#[test]
fn what_is_appended_is_read_again_however_long_it_was() {
    let long = |id: &str| Trajectory { votes: votes(MAX_LINE_BYTES), ..finished(id, 0) };
    let votes_kept =
        |folder: &RunFolder| folder.records().unwrap().iter().map(|t| t.unwrap().votes.len()).sum::<usize>();
    let (_dir, folder, path) = run(&[long("a"), finished("b", 1)]);
    assert_eq!((ids(&folder), votes_kept(&folder)), (vec!["a".to_owned(), "b".to_owned()], 2));
    assert!(fs::metadata(path).unwrap().len() < 1 << 20);
    let question = Question::new("q", "x".repeat(9 << 20), Vec::new());
    let error = folder.write_questions([question].into_iter()).unwrap_err();
    assert!(error.to_string().ends_with("questions.jsonl`: the question `q` is longer than 8 MiB"), "{error}");
    assert!(!folder.questions_path().exists(), "nothing is left of it");
}

/// Two votes that take this many bytes.
fn votes(bytes: u64) -> Vec<Vote> {
    let answer = "x".repeat(usize::try_from(bytes / 2).unwrap());
    ["yes", "no"].map(|normalized| Vote { answer: answer.clone(), normalized: normalized.to_owned(), count: 1 }).into()
}

#[test]
fn the_latest_record_of_an_episode_counts_but_never_hides_a_measured_one() {
    let (_dir, folder, _) = run(&[trajectory("a", 0, Outcome::NotMeasured), finished("b", 1)]);
    append(&folder, &[finished("a", 0), trajectory("b", 1, Outcome::NotMeasured)]);
    let records = folder.records().unwrap();
    assert_eq!(records.keys().collect::<Vec<_>>(), [("key-a", "main", true), ("key-b", "main", true)]);
}

#[test]
fn one_question_is_read_as_among_all_and_damaged_lines_are_still_said() {
    let ids = ["a", "b\"", "b"];
    let (_dir, folder, path) = run(&[trajectory("b", 2, Outcome::NotMeasured)]);
    append(&folder, &[finished("a", 0), finished("b\"", 1), finished("b", 2), trajectory("a", 0, Outcome::Budget)]);
    extend(&path, b"{\"v\":1,\"id\":\"a\",\"index\":\n{\"v\":1,\"id\":\"x\",\"steps\":5}\n");
    let all = folder.records().unwrap();
    for id in ids {
        let of = |records: Records| records.iter().map(Result::unwrap).filter(|t| t.id == id).collect::<Vec<_>>();
        let records = folder.records_of_question(id).unwrap();
        // The last line is whole, and of another question: what is wrong inside it is not looked for.
        assert_eq!(records.skipped(), &all.skipped()[..1], "{id}");
        assert!(records.keys().count() < 3, "{id}");
        assert_eq!(of(records), of(folder.records().unwrap()), "{id}");
    }
    extend(&path, b"{\"v\":2,\"id\":\"x\"}\n");
    assert!(matches!(folder.records_of_question("a"), Err(StoreError::Newer { found: 2, .. })));
}

#[test]
fn questions_are_read_one_at_a_time() {
    let (_dir, folder, _) = run(&[]);
    assert!(folder.questions(None).unwrap().is_none());
    let question = |id: &str| Question::new(id, "Q?", vec!["x".to_owned()]);
    let all = ["a", "b\\", "c"].map(question);
    folder.write_questions(all.iter().cloned()).unwrap();
    let read = |id| folder.questions(id).unwrap().unwrap().collect::<Result<Vec<_>, _>>();
    assert_eq!(read(None).unwrap(), all);
    // An id with an escape may be any.
    assert_eq!(read(Some("c")).unwrap(), all[1..]);
    extend(&folder.questions_path(), b"{\"id\":\"d\",\"question\":5}\n");
    assert_eq!(read(Some("c")).unwrap(), all[1..]);
    let message = read(None).unwrap_err().to_string();
    assert!(message.contains("questions.jsonl`, line 4: integer `5` where a string is expected"), "{message}");
}

#[test]
fn newer_formats_are_refused() {
    let (_dir, folder, path) = run(&[]);
    assert!(matches!(RunFolder::open(folder.path()), Err(StoreError::NotARun { .. })));
    fs::write(folder.path().join("manifest.json"), "{\"v\": 99, \"future\": true}").unwrap();
    assert!(matches!(folder.manifest(), Err(StoreError::Newer { found: 99, known: 1, .. })));
    let mut newer = serde_json::to_value(finished("a", 0)).unwrap();
    newer["v"] = 2.into();
    fs::write(path, format!("{newer}\n")).unwrap();
    assert!(matches!(folder.records(), Err(StoreError::Newer { found: 2, known: 1, .. })));
}

#[test]
fn a_trajectory_file_by_itself_is_appended_to_and_any_other_file_is_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/saved.jsonl");
    let mut first = Appender::alone(&path).unwrap();
    assert!(matches!(Appender::alone(&path), Err(StoreError::Locked { .. })));
    first.append(&[finished("a", 0)]).unwrap();
    drop(first);
    let good = fs::read_to_string(&path).unwrap();
    extend(&path, b"\n{\"v\":1,\"id\":\"b");
    let mut second = Appender::alone(&path).unwrap();
    assert_eq!(second.dropped(), Some(14));
    second.append(&[trajectory("c", 0, Outcome::NotMeasured)]).unwrap();
    drop(second);
    let read: Vec<_> = Records::of_file(&path).unwrap().iter().map(|t| t.unwrap().id).collect();
    assert_eq!(read, ["a", "c"]);
    for (text, line) in [
        ("hello", 1),
        ("{\"x\":1}\n", 1),
        (&format!("{good}notes\n"), 2),
        (&format!("{good}{{}}"), 2),
        ("{\"v\":1,\"mine\":\"x\"}", 1),
    ] {
        fs::write(&path, text).unwrap();
        let error = Appender::alone(&path).expect_err(text);
        assert!(matches!(&error, StoreError::Foreign { line: at, .. } if *at == line), "{error} for {text}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    fs::write(&path, "{\"v\":99}\n").unwrap();
    assert!(matches!(Appender::alone(&path), Err(StoreError::Newer { found: 99, .. })));
}

#[test]
fn notes_that_are_changed_at_once_are_all_kept() {
    let (_dir, folder, _) = run(&[finished("a", 0)]);
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (folder, tag) = (&folder, format!("t{n}"));
            scope.spawn(move || {
                let add = |notes: &mut Notes| -> Result<(), StoreError> {
                    notes.tags.push(tag);
                    Ok(())
                };
                folder.change_notes(add).unwrap();
            });
        }
    });
    assert_eq!(folder.notes().unwrap().tags.len(), 8);
    assert!(folder.path().join(".lock.notes").exists() && RunFolder::is_own(".lock.notes"));
}

#[test]
fn an_amount_of_money_that_no_episode_costs_is_not_read() {
    let line = |usd: &str| {
        let mut line = serde_json::to_string(&finished("a", 0)).unwrap();
        line.replace_range(line.len() - 1.., &format!(",\"cost_usd\":{usd}}}"));
        super::records::parse::<String>(line.as_bytes())
    };
    for (usd, read) in
        [("0.5", true), ("null", true), ("1e12", true), ("-1", false), ("-1000.5", false), ("1e308", false)]
    {
        assert_eq!(line(usd).is_ok(), read, "{usd}: {:?}", line(usd));
    }
}

#[cfg(unix)]
#[test]
fn no_file_is_written_through_a_link() {
    use crate::net::recording::NOT_OWN_HINT;
    use std::os::unix::fs::symlink;
    let (dir, folder, path) = run(&[finished("a", 0)]);
    let outside = dir.path().join("precious");
    let kept = "all of this\nand this";
    let refused = |name: &str, result: Result<(), StoreError>| {
        let error = result.expect_err(name);
        assert!(error.to_string().contains("a symbolic link"), "{name}: {error}");
        assert_eq!(error.hint(), NOT_OWN_HINT, "{name}");
        assert_eq!(fs::read_to_string(&outside).unwrap(), kept, "{name}");
    };
    for name in [".lock", "trajectories.jsonl", "experiment.toml"] {
        let link = folder.path().join(name);
        let _ = fs::remove_file(&link);
        fs::write(&outside, kept).unwrap();
        symlink(&outside, &link).unwrap();
        let write = || match name {
            "experiment.toml" => folder.write_experiment("x"),
            "trajectories.jsonl" => folder.lock(None).and_then(|lock| folder.appender(&lock).map(drop)),
            _ => folder.lock(None).map(drop),
        };
        refused(name, write());
        fs::remove_file(link).unwrap();
    }
    refused("alone", {
        symlink(&outside, &path).unwrap();
        Appender::alone(&path).map(drop)
    });
    // A temporary file has a name that nobody can know.
    symlink(&outside, folder.path().join("experiment.tmp")).unwrap();
    folder.write_experiment("x").unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), kept);
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, folder.path().join("prompts")).unwrap();
    refused("prompts", folder.write_prompt("0", "text"));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    // The folder itself is where its owner has it.
    symlink(folder.path(), dir.path().join("link")).unwrap();
    fs::remove_file(&path).unwrap();
    append(&RunFolder::at(dir.path().join("link")), &[finished("b", 1)]);
    assert_eq!(ids(&folder), ["b"]);
}

#[test]
fn the_cost_includes_repeated_episodes_and_excludes_cached_calls() {
    let call = |usage, cached| {
        let completion = "x".repeat(40);
        Call { prompt_chars: 400, completion, usage, attempts: 1, cached, ..Call::default() }
    };
    let counted = Some(Usage::new(7, 3));
    let with = |outcome, calls| {
        let step = Step { n: 1, calls, ..Step::default() };
        Trajectory { steps: vec![step], ..trajectory("a", 0, outcome) }
    };
    let (_dir, folder, path) = run(&[with(Outcome::Budget, vec![call(counted, false)])]);
    let copied = Call { copied: true, ..call(counted, false) };
    append(&folder, &[with(Outcome::Finished, vec![call(None, false), call(counted, true), copied])]);
    let records = folder.records().unwrap();
    let usage = Usage::new(107, 13);
    let paid = records.paid(&path);
    let paid: Vec<_> = paid.iter().collect();
    assert_eq!(paid, [(&"main".to_owned(), &Paid { calls: 2, uncounted: 1, usage })]);
    assert_eq!(records.keys().count(), 1);
    // A shard's record that another file replaces has calls which went on in the new one.
    let paid = |calls| BTreeMap::from([("main".to_owned(), Paid { calls, ..Paid::default() })]);
    for (part, calls, outcome) in [("", 1, Outcome::Finished), (".1-of-2", 2, Outcome::NotMeasured)] {
        let calls_of = vec![call(counted, false); if part.is_empty() { 3 } else { 2 }];
        let line = serde_json::to_string(&with(outcome, calls_of)).unwrap();
        fs::write(folder.path().join(format!("trajectories{part}.jsonl")), line + "\n").unwrap();
        let journal = folder.path().join(format!("journal{part}.jsonl"));
        super::Journal::write(&journal, paid(calls), super::journal::Episodes::new()).unwrap();
    }
    let sum = || folder.paid(&folder.records().unwrap(), None).unwrap()["main"].calls;
    assert_eq!(sum(), 3);
    fs::copy(&path, folder.path().join("trajectories.bak.jsonl")).unwrap();
    assert_eq!(sum(), 3, "a copy that a person made");
}

#[test]
fn records_are_read_again_only_if_something_was_written() {
    let (_dir, folder, path) = run(&[finished("a", 0)]);
    let same = folder.records_since(Some(folder.records().unwrap()), None).unwrap();
    assert_eq!(same.keys().count(), 1);
    append(&folder, &[finished("b", 1)]);
    let more = folder.records_since(Some(same), None).unwrap();
    assert_eq!(more.keys().count(), 2);
    fs::copy(&path, folder.path().join("trajectories-1.jsonl")).unwrap();
    append(&folder, &[finished("c", 2)]);
    assert_eq!(folder.records_since(Some(more), None).unwrap().keys().count(), 3);
    assert_eq!(folder.records_since(None, None).unwrap().keys().count(), 3);
}

#[test]
fn a_text_under_the_digest_of_another_is_no_prompt() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = RunFolder::at(dir.path());
    let sha256 = crate::base::sha256_hex(["text".as_bytes()]);
    folder.write_prompt(&sha256, "text").expect("written");
    assert_eq!(folder.prompt(&sha256).expect("whole"), "text");
    let path = dir.path().join(format!("prompts/{sha256}.txt"));
    fs::write(&path, "a secret").expect("written");
    assert!(folder.prompt(&sha256).is_err_and(|error| error.to_string().contains("its SHA-256 is not its name")));
}
