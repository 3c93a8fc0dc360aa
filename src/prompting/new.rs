//! A new prompt file, written from another one, whose comments and layout stay, so that it explains itself; or from a text
//! with numbered steps.

use super::bytes::{BuiltIn, PromptError, text_of};
use super::file::{PromptFile, QUESTION_LABELS, parse_action};
use super::load::{FinishedText, PromptSource, QUESTION, load, source};
use super::reader::{Fault, Problem, Problems, quoted};
use super::texts::Slotted;
use crate::base::Tool;
use std::fmt::Write as _;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Value};

/// What stands behind an empty list of exemplars.
const NONE: &str = " # none; for examples, put [[exemplar]] blocks below in place of this line";

/// A sound prompt file that is called `name`, made from `from` with its first `exemplars`, or all of them: a copy of a
/// prompt file, or a text with numbered steps, taken apart.
pub fn new(
    file: &str,
    name: &str,
    from: &str,
    exemplars: Option<usize>,
    builtin: BuiltIn<'_>,
) -> Result<NewPrompt, PromptError> {
    let text = match load(from, None, builtin)? {
        PromptSource::File(_) => edited(name, from, exemplars, builtin)?,
        PromptSource::Text(text) => prompt_file(&text, name, exemplars)?,
    };
    let prompt = PromptFile::parse(file, &text).map_err(PromptError::Invalid)?;
    Ok(NewPrompt { text, prompt })
}

