//! Which recorded episodes are branched off, at which step and by which edit.

use crate::analysis::Notify;
use crate::analysis::repair::{Classes, class_of};
use crate::analysis::results::{GradedRun, RunRef};
use crate::base::bounded::text_at_most;
use crate::base::text::{counted, shell_word, visible_line};
use crate::base::{Fork, Manifest, Pairs, Provenance, Tool, Trajectory, Variant, WikiKind, WikiName};
use crate::prompting::protocol::Options;
use crate::runner::branch::{CONTROL, EDITED, Edit, PLACEBO, Parent, Placebos, Titles};
use crate::runner::experiment::{Experiment, Output, VariantSettings, VariantSpec};
use crate::runner::stopping::ordered;
use crate::runner::store::RunFolder;
use crate::runner::stored::Stored;
use crate::runner::{RunError, find_protocol};
use crate::scoring::{Divergence, FailureClass, GoldEvidence, ScoredEpisode, is_same_page, page_title};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

/// Longest observation that is read from a file, in bytes.
const MAX_OBSERVATION: u64 = 1 << 20;

#[derive(Debug, Clone)]
pub(crate) struct BranchRequest {
    pub(crate) at: BranchStep,
    /// Whose right episodes [`BranchStep::Parting`] compares with; nothing for the other variant of the run.
    pub(crate) from: Option<RunRef>,
    pub(crate) thought: Option<String>,
    pub(crate) drop_thought: bool,
    pub(crate) action: Option<(Tool, String)>,
    pub(crate) observation_file: Option<PathBuf>,
    pub(crate) model: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) protocol: Option<String>,
    /// An edit by rule: `gold-page` or `empty`.
    pub(crate) rule: Option<String>,
    pub(crate) wrong: bool,
    pub(crate) class: Option<FailureClass>,
    pub(crate) repeats: u32,
    pub(crate) placebos: u32,
}

pub(crate) struct ChosenForks {
    pub(crate) variant: String,
    pub(crate) manifest: Manifest,
    pub(crate) forks: Vec<Fork>,
    /// The same number of placebos of each question, and why there are none or fewer than were asked for.
    pub(crate) placebos: Vec<Fork>,
    pub(crate) placebo_note: Option<String>,
    pub(crate) classes: Classes,
}

impl ChosenForks {
    fn recorded(&self) -> Option<&Variant> {
        self.manifest.variants.iter().find(|variant| variant.name == self.variant)
    }

    /// The experiment with the placebos as a third variant, if there are any.
    pub(crate) fn with_placebos(&self, experiment: &Experiment) -> Option<Experiment> {
        let control = experiment.variants.iter().find(|variant| variant.name == CONTROL)?;
        let placebo = VariantSpec { name: PLACEBO.to_owned(), ..control.clone() };
        let mut whole = experiment.clone();
        whole.variants.push(placebo);
        whole.forks.extend(self.placebos.iter().cloned());
        Some(whole).filter(|_| !self.placebos.is_empty())
    }
}

#[derive(Default)]
struct PlaceboForks {
    forks: Vec<Vec<Fork>>,
    reason: Option<&'static str>,
}

impl PlaceboForks {
    /// As many of each question, or none, and why these are not `wanted`.
    fn of_each(self, wanted: u32) -> (Vec<Fork>, Option<String>) {
        let least = self.forks.iter().map(Vec::len).min().unwrap_or_default();
        let short = || format!("{} instead of {wanted}: the run knows too few other pages", counted(least, "placebo"));
        let note = match self.reason {
            _ if wanted == 0 => None,
            Some(reason) => Some(reason.to_owned()),
            None => (least < wanted as usize).then(short),
        };
        let each = if self.reason.is_some() { 0 } else { least };
        (self.forks.into_iter().flat_map(|forks| forks.into_iter().take(each)).collect(), note)
    }
}

/// The episodes that are not branched off although the flags ask for them.
#[derive(Default)]
struct SkippedEpisodes {
    /// Whether there is any episode of the variant and the id.
    found: bool,
    reasons: BTreeMap<String, usize>,
}

impl SkippedEpisodes {
    fn lines(&self) -> impl Iterator<Item = String> {
        self.reasons.iter().map(|(why, n)| format!("note: {} left out: {why}", counted(*n, "episode")))
    }

