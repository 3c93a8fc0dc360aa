//! `--stop-when`: runs that stop as soon as it is decided which of two variants is better, against a scripted model.

use crate::common::server::{self, Server};
use crate::common::{Ran, WorkDir, lines};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const QUESTIONS: usize = 60;
const RULE: &str = "decided(em, bad, good)";

/// Two models. `good` knows nine of ten answers and `bad` one of three; of questions about `even` and `odd` numbers each knows
/// one half. Every fourth episode takes a search more, so that episodes do not end in their order. `bad` refuses to answer
/// about numbers that end in `sick`.
fn models() -> Server {
    Server::start(|_, request, stream| {
        let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").expect("a body").1).expect("JSON");
        let good = body["model"] == "good";
        let prompt = body["messages"].to_string();
        let asked = prompt.rsplit("Question: ").next().expect("a question");
        let words: Vec<&str> = asked.split([' ', '?']).collect();
        let n: usize = words[1].parse().expect("a number");
        if !good && words[0] == "sick" && n.is_multiple_of(5) {
            return server::refuse(stream, &json!({"error": {"message": "no"}}));
        }
        let knows = match words[0] {
            "parity" => n.is_multiple_of(2) == good,
            _ if good => !n.is_multiple_of(10),
            _ => n.is_multiple_of(3),
        };
        let action = if n.is_multiple_of(4) && !asked.contains("Observation") {
            "Search[Hafnium]"
        } else if knows {
            "Finish[yes]"
        } else {
            "Finish[no]"
        };
        let text = format!("Thought: I know it.\nAction: {action}");
        server::json(stream, &json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}));
    })
}

struct Bench {
    server: Server,
    dir: WorkDir,
}

impl Bench {
    /// Questions that begin with this word.
    fn new(word: &str) -> Self {
        let dir = WorkDir::new();
        let rows: String = (0..QUESTIONS).map(|n| format!("q{n},{word} {n}?,yes\n")).collect::<Vec<_>>().concat();
        dir.write("d.csv", format!("id,question,answer\n{rows}"));
        dir.write(
            "x.toml",
            "name = \"x\"\ndataset = \"d.csv\"\n[matrix]\nmodel = [{ name = \"good\", model = \"openai:good\" }, { name = \"bad\", model = \"openai:bad\" }]\n",
        );
        Self { server: models(), dir }
    }

    fn run(&self, out: &str, more: &[&str]) -> Ran {
        let url = format!("{}/v1", self.server.url);
        self.dir.run(&[&["x.toml", "--base-url", &url, "--out", out, "--quiet"], more].concat())
    }

    /// What the rule found, as `score --json` says it.
    fn stopping(&self, run: &str) -> Value {
        self.dir.wikitrail(&["score", run, "--json"]).json()["stopping"].clone()
    }

    /// The same from the records, by the formula: questions looked at, and the evidence.
    fn by_hand(&self, run: &str) -> (usize, f64, bool) {
        let mut right: BTreeMap<(String, String), bool> = BTreeMap::new();
        for record in self.dir.records(run) {
            if record["outcome"] == "not_measured" {
                continue;
            }
            let key = (record["id"].to_string(), record["variant"].as_str().expect("a name").to_owned());
            right.insert(key, record["answer"] == "yes");
        }
        let (mut n, mut s, mut e) = (0_i32, 0_i32, 1.0);
        let questions = lines(&self.dir.read(&format!("{run}/questions.jsonl")));
        for (at, question) in questions.iter().enumerate() {
            let of = |name: &str| right.get(&(question["id"].to_string(), name.to_owned())).copied();
            let (Some(good), Some(bad)) = (of("good"), of("bad")) else { continue };
            if good != bad {
                (n, s) = (n + 1, s + i32::from(good));
                let binomial: f64 = (0..s).map(|k| f64::from(n - k) / f64::from(k + 1)).product();
                e = 2_f64.powi(n) / (f64::from(n + 1) * binomial);
            }
            if e >= 20.0 {
                return (at + 1, e, true);
            }
        }
        (questions.len(), e, false)
    }
}

fn count(value: &Value) -> usize {
    value.as_u64().and_then(|n| n.try_into().ok()).expect("a count")
}

#[track_caller]
fn same(found: &Value, (looked, e, decided): (usize, f64, bool)) {
    assert_eq!((found["looked"].as_u64(), found["decided"].as_bool()), (Some(looked as u64), Some(decided)), "{found}");
    assert!((found["e_value"].as_f64().expect("a number") / e - 1.0).abs() < 1e-9, "{found} {e}");
}

