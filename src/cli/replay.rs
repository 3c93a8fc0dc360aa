//! `replay`: re-executes recorded episodes and lists every difference.

use super::failure::{self, Failure};
use super::output_file::json_line;
use super::say::say;
use crate::analysis::report::console::stdout;
use crate::analysis::report::{counted, thousands};
use crate::analysis::results::check_one;
use crate::base::bounded::text_at_most;
use crate::base::{Decoding, Prefix, Question, Repair, Step, Trajectory, Variant, sha256_hex};
use crate::prompting::protocol::numbered::{question_line, step_text};
use crate::prompting::protocol::react_paper::{self, Paper};
use crate::prompting::protocol::{self, Frame, Kind, Options, Parsed, Protocol, Setup, robust};
use crate::prompting::{self, ProtocolTexts, RenderSettings};
use crate::runner::agent::notebook::{self, Claims, Imported};
use crate::runner::agent::replay::{Difference, Replayed, replay};
use crate::runner::agent::{Acting, Approach};
use crate::runner::experiment::shipped;
use crate::runner::store::RunFolder;
use crate::runner::stored::{Stored, asked};
use crate::runner::{find_protocol, left_out};
use crate::scoring::{AnswerScore, Metric, score_answers};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest file of recorded episodes, in bytes.
const MOST_IMPORTED: u64 = 256 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A run folder or its trajectories.jsonl; with --import, a file that another program recorded.
    file: PathBuf,
    /// Replay episodes that another program recorded.
    #[arg(long, value_enum, requires = "purpose")]
    import: Option<Import>,
    /// Prompt of the recorded run (with --import).
    #[arg(long, value_name = "FILE[#KEY]", requires = "import", group = "purpose")]
    prompt: Option<String>,
    /// Instead of replaying, show how this protocol parses the replies that the paper's loop could not use (with
    /// --import).
    #[arg(long = "as", value_name = "PROTOCOL", requires = "import", group = "purpose", value_parser = protocol::IDS)]
    other: Option<String>,
    /// Option of the protocol of --as; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", requires = "other")]
    option: Vec<String>,
    /// File with the instruction before the exemplars of a JSON prompt (with --import).
    #[arg(long, value_name = "FILE", requires = "import")]
    instruction: Option<String>,
    /// Label before the question (with --import) [default: `Claim` for claims, else `Question`].
    #[arg(long, value_name = "LABEL", requires = "import")]
    question_label: Option<String>,
    /// Print one JSON object per episode; with --as, per reply.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Import {
    /// Episodes of the paper's notebooks, one JSON object per line.
    ReactNotebook,
}

struct Outcome {
    id: String,
    replayed: Replayed,
    score: Option<AnswerScore>,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    if let Some(id) = &args.other {
        return execute_other(id, &args.option, &imported(&args.file)?, args.json);
    }
    let outcomes = match args.import {
        Some(Import::ReactNotebook) => notebook_file(args)?,
        None => own_run(&args.file)?,
    };
    if outcomes.is_empty() {
        return Err(Failure::bad_input(
            format!("`{}` has no episode", args.file.display()),
            "name a run folder, or a recorded file with --import",
        ));
    }
    print(&outcomes, args.json)?;
    let differing = outcomes.iter().filter(|outcome| !outcome.replayed.differences.is_empty()).count();
    Ok(if differing == 0 { failure::OK } else { failure::DIFFERENCE })
}

/// Replays a run with its stored prompts.
fn own_run(path: &Path) -> anyhow::Result<Vec<Outcome>> {
    let folder = match path.file_name() {
        Some(name) if path.is_file() && name.to_string_lossy().ends_with(".jsonl") => path.parent().unwrap_or(path),
        _ => path,
    };
    check_one(folder, "wikitrail replay")?;
    let folder = RunFolder::open(folder)?;
    let (manifest, records) = (folder.manifest()?, folder.records()?);
    left_out(&records).for_each(say);
    let stored = Stored::of(&folder, &manifest)?;
    let mut outcomes = Vec::new();
    let mut differing = BTreeSet::new();
    for trajectory in records.iter() {
        let trajectory = trajectory?;
        let metric = Metric::for_answers(&manifest.dataset.name, &trajectory.answers);
        let outcome = outcome(&trajectory, &stored.question(&trajectory), &stored.approach(&trajectory)?, metric);
        if !outcome.replayed.differences.is_empty() {
            differing.insert(trajectory.variant);
        }
        outcomes.push(outcome);
    }
    let earlier = manifest.known_variants().filter(|variant| differing.contains(&variant.name));
    earlier.filter_map(of_earlier_version).for_each(say);
    Ok(outcomes)
}

