//! From a recorded episode to those that branch off it: one with an edit, its control without, and its placebos, whose edits
//! are of the same kind and say nothing.

use super::error::RunError;
use crate::base::stats::rng::SplitMix64;
use crate::base::text::{is_chinese, visible_line};
use crate::base::{Branch, BranchEdit, Call, Fork, Message, Provenance, Step, Tool, Trajectory, sha256_hex};
use crate::prompting::protocol::{Frame, Kind, Protocol, Spacing};
use crate::runner::agent::{Acting, Approach, Stage};
use crate::runner::store::RunFolder;
use crate::scoring::{GoldEvidence, is_same_page, page_title, search_missed};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

pub(crate) const CONTROL: &str = "control";
pub(crate) const EDITED: &str = "edited";
pub(crate) const PLACEBO: &str = "placebo";

#[derive(Debug, Clone, Default)]
pub(crate) struct Edit {
    /// The thought; an empty one is left out.
    pub(crate) thought: Option<String>,
    pub(crate) action: Option<(Tool, String)>,
    pub(crate) observation: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) protocol: Option<Arc<dyn Protocol>>,
    /// The same prompt with other white space, of a placebo.
    pub(crate) spacing: Option<Spacing>,
    pub(crate) by: String,
}

impl Edit {
    pub(crate) fn is_nothing(&self) -> bool {
        !self.is_of_the_step() && !self.goes_on_otherwise()
    }

    /// Why this edit changes nothing at a step, if so: a control beside it would be the same episode.
    pub(crate) fn idle(&self, step: &Step) -> Option<&'static str> {
        let ends = self.action.as_ref().map_or(step.tool, |(tool, _)| Some(*tool)) == Some(Tool::Finish);
        if ends && self.observation.is_some() {
            return Some("the step gives the answer, and no tool answers there");
        }
        let text = |text: Option<&String>| text.map_or("", |text| text.trim()).to_owned();
        let same = !self.goes_on_otherwise()
            && self.thought.as_ref().is_none_or(|thought| text(Some(thought)) == text(step.thought.as_ref()))
            && self.action.as_ref().is_none_or(|edited| Some(edited) == action(step).as_ref())
            && self.observation.as_ref().is_none_or(|given| Some(given) == step.observation.as_ref());
        same.then_some("the step is like that without the edit")
    }

    /// Whether something else than the run's own goes on from the step.
    fn goes_on_otherwise(&self) -> bool {
        self.model.is_some() || self.prompt.is_some() || self.protocol.is_some()
    }

    fn is_of_the_step(&self) -> bool {
        self.thought.is_some() || self.action.is_some() || self.observation.is_some()
    }

    fn recorded(&self) -> BranchEdit {
        let action = self.action.as_ref().map(|(tool, input)| format!("{}[{input}]", tool.name()));
        let parts = [
            ("thought", self.thought.clone()),
            ("action", action),
            ("observation", self.observation.clone()),
            ("model", self.model.clone()),
            ("prompt", self.prompt.clone()),
            ("protocol", self.protocol.as_ref().map(|protocol| protocol.id().to_owned())),
            // The last one, as it is read back from the last line.
            ("formatting", self.spacing.map(Spacing::name)),
        ];
        let given = parts.into_iter().filter_map(|(part, text)| Some((part, text?)));
        let (names, texts): (Vec<&str>, Vec<String>) = given.unzip();
        BranchEdit::new(&names.join("+"), texts.join("\n"))
    }

    /// Why no edit is of its kind without doing what it does.
    pub(crate) fn has_no_placebo(&self) -> Option<&'static str> {
        if self.model.is_some() {
            return Some("no placebo exists for another model");
        }
        let answers = self.action.as_ref().is_some_and(|(tool, _)| *tool == Tool::Finish);
        answers.then_some("no placebo exists for an edit that gives the answer")
    }
}

