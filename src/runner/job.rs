//! One run, ready to start: questions, variants with their agents, manifest, plan. Nothing runs here.

use super::breaker::Breakers;
use super::error::RunError;
use super::pace::Pacer;
use super::plan::{Plan, duplicate_variants};
use super::pool::Pool;
use super::questions::{EarlierQuestions, SelectedQuestions};
use super::variant::{BuiltVariant, build, unsent_notes, unsent_options};
use super::{named_files, revision, stopping};
use crate::base::manifest::MANIFEST_VERSION;
use crate::base::text::printable;
use crate::base::{
    AnswerKind, DatasetRecord, ExperimentRecord, Fork, Manifest, Method, PriceRecord, Question, Variant, sha256_hex,
};
use crate::models::Budget;
use crate::prompting::protocol::direct::gold_paragraphs;
use crate::runner::agent::{Agent, StoredPrompt};
use crate::runner::experiment::{DatasetSpec, Experiment, VariantSpec};
use crate::runner::store::RunFolder;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAX_LISTED: usize = 3;

pub(super) struct Job {
    pub(super) manifest: Manifest,
    pub(super) prompts: Vec<StoredPrompt>,
    pub(super) plan: Plan,
    /// The agent of each variant, by the variant's name.
    pub(super) agents: HashMap<String, Agent>,
    pub(super) breakers: Arc<Breakers>,
    /// Where requests wait for their turn, those of the experiment's other runs among them.
    pub(super) pacer: Arc<Pacer>,
    /// What all agents together may spend, those of the experiment's other runs among them.
    pub(super) budget: Arc<Budget>,
    pub(super) out: Option<PathBuf>,
    pub(super) experiment: Option<String>,
    pub(super) notes: Vec<String>,
}

