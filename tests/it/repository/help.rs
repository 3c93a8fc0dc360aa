//! What the program says of itself: examples that work, completions and manual pages that leave nothing out.

use crate::common::{self, Ran, notebook};
use std::path::Path;
use std::sync::LazyLock;
use wikitrail::run::Method;
use wikitrail::score::Format;

fn run(args: &[&str]) -> Ran {
    common::wikitrail(Path::new("."), args)
}

fn wikitrail(args: &[&str]) -> String {
    run(args).ok().stdout
}

fn words(path: &str) -> Vec<&str> {
    path.split_whitespace().collect()
}

/// Every command by its path, such as `wiki search`, with its help, in the order in which they are listed; the program itself is the
/// empty path.
static HELP: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let (mut found, mut open) = (Vec::new(), vec![String::new()]);
    while let Some(path) = open.pop() {
        let help = wikitrail(&[&words(&path)[..], &["--help"]].concat());
        let names = common::listed_commands(&help);
        let below: Vec<_> = names
            .into_iter()
            .filter(|name| *name != "help")
            .map(|name| format!("{path} {name}").trim().to_owned())
            .collect();
        open.extend(below.into_iter().rev());
        found.push((path, help));
    }
    assert!(found.len() > 20 && found.iter().any(|(path, _)| path == "wiki search"), "{found:?}");
    found
});

fn help(path: &str) -> &'static str {
    HELP.iter().find(|(known, _)| known == path).map(|(_, help)| help.as_str()).expect("a command")
}

/// The flags of a command as its help lists them.
fn flags(path: &str) -> Vec<String> {
    let listed = help(path).lines().filter(|line| line.starts_with("  ") && line.trim_start().starts_with('-'));
    let long = listed.filter_map(|line| line.split([' ', ',']).find(|word| word.starts_with("--")));
    // A value that is attached, as in `--flips[=<N>]`, is not part of the name.
    long.map(|flag| flag.split('[').next().unwrap_or(flag).to_owned()).collect()
}

#[test]
fn completions_of_every_shell_know_every_command_and_flag() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = wikitrail(&["completions", shell]);
        for path in HELP.iter().map(|(path, _)| path) {
            for word in words(path) {
                assert!(script.contains(word), "{shell} lacks `{word}` of `{path}`");
            }
            for flag in flags(path) {
                // fish names long flags without their dashes.
                let name = if shell == "fish" { format!("-l {}", flag.trim_start_matches('-')) } else { flag };
                assert!(script.contains(&name), "{shell} lacks `{name}` of `{path}`");
            }
        }
    }
    assert_eq!(run(&["completions", "dos"]).code, Some(2));
}

/// Values that are offered where others may be typed too.
#[test]
fn completions_know_formats_metrics_figures_and_pages() {
    let script = wikitrail(&["completions", "bash"]);
    for (flag, word) in
        [("--format", "kilt"), ("--metric", "rougel"), ("--metric", "bad_calls"), ("--reasoning", "medium")]
    {
        let offered = script
            .split(&format!("{flag})"))
            .any(|rest| rest.lines().nth(1).is_some_and(|line| line.contains("compgen -W") && line.contains(word)));
        assert!(offered, "{flag} {word}");
    }
    assert!(script.contains(" experiments compare ") && script.contains(" statistics "));
}

#[test]
fn every_command_has_a_manual_page_with_all_its_flags() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("deep/man1");
    wikitrail(&["man", "--out", folder.to_str().expect("UTF-8")]);
    let mut whole = String::new();
    for path in HELP.iter().map(|(path, _)| path) {
        let name = format!("wikitrail {path}").trim().replace(' ', "-");
        let page = std::fs::read_to_string(folder.join(format!("{name}.1"))).unwrap_or_else(|e| panic!("{name}: {e}"));
        let plain = page.replace("\\-", "-");
        assert!(plain.contains(&format!("\n.SH NAME\n{name} - ")), "{page}");
        for flag in flags(path) {
            assert!(plain.contains(&flag), "{name}.1 lacks {flag}");
        }
        assert!(path.is_empty() || page.contains("\n.SH EXAMPLES\n.nf\n  "), "{name}.1 has no examples");
        whole.push_str(&page);
    }
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), HELP.len());
    let printed = wikitrail(&["man"]);
    assert_eq!(printed.len(), whole.len());
    // A file in the place of the folder is named.
    let taken = folder.join("wikitrail.1");
    run(&["man", "--out", taken.to_str().expect("UTF-8")]).refused(1, &["wikitrail.1"]);
}

