//! An agent that is a server: each question is posted to it, and its answer is read.

use super::request::MAX_ANSWER;
use crate::net::limit::{Limiter, Settings};
use crate::net::{Answer, Balance, Client, ClientSettings, Keep, NetError, RetrySettings};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;

/// The clock of the episode ends a request that takes too long.
const LONGEST: Duration = Duration::from_hours(24);

/// A question that was posted.
pub(super) struct PostedQuestion {
    sending: BoxFuture<'static, Result<Result<String, String>, NetError>>,
    answer: Option<Result<String, String>>,
}

/// The client that posts all questions of a run.
pub(super) fn client() -> Result<Client, NetError> {
    const AT_ONCE: usize = 65_535;
    Client::new(ClientSettings {
        timeout: LONGEST,
        max_body: MAX_ANSWER,
        retry: RetrySettings { attempts: 1, ..RetrySettings::default() },
        limiter: Arc::new(Limiter::new(&Settings::fixed(AT_ONCE))),
        ..ClientSettings::default()
    })
}

impl PostedQuestion {
    pub(super) fn new(client: &Arc<Client>, url: &str, line: String) -> Self {
        let (client, urls) = (Arc::clone(client), vec![url.to_owned()]);
        let posted = async move {
            let sent = client.post_json(&urls, &Balance::new(1), &[], &[], line.into_bytes(), &mut Keep).await;
            let Answer { status, body, .. } = match sent {
                Ok(answer) => answer,
                Err(error @ NetError::Connect { .. }) => return Err(error),
                // It was asked, and what came of that is its doing.
                Err(error) => return Ok(Err(format!("its server did not answer: {error}"))),
            };
            let text = String::from_utf8_lossy(&body).into_owned();
            Ok(match status {
                200..=299 => Ok(text),
                status => Err(format!("its server answered with status {status}: {}", text.trim())),
            })
        };
        Self { sending: posted.boxed(), answer: None }
    }

    /// Waits for the answer. The error says that the server could not be asked.
    pub(super) async fn answered(&mut self) -> Result<(), NetError> {
        self.answer = Some((&mut self.sending).await?);
        Ok(())
    }

    /// The answer, or what the server said instead.
    pub(super) fn take(&mut self) -> Result<String, String> {
        self.answer.take().unwrap_or_else(|| Err("it has not answered".to_owned()))
    }
}
