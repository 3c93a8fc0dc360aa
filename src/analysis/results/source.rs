//! Variants of runs, or of tables of figures such as exports, with the figures of their episodes: what is compared.

use super::{EpisodeName, Field, GradedRun, JoinedMetric, RunRef, folder_name};
use crate::analysis::compare::{self, Gold, Item, NamedFigure, StoppedRun};
use crate::base::short_names::ShortNames;
use crate::base::stats::Interval;
use crate::base::text::{joined, visible_line};
use crate::base::{Manifest, Outcome, Pairs, Question, StopRule, Variant};
use crate::dataset::{DatasetError, Problem, ScoreRow, ScoreTable, bytes_of, read_scores};
use crate::runner::RunError;
use crate::scoring::{FailureClass, Figure, GoldEvidence, Metric, ScoredEpisode, Unit, figure, float};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// The run, and the variant's name in it.
    pub(crate) run: RunRef,
    /// Where it comes from; absent for a table of figures.
    pub(crate) origin: Option<Origin>,
    /// Its episodes, repeat by repeat; none of a run that was killed before any ended.
    pub(crate) episodes: Rc<[Episode]>,
}

#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) variant: Variant,
    pub(crate) manifest: Rc<Manifest>,
    pub(crate) graded: Rc<GradedRun>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Episode {
    pub(crate) item: Item,
    pub(crate) at: usize,
    /// The metric of its score; absent for a table of figures, and where the gold is hidden.
    pub(crate) metric: Option<Metric>,
    /// Whether the answer is right; absent where that is not known.
    pub(crate) right: Option<bool>,
    pub(crate) class: Option<FailureClass>,
    pub(crate) gold: Option<String>,
    /// Of all accepted answers, whatever their order; for a table of figures 0.
    pub(crate) answers_hash: u64,
    /// What the dataset says of it, where that is asked for.
    pub(crate) evidence: Option<Rc<Gold>>,
    pub(crate) question: String,
    pub(crate) answer: Option<String>,
    /// How it ended; absent for a table of figures.
    pub(crate) outcome: Option<Outcome>,
}

#[derive(Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) figures: &'a [&'static Figure],
    /// Metrics from files, whose values come behind those of the figures.
    pub(crate) joined: &'a [JoinedMetric],
    pub(crate) cluster: Option<&'a Field>,
    pub(crate) by: &'a [Field],
    pub(crate) gold_pages: bool,
}

impl Source {
    /// Its settings; absent for a table of figures, as its manifest is.
    pub(crate) fn variant(&self) -> Option<&Variant> {
        self.origin.as_ref().map(|origin| &origin.variant)
    }

    pub(crate) fn manifest(&self) -> Option<&Manifest> {
        self.origin.as_ref().map(|origin| &*origin.manifest)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.episodes.iter().map(|episode| episode.item.id.as_str())
    }

    /// The run as `show` takes it.
    pub(crate) fn typed(&self) -> String {
        let alone = self.manifest().is_some_and(|manifest| manifest.variants.len() == 1);
        if alone { self.run.path.display().to_string() } else { self.run.typed() }
    }

    /// The pairs that its experiment compares, all where it names none; absent for a table of figures.
    pub(crate) fn pairs(&self) -> Option<Pairs> {
        let experiment = self.manifest()?.experiment.as_ref();
        Some(experiment.map(|experiment| experiment.pairs.clone()).unwrap_or_default())
    }

    /// The figures alone, under that name.
    pub(crate) fn column(&self, name: &str, figures: &[String], fields: &[Field]) -> compare::Variant {
        let fields = fields.iter().map(|field| field.name().to_owned()).collect();
        let mut column = compare::Variant::new(name, figures.to_vec(), fields);
        column.items = self.episodes.iter().map(|episode| episode.item.clone()).collect();
        column.resume = self.manifest().and_then(|manifest| manifest.resume_command(&self.run.path));
        column
    }
}

