//! Settings files and environment variables: what holds where no flag says it, what goes before what, and that neither a
//! key nor a request goes where only a folder from somebody else says.

use crate::common::server::{Server, json};
use crate::common::{Ran, WorkDir};
use serde_json::{Value, json};

/// What `OPENAI_API_KEY` holds.
const KEY: &str = "sk-victim-0123456789";

fn server() -> Server {
    Server::start(|_, _, stream| {
        json(stream, &json!({"choices": [{"message": {"content": "so the answer is x"}, "finish_reason": "stop"}]}));
    })
}

fn got(server: &Server, key: &str) -> bool {
    server.requests().iter().any(|request| request.contains(key))
}

/// A working folder, and a folder with the person's own settings.
struct Bench {
    work: WorkDir,
    own: WorkDir,
}

impl Bench {
    fn new(own: &str) -> Self {
        let bench = Self { work: WorkDir::new(), own: WorkDir::new() };
        bench.own.write("wikitrail/config.toml", own);
        bench
    }

    /// The program with a key, these settings and these variables.
    fn ran(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.work.command(args);
        command.env("OPENAI_API_KEY", KEY).env("XDG_CONFIG_HOME", self.own.root());
        command.envs(variables.iter().copied());
        Ran::from(&command.output().expect("wikitrail runs"))
    }

    /// A run of one question by a direct method.
    fn run_one(&self, out: &str, more: &[&str], variables: &[(&str, &str)]) -> Ran {
        let args = ["run", "--method", "cot", "--limit", "1", "--quiet", "--out", out];
        self.ran(&[&args, more].concat(), variables)
    }

    /// What `config` says of a setting: its value and where it comes from.
    fn of(&self, name: &str, variables: &[(&str, &str)]) -> (String, String) {
        let config = self.ran(&["config", "--json"], variables).json();
        let all = config["settings"].as_array().expect("settings");
        let setting = all.iter().find(|setting| setting["name"] == name).expect("the setting");
        let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();
        (text(&setting["value"]), text(&setting["from"]))
    }
}

#[test]
fn a_variable_goes_before_the_folder_and_the_folder_before_the_person() {
    let bench = Bench::new("model = \"openai:own\"\ncontact = \"own@example.org\"\n");
    let from = bench.own.path("wikitrail/config.toml").display().to_string();
    assert_eq!(bench.of("model", &[]), ("openai:own".to_owned(), format!("{from}:1")));
    assert_eq!(bench.of("concurrency", &[]), ("auto".to_owned(), "default".to_owned()));
    bench.work.write("wikitrail.toml", "\nmodel = \"openai:folder\"\n");
    assert_eq!(bench.of("model", &[]), ("openai:folder".to_owned(), "wikitrail.toml:2".to_owned()));
    let variable = [("WIKITRAIL_MODEL", "openai:variable")];
    assert_eq!(bench.of("model", &variable), ("openai:variable".to_owned(), "WIKITRAIL_MODEL".to_owned()));
    let shown = bench.ran(&["config"], &variable).ok();
    for part in ["wikitrail.toml:2 (overridden)", &format!("{from}:1"), "OPENAI_API_KEY", "set, not shown", "read"] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    assert!(!shown.stdout.contains(KEY));
    let absent = Bench { work: WorkDir::new(), own: WorkDir::new() }.ran(&["config", "--json"], &[]).json();
    assert_eq!(absent["files"][0], json!({"path": "wikitrail.toml", "found": false}));
}

#[test]
fn a_run_takes_what_no_flag_says_and_its_manifest_holds_it() {
    let ours = server();
    let url = format!("{}/v1", ours.url);
    let own = format!(
        "model = \"openai:own\"\nbase_url = \"{url}\"\nprice = \"1/2\"\nconcurrency = 3\nresults = \"runs/of me\"\n"
    );
    let bench = Bench::new(&own);
    bench.ran(&["run", "--method", "cot", "--limit", "1", "--quiet"], &[]).ok();
    let made = std::fs::read_dir(bench.work.path("runs/of me"))
        .expect("the folder of runs")
        .next()
        .expect("a run")
        .expect("read");
    let manifest = crate::common::manifest(made.path());
    let variant = &manifest["variants"][0];
    assert_eq!((&variant["model"], &variant["base_url"]), (&json!("openai:own"), &json!(url)));
    assert_eq!(variant["price"]["prompt"], json!(1.0));
    assert_eq!(
        manifest["defaults"],
        json!({"model": "openai:own", "base_url": url, "price": "1/2", "concurrency": "3"})
    );
    // The person named the server, so it gets the key.
    assert!(got(&ours, KEY) && got(&ours, "\"own\""));
    let listed = bench.ran(&["list"], &[]).ok();
    assert!(listed.stdout.contains("own"), "{}", listed.stdout);
    // A flag goes first, and the price of another model is not this one's.
    bench.run_one("other", &["--model", "openai:other"], &[]).ok();
    let other = bench.work.manifest("other");
    assert_eq!(
        (&other["variants"][0]["model"], &other["variants"][0]["price"]),
        (&json!("openai:other"), &Value::Null)
    );
    // The server of one provider gets no requests, and no key, of another.
    let before = ours.requests().len();
    let elsewhere = bench.run_one("third", &["--model", "anthropic:m"], &[("ANTHROPIC_API_KEY", "")]);
    elsewhere.refused(2, &["no key for https://api.anthropic.com"]);
    assert_eq!(ours.requests().len(), before);
    let checked = bench.ran(&["models", "check", "--json"], &[]).ok();
    assert!(checked.stdout.contains("\"asked\":\"own\""), "{}", checked.stdout);
    bench.ran(&["ask", "Who?", "--method", "cot", "--json"], &[]).ok();
    assert!(ours.requests().len() > before + 2);
}

