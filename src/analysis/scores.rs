//! A run's figures with what stands beside them: metrics of files, what people and judges said, notes and next commands.

use crate::analysis::Notify;
use crate::analysis::annotations::{
    Annotation, AnnotationClass, Annotations, Disagreement, Judgements, Table, is_model,
};
use crate::analysis::report::agreement::{judged_figures, judgements as judgement_tables};
use crate::analysis::report::console::percent;
use crate::analysis::report::summary::{
    LEVEL, attempts_table, em_interval, f1_interval, given_attempted_interval, ratio_interval, shares_interval,
};
use crate::analysis::report::verdict::headline;
use crate::analysis::report::{JoinedRow, RunSummary, repeats_json, repeats_tables, wrapped};
use crate::analysis::results::{
    EpisodeName, EpisodeNames, GradedRun, JoinedMetric, JudgedRun, Results, RunRef, folder_name, judged_metrics,
    judgements_of, with_judges, with_recorded,
};
use crate::base::stats::{Interval, Mean};
use crate::base::text::{counted, joined, shell_word, thousands, visible_line};
use crate::base::{Trajectory, Variant};
use crate::runner::experiment::Differing;
use crate::runner::store::RunFolder;
use crate::runner::{RunError, Spending, Summary, UnfinishedShard, VariantScore, format_note};
use crate::scoring::{AnswerScore, FailureClass, Figure, Metric, ScoredEpisode, Unit, closed_book_sentences, figure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const MAX_SHARDS_LISTED: usize = 7;
const MAX_LISTED: usize = 3;

#[derive(Debug, Default)]
pub(crate) struct ExtraScores {
    /// A line for each episode, with `--per-item`.
    pub(crate) lines: Option<Vec<String>>,
    /// An object for each episode, with `--per-item --json`.
    pub(crate) items: Option<Vec<Value>>,
    pub(crate) joined: Vec<JoinedRow>,
    pub(crate) judgements: Option<Judgements>,
    pub(crate) judged: Option<JudgedRun>,
    /// How many episodes models read to classify them, a sentence each.
    pub(crate) readers: Vec<String>,
}

/// The tables of a run for a terminal of that width; when it has just ended, the next commands are those of an end.
pub(crate) fn run_summary<'a>(
    summary: &'a Summary,
    extra: &'a ExtraScores,
    ended: bool,
    width: usize,
) -> RunSummary<'a> {
    let ExtraScores { joined, judgements, judged, readers, .. } = extra;
    let metric = summary.variants.first().map_or("", |variant| variant.metric);
    let title = title(summary, metric);
    let accuracy = Metric::parse(metric).is_some_and(Metric::is_accuracy);
    let (wall_ms, mut notes, next) = (wall_ms(summary), notes(summary, accuracy, width), next_steps(summary, ended));
    notes.extend(judged.iter().flat_map(|judged| judge_notes(judged, summary)));
    notes.extend(readers.iter().cloned());
    let people = judgements
        .as_ref()
        .map(|judgements| judgement_tables(judgements, &|one| command(one, summary), width))
        .unwrap_or_default();
    let short = summary.manifest.short_names();
    let repeats = summary.variants.iter().map(|variant| (short.of_name(&variant.name), variant.repeats.as_ref()));
    let repeats = repeats_tables(repeats, width).unwrap_or_default();
    let mean = |row: &'_ JoinedRow| format!("{}, {}", visible_line(&row.variant, 40), visible_line(&row.metric, 60));
    let means: Vec<_> = joined.iter().filter_map(|row| Some((mean(row), row.correction.as_ref()?))).collect();
    let judges = judged.as_ref().map(|judged| judged_figures(judged, &means, width)).unwrap_or_default();
    let closed_book: String =
        closed_book_sentences(&summary.closed_books()).iter().map(|sentence| wrapped(sentence, width, "")).collect();
    let below = closed_book + &attempts_table(&summary.variants, width) + &repeats + &judges + &people;
    RunSummary { title, accuracy, rows: &summary.variants, short, joined, wall_ms, notes, below, next }
}

