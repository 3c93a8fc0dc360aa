//! The tool over the Model Context Protocol: over standard input and output, and over HTTP in each version.

use crate::common::{WorkDir, lines};
use crate::serve_support::Served;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::Stdio;

const LINES: &str = concat!(
    "{\"title\": \"Ada Byron\", \"text\": \"Ada wrote programs. Ada knew Babbage.\\n\\nAda lived in London.\", \"revid\": 77}\n",
    "{\"title\": \"London\", \"text\": \"London is a city.\\n\\nIt has a river.\"}\n",
);

fn call(id: u32, name: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}

fn hello(version: &str) -> Value {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

/// What a process answers to these messages, by their ids.
fn over_stdio(args: &[&str], messages: &[Value]) -> impl Fn(u32) -> Value + use<> {
    let dir = WorkDir::new();
    dir.write("mine/articles.jsonl", LINES);
    let mut child = dir
        .command(&[&["mcp", "corpus:mine"], args].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("wikitrail starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let mut answers = String::new();
    for message in messages {
        writeln!(stdin, "{message}").expect("it reads");
        // One after the other, as agents ask.
        if message.get("id").is_some() {
            std::io::BufRead::read_line(&mut stdout, &mut answers).expect("it answers");
        }
    }
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    let answers = lines(&answers);
    move |id| answers.iter().find(|answer| answer["id"] == id).unwrap_or_else(|| panic!("{id}: {answers:?}")).clone()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_host_searches_and_looks_up_over_stdio() {
    let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let messages = [
        hello("2025-11-25"),
        begun,
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        call(2, "lookup", &json!({"keyword": "ada"})),
        call(3, "search", &json!({"query": "ADA BYRON"})),
        // The one client of a process need not say which session it means.
        call(4, "lookup", &json!({"keyword": "ada"})),
        call(5, "lookup", &json!({"keyword": "ada"})),
        call(6, "search", &json!({"query": "a city river"})),
        call(7, "lookup", &json!({"keyword": "ada"})),
        call(8, "lookup", &json!({"keyword": "ada"})),
        call(9, "read", &json!({"title": "London", "from": 2})),
        call(10, "read", &json!({"title": "London", "from": 9})),
        call(11, "similar", &json!({"query": "babbage river"})),
        call(12, "search", &json!({"query": 3})),
        call(13, "finish", &json!({})),
        call(14, "lookup", &json!({"keyword": "ada", "session": "w1.0.0"})),
        call(15, "search", &json!({"query": "ada", "extra": 1})),
        call(16, "lookup", &json!({"keywrd": "ada"})),
        call(17, "similar", &json!({"query": "zebra"})),
        call(18, "read", &json!({"title": "London", "from": 0})),
        call(19, "passages", &json!({"query": "ada babbage", "k": 1})),
        call(20, "document", &json!({"id": "0.1"})),
        call(21, "document", &json!({"id": "99"})),
        call(22, "passages", &json!({"query": "ada", "k": 101})),
    ];
    let answer = over_stdio(&[], &messages);
    let tools = answer(1)["result"]["tools"].clone();
    let names: Vec<&str> = tools.as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["search", "lookup", "read", "similar", "passages", "document"]);
    let hints = json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false});
    assert_eq!((&tools[0]["annotations"], &tools[0]["title"]), (&hints, &json!("Search Wikipedia")));
    assert!(
        tools.as_array().expect("tools").iter().all(|tool| tool["inputSchema"]["additionalProperties"] == json!(false))
    );
    assert_eq!(tools[1]["inputSchema"]["required"], json!(["keyword"]));
    assert_eq!(answer(2)["result"]["isError"], true);
    assert_eq!(text(&answer(3)), "Ada wrote programs. Ada knew Babbage. Ada lived in London.");
    let found = answer(3)["result"]["structuredContent"].clone();
    assert_eq!((&found["title"], &found["revid"]), (&json!("Ada Byron"), &json!(77)));
    assert_eq!(found["observation"], text(&answer(3)));
    assert_eq!(text(&answer(4)), "(Result 1 / 3) Ada wrote programs.");
    let second = answer(5)["result"]["structuredContent"].clone();
    assert_eq!((&second["result"], &second["of"]), (&json!(2), &json!(3)));
    // A search that finds no page leaves the open one open, and the lookup where it was.
    assert_eq!(text(&answer(6)), "Could not find a city river. Similar: ['London'].");
    assert_eq!(text(&answer(7)), "(Result 3 / 3) Ada lived in London.");
    assert_eq!(text(&answer(8)), "No more results.\n");
    assert_eq!(answer(8)["result"]["structuredContent"]["result"], Value::Null);
    assert_eq!(text(&answer(9)), "It has a river.");
    assert_eq!((&answer(10)["result"]["isError"], text(&answer(10))), (&json!(true), "the page has paragraphs 1 to 2"));
    assert_eq!(answer(11)["result"]["structuredContent"]["titles"], json!(["London", "Ada Byron"]));
    assert_eq!(answer(13)["error"]["code"], json!(-32602), "there is no such tool");
    // A model reads what was wrong with its arguments, and what to send.
    for (id, sentence) in [
        (12, "wrong arguments: invalid type: integer `3`, expected a string; send {\"query\": text}"),
        (15, "wrong arguments: unknown field `extra`, expected `query` or `session`; send {\"query\": text}"),
        (
            16,
            "wrong arguments: unknown field `keywrd`, expected `keyword` or `session`; send {\"keyword\": text, \"session\": the \
             last result's}",
        ),
        (18, "the page has paragraphs 1 to 2"),
        (21, "There is no document with the id 99."),
        (22, "`k` is a number from 1 to 100"),
    ] {
        assert_eq!((&answer(id)["result"]["isError"], text(&answer(id))), (&json!(true), sentence));
    }
    assert!(text(&answer(19)).starts_with("[1] Ada Byron (id 0.0)\nAda wrote programs."), "{}", text(&answer(19)));
    assert_eq!(answer(19)["result"]["structuredContent"]["passages"][0]["rank"], 1);
    assert!(text(&answer(20)).starts_with("Ada Byron\nAda wrote programs."), "{}", text(&answer(20)));
    assert_eq!(text(&answer(17)), "no page has the words of `zebra`; try others");
    assert_eq!(answer(17)["result"]["structuredContent"]["titles"], json!([]));
    assert_eq!(answer(14)["result"]["isError"], true);
    let paper = over_stdio(&["--compat", "paper"], &[messages[0].clone(), messages[1].clone(), messages[4].clone()]);
    assert_eq!(text(&paper(3)), "Ada wrote programs. Ada knew Babbage.. Ada lived in London..");
}

/// Over HTTP nothing is kept between requests: the handle says it all.
#[test]
fn each_request_over_http_stands_for_itself() {
    let dir = WorkDir::new();
    dir.write("mine/articles.jsonl", LINES);
    let served = Served::start(dir.root(), &["corpus:mine", "--quiet", "--only", "mcp"]);
    let send = |version: &str, message: &Value| {
        let mut message = message.clone();
        let mut headers = format!("MCP-Protocol-Version: {version}\r\n");
        if version == "2026-07-28" {
            message["params"]["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let method = message["method"].as_str().expect("a method");
            headers.extend(["Mcp-Method: ", method, "\r\n"]);
            if let Some(name) = message["params"]["name"].as_str() {
                headers.extend(["Mcp-Name: ", name, "\r\n"]);
            }
        }
        let body = message.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            served.host(),
            body.len()
        );
        let answer = served.raw(request.as_bytes());
        assert!(!answer.head.contains("mcp-session-id"), "{}", answer.head);
        answer.json()
    };
    assert_eq!(send("2025-11-25", &hello("2025-11-25"))["result"]["serverInfo"]["name"], "wikitrail");
    for version in ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let ask = |name: &str, arguments: Value| send(version, &call(1, name, &arguments));
        let listed = send(version, &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}));
        assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(6), "{version}");
        assert_eq!(listed["result"]["tools"][1]["inputSchema"]["required"], json!(["keyword", "session"]));
        let ada = ask("search", json!({"query": "ada byron"}))["result"]["structuredContent"]["session"].clone();
        let london = ask("search", json!({"query": "London"}))["result"]["structuredContent"]["session"].clone();
        let first = ask("lookup", json!({"keyword": "ada", "session": ada}));
        assert_eq!(text(&first), "(Result 1 / 3) Ada wrote programs.", "{version}");
        assert_eq!(
            text(&ask("lookup", json!({"keyword": "river", "session": london}))),
            "(Result 1 / 1) It has a river."
        );
        let again = first["result"]["structuredContent"]["session"].clone();
        let second = ask("lookup", json!({"keyword": "ada", "session": again}));
        assert_eq!(text(&second), "(Result 2 / 3) Ada knew Babbage.");
        // The same handle gives the same again.
        assert_eq!(ask("lookup", json!({"keyword": "ada", "session": again})), second);
        assert_eq!(ask("lookup", json!({"keyword": "ada"}))["result"]["isError"], true);
    }
    let evil = "POST /mcp HTTP/1.1\r\nHost: evil.example.org\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
    assert_eq!(served.raw(evil.as_bytes()).status, 403);
}

