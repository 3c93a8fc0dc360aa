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
    content: Content,
}

enum Content {
    Own(for<'a> fn(&Scored<'a>) -> Cell<'a>),
    Figure(&'static Figure),
}

/// The columns, in order; `docs/columns.md` explains each.
pub(super) const COLUMNS: &[QuestionColumn] = &[
    text("variant", |scored| Cell::text(&scored.trajectory.variant)),
    own(Column::integer("repeat"), |scored| Cell::Integer(scored.trajectory.repeat.into())),
    text("id", |scored| Cell::text(&scored.trajectory.id)),
    text("question", |scored| Cell::text(&scored.trajectory.question)),
    text("gold", |scored| Cell::of(scored.trajectory.answers.first(), |gold| Cell::text(gold))),
    text("aliases", |scored| Cell::Text(Cow::Owned(aliases(scored.trajectory)))),
    text("prediction", |scored| Cell::of(scored.trajectory.answer.as_deref(), Cell::text)),
    figure(&figure::EM),
    figure(&figure::F1),
    figure(&figure::PRECISION),
    figure(&figure::RECALL),
    text("outcome", |scored| Cell::Name(scored.trajectory.outcome.name())),
    text("detail", |scored| Cell::of(scored.trajectory.detail.as_deref(), Cell::text)),
    figure(&figure::STEPS),
    figure(&figure::CALLS),
    figure(&figure::BAD_CALLS),
    figure(&figure::CUT_CALLS),
    figure(&figure::DECLINED_CALLS),
    figure(&figure::SEARCHES),
    figure(&figure::LOOKUPS),
    figure(&figure::MISSED_SEARCHES),
    figure(&figure::REPAIRS),
    figure(&figure::SAMPLES),
    text("votes", |scored| votes(scored.trajectory)),
    figure(&figure::GOLD_PAGES_OPENED),
    figure(&figure::GOLD_PAGES),
    figure(&figure::FIRST_HOP),
    figure(&figure::ALL_HOPS),
    figure(&figure::SENTENCES_SEEN),
    figure(&figure::SENTENCES),
    figure(&figure::EMPTY_LOOKUPS),
    text("grounding", |scored| Cell::of(grounding(scored).map(Grounding::name), Cell::Name)),
    text("failure_class", |scored| Cell::of(failure(scored).map(|failure| failure.class.name()), Cell::Name)),
    text("failure_evidence", |scored| Cell::of(failure(scored).map(|failure| failure.evidence.as_str()), Cell::text)),
    figure(&figure::PROMPT_TOKENS),
    figure(&figure::COMPLETION_TOKENS),
    figure(&figure::COST_USD),
    figure(&figure::WALL_MS),
    text("started_at", |scored| Cell::Name(&scored.trajectory.started_at)),
    text("compat", |scored| Cell::of(scored.trajectory.compat, |compat| Cell::Name(compat.name()))),
    text("key", |scored| Cell::Name(&scored.trajectory.key)),
    figure(&figure::CACHED_TOKENS),
    figure(&figure::CACHE_WRITE_TOKENS),
    figure(&figure::REASONING_TOKENS),
    text("annotation_by", |scored| said(scored, |one| Some(&one.by))),
    text("annotation_correct", |scored| said(scored, |one| Some(if one.correct? { "true" } else { "false" }))),
    text("annotation_class", |scored| said(scored, |one| Some(one.class?.name()))),
    text("annotation_step", |scored| said(scored, |one| one.step)),
    figure(&figure::R_PRECISION),
    figure(&figure::RECALL_AT_5),
    figure(&figure::KILT_EM),
    figure(&figure::KILT_F1),
];

/// What the dataset says of the question. [`Scored::fields`] holds them in this order, and then those of `meta`.
pub(super) const FIELDS: [Column; 5] = [
    Column::text("type"),
    Column::text("level"),
    Column::integer("hops"),
    Column::text("answer_kind"),
    Column::text("cluster"),
];

/// One cell for each of [`FIELDS`], and for so many columns of `meta`.
pub(super) fn fields<'a>(scored: &Scored<'a>, meta: usize) -> impl Iterator<Item = Cell<'a>> {
    let fields = scored.fields;
    let value = move |at: usize| fields.get(at).and_then(Option::as_deref);
    let known = FIELDS.into_iter().enumerate().map(move |(at, column)| match column.kind {
        Kind::Integer => Cell::of(value(at).and_then(|text| text.parse().ok()), Cell::Integer),
        _ => Cell::of(value(at), Cell::text),
    });
    known.chain((0..meta).map(move |at| Cell::of(value(FIELDS.len() + at), Cell::text)))
}

const fn own(column: Column, cell: for<'a> fn(&Scored<'a>) -> Cell<'a>) -> QuestionColumn {
    QuestionColumn { column, content: Content::Own(cell) }
}

const fn text(name: &'static str, cell: for<'a> fn(&Scored<'a>) -> Cell<'a>) -> QuestionColumn {
    own(Column::text(name), cell)
}

const fn figure(figure: &'static Figure) -> QuestionColumn {
    let kind = match figure.measure {
        Measure::Share(_) | Measure::Amount(_) => Kind::Real,
        Measure::Flag(_) => Kind::Flag,
        Measure::Count(_) => Kind::Integer,
    };
    QuestionColumn { column: Column { name: Cow::Borrowed(figure.name), kind }, content: Content::Figure(figure) }
}

/// One cell for each of [`COLUMNS`].
pub(super) fn row<'a>(scored: &Scored<'a>) -> Vec<Cell<'a>> {
    let episode = scored.episode();
    let cell = |column: &QuestionColumn| match &column.content {
        Content::Own(cell) => cell(scored),
        Content::Figure(figure) => match figure.measure {
            Measure::Share(of) | Measure::Amount(of) => Cell::of(of(&episode), Cell::Real),
            Measure::Flag(of) => Cell::of(of(&episode), Cell::Flag),
            Measure::Count(of) => Cell::of(of(&episode), Cell::Integer),
        },
    };
    COLUMNS.iter().map(cell).collect()
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
