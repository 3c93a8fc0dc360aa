//! The GitHub Action: `scripts/action.sh` as the runner starts it, and action.yml, whose inputs must all reach it as text.

use crate::common::{Ran, WorkDir, repository};
use std::path::Path;
use std::process::Command;

/// A folder in which the action runs as on GitHub's runner, with the program where `install` would put it.
fn runner() -> WorkDir {
    let dir = WorkDir::new();
    dir.write("output", "");
    dir.write("summary", "");
    std::fs::create_dir_all(dir.path("root/bin")).expect("a folder");
    std::fs::create_dir(dir.path("temp")).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_wikitrail"), dir.path("root/bin/wikitrail")).expect("a link");
    dir
}

/// Starts the script with these variables and the runner's own, and no others but the path.
fn action(dir: &WorkDir, command: &str, inputs: &[(&str, &str)]) -> Ran {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/action.sh");
    let mut bash = Command::new("bash");
    bash.arg(script).arg(command).current_dir(dir.root()).env_clear();
    bash.env("PATH", std::env::var_os("PATH").expect("a path")).env("XDG_CONFIG_HOME", "/nonexistent");
    bash.env("GITHUB_OUTPUT", dir.path("output")).env("GITHUB_STEP_SUMMARY", dir.path("summary"));
    bash.env("RUNNER_TEMP", dir.path("temp")).env("ACTION_ROOT", dir.path("root"));
    bash.envs(inputs.iter().copied());
    Ran::from(&bash.output().expect("bash runs"))
}

/// The outputs of the step, as the runner reads the file.
fn outputs(dir: &WorkDir) -> Vec<(String, String)> {
    let text = dir.read("output");
    let mut lines = text.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let (name, end) = line.split_once("<<").expect("a name and a delimiter");
        let value: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
        found.push((name.to_owned(), value.join("\n")));
    }
    found
}

/// What the step's artefact holds: the page, and the comparison.
fn shown(dir: &WorkDir) -> (String, String) {
    let outputs = outputs(dir);
    let (_, folder) = outputs.iter().find(|(name, _)| name == "folder").expect("an output `folder`");
    let read = |name: &str| crate::common::read(Path::new(folder).join(name));
    (read("report.html"), read("comparison.md"))
}

#[test]
fn a_comparison_is_the_summary_and_the_page_is_kept() {
    let dir = runner();
    let inputs = [
        ("ACTION_RUN", "--method=react,cot\n--limit=8\n\n"),
        ("ACTION_COMPARE", "--baseline=react\n--metric=em"),
        ("ACTION_FAIL_IF", "em(react) < 0\nem(cot) < 0\n"),
    ];
    action(&dir, "run", &inputs).ok();
    let (page, comparison) = shown(&dir);
    assert!(page.starts_with("<!DOCTYPE html>") || page.starts_with("<!doctype html>"), "{page:.80}");
    assert!(comparison.contains("**EM, pairwise**") && !comparison.contains("F1"), "{comparison}");
    assert!(dir.read("summary").contains(&comparison));
}

#[test]
fn a_condition_that_holds_fails_the_step_after_all_is_written() {
    let dir = runner();
    let inputs = [("ACTION_RUN", "--method=react,cot\n--limit=4"), ("ACTION_FAIL_IF", "em(react) < 0\nem(react) >= 0")];
    let ran = action(&dir, "run", &inputs);
    assert_eq!(ran.code, Some(5), "{}", ran.stderr);
    let (page, comparison) = shown(&dir);
    let summary = dir.read("summary");
    assert!(page.len() > 10_000 && summary.contains(&comparison), "{summary}");
    assert!(summary.contains("`compare` ended with exit code 5"), "{summary}");
    assert!(summary.contains("    --fail-if holds: em(react) >= 0"), "{summary}");
}

#[test]
fn a_recording_and_an_earlier_run_are_compared() {
    let dir = runner();
    dir.run(&["--limit", "4", "--record", "my tape", "--quiet", "--out", "the earlier"]).ok();
    let inputs = [("ACTION_RUN", "--limit=4"), ("ACTION_REPLAY", "my tape"), ("ACTION_AGAINST", "the earlier")];
    action(&dir, "run", &inputs).ok();
    let (page, comparison) = shown(&dir);
    assert!(comparison.contains("the earlier") && page.contains("the earlier"), "{comparison}");
    let (_, run) = outputs(&dir).swap_remove(0);
    assert!(Path::new(&run).join("manifest.json").is_file(), "{run}");
}

