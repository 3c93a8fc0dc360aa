//! `annotate`: episodes judged by reading, and judgements from files.

use super::failure::{self, Failure};
use super::output_file::json_line;
use super::say::{Lines, say};
use crate::analysis::annotations::{
    Annotation, Annotations, Answer, EpisodeIndex, HELP, Imported, Judgement, append, bad_name, import as read,
    key_line, parse_answer as parse,
};
use crate::analysis::report::console::stdout;
use crate::analysis::report::trajectory::{heading, render, to_judge};
use crate::analysis::report::{View, thousands};
use crate::analysis::results::{GradedRun, RunRef, check_one};
use crate::analysis::sample::{SampledEpisode, Stratum, sample_of_run};
use crate::base::bounded::text_at_most;
use crate::base::text::{counted, shell_word, visible_line};
use crate::base::{Tool, Trajectory};
use crate::runner::store::RunFolder;
use crate::scoring::ScoredEpisode;
use serde_json::json;
use std::collections::HashSet;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run folder; `RUN@VARIANT` judges one variant.
    run: String,
    /// Judge this many episodes, as many of each stratum [default: 50 of each stratum].
    #[arg(long, value_name = "N", conflicts_with = "import")]
    sample: Option<usize>,
    /// What strata have in common: em, variant, class, outcome, repeat, or a field of the questions, such as type, level,
    /// hops or meta.NAME.
    #[arg(long, value_name = "FIELDS", default_value = "em,variant", value_delimiter = ',', value_parser = Stratum::parse, conflicts_with = "import")]
    stratify: Vec<Stratum>,
    /// Seed of the sample: the same seed chooses the same episodes for everybody.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "import")]
    seed: u64,
    /// Who judges [default: $USER; with --import, whom each line names].
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Take judgements from this file instead: annotations.jsonl of a page or of another folder, or CSV with the columns
    /// id, variant, correct, class.
    #[arg(long, value_name = "FILE")]
    import: Option<PathBuf>,
    /// Print what became of the file as one JSON object.
    #[arg(long, requires = "import")]
    json: bool,
    /// Width of the output in columns [default: the terminal's].
    #[arg(long, value_name = "N", conflicts_with = "import")]
    width: Option<usize>,
}

pub(super) async fn execute(args: &Args) -> anyhow::Result<u8> {
    let run = RunRef::parse(&args.run).unwrap_or_else(|| RunRef::meant(&args.run));
    if run.path.is_file() {
        let what = format!("`{}` is a file of trajectories, which has no place for judgements", run.path.display());
        return Err(Failure::usage(what, "name the folder of a run"));
    }
    check_one(&run.path, "wikitrail annotate")?;
    let folder = RunFolder::open(&run.path)?;
    if let Some(why) = args.by.as_deref().and_then(bad_name) {
        let message = format!("--by is not a name: {why}");
        return Err(Failure::usage(message, "give a short name of your own, such as --by anna"));
    }
    match &args.import {
        Some(path) => import_file(args, &folder, path),
        None => ask_session(args, &run, &folder, &by(args)?).await,
    }
}

/// Who judges: judgements without a name could not be kept apart.
fn by(args: &Args) -> anyhow::Result<String> {
    let user = || ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    args.by.clone().or_else(|| user().filter(|name| bad_name(name).is_none())).ok_or_else(|| {
        Failure::usage("the judgements need a name: --by is missing", "add --by with a short name of your own")
    })
}

/// Largest file that is read, in bytes.
const MOST_BYTES: u64 = 256 << 20;
/// Rows that are named one by one.
const NAMED: usize = 20;

pub(super) fn import_file(args: &Args, folder: &RunFolder, path: &Path) -> anyhow::Result<u8> {
    let text = File::open(path)
        .and_then(|file| text_at_most(file, MOST_BYTES))
        .map_err(|error| Failure::bad_input(format!("cannot read `{}`: {error}", path.display()), "check the path"))?;
    let known = Annotations::read(folder)?;
    known.notes().for_each(say);
    let shelf = EpisodeIndex::of(&folder.records()?)?;
    let imported = read(&text, &shelf, &known, args.by.as_deref(), &now());
    if !imported.taken.is_empty() {
        append(folder, &imported.taken)?;
    }
    let Imported { taken, known, refused, unused } = &imported;
    if args.json {
        let refused: Vec<_> = refused.iter().map(|(line, why)| json!({"line": line, "why": why})).collect();
        json_line(&mut stdout(), &json!({"taken": taken.len(), "known": known, "refused": refused, "unused": unused}))?;
    } else {
        report_imported(&imported, folder, path)?;
    }
    // A file of which nothing can be used is not the file that was meant.
    let nothing = taken.is_empty() && *known == 0 && !refused.is_empty();
    Ok(if nothing { failure::BAD_INPUT } else { failure::OK })
}

