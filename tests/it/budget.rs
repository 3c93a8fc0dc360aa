//! Budgets against the benchmark kit's mocks: they pay for whole episodes, a resumed run goes on where the money ended, and `--dry-run` knows beforehand what a run takes.

use crate::common::mockd::{self, Mock};
use crate::common::{self, Ran, WorkDir};
use serde_json::Value;
use std::path::PathBuf;

/// Model requests in flight; twice as many episodes are.
const CONCURRENCY: u64 = 8;
/// More than any call of the mock takes with the paper's prompt.
const MOST_OF_A_CALL: u64 = 4_000;

struct Bench {
    shared: PathBuf,
    llm: Mock,
    wiki: Mock,
    dir: WorkDir,
}

impl Bench {
    fn new() -> Self {
        let shared = common::shared();
        let (llm, wiki) = mockd::start(&shared);
        Self { shared, llm, wiki, dir: WorkDir::new() }
    }

    fn records(&self) -> Vec<Value> {
        self.dir.records("run")
    }

    /// The paper's prompt over the first questions.
    fn run(&self, questions: usize, flags: &[&str]) -> Ran {
        let mut command = mockd::paper_run(&self.shared, (&self.llm, &self.wiki), questions, &self.dir.path("run"));
        command.args(["--concurrency", &CONCURRENCY.to_string(), "--json", "--quiet", "--instruction"]);
        command.arg(self.shared.join("data/prompts/hotpotqa_instruction.txt")).args(flags);
        Ran::from(&command.output().expect("wikitrail runs"))
    }
}

