//! What a manifest says of episodes that another program recorded.

use super::revision::git_revision;
use crate::types::manifest::MANIFEST_VERSION;
use crate::types::{Compat, DatasetRecord, Decoding, Manifest, Variant, Wording};
use std::collections::BTreeMap;

/// The manifest of one variant's episodes.
pub(super) fn manifest(variant: Variant, dataset: DatasetRecord, repeats: u32, command_line: Vec<String>) -> Manifest {
    let now = jiff::Timestamp::now().to_string();
    Manifest {
        v: MANIFEST_VERSION,
        variants: vec![variant],
        retired: Vec::new(),
        stop_when: None,
        stop_looked: 0,
        repeats,
        experiment: None,
        dataset,
        wikitrail: env!("CARGO_PKG_VERSION").to_owned(),
        git_revision: git_revision(),
        command_line,
        started_at: now.clone(),
        ended_at: Some(now),
        defaults: BTreeMap::new(),
        active_ms: 0,
        limit_history: Vec::new(),
        paid: BTreeMap::new(),
    }
}

/// A variant of which only the model is known.
pub(super) fn variant(name: &str, model: String) -> Variant {
    let unknown = || "unknown".to_owned();
    Variant {
        name: name.to_owned(),
        protocol: unknown(),
        protocol_version: 1,
        options: BTreeMap::new(),
        method: unknown(),
        voting: None,
        oracle_context: false,
        max_steps: 0,
        prompt: unknown(),
        prompt_sha256: String::new(),
        direct_prompt_sha256: None,
        texts: None,
        instruction: None,
        shots: None,
        exemplar_order: None,
        exemplar_seed: None,
        question_label: "Question".to_owned(),
        model,
        endpoint: "none".to_owned(),
        base_url: None,
        price: None,
        decoding: Decoding::default(),
        not_sent: Vec::new(),
        direct_max_tokens: None,
        wiki: unknown(),
        wiki_origin: None,
        compat: Compat::Paper,
        wording: Wording::default(),
        settings: BTreeMap::new(),
    }
}
