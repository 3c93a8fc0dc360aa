//! `corpus diff`: what differs between two corpora.

use crate::cli::failure::{self, Failure};
use crate::report::console::stdout;
use crate::report::{counted, thousands};
use crate::types::text::visible_line;
use crate::wiki::corpus::{Counts, DiffError, Difference, Side, diff};
use serde_json::json;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Differences of each kind that are shown without --all.
const MAX_SHOWN: u64 = 20;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct DiffArgs {
    /// The older corpus: a folder that `corpus build` wrote, a file of `corpus pack`, or lines in title order.
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The newer one.
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Show every difference, not only the first 20 of each kind.
    #[arg(long)]
    all: bool,
    /// Print one JSON object: `a`, `b`, `differences`, `counts`.
    #[arg(long)]
    json: bool,
}

pub(super) fn execute_diff(args: &DiffArgs) -> anyhow::Result<u8> {
    let (a, b) = (open_side(&args.a)?, open_side(&args.b)?);
    let mut out = stdout();
    let (a_said, b_said) = (describe_side(&args.a, &a), describe_side(&args.b, &b));
    if args.json {
        write!(out, "{{\"a\":{a_said},\"b\":{b_said},\"differences\":[")?;
    } else {
        for (mark, said) in [('-', &a_said), ('+', &b_said)] {
            writeln!(out, "{mark} {}", side_line(said))?;
        }
    }
    let (mut seen, mut shown) = (Counts::default(), 0);
    let counts = diff(a, b, &mut |difference| {
        if seen.add(difference) > MAX_SHOWN && !args.all {
            return Ok(());
        }
        shown += 1;
        if !args.json {
            return write_difference(difference, &mut out);
        }
        out.write_all(if shown > 1 { b",\n" } else { b"\n" })?;
        serde_json::to_writer(&mut out, difference).map_err(io::Error::from)
    });
    let counts = counts.map_err(explain_diff)?;
    if args.json {
        writeln!(out, "],\"counts\":{}}}", serde_json::to_string(&counts)?)?;
    } else {
        write_counts(&counts, shown, &mut out)?;
    }
    Ok(if counts.equal() { failure::OK } else { failure::DIFFERENCE })
}

fn open_side(path: &Path) -> anyhow::Result<Side> {
    if !path.exists() {
        let message = format!("cannot read `{}`: there is no such file or folder", path.display());
        return Err(Failure::bad_input(message, "check the path"));
    }
    Side::open(path).map_err(explain_diff)
}

fn explain_diff(error: DiffError) -> anyhow::Error {
    let hint = match error {
        DiffError::Unknown(_) => "name a folder that `corpus build` wrote, a file of `corpus pack`, or JSON lines",
        DiffError::Input { .. } => "is it whole? `wikitrail corpus verify DIR` lists what is wrong with a folder",
        DiffError::Order { .. } => "make a folder of it first: wikitrail corpus build NEW --from PATH",
        // The chain is kept, so that a closed pipe is recognised.
        DiffError::Write(error) => return error.into(),
    };
    Failure::bad_input(error, hint)
}

/// What a corpus is, as far as it says so.
fn describe_side(path: &Path, side: &Side) -> serde_json::Value {
    let mut said = json!({ "path": path.display().to_string() });
    if let Some(manifest) = &side.manifest {
        said["name"] = json!(manifest.name);
        said["id"] = json!(manifest.id);
        said["as_of"] = json!(manifest.as_of);
        said["articles"] = json!(manifest.articles);
    }
    said
}

fn side_line(said: &serde_json::Value) -> String {
    let facts = ["path", "name", "as_of", "id"].into_iter().filter_map(|fact| said[fact].as_str());
    let mut facts: Vec<String> = facts.map(|fact| visible_line(fact, 120)).collect();
    facts.dedup();
    facts.join(", ")
}

fn write_difference(difference: &Difference, out: &mut impl Write) -> io::Result<()> {
    let name = |title: &str| visible_line(title, 80);
    let number = |revid: &Option<u64>| revid.map_or_else(|| "unknown".to_owned(), |revid| revid.to_string());
    match difference {
        Difference::Added { title } => writeln!(out, "added             {}", name(title)),
        Difference::Gone { title } => writeln!(out, "removed           {}", name(title)),
        Difference::Changed { title, excerpt: None, .. } => {
            writeln!(out, "changed           {}: the words are the same", name(title))
        }
        Difference::Changed { title, excerpt: Some([old, new]), .. } => {
            let [old, new] = [old, new].map(|text| visible_line(text, 200));
            writeln!(out, "changed           {}\n                  - {old}\n                  + {new}", name(title))
        }
        Difference::Revision { title, revid: [old, new] } => {
            writeln!(out, "revision          {}: {} -> {}, with the same text", name(title), number(old), number(new))
        }
        Difference::RedirectAdded { title, to } => {
            writeln!(out, "redirect added    {} -> {}", name(title), name(to))
        }
        Difference::RedirectGone { title, to } => writeln!(out, "redirect removed  {} -> {}", name(title), name(to)),
    }
}

fn write_counts(counts: &Counts, shown: u64, out: &mut impl Write) -> io::Result<()> {
    if counts.equal() {
        return writeln!(out, "the same {}, with the same redirects", counted(counts.same, "article"));
    }
    let Counts { added, gone, changed, revision, redirect_added, redirect_gone, same } = *counts;
    let all = added + gone + changed + revision + redirect_added + redirect_gone;
    let [added, gone, changed, revision, redirect_added, redirect_gone, same] =
        [added, gone, changed, revision, redirect_added, redirect_gone, same].map(thousands);
    writeln!(
        out,
        "articles: {added} added, {gone} removed, {changed} changed, {revision} with another revision of the same text, {same} the same\n\
         redirects: {redirect_added} added, {redirect_gone} removed"
    )?;
    if shown < all {
        writeln!(
            out,
            "shown are the first {MAX_SHOWN} of each kind, {} of {}; --all shows all of them",
            thousands(shown),
            thousands(all)
        )?;
    }
    Ok(())
}
