//! What a person has a model told beside its prompt: how much to reason, fields of the body, and headers. It is sent,
//! recorded and compared; secrets are sent only, and only where a key may go.

use crate::common::server::{self, Server};
use crate::common::{Ran, WorkDir, unwrapped, variant_names};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;

/// The value of the variable `TEAM_KEY`.
const SECRET: &str = "tk-Leak-9876543210ZyXwVuTs";

fn folder() -> WorkDir {
    let dir = WorkDir::new();
    dir.write("d.csv", "question,answer\nIs it?,yes\n");
    dir
}

/// A server that answers every chat, and repeats what the request holds.
fn echo() -> Server {
    Server::start(|_, request, stream| {
        let head = request.split("\r\n\r\n").next().expect("a head").replace("\r\n", " ");
        let text = format!("Thought: I was sent {head}\nAction: Finish[yes]");
        let message = json!({"content": text, "reasoning_content": format!("hm, {head}")});
        let details = json!({"reasoning_tokens": 7});
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 9, "completion_tokens_details": details});
        let answer = json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage, "model": "m"});
        server::json(stream, &answer);
    })
}

fn flags<'a>(base: &'a str, out: &'a str) -> Vec<&'a str> {
    vec!["--model", "openai:m", "--base-url", base, "--out", out, "--model-attempts", "1", "d.csv"]
}

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").expect("a body").1).expect("JSON")
}

#[test]
fn reasoning_is_a_factor_of_experiments_with_the_baseline_too() {
    let dir = folder();
    let text = "name = \"x\"\ndataset = \"d.csv\"\nbaseline = \"reasoning=off\"\n[settings]\nmodel = \"baseline\"\n[matrix]\n\
                reasoning = [\"off\", \"medium\", 4096]\n";
    dir.write("x.toml", text);
    let summary = dir.wikitrail(&["run", "x.toml", "--out", "r", "--json", "--quiet"]).json();
    assert_eq!(variant_names(&summary), ["reasoning=off", "reasoning=medium", "reasoning=4096"]);
    let variants = dir.manifest("r")["variants"].clone();
    let asked: Vec<&Value> = (0..3).map(|at| &variants[at]["decoding"]["reasoning"]).collect();
    assert_eq!(asked, [&json!("off"), &json!("medium"), &json!(4096)]);
    let compared = dir.wikitrail(&["compare", "r"]).ok().stdout;
    assert!(compared.contains("reasoning") && compared.contains("4096"), "{compared}");
    let dry = dir.wikitrail(&["run", "x.toml", "--dry-run"]).ok().stdout;
    assert!(dry.contains("reasoning") && dry.contains("medium"), "{dry}");
    // What the run would refuse, its plan refuses too, though nothing is sent.
    for (model, flags) in [
        ("openai:m", &["--base-url", "http://127.0.0.1:9", "--reasoning", "4096"][..]),
        ("anthropic:m", &["--reasoning", "100"]),
        ("anthropic:m", &["--reasoning", "low", "--protocol", "tools", "--option", "choice=required"]),
        ("openai:m", &["--base-url", "localhost:8080"]),
    ] {
        dir.wikitrail(&[&["run", "d.csv", "--dry-run", "--model", model], flags].concat()).refused(2, &["hint: "]);
    }
    for (value, words) in
        [("0", "reasoning"), ("\"none\"", "off, low, medium, high or a number of tokens"), ("1.5", "is 1.5")]
    {
        dir.write("bad.toml", text.replace("4096", value));
        dir.wikitrail(&["run", "bad.toml"]).refused(3, &["bad.toml:7", words]);
    }
    let typed = dir.run(&["--reasoning", "none", "d.csv"]);
    assert!(typed.code == Some(2) && typed.stderr.contains("expected off, low, medium, high or a number of tokens"));
}

