//! What models say of a run: verdicts on its answers, readings of why its episodes failed; what they are asked, and what
//! they are still to be asked.
//!
//! ```text
//! <run>/verdicts.jsonl             one verdict a line, appended, and how the judged answers were chosen
//! <run>/classifications.jsonl      one reading a line, in the same form
//! ```
//!
//! A verdict belongs to a question, its golds and an answer, whichever variant gave it: equal answers have one verdict. A
//! reading belongs to one episode. [`JudgeTask`] is all in which the two differ.

mod judging;

pub(crate) use judging::{JudgeEnd, JudgePlan, JudgeSettings, Judging};

use crate::analysis::annotations::{self, ANNOTATION_VERSION, Annotation, AnnotationClass};
use crate::base::named;
use crate::base::text::{cut, excerpt, is_control};
use crate::base::{Decoding, Message, Prompt, Step, Tool, Trajectory, Usage, deserialize_usd, json_error, sha256_hex};
use crate::runner::RunError;
use crate::runner::store::{RunFolder, Skipped, StoreError, carry_lines, read_lines};
use crate::scoring::FailureClass;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::{Debug, Write as _};
use std::path::PathBuf;

#[cfg(test)]
mod tests;

/// An answer of some episode, with what a judge is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) id: String,
    pub(crate) question: String,
    pub(crate) golds: Vec<String>,
    pub(crate) text: String,
    /// Whether exact match calls it right.
    pub(crate) right: bool,
    /// The episode behind it, where that is to be read too.
    pub(crate) episode: Option<Transcript>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transcript {
    pub(crate) of: EpisodeRef,
    pub(crate) steps: String,
}

impl Answer {
    pub(crate) fn of(trajectory: Trajectory, right: bool) -> Self {
        let Trajectory { id, question, answers: golds, answer, .. } = trajectory;
        Self { id, question, golds, text: answer.unwrap_or_default(), right, episode: None }
    }

    pub(crate) fn is_there(answer: &str) -> bool {
        !answer.trim().is_empty()
    }
}

/// Version of the stored lines; readers accept older ones and leave newer ones out.
pub(crate) const VERDICT_VERSION: u32 = 1;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum Verdict {
        Correct = "correct",
        Incorrect = "incorrect",
        NotAttempted = "not_attempted",
        /// The reply has no verdict of the prompt's.
        Unreadable = "unreadable",
    }
}

impl Verdict {
    /// Whether the answer is right; absent where that was not measured.
    pub(crate) fn right(self) -> Option<bool> {
        (self != Self::Unreadable).then_some(self == Self::Correct)
    }
}

/// The judge: all settings on which its judgement of an answer depends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Judge {
    /// `openai:NAME`, `anthropic:NAME` or `gemini:NAME`.
    pub(crate) model: String,
    /// As in a manifest: `chat`, `responses`, `messages` or `generateContent`.
    pub(crate) endpoint: String,
    /// Digest of the prompt's file, whose text is in `prompts/`.
    pub(crate) prompt_sha256: String,
    pub(crate) decoding: Decoding,
}

/// Which answers a judge is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rule {
    pub(crate) judged: Choice,
    /// How many of the answers that exact match calls right are judged besides.
    pub(crate) audit: u32,
    pub(crate) seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Choice {
    /// Answers that exact match calls wrong, and a sample of the others.
    WrongByEm,
    All,
}

/// The episode that was read, where not its answer alone was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EpisodeRef {
    /// As in its trajectory.
    pub(crate) key: String,
    pub(crate) variant: String,
    pub(crate) repeat: u32,
}

/// A line of the file: what was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "V: JudgeTask")]
pub(crate) struct Judgement<V = Verdict> {
    /// Format version, [`VERDICT_VERSION`]; always the first field.
    pub(crate) v: u32,
    /// Digest of judge, question, golds and answer, and of the episode where that was read.
    pub(crate) key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) episode: Option<EpisodeRef>,
    pub(crate) judge: Judge,
    /// Id of the first question that this was asked for.
    pub(crate) id: String,
    pub(crate) question_sha256: String,
    pub(crate) answer: String,
    pub(crate) verdict: V,
    /// What the judge wrote before the verdict, cut.
    pub(crate) reason: Option<String>,
    pub(crate) completion: String,
    pub(crate) usage: Option<Usage>,
    /// Absent where no price is known.
    #[serde(default, deserialize_with = "deserialize_usd")]
    pub(crate) cost_usd: Option<f64>,
    /// How often the request was sent; 0 if the answer came from a cache or a recording.
    pub(crate) attempts: u32,
    /// When, RFC 3339 in UTC.
    pub(crate) at: String,
}

