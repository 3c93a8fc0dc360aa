//! Renders a prompt into the frame around the question, for every protocol and method.

use super::bytes::PromptError;
use super::file::{Exemplar, ExemplarStep, PromptFile, parse_action};
use super::load::{FinishedText, Plain, PromptSource, QUESTION};
use super::texts::{self, ProtocolTexts, Slotted, Style};
use crate::base::{Message, Method, Role, Tool, ToolSet, sha256_hex};
use crate::prompting::protocol::react_paper::PLACEHOLDERS;
use crate::prompting::protocol::{Frame, Layout, Protocol, ToolSpec, ToolTexts, direct, react_paper, react_zh};

#[derive(Debug, Clone, Copy)]
pub struct RenderSettings<'a> {
    /// The protocol; it does not affect methods without tools.
    pub protocol: &'a dyn Protocol,
    /// Prompting method; each part of a combined method is rendered by itself.
    pub method: Method,
    /// Number of exemplars, the first ones of the order; all if absent.
    pub shots: Option<usize>,
    pub order: ExemplarOrder,
    /// Step limit, for texts that state it.
    pub max_steps: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExemplarOrder {
    #[default]
    File,
    /// The last of the file first.
    Reversed,
    /// By SHA-256 of `{seed}`, a line break and the question. The order does not depend on positions in the file, and
    /// fewer shots are a prefix of more shots.
    Seeded(u64),
}

impl ExemplarOrder {
    /// Names of the orders, as typed; the last one takes a seed.
    pub const NAMES: [&str; 3] = ["file", "reversed", "shuffled"];

    pub fn name(self) -> &'static str {
        match self {
            Self::File => Self::NAMES[0],
            Self::Reversed => Self::NAMES[1],
            Self::Seeded(_) => Self::NAMES[2],
        }
    }

    pub fn seed(self) -> Option<u64> {
        match self {
            Self::Seeded(seed) => Some(seed),
            Self::File | Self::Reversed => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    pub frame: Frame,
    /// The protocol's layout, or [`Layout::Text`] for methods without tools. It determines the stored form.
    pub layout: Layout,
    pub stored: String,
    /// SHA-256 of the stored form's UTF-8 bytes, hexadecimal.
    pub sha256: String,
    /// Its length in characters (Unicode scalar values).
    pub chars: usize,
    /// Number of exemplars; unknown for a finished text.
    pub exemplars: Option<usize>,
}

/// Renders a prompt for one of the methods standard, cot, act and react, which omit parts of the same exemplars. `texts` is
/// the protocol's section.
pub fn render(
    source: &PromptSource,
    texts: &ProtocolTexts,
    settings: &RenderSettings<'_>,
) -> Result<Rendered, PromptError> {
    let (protocol, method) = (settings.protocol, settings.method);
    let direct = matches!(method, Method::Standard | Method::Cot);
    if !direct && !matches!(method, Method::Act | Method::React) {
        return Err(PromptError::Compound(method.name()));
    }
    if method == Method::Act && !protocol.profile().acts_without_thoughts {
        return Err(PromptError::NeedsThoughts(protocol.id()));
    }
    let layout = if direct { Layout::Text } else { protocol.layout() };
    let file = match source {
        PromptSource::File(file) => file,
        PromptSource::Text(text) => {
            return Ok(Rendered::new(finished_frame(text, texts, settings)?, layout, None));
        }
    };
    let job = Job { file, texts, settings, exemplars: select_exemplars(file, settings)? };
    if !direct && matches!(layout, Layout::Text | Layout::Instruction) {
        job.check_exemplar_tools()?;
    }
    let (frame, shown) = match layout {
        _ if direct => direct_frame(&job)?,
        Layout::Text => numbered_text(&job)?,
        Layout::Instruction => numbered_conversation(&job)?,
        Layout::Template => named_template(&job)?,
        Layout::System => named_conversation(&job)?,
    };
    Ok(Rendered::new(frame, layout, Some(shown)))
}

struct Job<'a> {
    file: &'a PromptFile,
    texts: &'a ProtocolTexts,
    settings: &'a RenderSettings<'a>,
    exemplars: Vec<&'a Exemplar>,
}