#[test]
fn a_run_that_is_refused_is_explained_in_the_summary() {
    let dir = runner();
    let ran = action(&dir, "run", &[("ACTION_RUN", "no-such-file.jsonl")]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let summary = dir.read("summary");
    assert!(summary.contains("`run` ended with exit code 3") && summary.contains("    hint: "), "{summary}");
    assert_eq!(outputs(&dir), []);
}

#[test]
fn the_summary_says_why_episodes_were_not_measured() {
    let dir = runner();
    dir.run(&["--limit", "4", "--record", "tape", "--quiet", "--out", "earlier"]).ok();
    let inputs = [("ACTION_RUN", "--limit=4\n--method=react,act\n--quiet"), ("ACTION_REPLAY", "tape")];
    assert_eq!(action(&dir, "run", &inputs).code, Some(4));
    let summary = dir.read("summary");
    assert!(summary.contains("    not measured (4): the recording `tape` has no such model request"), "{summary}");
}

/// Nothing is run, and so nothing is paid, where the comparison could only be refused at the end.
#[test]
fn a_comparison_that_would_be_refused_is_refused_before_the_run() {
    for (run, inputs, said) in [
        ("--method=react,cot", ("ACTION_FAIL_IF", "high(em, react, cto) < 0"), "there is no variant `cto`"),
        ("--method=react,cot", ("ACTION_FAIL_IF", "ema(react) < 0"), "`ema` is not compared"),
        ("--method=react,cot", ("ACTION_FAIL_IF", "em(react) <"), "is missing here"),
        ("--method=react,cot", ("ACTION_COMPARE", "--metric=ema"), "unknown metric `ema`"),
        ("--method=react,cot", ("ACTION_COMPARE", "--baseline=cto"), "no variant `cto`"),
        ("--method=cot", ("ACTION_FAIL_IF", "em(main) < 0.5"), "at least two variants, found 1"),
    ] {
        let dir = runner();
        let ran = action(&dir, "run", &[("ACTION_RUN", &format!("--limit=4\n{run}")), inputs]);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        let summary = dir.read("summary");
        assert!(summary.contains("so nothing was run") && summary.contains(said), "{said}: {summary}");
        assert_eq!(outputs(&dir), []);
        let work = std::fs::read_dir(dir.path("temp")).expect("a folder").next().expect("one").expect("readable");
        assert!(!work.path().join("run").exists(), "{said}");
    }
}

#[test]
fn conditions_name_the_variants_of_an_earlier_run_too() {
    let dir = runner();
    dir.run(&["--limit", "4", "--quiet", "--out", "earlier"]).ok();
    let with = |condition: &str| {
        let inputs = [("ACTION_RUN", "--limit=4"), ("ACTION_AGAINST", "earlier"), ("ACTION_FAIL_IF", condition)];
        action(&dir, "run", &inputs)
    };
    // Both have a variant `main`, so the names have the folders in front.
    let ran = with("em(earlier/main) > em(run/mian)");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(dir.read("summary").contains("the variants are run/main, earlier/main"), "{}", dir.read("summary"));
    with("em(earlier/main) < 0 or em(run/main) < 0").ok();
}

#[test]
fn a_condition_on_what_was_not_measured_is_undecided_and_the_rest_is_compared() {
    let dir = runner();
    dir.run(&["--limit", "4", "--record", "tape", "--quiet", "--out", "earlier"]).ok();
    let inputs = [
        ("ACTION_RUN", "--limit=4\n--method=react,act"),
        ("ACTION_REPLAY", "tape"),
        ("ACTION_FAIL_IF", "high(em, react, act) < 0"),
    ];
    let ran = action(&dir, "run", &inputs);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    let (_, comparison) = shown(&dir);
    let summary = dir.read("summary");
    assert!(summary.contains(&comparison), "{summary}");
    let said =
        "    --fail-if cannot be decided: high(em, react, act) < 0: nothing was measured for high(em, react, act)";
    assert!(summary.contains(said), "{summary}");
}

#[test]
fn the_scores_of_a_single_variant_are_the_summary() {
    let dir = runner();
    action(&dir, "run", &[("ACTION_RUN", "--limit=4\n--json")]).ok();
    let summary = dir.read("summary");
    assert!(summary.contains("### Scores\n\n    ") && summary.contains("EM % [95 %]"), "{summary}");
    assert!(!summary.contains("exit code") && !summary.contains("next:"), "{summary}");
    let (_, folder) = outputs(&dir).swap_remove(1);
    assert!(Path::new(&folder).join("report.html").is_file() && Path::new(&folder).join("scores.md").is_file());
}

/// Nothing that a workflow gives is run, splits into other arguments or outputs, or becomes Markdown.
#[test]
fn hostile_inputs_stay_text() {
    let text = [
        "$(touch pwned)",
        "`touch pwned`",
        "'; touch pwned; '",
        "\"; touch pwned; \"",
        "a b; touch pwned & touch pwned | touch pwned",
        "x\nfolder=/etc\nfolder<<END\n/etc\nEND",
        "<img src=x>\n**bold**",
        "*",
        "\\",
        "::set-output name=folder::/etc",
    ]
    .join("\n");
    for name in ["ACTION_RUN", "ACTION_REPLAY", "ACTION_AGAINST", "ACTION_COMPARE", "ACTION_FAIL_IF"] {
        let dir = runner();
        let inputs: Vec<(&str, &str)> = match name {
            "ACTION_RUN" => vec![(name, &text)],
            _ => vec![("ACTION_RUN", "--limit=1\n--method=cot,standard"), (name, &text)],
        };
        let ran = action(&dir, "run", &inputs);
        assert!(!dir.path("pwned").exists() && !dir.path("temp/pwned").exists(), "{name}");
        assert_ne!(ran.code, Some(0), "{name}");
        assert!(outputs(&dir).iter().all(|(_, value)| value.starts_with(&*dir.root().to_string_lossy())), "{name}");
        let summary = dir.read("summary");
        let raw = summary.lines().filter(|line| !line.starts_with("    "));
        assert!(raw.clone().all(|line| !line.contains("<img") && !line.contains("**bold")), "{name}: {summary}");
        assert!(raw.count() < summary.lines().count(), "{name}: not explained:\n{summary}");
    }
}

/// The runner obeys lines that begin with `::`; those of models and files must come while it does not.
#[test]
fn what_is_printed_is_not_obeyed_by_the_runner() {
    let dir = runner();
    let printed = action(&dir, "run", &[("ACTION_RUN", "--limit=1\n--method=react,cot")]).ok().stdout;
    let token = printed.lines().next().and_then(|line| line.strip_prefix("::stop-commands::")).expect("stopped first");
    assert_eq!(token.len(), 32);
    assert_eq!(printed.lines().last(), Some(format!("::{token}::").as_str()));
}

#[test]
fn the_key_of_the_cache_is_a_digest_of_the_sources() {
    let dir = runner();
    action(&dir, "key", &[]).ok();
    action(&dir, "key", &[]).ok();
    let found = outputs(&dir);
    assert_eq!(found[0].0, "key");
    assert!(found[0].1.len() == 64 && found[0].1.bytes().all(|byte| byte.is_ascii_hexdigit()), "{found:?}");
    assert_eq!(found[0], found[2]);
    // A program that is there is not built again.
    action(&dir, "install", &[]).ok();
}

#[test]
fn every_input_reaches_the_script_and_none_reaches_a_shell() {
    let action = repository("action.yml");
    let script = repository("scripts/action.sh");
    let (head, steps) = action.split_once("\nruns:\n").expect("steps");
    let inputs = head.split_once("\ninputs:\n").expect("inputs").1.split_once("\noutputs:\n").expect("outputs").0;
    let names: Vec<&str> = inputs
        .lines()
        .filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?.strip_suffix(':'))
        .collect();
    assert_eq!(names, ["run", "replay", "against", "compare", "fail-if", "artifact"]);
    for name in names.iter().filter(|name| **name != "artifact") {
        let variable = format!("ACTION_{}", name.to_uppercase().replace('-', "_"));
        assert!(steps.contains(&format!("        {variable}: ${{{{ inputs.{name} }}}}\n")), "{name}");
        assert!(script.contains(&format!("${{{variable}-}}")), "{variable} is not read");
        assert!(script.contains(&format!("\n  {variable} ")), "{variable} is not in the script's help");
    }
    // An expression is only ever the whole value of a variable, of a parameter of an action, or of an output.
    for line in action.lines().filter(|line| line.contains("${{")) {
        let (name, value) = line.split_once(": ").expect("a name");
        let name = name.trim();
        assert!(name != "run" && name != "shell", "{line}");
        let whole = value.starts_with("${{") && value.ends_with("}}") && value.matches("${{").count() == 1;
        assert!(whole || name == "key", "{line}");
        assert!(!(name == "key" && value.contains("inputs")), "{line}");
    }
}

/// docs/ci.md has every input in its table.
#[test]
fn every_input_is_documented() {
    let rows = crate::common::table_rows(&repository("docs/ci.md"), &["input", "default"]);
    let listed: Vec<&str> = rows.iter().map(|(_, cells)| cells[0].trim_matches('`')).collect();
    assert_eq!(listed, ["run", "replay", "against", "compare", "fail-if", "artifact"]);
}