#[track_caller]
fn json(ran: &Ran, code: i32) -> Value {
    assert_eq!(ran.code, Some(code), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

#[track_caller]
fn variant(ran: &Ran, code: i32) -> Value {
    json(ran, code)["variants"][0].clone()
}

fn tokens(usage: &Value) -> u64 {
    ["prompt_tokens", "completion_tokens"].iter().map(|name| usage[name].as_u64().expect("a count")).sum()
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_dry_run_is_within_a_tenth_of_the_real_run_and_spends_nothing() {
    let bench = Bench::new();
    for (endpoint, flags) in [("chat", &["--price", "1/2"][..]), ("completions", &["--price", "1/2", "--completions"])]
    {
        bench.llm.get("/reset");
        let dry = [flags, &["--dry-run"]].concat();
        let planned = json(&bench.run(200, &dry), 0);
        assert_eq!(bench.llm.requests(), 0);
        assert!(!bench.dir.path("run").exists());
        let ran = variant(&bench.run(200, flags), 0);
        let expected = &planned["estimate"]["expected"];
        for (what, estimate, real) in [
            ("calls", &expected["calls"], &ran["calls"]),
            ("prompt", &expected["prompt_tokens"], &ran["usage"]["prompt_tokens"]),
            ("cost", &expected["cost_usd"], &ran["cost_usd"]),
        ] {
            let (estimate, real) = (estimate.as_f64().expect(what), real.as_f64().expect(what));
            assert!((estimate / real - 1.0).abs() < 0.1, "{endpoint}: {what} {estimate} against {real}");
        }
        let (estimate, real) = (expected["tokens"].as_u64().expect("tokens"), tokens(&ran["usage"]));
        assert!(estimate.abs_diff(real) * 10 < real, "{endpoint}: {estimate} against {real}");
        assert!(planned["estimate"]["at_most"]["tokens"].as_u64().expect("tokens") >= real);
        // What a question and a right answer cost follows from the totals.
        let cost = ran["cost_usd"].as_f64().expect("a cost");
        let correct = ran["em"].as_f64().expect("a score") * 200.0;
        assert!((ran["cost_per_question_usd"].as_f64().expect("a cost") - cost / 200.0).abs() < 1e-9);
        assert!((ran["cost_per_correct_usd"].as_f64().expect("a cost") - cost / correct).abs() < 1e-9);
        std::fs::remove_dir_all(bench.dir.path("run")).expect("the run's folder");
    }
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_budget_pays_for_whole_episodes_and_a_larger_one_goes_on() {
    let bench = Bench::new();
    bench.llm.get("/config?latency=5");
    let first = bench.run(100, &["--budget-tokens", "300000"]);
    let report = json(&first, 4);
    let row = &report["variants"][0];
    let (spent, finished) = (tokens(&row["usage"]), row["measured"].as_u64().expect("a count"));
    // What is left would not have paid for another episode.
    assert!(spent <= 300_000 && spent + 2 * spent / finished > 300_000, "{finished}: {spent}");
    assert_eq!((&row["outcomes"]["budget"], &row["outcomes"]["not_measured"]), (&0.into(), &0.into()));
    assert_eq!(bench.llm.requests(), 4 * finished, "nothing was begun that did not end");
    assert_eq!(tokens(&report["spending"]["total"]["usage"]), spent);
    for words in ["stopped: ", " of 300,000 tokens are left, and an episode takes about ", "--resume"] {
        assert!(first.stderr.contains(words), "{}", first.stderr);
    }

    // The rest of the same budget pays for nothing more.
    bench.llm.get("/reset");
    let again = bench.run(100, &["--budget-tokens", "300000", "--resume"]);
    assert_eq!((again.code, bench.llm.requests()), (Some(4), 0), "{}", again.stderr);

    // A larger one keeps what was finished.
    let row = variant(&bench.run(100, &["--resume", "--budget-tokens", "3000000"]), 0);
    assert_eq!(row["measured"], 100);
    assert_eq!(bench.llm.requests(), 4 * (100 - finished));
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn calls_and_dollars_end_a_run_too() {
    let bench = Bench::new();
    let output = bench.run(50, &["--max-calls", "3"]);
    assert_eq!((output.code, bench.llm.requests()), (Some(4), 0), "{}", output.stderr);
    assert!(output.stderr.contains("3 of 3 model calls are left, and an episode takes about 4"), "{}", output.stderr);
    let row = variant(&bench.run(50, &["--max-calls", "41", "--resume"]), 4);
    assert_eq!((row["measured"].as_u64(), bench.llm.requests()), (Some(10), 40));

    // A million tokens of prompt cost a dollar: one more tenth of a dollar is a hundred thousand tokens more.
    let prompt_tokens =
        || -> u64 { bench.records().iter().map(|record| record["usage"]["prompt_tokens"].as_u64().expect("n")).sum() };
    let before = prompt_tokens();
    let budget = format!("0.{:06}", before + 100_000);
    let output = bench.run(50, &["--budget-usd", &budget, "--price", "1/0", "--resume"]);
    assert_eq!(output.code, Some(4), "{}", output.stderr);
    let spent = prompt_tokens() - before;
    assert!((100_000 - 4 * MOST_OF_A_CALL..=100_000).contains(&spent), "{spent}");

    let unpriced = bench.run(50, &["--budget-usd", "1", "--resume"]);
    unpriced.refused(2, &["--budget-usd needs a price"]);
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_run_goes_on_after_failures_unless_it_may_not() {
    let bench = Bench::new();
    // A refusal is no matter of another attempt: about every fourth call fails for good.
    bench.llm.get("/config?fault=401=0.25");
    let row = variant(&bench.run(60, &[]), 4);
    assert_eq!(row["episodes"], 60, "failures do not end a run");
    let failed = row["outcomes"]["not_measured"].as_u64().expect("a count");
    assert!((10..=55).contains(&failed), "{failed}");
    for record in bench.records().iter().filter(|record| record["outcome"] == "not_measured") {
        assert!(record["detail"].as_str().expect("a reason").contains("Incorrect API key"), "{record}");
    }
    std::fs::remove_dir_all(bench.dir.path("run")).expect("the run's folder");

    let before = bench.llm.requests();
    let output = bench.run(60, &["--max-failures", "3"]);
    let row = variant(&output, 4);
    let (episodes, failed) =
        (row["episodes"].as_u64().expect("n"), row["outcomes"]["not_measured"].as_u64().expect("n"));
    assert!(episodes < 60 && (3..=3 + 2 * CONCURRENCY).contains(&failed), "{episodes} {failed}");
    assert!(output.stderr.contains("3 episodes could not be measured"), "{}", output.stderr);

    bench.llm.get("/config?fault=");
    let report = json(&bench.run(60, &["--resume"]), 0);
    assert_eq!((&report["variants"][0]["measured"], bench.records().len()), (&60.into(), 60));
    // Each failed episode goes on from the request that failed, which alone is sent again.
    assert_eq!(bench.llm.requests() - before, 240 + failed);
    assert_eq!(report["spending"]["total"]["calls"], 240);
}

/// The baseline counts no tokens: they are estimated, and that is said.
#[test]
fn what_nobody_counts_is_estimated_and_said() {
    let dir = WorkDir::new();
    let output = dir.run(&["--quiet", "--json", "--budget-tokens", "20000", "--out", "r"]);
    let row = variant(&output, 4);
    assert!((1..15).contains(&row["measured"].as_u64().expect("a count")), "{row}");
    assert!(output.stderr.contains("were not counted; the budget took"));
    assert!(dir.records("r").iter().all(|record| record.get("cost_usd").is_none()), "an estimate is no cost");
}