/// Names EM for what it is, and bounds the figures that count steps by `--max-steps` of these sources; `names` are those of the episodes' values.
pub(crate) fn bound(figures: &mut [NamedFigure], names: &[String], sources: &[Source]) {
    const COUNTS_OF_STEPS: [&Figure; 4] =
        [&figure::STEPS, &figure::SEARCHES, &figure::LOOKUPS, &figure::MISSED_SEARCHES];
    name_accuracy(figures, sources);
    let limits: Option<Vec<usize>> = sources.iter().map(|source| source.variant()?.max_steps).collect();
    let Some(most) = limits.and_then(|limits| limits.into_iter().max()) else { return };
    let range = Interval { low: 0.0, high: float(most) };
    for figure in figures.iter_mut().filter(|figure| figure.range.is_none()) {
        let Some(at) = names.iter().position(|name| *name == figure.name) else { continue };
        let values =
            || sources.iter().flat_map(|source| source.episodes.iter()).filter_map(|episode| episode.item.values[at]);
        // A back-off or a vote may take more steps than one agent.
        let counts_steps = most > 0 && COUNTS_OF_STEPS.iter().any(|counts| counts.name == figure.name);
        if counts_steps && values().all(|value| range.contains(value)) {
            figure.range = Some(range);
        }
    }
}

/// Calls EM an accuracy where every answer of these variants is right or wrong and nothing between, as those of FEVER.
pub(crate) fn name_accuracy(figures: &mut [NamedFigure], sources: &[Source]) {
    let mut metrics =
        sources.iter().flat_map(|source| &*source.episodes).filter_map(|episode| episode.metric).peekable();
    let accuracy = metrics.peek().is_some() && metrics.all(Metric::is_accuracy);
    figures.iter_mut().filter(|figure| figure.name == figure::EM.name).for_each(|figure| figure.accuracy = accuracy);
}

/// The named variants of runs, in the order of their names; a run without a variant means all of its own.
///
/// The second list holds what a reader should know of them, a sentence each.
pub(crate) fn load(runs: &[RunRef], wanted: &Wanted<'_>) -> Result<(Vec<Source>, Vec<String>), RunError> {
    let mut read: HashMap<&Path, Vec<Source>> = HashMap::new();
    let (mut sources, mut notes) = (Vec::new(), Vec::new());
    for run in runs {
        let is_named = |source: &&Source| run.variant.is_none() || run.variant == source.run.variant;
        // Variants of one run share a file, which is read once.
        if !read.contains_key(run.path.as_path()) {
            let named = runs.iter().filter(|other| other.path == run.path).map(|other| other.variant.as_deref());
            read.insert(&run.path, load_run(&run.path, &named.collect::<Vec<_>>(), wanted, &mut notes)?);
        }
        sources.extend(read[run.path.as_path()].iter().filter(is_named).cloned());
    }
    Ok((sources, notes))
}

