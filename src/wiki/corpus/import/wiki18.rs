//! Passages of Wikipedia of December 2018 as Search-R1 and `FlashRAG` publish them: `{"id": "0", "contents": "\"Title\"\ntext"}`.

use super::lines::Parsed;
use super::{deserialize_id, passage_record};
use crate::types::json_error;
use serde::Deserialize;

#[derive(Deserialize)]
struct Wiki18Line {
    #[serde(deserialize_with = "deserialize_id")]
    id: String,
    contents: String,
}

/// The first line is the title. Its quotation marks are the format's; others are the title's own.
pub(super) fn parse_wiki18(line: &[u8]) -> Parsed {
    let Wiki18Line { id, contents } = serde_json::from_slice(line).map_err(|error| json_error::in_line(&error))?;
    let (title, text) = contents.split_once('\n').ok_or("`contents` has no text below its title")?;
    let title = title.trim();
    let bare = title.strip_prefix('"').and_then(|title| title.strip_suffix('"')).unwrap_or(title);
    passage_record(bare, id, text)
}

#[cfg(test)]
mod tests {
    use super::parse_wiki18;
    use crate::wiki::corpus::import::tests::shown;

    #[test]
    fn titles_keep_the_quotation_marks_that_are_their_own() {
        let read = |contents: &str| {
            shown(parse_wiki18(serde_json::json!({"id": 7, "contents": contents}).to_string().as_bytes()))
        };
        assert_eq!(read("\"Ada\"\nShe wrote.\nMore."), "Ada #7 She wrote.\nMore.");
        assert_eq!(read("\"\"Heroes\" (song)\"\nA song."), "\"Heroes\" (song) #7 A song.");
        assert_eq!(read("\"\"Help!\"\"\nA song."), "\"Help!\" #7 A song.");
        assert_eq!(read("Ada\nno quotes"), "Ada #7 no quotes");
        assert_eq!(read("\"\nx"), "\" #7 x");
        assert_eq!(read("\"Ada\""), "`contents` has no text below its title");
        assert_eq!(read("\"\"\nx"), "the title is empty");
        assert_eq!(
            shown(parse_wiki18(b"{\"id\": [], \"contents\": \"a\\nb\"}")),
            "an id is a string or a number at column 9"
        );
    }
}
