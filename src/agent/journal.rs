//! Going on with an episode that was cut short: what was kept of it takes the place of the model and the tool.

use crate::types::{Call, Event, Request, Tool, ToolAnswer};
use crate::wiki::{Session, SessionError};
use futures_util::future::BoxFuture;
use std::collections::{HashMap, VecDeque};

/// Keeps what takes place in episodes until they end.
pub trait Journal: Send + Sync {
    /// What earlier starts of the run kept of the episode with this key, in order, each with its sample of a vote (from 0).
    /// It is handed out once.
    fn take(&self, key: &str) -> Vec<(Option<u32>, Event)>;

    /// Keeps an event, and returns when it is on disk. Where it cannot be written the episode goes on: its record is what
    /// counts, and whoever writes that says what is wrong with the disk.
    fn keep<'a>(&'a self, key: &'a str, variant: &'a str, sample: Option<u32>, event: Event) -> BoxFuture<'a, ()>;
}

/// The journal of one episode.
pub(super) struct EpisodeJournal<'a> {
    journal: &'a dyn Journal,
    key: &'a str,
    variant: &'a str,
    kept: HashMap<Option<u32>, VecDeque<Event>>,
}

/// The journal of one dialogue: that of an agent, or of one sample of a vote.
pub(super) struct DialogueJournal<'a> {
    journal: &'a dyn Journal,
    key: &'a str,
    variant: &'a str,
    sample: Option<u32>,
    /// What was kept and has not been used yet.
    kept: VecDeque<Event>,
    /// Uses of the tool whose kept answers were given, which the session has not seen.
    unseen: Vec<(Tool, String)>,
}

impl<'a> EpisodeJournal<'a> {
    pub(super) fn new(journal: &'a dyn Journal, key: &'a str, variant: &'a str) -> Self {
        let mut kept: HashMap<_, VecDeque<_>> = HashMap::new();
        for (sample, event) in journal.take(key) {
            kept.entry(sample).or_default().push_back(event);
        }
        Self { journal, key, variant, kept }
    }

    /// The journal of a dialogue. What was kept of it is handed out once.
    pub(super) fn dialogue(&mut self, sample: Option<u32>) -> DialogueJournal<'a> {
        let Self { journal, key, variant, .. } = *self;
        let kept = self.kept.remove(&sample).unwrap_or_default();
        DialogueJournal { journal, key, variant, sample, kept, unseen: Vec::new() }
    }
}

impl DialogueJournal<'_> {
    /// The kept answer to a request, if the next thing that was kept is this request's.
    pub(super) fn call(&mut self, request: &Request) -> Option<Call> {
        // Earlier versions kept failures of the server as answers: these are asked for again.
        let same = |call: &Call| {
            call.prompt_sha256 == request.prompt.sha256() && call.stop == request.stop && !call.is_failure()
        };
        match self.kept.front() {
            Some(Event::Call(call)) if same(call) => {
                let call = call.clone();
                self.kept.pop_front();
                Some(call)
            }
            // From a difference on, nothing that was kept fits.
            _ => {
                self.kept.clear();
                None
            }
        }
    }

    /// The kept answer to a use of the tool, if the next thing that was kept is its.
    pub(super) fn answer(&mut self, tool: Tool, input: &str) -> Option<ToolAnswer> {
        match self.kept.front() {
            Some(Event::Tool(answer)) if answer.tool == tool && answer.input == input => {
                if is_about_pages(tool) {
                    self.unseen.push((tool, input.to_owned()));
                }
                let answer = answer.clone();
                self.kept.pop_front();
                Some(answer)
            }
            _ => {
                self.kept.clear();
                None
            }
        }
    }

    /// Brings the session to where the kept answers end: the page is open again, and a lookup goes on where it was.
    pub(super) async fn restore(&mut self, session: &mut Session) -> Result<(), SessionError> {
        for (tool, input) in self.unseen.drain(..) {
            session.call(tool, &input).await?;
        }
        Ok(())
    }

    pub(super) async fn keep(&self, event: Event) {
        self.journal.keep(self.key, self.variant, self.sample, event).await;
    }
}

/// Whether the answer of a tool depends on the page that is open, or changes it.
pub(super) fn is_about_pages(tool: Tool) -> bool {
    matches!(tool, Tool::Search | Tool::Lookup)
}
