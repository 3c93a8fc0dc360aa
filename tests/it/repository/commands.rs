//! Every command that README.md or a page of `docs` shows works, and prints what the page says that it prints.
//!
//! Of a page, blocks of these kinds are read, in their order, in a folder of their own:
//!
//! | block | what is done |
//! |---|---|
//! | `sh` | run; a line with `# needs` is left out, since it needs a key, a server, the network or another build |
//! | `toml NAME`, `csv NAME`, … | written to the file NAME |
//! | `json` | the block before it prints this |
//! | `console` | the block before it prints these lines in this order, on stdout or stderr; a line `…` stands for any lines |

use super::page;
use crate::common::{Ran, shell, table_rows};
use std::path::Path;

/// Pages of commands, and how many each shows at least.
const PAGES: &[(&str, usize)] = &[
    ("../README.md", 3),
    ("commands.md", 45),
    ("protocols.md", 7),
    ("methods.md", 7),
    // Its other commands need a key.
    ("agents.md", 2),
    ("experiments.md", 4),
    ("compare.md", 8),
    ("ci.md", 4),
    ("report.md", 6),
    ("annotation.md", 3),
    // Its other commands need a server or a person.
    ("judge.md", 2),
    ("branch.md", 4),
    ("guide.md", 25),
    ("settings.md", 1),
    ("troubleshooting.md", 4),
    ("for-a-paper.md", 8),
    ("for-teaching.md", 12),
    ("exports.md", 6),
    ("reproduce.md", 3),
    ("cluster.md", 7),
    // All of its commands need a server.
    ("models.md", 0),
    ("wikipedia.md", 4),
    ("corpora.md", 8),
    // Its commands run until they are told to end.
    ("serve.md", 0),
];

/// Fenced blocks: what stands after the fence, and the text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        open = match (line.strip_prefix("```"), open.take()) {
            (Some(kind), None) => Some((kind.to_owned(), String::new())),
            (Some(_), Some(block)) => {
                blocks.push(block);
                None
            }
            (None, block) => block.map(|(kind, text)| (kind, text + line + "\n")),
        };
    }
    assert!(open.is_none(), "a block has no end");
    blocks
}

/// Runs the lines that need nothing; says how many commands these were.
fn run(folder: &Path, text: &str) -> (usize, Ran) {
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains("# needs")).collect();
    let commands = lines.iter().filter(|line| line.contains("wikitrail ")).count();
    (commands, shell(folder, &format!("set -e\n{}", lines.join("\n"))).ok())
}

/// Whether these lines stand in the text in their order, without others between them but where a line is `…`.
fn prints(text: &str, shown: &str) -> bool {
    let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    let (text, shown) = (lines(text), lines(shown));
    let mut from = 0;
    shown.split(|line| line == "…").all(|part| {
        let at = (from..=text.len()).find(|at| text[*at..].starts_with(part));
        from = at.unwrap_or(from) + part.len();
        at.is_some()
    })
}

/// Works through a page; says how many commands it ran.
fn follow(page: &str) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut count, mut printed) = (0, Ran { code: None, stdout: String::new(), stderr: String::new() });
    for (kind, text) in blocks(page) {
        match kind.split_once(' ').map_or((kind.as_str(), None), |(kind, name)| (kind, Some(name))) {
            (_, Some(name)) => std::fs::write(folder.path().join(name), &text).expect("written"),
            ("json", None) => assert_eq!(printed.stdout, text),
            ("console", None) => assert!(
                prints(&printed.stdout, &text) || prints(&printed.stderr, &text),
                "shown:\n{text}\nprinted:\n{}\n{}",
                printed.stdout,
                printed.stderr
            ),
            ("sh", None) => {
                let (commands, output) = run(folder.path(), &text);
                (count, printed) = (count + commands, output);
            }
            _ => {}
        }
    }
    count
}

#[test]
fn every_command_that_is_shown_works() {
    for &(name, least) in PAGES {
        let count = follow(&page(name));
        assert!(count >= least, "{name} shows {count} commands");
    }
}

/// Runs that need a server are planned, so that their flags are right; `models check` takes the same.
#[test]
fn runs_that_need_a_server_can_be_planned() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = blocks(&page("models.md"));
    let lines = all.iter().filter(|(kind, _)| kind == "sh").flat_map(|(_, text)| text.lines());
    let mut runs: Vec<String> = lines.filter(|line| line.starts_with("wikitrail run ")).map(str::to_owned).collect();
    for header in ["service", "start"] {
        let rows = table_rows(&page("models.md"), &[header, "flags", "note"]);
        runs.extend(rows.iter().map(|(_, row)| format!("wikitrail run --limit 10 {}", row[1].trim_matches('`'))));
    }
    assert!(runs.len() >= 20, "{runs:?}");
    for line in &runs {
        let command = line.split("  #").next().unwrap_or(line);
        let planned = shell(folder.path(), &format!("{command} --dry-run")).ok();
        assert!(planned.stderr.contains("10 questions of"), "{line}: {}", planned.stderr);
    }
}

/// No page of commands is forgotten.
#[test]
fn other_pages_show_no_commands() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    for entry in std::fs::read_dir(docs).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        // Installing and measuring are not for a test.
        let known = PAGES.iter().any(|(page, _)| *page == name) || ["install.md", "performance.md"].contains(&name);
        if known || path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let found = blocks(&page(name)).into_iter().find(|(kind, _)| kind == "sh");
        assert_eq!(found, None, "{name}");
    }
}
