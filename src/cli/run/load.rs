//! From flags to usable things: questions, prompt, model, Wikipedia. Nothing runs here.

use super::args::{Args, DataArgs, QuestionArgs};
use super::given::without_secrets;
use super::inputs::Wrong;
use super::part::{self, CellArgs, CellFlags, Part};
use super::pool::Pool;
use crate::agent::{Agent, StoredPrompt};
use crate::cli::failure::Failure;
use crate::cli::pace::Pace;
use crate::cli::say::say;
use crate::cli::variant::{BuiltVariant, Common};
use crate::dataset::{self, Dataset};
use crate::llm::{Budget, Budgeted, Price};
use crate::protocol::direct::gold_paragraphs;
use crate::report::counted;
use crate::run::{Plan, twins};
use crate::types::manifest::MANIFEST_VERSION;
use crate::types::{AnswerKind, DatasetRecord, Manifest, PriceRecord, Question, Selection, Variant};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A run, ready to start.
pub(super) struct Job {
    pub(super) manifest: Manifest,
    /// The rendered prompts, to be stored.
    pub(super) prompts: Vec<StoredPrompt>,
    pub(super) plan: Plan,
    /// The agent of each variant, by the variant's name.
    pub(super) agents: HashMap<String, Agent>,
    /// Where requests wait for their turn, those of the experiment's other runs among them.
    pub(super) pace: Arc<Pace>,
    /// What all agents together may spend, those of the experiment's other runs among them.
    pub(super) budget: Arc<Budget>,
    /// What tokens cost, by the variant's name, where that is known.
    pub(super) prices: BTreeMap<String, PriceRecord>,
    /// The run's folder, where one was named.
    pub(super) out: Option<PathBuf>,
    /// Text of the experiment's file, to be stored.
    pub(super) experiment: Option<String>,
}

/// Builds everything a run needs, so that a bad flag or file fails in the first second.
pub(super) fn job(args: &Args, part: Part, pool: &mut Pool) -> anyhow::Result<Job> {
    let selection = selection(&part.questions.data)?;
    let dataset = dataset(&part.questions)?;
    let questions = dataset::select(&dataset.questions, &selection)?;
    let claims = questions.first().is_some_and(|question| question.answer_kind == AnswerKind::Label);
    let (mut variants, mut prompts, mut agents, mut prices) = (Vec::new(), Vec::new(), HashMap::new(), BTreeMap::new());
    let mut faults = Vec::new();
    for cell in &part.cells {
        let built = cell.priced(&args.limits.price).and_then(|price| {
            let built = built(cell, price.as_ref(), claims, pool)?;
            Ok((price, built))
        });
        let (price, built) = match built {
            Ok(made) => made,
            Err(error) => {
                faults.push((cell, error));
                continue;
            }
        };
        if built.iter().any(|built| built.variant.oracle_context) {
            refuse_without_paragraphs(&questions)?;
        }
        for BuiltVariant { variant, agent, prompts: rendered } in built {
            prices.extend(price.clone().map(|price| (variant.name.clone(), price)));
            agents.insert(variant.name.clone(), agent);
            variants.push(variant);
            prompts.extend(rendered);
        }
    }
    if let Some(error) = part::together(faults) {
        return Err(error);
    }
    if let Some((one, other)) = twins(&variants) {
        return Err(Failure::bad_input(
            format!("variants `{}` and `{}` are the same, and each would be taken for the other", one.name, other.name),
            "leave one of them out; where a server is does not tell variants apart",
        ));
    }
    let manifest = manifest(&part, &dataset, selection, &questions, variants);
    let plan = Plan::new(questions, &manifest.variants, part.repeats);
    let (pace, budget) = (Arc::clone(&pool.pace), Arc::clone(&pool.budget));
    let experiment = part.experiment.map(|of| of.text);
    Ok(Job { manifest, prompts, plan, agents, pace, budget, prices, out: part.out, experiment })
}

