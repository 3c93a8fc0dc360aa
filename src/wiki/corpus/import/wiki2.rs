//! The paragraphs that 2WikiMultiHopQA was made from, `para_with_hyperlink.jsonl`: the first of each page, in sentences.

use super::lines::Parsed;
use crate::types::json_error;
use crate::wiki::corpus::record::{Article, Block, Record, listed_entries, page_number};
use serde::Deserialize;

#[derive(Deserialize)]
struct TwoWikiLine {
    #[serde(default, deserialize_with = "page_number")]
    id: Option<u64>,
    title: String,
    sentences: Vec<String>,
}

pub(super) fn parse_two_wiki(line: &[u8]) -> Parsed {
    let TwoWikiLine { id, title, sentences } =
        serde_json::from_slice(line).map_err(|error| json_error::in_line(&error))?;
    if title.trim().is_empty() {
        return Err("`title` is empty".to_owned());
    }
    let blocks =
        vec![if Block::has_spaces(&sentences) { Block::Sentences(sentences) } else { Block::spaced(sentences) }];
    let entries = listed_entries(&blocks);
    Ok(vec![Record::Article(Article { title, pageid: id, blocks, entries, ..Article::default() })])
}

#[cfg(test)]
mod tests {
    use super::parse_two_wiki;
    use crate::wiki::corpus::import::tests::shown;

    #[test]
    fn sentences_keep_their_numbers_and_get_spaces_where_none_has_one() {
        let line = r#"{"id": "7", "title": "A", "sentences": ["One.", "Two.", "", "Four."], "mentions": [{"id": 0}]}"#;
        let article = r#"{"title":"A","id":7,"blocks":[["One."," Two.",""," Four."]],"redirects":[]}"#;
        assert_eq!(shown(parse_two_wiki(line.as_bytes())), article);
        let spaced = r#"{"id": 7, "title": "A", "sentences": ["One.", " Two?", "\" three."]}"#;
        let article = r#"{"title":"A","id":7,"blocks":[["One."," Two?","\" three."]],"redirects":[]}"#;
        assert_eq!(shown(parse_two_wiki(spaced.as_bytes())), article);
        assert_eq!(shown(parse_two_wiki(br#"{"title": "", "sentences": []}"#)), "`title` is empty");
    }
}
