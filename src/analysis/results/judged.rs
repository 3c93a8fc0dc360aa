//! The verdicts of a run's judges as metrics, corrected by what people said.

use super::{EpisodeName, GradedRun, JoinedMetric, Source, folder_name};
use crate::analysis::annotations::{Annotation, Annotations, Clusters, is_model};
use crate::analysis::compare::{FigureComparison, Settings};
use crate::analysis::grouped;
use crate::analysis::judges::{Answer, Choice, KnownJudge, Verdict, Verdicts, normalised};
use crate::base::Trajectory;
use crate::base::stats::{
    Agreement, Corrected, Interval, JudgedItem, LabelledPart, corrected, corrected_at_odds, corrected_difference,
};
use crate::base::text::{counted, excerpt};
use crate::dataset::{ValueRow, ValueTable};
use crate::runner::RunError;
use crate::runner::store::RunFolder;
use crate::scoring::{ScoredEpisode, float};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The metric of all judges together.
pub(crate) const JUDGE: &str = "judge";

#[derive(Debug)]
struct Episode {
    id: String,
    variant: String,
    repeat: u32,
    /// The answer in the form in which equal answers are one.
    answer: String,
    /// By exact match.
    right: bool,
    /// What each judge said of its answer, where it was asked.
    verdicts: Vec<Option<Verdict>>,
    values: Vec<Option<f64>>,
    /// What people say.
    label: Option<f64>,
}

impl Episode {
    /// Where the judge gives no verdict, it says one half: leaving such answers out would leave out their labels, which may
    /// differ from the others.
    fn item(&self, judge: Option<f64>, block: usize, cluster: usize, weight: f64) -> JudgedItem {
        let stratum = 2 * block + usize::from(self.right);
        JudgedItem { cluster, stratum, weight, judge: judge.unwrap_or(0.5), label: self.label }
    }
}

#[derive(Debug)]
pub(crate) struct JudgedRun {
    /// `judge`, and where there are several judges one for each.
    pub(crate) names: Vec<String>,
    pub(crate) verdicts: Verdicts,
    path: PathBuf,
    run: String,
    episodes: Vec<Episode>,
    /// Episodes that as many people call right as wrong.
    unlabelled_ties: usize,
}

/// A figure of a judge held against labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Correction {
    /// Judged episodes that people have judged too.
    pub(crate) labels: usize,
    /// Absent where there are too few labels.
    pub(crate) corrected: Option<Corrected>,
    pub(crate) interval: Option<Interval>,
    /// Of a mean: whether its labels look drawn at random.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) drawn: Option<Drawn>,
}

/// What shows whether the labels of a mean were drawn at random.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Drawn {
    pub(crate) labelled_questions: usize,
    pub(crate) wrong_by_em: LabelledPart,
    pub(crate) right_by_em: LabelledPart,
    /// The corrected mean if right answers were labelled twice as often as wrong ones, and half as often.
    pub(crate) at_odds: Option<[f64; 2]>,
}

impl Correction {
    fn of_mean(items: &[JudgedItem], level: f64) -> Self {
        let corrected = corrected(items);
        let interval = corrected.and_then(|found| found.interval(level)).map(|found| found.within(Interval::SHARES));
        let drawn = Some(Drawn::of(items, corrected));
        Self { labels: labelled(items), corrected: within(corrected, Interval::SHARES), interval, drawn }
    }

    /// Of a difference, `b` less `a`.
    fn of_pair([a, b]: [&[JudgedItem]; 2], level: f64) -> Self {
        let corrected = corrected_difference(a, b);
        let interval =
            corrected.and_then(|found| found.interval(level)).map(|found| found.within(Interval::DIFFERENCES));
        let labels = labelled(a) + labelled(b);
        Self { labels, corrected: within(corrected, Interval::DIFFERENCES), interval, drawn: None }
    }
}

/// The estimate, which labels of a part can move beyond what is possible.
fn within(found: Option<Corrected>, range: Interval) -> Option<Corrected> {
    found.map(|found| Corrected { mean: found.mean.clamp(range.low, range.high), ..found })
}

