//! `show`: the episodes of a run, one of them, or two side by side.

use super::failure::{self, Failure};
use super::output_file::json_line;
use super::prompt::write_prompt;
use super::say::say;
use crate::analysis::judges::{Answer, Verdicts};
use crate::analysis::report::agreement::reading;
use crate::analysis::report::console::stdout;
use crate::analysis::report::trajectory::{Side, heading, render, render_pair};
use crate::analysis::report::{EpisodeRow, View, episodes, wrapped};
use crate::analysis::results::{Field, GradedRun, RunRef, check_one};
use crate::base::text::{shell_word, visible_line};
use crate::base::{Manifest, Outcome, RebuiltPrompt, Trajectory};
use crate::runner::RunError;
use crate::runner::store::{Records, RunFolder, StoreError};
use crate::runner::stored::Stored;
use crate::scoring::{Divergence, FailureClass, Repeats, ScoredEpisode, Share};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;

#[derive(Debug, clap::Args)]
#[command(override_usage = "wikitrail show [OPTIONS] <RUN> [ID]\n       wikitrail show [OPTIONS] <RUN:ID> <RUN:ID>")]
pub(super) struct Args {
    /// A run, or a file of `ask --save`: lists its episodes, or prints the episode ID of every variant and repeat. Two
    /// episodes, each as `RUN:ID`, are printed together. `RUN@VARIANT` names one variant.
    #[arg(value_names = ["RUN", "ID"], num_args = 1..=2, required = true)]
    targets: Vec<String>,
    #[command(flatten)]
    filter: Filter,
    /// Order of the list.
    #[arg(long, value_enum, default_value_t = Sort::Dataset)]
    sort: Sort,
    /// List at most this many episodes [default: all].
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print the exact prompts of the episode, made again from its record and held against the recorded digests.
    #[arg(long)]
    prompt: bool,
    /// With --prompt, only those of step K.
    #[arg(long, value_name = "K", requires = "prompt")]
    step: Option<usize>,
    /// Width of the output in columns [default: the terminal's].
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Print the stored records, or a list with verdicts, as one JSON object per line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Filter {
    /// Only this repeat, from 0 [default: all].
    #[arg(long, value_name = "N")]
    repeat: Option<u32>,
    /// Only this variant, by its name in the manifest [default: all].
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Only episodes with a right answer.
    #[arg(long, conflicts_with = "wrong")]
    right: bool,
    /// Only episodes with a wrong answer.
    #[arg(long)]
    wrong: bool,
    /// Only episodes of questions that some repeats of the variant answer rightly and some wrongly.
    #[arg(long)]
    unstable: bool,
    /// Only episodes with this text in question, gold answers or answer, in upper or lower case.
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
    /// Only episodes of this failure class.
    #[arg(long, value_name = "NAME", value_parser = class())]
    class: Option<FailureClass>,
    /// Only episodes with this outcome.
    #[arg(long, value_name = "NAME", value_parser = outcome())]
    outcome: Option<Outcome>,
}

pub(super) fn class() -> impl TypedValueParser<Value = FailureClass> {
    let names = PossibleValuesParser::new(FailureClass::ALL.map(FailureClass::name));
    names.try_map(|name| FailureClass::parse(&name).ok_or("unknown class"))
}

pub(super) fn outcome() -> impl TypedValueParser<Value = Outcome> {
    let names = PossibleValuesParser::new(Outcome::ALL.map(Outcome::name));
    names.try_map(|name| Outcome::parse(&name).ok_or("unknown outcome"))
}

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let mut view = View::of_stdout();
    view.width = args.width.unwrap_or(view.width);
    match &args.targets[..] {
        [target] => match (RunRef::parse(target), RunRef::with_id(target)) {
            (Some(_), _) if args.prompt => Err(Failure::usage("--prompt is about one episode", FORMS)),
            (Some(run), _) => list_episodes(args, &run, &view),
            (None, Some((run, id))) => show(args, &run, &id, &view),
            (None, None) => no_run(target),
        },
        [first, second] => match (RunRef::parse(first), RunRef::with_id(first)) {
            (Some(run), _) => show(args, &run, second, &view),
            (None, Some(first)) => {
                // The id may be omitted for the second run.
                let second = RunRef::parse(second).map(|run| (run, first.1.clone())).or(RunRef::with_id(second));
                pair(args, &first, &second.map_or_else(|| no_run(&args.targets[1]), Ok)?, &view)
            }
            (None, None) => no_run(first),
        },
        _ => Err(Failure::usage("show takes a run and an id, or two of RUN:ID", FORMS)),
    }
}

