//! What is served where, and the end of a request that reads its body.

use super::guard::Base;
use super::listener::Part;
use super::reply::{self, Refusal};
use crate::wikipedia::handlers::{Answer, CorpusService, mediawiki, retrieve};
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, Uri};
#[cfg(feature = "mcp")]
use axum::middleware;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde_json::{Value, json};

type Service = State<CorpusService>;

pub(super) fn router(parts: &[Part], service: CorpusService) -> Router {
    let mut router = Router::new().route("/healthz", get(healthy)).route("/corpus.json", get(described));
    let mut served = vec!["/healthz", "/corpus.json"];
    if parts.contains(&Part::MediaWiki) {
        router = router.merge(mediawiki_routes());
        served.extend(["/w/api.php", "/w/index.php", "/wiki/TITLE", "/api/rest_v1/page/summary/TITLE"]);
        served.push("/w/rest.php/v1/search/page");
    }
    if parts.contains(&Part::Retrieve) {
        router = router.merge(Router::new().route("/retrieve", post(passages)));
        served.push("/retrieve");
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
        .route("/w/index.php", get(index))
        .route("/wiki/{*title}", get(article))
        .route("/api/rest_v1/page/summary/{*title}", get(summary))
        .route("/w/rest.php/v1/search/page", get(search))
        .route("/w/rest.php/v1/search/title", get(search_titles))
}

async fn api(service: Service, base: Extension<Base>, RawQuery(query): RawQuery) -> Answer {
    mediawiki::api(&service, &base.0.0, query.as_deref(), &[]).await
}

async fn posted_api(
    service: Service,
    base: Extension<Base>,
    RawQuery(query): RawQuery,
    body: Body,
) -> Result<Answer, Refusal> {
    let form = reply::body(body).await?;
    Ok(mediawiki::api(&service, &base.0.0, query.as_deref(), &form).await)
}

async fn index(service: Service, RawQuery(query): RawQuery) -> Answer {
    mediawiki::index(&service, query.as_deref()).await
}

async fn article(service: Service, uri: Uri) -> Answer {
    mediawiki::article(&service, uri.path())
}

async fn summary(service: Service, base: Extension<Base>, uri: Uri) -> Answer {
    mediawiki::summary(&service, &base.0.0, uri.path())
}

async fn search(service: Service, RawQuery(query): RawQuery) -> Answer {
    mediawiki::rest_search(&service, query.as_deref()).await
}

async fn search_titles(service: Service, RawQuery(query): RawQuery) -> Answer {
    mediawiki::rest_search_titles(&service, query.as_deref())
}

async fn passages(service: Service, body: Body) -> Result<Answer, Refusal> {
    Ok(retrieve::retrieve(&service, &reply::body(body).await?).await)
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
