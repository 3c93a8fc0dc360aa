//! Flags of settings, made from the settings' declarations; which of them were typed, also in the command that started a run.

use super::failure::Failure;
use super::say::say;
use crate::base::text::{shell_word, visible_line};
use crate::base::{Manifest, Method};
use crate::dataset::Format;
use crate::prompting;
use crate::runner::experiment::defaults::default_setting;
use crate::runner::experiment::{
    Applies, Assignment, DATASET_SETTINGS, DatasetSettings, FlagLists, Kind, LISTS, Setting, VARIANT_SETTINGS,
    VariantSettings, extra, shipped, value_text,
};
use crate::runner::{Argument, ExplicitArgs, TrustedInputs, UserConfig, without_secrets};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use serde_json::{Map, Value};
use std::ffi::{OsStr, OsString};
use std::marker::PhantomData;
use std::path::Path;

/// The flags that name a model of [`OfJudge`], one of which such a setting needs.
pub(super) const ASKED: &str = "asked";

/// A selection of settings.
pub(super) trait Group: Clone + 'static {
    const TABLE: &'static [Setting] = VARIANT_SETTINGS;

    /// What the names of its flags begin with, where a command has them beside others.
    const PREFIX: &'static str = "";

    /// Settings whose flags take several values, each of which makes a variant.
    const LISTED: &'static [&'static str] = &["prompt", "protocol", "method"];

    fn has(_setting: &Setting) -> bool {
        true
    }

    /// What holds where a setting is not typed, in words.
    fn default(setting: &Setting) -> &'static str {
        setting.default
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct OfVariant;
#[derive(Debug, Clone, Copy)]
pub(super) struct OfModel;
/// The settings of a model that judges, by flags of their own.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfJudge;
#[derive(Debug, Clone, Copy)]
pub(super) struct OfWiki;
/// The settings of a site that is asked through its API.
#[cfg(feature = "index")]
#[derive(Debug, Clone, Copy)]
pub(super) struct OfSite;
#[derive(Debug, Clone, Copy)]
pub(super) struct OfDataset;
/// How a dataset's file is read, whichever questions are asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfDatasetFile;
/// The settings that may replace those of a reproduction.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfReproduction;

impl Group for OfVariant {
    const LISTED: &'static [&'static str] = &["model", "prompt", "protocol", "method"];
}

impl Group for OfModel {
    fn has(setting: &Setting) -> bool {
        setting.heading == "Model" || setting.name == "reasoning"
    }
}

impl Group for OfJudge {
    const PREFIX: &'static str = "judge_";

    fn has(setting: &Setting) -> bool {
        // It is named by a flag of its own, and asked by messages.
        let of_model = OfModel::has(setting) && !["model", "completions", "prefill"].contains(&setting.name);
        of_model || ["temperature", "max_tokens", "seed", "price"].contains(&setting.name)
    }

    fn default(setting: &Setting) -> &'static str {
        match setting.name {
            "temperature" => "0",
            "max_tokens" => "512",
            _ => setting.default,
        }
    }
}

impl Group for OfWiki {
    fn has(setting: &Setting) -> bool {
        setting.heading == "Wikipedia"
    }
}

#[cfg(feature = "index")]
impl Group for OfSite {
    fn has(setting: &Setting) -> bool {
        OfWiki::has(setting) && !["wiki", "wording", "allow_html"].contains(&setting.name)
    }
}

impl Group for OfDataset {
    const TABLE: &'static [Setting] = DATASET_SETTINGS;
}

impl Group for OfDatasetFile {
    const TABLE: &'static [Setting] = DATASET_SETTINGS;

    fn has(setting: &Setting) -> bool {
        ["format", "skip_bad", "question_column", "answer_column", "answer_separator", "id_column"]
            .contains(&setting.name)
    }
}

impl Group for OfReproduction {
    fn has(setting: &Setting) -> bool {
        let own = ["protocol", "samples", "temperature", "max_tokens", "max_steps", "seed", "price"];
        OfModel::has(setting) || OfWiki::has(setting) || own.contains(&setting.name)
    }
}

