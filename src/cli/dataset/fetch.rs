//! `dataset fetch`: files from public sources, with their licences; resumable and checked.

use super::cannot;
use super::part_file::{PartFile, megabytes};
use crate::analysis::report::console::stdout;
use crate::base::text::shell_word;
use crate::cli::failure::{self, Failure};
use crate::cli::say::say;
use crate::dataset::{PUBLIC_SOURCES, PublicSource, sha256_of_file};
use crate::net::download::{DownloadError, Sink as _};
use crate::net::{Client, ClientSettings, NetError, redact};
use serde_json::json;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Maximum size of a file, in bytes.
const LARGEST: u64 = 64 << 30;

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

struct Fetched {
    sha256: String,
    bytes: u64,
    /// Bytes of an earlier attempt.
    resumed_from: u64,
}

pub(super) async fn execute(args: &FetchArgs) -> anyhow::Result<u8> {
    let Some(name) = &args.name else {
        list(args.json)?;
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
    let fetched = match existing(source, &target)? {
        Some(fetched) => fetched,
        None => fetch(source, &url, &target, args.quiet).await?,
    };
    report(source, &url, &target, &fetched, args.json)?;
    Ok(failure::OK)
}

fn list(json: bool) -> io::Result<()> {
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

fn address(source: &PublicSource, base: Option<&str>) -> String {
    base.map_or_else(
        || source.url.to_owned(),
        |base| format!("{}/{}", base.trim_end_matches('/'), source.remote_file()),
    )
}

/// An existing file, accepted if its digest matches or is unknown.
fn existing(source: &PublicSource, target: &Path) -> anyhow::Result<Option<Fetched>> {
    let Ok(meta) = target.metadata() else { return Ok(None) };
    let sha256 = sha256_of_file(target).map_err(|error| cannot("read", target, &error))?;
    if let Some(wrong) = source.difference(target, &sha256).map_err(|error| cannot("read", target, &error))? {
        return Err(Failure::bad_input(
            format!("`{}` already exists with other contents: {wrong}", target.display()),
            "remove it, or name another folder with --out",
        ));
    }
    let how = if source.is_checked() { "its checksum matches" } else { "no checksum is known" };
    say(format_args!("{} already exists; {how}", target.display()));
    Ok(Some(Fetched { sha256, bytes: meta.len(), resumed_from: meta.len() }))
}

async fn fetch(source: &PublicSource, url: &str, target: &Path, quiet: bool) -> anyhow::Result<Fetched> {
    let client = Client::new(ClientSettings::default()).map_err(|e| explain(&e.into()))?;
    let mut part = PartFile::open(target, quiet).map_err(|error| cannot("write", target, &error))?;
    let resumed_from = part.position();
    if resumed_from > 0 {
        say(format_args!("{} MB already fetched", megabytes(resumed_from)));
    }
    if let Err(error) = client.download(url, LARGEST, &mut part).await {
        let kept = part.position();
        part.leave();
        if kept > 0 {
            say(format_args!("{} MB kept; run the same command to continue", megabytes(kept)));
        }
        return Err(explain(&error));
    }
    part.finish().map_err(|error| cannot("write", target, &error))?;
    let failed = |error: io::Error| cannot("write", target, &error);
    let bytes = part.position();
    let sha256 = sha256_of_file(part.path()).map_err(failed)?;
    if let Some(problem) = problem(source, part.path(), &sha256, bytes).map_err(failed)? {
        part.discard().map_err(failed)?;
        return Err(Failure::bad_input(
            format!("`{}`: {problem}", redact::url(url)),
            "nothing was kept; try again, or open the address in a browser",
        ));
    }
    part.keep(target).map_err(failed)?;
    Ok(Fetched { sha256, bytes, resumed_from })
}

/// What is wrong with a completely fetched file.
fn problem(source: &PublicSource, path: &Path, sha256: &str, bytes: u64) -> io::Result<Option<String>> {
    if bytes == 0 {
        return Ok(Some("the response is empty".to_owned()));
    }
    let mut start = Vec::new();
    std::fs::File::open(path)?.take(512).read_to_end(&mut start)?;
    if start.trim_ascii_start().starts_with(b"<") {
        return Ok(Some("the response is an HTML page, not a dataset".to_owned()));
    }
    let difference = source.difference(path, sha256)?;
    Ok(difference.map(|wrong| format!("the file is damaged or has changed: {wrong}")))
}

/// A page is bad input; other errors come from the network or the disk.
fn explain(error: &DownloadError) -> anyhow::Error {
    let hint = error.hint().unwrap_or("try again; the part fetched so far is kept");
    match error {
        DownloadError::Page { .. } => Failure::bad_input(error, hint),
        DownloadError::Net(NetError::BadUrl { .. }) => Failure::usage(error, hint),
        _ => Failure::unexpected(error, hint),
    }
}

fn report(source: &PublicSource, url: &str, target: &Path, fetched: &Fetched, json: bool) -> io::Result<()> {
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

/// The commands that make a corpus of a fetched file.
fn next(source: &PublicSource, target: &Path) -> Vec<String> {
    let word = |path: &Path| shell_word(&path.display().to_string());
    let dir = target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (file, dir) = (word(target), word(dir));
    let command = |command: &&str| {
        // What is put in is not looked at again.
        let pieces: Vec<String> = command.split("DIR").map(|piece| piece.replace("FILE", &file)).collect();
        let command = pieces.join(&dir);
        if command.starts_with("corpus ") { format!("wikitrail {command}") } else { command }
    };
    source.corpus.iter().map(command).collect()
}

#[cfg(all(test, feature = "index"))]
mod tests {
    use super::{PUBLIC_SOURCES, next};
    use crate::wikipedia::corpus::Format;
    use std::path::Path;

    #[test]
    fn the_commands_that_follow_name_formats_that_there_are() {
        for source in PUBLIC_SOURCES.iter().filter(|source| !source.corpus.is_empty()) {
            let commands = next(source, Path::new(source.file));
            let build = commands.last().and_then(|command| command.strip_prefix("wikitrail corpus build "));
            let from = build.and_then(|build| build.split(' ').skip_while(|word| *word != "--from").nth(1));
            let (format, path) = from.and_then(|from| from.split_once(':')).expect("a format");
            assert!(Format::named(format).is_some(), "{}: {format}", source.name);
            let unpacked = commands.len() == 2 && path.starts_with("./");
            assert!(path == source.file || unpacked, "{}: {path}", source.name);
        }
    }
}
