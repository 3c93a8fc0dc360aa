//! Recordings and caches as files: what is written, read, repaired and refused.

mod cache;
mod recording;

use super::{CanonicalRequest, Kind, Miss, Player, TapeError, Why};
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
    missed(player, asked(prompt)).await.why
}

async fn missed(player: &Player, asked: CanonicalRequest) -> Miss {
    match player.answer::<Value>(asked).await.expect_err("a miss") {
        TapeError::Miss(miss) => *miss,
        error => panic!("{error}"),
    }
}