/// What a process writes when it reads these lines: this many, or more.
fn lines_over_stdio(version: &str, messages: &[&str], expected: usize) -> Vec<Value> {
    let dir = WorkDir::new();
    dir.write("mine/articles.jsonl", LINES);
    let mut command = dir.command(&["mcp", "corpus:mine"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("wikitrail starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let mut answers = String::new();
    writeln!(stdin, "{}", hello(version)).expect("it reads");
    std::io::BufRead::read_line(&mut stdout, &mut answers).expect("it answers");
    writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).expect("it reads");
    for message in messages {
        writeln!(stdin, "{message}").expect("it reads");
    }
    // The process ends with its input, so a last message has to be answered first.
    writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "id": "end", "method": "ping"})).expect("it reads");
    let (mut ended, mut read) = (false, 0);
    while !ended || read < expected {
        let mut line = String::new();
        assert!(std::io::BufRead::read_line(&mut stdout, &mut line).expect("it answers") > 0, "{answers}");
        if line.contains("\"end\"") {
            ended = true;
        } else {
            read += 1;
            answers.push_str(&line);
        }
    }
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    lines(&answers)[1..].to_vec()
}

/// Agents may send a search and the lookups in its page without waiting.
#[test]
fn calls_sent_together_over_stdio_take_their_turns() {
    let pages = [
        ("Ada Byron", "ada", "(Result 1 / 3) Ada wrote programs."),
        ("London", "river", "(Result 1 / 1) It has a river."),
    ];
    let asked = |at: u32| &pages[(at % 2) as usize];
    let pair = |at: u32| {
        let (title, keyword, _) = asked(at);
        [call(2 * at, "search", &json!({"query": title})), call(2 * at + 1, "lookup", &json!({"keyword": keyword}))]
    };
    let messages: Vec<String> = (1..=100).flat_map(pair).map(|message| message.to_string()).collect();
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
    let answers = lines_over_stdio("2025-11-25", &messages, messages.len());
    for at in 1..=100 {
        let answer = answers.iter().find(|answer| answer["id"] == 2 * at + 1).expect("an answer");
        assert_eq!(text(answer), asked(at).2, "{at}");
    }
}

