//! A run folder of the answers in logs of Inspect (`inspect_ai`): samples as episodes, with the steps that their transcripts
//! show, and what their scorers say.

mod log_file;

use super::reference::{Match, ReferenceQuestions};
use super::{Import, Imported, NEW_FOLDER, displayed, files_of, imported_dataset, write_run};
use crate::base::text::{counted, cut, printable, thousands, visible_line};
use crate::base::{
    Call, Cause, DatasetRecord, FinishReason, FunctionCall, LogRecord, Manifest, Outcome, Question, Step, Tool,
    Trajectory, Variant, json_error, sha256_hex,
};
use crate::dataset::argument;
use crate::runner::error::RunError;
use crate::runner::folder::refuse_target;
use crate::runner::job::new_manifest;
use crate::runner::store::RunFolder;
use crate::scoring::Figure;
pub(crate) use log_file::AnswerFrom;
use log_file::{Head, LogSettings, Sample, instant, is_miscounted, milliseconds, read_log, tokens};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Name of the variant of all answers of one log, and the format of its questions.
const INSPECT: &str = "inspect";

/// The longest name of a variant, in characters.
const MAX_NAME: usize = 80;

/// Variants, scorers and notes that are named one by one.
const NAMED: usize = 20;

/// Each log is a variant; `variant` names that of a single one.
pub(crate) fn import_inspect(
    paths: &[PathBuf],
    answer: AnswerFrom<'_>,
    variant: Option<&str>,
    wanted: &Import<'_>,
) -> Result<Imported, RunError> {
    refuse_target(&RunFolder::at(wanted.out), NEW_FOLDER)?;
    let (logs, left_out) = files_of(paths, &["eval", "json"])?;
    if let Some(name) = variant.filter(|_| logs.len() > 1) {
        let message = format!("--variant {name} names one variant, and there are {} logs", logs.len());
        return Err(RunError::usage(message, "leave it out: each log is a variant that is named after its task"));
    }
    let asked = wanted.like.map(ReferenceQuestions::read).transpose()?;
    let alone = logs.len() == 1;
    let mut found = LogsImporter { answer, variant, alone, asked, ..LogsImporter::default() };
    found.done.notes.extend(left_out.iter().map(|line| format!("warning: {line}; left out")));
    for log in &logs {
        found.log = displayed(log);
        let known = found.variants.len();
        let read = read_log(log, &mut found).and_then(|()| found.end_of_log(log));
        match read {
            // Among several, one without an answer costs no other.
            Err(error) if !found.alone && !found.has_episodes_behind(known) => {
                found.variants.truncate(known);
                found.done.notes.push(format!("warning: {error}; left out"));
            }
            read => read?,
        }
    }
    if found.logs.is_empty() {
        let why = found.done.notes.first().map_or("", String::as_str);
        let message = format!("the logs hold no answer: {why}");
        return Err(RunError::input(message, "name logs that Inspect wrote, with their samples"));
    }
    found.write(wanted)
}

#[derive(Default)]
pub(super) struct LogsImporter<'a> {
    answer: AnswerFrom<'a>,
    variant: Option<&'a str>,
    alone: bool,
    asked: Option<ReferenceQuestions>,
    /// The log that is being read: its path for a person, and what it says.
    log: String,
    settings: Option<LogSettings>,
    variants: Vec<Variant>,
    logs: Vec<LogRecord>,
    heads: Vec<LogSettings>,
    episodes: Vec<Trajectory>,
    questions: HashMap<String, Question>,
    order: Vec<String>,
    seen: HashSet<(String, String, u32)>,
    scorers: BTreeSet<String>,
    by_id_alone: usize,
    /// Of each variant and its first scorer how many it has as right.
    claims: BTreeMap<(String, String), usize>,
    done: Imported,
}