/// A line of the file: how the answers were chosen from then on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RuleRecord {
    pub(crate) v: u32,
    pub(crate) rule: Rule,
    pub(crate) judge: Judge,
    pub(crate) at: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged, bound = "V: JudgeTask")]
pub(crate) enum Line<V = Verdict> {
    Verdict(Box<Judgement<V>>),
    Rule(Box<RuleRecord>),
}

/// An answer in the form in which equal answers are one: lower case, one space between words, no quotes around it and no full
/// stop at its end. Other marks stay, as 1.5 is not 15.
pub(crate) fn normalised(answer: &str) -> String {
    let words = answer.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    words.trim_matches(['"', '\'', '`', '“', '”', '‘', '’', '.', '。', ' ']).to_owned()
}

/// What distinguishes verdicts. It has no variant: a judge cannot know which one it judges.
pub(crate) fn key(judge: &Judge, answer: &Answer) -> String {
    let Answer { question, golds, text, episode, .. } = answer;
    let said = normalised(text);
    // Texts and plain structures always serialise.
    let parts = match episode {
        None => serde_json::to_string(&(judge, question, golds, said)),
        Some(read) => serde_json::to_string(&(judge, question, golds, said, &read.of.key, &read.steps)),
    };
    sha256_hex([parts.unwrap_or_default().as_bytes()])
}

/// The words that a model may say of one kind of thing, what it is asked, and where a run keeps what was said.
pub(crate) trait JudgeTask: Copy + Debug + Eq + Serialize + DeserializeOwned + 'static {
    const PROMPT: &'static str;
    const NEEDED: &'static [&'static str];
    const WORDS: &'static [Self];
    const UNREADABLE: Self;
    const FLAG: &'static str;
    /// What models are called here, in front of their names.
    const NAME: &'static str;
    /// What a model's answer is called, in messages.
    const LINE: &'static str;
    /// What is asked about, and what happens to it, in messages.
    const THING: [&'static str; 2];

    fn name(self) -> &'static str;

    fn file(folder: &RunFolder) -> PathBuf;
}

impl JudgeTask for Verdict {
    const PROMPT: &'static str = include_str!("prompt.toml");
    const NEEDED: &'static [&'static str] = &["question", "golds", "answer"];
    const WORDS: &'static [Self] = &[Self::Correct, Self::Incorrect];
    const UNREADABLE: Self = Self::Unreadable;
    const FLAG: &'static str = "--judge";
    const NAME: &'static str = "judge";
    const LINE: &'static str = "verdict";
    const THING: [&'static str; 2] = ["answer", "judged"];

    fn name(self) -> &'static str {
        self.name()
    }

    fn file(folder: &RunFolder) -> PathBuf {
        folder.verdicts()
    }
}

/// Why a model finds that an episode failed; absent where its reply names no class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub(crate) struct Reading(pub(crate) Option<AnnotationClass>);

const UNREADABLE: &str = "unreadable";

/// A class that a reader can find in the steps; the program knows of the others.
const fn reading_of(class: FailureClass) -> Reading {
    Reading(Some(AnnotationClass::Failure(class)))
}