/// A batch with a search, a lookup in what it opened, a notification, an unknown method and what is no message.
fn mixed() -> String {
    let mixed = json!([
        call(1, "search", &json!({"query": "Ada Byron"})),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}},
        call(1, "lookup", &json!({"keyword": "ada"})),
        {"jsonrpc": "2.0", "id": "x", "method": "no/such"},
        {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": [1]},
        hello("2025-03-26"),
        7,
    ]);
    // A number that no program holds.
    mixed.to_string().replacen("\"id\":1,", &format!("\"id\":1{},", "0".repeat(40)), 1)
}

#[test]
fn a_batch_is_answered_as_a_batch_where_the_protocol_has_them() {
    let batch = mixed();
    let after = call(9, "search", &json!({"query": "London"})).to_string();
    let answers = lines_over_stdio("2025-03-26", &[&batch, "[]", "[7", &after], 4);
    let [whole, empty, broken, last] = &answers[..] else { panic!("{answers:?}") };
    let of = |at: usize| (whole[at]["id"].to_string(), whole[at]["error"]["code"].as_i64());
    assert_eq!(whole.as_array().map(Vec::len), Some(6), "{whole}");
    assert!(text(&whole[0]).starts_with("Ada wrote programs."), "{whole}");
    assert_eq!(text(&whole[1]), "(Result 1 / 3) Ada wrote programs.", "one after the other");
    assert_eq!(of(1), ("1".to_owned(), None));
    assert_eq!(of(2), ("\"x\"".to_owned(), Some(-32601)));
    assert_eq!(of(3).0, "5");
    assert!(whole[3]["error"].is_object(), "{whole}");
    assert_eq!(of(4), ("0".to_owned(), Some(-32600)));
    assert_eq!(of(5), ("null".to_owned(), Some(-32600)));
    assert_eq!((&empty["error"]["code"], &empty["id"]), (&json!(-32600), &Value::Null));
    assert_eq!(broken["error"]["code"], -32700);
    assert_eq!(last["id"], 9);
    // Notifications alone are not answered.
    let silent = json!([{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}]);
    assert!(lines_over_stdio("2025-03-26", &[&silent.to_string()], 0).is_empty());
}

