//! Another model, prompt or protocol from a step on, and where an episode parts from a right one.

use super::{of, run};
use crate::common::server::{self, Server};
use crate::common::{self, WorkDir};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A server whose models search Copenhagen, and then answer with their name.
fn two_models() -> Server {
    Server::start(|_, request, stream| {
        let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").expect("a body").1).expect("JSON");
        let model = body["model"].as_str().expect("a name");
        let action = if request.contains("Could not find Copenhagen") {
            format!("Finish[{model}]")
        } else {
            "Search[Copenhagen]".to_owned()
        };
        let message = json!({"content": format!("Thought: I go on.\nAction: {action}")});
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 5});
        server::json(stream, &json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}));
    })
}

fn bodies(server: &Server, skip: usize) -> Vec<Value> {
    let body =
        |request: &String| serde_json::from_str(request.split_once("\r\n\r\n").expect("a body").1).expect("JSON");
    server.requests().iter().skip(skip).map(body).collect()
}

#[test]
fn another_model_goes_on_beside_the_old_one_with_the_same_settings() {
    let (dir, server) = (WorkDir::new(), two_models());
    let base = format!("{}/v1", server.url);
    let model = ["--model", "openai:one", "--base-url", &base, "--seed", "7", "--temperature", "0.5", "--price", "1/2"];
    dir.wikitrail(&[&["run", "--quiet", "--limit", "3", "--out", "r"][..], &model].concat()).ok();
    let before = server.requests().len();
    let flags =
        ["branch", "r", "--wrong", "--at", "2", "--model", "openai:two", "--repeats", "2", "--quiet", "--out", "b"];
    dir.wikitrail(&flags).refused(2, &["--confirm"]);
    let ran = dir.wikitrail(&[&flags[..], &["--confirm"]].concat()).ok();
    assert!(ran.stderr.contains("note: no placebo exists for another model"), "{}", ran.stderr);
    let mut seeds: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for body in bodies(&server, before) {
        assert_eq!(body["temperature"], 0.5);
        let of = seeds.entry(body["model"].as_str().expect("a name").to_owned()).or_default();
        of.push(body["seed"].as_u64().expect("a seed"));
    }
    for of in seeds.values_mut() {
        of.sort_unstable();
    }
    let each = vec![1007, 1007, 1007, 2007, 2007, 2007];
    assert_eq!(seeds, BTreeMap::from([("one".to_owned(), each.clone()), ("two".to_owned(), each)]));
    let records = common::records(dir.path("b"));
    assert_eq!(records.len(), 12);
    for record in &records {
        let goes_on = if record["variant"] == "control" { "one" } else { "two" };
        assert_eq!(record["answer"], goes_on);
        // One call was copied, one was made.
        assert_eq!((&record["usage"]["prompt_tokens"], &record["usage"]["completion_tokens"]), (&json!(10), &json!(5)));
        assert_eq!(record["cost_usd"].as_f64(), Some(2e-5));
    }
    let manifest = common::manifest(dir.path("b"));
    assert_eq!(
        (&manifest["variants"][0]["model"], &manifest["variants"][1]["model"]),
        (&json!("openai:one"), &json!("openai:two"))
    );
    // Where nothing is left to ask, nothing is paid.
    let end = ["branch", "r:sample-001", "--at", "2", "--action", "Finish[x]", "--quiet", "--out", "e", "--confirm"];
    dir.wikitrail(&end).ok();
    let records = common::records(dir.path("e"));
    let edited = of(&records, "edited")[0];
    assert_eq!((&edited["usage"]["prompt_tokens"], &edited["cost_usd"]), (&json!(0), &json!(0.0)));
}

#[test]
fn another_prompt_goes_on_beside_the_old_one() {
    let dir = run();
    let set = ["branch", "r", "--class", "search", "--at", "last-search", "--prompt", "prompts/fever.toml", "--quiet"];
    dir.wikitrail(&[&set[..], &["--out", "b"]].concat()).ok();
    let prompts = |run: &str| -> Vec<String> {
        let variants = common::manifest(dir.path(run))["variants"].clone();
        variants.as_array().expect("variants").iter().map(|own| own["prompt_sha256"].to_string()).collect()
    };
    let [control, edited, placebo] = &prompts("b")[..] else { panic!("three variants") };
    // The placebo has the same prompt, with other white space.
    assert_eq!(control, placebo);
    assert_eq!(*control, prompts("r")[0]);
    assert_ne!(control, edited);
    let records = common::records(dir.path("b"));
    assert_eq!((of(&records, "control").len(), of(&records, "edited").len()), (22, 22));
    let part = |record: &&Value| record["branch"]["edit"]["part"] == "prompt";
    assert!(of(&records, "edited").iter().all(part));
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
fn an_episode_parts_from_the_right_one_where_they_first_differ() {
    let dir = run();
    let given =
        ["branch", "r", "--class", "search", "--at", "last-search", "--with", "gold-page", "--quiet", "--out", "b"];
    dir.wikitrail(&given).ok();
    let flags = ["--at", "parting", "--with", "empty", "--quiet", "--out"];
    let branched = |target: &[&str], out: &str| -> BTreeMap<String, u64> {
        let ran = dir.wikitrail(&[&["branch"][..], target, &flags, &[out]].concat()).ok();
        assert!(ran.stderr.contains("left out") || out == "p", "{}", ran.stderr);
        let place = |record: &Value| Some((record["id"].as_str()?.to_owned(), record["branch"]["at"].as_u64()?));
        common::records(dir.path(out)).iter().filter_map(place).collect()
    };
    // A branch parts from its episode where it was edited.
    let answers = dir.wikitrail(&["show", "b@edited", "--json"]).ok().lines();
    let right: BTreeSet<String> = answers
        .iter()
        .filter(|line| line["em"] == 1.0 || line["right"] == true)
        .map(|line| line["id"].as_str().expect("an id").to_owned())
        .collect();
    let records = common::records(dir.path("b"));
    let edited: BTreeMap<String, u64> = of(&records, "edited")
        .iter()
        .map(|record| {
            (record["id"].as_str().expect("an id").to_owned(), record["branch"]["at"].as_u64().expect("a step"))
        })
        .filter(|(id, _)| right.contains(id))
        .collect();
    assert_eq!(edited.len(), 8);
    assert_eq!(branched(&["r", "--wrong", "--from", "b@edited"], "p"), edited);
    // Of two variants the other one.
    dir.wikitrail(&["run", "--quiet", "--method", "react,cot", "--out", "m"]).ok();
    let places = branched(&["m@react"], "q");
    assert!(!places.is_empty() && places.values().all(|at| *at == 1), "{places:?}");
    let refused = |target: &[&str], words: &[&str]| {
        dir.wikitrail(&[&["branch"][..], target, &["--with", "empty", "--out", "x"]].concat()).refused(2, words);
        assert!(!dir.path("x").exists());
    };
    refused(&["r", "--at", "parting"], &["`r` has no other variant", "--from RUN@VARIANT"]);
    refused(&["r", "--at", "parting", "--from", "m"], &["`m` has several variants"]);
    refused(&["r", "--at", "1", "--from", "b@edited"], &["only `--at parting` compares", "hint: "]);
}
