//! Asking models about the answers or the episodes of a run: what is due, at what price, and doing it.
//!
//! A judge is a model like any other: its keys, pace, budget, recording and cache are those of a run.

use super::{
    Answer, Judge, JudgePrompt, JudgeTask, Judgement, Line, Rule, RuleRecord, VERDICT_VERSION, Verdict, Verdicts, due,
    key,
};
use crate::base::text::{counted, cut, printable};
use crate::base::{Completion, Decoding, Paid, PriceRecord, Request, RequestOption, Usage, sha256_hex};
use crate::models::{Budgeted, Model, ModelError, Price, Spent, in_episode};
use crate::net::recording::TapeError;
use crate::runner::error::{ErrorKind, RunError};
use crate::runner::execute::{End, Interrupts, Unwritten};
use crate::runner::experiment::{
    Experiment, Limits, Output, Pace, Recording, Setting, VARIANT_SETTINGS, VariantSettings,
};
use crate::runner::hints;
use crate::runner::model::{BuiltModel, is_on};
use crate::runner::pool::Pool;
use crate::runner::store::{LineWriter, Lock, RunFolder};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use std::sync::Arc;

/// Maximum tokens of a verdict with its reason, unless another number is set.
const TOKENS: u32 = 512;
/// Characters of a reply that are kept.
const REPLY: usize = 4_000;
/// Verdicts after which it is said how many there are.
const TELL: usize = 100;

#[derive(Debug, Clone)]
pub(crate) struct JudgeSettings<V = Verdict> {
    /// `PROVIDER:NAME`, one or more.
    pub(crate) models: Vec<String>,
    pub(crate) settings: VariantSettings,
    pub(crate) prompt: JudgePrompt<V>,
    pub(crate) rule: Rule,
    pub(crate) limits: Limits,
    pub(crate) pace: Pace,
    pub(crate) recording: Recording,
    pub(crate) dry_run: bool,
}

struct PreparedJudge {
    judge: Judge,
    model: Arc<dyn Model>,
    settings: VariantSettings,
    price: Option<PriceRecord>,
    due: Vec<Answer>,
    /// Chosen answers that have a verdict already.
    known: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JudgePlan {
    pub(crate) model: String,
    pub(crate) known: usize,
    pub(crate) calls: usize,
    /// Tokens of the prompts, estimated, and tokens of the replies at most.
    pub(crate) usage: Usage,
    /// Without and with these replies; absent where no price is known.
    pub(crate) usd: Option<[f64; 2]>,
}

#[derive(Debug)]
pub(crate) struct JudgeEnd {
    pub(crate) end: End,
    pub(crate) judged: usize,
    /// Those of them that say nothing.
    pub(crate) unreadable: usize,
    pub(crate) left: usize,
    pub(crate) budget_spent: bool,
    pub(crate) notes: Vec<String>,
}

pub(crate) struct Judging<V = Verdict> {
    folder: RunFolder,
    pool: Pool,
    prompt: JudgePrompt<V>,
    rule: Rule,
    ready: Vec<PreparedJudge>,
    known: Verdicts<V>,
    /// Two processes at once would ask and pay for the same.
    _lock: Option<Lock>,
}

impl<V: JudgeTask> Judging<V> {
    /// Builds the judges and chooses what they are asked among `answers` of the run. Sends nothing, and writes only a lock.
    pub(crate) fn prepare(folder: RunFolder, answers: &[Answer], judges: &JudgeSettings<V>) -> Result<Self, RunError> {
        let JudgeSettings { limits, pace, recording, .. } = judges.clone();
        let output = Output { dry_run: judges.dry_run, ..Output::default() };
        let experiment = Experiment { limits, pace, recording, output, ..Experiment::default() };
        // Before anything is read: what another process is writing would not be known.
        let lock = if judges.dry_run { None } else { Some(Lock::of_file(&V::file(&folder))?) };
        let known = Verdicts::read(&folder)?;
        let pool = Pool::new(&experiment).map_err(|error| in_flags_of_the_judge(&error, V::FLAG))?;
        let (prompt, rule) = (judges.prompt.clone(), judges.rule);
        let mut judging = Self { folder, pool, prompt, rule, ready: Vec::new(), known, _lock: lock };
        let chosen = due(answers.iter().cloned(), rule);
        for model in &judges.models {
            let settings = VariantSettings { model: Some(model.clone()), ..judges.settings.clone() };
            let ready = judging
                .prepare_judge(settings, &chosen, judges)
                .map_err(|error| in_flags_of_the_judge(&error, V::FLAG))?;
            if judging.ready.iter().any(|other| other.judge == ready.judge) {
                let shown = printable(model, 80);
                return Err(RunError::usage(format!("{} names `{shown}` twice", V::FLAG), "name each model once"));
            }
            judging.ready.push(ready);
        }
        Ok(judging)
    }

