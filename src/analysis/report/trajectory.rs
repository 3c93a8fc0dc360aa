//! One episode for reading: question, steps, outcome.

use super::console::{View, duration, wrapping};
use crate::base::text::{counted, cut, is_chinese, joined, visible, visible_line};
use crate::base::{Branch, Call, Compat, Outcome, Provenance, Step, Tool, Trajectory, Usage};
use crate::scoring::{AnswerScore, Divergence, Part, ScoredEpisode};
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;
use textwrap::core::display_width;

/// The trajectory as text, with the verdict on its answer if it was scored. Control characters are escaped.
pub(crate) fn render(trajectory: &Trajectory, scored: Option<&ScoredEpisode>, view: &View) -> String {
    let mut page = Page::about(&trajectory.question, *view);
    head(&mut page, trajectory);
    if let Some(scored) = scored {
        show_verdict(&mut page, scored);
    }
    for (step, at) in trajectory.steps.iter().zip(1..) {
        page.blank();
        let origin = step_origin(trajectory, at);
        show_step(&mut page, step, origin.as_deref(), is_written(trajectory, at));
    }
    page.blank();
    end(&mut page, trajectory);
    page.text
}

/// What is to be judged: question, gold answer and answer, each cut after a few lines, and the keys.
pub(crate) fn to_judge(trajectory: &Trajectory, keys: &str, view: &View) -> String {
    const LONGEST: usize = 300;
    let mut page = Page::about(&trajectory.question, *view);
    page.rule("to judge");
    page.field("question", &cut(&trajectory.question, LONGEST), BOLD);
    gold(&mut page, trajectory);
    let answer = trajectory.answer.as_deref().map_or("none".into(), |answer| cut(answer, LONGEST));
    page.field("answer", &answer, GREEN);
    page.field("keys", keys, DIM);
    page.text
}

/// The line above one of several trajectories: its name.
pub(crate) fn heading(name: &str, view: &View) -> String {
    let mut page = Page::about("", *view);
    page.marked_rule(&visible_line(name, 200));
    page.text
}

fn head(page: &mut Page, trajectory: &Trajectory) {
    let Trajectory { id, variant, repeat, compat, .. } = trajectory;
    page.field("id", &format!("{id} (variant {variant}, repeat {repeat}{})", semantics(*compat)), BOLD);
    page.field("question", &trajectory.question, BOLD);
    gold(page, trajectory);
    answer(page, trajectory);
}

fn answer(page: &mut Page, trajectory: &Trajectory) {
    let (text, style) = trajectory.answer.as_deref().map_or(("none", RED), |answer| (answer, GREEN));
    page.field("answer", text, style);
    page.optional("branch", trajectory.branch.as_ref().map(branch_line).as_deref(), YELLOW);
}

fn gold(page: &mut Page, trajectory: &Trajectory) {
    match trajectory.answers.split_first() {
        Some((gold, [])) => page.field("gold", gold, PLAIN),
        Some((gold, aliases)) => page.field("gold", &format!("{gold} (or: {})", aliases.join("; ")), PLAIN),
        None => page.field("gold", "none", DIM),
    }
}

fn show_step(page: &mut Page, step: &Step, origin: Option<&str>, is_written: bool) {
    let sample = step.sample.map(|number| format!("sample {number}, ")).unwrap_or_default();
    let origin = origin.map(|origin| format!(", {origin}")).unwrap_or_default();
    page.rule(&format!("{sample}step {}{origin}", step.n));
    step_fields(page, step, is_written);
}

fn step_fields(page: &mut Page, step: &Step, is_written: bool) {
    page.optional("thought", step.thought.as_deref(), PLAIN);
    page.optional("action", step.action_text.as_deref().map(str::trim), CYAN);
    after_action(page, step, step.observation.as_deref());
    if !step.calls.is_empty() {
        page.field("calls", &calls(step, is_written), DIM);
    }
}