fn edited(name: &str, from: &str, exemplars: Option<usize>, builtin: BuiltIn<'_>) -> Result<String, PromptError> {
    let bytes = source(from, builtin)?;
    let text = text_of(from, &bytes)?.replace("\r\n", "\n");
    // It is what was just read as a prompt, by the same parser.
    let unreadable =
        |error: toml_edit::TomlError| PromptError::NotEditable(from.to_owned(), error.message().to_owned());
    let mut document: DocumentMut = text.parse().map_err(unreadable)?;
    rename(&mut document, name);
    if let Some(wanted) = exemplars {
        shorten(&mut document, from, wanted)?;
    }
    Ok(document.to_string())
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPrompt {
    pub text: String,
    pub prompt: PromptFile,
}

/// Sets `name`, and keeps what stands around the old one.
fn rename(document: &mut DocumentMut, name: &str) {
    let Some(old) = document.get_mut("name").and_then(Item::as_value_mut) else { return };
    let mut new = Value::from(name);
    old.decor().clone_into(new.decor_mut());
    *old = new;
}

fn shorten(document: &mut DocumentMut, from: &str, wanted: usize) -> Result<(), PromptError> {
    let available = count(document.get("exemplar"));
    if wanted > available {
        return Err(PromptError::TooFewToKeep { file: from.to_owned(), wanted, available });
    }
    if wanted == 0 {
        // The key comes before all tables, where a value of the file has to be.
        document.remove("exemplar");
        let mut none = Value::Array(toml_edit::Array::new());
        none.decor_mut().set_suffix(NONE);
        document.insert("exemplar", Item::Value(none));
    }
    match document.get_mut("exemplar") {
        Some(Item::ArrayOfTables(tables)) => (wanted..available).rev().for_each(|at| {
            tables.remove(at);
        }),
        Some(Item::Value(Value::Array(tables))) => (wanted..tables.len()).rev().for_each(|at| {
            tables.remove(at);
        }),
        _ => {}
    }
    Ok(())
}

fn count(exemplars: Option<&Item>) -> usize {
    match exemplars {
        Some(Item::ArrayOfTables(tables)) => ArrayOfTables::len(tables),
        Some(Item::Value(Value::Array(tables))) => tables.len(),
        _ => 0,
    }
}

// Texts with numbered steps, as people write prompts for the paper's agent, become prompt files with exemplars.

const HELP: &str = "a text becomes a prompt file if it has an instruction, then exemplars in lines that begin with `Question:`, \
                    `Thought 1:`, `Action 1:` and `Observation 1:`";
/// How an instruction asks for the list of tools.
const TOOLS: &str = "{{ tools }}";
const MAX_PROBLEMS: usize = 20;

fn prompt_file(text: &FinishedText, name: &str, exemplars: Option<usize>) -> Result<String, PromptError> {
    let filled = |part: &Slotted| part.fill(|_| Some(TOOLS)).unwrap_or_default();
    let (before, after) = match text.plain.as_ref().map(|plain| (plain, plain.slotted.split_at(QUESTION))) {
        None => (text.text.clone(), String::new()),
        Some((plain, None)) => (filled(&plain.slotted), String::new()),
        Some((_, Some((before, after)))) => (filled(&before), filled(&after)),
    };
    let mut reader = Reader { file: text.spec.clone(), ..Reader::default() };
    for (at, line) in before.lines().enumerate() {
        reader.line(at + 1, line);
    }
    reader.end(before.lines().count(), &after);
    if !reader.problems.is_empty() {
        reader.problems.sort_by_key(|problem| problem.line);
        return Err(PromptError::Invalid(Problems { list: reader.problems, help: HELP }));
    }
    let available = reader.exemplars.len();
    if let Some(wanted) = exemplars.filter(|wanted| *wanted > available) {
        return Err(PromptError::TooFewToKeep { file: text.spec.clone(), wanted, available });
    }
    reader.exemplars.truncate(exemplars.unwrap_or(available));
    Ok(written(text, name, &reader))
}

#[derive(Debug, Default)]
struct Reader {
    file: String,
    instruction: String,
    label: &'static str,
    exemplars: Vec<Numbered>,
    problems: Vec<Problem>,
}

#[derive(Debug)]
struct Numbered {
    line: usize,
    question: String,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    thought: String,
    action: Option<String>,
    observation: Option<String>,
}

enum Label<'l> {
    Question(&'static str, &'l str),
    Part(Part, usize, &'l str),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Thought,
    Action,
    Observation,
}

impl Label<'_> {
    fn of(line: &str) -> Option<Label<'_>> {
        let (head, text) = line.split_once(':')?;
        let (head, text) = (head.trim(), text.trim());
        if let Some(label) = QUESTION_LABELS.into_iter().find(|label| *label == head) {
            return Some(Label::Question(label, text));
        }
        let (word, number) = head.split_once(' ')?;
        let part = [Part::Thought, Part::Action, Part::Observation].into_iter();
        let part = part.into_iter().find(|part| format!("{part:?}") == word)?;
        Some(Label::Part(part, number.trim().parse().ok()?, text))
    }
}

impl Numbered {
    fn finished(&self) -> Option<String> {
        let (tool, input) = parse_action(self.steps.last()?.action.as_deref()?);
        (tool == Tool::Finish).then_some(input)
    }

    /// What has to follow: a part of a step, or nothing after the answer.
    fn next(&self) -> Option<(Part, usize)> {
        let count = self.steps.len();
        match self.steps.last() {
            Some(Step { action: None, .. }) => Some((Part::Action, count)),
            Some(Step { observation: None, .. }) if self.finished().is_some() => None,
            Some(Step { observation: None, .. }) => Some((Part::Observation, count)),
            _ => Some((Part::Thought, count + 1)),
        }
    }
}

