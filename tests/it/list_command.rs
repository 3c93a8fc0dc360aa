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
    // A note is the run's, so it is there once, under the name that the table has.
    assert_eq!(table.matches("first try").count(), 1, "{table}");
    assert!(
        table.contains("\n  two: first try\n") && table.contains(" two@react ") && table.contains("paper"),
        "{table}"
    );
    assert!(
        table.contains("\nin results/, ") && table.contains(" (UTC), model baseline, 60 episodes each\n"),
        "{table}"
    );
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
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

#[test]
fn one_run_takes_nothing_from_the_others() {
    let dir = WorkDir::new();
    dir.run(&["--out", "results/whole"]);
    dir.run(&["--limit", "40", "--out", "results/few"]);
    let em = |name: &str| {
        let all = dir.wikitrail(&["list", "--json"]).ok().lines();
        all.iter().find(|entry| entry["run"] == name).map(|entry| (entry["em"].clone(), entry["n"].clone()))
    };
    let whole = em("results/whole").expect("listed");
    assert_eq!((whole.1.as_u64(), em("results/few").expect("listed").1.as_u64()), (Some(60), Some(40)));
    let score = dir.wikitrail(&["score", "results/whole", "--json"]).ok().json();
    assert_eq!(whole.0, score["variants"][0]["em"], "its own score");
    dir.write("results/broken/manifest.json", "{");
    dir.write(
        "results/huge/manifest.json",
        dir.read("results/few/manifest.json").replace("\"selected\": 40", "\"selected\": 9223372036854775808"),
    );
    dir.write("results/huge/trajectories.jsonl", dir.read("results/few/trajectories.jsonl"));
    let listed = dir.wikitrail(&["list"]).ok();
    assert!(listed.stderr.contains("results/broken` is left out"), "{}", listed.stderr);
    assert_eq!(em("results/whole"), Some(whole));
    dir.wikitrail(&["list", "results/broken"]).refused(3, &["manifest.json"]);
    dir.write("results/few/notes.json", "[");
    assert!(dir.wikitrail(&["list", "--tag", "x"]).ok().stderr.contains("its notes are left out"));
}
