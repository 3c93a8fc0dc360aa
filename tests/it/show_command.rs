//! `show` on real runs of the baseline: verdicts that agree with `score`, lists and their filters, two trajectories
//! beside one another, files of `ask --save`.

use crate::common::{self, Ran, WorkDir, lines};
use serde_json::Value;
use std::path::Path;

fn wikitrail(args: &[&str]) -> Ran {
    common::wikitrail(Path::new("."), args)
}

/// What the command prints; it must succeed.
fn show(args: &[&str]) -> String {
    wikitrail(&[&["show"], args].concat()).ok().stdout
}

/// A run of three methods over the sample, in a folder whose name holds what parts ids and variants.
fn run(dir: &Path) -> String {
    let out = dir.join("run:1@x").to_str().expect("UTF-8").to_owned();
    wikitrail(&["run", "--quiet", "--method", "act,react,standard", "--out", &out]).ok();
    out
}

#[test]
fn lists_and_verdicts_are_those_of_score() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = &*run(dir.path());
    let scored = wikitrail(&["score", run, "--json", "--per-item"]).json();
    let items = scored["items"].as_array().expect("items");
    let listed = lines(&show(&[run, "--json"]));
    assert_eq!(listed.len(), 180);
    for (item, shown) in items.iter().zip(&listed) {
        for field in ["id", "variant", "repeat", "outcome", "em", "f1", "failure", "grounding"] {
            assert_eq!(item[field], shown[field], "{field} of {item}");
        }
        assert_eq!(shown["right"], item["em"].as_f64().expect("EM") > 0.0);
    }
    let wrong = items.iter().filter(|item| item["em"] == 0.0);
    let expected: Vec<&str> =
        wrong.clone().filter(|item| item["variant"] == "act").map(|item| item["id"].as_str().expect("an id")).collect();
    let table = show(&[run, "--wrong", "--variant", "act"]);
    let ids: Vec<&str> = table
        .lines()
        .skip(1)
        .take_while(|line| *line != "next:")
        .map(|line| line.split_whitespace().next().expect("an id"))
        .collect();
    assert!(!ids.is_empty());
    assert_eq!(ids, expected);
    assert_eq!(show(&[&format!("{run}@act"), "--wrong"]), table);
    let of_class = |class: &str| wrong.clone().filter(|item| item["failure"]["class"] == class).count();
    for class in ["search", "lookup", "reasoning", "hallucination", "label", "loop", "format", "limit"] {
        assert_eq!(lines(&show(&[run, "--class", class, "--json"])).len(), of_class(class), "{class}");
    }
    assert!(of_class("hallucination") > 0 && of_class("search") > 0);
    assert_eq!(lines(&show(&[run, "--outcome", "finished", "--limit", "7", "--json"])).len(), 7);
    assert_eq!(lines(&show(&[run, "--outcome", "not_measured", "--json"])).len(), 0);
}

#[test]
fn an_episode_says_whether_it_is_right_and_why_not() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = &*run(dir.path());
    let listed = lines(&show(&[&format!("{run}@react"), "--json"]));
    let first = |right: bool| listed.iter().find(|item| item["right"] == right).expect("one");
    let page = show(&[&format!("{run}@react"), first(true)["id"].as_str().expect("an id")]);
    assert!(page.contains("verdict      right (EM 1, F1 1.00 by metric aliases)\n"), "{page}");
    assert!(!page.contains("\nfailure "), "{page}");
    let wrong = first(false);
    let id = wrong["id"].as_str().expect("an id");
    let page = show(&[&format!("{run}@react:{id}")]);
    assert!(page.contains("verdict      wrong (EM 0, F1 0.") && page.contains("\ngold  "), "{page}");
    let [class, evidence] = ["class", "evidence"].map(|name| wrong["failure"][name].as_str().expect("a text"));
    let said = format!("{class}: {evidence}");
    let unwrapped = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.contains(&said), "{said}: {page}");
    // Without a variant all three are shown, each under what names it alone.
    let all = wikitrail(&["show", run, id]);
    let headings: Vec<String> = all.stdout.lines().filter(|line| line.starts_with("━━ ")).map(str::to_owned).collect();
    let names = ["act", "react", "standard"].map(|variant| format!("{run}@{variant}:{id}"));
    assert_eq!(headings.len(), 3);
    assert!(headings.iter().zip(&names).all(|(heading, name)| heading.starts_with(&format!("━━ {name} "))));
    assert_eq!(all.stderr, format!("note: to print one variant only: {}\n", names.join(", ")));
    let apart: Vec<String> = names.iter().map(|name| show(&[name])).collect();
    let together: Vec<&str> = apart.iter().map(String::as_str).collect();
    let unheaded: String =
        all.stdout.lines().filter(|line| !line.starts_with("━━ ")).fold(String::new(), |all, line| all + line + "\n");
    assert_eq!(unheaded, together.join("\n"));
    assert_eq!(lines(&show(&[run, id, "--json", "--variant", "act"])).len(), 1);
}

#[test]
fn two_episodes_stand_beside_one_another() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = &*run(dir.path());
    let (a, b) = (format!("{run}@act:sample-004"), format!("{run}@react:sample-004"));
    let both: Value = serde_json::from_str(&show(&[&a, &b, "--json"])).expect("JSON");
    assert_eq!((&both["a"]["variant"], &both["b"]["variant"]), (&"act".into(), &"react".into()));
    let (step, part) = (&both["parted"]["step"], both["parted"]["part"].as_str().expect("a part"));
    let page = show(&[&a, &b, "--width", "140"]);
    assert!(page.contains(&format!("━━ step {step}: divergence in the {part} ━")), "{page}");
    assert!(page.lines().any(|line| line.contains("@act:sample-004 ") && line.contains("│")), "{page}");
    // The second id may be left out, and a narrow terminal has one above the other.
    let narrow = show(&[&a, &format!("{run}@react"), "--width", "80"]);
    assert!(narrow.contains("divergence   at step") && !narrow.contains('│'), "{narrow}");
    let same = show(&[&a, &a]);
    assert!(same.contains("none: same steps, same answer"), "{same}");
    let steps = both["a"]["steps"].as_array().expect("steps").len();
    assert_eq!(same.matches("the same in both").count(), steps);
}

#[test]
fn a_saved_conversation_is_readable() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("talk.jsonl");
    let file = file.to_str().expect("UTF-8");
    for question in ["Who composed Aida?", "Where is the Nile?"] {
        wikitrail(&["ask", question, "--model", "baseline", "--save", file]).ok();
    }
    let table = show(&[file]);
    assert!(table.lines().count() == 5 && table.contains("no gold") && table.contains("Who composed Aida?"), "{table}");
    let id = lines(&show(&[file, "--json"]))[0]["id"].as_str().expect("an id").to_owned();
    let page = show(&[file, &id]);
    assert!(page.contains("verdict      none: the question has no gold answer\n") && page.contains("Aida"), "{page}");
    assert_eq!(show(&[&format!("{file}:{id}")]), page);
}

#[test]
fn an_id_that_looks_like_a_flag_can_be_pasted() {
    let dir = WorkDir::new();
    dir.write("d.csv", "id,question,answer\n-1,Who?,Nobody\n");
    let printed = dir.run(&["d.csv", "--max-steps", "1", "--out", "r"]).ok().stdout;
    let command = printed.lines().map(str::trim).find(|line| line.starts_with("wikitrail show ")).expect("a command");
    let shown = common::shell(dir.root(), command).ok().stdout;
    assert!(shown.contains("-1 (variant main"), "{command}: {shown}");
}