const FORMS: &str = "an episode is RUN:ID, or RUN@VARIANT:ID where a run has several variants; RUN is a folder written \
                     by `wikitrail run`";

/// Says what is wrong with what should name a run.
fn no_run<T>(target: &str) -> anyhow::Result<T> {
    let meant = RunRef::meant(target);
    check_one(&meant.path, "wikitrail show")?;
    match RunFolder::open(&meant.path) {
        Err(error) if target.contains(':') => return Err(Failure::bad_input(error, FORMS)),
        opened => drop(opened?),
    }
    let run = GradedRun::open(&meant.path)?;
    Err(match (&meant.variant, run.check_variant(&meant)) {
        // Variant names may contain a `:` too, so the intended name is unknown.
        (Some(variant), Err(_)) if variant.contains(':') => {
            let (path, variant) = (meant.path.display(), visible_line(variant, 80));
            let message = format!("`{path}` has no variant that matches `{variant}` up to a `:`");
            Failure::bad_input(message, format!("its variants are {}; {FORMS}", run.variants()))
        }
        (_, Err(error)) => error.into(),
        (_, Ok(())) => Failure::usage(format!("`{target}` is a run, not RUN:ID"), FORMS),
    })
}

fn noted(run: GradedRun) -> GradedRun {
    run.notes.iter().for_each(say);
    run
}

fn show(args: &Args, run: &RunRef, id: &str, view: &View) -> anyhow::Result<u8> {
    if args.prompt {
        return show_prompts(args, run, id, view);
    }
    let (source, found) = find(args, run, id)?;
    let mut out = stdout().styled();
    if args.json {
        for graded in &found {
            json_line(&mut out, &graded.trajectory)?;
        }
        return Ok(failure::OK);
    }
    let verdicts = verdicts_of(&run.path)?;
    let repeated = found.iter().any(|graded| graded.trajectory.repeat != found[0].trajectory.repeat);
    for (at, graded) in found.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        if found.len() > 1 {
            let repeat = if repeated { format!(" --repeat {}", graded.trajectory.repeat) } else { String::new() };
            out.write_all(heading(&format!("{}{repeat}", name(run, graded)), view).as_bytes())?;
        }
        out.write_all(render(&graded.trajectory, Some(graded), view).as_bytes())?;
        for line in verdict_lines(&verdicts, &graded.trajectory) {
            out.write_all(wrapped(&line, view.width, "").as_bytes())?;
        }
        for one in source.readings(graded) {
            out.write_all(wrapped(&reading(one), view.width, "").as_bytes())?;
        }
    }
    if let [_, _, ..] = &names(run, &found)[..] {
        say(format_args!("note: to print one variant only: {}", first_names(&names(run, &found))));
    }
    Ok(failure::OK)
}

