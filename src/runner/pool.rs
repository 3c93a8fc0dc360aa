//! What variants share: recordings and caches, one model for each server, one source for each encyclopedia, so that limits
//! hold for all together.

use super::breaker::Breakers;
use super::error::RunError;
use super::model::{BuiltModel, KeyPolicy, ModelSettings};
use super::pace::Pacer;
use super::prices::PriceList;
use super::wiki::{BuiltWiki, WikiSettings};
use crate::base::bounded::{MAX_LINE_BYTES, size};
use crate::base::text::{counted, visible_line};
use crate::base::{Compat, processors};
use crate::models::{Budget, Budgeted, Model, ModelIdentity, Price, recorded};
use crate::net::recording::{Cache, CacheCounts, LeftOut, Player, Recorder, TapeError};
use crate::runner::experiment::{
    Concurrency, Experiment, Recording, Setting, VARIANT_SETTINGS, VariantSettings, shipped,
};
use crate::wikipedia::{SourceIdentity, recorded_source};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// What was built for earlier variants, and what all runs of one start have together.
#[derive(Clone)]
pub(crate) struct Pool {
    pub(crate) tapes: Tapes,
    pub(crate) budget: Arc<Budget>,
    pub(crate) pacer: Arc<Pacer>,
    pub(crate) prices: PriceList,
    keys: KeyPolicy,
    notes: Vec<String>,
    pub(crate) breakers: Arc<Breakers>,
    /// Each with the settings that it was built from.
    servers: Vec<(Vec<Option<Value>>, Option<BuiltModel>)>,
    wikis: Vec<(Vec<Option<Value>>, BuiltWiki)>,
}

impl Pool {
    pub(crate) fn new(experiment: &Experiment) -> Result<Self, RunError> {
        let limits = &experiment.limits;
        let budget =
            crate::models::Limits { calls: limits.max_calls, tokens: limits.budget_tokens, usd: limits.budget_usd };
        // A dry run leaves no file behind.
        let dry_run = experiment.output.dry_run;
        Ok(Self {
            keys: match experiment.is_offline() {
                true => KeyPolicy::None,
                false if experiment.unconfirmed_servers => KeyPolicy::OfficialOnly,
                false => KeyPolicy::Any,
            },
            notes: Vec::new(),
            tapes: if dry_run { Tapes::default() } else { Tapes::open(&experiment.recording)? },
            budget: Arc::new(Budget::new(budget)),
            pacer: Arc::new(Pacer::of(&experiment.pace).with_episode_limit(program_limit(experiment))),
            prices: PriceList::load(limits.prices.as_deref())?,
            breakers: Arc::new(Breakers::new(limits.give_up_after)),
            servers: Vec::new(),
            wikis: Vec::new(),
        })
    }

    /// What a person should know of what is shared.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        let dropped = self.tapes.dropped().map(|bytes| counted(bytes, "byte"));
        let torn = dropped.map(|bytes| format!("note: dropped {bytes} of a torn last line of the recording"));
        torn.into_iter().chain(self.notes.iter().cloned())
    }

    pub(crate) fn is_offline(&self) -> bool {
        matches!(self.keys, KeyPolicy::None)
    }

    /// The model within the budget; what was recorded is paid for.
    pub(crate) fn budgeted(&self, model: Arc<dyn Model>, price: Option<Price>) -> Arc<dyn Model> {
        if self.is_offline() || !self.budget.limits().is_any() {
            return model;
        }
        Arc::new(Budgeted::new(model, Arc::clone(&self.budget), price))
    }

    /// The model behind a server, behind the recording; none for the baseline.
    pub(crate) fn server(&mut self, settings: &VariantSettings) -> Result<Option<BuiltModel>, RunError> {
        // What a server refuses may depend on how much the model reasons.
        let matters = |setting: &Setting| setting.heading == "Model" || setting.name == "reasoning";
        let key = values(settings, matters)?;
        if let Some((_, built)) = self.servers.iter().find(|(known, _)| *known == key) {
            return Ok(built.clone());
        }
        let model = ModelSettings(settings);
        let server = model.server(&self.pacer, self.keys)?;
        self.notes.extend(model.withheld(self.keys).filter(|note| !self.notes.contains(note)));
        let watched = server.map(|model| if self.is_offline() { model } else { self.breakers.model(model) });
        let built = watched.map(|model| self.tapes.model(model));
        self.servers.push((key, built.clone()));
        Ok(built)
    }

    /// Wikipedia, behind the recording.
    pub(super) fn wiki(&mut self, settings: &VariantSettings) -> Result<BuiltWiki, RunError> {
        let wiki = WikiSettings(settings);
        // The tool's language does not matter to its source; nor do its semantics to the pages of a frozen corpus.
        let matters = |setting: &Setting| {
            setting.heading == "Wikipedia"
                && setting.name != "wording"
                && !(setting.name == "compat" && wiki.is_corpus())
        };
        let key = values(settings, matters)?;
        let built = if let Some((_, built)) = self.wikis.iter().find(|(known, _)| *known == key) {
            built.clone()
        } else {
            let built = self.breakers.wiki(wiki.build(self.pacer.sites())?);
            self.notes.extend(built.about.clone());
            self.wikis.push((key, built.clone()));
            built
        };
        Ok(self.tapes.wiki(built, wiki.compat()))
    }
}

