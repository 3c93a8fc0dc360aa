//! Settings that hold for every command where no flag gives them: from environment variables, from `wikitrail.toml` in the
//! current folder, and from the person's own settings file. All of them are declared in [`DEFAULTS`].

use super::model::Concurrency;
use super::settings::price;
use crate::base::text::{is_secret_name, looks_secret};
use crate::prompting::{Entry, Fault, Problems, Reader};
use crate::runner::RunError;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path};
use toml::de::DeValue;
use url::Url;

pub const VARIABLES: &str = "WIKITRAIL_";
pub const FOLDER_FILE: &str = "wikitrail.toml";
pub const RESULTS: &str = "results";

#[derive(Debug)]
pub struct DefaultSetting {
    /// Its key in settings files. Its variable is `WIKITRAIL_` and the name in capitals.
    pub name: &'static str,
    /// What it is, in a sentence; the table in `docs/settings.md` is made of it.
    #[cfg_attr(not(test), expect(dead_code, reason = "documentation"))]
    pub help: &'static str,
    /// The flag that takes its place; none where no flag says the same.
    pub flag: Option<&'static str>,
    /// What holds where nobody gives it; empty where that is nothing.
    pub built_in: &'static str,
    pub is_path: bool,
    /// What the file of the current folder may say. The folder may have come from somebody else.
    pub in_folder: InFolder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFolder {
    Any,
    Below,
    OwnHosts,
    Refused,
}

/// The table of declarations; the documentation of a row is its help.
macro_rules! defaults {
    ($($(#[doc = $help:literal])+ $name:ident { $($key:ident: $value:expr),* })+) => {
        [$(DefaultSetting {
            name: stringify!($name),
            help: concat!($($help),+).trim_ascii(),
            $($key: $value,)*
            ..DefaultSetting::USUAL
        }),+]
    };
}

pub const DEFAULTS: [DefaultSetting; 9] = defaults! {
    /// Your mail address or page, for the User-Agent of requests to Wikipedia.
    contact { flag: Some("--contact") }
    /// The model that answers: `baseline`, `openai:NAME`, `anthropic:NAME` or `gemini:NAME`.
    model { flag: Some("--model"), built_in: "baseline" }
    /// Base URL of the model's server, or several. It holds for models of the provider of the `model` beside it, or else for
    /// `openai:NAME`.
    base_url { flag: Some("--base-url"), in_folder: InFolder::OwnHosts }
    /// Price of the `model` beside it, as in `--price`; another model keeps its own.
    price { flag: Some("--price") }
    /// File of models' prices, as in `--prices`; of judges too. In a settings file, the path is relative to that file.
    prices { flag: Some("--prices"), is_path: true, in_folder: InFolder::Below }
    /// Folder in which folders of runs are made where no `--out` names one, and which `list` and `view` show.
    results { built_in: RESULTS, is_path: true, in_folder: InFolder::Below }
    /// Model requests at once: `auto`, `auto:N` or a number.
    concurrency { flag: Some("--concurrency"), built_in: "auto" }
    /// Hosts, such as `llm.example.org` or `127.0.0.1:8000`, to which requests and keys are sent also where an experiment file,
    /// a run's folder or the file of the current folder names them.
    key_hosts { in_folder: InFolder::Refused }
    /// Folders, such as `/data/qa`, whose files an experiment file or a run's folder may name wherever it lies. In a settings
    /// file, a path is relative to that file.
    file_dirs { is_path: true, in_folder: InFolder::Refused }
};

pub fn default_setting(name: &str) -> Option<&'static DefaultSetting> {
    DEFAULTS.iter().find(|setting| setting.name == name)
}

impl DefaultSetting {
    const USUAL: Self = Self { name: "", help: "", flag: None, built_in: "", is_path: false, in_folder: InFolder::Any };

    pub fn variable(&self) -> String {
        format!("{VARIABLES}{}", self.name.to_ascii_uppercase())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultSource {
    Variable(String),
    Folder(String, usize),
    Person(String, usize),
    Run(String),
}

impl DefaultSource {
    /// Whether the person wrote it, and nobody else can have.
    pub fn is_own(&self) -> bool {
        matches!(self, Self::Variable(_) | Self::Person(..))
    }
}

impl fmt::Display for DefaultSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::Folder(path, line) | Self::Person(path, line) => write!(f, "{path}:{line}"),
            Self::Run(folder) => f.write_str(folder),
        }
    }
}

/// A value of a setting; several addresses or hosts are joined by `,`.
#[derive(Debug, Clone)]
pub struct DefaultValue {
    pub setting: &'static DefaultSetting,
    pub value: String,
    pub by: DefaultSource,
}

/// A value that cannot be used. A message repeats no value that may hold a secret.
pub(super) fn refuse<T>(message: impl fmt::Display, hint: impl Into<String>) -> Result<T, RunError> {
    Err(RunError::usage(message, hint))
}

/// All values that are given, the strongest first: variables, the folder's file, the person's file.
#[derive(Debug, Clone, Default)]
pub struct Defaults(Vec<DefaultValue>);

impl Defaults {
    pub fn extend(&mut self, weaker: Vec<DefaultValue>) {
        self.0.extend(weaker);
    }