#[test]
fn no_request_of_a_batch_waits_where_the_protocol_has_none() {
    let batch = json!([call(1, "search", &json!({"query": "London"})), call(2, "search", &json!({"query": "London"}))]);
    for version in ["2025-06-18", "2025-11-25"] {
        let answers = lines_over_stdio(version, &[&batch.to_string()], 2);
        let of = |at: usize| (answers[at]["id"].clone(), answers[at]["error"]["code"].clone());
        assert_eq!([of(0), of(1)], [(json!(1), json!(-32600)), (json!(2), json!(-32600))]);
        let why = "only protocol version 2025-03-26 has batches";
        assert_eq!((answers.len(), &answers[0]["error"]["message"]), (2, &json!(why)));
    }
}

#[test]
fn a_batch_over_http_is_answered_as_a_batch() {
    let dir = WorkDir::new();
    dir.write("mine/articles.jsonl", LINES);
    let served = Served::start(dir.root(), &["corpus:mine", "--quiet", "--only", "mcp"]);
    let send = |headers: &str, body: &str| {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            served.host(),
            body.len()
        );
        served.raw(request.as_bytes())
    };
    // A client of that version names none.
    for headers in ["", "MCP-Protocol-Version: 2025-03-26\r\n"] {
        let answer = send(headers, &mixed());
        assert_eq!(answer.status, 200);
        let whole = answer.json();
        assert_eq!(whole.as_array().map(Vec::len), Some(6), "{whole}");
        assert!(text(&whole[0]).starts_with("Ada wrote programs."), "{whole}");
        assert_eq!(whole[1]["result"]["isError"], true, "each request over HTTP stands for itself");
        assert_eq!((&whole[2]["error"]["code"], &whole[5]["id"]), (&json!(-32601), &Value::Null));
    }
    let silent = json!([{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}]);
    assert_eq!(send("", &silent.to_string()).status, 202);
    let refused = send("MCP-Protocol-Version: 2025-11-25\r\n", &mixed());
    let told: Value = serde_json::from_str(&refused.body).expect("JSON");
    assert_eq!((refused.status, &told[0]["error"]["code"]), (400, &json!(-32600)));
    let many = vec![call(1, "search", &json!({"query": "London"})); 101];
    assert_eq!(send("", &json!(many).to_string()).status, 400);
    assert_eq!(send("", "[]").status, 400);
}

#[test]
fn the_answers_to_a_batch_over_http_have_a_limit() {
    let dir = WorkDir::new();
    let long = json!({"title": "Long", "text": "x".repeat(3 << 20)});
    dir.write("mine/articles.jsonl", format!("{LINES}{long}\n"));
    let served = Served::start(dir.root(), &["corpus:mine", "--quiet", "--only", "mcp"]);
    let mut calls = vec![call(1, "read", &json!({"title": "Long"})); 4];
    calls.push(call(5, "read", &json!({"title": "London"})));
    let body = json!(calls).to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        served.host(),
        body.len()
    );
    let answer = served.raw(request.as_bytes());
    assert!(answer.body.len() < 17 << 20, "{}", answer.body.len());
    let answers = answer.json();
    let answered: Vec<bool> = (0..5).map(|at| answers[at]["result"].is_object()).collect();
    assert_eq!(answered, [true, true, false, false, false]);
    let told = answers[4]["error"]["message"].as_str().expect("an error");
    assert!(answers[4]["id"] == 5 && told.contains("larger than 16 MiB"), "{told}");
}