impl Drawn {
    fn of(items: &[JudgedItem], found: Option<Corrected>) -> Self {
        let labelled = items.iter().filter(|item| item.label.is_some());
        let at_odds =
            |found: Corrected| [2.0, 0.5].map(|odds| corrected_at_odds(items, found.lambda, odds).clamp(0.0, 1.0));
        Self {
            labelled_questions: labelled.map(|item| item.cluster).collect::<HashSet<_>>().len(),
            wrong_by_em: LabelledPart::of(items, |stratum| stratum.is_multiple_of(2)),
            right_by_em: LabelledPart::of(items, |stratum| !stratum.is_multiple_of(2)),
            at_odds: found.map(at_odds),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct JudgeFigures {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) known: KnownJudge,
    /// Verdicts in the file: correct, incorrect, not attempted, unreadable.
    pub(crate) verdicts: [usize; 4],
    /// Absent where the price of a verdict is not known.
    pub(crate) cost_usd: Option<f64>,
    /// Distinct answers by exact match (wrong, right) and by verdict.
    pub(crate) em: [[u64; 4]; 2],
    /// How many distinct answers exact match calls right.
    pub(crate) right: u64,
    pub(crate) agreement: Agreement,
}

/// Two judges on the answers that both judged.
#[derive(Debug, Serialize)]
pub(crate) struct TwoJudges {
    pub(crate) judges: [String; 2],
    pub(crate) agreement: Agreement,
}

/// The distinct answers of a run that a judge can be asked about are among these: measured, with golds, and not blank.
pub(crate) fn answers(run: &GradedRun) -> Result<Vec<Answer>, RunError> {
    let of = |scored: ScoredEpisode| {
        let right = scored.is_right()?;
        Some(Answer::of(scored.trajectory, right)).filter(|answer| Answer::is_there(&answer.text))
    };
    run.episodes().filter_map(|scored| scored.map(of).transpose()).collect()
}

impl JudgedRun {
    /// Reads the verdicts of a run's folder; nothing where nothing was judged.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, RunError> {
        if path.is_file() {
            return Ok(None);
        }
        let folder = RunFolder::open(path)?;
        let verdicts = Verdicts::read(&folder)?;
        if verdicts.judges.is_empty() {
            return Ok(None);
        }
        let labels = labels(&Annotations::read(&folder)?);
        let of_each = if verdicts.judges.len() > 1 { verdicts.names() } else { Vec::new() };
        let names = std::iter::once(JUDGE.to_owned()).chain(of_each).collect();
        let (path, run) = (path.to_owned(), folder_name(path));
        let mut of_run = Self { names, verdicts, path, run, episodes: Vec::new(), unlabelled_ties: 0 };
        for scored in GradedRun::open(&of_run.path)?.episodes() {
            let scored = scored?;
            if let Some(right) = scored.is_right() {
                let label = labels.get(&scored.trajectory.key).copied();
                of_run.unlabelled_ties += usize::from(label == Some(None));
                let episode = of_run.episode(scored.trajectory, right, label.flatten());
                of_run.episodes.push(episode);
            }
        }
        Ok(Some(of_run))
    }

    fn episode(&self, trajectory: Trajectory, right: bool, label: Option<f64>) -> Episode {
        let (variant, repeat) = (trajectory.variant.clone(), trajectory.repeat);
        let asked = Answer::of(trajectory, right);
        let there = Answer::is_there(&asked.text);
        let say = |known: &KnownJudge| self.verdicts.of(&known.judge, &asked).map(|one| one.verdict).filter(|_| there);
        let verdicts: Vec<Option<Verdict>> = self.verdicts.judges.iter().map(say).collect();
        let value = |(known, verdict): (&KnownJudge, &Option<Verdict>)| match verdict {
            // Nothing was answered, or exact match decides.
            _ if !there => Some(right),
            _ if right && known.rule.judged == Choice::WrongByEm => Some(true),
            verdict => (*verdict)?.right(),
        };
        let each: Vec<Option<bool>> = self.verdicts.judges.iter().zip(&verdicts).map(value).collect();
        let more_than_half = |right: &bool| 2 * each.iter().filter(|one| **one == Some(*right)).count() > each.len();
        let number = |right: Option<bool>| right.map(|right| f64::from(u8::from(right)));
        let mut values = vec![number([true, false].into_iter().find(more_than_half))];
        if each.len() > 1 {
            values.extend(each.into_iter().map(number));
        }
        Episode { answer: normalised(&asked.text), id: asked.id, variant, repeat, right, verdicts, values, label }
    }

    fn rows(&self, at: usize) -> impl Iterator<Item = ValueRow> {
        self.episodes.iter().filter_map(move |Episode { id, variant, repeat, values, .. }| {
            Some(EpisodeName { run: &self.run, variant, repeat: *repeat, id }.row(values[at]?))
        })
    }

    /// Where several judges, or several people, are split.
    pub(crate) fn splits(&self) -> impl Iterator<Item = String> {
        let ties = Some(self.unlabelled_ties).filter(|ties| *ties > 0);
        let ties =
            ties.map(|ties| format!("as many people say right as wrong of {}: no label", counted(ties, "episode")));
        self.split_judges().into_iter().chain(ties)
    }

    /// How many episodes have no majority of several judges, which leaves them out of the mean.
    fn split_judges(&self) -> Option<String> {
        let of_all =
            |episode: &&Episode| episode.values[0].is_none() && episode.values[1..].iter().all(Option::is_some);
        let several = self.verdicts.judges.len() > 1;
        several.then(|| self.episodes.iter().filter(of_all).count()).filter(|split| *split > 0).map(|split| {
            format!(
                "the judges are split on {}: `{JUDGE}` and its interval are of the others only, a selected part",
                counted(split, "episode")
            )
        })
    }

    /// The episodes of a variant, each with its value of a metric.
    fn values<'a>(
        &'a self,
        metric: &str,
        variant: &'a str,
    ) -> Option<impl Iterator<Item = (&'a Episode, Option<f64>)>> {
        let at = self.names.iter().position(|name| name == metric)?;
        let of_it = self.episodes.iter().filter(move |episode| episode.variant == variant);
        Some(of_it.map(move |episode| (episode, episode.values[at])))
    }

