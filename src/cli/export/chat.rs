//! Conversations for fine-tuning.

use super::filter::is_right;
use super::{Job, Written, each, explain};
use crate::agent::conversation::{Conversation, NoConversation, conversation};
use crate::cli::say::say;
use crate::export::Chat;
use crate::report::counted;
use crate::run::stored::Stored;
use std::collections::BTreeMap;
use std::io::Write;

/// Writes the matching conversations. Episodes that give none are counted and reported.
pub(super) fn write(job: &Job<'_>, out: impl Write) -> anyhow::Result<Written> {
    let args = job.args;
    let mut chat = Chat::new(out);
    let mut count = 0;
    let (mut read, mut not_right) = (0_usize, 0_usize);
    let mut left_out: BTreeMap<NoConversation, usize> = BTreeMap::new();
    for run in &job.runs {
        let stored = Stored::of(&run.folder, &run.manifest)?;
        each(run, |trajectory, score| {
            // Wrong answers are exported only on request.
            let right = args.filter.names_a_score() || score.is_some_and(is_right);
            read += 1;
            not_right += usize::from(!right && args.filter.takes(trajectory, score));
            if !right || !args.filter.takes(trajectory, score) {
                return Ok(());
            }
            let (approach, question) = (stored.approach(trajectory)?, stored.question(trajectory));
            match conversation(trajectory, &question, approach, args.with_exemplars) {
                Ok(Conversation { turns, functions }) => {
                    count += 1;
                    let turns = turns.iter().map(|said| (&said.message, said.learn));
                    chat.write(turns, functions.as_deref()).map_err(explain)
                }
                Err(reason) => {
                    *left_out.entry(reason).or_default() += 1;
                    Ok(())
                }
            }
        })?;
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
    Ok(Written { episodes: count, steps: 0 })
}