/// Each of several models gets the server that is meant for its provider, or none does.
#[test]
fn several_models_share_a_server_only_if_it_is_meant_for_all() {
    let bench = Bench::new("model = \"openai:own\"\nbase_url = \"http://127.0.0.1:9/v1\"\n");
    let planned = |models: &str, out: &str| {
        let ran = bench.ran(&["run", "--limit", "1", "--model", models, "--out", out, "--dry-run", "--json"], &[]);
        ran.json()
    };
    assert!(planned("openai:a,openai:b", "o").to_string().contains("openai:b"));
    let mixed = ["run", "--limit", "1", "--model", "openai:a,anthropic:b", "--out", "o", "--model-attempts", "1"];
    let ran = bench.ran(&mixed, &[("ANTHROPIC_API_KEY", "")]);
    assert!(ran.stderr.contains("no key for https://api.anthropic.com"), "{}", ran.stderr);
}

#[test]
fn an_experiment_file_goes_before_settings() {
    let (ours, theirs) = (server(), server());
    let bench =
        Bench::new(&format!("model = \"openai:own\"\nbase_url = \"{}/v1\"\ncontact = \"me@example.org\"\n", ours.url));
    let open = "name = \"x\"\n[[dataset]]\npath = \"datasets/sample.jsonl\"\nlimit = 1\n[settings]\nmethod = \"cot\"\n";
    bench.work.write("open.toml", open);
    bench.ran(&["run", "open.toml", "--quiet", "--out", "open"], &[]).ok();
    let manifest = bench.work.manifest("open");
    assert_eq!(manifest["variants"][0]["model"], json!("openai:own"));
    // Nothing of it uses a contact.
    assert_eq!(manifest["defaults"].as_object().expect("defaults").len(), 2);
    let named = format!("{open}model = \"openai:theirs\"\nbase_url = \"{}/v1\"\n", theirs.url);
    bench.work.write("named.toml", named);
    let before = ours.requests().len();
    bench.ran(&["run", "named.toml", "--quiet", "--out", "named"], &[]).ok();
    assert_eq!(ours.requests().len(), before);
    assert!(got(&theirs, "theirs") && !got(&theirs, KEY), "a named file chooses no server for the key");
    // A host that the person lists may have it.
    let host = theirs.url.trim_start_matches("http://");
    bench.ran(&["run", "named.toml", "--quiet", "--out", "listed"], &[("WIKITRAIL_KEY_HOSTS", host)]).ok();
    assert!(got(&theirs, KEY));
}

#[test]
fn a_folder_from_somebody_else_sends_no_key_and_no_request() {
    let theirs = server();
    let bench = Bench::new("");
    let file = format!("model = \"openai:m\"\nbase_url = \"{}/v1\"\n", theirs.url);
    bench.work.write("wikitrail.toml", &file);
    for args in [
        &["run", "--limit", "1", "--out", "o"][..],
        &["run", "--limit", "1", "--out", "o", "--confirm"],
        &["ask", "Who?"],
        &["models", "check"],
        &["reproduce", "--limit", "1"],
    ] {
        bench
            .ran(args, &[])
            .refused(2, &["--base-url http://127.0.0.1", "is named by wikitrail.toml:2 alone", "key_hosts"]);
    }
    let config = bench.ran(&["config"], &[]).ok();
    assert!(
        config.stdout.contains("wikitrail.toml:2 (refused: `key_hosts` does not name its host)"),
        "{}",
        config.stdout
    );
    assert_eq!(theirs.requests(), Vec::<String>::new());
    // What is typed goes first; the rest of the file is used, and said.
    let ran = bench.run_one("typed", &["--base-url", &format!("{}/v1", theirs.url)], &[]).ok();
    assert!(ran.stderr.contains("note: --model openai:m, from wikitrail.toml:1\n"), "{}", ran.stderr);
    let host = theirs.url.trim_start_matches("http://");
    bench.run_one("listed", &[], &[("WIKITRAIL_KEY_HOSTS", host)]).ok();
    assert!(got(&theirs, KEY));
    // Neither the folder of a dataset nor the one around ours is looked at.
    let elsewhere = Bench::new("");
    elsewhere.work.write("data/wikitrail.toml", &file);
    elsewhere.work.write("data/q.csv", "question,answer\nWho?,x\n");
    elsewhere.ran(&["run", "data/q.csv", "--quiet", "--out", "o"], &[]).ok();
    assert_eq!(elsewhere.work.manifest("o")["variants"][0]["model"], json!("baseline"));
    for setting in ["key_hosts = [\"evil.example\"]", "results = \"/tmp/elsewhere\"", "prices = \"../p.toml\""] {
        elsewhere.work.write("wikitrail.toml", setting);
        elsewhere.ran(&["run", "--limit", "1"], &[]).refused(3, &["wikitrail.toml:1: ", "somebody else"]);
    }
}

