//! `docs/schema`: what runs really leave behind is valid, and nothing beside it is.

use crate::common::server::{self, Server};
use crate::common::{self, mockd, notebook, wikitrail};
use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use wikitrail::run::Method;
use wikitrail::run::PROTOCOLS;

/// One compiled schema.
struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    fn of(name: &str) -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.enable_format_assertions();
        let text = common::repository(&format!("docs/schema/{name}"));
        compiler.add_resource(name, serde_json::from_str(&text).expect("JSON")).expect("a resource");
        let index = compiler.compile(name, &mut schemas).expect("a sound schema");
        Self { schemas, index }
    }

    fn faults(&self, value: &Value) -> Option<String> {
        self.schemas.validate(value, self.index).err().map(|error| format!("{error:#}"))
    }

    #[track_caller]
    fn assert_valid(&self, value: &Value) {
        let faults = self.faults(value);
        assert_eq!(faults, None, "{value:#}");
    }
}

/// The lines are valid and each of their fields is documented; the first one is not with any of these values.
#[track_caller]
fn hold(schema: &str, lines: &[Value], wrong: &[(&str, Value)]) {
    let (schema, formats) = (Schema::of(schema), common::repository("docs/formats.md"));
    for line in lines {
        schema.assert_valid(line);
        for field in line.as_object().expect("an object").keys() {
            assert!(formats.contains(&format!("`{field}`")), "docs/formats.md lacks `{field}`");
        }
    }
    for (field, wrong) in wrong {
        let mut other = lines[0].clone();
        other[field] = wrong.clone();
        assert!(schema.faults(&other).is_some(), "{field}");
    }
}

/// The manifest and every trajectory of a run are valid.
#[track_caller]
fn hold_run(folder: &common::WorkDir, run: &str) {
    Schema::of("manifest.schema.json").assert_valid(&folder.manifest(run));
    folder.records(run).iter().for_each(|record| Schema::of("trajectory.schema.json").assert_valid(record));
}

/// The manifest of a run, and its trajectories.
fn run(folder: &Path, name: &str, flags: &[&str]) -> (Value, Vec<Value>) {
    let ran = wikitrail(folder, &[&["run", "--quiet", "--out", name], flags].concat());
    assert!(matches!(ran.code, Some(0 | 4)), "{flags:?}: {}", ran.stderr);
    (common::manifest(folder.join(name)), common::records(folder.join(name)))
}

#[test]
fn every_manifest_and_every_trajectory_is_valid() {
    let (manifests, trajectories) = (Schema::of("manifest.schema.json"), Schema::of("trajectory.schema.json"));
    let folder = tempfile::tempdir().expect("a folder");
    let own = "{\"q\": \"Who wrote Solaris?\", \"a\": \"Stanis\u{142}aw Lem\"}\n{\"q\": \"Hidden?\"}\n";
    std::fs::write(folder.path().join("own.jsonl"), own).expect("it can be written");
    std::fs::write(folder.path().join("own.json"), "{\"key\": \"Question: Who?\\n\"}").expect("it can be written");
    std::fs::write(folder.path().join("own.txt"), "Answer.\n").expect("it can be written");
    let formats = common::repository("docs/formats.md");
    let code = formats.split('`').skip(1).step_by(2);
    let documented: BTreeSet<&str> =
        code.flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_')).collect();
    let mut fields = BTreeSet::new();
    let failed = ["--model-attempts", "1", "--limit", "2", "--price", "1/2"];
    let (methods, protocols) = (Method::NAMES.join(","), PROTOCOLS.join(","));
    let runs: [(&str, &[&str]); 11] = [
        ("methods", &["--method", &methods, "--samples", "3", "--limit", "15"]),
        ("claims", &["datasets/sample-claims.jsonl", "--method", &methods, "--samples", "3", "--limit", "6"]),
        ("protocols", &["--protocol", &protocols, "--limit", "10", "--compat", "paper"]),
        (
            "options",
            &["--protocol", "lagent", "--option", "labels=v0.1", "--limit", "5", "--repeats", "2", "--seed", "7"],
        ),
        ("oracle", &["--method", "standard,cot", "--oracle-context", "--limit", "5", "--shuffle", "3"]),
        ("ruled", &["--method", "standard,cot", "--limit", "5", "--stop-when", "decided(em, cot, standard)"]),
        ("named", &["own.jsonl", "--question-column", "q", "--answer-column", "a"]),
        ("picked", &["--types", "bridge", "--shuffle-like-paper", "233", "--limit", "3", "--max-steps", "2"]),
        ("shots", &["--shots", "3", "--exemplar-order", "shuffled", "--exemplar-seed", "5", "--limit", "2"]),
        ("instructed", &["--prompt", "own.json#key", "--instruction", "own.txt", "--limit", "2"]),
        // Nobody listens there: nothing is measured, and that is a record too.
        ("failed", &[&["--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1"], &failed[..]].concat()),
    ];
    for (name, flags) in runs {
        let (manifest, records) = run(folder.path(), name, flags);
        manifests.assert_valid(&manifest);
        assert!(!records.is_empty(), "{name}");
        for record in &records {
            trajectories.assert_valid(record);
        }
        for value in std::iter::once(&manifest).chain(&records) {
            collect(value, &mut fields);
        }
        if name == "methods" {
            let missing: Vec<_> = fields.iter().filter(|field| !documented.contains(field.as_str())).collect();
            assert!(fields.len() > 40 && missing.is_empty(), "docs/formats.md lacks {missing:?}");
        }
    }
    let rare = "detail votes sample voting oracle_context options columns shuffle_like_paper types seed price instruction \
                shots exemplar_order exemplar_seed stop_when";
    for rare in rare.split(' ') {
        assert!(fields.contains(rare), "no run has `{rare}`, so it was not tried");
    }
}

