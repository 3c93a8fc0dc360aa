//! The figures of a run, computed from what is on disk.

use super::error::RunError;
use super::hints::{hint, server_of, shortfalls};
use super::plan;
use super::provider::is_own;
use super::stopping::Watch;
use super::stored::Evidence;
use crate::base::text::{counted, shell_word, visible_line};
use crate::base::{Cause, Failure, Manifest, Outcome, Paid, Shard, Stopping, Trajectory, Usage, Variant};
use crate::models::Price;
use crate::runner::command_line::words_again;
use crate::runner::store::{PaidByVariant, Records, RunFolder, Skipped};
use crate::scoring::{
    ClosedBook, Metric, PromptGrowth, Repeats, RightAnswers, RunAssessment, RunScore, ScoredEpisode, Shortfalls, Tally,
    closed_books, has_counterpart,
};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Flags that limit what a run may spend, earlier parts included.
const BUDGETS: [&str; 3] = ["--budget-usd", "--budget-tokens", "--max-calls"];

/// The figures of a run.
#[derive(Debug, Default)]
pub struct Summary {
    /// The run's folder.
    pub run: PathBuf,
    /// What the run was.
    pub manifest: Manifest,
    /// The shard that the figures are of; none for the whole run.
    pub shard: Option<Shard>,
    /// Time over all parts that ended by themselves, in milliseconds; of shards, which run side by side, that of the longest.
    pub active_ms: u64,
    /// Episodes that there are to be.
    planned: u64,
    /// Shards of the run that lack episodes, where it was split.
    pub unfinished_shards: Vec<UnfinishedShard>,
    /// The figures of each variant, in the order of the manifest.
    pub variants: Vec<VariantScore>,
    /// What was paid for, measured or not.
    pub spending: Spending,
    /// Why episodes were not measured, and how many each.
    pub reasons: BTreeMap<String, u64>,
    /// What to do about each reason, unless the end of the run says it.
    pub hints: BTreeMap<String, String>,
    /// How many episodes failed by the program of another agent, and why the first of them did.
    pub agent_failures: Option<(u64, String)>,
    /// Observations that are answers of a site with another status than 200, by status: `paper` takes any answer for a page.
    pub other_statuses: BTreeMap<u16, u64>,
    /// What the rule of a run that may stop by itself has found.
    pub stopping: Option<Stopping>,
    /// How many questions are in clusters, and in how many, where some share one.
    pub clusters: Option<[usize; 2]>,
    /// The id of an episode to look at: a wrong answer, if there is one.
    pub show_id: Option<String>,
    /// Whether the run ended because its budget was spent, as far as that is known.
    pub budget_spent: bool,
    /// What a reader should know: lines that were left out, supporting facts that are missing.
    pub notes: Vec<String>,
    pub(crate) evidence: Evidence,
}

const LARGER_CONTEXT: &str = "give the server a larger context (Ollama: OLLAMA_CONTEXT_LENGTH), or lower --max-steps, --shots or --observation-chars";

#[derive(Debug, Default)]
pub struct VariantScore {
    pub name: String,
    pub metric: &'static str,
    pub score: RunScore,
    /// What its agent read, and its failure classes.
    pub assessment: RunAssessment,
    /// The calls of its measured episodes whose answer was cut or withheld.
    pub shortfalls: Shortfalls,
    /// How the server's counts of its prompts grew.
    pub prompts: PromptGrowth,
    /// Sum of the episodes' own times, in milliseconds; absent where another program did not say that of each.
    pub episode_ms: Option<u64>,
    /// What the repeats of each question say together; absent where each was run once.
    pub repeats: Option<Repeats>,
    /// Its right answers, where the run has a variant of the same model with tools, and one without.
    right: Option<RightAnswers>,
    paid: Paid,
    /// Tokens of measured episodes' answers from a cache.
    cached: Usage,
}

/// Lines that are named when they cannot be read.
const MAX_LISTED: usize = 20;

/// A warning for each of the first lines of a record that cannot be read, and one for all others.
pub(crate) fn left_out(records: &Records) -> impl Iterator<Item = String> {
    warnings(records.skipped(), "left out")
}

