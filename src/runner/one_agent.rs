//! One agent by itself: for single questions, for the tool by hand, for a look at a model's server.

use super::error::RunError;
pub(crate) use super::hints::of_error as hint;
use super::model::{KeyPolicy, ModelSettings};
use super::pace::Pacer;
use super::plan::episode;
use super::pool::{Pool, Tapes};
use super::variant::{BuiltVariant, build, unsent_notes};
use super::wiki::WikiSettings;
use crate::base::{Compat, Decoding, Question, Trajectory, Variant, Wording};
use crate::models::{Model as _, Remote, Unsupported};
use crate::runner::agent::{Agent, Episode};
use crate::runner::experiment::{Concurrency, Experiment, Pace, VariantSettings, VariantSpec};
use crate::wikipedia::Source;
use std::sync::Arc;

/// Requests at once: the samples of a vote come together.
const CONCURRENCY: usize = 16;

/// An agent that answers one question after the other.
pub struct OneAgent {
    pub(crate) agent: Agent,
    /// What a record says about it.
    pub variant: Variant,
    /// What a person should know.
    pub notes: Vec<String>,
    tapes: Tapes,
}

impl OneAgent {
    /// The agent of an experiment's only variant; its datasets are not looked at. With `claims` it judges claims instead of
    /// answering questions.
    pub fn of(experiment: &Experiment, claims: bool) -> Result<Self, RunError> {
        let [spec] = experiment.variants.as_slice() else {
            let message = "one agent answers, and several variants are named";
            return Err(RunError::usage(message, "name one --protocol and one --method; `run` compares several"));
        };
        if spec.settings.oracle_context == Some(true) {
            let message = "--oracle-context shows the paragraphs of a dataset, and a question that is typed has none";
            return Err(RunError::usage(message, "remove it, or use `run` with a dataset"));
        }
        let pace = Pace { concurrency: Concurrency::Fixed(CONCURRENCY), ..Pace::default() };
        let mut experiment = Experiment { pace, ..experiment.clone() };
        // The person who types a question sees what fails, and the samples of a vote need not wait for the first.
        experiment.limits.give_up_after = Some(0);
        let mut pool = Pool::new(&experiment)?;
        let BuiltVariant { variant, agent, .. } = build(spec, &mut pool, claims)?;
        let torn = |bytes: u64| format!("note: dropped {bytes} bytes of a torn last line of the recording");
        Ok(Self { agent, variant, notes: pool.tapes.dropped().map(torn).into_iter().collect(), tapes: pool.tapes })
    }

    /// The agent with these settings.
    ///
    /// ```
    /// use wikitrail::run::{OneAgent, VariantSettings};
    ///
    /// let one = OneAgent::new(VariantSettings { method: Some("cot".to_owned()), ..Default::default() })?;
    /// assert_eq!(one.variant.model, "baseline");
    /// # Ok::<(), wikitrail::run::RunError>(())
    /// ```
    pub fn new(settings: VariantSettings) -> Result<Self, RunError> {
        let variants = vec![VariantSpec { name: "main".to_owned(), settings, ..VariantSpec::default() }];
        Self::of(&Experiment { variants, ..Experiment::default() }, false)
    }

    /// Answers a question, such as one of a dataset. Never fails: what goes wrong outside the agent is in the trajectory's outcome.
    pub async fn answer(&self, question: impl Into<Arc<Question>>) -> Trajectory {
        self.agent.answer(&self.episode(&question.into()), None).await
    }

    /// Notes on what was left out so far: options that the model's server does not take, and answers too long for the recording.
    pub fn notes_so_far(&self) -> Vec<String> {
        let learned = self.agent.learned.as_ref();
        let unsent = learned.map_or_else(Vec::new, |learned| unsent_notes(&self.variant, learned));
        unsent.into_iter().chain(self.tapes.left_out()).collect()
    }

    /// The episode of a question.
    pub(crate) fn episode(&self, question: &Arc<Question>) -> Episode {
        episode(question, &Arc::new(self.variant.clone()))
    }
}

pub(crate) fn source(settings: &VariantSettings) -> Result<Arc<dyn Source>, RunError> {
    Ok(WikiSettings(settings).build(&Arc::default())?.with_search_cache().source)
}

/// Semantics of the tool, and the language of its messages where one is set.
pub(crate) fn semantics(settings: &VariantSettings) -> (Compat, Option<Wording>) {
    (WikiSettings(settings).compat(), WikiSettings(settings).wording())
}

/// The model behind a server that settings name, and what they ask of it; nothing for the baseline. Sends nothing.
pub(crate) fn remote(settings: &VariantSettings) -> Result<Option<(Remote, Decoding)>, RunError> {
    let Some(model) = ModelSettings(settings).built(&Pacer::fixed(1), KeyPolicy::Any)? else { return Ok(None) };
    let asked = Decoding {
        reasoning: settings.reasoning,
        extra_body: ModelSettings(settings).extra_body(),
        ..Decoding::default()
    };
    match model.unsupported(&asked, false) {
        Some(Unsupported { reason, hint }) => Err(RunError::usage(reason, hint)),
        None => Ok(Some((model, asked))),
    }
}
