//! What commands print and leave behind, as files in `tests/it/transcripts` that a person can read: each is played and held to what is
//! written there. `INSTA_UPDATE=always cargo test --test it transcripts::` writes them anew; the diff is what is reviewed.
//!
//! | a line begins with | and is |
//! |---|---|
//! | `## ` | a title: what follows runs in an empty folder; with `[unix]` at its end, only on Unix |
//! | `+ NAME`, then `\| ` | a file and its lines; `\|.` at their end: without the last line break |
//! | `- NAME` | a file, or a folder with a slash, that is deleted |
//! | `$ wikitrail ` | a command; its standard output follows, two spaces before each line, then its errors after `! ` |
//! | `$ sh ` | a line of the shell, which knows `wikitrail` |
//! | `0 NAME` | a run, which gets the same times whenever it ran |
//! | `? ` | the exit code, where it is not 0 |
//! | `> NAME` | a file that a command wrote; its text follows, two spaces before each line |
//! | `% NAME=VALUE` | variables of all commands below; `PWD` is the folder in which they run |
//! | `* FROM TO` | a copy of a file, or of a folder with slashes; at the end of a file that is there |
//! | `: NAME POINTER = JSON` | a value in each JSON of a file, in the second one with `NAME:2`, in those of a question with `NAME:ID`; taken out where nothing follows `=`, and the whole JSON with the pointer `/` |
//! | `: NAME TEXT => TEXT` | another text in a file |
//! | `@ NAME` | a model's server that answers by the rules in a file, see `rule` |
//! | `^ ` | requests to it since the last time, sorted, equal ones counted |
//! | `& ` | `wikitrail` with these words, a server; `GET TARGET` and `POST TARGET BODY` ask it: status and body follow |
//! | `~ NAME` | a file, or a folder with a slash; a number follows that stands for its bytes: the same number, the same bytes |
//! | `= ` | the files that are there now |
//!
//! Before `wikitrail` there may be variables too; after its words `< NAME`, a file for its standard input. After a command, a file, `^` or a request ` | ` may follow, with pointers (only these values of each JSON, `*` for each of a list, `-` where there
//! is none) or words (only lines with one of them). `[server]`, `[host]` and `[folder]` stand for the address of the model's server and for
//! the folder.
//!
//! Characters that cannot be seen are written as `\u{1b}`; where a command itself prints `\u{1b}`, that is `\\u{1b}`.

use crate::common::server::{self, Server};
use crate::common::{Ran, WorkDir, read, shell};
#[cfg(all(unix, feature = "serve"))]
use crate::serve_support::Served;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;

