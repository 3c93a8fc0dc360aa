//! Comparisons of runs and tables as a person asks for them: what is read, paired, warned of and judged by conditions.

use crate::analysis::compare::conditions::{Argument, ConditionResult, Terms, evaluate};
use crate::analysis::compare::settings::canonical;
use crate::analysis::compare::{
    Comparison, EXPENSES, Item, MOST_PAIRS, Matching, NamedFigure, Optimism, PAIRED_BY_ID, Settings, Variant,
    among_all, compare, efforts, optimism, pairs_of,
};
use crate::analysis::report::comparison::{ComparisonExtras, FlipList};
use crate::analysis::report::progress::stage_bar;
use crate::analysis::results::{
    self, CorrectedFigure, EpisodeName, Field, Holdout, JUDGE, JoinedMetric, JudgedRuns, Looks, RunRef, Source, Wanted,
    differences, folder_name, with_judges, with_recorded,
};
use crate::analysis::{Notify, flip_lists, warn};
use crate::base::short_names::ShortNames;
use crate::base::stats::Interval;
use crate::base::text::{counted, visible_line};
use crate::base::{ExperimentRecord, Manifest, Pairs};
use crate::runner::RunError;
use crate::scoring::{ClosedBook, Figure, Pass, RightAnswers, closed_book_sentences, closed_books_within, figure};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Flipped answers of a pair that are listed.
const DEFAULT_FLIPS: usize = 20;

pub(crate) struct CompareRequest<'t> {
    /// Runs as they were typed; nothing where tables are compared.
    pub(crate) runs: Vec<String>,
    pub(crate) tables: Vec<PathBuf>,
    pub(crate) baseline: Option<String>,
    /// The setting whose values are compared, all others held equal.
    pub(crate) within: Option<String>,
    /// Names of variants, two for each pair.
    pub(crate) contrast: Vec<String>,
    pub(crate) metric: Vec<String>,
    pub(crate) bounds: Vec<Bounds>,
    /// Metrics that are not figures of every run.
    pub(crate) joined: Vec<JoinedMetric>,
    pub(crate) by: Vec<Field>,
    pub(crate) cluster: Option<Field>,
    pub(crate) holdout: Option<PathBuf>,
    pub(crate) dev: Vec<String>,
    pub(crate) mde: bool,
    pub(crate) flips: Option<usize>,
    pub(crate) stale_gold: bool,
    pub(crate) level: f64,
    pub(crate) seed: u64,
    pub(crate) resamples: usize,
    pub(crate) conditions: Vec<String>,
    pub(crate) tell: Notify<'t>,
}