impl LogsImporter<'_> {
    fn head(&mut self, head: Head) -> Result<(), RunError> {
        let settings = LogSettings::of(head);
        let name = match self.variant {
            Some(name) => printable(name, MAX_NAME),
            None if self.alone => INSPECT.to_owned(),
            None => self.free_name(settings.task.as_deref().unwrap_or(INSPECT)),
        };
        if name.trim().is_empty() {
            return Err(RunError::usage("--variant names nothing", "give the variant a name"));
        }
        if let Some(first) = self.heads.first()
            && (first.dataset.is_some() && settings.dataset.is_some() && first.dataset != settings.dataset
                || first.epochs.unwrap_or(1) != settings.epochs.unwrap_or(1))
        {
            let message = "is over another dataset, or has another number of epochs, than the logs before it";
            let message = format!("`{}` {message}", self.log);
            return Err(RunError::input(message, "import it into a folder of its own"));
        }
        self.variants.push(Variant { name, ..settings.variant.clone() });
        self.settings = Some(settings);
        Ok(())
    }

    /// Takes a sample with its place in the log for a person, or why it cannot be read.
    pub(super) fn sample(&mut self, place: &str, text: Result<&str, String>) {
        if let Err(why) = text.and_then(|text| self.add(text)) {
            self.done.skip(format_args!("{}: {place}", self.log), &why);
        }
    }

    fn has_episodes_behind(&self, known: usize) -> bool {
        let last = self.episodes.last();
        last.is_some_and(|last| self.variants[known..].iter().any(|variant| variant.name == last.variant))
    }

    fn free_name(&self, task: &str) -> String {
        let task = printable(task, MAX_NAME);
        let is_free = |name: &String| self.variants.iter().all(|variant| variant.name != *name);
        let numbered = (2..).map(|number| format!("{task}-{number}"));
        std::iter::once(task.clone()).chain(numbered).find(is_free).unwrap_or(task)
    }

    /// Takes a sample as an episode, or says why it is none.
    fn add(&mut self, text: &str) -> Result<(), String> {
        let (Some(settings), Some(variant)) = (&self.settings, self.variants.last()) else { return Ok(()) };
        let sample: Sample = serde_json::from_str(text).map_err(|error| json_error::in_line(&error))?;
        self.scorers.extend(sample.scorers().cloned());
        let mut episode = sample.episode(&variant.name, self.answer, &settings.submit)?;
        episode.steps = steps(&sample, &settings.submit, &episode);
        episode.steps_recorded = !episode.steps.is_empty();
        episode.scores = metrics(sample.scores());
        let question = if let Some(asked) = &self.asked {
            let (question, how) = asked.find(&episode.id, &episode.question)?;
            self.by_id_alone += usize::from(how == Match::IdAlone);
            question.clone()
        } else {
            let next = settings.ids.len() + self.order.len();
            let known = self.questions.get(&episode.id).map(|question| question.index);
            let index = settings.ids.get(&episode.id).copied().or(known).unwrap_or(next);
            let question = Question::new(&episode.id, &episode.question, episode.answers.clone());
            Question { index, meta: sample.meta(), ..question }
        };
        let name = (variant.name.clone(), question.id.clone(), episode.repeat);
        if self.seen.contains(&name) {
            return Err(format!("another sample has its id and epoch: {}, {}", name.1, name.2 + 1));
        }
        if let Some(known) = self.questions.get(&question.id) {
            if known.question != question.question {
                return Err(format!("another sample with the id {} has another question", question.id));
            }
            if known.answers != question.answers {
                return Err(format!("another sample with the id {} has other gold answers", question.id));
            }
        } else {
            self.order.push(question.id.clone());
            self.questions.insert(question.id.clone(), question.clone());
        }
        episode.key = sha256_hex([variant.name.as_bytes(), b"\n", text.as_bytes()]);
        let Question { id, index, question, answers, .. } = question;
        (episode.id, episode.index, episode.question, episode.answers) = (id, index, question, answers);
        self.seen.insert(name);
        if let Some((scorer, right)) = sample.claim() {
            let claim = (variant.name.clone(), scorer.to_owned());
            *self.claims.entry(claim).or_default() += usize::from(right);
        }
        self.episodes.push(episode);
        Ok(())
    }

    /// Says what is missing in the log that was read, and keeps what it said.
    fn end_of_log(&mut self, path: &Path) -> Result<(), RunError> {
        let (Some(mut settings), Some(variant)) = (self.settings.take(), self.variants.last()) else { return Ok(()) };
        let of_log: Vec<&Trajectory> = self.episodes.iter().filter(|episode| episode.variant == variant.name).collect();
        if of_log.is_empty() {
            return Err(self.no_answer());
        }
        let samples = of_log.len();
        if let AnswerFrom::Scorer(scorer) = self.answer
            && !self.scorers.contains(scorer)
        {
            return Err(self.no_scorer(scorer));
        }
        if let Some(why) = settings.unfinished() {
            self.done.notes.push(format!("warning: {}: {why}", self.log));
        }
        if let Some(planned) = settings.record.planned.filter(|planned| *planned > samples) {
            let (samples, planned) = (thousands(samples as u64), thousands(planned as u64));
            self.done.notes.push(format!("warning: {}: {samples} of {planned} episodes are imported", self.log));
        }
        let ended =
            of_log.iter().filter(|one| one.detail.as_ref().is_some_and(|why| why.starts_with("limit: "))).count();
        if ended > 0 {
            let (ended, samples) = (thousands(ended as u64), thousands(samples as u64));
            self.done.notes.push(format!("note: {}: {ended} of {samples} episodes ended at a limit", self.log));
        }
        let (path, variant) = (path.display().to_string(), variant.name.clone());
        let record = std::mem::take(&mut settings.record);
        self.logs.push(LogRecord { path, variant, samples, ..record });
        self.heads.push(settings);
        Ok(())
    }

    fn no_answer(&self) -> RunError {
        if let AnswerFrom::Scorer(scorer) = self.answer
            && !self.scorers.is_empty()
            && !self.scorers.contains(scorer)
        {
            return self.no_scorer(scorer);
        }
        let log = &self.log;
        let last = self.done.skipped.last();
        let hint = match last {
            None => "name a log with its samples: `inspect eval` leaves them out with --no-log-samples",
            Some(why) if why.contains("--like") => {
                "--like matches by id, then by the question's text in the input: name a run over the same questions, or leave it out"
            }
            Some(_) => "name a log that Inspect wrote, with its samples",
        };
        let why = last.map_or("it has no samples", |why| why.strip_prefix(&format!("{log}: ")).unwrap_or(why));
        RunError::input(format!("`{log}` holds no answer: {why}"), hint)
    }

    fn no_scorer(&self, scorer: &str) -> RunError {
        let known: Vec<String> = self.scorers.iter().map(|name| visible_line(name, 80)).collect();
        let hint = if known.is_empty() {
            "it has no scores: leave --scorer out".to_owned()
        } else {
            format!("its scorers are {}", known.join(", "))
        };
        RunError::input(format!("`{}` has no scorer `{}`", self.log, visible_line(scorer, 80)), hint)
    }

    fn write(mut self, wanted: &Import<'_>) -> Result<Imported, RunError> {
        if self.by_id_alone > 0 {
            let count = thousands(self.by_id_alone as u64);
            self.done.notes.push(format!("note: {count} samples were matched by their id alone: their text has another question than the run of --like"));
        }
        let manifest = self.manifest(wanted.command_line.clone());
        let mut questions: Vec<&Question> = self.order.iter().filter_map(|id| self.questions.get(id)).collect();
        questions.sort_by_key(|question| question.index);
        write_run(wanted.out, &manifest, questions, &self.episodes)?;
        self.describe();
        Ok(self.done)
    }

    fn describe(&mut self) {
        self.done.count(&self.episodes);
        let several = self.logs.len() > 1;
        if several {
            let names: Vec<String> = self.logs.iter().take(NAMED).map(|log| visible_line(&log.variant, 80)).collect();
            let more = if self.logs.len() > NAMED { ", …" } else { "" };
            self.done.lines.push(format!("variants: {}{more}", names.join(", ")));
        }
        for ((variant, scorer), right) in self.claims.iter().take(NAMED) {
            let of = if several { format!("{}: ", visible_line(variant, 80)) } else { String::new() };
            let (scorer, right) = (visible_line(scorer, 80), thousands(*right));
            self.done.lines.push(format!("{of}right by the log's `{scorer}`: {right}"));
        }
        let notes = &mut self.done.notes;
        let more = notes.len().saturating_sub(NAMED);
        notes.truncate(NAMED);
        for note in notes.iter_mut() {
            *note = visible_line(note, 500);
        }
        notes.extend((more > 0).then(|| format!("note: {} more", counted(more, "remark"))));
    }

    fn manifest(&self, command_line: Vec<String>) -> Manifest {
        let count = self.order.len();
        let first = self.heads.first();
        let repeats = self.episodes.iter().map(|episode| episode.repeat + 1).max().unwrap_or(1);
        let repeats = repeats.max(first.and_then(|settings| settings.epochs).unwrap_or(1));
        let selected = self.heads.iter().filter_map(|settings| settings.selected).max().unwrap_or(count).max(count);
        let paths: Vec<String> = self.logs.iter().map(|log| log.path.clone()).collect();
        let digests: Vec<&str> = self.logs.iter().map(|log| log.sha256.as_str()).collect();
        let own = || {
            let name =
                self.heads.iter().find_map(|settings| settings.dataset.clone()).unwrap_or_else(|| INSPECT.to_owned());
            let sha256 = match &digests[..] {
                [one] => (*one).to_owned(),
                several => sha256_hex([several.join("\n").as_bytes()]),
            };
            imported_dataset(name, paths.join(", "), INSPECT, sha256, selected)
        };
        let dataset = self.asked.as_ref().map_or_else(own, |asked| DatasetRecord { selected, ..asked.dataset.clone() });
        let same = |of: fn(&LogSettings) -> &Option<String>| {
            let all: BTreeSet<&Option<String>> = self.heads.iter().map(of).collect();
            if all.len() == 1 { all.into_iter().next().cloned().flatten() } else { None }
        };
        let ended: Option<Vec<String>> = self.heads.iter().map(|settings| settings.ended_at.clone()).collect();
        Manifest {
            git_revision: same(|settings| &settings.revision),
            started_at: self.heads.iter().filter_map(|settings| settings.started_at.clone()).min().unwrap_or_default(),
            ended_at: ended.and_then(|all| all.into_iter().max()),
            logs: self.logs.clone(),
            ..new_manifest(self.variants.clone(), dataset, repeats, command_line)
        }
    }
}

