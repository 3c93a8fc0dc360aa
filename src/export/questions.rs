//! The table with one row per episode.

use super::Scored;
use super::table::{Cell, Column, Kind};
use crate::label::Annotation;
use crate::score::{Failure, Figure, Grounding, Measure, figure};
use crate::types::Trajectory;
use std::borrow::Cow;
use std::fmt::Display;

/// A column and where its cells come from.
pub(super) struct QuestionColumn {
    pub(super) column: Column,
    content: QuestionContent,
}

enum QuestionContent {
    Own(for<'a> fn(&Scored<'a>) -> Cell<'a>),
    Figure(&'static Figure),
}

/// The columns, in order; `docs/columns.md` explains each.
pub(super) const QUESTION_COLUMNS: &[QuestionColumn] = &[
    text_column("variant", |scored| Cell::text(&scored.trajectory.variant)),
    own_column(Column::integer("repeat"), |scored| Cell::Integer(scored.trajectory.repeat.into())),
    text_column("id", |scored| Cell::text(&scored.trajectory.id)),
    text_column("question", |scored| Cell::text(&scored.trajectory.question)),
    text_column("gold", |scored| Cell::of(scored.trajectory.answers.first(), |gold| Cell::text(gold))),
    text_column("aliases", |scored| Cell::Text(Cow::Owned(aliases(scored.trajectory)))),
    text_column("prediction", |scored| Cell::of(scored.trajectory.answer.as_deref(), Cell::text)),
    figure_column(&figure::EM),
    figure_column(&figure::F1),
    figure_column(&figure::PRECISION),
    figure_column(&figure::RECALL),
    text_column("outcome", |scored| Cell::Name(scored.trajectory.outcome.name())),
    text_column("detail", |scored| Cell::of(scored.trajectory.detail.as_deref(), Cell::text)),
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
    text_column("votes", |scored| votes(scored.trajectory)),
    figure_column(&figure::GOLD_PAGES_OPENED),
    figure_column(&figure::GOLD_PAGES),
    figure_column(&figure::FIRST_HOP),
    figure_column(&figure::ALL_HOPS),
    figure_column(&figure::SENTENCES_SEEN),
    figure_column(&figure::SENTENCES),
    figure_column(&figure::EMPTY_LOOKUPS),
    text_column("grounding", |scored| Cell::of(grounding(scored).map(Grounding::name), Cell::Name)),
    text_column("failure_class", |scored| Cell::of(failure(scored).map(|failure| failure.class.name()), Cell::Name)),
    text_column("failure_evidence", |scored| {
        Cell::of(failure(scored).map(|failure| failure.evidence.as_str()), Cell::text)
    }),
    figure_column(&figure::PROMPT_TOKENS),
    figure_column(&figure::COMPLETION_TOKENS),
    figure_column(&figure::COST_USD),
    figure_column(&figure::WALL_MS),
    text_column("started_at", |scored| Cell::Name(&scored.trajectory.started_at)),
    text_column("compat", |scored| Cell::of(scored.trajectory.compat, |compat| Cell::Name(compat.name()))),
    text_column("key", |scored| Cell::Name(&scored.trajectory.key)),
    figure_column(&figure::CACHED_TOKENS),
    figure_column(&figure::CACHE_WRITE_TOKENS),
    figure_column(&figure::REASONING_TOKENS),
    text_column("annotation_by", |scored| said(scored, |one| Some(&one.by))),
    text_column("annotation_correct", |scored| said(scored, |one| Some(if one.correct? { "true" } else { "false" }))),
    text_column("annotation_class", |scored| said(scored, |one| Some(one.class?.name()))),
    text_column("annotation_step", |scored| said(scored, |one| one.step)),
    figure_column(&figure::R_PRECISION),
    figure_column(&figure::RECALL_AT_5),
    figure_column(&figure::KILT_EM),
    figure_column(&figure::KILT_F1),
];

/// What the dataset says of the question. [`Scored::fields`] holds them in this order, and then those of `meta`.
pub(super) const QUESTION_FIELDS: [Column; 5] = [
    Column::text("type"),
    Column::text("level"),
    Column::integer("hops"),
    Column::text("answer_kind"),
    Column::text("cluster"),
];

/// One cell for each of [`QUESTION_FIELDS`], and for so many columns of `meta`.
pub(super) fn question_fields<'a>(scored: &Scored<'a>, meta: usize) -> impl Iterator<Item = Cell<'a>> {
    let fields = scored.fields;
    let value = move |at: usize| fields.get(at).and_then(Option::as_deref);
    let known = QUESTION_FIELDS.into_iter().enumerate().map(move |(at, column)| match column.kind {
        Kind::Integer => Cell::of(value(at).and_then(|text| text.parse().ok()), Cell::Integer),
        _ => Cell::of(value(at), Cell::text),
    });
    known.chain((0..meta).map(move |at| Cell::of(value(QUESTION_FIELDS.len() + at), Cell::text)))
}

