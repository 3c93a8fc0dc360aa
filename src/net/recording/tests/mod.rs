//! Recordings and caches as files: what is written, read, repaired and refused.

mod cache;
mod recording;

use super::{CanonicalRequest, Kind, Player, TapeError, Why};
use serde_json::{Value, json};
use std::path::PathBuf;
use tempfile::TempDir;

/// A path in a new folder.
fn file() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("t.jsonl");
    (dir, path)
}

fn asked(prompt: &str) -> CanonicalRequest {
    CanonicalRequest::new(Kind::Model, &json!({ "prompt": prompt, "model": "m" }))
}

async fn play(player: &Player, prompt: &str) -> Result<Value, TapeError> {
    player.answer(asked(prompt)).await
}

async fn why(player: &Player, prompt: &str) -> Why {
    missed(player, asked(prompt)).await.0
}

/// Why a request has no answer, and the message that says so.
async fn missed(player: &Player, asked: CanonicalRequest) -> (Why, String) {
    let error = player.answer::<Value>(asked).await.expect_err("a miss");
    let message = error.to_string();
    let TapeError::Miss { why, .. } = error else { panic!("{error}") };
    (why, message)
}