impl CompareRequest<'_> {
    /// The compared figures, by their names: those that are named, and the metrics from files.
    fn figures(&self) -> Vec<String> {
        let name = |typed: &String| {
            let joined = self.joined.iter().find(|metric| metric.name.eq_ignore_ascii_case(typed.trim()));
            joined.map_or_else(|| canonical(typed), |metric| metric.name.clone())
        };
        let mut names: Vec<String> = self.metric.iter().map(name).filter(|name| !name.is_empty()).collect();
        let others = self.joined.iter().map(|metric| &metric.name).filter(|name| !names.contains(name));
        names.extend(others.cloned().collect::<Vec<_>>());
        names
    }

    /// The figures of an episode that are read for them.
    fn episode_figures(&self) -> Vec<String> {
        self.figures().into_iter().filter(|name| Pass::parse(name).is_none()).collect()
    }

    /// Refuses `pass@k` and `pass^k` of more repeats than any question of these variants has.
    fn check_repeats(&self, sources: &[Source]) -> Result<(), RunError> {
        let passes: Vec<Pass> = self.figures().iter().filter_map(|name| Pass::parse(name)).collect();
        let Some(most) = passes.iter().map(|pass| pass.repeats()).max() else { return Ok(()) };
        let mut repeats: HashMap<(usize, &str), u64> = HashMap::new();
        for (at, source) in sources.iter().enumerate() {
            for episode in &*source.episodes {
                *repeats.entry((at, &episode.item.id)).or_default() += 1;
            }
        }
        let found = repeats.into_values().max().unwrap_or_default();
        if most <= found {
            return Ok(());
        }
        let named: Vec<String> = passes.iter().map(Pass::to_string).collect();
        let asked = counted(found, "time");
        Err(RunError::usage(
            format!("--metric {}: these questions were run at most {asked} under a variant", named.join(",")),
            format!("use K up to {found}, or run more repeats: wikitrail run --repeats {most}"),
        ))
    }

    pub(crate) fn pairs(&self) -> Result<Pairs, RunError> {
        let mut pairs = Pairs { baseline: self.baseline.clone(), ..Pairs::default() };
        for pair in self.contrast.as_chunks().0 {
            if !pairs.add(pair.clone()) {
                let [a, b] = pair.each_ref().map(|name| visible_line(name, 80));
                return Err(RunError::usage(format!("--contrast {a} {b} repeats a pair"), "name each pair once"));
            }
        }
        Ok(pairs)
    }

    /// Whether some of the possible pairs may be named: two variants, or variants of runs.
    fn names_pairs(&self) -> bool {
        !self.contrast.is_empty()
            || results::runs(&self.runs).is_ok_and(|runs| runs.iter().any(|run| run.variant.is_some()))
    }

    fn settings(&self, pairs: Pairs) -> Result<Settings, RunError> {
        let figure = |name: String| match self.joined.iter().find(|metric| metric.name == name) {
            Some(metric) => NamedFigure::joined(name, metric.unit, metric.is_judged()),
            None => NamedFigure::new(name),
        };
        let mut figures: Vec<NamedFigure> = self.figures().into_iter().map(figure).collect();
        set_bounds(&self.bounds, &mut figures)?;
        Ok(Settings {
            level: self.level,
            // Without the tail that subtraction leaves: 0.05, not 0.050000000000000044.
            alpha: (1e12 * (1.0 - self.level)).round() / 1e12,
            resamples: self.resamples,
            seed: self.seed,
            pairs,
            figures,
            breakdowns: self.by.iter().map(|field| field.name().to_owned()).collect(),
            ..Settings::default()
        })
    }
}

/// A comparison with its notes and tables; as JSON, both together.
#[derive(Serialize)]
pub(crate) struct ComparedRuns {
    #[serde(flatten)]
    pub(crate) comparison: Comparison,
    #[serde(flatten)]
    pub(crate) extras: ComparisonExtras,
    /// What tables call the variants.
    #[serde(skip)]
    pub(crate) short: ShortNames,
}

