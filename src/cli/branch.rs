//! `branch`: recorded episodes with one step edited, beside a control without the edit from the same step, and placebos where
//! the control only replays the record.

use super::config;
use super::failure::{self, Failure};
use super::flags::{started, trusted_inputs};
use super::output_file::json_line;
use super::run::{self, Presentation, carry_out};
use super::say::{say, say_wrapped};
use crate::analysis::branch_request::{BranchRequest, BranchStep, ChosenForks, unlike};
use crate::analysis::repair::{Classes, Controls, Paths, Repair};
use crate::analysis::report::console::stdout;
use crate::analysis::results::{GradedRun, RunRef};
use crate::analysis::scores::unmeasured;
use crate::base::Tool;
use crate::base::text::{counted, shell_word, visible_line};
use crate::prompting::parse_action;
use crate::prompting::protocol;
use crate::runner::branch::{CONTROL, EDITED, MAX_PLACEBOS, PLACEBO, refuse_other_edit};
use crate::runner::experiment::{Experiment, ExperimentFile, Output};
use crate::runner::store::RunFolder;
use crate::runner::{Argument, Confirmation, ExplicitArgs, Summary, without_secrets};
use crate::scoring::FailureClass;
use serde_json::json;
use std::ffi::OsString;
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
    at: BranchStep,
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
    /// Ask this server instead of the run's; needed where its address has a query, which no run records.
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    base_url: Vec<String>,
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

impl Args {
    /// What replaces words of the run's command.
    fn typed(&self) -> ExplicitArgs {
        let values: Vec<OsString> = self.base_url.iter().map(OsString::from).collect();
        let flag = Some("--base-url".to_owned());
        let base_url = (!values.is_empty()).then(|| Argument { name: "base_url".to_owned(), flag, values });
        ExplicitArgs { typed: base_url.into_iter().collect(), completed: false }
    }

    fn branching(&self) -> BranchRequest {
        BranchRequest {
            at: self.at,
            from: self.from.clone(),
            thought: self.thought.clone(),
            drop_thought: self.drop_thought,
            action: self.action.clone(),
            observation_file: self.observation_file.clone(),
            model: self.model.clone(),
            prompt: self.prompt.clone(),
            protocol: self.protocol.clone(),
            rule: self.with.clone(),
            wrong: self.wrong,
            class: self.class,
            repeats: self.repeats,
            placebos: self.placebo,
        }
    }
}

fn other_run(text: &str) -> Result<RunRef, String> {
    RunRef::parse(text).ok_or_else(|| "no such run; RUN or RUN@VARIANT is expected".to_owned())
}

fn action(text: &str) -> Result<(Tool, String), String> {
    match parse_action(text) {
        (Tool::Invalid | Tool::Other | Tool::Think, _) => {
            Err("an action is Search[TEXT], Lookup[TEXT], Passages[TEXT], Document[ID] or Finish[TEXT]".to_owned())
        }
        action => Ok(action),
    }
}

pub(super) async fn execute(args: &Args) -> anyhow::Result<u8> {
    let (run, id) = match (RunRef::parse(&args.target), RunRef::with_id(&args.target)) {
        (Some(run), _) => (run, None),
        (None, Some((run, id))) => (run, Some(id)),
        (None, None) => {
            let message = format!("`{}` is neither an episode nor a run", visible_line(&args.target, 200));
            let hint = "name RUN:ID, RUN@VARIANT:ID or RUN; RUN is a folder that `run` wrote";
            return Err(Failure::bad_input(message, hint));
        }
    };
    let branching = args.branching();
    let chosen = branching.choose(&run, id.as_deref(), &|text| say(text))?;
    if args.out.exists() && !args.resume {
        let message = format!("`{}` exists", args.out.display());
        let hint = "a branch is a run of its own: name a new folder with --out, or add --resume to go on with this one";
        return Err(Failure::usage(message, hint));
    }
    branching.refuse_own(&chosen)?;
    let experiment = experiment(args, &branching, &run, &chosen)?;
    let whole = chosen.with_placebos(&experiment);
    if args.resume {
        refuse_other_edit(&args.out, whole.as_ref().map_or(&chosen.forks, |whole| &whole.forks))?;
    }
    chosen.placebo_note.iter().for_each(|note| say(format_args!("note: {note}")));
    let shown = Presentation { json: args.json && args.dry_run, quiet: args.quiet, figures: false, report: None };
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
    shown: Presentation<'_>,
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
    let paths = Paths::of(&GradedRun::open(&args.out)?, &GradedRun::open(&run.path)?)?;
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

fn experiment(
    args: &Args,
    branching: &BranchRequest,
    run: &RunRef,
    chosen: &ChosenForks,
) -> anyhow::Result<Experiment> {
    let typed = args.typed();
    let started = started::<run::Args>(&run.path, &typed)?;
    let Some(mut started) = started else { return Err(unlike(run, "it holds no run").into()) };
    let person = config::person()?;
    let (explicit, named) = (started.explicit.clone(), started.dataset.clone());
    let confirmation = Confirmation {
        untrusted: Some(&run.path),
        typed: &typed,
        stored: Some((&run.path, &explicit)),
        file: Some(named.as_path()).filter(|path| ExperimentFile::is_one(path)),
        person: &person,
        trusted: trusted_inputs(&person, Some(&run.path)),
        confirmed: args.confirm,
        tell: &|text| say(text),
    };
    confirmation.ask_of_experiment("dataset", &named)?;
    let defaults = config::complete(&mut started, &person, Some(&run.path), false, args.confirm)?;
    let experiment = started.experiment(&|experiment| confirmation.ask_of_files(experiment))?;
    let (folder, command_line) = (Some(args.out.clone()), without_secrets(std::env::args_os()));
    let Args { resume, dry_run, .. } = *args;
    let output = Output { folder, resume, command_line, defaults, dry_run, ..Output::default() };
    let mut experiment = branching.experiment(experiment, run, chosen, output)?;
    confirmation.ask_of_places(&mut experiment)?;
    Ok(experiment)
}

fn print_repair(args: &Args, run: &RunRef, classes: &Classes) -> anyhow::Result<()> {
    let (branched, source) = (GradedRun::open(&args.out)?, GradedRun::open(&run.path)?);
    let repair = Repair::of(&branched, &source, classes, (args.repeats, args.placebo > 0))?;
    let summary = Summary::of(&args.out, None)?;
    unmeasured(&summary).iter().for_each(say_wrapped);
    let mut page = stdout();
    if args.json {
        let mut value = json!(repair);
        value["run"] = json!(args.out.display().to_string());
        return Ok(json_line(&mut page, &value)?);
    }
    let folder = shell_word(&args.out.display().to_string());
    writeln!(page, "{repair}")?;
    let pair = if repair.placebos.is_some() { PLACEBO } else { CONTROL };
    writeln!(page, "next:")?;
    if summary.is_unfinished()
        && let Some(command) = summary.command_to_go_on(summary.cut_short() > 0)
    {
        writeln!(page, "  {command}")?;
    }
    writeln!(page, "  wikitrail compare {folder} --contrast {pair} {EDITED} --flips")?;
    Ok(writeln!(page, "  wikitrail show {folder}")?)
}

fn at(text: &str) -> Result<BranchStep, String> {
    match (text.parse(), text) {
        (Ok(step), _) if step > 0 => Ok(BranchStep::Step(step)),
        (_, "last-search") => Ok(BranchStep::LastSearch),
        (_, "parting") => Ok(BranchStep::Parting),
        _ => Err("a step from 1, `last-search` or `parting` is expected".to_owned()),
    }
}