impl Job<'_> {
    /// The prompt file's instruction for the method, filled in; it ends with one line break.
    fn instruction(&self) -> Result<String, PromptError> {
        let (file, method) = (self.file, self.settings.method.name());
        let missing = || PromptError::NoInstruction(file.file.clone(), method);
        let instruction = file.instructions.get(method).ok_or_else(missing)?;
        let failed = |reason| PromptError::Template { file: file.file.clone(), method, reason };
        let max_steps = self.settings.max_steps;
        let offered = self.settings.protocol.offers();
        let tools = file.tools.as_ref().map(|texts| tool_list(texts, offered, &file.language)).transpose();
        // Methods without tools have instructions without the list.
        let tools = if self.settings.method.agent().is_some() { tools } else { Ok(None) };
        let tools = tools.map_err(|tool| PromptError::NoToolText { file: file.file.clone(), tool: tool.name() })?;
        fill_template(instruction, &file.question_label, max_steps, tools.as_deref()).map_err(failed)
    }

    /// Refuses exemplars with a tool that is not offered: a model imitates them letter by letter.
    fn check_exemplar_tools(&self) -> Result<(), PromptError> {
        let tools = self.settings.protocol.offers();
        let other = self.exemplars.iter().flat_map(|exemplar| exemplar.tools()).find(|tool| !tools.offers(*tool));
        other.map_or(Ok(()), |tool| {
            Err(PromptError::ExemplarTool { file: self.file.file.clone(), tool: tool.name(), offered: tools.name() })
        })
    }
}

fn select_exemplars<'f>(file: &'f PromptFile, settings: &RenderSettings<'_>) -> Result<Vec<&'f Exemplar>, PromptError> {
    let mut exemplars: Vec<&Exemplar> = file.exemplars.iter().collect();
    match settings.order {
        ExemplarOrder::File => {}
        ExemplarOrder::Reversed => exemplars.reverse(),
        ExemplarOrder::Seeded(seed) => {
            let seed = format!("{seed}\n");
            exemplars.sort_by_cached_key(|exemplar| sha256_hex([seed.as_bytes(), exemplar.question.as_bytes()]));
        }
    }
    let wanted = settings.shots.unwrap_or(exemplars.len());
    if wanted > exemplars.len() {
        let (file, available) = (file.file.clone(), exemplars.len());
        return Err(PromptError::TooFewExemplars { file, wanted, available });
    }
    exemplars.truncate(wanted);
    Ok(exemplars)
}

impl Rendered {
    fn new(frame: Frame, layout: Layout, exemplars: Option<usize>) -> Self {
        let stored = frame.stored(layout);
        let (sha256, chars) = (sha256_hex([stored.as_bytes()]), stored.chars().count());
        Self { frame, layout, stored, sha256, chars, exemplars }
    }
}

impl Default for RenderSettings<'_> {
    /// The paper's: protocol `react-paper`, method `react`, all exemplars in the file's order, 7 steps.
    fn default() -> Self {
        Self {
            protocol: &react_paper::Paper,
            method: Method::React,
            shots: None,
            order: ExemplarOrder::File,
            max_steps: react_paper::MAX_STEPS,
        }
    }
}

fn direct_frame(job: &Job<'_>) -> Result<(Frame, usize), PromptError> {
    let mut text = job.instruction()? + "\n";
    for exemplar in &job.exemplars {
        let rationale = match (job.settings.method, exemplar.rationale.as_deref()) {
            (Method::Cot, None) => {
                let place = job.file.exemplars.iter().position(|known| known.question == exemplar.question);
                return Err(PromptError::NoRationale(job.file.file.clone(), place.map_or(0, |at| at + 1)));
            }
            (Method::Cot, rationale) => rationale.map(str::trim_end),
            _ => None,
        };
        text += &direct::example(&job.file.question_label, &exemplar.question, rationale, &exemplar.answer);
    }
    Ok((Frame::text(text), job.exemplars.len()))
}

