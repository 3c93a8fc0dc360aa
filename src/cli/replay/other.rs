//! How another protocol parses the replies that the paper's loop could not use.
//!
//! There are two kinds: a first reply without exactly one action label, after which the loop made a second call, and an
//! action that the environment answered with `Invalid action: …`. For the first kind, the action of the second call is
//! what the model meant.

use super::super::failure::{self, Failure};
use crate::agent::notebook::Imported;
use crate::cli::output_file::json_line;
use crate::protocol::react_paper::Paper;
use crate::protocol::{Kind, Options, Parsed, Protocol};
use crate::report::console::stdout;
use crate::report::counted;
use crate::run::find_protocol;
use crate::types::{Repair, Step, Trajectory};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

/// The environment's answer to an unknown action.
const INVALID_ACTION: &str = "Invalid action:";

/// Why the paper's loop could not use a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
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
    trouble: Trouble,
    reply: String,
    parsed: Parsed,
    /// Tool and argument of the second call.
    meant: Option<(String, String)>,
    verdict: Verdict,
}

impl Trouble {
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
pub(super) fn execute_other(id: &str, options: &[String], episodes: &[Imported], json: bool) -> anyhow::Result<u8> {
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
            let meant = if trouble == Trouble::BadCall { recorded(step, action) } else { None };
            let verdict = verdict(&parsed, meant.as_ref());
            found.push(Row { id: episode.id.clone(), step: step.n, trouble, reply, parsed, meant, verdict });
        };
        if bad_call {
            add(Trouble::BadCall, first.completion.clone());
        }
        if step.observation.as_deref().is_some_and(|text| text.starts_with(INVALID_ACTION)) {
            // The second reply follows a label that the loop wrote.
            let reply = if bad_call { labelled(step, action) } else { first.completion.clone() };
            add(Trouble::InvalidAction, reply);
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
    for trouble in [Trouble::BadCall, Trouble::InvalidAction] {
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
            let _ = writeln!(text, "{}", crate::types::text::visible_line(&line, 400));
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
