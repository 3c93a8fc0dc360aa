//! Public sources of datasets: where each file is, under which licence, and what its bytes must be.
//!
//! Files in repositories are named at a commit, so that their digest is known; the datasets' own sites give no digest.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicSource {
    /// The name under which it is asked for.
    pub name: &'static str,
    pub url: &'static str,
    pub file: &'static str,
    pub licence: &'static str,
    /// SHA-256 of its bytes, 64 lower-case hexadecimal digits, where it is known.
    pub sha256: Option<&'static str>,
    pub about: &'static str,
}

impl PublicSource {
    pub fn find(name: &str) -> Option<&'static Self> {
        PUBLIC_SOURCES.iter().find(|source| source.name.eq_ignore_ascii_case(name.trim()))
    }

    /// The last part of the address, under which a mirror has the file.
    pub fn remote_file(&self) -> &'static str {
        self.url.rsplit('/').next().unwrap_or(self.file)
    }
}

macro_rules! sources {
    ($($name:literal, $file:literal, $licence:literal, $sha256:expr, $about:literal, $($url:literal)+;)*) => {
        /// All known sources, by dataset.
        pub const PUBLIC_SOURCES: &[PublicSource] = &[$(PublicSource {
            name: $name,
            url: concat!($($url),+),
            file: $file,
            licence: $licence,
            sha256: $sha256,
            about: $about,
        }),*];
    };
}