/// A warning for each of the first lines that cannot be read, with what becomes of it, and one for all others.
pub(crate) fn warnings(skipped: &[Skipped], outcome: &'static str) -> impl Iterator<Item = String> {
    let warning =
        move |line: &Skipped| format!("warning: {}:{}: {}; {outcome}", line.path.display(), line.line, line.reason);
    let more = skipped.len().saturating_sub(MAX_LISTED);
    let rest = (more > 0).then(|| format!("warning: {} {outcome}", counted(more, "more line")));
    skipped.iter().take(MAX_LISTED).map(warning).chain(rest)
}

fn evidence_and_clusters(folder: &RunFolder, manifest: &Manifest) -> (Evidence, Option<[usize; 2]>) {
    let (mut clusters, mut questions) = (HashSet::new(), 0);
    let evidence = Evidence::of_questions(folder, manifest, None, |question| {
        questions += usize::from(question.cluster.is_some());
        clusters.extend(question.cluster.clone());
    });
    (evidence, (clusters.len() < questions).then_some([questions, clusters.len()]))
}

/// The line of each failure of a server, which words every refusal a little differently.
type FailureLines = HashMap<(Failure, String), String>;

impl Summary {
    /// Notes why an episode was not measured or its agent failed, and other statuses of a site.
    fn note(&mut self, trajectory: &Trajectory, lines: &mut FailureLines) {
        if trajectory.outcome == Outcome::NotMeasured {
            self.note_reason(trajectory, lines);
        }
        if trajectory.outcome == Outcome::AgentFailure {
            let reason = || visible_line(trajectory.detail.as_deref().unwrap_or_default(), 600);
            self.agent_failures.get_or_insert_with(|| (0, reason())).0 += 1;
        }
        let provenances = trajectory.steps.iter().filter_map(|step| step.provenance.as_ref());
        for status in provenances.map(|provenance| provenance.status).filter(|status| *status != 200) {
            *self.other_statuses.entry(status).or_default() += 1;
        }
    }

    fn note_reason(&mut self, trajectory: &Trajectory, lines: &mut FailureLines) {
        let manifest = &self.manifest;
        let detail = trajectory.detail.as_deref().unwrap_or_default();
        let line = visible_line(&without_paths(detail), 240);
        let variant = manifest.variants.iter().find(|variant| variant.name == trajectory.variant);
        let line = match (trajectory.failure, variant) {
            // The reason of a refusal is in its words.
            (Some(failure), Some(variant)) if !matches!(failure.cause, Cause::BadRequest | Cause::Other) => {
                let server = server_of(failure.service, variant).unwrap_or_default().to_owned();
                lines.entry((failure, server)).or_insert(line).clone()
            }
            _ => line,
        };
        if let Some(variant) = variant
            && !manifest.is_imported()
            && !self.hints.contains_key(&line)
        {
            self.hints.insert(line.clone(), hint(trajectory.failure, detail, variant, manifest));
        }
        *self.reasons.entry(line).or_default() += 1;
    }

    /// What the answers from a cache would have cost, in US dollars, where the price is known.
    pub(crate) fn cached_usd(&self) -> f64 {
        let variants = self.manifest.variants.iter().zip(&self.variants);
        let of =
            |(variant, score): (&Variant, &VariantScore)| Some(Price::from(variant.price.as_ref()?).of(score.cached));
        variants.filter_map(of).sum()
    }

    /// Scores a run, by its dataset's metric unless one is named. Lines that cannot be read are left out, with a note.
    pub fn of(folder: &Path, metric: Option<Metric>) -> Result<Self, RunError> {
        Self::of_each(folder, metric, |_| {})
    }

    /// The same with a look at each episode that is in the figures.
    pub(crate) fn of_each(
        folder: &Path,
        metric: Option<Metric>,
        look: impl FnMut(&ScoredEpisode),
    ) -> Result<Self, RunError> {
        let folder = RunFolder::open(folder)?;
        let records = folder.records()?;
        let mut summary = Self::of_records(&folder, &records, metric, None, look)?;
        if summary.missing() > 0 {
            summary.unfinished_shards = unfinished(&folder, &summary.manifest, &records)?;
        }
        Ok(summary)
    }

