//! `2WikiMultiHopQA` v1.1: answers over aliases, supporting facts, evidence triples, and all three jointly.

use super::hotpot::hotpot_max;
use super::hotpot_eval::{counted, joint};
use super::normalize::normalize_evidence;
use super::overlap::{AnswerScore, percent};
use crate::types::SupportingFact;
use crate::types::python::lower;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Other names of entities, by their Wikidata id.
#[derive(Debug, Clone, Default)]
pub struct Wiki2Aliases(HashMap<String, BTreeSet<String>>);

impl Wiki2Aliases {
    /// Aliases by Wikidata id.
    pub fn new(aliases: HashMap<String, BTreeSet<String>>) -> Self {
        Self(aliases)
    }

    /// The name of an entity and its aliases.
    fn with(&self, name: &str, id: Option<&str>) -> Vec<String> {
        let known = id.and_then(|id| self.0.get(id));
        std::iter::once(name.to_owned()).chain(known.into_iter().flatten().cloned()).collect()
    }
}

/// Subject, relation, object.
pub type Triple = [String; 3];

/// What was predicted for one question; what is absent scores nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wiki2Prediction<'a> {
    /// The answer.
    pub answer: Option<&'a str>,
    /// The supporting facts.
    pub facts: Option<&'a [SupportingFact]>,
    /// The evidence.
    pub evidence: Option<&'a [Triple]>,
}

/// The gold of one question.
#[derive(Debug, Clone, Copy)]
pub struct Wiki2Gold<'a> {
    /// The answer.
    pub answer: &'a str,
    /// Wikidata id of the answer.
    pub answer_id: Option<&'a str>,
    /// The supporting facts.
    pub facts: &'a [SupportingFact],
    /// The evidence.
    pub evidence: &'a [Triple],
    /// Its Wikidata ids, as many as there are triples, or none.
    pub evidence_ids: &'a [Triple],
}

/// The scores of one question, or their means.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Wiki2Score {
    /// Of the answer: independent maxima over its aliases.
    pub answer: AnswerScore,
    /// Of the supporting facts.
    pub facts: AnswerScore,
    /// Of the evidence; its recall can exceed 1.
    pub evidence: AnswerScore,
    /// Of all three, multiplied. Zero unless all were predicted.
    pub joint: AnswerScore,
}

impl Wiki2Score {
    /// The numbers under their official names, in the official order.
    pub fn named(&self) -> [(&'static str, f64); 16] {
        let Self { answer, facts, evidence, joint } = self;
        [
            ("em", answer.em),
            ("f1", answer.f1),
            ("prec", answer.precision),
            ("recall", answer.recall),
            ("sp_em", facts.em),
            ("sp_f1", facts.f1),
            ("sp_prec", facts.precision),
            ("sp_recall", facts.recall),
            ("evi_em", evidence.em),
            ("evi_f1", evidence.f1),
            ("evi_prec", evidence.precision),
            ("evi_recall", evidence.recall),
            ("joint_em", joint.em),
            ("joint_f1", joint.f1),
            ("joint_prec", joint.precision),
            ("joint_recall", joint.recall),
        ]
    }
}

/// Scores supporting facts. Titles are lower-cased after duplicates are gone, as the official script does, so that
/// two spellings of one title count twice.
pub fn wiki2_facts(predicted: &[SupportingFact], gold: &[SupportingFact]) -> AnswerScore {
    let lowered = |facts: &[SupportingFact]| -> Vec<(String, i64)> {
        let unique: BTreeSet<&SupportingFact> = facts.iter().collect();
        unique.into_iter().map(|SupportingFact(title, n)| (lower(title).into_owned(), *n)).collect()
    };
    let (predicted, gold) = (lowered(predicted), lowered(gold));
    let sets: [HashSet<&(String, i64)>; 2] = [predicted.iter().collect(), gold.iter().collect()];
    let hits = predicted.iter().filter(|fact| sets[1].contains(fact)).count();
    let missed = gold.iter().filter(|fact| !sets[0].contains(fact)).count();
    // The script takes recall as hits / (hits + missed), which is not hits / gold where spellings collide.
    let mut score = counted(hits, hits, predicted.len(), hits + missed);
    score.em = f64::from(u8::from(hits == predicted.len() && missed == 0));
    score
}

/// Scores evidence. A predicted triple is right when it equals a gold one under any names of subject and object.
pub fn wiki2_evidence(predicted: &[Triple], gold: &Wiki2Gold<'_>, aliases: &Wiki2Aliases) -> AnswerScore {
    let predicted: BTreeSet<Triple> = predicted.iter().map(normalized).collect();
    let mut names: HashSet<Triple> = HashSet::new();
    for (n, [subject, relation, object]) in gold.evidence.iter().enumerate() {
        let ids = gold.evidence_ids.get(n);
        let objects = aliases.with(object, ids.map(|ids| ids[2].as_str()));
        for subject in aliases.with(subject, ids.map(|ids| ids[0].as_str())) {
            names.extend(objects.iter().map(|object| normalized(&[subject.clone(), relation.clone(), object.clone()])));
        }
    }
    let hits = predicted.iter().filter(|triple| names.contains(*triple)).count();
    counted(hits, hits, predicted.len(), gold.evidence.len())
}

fn normalized(triple: &Triple) -> Triple {
    triple.each_ref().map(|part| normalize_evidence(part))
}

/// The evaluation of a file of predictions, question by question in the order of the gold file.
#[derive(Debug, Clone, Default)]
pub struct Wiki2Evaluation {
    aliases: Wiki2Aliases,
    sum: Wiki2Score,
    n: usize,
}

impl Wiki2Evaluation {
    /// An evaluation with these aliases.
    pub fn new(aliases: Wiki2Aliases) -> Self {
        Self { aliases, ..Self::default() }
    }

