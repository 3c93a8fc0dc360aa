//! `mcp`: the tool for one host of the Model Context Protocol.

use super::failure::{self, Failure};
use super::serve::{Semantics, corpus};
use crate::wikipedia::handlers::over_stdio;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to serve: `corpus:DIR`, as for `--wiki`.
    #[arg(value_name = "CORPUS")]
    corpus: String,
    #[command(flatten)]
    semantics: Semantics,
}

pub(super) async fn execute(args: Args) -> anyhow::Result<u8> {
    let corpus = corpus(&args.corpus)?;
    let served = over_stdio(corpus, args.semantics.compat()).await;
    served.map_err(|error| {
        Failure::unexpected(error, "a host of the Model Context Protocol starts this command and speaks to it")
    })?;
    Ok(failure::OK)
}
