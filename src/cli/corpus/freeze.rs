//! `corpus freeze`: from a live site to a folder.

use super::build;
use crate::analysis::report::console::stdout;
use crate::analysis::report::corpus::{megabytes, write_manifest};
use crate::analysis::report::progress::stage_bar;
use crate::analysis::report::{counted, duration, thousands};
use crate::base::text::{printable, shell_word};
use crate::cli::flags::{OfSite, Typed};
use crate::cli::output_file::json_line;
use crate::cli::say::say;
use crate::cli::{defaults, failure};
use crate::runner::{FreezeEnd, FreezePlan, FreezeProgress, FreezeSettings, Interrupts};
use crate::wikipedia::LeftOut;
use crate::wikipedia::corpus::{Built, Manifest};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;

/// Titles without a page that are named for each reason; the folder has all of them.
const MAX_LISTED: usize = 10;

#[expect(clippy::struct_excessive_bools, reason = "one for each switch")]
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct FreezeArgs {
    /// The new folder. Fetched pages are kept in DIR.fetched.jsonl until it is complete, and the same command goes on from
    /// there.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Dataset file: the gold pages of its supporting facts and evidence; may be repeated.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["run", "titles"])]
    dataset: Vec<PathBuf>,
    /// Also the pages of the dataset's contexts.
    #[arg(long, requires = "dataset")]
    contexts: bool,
    /// Folder of a run: every page that it opened, in the revision that it read, every title that it was shown, and every search
    /// with its answer; may be repeated.
    #[arg(long, value_name = "RUN")]
    run: Vec<PathBuf>,
    /// File of titles, one a line; may be repeated.
    #[arg(long, value_name = "FILE")]
    titles: Vec<PathBuf>,
    /// Also the first N pages that the lead of each of these pages links to.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=500), hide_default_value = true)]
    links: u16,
    /// The newest revisions up to this date, such as 2017-10-01 (its beginning) or 2017-10-01T12:00:00Z [default: today's].
    #[arg(long, value_name = "DATE", value_parser = date)]
    as_of: Option<String>,
    /// What to call it [default: the name of the folder].
    #[arg(long)]
    name: Option<String>,
    /// Say what it takes, and send nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print the manifest and what was left out as one JSON object.
    #[arg(long)]
    json: bool,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    site: Typed<OfSite>,
}