/// The examples of a command's help, as they are typed.
fn examples(path: &str) -> Vec<String> {
    let (_, lines) = help(path)
        .split_once("\nExamples:\n")
        .unwrap_or_else(|| panic!("`wikitrail {path} --help` has no examples; add them to src/cli/examples.txt"));
    let lines: Vec<&str> = lines.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    assert!(lines.iter().all(|line| line.starts_with('#') || line.contains("wikitrail ")), "{path}: {lines:?}");
    lines.into_iter().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// The table of docs/commands.md: each command, what its help says of it, and the first example that begins with it.
#[test]
fn the_table_of_commands_is_that_of_the_help() {
    let about = |name: &str| {
        let line = help("").lines().find_map(|line| line.strip_prefix(&format!("  {name} ")));
        line.expect("a line for the command").trim().to_owned()
    };
    let names = common::listed_commands(help(""));
    let mut table = "| command | what it does | for instance |\n|---|---|---|\n".to_owned();
    for name in names.iter().filter(|name| **name != "help") {
        let paths = HELP.iter().map(|(path, _)| path.as_str());
        let path =
            paths.filter(|path| words(path).first() == Some(name)).find(|path| help(path).contains("\nExamples:\n"));
        let examples = examples(path.expect("a command with examples"));
        let own = examples.iter().find(|example| example.starts_with(&format!("wikitrail {name}")));
        let example = own.unwrap_or(&examples[0]).replace('|', "\\|");
        let row = ["| `", name, "` | ", &about(name), " | `", &example, "` |\n"];
        table.extend(row);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (before, rest) = page.split_once("<!-- commands: begin -->\n").expect("a place for the table");
    let (shown, after) = rest.split_once("<!-- commands: end -->").expect("the end of the table");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let page = format!("{before}<!-- commands: begin -->\n{table}<!-- commands: end -->{after}");
        std::fs::write(&path, page).expect("the page can be written");
    } else {
        assert_eq!(shown, table, "run UPDATE_DOCS=1 cargo test --test it table_of_commands");
    }
}

/// Examples that ask a server, are one, or read a file that only their users have.
fn needs_others(example: &str) -> bool {
    let server =
        example.contains("--base-url") || example.contains("--wiki api") || example.ends_with("fetch hotpotqa");
    let is_one = ["serve", "view", "mcp"].iter().any(|name| example.contains(&format!("wikitrail {name} ")));
    let site = example.contains("corpus freeze") && !example.contains("--dry-run");
    server || site || is_one || example.contains("--judge ") || example.contains("--import")
}

#[cfg(unix)]
#[test]
fn every_example_of_every_help_works() {
    let dir = common::WorkDir::new();
    for (name, text) in [
        ("gold.json", r#"[{"_id": "a", "answer": "Moscow", "supporting_facts": [], "question": "?", "context": []}]"#),
        ("pred.json", r#"{"answer": {"a": "Moscow"}, "sp": {"a": []}}"#),
        ("said.csv", "id,answer,confidence\nsample-001,1943,0.5\nsample-002,no,0.5\n"),
        ("a.csv", "id,em,f1\n1,0,0.5\n2,1,1\n"),
        ("b.csv", "id,em,f1\n1,1,1\n2,1,1\n"),
        ("pages.jsonl", "{\"title\": \"Ada\", \"text\": \"She wrote.\"}\n"),
        ("more.jsonl.gz", "{\"title\": \"Bob\", \"text\": \"He read.\"}\n"),
        ("redirects.tsv", "Lovelace\tAda\n"),
        ("newer.jsonl", "{\"title\": \"Ada\", \"text\": \"She has written.\"}\n"),
        ("dev.json", r#"[{"question": "Who?", "context": [["Ada", ["She wrote."]]]}]"#),
        ("mine.csv", "text,gold\nWho?,Nobody\nWhat?,Nothing\n"),
        ("episodes.jsonl", &notebook::episode(0, "Finish[Rome]", 1)),
        (
            "4711.json",
            r#"[{"observations": ["Question: Who?", "x"], "actions": ["finish[Ada]"], "answer": "Ada", "gt_answer": "Ada"}]"#,
        ),
        ("replies.jsonl", "{\"name\": \"a\", \"output\": \" I see.\\nAction 2: Finish[yes]\"}\n"),
    ] {
        dir.write(name, text);
    }
    let mut tried = 0;
    // The run comes first: others score, show and export it.
    for (path, _) in HELP.iter().filter(|(path, _)| !path.is_empty()) {
        let examples = examples(path);
        assert!((2..=4).contains(&examples.len()), "{path}: {examples:?}");
        for example in examples.iter().filter(|example| !needs_others(example)) {
            let output = common::shell(dir.root(), example);
            assert_eq!(output.code, Some(0), "`{example}`: {}", output.stderr);
            assert!(
                output.stdout.len() + output.stderr.len() > 0 || example.contains('>') || example.ends_with("session"),
                "`{example}` says nothing"
            );
            tried += 1;
        }
    }
    assert!(tried > 40, "{tried}");
    for file in ["questions.csv", "first.json", "first-hf", "mine.jsonl", "claims.jsonl", "wikitrail.bash", "man1"] {
        assert!(dir.path(file).exists(), "{file}");
    }
}

#[test]
fn the_help_lists_what_can_be_named() {
    let help = |args: &[&str]| wikitrail(args).split_whitespace().collect::<Vec<_>>().join(" ");
    for command in [&["run", "--help"][..], &["dataset", "info", "--help"], &["dataset", "convert", "--help"]] {
        let text = help(command);
        let list = text.split_once("Format of the file: ").expect("a list").1;
        let list = list.split_once(" [default").expect("its end").0.replace(" or ", ", ");
        assert_eq!(list.split(", ").collect::<Vec<_>>(), Format::ALL.map(Format::name), "{command:?}");
    }
    for command in [&["run", "--help"][..], &["ask", "--help"], &["prompt", "show", "--help"]] {
        for method in Method::ALL {
            assert!(help(command).contains(method.typed()), "{command:?} lacks {}", method.typed());
        }
    }
}

#[test]
fn no_help_is_wider_than_a_terminal() {
    for (path, help) in &*HELP {
        for example in help.lines() {
            assert!(example.chars().count() <= 100, "`{path}`: {example}");
        }
        let page = wikitrail(&[&words(path)[..], &["-h"]].concat());
        let shown = page.split_once("\nExamples:\n").map_or("", |(_, lines)| lines);
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "`{path}`: {shown}");
    }
}
