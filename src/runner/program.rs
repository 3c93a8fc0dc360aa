//! A variant whose agent is another program: from its settings to the command or server, its models and its tools.

use super::error::RunError;
use super::model::ModelSettings;
use super::plan::episode;
use super::pool::Pool;
use super::wiki::{BuiltWiki, WikiSettings};
use crate::base::manifest::PROGRAM;
use crate::base::text::{excerpt, is_secret_name, looks_secret, printable, visible_line};
use crate::base::{
    DecodingRecord, PriceRecord, Question, Tool, ToolSet, Trajectory, Variant, Wording, locked, sha256_of_files,
};
use crate::models::scripted::Scripted;
use crate::models::{Api, ModelError, Price, shown_urls};
use crate::net::redact;
use crate::prompting::protocol;
use crate::runner::agent::program::{FindModel, Opened, Program, ProgramModel, Start};
use crate::runner::agent::{Agent, Approach, Stage};
use crate::runner::experiment::{
    AGENT_FILES, Experiment, VARIANT_SETTINGS, VariantSettings, VariantSpec, refused_for_programs,
};
use crate::wikipedia::SessionOptions;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_mins(5);
/// Files that a command names and whose digests are recorded are at most this large, in bytes.
const MAX_FILE: u64 = 16 << 20;
const ITS_OWN: &str = "the agent's own";
const ITS_OWN_MODELS: &str = "the agent's own models";

/// Builds the variant. Starts nothing.
pub(super) fn build(spec: &VariantSpec, pool: &mut Pool) -> Result<(Variant, Agent), RunError> {
    let (price, wiki) = (pool.prices.of(&spec.settings), pool.wiki(&spec.settings)?);
    refuse_others(&spec.settings)?;
    let model = model(&spec.settings, pool)?;
    let models = (model, find_model(spec.settings.clone(), pool.clone()));
    with_models(spec, models, &wiki, price, !pool.is_offline())
}

/// Runs a program on one question over the sample corpus, with a script as its model.
pub(crate) async fn checked(command: &str, timeout: Option<f64>) -> Result<Trajectory, RunError> {
    let agent = Some(command.to_owned());
    let settings = VariantSettings { agent, agent_timeout: timeout, ..VariantSettings::default() };
    let spec = VariantSpec { name: "check".to_owned(), settings, ..VariantSpec::default() };
    let mut pool = Pool::new(&Experiment { variants: vec![spec.clone()], ..Experiment::default() })?;
    let wiki = pool.wiki(&spec.settings)?;
    let scripted: FindModel = Arc::new(|api, name| {
        let (model, name) = (Arc::new(Scripted(api)), name.to_owned());
        Ok(Arc::new(ProgramModel { model, name, extra_body: Map::new(), price: None }))
    });
    let named = NamedModel { label: "scripted".to_owned(), base_url: None };
    let spec = VariantSpec {
        settings: VariantSettings { model: Some("script:scripted".to_owned()), ..spec.settings },
        ..spec
    };
    let (variant, agent) = with_models(&spec, (named, scripted), &wiki, None, false)?;
    let question = Question::new("check", "Which element is named after the Latin name of Copenhagen?", Vec::new());
    let episode = episode(&Arc::new(question), &Arc::new(variant));
    Ok(agent.answer(&episode, None).await)
}

fn with_models(
    spec: &VariantSpec,
    (model, find_model): (NamedModel, FindModel),
    wiki: &BuiltWiki,
    price: Option<PriceRecord>,
    journaled: bool,
) -> Result<(Variant, Agent), RunError> {
    let settings = &spec.settings;
    let start = start(settings.agent.as_deref().unwrap_or_default())?;
    let tools = tools(settings, wiki)?.into();
    let usual = SessionOptions::default();
    let passages = settings.passages.or(wiki.passages).unwrap_or(usual.passages);
    let timeout = settings.agent_timeout.map_or(Ok(TIMEOUT), Duration::try_from_secs_f64).unwrap_or(TIMEOUT);
    let known_price = price.as_ref().map(Price::from);
    let variant = record(spec, wiki, price, &start, &model)?;
    let model = named_model(settings).map(|(_, name)| name.to_owned());
    let program = Program { start, timeout, find_model, model, tools, passages, opened: Opened::default() };
    let agent = Agent {
        model: ModelSettings::baseline(<_>::default()).model,
        source: Arc::clone(&wiki.source),
        session: SessionOptions { passages, observation_chars: settings.observation_chars, ..usual },
        approach: Approach(vec![Stage::Program(Arc::new(program))]),
        price: known_price,
        journaled,
        breaker: None,
        learned: None,
    };
    Ok((variant, agent))
}

