//! The tables, whatever file they are written to: columns with a type, rows of cells, and what fills the cells.

use self::QuestionContent::Own;
use super::{ExportError, Origin, Scored};
use crate::analysis::annotations::Annotation;
use crate::base::named;
use crate::base::text::joined;
use crate::base::{Call, Provenance, RebuiltPrompt, Step, Tool, Trajectory, Usage, Variant, Wording};
use crate::scoring::{Figure, Grounding, Measure, figure};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Display;

/// A table with the columns that datasets and files of metrics add to the questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub table: Table,
    /// Fields of the records, which become the columns `meta.NAME`.
    pub meta: Vec<String>,
    pub metrics: Vec<String>,
    /// Whether steps have the text of their first prompt.
    pub prompts: bool,
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Table {
        /// One row per episode.
        Questions = "questions",
        /// One row per step; an episode without steps has none.
        Steps = "steps",
    }
}

/// What the cells of a column hold; each may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// A count or a size, 0 or more.
    Integer,
    Real,
    /// Yes or no; `1` or `0` in CSV.
    Flag,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: Cow<'static, str>,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Cell<'a> {
    /// Any text: a stranger's run folder may hold a formula even where we write a digest or a time.
    Text(Cow<'a, str>),
    Integer(u64),
    Real(f64),
    Flag(bool),
    Empty,
}

pub(super) type Sink<'s> = &'s mut dyn FnMut(&[Cell<'_>]) -> Result<(), ExportError>;

impl From<Table> for Layout {
    fn from(table: Table) -> Self {
        Self { table, meta: Vec::new(), metrics: Vec::new(), prompts: false }
    }
}

impl Layout {
    /// The columns, in order; `docs/columns.md` explains each.
    pub fn columns(&self) -> impl Iterator<Item = Column> {
        let own: Vec<Column> = match self.table {
            Table::Questions => {
                let meta =
                    self.meta.iter().map(|name| Column { name: format!("meta.{name}").into(), kind: Kind::Text });
                let metrics = self.metrics.iter().map(|name| Column { name: name.clone().into(), kind: Kind::Real });
                let known = QUESTION_COLUMNS.iter().map(|(column, _)| column.clone());
                known.chain(QUESTION_FIELDS).chain(meta).chain(metrics).collect()
            }
            Table::Steps => {
                let known = STEP_COLUMNS.iter().map(|(column, _)| column.clone());
                known.chain(self.prompts.then(|| Column::text("prompt_text"))).collect()
            }
        };
        own.into_iter().chain(RUN_COLUMNS).chain(SETTING_COLUMNS.iter().map(|(column, _)| column.clone()))
    }

    /// Whether these are the names of such a table's columns, whatever fields its questions had: nobody has added one.
    pub fn is_header(&self, names: &[String]) -> bool {
        let fixed: Vec<Column> = Self::from(self.table).columns().collect();
        let is_further =
            |name: &String| name.starts_with("meta.") || name == "prompt_text" || self.metrics.contains(name);
        names.iter().filter(|name| !is_further(name)).eq(fixed.iter().map(|column| &*column.name))
    }

    /// Gives the rows of one trajectory to `sink`, each with one cell per column.
    pub(super) fn rows(&self, scored: &Scored<'_>, sink: Sink<'_>) -> Result<(), ExportError> {
        let origin = scored.origin.cells();
        match self.table {
            Table::Questions => {
                let mut row = question_row(scored);
                row.extend(question_fields(scored, self.meta.len()));
                let metric = |at| Cell::of(scored.metrics.get(at).copied().flatten(), Cell::Real);
                row.extend((0..self.metrics.len()).map(metric));
                row.extend(origin);
                sink(&row)
            }
            Table::Steps => {
                let mut prompts = scored.prompts.iter();
                scored.episode.trajectory.steps.iter().try_for_each(|step| {
                    let own = STEP_COLUMNS.iter().map(|(_, cell)| cell(&scored.episode.trajectory, step));
                    let calls: Vec<_> = prompts.by_ref().take(step.calls.len()).collect();
                    let prompt = self.prompts.then(|| prompt_cell(calls.first().copied()));
                    sink(&own.chain(prompt).chain(origin.iter().cloned()).collect::<Vec<_>>())
                })
            }
        }
    }
}

/// Whether a table of questions has a column of this name in any case of its letters, so that no metric can have it.
pub(crate) fn is_column(name: &str) -> bool {
    let is_same = |column: Column| column.name.eq_ignore_ascii_case(name);
    name.to_ascii_lowercase().starts_with("meta.") || Layout::from(Table::Questions).columns().any(is_same)
}

impl Column {
    const fn text(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), kind: Kind::Text }
    }

    const fn integer(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), kind: Kind::Integer }
    }

    const fn real(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), kind: Kind::Real }
    }
}

