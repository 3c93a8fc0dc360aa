//! `compare`: variants of one or more runs, question by question.

use super::failure::{self, Failure};
use super::metric_files::MetricFiles;
use super::output_file;
use super::say::say;
use super::suggested::Suggested;
use crate::analysis::compare::conditions::{Argument, ConditionError, Judged, Terms, evaluate};
use crate::analysis::compare::settings::canonical;
use crate::analysis::compare::{
    CompareError, Comparison, EXPENSES, Item, MOST_PAIRS, NamedFigure, Optimism, RESAMPLES, SEED, Settings, Variant,
    among_all, compare, efforts, optimism,
};
use crate::analysis::export::{CsvOptions, FigureRow, FiguresCsv, is_figures_header};
use crate::analysis::flip_lists;
use crate::analysis::output_file::{Force, Input, OutputFile, Start, of_run};
use crate::analysis::report::View;
use crate::analysis::report::comparison::{Compared, is_title, sheet};
use crate::analysis::report::console::{stdout, stdout_is_terminal};
use crate::analysis::report::sheet::{Sheet, to_latex, to_markdown, to_terminal};
use crate::analysis::results::with_judges;
use crate::analysis::results::{
    self, EpisodeName, Field, Holdout, JUDGE, JoinedMetric, JudgedRuns, Looks, RunRef, Setting, Source, Wanted,
    counterparts, differences, folder_name, runs,
};
use crate::base::stats::Interval;
use crate::base::text::visible_line;
use crate::base::{ExperimentRecord, Pairs};
use crate::runner::store::RunFolder;
use crate::scoring::{Figure, figure};
use clap::builder::StringValueParser;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
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
    /// Compare only these two variants, as B - A; may be repeated. Holm's correction covers the pairs named.
    #[arg(long, value_names = ["A", "B"], num_args = 2, conflicts_with = "baseline")]
    contrast: Vec<String>,
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
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<String>,
    /// Only check these arguments against a plan that `wikitrail run … --dry-run --json` printed: figures, variants and
    /// conditions. RUN are other runs that the planned one is compared with.
    #[arg(long, value_name = "FILE", conflicts_with = "from_csv")]
    plan: Option<PathBuf>,
}

/// Flipped answers of a pair that are listed.
const FLIPS: usize = 20;

/// How many are listed.
fn most(text: &str) -> Result<usize, String> {
    if text == "all" { Ok(usize::MAX) } else { text.parse().map_err(|_| "a number or `all` is expected".to_owned()) }
}

/// Any text; completions offer the figures.
fn figures() -> Suggested<StringValueParser> {
    let words = || figure::ALL.iter().map(|figure| figure.name).collect();
    Suggested { parser: StringValueParser::new(), words }
}

impl Args {
    fn format(&self) -> anyhow::Result<Format> {
        let typed = if self.json { Some(Format::Json) } else { self.format };
        output_file::format(typed, self.out.as_deref(), Format::ENDINGS, Format::Table)
    }

    fn flips(&self) -> bool {
        self.flips.is_some() || self.stale_gold
    }

    /// The compared figures, by their names: those that are named, and the metrics from files.
    fn figures(&self, joined: &[JoinedMetric]) -> Vec<String> {
        let name = |typed: &String| {
            let joined = joined.iter().find(|metric| metric.name.eq_ignore_ascii_case(typed.trim()));
            joined.map_or_else(|| canonical(typed), |metric| metric.name.clone())
        };
        let mut names: Vec<String> = self.metric.iter().map(name).filter(|name| !name.is_empty()).collect();
        for metric in joined {
            if !names.contains(&metric.name) {
                names.push(metric.name.clone());
            }
        }
        names
    }

    /// The pairs that were typed.
    fn pairs(&self) -> anyhow::Result<Pairs> {
        let mut pairs = Pairs { baseline: self.baseline.clone(), ..Pairs::default() };
        for pair in self.contrast.as_chunks().0 {
            if !pairs.add(pair.clone()) {
                let [a, b] = pair.each_ref().map(|name| visible_line(name, 80));
                return Err(Failure::usage(format!("--contrast {a} {b} repeats a pair"), "name each pair once"));
            }
        }
        Ok(pairs)
    }