/// Refuses settings of our own agents, which a program does not use.
fn refuse_others(settings: &VariantSettings) -> Result<(), RunError> {
    let set = serde_json::to_value(settings).map_err(RunError::unwritable)?;
    let other = VARIANT_SETTINGS.iter().find(|one| set.get(one.name).is_some() && !one.applies_to_programs());
    other.map_or(Ok(()), |other| Err(refused_for_programs(other)))
}

/// Where the program is. The words of a command are those of a shell, without a shell; files that they name are found from
/// the folder that the command was typed in.
fn start(command: &str) -> Result<Start, RunError> {
    if command.starts_with("http://") || command.starts_with("https://") {
        return match url::Url::parse(command) {
            Ok(url) if url.has_host() => Ok(Start::Server(url.into())),
            _ => Err(RunError::usage(
                format!("--agent `{}` is not an address", excerpt(command)),
                "write it such as http://127.0.0.1:8000/answer",
            )),
        };
    }
    let words = shlex::split(command).filter(|words| !words.is_empty()).ok_or_else(|| {
        let message = format!("--agent `{}` is not a command: it is empty, or a quote is not closed", excerpt(command));
        RunError::usage(message, "write it as in a shell, such as --agent 'python3 agent.py'")
    })?;
    refuse_secrets(&words)?;
    let folder = std::env::current_dir().map_err(|error| RunError::usage(&error, "change to a folder that exists"))?;
    let words: Vec<String> = words.into_iter().map(|word| absolute_if_path(word, &folder)).collect();
    if let Some(missing) = words.iter().skip(1).find(|word| is_script(word) && !folder.join(word).is_file()) {
        let message = format!("--agent: there is no file `{}` in `{}`", excerpt(missing), folder.display());
        return Err(RunError::usage(message, "write its path from the folder that you call wikitrail in"));
    }
    if !is_program(&words[0]) {
        return Err(RunError::usage(
            format!("--agent: there is no program `{}`", excerpt(&words[0])),
            "install it, write its path, or make it executable; a command for a shell is --agent 'sh -c \"...\"'",
        ));
    }
    Ok(Start::Command(words, folder))
}

/// Refuses a command with a key in it, which every record of the run would have.
fn refuse_secrets(words: &[String]) -> Result<(), RunError> {
    let pairs = words.iter().filter_map(|word| word.split_once('='));
    let flags =
        words.windows(2).filter(|pair| pair[0].starts_with('-')).map(|pair| (pair[0].as_str(), pair[1].as_str()));
    let secret = pairs.chain(flags).find(|(name, value)| is_secret_name(name) && looks_secret(value));
    secret.map_or(Ok(()), |(name, _)| {
        let message = format!("--agent: the command has a secret ({}), which the run would record", excerpt(name));
        let hint = "calls of models need no key of yours; for other services, have the program read a file";
        Err(RunError::usage(message, hint))
    })
}

/// A word that names a file or a path below the folder, as a path that holds everywhere.
fn absolute_if_path(word: String, folder: &Path) -> String {
    let path = folder.join(&word);
    let is_path = word.contains('/') || word == "." || word == ".." || path.is_file();
    let absolute = Some(path).filter(|path| is_path && path.exists());
    absolute.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or(word)
}

