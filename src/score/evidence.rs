//! What a dataset says is needed for an answer: pages, and the sentences on them.
//!
//! Trajectory metrics compare an episode with this. It is plain data made from a [`Question`].

use super::wording::{page_key, pieces};
use crate::types::{Question, SupportingFact};

/// A fact that the tool would show in more pieces than this is a paragraph: no dataset means that all of it is needed.
const SENTENCE_PIECES: usize = 3;

/// The gold evidence of one question: one group, or several of which any one is enough (FEVER).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldEvidence {
    groups: Vec<EvidenceGroup>,
}

/// Facts that are all needed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EvidenceGroup {
    /// Titles of the pages as the dataset spells them, each once, in the dataset's order. Never empty.
    pub pages: Vec<String>,
    /// The needed sentences, each once, in the dataset's order.
    pub facts: Vec<GoldFact>,
}

/// One needed sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldFact {
    /// Title of its page as the dataset spells it.
    pub page: String,
    /// Its number on that page, from 0, where the dataset gives one.
    pub number: Option<i64>,
    /// The same, if a sentence can be meant: not where the question's context has none of that number, or whole
    /// paragraphs only (`MuSiQue`).
    pub sentence: Option<usize>,
    /// What it may read: one text as a rule, several where the context has the title more than once, and none where
    /// the question's context lacks it or names a whole paragraph only (`MuSiQue`).
    pub texts: Vec<String>,
}

impl GoldEvidence {
    /// The evidence that a question's record holds; `None` if it names no page.
    ///
    /// Supporting facts (`HotpotQA`, `2WikiMultiHopQA`, `MuSiQue`) are one group; FEVER's evidence sets are one each.
    pub fn of(question: &Question) -> Option<Self> {
        let mut groups = Vec::new();
        if question.supporting_facts.is_empty() {
            for set in &question.evidence_sets {
                let facts = set.iter().filter_map(|piece| Some((piece.0.as_deref()?, piece.1)));
                push(&mut groups, EvidenceGroup::of(question, facts));
            }
        } else {
            let facts = question.supporting_facts.iter().map(|SupportingFact(page, n)| (page.as_str(), Some(*n)));
            push(&mut groups, EvidenceGroup::of(question, facts));
        }
        (!groups.is_empty()).then_some(Self { groups })
    }

    /// The groups, in the dataset's order. Never empty.
    pub fn groups(&self) -> &[EvidenceGroup] {
        &self.groups
    }
}

/// Annotators of FEVER often gave the same evidence; it is one alternative.
fn push(groups: &mut Vec<EvidenceGroup>, group: EvidenceGroup) {
    if !group.pages.is_empty() && !groups.contains(&group) {
        groups.push(group);
    }
}

impl EvidenceGroup {
    fn of<'a>(question: &Question, facts: impl Iterator<Item = (&'a str, Option<i64>)>) -> Self {
        let mut group = Self::default();
        let mut keys: Vec<String> = Vec::new();
        for (page, number) in facts {
            let key = page_key(page);
            if !keys.contains(&key) {
                keys.push(key.clone());
                group.pages.push(page.to_owned());
            }
            if !group.facts.iter().any(|fact| fact.number == number && page_key(&fact.page) == key) {
                group.facts.push(GoldFact::of(question, page, &key, number));
            }
        }
        group
    }
}

impl GoldFact {
    /// Its texts are the sentences of that number in the context's paragraphs of that title. An index past the end has none.
    fn of(question: &Question, page: &str, key: &str, number: Option<i64>) -> Self {
        let mut fact = Self { page: page.to_owned(), number, sentence: None, texts: Vec::new() };
        let Some(number) = number.and_then(|number| usize::try_from(number).ok()) else { return fact };
        let mut paragraphs = question.context.iter().filter(|paragraph| page_key(&paragraph.title) == key).peekable();
        if paragraphs.peek().is_none() {
            fact.sentence = Some(number);
        }
        let whole_paragraphs = question.context.iter().all(|paragraph| paragraph.sentences.len() <= 1);
        for paragraph in paragraphs {
            let Some(text) = paragraph.sentences.get(number) else { continue };
            match pieces(text).len() {
                0 => continue,
                1..=SENTENCE_PIECES => fact.texts.push(text.clone()),
                _ => {}
            }
            fact.sentence = Some(number).filter(|_| !whole_paragraphs);
        }
        fact
    }
}

#[cfg(test)]
mod tests {
    use super::{EvidenceGroup, GoldEvidence, GoldFact};
    use crate::types::{Evidence, Paragraph, Question, SupportingFact};

    fn fact(page: &str, number: Option<i64>, texts: &[&str]) -> GoldFact {
        let sentence = match (page, number) {
            ("Ada Byron", Some(1)) | ("The_A_-LRB-film-RRB-" | "B", Some(0 | 3)) => {
                number.and_then(|n| n.try_into().ok())
            }
            _ => None,
        };
        GoldFact { page: page.into(), number, sentence, texts: texts.iter().map(ToString::to_string).collect() }
    }

    #[test]
    fn supporting_facts_are_one_group_with_the_texts_that_the_context_has() {
        let mut question = Question::new("q", "?", vec!["x".into()]);
        assert_eq!(GoldEvidence::of(&question), None);
        question.context =
            vec![Paragraph { title: "Ada_Byron".into(), sentences: vec!["One.".into(), " Two.".into()] }];
        question.supporting_facts = [("Ada Byron", 1), ("ada byron", 1), ("Ada Byron", 9), ("Ada Byron", -1), ("B", 0)]
            .map(|(page, n)| SupportingFact(page.into(), n))
            .into();
        let group = EvidenceGroup {
            pages: vec!["Ada Byron".into(), "B".into()],
            facts: vec![
                fact("Ada Byron", Some(1), &[" Two."]),
                fact("Ada Byron", Some(9), &[]),
                fact("Ada Byron", Some(-1), &[]),
                fact("B", Some(0), &[]),
            ],
        };
        assert_eq!(GoldEvidence::of(&question).expect("evidence").groups(), [group]);
    }

    #[test]
    fn evidence_sets_are_alternatives_and_empty_ones_are_none() {
        let mut question = Question::new("q", "?", vec!["SUPPORTS".into()]);
        let piece = |page: Option<&str>, n| Evidence(page.map(str::to_owned), n);
        question.evidence_sets = vec![vec![piece(None, None)]];
        assert_eq!(GoldEvidence::of(&question), None);
        let pair = vec![piece(Some("The_A_-LRB-film-RRB-"), Some(0)), piece(Some("B"), Some(3))];
        question.evidence_sets = vec![pair.clone(), vec![piece(Some("C"), None)], pair];
        let evidence = GoldEvidence::of(&question).expect("evidence");
        assert_eq!(evidence.groups().len(), 2);
        assert_eq!(evidence.groups()[0].pages, ["The_A_-LRB-film-RRB-", "B"]);
        assert_eq!(evidence.groups()[1].facts, [fact("C", None, &[])]);
    }

    #[test]
    fn a_paragraph_is_no_sentence() {
        let mut question = Question::new("q", "?", vec!["x".into()]);
        let text = "It is one thing. It is two things. It is three things. It is four things.";
        question.context = vec![Paragraph { title: "P".into(), sentences: vec![text.into()] }];
        question.supporting_facts = vec![SupportingFact("P".into(), 0)];
        assert_eq!(GoldEvidence::of(&question).expect("evidence").groups()[0].facts, [fact("P", Some(0), &[])]);
    }
}
