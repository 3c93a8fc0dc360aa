//! What the paper's notebooks write and print, as trajectories: the lists of their `LoggingWrapper`, dumps of their `infos`,
//! and the traces on their screen.

use crate::base::python::printed_to_json;
use crate::base::text::excerpt;
use crate::base::trajectory::TRAJECTORY_VERSION;
use crate::base::{Compat, Method, Outcome, Repair, Step, Tool, Trajectory, sha256_hex};
use crate::prompting::protocol::react_paper::MAX_STEPS;
use serde_json::{Map, Value};

pub(super) const VARIANT: &str = "react-notebook";

const CLOSING: &str = "finish[]";

const BROKEN_OFF: &str = "the recording ends before the episode does";

/// An episode with what the notebook itself says of it. Its id is empty.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RecordedEpisode {
    pub(super) trajectory: Trajectory,
    /// Whether it is a claim to be judged, and no question.
    pub(super) claim: bool,
    /// Position of the question in its dataset.
    pub(super) question_idx: Option<usize>,
    pub(super) em: Option<f64>,
    /// The method, by what its steps hold; `LoggingWrapper` keeps no thoughts, so that its files do not tell.
    pub(super) method: Option<Method>,
    pub(super) model: Option<String>,
}

impl RecordedEpisode {
    /// Its texts, which do not depend on how the file was laid out.
    pub(super) fn sha256(&self) -> String {
        let Trajectory { question, steps, .. } = &self.trajectory;
        let texts = steps.iter().flat_map(|step| [&step.thought, &step.action_text, &step.observation]);
        let texts: Vec<&str> =
            std::iter::once(question.as_str()).chain(texts.map(|text| text.as_deref().unwrap_or_default())).collect();
        sha256_hex([texts.join("\n").as_bytes()])
    }

    /// The episode of an object that `LoggingWrapper.write` or a dump of `infos` wrote; nothing for a record that the wrapper
    /// adds when there is no episode.
    pub(super) fn of_object(object: &Map<String, Value>) -> Result<Option<Self>, String> {
        if object.contains_key("observations") || object.contains_key("actions") {
            return logged(object);
        }
        match text(object, "traj")? {
            Some(traj) => dumped(object, traj).map(Some),
            None => Err("it has neither `observations` and `actions` nor `traj`".to_owned()),
        }
    }
}

/// What the environment says at the end of an episode.
#[derive(Debug, Default)]
struct Info {
    answer: Option<String>,
    gold: Option<String>,
    question_idx: Option<usize>,
    /// Steps of the environment, the closing one included.
    steps: Option<usize>,
    em: Option<f64>,
}

impl Info {
    fn of(object: &Map<String, Value>) -> Result<Self, String> {
        Ok(Self {
            answer: text(object, "answer")?.map(str::to_owned),
            gold: text(object, "gt_answer")?.map(str::to_owned),
            question_idx: count(object, "question_idx")?,
            steps: count(object, "steps")?,
            em: match object.get("em") {
                None | Some(Value::Null) => None,
                Some(Value::Bool(right)) => Some(f64::from(u8::from(*right))),
                Some(Value::Number(em)) => em.as_f64(),
                Some(other) => return Err(not_a("em", other, "a number or true or false")),
            },
        })
    }
}

fn text<'a>(object: &'a Map<String, Value>, field: &str) -> Result<Option<&'a str>, String> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(not_a(field, other, "a text")),
    }
}

fn count(object: &Map<String, Value>, field: &str) -> Result<Option<usize>, String> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
            count.map(Some).ok_or_else(|| not_a(field, value, "a whole number from 0"))
        }
    }
}

fn texts<'a>(object: &'a Map<String, Value>, field: &str) -> Result<Vec<&'a str>, String> {
    let list = match object.get(field) {
        None => return Err(format!("field `{field}` is missing")),
        Some(Value::Array(list)) => list,
        Some(other) => return Err(not_a(field, other, "a list of texts")),
    };
    let text = |(at, value): (usize, &'a Value)| {
        value.as_str().ok_or_else(|| not_a(&format!("{field}[{at}]"), value, "a text"))
    };
    list.iter().enumerate().map(text).collect()
}

fn not_a(field: &str, value: &Value, expected: &str) -> String {
    let kind = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(_) => format!("the text {}", excerpt(&value.to_string())),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    format!("field `{field}` is {kind} where {expected} is expected")
}

/// The text of a question or claim behind its label, and whether it is a claim.
fn labelled(text: &str) -> Option<(bool, &str)> {
    let found = [("Question:", false), ("Claim:", true)].into_iter().find_map(|(label, claim)| {
        let rest = text.strip_prefix(label)?.trim();
        Some((claim, rest))
    });
    found.filter(|(_, question)| !question.is_empty())
}