/// Such as `results/first: 60 questions of sample`; before the questions the episodes, if some are missing.
fn title(summary: &Summary, metric: &str) -> String {
    let dataset = &summary.manifest.dataset;
    let (run, shard) = (summary.run.display(), summary.shard.map(|shard| format!(", shard {shard}")));
    let measured: u64 = summary.variants.iter().map(|variant| variant.score.measured).sum();
    let episodes = summary
        .is_unfinished()
        .then(|| format!("{} of {} measured; ", thousands(measured), counted(summary.planned(), "episode")));
    let questions = if dataset.selected == dataset.questions {
        counted(dataset.questions, "question")
    } else {
        format!("{} of {}", thousands(dataset.selected), counted(dataset.questions, "question"))
    };
    let scored_by = if metric.is_empty() { String::new() } else { format!(", scored by metric `{metric}`") };
    let (shard, episodes) = (shard.unwrap_or_default(), episodes.unwrap_or_default());
    format!("{run}{shard}: {episodes}{questions} of {}{scored_by}", dataset.name)
}

/// What the variants of a run that has ended show, if there are several: a sentence, or a few.
pub(crate) fn verdict(summary: &Summary) -> Vec<String> {
    let scored = summary.variants.iter().filter(|variant| variant.score.scored > 0).count();
    // A rule has said what it found, and the parts of a shard wait for the others.
    if scored < 2 || summary.shard.is_some() || summary.stopping.is_some() {
        return Vec::new();
    }
    let run = RunRef { path: summary.run.clone(), variant: None };
    let Ok(results) = Results::of(&[run], true) else { return Vec::new() };
    let interim = if summary.missing() > 0 { "so far, with episodes missing: " } else { "" };
    let verdicts = results.groups.iter().flat_map(headline).chain(closed_book_sentences(&summary.closed_books()));
    verdicts.map(|sentence| format!("{interim}{sentence}")).collect()
}

pub(crate) fn to_json(summary: &Summary, extra: &ExtraScores) -> Value {
    let mut value = summary_json(summary);
    if let Some(items) = &extra.items {
        value["items"] = json!(items);
    }
    if let Some(judgements) = &extra.judgements {
        value["annotations"] = judgements_json(judgements, summary);
    }
    if let Some(judged) = &extra.judged {
        value["judges"] = json!({ "each": judged.figures(LEVEL), "pairs": judged.pairs(LEVEL) });
    }
    if !extra.joined.is_empty() {
        value["metrics"] = json!(extra.joined);
    }
    value
}

pub(crate) fn together(summaries: &[Summary]) -> Value {
    json!({ "runs": summaries.iter().map(summary_json).collect::<Vec<_>>() })
}

/// Missing episodes, and the commonest reasons for episodes that were not measured.
fn notes(summary: &Summary, accuracy: bool, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(found) = &summary.stopping {
        let metric = figure::label(&found.rule.metric, accuracy);
        let sentence = wrapped(&found.sentence(&found.rule.a, &found.rule.b, metric), width, "");
        lines.extend(sentence.lines().map(str::to_owned));
    }
    let missing = summary.missing();
    if missing > 0 {
        lines.push(format!("{missing} of {} planned episodes are not recorded yet", summary.planned()));
    }
    if !summary.manifest.is_imported() && summary.shard.is_none() && summary.holds_no_answer() {
        lines.push("nothing was measured yet, so --resume may change settings, such as --model".to_owned());
    }
    if let Some([questions, clusters]) = summary.clusters {
        let which = format!("{questions} questions are in {}", counted(clusters, "cluster"));
        lines.push(format!("{which}: intervals here ignore that, those of `list` and `compare` do not"));
    }
    lines.extend(unfinished(&summary.unfinished_shards).filter(|_| !summary.is_decided()));
    lines.extend(unmeasured(summary));
    lines.extend(summary.shortfalls());
    lines.extend(format_failures(summary));
    lines.extend(agent_failures(summary));
    lines.extend(spent(summary));
    lines.extend(from_cache(summary));
    lines.extend(other_statuses(summary));
    lines
}