/// The named variants of one run; all where one of the names is absent.
fn load_run(
    path: &Path,
    named: &[Option<&str>],
    wanted: &Wanted<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<Source>, RunError> {
    let mut asked: HashMap<String, Episode> = HashMap::new();
    let graded = GradedRun::open_with(path, None, |question| {
        asked.insert(question.id.clone(), Episode::of_question(question, wanted));
    })?;
    notes.extend_from_slice(&graded.notes);
    if graded.evidence.missing.is_some() {
        asked.clear();
    }
    let Some(manifest) = graded.manifest.clone().map(Rc::new) else {
        let message = format!("`{}` is a file, not a run's folder", path.display());
        return Err(RunError::input(message, "compare takes run folders; use --from-csv for tables of figures"));
    };
    let is_named = |variant: &str| named.iter().any(|name| name.is_none_or(|name| name == variant));
    let mut read: HashMap<&str, Vec<Episode>> = manifest
        .variants
        .iter()
        .filter(|variant| is_named(&variant.name))
        .map(|variant| (variant.name.as_str(), Vec::new()))
        .collect();
    let run = folder_name(path);
    for (at, episode) in graded.counted_episodes() {
        let episode = episode?;
        if let Some(episodes) = read.get_mut(episode.trajectory.variant.as_str()) {
            let asked = asked.get(&episode.trajectory.id);
            episodes.push(Episode::of(&run, at, episode, asked, wanted));
        }
    }
    let graded = Rc::new(graded);
    let mut sources = Vec::new();
    for variant in &manifest.variants {
        let Some(episodes) = read.remove(variant.name.as_str()) else { continue };
        let run = RunRef { path: path.to_owned(), variant: Some(variant.name.clone()) };
        let origin = Origin { variant: variant.clone(), manifest: Rc::clone(&manifest), graded: Rc::clone(&graded) };
        sources.push(Source { run, origin: Some(origin), episodes: episodes.into() });
    }
    Ok(sources)
}

fn gold(question: &Question) -> Rc<Gold> {
    let (evidence, mut known) = (GoldEvidence::of(question), HashSet::new());
    let pages = evidence.iter().flat_map(GoldEvidence::groups).flat_map(|group| &group.pages);
    let pages = pages.filter(|page| known.insert(*page)).cloned().collect();
    Rc::new(Gold { pages, answers: question.answers.clone(), kind: question.answer_kind })
}

impl Episode {
    /// What all episodes of a question share: its cluster, its groups and its gold pages.
    fn of_question(question: &Question, wanted: &Wanted<'_>) -> Self {
        let cluster = wanted.cluster.and_then(|field| field.of(question));
        let groups = wanted.by.iter().map(|field| field.of(question)).collect();
        let item = Item { cluster, groups, ..Item::default() };
        Self { item, evidence: wanted.gold_pages.then(|| gold(question)), ..Self::default() }
    }

    fn of(run: &str, at: usize, scored: ScoredEpisode, asked: Option<&Self>, wanted: &Wanted<'_>) -> Self {
        let measured = scored.trajectory.measured();
        let name = EpisodeName::of(run, &scored.trajectory);
        let joined = wanted.joined.iter().map(|metric| metric.value(name).filter(|_| measured));
        let missing = wanted
            .joined
            .iter()
            .zip(wanted.figures.len()..)
            .filter(|(metric, _)| metric.lacks(name, scored.score.is_some()));
        let item = Item {
            id: scored.trajectory.id.clone(),
            repeat: scored.trajectory.repeat,
            cluster: asked.and_then(|asked| asked.item.cluster.clone()),
            measured,
            missing: missing.map(|(_, at)| at).collect(),
            values: wanted.figures.iter().map(|figure| figure.value(&scored)).chain(joined).collect(),
            groups: asked.map_or_else(|| vec![None; wanted.by.len()], |asked| asked.item.groups.clone()),
            ..Item::default()
        };
        Self {
            item,
            at,
            metric: Some(scored.metric).filter(|_| !scored.trajectory.answers.is_empty()),
            right: scored.is_right(),
            class: scored.class(),
            gold: scored.trajectory.answers.first().cloned(),
            answers_hash: answers_hash(&scored.trajectory.answers),
            evidence: asked.and_then(|asked| asked.evidence.clone()),
            question: scored.trajectory.question,
            answer: scored.trajectory.answer,
            outcome: Some(scored.trajectory.outcome),
        }
    }
}

fn answers_hash(answers: &[String]) -> u64 {
    let mut sorted: Vec<&String> = answers.iter().collect();
    sorted.sort_unstable();
    let mut hasher = DefaultHasher::new();
    sorted.hash(&mut hasher);
    hasher.finish()
}

pub(crate) fn planned_of(sources: &[Source], names: &[String]) -> (Pairs, Option<String>) {
    planned(&sources.iter().map(Source::pairs).collect::<Vec<_>>(), names)
}

/// The pairs that the experiment compares, as far as their variants are among these, and a warning of those that are not.
/// All pairs if the runs do not have the same ones.
/// `pairs` is what [`Source::pairs`] says of each.
pub(crate) fn planned(pairs: &[Option<Pairs>], names: &[String]) -> (Pairs, Option<String>) {
    let first = pairs.first().filter(|first| pairs.iter().all(|other| other == *first));
    let Pairs { baseline, contrasts } = first.cloned().flatten().unwrap_or_default();
    let (contrasts, absent): (Vec<_>, Vec<_>) =
        contrasts.into_iter().partition(|pair| pair.iter().all(|name| names.contains(name)));
    let absent = joined(absent.into_iter().map(|[a, b]| format!("{b} - {a}")), ", ");
    let warning = absent.map(|of| format!("contrasts of the experiment without their variants are left out: {of}"));
    (Pairs { baseline: baseline.filter(|name| names.contains(name)), contrasts }, warning)
}

/// Short names of the variants: unless unique, with as many folders of the run in front as tell it from the others.
pub(crate) fn names(sources: &[Source]) -> Vec<String> {
    let form = |source: &Source, folders: usize| {
        let parts =
            source.run.path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
        let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
        let variant = source.run.variant.clone().unwrap_or_default();
        let last = parts[parts.len() - folders.min(parts.len())..].iter().map(|part| &**part);
        last.chain([variant.as_str()]).collect::<Vec<_>>().join("/")
    };
    let depth = sources.iter().map(|source| source.run.path.components().count()).max().unwrap_or_default();
    let mut names: Vec<String> = Vec::with_capacity(sources.len());
    for source in sources {
        let is_unique = |folders: &usize| {
            let own = form(source, *folders);
            sources.iter().filter(|other| form(other, *folders) == own).count() == 1
        };
        let name = form(source, (0..=depth).find(is_unique).unwrap_or(1));
        // A variant may be compared with itself.
        let same = names.iter().filter(|other| **other == name || other.starts_with(&format!("{name}#"))).count();
        names.push(if same == 0 { name } else { format!("{name}#{}", same + 1) });
    }
    names
}

/// What tables call these variants: each as in its own run, and all whole if two of them would have the same name.
pub(crate) fn short_names(sources: &[Source], names: &[String]) -> ShortNames {
    let short = |(source, name): (&Source, &String)| {
        let variant = source.run.variant.as_deref().unwrap_or_default();
        let of_run = sources.iter().filter(|other| other.run.path == source.run.path);
        let of_table = || ShortNames::of(of_run.filter_map(|other| other.run.variant.as_deref()));
        let of_run = source.manifest().map_or_else(of_table, Manifest::short_names);
        // A run's name may be in front, and the number of a variant that is named twice behind.
        let around = name.rsplit_once(variant).filter(|_| !variant.is_empty());
        let short = around.map(|(before, after)| format!("{before}{}{after}", of_run.of_name(variant)));
        (name.clone(), short.unwrap_or_else(|| name.clone()))
    };
    ShortNames::of_pairs(sources.iter().zip(names).map(short).collect())
}

/// The runs among these variants that a rule could stop, and what it found. `names` are the variants' names in the comparison.
pub(crate) fn stopped(sources: &[Source], names: &[String]) -> Result<Vec<StoppedRun>, RunError> {
    let (mut read, mut runs): (Vec<&Path>, Vec<StoppedRun>) = (Vec::new(), Vec::new());
    for source in sources {
        let (path, Some(origin)) = (source.run.path.as_path(), &source.origin) else { continue };
        let Some(rule) = origin.manifest.stop_when.clone().filter(|_| !read.contains(&path)) else { continue };
        read.push(path);
        let of_run = || sources.iter().zip(names).filter(|(other, _)| other.run.path == path);
        let name_of = |variant: &str| {
            of_run().find(|(other, _)| other.run.variant.as_deref() == Some(variant)).map(|(_, name)| name.clone())
        };
        runs.push(StoppedRun {
            variants: of_run().map(|(_, name)| name.clone()).collect(),
            pair: name_of(&rule.a).zip(name_of(&rule.b)).map(|(a, b)| [a, b]),
            found: origin.graded.stopping()?,
            rule,
        });
    }
    Ok(runs)
}

/// The variants in tables, and the figures that each has: those that are asked for, and EM where all have it.
pub(crate) fn table_sources(
    paths: &[PathBuf],
    mut figures: Vec<String>,
    fields: &[Field],
    cluster: Option<&Field>,
) -> Result<(Vec<Source>, Vec<String>), RunError> {
    let texts: Vec<String> = fields.iter().chain(cluster).flat_map(columns_of).collect();
    let tables =
        paths.iter().map(|path| Ok((path.clone(), read_table(path, &texts)?))).collect::<Result<Vec<_>, RunError>>()?;
    // EM decides whether an answer flipped.
    let has_em = |(_, table): &(PathBuf, ScoreTable)| table.figures.iter().any(|name| name == "em");
    if !figures.iter().any(|name| name == "em") && tables.iter().all(has_em) {
        figures.push("em".to_owned());
    }
    let of_table = |(path, table): &(PathBuf, ScoreTable)| table_variants(path, table, &figures, fields, cluster);
    let found = tables.iter().map(of_table).collect::<Result<Vec<_>, RunError>>()?;
    Ok((found.concat(), figures))
}

fn read_table(path: &Path, texts: &[String]) -> Result<ScoreTable, RunError> {
    let shown = path.display().to_string();
    let bytes = bytes_of(path).map_err(|error| match error.problem {
        Problem::Io(error) => {
            RunError::input(format!("cannot read the table `{shown}`: {error}"), "check the path of the file")
        }
        _ => error.into(),
    })?;
    read_scores(&shown, &bytes, texts).map_err(explain_table)
}

/// The error of a table; its hint is about tables rather than datasets.
fn explain_table(error: DatasetError) -> RunError {
    let hint = match &error.problem {
        Problem::NoColumn(..) => "the first line names the columns; `id` is needed, `em` and `f1` are usual",
        Problem::Field(..) => "correct the cell, or leave it empty if nothing was measured",
        Problem::Duplicate(..) => {
            "distinguish repeats by a column `repeat`, and variants by a column `variant` or a file for each; `wikitrail export \
             RUN --out FILE` writes one run"
        }
        Problem::Empty => "a table has a header and at least one row",
        _ => return error.into(),
    };
    RunError::input(error, hint)
}

/// The variants in a file with these figures, each under its name if the file has several, else under the file's; a figure
/// that the file lacks is an error.
fn table_variants(
    path: &Path,
    table: &ScoreTable,
    figures: &[String],
    fields: &[Field],
    cluster: Option<&Field>,
) -> Result<Vec<Source>, RunError> {
    let place = |figure: &String| {
        table.figures.iter().position(|name| name == figure).ok_or_else(|| no_figure(path, table, figure))
    };
    let places = figures.iter().map(place).collect::<Result<Vec<usize>, RunError>>()?;
    let em = table.figures.iter().position(|name| name == "em");
    // An export has counts of 0, such as steps, for an episode that was not measured.
    let is_count = |name: &str| Figure::named(name).is_some_and(|figure| figure.unit() == Unit::Amount);
    // A question may have no gold pages: their figures are empty, in an export too.
    let is_retrieval = |name: &str| {
        Figure::named(name).is_some_and(|figure| figure.unit() == Unit::Share) && !StopRule::METRICS.contains(&name)
    };
    let telling: Vec<usize> =
        figures.iter().zip(&places).filter(|(name, _)| !is_count(name)).map(|(_, place)| *place).collect();
    let measured = |row: &ScoreRow| {
        let of_all = || row.values.iter().any(Option::is_some);
        if telling.is_empty() { of_all() } else { telling.iter().any(|place| row.values[*place].is_some()) }
    };
    let item = |row: &ScoreRow| Item {
        id: row.id.clone(),
        repeat: row.repeat,
        measured: measured(row),
        values: places.iter().map(|place| row.values[*place]).collect(),
        missing: (0..places.len())
            .filter(|at| row.values[places[*at]].is_none() && !is_retrieval(&figures[*at]))
            .collect(),
        cluster: cluster.and_then(|field| cell(row, field)),
        groups: fields.iter().map(|field| cell(row, field)).collect(),
        ..Item::default()
    };
    let right = |row: &ScoreRow| em.and_then(|em| row.values[em]).map(|em| em > 0.0);
    let episode = |row: &ScoreRow| Episode { item: item(row), right: right(row), ..Episode::default() };
    let (all, mut known) = (table.rows.iter().map(|row| row.variant.as_deref()), HashSet::new());
    let names: Vec<Option<&str>> = all.filter(|name| known.insert(*name)).collect();
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let source = |name: Option<&str>| {
        let variant = if names.len() > 1 { name.map(str::to_owned).or_else(|| stem.clone()) } else { stem.clone() };
        let rows = table.rows.iter().filter(|row| row.variant.as_deref() == name);
        Source { run: RunRef { path: path.to_owned(), variant }, origin: None, episodes: rows.map(episode).collect() }
    };
    Ok(names.iter().copied().map(source).collect())
}

/// The columns that a field may be in: exports call a field of the dataset's own `meta.NAME`.
fn columns_of(field: &Field) -> Vec<String> {
    let name = field.name().to_owned();
    if let Field::Meta(_) = field { vec![format!("meta.{name}"), name] } else { vec![name] }
}

fn cell(row: &ScoreRow, field: &Field) -> Option<String> {
    columns_of(field).iter().find_map(|column| row.texts.get(column).cloned())
}

fn no_figure(path: &Path, table: &ScoreTable, figure: &str) -> RunError {
    let (shown, path) = (visible_line(figure, 60), path.display());
    let known = || joined(table.figures.iter().map(|name| visible_line(name, 40)), ", ");
    match table.others.iter().find(|other| other.column == *figure) {
        Some(other) => RunError::input(
            format!("`{path}`, line {}, column `{shown}`: expected a number, found `{}`", other.line, other.value),
            "correct the cell, or leave it empty if nothing was measured",
        ),
        None => RunError::input(
            format!("`{path}` has no column `{shown}`"),
            format!("its columns of numbers are {}", known().as_deref().unwrap_or("none")),
        ),
    }
}