macro_rules! transcripts {
    ($($(#[$meta:meta])? $name:ident)*) => { $(#[test] $(#[$meta])? fn $name() { hold(stringify!($name)); })* };
}

transcripts! {
    agents
    annotations
    answers
    branches
    classifications
    comparisons
    corpora
    datasets
    experiments
    exports
    failures
    folders
    imports
    inputs
    logs
    prompts
    results
    runs
    scores
    #[cfg(all(unix, feature = "serve"))]
    served
    servers
    #[cfg(unix)]
    settings
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

/// What the lines below a title share.
struct Stage {
    folder: WorkDir,
    today: String,
    variables: Vec<String>,
    contents: Vec<BTreeMap<PathBuf, Vec<u8>>>,
    server: Option<Server>,
    /// Requests that `^` has shown.
    shown: usize,
    #[cfg(all(unix, feature = "serve"))]
    served: Option<Served>,
}

impl Stage {
    fn new() -> Self {
        Self {
            folder: WorkDir::new(),
            today: today(),
            variables: Vec::new(),
            contents: Vec::new(),
            server: None,
            shown: 0,
            #[cfg(all(unix, feature = "serve"))]
            served: None,
        }
    }

    /// A text of the transcript with the addresses that it has this time.
    fn filled(&self, text: &str) -> String {
        let text = text.replace("[folder]", &self.folder.root().to_string_lossy());
        let Some(server) = &self.server else { return text };
        text.replace("[server]", &server.url).replace("[host]", server.url.trim_start_matches("http://"))
    }
}

/// The script of a transcript, with what its commands print now.
fn play(script: &str) -> String {
    let (mut stage, mut played, mut is_copied) = (Stage::new(), String::new(), false);
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        is_copied = if line.starts_with("## ") { cfg!(not(unix)) && line.ends_with(" [unix]") } else { is_copied };
        if is_copied {
            played = played + line + "\n";
            continue;
        }
        if ["  ", "! ", "? "].iter().any(|mark| line.starts_with(mark)) {
            continue;
        }
        if line.starts_with("= ") {
            let _ = writeln!(played, "= {}", names(stage.folder.root()));
            continue;
        }
        if let Some(name) = line.strip_prefix("~ ") {
            let name = name.split(" #").next().expect("a name");
            compare(&mut played, &mut stage, name);
            continue;
        }
        played = played + line + "\n";
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        match mark {
            "##" => stage = Stage::new(),
            "+" => {
                let mut text = String::new();
                while let Some(line) = lines.next_if(|line| line.starts_with('|')) {
                    played = played + line + "\n";
                    if line == "|." {
                        text.truncate(text.len() - 1);
                    } else {
                        text = text + &unescaped(line.strip_prefix("| ").unwrap_or_default()) + "\n";
                    }
                }
                stage.folder.write(rest, stage.filled(&text));
            }
            "-" => match rest.strip_suffix('/') {
                Some(name) => std::fs::remove_dir_all(stage.folder.path(name)).expect("a folder to delete"),
                None => std::fs::remove_file(stage.folder.path(rest)).expect("a file to delete"),
            },
            "*" => {
                let (from, to) = rest.split_once(' ').expect("two names");
                let mut files = BTreeMap::new();
                collect(&stage.folder.path(from), Path::new(""), &mut files);
                for (name, bytes) in files {
                    let to = format!("{to}{}", name.display());
                    let before = std::fs::read(stage.folder.path(&to)).unwrap_or_default();
                    stage.folder.write(&to, [before, bytes].concat());
                }
            }
            "%" => stage.variables = arguments(rest),
            ":" => change(&stage, rest),
            "@" => {
                let rules = crate::common::lines(&stage.folder.read(rest));
                stage.server =
                    Some(Server::start(move |number, request, stream| rule(&rules, (number, request), stream)));
                stage.shown = 0;
            }
            "^" => requests(&mut played, &mut stage, &arguments(rest)),
            "$" => match rest.strip_prefix("sh ") {
                Some(line) => {
                    let line = unescaped(&stage.filled(line));
                    ran(&mut played, &stage, shell(stage.folder.root(), &line), &[]);
                }
                None => run(&mut played, &stage, &arguments(rest)),
            },
            "0" => crate::snapshots::fix_times(&stage.folder, rest),
            ">" => {
                let (name, wanted) = rest.split_once(" | ").unwrap_or((rest, ""));
                let file = std::fs::read_to_string(stage.folder.path(name));
                let text = file.map_or("[no such file]\n".to_owned(), |text| selected(&text, &arguments(wanted)));
                let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
                if !wanted.is_empty() && Path::new(name).extension().is_some_and(|end| end == "jsonl") {
                    // Episodes end in any order.
                    lines.sort_unstable();
                }
                show(&mut played, &stage, "  ", &lines.concat());
            }
            #[cfg(all(unix, feature = "serve"))]
            "&" => {
                let words = arguments(&stage.filled(rest));
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                stage.served = Some(Served::of(stage.folder.root(), &words));
            }
            #[cfg(all(unix, feature = "serve"))]
            "GET" | "POST" => ask(&mut played, &stage, mark, &arguments(rest)),
            _ => {}
        }
    }
    played
}

fn run(played: &mut String, stage: &Stage, words: &[String]) {
    let words: Vec<String> = words.iter().map(|word| stage.filled(word)).collect();
    let Some(start) = words.iter().position(|word| word == "wikitrail") else { return };
    let (variables, words) = (&words[..start], &words[start + 1..]);
    let (words, wanted) = piped(words);
    let (words, input) = match words.iter().position(|word| word == "<") {
        Some(at) => (&words[..at], std::fs::File::open(stage.folder.path(&words[at + 1])).expect("an input").into()),
        None => (words, Stdio::null()),
    };
    let mut program = stage.folder.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let own = stage.variables.iter().map(|variable| stage.filled(variable));
    for variable in own.chain(variables.iter().cloned()) {
        let (name, value) = variable.split_once('=').expect("NAME=VALUE");
        if name == "PWD" {
            program.current_dir(stage.folder.path(value));
        }
        program.env(name, value);
    }
    ran(played, stage, Ran::from(&program.stdin(input).output().expect("wikitrail runs")), wanted);
}

fn ran(played: &mut String, stage: &Stage, Ran { code, stdout, stderr }: Ran, wanted: &[String]) {
    show(played, stage, "  ", &selected(&stdout, wanted));
    show(played, stage, "! ", &stderr);
    let code = code.expect("not killed");
    if code != 0 {
        let _ = writeln!(played, "? {code}");
    }
}

/// Words before and after a bar.
fn piped(words: &[String]) -> (&[String], &[String]) {
    let at = words.iter().rposition(|word| word == "|").filter(|at| at + 1 < words.len());
    at.map_or((words, &[]), |at| (&words[..at], &words[at + 1..]))
}

/// What is wanted of a text: values of JSON, or lines, or all.
fn selected(text: &str, wanted: &[String]) -> String {
    if !wanted.iter().any(|word| word.starts_with('/')) {
        let is_wanted = |line: &&str| wanted.iter().any(|word| line.contains(word.as_str()));
        return if wanted.is_empty() {
            text.to_owned()
        } else {
            text.split_inclusive('\n').filter(is_wanted).collect()
        };
    }
    let line = |value: Result<Value, _>| {
        let value = value.unwrap_or_else(|error| panic!("{error}: {text}"));
        let pairs = wanted.iter().map(|pointer| format!("{pointer} {}", at(&value, pointer)));
        pairs.collect::<Vec<_>>().join("  ") + "\n"
    };
    serde_json::Deserializer::from_str(text).into_iter().map(line).collect()
}

/// The value at a pointer, and the list of those in a list where that has a star.
fn at(value: &Value, pointer: &str) -> String {
    match pointer.split_once("/*") {
        None => value.pointer(pointer).map_or_else(|| "-".to_owned(), |value| rounded(value.clone()).to_string()),
        Some((list, rest)) => {
            let list = value.pointer(list).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            format!("[{}]", list.iter().map(|value| at(value, rest)).collect::<Vec<_>>().join(","))
        }
    }
}

/// Fractions to nine digits: the last ones are not those of every machine.
fn rounded(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(rounded).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, rounded(value))).collect(),
        Value::Number(number) if number.is_f64() => {
            json!(format!("{:.8e}", number.as_f64().expect("a number")).parse::<f64>().expect("a number"))
        }
        value => value,
    }
}

