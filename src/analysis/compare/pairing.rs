//! Variants and their rows, and the pairing of these rows: one value per question and variant.

use super::comparison::{Bounds, Ids, VariantSummary};
use super::settings::FIGURES_AND_FIELDS;
use super::{NamedFigure, Settings, Unit};
use crate::base::stats::Interval;
use crate::runner::RunError;
use crate::scoring::{Pass, float};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// One variant of a run, or one table of figures: nothing here knows where the figures come from.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Variant {
    /// Its name in pairs and verdicts; unique among the variants of a comparison.
    pub name: String,
    /// Names of its figures, such as `em`; the order of [`Item::values`].
    pub figures: Vec<String>,
    /// Names of the fields by which it can be broken down, such as `type`; the order of [`Item::groups`].
    pub groupings: Vec<String>,
    /// Its rows, in any order. Questions are listed in the order of their first rows.
    pub items: Vec<Item>,
    /// The command that runs again what was not measured, where there is one.
    pub resume: Option<String>,
}

/// The figures of one question, once.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Item {
    /// Id of the question; variants are paired by it.
    pub id: String,
    /// Which repeat of the question, from 0. Repeats are averaged before anything is compared.
    pub repeat: u32,
    /// Which of the variants that were merged into this one it is from, from 0. A row is compared with rows of its own block.
    pub block: u32,
    /// Questions of one cluster are not independent of each other (twins, one source page).
    pub cluster: Option<String>,
    /// `false` if the model or Wikipedia failed, or the budget was spent: such a row counts in the bounds only.
    pub measured: bool,
    /// Value of each figure in the order of [`Variant::figures`]; absent if there is none, such as a cost without
    /// a price or a score whose gold is hidden. Values that are not finite count as absent.
    pub values: Vec<Option<f64>>,
    /// Positions of figures that were not measured though the row was: a judge's tie, an empty field of a table.
    pub missing: Vec<usize>,
    /// Value of each field in the order of [`Variant::groupings`]; absent if the question has none.
    pub groups: Vec<Option<String>>,
}

impl Variant {
    pub(crate) fn new(name: impl Into<String>, figures: Vec<String>, groupings: Vec<String>) -> Self {
        Self { name: name.into(), figures, groupings, ..Self::default() }
    }

    pub(crate) fn figure(&self, name: &str) -> Option<usize> {
        self.figures.iter().position(|figure| figure == name)
    }

    pub(crate) fn grouping(&self, name: &str) -> Option<usize> {
        self.groupings.iter().position(|grouping| grouping == name)
    }
}

impl Item {
    /// The value of a figure at that position; absent if the row was not measured or the value is not finite.
    pub(crate) fn value(&self, figure: usize) -> Option<f64> {
        self.values.get(figure).copied().flatten().filter(|value| self.measured && value.is_finite())
    }
}

pub(super) struct Pairing<'a> {
    pub(super) variants: Vec<&'a Variant>,
    /// In the order of the first variant, then those that only later variants have.
    questions: Vec<Question<'a>>,
    /// How many clusters are named.
    clusters: usize,
    /// Blocks of a question: 1 unless variants were merged.
    blocks: usize,
}

pub(super) struct Question<'a> {
    pub(super) id: &'a str,
    /// By variant.
    rows: Vec<Rows<'a>>,
}

/// The rows of a question in one variant, one for each repeat.
#[derive(Clone, Default)]
struct Rows<'a> {
    items: Vec<&'a Item>,
    /// Number of the cluster that the first of them names.
    cluster: Option<u32>,
}

/// One figure of every question under every variant.
pub(super) struct FigureValues<'p, 'a> {
    pub(super) pairing: &'p Pairing<'a>,
    pub(super) figure: &'p NamedFigure,
    /// How the repeats of a question make a value, if not by their mean.
    pass: Option<Pass>,
    /// By variant, then by question and block.
    cells: Vec<Vec<Cell>>,
}

/// The rows of one question in one block of a variant, as far as they say anything about a figure.
#[derive(Clone, Copy, Default)]
struct Cell {
    sum: f64,
    /// Rows with a value above 0.
    right: u32,
    measured: u32,
    /// Rows that were not measured in this figure.
    missing: u32,
}

