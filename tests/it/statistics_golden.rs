//! Every figure of `tests/golden/scoring/stats_vectors.json` that one of our methods gives, to 1e-12 of its size, counts
//! exactly; what `compare --from-csv` shows is taken from its output. What is not ours is named here with the reason; a key that is neither fails.

use crate::common::golden;
use crate::compare_support::{compare_json, table, write};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wikitrail::compare::statistics::normal_quantile;
use wikitrail::compare::statistics::resampled_means;
use wikitrail::compare::statistics::{
    McNemar, benjamini_hochberg, bonferroni, clopper_pearson, holm, questions_needed, wilson,
};

/// Figures that are not ours by choice: the end of the key, and why.
const NOT_OURS: [(&str, &str); 4] = [
    ("_ci95_normal", "Wald's interval misses its level near 0 and 1; Wilson's stands in its place"),
    ("_ci95_agresti_coull", "an approximation of Wilson's interval"),
    ("_ci95_jeffreys", "a credible interval under a prior; Wilson's and Clopper and Pearson's need none"),
    ("_scipy_bca_default_rng0", "drawn with numpy's generator, which we do not have"),
];

/// Comparisons by kind of figure: how many were compared, and the largest relative difference.
#[derive(Default)]
struct Ledger {
    kinds: BTreeMap<String, (usize, f64)>,
    left_out: BTreeMap<&'static str, usize>,
    faults: Vec<String>,
}

impl Ledger {
    /// Compares trees of numbers. What only the other side has is no fault; what only the vectors have is one.
    fn compare(&mut self, place: &str, kind: &str, expected: &Value, got: &Value) {
        match (expected, got) {
            (Value::Array(expected), Value::Array(got)) if expected.len() == got.len() => {
                for (i, (expected, got)) in expected.iter().zip(got).enumerate() {
                    self.compare(&format!("{place}[{i}]"), kind, expected, got);
                }
            }
            (Value::Object(expected), Value::Object(got)) => {
                for (name, expected) in expected {
                    let got = got.get(name).unwrap_or(&Value::Null);
                    self.compare(&format!("{place}.{name}"), kind, expected, got);
                }
            }
            (Value::Number(expected), Value::Number(got)) => {
                let (expected, got) = (expected.as_f64().expect("a number"), got.as_f64().expect("a number"));
                let size = expected.abs().max(got.abs());
                let off = if size > 0.0 { (expected - got).abs() / size } else { 0.0 };
                let (n, worst) = self.kinds.entry(kind.to_owned()).or_default();
                (*n, *worst) = (*n + 1, worst.max(off));
                if off > 1e-12 {
                    self.faults.push(format!("{place}: {got:e} is not {expected:e} (off by {off:.1e})"));
                }
            }
            (Value::Null, Value::Null) => self.kinds.entry(kind.to_owned()).or_default().0 += 1,
            _ => self.faults.push(format!("{place}: {got} is not {expected}")),
        }
    }

    #[expect(clippy::print_stdout, reason = "the table is what the test is read for")]
    fn print(&self) {
        println!("{:<34}{:>8}{:>14}", "figure", "compared", "furthest off");
        for (kind, (n, worst)) in &self.kinds {
            println!("{kind:<34}{n:>8}{worst:>14.1e}");
        }
        println!("{:<34}{:>8}", "all", self.compared());
        for (kind, n) in &self.left_out {
            let reason = NOT_OURS.iter().find(|(end, _)| end == kind).map_or("", |(_, reason)| reason);
            println!("not ours: *{kind} ({n}): {reason}");
        }
    }

    fn compared(&self) -> usize {
        self.kinds.values().map(|(n, _)| n).sum()
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|value| value.as_f64().expect("a number")).collect()
}

/// The ends of an interval.
fn ends(interval: &Value) -> Value {
    json!([interval["low"], interval["high"]])
}

/// The ends of the interval by this method.
fn interval(shown: &Value, method: &str) -> Value {
    let mut intervals = shown["intervals"].as_array().expect("intervals").iter();
    ends(intervals.find(|interval| interval["method"] == method).expect("the interval"))
}