/// Why episodes were not measured, and what to do about it.
pub(crate) fn unmeasured(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    let mut reasons: Vec<(&String, &u64)> = summary.reasons.iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let mut hints: Vec<&String> = Vec::new();
    for (reason, count) in reasons.iter().take(3) {
        // The reason's own words name the model; those of Wikipedia keep their label.
        let words = reason.strip_prefix("model: ").unwrap_or(reason);
        lines.push(format!("not measured ({count}): {words}"));
        // Several reasons may have one remedy.
        if let Some(hint) = summary.hints.get(*reason).filter(|hint| !hints.contains(hint)) {
            lines.push(format!("hint: {hint}"));
            hints.push(hint);
        }
    }
    if reasons.len() > 3 {
        lines.push(format!("not measured: {} more reasons; see `detail` in the records", reasons.len() - 3));
    }
    lines
}

/// Episodes that the program of another agent ended without an answer, with the reason of the first.
fn agent_failures(summary: &Summary) -> Option<String> {
    let (count, reason) = summary.agent_failures.as_ref()?;
    let reason = reason.strip_prefix("the agent failed: ").unwrap_or(reason);
    Some(format!("the agent failed in {}; in the first, {reason}", counted(*count, "episode")))
}

/// Variants whose score is that of the form.
fn format_failures(summary: &Summary) -> impl Iterator<Item = String> {
    summary.variants.iter().filter_map(|VariantScore { name, score, assessment, .. }| {
        let variant = summary.manifest.known_variants().find(|variant| variant.name == *name)?;
        let failures = assessment.failures.of(FailureClass::Format);
        format_note(&visible_line(name, 40), &variant.protocol, failures, score.measured)
    })
}

fn spent(summary: &Summary) -> Option<String> {
    let Spending { total, unfinished, discarded, .. } = &summary.spending;
    // A rule that has decided leaves nothing to resume.
    let episodes = if summary.is_decided() {
        "episodes that were not measured"
    } else {
        "episodes that have not ended, which --resume goes on with"
    };
    let unfinished = (unfinished.calls > 0).then(|| format!("{unfinished} on {episodes}"));
    let discarded = (discarded.calls > 0).then(|| format!("{discarded} on what is not kept"));
    let parts = joined(unfinished.into_iter().chain(discarded), ", and ");
    parts.map(|parts| format!("spent: {total}; of these {parts}"))
}

/// What was paid of the cost in the table, where answers came from the cache.
fn from_cache(summary: &Summary) -> Option<String> {
    let cost: f64 = summary.variants.iter().filter_map(|variant| variant.score.cost_usd).sum();
    let cached = summary.cached_usd();
    let is_known = summary.variants.iter().all(|variant| variant.score.uncounted == 0);
    // Less than what is printed is a difference of rounding.
    (is_known && cached >= 0.00005).then(|| {
        let paid = cost - cached;
        format!("paid: {paid:.4} USD of the {cost:.4} USD; the cache's answers would have cost {cached:.4} USD")
    })
}

fn unfinished(shards: &[UnfinishedShard]) -> Option<String> {
    let told = |UnfinishedShard { shard, planned, recorded }: &UnfinishedShard| {
        format!("{shard} ({} of {})", thousands(*recorded), counted(*planned, "episode"))
    };
    let first = joined(shards.iter().take(MAX_SHARDS_LISTED).map(told), ", ")?;
    let more = shards.len().saturating_sub(MAX_SHARDS_LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("unfinished shards: {first}{more}"))
}

/// Error pages that the paper's environment takes for pages.
fn other_statuses(summary: &Summary) -> Option<String> {
    let all = &summary.other_statuses;
    let each: Vec<String> = all.iter().map(|(status, count)| format!("{status}: {}", thousands(*count))).collect();
    (!all.is_empty()).then(|| {
        format!(
            "{} came from answers with a status other than 200 ({}): `--compat paper` reads any answer as a page, as the \
             original does",
            counted(all.values().sum::<u64>(), "observation"),
            each.join(", ")
        )
    })
}

