//! What is known of a program before an episode, where it finds its models and tools, and how one that is a server is asked.

use super::host::Host;
use super::request::MAX_ANSWER;
use crate::base::{Question, Tool};
use crate::models::{Api, Model, ModelError, Price};
use crate::net::limit::{Limiter, Settings};
use crate::net::{Answer, Balance, Client, ClientSettings, Keep, NetError, RetrySettings};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;

/// The clock of the episode ends a request that takes too long.
const LONGEST: Duration = Duration::from_hours(24);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// The words of a command, and the folder that the person typed it in.
    Command(Vec<String>, PathBuf),
    /// The address of a server, which is posted each question.
    Server(String),
}

pub struct ProgramModel {
    pub model: Arc<dyn Model>,
    /// The name that its server knows it by.
    pub name: String,
    pub extra_body: Map<String, Value>,
    pub price: Option<Price>,
}

/// Finds the model behind an API by the name that a program uses. The error is the person's to mend, not the program's.
pub type FindModel = Arc<dyn Fn(Api, &str) -> Result<Arc<ProgramModel>, ModelError> + Send + Sync>;

pub(super) type PostedQuestion = BoxFuture<'static, Result<Result<String, String>, NetError>>;

/// What all episodes of a program have in common.
pub struct Program {
    pub start: Start,
    /// How long it may take, without the time that models and tools take.
    pub timeout: Duration,
    pub find_model: FindModel,
    /// The name of the model that all calls go to, whatever the program names.
    pub model: Option<String>,
    pub tools: Arc<[Tool]>,
    /// Passages that a call shows unless it says how many.
    pub passages: usize,
    pub opened: Opened,
}

/// What its episodes share from the first of them on.
#[derive(Default)]
pub struct Opened {
    host: OnceCell<Host>,
    client: OnceCell<Arc<Client>>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("start", &self.start).field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl Program {
    /// Posts a question to a server, by a client that all episodes share. The answer is what the server said, or why it
    /// said nothing; the error says that it could not be asked.
    pub(super) async fn post(&self, url: &str, line: String) -> Result<PostedQuestion, NetError> {
        let client = Arc::clone(self.opened.client.get_or_try_init(async || client().map(Arc::new)).await?);
        let urls = vec![url.to_owned()];
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
        Ok(posted.boxed())
    }

    /// The server that all its episodes ask, which begins to listen with the first of them.
    pub(super) async fn host(&self) -> std::io::Result<&Host> {
        self.opened.host.get_or_try_init(|| Host::listen(self.model.clone())).await
    }
}

fn client() -> Result<Client, NetError> {
    const AT_ONCE: usize = 65_535;
    Client::new(ClientSettings {
        timeout: LONGEST,
        max_body: MAX_ANSWER,
        retry: RetrySettings { attempts: 1, ..RetrySettings::default() },
        limiter: Arc::new(Limiter::new(&Settings::fixed(AT_ONCE))),
        ..ClientSettings::default()
    })
}

pub(super) struct Addresses {
    /// Such as `http://127.0.0.1:40123`.
    pub(super) server: String,
    pub(super) key: String,
    pub(super) model: Option<String>,
}

impl Addresses {
    fn of_models(&self) -> [(&'static str, String); 3] {
        let server = &self.server;
        [
            ("openai", format!("{server}/openai/v1")),
            ("anthropic", format!("{server}/anthropic")),
            ("gemini", format!("{server}/gemini")),
        ]
    }

    fn of_tools(&self) -> Vec<(&'static str, String)> {
        let below = |path: &str| format!("{}/episode/{}/{path}", self.server, self.key);
        let mut addresses = vec![("tool", below("tool")), ("retrieve", below("retrieve"))];
        if cfg!(feature = "mcp") {
            addresses.insert(0, ("mcp", below("mcp")));
        }
        addresses
    }

    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let [openai, anthropic, gemini] = self.of_models().map(|(_, address)| address);
        let mut variables = vec![
            ("OPENAI_BASE_URL", openai.clone()),
            // The older name, which several programs still read.
            ("OPENAI_API_BASE", openai),
            ("ANTHROPIC_BASE_URL", anthropic),
            ("GOOGLE_GEMINI_BASE_URL", gemini),
        ];
        let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];
        variables.extend(keys.map(|name| (name, self.key.clone())));
        variables.extend(self.model.iter().map(|model| ("WIKITRAIL_MODEL", model.clone())));
        let of_tool = |(name, address): (&str, _)| (format!("WIKITRAIL_{}_URL", name.to_uppercase()), address);
        let of_tools = self.of_tools().into_iter().map(of_tool);
        variables.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(of_tools).collect()
    }

    /// The line that a program is given; for a server with the addresses of models and the key, which a process has in its
    /// environment.
    pub(super) fn line(&self, question: &Question, for_server: bool) -> Value {
        let object = |pairs: Vec<(&str, String)>| -> Map<String, Value> {
            pairs.into_iter().map(|(name, address)| (name.to_owned(), address.into())).collect()
        };
        let mut line = json!({ "id": question.id, "question": question.question, "tools": object(self.of_tools()) });
        if for_server {
            line["models"] = object(self.of_models().into()).into();
            line["key"] = json!(self.key);
            if let Some(model) = &self.model {
                line["model"] = json!(model);
            }
        }
        line
    }
}