    pub(crate) fn correction(&self, metric: &str, variant: &str, level: f64) -> Option<Correction> {
        let mut clusters = Clusters::default();
        let items = self.values(metric, variant)?;
        let items: Vec<_> =
            items.map(|(episode, judge)| episode.item(judge, 0, clusters.of(&episode.id), 1.0)).collect();
        Some(Correction::of_mean(&items, level))
    }

    /// Episodes of a variant without a value, and the least and greatest mean that they leave; nothing where there are none.
    pub(crate) fn bounds(&self, metric: &str, variant: &str) -> Option<(usize, [f64; 2])> {
        let values: Vec<Option<f64>> = self.values(metric, variant)?.map(|(_, value)| value).collect();
        let (missing, sum) =
            (values.iter().filter(|value| value.is_none()).count(), values.iter().flatten().sum::<f64>());
        let share = |sum: f64| sum / float(values.len());
        (missing > 0).then(|| (missing, [share(sum), share(sum + float(missing))]))
    }

    pub(crate) fn figures(&self, level: f64) -> Vec<JudgeFigures> {
        let names = self.verdicts.names();
        let of = |(at, known): (usize, &KnownJudge)| {
            let distinct = self.distinct();
            let mut em = [[0; 4]; 2];
            let (mut pairs, mut ids) = (Vec::new(), Vec::new());
            for episode in &distinct {
                let Some(verdict) = episode.verdicts[at] else { continue };
                em[usize::from(episode.right)][verdict as usize] += 1;
                if let Some(right) = verdict.right() {
                    pairs.push((usize::from(episode.right), usize::from(right)));
                    ids.push(episode.id.as_str());
                }
            }
            JudgeFigures {
                name: names[at].clone(),
                known: known.clone(),
                verdicts: self.verdicts.counts(&known.judge),
                // The sum of no numbers is -0.
                cost_usd: self.verdicts.by(&known.judge).try_fold(0.0, |sum, one| Some(sum + one.cost_usd?)),
                em,
                right: distinct.iter().filter(|episode| episode.right && !episode.answer.is_empty()).count() as u64,
                agreement: Agreement::of(&pairs, &Clusters::of_all(ids), 2, level),
            }
        };
        self.verdicts.judges.iter().enumerate().map(of).collect()
    }

