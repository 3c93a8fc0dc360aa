//! `list`: the runs in a folder with their scores, and which of them are tied; `note`: what people note about a run.

use super::config;
use super::failure::{self, Failure};
use super::output_file::json_line;
use super::say::say;
use crate::analysis::report::View;
use crate::analysis::report::console::stdout;
use crate::analysis::report::leaderboard::{Entry, entries, sheet};
use crate::analysis::report::sheet::to_terminal;
use crate::analysis::results::{Results, RunRef, Source, runs};
use crate::base::Notes;
use crate::base::text::{excerpt, shell_word, visible_line};
use crate::runner::store::RunFolder;
use std::cmp::Reverse;
use std::io::Write as _;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Folders that contain runs, runs, or variants of runs (`RUN@VARIANT`) [default: results] [env: `WIKITRAIL_RESULTS`].
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Order of the list; EM, rank and cost have the best first, dates the latest.
    #[arg(long, value_enum, default_value_t = Order::Em)]
    sort: Order,
    /// Only runs with this tag; may be repeated, and all are needed.
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Only variants with this text in their name, model, dataset, method, protocol, prompt, tags or note.
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
    /// Print one JSON object per variant and line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Order {
    /// Exact match.
    Em,
    /// The run's path and the variant's name.
    Name,
    /// When the run began.
    Date,
    /// What the variant cost.
    Cost,
}

#[derive(Debug, clap::Args)]
pub(super) struct NoteArgs {
    /// The run folder.
    run: PathBuf,
    /// The note; replaces an older one, and an empty one removes it.
    text: Option<String>,
    /// Add a tag; may be repeated.
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Remove a tag; may be repeated.
    #[arg(long, value_name = "TAG")]
    untag: Vec<String>,
    /// Print the notes as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let runs = runs_with_tags(&runs(&config::folders(&args.runs)?)?, &args.tag);
    let results = Results::of(&runs, false)?;
    results.notes.iter().for_each(say);
    let notes = |source: &Source| notes_of(&source.run);
    let mut groups = entries(&results, notes);
    let text = args.grep.as_ref().map(|text| text.to_lowercase());
    for entries in &mut groups {
        entries.retain(|entry| text.as_ref().is_none_or(|text| has(entry, text)));
        sort(entries, args.sort);
    }
    groups.retain(|entries| !entries.is_empty());
    let mut out = stdout();
    if args.json {
        groups.iter().flatten().try_for_each(|entry| json_line(&mut out, entry))?;
    } else if !groups.is_empty() {
        out.write_all(to_terminal(&sheet(&groups), View::of_stdout().width).as_bytes())?;
    }
    if groups.is_empty() {
        say("note: no run matches");
    }
    Ok(failure::OK)
}

/// The notes of a run. Broken ones do not hide it, nor the others.
fn notes_of(run: &RunRef) -> Notes {
    RunFolder::at(&run.path).notes().unwrap_or_else(|error| {
        say(format_args!("warning: {}; its notes are left out", visible_line(&error.to_string(), 500)));
        Notes::default()
    })
}

fn runs_with_tags(runs: &[RunRef], tags: &[String]) -> Vec<RunRef> {
    let has_all = |known: &[String]| tags.iter().all(|tag| known.contains(tag));
    // A file of trajectories has no notes.
    runs.iter().filter(|run| tags.is_empty() || has_all(&notes_of(run).tags)).cloned().collect()
}

fn has(entry: &Entry, text: &str) -> bool {
    let Entry { name, run, dataset, model, method, protocol, prompt, note, tags, .. } = entry;
    let fields = [name, run, dataset, model, method, protocol, prompt, note].into_iter().chain(tags);
    fields.map(|field| field.to_lowercase()).any(|field| field.contains(text))
}

fn sort(entries: &mut [Entry], order: Order) {
    match order {
        Order::Em => entries.sort_by(|a, b| b.em.unwrap_or(-1.0).total_cmp(&a.em.unwrap_or(-1.0))),
        Order::Name => entries.sort_by(|a, b| a.run.cmp(&b.run)),
        Order::Date => entries.sort_by_key(|entry| Reverse(entry.started_at.clone())),
        Order::Cost => {
            let cost = |entry: &Entry| entry.cost_usd.unwrap_or(f64::INFINITY);
            entries.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        }
    }
}

pub(super) fn note(args: &NoteArgs) -> anyhow::Result<u8> {
    let folder = RunFolder::open(&args.run)?;
    // A folder that holds something else is not written to.
    folder.manifest()?;
    let changes = args.text.is_some() || !args.tag.is_empty() || !args.untag.is_empty();
    let notes = if changes { folder.change_notes(|notes| change(args, notes))? } else { folder.notes()? };
    let mut out = stdout();
    if args.json {
        json_line(&mut out, &notes)?;
        return Ok(failure::OK);
    }
    writeln!(out, "{}: {}", shell_word(&args.run.display().to_string()), visible_line(&notes.note, 2000))?;
    writeln!(out, "tags: {}", tag_list(&notes.tags))?;
    Ok(failure::OK)
}

fn change(args: &NoteArgs, notes: &mut Notes) -> anyhow::Result<()> {
    for tag in &args.tag {
        let tag = tag.trim();
        if tag.contains(',') || crate::analysis::annotations::bad_name(tag).is_some() {
            let message = format!("`{}` is not a tag", excerpt(tag));
            return Err(Failure::usage(message, "a tag is a word without commas, such as `paper` or `prompt-v2`"));
        }
        if !notes.tags.iter().any(|known| known == tag) {
            notes.tags.push(tag.to_owned());
        }
    }
    if let Some(absent) = args.untag.iter().find(|tag| !notes.tags.contains(tag)) {
        let message = format!("`{}` has no tag `{}`", args.run.display(), excerpt(absent));
        let hint = match &notes.tags[..] {
            [] => "it has no tags".to_owned(),
            tags => format!("its tags are {}", tag_list(tags)),
        };
        return Err(Failure::bad_input(message, hint));
    }
    notes.tags.retain(|tag| !args.untag.contains(tag));
    if let Some(text) = &args.text {
        notes.note.clone_from(text);
    }
    Ok(())
}

fn tag_list(tags: &[String]) -> String {
    if tags.is_empty() {
        return "none".to_owned();
    }
    tags.iter().map(|tag| visible_line(tag, 60)).collect::<Vec<_>>().join(", ")
}