    /// Whether some of the possible pairs may be named: two variants, or variants of runs.
    fn names_pairs(&self) -> bool {
        !self.contrast.is_empty()
            || self.runs.iter().any(|run| RunRef::parse(run).is_some_and(|run| run.variant.is_some()))
    }

    fn settings(&self, pairs: Pairs, joined: &[JoinedMetric]) -> anyhow::Result<Settings> {
        let figure = |name: String| match joined.iter().find(|metric| metric.name == name) {
            Some(metric) => {
                let (unit, judged) = (metric.unit, metric.is_judged());
                NamedFigure::joined(name, unit, judged)
            }
            None => NamedFigure::new(name),
        };
        let mut figures: Vec<NamedFigure> = self.figures(joined).into_iter().map(figure).collect();
        set_bounds(&self.bounds, &mut figures)?;
        Ok(Settings {
            level: self.level,
            // Without the tail that subtraction leaves: 0.05, not 0.050000000000000044.
            alpha: (1e12 * (1.0 - self.level)).round() / 1e12,
            resamples: self.resamples,
            seed: self.seed,
            pairs,
            figures,
            breakdowns: self.fields().iter().map(|field| field.name().to_owned()).collect(),
            ..Settings::default()
        })
    }

    /// The field of questions that are not independent.
    fn cluster(&self) -> Option<Field> {
        (self.cluster != "none").then(|| Field::parse(&self.cluster))
    }

    fn fields(&self) -> Vec<Field> {
        self.by.iter().map(|name| Field::parse(name)).collect()
    }
}

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    if let Some(plan) = &args.plan {
        return check_plan(args, plan);
    }
    let mut pairs = args.pairs()?;
    let format = args.format()?;
    check_output(args, format)?;
    let (verdicts, joined) = judges_and_metrics(args)?;
    let (mut sources, figures) = sources(args, &joined)?;
    let mut names = results::names(&sources);
    let mut absent = None;
    if pairs.is_all() {
        (pairs, absent) = results::planned(&sources.iter().map(Source::pairs).collect::<Vec<_>>(), &names);
    }
    let possible = Possibilities::of(args, &sources, &names, &figures, &joined)?;
    // The others are compared with none; a name that is not known is refused below, with those that are.
    if pairs.all_among(&names) {
        keep_contrasted(&pairs, &mut sources, &mut names);
    }
    let columns = columns(args, &sources, &names, &figures);
    let mut warnings = differences::warnings(&sources, &names);
    warnings.extend(absent);
    warn(&warnings);
    let stopped = results::stopped(&sources, &names)?;
    let mut settings = Settings { stopped, ..args.settings(pairs, &joined)? };
    results::bound(&mut settings.figures, &figures, &sources);
    let mut comparison = compare(&columns, &settings).map_err(|error| explain(error, &sources))?;
    possible.charge(args, &mut comparison);
    // Before anything is printed, as a misspelt condition is an error.
    let judged = args.fail_if.iter().map(|text| Ok((text, evaluated(text, &comparison)?)));
    let judged = judged.collect::<anyhow::Result<Vec<_>>>()?;
    // A table of figures has all of them, as JSON has.
    let most = if format == Format::Csv { usize::MAX } else { args.flips.unwrap_or(FLIPS) };
    let flips =
        if args.flips() { flip_lists(&sources, &columns, &comparison, args.stale_gold, most)? } else { Vec::new() };
    let settings = differences::of(&sources);
    let said = warnings.len();
    let mut holdout = OverHoldout::of(args, &joined, &sources, &comparison, &mut warnings)?;
    warn(&warnings[said..]);
    let corrected = verdicts.corrected(&comparison, &sources, &names, args.level);
    let efforts = if args.mde { efforts(&columns, &comparison, questions_of(&sources)) } else { Vec::new() };
    let compared = Compared {
        comparison: &comparison,
        settings: &settings,
        corrected: &corrected,
        flips: &flips,
        warnings: &warnings,
        holdout: &holdout.lines(),
        mde: args.mde,
        efforts: &efforts,
    };
    let labelled = sources.iter().zip(&names);
    write_output(args, format, &sheet(&compared), || json(args, &compared, labelled, &judged, holdout.to_json()))?;
    holdout.finish(args, format);
    Ok(print_conditions(&judged))
}