/// Refuses to go on with branches that differ from these. Other differences are refused where any run is resumed.
pub(crate) fn refuse_other_edit(out: &Path, forks: &[Fork]) -> Result<(), RunError> {
    let folder = RunFolder::at(out);
    if !folder.exists() {
        return Ok(());
    }
    for recorded in folder.records()?.iter() {
        let recorded = recorded?;
        let Some(was) = recorded.branch else { continue };
        let of_it = |fork: &&Fork| fork.arm == recorded.variant && fork.branch.id == was.id;
        let planned = forks.iter().filter(of_it).find(|fork| fork.repeats.contains(&recorded.repeat));
        let differing = match planned {
            Some(fork) => differences(&was, &fork.branch),
            None if recorded.variant == PLACEBO => vec!["--placebo: was more".to_owned()],
            None => Vec::new(),
        };
        if !differing.is_empty() {
            let (id, out) = (visible_line(&was.id, 80), visible_line(&out.display().to_string(), 200));
            let message = format!("`{out}` holds another branch of question `{id}`:\n  {}", differing.join("\n  "));
            return Err(RunError::input(message, "repeat the command that it was started with, or name another --out"));
        }
    }
    Ok(())
}

fn differences(was: &Branch, now: &Branch) -> Vec<String> {
    let differ = |name: &str, was: &str, now: &str| {
        let shown = |text: &str| format!("`{}`", visible_line(text, 200));
        (was != now).then(|| format!("{}: was {}, now {}", visible_line(name, 80), shown(was), shown(now)))
    };
    let edit = |branch: &Branch| branch.edit.clone().unwrap_or_else(|| BranchEdit::new("", String::new()));
    let (old, new) = (edit(was), edit(now));
    let text = if old.part == new.part { differ(&new.part, &old.text, &new.text) } else { None };
    let episode = [
        differ("run", &was.run, &now.run).filter(|_| was.key != now.key),
        differ("variant", &was.variant, &now.variant),
        differ("repeat", &was.repeat.to_string(), &now.repeat.to_string()),
        differ("--at", &was.at.to_string(), &now.at.to_string()),
        differ("edit", &old.part, &new.part),
        text,
    ];
    let mut found: Vec<String> = episode.into_iter().flatten().collect();
    // The run was made again in the same place.
    found.extend(differ("episode", &was.key, &now.key).filter(|_| found.is_empty()));
    found
}

pub(crate) struct Parent<'a> {
    /// The run's folder, as it was named.
    pub(crate) run: &'a str,
    pub(crate) trajectory: &'a Trajectory,
    acting: &'a Acting,
    repeats: u32,
}

impl<'a> Parent<'a> {
    pub(crate) fn of(
        run: &'a str,
        trajectory: &'a Trajectory,
        approach: &'a Approach,
        repeats: u32,
    ) -> Result<Self, RunError> {
        if let [Stage::Act(acting)] = &approach.0[..] {
            return Ok(Self { run, trajectory, acting, repeats });
        }
        let variant = visible_line(&trajectory.variant, 80);
        let message = format!("variant `{variant}` has no steps to branch off: it votes, or answers without tools");
        Err(RunError::usage(message, "branch off runs of the methods react and act"))
    }

    /// The control and the edited branch at step `at`, from 1.
    pub(crate) fn forks(&self, at: usize, edit: &Edit) -> Result<[Fork; 2], RunError> {
        let control = Fork {
            arm: CONTROL.to_owned(),
            repeats: 0..self.repeats,
            branch: self.branch(at, edit),
            steps: self.trajectory.steps.get(..at.saturating_sub(1)).unwrap_or_default().to_vec(),
            given: None,
            same_prompt: true,
        };
        Ok([control, self.fork(EDITED, 0, at, edit)?])
    }

    pub(crate) fn placebos(&self, at: usize, placebos: &[Edit]) -> Result<Vec<Fork>, RunError> {
        (0..).zip(placebos).map(|(number, edit)| self.fork(PLACEBO, number, at, edit)).collect()
    }

    fn fork(&self, arm: &str, number: u32, at: usize, edit: &Edit) -> Result<Fork, RunError> {
        let trajectory = self.trajectory;
        if edit.thought.is_some() && !self.acting.setup.thoughts {
            let variant = visible_line(&trajectory.variant, 80);
            let message = format!("variant `{variant}` has no thoughts to edit: its method is act");
            return Err(RunError::usage(message, "edit --action or --observation-file, or branch off a run of react"));
        }
        let step =
            trajectory.steps.get(at.wrapping_sub(1)).filter(|step| step.action_text.is_some()).ok_or_else(|| {
                let id = visible_line(&trajectory.id, 80);
                RunError::usage(format!("`{id}` has no action at step {at}"), "`wikitrail show RUN ID` shows its steps")
            })?;
        let protocol = edit.protocol.as_ref().unwrap_or(&self.acting.protocol).as_ref();
        let before = &trajectory.steps[..at - 1];
        let mut steps = if edit.protocol.is_some() {
            before.iter().map(|step| rewritten(step, protocol)).collect::<Result<Vec<_>, _>>()?
        } else {
            before.to_vec()
        };
        if edit.is_of_the_step() {
            steps.push(edited(step, protocol, edit)?);
        }
        Ok(Fork {
            arm: arm.to_owned(),
            repeats: number * self.repeats..(number + 1) * self.repeats,
            branch: Branch { edit: Some(edit.recorded()), ..self.branch(at, edit) },
            steps,
            given: edit.observation.clone(),
            same_prompt: edit.prompt.is_none() && edit.protocol.is_none() && edit.spacing.is_none(),
        })
    }

