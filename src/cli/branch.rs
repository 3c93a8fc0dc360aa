//! `branch`: recorded episodes with one step edited, beside a control without the edit from the same step, and placebos where
//! the control only replays the record.

mod chosen;

use super::confirm::{Origin, Question, known};
use super::defaults;
use super::explicit_args::{ExplicitArgs, started, without_secrets};
use super::failure::{self, Failure};
use super::output_file::json_line;
use super::run::{self, Shown, carry_out};
use super::say::say;
use crate::analysis::report::console::stdout;
use crate::analysis::report::repair::{Arms, Controls, Repair};
use crate::analysis::results::{self, Field, GradedRun, RunRef, Wanted};
use crate::analysis::{Paths, compare};
use crate::base::text::{counted, shell_word, visible_line};
use crate::base::{Manifest, Pairs, Tool, Trajectory, Variant, WikiKind, WikiName};
use crate::prompting::protocol;
use crate::runner::branch::{CONTROL, EDITED, MAX_PLACEBOS, PLACEBO, refuse_other_edit};
use crate::runner::experiment::{Experiment, ExperimentFile, Output, VariantSettings, VariantSpec};
use crate::runner::stopping::ordered;
use crate::runner::store::RunFolder;
use crate::scoring::{Divergence, FailureClass, figure};
use chosen::{Chosen, only_variant};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct Args {
    /// An episode (RUN:ID or RUN@VARIANT:ID), or a run whose episodes --wrong and --class choose; the first repeat of each
    /// question.
    #[arg(value_name = "TARGET")]
    target: String,
    /// The step from which on it differs: a number from 1, `last-search`, or `parting`: the first step that differs from a
    /// right episode of the same question.
    #[arg(long, value_name = "STEP", value_parser = at)]
    at: At,
    /// Whose right episodes `--at parting` compares with (RUN or RUN@VARIANT) [default: the other variant of the run].
    #[arg(long, value_name = "RUN", value_parser = other_run)]
    from: Option<RunRef>,
    /// Put this thought there.
    #[arg(long, value_name = "TEXT", conflicts_with = "drop_thought", help_heading = "Edit")]
    thought: Option<String>,
    /// Leave the thought out.
    #[arg(long, help_heading = "Edit")]
    drop_thought: bool,
    /// Put this action there, such as `Search[Ray Charles]`; the tool answers it.
    #[arg(long, value_name = "ACTION", value_parser = action, help_heading = "Edit")]
    action: Option<(Tool, String)>,
    /// Put the text of this file there in place of the tool's answer.
    #[arg(long, value_name = "FILE", help_heading = "Edit")]
    observation_file: Option<PathBuf>,
    /// Go on with another model.
    #[arg(long, value_name = "PROVIDER:NAME", help_heading = "Edit")]
    model: Option<String>,
    /// Go on with another prompt of the same protocol: a file, or a shipped one.
    #[arg(long, value_name = "PROMPT", help_heading = "Edit")]
    prompt: Option<String>,
    /// Go on by another protocol; what is copied is written as it writes it.
    #[arg(long, value_name = "ID", value_parser = clap::builder::PossibleValuesParser::new(protocol::IDS), help_heading = "Edit")]
    protocol: Option<String>,
    /// An edit by rule: `gold-page` searches the first gold page that was not opened, `empty` has the tool answer nothing.
    #[arg(long, value_name = "RULE", value_parser = ["gold-page", "empty"], help_heading = "Edit",
          conflicts_with_all = ["thought", "drop_thought", "action", "observation_file", "model", "prompt", "protocol"])]
    with: Option<String>,
    /// Only episodes with a wrong answer.
    #[arg(long, help_heading = "Episodes")]
    wrong: bool,
    /// Only episodes of this failure class.
    #[arg(long, value_name = "NAME", value_parser = super::show::class(), help_heading = "Episodes")]
    class: Option<FailureClass>,
    /// How often each branch is run; the control as often.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
    /// Placebos of each question: edits of the same kind that say nothing. They are run where at least half of the controls
    /// only replay the record, as those of a greedy model do; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_PLACEBOS)))]
    placebo: u32,
    /// The new run's folder.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Go on with a branch that was interrupted: the same command, into the same folder.
    #[arg(long)]
    resume: bool,
    /// Print the plan and what it takes, placebos included, and run nothing.
    #[arg(long)]
    dry_run: bool,
    /// Use the servers, keys and files that the run's command names and this one does not; they are shown.
    #[arg(long)]
    confirm: bool,
    /// Print the repair rates as JSON; with --dry-run, the plan.
    #[arg(long)]
    json: bool,
    /// No progress.
    #[arg(long)]
    quiet: bool,
}