fn pair(args: &Args, a: &(RunRef, String), b: &(RunRef, String), view: &View) -> anyhow::Result<u8> {
    if args.prompt {
        return Err(Failure::usage("--prompt is about one episode", "name one, as RUN ID or RUN:ID"));
    }
    let (first, second) = (one(args, a)?, one(args, b)?);
    if first.trajectory.question != second.trajectory.question {
        return Err(Failure::usage(
            format!("`{}` and `{}` are different questions", visible_line(&a.1, 80), visible_line(&b.1, 80)),
            "name two episodes of one question; `wikitrail show RUN ID` prints each by itself",
        ));
    }
    let mut out = stdout().styled();
    if args.json {
        let parted = Divergence::of(&first.trajectory, &second.trajectory);
        json_line(&mut out, &json!({"parted": parted, "a": first.trajectory, "b": second.trajectory}))?;
        return Ok(failure::OK);
    }
    let names = [a, b].map(|(run, id)| format!("{}:{id}", run.typed()));
    let sides = [Side { name: &names[0], episode: &first }, Side { name: &names[1], episode: &second }];
    out.write_all(render_pair(sides[0], sides[1], view).as_bytes())?;
    Ok(failure::OK)
}

/// The named episode: the first of several repeats; an error for several variants.
fn one(args: &Args, (run, id): &(RunRef, String)) -> anyhow::Result<ScoredEpisode> {
    let (_, mut found) = find(args, run, id)?;
    if found.iter().any(|graded| graded.trajectory.variant != found[0].trajectory.variant) {
        let hint = if run.path.is_file() {
            let episode = format!("{} {}", shell_word(&run.path.display().to_string()), shell_word(id));
            format!("a file's variants cannot be named; `wikitrail show {episode}` shows them all")
        } else {
            format!("name one: {}", first_names(&names(run, &found)))
        };
        let message = format!("`{}` has several variants of question `{}`", run.path.display(), visible_line(id, 80));
        return Err(Failure::usage(message, hint));
    }
    Ok(found.swap_remove(0))
}

/// The matching episodes of a question, at least one, and their run.
fn find(args: &Args, run: &RunRef, id: &str) -> anyhow::Result<(GradedRun, Vec<ScoredEpisode>)> {
    if args.filter.unstable {
        let run = shell_word(&run.typed());
        let message = "--unstable lists questions";
        return Err(Failure::usage(message, format!("use it without an id: wikitrail show {run} --unstable")));
    }
    let source = noted(GradedRun::open_with(&run.path, Some(id), |_| {})?);
    source.check_variant(run)?;
    let mut found = Vec::new();
    for graded in source.episodes() {
        let graded = graded?;
        if graded.trajectory.id == id && args.filter.wants(run, &graded) {
            found.push(graded);
        }
    }
    if found.is_empty() { Err(not_found(run, id, &some_ids(&run.path)?)) } else { Ok((source, found)) }
}

fn some_ids(path: &Path) -> anyhow::Result<Vec<String>> {
    let records = if path.is_file() { Records::of_file(path)? } else { RunFolder::open(path)?.records()? };
    records.iter().take(3).map(|trajectory| Ok(trajectory?.id)).collect()
}

/// The episode as typed. Variants of a file cannot be named.
fn name(run: &RunRef, graded: &ScoredEpisode) -> String {
    let variant = (!run.path.is_file()).then(|| graded.trajectory.variant.clone());
    format!("{}:{}", RunRef { path: run.path.clone(), variant }.typed(), graded.trajectory.id)
}

fn names(run: &RunRef, found: &[ScoredEpisode]) -> Vec<String> {
    let mut names: Vec<String> = found.iter().map(|graded| name(run, graded)).collect();
    names.dedup();
    names
}

fn first_names(names: &[String]) -> String {
    const MAX_LISTED: usize = 6;
    let some: Vec<String> = names.iter().take(MAX_LISTED).map(|name| visible_line(name, 200)).collect();
    let more = if names.len() > MAX_LISTED { format!(" and {} more", names.len() - MAX_LISTED) } else { String::new() };
    format!("{}{more}", some.join(", "))
}