impl JudgeTask for Reading {
    const PROMPT: &'static str = include_str!("classify.toml");
    const NEEDED: &'static [&'static str] = &["question", "golds", "answer", "steps"];
    const WORDS: &'static [Self] = &[
        reading_of(FailureClass::Search),
        reading_of(FailureClass::Lookup),
        reading_of(FailureClass::Reasoning),
        reading_of(FailureClass::Label),
        reading_of(FailureClass::Hallucination),
        reading_of(FailureClass::Loop),
        reading_of(FailureClass::Format),
    ];
    const UNREADABLE: Self = Self(None);
    const FLAG: &'static str = "--classify";
    const NAME: &'static str = "model";
    const LINE: &'static str = "reading";
    const THING: [&'static str; 2] = ["episode", "classified"];

    fn name(self) -> &'static str {
        self.0.map_or(UNREADABLE, AnnotationClass::name)
    }

    fn file(folder: &RunFolder) -> PathBuf {
        folder.classifications()
    }
}

impl TryFrom<String> for Reading {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if name == UNREADABLE { Ok(Self(None)) } else { AnnotationClass::try_from(name).map(|class| Self(Some(class))) }
    }
}

impl From<Reading> for &'static str {
    fn from(reading: Reading) -> Self {
        JudgeTask::name(reading)
    }
}

/// The distinct answers that this rule chooses, in the order of the episodes; the same for two judges, whatever they are.
pub(crate) fn due(answers: impl IntoIterator<Item = Answer>, rule: Rule) -> Vec<Answer> {
    let mut known = HashSet::new();
    let distinct = answers.into_iter().filter(|answer| {
        let episode = answer.episode.as_ref().map(|read| read.of.key.clone());
        known.insert((answer.question.clone(), answer.golds.clone(), normalised(&answer.text), episode))
    });
    let distinct: Vec<Answer> = distinct.collect();
    if rule.judged == Choice::All {
        return distinct;
    }
    let drawn =
        |Answer { id, text, .. }: &Answer| sha256_hex([format!("{} {id} {}", rule.seed, normalised(text)).as_bytes()]);
    let mut right: Vec<(String, usize)> = distinct
        .iter()
        .enumerate()
        .filter(|(_, answer)| answer.right)
        .map(|(at, answer)| (drawn(answer), at))
        .collect();
    right.sort();
    let audited: HashSet<usize> = right.into_iter().take(rule.audit as usize).map(|(_, at)| at).collect();
    let chosen = |(at, answer): (usize, Answer)| (!answer.right || audited.contains(&at)).then_some(answer);
    distinct.into_iter().enumerate().filter_map(chosen).collect()
}

#[derive(Debug)]
pub(crate) struct Verdicts<V = Verdict> {
    by_key: HashMap<String, Judgement<V>>,
    /// In the order in which they first judged.
    pub(crate) judges: Vec<KnownJudge>,
    pub(crate) skipped: Vec<Skipped>,
}

/// A judge of a run, and how its answers were chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct KnownJudge {
    pub(crate) judge: Judge,
    pub(crate) rule: Rule,
}

/// The rule of verdicts whose own one is lost: what was judged is what there is.
const UNKNOWN: Rule = Rule { judged: Choice::WrongByEm, audit: 0, seed: 0 };

impl<V> Default for Verdicts<V> {
    fn default() -> Self {
        Self { by_key: HashMap::new(), judges: Vec::new(), skipped: Vec::new() }
    }
}

impl<V: JudgeTask> Verdicts<V> {
    /// Reads those of a run, if there are any. Lines that cannot be read are left out and listed.
    pub(crate) fn read(folder: &RunFolder) -> Result<Self, StoreError> {
        let (lines, skipped) = read_lines(&V::file(folder), parse::<V>)?;
        let mut read = Self { skipped, ..Self::default() };
        for line in lines {
            match line {
                Line::Rule(record) => {
                    let known = read.judge(&record.judge);
                    // Who was asked about everything once has been asked about everything.
                    if known.rule.judged != Choice::All {
                        known.rule = record.rule;
                    }
                }
                Line::Verdict(one) => {
                    read.judge(&one.judge);
                    read.by_key.entry(one.key.clone()).or_insert(*one);
                }
            }
        }
        Ok(read)
    }

    fn judge(&mut self, judge: &Judge) -> &mut KnownJudge {
        let at = self.judges.iter().position(|known| known.judge == *judge).unwrap_or_else(|| {
            self.judges.push(KnownJudge { judge: judge.clone(), rule: UNKNOWN });
            self.judges.len() - 1
        });
        &mut self.judges[at]
    }

