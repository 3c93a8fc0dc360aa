//! `serve` and `mcp`: a corpus for other programs; `view`: pages of runs for a browser.

use super::config;
use super::failure::{self, Failure};
use super::say::say;
use crate::analysis::live_view::{ViewSettings, token, view};
use crate::analysis::report::console::stdout;
use crate::analysis::results::runs;
use crate::base::Compat;
use crate::base::text::{counted, visible_line};
use crate::net::server::{Hosts, LONGEST_ANSWER, Log, LogSettings, ServeError, Server, Settings};
use crate::runner::{Interrupts, open_corpus};
use crate::wikipedia::Corpus;
use crate::wikipedia::corpus::Manifest;
#[cfg(feature = "mcp")]
use crate::wikipedia::handlers::over_stdio;
use crate::wikipedia::handlers::{CorpusService, Part, known_path, router};
use clap::ValueEnum as _;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to serve: `corpus:DIR`, as for `--wiki`.
    #[arg(value_name = "CORPUS")]
    corpus: String,
    /// Address to listen at; port 0 takes a free one, which the first line of output says.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080")]
    bind: SocketAddr,
    /// Let other machines ask, under any address of this one and any name that only the local network knows.
    #[arg(long)]
    allow_remote: bool,
    /// Another name under which this server is asked; may be repeated.
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Serve these parts only, between commas; all of them by default.
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    only: Vec<PartName>,
    #[command(flatten)]
    semantics: Semantics,
    /// Answer so many requests a second of one address, and refuse more with status 429 [default: all].
    #[arg(long, value_name = "N")]
    per_client: Option<NonZeroU32>,
    /// Write what was asked into the line of each request: queries, titles and bodies, cut after 1,000 characters.
    #[arg(long, conflicts_with = "quiet")]
    log_queries: bool,
    /// Write no line for each request.
    #[arg(long)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum PartName {
    /// The Action API, pages and REST.
    #[value(name = "mediawiki")]
    MediaWiki,
    /// Search-R1's retriever.
    Retrieve,
    /// The tool, over plain HTTP.
    Tool,
    /// The tool, over the Model Context Protocol.
    #[cfg(feature = "mcp")]
    Mcp,
}

pub(super) async fn execute(args: Args) -> anyhow::Result<u8> {
    let mut interrupts = Interrupts::signals();
    let corpus = corpus(&args.corpus)?;
    let manifest = corpus.manifest();
    let contents = manifest.map_or_else(|| counted(corpus.count(), "article"), Manifest::contents);
    let about = format!("serving {}: {contents}, {}", visible_line(&args.corpus, 80), corpus.id());
    let parts = if args.only.is_empty() { PartName::value_variants() } else { &args.only };
    let parts = parts.iter().map(|part| match part {
        PartName::MediaWiki => Part::MediaWiki,
        PartName::Retrieve => Part::Retrieve,
        PartName::Tool => Part::Tool,
        #[cfg(feature = "mcp")]
        PartName::Mcp => Part::Mcp,
    });
    let compat = args.semantics.compat();
    let write: Log = Arc::new(|line: &str| say(line));
    let settings = Settings {
        bind: args.bind,
        hosts: Hosts { remote: args.allow_remote, named: args.allow_host },
        log: (!args.quiet).then_some(LogSettings { write, known_path, queries: args.log_queries }),
        per_client: args.per_client,
        longest_answer: LONGEST_ANSWER,
        keep_alive: true,
    };
    let parts: Vec<Part> = parts.collect();
    let router = router(&parts, CorpusService::new(Arc::new(corpus), compat));
    let server = Server::bind(router, settings).await.map_err(cannot)?;
    let mut out = stdout();
    writeln!(out, "{}", server.url())?;
    out.flush()?;
    say(about);
    server.run(async || interrupts.next().await).await;
    Ok(failure::OK)
}

#[derive(Debug, clap::Args)]
struct Semantics {
    /// Semantics of the tool: `paper` reproduces the paper's environment, faults included; `fixed` corrects them.
    #[arg(long, value_name = "MODE", default_value = "fixed", value_parser = ["fixed", "paper"])]
    compat: String,
}