/// The settings of a group that were typed, in the order of their declarations.
#[derive(Debug, Clone)]
pub(super) struct TypedSettings<G> {
    /// Settings with one value.
    pub(super) settings: Vec<Assignment>,
    /// Settings with several values that make variants.
    lists: Vec<(&'static Setting, Vec<Value>)>,
    group: PhantomData<G>,
}

impl<G: Group> TypedSettings<G> {
    /// All settings, each with one value; of a list the first.
    pub(super) fn single(&self) -> Vec<Assignment> {
        let first = |(setting, values): &(&'static Setting, Vec<Value>)| {
            Some(Assignment { setting, value: values.first()?.clone(), line: 0 })
        };
        self.lists.iter().filter_map(first).chain(self.settings.iter().cloned()).collect()
    }

    /// Whether values of a setting make variants: those of a model only if there are several.
    pub(super) fn is_list(&self, setting: &Setting) -> bool {
        let makes = |values: &[Value]| setting.name != "model" || values.len() > 1;
        self.lists.iter().any(|(listed, values)| listed.name == setting.name && makes(values))
    }

    pub(super) fn variant(&self) -> anyhow::Result<VariantSettings> {
        Ok(self.single().as_slice().try_into()?)
    }

    pub(super) fn dataset(&self) -> anyhow::Result<DatasetSettings> {
        Ok(self.settings.as_slice().try_into()?)
    }

    fn list(&self, name: &str) -> Vec<Value> {
        let list = self.lists.iter().find(|(setting, _)| setting.name == name);
        list.map(|(_, values)| values.clone()).unwrap_or_default()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        let settings = self.settings.iter().map(|assignment| assignment.setting);
        settings.chain(self.lists.iter().map(|(setting, _)| *setting)).any(|setting| setting.name == name)
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let one = self.settings.iter().filter(|assignment| assignment.setting.name == name);
        let all = one.filter_map(|assignment| text(&assignment.value));
        all.chain(self.list(name).iter().filter_map(text)).collect()
    }

    /// Gives a setting of the group a value; nothing where the group lacks it.
    pub(super) fn set(&mut self, name: &str, text: &str) {
        let Some(setting) = G::TABLE.iter().find(|setting| setting.name == name && G::has(setting)) else { return };
        let value = if setting.kind == Kind::Urls { Value::from(vec![text]) } else { Value::from(text) };
        if G::LISTED.contains(&name) {
            self.lists.push((setting, vec![value]));
        } else {
            self.settings.push(Assignment { setting, value, line: 0 });
        }
    }

    pub(super) fn unset(&mut self, name: &str) {
        self.settings.retain(|assignment| assignment.setting.name != name);
        self.lists.retain(|(setting, _)| setting.name != name);
    }

    pub(super) fn models(&self) -> Vec<Value> {
        self.list("model")
    }