fn other_run(text: &str) -> Result<RunRef, String> {
    RunRef::parse(text).ok_or_else(|| "no such run; RUN or RUN@VARIANT is expected".to_owned())
}

fn action(text: &str) -> Result<(Tool, String), String> {
    let first = text.chars().next().unwrap_or_default();
    let lowered: String = first.to_lowercase().chain(text.chars().skip(1)).collect();
    match Tool::parse_action(&lowered) {
        (tool @ (Tool::Search | Tool::Lookup | Tool::Finish), input) => Ok((tool, input.to_owned())),
        _ => Err("an action is Search[TEXT], Lookup[TEXT] or Finish[TEXT]".to_owned()),
    }
}

pub(super) async fn execute(args: &Args) -> anyhow::Result<u8> {
    let (run, id) = match (RunRef::parse(&args.target), RunRef::with_id(&args.target)) {
        (Some(run), _) => (run, None),
        (None, Some((run, id))) => (run, Some(id)),
        (None, None) => {
            let message = format!("`{}` is neither an episode nor a run", visible_line(&args.target, 200));
            return Err(Failure::bad_input(
                message,
                "name RUN:ID, RUN@VARIANT:ID or RUN; RUN is a folder that `run` wrote",
            ));
        }
    };
    let chosen = Chosen::of(args, &run, id.as_deref())?;
    if args.out.exists() && !args.resume {
        let message = format!("`{}` exists", args.out.display());
        let hint = "a branch is a run of its own: name a new folder with --out, or add --resume to go on with this one";
        return Err(Failure::usage(message, hint));
    }
    refuse_own(args, &chosen)?;
    let experiment = experiment(args, &run, &chosen)?;
    let whole = with_placebos(&experiment, &chosen);
    if args.resume {
        refuse_other_edit(&args.out, whole.as_ref().map_or(&chosen.forks, |whole| &whole.forks))?;
    }
    if let Some(note) = &chosen.placebo_note {
        say(format_args!("note: {note}"));
    }
    let shown = Shown { json: args.json && args.dry_run, quiet: args.quiet, figures: false, report: None };
    let code = if args.dry_run {
        carry_out(whole.as_ref().unwrap_or(&experiment), shown).await?
    } else {
        run_arms(args, &experiment, whole.as_ref(), &run, shown).await?
    };
    if let Some(whole) = whole.filter(|_| args.dry_run) {
        let episodes = counted(whole.forks.len().saturating_sub(chosen.forks.len()) * args.repeats as usize, "episode");
        say(format_args!(
            "note: up to {episodes} of `{PLACEBO}`: they are run if at least half of the controls equal the record"
        ));
    } else if !args.dry_run && is_over(code) {
        print_repair(args, &run, &chosen.classes)?;
    }
    Ok(code)
}

/// Whether all episodes were tried, or the run has stopped by itself.
fn is_over(code: u8) -> bool {
    code == failure::OK || code == failure::NOT_MEASURED
}

/// Runs controls and edited branches, then the placebos if most of the controls only replay the record.
async fn run_arms(
    args: &Args,
    experiment: &Experiment,
    whole: Option<&Experiment>,
    run: &RunRef,
    shown: Shown<'_>,
) -> anyhow::Result<u8> {
    let Some(whole) = whole else { return carry_out(experiment, shown).await };
    let has_placebos = || -> anyhow::Result<bool> {
        Ok(RunFolder::open(&args.out)?.manifest()?.variants.iter().any(|variant| variant.name == PLACEBO))
    };
    if args.resume && has_placebos()? {
        return carry_out(whole, shown).await;
    }
    let code = carry_out(experiment, shown).await?;
    if !is_over(code) {
        return Ok(code);
    }
    let paths = Paths::of(&args.out, run)?;
    if !paths.are_all_tried() {
        return Ok(code);
    }
    let Controls { equal_the_record: same, measured: all, replay } = paths.controls();
    if !replay {
        say(format_args!("no placebo is run: {same} of {all} controls equal the record"));
        return Ok(code);
    }
    let episodes = counted((whole.forks.len() - experiment.forks.len()) * args.repeats as usize, "placebo episode");
    say(format_args!("{same} of {all} controls equal the record: {episodes} follow"));
    let mut whole = whole.clone();
    whole.output.resume = true;
    carry_out(&whole, shown).await
}

