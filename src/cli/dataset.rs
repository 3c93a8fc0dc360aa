//! `dataset`: describe, convert, split and fetch dataset files.

use super::failure::{self, Failure};
use super::flags::{OfDatasetFile, TypedSettings};
use super::output_file::{self, json_line};
use super::say::say;
use crate::analysis::dataset_info::{dataset_info, key, write_info};
use crate::analysis::fetch::{Fetched, address, cannot, existing, fetch, megabytes, next};
use crate::analysis::output_file::{Force, OutputFile, Start};
use crate::analysis::report::console::stdout;
use crate::analysis::report::{View, counted};
use crate::base::Question;
use crate::base::text::{shell_word, visible_line};
use crate::dataset::{Dataset, IdList, PUBLIC_SOURCES, PublicSource, ReadOptions, split};
use crate::net::redact;
use crate::runner::experiment::shipped;
use crate::runner::questions;
use serde::Serialize;
use serde_json::json;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Describe a file, and list duplicates and leaked exemplars.
    Info(InfoArgs),
    /// Convert a file to the canonical form, one JSON object per line.
    Convert(ConvertArgs),
    /// Draw a holdout: two lists of ids, for `run --ids`.
    Split(SplitArgs),
    /// Fetch a file from a public source, or list the sources.
    Fetch(FetchArgs),
}

#[derive(Debug, clap::Args)]
struct FileArgs {
    /// Dataset file, plain or gzipped, or a shipped sample such as datasets/sample.jsonl; `-` for standard input.
    file: PathBuf,
    #[command(flatten)]
    how: TypedSettings<OfDatasetFile>,
}

pub(super) async fn execute(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Info(args) => info(&args),
        Command::Convert(args) => convert(&args),
        Command::Split(args) => split_dataset(&args),
        Command::Fetch(args) => fetch_source(&args).await,
    }
}