fn report_imported(imported: &Imported, folder: &RunFolder, path: &Path) -> anyhow::Result<()> {
    let Imported { taken, known, refused, unused } = imported;
    if !unused.is_empty() {
        let names: Vec<String> =
            unused.iter().take(NAMED).map(|name| format!("`{}`", visible_line(name, 60))).collect();
        let columns = if names.len() == 1 { "column" } else { "columns" };
        say(format_args!("note: not used: {columns} {}", names.join(", ")));
    }
    for (line, why) in refused.iter().take(NAMED) {
        say(format_args!("warning: {}:{line}: {}; not taken", path.display(), visible_line(why, 400)));
    }
    if refused.len() > NAMED {
        say(format_args!("warning: {} more are not taken; --json names all", thousands(refused.len() - NAMED)));
    }
    if !refused.is_empty() && taken.is_empty() && *known == 0 {
        say(
            "hint: a row needs `key`, or `id` with `variant`, and `by` with `correct` or `class`; see `wikitrail docs annotation`",
        );
    }
    let run = folder.path().display().to_string();
    let mut out = stdout();
    let mut parts = vec![format!("{} taken", counted(taken.len(), "judgement"))];
    parts.extend((*known > 0).then(|| format!("{} there already", thousands(*known))));
    parts.extend((!refused.is_empty()).then(|| format!("{} not taken", thousands(refused.len()))));
    writeln!(out, "{run}: {}", parts.join(", "))?;
    if !taken.is_empty() {
        writeln!(out, "next:\n  wikitrail score {}", shell_word(&run))?;
    }
    Ok(())
}

/// Judges what is left of the sample; what this person judged earlier is passed over.
pub(super) async fn ask_session(args: &Args, run: &RunRef, folder: &RunFolder, by: &str) -> anyhow::Result<u8> {
    let annotations = Annotations::read(folder)?;
    annotations.notes().for_each(say);
    let of_person = |annotation: &&Annotation| annotation.by == by;
    let before: HashSet<String> =
        annotations.latest().into_iter().filter(of_person).map(|annotation| annotation.key.clone()).collect();
    let mut sample = sample_of_run(run, &args.stratify, args.sample, args.seed, &|text| say(text))?;
    let all = sample.len();
    sample.retain(|episode| !before.contains(&episode.key));
    let judged = all - sample.len();
    let before = if judged > 0 { format!("; {judged} of them before, {} left", sample.len()) } else { String::new() };
    say(format_args!("{}, judged by {}{before}", counted(all, "episode"), visible_line(by, 40)));
    let view = View::of_stdout();
    let view = View { width: args.width.unwrap_or(view.width), ..view };
    let lines = Lines::new("judge> ", "? lists the keys; q or Ctrl-D ends, and what was judged is kept")?;
    let session =
        Session { path: &run.path, folder, by, sample, lines, view, seen: HashSet::new(), done: HashSet::new() };
    let (done, left) = session.go().await?;
    let mut out = stdout();
    writeln!(out, "{} judged, {left} left", counted(done, "episode"))?;
    writeln!(out, "next:")?;
    if left > 0 {
        writeln!(out, "  {}", resume_line(args, by))?;
    }
    writeln!(out, "  wikitrail score {}", shell_word(&run.path.display().to_string()))?;
    Ok(failure::OK)
}

fn resume_line(args: &Args, by: &str) -> String {
    let mut words = vec!["wikitrail annotate".to_owned(), shell_word(&visible_line(&args.run, 300))];
    words.extend(args.sample.map(|sample| format!("--sample {sample}")));
    let fields: Vec<String> = args.stratify.iter().map(Stratum::name).collect();
    if fields != ["em", "variant"] {
        words.push(format!("--stratify {}", shell_word(&fields.join(","))));
    }
    if args.seed != 0 {
        words.push(format!("--seed {}", args.seed));
    }
    words.push(format!("--by {}", shell_word(by)));
    words.join(" ")
}