    fn branch(&self, at: usize, edit: &Edit) -> Branch {
        let Trajectory { key, variant, id, repeat, .. } = self.trajectory;
        let [key, variant, id] = [key, variant, id].map(String::clone);
        let (run, repeat, by) = (self.run.to_owned(), *repeat, edit.by.clone());
        Branch { run, key, variant, id, repeat, at, edit: None, by }
    }
}

/// The step with its edit: where the model's reply is edited, written as the protocol writes it, and read back.
fn edited(step: &Step, protocol: &dyn Protocol, edit: &Edit) -> Result<Step, RunError> {
    let observation = if edit.action.is_some() || edit.observation.is_some() { None } else { step.observation.clone() };
    if edit.thought.is_none() && edit.action.is_none() && edit.protocol.is_none() {
        return Ok(Step { observation, ..step.clone() });
    }
    let (tool, input) = edit.action.clone().or_else(|| action(step)).ok_or_else(|| {
        let message = format!("step {} names no tool, so its thought alone cannot be edited", step.n);
        RunError::usage(message, "add --action, such as --action 'Search[Ray Charles]'")
    })?;
    let thought = edit.thought.clone().or_else(|| step.thought.clone()).filter(|thought| !thought.is_empty());
    let reply = reply(protocol, step, thought.as_deref(), tool, &input).ok_or_else(|| {
        RunError::usage(
            format!("protocol `{}` does not read the edited step {} back as it was written", protocol.id(), step.n),
            "try a text on one line and without labels of the protocol; some protocols need a thought",
        )
    })?;
    let kept = Step { action_text: None, provenance: None, discarded: None, ..step.clone() };
    Ok(Step { thought, tool: Some(tool), input: Some(input), observation, calls: vec![reply], ..kept })
}

fn action(step: &Step) -> Option<(Tool, String)> {
    let tool = step.tool.filter(|tool| *tool != Tool::Invalid)?;
    Some((tool, step.input.clone().unwrap_or_default()))
}

/// A copied step as another protocol writes it, which must read the same action from it.
fn rewritten(step: &Step, protocol: &dyn Protocol) -> Result<Step, RunError> {
    let refused = |what: String| {
        let message = format!("step {} cannot be copied into protocol `{}`: {what}", step.n, protocol.id());
        RunError::usage(message, "branch off an earlier step, or go on by another protocol")
    };
    let Some((tool, input)) = action(step) else { return Err(refused("it names no tool".to_owned())) };
    let thought = step.thought.as_deref().filter(|thought| !thought.trim().is_empty());
    let reply = reply(protocol, step, thought, tool, &input).ok_or_else(|| {
        let parsed = protocol.parse(&protocol.step(step.n, thought, tool, &input), step.n);
        let read = [parsed.tool, parsed.input.or(parsed.answer)].map(Option::unwrap_or_default);
        let read =
            if parsed.kind == Kind::Invalid { "no action".to_owned() } else { format!("`{}[{}]`", read[0], read[1]) };
        let thought = parsed.thought.unwrap_or_default();
        let was = format!("`{}[{input}]`", tool.name());
        refused(visible_line(&format!("{was} is read as {read} after the thought `{thought}`"), 400))
    })?;
    Ok(Step { calls: vec![reply], discarded: None, ..step.clone() })
}

