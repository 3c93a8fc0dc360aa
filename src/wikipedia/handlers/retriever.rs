//! The best documents for queries, in the shapes of three retrievers: Search-R1's, `FlashRAG`'s and `ColBERT`'s, which `DSPy` asks.

use super::{Answer, CorpusService, MAX_QUERY, Service};
use crate::net::server::reply;
use crate::wikipedia::corpus::{Hit, Passage};
use crate::wikipedia::{Corpus, CorpusError};
use axum::body::Body;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use url::form_urlencoded;

/// Queries in one request.
const MAX_QUERIES: usize = 32;
/// The most documents of a query.
pub(crate) const MAX_TOP_K: usize = 100;
/// The texts of an answer, in bytes.
const MAX_ANSWER: usize = 16 << 20;

/// A document that is found for a query.
pub(crate) struct Document {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) score: f64,
}

/// Who finds documents.
pub(crate) trait Retriever: Sync {
    /// The documents of each query, the best first and `most` at most; none if their texts are too long together.
    fn best(
        &self,
        queries: Vec<String>,
        most: usize,
    ) -> impl Future<Output = Result<Option<Vec<Vec<Document>>>, Answer>> + Send;
}

impl Retriever for CorpusService {
    async fn best(&self, queries: Vec<String>, most: usize) -> Result<Option<Vec<Vec<Document>>>, Answer> {
        let found = self.search(move |corpus| {
            let mut room = MAX_ANSWER;
            queries.iter().map(|query| documents(corpus, query, most, &mut room)).collect::<Result<Option<_>, _>>()
        });
        Ok(found.await?)
    }
}

impl Document {
    /// As in the corpora that Search-R1's and `FlashRAG`'s agents were trained with: the first line is the title in quotes.
    fn shown(&self) -> Value {
        json!({ "id": self.id, "contents": format!("\"{}\"\n{}", self.title, self.text) })
    }
}

/// Search-R1's request.
#[derive(Deserialize)]
struct Batch {
    queries: Vec<String>,
    #[serde(default)]
    topk: Option<usize>,
    #[serde(default)]
    return_scores: Option<bool>,
}

/// `POST /retrieve`.
pub(crate) async fn retrieve(service: &impl Retriever, body: &[u8]) -> Result<Answer, Answer> {
    let shape = "{\"queries\": [str], \"topk\": 3, \"return_scores\": true}";
    let Batch { queries, topk, return_scores } = read(body, shape)?;
    let shown = |document: &Document| match return_scores {
        Some(true) => json!({ "document": document.shown(), "score": document.score }),
        _ => document.shown(),
    };
    let found = documents_of_queries(service, queries, ("topk", topk, 3)).await?;
    let result: Vec<Vec<Value>> = found.iter().map(|documents| documents.iter().map(shown).collect()).collect();
    Ok(Answer::json(&json!({ "result": result })))
}

/// `FlashRAG`'s requests, of one query and of several.
#[derive(Deserialize)]
struct Ranked<Q> {
    query: Q,
    #[serde(default)]
    top_n: Option<usize>,
    #[serde(default)]
    return_score: bool,
}

/// `POST /search`: the documents or, with `return_score`, these and their scores.
pub(crate) async fn search_one(service: Service, body: Body) -> Result<Answer, Answer> {
    let shape = "{\"query\": str, \"top_n\": 10, \"return_score\": false}";
    let Ranked::<String> { query, top_n, return_score } = read(&reply::body(body).await?, shape)?;
    let asked = Ranked { query: vec![query], top_n, return_score };
    ranked(&service.0, asked, |mut lists| lists.pop().unwrap_or_default()).await
}

/// `POST /batch_search`: a list for each query.
pub(crate) async fn search_many(service: Service, body: Body) -> Result<Answer, Answer> {
    let shape = "{\"query\": [str], \"top_n\": 10, \"return_score\": false}";
    ranked(&service.0, read(&reply::body(body).await?, shape)?, Value::Array).await
}

async fn ranked(
    service: &CorpusService,
    Ranked { query, top_n, return_score }: Ranked<Vec<String>>,
    joined: impl Fn(Vec<Value>) -> Value,
) -> Result<Answer, Answer> {
    let found = documents_of_queries(service, query, ("top_n", top_n, 10)).await?;
    let lists = |value: fn(&Document) -> Value| {
        joined(found.iter().map(|documents| documents.iter().map(value).collect()).collect())
    };
    let documents = lists(Document::shown);
    let scores = || lists(|document| json!(document.score));
    Ok(Answer::json(&if return_score { json!([documents, scores()]) } else { documents }))
}

