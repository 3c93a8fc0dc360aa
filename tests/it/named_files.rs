//! Files that experiment files, stored command lines and settings files of folders name: used where they lie below the root
//! of the file that names them, and otherwise only by whoever types or confirms them.

use crate::common::server::{Server, json};
use crate::common::{Ran, WorkDir};
use serde_json::json;
use std::path::Path;

const QUESTIONS: &str = "id,question,answer\n1,Who?,x\n2,What?,y\n3,Where?,z\n";
const PROMPT: &str = "Answer the question.\n\n{question}\n";

fn server() -> Server {
    Server::start(|_, _, stream| {
        json(stream, &json!({"choices": [{"message": {"content": "so the answer is x"}, "finish_reason": "stop"}]}));
    })
}

/// The program in a folder of the bench, with these variables.
fn ran_in(bench: &WorkDir, folder: &str, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = bench.command(args);
    command.current_dir(bench.path(folder)).env("HOME", bench.path("home")).envs(variables.iter().copied());
    Ran::from(&command.output().expect("wikitrail runs"))
}

/// A bench with a home and a working folder, in which somebody's folder lies.
fn bench() -> WorkDir {
    let bench = WorkDir::new();
    bench.write("home/.ssh/id", "question,answer\nsecret,secret\n");
    bench.write("project/theirs/q.csv", QUESTIONS);
    bench.write("project/theirs/deep/q.csv", QUESTIONS);
    bench.write("project/data/q.csv", QUESTIONS);
    bench.write("project/data/p.txt", PROMPT);
    bench.write("project/data/ids.txt", "1\n");
    bench.write("project/data/texts/Secret.txt", "A secret of mine.");
    bench.write("project/.hidden/q.csv", "question,answer\nHidden?,secret\n");
    bench.write("elsewhere/q.csv", QUESTIONS);
    bench
}

/// An experiment over a dataset with more settings.
fn experiment(dataset: &str, settings: &str) -> String {
    format!("name = \"x\"\n[[dataset]]\npath = \"{dataset}\"\n[settings]\nmethod = \"cot\"\n{settings}\n")
}

const ELSEWHERE: &str = "project/theirs/x.toml";

/// The server of a provider would send the questions on, as one that the file names would get them.
#[test]
fn a_file_whose_fields_reach_others_has_only_its_own_folder() {
    let (bench, ours) = (bench(), server());
    let base = format!("{}/v1", ours.url);
    let write = |dataset: &str, fields: &str| {
        bench.write(ELSEWHERE, experiment(dataset, &format!("model = \"openai:m\"\n{fields}")));
    };
    let run =
        |args: &[&str]| ran_in(&bench, "project", &[&["run", "--quiet", "--base-url", &base], args].concat(), &[]);
    let reaching = "extra_body = { a = 1, mcp_servers = [{ url = \"https://evil.example/\\u001b[2J\" }] }\n\
                    extra_header = { anthropic-beta = \"mcp-client\", x-title = \"t\" }";
    write("../data/q.csv", reaching);
    let named = [
        "--extra-body mcp_servers=[{\"url\":\"https://evil.example/\\u001b[2J\"}]",
        "--extra-header anthropic-beta=mcp",
    ];
    let refused = run(&["theirs/x.toml", "--out", "a"]);
    refused.refused(
        2,
        &[
            "names a field of requests and a file",
            "requests have extra_body)",
            "read them, and add --confirm",
            "--extra-body a=1",
            named[0],
            named[1],
        ],
    );
    assert!(!refused.stderr.contains("x-title") && ours.requests().is_empty(), "{}", refused.stderr);
    let confirmed = run(&["theirs/x.toml", "--out", "a", "--confirm"]).ok();
    assert!(
        confirmed
            .stderr
            .contains(&format!("confirmed: [[dataset]] path theirs/../data/q.csv, --extra-body a=1, {}", named[0]))
    );
    let typed = ["theirs/x.toml", "--out", "b", "--extra-header"];
    run(&[&typed[..], &["x-a=b"]].concat()).refused(2, &[named[1]]);
    let own = run(&[&typed[..], &["Anthropic-Beta=mine"]].concat());
    assert!(own.stderr.contains(named[0]) && !own.stderr.contains("anthropic"), "{}", own.stderr);
    // A folder is asked about wherever its questions lie.
    let resume = |folder: &str, more: &[&str]| run(&[&["--resume", "--out", folder], more].concat());
    resume("a", &[])
        .refused(2, &["was recorded with a field of requests that you did not name again", named[0], named[1]]);
    resume("a", &["--confirm"]).ok();
    write("q.csv", reaching);
    run(&["theirs/x.toml", "--out", "c"]).ok();
    write(
        "../data/q.csv",
        "extra_body = { top_k = 20, reasoning_effort = \"minimal\" }\nextra_header = { x-title = \"t\" }",
    );
    run(&["theirs/x.toml", "--out", "d"]).ok();
    resume("d", &[]).ok();
}

