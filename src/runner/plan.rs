//! The plan: every question under every variant, as often as asked, and what of it is still to do.

use super::branch::PLACEBO;
use crate::base::text::visible_line;
use crate::base::{DatasetRecord, Fork, Manifest, Question, Selection, Shard, Trajectory, Variant, sha256_hex};
use crate::models::Price;
use crate::runner::agent::Episode;
use crate::runner::experiment::{Effect, FACTS, VARIANT_SETTINGS};
use crate::runner::store::Records;
use crate::wikipedia::kind_of;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// All episodes of a run or of one of its shards, question by question.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    /// All questions of the run, in order; a shard knows those of the others too.
    pub(crate) questions: Vec<Arc<Question>>,
    pub(crate) shard: Option<Shard>,
    pub(crate) episodes: Vec<Episode>,
}

#[derive(Debug, Clone)]
pub(crate) struct Due {
    pub keep: usize,
    pub redo: usize,
    pub new: usize,
    /// Recorded episodes of the plan's variants that it does not ask for.
    pub foreign: usize,
    pub other: usize,
    pub episodes: Vec<Episode>,
}

impl Plan {
    /// Every question, or every one of a shard, under every variant, `repeats` times or as often as the variant says. Variants of one question come next to
    /// each other, so that a drift of model or Wikipedia during the run hits all of them alike.
    pub(crate) fn new(questions: Vec<Arc<Question>>, variants: &[Variant], repeats: u32, shard: Option<Shard>) -> Self {
        let variants: Vec<(Arc<Variant>, String)> =
            variants.iter().map(|variant| (Arc::new(variant.clone()), identity(variant).to_string())).collect();
        let mut episodes = Vec::new();
        for question in &questions {
            let asked = question_identity(&question.id, &question.question, &question.answers);
            if shard.is_some_and(|shard| shard.of(&asked) != shard) {
                continue;
            }
            let often = |variant: &Variant| variant.repeats.unwrap_or(repeats);
            for repeat in 0..variants.iter().map(|(variant, _)| often(variant)).max().unwrap_or_default() {
                for (variant, identity) in variants.iter().filter(|(variant, _)| repeat < often(variant)) {
                    let key = key(&asked, identity, repeat);
                    let (question, variant) = (Arc::clone(question), Arc::clone(variant));
                    episodes.push(Episode { question, variant, repeat, key, fork: None });
                }
            }
        }
        Self { questions, shard, episodes }
    }

    /// The same with what each episode branches off. Its key covers the other's key and the edit.
    pub(crate) fn forked(mut self, forks: &[Fork]) -> Self {
        let forks: Vec<Arc<Fork>> = forks.iter().cloned().map(Arc::new).collect();
        for episode in &mut self.episodes {
            let is_its = |fork: &&Arc<Fork>| {
                fork.arm == episode.variant.name
                    && fork.branch.id == episode.question.id
                    && fork.repeats.contains(&episode.repeat)
            };
            let Some(fork) = forks.iter().find(is_its) else { continue };
            let branch = json!({"key": fork.branch.key, "at": fork.branch.at, "edit": fork.branch.edit}).to_string();
            episode.key = sha256_hex([episode.key.as_bytes(), branch.as_bytes()]);
            episode.fork = Some(Arc::clone(fork));
        }
        self
    }