/// What to do next, at the end of a run or after its figures.
fn next_steps(summary: &Summary, ended: bool) -> Vec<String> {
    let run = shell_word(&summary.run.display().to_string());
    let mut next = Vec::new();
    if summary.is_unfinished() && !summary.manifest.is_imported() {
        // A run with nothing recorded has met its budget before the first episode: without one, something is recorded.
        let spent = summary.budget_spent || summary.cut_short() > 0 || summary.missing() == summary.planned();
        if ended {
            next.push(summary.resume_command(spent));
        } else {
            next.extend(summary.command_to_go_on(spent));
        }
    }
    // Of nothing there is nothing to show.
    if summary.variants.iter().all(|variant| variant.score.measured == 0) && !next.is_empty() {
        return next;
    }
    // A variant without a score cannot be compared.
    let comparable = summary.variants.len() > 1 && summary.variants.iter().all(|variant| variant.score.scored > 0);
    if comparable && summary.shard.is_none() {
        let setting = setting_to_compare(&summary.manifest.variants);
        next.extend(setting.map(|setting| format!("wikitrail compare {run} --within {setting}")));
        next.push(format!("wikitrail compare {run}"));
    }
    if ended || summary.shard.is_some() {
        next.push(format!("wikitrail score {run}"));
    }
    if summary.shard.is_some() {
        return next;
    }
    let is_unstable =
        |variant: &VariantScore| variant.repeats.as_ref().is_some_and(|of| of.unstable().next().is_some());
    if summary.variants.iter().any(is_unstable) {
        next.push(format!("wikitrail show {run} --unstable"));
    }
    if let Some(id) = &summary.show_id {
        // An id such as -1 would be read as a flag.
        let end = if id.starts_with('-') { "-- " } else { "" };
        next.push(format!("wikitrail show {run} {end}{}", shell_word(id)));
    }
    next.push(if ended {
        format!("wikitrail report {run}")
    } else {
        format!("wikitrail export {run} --format csv --rows questions --out questions.csv")
    });
    next
}

/// Settings whose values people compare, the likeliest first.
const COMPARED_SETTINGS: [&str; 4] = ["prompt", "method", "protocol", "model"];

/// The setting to compare with all others held equal, where variants differ in several and some of them in this one alone.
fn setting_to_compare(variants: &[Variant]) -> Option<&'static str> {
    let differing = Differing::of(variants);
    // The limit of tokens follows the protocol.
    let is_free = |at: usize| differing.settings[at] != "max_tokens";
    let places: Vec<usize> = (0..differing.settings.len()).filter(|at| is_free(*at)).collect();
    let alone = |place: usize, a: &[Option<String>], b: &[Option<String>]| {
        places.iter().all(|at| (a[*at] == b[*at]) != (*at == place))
    };
    let rows = || differing.rows.iter().map(|(_, row)| row.as_slice());
    let is_matched = |place: usize| rows().any(|a| rows().any(|b| alone(place, a, b)));
    let place = |name: &&str| differing.settings.iter().position(|setting| setting == name);
    COMPARED_SETTINGS.into_iter().find(|name| places.len() > 1 && place(name).is_some_and(is_matched))
}

/// Time that the run's parts took, if one has ended by itself.
fn wall_ms(summary: &Summary) -> Option<u64> {
    (summary.active_ms > 0).then_some(summary.active_ms)
}

fn summary_json(summary: &Summary) -> Value {
    let variants: Vec<Value> = summary.variants.iter().map(variant_json).collect();
    let mut value = json!({
        "run": summary.run.display().to_string(),
        "dataset": summary.manifest.dataset.name,
        "selected": summary.manifest.dataset.selected,
        "planned": summary.planned(),
        "missing": summary.missing(),
        "unfinished_shards": summary.unfinished_shards,
        "not_measured_reasons": summary.reasons,
        "observations_not_200": summary.other_statuses,
        "level": LEVEL,
        "wall_ms": wall_ms(summary),
        "spending": Some(&summary.spending).filter(|_| !summary.manifest.is_imported()),
        "supporting_facts": {"questions": summary.evidence.len(), "missing": summary.evidence.missing},
        "variants": variants,
    });
    if let Some(stopping) = &summary.stopping {
        value["stopping"] = json!(stopping);
    }
    let closed_book = summary.closed_books();
    if !closed_book.is_empty() {
        value["closed_book"] = json!(closed_book);
    }
    if let Some(shard) = summary.shard {
        value["shard"] = json!(shard);
    }
    value
}

