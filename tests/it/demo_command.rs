//! `demo`: what somebody sees who has the program and nothing else.

use crate::common::{WorkDir, shell};

#[test]
fn a_folder_without_anything_shows_a_comparison_flips_and_a_page() {
    let dir = WorkDir::new();
    let ran = dir.wikitrail(&["demo", "--out", "a demo"]).ok();
    assert!(ran.stderr.contains("SmolLM2-135M-Instruct") && ran.stderr.contains("recording"), "{}", ran.stderr);
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    // A real difference, and some of the answers behind it.
    assert!(text.contains("text beats chat by") && text.contains("flipped"), "{}", ran.stdout);
    assert_eq!(dir.records("a demo").len(), 120);
    assert!(dir.records("a demo").iter().all(|record| record["outcome"] != "not_measured"));
    assert!(dir.read("a demo.html").contains("text beats chat by"));
    // The commands that it prints do the same, one after the other.
    let commands: Vec<&str> = ran.stderr.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    let other = WorkDir::new();
    let typed = shell(other.root(), &commands.join(" && ")).ok();
    assert!(typed.stdout.contains("text beats chat by"), "{}", typed.stdout);
    assert!(other.read("a demo.html").contains("text beats chat by"));
    // Again: what is there is shown, and nothing is run.
    let again = dir.wikitrail(&["demo", "--out", "a demo"]).ok();
    assert!(again.stderr.contains("$ wikitrail score 'a demo'"), "{}", again.stderr);
    assert_eq!(dir.records("a demo").len(), 120);
}