fn column_figures(name: &str, shown: &Value, values: &[f64]) -> Vec<(String, Value)> {
    let mut figures = vec![
        (format!("{name}_mean"), shown["mean"].clone()),
        (format!("{name}_se_ddof1"), shown["se"].clone()),
        (format!("{name}_ci95_z"), interval(shown, "z")),
        (format!("{name}_ci95_t"), interval(shown, "t")),
    ];
    let right_or_wrong = values.iter().all(|value| *value <= 0.0 || *value >= 1.0);
    let of_shares = if right_or_wrong { "wilson" } else { "padded t" };
    assert_eq!(shown["interval"]["method"], of_shares);
    if name.starts_with("em") {
        let right = values.iter().filter(|value| **value > 0.0).count() as u64;
        let exact = clopper_pearson(right, values.len() as u64, 0.95);
        figures.push((format!("{name}_n_correct"), json!(right)));
        figures.push((format!("{name}_ci95_wilson"), ends(&shown["interval"])));
        figures.push((format!("{name}_ci95_beta"), json!([exact.low, exact.high])));
    }
    figures
}

fn differences(name: &str, pair: &Value, a: &[f64], b: &[f64]) -> Vec<(String, Value)> {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
    let (tests, bootstrap) = (&pair["tests"], &pair["bootstrap"]);
    let sampled = &tests["permutation_sampled"];
    let mut figures = vec![
        (format!("{name}_diff_b_minus_a"), pair["difference"].clone()),
        (format!("{name}_ttest_rel"), json!({"t": tests["t_test"]["t"], "p": tests["t_test"]["p"]})),
        (format!("{name}_paired_se"), pair["se"].clone()),
        (format!("{name}_paired_ci95_z"), interval(pair, "z")),
        (format!("{name}_unpaired_se"), pair["unpaired_se"].clone()),
        (format!("{name}_pearson_r"), pair["correlation"].clone()),
        (format!("{name}_wilcoxon_asymptotic"), json!({"W": tests["wilcoxon"]["w"], "p": tests["wilcoxon"]["p"]})),
        (
            format!("{name}_permutation_mc_splitmix"),
            json!({
                "B": sampled["patterns"], "seed": sampled["seed"], "count_ge": sampled["at_least"], "p": sampled["p"],
            }),
        ),
        (
            format!("{name}_bootstrap_splitmix"),
            json!({
                "B": bootstrap["resamples"], "seed": bootstrap["seed"], "ci_lo": bootstrap["interval"]["low"],
                "ci_hi": bootstrap["interval"]["high"], "se": bootstrap["se"],
                "mean_first5": resampled_means(&differences, 5, 12_345), "p_two_sided_centered": bootstrap["p"],
                "frac_le_0": bootstrap["share_at_most_0"],
            }),
        ),
    ];
    assert_eq!(ends(&bootstrap["interval"]), interval(pair, "bootstrap"));
    let exact = &tests["permutation"];
    if exact["seed"].is_null() {
        figures.push((format!("{name}_permutation_exact_p"), exact["p"].clone()));
        figures.push((format!("{name}_scipy_permutation_exact_p"), exact["p"].clone()));
    } else {
        assert_eq!(exact, sampled);
    }
    figures
}

fn mcnemar(shown: &Value, em_a: &[f64], em_b: &[f64]) -> Vec<(String, Value)> {
    let count =
        |a: bool, b: bool| em_a.iter().zip(em_b).filter(|(x, y)| (**x > 0.0) == a && (**y > 0.0) == b).count() as u64;
    let (only_a, only_b) = (&shown["only_a"], &shown["only_b"]);
    let smaller = only_a.as_u64().min(only_b.as_u64());
    vec![
        ("table_a_by_b".into(), json!([[count(true, true), only_a], [only_b, count(false, false)]])),
        ("mcnemar_exact".into(), json!({"statistic": smaller, "p": shown["exact_p"]})),
        ("mcnemar_midp".into(), shown["mid_p"].clone()),
        ("binomtest_two_sided".into(), shown["exact_p"].clone()),
        ("mcnemar_chi2_cc".into(), shown["corrected"].clone()),
        ("mcnemar_chi2".into(), shown["uncorrected"].clone()),
    ]
}

