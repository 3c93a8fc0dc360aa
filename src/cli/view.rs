//! `view`: runs in a browser, on this machine.

use super::defaults;
use super::failure::{self, Failure};
use super::say::say;
use crate::analysis::live_view::{Viewing, view};
use crate::analysis::report::console::stdout;
use crate::analysis::results::runs;
use crate::base::text::counted;
use crate::net::server::ServeError;
use crate::runner::Interrupts;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

#[derive(Debug, clap::Args)]
pub(super) struct ViewArgs {
    /// Folders that contain runs, or runs; those that are still going are followed [default: results] [env: `WIKITRAIL_RESULTS`].
    #[arg(value_name = "FOLDER")]
    folders: Vec<String>,
    /// Port on 127.0.0.1; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Write judgements that are made in the browser to `annotations.jsonl` of their run.
    #[arg(long)]
    annotate: bool,
}

pub(super) async fn view_runs(mut args: ViewArgs) -> anyhow::Result<u8> {
    args.folders = defaults::folders(&args.folders)?;
    let mut interrupts = Interrupts::signals();
    let found: usize = args.folders.iter().map(count_runs).sum::<anyhow::Result<usize>>()?;
    let bind = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let viewing = Viewing { folders: args.folders, bind, annotate: args.annotate };
    let (server, url, end) = view(viewing).await.map_err(cannot_view)?;
    let mut out = stdout();
    writeln!(out, "{url}")?;
    out.flush()?;
    let writes = if args.annotate { "judgements are written to their runs" } else { "nothing is written" };
    say(format_args!("{} for this machine alone; {writes}; Ctrl-C ends it", counted(found, "run")));
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
