//! Which flags were typed, and the command line of a run's folder.

use super::args::Args;
use crate::cli::failure::Failure;
use crate::cli::say::say;
use crate::net::redact;
use crate::report::escape::visible_line;
use crate::store::RunFolder;
use crate::types::Manifest;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use std::ffi::OsString;
use std::path::Path;

/// The positional argument that names what is run.
pub(super) const DATASET: &str = "dataset";
/// Characters of a command line that are shown.
const LONGEST_COMMAND: usize = 1000;
/// Flags whose values are addresses.
const OF_ADDRESSES: [&str; 2] = ["--base-url", "--wiki-url"];
/// Flags that belong to one start of the program and not to its run.
const OF_A_START: [&str; 5] = ["resume", "out", "dry_run", "json", "quiet"];

/// The arguments of `run` that were typed, as opposed to those that have their default.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Given(Vec<Argument>);

/// An argument by its name, such as `max_steps`.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    pub(super) name: String,
    /// What is typed before a value; nothing for what has no flag.
    flag: Option<String>,
    /// Values as typed; none for a switch.
    values: Vec<OsString>,
}

/// A command line as it may be shown and stored: addresses lose user part and query, which may hold a key.
pub(super) fn without_secrets(words: impl IntoIterator<Item = OsString>) -> Vec<String> {
    let mut follows = false;
    let mut shown = |word: OsString| {
        let word = word.to_string_lossy().into_owned();
        let after = |flag: &&str| word.strip_prefix(*flag)?.starts_with('=').then_some(flag.len() + 1);
        // What is an address by its flag is one whatever it looks like: what has no scheme is refused only when it is
        // asked.
        let by_flag = if follows { Some(0) } else { OF_ADDRESSES.iter().find_map(after) };
        follows = OF_ADDRESSES.contains(&word.as_str());
        let by_scheme = || word.find("://").map(|at| word[..at].rfind('=').map_or(0, |equals| equals + 1));
        match by_flag.or_else(by_scheme) {
            Some(at) => format!("{}{}", &word[..at], addresses(&word[at..])),
            None => word,
        }
    };
    words.into_iter().map(&mut shown).collect()
}

/// Addresses with commas between them. What stands behind a comma in a query may belong to it.
fn addresses(text: &str) -> String {
    let mut in_query = false;
    let parts = text.split(',').filter(|part| {
        let goes_on = in_query && !part.contains("://");
        in_query = goes_on || part.contains('?');
        !goes_on
    });
    parts.map(redact::url).collect::<Vec<_>>().join(",")
}

fn command() -> Command {
    Args::augment_args(Command::new("wikitrail run").no_binary_name(true))
}

impl Given {
    /// What was typed of the arguments of `run`, of which another command may have only some.
    pub(in crate::cli) fn of(matches: &ArgMatches) -> Self {
        let command = command();
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
        Self(command.get_arguments().filter(|known| typed(known.get_id().as_str())).map(argument).collect())
    }

    /// Whether this argument was typed.
    pub(in crate::cli) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|argument| argument.name == name)
    }

    /// The same with a value for an argument that was not typed.
    pub(in crate::cli) fn or(mut self, name: &str, value: &str) -> Self {
        if !self.has(name) {
            let (name, flag) = (name.to_owned(), Some(format!("--{}", name.replace('_', "-"))));
            self.0.push(Argument { name, flag, values: vec![value.into()] });
        }
        self
    }

    /// What was typed.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.0.iter()
    }

    /// The same with what was typed elsewhere instead of what was typed here.
    fn overridden_by(mut self, other: &Self) -> Self {
        self.0.retain(|argument| !other.has(&argument.name));
        self.0.extend(other.0.iter().cloned());
        self
    }

    fn without(mut self, names: &[&str]) -> Self {
        self.0.retain(|argument| !names.contains(&argument.name.as_str()));
        self
    }

    /// An address of a model's server that is not on this machine. A folder may come from somebody else, and what it
    /// says must not send a key anywhere.
    fn elsewhere(&self) -> Option<String> {
        let addresses = self.0.iter().filter(|argument| argument.name == "base_url").flat_map(Argument::values);
        addresses.into_iter().find(|address| {
            let host = url::Url::parse(address).ok().and_then(|url| url.host().map(|host| host.to_owned()));
            match host {
                Some(url::Host::Domain(name)) => name != "localhost",
                Some(url::Host::Ipv4(ip)) => !ip.is_loopback(),
                Some(url::Host::Ipv6(ip)) => !ip.is_loopback(),
                None => true,
            }
        })
    }

    /// What a run is gone on with that was started with these: what is typed now stands in place of it. A server that is
    /// elsewhere has to be named again; its address is the error.
    pub(in crate::cli) fn gone_on_with(self, typed: &Self) -> Result<Self, String> {
        match self.elsewhere().filter(|_| !typed.has("base_url")) {
            Some(address) => Err(address),
            None => Ok(self.without(&OF_A_START).overridden_by(typed)),
        }
    }

    fn words(&self) -> Vec<OsString> {
        self.0.iter().flat_map(Argument::words).collect()
    }
}

