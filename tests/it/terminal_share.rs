//! What the terminal shows of a run: lists, prompts, flipped answers, short lines, and tables of any width.

use crate::common::sha256_hex;
use crate::common::{WorkDir, records};
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;
use wikitrail::run::Method;
use wikitrail::run::PROTOCOLS;

/// A run of the sample under two methods.
fn two() -> WorkDir {
    let dir = WorkDir::new();
    dir.wikitrail(&["run", "--quiet", "--method", "act,react", "--out", "two"]).ok();
    dir
}

#[test]
fn the_list_is_sorted_and_filtered_and_offers_a_failure() {
    let dir = two();
    let list = |args: &[&str]| dir.wikitrail(&[&["show", "two@react"], args].concat()).ok().stdout;
    let items = |args: &[&str]| dir.wikitrail(&[&["show", "two@react", "--json"], args].concat()).lines();
    let text = list(&["--width", "150"]);
    for heading in ["verdict", "class", "steps", "answer", "gold", "question"] {
        assert!(text.lines().next().expect("a header").contains(heading), "{heading}: {text}");
    }
    let all = items(&[]);
    let failed = all.iter().find(|item| item["right"] == false).expect("a failure");
    let next = format!("next:\n  wikitrail show two@react:{}\n", failed["id"].as_str().expect("an id"));
    assert!(text.ends_with(&next), "{text}");
    let f1: Vec<f64> = items(&["--sort", "f1"]).iter().map(|item| item["f1"].as_f64().expect("a score")).collect();
    assert!(f1.is_sorted() && f1.len() == all.len());
    let ids: Vec<String> = items(&["--sort", "id"]).iter().map(|item| item["id"].to_string()).collect();
    assert!(ids.is_sorted());
    let steps = |item: &Value| {
        let found = records(dir.path("two").to_str().expect("UTF-8"));
        let record = found.iter().find(|record| record["variant"] == "react" && record["id"] == item["id"]);
        record.expect("the record")["steps"].as_array().map_or(0, Vec::len)
    };
    let most: Vec<usize> = items(&["--sort", "steps", "--limit", "9"]).iter().map(steps).collect();
    assert!(
        most.is_sorted_by(|a, b| a >= b) && most.len() == 9 && most[0] == all.iter().map(steps).max().expect("one")
    );
    let (right, wrong) = (items(&["--right"]), items(&["--wrong"]));
    assert!(right.iter().all(|item| item["right"] == true) && wrong.iter().all(|item| item["right"] == false));
    assert_eq!(right.len() + wrong.len(), all.len());
    let said = |item: &Value| ["question", "gold", "answer"].map(|key| item[key].to_string().to_lowercase()).join(" ");
    let found = items(&["--grep", "NOBEL"]);
    assert!(!found.is_empty() && found.iter().all(|item| said(item).contains("nobel")), "{found:?}");
    for args in [&["score", "two"][..], &["run", "--limit", "2", "--out", "one"]] {
        let text = dir.wikitrail(args).ok().stdout;
        let id = text.lines().find_map(|line| line.trim().strip_prefix("wikitrail show ")).expect("a command");
        let (run, id) = id.split_once(' ').expect("a run and an id");
        let shown = dir.wikitrail(&["show", run, "--wrong", "--json"]).lines();
        assert_eq!(shown[0]["id"], id, "{text}");
    }
}

/// Every call of every protocol and method, with votes, back-off and native calls: the bytes have the recorded digest.
#[test]
fn the_exact_prompt_of_every_step_is_printed() {
    let dir = WorkDir::new();
    for (run, flags) in [("p", ["--protocol", &PROTOCOLS.join(",")]), ("m", ["--method", &Method::NAMES.join(",")])] {
        let samples = if run == "m" { &["--samples", "3"][..] } else { &[] };
        let more = ["--limit", "4", "--quiet", "--out", run];
        dir.wikitrail(&[&["run"], &flags[..], &more[..], samples].concat()).ok();
        let mut calls = 0;
        for record in
            records(dir.path(run).to_str().expect("UTF-8")).iter().filter(|record| record["index"].as_u64() < Some(2))
        {
            let name = format!("{run}@{}", record["variant"].as_str().expect("a name"));
            let id = record["id"].as_str().expect("an id");
            let recorded = record["steps"].as_array().expect("steps").iter();
            let recorded: Vec<_> = recorded.flat_map(|step| step["calls"].as_array().expect("calls")).collect();
            let prompts = dir.wikitrail(&["show", &name, id, "--prompt", "--json"]).lines();
            assert_eq!(prompts.len(), recorded.len(), "{name}");
            for (prompt, call) in prompts.iter().zip(&recorded) {
                assert_eq!(
                    (&prompt["prompt_sha256"], &prompt["same"]),
                    (&call["prompt_sha256"], &Value::Bool(true)),
                    "{name}"
                );
                let sent = prompt["text"].as_str().map_or_else(|| prompt["messages"].to_string(), str::to_owned);
                let digest = prompt["text"].as_str().map(|text| sha256_hex(text.as_bytes()));
                assert!(digest.is_none_or(|digest| call["prompt_sha256"] == digest), "{name}");
                assert!(
                    sent.contains(record["question"].as_str().expect("text").split('"').next().expect("a part")),
                    "{name}"
                );
            }
            calls += recorded.len();
        }
        assert!(calls > 30, "{calls}");
    }
    let text = dir.wikitrail(&["show", "p@tools:sample-002", "--prompt", "--step", "2"]).ok().stdout;
    for part in ["step 2, call 1", "as recorded", "[user]\n", "[assistant]\n", "[tool]\n", "[functions]\n"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("step 1, call"), "{text}");
    dir.wikitrail(&["show", "p@tools:sample-002", "--prompt", "--step", "99"])
        .refused(3, &["no call of a model at step 99"]);
    dir.wikitrail(&["show", "p@tools", "--prompt"]).refused(2, &["--prompt is about one episode"]);
}

