//! `compare`: variants of one or more runs, question by question.

use super::failure::Failure;
use super::flags::Suggested;
use super::say::say;
use super::score::MetricFiles;
use super::{failure, output_file};
use crate::analysis::compare::conditions::ConditionResult;
use crate::analysis::compare::{RESAMPLES, SEED};
use crate::analysis::compare_request::{Bounds, CompareRequest, ComparedRuns, parsed_bounds, planned_sources};
use crate::analysis::export::{figures_csv, is_figures_header};
use crate::analysis::output_file::{Force, Input, OutputFile, Start, of_run};
use crate::analysis::report::View;
use crate::analysis::report::comparison::{folded, is_title, sheet};
use crate::analysis::report::console::{stdout, stdout_is_terminal};
use crate::analysis::report::paper_table::paper_table;
use crate::analysis::report::sheet::{latex_after, to_markdown, to_terminal};
use crate::analysis::results::{Field, JudgedRuns, runs};
use crate::base::text::visible_line;
use crate::runner::store::RunFolder;
use crate::scoring::figure;
use clap::builder::StringValueParser;
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct Args {
    /// Runs, variants of runs (`RUN@VARIANT`), or folders that contain runs; a run means all its variants.
    #[arg(value_name = "RUN", required_unless_present_any = ["from_csv", "plan"], conflicts_with = "from_csv")]
    runs: Vec<String>,
    /// Compare tables instead, such as exports: one file per variant, or a column `variant`, with columns `id`, `em`, `f1`,
    /// `repeat`, any figures, and any fields for --by and --cluster.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["metric_file", "metric_command"])]
    from_csv: Vec<PathBuf>,
    /// Variant to compare all others with [default: the experiment's contrasts or baseline, else all pairs].
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// Compare the values of this setting, such as prompt, with all other settings held equal: each question's difference is the
    /// mean over the variants that differ in it alone. Three values or more also get their spread.
    #[arg(long, value_name = "SETTING", conflicts_with_all = ["from_csv", "flips", "stale_gold", "holdout", "dev", "plan"])]
    within: Option<String>,
    /// Compare only these two variants, as B - A; may be repeated. Holm's correction covers the pairs named.
    #[arg(long, value_names = ["A", "B"], num_args = 2, conflicts_with = "baseline")]
    contrast: Vec<String>,
    /// Print all pairs on a terminal, too [default: of more than six variants, those with the baseline or the best one].
    #[arg(long)]
    all_pairs: bool,
    /// Figures to compare, such as em, f1, steps, calls, tokens or cost.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "em,f1", value_parser = figures(), hide_possible_values = true)]
    metric: Vec<String>,
    /// Smallest and largest value of a figure that has none of its own, such as `tokens=0..20000`; may be repeated [default: 0..1
    /// for a column or metric of your own whose values all lie there].
    #[arg(long, value_name = "NAME=LOW..HIGH", value_parser = parsed_bounds)]
    bounds: Vec<Bounds>,
    #[command(flatten)]
    metrics: MetricFiles,
    /// Break down by `type`, `level`, `hops`, `answer_kind`, `cluster`, `page`, or a field of `meta`.
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    by: Vec<String>,
    /// Questions that agree in this field are not independent; `none` treats every question as independent.
    #[arg(long, value_name = "FIELD", default_value = "cluster")]
    cluster: String,
    /// The holdout list of the split whose questions these runs were asked, where their records do not lead to it.
    #[arg(long, value_name = "FILE", conflicts_with = "from_csv")]
    holdout: Option<PathBuf>,
    /// Runs of the same variants over the development part of the split: their differences are shown beside those on the
    /// holdout.
    #[arg(long, value_name = "RUN", num_args = 1.., conflicts_with = "from_csv")]
    dev: Vec<String>,
    /// Show the smallest difference that this many questions detect with 80 % power, and what it takes to see 1, 3 and 5
    /// points.
    #[arg(long)]
    mde: bool,
    /// List the flipped answers, right in one variant and wrong in the other: the first N of each pair, or `all` [default
    /// N: 20].
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "20", value_parser = most)]
    flips: Option<usize>,
    /// List flipped answers whose gold answer is no longer on its gold pages in the newer corpus.
    #[arg(long, conflicts_with = "from_csv")]
    stale_gold: bool,
    /// Coverage of the intervals; differences are significant at alpha = 1 - LEVEL.
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    level: f64,
    /// Seed of bootstraps and permutation tests.
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,
    /// Resamples of every bootstrap and permutation test.
    #[arg(long, value_name = "N", default_value_t = RESAMPLES)]
    resamples: usize,
    /// Format of the output [default: what the ending of --out says, table on stdout].
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The same as --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// File to write, such as x.json, x.csv, x.md, x.tex or x.txt [default: stdout].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace an existing file, whatever it holds [default: only an earlier comparison]; never an input.
    #[arg(long, requires = "out")]
    force: bool,
    /// Exit with code 5 if this condition holds, such as "em(new) < em(base)"; may be repeated.
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    fail_if: Vec<String>,
    /// Only check these arguments against a plan that `wikitrail run … --dry-run --json` printed: figures, variants and
    /// conditions. RUN are other runs that the planned one is compared with.
    #[arg(long, value_name = "FILE", conflicts_with = "from_csv")]
    plan: Option<PathBuf>,
}