/// Changes a file: a value of its JSON, or a text.
fn change(stage: &Stage, what: &str) {
    if let Some((name, (old, new))) =
        what.split_once(' ').and_then(|(name, rest)| Some((name, rest.split_once(" => ")?)))
    {
        let text = stage.folder.read(name);
        assert!(text.contains(&unescaped(old)), "{old} is not in {name}:\n{text}");
        return stage.folder.write(name, text.replace(&unescaped(old), &unescaped(new)));
    }
    let (place, value) = what.split_once(" =").expect("a place and a value");
    let (name, pointer) = place.split_once(' ').expect("a name and a pointer");
    let (name, only) = name.split_once(':').map_or((name, None), |(name, only)| (name, Some(only)));
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
    let text = stage.folder.read(name);
    let values =
        serde_json::Deserializer::from_str(&text).into_iter::<Value>().enumerate().filter_map(|(at, whole)| {
            let mut whole = whole.expect("JSON");
            if only.is_none_or(|only| whole["id"] == only || only == (at + 1).to_string()) {
                if pointer == "/" {
                    return None;
                }
                let parent = whole.pointer_mut(parent).unwrap_or_else(|| panic!("{name} has no {parent}"));
                match (parent, value.trim()) {
                    (Value::Object(fields), "") => drop(fields.remove(field).expect("a field")),
                    (Value::Object(fields), value) => {
                        fields.insert(field.to_owned(), serde_json::from_str(&stage.filled(value)).expect("JSON"));
                    }
                    (parent, value) => parent[field.parse::<usize>().expect("a place")] = value.parse().expect("JSON"),
                }
            }
            Some(format!("{whole}\n"))
        });
    stage.folder.write(name, values.collect::<String>());
}

