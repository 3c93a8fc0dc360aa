//! Tapes and caches as files: what is written, read back, mended and refused.

mod cache;
mod tape;

use super::{Asked, Kind, Miss, Player, TapeError, Why};
use serde_json::{Value, json};

fn asked(prompt: &str) -> Asked {
    Asked::new(Kind::Model, &json!({ "prompt": prompt, "model": "m" }))
}

async fn play(player: &Player, prompt: &str) -> Result<Value, TapeError> {
    player.answer(asked(prompt)).await
}

async fn why(player: &Player, prompt: &str) -> Why {
    match play(player, prompt).await.expect_err("a miss") {
        TapeError::Miss(miss) => miss.why,
        error => panic!("{error}"),
    }
}

async fn missed(player: &Player, asked: Asked) -> Miss {
    match player.answer::<Value>(asked).await.expect_err("a miss") {
        TapeError::Miss(miss) => *miss,
        error => panic!("{error}"),
    }
}
