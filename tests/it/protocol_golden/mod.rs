//! Dialogues and parsers against vectors recorded from the original systems: one file a system, one table for all.

use crate::common;
mod environment;
mod go_blog;
mod lagent;
mod llama_index;
mod qwen_agent;
mod react_paper;
mod react_zh;

use serde_json::Value;
use std::fmt::Write as _;
use std::sync::Arc;
use wikitrail::protocol::{Dialogue, Frame, Options, Parsed, Protocol, Setup, find};
use wikitrail::types::Decoding;

/// What the vectors of one file gave.
#[derive(Debug)]
pub(crate) struct Row {
    /// Name of the golden file.
    pub(crate) file: &'static str,
    /// What was compared.
    pub(crate) what: &'static str,
    /// Vectors that were equal.
    pub(crate) equal: usize,
    /// Vectors in the file that this row is about.
    pub(crate) total: usize,
    /// Vectors whose upstream behaviour cannot be kept, each with the reason; they end in a typed stop, which was
    /// checked, and they count as equal.
    pub(crate) otherwise: Vec<(String, &'static str)>,
}

/// The lines of a golden file; none where the shared folder is absent.
pub(crate) fn rows(file: &str) -> Option<Vec<Value>> {
    let path = common::shared()?.join("golden/protocols").join(format!("{file}.jsonl"));
    let text = std::fs::read_to_string(&path).expect("the golden file is readable");
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a golden line is JSON")).collect())
}

/// The protocol with options given as `[("name", "value")]`.
pub(crate) fn protocol(id: &str, options: &[(&str, &str)]) -> Arc<dyn Protocol> {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    find(id, &Options(options)).expect("a known protocol").expect("known options")
}

/// A setup around a frame, with the label `Question`.
pub(crate) fn setup(frame: Frame, max_steps: usize) -> Arc<Setup> {
    Arc::new(Setup {
        frame,
        question_label: "Question".to_owned(),
        max_steps,
        thoughts: true,
        decoding: Decoding::default(),
        history: Vec::new(),
    })
}

/// A dialogue of a protocol.
pub(crate) fn dialogue(protocol: &dyn Protocol, frame: Frame, max_steps: usize) -> Box<dyn Dialogue> {
    protocol.dialogue(&setup(frame, max_steps))
}

/// The strings of a JSON array.
pub(crate) fn strings(value: &Value) -> Vec<String> {
    value.as_array().expect("array").iter().map(|v| v.as_str().expect("string").to_owned()).collect()
}

/// Compares a reply, parsed, with the fields that the mapping of `expected_parse.py` names for its vector.
pub(crate) fn assert_parsed(name: &Value, got: &Parsed, expected: &Value) {
    let got = serde_json::to_value(got).expect("a parsed reply serialises");
    for (field, value) in expected.as_object().expect("an object of fields") {
        assert_eq!(&got[field], value, "{name}, {field}");
    }
}

/// All systems, counted: 630 vectors.
#[test]
fn every_vector_of_every_system() {
    let systems = [
        react_paper::checks,
        react_zh::checks,
        qwen_agent::checks,
        llama_index::checks,
        go_blog::checks,
        lagent::checks,
        environment::checks,
    ];
    let mut table = Vec::new();
    for checks in systems {
        let Some(rows) = checks() else { return };
        table.extend(rows);
    }
    let mut text = String::from("\nvectors                              compared                     equal of total\n");
    for row in &table {
        writeln!(text, "{:<36} {:<28} {:>5} of {}", row.file, row.what, row.equal, row.total).expect("a string");
        for (name, reason) in &row.otherwise {
            writeln!(text, "    kept otherwise: {name}: {reason}").expect("a string");
        }
    }
    let (equal, total) = table.iter().fold((0, 0), |(e, t), row| (e + row.equal, t + row.total));
    writeln!(text, "{:<65} {equal:>5} of {total}", "all").expect("a string");
    show(&text);
    assert_eq!(equal, total);
}

/// Test output is where the table belongs.
#[expect(clippy::print_stdout, reason = "a test's table is read by a person")]
fn show(text: &str) {
    println!("{text}");
}
