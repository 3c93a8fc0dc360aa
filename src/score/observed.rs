//! What an episode saw before it gave its answer: pages opened, text shown, actions taken.

use super::evidence::GoldFact;
use super::normalize::normalize;
use super::wording::{is_in, official_words, page_key, words};
use crate::types::{Step, Tool, Trajectory};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Characters of an observation or an answer that are looked at: far more than five sentences, and a bound for hostile
/// texts.
const TEXT_CHARS: usize = 200_000;

#[derive(Debug, Default)]
pub(super) struct Observed<'a> {
    /// Keys of the pages opened, after redirects, each with its place in the order of first openings.
    pages: HashMap<String, usize>,
    /// Which sentences of the first block were shown, for each page whose source gives sentences, by the page's key.
    sentences: HashMap<String, Vec<Range<usize>>>,
    /// Words of everything shown, one observation per line, so that nothing is found across two of them.
    words: String,
    /// What was shown.
    shown: Vec<&'a str>,
    /// The words of it after the official normalisation, once somebody asks for them.
    official: OnceCell<String>,
    /// The actions, in order, the answer not among them.
    pub(super) actions: Vec<Action>,
    pub(super) searches: u64,
    /// Searches that opened no page.
    pub(super) missed_searches: u64,
    pub(super) lookups: u64,
    /// Lookups answered by `No more results.`
    pub(super) empty_lookups: u64,
    /// Observations that showed text of a page.
    pub(super) texts: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Action {
    /// The tool; absent if none was named.
    pub(super) tool: Option<Tool>,
    /// Its argument in lower case, spaces squeezed.
    pub(super) input: String,
    /// For lookups the page that was open: a keyword on another page is another action.
    page: String,
    /// Whether it showed a lookup's next result: such a step goes on, though it is written as the last one was.
    advanced: bool,
}

impl<'a> Observed<'a> {
    /// Reads an episode up to its answer.
    pub(super) fn of(trajectory: &'a Trajectory) -> Self {
        Self::of_steps(&trajectory.steps)
    }

    fn of_steps(steps: &'a [Step]) -> Self {
        let mut seen = Self::default();
        let mut open = String::new();
        for step in steps {
            let Some((tool, input)) = action_of(step) else { continue };
            if tool == Tool::Finish {
                break;
            }
            let observation = step.observation.as_deref().map(cap).unwrap_or_default();
            let mut advanced = false;
            match tool {
                Tool::Search => seen.search(step, &input, observation, &mut open),
                Tool::Lookup => advanced = seen.lookup(observation),
                Tool::Finish | Tool::Think | Tool::Invalid => {}
            }
            seen.count_sentences(step);
            seen.actions.push(Action {
                tool: (tool != Tool::Invalid).then_some(tool),
                input: page_key(&input),
                page: if tool == Tool::Lookup { open.clone() } else { String::new() },
                advanced,
            });
        }
        seen
    }

    fn search(&mut self, step: &Step, input: &str, observation: &'a str, open: &mut String) {
        self.searches += 1;
        if search_missed(step) {
            self.missed_searches += 1;
            // The query is an echo; only the titles come from Wikipedia.
            let titles = SIMILAR.iter().find_map(|similar| Some(observation.rsplit_once(similar)?.1));
            self.show(titles.unwrap_or_default());
            return;
        }
        if step.observation.is_none() {
            return;
        }
        // A foreign record may lack the title after redirects; the query is the best that is known then.
        *open = page_key(step.provenance.as_ref().map_or(input, |provenance| &provenance.title));
        let place = self.pages.len();
        self.pages.entry(open.clone()).or_insert(place);
        self.texts += 1;
        self.show(observation);
    }

    /// Whether a result was shown.
    fn lookup(&mut self, observation: &'a str) -> bool {
        self.lookups += 1;
        if lookup_found_nothing(observation) {
            self.empty_lookups += 1;
            return false;
        }
        // `(Result 1 / 2) …`: the numbers are the tool's own.
        let result = observation.strip_prefix("(Result ").or_else(|| observation.strip_prefix("(结果 "));
        let text = result.and_then(|rest| rest.split_once(") "));
        let text = text.map_or(observation, |(_, sentence)| sentence);
        self.texts += u64::from(!text.is_empty());
        self.show(text);
        !text.is_empty()
    }

    /// Datasets number the sentences of one paragraph, the first of a page.
    fn count_sentences(&mut self, step: &Step) {
        let Some(provenance) = &step.provenance else { return };
        let Some(shown) = &provenance.sentences else { return };
        let runs = shown.iter().filter(|[block, ..]| *block == 0).map(|&[_, from, to]| from..to);
        self.sentences.entry(page_key(&provenance.title)).or_default().extend(runs);
    }

    /// Whether an observation showed a fact's sentence, as the observations themselves say; `None` where they do not.
    ///
    /// A fact without a text whose page was not opened was not shown, in an episode whose other pages have sentences.
    pub(super) fn shows_sentence(&self, fact: &GoldFact) -> Option<bool> {
        let (number, key) = (fact.sentence?, page_key(&fact.page));
        match self.sentences.get(&key) {
            Some(runs) => Some(runs.iter().any(|run| run.contains(&number))),
            None if fact.texts.is_empty() && !self.sentences.is_empty() && !self.pages.contains_key(&key) => {
                Some(false)
            }
            None => None,
        }
    }

