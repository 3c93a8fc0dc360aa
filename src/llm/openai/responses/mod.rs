//! `OpenAI`'s Responses API, which llama.cpp, vLLM and others serve as well.
//!
//! | in a request | how it is sent |
//! |---|---|
//! | a text prompt | as the `input` |
//! | messages | as items with a role; calls and their results as `function_call` and `function_call_output` |
//! | a reply with reasoning before calls | the items as they came: they hold the reasoning, encrypted or as a text |
//! | stops, a seed | left out: the API has neither; the client applies stops |
//! | the limit of tokens | as `max_output_tokens` |
//! | `--reasoning` | as `reasoning`, with a summary; a number of tokens is refused |
//! | functions | as `tools`, with `strict` in any case: the API takes a missing one for true |
//! | what is kept on the server | nothing: `store` is false |
//!
//! With `store` false an item that is named by its id only is not found. So reasoning is sent back where its own content
//! is there, and calls without it are written anew, without ids of items.
//!
//! Sources: the types of the official Python SDK 3.54.0 (`openai/types/responses`),
//! <https://platform.openai.com/docs/api-reference/responses/create>; events:
//! <https://platform.openai.com/docs/api-reference/responses-streaming>; reasoning without a store:
//! <https://developers.openai.com/api/docs/guides/reasoning#encrypted-reasoning-items>,
//! <https://github.com/vercel/ai/issues/7543>, <https://github.com/langchain-ai/langchain/pull/38372>; models that refuse
//! to encrypt: <https://github.com/pydantic/pydantic-ai/issues/2865>; `strict`:
//! <https://developers.openai.com/api/docs/guides/function-calling#strict-mode>; messages of the model's without an id:
//! <https://github.com/openai/openai-java/issues/585>, <https://github.com/openai/codex/issues/12669>.

mod answer;
mod body;

pub(super) use answer::{decode, event};

use crate::llm::remote::interface::{EncodedRequest, streams, temperature, top_p};
use crate::types::{Reasoning, Request, RequestOption, RequestOptions};

/// The name under which the endpoint is stored.
pub(super) const ENDPOINT: &str = "responses";
/// The name of the limit of tokens.
pub(super) const LIMIT: &str = "max_output_tokens";

/// Options that the API does not have.
pub(super) fn unknown() -> RequestOptions {
    [RequestOption::Seed, RequestOption::Stop].into_iter().collect()
}

pub(super) fn encode(
    model: &str,
    request: &Request,
    usual_top_p: Option<f64>,
    refused: RequestOptions,
    watched: bool,
) -> serde_json::Result<EncodedRequest> {
    use RequestOption::{Include, MaxTokens, ParallelCalls, Stream, Summary, Temperature, TopP};
    let functions = request.functions.as_deref();
    let sent = [
        (Temperature, temperature(&request.decoding, refused).is_some()),
        (TopP, top_p(&request.decoding, usual_top_p, refused).is_some()),
        (MaxTokens, !refused.contains(MaxTokens)),
        (Stream, streams(watched, 0, request, refused)),
        (ParallelCalls, functions.is_some_and(|functions| !functions.parallel) && !refused.contains(ParallelCalls)),
        // Only a reply with calls is followed by another request.
        (Summary, request.decoding.reasoning.is_some_and(Reasoning::is_on) && !refused.contains(Summary)),
        (Include, functions.is_some() && !refused.contains(Include)),
    ]
    .into();
    Ok(EncodedRequest { body: body::bytes(model, request, sent)?, sent, label: String::new() })
}
