//! `compare` over real runs of the baseline: every figure of EM recomputed from the trajectories by simple code (others:
//! `compare_amounts.rs`), planted differences found, exit codes.

use crate::compare_support::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

fn metric<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    let metrics = comparison["metrics"].as_array().expect("metrics");
    metrics.iter().find(|metric| metric["metric"]["name"] == name).expect("the metric")
}

/// Copies a run; the answers of the first `count` questions that are right become wrong.
fn planted(from: &str, to: &Path, count: usize) -> (String, Vec<String>) {
    let mut turned = Vec::new();
    let copied = copy(from, to, |record| {
        if em(record) > 0.0 && turned.len() < count {
            record["answer"] = json!("planted and wrong");
            turned.push(record["id"].as_str().expect("an id").to_owned());
        }
    });
    assert_eq!(turned.len(), count, "the sample has so many right answers");
    // The file is in the order in which episodes ended.
    turned.sort_unstable();
    (copied, turned)
}

#[test]
fn planted_flips_are_found_and_nothing_else() {
    let dir = tempfile::tempdir().expect("a folder");
    let base = run(dir.path(), "base", &[]);
    let (worse, turned) = planted(&base, &dir.path().join("worse"), 20);
    let compared = compare_json(&[&base, &worse, "--flips"]);
    let pair = &metric(&compared, "em")["pairs"][0];
    assert_eq!((&pair["a"], &pair["b"]), (&json!("base/main"), &json!("worse/main")));
    let test = &pair["tests"]["mcnemar"];
    assert_eq!((&test["only_a"], &test["only_b"]), (&json!(20), &json!(0)));
    close(&test["exact_p"], 2.0 * 0.5_f64.powi(20));
    close(&pair["difference"], -20.0 / 60.0);
    assert_eq!((&pair["verdict"]["distinguishable"], &pair["verdict"]["winner"]), (&json!(true), &json!("base/main")));
    let flips = &compared["flips"][0];
    assert_eq!(flips["gained"], json!([]));
    let lost = flips["lost"].as_array().expect("lost");
    let mut ids: Vec<&str> = lost.iter().map(|flip| flip["id"].as_str().expect("an id")).collect();
    ids.sort_unstable();
    assert_eq!(ids, turned.iter().map(String::as_str).collect::<Vec<_>>());
    let records: BTreeMap<String, Value> =
        records(&base).into_iter().map(|record| (record["id"].as_str().expect("an id").to_owned(), record)).collect();
    let shown: BTreeMap<String, Value> = wikitrail(&["show", &worse, "--wrong", "--json"])
        .lines()
        .into_iter()
        .map(|item| (item["id"].as_str().expect("an id").to_owned(), item["failure"]["class"].clone()))
        .collect();
    let mut classes: BTreeMap<&str, usize> = BTreeMap::new();
    for flip in lost {
        let id = flip["id"].as_str().expect("an id");
        let steps = records[id]["steps"].as_array().expect("steps").len();
        assert_eq!(flip["parted"], json!({"step": steps, "part": "answer"}), "only the answer was changed");
        assert_eq!(flip["question"], records[id]["question"]);
        let class = flip["class"].as_str().expect("a class");
        assert_eq!(shown[id], class);
        *classes.entry(class).or_insert(0) += 1;
        let command = format!("wikitrail show {base}:{id} {worse}:{id}");
        assert_eq!(flip["command"], command.as_str());
    }
    let command = lost[0]["command"].as_str().expect("a command");
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert!(wikitrail(&words).ok().stdout.contains("in the answer: all steps are the same"));
    let table = compare(&[&base, &worse, "--flips"]);
    let unwrapped = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.contains("right in base/main only: 20 (worse/main: ") && table.contains(command));
    assert!(
        classes.iter().all(|(class, count)| unwrapped.contains(&format!("{count} {class}"))),
        "{classes:?} {table}"
    );
    // Seen from the other side they are gained.
    let back = compare_json(&[&worse, &base, "--flips"]);
    assert_eq!(back["flips"][0]["gained"].as_array().expect("gained").len(), 20);
    assert_eq!(back["flips"][0]["lost"], json!([]));
}

