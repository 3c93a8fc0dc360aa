//! Experiments that change between two starts.

use super::counts;
use crate::common::{WorkDir, calls, variant_names};
use serde_json::Value;

const GROWING: &str = r#"
name = "growing"
dataset = "datasets/sample.jsonl"
[matrix]
protocol = ["react-paper", "robust"]
method = ["react"]
"#;

#[test]
fn a_variant_is_added_without_running_the_others_again_and_one_is_taken_away() {
    let bench = WorkDir::new();
    bench.write("g.toml", GROWING);
    bench.run_json(&["g.toml", "--out", "o", "--limit", "10"]);
    let first = std::fs::read(bench.path("o/trajectories.jsonl")).expect("records");
    assert_eq!(bench.records("o").len(), 20);

    // One protocol more, in front; one method more.
    bench.write(
        "g.toml",
        GROWING
            .replace("[\"react-paper\"", "[\"go-blog\", \"react-paper\"")
            .replace("[\"react\"]", "[\"react\", \"cot\"]"),
    );
    bench.run(&["g.toml", "--out", "o", "--limit", "10"]).refused(3, &["holds a run already"]);
    let plan = bench.run_json(&["g.toml", "--out", "o", "--limit", "10", "--resume", "--dry-run"]);
    assert_eq!((&plan["keep"], &plan["new"]), (&20.into(), &20.into()));
    let summary = bench.run_json(&["g.toml", "--out", "o", "--limit", "10", "--resume"]);
    assert_eq!(variant_names(&summary), ["go-blog/react", "cot", "react-paper/react", "robust/react"]);
    let grown = std::fs::read(bench.path("o/trajectories.jsonl")).expect("records");
    assert!(grown.starts_with(&first), "what was there was touched");
    let records = bench.records("o");
    assert_eq!(
        counts(&records),
        [("cot", 10), ("go-blog/react", 10), ("react-paper/react", 10), ("robust/react", 10)].into()
    );

    // A variant is gone, and there are more repeats and more questions.
    bench.write("g.toml", GROWING.replace("\"react-paper\", ", "").replace("[matrix]", "repeats = 2\n[matrix]"));
    let output = bench.run(&["g.toml", "--out", "o", "--limit", "12", "--resume", "--quiet"]);
    assert!(output.stderr.contains("plan: keep 10, redo 0, new 14, other 30"), "{}", output.stderr);
    assert_eq!(bench.records("o").len(), 54);
    let manifest = bench.manifest("o");
    assert_eq!(variant_names(&manifest), ["robust/react"]);
    let retired: Vec<&str> =
        manifest["retired"].as_array().expect("retired").iter().map(|v| v["name"].as_str().expect("a name")).collect();
    assert_eq!(retired, ["go-blog/react", "cot", "react-paper/react"]);
    // They are still there for whoever reads the record.
    assert!(bench.wikitrail(&["replay", "o"]).stdout.contains("54 of 54 episodes without a difference"));

    // It comes back: nothing of it is run again.
    bench.write("g.toml", GROWING.replace("[matrix]", "repeats = 2\n[matrix]"));
    let plan = bench.run_json(&["g.toml", "--out", "o", "--limit", "12", "--resume", "--dry-run"]);
    assert_eq!((&plan["keep"], &plan["new"], &plan["other"]), (&34.into(), &14.into(), &20.into()));
}

#[test]
fn several_datasets_have_a_run_each() {
    let bench = WorkDir::new();
    let text = "name = \"two\"\nsettings.method = \"cot\"\n[[dataset]]\npath = \"datasets/sample.jsonl\"\nlimit = 4\n[[dataset]]\nname = \"claims\"\npath = \"datasets/sample-claims.jsonl\"\nlimit = 6\n";
    bench.write("two.toml", text);
    let plan = bench.run_json(&["two.toml", "--dry-run"]);
    assert_eq!(plan["runs"].as_array().map(Vec::len), Some(2));
    let both = bench.run_json(&["two.toml", "--out", "o"]);
    let selected: Vec<&Value> = both["runs"].as_array().expect("runs").iter().map(|run| &run["selected"]).collect();
    assert_eq!(selected, [&Value::from(4), &Value::from(6)]);
    assert_eq!((bench.records("o/sample").len(), bench.records("o/claims").len()), (4, 6));
    assert_eq!(bench.manifest("o/claims")["experiment"]["datasets"], serde_json::json!(["sample", "claims"]));
    // A dataset more; the whole goes on by its folder alone.
    bench.write(
        "two.toml",
        format!("{text}[[dataset]]\nname = \"zh\"\npath = \"datasets/sample-zh.jsonl\"\nlimit = 2\n"),
    );
    bench.run_json(&["--resume", "--out", "o"]);
    assert_eq!((bench.records("o/sample").len(), bench.records("o/zh").len()), (4, 2));
}

