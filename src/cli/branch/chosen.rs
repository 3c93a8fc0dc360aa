//! The episodes that are branched off, what is edited in each, and why others are left out.

use super::{Args, At, Right, refuse_foreign};
use crate::analysis::results::{GradedRun, RunRef};
use crate::base::bounded::text_at_most;
use crate::base::text::{counted, shell_word, visible_line};
use crate::base::{Fork, Manifest, Tool, Trajectory};
use crate::cli::failure::Failure;
use crate::cli::say::say;
use crate::prompting::protocol::{self, Options};
use crate::runner::branch::{Edit, Parent, Placebos, Titles};
use crate::runner::store::RunFolder;
use crate::runner::stored::Stored;
use crate::scoring::{GoldEvidence, ScoredEpisode, is_same_page, page_title};
use std::collections::BTreeMap;
use std::fs::File;

/// Longest observation that is read from a file, in bytes.
const MOST_OBSERVED: u64 = 1 << 20;

/// The episodes that are branched off.
pub(super) struct Chosen {
    pub(super) variant: String,
    pub(super) manifest: Manifest,
    /// Controls and edited branches.
    pub(super) forks: Vec<Fork>,
    /// The same number of placebos of each question, and why there are none or fewer than were asked for.
    pub(super) placebos: Vec<Fork>,
    pub(super) placebo_note: Option<String>,
    /// The failure class of each question's episode, `right` and `not scored` among them.
    pub(super) classes: BTreeMap<String, &'static str>,
}

impl Chosen {
    pub(super) fn of(args: &Args, run: &RunRef, id: Option<&str>) -> anyhow::Result<Self> {
        let source = GradedRun::open(&run.path)?;
        source.notes.iter().for_each(say);
        let Some(manifest) = source.manifest.clone() else {
            return Err(Failure::usage(
                "a file of trajectories cannot be branched off",
                "name a folder that `run` wrote",
            ));
        };
        refuse_foreign(run, &manifest)?;
        let variant = only_variant(&source, run)?;
        let right = args.right(run, &variant)?;
        let stored = Stored::of(&RunFolder::open(&run.path)?, &manifest)?;
        let titles = args.titles(&source)?;
        let path = run.path.display().to_string();
        let (mut forked, mut classes, mut left_out) = (Vec::new(), BTreeMap::new(), LeftOut::default());
        let mut placebos = Found::default();
        for graded in source.episodes() {
            let graded = graded?;
            let trajectory = &graded.trajectory;
            if trajectory.variant != variant || id.is_some_and(|id| trajectory.id != id) {
                continue;
            }
            left_out.found = true;
            if !trajectory.measured() || classes.contains_key(&trajectory.id) || !args.wants(&graded) {
                continue;
            }
            let approach = stored.approach(trajectory)?;
            let parent = Parent::of(&path, trajectory, &approach, args.repeats)?;
            let evidence = source.evidence.get(&trajectory.id);
            let cut = args.cut(trajectory, &right, evidence)?;
            let (at, edit) = match cut {
                Ok(cut) => cut,
                Err(why) => {
                    *left_out.reasons.entry(why).or_default() += 1;
                    continue;
                }
            };
            forked.extend(parent.forks(at, &edit)?);
            placebos.reason = placebos.reason.or_else(|| edit.has_no_placebo());
            let edits = Placebos { titles: &titles, evidence, n: args.placebo }.of(&parent, at, &edit);
            placebos.forks.push(parent.placebos(at, &edits)?);
            classes.insert(trajectory.id.clone(), class_of(&graded));
        }
        if forked.is_empty() {
            return Err(left_out.failure(run, id));
        }
        left_out.lines().for_each(say);
        let (placebos, placebo_note) = placebos.of_each(args.placebo);
        Ok(Self { variant, manifest, forks: forked, placebos, placebo_note, classes })
    }
}

/// The placebos of each question, and why an edit has none.
#[derive(Default)]
struct Found {
    forks: Vec<Vec<Fork>>,
    reason: Option<&'static str>,
}

impl Found {
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
struct LeftOut {
    /// Whether there is any episode of the variant and the id.
    found: bool,
    /// How many for which reason.
    reasons: BTreeMap<String, usize>,
}

impl LeftOut {
    fn lines(&self) -> impl Iterator<Item = String> {
        self.reasons.iter().map(|(why, n)| format!("note: {} left out: {why}", counted(*n, "episode")))
    }