impl<'a> Cell<'a> {
    fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    fn count(count: usize) -> Self {
        // No machine counts further.
        Self::Integer(count as u64)
    }

    fn json(value: &impl Serialize) -> Self {
        // Texts and numbers always serialise.
        Self::Text(Cow::Owned(serde_json::to_string(value).unwrap_or_default()))
    }

    fn of<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Empty, cell)
    }
}

enum QuestionContent {
    Own(for<'a> fn(&Scored<'a>) -> Cell<'a>),
    Figure(&'static Figure),
}

/// The columns, in order; `docs/columns.md` explains each.
const QUESTION_COLUMNS: &[(Column, QuestionContent)] = &[
    text_column("variant", |scored| Cell::text(&scored.episode.trajectory.variant)),
    (Column::integer("repeat"), Own(|scored| Cell::Integer(scored.episode.trajectory.repeat.into()))),
    text_column("id", |scored| Cell::text(&scored.episode.trajectory.id)),
    text_column("question", |scored| Cell::text(&scored.episode.trajectory.question)),
    text_column("gold", |scored| Cell::of(scored.episode.trajectory.answers.first(), |gold| Cell::text(gold))),
    // Golds after the official one, as a JSON list.
    text_column("aliases", |scored| Cell::json(&scored.episode.trajectory.answers.get(1..).unwrap_or_default())),
    text_column("prediction", |scored| Cell::of(scored.episode.trajectory.answer.as_deref(), Cell::text)),
    figure_column(&figure::EM),
    figure_column(&figure::F1),
    figure_column(&figure::PRECISION),
    figure_column(&figure::RECALL),
    text_column("outcome", |scored| Cell::text(scored.episode.trajectory.outcome.name())),
    text_column("detail", |scored| Cell::of(scored.episode.trajectory.detail.as_deref(), Cell::text)),
    figure_column(&figure::STEPS),
    figure_column(&figure::CALLS),
    figure_column(&figure::BAD_CALLS),
    figure_column(&figure::CUT_CALLS),
    figure_column(&figure::DECLINED_CALLS),
    figure_column(&figure::SEARCHES),
    figure_column(&figure::LOOKUPS),
    figure_column(&figure::MISSED_SEARCHES),
    figure_column(&figure::REPAIRS),
    figure_column(&figure::SAMPLES),
    text_column("votes", |scored| votes(&scored.episode.trajectory)),
    figure_column(&figure::GOLD_PAGES_OPENED),
    figure_column(&figure::GOLD_PAGES),
    figure_column(&figure::FIRST_HOP),
    figure_column(&figure::ALL_HOPS),
    figure_column(&figure::SENTENCES_SEEN),
    figure_column(&figure::SENTENCES),
    figure_column(&figure::EMPTY_LOOKUPS),
    text_column("grounding", |scored| {
        let found = scored.episode.assessment.as_ref().and_then(|assessment| assessment.grounding);
        Cell::of(found.map(Grounding::name), Cell::text)
    }),
    text_column("failure_class", |scored| {
        Cell::of(scored.episode.failure().map(|failure| failure.class.name()), Cell::text)
    }),
    text_column("failure_evidence", |scored| {
        Cell::of(scored.episode.failure().map(|failure| failure.evidence.as_str()), Cell::text)
    }),
    figure_column(&figure::PROMPT_TOKENS),
    figure_column(&figure::COMPLETION_TOKENS),
    figure_column(&figure::COST_USD),
    figure_column(&figure::WALL_MS),
    text_column("started_at", |scored| Cell::text(&scored.episode.trajectory.started_at)),
    text_column("compat", |scored| Cell::of(scored.episode.trajectory.compat, |compat| Cell::text(compat.name()))),
    text_column("key", |scored| Cell::text(&scored.episode.trajectory.key)),
    figure_column(&figure::CACHED_TOKENS),
    figure_column(&figure::CACHE_WRITE_TOKENS),
    figure_column(&figure::REASONING_TOKENS),
    text_column("annotation_by", |scored| joined_annotations(scored, |one| Some(&one.by))),
    text_column("annotation_correct", |scored| {
        joined_annotations(scored, |one| Some(if one.correct? { "true" } else { "false" }))
    }),
    text_column("annotation_class", |scored| joined_annotations(scored, |one| Some(one.class?.name()))),
    text_column("annotation_step", |scored| joined_annotations(scored, |one| one.step)),
    figure_column(&figure::R_PRECISION),
    figure_column(&figure::RECALL_AT_5),
    figure_column(&figure::KILT_EM),
    figure_column(&figure::KILT_F1),
    figure_column(&figure::ATTEMPTED),
];

/// What the dataset says of the question. [`Scored::fields`] holds them in this order, and then those of `meta`.
const QUESTION_FIELDS: [Column; 5] = [
    Column::text("type"),
    Column::text("level"),
    Column::integer("hops"),
    Column::text("answer_kind"),
    Column::text("cluster"),
];

/// One cell for each of [`QUESTION_FIELDS`], and for so many columns of `meta`.
fn question_fields<'a>(scored: &Scored<'a>, meta: usize) -> impl Iterator<Item = Cell<'a>> {
    let fields = scored.fields;
    let value = move |at: usize| fields.get(at).and_then(Option::as_deref);
    let known = QUESTION_FIELDS.into_iter().enumerate().map(move |(at, column)| match column.kind {
        Kind::Integer => Cell::of(value(at).and_then(|text| text.parse().ok()), Cell::Integer),
        _ => Cell::of(value(at), Cell::text),
    });
    known.chain((0..meta).map(move |at| Cell::of(value(QUESTION_FIELDS.len() + at), Cell::text)))
}