impl CompareRequest<'_> {
    /// Compares what is asked for: variants, or the values of one setting over variants that differ in nothing else. With
    /// `all_flips`, every flipped answer is listed.
    pub(crate) fn compare_runs(
        &self,
        pairs: Pairs,
        verdicts: &JudgedRuns,
        all_flips: bool,
    ) -> Result<ComparedRuns, RunError> {
        let (mut sources, figures) = self.sources()?;
        let mut names = results::names(&sources);
        let matching = |setting: &str| Matching::of(setting, &differences::settings(&sources), &names);
        let matching = self.within.as_deref().map(matching).transpose().map_err(|error| error.at("--within"))?;
        let short = results::short_names(&sources, &names);
        let (pairs, absent, possible) = match &matching {
            Some(matching) => (matching.named(pairs), None, None),
            None => self.chosen(pairs, &short, (&mut sources, &mut names), &figures)?,
        };
        let warnings: Vec<String> = differences::warnings(&sources, &names).into_iter().chain(absent).collect();
        warn(self.tell, &warnings);
        let variants = self.variants(&sources, &names, &figures);
        let stopped = results::stopped(&sources, &names)?;
        let (columns, stopped) = match &matching {
            Some(matching) => (&matching.merged(&variants), matching.stopped(stopped, &names)),
            None => (&variants, stopped),
        };
        let mut settings = Settings { stopped, ..self.settings(pairs)? };
        results::bound(&mut settings.figures, &figures, &sources);
        let mut comparison = compare_with_progress(columns, &settings).map_err(|error| explain(error, &sources))?;
        if let Some(Possibilities { variants, count, plan }) = &possible {
            among_all(&mut comparison, variants, *count, &|a, b| plan.names(a, b));
        }
        if let Some(matching) = &matching {
            self.add_within(&mut comparison, matching, columns, (&variants, &names))
                .map_err(|error| explain(error, &sources))?;
        }
        let corrected = corrected(verdicts, &mut comparison, &sources, &names, matching.as_ref());
        // Before anything is printed, as a misspelt condition is an error.
        let terms = |name: &str, arguments: &[Argument], at: usize| comparison.term(name, arguments, at);
        let judged = self.conditions.iter().map(|text| evaluated(text, &short, &terms)).collect::<Result<_, _>>()?;
        let flips = self.flip_lists(&sources, columns, &comparison, all_flips)?;
        let efforts = self.mde.then(|| efforts(columns, &comparison, questions_of(&sources)));
        let closed_books = closed_books_of(&sources, &names, matching.as_ref());
        comparison.notes.extend(closed_book_sentences(&closed_books));
        let mut extras = ComparisonExtras {
            sources: sources.iter().zip(&names).map(record).collect(),
            warnings,
            efforts,
            corrected,
            closed_books,
            flips,
            judged,
            ..ComparisonExtras::default()
        };
        if matching.is_none() {
            let earlier = extras.warnings.len();
            extras.holdout = self.over_holdout(&sources, &comparison, &mut extras.warnings)?;
            warn(self.tell, &extras.warnings[earlier..]);
            extras.settings = differences::of(&sources);
        }
        Ok(ComparedRuns { comparison, extras, short })
    }

    /// The flipped answers of each pair, where the request asks for them.
    fn flip_lists(
        &self,
        sources: &[Source],
        columns: &[Variant],
        comparison: &Comparison,
        all: bool,
    ) -> Result<Option<Vec<FlipList>>, RunError> {
        let most = if all { usize::MAX } else { self.flips.unwrap_or(DEFAULT_FLIPS) };
        let lists = || flip_lists(sources, columns, comparison, self.stale_gold, most);
        (self.flips.is_some() || self.stale_gold).then(lists).transpose()
    }

    /// Adds the comparisons of a setting's values within each combination of the other settings.
    fn add_within(
        &self,
        comparison: &mut Comparison,
        matching: &Matching,
        columns: &[Variant],
        (variants, names): (&[Variant], &[String]),
    ) -> Result<(), RunError> {
        if !self.contrast.is_empty() {
            among_all(comparison, columns, columns.len(), &|_, _| false);
        }
        let within = matching.combinations(variants, names, comparison)?;
        comparison.notes.extend(within.notes());
        comparison.within = Some(within);
        Ok(())
    }

    /// The pairs to compare, a warning of planned ones that are absent, and all that were possible. Variants that are in no pair are
    /// left out.
    fn chosen(
        &self,
        pairs: Pairs,
        short: &ShortNames,
        (sources, names): (&mut Vec<Source>, &mut Vec<String>),
        figures: &[String],
    ) -> Result<(Pairs, Option<String>, Option<Possibilities>), RunError> {
        let (mut pairs, mut absent) = (pairs.with_names(|name| short.whole(name).to_owned()), None);
        if pairs.is_all() {
            (pairs, absent) = results::planned_of(sources, names);
        }
        let possible = self.possibilities(sources, names, figures)?;
        // The others are compared with none; a name that is not known is refused later, with those that are.
        if pairs.all_among(names) {
            keep_contrasted(&pairs, sources, names);
        }
        Ok((pairs, absent, possible))
    }

    fn variants(&self, sources: &[Source], names: &[String], figures: &[String]) -> Vec<Variant> {
        let column = |(source, name): (&Source, &String)| source.column(name, figures, &self.by);
        sources.iter().zip(names).map(column).collect()
    }

    fn possibilities(
        &self,
        sources: &[Source],
        names: &[String],
        figures: &[String],
    ) -> Result<Option<Possibilities>, RunError> {
        // The arms of a branch are compared as its table compares them.
        let of_branch = |source: &Source| source.manifest().is_some_and(Manifest::is_branch);
        if !self.names_pairs() || sources.iter().all(of_branch) {
            return Ok(None);
        }
        let (plan, _) = results::planned_of(sources, names);
        let (others, other_sources) = self.others(sources)?;
        if self.contrast.is_empty() && others == 0 {
            return Ok(None);
        }
        let mut variants = self.variants(sources, names, figures);
        // Names that no variant has.
        let unnamed: Vec<String> = (0..other_sources.len()).map(|at| format!("\0{at}")).collect();
        variants.extend(self.variants(&other_sources, &unnamed, figures));
        Ok(Some(Possibilities { variants, count: sources.len() + others, plan }))
    }

    /// How many other variants the runs have, and these, unless they are too many to be compared.
    fn others(&self, sources: &[Source]) -> Result<(usize, Vec<Source>), RunError> {
        let mut refs: Vec<RunRef> = Vec::new();
        for source in sources {
            for variant in source.manifest().iter().flat_map(|manifest| &manifest.variants) {
                let other = RunRef { path: source.run.path.clone(), variant: Some(variant.name.clone()) };
                if !refs.contains(&other) && sources.iter().all(|named| named.run != other) {
                    refs.push(other);
                }
            }
        }
        let all = sources.len() + refs.len();
        if refs.is_empty() || pairs_of(all) > MOST_PAIRS {
            return Ok((refs.len(), Vec::new()));
        }
        let (mut sources, _, _) = self.read(&refs)?;
        sources.retain(|source| !source.episodes.is_empty());
        Ok((sources.len(), sources))
    }

    fn sources(&self) -> Result<(Vec<Source>, Vec<String>), RunError> {
        let (fields, cluster) = (&self.by, self.cluster.as_ref());
        let (found, figures) = if self.tables.is_empty() {
            self.loaded(&self.runs)?
        } else {
            results::table_sources(&self.tables, self.episode_figures(), fields, cluster)?
        };
        for (flag, field) in fields.iter().map(|field| ("--by", field)).chain(cluster.map(|f| ("--cluster", f))) {
            check_field(flag, field, fields, &found)?;
        }
        self.check_repeats(&found)?;
        Ok((found, figures))
    }

    /// Says for which episodes the metrics from files have no value.
    fn note_coverage(&self, sources: &[Source]) -> Result<(), RunError> {
        let folders: Vec<String> = sources.iter().map(|source| folder_name(&source.run.path)).collect();
        for metric in &self.joined {
            let names = sources.iter().zip(&folders).flat_map(|(source, run)| {
                let variant = source.run.variant.as_deref().unwrap_or_default();
                let measured = source.episodes.iter().map(|episode| &episode.item).filter(|item| item.measured);
                measured.map(move |item| EpisodeName { run, variant, repeat: item.repeat, id: &item.id })
            });
            metric.coverage(names)?.into_iter().for_each(self.tell);
        }
        Ok(())
    }

    /// The variants of these runs, the figures that each has, and what a reader should know.
    fn read(&self, runs: &[RunRef]) -> Result<Loaded, RunError> {
        let (fields, cluster) = (&self.by, self.cluster.as_ref());
        let mut figures = self.episode_figures();
        let joined = &self.joined;
        figures.retain(|name| joined.iter().all(|metric| metric.name != *name));
        // EM decides whether an answer flipped.
        if !figures.iter().any(|name| name == "em") {
            figures.push("em".to_owned());
        }
        if self.mde {
            figures.extend(EXPENSES.map(str::to_owned));
            figures.sort();
            figures.dedup();
        }
        let read = figures.iter().map(|name| known(name)).collect::<Result<Vec<_>, RunError>>()?;
        let wanted = Wanted { figures: &read, joined, cluster, by: fields, gold_pages: self.stale_gold };
        let (found, notes) = results::load(runs, &wanted)?;
        figures.extend(joined.iter().map(|metric| metric.name.clone()));
        Ok((found, figures, notes))
    }

    /// The variants of runs as they were typed, each with an episode.
    fn loaded(&self, runs: &[String]) -> Result<(Vec<Source>, Vec<String>), RunError> {
        let (found, figures, notes) = self.read(&results::runs(runs)?)?;
        notes.into_iter().for_each(self.tell);
        if let Some(empty) = found.iter().find(|source| source.episodes.is_empty()) {
            let message = format!("`{}` has no finished episode yet", visible_line(&empty.run.typed(), 200));
            return Err(RunError::input(message, "finish the run with --resume, or name another run"));
        }
        self.note_coverage(&found)?;
        Ok((found, figures))
    }

    /// The metrics of files, and before them those of imported runs' records that are asked for by name.
    fn with_named(&self, paths: &[&Path], files: Vec<JoinedMetric>) -> Result<Vec<JoinedMetric>, RunError> {
        let is_figure =
            |name: &str| Figure::named(&canonical(name)).is_some() || Pass::parse(&canonical(name)).is_some();
        let named: Vec<&str> = self.metric.iter().map(|name| name.trim()).filter(|name| !is_figure(name)).collect();
        if named.is_empty() {
            return Ok(files);
        }
        let mut metrics = with_recorded(files, paths)?;
        metrics
            .retain(|metric| !metric.is_recorded() || named.iter().any(|name| metric.name.eq_ignore_ascii_case(name)));
        Ok(metrics)
    }

    /// The verdicts of the runs if they are asked for, and the metrics that are not figures of every run: those of judges, those of
    /// records, and those of files.
    pub(crate) fn judges_and_metrics(
        &self,
        paths: &[&Path],
        files: Vec<JoinedMetric>,
    ) -> Result<(JudgedRuns, Vec<JoinedMetric>), RunError> {
        let files = self.with_named(paths, files)?;
        let of_file = |name: &str| files.iter().any(|file| file.name.eq_ignore_ascii_case(name));
        let is_judge = |name: &&str| {
            let name = name.to_ascii_lowercase();
            name == JUDGE || name.starts_with("judge:")
        };
        let typed = self.metric.iter().map(|name| name.trim());
        let wanted: Vec<&str> = typed.filter(is_judge).filter(|name| !of_file(name)).collect();
        if wanted.is_empty() || !self.tables.is_empty() {
            return Ok((JudgedRuns::default(), files));
        }
        let judged = JudgedRuns::read(paths.iter().copied())?;
        let mut metrics = judged.metrics()?;
        let names: Vec<String> = metrics.iter().map(|metric| visible_line(&metric.name, 80)).collect();
        if let Some(unknown) =
            wanted.iter().find(|name| !metrics.iter().any(|metric| metric.name.eq_ignore_ascii_case(name)))
        {
            let hint = match names.as_slice() {
                [] => "judge a run first: wikitrail score RUN --judge openai:NAME".to_owned(),
                names => format!("judges of these runs are {}", names.join(", ")),
            };
            let unknown = visible_line(unknown, 80);
            return Err(RunError::usage(format!("--metric: these runs have no verdicts of `{unknown}`"), hint));
        }
        judged.notes().iter().cloned().for_each(self.tell);
        metrics.retain(|metric| wanted.iter().any(|name| metric.name.eq_ignore_ascii_case(name)));
        Ok((judged, with_judges(files, metrics)?))
    }

    /// Refuses what the comparison of a planned run with these other runs would refuse. Nothing is compared.
    pub(crate) fn check_plan(
        &self,
        mut pairs: Pairs,
        (mut sources, planned): (Vec<Source>, Vec<Pairs>),
    ) -> Result<(), RunError> {
        let (others, figures) = self.loaded(&self.runs)?;
        let of_others = others.iter().map(Source::pairs);
        let of_all: Vec<Option<Pairs>> = planned.into_iter().map(Some).chain(of_others).collect();
        sources.extend(others);
        let mut names = results::names(&sources);
        let short = results::short_names(&sources, &names);
        pairs = pairs.with_names(|name| short.whole(name).to_owned());
        if pairs.is_all() {
            (pairs, _) = results::planned(&of_all, &names);
        }
        if pairs.all_among(&names) {
            names.retain(|name| pairs.contrasts.iter().flatten().any(|other| other == name));
        }
        let settings = self.settings(pairs)?;
        let comparison = compare(&planned_columns(&names, &figures, &settings.breakdowns), &settings)
            .map_err(|error| explain(error, &sources))?;
        for condition in &self.conditions {
            // Names are known and values are not, the counts of questions included.
            evaluated(condition, &short, &|name, arguments, at| comparison.term(name, arguments, at).map(|_| None))?;
        }
        Ok(())
    }

    fn over_holdout(
        &self,
        sources: &[Source],
        comparison: &Comparison,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Looks>, RunError> {
        let Some(holdout) = Holdout::of(sources, self.holdout.as_deref())? else {
            if self.dev.is_empty() {
                warnings.extend(Holdout::unusable(sources));
                return Ok(None);
            }
            return Err(RunError::input(
                "--dev: these runs are not over a holdout that their records lead to",
                "name the list of the split with --holdout FILE, such as lists/holdout.ids",
            ));
        };
        let optimism =
            if self.dev.is_empty() { Vec::new() } else { self.beside_development(sources, comparison, &holdout)? };
        let mut looks = holdout.look(sources, self.figures());
        looks.optimism = optimism;
        warnings.extend(looks.warnings.iter().cloned());
        Ok(Some(looks))
    }

    /// The pairs on the holdout, and what they were on the development part. The two are never one comparison.
    fn beside_development(
        &self,
        sources: &[Source],
        comparison: &Comparison,
        holdout: &Holdout,
    ) -> Result<Vec<Optimism>, RunError> {
        if holdout.outside > 0 {
            return Err(RunError::input(
                format!("--dev: {} of the compared questions are not in the holdout", holdout.outside),
                "name runs over the holdout alone; those of the development part belong behind --dev",
            ));
        }
        let (development, figures) = self.loaded(&self.dev)?;
        let names: Vec<String> = comparison.variants.iter().map(|variant| variant.name.clone()).collect();
        let same = holdout.counterparts(sources, &development)?;
        let columns = self.variants(&same, &names, &figures);
        // A rule that could stop a run on one part says nothing about the other.
        let stopped = results::stopped(&same, &names)?;
        let settings = Settings { breakdowns: Vec::new(), stopped, ..comparison.settings.clone() };
        let development = compare(&columns, &settings).map_err(|error| explain(error, &same))?;
        Ok(optimism(comparison, &development))
    }
}

