//! What an episode saw before it gave its answer: pages opened, text shown, actions taken.
//!
//! A claim or a question against what was read: which of its words a page has shown.
//!
//! Only words are compared, to within an ending (`owns`, `owner`), so this says what was never shown better than what was.

use super::evidence::{GoldFact, is_in, official_words, page_key, words};
use super::normalize::{is_unspaced, normalize};
use super::overlap::{common, sorted_words};
use crate::base::python::lower_first;
use crate::base::{Provenance, Step, Tool};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// Characters of an observation or an answer that are looked at: far more than five sentences, and a bound for hostile
/// texts.
const TEXT_CHARS: usize = 200_000;

/// From so many words on, an answer need not be in an observation word by word.
const LONG_ANSWER: usize = 5;

/// A question that so many words in a row of an observation repeat is likely to be on the page.
const LEAK_WORDS: usize = 8;

/// The same in characters of a script without spaces, each of which is a word by itself.
const LEAK_CHARACTERS: usize = 16;

/// A run of words is looked for by the first eight bytes of four words in a row, which have at least as many with the
/// spaces behind them.
const ANCHOR_WORDS: usize = 4;

/// Bits of an anchor's hash. A table of them says of most words that no run of the question begins there.
const HASH_BITS: u32 = 12;

/// Per cent of a long answer's words that must be in one observation.
const OVERLAP: usize = 80;

#[derive(Debug, Default)]
pub(super) struct Observed<'a> {
    /// Keys of the pages opened, after redirects, each with its place in the order of first openings.
    pub(super) pages: HashMap<String, usize>,
    /// Which sentences of the first block were shown, for each page whose source gives sentences, by the page's key.
    sentences: HashMap<String, Vec<Range<usize>>>,
    /// Words of everything shown, one observation per line, so that nothing is found across two of them.
    words: String,
    shown: Vec<&'a str>,
    /// Text of pages among it: what a search that missed suggests is left out.
    read: Vec<&'a str>,
    /// The words of each text of [`read`](Self::read), once somebody asks for them.
    read_words: OnceCell<Vec<String>>,
    pub(super) suggested: Vec<&'a str>,
    /// Pages opened that only say what a name may mean.
    pub(super) disambiguations: u64,
    /// Lookups without a result since the last search that opened a page; 0 once another search was done.
    pub(super) last_lookups_empty: u64,
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

/// How an action is written that is meant as a use of a tool.
const VERBS: [&str; 4] = ["search[", "lookup[", "passages[", "document["];

impl Action {
    /// Whether it is meant as a search or a lookup: one that misses its bracket is, a sentence in prose is not.
    pub(super) fn is_attempt(&self) -> bool {
        self.tool.is_some() || VERBS.iter().any(|verb| self.input.starts_with(verb))
    }
}