impl Job {
    /// Builds everything that the run over a dataset needs, so that a bad setting or file fails in the first second.
    pub(super) fn new(experiment: &Experiment, spec: &DatasetSpec, pool: &mut Pool) -> Result<Self, RunError> {
        let several = experiment.datasets.len() > 1;
        let out = experiment.output.folder.clone();
        let out = if several { out.map(|out| out.join(dataset_name(spec))) } else { out };
        let SelectedQuestions { questions, record, mut notes } = questions(experiment, spec, out.as_deref())?;
        let claims = questions.first().is_some_and(|question| question.answer_kind == AnswerKind::Label);
        let specs = going_on(experiment.variants_on(spec), out.as_deref())?;
        let built = variants(&specs, pool, claims)?;
        if built.iter().any(|built| built.variant.oracle_context) {
            refuse_without_paragraphs(&questions)?;
        }
        let (mut variants, mut prompts, mut agents) = (Vec::new(), Vec::new(), HashMap::new());
        for BuiltVariant { variant, agent, notes: of_prompt } in built {
            // Variants of a matrix share their prompt.
            notes.extend(of_prompt.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
            if !agent.approach.is_program() {
                let (prompt, direct_prompt) = agent.approach.prompts();
                prompts.extend(std::iter::once(prompt).chain(direct_prompt));
            }
            agents.insert(variant.name.clone(), agent);
            variants.push(variant);
        }
        if let Some((one, other)) = duplicate_variants(&variants).filter(|_| experiment.forks.is_empty()) {
            return Err(RunError::input(
                format!("variants `{}` and `{}` are the same: they have the same settings", one.name, other.name),
                "remove one of them; the address of a server does not distinguish variants",
            ));
        }
        let manifest = manifest(experiment, spec, record, variants);
        let plan = Plan::new(questions, &manifest.variants, manifest.repeats, experiment.output.shard);
        let plan = plan.forked(&experiment.forks);
        Ok(Self {
            out,
            manifest,
            prompts,
            plan,
            agents,
            breakers: Arc::clone(&pool.breakers),
            pacer: Arc::clone(&pool.pacer),
            budget: Arc::clone(&pool.budget),
            experiment: experiment.file.as_ref().map(|file| file.text.clone()),
            notes,
        })
    }

    /// Notes in the manifest which options the servers have not taken, also in earlier parts of the run.
    pub(super) fn note_unsent(&mut self) {
        for variant in &mut self.manifest.variants {
            let Some(learned) = self.agents.get(&variant.name).and_then(|agent| agent.learned.as_ref()) else {
                continue;
            };
            let unsent = unsent_options(variant, learned).names();
            variant.not_sent.extend(unsent.into_iter().map(str::to_owned));
            variant.not_sent.sort();
            variant.not_sent.dedup();
        }
    }

    /// The same for a person.
    pub(super) fn unsent(&self) -> impl Iterator<Item = String> {
        let notes = |variant| Some(unsent_notes(variant, self.agents.get(&variant.name)?.learned.as_ref()?));
        self.manifest.variants.iter().filter_map(notes).flatten()
    }

    /// What tokens cost, by the variant's name, where that is known.
    pub(super) fn prices(&self) -> BTreeMap<&str, &PriceRecord> {
        let variants = self.manifest.variants.iter();
        variants.filter_map(|variant| Some((variant.name.as_str(), variant.price.as_ref()?))).collect()
    }
}

/// The questions that are due, in the order in which a rule to stop by needs them. A branched run asks those of its forks.
fn questions(experiment: &Experiment, spec: &DatasetSpec, out: Option<&Path>) -> Result<SelectedQuestions, RunError> {
    let resumed = out.filter(|_| experiment.output.resume);
    let ordered = experiment.stop_when.as_ref().map(|_| stopping::ordered(spec));
    let earlier = if experiment.forks.is_empty() { EarlierQuestions::of(out) } else { EarlierQuestions::Branched };
    let mut selected = SelectedQuestions::of(ordered.as_ref().unwrap_or(spec), resumed, &earlier)?;
    if !experiment.forks.is_empty() {
        let SelectedQuestions { questions, record, .. } = &mut selected;
        questions.retain(|question| experiment.forks.iter().any(|fork| fork.branch.id == question.id));
        refuse_lost(&experiment.forks, questions, record)?;
        record.selection.ids = questions.iter().map(|question| question.id.clone()).collect();
        record.selected = questions.len();
    }
    if let Some(rule) = &experiment.stop_when {
        let names: Vec<&str> = experiment.variants_on(spec).iter().map(|variant| variant.name.as_str()).collect();
        stopping::check(rule, &names, &selected.questions, experiment.output.shard)?;
    }
    Ok(selected)
}

/// The episodes to branch off were recorded; their questions come from the dataset, which may have changed since.
fn refuse_lost(forks: &[Fork], questions: &[Arc<Question>], record: &DatasetRecord) -> Result<(), RunError> {
    let lost = forks.iter().find(|fork| questions.iter().all(|question| question.id != fork.branch.id));
    lost.map_or(Ok(()), |fork| {
        let message = format!("question `{}` of the run is not in `{}`", printable(&fork.branch.id, 80), record.path);
        Err(RunError::input(message, "restore the dataset as it was when the run was made"))
    })
}

/// The dataset's name, which names its run's folder where there are several.
fn dataset_name(spec: &DatasetSpec) -> String {
    let of_file = || spec.path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    spec.name.clone().unwrap_or_else(of_file)
}

/// The variants, each with the version of its protocol that the run in `folder` began with, if there is one.
fn going_on(specs: &[VariantSpec], folder: Option<&Path>) -> Result<Vec<VariantSpec>, RunError> {
    let folder = folder.map(RunFolder::at).filter(RunFolder::exists);
    let recorded = folder.map(|folder| folder.manifest()).transpose()?;
    let speaking = |variant: &&Variant| Method::parse(&variant.method).is_some_and(|method| method.agent().is_some());
    let known: Vec<&Variant> = recorded.iter().flat_map(Manifest::known_variants).filter(speaking).collect();
    let began = |spec: &VariantSpec| {
        // A variant that is new in the folder speaks as the others do.
        let same = known.iter().find(|variant| variant.name == spec.name);
        let usual = || known.iter().find(|variant| Some(&variant.protocol) == spec.settings.protocol.as_ref());
        same.or_else(usual).map(|variant| (variant.protocol.clone(), variant.protocol_version))
    };
    let with_version =
        |spec: &VariantSpec| VariantSpec { began: spec.began.clone().or_else(|| began(spec)), ..spec.clone() };
    Ok(specs.iter().map(with_version).collect())
}

/// The variants, or what is wrong with them: each fault with the variants that have it.
fn variants(specs: &[VariantSpec], pool: &mut Pool, claims: bool) -> Result<Vec<BuiltVariant>, RunError> {
    let mut built = Vec::with_capacity(specs.len());
    let mut faults: Vec<(RunError, Vec<&VariantSpec>)> = Vec::new();
    for spec in specs {
        match build(spec, pool, claims) {
            Ok(variant) => built.push(variant),
            Err(error) => match faults.iter_mut().find(|(known, _)| *known == error) {
                Some((_, specs)) => specs.push(spec),
                None => faults.push((error, vec![spec])),
            },
        }
    }
    let faults = faults.into_iter().map(|(error, specs)| placed(error, &specs)).collect();
    RunError::together(faults).map_or(Ok(built), Err)
}

/// An error with the place of its variants in front, where they were written in a file.
fn placed(error: RunError, specs: &[&VariantSpec]) -> RunError {
    let written: Vec<&&VariantSpec> = specs.iter().filter(|spec| spec.place.is_some()).collect();
    let Some(place) = written.first().and_then(|spec| spec.place.as_ref()) else { return error };
    let first: Vec<String> = written.iter().take(MAX_LISTED).map(|spec| format!("`{}`", spec.name)).collect();
    let more =
        if written.len() > MAX_LISTED { format!(" and {} more", written.len() - MAX_LISTED) } else { String::new() };
    let noun = if written.len() == 1 { "variant" } else { "variants" };
    error.at(format!("{place}: {noun} {}{more}", first.join(", ")))
}

/// An oracle that has nothing to show would be a closed book under another name.
fn refuse_without_paragraphs(questions: &[Arc<Question>]) -> Result<(), RunError> {
    questions.iter().find(|question| gold_paragraphs(question).is_empty()).map_or(Ok(()), |question| {
        let id = &question.id;
        let message = format!("question `{id}` comes without gold paragraphs, which --oracle-context shows");
        let hint = "use a dataset with paragraphs and supporting facts, such as HotpotQA's distractor files";
        Err(RunError::input(message, hint))
    })
}

fn manifest(
    experiment: &Experiment,
    spec: &DatasetSpec,
    dataset: DatasetRecord,
    mut variants: Vec<Variant>,
) -> Manifest {
    for variant in &mut variants {
        let of_it = experiment.forks.iter().filter(|fork| fork.arm == variant.name);
        variant.repeats = of_it.map(|fork| fork.repeats.end).max().filter(|most| *most != experiment.repeats.max(1));
    }
    let settings: Vec<_> = experiment.variants_on(spec).iter().map(|variant| &variant.settings).collect();
    Manifest {
        stop_when: experiment.stop_when.clone(),
        experiment: experiment_record(experiment, spec),
        git_revision: revision::git_revision(),
        defaults: experiment.output.defaults.clone(),
        files: named_files::digests(&settings, spec.settings.ids.as_deref()),
        started_at: jiff::Timestamp::now().to_string(),
        ..new_manifest(variants, dataset, experiment.repeats.max(1), experiment.output.command_line.clone())
    }
}

/// A manifest of which nothing else is known yet.
pub(super) fn new_manifest(
    variants: Vec<Variant>,
    dataset: DatasetRecord,
    repeats: u32,
    command_line: Vec<String>,
) -> Manifest {
    let (v, wikitrail) = (MANIFEST_VERSION, env!("CARGO_PKG_VERSION").to_owned());
    Manifest { v, variants, repeats, dataset, wikitrail, command_line, ..Manifest::default() }
}

fn experiment_record(experiment: &Experiment, spec: &DatasetSpec) -> Option<ExperimentRecord> {
    let (file, name) = (experiment.file.as_ref()?, experiment.name.as_ref()?);
    let several = experiment.datasets.len() > 1;
    Some(ExperimentRecord {
        name: name.clone(),
        path: file.path.clone(),
        sha256: sha256_hex([file.text.as_bytes()]),
        pairs: experiment.pairs.clone(),
        datasets: experiment.datasets.iter().filter(|_| several).map(dataset_name).collect(),
        dataset: several.then(|| dataset_name(spec)),
    })
}
