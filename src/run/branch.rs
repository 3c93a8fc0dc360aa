//! From a recorded episode to those that branch off it: one with an edit, its control without, and its placebos, whose edits
//! are of the same kind and say nothing.

mod placebo;

use super::error::RunError;
use crate::agent::{Acting, Approach};
use crate::protocol::{Kind, Protocol, Spacing};
use crate::store::RunFolder;
use crate::types::text::visible_line;
use crate::types::{Branch, BranchEdit, Call, Fork, Message, Step, Tool, Trajectory};
use std::path::Path;
use std::sync::Arc;

pub(crate) use placebo::{MAX_PLACEBOS, Placebos, Titles};

/// The variants of a branch.
pub(crate) const CONTROL: &str = "control";
pub(crate) const EDITED: &str = "edited";
pub(crate) const PLACEBO: &str = "placebo";

/// What is put in the place of parts of a step, or of the model or the prompt that go on from it.
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
    /// What chose it.
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
        let parts: Vec<(&str, String)> = parts.into_iter().filter_map(|(part, text)| Some((part, text?))).collect();
        let (names, texts): (Vec<&str>, Vec<String>) = parts.into_iter().unzip();
        BranchEdit::new(&names.join("+"), texts.join("\n"))
    }
}

/// Refuses to go on with branches that differ from these, by what differs. Other questions and other settings of a run are
/// refused where any run is resumed.
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
            let id = visible_line(&was.id, 80);
            let message = format!(
                "`{}` holds another branch of question `{id}`:\n  {}",
                visible_line(&out.display().to_string(), 200),
                differing.join("\n  ")
            );
            return Err(RunError::input(message, "repeat the command that it was started with, or name another --out"));
        }
    }
    Ok(())
}

/// What differs, as `name: was X, now Y`.
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

/// The part of an agent that has steps to branch off.
fn acting<'a>(trajectory: &Trajectory, approach: &'a Approach) -> Result<&'a Acting, RunError> {
    if let Approach::Act(acting) = approach {
        return Ok(acting);
    }
    let variant = visible_line(&trajectory.variant, 80);
    Err(RunError::usage(
        format!("variant `{variant}` has no steps to branch off: it votes, or answers without tools"),
        "branch off runs of the methods react and act",
    ))
}

/// An episode that can be branched off.
pub(crate) struct Parent<'a> {
    /// The run's folder, as it was named.
    pub(crate) run: &'a str,
    pub(crate) trajectory: &'a Trajectory,
    acting: &'a Acting,
    /// How often each branch is run.
    repeats: u32,
}

impl<'a> Parent<'a> {
    pub(crate) fn of(
        run: &'a str,
        trajectory: &'a Trajectory,
        approach: &'a Approach,
        repeats: u32,
    ) -> Result<Self, RunError> {
        Ok(Self { run, trajectory, acting: acting(trajectory, approach)?, repeats })
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

    /// The branches of placebos, which are numbered in their order.
    pub(crate) fn placebos(&self, at: usize, placebos: &[Edit]) -> Result<Vec<Fork>, RunError> {
        (0..).zip(placebos).map(|(number, edit)| self.fork(PLACEBO, number, at, edit)).collect()
    }

    fn fork(&self, arm: &str, number: u32, at: usize, edit: &Edit) -> Result<Fork, RunError> {
        let trajectory = self.trajectory;
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
        Branch {
            run: self.run.to_owned(),
            key: key.clone(),
            variant: variant.clone(),
            id: id.clone(),
            repeat: *repeat,
            at,
            edit: None,
            by: edit.by.clone(),
        }
    }
}

/// The step with its edit: where the model's reply is edited, written as the protocol writes it, and read back.
fn edited(step: &Step, protocol: &dyn Protocol, edit: &Edit) -> Result<Step, RunError> {
    let observation = if edit.action.is_some() || edit.observation.is_some() { None } else { step.observation.clone() };
    if edit.thought.is_none() && edit.action.is_none() && edit.protocol.is_none() {
        return Ok(Step { observation, ..step.clone() });
    }
    let (tool, input) = edit.action.clone().or_else(|| action(step)).ok_or_else(|| {
        RunError::usage(
            format!("step {} names no tool, so its thought alone cannot be edited", step.n),
            "add --action, such as --action 'Search[Ray Charles]'",
        )
    })?;
    let thought = edit.thought.clone().or_else(|| step.thought.clone()).filter(|thought| !thought.is_empty());
    let reply = reply(protocol, step, thought.as_deref(), tool, &input).ok_or_else(|| {
        RunError::usage(
            format!("protocol `{}` does not read the edited step {} back as it was written", protocol.id(), step.n),
            "try a text on one line and without labels of the protocol; some protocols need a thought",
        )
    })?;
    Ok(Step {
        thought,
        tool: Some(tool),
        input: Some(input),
        action_text: None,
        observation,
        provenance: None,
        discarded: None,
        calls: vec![reply],
        ..step.clone()
    })
}

/// The tool and its argument, where the step names one.
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

/// The model's reply that the protocol reads as this step. Where the prompt ends in the label of the thought, the reply has
/// none.
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