impl<'a> Observed<'a> {
    /// Reads an episode up to its answer.
    pub(super) fn of(steps: &'a [Step]) -> Self {
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
                Tool::Passages => seen.passages(step, observation),
                Tool::Document => seen.document(step, observation),
                Tool::Other => seen.other(observation),
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
            self.suggested.extend(python_titles(titles.unwrap_or_default()));
            self.last_lookups_empty = 0;
            return;
        }
        if step.observation.is_none() {
            return;
        }
        // A foreign record may lack the title after redirects; the query is the best that is known then.
        *open = page_key(step.provenance.as_ref().map_or(input, |provenance| &provenance.title));
        self.open(open.clone());
        self.texts += 1;
        self.disambiguations += u64::from(is_disambiguation(observation));
        self.last_lookups_empty = 0;
        self.show(observation);
        self.read.push(observation);
    }

    /// Each passage opens its page, as far as it was shown.
    fn passages(&mut self, step: &Step, observation: &'a str) {
        self.searches += 1;
        self.last_lookups_empty = 0;
        if search_missed(step) {
            self.missed_searches += 1;
            return;
        }
        for title in step.provenance.iter().flat_map(Provenance::titles) {
            self.open(page_key(title));
            self.texts += 1;
        }
        self.show(observation);
        self.read.push(observation);
    }

    fn document(&mut self, step: &Step, observation: &'a str) {
        if search_missed(step) {
            return;
        }
        // A foreign record does not say which page it is from.
        if let Some(page) = &step.provenance {
            self.open(page_key(&page.title));
        }
        self.other(observation);
    }

    fn open(&mut self, page: String) {
        let place = self.pages.len();
        self.pages.entry(page).or_insert(place);
    }

    fn lookup(&mut self, observation: &'a str) -> bool {
        self.lookups += 1;
        // Nothing, or nothing more, or there was no page.
        if matches!(observation.trim(), "No more results." | "没有更多结果。" | "没有页面内容可以查找。")
        {
            self.empty_lookups += 1;
            self.last_lookups_empty += 1;
            return false;
        }
        // `(Result 1 / 2) …`: the numbers are the tool's own.
        let result = observation.strip_prefix("(Result ").or_else(|| observation.strip_prefix("(结果 "));
        let text = result.and_then(|rest| rest.split_once(") "));
        let text = text.map_or(observation, |(_, sentence)| sentence);
        self.texts += u64::from(!text.is_empty());
        self.show(text);
        self.read.push(text);
        !text.is_empty()
    }

    /// What another program's tool shows is text that was read; which page it is from is not known.
    fn other(&mut self, observation: &'a str) {
        self.texts += u64::from(!observation.is_empty());
        self.show(observation);
        self.read.push(observation);
    }

    /// Datasets number the sentences of one paragraph, the first of a page.
    fn count_sentences(&mut self, step: &Step) {
        let Some(provenance) = &step.provenance else { return };
        let hits = provenance.hits.iter().map(|hit| (&hit.title, &hit.sentences));
        for (title, shown) in hits.chain([(&provenance.title, &provenance.sentences)]) {
            let Some(shown) = shown else { continue };
            let runs = shown.iter().filter(|[block, ..]| *block == 0).map(|&[_, from, to]| from..to);
            self.sentences.entry(page_key(title)).or_default().extend(runs);
        }
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

    /// Whether the words of an answer appeared side by side in an observation, in the official normal form or as they are.
    pub(super) fn shows_answer(&self, answer: &str) -> bool {
        is_in(&words(answer), &self.words) || is_in(&official_words(answer), self.official())
    }

    /// Whether it did in the text of a page: a title that a search suggested is not evidence.
    pub(super) fn read_answer(&self, answer: &str) -> bool {
        let (plain, official) = (words(answer), official_words(answer));
        self.read_words().iter().any(|text| is_in(&plain, text))
            || (self.shows_answer(answer) && self.read.iter().any(|text| is_in(&official, &official_words(text))))
    }

    /// The words of each text of a page that was shown, each as [`words`] gives them.
    pub(super) fn read_words(&self) -> &[String] {
        self.read_words.get_or_init(|| self.read.iter().map(|text| words(text)).collect())
    }

    /// Whether an answer was shown, word by word; or, if it is long, most of its words in one observation: models copy
    /// sentences with a comma or a word changed.
    pub(super) fn supports_answer(&self, answer: &str) -> bool {
        self.shows_answer(answer) || {
            let said = words(answer);
            let said = sorted_words(&said);
            let shows = |text: &&str| 100 * common(&said, &sorted_words(&words(text))) >= OVERLAP * said.len();
            said.len() >= LONG_ANSWER && self.shown.iter().any(shows)
        }
    }

    /// A title that was suggested, is named in this question and was not opened.
    pub(super) fn passed_over(&self, question: &str) -> Option<&'a str> {
        let question = words(question);
        // What tells a title from others of its name is left out: `Danny Green (basketball)`, `Riddick (film) (redirect from …)`.
        let base = |title: &'a str| title.split_once(" (").map_or(title, |(base, _)| base);
        let named = |title: &'a str| is_in(&words(base(title)), &question);
        self.suggested.iter().copied().find(|title| named(title) && !self.opened(title))
    }

    /// How many pages were opened whose titles share a word with this question, but for those that only say what a name
    /// may mean.
    pub(super) fn pages_about(&self, question: &str) -> usize {
        let question = words(question);
        let asked: HashSet<&str> = question.split_ascii_whitespace().collect();
        let about = |page: &&String| words(page).split_ascii_whitespace().any(|word| asked.contains(word));
        let about = self.pages.keys().filter(about).count();
        about.saturating_sub(usize::try_from(self.disambiguations).unwrap_or(usize::MAX))
    }

    /// Whether these words, as [`words`] gives them, appeared side by side in an observation.
    pub(super) fn shows_words(&self, words: &str) -> bool {
        is_in(words, &self.words)
    }

    /// Whether an observation repeats [`LEAK_WORDS`] in a row of this question; absent where it has fewer.
    pub(super) fn repeats_question(&self, question: &str) -> Option<bool> {
        let question = cap(question);
        let has_unspaced = !question.is_ascii() && question.chars().any(is_unspaced);
        let least = if has_unspaced { LEAK_CHARACTERS } else { LEAK_WORDS };
        let question = words(question);
        let starts: Vec<usize> = word_starts(&question).collect();
        if starts.len() < least {
            return None;
        }
        // In each run of `least` words, `ANCHOR_WORDS` begin at a multiple of this step.
        let step = least - ANCHOR_WORDS + 1;
        let mut anchors: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut has_anchor = [false; 1 << HASH_BITS];
        for (at, anchor) in starts.iter().step_by(step).filter_map(|&at| Some((at, anchor(&question, at)?))) {
            anchors.entry(anchor).or_default().push(at);
            has_anchor[hash(anchor)] = true;
        }
        let is_run = |shown: usize, at: usize| {
            let equal = |(a, b): &(&str, &str)| a == b && !a.is_empty();
            let before = self.words[..shown].rsplit(' ').zip(question[..at].rsplit(' ')).skip(1);
            let after = self.words[shown..].split(' ').zip(question[at..].split(' '));
            before.take(least).take_while(equal).count() + after.take(least).take_while(equal).count() >= least
        };
        let repeats = |shown: usize| {
            let anchor = anchor(&self.words, shown).filter(|anchor| has_anchor[hash(*anchor)]);
            anchor.and_then(|anchor| anchors.get(&anchor)).is_some_and(|at| at.iter().any(|at| is_run(shown, *at)))
        };
        Some(word_starts(&self.words).any(repeats))
    }

    /// For each search and lookup, those that cannot be carried out among them, whether it repeats an earlier one.
    pub(super) fn repeats(&self) -> Vec<bool> {
        let mut before = HashSet::new();
        let attempts = self.actions.iter().filter(|action| action.is_attempt());
        attempts.map(|action| !before.insert((action.tool, &action.input, &action.page)) && !action.advanced).collect()
    }

    /// The search or lookup that was done most often, the latest of several, and how often.
    pub(super) fn most_repeated(&self) -> Option<(&Action, usize)> {
        let attempts = || self.actions.iter().filter(|action| action.is_attempt());
        let counted = attempts().map(|action| (action, attempts().filter(|other| *other == action).count()));
        counted.max_by_key(|(_, count)| *count)
    }
}

