//! From what is named on the command line to the columns that are compared.

use crate::cli::failure::Failure;
use crate::cli::graded::{Graded, GradedRun};
use crate::cli::run_ref::RunRef;
use crate::compare::{self, Gold, Item};
use crate::score::{FailureClass, Figure, GoldEvidence};
use crate::store::RunFolder;
use crate::types::text::visible_line;
use crate::types::{DatasetRecord, Pairs, Question, Variant};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How far below an experiment's folder its runs are looked for.
const DEPTH: usize = 3;

/// One variant of one run.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// The run, and the variant's name in it.
    pub(super) run: RunRef,
    /// Where it comes from; absent for a table of figures.
    pub(super) origin: Option<Origin>,
    pub(super) episodes: Rc<[Episode]>,
}

/// What a column was made with.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) variant: Variant,
    pub(super) dataset: DatasetRecord,
    pub(super) repeats: u32,
    /// Version of the program.
    pub(super) wikitrail: String,
    /// How many variants the run has.
    pub(super) variants: usize,
    /// The pairs that the run's experiment compares.
    pub(super) pairs: Pairs,
}

/// One question under one variant, once.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Episode {
    pub(super) id: String,
    pub(super) repeat: u32,
    /// Whether there is a measurement at all.
    pub(super) measured: bool,
    /// Value of each figure that is compared, in their order; absent where it was not measured.
    pub(super) values: Vec<Option<f64>>,
    /// Whether the answer is right; absent where that is not known.
    pub(super) right: Option<bool>,
    pub(super) class: Option<FailureClass>,
    /// The official gold answer.
    pub(super) gold: Option<String>,
    /// What the dataset says of it, where that is asked for.
    pub(super) evidence: Option<Rc<Gold>>,
    pub(super) question: String,
    pub(super) cluster: Option<String>,
    /// Fields by which results are broken down, in the order in which they were asked for.
    pub(super) groups: Vec<Option<String>>,
}

/// A field of a question by which results are broken down or clustered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Field {
    Cluster,
    Type,
    Level,
    /// How many gold pages the question needs.
    Hops,
    AnswerKind,
    /// The first gold page.
    Page,
    /// Any other field of the record.
    Meta(String),
}

pub(super) struct Wanted<'a> {
    pub(super) figures: &'a [&'static Figure],
    pub(super) cluster: Option<&'a Field>,
    pub(super) by: &'a [Field],
    /// Whether the gold pages are asked for.
    pub(super) gold_pages: bool,
}

impl Source {
    /// The run as `show` takes it.
    pub(super) fn typed(&self) -> String {
        let alone = self.origin.as_ref().is_some_and(|origin| origin.variants == 1);
        if alone { self.run.path.display().to_string() } else { self.run.typed() }
    }

    /// The figures alone, under that name.
    pub(super) fn column(&self, name: &str, figures: &[String], fields: &[Field]) -> compare::Variant {
        let fields = fields.iter().map(|field| field.name().to_owned()).collect();
        let mut column = compare::Variant::new(name, figures.to_vec(), fields);
        column.items = self.episodes.iter().map(Episode::item).collect();
        column
    }
}

impl Field {
    pub(super) fn parse(name: &str) -> Self {
        match name.trim() {
            "cluster" => Self::Cluster,
            "type" => Self::Type,
            "level" => Self::Level,
            "hops" => Self::Hops,
            "answer_kind" => Self::AnswerKind,
            "page" => Self::Page,
            other => Self::Meta(other.strip_prefix("meta.").unwrap_or(other).to_owned()),
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Cluster => "cluster",
            Self::Type => "type",
            Self::Level => "level",
            Self::Hops => "hops",
            Self::AnswerKind => "answer_kind",
            Self::Page => "page",
            Self::Meta(name) => name,
        }
    }

    pub(super) fn of(&self, question: &Question) -> Option<String> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match self {
            Self::Cluster => question.cluster.clone(),
            Self::Type => question.kind.clone(),
            Self::Level => question.level.clone(),
            Self::Hops => hops(question).map(|hops| hops.to_string()),
            Self::AnswerKind => serde_json::to_value(question.answer_kind).ok().as_ref().map(text),
            Self::Page => Some(GoldEvidence::of(question)?.groups().first()?.pages.first()?.clone()),
            Self::Meta(name) => question.meta.get(name).filter(|value| !value.is_null()).map(text),
        }
    }
}

