use super::{Fault, Item, MAX_DEPTH, dict_repr, first_value, to_json};

/// The dictionary as Python would show it; none for a fault.
fn shown(text: &str) -> Option<String> {
    match first_value(text) {
        Ok(Item::Dict(entries)) => Some(dict_repr(&entries)),
        Ok(other) => panic!("{other:?}"),
        Err(Fault) => None,
    }
}

fn value(text: &str) -> Option<String> {
    let dict = shown(&format!("{{v:{text}}}"))?;
    Some(dict.strip_prefix("{'v': ").and_then(|rest| rest.strip_suffix('}')).expect("one entry").to_owned())
}

#[test]
fn quotes_keys_and_commas_are_free() {
    for (text, dict) in [
        (r#"{"a": "b"}"#, "{'a': 'b'}"),
        ("{'a': 'b'}", "{'a': 'b'}"),
        ("{a_1$: 1, 城市: 2, 3: 4}", "{'a_1$': 1, '城市': 2, '3': 4}"),
        ("{\"a\": [1, 2,], }", "{'a': [1, 2]}"),
        ("{\"a\": 1, \"b\": 2, \"a\": 3}", "{'a': 3, 'b': 2}"),
        ("{}", "{}"),
        ("{\"a\": 1} and {\"b\": 2}", "{'a': 1}"),
    ] {
        assert_eq!(shown(text).as_deref(), Some(dict), "{text}");
    }
    for text in ["", "{", "{a}", "{,}", "{a:}", "{a:1 b:2}", "{a:[,]}", "{a:[1", "{-a: 1}", "{a; 1}"] {
        assert_eq!(shown(text), None, "{text}");
    }
}

#[test]
fn comments_stand_behind_white_space_or_a_colon() {
    for text in ["{ // one\n /* two */ a:/* three */1 /* four */}", "{\n// a\n// b\na: 1}"] {
        assert_eq!(shown(text).as_deref(), Some("{'a': 1}"), "{text}");
    }
    for text in ["{/* one */a: 1}", "{a: 1,// one\n}", "{a: 1 // no end}", "{a: 1 /* no end}", "{a: 1/* no space */}"] {
        assert_eq!(shown(text), None, "{text}");
    }
}

#[test]
fn strings_take_raw_line_ends_and_known_escapes() {
    for (text, string) in [
        ("\"a\nb\"", r"'a\nb'"),
        (r#""\"\'\\\/\b\f\n\r\t""#, r#"'"\'\\/\x08\x0c\n\r\t'"#),
        (r#""\u4e2d\ud83d\ude00""#, "'中😀'"),
        (r"'it\'s'", "\"it's\""),
    ] {
        assert_eq!(value(text).as_deref(), Some(string), "{text}");
    }
    for text in [r#""\q""#, r#""\u12""#, r#""\u12g4""#, "\"no end", "\"end\\", r#""\ud83d\uxyz""#] {
        assert_eq!(value(text), None, "{text}");
    }
    // Python keeps half of a pair, which is no character.
    assert_eq!(value(r#""\ud83dx\ud83d\u0041""#).as_deref(), Some("'\u{fffd}x\u{fffd}A'"));
}

#[test]
fn numbers_are_read_as_python_reads_them() {
    for (text, number) in [
        ("-3", "-3"),
        ("1.50", "1.5"),
        ("1e3", "1000.0"),
        ("010.5", "10.5"),
        ("0x1F", "31"),
        ("-0x1f", "-31"),
        ("010", "8"),
        ("-0", "0"),
        ("00", "0"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1e999", "inf"),
        ("-Infinity", "-inf"),
        ("NaN", "nan"),
    ] {
        assert_eq!(value(text).as_deref(), Some(number), "{text}");
    }
    for text in ["09", "-010", "0x", "1.", "1 2", "0x10.5", "True", "None", "Milhouse", "nullable", "e", "-"] {
        assert_eq!(value(text), None, "{text}");
    }
    assert_eq!(value(&"9".repeat(4300)).map(|digits| digits.len()), Some(4300));
    assert_eq!(value(&"9".repeat(4301)), None);
}

#[test]
fn sums_are_worked_out() {
    for (text, number) in [
        ("1990-1995", "-5"),
        ("2+3*4", "14"),
        ("(2+3)*4", "20"),
        ("7/2", "3.5"),
        ("-7//2", "-4"),
        ("7.5//2", "3.0"),
        ("2**3**2", "512"),
        ("-2**2", "-4"),
        ("2**-1", "0.5"),
        ("+6&3|8", "10"),
        ("+5", "5"),
        (".5", "0.5"),
        ("1e2+1", "101.0"),
        ("0xe+1", "15"),
    ] {
        assert_eq!(value(text).as_deref(), Some(number), "{text}");
    }
    for text in
        ["2020-01-05", "1-", "1/0", "1//0", "0**-1", "()", "(1", "5(3)", "1.5&1", "9**9**9", "2*3.5", "1*/2", "6&3"]
    {
        assert_eq!(value(text), None, "{text}");
    }
    assert_eq!(value(&("(".repeat(100_000) + "1")), None);
    assert_eq!(value(&("1".to_owned() + &"**1".repeat(100_000))), None);
}

#[test]
fn as_json_what_python_alone_can_hold_comes_nearest() {
    let Ok(Item::Dict(entries)) = first_value("{a: 18446744073709551616, b: -9, c: Infinity, d: [{e: 1.0}, null]}")
    else {
        panic!("a dictionary")
    };
    let json = serde_json::Value::Object(to_json(&entries)).to_string();
    assert_eq!(json, r#"{"a":1.8446744073709552e+19,"b":-9,"c":null,"d":[{"e":1.0},null]}"#);
}

#[test]
fn nesting_ends_where_the_stack_would() {
    let nested = |depth: usize| "{a:".repeat(depth) + "1" + &"}".repeat(depth);
    assert!(shown(&nested(MAX_DEPTH)).is_some());
    assert!(shown(&nested(MAX_DEPTH + 1)).is_none());
    assert!(shown(&nested(300_000)).is_none());
    assert!(shown(&("{a:".to_owned() + &"[".repeat(1_000_000))).is_none());
}
