//! A holdout that stays one: the ledger of looks, and differences on it beside those on the development part.

use crate::common::{Ran, WorkDir, lines};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const LEDGER: &str = "lists/holdout.looks.jsonl";

/// A split of the sample, and a run of two variants over each part.
fn split() -> WorkDir {
    let folder = WorkDir::new();
    folder.write("data.jsonl", crate::common::repository("datasets/sample.jsonl"));
    folder.wikitrail(&["dataset", "split", "data.jsonl", "--holdout", "20", "--seed", "7", "--out", "lists"]).ok();
    run(&folder, "hold", &["--ids", "lists/holdout.ids", "--method", "standard,react"]);
    run(&folder, "dev", &["--ids", "lists/development.ids", "--method", "standard,react"]);
    folder
}

fn run(folder: &WorkDir, name: &str, flags: &[&str]) {
    folder.wikitrail(&[&["run", "data.jsonl", "--quiet", "--out", name], flags].concat()).ok();
}

fn compare(folder: &WorkDir, args: &[&str]) -> Ran {
    folder.wikitrail(&[&["compare"], args].concat())
}

fn holdout(folder: &WorkDir, args: &[&str]) -> Value {
    let compared: Value =
        serde_json::from_str(&compare(folder, &[args, &["--json"]].concat()).ok().stdout).expect("JSON");
    compared["holdout"].clone()
}

/// Looks, and whether this one is new.
fn looks(folder: &WorkDir, args: &[&str]) -> (Value, Value) {
    let holdout = holdout(folder, args);
    (holdout["looks"].clone(), holdout["new"].clone())
}