    /// Flags that were typed and hold for each of several models.
    pub(super) fn shared_by_models(&self) -> Vec<String> {
        let of_model = |setting: &Setting| setting.applies == Applies::Server || setting.name == "price";
        self.settings.iter().map(|typed| typed.setting).filter(|setting| of_model(setting)).map(Setting::flag).collect()
    }
}

impl TypedSettings<OfVariant> {
    pub(super) fn flag_lists(&self) -> FlagLists {
        FlagLists { base: self.settings.clone(), lists: LISTS.map(|name| self.list(name)) }
    }
}

/// What the help says of a flag that takes several values.
const SEVERAL: &str = ". Several joined by commas make a variant each";

/// Says nothing of several values in the help of a command that takes one of each.
pub(super) fn for_one_variant(command: Command) -> Command {
    let without = |arg: Arg| {
        let help = arg.get_help().map(|help| help.to_string().replace(SEVERAL, ""));
        arg.help(help.unwrap_or_default())
    };
    OfVariant::LISTED.iter().fold(command, |command, name| command.mut_arg(name, without))
}

pub(super) fn help(setting: &Setting, default: &str, is_list: bool) -> String {
    let several = if is_list { SEVERAL } else { "" };
    let help = setting.help.trim().trim_end_matches('.').to_owned() + several;
    // The formats are declared where datasets are read.
    let help = if setting.name == "format" { format!("{help}: {}", Format::names()) } else { help };
    if default.is_empty() { help } else { format!("{help} [default: {default}]") }
}

fn id<G: Group>(name: &str) -> String {
    format!("{}{name}", G::PREFIX)
}

fn arg<G: Group>(setting: &'static Setting) -> Arg {
    let several = G::LISTED.contains(&setting.name);
    let help = help(setting, G::default(setting), several);
    let help = match default_setting(setting.name) {
        Some(given) if G::PREFIX.is_empty() => format!("{help} [env: {}]", given.variable()),
        _ => help,
    };
    let arg = Arg::new(id::<G>(setting.name))
        .long(id::<G>(setting.name).replace('_', "-"))
        .value_name(setting.value_name)
        .conflicts_with_all(setting.conflicts.iter().filter(|name| has_setting::<G>(name)).map(|name| id::<G>(name)));
    let arg = match G::PREFIX {
        "" => arg.help_heading(setting.heading).help(help),
        prefix => {
            let judge = prefix.trim_end_matches('_');
            arg.help_heading("Judge").help(help.replace("--", &format!("--{judge}-"))).requires(ASKED)
        }
    };
    let checked = move |text: &str| setting.parse(text).map_err(|expected| format!("expected {expected}"));
    let in_list = |arg: Arg| arg.action(ArgAction::Append).value_delimiter(',');
    let perhaps_in_list = |arg: Arg| if several { in_list(arg) } else { arg };
    match setting.kind {
        Kind::Switch => arg.action(ArgAction::SetTrue),
        Kind::Choice(words) => perhaps_in_list(arg.value_parser(PossibleValuesParser::new(words).map(Value::from))),
        Kind::Method => perhaps_in_list(arg.value_parser(method().map(|method| Value::from(method.name())))),
        Kind::Texts | Kind::Urls => in_list(arg.value_parser(checked)),
        Kind::Options => arg.value_parser(option).action(ArgAction::Append),
        // They are read later: a message of this place would repeat them, and they may hold a secret.
        Kind::Headers => arg.value_parser(value_parser!(String)).action(ArgAction::Append),
        Kind::Body => arg.value_parser(value_parser!(String)),
        Kind::Reasoning => arg
            .value_parser(Suggested { parser: checked, words: || vec!["off", "low", "medium", "high"] })
            .hide_possible_values(true),
        _ if setting.name == "format" => arg
            .value_parser(Suggested {
                parser: checked,
                words: || Format::ALL.iter().map(|format| format.name()).collect(),
            })
            .hide_possible_values(true),
        _ if several => arg.value_parser(checked).action(ArgAction::Append),
        _ => arg.value_parser(checked),
    }
}

/// A method by the name that is typed, or by the name in records, which is not offered.
pub(super) fn method() -> impl TypedValueParser<Value = Method> {
    let name = |method: Method| PossibleValue::new(method.typed()).alias(method.name());
    let known = |name: String| Method::parse(&name).ok_or("no such method");
    PossibleValuesParser::new(Method::ALL.map(name)).try_map(known)
}

pub(super) fn has_setting<G: Group>(name: &str) -> bool {
    G::TABLE.iter().any(|setting| setting.name == name && G::has(setting))
}

fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as variant=workflow")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Options as typed, for a single protocol.
pub(super) fn options(typed: &[String]) -> anyhow::Result<crate::prompting::protocol::Options> {
    let options = typed.iter().map(|text| option(text)).collect::<Result<_, _>>();
    let refused = |reason| super::failure::Failure::usage(format!("--option has no value: {reason}"), "see --help");
    options.map(crate::prompting::protocol::Options).map_err(refused)
}

/// What is added to requests, if it may be.
fn extra_value(setting: &Setting, id: &str, matches: &ArgMatches) -> Result<Value, clap::Error> {
    let mut texts = matches.get_many::<String>(id).into_iter().flatten().map(String::as_str);
    let read = match setting.kind {
        Kind::Body => extra::parse_body(texts.next_back().unwrap_or_default()),
        _ => extra::parse_headers(texts).map(|headers| serde_json::json!(headers)),
    };
    read.map_err(|error| clap::Error::raw(ErrorKind::ValueValidation, format!("{error}\nhint: {}\n", error.hint())))
}

impl<G: Group> Args for TypedSettings<G> {
    fn augment_args(command: Command) -> Command {
        command.args(G::TABLE.iter().filter(|setting| G::has(setting)).map(arg::<G>))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<G: Group> FromArgMatches for TypedSettings<G> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut typed = Self { settings: Vec::new(), lists: Vec::new(), group: PhantomData };
        for setting in G::TABLE.iter().filter(|setting| G::has(setting)) {
            let id = &id::<G>(setting.name);
            if matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            let all = || matches.get_many::<Value>(id).into_iter().flatten().cloned().collect::<Vec<Value>>();
            let value = match setting.kind {
                _ if G::LISTED.contains(&setting.name) => {
                    typed.lists.push((setting, split_values(setting, &all())?));
                    continue;
                }
                Kind::Switch => Value::Bool(matches.get_flag(id)),
                Kind::Texts | Kind::Urls => Value::Array(all()),
                Kind::Body | Kind::Headers => extra_value(setting, id, matches)?,
                Kind::Options => {
                    let options = matches.get_many::<(String, String)>(id).into_iter().flatten();
                    let named = |(name, value): &(String, String)| (name.clone(), Value::from(value.as_str()));
                    Value::Object(options.map(named).collect::<Map<_, _>>())
                }
                _ => match matches.get_one::<Value>(id) {
                    Some(value) => value.clone(),
                    None => continue,
                },
            };
            typed.settings.push(Assignment { setting, value, line: 0 });
        }
        Ok(typed)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Values that make a variant each, cut at commas where clap has not done so.
fn split_values(setting: &Setting, typed: &[Value]) -> Result<Vec<Value>, clap::Error> {
    let cut = |value: &Value| match (setting.name, value.as_str()) {
        ("prompt", Some(text)) => prompts(text),
        ("model", Some(text)) => text.split(',').map(|name| name.trim().to_owned()).collect(),
        _ => vec![value_text(value)],
    };
    let values: Vec<String> = typed.iter().flat_map(cut).collect();
    if values.iter().any(|value| value.trim().is_empty()) {
        let message = format!("{} has an empty value between commas\nhint: name one on each side\n", setting.flag());
        return Err(clap::Error::raw(ErrorKind::ValueValidation, message));
    }
    Ok(values.into_iter().map(Value::from).collect())
}

/// The prompts in `text`: it is cut at commas, but not at one inside the name of a file that exists.
fn prompts(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split(',').collect();
    let (mut prompts, mut at) = (Vec::new(), 0);
    while at < parts.len() {
        // The longest name that there is; a text of very many commas is no list of files.
        let longest = parts.len().min(at + 32);
        let joined = |end: usize| parts[at..end].join(",");
        let end = (at + 2..=longest).rev().find(|end| exists(&joined(*end))).unwrap_or(at + 1);
        prompts.push(joined(end));
        at = end;
    }
    prompts
}

/// Whether there is a file of that name, or one that has such a key.
fn exists(prompt: &str) -> bool {
    match prompt.split_once(".json#") {
        // Behind a key the next prompt may follow, unless there is such a key.
        Some((_, key)) if key.contains(',') => prompting::load(prompt, None, &shipped::file).is_ok(),
        Some((file, _)) => Path::new(&format!("{file}.json")).is_file(),
        None => Path::new(prompt).is_file() || shipped::file(prompt).is_some(),
    }
}

pub(super) fn usd(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(usd) if usd.is_finite() && usd > 0.0 => Ok(usd),
        _ => Err("an amount of US dollars above 0 is expected".to_owned()),
    }
}

/// Characters of a command line that are shown.
const LONGEST_COMMAND: usize = 1000;
pub(super) fn explicit_args(command: &Command, matches: &ArgMatches) -> ExplicitArgs {
    let known = |id: &str| matches.try_contains_id(id).is_ok();
    let typed = |id: &str| known(id) && matches.value_source(id) == Some(ValueSource::CommandLine);
    let argument = |argument: &clap::Arg| {
        let takes_values = argument.get_action().takes_values();
        let raw = matches.get_raw(argument.get_id().as_str()).filter(|_| takes_values);
        Argument {
            name: argument.get_id().to_string(),
            flag: argument.get_long().map(|long| format!("--{long}")),
            values: raw.into_iter().flatten().map(OsString::from).collect(),
        }
    };
    let all = command.get_arguments().filter(|known| typed(known.get_id().as_str()));
    ExplicitArgs { typed: all.map(argument).collect(), completed: false }
}

/// A command that can be started again from the command line that a folder records.
pub(super) trait Resumable: Args {
    const NAME: &'static str;