/// Leaves out the variants that no contrast names.
fn keep_contrasted(pairs: &Pairs, sources: &mut Vec<Source>, names: &mut Vec<String>) {
    let is_contrasted = |name: &String| pairs.contrasts.iter().flatten().any(|other| other == name);
    let mut kept = names.iter().map(is_contrasted);
    sources.retain(|_| kept.next().unwrap_or(true));
    names.retain(is_contrasted);
}

/// The variants under these names.
fn columns(args: &Args, sources: &[Source], names: &[String], figures: &[String]) -> Vec<Variant> {
    let column = |(source, name): (&Source, &String)| source.column(name, figures, &args.fields());
    sources.iter().zip(names).map(column).collect()
}

/// All pairs that could be compared, where the command line names some of them.
#[derive(Default)]
struct Possibilities {
    /// The variants, those that were named first; these alone where all are too many.
    variants: Vec<Variant>,
    count: usize,
    others: usize,
    plan: Pairs,
}

impl Possibilities {
    fn of(
        args: &Args,
        sources: &[Source],
        names: &[String],
        figures: &[String],
        joined: &[JoinedMetric],
    ) -> anyhow::Result<Self> {
        // The arms of a branch are compared as its table compares them.
        let of_branch = |source: &Source| source.origin.as_ref().is_some_and(|origin| origin.manifest.is_branch());
        if !args.names_pairs() || sources.iter().all(of_branch) {
            return Ok(Self::default());
        }
        let (plan, _) = results::planned(&sources.iter().map(Source::pairs).collect::<Vec<_>>(), names);
        let others = others(args, sources, joined)?;
        let mut variants = columns(args, sources, names, figures);
        variants.extend(columns_of_others(args, &others, figures));
        Ok(Self { variants, count: sources.len() + others.count, others: others.count, plan })
    }

    fn charge(&self, args: &Args, comparison: &mut Comparison) {
        if !args.contrast.is_empty() || self.others > 0 {
            among_all(comparison, &self.variants, self.count, &|a, b| self.plan.names(a, b));
        }
    }
}

/// Variants of the compared runs that were not named.
struct Others {
    count: usize,
    /// They, unless they are too many to be compared.
    sources: Vec<Source>,
}

fn others(args: &Args, sources: &[Source], joined: &[JoinedMetric]) -> anyhow::Result<Others> {
    let mut refs: Vec<RunRef> = Vec::new();
    for source in sources {
        let Some(origin) = &source.origin else { continue };
        for variant in &origin.manifest.variants {
            let other = RunRef { path: source.run.path.clone(), variant: Some(variant.name.clone()) };
            if !refs.contains(&other) && sources.iter().all(|named| named.run != other) {
                refs.push(other);
            }
        }
    }
    let all = sources.len() + refs.len();
    if refs.is_empty() || all * (all - 1) / 2 > MOST_PAIRS {
        return Ok(Others { count: refs.len(), sources: Vec::new() });
    }
    let (mut sources, _, _) = read(args, &refs, joined)?;
    sources.retain(|source| !source.episodes.is_empty());
    Ok(Others { count: sources.len(), sources })
}

/// They under names that no variant has.
fn columns_of_others(args: &Args, others: &Others, figures: &[String]) -> Vec<Variant> {
    let names: Vec<String> = (0..others.sources.len()).map(|at| format!("\0{at}")).collect();
    columns(args, &others.sources, &names, figures)
}

/// The truth of a condition, or an error that points at its place.
fn evaluated(condition: &str, terms: &dyn Terms) -> anyhow::Result<Judged> {
    evaluate(condition, terms).map_err(|fault| {
        Failure::usage(
            format!("--fail-if: {}", fault.pointed(condition)),
            "`wikitrail docs compare` lists terms and operators; for example --fail-if \"em(new) < em(base)\"",
        )
    })
}