/// The most text of all steps of an episode, in bytes: an attachment may stand in many of them, and a record is a line.
const MAX_TEXT: usize = 8 << 20;

/// The longest reasoning that is kept of a call, in characters.
const MAX_REASONING: usize = 64 << 10;

/// The most metrics of an episode, and the longest name of one, in characters.
const MAX_METRICS: usize = 100;
const MAX_METRIC_NAME: usize = 60;

/// A step for each use of a tool, with the model calls before it, and one for the reply that is the answer of the episode; in logs
/// of this program also one for each reply that used no tool.
/// None where the transcript has neither, or more text than a record can hold. `submit` are the tools that submit an answer.
fn steps(sample: &Sample, submit: &[String], episode: &Trajectory) -> Vec<Step> {
    let last = sample.submission(submit);
    let (mut steps, mut calls, mut room): (Vec<Step>, Vec<Call>, usize) = (Vec::new(), Vec::new(), MAX_TEXT);
    for (at, event) in sample.events().iter().enumerate() {
        let size = if event["event"] == "model" {
            let Some(call) = call(sample, event) else { continue };
            let size = size_of(&call);
            calls.push(call);
            size
        } else if is_step(event) {
            let calls = std::mem::take(&mut calls);
            let step = if event["event"] == "tool" {
                step(sample, event, last.map(|last| last == at), calls)
            } else {
                step_without_tool(sample, event, calls)
            };
            let texts = [&step.input, &step.action_text, &step.observation, &step.thought];
            let size = texts.into_iter().flatten().map(String::len).sum();
            steps.push(step);
            size
        } else {
            continue;
        };
        let Some(left) = room.checked_sub(size) else { return Vec::new() };
        room = left;
    }
    if !calls.is_empty() {
        let answer = episode.answer.clone().filter(|_| last.is_none() && episode.outcome == Outcome::Finished);
        let tool = answer.as_ref().map(|_| Tool::Finish);
        steps.push(Step { tool, input: answer, calls, ..Step::default() });
    }
    (1..).zip(&mut steps).for_each(|(n, step)| step.n = n);
    steps
}

