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

#[test]
fn a_file_that_chooses_a_server_names_files_of_its_own_folder_only() {
    let (bench, theirs) = (bench(), server());
    let url = format!("{}/v1", theirs.url);
    let host = theirs.url.trim_start_matches("http://").to_owned();
    let served = format!("model = \"openai:m\"\nbase_url = \"{url}\"");
    let run = |more: &[&str], variables: &[(&str, &str)]| {
        ran_in(&bench, "project", &[&["run", "theirs/x.toml", "--limit", "1", "--quiet"], more].concat(), variables)
    };
    let line = format!("key_hosts = [\"{host}\"]");
    for (dataset, settings, named) in [
        ("../data/q.csv", "", "[[dataset]] path theirs/../data/q.csv"),
        ("q.csv", "prompt = \"../data/p.txt\"", "prompt theirs/../data/p.txt"),
        ("q.csv", "wiki = \"corpus:../data/texts\"\nmethod = \"react\"", "wiki corpus:theirs/../data/texts"),
        ("data/q.csv", "", "[[dataset]] path data/q.csv"),
    ] {
        let settings = settings.replace("method = \"react\"", "");
        let text = experiment(dataset, &format!("{served}\n{settings}"));
        bench.write(
            ELSEWHERE,
            text.replace("method = \"cot\"\n", if settings.contains("wiki") { "" } else { "method = \"cot\"\n" }),
        );
        run(&["--out", "o"], &[]).refused(2, &["`theirs/x.toml` names ", named, &url, &line]);
        // A dry run reads nothing either.
        run(&["--out", "o", "--dry-run"], &[]).refused(2, &[named]);
    }
    bench.write(ELSEWHERE, experiment("../data/q.csv", &format!("{served}\n")));
    let ids = experiment("q.csv", &served).replace("[settings]", "ids = \"../data/ids.txt\"\n[settings]");
    bench.write("project/theirs/ids.toml", ids);
    ran_in(&bench, "project", &["run", "theirs/ids.toml", "--out", "o"], &[])
        .refused(2, &["ids theirs/../data/ids.txt"]);
    // A replacement wiki and a retriever are servers, too.
    for wiki in
        [format!("wiki = \"api\"\nwiki_url = \"{}\"", theirs.url), format!("wiki = \"retriever:{}\"", theirs.url)]
    {
        bench.write("project/theirs/w.toml", experiment("../data/q.csv", &wiki).replace("method = \"cot\"\n", ""));
        ran_in(&bench, "project", &["run", "theirs/w.toml", "--out", "o"], &[])
            .refused(2, &["theirs/../data/q.csv", &line]);
    }
    assert_eq!(theirs.requests(), Vec::<String>::new());
    assert!(!bench.path("project/o").exists());
    // The line ends the question, and so do a typed server, a listed folder and a confirmation.
    let data = bench.path("project/data").display().to_string();
    run(&["--out", "hosts"], &[("WIKITRAIL_KEY_HOSTS", &host)]).ok();
    run(&["--out", "typed", "--base-url", &url], &[]).ok();
    run(&["--out", "dirs"], &[("WIKITRAIL_FILE_DIRS", &data)]).ok();
    let confirmed = run(&["--out", "confirmed", "--confirm"], &[]).ok();
    assert!(confirmed.stderr.contains("[[dataset]] path theirs/../data/q.csv"), "{}", confirmed.stderr);
    bench.write(ELSEWHERE, experiment("deep/q.csv", &served));
    run(&["--out", "own"], &[]).ok();
}