#[test]
fn every_figure_of_em_is_that_of_simple_code() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = run(dir.path(), "methods", &["--method", "act,react,standard"]);
    let compared = compare_json(&[&run, "--metric", "em", "--by", "type"]);
    let names = ["act", "react", "standard"];
    let columns = names.map(|name| column(&run, name, em));
    let shown = metric(&compared, "em");
    for (at, name) in names.iter().enumerate() {
        let values = &columns[at];
        let cell = &shown["means"][at];
        assert_eq!(cell["column"], *name);
        close(&cell["mean"], mean(values));
        let (low, high) = wilson(values.iter().filter(|value| **value > 0.0).count(), values.len());
        assert_eq!(cell["interval"]["method"], "wilson");
        close(&cell["interval"]["low"], low);
        close(&cell["interval"]["high"], high);
    }
    let (mut p, mut holm_shown) = (Vec::new(), Vec::new());
    let pairs = shown["pairs"].as_array().expect("pairs");
    assert_eq!(pairs.len(), 3);
    for pair in pairs {
        let at = |side: &str| names.iter().position(|name| pair[side] == *name).expect("a column");
        let both = columns[at("a")].iter().zip(&columns[at("b")]);
        let differences: Vec<f64> = both.map(|(a, b)| b - a).collect();
        close(&pair["difference"], mean(&differences));
        close(&pair["se"], standard_error(&differences));
        let only = |sign: f64| differences.iter().filter(|difference| **difference * sign > 0.0).count();
        assert_eq!(pair["tests"]["mcnemar"]["only_a"], only(-1.0));
        assert_eq!(pair["tests"]["mcnemar"]["only_b"], only(1.0));
        close(&pair["p"]["value"], mcnemar(only(-1.0), only(1.0)));
        p.push(mcnemar(only(-1.0), only(1.0)));
        holm_shown.push(&pair["p_holm"]);
    }
    holm(&p).into_iter().zip(holm_shown).for_each(|(expected, shown)| close(shown, expected));
    // The parts add up to the whole.
    let parts = compared["breakdowns"].as_array().expect("parts");
    let of_em = parts.iter().find(|part| part["metric"] == "em").expect("EM by type");
    let groups = of_em["groups"].as_array().expect("groups");
    assert!(groups.len() > 1);
    let right: f64 = groups
        .iter()
        .map(|group| group["n"].as_f64().expect("n") * group["means"][1]["mean"].as_f64().expect("EM"))
        .sum();
    close(&json!(right), columns[1].iter().sum());
    // What differs between the columns is said, and nothing else.
    let differing = compared["differing_settings"].as_array().expect("settings").iter().map(|setting| &setting["name"]);
    assert_eq!(differing.collect::<Vec<_>>(), ["method", "max_tokens", "prompt_sha256"]);
}

#[test]
fn repeats_are_averaged_and_what_was_not_measured_is_bounded() {
    let dir = tempfile::tempdir().expect("a folder");
    let base = run(dir.path(), "base", &["--repeats", "2"]);
    let other = copy(&base, &dir.path().join("other"), |record| {
        if record["index"].as_u64().expect("a position") < 5 && record["repeat"] == 1 {
            record["answer"] = json!("wrong now");
        }
        if record["index"] == 7 {
            record["outcome"] = json!("not_measured");
            record["answer"] = Value::Null;
        }
    });
    let compared = compare_json(&[&base, &other]);
    let shown = metric(&compared, "em");
    assert_eq!((&shown["binary"], &shown["n"]), (&json!(false), &json!(59)));
    assert_eq!(compared["columns"][1]["not_measured"], 2);
    let mut by_question: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for record in records(&other).iter().filter(|record| record["outcome"] != "not_measured") {
        by_question.entry(record["id"].as_str().expect("an id").to_owned()).or_default().push(em(record));
    }
    let values: Vec<f64> = by_question.values().map(|repeats| mean(repeats)).collect();
    close(&shown["means"][1]["mean"], mean(&values));
    let bounds = &shown["means"][1]["bounds"];
    close(&bounds["low"], values.iter().sum::<f64>() / 60.0);
    close(&bounds["high"], (values.iter().sum::<f64>() + 1.0) / 60.0);
    let pair = &shown["pairs"][0];
    assert_eq!((&pair["tests"]["mcnemar"], &pair["p"]["test"]), (&Value::Null, &json!("permutation")));
}

