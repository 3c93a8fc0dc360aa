//! Experiments through the program: with the baseline over our own sample, and with the loopback mocks; planned, run,
//! killed, resumed, grown.

mod grid;
mod growing;
mod killed;
mod refused;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with experiment files; the program runs there.
struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wikitrail"));
        command.arg("run").args(args).current_dir(self.dir.path());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("wikitrail runs")
    }

    /// Runs, and returns what is printed as JSON.
    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[&["--json", "--quiet"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{args:?}\n{}", errors(&output));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    fn refused(&self, args: &[&str], code: i32, message: &str) {
        let output = self.run(args);
        let said = errors(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{said}");
        assert!(said.contains(message) && said.contains("hint: "), "{args:?}\n{said}");
    }

    fn manifest(&self, run: &str) -> Value {
        let bytes = std::fs::read(self.path(run).join("manifest.json")).expect("a manifest");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    fn records(&self, run: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(run).join("trajectories.jsonl")).expect("trajectories");
        text.lines().map(|line| serde_json::from_str(line).expect("a trajectory")).collect()
    }
}

pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn names(summary: &Value) -> Vec<&str> {
    let variants = summary["variants"].as_array().expect("variants");
    variants.iter().map(|variant| variant["name"].as_str().expect("a name")).collect()
}

/// Records by variant.
fn counts(records: &[Value]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for record in records {
        *counts.entry(record["variant"].as_str().expect("a name")).or_default() += 1;
    }
    counts
}

fn lines(file: &Path) -> usize {
    std::fs::read(file).map_or(0, |bytes| memchr::memchr_iter(b'\n', &bytes).count())
}

/// The documented example is a shipped file, and does what the page says.
#[test]
fn the_shipped_experiment_is_the_documented_one_and_runs_offline() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/experiments.md")).expect("the page");
    let shipped = std::fs::read_to_string(root.join("experiments/sample.toml")).expect("the example");
    assert!(
        page.contains(&format!("```toml\n{shipped}```")),
        "docs/experiments.md does not show experiments/sample.toml"
    );
    let bench = Bench::new();
    let summary = bench.json(&["experiments/sample.toml", "--out", "o"]);
    assert_eq!(
        names(&summary),
        [
            "robust/file/react",
            "robust/file/act",
            "file/cot",
            "robust/reversed/react",
            "reversed/cot",
            "react-paper/file/react",
            "react-paper/file/act",
            "react-paper/reversed/react",
            "short",
        ]
    );
    for variant in summary["variants"].as_array().expect("variants") {
        assert_eq!(variant["measured"], 60, "{variant}");
    }
    let experiment = &bench.manifest("o")["experiment"];
    assert_eq!((&experiment["name"], &experiment["baseline"]), (&"sample".into(), &"robust/file/react".into()));
    assert_eq!(std::fs::read_to_string(bench.path("o/experiment.toml")).expect("it is stored"), shipped);
    // Every other complete example of the page runs too.
    let examples = page.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|(text, _)| text);
    let mut tried = 0;
    for example in
        examples.filter(|text| text.starts_with("name = ") || text.contains("\nname = \"") && text.contains("dataset"))
    {
        bench.write("example.toml", example);
        let output = bench.run(&["example.toml", "--dry-run"]);
        assert_eq!(output.status.code(), Some(0), "{example}\n{}", errors(&output));
        tried += 1;
    }
    assert!(tried >= 2, "{tried} examples");
}
