//! What may be added to requests, and what not.

use super::{HeaderValue, check_body, credential, parse_body, parse_headers, unsafe_fields, unsafe_headers};

/// Looks like a key.
const KEY: &str = "sk-proj-0123456789abcdefABCD";

#[test]
fn what_requests_have_already_is_not_replaced() {
    for (json, hint) in [
        (r#"{"model": "x"}"#, "--model"),
        (r#"{"messages": []}"#, "--prompt"),
        (r#"{"systemInstruction": {}}"#, "--prompt"),
        (r#"{"input": "x"}"#, "--prompt"),
        (r#"{"tools": []}"#, "--protocol tools"),
        (r#"{"tool_choice": "none"}"#, "--option choice"),
        (r#"{"stream": true}"#, "streamed"),
        (r#"{"n": 2}"#, "--repeats"),
        (r#"{"best_of": 2}"#, "--repeats"),
        (r#"{"models": ["x"]}"#, "--model"),
        (r#"{"chat_template": "x"}"#, "--prompt"),
        (r#"{"suffix": "x"}"#, "--prompt"),
        (r#"{"instructions": "x"}"#, "--prompt"),
        (r#"{"previous_response_id": "x"}"#, "nothing is kept"),
        (r#"{"conversation": "x"}"#, "nothing is kept"),
        (r#"{"cachedContent": "x"}"#, "nothing is kept"),
        (r#"{"store": true}"#, "nothing is kept"),
        (r#"{"background": true}"#, "usually"),
        (r#"{"echo": true}"#, "usually"),
        (r#"{"thinking": {"type": "enabled"}}"#, "--reasoning"),
        (r#"{"temperature": 1}"#, "--temperature"),
        (r#"{"generationConfig": {"topP": 1}}"#, "--top-p"),
        (r#"{"max_completion_tokens": 1}"#, "--max-tokens"),
        (r#"{"generation_config": {"maxOutputTokens": 1}}"#, "--max-tokens"),
        (r#"{"seed": 1}"#, "--seed"),
        (r#"{"stop": ["x"]}"#, "protocol"),
    ] {
        let error = parse_body(json).expect_err(json);
        assert!(
            error.hint().contains(hint) && error.to_string().starts_with("--extra-body may not set `"),
            "{error:?}"
        );
    }
    for json in [r#"{"generationConfig": null}"#, r#"{"generation_config": [1]}"#] {
        assert!(parse_body(json).expect_err(json).to_string().contains("is not an object"), "{json}");
    }
    for json in ["[]", "7", "{", "", "{\"a\": NaN}"] {
        assert_eq!(parse_body(json).expect_err(json).to_string(), "--extra-body is not a JSON object");
    }
}

#[test]
fn usual_additions_are_taken_and_secrets_are_not() {
    for json in [
        r#"{"top_k": 20, "min_p": 0.05, "repetition_penalty": 1.1, "prompt_cache_key": "run-7"}"#,
        r#"{"chat_template_kwargs": {"enable_thinking": false}, "stop_token_ids": [1, 2], "logit_bias": {"50256": -100}}"#,
        r#"{"reasoning_effort": "xhigh", "service_tier": "flex", "metadata": {"page": "https://a.example/x?v=1"}}"#,
        r#"{"provider": {"order": ["anthropic"]}, "user": null}"#,
        r#"{"generationConfig": {"topK": 3}}"#,
        "{}",
    ] {
        assert!(parse_body(json).is_ok(), "{json}");
    }
    for json in [
        format!(r#"{{"x": "{KEY}"}}"#),
        format!(r#"{{"x": [{{"y": ["Bearer {KEY}"]}}]}}"#),
        format!(r#"{{"x": {{"{KEY}": 1}}}}"#),
        r#"{"a": {"api_key": "short"}}"#.to_owned(),
        r#"{"Authorization": "Basic abc"}"#.to_owned(),
        r#"{"url": "http://me:word@h/"}"#.to_owned(),
        r#"{"url": "http://h/?token=word"}"#.to_owned(),
    ] {
        let error = parse_body(&json).expect_err(&json);
        assert!(error.hint().contains("--extra-header NAME=env:VARIABLE"), "{error:?}");
        assert!(!error.to_string().contains(KEY) && !error.hint().contains(KEY), "{error:?}");
    }
    let long = [("x".to_owned(), "y ".repeat(40_000).into())].into_iter().collect();
    assert!(check_body(&long).expect_err("long").to_string().contains("64 KiB"));
}

#[test]
fn only_words_and_numbers_of_sampling_and_reasoning_are_safe() {
    let found = |json: &str| {
        let body = parse_body(json).expect(json);
        unsafe_fields(body.as_object().expect("an object")).collect::<Vec<_>>()
    };
    for json in [
        r#"{"top_k": 20, "minP": 0.05, "stop_token_ids": [1, 2], "logit_bias": {"50256": -100}, "think": null}"#,
        r#"{"chat_template_kwargs": {"enable_thinking": false}, "reasoning": {"effort": "high", "exclude": true}}"#,
        r#"{"reasoning_effort": "minimal", "service_tier": "flex", "guided_choice": ["SUPPORTS", "NOT ENOUGH INFO"]}"#,
        r#"{"generationConfig": {"topK": 3, "thinkingConfig": {"thinkingLevel": "low"}}, "keep_alive": "5m"}"#,
        "{}",
    ] {
        assert!(found(json).is_empty(), "{json}");
    }
    for json in [
        r#"{"mcp_servers":[{"type":"url","url":"https://evil.example/mcp"}]}"#,
        r#"{"plugins":[{"id":"web"}]}"#,
        r#"{"web_search_options":{}}"#,
        r#"{"provider":{"order":["evil"]}}"#,
        r#"{"enable_search":true}"#,
        r#"{"metadata":{"page":"x"}}"#,
        r#"{"generationConfig":{"routingConfig":{"autoMode":{}}}}"#,
        r#"{"service_tier":"https://evil.example"}"#,
        r#"{"options":{"//evil.example":1}}"#,
        r#"{"reasoning":[{"effort":["evil.example"]}]}"#,
        r#"{"guided_json":{"$ref":"//evil.example/x"}}"#,
    ] {
        let (name, value) = json[2..json.len() - 1].split_once("\":").expect("a field");
        assert_eq!(found(json), [format!("{name}={value}")]);
    }
    let headers = parse_headers(["x-title=https://a.example", "anthropic-beta=mcp-client-2025-04-04", "x-a=env:PATH"]);
    let found: Vec<String> = unsafe_headers(&headers.expect("sound")).collect();
    assert_eq!(found, ["anthropic-beta=mcp-client-2025-04-04", "x-a=env:PATH"]);
}

#[test]
fn headers_are_named_and_their_secrets_come_from_variables() {
    let headers =
        parse_headers(["X-Title= a test ", "api-key=env:AZURE_OPENAI_API_KEY", "anthropic-beta=a-2025-05-14"]);
    let headers = headers.expect("sound");
    assert_eq!(headers["x-title"], "a test");
    assert_eq!(HeaderValue::of(&headers["api-key"]), HeaderValue::Variable("AZURE_OPENAI_API_KEY"));
    assert_eq!(credential(&headers), Some(("api-key", "AZURE_OPENAI_API_KEY")));
    assert_eq!(credential(&parse_headers(["helicone-auth=env:HELICONE"]).expect("sound")), None);
    assert!(parse_headers(["HTTP-Referer=https://a.example/page?x=1", "x-source=a=b"]).is_ok());
    for (typed, message) in [
        ("x-title", "--extra-header has no value"),
        ("=x", "an extra header has no usable name"),
        ("a b=x", "an extra header has no usable name"),
        ("x\r\ny=x", "an extra header has no usable name"),
        ("x=", "the extra header `x` has no usable value"),
        ("x=a\r\nhost: b", "the extra header `x` has no usable value"),
        ("x=é", "the extra header `x` has no usable value"),
        ("Content-Type=x", "--extra-header may not set `content-type`: every request has its own"),
        ("HOST=x", "--extra-header may not set `host`: every request has its own"),
        ("User-Agent=x", "--extra-header may not set `user-agent`: every request has its own"),
        (
            "Authorization=Bearer x",
            "the extra header `authorization` looks like a secret, and its value would be recorded",
        ),
        ("x-my-token=x", "the extra header `x-my-token` looks like a secret, and its value would be recorded"),
        ("x-apikey=x", "the extra header `x-apikey` looks like a secret, and its value would be recorded"),
        ("cookie=x", "the extra header `cookie` looks like a secret, and its value would be recorded"),
        ("x-y=http://me:word@h/", "the extra header `x-y` looks like a secret, and its value would be recorded"),
        ("api-key=env:", "the extra header `api-key` does not name a variable that is set"),
        ("api-key=env:a=b", "the extra header `api-key` does not name a variable that is set"),
    ] {
        assert_eq!(parse_headers([typed]).expect_err(typed).to_string(), message);
    }
    assert!(parse_headers(["a=1", "A=2"]).expect_err("twice").to_string().contains("`a` is given twice"));
    for typed in [format!("x={KEY}"), format!("api-key=env:{KEY}"), format!("{KEY}=x"), KEY.to_owned()] {
        let error = parse_headers([typed.as_str()]).expect_err("a key");
        assert!(!format!("{error:?}").to_ascii_lowercase().contains(&KEY.to_ascii_lowercase()), "{error:?}");
    }
}