#[test]
fn every_branch_is_valid() {
    let (manifests, trajectories) = (Schema::of("manifest.schema.json"), Schema::of("trajectory.schema.json"));
    let folder = common::WorkDir::new();
    folder.wikitrail(&["run", "--quiet", "--limit", "6", "--out", "r"]).ok();
    let formats = common::repository("docs/formats.md");
    let edits: [(&str, &[&str]); 3] = [
        ("a", &["--at", "1", "--thought", "So.", "--action", "Search[Aida]"]),
        ("b", &["--at", "last-search", "--protocol", "tools"]),
        ("c", &["--at", "2", "--with", "gold-page", "--repeats", "2"]),
    ];
    for (out, flags) in edits {
        folder.wikitrail(&[&["branch", "r", "--quiet", "--out", out], flags].concat()).ok();
        manifests.assert_valid(&folder.manifest(out));
        let records = folder.records(out);
        for record in &records {
            trajectories.assert_valid(record);
        }
        let edited = records.iter().find(|record| record["variant"] == "edited").expect("an edited one");
        let branch = edited["branch"].as_object().expect("a branch");
        for field in branch.keys().chain(branch["edit"].as_object().expect("an edit").keys()) {
            assert!(formats.contains(&format!("`{field}`")), "docs/formats.md lacks `{field}`");
        }
        // What is no branch is refused.
        for (field, value) in [("at", json!(-1)), ("at", json!(0)), ("key", json!("k")), ("odd", json!(1))] {
            let mut changed = edited.clone();
            changed["branch"][field] = value;
            assert!(trajectories.faults(&changed).is_some(), "{field}");
        }
    }
}