/// The observation, and what belongs to it.
fn after_action(page: &mut Page, step: &Step, observation: Option<&str>) {
    page.optional("observation", observation.map(str::trim_end), PLAIN);
    page.optional("source", step.provenance.as_ref().map(source).as_deref(), DIM);
    page.optional("note", step.note.as_deref(), YELLOW);
    page.optional("set aside", step.discarded.as_deref(), DIM);
}

pub(in crate::analysis::report) fn source(provenance: &Provenance) -> String {
    let Provenance { source, url, title, revid, status, .. } = provenance;
    let revision = revid.map(|revid| format!(", revision {revid}")).unwrap_or_default();
    let status = if *status == 200 { String::new() } else { format!(", status {status}") };
    if !provenance.hits.is_empty() {
        let place = if url.starts_with("corpus:") { url.split('?').next().unwrap_or(url) } else { host_of(url) };
        let passages = counted(provenance.hits.len(), "passage");
        return format!("{passages}{status}, {place}");
    }
    match url.strip_prefix("corpus:") {
        // The titles of a search, or that there are none: no page was read.
        Some(corpus) if !corpus.contains('#') => url.clone(),
        Some(_) => format!("{title}{revision}{status}, {url}"),
        // The title is that of the page, or the query; the whole address is in the record.
        None => format!("{title}{revision}{status}, {source} {}", host_of(url)),
    }
}

/// The host of an address; the whole text where it is none.
fn host_of(url: &str) -> &str {
    let Some((_, behind)) = url.split_once("://") else { return url };
    behind.split(['/', '?', '#']).next().unwrap_or(behind)
}

/// Duration, tokens and end of each model call of a step. `is_written` says whether an edit wrote the copied replies.
pub(in crate::analysis::report) fn calls(step: &Step, is_written: bool) -> String {
    let word = |is: bool, word: &str| is.then(|| word.to_owned());
    let of_call = |call: &Call| {
        let facts = [
            Some(duration(call.latency_ms)),
            call.usage.map(tokens),
            call.finish_reason.clone(),
            word(call.is_reasoning_only(), "reasoning only"),
            word(call.did_not_fit(), "did not fit into the model's context"),
            (call.attempts > 1).then(|| counted(call.attempts, "attempt")),
            word(call.copied, if is_written { "written by the edit" } else { "copied" }),
            word(call.cached, "cached"),
        ];
        facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    };
    step.calls.iter().map(of_call).collect::<Vec<_>>().join("; ")
}

/// Tokens of prompts and completions, and what only some providers count of them.
fn tokens(usage: Usage) -> String {
    let details = usage.details().map(|details| format!(" ({details})")).unwrap_or_default();
    match usage.split() {
        Some(usage) => format!("{} + {} tokens{details}", usage.prompt_tokens, usage.completion_tokens),
        None => format!("{} tokens{details}", usage.total()),
    }
}

fn scores(trajectory: &Trajectory) -> Option<String> {
    let named = trajectory.scores.iter().take(20).map(|(name, value)| format!("{} {value}", visible_line(name, 60)));
    joined(named, ", ")
}

fn end(page: &mut Page, trajectory: &Trajectory) {
    let style = if trajectory.outcome == Outcome::Finished { GREEN } else { RED };
    page.field("outcome", trajectory.outcome.name(), style);
    page.optional("detail", trajectory.detail.as_deref(), PLAIN);
    page.optional("votes", votes(trajectory).as_deref(), PLAIN);
    page.optional("scores", scores(trajectory).as_deref(), PLAIN);
    page.optional("repairs", repairs(trajectory).as_deref(), YELLOW);
    // Imported episodes do not say when they began.
    let time = trajectory.started_at.split_once('T').map(|(_, time)| time.split(['.', 'Z']).next().unwrap_or(time));
    let started = time.map(|time| format!(", started {time}")).unwrap_or_default();
    page.field("total", &format!("{}{started}", sum(trajectory)), DIM);
}