/// One text: the instruction, an empty line (if it is not part of the question), then each exemplar's question, its steps, and its last step.
fn numbered_text(job: &Job<'_>) -> Result<(Frame, usize), PromptError> {
    let mut text = job.instruction()?;
    // Some systems begin the question that is asked with the empty line, and have none before their examples.
    let question = job.settings.protocol.question(&job.file.question_label, "");
    let begins = question.starts_with('\n');
    if !begins {
        text.push('\n');
    }
    for exemplar in &job.exemplars {
        let question = job.settings.protocol.question(&job.file.question_label, &exemplar.question);
        text += question.strip_prefix('\n').filter(|_| begins).unwrap_or(&question);
        text.extend(exemplar_steps(job, exemplar).iter().map(|message| &*message.content));
    }
    Ok((Frame::text(text), job.exemplars.len()))
}

fn numbered_conversation(job: &Job<'_>) -> Result<(Frame, usize), PromptError> {
    let instruction = job.instruction()?;
    let tools = verbs_in(job.settings.protocol.offers(), &job.file.language);
    let mut frame = Frame {
        system: Some(instruction.trim_end_matches('\n').into()),
        examples: exemplar_turns(job),
        texts: job.texts.occasions(|slot| Some(&*tools).filter(|_| slot == "tools")),
        ..Frame::default()
    };
    // The prompt file's texts fit its task; texts that the user names take precedence.
    if !job.texts.given {
        let own = job.file.texts.iter();
        frame.texts.extend(own.map(|(key, text)| ((*key).to_owned(), text.replace("{tools}", &tools).into())));
    }
    Ok((frame, job.exemplars.len()))
}

/// The verbs of the tools as a text of this language lists them.
fn verbs_in(tools: ToolSet, language: &str) -> String {
    let apart = if language.starts_with("zh") { "、" } else { ", " };
    react_paper::verbs(tools, apart, apart)
}

/// One message around the question, with examples if the template has a slot for them.
fn named_template(job: &Job<'_>) -> Result<(Frame, usize), PromptError> {
    let key = "template";
    let template = job.texts.needed(key)?;
    let fits = template.has("examples");
    if let Some(shots) = job.settings.shots.filter(|shots| *shots > 0 && !fits) {
        return Err(PromptError::NoPlaceForExamples { file: job.texts.file.clone(), key, shots });
    }
    let mut tools = job.settings.protocol.tools(&job.texts.tools);
    if let Some(text) = job.texts.get("args_format") {
        let text = text.fill_known(|_| None);
        for tool in &mut tools {
            text.clone_into(&mut tool.args_format);
        }
    }
    let mut slots = Slots::new(job, &tools);
    slots.set("examples", examples_text(job));
    let (before, after) = template.split_at("query").ok_or_else(|| job.texts.lacks(key))?;
    let frame = Frame {
        prefix: slots.fill(key, &before)?,
        suffix: slots.fill(key, &after)?,
        system: job.texts.get("system").map(|system| slots.fill("system", system)).transpose()?,
        texts: job.texts.occasions(|name| slots.value(name)),
        tools,
        ..Frame::default()
    };
    Ok((frame, if fits { job.exemplars.len() } else { 0 }))
}

fn named_conversation(job: &Job<'_>) -> Result<(Frame, usize), PromptError> {
    let key = "system";
    let system = job.texts.needed(key)?;
    let tools = job.settings.protocol.tools(&job.texts.tools);
    let mut slots = Slots::new(job, &tools);
    let context = match job.texts.get("context") {
        Some(context) if system.has("context_prompt") && !system.has("task") => {
            slots.fill::<String>("context", context)?
        }
        _ => String::new(),
    };
    slots.set("context_prompt", context);
    let frame = Frame {
        system: Some(slots.fill(key, system)?),
        examples: exemplar_turns(job),
        texts: job.texts.occasions(|name| slots.value(name)),
        tools,
        ..Frame::default()
    };
    Ok((frame, job.exemplars.len()))
}