impl Semantics {
    fn compat(&self) -> Compat {
        if self.compat == Compat::Paper.name() { Compat::Paper } else { Compat::Fixed }
    }
}

fn corpus(named: &str) -> anyhow::Result<Corpus> {
    if let Some(dir) = named.strip_prefix("corpus:").filter(|dir| !dir.is_empty()) {
        return Ok(open_corpus(dir)?);
    }
    let message = format!("`{}` is not a corpus", visible_line(named, 80));
    let hint = if Path::new(named).exists() {
        format!("did you mean `corpus:{}`?", visible_line(named, 80))
    } else {
        "name it as for --wiki: `corpus:DIR`".to_owned()
    };
    Err(Failure::usage(message, hint))
}

#[cfg(feature = "mcp")]
#[derive(Debug, clap::Args)]
pub(super) struct McpArgs {
    /// What to serve: `corpus:DIR`, as for `--wiki`.
    #[arg(value_name = "CORPUS")]
    corpus: String,
    #[command(flatten)]
    semantics: Semantics,
}

#[cfg(feature = "mcp")]
pub(super) async fn serve_host(args: McpArgs) -> anyhow::Result<u8> {
    let served = over_stdio(corpus(&args.corpus)?, args.semantics.compat()).await;
    served.map_err(|error| {
        Failure::unexpected(error, "a host of the Model Context Protocol starts this command and speaks to it")
    })?;
    Ok(failure::OK)
}

fn cannot(error: ServeError) -> anyhow::Error {
    let hint = error.hint();
    match error {
        ServeError::Remote(_) => Failure::usage(error, hint),
        ServeError::Bind { .. } => Failure::unexpected(error, hint),
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct ViewArgs {
    /// Folders that contain runs, or runs; those that are still going are followed [default: results] [env: `WIKITRAIL_RESULTS`].
    #[arg(value_name = "FOLDER")]
    folders: Vec<String>,
    /// Port on 127.0.0.1, whose address stays the same from one start to the next; 0 takes a free port.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Write judgements that are made in the browser to `annotations.jsonl` of their run.
    #[arg(long)]
    annotate: bool,
}

pub(super) async fn view_runs(mut args: ViewArgs) -> anyhow::Result<u8> {
    args.folders = config::folders(&args.folders)?;
    let mut interrupts = Interrupts::signals();
    let found: usize = args.folders.iter().map(count_runs).sum::<anyhow::Result<usize>>()?;
    let bind = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let (token, is_kept) =
        token(args.port).map_err(|source| cannot_view(ServeError::Bind { address: bind, source }))?;
    let viewing = ViewSettings { folders: args.folders, bind, annotate: args.annotate, token };
    let (server, url, end) = view(viewing).await.map_err(cannot_view)?;
    let mut out = stdout();
    writeln!(out, "{url}")?;
    out.flush()?;
    let writes = if args.annotate { "judgements are written to the runs" } else { "read-only" };
    say(format_args!("serving {} on 127.0.0.1 only ({writes}); Ctrl-C ends it", counted(found, "run")));
    if args.port != 0 && !is_kept {
        say("note: the next start has another address, as this one cannot be kept in your folder of state");
    }
    let stop = async || {
        interrupts.next().await;
        // Nobody is left to hear it if this fails.
        let _ = end.send(true);
    };
    server.run(stop).await;
    Ok(failure::OK)
}

/// Runs in a folder, which may have none yet.
fn count_runs(folder: &String) -> anyhow::Result<usize> {
    match runs(std::slice::from_ref(folder)) {
        Ok(runs) => Ok(runs.len()),
        Err(_) if Path::new(folder).is_dir() => Ok(0),
        Err(error) => Err(error.into()),
    }
}

fn cannot_view(error: ServeError) -> anyhow::Error {
    Failure::unexpected(error, "is another program using the port? Without --port a free one is taken")
}