/// The test of what was measured finds a difference that the rest could reverse; the command that is named measures the rest.
#[test]
fn a_lead_that_the_unmeasured_could_reverse_is_undecided_until_they_are_measured() {
    let dir = tempfile::tempdir().expect("a folder");
    let base = run(dir.path(), "base", &[]);
    let (mut mended, mut lost) = (0, 0);
    let other = copy(&base, &dir.path().join("other"), |record| {
        if em(record) > 0.0 {
            lost += 1;
            record["outcome"] = json!("not_measured");
            record["answer"] = Value::Null;
        } else if mended < 20 {
            mended += 1;
            record["answer"] = record["answers"][0].clone();
        }
    });
    let verdict = |compared: &Value| metric(compared, "em")["pairs"][0]["verdict"].clone();
    let compared = compare_json(&[&base, &other]);
    let pair = &metric(&compared, "em")["pairs"][0];
    assert_eq!(
        (&pair["n"], &pair["bounds"]["n"], &pair["bounds"]["unmeasured"]),
        (&json!(60 - lost), &json!(60), &json!(lost))
    );
    close(&pair["bounds"]["low"], (20.0 - f64::from(lost)) / 60.0);
    close(&pair["bounds"]["high"], 20.0 / 60.0);
    let undecided = verdict(&compared);
    let facts = ["word", "distinguishable", "winner"].map(|fact| &undecided[fact]);
    assert_eq!(facts, [&json!("undecided"), &json!(true), &Value::Null]);
    let sentence = undecided["sentence"].as_str().expect("a sentence");
    let command = format!("wikitrail run --out {other} --resume");
    let why = format!(
        "on the {} measured questions; undecided, as the {lost} unmeasured could reverse it (bounds ",
        60 - lost
    );
    assert!(sentence.contains(&why) && sentence.ends_with(&format!(": `{command}`")), "{sentence}");

    // Nobody is named as better elsewhere, and a condition goes by the test.
    let gate = |condition: &str| wikitrail(&["compare", &base, &other, "--fail-if", condition]).code;
    assert_eq!(gate("p_holm(em, base/main, other/main) < 0.05"), Some(5));
    let page = dir.path().join("p.html");
    let page = page.to_str().expect("UTF-8");
    wikitrail(&["report", &base, &other, "--out", page]).ok();
    let html = std::fs::read_to_string(page).expect("a page");
    let cell = format!("-{:.1} to +33.3", 100.0 * (f64::from(lost) - 20.0) / 60.0);
    assert!(html.contains("<td>undecided</td>") && html.contains(&cell), "{cell}");
    assert!(html.contains("hollow: undecided or not distinguishable") && html.contains("not a confidence interval."));
    assert!(!html.contains("is better</td>"));
    let listed: Vec<Value> = wikitrail(&["list", &base, &other, "--json"]).lines();
    assert!(
        listed.iter().all(|entry| entry["rank"] == 1 && entry["tied_with"].as_array().map(Vec::len) == Some(1)),
        "{listed:?}"
    );

    let words: Vec<&str> = command.split(' ').skip(1).chain(["--quiet"]).collect();
    wikitrail(&words).ok();
    let decided = verdict(&compare_json(&[&base, &other]));
    assert_eq!((&decided["word"], &decided["winner"]), (&json!("beats"), &json!("other/main")), "{decided}");
}

/// Two protocols by two methods; `act` loses ten right answers under one protocol, and five under the other.
#[test]
fn values_of_one_setting_are_compared_over_matched_variants() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = run(dir.path(), "matrix", &["--method", "act,react", "--protocol", "robust,react-paper"]);
    let mut left = BTreeMap::from([("robust/act".to_owned(), 10), ("react-paper/act".to_owned(), 5)]);
    let matrix = copy(&run, &dir.path().join("planted"), |record| {
        let variant = record["variant"].as_str().expect("a variant");
        if let Some(left) = left.get_mut(variant).filter(|left| **left > 0 && em(record) > 0.0) {
            *left -= 1;
            record["answer"] = json!("planted and wrong");
        }
    });
    let compared = compare_json(&[&matrix, "--within", "method", "--metric", "em"]);
    let pair = &metric(&compared, "em")["pairs"][0];
    assert_eq!((&pair["a"], &pair["b"], &pair["n"]), (&json!("method=act"), &json!("method=react"), &json!(60)));
    let (mut expected, react) = (Vec::new(), column(&matrix, "robust/react", em));
    for (robust, paper) in column(&matrix, "robust/act", em).iter().zip(column(&matrix, "react-paper/act", em)) {
        expected.push(react[expected.len()] - f64::midpoint(*robust, paper));
    }
    let close = |value: &Value, expected: f64| (value.as_f64().expect("a number") - expected).abs() < 1e-12;
    assert!(close(&pair["difference"], mean(&expected)) && close(&pair["difference"], 0.125), "{pair}");
    assert!(close(&pair["se"], standard_error(&expected)), "{pair}");
    let combinations = compared["within"]["combinations"].as_array().expect("combinations");
    let single = |at: usize| (&combinations[at]["name"], &combinations[at]["figures"][0]["pairs"][0]["difference"]);
    assert_eq!(single(0), (&json!("protocol=robust"), &json!(10.0 / 60.0)));
    assert_eq!(single(1), (&json!("protocol=react-paper"), &json!(5.0 / 60.0)));
    let reversed = copy(&run, &dir.path().join("reversed"), |record| {
        let is_right = em(record) > 0.0;
        if is_right && record["variant"] == "robust/act" || !is_right && record["variant"] == "react-paper/act" {
            record["answer"] = if is_right { json!("planted and wrong") } else { record["answers"][0].clone() };
        }
    });
    let table = compare(&[&reversed, "--within", "method", "--metric", "em"]);
    assert!(table.contains("the difference has the opposite sign in 1 of 2\n  combinations"), "{table}");
    assert_eq!(table.matches(" opposite\n").count(), 1, "{table}");
    // The limit of tokens follows the protocol by default, which a note says.
    let table = compare(&[&matrix, "--within", "protocol", "--baseline", "robust", "--metric", "em"]);
    assert!(table.contains("protocol=react-paper − protocol=robust"), "{table}");
    assert!(table.contains("each protocol has its own max_tokens"), "{table}");
}

