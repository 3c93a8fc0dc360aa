//! The best documents for queries, in the shapes of three retrievers: Search-R1's, `FlashRAG`'s and `ColBERT`'s, which `DSPy` asks.

use super::{Answer, CorpusService, MAX_QUERY, Service};
use crate::net::server::reply;
use crate::wikipedia::corpus::Hit;
use crate::wikipedia::{Corpus, CorpusError, FoundPassage};
use axum::body::Body;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use url::form_urlencoded;

const MAX_QUERIES: usize = 32;
pub(crate) const MAX_TOP_K: usize = 100;
/// The texts of an answer, in bytes.
const MAX_ANSWER: usize = 16 << 20;

pub(crate) trait Retriever: Sync {
    /// The documents of each query, the best first and `most` at most.
    fn best(
        &self,
        queries: Vec<String>,
        most: usize,
    ) -> impl Future<Output = Result<Vec<Vec<FoundPassage>>, Answer>> + Send;
}

impl Retriever for CorpusService {
    async fn best(&self, queries: Vec<String>, most: usize) -> Result<Vec<Vec<FoundPassage>>, Answer> {
        let found = self.search(move |corpus| {
            let mut room = MAX_ANSWER;
            queries.iter().map(|query| documents(corpus, query, most, &mut room)).collect::<Result<Option<_>, _>>()
        });
        found.await?.ok_or_else(|| Answer::text(422, "the documents are larger than 16 MiB; ask for fewer"))
    }
}

/// A document as in the corpora that Search-R1's and `FlashRAG`'s agents were trained with: the first line is the title in quotes.
fn document_json(FoundPassage { id, title, text, .. }: &FoundPassage) -> Value {
    json!({ "id": id, "contents": format!("\"{title}\"\n{text}") })
}

fn score(document: &FoundPassage) -> f64 {
    document.score.unwrap_or_default()
}

/// Search-R1's request.
#[derive(Deserialize)]
struct Batch {
    queries: Vec<String>,
    topk: Option<usize>,
    return_scores: Option<bool>,
}

/// `POST /retrieve`.
pub(crate) async fn retrieve(service: &impl Retriever, body: &[u8]) -> Result<Answer, Answer> {
    let shape = "{\"queries\": [str], \"topk\": 3, \"return_scores\": true}";
    let Batch { queries, topk, return_scores } = read(body, shape)?;
    let hit = |document: &FoundPassage| match return_scores {
        Some(true) => json!({ "document": document_json(document), "score": score(document) }),
        _ => document_json(document),
    };
    let found = documents_of_queries(service, queries, ("topk", topk, 3)).await?;
    let result: Vec<Vec<Value>> = found.iter().map(|documents| documents.iter().map(hit).collect()).collect();
    Ok(Answer::json(&json!({ "result": result })))
}

/// `FlashRAG`'s requests, of one query and of several.
#[derive(Deserialize)]
struct Ranked<Q> {
    query: Q,
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
    let lists = |value: fn(&FoundPassage) -> Value| {
        joined(found.iter().map(|documents| documents.iter().map(value).collect()).collect())
    };
    let documents = lists(document_json);
    let scores = || lists(|document| json!(score(document)));
    Ok(Answer::json(&if return_score { json!([documents, scores()]) } else { documents }))
}

/// `ColBERT`'s request, as parameters or as a body.
#[derive(Deserialize)]
struct Question {
    query: String,
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
    let best = found.first().map_or(0.0, score);
    let weights: Vec<f64> = found.iter().map(|document| (score(document) - best).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let documents = (1..).zip(&found).zip(weights).map(|((rank, document), weight)| {
        let text = format!("{} | {}", document.title, document.text);
        // DSPy reads `long_text` of answers to POST, and makes it from `text` of others.
        json!({ "text": text, "long_text": text, "pid": document.id, "rank": rank, "score": score(document), "prob": weight / sum })
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
) -> Result<Vec<Vec<FoundPassage>>, Answer> {
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
    service.best(queries, most).await
}

/// The documents of a query; none if their texts do not fit into the `room` that is left.
fn documents(
    corpus: &Corpus,
    query: &str,
    most: usize,
    room: &mut usize,
) -> Result<Option<Vec<FoundPassage>>, CorpusError> {
    let found: Vec<FoundPassage> = if corpus.has_passages() {
        corpus.passages(query, most)?.into_iter().map(|hit| corpus.passage(hit)).collect::<Result<_, _>>()?
    } else {
        let whole = |Hit { number, score }| {
            let page = corpus.page(number)?;
            let (title, text, score) = (page.title.clone(), page.blocks.join("\n"), Some(f64::from(score)));
            Ok(FoundPassage { id: number.to_string(), title, text, score, sentences: None })
        };
        corpus.similar(query, most)?.into_iter().map(whole).collect::<Result<_, CorpusError>>()?
    };
    let bytes = found.iter().map(|document| document.title.len() + document.text.len()).sum();
    let left = room.checked_sub(bytes);
    *room = left.unwrap_or_default();
    Ok(left.map(|_| found))
}