/// Whether an event ends a step: a use of a tool, or what this program said to a reply that used none.
fn is_step(event: &Value) -> bool {
    event["event"] == "tool" && event["pending"] != true || event["event"] == "info" && event["source"] == "wikitrail"
}

fn step_without_tool(sample: &Sample, event: &Value, calls: Vec<Call>) -> Step {
    let said = &event["metadata"];
    Step {
        tool: serde_json::from_value(said["tool"].clone()).unwrap_or_default(),
        input: sample.resolved(&said["input"]),
        action_text: sample.resolved(&said["action_text"]),
        observation: sample.content(&event["data"]),
        calls,
        ..Step::default()
    }
}

fn size_of(call: &Call) -> usize {
    let arguments = call.calls.iter().map(|call| call.arguments.len() + call.name.len()).sum::<usize>();
    call.completion.len() + call.reasoning.as_ref().map_or(0, String::len) + arguments
}

/// The step of a tool's event; `submits` is absent where no event submits the answer.
fn step(sample: &Sample, event: &Value, submits: Option<bool>, calls: Vec<Call>) -> Step {
    let name = event["function"].as_str().unwrap_or("unknown");
    let tool = match Tool::of_function(name) {
        _ if submits == Some(true) => Tool::Finish,
        // Whatever an attempt or another agent submits, the episode goes on.
        Tool::Finish if submits == Some(false) => Tool::Other,
        tool => tool,
    };
    let arguments = &event["arguments"];
    let input = argument(arguments);
    let input = sample.resolved(&Value::from(input.as_str())).unwrap_or(input);
    let failed = || sample.resolved(&event["error"]["message"]);
    let thought = calls.last().filter(|call| !call.calls.is_empty()).map(|call| call.completion.trim());
    let thought = thought.filter(|text| !text.is_empty());
    // Logs that this program wrote have it.
    let provenance = serde_json::from_value(event["metadata"]["provenance"].clone()).ok();
    Step {
        thought: thought.map(str::to_owned),
        tool: Some(tool),
        action_text: Some(format!("{name}({arguments})")),
        input: Some(input),
        observation: failed().or_else(|| sample.content(&event["result"])),
        provenance,
        tool_started_at: time(event, "timestamp"),
        tool_ms: event["working_time"].as_f64().map(milliseconds),
        calls,
        ..Step::default()
    }
}

