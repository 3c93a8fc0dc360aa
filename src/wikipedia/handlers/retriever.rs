//! Search-R1's retriever: queries give the best documents of each.

use super::{Answer, CorpusService, MAX_QUERY};
use crate::wikipedia::corpus::{Hit, Passage};
use crate::wikipedia::{Corpus, CorpusError};
use serde::Deserialize;
use serde_json::{Value, json};

/// Queries in one request.
const MAX_QUERIES: usize = 32;
/// Documents of a query, if none or 0 are asked for, and at most.
const DEFAULT_TOP_K: usize = 3;
const MAX_TOP_K: usize = 100;
/// The texts of an answer, in bytes.
const MAX_ANSWER: usize = 16 << 20;

#[derive(Deserialize)]
struct Request {
    queries: Vec<String>,
    #[serde(default)]
    topk: Option<usize>,
    #[serde(default)]
    return_scores: Option<bool>,
}

impl Request {
    fn read(body: &[u8]) -> Result<Self, String> {
        let request: Self = serde_json::from_slice(body).map_err(|error| {
            format!("a request is {{\"queries\": [str], \"topk\": 3, \"return_scores\": true}}: {error}")
        })?;
        if request.queries.len() > MAX_QUERIES {
            return Err(format!("a request has at most {MAX_QUERIES} queries"));
        }
        if request.queries.iter().any(|query| query.len() > MAX_QUERY) {
            return Err(format!("a query has at most {MAX_QUERY} bytes"));
        }
        if request.topk.is_some_and(|topk| topk > MAX_TOP_K) {
            return Err(format!("`topk` is at most {MAX_TOP_K}"));
        }
        Ok(request)
    }
}

pub(crate) async fn retrieve(service: &CorpusService, body: &[u8]) -> Answer {
    let Request { queries, topk, return_scores } = match Request::read(body) {
        Ok(request) => request,
        Err(wrong) => return Answer::text(422, &wrong),
    };
    let topk = topk.filter(|&topk| topk > 0).unwrap_or(DEFAULT_TOP_K);
    let scores = return_scores.unwrap_or(false);
    let found = service.search(move |corpus| {
        let mut room = MAX_ANSWER;
        queries.iter().map(|query| documents(corpus, query, topk, scores, &mut room)).collect::<Result<Vec<_>, _>>()
    });
    match found.await {
        Ok(result) => match result.into_iter().collect::<Option<Vec<Value>>>() {
            Some(result) => Answer::json(&json!({ "result": result })),
            None => Answer::text(422, "the documents are larger than 16 MiB; ask for fewer"),
        },
        Err(fault) => fault.into(),
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