/// The text between the query of a search that missed and the titles that it lists, in each language.
const SIMILAR: [&str; 2] = [". Similar: [", "]。相似结果:["];

/// Whether a search opened no page: the tool said `Could not find …` or the like in Chinese, the site's page said that
/// there are no results (which the paper's environment reads as an article), or the site returned an error.
pub fn search_missed(step: &Step) -> bool {
    let observation = step.observation.as_deref().unwrap_or_default();
    let status = step.provenance.as_ref().map_or(200, |provenance| provenance.status);
    let is_about_passages = matches!(step.tool, Some(Tool::Passages | Tool::Document));
    let [english, chinese] = SIMILAR;
    (observation.starts_with("Could not find ") && observation.contains(english))
        || (observation.starts_with("找不到[") && observation.contains(chinese))
        || observation.starts_with("搜索出错:")
        || observation.starts_with("There were no results matching the query.")
        || ["No passages found.", "There is no document with the id ", "没有找到段落。", "没有编号为"]
            .iter()
            .any(|words| is_about_passages && observation.starts_with(words))
        || !(200..300).contains(&status)
}

/// The titles of a list as Python prints it: `'A', "B's"].`
fn python_titles(list: &str) -> Vec<&str> {
    let mut titles = Vec::new();
    let mut rest = list;
    while let Some(start) = rest.find(['\'', '"']) {
        let (quote, after) = rest[start..].split_at(1);
        let end = after.match_indices(quote).map(|(at, _)| at).find(|at| after[at + 1..].starts_with([',', ']']));
        let Some(end) = end else { break };
        titles.push(&after[..end]);
        rest = &after[end + 1..];
    }
    titles
}

/// Where each word begins in texts as [`words`] gives them, one or several lines.
fn word_starts(words: &str) -> impl Iterator<Item = usize> {
    let bytes = words.as_bytes();
    memchr::memchr_iter(b' ', bytes).map(|space| space + 1).filter(|&at| bytes.get(at).is_some_and(|b| *b != b'\n'))
}

