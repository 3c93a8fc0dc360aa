//! `HotpotQA` and `2WikiMultiHopQA`: the dataset's JSON against `{"answer": {id: text}, "sp": {id: [[title, n]]}}`, and
//! `"evidence": {id: [[subject, relation, object]]}` for the latter. What is missing scores nothing and is counted.
//!
//! What `2WikiMultiHopQA` v1.1 adds to `HotpotQA`'s evaluation: aliases, evidence triples, titles in lower case.

use super::answers::Answers;
use super::{FileError, Files, JsonFile, Records, Report, named};
use crate::base::python::lower;
use crate::base::{Question, SupportingFact};
use crate::scoring::normalize::normalize_evidence;
use crate::scoring::overlap::{AnswerScore, f1, ratio, ratio_of_sum, round_like_python};
use crate::scoring::{hotpot as answer_score, hotpot_max};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A record of the dataset. The paper's simplified files have neither ids nor facts.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct Gold {
    #[serde(rename = "_id")]
    official_id: Option<String>,
    /// The name of the id on the Hugging Face hub.
    id: Option<String>,
    #[serde(default)]
    question: String,
    answer: String,
    supporting_facts: Option<Vec<SupportingFact>>,
    /// Wikidata id of the answer.
    answer_id: Option<String>,
    #[serde(default, rename = "evidences")]
    pub(super) evidence: Option<Vec<Triple>>,
    /// Wikidata ids of the evidence, as many as there are triples.
    #[serde(rename = "evidences_id")]
    pub(super) evidence_ids: Option<Vec<Triple>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Sections {
    answer: HashMap<String, String>,
    sp: Option<HashMap<String, Vec<SupportingFact>>>,
    evidence: Option<HashMap<String, Vec<Triple>>>,
}

struct Predictions {
    answers: Answers,
    sections: Sections,
}

struct Prediction<'a> {
    answer: Option<&'a str>,
    facts: Option<&'a [SupportingFact]>,
    evidence: Option<&'a [Triple]>,
}

const GOLD: &str = "the gold is the dataset's own file: `_id`, `answer` and `supporting_facts` of each question";
const PREDICTIONS: &str = "predictions are `{\"answer\": {id: text}, \"sp\": {id: [[title, number]]}}`, for 2wiki also \
    `\"evidence\": {id: [[subject, relation, object]]}`";

/// What is predicted: the key of the predictions, and the prefix of the names of its figures.
type Parts = &'static [(&'static str, &'static str)];

const HOTPOT: Parts = &[("answer", ""), ("sp", "sp_")];
const WIKI2: Parts = &[("answer", ""), ("sp", "sp_"), ("evidence", "evi_")];

impl Gold {
    /// Its id. A record without one has the id that our dataset reader makes for it.
    fn id(&self, index: usize) -> String {
        self.official_id.as_ref().or(self.id.as_ref()).cloned().unwrap_or_else(|| format!("hotpotqa-{index}"))
    }

    fn facts(&self) -> &[SupportingFact] {
        self.supporting_facts.as_deref().unwrap_or_default()
    }
}

impl From<Question> for Gold {
    fn from(question: Question) -> Self {
        let Question { id, question, answers, supporting_facts, evidence_triples, meta, .. } = question;
        Self {
            official_id: Some(id),
            id: None,
            question,
            answer: answers.into_iter().next().unwrap_or_default(),
            supporting_facts: Some(supporting_facts).filter(|facts| !facts.is_empty()),
            answer_id: meta.get("answer_id").and_then(Value::as_str).map(str::to_owned),
            evidence: Some(evidence_triples),
            evidence_ids: meta.get("evidences_id").and_then(|ids| serde_json::from_value(ids.clone()).ok()),
        }
    }
}