#[test]
fn exports_carry_the_prompts() {
    let dir = WorkDir::new();
    dir.wikitrail(&["run", "--quiet", "--protocol", "react-paper,tools", "--limit", "6", "--out", "r"]).ok();
    let export = |args: &[&str]| dir.wikitrail(&[&["export", "r", "--with-prompts"], args].concat());
    for line in export(&["--format", "jsonl"]).lines() {
        let calls: usize = line["steps"]
            .as_array()
            .expect("steps")
            .iter()
            .map(|step| step["calls"].as_array().map_or(0, Vec::len))
            .sum();
        let prompts = line["prompts"].as_array().expect("prompts");
        assert!(prompts.len() == calls && prompts.iter().all(|prompt| prompt["same"] == true), "{line}");
    }
    let chat = export(&["--format", "chat", "--min-f1", "0"]).lines();
    assert!(
        chat.iter().all(|line| line["id"].is_string() && line["prompts"].as_array().is_some_and(|all| !all.is_empty()))
    );
    let steps = export(&["--rows", "steps", "--raw"]).ok().stdout;
    let mut table = csv::Reader::from_reader(steps.as_bytes());
    let rows: Vec<std::collections::BTreeMap<String, String>> =
        table.deserialize().map(|row| row.expect("a row")).collect();
    let with_call: Vec<_> = rows.iter().filter(|row| row["calls"] != "0").collect();
    assert!(with_call.len() > 10);
    for row in with_call {
        assert_eq!(sha256_hex(row["prompt_text"].as_bytes()), row["prompt_sha256"]);
    }
    export(&[]).refused(2, &["--with-prompts applies to steps"]);
}

/// Lines of tables are as wide as the terminal at most; sentences and commands are not laid out.
#[test]
fn tables_fit_the_terminal() {
    let dir = WorkDir::new();
    dir.wikitrail(&["run", "--quiet", "--method", "react,cot-sc->react,act", "--samples", "3", "--out", "many"]).ok();
    dir.write("c.jsonl", "{\"id\": \"1\", \"title\": \"Ada\", \"text\": \"Ada was here.\"}\n");
    dir.wikitrail(&["corpus", "build", "--from", "c.jsonl", "corpus"]).ok();
    let commands: [&[&str]; 7] = [
        &["score", "many"],
        &["run", "--limit", "3", "--method", "react,cot-sc->react", "--samples", "3", "--out"],
        &["compare", "many", "--flips", "--mde", "--by", "type"],
        &["show", "many"],
        &["show", "many@react:sample-002"],
        &["dataset", "info", "datasets/sample.jsonl"],
        &["corpus", "info", "corpus"],
    ];
    for width in [60, 80, 120] {
        for args in commands {
            let mut args = args.to_vec();
            let out = format!("run-{width}");
            if args.last() == Some(&"--out") {
                args.push(&out);
            }
            let output = dir.command(&args).env("COLUMNS", width.to_string()).output().expect("wikitrail runs");
            let text = String::from_utf8(output.stdout).expect("UTF-8");
            assert!(output.status.success() && text.lines().count() > 5, "{args:?}: {text}");
            let laid_out = |line: &&str| {
                !line.contains("wikitrail ")
                    && !["sha256 ", " wt1:"].iter().any(|digest| line.contains(digest))
                    && (line.starts_with(' ') || line.starts_with('─'))
            };
            let wide: Vec<&str> =
                text.lines().filter(laid_out).filter(|line| line.trim_end().width() > width).collect();
            assert!(wide.is_empty(), "{args:?} at {width}: {wide:#?}\n{text}");
        }
    }
}