#[test]
fn what_is_asked_is_sent_recorded_and_kept_by_resumed_runs() {
    let (server, dir) = (echo(), folder());
    let base = format!("{}/v1", server.url);
    let more = ["--reasoning", "low", "--extra-body", r#"{"top_k": 20, "a": {"z": 1, "b": 2}}"#];
    let header = ["--extra-header", "X-Title=one", "--extra-header", "http-referer=http://h/?a=b,c#d"];
    dir.run(&[&flags(&base, "r")[..], &more, &header, &["--record", "tape", "--cache", "cache"]].concat()).ok();
    let sent = server.requests().remove(0);
    assert!(sent.contains("x-title: one\r\n") && sent.contains("http-referer: http://h/?a=b,c#d\r\n"), "{sent}");
    let sent = body(&sent);
    assert_eq!((&sent["reasoning_effort"], &sent["top_k"], &sent["a"]["b"]), (&json!("low"), &json!(20), &json!(2)));
    let variant = &dir.manifest("r")["variants"][0];
    assert_eq!(variant["decoding"]["reasoning"], "low");
    assert_eq!(variant["decoding"]["extra_body"], json!({"top_k": 20, "a": {"z": 1, "b": 2}}));
    assert_eq!(variant["settings"]["extra_header"], json!({"x-title": "one", "http-referer": "http://h/?a=b,c#d"}));

    // The order of fields makes no difference; another value does.
    let resume = |words: &[&str]| dir.run(&[&flags(&base, "r")[..], &["--resume"], words].concat());
    let turned = ["--reasoning", "low", "--extra-body", r#"{"a": {"b": 2, "z": 1}, "top_k": 20}"#];
    resume(&[&turned[..], &header].concat()).ok();
    dir.run(&["--resume", "--out", "r", "--confirm"]).ok();
    assert_eq!(server.requests().len(), 1);
    resume(&[&["--reasoning", "high"], &more[2..], &header].concat()).refused(3, &["reasoning: was low, now high"]);
    resume(&[&more[..2], &["--extra-body", "{\"top_k\": 1}"], &header].concat()).refused(3, &["extra_body: was a="]);
    resume(&more).refused(3, &["extra_header: was ", "now none"]);
    // Recordings and caches know what was asked.
    let replay = |words: &[&str]| dir.run(&[&flags(&base, "s")[..], &["--replay", "tape"], words].concat());
    replay(&more).ok();
    let other = ["--reasoning", "high", more[2], more[3], "--replay", "tape"];
    assert_eq!(dir.run(&[&flags(&base, "t")[..], &other].concat()).code, Some(4));
    let missing = dir.read("t/trajectories.jsonl");
    assert!(missing.contains("differs in decoding.reasoning"), "{missing}");
    dir.run(&[&flags(&base, "u")[..], &more, &["--cache", "cache"]].concat()).ok();
    assert_eq!(server.requests().len(), 1, "it was in the cache");
    dir.run(&[&flags(&base, "v")[..], &["--reasoning", "high", "--cache", "cache"]].concat()).ok();
    assert_eq!(server.requests().len(), 2);
    let compared = dir.wikitrail(&["compare", "r", "v"]).ok().stdout;
    for word in ["reasoning", "extra_body", "extra_header", "x-title=one"] {
        assert!(compared.contains(word), "{word}: {compared}");
    }
}

#[test]
fn a_server_is_checked_with_what_is_asked() {
    let (server, dir) = (echo(), folder());
    let base = format!("{}/v1", server.url);
    let check = ["models", "check", "--model", "openai:m", "--base-url", &base];
    let told = dir.wikitrail(&[&check[..], &["--reasoning", "medium", "--extra-body", "{\"top_k\": 3}"]].concat()).ok();
    assert!(
        told.stdout.contains(
            "medium was asked for: comes in `reasoning_content` and is left out of the answer, 7 tokens counted"
        ),
        "{}",
        told.stdout
    );
    let sent = body(&server.requests()[0]);
    assert_eq!((&sent["reasoning_effort"], &sent["top_k"]), (&json!("medium"), &json!(3)));
    let found = dir.wikitrail(&[&check[..], &["--json", "--reasoning", "off"]].concat()).json();
    assert_eq!((&found["asked_reasoning"], &found["reasoning_tokens"]), (&json!("off"), &json!(7)));
    dir.wikitrail(&[&check[..], &["--reasoning", "4096"]].concat())
        .refused(2, &["--server auto has no setting", "openrouter"]);
    dir.wikitrail(&[&check[..], &["--reasoning", "low", "--completions"]].concat()).refused(2, &["text completions"]);
    let run = [&flags(&base, "r")[..], &["--reasoning", "low", "--completions"]].concat();
    dir.run(&run).refused(2, &["text completions have no setting for --reasoning low", "--completions"]);
    let forced = [
        "--model",
        "anthropic:m",
        "--base-url",
        &base,
        "--reasoning",
        "low",
        "--protocol",
        "tools",
        "--option",
        "choice=required",
        "d.csv",
    ];
    dir.run(&forced).refused(2, &["cannot be made to call a function", "choice=required"]);
    dir.run(&["--extra-body", "{\"top_k\": 3}", "d.csv"]).refused(2, &["no variant uses --extra-body"]);
}

#[test]
fn more_reasoning_than_tokens_has_a_remedy() {
    let server = Server::start(|_, _, stream| {
        let message = json!({"content": null, "reasoning_content": "Let me think"});
        server::json(stream, &json!({"choices": [{"message": message, "finish_reason": "length"}]}));
    });
    let (dir, base) = (folder(), format!("{}/v1", server.url));
    for (out, words, remedy) in [
        ("a", &[][..], "all inside reasoning: raise --max-tokens (now 512), or try --reasoning low ───"),
        ("b", &["--reasoning", "low"], "raise --max-tokens (now 512), or try --reasoning off ───"),
        ("c", &["--reasoning", "off"], "raise --max-tokens (now 512) ───"),
        (
            "d",
            &["--reasoning", "9", "--server", "vllm"],
            "raise --max-tokens (now 512), or lower --reasoning (now 9) ───",
        ),
    ] {
        let ran = dir.run(&[&flags(&base, out)[..], words].concat()).ok();
        assert!(unwrapped(&ran.stdout).contains(remedy), "{words:?}: {}", ran.stdout);
    }
    assert_eq!(body(server.requests().last().expect("some"))["max_tokens"], 521);
}

/// Every file below `dir`, and these outputs, without the secret.
#[track_caller]
fn nowhere(dir: &Path, printed: &[String]) {
    for entry in std::fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            nowhere(&path, &[]);
        } else {
            let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a file")).to_ascii_lowercase();
            assert!(!text.contains(&SECRET.to_ascii_lowercase()), "{}:\n{text}", path.display());
        }
    }
    for text in printed {
        assert!(!text.to_ascii_lowercase().contains(&SECRET.to_ascii_lowercase()), "{text}");
    }
}

