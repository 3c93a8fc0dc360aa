//! `ask`: one question, answered before one's eyes; or a conversation.

use super::config::{self, DefaultsResolver};
use super::failure::{self, Failure};
use super::flags::{OfVariant, TypedSettings};
use super::output_file::json_line;
use super::run::RecordingArgs;
use super::say::{Lines, say};
use crate::analysis::output_file::refuse_file_of_run;
use crate::analysis::report::{Live, View, counted, visible};
use crate::base::{AnswerKind, Message, Outcome, Question, Request, Trajectory, locked};
use crate::models::{CompletionFuture, Model, ModelError, OnEvent, StreamEvent};
use crate::prompting::protocol::Setup;
use crate::runner::agent::{Episode, EpisodeEvent, EpisodeObserver};
use crate::runner::experiment::{Experiment, Limits, VariantSettings};
use crate::runner::store::Appender;
use crate::runner::{OneAgent, one_agent, shortfalls};
use crate::scoring::Shortfalls;
use futures_util::FutureExt as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The question; with --chat it may be left out.
    #[arg(required_unless_present = "chat")]
    question: Option<String>,
    /// Judge a claim: the answer is SUPPORTS, REFUTES or NOT ENOUGH INFO.
    #[arg(long)]
    claim: bool,
    /// Hold a conversation: questions are read until an empty line, and what the protocol keeps of earlier ones is remembered.
    #[arg(long)]
    chat: bool,
    /// Append what happened to this file, one JSON object a line, as in a run's trajectories.jsonl.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Print one JSON object a question, the record as in trajectories.jsonl, instead of the steps.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    variant: TypedSettings<OfVariant>,
    #[command(flatten)]
    recording: RecordingArgs,
    /// File of models' prices, in the form of `wikitrail docs prices` [default: the shipped prices] [env: `WIKITRAIL_PRICES`].
    #[arg(long, value_name = "FILE", conflicts_with = "price", help_heading = "Budget")]
    prices: Option<PathBuf>,
}

pub(super) async fn execute(mut args: Args, out: &mut (impl Write + Send)) -> anyhow::Result<u8> {
    if args.recording.replay.is_none() {
        let person = config::person()?;
        let mut taking = DefaultsResolver::of(&person);
        taking.settings(&mut args.variant, None, args.prices.is_some())?;
        taking.prices(&mut args.prices, args.variant.has("price"))?;
        taking.tell();
    }
    let mut talk = Talk::new(&args)?;
    let mut code = failure::OK;
    if let Some(question) = &args.question {
        let Some(question) = question_of(question) else {
            return Err(Failure::usage("the question is empty", "put it in quotes: wikitrail ask \"Who was Mozart?\""));
        };
        code = code.max(talk.ask(question, out).await?);
    }
    if args.chat {
        let mut lines = Lines::new("ask> ", "an empty line or Ctrl-D ends the conversation")?;
        while let Some(line) = lines.next().await? {
            let Some(question) = question_of(&line) else { break };
            code = code.max(talk.ask(question, out).await?);
        }
    }
    Ok(code)
}

fn question_of(line: &str) -> Option<&str> {
    Some(line.trim()).filter(|line| !line.is_empty())
}

struct Talk<'a> {
    args: &'a Args,
    one: OneAgent,
    hints: Arc<Hints>,
    saved: Option<Appender>,
    /// Names the questions of this start of the program.
    started: String,
    questions: usize,
    /// Whether it was said that the agent forgot a question.
    warned: bool,
}

impl<'a> Talk<'a> {
    /// Builds everything, so that a bad flag fails before anything is asked.
    fn new(args: &'a Args) -> anyhow::Result<Self> {
        let experiment = Experiment {
            variants: args.variant.flag_lists().variants()?,
            recording: args.recording.recording(),
            limits: Limits { prices: args.prices.clone(), ..Limits::default() },
            ..Experiment::default()
        };
        let mut one = OneAgent::of(&experiment, args.claim)?;
        one.notes.iter().for_each(say);
        args.save.as_deref().map_or(Ok(()), refuse_file_of_run)?;
        let saved = args.save.as_deref().map(Appender::alone).transpose()?;
        if let Some(bytes) = saved.as_ref().and_then(Appender::dropped) {
            say(format_args!("note: dropped {} of a torn last line", counted(bytes, "byte")));
        }
        let settings = experiment.variants.first().map(|spec| spec.settings.clone()).unwrap_or_default();
        let hints = Arc::new(Hints { model: Arc::clone(&one.agent.model), settings, last: Mutex::new(None) });
        one.agent.model = Arc::<Hints>::clone(&hints);
        let started = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
        Ok(Self { args, one, hints, saved, started, questions: 0, warned: false })
    }