/// Why a variant may differ: an earlier version of `robust` read replies in another way. Other protocols are replayed in
/// the version that was recorded.
fn of_earlier_version(variant: &Variant) -> Option<String> {
    let Variant { name, protocol, protocol_version: recorded, .. } = variant;
    let today = protocol::find(protocol, &Options(variant.options.clone()))?.ok()?.version();
    (protocol == robust::ID && *recorded < today).then(|| {
        format!(
            "note: `{name}` was recorded with version {recorded} of `{protocol}`, and its replies are read by version \
             {today}: the differences may be between the versions\nhint: `wikitrail docs robust` lists what each version changed"
        )
    })
}

fn outcome(trajectory: &Trajectory, question: &Question, approach: &Approach, metric: Metric) -> Outcome {
    let replayed = replay(trajectory, question, approach);
    let score = score_answers(metric, replayed.answer.as_deref(), &trajectory.answers);
    Outcome { id: trajectory.id.clone(), replayed, score }
}

/// Replays episodes of the paper's notebooks and compares the recorded figures.
fn notebook_file(args: &Args) -> anyhow::Result<Vec<Outcome>> {
    let spec = args.prompt.as_deref().unwrap_or_default();
    let instruction = args.instruction.as_deref();
    let source = prompting::load(spec, instruction, &shipped::file)?;
    let prefix = prompting::render(&source, &ProtocolTexts::default(), &RenderSettings::default())?.frame.prefix;
    let outcome = |imported: &Imported| {
        let label = args.question_label.as_deref().unwrap_or(if imported.claims.claim { "Claim" } else { "Question" });
        imported_outcome(imported, &prefix, label)
    };
    Ok(imported(&args.file)?.iter().map(outcome).collect())
}

fn imported(path: &Path) -> anyhow::Result<Vec<Imported>> {
    let shown = path.display();
    let text = File::open(path)
        .and_then(|file| text_at_most(file, MOST_IMPORTED))
        .map_err(|error| Failure::bad_input(format!("cannot read `{shown}`: {error}"), "check the path"))?;
    let mut episodes = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let bad = |error: &dyn std::fmt::Display| {
            let message = format!("`{shown}`, line {}: not a recorded episode: {error}", number + 1);
            Failure::bad_input(message, "--import react-notebook takes one recorded episode per line")
        };
        if line.trim().is_empty() {
            continue;
        }
        episodes.push(notebook::import(line).map_err(|error| bad(&error))?);
    }
    Ok(episodes)
}

fn imported_outcome(imported: &Imported, prefix: &Prefix, label: &str) -> Outcome {
    let setup = Arc::new(Setup {
        frame: Frame::text(prefix.clone()),
        question_label: label.to_owned(),
        max_steps: react_paper::MAX_STEPS,
        thoughts: true,
        decoding: Decoding::default(),
        history: Vec::new(),
    });
    let metric = if imported.claims.claim { Metric::Paper } else { Metric::Hotpot };
    let approach = Approach::Act(Acting { protocol: Arc::new(react_paper::Paper), setup });
    let mut outcome = outcome(&imported.trajectory, &asked(&imported.trajectory), &approach, metric);
    let found = claim_differences(&imported.claims, &outcome, &imported.trajectory, prefix, label);
    outcome.replayed.differences.extend(found);
    outcome
}

/// Differences between recorded figures and those of the replay.
fn claim_differences(
    claims: &Claims,
    outcome: &Outcome,
    trajectory: &Trajectory,
    prefix: &str,
    label: &str,
) -> Vec<Difference> {
    let mut found = Vec::new();
    let replayed = &outcome.replayed;
    let mut compare = |field: &'static str, expected: String, got: String| {
        if expected != got {
            found.push(Difference { step: replayed.steps.max(1), field, expected, got });
        }
    };
    compare("n_calls", claims.n_calls.to_string(), replayed.calls.to_string());
    compare("n_badcalls", claims.n_badcalls.to_string(), replayed.bad_calls.to_string());
    compare("steps", claims.steps.to_string(), replayed.steps.to_string());
    compare("answer", claims.answer.clone(), replayed.answer.clone().unwrap_or_default());
    let score = outcome.score.unwrap_or(AnswerScore::ZERO);
    compare("em", claims.em.to_string(), score.em.to_string());
    if let Some(f1) = claims.f1 {
        compare("f1", f1.to_string(), score.f1.to_string());
    }
    if let Some(expected) = &claims.final_prompt_sha256 {
        compare("final_prompt_sha256", expected.clone(), final_prompt(trajectory, prefix, label));
    }
    found
}

