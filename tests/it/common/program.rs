//! Running the program, and reading what it leaves behind.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

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
    command
}

/// Runs the program in a folder.
pub(crate) fn wikitrail(folder: &Path, args: &[&str]) -> Ran {
    Ran::from(&command(folder, args).output().expect("wikitrail runs"))
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

/// Each line of a text as JSON.
#[track_caller]
pub(crate) fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

/// The text of a file.
#[track_caller]
pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The manifest of a run.
#[track_caller]
pub(crate) fn manifest(run: impl AsRef<Path>) -> Value {
    serde_json::from_str(&read(run.as_ref().join("manifest.json"))).expect("JSON")
}

/// The trajectories of a run.
#[track_caller]
pub(crate) fn records(run: impl AsRef<Path>) -> Vec<Value> {
    lines(&read(run.as_ref().join("trajectories.jsonl")))
}

/// A file of the repository, such as `docs/guide.md`.
pub(crate) fn repository(name: &str) -> String {
    read(Path::new(env!("CARGO_MANIFEST_DIR")).join(name))
}
