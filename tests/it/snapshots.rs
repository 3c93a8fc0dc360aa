//! What the commands print for a person, as reviewed files in `tests/it/snapshots/`: command, exit code, stdout, stderr.
//!
//! A wording or a layout that changes on purpose changes these files, and the diff is what is reviewed:
//! `INSTA_UPDATE=always cargo test --test it snapshots::` writes all of them anew. Output goes to no terminal, so it is
//! 80 columns wide. Semantics (figures, files, exit codes of rare faults) are checked by the other tests.

use crate::common::{Ran, WorkDir, without_times};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;

/// A folder in which commands run one after the other. What they print becomes one snapshot.
struct Session {
    folder: WorkDir,
    transcript: String,
}

impl Session {
    fn new() -> Self {
        Self { folder: WorkDir::new(), transcript: String::new() }
    }

    /// With a run of three methods in `results`, whose times are always the same.
    fn with_run() -> Self {
        let session = Self::new();
        session.folder.run_json(&["--limit", "15", "--method", "act,react,standard", "--out", "results"]);
        fix_times(&session.folder, "results");
        session
    }

    fn write(&self, name: &str, text: &str) {
        self.folder.write(name, text);
    }

    /// Runs commands, one a line; single quotes hold the words of one argument together.
    fn run(&mut self, commands: &str) -> &mut Self {
        for command in commands.lines().map(str::trim_start) {
            let parts = command.split('\'').enumerate();
            let words =
                parts.flat_map(|(at, part)| if at % 2 > 0 { vec![part] } else { part.split_whitespace().collect() });
            let mut program = self.folder.command(&words.collect::<Vec<_>>());
            let Ran { code, stdout, stderr } =
                Ran::from(&program.stdin(Stdio::null()).output().expect("wikitrail runs"));
            // Writing to a String cannot fail.
            let _ = writeln!(self.transcript, "$ wikitrail {command}\nexit code {}", code.expect("not killed"));
            for (name, text) in [("stdout", stdout), ("stderr", stderr)] {
                if !text.is_empty() {
                    let _ = write!(self.transcript, "--- {name}\n{text}");
                }
            }
            self.transcript.push('\n');
        }
        self
    }

    /// Holds the transcript against the file of that name.
    #[track_caller]
    fn assert(&self, name: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        // How often progress is shown, and what it shows before the end, is a matter of time.
        settings.add_filter(r"(?m)^\d+ of \d+ episodes, .*, ETA .*\n", "");
        settings.add_filter(r"[\d.]+/s, (.*), took .*", "[rate]/s, $1, took [time]");
        settings.add_filter(&regex_of(self.folder.root()), "[folder]");
        settings.add_filter(concat!("wikitrail ", env!("CARGO_PKG_VERSION")), "wikitrail [version]");
        settings.bind(|| insta::assert_snapshot!(name, self.transcript.trim_end()));
    }

    /// The same for commands that print how long a run took, where the time decides how wide a table is.
    #[track_caller]
    fn assert_without_times(&self, name: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.add_filter(r"the run took .*", "the run took [time]");
        settings.add_filter(r" +(time|\d+ ms|[\d.]+ s|\d+ min \d+ s)\n", " [time]\n");
        settings.add_filter("─{40,}", "───");
        settings.bind(|| self.assert(name));
    }
}

/// A pattern for exactly this path.
fn regex_of(path: &Path) -> String {
    path.display()
        .to_string()
        .chars()
        .map(|c| if c.is_alphanumeric() { c.to_string() } else { format!("\\{c}") })
        .collect()
}

/// Gives a run and each of its episodes the same times, whenever and wherever it ran.
pub(crate) fn fix_times(folder: &WorkDir, run: &str) {
    let change = |name: &str, change: &dyn Fn(&mut Value)| {
        let name = format!("{run}/{name}");
        let text = folder.read(&name);
        let changed = serde_json::Deserializer::from_str(&text).into_iter().map(|value| {
            let mut value: Value = value.expect("JSON");
            change(&mut value);
            format!("{value}\n")
        });
        folder.write(&name, changed.collect::<String>());
    };
    change("manifest.json", &|manifest| manifest["active_ms"] = json!(1500));
    change("trajectories.jsonl", &|record| {
        *record = without_times(record.take());
        (record["started_at"], record["wall_ms"]) = (json!("2026-01-01T00:00:00Z"), json!(100));
        for step in record["steps"].as_array_mut().expect("steps") {
            step["calls"].as_array_mut().expect("calls").iter_mut().for_each(|call| call["latency_ms"] = json!(1));
        }
    });
}

#[test]
fn run() {
    let mut session = Session::new();
    session.run("run --out results").run("run --out results --resume");
    session.run("run --method react,standard --limit 20 --out two");
    session.run("run --method act,react,standard --out three");
    session
        .run("run --method act,react --protocol robust,react-paper --limit 5 --out four")
        .assert_without_times("run");
}

#[test]
fn run_dry() {
    let mut session = Session::new();
    session.run("run --dry-run --out results");
    session.run("run --dry-run --out results --method act,react --protocol robust,react-paper --limit 20");
    session.assert("run_dry");
}

#[test]
fn score() {
    Session::with_run().run("score results").assert("score");
}

#[test]
fn compare() {
    let mut session = Session::with_run();
    session.run("compare results").run("compare results@act results@standard --metric em --by type --mde --flips");
    session.run("compare results --metric em --format markdown").run("compare results --metric em --format latex");
    session.run("compare results --within method --metric em");
    session.assert("compare");
}