/// The semantics of the tool behind a comma, where they are known.
fn semantics(compat: Option<Compat>) -> String {
    compat.map(|compat| format!(", compat {}", compat.name())).unwrap_or_default()
}

pub(in crate::analysis::report) fn votes(trajectory: &Trajectory) -> Option<String> {
    joined(trajectory.votes.iter().map(|vote| format!("{} for `{}`", vote.count, vote.answer)), "; ")
}

pub(in crate::analysis::report) fn repairs(trajectory: &Trajectory) -> Option<String> {
    joined(trajectory.repairs.iter().map(|repair| format!("step {}: {}", repair.step, repair.kind)), "; ")
}

/// Steps, calls, tokens, cost and duration.
pub(in crate::analysis::report) fn sum(trajectory: &Trajectory) -> String {
    let mut parts = if trajectory.has_steps() {
        vec![counted(trajectory.agent_steps().count(), "step")]
    } else {
        vec!["steps not recorded".to_owned()]
    };
    parts.extend(trajectory.recorded_calls().map(|calls| counted(calls, "call")));
    let said =
        |usage: Usage| if usage.split().is_some() { format!("{} (in + out)", tokens(usage)) } else { tokens(usage) };
    parts.extend(trajectory.counted_usage().map(said));
    parts.extend(trajectory.cost().map(|cost| format!("{cost:.4} USD")));
    parts.extend(trajectory.timed_ms().map(duration));
    parts.join(", ")
}

/// `right`, `wrong`, or why there is no verdict.
pub(super) fn verdict_word(outcome: Outcome, score: Option<AnswerScore>) -> &'static str {
    match score {
        Some(score) if score.em > 0.0 => "right",
        Some(_) => "wrong",
        None if matches!(outcome, Outcome::NotMeasured | Outcome::Budget) => "not measured",
        None => "no gold",
    }
}

fn show_verdict(page: &mut Page, episode: &ScoredEpisode) {
    match (verdict_word(episode.trajectory.outcome, episode.score), episode.score) {
        (word, Some(AnswerScore { em, f1, .. })) => {
            let figures = format!("{word} (EM {em:.0}, F1 {f1:.2} by metric {})", episode.metric.name());
            page.field("verdict", &figures, if em > 0.0 { GREEN } else { RED });
        }
        ("no gold", None) => page.field("verdict", "none: the question has no gold answer", DIM),
        (_, None) => page.field("verdict", "none: the episode was not measured", DIM),
    }
    let Some(assessment) = &episode.assessment else { return };
    if let Some(failure) = &assessment.failure {
        page.field("failure", &format!("{}: {}", failure.class.name(), failure.described()), PLAIN);
    }
    page.optional("grounding", assessment.grounding.map(crate::scoring::Grounding::name), DIM);
}

/// Characters of an edit that a line shows; the step has the whole.
const EDIT_CHARS: usize = 300;

/// `r@main:q-1, repeat 0`: the episode that a branch goes off.
pub(super) fn branch_parent(branch: &Branch) -> String {
    let Branch { run, variant, id, repeat, .. } = branch;
    format!("{}, repeat {repeat}", visible_line(&format!("{run}@{variant}:{id}"), 200))
}

/// `action edited: search[Quokka]`; nothing for the control.
pub(super) fn branch_edit(branch: &Branch) -> Option<String> {
    let edit = branch.edit.as_ref()?;
    Some(visible_line(&format!("{}: {}", edited_parts(branch)?, edit.text), EDIT_CHARS))
}

/// What a branch says of the step at this place, from 1: that it is copied, or what was edited from there on.
pub(super) fn step_origin(trajectory: &Trajectory, at: usize) -> Option<String> {
    let branch = trajectory.branch.as_ref()?;
    match at.cmp(&branch.at) {
        std::cmp::Ordering::Less => Some("copied".to_owned()),
        std::cmp::Ordering::Equal => edited_parts(branch),
        std::cmp::Ordering::Greater => None,
    }
}

