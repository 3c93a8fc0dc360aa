//! Prompts × protocols × methods × repeats, with the baseline and with the loopback mocks: planned, run, killed, resumed.

use super::counts;
use crate::common::{self, WorkDir, calls, mockd, variant_names};
use std::collections::{BTreeMap, HashSet};
use std::process::Stdio;

const TWO_BY_TWO_BY_THREE: &str = r#"
name = "prompts-by-protocol"
dataset = "datasets/sample.jsonl"
repeats = 2
baseline = "hotpotqa/react-paper/react"
[settings]
max_steps = 5
SERVER
[matrix]
prompt = ["prompts/hotpotqa.toml", "other.toml"]
protocol = ["react-paper", "robust"]
method = ["react", "act", "cot"]
"#;

/// A second prompt: the shipped one with other words.
fn other_prompt() -> String {
    let shipped = common::repository("prompts/hotpotqa.toml");
    let other = shipped.replace("a name, a date, a number, yes or no", "a name, a date or a number, or yes or no");
    assert!(shipped != other, "no word was changed");
    other
}

/// Prompts × protocols × methods × repeats: `cot` knows no protocol, so it stands once a prompt.
const CELLS: usize = 2 * (2 * 2 + 1);

#[test]
fn two_prompts_by_two_protocols_by_three_methods_are_planned_run_and_kept() {
    let bench = WorkDir::new();
    bench.write("x/grid.toml", TWO_BY_TWO_BY_THREE.replace("SERVER", ""));
    bench.write("x/other.toml", other_prompt());
    let planned = bench.run_json(&["x/grid.toml", "--out", "o", "--dry-run"]);
    assert!(!bench.path("o").exists(), "a dry run leaves nothing behind");
    let cells = planned["cells"].as_array().expect("cells");
    assert_eq!((cells.len(), &planned["new"]), (CELLS, &(CELLS * 120).into()));
    assert!(cells.iter().all(|cell| cell["episodes"] == 120 && cell["at_most"]["calls"].as_u64() > Some(100)));
    let sum: u64 = cells.iter().map(|cell| cell["expected"]["calls"].as_u64().expect("calls")).sum();
    assert_eq!(planned["estimate"]["expected"]["calls"], sum);
    let table = bench.run(&["x/grid.toml", "--out", "o", "--dry-run"]).stdout;
    assert!(
        table.contains("hotpotqa") && table.contains("1,200") && table.lines().all(|l| l.chars().count() <= 80),
        "{table}"
    );

    let summary = bench.run_json(&["x/grid.toml", "--out", "o", "--concurrency", "1"]);
    assert_eq!(variant_names(&summary).len(), CELLS);
    assert!(variant_names(&summary).contains(&"other/robust/act") && variant_names(&summary).contains(&"other/cot"));
    let records = bench.records("o");
    assert_eq!(records.len(), CELLS * 120);
    assert!(counts(&records).values().all(|count| *count == 120));
    // Variants of one question come next to each other, so that a drift hits all alike.
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, record) in records.iter().enumerate() {
        places.entry(record["id"].as_str().expect("an id")).or_default().push(at);
    }
    for (id, at) in places {
        // Variant by variant, a question would be spread over nearly the whole record. Episodes in flight may overtake
        // one another, so they are not next to each other to the last one.
        assert!(at[at.len() - 1] - at[0] < CELLS * 60, "{id}: {at:?}");
    }
    let again = bench.run(&["x/grid.toml", "--out", "o", "--resume", "--quiet"]);
    assert!(again.stderr.contains("plan: keep 1200, redo 0, new 0"), "{}", again.stderr);
    assert_eq!(bench.records("o").len(), records.len());
}