    /// What a run's manifest says it was started with. Names that are not known are those of a newer program.
    pub fn of_run(folder: &str, values: &BTreeMap<String, String>) -> Self {
        let default = |(name, value): (&String, &String)| {
            let (setting, value, by) = (default_setting(name)?, value.clone(), DefaultSource::Run(folder.to_owned()));
            Some(DefaultValue { setting, value, by })
        };
        Self(values.iter().filter_map(default).collect())
    }

    pub fn all(&self, name: &str) -> impl Iterator<Item = &DefaultValue> {
        self.0.iter().filter(move |default| default.setting.name == name)
    }

    pub fn get(&self, name: &str) -> Option<&DefaultValue> {
        self.all(name).next()
    }

    /// The strongest value for this model: addresses are those of a provider, a price is that of one model.
    pub fn of_model(&self, name: &str, model: &str) -> Option<&DefaultValue> {
        self.all(name).find(|default| self.fits(default, model))
    }

    fn fits(&self, default: &DefaultValue, model: &str) -> bool {
        let is_beside =
            |other: &&DefaultValue| std::mem::discriminant(&other.by) == std::mem::discriminant(&default.by);
        let beside = self.all("model").find(is_beside).map(|default| default.value.as_str());
        let provider = |model: &str| model.split(':').next().map(str::to_owned);
        match (default.setting.name, &default.by) {
            (_, DefaultSource::Run(_)) => true,
            ("base_url", _) => provider(beside.unwrap_or("openai:")) == provider(model),
            ("price", _) => beside == Some(model),
            _ => true,
        }
    }

    /// Whether the person's own settings name the host of an address.
    pub fn vouches(&self, address: &str) -> bool {
        let own = || self.0.iter().filter(|default| default.by.is_own());
        let listed =
            own().filter(|default| default.setting.name == "key_hosts").flat_map(|default| parts(&default.value));
        let mut served =
            own().filter(|default| default.setting.name == "base_url").flat_map(|default| parts(&default.value));
        let Ok(url) = Url::parse(address) else { return false };
        let same = |other: &str| Url::parse(other).is_ok_and(|other| other.origin() == url.origin());
        listed.into_iter().any(|host| is_host(host, &url)) || served.any(same)
    }

    /// Folders whose files others may name, as the person's own settings list them.
    pub fn file_dirs(&self) -> impl Iterator<Item = &Path> {
        let own = self.all("file_dirs").filter(|default| default.by.is_own());
        own.flat_map(|default| parts(&default.value)).map(Path::new)
    }

    /// Whether a value may be used: an address or a path that others may have written only where the person names it.
    pub fn allows(&self, default: &DefaultValue) -> bool {
        match (default.setting.name, &default.by) {
            ("base_url", DefaultSource::Folder(..) | DefaultSource::Run(_)) => {
                parts(&default.value).all(|address| self.vouches(address))
            }
            ("prices", DefaultSource::Run(_)) => self.all("prices").any(|own| own.value == default.value),
            _ => true,
        }
    }
}

fn parts(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim)
}