    fn failure(&self, run: &RunRef, id: Option<&str>) -> RunError {
        let (name, path) = (visible_line(&run.typed(), 200), shell_word(&run.path.display().to_string()));
        let list = format!("`wikitrail show {path}` lists the run's episodes");
        let message = match (id, self.reasons.iter().next()) {
            (Some(id), _) if !self.found => format!("`{name}` has no episode of question `{}`", visible_line(id, 200)),
            (Some(id), Some((why, _))) => {
                format!("`{}` cannot be edited so: {why}", visible_line(&format!("{name}:{id}"), 300))
            }
            (Some(id), None) => {
                let target = visible_line(&format!("{name}:{id}"), 300);
                format!("`{target}` was not measured, or --wrong or --class excludes it")
            }
            (None, None) => format!("`{name}` has no measured episode, or --wrong or --class excludes all"),
            (None, Some(_)) => {
                let reasons: Vec<String> = self.reasons.iter().map(|(why, n)| format!("{n}: {why}")).collect();
                format!("`{name}` has no episode that can be edited so ({})", reasons.join("; "))
            }
        };
        let hint = if self.reasons.is_empty() { list } else { format!("name another step or edit; {list}") };
        RunError::input(message, hint)
    }
}

pub(crate) fn only_variant(source: &GradedRun, run: &RunRef) -> Result<String, RunError> {
    source.check_variant(run)?;
    let variants = source.manifest.as_ref().map_or(&[][..], |manifest| &manifest.variants);
    match (&run.variant, variants) {
        (Some(name), _) => Ok(name.clone()),
        (None, [one]) => Ok(one.name.clone()),
        (None, _) => {
            let message = format!("`{}` has several variants", run.path.display());
            Err(RunError::usage(message, format!("name one as RUN@VARIANT: {}", source.variants())))
        }
    }
}

impl BranchRequest {
    /// The episodes of a run, or those of one question; notes go to `tell`.
    pub(crate) fn choose(&self, run: &RunRef, id: Option<&str>, tell: Notify<'_>) -> Result<ChosenForks, RunError> {
        let source = GradedRun::open(&run.path)?;
        source.notes.iter().cloned().for_each(tell);
        let Some(manifest) = source.manifest.clone() else {
            return Err(RunError::usage(
                "a file of trajectories cannot be branched off",
                "name a folder that `run` wrote",
            ));
        };
        refuse_foreign(run, &manifest)?;
        let variant = only_variant(&source, run)?;
        let right = self.right(run, &variant)?;
        let stored = Stored::of(&RunFolder::open(&run.path)?, &manifest)?;
        let titles = self.titles(&source)?;
        let path = run.path.display().to_string();
        let (mut forked, mut classes, mut left_out) = (Vec::new(), BTreeMap::new(), SkippedEpisodes::default());
        let mut placebos = PlaceboForks::default();
        for graded in source.episodes() {
            let graded = graded?;
            let trajectory = &graded.trajectory;
            if trajectory.variant != variant || id.is_some_and(|id| trajectory.id != id) {
                continue;
            }
            left_out.found = true;
            if !trajectory.measured() || classes.contains_key(&trajectory.id) || !self.wants(&graded) {
                continue;
            }
            let approach = stored.approach(trajectory)?;
            let parent = Parent::of(&path, trajectory, &approach, self.repeats)?;
            let evidence = source.evidence.get(&trajectory.id);
            let cut = self.cut(trajectory, &right, evidence)?;
            let (at, edit) = match cut {
                Ok(cut) => cut,
                Err(why) => {
                    *left_out.reasons.entry(why).or_default() += 1;
                    continue;
                }
            };
            forked.extend(parent.forks(at, &edit)?);
            placebos.reason = placebos.reason.or_else(|| edit.has_no_placebo());
            let edits = Placebos { titles: &titles, evidence, n: self.placebos }.of(&parent, at, &edit);
            placebos.forks.push(parent.placebos(at, &edits)?);
            classes.insert(trajectory.id.clone(), class_of(&graded));
        }
        if forked.is_empty() {
            return Err(left_out.failure(run, id));
        }
        left_out.lines().for_each(tell);
        let (placebos, placebo_note) = placebos.of_each(self.placebos);
        Ok(ChosenForks { variant, manifest, forks: forked, placebos, placebo_note, classes })
    }