fn case(ledger: &mut Ledger, name: &str, case: &Value) {
    let dir = tempfile::tempdir().expect("a folder");
    let files = ["a", "b"].map(|side| {
        let columns = ["em", "f1"].map(|metric| (metric, numbers(&case[format!("{metric}_{side}")])));
        write(dir.path(), &format!("{side}.csv"), &table(&columns))
    });
    let compared = compare_json(&["--from-csv", &files[0], &files[1]]);
    assert_eq!(compared["settings"]["alpha"], 0.05);
    let mut ours = BTreeMap::new();
    for (metric, shown) in ["em", "f1"].iter().zip(compared["metrics"].as_array().expect("metrics")) {
        let [a, b] = ["a", "b"].map(|side| numbers(&case[format!("{metric}_{side}")]));
        let pair = &shown["pairs"][0];
        ours.extend(column_figures(&format!("{metric}_a"), &shown["means"][0], &a));
        ours.extend(column_figures(&format!("{metric}_b"), &shown["means"][1], &b));
        ours.extend(differences(metric, pair, &a, &b));
        if *metric == "em" {
            ours.extend(mcnemar(&pair["tests"]["mcnemar"], &a, &b));
        }
    }
    for (key, expected) in case.as_object().expect("a case") {
        if ["em_a", "em_b", "f1_a", "f1_b"].contains(&key.as_str()) {
            continue;
        }
        let place = format!("{name}.{key}");
        if let Some(got) = ours.get(key) {
            let kind = key.trim_start_matches("em_").trim_start_matches("f1_");
            let kind = kind.trim_start_matches("a_").trim_start_matches("b_");
            ledger.compare(&place, kind, expected, got);
        } else if let Some((end, _)) = NOT_OURS.iter().find(|(end, _)| key.ends_with(end)) {
            *ledger.left_out.entry(end).or_default() += 1;
        } else {
            ledger.faults.push(format!("{place}: nothing gives this figure"));
        }
    }
}

fn tables(ledger: &mut Ledger, vectors: &Value) {
    let multiple = &vectors["multiple"];
    let p = numbers(&multiple["p"]);
    let ours = json!({"p": p, "holm": holm(&p), "bonferroni": bonferroni(&p), "bh": benjamini_hochberg(&p)});
    ledger.compare("multiple", "multiple", multiple, &ours);
    let rows = |name: &str| vectors[name].as_array().cloned().expect("rows");
    for row in rows("wilson_table") {
        let (k, n) = (row["k"].as_u64().expect("k"), row["n"].as_u64().expect("n"));
        let (wilson, exact) = (wilson(k, n, 0.95), clopper_pearson(k, n, 0.95));
        let ours = json!({
            "k": k, "n": n, "lo": wilson.low, "hi": wilson.high, "cp_lo": exact.low, "cp_hi": exact.high,
        });
        ledger.compare(&format!("wilson_table {k}/{n}"), "wilson_table", &row, &ours);
    }
    for row in rows("mcnemar_table") {
        let (b, c) = (row["b"].as_u64().expect("b"), row["c"].as_u64().expect("c"));
        let test = McNemar::new(b, c);
        let ours = json!({
            "b": b, "c": c, "exact_p": test.exact_p, "chi2_cc_p": test.corrected.map(|square| square.p),
        });
        ledger.compare(&format!("mcnemar_table {b}/{c}"), "mcnemar_table", &row, &ours);
    }
    let power = &vectors["power"];
    for (name, share) in [("z_0.975", 0.975), ("z_0.8", 0.8)] {
        ledger.compare(name, "power", &power[name], &json!(normal_quantile(share)));
    }
    for row in power["n_for_mde"].as_array().expect("rows") {
        let field = |name: &str| row[name].as_f64().expect("a number");
        let n = questions_needed(field("omega2"), field("delta"), 0.05, 0.8);
        let ours = json!({"omega2": field("omega2"), "delta": field("delta"), "n": n});
        ledger.compare("n_for_mde", "power", row, &ours);
    }
}

#[test]
fn every_figure_of_the_vectors_is_ours() {
    let text = golden::text("scoring/stats_vectors.json");
    let vectors: Value = serde_json::from_str(&text).expect("the vectors");
    let known = ["versions", "rng", "cases", "multiple", "power", "wilson_table", "mcnemar_table"];
    let unknown: Vec<&String> =
        vectors.as_object().expect("vectors").keys().filter(|key| !known.contains(&key.as_str())).collect();
    assert!(unknown.is_empty(), "vectors that no method is held against: {unknown:?}");
    let mut ledger = Ledger::default();
    for (name, vectors) in vectors["cases"].as_object().expect("cases") {
        case(&mut ledger, name, vectors);
    }
    tables(&mut ledger, &vectors);
    ledger.print();
    assert!(ledger.faults.is_empty(), "{}", ledger.faults.join("\n"));
    assert!(ledger.compared() > 300, "only {} figures were compared", ledger.compared());
    golden::checked("scoring/stats_vectors.json, figures", ledger.compared());
}
