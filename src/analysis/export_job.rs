//! Exports of runs: the episodes that a filter takes, with their prompts, metrics and judgements, in one format.

use crate::analysis::export::{
    Csv, CsvOptions, Export, ExportError, Gzip, Hf, HfSource, Inspect, JsonLines, JsonRows, Layout, LogHeader,
    LogTotals, Origin, Scored, Table, atif, header, otlp, write_conversation,
};
use crate::analysis::output_file::Start;
use crate::analysis::results::{
    EpisodeName, EpisodeNames, ExportedRun, GradedRun, Holdout, JoinedMetric, NamedRun, QuestionCache, folder_name,
    judgements_of,
};
use crate::analysis::{Notify, warn};
use crate::base::text::{counted, shell_word, visible_line};
use crate::base::{Outcome, RebuiltPrompt, Tool, Trajectory, sha256_hex};
use crate::dataset::PUBLIC_SOURCES;
use crate::net::recording::{FolderBeside, sync_folder};
use crate::runner::RunError;
use crate::runner::agent::conversation::{Conversation, NoConversation, conversation};
use crate::runner::experiment::shipped;
use crate::runner::stored::Stored;
use crate::scoring::ScoredEpisode;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExportFormat {
    Csv,
    /// Whole trajectories, or the rows of a table.
    Jsonl,
    Parquet,
    Chat,
    Inspect,
    Atif,
    Hf,
    Otlp,
}

pub(crate) struct ExportJob<'t> {
    pub(crate) format: ExportFormat,
    pub(crate) rows: Option<Table>,
    pub(crate) runs: Vec<NamedRun>,
    pub(crate) metrics: Vec<JoinedMetric>,
    pub(crate) filter: ExportFilter,
    pub(crate) csv: CsvOptions,
    pub(crate) with_exemplars: bool,
    pub(crate) with_prompts: bool,
    pub(crate) tell: Notify<'t>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ExportFilter {
    pub(crate) variant: Vec<String>,
    pub(crate) correct: bool,
    pub(crate) wrong: bool,
    pub(crate) outcome: Vec<Outcome>,
    pub(crate) min_f1: Option<f64>,
    pub(crate) max_steps: Option<usize>,
    /// Without repairs and without replies that name no tool.
    pub(crate) clean: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) episodes: usize,
    steps: usize,
    /// What of each run was written whose questions may be those of a holdout, by its place among the runs.
    looks: BTreeMap<usize, ExportedRun>,
}

impl Counts {
    fn see(&mut self, at: usize, run: &NamedRun, trajectory: &Trajectory) {
        if run.manifest.dataset.ids_file.is_none() {
            return;
        }
        let look = self.looks.entry(at).or_default();
        look.variants.insert(trajectory.variant.clone());
        look.ids.insert(trajectory.id.clone());
    }

    pub(crate) fn sentence(&self, job: &ExportJob<'_>) -> String {
        let episodes = counted(self.episodes, "episode");
        match job.format {
            ExportFormat::Chat => counted(self.episodes, "conversation"),
            _ if job.table() == Some(Table::Steps) => format!("{} of {episodes}", counted(self.steps, "step")),
            _ => episodes,
        }
    }
}

/// The table that is exported, of two the one with more in it; none where trajectories or conversations are.
pub(crate) fn table_of(format: ExportFormat, rows: Option<Table>) -> Option<Table> {
    match (format, rows) {
        (ExportFormat::Chat | ExportFormat::Inspect | ExportFormat::Atif | ExportFormat::Otlp, _)
        | (ExportFormat::Jsonl, None) => None,
        (_, Some(Table::Steps)) => Some(Table::Steps),
        _ => Some(Table::Questions),
    }
}

