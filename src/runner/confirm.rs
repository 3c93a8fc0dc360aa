//! Servers, files and prices that a command uses without a flag for them: listed, and refused until confirmed.

use crate::base::text::visible_line;
use crate::runner::RunError;
use crate::runner::command_line::ExplicitArgs;
use crate::runner::experiment::defaults::{DefaultSource, DefaultValue};
use crate::runner::experiment::{Experiment, ExperimentFile, shipped};
use crate::runner::named_files::{ExternalResource, NamedFile, ReadScope, TrustedInputs, named_files, places};
use crate::runner::prices::{SetPrice, set_prices};
use crate::runner::user_config::UserConfig;
use std::path::Path;
use url::Url;

/// Characters of an address or a path that are shown.
const LONGEST_PLACE: usize = 300;
/// Settings that say to which servers questions and pages go.
const OF_SERVERS: [&str; 3] = ["base_url", "wiki_url", "wiki"];
/// Settings that may make a model server pass a request on, such as to a connector.
const OF_REQUESTS: [&str; 2] = ["extra_body", "extra_header"];

/// Whether a setting decides which servers get questions and pages.
fn decides_receiver(setting: &str) -> bool {
    OF_SERVERS.contains(&setting) || OF_REQUESTS.contains(&setting)
}

/// The arguments that name datasets. Nothing else that is typed opens a file to a setting: a key file is no instruction.
const OF_DATASETS: [&str; 3] = ["dataset", "hotpotqa", "fever"];

const KEY_FILES: [&str; 2] = ["key_file", "judge_key_file"];

/// Says whether the files that an experiment names may be opened.
pub(crate) type Confirm<'a> = &'a dyn Fn(&mut Experiment) -> Result<(), RunError>;

/// A command, and where its settings come from.
pub(crate) struct Confirmation<'a> {
    /// A file that the command line does not name, or a run whose stored command line is used: another person may have written
    /// it. Without one, settings that were not typed are from a named file, whose servers are asked but get no key.
    pub(crate) untrusted: Option<&'a Path>,
    pub(crate) typed: &'a ExplicitArgs,
    /// The folder that holds the command line of an earlier start, and what was typed then.
    pub(crate) stored: Option<(&'a Path, &'a ExplicitArgs)>,
    pub(crate) file: Option<&'a Path>,
    pub(crate) person: &'a UserConfig,
    pub(crate) trusted: TrustedInputs,
    pub(crate) confirmed: bool,
    pub(crate) tell: &'a dyn Fn(String),
}

/// A server, file or price that was not typed in this command.
struct UntypedInput {
    kind: InputKind,
    /// The setting and its value, such as `--record tape`.
    shown: String,
    /// Why that matters, in words; empty where it needs none.
    reason: String,
    by: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InputKind {
    Server,
    Program,
    Place,
    /// A field or header that may make a server pass requests on.
    Field,
    File,
    /// Nothing makes it usable but typing it.
    NoFile,
    Price,
}

impl UntypedInput {
    fn line(&self, by: &str) -> String {
        let from = if self.by == by { String::new() } else { format!("of {}", self.by) };
        let notes: Vec<&str> = [self.reason.as_str(), &from].into_iter().filter(|text| !text.is_empty()).collect();
        if notes.is_empty() { self.shown.clone() } else { format!("{} ({})", self.shown, notes.join(", ")) }
    }
}

impl Confirmation<'_> {
    /// Confirms everything that was neither typed nor named by the person's own settings, if the command says so; otherwise
    /// refuses what was found and files that lie elsewhere, and has no key sent to servers that a file names.
    pub(crate) fn ask(&self, experiment: &mut Experiment) -> Result<(), RunError> {
        let mut untyped = self.places(experiment);
        untyped.extend(self.files(experiment)?);
        untyped.extend(self.prices(experiment)?);
        self.answer(experiment, &untyped)
    }

    /// The same of nothing but files: what is to be sent, and where, is not known yet.
    pub(crate) fn ask_of_files(&self, experiment: &mut Experiment) -> Result<(), RunError> {
        let untyped = self.files(experiment)?;
        self.answer(experiment, &untyped)
    }

    /// The same of nothing but servers and what `run` reads and writes besides its files.
    pub(crate) fn ask_of_places(&self, experiment: &mut Experiment) -> Result<(), RunError> {
        let untyped = self.places(experiment);
        self.answer(experiment, &untyped)
    }

