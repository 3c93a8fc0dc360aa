//! `wiki`: the tool by hand, for people and for other agents.

mod interactive;
pub(super) mod lines;
mod script;

use super::defaults;
use super::failure::Failure;
use super::flags::{OfWiki, Typed};
use super::output_file::json_line;
use crate::run::agent;
use crate::types::Tool;
use crate::wiki::{Observation, Session, SessionError, SessionOptions};
use std::io::{IsTerminal as _, Write};
use std::sync::Arc;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Open a page by its title, or list similar titles.
    Search(SearchArgs),
    /// Find the sentences of a page that contain a keyword.
    Lookup(LookupArgs),
    /// Use the tool action by action: `search[X]`, `lookup[y]`, `finish[z]`.
    Session(SessionArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct SearchArgs {
    /// What to search for.
    #[arg(allow_hyphen_values = true)]
    query: String,
    /// Print one JSON object instead of the observation.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    wiki: Typed<OfWiki>,
}

#[derive(Debug, clap::Args)]
pub(super) struct LookupArgs {
    /// The page to open.
    title: String,
    /// Keyword to look for, in any case.
    keyword: String,
    /// Print all results instead of the first.
    #[arg(long)]
    all: bool,
    /// Print one JSON object instead of the observations.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    wiki: Typed<OfWiki>,
}

#[derive(Debug, clap::Args)]
pub(super) struct SessionArgs {
    /// Read one action per line from stdin and write one JSON object for each; the line `reset` starts over.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    wiki: Typed<OfWiki>,
}

pub(super) async fn execute(command: Command, out: &mut (impl Write + Send)) -> anyhow::Result<u8> {
    match command {
        Command::Search(args) => search(&args, out).await?,
        Command::Lookup(args) => lookup(&args, out).await?,
        Command::Session(args) => {
            let start = starter(&args.wiki)?;
            if args.json {
                script::run_script(tokio::io::stdin(), out, start).await?;
            } else if std::io::stdin().is_terminal() {
                interactive::run_terminal(out, start).await?;
            } else {
                interactive::run_plain(tokio::io::stdin(), out, start).await?;
            }
        }
    }
    Ok(0)
}

/// Makes sessions over one source.
fn starter(args: &Typed<OfWiki>) -> anyhow::Result<impl Fn() -> Session + Send + Sync + use<>> {
    let settings = defaults::completed(args)?.variant()?;
    let source = agent::source(&settings)?;
    let (compat, wording) = agent::semantics(&settings);
    let options = SessionOptions { wording: wording.unwrap_or_default(), ..SessionOptions::default() };
    Ok(move || Session::new(Arc::clone(&source), compat, options))
}

async fn search(args: &SearchArgs, out: &mut (impl Write + Send)) -> anyhow::Result<()> {
    let mut session = starter(&args.wiki)?();
    let observation = session.call(Tool::Search, &args.query).await.map_err(failed)?;
    if args.json {
        let Observation { text, provenance, note, missed } = observation;
        let value = serde_json::json!({
            "query": args.query, "observation": text, "page_chars": session.state().page_chars, "missed": missed,
            "note": note, "provenance": provenance,
        });
        return Ok(json_line(out, &value)?);
    }
    Ok(writeln!(out, "{}", observation.text)?)
}

async fn lookup(args: &LookupArgs, out: &mut (impl Write + Send)) -> anyhow::Result<()> {
    let mut session = starter(&args.wiki)?();
    let opened = session.call(Tool::Search, &args.title).await.map_err(failed)?;
    if session.state().page_chars.is_none() {
        return Err(Failure::bad_input(opened.text, "`wiki search` lists similar titles"));
    }
    let mut results = Vec::new();
    loop {
        let before = session.state().lookup_cnt.unwrap_or(0);
        let observation = session.call(Tool::Lookup, &args.keyword).await.map_err(failed)?;
        let state = session.state();
        let found = state.lookup_cnt.unwrap_or(0) > before;
        if found || results.is_empty() {
            results.push(observation.text);
        }
        if !args.all || state.lookup_cnt >= state.lookup_len {
            break;
        }
    }
    if args.json {
        let matches = session.state().lookup_len;
        let value = serde_json::json!({
            "title": args.title, "keyword": args.keyword, "matches": matches, "observations": results,
            "provenance": opened.provenance,
        });
        return Ok(json_line(out, &value)?);
    }
    for result in results {
        writeln!(out, "{}", result.trim_end_matches('\n'))?;
    }
    Ok(())
}

fn failed(error: SessionError) -> anyhow::Error {
    let hint = error.hint().unwrap_or_else(|| "try again later".to_owned());
    Failure::unexpected(error, hint)
}

#[cfg(all(test, feature = "index"))]
mod tests;