/// SHA-256 of the prompt after the model's last step.
fn final_prompt(trajectory: &Trajectory, prefix: &str, label: &str) -> String {
    let mut text = format!("{prefix}{}", question_line(label, &trajectory.question));
    for step in &trajectory.steps {
        if let (Some(thought), Some(action), Some(observation)) = (&step.thought, &step.action_text, &step.observation)
        {
            text.push_str(&step_text(step.n, thought, action, &react_paper::as_observed(observation)));
        }
    }
    sha256_hex([text.as_bytes()])
}

fn print(outcomes: &[Outcome], json: bool) -> anyhow::Result<()> {
    let mut out = stdout();
    for outcome in outcomes {
        if json {
            json_line(&mut out, &to_json(outcome))?;
            continue;
        }
        for Difference { step, field, expected, got } in &outcome.replayed.differences {
            let line = format!("{}, step {step}, {field}: recorded {expected}, computed {got}", outcome.id);
            writeln!(out, "{}", crate::base::text::visible_line(&line, 400))?;
        }
    }
    if !json {
        let same = outcomes.iter().filter(|outcome| outcome.replayed.differences.is_empty()).count();
        writeln!(out, "{} of {} without a difference", thousands(same), counted(outcomes.len(), "episode"))?;
    }
    Ok(())
}

fn to_json(outcome: &Outcome) -> serde_json::Value {
    let Outcome { id, replayed, score } = outcome;
    let differences: Vec<_> = replayed
        .differences
        .iter()
        .map(|d| json!({ "step": d.step, "field": d.field, "expected": d.expected, "got": d.got }))
        .collect();
    json!({
        // A recorded order is a number, and is printed as one.
        "id": id.parse::<u64>().map_or_else(|_| json!(id), |order| json!(order)),
        "prompt_sha256": replayed.prompt_sha256,
        "n_calls": replayed.calls,
        "n_badcalls": replayed.bad_calls,
        "steps": replayed.steps,
        "answer": replayed.answer.as_deref().unwrap_or_default(),
        "em": score.map(|score| score.em),
        "f1": score.map(|score| score.f1),
        "differences": differences,
    })
}

/// The environment's answer to an unknown action.
const INVALID_ACTION: &str = "Invalid action:";

/// Why the paper's loop could not use a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParseFailure {
    /// Not exactly one label of an action.
    BadCall,
    /// An action that the environment does not know.
    InvalidAction,
}

/// What the other protocol executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Executes what the model meant.
    AsMeant,
    /// Executes something else.
    Otherwise,
    /// Executes something that cannot be compared.
    Executed,
    /// Executes nothing.
    Refused,
}

/// A reply that the paper's loop could not use, parsed by the other protocol.
struct Row {
    id: String,
    step: usize,
    trouble: ParseFailure,
    reply: String,
    parsed: Parsed,
    /// Tool and argument of the second call.
    meant: Option<(String, String)>,
    verdict: Verdict,
}

impl ParseFailure {
    fn name(self) -> &'static str {
        match self {
            Self::BadCall => "bad_call",
            Self::InvalidAction => "invalid_action",
        }
    }
}

impl Verdict {
    const ALL: [Self; 4] = [Self::AsMeant, Self::Otherwise, Self::Executed, Self::Refused];

    fn name(self) -> &'static str {
        match self {
            Self::AsMeant => "as_meant",
            Self::Otherwise => "otherwise",
            Self::Executed => "executed",
            Self::Refused => "refused",
        }
    }
}

/// Prints a table, or one JSON object per reply.
fn execute_other(id: &str, options: &[String], episodes: &[Imported], json: bool) -> anyhow::Result<u8> {
    let protocol = find_other(id, options)?;
    let rows: Vec<Row> = episodes.iter().flat_map(|episode| rows(protocol.as_ref(), &episode.trajectory)).collect();
    let mut out = stdout();
    if json {
        for row in &rows {
            json_line(&mut out, &row_json(row))?;
        }
    } else {
        write!(out, "{}", table(id, episodes.len(), &rows))?;
    }
    Ok(failure::OK)
}

fn find_other(id: &str, options: &[String]) -> anyhow::Result<Arc<dyn Protocol>> {
    let mut pairs = BTreeMap::new();
    for option in options {
        let Some((name, value)) = option.split_once('=') else {
            return Err(Failure::usage(format!("`--option {option}` has no value"), "write --option KEY=VALUE"));
        };
        pairs.insert(name.to_owned(), value.to_owned());
    }
    Ok(find_protocol(id, &Options(pairs), None)?)
}