fn record((source, name): (&Source, &String)) -> Value {
    json!({"name": name, "path": source.run.path.display().to_string(), "variant": source.run.variant})
}

/// The judges' figures corrected by labels; the comparisons within single combinations say in their verdicts what labels make of
/// them.
fn corrected(
    judged: &JudgedRuns,
    comparison: &mut Comparison,
    sources: &[Source],
    names: &[String],
    matching: Option<&Matching>,
) -> Vec<CorrectedFigure> {
    let Comparison { figures, settings, within, .. } = comparison;
    let Some(matching) = matching else {
        let columns = names.iter().cloned().zip(sources.iter().map(|source| vec![Some(source)]));
        return judged.correct(figures, settings, &columns.collect::<Vec<_>>());
    };
    let source = |at: Option<usize>| Some(&sources[at?]);
    for (block, combination) in within.iter_mut().flat_map(|within| within.combinations.iter_mut().enumerate()) {
        let columns = matching.columns().map(|(name, variants)| (name, vec![source(variants[block])]));
        judged.correct(&mut combination.figures, settings, &columns.collect::<Vec<_>>());
    }
    let columns = matching.columns().map(|(name, variants)| (name, variants.into_iter().map(source).collect()));
    judged.correct(figures, settings, &columns.collect::<Vec<_>>())
}

