//! What is put in front of models and of Wikipedia: a recording, a replay, a cache.

use super::error::RunError;
use super::model::BuiltModel;
use super::wiki::BuiltWiki;
use crate::experiment::{Recording, shipped};
use crate::llm::{ModelIdentity, recorded};
use crate::tape::{Cache, CacheCounts, Player, Recorder, TapeError};
use crate::types::Compat;
use crate::wiki::{SourceIdentity, recorded_source};
use std::path::Path;
use std::sync::Arc;

/// A recording on the disk, or one that is part of the program.
fn player(path: &Path) -> Result<Player, TapeError> {
    let shipped = path.to_str().filter(|_| !path.exists()).and_then(shipped::file);
    shipped.map_or_else(|| Player::open(path), |bytes| Player::of_shipped(path, bytes))
}

/// The tapes of a run, open.
#[derive(Clone, Default)]
pub(super) struct Tapes {
    recorder: Option<Arc<Recorder>>,
    player: Option<Player>,
    cache: Option<Arc<Cache>>,
}

impl Tapes {
    pub(super) fn open(recording: &Recording) -> Result<Self, RunError> {
        Ok(Self {
            recorder: recording.record.as_deref().map(Recorder::open).transpose()?.map(Arc::new),
            player: recording.replay.as_deref().map(player).transpose()?,
            cache: recording.cache.as_deref().map(Cache::open).transpose()?.map(Arc::new),
        })
    }

    /// What a torn last line of the recording lost, in bytes.
    pub(super) fn dropped(&self) -> Option<u64> {
        self.recorder.as_deref().and_then(Recorder::dropped)
    }

    /// The model behind the tapes. A cache is asked first, so that a recording holds what the run was told.
    pub(super) fn model(&self, mut built: BuiltModel) -> BuiltModel {
        let (provider, name) = built.label.split_once(':').unwrap_or((&built.label, ""));
        let identity = ModelIdentity::new(provider, name, built.endpoint, built.base_url.as_deref());
        if let Some(player) = &self.player {
            built.model = Arc::new(recorded::Replaying::new(identity, player.clone()));
            return built;
        }
        if let Some(cache) = &self.cache {
            built.model = Arc::new(recorded::Cached::new(built.model, identity.clone(), Arc::clone(cache)));
        }
        if let Some(recorder) = &self.recorder {
            built.model = Arc::new(recorded::Recording::new(built.model, identity, Arc::clone(recorder)));
        }
        built
    }

    pub(super) fn wiki(&self, mut built: BuiltWiki, compat: Compat) -> BuiltWiki {
        let identity = SourceIdentity::new(&built.label, compat, built.origin.as_deref());
        if let Some(player) = &self.player {
            built.source = Arc::new(recorded_source::Replaying::new(identity, player.clone()));
            return built;
        }
        if let Some(cache) = &self.cache {
            built.source = Arc::new(recorded_source::Cached::new(built.source, identity.clone(), Arc::clone(cache)));
        }
        // Before the cache, which would read the page from the disk again, and behind the recording, which has all that a
        // session was told.
        let mut built = built.with_search_cache();
        if let Some(recorder) = &self.recorder {
            built.source = Arc::new(recorded_source::Recording::new(built.source, identity, Arc::clone(recorder)));
        }
        built
    }

    /// What the cache did, for reading, once the run is over.
    pub(super) fn cache_notes(&self) -> Vec<String> {
        let Some(cache) = &self.cache else { return Vec::new() };
        let CacheCounts { hits, misses, stored, trouble } = cache.counts();
        let mut notes = vec![format!("cache: {hits} hits, {misses} misses, {stored} stored")];
        notes.extend(trouble.map(|trouble| format!("warning: the cache could not be used at least once: {trouble}")));
        notes
    }
}
