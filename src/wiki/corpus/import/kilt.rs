//! KILT's knowledge source: whole pages of August 2019, one on each line, as lists of paragraphs. `Section::::` marks a heading,
//! `BULLET::::` an item of a list.

use super::lines::Parsed;
use crate::types::json_error;
use crate::wiki::corpus::record::{Article, Block, Record, listed_entries, number, page_number};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct KiltLine {
    wikipedia_title: String,
    #[serde(default, deserialize_with = "page_number")]
    wikipedia_id: Option<u64>,
    text: Vec<String>,
    #[serde(default)]
    history: Value,
}

/// A page has what `--compat fixed` shows of one: its paragraphs and lists without headings, a list as one block with an item on
/// each line.
pub(super) fn parse_kilt(line: &[u8]) -> Parsed {
    let KiltLine { wikipedia_title: title, wikipedia_id, text, history } =
        serde_json::from_slice(line).map_err(|error| json_error::in_line(&error))?;
    if title.trim().is_empty() {
        return Err("`wikipedia_title` is empty".to_owned());
    }
    let first = usize::from(text.first().is_some_and(|first| first.trim() == title.trim()));
    let (mut blocks, mut in_list) = (Vec::<String>::new(), false);
    for paragraph in text.iter().skip(first).map(|text| text.trim()).filter(|text| !text.is_empty()) {
        let item = paragraph.strip_prefix("BULLET::::").map(without_mark);
        match (item, blocks.last_mut()) {
            (Some(item), Some(list)) if in_list => {
                list.push('\n');
                list.push_str(item);
            }
            (Some(text), _) => blocks.push(text.to_owned()),
            (None, _) if paragraph.starts_with("Section::::") => {}
            (None, _) => blocks.push(paragraph.to_owned()),
        }
        in_list = item.is_some();
    }
    let blocks: Vec<Block> = blocks.into_iter().map(Block::Text).collect();
    let entries = listed_entries(&blocks);
    let (revid, timestamp) = (history.get("revid").and_then(number), history.get("timestamp").and_then(Value::as_str));
    let timestamp = timestamp.map(str::to_owned);
    Ok(vec![Record::Article(Article {
        title,
        pageid: wikipedia_id,
        revid,
        timestamp,
        blocks,
        entries,
        redirects: Vec::new(),
    })])
}

/// An item without its `- ` or `1. `.
fn without_mark(item: &str) -> &str {
    let unnumbered = item.trim_start_matches(|c: char| c.is_ascii_digit());
    let mark = if unnumbered.len() < item.len() { ". " } else { "- " };
    unnumbered.strip_prefix(mark).unwrap_or(item).trim_start()
}

#[cfg(test)]
mod tests {
    use super::parse_kilt;
    use crate::wiki::corpus::import::tests::shown;

    #[test]
    fn a_page_has_its_paragraphs_and_lists_without_marks() {
        let line = serde_json::json!({
            "_id": "12", "wikipedia_id": "12", "wikipedia_title": "Lists",
            "text": [
                "Lists\n", "A first paragraph.\n", "Section::::History.\n", "BULLET::::- one\n", "BULLET::::2. two\n",
                "Section::::History.:Later.\n", "BULLET::::- 1984\n", "\n", "Lists\n", "BULLET::::x\n",
            ],
            "anchors": [{"text": "one"}], "categories": "A,B",
            "history": {"pageid": 12, "revid": 99, "timestamp": "2019-08-01T00:00:00Z", "pre_dump": true},
        });
        let article = r#"{"title":"Lists","id":12,"revid":99,"timestamp":"2019-08-01T00:00:00Z","blocks":["A first paragraph.","one\ntwo","1984","Lists","x"],"redirects":[]}"#;
        assert_eq!(shown(parse_kilt(line.to_string().as_bytes())), article);
        let bare = r#"{"wikipedia_title": "B", "wikipedia_id": 3, "text": ["B", "b"], "history": "gone"}"#;
        assert_eq!(shown(parse_kilt(bare.as_bytes())), r#"{"title":"B","id":3,"blocks":["b"],"redirects":[]}"#);
        assert_eq!(shown(parse_kilt(br#"{"wikipedia_title": " ", "text": []}"#)), "`wikipedia_title` is empty");
        assert_eq!(shown(parse_kilt(br#"{"wikipedia_title": "C"}"#)), "field `text` is missing at column 24");
    }
}