fn variant_json(variant: &VariantScore) -> Value {
    let pair = |interval: Option<Interval>| interval.map(|interval| [interval.low, interval.high]);
    let score = &variant.score;
    // The name says which interval it is: with repeats there is no Wilson interval.
    let em = pair(em_interval(score));
    let (em_wilson, em_t) = if score.questions.is_none() { (em, None) } else { (None, em) };
    json!({
        "name": variant.name,
        "metric": variant.metric,
        "episodes": score.episodes,
        "measured": score.measured,
        "scored": score.scored,
        "hidden": score.hidden,
        "em": score.em,
        "em_wilson": em_wilson,
        "em_t": em_t,
        "em_bounds": score.em_bounds,
        "f1": score.f1,
        "f1_t": pair(f1_interval(score)),
        "attempted": score.attempted,
        "given_attempted": score.given_attempted.mean(),
        "given_attempted_interval": pair(given_attempted_interval(score)),
        "simpleqa_f1": score.simpleqa_f1.mean(),
        "simpleqa_f1_interval": pair(ratio_interval(score.simpleqa_f1)),
        "intervals_over": if score.questions.is_none() { "episodes" } else { "questions" },
        "questions": score.questions.map_or(score.scored, |questions| questions.n),
        "repeats": variant.repeats.as_ref().map(repeats_json),
        "outcomes": score.outcomes,
        "steps": score.steps,
        "calls": score.calls,
        "bad_calls": score.bad_calls,
        "shortfalls": score.steps.map(|_| &variant.shortfalls),
        "usage": score.counted_usage(),
        "cost_usd": score.cost_usd,
        "tokens_per_question": score.tokens_per_question(),
        "tokens_per_correct": score.tokens_per_correct(),
        "cost_per_question_usd": score.cost_per_question(),
        "cost_per_correct_usd": score.cost_per_correct(),
        "episode_ms": variant.episode_ms,
        "trajectory": score.steps.map(|_| &variant.assessment),
    })
}

/// For reading, on one line: the id first, as with files of predictions.
pub(crate) fn item_line(episode: &ScoredEpisode) -> String {
    let figures = episode
        .score
        .map_or_else(|| "em –  f1 –".to_owned(), |AnswerScore { em, f1, .. }| format!("em {em:.4}  f1 {f1:.4}"));
    let failure = episode.class().map_or_else(String::new, |class| format!("  {}", class.name()));
    let Trajectory { id, variant, repeat, outcome, .. } = &episode.trajectory;
    let (id, variant) = (visible_line(id, 80), visible_line(variant, 40));
    format!("{id}  {variant}  repeat {repeat}  {figures}  {}{failure}", outcome.name())
}

pub(crate) fn item_json(episode: &ScoredEpisode) -> Value {
    let ScoredEpisode { trajectory, score, assessment, .. } = episode;
    let gold = assessment.as_ref().and_then(|assessment| assessment.retrieval.gold);
    json!({
        "variant": trajectory.variant,
        "repeat": trajectory.repeat,
        "id": trajectory.id,
        "outcome": trajectory.outcome.name(),
        "em": score.map(|score| score.em),
        "f1": score.map(|score| score.f1),
        "precision": score.map(|score| score.precision),
        "recall": score.map(|score| score.recall),
        "retrieval": assessment.as_ref().map(|assessment| assessment.retrieval),
        "first_hop": gold.map(|gold| gold.first_hop()),
        "all_hops": gold.map(|gold| gold.all_hops()),
        "grounding": assessment.as_ref().and_then(|assessment| assessment.grounding),
        "failure": episode.failure(),
        "leak": assessment.as_ref().and_then(|assessment| assessment.leak),
    })
}

const OF_KILT: [&Figure; 4] = [&figure::R_PRECISION, &figure::RECALL_AT_5, &figure::KILT_EM, &figure::KILT_F1];

/// Values of the episodes of a question, by variant and by the question's id.
type Values = BTreeMap<(String, String), Vec<f64>>;