    pub(crate) fn pairs(&self, level: f64) -> Vec<TwoJudges> {
        let names = self.verdicts.names();
        let of = |a: usize, b: usize| {
            let both = |episode: &&Episode| {
                episode.verdicts[a].and_then(Verdict::right).is_some()
                    && episode.verdicts[b].and_then(Verdict::right).is_some()
            };
            let distinct: Vec<&Episode> = self.distinct().into_iter().filter(both).collect();
            let number = |episode: &Episode, at: usize| episode.verdicts[at].map_or(0, |verdict| verdict as usize);
            let pairs: Vec<_> = distinct.iter().map(|episode| (number(episode, a), number(episode, b))).collect();
            let ids: Vec<&str> = distinct.iter().map(|episode| episode.id.as_str()).collect();
            TwoJudges {
                judges: [names[a].clone(), names[b].clone()],
                agreement: Agreement::of(&pairs, &Clusters::of_all(ids), 3, level),
            }
        };
        let all = self.verdicts.judges.len();
        (0..all).flat_map(|a| (a + 1..all).map(move |b| (a, b))).map(|(a, b)| of(a, b)).collect()
    }

    fn distinct(&self) -> Vec<&Episode> {
        let mut known = HashSet::new();
        self.episodes.iter().filter(|episode| known.insert((&episode.id, &episode.answer))).collect()
    }
}

/// The metrics of the judges of these runs, as those of a file.
pub(crate) fn judged_metrics<'a>(runs: impl IntoIterator<Item = &'a JudgedRun>) -> Result<Vec<JoinedMetric>, RunError> {
    let (mut rows, mut known) = (Vec::new(), HashSet::new());
    for run in runs {
        if !known.insert(&run.run) {
            return Err(RunError::usage(
                format!(
                    "two runs with verdicts are called `{}`, and metrics are found by that name",
                    excerpt(&run.run)
                ),
                "rename one of the folders, or name one of the runs at a time",
            ));
        }
        rows.extend(run.names.iter().enumerate().map(|(at, name)| (name, run.rows(at))));
    }
    let table =
        |(name, rows): (&String, Vec<_>)| ValueTable { name: name.clone(), rows: rows.into_iter().flatten().collect() };
    Ok(grouped(rows).into_iter().map(table).map(JoinedMetric::judged).collect())
}

/// The clusters of questions, as the first variant that names one does; a question without one is a cluster of its own.
fn clusters_of<'a>(sources: impl Iterator<Item = &'a Source>) -> HashMap<&'a str, usize> {
    let mut numbers = Clusters::default();
    let items: Vec<_> = sources.flat_map(|source| source.episodes.iter()).map(|episode| &episode.item).collect();
    let mut clusters = HashMap::new();
    for (item, cluster) in items.iter().filter_map(|item| Some((item, item.cluster.as_ref()?))) {
        clusters.entry(&*item.id).or_insert_with(|| numbers.of(&format!("of {cluster}")));
    }
    for item in items {
        clusters.entry(&*item.id).or_insert_with(|| numbers.of(&format!("question {}", item.id)));
    }
    clusters
}

/// The judged episodes of one of the variants that were merged into one; of a variant that was not merged, all.
struct JudgedBlock<'a> {
    episodes: Vec<(&'a Episode, Option<f64>)>,
    /// How many each question has.
    questions: HashMap<&'a str, usize>,
}

