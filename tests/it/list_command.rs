//! `list` and `note`: runs with their scores, ties, tags and notes.

use crate::common::WorkDir;

#[test]
fn runs_are_listed_with_their_scores_ties_and_tags() {
    let dir = WorkDir::new();
    dir.run(&["--method", "react,cot", "--out", "results/two"]);
    dir.run(&["--protocol", "lagent", "--out", "results/deep/one"]);
    let listed = dir.wikitrail(&["list", "--json"]).ok().lines();
    let names: Vec<&str> = listed.iter().map(|entry| entry["run"].as_str().expect("a run")).collect();
    assert_eq!(names, ["results/two@react", "results/deep/one", "results/two@cot"], "the best first");
    assert_eq!(listed[0]["rank"], 1);
    assert_eq!(listed[2]["rank"].as_u64(), Some(3), "both others are distinguishably better");
    assert!(listed[0]["tied_with"].as_array().expect("names").iter().any(|name| name == &listed[1]["name"]));
    let compared = dir.wikitrail(&["compare", "results", "--json"]).ok().json();
    let mean = compared["metrics"][0]["means"].as_array().expect("means").iter().find(|mean| mean["column"] == "react");
    assert_eq!(listed[0]["em"], mean.expect("react")["mean"]);

    let noted = dir.wikitrail(&["note", "results/two", "first try", "--tag", "paper", "--tag", "paper"]).ok();
    assert_eq!(noted.stdout, "results/two: first try\ntags: paper\n");
    assert_eq!(dir.wikitrail(&["list", "--tag", "paper", "--json"]).ok().lines().len(), 2);
    assert_eq!(dir.wikitrail(&["list", "--grep", "FIRST TRY", "--json"]).ok().lines().len(), 2);
    assert_eq!(dir.wikitrail(&["list", "--grep", "lagent", "--json"]).ok().lines().len(), 1);
    let table = dir.wikitrail(&["list", "--sort", "name"]).ok().stdout;
    assert!(table.contains("react: first try") && table.contains("paper"), "{table}");
    let sorted = dir.wikitrail(&["list", "--sort", "name", "--json"]).ok().lines();
    assert_eq!(sorted[0]["run"], "results/deep/one");

    dir.wikitrail(&["note", "results/two", "--untag", "draft"])
        .refused(3, &["has no tag `draft`", "its tags are paper"]);
    dir.wikitrail(&["note", "results/two", "--tag", "a,b"]).refused(2, &["`a,b` is not a tag"]);
    dir.wikitrail(&["note", "results"]).refused(3, &["is not a run"]);
    dir.wikitrail(&["note", "results/two", "", "--untag", "paper"]).ok();
    let kept = dir.wikitrail(&["note", "results/two", "--json"]).ok().json();
    assert_eq!(kept, serde_json::json!({"v": 1, "tags": [], "note": ""}));
    assert!(dir.wikitrail(&["list", "--tag", "paper"]).ok().stderr.contains("no run matches"));
    // Scores and resuming know nothing of it.
    dir.wikitrail(&["run", "--resume", "--out", "results/two"]).ok();
    dir.write("results/two/notes.json", "{\"v\": 9}");
    dir.wikitrail(&["note", "results/two"]).refused(3, &["notes.json", "format version 9"]);
}