#[test]
fn azure_gets_its_key_by_a_header_and_no_other_and_nothing_keeps_it() {
    let (server, dir) = (echo(), folder());
    let run = |base: &str, words: &[&str]| {
        let mut command = dir.command(&[&["run"], &flags(base, "r")[..], words].concat());
        command.env("TEAM_KEY", SECRET).env("OPENAI_API_KEY", "sk-of-somebody-else");
        Ran::from(&command.output().expect("it runs"))
    };
    let key = ["--extra-header", "api-key=env:TEAM_KEY"];
    let kept = ["--record", "tape", "--cache", "cache"];
    let deployment = format!("{}/openai/deployments/d/?api-version=2024-10-21", server.url);
    let first = run(&deployment, &[&key[..], &kept].concat()).ok();
    let again = run(&deployment, &[&key[..], &kept, &["--resume"]].concat()).ok();
    std::fs::rename(dir.path("r"), dir.path("classic")).expect("moved");
    let v1 = run(&format!("{}/openai/v1", server.url), &key).ok();
    let team = run(&format!("{}/v1", server.url), &["--resume", "--extra-header", "authorization=env:TEAM_KEY"]);
    team.refused(3, &["extra_header: was api-key=env:TEAM_KEY, now authorization=env:TEAM_KEY"]);
    let requests = server.requests();
    for (request, path) in requests
        .iter()
        .zip(["/openai/deployments/d/chat/completions?api-version=2024-10-21", "/openai/v1/chat/completions"])
    {
        let head = request.split("\r\n\r\n").next().expect("a head").to_ascii_lowercase();
        assert!(head.starts_with(&format!("post {path} ")), "{head}");
        assert_eq!(head.matches(&format!("api-key: {}", SECRET.to_ascii_lowercase())).count(), 1, "{head}");
        assert!(!head.contains("authorization") && !head.contains("somebody"), "{head}");
    }
    assert_eq!(requests.len(), 2);
    assert_eq!(dir.manifest("r")["variants"][0]["settings"]["extra_header"], json!({"api-key": "env:TEAM_KEY"}));
    let shown = dir.wikitrail(&["show", "classic", "1"]);
    let printed = [first, again, v1, team, shown].map(|ran| ran.stdout + &ran.stderr);
    nowhere(dir.root(), &printed);
    assert!(dir.read("classic/trajectories.jsonl").contains("***"), "the answer did hold it");
}