/// `ColBERT`'s request, as parameters or as a body.
#[derive(Deserialize)]
struct Question {
    query: String,
    #[serde(default)]
    k: Option<usize>,
}

/// `GET /retrieve?query=…&k=…`, and `/api/search` with the same parameters.
pub(crate) async fn top_k_of_parameters(service: &impl Retriever, parameters: Option<&str>) -> Result<Answer, Answer> {
    let parameters = form_urlencoded::parse(parameters.unwrap_or_default().as_bytes());
    let mut asked = json!({});
    for (name, value) in parameters {
        asked[&*name] =
            if name == "k" { value.parse::<u64>().map_or_else(|_| json!(value), Value::from) } else { json!(value) };
    }
    top_k(service, serde_json::from_value(asked).map_err(|error| expected("?query=TEXT&k=10", &error))?).await
}

/// `POST /api/search`.
pub(crate) async fn top_k_of_body(service: Service, body: Body) -> Result<Answer, Answer> {
    top_k(&service.0, read(&reply::body(body).await?, "{\"query\": str, \"k\": 10}")?).await
}

async fn top_k(service: &impl Retriever, Question { query, k }: Question) -> Result<Answer, Answer> {
    let found = documents_of_queries(service, vec![query], ("k", k, 10)).await?;
    let found = found.into_iter().next().unwrap_or_default();
    let best = found.first().map_or(0.0, |document| document.score);
    let weights: Vec<f64> = found.iter().map(|document| (document.score - best).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let documents = (1..).zip(&found).zip(weights).map(|((rank, document), weight)| {
        let text = format!("{} | {}", document.title, document.text);
        // DSPy reads `long_text` of answers to POST, and makes it from `text` of others.
        json!({ "text": text, "long_text": text, "pid": document.id, "rank": rank, "score": document.score, "prob": weight / sum })
    });
    Ok(Answer::json(&json!({ "topk": documents.collect::<Vec<_>>() })))
}

fn read<T: DeserializeOwned>(body: &[u8], shape: &str) -> Result<T, Answer> {
    serde_json::from_slice(body).map_err(|error| expected(shape, &error))
}

fn expected(shape: &str, error: &serde_json::Error) -> Answer {
    Answer::text(422, &format!("expected {shape}: {error}"))
}

/// The documents of each query, or why there are none. The parameter `name` asks for their number; 0 stands for the `usual` one.
async fn documents_of_queries(
    service: &impl Retriever,
    queries: Vec<String>,
    (name, asked, usual): (&str, Option<usize>, usize),
) -> Result<Vec<Vec<Document>>, Answer> {
    let refused = |sentence: String| Err(Answer::text(422, &sentence));
    if queries.len() > MAX_QUERIES {
        return refused(format!("a request has at most {MAX_QUERIES} queries"));
    }
    if queries.iter().any(|query| query.len() > MAX_QUERY) {
        return refused(format!("a query has at most {MAX_QUERY} bytes"));
    }
    let most = asked.filter(|&most| most > 0).unwrap_or(usual);
    if most > MAX_TOP_K {
        return refused(format!("`{name}` is at most {MAX_TOP_K}"));
    }
    match service.best(queries, most).await? {
        Some(found) => Ok(found),
        None => refused("the documents are larger than 16 MiB; ask for fewer".to_owned()),
    }
}

/// The documents of a query; none if their texts do not fit into the `room` that is left.
fn documents(
    corpus: &Corpus,
    query: &str,
    most: usize,
    room: &mut usize,
) -> Result<Option<Vec<Document>>, CorpusError> {
    let mut found = Vec::new();
    let mut add = |id: String, title: &str, text: String, score: f64| {
        *room = room.checked_sub(title.len() + text.len())?;
        found.push(Document { id, title: title.to_owned(), text, score });
        Some(())
    };
    let mut fits = Some(());
    if corpus.has_passages() {
        for Passage { number, block, score } in corpus.passages(query, most)? {
            let page = corpus.page(number)?;
            fits = fits.and_then(|()| add(format!("{number}.{block}"), &page.title, page.blocks[block].clone(), score));
        }
    } else {
        for Hit { number, score } in corpus.similar(query, most)? {
            let page = corpus.page(number)?;
            fits = fits.and_then(|()| add(number.to_string(), &page.title, page.blocks.join("\n"), f64::from(score)));
        }
    }
    Ok(fits.map(|()| found))
}