    /// The same of an experiment file that was not typed, before it is read; `setting` names it.
    pub(crate) fn ask_of_experiment(&self, setting: &'static str, path: &Path) -> Result<(), RunError> {
        if !ExperimentFile::is_one(path) || self.typed.has(setting) {
            return Ok(());
        }
        // Otherwise it is found by its name in the working folder.
        let stored = self.stored.filter(|(_, stored)| stored.has(setting));
        let scope = ReadScope::folder(stored.map_or(Path::new("."), |(folder, _)| folder), None)?;
        let file = NamedFile { setting, value: path.display().to_string(), path: path.to_owned() };
        let untyped: Vec<UntypedInput> = self.refused(&file, &scope, false).into_iter().collect();
        self.answer(&mut Experiment::default(), &untyped)
    }

    /// Why the page of an earlier start is not written again; nothing where it is.
    pub(crate) fn refuses_page(&self, folder: &Path, page: &Path) -> Result<Option<String>, RunError> {
        let is_page =
            page.extension().is_some_and(|ending| ["html", "htm"].iter().any(|own| ending.eq_ignore_ascii_case(own)));
        if !is_page {
            return Ok(Some("its name does not end in .html".to_owned()));
        }
        let refusal = ReadScope::folder(folder, None)?.refuses_output(page, &self.trusted);
        Ok(refusal.map(|refusal| refusal.reason))
    }

    fn places(&self, experiment: &Experiment) -> Vec<UntypedInput> {
        let matters =
            |place: &ExternalResource| self.untrusted.is_some() || ["base_url", "agent"].contains(&place.setting);
        self.untyped(experiment, &matters)
    }

    fn untyped(&self, experiment: &Experiment, matters: &dyn Fn(&ExternalResource) -> bool) -> Vec<UntypedInput> {
        let untyped = places(experiment).into_iter();
        let untyped = untyped.filter(|place| !self.is_typed(place) && matters(place) && !self.is_own(place));
        let is_pipe = |place: &ExternalResource| {
            let is_file = !decides_receiver(place.setting) && place.setting != "agent";
            is_file && Path::new(&place.value).metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
        };
        let shown = |place: ExternalResource| UntypedInput {
            kind: match place.setting {
                "base_url" => InputKind::Server,
                "agent" => InputKind::Program,
                "extra_body" => InputKind::Field,
                "extra_header" if !place.value.contains("=env:") => InputKind::Field,
                _ if is_pipe(&place) => InputKind::NoFile,
                _ => InputKind::Place,
            },
            shown: format!("{} {}", place.flag(), visible_line(&place.value, LONGEST_PLACE)),
            reason: String::new(),
            by: self.by(),
        };
        untyped.map(shown).collect()
    }

    fn is_typed(&self, place: &ExternalResource) -> bool {
        if place.setting != "extra_header" {
            return self.typed.has(place.setting);
        }
        // A typed header does not replace the other headers of a file.
        let typed = self.typed.values(&["extra_header"]).filter_map(|header| header.to_str()?.split_once('='));
        let mut typed = typed.map(|(name, value)| format!("{}={}", name.trim().to_ascii_lowercase(), value.trim()));
        typed.any(|header| header == place.value)
    }

    fn is_own(&self, place: &ExternalResource) -> bool {
        let defaults = &self.person.defaults;
        match place.setting {
            "prices" => defaults.get("prices").is_some_and(|given| given.value == place.value),
            setting if OF_SERVERS.contains(&setting) => {
                defaults.vouches(place.value.strip_prefix("retriever:").unwrap_or(&place.value))
            }
            _ => false,
        }
    }

    /// The first setting of a file that sends questions and pages to a server that is neither typed nor the person's.
    fn foreign_receiver(&self, experiment: &Experiment) -> Option<ExternalResource> {
        let of_file =
            |place: &ExternalResource| decides_receiver(place.setting) && !self.is_typed(place) && !self.is_own(place);
        let mut place = places(experiment).into_iter().find(of_file)?;
        place.value = place.value.strip_prefix("retriever:").unwrap_or(&place.value).to_owned();
        Some(place)
    }