/// The values on questions that several variants measured.
pub(super) struct Values {
    /// Positions of the questions.
    pub(super) questions: Vec<usize>,
    /// Their values, by variant: the mean over repeats.
    pub(super) variants: Vec<Vec<f64>>,
    /// The cluster of each; absent if no two questions share one.
    pub(super) clusters: Option<Vec<usize>>,
    /// By variant, whether values are shares of 0 or 1 and no question was repeated; a count may be so by chance.
    pub(super) binary: Vec<bool>,
}

impl Values {
    pub(super) fn all_binary(&self) -> bool {
        self.binary.iter().all(|binary| *binary)
    }

    /// What the second of two variants has more than the first.
    pub(super) fn differences(&self) -> Vec<f64> {
        self.variants[0].iter().zip(&self.variants[1]).map(|(a, b)| b - a).collect()
    }

    /// The values on the questions at these places alone.
    pub(super) fn part(&self, rows: &[usize]) -> Self {
        let of = |all: &Vec<usize>| rows.iter().map(|row| all[*row]).collect();
        Self {
            questions: of(&self.questions),
            variants: self.variants.iter().map(|values| rows.iter().map(|row| values[*row]).collect()).collect(),
            clusters: self.clusters.as_ref().map(of),
            binary: self.binary.clone(),
        }
    }

    /// What all figures of these values depend on, bit by bit.
    pub(super) fn key(&self) -> Vec<u64> {
        let values = self.variants.iter().flatten().map(|value| value.to_bits());
        let clusters = self.clusters.iter().flatten().map(|cluster| *cluster as u64);
        let binary = self.binary.iter().map(|binary| u64::from(*binary));
        let questions = self.questions.iter().map(|question| *question as u64);
        let counted = std::iter::once(u64::from(self.clusters.is_some())).chain(binary).chain(questions);
        counted.chain(values).chain(clusters).collect()
    }
}

impl<'a> Pairing<'a> {
    pub(super) fn of(variants: impl IntoIterator<Item = &'a Variant>) -> Result<Self, RunError> {
        let variants: Vec<&Variant> = variants.into_iter().collect();
        let mut at: HashMap<&str, usize> = HashMap::new();
        let mut questions: Vec<Question<'a>> = Vec::new();
        let mut clusters: HashMap<&str, u32> = HashMap::new();
        for (c, variant) in variants.iter().enumerate() {
            let mut seen = HashSet::with_capacity(variant.items.len());
            for item in &variant.items {
                if !seen.insert((item.id.as_str(), item.block, item.repeat)) {
                    let message =
                        format!("`{}` has question `{}`, repeat {}, twice", variant.name, item.id, item.repeat);
                    let hint = "add a column `repeat` to distinguish the repeats of a question";
                    return Err(RunError::input(message, hint));
                }
                let row = *at.entry(&item.id).or_insert_with(|| {
                    questions.push(Question { id: &item.id, rows: vec![Rows::default(); variants.len()] });
                    questions.len() - 1
                });
                let rows = &mut questions[row].rows[c];
                rows.items.push(item);
                if let (None, Some(name)) = (rows.cluster, &item.cluster) {
                    let next = u32::try_from(clusters.len()).unwrap_or(u32::MAX);
                    rows.cluster = Some(*clusters.entry(name).or_insert(next));
                }
            }
        }
        let last = variants.iter().flat_map(|variant| &variant.items).map(|item| item.block as usize).max();
        Ok(Self { variants, questions, clusters: clusters.len(), blocks: last.unwrap_or_default() + 1 })
    }

    pub(super) fn all(&self) -> usize {
        self.questions.len()
    }

    pub(super) fn shared(&self) -> usize {
        self.questions.iter().filter(|question| question.is_shared()).count()
    }

    /// The pairs to compare, by the places of their variants.
    pub(super) fn pairs(&self, settings: &Settings) -> Vec<(usize, usize)> {
        settings.pairs.positions(&self.names())
    }

