//! Every figure on the overview of the page of `report` is that of `compare --json` and `list --json` of the same runs.

use crate::common::WorkDir;
use crate::compare_support::copy;
use crate::judge;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A table of the page: its caption, its headings, and its rows by their first cell.
struct Table {
    caption: String,
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// The tables of a piece of HTML.
    fn all(html: &str) -> Vec<Self> {
        let table = |html: &str| {
            let mut rows = html.split("<tr>").skip(1).map(cells);
            Self {
                caption: html.split("<caption>").nth(1).map(text).unwrap_or_default(),
                headings: rows.next().unwrap_or_default(),
                rows: rows.collect(),
            }
        };
        html.split("<table>")
            .skip(1)
            .filter_map(|rest| rest.split_once("</table>"))
            .map(|(own, _)| table(own))
            .collect()
    }

    /// The cells of a row by their headings.
    fn row(&self, at: usize) -> BTreeMap<&str, &str> {
        self.headings.iter().map(String::as_str).zip(self.rows[at].iter().map(String::as_str)).collect()
    }
}

fn cells(row: &str) -> Vec<String> {
    let row = row.replace("<td", "<th");
    row.split("<th").skip(1).filter_map(|cell| cell.split_once('>')).map(|(_, cell)| text(cell)).collect()
}

/// The first element's text: without pictures, without what only a screen reader reads, and without tags.
fn text(html: &str) -> String {
    let html = html.split("</th>").next().unwrap_or(html).split("</td>").next().unwrap_or(html);
    let html = html.split("</caption>").next().unwrap_or(html);
    let mut shown = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        shown.push_str(before);
        let end = match tag {
            tag if tag.starts_with("svg") => "</svg>",
            tag if tag.starts_with("span class=\"unseen\"") => "</span>",
            _ => ">",
        };
        rest = tag.split_once(end).map_or("", |(_, rest)| rest);
    }
    shown.push_str(rest);
    shown.replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'").replace("&quot;", "\"").replace("&amp;", "&")
}

/// The section with this id, or nothing.
fn section<'t>(page: &'t str, id: &str) -> &'t str {
    let rest = page.split_once(&format!("<section id=\"{id}\">")).map_or("", |(_, rest)| rest);
    rest.split_once("</section>").map_or("", |(own, _)| own)
}

fn between<'t>(page: &'t str, from: &str, to: &str) -> &'t str {
    page.split_once(from).and_then(|(_, rest)| rest.split_once(to)).map_or("", |(own, _)| own)
}

/// A share in per cent, as people write it.
fn percent(share: &Value) -> String {
    share.as_f64().map_or_else(|| "–".to_owned(), |share| format!("{:.1}", 100.0 * share + 0.0).replace("-0.0", "0.0"))
}

/// A difference in points, with its sign.
fn points(share: &Value) -> String {
    let text = percent(&json!(share.as_f64().map(|share| share.clamp(-1.0, 1.0))));
    let nothing = ["0.0", "–"].contains(&text.as_str());
    if text.starts_with('-') || nothing { text.replace('-', "−") } else { format!("+{text}") }
}

