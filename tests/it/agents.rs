//! Other programs as agents (`run --agent`): their calls, their answers, their failures.

use crate::common::server::{self, Server};
use crate::common::{WorkDir, calls, without_times};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// Sends a request and returns the status and the body of the answer.
fn http(method: &str, url: &str, key: &str, body: &Value) -> (u16, String) {
    let (host, path) = url.strip_prefix("http://").expect("http").split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("it listens");
    let body = if body.is_null() { String::new() } else { body.to_string() };
    write!(
        stream,
        "{method} /{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\nx-api-key: {key}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, body.to_owned())
}

/// What an agent is given.
struct Given(Value);

impl Given {
    fn of(request: &str) -> Self {
        Self(serde_json::from_str(request.split_once("\r\n\r\n").expect("a body").1).expect("JSON"))
    }

    fn text(&self, pointer: &str) -> &str {
        self.0.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer} in {}", self.0))
    }

    fn key(&self) -> &str {
        self.text("/key")
    }

    fn tool(&self, name: &str, input: &Value) -> Value {
        let (status, body) = http("POST", &format!("{}/{name}", self.text("/tools/tool")), "", input);
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).expect("JSON")
    }

    fn chat(&self, text: &str) -> (u16, String) {
        let body = json!({"model": "any", "messages": [{"role": "user", "content": text}]});
        http("POST", &format!("{}/chat/completions", self.text("/models/openai")), self.key(), &body)
    }
}

/// An agent that is a server: its answer to each question, which it may ask models and tools for.
fn agent(mut answer: impl FnMut(&Given) -> Result<Value, String> + Send + 'static) -> Server {
    Server::start(move |_, request, stream| match answer(&Given::of(request)) {
        Ok(body) => server::json(stream, &body),
        Err(why) => server::answer(stream, "500 X", &json!(why)),
    })
}

fn completion(text: &str) -> Value {
    json!({
        "model": "scripted", "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
    })
}

/// A model's server that repeats the last message's length.
fn model() -> Server {
    Server::start(|number, _, stream| server::json(stream, &completion(&format!("reply {number}"))))
}

/// An agent that asks the model twice and the tool in between, and answers with what the model said last.
fn asking() -> Server {
    agent(|given| {
        let (status, _) = given.chat(given.text("/question"));
        assert_eq!(status, 200);
        let found = given.tool("search", &json!({"query": "Hafnium"}));
        let (_, body) = given.chat(found["observation"].as_str().expect("text"));
        let said: Value = serde_json::from_str(&body).expect("JSON");
        Ok(json!({"answer": said["choices"][0]["message"]["content"], "confidence": 0.25}))
    })
}

fn run<'a>(agent: &'a str, base: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let usual = ["datasets/sample.jsonl", "--quiet", "--concurrency", "1", "--agent", agent];
    [&usual[..], &["--model", "openai:scripted", "--base-url", base], more].concat()
}