/// The variants of a cell, with the budget in front of their models.
fn built(
    cell: &CellArgs,
    price: Option<&PriceRecord>,
    claims: bool,
    pool: &mut Pool,
) -> anyhow::Result<Vec<BuiltVariant>> {
    let CellFlags { variant, model, wiki: wiki_args, .. } = &cell.flags;
    let wiki = pool.wiki(wiki_args)?;
    let mut built = variant.build(&Common {
        model,
        server: pool.server(model)?,
        wiki: &wiki,
        tapes: &pool.tapes,
        compat: wiki_args.compat,
        wording: wiki_args.wording,
        price,
        claims,
        history: Vec::new(),
    })?;
    for BuiltVariant { variant, agent, .. } in &mut built {
        // A cell makes one variant, and says what it is called.
        if let Some((name, _)) = &cell.named {
            variant.name.clone_from(name);
        }
        if pool.budget.limits().is_any() {
            agent.model =
                Arc::new(Budgeted::new(Arc::clone(&agent.model), Arc::clone(&pool.budget), price.map(Price::from)));
        }
    }
    Ok(built)
}

/// An oracle that has nothing to show would be a closed book under another name.
fn refuse_without_paragraphs(questions: &[Question]) -> anyhow::Result<()> {
    match questions.iter().find(|question| gold_paragraphs(question).is_empty()) {
        None => Ok(()),
        Some(question) => Err(Failure::bad_input(
            format!("question `{}` comes without gold paragraphs, which --oracle-context shows", question.id),
            "use a dataset with paragraphs and supporting facts, such as HotpotQA's distractor files",
        )),
    }
}

fn dataset(args: &QuestionArgs) -> anyhow::Result<Dataset> {
    let dataset = args.data.how.load(&args.dataset)?;
    if !dataset.skipped.is_empty() {
        let (count, path) = (counted(dataset.skipped.len(), "bad record"), args.dataset.display());
        say(format_args!("note: {count} left out of {path}"));
    }
    Ok(dataset)
}

/// The ids in a file.
pub(super) fn ids(path: &Path) -> Result<Vec<String>, Wrong> {
    let text = std::fs::read_to_string(path).map_err(|error| Wrong {
        message: format!("cannot read the ids in `{}`: {error}", path.display()),
        hint: "--ids takes a UTF-8 file with one id a line".to_owned(),
    })?;
    Ok(dataset::read_ids(&text))
}

fn selection(data: &DataArgs) -> anyhow::Result<Selection> {
    let ids = match &data.ids {
        None => Vec::new(),
        Some(path) => ids(path).map_err(Wrong::failure)?,
    };
    Ok(Selection {
        ids,
        types: data.types.clone(),
        shuffle: data.shuffle,
        shuffle_like_paper: data.shuffle_like_paper,
        limit: data.limit,
    })
}

fn manifest(
    part: &Part,
    dataset: &Dataset,
    selection: Selection,
    questions: &[Question],
    variants: Vec<Variant>,
) -> Manifest {
    Manifest {
        v: MANIFEST_VERSION,
        variants,
        retired: Vec::new(),
        repeats: part.repeats,
        experiment: part.experiment.as_ref().map(|of| of.record.clone()),
        dataset: DatasetRecord {
            name: dataset.name.clone(),
            path: part.questions.dataset.display().to_string(),
            format: dataset.format.name().to_owned(),
            columns: part.questions.data.how.columns(),
            sha256: dataset.sha256.clone(),
            questions: dataset.questions.len(),
            selection,
            selected: questions.len(),
        },
        wikitrail: env!("CARGO_PKG_VERSION").to_owned(),
        git_revision: super::revision::git_revision(),
        command_line: without_secrets(std::env::args_os()),
        started_at: jiff::Timestamp::now().to_string(),
        ended_at: None,
        active_ms: 0,
        limit_history: Vec::new(),
    }
}