/// What is typed for one setting opens nothing to another one.
#[test]
fn a_typed_path_is_typed_for_its_own_setting_only() {
    let (bench, theirs) = (bench(), server());
    let served = format!("model = \"openai:m\"\nbase_url = \"{}/v1\"\nprompt = \"p.json#k\"", theirs.url);
    bench.write("project/theirs/p.json", "{\"k\": \"\"}");
    bench.write("project/key.txt", "sk-secret-0123456789\n");
    bench.write(ELSEWHERE, experiment("q.csv", &format!("{served}\ninstruction = \"key.txt\"")));
    let run = |more: &[&str]| ran_in(&bench, "project", &[&["run", "theirs/x.toml", "--out", "o"], more].concat(), &[]);
    run(&["--report", "key.txt"]).refused(2, &["instruction key.txt (outside of `"]);
    // Not even where the person chooses the server, and the file lies below the root.
    let url = format!("{}/v1", theirs.url);
    run(&["--base-url", &url, "--key-file", "key.txt"])
        .refused(2, &["`theirs/x.toml` names the key file of this command: instruction key.txt"]);
    assert_eq!(theirs.requests(), Vec::<String>::new());
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

#[test]
fn a_stored_command_names_files_below_its_root_only() {
    let bench = bench();
    let run = |args: &[&str]| ran_in(&bench, "project", &[&["run", "--quiet"], args].concat(), &[]);
    run(&["theirs/q.csv", "--limit", "1", "--method", "cot", "--out", "theirs/run"]).ok();
    let stored = |words: &[&str]| {
        let mut manifest = bench.manifest("project/theirs/run");
        manifest["command_line"] = ["wikitrail", "run"].iter().chain(words).map(|word| json!(word)).collect();
        bench.write("project/theirs/run/manifest.json", manifest.to_string());
        run(&["--resume", "--out", "theirs/run"])
    };
    let secret = bench.path("home/.ssh/id").display().to_string();
    let elsewhere = bench.path("elsewhere/other.csv").display().to_string();
    bench.write("elsewhere/other.csv", "question,answer\nSecret?,secret\n");
    bench.write("elsewhere/x.toml", experiment("q.csv", ""));
    let file = bench.path("elsewhere/x.toml").display().to_string();
    for (words, named) in [
        (&[secret.as_str(), "--format", "csv"][..], "dataset "),
        (&[&elsewhere], "dataset "),
        (&["theirs/q.csv", "--ids", &secret], "--ids "),
        (&["theirs/q.csv", "--prompt", &secret], "--prompt "),
        (&["theirs/q.csv", "--instruction", &secret], "--instruction "),
        (&["theirs/q.csv", "--texts", &secret], "--texts "),
        (&["theirs/q.csv", "--wiki", &format!("corpus:{}", bench.path("elsewhere").display())], "--wiki "),
        (&[&file], "dataset "),
        (&[".hidden/q.csv"], "dataset "),
    ] {
        stored(words).refused(2, &["`theirs/run` was recorded with ", named, "--confirm"]);
    }
    assert_eq!(bench.records("project/theirs/run").len(), 1);
    stored(&["data/q.csv", "--limit", "1", "--method", "cot"]);
    #[cfg(unix)]
    if std::process::Command::new("mkfifo")
        .arg(bench.path("project/pipe.toml"))
        .status()
        .is_ok_and(|made| made.success())
    {
        stored(&["pipe.toml"]).refused(2, &["names what is not a file", "not a regular file"]);
        std::fs::rename(bench.path("project/pipe.toml"), bench.path("project/pipe")).expect("renamed");
        for words in [&["pipe"][..], &["theirs/q.csv", "--ids", "pipe"], &["theirs/q.csv", "--replay", "pipe"]] {
            stored(words).refused(2, &["names what is not a file"]);
        }
    }
}

#[test]
fn a_stored_reproduction_names_files_below_its_root_only() {
    let (bench, ours) = (bench(), server());
    let url = format!("{}/v1", ours.url);
    bench.write("elsewhere/h.csv", QUESTIONS);
    let data = bench.path("elsewhere/h.csv").display().to_string();
    let first = ["reproduce", "--try", "--limit", "1", "--quiet", "--out", "theirs/r"];
    ran_in(&bench, "project", &first, &[]).ok();
    for name in ["hotpotqa", "fever"] {
        let path = format!("project/theirs/r/{name}/manifest.json");
        let mut manifest = bench.manifest(&format!("project/theirs/r/{name}"));
        manifest["command_line"] =
            json!(["wikitrail", "reproduce", "--model", "openai:m", &format!("--{name}={data}")]);
        bench.write(&path, manifest.to_string());
    }
    let resumed = ["reproduce", "--resume", "--out", "theirs/r", "--base-url", &url];
    ran_in(&bench, "project", &resumed, &[]).refused(2, &["`theirs/r` was recorded with ", &data]);
    assert_eq!(ours.requests(), Vec::<String>::new());
}

#[test]
fn the_page_of_an_earlier_start_is_written_again_below_the_root() {
    let bench = bench();
    let run = |args: &[&str]| ran_in(&bench, "project", &[&["run", "--quiet"], args].concat(), &[]);
    run(&["data/q.csv", "--limit", "1", "--method", "cot", "--out", "r", "--report", "page.html"]).ok();
    std::fs::remove_file(bench.path("project/page.html")).expect("there");
    let ran = run(&["--resume", "--out", "r", "--limit", "2"]).ok();
    assert!(bench.path("project/page.html").exists(), "{}", ran.stderr);
    let outside = bench.path("home/index.html").display().to_string();
    bench.write("home/index.html", "mine");
    for (page, reason) in [
        (outside.as_str(), "outside of `"),
        (".hidden/page.html", "hidden"),
        ("notes.txt", "does not end in .html"),
        ("data", "does not end in .html"),
    ] {
        let mut manifest = bench.manifest("project/r");
        manifest["command_line"] =
            json!(["wikitrail", "run", "data/q.csv", "--limit", "2", "--method", "cot", &format!("--report={page}")]);
        bench.write("project/r/manifest.json", manifest.to_string());
        let ran = run(&["--resume", "--out", "r"]).ok();
        let note = format!("note: --report {page} is not written again (");
        assert!(ran.stderr.contains(&note) && ran.stderr.contains(reason), "{}", ran.stderr);
        assert!(page == "data" || page == outside || !bench.path("project").join(page).exists());
    }
    assert_eq!(bench.read("home/index.html"), "mine");
    run(&["--resume", "--out", "r", "--report", &outside]);
}

#[test]
fn a_price_that_nobody_typed_is_printed_and_limits_nothing_until_it_is_confirmed() {
    let bench = bench();
    let limited = ["--budget-usd", "0.000001", "--dry-run"];
    let run = |args: &[&str], variables: &[(&str, &str)]| {
        ran_in(&bench, "project", &[&["run", "--quiet", "--limit", "1"], args].concat(), variables)
    };
    let known = "openai:gpt-4o-mini";
    for (price, reason) in [
        ("0/0", "tokens would cost nothing"),
        ("0/5", "tokens would cost nothing"),
        ("5/5/0", "tokens would cost nothing"),
        ("0.01/5", "below the known price"),
        ("5/0.01", "below the known price"),
        ("5/5/0.0001", "below the known price"),
    ] {
        let said = format!("note: the price of {known} is {price}, from `theirs/x.toml`");
        bench.write(ELSEWHERE, experiment("q.csv", &format!("model = \"{known}\"\nprice = \"{price}\"")));
        let free = run(&["theirs/x.toml", "--dry-run"], &[]).ok();
        assert!(free.stderr.contains(&said), "{}", free.stderr);
        let file = ["theirs/x.toml"];
        run(&[&file[..], &limited].concat(), &[])
            .refused(2, &[&said, reason, "the budget would not hold", "--confirm"]);
        run(&[&file[..], &limited, &["--confirm"]].concat(), &[]).ok();
        run(&[&file[..], &limited, &["--price", "0/0"]].concat(), &[]).ok();
        bench.write("project/wikitrail.toml", format!("model = \"{known}\"\nprice = \"{price}\"\n"));
        let by_folder = run(&[&["theirs/q.csv"][..], &limited].concat(), &[]);
        by_folder.refused(2, &["note: --price", "from wikitrail.toml:2", "`wikitrail.toml:2` names", reason]);
        let amounts: Vec<&str> = price.split('/').collect();
        let cached = amounts.get(2).map_or_else(String::new, |cached| format!("cached = {cached}\n"));
        let list = format!(
            "[[model]]\nname = \"gpt-4o-mini\"\nprompt = {}\ncompletion = {}\n{cached}as_of = \"2026-01-01\"\n",
            amounts[0], amounts[1]
        );
        bench.write("project/prices.toml", list);
        bench.write("project/wikitrail.toml", "prices = \"prices.toml\"\n");
        let by_list = run(&[&["theirs/q.csv", "--model", known][..], &limited].concat(), &[]);
        by_list.refused(2, &["note: --prices prices.toml, from wikitrail.toml:1", reason]);
        std::fs::remove_file(bench.path("project/wikitrail.toml")).expect("there");
    }
    bench.write(ELSEWHERE, experiment("q.csv", &format!("model = \"{known}\"\nprice = \"5/5\"")));
    run(&[&["theirs/x.toml"][..], &limited].concat(), &[]).ok();
    // The person's own settings are the person's.
    let own = [("WIKITRAIL_MODEL", known), ("WIKITRAIL_PRICE", "0/0")];
    run(&[&["theirs/q.csv"][..], &limited].concat(), &own).ok();
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