fn host_of(text: &str) -> Option<Url> {
    let url = Url::parse(&format!("https://{text}/")).ok()?;
    let plain = url.username().is_empty() && url.password().is_none() && url.path() == "/" && url.query().is_none();
    (plain && url.fragment().is_none() && url.has_host() && !text.contains(['/', '?', '#', '@'])).then_some(url)
}

/// Whether an address is at this host: at any of its ports unless the text names one.
fn is_host(host: &str, address: &Url) -> bool {
    let Some(named) = host_of(host) else { return false };
    // The usual port of https would be left out of the parsed text.
    let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    named.host_str() == address.host_str() && port.is_none_or(|port| address.port_or_known_default() == Some(port))
}

/// Checks a value; `folder` where the file of the current folder gives it.
pub fn check(setting: &DefaultSetting, value: &str, folder: bool) -> Result<(), RunError> {
    let name = setting.name;
    if value.trim().is_empty() || value.contains(char::is_control) {
        return refuse(format!("`{name}` is empty or is not one line"), "give it a value, or leave it out");
    }
    if matches!(name, "contact" | "model" | "key_hosts") && looks_secret(value) {
        return Err(key_refused());
    }
    let path = Path::new(value);
    let leaves =
        path.has_root() || path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
    match (name, setting.in_folder) {
        (_, InFolder::Refused) if folder => refuse(
            format!("`{name}` may not be set in the file of a folder, which may have come from somebody else"),
            "set it in your own settings file, which `wikitrail config` names",
        ),
        (_, InFolder::Below) if folder && leaves => refuse(
            format!("`{name}` leads out of the folder, which may have come from somebody else"),
            "name a path below it, or set it in your own settings file, which `wikitrail config` names",
        ),
        _ if setting.is_path && parts(value).any(|path| path.starts_with('~')) => {
            refuse(format!("`{name}` begins with `~`, which only a shell understands"), "write the whole path")
        }
        ("model", _)
            if value != "baseline"
                && !value.split_once(':').is_some_and(|(of, name)| !of.is_empty() && !name.is_empty()) =>
        {
            refuse(
                format!("`model` is `{}`, which names no provider", crate::prompting::quoted(value)),
                "write `baseline`, `openai:NAME`, `anthropic:NAME` or `gemini:NAME`",
            )
        }
        ("file_dirs", _) if parts(value).any(str::is_empty) => {
            refuse("`file_dirs` has a folder without a name", "write folders such as \"/data/qa\"")
        }
        ("base_url", _) => parts(value).try_for_each(check_address),
        ("key_hosts", _) if !parts(value).all(|host| host_of(host).is_some()) => refuse(
            "`key_hosts` has a value that is not a host",
            "write hosts such as \"llm.example.org\" or \"127.0.0.1:8000\", without http:// and path",
        ),
        ("price", _) if price(value).is_none() => {
            refuse("`price` is not a price", "write two or three amounts such as \"0.15/0.60\"")
        }
        ("concurrency", _) => match value.parse::<Concurrency>() {
            Ok(_) => Ok(()),
            Err(expected) => refuse(format!("`concurrency` is `{}`", crate::prompting::quoted(value)), expected),
        },
        _ => Ok(()),
    }
}

fn check_address(address: &str) -> Result<(), RunError> {
    match Url::parse(address) {
        Ok(url) if !url.username().is_empty() || url.password().is_some() || url.query().is_some() => refuse(
            "`base_url` has a user name or a query, which may contain a secret",
            "leave it out; a key belongs in a variable such as OPENAI_API_KEY",
        ),
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(()),
        _ => refuse(
            "`base_url` is not an http or https address",
            "write it with its scheme, such as http://localhost:8080 or https://llm.example/v1",
        ),
    }
}

/// A key that was written among the settings; it is not repeated.
fn key_refused() -> RunError {
    RunError::usage(
        "this looks like a key, and a key is never a setting",
        "remove it; a key is read from OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or named with --key-env or \
         --key-file",
    )
}

/// A price without a model beside it would be taken for any model.
pub fn check_price(values: &[DefaultValue]) -> Result<(), RunError> {
    let has = |name: &str| values.iter().any(|default| default.setting.name == name);
    if has("price") && !has("model") {
        let hint = "set `model` in the same place, or name a file of prices with `prices`";
        return refuse("`price` has no `model` beside it", hint);
    }
    Ok(())
}

