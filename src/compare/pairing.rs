//! Pairing: from columns of rows to one value a question and column.

use super::comparison::{ColumnSummary, Ids};
use super::{Column, CompareError, Item};
use std::collections::{HashMap, HashSet};

/// The questions of all columns.
pub(super) struct Pairing<'a> {
    columns: &'a [Column],
    /// In the order of the first column; what only later ones have comes after.
    questions: Vec<Question<'a>>,
}

/// One question: its rows in each column.
pub(super) struct Question<'a> {
    pub(super) id: &'a str,
    rows: Vec<Vec<&'a Item>>,
}

/// The values of one figure on the questions that all columns measured.
pub(super) struct Values<'a> {
    /// The questions.
    pub(super) questions: Vec<&'a Question<'a>>,
    /// Their values, by column: the mean over repeats.
    pub(super) columns: Vec<Vec<f64>>,
    /// The cluster of each; absent where no two questions share one.
    pub(super) clusters: Option<Vec<usize>>,
    /// Whether values are 0 or 1 and no question was repeated.
    pub(super) binary: bool,
    /// Shared questions that lack a value in a column.
    pub(super) excluded: Ids,
}

/// What the rows of a question are worth, were those without a measurement all wrong or all right.
pub(super) struct Extremes {
    /// By column: lowest and highest value of each question.
    pub(super) columns: Vec<Vec<(f64, f64)>>,
}

impl<'a> Pairing<'a> {
    /// Pairs columns by the ids of their questions.
    pub(super) fn of(columns: &'a [Column]) -> Result<Self, CompareError> {
        let mut at: HashMap<&str, usize> = HashMap::new();
        let mut questions: Vec<Question<'a>> = Vec::new();
        for (c, column) in columns.iter().enumerate() {
            let mut seen = HashSet::with_capacity(column.items.len());
            for item in &column.items {
                if !seen.insert((item.question.as_str(), item.repeat)) {
                    let (column, question) = (column.name.clone(), item.question.clone());
                    return Err(CompareError::Duplicate { column, question, repeat: item.repeat });
                }
                let row = *at.entry(&item.question).or_insert_with(|| {
                    questions.push(Question { id: &item.question, rows: vec![Vec::new(); columns.len()] });
                    questions.len() - 1
                });
                questions[row].rows[c].push(item);
            }
        }
        Ok(Self { columns, questions })
    }

    /// Questions that any column has.
    pub(super) fn all(&self) -> usize {
        self.questions.len()
    }

    /// Questions that all columns have.
    pub(super) fn shared(&self) -> impl Iterator<Item = &Question<'a>> {
        self.questions.iter().filter(|question| question.rows.iter().all(|rows| !rows.is_empty()))
    }

    /// What each column holds.
    pub(super) fn summaries(&self) -> Vec<ColumnSummary> {
        let summary = |(at, column): (usize, &Column)| {
            let mine = || self.questions.iter().filter(move |question| !question.rows[at].is_empty());
            let unmeasured = |question: &&Question<'_>| question.rows[at].iter().all(|item| !item.measured);
            ColumnSummary {
                name: column.name.clone(),
                questions: mine().count(),
                rows: column.items.len(),
                repeats: mine().map(|question| question.rows[at].len()).max().unwrap_or(0),
                unmatched: ids(mine().filter(|question| question.rows.iter().any(Vec::is_empty))),
                not_measured: column.items.iter().filter(|item| !item.measured).count(),
                unmeasured: ids(mine().filter(unmeasured)),
            }
        };
        self.columns.iter().enumerate().map(summary).collect()
    }

    /// The values of a figure; every column must have it.
    pub(super) fn values(&self, figure: &str) -> Result<Values<'_>, CompareError> {
        let at = self.positions(figure)?;
        let mut questions = Vec::new();
        let mut columns = vec![Vec::new(); self.columns.len()];
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
                    columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
                }
            }
        }
        let once = questions.iter().all(|question| question.rows.iter().all(|rows| rows.len() == 1));
        #[expect(clippy::float_cmp, reason = "right is exactly 1")]
        let binary = once && columns.iter().flatten().all(|value| *value == 0.0 || *value == 1.0);
        let clusters = clusters(&questions);
        Ok(Values { questions, columns, clusters, binary, excluded: ids(excluded.into_iter()) })
    }

    /// The extremes of a figure of shares over the questions that all columns tried; absent where every row of these
    /// was measured.
    pub(super) fn extremes(&self, figure: &str) -> Result<Option<Extremes>, CompareError> {
        let at = self.positions(figure)?;
        let mut columns = vec![Vec::new(); self.columns.len()];
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
            columns.iter_mut().zip(ends).for_each(|(column, ends)| column.push(ends));
        }
        Ok(open.then_some(Extremes { columns }))
    }

    /// Value of a field for a question: that of the first row that has one.
    pub(super) fn group(&self, question: &Question<'a>, field: &str) -> Option<&'a str> {
        let rows = self.columns.iter().zip(&question.rows);
        let of_column = |(column, rows): (&Column, &Vec<&'a Item>)| {
            let at = column.grouping(field)?;
            rows.iter().find_map(|item| item.groups.get(at)?.as_deref())
        };
        rows.into_iter().find_map(of_column)
    }

    /// Position of a figure in each column.
    fn positions(&self, figure: &str) -> Result<Vec<usize>, CompareError> {
        let position = |column: &Column| {
            column.figure(figure).ok_or_else(|| CompareError::UnknownFigure {
                column: column.name.clone(),
                figure: figure.to_owned(),
                known: column.figures.join(", "),
            })
        };
        self.columns.iter().map(position).collect()
    }
}

/// Numbers the clusters. A question without one stands for itself.
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