#[test]
fn compare_refused() {
    let mut session = Session::with_run();
    session.run(
        "compare results@act
         compare results --baseline none
         compare results --metric rouge
         compare results --metric given_attempted
         compare results --by colour
         compare results --cluster colour
         compare results --level 95
         compare results nowhere
         compare results@none
         compare",
    );
    for condition in ["em(acct) < 1", "recall(act) < 1", "em(act) <"] {
        session.run(&format!("compare results --metric em --fail-if '{condition}'"));
    }
    session.assert("compare_refused");
}

#[test]
fn show() {
    let mut session = Session::with_run();
    session.run("show results --limit 5").run("show results --wrong --variant act");
    session.run("show results@react:sample-001").run("show results@act:sample-004 results@react:sample-004");
    session.run("show results@act:sample-004 results@standard:sample-004 --width 120");
    session.assert("show");
}

#[test]
fn show_refused() {
    let mut session = Session::with_run();
    session.write("notes.txt", "my notes\n");
    session.run(
        "show nowhere
         show results sample-999
         show results@cot sample-001
         show results:sample-001 results@act:sample-001
         show results@cot:sample-001
         show results@cot
         show name:ID
         show results@act:sample-001 results@act:sample-002
         show results@act:sample-001 nowhere:x
         show results --class luck
         show results --outcome right
         show notes.txt",
    );
    session.assert("show_refused");
}

#[test]
fn export() {
    let mut session = Session::with_run();
    session.run("export results --rows questions --wrong --variant act");
    session.run("export results --variant nobody").run("export results --format xml");
    session.assert("export");
}

#[test]
fn dataset() {
    let mut session = Session::new();
    session.write("twice.jsonl", "{\"id\": \"a\", \"question\": \"x?\", \"answer\": \"y\"}\n".repeat(2).as_str());
    session.run("dataset info datasets/sample.jsonl").run("dataset info twice.jsonl").run("dataset info nowhere.json");
    session.assert("dataset");
}

#[test]
fn prompt() {
    let mut session = Session::new();
    let words = "[lagent]\nsystem = '''{thought} {actoin}'''\n";
    session.write("words.toml", words);
    session.write("bad.toml", "languge = \"en\"\nexemplars = 3\n");
    session
        .run("prompt list")
        .run("prompt protocols")
        .run("prompt show prompts/hotpotqa.toml --shots 1 --question Why?");
    session.run("prompt check prompts/fever.toml").run("prompt check words.toml bad.toml nowhere.toml");
    session.assert("prompt");
}

#[test]
fn prompt_refused() {
    let mut session = Session::new();
    session.run(
        "prompt show prompts/hotpotqa.toml --protocol qwen
         prompt show prompts/hotpotqa.toml --method cof
         prompt show prompts/hotpotqa.toml --protocol lagent --option colour=red
         prompt show prompts/hotpotqa.toml --protocol lagent --method act
         prompt show prompts/hotpotqa.toml --texts prompts/protocols/en.toml
         prompt show prompts/hotpotqa.toml --protocol lagent --texts none.toml",
    );
    session.assert("prompt_refused");
}

#[test]
fn wiki() {
    let mut session = Session::new();
    session.run("wiki search 'Ada Lovelace'").run("wiki search 'Ada Lovelacy'");
    session.run("wiki lookup 'Ada Lovelace' London --all").run("wiki lookup 'Ada Lovelace' zebra").assert("wiki");
}

#[test]
fn refused() {
    let mut session = Session::new();
    let question = "{\"id\": \"a\", \"question\": \"Who wrote Solaris?\", \"answer\": \"Stanisław Lem\"}\n";
    session.write("q.jsonl", question);
    session.write("lacks.jsonl", &format!("{question}{{\"id\": \"b\", \"answer\": \"London\"}}\n"));
    session.write("page.json", "<!DOCTYPE html><html><body>404</body></html>");
    session.write("prompt.toml", "languge = \"en\"\n");
    session.run(
        "run q.jsonl --limit many
         run q.jsonl --concurrency 0
         run q.jsonl --protocol qwen
         run nowhere.json
         run lacks.jsonl
         run page.json
         run q.jsonl --prompt prompt.toml
         run q.jsonl --model openai:x
         run q.jsonl --quiet --out r --json --max-steps many
         score nowhere
         export nowhere",
    );
    session.run("ask '  '").run("ask x? --method react,act").run("ask x? --method cot --oracle-context");
    session.run("ask --json");
    session.assert("refused");
}

#[test]
fn resume_refused() {
    let mut session = Session::new();
    session.write("q.jsonl", "{\"id\": \"a\", \"question\": \"Who wrote Solaris?\", \"answer\": \"Stanisław Lem\"}\n");
    session.folder.run_json(&["q.jsonl", "--out", "r"]);
    session.run("run q.jsonl --out r").run("run q.jsonl --out r --resume --max-steps 3");
    session.run("run datasets/sample.jsonl --out r --resume");
    session.assert("resume_refused");
}

/// A snapshot whose test is gone is deleted, too.
#[test]
fn every_snapshot_belongs_to_a_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots");
    for entry in std::fs::read_dir(folder).expect("the folder of snapshots") {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        let Some(name) = name.strip_suffix(".snap") else { continue };
        assert!(include_str!("snapshots.rs").contains(&format!("\"{name}\")")), "no test writes {name}.snap");
    }
}