/// The exemplars as transcripts of the template with the system's own separators, each followed by an empty line.
fn examples_text(job: &Job<'_>) -> String {
    let mut text = String::new();
    for exemplar in &job.exemplars {
        text += &job.settings.protocol.question(QUESTION_LABEL, &exemplar.question);
        text += texts::TEMPLATE_ENDING;
        text.extend(exemplar_steps(job, exemplar).iter().map(|message| &*message.content));
        text += "\n\n";
    }
    text
}

/// Label before a question in templates, whatever the prompt's own label.
const QUESTION_LABEL: &str = "Question";

struct Slots<'a> {
    job: &'a Job<'a>,
    values: Vec<(&'static str, String)>,
}

const TASK: [&str; 3] = ["task", "context", "Background"];

impl<'a> Slots<'a> {
    fn new(job: &'a Job<'a>, tools: &[ToolSpec]) -> Self {
        let mut slots = Self { job, values: job.settings.protocol.slots(tools) };
        let max_steps = job.settings.max_steps;
        slots.set("max_steps", max_steps.to_string());
        slots.set("max_iterations", max_steps.to_string());
        if let Some(task) = &job.file.task {
            for name in TASK {
                slots.set(name, task.trim_end().to_owned());
            }
        }
        slots
    }

    fn set(&mut self, name: &'static str, value: String) {
        self.values.push((name, value));
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(slot, _)| *slot == name).map(|(_, value)| value.as_str())
    }

    fn fill<T: From<String>>(&self, key: &'static str, text: &Slotted) -> Result<T, PromptError> {
        text.fill(|name| self.value(name)).map(T::from).map_err(|slot| {
            let protocol = self.job.settings.protocol.id();
            if TASK.contains(&slot) {
                return PromptError::NoTask { file: self.job.file.file.clone(), protocol };
            }
            PromptError::NoSlotValue { protocol, slot: slot.to_owned(), key, file: self.job.texts.file.clone() }
        })
    }
}

/// What the system says to a call that gives the answer: each call has to be answered.
const FINISHED: &str = "Episode finished";

fn exemplar_steps(job: &Job<'_>, exemplar: &Exemplar) -> Vec<Message> {
    let steps = (1..).zip(&exemplar.steps).map(|(n, step)| step_messages(job, n, step));
    steps.flat_map(|(reply, result)| [Some(reply), result]).flatten().collect()
}

fn step_messages(job: &Job<'_>, n: usize, step: &ExemplarStep) -> (Message, Option<Message>) {
    let protocol = job.settings.protocol;
    let (tool, input) = parse_action(&step.action);
    let thought = (job.settings.method == Method::React).then_some(step.thought.as_str());
    let reply = protocol.reply(n, thought, tool, &input);
    let finished = (!reply.calls.is_empty()).then_some(FINISHED);
    let observation = step.observation.as_deref().or(finished);
    (reply, observation.map(|observation| protocol.result(n, observation)))
}

/// The exemplars as turns of one conversation, in which the ids of calls are unique.
fn exemplar_turns(job: &Job<'_>) -> Vec<Message> {
    let protocol = job.settings.protocol;
    let mut turns = Vec::new();
    for (number, exemplar) in (1..).zip(&job.exemplars) {
        turns.push(Message::user(protocol.question(&job.file.question_label, &exemplar.question)));
        for (n, step) in (1..).zip(&exemplar.steps) {
            let (mut reply, mut result) = step_messages(job, n, step);
            let ids = reply.calls.iter_mut().map(|call| &mut call.id);
            let ids = ids.chain(result.as_mut().and_then(|result| result.answers.as_mut()));
            ids.for_each(|id| *id = protocol.of_exemplar(number, n));
            turns.extend([Some(reply), result].into_iter().flatten());
        }
    }
    turns
}

