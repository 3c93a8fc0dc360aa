//! `branch`: recorded episodes with one step edited, beside a control.

mod edits;
mod odd;
mod placebo;

use crate::common::{self, WorkDir};
use serde_json::{Value, json};

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
    let keys: std::collections::BTreeSet<&str> = records.iter().filter_map(|record| record["key"].as_str()).collect();
    assert_eq!(keys.len(), records.len());
    dir.wikitrail(&["replay", "b"]).ok();
    let shown =
        dir.wikitrail(&["show", &format!("b@edited:{}", records[0]["id"].as_str().expect("an id"))]).ok().stdout;
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("branch off r@main:") && words.contains("step 1, copied"), "{shown}");
}

#[test]
fn each_part_of_a_step_can_be_edited() {
    let dir = run();
    dir.write("page.txt", "George de Hevesy won it in 1943.");
    let first = |out: &str, flags: &[&str]| {
        let target = ["branch", "r:sample-001", "--at", "2", "--quiet", "--out", out];
        dir.wikitrail(&[&target[..], flags].concat()).ok();
        let records = common::records(dir.path(out));
        (*of(&records, "edited").first().expect("an episode")).clone()
    };
    let was = common::records(dir.path("r"));
    let was = was.iter().find(|record| record["id"] == "sample-001").expect("an episode");
    let action = first("a", &["--action", "Search[Carl Nielsen]"]);
    assert_eq!(action["steps"][1]["input"], "Carl Nielsen");
    assert_eq!(action["branch"]["edit"]["part"], "action");
    assert_eq!(action["branch"]["edit"]["text"], "search[Carl Nielsen]");
    // Of the replies, only the edited one was written by nobody.
    let calls = |target: &str| -> Vec<String> {
        let shown = dir.wikitrail(&["show", target]).ok().stdout;
        shown.lines().filter(|line| line.starts_with("calls")).map(str::to_owned).take(3).collect()
    };
    assert_eq!(calls("a@edited:sample-001")[..2].join("|").matches("copied").count(), 1);
    assert!(calls("a@edited:sample-001")[1].ends_with("written by the edit"));
    assert!(calls("a@control:sample-001")[0].ends_with("copied"));
    let thought = first("t", &["--thought", "I look for it."]);
    assert_eq!(
        (&thought["steps"][1]["thought"], &thought["steps"][1]["input"]),
        (&json!("I look for it."), &was["steps"][1]["input"])
    );
    assert_eq!(thought["steps"][1]["observation"], was["steps"][1]["observation"]);
    // The paper's labels need a thought; native calls do not.
    let flags = ["branch", "r:sample-001", "--at", "2", "--drop-thought", "--out", "d"];
    let refused = dir.wikitrail(&flags);
    assert!(
        refused.code == Some(2) && refused.stderr.contains("does not read the edited step 2"),
        "{}",
        refused.stderr
    );
    dir.wikitrail(&["run", "--quiet", "--limit", "3", "--protocol", "tools", "--out", "n"]).ok();
    let flags = ["branch", "n:sample-001", "--at", "2", "--drop-thought", "--out", "d", "--quiet"];
    dir.wikitrail(&flags).ok();
    let records = common::records(dir.path("d"));
    let dropped = of(&records, "edited")[0];
    assert_eq!(dropped["steps"][1]["thought"].as_str().unwrap_or_default().trim(), "");
    // Another prompt has other prompts, and the same steps.
    let prompted = first("p", &["--prompt", "prompts/fever.toml"]);
    assert_eq!(prompted["steps"][0]["observation"], was["steps"][0]["observation"]);
    let given = first("o", &["--observation-file", "page.txt"]);
    assert_eq!(given["steps"][1]["observation"], "George de Hevesy won it in 1943.");
    assert_eq!(given["steps"][1]["note"], "this observation was put there");
    assert!(calls("o@edited:sample-001")[..2].iter().all(|line| line.ends_with("copied")));
    let both = first("b", &["--thought", "Now.", "--action", "Finish[1943]"]);
    assert_eq!((&both["answer"], &both["branch"]["edit"]["part"]), (&json!("1943"), &json!("thought+action")));
}

/// The corpus says something else than it did.
#[test]
fn an_episode_that_its_corpus_contradicts_is_not_branched_off() {
    let dir = run();
    let changed = dir.read("r/trajectories.jsonl").replace("Could not find Copenhagen", "Could not see Copenhagen");
    dir.write("r/trajectories.jsonl", changed);
    let ran = dir.wikitrail(&["branch", "r:sample-001", "--at", "3", "--with", "empty", "--out", "x"]);
    ran.refused(5, &["step 1: observation: recorded `Could not see Copenhagen"]);
    assert!(!dir.path("x").exists());
}
