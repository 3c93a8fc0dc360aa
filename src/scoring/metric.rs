//! The answer scores of the official scripts, bit for bit, the reward of the paper's harness, and by which a question is scored.

use super::normalize::{is_unspaced, normalize, normalize_characters, normalize_fid, normalize_orqa, normalize_trivia};
use super::overlap::{AnswerScore, overlap, rouge_l};
use crate::base::named;
use crate::base::{AnswerKind, Question};

named! {
    /// How an answer is compared with its golds.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Metric {
        /// `HotpotQA`'s EM and F1 against the official gold alone, `answers[0]`.
        Hotpot = "hotpot",
        /// The same against every gold, each number's maximum: for datasets that list aliases.
        Aliases = "aliases",
        /// FEVER's label accuracy: case is ignored, nothing else. All four numbers are the same.
        Fever = "fever",
        /// The reward of the paper's harness against `answers[0]`. All four numbers are the same.
        Paper = "paper",
        /// Exact match and F1 over characters, for scripts without spaces; the best of all golds.
        Characters = "cjk",
        /// `StrategyQA`'s accuracy against `answers[0]`: true is yes, false is no. All four numbers are the same.
        StrategyQa = "strategyqa",
        /// ROUGE-L for long answers, the best of all golds; EM is equality of normalised texts.
        RougeL = "rougel",
    }
}

impl Metric {
    /// Whether it says right or wrong and nothing between, so that F1 is the same as EM.
    pub fn is_accuracy(self) -> bool {
        matches!(self, Self::Fever | Self::StrategyQa)
    }

    /// The metric of that name, in any case of letters.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name().eq_ignore_ascii_case(name.trim()))
    }

    /// An answer in the form in which this metric takes two for the same.
    pub fn normal(self, answer: &str) -> String {
        match self {
            Self::Fever => answer.to_uppercase(),
            Self::Characters => normalize_characters(answer),
            Self::StrategyQa => verdict(answer),
            Self::Hotpot | Self::Aliases | Self::Paper | Self::RougeL => normalize(answer),
        }
    }

    /// The dataset's own metric for a question: label accuracy for labels, the official gold alone for `HotpotQA`,
    /// characters where the official gold has any of a script without spaces, the best of all golds elsewhere.
    pub fn for_question(question: &Question) -> Self {
        match question.answer_kind {
            AnswerKind::Label => Self::Fever,
            _ => Self::for_texts(&question.dataset, &question.answers),
        }
    }

    /// The dataset's own metric where only the golds of a question are known, as in a trajectory.
    ///
    /// Golds that are FEVER's labels are scored as labels, whatever the dataset is called.
    pub fn for_answers(dataset: &str, answers: &[String]) -> Self {
        let label = |answer: &String| FEVER_LABELS.contains(&answer.as_str());
        match dataset {
            "fever" => Self::Fever,
            _ if dataset != "hotpotqa" && !answers.is_empty() && answers.iter().all(label) => Self::Fever,
            _ => Self::for_texts(dataset, answers),
        }
    }

    /// The metric of golds that are not labels. The official one decides: an English dataset may list names in other
    /// scripts among its aliases.
    fn for_texts(dataset: &str, answers: &[String]) -> Self {
        match dataset {
            "hotpotqa" => Self::Hotpot,
            "strategyqa" => Self::StrategyQa,
            _ if is_long_form(dataset) => Self::RougeL,
            _ if answers.first().is_some_and(|gold| gold.chars().any(is_unspaced)) => Self::Characters,
            _ => Self::Aliases,
        }
    }
}

/// Whether a dataset asks for whole paragraphs: `ELI5`, under any name that has this word, as KILT's file `eli5-dev-kilt.jsonl`.
fn is_long_form(dataset: &str) -> bool {
    dataset.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.eq_ignore_ascii_case("eli5"))
}

/// Scores an answer against the golds of a question, the official one first; `None` if there are none.
///
/// No answer at all scores zero even where the gold normalises to nothing: the official script's `"" == ""` is
/// kept for an answer that was given and is empty.
pub fn score_answers(metric: Metric, prediction: Option<&str>, golds: &[String]) -> Option<AnswerScore> {
    let official = golds.first()?;
    let Some(prediction) = prediction else { return Some(AnswerScore::ZERO) };
    Some(match metric {
        Metric::Hotpot => hotpot(prediction, official),
        Metric::Aliases => hotpot_max(prediction, golds),
        Metric::Fever => AnswerScore::right(golds.iter().any(|gold| fever_label(prediction, gold))),
        Metric::Paper => AnswerScore::right(paper_reward(Some(prediction), official)),
        Metric::Characters => characters(prediction, golds),
        Metric::StrategyQa => AnswerScore::right(strategy_qa(prediction, official)),
        Metric::RougeL => rouge_l_max(prediction, golds),
    })
}

