//! What several variants share: one model a server, one source an encyclopedia, so that limits hold for all together.

use super::args::Args;
use crate::cli::model_args::{BuiltModel, ModelArgs};
use crate::cli::pace::Pace;
use crate::cli::tape_args::Tapes;
use crate::cli::wiki_args::{BuiltWiki, WikiArgs};
use crate::llm::{Budget, Limits};
use std::sync::Arc;

/// What was built for earlier variants, and what all runs of one start have together.
pub(super) struct Pool {
    /// What is recorded, replayed or kept.
    pub(super) tapes: Tapes,
    /// What all agents together may spend.
    pub(super) budget: Arc<Budget>,
    /// Where requests wait for their turn.
    pub(super) pace: Arc<Pace>,
    offline: bool,
    servers: Vec<(ModelArgs, Option<BuiltModel>)>,
    wikis: Vec<(WikiArgs, BuiltWiki)>,
}

impl Pool {
    pub(super) fn new(args: &Args, limits: Limits) -> anyhow::Result<Self> {
        // A dry run leaves no file behind.
        let tapes = if args.dry_run { Tapes::default() } else { args.tape.open()? };
        Ok(Self {
            offline: args.offline(),
            tapes,
            budget: Arc::new(Budget::new(limits)),
            pace: Arc::new(args.pace.build()),
            servers: Vec::new(),
            wikis: Vec::new(),
        })
    }

    /// The model behind a server, behind the tapes; none for the baseline.
    pub(super) fn server(&mut self, args: &ModelArgs) -> anyhow::Result<Option<BuiltModel>> {
        if let Some((_, built)) = self.servers.iter().find(|(known, _)| known == args) {
            return Ok(built.clone());
        }
        let built = args.server(&self.pace, self.offline)?.map(|model| self.tapes.model(model));
        self.servers.push((args.clone(), built.clone()));
        Ok(built)
    }

    /// Wikipedia, behind the tapes.
    pub(super) fn wiki(&mut self, args: &WikiArgs) -> anyhow::Result<BuiltWiki> {
        // What the tool says is no matter of its source; nor are a frozen corpus's pages one of the tool's semantics.
        let alike = |known: &WikiArgs| {
            let compat = if args.is_corpus() { args.compat } else { known.compat };
            WikiArgs { wording: args.wording, compat, ..known.clone() } == *args
        };
        let built = if let Some((_, built)) = self.wikis.iter().find(|(known, _)| alike(known)) {
            built.clone()
        } else {
            let built = args.build(self.pace.sites())?;
            self.wikis.push((args.clone(), built.clone()));
            built
        };
        Ok(self.tapes.wiki(built, args.compat))
    }
}
