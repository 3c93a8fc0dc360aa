//! Bad input: every case has a clear error with a hint and its documented exit code, and loses nothing finished.

use crate::common::server::{self, Server};
use crate::common::{self, Ran, WorkDir};
use serde_json::json;
use std::io::Write as _;
use std::process::Command;

/// A run of the baseline over a dataset of this folder.
fn run(bench: &WorkDir, dataset: &str, more: &[&str]) -> Ran {
    bench.run(&[&[dataset, "--quiet"], more].concat())
}

const RECORDS: &str = "r/trajectories.jsonl";
const ONE: &str = "{\"id\": \"a\", \"question\": \"Who wrote Solaris?\", \"answer\": \"Stanisław Lem\"}\n";
const TWO: &str = "{\"id\": \"b\", \"question\": \"Where was Ada Lovelace born?\", \"answer\": \"London\"}\n";

#[test]
fn gzip_a_byte_order_mark_and_windows_line_ends_are_accepted() {
    let bench = WorkDir::new();
    let text = format!("\u{feff}{ONE}{TWO}").replace('\n', "\r\n");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).expect("memory");
    bench.write("q.jsonl.gz", gzip.finish().expect("memory"));
    let summary = run(&bench, "q.jsonl.gz", &["--out", "r", "--json"]).json();
    assert_eq!(summary["variants"][0]["measured"], 2);
}

#[test]
fn a_prompt_with_an_unknown_placeholder() {
    let bench = WorkDir::new();
    bench.write("q.jsonl", ONE);
    let shipped = common::repository("prompts/hotpotqa.toml");
    bench.write("placeholder.toml", shipped.replacen("react = \"\"\"", "react = \"\"\"{{ colour }} ", 1));
    run(&bench, "q.jsonl", &["--prompt", "placeholder.toml"]).refused(3, &["placeholder.toml", "colour"]);
}

#[test]
fn an_unreachable_model() {
    let bench = WorkDir::new();
    bench.write("q.jsonl", format!("{ONE}{TWO}"));
    // A port that was free a moment ago: nobody listens there.
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let flags = ["--model", "openai:x", "--base-url", &url, "--model-attempts", "1", "--out", "r"];
    let output = run(&bench, "q.jsonl", &flags);
    assert_eq!(output.code, Some(4), "{}", output.stderr);
    let text = bench.read(RECORDS);
    assert_eq!(text.lines().filter(|line| line.contains("\"not_measured\"")).count(), 2);
    // Where nothing was measured, another model may take its place.
    run(&bench, "q.jsonl", &["--out", "r", "--resume"]).ok();
    assert!(!bench.read(RECORDS).contains("\"not_measured\""));
}

#[test]
fn a_results_file_cut_in_the_middle_of_a_line() {
    let bench = WorkDir::new();
    bench.write("q.jsonl", format!("{ONE}{TWO}"));
    run(&bench, "q.jsonl", &["--out", "r"]).ok();
    let whole = bench.read(RECORDS);
    bench.write(RECORDS, &whole[..whole.len() - 30]);
    let output = run(&bench, "q.jsonl", &["--out", "r", "--resume"]).ok();
    assert!(output.stderr.contains("torn last line"), "{}", output.stderr);
    assert!(output.stderr.contains("keep 1, redo 0, new 1"), "{}", output.stderr);
    assert_eq!(bench.read(RECORDS).lines().count(), 2);
}

