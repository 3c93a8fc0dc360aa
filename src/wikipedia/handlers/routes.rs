//! What is served where, and the end of a request that reads its body.

use super::{Answer, CorpusService, Fault, Service, mediawiki, retriever, tools};
use crate::net::server::{Base, reply};
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, StatusCode};
#[cfg(feature = "mcp")]
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde_json::{Value, json};

/// A part of the server that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    MediaWiki,
    /// Search-R1's `/retrieve`, and what other agents ask their retrievers by.
    Retrieve,
    /// The tool, over plain HTTP.
    Tool,
    /// The tool, over the Model Context Protocol.
    #[cfg(feature = "mcp")]
    Mcp,
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let Self { status, content_type, headers, body } = self;
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = reply::typed(status, content_type, body);
        for (name, value) in headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        Answer::from(self).into_response()
    }
}

pub(crate) fn router(parts: &[Part], service: CorpusService) -> Router {
    let mut router = Router::new().route("/healthz", get(healthy)).route("/corpus.json", get(described));
    let mut served = vec!["/healthz", "/corpus.json"];
    if parts.contains(&Part::MediaWiki) {
        router = router.merge(mediawiki_routes());
        served.extend(["/w/api.php", "/w/index.php", "/wiki/TITLE", "/api/rest_v1/page/summary/TITLE"]);
        served.push("/w/rest.php/v1/search/page");
    }
    if parts.contains(&Part::Retrieve) {
        router = router.merge(retriever_routes());
        served.extend(["/retrieve", "/search", "/batch_search", "/api/search"]);
    }
    if parts.contains(&Part::Tool) {
        router = router.route("/tool", get(function_list)).route("/tool/{name}", post(tool));
        served.extend(["/tool", "/tool/NAME"]);
    }
    #[cfg(feature = "mcp")]
    if parts.contains(&Part::Mcp) {
        let tool = Router::new().route_service("/mcp", super::mcp::over_http(&service));
        router = router.merge(tool.layer(middleware::from_fn(super::batch::over_http)));
        served.push("/mcp");
    }
    let nothing = format!("there is nothing here; this server has {}", served.join(", "));
    let router = router.fallback(async move || reply::text(StatusCode::NOT_FOUND, &nothing));
    router.with_state(service)
}

fn mediawiki_routes() -> Router<CorpusService> {
    Router::new()
        .route("/w/api.php", get(api).post(posted_api))
        .route("/w/index.php", get(mediawiki::index))
        .route("/wiki/{*title}", get(mediawiki::article))
        .route("/api/rest_v1/page/summary/{*title}", get(mediawiki::summary))
        .route("/w/rest.php/v1/search/page", get(mediawiki::rest_search))
        .route("/w/rest.php/v1/search/title", get(mediawiki::rest_search_titles))
}

/// Search-R1's and `FlashRAG`'s requests, and those of `DSPy`'s class for `ColBERT`, which may be given either address.
fn retriever_routes() -> Router<CorpusService> {
    Router::new()
        .route("/retrieve", get(top_k).post(retrieve))
        .route("/search", post(retriever::search_one))
        .route("/batch_search", post(retriever::search_many))
        .route("/api/search", get(top_k).post(retriever::top_k_of_body))
}

async fn api(service: Service, base: Extension<Base>, RawQuery(query): RawQuery) -> Answer {
    mediawiki::api(&service, &base.0.0, query.as_deref(), &[]).await
}

async fn posted_api(
    service: Service,
    base: Extension<Base>,
    RawQuery(query): RawQuery,
    body: Body,
) -> Result<Answer, Answer> {
    let form = reply::body(body).await?;
    Ok(mediawiki::api(&service, &base.0.0, query.as_deref(), &form).await)
}

async fn retrieve(service: Service, body: Body) -> Result<Answer, Answer> {
    retriever::retrieve(&service.0, &reply::body(body).await?).await
}

async fn top_k(service: Service, RawQuery(query): RawQuery) -> Result<Answer, Answer> {
    retriever::top_k_of_parameters(&service.0, query.as_deref()).await
}

async fn function_list(State(service): Service) -> Answer {
    tools::function_list(&service)
}

async fn tool(service: Service, Path(name): Path<String>, body: Body) -> Result<Answer, Answer> {
    Ok(tools::posted(&service.0, &name, &reply::body(body).await?).await)
}

async fn healthy() -> Response {
    reply::text(StatusCode::OK, "ok")
}

/// What the corpus is. Paths of this machine are not told.
async fn described(State(service): Service) -> Answer {
    let mut about = json!({ "id": service.corpus.id(), "name": service.name(), "articles": service.corpus.count() });
    if let Some(manifest) = service.corpus.manifest() {
        about["extent"] = json!(manifest.extent);
        about["language"] = json!(manifest.language);
        about["as_of"] = json!(manifest.as_of);
        about["redirects"] = json!(manifest.redirects);
        about["disambiguations"] = json!(manifest.disambiguations);
        about["license"] = json!(manifest.license);
    }
    about["wikitrail"] = Value::from(env!("CARGO_PKG_VERSION"));
    Answer::json(&about)
}

/// The path as far as this server gives it its name.
pub(crate) fn known_path(path: &str) -> &'static str {
    const WHOLE: [&str; 13] = [
        "/",
        "/healthz",
        "/corpus.json",
        "/retrieve",
        "/search",
        "/batch_search",
        "/api/search",
        "/mcp",
        "/tool",
        "/w/api.php",
        "/w/index.php",
        "/w/rest.php/v1/search/page",
        "/w/rest.php/v1/search/title",
    ];
    const BEGUN: [(&str, &str); 3] =
        [("/wiki/", "/wiki/*"), ("/tool/", "/tool/*"), ("/api/rest_v1/page/summary/", "/api/rest_v1/page/summary/*")];
    let whole = WHOLE.into_iter().find(|known| *known == path);
    let begun = || BEGUN.into_iter().find(|(known, _)| path.starts_with(known)).map(|(_, shown)| shown);
    whole.or_else(begun).unwrap_or("(other)")
}

#[cfg(test)]
mod tests {
    use super::known_path;
    use crate::net::server::LogEntry;
    use axum::http::Method;
    use std::time::Duration;

    #[test]
    fn lines_have_no_texts() {
        let line = |method: &str, path: &str| {
            let method = Method::from_bytes(method.as_bytes()).expect("a method");
            let (path, took) = (known_path(path), Duration::from_micros(7));
            let entry = LogEntry { method: &method, path, status: 200, took, texts: None };
            entry.to_string().split_once(' ').expect("a time").1.to_owned()
        };
        assert_eq!(line("GET", "/w/api.php"), "GET /w/api.php 200 7 us");
        assert_eq!(line("GET", "/wiki/Secret"), "GET /wiki/* 200 7 us");
        assert_eq!(line("SECRET", "/secret"), "OTHER (other) 200 7 us");
    }
}
