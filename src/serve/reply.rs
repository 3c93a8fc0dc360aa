//! Answers and refusals.

use crate::wiki::CorpusError;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

/// The longest body of a request, in bytes.
pub(super) const LONGEST_BODY: usize = 1 << 20;

/// Why this server has no answer to a request that it understands.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// More searches than it makes at once.
    #[error("too many searches at once; try again")]
    Busy,
    #[error("the corpus: {0}")]
    Corpus(CorpusError),
    /// A search ended without an answer.
    #[error("the search failed inside")]
    Lost,
}

impl From<CorpusError> for Fault {
    fn from(error: CorpusError) -> Self {
        Self::Corpus(error)
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let busy = matches!(self, Self::Busy);
        let status = if busy { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::INTERNAL_SERVER_ERROR };
        let mut answer = refused(status, &self.to_string());
        if busy {
            answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        answer
    }
}

/// A request that is not answered, and why, in one sentence.
#[derive(Debug)]
pub(super) struct Refusal(pub(super) StatusCode, pub(super) String);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        refused(self.0, &self.1)
    }
}

/// One sentence for whoever sent the request.
pub(super) fn refused(status: StatusCode, sentence: &str) -> Response {
    typed(status, "text/plain; charset=UTF-8", format!("{sentence}\n"))
}

pub(super) fn json(value: &Value) -> Response {
    typed(StatusCode::OK, "application/json; charset=UTF-8", value.to_string())
}

pub(super) fn html(page: String) -> Response {
    typed(StatusCode::OK, "text/html; charset=UTF-8", page)
}

/// A redirect within this server; `path` has nothing but what an address may have.
pub(super) fn moved(path: &str) -> Response {
    let mut answer = refused(StatusCode::FOUND, path);
    if let Ok(path) = HeaderValue::from_str(path) {
        answer.headers_mut().insert(header::LOCATION, path);
    }
    answer
}

pub(super) fn typed(status: StatusCode, content_type: &'static str, body: String) -> Response {
    let mut answer = Response::new(Body::from(body));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Nothing in an answer is loaded or started, whatever a title or a text says.
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'"));
    answer
}

/// The body of a request, up to the limit.
pub(super) async fn body(body: Body) -> Result<Vec<u8>, Refusal> {
    let read = axum::body::to_bytes(body, LONGEST_BODY).await;
    read.map(Vec::from).map_err(|_| {
        let sentence = format!("the body of a request is whole and has at most {LONGEST_BODY} bytes");
        Refusal(StatusCode::PAYLOAD_TOO_LARGE, sentence)
    })
}
