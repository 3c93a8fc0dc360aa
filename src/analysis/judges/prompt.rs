//! What a judge is asked, and how its reply is read.

use super::{Answer, JudgeTask, Verdict};
use crate::base::text::{cut, excerpt};
use crate::base::{Message, Prompt, sha256_hex};
use crate::runner::RunError;
use serde::Deserialize;
use std::collections::BTreeMap;

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
        let fault = |message: &str, hint: &str| RunError::input(message, hint);
        let mut file: File<V> = toml::from_str(text).map_err(|error| {
            fault(
                error.to_string().trim_end(),
                "a judge's prompt is a TOML file in the form that `wikitrail docs judge` describes",
            )
        })?;
        if let Some(missing) = V::NEEDED.iter().find(|name| !file.prompt.contains(&format!("{{{name}}}"))) {
            return Err(fault(
                &format!("`prompt` has no {{{missing}}}"),
                "a judge is shown {question}, {golds} and {answer}: write each of them where it belongs",
            ));
        }
        if file.marker.as_ref().is_some_and(|marker| marker.trim().is_empty()) {
            return Err(fault("`marker` is empty", "name what the line of the verdict begins with, or leave it out"));
        }
        let mut verdicts = BTreeMap::new();
        for (word, verdict) in &file.verdicts {
            let word = folded(word);
            if word.is_empty() || verdicts.contains_key(&word) {
                return Err(fault(
                    &format!("[verdicts]: `{}` is empty or written twice", excerpt(&word)),
                    "each verdict has a word of its own; case and the marks around it do not matter",
                ));
            }
            verdicts.insert(word, *verdict);
        }
        for needed in V::WORDS {
            if !verdicts.values().any(|verdict| verdict == needed) {
                return Err(fault(
                    &format!("[verdicts] has no word for `{}`", needed.name()),
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
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let name =
            PLACEHOLDERS.iter().find(|name| rest[1..].strip_prefix(**name).is_some_and(|end| end.starts_with('}')));
        if let Some(name) = name {
            text.push_str(value(name));
            rest = &rest[name.len() + 2..];
        } else {
            text.push('{');
            rest = &rest[1..];
        }
    }
    text + rest
}
