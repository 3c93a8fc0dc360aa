//! What `2WikiMultiHopQA` v1.1 adds to `HotpotQA`'s evaluation: aliases, evidence triples, titles in lower case.

use super::hotpot::{Gold, counted};
use super::{FileError, Files};
use crate::score::normalize::normalize_evidence;
use crate::score::overlap::AnswerScore;
use crate::types::SupportingFact;
use crate::types::python::lower;
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap, HashSet};

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

    /// The name of an entity and its aliases.
    pub(super) fn with(&self, name: &str, id: Option<&str>) -> Vec<String> {
        let known = id.and_then(|id| self.0.get(id));
        std::iter::once(name.to_owned()).chain(known.into_iter().flatten().cloned()).collect()
    }
}

/// Scores supporting facts. Titles are lower-cased after duplicates are removed, as in the official script, so two
/// spellings of one title count twice.
pub(super) fn facts(predicted: &[SupportingFact], gold: &[SupportingFact]) -> AnswerScore {
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
pub(super) fn evidence(predicted: &[Triple], gold: &Gold, aliases: &Aliases) -> AnswerScore {
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
    use super::{AnswerScore, facts};
    use crate::score::files::{FileMetric, Files, JsonFile};
    use crate::types::SupportingFact;
    use serde_json::json;

    #[test]
    fn titles_are_lowered_after_duplicates_are_removed() {
        let fact = |title: &str, n| SupportingFact(title.to_owned(), n);
        let score = facts(&[fact("A", 0), fact("a", 0), fact("a", 0)], &[fact("A", 0), fact("B", 1)]);
        // Two predicted spellings are right, and one gold fact is missed: 2 / (2 + 1).
        assert_eq!((score.em, score.precision, score.recall), (0.0, 1.0, 2.0 / 3.0));
        assert_eq!(facts(&[], &[]), AnswerScore { em: 1.0, ..AnswerScore::ZERO });
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