    fn prepare_judge(
        &mut self,
        settings: VariantSettings,
        chosen: &[Answer],
        judges: &JudgeSettings<V>,
    ) -> Result<PreparedJudge, RunError> {
        let Some(built) = self.pool.server(&settings)? else {
            return Err(RunError::usage(
                "`baseline` follows rules and cannot judge",
                format!("name a model behind a server, such as {} openai:NAME", V::FLAG),
            ));
        };
        let decoding = decoding(&settings);
        built.fits(&decoding, None, false)?;
        let price = self.pool.prices.of(&settings);
        if price.is_none() && judges.limits.budget_usd.is_some() {
            return Err(RunError::usage(
                format!("--judge-budget-usd needs a price, and none is known for `{}`", printable(&built.label, 80)),
                "give the price with --judge-price IN/OUT or --judge-prices FILE, or limit tokens with --judge-budget-tokens",
            ));
        }
        let BuiltModel { label, endpoint, model, .. } = built;
        let prompt_sha256 = self.prompt.sha256.clone();
        let judge = Judge { model: label, endpoint: endpoint.to_owned(), prompt_sha256, decoding };
        let (known, due): (Vec<_>, Vec<_>) =
            chosen.iter().cloned().partition(|answer| self.known.by_key.contains_key(&key(&judge, answer)));
        let model: Arc<dyn Model> = if self.pool.is_offline() {
            model
        } else {
            for earlier in self.known.by(&judge) {
                let calls = u64::from(earlier.attempts > 0);
                let usage = earlier.usage.filter(|_| calls > 0).unwrap_or_default();
                let paid = Paid { calls, uncounted: 0, usage };
                self.pool.budget.charge(Spent { paid, usd: earlier.cost_usd.unwrap_or_default() });
            }
            Arc::new(Budgeted::new(model, Arc::clone(&self.pool.budget), price.as_ref().map(Price::from)))
        };
        Ok(PreparedJudge { judge, model, settings, price, due, known: known.len() })
    }

    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        self.pool.notes().chain(self.known.notes())
    }

    pub(crate) fn plans(&self) -> impl Iterator<Item = JudgePlan> {
        self.ready.iter().map(|ready| {
            let bytes = |answer: &Answer| self.request(ready, &key(&ready.judge, answer), answer).prompt.bytes();
            let prompts = ready.due.iter().map(|answer| Usage::estimated(bytes(answer), 0).prompt_tokens).sum();
            let replies = ready.due.len() as u64 * u64::from(ready.judge.decoding.max_total_tokens());
            let price = ready.price.as_ref().map(Price::from);
            JudgePlan {
                model: ready.judge.model.clone(),
                known: ready.known,
                calls: ready.due.len(),
                usage: Usage::new(prompts, replies),
                usd: price.map(|price| [0, replies].map(|replies| price.of(Usage::new(prompts, replies)))),
            }
        })
    }

    fn request(&self, ready: &PreparedJudge, key: &str, answer: &Answer) -> Request {
        Request::new(self.prompt.render(key, answer), Vec::new(), ready.judge.decoding.clone())
    }

    /// Asks what is due. Each verdict is written as soon as it is there, by a thread of its own. At the first request to
    /// stop, what is in flight is finished; at the second it is dropped. Once the file takes nothing, no more is asked, and
    /// verdicts in flight are kept elsewhere.
    pub(crate) async fn execute(
        self,
        tell: &mut dyn FnMut(String),
        interrupts: &mut Interrupts,
    ) -> Result<JudgeEnd, RunError> {
        let due: usize = self.ready.iter().map(|ready| ready.due.len()).sum();
        let mut done = JudgingProgress { due, ..JudgingProgress::default() };
        self.folder.write_prompt(&self.prompt.sha256, &self.prompt.text)?;
        let writer = LineWriter::start(V::file(&self.folder))?;
        for ready in &self.ready {
            if done.end.is_none() {
                self.note_rule(ready, &writer).await?;
                self.ask_all(ready, &writer, &mut done, tell, interrupts).await;
            }
        }
        let lines = writer.end();
        if let Some(error) = &done.unwritten {
            return Err(self.unwritten(error, &lines));
        }
        let mut notes = self.pool.tapes.notes();
        notes.append(&mut done.notes);
        Ok(JudgeEnd {
            end: done.end.unwrap_or(End::Done),
            judged: done.judged,
            unreadable: done.unreadable,
            left: due - done.judged,
            budget_spent: self.pool.budget.is_spent(),
            notes,
        })
    }

