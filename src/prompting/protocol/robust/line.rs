//! The marks of a line: labels such as `Thought 1:` in whatever form a model writes them, fences, tags, placeholders, brackets.

use super::repair::{self, Repairs};
use crate::base::python::{is_python_space, strip};
use crate::base::{Tool, ToolSet};
use crate::prompting::protocol::react_paper::PLACEHOLDERS;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelKind {
    Thought,
    Action,
    /// The argument of an action whose tool is alone on its line: `Action Input:`.
    Input,
    Observation,
    Answer,
}

/// Longer words before those that they begin with.
const WORDS: [(LabelKind, &[&str]); 5] = [
    (LabelKind::Thought, &["thought", "思考", "想法"]),
    (LabelKind::Input, &["action input", "action_input", "行动输入"]),
    (LabelKind::Action, &["action", "行动", "动作"]),
    (LabelKind::Observation, &["observation", "观察"]),
    (LabelKind::Answer, &["final answer", "最终答案", "answer", "答案"]),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label<'a> {
    pub(super) kind: LabelKind,
    pub(super) number: Option<usize>,
    pub(super) rest: &'a str,
}

/// Marks around words in markdown.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '*' | '_' | '`' | '#' | '>' | '~')
}

/// The label at the beginning of `line`, behind marks if need be.
pub(super) fn label(line: &str) -> Option<Label<'_>> {
    // Behind marks, and what begins the item of a list.
    let text = line.trim_start_matches(|c| is_python_space(c) || is_mark(c) || matches!(c, '-' | '•'));
    // Most lines begin with none of these letters, and every line is looked at.
    text.bytes().next().filter(|byte| b"tTaAoOfF".contains(byte) || *byte >= 0x80)?;
    let (kind, name) = beginning(&WORDS, text)?;
    let (number, rest) = number(text[name.len()..].trim_start_matches(is_python_space));
    let rest = rest.trim_start_matches(|c| is_python_space(c) || is_mark(c));
    let rest = rest.strip_prefix([':', '：'])?.trim_start_matches(['*', '_']);
    Some(Label { kind, number, rest: rest.trim_start_matches(is_python_space) })
}

