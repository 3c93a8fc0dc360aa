//! `annotate` of runs with the same settings.

use crate::common::{WorkDir, lines};
use serde_json::{Value, json};

#[test]
fn of_two_runs_with_the_same_settings_each_takes_its_own_judgements() {
    let dir = WorkDir::new();
    for run in ["a", "b"] {
        dir.run(&["--limit", "1", "--out", run, "--quiet"]).ok();
    }
    let [first, second] = ["a", "b"].map(|run| dir.records(run)[0].clone());
    assert_eq!(first["key"], second["key"]);
    // As a page over both saves them: the variants have the names that the page gives them.
    let judgement = |record: &Value, variant: &str, correct: bool| {
        let mut one = json!({"v": 1, "variant": variant, "by": "anna", "at": "2026-01-01T00:00:00Z", "class": null,
            "correct": correct, "step": null, "note": null, "blind": false, "page_sha256": null});
        for name in ["key", "id", "repeat", "started_at"] {
            one[name] = record[name].clone();
        }
        one.to_string() + "\n"
    };
    dir.write("page.jsonl", judgement(&first, "a/main", true) + &judgement(&second, "b/main", false));
    for (run, correct) in [("a", true), ("b", false)] {
        let ran = dir.wikitrail(&["annotate", run, "--import", "page.jsonl"]).ok();
        assert!(ran.stderr.contains("another run with the same settings"), "{}", ran.stderr);
        let all = lines(&dir.read(&format!("{run}/annotations.jsonl")));
        assert_eq!((all.len(), &all[0]["correct"], &all[0]["variant"]), (1, &json!(correct), &json!("main")));
    }
}
