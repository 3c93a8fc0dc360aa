//! Which flags were typed, and the command line that a run's folder was started with.

use super::failure::Failure;
use super::say::say;
use crate::base::Manifest;
use crate::base::text::{shell_word, visible_line};
use crate::net::redact;
use crate::wikipedia::RetrieverAddress;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};
use std::ffi::OsString;
use std::path::Path;

/// Characters of a command line that are shown.
const LONGEST_COMMAND: usize = 1000;
/// Flags whose values are addresses.
const OF_ADDRESSES: [&str; 3] = ["--base-url", "--wiki-url", "--judge-base-url"];
/// Flags whose values were refused if they held a secret, and are shown as they are: a part of them may be an address.
const WITHOUT_SECRETS: [&str; 4] = ["--extra-body", "--extra-header", "--judge-extra-body", "--judge-extra-header"];
/// Flags that belong to one start of the program and not to its run.
const OF_A_START: [&str; 7] = ["resume", "out", "shard", "dry_run", "json", "quiet", "confirm"];

/// The arguments of a command that were typed, as opposed to those that have their default.
#[derive(Debug, Clone, Default)]
pub(super) struct ExplicitArgs {
    typed: Vec<Argument>,
    /// Whether those of an earlier start are among them.
    completed: bool,
}

/// An argument by its name, such as `max_steps`.
#[derive(Debug, Clone)]
struct Argument {
    name: String,
    /// What is typed before a value; nothing for a positional argument.
    flag: Option<String>,
    /// Values as typed; none for a switch.
    values: Vec<OsString>,
}

/// A command line as it may be shown and stored: addresses lose user part and query, which may hold a key.
pub(super) fn without_secrets(words: impl IntoIterator<Item = OsString>) -> Vec<String> {
    let (mut follows, mut as_it_is) = (false, false);
    let mut shown = |word: OsString| {
        let word = word.to_string_lossy().into_owned();
        let is_value = std::mem::replace(&mut as_it_is, WITHOUT_SECRETS.contains(&word.as_str()));
        if is_value
            || WITHOUT_SECRETS.iter().any(|flag| word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')))
        {
            as_it_is = false;
            return word;
        }
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

/// Addresses with commas between them. The text after a comma may belong to the query.
fn addresses(text: &str) -> String {
    let mut in_query = false;
    let parts = text.split(',').filter(|part| {
        let goes_on = in_query && !part.contains("://");
        in_query = goes_on || part.contains('?');
        !goes_on
    });
    let shown = |part: &str| {
        if part.starts_with("retriever:") { RetrieverAddress::shown(part) } else { redact::url(part) }
    };
    parts.map(shown).collect::<Vec<_>>().join(",")
}

impl ExplicitArgs {
    /// What was typed of the arguments of `command`.
    pub(super) fn of(command: &Command, matches: &ArgMatches) -> Self {
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
        Self { typed: all.map(argument).collect(), completed: false }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.typed.iter().any(|argument| argument.name == name)
    }

    /// The values that were typed of these arguments.
    pub(super) fn values(&self, names: &[&str]) -> impl Iterator<Item = &Path> {
        let given = self.typed.iter().filter(|argument| names.contains(&argument.name.as_str()));
        given.flat_map(|argument| &argument.values).map(Path::new)
    }

    /// The command line for the manifest: as typed, or completed by that of the start that is resumed.
    pub(super) fn command_line(&self, name: &str) -> Vec<String> {
        if !self.completed {
            return without_secrets(std::env::args_os());
        }
        let program = std::env::args_os().next().unwrap_or_else(|| "wikitrail".into());
        without_secrets([program, name.into()].into_iter().chain(self.typed.iter().flat_map(Argument::words)))
    }

    /// The words that resume what was started with these: what is typed now takes the place of what was typed then.
    fn resumed(mut self, typed: &Self) -> Vec<OsString> {
        self.typed.retain(|argument| !OF_A_START.contains(&argument.name.as_str()) && !typed.has(&argument.name));
        self.typed.iter().chain(&typed.typed).flat_map(Argument::words).collect()
    }
}

impl Argument {
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

/// A command that can be started again from the command line that a folder records.
pub(super) trait Resumable: Args {
    const NAME: &'static str;

    /// The command with its flags.
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

/// The arguments of the command that started what is in a folder.
pub(super) fn started<A: Resumable>(folder: &Path) -> anyhow::Result<Option<A>> {
    let completed = completed::<A>(folder, &ExplicitArgs::default())?;
    Ok(completed.map(|(args, explicit)| args.with(explicit)))
}

fn completed<A: Resumable>(folder: &Path, typed: &ExplicitArgs) -> anyhow::Result<Option<(A, ExplicitArgs)>> {
    let Some(manifest) = recorded(folder)? else { return Ok(None) };
    let failure = |reason: String, hint: &str| {
        let words: Vec<String> = manifest.command_line.iter().map(|word| shell_word(word)).collect();
        let command = visible_line(&words.join(" "), LONGEST_COMMAND);
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
        let explicit = ExplicitArgs { completed: true, ..ExplicitArgs::of(&command, &matches) };
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

/// The manifests of all runs in a folder, as far as they can be read.
pub(super) fn all_recorded(out: &Path) -> Vec<Manifest> {
    crate::analysis::results::runs_at(out).filter_map(|folder| folder.manifest().ok()).collect()
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
            ("--extra-header referer=http://h/?q=x#y z", "--extra-header referer=http://h/?q=x#y z"),
            ("--extra-body={\"u\":\"http://h/?q\"} http://h/?q", "--extra-body={\"u\":\"http://h/?q\"} http://h/"),
        ] {
            assert_eq!(without_secrets(typed.split(' ').map(Into::into)).join(" "), shown, "{typed}");
        }
    }
}