fn is_program(word: &str) -> bool {
    let path = Path::new(word);
    if path.components().count() > 1 {
        return is_executable(path);
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let endings: &[&str] = if cfg!(windows) { &["", ".exe", ".cmd", ".bat"] } else { &[""] };
    std::env::split_paths(&folders)
        .any(|folder| endings.iter().any(|end| is_executable(&folder.join(format!("{word}{end}")))))
}

fn is_executable(path: &Path) -> bool {
    let Ok(found) = path.metadata() else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    found.is_file() && may_run
}

/// Whether a word is the name of a script, by its ending: then it has to be there.
fn is_script(word: &str) -> bool {
    const ENDINGS: [&str; 9] = ["py", "sh", "js", "mjs", "ts", "rb", "pl", "lua", "jar"];
    let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
    let is_option_or_address = word.starts_with('-') || word.contains("://") || word.contains(char::is_whitespace);
    !is_option_or_address && ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// The provider and the name of the model that all calls go to, where one is set.
fn named_model(settings: &VariantSettings) -> Option<(&str, &str)> {
    settings.model.as_deref()?.split_once(':')
}

/// How records name the model, and the addresses of its server.
struct NamedModel {
    label: String,
    base_url: Option<String>,
}

/// The model that is set, whose key has to be there before anything starts.
fn model(settings: &VariantSettings, pool: &mut Pool) -> Result<NamedModel, RunError> {
    let Some(name) = &settings.model else {
        let base_url = settings.base_url.as_deref().map(shown_urls);
        return Ok(NamedModel { label: ITS_OWN_MODELS.to_owned(), base_url });
    };
    let Some(built) = pool.server(settings)? else {
        let message = format!("--model {} cannot answer the program of --agent", printable(name, 80));
        return Err(RunError::usage(message, "name a model behind a server, such as --model openai:NAME"));
    };
    Ok(NamedModel { label: built.label, base_url: built.base_url })
}

/// The tools that the source of pages has, or those of `--tools`.
fn tools(settings: &VariantSettings, wiki: &BuiltWiki) -> Result<Vec<Tool>, RunError> {
    let has = wiki.tools();
    let Some(asked) = settings.tools.as_deref() else { return Ok(has.to_vec()) };
    let asked = ToolSet::ALL.into_iter().find(|tools| tools.name() == asked).unwrap_or_default();
    match asked.tools().iter().find(|tool| !has.contains(tool)) {
        None => Ok(asked.tools().to_vec()),
        Some(tool) => Err(RunError::usage(
            format!("--tools {} needs another source of pages than `{}`", asked.name(), excerpt(&wiki.label)),
            format!("`{}` is a tool of a corpus (`--wiki corpus:DIR`)", tool.name()),
        )),
    }
}

/// Finds models by what a program asks, each once.
fn find_model(settings: VariantSettings, pool: Pool) -> FindModel {
    let state = Mutex::new((pool, HashMap::<(Api, String), Arc<ProgramModel>>::new()));
    Arc::new(move |api, asked| {
        let (pool, known) = &mut *locked(&state);
        let name = model_name(&settings, api, asked)?;
        if let Some(model) = known.get(&(api, name.clone())) {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(
            program_model(&settings, pool, api, &name)
                .map_err(|error| ModelError::Other(format!("{error} ({})", error.hint())))?,
        );
        known.insert((api, name), Arc::clone(&model));
        Ok(model)
    })
}

fn model_name(settings: &VariantSettings, api: Api, asked: &str) -> Result<String, ModelError> {
    let asked = printable(asked, 200);
    match named_model(settings) {
        Some((provider, name)) if provider == api.provider() => Ok(name.to_owned()),
        Some((provider, name)) => Err(ModelError::Other(format!(
            "the agent called the API `{}` of {}, and --model is {provider}:{}: leave out --model, or have the agent call {provider}",
            api.name(),
            api.provider(),
            printable(name, 80),
        ))),
        None if asked.is_empty() => Err(ModelError::Other("the agent named no model: set one with --model".to_owned())),
        None => Ok(asked),
    }
}

fn program_model(settings: &VariantSettings, pool: &mut Pool, api: Api, name: &str) -> Result<ProgramModel, RunError> {
    let settings = VariantSettings {
        model: Some(format!("{}:{name}", api.provider())),
        completions: (api == Api::Completions).then_some(true),
        responses: (api == Api::Responses).then_some(true),
        ..settings.clone()
    };
    let price = pool.prices.of(&settings).as_ref().map(Price::from);
    if price.is_none() && pool.budget.limits().usd.is_some() && !pool.is_offline() {
        let name = printable(name, 80);
        let message = format!("--budget-usd needs a price, and none is known for `{name}`, which the agent asked for");
        let hint = "give the price with --prices FILE, or limit tokens with --budget-tokens";
        return Err(RunError::usage(message, hint));
    }
    let built = pool.server(&settings)?;
    let model = built.ok_or_else(|| RunError::usage("there is no such model", "see --model"))?.model;
    let model = pool.budgeted(model, price);
    let extra_body = ModelSettings(&settings).extra_body();
    Ok(ProgramModel { model, name: name.to_owned(), extra_body, price })
}

fn record(
    spec: &VariantSpec,
    wiki: &BuiltWiki,
    price: Option<PriceRecord>,
    start: &Start,
    model: &NamedModel,
) -> Result<Variant, RunError> {
    let settings = &spec.settings;
    let mut by_name = settings.recorded_by_name().map_err(RunError::unwritable)?;
    if let Start::Server(url) = start {
        by_name.insert("agent".to_owned(), server_name(url).into());
    }
    let files = digests_of_files(start);
    if !files.is_empty() {
        by_name.insert(AGENT_FILES.to_owned(), files.into());
    }
    let tools = settings.tools.iter().map(|tools| (protocol::TOOLS.to_owned(), tools.clone()));
    Ok(Variant {
        name: spec.name.clone(),
        protocol: PROGRAM.to_owned(),
        protocol_version: 1,
        method: PROGRAM.to_owned(),
        prompt: ITS_OWN.to_owned(),
        question_label: ITS_OWN.to_owned(),
        model: model.label.clone(),
        endpoint: PROGRAM.to_owned(),
        base_url: model.base_url.clone(),
        price,
        decoding: DecodingRecord { extra_body: ModelSettings(settings).extra_body(), ..DecodingRecord::default() },
        wiki: wiki.label.clone(),
        wiki_origin: wiki.origin.clone(),
        compat: Some(WikiSettings(settings).compat()),
        wording: Wording::English,
        settings: by_name,
        options: tools.collect(),
        ..Variant::default()
    })
}

/// How records name a server: by the fragment of its address, as one that is another each time has it, or by the address.
fn server_name(url: &str) -> String {
    match url.split_once('#') {
        Some((_, name)) if !name.is_empty() => visible_line(&percent_decoded(name), 300),
        _ => redact::url(url),
    }
}

fn percent_decoded(text: &str) -> String {
    // A plus is no space in a fragment.
    let text = text.replace('+', "%2B");
    url::form_urlencoded::parse(text.as_bytes()).map(|(name, _)| name.into_owned()).next().unwrap_or_default()
}

/// SHA-256 of the files that a command names: with another program, episodes are others.
fn digests_of_files(start: &Start) -> Map<String, Value> {
    let Start::Command(words, folder) = start else { return Map::new() };
    let arguments = words.iter().skip(1).map(Path::new);
    let files = arguments.filter(|path| path.metadata().is_ok_and(|found| found.is_file() && found.len() <= MAX_FILE));
    let digest = |path: &Path| {
        let shown = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        Some((visible_line(&shown, 300), json!(sha256_of_files(&[path]).ok()?)))
    };
    files.filter_map(digest).collect()
}

#[cfg(test)]
mod tests {
    use super::{absolute_if_path, server_name, start};
    use crate::runner::agent::program::Start;
    use std::path::Path;

    #[test]
    fn words_that_name_files_are_found_from_elsewhere() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = folder.display();
        assert_eq!(absolute_if_path("Cargo.toml".to_owned(), folder), format!("{root}/Cargo.toml"));
        assert_eq!(absolute_if_path("./src".to_owned(), folder), format!("{root}/./src"));
        for word in ["src", "--flag", "https://example.org/x", "/nowhere/x"] {
            assert_eq!(absolute_if_path(word.to_owned(), folder), word);
        }
    }

    #[test]
    fn a_command_names_a_program_that_is_there() {
        let error = |command: &str| start(command).expect_err(command).to_string();
        assert!(error("no-such-program-7 x").contains("there is no program `no-such-program-7`"));
        assert!(error("sh no-such-file-7.py").contains("there is no file `no-such-file-7.py` in"));
        assert!(error("sh -c 'x").contains("a quote is not closed"));
        assert!(error(" ").contains("it is empty"));
        assert!(error("http://").contains("is not an address"));
        assert_eq!(server_name("http://127.0.0.1:1/x?key=1"), "http://127.0.0.1:1/x");
        assert_eq!(server_name("http://127.0.0.1:1/x#my.agent%40ab+1"), "my.agent@ab+1");
        assert_eq!(start("http://127.0.0.1:1/x").ok(), Some(Start::Server("http://127.0.0.1:1/x".to_owned())));
    }
}