const HELP: &str = "`wikitrail docs settings` lists the settings";

impl From<RunError> for Fault {
    fn from(bad: RunError) -> Self {
        Self::from(bad.to_string()).hint(bad.hint())
    }
}

/// Reads a settings file; an error lists all that is wrong, and repeats no key. `folder`: of the current folder.
pub fn parse_file(path: &str, text: &str, folder: bool) -> Result<Vec<DefaultValue>, Problems> {
    let (mut notes, tree) = Reader::parse(path, text, HELP)?;
    let root = Reader::root(tree.get_ref());
    let names = DEFAULTS.map(|setting| setting.name);
    let mut values = Vec::new();
    for entry in notes.entries(&root) {
        let Some(setting) = default_setting(entry.key) else {
            if is_secret(&entry) {
                notes.note(entry.line, key_refused());
            } else if ["key_env", "key_file"].contains(&entry.key) {
                let hint = format!("it is named for each command: --{}", entry.key.replace('_', "-"));
                notes
                    .note(entry.line, Fault::from(format!("`{}` is not a setting of this file", entry.key)).hint(hint));
            } else {
                notes.refuse_key(&root, entry, &names, None);
            }
            continue;
        };
        let Some(value) = value(&mut notes, &entry) else { continue };
        if let Err(bad) = check(setting, &value, folder) {
            notes.note(entry.line, bad);
            continue;
        }
        let place = (path.to_owned(), entry.line);
        let by = if folder { DefaultSource::Folder(place.0, place.1) } else { DefaultSource::Person(place.0, place.1) };
        // The folder's own file is in the current folder.
        let is_beside = ["prices", "file_dirs"].contains(&setting.name) && !folder;
        let value = match Path::new(path).parent().filter(|_| is_beside) {
            Some(beside) => {
                let path = |path: &str| beside.join(path).display().to_string();
                if is_list(setting.name) { parts(&value).map(path).collect::<Vec<_>>().join(",") } else { path(&value) }
            }
            None => value,
        };
        values.push(DefaultValue { setting, value, by });
    }
    if let Err(bad) = check_price(&values).map_err(Fault::from) {
        notes.note(notes.line_in(&root, "price"), bad);
    }
    if notes.is_clean() { Ok(values) } else { Err(notes.into_problems()) }
}

fn is_list(name: &str) -> bool {
    ["base_url", "key_hosts", "file_dirs"].contains(&name)
}

fn value(notes: &mut Reader<'_>, entry: &Entry<'_>) -> Option<String> {
    match (entry.key, entry.value.get_ref()) {
        (key, DeValue::Array(items)) if is_list(key) && !items.is_empty() => {
            let texts = items.iter().map(|item| notes.text(entry.key, item)).collect::<Option<Vec<_>>>()?;
            Some(texts.join(","))
        }
        ("concurrency", DeValue::Integer(number)) => Some(number.to_string()),
        (key, value) if is_list(key) && value.as_str().is_none() => {
            notes.wrong_type(entry.key, entry.value, "a string or a list of strings");
            None
        }
        _ => notes.text(entry.key, entry.value),
    }
}

/// Whether an unknown key has a name or a value that a secret may have.
fn is_secret(entry: &Entry<'_>) -> bool {
    fn holds(value: &DeValue<'_>) -> bool {
        match value {
            DeValue::String(text) => looks_secret(text) || text.starts_with("sk-"),
            DeValue::Array(items) => items.iter().any(|item| holds(item.get_ref())),
            DeValue::Table(table) => table.iter().any(|(key, value)| {
                is_secret_name(key.get_ref()) || looks_secret(key.get_ref()) || holds(value.get_ref())
            }),
            _ => false,
        }
    }
    let is_named = is_secret_name(entry.key) && !["key_env", "key_file"].contains(&entry.key);
    // A misspelt `key_hosts` is no secret.
    let is_hosts = entry.key.contains("host") && !holds(entry.value.get_ref());
    (is_named && !is_hosts) || looks_secret(entry.key) || holds(entry.value.get_ref())
}

#[cfg(test)]
mod tests;