    /// The same of what was read already: of all of it, or of one shard, which is to have so many episodes.
    pub(super) fn of_records(
        folder: &RunFolder,
        records: &Records,
        metric: Option<Metric>,
        part: Option<(Shard, u64)>,
        mut look: impl FnMut(&ScoredEpisode),
    ) -> Result<Self, RunError> {
        let (manifest, shard) = (folder.manifest()?, part.map(|(shard, _)| shard));
        let mut variants = empty_scores(&manifest, metric);
        let watch = Watch::of_records(folder, &manifest, records)?;
        let (evidence, clusters) = evidence_and_clusters(folder, &manifest);
        let mut summary = Self {
            run: folder.path().to_owned(),
            shard,
            active_ms: active_ms(folder, &manifest, shard)?,
            planned: part.map_or_else(|| manifest.planned_in_all() as u64, |(_, episodes)| episodes),
            notes: left_out(records).collect(),
            evidence,
            clusters,
            manifest,
            ..Self::default()
        };
        let (mut show_id, mut lines, mut retired) = (None, FailureLines::new(), PaidByVariant::new());
        for trajectory in records.iter() {
            let trajectory = trajectory?;
            if shard.is_some_and(|shard| !plan::is_of(&trajectory, shard)) {
                continue;
            }
            summary.note(&trajectory, &mut lines);
            let of_it = variants.iter_mut().find(|(variant, _)| variant.name == trajectory.variant);
            let Some((variant, tally)) = of_it else {
                if trajectory.measured() {
                    *retired.entry(trajectory.variant.clone()).or_default() += Paid::of(&trajectory);
                }
                continue;
            };
            if watch.as_ref().is_some_and(|watch| watch.is_after_stop(&trajectory.id)) {
                // An episode after the stop is in no figure; it was paid for like the others.
                if trajectory.measured() {
                    variant.paid += Paid::of(&trajectory);
                }
                continue;
            }
            let (metric, gold) = (tally.metric_for(&trajectory.answers), summary.evidence.get(&trajectory.id));
            let episode = ScoredEpisode::of(trajectory, metric, gold);
            variant.add(tally, &episode);
            offer(&mut show_id, &episode);
            look(&episode);
        }
        let scored = |(variant, tally): (_, Tally)| VariantScore { score: tally.score(), ..variant };
        summary.variants = variants.into_iter().map(scored).collect();
        let measured = summary.variants.iter().map(|score| (score.name.clone(), score.paid)).chain(retired).collect();
        summary.spending = Spending::of(&summary.manifest, &measured, &folder.paid_and_unfinished(records, shard)?);
        summary.stopping = watch.map(|watch| watch.stopping());
        summary.show_id = show_id.map(|(id, _)| id);
        Ok(summary)
    }

    /// Calls with a cut or withheld answer or prompt, and what to do about each kind: the reason is not in the model.
    pub fn shortfalls(&self) -> Vec<String> {
        let of = |score: &VariantScore| {
            let variant = self.manifest.variants.iter().find(|variant| variant.name == score.name);
            let mut lines = variant.map_or_else(Vec::new, |variant| shortfalls(&score.shortfalls, variant));
            lines.extend(score.prompts.described().map(|what| format!("{what}: {LARGER_CONTEXT}")));
            let name = visible_line(&score.name, 40);
            lines.into_iter().map(move |line| format!("{name}: {line}")).collect::<Vec<_>>()
        };
        self.variants.iter().flat_map(of).collect()
    }

    /// What tools add to what each model answers without them.
    pub fn closed_books(&self) -> Vec<ClosedBook> {
        let of = |score: &VariantScore| self.manifest.variants.iter().find(|variant| variant.name == score.name);
        let scores = self.variants.iter();
        let answers = scores.filter_map(|score| Some((&*score.name, of(score)?, score.right.as_ref()?)));
        closed_books(&answers.collect::<Vec<_>>())
    }

