//! Running the program, and reading what it leaves behind.

use super::files::{lines, read};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What the program printed, and its exit code.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The program, about to run in a folder, without a key for a model.
pub(crate) fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wikitrail"));
    command.args(args).current_dir(folder).env_remove("OPENAI_API_KEY");
    without_settings(&mut command);
    command
}

/// Takes away the settings of the person who runs the tests.
fn without_settings(command: &mut Command) {
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("WIKITRAIL_")) {
        command.env_remove(name);
    }
}

pub(crate) fn wikitrail(folder: &Path, args: &[&str]) -> Ran {
    Ran::from(&command(folder, args).output().expect("wikitrail runs"))
}

/// Runs a line as a person types it, without keys.
pub(crate) fn shell(folder: &Path, line: &str) -> Ran {
    let program = Path::new(env!("CARGO_BIN_EXE_wikitrail")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("a path"));
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(folder).env("PATH", path).stdin(Stdio::null());
    without_settings(&mut shell);
    for key in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
        shell.env_remove(key);
    }
    Ran::from(&shell.output().expect("a shell"))
}

impl From<&Output> for Ran {
    fn from(output: &Output) -> Self {
        let text = |bytes: &[u8]| std::str::from_utf8(bytes).expect("UTF-8").to_owned();
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

impl Ran {
    /// It must have succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// It must have succeeded and printed JSON.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.ok().stdout).expect("JSON")
    }

    /// It must have succeeded and printed JSON on each line.
    #[track_caller]
    pub(crate) fn lines(self) -> Vec<Value> {
        lines(&self.ok().stdout)
    }

    /// It must have failed with this code and an error that holds these words and a hint.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.stderr);
        for word in [words, &["hint: "]].concat() {
            assert!(self.stderr.contains(word), "`{word}` is missing in:\n{}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }
}

/// A folder of its own, in which the program runs.
pub(crate) struct WorkDir(tempfile::TempDir);

impl WorkDir {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and makes its folder.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    }

    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        read(self.path(name))
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        command(self.0.path(), args)
    }

    pub(crate) fn wikitrail(&self, args: &[&str]) -> Ran {
        wikitrail(self.0.path(), args)
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.wikitrail(&[&["run"], args].concat())
    }

    /// What `wikitrail run` prints as JSON; it must succeed.
    #[track_caller]
    pub(crate) fn run_json(&self, args: &[&str]) -> Value {
        self.run(&[&["--json", "--quiet"], args].concat()).json()
    }

    #[track_caller]
    pub(crate) fn manifest(&self, run: &str) -> Value {
        manifest(self.path(run))
    }

    #[track_caller]
    pub(crate) fn records(&self, run: &str) -> Vec<Value> {
        records(self.path(run))
    }
}

/// The names of the variants of a summary or a manifest.
pub(crate) fn variant_names(summary: &Value) -> Vec<&str> {
    let variants = summary["variants"].as_array().expect("variants");
    variants.iter().map(|variant| variant["name"].as_str().expect("a name")).collect()
}

/// Model calls of recorded episodes.
pub(crate) fn calls<'r>(records: impl IntoIterator<Item = &'r Value>) -> usize {
    let steps = records.into_iter().flat_map(|record| record["steps"].as_array().expect("steps"));
    steps.map(|step| step["calls"].as_array().expect("calls").len()).sum()
}

/// Whole lines that a run's file of trajectories has so far.
pub(crate) fn recorded(run: &Path) -> usize {
    std::fs::read(run.join("trajectories.jsonl")).map_or(0, |bytes| memchr::memchr_iter(b'\n', &bytes).count())
}

/// Starts a run and kills it once so many episodes are recorded; returns how many then are.
#[track_caller]
pub(crate) fn killed(command: &mut Command, run: &Path, wanted: usize) -> usize {
    let mut child = command.stdout(Stdio::null()).spawn().expect("wikitrail starts");
    while recorded(run) < wanted {
        assert!(child.try_wait().expect("the child can be asked").is_none(), "it ended before it was killed");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child.kill().expect("kill -9");
    child.wait().expect("it is gone");
    recorded(run)
}

#[track_caller]
pub(crate) fn manifest(run: impl AsRef<Path>) -> Value {
    serde_json::from_str(&read(run.as_ref().join("manifest.json"))).expect("JSON")
}

#[track_caller]
pub(crate) fn records(run: impl AsRef<Path>) -> Vec<Value> {
    lines(&read(run.as_ref().join("trajectories.jsonl")))
}

/// The record of an episode without its times.
pub(crate) fn without_times(mut record: Value) -> Value {
    let remove = |value: &mut Value, names: &[&str]| {
        value.as_object_mut().expect("an object").retain(|name, _| !names.contains(&name.as_str()));
    };
    remove(&mut record, &["started_at", "wall_ms"]);
    for step in record["steps"].as_array_mut().expect("steps") {
        remove(step, &["tool_started_at", "tool_ms"]);
        step["calls"]
            .as_array_mut()
            .expect("calls")
            .iter_mut()
            .for_each(|call| remove(call, &["started_at", "latency_ms"]));
    }
    record
}

/// SHA-256 in hexadecimal.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a string");
        hex
    })
}

/// The text on one line, as if it had not been wrapped for a terminal.
pub(crate) fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The names of the commands that a help lists, under one heading or in groups.
pub(crate) fn listed_commands(help: &str) -> Vec<&str> {
    let end = help.find("\nOptions:").unwrap_or(help.len());
    let sections = help[..end].split("\n\n").filter(|section| !section.starts_with("Arguments:"));
    // A longer description goes on further to the right.
    let lines = sections.flat_map(str::lines).filter_map(|line| line.strip_prefix("  "));
    lines.filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next()).collect()
}
