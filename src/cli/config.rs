//! What settings files and environment variables give where no flag says otherwise, and `config`, which shows it.

use super::failure::{self, Failure};
use super::flags::{self, Group, TypedSettings, has_setting};
use super::output_file::json_or;
use super::say::say;
use crate::analysis::report::console::stdout;
use crate::base::text::visible_line;
use crate::runner::experiment::defaults::{DEFAULTS, DefaultSetting, DefaultSource, DefaultValue, Defaults, RESULTS};
use crate::runner::experiment::{Draft, ExperimentFile, Overrides, variant_setting};
use crate::runner::{UserConfig, key_variable};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Characters of a value that are shown.
const LONGEST: usize = 300;
/// A model of each provider, for the name of its key's variable.
const PROVIDERS: [&str; 3] = ["openai:m", "anthropic:m", "gemini:m"];

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let person = person()?;
    json_or(args.json, || to_json(&person), || text(&person), &mut stdout())?;
    Ok(failure::OK)
}

/// Where keys are read from, and whether something is there. Never the key.
fn keys() -> impl Iterator<Item = (&'static str, bool)> {
    let names = PROVIDERS.iter().filter_map(|model| key_variable(model));
    names.map(|name| (name, std::env::var_os(name).is_some_and(|key| !key.is_empty())))
}

fn to_json(person: &UserConfig) -> Value {
    let entry = |default: &DefaultValue| json!({"value": default.value, "from": default.by.to_string(), "allowed": person.defaults.allows(default)});
    let setting = |setting: &DefaultSetting| {
        let all = person.defaults.all(setting.name).collect::<Vec<&DefaultValue>>();
        let built_in = Some(setting.built_in).filter(|text| !text.is_empty());
        let mut shown = match all.first() {
            Some(first) => entry(first),
            None => json!({"value": built_in, "from": "default", "allowed": true}),
        };
        shown["name"] = setting.name.into();
        shown["overridden"] = all.iter().skip(1).map(|weaker| entry(weaker)).collect();
        shown
    };
    let file = |(path, found): &(std::path::PathBuf, bool)| json!({"path": path.display().to_string(), "found": found});
    json!({
        "settings": DEFAULTS.iter().map(setting).collect::<Vec<_>>(),
        "files": person.files.iter().map(file).collect::<Vec<_>>(),
        "keys": keys().map(|(name, set)| json!({"variable": name, "set": set})).collect::<Vec<_>>(),
        "unknown_variables": person.unknown,
    })
}