/// How many episodes of programs may run at once, where an experiment has some: as many as was typed, else what this machine
/// bears.
fn program_limit(experiment: &Experiment) -> Option<usize> {
    const PROGRAMS_OF_A_PROCESSOR: usize = 4;
    let on_datasets = experiment.datasets.iter().flat_map(|dataset| &dataset.variants);
    let mut variants = experiment.variants.iter().chain(on_datasets);
    variants.any(|variant| variant.settings.agent.is_some()).then(|| match experiment.pace.concurrency {
        Concurrency::Fixed(number) => number,
        Concurrency::UpTo(most) => most.min(PROGRAMS_OF_A_PROCESSOR * processors()),
    })
}

fn values(settings: &VariantSettings, which: impl Fn(&Setting) -> bool) -> Result<Vec<Option<Value>>, RunError> {
    // Without its values, every server would look like the first.
    let all = serde_json::to_value(settings).map_err(RunError::unwritable)?;
    Ok(VARIANT_SETTINGS.iter().filter(|setting| which(setting)).map(|setting| all.get(setting.name).cloned()).collect())
}

/// A recording on the disk, or one that is part of the program.
fn player(path: &Path) -> Result<Player, TapeError> {
    let shipped = path.to_str().filter(|_| !path.exists()).and_then(shipped::file);
    shipped.map_or_else(|| Player::open(path), |bytes| Player::of_shipped(path, bytes))
}

#[derive(Clone, Default)]
pub(crate) struct Tapes {
    recorder: Option<Arc<Recorder>>,
    player: Option<Player>,
    cache: Option<Arc<Cache>>,
}

impl Tapes {
    pub(crate) fn open(recording: &Recording) -> Result<Self, RunError> {
        Ok(Self {
            recorder: recording.record.as_deref().map(Recorder::open).transpose()?.map(Arc::new),
            player: recording.replay.as_deref().map(player).transpose()?,
            cache: recording.cache.as_deref().map(Cache::open).transpose()?.map(Arc::new),
        })
    }

    /// What a torn last line of the recording lost, in bytes.
    pub(crate) fn dropped(&self) -> Option<u64> {
        self.recorder.as_deref().and_then(Recorder::dropped)
    }

    /// The model behind the tapes. A cache is asked first, so that a recording holds what the run was told.
    pub(crate) fn model(&self, mut built: BuiltModel) -> BuiltModel {
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

    /// What the recording lacks, and what the cache did, for reading, once the run is over.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.left_out().into_iter().chain(self.cache_notes()).collect()
    }

    /// The answers that the recording lacks because they were too long.
    pub(crate) fn left_out(&self) -> Option<String> {
        let LeftOut { answers, first } = self.recorder.as_deref()?.left_out();
        let (kind, request) = first?;
        let (kind, request) = (kind.name(), visible_line(&request, 120));
        let (what, most) = (counted(answers, "answer"), size(MAX_LINE_BYTES));
        Some(format!(
            "warning: left {what} of more than {most} out of the recording, the first to the {kind} request {request}; a \
             replay cannot measure what asks for it: leave such questions out with --ids"
        ))
    }

    fn cache_notes(&self) -> Vec<String> {
        let Some(cache) = &self.cache else { return Vec::new() };
        let CacheCounts { hits, misses, stored, trouble } = cache.counts();
        let mut notes = vec![format!("cache: {hits} hits, {misses} misses, {stored} stored")];
        notes.extend(trouble.map(|trouble| format!("warning: the cache could not be used at least once: {trouble}")));
        notes
    }
}
