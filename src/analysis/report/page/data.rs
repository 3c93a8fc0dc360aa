//! The data of the page: what it is about, the list of questions, and their episodes in chunks.

use super::Live;
use super::html::{short_path, without_folders};
use crate::analysis::annotations::{Annotation, AnnotationClass, Annotations, Judgement, class_keys};
use crate::analysis::grouped;
use crate::analysis::report::agreement::reading;
use crate::analysis::report::progress::Bar;
use crate::analysis::report::trajectory::{
    branch_edit, branch_parent, calls, is_written, repairs, source, step_origin, sum, votes,
};
use crate::analysis::results::{Episode, Origin, Results, Source};
use crate::base::text::{counted, cut, shell_word, thousands, visible};
use crate::base::{Branch, Digester, Outcome, Provenance, Step, Tool, Trajectory};
use crate::runner::RunError;
use crate::runner::store::RunFolder;
use crate::scoring::{
    Divergence, FailureClass, GoldEvidence, ScoredEpisode, figure, is_same_page, marks, search_missed,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::Path;

/// Questions of a chunk. All variants of a question are together, so that compression finds the pages that several read.
const CHUNK: usize = 64;

/// The episodes that the page has, and where each question's are.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    /// Each as base64 of gzip.
    pub(super) texts: Vec<String>,
    /// The chunk of each question; none for those that were left out.
    places: Vec<Option<usize>>,
}

impl Chunks {
    /// Reads and packs the episodes of these questions in this order, as far as they fit into `most` bytes; ends early, if
    /// `or_none`, where the first ones say that all would be too much. `bar` says how far it is.
    pub(super) fn of(
        results: &Results,
        rows: &[QuestionRow<'_>],
        order: &[usize],
        (most, or_none): (u64, bool),
        bar: &Bar,
    ) -> Result<Self, RunError> {
        let mut chunks = Self { texts: Vec::new(), places: vec![None; rows.len()] };
        let (mut size, mut done) = (0_u64, 0);
        for part in order.chunks(CHUNK) {
            let text = packed_episodes(results, rows, part)?;
            size += text.len() as u64;
            done += part.len();
            if size > most || (or_none && is_too_much(size, most, (done, order.len()))) {
                break;
            }
            bar.set_message(format!("packing {} of {}", thousands(done), counted(order.len(), "question")));
            for &at in part {
                chunks.places[at] = Some(chunks.texts.len());
            }
            chunks.texts.push(text);
        }
        Ok(chunks)
    }

    pub(super) fn left_out(&self) -> usize {
        self.places.iter().filter(|place| place.is_none()).count()
    }
}

/// Whether the questions that are done say that all of them would take a tenth more bytes than they may.
fn is_too_much(size: u64, most: u64, (done, all): (usize, usize)) -> bool {
    size > most / 20 && size.saturating_mul(all as u64) / 11 > most.saturating_mul(done as u64) / 10
}

/// Pages of text are 1.4 % larger at this level than at the next, which takes a fifth longer.
const LEVEL: u32 = 4;

/// The episodes of these questions, packed, by the question's number. One question is held at a time: it may have thousands.
fn packed_episodes(results: &Results, rows: &[QuestionRow<'_>], part: &[usize]) -> Result<String, RunError> {
    packed(|json| {
        let mut json = serde_json::Serializer::new(json);
        let mut questions = json.serialize_map(None).map_err(io::Error::from)?;
        for &at in part {
            let episodes = question_episodes(results, &rows[at])?;
            questions.serialize_entry(&at.to_string(), &episodes).map_err(io::Error::from)?;
        }
        Ok(questions.end().map_err(io::Error::from)?)
    })
}

/// JSON in base64 of gzip.
fn packed(write: impl FnOnce(&mut dyn Write) -> Result<(), RunError>) -> Result<String, RunError> {
    let mut json = BufWriter::with_capacity(1 << 16, GzEncoder::new(Vec::new(), Compression::new(LEVEL)));
    write(&mut json)?;
    let packed = json.into_inner().map_err(IntoInnerError::into_error)?;
    Ok(STANDARD.encode(packed.finish()?))
}

/// The table of questions, packed, and the SHA-256 of its JSON.
pub(super) fn question_table(
    results: &Results,
    rows: &[QuestionRow<'_>],
    chunks: &Chunks,
) -> Result<(String, String), RunError> {
    let table = QuestionTable { results, rows, chunks };
    let write = |json: &mut dyn Write| Ok(serde_json::to_writer(json, &table).map_err(io::Error::from)?);
    // Written twice, as the table of a large run is not held as text.
    let mut digest = Digester::default();
    write(&mut digest)?;
    Ok((packed(write)?, digest.hex()))
}

/// What the page lists of its questions, as an object of columns with a value for each question.
struct QuestionTable<'a> {
    results: &'a Results,
    rows: &'a [QuestionRow<'a>],
    chunks: &'a Chunks,
}

/// One column of the table. Its values are made as they are written: a large run has many.
struct Column<'a, F>(&'a [QuestionRow<'a>], F);

fn column<'a, T: Serialize, F: Fn(&'a QuestionRow<'a>) -> T>(rows: &'a [QuestionRow<'a>], of: F) -> Column<'a, F> {
    Column(rows, of)
}

impl<'a, T: Serialize, F: Fn(&'a QuestionRow<'a>) -> T> Serialize for Column<'a, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(&self.1))
    }
}