/// A model call; none where the model gave no answer. The prompt is not known as it was sent.
fn call(sample: &Sample, event: &Value) -> Option<Call> {
    let output = &event["output"];
    let choice = output["choices"].get(0)?;
    let message = &choice["message"];
    let finish_reason = choice["stop_reason"].as_str().and_then(FinishReason::recorded);
    let usage = Some(&output["usage"]).filter(|usage| usage.is_object() && !is_miscounted(usage));
    let seconds = output["time"].as_f64().or_else(|| event["working_time"].as_f64());
    let retries = event["retries"].as_u64().and_then(|retries| u32::try_from(retries).ok());
    let stop = event["config"]["stop_seqs"].as_array().into_iter().flatten();
    Some(Call {
        stop: stop.filter_map(Value::as_str).map(str::to_owned).collect(),
        completion: sample.content(&message["content"]).unwrap_or_default(),
        calls: message["tool_calls"].as_array().into_iter().flatten().map(function_call).collect(),
        reasoning: reasoning(sample, &message["content"]),
        cause: finish_reason.as_deref().and_then(Cause::of_finish),
        finish_reason,
        usage: usage.map(tokens),
        started_at: time(event, "timestamp"),
        latency_ms: milliseconds(seconds.unwrap_or_default()),
        attempts: retries.unwrap_or_default().saturating_add(1),
        cached: event["cache"] == "read",
        ..Call::default()
    })
}