#[test]
fn several_prompts_make_a_variant_each() {
    let bench = WorkDir::new();
    bench.write("other.toml", other_prompt());
    let prompts = ["--prompt", "prompts/hotpotqa.toml", "--prompt", "other.toml", "--method", "react,cot"];
    let summary = bench.run_json(&[&prompts[..], &["--limit", "2", "--out", "o"]].concat());
    assert_eq!(variant_names(&summary), ["hotpotqa/react", "hotpotqa/cot", "other/react", "other/cot"]);
    let orders = |order: &[&str]| {
        let planned = bench.run_json(&[&["--dry-run", "--limit", "1"], order].concat());
        planned["variants"][0]["prompt_sha256"].as_str().expect("a digest").to_owned()
    };
    let seeded = ["--exemplar-order", "shuffled", "--exemplar-seed"];
    let digests: HashSet<String> = [
        orders(&[]),
        orders(&["--exemplar-order", "reversed"]),
        orders(&[&seeded[..], &["1"]].concat()),
        orders(&[&seeded[..], &["2"]].concat()),
    ]
    .into();
    assert_eq!(digests.len(), 4);
    assert_eq!(orders(&["--exemplar-order", "file"]), orders(&[]));
}

/// Two models and a text endpoint of one server, beside the baseline: killed, gone on with, and grown; every call counted.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_mock_is_asked_for_what_is_new_and_nothing_else() {
    let shared = common::shared();
    let (llm, wiki) = mockd::start(&shared);
    let bench = WorkDir::new();
    let server = format!(
        "base_url = \"{}/v1\"\nmodel = \"openai:mock\"\nwiki = \"html\"\nwiki_url = \"{}\"\n",
        llm.url(),
        wiki.url()
    );
    bench.write("grid.toml", TWO_BY_TWO_BY_THREE.replace("SERVER", &server));
    bench.write("other.toml", other_prompt());
    llm.get("/config?latency=5");
    let kills = [10, 60];
    for (attempt, share) in kills.into_iter().enumerate() {
        let resume: &[&str] = if attempt > 0 { &["--resume"] } else { &[] };
        let mut command = bench.command(&[&["run", "grid.toml", "--out", "o"], resume].concat());
        let wanted = CELLS * 120 * share / 100;
        let finished = common::killed(command.stderr(Stdio::null()), &bench.path("o"), wanted);
        assert!(finished < CELLS * 120);
    }
    llm.get("/config?latency=0");
    let summary = bench.run_json(&["grid.toml", "--out", "o", "--resume"]);
    for variant in summary["variants"].as_array().expect("variants") {
        assert_eq!((&variant["measured"], &variant["episodes"]), (&120.into(), &120.into()), "{variant}");
    }
    let records = bench.records("o");
    assert_eq!(records.len(), CELLS * 120, "an episode was run twice");
    // Only what was in flight at a kill is asked twice, which is up to a hundred requests.
    let asked_twice = usize::try_from(llm.requests()).expect("small") - calls(&records);
    assert!(asked_twice <= kills.len() * 100, "{asked_twice}");

    // Another model of the same server, another endpoint, and the baseline: only they are run.
    let more = "[[include]]\nname = \"second\"\nmodel = \"openai:second\"\n[[include]]\nname = \"text\"\ncompletions = true\n[[include]]\nname = \"rules\"\nmodel = \"baseline\"\nprotocol = \"robust\"\n";
    bench.write("grid.toml", format!("{}{more}", TWO_BY_TWO_BY_THREE.replace("SERVER", &server)));
    llm.get("/reset");
    let summary = bench.run_json(&["grid.toml", "--out", "o", "--resume"]);
    assert_eq!(variant_names(&summary).len(), CELLS + 3);
    let all = bench.records("o");
    assert_eq!(all.len(), (CELLS + 3) * 120);
    let of_server = all[records.len()..].iter().filter(|record| record["variant"] != "rules");
    assert_eq!(llm.requests(), calls(of_server) as u64);
    let manifest = bench.manifest("o");
    let mut variants = manifest["variants"].as_array().expect("variants").iter();
    let text = variants.find(|variant| variant["name"] == "text").expect("the cell");
    assert_eq!((&text["endpoint"], &text["protocol"]), (&"completions".into(), &"react-paper".into()));
}