#[test]
fn closed_book_and_tools_are_a_sentence_of_two_variants_and_of_matched_ones() {
    let dir = tempfile::tempdir().expect("a folder");
    let run =
        run(dir.path(), "matrix", &["--method", "cot,react", "--prompt", "prompts/hotpotqa.toml,prompts/fever.toml"]);
    // The other prompt loses five right answers with tools.
    let mut left = 5;
    let matrix = copy(&run, &dir.path().join("planted"), |record| {
        let is_lost =
            record["variant"].as_str().is_some_and(|name| name.starts_with("fever") && name.ends_with("react"));
        if is_lost && left > 0 && em(record) > 0.0 {
            left -= 1;
            record["answer"] = json!("planted and wrong");
        }
    });
    let compared = compare_json(&[&matrix, "--within", "method", "--metric", "em"]);
    let [found] = &compared["closed_book"].as_array().expect("a list")[..] else { panic!("{compared}") };
    assert_eq!((&found["closed"], &found["tools"]), (&json!("method=cot"), &json!("method=react")));
    assert_eq!((&found["questions"], &found["combinations"]), (&json!(60), &json!(2)));
    let number = |name: &str| found[name].as_f64().expect("a number");
    let pair = &metric(&compared, "em")["pairs"][0];
    let sign = if pair["b"] == "method=react" { 60.0 } else { -60.0 };
    let difference = sign * pair["difference"].as_f64().expect("a number");
    assert!((number("added") - number("lost") - difference).abs() < 1e-9, "{found}: {pair}");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let table = words(&compare(&[&matrix, "--within", "method", "--metric", "em"]));
    let sentence = format!(
        "baseline answers {:.1} of 60 questions without tools (method=cot); with tools, method=react adds {:.1} and loses \
         {:.1} (means over 2 combinations)",
        number("right"),
        number("added"),
        number("lost")
    );
    assert!(table.contains(&sentence), "{sentence}: {table}");
    // Two variants by themselves.
    let names: Vec<&str> =
        compared["sources"].as_array().expect("sources").iter().filter_map(|of| of["name"].as_str()).collect();
    let one = |method: &str| names.iter().find(|name| name.contains(method) && !name.contains("fever")).expect("one");
    let [cot, react] = ["cot", "react"].map(|method| format!("{matrix}@{}", one(method)));
    let two = words(&compare(&[&cot, &react, "--metric", "em"]));
    assert!(two.contains("of 60 questions without tools (") && !two.contains("means over"), "{two}");
}

/// What tools add is recomputed from the trajectories, and is the same in `score` and `compare`.
#[test]
fn what_tools_add_to_a_closed_book_is_counted() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = run(dir.path(), "tools", &["--method", "standard,react"]);
    let [closed, tools] = ["standard", "react"].map(|variant| column(&run, variant, em));
    let pairs = || closed.iter().zip(&tools);
    let count = |is: fn((&f64, &f64)) -> bool| pairs().filter(|pair| is(*pair)).count();
    let right = count(|(closed, _)| *closed > 0.0);
    let [added, lost] = [count(|(closed, tools)| tools > closed), count(|(closed, tools)| tools < closed)];
    let found = &compare_json(&[&run])["closed_book"];
    assert_eq!((&found[0]["closed"], &found[0]["tools"]), (&json!("standard"), &json!("react")), "{found}");
    let numbers = ["questions", "right", "added", "lost"].map(|name| found[0][name].as_f64());
    let expected = [60, right, added, lost].map(|n| Some(f64::from(u32::try_from(n).expect("small"))));
    assert_eq!(numbers, expected, "{found}");
    let scored = wikitrail(&["score", &run, "--json"]).json();
    assert_eq!(&scored["closed_book"], found);
    let sentence = format!(
        "baseline answers {right} of 60 questions without tools (standard); with tools, react adds {added} and loses {lost}"
    );
    let wide = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").contains(&sentence);
    assert!(wide(&compare(&[&run])) && wide(&wikitrail(&["score", &run]).ok().stdout), "{sentence}");
}
