//! What is known of a program before an episode.

use super::host::Host;
use crate::base::Tool;
use crate::models::{Api, Model, ModelError, Price};
use crate::net::{Client, NetError};
use serde_json::{Map, Value};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;

/// Where the program is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// The words of a command, and the folder that the person typed it in.
    Command(Vec<String>, PathBuf),
    /// The address of a server, which is posted each question.
    Server(String),
}

/// A model that a program asked for.
pub struct ProgramModel {
    pub model: Arc<dyn Model>,
    /// The name that its server knows it by.
    pub name: String,
    /// Fields that are added to each body.
    pub extra_body: Map<String, Value>,
    pub price: Option<Price>,
}

/// Finds the model behind an API by the name that a program uses. The error is the person's to mend, not the program's.
pub type FindModel = Arc<dyn Fn(Api, &str) -> Result<Arc<ProgramModel>, ModelError> + Send + Sync>;

/// What all episodes of a program have in common.
pub struct Program {
    pub start: Start,
    /// How long it may take, without the time that models and tools take.
    pub timeout: Duration,
    pub find_model: FindModel,
    /// The name of the model that all calls go to, whatever the program names.
    pub model: Option<String>,
    /// The tools that its source of pages has.
    pub tools: Arc<[Tool]>,
    /// Passages that a call shows unless it says how many.
    pub passages: usize,
    host: OnceCell<Host>,
    /// What posts questions to a server.
    client: OnceCell<Arc<Client>>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("start", &self.start).field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl Program {
    /// A program that has not been started.
    pub fn new(
        start: Start,
        timeout: Duration,
        find_model: FindModel,
        model: Option<String>,
        tools: Arc<[Tool]>,
        passages: usize,
    ) -> Self {
        Self { start, timeout, find_model, model, tools, passages, host: OnceCell::new(), client: OnceCell::new() }
    }

    /// The client by which a server is asked, which all episodes share.
    pub(super) async fn client(&self) -> Result<&Arc<Client>, NetError> {
        self.client.get_or_try_init(async || super::server::client().map(Arc::new)).await
    }

    /// The server that all its episodes ask, which begins to listen with the first of them.
    pub(super) async fn host(&self) -> std::io::Result<&Host> {
        self.host.get_or_try_init(|| Host::listen(self.model.clone())).await
    }
}