    pub(super) fn names(&self) -> Vec<&'a str> {
        self.variants.iter().map(|variant| variant.name.as_str()).collect()
    }

    /// Whether two variants have a question in common, measured or not.
    pub(super) fn has_shared(&self, a: usize, b: usize) -> bool {
        self.questions.iter().any(|question| [a, b].iter().all(|at| !question.rows[*at].items.is_empty()))
    }

    pub(super) fn id(&self, question: usize) -> &'a str {
        self.questions[question].id
    }

    pub(super) fn summaries(&self) -> Vec<VariantSummary> {
        let summary = |(at, variant): (usize, &&Variant)| {
            let mine = || self.questions.iter().filter(move |question| !question.rows[at].items.is_empty());
            let unmeasured = |question: &&Question<'_>| question.rows[at].items.iter().all(|item| !item.measured);
            VariantSummary {
                name: variant.name.clone(),
                questions: mine().count(),
                rows: variant.items.len(),
                repeats: mine().map(|question| question.rows[at].repeats()).max().unwrap_or(0),
                unmatched: ids(mine().filter(|question| !question.is_shared())),
                not_measured: variant.items.iter().filter(|item| !item.measured).count(),
                unmeasured: ids(mine().filter(unmeasured)),
            }
        };
        self.variants.iter().enumerate().map(summary).collect()
    }

    /// The values of a figure; every variant must have it.
    pub(super) fn values<'p>(&'p self, figure: &'p NamedFigure) -> Result<FigureValues<'p, 'a>, RunError> {
        let blocks = self.blocks;
        let cells = |(variant, at): (usize, usize)| {
            let mut cells = vec![Cell::default(); self.questions.len() * blocks];
            for (question, cells) in self.questions.iter().zip(cells.chunks_mut(blocks)) {
                question.rows[variant].items.iter().for_each(|item| cells[item.block as usize].add(item, at));
            }
            cells
        };
        let positions = self.positions(figure.column())?;
        if let Some(pass) = figure.pass() {
            self.refuse_means(figure, pass, &positions)?;
        }
        let cells = positions.into_iter().enumerate().map(cells).collect();
        Ok(FigureValues { pairing: self, figure, pass: figure.pass(), cells })
    }

    /// Repeats are right or wrong: what a mean of some says of sets of them is not known.
    fn refuse_means(&self, figure: &NamedFigure, pass: Pass, positions: &[usize]) -> Result<(), RunError> {
        for (variant, at) in self.variants.iter().zip(positions) {
            let is_mean = |item: &&Item| item.value(*at).is_some_and(|value| value > 0.0 && value < 1.0);
            if let Some(item) = variant.items.iter().find(is_mean) {
                let (name, column, id) = (&variant.name, figure.column(), &item.id);
                let message = format!("`{name}` has a mean as the {column} of question `{id}`: {pass} needs 0 or 1");
                return Err(RunError::input(message, "give each repeat a row of its own, with its number in `repeat`"));
            }
        }
        Ok(())
    }

    /// Value of a field for a question: that of the first row that has one.
    pub(super) fn group(&self, question: usize, field: &str) -> Option<&'a str> {
        let rows = self.variants.iter().zip(&self.questions[question].rows);
        let of_variant = |(variant, rows): (&&Variant, &Rows<'a>)| {
            let at = variant.grouping(field)?;
            rows.items.iter().find_map(|item| item.groups.get(at)?.as_deref())
        };
        rows.into_iter().find_map(of_variant)
    }

    fn positions(&self, figure: &str) -> Result<Vec<usize>, RunError> {
        let position = |variant: &&Variant| {
            variant.figure(figure).ok_or_else(|| {
                let known = variant.figures.join(", ");
                let message = format!("`{}` has no figure `{figure}`; it has {known}", variant.name);
                RunError::usage(message, FIGURES_AND_FIELDS)
            })
        };
        self.variants.iter().map(position).collect()
    }

    /// Numbers the clusters that these variants name for these questions. A question without one is a cluster of its own.
    fn clusters(&self, questions: &[usize], variants: &[usize]) -> Option<Vec<usize>> {
        if self.clusters == 0 {
            return None;
        }
        let mut numbers: Vec<Option<usize>> = vec![None; self.clusters];
        let mut next = 0;
        let mut found = Vec::with_capacity(questions.len());
        for &question in questions {
            let rows = &self.questions[question].rows;
            let cluster = variants.iter().find_map(|variant| rows[*variant].cluster);
            let number = cluster.map_or(next, |cluster| *numbers[cluster as usize].get_or_insert(next));
            next += usize::from(number == next);
            found.push(number);
        }
        (next < found.len()).then_some(found)
    }
}