fn finished_frame(
    text: &FinishedText,
    texts: &ProtocolTexts,
    settings: &RenderSettings<'_>,
) -> Result<Frame, PromptError> {
    let RenderSettings { protocol, method, .. } = *settings;
    if settings.shots.is_some() || settings.order != ExemplarOrder::File {
        return Err(PromptError::FinishedText(text.spec.clone()));
    }
    let direct = matches!(method, Method::Standard | Method::Cot);
    let one_text = direct || protocol.layout() == Layout::Text;
    let Some(plain) = &text.plain else {
        if !one_text {
            return Err(PromptError::FinishedForm(text.spec.clone(), protocol.id()));
        }
        return Ok(Frame::text(text.text.as_str()));
    };
    // Systems with named tools say in words of their own how a step is written; without them no reply would be read.
    let calls_functions = protocol.observation_role() == Role::Tool;
    if !(one_text || calls_functions || protocol.layout() == Layout::Instruction) {
        return Err(PromptError::PlainForm(text.spec.clone(), protocol.id()));
    }
    let tools = if direct { None } else { tools_text(text, plain, texts, settings, calls_functions) };
    let fill = |part: &Slotted| {
        let value = |name: &str| tools.as_deref().filter(|_| name != QUESTION);
        part.fill(value).map_err(|_| PromptError::NoTools(text.spec.clone(), method.name()))
    };
    let (before, after) = match plain.slotted.split_at(QUESTION) {
        Some((before, after)) => (fill(&before)?, Some(fill(&after)?)),
        None => (fill(&plain.slotted)?, None),
    };
    if one_text {
        return one_text_frame(text, before, after);
    }
    let mut frame = match after {
        Some(after) => Frame::around(before, after.trim_end_matches('\n')),
        None => Frame { system: Some(before.trim_end_matches('\n').into()), ..Frame::default() },
    };
    if calls_functions {
        frame.tools = protocol.tools(&texts.tools);
    }
    let named = verbs_in(protocol.offers(), text.language());
    frame.texts = texts.occasions(|slot| Some(&*named).filter(|_| slot == "tools"));
    Ok(frame)
}

fn tools_text(
    text: &FinishedText,
    plain: &Plain,
    texts: &ProtocolTexts,
    settings: &RenderSettings<'_>,
    calls_functions: bool,
) -> Option<String> {
    if calls_functions {
        let specs = settings.protocol.tools(&texts.tools);
        let line = |spec: &ToolSpec| format!("{}({}): {}", spec.name, spec.parameter, spec.description);
        return Some(specs.iter().map(line).collect::<Vec<_>>().join("\n"));
    }
    let chinese = settings.protocol.id() == react_zh::ID || text.language().starts_with("zh");
    let language = if chinese { "zh" } else { "en" };
    plain.tools.get(usize::from(chinese)).and_then(|tools| tool_list(tools, settings.protocol.offers(), language).ok())
}

/// What the protocol or the method adds begins on a line of its own.
fn one_text_frame(text: &FinishedText, before: String, after: Option<String>) -> Result<Frame, PromptError> {
    let last = after.as_deref().unwrap_or(&before);
    let line = last.trim_end().rsplit('\n').next().unwrap_or_default().trim();
    let asks = after.is_none() && ["Question:", "Claim:"].contains(&line);
    if asks || is_step_label(line) {
        return Err(PromptError::EndsInLabel(text.spec.clone(), line.to_owned()));
    }
    let ended = |text: String| if text.ends_with('\n') { text } else { text + "\n" };
    Ok(match after {
        Some(after) => Frame::around(before, ended(after)),
        None => Frame::text(ended(before)),
    })
}

