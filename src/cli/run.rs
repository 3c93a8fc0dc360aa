//! `run`: a dataset file through an agent, or an experiment, recorded, scored, with a table at the end.

mod args;
mod dry_run;
mod screen;
mod shard;

pub(super) use args::{Args, LimitArgs, PaceArgs, RecordingArgs, usd};

use super::confirm::{Ask, Origin, Question, known};
use super::defaults;
use super::explicit_args::{ExplicitArgs, Resumable, resumed};
use super::failure::{self, Failure};
use super::say::say;
use super::{report, score};
use crate::experiment::{
    DATASET_SETTINGS, DatasetSpec, Effect, Experiment, ExperimentFile, Kind, Output, Overrides, Setting,
    VARIANT_SETTINGS,
};
use crate::report::console::stdout;
use crate::run::{End, Finished, Interrupts, RunError, Summary, check_files, prepare};
use crate::types::StopRule;
use crate::types::text::visible_line;
use screen::Screen;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// How an experiment is shown while it runs and at its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'a> {
    /// One JSON object instead of tables.
    pub(super) json: bool,
    /// No progress.
    pub(super) quiet: bool,
    /// Whether the figures are printed; another command may print its own.
    pub(super) figures: bool,
    /// The page to write at its end, also of an interrupted run.
    pub(super) report: Option<&'a Path>,
}

impl Resumable for Args {
    const NAME: &'static str = "run";

    fn with(self, explicit: ExplicitArgs) -> Self {
        Self { explicit, ..self }
    }
}

pub(super) async fn execute(mut args: Args) -> anyhow::Result<u8> {
    let (typed, person) = (args.explicit.clone(), defaults::person()?);
    // Whoever names a dataset means what they type, and nothing else.
    let out = args.out.clone().filter(|_| args.resume && !typed.has("dataset"));
    let completed = out.as_deref().map(|out| resumed(out, &typed)).transpose()?.flatten();
    let stored = out.as_deref().filter(|_| completed.is_some());
    args = completed.unwrap_or(args);
    let goes_on = args.out.clone().filter(|_| args.resume);
    let (explicit, named) = (args.explicit.clone(), args.dataset.clone());
    let question = Question {
        origin: stored.map_or(Origin::Named, Origin::Found),
        typed: &typed,
        stored: stored.map(|out| (out, &explicit)),
        file: Some(named.as_path()).filter(|path| ExperimentFile::is_one(path)),
        person: &person,
        // A shard that starts again goes on, too.
        known: known(&person, args.out.as_deref().filter(|_| args.resume || args.shard.is_some())),
        confirmed: args.confirm,
    };
    question.ask_of_experiment("dataset", &args.dataset)?;
    let (replays, confirmed) = (args.recording.is_replay(), args.confirm);
    let given = defaults::complete(&mut args, &person, goes_on.as_deref(), replays, confirmed)?;
    args.given = (person.results(), given);
    let experiment = args.experiment(&|experiment| question.ask(experiment))?;
    let report = page(&args, &question)?;
    let shown = Shown { json: args.json, quiet: args.quiet, figures: true, report: report.as_deref() };
    carry_out(&experiment, shown).await
}

/// The page to write: the one that is typed, or that of an earlier start, where that may be written.
fn page(args: &Args, question: &Question<'_>) -> anyhow::Result<Option<PathBuf>> {
    let Some(page) = &args.report else { return Ok(None) };
    let Some((folder, _)) = question.stored.filter(|_| !question.typed.has("report")) else {
        return report::check(page).map(|()| Some(page.clone()));
    };
    let refusal = match question.refuses_page(folder, page)? {
        None => report::check(page).err().map(|error| error.to_string()),
        refusal => refusal,
    };
    if let Some(reason) = &refusal {
        let shown = visible_line(&page.display().to_string(), 300);
        say(format_args!("note: --report {shown} is not written again ({reason}); to write it, type --report"));
    }
    Ok(Some(page.clone()).filter(|_| refusal.is_none()))
}

/// Prepares an experiment and runs it; of a dry run, shows the plan.
pub(super) async fn carry_out(experiment: &Experiment, shown: Shown<'_>) -> anyhow::Result<u8> {
    let prepared = prepare(experiment)?;
    prepared.notes().iter().for_each(say);
    if experiment.output.dry_run {
        dry_run::print_plan(&prepared, shown.json)?;
        return Ok(failure::OK);
    }
    let different = prepared.verify_prefixes().await;
    if !different.is_empty() {
        for (id, reason) in &different {
            say(format_args!("error: `{}`, {reason}", visible_line(id, 80)));
        }
        say(
            "hint: copied steps must find the same pages: use the corpus or the recording of the run; nothing was written",
        );
        return Ok(failure::DIFFERENCE);
    }
    let several = experiment.datasets.len() > 1;
    let tables = shown.figures && !(several && shown.json);
    let mut screen = Screen::new(shown.quiet, tables.then_some(shown.json));
    let Finished { summaries, end, notes, .. } = prepared.execute(&mut screen, Interrupts::signals()).await?;
    screen.result()?;
    if several && shown.json && shown.figures {
        writeln!(stdout(), "{}", score::together(&summaries))?;
    }
    notes.iter().for_each(say);
    if let Some(page) = shown.report {
        report::of_runs(summaries.iter().map(|summary| summary.run.as_path()), page)?;
    }
    let unfinished = summaries.iter().any(Summary::is_unfinished);
    Ok(match end {
        End::Interrupted => failure::INTERRUPTED,
        End::Stopped(_) if unfinished => failure::NOT_MEASURED,
        _ if summaries.iter().any(|summary| summary.unmeasured() > 0 && !summary.is_decided()) => failure::NOT_MEASURED,
        _ => failure::OK,
    })
}

