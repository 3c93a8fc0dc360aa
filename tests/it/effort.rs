//! What it takes to see a difference: questions, repeats and cost, from an earlier run.

use crate::common::WorkDir;
use serde_json::Value;
use std::fmt::Write as _;

/// (z(0.975) + z(0.8))².
const REACH: f64 = 7.848_879_734_349_088;

fn efforts(folder: &WorkDir, args: &[&str]) -> Vec<Value> {
    let ran = folder.wikitrail(&[&["compare", "--metric", "em", "--mde", "--json"], args].concat()).ok();
    let compared: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    compared["efforts"].as_array().expect("efforts").clone()
}

fn close(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() < 1e-6 * expected)
}

#[test]
fn questions_and_repeats_are_priced_by_the_variance_of_both() {
    let folder = WorkDir::new();
    // Of 40 questions: `a` is always wrong, `b` right in both repeats of 8, and in one repeat of 16.
    let mut rows = "id,variant,repeat,em,cost_usd\n".to_owned();
    for question in 0..40 {
        for repeat in 0..2 {
            let right = u8::from(question < 8 || (question < 24 && repeat == 0));
            let _ = write!(rows, "{question},a,{repeat},0,0.01\n{question},b,{repeat},{right},0.03\n");
        }
    }
    folder.write("r.csv", rows);
    let found = efforts(&folder, &["--from-csv", "r.csv", "--metric", "cost_usd"]);
    assert_eq!(found.len(), 3);
    // Differences: 8 of 1, 16 of one half. Repeats of those 16 vary by one half, of which the average has a quarter.
    let (sum, squares) = (16.0, 8.0 + 16.0 / 4.0);
    let total = (squares - sum * sum / 40.0) / 39.0;
    let (within, added) = (16.0 * 0.5 / 40.0, 16.0 * 0.25 / 40.0);
    let between = total - added;
    for (effort, difference) in found.iter().zip([0.01, 0.03, 0.05]) {
        for (design, repeats) in [("once", 1.0), ("twice", 2.0)] {
            let questions = (REACH * (between + within / repeats) / (difference * difference)).ceil();
            assert!(close(&effort[design]["questions"], questions), "{questions}: {effort}");
            assert!(close(&effort[design]["cost_usd"], questions * repeats * 0.04), "{effort}");
        }
        let sentence = effort["sentence"].as_str().expect("a sentence");
        assert!(sentence.contains(" at 80 % power (b − a): ") && sentence.contains(" USD; dearer: "), "{sentence}");
        assert!(effort["once"]["cost_usd"].as_f64() < effort["twice"]["cost_usd"].as_f64(), "{effort}");
    }
    assert!(found[0]["sentence"].as_str().is_some_and(|text| text.starts_with("to see 1 point EM ")), "{found:?}");
}
