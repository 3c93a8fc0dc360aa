//! `corpus`: build, freeze, describe, check, compare and publish frozen encyclopedias.

mod build;
mod freeze;

use super::failure::{self, Failure};
use super::output_file::{self, json_line};
use super::say::say;
use crate::analysis::output_file::{Force, OutputFile};
use crate::analysis::report::console::stdout;
use crate::analysis::report::progress::stage_bar;
use crate::analysis::report::{View, counted, labelled, thousands, yellow};
use crate::base::text::{shell_word, visible_line};
use crate::wikipedia::CorpusError;
use crate::wikipedia::corpus::{
    Counts, DiffError, Difference, Freeze, Manifest, NameCounts, PackError, Packing, Side, diff, notice, pack, verify,
};
use serde_json::json;
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
        Command::Build(args) => build::execute(&args),
        Command::Freeze(args) => freeze::execute(args).await,
        Command::Info(args) => execute_info(&args),
        Command::Verify(args) => execute_verify(&args),
        Command::Add(args) => build::add(&args),
        Command::Pack(args) => execute_pack(&args),
        Command::Diff(args) => execute_diff(&args),
    }
}

/// The manifest of a folder, which has to be there.
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

fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", crate::analysis::report::thousands(bytes / 1_000_000), bytes % 1_000_000 / 100_000)
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

/// Writes what a corpus is, for people.
fn write_manifest(manifest: &Manifest, out: &mut impl Write) -> io::Result<()> {
    let Manifest { name, build, .. } = manifest;
    writeln!(out, "{}: {}", visible_line(name, 80), manifest.contents())?;
    let width = View::of_stdout().width;
    let mut row = |name: &str, value: String| out.write_all(labelled(name, &value, 9, width).as_bytes());
    row("id", visible_line(&manifest.id, 80))?;
    for (name, fact) in [("language", &manifest.language), ("as of", &manifest.as_of)] {
        if let Some(fact) = fact {
            row(name, visible_line(fact, 80))?;
        }
    }
    write_terms(manifest, &mut row)?;
    for source in &manifest.sources {
        let skipped = source.skipped;
        let counts = [
            (skipped.duplicate_title, "with the title of another"),
            (skipped.repeated, "repeated"),
            (skipped.empty, "empty"),
            (skipped.bad, "unreadable"),
        ];
        let format = visible_line(&source.format, 20);
        row("source", format!("{} ({format}), {}", visible_line(&source.file, 80), counted(source.rows, "row")))?;
        let skipped = left_out_counts(&counts);
        if !skipped.is_empty() {
            row("", skipped)?;
        }
    }
    write_names(manifest, &mut row)?;
    let bytes = manifest.files.values().map(|file| file.bytes).sum();
    row("size", format!("{} for {} of text", megabytes(bytes), megabytes(manifest.text_bytes)))?;
    row("built by", format!("wikitrail {}", visible_line(&build.wikitrail, 20)))
}

/// Says which names lead to articles, and which do not.
fn write_names(manifest: &Manifest, row: &mut impl FnMut(&str, String) -> io::Result<()>) -> io::Result<()> {
    row(
        "names",
        format!(
            "{}, {}",
            counted(manifest.redirects, "redirect"),
            counted(manifest.disambiguations, "disambiguation page")
        ),
    )?;
    let NameCounts { redirect_is_title, redirect_twice, redirect_to_nothing, redirect_circle, collisions } =
        manifest.names;
    let dropped = [
        (
            redirect_is_title,
            number_form(redirect_is_title, "has the name of an article", "have the name of an article"),
        ),
        (redirect_twice, number_form(redirect_twice, "has another target already", "have another target already")),
        (redirect_to_nothing, number_form(redirect_to_nothing, "has no target", "have no target")),
        (redirect_circle, "in a circle"),
    ];
    let dropped = left_out_counts(&dropped);
    if !dropped.is_empty() {
        row("", format!("redirects {dropped}"))?;
    }
    if collisions > 0 {
        let differ = number_form(collisions, "differs", "differ");
        row("", format!("{} {differ} from another only in case, accents or punctuation", counted(collisions, "name")))?;
    }
    Ok(())
}

/// Says under which terms the texts may be used, and where frozen ones are from.
fn write_terms(manifest: &Manifest, row: &mut impl FnMut(&str, String) -> io::Result<()>) -> io::Result<()> {
    let license = &manifest.license;
    let known = visible_line(&license.id, 80);
    row("license", if license.is_known() { known } else { yellow(&known) })?;
    for (name, text) in [("authors", &license.attribution), ("changes", &license.changes)] {
        if let Some(text) = text {
            row(name, visible_line(text, 200))?;
        }
    }
    manifest.freeze.as_ref().map_or(Ok(()), |freeze| write_freeze(freeze, manifest.articles, row))
}

/// Says what was frozen, and how far it can be trusted.
fn write_freeze(
    freeze: &Freeze,
    articles: u32,
    row: &mut impl FnMut(&str, String) -> io::Result<()>,
) -> io::Result<()> {
    let marks = if freeze.footnotes { ", with footnote marks" } else { "" };
    row(
        "frozen",
        format!("{}; read as in --compat {}{marks}", visible_line(&freeze.fidelity, 120), freeze.compat.name()),
    )?;
    let gold = freeze.gold_pages;
    if gold > 0 {
        let only = if gold >= articles { ": an agent cannot go wrong here" } else { "" };
        let share = 100 * u64::from(gold) / u64::from(articles.max(1));
        row("gold", format!("{} of {} ({share} %){only}", thousands(gold), counted(articles, "article")))?;
    }
    if freeze.searches > 0 {
        row("searches", format!("{} answered as the site did", thousands(freeze.searches)))?;
    }
    let counts: Vec<(u64, &str)> = freeze.left_out.iter().map(|(reason, count)| (*count, reason.words())).collect();
    let titles = left_out_counts(&counts);
    if titles.is_empty() { Ok(()) } else { row("", format!("titles {titles}")) }
}

fn number_form<'a>(count: u64, one: &'a str, several: &'a str) -> &'a str {
    if count == 1 { one } else { several }
}

fn left_out_counts(counts: &[(u64, &str)]) -> String {
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", thousands(*count)))
        .collect();
    if counts.is_empty() { String::new() } else { format!("left out: {}", counts.join(", ")) }
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

/// The files of the corpus that is packed.
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