/// Prints which conditions hold and which cannot be decided, and returns the exit code.
fn print_conditions(judged: &[(&String, Judged)]) -> u8 {
    let mut code = failure::OK;
    for (text, judged) in judged {
        let text = visible_line(text, 300);
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

fn warn(warnings: &[String]) {
    for warning in warnings {
        say(format_args!("warning: {}", visible_line(warning, 500)));
    }
}

/// Questions in the dataset of the runs, where it is one.
fn questions_of(sources: &[Source]) -> Option<usize> {
    let mut datasets = sources.iter().map(|source| Some(&source.origin.as_ref()?.manifest.dataset));
    let first = datasets.next()??;
    datasets.all(|other| other.is_some_and(|other| other.sha256 == first.sha256)).then_some(first.questions)
}

/// The variants, and the figures that each has.
fn sources(args: &Args, joined: &[JoinedMetric]) -> anyhow::Result<(Vec<Source>, Vec<String>)> {
    let (fields, cluster) = (args.fields(), args.cluster());
    let (found, figures) = if args.from_csv.is_empty() {
        loaded(args, &args.runs, joined)?
    } else {
        results::table_sources(&args.from_csv, args.figures(joined), &fields, cluster.as_ref())?
    };
    for (flag, field) in fields.iter().map(|field| ("--by", field)).chain(cluster.iter().map(|f| ("--cluster", f))) {
        check_field(flag, field, &fields, &found)?;
    }
    Ok((found, figures))
}

/// The variants of these runs, the figures that each has, and what a reader should know.
fn read(
    args: &Args,
    runs: &[RunRef],
    joined: &[JoinedMetric],
) -> anyhow::Result<(Vec<Source>, Vec<String>, Vec<String>)> {
    let (fields, cluster) = (args.fields(), args.cluster());
    let mut figures = args.figures(joined);
    figures.retain(|name| joined.iter().all(|metric| metric.name != *name));
    // EM decides whether an answer flipped.
    if !figures.iter().any(|name| name == "em") {
        figures.push("em".to_owned());
    }
    if args.mde {
        figures.extend(EXPENSES.map(str::to_owned));
        figures.sort();
        figures.dedup();
    }
    let read = figures.iter().map(|name| known(name)).collect::<anyhow::Result<Vec<_>>>()?;
    let wanted = Wanted { figures: &read, joined, cluster: cluster.as_ref(), by: &fields, gold_pages: args.stale_gold };
    let (found, notes) = results::load(runs, &wanted)?;
    figures.extend(joined.iter().map(|metric| metric.name.clone()));
    Ok((found, figures, notes))
}

/// The same of runs as they are typed, each with an episode.
fn loaded(args: &Args, runs: &[String], joined: &[JoinedMetric]) -> anyhow::Result<(Vec<Source>, Vec<String>)> {
    let (found, figures, notes) = read(args, &results::runs(runs)?, joined)?;
    notes.iter().for_each(say);
    if let Some(empty) = found.iter().find(|source| source.episodes.is_empty()) {
        return Err(Failure::bad_input(
            format!("`{}` has no finished episode yet", visible_line(&empty.run.typed(), 200)),
            "finish the run with --resume, or name another run",
        ));
    }
    note_coverage(&found, joined)?;
    Ok((found, figures))
}

/// Says for which episodes the metrics from files have no value.
fn note_coverage(sources: &[Source], joined: &[JoinedMetric]) -> anyhow::Result<()> {
    let folders: Vec<String> = sources.iter().map(|source| folder_name(&source.run.path)).collect();
    for metric in joined {
        let names = sources.iter().zip(&folders).flat_map(|(source, run)| {
            let variant = source.run.variant.as_deref().unwrap_or_default();
            let measured = source.episodes.iter().filter(|episode| episode.measured);
            measured.map(move |episode| EpisodeName { run, variant, repeat: episode.repeat, id: &episode.id })
        });
        metric.coverage(names)?.iter().for_each(say);
    }
    Ok(())
}

fn known(name: &str) -> anyhow::Result<&'static Figure> {
    Figure::named(name).ok_or_else(|| {
        let known: Vec<&str> = figure::ALL.iter().map(|figure| figure.name).collect();
        Failure::usage(
            format!("--metric: unknown figure `{}`", visible_line(name, 60)),
            format!("figures of a run are {}", known.join(", ")),
        )
    })
}

/// Refuses a field that no question has, instead of printing a table of dashes.
fn check_field(flag: &str, field: &Field, fields: &[Field], sources: &[Source]) -> anyhow::Result<()> {
    let at = fields.iter().position(|other| other == field);
    let mut episodes = sources.iter().flat_map(|source| &*source.episodes);
    let known = match (flag, at) {
        ("--by", Some(at)) => episodes.any(|episode| episode.groups.get(at).is_some_and(Option::is_some)),
        // `cluster` is the default, and few datasets have clusters.
        _ => *field == Field::Cluster || episodes.any(|episode| episode.cluster.is_some()),
    };
    if known {
        return Ok(());
    }
    Err(Failure::bad_input(
        format!("{flag}: no question has the field `{}`", visible_line(field.name(), 60)),
        "type, level, hops, answer_kind, cluster and page are available if the dataset has them and its file can be read; a \
         table needs a column of that name",
    ))
}

fn explain(error: CompareError, sources: &[Source]) -> anyhow::Error {
    match &error {
        CompareError::TooFew(_) => {
            Failure::usage(error, "name another run, or a run with several variants (--method act,react)")
        }
        CompareError::NothingShared(_) => Failure::bad_input(error, differences::nothing_shared(sources)),
        CompareError::Duplicate { .. } => {
            Failure::bad_input(error, "add a column `repeat` to distinguish the repeats of a question")
        }
        CompareError::OutOfBounds { .. } => {
            Failure::bad_input(error, "correct the value, or give wider bounds by --bounds")
        }
        CompareError::Unknown { .. } => Failure::usage(error, "--baseline and --contrast take these names"),
        CompareError::WithItself(_) => Failure::usage(error, "--contrast takes two names"),
        CompareError::UnknownFigure { .. } | CompareError::NoFigure | CompareError::UnknownGrouping { .. } => {
            Failure::usage(error, "see --metric and --by")
        }
        CompareError::NotBetween { .. } => Failure::usage(error, "the usual level is 0.95"),
        CompareError::NoResamples => Failure::usage(error, "the usual number is 10000"),
        CompareError::SameName(_) => Failure::bad_input(error, "rename one of the files or folders"),
    }
}

/// Every figure in full precision, with its sources.
fn json<'s>(
    args: &Args,
    compared: &Compared<'_>,
    labelled: impl Iterator<Item = (&'s Source, &'s String)>,
    judged: &[(&String, Judged)],
    holdout: Option<Value>,
) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(compared.comparison)?;
    let source = |(source, name): (&Source, &String)| json!({"name": name, "path": source.run.path.display().to_string(), "variant": source.run.variant});
    let setting = |setting: &Setting| json!({"name": setting.name, "values": setting.values});
    let condition = |(text, judged): &(&String, Judged)| {
        let values: serde_json::Map<String, Value> =
            judged.values.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({"condition": text, "holds": judged.holds, "values": values})
    };
    value["sources"] = labelled.map(source).collect();
    value["differing_settings"] = compared.settings.iter().map(setting).collect();
    value["warnings"] = json!(compared.warnings);
    if !compared.corrected.is_empty() {
        value["corrected"] = json!(compared.corrected);
    }
    if args.mde {
        value["efforts"] = json!(compared.efforts);
    }
    if let Some(holdout) = holdout {
        value["holdout"] = holdout;
    }
    if args.flips() {
        value["flips"] = json!(compared.flips);
    }
    if !judged.is_empty() {
        value["conditions"] = judged.iter().map(condition).collect();
    }
    Ok(value)
}