fn logged(object: &Map<String, Value>) -> Result<Option<RecordedEpisode>, String> {
    let (observations, actions) = (texts(object, "observations")?, texts(object, "actions")?);
    let Some((question, observations)) = observations.split_first() else {
        return if actions.is_empty() { Ok(None) } else { Err("field `observations` is empty".to_owned()) };
    };
    if observations.len() != actions.len() {
        return Err(format!(
            "field `observations` has {} texts where {} are expected: the question, and one for each action",
            observations.len() + 1,
            actions.len() + 1
        ));
    }
    let Some((claim, question)) = labelled(question) else {
        return Err(format!(
            "field `observations[0]` does not begin with `Question: ` or `Claim: `: `{}`",
            excerpt(question)
        ));
    };
    let steps: Vec<Step> = actions
        .iter()
        .zip(observations)
        .zip(1..)
        .map(|((action, observation), n)| step(n, None, Some((*action).to_owned()), Some((*observation).to_owned())))
        .collect();
    // The list holds the closing action like any other.
    let closed = steps.len() > MAX_STEPS && actions.last() == Some(&CLOSING);
    Ok(Some(episode(claim, question, steps, closed, Info::of(object)?)))
}

fn dumped(object: &Map<String, Value>, traj: &str) -> Result<RecordedEpisode, String> {
    // The exemplars of the prompt come first.
    let mut traces = read_traces(traj);
    match traces.pop() {
        Some(trace) if !trace.steps.is_empty() => trace.episode(Info::of(object)?),
        _ => Err("field `traj` has no `Question: …` with `Thought 1: …` or `Action 1: …` below it".to_owned()),
    }
}

pub(super) fn step(n: usize, thought: Option<String>, action: Option<String>, observation: Option<String>) -> Step {
    Step { n, thought, action_text: action, observation, ..Step::default() }
}

/// The step by which the notebooks end an episode whose steps have run out.
pub(super) fn closing(n: usize) -> Step {
    step(n, None, Some(CLOSING.to_owned()), Some(String::new()))
}

fn episode(claim: bool, question: &str, mut steps: Vec<Step>, closed: bool, info: Info) -> RecordedEpisode {
    steps.iter_mut().for_each(name_tool);
    let finished = steps.last().filter(|step| step.tool == Some(Tool::Finish) && !closed);
    let answer = finished.and_then(|step| info.answer.clone().or_else(|| step.input.clone()));
    let (outcome, detail) = match () {
        () if closed => (Outcome::StepLimit, None),
        () if answer.is_some() => (Outcome::Finished, None),
        () if steps.len() >= MAX_STEPS => (Outcome::StepLimit, None),
        () => (Outcome::NotMeasured, Some(BROKEN_OFF.to_owned())),
    };
    let trajectory = Trajectory {
        v: TRAJECTORY_VERSION,
        variant: VARIANT.to_owned(),
        question: question.to_owned(),
        answers: info.gold.into_iter().collect(),
        steps,
        steps_recorded: true,
        answer,
        outcome,
        detail,
        compat: Some(Compat::Paper),
        ..Trajectory::default()
    };
    RecordedEpisode { trajectory, claim, question_idx: info.question_idx, em: info.em, method: None, model: None }
}

/// Names the tool and the input of a step by its action.
pub(super) fn name_tool(step: &mut Step) {
    let Some(action) = step.action_text.as_deref() else { return };
    // The notebooks turn the first letter of an action into a small one.
    let mut chars = action.chars();
    let lowered: String = chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default();
    let (tool, input) = Tool::parse_action(&lowered);
    (step.tool, step.input) = (Some(tool), Some(input.to_owned()));
}

/// One question of a text of `Thought n:`, `Action n:` and `Observation n:`.
#[derive(Debug, Default)]
struct Trace {
    /// Its line in the text, from 1.
    line: usize,
    claim: bool,
    question: String,
    question_idx: Option<usize>,
    steps: Vec<Step>,
    /// Steps that took a second call for their action.
    bad_calls: Vec<usize>,
    info: Option<Result<Map<String, Value>, String>>,
}

impl Trace {
    fn episode(mut self, info: Info) -> Result<RecordedEpisode, String> {
        if self.steps.is_empty() {
            return Err("no `Thought 1: …` or `Action 1: …` follows the question".to_owned());
        }
        self.steps.iter_mut().for_each(name_tool);
        let finishes = self.steps.last().is_some_and(|step| step.tool == Some(Tool::Finish));
        let closed = !finishes && info.steps.is_some_and(|steps| steps > self.steps.len());
        if closed {
            self.steps.push(closing(self.steps.len() + 1));
        }
        let mut recorded = episode(self.claim, self.question.trim(), self.steps, closed, info);
        recorded.question_idx = recorded.question_idx.or(self.question_idx);
        let thinks = recorded.trajectory.steps.iter().any(|step| step.thought.is_some());
        recorded.method = Some(if thinks { Method::React } else { Method::Act });
        let repair = |step| Repair { step, kind: Repair::MISSING_ACTION.to_owned() };
        recorded.trajectory.repairs = self.bad_calls.into_iter().map(repair).collect();
        Ok(recorded)
    }
}