/// Whether a line begins in the form asked for, apart from white space: `{name} {n}:`, then a space or nothing.
pub(super) fn is_canonical(line: &str, name: &str, n: usize) -> bool {
    let rest = line.trim_start_matches(is_python_space).strip_prefix(&format!("{name} {n}:"));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The first of these words that a text begins with, and what it stands for.
fn beginning<T: Copy>(words: &[(T, &[&'static str])], text: &str) -> Option<(T, &'static str)> {
    words.iter().find_map(|(what, words)| Some((*what, *words.iter().find(|word| starts_with(text, word))?)))
}

pub(super) fn starts_with(text: &str, beginning: &str) -> bool {
    text.get(..beginning.len()).is_some_and(|head| head.eq_ignore_ascii_case(beginning))
}

fn number(text: &str) -> (Option<usize>, &str) {
    let digit = |c: char| c.to_digit(10).or_else(|| ('０'..='９').contains(&c).then(|| c as u32 - '０' as u32));
    let end = text.find(|c| digit(c).is_none()).unwrap_or(text.len());
    let value = text[..end].chars().filter_map(digit).fold(0_usize, |value, digit| {
        value.saturating_mul(10).saturating_add(usize::try_from(digit).unwrap_or(usize::MAX))
    });
    ((end > 0).then_some(value), &text[end..])
}

// What surrounds a reply and its parts: code fences, tags, and what closes a sentence.

/// Tags in which some models wrap a call, or each part of a step, with the repair that leaves them out.
const TAGS: [(&str, &str); 8] = [
    ("<tool_call>", repair::FENCE),
    ("</tool_call>", repair::FENCE),
    ("<function_call>", repair::FENCE),
    ("</function_call>", repair::FENCE),
    ("<action>", repair::ACTION_TAGS),
    ("</action>", repair::ACTION_TAGS),
    ("<thought>", repair::ACTION_TAGS),
    ("</thought>", repair::ACTION_TAGS),
];

/// The repair that leaves out a line which is only the mark of a code fence, or a tag.
pub(super) fn wrapper(line: &str) -> Option<&'static str> {
    let line = strip(line);
    let fence = line.strip_prefix("```").or_else(|| line.strip_prefix("~~~"));
    let fence = fence.map(|rest| rest.trim_start_matches(is_mark));
    if fence.is_some_and(|rest| rest.chars().all(|c| c.is_alphanumeric() || c == ' ')) {
        return Some(repair::FENCE);
    }
    TAGS.iter().find(|(tag, _)| line.eq_ignore_ascii_case(tag)).map(|(_, kind)| *kind)
}

pub(super) fn is_fence(line: &str) -> bool {
    wrapper(line).is_some()
}

pub(super) fn behind_tag(text: &str) -> Option<(&str, &'static str)> {
    let text = text.trim_start_matches(is_python_space);
    let (tag, kind) = TAGS.iter().find(|(tag, _)| starts_with(text, tag))?;
    Some((&text[tag.len()..], kind))
}

pub(super) fn before_tag(text: &str) -> Option<(&str, &'static str)> {
    let text = text.trim_end_matches(is_python_space);
    let before = |tag: &str| text.len().checked_sub(tag.len()).filter(|at| text.is_char_boundary(*at));
    let found = TAGS
        .iter()
        .find_map(|(tag, kind)| Some((before(tag)?, tag, *kind)).filter(|(at, ..)| starts_with(&text[*at..], tag)));
    found.map(|(at, _, kind)| (&text[..at], kind))
}

/// Whether a text is only what closes something, or ends a sentence.
pub(super) fn is_closing(text: &str) -> bool {
    let text = before_tag(text).map_or(text, |(before, _)| before);
    let closes = |c| matches!(c, '"' | '\'' | '”' | '’' | '.' | '。' | '!' | ')' | '}' | ',' | ';');
    text.chars().all(|c| is_python_space(c) || is_mark(c) || closes(c))
}

// Placeholders, as in `Search[title]`: weak models echo them, and executed they would be a search for nothing.

/// Longest placeholder that is looked for in a text, in characters.
const MAX_PLACEHOLDER: usize = 40;
/// Answers that instructions list, and that look like placeholders.
const ANSWERS: [&str; 4] = ["yes", "no", "true", "false"];

/// The tools that the model is offered, and what it is told in place of their arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offered {
    pub(super) tools: ToolSet,
    placeholders: Vec<(Tool, String)>,
}

impl Offered {
    /// With our own placeholders.
    pub(super) fn of(tools: ToolSet) -> Self {
        let ours = PLACEHOLDERS.iter().filter(|(tool, ..)| tools.offers(*tool));
        let ours = ours.flat_map(|(tool, english, chinese)| [(*tool, *english), (*tool, *chinese)]);
        Self { tools, placeholders: ours.map(|(tool, word)| (tool, word.to_owned())).collect() }
    }

    /// And with the arguments in small letters in what the model is told, as in `Search[entity]`; others may be examples.
    pub(super) fn with_texts<'t>(mut self, texts: impl IntoIterator<Item = &'t str>) -> Self {
        for line in texts.into_iter().flat_map(str::lines) {
            for (open, _) in line.match_indices('[') {
                let inside = &line[open + 1..];
                let close = inside.char_indices().take(MAX_PLACEHOLDER).find(|(_, c)| *c == ']').map(|(at, _)| at);
                let verb = verb_before(&line[..open], self.tools);
                let Some((argument, (_, tool))) = close.map(|close| &inside[..close]).zip(verb) else { continue };
                let word = placeholder_word(argument);
                let is_small = argument.chars().all(|c| c.is_ascii_lowercase() || (!c.is_alphanumeric() && c != ']'));
                if is_small
                    && !ANSWERS.contains(&word.as_str())
                    && !self.placeholders.iter().any(|one| *one == (tool, word.clone()))
                {
                    self.placeholders.push((tool, word));
                }
            }
        }
        self
    }

    /// Whether an argument is a placeholder. A lookup may be for a word that stood with another tool: pages hold the word
    /// "title".
    pub(super) fn is_placeholder(&self, tool: Tool, argument: &str) -> bool {
        let word = placeholder_word(argument);
        let same = |of: Tool| of == tool || tool != Tool::Lookup;
        tool != Tool::Think && self.placeholders.iter().any(|(of, one)| same(*of) && *one == word)
    }
}

/// What counts of a placeholder: its words in small letters, without marks around them or an article before.
fn placeholder_word(argument: &str) -> String {
    let around = |c: char| is_python_space(c) || is_mark(c) || "<{([])}'\"….".contains(c);
    let word = argument.trim_matches(around).to_lowercase();
    let bare = ["the ", "your ", "a ", "an "].iter().find_map(|article| word.strip_prefix(article));
    bare.map_or(word.clone(), str::to_owned)
}

// The argument of an action: where its bracket closes, and what counts of it.

/// A pair of brackets around an argument, in all widths: one kind closes what another opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Square,
    Round,
}

