//! From an experiment file to runs: every setting is read as the flag of the same name.

use super::args::{Args, DataArgs, QuestionArgs};
use super::inputs::Inputs;
use super::part::{CellArgs, CellFlags, Part, PartOf};
use crate::cli::builtin;
use crate::cli::failure::Failure;
use crate::cli::say::say;
use crate::experiment::{CELL_KEYS, Cell, DATASET_KEYS, DatasetSpec, Experiment, Key, Setting, Value};
use crate::report::counted;
use crate::types::{ExperimentRecord, sha256_hex};
use anyhow::Context as _;
use clap::{Command, FromArgMatches};
use std::borrow::Cow;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Largest experiment file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Settings of cells that may be typed as well: where something is and how patient to be, not what is compared.
const FOR_ALL_CELLS: [&str; 11] = [
    "base_url",
    "key_env",
    "key_file",
    "model_timeout",
    "model_attempts",
    "price",
    "wiki_url",
    "contact",
    "wiki_concurrency",
    "wiki_per_minute",
    "wiki_timeout",
];

/// Whether the file is an experiment, by its ending.
pub(super) fn is_experiment(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// The runs of an experiment, one a dataset.
pub(super) fn parts(args: &Args) -> anyhow::Result<Vec<Part>> {
    let file = Source::of(&args.questions.dataset);
    let (experiment, text) = file.experiment()?;
    refuse_flags(args, &file)?;
    let Experiment { merged, excluded, .. } = experiment;
    if merged > 0 {
        say(format_args!(
            "note: {} left out, the same as another one: a method or a model has no use for what differs",
            counted(merged, "combination")
        ));
    }
    if excluded > 0 {
        say(format_args!("note: {} excluded", counted(excluded, "combination")));
    }
    refuse_unused(args, &experiment)?;
    refuse_bad_files(args, &file, &experiment)?;
    let several = experiment.datasets.len() > 1;
    let names = experiment.datasets.iter().map(|dataset| dataset.name.clone()).filter(|_| several);
    let record = ExperimentRecord {
        name: experiment.name.clone(),
        path: file.shown.clone(),
        sha256: sha256_hex([text.as_bytes()]),
        baseline: experiment.baseline.clone(),
        datasets: names.collect(),
    };
    let of = PartOf { record, text };
    let out = args.out.clone().unwrap_or_else(|| super::folder::fresh(&experiment.name));
    let part = |dataset: &DatasetSpec| {
        Ok(Part {
            questions: file.questions(args, dataset)?,
            repeats: if args.given.has("repeats") { args.repeats } else { experiment.repeats },
            cells: experiment
                .cells
                .iter()
                .map(|cell| file.cell(args, cell.on(dataset)))
                .collect::<anyhow::Result<_>>()?,
            out: Some(if several { out.join(&dataset.name) } else { out.clone() }),
            experiment: Some(of.clone()),
        })
    };
    experiment.datasets.iter().map(part).collect()
}

/// What an experiment file says, wherever it is run.
pub(in crate::cli) fn read(path: &Path) -> anyhow::Result<Experiment> {
    Ok(Source::of(path).experiment()?.0)
}

/// Flags of what the file itself says would be two answers to one question.
fn refuse_flags(args: &Args, file: &Source) -> anyhow::Result<()> {
    let has = |keys: &[Key], name: &str| keys.iter().any(|key| key.name == name);
    for argument in args.given.arguments() {
        let name = argument.name.as_str();
        let table = if has(CELL_KEYS, name) && !may_be_typed(args, name) {
            "[settings] or [matrix]"
        } else if has(DATASET_KEYS, name) && name != "limit" {
            "[[dataset]]"
        } else {
            continue;
        };
        return Err(Failure::usage(
            format!("--{} is for the experiment file to say", name.replace('_', "-")),
            format!("set `{name}` in {table} of {}, or run a dataset with flags", file.shown),
        ));
    }
    Ok(())
}

/// Whether a setting that was typed stands in place of what the file says.
fn may_be_typed(args: &Args, name: &str) -> bool {
    args.replaced.is_some() || FOR_ALL_CELLS.contains(&name)
}

/// The cell with what was typed for all cells, as far as it has a use for it.
fn typed(args: &Args, mut cell: Cell) -> Cell {
    for argument in args.given.arguments().filter(|argument| may_be_typed(args, &argument.name)) {
        if let Some(key) = CELL_KEYS.iter().find(|key| key.name == argument.name) {
            cell.set(key, key.typed(argument.values()));
        }
    }
    // What belonged to another model or source is of no use any more.
    let settings = cell.settings.clone();
    cell.settings.retain(|setting| setting.key.of_use(&settings));
    cell
}

/// Whoever types a setting in place of the file's expects it to hold somewhere.
fn refuse_unused(args: &Args, experiment: &Experiment) -> anyhow::Result<()> {
    if args.replaced.is_none() {
        return Ok(());
    }
    let cells: Vec<Cell> = experiment.cells.iter().map(|cell| typed(args, cell.clone())).collect();
    for argument in args.given.arguments().filter(|argument| CELL_KEYS.iter().any(|key| key.name == argument.name)) {
        if !cells.iter().flat_map(|cell| &cell.settings).any(|setting| setting.key.name == argument.name) {
            return Err(Failure::usage(
                format!("--{} is of use to no cell", argument.name.replace('_', "-")),
                "leave it out, or name the --model or the --wiki that takes it",
            ));
        }
    }
    Ok(())
}

/// Files of all cells and datasets that cannot be read, or that hold something else than they should.
fn refuse_bad_files(args: &Args, file: &Source, experiment: &Experiment) -> anyhow::Result<()> {
    let mut inputs = Inputs::new(file, !args.offline());
    for dataset in &experiment.datasets {
        let typed_path = args.replaced.as_ref().is_some_and(|replaced| replaced.datasets.contains_key(&dataset.name));
        if !typed_path {
            inputs.dataset(dataset, Path::new(&file.resolved(&dataset.path)));
        }
        inputs.settings(&file.all_found(dataset.settings.clone()));
        for cell in &experiment.cells {
            inputs.settings(&file.all_found(typed(args, cell.on(dataset)).settings));
        }
    }
    inputs.checked()
}

/// An experiment file, and the folder from which its paths are tried.
pub(super) struct Source {
    path: PathBuf,
    /// The path for messages and for the record.
    shown: String,
    folder: PathBuf,
}

impl Source {
    fn of(path: &Path) -> Self {
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Self { path: path.to_owned(), shown: path.display().to_string(), folder }
    }

    /// The path for messages.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// The file's text, or that of the shipped file of that name.
    fn read(&self) -> anyhow::Result<String> {
        let hint = "an experiment is a TOML file in UTF-8; docs/experiments.md explains it";
        let shipped = builtin::file(&self.shown).filter(|_| !self.path.exists());
        let bytes: Cow<'static, [u8]> = if let Some(bytes) = shipped {
            bytes.into()
        } else {
            let mut bytes = Vec::new();
            let read = File::open(&self.path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
            read.map_err(|error| Failure::bad_input(format!("cannot read `{}`: {error}", self.shown), hint))?;
            bytes.into()
        };
        if bytes.len() as u64 > MAX_FILE {
            return Err(Failure::bad_input(format!("`{}` is larger than 1 MiB", self.shown), hint));
        }
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| Failure::bad_input(format!("`{}` is not UTF-8 text", self.shown), hint))?;
        Ok(text.trim_start_matches('\u{feff}').to_owned())
    }

    fn experiment(&self) -> anyhow::Result<(Experiment, String)> {
        let text = self.read()?;
        Ok((Experiment::parse(&self.shown, &text)?, text))
    }

    /// A path of the file: as it stands from the working folder, else from the file's own folder. One that is in neither
    /// is left as it is; it may be one of the shipped files.
    fn resolved(&self, path: &str) -> String {
        let beside = self.folder.join(path);
        if Path::new(path).exists() || !beside.exists() { path.to_owned() } else { beside.display().to_string() }
    }

    /// A setting with its paths found.
    fn found(&self, mut setting: Setting) -> Setting {
        if let Value::One(value) = &mut setting.value {
            match setting.key.name {
                "prompt" => {
                    let (path, key) = match value.find(".json#") {
                        Some(at) => value.split_at(at + ".json".len()),
                        None => (value.as_str(), ""),
                    };
                    *value = format!("{}{key}", self.resolved(path));
                }
                "instruction" | "texts" | "key_file" | "ids" => *value = self.resolved(value),
                "wiki" => {
                    if let Some(folder) = value.strip_prefix("corpus:") {
                        *value = format!("corpus:{}", self.resolved(folder));
                    }
                }
                _ => {}
            }
        }
        setting
    }

    fn all_found(&self, settings: Vec<Setting>) -> Vec<Setting> {
        settings.into_iter().map(|setting| self.found(setting)).collect()
    }

    /// A cell as flags; what was typed for all cells stands in place of what the file says.
    fn cell(&self, args: &Args, cell: Cell) -> anyhow::Result<CellArgs> {
        let cell = typed(args, cell);
        let settings = self.all_found(cell.settings);
        let flags = parsed::<CellFlags>(&settings).map_err(|(setting, error)| self.refused(setting, cell.line, &error));
        let flags = flags.with_context(|| format!("cell `{}`", cell.name))?;
        Ok(CellArgs { named: Some((cell.name, format!("{}:{}", self.shown, cell.line))), flags })
    }

    fn questions(&self, args: &Args, dataset: &DatasetSpec) -> anyhow::Result<QuestionArgs> {
        let settings = self.all_found(dataset.settings.clone());
        let data =
            parsed::<DataArgs>(&settings).map_err(|(setting, error)| self.refused(setting, dataset.line, &error))?;
        let limit = if args.given.has("limit") { args.questions.data.limit } else { data.limit };
        let typed = args.replaced.as_ref().and_then(|replaced| replaced.datasets.get(&dataset.name));
        let path = typed.cloned().unwrap_or_else(|| self.resolved(&dataset.path).into());
        Ok(QuestionArgs { dataset: path, data: DataArgs { limit, ..data } })
    }

    /// What the flag's own check has against a setting.
    fn refused(&self, setting: Option<&Setting>, line: usize, error: &clap::Error) -> anyhow::Error {
        let text = error.to_string();
        let reason: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
        let reason = reason.join(" ");
        let reason = reason.trim_start_matches("error: ");
        let (line, key) = match setting {
            Some(setting) if setting.line > 0 => (setting.line, format!("`{}`: ", setting.key.name)),
            _ => (line, String::new()),
        };
        Failure::bad_input(
            format!("{}:{line}: {key}{reason}", self.shown),
            "a setting takes what the flag of `wikitrail run` takes; see `wikitrail run --help`",
        )
    }
}