    fn wants(&self, graded: &ScoredEpisode) -> bool {
        (!self.wrong || graded.failure().is_some()) && self.class.is_none_or(|class| graded.class() == Some(class))
    }

    /// The pages that placebos may search, where an action is edited.
    fn titles(&self, source: &GradedRun) -> Result<Titles, RunError> {
        let mut titles = Titles::default();
        if self.placebos > 0 && (self.action.is_some() || self.rule.is_some()) {
            source.evidence.all().for_each(|evidence| titles.add_gold(evidence));
            for graded in source.episodes() {
                titles.add_opened(&graded?.trajectory);
            }
        }
        Ok(titles)
    }

    fn right(&self, run: &RunRef, variant: &str) -> Result<RightEpisodes, RunError> {
        match (self.at, &self.from) {
            (BranchStep::Parting, from) => RightEpisodes::read(from.as_ref(), run, variant),
            (_, None) => Ok(RightEpisodes::default()),
            (_, Some(_)) => Err(RunError::usage(
                "only `--at parting` compares with another run",
                "remove --from, or use --at parting",
            )),
        }
    }

    /// The step and its edit, or why the episode is left out.
    fn cut(
        &self,
        trajectory: &Trajectory,
        right: &RightEpisodes,
        evidence: Option<&GoldEvidence>,
    ) -> Result<Result<(usize, Edit), String>, RunError> {
        let at = match self.at.place(trajectory, right)? {
            Ok(at) => at,
            Err(why) => return Ok(Err(why)),
        };
        let Some(edit) = self.edit(trajectory, evidence)? else {
            return Ok(Err("no gold page is known".to_owned()));
        };
        Ok(match trajectory.steps.get(at - 1).and_then(|step| edit.idle(step)) {
            Some(why) => Err(why.to_owned()),
            None => Ok((at, edit)),
        })
    }

    /// What is put there; nothing where the rule has nothing to put.
    fn edit(&self, trajectory: &Trajectory, evidence: Option<&GoldEvidence>) -> Result<Option<Edit>, RunError> {
        match self.rule.as_deref() {
            Some("gold-page") => Ok(evidence.and_then(|evidence| gold_page(trajectory, evidence)).map(|title| Edit {
                action: Some((searching(trajectory), title)),
                by: "gold-page".to_owned(),
                ..Edit::default()
            })),
            Some(rule) => Ok(Some(Edit { observation: Some(String::new()), by: rule.to_owned(), ..Edit::default() })),
            None => self.typed().map(Some),
        }
    }

    fn typed(&self) -> Result<Edit, RunError> {
        let observation = self.observation_file.as_ref().map(|path| {
            File::open(path).and_then(|file| text_at_most(file, MAX_OBSERVATION)).map_err(|error| {
                RunError::input(format!("cannot read `{}`: {error}", path.display()), "check the path")
            })
        });
        let thought = self.thought.clone().or(self.drop_thought.then(String::new));
        let edit = Edit {
            thought,
            action: self.action.clone(),
            observation: observation.transpose()?,
            model: self.model.clone(),
            prompt: self.prompt.clone(),
            protocol: self.protocol.as_ref().map(|id| find_protocol(id, &Options::default(), None)).transpose()?,
            spacing: None,
            by: "hand".to_owned(),
        };
        if edit.is_nothing() {
            return Err(RunError::usage(
                "nothing is edited",
                "add --thought, --drop-thought, --action, --observation-file, --model, --prompt, --protocol or --with",
            ));
        }
        Ok(edit)
    }
}

fn searching(trajectory: &Trajectory) -> Tool {
    let retrieves = trajectory.steps.iter().any(|step| step.tool == Some(Tool::Passages));
    if retrieves { Tool::Passages } else { Tool::Search }
}