/// What tools add to what each model of these variants answers without them.
fn closed_books_of(sources: &[Source], names: &[String], matching: Option<&Matching>) -> Vec<ClosedBook> {
    let called = |one, other| match matching {
        Some(matching) => matching.names_of_pair(one, other),
        None => Some([one, other].map(|at: usize| names[at].clone())),
    };
    let answers = |source: &Source| {
        let mut answers = RightAnswers::default();
        let right = source.episodes.iter().filter_map(|episode| Some((&episode.item.id, episode.right?)));
        right.for_each(|(id, right)| answers.add(id, right));
        answers
    };
    let answers: Vec<RightAnswers> = sources.iter().map(answers).collect();
    let of_runs: Option<Vec<_>> =
        sources.iter().zip(&answers).map(|(source, answers)| Some((source.variant()?, answers))).collect();
    closed_books_within(&of_runs.unwrap_or_default(), called)
}

impl ComparedRuns {
    /// Notes the look at the holdout in the ledger, once somebody can see the figures, and tells what the written comparison
    /// does not show on the terminal.
    pub(crate) fn note_look(&mut self, shown: bool, tell: Notify<'_>) {
        let Some(holdout) = &mut self.extras.holdout else { return };
        if !shown {
            holdout.lines().for_each(|line| tell(visible_line(line, 500)));
        }
        warn(tell, holdout.note().as_slice());
    }
}