/// The same with the placebos as a third variant, if there are any.
fn with_placebos(experiment: &Experiment, chosen: &Chosen) -> Option<Experiment> {
    let control = experiment.variants.iter().find(|variant| variant.name == CONTROL)?;
    let placebo = VariantSpec { name: PLACEBO.to_owned(), ..control.clone() };
    let mut whole = experiment.clone();
    whole.variants.push(placebo);
    whole.forks.extend(chosen.placebos.iter().cloned());
    Some(whole).filter(|_| !chosen.placebos.is_empty())
}

/// Only what `run` made can be made again.
fn refuse_foreign(run: &RunRef, manifest: &Manifest) -> anyhow::Result<()> {
    match manifest.command_line.get(1).map(String::as_str) {
        Some("run") => Ok(()),
        Some("branch") => {
            let message = format!("`{}` holds branches, which cannot be branched off again", run.path.display());
            Err(Failure::usage(message, "branch off the run that they branch off; several edits may be combined"))
        }
        _ => Err(unlike(run, "no `wikitrail run` wrote it")),
    }
}

fn unlike(run: &RunRef, what: &str) -> anyhow::Error {
    let message = format!("`{}` cannot be branched off: {what}", run.path.display());
    Failure::usage(message, "branch off a folder that `wikitrail run` wrote, where its dataset and corpus are")
}

/// What the run's own command says, with two variants of its one.
fn experiment(args: &Args, run: &RunRef, chosen: &Chosen) -> anyhow::Result<Experiment> {
    let Some(mut started) = started::<run::Args>(&run.path)? else { return Err(unlike(run, "it holds no run")) };
    let person = defaults::person()?;
    let (typed, explicit, named) = (ExplicitArgs::default(), started.explicit.clone(), started.dataset().to_owned());
    let question = Question {
        origin: Origin::Found(&run.path),
        typed: &typed,
        stored: Some((&run.path, &explicit)),
        file: Some(named.as_path()).filter(|path| ExperimentFile::is_one(path)),
        person: &person,
        known: known(&person, Some(&run.path)),
        confirmed: args.confirm,
    };
    question.ask_of_experiment("dataset", &named)?;
    let given = defaults::complete(&mut started, &person, Some(&run.path), false, args.confirm)?;
    let mut experiment = started.experiment(&|experiment| question.ask_of_files(experiment))?;
    let path = &chosen.manifest.dataset.path;
    experiment.datasets.retain(|dataset| dataset.path.display().to_string() == *path);
    experiment.datasets.truncate(1);
    let Some(dataset) = experiment.datasets.first() else { return Err(unlike(run, "its dataset is another one")) };
    let spec = experiment.variants_on(dataset).iter().find(|spec| spec.name == chosen.variant).cloned();
    let Some(spec) = spec.or_else(|| only(experiment.variants_on(dataset))) else {
        return Err(unlike(run, "its command has no such variant"));
    };
    refuse_live(chosen, &experiment, run)?;
    let recorded = chosen.manifest.variants.iter().find(|variant| variant.name == chosen.variant);
    let began = recorded.map(|variant| (variant.protocol.clone(), variant.protocol_version));
    let named = |name: &str| VariantSpec { name: name.to_owned(), place: None, began: began.clone(), ..spec.clone() };
    let (control, mut edited) = (named(CONTROL), named(EDITED));
    edit(args, recorded, &mut edited.settings);
    // Two other variants are no longer what the run was to decide; its questions are still those in its order.
    if experiment.stop_when.take().is_some() {
        experiment.datasets[0] = ordered(&experiment.datasets[0]);
    }
    experiment.datasets[0].variants.clear();
    let mut experiment = Experiment {
        name: None,
        file: None,
        variants: vec![control, edited],
        repeats: args.repeats,
        pairs: Pairs { baseline: Some(CONTROL.to_owned()), ..Pairs::default() },
        output: Output {
            folder: Some(args.out.clone()),
            resume: args.resume,
            dry_run: args.dry_run,
            command_line: without_secrets(std::env::args_os()),
            defaults: given,
            ..Output::default()
        },
        forks: chosen.forks.clone(),
        ..experiment
    };
    experiment.recording.record = None;
    question.ask_of_places(&mut experiment)?;
    Ok(experiment)
}

