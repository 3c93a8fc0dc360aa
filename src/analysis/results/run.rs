//! Runs as they are named on the command line (`RUN`, `RUN@VARIANT`, `RUN:ID`, `RUN@VARIANT:ID`), and one run read with its scores.
//!
//! Ids, variant names and paths may contain `:` and `@`, so the text is split where an existing run precedes.

use crate::analysis::annotations::{Annotation, Annotations};
use crate::analysis::judges::{Answer, Reading, Transcript, Verdicts};
use crate::base::text::{counted, shell_word, visible_line};
use crate::base::{Manifest, Question, Stopping, Trajectory};
use crate::runner::stopping::Watch;
use crate::runner::store::{Records, RunFolder, StoreError};
use crate::runner::stored::Evidence;
use crate::runner::{RunError, left_out};
use crate::scoring::{ScoredEpisode, Tally};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A run, or a file of trajectories; all its variants, or one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunRef {
    pub(crate) path: PathBuf,
    pub(crate) variant: Option<String>,
}

impl RunRef {
    /// The text as a run, or as a variant of a run, if it exists.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if is_source(text) {
            return Some(Self { path: text.into(), variant: None });
        }
        Self::splits(text).find(Self::names_a_variant).or_else(|| Self::splits(text).find_map(Self::whole))
    }

    /// The text as a run and the id of a question in it; the longest matching variant name wins.
    pub(crate) fn with_id(text: &str) -> Option<(Self, String)> {
        text.rmatch_indices(':').find_map(|(at, _)| Some((Self::parse(&text[..at])?, text[at + 1..].to_owned())))
    }

    /// What was probably meant if there is no such run or variant, for error messages.
    pub(crate) fn meant(text: &str) -> Self {
        let whole = || Self { path: text.into(), variant: None };
        Self::splits(text).next().unwrap_or_else(whole)
    }

    /// Every split where an `@` follows a run; the last one first, as it is least likely part of a path.
    fn splits(text: &str) -> impl Iterator<Item = Self> {
        let parts = text.rmatch_indices('@').map(|(at, _)| (&text[..at], &text[at + 1..]));
        parts
            .filter(|(path, variant)| is_source(path) && !variant.is_empty())
            .map(|(path, variant)| Self { path: path.into(), variant: Some(variant.to_owned()) })
    }

    fn names_a_variant(&self) -> bool {
        let manifest = RunFolder::at(&self.path).manifest();
        manifest
            .is_ok_and(|manifest| manifest.variants.iter().any(|variant| Some(&variant.name) == self.variant.as_ref()))
    }

    /// The same with the variant's whole name, if this is its short one.
    fn whole(self) -> Option<Self> {
        let typed = self.variant.as_deref()?;
        let short = RunFolder::at(&self.path).manifest().ok()?.short_names();
        let whole = Some(short.whole(typed)).filter(|whole| *whole != typed)?.to_owned();
        Some(Self { variant: Some(whole), ..self })
    }

    /// The variants of a run whose names begin with a prefix that ends with `/`, as those of a matrix do.
    fn with_prefix(text: &str) -> Vec<Self> {
        let below = |Self { path, variant }: Self| {
            let prefix = variant.filter(|variant| variant.ends_with('/'))?;
            let variants = RunFolder::at(&path).manifest().ok()?.variants.into_iter();
            let named = variants.filter(|variant| variant.name.starts_with(&prefix));
            Some(named.map(|variant| Self { path: path.clone(), variant: Some(variant.name) }).collect::<Vec<_>>())
        };
        Self::splits(text).find_map(|split| below(split).filter(|found| !found.is_empty())).unwrap_or_default()
    }

    pub(crate) fn typed(&self) -> String {
        let path = self.path.display();
        self.variant.as_ref().map_or_else(|| path.to_string(), |variant| format!("{path}@{variant}"))
    }
}

fn is_source(path: &str) -> bool {
    RunFolder::at(path).exists() || Path::new(path).is_file()
}

/// How far below an experiment's folder its runs are looked for.
const DEPTH: usize = 3;