fn keep_contrasted(pairs: &Pairs, sources: &mut Vec<Source>, names: &mut Vec<String>) {
    let is_contrasted = |name: &String| pairs.contrasts.iter().flatten().any(|other| other == name);
    let mut kept = names.iter().map(is_contrasted);
    sources.retain(|_| kept.next().unwrap_or(true));
    names.retain(is_contrasted);
}

/// All pairs that could be compared, where the command line names some of them.
struct Possibilities {
    /// The variants, those that were named first; these alone where all are too many.
    variants: Vec<Variant>,
    count: usize,
    plan: Pairs,
}

/// The truth of a condition, in which variants may have their short names, or an error that points at its place.
fn evaluated(condition: &str, short: &ShortNames, terms: &Terms<'_>) -> Result<ConditionResult, RunError> {
    let of_whole = |name: &str, arguments: &[Argument], at: usize| {
        let mut arguments = arguments.to_vec();
        for argument in &mut arguments {
            argument.text = short.whole(&argument.text).to_owned();
        }
        terms(name, &arguments, at)
    };
    evaluate(condition, &of_whole).map_err(|fault| {
        RunError::usage(
            format!("--fail-if: {}", fault.pointed(condition)),
            "`wikitrail docs compare` lists terms and operators; for example --fail-if \"em(new) < em(base)\"",
        )
    })
}