#[test]
fn a_rejected_header_is_named_with_its_variable() {
    let server = Server::start(|_, _, stream| {
        let _ = write!(stream, "HTTP/1.1 401 X\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}");
    });
    let (dir, base) = (folder(), format!("{}/v1", server.url));
    let words = [&["run"], &flags(&base, "r")[..], &["--extra-header", "api-key=env:TEAM_KEY"]].concat();
    let ran = Ran::from(&dir.command(&words).env("TEAM_KEY", SECRET).output().expect("it runs"));
    let hint = "check the value of the variable TEAM_KEY, which --extra-header api-key sends";
    let text = unwrapped(&(ran.stdout.clone() + &ran.stderr));
    assert!(ran.code == Some(4) && text.contains(hint), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_variable_goes_to_no_server_and_into_no_header_that_a_file_names() {
    let (server, dir) = (echo(), folder());
    let file =
        |settings: &str| format!("name = \"x\"\ndataset = \"d.csv\"\n[settings]\nmodel = \"openai:m\"\n{settings}\n");
    let at = format!("base_url = \"{}/v1\"", server.url);
    let run = |words: &[&str]| {
        let mut command = dir.command(&[&["run", "x.toml", "--out", "r", "--model-attempts", "1"], words].concat());
        Ran::from(&command.env("TEAM_KEY", SECRET).output().expect("it runs"))
    };
    for value in ["env:TEAM_KEY", " env:TEAM_KEY", "\\tenv:TEAM_KEY", "env:TEAM_KEY "] {
        dir.write("x.toml", file(&format!("extra_header = {{ x-team = \"{value}\" }}")));
        run(&["--base-url", &server.url, "--confirm"])
            .refused(3, &["x.toml:5", "which no file may do", "on the command line"]);
    }
    dir.write(
        "x.toml",
        file(&format!("{at}\nextra_header = {{ x-title = \"one\" }}\nextra_body = {{ top_k = 3, a = [1.5, true] }}")),
    );
    let typed = ["--extra-header", "x-team=env:TEAM_KEY"];
    run(&typed)
        .refused(2, &["--extra-header names a key", "was not typed and is not openai's own server", "--confirm"]);
    assert!(server.requests().is_empty());
    run(&[&typed[..], &["--confirm"]].concat()).ok();
    let sent = server.requests().remove(0);
    assert!(sent.contains("x-title: one") && sent.contains(&format!("x-team: {SECRET}")), "{sent}");
    assert_eq!((&body(&sent)["top_k"], &body(&sent)["a"]), (&json!(3), &json!([1.5, true])));
    // A folder from somebody else names it in its command line.
    let resumed = run(&["--resume"]);
    resumed.refused(3, &["extra_header: was x-team=env:TEAM_KEY, x-title=one, now x-title=one"]);
    let foreign = dir.wikitrail(&["run", "--resume", "--out", "r"]);
    foreign.refused(2, &["that you did not name", "--extra-header x-team=env:TEAM_KEY"]);
    assert_eq!(server.requests().len(), 1);
    nowhere(dir.root(), &[resumed.stdout, resumed.stderr, foreign.stderr]);
}

#[test]
fn secrets_in_plain_text_are_refused_and_not_repeated() {
    let dir = folder();
    let common = ["--model", "openai:m", "--base-url", "http://127.0.0.1:9", "--out", "r", "d.csv"];
    let file =
        |settings: &str| format!("name = \"x\"\ndataset = \"d.csv\"\n[settings]\nmodel = \"baseline\"\n{settings}\n");
    let mut printed = Vec::new();
    for words in [
        ["--extra-body".to_owned(), format!("{{\"x\": \"{SECRET}\"}}")],
        ["--extra-body".to_owned(), format!("{{\"x\": \"{SECRET}")],
        ["--extra-header".to_owned(), format!("x-team={SECRET}")],
        ["--extra-header".to_owned(), format!("api-key=env:{SECRET}")],
        ["--extra-header".to_owned(), format!("authorization: Bearer {SECRET}")],
        ["--extra-header".to_owned(), format!("{SECRET}=x")],
    ] {
        let ran = dir.run(&[&common[..], &[&words[0], &words[1]]].concat());
        ran.refused(2, &[]);
        printed.push(ran.stdout + &ran.stderr);
    }
    for settings in [
        format!("extra_body = {{ x = [\"{SECRET}\"] }}"),
        format!("extra_header = {{ x-team = \"{SECRET}\" }}"),
        format!("extra_header = {{ \"{SECRET}\" = \"x\" }}"),
    ] {
        dir.write("x.toml", file(&settings));
        let ran = dir.run(&["x.toml", "--out", "r"]);
        ran.refused(3, &["x.toml:5"]);
        printed.push(ran.stdout + &ran.stderr);
    }
    std::fs::remove_file(dir.path("x.toml")).expect("it is there");
    assert!(!dir.path("r").exists());
    nowhere(dir.root(), &printed);
    for (words, message) in [
        (["--extra-body", "{\"messages\": []}"], "--extra-body may not set `messages`"),
        (["--extra-body", "{\"temperature\": 1}"], "use --temperature"),
        (["--extra-header", "content-type=x"], "may not set `content-type`"),
        (["--extra-header", "x"], "NAME=env:VARIABLE"),
    ] {
        dir.run(&[&common[..], &words].concat()).refused(2, &[message]);
    }
}
