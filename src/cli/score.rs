//! `score`: a run's figures, computed again from its trajectories.

mod items;
mod json;

use super::evidence::Evidence;
use super::failure::{self, Failure};
use super::say::say;
use super::score_files;
use crate::report::escape::visible_line;
use crate::report::{RunSummary, SummaryRow};
use crate::report::{counted, thousands};
use crate::score::{Assessment, Metric, RunAssessment, RunScore, Tally};
use crate::store::RunFolder;
use crate::types::{Manifest, Outcome, Trajectory};
use items::Item;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Flags that limit what a run may spend, earlier parts included.
const BUDGETS: [&str; 3] = ["--budget-usd", "--budget-tokens", "--max-calls"];

/// Flags of `score`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run's folder.
    #[arg(required_unless_present = "gold", conflicts_with = "gold")]
    run: Option<PathBuf>,
    /// Metric to score by: of a run hotpot, aliases, fever, paper or cjk, of files those below [default: of a run, the
    /// dataset's own].
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Print the figures as one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    files: score_files::Files,
}

/// The figures of a run.
#[derive(Debug)]
pub(super) struct Summary {
    run: PathBuf,
    manifest: Manifest,
    variants: Vec<VariantScore>,
    evidence: Evidence,
    /// Every episode, where it was asked for.
    items: Option<Vec<Item>>,
    /// Why episodes were not measured, and how many each.
    reasons: BTreeMap<String, u64>,
    /// Id of some episode, to show what can be looked at.
    first_id: Option<String>,
}

/// The figures of one variant.
#[derive(Debug)]
struct VariantScore {
    name: String,
    metric: &'static str,
    score: RunScore,
    assessment: RunAssessment,
    /// Sum of the episodes' own times, in milliseconds.
    episode_ms: u64,
}

/// A variant's sums while they grow.
struct Sums {
    name: String,
    tally: Tally,
    metric: &'static str,
    assessment: RunAssessment,
    episode_ms: u64,
}

/// Carries the command out and returns its exit code.
pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    if let Some(scored) = score_files::execute(&args.files, args.metric.as_deref(), args.json) {
        return scored;
    }
    let run = args.run.as_deref().unwrap_or(Path::new("."));
    let metric = args.metric.as_deref().map(parse_metric).transpose()?;
    let summary = sum_up(&RunFolder::open(run)?, metric, args.files.per_item)?;
    if let Some(note) = summary.evidence.note() {
        say(note);
    }
    print(&summary, args.json)?;
    Ok(failure::OK)
}

/// Scores a run from what is on disk. Lines that cannot be read are said and left out.
pub(super) fn summarise(folder: &RunFolder, metric: Option<Metric>) -> anyhow::Result<Summary> {
    sum_up(folder, metric, false)
}

fn sum_up(folder: &RunFolder, metric: Option<Metric>, per_item: bool) -> anyhow::Result<Summary> {
    let manifest = folder.manifest()?;
    let records = folder.records()?;
    for line in records.skipped() {
        say(format_args!("warning: {}:{}: {}; left out", line.path.display(), line.line, line.reason));
    }
    let evidence = Evidence::of(&manifest);
    let tally =
        || metric.map_or_else(|| Tally::new(&manifest.dataset.name), Tally::with_metric).by_question(manifest.repeats);
    let mut variants: Vec<Sums> =
        manifest.variants.iter().map(|variant| Sums::new(variant.name.clone(), tally())).collect();
    let mut items = per_item.then(Vec::new);
    let (mut first_id, mut reasons) = (None, BTreeMap::new());
    for trajectory in records.iter() {
        let trajectory = trajectory?;
        first_id.get_or_insert_with(|| trajectory.id.clone());
        if let (Outcome::NotMeasured, Some(detail)) = (trajectory.outcome, &trajectory.detail) {
            *reasons.entry(visible_line(detail, 160)).or_default() += 1;
        }
        let Some(sums) = variants.iter_mut().find(|sums| sums.name == trajectory.variant) else { continue };
        let item = sums.add(trajectory, &evidence);
        if let Some(items) = &mut items {
            items.push(item);
        }
    }
    let variants = variants.into_iter().map(Sums::total).collect();
    Ok(Summary { run: folder.path().to_owned(), manifest, variants, evidence, items, reasons, first_id })
}

impl Sums {
    fn new(name: String, tally: Tally) -> Self {
        Self { name, tally, metric: "", assessment: RunAssessment::default(), episode_ms: 0 }
    }

    fn add(&mut self, trajectory: Trajectory, evidence: &Evidence) -> Item {
        let score = self.tally.add(&trajectory);
        let assessment = Assessment::of(&trajectory, score, evidence.get(&trajectory.id));
        if let Some(assessment) = &assessment {
            self.assessment.add(assessment);
        }
        // A hidden answer does not show which metric the others have.
        if self.metric.is_empty() || !trajectory.answers.is_empty() {
            self.metric = self.tally.metric_for(&trajectory.answers).name();
        }
        self.episode_ms += trajectory.wall_ms;
        let Trajectory { variant, repeat, id, outcome, .. } = trajectory;
        Item { variant, repeat, id, outcome, score, assessment }
    }

    fn total(self) -> VariantScore {
        VariantScore {
            name: self.name,
            metric: self.metric,
            score: self.tally.score(),
            assessment: self.assessment,
            episode_ms: self.episode_ms,
        }
    }
}