/// Pages that the shortest way to the answer needs; where the dataset names none, the parts of its decomposition.
fn hops(question: &Question) -> Option<usize> {
    let pages =
        GoldEvidence::of(question).and_then(|evidence| evidence.groups().iter().map(|group| group.pages.len()).min());
    pages.or_else(|| Some(question.decomposition.len()).filter(|parts| *parts > 0))
}

/// The named runs, or all runs below a named folder.
pub(super) fn runs(named: &[String]) -> anyhow::Result<Vec<RunRef>> {
    let mut runs = Vec::new();
    for text in named {
        if let Some(run) = RunRef::parse(text) {
            runs.push(run);
            continue;
        }
        let mut below = Vec::new();
        runs_below(Path::new(text), DEPTH, &mut below);
        if below.is_empty() {
            let meant = RunRef::meant(text);
            // Reports the specific error: no run, or no such variant.
            RunFolder::open(&meant.path)?;
            GradedRun::open(&meant.path)?.check_variant(&meant)?;
        }
        below.sort();
        runs.extend(below.into_iter().map(|path| RunRef { path, variant: None }));
    }
    Ok(runs)
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

/// The named variants of runs, in the order of their names; a run without a variant means all of its own.
pub(super) fn load(runs: &[RunRef], wanted: &Wanted<'_>) -> anyhow::Result<Vec<Source>> {
    let mut read: HashMap<&Path, Vec<Source>> = HashMap::new();
    let mut sources = Vec::new();
    for run in runs {
        let is_named = |source: &&Source| run.variant.is_none() || run.variant == source.run.variant;
        // Variants of one run share a file, which is read once.
        if !read.contains_key(run.path.as_path()) {
            let named = runs.iter().filter(|other| other.path == run.path).map(|other| other.variant.as_deref());
            read.insert(&run.path, load_run(&run.path, &named.collect::<Vec<_>>(), wanted)?);
        }
        sources.extend(read[run.path.as_path()].iter().filter(is_named).cloned());
    }
    Ok(sources)
}

/// The named variants of one run; all where one of the names is absent.
fn load_run(path: &Path, named: &[Option<&str>], wanted: &Wanted<'_>) -> anyhow::Result<Vec<Source>> {
    let mut fields: HashMap<String, Fields> = HashMap::new();
    let graded = GradedRun::open_with(path, |question| {
        fields.insert(question.id.clone(), Fields::of(question, wanted));
    })?;
    if graded.evidence.missing.is_some() {
        fields.clear();
    }
    let Some(manifest) = graded.manifest.clone() else {
        return Err(Failure::bad_input(
            format!("`{}` is a file, not a run's folder", path.display()),
            "compare takes run folders; use --from-csv for tables of figures",
        ));
    };
    let is_named = |variant: &str| named.iter().any(|name| name.is_none_or(|name| name == variant));
    let mut read: HashMap<&str, Vec<Episode>> = manifest
        .variants
        .iter()
        .filter(|variant| is_named(&variant.name))
        .map(|variant| (variant.name.as_str(), Vec::new()))
        .collect();
    for episode in graded.episodes() {
        let episode = episode?;
        if let Some(episodes) = read.get_mut(episode.trajectory.variant.as_str()) {
            let fields = fields.get(&episode.trajectory.id);
            episodes.push(Episode::of(episode, fields, wanted));
        }
    }
    let pairs = manifest.experiment.as_ref().map(|experiment| experiment.pairs.clone()).unwrap_or_default();
    let mut sources = Vec::new();
    for variant in &manifest.variants {
        let Some(episodes) = read.remove(variant.name.as_str()) else { continue };
        let run = RunRef { path: path.to_owned(), variant: Some(variant.name.clone()) };
        if episodes.is_empty() {
            return Err(Failure::bad_input(
                format!("`{}` has no finished episode yet", visible_line(&run.typed(), 200)),
                "finish the run with --resume, or name another run",
            ));
        }
        let origin = Origin {
            variant: variant.clone(),
            dataset: manifest.dataset.clone(),
            repeats: manifest.repeats,
            wikitrail: manifest.wikitrail.clone(),
            variants: manifest.variants.len(),
            pairs: pairs.clone(),
        };
        sources.push(Source { run, origin: Some(origin), episodes: episodes.into() });
    }
    Ok(sources)
}

/// What of a question results are clustered and broken down by.
struct Fields {
    cluster: Option<String>,
    groups: Vec<Option<String>>,
    evidence: Option<Rc<Gold>>,
}

impl Fields {
    fn of(question: &Question, wanted: &Wanted<'_>) -> Self {
        Self {
            cluster: wanted.cluster.and_then(|field| field.of(question)),
            groups: wanted.by.iter().map(|field| field.of(question)).collect(),
            evidence: wanted.gold_pages.then(|| gold(question)),
        }
    }
}

fn gold(question: &Question) -> Rc<Gold> {
    let mut pages: Vec<String> = Vec::new();
    for page in GoldEvidence::of(question).iter().flat_map(GoldEvidence::groups).flat_map(|group| &group.pages) {
        if !pages.contains(page) {
            pages.push(page.clone());
        }
    }
    Rc::new(Gold { pages, answers: question.answers.clone(), kind: question.answer_kind })
}

impl Episode {
    fn of(graded: Graded, fields: Option<&Fields>, wanted: &Wanted<'_>) -> Self {
        Self {
            measured: graded.trajectory.measured(),
            values: wanted.figures.iter().map(|figure| figure.value(&graded.episode())).collect(),
            right: graded.score.map(|score| score.em > 0.0),
            class: graded.assessment.as_ref().and_then(|assessment| Some(assessment.failure.as_ref()?.class)),
            gold: graded.trajectory.answers.first().cloned(),
            evidence: fields.and_then(|fields| fields.evidence.clone()),
            cluster: fields.and_then(|fields| fields.cluster.clone()),
            groups: fields.map_or_else(|| vec![None; wanted.by.len()], |fields| fields.groups.clone()),
            id: graded.trajectory.id,
            repeat: graded.trajectory.repeat,
            question: graded.trajectory.question,
        }
    }

    fn item(&self) -> Item {
        Item {
            question: self.id.clone(),
            repeat: self.repeat,
            cluster: self.cluster.clone(),
            measured: self.measured,
            values: self.values.clone(),
            groups: self.groups.clone(),
        }
    }
}

/// The pairs that the experiment compares, as far as their variants are among these, and a warning of those that are not.
/// All pairs if the runs do not have the same ones.
pub(super) fn planned(sources: &[Source], names: &[String]) -> (Pairs, Option<String>) {
    let of = |source: &Source| source.origin.as_ref().map(|origin| origin.pairs.clone());
    let first =
        sources.first().and_then(of).filter(|first| sources.iter().all(|source| of(source).as_ref() == Some(first)));
    let Pairs { baseline, contrasts } = first.unwrap_or_default();
    let (contrasts, absent): (Vec<_>, Vec<_>) =
        contrasts.into_iter().partition(|pair| pair.iter().all(|name| names.contains(name)));
    let absent: Vec<String> = absent.into_iter().map(|[a, b]| format!("{b} - {a}")).collect();
    let warning = (!absent.is_empty())
        .then(|| format!("contrasts of the experiment without their variants are left out: {}", absent.join(", ")));
    (Pairs { baseline: baseline.filter(|name| names.contains(name)), contrasts }, warning)
}

/// Short names of the variants: with the run's name in front unless unique.
pub(super) fn names(sources: &[Source]) -> Vec<String> {
    let variant = |source: &Source| source.run.variant.clone().unwrap_or_default();
    let folder = |source: &Source| {
        let name = source.run.path.file_name().map(|name| name.to_string_lossy().into_owned());
        format!("{}/{}", name.unwrap_or_else(|| source.run.path.display().to_string()), variant(source))
    };
    let whole = |source: &Source| format!("{}/{}", source.run.path.display(), variant(source));
    let forms: [&dyn Fn(&Source) -> String; 3] = [&variant, &folder, &whole];
    let mut names: Vec<String> = Vec::with_capacity(sources.len());
    for source in sources {
        let unique = |form: &&&dyn Fn(&Source) -> String| {
            sources.iter().filter(|other| form(other) == form(source)).count() == 1
        };
        let name = forms.iter().find(unique).map_or_else(|| folder(source), |form| form(source));
        // A variant may be compared with itself.
        let same = names.iter().filter(|other| **other == name || other.starts_with(&format!("{name}#"))).count();
        names.push(if same == 0 { name } else { format!("{name}#{}", same + 1) });
    }
    names
}
