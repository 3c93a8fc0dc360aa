//! A variant and a source that are made up, for episodes without model and network.

use crate::base::{Compat, Decoding, Method, Provenance, Variant, Wording};
use crate::wikipedia::{Found, Retrieval, Source, SourceError};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The paper's agent with a model and a source that are nowhere; tests say what is of matter to them.
pub(crate) fn variant(name: &str) -> Variant {
    Variant {
        repeats: None,
        name: name.to_owned(),
        protocol: "react-paper".to_owned(),
        protocol_version: 1,
        options: BTreeMap::new(),
        method: Method::React.name().to_owned(),
        voting: None,
        oracle_context: false,
        max_steps: Some(7),
        prompt: "prompts/hotpotqa.toml".to_owned(),
        prompt_sha256: "0".repeat(64),
        direct_prompt_sha256: None,
        direct_max_tokens: None,
        texts: None,
        instruction: None,
        shots: None,
        exemplar_order: None,
        exemplar_seed: None,
        question_label: "Question".to_owned(),
        model: "made".to_owned(),
        endpoint: "none".to_owned(),
        base_url: None,
        decoding: Decoding::default().into(),
        not_sent: Vec::new(),
        wiki: "made".to_owned(),
        wiki_origin: None,
        price: None,
        compat: Some(Compat::Fixed),
        wording: Wording::English,
        settings: BTreeMap::new(),
    }
}

/// Finds one page, whatever is asked for.
pub(crate) struct OnePage;

impl Source for OnePage {
    fn retrieve<'a>(&'a self, asked: Retrieval<'a>) -> BoxFuture<'a, Result<Found, SourceError>> {
        let (Retrieval::Search { query } | Retrieval::Passages { query, .. } | Retrieval::Document { id: query }) =
            asked;
        let provenance = Provenance {
            source: "made".to_owned(),
            url: "made:".to_owned(),
            title: query.to_owned(),
            pageid: None,
            revid: None,
            status: 200,
            fetched_at: String::new(),
            sha256: String::new(),
            sentences: None,
            hits: Vec::new(),
        };
        let blocks = Arc::new(["It is a page.".to_owned()]);
        std::future::ready(Ok(Found::Page { title: query.to_owned(), blocks, sentences: None, provenance })).boxed()
    }
}