/// The replies of one episode, in order. A step can have one of each kind.
fn rows(protocol: &dyn Protocol, episode: &Trajectory) -> Vec<Row> {
    let mut found = Vec::new();
    for step in &episode.steps {
        let (Some(first), Some(action)) = (step.calls.first(), &step.action_text) else { continue };
        let repaired = |repair: &Repair| repair.step == step.n && repair.kind == Repair::MISSING_ACTION;
        let bad_call = episode.repairs.iter().any(repaired);
        let mut add = |trouble, reply: String| {
            let parsed = protocol.parse(&reply, step.n);
            let meant = if trouble == ParseFailure::BadCall { recorded(step, action) } else { None };
            let verdict = verdict(&parsed, meant.as_ref());
            found.push(Row { id: episode.id.clone(), step: step.n, trouble, reply, parsed, meant, verdict });
        };
        if bad_call {
            add(ParseFailure::BadCall, first.completion.clone());
        }
        if step.observation.as_deref().is_some_and(|text| text.starts_with(INVALID_ACTION)) {
            // The second reply follows a label that the loop wrote.
            let reply = if bad_call { labelled(step, action) } else { first.completion.clone() };
            add(ParseFailure::InvalidAction, reply);
        }
    }
    found
}

fn labelled(step: &Step, action: &str) -> String {
    let thought = step.thought.as_deref().unwrap_or_default();
    format!("{thought}\nAction {}: {action}", step.n)
}

/// The action of a step as the paper's environment reads it.
fn recorded(step: &Step, action: &str) -> Option<(String, String)> {
    let text = format!("t\nAction {}: {action}", step.n);
    executed(&Paper.parse(&text, step.n))
}

/// Tool and argument that a parsed reply has executed.
fn executed(parsed: &Parsed) -> Option<(String, String)> {
    match parsed.kind {
        Kind::Act => Some((parsed.tool.clone()?, parsed.input.clone().unwrap_or_default())),
        Kind::Finish => Some(("Finish".to_owned(), parsed.answer.clone().unwrap_or_default())),
        Kind::Invalid => None,
    }
}

fn verdict(parsed: &Parsed, meant: Option<&(String, String)>) -> Verdict {
    let folded = |(tool, input): &(String, String)| (tool.to_lowercase(), input.trim().to_lowercase());
    match (executed(parsed), meant) {
        (None, _) => Verdict::Refused,
        (Some(_), None) => Verdict::Executed,
        (Some(done), Some(meant)) if folded(&done) == folded(meant) => Verdict::AsMeant,
        (Some(_), Some(_)) => Verdict::Otherwise,
    }
}

fn table(id: &str, episodes: usize, rows: &[Row]) -> String {
    let mut text = format!(
        "replies that the paper's loop could not use, as parsed by `{id}` ({})\n\n",
        counted(episodes, "episode")
    );
    let cells = |text: &mut String, name: &str, cells: [String; 5]| {
        let _ = write!(text, "{name:<16}");
        for cell in cells {
            let _ = write!(text, "{cell:>11}");
        }
        text.push('\n');
    };
    cells(&mut text, "", ["replies", "as meant", "otherwise", "executed", "refused"].map(str::to_owned));
    for trouble in [ParseFailure::BadCall, ParseFailure::InvalidAction] {
        let of = |verdict: Option<Verdict>| {
            let counted = |row: &&Row| row.trouble == trouble && verdict.is_none_or(|verdict| row.verdict == verdict);
            rows.iter().filter(counted).count().to_string()
        };
        let [as_meant, otherwise, executed, refused] = Verdict::ALL.map(|verdict| of(Some(verdict)));
        cells(&mut text, trouble.name(), [of(None), as_meant, otherwise, executed, refused]);
    }
    text.push_str("\nas meant, otherwise: compared with the recorded second call; executed: not comparable\n");
    for row in rows.iter().filter(|row| row.verdict != Verdict::Refused) {
        if let Some((tool, input)) = executed(&row.parsed) {
            let line = format!(
                "{}, step {}, {}: {tool}[{input}], {}",
                row.id,
                row.step,
                row.trouble.name(),
                row.verdict.name()
            );
            let _ = writeln!(text, "{}", crate::base::text::visible_line(&line, 400));
        }
    }
    text
}

fn row_json(row: &Row) -> serde_json::Value {
    json!({
        // A recorded order is a number, and is printed as one.
        "id": row.id.parse::<u64>().map_or_else(|_| json!(row.id), |order| json!(order)),
        "step": row.step,
        "kind": row.trouble.name(),
        "reply": row.reply,
        "parsed": row.parsed,
        "meant": row.meant.as_ref().map(|(tool, input)| json!({ "tool": tool, "input": input })),
        "verdict": row.verdict.name(),
    })
}