    /// What is to be done when `records` exist already: measured episodes are kept, the rest is due.
    pub(crate) fn against(&self, records: Option<&Records>) -> Due {
        let recorded: HashMap<&str, (&str, bool)> = records
            .into_iter()
            .flat_map(Records::keys)
            .map(|(key, variant, measured)| (key, (variant, measured)))
            .collect();
        let mut due = Due { keep: 0, redo: 0, new: 0, foreign: 0, other: 0, episodes: Vec::new() };
        for episode in &self.episodes {
            match recorded.get(episode.key.as_str()).map(|(_, measured)| *measured) {
                Some(true) => {
                    due.keep += 1;
                    continue;
                }
                Some(false) => due.redo += 1,
                None => due.new += 1,
            }
            due.episodes.push(episode.clone());
        }
        if self.shard.is_some() {
            // What else is recorded belongs to other shards.
            return due;
        }
        let planned: HashSet<&str> = self.episodes.iter().map(|episode| episode.key.as_str()).collect();
        let variants: HashSet<&str> = self.episodes.iter().map(|episode| episode.variant.name.as_str()).collect();
        for (_, (variant, _)) in recorded.iter().filter(|(key, _)| !planned.contains(*key)) {
            if variants.contains(variant) {
                due.foreign += 1;
            } else {
                due.other += 1;
            }
        }
        due
    }
}

/// A note for each variant that has another price in `now` than in `before`.
pub(crate) fn changed_prices(before: &Manifest, now: &Manifest) -> Vec<String> {
    let rates = |variant: &Variant| variant.price.as_ref().map(Price::from);
    let other = |variant: &&Variant| {
        let known = before.variants.iter().find(|known| known.name == variant.name);
        known.is_some_and(|known| rates(known) != rates(variant))
    };
    let note = |variant: &Variant| {
        let name = visible_line(&variant.name, 100);
        format!(
            "note: {name} has several prices: recorded episodes keep their cost; budgets and what was spent take the price in the manifest for all"
        )
    };
    now.variants.iter().filter(other).map(note).collect()
}

pub(crate) fn episode(question: &Arc<Question>, variant: &Arc<Variant>) -> Episode {
    let asked = question_identity(&question.id, &question.question, &question.answers);
    let key = key(&asked, &identity(variant).to_string(), 0);
    Episode { question: Arc::clone(question), variant: Arc::clone(variant), repeat: 0, key, fork: None }
}

/// What of a question decides its episodes, and its shard.
fn question_identity(id: &str, text: &str, answers: &[String]) -> String {
    json!({ "id": id, "text": text, "answers": answers }).to_string()
}

/// The episodes of each of these shards: how many there are to be, and how many of them are recorded.
pub(crate) fn by_shard(
    questions: Vec<Arc<Question>>,
    manifest: &Manifest,
    one: Shard,
    is_recorded: impl Fn(&str) -> bool,
) -> BTreeMap<Shard, (u64, u64)> {
    let plan = Plan::new(questions, &manifest.variants, manifest.repeats, None);
    let mut counts: BTreeMap<Shard, (u64, u64)> = one.all().map(|shard| (shard, (0, 0))).collect();
    for of_question in plan.episodes.chunk_by(|one, next| Arc::ptr_eq(&one.question, &next.question)) {
        let question = &of_question[0].question;
        let shard = one.of(&question_identity(&question.id, &question.question, &question.answers));
        let (planned, recorded) = counts.entry(shard).or_default();
        *planned += of_question.len() as u64;
        *recorded += of_question.iter().filter(|episode| is_recorded(&episode.key)).count() as u64;
    }
    counts
}

pub(crate) fn is_of(trajectory: &Trajectory, shard: Shard) -> bool {
    shard.of(&question_identity(&trajectory.id, &trajectory.question, &trajectory.answers)) == shard
}

/// SHA-256 over everything that decides an episode's course: question, prompt, protocol, model, tool, repeat.
///
/// Names, paths and the address of a model's server are left out: they may change without changing the episode.
///
/// It is taken over the JSON object `{"question": …, "variant": …, "repeat": …}`, whose parts come as texts: a large run
/// has each of them many times.
fn key(question: &str, variant: &str, repeat: u32) -> String {
    let repeat = repeat.to_string();
    let parts = ["{\"question\":", question, ",\"variant\":", variant, ",\"repeat\":", &repeat, "}"];
    sha256_hex(parts.map(str::as_bytes))
}