/// Whether an edit wrote the copied replies of the step at this place: its own, or another protocol for all.
pub(super) fn is_written(trajectory: &Trajectory, at: usize) -> bool {
    let edited = trajectory.branch.as_ref().and_then(|branch| Some((branch.at, branch.edit.as_ref()?)));
    edited.is_some_and(|(edited, edit)| {
        let has = |part| edit.part.split('+').any(|own| own == part);
        has("protocol") || at == edited && (has("thought") || has("action"))
    })
}

/// The parts of an edit: what a step says is edited, what goes on from it is another one. Nothing for the control.
pub(super) fn edited_parts(branch: &Branch) -> Option<String> {
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

fn branch_line(branch: &Branch) -> String {
    let edit = branch_edit(branch).unwrap_or_else(|| "the unedited control".to_owned());
    format!("off {}, at step {}, {edit}", branch_parent(branch), branch.at)
}

/// On narrower terminals one episode is shown above the other: half the width is too little for prose.
const SIDE_BY_SIDE: usize = 100;

const GUTTER: &str = " │ ";

#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'a> {
    /// Its name, such as `results/a:q-1`.
    pub name: &'a str,
    pub episode: &'a ScoredEpisode,
}

/// Both as text. Equal steps are shown once; the first step that differs is marked with what differs.
pub(crate) fn render_pair(a: Side<'_>, b: Side<'_>, view: &View) -> String {
    let [one, other] = [a, b].map(|side| &side.episode.trajectory);
    let mut page = Page::about(&one.question, *view);
    page.field("question", &one.question, BOLD);
    gold(&mut page, one);
    let diverged = Divergence::of(one, other);
    page.field("divergence", &divergence(diverged), if diverged.is_some() { YELLOW } else { DIM });
    // The branch of both, where they go on from the same step of the same episode.
    let fork = one.branch.as_ref().zip(other.branch.as_ref());
    let fork = fork.filter(|(a, b)| a.key == b.key && a.at == b.at).map(|(branch, _)| branch);
    let forked = |branch: &Branch| format!("both branch off {}, at step {}", branch_parent(branch), branch.at);
    page.optional("fork", fork.map(forked).as_deref(), YELLOW);
    page.blank();
    page.both(|page, side| pair_head(page, side), a, b);
    let (first, second) = (&one.steps, &other.steps);
    for at in 0..first.len().max(second.len()) {
        page.blank();
        let number = at + 1;
        let here = diverged.filter(|at| at.step == number && at.part != Part::Answer);
        match (first.get(at), second.get(at)) {
            (Some(step), Some(other))
                if Part::of(step, other).is_none() && fork.is_none_or(|fork| number < fork.at) =>
            {
                let same = if fork.is_some() { "copied by both" } else { "the same in both" };
                page.rule(&format!("step {number}, {same}"));
                step_fields(&mut page, step, is_written(one, number));
            }
            (step, other) => {
                match here {
                    Some(here) => page.marked_rule(&format!("step {number}: divergence in {}", part_name(here.part))),
                    None => page.rule(&format!("step {number}")),
                }
                let shown = |page: &mut Page, side: Side<'_>| {
                    let step = if std::ptr::eq(side.episode, a.episode) { step } else { other };
                    let trajectory = &side.episode.trajectory;
                    let origin = step_origin(trajectory, number).filter(|_| step.is_some());
                    page.optional("", origin.as_deref(), YELLOW);
                    match step {
                        Some(step) => step_fields(page, step, is_written(trajectory, number)),
                        None => page.field("", "(already ended)", DIM),
                    }
                };
                page.both(shown, a, b);
            }
        }
    }
    page.blank();
    if diverged.is_some_and(|at| at.part == Part::Answer) {
        page.marked_rule("end: divergence in the answer");
    }
    page.both(|page, side| end(page, &side.episode.trajectory), a, b);
    page.text
}

fn divergence(at: Option<Divergence>) -> String {
    match at {
        None => "none: same steps, same answer".to_owned(),
        Some(Divergence { part: Part::Answer, .. }) => "in the answer: all steps are the same".to_owned(),
        Some(Divergence { step, part }) => format!("at step {step}, in {}", part_name(part)),
    }
}