#[test]
fn every_judgement_and_every_imported_run_is_valid() {
    let folder = common::WorkDir::new();
    folder.write("e.jsonl", notebook::episode(0, "Finish[Rome]", 1) + &notebook::episode(1, "Look[x]", 0));
    folder.wikitrail(&["import", "react-notebook", "e.jsonl", "--out", "r"]).ok();
    hold_run(&folder, "r");
    let log = json!({"version": 2, "status": "error", "eval": {"task": "t", "dataset": {"samples": 3}, "config": {"epochs": 2}},
        "samples": [{"id": 1, "epoch": 1, "input": "Q?", "target": "A", "output": {"completion": "A"}, "scores": {"s": {"value": "C"}},
            "events": [{"event": "model", "timestamp": "2026-01-02T03:04:05+00:00", "output": {"choices": [{"message": {"content": "A"}}]}},
                {"event": "tool", "function": "f", "arguments": {}, "result": "r"}]}]});
    folder.write("log.json", log.to_string());
    folder.wikitrail(&["import", "inspect", "log.json", "--out", "theirs"]).ok();
    hold_run(&folder, "theirs");
    folder.write("a.csv", "id,answer,tokens,confidence,steps\n1,A,7,0.5,3\n");
    let answers =
        ["import", "answers", "a.csv", "--like", "theirs", "--variant", "v", "--model", "m", "--out", "answers"];
    folder.wikitrail(&answers).ok();
    hold_run(&folder, "answers");
    let classes = "search lookup reasoning label hallucination loop format cut declined limit gold-wrong ambiguous";
    let rows: Vec<String> = classes.split(' ').map(|class| format!("e/0,{class},3,n,{class}")).collect();
    folder.write("said.csv", format!("id,class,step,note,by\n{}\n", rows.join("\n")));
    folder.write("empty.csv", "id,correct,by\ne/1,1,x\n");
    for file in ["said.csv", "empty.csv"] {
        folder.wikitrail(&["annotate", "r", "--import", file]).ok();
    }
    let lines = common::lines(&folder.read("r/annotations.jsonl"));
    assert_eq!(lines.len(), 13);
    let wrong = [("class", json!("lop")), ("by", json!("a|b")), ("step", json!(0)), ("more", json!(1))];
    hold("annotation.schema.json", &lines, &wrong);
}

