//! `corpus`: build, freeze, describe, check, compare and publish frozen encyclopedias.

use super::config;
use super::failure::{self, Failure};
use super::flags::{OfSite, TypedSettings};
use super::output_file::{self, json_line};
use super::say::say;
use crate::analysis::output_file::{Force, OutputFile};
use crate::analysis::report::console::stdout;
use crate::analysis::report::corpus::{
    MAX_SHOWN, describe_side, megabytes, side_line, write_counts, write_difference, write_manifest,
};
use crate::analysis::report::progress::{Bar, stage_bar};
use crate::analysis::report::{counted, duration, thousands};
use crate::base::processors;
use crate::base::text::{closest, is_date, printable, shell_word, visible_line};
use crate::runner::corpus_inputs::{explain_build, format_names, input_format};
use crate::runner::{FreezeEnd, FreezePlan, FreezeProgress, FreezeSettings, Interrupts, explain_freeze};
use crate::wikipedia::corpus::{
    BuildSettings, Built, Counts, DiffError, Extent, Facts, Format, LEAST_MEMORY, Manifest, OnDuplicate, PackError,
    Progress, Side, build, diff, notice, pack, verify,
};
use crate::wikipedia::{CorpusError, LeftOut};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Build a corpus of any size from files in a public format, in a folder of its own.
    Build(BuildArgs),
    /// Add articles or redirects to a corpus: makes a new one.
    Add(AddArgs),
    /// Freeze the pages that a dataset, a run or a list of titles needs, from a live site.
    Freeze(FreezeArgs),
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
        Command::Build(args) => build_folder(&args.dir, None, &args.options),
        Command::Freeze(args) => freeze(args).await,
        Command::Info(args) => execute_info(&args),
        Command::Verify(args) => execute_verify(&args),
        Command::Add(args) => build_folder(&args.out, Some(&args.dir), &args.options),
        Command::Pack(args) => execute_pack(&args),
        Command::Diff(args) => execute_diff(&args),
    }
}

fn manifest(dir: &Path) -> anyhow::Result<Manifest> {
    check_is_built(dir)?;
    Manifest::read(dir).map_err(unusable)
}

fn check_is_built(dir: &Path) -> anyhow::Result<()> {
    if dir.join("corpus.toml").is_file() {
        return Ok(());
    }
    let shown = dir.display();
    let from = shell_word(&shown.to_string());
    let (message, hint) = if !dir.exists() {
        let folder = dir.to_str().and_then(|dir| dir.strip_prefix("corpus:")).filter(|dir| Path::new(dir).is_dir());
        let without = |folder: &str| format!("name the folder without `corpus:`: {}", shell_word(folder));
        (format!("`{shown}` does not exist"), folder.map_or_else(|| "check the path".to_owned(), without))
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
        notice(&args.dir, &manifest, &mut out).map_err(pack_failure)?;
        warn_of_license(&manifest);
    } else if args.json {
        json_line(&mut out, &manifest)?;
    } else {
        write_manifest(&manifest, &mut out)?;
    }
    Ok(failure::OK)
}

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

fn pack_failure(error: PackError) -> anyhow::Error {
    match error {
        PackError::Corpus(error) => unusable(error),
        PackError::Write(error) => error.into(),
    }
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
    let packed =
        output_file::write(&file, |file| pack(&args.dir, &args.out, file, &mut progress).map_err(pack_failure));
    bar.finish_and_clear();
    packed?;
    let size = args.out.metadata().map_or(0, |written| written.len());
    let file = shell_word(&args.out.display().to_string());
    let (articles, size, id) = (counted(manifest.articles, "article"), megabytes(size), visible_line(&manifest.id, 80));
    writeln!(stdout(), "wrote {file}: {articles}, {size}, id {id}")?;
    writeln!(stdout(), "next:\n  wikitrail corpus build DIR --from {file}")?;
    warn_of_license(&manifest);
    Ok(failure::OK)
}

