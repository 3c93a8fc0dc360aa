//! Answers as HTTP sends them, and refusals.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// The longest body of a request, in bytes.
pub(crate) const MAX_BODY: usize = 1 << 20;

/// A request that is not answered, and why, in one sentence.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) StatusCode, pub(crate) String);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        text(self.0, &self.1)
    }
}

pub(crate) fn text(status: StatusCode, sentence: &str) -> Response {
    typed(status, "text/plain; charset=UTF-8", format!("{sentence}\n"))
}

pub(crate) fn typed(status: StatusCode, content_type: &'static str, body: String) -> Response {
    let mut answer = Response::new(Body::from(body));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Nothing in an answer is loaded or started, whatever a title or a text says.
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'"));
    answer
}

pub(crate) async fn body(body: Body) -> Result<Vec<u8>, Refusal> {
    body_at_most(body, MAX_BODY).await
}

/// The body of a request that has at most so many bytes.
pub(crate) async fn body_at_most(body: Body, most: usize) -> Result<Vec<u8>, Refusal> {
    let read = axum::body::to_bytes(body, most).await;
    read.map(Vec::from).map_err(|_| {
        let sentence = format!("the body of a request is whole and has at most {most} bytes");
        Refusal(StatusCode::PAYLOAD_TOO_LARGE, sentence)
    })
}
