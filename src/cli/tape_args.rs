//! Flags that put a tape or a cache in front of the model and of Wikipedia.

use super::failure::Failure;
use super::model_args::BuiltModel;
use super::say::say;
use super::wiki_args::BuiltWiki;
use crate::llm::{ModelIdentity, taped};
use crate::report::counted;
use crate::tape::{Cache, CacheCounts, Player, Recorder, TapeError};
use crate::types::Compat;
use crate::wiki::{SourceIdentity, taped_source};
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;

/// What is recorded, replayed or kept.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Tape")]
pub(super) struct TapeArgs {
    /// Record every answer of the model and of Wikipedia in this file; an older recording is added to.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(super) record: Option<PathBuf>,
    /// Take every answer from a recording: nothing is asked of anyone, and an episode that asks something else is not
    /// measured.
    #[arg(long, value_name = "FILE", conflicts_with = "cache")]
    pub(super) replay: Option<PathBuf>,
    /// Folder that keeps answers: what was asked before is not asked again.
    #[arg(long, value_name = "DIR")]
    pub(super) cache: Option<PathBuf>,
}

/// The tapes of a run, open.
#[derive(Clone, Default)]
pub(super) struct Tapes {
    recorder: Option<Arc<Recorder>>,
    player: Option<Player>,
    cache: Option<Arc<Cache>>,
}

impl TapeArgs {
    /// Opens what the flags name.
    pub(super) fn open(&self) -> anyhow::Result<Tapes> {
        let recorder = self.record.as_deref().map(Recorder::open).transpose().map_err(refused)?;
        let player = self.replay.as_deref().map(Player::open).transpose().map_err(refused)?;
        let cache = self.cache.as_deref().map(Cache::open).transpose().map_err(refused)?;
        if let Some(bytes) = recorder.as_ref().and_then(Recorder::dropped) {
            say(format_args!("note: dropped {} of a torn last line of the recording", counted(bytes, "byte")));
        }
        Ok(Tapes { recorder: recorder.map(Arc::new), player, cache: cache.map(Arc::new) })
    }
}

fn refused(error: TapeError) -> anyhow::Error {
    let hint = error.hint();
    Failure::bad_input(error, hint)
}

impl Tapes {
    /// The model behind the tapes. A cache is asked first, so that a recording holds what the run was told.
    pub(super) fn model(&self, mut built: BuiltModel) -> BuiltModel {
        let (provider, name) = built.label.split_once(':').unwrap_or((&built.label, ""));
        let identity = ModelIdentity::new(provider, name, built.endpoint, built.base_url.as_deref());
        if let Some(player) = &self.player {
            built.model = Arc::new(taped::Replaying::new(identity, player.clone()));
            return built;
        }
        if let Some(cache) = &self.cache {
            built.model = Arc::new(taped::Cached::new(built.model, identity.clone(), Arc::clone(cache)));
        }
        if let Some(recorder) = &self.recorder {
            built.model = Arc::new(taped::Recording::new(built.model, identity, Arc::clone(recorder)));
        }
        built
    }

    /// Wikipedia behind the tapes.
    pub(super) fn wiki(&self, mut built: BuiltWiki, compat: Compat) -> BuiltWiki {
        let identity = SourceIdentity::new(&built.label, compat, built.origin.as_deref());
        if let Some(player) = &self.player {
            built.source = Arc::new(taped_source::Replaying::new(identity, player.clone()));
            return built;
        }
        if let Some(cache) = &self.cache {
            built.source = Arc::new(taped_source::Cached::new(built.source, identity.clone(), Arc::clone(cache)));
        }
        // Before the cache, which would read the page from the disk again, and behind the recording, which has all that a
        // session was told.
        let mut built = built.at_hand();
        if let Some(recorder) = &self.recorder {
            built.source = Arc::new(taped_source::Recording::new(built.source, identity, Arc::clone(recorder)));
        }
        built
    }

    /// Whether answers come from a recording, so that nothing is ever sent.
    pub(super) fn replay(&self) -> bool {
        self.player.is_some()
    }

    /// What the cache did, for a person, once the run is over.
    pub(super) fn tell(&self) {
        let Some(cache) = &self.cache else { return };
        let CacheCounts { hits, misses, stored, trouble } = cache.counts();
        say(format_args!("cache: {} found, {misses} not there, {stored} stored", counted(hits, "answer")));
        if let Some(trouble) = trouble {
            say(format_args!("warning: the cache was of no help at least once: {trouble}"));
        }
    }
}