fn identity(variant: &Variant) -> Value {
    let mut identity = json!({
        "prompt_sha256": variant.prompt_sha256,
        "question_label": variant.question_label,
        "protocol": variant.protocol,
        "options": variant.options,
        "method": variant.method,
        "max_steps": variant.max_steps,
        "model": variant.model,
        "endpoint": variant.endpoint,
        "decoding": variant.decoding,
        // The kind of source; which encyclopedia it is, its origin says. A folder may be moved.
        "wiki": kind_of(&variant.wiki),
        "wiki_origin": variant.wiki_origin,
        "compat": variant.compat,
    });
    // What is usual is left out, so that runs from before these settings existed keep their keys.
    let mut unusual = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            identity[name] = value;
        }
    };
    unusual("protocol_version", (variant.protocol_version > 1).then(|| json!(variant.protocol_version)));
    unusual("voting", variant.voting.map(|voting| json!(voting)));
    unusual("oracle_context", variant.oracle_context.then_some(json!(true)));
    unusual("direct_max_tokens", variant.direct_max_tokens.map(|tokens| json!(tokens)));
    unusual("direct_prompt_sha256", variant.direct_prompt_sha256.as_ref().map(|sha256| json!(sha256)));
    unusual("wording", (!variant.wording.is_english()).then(|| json!(variant.wording)));
    unusual("settings", (!variant.settings.is_empty()).then(|| json!(variant.settings)));
    identity
}

pub(crate) fn duplicate_variants(variants: &[Variant]) -> Option<(&Variant, &Variant)> {
    let mut seen: HashMap<String, &Variant> = HashMap::new();
    variants.iter().find_map(|variant| Some((seen.insert(identity(variant).to_string(), variant)?, variant)))
}

/// The settings in which a recorded run differs from a planned one, each as `name: was X, now Y`, followed by the
/// variants that it holds for where it does not hold for all.
///
/// A different selection from the same file is not a difference by itself: a run may be extended. An experiment may also
/// have other variants than before, and more repeats; a variant that has kept its name must be what it was.
pub(crate) fn differences(recorded: &Manifest, planned: &Manifest) -> Vec<String> {
    changes(recorded, planned, planned.experiment.is_some())
}

/// The same for parts of one run, such as its shards: they have one selection, and nothing of them grows.
pub(crate) fn differences_of_parts(recorded: &Manifest, planned: &Manifest) -> Vec<String> {
    let mut found = changes(recorded, planned, false);
    let (was, now) = (&recorded.dataset, &planned.dataset);
    if was.sha256 == now.sha256 && was.selection != now.selection {
        let shown = |selection: &Selection| match json!(selection) {
            Value::Object(fields) if fields.is_empty() => "all questions".to_owned(),
            fields => fields.to_string(),
        };
        found.push(format!("selection: was {}, now {}", shown(&was.selection), shown(&now.selection)));
    }
    found
}

