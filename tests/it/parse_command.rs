//! `wikitrail parse` against the checker that comes with the vectors: every reply of every system, as a user pipes it.

use crate::common;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a Python program prints for a set of vectors: all whose options are these.
const SELECT: &str = r#"
import json, subprocess, sys
tool, golden, protocol, option, expected = sys.argv[1:]
wanted = dict([option.split("=")]) if option else {}
lines = subprocess.run([sys.executable, tool, golden, protocol], capture_output=True, text=True, check=True).stdout
with open(expected, "w", encoding="utf-8") as out:
    out.writelines(line + "\n" for line in lines.split("\n") if line and json.loads(line)["options"] == wanted)
"#;

fn python(args: &[&str]) -> Option<(bool, String)> {
    let output = Command::new("python3").args(args).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    Some((output.status.success(), text))
}

fn wikitrail(args: &[&str], input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    let mut child = common::command(Path::new("."), args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("wikitrail runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // It stops reading at a bad line.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("wikitrail ends");
    writer.join().expect("the writer ends");
    (output.status.code(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}

fn check(shared: &Path, folder: &Path, protocol: &str, option: &str) -> Option<()> {
    let path = |path: &Path| path.to_str().expect("a UTF-8 path").to_owned();
    let (tool, golden) = (path(&shared.join("tools/expected_parse.py")), path(&shared.join("golden/protocols")));
    let (expected, actual) = (folder.join("expected.jsonl"), folder.join("actual.jsonl"));
    let (done, text) = python(&["-c", SELECT, &tool, &golden, protocol, option, &path(&expected)])?;
    assert!(done, "{text}");
    let input = std::fs::read(&expected).expect("the vectors");
    assert!(!input.is_empty(), "{protocol} {option}: no vectors");
    let mut args = vec!["parse", "--protocol", protocol];
    if !option.is_empty() {
        args.extend(["--option", option]);
    }
    let (code, stdout, stderr) = wikitrail(&args, &input);
    assert_eq!(code, Some(0), "{stderr}");
    std::fs::write(&actual, stdout).expect("written");
    let (equal, text) = python(&[&tool, "--check", &path(&expected), &path(&actual)])?;
    assert!(equal, "{protocol} {option}\n{text}");
    Some(())
}

#[test]
fn the_checker_finds_no_difference() {
    let Some(shared) = common::shared() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    for (protocol, option) in [
        ("react-paper", ""),
        ("react-zh", ""),
        ("qwen-agent", ""),
        ("llama-index", ""),
        ("go-blog", ""),
        ("lagent", ""),
        ("lagent", "labels=v0.1"),
        ("lagent", "variant=json"),
    ] {
        if check(&shared, folder.path(), protocol, option).is_none() {
            // The vectors are compared without Python in `protocol_golden`.
            return;
        }
    }
}

#[test]
fn a_bad_line_is_named() {
    let (code, stdout, stderr) = wikitrail(
        &["parse", "--protocol", "robust"],
        b"{\"name\": 1, \"output\": \"Action 1: Search[x]\"}\nnonsense\n",
    );
    assert_eq!((code, stdout.split(|byte| *byte == b'\n').count()), (Some(3), 2));
    assert!(stderr.contains("stdin, line 2") && stderr.contains("hint: "), "{stderr}");
    let parsed = String::from_utf8_lossy(&stdout);
    assert!(parsed.starts_with("{\"name\":1,\"kind\":\"act\",") && parsed.contains("\"tool\":\"Search\""), "{parsed}");
    let (code, _, stderr) = wikitrail(&["parse", "--protocol", "lagent", "--option", "labels=v9"], b"");
    assert_eq!(code, Some(2));
    assert!(stderr.contains("`labels`") && stderr.contains("hint: "), "{stderr}");
}
