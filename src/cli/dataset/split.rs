//! `dataset split`: two lists of ids, to work on and to hold out.

use super::FileArgs;
use crate::analysis::fetch::cannot;
use crate::analysis::leakage::key;
use crate::analysis::report::console::stdout;
use crate::analysis::report::counted;
use crate::base::text::{shell_word, visible_line};
use crate::cli::failure::{self, Failure};
use crate::cli::output_file::json_line;
use crate::cli::say::say;
use crate::dataset::{Dataset, IdList, split};
use serde::Serialize;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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
    let dataset = args.file.load()?;
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
    Failure::bad_input(
        format!("`{}` already exists; a holdout that was drawn is not drawn again", visible_line(file, 200)),
        "use the lists that are there, or name another folder with --out",
    )
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
    let word = |path: &str| shell_word(path);
    let (data, ids) = (word(&args.file.file.display().to_string()), word(&written.development.file));
    say(format_args!("next:\n  wikitrail run {data} --ids {ids}"));
    Ok(())
}