    pub(crate) fn of(&self, judge: &Judge, answer: &Answer) -> Option<&Judgement<V>> {
        self.by_key.get(&key(judge, answer))
    }

    pub(crate) fn by<'a>(&'a self, judge: &'a Judge) -> impl Iterator<Item = &'a Judgement<V>> {
        self.by_key.values().filter(move |one| one.judge == *judge)
    }

    /// The names of the judges behind `judge:` or `model:`: the model's, with a digest where a model judged in several ways.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |known: &KnownJudge| {
            let model = &known.judge.model;
            let alone = self.judges.iter().filter(|other| other.judge.model == *model).count() == 1;
            let digest = &sha256_hex([serde_json::to_string(&known.judge).unwrap_or_default().as_bytes()])[..8];
            let plain: String = model.chars().filter(|c| !is_control(*c) && ![',', '|'].contains(c)).take(40).collect();
            if alone { format!("{}:{plain}", V::NAME) } else { format!("{}:{plain}#{digest}", V::NAME) }
        };
        self.judges.iter().map(name).collect()
    }

    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        annotations::notes(&self.skipped)
    }
}

fn parse<V: JudgeTask>(line: &[u8]) -> Result<Line<V>, String> {
    /// What tells the two kinds of lines apart, so that an error is about the kind that was meant.
    #[derive(Deserialize)]
    struct Kind {
        rule: Option<IgnoredAny>,
        v: Option<u64>,
    }
    let bad = |error| format!("not a {}: {}", V::LINE, json_error::in_line(&error));
    let Kind { rule, v } = serde_json::from_slice(line).map_err(bad)?;
    match v {
        Some(v) if v > u64::from(VERDICT_VERSION) => {
            Err(format!("format version {v}, and this program reads up to {VERDICT_VERSION}"))
        }
        _ if rule.is_some() => Ok(Line::Rule(serde_json::from_slice(line).map_err(bad)?)),
        _ => Ok(Line::Verdict(serde_json::from_slice(line).map_err(bad)?)),
    }
}

/// Writes the verdicts of several folders of one run into a new one, each line once, with the prompts that they name.
pub(crate) fn carry<V: JudgeTask>(folders: &[&RunFolder], new: &RunFolder) -> Result<Vec<String>, StoreError> {
    let notes = carry_lines(folders.iter().map(|folder| V::file(folder)), &V::file(new), parse::<V>)?;
    for known in &Verdicts::<V>::read(new)?.judges {
        let sha256 = &known.judge.prompt_sha256;
        if let Some(text) = folders.iter().find_map(|folder| folder.prompt(sha256).ok()) {
            new.write_prompt(sha256, &text)?;
        }
    }
    Ok(notes)
}

impl Verdicts {
    pub(crate) fn counts(&self, judge: &Judge) -> [usize; 4] {
        Verdict::ALL.map(|verdict| self.by(judge).filter(|one| one.verdict == verdict).count())
    }
}

/// Characters of a thought or an action, of an observation, and of all steps that are shown.
const TEXT: usize = 1_500;
const OBSERVATION: usize = 2_500;
const STEPS: usize = 40_000;

impl Transcript {
    /// The steps without what the end of the episode says of the answer.
    pub(crate) fn of(trajectory: &Trajectory) -> Self {
        let mut text = String::new();
        trajectory.steps.iter().for_each(|step| write(&mut text, step));
        let _ = write!(text, "(end: {})", trajectory.outcome.name());
        let Trajectory { key, variant, repeat, .. } = trajectory;
        let of = EpisodeRef { key: key.clone(), variant: variant.clone(), repeat: *repeat };
        Self { of, steps: cut(&text, STEPS).into_owned() }
    }
}

fn write(text: &mut String, step: &Step) {
    let action = match (step.tool, &step.input, &step.action_text) {
        (Some(tool), Some(input), _) if tool != Tool::Invalid => Some(format!("{}[{input}]", tool.name())),
        (_, _, written) => written.clone(),
    };
    // The paper's environment answers a `Finish` with the reward.
    let observation = step.observation.as_ref().filter(|_| step.tool != Some(Tool::Finish));
    let parts = [
        ("thought", step.thought.as_ref(), TEXT),
        ("action", action.as_ref(), TEXT),
        ("observation", observation, OBSERVATION),
    ];
    for (name, part, most) in parts {
        if let Some(part) = part {
            let _ = writeln!(text, "{name} {}: {}", step.n, cut(part.trim(), most));
        }
    }
}

