//! What a model answers without tools, beside what it answers with them on the same questions.

use super::retrieval::Share;
use crate::base::text::{counted, visible_line};
use crate::base::{Method, Variant};
use serde::Serialize;
use std::collections::BTreeMap;

/// Sentences that are printed; JSON has all.
const LISTED: usize = 3;

/// The right answers of a variant to each question, of its scored repeats.
#[derive(Debug, Clone, Default)]
pub struct RightAnswers(BTreeMap<String, Share>);

impl RightAnswers {
    /// Adds a scored answer.
    pub fn add(&mut self, id: &str, right: bool) {
        self.0.entry(id.to_owned()).or_default().add(u64::from(right), 1);
    }
}

/// A variant without tools beside one of the same model with tools, on the questions that both have scored.
///
/// Of repeated questions the numbers are means over all pairs of a repeat without tools and one with them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClosedBook {
    pub model: String,
    /// The variant without tools.
    pub closed: String,
    /// The variant with tools.
    pub tools: String,
    pub questions: u64,
    /// Questions that are right without tools.
    pub right: f64,
    /// Questions that are right with tools alone.
    pub added: f64,
    /// Questions that are right without tools alone.
    pub lost: f64,
}

impl ClosedBook {
    /// Absent where the two share no scored question.
    fn of(closed: &RightAnswers, tools: &RightAnswers) -> Option<Self> {
        let mut found = Self {
            model: String::new(),
            closed: String::new(),
            tools: String::new(),
            questions: 0,
            right: 0.0,
            added: 0.0,
            lost: 0.0,
        };
        for (id, closed) in &closed.0 {
            let (Some(closed), Some(tools)) = (closed.value(), tools.0.get(id).and_then(|tools| tools.value())) else {
                continue;
            };
            found.questions += 1;
            found.right += closed;
            found.added += tools * (1.0 - closed);
            found.lost += closed * (1.0 - tools);
        }
        (found.questions > 0).then_some(found)
    }

    fn sentence(&self) -> String {
        let Self { right, added, lost, .. } = *self;
        let [model, closed, tools] = [&self.model, &self.closed, &self.tools].map(|name| visible_line(name, 80));
        // Repeats make shares of questions.
        let is_whole = [right, added, lost].iter().all(|number| number.fract() < 1e-9);
        let number = |number: f64| if is_whole { format!("{number:.0}") } else { format!("{number:.1}") };
        let (right, added, lost) = (number(right), number(added), number(lost));
        let questions = counted(self.questions, "question");
        format!(
            "{model} answers {right} of {questions} without tools ({closed}); with tools, {tools} adds {added} and loses {lost}"
        )
    }
}

/// Whether a variant answers without tools (`true`) or with them; absent where it is shown the gold paragraphs, and where the
/// method or the model is not known.
fn is_closed(variant: &Variant) -> Option<bool> {
    let method = Method::parse(&variant.method).filter(|_| !variant.oracle_context && !variant.model.is_empty());
    Some(method?.agent().is_none())
}

/// Whether one of the two answers without tools, the other with them, and both by the same model.
fn is_pair(closed: &Variant, tools: &Variant) -> bool {
    closed.model == tools.model && is_closed(closed) == Some(true) && is_closed(tools) == Some(false)
}

/// Whether any of the variants has such a counterpart.
pub fn has_counterpart(variant: &Variant, variants: &[Variant]) -> bool {
    variants.iter().any(|other| is_pair(variant, other) || is_pair(other, variant))
}

/// All pairs of these variants, each with the name by which it is called.
pub fn closed_books(variants: &[(&str, &Variant, &RightAnswers)]) -> Vec<ClosedBook> {
    let mut found = Vec::new();
    for (closed, of_closed, closed_right) in variants {
        for (tools, of_tools, tools_right) in variants.iter().filter(|(_, tools, _)| is_pair(of_closed, tools)) {
            let (model, closed, tools) = (of_tools.model.clone(), (*closed).to_owned(), (*tools).to_owned());
            let of_pair = ClosedBook::of(closed_right, tools_right);
            found.extend(of_pair.map(|of_pair| ClosedBook { model, closed, tools, ..of_pair }));
        }
    }
    found
}

/// A sentence for each of the first pairs, and one that counts the others.
pub fn closed_book_sentences(pairs: &[ClosedBook]) -> Vec<String> {
    let more = pairs.len().saturating_sub(LISTED);
    let rest = (more > 0).then(|| {
        format!(
            "{} of a variant without tools and one with them: see `closed_book` in --json",
            counted(more, "more pair")
        )
    });
    pairs.iter().take(LISTED).map(ClosedBook::sentence).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::{RightAnswers, closed_book_sentences, closed_books, has_counterpart};
    use crate::base::Variant;

    fn variant(method: &str, model: &str) -> Variant {
        Variant { method: method.to_owned(), model: model.to_owned(), ..Variant::default() }
    }

    /// The answers of each question, a digit for each repeat.
    fn answers(questions: &[(&str, &str)]) -> RightAnswers {
        let mut right = RightAnswers::default();
        for (id, repeats) in questions {
            repeats.chars().for_each(|repeat| right.add(id, repeat == '1'));
        }
        right
    }

    #[test]
    fn one_model_on_questions_that_both_scored() {
        let (cot, react) = (variant("cot", "m"), variant("react", "m"));
        let oracle = Variant { oracle_context: true, ..cot.clone() };
        let (other, vote) = (variant("standard", "n"), variant("react->cot-sc", "m"));
        let closed = answers(&[("a", "1"), ("b", "1"), ("c", "0"), ("d", "0"), ("x", "1")]);
        let tools = answers(&[("a", "1"), ("b", "0"), ("c", "1"), ("d", "0"), ("y", "1")]);
        let variants = [
            ("cot", &cot, &closed),
            ("react", &react, &tools),
            ("oracle", &oracle, &closed),
            ("other", &other, &closed),
            ("vote", &vote, &tools),
        ];
        assert_eq!(
            closed_book_sentences(&closed_books(&variants)),
            [
                "m answers 2 of 4 questions without tools (cot); with tools, react adds 1 and loses 1",
                "m answers 2 of 4 questions without tools (cot); with tools, vote adds 1 and loses 1",
            ]
        );
        let all = [cot, react, oracle, other, vote];
        let found: Vec<bool> = all.iter().map(|variant| has_counterpart(variant, &all)).collect();
        assert_eq!(found, [true, true, false, false, true]);
    }

    #[test]
    fn repeats_count_by_their_shares() {
        let (cot, react) = (variant("cot", "m"), variant("react", "m"));
        let (closed, tools) = (answers(&[("a", "1100"), ("b", "00")]), answers(&[("a", "1110"), ("b", "01")]));
        let found = closed_books(&[("cot", &cot, &closed), ("react", &react, &tools)]);
        let [one] = &found[..] else { panic!("{found:?}") };
        // Of the 16 pairs of `a`, 6 add and 2 lose; of those of `b` half add.
        let expected = [0.5, 6.0 / 16.0 + 0.5, 2.0 / 16.0];
        let close = |(found, expected): (f64, f64)| (found - expected).abs() < 1e-12;
        assert!([one.right, one.added, one.lost].into_iter().zip(expected).all(close), "{one:?}");
        let sentence = "m answers 0.5 of 2 questions without tools (cot); with tools, react adds 0.9 and loses 0.1";
        assert_eq!(closed_book_sentences(&found), [sentence]);
        assert_eq!(closed_book_sentences(&vec![one.clone(); 5]).len(), 4);
    }
}
