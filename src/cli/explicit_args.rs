//! Which flags were typed, and the command line that a run's folder was started with.

use super::failure::Failure;
use super::say::say;
use crate::base::Manifest;
use crate::base::text::{shell_word, visible_line};
use crate::runner::{Argument, ExplicitArgs, Known, UserConfig, without_secrets};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};
use std::ffi::OsString;
use std::path::Path;

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

/// The manifests of all runs in a folder, as far as they can be read.
pub(super) fn all_recorded(out: &Path) -> Vec<Manifest> {
    crate::analysis::results::runs_at(out).filter_map(|folder| folder.manifest().ok()).collect()
}

pub(super) fn known_inputs(person: &UserConfig, folder: Option<&Path>) -> Known {
    let mut known = Known { folders: person.defaults.file_dirs().map(Path::to_owned).collect(), digests: Vec::new() };
    for manifest in folder.map(all_recorded).unwrap_or_default() {
        known.digests.extend(manifest.files.into_values());
        known.digests.extend(manifest.experiment.map(|experiment| experiment.sha256));
        known.digests.extend(manifest.variants.into_iter().filter_map(|variant| variant.wiki_origin));
        known.digests.push(manifest.dataset.sha256);
    }
    known
}
