//! Prose that has to stay true: the figures and the exit codes that README.md states.

use std::path::Path;
use std::process::Command;

fn readme() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    std::fs::read_to_string(path).expect("README.md is readable")
}

/// The baseline is deterministic, so its figures in README.md are exact or wrong.
#[test]
fn the_baselines_figures_are_those_of_a_run() {
    let dir = tempfile::tempdir().expect("a folder");
    for file in ["datasets/sample.jsonl", "datasets/sample-claims.jsonl"] {
        let output = Command::new(env!("CARGO_BIN_EXE_wikitrail"))
            .args(["run", file, "--quiet", "--json", "--out", file])
            .current_dir(dir.path())
            .output()
            .expect("wikitrail runs");
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a summary");
        let variant = &summary["variants"][0];
        let percent = |value: &serde_json::Value| format!("{:.1}", 100.0 * value.as_f64().expect("a share"));
        let (em, ci) = (percent(&variant["em"]), &variant["em_wilson"]);
        let row = format!("(`{file}`) | {em} % | {} – {} % |", percent(&ci[0]), percent(&ci[1]));
        assert!(readme().contains(&row), "README.md lacks `{row}`");
        assert!(variant["em"].as_f64().expect("a share") >= 0.25, "the baseline must really work");
    }
}

#[test]
fn every_exit_code_of_the_help_is_in_the_readme() {
    let output = Command::new(env!("CARGO_BIN_EXE_wikitrail")).arg("--help").output().expect("wikitrail runs");
    let help = String::from_utf8_lossy(&output.stdout);
    let codes = help.split("Exit codes:").nth(1).expect("the help lists exit codes");
    for code in ["0", "1", "2", "3", "4", "5", "130"] {
        assert!(codes.split([' ', '\n']).any(|word| word == code), "the help lacks {code}");
        assert!(readme().contains(&format!("| {code} |")), "README.md lacks {code}");
    }
}

/// `docs/formats.md` names every field that a real run stores.
#[test]
fn every_stored_field_is_documented() {
    let dir = tempfile::tempdir().expect("a folder");
    let status = Command::new(env!("CARGO_BIN_EXE_wikitrail"))
        .args(["run", "--quiet", "--limit", "5", "--out", "r"])
        .current_dir(dir.path())
        .output()
        .expect("wikitrail runs")
        .status;
    assert!(status.success());
    let doc = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/formats.md")).expect("the page");
    let mut names = std::collections::BTreeSet::new();
    let manifest = std::fs::read_to_string(dir.path().join("r/manifest.json")).expect("a manifest");
    let records = std::fs::read_to_string(dir.path().join("r/trajectories.jsonl")).expect("records");
    for text in std::iter::once(manifest.as_str()).chain(records.lines()) {
        collect(&serde_json::from_str(text).expect("JSON"), &mut names);
    }
    let missing: Vec<&String> = names.iter().filter(|name| !doc.contains(&format!("`{name}`"))).collect();
    assert!(names.len() > 40 && missing.is_empty(), "docs/formats.md lacks {missing:?}");
}

fn collect(value: &serde_json::Value, names: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                names.insert(name.clone());
                collect(value, names);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}