/// Whether a line is what the protocol or the method writes next: `Thought 1:`, `Answer:`.
fn is_step_label(line: &str) -> bool {
    let Some(words) = line.strip_suffix(':') else { return false };
    let (word, number) = words.split_once(' ').unwrap_or((words, "1"));
    ["Thought", "Action", "Answer"].contains(&word) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Fills in an instruction; the error is the reason. The result ends with exactly one line break.
fn fill_template(
    template: &str,
    question_label: &str,
    max_steps: usize,
    tools: Option<&str>,
) -> Result<String, String> {
    let slotted = Slotted::parse(template, Style::Instruction).map_err(|bad| format!("it has {}", bad.reason))?;
    let max_steps = max_steps.to_string();
    let value = |name: &str| match name {
        "question_label" => Some(question_label),
        "max_steps" => Some(max_steps.as_str()),
        "tools" => tools,
        _ => None,
    };
    let text = slotted.fill(value).map_err(|name| format!("the placeholder `{name}` has no value"))?;
    Ok(format!("{}\n", text.trim_end_matches(['\n', '\r'])))
}

/// The tools that are offered, a line each; the words inside the brackets are in the prompt's `language`. The error is a tool
/// that the texts do not describe.
fn tool_list(texts: &ToolTexts, tools: ToolSet, language: &str) -> Result<String, Tool> {
    let is_chinese = language.starts_with("zh");
    let offered = PLACEHOLDERS.iter().filter(|(tool, ..)| tools.offers(*tool));
    let lines = offered.enumerate().map(|(at, (tool, english, chinese))| {
        let (word, between) = if is_chinese { (chinese, "：") } else { (english, " ") };
        let (text, _) = texts.of(*tool);
        let line = || format!("({}) {}{between}{text}", at + 1, react_paper::action(*tool, word));
        if text.is_empty() { Err(*tool) } else { Ok(line()) }
    });
    lines.collect::<Result<Vec<_>, _>>().map(|lines| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{Tool, ToolSet, ToolTexts, fill_template, tool_list};

    fn filled(template: &str, tools: Option<&ToolTexts>) -> Result<String, String> {
        let tools = tools.map(|texts| tool_list(texts, ToolSet::default(), "en").expect("all are described"));
        fill_template(template, "Claim", 7, tools.as_deref())
    }

    #[test]
    fn placeholders_are_filled_in() {
        let texts = [(Tool::Search, "opens."), (Tool::Lookup, "finds."), (Tool::Finish, "ends.")];
        let tools = ToolTexts(texts.map(|(tool, text)| (tool, (text.to_owned(), String::new()))).into());
        assert_eq!(
            filled("{{ question_label }} in {{max_steps}} steps:\n{{ tools }}\n\n", Some(&tools)).unwrap(),
            "Claim in 7 steps:\n(1) Search[title] opens.\n(2) Lookup[keyword] finds.\n(3) Finish[answer] ends.\n"
        );
    }

    #[test]
    fn placeholders_without_a_value_are_refused() {
        assert_eq!(filled("{{ tools }}", None).unwrap_err(), "the placeholder `tools` has no value");
        assert!(filled("{{ range(9) }}", None).is_err());
    }

    #[test]
    fn nothing_is_computed_and_nothing_grows() {
        let nested = |piece: &str, end: &str| format!("{{{{ {}{end} }}}}", piece.repeat(40_000));
        for template in [
            nested("-", "1"),
            nested("1+", "1"),
            nested("a.", "a"),
            nested("not ", "a"),
            nested("(", "1"),
            "{{ 'x'|indent(3999999999) }}".to_owned(),
            "{% for x in range(99999999) %}x{% endfor %}".to_owned(),
            "{{ max_steps }}".repeat(33),
        ] {
            let reason = filled(&template, None).unwrap_err();
            assert!(reason.starts_with("it has ") && reason.len() < 200, "{reason}");
        }
        assert_eq!(filled(&"{{ max_steps }}".repeat(32), None).unwrap().len(), 33);
    }
}