impl ExportJob<'_> {
    fn table(&self) -> Option<Table> {
        table_of(self.format, self.rows)
    }

    /// Whether rows show what the datasets say; reading them takes time.
    fn shows_questions(&self) -> bool {
        self.table() == Some(Table::Questions) || matches!(self.format, ExportFormat::Inspect | ExportFormat::Otlp)
    }

    /// Reads all episodes before any is written, where that is needed: says for which the metrics from files have no value,
    /// and counts what a log of Inspect says before its samples.
    pub(crate) fn survey(&self) -> Result<Option<LogTotals>, RunError> {
        let mut totals = (self.format == ExportFormat::Inspect).then(|| LogTotals::new(self.metric_names()));
        if totals.is_none() && self.metrics.is_empty() {
            return Ok(None);
        }
        let mut names = EpisodeNames::default();
        for run in &self.runs {
            let folder = folder_name(run.folder.path());
            for episode in GradedRun::without_questions(&run.folder, &run.manifest)?.counted_scores() {
                let episode = episode?;
                names.add(&folder, &episode.trajectory);
                if let Some(totals) = totals.as_mut().filter(|_| self.filter.takes(&episode)) {
                    totals.add(&episode, &self.metric_values(&folder, &episode.trajectory));
                }
            }
        }
        names.coverage(&self.metrics)?.into_iter().for_each(self.tell);
        Ok(totals)
    }

    /// Writes a file, packed if its name says so.
    pub(crate) fn write_file(&self, path: &Path, file: File, totals: Option<LogTotals>) -> Result<Counts, ExportError> {
        if !path.to_string_lossy().to_lowercase().ends_with(".gz") {
            return self.write(Box::new(BufWriter::new(file)), totals);
        }
        let mut packed = Gzip::new(file);
        let written = self.write(Box::new(&mut packed), totals)?;
        packed.finish()?;
        Ok(written)
    }

    pub(crate) fn write<'o>(
        &'o self,
        out: Box<dyn Write + Send + 'o>,
        totals: Option<LogTotals>,
    ) -> Result<Counts, ExportError> {
        if self.format == ExportFormat::Chat {
            return self.write_chat(out);
        }
        self.fill(|meta| self.export(out, meta, totals))
    }

    /// Gives the matching episodes to what `open` makes of the fields of `meta`.
    fn fill<'o>(
        &self,
        open: impl FnOnce(Vec<String>) -> Result<Box<dyn Export + 'o>, ExportError>,
    ) -> Result<Counts, ExportError> {
        let mut datasets = QuestionCache::default();
        let mut questions = Vec::new();
        for run in self.runs.iter().filter(|_| self.shows_questions()) {
            let (of_run, note) = datasets.of(&run.folder, &run.manifest);
            note.into_iter().for_each(self.tell);
            questions.push(of_run);
        }
        datasets.left_out().into_iter().for_each(self.tell);
        let mut export = open(datasets.meta.clone())?;
        let mut written = Counts::default();
        for (at, run) in self.runs.iter().enumerate() {
            let questions = questions.get(at);
            let folder = folder_name(run.folder.path());
            let mut prompts = Prompts::of(self, run)?;
            let (annotations, readings) = judgements_of(&run.folder).map_err(RunError::from)?;
            annotations.notes().chain(readings.notes()).for_each(self.tell);
            let said = annotations.by_key();
            self.each(run, |episode| {
                if !self.filter.takes(&episode) {
                    return Ok(());
                }
                written.see(at, run, &episode.trajectory);
                let episode = match questions {
                    Some(questions) => {
                        let gold = questions.evidence.get(&episode.trajectory.id);
                        &episode.assessed(gold)
                    }
                    None => &episode,
                };
                let trajectory = &episode.trajectory;
                written.episodes += 1;
                written.steps += trajectory.steps.len();
                let metrics = self.metric_values(&folder, trajectory);
                let scored = Scored {
                    episode,
                    fields: questions.map_or(&[], |questions| questions.fields(&trajectory.id)),
                    metrics: &metrics,
                    prompts: &prompts.of_episode(trajectory)?,
                    origin: Origin::new(&run.name, &run.manifest, &trajectory.variant),
                    annotations: said.get(trajectory.key.as_str()).map(Vec::as_slice).unwrap_or_default(),
                };
                export.write(&scored)
            })?;
            prompts.note(self.tell);
        }
        export.finish()?;
        Ok(written)
    }

    /// Visits every episode that tables have, with its score; unreadable lines and what came after a stop are reported.
    fn each(
        &self,
        run: &NamedRun,
        mut visit: impl FnMut(ScoredEpisode) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let records = GradedRun::without_questions(&run.folder, &run.manifest)?;
        records.notes.iter().cloned().for_each(self.tell);
        if let Some(found) = records.stopping()?.filter(|found| found.later > 0) {
            let left_out = counted(found.later, "episode");
            (self.tell)(format!("note: {}: {left_out} left out, after the stop by {}", run.name, found.rule));
        }
        records.counted_scores().try_for_each(|episode| visit(episode?))
    }

    /// The table that is exported, where one is, of questions with these further fields.
    fn layout(&self, meta: Vec<String>) -> Option<Layout> {
        self.table().map(|table| self.layout_of(table, meta))
    }

    fn layout_of(&self, table: Table, meta: Vec<String>) -> Layout {
        Layout { table, meta, metrics: self.metric_names(), prompts: self.with_prompts }
    }

    fn metric_names(&self) -> Vec<String> {
        self.metrics.iter().map(|metric| metric.name.clone()).collect()
    }

    fn metric_values(&self, folder: &str, trajectory: &Trajectory) -> Vec<Option<f64>> {
        let name = EpisodeName::of(folder, trajectory);
        self.metrics.iter().map(|metric| metric.value(name)).collect()
    }

    fn export<'o>(
        &'o self,
        out: Box<dyn Write + Send + 'o>,
        meta: Vec<String>,
        totals: Option<LogTotals>,
    ) -> Result<Box<dyn Export + 'o>, ExportError> {
        let metrics = self.metric_names();
        let Some(layout) = self.layout(meta) else {
            return Ok(match self.format {
                ExportFormat::Inspect => {
                    let totals = totals.unwrap_or_else(|| LogTotals::new(Vec::new()));
                    Box::new(Inspect::new(out, self.log_header()?, totals)?)
                }
                ExportFormat::Atif => Box::new(JsonLines::new(out, metrics, Some(atif::line))),
                ExportFormat::Otlp => Box::new(JsonLines::new(out, metrics, Some(otlp::line))),
                _ => Box::new(JsonLines::new(out, metrics, None).with_prompts(self.with_prompts)),
            });
        };
        Ok(match self.format {
            #[cfg(feature = "parquet")]
            ExportFormat::Parquet => Box::new(crate::analysis::export::Parquet::new(out, layout)?),
            ExportFormat::Jsonl => Box::new(JsonRows::new(out, layout)),
            // `check_format` has refused Parquet without its feature, and conversations are written elsewhere.
            _ => Box::new(Csv::new(out, layout, self.csv)),
        })
    }
}