/// A figure and its bounds, as they were typed.
#[derive(Debug, Clone, PartialEq)]
struct Bounds {
    figure: String,
    range: Interval,
}

fn parsed_bounds(text: &str) -> Result<Bounds, String> {
    let wanted = || "expected NAME=LOW..HIGH with LOW below HIGH, such as tokens=0..20000".to_owned();
    let (figure, ends) = text.rsplit_once('=').ok_or_else(wanted)?;
    let (low, high) = ends.split_once("..").ok_or_else(wanted)?;
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(wanted);
    let range = Interval { low: number(low)?, high: number(high)? };
    if range.low >= range.high || figure.trim().is_empty() {
        return Err(wanted());
    }
    Ok(Bounds { figure: canonical(figure), range })
}

/// Sets the bounds that were typed.
fn set_bounds(bounds: &[Bounds], figures: &mut [NamedFigure]) -> anyhow::Result<()> {
    for Bounds { figure, range } in bounds {
        let name = visible_line(figure, 80);
        let Some(found) = figures.iter_mut().find(|other| other.name.eq_ignore_ascii_case(figure)) else {
            let known: Vec<String> = figures.iter().map(|figure| visible_line(&figure.name, 80)).collect();
            return Err(Failure::usage(
                format!("--bounds names `{name}`, which is not compared"),
                format!("name one of {}, or add `{name}` to --metric", known.join(", ")),
            ));
        };
        if found.range.is_some() {
            let message = format!("`{name}` has the bounds 0..1 already, or --bounds names it twice");
            return Err(Failure::usage(message, "remove --bounds for it"));
        }
        found.range = Some(*range);
    }
    Ok(())
}

