//! Bad input: every case has a clear error with a hint and its documented exit code, and loses nothing finished.

use crate::common::server;
use crate::common::server::Server;
use serde_json::json;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};

struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path().join(name), bytes).expect("the folder can be written");
        name.to_owned()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wikitrail"));
        command.args(args).current_dir(self.path()).env_remove("OPENAI_API_KEY");
        command
    }

    fn wikitrail(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("wikitrail runs")
    }

    /// A run of the baseline over a dataset of this folder.
    fn run(&self, dataset: &str, more: &[&str]) -> Output {
        self.wikitrail(&[&["run", dataset, "--quiet"], more].concat())
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn assert_refused(output: &Output, code: i32, words: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is missing in:\n{text}");
    }
    assert!(text.contains("hint: "), "no hint in:\n{text}");
    assert!(!text.contains("panicked"), "{text}");
}

const ONE: &str = "{\"id\": \"a\", \"question\": \"Who wrote Solaris?\", \"answer\": \"Stanisław Lem\"}\n";
const TWO: &str = "{\"id\": \"b\", \"question\": \"Where was Ada Lovelace born?\", \"answer\": \"London\"}\n";

#[test]
fn a_dataset_that_is_not_json() {
    let bench = Bench::new();
    let file = bench.write("q.json", "this is no data\n");
    assert_refused(&bench.run(&file, &[]), 3, &["q.json", "line 1"]);
}

#[test]
fn a_dataset_that_is_a_web_page() {
    let bench = Bench::new();
    let file = bench.write("q.json", "<!DOCTYPE html><html><body>404</body></html>");
    assert_refused(&bench.run(&file, &[]), 3, &["q.json", "HTML"]);
}

