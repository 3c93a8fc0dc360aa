//! A corpus of BEIR: `{"_id", "title", "text", "metadata"}` on each line of `corpus.jsonl`, which a folder of BEIR has.

use super::lines::{self, Parsed};
use super::{ImportError, Records, deserialize_id, passage_record};
use crate::types::json_error;
use serde::Deserialize;
use std::path::Path;

/// The file of a folder that has the passages.
pub(super) const BEIR_FILE: &str = "corpus.jsonl";

pub(super) fn open_beir(path: &Path) -> Result<Records, ImportError> {
    if path.is_dir() {
        lines::open_member_lines(path, &path.join(BEIR_FILE), parse_beir)
    } else {
        lines::open_lines(path, parse_beir)
    }
}

#[derive(Deserialize)]
struct BeirLine {
    #[serde(rename = "_id", deserialize_with = "deserialize_id")]
    id: String,
    title: String,
    text: String,
}

fn parse_beir(line: &[u8]) -> Parsed {
    let BeirLine { id, title, text } = serde_json::from_slice(line).map_err(|error| json_error::in_line(&error))?;
    passage_record(&title, id, &text)
}