impl Verdicts<Reading> {
    /// What models say of the episodes, in the form in which people say it. What could not be read is left out.
    pub(crate) fn annotations(&self) -> Vec<Annotation> {
        let mut all = Vec::new();
        for (known, name) in self.judges.iter().zip(self.names()) {
            all.extend(self.by(&known.judge).filter_map(|one| annotation(one, &name)));
        }
        all.sort_by(|a, b| (&a.by, &a.at, &a.key).cmp(&(&b.by, &b.at, &b.key)));
        all
    }

    /// Of each model its name, how many episodes it read, how many replies named no class, and the cost if known.
    pub(crate) fn readers(&self) -> impl Iterator<Item = (String, usize, usize, Option<f64>)> {
        self.judges.iter().zip(self.names()).map(|(known, name)| {
            let unreadable = self.by(&known.judge).filter(|one| one.verdict.0.is_none()).count();
            let usd = self.by(&known.judge).try_fold(0.0, |sum, one| Some(sum + one.cost_usd?));
            (name, self.by(&known.judge).count(), unreadable, usd)
        })
    }
}

fn annotation(one: &Judgement<Reading>, by: &str) -> Option<Annotation> {
    let EpisodeRef { key, variant, repeat } = one.episode.clone()?;
    Some(Annotation {
        v: ANNOTATION_VERSION,
        key,
        id: one.id.clone(),
        variant,
        repeat,
        by: by.to_owned(),
        at: one.at.clone(),
        class: Some(one.verdict.0?),
        note: one.reason.clone(),
        blind: true,
        ..Annotation::default()
    })
}

/// All placeholders; the last one is a mark that no text can know beforehand.
const PLACEHOLDERS: [&str; 5] = ["question", "golds", "answer", "steps", "fence"];
/// Characters of a question, of a gold answer and of an answer that are shown.
const QUESTION: usize = 4_000;
const GOLD: usize = 300;
const ANSWER: usize = 2_000;
const GOLDS: usize = 50;
/// Characters of a reason that are kept.
const REASON: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, bound = "V: JudgeTask")]
struct File<V> {
    system: Option<String>,
    prompt: String,
    marker: Option<String>,
    verdicts: BTreeMap<String, V>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JudgePrompt<V = Verdict> {
    /// The file's text, which is stored with a run.
    pub(crate) text: String,
    pub(crate) sha256: String,
    /// What it holds, with the marker and the words of verdicts in lower case.
    file: File<V>,
}

impl<V: JudgeTask> JudgePrompt<V> {
    pub(crate) fn own() -> Result<Self, RunError> {
        Self::parse(V::PROMPT)
    }

    pub(crate) fn parse(text: &str) -> Result<Self, RunError> {
        let mut file: File<V> = toml::from_str(text).map_err(|error| {
            RunError::input(
                error.to_string().trim_end(),
                "a judge's prompt is a TOML file in the form that `wikitrail docs judge` describes",
            )
        })?;
        if let Some(missing) = V::NEEDED.iter().find(|name| !file.prompt.contains(&format!("{{{name}}}"))) {
            return Err(RunError::input(
                format!("`prompt` has no {{{missing}}}"),
                "a judge is shown {question}, {golds} and {answer}: write each of them where it belongs",
            ));
        }
        if file.marker.as_ref().is_some_and(|marker| marker.trim().is_empty()) {
            return Err(RunError::input(
                "`marker` is empty",
                "name what the line of the verdict begins with, or leave it out",
            ));
        }
        let mut verdicts = BTreeMap::new();
        for (word, verdict) in &file.verdicts {
            let word = folded(word);
            if word.is_empty() || verdicts.contains_key(&word) {
                return Err(RunError::input(
                    format!("[verdicts]: `{}` is empty or written twice", excerpt(&word)),
                    "each verdict has a word of its own; case and the marks around it do not matter",
                ));
            }
            verdicts.insert(word, *verdict);
        }
        for needed in V::WORDS {
            if !verdicts.values().any(|verdict| verdict == needed) {
                return Err(RunError::input(
                    format!("[verdicts] has no word for `{}`", needed.name()),
                    "write WORD = \"correct\" and WORD = \"incorrect\", such as A = \"correct\"",
                ));
            }
        }
        file.marker = file.marker.map(|marker| marker.trim().to_lowercase());
        file.verdicts = verdicts;
        Ok(Self { text: text.to_owned(), sha256: sha256_hex([text.as_bytes()]), file })
    }