/// Standard input is the person's, and may be anything.
#[cfg(unix)]
#[test]
fn what_is_open_without_a_name_is_no_file_that_a_file_names() {
    let bench = bench();
    bench.write(ELSEWHERE, experiment("/dev/stdin", ""));
    for args in [&["run", "theirs/x.toml", "--dry-run"][..], &["run", "theirs/x.toml", "--dry-run", "--confirm"]] {
        let mut command = bench.command(args);
        command.current_dir(bench.path("project")).stdin(std::process::Stdio::piped());
        let mut child =
            command.stderr(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().expect("it runs");
        // Its end stays open: whoever read it would wait for ever.
        let input = child.stdin.take();
        let ran = Ran::from(&child.wait_with_output().expect("it ends"));
        drop(input);
        ran.refused(2, &["`theirs/x.toml` names what is not a file", "/dev/stdin (not a regular file)"]);
    }
}

/// A link inside of a folder of texts leads to no file that a person would not show.
#[cfg(unix)]
#[test]
fn a_link_in_a_folder_of_texts_leads_to_nothing_hidden() {
    use std::os::unix::fs::symlink;
    let bench = bench();
    bench.write("project/clone/.git/config", "url = https://me:secret@host.example\n");
    bench.write("project/clone/Rome.txt", "Rome is a city.");
    symlink(".git/config", bench.path("project/clone/Pascal.txt")).expect("a link");
    let search = || ran_in(&bench, "project", &["wiki", "search", "Rome", "--wiki", "corpus:clone"], &[]);
    search().refused(3, &["clone/Pascal.txt", "a link to a hidden file"]);
    std::fs::remove_file(bench.path("project/clone/Pascal.txt")).expect("there");
    symlink("Rome.txt", bench.path("project/clone/Roma.txt")).expect("a link");
    search().ok();
}

#[cfg(unix)]
#[test]
fn paths_are_compared_after_links_are_resolved() {
    use std::os::unix::fs::symlink;
    let bench = bench();
    symlink(bench.path("home/.ssh/id"), bench.path("project/theirs/link.csv")).expect("a link");
    symlink(bench.path("project/data"), bench.path("project/theirs/data")).expect("a link");
    symlink(bench.path("home/.ssh"), bench.path("project/theirs/keys")).expect("a link");
    let run = |dataset: &str| {
        bench.write(ELSEWHERE, experiment(dataset, ""));
        ran_in(&bench, "project", &["run", "theirs/x.toml", "--quiet", "--dry-run"], &[])
    };
    for outside in ["link.csv", "keys/id", "../../home/.ssh/id", "../../elsewhere/q.csv"] {
        run(outside).refused(2, &[&format!("theirs/{outside}"), "outside of `", "file_dirs"]);
    }
    run("../.hidden/q.csv").refused(2, &["a hidden file, or in a hidden folder"]);
    for inside in ["q.csv", "data/q.csv", "deep/../../data/q.csv", "../data/./q.csv"] {
        run(inside).ok();
    }
    // What is not there is not found, as before.
    run("none.csv").refused(3, &["none.csv", "there is no such file"]);
    for pipe in ["pipe.csv", "deep/pipe.csv"] {
        let made = std::process::Command::new("mkfifo").arg(bench.path("project/theirs").join(pipe)).status();
        if made.is_ok_and(|made| made.success()) {
            run(pipe).refused(2, &["names what is not a file", pipe, "not a regular file"]);
            bench.write(
                "project/theirs/n.toml",
                experiment("q.csv", "").replace("method", &format!("prompt = \"{pipe}\"\nmethod")),
            );
            ran_in(&bench, "project", &["run", "theirs/n.toml", "--confirm"], &[]).refused(2, &["not a regular file"]);
        }
    }
    run("/dev/zero").refused(2, &["not a regular file"]);
}

#[test]
fn the_root_is_the_working_folder_or_the_project_and_never_a_home() {
    for mark in [".git/HEAD", "wikitrail.toml"] {
        let bench = bench();
        bench.write("project/experiments/x.toml", experiment("../data/q.csv", "prompt = \"../data/p.txt\""));
        let run = |folder: &str, file: &str| {
            ran_in(&bench, folder, &["run", file, "--quiet", "--limit", "1", "--dry-run"], &[])
        };
        run("project", "experiments/x.toml").ok();
        // From elsewhere, nothing says yet that the folder above is one project.
        run("elsewhere", "../project/experiments/x.toml").refused(2, &["outside of `", "experiments"]);
        run("project/experiments", "x.toml").refused(2, &["../data/q.csv"]);
        bench.write(&format!("project/{mark}"), "");
        run("elsewhere", "../project/experiments/x.toml").ok();
        run(".", "project/experiments/x.toml").ok();
        // A home is neither the working folder of a file nor its project.
        bench.write("home/downloads/x.toml", experiment("../notes/q.csv", ""));
        bench.write("home/notes/q.csv", QUESTIONS);
        bench.write(&format!("home/{mark}"), "");
        for folder in ["home", ".", "elsewhere"] {
            let file = bench.path("home/downloads/x.toml").display().to_string();
            run(folder, &file).refused(2, &["notes/q.csv", "outside of `"]);
        }
    }
}

/// A run of one's own goes on with data elsewhere, as long as it is what it was.
#[test]
fn a_run_goes_on_with_the_files_that_its_manifest_knows() {
    let bench = bench();
    let path = |name: &str| bench.path(name).display().to_string();
    bench.write("elsewhere/p.txt", PROMPT);
    bench.write("elsewhere/texts/Rome.txt", "Rome is a city.");
    bench.write("elsewhere/ids.txt", "1\n2\n");
    bench.write("elsewhere/lab/x.toml", experiment("../q.csv", "prompt = \"../p.txt\""));
    let (data, prompt, ids, file) =
        (path("elsewhere/q.csv"), path("elsewhere/p.txt"), path("elsewhere/ids.txt"), path("elsewhere/lab/x.toml"));
    let corpus = format!("corpus:{}", path("elsewhere/texts"));
    let run = |args: &[&str]| ran_in(&bench, "project", &[&["run", "--quiet"], args].concat(), &[]);
    run(&[&data, "--limit", "1", "--method", "cot", "--prompt", &prompt, "--out", "plain"]).ok();
    run(&[&data, "--limit", "1", "--wiki", &corpus, "--out", "corpus"]).ok();
    run(&[&data, "--ids", &ids, "--limit", "1", "--method", "cot", "--out", "ids"]).ok();
    run(&[&file, "--limit", "1", "--out", "lab"]).refused(2, &["file_dirs"]);
    run(&[&file, "--limit", "1", "--out", "lab", "--confirm"]).ok();
    for folder in ["plain", "corpus", "ids", "lab"] {
        run(&["--resume", "--out", folder, "--limit", "2"]).ok();
        assert_eq!(bench.records(&format!("project/{folder}")).len(), 2);
    }
    let manifest = bench.manifest("project/plain");
    assert_eq!(manifest["files"][&prompt].as_str().map(str::len), Some(64), "{manifest}");
    // From another folder it is the same run.
    ran_in(&bench, "elsewhere", &["run", "--resume", "--quiet", "--out", &path("project/plain"), "--limit", "3"], &[])
        .ok();
    // What has changed is asked about, and so is everything of a run from before digests were recorded.
    bench.write("elsewhere/q.csv", format!("{QUESTIONS}4,More?,m\n"));
    run(&["--resume", "--out", "plain"])
        .refused(2, &["`plain` was recorded with a file that you did not name again", "dataset", "outside of"]);
    run(&["--resume", "--out", "lab"]).refused(2, &["[[dataset]] path"]);
    bench.write("elsewhere/q.csv", QUESTIONS);
    let mut old = bench.manifest("project/plain");
    old.as_object_mut().expect("an object").remove("files");
    bench.write("project/plain/manifest.json", old.to_string());
    run(&["--resume", "--out", "plain"]).refused(2, &["--prompt"]);
    run(&["--resume", "--out", "plain", "--prompt", &prompt]).ok();
    std::fs::remove_file(bench.path("elsewhere/q.csv")).expect("removed");
    run(&["--resume", "--out", "corpus"]).ok();
    bench.write("elsewhere/texts/Rome.txt", "Rome is another city.");
    run(&["--resume", "--out", "corpus"]).refused(2, &["--wiki corpus:"]);
}

#[cfg(unix)]
#[test]
fn the_printed_command_needs_no_confirmation_with_files_elsewhere() {
    let (bench, theirs) = (bench(), server());
    let served = format!("model = \"openai:m\"\nbase_url = \"{}/v1\"\nprompt = \"../p.txt\"", theirs.url);
    bench.write("elsewhere/p.txt", PROMPT);
    bench.write("elsewhere/lab/x.toml", experiment("../q.csv", &served));
    let file = bench.path("elsewhere/lab/x.toml").display().to_string();
    let ran = ran_in(&bench, "project", &["run", &file, "--out", "o", "--max-calls", "1", "--confirm"], &[]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    let command = ran.stderr.lines().find_map(|line| line.strip_prefix("resume with a larger limit: "));
    let command = command.expect("a command").replace("LARGER", "9");
    assert!(!command.contains("--confirm"), "{command}");
    crate::common::shell(&bench.path("project"), &command).ok();
    assert_eq!(bench.records("project/o").len(), 3);
}

#[cfg(unix)]
#[test]
fn paths_of_a_folders_settings_stay_below_it_behind_links() {
    let bench = bench();
    std::os::unix::fs::symlink(bench.path("elsewhere"), bench.path("project/lnk")).expect("a link");
    std::os::unix::fs::symlink(bench.path("home/.ssh/id"), bench.path("project/p.toml")).expect("a link");
    let run = |variables: &[(&str, &str)]| ran_in(&bench, "project", &["run", "--limit", "1", "--quiet"], variables);
    for (setting, reason) in [
        ("results = \"lnk/x\"", "outside of `"),
        ("results = \"lnk\"", "outside of `"),
        ("prices = \"p.toml\"", "outside of `"),
        ("results = \".runs\"", "hidden"),
        ("prices = \"theirs\"", "not a regular file"),
    ] {
        bench.write("project/wikitrail.toml", setting);
        run(&[]).refused(3, &["wikitrail.toml:1: `", reason, "somebody else"]);
    }
    assert_eq!(std::fs::read_dir(bench.path("elsewhere")).expect("a folder").count(), 1);
    bench.write("project/wikitrail.toml", "results = \"lnk/x\"");
    let listed = bench.path("elsewhere").display().to_string();
    run(&[("WIKITRAIL_FILE_DIRS", &listed)]).ok();
    assert!(bench.path("elsewhere/x").is_dir());
    // The folder's own file cannot list folders.
    bench.write("project/wikitrail.toml", "file_dirs = [\"/\"]");
    run(&[]).refused(3, &["`file_dirs` may not be set in the file of a folder"]);
    assert!(Path::new(&listed).is_dir());
}

/// The other files that a stored command may not name are in `transcripts/settings.txt`.
#[cfg(unix)]
#[test]
fn a_stored_command_names_no_pipe() {
    let bench = bench();
    let run = |args: &[&str]| ran_in(&bench, "project", &[&["run", "--quiet"], args].concat(), &[]);
    run(&["theirs/q.csv", "--limit", "1", "--method", "cot", "--out", "theirs/run"]).ok();
    for pipe in ["pipe.toml", "pipe"] {
        let made = std::process::Command::new("mkfifo").arg(bench.path("project").join(pipe)).status();
        assert!(made.expect("mkfifo").success());
    }
    for words in
        [&["pipe.toml"][..], &["pipe"], &["theirs/q.csv", "--ids", "pipe"], &["theirs/q.csv", "--replay", "pipe"]]
    {
        let mut manifest = bench.manifest("project/theirs/run");
        manifest["command_line"] = ["wikitrail", "run"].iter().chain(words).map(|word| json!(word)).collect();
        bench.write("project/theirs/run/manifest.json", manifest.to_string());
        run(&["--resume", "--out", "theirs/run"]).refused(2, &["names what is not a file"]);
    }
}