fn p_value(p: &Value) -> String {
    p.as_f64().map_or_else(|| "–".to_owned(), |p| if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") })
}

/// Both ends, each written in this way.
fn ends(of: &Value, shown: fn(&Value) -> String) -> String {
    match of {
        Value::Null => "–".to_owned(),
        of if of["low"].is_null() => "unbounded".to_owned(),
        of => format!("{} to {}", shown(&of["low"]), shown(&of["high"])),
    }
}

fn count(n: &Value) -> String {
    n.as_u64().map_or_else(|| "–".to_owned(), |n| n.to_string())
}

/// What `compare` and `list` print, with their variants called as the page calls them.
fn called(page: &str, compared: &Value) -> impl Fn(Value) -> Value + use<> {
    let meta: Value = serde_json::from_str(between(page, "id=\"wt-meta\">", "</script>")).expect("JSON");
    let [shown, whole] =
        [&meta["variants"], &compared["sources"]].map(|list| list.as_array().expect("variants").clone());
    let name = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let pair = |whole: &Value| {
        let of_run = |shown: &&Value| shown["variant"] == whole["variant"] && shown["run"] == whole["path"];
        (name(whole), name(shown.iter().find(of_run).expect("the same variant")))
    };
    let mut names: Vec<(String, String)> = whole.iter().map(pair).collect();
    // A name may be a part of another one.
    names.sort_by_key(|(whole, _)| std::cmp::Reverse(whole.len()));
    move |value| {
        let mut text = value.to_string();
        for (at, (whole, _)) in names.iter().enumerate() {
            text = text.replace(whole, &format!("\u{1}{at}\u{1}"));
        }
        for (at, (_, short)) in names.iter().enumerate() {
            text = text.replace(&format!("\u{1}{at}\u{1}"), short);
        }
        serde_json::from_str(&text).expect("JSON")
    }
}

/// What the page of some runs shows, beside what `compare` and `list` print of them.
struct Shown {
    name: &'static str,
    page: String,
    compared: Value,
    listed: Vec<Value>,
    figures: usize,
}

impl Shown {
    fn of(name: &'static str, dir: &WorkDir, runs: &[&str], metrics: &str) -> Self {
        dir.wikitrail(&[&["report"], runs, &["--out", "p.html", "--force"]].concat()).ok();
        let flags = ["--json", "--flips=all", "--metric", metrics];
        let compared = dir.wikitrail(&[&["compare"], runs, &flags[..]].concat()).json();
        let listed = dir.wikitrail(&[&["list"], runs, &["--json"]].concat()).ok().lines();
        let page = dir.read("p.html");
        let called = called(&page, &compared);
        let (compared, listed) = (called(compared), listed.into_iter().map(&called).collect());
        Self { name, page, compared, listed, figures: 0 }
    }

    #[track_caller]
    fn same(&mut self, shown: &str, expected: &str, what: &str) {
        assert_eq!(shown, expected, "{}: {what}", self.name);
        self.figures += 1;
    }

    fn metric(&self, label: &str) -> Value {
        let name = match label {
            "EM" | "accuracy" => "em",
            "F1" => "f1",
            other => other,
        };
        let metrics = self.compared["metrics"].as_array().expect("metrics");
        metrics.iter().find(|own| own["metric"]["name"] == name).unwrap_or_else(|| panic!("{label}")).clone()
    }

    fn mean(&self, metric: &Value, variant: &str) -> Value {
        let means = metric["means"].as_array().expect("means");
        means.iter().find(|own| own["column"] == variant).unwrap_or_else(|| panic!("{}: {variant}", self.name)).clone()
    }

    fn pair(&self, metric: &Value, one: &str, other: &str) -> Value {
        let is = |pair: &&Value| (pair["a"] == one && pair["b"] == other) || (pair["a"] == other && pair["b"] == one);
        let pairs = metric["pairs"].as_array().expect("pairs");
        pairs.iter().find(is).unwrap_or_else(|| panic!("{}: {one} and {other}", self.name)).clone()
    }

    /// The means and their intervals: of the questions that all measured, else each variant's own.
    fn scores(&mut self) {
        let html = section(&self.page, "scores").to_owned();
        let tables = Table::all(&html);
        let (table, label) = (&tables[0], if html.contains(">accuracy %<") { "accuracy" } else { "EM" });
        let em = self.metric(label);
        // Where pairs have questions of their own, so has each variant.
        let common = !table.headings.iter().any(|heading| heading == "n");
        assert_eq!(table.rows.len(), em["means"].as_array().expect("means").len(), "{}", self.name);
        for at in 0..table.rows.len() {
            let row = table.row(at);
            let name = row["variant"];
            let own = self.listed.iter().find(|entry| entry["name"] == name).expect("its entry").clone();
            let [low, high] = [0, 1].map(|end| own["em_interval"][end].clone());
            let own_interval = if low.is_null() { Value::Null } else { json!({"low": low, "high": high}) };
            let mean = self.mean(&em, name);
            let (mean, interval) =
                if common { (&mean["mean"], &mean["interval"]) } else { (&own["em"], &own_interval) };
            self.same(row[format!("{label} %").as_str()], &percent(mean), name);
            self.same(row["95 %"], &ends(interval, percent), name);
            let on = format!(" on {}", count(&em["n"]));
            if let Some(shown) = row.get(format!("{label} %{on}").as_str()) {
                self.same(shown, &percent(&self.mean(&em, name)["mean"]), name);
            }
            if !common {
                self.same(row["n"], &count(&own["n"]), name);
            }
            if let Some(f1) = row.get("F1 %").or(row.get(format!("F1 %{on}").as_str())) {
                let f1_mean = self.mean(&self.metric("F1"), name)["mean"].clone();
                self.same(f1, &percent(&f1_mean), name);
            }
            if let Some(shown) = row.get(format!("own {label} %").as_str()) {
                let n = own["n"].as_u64().expect("a count");
                let noun = if n == 1 { "question" } else { "questions" };
                let em = if n == 0 { "–".to_owned() } else { format!("{} ({n} {noun})", percent(&own["em"])) };
                self.same(shown, &em, name);
            }
            if let Some(rank) = row.get("rank") {
                self.same(rank, &count(&own["rank"]), name);
            }
        }
        if common {
            let n = count(&em["n"]);
            assert!(table.caption.contains(&format!(" on {n} question")), "{}: {}", self.name, table.caption);
        }
    }

    /// Every table of differences, which together have every pair of every figure.
    fn differences(&mut self) {
        let tables = Table::all(section(&self.page, "differences"));
        for table in &tables {
            let label = between(&table.caption, "points ", " on ").to_owned();
            let metric = self.metric(&label);
            for at in 0..table.rows.len() {
                let row = table.row(at);
                let (b, a) = row["b − a"].split_once(" − ").expect("a pair");
                let pair = self.pair(&metric, a, b);
                assert_eq!((&pair["a"], &pair["b"]), (&json!(a), &json!(b)), "{}", self.name);
                let name = format!("{label} {b} − {a}");
                self.same(row["points"], &points(&pair["difference"]), &name);
                let stopped = pair.get("stopping").is_some();
                let interval = ends(&pair["interval"], points);
                let shown = row["95 %"].split(" at ").next().unwrap_or_default();
                self.same(shown, &interval, &name);
                self.same(row["n"], &count(&pair["n"]), &name);
                let p = row["p Holm"];
                if stopped {
                    let e = pair["stopping"]["e_value"].as_f64().expect("an e");
                    self.same(p, &format!("e = {e:.3}"), &name);
                } else {
                    self.same(p, &p_value(&pair["p_holm"]), &name);
                }
                for (heading, of) in [("only a right", "only_a"), ("only b right", "only_b")] {
                    if let Some(shown) = row.get(heading) {
                        self.same(shown, &count(&pair["tests"]["mcnemar"][of]), &name);
                    }
                }
                if let Some(shown) = row.get("bounds") {
                    self.same(shown, &ends(&pair["bounds"], points), &name);
                }
                let word = pair["verdict"]["word"].as_str().expect("a word");
                let verdict = match pair["verdict"]["winner"].as_str() {
                    Some(winner) if word == "beats" => format!("{winner} is better"),
                    Some(winner) => format!("{winner} is ahead"),
                    None if pair["n"] == 0 => "cannot be compared".to_owned(),
                    None => word.to_owned(),
                };
                self.same(row["verdict"], &verdict, &name);
            }
        }
    }

    /// The first screen: the difference, its interval and p, what was won and lost, and what could have been detected.
    fn first_screen(&mut self) {
        let card = between(&self.page, "<div class=\"card verdict\">", "</div>").to_owned();
        if card.is_empty() {
            return;
        }
        let big = text(between(&card, "<p class=\"big\">", "</p>"));
        let facts = text(between(&card, "<p class=\"facts\">", "</p>"));
        let trust = text(between(&card, "<ul class=\"trust\">", "</ul>"));
        let label = if big.contains("accuracy") { "accuracy" } else { "EM" };
        let metric = self.metric(label);
        let (first, second) = facts.split(" · ").next().and_then(|pair| pair.split_once(" − ")).expect("a pair");
        let pair = self.pair(&metric, first, second);
        let sign = if pair["b"] == first { 1.0 } else { -1.0 };
        let turned = |value: &Value| json!(value.as_f64().map(|value| sign * value));
        let difference = turned(&pair["difference"]);
        let expected = if difference.is_null() {
            "not compared".to_owned()
        } else {
            format!("{} points {label}", points(&difference))
        };
        self.same(&big, &expected, "the difference");
        if pair["interval"]["low"].is_number() {
            let (low, high) = (turned(&pair["interval"]["low"]), turned(&pair["interval"]["high"]));
            let [low, high] = if sign > 0.0 { [low, high] } else { [high, low] };
            let clamped = |end: &Value| percent(&json!(end.as_f64().map(|end| end.clamp(-1.0, 1.0)))).replace('-', "−");
            let expected = format!("interval {} to {}", clamped(&low), clamped(&high));
            assert!(facts.contains(&expected), "{}: {expected}: {facts}", self.name);
            self.figures += 1;
        }
        if pair["p_holm"].is_number() {
            let p = p_value(&pair["p_holm"]);
            let p = p.strip_prefix('<').map_or_else(|| format!("p = {p}"), |least| format!("p < {least}"));
            assert!(facts.contains(&p), "{}: {p}: {facts}", self.name);
            self.figures += 1;
        }
        if pair["mde"].is_number() {
            let least = format!("{} questions: {} points {label}", count(&pair["n"]), percent(&pair["mde"]));
            assert!(trust.contains(&least), "{}: {least}: {trust}", self.name);
            self.figures += 1;
        }
        let [won, lost] = [(first, second), (second, first)].map(|(right, wrong)| self.flips(right, wrong));
        let words = trust.split(" lost").next().unwrap_or_default().to_owned();
        let numbers: Vec<&str> = words.split(' ').filter(|word| word.parse::<u64>().is_ok()).collect();
        self.same(numbers.first().copied().unwrap_or_default(), &won.to_string(), "won");
        self.same(numbers.last().copied().unwrap_or_default(), &lost.to_string(), "lost");
    }

    /// Questions that one variant has right and another wrong.
    fn flips(&self, right: &str, wrong: &str) -> usize {
        let lists = self.compared["flips"].as_array().expect("flips");
        let is =
            |list: &&Value| (list["a"] == right && list["b"] == wrong) || (list["a"] == wrong && list["b"] == right);
        let list = lists.iter().find(is).unwrap_or_else(|| panic!("{}: {right} and {wrong}", self.name));
        list[if list["a"] == right { "lost" } else { "gained" }].as_array().expect("a list").len()
    }

    fn flip_matrix(&mut self) {
        let tables = Table::all(section(&self.page, "flips"));
        let planned: Vec<(String, String)> = self.compared["flips"]
            .as_array()
            .expect("flips")
            .iter()
            .map(|list| (list["a"].as_str().expect("a").to_owned(), list["b"].as_str().expect("b").to_owned()))
            .collect();
        let name = |shown: &str| shown.split(" (+").next().unwrap_or(shown).to_owned();
        for table in &tables {
            for row in &table.rows {
                for (wrong, shown) in table.headings.iter().zip(row).skip(1) {
                    let (right, wrong) = (name(&row[0]), name(wrong));
                    let is = |(a, b): &(String, String)| (*a == right && *b == wrong) || (*a == wrong && *b == right);
                    if planned.iter().any(is) {
                        let n = self.flips(&right, &wrong);
                        let expected = if n == 0 { "·".to_owned() } else { n.to_string() };
                        self.same(shown, &expected, "flips");
                    }
                }
            }
        }
    }

    /// The sentences on the first screen are those of `compare`.
    fn verdicts(&mut self) {
        let sentences: Vec<String> = self.compared["metrics"][0]["pairs"]
            .as_array()
            .expect("pairs")
            .iter()
            .map(|pair| pair["verdict"]["sentence"].as_str().expect("a sentence").to_owned())
            .collect();
        let html = between(&self.page, "<div class=\"verdict\">", "</div>").to_owned();
        for line in html.split("<p>").skip(1).map(|rest| text(rest.split("</p>").next().unwrap_or_default())) {
            if !line.contains("identical results") {
                let line = line.replace('−', "-").trim_end_matches('.').to_owned();
                let is = |sentence: &&String| sentence.replace('−', "-").trim_end_matches('.') == line;
                assert!(sentences.iter().any(|sentence| is(&sentence)), "{}: {line}", self.name);
                self.figures += 1;
            }
        }
    }
}

/// Holds every figure of the page of these runs to `compare`; at least so many of them.
fn check(name: &'static str, dir: &WorkDir, runs: &[&str], metrics: &str, least: usize) {
    let mut shown = Shown::of(name, dir, runs, metrics);
    shown.scores();
    shown.differences();
    shown.first_screen();
    shown.flip_matrix();
    shown.verdicts();
    println!("golden: {}: {} figures of the page", shown.name, shown.figures);
    assert!(shown.figures >= least, "{name}: {} figures", shown.figures);
}

/// A copy of a run of `dir` with changed records.
fn changed(dir: &WorkDir, from: &str, to: &str, change: impl FnMut(&mut Value)) {
    let from = dir.path(from).to_str().expect("UTF-8").to_owned();
    copy(&from, &dir.path(to), change);
}

fn lose(record: &mut Value) {
    record["outcome"] = json!("not_measured");
    record["answer"] = Value::Null;
    record["detail"] = json!("model: out of memory on GPU 3");
}

#[test]
fn variants_and_matrices_have_the_figures_of_compare() {
    let dir = WorkDir::new();
    dir.run(&["--quiet", "--method", "react,cot", "--out", "two"]).ok();
    dir.run(&["--quiet", "--protocol", "robust,qwen-agent,llama-index,go-blog,lagent,react-zh", "--out", "six"]).ok();
    dir.run(&["datasets/sample-claims.jsonl", "--quiet", "--method", "react,cot,act", "--out", "claims"]).ok();
    dir.write("sample.toml", crate::common::repository("experiments/sample.toml"));
    dir.run(&["sample.toml", "--quiet", "--out", "matrix"]).ok();
    check("two variants", &dir, &["two"], "em,f1", 20);
    check("six variants", &dir, &["six"], "em,f1", 100);
    check("FEVER", &dir, &["claims"], "em,f1", 20);
    let page = dir.read("p.html");
    let [list, compare] = ["list", "compare"].map(|command| dir.wikitrail(&[command, "claims"]).ok().stdout);
    for text in [between(&page, "<body>", "<script"), &list, &compare] {
        assert!(text.contains("accuracy %"), "{text}");
        for other in ["EM %", "points EM", "Exact match", "F1"] {
            assert!(!text.contains(other), "{other}: {text}");
        }
    }
    let rule = ["--method", "react,cot", "--stop-when", "decided(em, cot, react)", "--quiet", "--out", "ruled"];
    dir.run(&[&["datasets/sample-claims.jsonl"], &rule[..]].concat()).ok();
    for command in ["score", "list", "compare"] {
        let text = dir.wikitrail(&[command, "ruled"]).ok().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(" points accuracy,") || text.contains(" in accuracy,"), "{command}: {text}");
        assert!(!text.contains("points EM") && !text.contains(" in EM"), "{command}: {text}");
    }
    check("a matrix with a baseline", &dir, &["matrix"], "em,f1", 100);
    check("two runs", &dir, &["two", "six"], "em,f1", 200);
}