#[test]
fn a_clear_difference_stops_the_run_at_the_same_question_at_any_pace() {
    let bench = Bench::new("clear");
    let dry = bench.run("r", &["--stop-when", RULE, "--dry-run"]).ok();
    assert!(
        dry.stderr.contains("stop rule: decided(em, bad, good)\nnote: questions are shuffled with seed 0\n"),
        "{}",
        dry.stderr
    );
    let mut stops = Vec::new();
    for (out, pace) in [("one", "1"), ("eight", "8")] {
        let ran = bench.run(out, &["--stop-when", RULE, "--concurrency", pace]).ok();
        let found = bench.stopping(out);
        same(&found, bench.by_hand(out));
        let looked = count(&found["looked"]);
        assert!(found["decided"] == true && looked < 40 && bench.dir.records(out).len() < 2 * QUESTIONS, "{found}");
        let said = format!("stopped after {looked} of 60 questions: good is better than bad in ");
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
        let scored = bench.dir.wikitrail(&["score", out]).ok().stdout;
        assert!(scored.contains(&said), "{scored}");
        // The first line names dataset, models and corpus.
        for line in ran.stderr.lines().skip(1).chain(scored.lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
        let manifest = bench.dir.manifest(out);
        assert_eq!((&manifest["stop_when"], &manifest["dataset"]["selection"]["shuffle"]), (&json!(RULE), &json!(0)));
        assert!(manifest["ended_at"].is_string());
        // What ended after the stop is kept, and said.
        let later = count(&found["later"]);
        assert_eq!(bench.dir.records(out).len(), 2 * looked + later, "{found}");
        for (format, header) in [("csv", 1), ("jsonl", 0), ("otlp", 0)] {
            let exported = bench.dir.wikitrail(&["export", out, "--format", format]).ok();
            assert_eq!(exported.stdout.lines().count(), header + 2 * looked, "{format}");
            let note = format!(" left out, after the stop by {RULE}");
            assert_eq!(exported.stderr.contains(&note), later > 0, "{}", exported.stderr);
        }
        // What is counted beside it are the same questions.
        let figures = bench.dir.wikitrail(&["score", out, "--json"]).json();
        for variant in figures["variants"].as_array().expect("variants") {
            assert_eq!((count(&variant["episodes"]), count(&variant["scored"])), (looked, looked), "{variant}");
        }
        let [good, bad] = [0, 1].map(|at| figures["variants"][at]["em"].as_f64().expect("a mean"));
        assert!((good - bad - found["difference"].as_f64().expect("a number")).abs() < 1e-12, "{found}");
        let spent = count(&figures["spending"]["measured"]["calls"]);
        assert_eq!(spent, count(&figures["spending"]["total"]["calls"]), "what lies after the stop was paid for, too");
        stops.push(looked);
    }
    assert_eq!(stops[0], stops[1]);
    // It stays stopped.
    let (asked, records) = (bench.server.requests().len(), bench.dir.records("one").len());
    let ran = bench.run("one", &["--stop-when", RULE, "--resume"]).ok();
    assert!(ran.stderr.contains("note: it was decided after "), "{}", ran.stderr);
    bench.dir.run(&["--resume", "--confirm", "--out", "one", "--quiet"]).ok();
    assert_eq!((bench.server.requests().len(), bench.dir.records("one").len()), (asked, records));
}

#[test]
fn without_a_difference_every_question_is_asked() {
    let bench = Bench::new("parity");
    let ran = bench.run("r", &["--stop-when", RULE]).ok();
    same(&bench.stopping("r"), bench.by_hand("r"));
    assert!(ran.stderr.contains("not decided after 60 questions: the difference good − bad is "), "{}", ran.stderr);
    assert_eq!(bench.dir.records("r").len(), 2 * QUESTIONS);
    // Graded scores of yes and no are those of exact match.
    bench.run("f1", &["--stop-when", "decided(f1, bad, good, 0.2)"]).ok();
    assert_eq!(bench.stopping("f1")["rule"], "decided(f1, bad, good, 0.2)");
}

#[test]
fn a_run_that_was_interrupted_goes_on_under_its_rule() {
    let bench = Bench::new("clear");
    bench.run("whole", &["--stop-when", RULE]).ok();
    let stopped = bench.run("r", &["--stop-when", RULE, "--max-calls", "14", "--concurrency", "1"]);
    assert_ne!(stopped.code, Some(0));
    assert!(stopped.stderr.contains("not decided after 6 of 60 questions: "), "{}", stopped.stderr);
    for (other, words) in [
        (
            &["--stop-when", "decided(f1, bad, good)"][..],
            "stop_when: was \"decided(em, bad, good)\", now \"decided(f1, bad, good)\"",
        ),
        (&[], "stop_when: was \"decided(em, bad, good)\", now null"),
        (&["--stop-when", RULE, "--repeats", "2"], "repeats: was 1, now 2"),
    ] {
        bench.run("r", &[other, &["--resume"]].concat()).refused(3, &["other settings", words]);
    }
    bench.run("r", &["--stop-when", RULE, "--resume"]).ok();
    assert!(bench.dir.manifest("r")["stop_looked"].as_u64().is_some_and(|looked| looked > 0));
    for name in ["looked", "e_value", "difference", "decided"] {
        assert_eq!(bench.stopping("r")[name], bench.stopping("whole")[name], "{name}");
    }
}

#[test]
fn a_question_that_is_not_measured_is_left_out_and_said() {
    let bench = Bench::new("sick");
    let ran = bench.run("r", &["--stop-when", RULE, "--model-attempts", "1", "--give-up-after", "off"]).ok();
    let found = bench.stopping("r");
    same(&found, bench.by_hand("r"));
    let left_out = found["left_out"].as_u64().expect("a number");
    assert!(left_out > 0 && found["n"].as_u64().expect("a number") + left_out == found["looked"], "{found}");
    let text = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("left out, not measured or scored in both"), "{}", ran.stderr);
}