fn questions_of(sources: &[Source]) -> Option<usize> {
    let mut datasets = sources.iter().map(|source| Some(&source.manifest()?.dataset));
    let first = datasets.next()??;
    datasets.all(|other| other.is_some_and(|other| other.sha256 == first.sha256)).then_some(first.questions)
}

/// Variants, the figures that each has, and notes.
type Loaded = (Vec<Source>, Vec<String>, Vec<String>);

fn known(name: &str) -> Result<&'static Figure, RunError> {
    if let "given_attempted" | "simpleqa_f1" = name {
        return Err(RunError::usage(
            format!(
                "--metric: `{name}` has no value for a single question, so its difference cannot be paired by question"
            ),
            "compare em and attempted; `wikitrail score RUN` has it for each variant, with an interval",
        ));
    }
    Figure::named(name).ok_or_else(|| {
        let known: Vec<&str> = figure::ALL.iter().map(|figure| figure.name).collect();
        RunError::usage(
            format!("--metric: unknown metric `{}`", visible_line(name, 60)),
            format!("metrics of a run are {}; pass@K and pass^K of K repeats", known.join(", ")),
        )
    })
}

/// Refuses a field that no question has, instead of printing a table of dashes.
fn check_field(flag: &str, field: &Field, fields: &[Field], sources: &[Source]) -> Result<(), RunError> {
    let at = fields.iter().position(|other| other == field);
    let mut episodes = sources.iter().flat_map(|source| &*source.episodes);
    let known = match (flag, at) {
        ("--by", Some(at)) => episodes.any(|episode| episode.item.groups.get(at).is_some_and(Option::is_some)),
        // `cluster` is the default, and few datasets have clusters.
        _ => *field == Field::Cluster || episodes.any(|episode| episode.item.cluster.is_some()),
    };
    if known {
        return Ok(());
    }
    Err(RunError::input(
        format!("{flag}: no question has the field `{}`", visible_line(field.name(), 60)),
        "type, level, hops, answer_kind, cluster and page are available if the dataset has them and its file can be read; a \
         table needs a column of that name",
    ))
}

/// The comparison, with a line on a terminal meanwhile: many pairs of many questions take a while.
fn compare_with_progress(columns: &[Variant], settings: &Settings) -> Result<Comparison, RunError> {
    let bar = stage_bar(false);
    bar.set_message("comparing");
    bar.enable_steady_tick(Duration::from_millis(500));
    let compared = compare(columns, settings);
    bar.finish_and_clear();
    compared
}