#[test]
fn keys_and_unknown_names_are_refused() {
    let bench = Bench::new("\nopenai_api_key = \"sk-0123456789abcdefgh\"\n");
    let ran = bench.ran(&["config"], &[]);
    ran.refused(3, &["config.toml:2: this looks like a key, and a key is never a setting", "OPENAI_API_KEY"]);
    assert!(!ran.stderr.contains("0123456789"), "{}", ran.stderr);
    let bench = Bench::new("conact = \"me@example.org\"\n");
    bench
        .ran(&["run", "--limit", "1"], &[])
        .refused(3, &["config.toml:1: unknown key `conact`", "did you mean `contact`?"]);
    let bench = Bench::new("");
    bench.ran(&["config"], &[("WIKITRAIL_CONCURRENCY", "many")]).refused(2, &["WIKITRAIL_CONCURRENCY", "`many`"]);
    bench.ran(&["config"], &[("WIKITRAIL_PRICE", "1/2")]).refused(2, &["WIKITRAIL_PRICE", "has no `model` beside it"]);
    let typo = bench.ran(&["config"], &[("WIKITRAIL_MODLE", "x"), ("WIKITRAIL_OTHER", "x")]).ok();
    assert!(typo.stderr.contains("did you mean WIKITRAIL_MODEL?") && !typo.stderr.contains("OTHER"), "{}", typo.stderr);
    assert!(typo.stdout.contains("WIKITRAIL_OTHER"), "{}", typo.stdout);
    std::fs::create_dir(bench.work.path("wikitrail.toml")).expect("a folder");
    bench.ran(&["config"], &[]).refused(3, &["cannot read `wikitrail.toml`: it is not a file"]);
}

#[test]
fn a_run_goes_on_with_its_own_settings_and_a_replay_takes_none() {
    let ours = server();
    let bench = Bench::new("");
    let url = format!("{}/v1", ours.url);
    let variables = [("WIKITRAIL_MODEL", "openai:m"), ("WIKITRAIL_BASE_URL", url.as_str())];
    bench.run_one("plain", &[], &[]).ok();
    bench.run_one("served", &[], &variables).ok();
    // A run without settings gets none later, whether its folder alone or its command is typed again.
    let resume = ["run", "--resume", "--quiet", "--out", "plain", "--limit", "2"];
    let note = "note: `plain` goes on with the settings that it was started with; not used: model openai:m, from WIKITRAIL_MODEL";
    let ran = bench.ran(&resume, &variables).ok();
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let again =
        ["run", "datasets/sample.jsonl", "--method", "cot", "--limit", "3", "--resume", "--quiet", "--out", "plain"];
    bench.ran(&again, &variables).ok();
    assert_eq!(bench.work.manifest("plain")["variants"][0]["model"], json!("baseline"));
    assert_eq!(bench.work.records("plain").len(), 3);
    // The other one keeps its server, and says so once another one is set; elsewhere it is somebody else's folder.
    let (before, resume) = (ours.requests().len(), ["run", "--resume", "--quiet", "--out", "served", "--limit", "2"]);
    let ran = bench.ran(&resume, &[variables[1], ("WIKITRAIL_MODEL", "openai:other")]).ok();
    assert!(ours.requests().len() > before && ran.stderr.contains("not used: model openai:other"), "{}", ran.stderr);
    let more = ["run", "--resume", "--quiet", "--out", "served", "--limit", "3"];
    bench.ran(&more, &[]).refused(2, &["--base-url", "is named by served alone"]);
    bench.ran(&[&more[..], &["--confirm"]].concat(), &[]).ok();
    // The recording of the baseline is replayed as the baseline.
    bench.ran(&["run", "--limit", "1", "--quiet", "--record", "tape", "--out", "taped"], &[]).ok();
    let replayed =
        bench.ran(&["run", "--limit", "1", "--quiet", "--replay", "tape", "--out", "again"], &variables).ok();
    assert!(
        replayed.stderr.contains("note: --replay takes no settings; not used: model openai:m"),
        "{}",
        replayed.stderr
    );
}