impl ExportFilter {
    pub(crate) fn check(&self, runs: &[NamedRun]) -> Result<(), RunError> {
        let mut known: Vec<&str> =
            runs.iter().flat_map(|run| &run.manifest.variants).map(|variant| variant.name.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        match self.variant.iter().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(RunError::usage(
                format!("--variant: there is no variant `{name}`"),
                format!("the variants are {}", known.join(", ")),
            )),
        }
    }

    fn is_partial(&self) -> bool {
        self.names_a_score() || !self.outcome.is_empty() || self.max_steps.is_some() || self.clean
    }

    /// Whether the flags select by score; otherwise a format may.
    fn names_a_score(&self) -> bool {
        self.correct || self.wrong || self.min_f1.is_some()
    }

    fn takes(&self, episode: &ScoredEpisode) -> bool {
        let ScoredEpisode { trajectory, score, .. } = episode;
        (self.variant.is_empty() || self.variant.contains(&trajectory.variant))
            && (self.outcome.is_empty() || self.outcome.contains(&trajectory.outcome))
            && (!self.correct || episode.is_right() == Some(true))
            && (!self.wrong || episode.is_right() == Some(false))
            && self.min_f1.is_none_or(|least| score.is_some_and(|score| score.f1 >= least))
            && self.max_steps.is_none_or(|most| trajectory.has_steps() && trajectory.agent_steps().count() <= most)
            && (!self.clean || is_clean(trajectory))
    }
}

fn is_clean(trajectory: &Trajectory) -> bool {
    trajectory.has_steps()
        && trajectory.repairs.is_empty()
        && trajectory.steps.iter().all(|step| step.tool != Some(Tool::Invalid))
}