impl Args {
    /// The experiment that the flags describe. Before a file that it names is opened, `ask` says whether that may be.
    pub(super) fn experiment(&self, ask: Ask<'_>) -> anyhow::Result<Experiment> {
        let (mut experiment, file) = if ExperimentFile::is_one(&self.dataset) {
            self.refuse_flags_of_the_file()?;
            let overrides = Overrides {
                settings: self.variant.single(),
                limit: self.data.dataset()?.limit,
                repeats: self.repeats,
                stop_when: self.stop_when()?,
                ..Overrides::default()
            };
            let file = ExperimentFile::load(&self.dataset).map_err(RunError::from)?;
            file.check_used(&overrides).map_err(RunError::from)?;
            (file.experiment(&overrides).map_err(RunError::from)?, Some((file, overrides)))
        } else {
            let path = self.dataset.clone();
            self.say_what_models_share();
            let experiment = Experiment {
                datasets: vec![DatasetSpec { path, settings: self.data.dataset()?, ..DatasetSpec::default() }],
                variants: self.variant.listed().variants().map_err(RunError::from)?,
                repeats: self.repeats.unwrap_or(1),
                stop_when: self.stop_when()?,
                ..Experiment::default()
            };
            (experiment, None)
        };
        experiment.limits = self.limits.limits();
        experiment.pace = self.pace.pace();
        experiment.recording = self.recording.recording();
        experiment.output = Output {
            folder: self.out.clone(),
            results: self.given.0.clone(),
            defaults: self.given.1.clone(),
            resume: self.resume,
            command_line: self.explicit.command_line(Self::NAME),
            dry_run: self.dry_run,
            shard: self.shard.as_deref().map(|text| shard::parse_shard(text, |name| std::env::var(name).ok())).transpose()?,
        };
        ask(&mut experiment)?;
        if let Some((file, overrides)) = file {
            check_files(&file, &overrides)?.iter().for_each(say);
        }
        Ok(experiment)
    }

    fn stop_when(&self) -> anyhow::Result<Option<StopRule>> {
        let rule = self.stop_when.as_deref().map(StopRule::parse).transpose();
        rule.map_err(|error| Failure::usage(format!("--stop-when: {error}"), error.hint))
    }

    /// Of several models, some flags may be meant for one of them.
    fn say_what_models_share(&self) {
        let (models, flags) = (self.variant.models().len(), self.variant.shared_by_models());
        if models > 1 && !flags.is_empty() {
            let hold = if flags.len() == 1 { "holds" } else { "hold" };
            say(format_args!("note: {} {hold} for each of the {models} models", flags.join(", ")));
        }
    }

    /// Flags of what the file itself says would be two answers to one question. What it leaves open may be typed, but for
    /// settings of which several may be typed, and those of datasets.
    fn refuse_flags_of_the_file(&self) -> anyhow::Result<()> {
        let refuse = |setting: &Setting, table: &str| {
            Failure::usage(
                format!("{} is set by the experiment file", setting.flag()),
                format!("set `{}` in {table} of {}, or run a dataset with flags", setting.name, self.dataset.display()),
            )
        };
        let typed = |setting: &&Setting| self.explicit.has(setting.name);
        if let Some(setting) = DATASET_SETTINGS.iter().filter(|setting| setting.name != "limit").find(typed) {
            return Err(refuse(setting, "[[dataset]]"));
        }
        // A header with a secret is never the file's.
        let of_file = |setting: &&Setting| setting.effect != Effect::Nothing && setting.kind != Kind::Headers;
        let typed: Vec<&Setting> = VARIANT_SETTINGS.iter().filter(of_file).filter(typed).collect();
        if typed.is_empty() {
            return Ok(());
        }
        let in_file = "[settings] or [matrix]";
        if let Some(setting) = typed.iter().find(|setting| self.variant.is_list(setting)) {
            if setting.name == "model" {
                let hint =
                    format!("set `model` in [matrix] of {}, or run a dataset with flags", self.dataset.display());
                return Err(Failure::usage("--model names several models, and an experiment file takes one", hint));
            }
            return Err(refuse(setting, in_file));
        }
        let file = ExperimentFile::load(&self.dataset)?;
        typed.iter().find(|setting| file.sets(setting)).map_or(Ok(()), |setting| Err(refuse(setting, in_file)))
    }
}
