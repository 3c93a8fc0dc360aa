//! `report`: runs as a page in one file, and their charts as SVG.

use super::failure::{self, Failure};
use super::output_file;
use super::say::say;
use crate::analysis::output_file::{Force, Input, OutputFile, Start, of_run};
use crate::analysis::report::console::stdout;
use crate::analysis::report::page::{Episodes, Limits, figures, is_figure, is_page, page};
use crate::analysis::report::progress::{Bar, stage_bar};
use crate::analysis::results::{Results, RunRef, runs};
use crate::base::text::{counted, shell_word, visible_line};
use crate::runner::store::RunFolder;
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Runs, variants of runs (`RUN@VARIANT`), or folders that contain runs; a run means all its variants.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    /// File to write, which ends in .html; `-` is stdout [default: report.html].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also write the charts as SVG files into this folder; without --out, write nothing else.
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Replace an existing file, whatever it holds [default: only an earlier page or chart]; never an input.
    #[arg(long)]
    force: bool,
    /// Episodes whose steps the page has; the scores are always those of all.
    #[arg(long, value_enum, default_value_t = Choice::All)]
    episodes: Choice,
    /// Largest size of these steps, such as 50MB; beyond it the page has those of flipped and wrong answers first.
    #[arg(long, value_name = "SIZE", default_value = "50MB", value_parser = size)]
    max_size: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Choice {
    /// All episodes.
    All,
    /// Those of questions that a variant does not get right.
    Wrong,
    /// Those of questions on which variants differ.
    Flips,
    /// None.
    None,
}

/// What `run --report` puts into the page.
const USUAL: Limits = Limits { episodes: Episodes::All, most: 50_000_000 };

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let default = args.figures.is_none().then(|| PathBuf::from("report.html"));
    let out = args.out.clone().or(default);
    let runs = runs(&args.runs)?;
    let (force, inputs) = (Force::Flag(args.force), inputs(&runs));
    let is_page = |start: &Start| is_page(&start.text);
    let file = out.as_deref().map(|path| page_file(path, force, inputs.clone(), &is_page)).transpose()?;
    let bar = stage_bar(false);
    bar.set_message("reading runs");
    let results = Results::of(&runs, true)?;
    bar.finish_and_clear();
    if results.groups.is_empty() {
        let message = "no run has a finished episode yet";
        return Err(Failure::bad_input(message, "finish a run with --resume, or name another run"));
    }
    results.notes.iter().for_each(say);
    if let Some(folder) = &args.figures {
        write_figures(&results, folder, force, &inputs)?;
    }
    let Some(file) = file else { return Ok(failure::OK) };
    let episodes = match args.episodes {
        Choice::All => Episodes::All,
        Choice::Wrong => Episodes::Wrong,
        Choice::Flips => Episodes::Flips,
        Choice::None => Episodes::None,
    };
    write(&results, &Limits { episodes, most: args.max_size }, &file, &stage_bar(false))?;
    Ok(failure::OK)
}

fn inputs(runs: &[RunRef]) -> Vec<Input> {
    let manifests = runs.iter().filter_map(|run| RunFolder::at(&run.path).manifest().ok());
    manifests.flat_map(|manifest| of_run(&manifest)).chain(runs.iter().map(|run| run.path.clone().into())).collect()
}

/// Endings of files that other commands write, and what to type for them; `{}` is the file.
const OTHER_ENDINGS: &[(&[&str], &str)] = &[
    (&["pdf"], "write a page that ends in .html, open it in a browser and print it to PDF"),
    (&["csv", "jsonl", "gz", "parquet"], "write a table with `wikitrail export RUN --out {}`"),
    (&["md", "tex", "txt", "json"], "write tables with `wikitrail compare RUN --out {}`"),
    (&["svg", "png"], "write the charts as SVG with `wikitrail report RUN --figures FOLDER`"),
];