const fn text_column(name: &'static str, cell: for<'a> fn(&Scored<'a>) -> Cell<'a>) -> (Column, QuestionContent) {
    (Column::text(name), Own(cell))
}

const fn figure_column(figure: &'static Figure) -> (Column, QuestionContent) {
    let kind = match figure.measure {
        Measure::Share(_) | Measure::Amount(_) => Kind::Real,
        Measure::Flag(_) => Kind::Flag,
        Measure::Count(_) => Kind::Integer,
    };
    (Column { name: Cow::Borrowed(figure.name), kind }, QuestionContent::Figure(figure))
}

fn question_row<'a>(scored: &Scored<'a>) -> Vec<Cell<'a>> {
    let episode = scored.episode;
    let cell = |(_, content): &(Column, QuestionContent)| match content {
        Own(cell) => cell(scored),
        QuestionContent::Figure(figure) => match figure.measure {
            Measure::Share(of) | Measure::Amount(of) => Cell::of(of(episode), Cell::Real),
            Measure::Flag(of) => Cell::of(of(episode), Cell::Flag),
            Measure::Count(of) => Cell::of(of(episode), Cell::Integer),
        },
    };
    QUESTION_COLUMNS.iter().map(cell).collect()
}

/// One part of what each person said, joined by `|`; empty where not said. All such columns have the same order of people.
fn joined_annotations<'a, T: Display>(scored: &Scored<'a>, part: impl Fn(&'a Annotation) -> Option<T>) -> Cell<'a> {
    let parts = scored.annotations.iter().map(|one| part(one).map(|part| part.to_string()).unwrap_or_default());
    Cell::of(joined(parts, "|"), |parts| Cell::Text(Cow::Owned(parts)))
}

/// The votes as a JSON list of `[answer, count]`; nothing without a vote.
fn votes(trajectory: &Trajectory) -> Cell<'_> {
    if trajectory.votes.is_empty() {
        return Cell::Empty;
    }
    let votes: Vec<(&str, u32)> = trajectory.votes.iter().map(|vote| (vote.answer.as_str(), vote.count)).collect();
    Cell::json(&votes)
}