impl Serialize for QuestionTable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = serializer.serialize_map(None)?;
        table.serialize_entry("id", &column(self.rows, |row| row.id))?;
        table.serialize_entry("question", &column(self.rows, |row| safe(row.question)))?;
        table.serialize_entry("gold", &column(self.rows, |row| row.gold.map(safe)))?;
        table.serialize_entry("type", &column(self.rows, |row| row.kind.map(safe)))?;
        table.serialize_entry("dataset", &column(self.rows, |row| row.group))?;
        table.serialize_entry("chunk", &self.chunks.places)?;
        table.serialize_entry("hard", &column(self.rows, QuestionRow::wrong))?;
        let variants: Vec<_> = (0..self.results.variants().count()).map(|at| VariantColumns(self.rows, at)).collect();
        table.serialize_entry("variants", &variants)?;
        table.end()
    }
}

/// What the table has of one variant, named by its position.
struct VariantColumns<'a>(&'a [QuestionRow<'a>], usize);

impl Serialize for VariantColumns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(rows, at) = *self;
        let mut columns = serializer.serialize_map(None)?;
        columns.serialize_entry("right", &column(rows, |row| row.right(at).map(u8::from)))?;
        columns.serialize_entry("em", &column(rows, |row| row.em(at)))?;
        columns.serialize_entry("measured", &column(rows, |row| row.measured(at)))?;
        columns.serialize_entry("steps", &column(rows, |row| row.mean(at, 2)))?;
        columns.serialize_entry("class", &column(rows, |row| row.class(at).map(|class| class as usize)))?;
        columns.serialize_entry("unmeasured", &column(rows, |row| u8::from(row.is_unmeasured(at))))?;
        columns.serialize_entry("cut", &column(rows, |row| u8::from(row.is_cut(at))))?;
        columns.serialize_entry("disputed", &column(rows, |row| u8::from(row.is_disputed(at))))?;
        columns.serialize_entry("outcome", &column(rows, |row| row.first(at)?.outcome.map(Outcome::name)))?;
        columns.serialize_entry("answer", &column(rows, |row| row.first(at)?.answer.as_deref().map(safe)))?;
        columns.end()
    }
}