/// The model's reply that the protocol reads as this step, without a label of the thought that the prompt ends in.
fn reply(protocol: &dyn Protocol, step: &Step, thought: Option<&str>, tool: Tool, input: &str) -> Option<Call> {
    let call = |completion: String| Call { completion, attempts: 0, ..Call::default() };
    let written = |thought: Option<&str>| protocol.reply(step.n, thought, tool, input);
    let Message { content, calls, .. } = written(thought);
    if !calls.is_empty() {
        return Some(Call { calls, ..call(content.to_string()) });
    }
    let thoughts: &[Option<&str>] = if thought.is_none() { &[None, Some("")] } else { &[thought] };
    let texts = thoughts.iter().flat_map(|thought| {
        let whole = written(*thought).content.trim().to_owned();
        let rest = whole.split_once([':', '：']).map(|(_, rest)| rest.trim_start_matches(' ').to_owned());
        let spaced = rest.as_ref().map(|rest| format!(" {rest}"));
        [rest, spaced, Some(whole)].into_iter().flatten()
    });
    let wanted = if tool == Tool::Finish { Kind::Finish } else { Kind::Act };
    let is_read = |text: &String| {
        let parsed = protocol.parse(text, step.n);
        let same = |read: &Option<String>, was: &str| read.as_deref().unwrap_or_default().trim() == was.trim();
        parsed.kind == wanted && same(&parsed.thought, thought.unwrap_or_default())
    };
    texts.into_iter().find(is_read).map(call)
}

const SENTENCES: [&str; 12] = [
    "This is one step of several.",
    "There is more to read.",
    "The next step follows.",
    "The question stays the same.",
    "Some details are still open.",
    "It goes on from here.",
    "This was the step before.",
    "One thing at a time.",
    "Not all of it is known yet.",
    "The rest comes later.",
    "Here the text goes on.",
    "So far, so good.",
];

const CHINESE: [&str; 12] = [
    "这是其中一步。",
    "后面还有内容。",
    "接下来是下一步。",
    "问题没有改变。",
    "有些细节还不清楚。",
    "从这里继续。",
    "前面是上一步。",
    "一步一步来。",
    "现在还不完全知道。",
    "其余的以后再说。",
    "文字在这里继续。",
    "到目前为止还好。",
];

const WORDS: [&str; 12] =
    ["also", "part", "name", "other", "known", "first", "later", "place", "made", "several", "called", "between"];

/// The most placebos of a question: their texts begin with different sentences.
pub(crate) const MAX_PLACEBOS: u32 = 12;

/// Longest text that is added where an edit leaves a text out, in characters.
const MAX_ADDED: usize = 200;

/// Pages that placebos are chosen from: those whose titles are about as long as the edit's.
const PAGES: usize = 16;

/// The titles of the pages that a run knows: those that were opened, and the gold pages of its questions.
#[derive(Debug, Default)]
pub(crate) struct Titles(BTreeSet<String>);

impl Titles {
    pub(crate) fn add_gold(&mut self, evidence: &GoldEvidence) {
        self.0.extend(gold(evidence).map(page_title));
    }

    pub(crate) fn add_opened(&mut self, trajectory: &Trajectory) {
        let found = |step: &&Step| !search_missed(step);
        let provenances = trajectory.steps.iter().filter(found).filter_map(|step| step.provenance.as_ref());
        self.0.extend(provenances.flat_map(Provenance::titles).map(str::to_owned));
    }
}

fn gold(evidence: &GoldEvidence) -> impl Iterator<Item = &str> {
    evidence.groups().iter().flat_map(|group| &group.pages).map(String::as_str)
}

pub(crate) struct Placebos<'a> {
    pub(crate) titles: &'a Titles,
    /// The pages that the question needs, which no placebo opens.
    pub(crate) evidence: Option<&'a GoldEvidence>,
    pub(crate) n: u32,
}

