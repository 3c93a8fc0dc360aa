//! Folders and files from somebody else: what they name is neither contacted nor written before a person confirms it, and
//! no key goes to a server that nobody typed.

use crate::common::server::{Server, json};
use crate::common::{Ran, WorkDir, shell};
use serde_json::json;
use std::path::Path;

/// What `OPENAI_API_KEY` holds.
const KEY: &str = "sk-victim-0123456789";

/// A model's server that anybody may ask.
fn server() -> Server {
    Server::start(|_, _, stream| {
        json(stream, &json!({"choices": [{"message": {"content": "so the answer is x"}, "finish_reason": "stop"}]}));
    })
}

/// Whether a server was sent this key.
fn got(server: &Server, key: &str) -> bool {
    server.requests().iter().any(|request| request.contains(key))
}

/// The program with a key in its environment.
fn with_key(bench: &WorkDir, args: &[&str]) -> Ran {
    Ran::from(&bench.command(args).env("OPENAI_API_KEY", KEY).output().expect("wikitrail runs"))
}

/// An experiment whose models are behind this server.
fn experiment(url: &str) -> String {
    let settings = format!("model = \"openai:m\"\nbase_url = \"{url}/v1\"\nmethod = \"cot\"");
    format!("name = \"x\"\n[[dataset]]\npath = \"datasets/sample.jsonl\"\nlimit = 2\n[settings]\n{settings}\n")
}

/// Has a folder say that it was started with this command line.
fn started_with(bench: &WorkDir, folder: &str, command: &str) {
    let mut manifest = bench.manifest(folder);
    manifest["command_line"] = ["wikitrail"].into_iter().chain(command.split(' ')).collect();
    bench.write(&format!("{folder}/manifest.json"), manifest.to_string());
}

#[test]
fn nothing_that_a_stored_command_names_is_used_before_it_is_confirmed() {
    let bench = WorkDir::new();
    let server = server();
    let url = &server.url;
    bench.run_json(&["datasets/sample.jsonl", "--limit", "1", "--out", "theirs"]);
    bench.write("evil.toml", experiment(url));
    bench.write("prices.toml", "");
    for (command, place) in [
        ("run evil.toml".to_owned(), format!("--base-url {url}/v1")),
        (format!("run --limit 2 --model openai:m --base-url={url}/v1"), format!("--base-url {url}/v1")),
        ("run --limit 2 --model openai:m --key-env HOME".to_owned(), "--key-env HOME".to_owned()),
        ("run --limit 2 --model openai:m --key-file k".to_owned(), "--key-file k".to_owned()),
        (format!("run --limit 2 --wiki api --wiki-url {url}/"), format!("--wiki-url {url}/")),
        ("run --limit 2 --record tape".to_owned(), "--record tape".to_owned()),
        ("run --limit 2 --replay tape".to_owned(), "--replay tape".to_owned()),
        ("run --limit 2 --cache cache".to_owned(), "--cache cache".to_owned()),
        ("run --limit 2 --prices prices.toml".to_owned(), "--prices prices.toml".to_owned()),
    ] {
        // A flag of the first start confirms nothing later.
        for command in [command.clone(), format!("{command} --confirm")] {
            started_with(&bench, "theirs", &command);
            let ran = with_key(&bench, &["run", "--resume", "--out", "theirs"]);
            ran.refused(2, &["`theirs` was recorded with ", &format!("\n  {place}\n"), "--confirm"]);
        }
        let ran = with_key(&bench, &["run", "--resume", "--out", "theirs", "--confirm", "--dry-run"]);
        assert!(ran.stderr.contains(&format!("confirmed: {place}\n")), "{command}: {}", ran.stderr);
    }
    assert_eq!(server.requests(), Vec::<String>::new());
    assert!(!bench.path("tape").exists() && !bench.path("cache").exists());
}

#[test]
fn a_file_may_name_a_server_and_a_person_decides_whether_it_gets_the_key() {
    let bench = WorkDir::new();
    let (theirs, ours) = (server(), server());
    bench.write("x.toml", experiment(&theirs.url));
    let ran = with_key(&bench, &["run", "x.toml", "--out", "a"]).ok();
    assert!(!theirs.requests().is_empty() && !got(&theirs, KEY), "{:?}", theirs.requests());
    let note = format!("note: OPENAI_API_KEY is not sent to `{}/v1`, which a file names; to send the key", theirs.url);
    assert!(ran.stderr.contains(&note), "{}", ran.stderr);
    // A key that is named must not be left out in silence.
    let named = ["run", "x.toml", "--out", "b", "--key-env", "OPENAI_API_KEY"];
    with_key(&bench, &named).refused(2, &["--key-env names a key", &theirs.url, "--base-url", "--confirm"]);
    bench.write("key", KEY);
    with_key(&bench, &["run", "x.toml", "--out", "b", "--key-file", "key"]).refused(2, &["--key-file names a key"]);
    assert!(!got(&theirs, KEY));
    // Another server that is typed takes the place of theirs.
    with_key(&bench, &["run", "x.toml", "--out", "b", "--base-url", &format!("{}/v1", ours.url)]).ok();
    assert!(got(&ours, KEY) && !got(&theirs, KEY));
    let ran = with_key(&bench, &["run", "x.toml", "--out", "c", "--confirm", "--key-env", "OPENAI_API_KEY"]).ok();
    assert!(ran.stderr.contains(&format!("confirmed: --base-url {}/v1\n", theirs.url)), "{}", ran.stderr);
    assert!(got(&theirs, KEY));
}