pub(super) fn metadata(
    results: &Results,
    digest: &str,
    repeats: usize,
    chunks: &Chunks,
    live: Option<&Live>,
) -> Result<Value, RunError> {
    let variants = results.groups.iter().enumerate().flat_map(|(group, members)| {
        members.sources.iter().zip(&members.names).map(move |(source, name)| {
            json!({
                "name": safe(name),
                "run": safe(&short_path(&source.run.path.display().to_string())),
                "target": target(source, live.is_some()),
                "variant": source.run.variant.as_deref().map(safe),
                "model": source.origin.as_ref().map(|origin| safe(&short_path(&origin.variant.model))),
                "dataset": group,
            })
        })
    });
    let classes = FailureClass::ALL.map(FailureClass::name);
    Ok(json!({
        "v": 1,
        "report": digest,
        "variants": variants.collect::<Vec<_>>(),
        "datasets": results.groups.iter().map(|group| safe(group.dataset())).collect::<Vec<_>>(),
        "classes": classes,
        // What a class says, in the order of `classes`.
        "meanings": FailureClass::ALL.map(FailureClass::about),
        "judgements": class_keys().map(key_json).collect::<Vec<_>>(),
        "labels": labels(results)?,
        "repeats": repeats,
        "chunk": CHUNK,
        "left_out": chunks.left_out(),
        "live": live,
    }))
}

/// The run as `show` takes it. Who serves the page to themselves can copy the command as it is.
fn target(source: &Source, served: bool) -> String {
    let (typed, path) = (source.typed(), source.run.path.display().to_string());
    shell_word(&if served { typed } else { short_path(&path) + &typed[path.len()..] })
}

/// A key of a judge: the same as in `annotate`.
fn key_json((key, Judgement { correct, class, .. }, about): (&str, Judgement, &str)) -> Value {
    json!({"key": key, "class": class.map(AnnotationClass::name), "correct": correct, "about": about})
}

/// What people said of the episodes of these runs: the latest judgement of each person on each episode.
fn labels(results: &Results) -> Result<Vec<Value>, RunError> {
    let paths: BTreeSet<&Path> = results.variants().map(|(source, _)| &*source.run.path).collect();
    let mut labels = Vec::new();
    for path in paths.into_iter().filter(|path| path.is_dir()) {
        let annotations = Annotations::read(&RunFolder::at(path))?;
        labels.extend(annotations.latest().into_iter().map(
            |Annotation { key, by, correct, class, step, note, started_at, .. }| {
                json!({
                    "key": key, "by": safe(by), "correct": correct, "class": class.map(AnnotationClass::name),
                    "step": step, "note": note.as_deref().map(safe), "started_at": started_at,
                })
            },
        ));
    }
    Ok(labels)
}

#[derive(Debug)]
pub(super) struct QuestionRow<'a> {
    /// The group of variants that share it.
    pub(super) group: usize,
    pub(super) id: &'a str,
    pub(super) question: &'a str,
    pub(super) gold: Option<&'a str>,
    pub(super) kind: Option<&'a str>,
    pub(super) level: Option<&'a str>,
    /// Titles of its gold pages.
    pub(super) pages: &'a [String],
    /// Its episodes by variant, each with its repeats in order; none where that variant was not asked.
    pub(super) episodes: Vec<Vec<&'a Episode>>,
}

/// The questions in the order of their datasets.
pub(super) fn rows(results: &Results) -> Vec<QuestionRow<'_>> {
    let variants = results.variants().count();
    let (mut rows, mut first) = (Vec::new(), 0);
    for (group, members) in results.groups.iter().enumerate() {
        let mut at: HashMap<&str, usize> = HashMap::new();
        for (variant, source) in members.sources.iter().enumerate() {
            for episode in &*source.episodes {
                let row = *at.entry(&episode.item.id).or_insert_with(|| {
                    rows.push(QuestionRow::new(group, episode, variants));
                    rows.len() - 1
                });
                rows[row].episodes[first + variant].push(episode);
            }
        }
        first += members.sources.len();
    }
    rows
}

impl<'a> QuestionRow<'a> {
    fn new(group: usize, episode: &'a Episode, variants: usize) -> Self {
        let field = |at: usize| episode.item.groups.get(at).and_then(Option::as_deref);
        Self {
            group,
            id: &episode.item.id,
            question: &episode.question,
            gold: episode.gold.as_deref(),
            kind: field(0),
            level: field(1),
            pages: episode.evidence.as_ref().map_or(&[], |gold| &gold.pages),
            episodes: vec![Vec::new(); variants],
        }
    }

