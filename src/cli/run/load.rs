//! From flags to usable things: questions, prompt, model, Wikipedia. Nothing runs here.

use super::args::Args;
use crate::agent::{Agent, StoredPrompt};
use crate::cli::builtin;
use crate::cli::failure::Failure;
use crate::cli::prices::Priced;
use crate::cli::say::say;
use crate::cli::tape_args::Tapes;
use crate::cli::variant::{BuiltVariant, Common};
use crate::dataset::{self, Columns, Dataset, Format, ReadOptions};
use crate::llm::{Budget, Budgeted};
use crate::net::redact;
use crate::protocol::direct::gold_paragraphs;
use crate::run::Plan;
use crate::types::manifest::MANIFEST_VERSION;
use crate::types::{AnswerKind, DatasetRecord, Manifest, Question, Selection, Variant};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A run, ready to start.
pub(super) struct Job {
    pub(super) manifest: Manifest,
    /// The rendered prompts, to be stored.
    pub(super) prompts: Vec<StoredPrompt>,
    pub(super) plan: Plan,
    /// The agent of each variant, by the variant's name.
    pub(super) agents: HashMap<String, Agent>,
    /// What is recorded, replayed or kept.
    pub(super) tapes: Tapes,
    pub(super) in_flight: usize,
    /// What all agents together may spend.
    pub(super) budget: Arc<Budget>,
    /// What tokens cost, where that is known.
    pub(super) priced: Option<Priced>,
}

/// Builds everything a run needs, so that a bad flag or file fails in the first second.
pub(super) fn job(args: &Args) -> anyhow::Result<Job> {
    let selection = selection(args)?;
    let dataset = dataset(args)?;
    let questions = dataset::select(&dataset.questions, &selection)?;
    let claims = questions.first().is_some_and(|question| question.answer_kind == AnswerKind::Label);
    // A dry run leaves no file behind.
    let tapes = if args.dry_run { Tapes::default() } else { args.tape.open()? };
    let wiki = tapes.wiki(args.wiki.build()?, args.wiki.compat);
    let priced = args.limits.price.price_of(&args.model)?;
    let price = priced.as_ref().map(|priced| priced.price);
    let limits = args.limits.limits(&args.model.model, priced.as_ref())?;
    let budget = Arc::new(Budget::new(limits));
    let built = args.variant.build(&Common {
        model: &args.model,
        concurrency: usize::from(args.concurrency),
        wiki: &wiki,
        tapes: &tapes,
        offline: args.dry_run,
        compat: args.wiki.compat,
        wording: args.wiki.wording,
        price,
        claims,
        history: Vec::new(),
    })?;
    if built.iter().any(|built| built.variant.oracle_context) {
        refuse_without_paragraphs(&questions)?;
    }
    let (mut variants, mut prompts, mut agents) = (Vec::new(), Vec::new(), HashMap::new());
    for BuiltVariant { variant, mut agent, prompts: rendered } in built {
        if limits.is_any() {
            agent.model = Arc::new(Budgeted::new(agent.model, Arc::clone(&budget), price));
        }
        agents.insert(variant.name.clone(), agent);
        variants.push(variant);
        prompts.extend(rendered);
    }
    let manifest = manifest(args, &dataset, selection, &questions, variants);
    let plan = Plan::new(questions, &manifest.variants, args.repeats);
    // An episode that waits for a page leaves its model slot to another one.
    let in_flight = 2 * usize::from(args.concurrency);
    Ok(Job { manifest, prompts, plan, agents, tapes, in_flight, budget, priced })
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

/// The columns that were named, for the record.
fn columns(args: &Args) -> BTreeMap<String, String> {
    let named =
        [("question", &args.data.question_column), ("answer", &args.data.answer_column), ("id", &args.data.id_column)];
    named.into_iter().filter_map(|(name, column)| Some((name.to_owned(), column.clone()?))).collect()
}

fn dataset(args: &Args) -> anyhow::Result<Dataset> {
    let format = match args.data.format.as_deref() {
        None => None,
        Some(name) => Some(Format::parse(name).ok_or_else(|| {
            let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
            Failure::usage(format!("unknown dataset format `{name}`"), format!("known formats: {}", known.join(", ")))
        })?),
    };
    let columns = Columns {
        question: args.data.question_column.clone(),
        answer: args.data.answer_column.clone(),
        id: args.data.id_column.clone(),
        ..Columns::default()
    };
    let options = ReadOptions { format, skip_bad: args.data.skip_bad, columns };
    let path = args.dataset.display().to_string();
    let shipped = builtin::file(&path).filter(|_| !args.dataset.exists());
    let dataset = match shipped {
        Some(bytes) => dataset::load(&path, bytes, &options)?,
        None => dataset::load_file(&args.dataset, &options)?,
    };
    for skipped in &dataset.skipped {
        say(format_args!("skipped: {skipped}"));
    }
    if !dataset.skipped.is_empty() {
        say(format_args!("note: {} bad records were left out of {path}", dataset.skipped.len()));
    }
    Ok(dataset)
}

fn selection(args: &Args) -> anyhow::Result<Selection> {
    let ids = match &args.data.ids {
        None => Vec::new(),
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                Failure::bad_input(
                    format!("cannot read the ids in `{}`: {error}", path.display()),
                    "--ids takes a UTF-8 file with one id a line",
                )
            })?;
            dataset::read_ids(&text)
        }
    };
    Ok(Selection {
        ids,
        types: args.data.types.clone(),
        shuffle: args.data.shuffle,
        shuffle_like_paper: args.data.shuffle_like_paper,
        limit: args.data.limit,
    })
}

fn manifest(
    args: &Args,
    dataset: &Dataset,
    selection: Selection,
    questions: &[Question],
    variants: Vec<Variant>,
) -> Manifest {
    Manifest {
        v: MANIFEST_VERSION,
        variants,
        repeats: args.repeats,
        dataset: DatasetRecord {
            name: dataset.name.clone(),
            path: args.dataset.display().to_string(),
            format: dataset.format.name().to_owned(),
            columns: columns(args),
            sha256: dataset.sha256.clone(),
            questions: dataset.questions.len(),
            selection,
            selected: questions.len(),
        },
        wikitrail: env!("CARGO_PKG_VERSION").to_owned(),
        git_revision: super::revision::git_revision(),
        command_line: std::env::args_os().map(|word| without_secrets(&word.to_string_lossy())).collect(),
        started_at: jiff::Timestamp::now().to_string(),
        ended_at: None,
        active_ms: 0,
    }
}

/// A word of the command line as it may be stored: addresses lose user part and query, which may hold a key.
fn without_secrets(word: &str) -> String {
    match word.find("://").map(|at| word[..at].rfind('=').map_or(0, |equals| equals + 1)) {
        Some(start) => format!("{}{}", &word[..start], redact::url(&word[start..])),
        None => word.to_owned(),
    }
}