    /// The error of a command that leaves all of them out.
    fn failure(&self, run: &RunRef, id: Option<&str>) -> anyhow::Error {
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
            (None, None) => format!("`{name}` has no measured episode that --wrong and --class ask for"),
            (None, Some(_)) => {
                let reasons: Vec<String> = self.reasons.iter().map(|(why, n)| format!("{n}: {why}")).collect();
                format!("`{name}` has no episode that can be edited so ({})", reasons.join("; "))
            }
        };
        let hint = if self.reasons.is_empty() { list } else { format!("name another step or edit; {list}") };
        Failure::bad_input(message, hint)
    }
}

/// The variant that is named, else the only one.
pub(super) fn only_variant(source: &GradedRun, run: &RunRef) -> anyhow::Result<String> {
    source.check_variant(run)?;
    let variants = source.manifest.as_ref().map_or(&[][..], |manifest| &manifest.variants);
    match (&run.variant, variants) {
        (Some(name), _) => Ok(name.clone()),
        (None, [one]) => Ok(one.name.clone()),
        (None, _) => {
            let message = format!("`{}` has several variants", run.path.display());
            Err(Failure::usage(message, format!("name one as RUN@VARIANT: {}", source.variants())))
        }
    }
}

fn class_of(graded: &ScoredEpisode) -> &'static str {
    match (graded.failure(), graded.score) {
        (Some(failure), _) => failure.class.name(),
        (None, Some(_)) => "right",
        (None, None) => "not scored",
    }
}

impl Args {
    fn wants(&self, graded: &ScoredEpisode) -> bool {
        (!self.wrong || graded.failure().is_some()) && self.class.is_none_or(|class| graded.class() == Some(class))
    }

    /// The pages that placebos may search, where an action is edited.
    fn titles(&self, source: &GradedRun) -> anyhow::Result<Titles> {
        let mut titles = Titles::default();
        if self.placebo > 0 && (self.action.is_some() || self.with.is_some()) {
            source.evidence.all().for_each(|evidence| titles.add_gold(evidence));
            for graded in source.episodes() {
                titles.add_opened(&graded?.trajectory);
            }
        }
        Ok(titles)
    }

    /// The episodes that `--at parting` needs.
    fn right(&self, run: &RunRef, variant: &str) -> anyhow::Result<Right> {
        match (self.at, &self.from) {
            (At::Parting, from) => Right::read(from.as_ref(), run, variant),
            (_, None) => Ok(Right::default()),
            (_, Some(_)) => Err(Failure::usage(
                "only `--at parting` compares with another run",
                "remove --from, or use --at parting",
            )),
        }
    }

    /// The step and its edit, or why the episode is left out.
    fn cut(
        &self,
        trajectory: &Trajectory,
        right: &Right,
        evidence: Option<&GoldEvidence>,
    ) -> anyhow::Result<Result<(usize, Edit), String>> {
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
    fn edit(&self, trajectory: &Trajectory, evidence: Option<&GoldEvidence>) -> anyhow::Result<Option<Edit>> {
        match self.with.as_deref() {
            Some("gold-page") => Ok(evidence.and_then(|evidence| gold_page(trajectory, evidence)).map(|title| Edit {
                action: Some((Tool::Search, title)),
                by: "gold-page".to_owned(),
                ..Edit::default()
            })),
            Some(rule) => Ok(Some(Edit { observation: Some(String::new()), by: rule.to_owned(), ..Edit::default() })),
            None => self.typed().map(Some),
        }
    }

    fn typed(&self) -> anyhow::Result<Edit> {
        let observation = self.observation_file.as_ref().map(|path| {
            File::open(path).and_then(|file| text_at_most(file, MOST_OBSERVED)).map_err(|error| {
                Failure::bad_input(format!("cannot read `{}`: {error}", path.display()), "check the path")
            })
        });
        let thought = self.thought.clone().or(self.drop_thought.then(String::new));
        let edit = Edit {
            thought,
            action: self.action.clone(),
            observation: observation.transpose()?,
            model: self.model.clone(),
            prompt: self.prompt.clone(),
            protocol: self.protocol.as_ref().and_then(|id| protocol::find(id, &Options::default())).transpose()?,
            spacing: None,
            by: "hand".to_owned(),
        };
        if edit.is_nothing() {
            return Err(Failure::usage(
                "nothing is edited",
                "add --thought, --drop-thought, --action, --observation-file, --model, --prompt, --protocol or --with",
            ));
        }
        Ok(edit)
    }
}

/// The first gold page that was not opened, else the first.
fn gold_page(trajectory: &Trajectory, evidence: &GoldEvidence) -> Option<String> {
    let pages = &evidence.groups().first()?.pages;
    let opened = |page: &&String| {
        let provenances = trajectory.steps.iter().filter_map(|step| step.provenance.as_ref());
        provenances.into_iter().any(|provenance| is_same_page(page, &provenance.title))
    };
    pages.iter().find(|page| !opened(page)).or(pages.first()).map(|page| page_title(page))
}
