//! `/w/api.php`: the Action API.

use super::params::{MOST_PAGES, Params};
use super::{pages, parse, search};
use crate::serve::guard::Base;
use crate::serve::reply::{self, Fault};
use crate::serve::shelf::Shelf;
use crate::wiki::CorpusError;
use axum::Extension;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::HeaderValue;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Map, Value, json};

/// Why a request has no result.
pub(super) enum ApiError {
    /// In the API's own words, which clients read.
    Said {
        code: &'static str,
        info: String,
    },
    Fault(Fault),
}

impl From<Fault> for ApiError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<CorpusError> for ApiError {
    fn from(error: CorpusError) -> Self {
        Self::Fault(error.into())
    }
}

impl ApiError {
    pub(super) fn said(code: &'static str, info: impl Into<String>) -> Self {
        Self::Said { code, info: info.into() }
    }

    /// A value that the corpus, or this server, does not have.
    pub(super) fn bad_value(name: &str, value: &str) -> Self {
        let value = crate::types::text::printable(value, 60);
        Self::said("badvalue", format!("Unrecognized value for parameter \"{name}\": {value}."))
    }
}

pub(super) async fn asked(shelf: State<Shelf>, base: Extension<Base>, RawQuery(query): RawQuery) -> Response {
    answer(&shelf, &base.0, &Params::of(query.as_deref(), &[])).await
}

pub(super) async fn posted(
    shelf: State<Shelf>,
    base: Extension<Base>,
    RawQuery(query): RawQuery,
    body: Body,
) -> Response {
    match reply::body(body).await {
        Ok(form) => answer(&shelf, &base.0, &Params::of(query.as_deref(), &form)).await,
        Err(refusal) => refusal.into_response(),
    }
}

async fn answer(shelf: &Shelf, base: &Base, params: &Params) -> Response {
    let first_form = params.get("formatversion").is_none_or(|version| version == "1");
    let result = match act(shelf, base, params).await {
        Ok(result) => result,
        Err(ApiError::Fault(fault)) => return fault.into_response(),
        Err(ApiError::Said { code, info }) => {
            let mut answer = reply::json(&json!({ "error": { "code": code, "info": info } }));
            answer.headers_mut().insert("mediawiki-api-error", HeaderValue::from_static(code));
            return answer;
        }
    };
    reply::json(&if first_form { in_first_form(result) } else { result })
}

async fn act(shelf: &Shelf, base: &Base, params: &Params) -> Result<Value, ApiError> {
    match params.get("format") {
        None | Some("json" | "none") => {}
        Some(other) => return Err(ApiError::bad_value("format", other)),
    }
    match params.get("action") {
        Some("query") => query(shelf, base, params).await,
        Some("parse") => parse::parse(shelf, params),
        Some("opensearch") => search::open_search(shelf, base, params),
        Some(other) => Err(ApiError::bad_value("action", other)),
        None => Err(ApiError::said("missingparam", "The \"action\" parameter must be set.")),
    }
}

async fn query(shelf: &Shelf, base: &Base, params: &Params) -> Result<Value, ApiError> {
    if let Some(generator) = params.get("generator") {
        return Err(ApiError::bad_value("generator", generator));
    }
    let mut answer = json!({ "batchcomplete": true });
    let mut query = Map::new();
    for meta in params.list("meta") {
        match meta {
            "siteinfo" => site_info(shelf, base, params, &mut query)?,
            other => return Err(ApiError::bad_value("meta", other)),
        }
    }
    if params.list("titles").len().max(params.list("pageids").len()) > MOST_PAGES {
        return Err(ApiError::said("toomanyvalues", format!("A request names at most {MOST_PAGES} pages.")));
    }
    pages::query(shelf, base, params, &mut query)?;
    for list in params.list("list") {
        match list {
            "search" => {
                if let Some(next) = search::search(shelf, params, &mut query).await? {
                    answer["continue"] = json!({ "sroffset": next, "continue": "-||" });
                }
            }
            "prefixsearch" => search::prefix_search(shelf, params, &mut query)?,
            other => return Err(ApiError::bad_value("list", other)),
        }
    }
    if !query.is_empty() {
        answer["query"] = Value::Object(query);
    }
    Ok(answer)
}

fn site_info(shelf: &Shelf, base: &Base, params: &Params, query: &mut Map<String, Value>) -> Result<(), ApiError> {
    let language = shelf.language();
    for part in params.list_or("siprop", &["general"]) {
        let value = match part {
            "general" => json!({
                "mainpage": "Main Page", "base": format!("{}/wiki/Main_Page", base.0), "sitename": shelf.name(),
                "generator": concat!("wikitrail ", env!("CARGO_PKG_VERSION")), "case": "first-letter", "lang": language,
                "server": base.0, "servername": base.0.trim_start_matches("http://"), "articlepath": "/wiki/$1",
                "scriptpath": "/w", "script": "/w/index.php", "wikiid": shelf.corpus.id(), "rtl": false, "readonly": true,
            }),
            "namespaces" => json!({ "0": { "id": 0, "case": "first-letter", "name": "", "content": true } }),
            "statistics" => json!({ "pages": shelf.corpus.count(), "articles": shelf.corpus.count() }),
            "languages" => json!([{ "code": language, "name": language }]),
            other => return Err(ApiError::bad_value("siprop", other)),
        };
        query.insert(part.to_owned(), value);
    }
    Ok(())
}

/// The answer as the format's first version has it, which clients get who ask for none: pages by number, texts as `*`,
/// switches that are empty texts or not there.
fn in_first_form(mut answer: Value) -> Value {
    if let Some(pages) = answer.pointer_mut("/query/pages") {
        *pages = by_number(pages.take());
    }
    for language in answer.pointer_mut("/query/languages").and_then(Value::as_array_mut).into_iter().flatten() {
        starred(language, "name");
    }
    if let Some(text) = answer.pointer_mut("/parse/text") {
        *text = json!({ "*": text.take() });
    }
    if let Some(properties) = answer.pointer_mut("/parse/properties") {
        let list = properties.as_object().into_iter().flatten();
        *properties = list.map(|(name, value)| json!({ "name": name, "*": value })).collect();
    }
    switched(answer)
}

fn by_number(pages: Value) -> Value {
    let Value::Array(pages) = pages else { return pages };
    let mut missing = 0;
    let numbered = pages.into_iter().map(|mut page| {
        for revision in page.get_mut("revisions").and_then(Value::as_array_mut).into_iter().flatten() {
            starred(revision, "content");
        }
        let number = page["pageid"].as_u64().map(|number| number.to_string());
        let number = number.filter(|_| page.get("missing").is_none());
        let number = number.unwrap_or_else(|| {
            missing -= 1;
            format!("{missing}")
        });
        (number, page)
    });
    Value::Object(numbered.collect())
}

fn starred(object: &mut Value, name: &str) {
    if let Some(object) = object.as_object_mut()
        && let Some(text) = object.remove(name)
    {
        object.insert("*".to_owned(), text);
    }
}

fn switched(value: Value) -> Value {
    match value {
        Value::Bool(true) => Value::from(""),
        Value::Array(list) => list.into_iter().map(switched).collect(),
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(_, value)| *value != Value::Bool(false));
            Value::Object(kept.map(|(name, value)| (name, switched(value))).collect())
        }
        other => other,
    }
}