impl Bracket {
    pub(super) fn opened_by(c: char) -> Option<Self> {
        match c {
            '[' | '［' | '【' => Some(Self::Square),
            '(' | '（' => Some(Self::Round),
            _ => None,
        }
    }

    fn change(self, c: char) -> i32 {
        match (self, c) {
            (Self::Square, '[' | '［' | '【') | (Self::Round, '(' | '（') => 1,
            (Self::Square, ']' | '］' | '】') | (Self::Round, ')' | '）') => -1,
            _ => 0,
        }
    }

    /// Where the bracket closes that was opened `depth` times before `text`: the closing character's begin and end.
    /// Otherwise how deep the end of `text` is.
    pub(super) fn close(self, text: &str, mut depth: i32) -> Result<(usize, usize), i32> {
        for (at, c) in text.char_indices() {
            depth += self.change(c);
            if depth == 0 {
                return Ok((at, at + c.len_utf8()));
            }
        }
        Err(depth)
    }
}

const QUOTES: [(char, char); 8] =
    [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’'), ('「', '」'), ('『', '』'), ('«', '»')];

pub(super) fn closing_quote(c: char) -> Option<char> {
    QUOTES.iter().find(|(open, _)| *open == c).map(|(_, close)| *close)
}

/// Fences, quotes and brackets around an argument that are taken off; each takes a pass over the text.
const LAYERS: usize = 8;

/// The argument as it counts: one line, trimmed, without fences, quotes or brackets around the whole.
pub(super) fn clean(raw: &str, repairs: &mut Repairs) -> String {
    let mut text = strip(raw);
    for _ in 0..LAYERS {
        let (inner, kind) = match (unfenced(text), unquoted(text), unbracketed(text)) {
            (Some(inner), ..) => (inner, repair::FENCE),
            (_, Some(inner), _) => (inner, repair::ARGUMENT_QUOTES),
            (.., Some(inner)) => (inner, repair::DOUBLED_BRACKETS),
            _ => break,
        };
        repairs.note(kind);
        text = strip(inner);
    }
    if !text.contains(is_line_break) {
        return text.to_owned();
    }
    repairs.note(repair::ARGUMENT_LINES);
    one_line(text)
}

/// The lines of a text, trimmed and joined by spaces; empty ones are left out.
pub(super) fn one_line(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.split(is_line_break).map(strip) {
        if !line.is_empty() {
            if !joined.is_empty() {
                joined.push(' ');
            }
            joined.push_str(line);
        }
    }
    joined
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The text between the marks of a code fence around the whole, without the language behind the first.
fn unfenced(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("```")?.strip_suffix("```")?;
    let Some((language, block)) = inner.split_once('\n') else { return Some(inner) };
    Some(if language.chars().all(char::is_alphanumeric) { block } else { inner })
}

/// The text in square brackets around the whole.
pub(super) fn unbracketed(text: &str) -> Option<&str> {
    within_brackets(text).filter(|(bracket, _)| *bracket == Bracket::Square).map(|(_, inner)| inner)
}

/// The text in brackets around the whole; brackets that close and open again inside are not such.
pub(super) fn within_brackets(text: &str) -> Option<(Bracket, &str)> {
    let mut characters = text.chars();
    let bracket = characters.next().and_then(Bracket::opened_by)?;
    let inner = characters.as_str();
    let (close, end) = bracket.close(inner, 1).ok()?;
    (end == inner.len()).then(|| (bracket, &inner[..close]))
}

/// The text inside quotes around the whole; quotes that close and open again inside are not such.
fn unquoted(text: &str) -> Option<&str> {
    let open = text.chars().next()?;
    let close = closing_quote(open)?;
    let inner = text[open.len_utf8()..].strip_suffix(close)?;
    (!inner.contains([open, close])).then_some(inner)
}

/// Verbs without regard to case. Longer ones come before those that they begin with.
const VERBS: [(Tool, &[&str]); 6] = [
    (Tool::Search, &["search", "搜索"]),
    (Tool::Lookup, &["look up", "look-up", "look_up", "lookup", "查找"]),
    (Tool::Finish, &["finish", "完成"]),
    (Tool::Think, &["think"]),
    (Tool::Passages, &["passages", "passage", "段落"]),
    (Tool::Document, &["document", "文档"]),
];

/// The verb of a tool that is offered at the beginning of a text: its tool, its length, and whether it is written as it
/// should be.
pub(super) fn verb(text: &str, tools: ToolSet) -> Option<(Tool, usize, bool)> {
    text.bytes().next().filter(|byte| b"sSlLfFtTpPdD".contains(byte) || *byte >= 0x80)?;
    let (tool, name) = beginning(&VERBS, text).filter(|(tool, _)| tools.offers(*tool))?;
    let more = text[name.len()..].chars().next().is_some_and(char::is_alphanumeric);
    let exact = text.starts_with(crate::prompting::protocol::react_paper::verb(tool));
    (!more).then_some((tool, name.len(), exact))
}

/// Where the verb begins that ends a text, and its tool.
pub(super) fn verb_before(text: &str, tools: ToolSet) -> Option<(usize, Tool)> {
    let word = text.char_indices().rev().take(8).map(|(at, _)| at);
    let whole = |at: usize| verb(&text[at..], tools).filter(|(_, length, _)| at + length == text.len());
    let (at, tool) = word.filter_map(|at| whole(at).map(|(tool, _, _)| (at, tool))).last()?;
    (!text[..at].chars().next_back().is_some_and(char::is_alphanumeric)).then_some((at, tool))
}

#[cfg(test)]
mod tests {
    use super::Offered;
    use crate::base::Tool::{Document, Finish, Lookup, Passages, Search};
    use crate::base::ToolSet;

    #[test]
    fn ours_are_known_in_every_form() {
        let ours = Offered::of(ToolSet::default());
        for word in ["title", "Title", "<title>", "the title", "{title}", "**title**", "标题"] {
            assert!(ours.is_placeholder(Search, word), "{word}");
        }
        assert!(
            ours.is_placeholder(Finish, "your answer")
                && ours.is_placeholder(Lookup, "keyword")
                && ours.is_placeholder(Finish, "title")
        );
        for (tool, word) in
            [(Lookup, "title"), (Search, "entity"), (Finish, "yes"), (Search, "Title (album)"), (Search, "")]
        {
            assert!(!ours.is_placeholder(tool, word), "{word}");
        }
    }

    #[test]
    fn what_the_model_is_told_adds_its_own() {
        let told = "(1) Search[entity], which searches; (2) Lookup[a word];\nFinish[final answer] or Search[…]. \
                    For instance Search[Milhouse], Finish[1994], Lookup[abc [d], Finish[yes], Finish[SUPPORTS], Re[search]";
        let shown = Offered::of(ToolSet::default()).with_texts([told]);
        for (tool, word) in
            [(Search, "entity"), (Lookup, "word"), (Finish, "final answer"), (Search, "..."), (Finish, "title")]
        {
            assert!(shown.is_placeholder(tool, word), "{word}");
        }
        for (tool, word) in
            [(Search, "Milhouse"), (Finish, "1994"), (Finish, "yes"), (Finish, "supports"), (Lookup, "abc")]
        {
            assert!(!shown.is_placeholder(tool, word), "{word}");
        }
        let ours = Offered::of(ToolSet::default());
        assert_eq!(ours.clone().with_texts(["[".repeat(100_000).as_str()]), ours);
    }

    #[test]
    fn only_tools_that_are_offered_have_placeholders() {
        let (usual, passages) = (Offered::of(ToolSet::default()), Offered::of(ToolSet::PassagesDocument));
        assert!(passages.is_placeholder(Passages, "query") && passages.is_placeholder(Document, "id"));
        assert!(!passages.is_placeholder(Passages, "title") && !usual.is_placeholder(Search, "query"));
        let told = passages.with_texts(["Passages[some words], Search[entity]"]);
        assert!(told.is_placeholder(Passages, "some words") && !told.is_placeholder(Passages, "entity"));
    }
}
