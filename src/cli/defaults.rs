//! What settings files and environment variables give, and how commands take it where no flag says it.

use super::explicit_args;
use super::failure::Failure;
use super::flags::{Group, Typed, has_setting};
use super::say::say;
use crate::base::text::visible_line;
use crate::runner::UserConfig;
use crate::runner::experiment::defaults::{Defaults, Given, GivenBy, RESULTS};
use crate::runner::experiment::{ExperimentFile, Overrides};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const LONGEST_VALUE: usize = 300;

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
pub(super) fn completed<G: Group>(typed: &Typed<G>) -> anyhow::Result<Typed<G>> {
    let (person, mut typed) = (person()?, typed.clone());
    let mut taking = DefaultsResolver::of(&person);
    taking.settings(&mut typed, None, false)?;
    taking.tell();
    Ok(typed)
}

/// Hands values out to what has no flag, and remembers them.
pub(super) struct DefaultsResolver<'d> {
    given: &'d Defaults,
    /// The person's own, by which a value of others may be used.
    own: &'d Defaults,
    /// Whether this command uses what others wrote.
    confirmed: bool,
    taken: Vec<Given>,
}

impl<'d> DefaultsResolver<'d> {
    pub(super) fn of(person: &'d UserConfig) -> Self {
        Self { given: &person.defaults, own: &person.defaults, confirmed: false, taken: Vec::new() }
    }

    /// The values with which a run was started, in place of the person's.
    fn of_run(stored: &'d Defaults, person: &'d UserConfig, confirmed: bool) -> Self {
        Self { given: stored, own: &person.defaults, confirmed, taken: Vec::new() }
    }

    /// The value of a setting that has none yet.
    pub(super) fn one(&mut self, name: &str) -> anyhow::Result<Option<String>> {
        self.given.get(name).map(|given| self.take(given)).transpose()
    }

    fn take(&mut self, given: &'d Given) -> anyhow::Result<String> {
        if !self.confirmed && !self.own.allows(given) {
            let flag = given.setting.flag.unwrap_or(given.setting.name);
            let value = visible_line(&given.value, LONGEST_VALUE);
            let message =
                format!("{flag} {value} is named by {} alone, which may have come from somebody else", given.by);
            let hint = match given.setting.name {
                "base_url" => format!(
                    "requests and keys would go there: type {flag} in this command, or add the host to `key_hosts` in your own \
                     settings file (`wikitrail config` names it)"
                ),
                _ => format!("type {flag} in this command"),
            };
            return Err(Failure::usage(message, hint));
        }
        self.taken.push(given.clone());
        Ok(given.value.clone())
    }

    /// Completes settings of a model and of Wikipedia. What an experiment file sets stays; `priced` where a flag names
    /// prices.
    pub(super) fn settings<G: Group>(
        &mut self,
        typed: &mut Typed<G>,
        file: Option<&ExperimentFile>,
        priced: bool,
    ) -> anyhow::Result<()> {
        for name in ["model", "contact", "base_url", "price"] {
            let is_set = |file: &ExperimentFile| {
                crate::runner::experiment::variant_setting(name).is_some_and(|setting| file.sets(setting))
            };
            if !has_setting::<G>(name) || typed.has(name) || file.is_some_and(is_set) || name == "price" && priced {
                continue;
            }
            let given = match name {
                "contact" if file.is_none() && has_setting::<G>("wiki") && !is_live(typed) => None,
                "base_url" | "price" => self.of_models(name, &models(typed, file)),
                _ => self.given.get(name),
            };
            let Some(given) = given else { continue };
            typed.set(name, &given.value);
            let overrides = Overrides { settings: typed.single(), ..Overrides::default() };
            if file.is_some_and(|file| file.check_used(&overrides).is_err()) {
                typed.unset(name);
            } else {
                self.take(given)?;
            }
        }
        Ok(())
    }

    fn of_models(&self, name: &str, models: &[String]) -> Option<&'d Given> {
        let mut given = models.iter().map(|model| self.given.of_model(name, model));
        let first = given.next().flatten()?;
        given.all(|other| other.is_some_and(|other| other.value == first.value)).then_some(first)
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
        for given in &self.taken {
            if let GivenBy::Folder(..) = given.by {
                let flag = given.setting.flag.unwrap_or(given.setting.name);
                say(format_args!("note: {flag} {}, from {}", visible_line(&given.value, LONGEST_VALUE), given.by));
            }
        }
    }

    pub(super) fn to_map(&self) -> BTreeMap<String, String> {
        self.taken.iter().map(|given| (given.setting.name.to_owned(), given.value.clone())).collect()
    }
}

fn is_live<G: Group>(typed: &Typed<G>) -> bool {
    typed.texts("wiki").iter().any(|wiki| !wiki.starts_with("corpus:"))
}

fn models<G: Group>(typed: &Typed<G>, file: Option<&ExperimentFile>) -> Vec<String> {
    let baseline = || "baseline".to_owned();
    if typed.has("model") {
        return typed.texts("model");
    }
    let Some(file) = file else { return vec![baseline()] };
    let drafts = file.datasets.iter().flat_map(|dataset| file.variants_on(dataset, &Overrides::default()));
    let model = |draft: crate::runner::experiment::Draft| {
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
    let manifest = folder.map(explicit_args::recorded).transpose()?.flatten();
    let before = args.clone();
    let (stored, instead) = match (&manifest, folder) {
        (Some(manifest), Some(folder)) => {
            let shown = visible_line(&folder.display().to_string(), LONGEST_VALUE);
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
    let mut taking = DefaultsResolver::of_run(&stored, person, confirmed);
    args.take(&mut taking)?;
    let taken = taking.to_map();
    let mut others = DefaultsResolver { confirmed: true, ..DefaultsResolver::of(person) };
    // What it would take by itself is only compared.
    if before.clone().take(&mut others).is_ok() {
        for given in others.taken.iter().filter(|given| taken.get(given.setting.name) != Some(&given.value)) {
            let value = visible_line(&given.value, LONGEST_VALUE);
            say(format_args!("note: {instead}; not used: {} {value}, from {}", given.setting.name, given.by));
        }
    }
    Ok(taken)
}