impl Placebos<'_> {
    /// The placebos of an edit: as many as there are to be, or fewer where too few other pages are known.
    pub(crate) fn of(&self, parent: &Parent<'_>, at: usize, edit: &Edit) -> Vec<Edit> {
        let Some(step) = parent.trajectory.steps.get(at.wrapping_sub(1)) else { return Vec::new() };
        let neutral = Neutral::about(parent.trajectory);
        let mut placebos: Vec<Edit> = (0..self.n as usize).map(|number| neutral.texts_of(edit, step, number)).collect();
        if let Some((tool, input)) = &edit.action {
            let others = match tool {
                Tool::Lookup => neutral.ordered(WORDS.iter().filter(|word| *word != input).map(ToString::to_string)),
                _ => self.pages(&neutral, parent.trajectory, step, input),
            };
            placebos.truncate(others.len());
            for (placebo, other) in placebos.iter_mut().zip(others) {
                placebo.action = Some((*tool, other));
            }
        }
        if edit.prompt.is_some() || edit.protocol.is_some() {
            let spacings = spacings(&parent.acting.setup.frame);
            placebos.truncate(spacings.len());
            for (placebo, spacing) in placebos.iter_mut().zip(spacings) {
                placebo.spacing = Some(spacing);
            }
        }
        placebos
    }

    /// Pages that neither the question needs nor its episode knows, about as long in their titles as the edit's.
    fn pages(&self, neutral: &Neutral, trajectory: &Trajectory, step: &Step, input: &str) -> Vec<String> {
        let provenances = trajectory.steps.iter().filter_map(|step| step.provenance.as_ref());
        let opened = provenances.flat_map(Provenance::titles);
        let edited = [Some(input), step.input.as_deref()].into_iter().flatten();
        let known: Vec<&str> = self.evidence.into_iter().flat_map(gold).chain(opened).chain(edited).collect();
        let is_other = |title: &&String| !known.iter().any(|known| is_same_page(known, title));
        let mut pages: Vec<&String> = self.titles.0.iter().filter(is_other).collect();
        pages.sort_by_key(|title| title.chars().count().abs_diff(input.chars().count()));
        pages.truncate(PAGES);
        neutral.ordered(pages.into_iter().cloned())
    }
}

struct Neutral {
    seed: u64,
    sentences: Vec<&'static str>,
    between: &'static str,
}

impl Neutral {
    fn about(trajectory: &Trajectory) -> Self {
        let digest = sha256_hex([trajectory.id.as_bytes()]);
        let seed = u64::from_str_radix(&digest[..16], 16).unwrap_or_default();
        let (sentences, between) = if is_chinese(&trajectory.question) { (CHINESE, "") } else { (SENTENCES, " ") };
        let mut neutral = Self { seed, sentences: Vec::new(), between };
        neutral.sentences = neutral.ordered(sentences.into_iter());
        neutral
    }

    fn ordered<T>(&self, items: impl Iterator<Item = T>) -> Vec<T> {
        let mut rng = SplitMix64::new(self.seed);
        let mut items: Vec<(u64, T)> = items.map(|item| (rng.next_u64(), item)).collect();
        items.sort_by_key(|(place, _)| *place);
        items.into_iter().map(|(_, item)| item).collect()
    }

    fn texts_of(&self, edit: &Edit, step: &Step, number: usize) -> Edit {
        let text = |edited: &Option<String>, was: &Option<String>| {
            edited.as_ref().map(|edited| self.in_place_of(edited, was.as_deref().unwrap_or_default(), number))
        };
        let (thought, observation) = (text(&edit.thought, &step.thought), text(&edit.observation, &step.observation));
        Edit { thought, observation, by: PLACEBO.to_owned(), ..Edit::default() }
    }

    /// A text as long as the edit's. Where the edit leaves a text out, that text stays, and the other one is added to it: a
    /// placebo that leaves it out too would do what the edit does.
    fn in_place_of(&self, edited: &str, was: &str, number: usize) -> String {
        let was = was.trim_end();
        if !edited.trim().is_empty() || was.is_empty() {
            return self.text(edited.chars().count(), number);
        }
        format!("{was} {}", self.text(was.chars().count().min(MAX_ADDED), number))
    }

    /// Sentences from the one of this number on, together about as many characters as these.
    fn text(&self, chars: usize, number: usize) -> String {
        let mut text = String::new();
        let mut length = 0;
        for sentence in self.sentences.iter().cycle().skip(number) {
            let more = sentence.chars().count() + if length == 0 { 0 } else { self.between.len() };
            if length > 0 && (length + more).abs_diff(chars) >= length.abs_diff(chars) {
                break;
            }
            if length > 0 {
                text += self.between;
            }
            text += sentence;
            length += more;
        }
        text
    }
}

/// Ways to write the white space of a prompt otherwise, each with another text.
fn spacings(frame: &Frame) -> Vec<Spacing> {
    let mut seen = vec![frame.clone()];
    let mut is_new = |spacing: &Spacing| {
        let spaced = frame.spaced(*spacing);
        let is_new = !seen.contains(&spaced);
        seen.extend(is_new.then_some(spaced));
        is_new
    };
    Spacing::all().filter(|spacing| is_new(spacing)).collect()
}