fn time(event: &Value, field: &str) -> Option<String> {
    event[field].as_str().and_then(instant)
}

fn function_call(call: &Value) -> FunctionCall {
    let text = |field: &str| call[field].as_str().unwrap_or_default().to_owned();
    FunctionCall { id: text("id"), name: text("function"), arguments: call["arguments"].to_string() }
}

fn reasoning(sample: &Sample, content: &Value) -> Option<String> {
    let parts = content.as_array()?.iter().filter(|part| part["type"] == "reasoning");
    let texts: Vec<String> = parts.filter_map(|part| sample.resolved(&part["reasoning"])).collect();
    (!texts.is_empty()).then(|| cut(&texts.join("\n"), MAX_REASONING).into_owned())
}

/// What the scorers say, by their names; of a scorer with several values each by both names. Words that Inspect counts are counted
/// as it does; other texts are none.
fn metrics(scores: Option<&Map<String, Value>>) -> BTreeMap<String, f64> {
    let mut metrics = BTreeMap::new();
    for (scorer, score) in scores.into_iter().flatten() {
        let value = &score["value"];
        let parts = value.as_object().into_iter().flatten().map(|(part, value)| (format!("{scorer}_{part}"), value));
        for (name, value) in parts.chain([(scorer.clone(), value)]) {
            if let Some(value) = number(value).filter(|_| metrics.len() < MAX_METRICS) {
                metrics.entry(metric_name(&name)).or_insert(value);
            }
        }
    }
    metrics
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64().filter(|number| number.is_finite()),
        Value::Bool(right) => Some(f64::from(u8::from(*right))),
        Value::String(word) => match word.as_str() {
            "C" => Some(1.0),
            "P" => Some(0.5),
            "I" | "N" => Some(0.0),
            _ => None,
        },
        _ => None,
    }
}