/// EM, F1, precision and recall as `hotpot_evaluate_v1.py` gives them, bit for bit.
///
/// A prediction or gold that normalises to `yes`, `no` or `noanswer` earns nothing unless both are the same:
/// an answer that shares a word with such a gold is not partly right.
pub fn hotpot(prediction: &str, gold: &str) -> AnswerScore {
    normalized(&normalize(prediction), &normalize(gold))
}

fn normalized(prediction: &str, gold: &str) -> AnswerScore {
    let verdict = |text: &str| matches!(text, "yes" | "no" | "noanswer");
    if prediction != gold && (verdict(prediction) || verdict(gold)) {
        return AnswerScore::ZERO;
    }
    overlap(prediction, gold)
}

/// The maxima of [`hotpot`] over several golds, each number for itself, as `2WikiMultiHopQA` v1.1 takes them over
/// aliases. With one gold it is [`hotpot`]; without any it is zero.
pub fn hotpot_max<S: AsRef<str>>(prediction: &str, golds: &[S]) -> AnswerScore {
    let prediction = normalize(prediction);
    best(golds.iter().map(|gold| normalized(&prediction, &normalize(gold.as_ref()))))
}

/// `SQuAD` 1.1: the maxima of EM and F1 over the golds. Two empty texts give EM 1 and F1 0.
pub fn squad11<S: AsRef<str>>(prediction: &str, golds: &[S]) -> AnswerScore {
    let prediction = normalize(prediction);
    best(golds.iter().map(|gold| overlap(&prediction, &normalize(gold.as_ref()))))
}

/// `SQuAD` 2.0: as 1.1, but golds that normalise to nothing are dropped, where all do one empty gold is left, and an
/// empty side scores F1 1 against an empty side.
pub fn squad20<S: AsRef<str>>(prediction: &str, golds: &[S]) -> AnswerScore {
    let prediction = normalize(prediction);
    let mut golds: Vec<String> =
        golds.iter().map(|gold| normalize(gold.as_ref())).filter(|gold| !gold.is_empty()).collect();
    if golds.is_empty() {
        golds.push(String::new());
    }
    best(golds.iter().map(|gold| with_empty_sides(&prediction, gold)))
}

/// `MuSiQue`: `SQuAD` 2.0's comparison over all golds, none dropped.
pub fn musique<S: AsRef<str>>(prediction: &str, golds: &[S]) -> AnswerScore {
    let prediction = normalize(prediction);
    best(golds.iter().map(|gold| with_empty_sides(&prediction, &normalize(gold.as_ref()))))
}

fn with_empty_sides(prediction: &str, gold: &str) -> AnswerScore {
    if prediction.is_empty() || gold.is_empty() {
        return AnswerScore::right(prediction == gold);
    }
    overlap(prediction, gold)
}

fn best(scores: impl Iterator<Item = AnswerScore>) -> AnswerScore {
    scores.fold(AnswerScore::ZERO, AnswerScore::max)
}

/// `TriviaQA`: the maxima of EM and F1 over all spellings of the answer.
pub fn trivia<S: AsRef<str>>(prediction: &str, golds: &[S]) -> AnswerScore {
    let prediction = normalize_trivia(prediction);
    best(golds.iter().map(|gold| overlap(&prediction, &normalize_trivia(gold.as_ref()))))
}

/// `ORQA`'s exact match, which NQ-open took over: whether the prediction equals a gold after normalisation.
pub fn orqa_em<S: AsRef<str>>(prediction: &str, golds: &[S]) -> bool {
    let prediction = normalize_orqa(prediction);
    golds.iter().any(|gold| normalize_orqa(gold.as_ref()) == prediction)
}

/// `FiD`'s exact match; see [`normalize_fid`] for where it differs.
pub fn fid_em<S: AsRef<str>>(prediction: &str, golds: &[S]) -> bool {
    let prediction = normalize_fid(prediction);
    golds.iter().any(|gold| normalize_fid(gold.as_ref()) == prediction)
}

/// Exact match and overlap of characters (of words, where a script has spaces): the best of all golds, each number
/// for itself. Two texts that are nothing but punctuation give EM 1 and F1 0.
///
/// The rule is that of `mlqa_evaluation_v1.py` for Chinese (Lewis et al., *MLQA*, 2020), which took its mixed
/// segmentation from the evaluation of CMRC 2018 (Cui et al., 2019). CMRC itself scores the longest common run instead.
///
/// ```
/// let score = wikitrail::score::characters("《红楼梦》作者", &["红楼梦"]);
/// assert_eq!((score.em, score.recall, score.precision), (0.0, 1.0, 0.6));
/// ```
pub fn characters<S: AsRef<str>>(prediction: &str, golds: &[S]) -> AnswerScore {
    let prediction = normalize_characters(prediction);
    best(golds.iter().map(|gold| overlap(&prediction, &normalize_characters(gold.as_ref()))))
}

