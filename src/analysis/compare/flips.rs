//! Flipped answers: right in one variant and wrong in the other, and those whose gold answer is stale.

use super::pairing::Pairing;
use super::{NamedFigure, Variant};
use crate::base::AnswerKind;
use crate::scoring::{has_words, normalize};
use serde::Serialize;

/// Questions whose answer flipped from `a` to `b`, in the order of `a`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Flips {
    pub n: usize,
    /// Right in `b` only.
    pub gained: Vec<String>,
    /// Right in `a` only.
    pub lost: Vec<String>,
}

/// The questions whose answer flipped, among those that both measured: right means a mean EM of repeats above 0.5.
pub(crate) fn flips(a: &Variant, b: &Variant) -> Flips {
    let mut found = Flips::default();
    let Ok(pairing) = Pairing::of([a, b]) else { return found };
    let em = NamedFigure::new("em");
    let Ok(values) = pairing.values(&em) else { return found };
    let values = values.pair((0, 1));
    found.n = values.questions.len();
    for (at, question) in values.questions.iter().enumerate() {
        match [0, 1].map(|variant: usize| values.variants[variant][at] > 0.5) {
            [false, true] => found.gained.push(pairing.id(*question).to_owned()),
            [true, false] => found.lost.push(pairing.id(*question).to_owned()),
            _ => {}
        }
    }
    found
}

/// The fewest letters and digits of an answer that is looked for; shorter ones are in any text.
const FEWEST: usize = 3;

/// What a dataset says of a question's answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Gold {
    /// Pages that are needed for it.
    pub pages: Vec<String>,
    /// It, and its other spellings.
    pub answers: Vec<String>,
    pub kind: AnswerKind,
}

/// Whether the gold pages of another date still have the gold answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum GoldState {
    /// The older text of this page has it, and no gold page has it now.
    Stale { page: String },
    /// A gold page has it.
    Still,
    /// That cannot be told, and why not.
    Undecidable { reason: &'static str },
}

impl Gold {
    /// Judges by the texts of the gold pages in two corpora, in the order of the pages; absent where a corpus lacks one.
    pub(crate) fn judged(&self, older: &[Option<String>], newer: &[Option<String>]) -> GoldState {
        let undecidable = |reason| GoldState::Undecidable { reason };
        if self.pages.is_empty() {
            return undecidable("no gold pages");
        }
        let yes_or_no = |answer: &String| ["yes", "no"].contains(&normalize(answer).as_str());
        if self.kind != AnswerKind::Span || self.answers.iter().any(yes_or_no) {
            return undecidable("the answer is yes, no, a label or free text");
        }
        let letters = |answer: &&String| answer.chars().filter(|c| c.is_alphanumeric() || !c.is_ascii()).count();
        let telling: Vec<&String> = self.answers.iter().filter(|answer| letters(answer) >= FEWEST).collect();
        if telling.is_empty() {
            return undecidable("the answer is too short to be looked for");
        }
        let has = |text: &Option<String>| {
            text.as_ref().is_some_and(|text| telling.iter().any(|answer| has_words(text, answer)))
        };
        let mut had = (0..self.pages.len()).filter(|at| older.get(*at).is_some_and(has)).peekable();
        let Some(first) = had.peek().copied() else {
            return undecidable("the older pages do not have the answer in these words");
        };
        if newer.iter().any(has) {
            return GoldState::Still;
        }
        if had.any(|at| newer.get(at).is_none_or(Option::is_none)) {
            return undecidable("the newer corpus lacks the page");
        }
        GoldState::Stale { page: self.pages[first].clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Gold, GoldState};
    use crate::base::AnswerKind;

    fn gold(answers: &[&str]) -> Gold {
        let answers = answers.iter().map(|answer| (*answer).to_owned()).collect();
        Gold { pages: vec!["Oslo".to_owned(), "Bergen".to_owned()], answers, kind: AnswerKind::Span }
    }

    fn texts(texts: [&str; 2]) -> [Option<String>; 2] {
        texts.map(|text| (!text.is_empty()).then(|| text.to_owned()))
    }

    #[test]
    fn gold_is_stale_only_where_a_page_lost_the_answer() {
        let stale = GoldState::Stale { page: "Oslo".to_owned() };
        let open = |reason| GoldState::Undecidable { reason };
        let old = ["Its mayor is Ann B. Cook.", "By the sea."];
        for (answers, new, expected) in [
            (&["Ann B Cook"][..], ["Its mayor is Dan Eek.", "By the sea."], stale.clone()),
            (&["Ann B Cook"], ["Dan Eek.", "Where ANN B. COOK lives."], GoldState::Still),
            (&["Ann B Cook"], ["Its mayors: Ann B. Cooks and others.", "x"], stale),
            (&["Cook, Ann", "Ann B. Cook"], ["Ann B. Cook", ""], GoldState::Still),
            (&["Ann B Cook"], ["", "By the sea."], open("the newer corpus lacks the page")),
            (&["Somebody"], ["x", "y"], open("the older pages do not have the answer in these words")),
            (&["Yes"], ["x", "y"], open("the answer is yes, no, a label or free text")),
            (&["42"], ["x", "y"], open("the answer is too short to be looked for")),
        ] {
            assert_eq!(gold(answers).judged(&texts(old), &texts(new)), expected, "{answers:?} {new:?}");
        }
        let label = Gold { kind: AnswerKind::Label, ..gold(&["SUPPORTS"]) };
        assert_eq!(label.judged(&texts(old), &texts(old)), open("the answer is yes, no, a label or free text"));
        assert_eq!(Gold::default().judged(&[], &[]), open("no gold pages"));
    }
}