/// A name that a metric can have: figures of every run and judges keep theirs.
fn metric_name(scorer: &str) -> String {
    let name = visible_line(scorer, MAX_METRIC_NAME - 10).replace(',', "_");
    let lower = name.to_lowercase();
    let is_taken = Figure::named(&lower).is_some() || lower == "judge" || lower.starts_with("judge:");
    if is_taken { format!("inspect_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::log_file::{AnswerFrom, Sample};
    use super::metrics;
    use crate::base::{Step, Tool, Usage};
    use serde_json::{Value, json};

    fn sample(events: &Value, attachments: &Value) -> Sample {
        serde_json::from_value(
            json!({"id": 1, "epoch": 1, "input": "?", "target": "x", "events": events, "attachments": attachments}),
        )
        .expect("a sample")
    }

    fn steps(sample: &Sample, submit: &[&str]) -> Vec<Step> {
        let submit: Vec<String> = submit.iter().map(|name| (*name).to_owned()).collect();
        let episode = sample.episode("v", AnswerFrom::Either, &submit).expect("an episode");
        super::steps(sample, &submit, &episode)
    }

    fn model(text: &str, calls: &Value) -> Value {
        json!({"event": "model", "retries": 1, "cache": "read", "output": {"time": 0.5, "usage": {"input_tokens": 5, "output_tokens": 2},
            "choices": [{"stop_reason": "tool_calls", "message": {"content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": text}],
                "tool_calls": calls}}]}})
    }

    fn tool(name: &str, arguments: &Value, result: &str) -> Value {
        json!({"event": "tool", "function": name, "arguments": arguments, "result": result})
    }

    #[test]
    fn a_step_is_a_use_of_a_tool_with_the_calls_before_it() {
        let calls = json!([{"id": "c1", "function": "search", "arguments": {"entity": "Rome"}}]);
        let events = json!([{"event": "info"}, model("Look.", &calls), tool("search", &json!({"entity": "Rome"}), "attachment://a"),
            tool("python", &json!({"code": "1", "n": 2}), "1"), {"event": "model", "error": "503", "output": {"choices": []}},
            tool("submit", &json!({"answer": "Milan"}), "no"), model("", &json!([])), tool("submit", &json!({"answer": "Rome"}), "Rome")]);
        let found = steps(&sample(&events, &json!({"a": "A city."})), &["submit"]);
        let parts: Vec<_> =
            found.iter().map(|step| (step.n, step.tool, step.input.as_deref(), step.calls.len())).collect();
        assert_eq!(
            parts,
            [
                (1, Some(Tool::Search), Some("Rome"), 1),
                (2, Some(Tool::Other), Some(r#"{"code":"1","n":2}"#), 0),
                (3, Some(Tool::Other), Some("Milan"), 0),
                (4, Some(Tool::Finish), Some("Rome"), 1),
            ]
        );
        let call = &found[0].calls[0];
        assert_eq!((found[0].observation.as_deref(), found[0].thought.as_deref()), (Some("A city."), Some("Look.")));
        assert_eq!((call.usage, call.latency_ms, call.attempts, call.cached), (Some(Usage::new(5, 2)), 500, 2, true));
        assert_eq!((call.reasoning.as_deref(), call.calls[0].arguments.as_str()), (Some("hm"), r#"{"entity":"Rome"}"#));
    }

    #[test]
    fn a_reply_of_this_program_that_used_no_tool_is_a_step() {
        let remark = |metadata: &Value| json!({"event": "info", "source": "wikitrail", "data": "Invalid.", "metadata": metadata});
        let events = json!([model("Hm.", &json!([])), remark(&json!({"tool": "invalid", "input": "i", "action_text": "a"})),
            {"event": "info", "source": "other", "data": "x"}, model("Oh.", &json!([])), remark(&Value::Null), model("Rome", &json!([]))]);
        let found = steps(&sample(&events, &json!({})), &[]);
        let parts: Vec<_> =
            found.iter().map(|step| (step.n, step.tool, step.action_text.as_deref(), step.calls.len())).collect();
        assert_eq!(parts, [(1, Some(Tool::Invalid), Some("a"), 1), (2, None, None, 1), (3, None, None, 1)]);
        assert_eq!((found[0].observation.as_deref(), found[0].input.as_deref()), (Some("Invalid."), Some("i")));
    }

    #[test]
    fn a_reply_that_is_the_answer_is_a_step_and_a_transcript_without_events_has_none() {
        let replied = json!([model("Rome", &json!([]))]);
        let found = steps(&sample(&replied, &json!({})), &[]);
        assert_eq!((found.len(), found[0].tool, found[0].input.as_deref()), (1, None, None));
        let output = json!({"completion": "Rome"});
        let answered = json!({"id": 1, "epoch": 1, "input": "?", "target": "x", "events": replied, "output": output});
        let found = steps(&serde_json::from_value(answered).expect("a sample"), &[]);
        assert_eq!((found.len(), found[0].tool, found[0].input.as_deref()), (1, Some(Tool::Finish), Some("Rome")));
        assert!(steps(&sample(&json!([{"event": "state"}]), &json!({})), &[]).is_empty());
        // An attachment may stand in many places, and a record is a line.
        let long = json!({"a": "x".repeat(1 << 20)});
        let many: Vec<Value> = (0..9).map(|_| tool("t", &json!({}), "attachment://a")).collect();
        assert!(steps(&sample(&json!(many), &long), &[]).is_empty());
    }

    #[test]
    fn scores_are_metrics_under_names_that_no_figure_has() {
        let scores = json!({"match": {"value": "C"}, "f1": {"value": 0.5}, "multi": {"value": {"a": true, "b,c": "P"}},
            "grade": {"value": "good"}, "judge": {"value": "N"}, "none": {"value": null}});
        let found: Vec<(String, f64)> = metrics(scores.as_object()).into_iter().collect();
        let expected =
            [("inspect_f1", 0.5), ("inspect_judge", 0.0), ("match", 1.0), ("multi_a", 1.0), ("multi_b_c", 0.5)];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value)));
    }
}
