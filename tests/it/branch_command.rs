//! `branch`: recorded episodes with one step edited, beside a control.

mod placebo;

use crate::common::{self, WorkDir};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A folder with a run of the sample by the baseline.
fn run() -> WorkDir {
    let dir = WorkDir::new();
    dir.wikitrail(&["run", "--quiet", "--out", "r"]).ok();
    dir
}

fn of<'a>(records: &'a [Value], variant: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["variant"] == variant).collect()
}

#[test]
fn a_class_is_repaired_where_its_cause_is_put_right() {
    let dir = run();
    let set = ["branch", "r", "--wrong", "--class", "search", "--at", "2", "--with", "gold-page"];
    let rows = dir.wikitrail(&[&set[..], &["--out", "b", "--repeats", "2", "--quiet", "--json"]].concat()).json();
    let all = rows["repair"].as_array().expect("rows").iter().find(|row| row["class"] == "all").expect("a row");
    assert_eq!((&all["n"], &all["control"]), (&json!(22), &json!(0.0)));
    assert!(all["edited"].as_f64() > Some(0.3) && all["p"].as_f64() < Some(0.01), "{all}");
    assert!(all["interval"]["low"].as_f64() > Some(0.1), "{all}");
    let (before, records) = (common::records(dir.path("r")), common::records(dir.path("b")));
    assert_eq!((of(&records, "control").len(), of(&records, "edited").len()), (44, 44));
    for record in &records {
        let branch = &record["branch"];
        let parent = before.iter().find(|parent| parent["key"] == branch["key"]).expect("the episode");
        let by = &json!(if record["variant"] == "placebo" { "placebo" } else { "gold-page" });
        assert_eq!((&branch["id"], &branch["run"], &branch["by"]), (&parent["id"], &json!("r"), by));
        assert_eq!(branch["edit"].is_null(), record["variant"] == "control");
        let at = usize::try_from(branch["at"].as_u64().expect("a step")).expect("small");
        let (steps, recorded) =
            (record["steps"].as_array().expect("steps"), parent["steps"].as_array().expect("steps"));
        for (step, was) in steps.iter().zip(recorded).take(at - 1) {
            assert_eq!((&step["observation"], &step["thought"]), (&was["observation"], &was["thought"]));
            assert!(step["calls"].as_array().expect("calls").iter().all(|call| call["copied"] == true));
        }
        // The control goes on as the deterministic policy did.
        if record["variant"] == "control" {
            assert_eq!(record["answer"], parent["answer"]);
            assert!(steps[at - 1]["calls"][0]["copied"].is_null());
        }
    }
    let keys: BTreeSet<&str> = records.iter().filter_map(|record| record["key"].as_str()).collect();
    assert_eq!(keys.len(), records.len());
    dir.wikitrail(&["replay", "b"]).ok();
    let shown =
        dir.wikitrail(&["show", &format!("b@edited:{}", records[0]["id"].as_str().expect("an id"))]).ok().stdout;
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("branch off r@main:") && words.contains("step 1, copied"), "{shown}");
}

#[test]
fn another_protocol_goes_on_from_the_same_steps() {
    let dir = run();
    let set = ["branch", "r", "--wrong", "--at", "last-search", "--quiet", "--protocol"];
    let was = common::records(dir.path("r"));
    for protocol in ["tools", "robust", "lagent"] {
        dir.wikitrail(&[&set[..], &[protocol, "--out", protocol]].concat()).ok();
        let variants = common::manifest(dir.path(protocol))["variants"].clone();
        assert_eq!((&variants[0]["protocol"], &variants[1]["protocol"]), (&json!("react-paper"), &json!(protocol)));
        let records = common::records(dir.path(protocol));
        let mut copied = 0;
        for record in of(&records, "edited") {
            assert_ne!(record["outcome"], "not_measured", "{record}");
            let parent = was.iter().find(|own| own["id"] == record["id"]).expect("the episode");
            let at = usize::try_from(record["branch"]["at"].as_u64().expect("a step")).expect("small");
            for step in 0..at - 1 {
                for part in ["tool", "input", "observation"] {
                    assert_eq!(record["steps"][step][part], parent["steps"][step][part], "{protocol} {}", record["id"]);
                }
                copied += 1;
            }
        }
        assert!(copied > 10, "{copied}");
        dir.wikitrail(&["replay", protocol]).ok();
    }
    // A thought that the other protocol reads as an action.
    let path = dir.path("r/trajectories.jsonl");
    let mut records = was;
    records[0]["steps"][0]["thought"] = json!("Hm.\nAction: Search[Another page]");
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    std::fs::write(&path, lines.join("\n") + "\n").expect("it is written");
    let target = format!("r:{}", records[0]["id"].as_str().expect("an id"));
    let ran = dir.wikitrail(&["branch", &target, "--at", "2", "--protocol", "robust", "--out", "x"]);
    ran.refused(2, &["step 1 cannot be copied into protocol `robust`", "Another page", "hint: "]);
    assert!(!dir.path("x").exists());
}

#[test]
fn a_run_that_stops_when_decided_can_be_branched_off() {
    let dir = WorkDir::new();
    let rule = "decided(em, react, cot)";
    let flags = ["run", "--quiet", "--method", "react,cot", "--stop-when", rule, "--limit", "20", "--out", "r"];
    dir.wikitrail(&flags).ok();
    let head = format!("name = \"e\"\ndataset = \"datasets/sample.jsonl\"\nstop_when = \"{rule}\"\n");
    dir.write("e.toml", format!("{head}[matrix]\nmethod = [\"react\", \"cot\"]\n"));
    dir.wikitrail(&["run", "e.toml", "--quiet", "--limit", "20", "--out", "f"]).ok();
    for (target, out) in [("r@react", "b"), ("f@react", "c")] {
        let ran = dir.wikitrail(&["branch", target, "--wrong", "--at", "1", "--with", "empty", "--out", out]).ok();
        assert!(!ran.stderr.contains("decided"), "{}", ran.stderr);
        assert_eq!(common::manifest(dir.path(out))["stop_when"], Value::Null);
        // The run's questions are a random part of the dataset, and every wrong one is branched off.
        let run = target.split('@').next().expect("a run");
        let ids = |of: &str, keep: &dyn Fn(&Value) -> bool| -> BTreeSet<String> {
            common::records(dir.path(of)).iter().filter(|one| keep(one)).map(|one| one["id"].to_string()).collect()
        };
        let shown = dir.wikitrail(&["show", target, "--wrong", "--json"]).ok().lines();
        let wrong: BTreeSet<String> = shown.iter().map(|one| one["id"].to_string()).collect();
        assert!(wrong.len() > 3 && wrong.is_subset(&ids(run, &|one| one["variant"] == "react")), "{wrong:?}");
        assert_eq!(ids(out, &|one| one["variant"] == "edited"), wrong);
    }
}