impl ExportJob<'_> {
    /// Writes the matching conversations. Episodes that give none are counted and reported.
    fn write_chat(&self, out: impl Write) -> Result<Counts, ExportError> {
        let mut out = BufWriter::new(out);
        let (mut read, mut not_right) = (0_usize, 0_usize);
        let mut left_out: BTreeMap<NoConversation, usize> = BTreeMap::new();
        let mut written = Counts::default();
        for (at, run) in self.runs.iter().enumerate() {
            let stored = Stored::of(&run.folder, &run.manifest)?;
            let mut prompts = Prompts::of(self, run)?;
            self.each(run, |episode| {
                let trajectory = &episode.trajectory;
                // Wrong answers are exported only on request.
                let right = self.filter.names_a_score() || episode.is_right() == Some(true);
                let taken = self.filter.takes(&episode);
                read += 1;
                if taken {
                    written.see(at, run, trajectory);
                    not_right += usize::from(!right);
                }
                if !right || !taken {
                    return Ok(());
                }
                let (approach, question) = (stored.approach(trajectory)?, stored.question(trajectory));
                match conversation(trajectory, &question, &approach, self.with_exemplars) {
                    Ok(Conversation { turns, functions }) => {
                        written.episodes += 1;
                        let turns = turns.iter().map(|said| (&said.message, said.learn));
                        let prompts = self.with_prompts.then(|| prompts.of_episode(trajectory)).transpose()?;
                        let more = prompts.map(|prompts| prompt_fields(trajectory, &prompts)).unwrap_or_default();
                        write_conversation(&mut out, turns, functions.as_deref(), more)
                    }
                    Err(reason) => {
                        *left_out.entry(reason).or_default() += 1;
                        Ok(())
                    }
                }
            })?;
            prompts.note(self.tell);
        }
        out.flush()?;
        if not_right > 0 {
            let episodes = counted(not_right, "episode");
            let what = if not_right == read {
                format!("no right answer among {episodes}")
            } else {
                format!("{episodes} without a right answer are not written")
            };
            (self.tell)(format!("note: {what}; add --wrong, or --min-f1 0 for all with a score"));
        }
        for (reason, count) in left_out {
            (self.tell)(format!("note: {count} left out: {reason}"));
        }
        Ok(written)
    }

    /// What the log says of its episodes together. Several runs or variants are refused.
    pub(crate) fn log_header(&self) -> Result<LogHeader<'_>, RunError> {
        let [run] = &self.runs[..] else {
            let folder = self.runs.first().map(|run| run.folder.path().display().to_string()).unwrap_or_default();
            return Err(RunError::usage(
                "a log of Inspect is of one run, and here are several",
                format!("name one of them, such as {}", shell_word(&visible_line(&folder, 300))),
            ));
        };
        let filter = &self.filter;
        let known: Vec<&str> = run.manifest.variants.iter().map(|variant| variant.name.as_str()).collect();
        let wanted: Vec<&str> = filter.variant.iter().map(String::as_str).collect();
        let (([name], _) | ([], [name])) = (&wanted[..], &known[..]) else {
            let names: Vec<String> = known.iter().map(|name| shell_word(&visible_line(name, 80))).collect();
            return Err(RunError::usage(
                "a log of Inspect is of one variant, and here are several",
                format!("name one with --variant: {}", names.join(", ")),
            ));
        };
        let variant = run.manifest.variants.iter().find(|variant| variant.name == *name);
        let planned = variant.filter(|_| !filter.is_partial()).map(|variant| run.manifest.planned(variant));
        Ok(LogHeader { origin: Origin::new(&run.name, &run.manifest, name), planned })
    }

    /// `inspect view DIR` lists a JSON log only if its name begins with a time; a note of one that would do.
    pub(crate) fn log_name_note(&self, path: &Path) -> Option<String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let shape = |at: usize, c: char| match at {
            4 | 7 => c == '-',
            10 => c == 'T',
            13 | 16 => matches!(c, '-' | ':'),
            _ => c.is_ascii_digit(),
        };
        let is_timed = name.chars().count() > 19 && name.chars().take(19).enumerate().all(|(at, c)| shape(at, c));
        let run = self.runs.first().filter(|_| !is_timed)?;
        let time: String = run.manifest.started_at.chars().take(19).map(|c| if c == ':' { '-' } else { c }).collect();
        let better = visible_line(&format!("{time}_{name}"), 200);
        Some(format!(
            "note: a folder's list in `inspect view` has JSON logs whose names begin with a time, such as {better}"
        ))
    }

    /// Writes a new folder beside its place and gives it its name when it is whole.
    pub(crate) fn write_hf(&self, path: &Path) -> Result<Counts, ExportError> {
        let shown = shell_word(&visible_line(&path.display().to_string(), 300));
        let is_empty_folder = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if path.exists() && !is_empty_folder() {
            return Err(RunError::usage(format!("{shown} is there already"), "name a new folder with --out").into());
        }
        let cannot = |error: std::io::Error| {
            let hint = "check that the folder above it is writable and has space";
            RunError::unexpected(format!("cannot write {shown}: {error}"), hint)
        };
        let beside = FolderBeside::create(path).map_err(cannot)?;
        let sources: Vec<HfSource<'_>> = self.runs.iter().map(hf_source).collect();
        let open = |meta| -> Result<Box<dyn Export>, ExportError> {
            Ok(Box::new(Hf::new(beside.path(), sources, &self.layout_of(Table::Questions, meta))?))
        };
        let written = self.fill(open)?;
        for left in &beside.doubtful {
            let left = shell_word(&visible_line(&left.display().to_string(), 300));
            (self.tell)(format!("note: {left} may be left by a process that was killed; remove it if none is running"));
        }
        beside.rename(path).map_err(cannot)?;
        sync_folder(path);
        (self.tell)(format!("{} written to {shown}", written.sentence(self)));
        (self.tell)(format!("next:\n  hf upload USER/NAME {shown} . --repo-type dataset"));
        Ok(written)
    }

    /// Counts the export of a holdout run as a look at the holdout, as the file holds its scores, and says the number of looks.
    pub(crate) fn count_looks(&self, written: &Counts) {
        let runs = written.looks.iter().map(|(at, exported)| (&self.runs[*at].manifest, exported));
        let (looks, mut warnings) = Holdout::exported(runs);
        for mut look in looks {
            let list = visible_line(&look.list, 200);
            (self.tell)(format!("note: this export is a look at the holdout `{list}`"));
            (self.tell)(visible_line(&look.sentence, 500));
            warnings.append(&mut look.warnings);
            warnings.extend(look.note());
        }
        warn(self.tell, &warnings);
    }

    pub(crate) fn what_is_earlier(&self) -> &'static str {
        match (self.format, self.table().is_some()) {
            (ExportFormat::Chat, _) => "an earlier export of these runs as conversations",
            (ExportFormat::Inspect, _) => "a log that wikitrail export wrote",
            (ExportFormat::Atif, _) => "an earlier export of trajectories in ATIF",
            (ExportFormat::Otlp, _) => "an earlier export of traces",
            (_, true) => "an earlier export of the same table",
            (_, false) => "an earlier export of trajectories",
        }
    }

    /// Whether a file that begins like this is an earlier export in the same format.
    pub(crate) fn is_earlier(&self, start: &Start) -> bool {
        let layout = || self.layout(Vec::new());
        match (self.format, layout()) {
            (ExportFormat::Parquet, _) => is_own_parquet(&start.path).unwrap_or(false),
            (ExportFormat::Chat, _) => self.is_conversation(start).unwrap_or(false),
            (ExportFormat::Atif, _) => {
                start.line().starts_with(r#"{"schema_version":"ATIF-"#)
                    && Value::Object(start.object())["agent"]["name"] == "wikitrail"
            }
            (ExportFormat::Otlp, _) => start.line().starts_with(otlp::BEGINNING),
            (ExportFormat::Inspect, _) => {
                start.line().starts_with(r#"{"version":2,"status":"#) && start.line().contains(r#""task":"wikitrail/"#)
            }
            (ExportFormat::Jsonl, Some(layout)) => {
                layout.is_header(&start.object().keys().cloned().collect::<Vec<_>>())
            }
            (ExportFormat::Jsonl, None) => {
                let object = start.object();
                ["v", "id", "variant", "steps", "key", "run", "score"].iter().all(|name| object.contains_key(*name))
            }
            (_, Some(layout)) => layout.is_header(&header(start.line())),
            (_, None) => false,
        }
    }

    /// Other programs write conversations in the same form, so it is the question that counts.
    fn is_conversation(&self, start: &Start) -> Result<bool, RunError> {
        let object = start.object();
        let Some(Value::Array(messages)) = object.get("messages") else { return Ok(false) };
        let said: Vec<&str> = messages.iter().filter_map(|message| message["content"].as_str()).collect();
        for run in &self.runs {
            for trajectory in run.folder.records()?.iter() {
                let question = trajectory?.question;
                if !question.is_empty() && said.iter().any(|said| said.contains(&question)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// The prompts of one run, if they are exported. Without `--with-prompts` they are left out where they cannot be made again.
struct Prompts<'a> {
    run: &'a NamedRun,
    needed: bool,
    stored: Option<Stored>,
    calls: usize,
    /// Calls whose prompt cannot be made again as it was sent.
    missing: usize,
}

impl<'a> Prompts<'a> {
    fn of(job: &ExportJob<'_>, run: &'a NamedRun) -> Result<Self, RunError> {
        let (needed, has_place) = (job.with_prompts, matches!(job.format, ExportFormat::Inspect | ExportFormat::Atif));
        let mut stored = (needed || has_place).then(|| Stored::of(&run.folder, &run.manifest)).transpose();
        if let Err(error) = &stored
            && !needed
        {
            let why = visible_line(&error.to_string(), 300);
            (job.tell)(format!("note: {}: prompts are left out, as they cannot be made again: {why}", run.name));
            stored = Ok(None);
        }
        Ok(Self { run, needed, stored: stored?, calls: 0, missing: 0 })
    }

    fn of_episode(&mut self, trajectory: &Trajectory) -> Result<Vec<RebuiltPrompt>, RunError> {
        let Some(stored) = &self.stored else { return Ok(Vec::new()) };
        let prompts = match stored.prompts(trajectory) {
            Err(error) if self.needed => return Err(error),
            prompts => prompts.unwrap_or_default(),
        };
        self.calls += prompts.len();
        self.missing += prompts.iter().filter(|prompt| !prompt.same).count();
        Ok(prompts)
    }

    fn note(&self, tell: Notify<'_>) {
        if self.missing > 0 {
            tell(format!(
                "note: {}: {} of {} cannot be made again as they were sent; `wikitrail replay` says what differs",
                self.run.name,
                self.missing,
                counted(self.calls, "prompt")
            ));
        }
    }
}

fn prompt_fields(trajectory: &Trajectory, prompts: &[RebuiltPrompt]) -> Map<String, Value> {
    let prompts = prompts.iter().map(RebuiltPrompt::to_json).collect();
    let fields = [
        ("id", json!(trajectory.id)),
        ("variant", json!(trajectory.variant)),
        ("repeat", json!(trajectory.repeat)),
        ("prompts", Value::Array(prompts)),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// The terms of a run's questions: those of a public file with these bytes, or with this name where a publisher gives no such
/// digest, or our own of a shipped sample.
fn hf_source(run: &NamedRun) -> HfSource<'_> {
    let dataset = &run.manifest.dataset;
    let file = Path::new(&dataset.path).file_name().unwrap_or_default();
    let is_public = |digest: Option<&str>, name: &str| match digest {
        Some(digest) => digest == dataset.sha256,
        None => file == name,
    };
    let public = PUBLIC_SOURCES.iter().find(|source| is_public(source.sha256, source.file));
    let is_ours = || shipped::file(&dataset.path).is_some_and(|bytes| sha256_hex([bytes]) == dataset.sha256);
    let licence = match public {
        Some(source) => Some((source.licence, source.url)),
        None => is_ours().then_some(("MIT OR Apache-2.0", "wikitrail, which ships them as a sample")),
    };
    HfSource { run: &run.name, manifest: &run.manifest, licence }
}

/// Our name is in the footer, as the program that wrote the file.
fn is_own_parquet(path: &Path) -> std::io::Result<bool> {
    const LAST: u64 = 512;
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST)))?;
    let mut end = Vec::new();
    file.take(LAST).read_to_end(&mut end)?;
    Ok(end.ends_with(b"PAR1") && end.windows(10).any(|bytes| bytes == b"wikitrail "))
}