impl Reader {
    fn problem(&mut self, line: usize, fault: impl Into<Fault>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(fault.into().at(&self.file, line));
        }
    }

    fn line(&mut self, at: usize, line: &str) {
        match (Label::of(line), self.exemplars.is_empty()) {
            (Some(Label::Question(label, text)), _) => self.question(at, label, text),
            (_, true) => {
                self.instruction.push_str(line);
                self.instruction.push('\n');
            }
            (Some(Label::Part(part, number, text)), false) => self.part(at, part, number, text),
            (None, false) => self.continued(at, line),
        }
    }

    fn question(&mut self, at: usize, label: &'static str, text: &str) {
        self.ended();
        if self.exemplars.is_empty() {
            self.label = label;
        } else if self.label != label {
            self.problem(at, format!("`{label}:` where the questions before it begin with `{}:`", self.label));
        }
        let known = self.exemplars.iter().find(|known| known.question == text).map(|known| known.line);
        if let Some(line) = known {
            self.problem(at, format!("the question of line {line} a second time"));
        }
        self.exemplars.push(Numbered { line: at, question: text.to_owned(), steps: Vec::new() });
    }

    /// An exemplar needs an answer before the next one begins.
    fn ended(&mut self) {
        let Some((line, next)) = self.exemplars.last().and_then(|last| Some((last.line, last.next()?))) else { return };
        let (part, number) = next;
        let fault = Fault::from(format!("the exemplar that begins here ends before `{part:?} {number}:`"));
        self.problem(line, fault.hint("end every exemplar with an action Finish[answer]"));
    }

    fn part(&mut self, at: usize, part: Part, number: usize, text: &str) {
        let Some(exemplar) = self.exemplars.last_mut() else { return };
        let wanted = exemplar.next();
        if wanted != Some((part, number)) {
            let wanted = wanted.map_or_else(|| "the next question".to_owned(), |(part, n)| format!("`{part:?} {n}:`"));
            return self.problem(at, format!("`{part:?} {number}:` where {wanted} is expected"));
        }
        match (part, exemplar.steps.last_mut()) {
            (Part::Action, Some(step)) => step.action = Some(text.to_owned()),
            (Part::Observation, Some(step)) => step.observation = Some(text.to_owned()),
            _ => exemplar.steps.push(Step { thought: text.to_owned(), action: None, observation: None }),
        }
        if text.is_empty() && part != Part::Observation {
            self.problem(at, format!("`{part:?} {number}:` is empty"));
        } else if part == Part::Action && matches!(parse_action(text).0, Tool::Invalid | Tool::Think) {
            let fault = Fault::from(format!("`{}` is not an action", quoted(text)));
            self.problem(at, fault.hint("write Search[…], Lookup[…] or Finish[…], and nothing after it"));
        }
    }

    /// A line without a label goes on with an observation; everything else is one line.
    fn continued(&mut self, at: usize, line: &str) {
        let step = self.exemplars.last_mut().and_then(|last| last.steps.last_mut());
        match step.and_then(|step| step.observation.as_mut()) {
            Some(observation) => {
                observation.push('\n');
                observation.push_str(line.trim_end());
            }
            None if line.trim().is_empty() => {}
            None => {
                let fault = Fault::from(format!("`{}` begins with no label", quoted(line.trim())));
                self.problem(at, fault.hint("write each question, thought and action on one line"));
            }
        }
    }

    fn end(&mut self, lines: usize, after: &str) {
        // The last question is the one that will be asked.
        let asked = self.exemplars.last().is_some_and(|last| last.question.is_empty() && last.steps.is_empty());
        if asked {
            self.exemplars.pop();
        } else {
            self.ended();
        }
        let empty = self.exemplars.iter().find(|exemplar| exemplar.question.is_empty()).map(|exemplar| exemplar.line);
        if let Some(line) = empty {
            self.problem(line, "the question is empty".to_owned());
        }
        if self.exemplars.is_empty() {
            self.problem(1, "no exemplar: no question with steps follows".to_owned());
        } else if self.instruction.trim().is_empty() {
            let fault = Fault::from("no instruction stands before the first question".to_owned());
            self.problem(1, fault.hint("copy the text into a .txt file, below a line that says what is to be done"));
        }
        if !after.trim().is_empty() && !matches!(Label::of(after.trim()), Some(Label::Part(Part::Thought, 1, ""))) {
            let fault = Fault::from("a prompt file has nothing behind the question".to_owned());
            self.problem(lines, fault.hint("move the text before the exemplars"));
        }
    }
}

