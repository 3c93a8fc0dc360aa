//! Conversations for fine-tuning.

use super::filter::is_right;
use super::prompts::Prompts;
use super::{Job, Written, each, explain};
use crate::agent::conversation::{Conversation, NoConversation, conversation};
use crate::cli::say::say;
use crate::export::Chat;
use crate::report::counted;
use crate::run::stored::Stored;
use crate::types::{RebuiltPrompt, Trajectory};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;

/// Writes the matching conversations. Episodes that give none are counted and reported.
pub(super) fn write(job: &Job<'_>, out: impl Write) -> anyhow::Result<Written> {
    let args = job.args;
    let mut chat = Chat::new(out);
    let (mut read, mut not_right) = (0_usize, 0_usize);
    let mut left_out: BTreeMap<NoConversation, usize> = BTreeMap::new();
    let mut written = Written::default();
    for (at, run) in job.runs.iter().enumerate() {
        let stored = Stored::of(&run.folder, &run.manifest)?;
        let mut prompts = Prompts::of(job, run)?;
        each(run, |episode| {
            let trajectory = &episode.trajectory;
            // Wrong answers are exported only on request.
            let right = args.filter.names_a_score() || episode.score.is_some_and(is_right);
            let taken = args.filter.takes(&episode);
            read += 1;
            if taken {
                written.see(at, run, trajectory);
                not_right += usize::from(!right);
            }
            if !right || !taken {
                return Ok(());
            }
            let (approach, question) = (stored.approach(trajectory)?, stored.question(trajectory));
            match conversation(trajectory, &question, &approach, args.with_exemplars) {
                Ok(Conversation { turns, functions }) => {
                    written.episodes += 1;
                    let turns = turns.iter().map(|said| (&said.message, said.learn));
                    let more = if args.with_prompts {
                        named(trajectory, &prompts.of_episode(trajectory)?)
                    } else {
                        Map::new()
                    };
                    chat.write(turns, functions.as_deref(), more).map_err(explain)
                }
                Err(reason) => {
                    *left_out.entry(reason).or_default() += 1;
                    Ok(())
                }
            }
        })?;
        prompts.note();
    }
    chat.finish().map_err(explain)?;
    if not_right > 0 {
        let episodes = counted(not_right, "episode");
        let what = if not_right == read {
            format!("no right answer among {episodes}")
        } else {
            format!("{episodes} without a right answer are not written")
        };
        say(format_args!("note: {what}; add --wrong, or --min-f1 0 for all with a score"));
    }
    for (reason, count) in left_out {
        say(format_args!("note: {count} left out: {reason}"));
    }
    Ok(written)
}

/// Which episode it is, and the prompts of its calls.
fn named(trajectory: &Trajectory, prompts: &[RebuiltPrompt]) -> Map<String, Value> {
    let prompts = prompts.iter().map(RebuiltPrompt::to_json).collect();
    let fields = [
        ("id", json!(trajectory.id)),
        ("variant", json!(trajectory.variant)),
        ("repeat", json!(trajectory.repeat)),
        ("prompts", Value::Array(prompts)),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}
