use super::MAX_DEPTH;
use super::{dict_repr, first_object, lenient_object, value};
use serde_json::{Value, json};

#[test]
fn the_lenient_reading_takes_what_models_write() {
    for (text, dict) in [
        ("{'a': 'b', \"\": ''}", "{'a': 'b', '': ''}"),
        ("{a_1$: 1, 城市: 2, 3: 4}", "{'a_1$': 1, '城市': 2, '3': 4}"),
        ("{\"a\": [1, 2,], }", "{'a': [1, 2]}"),
        ("{\"a\": 1, \"b\": 2, \"a\": 3} and {\"b\": 2}", "{'a': 3, 'b': 2}"),
        ("{ // one\n /* two */ a:/* three */1,/* four */}", "{'a': 1}"),
        ("{a: 'it\\'s\n'}", "{'a': \"it's\\n\"}"),
        ("{b: 1.50, c: 1e3, d: 0x1F, e: -0x1f, f: -0}", "{'b': 1.5, 'c': 1000.0, 'd': 31, 'e': -31, 'f': 0}"),
        ("{a: 123456789012345678901234567890, b: 1e999}", "{'a': 123456789012345678901234567890, 'b': inf}"),
        (
            "{a: {d: true}, b: [null, {}], c: NaN}",
            "{'a': AttributedDict([('d', True)]), 'b': [None, AttributedDict()], 'c': nan}",
        ),
    ] {
        assert_eq!(lenient_object(text).map(|dict| dict_repr(&dict)).as_deref(), Some(dict), "{text}");
    }
    for (number, read) in [
        ("+1", "1"),
        ("+0", "0"),
        ("-+1", "-1"),
        ("--1", "1"),
        ("+00", "0"),
        ("+0x10", "16"),
        (".5", "0.5"),
        ("+.5", "0.5"),
        ("-.5", "-0.5"),
        ("+1.5", "1.5"),
        ("+01.5", "1.5"),
        (".5e3", "500.0"),
        ("+5.e2", "500.0"),
        ("+1e-2", "0.01"),
        ("+1E+2", "100.0"),
        ("-.0", "-0.0"),
        ("+1e999", "inf"),
    ] {
        let dict = lenient_object(&format!("{{a: {number}, b: [{number}]}}"));
        assert_eq!(dict.map(|dict| dict_repr(&dict)), Some(format!("{{'a': {read}, 'b': [{read}]}}")), "{number}");
    }
    for text in ["", "{", "{a}", "{,}", "{:1}", "{a:}", "{a:1 b:2}", "{a:[,]}", "{a:[1", "{-a: 1}", "{a; 1}", "[]"] {
        assert_eq!(lenient_object(text), None, "{text}");
    }
    let values = ["1 // no end", "1 /* no end", "True", "x", "nullable", "010", "0x", "1.", "-", "2+3", "'\\q'"];
    let numbers = "+ . +. +1. +01 +1+2 +Infinity +NaN +0x1F +0x +1e +e5 .5.5 +(1) +1/2".split(' ');
    for value in values.into_iter().chain(numbers) {
        assert_eq!(lenient_object(&format!("{{a:{value}}}")), None, "{value}");
    }
}

#[test]
fn the_strict_reading_takes_what_python_takes() {
    let strict = |text: &str| value(text).map(|item| serde_json::to_value(item).expect("JSON"));
    for (text, value) in [
        (" {\"a\": [1, -2.50, 1e3], \"b\": 1, \"a\": {}}\n", json!({"a": {}, "b": 1})),
        ("[NaN, Infinity, -Infinity, 1e999]", json!([null, null, null, null])),
        ("\"\\ud83d\\ude00 \\u4e2d \\/ \\\" \u{7f}\"", json!("😀 中 / \" \u{7f}")),
        ("\"\\ud800\\u0041\\ud800\"", json!("\u{fffd}A\u{fffd}")),
        ("[18446744073709551615, 123456789012345678901234567890]", json!([u64::MAX, 1.234_567_890_123_456_8e29])),
        ("[-0, 0.0, true, false, null]", json!([0, 0.0, true, false, null])),
    ] {
        assert_eq!(strict(text), Some(value), "{text}");
    }
    for text in ["", "{", "[1,]", "{a: 1}", "{} x", "01", "0x1", "1.", ".5", "+1", "-", "nul", "[1 2]", "\"", "\"\\"] {
        assert_eq!(strict(text), None, "{text:?}");
    }
    for string in ["a\nb", "\\x41", "\\'", "\\u12", "\\ud800\\u12", "\\é"] {
        assert_eq!(strict(&format!("\"{string}\"")), None, "{string:?}");
    }
    for text in ["{\"a\": 1,}", "{'a': 1}", "\u{feff}{}", "\u{a0}1", "{\"a\" 1}", "[1, // one\n 2]"] {
        assert_eq!(strict(text), None, "{text:?}");
    }
}

#[test]
fn the_first_object_ends_where_it_ends() {
    let end = |text: &str| first_object(text).map(|(_, end)| end);
    assert_eq!(["{\"a\": 1} {\"b\": 2}", " {}", "[]"].map(end), [Some(8), None, None]);
}

#[test]
fn integers_stay_whole_in_text_and_are_rounded_in_memory() {
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
        assert_eq!([MAX_DEPTH, MAX_DEPTH + 1, 300_000].map(|depth| read(&nested(depth))), [true, false, false]);
    }
}