    /// Answers one question and remembers it. The exit code as if it were the only one.
    async fn ask(&mut self, question: &str, out: &mut (impl Write + Send)) -> anyhow::Result<u8> {
        let episode = self.episode(question);
        let screen = Screen { live: Live::new(question, View::of_stdout()), out, failed: None };
        let screen = Mutex::new(screen);
        let show = |seen: EpisodeEvent<'_>| {
            locked(&screen).print(|live| match seen {
                EpisodeEvent::Streamed(StreamEvent::Text(text)) => live.text(text),
                EpisodeEvent::Streamed(StreamEvent::Restarted) => live.again(),
                EpisodeEvent::CallEnded => live.call_ended(),
                EpisodeEvent::Step(step) => live.step(step),
            });
        };
        let observer: Option<EpisodeObserver<'_>> = if self.args.json { None } else { Some(&show) };
        let (trajectory, memory) = self.one.agent.answer_observed(&episode, observer, None).await;
        if let Some(saved) = &mut self.saved {
            saved.append([&trajectory])?;
        }
        let mut screen = screen.into_inner().unwrap_or_else(PoisonError::into_inner);
        let measured = trajectory.outcome != Outcome::NotMeasured;
        if measured && !self.args.json {
            screen.print(|live| live.end(&trajectory));
        }
        let out = screen.close()?;
        if self.args.json {
            json_line(out, &trajectory)?;
            out.flush()?;
        }
        let new = self.one.notes_so_far().into_iter().filter(|note| !self.one.notes.contains(note)).collect::<Vec<_>>();
        new.iter().for_each(say);
        self.one.notes.extend(new);
        if !measured {
            self.explain(&trajectory);
            // What failed is not remembered: the next question finds the conversation as it was.
            return Ok(failure::NOT_MEASURED);
        }
        let short = shortfalls(&Shortfalls::of(&trajectory), &self.one.variant);
        for line in &short {
            say(format_args!("note: {line}"));
        }
        if self.args.chat {
            self.remember(memory);
        }
        Ok(failure::OK)
    }

    fn episode(&mut self, question: &str) -> Episode {
        self.questions += 1;
        let id = format!("ask-{}-{}", self.started, self.questions);
        let kind = if self.args.claim { AnswerKind::Label } else { AnswerKind::Span };
        let question = Question {
            dataset: "ask".to_owned(),
            index: self.questions - 1,
            answer_kind: kind,
            ..Question::new(id, question, Vec::new())
        };
        self.one.episode(&Arc::new(question))
    }

    fn explain(&self, trajectory: &Trajectory) {
        let reason = trajectory.detail.as_deref().unwrap_or("no reason is known");
        say(format_args!("error: there is no answer: {}", visible(reason)));
        let wiki = "check --wiki, --wiki-url and the network; `wikitrail wiki` tries the tool by hand";
        let hint =
            locked(&self.hints.last).take().or_else(|| reason.starts_with("wikipedia:").then(|| wiki.to_owned()));
        if let Some(hint) = hint {
            say(format_args!("hint: {hint}"));
        }
    }

    fn remember(&mut self, memory: Vec<Message>) {
        let before = self.one.agent.approach.acting().map_or(0, |acting| acting.setup.history.len());
        if memory.len() <= before && !self.warned {
            self.warned = true;
            say(format_args!(
                "note: `{}` by {} kept nothing of this question; the next one is answered without it",
                self.one.variant.method, self.one.variant.protocol
            ));
        }
        let Some(acting) = self.one.agent.approach.acting_mut() else { return };
        acting.setup = Arc::new(Setup { history: memory, ..Setup::clone(&acting.setup) });
    }
}

/// A model that keeps the hint of its last failure.
struct Hints {
    model: Arc<dyn Model>,
    settings: VariantSettings,
    last: Mutex<Option<String>>,
}

impl Hints {
    fn note(&self, error: &ModelError) {
        *locked(&self.last) = error.hint().map(|_| one_agent::hint(error, &self.settings));
    }
}

impl Model for Hints {
    fn complete<'a>(&'a self, request: &'a Request, on_event: Option<OnEvent<'a>>) -> CompletionFuture<'a> {
        async move { self.model.complete(request, on_event).await.inspect_err(|error| self.note(error)) }.boxed()
    }
}

struct Screen<'a, W> {
    live: Live,
    out: &'a mut W,
    failed: Option<io::Error>,
}

impl<'a, W: Write> Screen<'a, W> {
    /// Ends a line that has begun, and gives the output back.
    fn close(mut self) -> io::Result<&'a mut W> {
        self.print(Live::call_ended);
        self.failed.map_or(Ok(self.out), Err)
    }

    fn print(&mut self, text: impl FnOnce(&mut Live) -> String) {
        let text = text(&mut self.live);
        if text.is_empty() || self.failed.is_some() {
            return;
        }
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        self.failed = written.err();
    }
}
