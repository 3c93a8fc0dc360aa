//! `annotate`: judgements in the terminal and from files, and what `score`, `export` and `merge` make of them.

use crate::common::{Ran, WorkDir, lines, notebook, read};
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::Stdio;

/// Judges with these lines as a person's keys.
fn typed(dir: &WorkDir, args: &[&str], keys: &str) -> Ran {
    let mut command = dir.command(&[&["annotate", "r"], args].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    // The program may end before it has read all.
    let _ = child.stdin.take().expect("a pipe").write_all(keys.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn annotations(dir: &WorkDir) -> Vec<Value> {
    lines(&read(dir.path("r/annotations.jsonl")))
}

/// The ids in the order in which they were shown.
fn shown(ran: &Ran) -> Vec<String> {
    let id = |line: &str| line.trim().strip_prefix("id ")?.trim().split(' ').next().map(str::to_owned);
    ran.stdout.lines().filter_map(id).collect()
}

#[test]
fn verdicts_are_hidden_until_an_episode_is_judged_and_a_session_goes_on_where_it_was() {
    let dir = notebook::half_right();
    let first =
        typed(&dir, &["--by", "anna", "--sample", "4", "--seed", "3"], "s 1 never opened\nwhat\n\nk 9\n?\n-\ny\nq\n")
            .ok();
    let (before, after) = first.stdout.split_once("rules: ").expect("judged");
    assert!(["verdict", "wrong (EM", "failure"].iter().all(|word| !before.contains(word)), "{before}");
    // After the steps, so that they are in sight above the prompt.
    let (_, below) = before.rsplit_once("── to judge ─").expect("what is judged");
    let labels: Vec<&str> =
        below.lines().filter_map(|line| line.split("  ").next().filter(|label| !label.is_empty())).collect();
    assert_eq!(labels[1..], ["question", "gold", "answer", "keys"], "{below}");
    assert!(below.lines().skip(1).all(|line| line.chars().count() <= 80), "{below}");
    assert!(!first.stdout.contains("reward"), "{}", first.stdout);
    assert!(after.contains("gold-wrong") && first.stdout.contains("2 episodes judged, 2 left\n"), "{}", first.stdout);
    assert!(first.stdout.contains("  wikitrail annotate r --sample 4 --seed 3 --by anna\n"), "{}", first.stdout);
    for message in ["4 episodes, judged by anna", "`what` is neither a key", "the episode has 2 steps, and no step 9"] {
        assert!(first.stderr.contains(message), "{message}: {}", first.stderr);
    }
    let all = annotations(&dir);
    assert_eq!(all.len(), 2);
    let Value::Object(one) = &all[0] else { panic!("{all:?}") };
    assert_eq!(
        one.keys().map(String::as_str).collect::<std::collections::BTreeSet<_>>(),
        "at blind by class correct id key note page_sha256 repeat step v variant".split(' ').collect()
    );
    assert_eq!((&one["by"], &one["class"], &one["correct"]), (&json!("anna"), &json!("search"), &json!(false)));
    assert_eq!((&one["step"], &one["note"], &one["blind"]), (&json!(1), &json!("never opened"), &json!(true)));
    assert_eq!(all[1]["correct"], true);
    let ids = shown(&first);
    assert_eq!(ids.len(), 4);
    // Those that were judged are passed over, and the one that was skipped comes again.
    let second = typed(&dir, &["--by", "anna", "--sample", "4", "--seed", "3"], "n\nb\nl\nn\n").ok();
    assert!(second.stderr.contains("2 of them before, 2 left"), "{}", second.stderr);
    assert_eq!(shown(&second), [&ids[1], &ids[3], &ids[1], &ids[3]].map(String::clone));
    let blind: Vec<Value> = annotations(&dir)[2..].iter().map(|one| one["blind"].clone()).collect();
    assert_eq!(blind, [true, false, true]);
    assert!(second.stdout.contains("2 episodes judged, 0 left\nnext:\n  wikitrail score r\n"), "{}", second.stdout);
    // Everybody else judges the same ones.
    let ben = typed(&dir, &["--by", "ben", "--sample", "4", "--seed", "3"], "-\n-\n-\n-\n").ok();
    assert_eq!(shown(&ben), ids);
}

#[test]
fn a_sample_has_right_and_wrong_ones_alike() {
    let dir = notebook::half_right();
    let keys = "-\n".repeat(20);
    let right = |ran: &Ran| {
        let number = |id: &String| id.split('/').nth(1).and_then(|n| n.parse::<usize>().ok()).expect("a number");
        shown(ran).iter().filter(|id| number(id) % 2 == 0).count()
    };
    let six = typed(&dir, &["--by", "anna", "--sample", "6"], &keys).ok();
    assert_eq!((shown(&six).len(), right(&six)), (6, 3));
    let all = typed(&dir, &["--by", "anna", "--stratify", "class,type,meta.x"], &keys).ok();
    assert_eq!(shown(&all).len(), 12);
    let colour = typed(&dir, &["--by", "anna", "--stratify", "colour"], "");
    assert!(colour.code == Some(2) && colour.stderr.contains("fields are em, variant"), "{}", colour.stderr);
    typed(&dir, &["--by", "a|b"], "").refused(2, &["--by is not a name"]);
    dir.wikitrail(&["annotate", "none", "--by", "a"]).refused(3, &["`none` is not a run"]);
    dir.wikitrail(&["annotate", "e.jsonl", "--by", "a"]).refused(2, &["file of trajectories"]);
}

#[test]
fn score_sets_people_beside_the_rules_and_each_other() {
    let dir = notebook::half_right();
    let before = dir.wikitrail(&["score", "r"]).ok();
    assert!(!before.stdout.contains("judged by"), "{}", before.stdout);
    let rows = "id,by,correct,class,note\n\
                e/1,anna,no,reasoning,\ne/3,anna,no,search,\ne/5,anna,yes,label,\ne/0,anna,yes,,\ne/2,anna,no,,lucky\n\
                e/1,ben,no,reasoning,\ne/3,ben,no,reasoning,\ne/0,ben,yes,,\ne/77,ben,yes,,\n";
    dir.write("rows.csv", rows);
    let imported = dir.wikitrail(&["annotate", "r", "--import", "rows.csv"]).ok();
    assert!(imported.stdout.starts_with("r: 8 judgements taken, 1 not taken\n"), "{}", imported.stdout);
    assert!(imported.stderr.contains("rows.csv:10: this run has no episode of question `e/77`"), "{}", imported.stderr);
    let mut file = std::fs::File::options().append(true).open(dir.path("r/annotations.jsonl")).expect("there");
    let foreign =
        read(dir.path("r/annotations.jsonl")).lines().next().expect("a line").replace("\"key\":\"", "\"key\":\"x");
    file.write_all(format!("{foreign}\nnot one\n").as_bytes()).expect("written");
    let ran = dir.wikitrail(&["score", "r"]).ok();
    for part in [
        "judged by anna: 5 episodes, 5 of them in sight of the rules' verdict, or unknown\n",
        "failure classes, rules against anna:\n  agree on 1 of 3 (33.3 %), κ ",
        "right or wrong, metric against anna:\n  agree on 3 of 5 (60.0 %), κ ",
        "2 disagreements of rules and anna:\n  reasoning     search        wikitrail show r e/3\n",
        "failure classes, anna against ben:\n  agree on 1 of 2 (50.0 %), κ ",
        "1 disagreement of anna and ben:\n  search        reasoning     wikitrail show r e/3\n",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    assert!(ran.stderr.contains("annotations.jsonl:10: not a judgement"), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 judgement in annotations.jsonl on episodes that this run does not have"));
    let value = dir.wikitrail(&["score", "r", "--json"]).json();
    assert!(value.get("items").is_none());
    let said = &value["annotations"];
    assert_eq!(said["people"].as_array().map(Vec::len), Some(2));
    let classes = &said["people"][0]["classes"];
    assert_eq!(classes["confusion"], json!([[0, 0, 0], [1, 1, 1], [0, 0, 0]]));
    assert_eq!(classes["words"][1]["precision"], json!(1.0 / 3.0));
    assert_eq!(classes["disagreements"][0]["command"], "wikitrail show r e/3");
    assert_eq!((&said["foreign"][0]["id"], &said["level"]), (&json!("e/1"), &json!(0.95)));
    // Five judged episodes are the fewest with an interval, three have none.
    let correct = &said["people"][0]["correct"];
    let end = |name: &str| correct["kappa"]["interval"][name].as_f64().expect("an end");
    assert!(end("low") < 0.0 && end("high") > 0.5, "{correct}");
    assert!(classes["ac1"]["value"].is_number() && classes["ac1"]["interval"].is_null(), "{classes}");
}

#[test]
fn exports_and_merged_folders_keep_what_people_said() {
    let dir = notebook::half_right();
    dir.write("a.csv", "id,by,correct,class,step\ne/1,anna,no,search,2\ne/1,ben,,,\ne/1,cleo,yes,,\n");
    dir.wikitrail(&["annotate", "r", "--import", "a.csv"]).ok();
    dir.wikitrail(&["annotate", "r", "--import", "r/annotations.jsonl"]).ok();
    assert_eq!(annotations(&dir).len(), 2);
    dir.wikitrail(&["merge", "r", "--out", "m"]).ok();
    assert_eq!(read(dir.path("m/annotations.jsonl")), read(dir.path("r/annotations.jsonl")));
    let lines = dir.wikitrail(&["export", "m", "--format", "jsonl"]).ok().lines();
    let judged: Vec<&Value> = lines.iter().filter(|line| line.get("annotations").is_some()).collect();
    assert_eq!((judged.len(), &judged[0]["id"]), (1, &json!("e/1")));
    assert_eq!(judged[0]["annotations"][1]["by"], "cleo");
    let table = dir.wikitrail(&["export", "m", "--format", "csv"]).ok().stdout;
    assert!(table.contains("anna|cleo,false|true,search|,2|,"), "{table}");
    dir.wikitrail(&["export", "m", "--out", "m/annotations.jsonl"]).refused(2, &["is a file of a run"]);
}

#[test]
fn what_was_said_is_imported_once_and_a_withdrawal_with_it() {
    let dir = notebook::half_right();
    let line = |at: u32, class: Value| {
        let at = format!("2026-11-22T20:00:0{at}Z");
        json!({"v": 1, "id": "e/1", "by": "ann", "at": at, "class": class, "blind": true}).to_string() + "\n"
    };
    dir.write("said.jsonl", line(1, json!("search")) + &line(2, json!("lookup")) + &line(3, Value::Null));
    let import = || dir.wikitrail(&["annotate", "r", "--import", "said.jsonl"]).ok().stdout;
    assert!(import().contains("3 judgements taken"));
    assert_eq!(
        dir.wikitrail(&["score", "r", "--json"]).ok().json()["annotations"]["people"].as_array().map_or(0, Vec::len),
        0
    );
    let again = import();
    assert!(again.contains("3 there already"), "{again}");
    assert_eq!(annotations(&dir).len(), 3);
    dir.write("twice.csv", "id,by,class\ne/3,bob,search\ne/3,bob,search\n");
    dir.wikitrail(&["annotate", "r", "--import", "twice.csv"]).ok();
    assert_eq!(annotations(&dir).len(), 4, "one of two equal rows");
}

#[test]
fn a_person_without_a_name_is_asked_for_one() {
    let dir = notebook::half_right();
    let mut command = dir.command(&["annotate", "r"]);
    for name in ["USER", "LOGNAME", "USERNAME"] {
        command.env_remove(name);
    }
    let output = command.output().expect("it runs");
    Ran::from(&output).refused(2, &["the judgements need a name: --by is missing"]);
}

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
        let all = lines(&read(dir.path(&format!("{run}/annotations.jsonl"))));
        assert_eq!((all.len(), &all[0]["correct"], &all[0]["variant"]), (1, &json!(correct), &json!("main")));
    }
}