/// The file of a page, which must end in .html and replace nothing but an earlier page.
fn page_file<'a>(
    path: &'a Path,
    force: Force,
    inputs: Vec<Input>,
    is_earlier: &'a dyn Fn(&Start) -> bool,
) -> anyhow::Result<OutputFile<'a>> {
    let file = OutputFile { path, what: "a page that wikitrail report wrote", is_earlier, force, inputs };
    // Standard output, pipes and devices have no ending.
    if path == Path::new("-") || path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Ok(file);
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if !["html", "htm"].contains(&ending.as_str()) {
        let name = path.display().to_string();
        let other = OTHER_ENDINGS.iter().find(|(endings, _)| endings.contains(&ending.as_str()));
        let hint = other.map_or("name a file that ends in .html", |(_, hint)| *hint);
        let message = format!("`{}` does not end in .html, and a report is a page of HTML", visible_line(&name, 300));
        return Err(Failure::usage(message, hint.replace("{}", &visible_line(&shell_word(&name), 300))));
    }
    file.check()?;
    Ok(file)
}

/// Refuses a path at which `run --report` cannot write its page, before anything is asked.
pub(super) fn check(out: &Path) -> anyhow::Result<()> {
    of_run_file(out, &|start| is_page(&start.text)).map(drop)
}

fn of_run_file<'a>(out: &'a Path, is_earlier: &'a dyn Fn(&Start) -> bool) -> anyhow::Result<OutputFile<'a>> {
    let instead = "name another file with --report, or write the page later: wikitrail report RUN --out FILE";
    page_file(out, Force::Never(instead), Vec::new(), is_earlier)
}

pub(super) fn of_runs<'a>(ended: impl Iterator<Item = &'a Path>, out: &Path) -> anyhow::Result<()> {
    let ended: Vec<RunRef> = ended.map(|path| RunRef { path: path.to_owned(), variant: None }).collect();
    let results = Results::of(&ended, true)?;
    if results.groups.is_empty() {
        say("note: no page is written, as no episode has ended");
        return Ok(());
    }
    let is_page = |start: &Start| is_page(&start.text);
    write(&results, &USUAL, &of_run_file(out, &is_page)?, &Bar::hidden())
}

fn write(results: &Results, limits: &Limits, file: &OutputFile<'_>, bar: &Bar) -> anyhow::Result<()> {
    let (page, out) = (page(results, limits, None, bar)?, file.path);
    bar.finish_and_clear();
    if out == Path::new("-") {
        stdout().write_all(page.html.as_bytes())?;
        return Ok(());
    }
    output_file::write(file, |mut file| Ok(file.write_all(page.html.as_bytes())?))?;
    let left_out = Some(page.left_out).filter(|left_out| *left_out > 0);
    let left_out = left_out.map(|n| format!(", without the steps of {}", counted(n, "question"))).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a size for people")]
    let size = page.html.len() as f64 / 1e6;
    let name = shell_word(&out.display().to_string());
    let questions = counted(page.questions, "question");
    say(format_args!("{questions} written to {name} ({size:.1} MB{left_out}); open it in a browser"));
    Ok(())
}

fn write_figures(results: &Results, folder: &Path, force: Force, inputs: &[Input]) -> anyhow::Result<()> {
    let cannot = |error: std::io::Error| {
        let message = format!("cannot create `{}`: {error}", folder.display());
        Failure::unexpected(message, "name a folder that can be created, with --figures")
    };
    std::fs::create_dir_all(folder).map_err(cannot)?;
    let files = figures(results);
    for (name, text) in &files {
        let is_earlier = |start: &Start| is_figure(&start.text);
        let (path, what, inputs) = (&*folder.join(name), "a chart that wikitrail report wrote", inputs.to_vec());
        let file = OutputFile { path, what, is_earlier: &is_earlier, force, inputs };
        output_file::write(&file, |mut file| Ok(file.write_all(text.as_bytes())?))?;
    }
    say(format_args!("{} written to {}", counted(files.len(), "chart"), shell_word(&folder.display().to_string())));
    Ok(())
}

/// A size such as `50MB`, `500 kB` or a number of bytes.
fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let factor = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        _ => return Err("a size is a number with kB, MB or GB".to_owned()),
    };
    let number: f64 = text[..digits].parse().map_err(|_| "a size is a number with kB, MB or GB".to_owned())?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative; a larger one is the largest"
    )]
    Ok((number * factor) as u64)
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        assert_eq!(
            ["50MB", "1.5 kB", "12", "2gb"].map(|text| size(text).expect("a size")),
            [50_000_000, 1500, 12, 2_000_000_000]
        );
        assert!(["", "MB", "5 MiB", "-1"].iter().all(|text| size(text).is_err()));
    }
}