/// The error of a comparison, with what these sources say of why they share no question.
fn explain(error: RunError, sources: &[Source]) -> RunError {
    if error.hint() == PAIRED_BY_ID { RunError::input(error, differences::nothing_shared(sources)) } else { error }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bounds {
    figure: String,
    range: Interval,
}

pub(crate) fn parsed_bounds(text: &str) -> Result<Bounds, String> {
    let wanted = || "expected NAME=LOW..HIGH with LOW below HIGH, such as tokens=0..20000".to_owned();
    let (figure, ends) = text.rsplit_once('=').ok_or_else(wanted)?;
    let (low, high) = ends.split_once("..").ok_or_else(wanted)?;
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(wanted);
    let range = Interval { low: number(low)?, high: number(high)? };
    if range.low >= range.high || figure.trim().is_empty() {
        return Err(wanted());
    }
    Ok(Bounds { figure: canonical(figure), range })
}

fn set_bounds(bounds: &[Bounds], figures: &mut [NamedFigure]) -> Result<(), RunError> {
    for Bounds { figure, range } in bounds {
        let name = visible_line(figure, 80);
        let Some(found) = figures.iter_mut().find(|other| other.name.eq_ignore_ascii_case(figure)) else {
            let known: Vec<String> = figures.iter().map(|figure| visible_line(&figure.name, 80)).collect();
            return Err(RunError::usage(
                format!("--bounds names `{name}`, which is not compared"),
                format!("name one of {}, or add `{name}` to --metric", known.join(", ")),
            ));
        };
        if found.range.is_some() {
            let message = format!("`{name}` has the bounds 0..1 already, or --bounds names it twice");
            return Err(RunError::usage(message, "remove --bounds for it"));
        }
        found.range = Some(*range);
    }
    Ok(())
}

const MAX_PLAN_BYTES: u64 = 256 << 20;

/// What `run --dry-run --json` prints, as far as it is needed here.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Plan {
    Several { runs: Vec<PlannedRun> },
    One(PlannedRun),
}

#[derive(Debug, Deserialize)]
struct PlannedRun {
    run: PathBuf,
    variants: Vec<PlannedVariant>,
    experiment: Option<ExperimentRecord>,
}

#[derive(Debug, Deserialize)]
struct PlannedVariant {
    name: String,
}

/// The variants, each with one and the same question that has no value in any.
fn planned_columns(names: &[String], figures: &[String], fields: &[String]) -> Vec<Variant> {
    let item = Item { values: vec![None; figures.len()], groups: vec![None; fields.len()], ..Item::default() };
    let column =
        |name: &String| Variant { items: vec![item.clone()], ..Variant::new(name, figures.to_vec(), fields.to_vec()) };
    names.iter().map(column).collect()
}

/// The variants of a plan, and the pairs that the experiment of each compares.
pub(crate) fn planned_sources(plan: &Path) -> Result<(Vec<Source>, Vec<Pairs>), RunError> {
    let refused = |error: &dyn std::fmt::Display| {
        let path = visible_line(&plan.display().to_string(), 300);
        let hint = "`wikitrail run … --dry-run --json` prints a plan";
        RunError::input(format!("--plan: cannot read `{path}`: {error}"), hint)
    };
    let mut text = String::new();
    let file = std::fs::File::open(plan).map_err(|error| refused(&error))?;
    file.take(MAX_PLAN_BYTES).read_to_string(&mut text).map_err(|error| refused(&error))?;
    let plan = serde_json::from_str(&text).map_err(|_| refused(&"it is not the JSON of a plan"))?;
    let runs = match plan {
        Plan::Several { runs } => runs,
        Plan::One(run) => vec![run],
    };
    let (mut sources, mut pairs) = (Vec::new(), Vec::new());
    for PlannedRun { run, variants, experiment } in runs {
        let of_run = experiment.map(|experiment| experiment.pairs).unwrap_or_default();
        for PlannedVariant { name } in variants {
            let run = RunRef { path: run.clone(), variant: Some(name) };
            sources.push(Source { run, origin: None, episodes: [].into() });
            pairs.push(of_run.clone());
        }
    }
    Ok((sources, pairs))
}

#[cfg(test)]
mod tests {
    use super::{Bounds, parsed_bounds};
    use crate::base::stats::Interval;

    #[test]
    fn bounds_are_read() {
        for (text, figure, low, high) in [
            ("tokens=0..20000", "tokens", 0.0, 20000.0),
            ("a=b=-1..1.5", "a=b", -1.0, 1.5),
            ("m = -2..-1", "m", -2.0, -1.0),
        ] {
            assert_eq!(
                parsed_bounds(text),
                Ok(Bounds { figure: figure.to_owned(), range: Interval { low, high } }),
                "{text}"
            );
        }
        for text in ["tokens", "tokens=3", "tokens=1..1", "tokens=2..1", "=0..1", "tokens=0..inf", "tokens=nan..1"] {
            assert!(parsed_bounds(text).is_err_and(|error| error.contains("NAME=LOW..HIGH")), "{text}");
        }
    }
}