fn part_name(part: Part) -> &'static str {
    match part {
        Part::Thought => "the thought",
        Part::Action => "the action",
        Part::Observation => "the observation",
        Part::End => "the number of steps",
        Part::Answer => "the answer",
    }
}

fn pair_head(page: &mut Page, side: Side<'_>) {
    let Trajectory { variant, repeat, compat, .. } = &side.episode.trajectory;
    page.field("episode", side.name, BOLD);
    page.field("variant", &format!("{variant} (repeat {repeat}{})", semantics(*compat)), DIM);
    answer(page, &side.episode.trajectory);
    show_verdict(page, side.episode);
}

impl Page {
    /// What `show` writes for each side, side by side or one above the other.
    fn both<'a>(&mut self, show: impl Fn(&mut Self, Side<'a>), a: Side<'a>, b: Side<'a>) {
        if self.view.width < SIDE_BY_SIDE {
            for (letter, side) in [("A", a), ("B", b)] {
                self.styled(&format!("{letter}: {}", visible_line(side.name, 60)), DIM);
                self.blank();
                show(self, side);
            }
            return;
        }
        let half = (self.view.width - GUTTER.chars().count()) / 2;
        let column = |side| {
            let view = View { width: half, ..self.view };
            let mut page = Self { text: String::new(), view, chinese: self.chinese };
            show(&mut page, side);
            page.text
        };
        let both = [column(a), column(b)];
        let both = both.each_ref().map(|text| text.lines().collect::<Vec<_>>());
        for at in 0..both[0].len().max(both[1].len()) {
            let [left, right] = both.each_ref().map(|lines| lines.get(at).copied().unwrap_or_default());
            let room = " ".repeat(half.saturating_sub(display_width(left)));
            let line = format!("{left}{room}{GUTTER}{right}");
            // Writing to a String cannot fail.
            let _ = writeln!(self.text, "{}", line.trim_end());
        }
    }
}

/// A field longer than this many characters is cut; `show --json` has it whole.
const MAX_FIELD_CHARS: usize = 20_000;

const LABELS: usize = 13;

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const CYAN: Style = AnsiColor::Cyan.on_default();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Labels of what question, model and tool say, in English and Chinese. The others are the program's and stay English.
const CHINESE: [(&str, &str); 7] = [
    ("question", "问题"),
    ("gold", "标准答案"),
    ("answer", "最终答案"),
    ("thought", "思考"),
    ("action", "行动"),
    ("observation", "观察"),
    ("reply", "回复"),
];

struct Page {
    text: String,
    view: View,
    chinese: bool,
}

impl Page {
    /// A page about a question, whose language some labels have.
    fn about(question: &str, view: View) -> Self {
        Self { text: String::new(), view, chinese: is_chinese(question) }
    }

    fn blank(&mut self) {
        self.text.push('\n');
    }

    fn rule(&mut self, title: &str) {
        self.line("─", title, DIM);
    }

    fn marked_rule(&mut self, title: &str) {
        self.line("━", title, YELLOW);
    }

    fn line(&mut self, mark: &str, title: &str, style: Style) {
        let line = format!("{mark}{mark} {title} ");
        let rest = self.view.width.clamp(40, 200).saturating_sub(line.chars().count());
        self.styled(&format!("{line}{}", mark.repeat(rest)), style);
        self.blank();
    }

    fn optional(&mut self, label: &str, text: Option<&str>, style: Style) {
        if let Some(text) = text {
            self.field(label, text, style);
        }
    }