impl Rows<'_> {
    fn repeats(&self) -> usize {
        self.items.iter().map(|item| item.repeat).collect::<HashSet<_>>().len()
    }
}

impl Question<'_> {
    fn is_shared(&self) -> bool {
        self.rows.iter().all(|rows| !rows.items.is_empty())
    }
}

impl FigureValues<'_, '_> {
    pub(super) fn common(&self) -> Values {
        self.of(&(0..self.cells.len()).collect::<Vec<_>>(), |_, cell| cell.value(self.pass))
    }

    /// The values on the questions that these two measured, `a` first.
    pub(super) fn pair(&self, (a, b): (usize, usize)) -> Values {
        self.of(&[a, b], |_, cell| cell.value(self.pass))
    }

    /// The values on the questions that these two tried, with all that was not measured against the one that leads.
    pub(super) fn against(&self, (a, b): (usize, usize), b_leads: bool) -> Values {
        let end =
            |at: usize, cell: Cell| Some(cell.ends(self.pass, self.figure.range?)?[usize::from((at == 0) == b_leads)]);
        self.of(&[a, b], end)
    }

    /// The values on the questions for which these variants have one in a common block, by the place among them and the cell. A
    /// value is the mean over the blocks that all of these have, so that every other setting weighs the same in each.
    fn of(&self, variants: &[usize], value: impl Fn(usize, Cell) -> Option<f64>) -> Values {
        let (mut questions, mut values) = (Vec::new(), vec![Vec::new(); variants.len()]);
        let (mut row, mut sums) = (Vec::new(), vec![0.0; variants.len()]);
        for question in 0..self.pairing.questions.len() {
            let mut blocks = 0.0;
            sums.fill(0.0);
            for block in self.blocks_of(question) {
                row.clear();
                row.extend(variants.iter().enumerate().map_while(|(at, of)| value(at, self.cells[*of][block])));
                if row.len() == variants.len() {
                    sums.iter_mut().zip(&row).for_each(|(sum, value)| *sum += value);
                    blocks += 1.0;
                }
            }
            if blocks > 0.0 {
                questions.push(question);
                values.iter_mut().zip(&sums).for_each(|(values, sum)| values.push(sum / blocks));
            }
        }
        #[expect(clippy::float_cmp, reason = "right is exactly 1")]
        let right_or_wrong = |value: &f64| *value == 0.0 || *value == 1.0;
        let is_binary = |(variant, values): (&usize, &Vec<f64>)| {
            let once = |question: &usize| self.pairing.questions[*question].rows[*variant].items.len() == 1;
            // Only shares are right or wrong.
            self.figure.unit == Unit::Share && values.iter().all(right_or_wrong) && questions.iter().all(once)
        };
        let binary: Vec<bool> = variants.iter().zip(&values).map(is_binary).collect();
        // The same clusters whichever of two is the baseline.
        let mut in_order = variants.to_vec();
        in_order.sort_unstable();
        let clusters = self.pairing.clusters(&questions, &in_order);
        Values { questions, variants: values, clusters, binary }
    }

    fn blocks_of(&self, question: usize) -> Range<usize> {
        question * self.pairing.blocks..(question + 1) * self.pairing.blocks
    }

    /// Questions that all variants have, and that one has no value for.
    pub(super) fn excluded(&self) -> Ids {
        let in_all = |block: usize| self.cells.iter().all(|cells| cells[block].value(self.pass).is_some());
        let lacks = |question: usize| !self.blocks_of(question).any(in_all);
        let shared = self.pairing.questions.iter().enumerate().filter(|(_, question)| question.is_shared());
        ids(shared.filter(|(at, _)| lacks(*at)).map(|(_, question)| question))
    }

    pub(super) fn not_measured(&self, variant: usize) -> usize {
        self.cells[variant].iter().map(|cell| cell.missing as usize).sum()
    }

