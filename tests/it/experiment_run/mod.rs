//! Experiments through the program: with the baseline over our own sample, and with the loopback mocks; planned, run,
//! killed, resumed, grown.

mod grid;
mod killed;

use crate::common::{WorkDir, repository, variant_names};
use serde_json::Value;
use std::collections::BTreeMap;

/// Records by variant.
fn counts(records: &[Value]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for record in records {
        *counts.entry(record["variant"].as_str().expect("a name")).or_default() += 1;
    }
    counts
}

/// The documented example is a shipped file, and does what the page says.
#[test]
fn the_shipped_experiment_is_the_documented_one_and_runs_offline() {
    let [page, shipped] = ["docs/experiments.md", "experiments/sample.toml"].map(repository);
    assert!(
        page.contains(&format!("```toml\n{shipped}```")),
        "docs/experiments.md does not show experiments/sample.toml"
    );
    let bench = WorkDir::new();
    let summary = bench.run_json(&["experiments/sample.toml", "--out", "o"]);
    assert_eq!(
        variant_names(&summary),
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
    assert_eq!(bench.read("o/experiment.toml"), shipped);
    // Every other complete example of the page runs too.
    let examples = page.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|(text, _)| text);
    let mut tried = 0;
    for example in
        examples.filter(|text| text.starts_with("name = ") || text.contains("\nname = \"") && text.contains("dataset"))
    {
        bench.write("example.toml", example);
        let ran = bench.run(&["example.toml", "--dry-run"]);
        assert_eq!(ran.code, Some(0), "{example}\n{}", ran.stderr);
        tried += 1;
    }
    assert!(tried >= 2, "{tried} examples");
}