fn most(text: &str) -> Result<usize, String> {
    if text == "all" { Ok(usize::MAX) } else { text.parse().map_err(|_| "a number or `all` is expected".to_owned()) }
}

fn figures() -> Suggested<StringValueParser> {
    let words = || figure::ALL.iter().map(|figure| figure.name).collect();
    Suggested { parser: StringValueParser::new(), words }
}

impl Args {
    fn format(&self) -> anyhow::Result<Format> {
        let typed = if self.json { Some(Format::Json) } else { self.format };
        output_file::format(typed, self.out.as_deref(), Format::ENDINGS, Format::Table)
    }

    /// What is asked for; [`Self::read_metrics`] adds the metrics.
    fn request(&self) -> CompareRequest<'static> {
        CompareRequest {
            runs: self.runs.clone(),
            tables: self.from_csv.clone(),
            baseline: self.baseline.clone(),
            within: self.within.clone(),
            contrast: self.contrast.clone(),
            metric: self.metric.clone(),
            bounds: self.bounds.clone(),
            joined: Vec::new(),
            by: self.by.iter().map(|name| Field::parse(name)).collect(),
            cluster: (self.cluster != "none").then(|| Field::parse(&self.cluster)),
            holdout: self.holdout.clone(),
            dev: self.dev.clone(),
            mde: self.mde,
            flips: self.flips,
            stale_gold: self.stale_gold,
            level: self.level,
            seed: self.seed,
            resamples: self.resamples,
            conditions: self.fail_if.clone(),
            tell: &|text| say(text),
        }
    }

    /// Reads the metrics that are not figures of every run, and the verdicts of the runs if they are asked for.
    fn read_metrics(&self, request: &mut CompareRequest<'_>) -> anyhow::Result<JudgedRuns> {
        let typed_runs = if self.from_csv.is_empty() { runs(&self.runs)? } else { Vec::new() };
        let mut paths: Vec<&Path> = typed_runs.iter().map(|run| run.path.as_path()).collect();
        paths.dedup();
        let files = self.metrics.read(&paths)?;
        let (verdicts, joined) = request.judges_and_metrics(&paths, files)?;
        request.joined = joined;
        Ok(verdicts)
    }
}

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let mut request = args.request();
    let pairs = request.pairs()?;
    if let Some(plan) = &args.plan {
        let planned = planned_sources(plan)?;
        args.read_metrics(&mut request)?;
        request.check_plan(pairs, planned)?;
        return Ok(failure::OK);
    }
    // A value of --flips needs `=`, as a run after it would be its value otherwise.
    let is_value = |run: &&String| most(run).is_ok() && !Path::new(run).exists();
    if let Some(value) = args.runs.iter().find(is_value).filter(|_| args.flips.is_some()) {
        return Err(Failure::usage(format!("`{value}` is not a run"), format!("write --flips={value}")));
    }
    let format = args.format()?;
    check_output(args, format)?;
    let verdicts = args.read_metrics(&mut request)?;
    // A table of figures has all flips, as JSON has.
    let mut compared = request.compare_runs(pairs, &verdicts, format == Format::Csv)?;
    write_output(args, format, &compared)?;
    let is_shown = match format {
        Format::Table => true,
        Format::Markdown | Format::Latex => stdout_is_terminal(),
        Format::Csv | Format::Json => false,
    };
    compared.note_look(args.out.is_none() && is_shown, request.tell);
    Ok(print_conditions(&compared.extras.judged))
}