impl Predictions {
    /// Reads the official sections, or records of `id` and `answer`.
    fn read(file: JsonFile<'_>) -> Result<Self, FileError> {
        let is_answer = |first: &serde_json::Map<String, Value>| {
            let has =
                |names: &[&str]| names.iter().any(|name| first.get(*name).is_some_and(|value| !value.is_object()));
            has(&["id", "question"]) && has(&["answer", "prediction", "predicted_answer"])
        };
        if file.first_record().is_some_and(|first| is_answer(&first)) {
            let sections = Sections { answer: HashMap::new(), sp: None, evidence: None };
            return Ok(Self { answers: Answers::read(file)?, sections });
        }
        Ok(Self { answers: Answers::default(), sections: file.whole(1, PREDICTIONS)? })
    }

    fn of(&self, id: &str, question: &str) -> Prediction<'_> {
        let Sections { answer, sp, evidence } = &self.sections;
        let answer = answer.get(id).map(String::as_str);
        Prediction {
            answer: answer.or_else(|| self.answers.of(id)).or_else(|| self.answers.of(question)),
            facts: sp.as_ref().and_then(|facts| facts.get(id)).map(Vec::as_slice),
            evidence: evidence.as_ref().and_then(|evidence| evidence.get(id)).map(Vec::as_slice),
        }
    }
}

/// The golds, and the error for one without facts.
type Golds<'a> = (Vec<Gold>, Box<dyn Fn(usize) -> FileError + 'a>);

fn golds<'a>(files: &Files<'a>) -> Result<Golds<'a>, FileError> {
    const LACKING: &str = "missing, but there is a prediction of it";
    if let Some(questions) = files.own_golds()? {
        let file = files.gold;
        let lacking =
            move |at: usize| file.error(format!("record {}, field `supporting_facts`: {LACKING}", at + 1), GOLD);
        return Ok((questions.into_iter().map(Gold::from).collect(), Box::new(lacking)));
    }
    let mut records: Records<'a, Gold> = files.gold.records(GOLD)?;
    let list = std::mem::take(&mut records.list);
    Ok((list, Box::new(move |at| records.error(at, "supporting_facts", LACKING))))
}

/// Scores as `hotpot_evaluate_v1.py` does.
pub(super) fn hotpot(files: &Files<'_>) -> Result<Report, FileError> {
    let score = |prediction: &Prediction<'_>, gold: &Gold| {
        let answer = prediction.answer.map(|answer| answer_score(answer, &gold.answer));
        // Sets of (title, sentence). Two empty ones give EM 1 and F1 0.
        let facts = |facts: &[SupportingFact]| sets(&facts.iter().collect(), &gold.facts().iter().collect());
        vec![answer, prediction.facts.map(facts)]
    };
    evaluate("hotpot", files, HOTPOT, score, ratio_of_sum)
}

/// Scores as `2wikimultihop_evaluate_v1.1.py` does; its numbers are percentages with two decimals.
pub(super) fn wiki2(files: &Files<'_>) -> Result<Report, FileError> {
    let aliases = Aliases::read(files)?;
    let score = |prediction: &Prediction<'_>, gold: &Gold| {
        let names = || aliases.with(&gold.answer, gold.answer_id.as_deref());
        vec![
            prediction.answer.map(|answer| hotpot_max(answer, &names())),
            prediction.facts.map(|facts| wiki2_facts(facts, gold.facts())),
            prediction.evidence.map(|evidence| wiki2_evidence(evidence, gold, &aliases)),
        ]
    };
    evaluate("2wiki", files, WIKI2, score, |sum, n| round_like_python(ratio_of_sum(sum, n) * 100.0, 2))
}