    /// A label and its text, wrapped beside it.
    fn field(&mut self, label: &str, text: &str, style: Style) {
        let chinese = CHINESE.iter().find(|(english, _)| self.chinese && *english == label);
        let label = chinese.map_or(label, |(_, chinese)| chinese);
        let cut: String = text.chars().take(MAX_FIELD_CHARS).collect();
        let more = text.chars().count().saturating_sub(MAX_FIELD_CHARS);
        let mut shown = visible(&cut).into_owned();
        if more > 0 {
            let _ = write!(shown, "… ({})", counted(more, "more character"));
        }
        let lines = textwrap::wrap(&shown, wrapping(self.view.width.max(40) - LABELS));
        for (i, line) in lines.iter().enumerate() {
            let label = if i == 0 { visible_line(label, LABELS) } else { String::new() };
            let room = " ".repeat(LABELS.saturating_sub(display_width(&label)));
            self.styled(&format!("{label}{room}"), BOLD);
            self.styled(line, style);
            let trimmed = self.text.trim_end_matches(' ').len();
            self.text.truncate(trimmed);
            self.blank();
        }
    }

    fn styled(&mut self, text: &str, style: Style) {
        // Writing to a String cannot fail.
        let _ = if self.view.colour && !text.trim().is_empty() {
            write!(self.text, "{style}{text}{style:#}")
        } else {
            write!(self.text, "{text}")
        };
    }
}

/// Turns the events of an episode into text to print at once. Control characters in its texts are escaped.
#[derive(Debug)]
pub(crate) struct Live {
    view: View,
    question: String,
    step: usize,
    /// Whether text of this step was shown.
    said: bool,
    /// Whether text of this reply was shown.
    replying: bool,
    /// White space that is shown only when more text follows.
    held: String,
}

impl Live {
    pub(crate) fn new(question: &str, view: View) -> Self {
        Self { view, question: question.to_owned(), step: 1, said: false, replying: false, held: String::new() }
    }

    pub(crate) fn text(&mut self, text: &str) -> String {
        let text = if self.replying { text } else { text.trim_start() };
        let end = text.trim_end().len();
        if end == 0 {
            if self.replying {
                self.held.push_str(text);
            }
            return String::new();
        }
        let mut page = self.page();
        if !self.said {
            page.blank();
            page.rule(&format!("step {}", self.step));
        }
        (self.said, self.replying) = (true, true);
        page.text.push_str(&visible(&self.held));
        page.text.push_str(&visible(&text[..end]));
        self.held.replace_range(.., &text[end..]);
        page.text
    }

    /// The reply was interrupted; the request is sent again.
    pub(crate) fn again(&mut self) -> String {
        let mut page = self.page();
        if self.replying {
            page.blank();
            page.styled("(the reply was interrupted; asking again)", YELLOW);
            page.blank();
        }
        self.close();
        page.text
    }

    pub(crate) fn call_ended(&mut self) -> String {
        let replied = self.replying;
        self.close();
        if replied { "\n".to_owned() } else { String::new() }
    }

    /// A step is complete. Text that was not shown as it arrived is shown now.
    pub(crate) fn step(&mut self, step: &Step) -> String {
        let mut page = self.page();
        if self.said {
            // The tool's observation after an answer matters only in the record.
            let observation = step.observation.as_deref().filter(|_| step.tool != Some(Tool::Finish));
            after_action(&mut page, step, observation);
        } else {
            page.blank();
            show_step(&mut page, step, None, false);
            if step.tool.is_none() {
                step.calls.iter().for_each(|call| page.field("reply", call.completion.trim(), PLAIN));
            }
        }
        self.close();
        self.said = false;
        self.step = step.n + 1;
        page.text
    }

    /// The episode is over: its outcome, and the answer last.
    pub(crate) fn end(&mut self, trajectory: &Trajectory) -> String {
        let mut page = self.page();
        if self.replying {
            page.blank();
        }
        self.close();
        page.blank();
        end(&mut page, trajectory);
        if trajectory.answer.is_some() || trajectory.measured() {
            answer(&mut page, trajectory);
        }
        page.text
    }

    fn close(&mut self) {
        self.replying = false;
        self.held.clear();
    }

    fn page(&self) -> Page {
        Page::about(&self.question, self.view)
    }
}

#[cfg(test)]
mod tests;