fn files_of(dir: &Path) -> Vec<PathBuf> {
    let below = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    below(dir).flat_map(|path| below(&path).chain([path.clone()]).collect::<Vec<_>>()).collect()
}

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
    check_is_built(&args.dir)?;
    let differences = verify(&args.dir, args.deep).map_err(unusable)?;
    let mut out = stdout();
    let dir = shell_word(&args.dir.display().to_string());
    if differences.is_empty() {
        let manifest = manifest(&args.dir)?;
        let files = counted(manifest.files.len() as u64, "file");
        let size = size(&manifest);
        let articles =
            if args.deep { format!(", {} with this id", counted(manifest.articles, "article")) } else { String::new() };
        writeln!(
            out,
            "{dir}: {files}, {size}, as corpus.toml lists them{articles}\n  {}",
            visible_line(&manifest.id, 80)
        )?;
        return Ok(failure::OK);
    }
    for difference in &differences {
        writeln!(out, "{}", visible_line(difference, 400))?;
    }
    writeln!(out, "{dir} is not what was built: copy it again, or build it again")?;
    Ok(failure::DIFFERENCE)
}

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

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct BuildArgs {
    /// New folder (written as DIR.partial, then renamed).
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct AddArgs {
    /// The corpus to add to, which is not changed.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The new folder.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Clone, clap::Args)]
struct Options {
    /// File or folder to read; may be repeated. FORMAT is `hotpotqa`, `jsonl`, `dspy`, `dpr`, `wiki18`, `beir`, `kilt`,
    /// `fever`, `2wiki`, `dataset`, `parquet`, `zim`, `corpus` or `redirects`; without it, the first record and the name
    /// decide.
    #[arg(long, required = true, value_name = "[FORMAT:]PATH", value_parser = source)]
    from: Vec<(Option<Format>, PathBuf)>,
    /// What to call it [default: that of the input corpus, else the folder's name].
    #[arg(long)]
    name: Option<String>,
    /// How much of a page an article has: `lead`, `page` or `passages` [default: what the format has].
    #[arg(long, value_parser = extent)]
    extent: Option<Extent>,
    /// Code of the language, such as `en`.
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
    /// The date of the encyclopedia, such as 2017-10-01.
    #[arg(long, value_name = "DATE", value_parser = build_date)]
    as_of: Option<String>,
    /// License of the texts, such as CC-BY-SA-4.0, or `unknown` [default: as the publisher of a format says, else unknown].
    #[arg(long, value_name = "SPDX")]
    license: Option<String>,
    /// Authors to credit, such as "Wikipedia contributors".
    #[arg(long, value_name = "TEXT")]
    attribution: Option<String>,
    /// Changes made to the texts; some licenses require it.
    #[arg(long, value_name = "TEXT")]
    changes: Option<String>,
    /// Of articles with the same title, keep the one with the lowest page number or the one that is read last, or refuse to
    /// build.
    #[arg(long, value_name = "WHICH", default_value = "lowest-id", value_parser = ["lowest-id", "last", "error"])]
    on_duplicate: String,
    /// Threads that work at once [default: all processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Memory to sort in, such as 500M or 2G. It changes how long a build takes, and nothing else.
    #[arg(long, default_value = "1G", value_name = "SIZE", value_parser = memory)]
    memory: u64,
    /// Print the manifest and what was left out as one JSON object.
    #[arg(long)]
    json: bool,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
}

fn source(text: &str) -> Result<(Option<Format>, PathBuf), String> {
    if let Some((name, path)) = text.split_once(':') {
        if let Some(format) = Format::named(name) {
            let path = Some(path).filter(|path| !path.is_empty()).ok_or("a path is expected after the format")?;
            return Ok((Some(format), path.into()));
        }
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric()) && name.len() > 1;
        if plain && !Path::new(text).exists() {
            let known = Format::NAMED.iter().map(|format| format.name());
            let meant = closest(name, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(format!("`{name}` is not a format{meant}\nformats: {}", format_names()));
        }
    }
    Ok((None, text.into()))
}

fn build_date(text: &str) -> Result<String, String> {
    let expected = || "a date such as 2017-10-01, 2017-10 or 2017 is expected".to_owned();
    is_date(text).then(|| text.to_owned()).ok_or_else(expected)
}

fn extent(text: &str) -> Result<Extent, String> {
    let found = Extent::ALL.into_iter().find(|extent| extent.name() == text);
    found.ok_or_else(|| "`lead`, `page` or `passages` is expected".to_owned())
}

fn memory(text: &str) -> Result<u64, String> {
    let units = [('K', 10), ('M', 20), ('G', 30)];
    let upper = text.to_uppercase();
    let (number, shift) =
        units.iter().find_map(|(unit, shift)| Some((upper.strip_suffix(*unit)?, *shift))).unwrap_or((text, 0));
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    match bytes {
        Some(bytes) if bytes >= LEAST_MEMORY => Ok(bytes),
        Some(_) => Err(format!("at least {}M is needed", LEAST_MEMORY >> 20)),
        None => Err("a size such as 500M or 2G is expected".to_owned()),
    }
}

/// Builds `dir` of the inputs, and before them of the corpus that they are added to.
fn build_folder(dir: &Path, to: Option<&PathBuf>, args: &Options) -> anyhow::Result<u8> {
    let tell = |text| say(text);
    let inputs = to.map(|to| (&None, to)).into_iter().chain(args.from.iter().map(|(format, path)| (format, path)));
    let sources = inputs.map(|(format, path)| Ok((input_format(*format, path, &tell)?, path.clone())));
    let Options { name, language, as_of, license, attribution, changes, .. } = args.clone();
    let settings = BuildSettings {
        sources: sources.collect::<anyhow::Result<_>>()?,
        extent: args.extent,
        name,
        facts: Facts { language, as_of, license, attribution, changes },
        on_duplicate: match args.on_duplicate.as_str() {
            "last" => OnDuplicate::Last,
            "error" => OnDuplicate::Error,
            _ => OnDuplicate::LowestId,
        },
        threads: args.threads.map_or_else(processors, usize::from),
        memory: args.memory,
        adds: to.is_some(),
        ..BuildSettings::default()
    };
    let bar = stage_bar(args.quiet);
    let built = build(dir, &settings, &mut |progress| show_progress(&bar, progress));
    bar.finish_and_clear();
    let Built { manifest, notes } = built.map_err(|error| explain_build(&error, &args.from, &settings, &tell))?;
    say_left_out(&notes);
    let line = args.json.then(|| json!({ "manifest": manifest, "left_out": notes }));
    print_built(dir, &manifest, line)
}

/// Describes a corpus that was written, or prints the line that stands for it.
fn print_built(dir: &Path, manifest: &Manifest, line: Option<Value>) -> anyhow::Result<u8> {
    let mut out = stdout().styled();
    if let Some(line) = line {
        json_line(&mut out, &line)?;
        return Ok(failure::OK);
    }
    write_manifest(manifest, &mut out)?;
    let (dir, size) = (shell_word(&dir.display().to_string()), size(manifest));
    writeln!(out, "wrote {dir}, {size}\nnext:\n  wikitrail wiki search QUERY --wiki corpus:{dir}")?;
    Ok(failure::OK)
}

fn size(manifest: &Manifest) -> String {
    megabytes(manifest.files.values().map(|file| file.bytes).sum())
}

fn show_progress(bar: &Bar, progress: Progress) {
    bar.set_message(match progress {
        Progress::Reading(rows) => format!("reading, {}", counted(rows, "row")),
        Progress::Writing(done, all) => format!("writing, {} of {} articles", thousands(done), thousands(all)),
        Progress::Finishing => "putting the index together".to_owned(),
    });
    bar.tick();
}

fn say_left_out(notes: &[String]) {
    for note in notes {
        say(format_args!("left out: {note}"));
    }
}

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
    #[arg(long, value_name = "FILE")]
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
    #[arg(long, value_name = "DATE", value_parser = freeze_date)]
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
    site: TypedSettings<OfSite>,
}

/// A date, or a time in UTC, that is over.
fn freeze_date(text: &str) -> Result<String, String> {
    let begins = || format!("{text}T00:00:00Z").parse::<jiff::Timestamp>().ok();
    let time = text.parse::<jiff::Timestamp>().ok().or_else(begins);
    match time {
        None => Err("a date such as 2017-10-01 is expected".to_owned()),
        Some(time) if time > jiff::Timestamp::now() => Err("this date is yet to come".to_owned()),
        Some(time) => Ok(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
    }
}

async fn freeze(args: FreezeArgs) -> anyhow::Result<u8> {
    if args.dataset.is_empty() && args.run.is_empty() && args.titles.is_empty() {
        return Err(Failure::usage("nothing says which pages to freeze", "name --dataset, --run or --titles"));
    }
    let FreezeArgs { dry_run, json, quiet, dir, name, dataset: datasets, contexts, run: runs, titles, as_of, .. } =
        args;
    let (links, wiki) = (usize::from(args.links), config::completed(&args.site)?.variant()?);
    let settings = FreezeSettings { dir: dir.clone(), name, datasets, contexts, runs, titles, links, as_of, wiki };
    let (freezer, notes) = settings.prepare()?;
    notes.iter().for_each(say);
    let plan = freezer.plan();
    say_plan(plan, freezer.site(), links);
    if dry_run {
        freezer.leave().map_err(explain_freeze)?;
        if json {
            json_line(&mut stdout(), &plan)?;
        }
        return Ok(failure::OK);
    }
    let bar = stage_bar(quiet);
    let mut show = |progress: FreezeProgress| match progress {
        FreezeProgress::Stopping => {
            bar.suspend(|| say("stopping: waiting for what was asked; press Ctrl-C again to stop at once"));
        }
        FreezeProgress::Building(stage) => show_progress(&bar, stage),
        FreezeProgress::Fetching(done, all) => {
            bar.set_message(format!("fetching, {} of {}", thousands(done), counted(all, "title")));
            bar.tick();
        }
    };
    let mut interrupts = Interrupts::signals();
    let end = freezer.execute(async || interrupts.next().await, &mut show).await;
    bar.finish_and_clear();
    match end.map_err(explain_freeze)? {
        FreezeEnd::Done(built, left_out) => print_result(&dir, &built, &left_out, json),
        FreezeEnd::Interrupted(FreezePlan { titles, fetched, .. }) => {
            let (fetched, titles) = (thousands(fetched), counted(titles, "title"));
            say(format_args!("interrupted: {fetched} of {titles} fetched; run the same command to go on"));
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
    let links = if links > 0 {
        format!(", and two for each of up to {} a page", counted(links, "link"))
    } else {
        String::new()
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

fn print_result(dir: &Path, built: &Built, left_out: &BTreeSet<(LeftOut, String)>, json: bool) -> anyhow::Result<u8> {
    let Built { manifest, notes } = built;
    for reason in LeftOut::ALL {
        let titles: Vec<&String> = left_out.iter().filter(|(of, _)| *of == reason).map(|(_, title)| title).collect();
        let named: Vec<String> =
            titles.iter().take(MAX_LISTED).map(|title| format!("`{}`", printable(title, 80))).collect();
        let more = titles.len() - named.len();
        let more = if more > 0 { format!(" and {} more", thousands(more)) } else { String::new() };
        if !named.is_empty() {
            say(format_args!("left out, {}: {}{more}", reason.name(), named.join(", ")));
        }
    }
    say_left_out(notes);
    if manifest.license.id == "unknown" {
        say("warning: the site does not say under which license its texts are");
    }
    let title = |(reason, title): &(LeftOut, String)| json!({ "title": title, "reason": reason });
    let titles = || left_out.iter().map(title).collect::<Vec<_>>();
    let line = json.then(|| json!({ "manifest": manifest, "left_out": titles(), "notes": notes }));
    print_built(dir, manifest, line)
}

#[cfg(test)]
mod tests {
    use super::{build_date, freeze_date, memory, source};
    use crate::wikipedia::corpus::Format;

    #[test]
    fn inputs_and_sizes_are_read_or_refused_in_words() {
        assert_eq!(source("jsonl:a:b"), Ok((Some(Format::Jsonl), "a:b".into())));
        assert_eq!(source("C:\\x"), Ok((None, "C:\\x".into())));
        assert_eq!(source("jsonl:"), Err("a path is expected after the format".to_owned()));
        assert_eq!(source("2wiki:a"), Ok((Some(Format::Wiki2), "a".into())));
        assert!(source("wet:a").is_err_and(
            |error| error.starts_with("`wet` is not a format") && error.contains("\nformats: `hotpotqa`, ")
        ));
        assert_eq!([memory("64m"), memory("2G")], [Ok(64 << 20), Ok(2 << 30)]);
        for (text, taken) in [
            ("2017-10-01", true),
            ("2017", true),
            ("2017-10", true),
            ("October 2017", false),
            ("", false),
            ("1.1.2017", false),
        ] {
            assert_eq!(build_date(text).is_ok(), taken, "{text}");
        }
        assert_eq!(memory("15M"), Err("at least 16M is needed".to_owned()));
        for text in ["", "G", "-1G", "1.5G", "99999999999G"] {
            assert!(memory(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_date_is_its_beginning_in_utc_and_is_over() {
        assert_eq!(freeze_date("2017-10-01").as_deref(), Ok("2017-10-01T00:00:00Z"));
        assert_eq!(freeze_date("2017-10-01T12:30:00+02:00").as_deref(), Ok("2017-10-01T10:30:00Z"));
        for (text, told) in [("2999-01-01", "yet to come"), ("2017", "is expected"), ("2017-13-01", "is expected")] {
            assert!(freeze_date(text).is_err_and(|error| error.contains(told)), "{text}");
        }
    }
}