    /// Episodes of all variants without a measurement, which a resumed run does again.
    pub fn unmeasured(&self) -> u64 {
        self.variants.iter().map(|variant| variant.score.not_measured + variant.score.budget).sum()
    }

    /// Whether episodes ended and not one was measured, or had an answer that it could go on with.
    pub fn holds_no_answer(&self) -> bool {
        let ended: u64 = self.variants.iter().map(|variant| variant.score.episodes).sum();
        ended > 0 && self.unmeasured() == ended && self.spending.total.calls == 0
    }

    /// Episodes that the run, or the shard, is to have.
    pub fn planned(&self) -> u64 {
        self.planned
    }

    /// Whether its rule stopped it: what was not run is not missing.
    pub fn is_decided(&self) -> bool {
        self.stopping.as_ref().is_some_and(|stopping| stopping.decided)
    }

    /// Planned episodes that are not recorded, unless a rule stopped the run.
    pub fn missing(&self) -> u64 {
        if self.is_decided() {
            return 0;
        }
        self.planned().saturating_sub(self.variants.iter().map(|variant| variant.score.episodes).sum())
    }

    /// Episodes of all variants that the run's budget cut short.
    pub fn cut_short(&self) -> u64 {
        self.variants.iter().map(|variant| variant.score.budget).sum()
    }

    /// Whether resuming the run would do something.
    pub fn is_unfinished(&self) -> bool {
        !self.is_decided() && (self.unmeasured() > 0 || self.missing() > 0)
    }

    /// The command that resumes the run. Where the budget is spent, the word `LARGER` takes its place: the same
    /// budget again would stop at once.
    ///
    /// A server that the experiment's file names is named here too, as it gets a key only from somebody who names it.
    pub fn resume_command(&self, spent: bool) -> String {
        let server = self.server_of_file();
        let mut switches = vec!["--resume", "--quiet", "-q"];
        if server.is_some() && !self.is_limited_by_a_files_price() {
            switches.push("--confirm");
        }
        let typed = self.manifest.command_line.get(1..).unwrap_or_default();
        let larger: &[&str] = if spent { &BUDGETS } else { &[] };
        let mut words = vec!["wikitrail".to_owned()];
        words.extend(words_again(typed, larger, &switches, &["--out", "--shard"]));
        if let Some(server) = server {
            words.extend(["--base-url".to_owned(), shell_word(server)]);
        }
        let folder = self.manifest.folder_of_experiment(&self.run).unwrap_or_else(|| self.run.clone());
        words.extend(["--resume".to_owned(), "--out".to_owned(), shell_word(&folder.display().to_string())]);
        words.extend(self.shard.into_iter().flat_map(|shard| ["--shard".to_owned(), shard.to_string()]));
        words.join(" ")
    }

    /// The command that goes on with the run that was found in its folder, in which nothing is typed that a stranger's folder says.
    /// Where the budget is spent, larger limits are asked for.
    pub fn command_to_go_on(&self, spent: bool) -> Option<String> {
        let mut command = self.manifest.resume_command(&self.run).or_else(|| self.branch_command())?;
        let is_typed =
            |flag: &&str| self.manifest.command_line.iter().any(|word| word.split('=').next() == Some(*flag));
        for flag in BUDGETS.iter().filter(|flag| spent && is_typed(flag)) {
            let _ = write!(command, " {flag} LARGER");
        }
        if let Some(shard) = self.shard {
            let _ = write!(command, " --shard {shard}");
        }
        Some(command)
    }

    /// The command of a branch again, whose words name no server and no program. One that sends a file to a model is not repeated.
    fn branch_command(&self) -> Option<String> {
        let words = self.manifest.command_line.get(1..).filter(|_| self.manifest.is_branch())?;
        if words.iter().any(|word| word.starts_with("--observation-file")) {
            return None;
        }
        let words = words_again(words, &[], &["--resume", "--quiet", "-q", "--confirm"], &["--out"]).join(" ");
        Some(format!("wikitrail {words} --resume --out {}", shell_word(&self.run.display().to_string())))
    }