/// The eight bytes from there on; none at the end of the text.
fn anchor(words: &str, at: usize) -> Option<u64> {
    words.as_bytes()[at..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Fibonacci hashing: the product's highest bits depend on all bits of the anchor.
fn hash(anchor: u64) -> usize {
    usize::try_from(anchor.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - HASH_BITS)).unwrap_or_default()
}

/// Whether a page only lists what a name may mean.
fn is_disambiguation(text: &str) -> bool {
    ["may refer to", "may also refer to", "可以指", "可能指"].iter().any(|sign| text.contains(sign))
}

/// Tool and argument of a step, read from the action's text where the record has no more (imported episodes).
fn action_of(step: &Step) -> Option<(Tool, Cow<'_, str>)> {
    if let Some(tool) = step.tool {
        return Some((tool, Cow::Borrowed(step.input.as_deref().unwrap_or_default())));
    }
    let lowered = lower_first(step.action_text.as_deref().filter(|text| !text.is_empty())?);
    let (tool, input) = Tool::parse_action(&lowered);
    Some((tool, Cow::Owned(input.to_owned())))
}

pub(super) fn cap(text: &str) -> &str {
    // No text has more characters than bytes.
    let end = if text.len() > TEXT_CHARS { text.char_indices().nth(TEXT_CHARS) } else { None };
    end.map_or(text, |(at, _)| &text[..at])
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

/// Words that say nothing about which sentence is meant.
const FUNCTION: [&str; 46] = [
    "of", "and", "in", "on", "to", "is", "was", "were", "are", "be", "been", "for", "by", "it", "its", "he", "she",
    "his", "her", "or", "at", "with", "as", "from", "that", "this", "which", "who", "whom", "has", "had", "have",
    "did", "does", "not", "but", "their", "they", "there", "than", "into", "until", "both", "only", "s", "also",
];

/// Letters in which two forms of a word may differ at their ends.
const ENDING: usize = 3;

/// Letters that two forms of a word have in common at least.
const STEM: usize = 3;

/// Whether one text that was read has the words of a claim that tell something, all but `spare` of them: false claims are
/// often true ones with a word changed.
pub(super) fn is_shown(claim: &str, spare: usize, seen: &Observed<'_>) -> bool {
    let claim = words(claim);
    let telling = telling(&claim);
    let shown = |text: &String| missing(&telling, text) <= spare;
    telling.len() > spare && seen.read_words().iter().any(shown)
}

/// Whether a text that was read has any word of a claim that tells something.
pub(super) fn is_touched(claim: &str, seen: &Observed<'_>) -> bool {
    let claim = words(claim);
    let telling: BTreeSet<&str> = telling(&claim).into_iter().filter(|word| word.chars().nth(1).is_some()).collect();
    telling.is_empty() || seen.read_words().iter().any(|text| missing(&telling, text) < telling.len())
}

/// How much was read of what a claim says that something is: a page says first what its subject is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// All of it, in one text that has the subject too.
    Same,
    /// The text says something else, though some of the words.
    Partly,
    /// Nothing of it: the page may be that of another subject of this name.
    Other,
}

/// For a claim of the form `X is a Y` and a text that was read about X.
pub(super) fn kind_read(claim: &str, seen: &Observed<'_>) -> Option<Kind> {
    let claim = format!(" {} ", claim.trim());
    let (subject, kind) = [" is a ", " is an ", " was a ", " was an "].iter().find_map(|is| claim.split_once(is))?;
    let (subject, kind) = (words(subject), words(kind));
    let (subject, kind) = (telling(&subject), telling(&kind));
    let about = seen.read_words().iter().filter(|text| missing(&subject, text) == 0);
    let least = about.map(|text| missing(&kind, text)).min()?;
    Some(match least {
        0 => Kind::Same,
        _ if least < kind.len() => Kind::Partly,
        _ => Kind::Other,
    })
}

fn telling(words: &str) -> BTreeSet<&str> {
    words.split_ascii_whitespace().filter(|word| !FUNCTION.contains(word)).collect()
}

fn missing(telling: &BTreeSet<&str>, text: &str) -> usize {
    let text: BTreeSet<&str> = text.split_ascii_whitespace().collect();
    telling.iter().filter(|word| !text.iter().any(|other| is_form(word, other))).count()
}

/// The first name or number of a claim that no text of a page has shown. The first word is capitalised in any case.
pub(super) fn missing_name<'a>(claim: &'a str, seen: &Observed<'_>) -> Option<&'a str> {
    let telling = |word: &&str| word.starts_with(char::is_uppercase) || word.contains(|c: char| c.is_ascii_digit());
    let unseen = |word: &&str| {
        let word = words(word);
        let word = word.trim();
        let shown = |text: &String| text.split_ascii_whitespace().any(|other| is_form(word, other));
        !word.is_empty() && !FUNCTION.contains(&word) && !seen.read_words().iter().any(shown)
    };
    let names = claim.split_whitespace().skip(1).filter(telling);
    names.map(|name| name.trim_end_matches(['.', ',', '?', ';', ':', '!'])).find(unseen)
}

fn is_form(a: &str, b: &str) -> bool {
    let longest = a.chars().count().max(b.chars().count());
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    a == b || (common >= STEM && common + ENDING >= longest)
}

#[cfg(test)]
mod tests {
    use super::{Kind, Observed, is_form, is_shown, is_touched, is_verdict, kind_read, missing_name, search_missed};
    use crate::base::{Outcome, Tool};
    use crate::scoring::fixtures::{episode, step};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_run_of_words_is_found_as_by_comparing_every_run(
            question in prop::collection::vec("[b-c]{1,2}", 1..24),
            shown in prop::collection::vec(prop::collection::vec("[b-c]{1,2}", 0..30), 0..3),
            copied in prop::option::of((0..24_usize, 7..10_usize)),
        ) {
            let copied = copied.map(|(at, words)| question.iter().skip(at).take(words).cloned().collect());
            let shown: Vec<Vec<String>> = shown.into_iter().chain(copied).collect();
            let repeats = question.windows(8).any(|run| shown.iter().any(|line| line.windows(8).any(|other| other == run)));
            let steps: Vec<_> = shown.iter().map(|line| step(Tool::Search, "x", &line.join(" "))).collect();
            let found = Observed::of(&steps).repeats_question(&question.join(" "));
            prop_assert_eq!(found, (question.len() >= 8).then_some(repeats));
        }
    }

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
        let seen = Observed::of(&steps);
        assert_eq!((seen.searches, seen.missed_searches, seen.lookups, seen.empty_lookups), (3, 2, 3, 2));
        assert!(seen.shows_answer("南京") && seen.shows_answer("很多"));
        assert!(!seen.shows_answer("北京城") && !seen.shows_answer("结果"));
        assert!(is_verdict("是。") && is_verdict("否") && !is_verdict("是的人"));
    }

    #[test]
    fn forms_of_a_word_are_one_word() {
        assert!(is_form("owner", "owns") && is_form("computers", "computer") && is_form("30", "30"));
        assert!(!is_form("cats", "category") && !is_form("1901", "1812") && !is_form("in", "inn"));
    }

    #[test]
    fn a_claim_is_shown_by_its_words_in_one_text() {
        let steps = vec![
            step(Tool::Search, "Otto Pell", "Otto Pell was a Portuguese engineer, who owned two bridges."),
            step(Tool::Lookup, "Porto", "(Result 1 / 1) He died in Porto."),
        ];
        let read = episode(steps, None, &[], Outcome::Finished);
        let seen = Observed::of(&read.steps);
        assert!(is_shown("Otto Pell was an engineer and the owner of a bridge.", 0, &seen));
        assert!(!is_shown("Otto Pell, an engineer, died in Porto after an owner sold bridges.", 0, &seen), "two texts");
        assert!(!is_shown("Otto Pell was a Spanish engineer.", 0, &seen));
        assert!(is_shown("Otto Pell was a Spanish engineer.", 1, &seen), "one word was changed");
        assert!(!is_shown("Otto Pell burned a library.", 1, &seen));
        assert!(is_touched("Pell was a dancer.", &seen) && !is_touched("A&E was a root beer brand.", &seen));
        assert_eq!(kind_read("Otto Pell was a Portuguese engineer.", &seen), Some(Kind::Same));
        assert_eq!(kind_read("Otto Pell was a Spanish engineer.", &seen), Some(Kind::Partly));
        assert_eq!(kind_read("Otto Pell is an album.", &seen), Some(Kind::Other));
        assert_eq!([kind_read("Ada is an album.", &seen), kind_read("Otto Pell owned two.", &seen)], [None, None]);
        assert_eq!(missing_name("Otto Pell died in Porto.", &seen), None);
        assert_eq!(missing_name("Otto Pell died in Lisbon.", &seen), Some("Lisbon"));
        assert_eq!(missing_name("Pell was born in 1901.", &seen), Some("1901"));
    }
}
