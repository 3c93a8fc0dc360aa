//! From settings and dimensions to variants: every combination, each with the settings that it uses and a name.

use super::model::VariantSpec;
use super::settings::{
    Applies, Assignment, Facts, Kind, Setting, VariantSettings, prompt_name, stem, text_of, value_text, variant_setting,
};
use super::shipped;
use crate::base::text::is_control;
use crate::prompting::{self, PromptSource, protocol};
use crate::runner::RunError;
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;

/// A variant on its way from a file or a command line to [`VariantSettings`].
#[derive(Debug, Clone)]
pub struct Draft {
    pub name: String,
    /// Line of the file where it comes from: of its inclusion, or of the matrix; 0 for one that was typed.
    pub line: usize,
    /// What it sets; only settings that it uses.
    pub settings: Vec<Assignment>,
    /// Names of the settings that the matrix or its inclusion gives it.
    pub(super) own: Vec<&'static str>,
}

pub(super) struct Dimension {
    pub(super) setting: &'static Setting,
    pub(super) line: usize,
    pub(super) choices: Vec<Choice>,
}

pub(super) struct Choice {
    pub(super) name: String,
    pub(super) settings: Vec<Assignment>,
}

#[derive(Default)]
pub(super) struct Expanded {
    pub(super) kept: Vec<Draft>,
    pub(super) merged: usize,
    pub(super) excluded: usize,
}

pub(super) struct Combination<'m> {
    pub(super) settings: Vec<Assignment>,
    pub(super) named: Vec<(&'m Dimension, &'m str)>,
}

