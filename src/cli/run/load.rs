//! From flags to usable things: questions, prompt, model, Wikipedia. Nothing runs here.

use super::args::Args;
use crate::agent::Agent;
use crate::cli::builtin;
use crate::cli::failure::Failure;
use crate::cli::say::say;
use crate::dataset::{self, Columns, Dataset, Format, ReadOptions};
use crate::llm::BaselineSettings;
use crate::net::redact;
use crate::prompt::{self, ExemplarOrder, RenderSettings, Rendered};
use crate::protocol::{Protocol, Setup};
use crate::run::Plan;
use crate::types::manifest::MANIFEST_VERSION;
use crate::types::{AnswerKind, DatasetRecord, Decoding, Manifest, Question, Selection, Variant};
use crate::wiki::SessionOptions;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A run, ready to start.
pub(super) struct Job {
    pub(super) manifest: Manifest,
    pub(super) prompt: Rendered,
    pub(super) plan: Plan,
    pub(super) agent: Agent,
    pub(super) in_flight: usize,
}

/// Builds everything a run needs, so that a bad flag or file fails in the first second.
pub(super) fn job(args: &Args) -> anyhow::Result<Job> {
    let selection = selection(args)?;
    let dataset = dataset(args)?;
    let questions = dataset::select(&dataset.questions, &selection)?;
    let claims = questions.first().is_some_and(|question| question.answer_kind == AnswerKind::Label);
    let protocol = protocol(&args.prompt.protocol)?;
    if let Some(option) = args.prompt.option.first() {
        return Err(Failure::usage(
            format!("protocol `{}` has no option `{option}`", protocol.id()),
            "leave --option out",
        ));
    }
    let max_steps = args.prompt.max_steps.map_or(protocol.default_max_steps(), usize::from);
    let (prompt, label, prompt_name) = prompt(args, claims, max_steps)?;
    let mut rules = BaselineSettings { last_step: max_steps, ..BaselineSettings::default() };
    let rules_label = if claims { &mut rules.claim_label } else { &mut rules.question_label };
    rules_label.clone_from(&label);
    let model = args.model.build(usize::from(args.concurrency), rules)?;
    let wiki = args.wiki.build()?;
    let decoding = Decoding {
        temperature: args.decoding.temperature,
        top_p: args.decoding.top_p,
        max_tokens: args.decoding.max_tokens,
        seed: args.decoding.seed,
    };
    let variant = Variant {
        name: "main".to_owned(),
        protocol: protocol.id().to_owned(),
        options: BTreeMap::new(),
        method: args.prompt.method.clone(),
        max_steps,
        prompt: prompt_name,
        prompt_sha256: prompt.sha256.clone(),
        question_label: label.clone(),
        model: model.label,
        endpoint: model.endpoint.to_owned(),
        base_url: model.base_url,
        decoding: decoding.clone(),
        wiki: wiki.label,
        wiki_origin: wiki.origin,
        compat: args.wiki.compat,
    };
    let manifest = manifest(args, &dataset, selection, &questions, variant);
    let plan = Plan::new(questions, &manifest.variants, args.repeats);
    let setup = Setup { prefix: Arc::clone(&prompt.text), question_label: label, max_steps, decoding };
    let agent = Agent {
        model: model.model,
        source: wiki.source,
        session: SessionOptions::default(),
        protocol,
        setup,
        price: args.price,
    };
    // An episode that waits for a page leaves its model slot to another one.
    let in_flight = 2 * usize::from(args.concurrency);
    Ok(Job { manifest, prompt, plan, agent, in_flight })
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

/// The rendered prompt, the label before the question, and the prompt's name for the record.
fn prompt(args: &Args, claims: bool, max_steps: usize) -> anyhow::Result<(Rendered, String, String)> {
    let flags = &args.prompt;
    let default = if claims { "prompts/fever.toml" } else { "prompts/hotpotqa.toml" };
    let spec = flags.prompt.as_deref().unwrap_or(default);
    let instruction = flags.instruction.as_deref().map(|path| path.to_string_lossy().into_owned());
    let source = prompt::load(spec, instruction.as_deref(), &builtin::file)?;
    let settings = RenderSettings {
        protocol: &flags.protocol,
        method: &flags.method,
        shots: flags.shots,
        order: ExemplarOrder::default(),
        max_steps,
    };
    let rendered = prompt::render(&source, &settings)?;
    // A text of the paper's does not say which of the two it is for; the dataset does.
    let usual = if claims { "Claim" } else { "Question" };
    let label = flags.question_label.as_deref().or(source.question_label()).unwrap_or(usual).to_owned();
    Ok((rendered, label, spec.to_owned()))
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

fn protocol(id: &str) -> anyhow::Result<Protocol> {
    Protocol::parse(id).ok_or_else(|| {
        let known: Vec<&str> = Protocol::ALL.iter().map(|protocol| protocol.id()).collect();
        Failure::usage(format!("unknown protocol `{id}`"), format!("known protocols: {}", known.join(", ")))
    })
}

fn manifest(
    args: &Args,
    dataset: &Dataset,
    selection: Selection,
    questions: &[Question],
    variant: Variant,
) -> Manifest {
    Manifest {
        v: MANIFEST_VERSION,
        variants: vec![variant],
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
