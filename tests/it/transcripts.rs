//! What commands print and leave behind, as files in `tests/it/transcripts` that a person can read: each is played and held to what is
//! written there. `INSTA_UPDATE=always cargo test --test it transcripts::` writes them anew; the diff is what is reviewed.
//!
//! | a line begins with | and is |
//! |---|---|
//! | `## ` | a title: what follows runs in an empty folder |
//! | `+ NAME`, then `\| ` | a file and its lines |
//! | `- NAME` | a file, or a folder with a slash, that is deleted |
//! | `$ wikitrail ` | a command; its standard output follows, two spaces before each line, then its errors after `! ` |
//! | `? ` | the exit code, where it is not 0 |
//! | `= ` | the files that are there at the end |
//!
//! Control characters are written as `\u{1b}`.

use crate::common::{Ran, WorkDir, read};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

macro_rules! transcripts {
    ($($name:ident)*) => { $(#[test] fn $name() { hold(stringify!($name)); })* };
}

transcripts! {
    branches
    corpora
    datasets
    experiments
    exports
    inputs
    prompts
    scores
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/transcripts").join(format!("{name}.txt"))
}

/// Plays a transcript and compares it with what it was.
#[track_caller]
fn hold(name: &str) {
    let expected = read(file(name));
    let played = play(&expected);
    if std::env::var("INSTA_UPDATE").is_ok_and(|mode| mode == "always") {
        std::fs::write(file(name), played).expect("written");
    } else if played != expected {
        let diff = similar::TextDiff::from_lines(&expected, &played);
        panic!(
            "{name}.txt is otherwise now; see the module's documentation\n{}",
            diff.unified_diff().context_radius(6)
        );
    }
}

/// The script of a transcript, with what its commands print now.
fn play(script: &str) -> String {
    let (mut folder, mut played) = (WorkDir::new(), String::new());
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        if ["  ", "! ", "? "].iter().any(|mark| line.starts_with(mark)) {
            continue;
        }
        if line.starts_with("= ") {
            list(&mut played, &folder);
            continue;
        }
        played = played + line + "\n";
        if line.starts_with("## ") {
            folder = WorkDir::new();
        } else if let Some(name) = line.strip_prefix("+ ") {
            let mut text = String::new();
            while let Some(line) = lines.next_if(|line| line.starts_with('|')) {
                played = played + line + "\n";
                text = text + &unescaped(line.strip_prefix("| ").unwrap_or_default()) + "\n";
            }
            folder.write(name, text);
        } else if let Some(name) = line.strip_prefix("- ") {
            match name.strip_suffix('/') {
                Some(name) => std::fs::remove_dir_all(folder.path(name)).expect("a folder to delete"),
                None => std::fs::remove_file(folder.path(name)).expect("a file to delete"),
            }
        } else if let Some(command) = line.strip_prefix("$ wikitrail") {
            run(&mut played, &folder, command);
        }
    }
    played
}

fn run(played: &mut String, folder: &WorkDir, command: &str) {
    let args = arguments(command);
    let mut program = folder.command(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let Ran { code, stdout, stderr } = Ran::from(&program.stdin(Stdio::null()).output().expect("wikitrail runs"));
    for (mark, text) in [("  ", stdout), ("! ", stderr)] {
        for line in text.lines().filter_map(|line| steady(line, folder)) {
            // Writing to a String cannot fail.
            let _ = writeln!(played, "{mark}{}", escaped(&line));
        }
    }
    let code = code.expect("not killed");
    if code != 0 {
        let _ = writeln!(played, "? {code}");
    }
}

/// The names in the folder; those of folders end with a slash.
fn list(played: &mut String, folder: &WorkDir) {
    let entries = std::fs::read_dir(folder.root()).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut names: Vec<String> = entries
        .map(|entry| {
            let name = entry.file_name().into_string().expect("UTF-8");
            if entry.path().is_dir() { name + "/" } else { name }
        })
        .collect();
    names.sort();
    let _ = writeln!(played, "= {}", names.join(" "));
}

/// A command's words; quotes of either kind hold what is between them together.
fn arguments(command: &str) -> Vec<String> {
    let (mut words, mut quote) = (Vec::new(), None);
    let mut is_open = false;
    for c in command.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                if !std::mem::replace(&mut is_open, true) {
                    words.push(String::new());
                }
            }
            None if c == ' ' => is_open = false,
            _ => {
                if !std::mem::replace(&mut is_open, true) {
                    words.push(String::new());
                }
                words.last_mut().expect("a word").push(c);
            }
        }
    }
    words.iter().map(|word| unescaped(word)).collect()
}

/// A line without what differs from one time and machine to the next; nothing for a line that is only sometimes there.
fn steady(line: &str, folder: &WorkDir) -> Option<String> {
    let is_progress = line.contains(" episodes, ") && line.contains(", ETA ");
    let line = line.replace(&*folder.root().to_string_lossy(), "[folder]");
    let line = line.replace(concat!("wikitrail ", env!("CARGO_PKG_VERSION")), "wikitrail [version]");
    // A run without an episode says it only sometimes.
    let line = line.split_once("; the run took ").map_or(line.clone(), |(before, _)| before.to_owned());
    (!is_progress).then_some(line)
}

fn escaped(text: &str) -> String {
    let escape =
        |c: char| if c.is_control() || c == '\u{feff}' { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().map(escape).collect()
}

/// The text that was escaped; other backslashes stay, as those of JSON.
fn unescaped(text: &str) -> String {
    let mut pieces = text.split("\\u{");
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (code, rest) = piece.split_once('}').expect("the end of an escape");
        let code = u32::from_str_radix(code, 16).expect("a hexadecimal number");
        whole = whole + &char::from_u32(code).expect("a character").to_string() + rest;
    }
    whole
}

/// A transcript that no test plays would never be wrong.
#[test]
fn every_transcript_is_played() {
    for entry in std::fs::read_dir(file("x").parent().expect("a folder")).expect("the transcripts") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("UTF-8");
        assert!(include_str!("transcripts.rs").contains(&format!("\n    {name}\n")), "no test plays {name}");
    }
}