impl FileArgs {
    /// Reads the file; records with the id of an earlier one may be left out even if bad records are not.
    fn load(&self, skip_repeated: bool) -> anyhow::Result<Dataset> {
        let options = ReadOptions { skip_repeated, ..questions::options(&self.how.dataset()?)? };
        let dataset = questions::load(&self.file, &options)?;
        let path = questions::path_or_stdin(&self.file);
        dataset.notes.iter().for_each(|note| say(format_args!("note: {path}: {note}")));
        dataset.skipped.iter().for_each(|skipped| say(format_args!("skipped: {skipped}")));
        Ok(dataset)
    }
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ConvertArgs {
    #[command(flatten)]
    file: FileArgs,
    /// File to write, which replaces an earlier one in this form once it is complete [default: stdout].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace any other file too; never the input.
    #[arg(long, requires = "out")]
    force: bool,
}

/// Endings of files that other programs would not read as lines of JSON.
const OTHER_FORMATS: [&str; 10] = ["csv", "tsv", "parquet", "arrow", "xlsx", "gz", "bz2", "zst", "xz", "zip"];

pub(super) fn convert(args: &ConvertArgs) -> anyhow::Result<u8> {
    let file = output_file::file_of(args.out.as_deref()).map(|path| OutputFile {
        path,
        what: "a dataset that wikitrail dataset convert wrote",
        is_earlier: &is_canonical,
        force: Force::Flag(args.force),
        inputs: vec![args.file.file.clone().into()],
    });
    file.as_ref().map_or(Ok(()), OutputFile::check)?;
    let ending = args.out.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
    if let Some(ending) = ending.filter(|ending| OTHER_FORMATS.iter().any(|other| ending.eq_ignore_ascii_case(other))) {
        let message = format!("--out ends in .{ending}, and convert writes one JSON object per line");
        return Err(Failure::usage(message, "name a file that ends in .jsonl"));
    }
    let dataset = args.file.load(false)?;
    let Some(file) = file else {
        question_lines(&dataset.questions, BufWriter::new(stdout()))?;
        return Ok(failure::OK);
    };
    output_file::write(&file, |file| Ok(question_lines(&dataset.questions, BufWriter::with_capacity(1 << 16, file))?))?;
    let (count, left_out) = (dataset.questions.len(), dataset.skipped.len());
    let and = if left_out == 0 { String::new() } else { format!(", {} left out", counted(left_out, "bad record")) };
    say(format_args!("{} written to {}{and}", counted(count, "question"), file.path.display()));
    Ok(failure::OK)
}

fn question_lines(questions: &[Arc<Question>], mut out: impl Write) -> io::Result<()> {
    questions.iter().try_for_each(|question| json_line(&mut out, &**question))?;
    out.flush()
}

/// Whether the first line is what would be written again: a dataset that people wrote in this form has other spaces, or
/// fewer fields.
fn is_canonical(start: &Start) -> bool {
    let question: Option<Question> = serde_json::from_str(start.line()).ok();
    question.and_then(|question| serde_json::to_string(&question).ok()).is_some_and(|line| line == start.line())
}

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

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct InfoArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Prompt whose exemplars to look for; may be repeated [default: the shipped prompts].
    #[arg(long, value_name = "FILE[#KEY]")]
    prompt: Vec<String>,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn info(args: &InfoArgs) -> anyhow::Result<u8> {
    let dataset = args.file.load(true)?;
    let prompts: Vec<String> =
        if args.prompt.is_empty() { shipped::prompt_files().map(str::to_owned).collect() } else { args.prompt.clone() };
    let info = dataset_info(questions::path_or_stdin(&args.file.file), &dataset, &prompts)?;
    let mut out = stdout();
    if args.json {
        json_line(&mut out, &info)?;
    } else {
        write_info(&info, View::of_stdout().width, &mut out)?;
    }
    Ok(failure::OK)
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct SplitArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Questions to hold out; fewer where questions that belong together do not fit.
    #[arg(long, value_name = "N")]
    holdout: usize,
    /// Seed of the draw.
    #[arg(long, value_name = "SEED")]
    seed: u64,
    /// Folder for the lists, `development.ids` and `holdout.ids`; existing ones are never replaced.
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Print what was written as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Written {
    dataset: String,
    /// Of the dataset's file.
    dataset_sha256: String,
    questions: usize,
    seed: u64,
    development: List,
    holdout: List,
}

#[derive(Debug, Serialize)]
struct List {
    file: String,
    questions: usize,
    /// Of the ids, each with a line end, without the comments of the file.
    sha256: String,
    #[serde(skip)]
    text: String,
}

pub(super) fn split_dataset(args: &SplitArgs) -> anyhow::Result<u8> {
    if args.holdout == 0 {
        return Err(Failure::usage("a holdout of 0 questions holds nothing", "name 1 or more with --holdout"));
    }
    let dataset = args.file.load(false)?;
    let questions = &dataset.questions;
    let keys: Vec<String> = questions.iter().map(|question| key(&question.question)).collect();
    let parts = split(questions, &keys, args.holdout, args.seed)
        .map_err(|error| Failure::bad_input(visible_line(&error.to_string(), 240), error.hint()))?;
    let list = |name: &str, positions: &[usize]| {
        let (drawn, all, of) = (positions.len(), questions.len(), visible_line(&dataset.name, 80));
        let ids = IdList {
            title: format!("{name}: {drawn} of {all} questions of {of}, seed {}", args.seed),
            dataset_sha256: dataset.sha256.clone(),
            ids: positions.iter().map(|&at| questions[at].id.clone()).collect(),
        };
        let file = args.out.join(format!("{name}.ids")).display().to_string();
        List { file, questions: drawn, sha256: ids.sha256(), text: ids.text() }
    };
    let written = Written {
        development: list("development", &parts.development),
        holdout: list("holdout", &parts.holdout),
        dataset: dataset.name.clone(),
        dataset_sha256: dataset.sha256.clone(),
        questions: questions.len(),
        seed: args.seed,
    };
    write_split(&args.out, &written)?;
    print_split(args, &written, &dataset)?;
    Ok(failure::OK)
}

/// Writes both lists, or none.
fn write_split(folder: &Path, written: &Written) -> anyhow::Result<()> {
    let lists = [&written.development, &written.holdout];
    if let Some(list) = lists.iter().find(|list| Path::new(&list.file).symlink_metadata().is_ok()) {
        return Err(split_exists(&list.file));
    }
    fs::create_dir_all(folder).map_err(|error| cannot("create", folder, &error))?;
    let mut created: Vec<&Path> = Vec::new();
    for list in lists {
        let path = Path::new(&list.file);
        let result = OpenOptions::new().write(true).create_new(true).open(path).and_then(|mut file| {
            created.push(path);
            file.write_all(list.text.as_bytes())?;
            file.sync_all()
        });
        if let Err(error) = result {
            // The first error is the one to report.
            for path in created {
                let _ = fs::remove_file(path);
            }
            return Err(match error.kind() {
                io::ErrorKind::AlreadyExists => split_exists(&list.file),
                _ => cannot("write", path, &error).into(),
            });
        }
    }
    Ok(())
}

fn split_exists(file: &str) -> anyhow::Error {
    let message = format!("`{}` already exists; a holdout that was drawn is not drawn again", visible_line(file, 200));
    Failure::bad_input(message, "use the lists that are there, or name another folder with --out")
}

fn print_split(args: &SplitArgs, written: &Written, dataset: &Dataset) -> io::Result<()> {
    let mut out = stdout();
    if args.json {
        return json_line(&mut out, written);
    }
    for list in [&written.development, &written.holdout] {
        let (file, questions) = (visible_line(&list.file, 200), counted(list.questions, "question"));
        writeln!(out, "{file}: {questions}, sha256 {}", list.sha256)?;
    }
    let (asked, drawn) = (args.holdout, written.holdout.questions);
    if drawn < asked {
        say(format_args!(
            "note: {drawn} instead of {asked} are held out; clusters and duplicates are kept in one list"
        ));
    }
    let left_out = dataset.skipped.len();
    if left_out > 0 {
        say(format_args!("note: {} in neither list", counted(left_out, "bad record")));
    }
    let (data, ids) = (shell_word(&args.file.file.display().to_string()), shell_word(&written.development.file));
    say(format_args!("next:\n  wikitrail run {data} --ids {ids}"));
    Ok(())
}