/// What is printed can be pasted, and names the server that gets the key.
#[cfg(unix)]
#[test]
fn the_printed_command_names_the_server_and_goes_on() {
    let bench = WorkDir::new();
    let theirs = server();
    bench.write("x.toml", experiment(&theirs.url));
    let ran = with_key(&bench, &["run", "x.toml", "--out", "o $(touch ran)", "--max-calls", "1", "--confirm"]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    let command = ran.stderr.lines().find_map(|line| line.strip_prefix("resume with a larger limit: "));
    let command = command.expect("a command").replace("LARGER", "9");
    let server = format!("--base-url {}/v1 --resume --out 'o $(touch ran)'", theirs.url);
    assert!(command.ends_with(&server) && !command.contains("--confirm"), "{command}");
    let before = theirs.requests().len();
    shell(bench.root(), &format!("OPENAI_API_KEY={KEY} {command}")).ok();
    assert!(theirs.requests().len() > before && theirs.requests()[before..].iter().all(|sent| sent.contains(KEY)));
    // All that `score` proposes is quoted too.
    let said = bench.wikitrail(&["score", "o $(touch ran)"]).ok().stdout;
    let next = said.split_once("next:\n").expect("what comes next").1;
    for line in next.lines().filter(|line| line.contains("wikitrail")) {
        shell(bench.root(), line).ok();
    }
    assert!(!bench.path("ran").exists(), "{next}");
}

/// The file of that name in the working folder takes the place of ours.
#[test]
fn a_reproduction_does_not_trust_the_folder_that_it_stands_in() {
    let bench = WorkDir::new();
    let theirs = server();
    bench.write("experiments/table1.toml", experiment(&theirs.url));
    with_key(&bench, &["reproduce", "--model", "openai:m"])
        .refused(2, &["`experiments/table1.toml` names ", &theirs.url]);
    let named = ["reproduce", "--model", "openai:m", "--experiment", "experiments/table1.toml", "--out", "o"];
    with_key(&bench, &named).ok();
    assert!(!theirs.requests().is_empty() && !got(&theirs, KEY));
    let resumed = with_key(&bench, &["reproduce", "--resume", "--out", "o"]);
    resumed.refused(2, &["`o` was recorded with a server that you did not name again", &theirs.url]);
    with_key(&bench, &["reproduce", "--resume", "--out", "o", "--confirm"]).ok();
}

#[cfg(unix)]
#[test]
fn a_run_is_not_resumed_through_links() {
    let bench = WorkDir::new();
    let outside = bench.path("precious");
    for name in [".lock", "trajectories.jsonl", "prompts", "manifest.tmp"] {
        bench.run_json(&["datasets/sample.jsonl", "--limit", "1", "--out", "theirs"]);
        let link = bench.path("theirs").join(name);
        let kept = bench.path("kept");
        let is_folder = link.is_dir();
        if link.exists() {
            std::fs::rename(&link, &kept).expect("moved");
        }
        if is_folder {
            std::fs::create_dir(&outside).expect("a folder");
        } else {
            bench.write("precious", "no line end");
        }
        std::os::unix::fs::symlink(&outside, &link).expect("a link");
        let ran = bench.run(&["--resume", "--out", "theirs", "--limit", "2", "--quiet"]);
        if name == "manifest.tmp" {
            ran.ok();
        } else {
            ran.refused(3, &["a symbolic link", name]);
        }
        untouched(&outside);
        std::fs::remove_dir_all(bench.path("theirs")).expect("removed");
        let _ = std::fs::remove_file(&kept).or_else(|_| std::fs::remove_dir_all(&kept));
        std::fs::remove_file(&outside).or_else(|_| std::fs::remove_dir(&outside)).expect("empty, if a folder");
    }
}

#[cfg(unix)]
fn untouched(outside: &Path) {
    if outside.is_file() {
        assert_eq!(std::fs::read_to_string(outside).expect("there"), "no line end");
    } else {
        assert_eq!(std::fs::read_dir(outside).expect("there").count(), 0);
    }
}

/// Runs git, where it is installed, with a name for commits.
#[cfg(unix)]
fn git(bench: &WorkDir, args: &[&str]) -> Option<String> {
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let output = std::process::Command::new("git").args(who).args(args).current_dir(bench.root()).output().ok()?;
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned())
}