type StepContent = for<'a> fn(&'a Trajectory, &'a Step) -> Cell<'a>;

/// The columns, in order, and their cells; `docs/columns.md` explains each.
const STEP_COLUMNS: &[(Column, StepContent)] = &[
    (Column::text("variant"), |trajectory, _| Cell::text(&trajectory.variant)),
    (Column::integer("repeat"), |trajectory, _| Cell::Integer(trajectory.repeat.into())),
    (Column::text("id"), |trajectory, _| Cell::text(&trajectory.id)),
    (Column::integer("step"), |_, step| Cell::count(step.n)),
    (Column::integer("sample"), |_, step| Cell::of(step.sample, |sample| Cell::Integer(sample.into()))),
    (Column::text("thought"), |_, step| Cell::of(step.thought.as_deref(), Cell::text)),
    (Column::text("tool"), |_, step| Cell::of(step.tool.map(Tool::name), Cell::text)),
    (Column::text("input"), |_, step| Cell::of(step.input.as_deref(), Cell::text)),
    (Column::text("action_text"), |_, step| Cell::of(step.action_text.as_deref(), Cell::text)),
    (Column::text("observation"), |_, step| Cell::of(step.observation.as_deref(), Cell::text)),
    (Column::text("source"), |_, step| page_cell(step, |page| Cell::text(&page.source))),
    (Column::text("url"), |_, step| page_cell(step, |page| Cell::text(&page.url))),
    (Column::text("title"), |_, step| page_cell(step, |page| Cell::text(&page.title))),
    (Column::integer("pageid"), |_, step| page_cell(step, |page| Cell::of(page.pageid, Cell::Integer))),
    (Column::integer("revid"), |_, step| page_cell(step, |page| Cell::of(page.revid, Cell::Integer))),
    (Column::integer("status"), |_, step| page_cell(step, |page| Cell::Integer(page.status.into()))),
    (Column::text("fetched_at"), |_, step| page_cell(step, |page| Cell::text(&page.fetched_at))),
    (Column::text("page_sha256"), |_, step| page_cell(step, |page| Cell::text(&page.sha256))),
    (Column::text("note"), |_, step| Cell::of(step.note.as_deref(), Cell::text)),
    (Column::text("discarded"), |_, step| Cell::of(step.discarded.as_deref(), Cell::text)),
    (Column::integer("calls"), |_, step| Cell::count(step.calls.len())),
    (Column::integer("prompt_tokens"), |_, step| counted_cell(step, |usage| Some(usage.prompt_tokens))),
    (Column::integer("completion_tokens"), |_, step| counted_cell(step, |usage| Some(usage.completion_tokens))),
    (Column::integer("latency_ms"), |_, step| Cell::Integer(step.calls.iter().map(|call| call.latency_ms).sum())),
    (Column::integer("attempts"), |_, step| {
        Cell::Integer(step.calls.iter().map(|call| u64::from(call.attempts)).sum())
    }),
    (Column::text("finish_reason"), |_, step| {
        Cell::of(step.calls.last().and_then(|call| call.finish_reason.as_deref()), Cell::text)
    }),
    (Column::text("cause"), |_, step| {
        Cell::of(step.calls.last().and_then(Call::shortfall), |cause| Cell::text(cause.name()))
    }),
    (Column::text("prompt_sha256"), |_, step| Cell::of(step.calls.first(), |call| Cell::text(&call.prompt_sha256))),
    (Column::integer("cached_tokens"), |_, step| counted_cell(step, |usage| usage.cached_tokens)),
    (Column::integer("cache_write_tokens"), |_, step| counted_cell(step, |usage| usage.cache_write_tokens)),
    (Column::integer("reasoning_tokens"), |_, step| counted_cell(step, |usage| usage.reasoning_tokens)),
    (Column::text("sentences_shown"), |_, step| {
        Cell::of(step.provenance.as_ref().and_then(|page| page.sentences.as_ref()), Cell::json)
    }),
    (Column::text("passages"), |_, step| {
        let hits = step.provenance.as_ref().map(|found| &found.hits).filter(|hits| !hits.is_empty());
        Cell::of(hits, Cell::json)
    }),
];