    /// Whether a variant is right, as flipped answers are counted: in more than half of its measured repeats.
    pub(super) fn right(&self, variant: usize) -> Option<bool> {
        self.em(variant).map(|em| em > 0.5)
    }

    /// Mean EM over the measured repeats.
    pub(super) fn em(&self, variant: usize) -> Option<f64> {
        self.mean(variant, 0)
    }

    /// The mean of the figure at that place over the measured repeats.
    pub(super) fn mean(&self, variant: usize, figure: usize) -> Option<f64> {
        let values =
            self.episodes[variant].iter().filter_map(|episode| episode.item.values.get(figure).copied().flatten());
        let (sum, n) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
        (n > 0.0).then(|| sum / n)
    }

    /// The episode that represents a variant: the first that is as right as most of its repeats.
    pub(super) fn first(&self, variant: usize) -> Option<&'a Episode> {
        let episodes = &self.episodes[variant];
        let right = self.right(variant);
        episodes.iter().find(|episode| episode.right == right).or(episodes.first()).copied()
    }

    /// How many repeats its EM is the mean of.
    fn measured(&self, variant: usize) -> usize {
        self.episodes[variant].iter().filter(|episode| matches!(episode.item.values.first(), Some(Some(_)))).count()
    }

    pub(super) fn is_unmeasured(&self, variant: usize) -> bool {
        self.episodes[variant].iter().any(|episode| !episode.item.measured)
    }

    fn is_cut(&self, variant: usize) -> bool {
        self.episodes[variant].iter().any(|episode| episode.value(&figure::CUT_CALLS) > Some(0.0))
    }

    /// Whether judges call an episode right that EM calls wrong, or the other way round.
    pub(super) fn is_disputed(&self, variant: usize) -> bool {
        self.episodes[variant]
            .iter()
            .any(|episode| episode.right.zip(episode.judged()).is_some_and(|(right, judged)| right != (judged > 0.5)))
    }

    pub(super) fn class(&self, variant: usize) -> Option<FailureClass> {
        self.first(variant)?.class
    }

    /// Whether a variant is wrong and its steps ran out.
    pub(super) fn ended_wrong_at_limit(&self, variant: usize) -> bool {
        let ended = self.first(variant).is_some_and(|episode| episode.outcome == Some(Outcome::StepLimit));
        ended && self.right(variant) == Some(false)
    }

    /// Whether one variant is right and another one wrong.
    pub(super) fn differs(&self) -> bool {
        let mut known = (0..self.episodes.len()).filter_map(|variant| self.right(variant));
        known.next().is_some_and(|first| known.any(|other| other != first))
    }

    pub(super) fn wrong(&self) -> usize {
        (0..self.episodes.len()).filter(|variant| self.right(*variant) == Some(false)).count()
    }
}

/// Variants whose answers and verdicts are the same on every question of the group, as lists of their positions in it.
pub(super) fn alike<'s>(sources: &'s [Source]) -> Vec<Vec<usize>> {
    let answers = |source: &'s Source| {
        let mut answers: Vec<_> = source
            .episodes
            .iter()
            .map(|episode| (&episode.item.id, episode.item.repeat, episode.right, &episode.answer))
            .collect();
        answers.sort();
        answers
    };
    grouped(sources.iter().map(answers).zip(0..)).into_iter().map(|(_, members)| members).collect()
}

/// Steps of an episode that the page has; `show` prints all of them.
const STEPS: usize = 300;

/// Characters of a text that the page has: a bound for hostile records.
const TEXT_CHARS: usize = 50_000;