impl Filter {
    fn wants(&self, run: &RunRef, episode: &ScoredEpisode) -> bool {
        let trajectory = &episode.trajectory;
        let is = |variant: &Option<String>| variant.as_ref().is_none_or(|variant| trajectory.variant == *variant);
        is(&self.variant)
            && is(&run.variant)
            && self.repeat.is_none_or(|repeat| trajectory.repeat == repeat)
            && self.outcome.is_none_or(|outcome| trajectory.outcome == outcome)
            && (!self.right || episode.is_right() == Some(true))
            && self.grep.as_ref().is_none_or(|text| mentions(trajectory, text))
            && (!self.wrong || episode.score.is_some_and(|score| score.em == 0.0))
            && self.class.is_none_or(|wanted| episode.class() == Some(wanted))
    }
}

/// Whether question, gold answers or answer have the text, in upper or lower case.
fn mentions(trajectory: &Trajectory, text: &str) -> bool {
    let text = text.to_lowercase();
    let texts = [&trajectory.question].into_iter().chain(&trajectory.answers).chain(&trajectory.answer);
    texts.into_iter().any(|known| known.to_lowercase().contains(&text))
}

fn not_found(run: &RunRef, id: &str, some: &[String]) -> anyhow::Error {
    let path = shell_word(&run.path.display().to_string());
    let hint = if some.is_empty() {
        "the run has no finished episode yet".to_owned()
    } else {
        let ids: Vec<String> = some.iter().map(|id| id.escape_debug().take(60).collect()).collect();
        format!("ids look like {}; flags exclude some; `wikitrail show {path}` lists all", ids.join(", "))
    };
    Failure::bad_input(format!("`{}` has no episode of question `{}`", run.typed(), id.escape_debug()), hint)
}

/// The order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    /// As the run has them: by variant, repeat and dataset.
    Dataset,
    /// Most steps first.
    Steps,
    /// Lowest F1 first.
    F1,
    /// Highest cost first, or most tokens where no price is known.
    Cost,
    /// By id.
    Id,
}

struct ListRow {
    row: EpisodeRow,
    /// As `show` takes it.
    typed: String,
    cost: f64,
    tokens: u64,
    /// What `--json` prints.
    item: Option<Value>,
}

fn list_episodes(args: &Args, run: &RunRef, view: &View) -> anyhow::Result<u8> {
    let mut fields = HashMap::new();
    let source = noted(GradedRun::open_with(&run.path, None, |question| {
        if args.json {
            fields.insert(question.id.clone(), Field::json(question));
        }
    })?);
    source.check_variant(run)?;
    let repeats = repeats_of(&source)?;
    let mut found: Vec<ListRow> = Vec::new();
    for graded in source.episodes() {
        let graded = graded?;
        let Trajectory { id, variant, .. } = &graded.trajectory;
        let right = repeats.get(variant).and_then(|repeats| repeats.right(id));
        if !args.filter.wants(run, &graded) || (args.filter.unstable && !right.is_some_and(Share::is_mixed)) {
            continue;
        }
        let item = args.json.then(|| {
            let mut item = item_json(&graded, fields.get(id));
            if let Some(right) = right {
                item["repeats_right"] = json!(right);
            }
            item
        });
        found.push(ListRow::of(run, graded, right, item));
    }
    found.sort_by(|a, b| args.sort.order(a, b));
    let matched = found.len();
    found.truncate(args.limit.unwrap_or(matched));
    let mut out = stdout().styled();
    for item in found.iter().filter_map(|listed| listed.item.as_ref()) {
        json_line(&mut out, item)?;
    }
    if !args.json && !found.is_empty() {
        let failed = found.iter().find(|listed| listed.row.score.is_some_and(|score| score.em == 0.0));
        let next = failed.unwrap_or(&found[0]).typed.clone();
        let rows: Vec<EpisodeRow> = found.into_iter().map(|listed| listed.row).collect();
        out.write_all(episodes::render(&rows, view).as_bytes())?;
        writeln!(out, "next:\n  wikitrail show {}", shell_word(&visible_line(&next, 500)))?;
    }
    match (matched, args.limit) {
        (0, _) => say(format_args!("note: no episode of `{}` matches", run.typed())),
        (_, Some(limit)) if matched > limit => say(format_args!("note: {limit} of {matched} episodes listed")),
        _ => {}
    }
    Ok(failure::OK)
}