/// Answers by the first rule that is meant: its texts in `if` are all in the request, whose number is `at`, or is `below` it. It
/// answers with `status`, after which there may be headers, and `body`, or `html` of a `type`, or with a completion that says `say`.
fn rule(rules: &[Value], (number, request): (usize, &str), stream: &mut TcpStream) {
    let number = number as u64;
    let is_meant = |rule: &&Value| {
        let texts = rule["if"].as_array().map_or(&[][..], Vec::as_slice);
        texts.iter().all(|text| request.contains(text.as_str().expect("a text")))
            && rule["at"].as_u64().is_none_or(|at| at == number)
            && rule["below"].as_u64().is_none_or(|end| number < end)
    };
    let rule = rules.iter().find(is_meant).expect("a rule for each request");
    let message = json!({"message": {"content": rule["say"]}, "finish_reason": "stop"});
    let said = json!({"choices": [message], "usage": {"prompt_tokens": 10, "completion_tokens": 5}});
    let status = rule["status"].as_str().unwrap_or("200 OK");
    let Some(page) = rule["html"].as_str().map(|page| page.replace("NUMBER", &number.to_string())) else {
        return server::answer(stream, status, rule.get("body").unwrap_or(&said));
    };
    let kind = rule["type"].as_str().unwrap_or("text/html");
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close");
    let _ = write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{page}", page.len());
}

/// The requests to the model's server, each on a line: its first one, and what is wanted of its head or of its body.
fn requests(played: &mut String, stage: &mut Stage, words: &[String]) {
    let server = stage.server.as_ref().expect("a server");
    let (all, (_, wanted)) = (server.requests(), piped(words));
    let (pointers, words): (Vec<String>, Vec<String>) = wanted.iter().cloned().partition(|word| word.starts_with('/'));
    let mut counted = BTreeMap::new();
    for request in &all[stage.shown..] {
        let (head, body) = request.split_once("\r\n\r\n").expect("a head");
        let mut line = head.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
        if !words.is_empty() {
            line += &selected(&head.replace("\r\n", "\n  "), &words).trim_end().replace('\n', "");
        }
        if !pointers.is_empty() {
            line = line + "  " + selected(body, &pointers).trim_end();
        }
        *counted.entry(line).or_insert(0) += 1;
    }
    stage.shown = all.len();
    let text: Vec<String> = counted.iter().map(|(line, count)| format!("{count} × {line}\n")).collect();
    show(played, stage, "  ", &text.concat());
}

/// Asks the server that is under way.
#[cfg(all(unix, feature = "serve"))]
fn ask(played: &mut String, stage: &Stage, method: &str, words: &[String]) {
    let served = stage.served.as_ref().expect("a server");
    let (words, wanted) = piped(words);
    let answer = match (method, words) {
        ("GET", [target]) => served.get(target),
        (_, [target, body]) if body.starts_with(['{', '[']) => served.post(target, "application/json", body),
        (_, [target, body]) => served.post(target, "application/x-www-form-urlencoded", body),
        _ => panic!("no request: {words:?}"),
    };
    let body = answer.body.replace(&served.url, "[served]").replace(served.host(), "[served]");
    let (in_head, in_body): (Vec<String>, Vec<String>) = wanted.iter().cloned().partition(|word| word.ends_with(':'));
    let _ = writeln!(played, "? {}", answer.status);
    if !in_head.is_empty() {
        let head = answer.head.replace('\r', "").replace(served.host(), "[served]") + "\n";
        show(played, stage, "! ", &selected(&head, &in_head));
    }
    show(played, stage, "  ", &selected(&(body.trim_end().to_owned() + "\n"), &in_body));
}