struct Session<'a> {
    path: &'a Path,
    folder: &'a RunFolder,
    by: &'a str,
    sample: Vec<SampledEpisode>,
    lines: Lines,
    view: View,
    /// Episodes whose verdict by the rules was shown.
    seen: HashSet<String>,
    done: HashSet<String>,
}

impl Session<'_> {
    /// How many were judged, and how many are left.
    async fn go(mut self) -> anyhow::Result<(usize, usize)> {
        let mut at = 0;
        'episodes: while at < self.sample.len() {
            let SampledEpisode { key, id } = self.sample[at].clone();
            let graded = find_episode(self.path, &key, &id)?;
            self.show(at, &graded.trajectory)?;
            let next = loop {
                let Some(line) = self.lines.next().await? else { break 'episodes };
                match parse(&line) {
                    Ok(Answer::Nothing) => {}
                    Ok(Answer::Quit) => break 'episodes,
                    Ok(Answer::Help) => write!(stdout(), "{HELP}")?,
                    Ok(Answer::Back) if at == 0 => say("note: this is the first one"),
                    Ok(Answer::Back) => break at - 1,
                    Ok(Answer::Skip) => break at + 1,
                    Ok(Answer::Judged(judgement)) => {
                        let Some(why) = misplaced(&judgement, &graded.trajectory) else {
                            self.keep(judgement, &graded)?;
                            break at + 1;
                        };
                        say(format_args!("error: {why}"));
                    }
                    Err(why) => say(format_args!("error: {why}")),
                }
            };
            at = next;
        }
        let done = self.done.len();
        Ok((done, self.sample.len() - done))
    }

    /// The episode as `show` prints it, without the rules' verdict.
    fn show(&self, at: usize, trajectory: &Trajectory) -> anyhow::Result<()> {
        let mut out = stdout().styled();
        let name = format!("{} of {}", at + 1, self.sample.len());
        out.write_all(heading(&name, &self.view).as_bytes())?;
        let mut trajectory = trajectory.clone();
        // The paper's environment ends with the reward: whether the answer is right.
        let ends = trajectory.steps.iter_mut().filter(|step| step.tool == Some(Tool::Finish));
        ends.for_each(|step| step.observation = None);
        out.write_all(render(&trajectory, None, &self.view).as_bytes())?;
        // Long steps have scrolled the head away.
        out.write_all(to_judge(&trajectory, &key_line(), &self.view).as_bytes())?;
        out.flush()?;
        Ok(())
    }

    /// Appends a judgement, and shows what the rules say.
    fn keep(&mut self, judgement: Judgement, graded: &ScoredEpisode) -> anyhow::Result<()> {
        let key = &graded.trajectory.key;
        let Judgement { correct, class, step, note } = judgement;
        let annotation = Annotation {
            by: self.by.to_owned(),
            at: now(),
            correct,
            class,
            step,
            note,
            blind: !self.seen.contains(key),
            ..Annotation::of(&graded.trajectory)
        };
        if let Some(why) = annotation.fault() {
            say(format_args!("error: {why}"));
        } else {
            append(self.folder, &[annotation])?;
            self.done.insert(key.clone());
        }
        self.seen.insert(key.clone());
        writeln!(stdout(), "rules: {}\n", rules(graded))?;
        Ok(())
    }
}

pub(super) fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

fn misplaced(judgement: &Judgement, trajectory: &Trajectory) -> Option<String> {
    let last = trajectory.steps.iter().map(|step| step.n).max().unwrap_or_default();
    let step = usize::try_from(judgement.step?).unwrap_or(usize::MAX);
    (step > last).then(|| format!("the episode has {}, and no step {step}", counted(last, "step")))
}

fn rules(graded: &ScoredEpisode) -> String {
    match (graded.score, graded.failure()) {
        (None, _) => "none, as the question has no gold answer".to_owned(),
        (Some(_), Some(failure)) => {
            format!("wrong, {}: {}", failure.class.name(), visible_line(&failure.evidence, 300))
        }
        (Some(_), None) => "right".to_owned(),
    }
}

/// One episode, read when it is its turn: a run may be larger than memory.
fn find_episode(path: &Path, key: &str, id: &str) -> anyhow::Result<ScoredEpisode> {
    for graded in GradedRun::open_with(path, Some(id), |_| {})?.episodes() {
        let graded = graded?;
        if graded.trajectory.key == key {
            return Ok(graded);
        }
    }
    let what = format!("`{}` does not have the episode of `{}` any more", path.display(), visible_line(id, 80));
    Err(failure::Failure::bad_input(what, "another process changed the run; start again"))
}