/// A row for each variant and metric, the judges' first, after what is missing was said.
pub(crate) fn joined_rows(
    run: &Path,
    is_kilt: bool,
    of_files: Vec<JoinedMetric>,
    judged: Option<&JudgedRun>,
    tell: Notify<'_>,
) -> Result<Vec<JoinedRow>, RunError> {
    let metrics = &with_judges(with_recorded(of_files, &[run])?, judged_metrics(judged)?)?;
    let figures: &[&Figure] = if is_kilt { &OF_KILT } else { &[] };
    if metrics.is_empty() && figures.is_empty() {
        return Ok(Vec::new());
    }
    let (folder, graded) = (folder_name(run), GradedRun::open(run)?);
    let mut values: Vec<Values> = vec![Values::new(); metrics.len() + figures.len()];
    let mut names = EpisodeNames::default();
    let mut variants: Vec<String> = Vec::new();
    for (_, episode) in graded.counted_episodes() {
        let graded = episode?;
        let trajectory = &graded.trajectory;
        names.add(&folder, trajectory);
        if !variants.contains(&trajectory.variant) {
            variants.push(trajectory.variant.clone());
        }
        if !trajectory.measured() {
            continue;
        }
        let of_files = metrics.iter().map(|metric| metric.value(EpisodeName::of(&folder, trajectory)));
        let of_episode = figures.iter().map(|figure| figure.value(&graded));
        for (value, values) in of_files.chain(of_episode).zip(&mut values) {
            if let Some(value) = value {
                values.entry((trajectory.variant.clone(), trajectory.id.clone())).or_default().push(value);
            }
        }
    }
    names.coverage(metrics)?.into_iter().for_each(tell);
    let of_files = metrics.iter().map(|metric| (metric.name.as_str(), metric.unit));
    let columns: Vec<(&str, Unit)> =
        of_files.chain(figures.iter().map(|figure| (figure.name, figure.unit()))).collect();
    let row = |variant: &String, (name, unit): (&str, Unit), values: &Values| {
        let of_variant = || values.iter().filter(|((of, _), _)| of == variant).map(|(_, values)| values);
        // Repeats of a question are not independent: its mean counts.
        let means: Vec<f64> = of_variant().filter_map(|values| Some(Mean::of(values)?.mean)).collect();
        let mean = Mean::of(&means);
        JoinedRow {
            variant: variant.clone(),
            metric: name.to_owned(),
            unit,
            episodes: of_variant().map(Vec::len).sum(),
            questions: means.len(),
            mean: mean.map(|mean| mean.mean),
            correction: judged.and_then(|judged| judged.correction(name, variant, LEVEL)),
            interval: match unit {
                Unit::Share => shares_interval(&means, of_variant().all(|values| values.len() == 1)),
                Unit::Amount => mean.and_then(|mean| mean.t_interval(LEVEL)),
            },
        }
    };
    let of_variant = |variant| columns.iter().zip(&values).map(move |(name, values)| row(variant, *name, values));
    Ok(variants.iter().flat_map(of_variant).collect())
}

/// The judgements of people and the readings of models, if there are any. What cannot be read is said, and what models read.
pub(crate) fn annotations(run: &Path, tell: Notify<'_>) -> Result<(Option<Annotations>, Vec<String>), RunError> {
    let (annotations, readings) = judgements_of(&RunFolder::open(run)?)?;
    annotations.notes().chain(readings.notes()).for_each(tell);
    let read = |(name, read, unreadable, usd): (String, usize, usize, Option<f64>)| {
        let name = visible_line(&name, 80);
        if read == 0 {
            return format!("{name} has read no failed episode yet");
        }
        let lost =
            if unreadable > 0 { format!(", {unreadable} of them unreadable, not measured") } else { String::new() };
        let usd = usd.map_or_else(|| "price unknown".to_owned(), |usd| format!("{usd:.4} USD"));
        format!("{name} read {}{lost}; {usd}", counted(read, "failed episode"))
    };
    let notes = readings.readers().map(read).collect();
    Ok((Some(annotations).filter(|annotations| !annotations.latest().is_empty()), notes))
}

