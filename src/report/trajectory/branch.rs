//! What an episode branches off, in words: the same in `show` and on the page.

use crate::types::text::visible_line;
use crate::types::{Branch, Trajectory};

/// Characters of an edit that a line shows; the step has the whole.
const EDIT_CHARS: usize = 300;

/// The branch of both, where two episodes go on from the same step of the same episode.
pub(in crate::report) fn common_fork<'a>(a: &'a Trajectory, b: &Trajectory) -> Option<&'a Branch> {
    let (one, other) = (a.branch.as_ref()?, b.branch.as_ref()?);
    (one.key == other.key && one.at == other.at).then_some(one)
}

/// `r@main:q-1, repeat 0`: the episode that a branch goes off.
pub(in crate::report) fn branch_parent(branch: &Branch) -> String {
    let Branch { run, variant, id, repeat, .. } = branch;
    format!("{}, repeat {repeat}", visible_line(&format!("{run}@{variant}:{id}"), 200))
}

/// `action edited: search[Quokka]`; nothing for the control.
pub(in crate::report) fn branch_edit(branch: &Branch) -> Option<String> {
    let edit = branch.edit.as_ref()?;
    Some(visible_line(&format!("{}: {}", edited_parts(branch)?, edit.text), EDIT_CHARS))
}

/// What a branch says of the step at this place, from 1: that it is copied, or what was edited from there on.
pub(in crate::report) fn step_origin(trajectory: &Trajectory, at: usize) -> Option<String> {
    let branch = trajectory.branch.as_ref()?;
    match at.cmp(&branch.at) {
        std::cmp::Ordering::Less => Some("copied".to_owned()),
        std::cmp::Ordering::Equal => edited_parts(branch),
        std::cmp::Ordering::Greater => None,
    }
}

/// Whether nobody was ever asked for the copied replies of the step at this place: an edit of thought or action writes those
/// of its step, and another protocol those of all copied ones.
pub(in crate::report) fn is_written(trajectory: &Trajectory, at: usize) -> bool {
    let edited = trajectory.branch.as_ref().and_then(|branch| Some((branch.at, branch.edit.as_ref()?)));
    edited.is_some_and(|(edited, edit)| {
        let has = |part| edit.part.split('+').any(|own| own == part);
        has("protocol") || at == edited && (has("thought") || has("action"))
    })
}

/// The parts of an edit: what a step says is edited, what goes on from it is another one. Nothing for the control.
fn edited_parts(branch: &Branch) -> Option<String> {
    let edit = branch.edit.as_ref()?;
    let (others, parts): (Vec<&str>, Vec<&str>) =
        edit.part.split('+').partition(|part| ["model", "prompt", "protocol", "formatting"].contains(part));
    let mut words: Vec<String> = others.iter().map(|part| format!("another {part}")).collect();
    if !parts.is_empty() {
        words.insert(0, format!("{} edited", parts.join(" and ")));
    }
    if branch.by == "placebo" {
        words.insert(0, "placebo".to_owned());
    }
    Some(visible_line(&words.join(", "), 80))
}

/// The whole, as a line.
pub(super) fn branch_line(branch: &Branch) -> String {
    let edit = branch_edit(branch).unwrap_or_else(|| "the unedited control".to_owned());
    format!("off {}, at step {}, {edit}", branch_parent(branch), branch.at)
}