/// The lines of a text, each after a mark.
fn show(played: &mut String, stage: &Stage, mark: &str, text: &str) {
    let whole = text.strip_suffix('\n');
    for line in whole.unwrap_or(text).split('\n').filter(|_| !text.is_empty()).filter_map(|line| steady(line, stage)) {
        // Writing to a String cannot fail.
        let _ = writeln!(played, "{mark}{}", escaped(&line));
    }
    if whole.is_none() && !text.is_empty() {
        played.truncate(played.len() - 1);
        played.push_str("[no line break]\n");
    }
}

/// The number of a file's or a folder's bytes among those that were seen so far, and a folder's names.
fn compare(played: &mut String, stage: &mut Stage, name: &str) {
    let (path, contents) = (stage.folder.path(name), &mut stage.contents);
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
fn steady(line: &str, stage: &Stage) -> Option<String> {
    let is_progress = line.contains(" episode") && line.contains(", ETA ");
    let mut line = line.replace(&*stage.folder.root().to_string_lossy(), "[folder]");
    if let Some(server) = &stage.server {
        line = line.replace(&server.url, "[server]").replace(server.url.trim_start_matches("http://"), "[host]");
    }
    let line = line.replace(concat!("wikitrail ", env!("CARGO_PKG_VERSION")), "wikitrail [version]");
    let line = line.replace("refused (os error 61)", "refused (os error 111)");
    let line = match line.split_once("tokens (in + out), ").filter(|(_, rest)| rest.contains(", started ")) {
        Some((before, _)) => before.to_owned() + "tokens (in + out), [time]",
        None if line.starts_with("latency  ") => "latency        [time]".to_owned(),
        None => line,
    };
    let line = undated(&line.replace(env!("CARGO_BIN_EXE_wikitrail"), "wikitrail"), &stage.today);
    let line = without_rate(&undated(&line, &today()));
    // A run without an episode says it only sometimes.
    let line = line.split_once("; the run took ").map_or(line.clone(), |(before, _)| before.to_owned());
    let line = if cfg!(windows) { as_on_unix(&line) } else { line };
    (!is_progress).then_some(steady_json(&line))
}

/// A line without how fast something was.
fn without_rate(line: &str) -> String {
    let mut pieces = line.split(" ms").peekable();
    let mut steady = String::with_capacity(line.len());
    while let Some(piece) = pieces.next() {
        let is_time = pieces.peek().is_some() && piece.ends_with(|c: char| c.is_ascii_digit());
        steady += if is_time { piece.trim_end_matches(|c: char| c.is_ascii_digit()) } else { piece };
        steady += if is_time {
            "[time]"
        } else if pieces.peek().is_some() {
            " ms"
        } else {
            ""
        };
    }
    let Some((before, _)) = steady.split_once(", took ") else { return steady };
    before.split(", ").filter(|part| !part.ends_with("/s")).collect::<Vec<_>>().join(", ") + ", took [time]"
}

fn today() -> String {
    jiff::Timestamp::now().to_string()[..10].to_owned()
}

/// A line without this day, and without the time of the day that stands behind it.
fn undated(line: &str, today: &str) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    [today, &today.replace('-', "")].iter().fold(line.to_owned(), |line, today| {
        let mut pieces = line.split(today);
        let mut undated = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let time = piece.strip_prefix(['T', ' ', '-']).filter(|time| time.starts_with(is_digit));
            let rest = time.map_or(piece, |time| time.trim_start_matches(|c| is_digit(c) || "-:.Z".contains(c)));
            let colon = if piece[..piece.len() - rest.len()].ends_with(':') { ":" } else { "" };
            undated = undated + "[today]" + colon + rest;
        }
        undated
    })
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