#[test]
fn every_verdict_and_every_classification_is_valid() {
    let server = Server::start(|_, request, stream| {
        let said = match request {
            _ if request.contains("=== answer to check") => "Why.\nVERDICT: incorrect",
            _ if request.contains("=== steps of the agent") => "Why.\nCLASS: lookup",
            _ => "Answer: x",
        };
        server::json(stream, &json!({"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}));
    });
    let (folder, base) = (common::WorkDir::new(), format!("{}/v1", server.url));
    let model = ["--model", "openai:m", "--base-url", &base, "--method", "standard"];
    folder.run(&[&["--limit", "2", "--out", "r"][..], &model].concat()).ok();
    for (flag, file, schema, wrong) in [
        ("--judge", "verdicts", "verdict", [("verdict", json!("maybe")), ("key", json!("x"))]),
        ("--classify", "classifications", "classification", [("verdict", json!("limit")), ("episode", json!("x"))]),
    ] {
        folder.wikitrail(&["score", "r", flag, "openai:m", "--judge-base-url", &base]).ok();
        let mut lines = common::lines(&folder.read(&format!("r/{file}.jsonl")));
        assert_eq!(lines.len(), 3);
        // The first one is the rule.
        lines.rotate_left(1);
        hold(&format!("{schema}.schema.json"), &lines, &[&wrong[..], &[("more", json!(1))]].concat());
    }
}

#[test]
fn every_look_at_a_holdout_is_valid() {
    let (folder, data) = (common::WorkDir::new(), "datasets/sample.jsonl");
    folder.wikitrail(&["dataset", "split", data, "--holdout", "3", "--seed", "1", "--out", "l"]).ok();
    let methods = ["--method", "act,cot-sc->react", "--samples", "2"];
    folder.run(&[&[data, "--quiet", "--ids", "l/holdout.ids", "--out", "r"], &methods[..]].concat()).ok();
    Schema::of("manifest.schema.json").assert_valid(&folder.manifest("r"));
    folder.wikitrail(&["compare", "r"]).ok();
    let looks = common::lines(&folder.read("l/holdout.looks.jsonl"));
    let wrong =
        [("more", json!(1)), ("v", json!(2)), ("at", json!("today")), ("questions", json!(0)), ("variants", json!([]))];
    hold("look.schema.json", &looks, &wrong);
}

const EXPERIMENT: &str = r#"
name = "grown"
dataset = ["datasets/sample.jsonl", "datasets/sample-claims.jsonl"]
baseline = "react"
[matrix]
method = ["react", "act"]
"#;

#[test]
fn the_manifest_of_an_experiment_is_valid_before_and_after_a_variant_is_taken_out() {
    let (schema, folder) = (Schema::of("manifest.schema.json"), tempfile::tempdir().expect("a folder"));
    let start = |text: &str, flags: &[&str]| {
        std::fs::write(folder.path().join("e.toml"), text).expect("it can be written");
        wikitrail(folder.path(), &[&["run", "e.toml", "--quiet", "--limit", "2", "--out", "o"], flags].concat()).ok();
        ["sample", "sample-claims"].map(|dataset| common::manifest(folder.path().join("o").join(dataset)))
    };
    for manifest in start(EXPERIMENT, &[]) {
        schema.assert_valid(&manifest);
        assert_eq!(manifest["experiment"]["datasets"], json!(["sample", "sample-claims"]));
        assert_eq!(manifest["experiment"]["baseline"], "react");
    }
    for manifest in start(&EXPERIMENT.replace(", \"act\"]", "]"), &["--resume"]) {
        schema.assert_valid(&manifest);
        assert_eq!(manifest["retired"][0]["name"], "act");
        assert_undocumented_is_found(&schema, &manifest);
    }
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_manifest_of_a_run_that_learned_limits_is_valid() {
    let shared = common::shared();
    let (llm, wiki) = mockd::start(&shared);
    llm.get("/config?latency=20");
    let folder = tempfile::tempdir().expect("a folder");
    let dataset = shared.join("data/datasets/hotpot_dev_v1_simplified.json");
    let dataset = std::fs::canonicalize(dataset).expect("the paper's file");
    let (model, pages) = (format!("{}/v1", llm.url()), wiki.url());
    let flags = ["--limit", "30", "--protocol", "react-paper", "--model", "openai:mock", "--concurrency", "auto"];
    let servers = ["--base-url", &model, "--wiki", "html", "--wiki-url", &pages];
    let dataset = [dataset.to_str().expect("a UTF-8 path")];
    let (manifest, _) = run(folder.path(), "r", &[&dataset, flags.as_slice(), servers.as_slice()].concat());
    assert_eq!(manifest["limit_history"][0]["service"], "model");
    let schema = Schema::of("manifest.schema.json");
    schema.assert_valid(&manifest);
    assert_undocumented_is_found(&schema, &manifest);
}

fn collect(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            names.insert(name.clone());
            collect(value, names);
        }),
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}

/// A field that the schema does not name, anywhere, is found; so are missing fields and wrong values.
#[test]
fn nothing_else_is_valid() {
    let folder = tempfile::tempdir().expect("a folder");
    let (manifest, records) = run(folder.path(), "r", &["--method", "cot-sc->react", "--samples", "2", "--limit", "3"]);
    for (schema, value) in [("manifest.schema.json", &manifest), ("trajectory.schema.json", &records[0])] {
        let schema = Schema::of(schema);
        schema.assert_valid(value);
        assert_undocumented_is_found(&schema, value);
        for (pointer, wrong) in [("/v", json!(2)), ("/started_at", json!("yesterday")), ("/v", Value::Null)] {
            let mut other = value.clone();
            *other.pointer_mut(pointer).expect("the field") = wrong.clone();
            assert!(schema.faults(&other).is_some(), "{pointer}: {wrong}");
        }
        let mut other = value.clone();
        other.as_object_mut().expect("an object").remove("started_at");
        assert!(schema.faults(&other).is_some());
    }
}

/// One more field in any of its objects makes a value invalid.
fn assert_undocumented_is_found(schema: &Schema, value: &Value) {
    let objects = pointers(value);
    assert!(objects.len() > 3, "{objects:?}");
    for pointer in objects {
        let mut other = value.clone();
        let object = other.pointer_mut(&pointer).and_then(Value::as_object_mut).expect("an object");
        object.insert("undocumented".to_owned(), json!(1));
        assert!(schema.faults(&other).is_some(), "a further field at `{pointer}`");
    }
}

/// Where the objects of a value are.
fn pointers(value: &Value) -> Vec<String> {
    let below =
        |name: &str, value: &Value| pointers(value).into_iter().map(move |rest| format!("/{name}{rest}")).collect();
    match value {
        Value::Object(fields) => {
            let inner: Vec<Vec<String>> = fields.iter().map(|(name, value)| below(name, value)).collect();
            [vec![String::new()], inner.concat()].concat()
        }
        Value::Array(items) => {
            let inner: Vec<Vec<String>> =
                items.iter().enumerate().map(|(at, value)| below(&at.to_string(), value)).collect();
            inner.concat()
        }
        _ => Vec::new(),
    }
}
