//! Repair rates: what an edit makes right of each failure class, against its placebos, or against the unedited control.

use crate::analysis::compare::{MethodInterval, NamedFigure, Pair, Settings, Variant, means_and_pairs};
use crate::analysis::results::{self, Field, GradedRun, RunRef, Wanted};
use crate::base::stats::{arms_permutation, holm};
use crate::base::{Branch, BranchEdit, Manifest, Trajectory};
use crate::runner::branch::{CONTROL, EDITED, PLACEBO};
use crate::runner::store::RunFolder;
use crate::runner::{ReadScope, RunError, TrustedInputs};
use crate::scoring::{Divergence, ScoredEpisode, figure, float};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

pub(crate) const ALL: &str = "all";

/// The failure class of each question's recorded episode, `right` and `not scored` among them.
pub(crate) type Classes = BTreeMap<String, &'static str>;

pub(crate) struct Arms {
    pub(crate) control: Variant,
    pub(crate) edited: Variant,
    /// Absent where none was run.
    pub(crate) placebo: Option<Variant>,
    /// How often each branch was run: so many repeats of a question are one placebo.
    pub(crate) repeats: u32,
}

impl Arms {
    /// As `compare` reads it.
    fn read(out: &Path, repeats: u32, with_placebos: bool) -> Result<Self, RunError> {
        let run = RunRef { path: out.to_owned(), variant: None };
        let wanted = Wanted { figures: &[&figure::EM], cluster: Some(&Field::Cluster), ..Wanted::default() };
        let (sources, _) = results::load(&[run], &wanted)?;
        let em = [figure::EM.name.to_owned()];
        let found = |name: &str| {
            let source = sources.iter().find(|source| source.run.variant.as_deref() == Some(name))?;
            Some(source.column(name, &em, &[]))
        };
        let placebo = found(PLACEBO).filter(|_| with_placebos);
        let arm = |name: &str| found(name).unwrap_or_else(|| Variant::new(name, em.to_vec(), Vec::new()));
        Ok(Self { control: arm(CONTROL), edited: arm(EDITED), placebo, repeats })
    }

    /// The same of some of the questions.
    pub(crate) fn of(&self, is_of: impl Fn(&str) -> bool) -> Self {
        let of = |arm: &Variant| {
            let items = arm.items.iter().filter(|item| is_of(&item.id)).cloned().collect();
            Variant { items, ..Variant::new(arm.name.clone(), arm.figures.clone(), Vec::new()) }
        };
        let placebo = self.placebo.as_ref().map(&of);
        Self { control: of(&self.control), edited: of(&self.edited), placebo, repeats: self.repeats }
    }

    /// The edited branch of each question, and behind it each of its placebos, by the means of their repeats.
    fn by_question(&self) -> Vec<Vec<f64>> {
        let mut found: BTreeMap<&str, BTreeMap<u32, Vec<f64>>> = BTreeMap::new();
        let placebos = self.placebo.iter().flat_map(|arm| &arm.items);
        let placebos = placebos.map(|item| (1 + item.repeat / self.repeats.max(1), item));
        for (number, item) in self.edited.items.iter().map(|item| (0, item)).chain(placebos) {
            let Some(value) = item.value(0) else { continue };
            found.entry(&item.id).or_default().entry(number).or_default().push(value);
        }
        let mean = |values: Vec<f64>| crate::base::stats::Mean::of(&values).map(|mean| mean.mean);
        let questions = found.into_values().filter(|numbers| numbers.contains_key(&0));
        questions.map(|numbers| numbers.into_values().filter_map(mean).collect()).collect()
    }
}