impl<'a> JudgedBlock<'a> {
    fn of(runs: &'a JudgedRuns, source: &'a Source, metric: &str) -> Option<Self> {
        let run = runs.0.iter().find(|run| run.path == source.run.path)?;
        let episodes: Vec<_> = run.values(metric, &source.variant()?.name)?.collect();
        let mut questions = HashMap::new();
        for (episode, _) in &episodes {
            *questions.entry(&*episode.id).or_default() += 1;
        }
        Some(Self { episodes, questions })
    }
}

/// The answers of several variants to the questions that all of these have in a block. Each block's labels were drawn by
/// themselves. As in a comparison, each question weighs as much as another, and so does each of its blocks.
fn shared_items(columns: &[&Vec<Option<JudgedBlock<'_>>>], clusters: &HashMap<&str, usize>) -> Vec<Vec<JudgedItem>> {
    let most = columns.iter().map(|column| column.len()).max().unwrap_or_default();
    let block = |at: usize| columns.iter().map(|column| column.get(at)?.as_ref()).collect::<Option<Vec<_>>>();
    let blocks: Vec<(usize, Vec<&JudgedBlock<'_>>)> = (0..most).filter_map(|at| Some((at, block(at)?))).collect();
    let has = |present: &[&JudgedBlock<'_>], id: &str| present.iter().all(|column| column.questions.contains_key(id));
    let mut of_question: HashMap<&str, usize> = HashMap::new();
    for (_, present) in &blocks {
        let shared = present.iter().take(1).flat_map(|first| first.questions.keys()).filter(|id| has(present, id));
        shared.for_each(|id| *of_question.entry(id).or_default() += 1);
    }
    let mut items = vec![Vec::new(); columns.len()];
    for (at, present) in &blocks {
        for (column, items) in present.iter().zip(&mut items) {
            let shared = column.episodes.iter().filter(|(episode, _)| has(present, &episode.id));
            items.extend(shared.map(|(episode, judge)| {
                let cluster = clusters.get(&*episode.id).copied().unwrap_or(usize::MAX);
                let weight = 1.0 / float(of_question[&*episode.id] * column.questions[&*episode.id]);
                episode.item(*judge, *at, cluster, weight)
            }));
        }
    }
    items
}

fn labelled(items: &[JudgedItem]) -> usize {
    items.iter().filter(|item| item.label.is_some()).count()
}

/// What more than half of them say; nothing where as many say the one as the other.
fn majority(judgements: impl Iterator<Item = bool>) -> Option<bool> {
    let (mut yes, mut no) = (0, 0);
    judgements.for_each(|right| if right { yes += 1 } else { no += 1 });
    (yes != no).then_some(yes > no)
}

/// What most people say of each episode that they judged, by its key; nothing where as many say right as wrong.
fn labels(annotations: &Annotations) -> HashMap<String, Option<f64>> {
    let of = |(key, annotations): (&str, Vec<&Annotation>)| {
        let of_people = annotations.iter().filter(|one| !is_model(&one.by));
        let mut said = of_people.filter_map(|one| one.correct).peekable();
        said.peek()?;
        Some((key.to_owned(), majority(said).map(|right| f64::from(u8::from(right)))))
    };
    annotations.by_key().into_iter().filter_map(of).collect()
}

#[derive(Debug, Default)]
pub(crate) struct JudgedRuns(Vec<JudgedRun>);

/// A judge's figure with what labels make of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CorrectedFigure {
    pub(crate) metric: String,
    pub(crate) means: Vec<CorrectedMean>,
    pub(crate) pairs: Vec<CorrectedPair>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CorrectedMean {
    pub(crate) variant: String,
    #[serde(flatten)]
    pub(crate) correction: Correction,
}

/// `b` less `a`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CorrectedPair {
    pub(crate) a: String,
    pub(crate) b: String,
    #[serde(flatten)]
    pub(crate) correction: Correction,
}

impl CorrectedFigure {
    /// Whether any of it has been held against enough labels.
    pub(crate) fn is_any(&self) -> bool {
        let means = self.means.iter().map(|mean| mean.correction);
        means.chain(self.pairs.iter().map(|pair| pair.correction)).any(|correction| correction.corrected.is_some())
    }
}

impl JudgedRuns {
    /// Reads the verdicts of these folders, as far as there are any.
    pub(crate) fn read<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<Self, RunError> {
        let mut runs: Vec<JudgedRun> = Vec::new();
        for path in paths {
            if runs.iter().all(|known| known.path != path) {
                runs.extend(JudgedRun::read(path)?);
            }
        }
        Ok(Self(runs))
    }

    /// Lines that cannot be read, and where the judges of the runs are not the same.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.0.iter().flat_map(|run| run.verdicts.notes().chain(run.splits())).collect();
        let judges = |run: &JudgedRun| run.verdicts.judges.iter().map(|known| known.judge.clone()).collect::<Vec<_>>();
        if let Some(first) = self.0.first()
            && self.0.iter().any(|other| judges(other) != judges(first))
        {
            notes.push("warning: these runs were judged by different judges".to_owned());
        }
        notes
    }

    pub(crate) fn metrics(&self) -> Result<Vec<JoinedMetric>, RunError> {
        judged_metrics(&self.0)
    }

    /// The judges' figures of a comparison, whose verdicts say what labels make of them. `columns` are its variants by their names,
    /// each with its source in each block.
    pub(crate) fn correct(
        &self,
        compared: &mut [FigureComparison],
        &Settings { level, alpha, .. }: &Settings,
        columns: &[(String, Vec<Option<&Source>>)],
    ) -> Vec<CorrectedFigure> {
        let clusters = clusters_of(columns.iter().flat_map(|(_, sources)| sources).copied().flatten());
        let columns: HashMap<&String, &Vec<Option<&Source>>> = columns.iter().map(|(name, of)| (name, of)).collect();
        let mut figures = Vec::new();
        for figure in compared {
            let metric = figure.figure.name.clone();
            let column = |name: &String| {
                let blocks = columns.get(name)?.iter().map(|source| JudgedBlock::of(self, (*source)?, &metric));
                Some((name.clone(), blocks.collect()))
                    .filter(|(_, blocks): &(_, Vec<_>)| blocks.iter().any(Option::is_some))
            };
            let judged: HashMap<String, Vec<Option<JudgedBlock<'_>>>> =
                figure.means.iter().filter_map(|mean| column(&mean.variant)).collect();
            if judged.is_empty() {
                continue;
            }
            let items = |names: &[&String]| {
                let columns: Vec<_> = names.iter().map(|name| judged.get(*name)).collect::<Option<_>>()?;
                Some(shared_items(&columns, &clusters))
            };
            let compared: Vec<&String> =
                figure.means.iter().map(|mean| &mean.variant).filter(|name| judged.contains_key(*name)).collect();
            let of_all = items(&compared).unwrap_or_default();
            let mean = |(variant, items): (&&String, &Vec<JudgedItem>)| CorrectedMean {
                variant: (*variant).clone(),
                correction: Correction::of_mean(items, level),
            };
            let means = compared.iter().zip(&of_all).map(mean).collect();
            let corrected = figure.pairs.iter().filter(|pair| pair.p.is_some()).count().max(1);
            let level_of_pair = 1.0 - alpha / float(corrected);
            let mut pairs = Vec::new();
            for pair in &mut figure.pairs {
                let Some(of_both) = items(&[&pair.a, &pair.b]) else { continue };
                let correction = Correction::of_pair([&of_both[0], &of_both[1]], level);
                let of_level =
                    |found: Corrected| Some((found.mean, found.interval(level_of_pair)?.within(Interval::DIFFERENCES)));
                pair.hold_against_labels(correction.labels, correction.corrected.and_then(of_level), level_of_pair);
                pairs.push(CorrectedPair { a: pair.a.clone(), b: pair.b.clone(), correction });
            }
            figures.push(CorrectedFigure { metric, means, pairs });
        }
        figures
    }
}