fn question_episodes(results: &Results, row: &QuestionRow<'_>) -> Result<Value, RunError> {
    let mut read: Vec<Vec<ScoredEpisode>> = Vec::with_capacity(row.episodes.len());
    let (mut gold, mut shown): (Vec<String>, Vec<Vec<Value>>) = (Vec::new(), Vec::new());
    for ((source, _), episodes) in results.variants().zip(&row.episodes) {
        let Some(Origin { graded: run, .. }) = &source.origin else { continue };
        let graded = episodes.iter().map(|episode| run.episode(episode.at));
        let graded = graded.collect::<Result<Vec<_>, _>>()?;
        let evidence = run.evidence.get(row.id);
        if let Some(first) = graded.first().filter(|_| gold.is_empty()) {
            gold = first.trajectory.answers.iter().map(|answer| safe(answer)).collect();
        }
        shown.push(graded.iter().map(|graded| episode_json(graded, run.readings(graded), evidence)).collect());
        read.push(graded);
    }
    Ok(json!({
        "gold": gold, "pages": row.pages, "type": row.kind, "level": row.level, "episodes": shown,
        // By repeat, then by pair of variants: where they diverge.
        "parted": parted(&read),
    }))
}

/// Where each two variants diverge, repeat by repeat.
fn parted(episodes: &[Vec<ScoredEpisode>]) -> Vec<Vec<Option<(usize, &'static str)>>> {
    let repeats = episodes.iter().map(Vec::len).max().unwrap_or_default();
    let of = |repeat: usize, a: usize, b: usize| {
        let [a, b] = [a, b].map(|at| episodes[at].get(repeat).map(|graded| &graded.trajectory));
        Divergence::of(a?, b?).map(|found| (found.step, found.part.name()))
    };
    let pairs = || (0..episodes.len()).flat_map(|a| (a + 1..episodes.len()).map(move |b| (a, b)));
    (0..repeats).map(|repeat| pairs().map(|(a, b)| of(repeat, a, b)).collect()).collect()
}

/// A text without characters that turn the direction of writing, cut where nobody would read on.
pub(super) fn safe(text: &str) -> String {
    visible(&cut(text, TEXT_CHARS)).into_owned()
}

fn optional(text: Option<&String>) -> Option<String> {
    text.map(|text| safe(text.trim())).filter(|text| !text.is_empty())
}

/// The same with the names of its run, model and prompt alone.
pub(super) fn without_its_folders(branch: &Branch) -> Branch {
    let mut short = Branch { run: short_path(&branch.run), ..branch.clone() };
    let is_named = |part: &str| ["model", "prompt"].contains(&part);
    if let Some(edit) = short.edit.as_mut().filter(|edit| edit.part.split('+').any(is_named)) {
        edit.text = edit.text.lines().map(short_path).collect::<Vec<_>>().join("\n");
    }
    short
}

/// The place of a page without the folders of the corpus; no title has a `#`.
fn placed(read: &Provenance) -> Provenance {
    let (corpus, title) = read.url.rsplit_once('#').map_or((&*read.url, None), |(corpus, title)| (corpus, Some(title)));
    let title = title.map_or_else(String::new, |title| format!("#{title}"));
    Provenance { url: short_path(corpus) + &title, ..read.clone() }
}

/// What a tool or a server said of itself.
fn message(text: &str) -> Option<String> {
    optional(Some(&without_folders(text)))
}

/// `readings` say why models find that it failed.
fn episode_json(graded: &ScoredEpisode, readings: &[Annotation], evidence: Option<&GoldEvidence>) -> Value {
    let ScoredEpisode { trajectory, score, assessment, .. } = graded;
    let failure = graded.failure();
    let grounding = assessment.as_ref().and_then(|assessment| assessment.grounding);
    let branch = |branch: &Branch| {
        let branch = without_its_folders(branch);
        json!({
            // Two episodes with the same key are a fork, where `at` is the same too.
            "key": safe(&branch.key), "parent": branch_parent(&branch), "at": branch.at, "edited": branch_edit(&branch),
        })
    };
    let steps = (1..).zip(trajectory.steps.iter().take(STEPS));
    json!({
        "key": trajectory.key,
        // Where it is known: judgements name it.
        "started_at": optional(Some(&trajectory.started_at)),
        "right": graded.is_right(),
        "outcome": trajectory.outcome.name(),
        "detail": trajectory.detail.as_deref().and_then(message),
        "answer": trajectory.answer.as_deref().map(safe),
        // EM of labels is called accuracy, and their F1 is the same.
        "accuracy": graded.metric.is_accuracy(),
        "em": score.map(|score| score.em),
        "f1": score.map(|score| score.f1),
        "class": failure.map(|failure| failure.class.name()),
        "evidence": failure.map(|failure| safe(&failure.described())),
        "readings": readings.iter().map(|one| safe(&reading(one))).collect::<Vec<_>>(),
        "grounding": grounding.map(crate::scoring::Grounding::name),
        "votes": votes(trajectory).map(|text| safe(&text)),
        "repairs": repairs(trajectory).map(|text| safe(&text)),
        "sum": sum(trajectory),
        "branch": trajectory.branch.as_ref().map(branch),
        "steps": steps.map(|(at, step)| step_json(step, at, trajectory, evidence)).collect::<Vec<_>>(),
        "left_out": trajectory.steps.len().saturating_sub(STEPS),
    })
}