#[test]
fn repeats_failures_and_unequal_sets_have_the_figures_of_compare() {
    let dir = WorkDir::new();
    let index = |record: &Value| record["index"].as_u64().expect("a position");
    dir.run(&["--quiet", "--method", "react,cot", "--out", "two"]).ok();
    dir.run(&["--quiet", "--method", "react,cot", "--repeats", "3", "--out", "same"]).ok();
    changed(&dir, "same", "repeats", |record| {
        if (index(record) + record["repeat"].as_u64().expect("a repeat")).is_multiple_of(4) {
            record["answer"] = json!("something else");
        }
    });
    changed(&dir, "two", "half", |record| {
        let lost = if record["variant"] == "react" { 2 } else { 3 };
        if index(record).is_multiple_of(lost) {
            lose(record);
        }
    });
    changed(&dir, "two", "failed", lose);
    dir.run(&["--quiet", "--limit", "10", "--out", "few"]).ok();
    check("repeats", &dir, &["repeats"], "em,f1", 15);
    check("half failed", &dir, &["half"], "em,f1", 15);
    check("all failed", &dir, &["failed"], "em,f1", 4);
    check("unequal sets", &dir, &["two", "few"], "em,f1", 30);
    let page = dir.read("p.html");
    assert!(section(&page, "scores").contains("<td class=\"n\">60</td>"), "all questions of those that have more");
    check("a failed run beside others", &dir, &["two", "failed"], "em,f1", 40);
    let page = dir.read("p.html");
    assert_eq!(page.matches("<h2>Scores").count(), 1);
    assert!(page.contains("4 variants, 60 questions"));
    let ids: Vec<String> = (1..=60).map(|n| format!("sample-{n:03}\n")).collect();
    for (name, ids) in [("begin.ids", &ids[..20]), ("end.ids", &ids[40..])] {
        dir.write(name, ids.concat());
        dir.run(&["--quiet", "--ids", name, "--out", &name[..name.len() - 4]]).ok();
    }
    dir.run(&["--quiet", "--method", "react", "--out", "all"]).ok();
    check("two that share nothing, and one that shares with both", &dir, &["all", "begin", "end"], "em,f1", 20);
    let page = dir.read("p.html");
    assert!(page.contains("end/main and begin/main cannot be compared: they share no question"), "in words");
    dir.wikitrail(&["report", "begin", "end", "--out", "p.html", "--force"]).ok();
    let page = dir.read("p.html");
    assert!(page.contains("<h2>Scores: sample, begin/main<") && page.contains("<h2>Scores: sample, end/main<"));
}