/// Whether a `StrategyQA` answer is right, whose answers are booleans: `true` is yes and `false` is no, after normalisation.
pub fn strategy_qa(prediction: &str, gold: &str) -> bool {
    verdict(prediction) == verdict(gold)
}

fn verdict(text: &str) -> String {
    let normal = normalize(text);
    match normal.as_str() {
        "true" => "yes".to_owned(),
        "false" => "no".to_owned(),
        _ => normal,
    }
}

/// Long answers: exact match as in [`squad11`], and ROUGE-L's F, precision and recall, each the best of all golds.
pub fn rouge_l_max<S: AsRef<str>>(prediction: &str, golds: &[S]) -> AnswerScore {
    let em = squad11(prediction, golds).em;
    AnswerScore { em, ..best(golds.iter().map(|gold| rouge_l(prediction, gold.as_ref()))) }
}

/// The reward that `ReAct`'s wrappers give: 1 (true) for equality of the normalised texts, for answers and
/// labels alike, and 0 for an episode that never finished.
pub fn paper_reward(prediction: Option<&str>, gold: &str) -> bool {
    prediction.is_some_and(|prediction| normalize(prediction) == normalize(gold))
}

/// The labels of FEVER, as its files spell them.
pub const FEVER_LABELS: [&str; 3] = ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"];

