//! Examples below the help of each command. A test runs all of them that need no server, in one folder.

use clap::Command;

/// Commands by their path below `wikitrail`, and what is shown: a line that begins with `#` says what the next one does.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "run",
        &[
            "# the sample questions by the baseline: no key, no network",
            "wikitrail run --out results/first",
            "# what a server's model would take; nothing is sent",
            "wikitrail run --model openai:gpt-4o-mini --limit 10 --dry-run",
            "# go on with a run that was stopped",
            "wikitrail run --out results/first --resume",
        ],
    ),
    (
        "ask",
        &[
            "wikitrail ask \"Where did Mikhail Bulgakov die?\"",
            "wikitrail ask --claim \"Mikhail Bulgakov was a Russian writer.\" --json",
            "# a conversation with a model behind a server of your own",
            "wikitrail ask --chat --model openai:NAME --base-url http://127.0.0.1:8000/v1",
        ],
    ),
    (
        "score",
        &[
            "wikitrail score results/first",
            "wikitrail score results/first --json --per-item",
            "# predictions of any program, by HotpotQA's official metric",
            "wikitrail score --metric hotpot --gold gold.json --predictions pred.json",
        ],
    ),
    (
        "export",
        &[
            "wikitrail export results/first --out questions.csv",
            "wikitrail export results/first --rows steps --bom --out steps.csv",
            "wikitrail export results/first --format jsonl --out scored.jsonl",
        ],
    ),
    (
        "compare",
        &[
            "# two methods in one run, question by question",
            "wikitrail run --method act,react --out results/methods",
            "wikitrail compare results/methods --baseline act --flips",
            "# the figures of any program: columns id, em, f1",
            "wikitrail compare --from-csv a.csv b.csv --format latex",
        ],
    ),
    (
        "show",
        &[
            "wikitrail show results/first --wrong",
            "wikitrail show results/first sample-001",
            "# one question in two variants, beside one another",
            "wikitrail show results/methods@act:sample-001 results/methods@react:sample-001",
        ],
    ),
    (
        "replay",
        &[
            "wikitrail replay results/first",
            "wikitrail replay results/first --json",
            "# episodes of the paper's notebooks, with the prompt that they used",
            "wikitrail replay --import react-notebook episodes.jsonl --prompt p.json#KEY",
        ],
    ),
    (
        "reproduce",
        &[
            "# what Table 1 takes with a model of yours; nothing is sent",
            "wikitrail reproduce --model openai:M --base-url URL --contact MAIL --dry-run",
            "# a try on our samples by the baseline: no key, no network",
            "wikitrail reproduce --try --out results/try",
            "wikitrail reproduce results/try",
        ],
    ),
    ("wiki", &["wikitrail wiki search \"Mikhail Bulgakov\"", "wikitrail wiki lookup \"Mikhail Bulgakov\" novel --all"]),
    (
        "wiki search",
        &[
            "wikitrail wiki search \"Mikhail Bulgakov\"",
            "wikitrail wiki search Bulgakov --json",
            "# the English Wikipedia of today",
            "wikitrail wiki search \"Mikhail Bulgakov\" --wiki api --contact you@example.org",
        ],
    ),
    (
        "wiki lookup",
        &[
            "wikitrail wiki lookup \"Mikhail Bulgakov\" novel",
            "wikitrail wiki lookup \"Mikhail Bulgakov\" novel --all --json",
        ],
    ),
    ("wiki session", &["wikitrail wiki session", "echo \"search[Mikhail Bulgakov]\" | wikitrail wiki session --json"]),
    (
        "dataset",
        &[
            "wikitrail dataset info datasets/sample.jsonl",
            "wikitrail dataset convert datasets/sample.jsonl --out mine.jsonl",
        ],
    ),
    (
        "dataset info",
        &[
            "wikitrail dataset info datasets/sample.jsonl",
            "wikitrail dataset info mine.csv --question-column text --answer-column gold",
        ],
    ),
    (
        "dataset convert",
        &[
            "wikitrail dataset convert datasets/sample-claims.jsonl --out claims.jsonl",
            "wikitrail dataset convert mine.csv --question-column text --answer-column gold",
        ],
    ),
    ("dataset fetch", &["# the sources", "wikitrail dataset fetch", "wikitrail dataset fetch hotpotqa"]),
    (
        "parse",
        &[
            "echo '{\"name\":\"a\",\"output\":\"Finish[yes]\"}' | wikitrail parse --protocol robust",
            "wikitrail parse --protocol react-paper --step 2 replies.jsonl",
        ],
    ),
    ("prompt", &["wikitrail prompt list", "wikitrail prompt show prompts/hotpotqa.toml"]),
    ("prompt list", &["wikitrail prompt list", "wikitrail prompt list --json"]),
    (
        "prompt show",
        &[
            "wikitrail prompt show prompts/hotpotqa.toml",
            "# the first request about a claim under another protocol",
            "wikitrail prompt show prompts/fever.toml --protocol robust --question \"It is.\"",
        ],
    ),
    ("prompt protocols", &["wikitrail prompt protocols", "wikitrail prompt protocols --json"]),
    (
        "prompt check",
        &[
            "wikitrail prompt check prompts/hotpotqa.toml",
            "wikitrail prompt check prompts/fever.toml prompts/protocols/en.toml",
        ],
    ),
    ("models", MODELS),
    ("models check", MODELS),
    ("completions", &["wikitrail completions bash > wikitrail.bash", "wikitrail completions zsh > _wikitrail"]),
    ("man", &["wikitrail man --out man1", "wikitrail man > wikitrail.roff"]),
];

const MODELS: &[&str] =
    &["wikitrail models check", "wikitrail models check --model openai:NAME --base-url http://127.0.0.1:8000/v1"];

/// Puts the examples below the help of their commands.
pub(super) fn add(command: Command) -> Command {
    EXAMPLES.iter().fold(command, |command, (path, lines)| {
        let path: Vec<&str> = path.split(' ').collect();
        below(command, &path, lines)
    })
}

fn below(command: Command, path: &[&str], lines: &[&str]) -> Command {
    match path {
        [] => command.after_help(format!("Examples:\n  {}", lines.join("\n  "))),
        [first, rest @ ..] => command.mut_subcommand(first, |command| below(command, rest, lines)),
    }
}