    async fn note_rule(&self, ready: &PreparedJudge, writer: &LineWriter) -> Result<(), RunError> {
        let known = self.known.judges.iter().find(|known| known.judge == ready.judge);
        if known.is_none_or(|known| known.rule != self.rule) {
            let (rule, judge) = (self.rule, ready.judge.clone());
            let record = RuleRecord { v: VERDICT_VERSION, rule, judge, at: jiff::Timestamp::now().to_string() };
            let written = writer.write(&Line::<V>::Rule(Box::new(record))).await;
            written.map_err(|error| RunError::unexpected(&error, error.hint()))?;
        }
        Ok(())
    }

    async fn ask_all(
        &self,
        ready: &PreparedJudge,
        writer: &LineWriter,
        done: &mut JudgingProgress,
        tell: &mut dyn FnMut(String),
        interrupts: &mut Interrupts,
    ) {
        let mut waiting = ready.due.iter();
        let mut flight = FuturesUnordered::new();
        loop {
            while done.end.is_none() && flight.len() < self.pool.pacer.room().max(1) {
                let Some(answer) = waiting.next() else { break };
                flight.push(self.ask(ready, answer, writer));
            }
            if flight.is_empty() {
                return;
            }
            tokio::select! {
                Some(asked) = flight.next() => self.record(ready, asked, done, tell),
                () = interrupts.next() => {
                    if done.end == Some(End::Interrupted) {
                        return;
                    }
                    done.end = Some(End::Interrupted);
                    tell("stopping: finishing what is in flight; press Ctrl-C again to stop at once".to_owned());
                }
            }
        }
    }

    async fn ask(&self, ready: &PreparedJudge, answer: &Answer, writer: &LineWriter) -> AskOutcome {
        let key = key(&ready.judge, answer);
        let request = self.request(ready, &key, answer);
        match in_episode(format!("{} {key}", V::NAME), 0, ready.model.complete(&request, None)).await {
            Ok(completion) => {
                let judgement = self.judgement(ready, answer, &completion);
                let unreadable = judgement.verdict == V::UNREADABLE;
                match writer.write(&Line::Verdict(Box::new(judgement))).await {
                    Ok(()) => AskOutcome::Judged { unreadable },
                    Err(error) => AskOutcome::Unwritten(error),
                }
            }
            Err(error) => AskOutcome::Failed(error),
        }
    }

    fn record(
        &self,
        ready: &PreparedJudge,
        asked: AskOutcome,
        done: &mut JudgingProgress,
        tell: &mut dyn FnMut(String),
    ) {
        match asked {
            AskOutcome::Judged { unreadable } => {
                done.unreadable += usize::from(unreadable);
                done.judged += 1;
                if done.judged.is_multiple_of(TELL) {
                    let [thing, judged] = V::THING;
                    tell(format!("{} of {} {judged}", done.judged, counted(done.due, thing)));
                }
            }
            AskOutcome::Unwritten(error) => {
                done.end.get_or_insert_with(|| End::Stopped(error.to_string()));
                done.unwritten.get_or_insert(error);
            }
            AskOutcome::Failed(error) => {
                let stopped = match (&error, self.pool.breakers.trip()) {
                    (ModelError::Budget { .. }, _) => Some(error.to_string()),
                    (_, Some(trip)) => Some(trip.reason.clone()),
                    _ => None,
                };
                if done.end.is_none() {
                    done.end = stopped.map(End::Stopped);
                }
                done.failed::<V>(&error, &ready.settings);
            }
        }
    }

    /// Why it ended early, and where the verdicts are that the file did not take.
    fn unwritten(&self, error: &TapeError, lines: &[u8]) -> RunError {
        let [_, judged] = V::THING;
        let unwritten = Unwritten {
            failed: error.to_string(),
            hint: error.hint(),
            what: match memchr::memchr_iter(b'\n', lines).count() {
                0 => format!("everything that was {judged}"),
                count => counted(count, "line"),
            },
            file: &V::file(&self.folder),
            next: "run the same command again",
            lost: "which asks for them again",
        };
        unwritten.keep(lines, &std::env::temp_dir())
    }