/// Settings as flags; an error comes with the setting that is to blame, if it is one alone.
fn parsed<T: clap::Args>(settings: &[Setting]) -> Result<T, (Option<&Setting>, clap::Error)> {
    let parse = |settings: &[Setting]| {
        let command = T::augment_args(Command::new("wikitrail run").no_binary_name(true));
        let words: Vec<String> = settings.iter().flat_map(Setting::words).collect();
        command.try_get_matches_from(words).and_then(|matches| <T as FromArgMatches>::from_arg_matches(&matches))
    };
    parse(settings).map_err(|error| {
        let alone = settings.iter().find_map(|setting| Some((setting, parse(std::slice::from_ref(setting)).err()?)));
        alone.map_or((None, error), |(setting, error)| (Some(setting), error))
    })
}

#[cfg(test)]
mod tests {
    use super::{CellFlags, DataArgs};
    use crate::experiment::{CELL_KEYS, DATASET_KEYS, Key};
    use clap::{Args, Command};
    use std::collections::BTreeSet;

    fn flags<T: Args>() -> BTreeSet<String> {
        let command = T::augment_args(Command::new("x"));
        command.get_arguments().map(|argument| argument.get_id().to_string()).collect()
    }

    fn keys(keys: &[Key]) -> BTreeSet<String> {
        keys.iter().map(|key| key.name.to_owned()).collect()
    }

    /// A flag that is new must be a setting as well, or be left out of both.
    #[test]
    fn every_setting_is_a_flag_and_every_flag_is_a_setting() {
        assert_eq!(keys(CELL_KEYS), flags::<CellFlags>());
        assert_eq!(keys(DATASET_KEYS), flags::<DataArgs>());
        for key in CELL_KEYS.iter().chain(DATASET_KEYS) {
            let command = DataArgs::augment_args(CellFlags::augment_args(Command::new("x")));
            let long =
                command.get_arguments().find(|argument| argument.get_id() == key.name).and_then(|a| a.get_long());
            assert_eq!(long, Some(key.name.replace('_', "-").as_str()));
        }
    }
}