#[test]
fn an_agents_calls_and_steps_are_recorded_scored_and_replayed() {
    let (dir, model, agent) = (WorkDir::new(), model(), asking());
    let args = run(&agent.url, &model.url, &["--limit", "3", "--price", "1/2"]);
    dir.run(&[&args[..], &["--record", "tape", "--out", "a"]].concat()).ok();
    let records = dir.records("a");
    let first = &records[0];
    assert_eq!((&first["outcome"], &first["scores"]["confidence"]), (&json!("finished"), &json!(0.25)));
    assert_eq!(first["usage"], json!({"prompt_tokens": 20, "completion_tokens": 4}));
    assert_eq!(first["cost_usd"].as_f64().map(|cost| (cost * 1e6).round()), Some(28.0));
    let steps = first["steps"].as_array().expect("steps");
    assert_eq!(steps.iter().map(|step| step["action_text"].as_str()).collect::<Vec<_>>().len(), 2);
    assert_eq!(
        (&steps[0]["action_text"], &steps[0]["provenance"]["title"]),
        (&json!("search[Hafnium]"), &json!("Hafnium"))
    );
    assert_eq!((&steps[1]["tool"], &steps[1]["calls"][0]["sent"]["endpoint"]), (&json!("finish"), &json!("chat")));
    // The model that is set replaces the agent's.
    assert_eq!(steps[0]["calls"][0]["sent"]["body"]["model"], "scripted");
    let variant = &dir.manifest("a")["variants"][0];
    assert_eq!(
        (&variant["model"], &variant["settings"]["agent"]),
        (&json!("openai:scripted"), &json!(format!("{}/", agent.url)))
    );

    let asked = model.requests().len();
    assert_eq!(asked, 6);
    dir.run(&[&args[..], &["--replay", "tape", "--out", "r"]].concat()).ok();
    assert_eq!(model.requests().len(), asked, "a replay asks no server");
    let told = |run: &str| -> Vec<Value> {
        let mut records: Vec<Value> = dir.records(run).into_iter().map(without_times).collect();
        records.sort_by_key(|record| record["index"].as_u64());
        records
    };
    assert_eq!(told("a"), told("r"));

    let shown = dir.wikitrail(&["show", "a", "sample-001", "--prompt"]).ok().stdout;
    assert!(shown.contains("as recorded") && !shown.contains("not as recorded"), "{shown}");
    assert!(shown.contains(r#"{"model":"scripted","messages":[{"role":"user","content":"An element"#), "{shown}");
    dir.run(&["datasets/sample.jsonl", "--limit", "3", "--quiet", "--out", "own"]).ok();
    assert!(dir.wikitrail(&["compare", "a", "own"]).ok().stdout.contains("own/main"));
    for format in ["csv", "jsonl", "inspect", "atif", "otlp"] {
        let out = format!("out.{format}");
        dir.wikitrail(&["export", "a", "--format", format, "--out", &out]).ok();
    }
    dir.wikitrail(&["report", "a", "--out", "a.html"]).ok();
    dir.wikitrail(&["export", "a", "--format", "chat", "--wrong", "--out", "c"]).refused(3, &["another program"]);
}

#[test]
fn requests_that_are_paid_for_are_not_sent_again() {
    let (dir, model) = (WorkDir::new(), model());
    let agent = agent(|given| {
        let asked = (0..6).map(|number| given.chat(&number.to_string()).0);
        if asked.collect::<Vec<_>>().iter().all(|status| *status == 200) {
            Ok(json!("done"))
        } else {
            Err("refused".to_owned())
        }
    });
    let args = run(&agent.url, &model.url, &["--limit", "1"]);
    // The budget ends the episode in its middle.
    let stopped = dir.run(&[&args[..], &["--out", "a", "--max-calls", "4"]].concat());
    assert_eq!(stopped.code, Some(4), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("the budget of 4 model calls is spent"), "{}", stopped.stderr);
    let record = dir.records("a").remove(0);
    assert_eq!((&record["outcome"], calls([&record])), (&json!("budget"), 4));
    dir.run(&["--resume", "--out", "a", "--quiet", "--max-calls", "100", "--confirm"]).ok();
    let record = dir.records("a").remove(0);
    assert_eq!((&record["outcome"], calls([&record])), (&json!("finished"), 6));
    assert_eq!(model.requests().len(), 6, "each call once");
    dir.run(&[&args[..], &["--out", "b", "--cache", "cache"]].concat()).ok();
    dir.run(&[&args[..], &["--out", "c", "--cache", "cache"]].concat()).ok();
    assert_eq!(model.requests().len(), 12, "the second run is answered by the cache");
    assert_eq!(calls(&dir.records("c")), 6);
}

#[test]
fn calls_in_flight_are_recorded_and_models_in_addresses_are_told_apart() {
    let dir = WorkDir::new();
    let model = Server::start(|_, request, stream| {
        let name =
            request.split("/models/").nth(1).and_then(|rest| rest.split(':').next()).unwrap_or("none").to_owned();
        let part = json!([{"content": {"parts": [{"text": format!("from {name}")}]}, "finishReason": "STOP"}]);
        std::thread::sleep(std::time::Duration::from_millis(100));
        server::json(
            stream,
            &json!({"candidates": part, "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1}}),
        );
    });
    let mut start = 0;
    let agent = agent(move |given| {
        start += 1;
        let ask = |name: &str| {
            let url = format!("{}/v1beta/models/{name}:generateContent", given.text("/models/gemini"));
            http("POST", &url, given.key(), &json!({"contents": []})).1
        };
        if start == 1 {
            let (one, two) = (ask("one"), ask("two"));
            assert!(one.contains("from one") && two.contains("from two"), "{one} {two}");
            // A fifth is refused by the budget, which ends the episode.
            return Err([ask("three"), ask("four"), ask("five")].concat());
        }
        let (two, one) = (ask("two"), ask("one"));
        assert!(one.contains("from one") && two.contains("from two"), "{one} {two}");
        Ok(json!("right"))
    });
    let mut args = vec!["datasets/sample.jsonl", "--limit", "1", "--quiet", "--agent", &agent.url, "--out", "a"];
    args.extend(["--base-url", &model.url]);
    dir.run(&[&args[..], &["--max-calls", "4"]].concat());
    assert_eq!(dir.records("a")[0]["outcome"], "budget");
    dir.run(&["--resume", "--out", "a", "--quiet", "--max-calls", "100", "--confirm"]).ok();
    let record = dir.records("a").remove(0);
    assert_eq!((&record["answer"], model.requests().len()), (&json!("right"), 4));
    assert_eq!(record["steps"][0]["calls"][0]["sent"]["model"], "two");
}

/// The answer of each API, as its server writes it, whole or as events.
fn scripted(request: &str) -> String {
    let stream = request.contains("\"stream\":true") || request.contains(":streamGenerateContent");
    let events = |events: &[Value]| -> String {
        let lines =
            events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("x")));
        lines.collect::<Vec<_>>().concat()
    };
    if request.starts_with("POST /v1/chat/completions") && stream {
        let delta = json!({"choices": [{"delta": {"content": "Paris"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}});
        format!("data: {delta}\n\ndata: [DONE]\n\n")
    } else if request.starts_with("POST /v1/chat/completions") {
        let mut long = completion("Paris");
        long["padding"] = json!("scripted ".repeat(1_000));
        long.to_string()
    } else if request.starts_with("POST /v1/responses") {
        json!({
            "object": "response", "status": "completed", "usage": {"input_tokens": 3, "output_tokens": 1},
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Paris"}]}],
        })
        .to_string()
    } else if request.starts_with("POST /v1/messages") && stream {
        events(&[
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 3, "output_tokens": 0}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Paris"}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
            json!({"type": "message_stop"}),
        ])
    } else if request.starts_with("POST /v1/messages") {
        json!({
            "type": "message", "content": [{"type": "text", "text": "Paris"}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 3, "output_tokens": 1},
        })
        .to_string()
    } else {
        let answer = json!({
            "candidates": [{"content": {"parts": [{"text": "Paris"}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1},
        });
        if stream { format!("data: {answer}\r\n\r\n") } else { answer.to_string() }
    }
}

#[test]
fn every_api_is_passed_on_as_it_is_written() {
    let dir = WorkDir::new();
    let upstream = Server::start(|_, request, stream| {
        let body = scripted(request);
        let kind = if body.starts_with('{') { "application/json" } else { "text/event-stream" };
        let _ = write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
    });
    let agent = agent(|given| {
        let asked = json!([{"role": "user", "content": "Who?"}]);
        let openai = given.text("/models/openai");
        let contents = json!([{"parts": [{"text": "Who?"}]}]);
        let gemini = format!("{}/v1beta/models/g:", given.text("/models/gemini"));
        let anthropic = format!("{}/v1/messages", given.text("/models/anthropic"));
        let message = |stream: bool| json!({"model": "a", "max_tokens": 9, "messages": asked, "stream": stream});
        for (url, body, expected) in [
            (
                format!("{openai}/chat/completions"),
                json!({"model": "c", "messages": asked, "x-odd": {"b": 1, "a": 2}}),
                "POST /v1/chat/completions",
            ),
            (
                format!("{openai}/chat/completions"),
                json!({"model": "c", "messages": asked, "stream": true}),
                "POST /v1/chat/completions \"stream\":true",
            ),
            (format!("{openai}/responses"), json!({"model": "r", "input": "Who?"}), "POST /v1/responses"),
            (anthropic.clone(), message(false), "POST /v1/messages"),
            (anthropic, message(true), "POST /v1/messages \"stream\":true"),
            (format!("{gemini}generateContent"), json!({"contents": contents}), "POST :generateContent"),
            (
                format!("{gemini}streamGenerateContent?alt=sse"),
                json!({"contents": contents}),
                "POST :streamGenerateContent",
            ),
        ] {
            let (status, answer) = http("POST", &url, given.key(), &body);
            assert_eq!((status, answer), (200, scripted(expected)), "{url}");
        }
        Ok(json!("Paris"))
    });
    let mut command = dir.command(&["run", "datasets/sample.jsonl", "--limit", "1", "--quiet", "--agent", &agent.url]);
    command.args(["--base-url", &format!("{}/v1", upstream.url), "--out", "a"]);
    let ran = command
        .env("ANTHROPIC_API_KEY", "sk-ant-person")
        .env("OPENAI_API_KEY", "sk-scripted-0123456789")
        .output()
        .expect("it runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let calls = &dir.records("a")[0]["steps"][0]["calls"];
    let endpoints: Vec<&str> =
        calls.as_array().expect("calls").iter().filter_map(|call| call["sent"]["endpoint"].as_str()).collect();
    assert_eq!(endpoints, ["chat", "chat", "responses", "messages", "messages", "generateContent", "generateContent"]);
    for call in calls.as_array().expect("calls") {
        assert_eq!(
            (&call["completion"], &call["usage"]["completion_tokens"].as_u64().is_some()),
            (&json!("Paris"), &true)
        );
        assert!(call.get("verbatim").is_none(), "{call}");
    }
    // What is unusual in a body arrives, in its order; the agent's key goes nowhere.
    let requests = upstream.requests();
    assert!(requests[0].contains(r#""x-odd":{"b":1,"a":2}"#), "{}", requests[0]);
    let keys = [
        "sk-scripted-0123456789",
        "sk-scripted-0123456789",
        "sk-scripted-0123456789",
        "sk-ant-person",
        "sk-ant-person",
    ];
    assert!(requests.iter().zip(keys).all(|(request, key)| request.contains(key)), "{requests:?}");
    assert!(requests[5..].iter().all(|request| !request.contains("sk-")), "no key of Gemini's is set");
    assert_eq!(dir.manifest("a")["variants"][0]["model"], "the agent's own models");
}

#[test]
fn failures_of_servers_are_not_the_agents_and_its_own_are_wrong_answers() {
    let dir = WorkDir::new();
    let failing = |status: &'static str| {
        Server::start(move |_, _, stream| server::answer(stream, status, &json!({"error": {"message": "not so"}})))
    };
    let careless =
        || agent(|given| given.chat("x").1.find("not so").map_or(Err("crashed".to_owned()), |_| Ok(json!("Paris"))));
    let outcome = |agent: &Server, model: &Server, out: &str| {
        let more = ["--limit", "1", "--model-attempts", "1", "--out", out];
        let ran = dir.run(&run(&agent.url, &model.url, &more));
        let record = dir.records(out).remove(0);
        (
            ran.code,
            record["outcome"].as_str().expect("one").to_owned(),
            record["detail"].as_str().unwrap_or("").to_owned(),
        )
    };
    // The agent would have answered all the same: that is no measurement.
    let (code, name, detail) = outcome(&careless(), &failing("503 X"), "down");
    assert_eq!((code, name.as_str()), (Some(4), "not_measured"), "{detail}");
    // A request that the server refuses is the agent's own fault: it gets the error and goes on.
    let (code, name, _) = outcome(&careless(), &failing("400 X"), "refused");
    assert_eq!((code, name.as_str()), (Some(0), "finished"));
    let crashing = agent(|given| given.chat("x").1.find("nothing").map_or(Err("crashed".to_owned()), |_| Ok(json!(1))));
    let (code, name, detail) = outcome(&crashing, &failing("400 X"), "crashed");
    assert_eq!((code, name.as_str()), (Some(0), "agent_failure"));
    assert!(detail.contains("status 500") && detail.contains("refused a request: not so"), "{detail}");
    let scored = dir.wikitrail(&["score", "crashed", "--json"]).ok().json();
    assert_eq!(scored["variants"][0]["trajectory"]["failures"]["agent"], 1);
    assert_eq!(scored["variants"][0]["em"], 0.0);
    // A server that is not there was not asked.
    let more = ["--limit", "1", "--out", "gone"];
    assert_eq!(dir.run(&run("http://127.0.0.1:9/", &model().url, &more)).code, Some(4));
    assert!(dir.records("gone")[0]["detail"].as_str().expect("why").contains("could not be asked"));
}

#[test]
fn keys_and_addresses_are_of_one_episode() {
    let (dir, model) = (WorkDir::new(), model());
    let mut before: Option<(String, String)> = None;
    let agent = agent(move |given| {
        let chat = format!("{}/chat/completions", given.text("/models/openai"));
        for key in ["", "sk-person", before.as_ref().map_or("0", |(key, _)| key)] {
            let (status, body) = http("POST", &chat, key, &json!({"model": "x", "messages": []}));
            assert!(status == 401 && body.contains("of no episode"), "{status} {body}");
        }
        if let Some((_, tools)) = &before {
            assert_eq!(http("POST", &format!("{tools}/search"), "", &json!({"query": "x"})).0, 404);
        }
        before = Some((given.key().to_owned(), given.text("/tools/tool").to_owned()));
        // It is no proxy for other hosts, and has no other paths.
        let host = chat.strip_prefix("http://").and_then(|rest| rest.split('/').next()).expect("a host").to_owned();
        let mut stream = TcpStream::connect(&host).expect("it listens");
        write!(stream, "GET http://example.org/ HTTP/1.1\r\nhost: example.org\r\nconnection: close\r\n\r\n")
            .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
        assert_eq!(http("POST", &format!("http://{host}/openai/v1/embeddings"), given.key(), &json!({})).0, 404);
        // The state of a lookup is the episode's, and the first answer counts.
        given.tool("search", &json!({"query": "Hafnium"}));
        let [one, two] = [(), ()].map(|()| given.tool("lookup", &json!({"keyword": "hafnium"})));
        assert!(one["observation"].as_str().is_some_and(|text| text.starts_with("(Result 1 /")), "{one}");
        assert!(two["observation"].as_str().is_some_and(|text| text.starts_with("(Result 2 /")), "{two}");
        let passages = given.tool("passages", &json!({"query": "who named hafnium?", "k": 2}));
        assert_eq!(passages["passages"].as_array().map(Vec::len), Some(2));
        given.tool("document", &json!({"id": passages["passages"][0]["id"]}));
        let (status, listed) = http("GET", given.text("/tools/tool"), "", &Value::Null);
        assert!(status == 200 && listed.contains("\"submit\""), "{listed}");
        let asked = json!({"queries": ["hafnium", "copenhagen"], "topk": 1, "return_scores": true});
        let (_, found) = http("POST", given.text("/tools/retrieve"), "", &asked);
        let found: Value = serde_json::from_str(&found).expect("JSON");
        assert!(found["result"][1][0]["document"]["contents"].is_string(), "{found}");
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        assert!(given.0.pointer("/tools/mcp").is_some() && list.is_object());
        given.tool("submit", &json!({"answer": "first", "confidence": 1}));
        let (status, again) =
            http("POST", &format!("{}/submit", given.text("/tools/tool")), "", &json!({"answer": "second"}));
        assert!(status == 422 && again.contains("counts"), "{again}");
        Ok(json!("third"))
    });
    dir.run(&run(&agent.url, &model.url, &["--limit", "2", "--out", "a"])).ok();
    for record in dir.records("a") {
        assert_eq!(record["answer"], "first");
        let tools: Vec<&str> =
            record["steps"].as_array().expect("steps").iter().filter_map(|step| step["tool"].as_str()).collect();
        assert_eq!(tools, ["search", "lookup", "lookup", "passages", "document", "passages", "passages", "finish"]);
    }
    assert!(model.requests().is_empty());
}

#[cfg(unix)]
mod processes {
    use crate::common::WorkDir;
    use std::io::BufRead as _;

    /// Waits until the processes whose numbers a file has are gone. They would go on for a minute.
    fn wait_for_the_end_of(file: &std::path::Path) {
        let numbers = std::fs::read_to_string(file).expect("they began");
        let is_there = |number: &str| {
            let asked =
                std::process::Command::new("kill").args(["-0", number]).stderr(std::process::Stdio::null()).status();
            asked.expect("kill").success()
        };
        let began = std::time::Instant::now();
        while numbers.lines().any(is_there) {
            assert!(began.elapsed().as_secs() < 30, "a process went on: {numbers}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    #[test]
    fn children_end_with_the_episode() {
        let dir = WorkDir::new();
        let ended = |name: &str, start: &str, end: &str| {
            let (file, child) = (dir.path(name), dir.path(&format!("{name}.sh")));
            dir.write(&format!("{name}.sh"), format!("echo $$ >> {}; sleep 60", file.display()));
            let waits = format!("until [ -s {} ]; do sleep 0.01; done; echo Paris", file.display());
            let script = format!("{start} sh {} {end} &\n{waits}\n", child.display());
            let run = format!("{name}-run");
            dir.write("agent.sh", script);
            dir.run(&["--quiet", "--limit", "1", "--agent", "sh agent.sh", "--out", &run]).ok();
            assert_eq!(dir.records(&run)[0]["answer"], "Paris");
            wait_for_the_end_of(&file);
        };
        ended("quiet", "", "> /dev/null 2>&1");
        ended("holding", "", "");
        if cfg!(target_os = "linux") {
            ended("escaped", "setsid", "> /dev/null 2>&1");
        }
    }

    #[test]
    fn the_second_interrupt_ends_all_programs() {
        let dir = WorkDir::new();
        let file = dir.path("started");
        dir.write("agent.sh", format!("echo $$ >> {}\ntrap '' TERM\nsleep 60\n", file.display()));
        let mut command =
            dir.command(&["run", "--quiet", "--agent", "sh agent.sh", "--concurrency", "6", "--out", "a"]);
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().expect("it starts");
        let started = || std::fs::read_to_string(&file).map_or(0, |text| text.lines().count());
        while started() < 6 {
            assert!(child.try_wait().expect("it can be asked").is_none(), "it ended early");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let id = child.id().to_string();
        let interrupt = || std::process::Command::new("kill").args(["-INT", &id]).status().expect("kill").success();
        assert!(interrupt());
        let mut said = std::io::BufReader::new(child.stderr.take().expect("a pipe")).lines();
        assert!(said.any(|line| line.is_ok_and(|line| line.contains("press Ctrl-C again"))), "it says how it stops");
        assert!(interrupt());
        child.wait().expect("it ends");
        wait_for_the_end_of(&file);
    }
}
