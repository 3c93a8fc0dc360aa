//! What is wrong with JSON, in words for people: those of the library name its own types.

use serde_json::Error;
use serde_json::error::Category;

/// What is wrong with a line of JSON Lines. The line within a line is always the first, so that only the column is named.
pub(crate) fn in_line(error: &Error) -> String {
    match error.column() {
        0 => plain(error),
        column => format!("{} at column {column}", plain(error)),
    }
}

/// What is wrong with a file that is one JSON value.
pub(crate) fn in_file(error: &Error) -> String {
    match error.column() {
        0 => plain(error),
        column => format!("{} at line {}, column {column}", plain(error), error.line()),
    }
}

/// The library's words without the place at their end, which ours name already.
pub(crate) fn without_place(error: &Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned()
}

fn plain(error: &Error) -> String {
    match error.classify() {
        Category::Eof => "the JSON is incomplete".to_owned(),
        Category::Syntax => "not valid JSON".to_owned(),
        Category::Io => error.to_string(),
        Category::Data => {
            let what = without_place(error);
            field(&what).or_else(|| value(&what)).unwrap_or(what)
        }
    }
}

fn field(what: &str) -> Option<String> {
    if what.starts_with("data did not match any variant of untagged enum") {
        return Some("none of the forms that are expected".to_owned());
    }
    let missing = || Some(format!("field {} is missing", what.strip_prefix("missing field ")?));
    let doubled = || Some(format!("field {} is there twice", what.strip_prefix("duplicate field ")?));
    missing().or_else(doubled)
}

fn value(what: &str) -> Option<String> {
    let found =
        ["invalid type: ", "invalid value: ", "unknown variant "].iter().find_map(|kind| what.strip_prefix(kind));
    let (found, expected) = match found {
        Some(found) => found.rsplit_once(", expected ")?,
        None => what.strip_prefix("invalid length ")?.split_once(", expected ")?,
    };
    let found = match found {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        number if number.parse::<u64>().is_ok() => format!("a list of {number}"),
        other => other.to_owned(),
    };
    Some(format!("{found} where {} is expected", kind(expected)))
}

fn kind(expected: &str) -> &str {
    match expected {
        "a map" => "an object",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "u8" | "u16" | "u32" | "u64" | "usize" | "nonzero u32" => "a whole number from 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        other if other.starts_with("struct ") || other.starts_with("internally tagged enum ") => "an object",
        other if other.starts_with("tuple ") => "a list",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::{in_file, in_line};
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Told {
        name: String,
        n: Option<u32>,
        word: Option<Word>,
        either: Option<Either>,
        parts: Option<Vec<bool>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        Yes,
        No,
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only read")]
    enum Either {
        Text(String),
        Number(u32),
    }

    #[test]
    fn errors_name_no_type_and_no_line_within_a_line() {
        for (line, said) in [
            ("", "the JSON is incomplete"),
            ("nonsense", "not valid JSON at column 2"),
            ("{\"name\": \"a\"} more", "not valid JSON at column 15"),
            ("{\"name\": \"a", "the JSON is incomplete at column 11"),
            ("[]", "a list of 0 where an object is expected at column 2"),
            ("7", "integer `7` where an object is expected at column 1"),
            ("{}", "field `name` is missing at column 2"),
            ("{\"name\": {}}", "an object where a string is expected at column 9"),
            ("{\"name\": \"a\", \"name\": \"a\"}", "field `name` is there twice at column 20"),
            ("{\"name\": \"a\", \"n\": -1}", "integer `-1` where a whole number from 0 is expected at column 21"),
            ("{\"name\": \"a\", \"word\": \"so\"}", "`so` where `yes` or `no` is expected at column 26"),
            ("{\"name\": \"a\", \"either\": []}", "none of the forms that are expected at column 27"),
            ("{\"name\": \"a\", \"parts\": [1]}", "integer `1` where true or false is expected at column 25"),
        ] {
            assert_eq!(in_line(&serde_json::from_str::<Told>(line).expect_err("wrong")), said, "{line}");
        }
        let file = "{\n  \"name\": 1\n}";
        let error = serde_json::from_str::<Told>(file).expect_err("wrong");
        assert_eq!(in_file(&error), "integer `1` where a string is expected at line 2, column 11");
    }
}