/// Puts another model, prompt or protocol into the settings of the edited variant.
fn edit(args: &Args, recorded: Option<&Variant>, settings: &mut VariantSettings) {
    settings.model = args.model.clone().or_else(|| settings.model.take());
    settings.prompt = args.prompt.clone().or_else(|| settings.prompt.take());
    if args.protocol.is_some() {
        // Options are those of a protocol.
        settings.protocol.clone_from(&args.protocol);
        settings.option = None;
        // The step limit of the run: another one would be another edit.
        settings.max_steps = settings.max_steps.or(recorded.and_then(|variant| variant.max_steps));
    }
}

/// An edit to what the run has is none.
fn refuse_own(args: &Args, chosen: &Chosen) -> anyhow::Result<()> {
    let Some(own) = chosen.manifest.variants.iter().find(|variant| variant.name == chosen.variant) else {
        return Ok(());
    };
    let edits = [
        ("--model", &args.model, Some(&own.model)),
        ("--prompt", &args.prompt, Some(&own.prompt)),
        // The options of the run's protocol are not those that it has by itself.
        ("--protocol", &args.protocol, Some(&own.protocol).filter(|_| own.options.is_empty())),
    ];
    let same = edits.iter().find(|(_, typed, own)| typed.is_some() && typed.as_ref() == *own);
    same.map_or(Ok(()), |(flag, typed, _)| {
        let value = visible_line(typed.as_deref().unwrap_or_default(), 200);
        let message = format!("{flag} {value} changes nothing: the run has it already");
        Err(Failure::usage(message, format!("leave {flag} out, or name another one")))
    })
}

fn only(specs: &[VariantSpec]) -> Option<VariantSpec> {
    match specs {
        [one] => Some(one.clone()),
        _ => None,
    }
}

/// A live site changes, and copied steps could not be made again.
fn refuse_live(chosen: &Chosen, experiment: &Experiment, run: &RunRef) -> anyhow::Result<()> {
    let variant = chosen.manifest.variants.iter().find(|variant| variant.name == chosen.variant);
    let frozen = variant.is_some_and(|variant| WikiName::of(&variant.wiki).kind == WikiKind::Corpus);
    if frozen || experiment.recording.replay.is_some() || experiment.recording.cache.is_some() {
        return Ok(());
    }
    Err(Failure::usage(
        format!("`{}` was run on a live wiki, whose pages change", run.path.display()),
        "branch off a run on a frozen corpus (--wiki corpus:DIR), or one with --cache or --replay",
    ))
}

/// How a step is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Step(usize),
    LastSearch,
    Parting,
}

fn at(text: &str) -> Result<At, String> {
    match (text.parse(), text) {
        (Ok(step), _) if step > 0 => Ok(At::Step(step)),
        (_, "last-search") => Ok(At::LastSearch),
        (_, "parting") => Ok(At::Parting),
        _ => Err("a step from 1, `last-search` or `parting` is expected".to_owned()),
    }
}

impl At {
    /// The step, as its place among all, or why an episode has none.
    fn place(self, trajectory: &Trajectory, right: &Right) -> anyhow::Result<Result<usize, String>> {
        let place = match self {
            Self::Step(step) => Ok(step),
            Self::LastSearch => {
                let last = trajectory.steps.iter().rposition(|step| step.tool == Some(Tool::Search));
                last.map(|at| at + 1).ok_or_else(|| "no search".to_owned())
            }
            Self::Parting => match right.of(&trajectory.id)? {
                None => Err(format!("`{}` has no right episode of the question", right.name)),
                Some(other) => Divergence::of(trajectory, &other)
                    .map(|found| found.step)
                    .ok_or_else(|| format!("all steps are those of the right episode in `{}`", right.name)),
            },
        };
        let acts = |step: &usize| trajectory.steps.get(step.wrapping_sub(1)).is_some_and(|step| step.tool.is_some());
        Ok(place.and_then(|step| Some(step).filter(acts).ok_or_else(|| format!("no action at step {step}"))))
    }
}

/// The right episodes that `parting` compares with: of each question the first repeat that is right.
#[derive(Default)]
struct Right {
    run: Option<GradedRun>,
    /// Whose they are, as `RUN@VARIANT`.
    name: String,
    /// Where each question's is.
    places: BTreeMap<String, usize>,
}

