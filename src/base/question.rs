//! One question of a dataset, in the canonical form that every reader produces.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A question (or a claim) with its gold answers and whatever evidence its dataset gives.
///
/// This is also our own JSON Lines format: one such object a line. Only `question` is required there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Unique within its file; made from dataset name and index where the file has none.
    #[serde(default)]
    pub id: String,
    /// Name of the dataset, such as `hotpotqa` or `sample`.
    #[serde(default)]
    pub dataset: String,
    /// `train`, `dev`, `test`, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Position in its file, from 0.
    #[serde(default)]
    pub index: usize,
    /// The text put to the agent: a question, or a claim to judge.
    pub question: String,
    /// `answers[0]` is the official gold, the rest are aliases; empty when the answer is hidden.
    #[serde(default)]
    pub answers: Vec<String>,
    /// What sort of answer is asked for.
    #[serde(default)]
    pub answer_kind: AnswerKind,
    /// `false` only where the dataset says that its own context cannot answer the question.
    #[serde(default = "super::yes")]
    pub answerable: bool,
    /// The dataset's own type, such as `bridge` or `comparison`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The dataset's own difficulty, such as `easy`, `medium` or `hard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// Paragraphs that come with the question, distractors included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Paragraph>,
    /// Sentences that are needed for the answer, in the file's order, duplicates kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supporting_facts: Vec<SupportingFact>,
    /// Alternatives of evidence, each a group whose members are all needed (FEVER).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence_sets: Vec<Vec<Evidence>>,
    /// Evidence as subject, relation, object (2WikiMultiHopQA).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence_triples: Vec<[String; 3]>,
    /// Sub-questions as the dataset gives them (`MuSiQue`, `StrategyQA`, Bamboogle).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decomposition: Vec<Value>,
    /// Questions of one cluster are not independent (twins, one source page).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Whatever else the record holds, under its own names.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// What sort of answer a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerKind {
    /// A short text: a name, a date, a number.
    #[default]
    Span,
    /// `yes` or `no`.
    YesNo,
    /// One of a fixed set of labels (`SUPPORTS`, `REFUTES`, `NOT ENOUGH INFO`).
    Label,
    /// Free text that no exact match can judge.
    Freeform,
}

/// A titled paragraph, sentence by sentence; the sentences join without separator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paragraph {
    /// Title of the page the paragraph is from.
    pub title: String,
    /// Its sentences, leading spaces kept.
    pub sentences: Vec<String>,
}

/// One needed sentence: page title and sentence number from 0. Stored as `[title, n]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(expecting = "[title, sentence number]")]
pub struct SupportingFact(
    /// Title of the page.
    pub String,
    /// Sentence of the page's context paragraph, from 0; a dataset may point past its end.
    pub i64,
);

/// One piece of FEVER evidence: page and sentence, either of which may be missing. Stored as `[page, line]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(expecting = "[page, line]")]
pub struct Evidence(
    /// Title of the page, as the dataset spells it.
    pub Option<String>,
    /// Sentence number on that page, from 0.
    pub Option<i64>,
);

impl Question {
    /// A question with nothing but its id, text and answers.
    pub fn new(id: impl Into<String>, question: impl Into<String>, answers: Vec<String>) -> Self {
        Self {
            id: id.into(),
            dataset: String::new(),
            split: None,
            index: 0,
            question: question.into(),
            answers,
            answer_kind: AnswerKind::Span,
            answerable: true,
            kind: None,
            level: None,
            context: Vec::new(),
            supporting_facts: Vec::new(),
            evidence_sets: Vec::new(),
            evidence_triples: Vec::new(),
            decomposition: Vec::new(),
            cluster: None,
            meta: Map::new(),
        }
    }

    /// The official gold answer, if the dataset shows it.
    pub fn gold(&self) -> Option<&str> {
        self.answers.first().map(String::as_str)
    }
}