pub(crate) fn judged_by_rules(episode: &ScoredEpisode) -> Annotation {
    let class = episode.class().map(AnnotationClass::Failure);
    Annotation { class, correct: episode.is_right(), ..Annotation::of(&episode.trajectory) }
}

pub(crate) fn judgements(annotations: &Annotations, by_rules: &[Annotation], tell: Notify<'_>) -> Judgements {
    let judgements = Judgements::of(annotations, by_rules, LEVEL);
    if let Some(first) = judgements.foreign.first() {
        let ids: Vec<String> =
            judgements.foreign.iter().take(MAX_LISTED).map(|foreign| visible_line(&foreign.id, 60)).collect();
        let more = if judgements.foreign.len() > MAX_LISTED { ", …" } else { "" };
        tell(format!(
            "note: {} in annotations.jsonl on episodes that this run does not have ({}{more}; the first by {}); kept, not counted",
            counted(judgements.foreign.len(), "judgement"),
            ids.join(", "),
            visible_line(&first.by, 40)
        ));
    }
    judgements
}

fn command(one: &Disagreement, summary: &Summary) -> String {
    let run = summary.run.display().to_string();
    let several = summary.variants.len() > 1;
    let run = if several { format!("{run}@{}", one.variant) } else { run };
    let repeat = if summary.manifest.repeats > 1 { format!(" --repeat {}", one.repeat) } else { String::new() };
    format!("wikitrail show {} {}{repeat}", shell_word(&run), shell_word(&one.id))
}

fn judgements_json(judgements: &Judgements, summary: &Summary) -> Value {
    let table = |said: &Table| table_json(said, summary);
    let people = judgements.people.iter().map(|person| {
        json!({
            "by": person.by,
            "model": is_model(&person.by),
            "episodes": person.episodes,
            "blind": person.blind,
            "classes": table(&person.classes),
            "correct": table(&person.correct),
        })
    });
    let pairs = judgements
        .pairs
        .iter()
        .map(|two| json!({"people": two.people, "classes": table(&two.classes), "correct": table(&two.correct)}));
    json!({
        "level": LEVEL,
        "people": people.collect::<Vec<_>>(),
        "pairs": pairs.collect::<Vec<_>>(),
        "foreign": judgements.foreign,
    })
}

fn table_json(said: &Table, summary: &Summary) -> Value {
    let counts = &said.agreement.confusion;
    let words = said.words.iter().enumerate().map(|(at, word)| {
        json!({
            "word": word,
            "first": counts.first(at),
            "second": counts.second(at),
            "precision": counts.precision(at),
            "recall": counts.recall(at),
        })
    });
    let disagreements = said.disagreements.iter().map(|one| {
        let mut value = json!(one);
        value["command"] = json!(command(one, summary));
        value
    });
    json!({
        "n": said.agreement.n,
        "agreeing": said.agreement.agreeing,
        "share": said.agreement.share(),
        "kappa": said.agreement.kappa,
        "ac1": said.agreement.ac1,
        "words": words.collect::<Vec<_>>(),
        "confusion": counts,
        "disagreements": disagreements.collect::<Vec<_>>(),
    })
}

fn judge_notes(judged: &JudgedRun, summary: &Summary) -> Vec<String> {
    let mut notes = judged.verdicts.notes().collect::<Vec<_>>();
    for name in &judged.names {
        for variant in &summary.manifest.variants {
            if let Some((missing, ends)) = judged.bounds(name, &variant.name) {
                let (variant, judge) = (visible_line(&variant.name, 40), visible_line(name, 60));
                let (episodes, [low, high]) = (counted(missing, "episode"), ends.map(percent));
                notes.push(format!(
                    "{variant}: {episodes} without a verdict of `{judge}`, left out of its mean; counting them, it is between {low} and {high} %"
                ));
            }
        }
    }
    notes.extend(judged.splits());
    for known in &judged.verdicts.judges {
        let own = summary.manifest.variants.iter().filter(|variant| variant.model == known.judge.model);
        notes.extend(own.take(1).map(|variant| {
            let model = visible_line(&known.judge.model, 80);
            let variant = visible_line(&variant.name, 40);
            format!("{model} judges answers of its own ({variant}): models tend to prefer what they write themselves")
        }));
    }
    notes
}