fn text(person: &UserConfig) -> String {
    let mut rows: Vec<[String; 3]> = vec![["setting", "value", "from"].map(str::to_owned)];
    for setting in &DEFAULTS {
        let all = person.defaults.all(setting.name).collect::<Vec<&DefaultValue>>();
        if all.is_empty() {
            let built_in = if setting.built_in.is_empty() { "–" } else { setting.built_in };
            rows.push([setting.name.to_owned(), built_in.to_owned(), "default".to_owned()]);
        }
        for (i, default) in all.into_iter().enumerate() {
            let more = match (i, person.defaults.allows(default)) {
                (0, true) => "",
                (0, false) => " (refused: `key_hosts` does not name its host)",
                _ => " (overridden)",
            };
            let name = if i == 0 { setting.name } else { "" };
            rows.push([name.to_owned(), visible_line(&default.value, LONGEST), format!("{}{more}", default.by)]);
        }
    }
    rows.push(Default::default());
    for (i, (path, found)) in person.files.iter().enumerate() {
        let path = visible_line(&path.display().to_string(), LONGEST);
        let found = if *found { "read" } else { "not there" };
        rows.push([if i == 0 { "files" } else { "" }.to_owned(), path, found.to_owned()]);
    }
    for (i, (name, set)) in keys().enumerate() {
        let set = if set { "set, not shown" } else { "not set" };
        rows.push([if i == 0 { "keys" } else { "" }.to_owned(), name.to_owned(), set.to_owned()]);
    }
    for name in &person.unknown {
        rows.push(["ignored".to_owned(), visible_line(name, LONGEST), "not the variable of a setting".to_owned()]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let line =
        |[name, value, from]: &[String; 3]| format!("{name:first$}  {value:second$}  {from}").trim_end().to_owned();
    rows.iter().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

/// Reads the person's settings, and warns of variables that are nearly one of ours.
pub(super) fn person() -> anyhow::Result<UserConfig> {
    let person = UserConfig::read()?;
    person.warnings().for_each(say);
    Ok(person)
}

/// Folders of runs as they were typed, else the one in which new ones are made.
pub(super) fn folders(typed: &[String]) -> anyhow::Result<Vec<String>> {
    if !typed.is_empty() {
        return Ok(typed.to_vec());
    }
    let own = person()?.results().map(|path| path.display().to_string());
    Ok(vec![own.unwrap_or_else(|| RESULTS.to_owned())])
}

/// Settings as they were typed, completed by those of the person.
pub(super) fn completed<G: Group>(typed: &TypedSettings<G>) -> anyhow::Result<TypedSettings<G>> {
    let (person, mut typed) = (person()?, typed.clone());
    let mut taking = DefaultsResolver::of(&person);
    taking.settings(&mut typed, None, false)?;
    taking.tell();
    Ok(typed)
}

/// Hands values out to what has no flag, and remembers them.
pub(super) struct DefaultsResolver<'d> {
    defaults: &'d Defaults,
    /// The person's own, by which a value of others may be used.
    own: &'d Defaults,
    /// Whether this command uses what others wrote.
    confirmed: bool,
    taken: Vec<DefaultValue>,
}

impl<'d> DefaultsResolver<'d> {
    pub(super) fn of(person: &'d UserConfig) -> Self {
        Self { defaults: &person.defaults, own: &person.defaults, confirmed: false, taken: Vec::new() }
    }

    /// The value of a setting that has none yet.
    pub(super) fn one(&mut self, name: &str) -> anyhow::Result<Option<String>> {
        self.defaults.get(name).map(|default| self.take(default)).transpose()
    }

    fn take(&mut self, default: &'d DefaultValue) -> anyhow::Result<String> {
        if !self.confirmed && !self.own.allows(default) {
            let flag = default.setting.flag.unwrap_or(default.setting.name);
            let value = visible_line(&default.value, LONGEST);
            let message =
                format!("{flag} {value} is named by {} alone, which may have come from somebody else", default.by);
            let hint = match default.setting.name {
                "base_url" => format!(
                    "requests and keys would go there: type {flag} in this command, or add the host to `key_hosts` in your own \
                     settings file (`wikitrail config` names it)"
                ),
                _ => format!("type {flag} in this command"),
            };
            return Err(Failure::usage(message, hint));
        }
        self.taken.push(default.clone());
        Ok(default.value.clone())
    }

    /// Completes settings of a model and of Wikipedia. What an experiment file sets stays; `priced` where a flag names
    /// prices.
    pub(super) fn settings<G: Group>(
        &mut self,
        typed: &mut TypedSettings<G>,
        file: Option<&ExperimentFile>,
        priced: bool,
    ) -> anyhow::Result<()> {
        for name in ["model", "contact", "base_url", "price"] {
            let is_set = |file: &ExperimentFile| variant_setting(name).is_some_and(|setting| file.sets(setting));
            if !has_setting::<G>(name) || typed.has(name) || file.is_some_and(is_set) || name == "price" && priced {
                continue;
            }
            let default = match name {
                "contact" if file.is_none() && has_setting::<G>("wiki") && !is_live(typed) => None,
                "base_url" | "price" => self.of_models(name, &models(typed, file)),
                _ => self.defaults.get(name),
            };
            let Some(default) = default else { continue };
            typed.set(name, &default.value);
            let overrides = Overrides { settings: typed.single(), ..Overrides::default() };
            if file.is_some_and(|file| file.check_used(&overrides).is_err()) {
                typed.unset(name);
            } else {
                self.take(default)?;
            }
        }
        Ok(())
    }

    fn of_models(&self, name: &str, models: &[String]) -> Option<&'d DefaultValue> {
        let mut of_models = models.iter().map(|model| self.defaults.of_model(name, model));
        let first = of_models.next().flatten()?;
        of_models.all(|other| other.is_some_and(|other| other.value == first.value)).then_some(first)
    }

    /// A file of prices, where neither it nor a price is known.
    pub(super) fn prices(&mut self, prices: &mut Option<PathBuf>, price: bool) -> anyhow::Result<()> {
        if prices.is_none() && !price {
            *prices = self.one("prices")?.map(PathBuf::from);
        }
        Ok(())
    }

    /// Says what the file of the folder gave: nobody typed it.
    pub(super) fn tell(&self) {
        for default in &self.taken {
            if let DefaultSource::Folder(..) = default.by {
                let flag = default.setting.flag.unwrap_or(default.setting.name);
                say(format_args!("note: {flag} {}, from {}", visible_line(&default.value, LONGEST), default.by));
            }
        }
    }

    pub(super) fn to_map(&self) -> BTreeMap<String, String> {
        self.taken.iter().map(|default| (default.setting.name.to_owned(), default.value.clone())).collect()
    }
}

fn is_live<G: Group>(typed: &TypedSettings<G>) -> bool {
    typed.texts("wiki").iter().any(|wiki| !wiki.starts_with("corpus:"))
}

fn models<G: Group>(typed: &TypedSettings<G>, file: Option<&ExperimentFile>) -> Vec<String> {
    let baseline = || "baseline".to_owned();
    if typed.has("model") {
        return typed.texts("model");
    }
    let Some(file) = file else { return vec![baseline()] };
    let drafts = file.datasets.iter().flat_map(|dataset| file.variants_on(dataset, &Overrides::default()));
    let model = |draft: Draft| {
        let set = draft.settings.iter().find(|assignment| assignment.setting.name == "model");
        set.and_then(|set| set.value.as_str()).map_or_else(baseline, str::to_owned)
    };
    let mut models: Vec<String> = drafts.map(model).filter(|model| model != "baseline").collect();
    models.dedup();
    models
}

pub(super) trait ApplyDefaults: Clone {
    fn take(&mut self, taking: &mut DefaultsResolver<'_>) -> anyhow::Result<()>;
}

/// Completes the arguments of a run that begins, or of one that goes on in `folder`: that keeps the settings with which it
/// was started. Returns what the manifest holds.
pub(super) fn complete<A: ApplyDefaults>(
    args: &mut A,
    person: &UserConfig,
    folder: Option<&Path>,
    replays: bool,
    confirmed: bool,
) -> anyhow::Result<BTreeMap<String, String>> {
    let manifest = folder.map(flags::recorded).transpose()?.flatten();
    let before = args.clone();
    let (stored, instead) = match (&manifest, folder) {
        (Some(manifest), Some(folder)) => {
            let shown = visible_line(&folder.display().to_string(), LONGEST);
            (
                Defaults::of_run(&shown, &manifest.defaults),
                format!("`{shown}` goes on with the settings that it was started with"),
            )
        }
        _ if replays => (Defaults::default(), "--replay takes no settings".to_owned()),
        _ => {
            let mut taking = DefaultsResolver::of(person);
            args.take(&mut taking)?;
            taking.tell();
            return Ok(taking.to_map());
        }
    };
    let mut taking = DefaultsResolver { defaults: &stored, confirmed, ..DefaultsResolver::of(person) };
    args.take(&mut taking)?;
    let taken = taking.to_map();
    let mut others = DefaultsResolver { confirmed: true, ..DefaultsResolver::of(person) };
    // What it would take by itself is only compared.
    if before.clone().take(&mut others).is_ok() {
        for default in others.taken.iter().filter(|default| taken.get(default.setting.name) != Some(&default.value)) {
            let value = visible_line(&default.value, LONGEST);
            say(format_args!("note: {instead}; not used: {} {value}, from {}", default.setting.name, default.by));
        }
    }
    Ok(taken)
}