impl Right {
    /// Of the variant that is named, else of the other one of two in the run.
    fn read(named: Option<&RunRef>, run: &RunRef, variant: &str) -> anyhow::Result<Self> {
        let path = named.map_or(&run.path, |named| &named.path);
        let source = GradedRun::open(path)?;
        let other = match named {
            Some(named) => only_variant(&source, named)?,
            None => other_variant(&source, variant)?,
        };
        let mut places = BTreeMap::new();
        for (place, graded) in source.episodes().enumerate() {
            let graded = graded?;
            if graded.trajectory.variant == other && graded.score.is_some_and(|score| score.em > 0.0) {
                places.entry(graded.trajectory.id).or_insert(place);
            }
        }
        let name = visible_line(&format!("{}@{other}", path.display()), 200);
        if places.is_empty() {
            let message = format!("`{name}` has no right episode");
            return Err(Failure::bad_input(
                message,
                "`--at parting` compares with right episodes: name others with --from",
            ));
        }
        Ok(Self { run: Some(source), name, places })
    }

    fn of(&self, id: &str) -> anyhow::Result<Option<Trajectory>> {
        let Some((run, place)) = self.run.as_ref().zip(self.places.get(id)) else { return Ok(None) };
        Ok(Some(run.episode(*place)?.trajectory))
    }
}

fn other_variant(source: &GradedRun, variant: &str) -> anyhow::Result<String> {
    let variants = source.manifest.iter().flat_map(|manifest| &manifest.variants);
    let others: Vec<&str> = variants.map(|own| own.name.as_str()).filter(|name| *name != variant).collect();
    if let [one] = others[..] {
        return Ok(one.to_owned());
    }
    let which = if others.is_empty() { "no other variant" } else { "several other variants" };
    let path = source.path.display();
    let message = format!("`--at parting` compares with right episodes of another variant, and `{path}` has {which}");
    Err(Failure::usage(message, "name them with --from RUN@VARIANT"))
}

/// Prints a line for each class, and one for all.
fn print_repair(args: &Args, run: &RunRef, classes: &BTreeMap<String, &'static str>) -> anyhow::Result<()> {
    let (arms, paths) = (arms_of(args)?, Paths::of(&args.out, run)?);
    let of_class = |class: Option<&str>| {
        let is_of = |id: &str| class.is_none_or(|class| classes.get(id).copied().unwrap_or("not scored") == class);
        (arms.of(is_of), paths.placebos(is_of))
    };
    let mut repair = Repair::new(paths.controls());
    for class in classes.values().collect::<BTreeSet<_>>() {
        let (arms, left) = of_class(Some(class));
        repair.add(class, &arms, left);
    }
    let (all, left) = of_class(None);
    repair.add_all(&all, left);
    let mut page = stdout();
    if args.json {
        let mut value = json!(repair);
        value["run"] = json!(args.out.display().to_string());
        json_line(&mut page, &value)?;
        return Ok(());
    }
    let folder = shell_word(&args.out.display().to_string());
    writeln!(page, "{repair}")?;
    let pair = if all.placebo.is_some() { PLACEBO } else { CONTROL };
    writeln!(
        page,
        "next:\n  wikitrail compare {folder} --contrast {pair} {EDITED} --flips\n  wikitrail show {folder}"
    )?;
    Ok(())
}

/// The EM of each arm, as `compare` reads it.
fn arms_of(args: &Args) -> anyhow::Result<Arms> {
    let run = RunRef { path: args.out.clone(), variant: None };
    let wanted = Wanted { figures: &[&figure::EM], cluster: Some(&Field::Cluster), ..Wanted::default() };
    let (sources, _) = results::load(&[run], &wanted)?;
    let arm = |name: &str| {
        let source = sources.iter().find(|source| source.run.variant.as_deref() == Some(name))?;
        Some(source.column(name, &[figure::EM.name.to_owned()], &[]))
    };
    let placebo = arm(PLACEBO).filter(|_| args.placebo > 0);
    let arm = |name: &str| {
        arm(name).unwrap_or_else(|| compare::Variant::new(name, vec![figure::EM.name.to_owned()], Vec::new()))
    };
    Ok(Arms { control: arm(CONTROL), edited: arm(EDITED), placebo, repeats: args.repeats })
}