    fn judgement(&self, ready: &PreparedJudge, answer: &Answer, completion: &Completion) -> Judgement<V> {
        let (verdict, reason) = self.prompt.read(&completion.text);
        let usage = completion.usage;
        let price = ready.price.as_ref().map(Price::from);
        let asked = !completion.cached && !self.pool.is_offline();
        Judgement {
            v: VERDICT_VERSION,
            key: key(&ready.judge, answer),
            episode: answer.episode.as_ref().map(|read| read.of.clone()),
            judge: ready.judge.clone(),
            id: answer.id.clone(),
            question_sha256: sha256_hex([answer.question.as_bytes()]),
            answer: super::cut_answer(&answer.text),
            verdict,
            reason,
            completion: cut(&completion.text, REPLY).into_owned(),
            usage,
            cost_usd: if asked { price.zip(usage).map(|(price, usage)| price.of(usage)) } else { Some(0.0) },
            attempts: if asked { completion.attempts } else { 0 },
            at: jiff::Timestamp::now().to_string(),
        }
    }
}

enum AskOutcome {
    Judged {
        unreadable: bool,
    },
    /// The verdict is there, and the file did not take it.
    Unwritten(TapeError),
    Failed(ModelError),
}

#[derive(Default)]
struct JudgingProgress {
    due: usize,
    judged: usize,
    unreadable: usize,
    end: Option<End>,
    unwritten: Option<TapeError>,
    notes: Vec<String>,
}

impl JudgingProgress {
    /// Each reason once, with what to do about it.
    fn failed<V: JudgeTask>(&mut self, error: &ModelError, settings: &VariantSettings) {
        let note = format!("not {}: {}", V::THING[1], printable(&error.to_string(), 300));
        if matches!(error, ModelError::Budget { .. }) || self.notes.len() >= 6 || self.notes.contains(&note) {
            return;
        }
        let hint = format!("hint: {}", flags_of_the_judge(&hints::of_error(error, settings), V::FLAG));
        self.notes.push(note);
        if !self.notes.contains(&hint) {
            self.notes.push(hint);
        }
    }
}

fn decoding(settings: &VariantSettings) -> Decoding {
    let typed =
        [(RequestOption::Temperature, settings.temperature.is_some()), (RequestOption::Seed, settings.seed.is_some())];
    debug_assert!(!is_on(settings.completions), "a judge is asked by messages");
    Decoding {
        temperature: settings.temperature.unwrap_or(0.0),
        max_tokens: settings.max_tokens.unwrap_or(TOKENS),
        seed: settings.seed,
        reasoning: settings.reasoning,
        extra_body: crate::runner::model::ModelSettings(settings).extra_body(),
        typed: typed.into(),
        ..Decoding::default()
    }
}

/// An error in the words of the judge's flags, which are those of `run` with `judge` in front; `model` names the model.
pub(super) fn in_flags_of_the_judge(error: &RunError, model: &str) -> RunError {
    let (message, hint) = (flags_of_the_judge(&error.to_string(), model), flags_of_the_judge(error.hint(), model));
    match error.kind() {
        ErrorKind::Usage => RunError::usage(message, hint),
        ErrorKind::Input => RunError::input(message, hint),
        ErrorKind::Unexpected => RunError::unexpected(message, hint),
    }
}

pub(super) fn flags_of_the_judge(text: &str, model: &str) -> String {
    let others = "--concurrency --requests-per-minute --tokens-per-minute --prices --record --replay --cache";
    let mut flags: Vec<String> = VARIANT_SETTINGS.iter().map(Setting::flag).collect();
    flags.extend(others.split(' ').map(str::to_owned));
    // Of two flags that begin alike the longer one is meant.
    flags.sort_by_key(|flag| std::cmp::Reverse(flag.len()));
    let mut pieces = text.split("--");
    let mut said = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match flags.iter().find(|flag| piece.starts_with(&flag[2..])) {
            Some(flag) if flag == "--model" => said.extend([model, &piece[flag.len() - 2..]]),
            Some(_) => said.extend(["--judge-", piece]),
            None => said.extend(["--", piece]),
        }
    }
    said.replace("; then --resume", "; then the same command again")
        .replace("--resume runs these episodes again", "the same command asks again")
}

#[cfg(test)]
mod tests {
    use super::flags_of_the_judge;

    #[test]
    fn errors_name_the_flags_of_the_judge() {
        for (run, judge) in [
            ("set X, or name your own server with --base-url", "set X, or name your own server with --judge-base-url"),
            ("check the name after --model", "check the name after --judge"),
            (
                "raise --model-timeout, or lower --max-tokens",
                "raise --judge-model-timeout, or lower --judge-max-tokens",
            ),
            ("a -- b --out", "a -- b --out"),
        ] {
            assert_eq!(flags_of_the_judge(run, "--judge"), judge);
        }
        assert_eq!(flags_of_the_judge("check --model, --base-url", "--classify"), "check --classify, --judge-base-url");
    }
}
