//! What a log says of its run: the settings of a variant, and what the manifest keeps in the log's own words.

use super::file::Head;
use super::sample::instant;
use crate::net::redact;
use crate::run::imported;
use crate::types::manifest::UNKNOWN;
use crate::types::secrecy::is_called_secret;
use crate::types::text::{printable, visible_line};
use crate::types::{DecodingRecord, LogRecord, Reasoning, Variant};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;

/// The largest value that is kept in the log's own words, in bytes.
const MAX_VALUE: usize = 64 << 10;

/// Names that a tool for submitting an answer has, unless the log names another.
const SUBMIT: &str = "submit";

/// Fields of `eval` that the manifest keeps. What models and tasks were given besides may hold keys.
const KEPT: [&str; 17] = [
    "created",
    "run_id",
    "eval_id",
    "task",
    "task_id",
    "task_version",
    "task_args",
    "solver",
    "solver_args",
    "model",
    "model_generate_config",
    "config",
    "dataset",
    "revision",
    "packages",
    "tags",
    "metadata",
];

pub(super) struct LogSettings {
    pub(super) task: Option<String>,
    pub(super) dataset: Option<String>,
    pub(super) epochs: Option<u32>,
    /// Questions that it planned, and episodes.
    pub(super) selected: Option<usize>,
    pub(super) planned: Option<usize>,
    /// The place of each question, by its id.
    pub(super) ids: HashMap<String, usize>,
    /// Names of the tools that submit an answer.
    pub(super) submit: Vec<String>,
    pub(super) revision: Option<String>,
    pub(super) started_at: Option<String>,
    pub(super) ended_at: Option<String>,
    status: Option<String>,
    error: Option<String>,
    model: Option<String>,
    base_url: Option<String>,
    decoding: DecodingRecord,
    kept: Map<String, Value>,
    sha256: String,
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(|text| printable(text, 200)).filter(|text| !text.is_empty())
}

fn count(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|count| usize::try_from(count).ok())
}

impl LogSettings {
    pub(super) fn of(head: Head) -> Self {
        let Head { status, error, eval, plan, stats, sha256, .. } = head;
        let ids = ids(&eval["dataset"]["sample_ids"]);
        let epochs = eval["config"]["epochs"].as_u64().and_then(|epochs| u32::try_from(epochs).ok()).filter(|n| *n > 0);
        let selected = if ids.is_empty() { count(&eval["dataset"]["samples"]) } else { Some(ids.len()) };
        let time = |value: &Value| value.as_str().and_then(instant);
        Self {
            task: text(&eval["task"]),
            dataset: text(&eval["dataset"]["name"]),
            selected,
            planned: selected.and_then(|selected| selected.checked_mul(epochs.unwrap_or(1) as usize)),
            epochs,
            ids,
            submit: submit_tools(&plan),
            revision: text(&eval["revision"]["commit"]),
            started_at: time(&stats["started_at"]).or_else(|| time(&eval["created"])),
            ended_at: time(&stats["completed_at"]),
            status: text(&status),
            error: error["message"].as_str().map(|message| visible_line(message, 200)),
            model: text(&eval["model"]),
            base_url: text(&eval["model_base_url"]).map(|address| redact::url(&address)),
            decoding: decoding(&eval["model_generate_config"], &plan["config"]),
            kept: kept_settings(&eval, &plan),
            sha256,
        }
    }

    /// The settings of its answers.
    pub(super) fn variant(&self, name: &str) -> Variant {
        let model = self.model.clone().unwrap_or_else(|| UNKNOWN.to_owned());
        let known = imported::imported_variant(name, model);
        Variant {
            prompt: self.task.clone().unwrap_or(known.prompt),
            base_url: self.base_url.clone(),
            decoding: self.decoding.clone(),
            ..known
        }
    }

    /// Why it is not all of its run, in words.
    pub(super) fn unfinished(&self) -> Option<String> {
        let why = self.error.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        match self.status.as_deref()? {
            "success" => None,
            "started" => Some("its run did not end".to_owned()),
            status => Some(format!("its run ended with status `{}`{why}", visible_line(status, 40))),
        }
    }

    /// What the manifest keeps of it.
    pub(super) fn record(&self, path: &Path, variant: &str, samples: usize) -> LogRecord {
        LogRecord {
            path: path.display().to_string(),
            sha256: self.sha256.clone(),
            variant: variant.to_owned(),
            status: self.status.clone(),
            planned: self.planned,
            samples,
            said: self.kept.clone(),
        }
    }
}

fn ids(list: &Value) -> HashMap<String, usize> {
    let id = |id: &Value| match id {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    };
    let mut ids = HashMap::new();
    for id in list.as_array().into_iter().flatten().filter_map(id) {
        let next = ids.len();
        ids.entry(id).or_insert(next);
    }
    ids
}

/// The names of the tools that submit an answer, where the plan has others than the usual one.
fn submit_tools(plan: &Value) -> Vec<String> {
    let steps = plan["steps"].as_array().into_iter().flatten();
    let named = steps.flat_map(|step| [&step["params"]["submit"]["name"], &step["params"]["submit_name"]]);
    let named: Vec<String> = named.filter_map(|name| name.as_str().map(str::to_owned)).collect();
    if named.is_empty() { vec![SUBMIT.to_owned()] } else { named }
}

/// How replies were decoded: what the plan says, then what the model was set to.
fn decoding(model: &Value, plan: &Value) -> DecodingRecord {
    let said = |name: &str| if plan[name].is_null() { &model[name] } else { &plan[name] };
    let effort = said("reasoning_effort").as_str().and_then(Reasoning::parse);
    let budget = || Reasoning::parse(&said("reasoning_tokens").as_u64()?.to_string());
    DecodingRecord {
        temperature: said("temperature").as_f64().filter(|of| (0.0..=2.0).contains(of)),
        top_p: said("top_p").as_f64().filter(|of| (0.0..=1.0).contains(of)),
        max_tokens: said("max_tokens").as_u64().and_then(|of| u32::try_from(of).ok()).filter(|of| *of > 0),
        seed: said("seed").as_u64(),
        reasoning: effort.or_else(budget),
        ..DecodingRecord::default()
    }
}

/// What it says in its own words, without what is empty, too large, or named like a secret.
fn kept_settings(eval: &Value, plan: &Value) -> Map<String, Value> {
    let named = |name: &str| Some((name.to_owned(), eval.get(name)?.clone()));
    let mut kept: Map<String, Value> = KEPT.into_iter().filter_map(named).collect();
    if let Some(dataset) = kept.get_mut("dataset").and_then(Value::as_object_mut) {
        dataset.remove("sample_ids");
    }
    let solvers: Vec<Value> =
        plan["steps"].as_array().into_iter().flatten().filter_map(|step| step.get("solver").cloned()).collect();
    kept.insert("solvers".to_owned(), Value::Array(solvers));
    kept.values_mut().for_each(|value| without_secrets(value, 0));
    let is_empty = |value: &Value| {
        value.is_null() || value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
    };
    kept.into_iter().filter(|(_, value)| !is_empty(value) && value.to_string().len() <= MAX_VALUE).collect()
}

/// Texts under names such as `api_key` go; numbers stay, as in `max_tokens`.
fn without_secrets(value: &mut Value, depth: usize) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| {
                let secret = (is_called_secret(name) && value.is_string()) || name == "extra_headers";
                !secret && depth < 100
            });
            fields.values_mut().for_each(|value| without_secrets(value, depth + 1));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| without_secrets(value, depth + 1)),
        _ => {}
    }
}