/// The repeats of each variant's questions; none where no question was run twice under one variant.
fn repeats_of(source: &GradedRun) -> Result<HashMap<String, Repeats>, RunError> {
    let is_repeated = |manifest: &Manifest| manifest.variants.iter().any(|variant| manifest.repeats_of(variant) > 1);
    let mut repeats: HashMap<String, Repeats> = HashMap::new();
    if source.manifest.as_ref().is_none_or(is_repeated) {
        for graded in source.scores() {
            let graded = graded?;
            repeats.entry(graded.trajectory.variant.clone()).or_default().add(&graded);
        }
    }
    repeats.retain(|_, repeats| repeats.most() > 1);
    Ok(repeats)
}

impl ListRow {
    fn of(run: &RunRef, graded: ScoredEpisode, right: Option<Share>, item: Option<Value>) -> Self {
        let typed = name(run, &graded);
        let class = graded.class();
        let (trajectory, score) = (graded.trajectory, graded.score);
        let steps = trajectory.has_steps().then(|| trajectory.agent_steps().count());
        let (cost, tokens) = (trajectory.cost_usd.unwrap_or_default(), trajectory.usage.total());
        let Trajectory { id, variant, repeat, outcome, answer, answers, question, .. } = trajectory;
        let gold = answers.into_iter().next();
        let row = EpisodeRow { id, variant, repeat, outcome, score, right, class, steps, answer, gold, question };
        Self { row, typed, cost, tokens, item }
    }
}

impl Sort {
    /// Episodes that are equal in it stay in the run's order.
    fn order(self, a: &ListRow, b: &ListRow) -> Ordering {
        let f1 = |listed: &ListRow| listed.row.score.map_or(f64::INFINITY, |score| score.f1);
        match self {
            Self::Dataset => Ordering::Equal,
            Self::Steps => b.row.steps.cmp(&a.row.steps),
            Self::F1 => f1(a).total_cmp(&f1(b)),
            Self::Cost => b.cost.total_cmp(&a.cost).then(b.tokens.cmp(&a.tokens)),
            Self::Id => a.row.id.cmp(&b.row.id),
        }
    }
}

fn item_json(graded: &ScoredEpisode, fields: Option<&serde_json::Map<String, Value>>) -> Value {
    let ScoredEpisode { trajectory, score, assessment, metric, .. } = graded;
    let mut item = json!({
        "id": trajectory.id,
        "variant": trajectory.variant,
        "repeat": trajectory.repeat,
        "outcome": trajectory.outcome.name(),
        "metric": metric.name(),
        "right": graded.is_right(),
        "em": score.map(|score| score.em),
        "f1": score.map(|score| score.f1),
        "failure": graded.failure(),
        "grounding": assessment.as_ref().and_then(|assessment| assessment.grounding),
        "question": trajectory.question,
        "gold": trajectory.answers.first(),
        "answer": trajectory.answer,
    });
    if let (Value::Object(item), Some(fields)) = (&mut item, fields) {
        item.extend(fields.clone());
    }
    item
}

const MAX_REASON_CHARS: usize = 400;

/// The verdicts of a run; none of a file of trajectories.
fn verdicts_of(path: &Path) -> Result<Verdicts, StoreError> {
    if path.is_file() {
        return Ok(Verdicts::default());
    }
    let verdicts = Verdicts::read(&RunFolder::open(path)?)?;
    verdicts.notes().for_each(say);
    Ok(verdicts)
}

