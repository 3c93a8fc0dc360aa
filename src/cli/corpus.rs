//! `corpus`: build, freeze, describe, check, compare and publish frozen encyclopedias.

mod build;
mod freeze;

use super::failure::{self, Failure};
use super::output_file::{self, json_line};
use super::say::say;
use crate::analysis::output_file::{Force, OutputFile};
use crate::analysis::report::console::stdout;
use crate::analysis::report::corpus::{
    MAX_SHOWN, describe_side, megabytes, side_line, write_counts, write_difference, write_manifest,
};
use crate::analysis::report::progress::stage_bar;
use crate::analysis::report::{counted, thousands};
use crate::base::text::{shell_word, visible_line};
use crate::wikipedia::CorpusError;
use crate::wikipedia::corpus::{Counts, DiffError, Manifest, PackError, Packing, Side, diff, notice, pack, verify};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Build a corpus of any size from files in a public format, in a folder of its own.
    Build(build::BuildArgs),
    /// Add articles or redirects to a corpus: makes a new one.
    Add(build::AddArgs),
    /// Freeze the pages that a dataset, a run or a list of titles needs, from a live site.
    Freeze(freeze::FreezeArgs),
    /// Describe a corpus: what it is, where it came from, what was left out.
    Info(InfoArgs),
    /// Check that a corpus is what was built.
    Verify(VerifyArgs),
    /// Write a corpus as one file of JSON lines, to be read, compared and published; `build` makes the same corpus of it.
    Pack(PackArgs),
    /// Compare two corpora by title: articles that were added, are gone, have changed, and redirects.
    Diff(DiffArgs),
}

pub(super) async fn execute(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Build(args) => build::build_new(&args),
        Command::Freeze(args) => freeze::freeze(args).await,
        Command::Info(args) => execute_info(&args),
        Command::Verify(args) => execute_verify(&args),
        Command::Add(args) => build::add(&args),
        Command::Pack(args) => execute_pack(&args),
        Command::Diff(args) => execute_diff(&args),
    }
}

fn manifest(dir: &Path) -> anyhow::Result<Manifest> {
    if dir.join("corpus.toml").is_file() {
        return Manifest::read(dir).map_err(unusable);
    }
    let shown = dir.display();
    let from = shell_word(&shown.to_string());
    let (message, hint) = if !dir.exists() {
        (format!("`{shown}` does not exist"), "check the path".to_owned())
    } else if dir.is_dir() {
        let message = format!("`{shown}` is not a built corpus: it has no corpus.toml");
        (message, format!("build one with `wikitrail corpus build NEW --from {from}`"))
    } else {
        let message = format!("`{shown}` is a file, not a corpus folder");
        (message, format!("`wikitrail corpus build NEW --from {from}` makes a corpus from it"))
    };
    Err(Failure::bad_input(message, hint))
}

/// Warns those who are about to publish texts whose license nobody gave.
fn warn_of_license(manifest: &Manifest) {
    if !manifest.license.is_known() {
        say("warning: the license is unknown; build again with --license and --attribution before publishing");
    }
}

fn unusable(error: CorpusError) -> anyhow::Error {
    let hint = error.hint().unwrap_or("is there enough memory?");
    Failure::bad_input(error, hint)
}

// `corpus info`: what a corpus is.

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct InfoArgs {
    /// Folder that `corpus build` wrote.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Print the manifest as JSON.
    #[arg(long)]
    json: bool,
    /// Print the notice that the license asks for: whom to name, what was changed, and every page with its revision.
    #[arg(long, conflicts_with = "json")]
    attribution: bool,
}

fn execute_info(args: &InfoArgs) -> anyhow::Result<u8> {
    let manifest = manifest(&args.dir)?;
    let mut out = stdout().styled();
    if args.attribution {
        notice(&args.dir, &manifest, &mut out).map_err(unusable)??;
        warn_of_license(&manifest);
    } else if args.json {
        json_line(&mut out, &manifest)?;
    } else {
        write_manifest(&manifest, &mut out)?;
    }
    Ok(failure::OK)
}

// `corpus pack`: a corpus as one file.

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

fn execute_pack(args: &PackArgs) -> anyhow::Result<u8> {
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
    let packed = output_file::write(&file, |file| {
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

fn files_of(dir: &Path) -> Vec<PathBuf> {
    let below = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    below(dir).flat_map(|path| below(&path).chain([path.clone()]).collect::<Vec<_>>()).collect()
}

// `corpus verify`: whether a folder is what was built.

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct VerifyArgs {
    /// Folder that `corpus build` wrote.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Also read every article, look up every name, and compute the identity anew.
    #[arg(long)]
    deep: bool,
}

fn execute_verify(args: &VerifyArgs) -> anyhow::Result<u8> {
    let manifest = manifest(&args.dir)?;
    let differences = verify(&args.dir, args.deep).map_err(unusable)?;
    let mut out = stdout();
    let dir = shell_word(&args.dir.display().to_string());
    if differences.is_empty() {
        let files = counted(manifest.files.len() as u64, "file");
        let size = megabytes(manifest.files.values().map(|file| file.bytes).sum());
        let articles =
            if args.deep { format!(", {} with this id", counted(manifest.articles, "article")) } else { String::new() };
        writeln!(out, "{dir}: {files}, {size}, as they were built{articles}\n  {}", visible_line(&manifest.id, 80))?;
        return Ok(failure::OK);
    }
    for difference in &differences {
        writeln!(out, "{}", visible_line(difference, 400))?;
    }
    writeln!(out, "{dir} is not what was built: copy it again, or build it again")?;
    Ok(failure::DIFFERENCE)
}

// `corpus diff`: what differs between two corpora.

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

fn execute_diff(args: &DiffArgs) -> anyhow::Result<u8> {
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