    fn show(&mut self, text: &'a str) {
        self.words.push_str(&words(text));
        self.words.push('\n');
        self.shown.push(text);
    }

    fn official(&self) -> &str {
        self.official.get_or_init(|| self.shown.iter().map(|text| official_words(text) + "\n").collect())
    }

    pub(super) fn opened(&self, title: &str) -> bool {
        self.pages.contains_key(&page_key(title))
    }

    /// Keys of the pages opened, in the order in which they were opened first.
    pub(super) fn opened_in_order(&self) -> Vec<String> {
        let mut pages: Vec<(&String, &usize)> = self.pages.iter().collect();
        pages.sort_unstable_by_key(|(_, place)| **place);
        pages.into_iter().map(|(page, _)| page.clone()).collect()
    }

    pub(super) fn opened_count(&self) -> usize {
        self.pages.len()
    }

    /// Whether the words of an answer appeared side by side in an observation, in the official normal form or as they are.
    pub(super) fn shows_answer(&self, answer: &str) -> bool {
        is_in(&words(answer), &self.words) || is_in(&official_words(answer), self.official())
    }

    /// Whether these words, as [`words`] gives them, appeared side by side in an observation.
    pub(super) fn shows_words(&self, words: &str) -> bool {
        is_in(words, &self.words)
    }

    /// How many of the last actions had been done before, each counted that repeats an earlier one.
    pub(super) fn trailing_repeats(&self) -> usize {
        let mut before = HashSet::new();
        let repeats: Vec<bool> = self
            .actions
            .iter()
            .map(|action| !before.insert((action.tool, &action.input, &action.page)) && !action.advanced)
            .collect();
        repeats.iter().rev().take_while(|repeat| **repeat).count()
    }
}

/// The text between the query of a search that missed and the titles that it lists, in each language.
const SIMILAR: [&str; 2] = [". Similar: [", "]。相似结果:["];

/// Whether a search opened no page: the tool said `Could not find …` or the like in Chinese, the site's page said that
/// there are no results (which the paper's environment reads as an article), or the site returned an error.
pub fn search_missed(step: &Step) -> bool {
    let observation = step.observation.as_deref().unwrap_or_default();
    let status = step.provenance.as_ref().map_or(200, |provenance| provenance.status);
    let [english, chinese] = SIMILAR;
    (observation.starts_with("Could not find ") && observation.contains(english))
        || (observation.starts_with("找不到[") && observation.contains(chinese))
        || observation.starts_with("搜索出错:")
        || observation.starts_with("There were no results matching the query.")
        || !(200..300).contains(&status)
}

/// Whether a lookup found nothing, or nothing more, or had no page.
fn lookup_found_nothing(observation: &str) -> bool {
    matches!(observation.trim(), "No more results." | "没有更多结果。" | "没有页面内容可以查找。")
}

/// Tool and argument of a step, read from the action's text where the record has no more (imported episodes).
fn action_of(step: &Step) -> Option<(Tool, Cow<'_, str>)> {
    if let Some(tool) = step.tool {
        return Some((tool, Cow::Borrowed(step.input.as_deref().unwrap_or_default())));
    }
    let text = step.action_text.as_deref()?;
    let first = text.chars().next()?;
    let lowered: String = first.to_lowercase().chain(text.chars().skip(1)).collect();
    let (tool, input) = Tool::parse_action(&lowered);
    Some((tool, Cow::Owned(input.to_owned())))
}

/// As much of a text as is looked at.
pub(super) fn cap(text: &str) -> &str {
    text.char_indices().nth(TEXT_CHARS).map_or(text, |(at, _)| &text[..at])
}

/// Whether an answer is a verdict: yes, no, true, false, in Chinese too, or one of FEVER's labels. Pages need not contain its text.
pub(super) fn is_verdict(answer: &str) -> bool {
    matches!(
        normalize(answer).trim_end_matches('。'),
        "yes"
            | "no"
            | "true"
            | "false"
            | "noanswer"
            | "supports"
            | "refutes"
            | "not enough info"
            | "是"
            | "否"
            | "不是"
    )
}

#[cfg(test)]
mod tests {
    use super::{Observed, is_verdict, search_missed};
    use crate::score::fixtures::step;
    use crate::types::Tool;

    #[test]
    fn chinese_messages_are_told_from_text_of_pages() {
        let missed = "找不到[北京城]。相似结果:['北京', '南京']。";
        let steps = vec![
            step(Tool::Lookup, "x", "没有页面内容可以查找。"),
            step(Tool::Search, "北京城", missed),
            step(Tool::Search, "x", "搜索出错:“x”"),
            step(Tool::Search, "北京", "北京是中国的首都。"),
            step(Tool::Lookup, "人口", "(结果 1 / 1) 人口很多。"),
            step(Tool::Lookup, "人口", "没有更多结果。"),
        ];
        assert_eq!(steps.iter().map(search_missed).collect::<Vec<_>>(), [false, true, true, false, false, false]);
        let seen = Observed::of_steps(&steps);
        assert_eq!((seen.searches, seen.missed_searches, seen.lookups, seen.empty_lookups), (3, 2, 3, 2));
        assert!(seen.shows_answer("南京") && seen.shows_answer("很多"));
        assert!(!seen.shows_answer("北京城") && !seen.shows_answer("结果"));
        assert!(is_verdict("是。") && is_verdict("否") && !is_verdict("是的人"));
    }
}