#[test]
fn a_look_is_noted_once_and_a_new_prompt_is_another_one() {
    let folder = split();
    assert_eq!(folder.manifest("hold")["dataset"]["ids_file"], "lists/holdout.ids");
    let first = compare(&folder, &["hold", "--format", "markdown"]).ok();
    for text in [&first.stdout, &first.stderr] {
        assert!(text.contains("looked at once for this family of prompts (20"), "{text}");
    }
    assert_eq!(looks(&folder, &["hold", "--metric", "steps"]), (json!(1), json!(false)));
    assert_eq!(looks(&folder, &["hold@react", "hold@standard"]), (json!(1), json!(false)));
    run(&folder, "more", &["--ids", "lists/holdout.ids", "--method", "react", "--shots", "3"]);
    assert_eq!(looks(&folder, &["hold@standard", "more"]), (json!(2), json!(true)));
    let again = compare(&folder, &["hold", "more", "--contrast", "standard", "more/react"]).ok();
    let sentence = "looked at 2 times for this family of prompts (first 20";
    assert!(again.stdout.contains(sentence) && again.stdout.contains("too small"), "{}", again.stdout);
    let noted = lines(&folder.read(LEDGER));
    let variants: Vec<_> = noted.iter().map(|look| look["variants"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!((variants, &noted[1]["questions"]), (vec![2, 2], &json!(20)));
    assert_eq!(noted[1]["variants"][1]["prompt_sha256"], folder.manifest("more")["variants"][0]["prompt_sha256"]);
    // The same prompt, run again, is another draw; lines that two processes wrote at once count once.
    run(&folder, "again", &["--ids", "lists/holdout.ids", "--method", "react"]);
    assert_eq!(looks(&folder, &["again", "hold@standard"]), (json!(3), json!(true)));
    let text = folder.read(LEDGER);
    folder.write(LEDGER, format!("{text}{}\n", text.lines().last().expect("a line")));
    assert_eq!(looks(&folder, &["hold"]), (json!(3), json!(false)));
    // Of the development part nothing is noted.
    assert_eq!(holdout(&folder, &["dev"]), Value::Null);
    assert_eq!(folder.read(LEDGER).lines().count(), 4);
}

/// Whoever has the file has the figures, and `compare --from-csv` of it knows no run.
#[test]
fn an_export_of_a_holdout_is_a_look() {
    let folder = split();
    let export = |args: &[&str]| folder.wikitrail(&[&["export"], args].concat()).ok();
    let first = export(&["hold", "--variant", "react", "--out", "react.csv"]);
    for words in [
        "note: this export is a look at the holdout `lists/holdout.ids`",
        "holdout: looked at once for this family of prompts (20",
    ] {
        assert!(first.stderr.contains(words), "{}", first.stderr);
    }
    // The same variant again, in another format, is none; another one is.
    let again = export(&["hold", "--variant", "react", "--format", "jsonl"]);
    assert!(again.stderr.contains("looked at once"), "{}", again.stderr);
    let both = export(&["hold", "dev", "--out", "both.csv"]);
    assert!(both.stderr.contains("looked at 2 times") && both.stderr.contains("too small"), "{}", both.stderr);
    assert!(export(&["hold", "--format", "hf", "--out", "hub"]).stderr.contains("looked at 2 times"));
    let noted = lines(&folder.read(LEDGER));
    let variants: Vec<_> = noted.iter().map(|look| look["variants"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!((variants, &noted[1]["questions"], &noted[1]["metrics"]), (vec![1, 2], &json!(20), &json!(["export"])));
    // What was exported is known to `compare`.
    assert_eq!(looks(&folder, &["hold"]), (json!(2), json!(false)));
    let ran = compare(&folder, &["--from-csv", "both.csv", "--metric", "em"]).ok();
    assert!(!ran.stderr.contains("holdout") && folder.read(LEDGER).lines().count() == 2, "{}", ran.stderr);
    assert!(!export(&["dev", "--out", "dev.csv"]).stderr.contains("holdout"));
    // A file that cannot be written shows nothing to anybody.
    run(&folder, "more", &["--ids", "lists/holdout.ids", "--method", "cot"]);
    assert_eq!(folder.wikitrail(&["export", "more", "--out", "nowhere/x.csv"]).code, Some(1));
    assert_eq!(folder.read(LEDGER).lines().count(), 2);
    std::fs::remove_file(folder.path("lists/holdout.ids")).expect("removed");
    let lost = export(&["more", "--out", "more.csv"]);
    assert!(lost.stderr.contains("if they are the holdout of a split, this look is not counted"), "{}", lost.stderr);
}

/// A run may come from somebody else.
#[test]
fn a_recorded_path_steers_no_write() {
    let folder = split();
    let of_list = |path: &str, text: String| {
        folder.write(path, text);
        let mut manifest = folder.manifest("hold");
        manifest["dataset"]["ids_file"] = json!(path);
        folder.write("hold/manifest.json", manifest.to_string());
        let before = names(&folder);
        assert_eq!(holdout(&folder, &["hold"]), Value::Null, "{path}");
        assert_eq!(names(&folder), before);
    };
    let list = folder.read("lists/holdout.ids");
    let bare: String = list.lines().filter(|line| !line.starts_with('#')).flat_map(|id| [id, "\n"]).collect();
    of_list("victim.txt", "a diary\n".to_owned());
    of_list("bare.ids", bare.clone());
    of_list("longer.ids", format!("{list}one-more\n"));
    of_list("development.ids", list.replace("# holdout:", "# development:"));
    of_list("lists2.ids", folder.read("lists/development.ids").replace("# development:", "# holdout:"));
    of_list("other.ids", list.replacen("file: ", "file: 0", 1));
    // What the command names is checked, too, and what the record does not lead to can be named.
    for (name, error) in [
        ("bare.ids", "is not the holdout of a split"),
        ("other.ids", "is the holdout of another dataset file"),
        ("none.ids", "cannot read `none.ids`: No such file"),
        ("lists", "cannot read `lists`: it is not a regular file"),
        ("lists2.ids", "no compared question is in the holdout"),
    ] {
        compare(&folder, &["hold", "--holdout", name]).refused(3, &[error, "hint: "]);
    }
    assert_eq!(looks(&folder, &["hold", "--holdout", "lists/holdout.ids"]), (json!(1), json!(true)));
}

fn names(folder: &WorkDir) -> Vec<String> {
    let read = |path| std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut names: Vec<String> = read(folder.root().to_owned())
        .chain(read(folder.path("lists")))
        .map(|path| path.display().to_string())
        .collect();
    names.sort();
    names
}

#[test]
fn a_ledger_that_cannot_be_written_is_a_warning_and_links_are_not_followed() {
    let folder = split();
    std::fs::create_dir(folder.path(LEDGER)).expect("created");
    let ran = compare(&folder, &["hold"]).ok();
    assert!(ran.stderr.contains("warning: this look at the holdout was not noted: cannot "), "{}", ran.stderr);
    assert!(ran.stdout.contains("holdout: looked at once"), "{}", ran.stdout);
    std::fs::remove_dir(folder.path(LEDGER)).expect("removed");
    folder.write("victim", "mine\n");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../victim", folder.path(LEDGER)).expect("linked");
        let ran = compare(&folder, &["hold"]).ok();
        assert!(ran.stderr.contains("it is a symbolic link"), "{}", ran.stderr);
        assert_eq!(folder.read("victim"), "mine\n");
        std::fs::remove_file(folder.path(LEDGER)).expect("removed");
    }
    folder.write(LEDGER, "no look\n{\"v\": 2}\n");
    let ran = compare(&folder, &["hold"]).ok();
    let said = "2 looks at the holdout cannot be counted, the first at lists/holdout.looks.jsonl:1: ";
    assert_eq!(ran.stderr.matches(said).count(), 1, "{}", ran.stderr);
    std::fs::remove_file(folder.path("lists/holdout.ids")).expect("removed");
    assert_eq!(holdout(&folder, &["hold"]), Value::Null);
}

/// Mean EM of a variant, from the records.
fn mean(folder: &WorkDir, run: &str, variant: &str) -> f64 {
    let em: Vec<f64> = folder
        .records(run)
        .iter()
        .filter(|record| record["variant"] == variant)
        .map(crate::compare_support::em)
        .collect();
    em.iter().sum::<f64>() / f64::from(u32::try_from(em.len()).expect("few"))
}

#[test]
fn the_difference_on_the_holdout_comes_with_that_on_the_development_part() {
    let folder = split();
    let held = holdout(&folder, &["hold", "--dev", "dev"]);
    let pair = &held["pairs"][0];
    assert_eq!((&pair["metric"]["name"], &pair["a"], &pair["b"]), (&json!("em"), &json!("standard"), &json!("react")));
    assert_eq!((&pair["holdout"]["n"], &pair["development"]["n"]), (&json!(20), &json!(40)));
    let expected: BTreeMap<&str, f64> = [("hold", "holdout"), ("dev", "development")]
        .map(|(run, part)| (part, mean(&folder, run, "react") - mean(&folder, run, "standard")))
        .into();
    let close = |value: &Value, expected: f64| (value.as_f64().expect("a number") - expected).abs() < 1e-12;
    for (part, expected) in &expected {
        assert!(close(&pair[part]["difference"], *expected), "{part}: {pair}");
    }
    assert!(close(&pair["optimism"], expected["development"] - expected["holdout"]), "{pair}");
    let ends = ["low", "high"].map(|end| pair["optimism_interval"][end].as_f64().expect("an end"));
    assert!(pair["optimism"].as_f64().is_some_and(|found| ends[0] < found && found < ends[1]), "{pair}");
    let sentence = pair["sentence"].as_str().expect("a sentence");
    let shown = ends.map(|end| format!("{:+.1}", 100.0 * end)).join(", ");
    assert!(sentence.ends_with(&format!(" [{shown}])")), "{sentence}");
    assert!(sentence.starts_with("holdout: react − standard ") && sentence.contains(" points EM ["), "{sentence}");
    for format in ["table", "markdown", "latex"] {
        let ran = compare(&folder, &["hold", "--dev", "dev", "--format", format]).ok();
        // A table on stdout has it, and once is enough.
        assert_eq!(ran.stderr.contains(sentence), format != "table", "{}", ran.stderr);
        let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["on 20 questions; on the 40 questions of the development part it was", "(optimism "] {
            assert!(text.contains(part), "{format}, {part}: {text}");
        }
    }
}

/// The rule of the run on the holdout says nothing about the development part, and what it says is a confidence sequence.
#[test]
fn a_rule_on_the_holdout_is_not_one_on_the_development_part() {
    let folder = split();
    let plain = holdout(&folder, &["hold", "--dev", "dev"])["pairs"][0]["development"].clone();
    run(
        &folder,
        "ruled",
        &[
            "--ids",
            "lists/holdout.ids",
            "--method",
            "standard,react",
            "--stop-when",
            "decided(em, standard, react, 0.2)",
        ],
    );
    let held = holdout(&folder, &["ruled", "--dev", "dev", "--metric", "em,f1"]);
    let (em, f1) = (&held["pairs"][0], &held["pairs"][1]);
    assert_eq!(em["development"], plain);
    assert_eq!(em["holdout"]["interval"]["method"], "confidence sequence");
    let sentence = em["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains(" points EM, 80 % confidence sequence ["), "{sentence}");
    assert_eq!(f1["holdout"]["stopped_by"], "decided(em, standard, react, 0.2)");
    let sentence = f1["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains("(not valid at its nominal level, as the run had the rule decided("), "{sentence}");
}

#[test]
fn a_look_that_cannot_be_counted_or_was_not_shown_is_said() {
    let folder = split();
    // Nobody saw the figures.
    compare(&folder, &["hold", "--out", "none/x.md"]).refused(1, &["none/x.md"]);
    assert!(!folder.path(LEDGER).exists());
    std::fs::rename(folder.path("lists"), folder.path("moved")).expect("moved");
    let ran = compare(&folder, &["hold"]).ok();
    let said = "`lists/holdout.ids`, the list of the run's questions, cannot be read here";
    assert!(ran.stderr.contains(said) && ran.stderr.contains("--holdout FILE"), "{}", ran.stderr);
    let ran = compare(&folder, &["hold", "--holdout", "moved/holdout.ids"]).ok();
    assert!(!ran.stderr.contains("warning: "), "{}", ran.stderr);
    #[cfg(unix)]
    {
        std::fs::create_dir(folder.path("lists")).expect("created");
        let made = std::process::Command::new("mkfifo").arg(folder.path("lists/holdout.ids")).status();
        assert!(made.expect("mkfifo").success());
        let ran = compare(&folder, &["hold"]).ok();
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        std::fs::remove_dir_all(folder.path("lists")).expect("removed");
    }
    let list = folder.read("moved/holdout.ids");
    std::fs::create_dir(folder.path("lists")).expect("created");
    folder.write("lists/holdout.ids", format!("{list}one-more\n"));
    let ran = compare(&folder, &["hold"]).ok();
    assert!(ran.stderr.contains("was changed since it was drawn"), "{}", ran.stderr);
}

#[test]
fn the_parts_of_a_split_are_not_pooled() {
    let folder = split();
    compare(&folder, &["dev@standard", "hold@react"]).refused(3, &["--dev DEVELOPMENT_RUN"]);
    compare(&folder, &["hold", "--dev", "hold"])
        .refused(3, &["was asked 20 questions of the holdout", "development.ids"]);
    compare(&folder, &["dev", "--dev", "dev"]).refused(3, &["not over a holdout", "--holdout FILE"]);
    run(&folder, "all", &["--method", "standard,react"]);
    let ran = compare(&folder, &["all", "--holdout", "lists/holdout.ids"]).ok();
    let warning = "20 questions of the holdout `lists/holdout.ids` and 40 others are compared together";
    assert!(ran.stderr.contains(warning) && ran.stdout.contains("40 others"), "{}{}", ran.stderr, ran.stdout);
    compare(&folder, &["all", "--holdout", "lists/holdout.ids", "--dev", "dev"])
        .refused(3, &["40 of the compared questions are not in the holdout"]);
    // Another prompt under the same name is another variant.
    run(&folder, "shots", &["--ids", "lists/development.ids", "--method", "standard,react", "--shots", "3"]);
    compare(&folder, &["hold", "--dev", "shots"])
        .refused(3, &["is not among the development runs with this prompt", "--contrast A B"]);
    compare(&folder, &["hold", "--dev", "dev", "dev", "shots"]).refused(3, &["several times", "--dev RUN@VARIANT"]);
}
