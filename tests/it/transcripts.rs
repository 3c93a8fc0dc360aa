//! What commands print and leave behind, as files in `tests/it/transcripts` that a person can read: each is played and held to what is
//! written there. `INSTA_UPDATE=always cargo test --test it transcripts::` writes them anew; the diff is what is reviewed.
//!
//! | a line begins with | and is |
//! |---|---|
//! | `## ` | a title: what follows runs in an empty folder |
//! | `+ NAME`, then `\| ` | a file and its lines; `\|.` at their end: without the last line break |
//! | `- NAME` | a file, or a folder with a slash, that is deleted |
//! | `$ wikitrail ` | a command; its standard output follows, two spaces before each line, then its errors after `! ` |
//! | `? ` | the exit code, where it is not 0 |
//! | `> NAME` | a file that a command wrote; its text follows, two spaces before each line |
//! | `~ NAME` | a file, or a folder with a slash; a number follows that stands for its bytes: the same number, the same bytes |
//! | `= ` | the files that are there now |
//!
//! Characters that cannot be seen are written as `\u{1b}`; where a command itself prints `\u{1b}`, that is `\\u{1b}`.

use crate::common::{Ran, WorkDir, read};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

macro_rules! transcripts {
    ($($name:ident)*) => { $(#[test] fn $name() { hold(stringify!($name)); })* };
}

transcripts! {
    branches
    comparisons
    corpora
    datasets
    experiments
    exports
    imports
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
    let (mut folder, mut contents, mut played) = (WorkDir::new(), Vec::new(), String::new());
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        if ["  ", "! ", "? "].iter().any(|mark| line.starts_with(mark)) {
            continue;
        }
        if line.starts_with("= ") {
            let _ = writeln!(played, "= {}", names(folder.root()));
            continue;
        }
        if let Some(name) = line.strip_prefix("~ ") {
            let name = name.split(" #").next().expect("a name");
            compare(&mut played, &folder, name, &mut contents);
            continue;
        }
        played = played + line + "\n";
        if line.starts_with("## ") {
            folder = WorkDir::new();
            contents.clear();
        } else if let Some(name) = line.strip_prefix("+ ") {
            let mut text = String::new();
            while let Some(line) = lines.next_if(|line| line.starts_with('|')) {
                played = played + line + "\n";
                if line == "|." {
                    text.truncate(text.len() - 1);
                } else {
                    text = text + &unescaped(line.strip_prefix("| ").unwrap_or_default()) + "\n";
                }
            }
            folder.write(name, text);
        } else if let Some(name) = line.strip_prefix("- ") {
            match name.strip_suffix('/') {
                Some(name) => std::fs::remove_dir_all(folder.path(name)).expect("a folder to delete"),
                None => std::fs::remove_file(folder.path(name)).expect("a file to delete"),
            }
        } else if let Some(name) = line.strip_prefix("> ") {
            show(&mut played, &folder, "  ", &folder.read(name));
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
    show(played, folder, "  ", &stdout);
    show(played, folder, "! ", &stderr);
    let code = code.expect("not killed");
    if code != 0 {
        let _ = writeln!(played, "? {code}");
    }
}

/// The lines of a text, each after a mark.
fn show(played: &mut String, folder: &WorkDir, mark: &str, text: &str) {
    let whole = text.strip_suffix('\n');
    for line in whole.unwrap_or(text).split('\n').filter(|_| !text.is_empty()).filter_map(|line| steady(line, folder)) {
        // Writing to a String cannot fail.
        let _ = writeln!(played, "{mark}{}", escaped(&line));
    }
    if whole.is_none() && !text.is_empty() {
        played.truncate(played.len() - 1);
        played.push_str("[no line break]\n");
    }
}

/// The number of a file's or a folder's bytes among those that were seen so far, and a folder's names.
fn compare(played: &mut String, folder: &WorkDir, name: &str, contents: &mut Vec<BTreeMap<PathBuf, Vec<u8>>>) {
    let path = folder.path(name);
    let mut files = BTreeMap::new();
    collect(&path, Path::new(""), &mut files);
    let number = contents.iter().position(|other| *other == files).unwrap_or_else(|| {
        contents.push(files);
        contents.len() - 1
    });
    let listed = if name.ends_with('/') { format!(": {}", names(&path)) } else { String::new() };
    let _ = writeln!(played, "~ {name} #{}{listed}", number + 1);
}

/// Bytes by path below the first one; those of a single file have no path.
fn collect(path: &Path, below: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a folder") {
            let entry = entry.expect("an entry");
            collect(&entry.path(), &below.join(entry.file_name()), files);
        }
    } else {
        files.insert(below.to_owned(), std::fs::read(path).expect("a file to compare"));
    }
}

/// The names in a folder; those of folders end with a slash.
fn names(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut names: Vec<String> = entries
        .map(|entry| {
            let name = entry.file_name().into_string().expect("UTF-8");
            if entry.path().is_dir() { name + "/" } else { name }
        })
        .collect();
    names.sort();
    names.join(" ")
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
    let line = if cfg!(windows) { as_on_unix(&line) } else { line };
    (!is_progress).then_some(steady_json(&line))
}

/// JSON without durations, the program's version, and the digests of an index, which a library writes.
fn steady_json(line: &str) -> String {
    let line = line
        .replace(concat!("\"wikitrail\":\"", env!("CARGO_PKG_VERSION"), "\""), "\"wikitrail\":\"[version]\"")
        .replace("_ms\":null", "_ms\":[time]");
    let mut pieces = line.split("_ms\":");
    let mut steady = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        steady += if rest.len() < piece.len() { "_ms\":[time]" } else { "_ms\":" };
        steady += rest;
    }
    let Some((before, files)) = steady.split_once("\"files\":{") else { return steady };
    let mut depth = 1;
    let end = files.find(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0
    });
    format!("{before}\"files\":[files]{}", &files[end.expect("the end of an object") + 1..])
}

/// What Windows prints in its own words: the program's name, the system's errors, and separators of paths, outside of JSON.
fn as_on_unix(line: &str) -> String {
    let line =
        ["file", "path"].iter().zip([2, 3]).fold(line.replace("wikitrail.exe", "wikitrail"), |line, (what, code)| {
            let error = format!("The system cannot find the {what} specified. (os error {code})");
            line.replace(&error, "No such file or directory (os error 2)")
        });
    let mut unix = String::with_capacity(line.len());
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let is_separator = c == '\\'
            && !line.starts_with('{')
            && unix.ends_with(|c: char| c.is_alphanumeric())
            && rest.clone().take(2).collect::<String>() != "u{"
            && rest.peek().is_some_and(|c| c.is_alphanumeric());
        unix.push(if is_separator { '/' } else { c });
    }
    unix
}

#[test]
fn paths_and_errors_of_windows_are_those_of_unix() {
    let error = "error: cannot read `lists\\a.ids`: The system cannot find the path specified. (os error 3)";
    assert_eq!(as_on_unix(error), "error: cannot read `lists/a.ids`: No such file or directory (os error 2)");
    assert_eq!(as_on_unix("Usage: wikitrail.exe score"), "Usage: wikitrail score");
    for same in ["{\"a\":\"b\\nc\"}", "unused columns: `e\\u{1b}[31m`", "a line \\", "a/b"] {
        assert_eq!(as_on_unix(same), same);
    }
}

fn escaped(text: &str) -> String {
    let is_unseen = |c: char| {
        let is_mark =
            matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
        c.is_control() || is_mark
    };
    let escape = |c: char| if is_unseen(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text.replace("\\u{", "\\\\u{").chars().map(escape).collect()
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