impl Draft {
    pub(super) fn set(&mut self, assignment: &Assignment) {
        if assignment.setting.is_kept(&Facts::set(&self.settings)) {
            let mut assignment = assignment.clone();
            // Headers come together: a file may have plain ones, and only a person those with secrets.
            let headers = self
                .settings
                .iter()
                .find(|other| other.setting.kind == Kind::Headers && other.sets(assignment.setting));
            if let (Some(old), Some(new)) =
                (headers.and_then(|old| old.value.as_object()), assignment.value.as_object_mut())
            {
                let more: Vec<_> = old.iter().filter(|(name, _)| !new.contains_key(*name)).collect();
                new.extend(more.into_iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            self.settings.retain(|other| !other.sets(assignment.setting));
            self.settings.push(assignment);
        }
    }

    /// Drops what belonged to a model or a source that is another one now.
    pub(super) fn prune(&mut self) {
        let settings = self.settings.clone();
        let facts = Facts::set(&settings);
        self.settings.retain(|assignment| assignment.setting.is_kept(&facts));
    }

    /// The variant on a dataset with settings of its own. What distinguishes this variant from the others stays.
    #[must_use]
    pub(super) fn with(&self, of_dataset: &[Assignment]) -> Self {
        let mut draft = self.clone();
        let others = of_dataset.iter().filter(|assignment| !self.own.contains(&assignment.setting.name));
        others.for_each(|assignment| draft.set(assignment));
        draft.prune();
        draft
    }
}

impl Dimension {
    pub(super) fn sets(&self) -> impl Iterator<Item = &'static Setting> {
        let own = std::iter::once(self.setting);
        own.chain(self.choices.iter().flat_map(|choice| &choice.settings).map(|assignment| assignment.setting))
    }
}

pub(super) enum Naming {
    /// Short names joined by `/`.
    Joined,
    /// A template: each placeholder with the text before it, and the text after the last one.
    Template(Vec<(String, &'static str)>, String),
}

impl Naming {
    /// The name of a variant. A placeholder whose dimension does not matter is left out with the text before it.
    fn name(&self, named: &[(&'static str, &str)]) -> String {
        match self {
            Self::Joined => named.iter().map(|(_, name)| *name).collect::<Vec<_>>().join("/"),
            Self::Template(parts, end) => {
                let mut text = String::new();
                for (i, (before, placeholder)) in parts.iter().enumerate() {
                    if let Some((_, name)) = named.iter().find(|(dimension, _)| dimension == placeholder) {
                        if i == 0 || !text.is_empty() {
                            text.push_str(before);
                        }
                        text.push_str(name);
                    }
                }
                text + end
            }
        }
    }
}

impl Combination<'_> {
    /// The name of its variant: dimensions that make no difference to it are left out.
    fn name(&self, naming: &Naming) -> String {
        let facts = Facts::set(&self.settings);
        let matters = |dimension: &Dimension| dimension.sets().any(|setting| setting.applies_to(&facts));
        let mattering = self.named.iter().filter(|(dimension, _)| matters(dimension));
        let named: Vec<(&'static str, &str)> =
            mattering.map(|(dimension, name)| (dimension.setting.name, *name)).collect();
        match naming.name(&named) {
            name if !name.trim().is_empty() => name,
            _ => text_of(&self.settings, "method").unwrap_or("main").to_owned(),
        }
    }
}

/// Every combination on top of `base` that is not excluded. Those that differ in nothing used become one variant.
pub(super) fn expand(
    base: &[Assignment],
    dimensions: &[Dimension],
    naming: &Naming,
    line: usize,
    mut is_excluded: impl FnMut(&Combination<'_>) -> bool,
) -> Expanded {
    let mut expanded = Expanded::default();
    let mut seen: HashSet<(String, Vec<(&str, String)>)> = HashSet::new();
    for numbers in combinations(dimensions) {
        let chosen = || dimensions.iter().zip(&numbers).map(|(dimension, at)| (dimension, &dimension.choices[*at]));
        let own: Vec<Assignment> = chosen().flat_map(|(_, choice)| choice.settings.iter().cloned()).collect();
        let named = chosen().map(|(dimension, choice)| (dimension, choice.name.as_str())).collect();
        let combination = Combination { settings: over(base, &own), named };
        if is_excluded(&combination) {
            expanded.excluded += 1;
            continue;
        }
        let name = combination.name(naming);
        let settings = used(&combination.settings);
        let facts = Facts::set(&settings);
        let mattering = settings.iter().filter(|assignment| assignment.setting.applies_to(&facts));
        let mut values: Vec<_> = mattering.map(|used| (used.setting.name, value_text(&used.value))).collect();
        values.sort();
        if seen.insert((name.clone(), values)) {
            let own = own.iter().map(|assignment| assignment.setting.name).collect();
            expanded.kept.push(Draft { name, line, settings, own });
        } else {
            expanded.merged += 1;
        }
    }
    expanded
}

pub(super) fn over(base: &[Assignment], own: &[Assignment]) -> Vec<Assignment> {
    let kept = base.iter().filter(|assignment| own.iter().all(|other| !other.sets(assignment.setting)));
    kept.chain(own).cloned().collect()
}

/// The settings that a variant uses, with the options of its own protocol.
pub(super) fn used(settings: &[Assignment]) -> Vec<Assignment> {
    let facts = Facts::set(settings);
    let protocol = text_of(settings, "protocol");
    let mut kept: Vec<Assignment> =
        settings.iter().filter(|assignment| assignment.setting.is_kept(&facts)).cloned().collect();
    for assignment in kept.iter_mut().filter(|assignment| assignment.setting.kind == Kind::Options) {
        let Some(options) = assignment.value.as_object_mut() else { continue };
        *options = std::mem::take(options)
            .into_iter()
            .filter_map(|(name, value)| match name.split_once('.') {
                Some((id, name)) if protocol == Some(id) => Some((name.to_owned(), value)),
                // Whose option it is cannot be told; whoever reads the settings refuses it.
                Some(_) if protocol.is_none() => Some((name, value)),
                Some(_) => None,
                None => Some((name, value)),
            })
            .collect();
    }
    kept.retain(|assignment| assignment.value.as_object().is_none_or(|options| !options.is_empty()));
    kept
}

/// Every combination, the first dimension slowest; each as the numbers of its choices.
fn combinations(dimensions: &[Dimension]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for dimension in dimensions {
        let longer = |begun: &Vec<usize>| {
            let begun = begun.clone();
            (0..dimension.choices.len()).map(move |choice| [begun.as_slice(), &[choice]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

pub(super) fn short(assignment: &Assignment) -> String {
    let value = value_text(&assignment.value);
    let last = |text: &str, marks: &[char]| text.trim_end_matches(marks).rsplit(marks).next().map(str::to_owned);
    let name = match assignment.setting.kind {
        Kind::Prompt => Some(prompt_name(&value)),
        Kind::Path => stem(&value),
        Kind::Source => last(&value, &[':', '/', '@']),
        Kind::Choice(_) | Kind::Method | Kind::Texts | Kind::Urls | Kind::Options => Some(value.clone()),
        _ if assignment.setting.name == "model" => last(&value, &[':', '/']),
        _ => Some(format!("{}={value}", assignment.setting.name)),
    };
    let name = name.filter(|name| !name.is_empty()).unwrap_or(value);
    // A slash separates dimensions.
    name.replace('/', "_")
}

/// A dataset's name without one of its own: its file's up to the first dot, as `dev` of `dev.jsonl.gz`.
pub(super) fn dataset_name(path: &str) -> String {
    let file = std::path::Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    let file = file.unwrap_or_default();
    let sound = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    file.split('.').next().unwrap_or_default().chars().map(sound).collect()
}

/// A dataset on its way from a file to [`DatasetSettings`](super::DatasetSettings).
#[derive(Debug, Clone)]
pub struct DatasetDraft {
    pub name: String,
    pub path: String,
    pub line: usize,
    pub path_line: usize,
    pub settings: Vec<Assignment>,
    /// Settings of variants on this dataset, in place of those that hold for all.
    pub(super) variant_settings: Vec<Assignment>,
}

/// A longer name of a prompt would be too long in a table, and on a command line.
const LONGEST: usize = 40;

/// The names of values that are listed together, in their order. Values with the same name get more of what was
/// written; two of the same value keep the same name.
///
/// `find` leads from a prompt's path to where it is found from here. Without it, no file is opened.
pub(super) fn value_names(values: &[Assignment], find: Option<&dyn Fn(&str) -> String>) -> Vec<String> {
    let candidates: Vec<[String; 3]> = values.iter().map(|value| candidates(value, find)).collect();
    let mut levels = vec![0; values.len()];
    // One level for all that share a name, so that they are alike.
    for level in 1..3 {
        let names: Vec<(&str, &str)> =
            candidates.iter().zip(&levels).map(|(names, level)| (names[*level].as_str(), names[2].as_str())).collect();
        let shared = |(name, value): &(&str, &str)| names.iter().any(|other| other.0 == *name && other.1 != *value);
        let again: Vec<bool> = names.iter().map(shared).collect();
        levels.iter_mut().zip(again).filter(|(_, again)| *again).for_each(|(old, _)| *old = level);
    }
    // A slash separates dimensions.
    candidates.into_iter().zip(levels).map(|(names, level)| names[level].replace('/', "_")).collect()
}

fn candidates(value: &Assignment, find: Option<&dyn Fn(&str) -> String>) -> [String; 3] {
    let usual = short(value);
    let Some(whole) = value.value.as_str().map(str::to_owned) else { return [usual.clone(), usual.clone(), usual] };
    if value.setting.kind == Kind::Prompt {
        let own = find.and_then(|find| own(&find(&whole))).unwrap_or_else(|| usual.clone());
        let of_file = match whole.split_once(".json#") {
            Some((file, key)) => format!("{}#{key}", Path::new(file).file_name().unwrap_or_default().to_string_lossy()),
            None => prompt_name(&whole),
        };
        return [own, of_file, whole];
    }
    match value.setting.name {
        "model" => [usual, whole.split_once(':').map_or(whole.as_str(), |(_, name)| name).to_owned(), whole],
        _ => [usual.clone(), usual.clone(), usual],
    }
}

/// The name that a prompt file gives itself, if it fits.
fn own(spec: &str) -> Option<String> {
    // A pipe would be waited for.
    if Path::new(prompting::file_of(spec)).metadata().is_ok_and(|found| !found.is_file()) {
        return None;
    }
    let Ok(PromptSource::File(file)) = prompting::load(spec, None, &shipped::file) else { return None };
    let name = file.name.trim();
    let fits = name.chars().count() <= LONGEST && !name.contains(|c| is_control(c) || c == '\n');
    fits.then(|| name.to_owned())
}

#[derive(Debug, Clone, Default)]
pub struct Listed {
    pub base: Vec<Assignment>,
    pub models: Vec<Value>,
    pub prompts: Vec<Value>,
    pub protocols: Vec<Value>,
    pub methods: Vec<Value>,
}

fn listed_twice(name: &str) -> RunError {
    RunError::usage(
        format!("variant `{name}` is listed twice"),
        "list each model, prompt, protocol and method once; in an experiment file you choose the names",
    )
}

/// The refusal of a setting of our own agents, where another program is the agent.
pub(in crate::runner) fn refused_for_programs(setting: &Setting) -> RunError {
    let flag = setting.flag();
    let message = format!("{flag} has no meaning for the program of --agent, whose prompts and decoding are its own");
    RunError::usage(message, format!("leave out {flag}"))
}

fn unused_hint(setting: &Setting) -> &'static str {
    match setting.applies {
        Applies::Vote => "votes are held by cot-sc and the two back-offs",
        Applies::Majority => "it is for --method cot-sc-react",
        Applies::Direct => "direct methods are standard, cot and cot-sc; the back-offs have a direct part",
        Applies::Passages => "it is about `--tools passages`",
        Applies::Program => "it is about a program: name one with --agent",
        Applies::Server => "it is about a server, and baseline needs none; name a model such as --model openai:NAME",
        _ => "add --wiki api or --wiki html",
    }
}

impl Listed {
    /// The variants. A direct method is the same under every protocol, and so becomes one variant.
    pub fn variants(&self) -> Result<Vec<VariantSpec>, RunError> {
        self.check_options()?;
        self.check_providers()?;
        let drafts = self.drafts()?;
        self.check_used(&drafts)?;
        self.check_program()?;
        let typed = |draft: Draft| {
            let settings = VariantSettings::try_from(draft.settings.as_slice())
                .map_err(|error| RunError::usage(error, "see `wikitrail run --help`"))?;
            Ok(VariantSpec { name: draft.name, settings, ..VariantSpec::default() })
        };
        drafts.into_iter().map(typed).collect()
    }

    fn lists(&self) -> [(&'static str, &Vec<Value>); 4] {
        let Self { models, prompts, protocols, methods, .. } = self;
        [("model", models), ("prompt", prompts), ("protocol", protocols), ("method", methods)]
    }

    fn drafts(&self) -> Result<Vec<Draft>, RunError> {
        let (mut base, mut dimensions) = (self.base.clone(), Vec::new());
        for (name, values) in self.lists() {
            if let Some((_, twice)) = values.iter().enumerate().find(|(i, value)| values[..*i].contains(value)) {
                return Err(listed_twice(&value_text(twice)));
            }
            let Some(setting) = variant_setting(name) else { continue };
            let assign = |value: &Value| Assignment { setting, value: value.clone(), line: 0 };
            if values.len() > 1 {
                let values: Vec<Assignment> = values.iter().map(assign).collect();
                let names = value_names(&values, Some(&str::to_owned));
                let choices = names.into_iter().zip(values).map(|(name, value)| Choice { name, settings: vec![value] });
                dimensions.push(Dimension { setting, line: 0, choices: choices.collect() });
            } else {
                base.extend(values.iter().map(assign));
            }
        }
        let kept = expand(&base, &dimensions, &Naming::Joined, 0, |_| false).kept;
        match kept.iter().enumerate().find(|(i, draft)| kept[..*i].iter().any(|other| other.name == draft.name)) {
            Some((_, twice)) => Err(listed_twice(&twice.name)),
            None => Ok(kept),
        }
    }

    /// Refuses options of protocols that are not run; where several run, one is written `PROTOCOL.NAME=VALUE`.
    fn check_options(&self) -> Result<(), RunError> {
        let ids: Vec<&str> = self.protocols.iter().filter_map(Value::as_str).collect();
        let Some(first) = ids.first() else { return Ok(()) };
        let options = self.base.iter().filter_map(|assignment| assignment.value.as_object());
        for option in options.flat_map(serde_json::Map::keys) {
            match option.split_once('.') {
                Some((id, _)) if ids.contains(&id) => {}
                Some((id, _)) if protocol::IDS.contains(&id) => {
                    return Err(RunError::usage(
                        format!("--option `{option}` is for protocol `{id}`, which is not run"),
                        format!("add --protocol {id}, or remove the option"),
                    ));
                }
                _ if ids.len() == 1 => {}
                _ => {
                    return Err(RunError::usage(
                        format!("--option `{option}` does not name its protocol, and several are run"),
                        format!("write --option PROTOCOL.NAME=VALUE, such as {first}.{option}"),
                    ));
                }
            }
        }
        Ok(())
    }

    /// A key or an address of one provider is not sent to another.
    fn check_providers(&self) -> Result<(), RunError> {
        let provider = |model: &&str| model.split_once(':').map_or("", |(provider, _)| provider).to_owned();
        let remote = || self.models.iter().filter_map(Value::as_str).filter(|model| *model != "baseline");
        let Some(one) = remote().next() else { return Ok(()) };
        let Some(other) = remote().find(|model| provider(model) != provider(&one)) else { return Ok(()) };
        let of_server = ["base_url", "server", "key_env", "key_file", "extra_header", "extra_body"];
        match self.base.iter().find(|assignment| of_server.contains(&assignment.setting.name)) {
            None => Ok(()),
            Some(Assignment { setting, .. }) => Err(RunError::usage(
                format!("{} holds for every model, and `{one}` and `{other}` have different providers", setting.flag()),
                "compare them in an experiment file, where each model has settings of its own; a key is found by its \
                 provider's usual variable",
            )),
        }
    }

    fn check_program(&self) -> Result<(), RunError> {
        if self.base.iter().all(|assignment| assignment.setting.name != "agent") {
            return Ok(());
        }
        let listed = self.lists().into_iter().filter(|(name, values)| *name != "model" && !values.is_empty());
        let listed = listed.filter_map(|(name, _)| variant_setting(name));
        let mut typed = self.base.iter().map(|assignment| assignment.setting).chain(listed);
        typed.find(|setting| !setting.applies_to_programs()).map_or(Ok(()), |other| Err(refused_for_programs(other)))
    }

    /// Refuses a setting that makes no difference: who gives it expects another run.
    fn check_used(&self, drafts: &[Draft]) -> Result<(), RunError> {
        let matters = |assignment: &&Assignment| {
            use Applies::{Direct, Majority, Passages, Program, Server, Vote};
            let setting = assignment.setting;
            matches!(setting.applies, Vote | Majority | Direct | Server | Passages | Program)
                || setting.kind == Kind::Url
        };
        let is_used = |assignment: &&Assignment| {
            drafts.iter().flat_map(|draft| &draft.settings).any(|used| used.sets(assignment.setting))
        };
        match self.base.iter().filter(matters).find(|assignment| !is_used(assignment)) {
            None => Ok(()),
            Some(Assignment { setting, .. }) => {
                Err(RunError::usage(format!("no variant uses {}", setting.flag()), unused_hint(setting)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Assignment, Listed, value_names};
    use crate::runner::experiment::variant_setting;
    use serde_json::{Value, json};

    fn named(setting: &str, values: &[&str], find: bool) -> Vec<String> {
        let setting = variant_setting(setting).expect("a setting");
        let assign = |value: &&str| Assignment { setting, value: (*value).into(), line: 0 };
        let here = |spec: &str| spec.to_owned();
        value_names(&values.iter().map(assign).collect::<Vec<_>>(), find.then_some(&here as &dyn Fn(&str) -> String))
    }

    #[test]
    fn prompts_have_their_own_names_else_those_of_their_files() {
        let dir = tempfile::tempdir().expect("a folder");
        let write = |file: &str, name: &str| {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            let rest = "language='en'\nquestion_label='Question'\nexemplar=[]\n[instruction]\nreact='x'\n";
            std::fs::write(&path, format!("name = \"{name}\"\n{rest}")).expect("written");
            path.display().to_string()
        };
        let (a, b) = (write("a.toml", "A/terse"), write("p2/a.toml", "A long"));
        assert_eq!(named("prompt", &[&a, &b], true), ["A_terse", "A long"]);
        // Where no file may be opened, their paths distinguish them.
        assert_eq!(named("prompt", &[&a, &b], false), [a.replace('/', "_"), b.replace('/', "_")]);
        let (c, d) = (write("c.toml", "same"), write("d.toml", "same"));
        assert_eq!(named("prompt", &[&a, &c, &d], true), ["A_terse", "c", "d"]);
        let (long, odd) = (write("long.toml", &"x".repeat(41)), write("odd.toml", "\\u001b[2J"));
        assert_eq!(named("prompt", &[&long, &odd, "gone.toml"], true), ["long", "odd", "gone"]);
        assert_eq!(named("prompt", &["p/x.json#k", "y.json#k", "x.txt"], true), ["x#k", "y#k", "x"]);
    }

    #[test]
    fn models_are_called_by_as_much_as_tells_them_apart() {
        assert_eq!(named("model", &["baseline", "openai:org/small"], true), ["baseline", "small"]);
        assert_eq!(named("model", &["openai:a/m", "openai:b/m", "gemini:n"], true), ["a_m", "b_m", "n"]);
        assert_eq!(named("model", &["openai:m", "gemini:m"], true), ["openai:m", "gemini:m"]);
        assert_eq!(named("model", &["openai:m", "openai:m"], true), ["m", "m"]);
    }

    fn flag_lists(prompts: &[&str], protocols: &[&str], methods: &[&str], base: &[(&str, Value)]) -> Listed {
        let values = |list: &[&str]| list.iter().map(|text| Value::from(*text)).collect();
        let assign = |(name, value): &(&str, Value)| {
            let setting = variant_setting(name).expect("a setting");
            Assignment { setting, value: value.clone(), line: 0 }
        };
        Listed {
            base: base.iter().map(assign).collect(),
            models: Vec::new(),
            prompts: values(prompts),
            protocols: values(protocols),
            methods: values(methods),
        }
    }

    fn names(listed: &Listed) -> Vec<String> {
        listed.variants().expect("sound").into_iter().map(|variant| variant.name).collect()
    }

    #[test]
    fn variants_are_named_after_what_distinguishes_them() {
        assert_eq!(names(&flag_lists(&[], &[], &[], &[])), ["main"]);
        assert_eq!(names(&flag_lists(&["p/a.toml"], &["robust"], &[], &[])), ["main"]);
        assert_eq!(names(&flag_lists(&[], &[], &["react", "cot"], &[])), ["react", "cot"]);
        assert_eq!(names(&flag_lists(&[], &["robust", "lagent"], &[], &[])), ["robust", "lagent"]);
        assert_eq!(
            names(&flag_lists(&["a.toml", "p.json#k"], &["robust", "lagent"], &["react", "cot"], &[])),
            ["a/robust/react", "a/cot", "a/lagent/react", "k/robust/react", "k/cot", "k/lagent/react"]
        );
    }

    #[test]
    fn models_make_variants_and_share_what_is_typed() {
        let of = |models: &[&str], base: &[(&str, Value)]| Listed {
            models: models.iter().map(|model| Value::from(*model)).collect(),
            ..flag_lists(&[], &[], &["react", "cot"], base)
        };
        let url = [("base_url", json!(["http://h"]))];
        let variants = of(&["baseline", "openai:org/small"], &url).variants().expect("sound");
        let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names, ["baseline/react", "baseline/cot", "small/react", "small/cot"]);
        let urls: Vec<bool> = variants.iter().map(|variant| variant.settings.base_url.is_some()).collect();
        assert_eq!(urls, [false, false, true, true]);
        assert_eq!(of(&["openai:a", "gemini:b"], &[]).variants().expect("sound").len(), 4);
        let refused = of(&["baseline", "openai:a", "gemini:b"], &[("key_env", json!("KEY"))]).variants();
        let message = "--key-env holds for every model, and `openai:a` and `gemini:b` have different providers";
        assert_eq!(refused.expect_err(message).to_string(), message);
        assert_eq!(
            of(&["openai:a", "openai:a"], &[]).variants().expect_err("twice").to_string(),
            "variant `openai:a` is listed twice"
        );
    }

    #[test]
    fn what_makes_no_difference_is_refused() {
        for (listed, message) in [
            (flag_lists(&[], &[], &["react"], &[("samples", json!(3))]), "no variant uses --samples"),
            (flag_lists(&[], &[], &["cot-sc"], &[("majority", json!(0.5))]), "no variant uses --majority"),
            (flag_lists(&[], &[], &[], &[("oracle_context", json!(true))]), "no variant uses --oracle-context"),
            (flag_lists(&[], &[], &[], &[("completions", json!(true))]), "no variant uses --completions"),
            (flag_lists(&[], &[], &[], &[("wiki_url", json!("http://h"))]), "no variant uses --wiki-url"),
            (flag_lists(&["a/x.toml", "a/x.toml"], &[], &[], &[]), "variant `a/x.toml` is listed twice"),
            (flag_lists(&[], &[], &["cot", "cot"], &[]), "variant `cot` is listed twice"),
            (
                flag_lists(&[], &["robust", "lagent"], &[], &[("option", json!({"labels": "v0.1"}))]),
                "--option `labels` does not name its protocol, and several are run",
            ),
            (
                flag_lists(&[], &["tools"], &[], &[("option", json!({"robust.x": "1"}))]),
                "--option `robust.x` is for protocol `robust`, which is not run",
            ),
            (
                flag_lists(&[], &["robust", "lagent"], &[], &[("option", json!({"go-blog.x": "1"}))]),
                "--option `go-blog.x` is for protocol `go-blog`, which is not run",
            ),
        ] {
            assert_eq!(listed.variants().expect_err(message).to_string(), message);
        }
        let options = [("option", json!({"lagent.labels": "v0.1"}))];
        let variants = flag_lists(&[], &["robust", "lagent"], &[], &options).variants().expect("sound");
        assert_eq!(variants[0].settings.option, None);
        assert_eq!(variants[1].settings.option, Some([("labels".to_owned(), "v0.1".to_owned())].into()));
    }
}