/// The configuration of an unpacked repository names programs that `git describe --dirty` would start.
#[cfg(unix)]
#[test]
fn no_program_is_started_because_of_the_folder() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = WorkDir::new();
    bench.write("hook.sh", "#!/bin/sh\ntouch started\ncat\n");
    bench.write("tracked.txt", "one\n");
    bench.write(".gitattributes", "*.txt filter=x\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bench.path("hook.sh"), executable).expect("it can be set");
    if git(&bench, &["init", "-q"]).is_none() {
        return;
    }
    git(&bench, &["add", "."]);
    git(&bench, &["commit", "-q", "-m", "one"]);
    let commit = git(&bench, &["rev-parse", "HEAD"]).expect("a commit");
    git(&bench, &["config", "core.fsmonitor", "./hook.sh"]);
    git(&bench, &["config", "filter.x.clean", "./hook.sh"]);
    bench.write("tracked.txt", "two\n");
    for args in [&["--dry-run"][..], &["--out", "r"], &["--out", "r", "--resume"]] {
        bench.run(&[&["--limit", "1", "--quiet"], args].concat()).ok();
        assert!(!bench.path("started").exists(), "{args:?}");
    }
    assert_eq!(bench.manifest("r")["git_revision"], commit);
}

/// A link in a folder of pages would make an article of any file, which models and their servers would be shown.
#[cfg(unix)]
#[test]
fn a_corpus_reads_nothing_outside_of_the_folder_that_was_named() {
    use std::os::unix::fs::symlink;
    let bench = WorkDir::new();
    bench.write("secret.txt", "A secret of mine.");
    bench.write("theirs/texts/Rome.txt", "Rome is a city.");
    symlink("Rome.txt", bench.path("theirs/texts/Roma.txt")).expect("a link");
    let search = |corpus: &str| bench.wikitrail(&["wiki", "search", "Rome", "--wiki", &format!("corpus:{corpus}")]);
    let inside = bench.wikitrail(&["wiki", "search", "Roma", "--wiki", "corpus:theirs/texts"]).ok();
    assert!(inside.stdout.contains("Rome is a city."), "a link inside is a file like any other: {}", inside.stdout);
    symlink(bench.path("theirs/texts"), bench.path("named")).expect("a link");
    search("named").ok();
    symlink(bench.path("secret.txt"), bench.path("theirs/texts/Blaise Pascal.txt")).expect("a link");
    for command in
        [&["wiki", "search", "Rome", "--wiki", "corpus:theirs/texts"][..], &["run", "--wiki", "corpus:theirs/texts"]]
    {
        bench.wikitrail(command).refused(3, &["Blaise Pascal.txt", "it is a link that leads out of the folder"]);
    }
    bench.write("lines.jsonl", "{\"title\": \"Secret\", \"text\": \"A secret of mine.\"}\n");
    for (folder, member) in
        [("jsonl", "articles.jsonl"), ("beir", "corpus.jsonl"), ("fever", "wiki-001.jsonl"), ("dump", "wiki_00.bz2")]
    {
        std::fs::create_dir(bench.path("theirs").join(folder)).expect("a folder");
        symlink(bench.path("lines.jsonl"), bench.path("theirs").join(folder).join(member)).expect("a link");
        bench
            .wikitrail(&["corpus", "build", "built", "--from", &format!("theirs/{folder}")])
            .refused(3, &["it is a link that leads out of the folder"]);
    }
    search("theirs/jsonl").refused(3, &["it is a link that leads out of the folder"]);
    // Of a corpus that was built, every file has to be in its folder too.
    bench.wikitrail(&["corpus", "build", "built", "--from", "lines.jsonl"]).ok();
    for file in ["corpus.toml", "titles.bin", "bm25/meta.json", "bm25/.managed.json"] {
        let path = bench.path("built").join(file);
        if path.exists() {
            std::fs::rename(&path, bench.path("moved")).expect("moved");
            symlink(bench.path("moved"), &path).expect("a link");
            search("built").refused(3, &["it is a link that leads out of the folder"]);
            std::fs::remove_file(&path).and_then(|()| std::fs::rename(bench.path("moved"), &path)).expect("back");
        }
    }
    search("built").ok();
    // Nor is a pipe waited for.
    if std::process::Command::new("mkfifo")
        .arg(bench.path("theirs/texts/Pipe.txt"))
        .status()
        .is_ok_and(|made| made.success())
    {
        std::fs::remove_file(bench.path("theirs/texts/Blaise Pascal.txt")).expect("removed");
        search("theirs/texts").refused(3, &["Pipe.txt", "it is not a regular file"]);
    }
}