/// The run at a path, else the runs below it, up to three folders deep, sorted by path. Runs inside of runs do not count.
pub(crate) fn runs_in(path: &Path) -> Vec<PathBuf> {
    if RunFolder::at(path).exists() {
        return vec![path.to_owned()];
    }
    let mut found = Vec::new();
    runs_below(path, DEPTH, &mut found);
    found.sort();
    found
}

/// Refuses one variant for a command that takes whole runs.
fn check_whole(path: &Path) -> Result<(), RunError> {
    match RunRef::parse(&path.to_string_lossy()) {
        Some(RunRef { path: run, variant: Some(_) }) => Err(RunError::input(
            format!("`{}` is one variant, and this takes a whole run", path.display()),
            format!("name the run: {}", shell_word(&run.display().to_string())),
        )),
        _ => Ok(()),
    }
}

/// Refuses one variant, or a folder of runs, for a command that takes one run; `command` is what to type in front of it.
pub(crate) fn check_one(path: &Path, command: &str) -> Result<(), RunError> {
    check_whole(path)?;
    let found = runs_in(path);
    let [first, others @ ..] = &found[..] else { return Ok(()) };
    if first == path {
        return Ok(());
    }
    let more =
        if others.is_empty() { String::new() } else { format!(", or another of its {}", counted(found.len(), "run")) };
    Err(RunError::input(
        format!("`{}` is not a run: it contains runs", path.display()),
        format!("name one: {command} {}{more}", shell_word(&visible_line(&first.display().to_string(), 300))),
    ))
}

fn runs_below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    // An unreadable folder is skipped.
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(|path| path.is_dir()) {
        if RunFolder::at(&path).exists() {
            found.push(path);
        } else if depth > 1 {
            runs_below(&path, depth - 1, found);
        }
    }
}

/// The run in a folder, then those right below it, by name, as an experiment lays out its datasets.
pub(crate) fn runs_at(folder: &Path) -> impl Iterator<Item = RunFolder> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut below: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    below.sort();
    std::iter::once(folder.to_owned()).chain(below).map(RunFolder::at).filter(RunFolder::exists)
}

#[derive(Debug)]
pub(crate) struct NamedRun {
    /// The folder's name, or its path if two runs share that name.
    pub(crate) name: String,
    pub(crate) folder: RunFolder,
    pub(crate) manifest: Manifest,
}

/// The runs at `paths`, each once, in that order; runs in a folder are sorted by path.
pub(crate) fn named_runs(paths: &[PathBuf]) -> Result<Vec<NamedRun>, RunError> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in paths {
        let found = runs_in(path);
        if found.is_empty() {
            check_whole(path)?;
            if !path.exists() {
                RunFolder::open(path)?;
            }
            let shown = path.display();
            return Err(RunError::input(
                format!("`{shown}` is not a run, and contains none up to three folders deep: no manifest.json"),
                "name a folder that `wikitrail run` has made, such as results/<run>, or a folder of such folders",
            ));
        }
        for folder in found {
            if folders.iter().all(|known| known.canonicalize().ok() != folder.canonicalize().ok()) {
                folders.push(folder);
            }
        }
    }
    let names: Vec<String> = folders.iter().map(|folder| folder_name(folder)).collect();
    let open = |path: PathBuf| {
        let short = folder_name(&path);
        let is_unique = names.iter().filter(|name| **name == short).count() == 1;
        let name = if is_unique { short } else { path.display().to_string() };
        let folder = RunFolder::open(path)?;
        let manifest = folder.manifest()?;
        Ok(NamedRun { name, folder, manifest })
    };
    folders.into_iter().map(open).collect()
}