#[test]
fn a_record_that_lacks_a_field() {
    let bench = Bench::new();
    let file = bench.write("q.jsonl", format!("{ONE}{{\"id\": \"b\", \"answer\": \"London\"}}\n"));
    let output = bench.run(&file, &[]);
    assert_refused(&output, 3, &["q.jsonl", "line 2", "record 2", "question"]);
    let output = bench.run(&file, &["--skip-bad", "--out", "r"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 "), "the skipped record is counted: {}", stderr(&output));
}

#[test]
fn duplicate_ids() {
    let bench = Bench::new();
    let file = bench.write("q.jsonl", format!("{ONE}{TWO}{ONE}"));
    assert_refused(&bench.run(&file, &[]), 3, &["q.jsonl", "`a`", "line 3"]);
}

#[test]
fn an_empty_dataset() {
    let bench = Bench::new();
    for (name, text) in
        [("empty.jsonl", ""), ("blank.jsonl", "\n\n"), ("array.json", "[]"), ("head.csv", "question,answer\n")]
    {
        let file = bench.write(name, text);
        assert_refused(&bench.run(&file, &[]), 3, &[name]);
    }
}

#[test]
fn a_dataset_that_does_not_exist() {
    assert_refused(&Bench::new().run("nowhere.json", &[]), 3, &["nowhere.json"]);
}

#[test]
fn gzip_a_byte_order_mark_and_windows_line_ends_are_accepted() {
    let bench = Bench::new();
    let text = format!("\u{feff}{ONE}{TWO}").replace('\n', "\r\n");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).expect("memory");
    let file = bench.write("q.jsonl.gz", gzip.finish().expect("memory"));
    let output = bench.run(&file, &["--out", "r", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a summary");
    assert_eq!(summary["variants"][0]["measured"], 2);
}

#[test]
fn a_prompt_with_an_unknown_key_or_placeholder() {
    let bench = Bench::new();
    let data = bench.write("q.jsonl", ONE);
    let shipped =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/prompts/hotpotqa.toml")).expect("shipped");
    let key = bench.write("key.toml", format!("languge = \"en\"\n{shipped}"));
    assert_refused(&bench.run(&data, &["--prompt", &key]), 3, &["key.toml", "languge", "language"]);
    let placeholder =
        bench.write("placeholder.toml", shipped.replacen("react = \"\"\"", "react = \"\"\"{{ colour }} ", 1));
    assert_refused(&bench.run(&data, &["--prompt", &placeholder]), 3, &["placeholder.toml", "colour"]);
}

#[test]
fn an_unreachable_model() {
    let bench = Bench::new();
    let data = bench.write("q.jsonl", format!("{ONE}{TWO}"));
    // A port that was free a moment ago: nobody listens there.
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let flags = ["--model", "openai:x", "--base-url", &url, "--model-attempts", "1", "--out", "r"];
    let output = bench.run(&data, &flags);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let text = std::fs::read_to_string(bench.path().join("r/trajectories.jsonl")).expect("records");
    assert_eq!(text.lines().filter(|line| line.contains("\"not_measured\"")).count(), 2);
    // The same run with a model that works does exactly these again.
    assert_refused(&bench.run(&data, &["--out", "r", "--resume"]), 3, &["model", "openai:x", "baseline"]);
}

#[test]
fn a_folder_that_holds_another_run() {
    let bench = Bench::new();
    let (one, two) = (bench.write("q.jsonl", ONE), bench.write("p.jsonl", TWO));
    assert_eq!(bench.run(&one, &["--out", "r"]).status.code(), Some(0));
    let before = std::fs::read(bench.path().join("r/trajectories.jsonl")).expect("records");
    assert_refused(&bench.run(&one, &["--out", "r"]), 3, &["holds a run already", "--resume"]);
    assert_refused(&bench.run(&two, &["--out", "r", "--resume"]), 3, &["other settings", "dataset"]);
    assert_refused(&bench.run(&one, &["--out", "r", "--resume", "--max-steps", "3"]), 3, &["max_steps: was 7, now 3"]);
    assert_eq!(std::fs::read(bench.path().join("r/trajectories.jsonl")).expect("records"), before);
}

#[test]
fn a_folder_that_is_no_run() {
    let bench = Bench::new();
    let data = bench.write("q.jsonl", ONE);
    std::fs::create_dir(bench.path().join("mine")).expect("a folder");
    bench.write("mine/letter.txt", "dear diary");
    assert_refused(&bench.run(&data, &["--out", "mine"]), 3, &["letter.txt"]);
    assert_refused(&bench.wikitrail(&["score", "mine"]), 3, &["manifest.json"]);
    assert_refused(&bench.wikitrail(&["export", "nowhere"]), 3, &["manifest.json"]);
}

#[test]
fn a_results_file_cut_in_the_middle_of_a_line() {
    let bench = Bench::new();
    let data = bench.write("q.jsonl", format!("{ONE}{TWO}"));
    assert_eq!(bench.run(&data, &["--out", "r"]).status.code(), Some(0));
    let path = bench.path().join("r/trajectories.jsonl");
    let whole = std::fs::read(&path).expect("records");
    std::fs::write(&path, &whole[..whole.len() - 30]).expect("cut");
    let output = bench.run(&data, &["--out", "r", "--resume"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("torn last line"), "{}", stderr(&output));
    assert!(stderr(&output).contains("keep 1, redo 0, new 1"), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(&path).expect("records").lines().count(), 2);
}

#[test]
fn an_export_never_replaces_the_run_itself() {
    let bench = Bench::new();
    let data = bench.write("q.jsonl", ONE);
    assert_eq!(bench.run(&data, &["--out", "r"]).status.code(), Some(0));
    let records = bench.path().join("r/trajectories.jsonl");
    let before = std::fs::read(&records).expect("records");
    for (folder, run, out) in
        [(".", "r", "r/trajectories.jsonl"), ("r", ".", "trajectories-x.jsonl"), ("r", ".", "manifest.json")]
    {
        let output = bench
            .command(&["export", run, "--format", "jsonl", "--out", out])
            .current_dir(bench.path().join(folder))
            .output()
            .expect("wikitrail runs");
        assert_refused(&output, 2, &["belongs to the run"]);
    }
    assert_eq!(std::fs::read(&records).expect("records"), before);
    assert!(!bench.path().join("r/trajectories-x.jsonl").exists());
    let output = bench.wikitrail(&["export", "r", "--out", "r/table.csv"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(bench.path().join("r/table.csv")).expect("a table").lines().count(), 2);
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_no_unicode() {
    use std::os::unix::ffi::OsStrExt as _;
    let bench = Bench::new();
    let name = std::ffi::OsStr::from_bytes(b"q\xff.jsonl");
    std::fs::write(bench.path().join(name), ONE).expect("the folder can be written");
    let output = bench.command(&["run"]).arg(name).args(["--quiet", "--out", "r"]).output().expect("wikitrail runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn an_answer_in_the_other_endpoints_form_is_not_measured() {
    let bench = Bench::new();
    let data = bench.write("q.jsonl", ONE);
    let chat = json!({"choices": [{"message": {"role": "assistant", "content": "x"}}]});
    let server = Server::start(move |_, _, stream| server::json(stream, &chat));
    let url = format!("{}/v1", server.url);
    let flags = ["--model", "openai:x", "--base-url", &url, "--completions", "--model-attempts", "1", "--out", "r"];
    assert_eq!(bench.run(&data, &flags).status.code(), Some(4));
    let record = std::fs::read_to_string(bench.path().join("r/trajectories.jsonl")).expect("records");
    assert!(record.contains("`text` is missing"), "{record}");
}

#[test]
fn a_second_process_on_the_same_run() {
    let bench = Bench::new();
    let data = bench.write("q.jsonl", ONE);
    let folder = bench.path().join("r");
    std::fs::create_dir(&folder).expect("a folder");
    let lock = std::fs::File::create(folder.join(".lock")).expect("a lock file");
    lock.lock().expect("the lock is free");
    assert_refused(&bench.run(&data, &["--out", "r"]), 1, &["another process"]);
    drop(lock);
    assert_eq!(bench.run(&data, &["--out", "r"]).status.code(), Some(0));
}

/// A limit on file sizes stands in for a full disk: from some write on, every further one fails.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let bench = Bench::new();
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" run --quiet --out r";
    let output = Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_wikitrail")])
        .current_dir(bench.path())
        .output()
        .expect("bash runs");
    assert_refused(&output, 1, &["cannot append to", "trajectories.jsonl"]);
    let records = || std::fs::read_to_string(bench.path().join("r/trajectories.jsonl")).expect("records");
    let kept = records();
    assert!(kept.ends_with('\n') && !kept.is_empty(), "half a line was left behind");
    assert!(kept.lines().count() < 60);
    let output = bench.wikitrail(&["run", "--quiet", "--out", "r", "--resume"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(records().starts_with(&kept), "what was finished was rewritten");
    assert_eq!(records().lines().count(), 60);
}

#[test]
fn a_live_site_without_contact() {
    let bench = Bench::new();
    let data = bench.write("q.jsonl", ONE);
    for wiki in ["html", "api"] {
        assert_refused(&bench.run(&data, &["--wiki", wiki]), 2, &["--contact"]);
    }
    let flags = ["--wiki", "html", "--contact", "someone@example.org"];
    assert_refused(&bench.run(&data, &flags), 2, &["--allow-html"]);
}

#[test]
fn a_key_never_reaches_a_file_or_the_terminal() {
    let bench = Bench::new();
    let data = bench.write("q.jsonl", ONE);
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
    let url = format!("http://user:sk-planted-secret@127.0.0.1:{port}/v1?key=sk-planted-secret");
    let output = bench
        .command(&["run", &data, "--model", "openai:x", "--base-url", &url, "--model-attempts", "1", "--out", "r"])
        .env("OPENAI_API_KEY", "sk-planted-secret")
        .output()
        .expect("wikitrail runs");
    let mut all = vec![stderr(&output), String::from_utf8_lossy(&output.stdout).into_owned()];
    for name in ["manifest.json", "trajectories.jsonl"] {
        all.push(std::fs::read_to_string(bench.path().join("r").join(name)).unwrap_or_default());
    }
    assert!(all.iter().all(|text| !text.contains("sk-planted-secret")), "{all:#?}");
}