fn step_json(step: &Step, at: usize, trajectory: &Trajectory, evidence: Option<&GoldEvidence>) -> Value {
    let sample = step.sample.map(|number| format!("sample {number}, ")).unwrap_or_default();
    // The title of a search that missed is its query.
    let read = step.provenance.as_ref().filter(|_| !search_missed(step));
    let facts = || evidence.into_iter().flat_map(GoldEvidence::groups).flat_map(|group| &group.facts);
    let of_page = |page: &str| facts().any(|fact| is_same_page(&fact.page, page));
    let reasoning: Vec<&str> = step.calls.iter().filter_map(|call| call.reasoning.as_deref()).collect();
    let http = |url: &&String| url.starts_with("https://") || url.starts_with("http://");
    json!({
        "n": format!("{sample}step {}", step.n),
        "origin": step_origin(trajectory, at),
        "thought": optional(step.thought.as_ref()),
        "action": optional(step.action_text.as_ref()),
        "observation": step.observation.as_deref().map(|text| pieces(text, facts, &trajectory.answers)),
        "page": read.map(|read| safe(&read.titles_line())),
        "gold": read.is_some_and(|read| read.titles().any(of_page)),
        "url": step.provenance.as_ref().map(|read| &read.url).filter(http).map(|url| safe(url)),
        "rev": read.and_then(|read| read.revid).map(|revid| revid.to_string()),
        "source": step.provenance.as_ref().map(|read| safe(&source(&placed(read)))),
        "note": step.note.as_deref().and_then(message),
        "discarded": optional(step.discarded.as_ref()),
        "calls": Some(calls(step, is_written(trajectory, at))).filter(|text| !text.is_empty()),
        "reasoning": Some(safe(&reasoning.join("\n\n"))).filter(|text| !text.is_empty()),
        // The paper's environment answers it with the reward, which a blind judge does not read.
        "ends": step.tool == Some(Tool::Finish),
    })
}

/// An observation in pieces: `s` marks a gold sentence, `a` a gold answer.
fn pieces<'e, F: Iterator<Item = &'e crate::scoring::GoldFact>>(
    text: &str,
    facts: impl Fn() -> F,
    answers: &[String],
) -> Vec<(String, &'static str)> {
    let sentences: Vec<String> = facts().flat_map(|fact| fact.texts.iter().cloned()).collect();
    let text = cut(text.trim_end(), TEXT_CHARS);
    let pieces = marks(&text, &sentences, answers);
    let mark = |sentence: bool, answer: bool| match (sentence, answer) {
        (false, false) => "",
        (true, false) => "s",
        (false, true) => "a",
        (true, true) => "sa",
    };
    pieces.into_iter().map(|piece| (visible(piece.text).into_owned(), mark(piece.sentence, piece.answer))).collect()
}

#[cfg(test)]
mod tests {
    use super::is_too_much;

    #[test]
    fn packing_ends_early_only_where_too_much_is_to_come() {
        let ends = |size, done| is_too_much(size, 1_000, (done, 100));
        assert!(ends(60, 5) && ends(900, 80));
        assert!(!ends(40, 1), "too few to say");
        assert!(!ends(60, 6) && !ends(900, 85), "it may fit, or nearly");
    }
}