fn changes(recorded: &Manifest, planned: &Manifest, grows: bool) -> Vec<String> {
    let mut found: Vec<String> = dataset_change(&recorded.dataset, &planned.dataset).into_iter().collect();
    let mut compare = |name: &str, was: &Value, now: &Value| {
        if was != now {
            found.push(format!("{name}: was {was}, now {now}"));
        }
    };
    for name in recorded.dataset.columns.keys().chain(planned.dataset.columns.keys()).collect::<BTreeSet<_>>() {
        let of = |manifest: &Manifest| json!(manifest.dataset.columns.get(name));
        compare(&format!("{name} of the dataset"), &of(recorded), &of(planned));
    }
    compare("stop_when", &json!(recorded.stop_when), &json!(planned.stop_when));
    if !grows || planned.repeats < recorded.repeats || planned.stop_when.is_some() {
        compare("repeats", &json!(recorded.repeats), &json!(planned.repeats));
    }
    if planned.stop_when.is_some() && recorded.stop_when.is_some() {
        // The rule looks at the questions in their order; more of them may follow.
        let order = |manifest: &Manifest| json!(Selection { limit: None, ..manifest.dataset.selection.clone() });
        compare("order of the questions", &order(recorded), &order(planned));
    }
    if grows {
        found.extend(renamed(recorded, planned));
    } else {
        // A branch gets its placebos when its controls have run.
        let is_later = |name: &str| planned.is_branch() && name == PLACEBO;
        let names = |manifest: &Manifest| {
            let names = manifest.variants.iter().map(|variant| variant.name.as_str());
            json!(names.filter(|name| !is_later(name)).collect::<BTreeSet<_>>())
        };
        compare("variants", &names(recorded), &names(planned));
    }
    let mut of_variants: Vec<(String, Vec<&str>)> = Vec::new();
    for now in &planned.variants {
        let Some(was) = recorded.known_variants().find(|was| was.name == now.name) else { continue };
        for text in differing(was, now) {
            match of_variants.iter_mut().find(|(known, _)| *known == text) {
                Some((_, variants)) => variants.push(&now.name),
                None => of_variants.push((text, vec![&now.name])),
            }
        }
    }
    found.extend(of_variants.into_iter().map(|(text, variants)| {
        if variants.len() == planned.variants.len() { text } else { format!("{text} ({})", variants.join(", ")) }
    }));
    found
}

/// How the dataset's file differs: it was edited, or is another one.
fn dataset_change(was: &DatasetRecord, now: &DatasetRecord) -> Option<String> {
    let digest = |record: &DatasetRecord| record.sha256.chars().take(12).collect::<String>();
    let file = |record: &DatasetRecord| format!("{} (SHA-256 {}…)", visible_line(&record.path, 200), digest(record));
    let is_edited = was.path == now.path && now.path != "-";
    (was.sha256 != now.sha256).then(|| {
        if is_edited {
            let path = visible_line(&now.path, 200);
            format!("dataset: {path} was edited: SHA-256 was {}…, now {}…", digest(was), digest(now))
        } else {
            format!("dataset: was {}, now {}", file(was), file(now))
        }
    })
}

/// How a variant differs from what it was: by its settings, and by what was found when they were read.
fn differing(was: &Variant, now: &Variant) -> Vec<String> {
    if identity(was) == identity(now) {
        return Vec::new();
    }
    let other_prompt = was.prompt_sha256 != now.prompt_sha256 || was.direct_prompt_sha256 != now.direct_prompt_sha256;
    let settings = VARIANT_SETTINGS.iter().filter(|setting| match setting.effect {
        Effect::Decides => true,
        // What a prompt was made from says more than its digest, but decides nothing by itself: a file may be moved.
        Effect::Prompt => other_prompt,
        Effect::Nothing => false,
    });
    // A setting that only one of them uses follows from a difference that is listed.
    let settings = settings.filter(|setting| setting.is_used_by(was) && setting.is_used_by(now));
    let settings = settings.map(|setting| (setting.name, setting.of(was), setting.of(now)));
    let facts = FACTS.into_iter().map(|(name, of)| (name, of(was), of(now)));
    let said = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let changed = settings.chain(facts).filter(|(_, was, now)| was != now);
    changed.map(|(name, was, now)| format!("{name}: was {}, now {}", said(was), said(now))).collect()
}

/// Variants that are what another one was before: their episodes are recorded under that one's name.
fn renamed(recorded: &Manifest, planned: &Manifest) -> Vec<String> {
    let known: HashMap<String, &Variant> =
        recorded.known_variants().map(|variant| (identity(variant).to_string(), variant)).collect();
    let was = |now: &Variant| known.get(&identity(now).to_string()).filter(|was| was.name != now.name);
    let renamed = planned.variants.iter().filter_map(|now| Some((was(now)?, now)));
    renamed.map(|(was, now)| format!("name of a variant: was {}, now {}", json!(was.name), json!(now.name))).collect()
}
