//! What a model answers without tools, beside what it answers with them on the same questions.

use super::overlap::float;
use super::retrieval::Share;
use crate::base::text::{counted, visible_line};
use crate::base::{Method, Variant};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Sentences that are printed; JSON has all.
const LISTED: usize = 3;

/// The right answers of a variant to each question, of its scored repeats.
#[derive(Debug, Clone, Default)]
pub struct RightAnswers(BTreeMap<String, Share>);

impl RightAnswers {
    pub fn add(&mut self, id: &str, right: bool) {
        self.0.entry(id.to_owned()).or_default().add(u64::from(right), 1);
    }
}

/// A variant without tools beside one of the same model with tools, on the questions that both have scored.
///
/// Of repeated questions the numbers are means over all pairs of a repeat without tools and one with them; of several pairs of
/// variants, means over the pairs that have scored the question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClosedBook {
    /// Several are joined by `, `.
    pub model: String,
    pub closed: String,
    pub tools: String,
    /// How many pairs of variants there are, where these are several that differ in other settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub combinations: Option<usize>,
    pub questions: u64,
    /// Questions that are right without tools.
    pub right: f64,
    /// Questions that are right with tools alone.
    pub added: f64,
    /// Questions that are right without tools alone.
    pub lost: f64,
}

type Answers<'a> = (&'a RightAnswers, &'a RightAnswers);

impl ClosedBook {
    /// Absent where no pair shares a scored question.
    fn of([closed, tools]: [String; 2], models: &BTreeSet<&str>, pairs: &[Answers<'_>]) -> Option<Self> {
        let mut found = Self {
            model: models.iter().copied().collect::<Vec<_>>().join(", "),
            closed,
            tools,
            combinations: Some(pairs.len()).filter(|pairs| *pairs > 1),
            questions: 0,
            right: 0.0,
            added: 0.0,
            lost: 0.0,
        };
        let ids: BTreeSet<&String> = pairs.iter().flat_map(|(closed, _)| closed.0.keys()).collect();
        for id in ids {
            let value = |answers: &RightAnswers| answers.0.get(id)?.value();
            let both: Vec<(f64, f64)> =
                pairs.iter().filter_map(|(closed, tools)| Some((value(closed)?, value(tools)?))).collect();
            let mean = |of: fn(f64, f64) -> f64| both.iter().map(|(c, t)| of(*c, *t)).sum::<f64>() / float(both.len());
            if !both.is_empty() {
                found.questions += 1;
                found.right += mean(|closed, _| closed);
                found.added += mean(|closed, tools| tools * (1.0 - closed));
                found.lost += mean(|closed, tools| closed * (1.0 - tools));
            }
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
        let verb = if self.model.contains(", ") { "answer" } else { "answers" };
        let means = self.combinations.map_or_else(String::new, |n| format!(" (means over {n} combinations)"));
        format!(
            "{model} {verb} {right} of {questions} without tools ({closed}); with tools, {tools} adds {added} and loses {lost}{means}"
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

pub fn has_counterpart(variant: &Variant, variants: &[Variant]) -> bool {
    variants.iter().any(|other| is_pair(variant, other) || is_pair(other, variant))
}

/// All pairs of these variants, each with the name by which it is called.
pub fn closed_books(variants: &[(&str, &Variant, &RightAnswers)]) -> Vec<ClosedBook> {
    let unnamed: Vec<_> = variants.iter().map(|(_, variant, answers)| (*variant, *answers)).collect();
    closed_books_within(&unnamed, |closed, tools| Some([closed, tools].map(|at| variants[at].0.to_owned())))
}

/// The pairs that `called` has names for, by their places; those of the same names are one.
pub fn closed_books_within(
    variants: &[(&Variant, &RightAnswers)],
    called: impl Fn(usize, usize) -> Option<[String; 2]>,
) -> Vec<ClosedBook> {
    let mut groups: Vec<([String; 2], BTreeSet<&str>, Vec<Answers<'_>>)> = Vec::new();
    for (closed, (of_closed, closed_right)) in variants.iter().enumerate() {
        for (tools, (of_tools, tools_right)) in variants.iter().enumerate() {
            let Some(names) = called(closed, tools).filter(|_| is_pair(of_closed, of_tools)) else { continue };
            let at = groups.iter().position(|(known, ..)| *known == names).unwrap_or(groups.len());
            if at == groups.len() {
                groups.push((names, BTreeSet::new(), Vec::new()));
            }
            groups[at].1.insert(&of_tools.model);
            groups[at].2.push((closed_right, tools_right));
        }
    }
    groups.into_iter().filter_map(|(names, models, pairs)| ClosedBook::of(names, &models, &pairs)).collect()
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
    use super::{RightAnswers, closed_book_sentences, closed_books, closed_books_within, has_counterpart};
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
    fn pairs_of_one_name_are_means_over_the_pairs_that_scored_a_question() {
        let (cot, react) = (variant("cot", "m"), variant("react", "m"));
        let (other_cot, other_react) = (variant("cot", "n"), variant("react", "n"));
        let closed = [answers(&[("a", "1"), ("b", "0"), ("c", "0")]), answers(&[("a", "1"), ("b", "1"), ("d", "1")])];
        let tools = [answers(&[("a", "1"), ("b", "1"), ("c", "1")]), answers(&[("a", "0"), ("b", "1")])];
        let variants = [(&cot, &closed[0]), (&react, &tools[0]), (&other_cot, &closed[1]), (&other_react, &tools[1])];
        let found = closed_books_within(&variants, |_, _| Some(["method=cot", "method=react"].map(str::to_owned)));
        // `a` is right in both and lost in one of two, `b` right in one of two and added by the other, `c` added by its only one.
        let sentence = "m, n answer 1.5 of 3 questions without tools (method=cot); with tools, method=react adds 1.5 and \
                        loses 0.5 (means over 2 combinations)";
        assert_eq!(closed_book_sentences(&found), [sentence]);
        let difference: f64 = found.iter().map(|one| one.added - one.lost).sum();
        // Means over pairs of 0, 1 and 1, and of −1 and 0.
        assert!((difference - (-0.5 + 0.5 + 1.0)).abs() < 1e-12, "{found:?}");
        assert!(closed_books_within(&variants, |_, _| None).is_empty());
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