impl Summary {
    /// What the run was.
    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Each variant by name, with the name of its metric and its figures.
    pub(super) fn scores(&self) -> impl Iterator<Item = (&str, &'static str, &RunScore)> {
        self.variants.iter().map(|variant| (variant.name.as_str(), variant.metric, &variant.score))
    }

    /// Episodes of all variants without a measurement, which a resumed run does again.
    pub(super) fn unmeasured(&self) -> u64 {
        self.variants.iter().map(|variant| variant.score.not_measured + variant.score.budget).sum()
    }

    /// Episodes that the run is to have.
    fn planned(&self) -> u64 {
        self.manifest.dataset.selected as u64 * u64::from(self.manifest.repeats) * self.variants.len() as u64
    }

    /// Planned episodes that are not recorded.
    pub(super) fn missing(&self) -> u64 {
        self.planned().saturating_sub(self.variants.iter().map(|variant| variant.score.episodes).sum())
    }

    /// Episodes of all variants that the run's budget cut short.
    fn cut_short(&self) -> u64 {
        self.variants.iter().map(|variant| variant.score.budget).sum()
    }

    /// The command that goes on with the run: the one that started it, with --resume. Where the budget is spent, a word
    /// stands in its place that has to be replaced: the same budget again would stop at once.
    pub(super) fn resume_command(&self, spent: bool) -> String {
        let mut words = vec!["wikitrail".to_owned()];
        let mut typed = self.manifest.command_line.iter().skip(1);
        while let Some(word) = typed.next() {
            let flag = word.split('=').next().unwrap_or_default();
            match word.as_str() {
                "--resume" => {}
                "--out" => drop(typed.next()),
                _ if flag == "--out" => {}
                _ if spent && BUDGETS.contains(&flag) => {
                    if flag == word {
                        typed.next();
                    }
                    words.push(format!("{flag} LARGER"));
                }
                word => words.push(quoted(word)),
            }
        }
        // Of several datasets, the experiment's folder is the one around theirs.
        let several = self.manifest.experiment.as_ref().is_some_and(|experiment| !experiment.datasets.is_empty());
        let folder = self.run.parent().filter(|_| several).unwrap_or(&self.run);
        words.extend(["--resume".to_owned(), "--out".to_owned(), quoted(&folder.display().to_string())]);
        words.join(" ")
    }

    /// Time that the run's parts took, where one has ended by itself.
    fn wall_ms(&self) -> Option<u64> {
        (self.manifest.active_ms > 0).then_some(self.manifest.active_ms)
    }
}

/// Prints the figures: a table and what to type next, or JSON.
pub(super) fn print(summary: &Summary, json: bool) -> anyhow::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if json {
        serde_json::to_writer(&mut out, &json::summary(summary)).map_err(std::io::Error::from)?;
        writeln!(out)?;
        out.flush()?;
        return Ok(());
    }
    let wall_ms = summary.wall_ms();
    let rows = summary
        .variants
        .iter()
        .map(|variant| SummaryRow {
            variant: variant.name.clone(),
            score: variant.score.clone(),
            assessment: variant.assessment,
            wall_ms,
        })
        .collect();
    let dataset = &summary.manifest.dataset;
    let metric = summary.variants.first().map_or("none", |variant| variant.metric);
    let title = format!(
        "{}: {} of {} of {}, scored by metric `{metric}`",
        summary.run.display(),
        thousands(dataset.selected),
        counted(dataset.questions, "question"),
        dataset.name
    );
    out.write_all(RunSummary { title, rows, notes: notes(summary), next: next_steps(summary) }.render().as_bytes())?;
    if let Some(items) = &summary.items {
        writeln!(out)?;
        items.iter().try_for_each(|item| writeln!(out, "{}", item.line()))?;
    }
    out.flush()?;
    if summary.variants.len() > 1 {
        let run = quoted(&summary.run.display().to_string());
        say(format_args!("note: which of these differences are more than chance: wikitrail compare {run}"));
    }
    Ok(())
}

/// The figures of an experiment's runs as JSON.
pub(super) fn together(summaries: &[Summary]) -> serde_json::Value {
    serde_json::json!({ "runs": summaries.iter().map(json::summary).collect::<Vec<_>>() })
}

/// What is missing, and why episodes were not measured: the commonest reasons first.
fn notes(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    let missing = summary.missing();
    if missing > 0 {
        lines.push(format!("{missing} of {} planned episodes are not recorded yet", summary.planned()));
    }
    let mut reasons: Vec<(&String, &u64)> = summary.reasons.iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    lines.extend(reasons.iter().take(3).map(|(reason, count)| format!("not measured ({count}): {reason}")));
    if reasons.len() > 3 {
        lines.push(format!("not measured: {} more reasons; see `detail` in the records", reasons.len() - 3));
    }
    lines
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+#".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn next_steps(summary: &Summary) -> Vec<String> {
    let run = summary.run.display();
    let mut lines = Vec::new();
    if summary.unmeasured() > 0 || summary.missing() > 0 {
        lines.push(summary.resume_command(summary.cut_short() > 0));
    }
    if let Some(id) = &summary.first_id {
        lines.push(format!("wikitrail show {run} {}", quoted(id)));
    }
    lines.push(format!("wikitrail export {run} --format csv --rows questions --out questions.csv"));
    lines
}

fn parse_metric(name: &str) -> anyhow::Result<Metric> {
    Metric::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
        Failure::usage(format!("unknown metric `{name}`"), format!("metrics of a run are {}", known.join(", ")))
    })
}