/// The verdicts of the runs if they are asked for, and the metrics that are not figures of every run: those of judges, and
/// those of files.
fn judges_and_metrics(args: &Args) -> anyhow::Result<(JudgedRuns, Vec<JoinedMetric>)> {
    let typed_runs = if args.from_csv.is_empty() { runs(&args.runs)? } else { Vec::new() };
    let mut paths: Vec<&Path> = typed_runs.iter().map(|run| run.path.as_path()).collect();
    paths.dedup();
    let files = args.metrics.read(&paths)?;
    let of_file = |name: &str| files.iter().any(|file| file.name.eq_ignore_ascii_case(name));
    let is_judge = |name: &&str| {
        let name = name.to_ascii_lowercase();
        name == JUDGE || name.starts_with("judge:")
    };
    let typed = args.metric.iter().map(|name| name.trim());
    let wanted: Vec<&str> = typed.filter(is_judge).filter(|name| !of_file(name)).collect();
    if wanted.is_empty() || !args.from_csv.is_empty() {
        return Ok((JudgedRuns::default(), files));
    }
    let judged = JudgedRuns::read(paths)?;
    let mut metrics = judged.metrics()?;
    let names: Vec<String> = metrics.iter().map(|metric| visible_line(&metric.name, 80)).collect();
    if let Some(unknown) =
        wanted.iter().find(|name| !metrics.iter().any(|metric| metric.name.eq_ignore_ascii_case(name)))
    {
        let hint = match names.as_slice() {
            [] => "judge a run first: wikitrail score RUN --judge openai:NAME".to_owned(),
            names => format!("judges of these runs are {}", names.join(", ")),
        };
        let unknown = visible_line(unknown, 80);
        return Err(Failure::usage(format!("--metric: these runs have no verdicts of `{unknown}`"), hint));
    }
    judged.notes().iter().for_each(say);
    metrics.retain(|metric| wanted.iter().any(|name| metric.name.eq_ignore_ascii_case(name)));
    Ok((judged, with_judges(files, metrics)?))
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
    /// Endings of files, and the formats that they have.
    const ENDINGS: &[(&str, &[Self])] = &[
        (".txt", &[Self::Table]),
        (".md", &[Self::Markdown]),
        (".tex", &[Self::Latex]),
        (".csv", &[Self::Csv]),
        (".json", &[Self::Json]),
    ];

    /// Whether a file that begins like this is an earlier comparison in this format.
    fn is_earlier(self, start: &Start) -> bool {
        let text = start.text();
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
    output_file::named(args.out.as_deref()).map_or(Ok(()), |path| Ok(output_of(args, path, &is_earlier).check()?))
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

fn write_output(
    args: &Args,
    format: Format,
    sheet: &Sheet,
    json: impl FnOnce() -> anyhow::Result<Value>,
) -> anyhow::Result<()> {
    let text = match format {
        Format::Table => to_terminal(sheet, View::of_stdout().width).into_bytes(),
        Format::Markdown => to_markdown(sheet).into_bytes(),
        Format::Latex => to_latex(sheet).into_bytes(),
        Format::Csv => csv(sheet)?,
        Format::Json => format!("{}\n", json()?).into_bytes(),
    };
    match output_file::named(args.out.as_deref()) {
        None => stdout().write_all(&text)?,
        Some(path) => {
            let is_earlier = |start: &Start| format.is_earlier(start);
            output_file::write(&output_of(args, path, &is_earlier), |mut file| Ok(file.write_all(&text)?))?;
            say(format_args!("comparison written to {}", visible_line(&path.display().to_string(), 300)));
        }
    }
    Ok(())
}

fn csv(sheet: &Sheet) -> anyhow::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut csv = FiguresCsv::new(&mut out, CsvOptions::default());
    for figure in sheet.figures() {
        let key = figure.key;
        csv.write(&FigureRow {
            table: figure.table,
            metric: &key.metric,
            group: &key.group,
            a: &key.a,
            b: &key.b,
            figure: figure.name,
            value: figure.value,
        })?;
    }
    csv.finish()?;
    drop(csv);
    Ok(out)
}

/// No plan is longer.
const MAX_PLAN_BYTES: u64 = 256 << 20;

/// What `run --dry-run --json` prints, as far as it is needed here.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Plan {
    Several { runs: Vec<PlannedRun> },
    One(PlannedRun),
}