/// The episodes of a printed text, each with its line, from 1, or why it is none.
pub(crate) fn printed(text: &str) -> Vec<(usize, Result<RecordedEpisode, String>)> {
    let episode = |mut trace: Trace| {
        let info = trace.info.take().transpose().and_then(|info| Info::of(&info.unwrap_or_default()));
        (trace.line, info.and_then(|info| trace.episode(info)))
    };
    read_traces(text).into_iter().map(episode).collect()
}

/// Whether a line begins a question, as the notebooks print it: `3687 Question: …`.
pub(super) fn is_heading(line: &str) -> bool {
    heading(line).is_some()
}

fn heading(line: &str) -> Option<Heading<'_>> {
    let (first, rest) = line.split_once(' ')?;
    let number = first.parse().ok();
    let (claim, question) = labelled(if number.is_some() || first == "None" { rest } else { line })?;
    Some(Heading { number, claim, question })
}

struct Heading<'a> {
    number: Option<usize>,
    claim: bool,
    question: &'a str,
}

#[derive(Clone, Copy)]
enum Part {
    Question,
    Thought,
    Action,
    Observation,
    /// Text around the episode.
    Other,
}

fn read_traces(text: &str) -> Vec<Trace> {
    let (mut traces, mut part): (Vec<Trace>, Part) = (Vec::new(), Part::Other);
    for (line, number) in text.lines().zip(1..) {
        // Where questions are numbered, one without a number is the model's.
        let numbered = traces.last().is_some_and(|trace| trace.question_idx.is_some());
        if let Some(heading) = heading(line).filter(|heading| heading.number.is_some() || !numbered) {
            let Heading { number: question_idx, claim, question } = heading;
            let question = question.to_owned();
            traces.push(Trace { line: number, claim, question, question_idx, ..Trace::default() });
            part = Part::Question;
        } else if let Some(trace) = traces.last_mut() {
            part = trace.take(line, part);
        }
    }
    for step in traces.iter_mut().flat_map(|trace| &mut trace.steps) {
        for text in [&mut step.thought, &mut step.action_text, &mut step.observation].into_iter().flatten() {
            text.truncate(text.trim_end_matches('\n').len());
        }
    }
    traces
}

impl Trace {
    /// Takes a line below the question; returns what the next one goes on with.
    fn take(&mut self, line: &str, part: Part) -> Part {
        let next = self.steps.len() + 1;
        let label = |word: &str, n: usize| {
            let rest = line.strip_prefix(&format!("{word} {n}:"))?;
            Some(rest.strip_prefix(' ').unwrap_or(rest).to_owned())
        };
        let last = self.steps.last_mut();
        // A step ends with its observation: what looks like another step before it is the model's.
        if last.as_ref().is_none_or(|last| last.observation.is_some()) {
            if let Some(thought) = label("Thought", next) {
                self.steps.push(step(next, Some(thought), None, None));
                return Part::Thought;
            }
            if let Some(action) = label("Action", next) {
                self.steps.push(step(next, None, Some(action), None));
                return Part::Action;
            }
        } else if let Some(last) = last {
            if let Some(observation) = label("Observation", next - 1).filter(|_| last.action_text.is_some()) {
                last.observation = Some(observation);
                return Part::Observation;
            }
            if let Some(action) = label("Action", next - 1).filter(|_| last.action_text.is_none()) {
                last.action_text = Some(action);
                return Part::Action;
            }
        }
        self.take_unlabelled(line, part)
    }

    fn take_unlabelled(&mut self, line: &str, part: Part) -> Part {
        if line.starts_with("{'") {
            let json = printed_to_json(line.trim_end()).ok_or("the dictionary below it is incomplete");
            let object =
                json.and_then(|json| serde_json::from_str(&json).map_err(|_| "the dictionary below it cannot be read"));
            self.info = Some(object.map_err(str::to_owned));
            return Part::Other;
        }
        // What the notebook prints of a reply without an action, and between two questions.
        if line.starts_with("ohh...") {
            self.bad_calls.push(self.steps.len() + 1);
            return Part::Other;
        }
        let numbers = || line.split(' ').filter(|word| word.parse::<f64>().is_ok()).count();
        if line.starts_with("-----------") || numbers() == 4 && line.split(' ').count() == 4 {
            return Part::Other;
        }
        let last = self.steps.last_mut();
        let text = match (part, last) {
            (Part::Question, _) if !line.trim().is_empty() => Some(&mut self.question),
            (Part::Thought, Some(step)) => step.thought.as_mut(),
            (Part::Action, Some(step)) => step.action_text.as_mut(),
            (Part::Observation, Some(step)) => step.observation.as_mut(),
            _ => None,
        };
        if let Some(text) = text {
            text.push('\n');
            text.push_str(line);
        }
        part
    }
}

/// What the cells of a notebook have printed.
pub(super) fn of_cells(notebook: &Map<String, Value>) -> Option<String> {
    let outputs = notebook.get("cells")?.as_array()?.iter().filter_map(|cell| cell["outputs"].as_array()).flatten();
    let printed = outputs.filter(|output| output["name"] == "stdout").map(|output| match &output["text"] {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        text => text.as_str().unwrap_or_default().to_owned(),
    });
    Some(printed.collect())
}
