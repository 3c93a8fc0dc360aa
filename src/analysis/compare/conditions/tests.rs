use super::{Argument, ConditionError, ConditionResult, evaluate, is_equal};
use proptest::prelude::*;

/// `em(a)` is 0.4, `em(b)` 0.6, `p(em, a, b)` 0.03; `em(none)` was not measured.
fn fixed(name: &str, arguments: &[Argument], at: usize) -> Result<Option<f64>, ConditionError> {
    let arguments: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
    match (name, &arguments[..]) {
        ("em", ["a"]) => Ok(Some(0.4)),
        ("em", ["b" | "react->cot-sc" | "r/x y" | "it's (b)"]) => Ok(Some(0.6)),
        ("em", ["none"]) => Ok(None),
        ("p", ["em", "a", "b"]) => Ok(Some(0.03)),
        _ => Err(ConditionError::new(at, "unknown")),
    }
}

fn holds(text: &str) -> bool {
    evaluate(text, &fixed).unwrap_or_else(|fault| panic!("{text}: {}", fault.pointed(text))).holds == Some(true)
}

#[test]
fn an_end_without_bound_equals_itself_alone() {
    assert!(is_equal(f64::INFINITY, f64::INFINITY) && is_equal(0.7, 0.7 + 1e-15));
    for other in [0.0, 1e300, f64::INFINITY, f64::NAN] {
        assert!(!is_equal(f64::NEG_INFINITY, other), "{other}");
    }
}

#[test]
fn conditions_are_evaluated() {
    for text in [
        "em(a) < em(b)",
        "em( a )<=em(b)",
        "em(b) - em(a) >= 0.15",
        "em(a) == 0.4",
        // Rounding decides nothing.
        "0.1 + 0.2 == 0.3",
        "0.1 + 0.2 <= 0.3",
        "em(a) != em(b)",
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "8 / 4 / 2 == 1",
        "5 - 3 - 1 == 1",
        "-2 * -2 > 3.5e0",
        "1e-3 < .5",
        "p(em, a, b) < 0.05 and em(b) > em(a)",
        "1 > 2 and 1 > 2 or 1 < 2",
        "1 < 2 or 1 > 2 and 1 > 2",
        "(1 < 2 or 1 > 2) and (1 < 2)",
        "((em(a))) < ((em(b)))",
        "em(react->cot-sc) > em('a')",
        "em(r/x y) > 0",
        "em(\"it's (b)\") > 0",
    ] {
        assert!(holds(text), "{text}");
    }
    for text in ["em(a) > em(b)", "1 < 2 and 1 > 2", "0.1 + 0.2 > 0.3", "0.3 < 0.1 + 0.2", "0.1 + 0.2 != 0.3"] {
        assert!(!holds(text), "{text}");
    }
    let condition = "em(a) < em(b) and em(a) < 1".to_owned();
    let judged = evaluate(&condition, &fixed).expect("judged");
    let values = vec![("em(a)".into(), 0.4), ("em(b)".into(), 0.6)];
    assert_eq!(judged, ConditionResult { condition, holds: Some(true), values, absent: vec![] });
}

/// What was not measured decides nothing, unless the rest decides alone. Names are checked all the same.
#[test]
fn a_condition_is_open_where_a_value_was_not_measured() {
    for (text, holds) in [
        ("em(a) < em(none)", None),
        ("-em(none) * 2 + 1 > 0", None),
        ("1 / em(none) > 0", None),
        ("em(a) < em(b) and em(none) < 1", None),
        ("em(none) < 1 and em(a) > em(b)", Some(false)),
        ("em(a) > em(b) or em(none) < 1", None),
        ("em(none) < 1 or em(a) < em(b)", Some(true)),
    ] {
        let judged = evaluate(text, &fixed).expect(text);
        assert_eq!((judged.holds, &judged.absent[..]), (holds, &["em(none)".to_owned()][..]), "{text}");
    }
    assert!(evaluate("em(none) < em(c)", &fixed).is_err());
}

#[test]
fn an_error_points_at_the_place() {
    for (text, column, reason) in [
        ("", 0, "is missing"),
        ("em(a)", 0, "this is a number"),
        ("em(a) <", 7, "is missing"),
        ("em(a) < em(c)", 8, "unknown"),
        ("em(a) < em(b) em(a)", 14, "an operator or the end"),
        ("em < 3", 0, "has no argument"),
        ("em() < 3", 3, "a name is missing"),
        ("em(a < 3", 8, "`)` is missing"),
        ("em('a < 3", 3, "not closed"),
        ("1 < 2 < 3", 6, "cannot be chained"),
        ("(1 < 2) + 1 > 0", 3, "true or false"),
        ("-(1 < 2) > 0", 4, "true or false"),
        ("1 and 2 < 3", 0, "this is a number"),
        ("1 / (em(a) - em(a)) > 0", 2, "division by zero"),
        ("1.2.3 < 4", 0, "is not a number"),
        ("日 < 1", 0, "has no argument"),
        ("1 < 日本(x)", 4, "unknown"),
        ("em(日本) < $", 9, "`$` is unexpected"),
        (&format!("{}1 < 2", "(".repeat(200)), 50, "nested too deeply"),
    ] {
        let message = evaluate(text, &fixed).expect_err(text).pointed(text);
        assert!(message.contains(reason), "{text}: {message}");
        assert!(message.lines().any(|line| line == format!("  {}^", " ".repeat(column))), "{text}: {message}");
    }
}

#[test]
fn and_binds_more_than_or() {
    assert!(holds("1<2 or 1<2 and 1>2"));
}

proptest! {
    #[test]
    fn no_text_panics(text in "[-em(a)pb ,<>=!+*/.0-9'\"$日andor]{0,60}") {
        let _ = evaluate(&text, &fixed);
    }
}