#[derive(Debug, Deserialize)]
struct PlannedRun {
    run: PathBuf,
    variants: Vec<Named>,
    experiment: Option<ExperimentRecord>,
}

#[derive(Debug, Deserialize)]
struct Named {
    name: String,
}

/// Refuses what the comparison of a planned run with these other runs would refuse. Nothing is compared.
fn check_plan(args: &Args, plan: &Path) -> anyhow::Result<u8> {
    let mut pairs = args.pairs()?;
    let (mut sources, planned) = planned_sources(plan)?;
    let (_, joined) = judges_and_metrics(args)?;
    let (others, figures) = loaded(args, &args.runs, &joined)?;
    let of_others = others.iter().map(Source::pairs);
    let of_all: Vec<Option<Pairs>> = planned.into_iter().map(Some).chain(of_others).collect();
    sources.extend(others);
    let mut names = results::names(&sources);
    if pairs.is_all() {
        (pairs, _) = results::planned(&of_all, &names);
    }
    if pairs.all_among(&names) {
        names.retain(|name| pairs.contrasts.iter().flatten().any(|other| other == name));
    }
    let settings = args.settings(pairs, &joined)?;
    let comparison = compare(&planned_columns(&names, &figures, &settings.breakdowns), &settings);
    let planned = Planned(comparison.map_err(|error| explain(error, &sources))?);
    for condition in &args.fail_if {
        evaluated(condition, &planned)?;
    }
    Ok(failure::OK)
}

/// A comparison whose names are known and whose values are not, its counts of questions included.
struct Planned(Comparison);

impl Terms for Planned {
    fn term(&self, name: &str, arguments: &[Argument], at: usize) -> Result<Option<f64>, ConditionError> {
        self.0.term(name, arguments, at).map(|_| None)
    }
}

/// The variants, each with one and the same question that has no value in any.
fn planned_columns(names: &[String], figures: &[String], fields: &[String]) -> Vec<Variant> {
    let item = Item { values: vec![None; figures.len()], groups: vec![None; fields.len()], ..Item::default() };
    let column =
        |name: &String| Variant { items: vec![item.clone()], ..Variant::new(name, figures.to_vec(), fields.to_vec()) };
    names.iter().map(column).collect()
}

/// The variants of a plan, and the pairs that the experiment of each compares.
fn planned_sources(plan: &Path) -> anyhow::Result<(Vec<Source>, Vec<Pairs>)> {
    let refused = |error: &dyn std::fmt::Display| {
        let path = visible_line(&plan.display().to_string(), 300);
        let hint = "`wikitrail run … --dry-run --json` prints a plan";
        Failure::bad_input(format!("--plan: cannot read `{path}`: {error}"), hint)
    };
    let mut text = String::new();
    let file = std::fs::File::open(plan).map_err(|error| refused(&error))?;
    file.take(MAX_PLAN_BYTES).read_to_string(&mut text).map_err(|error| refused(&error))?;
    let plan = serde_json::from_str(&text).map_err(|_| refused(&"it is not the JSON of a plan"))?;
    let runs = match plan {
        Plan::Several { runs } => runs,
        Plan::One(run) => vec![run],
    };
    let (mut sources, mut pairs) = (Vec::new(), Vec::new());
    for PlannedRun { run, variants, experiment } in runs {
        let of_run = experiment.map(|experiment| experiment.pairs).unwrap_or_default();
        for Named { name } in variants {
            let run = RunRef { path: run.clone(), variant: Some(name) };
            sources.push(Source { run, origin: None, episodes: [].into() });
            pairs.push(of_run.clone());
        }
    }
    Ok((sources, pairs))
}

/// A comparison over a holdout.
#[derive(Debug, Default)]
struct OverHoldout {
    looks: Option<Looks>,
    /// The same pairs on the development part.
    optimism: Vec<Optimism>,
}