    /// The request for a verdict. What is put in is put in once: an answer that has a placeholder in it stays as it is.
    pub(crate) fn render(&self, key: &str, answer: &Answer) -> Prompt {
        let fence = key.get(..16).unwrap_or(key);
        let (question, golds) = (cut(&answer.question, QUESTION), gold_lines(key, &answer.golds));
        let steps = answer.episode.as_ref().map_or("", |read| read.steps.as_str());
        let answer = cut_answer(&answer.text);
        let value = |name: &str| match name {
            "question" => question.as_ref(),
            "golds" => golds.as_str(),
            "answer" => answer.as_str(),
            "steps" => steps,
            _ => fence,
        };
        let fill = |template: &str| filled(template.trim(), &value);
        let system = self.file.system.as_deref().map(|system| Message::system(fill(system)));
        Prompt::Messages(system.into_iter().chain([Message::user(fill(&self.file.prompt))]).collect())
    }

    /// The verdict of a reply, and the reason before it. The last line that begins with the marker counts, as the answer may
    /// hold one that the judge repeats; without a marker the last line is the verdict.
    pub(crate) fn read(&self, reply: &str) -> (V, Option<String>) {
        let lines: Vec<&str> = reply.lines().collect();
        let said = lines.iter().enumerate().rev().find_map(|(at, line)| {
            let line = folded(line);
            let rest = match &self.file.marker {
                Some(marker) => line.strip_prefix(marker.as_str())?.to_owned(),
                None => Some(line).filter(|line| !line.is_empty())?,
            };
            Some((at, folded(&rest)))
        });
        let end = said.as_ref().map_or(lines.len(), |(at, _)| *at);
        let reason = lines[..end].join("\n");
        let verdict = said.and_then(|(_, said)| self.file.verdicts.get(&said).copied());
        let reason = Some(cut(reason.trim(), REASON).into_owned()).filter(|reason| !reason.is_empty());
        (verdict.unwrap_or(V::UNREADABLE), reason)
    }
}

pub(crate) fn cut_answer(answer: &str) -> String {
    cut(answer.trim(), ANSWER).into_owned()
}

/// Words as they are compared: lower case, without the marks that models put around them.
fn folded(text: &str) -> String {
    text.trim_matches(|c: char| c.is_whitespace() || "*_`\"'#>.()[]“”".contains(c)).to_lowercase()
}

/// The golds in an order that depends on the key alone, one a line if there are several.
fn gold_lines(key: &str, golds: &[String]) -> String {
    let mut golds: Vec<(String, &String)> =
        golds.iter().map(|gold| (sha256_hex([key.as_bytes(), gold.as_bytes()]), gold)).collect();
    golds.sort();
    match &golds[..] {
        [(_, gold)] => cut(gold, GOLD).into_owned(),
        golds => {
            let line = |(_, gold): &(String, &String)| format!("- {}", cut(gold, GOLD).replace('\n', " "));
            golds.iter().take(GOLDS).map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

/// A template with its placeholders replaced, each text once.
fn filled<'a>(template: &str, value: &dyn Fn(&str) -> &'a str) -> String {
    let mut pieces = template.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let found = |name: &&'static str| Some((*name, piece.strip_prefix(*name)?.strip_prefix('}')?));
        match PLACEHOLDERS.iter().find_map(found) {
            Some((name, rest)) => text.extend([value(name), rest]),
            None => text.extend(["{", piece]),
        }
    }
    text
}
