//! `corpus pack`: a corpus as one file.

use super::{manifest, megabytes, unusable, warn_of_license};
use crate::cli::failure::{self, Failure};
use crate::cli::output_file::{Force, OutputFile};
use crate::report::console::stdout;
use crate::report::progress::stage_bar;
use crate::report::{counted, thousands};
use crate::types::text::{shell_word, visible_line};
use crate::wiki::corpus::{PackError, Packing, pack};
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct PackArgs {
    /// Folder that `corpus build` wrote.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// File to write. Compressed by the ending: .zst or .gz; otherwise plain text.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Replace a file of that name.
    #[arg(long)]
    force: bool,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn execute_pack(args: &PackArgs) -> anyhow::Result<u8> {
    let manifest = manifest(&args.dir)?;
    let shown = args.out.display();
    if args.out.is_dir() {
        return Err(Failure::usage(format!("`{shown}` is a folder"), "name a file with --out, such as NAME.jsonl.zst"));
    }
    let ending = args.out.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    if ["zip", "bz2", "xz"].contains(&ending.as_str()) {
        let message = format!("cannot write `{shown}`: .{ending} is not supported");
        return Err(Failure::usage(message, "end the name with .jsonl.zst, .jsonl.gz or .jsonl"));
    }
    let file = OutputFile {
        path: &args.out,
        what: "an empty file",
        // Packing takes long, and so does fetching what an older corpus has: no file of one is replaced unasked.
        is_earlier: &|_| false,
        force: Force::Flag(args.force),
        inputs: files_of(&args.dir).into_iter().map(Into::into).collect(),
    };
    file.check()?;
    let bar = stage_bar(args.quiet);
    let mut progress = |done: u32| {
        bar.set_message(format!("packing, {} of {} articles", thousands(done), thousands(manifest.articles)));
        bar.tick();
    };
    let packed = file.write(|file| {
        pack(&args.dir, Packing::of(&args.out), file, &mut progress).map_err(|error| match error {
            PackError::Corpus(error) => unusable(error),
            PackError::Write(error) => error.into(),
        })
    });
    bar.finish_and_clear();
    packed?;
    let size = args.out.metadata().map_or(0, |written| written.len());
    let file = shell_word(&args.out.display().to_string());
    writeln!(
        stdout(),
        "wrote {file}: {}, {}, id {}\nnext:\n  wikitrail corpus build DIR --from {file}",
        counted(manifest.articles, "article"),
        megabytes(size),
        visible_line(&manifest.id, 80)
    )?;
    warn_of_license(&manifest);
    Ok(failure::OK)
}

/// The files of the corpus that is packed.
fn files_of(dir: &Path) -> Vec<PathBuf> {
    let below = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    below(dir).flat_map(|path| below(&path).chain([path.clone()]).collect::<Vec<_>>()).collect()
}