    fn command() -> Command {
        Self::augment_args(Command::new(format!("wikitrail {}", Self::NAME)).no_binary_name(true))
    }

    /// The arguments with what was typed of them.
    fn with(self, explicit: ExplicitArgs) -> Self;
}

/// The arguments of the command that started what is in a folder, completed by what is typed now. Nothing where the
/// folder holds no run.
pub(super) fn resumed<A: Resumable>(folder: &Path, typed: &ExplicitArgs) -> anyhow::Result<Option<A>> {
    let Some((args, explicit)) = completed::<A>(folder, typed)? else { return Ok(None) };
    let words = without_secrets(explicit.typed.iter().flat_map(Argument::words));
    let words = words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    say(format_args!("resuming: wikitrail {} {}", A::NAME, visible_line(&words, LONGEST_COMMAND)));
    Ok(Some(args.with(explicit)))
}

/// The command that started the run in this folder, with what was typed in place of its words.
pub(super) fn started<A: Resumable>(folder: &Path, typed: &ExplicitArgs) -> anyhow::Result<Option<A>> {
    let completed = completed::<A>(folder, typed)?;
    Ok(completed.map(|(args, explicit)| args.with(explicit)))
}

fn completed<A: Resumable>(folder: &Path, typed: &ExplicitArgs) -> anyhow::Result<Option<(A, ExplicitArgs)>> {
    let Some(manifest) = recorded(folder)? else { return Ok(None) };
    let failure = |reason: String, hint: &str| {
        // Whoever made the folder may have written any program here.
        let words: Vec<String> = manifest.command_line.iter().skip(1).map(|word| shell_word(word)).collect();
        let command = visible_line(&format!("wikitrail {}", words.join(" ")), LONGEST_COMMAND);
        let message = format!("the command that started `{}` cannot be resumed: {reason}", folder.display());
        Failure::usage(message, format!("{hint}; it was: {command}"))
    };
    if manifest.command_line.get(1).is_some_and(|word| word != A::NAME) {
        let reason = format!("it is not a command of `wikitrail {}`", A::NAME);
        let hint = if manifest.is_imported() {
            "another program recorded these episodes: import them again into a new folder"
        } else {
            "use the command itself with --resume"
        };
        return Err(failure(reason, hint));
    }
    let refused = |error: clap::Error| {
        let text = error.to_string();
        let reason = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        failure(visible_line(reason, LONGEST_COMMAND), "name dataset and settings again")
    };
    let parse = |words: Vec<OsString>| -> Result<(A, ExplicitArgs), clap::Error> {
        let command = A::command();
        let matches = command.clone().try_get_matches_from(words)?;
        let explicit = ExplicitArgs { completed: true, ..explicit_args(&command, &matches) };
        Ok((A::from_arg_matches(&matches)?, explicit))
    };
    let words = manifest.command_line.iter().skip(2).map(OsString::from).collect();
    let (_, started) = parse(words).map_err(refused)?;
    parse(started.resumed(typed)).map(Some).map_err(refused)
}

/// The manifest in a folder; of an experiment over several datasets, that of the first that has one.
pub(super) fn recorded(out: &Path) -> anyhow::Result<Option<Manifest>> {
    for folder in crate::analysis::results::runs_at(out) {
        let manifest = folder.manifest()?;
        if folder.path() == out
            || manifest.experiment.as_ref().is_some_and(|experiment| !experiment.datasets.is_empty())
        {
            return Ok(Some(manifest));
        }
    }
    Ok(None)
}

pub(super) fn trusted_inputs(person: &UserConfig, folder: Option<&Path>) -> TrustedInputs {
    let mut trusted =
        TrustedInputs { folders: person.defaults.file_dirs().map(Path::to_owned).collect(), digests: Vec::new() };
    // As far as they can be read.
    let runs = folder.into_iter().flat_map(crate::analysis::results::runs_at);
    for manifest in runs.filter_map(|run| run.manifest().ok()) {
        trusted.digests.extend(manifest.files.into_values());
        trusted.digests.extend(manifest.experiment.map(|experiment| experiment.sha256));
        trusted.digests.extend(manifest.variants.into_iter().filter_map(|variant| variant.wiki_origin));
        trusted.digests.push(manifest.dataset.sha256);
    }
    trusted
}

/// A parser with words that completions offer.
#[derive(Clone)]
pub(super) struct Suggested<P> {
    pub(super) parser: P,
    pub(super) words: fn() -> Vec<&'static str>,
}

impl<P: TypedValueParser> TypedValueParser for Suggested<P> {
    type Value = P::Value;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<P::Value, clap::Error> {
        self.parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.words)().into_iter().map(PossibleValue::new)))
    }
}