#[test]
fn an_export_never_replaces_the_run_itself() {
    let bench = WorkDir::new();
    bench.write("q.jsonl", ONE);
    run(&bench, "q.jsonl", &["--out", "r"]).ok();
    let before = bench.read(RECORDS);
    for (folder, run, out) in
        [(".", "r", "r/trajectories.jsonl"), ("r", ".", "trajectories-x.jsonl"), ("r", ".", "manifest.json")]
    {
        let output = bench
            .command(&["export", run, "--format", "jsonl", "--out", out])
            .current_dir(bench.path(folder))
            .output()
            .expect("wikitrail runs");
        Ran::from(&output).refused(2, &["is a file of a run"]);
    }
    assert_eq!(bench.read(RECORDS), before);
    assert!(!bench.path("r/trajectories-x.jsonl").exists());
    bench.wikitrail(&["export", "r", "--out", "r/table.csv"]).ok();
    assert_eq!(bench.read("r/table.csv").lines().count(), 2);
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_no_unicode() {
    use std::os::unix::ffi::OsStrExt as _;
    let bench = WorkDir::new();
    let name = std::ffi::OsStr::from_bytes(b"q\xff.jsonl");
    std::fs::write(bench.root().join(name), ONE).expect("the folder can be written");
    let output = bench.command(&["run"]).arg(name).args(["--quiet", "--out", "r"]).output().expect("wikitrail runs");
    Ran::from(&output).ok();
}

#[test]
fn an_answer_in_the_other_endpoints_form_is_not_measured() {
    let bench = WorkDir::new();
    bench.write("q.jsonl", ONE);
    let chat = json!({"choices": [{"message": {"role": "assistant", "content": "x"}}]});
    let server = Server::start(move |_, _, stream| server::json(stream, &chat));
    let url = format!("{}/v1", server.url);
    let flags = ["--model", "openai:x", "--base-url", &url, "--completions", "--model-attempts", "1", "--out", "r"];
    assert_eq!(run(&bench, "q.jsonl", &flags).code, Some(4));
    let record = bench.read(RECORDS);
    assert!(record.contains("`text` is missing"), "{record}");
}

#[test]
fn a_second_process_on_the_same_run() {
    let bench = WorkDir::new();
    bench.write("q.jsonl", ONE);
    bench.write("r/.lock", "");
    let lock = std::fs::File::create(bench.path("r/.lock")).expect("a lock file");
    lock.lock().expect("the lock is free");
    run(&bench, "q.jsonl", &["--out", "r"]).refused(1, &["another process"]);
    drop(lock);
    run(&bench, "q.jsonl", &["--out", "r"]).ok();
}

/// A limit on file sizes stands in for a full disk: from some write on, every further one fails.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let bench = WorkDir::new();
    let script = "trap '' XFSZ; ulimit -f 192; exec \"$0\" run --quiet --out r";
    let output = Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_wikitrail")])
        .current_dir(bench.root())
        .output()
        .expect("bash runs");
    Ran::from(&output).refused(1, &["cannot append to", "trajectories.jsonl"]);
    let kept = bench.read(RECORDS);
    assert!(kept.ends_with('\n') && !kept.is_empty(), "half a line was left behind");
    assert!(kept.lines().count() < 60);
    bench.wikitrail(&["run", "--quiet", "--out", "r", "--resume"]).ok();
    assert!(bench.read(RECORDS).starts_with(&kept), "what was finished was rewritten");
    assert_eq!(bench.read(RECORDS).lines().count(), 60);
}

/// No input is read to an end that it may not have, and no key is repeated.
#[cfg(target_os = "linux")]
#[test]
fn devices_without_end_and_keys_in_wrong_places_are_refused_at_once() {
    let bench = WorkDir::new();
    bench.write("p.json", "{\"k\": \"text\"}");
    std::fs::create_dir(bench.path("endless")).expect("a folder");
    for link in ["zero.toml", "endless/articles.jsonl"] {
        std::os::unix::fs::symlink("/dev/zero", bench.path(link)).expect("a link");
    }
    for (args, words) in [
        (&["dataset", "info", "/dev/zero"][..], "`/dev/zero`, line 1: contains NUL bytes"),
        (&["run", "/dev/zero"], "contains NUL bytes"),
        (&["score", "--metric", "hotpot", "--gold", "/dev/zero", "--predictions", "/dev/zero"], "contains NUL bytes"),
        (&["run", "--wiki", "corpus:endless"], "it is a link that leads out of the folder"),
        (&["run", "--prices", "/dev/zero"], "it is larger than 1 MiB"),
        (&["run", "--ids", "/dev/zero"], "it is larger than 64 MiB"),
        (&["run", "--prompt", "p.json#k", "--instruction", "/dev/zero"], "larger than 1 MiB"),
        (&["run", "--protocol", "lagent", "--texts", "/dev/zero"], "larger than 1 MiB"),
        (&["run", "zero.toml"], "larger than 1 MiB"),
        (&["run", "--model", "openai:m", "--key-file", "/dev/zero"], "it is larger than 16 KiB"),
    ] {
        let ran = bench.wikitrail(args);
        assert!(matches!(ran.code, Some(2 | 3)) && ran.stderr.contains(words), "{args:?}: {}", ran.stderr);
    }
    let key = "sk-Proj-0123456789";
    let model = ["run", "--model", "openai:m", "--base-url", "http://127.0.0.1:9", "--out", "o"];
    for more in [&["--key-env", key][..], &["--key-env", key, "--replay", "none"], &["--key-env", key, "--dry-run"]] {
        let ran = bench.wikitrail(&[&model[..], more].concat());
        assert!(ran.code != Some(0) && !ran.stderr.contains(key) && !ran.stdout.contains(key), "{}", ran.stderr);
    }
    let output = bench.command(&model).env("OPENAI_API_KEY", "sk-one\r\nx-two: 3").output().expect("wikitrail runs");
    let ran = Ran::from(&output);
    ran.refused(2, &["the variable `OPENAI_API_KEY` holds no usable key"]);
    assert!(!ran.stderr.contains("x-two") && !bench.path("o").exists(), "{}", ran.stderr);
}