/// Whether the official scorer counts the label as right: equality after upper-casing, and nothing else.
///
/// Neither space nor punctuation is ignored; [`paper_reward`] is the lenient rule.
///
/// ```
/// use wikitrail::score::fever_label;
/// assert!(fever_label("not enough info", "NOT ENOUGH INFO"));
/// assert!(!fever_label("SUPPORTS.", "SUPPORTS") && !fever_label("", "SUPPORTS"));
/// ```
pub fn fever_label(prediction: &str, gold: &str) -> bool {
    // Rust's and Python's upper-casing agree on every character that a label holds.
    prediction.to_uppercase() == gold.to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::{Metric, characters, hotpot, score_answers};
    use crate::base::{AnswerKind, Question};
    use crate::scoring::AnswerScore;
    use crate::tests::shared;
    use serde::Deserialize;

    fn golds(golds: &[&str]) -> Vec<String> {
        golds.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_are_read_back() {
        for metric in Metric::ALL {
            assert_eq!(Metric::parse(metric.name()), Some(metric));
        }
        assert_eq!(Metric::parse(" Hotpot "), Some(Metric::Hotpot));
        assert_eq!(Metric::parse("bleu"), None);
    }

    #[test]
    fn the_dataset_decides() {
        let mut question = Question::new("1", "Is it?", golds(&["b", "c d"]));
        assert_eq!(Metric::for_question(&question), Metric::Aliases);
        assert_eq!(score_answers(Metric::Aliases, Some("C D"), &question.answers), Some(AnswerScore::right(true)));
        question.dataset = "hotpotqa".into();
        assert_eq!(Metric::for_question(&question), Metric::Hotpot);
        assert_eq!(score_answers(Metric::Hotpot, Some("C D"), &question.answers), Some(AnswerScore::ZERO));
        question.answer_kind = AnswerKind::Label;
        assert_eq!(Metric::for_question(&question), Metric::Fever);
        assert_eq!(Metric::for_answers("sample-claims", &golds(&["REFUTES"])), Metric::Fever);
        assert_eq!(Metric::for_answers("sample", &golds(&["refutes"])), Metric::Aliases);
        assert_eq!(Metric::for_answers("sample", &[]), Metric::Aliases);
        assert_eq!(Metric::for_answers("hotpotqa", &golds(&["x"])), Metric::Hotpot);
    }

    #[test]
    fn golds_without_spaces_are_scored_by_characters() {
        for (dataset, answers, metric) in [
            ("sample-zh", &["南京", "江宁"][..], Metric::Characters),
            ("mine", &["1952年", "1952"], Metric::Characters),
            ("mine", &["กรุงเทพ"], Metric::Characters),
            ("mine", &["서울 특별시"], Metric::Aliases),
            ("mine", &["1952"], Metric::Aliases),
            ("triviaqa", &["Tokyo", "東京"], Metric::Aliases),
            ("hotpotqa", &["東京"], Metric::Hotpot),
        ] {
            assert_eq!(Metric::for_answers(dataset, &golds(answers)), metric, "{dataset} {answers:?}");
            let mut question = Question::new("1", "?", golds(answers));
            question.dataset = dataset.into();
            assert_eq!(Metric::for_question(&question), metric, "{dataset} {answers:?}");
        }
        let score = score_answers(Metric::Characters, Some("南京。"), &golds(&["南京", "江宁"]));
        assert_eq!(score, Some(AnswerScore::right(true)));
        // A list that holds nothing but labels is one of claims, and labels are not Chinese.
        assert_eq!(Metric::for_answers("sample-zh", &golds(&["SUPPORTS"])), Metric::Fever);
    }

    #[test]
    fn booleans_are_answers_of_strategyqa_and_long_answers_are_scored_by_rouge() {
        assert_eq!(Metric::for_answers("strategyqa", &golds(&["yes"])), Metric::StrategyQa);
        for (prediction, gold, right) in [
            ("True", "yes", true),
            ("false.", "no", true),
            ("yes", "yes", true),
            ("True", "no", false),
            ("so", "no", false),
        ] {
            let score = score_answers(Metric::StrategyQa, Some(prediction), &golds(&[gold]));
            assert_eq!(score, Some(AnswerScore::right(right)), "{prediction} {gold}");
        }
        assert_eq!(Metric::for_answers("eli5-dev-kilt", &golds(&["x"])), Metric::RougeL);
        assert_eq!(Metric::for_answers("nq-dev-kilt", &golds(&["x"])), Metric::Aliases);
        let score = score_answers(Metric::RougeL, Some("the cat sat"), &golds(&["a dog", "the cat"])).expect("a score");
        assert_eq!((score.em, score.f1, score.recall), (0.0, 0.799_999_995_200_000_1, 1.0));
    }

    #[test]
    fn no_answer_is_not_an_empty_answer() {
        for metric in Metric::ALL {
            assert_eq!(score_answers(metric, None, &golds(&[""])), Some(AnswerScore::ZERO), "{metric:?}");
            assert_eq!(score_answers(metric, Some("x"), &[]), None, "{metric:?}");
        }
        let empty = score_answers(Metric::Hotpot, Some(""), &golds(&["the"])).expect("a score");
        assert_eq!((empty.em, empty.f1), (1.0, 0.0));
        assert_eq!(
            score_answers(Metric::Paper, Some("supports."), &golds(&["SUPPORTS"])),
            Some(AnswerScore::right(true))
        );
        assert_eq!(score_answers(Metric::Fever, Some("supports."), &golds(&["SUPPORTS"])), Some(AnswerScore::ZERO));
    }

    #[test]
    fn characters_overlap_as_words_do() {
        assert_eq!(characters("北京。", &["北京"]), AnswerScore::right(true));
        let f1 = 2.0 * 0.5 * (2.0 / 3.0) / (0.5 + 2.0 / 3.0);
        let expected = AnswerScore { em: 0.0, f1, precision: 0.5, recall: 2.0 / 3.0 };
        assert_eq!(characters("北京大学", &["北京市"]), expected);
        // A character counts as often as both sides have it, whatever their order.
        let expected = AnswerScore { em: 0.0, f1: 2.0 * 0.5 / 1.5, precision: 0.5, recall: 1.0 };
        assert_eq!(characters("天天", &["天"]), expected);
        assert_eq!(characters("京北", &["北京"]), AnswerScore { em: 0.0, ..AnswerScore::right(true) });
        // The best gold for each number.
        assert_eq!(characters("上海", &["北京", "上海市", "上海"]), AnswerScore::right(true));
        assert_eq!(characters("，", &["。"]), AnswerScore { em: 1.0, ..AnswerScore::ZERO });
        assert_eq!(characters("上海", &[] as &[&str]), AnswerScore::ZERO);
    }

    #[derive(Deserialize)]
    struct PaperCase {
        prediction: String,
        gold: String,
        norm_prediction: String,
        norm_gold: String,
        em: bool,
        f1_p_r: [f64; 3],
        #[serde(rename = "f1_in_wrapper(gold_norm,pred_norm)")]
        wrapper: f64,
    }

    #[test]
    #[cfg_attr(not(shared), ignore = "needs ../shared")]
    fn the_papers_own_metric_is_the_same() {
        let text = shared::text("golden/protocols/react_paper.metrics.jsonl");
        let mut checked = 0;
        for line in text.lines() {
            let case: PaperCase = serde_json::from_str(line).expect("a case");
            assert_eq!(crate::scoring::normalize(&case.prediction), case.norm_prediction);
            assert_eq!(crate::scoring::normalize(&case.gold), case.norm_gold);
            let score = hotpot(&case.prediction, &case.gold);
            let [f1, precision, recall] = case.f1_p_r;
            assert_eq!(score, AnswerScore { em: f64::from(u8::from(case.em)), f1, precision, recall }, "{line}");
            assert_eq!(hotpot(&case.norm_gold, &case.norm_prediction).f1.to_bits(), case.wrapper.to_bits(), "{line}");
            checked += 1;
        }
        assert_eq!(checked, text.lines().count());
        assert!(checked > 0);
    }
}