#[test]
fn a_spent_budget_is_not_repeated_by_the_command_that_goes_on() {
    let bench = WorkDir::new();
    bench.write("g.toml", GROWING);
    let output = bench.run(&["g.toml", "--out", "o", "--max-calls", "20", "--quiet"]);
    assert_eq!(output.code, Some(4), "{}", output.stderr);
    let command = "wikitrail run g.toml --max-calls LARGER --resume --out o";
    assert!(output.stderr.contains(&format!("resume with a larger limit: {command}")), "{}", output.stderr);
    let table = output.stdout;
    assert!(table.contains(&format!("  {command}")) || !table.contains("--max-calls 20"), "{table}");
    // One budget holds for all datasets.
    bench
        .write("two.toml", "name = \"two\"\ndataset = [\"datasets/sample.jsonl\", \"datasets/sample-claims.jsonl\"]\n");
    let output = bench.run(&["two.toml", "--out", "two", "--max-calls", "400", "--quiet"]);
    assert_eq!(output.code, Some(4), "{}", output.stderr);
    let calls = |run: &str| calls(&bench.records(run));
    assert_eq!(calls("two/sample") + calls("two/sample-claims"), 400);
    assert!(output.stderr.contains("--resume --out two\n"), "{}", output.stderr);
}

#[test]
fn a_command_line_that_cannot_be_parsed_is_shown_without_what_a_terminal_obeys() {
    let bench = WorkDir::new();
    bench.run_json(&["datasets/sample.jsonl", "--limit", "1", "--out", "o"]);
    let mut manifest = bench.manifest("o");
    let words = "wikitrail run --limit 1 --no-such-flag \u{1b}[31m";
    manifest["command_line"] = words.split(' ').collect();
    bench.write("o/manifest.json", manifest.to_string());
    let output = bench.run(&["--resume", "--out", "o"]);
    assert!(!output.stderr.contains('\u{1b}') && output.stderr.contains("cannot be resumed"), "{}", output.stderr);
}

/// What is printed goes on with the run as it is, can be pasted, and shows progress again.
#[cfg(unix)]
#[test]
fn printed_commands_are_those_of_the_last_start_and_can_be_pasted() {
    let work = WorkDir::new();
    work.write("my file.jsonl", crate::common::repository("datasets/sample.jsonl"));
    let out = "it's here";
    work.run(&["my file.jsonl", "--limit", "1", "-q", "--out", out]).ok();
    let more = work.run(&["--resume", "--out", out, "--limit", "5", "--max-calls", "20", "--quiet"]);
    let line = |said: &str, begin: &str| {
        let found = said.lines().find_map(|line| line.strip_prefix(begin)).map(str::to_owned);
        found.unwrap_or_else(|| panic!("`{begin}` is missing in:\n{said}"))
    };
    let resumed = line(&more.stderr, "resuming: ");
    assert!(resumed.contains("'my file.jsonl'") && resumed.contains("'--out=it'\\''s here'"), "{resumed}");
    let command = line(&more.stderr, "resume with a larger limit: ").replace("LARGER", "1000");
    assert!(command.contains("--limit=5") && !command.contains("quiet") && !command.contains(" -q"), "{command}");
    crate::common::shell(work.root(), &command).ok();
    let scored = work.wikitrail(&["score", out, "--json"]).json();
    assert_eq!(scored["variants"][0]["measured"], 5);
    crate::common::shell(work.root(), &resumed).ok();
}