    /// Whether a limit in dollars holds by a price that was set and not typed, which may have been confirmed.
    fn is_limited_by_a_files_price(&self) -> bool {
        let Manifest { command_line, variants, .. } = &self.manifest;
        let is_typed = |flag: &str| command_line.iter().any(|word| word.split('=').next() == Some(flag));
        let is_set = variants.iter().any(|variant| variant.price.as_ref().is_some_and(|price| price.as_of.is_none()));
        is_set && is_typed("--budget-usd") && !is_typed("--price")
    }

    /// The server that an experiment's file names for all its models, where it is not the provider's own and was not typed.
    fn server_of_file(&self) -> Option<&str> {
        let Manifest { experiment, command_line, variants, .. } = &self.manifest;
        let is_typed = |word: &String| word.split('=').next() == Some("--base-url");
        if experiment.is_none() || command_line.iter().any(is_typed) {
            return None;
        }
        let mut servers = variants.iter().filter_map(|variant| Some((&variant.model, variant.base_url.as_deref()?)));
        let (model, server) = servers.next()?;
        let one = servers.all(|(_, other)| other == server);
        (one && !is_own(model, server)).then_some(server)
    }
}

/// A reason with addresses down to their hosts: what was searched for is left out.
fn without_paths(detail: &str) -> String {
    let mut rest = detail;
    let mut text = String::with_capacity(detail.len());
    while let Some(at) = rest.find("://") {
        let host = at + 3 + rest[at + 3..].find(['/', '?', '#', '`', ' ']).unwrap_or(rest.len() - at - 3);
        text.push_str(&rest[..host]);
        rest = &rest[host..];
        rest = &rest[rest.find(['`', ' ']).unwrap_or(rest.len())..];
    }
    text + rest
}

/// The figures of each variant before its first episode.
fn empty_scores(manifest: &Manifest, metric: Option<Metric>) -> Vec<(VariantScore, Tally)> {
    let empty = |variant: &Variant| {
        let tally = metric.map_or_else(|| Tally::new(&manifest.dataset.name), Tally::with_metric);
        let repeats = manifest.repeats_of(variant);
        let score = VariantScore {
            name: variant.name.clone(),
            episode_ms: Some(0),
            repeats: (repeats > 1).then(Repeats::default),
            right: has_counterpart(variant, &manifest.variants).then(RightAnswers::default),
            ..VariantScore::default()
        };
        (score, tally.by_question(repeats))
    };
    manifest.variants.iter().map(empty).collect()
}

/// Time that was worked on the run, or on a shard of it.
fn active_ms(folder: &RunFolder, manifest: &Manifest, shard: Option<Shard>) -> Result<u64, RunError> {
    let shards = folder.shards()?;
    let of = |shard: Shard| shards.iter().find(|record| record.shard == shard).map_or(0, |record| record.active_ms);
    let longest = shards.iter().map(|record| record.active_ms).max().unwrap_or_default();
    Ok(shard.map_or(manifest.active_ms + longest, of))
}

impl VariantScore {
    fn add(&mut self, tally: &mut Tally, episode: &ScoredEpisode) {
        let trajectory = &episode.trajectory;
        tally.add_scored(trajectory, episode.score);
        if let Some(assessment) = &episode.assessment {
            self.assessment.add(assessment);
        }
        if let Some(repeats) = &mut self.repeats {
            repeats.add(episode);
        }
        if let (Some(answers), Some(right)) = (&mut self.right, episode.is_right()) {
            answers.add(&trajectory.id, right);
        }
        // A hidden answer does not show which metric the others have.
        if self.metric.is_empty() || !trajectory.answers.is_empty() {
            self.metric = episode.metric.name();
        }
        self.episode_ms = self.episode_ms.zip(trajectory.timed_ms()).map(|(sum, ms)| sum.saturating_add(ms));
        if trajectory.measured() {
            self.paid += Paid::of(trajectory);
            let calls = trajectory.steps.iter().flat_map(|step| &step.calls);
            calls
                .filter(|call| call.cached && !call.copied)
                .for_each(|call| self.cached += call.usage.unwrap_or_default());
            self.shortfalls += Shortfalls::of(trajectory);
            self.prompts += PromptGrowth::of(trajectory);
        } else {
            self.shortfalls += Shortfalls::of_unmeasured(trajectory);
        }
    }
}