/// How `compare` compares two arms.
fn pair(one: &Variant, other: &Variant) -> Option<Pair> {
    let settings = Settings { figures: vec![NamedFigure::new("em")], ..Settings::default() };
    let compared = means_and_pairs(&[one.clone(), other.clone()], &settings).ok()?;
    compared.figures.into_iter().next()?.pairs.into_iter().next().filter(|pair| pair.n > 0)
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RepairRow {
    pub(crate) class: String,
    pub(crate) n: usize,
    /// Means over questions of the mean EM of their repeats.
    pub(crate) control: Option<f64>,
    pub(crate) placebo: Option<f64>,
    pub(crate) edited: Option<f64>,
    /// What the edited branch has more than the mean of its placebos; where none was run, more than the control.
    pub(crate) difference: Option<f64>,
    /// That of `compare` for these two.
    pub(crate) interval: Option<MethodInterval>,
    /// By permuting placebos, else that of `compare`; absent where too few placebos left the recorded path.
    pub(crate) p: Option<f64>,
    /// The same after Holm's correction over the classes; of all questions as it is.
    pub(crate) p_holm: Option<f64>,
    placebos_left: Option<f64>,
    #[serde(flatten)]
    against_control: Option<AgainstControl>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct AgainstControl {
    #[serde(rename = "control_difference")]
    difference: Option<f64>,
    #[serde(rename = "control_interval")]
    interval: Option<MethodInterval>,
    #[serde(rename = "control_p")]
    p: Option<f64>,
}

impl RepairRow {
    fn of(class: &str, arms: &Arms, placebos: Placebos) -> Option<Self> {
        let control = pair(&arms.control, &arms.edited);
        let control_mean = control.as_ref().and_then(|pair| pair.a_mean);
        let control_p = control.as_ref().and_then(|pair| pair.p).map(|p| p.value);
        let (pair, p, against_control) = if let Some(placebo) = &arms.placebo {
            let settings = Settings::default();
            let test = || arms_permutation(&arms.by_question(), settings.resamples, settings.seed);
            let p = placebos.are_strong().then(test).flatten().map(|test| test.p);
            let against_control =
                control.map(|Pair { difference, interval, .. }| AgainstControl { difference, interval, p: control_p });
            (pair(placebo, &arms.edited)?, p, against_control)
        } else {
            (control?, control_p, None)
        };
        Some(Self {
            class: class.to_owned(),
            n: pair.n,
            control: control_mean,
            placebo: pair.a_mean.filter(|_| arms.placebo.is_some()),
            edited: pair.b_mean,
            difference: pair.difference,
            interval: pair.interval,
            p,
            p_holm: p,
            placebos_left: placebos.share().filter(|_| arms.placebo.is_some()),
            against_control,
        })
    }
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Repair {
    #[serde(rename = "repair")]
    pub(crate) rows: Vec<RepairRow>,
    pub(crate) controls: Controls,
    /// Absent where none was run.
    pub(crate) placebos: Option<Placebos>,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Controls {
    pub(crate) measured: usize,
    pub(crate) equal_the_record: usize,
    /// Whether they only replay the record, as at least half of them equal it.
    pub(crate) replay: bool,
}

/// Episodes with an edit that says nothing.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Placebos {
    pub(crate) measured: usize,
    /// Those whose steps or answer differ from the record behind their edit.
    pub(crate) left_the_record: usize,
    pub(crate) questions: usize,
    /// Those of which one left.
    pub(crate) questions_left: usize,
}

impl Placebos {
    pub(crate) fn share(self) -> Option<f64> {
        let share = float(self.left_the_record) / float(self.measured);
        (self.measured > 0).then_some(share)
    }

    /// Whether a placebo left the record in at least half of the questions. It is counted by questions, as a model of few words
    /// (yes or no) comes to the recorded answer by chance, whatever a placebo says.
    fn are_strong(self) -> bool {
        self.questions > 0 && 2 * self.questions_left >= self.questions
    }
}

impl Repair {
    /// The repair of each failure class and of all. So many repeats of a question are one placebo.
    pub(crate) fn of(
        branched: &GradedRun,
        source: &GradedRun,
        classes: &Classes,
        (repeats, with_placebos): (u32, bool),
    ) -> Result<Self, RunError> {
        let (arms, paths) = (Arms::read(&branched.path, repeats, with_placebos)?, Paths::of(branched, source)?);
        let of_class = |class: Option<&str>| {
            let is_of = |id: &str| class.is_none_or(|class| classes.get(id).copied().unwrap_or("not scored") == class);
            (arms.of(is_of), paths.placebos(is_of))
        };
        let mut repair = Self { rows: Vec::new(), controls: paths.controls(), placebos: None };
        for class in classes.values().collect::<BTreeSet<_>>() {
            let (arms, left) = of_class(Some(class));
            repair.add(class, &arms, left);
        }
        let (all, left) = of_class(None);
        repair.add_all(&all, left);
        Ok(repair)
    }

    fn add(&mut self, class: &str, arms: &Arms, placebos: Placebos) {
        self.rows.extend(RepairRow::of(class, arms, placebos));
    }

    /// Adds the last row, and corrects the p of those before it.
    fn add_all(&mut self, arms: &Arms, placebos: Placebos) {
        let mut tested: Vec<&mut RepairRow> = self.rows.iter_mut().filter(|row| row.p.is_some()).collect();
        let corrected = holm(&tested.iter().filter_map(|row| row.p).collect::<Vec<f64>>());
        for (row, p) in tested.iter_mut().zip(corrected) {
            row.p_holm = Some(p);
        }
        self.placebos = arms.placebo.as_ref().map(|_| placebos);
        self.add(ALL, arms, placebos);
    }
}

/// The measured episodes of controls, and of placebos by question: how many of them equal the record, and how many there are.
#[derive(Default)]
pub(crate) struct Paths {
    controls: Count,
    placebos: BTreeMap<String, Count>,
    /// Episodes that are recorded, and that there are to be.
    recorded: usize,
    planned: usize,
}

type Count = (usize, usize);

impl Paths {
    /// Those of a folder of branches, beside the run that they come off.
    pub(crate) fn of(branched: &GradedRun, source: &GradedRun) -> Result<Self, RunError> {
        let mut places: HashMap<String, usize> = HashMap::new();
        for (place, graded) in source.episodes().enumerate() {
            places.insert(graded?.trajectory.key, place);
        }
        let planned = branched.manifest.as_ref().map_or(0, Manifest::planned_in_all);
        let mut paths = Self { planned, ..Self::default() };
        for graded in branched.episodes() {
            let trajectory = graded?.trajectory;
            paths.recorded += 1;
            let Some(branch) = trajectory.branch.as_ref().filter(|_| trajectory.measured()) else { continue };
            let Some(place) = places.get(&branch.key) else { continue };
            // How many steps the edit decides: the model goes on behind them.
            let is_of_the_step = branch.edit.as_ref().is_some_and(BranchEdit::is_of_the_step);
            let from = if is_of_the_step { branch.at } else { branch.at.saturating_sub(1) };
            let count = match trajectory.variant.as_str() {
                CONTROL => &mut paths.controls,
                PLACEBO => paths.placebos.entry(branch.id.clone()).or_default(),
                _ => continue,
            };
            count.0 += usize::from(continues_alike(source.episode(*place)?.trajectory, trajectory.clone(), from));
            count.1 += 1;
        }
        Ok(paths)
    }

    /// Whether every episode was tried: a run that stopped by itself has others left.
    pub(crate) fn are_all_tried(&self) -> bool {
        self.recorded >= self.planned
    }

    pub(crate) fn controls(&self) -> Controls {
        let (equal_the_record, measured) = self.controls;
        Controls { equal_the_record, measured, replay: measured > 0 && 2 * equal_the_record >= measured }
    }

    pub(crate) fn placebos(&self, is_of: impl Fn(&str) -> bool) -> Placebos {
        let counts = || self.placebos.iter().filter(|(id, _)| is_of(id)).map(|(_, count)| count);
        let (same, measured) = counts().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
        Placebos {
            measured,
            left_the_record: measured - same,
            questions: counts().count(),
            questions_left: counts().filter(|(same, measured)| same < measured).count(),
        }
    }
}

/// Whether both go on alike behind so many steps, up to their answers.
fn continues_alike(mut recorded: Trajectory, mut other: Trajectory, steps: usize) -> bool {
    for trajectory in [&mut recorded, &mut other] {
        trajectory.steps.drain(..steps.min(trajectory.steps.len()));
    }
    Divergence::of(&recorded, &other).is_none()
}

/// What a recorded episode is called among the classes of a repair.
pub(crate) fn class_of(graded: &ScoredEpisode) -> &'static str {
    match (graded.failure(), graded.score) {
        (Some(failure), _) => failure.class.name(),
        (None, Some(_)) => "right",
        (None, None) => "not scored",
    }
}

/// A folder of branches, for a page.
#[derive(Debug)]
pub(crate) struct Branches {
    pub(crate) edits: BTreeMap<String, Branch>,
    /// The classes of the recorded episodes, and what was repaired; absent without the run that the branches come off.
    pub(crate) repaired: Option<(Classes, Repair)>,
}

impl Branches {
    /// `named` are the runs that the person named.
    pub(crate) fn read(out: &Path, named: &[&Path]) -> Result<Self, RunError> {
        let branched = GradedRun::open(out)?;
        let mut edits = BTreeMap::new();
        for graded in branched.episodes() {
            let Trajectory { variant, branch, .. } = graded?.trajectory;
            if let Some(branch) = branch.filter(|_| variant == EDITED) {
                edits.entry(branch.id.clone()).or_insert(branch);
            }
        }
        let source = edits.values().next().and_then(|first| source_of(out, Path::new(&first.run), named));
        let repaired = source.map(|source| repair_of(&branched, &source, &edits)).transpose()?.flatten();
        Ok(Self { edits, repaired })
    }
}

/// The run that branches come off: a named one of that name, else the recorded one, if the folder may name it.
fn source_of(out: &Path, recorded: &Path, named: &[&Path]) -> Option<PathBuf> {
    let is_it = |path: &&&Path| **path != out && path.file_name() == recorded.file_name();
    if let Some(path) = named.iter().find(is_it) {
        return Some(path.to_path_buf());
    }
    let refusal = ReadScope::folder(out, None).ok()?.refuses_path(recorded, &TrustedInputs::default());
    (refusal.is_none() && RunFolder::at(recorded).exists()).then(|| recorded.to_owned())
}

/// Nothing if the run has none of the episodes that were branched off.
fn repair_of(
    branched: &GradedRun,
    source: &Path,
    edits: &BTreeMap<String, Branch>,
) -> Result<Option<(Classes, Repair)>, RunError> {
    let source = GradedRun::open(source)?;
    let mut classes = Classes::new();
    for graded in source.episodes() {
        let graded = graded?;
        let id = &graded.trajectory.id;
        if edits.get(id).is_some_and(|branch| branch.key == graded.trajectory.key) {
            classes.insert(id.clone(), class_of(&graded));
        }
    }
    let repeats = branched.manifest.as_ref().map_or(1, |manifest| manifest.repeats);
    let repair = || Repair::of(branched, &source, &classes, (repeats, true));
    (!classes.is_empty()).then(repair).transpose().map(|repair| repair.map(|repair| (classes.clone(), repair)))
}

#[cfg(test)]
mod tests {
    use super::{Arms, Controls, Placebos, Repair, RepairRow, Variant};
    use crate::analysis::compare::Item;

    /// The EM of each question's repeats.
    fn arm(name: &str, questions: &[&[f64]]) -> Variant {
        let row = |question: usize, repeat: u32, em: f64| Item {
            id: question.to_string(),
            repeat,
            measured: true,
            values: vec![Some(em)],
            ..Item::default()
        };
        let rows = questions
            .iter()
            .enumerate()
            .flat_map(|(at, repeats)| (0..).zip(repeats.iter()).map(move |(repeat, em)| row(at, repeat, *em)));
        Variant { items: rows.collect(), ..Variant::new(name, vec!["em".to_owned()], Vec::new()) }
    }

    fn arms(questions: usize, repaired: usize, placebo: Option<&[f64]>) -> Arms {
        let edited: Vec<&[f64]> = (0..questions).map(|at| if at < repaired { &[1.0][..] } else { &[0.0] }).collect();
        Arms {
            control: arm("control", &vec![&[0.0][..]; questions]),
            edited: arm("edited", &edited),
            placebo: placebo.map(|values| arm("placebo", &vec![values; questions])),
            repeats: 1,
        }
    }

    /// Three placebos a question, which leave the record in so many questions, once each.
    fn left(questions_left: usize, questions: usize) -> Placebos {
        Placebos { measured: 3 * questions, left_the_record: questions_left, questions, questions_left }
    }

    #[test]
    fn a_row_is_against_the_placebos_and_keeps_the_control() {
        let row = RepairRow::of("search", &arms(4, 3, Some(&[0.0, 1.0])), left(2, 4)).expect("a row");
        assert_eq!((row.n, row.control, row.placebo, row.edited), (4, Some(0.0), Some(0.5), Some(0.75)));
        assert_eq!((row.difference, row.placebos_left), (Some(0.25), Some(1.0 / 6.0)));
        assert!(row.p > Some(0.3), "{row:?}");
        let control = row.against_control.expect("figures");
        assert_eq!((control.difference, control.p), (Some(0.75), Some(0.25)));
        let row = RepairRow::of("search", &arms(4, 3, None), left(0, 0)).expect("a row");
        assert_eq!((row.difference, row.p, row.against_control), (Some(0.75), Some(0.25), None));
        assert_eq!(RepairRow::of("search", &arms(0, 0, None), left(0, 0)), None);
    }

    #[test]
    fn repeats_of_a_placebo_are_averaged_and_placebos_are_not() {
        let repeated = Arms { repeats: 2, ..arms(2, 2, Some(&[0.0, 1.0, 1.0, 1.0])) };
        assert_eq!(repeated.by_question(), vec![vec![1.0, 0.5, 1.0]; 2]);
    }

    #[test]
    fn p_is_withheld_where_placebos_are_too_weak_and_corrected_over_classes() {
        let controls = Controls { measured: 24, equal_the_record: 24, replay: true };
        let mut repair = Repair { rows: Vec::new(), controls, placebos: None };
        repair.add("label", &arms(8, 8, Some(&[0.0; 3])), left(8, 8));
        repair.add("lookup", &arms(8, 8, Some(&[0.0; 3])), left(3, 8));
        repair.add("search", &arms(8, 7, Some(&[0.0; 3])), left(4, 8));
        repair.add_all(&arms(24, 23, Some(&[0.0; 3])), left(15, 24));
        let p: Vec<Option<f64>> = repair.rows.iter().map(|row| row.p).collect();
        assert!(p[1].is_none() && p[0] < p[2] && p[3] < Some(0.001), "{p:?}");
        assert_eq!(repair.rows[0].p_holm, p[0].map(|p| 2.0 * p));
        assert_eq!((repair.rows[2].p_holm, repair.rows[3].p_holm), (p[2], p[3]));
        let table = repair.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        for text in [
            "<0.0001",
            "15 of 72 placebos (20.8 %) left the recorded path, in 15 of 24 questions",
            "of the 2 classes after Holm",
            "p is withheld (lookup): the placebo was too weak to compare with",
        ] {
            assert!(table.contains(text), "{text}: {table}");
        }
    }
}
