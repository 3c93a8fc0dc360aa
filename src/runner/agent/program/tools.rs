//! The tools of one episode, for MCP and plain HTTP: what is asked goes to the episode, which answers and records it.

use super::request::{AgentAnswer, AgentRequest, EPISODE_ENDED, MAX_ANSWER, ToolReply, ToolUse};
use crate::base::Tool;
use crate::wikipedia::handlers::retriever::{Document, MAX_TOP_K, Retriever};
use crate::wikipedia::handlers::tools::{
    SessionArgument, ToolAnswer, ToolDescription, ToolError, Tools, input, offered, schema, with,
};
use crate::wikipedia::handlers::{Answer, MAX_QUERY};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// The name of the tool that gives the answer.
pub(super) const SUBMIT: &str = "submit";

/// One client's way to the tools of an episode.
#[derive(Clone)]
pub(super) struct EpisodeTools {
    pub(super) episode: mpsc::Sender<AgentRequest>,
    pub(super) tools: Arc<[Tool]>,
}

#[derive(Deserialize)]
struct Query {
    query: String,
    k: Option<usize>,
}

#[derive(Deserialize)]
struct Keyword {
    keyword: String,
}

#[derive(Deserialize)]
struct Id {
    id: String,
}

#[derive(Deserialize)]
struct Submission {
    answer: Value,
    confidence: Option<Value>,
}

impl EpisodeTools {
    async fn ask<T>(&self, ask: impl FnOnce(oneshot::Sender<T>) -> AgentRequest) -> Result<T, ToolError> {
        let ended = || ToolError(EPISODE_ENDED.to_owned());
        let (reply, answer) = oneshot::channel();
        self.episode.send(ask(reply)).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())
    }

    async fn used(&self, tool: Tool, input: String, count: Option<usize>) -> Result<ToolAnswer, ToolError> {
        if input.len() > MAX_QUERY {
            return Err(ToolError(format!("a query has at most {MAX_QUERY} bytes")));
        }
        if count.is_some_and(|count| !(1..=MAX_TOP_K).contains(&count)) {
            return Err(ToolError(format!("`k` is a number from 1 to {MAX_TOP_K}")));
        }
        let used = ToolUse { tool, input, count };
        self.ask(|reply| AgentRequest::Tool { used, reply: ToolReply::Tool(reply) }).await?
    }

    async fn submit(&self, Submission { answer, confidence }: Submission) -> Result<ToolAnswer, ToolError> {
        let given = AgentAnswer::of(&answer, confidence.as_ref())
            .ok_or_else(|| ToolError(format!("`answer` is a text of 1 to {MAX_ANSWER} bytes")))?;
        self.ask(|reply| AgentRequest::Submit { given, reply }).await?
    }
}

impl Tools for EpisodeTools {
    fn offered(&self, _keeps_session: bool) -> Vec<ToolDescription> {
        let has = |tool: &ToolDescription| self.tools.iter().any(|own| own.name() == tool.name);
        let mut tools: Vec<ToolDescription> = offered(SessionArgument::None).into_iter().filter(has).collect();
        let properties = json!({
            "answer": { "type": "string", "description": "the answer to the question" },
            "confidence": { "type": "number", "minimum": 0, "maximum": 1, "description": "how sure you are" },
        });
        tools.push(ToolDescription {
            name: SUBMIT,
            title: "Submit the answer",
            description: "Give the answer to the question; the first one counts.",
            input: input(properties, &["answer"]),
            output: schema(json!({ "observation": { "type": "string" } }), &["observation"]),
        });
        tools
    }

    async fn call(&self, name: &str, input: Map<String, Value>) -> Option<Result<ToolAnswer, ToolError>> {
        let tool = self.tools.iter().copied().find(|tool| tool.name() == name);
        Some(match tool {
            Some(Tool::Lookup) => {
                with(input, "\"keyword\": text", async |Keyword { keyword }| {
                    self.used(Tool::Lookup, keyword, None).await
                })
                .await
            }
            Some(Tool::Document) => {
                with(input, "\"id\": text", async |Id { id }| self.used(Tool::Document, id, None).await).await
            }
            Some(tool) => {
                with(input, "\"query\": text", async |Query { query, k }| self.used(tool, query, k).await).await
            }
            None if name == SUBMIT => {
                with(input, "\"answer\": text, \"confidence\": 0.5", async |given| self.submit(given).await).await
            }
            None => return None,
        })
    }
}

impl Retriever for EpisodeTools {
    async fn best(&self, queries: Vec<String>, most: usize) -> Result<Option<Vec<Vec<Document>>>, Answer> {
        let mut found = Vec::new();
        for query in queries {
            let used = ToolUse { tool: Tool::Passages, input: query, count: Some(most) };
            let asked = self.ask(|reply| AgentRequest::Tool { used, reply: ToolReply::Documents(reply) }).await;
            let documents = asked.and_then(|answer| answer).map_err(|ToolError(words)| Answer::text(422, &words))?;
            found.push(documents);
        }
        Ok(Some(found))
    }
}