#[test]
fn comparisons_say_what_the_rule_found_and_that_nothing_else_is_valid() {
    let bench = Bench::new("clear");
    let file = bench.dir.read("x.toml");
    bench.dir.write("x.toml", format!("stop_when = \"{RULE}\"\n{file}"));
    bench.run("r", &[]).ok();
    let found = bench.stopping("r");
    let compared = bench.dir.wikitrail(&["compare", "r", "--json"]).json();
    let (em, f1) = (&compared["metrics"][0]["pairs"][0], &compared["metrics"][1]["pairs"][0]);
    assert_eq!(
        (&em["a"], &em["p"], &em["p_holm"], &em["tests"]["mcnemar"]),
        (&json!("good"), &json!(null), &json!(null), &json!(null))
    );
    assert_eq!((&em["stopping"]["e_value"], &em["n"]), (&found["e_value"], &found["n"]));
    assert_eq!((&em["interval"]["method"], &em["interval"]["level"]), (&json!("confidence sequence"), &json!(0.95)));
    let number = |value: &Value| value.as_f64().expect("a number");
    // Seen from the other side than the rule was written.
    assert!((number(&em["difference"]) + number(&found["difference"])).abs() < 1e-12);
    assert!(number(&em["interval"]["high"]) < 0.0 && em["verdict"]["winner"] == "good");
    assert_eq!(f1["stopped_by"], RULE);
    // Every table has the questions of the rule.
    let (first, looked) = (&compared["metrics"][0], &found["looked"]);
    assert_eq!((&first["n"], &first["means"][0]["n"], &compared["questions"]), (looked, &Value::Null, looked));
    let [good, bad] = [0, 1].map(|at| number(&first["means"][at]["mean"]));
    assert!((bad - good - number(&em["difference"])).abs() < 1e-12);
    assert_eq!(compared["warnings"], json!([]), "what is decided is complete");
    let said = f1["verdict"]["sentence"].as_str().expect("a sentence");
    assert!(
        said.ends_with("; not valid at its nominal level, as the run had the rule decided(em, bad, good)"),
        "{said}"
    );
    let table = bench.dir.wikitrail(&["compare", "r"]).ok().stdout;
    let markdown = bench.dir.wikitrail(&["compare", "r", "--format", "markdown"]).ok().stdout;
    for text in [&table, &markdown] {
        let title = format!("EM of {} questions (stop rule)", found["looked"]).replace(['(', ')'], "");
        assert!(text.replace(['\\', '(', ')'], "").contains(&title), "{text}");
        for words in ["e = ", "stopped after", "(stop rule)", "an estimate at a stop exaggerates", "not valid at their"]
        {
            assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{words}: {text}");
        }
    }
    let csv = bench.dir.wikitrail(&["compare", "r", "--format", "csv"]).ok().stdout;
    assert!(csv.contains("e_value") && csv.contains("stopped_by_rule") && !csv.contains("em,,good,bad,p,"), "{csv}");
    bench.dir.wikitrail(&["compare", "r", "--fail-if", "p(em, good, bad) < 0.05"]).refused(2, &["has no p"]);
    assert_eq!(bench.dir.wikitrail(&["compare", "r", "--fail-if", "high(em, good, bad) < 0"]).code, Some(5));
    let list = bench.dir.wikitrail(&["list", "r", "--json"]).lines();
    assert_eq!(list[0]["stopping"]["looked"], found["looked"]);
    assert_eq!((&list[0]["rank"], &list[1]["rank"]), (&json!(1), &json!(2)));
    assert!(bench.dir.wikitrail(&["list", "r"]).ok().stdout.contains("stopped after"));
    bench.dir.wikitrail(&["report", "r", "--out", "p.html"]).ok();
    assert!(bench.dir.read("p.html").contains("stopped after"));
    // Another run of the same has the same rule, and the whole of it goes into a new folder.
    bench.dir.wikitrail(&["merge", "r", "--out", "m"]).ok();
    assert_eq!(bench.stopping("m"), found);
}

