//! Search-R1's retriever: `POST /retrieve` with queries gives the best documents of each.

use super::reply;
use super::shelf::{LONGEST_QUERY, Shelf};
use crate::wiki::corpus::{Hit, Passage};
use crate::wiki::{Corpus, CorpusError};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde::Deserialize;
use serde_json::{Value, json};

/// Queries in one request.
const QUERIES: usize = 32;
/// Documents of a query, if none or 0 are asked for, and at most.
const USUAL: usize = 3;
const MOST: usize = 100;
/// The texts of an answer, in bytes.
const LONGEST: usize = 16 << 20;

#[derive(Deserialize)]
struct Asked {
    queries: Vec<String>,
    #[serde(default)]
    topk: Option<usize>,
    #[serde(default)]
    return_scores: Option<bool>,
}

impl Asked {
    fn read(body: &[u8]) -> Result<Self, String> {
        let asked: Self = serde_json::from_slice(body).map_err(|error| {
            format!("a request is {{\"queries\": [str], \"topk\": 3, \"return_scores\": true}}: {error}")
        })?;
        if asked.queries.len() > QUERIES {
            return Err(format!("a request has at most {QUERIES} queries"));
        }
        if asked.queries.iter().any(|query| query.len() > LONGEST_QUERY) {
            return Err(format!("a query has at most {LONGEST_QUERY} bytes"));
        }
        if asked.topk.is_some_and(|topk| topk > MOST) {
            return Err(format!("`topk` is at most {MOST}"));
        }
        Ok(asked)
    }
}

pub(super) fn routes() -> Router<Shelf> {
    Router::new().route("/retrieve", post(retrieve))
}

async fn retrieve(State(shelf): State<Shelf>, body: Body) -> Response {
    let body = match reply::body(body).await {
        Ok(body) => body,
        Err(refusal) => return refusal.into_response(),
    };
    let Asked { queries, topk, return_scores } = match Asked::read(&body) {
        Ok(asked) => asked,
        Err(wrong) => return reply::refused(StatusCode::UNPROCESSABLE_ENTITY, &wrong),
    };
    let topk = topk.filter(|&topk| topk > 0).unwrap_or(USUAL);
    let scores = return_scores.unwrap_or(false);
    let found = shelf.search(move |corpus| {
        let mut room = LONGEST;
        queries.iter().map(|query| documents(corpus, query, topk, scores, &mut room)).collect::<Result<Vec<_>, _>>()
    });
    match found.await {
        Ok(result) => match result.into_iter().collect::<Option<Vec<Value>>>() {
            Some(result) => reply::json(&json!({ "result": result })),
            None => {
                reply::refused(StatusCode::UNPROCESSABLE_ENTITY, "the documents are larger than 16 MiB; ask for fewer")
            }
        },
        Err(fault) => fault.into_response(),
    }
}

/// The documents of a query; none if their texts do not fit into the `room` that is left.
fn documents(
    corpus: &Corpus,
    query: &str,
    topk: usize,
    scores: bool,
    room: &mut usize,
) -> Result<Option<Value>, CorpusError> {
    let mut found = Vec::new();
    let mut add = |id: String, title: &str, text: &str, score: f64| {
        // The first line is the title in quotes, as in the corpora that such agents were trained with.
        let contents = format!("\"{title}\"\n{text}");
        *room = room.checked_sub(contents.len())?;
        let document = json!({ "id": id, "contents": contents });
        found.push(if scores { json!({ "document": document, "score": score }) } else { document });
        Some(())
    };
    let mut fits = Some(());
    if corpus.has_passages() {
        for Passage { number, block, score } in corpus.passages(query, topk)? {
            let page = corpus.page(number)?;
            fits = fits.and_then(|()| add(format!("{number}.{block}"), &page.title, &page.blocks[block], score));
        }
    } else {
        for Hit { number, score } in corpus.similar(query, topk)? {
            let page = corpus.page(number)?;
            fits = fits.and_then(|()| add(number.to_string(), &page.title, &page.blocks.join("\n"), f64::from(score)));
        }
    }
    Ok(fits.map(|()| Value::Array(found)))
}