    fn files(&self, experiment: &Experiment) -> Result<Vec<UntypedInput>, RunError> {
        let receiver = self.foreign_receiver(experiment).map(|place| match place.setting {
            setting if OF_REQUESTS.contains(&setting) => format!("requests have {setting}"),
            _ => format!("requests go to {}", place.value),
        });
        let mut untyped = Vec::new();
        for file in named_files(experiment) {
            // A dataset may have been typed by a flag of its own.
            let is_dataset = ["dataset", "path"].contains(&file.setting);
            let is_of = |arguments: &ExplicitArgs| {
                arguments.has(file.setting)
                    || is_dataset && arguments.values(&OF_DATASETS).any(|path| path == file.path)
            };
            if is_of(self.typed) {
                continue;
            }
            self.refuse_key(&file)?;
            let stored = self.stored.filter(|(_, stored)| is_of(stored));
            // What a shipped file names is ours.
            let own = self.file.filter(|file| file.exists() || shipped::file(&file.display().to_string()).is_none());
            let (scope, of_file) = match (stored, own) {
                (Some((folder, _)), _) => (ReadScope::folder(folder, receiver.clone())?, false),
                (None, Some(own)) => (ReadScope::file(own, receiver.clone())?, true),
                (None, None) => continue,
            };
            untyped.extend(self.refused(&file, &scope, of_file));
        }
        // The person who confirms the files should see every field that may pass them on.
        if self.untrusted.is_none() && !untyped.is_empty() {
            untyped.extend(self.untyped(experiment, &|place| OF_REQUESTS.contains(&place.setting)));
        }
        Ok(untyped)
    }

    /// Refuses the key file of this command where a setting names it too: its text would be sent and recorded.
    fn refuse_key(&self, file: &NamedFile) -> Result<(), RunError> {
        let Ok(real) = file.path.canonicalize() else { return Ok(()) };
        if !self.typed.values(&KEY_FILES).any(|key| key.canonicalize().is_ok_and(|key| key == real)) {
            return Ok(());
        }
        let value = visible_line(&file.value, LONGEST_PLACE);
        let message = format!("{} names the key file of this command: {} {value}", self.by(), file.setting);
        Err(RunError::usage(message, "a key is sent to its server only: remove that line"))
    }

    fn refused(&self, file: &NamedFile, scope: &ReadScope, of_file: bool) -> Option<UntypedInput> {
        let refusal = scope.refuses(file, &self.trusted)?;
        let setting = match (file.setting, of_file) {
            ("path", _) => "[[dataset]] path".to_owned(),
            ("dataset", _) => "dataset".to_owned(),
            (setting, true) => setting.to_owned(),
            (setting, false) => format!("--{}", setting.replace('_', "-")),
        };
        Some(UntypedInput {
            kind: if refusal.is_final { InputKind::NoFile } else { InputKind::File },
            shown: format!("{setting} {}", visible_line(&file.value, LONGEST_PLACE)),
            reason: visible_line(&refusal.reason, LONGEST_PLACE),
            by: self.by(),
        })
    }

    /// Says which prices a file gives. Those with which a budget would not hold are returned.
    fn prices(&self, experiment: &Experiment) -> Result<Vec<UntypedInput>, RunError> {
        let own = |price: &SetPrice, given: &&DefaultValue| given.value == price.value;
        let mut untyped = Vec::new();
        for price in set_prices(experiment)? {
            let given = self.person.defaults.all(price.setting).find(|given| own(&price, given));
            if self.typed.has(price.setting) || given.is_some_and(|given| given.by.is_own()) {
                continue;
            }
            let folder = given.map(|given| &given.by).filter(|by| matches!(by, DefaultSource::Folder(..)));
            let by = folder.map_or_else(|| self.by(), |by| format!("`{by}`"));
            // Values of a settings file are printed where they are read.
            if folder.is_none() {
                let model = visible_line(&price.model, LONGEST_PLACE);
                (self.tell)(format!("note: the price of {model} is {}, from {by}", price.shown));
            }
            let limited = experiment.limits.budget_usd.is_some() && !experiment.recording.is_offline();
            if let Some(reason) = price.low.filter(|_| limited) {
                let shown = format!("--price {} for {}", price.shown, visible_line(&price.model, LONGEST_PLACE));
                untyped.push(UntypedInput { kind: InputKind::Price, shown, reason, by });
            }
        }
        Ok(untyped)
    }