/// Each interval has its own level, and everything else of the run is marked.
#[test]
fn the_pair_of_the_rule_is_not_like_the_others() {
    let dir = WorkDir::new();
    let rule = "decided(em, standard, react, 0.45)";
    dir.run(&["--method", "standard,cot,react", "--stop-when", rule, "--quiet", "--out", "r"]).ok();
    let compare = |more: &[&str]| dir.wikitrail(&[&["compare", "r", "--metric", "em"], more].concat()).ok().stdout;
    let table = compare(&["--mde", "--by", "type"]);
    let text = table.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "points [95 %]",
        "] at 55 % 4 e = ",
        "Holm's correction covers the 2 pairs",
        "react − standard: a rule decided when to stop",
    ] {
        assert!(text.contains(words), "{words}: {table}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    // All three of Cochran's Q, two pairs, and the pairs of each part.
    let csv = compare(&["--by", "type", "--format", "csv"]);
    let marked =
        |start: &str| csv.lines().filter(|line| line.starts_with(start) && line.contains("stopped_by_rule")).count();
    assert_eq!([marked("overall,"), marked("pairs,")], [1, 2], "{csv}");
    assert!(marked("part_pairs,") > 0 && csv.contains("standard,react,level,0.55"), "{csv}");
    for format in ["table", "markdown", "latex"] {
        let text = compare(&["--by", "type", "--format", format]);
        // And the title of the means.
        assert_eq!(text.matches("(stop rule)").count(), 1 + csv.matches("stopped_by_rule").count(), "{format}: {text}");
        assert!(text.contains(if format == "latex" { "at 55 \\%" } else { "at 55 %" }), "{format}: {text}");
    }
    let json: Value = serde_json::from_str(&compare(&["--by", "type", "--format", "json"])).expect("JSON");
    let em = &json["metrics"][0];
    assert_eq!(em["cochran_q_stopped_by"], rule);
    assert_eq!((&em["pairs"][0]["stopped_by"], &em["pairs"][1]["stopped_by"]), (&json!(rule), &Value::Null));
    assert_eq!(json["breakdowns"][0]["groups"][0]["pairs"][1]["stopped_by"], rule);
    // What a difference costs is planned for two pairs, too: of a run that went on for longer.
    let later = "decided(em, standard, react, 0.001)";
    dir.run(&["--method", "standard,cot,react", "--stop-when", later, "--quiet", "--out", "l"]).ok();
    let planned = |more: &[&str]| {
        let json = dir.wikitrail(&[&["compare", "l", "--metric", "em", "--mde", "--json"], more].concat()).json();
        let of_pair = |effort: &&Value| (&effort["a"], &effort["b"]) == (&json!("cot"), &json!("react"));
        json["efforts"].as_array().expect("efforts").iter().find(of_pair).expect("a plan").clone()
    };
    let two = ["--contrast", "standard", "cot", "--contrast", "cot", "react"];
    assert_eq!(planned(&[]), planned(&two));
    dir.wikitrail(&["report", "r", "--out", "page.html"]).ok();
    assert!(dir.read("page.html").contains(" at 55 %"));
}
