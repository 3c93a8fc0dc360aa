//! Pairing: from the rows of variants to one value per question and variant.

use super::comparison::{Ids, VariantSummary};
use super::{CompareError, Item, Variant};
use std::collections::{HashMap, HashSet};

pub(super) struct Pairing<'a> {
    variants: Vec<&'a Variant>,
    /// In the order of the first variant, then those that only later variants have.
    questions: Vec<Question<'a>>,
}

pub(super) struct Question<'a> {
    pub(super) id: &'a str,
    rows: Vec<Vec<&'a Item>>,
}

/// The values of one figure on the questions that all variants measured.
pub(super) struct Values<'a> {
    pub(super) questions: Vec<&'a Question<'a>>,
    /// Their values, by variant: the mean over repeats.
    pub(super) variants: Vec<Vec<f64>>,
    /// The cluster of each; absent if no two questions share one.
    pub(super) clusters: Option<Vec<usize>>,
    /// Whether values are 0 or 1 and no question was repeated; a count may be so by chance.
    pub(super) binary: bool,
    /// Shared questions that lack a value in a variant.
    pub(super) excluded: Ids,
}

/// The lowest and highest value of each question in a variant, if its rows without a measurement were all wrong or all
/// right.
pub(super) type Extremes = Vec<(f64, f64)>;

impl<'a> Pairing<'a> {
    /// Pairs variants by the ids of their questions.
    pub(super) fn of(variants: impl IntoIterator<Item = &'a Variant>) -> Result<Self, CompareError> {
        let variants: Vec<&Variant> = variants.into_iter().collect();
        let mut at: HashMap<&str, usize> = HashMap::new();
        let mut questions: Vec<Question<'a>> = Vec::new();
        for (c, variant) in variants.iter().enumerate() {
            let mut seen = HashSet::with_capacity(variant.items.len());
            for item in &variant.items {
                if !seen.insert((item.question.as_str(), item.repeat)) {
                    let (variant, question) = (variant.name.clone(), item.question.clone());
                    return Err(CompareError::Duplicate { variant, question, repeat: item.repeat });
                }
                let row = *at.entry(&item.question).or_insert_with(|| {
                    questions.push(Question { id: &item.question, rows: vec![Vec::new(); variants.len()] });
                    questions.len() - 1
                });
                questions[row].rows[c].push(item);
            }
        }
        Ok(Self { variants, questions })
    }

    /// Questions that any variant has.
    pub(super) fn all(&self) -> usize {
        self.questions.len()
    }

    /// Questions that all variants have.
    pub(super) fn shared(&self) -> impl Iterator<Item = &Question<'a>> {
        self.questions.iter().filter(|question| question.rows.iter().all(|rows| !rows.is_empty()))
    }

    pub(super) fn summaries(&self) -> Vec<VariantSummary> {
        let summary = |(at, variant): (usize, &&Variant)| {
            let mine = || self.questions.iter().filter(move |question| !question.rows[at].is_empty());
            let unmeasured = |question: &&Question<'_>| question.rows[at].iter().all(|item| !item.measured);
            VariantSummary {
                name: variant.name.clone(),
                questions: mine().count(),
                rows: variant.items.len(),
                repeats: mine().map(|question| question.rows[at].len()).max().unwrap_or(0),
                unmatched: ids(mine().filter(|question| question.rows.iter().any(Vec::is_empty))),
                not_measured: variant.items.iter().filter(|item| !item.measured).count(),
                unmeasured: ids(mine().filter(unmeasured)),
            }
        };
        self.variants.iter().enumerate().map(summary).collect()
    }

    /// The values of a figure; every variant must have it.
    pub(super) fn values(&self, figure: &str) -> Result<Values<'_>, CompareError> {
        let at = self.positions(figure)?;
        let mut questions = Vec::new();
        let mut variants = vec![Vec::new(); self.variants.len()];
        let mut excluded = Vec::new();
        for question in self.shared() {
            let values: Option<Vec<f64>> = question
                .rows
                .iter()
                .zip(&at)
                .map(|(rows, at)| mean(rows.iter().filter_map(|item| item.value(*at))))
                .collect();
            match values {
                None => excluded.push(question),
                Some(values) => {
                    questions.push(question);
                    variants.iter_mut().zip(values).for_each(|(variant, value)| variant.push(value));
                }
            }
        }
        let once = questions.iter().all(|question| question.rows.iter().all(|rows| rows.len() == 1));
        #[expect(clippy::float_cmp, reason = "right is exactly 1")]
        let binary = once && variants.iter().flatten().all(|value| *value == 0.0 || *value == 1.0);
        let clusters = clusters(&questions);
        Ok(Values { questions, variants, clusters, binary, excluded: ids(excluded.into_iter()) })
    }

    /// By variant, the extremes of a figure of shares over the questions that all variants tried; absent if every row of these
    /// was measured.
    pub(super) fn extremes(&self, figure: &str) -> Result<Option<Vec<Extremes>>, CompareError> {
        let at = self.positions(figure)?;
        let mut variants = vec![Vec::new(); self.variants.len()];
        let mut open = false;
        for question in self.shared() {
            let known = |(rows, at): (&Vec<&Item>, &usize)| {
                let worth = |missing: f64| {
                    let value = |item: &&Item| item.value(*at).or_else(|| (!item.measured).then_some(missing));
                    mean(rows.iter().filter_map(value))
                };
                Some((worth(0.0)?, worth(1.0)?))
            };
            let Some(ends) = question.rows.iter().zip(&at).map(known).collect::<Option<Vec<_>>>() else { continue };
            open |= ends.iter().any(|(low, high)| low < high);
            variants.iter_mut().zip(ends).for_each(|(variant, ends)| variant.push(ends));
        }
        Ok(open.then_some(variants))
    }

    /// Value of a field for a question: that of the first row that has one.
    pub(super) fn group(&self, question: &Question<'a>, field: &str) -> Option<&'a str> {
        let rows = self.variants.iter().zip(&question.rows);
        let of_variant = |(variant, rows): (&&Variant, &Vec<&'a Item>)| {
            let at = variant.grouping(field)?;
            rows.iter().find_map(|item| item.groups.get(at)?.as_deref())
        };
        rows.into_iter().find_map(of_variant)
    }

    /// Position of a figure in each variant.
    fn positions(&self, figure: &str) -> Result<Vec<usize>, CompareError> {
        let position = |variant: &&Variant| {
            variant.figure(figure).ok_or_else(|| CompareError::UnknownFigure {
                variant: variant.name.clone(),
                figure: figure.to_owned(),
                known: variant.figures.join(", "),
            })
        };
        self.variants.iter().map(position).collect()
    }
}

/// Numbers the clusters. A question without one is a cluster of its own.
fn clusters(questions: &[&Question<'_>]) -> Option<Vec<usize>> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut next = 0;
    let mut found = Vec::with_capacity(questions.len());
    for question in questions {
        let cluster = question.rows.iter().flatten().find_map(|item| item.cluster.as_deref());
        let number = cluster.map_or(next, |cluster| *numbers.entry(cluster).or_insert(next));
        next += usize::from(number == next);
        found.push(number);
    }
    (next < found.len()).then_some(found)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
    (n > 0.0).then(|| sum / n)
}

fn ids<'a, 'b: 'a>(questions: impl Iterator<Item = &'a Question<'b>>) -> Ids {
    let mut ids = Ids::default();
    for question in questions {
        ids.count += 1;
        if ids.listed.len() < Ids::LISTED {
            ids.listed.push(question.id.to_owned());
        }
    }
    ids
}