/// A date, or a time in UTC, that is over.
fn date(text: &str) -> Result<String, String> {
    let begins = || format!("{text}T00:00:00Z").parse::<jiff::Timestamp>().ok();
    let time = text.parse::<jiff::Timestamp>().ok().or_else(begins);
    match time {
        None => Err("a date such as 2017-10-01 is expected".to_owned()),
        Some(time) if time > jiff::Timestamp::now() => Err("this date is yet to come".to_owned()),
        Some(time) => Ok(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
    }
}

pub(super) async fn freeze(args: FreezeArgs) -> anyhow::Result<u8> {
    let FreezeArgs { dry_run, json, quiet, dir, .. } = args;
    let settings = FreezeSettings {
        dir: dir.clone(),
        name: args.name,
        datasets: args.dataset,
        contexts: args.contexts,
        runs: args.run,
        titles: args.titles,
        links: usize::from(args.links),
        as_of: args.as_of,
        wiki: defaults::completed(&args.site)?.variant()?,
    };
    let links = settings.links;
    let prepared = settings.prepare()?;
    prepared.notes.iter().for_each(say);
    let plan = prepared.plan();
    say_plan(plan, prepared.site(), links);
    if dry_run {
        prepared.leave()?;
        if json {
            let FreezePlan { titles, fetched, searches, requests, least_ms, gold_only } = plan;
            json_line(
                &mut stdout(),
                &json!({ "titles": titles, "fetched": fetched, "searches": searches, "requests": requests,
                         "least_ms": least_ms, "gold_only": gold_only }),
            )?;
        }
        return Ok(failure::OK);
    }
    let bar = stage_bar(quiet);
    let mut show = |progress: FreezeProgress| match progress {
        FreezeProgress::Building(stage) => build::show_progress(&bar, stage),
        FreezeProgress::Fetching(done, all) => {
            bar.set_message(format!("fetching, {} of {}", thousands(done), counted(all, "title")));
            bar.tick();
        }
    };
    let end = prepared.execute(Interrupts::signals(), &mut show).await;
    bar.finish_and_clear();
    match end? {
        FreezeEnd::Done(built, left_out) => print_result(&dir, &built, &left_out, json),
        FreezeEnd::Interrupted(kept) => {
            say(format_args!("interrupted: {} kept; run the same command to go on", counted(kept, "title")));
            Ok(failure::INTERRUPTED)
        }
    }
}

fn say_plan(plan: FreezePlan, site: &str, links: usize) {
    let FreezePlan { titles, fetched, searches, requests, least_ms, gold_only } = plan;
    let before = if fetched > 0 { format!(" ({} fetched before)", thousands(fetched)) } else { String::new() };
    let searches = match searches {
        0 => String::new(),
        1 => ", 1 search".to_owned(),
        _ => format!(", {} searches", thousands(searches)),
    };
    let time = least_ms.map(|ms| format!(", about {} at the site's rate", duration(ms))).unwrap_or_default();
    let links = match links {
        0 => String::new(),
        _ => format!(", and two for each of up to {} a page", counted(links, "link")),
    };
    let (titles, requests) = (counted(titles, "title"), counted(requests, "request"));
    say(format_args!("{titles}{before}{searches} from {site}; at most {requests}{time}{links}"));
    if gold_only {
        say(
            "warning: these are gold pages only, and an agent cannot go wrong among them; add --contexts, --links N or \
             the pages of a run with --run RUN",
        );
    }
}

fn print_result(
    dir: &std::path::Path,
    built: &Built,
    left_out: &BTreeSet<(LeftOut, String)>,
    json: bool,
) -> anyhow::Result<u8> {
    let Built { manifest, notes } = built;
    for reason in LeftOut::ALL {
        let titles: Vec<&String> = left_out.iter().filter(|(of, _)| *of == reason).map(|(_, title)| title).collect();
        let named: Vec<String> =
            titles.iter().take(MAX_LISTED).map(|title| format!("`{}`", printable(title, 80))).collect();
        if let Some(more) = titles.len().checked_sub(named.len()) {
            let more = if more > 0 { format!(" and {} more", thousands(more)) } else { String::new() };
            if !named.is_empty() {
                say(format_args!("left out, {}: {}{more}", reason.words(), named.join(", ")));
            }
        }
    }
    build::say_left_out(notes);
    if manifest.license.id == "unknown" {
        say("warning: the site does not say under which license its texts are");
    }
    let mut out = stdout().styled();
    if json {
        let titles: Vec<_> =
            left_out.iter().map(|(reason, title)| json!({ "title": title, "reason": reason })).collect();
        json_line(&mut out, &json!({ "manifest": manifest, "left_out": titles, "notes": notes }))?;
        return Ok(failure::OK);
    }
    write_manifest(manifest, &mut out)?;
    let dir = shell_word(&dir.display().to_string());
    writeln!(
        out,
        "wrote {dir}, {}\nnext:\n  wikitrail wiki search QUERY --wiki corpus:{dir}",
        megabytes(bytes(manifest))
    )?;
    Ok(failure::OK)
}

fn bytes(manifest: &Manifest) -> u64 {
    manifest.files.values().map(|file| file.bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn a_date_is_its_beginning_in_utc_and_is_over() {
        assert_eq!(date("2017-10-01").as_deref(), Ok("2017-10-01T00:00:00Z"));
        assert_eq!(date("2017-10-01T12:30:00+02:00").as_deref(), Ok("2017-10-01T10:30:00Z"));
        for (text, told) in [("2999-01-01", "yet to come"), ("2017", "is expected"), ("2017-13-01", "is expected")] {
            assert!(date(text).is_err_and(|error| error.contains(told)), "{text}");
        }
    }
}