/// The file's text; TOML is quoted by its own writer.
fn written(text: &FinishedText, name: &str, reader: &Reader) -> String {
    let quote = |text: &str| Value::from(text).to_string();
    let instruction = format!("{}\n", reader.instruction.trim_matches('\n').trim_end());
    let mut out = "# `wikitrail docs prompts` explains the file key by key.\n\n".to_owned();
    let language = text.language();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "name = {}\nlanguage = {}", quote(name), quote(language));
    let _ = writeln!(out, "question_label = {}\n\n[instruction]\nreact = {}", quote(reader.label), quote(&instruction));
    let tools = text.plain.as_ref().and_then(|plain| plain.tools.get(usize::from(language == "zh")));
    if let Some(tools) = tools {
        let [search, lookup, finish] = [Tool::Search, Tool::Lookup, Tool::Finish].map(|tool| quote(tools.of(tool).0));
        let _ = writeln!(out, "\n[tools]\nsearch = {search}\nlookup = {lookup}\nfinish = {finish}");
    }
    for exemplar in &reader.exemplars {
        let answer = quote(&exemplar.finished().unwrap_or_default());
        let _ = writeln!(out, "\n[[exemplar]]\nquestion = {}\nanswer = {answer}", quote(&exemplar.question));
        for Step { thought, action, observation } in &exemplar.steps {
            let action = quote(action.as_deref().unwrap_or_default());
            let _ = writeln!(out, "\n[[exemplar.step]]\nthought = {}\naction = {action}", quote(thought));
            if let Some(observation) = observation {
                let _ = writeln!(out, "observation = {}", quote(observation.trim_end()));
            }
        }
    }
    if reader.exemplars.is_empty() {
        out = out.replacen("\n[instruction]", "exemplar = []\n\n[instruction]", 1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::new;

    fn made(from: &str, exemplars: Option<usize>) -> String {
        let builtin =
            |name: &str| (name == "from.toml").then(|| -> &'static [u8] { from.to_owned().leak().as_bytes() });
        new("b.toml", "b", "from.toml", exemplars, &builtin).expect("sound").text
    }

    #[test]
    fn comments_and_layout_stay() {
        let from = "# Why.\n\nname   = 'a' # short\nlanguage = \"en\"\nquestion_label = \"Question\"\n\n[instruction]\n\
                    # For the agent.\nreact = \"\"\"\nFind it. \\\n  Now.\n\"\"\"\n";
        let exemplar = |n: usize| {
            format!(
                "\n# Number {n}.\n[[exemplar]]\nquestion = \"Q{n}?\"\nanswer = \"{n}\"\n\n[[exemplar.step]]\nthought = \"T\"\n\
                 action = \"Finish[{n}]\"\n"
            )
        };
        let renamed = from.replace("'a'", "\"b\"");
        let whole = format!("{from}{}{}", exemplar(1), exemplar(2));
        assert_eq!(made(&whole, None), format!("{renamed}{}{}", exemplar(1), exemplar(2)));
        assert_eq!(made(&whole, Some(1)), format!("{renamed}{}", exemplar(1)));
        let none = made(&whole, Some(0));
        assert!(none.contains("question_label = \"Question\"\nexemplar = [] # none;"), "{none}");
        assert!(!none.contains("exemplar]]\nquestion"), "{none}");
        // Lists in one line are a way to write them, too.
        let inline = format!(
            "exemplar = [{{ question = \"Q\", answer = \"1\", step = [{{ thought = \"T\", action = \"Finish[1]\" }}] }}]\n{from}"
        );
        assert!(made(&inline, Some(0)).contains("exemplar = [] #"));
        assert!(made(&inline, Some(1)).contains("Finish[1]"));
    }
}