/// Prints which conditions hold and which cannot be decided, and returns the exit code.
fn print_conditions(judged: &[ConditionResult]) -> u8 {
    let mut code = failure::OK;
    for judged in judged {
        let text = visible_line(&judged.condition, 300);
        match judged.holds {
            Some(false) => {}
            Some(true) => {
                let values: Vec<String> =
                    judged.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                say(format_args!("--fail-if holds: {text}: {}", visible_line(&values.join(", "), 500)));
                code = failure::DIFFERENCE;
            }
            None => {
                let absent = visible_line(&judged.absent.join(", "), 500);
                say(format_args!("--fail-if cannot be decided: {text}: nothing was measured for {absent}"));
                // A condition that holds matters more.
                code = if code == failure::OK { failure::NOT_MEASURED } else { code };
            }
        }
    }
    code
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Tables for a terminal.
    Table,
    /// GitHub-flavoured Markdown.
    Markdown,
    /// LaTeX tables with the rules of booktabs.
    Latex,
    /// Comma-separated values, one row a figure.
    Csv,
    /// JSON with every figure in full precision.
    Json,
}

impl Format {
    const ENDINGS: &[(&str, &[Self])] = &[
        (".txt", &[Self::Table]),
        (".md", &[Self::Markdown]),
        (".tex", &[Self::Latex]),
        (".csv", &[Self::Csv]),
        (".json", &[Self::Json]),
    ];

    /// Whether a file that begins like this is an earlier comparison in this format.
    fn is_earlier(self, start: &Start) -> bool {
        let text = start.text.as_str();
        // A long title takes several lines of a terminal.
        let first = || text.replace("\r\n", "\n").split("\n\n").next().unwrap_or_default().replace('\n', " ");
        match self {
            Self::Table => is_title(&first()),
            Self::Markdown => start.line().strip_prefix("## ").is_some_and(is_title),
            Self::Latex => {
                let mut lines = text.lines();
                lines.next() == Some("% \\usepackage{booktabs}")
                    && lines.next().and_then(|line| line.strip_prefix("% ")).is_some_and(is_title)
            }
            Self::Csv => is_figures_header(start.line()),
            Self::Json => start.line().starts_with(r#"{"settings":{"level":"#) && start.line().contains(r#""shared":"#),
        }
    }
}

/// Refuses what must not be replaced, before anything is computed.
fn check_output(args: &Args, format: Format) -> anyhow::Result<()> {
    let is_earlier = |start: &Start| format.is_earlier(start);
    output_file::file_of(args.out.as_deref()).map_or(Ok(()), |path| Ok(output_of(args, path, &is_earlier).check()?))
}

fn output_of<'a>(args: &Args, path: &'a Path, is_earlier: &'a dyn Fn(&Start) -> bool) -> OutputFile<'a> {
    let mut inputs: Vec<Input> = args.from_csv.iter().chain(&args.holdout).cloned().map(Into::into).collect();
    inputs.extend(args.metrics.files().map(PathBuf::from).map(Into::into));
    for run in runs(&[&args.runs[..], &args.dev].concat()).unwrap_or_default() {
        inputs.extend(RunFolder::at(&run.path).manifest().iter().flat_map(of_run));
        inputs.push(run.path.into());
    }
    let what = "a comparison that wikitrail compare wrote in this format";
    OutputFile { path, what, is_earlier, force: Force::Flag(args.force), inputs }
}

fn write_output(args: &Args, format: Format, compared: &ComparedRuns) -> anyhow::Result<()> {
    let sheet = sheet(&compared.comparison, &compared.extras);
    let text = match format {
        Format::Table if args.out.is_none() => {
            let folded = folded(&compared.comparison, &compared.extras).filter(|_| !args.all_pairs);
            to_terminal(&folded.unwrap_or(sheet).shortened(&compared.short), View::of_stdout().width).into_bytes()
        }
        Format::Table => to_terminal(&sheet, View::of_stdout().width).into_bytes(),
        Format::Markdown => to_markdown(&sheet).into_bytes(),
        Format::Latex => {
            let paper = paper_table(&compared.comparison, &compared.short).unwrap_or_default();
            latex_after(&paper, &sheet).into_bytes()
        }
        Format::Csv => figures_csv(sheet.figures().map(|figure| (figure.texts(), figure.value)))?,
        Format::Json => format!("{}\n", serde_json::to_string(compared)?).into_bytes(),
    };
    match output_file::file_of(args.out.as_deref()) {
        None => stdout().write_all(&text)?,
        Some(path) => {
            let is_earlier = |start: &Start| format.is_earlier(start);
            output_file::write(&output_of(args, path, &is_earlier), |mut file| Ok(file.write_all(&text)?))?;
            say(format_args!("comparison written to {}", visible_line(&path.display().to_string(), 300)));
        }
    }
    Ok(())
}