impl OverHoldout {
    fn of(
        args: &Args,
        joined: &[JoinedMetric],
        sources: &[Source],
        comparison: &Comparison,
        warnings: &mut Vec<String>,
    ) -> anyhow::Result<Self> {
        let Some(holdout) = Holdout::of(sources, args.holdout.as_deref())? else {
            if args.dev.is_empty() {
                warnings.extend(Holdout::unusable(sources));
                return Ok(Self::default());
            }
            return Err(Failure::bad_input(
                "--dev: these runs are not over a holdout that their records lead to",
                "name the list of the split with --holdout FILE, such as lists/holdout.ids",
            ));
        };
        let optimism = if args.dev.is_empty() {
            Vec::new()
        } else {
            beside_development(args, joined, sources, comparison, &holdout)?
        };
        let looks = holdout.look(sources, args.figures(joined));
        warnings.extend(looks.warnings.iter().cloned());
        Ok(Self { looks: Some(looks), optimism })
    }

    /// Notes the look in the ledger, once somebody can see the figures, and says what the written comparison does not show on
    /// the terminal.
    fn finish(&mut self, args: &Args, format: Format) {
        let shown = match format {
            Format::Table => true,
            Format::Markdown | Format::Latex => stdout_is_terminal(),
            Format::Csv | Format::Json => false,
        };
        if args.out.is_some() || !shown {
            self.lines().iter().for_each(|line| say(visible_line(line, 500)));
        }
        if let Some(warning) = self.looks.as_mut().and_then(Looks::note) {
            say(format_args!("warning: {}", visible_line(&warning, 500)));
        }
    }

    /// For a person, a sentence each.
    fn lines(&self) -> Vec<String> {
        let pairs = self.optimism.iter().map(|pair| pair.sentence.clone());
        self.looks.iter().map(Looks::sentence).chain(pairs).collect()
    }

    /// The same for programs.
    fn to_json(&self) -> Option<Value> {
        let mut value = json!(self.looks.as_ref()?);
        value["sentence"] = json!(self.looks.as_ref().map(Looks::sentence));
        if !self.optimism.is_empty() {
            value["pairs"] = json!(self.optimism);
        }
        Some(value)
    }
}

/// The pairs on the holdout, and what they were on the development part. The two are never one comparison.
fn beside_development(
    args: &Args,
    joined: &[JoinedMetric],
    sources: &[Source],
    comparison: &Comparison,
    holdout: &Holdout,
) -> anyhow::Result<Vec<Optimism>> {
    if holdout.others() > 0 {
        return Err(Failure::bad_input(
            format!("--dev: {} of the compared questions are not in the holdout", holdout.others()),
            "name runs over the holdout alone; those of the development part belong behind --dev",
        ));
    }
    let (development, figures) = loaded(args, &args.dev, joined)?;
    let names: Vec<String> = comparison.variants.iter().map(|variant| variant.name.clone()).collect();
    let same = counterparts(sources, &development, holdout)?;
    let columns: Vec<Variant> =
        same.iter().zip(&names).map(|(source, name)| source.column(name, &figures, &args.fields())).collect();
    // A rule that could stop a run on one part says nothing about the other.
    let stopped = results::stopped(&same, &names)?;
    let settings = Settings { breakdowns: Vec::new(), stopped, ..comparison.settings.clone() };
    let development = compare(&columns, &settings).map_err(|error| explain(error, &same))?;
    Ok(optimism(comparison, &development))
}

#[cfg(test)]
mod tests {
    use super::{Bounds, parsed_bounds};
    use crate::base::stats::Interval;

    #[test]
    fn bounds_are_read() {
        for (text, figure, low, high) in [
            ("tokens=0..20000", "tokens", 0.0, 20000.0),
            ("a=b=-1..1.5", "a=b", -1.0, 1.5),
            ("m = -2..-1", "m", -2.0, -1.0),
        ] {
            assert_eq!(
                parsed_bounds(text),
                Ok(Bounds { figure: figure.to_owned(), range: Interval { low, high } }),
                "{text}"
            );
        }
        for text in ["tokens", "tokens=3", "tokens=1..1", "tokens=2..1", "=0..1", "tokens=0..inf", "tokens=nan..1"] {
            assert!(parsed_bounds(text).is_err_and(|error| error.contains("NAME=LOW..HIGH")), "{text}");
        }
    }
}