#[cfg(test)]
mod tests {
    use super::{OfDataset, OfVariant, TypedSettings, prompts};
    use clap::Parser;
    use serde_json::{Value, json};

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        variant: TypedSettings<OfVariant>,
        #[command(flatten)]
        dataset: TypedSettings<OfDataset>,
    }

    fn typed(line: &str) -> Result<Program, clap::Error> {
        Program::try_parse_from(line.split_whitespace())
    }

    #[test]
    fn a_method_has_a_name_for_shells_and_its_older_one() {
        let program = typed("x --method react-cot-sc,react->cot-sc,act").expect("sound");
        let methods = program.variant.list("method");
        assert_eq!(methods, ["react->cot-sc", "react->cot-sc", "act"].map(Value::from));
        let refused = typed("x --method cot-sc-").expect_err("no method").to_string();
        assert!(refused.contains("cot-sc-react") && !refused.contains("->"), "{refused}");
    }

    #[test]
    fn values_are_typed_and_lists_make_variants() {
        let line = "x --temperature 0.5 --base-url http://a,http://b --base-url http://c --option a=b --option lagent.c=d \
                    --protocol robust,lagent --method react --prefill --limit 3 --types bridge,comparison";
        let program = typed(line).expect("sound");
        let variant = program.variant.variant().expect("of its kinds");
        assert_eq!((variant.temperature, variant.prefill), (Some(0.5), Some(true)));
        assert_eq!(variant.base_url, Some(["http://a", "http://b", "http://c"].map(str::to_owned).to_vec()));
        assert_eq!(variant.option.expect("options")["lagent.c"], "d");
        let [.., protocols, methods] = program.variant.flag_lists().lists;
        assert_eq!((protocols, methods.len()), (vec![json!("robust"), json!("lagent")], 1));
        let line = "x --model openai:a,baseline --prompt a.toml,p.json#k --prompt b.txt";
        let [models, prompts, ..] = typed(line).expect("sound").variant.flag_lists().lists;
        assert_eq!(models, ["openai:a", "baseline"].map(Value::from));
        assert_eq!(prompts, ["a.toml", "p.json#k", "b.txt"].map(Value::from));
        let dataset = program.dataset.dataset().expect("of its kinds");
        assert_eq!((dataset.limit, dataset.types.map(|types| types.len())), (Some(3), Some(2)));
    }

    #[test]
    fn bad_values_and_conflicts_are_refused() {
        for bad in [
            "--temperature 3",
            "--protocol foo",
            "--method raect",
            "--max-steps 0",
            "--base-url=",
            "--base-url=http://a,,http://b",
            "--completions --prefill",
            "--responses --completions",
            "--responses --prefill",
            "--key-env A --key-file B",
            "--shuffle 1 --shuffle-like-paper 2",
            "--option x",
            "--model-timeout 0",
            "--server other",
            "--price 1",
            "--prompt a.toml,",
            "--model ,openai:a",
        ] {
            assert!(typed(&format!("x {bad}")).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_comma_in_the_name_of_a_file_does_not_separate() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = |name: &str| dir.path().join(name).display().to_string();
        for name in ["a,b.toml", "k,k.json"] {
            std::fs::write(path(name), "").expect("written");
        }
        assert_eq!(prompts("a.toml"), ["a.toml"]);
        assert_eq!(prompts("a.toml,b.toml"), ["a.toml", "b.toml"]);
        assert_eq!(prompts("a.toml,"), ["a.toml", ""]);
        let (own, key) = (path("a,b.toml"), path("k,k.json#x"));
        assert_eq!(prompts(&own), std::slice::from_ref(&own));
        std::fs::write(path("c.json"), r#"{"a,b": "x"}"#).expect("written");
        assert_eq!(prompts(&path("c.json#a,b")), [path("c.json#a,b")]);
        assert_eq!(prompts(&format!("x.toml,{own},{key},y.txt")), ["x.toml", &own, &key, "y.txt"]);
    }
}
