//! The data of the page: what it is about, the list of questions, and the episodes in chunks.

use super::Live;
use super::episode::{question_episodes, safe};
use super::rows::QuestionRow;
use crate::graded::{Episode, Results};
use crate::label::AnnotationClass;
use crate::run::RunError;
use crate::score::FailureClass;
use crate::types::sha256_hex;
use crate::types::text::shell_word;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};
use std::io::Write as _;

/// Questions of a chunk. All variants of a question are together, so that compression finds the pages that several read.
const CHUNK: usize = 64;

/// The episodes that the page has, and where each question's are.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    /// Each as base64 of gzip.
    pub(super) texts: Vec<String>,
    /// The chunk of each question; none for those that were left out.
    places: Vec<Option<usize>>,
}

impl Chunks {
    /// Reads and packs the episodes of these questions in this order, as far as they fit into `most` bytes.
    pub(super) fn of(
        results: &Results,
        rows: &[QuestionRow<'_>],
        order: &[usize],
        most: u64,
    ) -> Result<Self, RunError> {
        let mut chunks = Self { texts: Vec::new(), places: vec![None; rows.len()] };
        let mut size = 0;
        for part in order.chunks(CHUNK) {
            let mut questions = Map::new();
            for &at in part {
                let read = question_episodes(results, &rows[at])?;
                questions.insert(at.to_string(), serde_json::to_value(read).map_err(RunError::unwritable)?);
            }
            let text = packed(&Value::Object(questions))?;
            size += text.len() as u64;
            if size > most {
                break;
            }
            for &at in part {
                chunks.places[at] = Some(chunks.texts.len());
            }
            chunks.texts.push(text);
        }
        Ok(chunks)
    }

    /// Questions whose episodes are not in the page.
    pub(super) fn left_out(&self) -> usize {
        self.places.iter().filter(|place| place.is_none()).count()
    }
}

/// A value as base64 of gzip of JSON.
fn packed(value: &Value) -> Result<String, RunError> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let written = packed.write_all(value.to_string().as_bytes()).and_then(|()| packed.finish());
    Ok(STANDARD.encode(written.map_err(RunError::from)?))
}

/// The list of questions, packed, and its digest.
pub(super) fn question_table(
    results: &Results,
    rows: &[QuestionRow<'_>],
    chunks: &Chunks,
) -> Result<(String, String), RunError> {
    let column = |of: &dyn Fn(&QuestionRow<'_>) -> Value| rows.iter().map(of).collect::<Vec<Value>>();
    let variant = |(at, _): (usize, _)| {
        let first = |of: &dyn Fn(&Episode) -> Value| column(&|row| row.first(at).map_or(Value::Null, of));
        json!({
            "right": column(&|row| json!(row.right(at).map(u8::from))),
            "em": column(&|row| json!(row.em(at))),
            "steps": column(&|row| json!(row.mean(at, 2))),
            "class": column(&|row| json!(row.class(at).and_then(place_of))),
            "outcome": first(&|episode| json!(episode.outcome.map(crate::types::Outcome::name))),
            "answer": first(&|episode| json!(episode.answer.as_deref().map(safe))),
        })
    };
    let value = json!({
        "id": column(&|row| json!(row.id)),
        "question": column(&|row| json!(safe(row.question))),
        "gold": column(&|row| json!(row.gold.map(safe))),
        "type": column(&|row| json!(row.kind.map(safe))),
        "dataset": column(&|row| json!(row.group)),
        "chunk": chunks.places,
        "hard": column(&|row| json!(row.wrong())),
        "variants": results.variants().enumerate().map(variant).collect::<Vec<_>>(),
    });
    let keys = value.to_string();
    Ok((packed(&value)?, sha256_hex([keys.as_bytes()])))
}

fn place_of(class: FailureClass) -> Option<usize> {
    FailureClass::ALL.iter().position(|known| *known == class)
}

/// What the page is about.
pub(super) fn metadata(results: &Results, digest: &str, repeats: usize, chunks: &Chunks, live: Option<&Live>) -> Value {
    let variants = results.groups.iter().enumerate().flat_map(|(group, members)| {
        members.sources.iter().zip(&members.names).map(move |(source, name)| {
            json!({
                "name": safe(name),
                "run": safe(&source.run.path.display().to_string()),
                "target": shell_word(&source.typed()),
                "variant": source.run.variant.as_deref().map(safe),
                "model": source.origin.as_ref().map(|origin| safe(&origin.variant.model)),
                "dataset": group,
            })
        })
    });
    let classes = FailureClass::ALL.map(FailureClass::name);
    json!({
        "v": 1,
        "report": digest,
        "variants": variants.collect::<Vec<_>>(),
        "datasets": results.groups.iter().map(|group| safe(group.dataset())).collect::<Vec<_>>(),
        "classes": classes,
        "judgements": AnnotationClass::all().map(AnnotationClass::name).collect::<Vec<_>>(),
        "repeats": repeats,
        "chunk": CHUNK,
        "left_out": chunks.left_out(),
        "live": live,
    })
}