    fn by(&self) -> String {
        let path = self.untrusted.or(self.file).unwrap_or(Path::new(""));
        format!("`{}`", visible_line(&path.display().to_string(), LONGEST_PLACE))
    }

    fn answer(&self, experiment: &mut Experiment, untyped: &[UntypedInput]) -> Result<(), RunError> {
        let asked = |one: &&UntypedInput| self.untrusted.is_some() || one.kind != InputKind::Server;
        let Some(by) = untyped.iter().find(asked).or(untyped.first()).map(|first| first.by.clone()) else {
            return Ok(());
        };
        let listed = |lines: &[&UntypedInput], between: &str| {
            lines.iter().map(|one| one.line(&by)).collect::<Vec<_>>().join(between)
        };
        let no_files: Vec<&UntypedInput> = untyped.iter().filter(|one| one.kind == InputKind::NoFile).collect();
        if !no_files.is_empty() {
            let message = format!("{by} names what is not a file:\n  {}", listed(&no_files, "\n  "));
            return Err(RunError::usage(message, "a pipe or a device is read only where this command names it"));
        }
        if self.confirmed {
            let lines = untyped.iter().map(|one| one.shown.clone()).collect::<Vec<_>>();
            (self.tell)(format!("confirmed: {}", lines.join(", ")));
            return Ok(());
        }
        let refused: Vec<&UntypedInput> = untyped.iter().filter(asked).collect();
        if refused.is_empty() {
            experiment.unconfirmed_servers = true;
            return Ok(());
        }
        let words = [
            (InputKind::Server, "a server"),
            (InputKind::Program, "a program"),
            (InputKind::Place, "a setting"),
            (InputKind::Field, "a field of requests"),
            (InputKind::File, "a file"),
            (InputKind::Price, "a price"),
        ];
        let what = words.into_iter().filter(|(kind, _)| refused.iter().any(|one| one.kind == *kind));
        let what = what.map(|(_, word)| word).collect::<Vec<_>>().join(" and ");
        let names = match self.stored {
            Some(_) => format!("{by} was recorded with {what} that you did not name again"),
            None => format!("{by} names {what} that you did not name"),
        };
        let message = format!("{names}:\n  {}", listed(&refused, "\n  "));
        Err(RunError::usage(message, self.hint(experiment, &refused)))
    }

    fn hint(&self, experiment: &Experiment, refused: &[&UntypedInput]) -> String {
        let has = |kind| refused.iter().any(|one| one.kind == kind);
        let listed = |place: ExternalResource| host(&place.value).filter(|_| OF_SERVERS.contains(&place.setting));
        let of_server = match self.foreign_receiver(experiment).map(listed) {
            None => {
                "an empty `wikitrail.toml` makes a folder a project, whose files its experiments may name".to_owned()
            }
            Some(host) => host
                .map(|host| format!("if the server is yours, key_hosts = [\"{host}\"] there ends the question"))
                .unwrap_or_default(),
        };
        let hints = [
            (
                has(InputKind::Server) || has(InputKind::Place),
                "requests, keys or answers would go there: add --confirm if you trust it, or name your own with these flags",
            ),
            (
                has(InputKind::Field),
                "the server may send requests on to where these say: read them, and add --confirm if you trust them",
            ),
            (
                has(InputKind::Program),
                "the program would run with your rights: read it, and add --confirm if you trust it, or type --agent",
            ),
            (
                has(InputKind::File),
                "files would be read and sent to servers: add --confirm if you trust them, or list their folder in `file_dirs` \
                 of your own settings file, which `wikitrail config` names",
            ),
            (has(InputKind::File) && !of_server.is_empty(), &of_server),
            (has(InputKind::Price), "the budget would not hold: type --price or --prices, or add --confirm"),
        ];
        let given = hints.into_iter().filter(|(is_given, _)| *is_given);
        given.map(|(_, hint)| hint).collect::<Vec<_>>().join("; ")
    }
}

/// A server as `key_hosts` lists it.
fn host(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    Some(format!("{}{port}", url.host_str()?))
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn a_server_is_named_as_key_hosts_takes_it() {
        for (address, listed) in
            [("http://127.0.0.1:8000/v1", "127.0.0.1:8000"), ("https://llm.example.org/v1", "llm.example.org")]
        {
            assert_eq!(host(address).as_deref(), Some(listed));
        }
    }
}
