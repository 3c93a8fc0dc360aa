//! What a model may write: good replies of every protocol, damaged ones, and rubble.

use rand_mt::Mt64;

/// Replies as the protocols want them, and as models write them.
const REPLIES: &[&str] = &[
    "Thought 1: I look.\nAction 1: Search[Colorado orogeny]",
    " I look.\nAction {n}: Lookup[eastern sector]",
    "Thought {n}: So it is.\nAction {n}: Finish[1,800 to 7,000 ft]",
    "Thought {n}: t\nAction {n}: Search[x]\nObservation {n}: y\nThought {m}: u\nAction {m}: Finish[z]",
    "想一想。\nAction {n}:Search[北京]",
    "思考 {n}：好\n行动 {n}：完成[北京]",
    "**Thought:** t\n**Action {n}:** search: \"x\"",
    "<think>hm\n</think>\n\nThought {n}: t\nAction {n}: Search[[x] y]",
    "```json\n{\"action\": \"Search\", \"input\": \"x\"}\n```",
    "I need to search.\nAction: search\nAction Input: {\"query\": \"Milhouse\"}\n",
    "Thought: t\nAction: search\nAction Input: {\"query\": \"a \\\"b\\\" } {\", \"n\": 5,}\nObservation:",
    "Thought: t\nAction: lookup\nAction Input: {'keyword': 'x'} // comment",
    "Thought: t\nAction: nothing\nAction Input: plain text",
    "Thought: I can answer.\nAnswer: 42",
    "Thought: I now know the final answer.\nFinal Answer: 42",
    "Final Answer: 42\nAction: search\nAction Input: {}",
    "Thought: t\nAction: finish\nAction Input: {\"answer\": \"42\"}",
    "Thought: t\nActionInput:{\"query\": \"x\"}\nAction: search\nFinalAnswer: y",
    "Thought: t\nAction: FinishAction\nAction Input: 42",
    "{\"thought_process\": \"t\", \"action\": {\"name\": \"search\", \"parameters\": {\"query\": \"x\"}}}",
    "{\"thought_process\": \"t\", \"conclusion\": \"42\"}",
    "So the answer is yes. Answer: yes",
    "Thought: first this, then that.\nAnswer: a\nb",
    "It seems we could not find it. Would you like to try something else?",
    "Action {n}: Login",
    "",
];

/// Labels and calls that mean something to one of the parsers.
const LABELS: &[&str] = &[
    "Thought {n}:",
    "\nThought {m}: ",
    "Action {n}:",
    "\nAction {n}: ",
    "\nAction {m}: ",
    "Action Input:",
    "\nAction Input: ",
    "ActionInput:",
    "Observation:",
    "\nObservation {n}: ",
    "\nObservation",
    "Response:",
    "\nAnswer: ",
    "Final Answer:",
    "\nFinal Answer: ",
    "FinalAnswer:",
    "Question:",
    "\nClaim: ",
    "search[x]",
    "```json\n",
    "<tool_call>",
    "</tool_call>",
    "👩\u{200d}👩",
    "\u{10ffff}",
    "conclusion",
    "parameters",
    "FinishAction",
    "Action 99999999999999999999: Search[x]",
    "Action 0: ",
    "<|im_end|>",
    "行动 {n}：",
    "思考：",
    "观察 {n}：",
    "最终答案：",
    "无法确定答案",
];

/// Short pieces: what surrounds labels and arguments, and characters that text handling trips over.
const MARKS: &[&str] = &[
    "Thought:", "Action:", "Answer:", "Search[", "Lookup[", "Finish[", "Finish[]", "Think[", "[", "]", "[[", "]]", "(",
    ")", "{", "}", "{}", "{\"", "\"}", "\": \"", "\"", "'", "`", "```", "~~~", ",", ":", "：", "，", "［", "］", "【",
    "】", "（", "）", "“", "”", "**", "_", "#", "<think>", "</think>", "//", "/*", "*/", "\\", "\\n", "\\u", "\\u4e2d",
    "\\ud800", "\\x4", "0x1F", "1e999", "-", "NaN", "null", "true", "None", "True", "\n", "\n\n\n", "\r\n", "\r", "\t",
    " ", "\u{a0}", "\u{3000}", "\u{2028}", "\u{85}", "\u{1c}", "\0", "\u{7f}", "\u{feff}", "\u{200f}", "é", "e\u{301}",
    "ß", "İ", "ﬁ", "中", "🤔", "action", "name", "search", "lookup", "finish", "NoAction",
];

/// Chance, the same at every run.
pub(crate) struct Chance(Mt64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mt64::new(seed))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.0.next_u64() % u64::try_from(limit.max(1)).expect("small")).expect("small")
    }

    pub(crate) fn of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }

    /// A place in `text` between two characters.
    fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    /// A piece or a reply with the numbers of a step in it.
    fn numbered(&mut self, texts: &[&str], n: usize) -> String {
        self.of(texts).replace("{n}", &n.to_string()).replace("{m}", &(n + 1).to_string())
    }

    fn piece(&mut self, n: usize) -> String {
        let pieces = if self.below(LABELS.len() + MARKS.len()) < LABELS.len() { LABELS } else { MARKS };
        self.numbered(pieces, n)
    }

    /// A reply to step `n`: a good one, a damaged one, or rubble.
    pub(crate) fn output(&mut self, n: usize) -> String {
        if self.below(10) == 0 {
            return (0..self.below(20)).map(|_| self.piece(n)).collect();
        }
        let mut text = self.numbered(REPLIES, n);
        for _ in 0..self.below(5) {
            self.mutate(&mut text, n);
        }
        text
    }

    fn mutate(&mut self, text: &mut String, n: usize) {
        match self.below(12) {
            0..3 => {
                let piece = self.piece(n);
                text.insert_str(self.place(text), &piece);
            }
            3..5 => {
                let (a, b) = (self.place(text), self.place(text));
                // Mostly a few characters, so that something is left.
                let (a, b) = (a.min(b), a.max(b));
                let b = if self.below(4) == 0 { b } else { text[a..b].char_indices().nth(3).map_or(b, |(i, _)| a + i) };
                text.replace_range(a..b, "");
            }
            5..8 => self.mutate_lines(text),
            8 => text.truncate(self.place(text)),
            9 => {
                let (from, to) =
                    [(":", "："), ("\"", "'"), ("[", "("), ("{", "{{"), ("}", ""), ("\n", "\n\n"), ("\n", " ")]
                        [self.below(7)];
                *text = text.replace(from, to);
            }
            10 => {
                let other = self.numbered(REPLIES, n);
                *text = format!("{}{}", &text[..self.place(text)], &other[self.place(&other)..]);
            }
            _ if self.below(8) == 0 => {
                let run = self.piece(n).repeat(self.below(100));
                text.insert_str(self.place(text), &run);
            }
            _ => *text = if self.below(2) == 0 { text.to_lowercase() } else { text.to_uppercase() },
        }
    }

    /// Deletes, doubles or swaps lines.
    fn mutate_lines(&mut self, text: &mut String) {
        let mut lines: Vec<&str> = text.split('\n').collect();
        let (a, b) = (self.below(lines.len()), self.below(lines.len()));
        match self.below(3) {
            0 => drop(lines.remove(a)),
            1 => lines.insert(a, lines[b]),
            _ => lines.swap(a, b),
        }
        *text = lines.join("\n");
    }
}
