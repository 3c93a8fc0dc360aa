//! `replay`: re-executes recorded episodes and lists every difference.

use super::failure::{self, Failure};
use super::output_file::json_line;
use super::say::say;
use crate::analysis::replay::{
    Outcome, ParseFailure, Row, Verdict, executed, find_other, imported, imported_outcome, of_earlier_version, outcome,
    rows,
};
use crate::analysis::report::console::stdout;
use crate::analysis::report::{counted, thousands};
use crate::analysis::results::check_one;
use crate::prompting::protocol;
use crate::prompting::{self, ProtocolTexts, RenderSettings};
use crate::runner::agent::replay::Difference;
use crate::runner::experiment::shipped;
use crate::runner::import::notebook::Imported;
use crate::runner::left_out;
use crate::runner::store::RunFolder;
use crate::runner::stored::Stored;
use crate::scoring::Metric;
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

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

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    if let Some(id) = &args.other {
        return execute_other(id, &args.option, &imported(&args.file)?, args.json);
    }
    let outcomes = match args.import {
        Some(Import::ReactNotebook) => notebook_file(args)?,
        None => own_run(&args.file)?,
    };
    if outcomes.is_empty() {
        let message = format!("`{}` has no episode", args.file.display());
        return Err(Failure::bad_input(message, "name a run folder, or a recorded file with --import"));
    }
    print(&outcomes, args.json)?;
    let differing = outcomes.iter().filter(|outcome| !outcome.replayed.differences.is_empty()).count();
    Ok(if differing == 0 { failure::OK } else { failure::DIFFERENCE })
}

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

fn notebook_file(args: &Args) -> anyhow::Result<Vec<Outcome>> {
    let spec = args.prompt.as_deref().unwrap_or_default();
    let instruction = args.instruction.as_deref();
    let source = prompting::load(spec, instruction, &shipped::file)?;
    let prefix = prompting::render(&source, &ProtocolTexts::default(), &RenderSettings::default())?.frame.prefix;
    let outcome = |imported: &Imported| {
        let label = args.question_label.as_deref().unwrap_or(if imported.claims.claim.is_some() {
            "Claim"
        } else {
            "Question"
        });
        imported_outcome(imported, &prefix, label)
    };
    Ok(imported(&args.file)?.iter().map(outcome).collect())
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
    json!({
        "id": id_json(id),
        "prompt_sha256": replayed.prompt_sha256,
        "n_calls": replayed.calls,
        "n_badcalls": replayed.bad_calls,
        "steps": replayed.steps,
        "answer": replayed.answer.as_deref().unwrap_or_default(),
        "em": score.map(|score| score.em),
        "f1": score.map(|score| score.f1),
        "differences": replayed.differences,
    })
}

/// A recorded order is a number, and is printed as one.
fn id_json(id: &str) -> serde_json::Value {
    id.parse::<u64>().map_or_else(|_| json!(id), |order| json!(order))
}

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

fn table(id: &str, episodes: usize, rows: &[Row]) -> String {
    let episodes = counted(episodes, "episode");
    let mut text = format!("replies that the paper's loop could not use, as parsed by `{id}` ({episodes})\n\n");
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
            let Row { id, step, trouble, verdict, .. } = row;
            let line = format!("{id}, step {step}, {}: {tool}[{input}], {}", trouble.name(), verdict.name());
            let _ = writeln!(text, "{}", crate::base::text::visible_line(&line, 400));
        }
    }
    text
}

fn row_json(row: &Row) -> serde_json::Value {
    json!({
        "id": id_json(&row.id),
        "step": row.step,
        "kind": row.trouble.name(),
        "reply": row.reply,
        "parsed": row.parsed,
        "meant": row.meant.as_ref().map(|(tool, input)| json!({ "tool": tool, "input": input })),
        "verdict": row.verdict.name(),
    })
}
