//! Running the program, and statistics in simple code of its own: sums over lists, no shared function with the program.

pub(crate) use crate::common::records;
use crate::common::{self, Ran};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Normal quantile of 0.975.
pub(crate) const Z: f64 = 1.959_963_984_540_054;

pub(crate) fn wikitrail(args: &[&str]) -> Ran {
    common::wikitrail(Path::new("."), args)
}

/// What `compare` prints; it must succeed.
pub(crate) fn compare(args: &[&str]) -> String {
    wikitrail(&[&["compare"], args].concat()).ok().stdout
}

pub(crate) fn compare_json(args: &[&str]) -> Value {
    serde_json::from_str(&compare(&[args, &["--json"]].concat())).expect("JSON")
}

/// A run of the baseline over the sample.
pub(crate) fn run(dir: &Path, name: &str, args: &[&str]) -> String {
    let out = dir.join(name).to_str().expect("UTF-8").to_owned();
    wikitrail(&[&["run", "--quiet", "--out", &out], args].concat()).ok();
    out
}

/// A copy of a run whose trajectories are changed one by one.
pub(crate) fn copy(from: &str, to: &Path, change: impl FnMut(&mut Value)) -> String {
    std::fs::create_dir_all(to).expect("a folder");
    std::fs::copy(Path::new(from).join("manifest.json"), to.join("manifest.json")).expect("copied");
    let mut records = records(from);
    records.iter_mut().for_each(change);
    let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(to.join("trajectories.jsonl"), lines.concat()).expect("written");
    to.to_str().expect("UTF-8").to_owned()
}

pub(crate) fn write(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

/// A table with these columns, one question a row.
pub(crate) fn table(columns: &[(&str, Vec<f64>)]) -> String {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut text = format!("id,{}\n", names.join(","));
    for row in 0..columns[0].1.len() {
        let cells: Vec<String> = columns.iter().map(|(_, values)| values[row].to_string()).collect();
        text = format!("{text}q{row:03},{}\n", cells.join(","));
    }
    text
}

/// EM of an answer as the sample is scored: the answer and a gold are the same words.
pub(crate) fn em(record: &Value) -> f64 {
    let Some(answer) = record["answer"].as_str() else { return 0.0 };
    let golds = record["answers"].as_array().expect("golds");
    f64::from(u8::from(golds.iter().any(|gold| words(gold.as_str().expect("text")) == words(answer))))
}

/// A figure of each question under a variant, in the order of their ids, which is that of the sample.
pub(crate) fn column(run: &str, variant: &str, value: fn(&Value) -> f64) -> Vec<f64> {
    let records = records(run);
    let of = records.iter().filter(|record| record["variant"] == variant);
    let values: BTreeMap<&str, f64> = of.map(|record| (record["id"].as_str().expect("an id"), value(record))).collect();
    values.into_values().collect()
}

/// The words that count, in lower case, without punctuation and articles.
pub(crate) fn words(text: &str) -> Vec<String> {
    let kept: String = text.to_lowercase().chars().filter(|c| !c.is_ascii_punctuation()).collect();
    let words = kept.split_whitespace().filter(|word| !["a", "an", "the"].contains(word));
    words.map(str::to_owned).collect()
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / float(values.len())
}

/// Standard error of a mean, divided by n - 1.
pub(crate) fn standard_error(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / float(values.len() - 1) / float(values.len())).sqrt()
}

pub(crate) fn wilson(right: usize, n: usize) -> (f64, f64) {
    let (p, n) = (float(right) / float(n), float(n));
    let centre = p + Z * Z / (2.0 * n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    ((centre - half) / scale, (centre + half) / scale)
}

/// Exact two-sided `McNemar` p of two discordant counts: twice the binomial tail, at most 1.
pub(crate) fn mcnemar(b: usize, c: usize) -> f64 {
    let n = b + c;
    let mut term = 0.5_f64.powi(i32::try_from(n).expect("small"));
    let mut tail = 0.0;
    for k in 0..=b.min(c) {
        tail += term;
        term *= float(n - k) / float(k + 1);
    }
    (2.0 * tail).min(1.0)
}

/// Holm's correction.
pub(crate) fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut corrected = vec![0.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, &at) in order.iter().enumerate() {
        largest = largest.max((p[at] * float(p.len() - rank)).min(1.0));
        corrected[at] = largest;
    }
    corrected
}

#[allow(clippy::cast_precision_loss, reason = "small counts")]
pub(crate) fn float(n: usize) -> f64 {
    n as f64
}

#[track_caller]
pub(crate) fn close(got: &Value, expected: f64) {
    let got = got.as_f64().unwrap_or_else(|| panic!("{got} is no number, and not {expected}"));
    assert!((got - expected).abs() <= 1e-12 * expected.abs().max(1e-3), "{got:e} is not {expected:e}");
}