    /// Questions that both tried, and of which either has no measurement.
    pub(super) fn unmeasured_of_pair(&self, (a, b): (usize, usize)) -> usize {
        let has = |block: usize, rows: fn(&Cell) -> u32| [a, b].iter().all(|at| rows(&self.cells[*at][block]) > 0);
        let is_unmeasured = |question: &usize| {
            let mut blocks = self.blocks_of(*question);
            let tried = blocks.clone().any(|block| has(block, |cell| cell.measured + cell.missing));
            tried && !blocks.any(|block| has(block, |cell| cell.measured))
        };
        (0..self.pairing.questions.len()).filter(is_unmeasured).count()
    }

    /// The least and the greatest mean of each variant over the questions that all of them tried.
    pub(super) fn bounds(&self) -> Vec<Option<Bounds>> {
        let all: Vec<usize> = (0..self.cells.len()).collect();
        all.iter()
            .map(|variant| self.bounded(&all, |range, block| self.cells[*variant][block].ends(self.pass, range)))
            .collect()
    }

    /// The least and the greatest difference over the questions that both tried, with missing rows all right or all wrong.
    pub(super) fn bounds_of_pair(&self, (a, b): (usize, usize)) -> Option<Bounds> {
        self.bounded(&[a, b], |range, block| {
            let ends = |at: usize| self.cells[at][block].ends(self.pass, range);
            let ([a_low, a_high], [b_low, b_high]) = (ends(a)?, ends(b)?);
            Some([b_low - a_high, b_high - a_low])
        })
    }

    /// The mean of the lowest and that of the highest values over the questions that these variants tried in a common block.
    fn bounded(&self, variants: &[usize], ends: impl Fn(Interval, usize) -> Option<[f64; 2]>) -> Option<Bounds> {
        let range = self.figure.range?;
        let (mut sums, mut n, mut unmeasured) = ([0.0, 0.0], 0, 0);
        for question in 0..self.pairing.questions.len() {
            let are_tried = |block: &usize| {
                variants.iter().all(|variant| self.cells[*variant][*block].ends(self.pass, range).is_some())
            };
            let blocks: Vec<[f64; 2]> =
                self.blocks_of(question).filter(are_tried).filter_map(|block| ends(range, block)).collect();
            if blocks.is_empty() {
                continue;
            }
            let [low, high] = [0, 1].map(|end| blocks.iter().map(|ends| ends[end]).sum::<f64>() / float(blocks.len()));
            sums = [sums[0] + low, sums[1] + high];
            n += 1;
            unmeasured += usize::from(low < high);
        }
        let [low, high] = sums.map(|sum| sum / float(n));
        (unmeasured > 0).then_some(Bounds { low, high, n, unmeasured })
    }
}

impl Cell {
    fn add(&mut self, item: &Item, figure: usize) {
        match item.value(figure) {
            Some(value) => {
                (self.sum, self.measured) = (self.sum + value, self.measured + 1);
                self.right += u32::from(value > 0.0);
            }
            // A measured row without a value may have none for this question.
            None => self.missing += u32::from(!item.measured || item.missing.contains(&figure)),
        }
    }

    /// The value of the question: the mean of its rows, or what these rows say of a set of repeats.
    fn value(self, pass: Option<Pass>) -> Option<f64> {
        match pass {
            None => (self.measured > 0).then(|| self.sum / f64::from(self.measured)),
            Some(pass) => pass.of(self.right.into(), self.measured.into()),
        }
    }

    /// Its value if all rows that were not measured had the lowest value, or the highest. Absent where it would have none even
    /// had they been measured.
    fn ends(self, pass: Option<Pass>, range: Interval) -> Option<[f64; 2]> {
        let rows = self.measured + self.missing;
        if let Some(pass) = pass {
            let end = |right: u32| pass.of(right.into(), rows.into());
            return Some([end(self.right)?, end(self.right + self.missing)?]);
        }
        let missing = f64::from(self.missing);
        (rows > 0).then(|| [range.low, range.high].map(|end| (self.sum + missing * end) / f64::from(rows)))
    }
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
