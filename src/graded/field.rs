//! Fields of questions by which results are broken down or clustered.

use crate::score::GoldEvidence;
use crate::types::Question;
use serde_json::{Map, Value};

/// A field of a question by which results are broken down or clustered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Field {
    Cluster,
    Type,
    Level,
    /// How many gold pages the question needs.
    Hops,
    AnswerKind,
    /// The first gold page.
    Page,
    /// Any other field of the record.
    Meta(String),
}

impl Field {
    /// The fields that every table of questions has, in the order of its columns.
    pub(crate) const KNOWN: [Self; 5] = [Self::Type, Self::Level, Self::Hops, Self::AnswerKind, Self::Cluster];

    pub(crate) fn parse(name: &str) -> Self {
        match name.trim() {
            "cluster" => Self::Cluster,
            "type" => Self::Type,
            "level" => Self::Level,
            "hops" => Self::Hops,
            "answer_kind" => Self::AnswerKind,
            "page" => Self::Page,
            other => Self::Meta(other.strip_prefix("meta.").unwrap_or(other).to_owned()),
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Cluster => "cluster",
            Self::Type => "type",
            Self::Level => "level",
            Self::Hops => "hops",
            Self::AnswerKind => "answer_kind",
            Self::Page => "page",
            Self::Meta(name) => name,
        }
    }

    pub(crate) fn of(&self, question: &Question) -> Option<String> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match self {
            Self::Cluster => question.cluster.clone(),
            Self::Type => question.kind.clone(),
            Self::Level => question.level.clone(),
            Self::Hops => hops(question).map(|hops| hops.to_string()),
            Self::AnswerKind => serde_json::to_value(question.answer_kind).ok().as_ref().map(text),
            Self::Page => Some(GoldEvidence::of(question)?.groups().first()?.pages.first()?.clone()),
            Self::Meta(name) => question.meta.get(name).filter(|value| !value.is_null()).map(text),
        }
    }

    /// The fields that every table has, and `meta` as it is, by their names.
    pub(crate) fn json(question: &Question) -> Map<String, Value> {
        let value = |field: &Self, text: Option<String>| match field {
            Self::Hops => text.and_then(|text| text.parse::<u64>().ok()).map_or(Value::Null, Value::from),
            _ => text.map_or(Value::Null, Value::from),
        };
        let known = Self::KNOWN.into_iter().map(|field| (field.name().to_owned(), value(&field, field.of(question))));
        known.chain([("meta".to_owned(), Value::Object(question.meta.clone()))]).collect()
    }
}

/// Pages that the shortest way to the answer needs; where the dataset names none, the parts of its decomposition.
fn hops(question: &Question) -> Option<usize> {
    let pages =
        GoldEvidence::of(question).and_then(|evidence| evidence.groups().iter().map(|group| group.pages.len()).min());
    pages.or_else(|| Some(question.decomposition.len()).filter(|parts| *parts > 0))
}