/// Keeps the first wrong answer, or else the first episode, for `show`.
fn offer(kept: &mut Option<(String, bool)>, episode: &ScoredEpisode) {
    let wrong = episode.score.is_some_and(|score| score.em == 0.0);
    if kept.as_ref().is_none_or(|(_, known_wrong)| wrong && !known_wrong) {
        *kept = Some((episode.trajectory.id.clone(), wrong));
    }
}

/// What a run has cost, variants included that are no longer part of it: `total = measured + unfinished + discarded`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spending {
    pub total: Expenditure,
    pub measured: Expenditure,
    /// What is kept of episodes that were cut short, that failed or that never ended: `--resume` goes on from there.
    pub unfinished: Expenditure,
    /// What nothing is kept of: it went to episodes that were run again from their beginning, or will be.
    pub discarded: Expenditure,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Expenditure {
    pub calls: u64,
    pub usage: Usage,
    /// US dollars, of the variants whose price is known; absent if none is.
    pub cost_usd: Option<f64>,
}

impl Spending {
    /// Of what was paid for, `measured` went to measured episodes and `unfinished` to those that have not ended.
    fn of(manifest: &Manifest, measured: &PaidByVariant, (paid, unfinished): &(PaidByVariant, PaidByVariant)) -> Self {
        let mut spending = Self::default();
        for variant in manifest.known_variants() {
            let of = |part: &PaidByVariant| part.get(&variant.name).copied().unwrap_or_default();
            let (measured, total, unfinished) = (of(measured), of(paid), of(unfinished));
            let price = variant.price.as_ref().map(Price::from);
            let discarded = total.saturating_sub(measured).saturating_sub(unfinished);
            for (part, sum) in [
                (measured, &mut spending.measured),
                (unfinished, &mut spending.unfinished),
                (discarded, &mut spending.discarded),
            ] {
                sum.add(part, price);
                spending.total.add(part, price);
            }
        }
        spending
    }
}

impl Expenditure {
    fn add(&mut self, Paid { calls, usage, .. }: Paid, price: Option<Price>) {
        self.calls += calls;
        self.usage += usage;
        if let Some(price) = price {
            self.cost_usd = Some(self.cost_usd.unwrap_or_default() + price.of(usage));
        }
    }
}

impl std::fmt::Display for Expenditure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (calls, tokens) = (counted(self.calls, "model call"), counted(self.usage.total(), "token"));
        write!(f, "{calls}, {tokens}")?;
        self.cost_usd.map_or(Ok(()), |usd| write!(f, ", {usd:.4} USD"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct UnfinishedShard {
    pub shard: Shard,
    pub planned: u64,
    /// Those that are recorded, in whatever file.
    pub recorded: u64,
}

/// The shards that are not complete. None where the run was not split, or in several ways, or does not hold its questions.
fn unfinished(folder: &RunFolder, manifest: &Manifest, records: &Records) -> Result<Vec<UnfinishedShard>, RunError> {
    let shards: Vec<Shard> = folder.shards()?.iter().map(|record| record.shard).collect();
    let Some(&one) = shards.first().filter(|one| shards.iter().all(|shard| shard.count() == one.count())) else {
        return Ok(Vec::new());
    };
    let Some(questions) = folder.questions(None)? else { return Ok(Vec::new()) };
    let questions = questions.map(|question| question.map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
    let recorded: HashSet<&str> = records.keys().map(|(key, ..)| key).collect();
    let counts = plan::by_shard(questions, manifest, one, |key| recorded.contains(key));
    let all = counts.into_iter().map(|(shard, (planned, recorded))| UnfinishedShard { shard, planned, recorded });
    Ok(all.filter(|shard| shard.recorded < shard.planned).collect())
}