/// The name of a run's folder, also for `.`.
pub(crate) fn folder_name(folder: &Path) -> String {
    let whole = folder.canonicalize();
    let whole = whole.as_deref().unwrap_or(folder);
    whole.file_name().map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// A run's folder, or a file of trajectories such as `ask --save` writes.
#[derive(Debug)]
pub(crate) struct GradedRun {
    pub(crate) path: PathBuf,
    /// The run's manifest; absent for a file.
    pub(crate) manifest: Option<Manifest>,
    pub(crate) evidence: Evidence,
    /// Lines that cannot be read, and missing supporting facts, a sentence each.
    pub(crate) notes: Vec<String>,
    records: Records,
    tally: Tally,
    /// What models say of episodes, by the episode's key.
    readings: HashMap<String, Vec<Annotation>>,
}

impl GradedRun {
    pub(crate) fn open(path: &Path) -> Result<Self, RunError> {
        Self::open_with(path, None, |_| {})
    }

    /// The same for the episodes of one question, where its id is given: of the others at most those that look damaged are
    /// noted. With a look at each of the dataset's questions, if it is available.
    pub(crate) fn open_with(path: &Path, id: Option<&str>, look: impl FnMut(&Question)) -> Result<Self, RunError> {
        let (manifest, records, evidence, readings) = if path.is_file() {
            (None, Records::of_file(path)?, Evidence::default(), HashMap::new())
        } else {
            let folder = RunFolder::open(path)?;
            let manifest = folder.manifest()?;
            let records = id.map_or_else(|| folder.records(), |id| folder.records_of_question(id))?;
            let evidence = Evidence::of_questions(&folder, &manifest, id, look);
            (Some(manifest), records, evidence, readings_of(&folder)?)
        };
        Ok(Self { readings, ..Self::new(path, manifest, records, evidence) })
    }

    /// The records of a run without what its dataset says of the questions, for [`scores`](Self::scores).
    pub(crate) fn without_questions(folder: &RunFolder, manifest: &Manifest) -> Result<Self, RunError> {
        Ok(Self::new(folder.path(), Some(manifest.clone()), folder.records()?, Evidence::default()))
    }

    fn new(path: &Path, manifest: Option<Manifest>, records: Records, evidence: Evidence) -> Self {
        let notes = left_out(&records).chain(evidence.note()).collect();
        let tally = Tally::new(manifest.as_ref().map_or("", |manifest| &manifest.dataset.name));
        Self { path: path.to_owned(), manifest, evidence, notes, records, tally, readings: HashMap::new() }
    }

    /// What the rule of a run that may stop by itself has found; `None` without a rule or stored questions.
    pub(crate) fn stopping(&self) -> Result<Option<Stopping>, RunError> {
        Ok(self.watch()?.map(|watch| watch.stopping()))
    }

    fn watch(&self) -> Result<Option<Watch>, RunError> {
        let Some(manifest) = &self.manifest else { return Ok(None) };
        Watch::of_records(&RunFolder::open(&self.path)?, manifest, &self.records)
    }

    pub(crate) fn check_variant(&self, run: &RunRef) -> Result<(), RunError> {
        let (Some(name), Some(manifest)) = (&run.variant, &self.manifest) else { return Ok(()) };
        if manifest.variants.iter().any(|variant| variant.name == *name) {
            return Ok(());
        }
        let message = format!("`{}` has no variant `{}`", self.path.display(), visible_line(name, 60));
        Err(RunError::input(message, format!("its variants are {}", self.variants())))
    }

    pub(crate) fn variants(&self) -> String {
        let variants = self.manifest.iter().flat_map(|manifest| &manifest.variants);
        variants.map(|variant| visible_line(&variant.name, 60)).collect::<Vec<_>>().join(", ")
    }

    /// The episodes, one at a time, in the order of variant, repeat and dataset.
    pub(crate) fn episodes(&self) -> impl Iterator<Item = Result<ScoredEpisode, RunError>> {
        self.records.iter().map(|trajectory| Ok(self.scored(trajectory?)))
    }

    /// The episodes that tables have, each with its place: all but those after the question at which a rule stopped the run. A
    /// rule that cannot be read is told by [`stopping`](Self::stopping).
    pub(crate) fn counted_episodes(&self) -> impl Iterator<Item = (usize, Result<ScoredEpisode, RunError>)> {
        let counts = self.counts();
        self.episodes().enumerate().filter(move |(_, episode)| counts(episode))
    }

    fn counts(&self) -> impl Fn(&Result<ScoredEpisode, RunError>) -> bool + use<> {
        let watch = self.watch().ok().flatten();
        let is_after = move |episode: &ScoredEpisode| {
            watch.as_ref().is_some_and(|watch| watch.is_after_stop(&episode.trajectory.id))
        };
        move |episode| !episode.as_ref().is_ok_and(&is_after)
    }

    pub(crate) fn episode(&self, at: usize) -> Result<ScoredEpisode, RunError> {
        Ok(self.scored(self.records.trajectory(at)?))
    }

    pub(crate) fn scores(&self) -> impl Iterator<Item = Result<ScoredEpisode, RunError>> {
        self.records.iter().map(|trajectory| {
            let trajectory = trajectory?;
            let metric = self.tally.metric_for(&trajectory.answers);
            Ok(ScoredEpisode::unassessed(trajectory, metric))
        })
    }

    /// The [`scores`](Self::scores) of the [`counted_episodes`](Self::counted_episodes).
    pub(crate) fn counted_scores(&self) -> impl Iterator<Item = Result<ScoredEpisode, RunError>> {
        self.scores().filter(self.counts())
    }

    fn scored(&self, trajectory: Trajectory) -> ScoredEpisode {
        let (metric, gold) = (self.tally.metric_for(&trajectory.answers), self.evidence.get(&trajectory.id));
        ScoredEpisode::of(trajectory, metric, gold)
    }

    /// Why models find that an episode failed, one each.
    pub(crate) fn readings(&self, episode: &ScoredEpisode) -> &[Annotation] {
        self.readings.get(&episode.trajectory.key).map_or(&[], Vec::as_slice)
    }
}

/// The wrong episodes of a run, those without an answer among them, as a model reads them.
pub(crate) fn failed_episodes(run: &GradedRun) -> Result<Vec<Answer>, RunError> {
    let of = |mut scored: ScoredEpisode| {
        scored.is_right().filter(|right| !right)?;
        let episode = Some(Transcript::of(&scored.trajectory));
        scored.trajectory.answer.get_or_insert_with(|| "(none)".to_owned());
        Some(Answer { episode, ..Answer::of(scored.trajectory, false) })
    };
    run.episodes().filter_map(|scored| scored.map(of).transpose()).collect()
}

/// The judgements of people on the episodes of a run, and the readings of models as if they were people.
pub(crate) fn judgements_of(folder: &RunFolder) -> Result<(Annotations, Verdicts<Reading>), StoreError> {
    let readings = Verdicts::<Reading>::read(folder)?;
    Ok((Annotations::read(folder)?.with(readings.annotations()), readings))
}

fn readings_of(folder: &RunFolder) -> Result<HashMap<String, Vec<Annotation>>, StoreError> {
    let annotations = Annotations::default().with(Verdicts::<Reading>::read(folder)?.annotations());
    let owned = |(key, readings): (&str, Vec<&Annotation>)| (key.to_owned(), readings.into_iter().cloned().collect());
    Ok(annotations.by_key().into_iter().map(owned).collect())
}

/// The named runs, the variants whose names begin with a prefix (`RUN@v2/`), or all runs below a named folder.
pub(crate) fn runs(named: &[String]) -> Result<Vec<RunRef>, RunError> {
    let mut runs = Vec::new();
    for text in named {
        let known = RunRef::parse(text).map_or_else(|| RunRef::with_prefix(text), |run| vec![run]);
        if !known.is_empty() {
            runs.extend(known);
            continue;
        }
        let found = runs_in(Path::new(text));
        if found.is_empty() {
            let meant = RunRef::meant(text);
            if meant.path == Path::new(text) && meant.path.is_dir() {
                return Err(RunError::input(
                    format!("`{}` contains no run", meant.path.display()),
                    "name a folder created by `wikitrail run`, such as results/<run>, or one that contains such folders",
                ));
            }
            // Reports the specific error: no run, or no such variant.
            RunFolder::open(&meant.path)?;
            GradedRun::open(&meant.path)?.check_variant(&meant)?;
        }
        runs.extend(found.into_iter().map(|path| RunRef { path, variant: None }));
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::{RunRef, runs};
    use serde_json::json;

    /// A run with these variants, in a folder whose name does not say which.
    fn run(dir: &std::path::Path, variants: &[&str]) -> String {
        let run = dir.join("a:b@c");
        std::fs::create_dir(&run).expect("a folder");
        let variant = |name: &&str| {
            json!({"name": name, "protocol": "robust", "method": "react", "max_steps": 7, "prompt": "p",
                "prompt_sha256": "", "question_label": "Question", "model": "baseline", "endpoint": "none",
                "decoding": {"temperature": 0.0, "top_p": 1.0, "max_tokens": 9}, "wiki": "html", "compat": "fixed"})
        };
        let variants: Vec<_> = variants.iter().map(variant).collect();
        let manifest = json!({"v": 1, "variants": variants, "repeats": 1, "wikitrail": "0.1.0", "git_revision": null,
            "dataset": {"name": "sample", "path": "", "sha256": "", "questions": 1, "selection": {}, "selected": 1},
            "command_line": [], "started_at": "", "ended_at": null});
        std::fs::write(run.join("manifest.json"), manifest.to_string()).expect("a manifest");
        run.to_str().expect("UTF-8").to_owned()
    }

    #[test]
    fn a_prefix_names_variants_of_a_matrix() {
        let dir = tempfile::tempdir().expect("a folder");
        let run = run(dir.path(), &["v1/m", "v2/m", "v2/n", "v20/m", "v2"]);
        let named = |typed: &str| {
            let found = runs(&[format!("{run}@{typed}")]).expect("variants");
            found.into_iter().filter_map(|run| run.variant).collect::<Vec<_>>()
        };
        assert_eq!(named("v2/"), ["v2/m", "v2/n"]);
        assert_eq!(named("v2"), ["v2"]);
        assert!(runs(&[format!("{run}@v3/")]).is_err());
    }

    #[test]
    fn a_short_name_means_its_variant() {
        let dir = tempfile::tempdir().expect("a folder");
        let run = run(dir.path(), &["v1/robust/temperature=0", "v2/robust/temperature=0", "v2/robust/temperature=0.7"]);
        for typed in ["v2/t=0.7", "v2/robust/temperature=0.7"] {
            let found = RunRef::parse(&format!("{run}@{typed}")).expect("a variant");
            assert_eq!(found.variant.as_deref(), Some("v2/robust/temperature=0.7"), "{typed}");
        }
        assert_eq!(RunRef::parse(&format!("{run}@v1/t=0.7")), None);
        let (found, id) = RunRef::with_id(&format!("{run}@v1/t=0:q:1")).expect("a question");
        assert_eq!((found.variant.as_deref(), id.as_str()), (Some("v1/robust/temperature=0"), "q:1"));
    }

    #[test]
    fn a_run_is_parted_from_variant_and_id_where_they_exist() {
        let dir = tempfile::tempdir().expect("a folder");
        let run = run(dir.path(), &["x/y", "m", "m:1", "a@b"]);
        let named = |variant: &str| RunRef { path: run.clone().into(), variant: Some(variant.into()) };
        let whole = RunRef { path: run.clone().into(), variant: None };
        assert_eq!(RunRef::parse(&run), Some(whole.clone()));
        for variant in ["x/y", "m:1", "a@b"] {
            let typed = format!("{run}@{variant}");
            assert_eq!(RunRef::parse(&typed), Some(named(variant)));
            assert_eq!(named(variant).typed(), typed);
            assert_eq!(RunRef::with_id(&format!("{typed}:q:1@2")), Some((named(variant), "q:1@2".into())));
        }
        for text in [format!("{run}@"), format!("{run}@n"), format!("{run}/none"), format!("{run}@m:q")] {
            assert_eq!(RunRef::parse(&text), None, "{text}");
        }
        assert_eq!(RunRef::with_id(&run), None);
        assert_eq!(RunRef::with_id(&format!("{run}@n:q")), None);
        assert_eq!(RunRef::with_id(&format!("{run}@m:q:1")), Some((named("m"), "q:1".into())));
        assert_eq!(RunRef::with_id(&format!("{run}:q:1@2")), Some((whole.clone(), "q:1@2".into())));
        assert_eq!(RunRef::meant(&format!("{run}@n")), named("n"));
        assert_eq!(RunRef::meant("nothing"), RunRef { path: "nothing".into(), variant: None });
    }
}