/// The prompt of a step's first call: a text as it is, messages as JSON; empty where it cannot be made again.
fn prompt_cell(first: Option<&RebuiltPrompt>) -> Cell<'static> {
    let request = first.filter(|prompt| prompt.same).and_then(|prompt| prompt.request.as_ref());
    Cell::of(request, |request| Cell::Text(Cow::Owned(request.prompt.to_text())))
}

fn page_cell<'a>(step: &'a Step, cell: fn(&'a Provenance) -> Cell<'a>) -> Cell<'a> {
    Cell::of(step.provenance.as_ref(), cell)
}

/// A count of tokens; empty where it was not made, as some are by some providers only.
fn counted_cell(step: &Step, tokens: fn(Usage) -> Option<u64>) -> Cell<'_> {
    Cell::of(step_usage(step).and_then(tokens), Cell::Integer)
}

/// Tokens over the step's calls; absent if no server counted any.
fn step_usage(step: &Step) -> Option<Usage> {
    step.calls.iter().filter_map(|call| call.usage).reduce(|mut sum, usage| {
        sum += usage;
        sum
    })
}

type SettingContent = for<'a> fn(&'a Variant) -> Cell<'a>;

/// The columns of the run, which precede those of the settings.
const RUN_COLUMNS: [Column; 2] = [Column::text("run"), Column::text("dataset")];

/// The columns of the settings, in order, and their cells; `docs/columns.md` explains each.
const SETTING_COLUMNS: &[(Column, SettingContent)] = &[
    (Column::text("protocol"), |variant| Cell::text(&variant.protocol)),
    // As a JSON object.
    (Column::text("options"), |variant| {
        Cell::of((!variant.options.is_empty()).then_some(&variant.options), Cell::json)
    }),
    (Column::text("method"), |variant| Cell::text(&variant.method)),
    (Column::text("model"), |variant| Cell::text(&variant.model)),
    (Column::text("endpoint"), |variant| Cell::text(&variant.endpoint)),
    (Column::text("prompt"), |variant| Cell::text(&variant.prompt)),
    (Column::text("rendered_prompt_sha256"), |variant| Cell::text(&variant.prompt_sha256)),
    (Column::text("question_label"), |variant| Cell::text(&variant.question_label)),
    (Column::integer("max_steps"), |variant| Cell::of(variant.max_steps, Cell::count)),
    (Column::real("temperature"), |variant| Cell::of(variant.decoding.temperature, Cell::Real)),
    (Column::real("top_p"), |variant| Cell::of(variant.decoding.top_p, Cell::Real)),
    (Column::integer("max_tokens"), |variant| {
        Cell::of(variant.decoding.max_tokens, |tokens| Cell::Integer(tokens.into()))
    }),
    // A text, because a signed column of 64 bits does not hold every seed.
    (Column::text("seed"), |variant| Cell::of(variant.decoding.seed, |seed| Cell::Text(Cow::Owned(seed.to_string())))),
    (Column::text("wiki"), |variant| Cell::text(&variant.wiki)),
    (Column::text("wiki_origin"), |variant| Cell::of(variant.wiki_origin.as_deref(), Cell::text)),
    (Column::text("wording"), |variant| {
        Cell::of(variant.compat, |_| {
            Cell::text(if variant.wording == Wording::English { "english" } else { "chinese" })
        })
    }),
];

impl<'a> Origin<'a> {
    fn cells(&self) -> Vec<Cell<'a>> {
        let settings = SETTING_COLUMNS.iter().map(|(_, cell)| Cell::of(self.variant, cell));
        [self.run, &self.manifest.dataset.name].map(Cell::text).into_iter().chain(settings).collect()
    }
}