const fn own_column(column: Column, cell: for<'a> fn(&Scored<'a>) -> Cell<'a>) -> QuestionColumn {
    QuestionColumn { column, content: QuestionContent::Own(cell) }
}

const fn text_column(name: &'static str, cell: for<'a> fn(&Scored<'a>) -> Cell<'a>) -> QuestionColumn {
    own_column(Column::text(name), cell)
}

const fn figure_column(figure: &'static Figure) -> QuestionColumn {
    let kind = match figure.measure {
        Measure::Share(_) | Measure::Amount(_) => Kind::Real,
        Measure::Flag(_) => Kind::Flag,
        Measure::Count(_) => Kind::Integer,
    };
    QuestionColumn {
        column: Column { name: Cow::Borrowed(figure.name), kind },
        content: QuestionContent::Figure(figure),
    }
}

/// One cell for each of [`QUESTION_COLUMNS`].
pub(super) fn question_row<'a>(scored: &Scored<'a>) -> Vec<Cell<'a>> {
    let episode = scored.episode();
    let cell = |column: &QuestionColumn| match &column.content {
        QuestionContent::Own(cell) => cell(scored),
        QuestionContent::Figure(figure) => match figure.measure {
            Measure::Share(of) | Measure::Amount(of) => Cell::of(of(&episode), Cell::Real),
            Measure::Flag(of) => Cell::of(of(&episode), Cell::Flag),
            Measure::Count(of) => Cell::of(of(&episode), Cell::Integer),
        },
    };
    QUESTION_COLUMNS.iter().map(cell).collect()
}

fn grounding(scored: &Scored<'_>) -> Option<Grounding> {
    scored.assessment?.grounding
}

fn failure<'a>(scored: &Scored<'a>) -> Option<&'a Failure> {
    scored.assessment?.failure.as_ref()
}

/// One part of what each person said, joined by `|`, nothing where a person did not say it. All such columns have the people
/// in the same order.
fn said<'a, T: Display>(scored: &Scored<'a>, part: impl Fn(&'a Annotation) -> Option<T>) -> Cell<'a> {
    if scored.annotations.is_empty() {
        return Cell::Empty;
    }
    let parts = scored.annotations.iter().map(|one| part(one).map(|part| part.to_string()).unwrap_or_default());
    Cell::Text(Cow::Owned(parts.collect::<Vec<_>>().join("|")))
}

/// The votes as a JSON list of `[answer, count]`; nothing without a vote.
fn votes(trajectory: &Trajectory) -> Cell<'_> {
    if trajectory.votes.is_empty() {
        return Cell::Empty;
    }
    let votes: Vec<(&str, u32)> = trajectory.votes.iter().map(|vote| (vote.answer.as_str(), vote.count)).collect();
    // Texts and numbers always serialise.
    Cell::Text(Cow::Owned(serde_json::to_string(&votes).unwrap_or_default()))
}

/// Golds after the official one, as a JSON list.
fn aliases(trajectory: &Trajectory) -> String {
    // Strings always serialise.
    serde_json::to_string(trajectory.answers.get(1..).unwrap_or_default()).unwrap_or_default()
}
