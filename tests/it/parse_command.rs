//! `wikitrail parse` against the checker that comes with the vectors: every reply of every system, as a user pipes it.

use crate::common::{self, Ran};
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

fn wikitrail(args: &[&str], input: &[u8]) -> Ran {
    let mut command = common::command(Path::new("."), args);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::thread::scope(|scope| {
        // It stops reading at a bad line.
        scope.spawn(move || stdin.write_all(input));
        Ran::from(&child.wait_with_output().expect("wikitrail ends"))
    })
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
    std::fs::write(&actual, wikitrail(&args, &input).ok().stdout).expect("written");
    let (equal, text) = python(&[&tool, "--check", &path(&expected), &path(&actual)])?;
    assert!(equal, "{protocol} {option}\n{text}");
    Some(())
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_checker_finds_no_difference() {
    let shared = common::shared();
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
    let ran = wikitrail(
        &["parse", "--protocol", "robust"],
        b"{\"name\": 1, \"output\": \"Action 1: Search[x]\"}\nnonsense\n",
    );
    ran.refused(3, &["stdin, line 2"]);
    let parsed = ran.stdout;
    assert_eq!(parsed.lines().count(), 1);
    assert!(parsed.starts_with("{\"name\":1,\"kind\":\"act\",") && parsed.contains("\"tool\":\"Search\""), "{parsed}");
    wikitrail(&["parse", "--protocol", "lagent", "--option", "labels=v9"], b"").refused(2, &["`labels`"]);
}
