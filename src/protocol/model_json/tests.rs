use super::reader::MAX_DEPTH;
use super::{Dict, Item, dict_repr, first_object, lenient_object, value};
use serde_json::{Value, json};

/// The dictionary as Python would show it; none for a fault.
fn shown(text: &str) -> Option<String> {
    lenient_object(text).map(|dict| dict_repr(&dict))
}

/// What a strict reading gives, as JSON.
fn strict(text: &str) -> Option<Value> {
    value(text).map(|item| serde_json::to_value(item).expect("JSON"))
}

#[test]
fn the_lenient_reading_takes_what_models_write() {
    for (text, dict) in [
        (r#"{"a": "b"}"#, "{'a': 'b'}"),
        ("{'a': 'b', \"\": ''}", "{'a': 'b', '': ''}"),
        ("{a_1$: 1, 城市: 2, 3: 4}", "{'a_1$': 1, '城市': 2, '3': 4}"),
        ("{\"a\": [1, 2,], }", "{'a': [1, 2]}"),
        ("{\"a\": 1, \"b\": 2, \"a\": 3}", "{'a': 3, 'b': 2}"),
        ("{\"a\": 1} and {\"b\": 2}", "{'a': 1}"),
        ("{ // one\n /* two */ a:/* three */1,/* four */}", "{'a': 1}"),
        ("{a: 'it\\'s\n'}", "{'a': \"it's\\n\"}"),
        (
            "{a: -3, b: 1.50, c: 1e3, d: 0x1F, e: -0x1f, f: -0}",
            "{'a': -3, 'b': 1.5, 'c': 1000.0, 'd': 31, 'e': -31, 'f': 0}",
        ),
        ("{a: 123456789012345678901234567890, b: 1e999}", "{'a': 123456789012345678901234567890, 'b': inf}"),
        (
            "{a: {d: true}, b: [null, {}], c: NaN}",
            "{'a': AttributedDict([('d', True)]), 'b': [None, AttributedDict()], 'c': nan}",
        ),
    ] {
        assert_eq!(shown(text).as_deref(), Some(dict), "{text}");
    }
    for text in ["", "{", "{a}", "{,}", "{:1}", "{a:}", "{a:1 b:2}", "{a:[,]}", "{a:[1", "{-a: 1}", "{a; 1}", "[]"] {
        assert_eq!(shown(text), None, "{text}");
    }
    for value in ["1 // no end", "1 /* no end", "True", "None", "x", "nullable", "010", "0x", "1.", "-", "2+3", "'\\q'"]
    {
        assert_eq!(shown(&format!("{{a:{value}}}")), None, "{value}");
    }
}

#[test]
fn the_strict_reading_takes_what_python_takes() {
    for (text, value) in [
        (" {\"a\": [1, -2.50, 1e3], \"a\": {}}\n", json!({"a": {}})),
        ("{\"b\": 1, \"a\": 2, \"b\": 3}", json!({"b": 3, "a": 2})),
        ("[NaN, Infinity, -Infinity, 1e999]", json!([null, null, null, null])),
        ("\"\\ud83d\\ude00 \\u4e2d \\/ \\\" \u{7f}\"", json!("😀 中 / \" \u{7f}")),
        ("\"\\ud800\\u0041\\ud800\"", json!("\u{fffd}A\u{fffd}")),
        ("18446744073709551615", json!(u64::MAX)),
        ("123456789012345678901234567890", json!(1.234_567_890_123_456_8e29)),
        ("[-0, 0.0, true, false, null]", json!([0, 0.0, true, false, null])),
    ] {
        assert_eq!(strict(text), Some(value), "{text}");
    }
    for text in [
        "",
        "{",
        "{\"a\": 1,}",
        "[1,]",
        "{'a': 1}",
        "{a: 1}",
        "\u{feff}{}",
        "{} x",
        "01",
        "0x1",
        "1.",
        ".5",
        "+1",
        "-",
        "\"a\nb\"",
        "\"\\x41\"",
        "\"\\'\"",
        "\"\\u12\"",
        "\"\\ud800\\u12\"",
        "\"\\é\"",
        "\u{a0}1",
        "nul",
        "{\"a\" 1}",
        "[1 2]",
        "[1, // one\n 2]",
        "\"",
        "\"\\",
    ] {
        assert_eq!(strict(text), None, "{text:?}");
    }
}

#[test]
fn the_first_object_ends_where_it_ends() {
    assert_eq!(
        first_object("{\"a\": 1} {\"b\": 2}"),
        Some((Dict(vec![("a".to_owned(), Item::Int("1".to_owned()))]), 8))
    );
    assert_eq!(first_object(" {}"), None);
    assert_eq!(first_object("[]"), None);
}

#[test]
fn written_as_json_integers_stay_whole_and_in_memory_they_are_rounded() {
    let dict = lenient_object("{a: 18446744073709551616, b: -9, c: Infinity, d: [{e: 1.0}, null]}").expect("an object");
    let text = r#"{"a":18446744073709551616,"b":-9,"c":null,"d":[{"e":1.0},null]}"#;
    assert_eq!(serde_json::to_string(&dict).expect("JSON"), text);
    let rounded = r#"{"a":1.8446744073709552e+19,"b":-9,"c":null,"d":[{"e":1.0},null]}"#;
    assert_eq!(Value::Object(dict.to_json()).to_string(), rounded);
    let longest = lenient_object(&format!("{{a: {}}}", "9".repeat(300))).expect("an object");
    assert!(longest.to_json()["a"].is_f64());
    assert_eq!(lenient_object(&format!("{{a: {}}}", "9".repeat(301))), None);
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth);
    for read in [|text: &str| lenient_object(text).is_some(), |text: &str| value(text).is_some()] {
        assert!(read(&nested(MAX_DEPTH)));
        assert!(!read(&nested(MAX_DEPTH + 1)));
        assert!(!read(&nested(300_000)));
        assert!(!read(&("{\"a\":".to_owned() + &"[".repeat(1_000_000))));
    }
}
