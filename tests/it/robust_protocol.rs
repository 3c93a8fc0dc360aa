//! The figures of `docs/fidelity.md` are those of `replay --as robust`.

use crate::common;
use serde_json::Value;

fn replay(args: &[&str]) -> common::Ran {
    common::wikitrail(std::path::Path::new("."), &[&["replay"], args].concat())
}

/// The rows of the table whose header begins with these cells.
fn table(header: &[&str]) -> Vec<Vec<String>> {
    common::table_rows(&common::repository("docs/fidelity.md"), header).into_iter().map(|(_, row)| row).collect()
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_figures_are_those_of_the_command() {
    let shared = common::shared();
    let recordings = [
        ("dev_fever_000-199.jsonl", "text-davinci-002, FEVER, 200 episodes"),
        ("dev_hotpot_00-39.jsonl", "gpt-3.5-turbo, HotpotQA, 40 episodes"),
    ];
    let mut expected = Vec::new();
    for (file, name) in recordings {
        let path = shared.join("data/trajectories").join(file);
        let path = path.to_str().expect("UTF-8");
        let rows = replay(&["--import", "react-notebook", path, "--as", "robust", "--json"]).lines();
        for (kind, title) in [("bad_call", "bad calls"), ("invalid_action", "invalid actions")] {
            let of_kind: Vec<_> = rows.iter().filter(|row| row["kind"] == kind).collect();
            let mut row = vec![name.to_owned(), title.to_owned(), of_kind.len().to_string()];
            for verdict in ["as_meant", "otherwise", "executed", "refused"] {
                row.push(of_kind.iter().filter(|row| row["verdict"] == verdict).count().to_string());
            }
            expected.push(row);
        }
        check_verdicts(&rows);
    }
    assert_eq!(table(&["recording", "replies"]), expected);
}

/// The verdicts follow from what else the rows say.
fn check_verdicts(rows: &[Value]) {
    for row in rows {
        let parsed = &row["parsed"];
        let done = match parsed["kind"].as_str() {
            Some("act") => Some((parsed["tool"].clone(), parsed["input"].clone())),
            Some("finish") => Some(("Finish".into(), parsed["answer"].clone())),
            _ => None,
        };
        let meant = row["meant"].as_object().map(|meant| (meant["tool"].clone(), meant["input"].clone()));
        let same = |(a, b): (&(Value, Value), &(Value, Value))| {
            let folded = |value: &Value| value.as_str().expect("a text").trim().to_lowercase();
            folded(&a.0) == folded(&b.0) && folded(&a.1) == folded(&b.1)
        };
        let expected = match (&done, &meant) {
            (None, _) => "refused",
            (Some(_), None) => "executed",
            (Some(done), Some(meant)) if same((done, meant)) => "as_meant",
            _ => "otherwise",
        };
        assert_eq!(row["verdict"], expected, "{row}");
    }
}