/// Scores every gold by its parts and by all of them jointly. `mean` makes a figure of a sum and the number of golds.
fn evaluate(
    metric: &'static str,
    files: &Files<'_>,
    parts: Parts,
    score: impl Fn(&Prediction<'_>, &Gold) -> Vec<Option<AnswerScore>>,
    mean: impl Fn(f64, usize) -> f64,
) -> Result<Report, FileError> {
    let (golds, lacking) = golds(files)?;
    let predictions = Predictions::read(files.predictions)?;
    let mut report = Report::new(metric, files);
    let mut missing: Vec<_> = parts.iter().map(|(key, _)| (*key, 0)).collect();
    let mut sums = vec![AnswerScore::ZERO; parts.len() + 1];
    for (index, gold) in golds.iter().enumerate() {
        let id = gold.id(index);
        let prediction = predictions.of(&id, &gold.question);
        if gold.supporting_facts.is_none() && prediction.facts.is_some() {
            return Err(lacking(index));
        }
        let mut scores = score(&prediction, gold);
        missing.iter_mut().zip(&scores).for_each(|((_, count), score)| *count += usize::from(score.is_none()));
        let all: Option<Vec<AnswerScore>> = scores.iter().copied().collect();
        scores.push(all.and_then(|all| all.into_iter().reduce(joint)));
        let scores: Vec<AnswerScore> = scores.into_iter().map(Option::unwrap_or_default).collect();
        sums.iter_mut().zip(&scores).for_each(|(sum, score)| sum.add(*score));
        report.add(id, figures(parts, &scores));
    }
    let aggregate = named(figures(parts, &sums).map(|(name, sum)| (name, mean(sum, report.n))));
    Ok(Report { aggregate, missing: named(missing), ..report })
}

/// The numbers under their official names, in the official order.
fn figures(parts: Parts, scores: &[AnswerScore]) -> impl Iterator<Item = (String, f64)> {
    let prefixes = parts.iter().map(|(_, prefix)| *prefix).chain(["joint_"]);
    prefixes.zip(scores).flat_map(|(prefix, score)| {
        let AnswerScore { em, f1, precision, recall } = *score;
        [("em", em), ("f1", f1), ("prec", precision), ("recall", recall)]
            .map(|(name, value)| (format!("{prefix}{name}"), value))
    })
}

pub(super) fn sets<T: Ord>(predicted: &BTreeSet<T>, gold: &BTreeSet<T>) -> AnswerScore {
    counted(predicted.intersection(gold).count(), predicted.len(), gold.len())
}

/// The score of `hits` right ones among the predicted, and as many of the gold ones.
pub(super) fn counted(hits: usize, predicted: usize, gold: usize) -> AnswerScore {
    let (precision, recall) = (ratio(hits, predicted), ratio(hits, gold));
    let em = f64::from(hits == predicted && hits == gold);
    AnswerScore { em, f1: f1(precision, recall), precision, recall }
}

/// The joint score of two: their precisions, recalls and EMs multiplied, and F1 from the products.
fn joint(a: AnswerScore, b: AnswerScore) -> AnswerScore {
    let (precision, recall) = (a.precision * b.precision, a.recall * b.recall);
    AnswerScore { em: a.em * b.em, f1: f1(precision, recall), precision, recall }
}

/// Subject, relation, object.
pub(super) type Triple = [String; 3];

/// Other names of entities, by their Wikidata id.
#[derive(Default)]
pub(super) struct Aliases(HashMap<String, BTreeSet<String>>);

impl Aliases {
    /// Reads the file of aliases; none without a file.
    pub(super) fn read(files: &Files<'_>) -> Result<Self, FileError> {
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Line {
            #[serde(rename = "Q_id")]
            id: String,
            aliases: Vec<String>,
            demonyms: Vec<String>,
        }
        let Some(file) = files.aliases else { return Ok(Self::default()) };
        let lines =
            file.records("the aliases are JSON lines with `Q_id`, `aliases` and `demonyms`, as in `id_aliases.json`")?;
        let names = |Line { id, aliases, demonyms }| (id, aliases.into_iter().chain(demonyms).collect());
        Ok(Self(lines.list.into_iter().map(names).collect()))
    }

    pub(super) fn with(&self, name: &str, id: Option<&str>) -> Vec<String> {
        let known = id.and_then(|id| self.0.get(id));
        std::iter::once(name.to_owned()).chain(known.into_iter().flatten().cloned()).collect()
    }
}

/// Scores supporting facts. Titles are lower-cased after duplicates are removed, as in the official script, so two
/// spellings of one title count twice.
fn wiki2_facts(predicted: &[SupportingFact], gold: &[SupportingFact]) -> AnswerScore {
    let lowered = |facts: &[SupportingFact]| -> Vec<(String, i64)> {
        let unique: BTreeSet<&SupportingFact> = facts.iter().collect();
        unique.into_iter().map(|SupportingFact(title, n)| (lower(title).into_owned(), *n)).collect()
    };
    let (predicted, gold) = (lowered(predicted), lowered(gold));
    let hits = predicted.iter().filter(|fact| gold.contains(fact)).count();
    let missed = gold.iter().filter(|fact| !predicted.contains(fact)).count();
    // The script's recall is hits / (hits + missed), which is not hits / gold where spellings collide.
    counted(hits, predicted.len(), hits + missed)
}

/// Scores evidence. A predicted triple is right when it equals a gold one under any names of subject and object, so
/// recall can exceed 1.
fn wiki2_evidence(predicted: &[Triple], gold: &Gold, aliases: &Aliases) -> AnswerScore {
    let predicted: BTreeSet<Triple> = predicted.iter().map(normalized).collect();
    let triples = gold.evidence.as_deref().unwrap_or_default();
    let all_ids = gold.evidence_ids.as_deref().unwrap_or_default();
    let mut names: HashSet<Triple> = HashSet::new();
    for (n, [subject, relation, object]) in triples.iter().enumerate() {
        let ids = all_ids.get(n);
        let objects = aliases.with(object, ids.map(|ids| ids[2].as_str()));
        for subject in aliases.with(subject, ids.map(|ids| ids[0].as_str())) {
            names.extend(objects.iter().map(|object| normalized(&[subject.clone(), relation.clone(), object.clone()])));
        }
    }
    let hits = predicted.iter().filter(|triple| names.contains(*triple)).count();
    counted(hits, predicted.len(), triples.len())
}

fn normalized(triple: &Triple) -> Triple {
    triple.each_ref().map(|part| normalize_evidence(part))
}

#[cfg(test)]
mod tests {
    use super::{AnswerScore, wiki2_facts};
    use crate::base::SupportingFact;
    use crate::scoring::files::{FileMetric, Files, JsonFile};
    use serde_json::json;

    #[test]
    fn titles_are_lowered_after_duplicates_are_removed() {
        let fact = |title: &str, n| SupportingFact(title.to_owned(), n);
        let score = wiki2_facts(&[fact("A", 0), fact("a", 0), fact("a", 0)], &[fact("A", 0), fact("B", 1)]);
        // Two predicted spellings are right, and one gold fact is missed: 2 / (2 + 1).
        assert_eq!((score.em, score.precision, score.recall), (0.0, 1.0, 2.0 / 3.0));
        assert_eq!(wiki2_facts(&[], &[]), AnswerScore { em: 1.0, ..AnswerScore::ZERO });
    }

    #[test]
    fn evidence_recall_can_exceed_one_and_missing_predictions_count() {
        let question = |id: &str| {
            json!({"_id": id, "answer": "Robert", "answer_id": "Q1", "supporting_facts": [],
                "evidences": [["Robert", "spouse", "Ann"]], "evidences_id": [["Q1", "spouse", "Q2"]]})
        };
        let gold = json!(["a", "b", "c"].map(question)).to_string();
        let predictions = json!({"answer": {"a": "bob"}, "sp": {"a": []},
            "evidence": {"a": [["robert.", "spouse", "Ann"], ["Bob", "spouse", " ANN"]]}})
        .to_string();
        let aliases = json!({"Q_id": "Q1", "aliases": ["Bob"], "demonyms": []}).to_string();
        let file = |text| JsonFile::new("f", text).expect("a file");
        let files = Files {
            gold: file(&gold),
            predictions: file(&predictions),
            aliases: Some(file(&aliases)),
            questions: &|| Ok(Vec::new()),
            per_item: true,
        };
        let report = FileMetric::parse("2wiki").expect("a metric").score(&files).expect("a report");
        let item = &report.items.expect("items")[0];
        let found = ["em", "evi_em", "evi_prec", "evi_recall", "joint_em", "joint_f1"].map(|name| item[name].clone());
        assert_eq!(json!(found), json!([1.0, 0.0, 1.0, 2.0, 0.0, 0.0]));
        assert_eq!((&report.aggregate["em"], report.n), (&json!(33.33), 3));
        assert_eq!(json!(report.missing), json!({"answer": 2, "sp": 2, "evidence": 2}));
    }
}
