//! `dataset fetch`: files from public sources, with their licences; resumable and checked.

use crate::analysis::fetch::{Fetched, address, cannot, existing, fetch, megabytes, next};
use crate::analysis::report::console::stdout;
use crate::cli::failure::{self, Failure};
use crate::cli::say::say;
use crate::dataset::{PUBLIC_SOURCES, PublicSource};
use crate::net::redact;
use serde_json::json;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct FetchArgs {
    /// Name of the source [default: list all sources].
    name: Option<String>,
    /// Folder for the file.
    #[arg(long, value_name = "DIR", default_value = "datasets")]
    out: PathBuf,
    /// URL of a mirror folder with the file under its original name.
    #[arg(long, value_name = "URL", requires = "name")]
    base_url: Option<String>,
    /// Print what was fetched, or the sources, as JSON.
    #[arg(long)]
    json: bool,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) async fn fetch_source(args: &FetchArgs) -> anyhow::Result<u8> {
    let Some(name) = &args.name else {
        list_sources(args.json)?;
        return Ok(failure::OK);
    };
    let source = PublicSource::find(name).ok_or_else(|| {
        let names: Vec<&str> = PUBLIC_SOURCES.iter().map(|source| source.name).collect();
        let what = format!("unknown source `{}`", crate::base::text::printable(name, 80));
        Failure::usage(what, format!("sources are {}", names.join(", ")))
    })?;
    let url = address(source, args.base_url.as_deref());
    let target = args.out.join(source.file);
    say(format_args!("{}: {}; license: {}", source.name, source.about, source.licence));
    std::fs::create_dir_all(&args.out).map_err(|error| cannot("create", &args.out, &error))?;
    let tell = |text| say(text);
    let fetched = match existing(source, &target, &tell)? {
        Some(fetched) => fetched,
        None => fetch(source, &url, &target, args.quiet, &tell).await?,
    };
    report_fetched(source, &url, &target, &fetched, args.json)?;
    Ok(failure::OK)
}

fn list_sources(json: bool) -> io::Result<()> {
    let mut out = stdout();
    let kinds = [("questions", "questions:"), ("corpus", "Wikipedia, for `wikitrail corpus build`:")];
    for ((kind, heading), is_corpus) in kinds.into_iter().zip([false, true]) {
        if !json {
            writeln!(out, "{heading}")?;
        }
        for source in PUBLIC_SOURCES.iter().filter(|source| source.corpus.is_empty() != is_corpus) {
            let PublicSource { name, url, file, licence, sha256, md5, about, corpus: _ } = source;
            if json {
                let line = json!({
                    "name": name, "kind": kind, "file": file, "licence": licence, "sha256": sha256, "md5": md5,
                    "about": about, "url": url,
                });
                writeln!(out, "{line}")?;
            } else {
                let checked = if source.is_checked() { ", checked" } else { "" };
                writeln!(out, "  {name:<20} {licence}{checked}\n      {about}")?;
            }
        }
    }
    Ok(())
}

fn report_fetched(source: &PublicSource, url: &str, target: &Path, fetched: &Fetched, json: bool) -> io::Result<()> {
    let Fetched { sha256, bytes, resumed_from } = fetched;
    let mut out = stdout();
    if json {
        let line = json!({
            "name": source.name, "file": target.display().to_string(), "bytes": bytes, "sha256": sha256,
            "checked": source.is_checked(), "licence": source.licence, "url": redact::url(url),
            "resumed_from": resumed_from, "next": next(source, target),
        });
        return writeln!(out, "{line}");
    }
    writeln!(out, "{}", target.display())?;
    let checked = if source.is_checked() { "checked" } else { "no checksum is known" };
    say(format_args!("{} MB, sha256 {sha256} ({checked})", megabytes(*bytes)));
    let next = next(source, target);
    if !next.is_empty() {
        say(format_args!("next:\n  {}", next.join("\n  ")));
    }
    Ok(())
}