impl Argument {
    /// Values as text.
    pub(super) fn values(&self) -> Vec<String> {
        self.values.iter().map(|value| value.to_string_lossy().into_owned()).collect()
    }

    fn words(&self) -> Vec<OsString> {
        let Some(flag) = &self.flag else { return self.values.clone() };
        let with = |value: &OsString| {
            let mut word = OsString::from(format!("{flag}="));
            word.push(value);
            word
        };
        if self.values.is_empty() { vec![flag.into()] } else { self.values.iter().map(with).collect() }
    }
}

impl Args {
    fn parse_words(words: Vec<OsString>) -> Result<Self, clap::Error> {
        let matches = command().try_get_matches_from(words)?;
        Ok(Self { given: Given::of(&matches), ..Self::from_arg_matches(&matches)? })
    }

    /// The arguments of `run` that carry out an experiment file with these flags.
    pub(super) fn of_experiment(experiment: &Path, given: &Given) -> anyhow::Result<Self> {
        let words = given.words().into_iter().chain(["--".into(), experiment.as_os_str().to_owned()]);
        Self::parse_words(words.collect()).map_err(|error| {
            let text = error.to_string();
            let reason = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Failure::usage(reason, "see `wikitrail run --help`, where the flag means the same")
        })
    }

    /// What is not typed of a run that is to go on, the command line says that started it: `--resume --out DIR` is
    /// enough. Whoever names a dataset means what they type, and nothing else.
    pub(super) fn completed(self) -> anyhow::Result<Self> {
        let Some(out) = self.out.as_deref().filter(|_| self.resume && !self.given.has(DATASET)) else {
            return Ok(self);
        };
        let Some(manifest) = recorded(out)? else { return Ok(self) };
        let words = manifest.command_line.iter().skip_while(|word| *word != "run").skip(1);
        let again = "name dataset and settings again";
        let failure = |reason: String, hint: &str| {
            let command = visible_line(&manifest.command_line.join(" "), LONGEST_COMMAND);
            let message = format!("the command that started `{}` cannot be gone on with: {reason}", out.display());
            Failure::usage(message, format!("{hint}; it was: {command}"))
        };
        if manifest.command_line.get(1).is_some_and(|word| word == "reproduce") {
            return Err(failure("it is none of `wikitrail run`".to_owned(), "use it with --resume"));
        }
        let refused = |error: clap::Error| {
            let text = error.to_string();
            let reason = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            failure(visible_line(reason, LONGEST_COMMAND), again)
        };
        let started = Self::parse_words(words.map(OsString::from).collect()).map_err(refused)?.given;
        let given = started.gone_on_with(&self.given).map_err(|address| {
            let reason = format!("it names the server `{}`", visible_line(&address, LONGEST_COMMAND));
            failure(reason, "a key may be sent there, so name it yourself with --base-url")
        })?;
        let completed = Self::parse_words(given.words()).map_err(refused)?;
        let words = without_secrets(completed.given.words()).join(" ");
        say(format_args!("going on with: wikitrail run {}", visible_line(&words, LONGEST_COMMAND)));
        Ok(completed)
    }
}

/// The manifest in a folder; of an experiment over several datasets, that of the first that has one.
fn recorded(out: &Path) -> anyhow::Result<Option<Manifest>> {
    let folder = RunFolder::at(out);
    if folder.exists() {
        return Ok(Some(folder.manifest()?));
    }
    let Ok(entries) = std::fs::read_dir(out) else { return Ok(None) };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for folder in paths.into_iter().map(RunFolder::at).filter(RunFolder::exists) {
        let manifest = folder.manifest()?;
        if manifest.experiment.as_ref().is_some_and(|experiment| !experiment.datasets.is_empty()) {
            return Ok(Some(manifest));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn addresses_lose_what_may_hold_a_key_however_they_are_typed() {
        for (typed, shown) in [
            ("--base-url http://u:p@h/v1?key=K", "--base-url http://h/v1"),
            ("--base-url=h/v1?key=K&next=http://x/", "--base-url=h/v1"),
            ("--base-url h/v1?key=K,http://other/v1?k=L,i/v1", "--base-url h/v1,http://other/v1"),
            ("--base-url h/v1,i/v1 --limit 3", "--base-url h/v1,i/v1 --limit 3"),
            ("--option k=http://u:p@h/?key=K x", "--option k=http://h/ x"),
            ("--prompt a=b?c", "--prompt a=b?c"),
        ] {
            assert_eq!(without_secrets(typed.split(' ').map(Into::into)).join(" "), shown, "{typed}");
        }
    }
}