fn gold_page(trajectory: &Trajectory, evidence: &GoldEvidence) -> Option<String> {
    let pages = &evidence.groups().first()?.pages;
    let opened = |page: &&String| {
        let provenances = trajectory.steps.iter().filter_map(|step| step.provenance.as_ref());
        provenances.flat_map(Provenance::titles).any(|title| is_same_page(page, title))
    };
    pages.iter().find(|page| !opened(page)).or(pages.first()).map(|page| page_title(page))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BranchStep {
    Step(usize),
    LastSearch,
    Parting,
}

impl BranchStep {
    /// The step, as its place among all, or why an episode has none.
    fn place(self, trajectory: &Trajectory, right: &RightEpisodes) -> Result<Result<usize, String>, RunError> {
        let place = match self {
            Self::Step(step) => Ok(step),
            Self::LastSearch => {
                let last =
                    trajectory.steps.iter().rposition(|step| matches!(step.tool, Some(Tool::Search | Tool::Passages)));
                last.map(|at| at + 1).ok_or_else(|| "no search".to_owned())
            }
            Self::Parting => match right.of(&trajectory.id)? {
                None => Err(format!("`{}` has no right episode of the question", right.name)),
                Some(other) => Divergence::of(trajectory, &other)
                    .map(|found| found.step)
                    .ok_or_else(|| format!("all steps are those of the right episode in `{}`", right.name)),
            },
        };
        let acts = |step: &usize| trajectory.steps.get(step.wrapping_sub(1)).is_some_and(|step| step.tool.is_some());
        Ok(place.and_then(|step| Some(step).filter(acts).ok_or_else(|| format!("no action at step {step}"))))
    }
}

/// The right episodes that `parting` compares with: of each question the first repeat that is right.
#[derive(Default)]
struct RightEpisodes {
    run: Option<GradedRun>,
    /// Whose they are, as `RUN@VARIANT`.
    name: String,
    places: BTreeMap<String, usize>,
}

impl RightEpisodes {
    /// Of the variant that is named, else of the other one of two in the run.
    fn read(named: Option<&RunRef>, run: &RunRef, variant: &str) -> Result<Self, RunError> {
        let path = named.map_or(&run.path, |named| &named.path);
        let source = GradedRun::open(path)?;
        let other = match named {
            Some(named) => only_variant(&source, named)?,
            None => other_variant(&source, variant)?,
        };
        let mut places = BTreeMap::new();
        for (place, graded) in source.episodes().enumerate() {
            let graded = graded?;
            if graded.trajectory.variant == other && graded.is_right() == Some(true) {
                places.entry(graded.trajectory.id).or_insert(place);
            }
        }
        let name = visible_line(&format!("{}@{other}", path.display()), 200);
        if places.is_empty() {
            return Err(RunError::input(
                format!("`{name}` has no right episode"),
                "`--at parting` compares with right episodes: name others with --from",
            ));
        }
        Ok(Self { run: Some(source), name, places })
    }

    fn of(&self, id: &str) -> Result<Option<Trajectory>, RunError> {
        let Some((run, place)) = self.run.as_ref().zip(self.places.get(id)) else { return Ok(None) };
        Ok(Some(run.episode(*place)?.trajectory))
    }
}

fn other_variant(source: &GradedRun, variant: &str) -> Result<String, RunError> {
    let variants = source.manifest.iter().flat_map(|manifest| &manifest.variants);
    let others: Vec<&str> = variants.map(|own| own.name.as_str()).filter(|name| *name != variant).collect();
    if let [one] = others[..] {
        return Ok(one.to_owned());
    }
    let which = if others.is_empty() { "no other variant" } else { "several other variants" };
    let path = source.path.display();
    let message = format!("`--at parting` compares with right episodes of another variant, and `{path}` has {which}");
    Err(RunError::usage(message, "name them with --from RUN@VARIANT"))
}

/// Only what `run` made can be made again.
fn refuse_foreign(run: &RunRef, manifest: &Manifest) -> Result<(), RunError> {
    match manifest.command_line.get(1).map(String::as_str) {
        Some("run") => Ok(()),
        Some("branch") => {
            let message = format!("`{}` holds branches, which cannot be branched again", run.path.display());
            Err(RunError::usage(message, "branch the run that they come from; several edits may be combined"))
        }
        _ => Err(unlike(run, "no `wikitrail run` wrote it")),
    }
}

pub(crate) fn unlike(run: &RunRef, what: &str) -> RunError {
    let message = format!("`{}` cannot be branched off: {what}", run.path.display());
    RunError::usage(message, "branch off a folder that `wikitrail run` wrote, where its dataset and corpus are")
}

impl BranchRequest {
    /// The run's experiment with a control and an edited variant in place of its one.
    pub(crate) fn experiment(
        &self,
        mut experiment: Experiment,
        run: &RunRef,
        chosen: &ChosenForks,
        output: Output,
    ) -> Result<Experiment, RunError> {
        let path = &chosen.manifest.dataset.path;
        experiment.datasets.retain(|dataset| dataset.path.display().to_string() == *path);
        experiment.datasets.truncate(1);
        let Some(dataset) = experiment.datasets.first() else { return Err(unlike(run, "its dataset is another one")) };
        let specs = experiment.variants_on(dataset);
        let only = if let [one] = specs { Some(one) } else { None };
        let named = specs.iter().find(|spec| spec.name == chosen.variant);
        let Some(spec) = named.or(only).cloned() else {
            return Err(unlike(run, "its command has no such variant"));
        };
        refuse_live(chosen, &experiment, run)?;
        let recorded = chosen.recorded();
        let began = recorded.map(|variant| (variant.protocol.clone(), variant.protocol_version));
        let named =
            |name: &str| VariantSpec { name: name.to_owned(), place: None, began: began.clone(), ..spec.clone() };
        let (control, mut edited) = (named(CONTROL), named(EDITED));
        self.put_edit(recorded, &mut edited.settings);
        // Two other variants are no longer what the run was to decide; its questions are still those in its order.
        if experiment.stop_when.take().is_some() {
            experiment.datasets[0] = ordered(&experiment.datasets[0]);
        }
        experiment.datasets[0].variants.clear();
        let mut experiment = Experiment {
            name: None,
            file: None,
            variants: vec![control, edited],
            repeats: self.repeats,
            pairs: Pairs { baseline: Some(CONTROL.to_owned()), ..Pairs::default() },
            output,
            forks: chosen.forks.clone(),
            ..experiment
        };
        experiment.recording.record = None;
        Ok(experiment)
    }

    fn put_edit(&self, recorded: Option<&Variant>, settings: &mut VariantSettings) {
        settings.model = self.model.clone().or_else(|| settings.model.take());
        settings.prompt = self.prompt.clone().or_else(|| settings.prompt.take());
        if self.protocol.is_some() {
            // Options are those of a protocol.
            settings.protocol.clone_from(&self.protocol);
            settings.option = None;
            // The step limit of the run: another one would be another edit.
            settings.max_steps = settings.max_steps.or(recorded.and_then(|variant| variant.max_steps));
        }
    }

    /// An edit to what the run has is none.
    pub(crate) fn refuse_own(&self, chosen: &ChosenForks) -> Result<(), RunError> {
        let Some(own) = chosen.recorded() else { return Ok(()) };
        let edits = [
            ("--model", &self.model, Some(&own.model)),
            ("--prompt", &self.prompt, Some(&own.prompt)),
            // The options of the run's protocol are not those that it has by itself.
            ("--protocol", &self.protocol, Some(&own.protocol).filter(|_| own.options.is_empty())),
        ];
        let same = edits.iter().find(|(_, typed, own)| typed.is_some() && typed.as_ref() == *own);
        same.map_or(Ok(()), |(flag, typed, _)| {
            let value = visible_line(typed.as_deref().unwrap_or_default(), 200);
            let message = format!("{flag} {value} changes nothing: the run has it already");
            Err(RunError::usage(message, format!("leave {flag} out, or name another one")))
        })
    }
}

/// A live site changes, and copied steps could not be made again.
fn refuse_live(chosen: &ChosenForks, experiment: &Experiment, run: &RunRef) -> Result<(), RunError> {
    let frozen = chosen.recorded().is_some_and(|variant| WikiName::of(&variant.wiki).kind == WikiKind::Corpus);
    if frozen || experiment.recording.replay.is_some() || experiment.recording.cache.is_some() {
        return Ok(());
    }
    Err(RunError::usage(
        format!("`{}` was run on a live wiki, whose pages change", run.path.display()),
        "branch off a run on a frozen corpus (--wiki corpus:DIR), or one with --cache or --replay",
    ))
}