sources! {
    "hotpotqa", "hotpot_dev_v1_simplified.json", "CC BY-SA 4.0",
    Some("05001dcdeb2b2b2243a88f23daaf8de9237494cd387e13bc25854d3e031101d3"),
    "development set, 7,405 questions and answers, as the ReAct paper uses it",
    "https://raw.githubusercontent.com/ysymyth/ReAct/6bdb3a1fd38b8188fc7ba4102969fe483df8fdc9/data/"
    "hotpot_dev_v1_simplified.json";

    "hotpotqa-test", "hotpot_test_v1_simplified.json", "CC BY-SA 4.0",
    Some("8b31dc77c4e366ed3f55c439e4fd9748be7c0fc6b46bb2e859c66d1a477108ba"),
    "test set, 7,405 questions without answers",
    "https://raw.githubusercontent.com/ysymyth/ReAct/6bdb3a1fd38b8188fc7ba4102969fe483df8fdc9/data/"
    "hotpot_test_v1_simplified.json";

    "hotpotqa-distractor", "hotpot_dev_distractor_v1.json", "CC BY-SA 4.0", None,
    "development set with ten paragraphs a question and supporting facts",
    "http://curtis.ml.cmu.edu/datasets/hotpot/hotpot_dev_distractor_v1.json";

    "hotpotqa-fullwiki", "hotpot_dev_fullwiki_v1.json", "CC BY-SA 4.0", None,
    "development set with retrieved paragraphs and supporting facts",
    "http://curtis.ml.cmu.edu/datasets/hotpot/hotpot_dev_fullwiki_v1.json";

    "hotpotqa-train", "hotpot_train_v1.1.json", "CC BY-SA 4.0", None,
    "training set, 90,447 questions",
    "http://curtis.ml.cmu.edu/datasets/hotpot/hotpot_train_v1.1.json";

    "fever", "fever_paper_dev.jsonl", "CC BY-SA 3.0",
    Some("41158707810008747946bf23471e82df53e77a513524b9e3ec1c2e674ef5ef8c"),
    "development set of the FEVER paper, 9,999 claims",
    "https://raw.githubusercontent.com/ysymyth/ReAct/6bdb3a1fd38b8188fc7ba4102969fe483df8fdc9/data/paper_dev.jsonl";

    "2wiki", "2wiki_dev200.json", "Apache-2.0",
    Some("65dc34d5b9f275457b2c6524443916730f0d6a3a59281d828b38028d0fbf0e3b"),
    "200 questions of the 2WikiMultiHopQA development set",
    "https://raw.githubusercontent.com/AdelWang/MIGRES/1de6265c9ca1014054d6ba875738e785830908f8/data/wikihop.json";

    "musique", "musique_dev200.json", "CC BY 4.0",
    Some("bbc98ab676941cf3a481cb3361cfab334cd2a24c74ed42473e4d5c14cf7577d4"),
    "200 questions of the MuSiQue development set",
    "https://raw.githubusercontent.com/AdelWang/MIGRES/1de6265c9ca1014054d6ba875738e785830908f8/data/musique.json";

    "strategyqa", "strategyqa_dev.json", "MIT",
    Some("0d94842ffb022db8fd5ecd2168b785d5cf67f6faf64f665476bad544a3eb9dde"),
    "development set, 229 questions",
    "https://raw.githubusercontent.com/eladsegal/strategyqa/1ba1e97452e189569357876f2854b01357ffbe37/data/strategyqa/"
    "dev.json";

    "strategyqa-train", "strategyqa_train.json", "MIT",
    Some("0f72560b8a6fad3db847d2f1a7524fb087297843bb45a8d3245ffd68cbe0de12"),
    "training set, 2,061 questions",
    "https://raw.githubusercontent.com/eladsegal/strategyqa/1ba1e97452e189569357876f2854b01357ffbe37/data/strategyqa/"
    "train.json";

    "bamboogle", "bamboogle.json", "MIT",
    Some("a09d863a9f61a1d6b080b1abdacdd0c652e48e648d68a536b6ced6b196234fea"),
    "all 125 questions, with their decomposition",
    "https://raw.githubusercontent.com/LoganMilandin/comp-gap-public/76673055865beb4a6763b8e60a1767539a930b2b/data/"
    "bamboogle.json";

    "nq-open", "nq_open_dev.jsonl", "CC BY-SA 3.0",
    Some("f15567f38099f3615f5b8a685c0aef449c11ad90d3da3735e8d1b98115b40616"),
    "development set, 3,610 questions",
    "https://raw.githubusercontent.com/efficientqa/nq-open/69ba616799229ec55a725077e32ada8a51040240/NQ-open.dev.jsonl";

    "nq-open-efficientqa", "nq_open_efficientqa_test.jsonl", "CC BY-SA 3.0",
    Some("c37b3cb2069632dfef219fa770d7910ac77ff6d12a08e8f3d5f058b388aca8a6"),
    "test set of EfficientQA, 1,769 questions",
    "https://raw.githubusercontent.com/google-research-datasets/natural-questions/"
    "fb26a3073b1fe636c97302890a27b491d6530130/nq_open/NQ-open.efficientqa.test.1.1.jsonl";

    "webquestions", "webquestions_test.json", "CC BY 4.0",
    Some("de320953700cd08300b9bcd2e60399da43b458a1be02db3f93c40344729fed39"),
    "test set, 2,032 questions",
    "https://raw.githubusercontent.com/brmson/dataset-factoid-webquestions/668890853388010fe6ae9a5eb035a7917b88933b/"
    "main/test.json";

    "popqa", "popqa_test.json", "MIT, not verified",
    Some("6928a842b1bdefa1b41b0053e035fb74504aa3729b71e8a268dcaaa42cbfc3ec"),
    "14,267 questions on entities, many of them rare",
    "https://raw.githubusercontent.com/shichengf/CorVer/f3cadc2e72edafb0fe42ce8e2501f61680f27776/data/popqa_test.json";

    "simpleqa", "simpleqa.json", "MIT",
    Some("6f0a7c0481225769a750c4684087e2b887b752ee7efcf3012bf0fce716560638"),
    "4,326 short questions of fact",
    "https://raw.githubusercontent.com/shichengf/CorVer/f3cadc2e72edafb0fe42ce8e2501f61680f27776/data/simpleqa.json";

    "frames", "frames.json", "Apache-2.0",
    Some("65485fa52b95f3fbcaf81db5284d08ce00130b4c1b7773d3a0b5e748e1dacae6"),
    "824 questions over several articles each",
    "https://raw.githubusercontent.com/msghik/SimpleDeepSearcher/59d92a232699ae2fbb26a0f564909b2d272900f5/data/"
    "frames.json";

    "triviaqa", "triviaqa_sample.json", "Apache-2.0 (code); data not verified",
    Some("232c91a7be4357af547e101498c9613b210dcb292d6162145e4c37ff6f86cfad"),
    "a sample of 150 questions",
    "https://raw.githubusercontent.com/Clivia0617/persona-hallucination-study/29ad64c1524bc1175aeece87a5786536c7fec0ae/"
    "data/triviaqa.json";

    "squad11", "dev-v1.1.json", "CC BY-SA 4.0", None,
    "development set of SQuAD 1.1, a gold file for `score`",
    "https://rajpurkar.github.io/SQuAD-explorer/dataset/dev-v1.1.json";

    "squad20", "dev-v2.0.json", "CC BY-SA 4.0", None,
    "development set of SQuAD 2.0, a gold file for `score`",
    "https://rajpurkar.github.io/SQuAD-explorer/dataset/dev-v2.0.json";
}

#[cfg(test)]
mod tests {
    use super::{PUBLIC_SOURCES, PublicSource};
    use std::collections::HashSet;

    #[test]
    fn every_source_is_whole() {
        let names: HashSet<&str> = PUBLIC_SOURCES.iter().map(|source| source.name).collect();
        let files: HashSet<&str> = PUBLIC_SOURCES.iter().map(|source| source.file).collect();
        assert_eq!((names.len(), files.len()), (PUBLIC_SOURCES.len(), PUBLIC_SOURCES.len()));
        for source in PUBLIC_SOURCES {
            assert!(source.url.starts_with("http") && !source.remote_file().is_empty(), "{}", source.name);
            assert!(!source.file.contains('/') && !source.licence.is_empty(), "{}", source.name);
            if let Some(digest) = source.sha256 {
                let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
                assert!(digest.len() == 64 && digest.bytes().all(hex), "{}", source.name);
            }
        }
        assert_eq!(PublicSource::find(" FEVER ").map(PublicSource::remote_file), Some("paper_dev.jsonl"));
        assert_eq!(PublicSource::find("nothing"), None);
    }
}
