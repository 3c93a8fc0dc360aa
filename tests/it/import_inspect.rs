//! `import inspect` of packed logs; `transcripts/logs.txt` has the others.

use crate::common::WorkDir;
use serde_json::{Value, json};
use std::io::Write as _;

fn sample(id: &Value, epoch: u64, output: &str, value: &Value) -> Value {
    json!({"id": id, "epoch": epoch, "input": [{"role": "system", "content": "s"}, {"role": "user", "content": format!("Capital {id}?")}],
        "target": ["Rome", "Roma"], "messages": [{"role": "user", "content": "x"}],
        "output": {"model": "m", "choices": [{"message": {"role": "assistant", "content": [{"type": "text", "text": output}]}}]},
        "scores": {"match": {"value": value, "answer": "Roma"}}, "model_usage": {"m": {"input_tokens": 5, "output_tokens": 2}},
        "total_time": 1.5, "started_at": "2026-01-02T03:04:05+00:00"})
}

fn log(samples: &[Value]) -> String {
    json!({"version": 2, "status": "success", "eval": {"task": "capitals", "model": "openai/m", "dataset": {"name": "caps"}},
        "samples": samples})
    .to_string()
}

/// A packed log: a zip of a head and of samples.
fn packed(samples: &[Value], method: zip::CompressionMethod, head: &str) -> Vec<u8> {
    let whole: Value = serde_json::from_str(&log(&[])).expect("JSON");
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    let mut add = |name: &str, value: &Value| {
        zip.start_file(name, options).expect("an entry");
        zip.write_all(value.to_string().as_bytes()).expect("its bytes");
    };
    add("_journal/start.json", &json!({"version": 2, "eval": whole["eval"]}));
    for sample in samples {
        add(&format!("samples/{}_epoch_{}.json", sample["id"], sample["epoch"]), sample);
    }
    add("../../summaries.json", &json!([]));
    add(head, &whole);
    zip.finish().expect("a zip").into_inner()
}

#[test]
fn packed_logs_and_folders_of_logs_are_read() {
    let dir = WorkDir::new();
    let samples = [sample(&json!("a"), 1, "Rome", &json!("C")), sample(&json!("b"), 1, "Paris", &json!("I"))];
    dir.write("log.json", log(&samples));
    dir.wikitrail(&["import", "inspect", "log.json", "--out", "plain"]).ok();
    let mut methods = vec![zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated];
    #[cfg(feature = "index")]
    methods.push(zip::CompressionMethod::Zstd);
    for method in methods {
        let run = method.to_string();
        dir.write("log.eval", packed(&samples, method, "header.json"));
        dir.wikitrail(&["import", "inspect", "log.eval", "--out", &run]).ok();
        assert_eq!(dir.records(&run), dir.records("plain"), "{run}");
    }
    // One that broke off has no head.
    dir.write("log.eval", packed(&samples, zip::CompressionMethod::Deflated, "elsewhere.json"));
    let ran = dir.wikitrail(&["import", "inspect", "log.eval", "--out", "broken"]).ok();
    assert!(ran.stderr.contains("warning: log.eval: its run did not end"), "{}", ran.stderr);
    // A damaged sample costs no other; a cut file is refused.
    let bytes = packed(&samples, zip::CompressionMethod::Stored, "header.json");
    let at = bytes.windows(5).position(|window| window == b"Paris").expect("the text");
    dir.write("log.eval", [&bytes[..at], b"Pariz", &bytes[at + 5..]].concat());
    let ran = dir.wikitrail(&["import", "inspect", "log.eval", "--out", "damaged"]).ok();
    assert!(
        ran.stderr.contains("samples/\"b\"_epoch_1.json: it cannot be unpacked") && ran.stdout.contains("1 episode"),
        "{}",
        ran.stderr
    );
    for end in [30, bytes.len() / 2, bytes.len() - 5] {
        dir.write("cut.eval", &bytes[..end]);
        dir.wikitrail(&["import", "inspect", "cut.eval", "--out", "n"])
            .refused(3, &["`cut.eval` is not a log of Inspect"]);
    }
    // Each log of a folder is a variant, named after its task.
    dir.write("logs/1.json", log(&samples));
    dir.write("logs/2.eval", packed(&samples, zip::CompressionMethod::Deflated, "header.json"));
    dir.write("logs/notes.txt", "no log");
    let ran = dir.wikitrail(&["import", "inspect", "logs", "--out", "several"]).ok();
    assert!(
        ran.stdout.contains("several: 4 episodes\nvariants: capitals, capitals-2\ncapitals: right by"),
        "{}",
        ran.stdout
    );
    let compared = dir.wikitrail(&["compare", "several", "--json"]).json();
    assert_eq!(compared["metrics"][0]["pairs"][0]["n"], 2, "{compared}");
    dir.wikitrail(&["import", "inspect", "logs", "--out", "n", "--variant", "x"]).refused(2, &["there are 2 logs"]);
}

/// The other files that are refused are in `transcripts/logs.txt`.
#[test]
fn a_log_that_is_deep_is_refused() {
    let dir = WorkDir::new();
    dir.write("deep.json", "[".repeat(100_000));
    dir.wikitrail(&["import", "inspect", "deep.json", "--out", "r"]).refused(3, &["not a log of Inspect"]);
}