    /// Adds one question and gives its scores. A question without prediction counts in the means.
    pub fn add(&mut self, prediction: Wiki2Prediction<'_>, gold: &Wiki2Gold<'_>) -> Wiki2Score {
        let answer =
            prediction.answer.map(|answer| hotpot_max(answer, &self.aliases.with(gold.answer, gold.answer_id)));
        let facts = prediction.facts.map(|facts| wiki2_facts(facts, gold.facts));
        let evidence = prediction.evidence.map(|evidence| wiki2_evidence(evidence, gold, &self.aliases));
        let all = answer.zip(facts).zip(evidence);
        let score = Wiki2Score {
            answer: answer.unwrap_or_default(),
            facts: facts.unwrap_or_default(),
            evidence: evidence.unwrap_or_default(),
            joint: all.map(|((answer, facts), evidence)| joint(joint(answer, facts), evidence)).unwrap_or_default(),
        };
        self.n += 1;
        self.sum.answer.add(score.answer);
        self.sum.facts.add(score.facts);
        self.sum.evidence.add(score.evidence);
        self.sum.joint.add(score.joint);
        score
    }

    /// What the official script prints: percentages with two decimals, under its names.
    pub fn official(&self) -> [(&'static str, f64); 16] {
        self.sum.named().map(|(name, sum)| (name, percent(sum, self.n, 2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triple(parts: [&str; 3]) -> Triple {
        parts.map(str::to_owned)
    }

    fn fact(title: &str, n: i64) -> SupportingFact {
        SupportingFact(title.to_owned(), n)
    }

    #[test]
    fn titles_are_lowered_after_duplicates_are_gone() {
        let score = wiki2_facts(&[fact("A", 0), fact("a", 0), fact("a", 0)], &[fact("A", 0), fact("B", 1)]);
        // Two predicted spellings are right, and one gold fact is missed: 2 / (2 + 1).
        assert_eq!((score.em, score.precision, score.recall), (0.0, 1.0, 2.0 / 3.0));
        assert_eq!(wiki2_facts(&[], &[]), AnswerScore { em: 1.0, ..AnswerScore::ZERO });
    }

    #[test]
    fn evidence_recall_can_exceed_one() {
        let aliases = Wiki2Aliases::new(HashMap::from([("Q1".to_owned(), BTreeSet::from(["Bob".to_owned()]))]));
        let gold = Wiki2Gold {
            answer: "Robert",
            answer_id: Some("Q1"),
            facts: &[],
            evidence: &[triple(["Robert", "spouse", "Ann"])],
            evidence_ids: &[triple(["Q1", "spouse", "Q2"])],
        };
        let predicted = [triple(["robert.", "spouse", "Ann"]), triple(["Bob", "spouse", " ANN"])];
        let score = wiki2_evidence(&predicted, &gold, &aliases);
        assert_eq!((score.em, score.precision, score.recall), (0.0, 1.0, 2.0));
        let mut evaluation = Wiki2Evaluation::new(aliases);
        let facts: &[SupportingFact] = &[];
        let prediction = Wiki2Prediction { answer: Some("bob"), facts: Some(facts), evidence: Some(&predicted[..1]) };
        let score = evaluation.add(prediction, &gold);
        assert_eq!((score.answer, score.evidence), (AnswerScore::right(true), AnswerScore::right(true)));
        assert_eq!((score.joint.em, score.joint.f1), (1.0, 0.0));
        evaluation.add(Wiki2Prediction::default(), &gold);
        evaluation.add(Wiki2Prediction::default(), &gold);
        let official = evaluation.official();
        assert_eq!(official[0], ("em", 33.33));
        assert_eq!(official[15].0, "joint_recall");
    }
}
