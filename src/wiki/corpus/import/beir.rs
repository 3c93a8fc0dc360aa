//! A corpus of BEIR: `{"_id", "title", "text", "metadata"}` on each line of `corpus.jsonl`, which a folder of BEIR has.

use super::lines::{self, Parsed};
use super::{ImportError, Records, id, passage};
use crate::types::json_error;
use serde::Deserialize;
use std::path::Path;

/// The file of a folder that has the passages.
pub(super) const FILE: &str = "corpus.jsonl";

pub(super) fn open(path: &Path) -> Result<Records, ImportError> {
    if path.is_dir() { lines::open_member(path, &path.join(FILE), parse) } else { lines::open(path, parse) }
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "_id", deserialize_with = "id")]
    id: String,
    title: String,
    text: String,
}

fn parse(line: &[u8]) -> Parsed {
    let Line { id, title, text } = serde_json::from_slice(line).map_err(|error| json_error::in_line(&error))?;
    passage(&title, id, &text)
}