fn verdict_lines<'a>(verdicts: &'a Verdicts, trajectory: &'a Trajectory) -> impl Iterator<Item = String> + 'a {
    let Trajectory { id, question, answers: golds, answer, .. } = trajectory.clone();
    let text = answer.filter(|answer| Answer::is_there(answer));
    let asked = text.map(|text| Answer { id, question, golds, text, right: false, episode: None });
    let each = verdicts.judges.iter().zip(verdicts.names());
    each.filter_map(move |(known, name)| {
        let judgement = verdicts.of(&known.judge, asked.as_ref()?)?;
        let reason = judgement.reason.as_deref().map(|reason| format!(": {}", visible_line(reason, MAX_REASON_CHARS)));
        Some(format!("{} says {}{}", visible_line(&name, 80), judgement.verdict.name(), reason.unwrap_or_default()))
    })
}

fn show_prompts(args: &Args, run: &RunRef, id: &str, view: &View) -> anyhow::Result<u8> {
    if run.path.is_file() {
        let what = format!("`{}` is a file of trajectories, which does not have the prompts", run.path.display());
        return Err(Failure::usage(what, "name the folder of a run"));
    }
    let (_, found) = find(args, run, id)?;
    let folder = RunFolder::open(&run.path)?;
    let stored = Stored::of(&folder, &folder.manifest()?)?;
    let mut out = stdout().styled();
    let (mut any, mut code) = (false, failure::OK);
    for graded in &found {
        let trajectory = &graded.trajectory;
        let prompts = stored.prompts(trajectory)?;
        for prompt in prompts.iter().filter(|prompt| args.step.is_none_or(|step| prompt.step == step)) {
            any = true;
            if !prompt.same {
                code = failure::DIFFERENCE;
            }
            if args.json {
                let mut line = prompt.to_json();
                line["id"] = json!(trajectory.id);
                line["variant"] = json!(trajectory.variant);
                line["repeat"] = json!(trajectory.repeat);
                json_line(&mut out, &line)?;
                continue;
            }
            let repeat = if trajectory.repeat > 0 { format!(", repeat {}", trajectory.repeat) } else { String::new() };
            let title = visible_line(&format!("{}{repeat}: {}", name(run, graded), place(prompt)), 300);
            out.write_all(heading(&title, view).as_bytes())?;
            writeln!(out, "{}\n", checked(prompt))?;
            if let Some(request) = &prompt.request {
                write_prompt(&mut out, request)?;
                writeln!(out, "\n")?;
            }
        }
    }
    if any { Ok(code) } else { Err(no_step(args, id, &found)) }
}

/// `step 3, call 2`, with its sample.
fn place(prompt: &RebuiltPrompt) -> String {
    let sample = prompt.sample.map_or_else(String::new, |sample| format!(", sample {sample}"));
    format!("step {}{sample}, call {}", prompt.step, prompt.call)
}

fn checked(prompt: &RebuiltPrompt) -> String {
    let sha256 = visible_line(&prompt.prompt_sha256, 64);
    match &prompt.request {
        Some(request) if prompt.same => {
            let stop = json!(request.stop);
            format!("{} characters, SHA-256 {sha256} as recorded, stop {stop}", request.prompt.chars())
        }
        Some(_) => format!("this is not what was sent: its SHA-256 is another than the recorded {sha256}"),
        None => format!("cannot be made again: the record does not replay up to here (SHA-256 {sha256})"),
    }
}

fn no_step(args: &Args, id: &str, found: &[ScoredEpisode]) -> anyhow::Error {
    let steps = found.iter().flat_map(|graded| &graded.trajectory.steps).filter(|step| !step.calls.is_empty());
    let last = steps.map(|step| step.n).max();
    let asked = args.step.map_or_else(String::new, |step| format!(" at step {step}"));
    let hint = match last {
        None => "its record has no call; `show` without --prompt prints what it has".to_owned(),
        Some(last) => format!("its last step with a call is {last}"),
    };
    Failure::bad_input(format!("`{}` has no call of a model{asked}", visible_line(id, 80)), hint)
}