/// The table of repairs has the figures that `branch` printed.
fn repairs(page: &str, repaired: &Value) {
    let table = &Table::all(section(page, "branches"))[0];
    let rows = repaired["repair"].as_array().expect("rows");
    assert_eq!(table.rows.len(), rows.len());
    for (at, row) in rows.iter().enumerate() {
        let shown = table.row(at);
        assert_eq!((shown["class"], shown["n"]), (row["class"].as_str().expect("a class"), &*count(&row["n"])));
        for arm in ["control", "placebo", "edited"] {
            assert_eq!(shown.get(arm).copied().unwrap_or("–"), percent(&row[arm]), "{arm}");
        }
        let difference = shown.iter().find(|(heading, _)| heading.starts_with("edited − ")).expect("a difference").1;
        let [low, high] = ["low", "high"].map(|end| points(&row["interval"][end]));
        assert_eq!(*difference, format!("{} [{low}, {high}]", points(&row["difference"])));
        assert_eq!(shown["p"], p_value(&row["p_holm"]));
    }
}

#[test]
fn branches_and_judged_runs_have_the_figures_of_compare() {
    let dir = WorkDir::new();
    dir.run(&["--quiet", "--out", "r"]).ok();
    for (at, out) in [("last-search", "b"), ("2", "second")] {
        let flags = ["branch", "r", "--wrong", "--at", at, "--with", "gold-page", "--quiet", "--json", "--out", out];
        let repaired = dir.wikitrail(&flags).json();
        check("a branch", &dir, &[out], "em,f1", 20);
        repairs(&dir.read("p.html"), &repaired);
    }
    let one = judge::server(judge::in_words, judge::fair);
    let other = judge::server(|n| judge::in_words(n / 2), judge::fair);
    for (server, name) in [(&one, "one"), (&other, "other")] {
        judge::run(&dir, server, 30, name);
        let base = format!("{}/v1", server.url);
        dir.wikitrail(&["score", name, "--judge", "openai:j", "--judge-base-url", &base, "--judge-all"]).ok();
    }
    check("judged", &dir, &["one", "other"], "em,f1,judge", 25);
    let page = dir.read("p.html");
    let scores = section(&page, "scores");
    let judged = dir.wikitrail(&["compare", "one", "other", "--metric", "em,judge", "--json"]).json();
    let [em, judge] = [0, 1].map(|at| &judged["metrics"][at]["means"][0]);
    let row = &Table::all(scores)[0].rows.iter().find(|row| row[0] == em["column"]).expect("a row").join(" | ");
    assert!(row.contains(&format!(" | {} | ", percent(&judge["mean"]))), "{row}");
    // Every third answer is right by exact match, and the judge calls every other one of them right.
    assert!(scores.contains("data-show=\"disputed\" data-variant=\"one/standard\">10<"), "{scores}");
    assert!(page.contains("href=\"#/q/") && page.contains("Read the clearest flip: "), "a flip to read");
    let path = dir.root().to_str().expect("UTF-8").to_owned();
    let runs = ["one", "other"].map(|name| format!("{path}/{name}"));
    dir.wikitrail(&["report", &runs[0], &runs[1], "--out", "p.html", "--force"]).ok();
    assert!(!dir.read("p.html").contains(&path), "no folder of the author's disk");
}
