//! Public sources of questions and of Wikipedia: where each file is, under which licence, and what its bytes must be.
//!
//! Files in repositories are named at a commit, so that their digest is known; the datasets' own sites give no digest, or an
//! MD5.

use super::bytes::md5_of_file;
use std::io;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicSource {
    pub name: &'static str,
    pub url: &'static str,
    pub file: &'static str,
    pub licence: &'static str,
    /// SHA-256 of its bytes, 64 lower-case hexadecimal digits, where it is known.
    pub sha256: Option<&'static str>,
    /// MD5 of its bytes, where that is what its publisher gives.
    pub md5: Option<&'static str>,
    pub about: &'static str,
    /// Of a source of articles: the commands that make a corpus of it. FILE is the file, DIR its folder.
    pub corpus: &'static [&'static str],
}

impl PublicSource {
    pub fn find(name: &str) -> Option<&'static Self> {
        PUBLIC_SOURCES.iter().find(|source| source.name.eq_ignore_ascii_case(name.trim()))
    }

    /// The last part of the address, under which a mirror has the file.
    pub fn remote_file(&self) -> &'static str {
        let path = self.url.split('?').next().unwrap_or(self.url);
        path.rsplit('/').next().unwrap_or(self.file)
    }

    /// Whether it is known what its bytes must be.
    pub fn is_checked(&self) -> bool {
        self.sha256.is_some() || self.md5.is_some()
    }

    /// What is wrong with the bytes of a file that has this SHA-256.
    pub fn difference(&self, path: &Path, sha256: &str) -> io::Result<Option<String>> {
        let differs = |kind: &str, found: &str, wanted: Option<&str>| {
            let wanted = wanted.filter(|wanted| *wanted != found)?;
            Some(format!("its {kind} is `{found}`, not `{wanted}`"))
        };
        if let Some(difference) = differs("SHA-256", sha256, self.sha256) {
            return Ok(Some(difference));
        }
        // One of them is enough.
        let md5 = self.md5.filter(|_| self.sha256.is_none()).map(|_| md5_of_file(path)).transpose()?;
        Ok(md5.and_then(|found| differs("MD5", &found, self.md5)))
    }
}

macro_rules! optional {
    () => {
        None
    };
    ($value:literal) => {
        Some($value)
    };
}

macro_rules! sources {
    ($(
        $name:literal, $file:literal, $licence:literal, $sha256:expr, $about:literal, $($url:literal)+
        $(, md5 $md5:literal)? $(=> $($next:literal),+)?;
    )*) => {
        /// All known sources, by dataset.
        pub const PUBLIC_SOURCES: &[PublicSource] = &[$(PublicSource {
            name: $name,
            url: concat!($($url),+),
            file: $file,
            licence: $licence,
            sha256: $sha256,
            md5: optional!($($md5)?),
            about: $about,
            corpus: &[$($($next),+)?],
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

    "wiki-hotpotqa", "enwiki-20171001-pages-meta-current-withlinks-abstracts.tar.bz2", "CC BY-SA 4.0",
    Some("1acca1c5cc93c4890ea51091d2bad7c3ef6987aead127ab88728dc9e26555729"),
    "2017, 5,233,329 first paragraphs with sentences; 1.6 GB",
    "https://nlp.stanford.edu/projects/hotpotqa/enwiki-20171001-pages-meta-current-withlinks-abstracts.tar.bz2",
    md5 "01edf64cd120ecc03a2745352779514c"
    => "corpus build wiki17 --from hotpotqa:FILE --as-of 2017-10-01 --language en --license CC-BY-SA-4.0";

    "wiki-hotpotqa-full", "enwiki-20171001-pages-meta-current-withlinks-processed.tar.bz2", "CC BY-SA 4.0", None,
    "2017, whole pages with sentences; 7.4 GB",
    "https://nlp.stanford.edu/projects/hotpotqa/enwiki-20171001-pages-meta-current-withlinks-processed.tar.bz2",
    md5 "62b8027b5803173d4383669d8d162509"
    => "corpus build wiki17-full --from hotpotqa:FILE --as-of 2017-10-01 --language en --license CC-BY-SA-4.0";

    "wiki-dspy", "wiki.abstracts.2017.tar.gz", "CC BY-SA 4.0", None,
    "2017, HotpotQA's first paragraphs as DSPy has them; 0.5 GB",
    "https://huggingface.co/dspy/cache/resolve/main/wiki.abstracts.2017.tar.gz"
    => "corpus build dspy17 --from dspy:FILE --as-of 2017-10-01 --language en --license CC-BY-SA-4.0";

    "wiki-18", "wiki-18.jsonl.gz", "CC BY-SA 3.0", None,
    "2018, 21,015,324 passages of 100 words, as Search-R1 has them; 5.1 GB",
    "https://huggingface.co/datasets/PeterJinGo/wiki-18-corpus/resolve/main/wiki-18.jsonl.gz"
    => "corpus build wiki18 --from wiki18:FILE --as-of 2018-12-20 --language en --license CC-BY-SA-3.0";

    "wiki-dpr", "psgs_w100.tsv.gz", "CC BY-NC 4.0; texts CC BY-SA 3.0", None,
    "2018, 21,015,324 passages of 100 words, as DPR has them",
    "https://dl.fbaipublicfiles.com/dpr/wikipedia_split/psgs_w100.tsv.gz"
    => "corpus build dpr18 --from dpr:FILE --as-of 2018-12-20 --language en --license CC-BY-SA-3.0";

    "wiki-kilt", "kilt_knowledgesource.json", "CC BY-SA 3.0", None,
    "2019, 5,903,530 whole pages; 37 GB",
    "http://dl.fbaipublicfiles.com/KILT/kilt_knowledgesource.json"
    => "corpus build kilt19 --from kilt:FILE --as-of 2019-08-01 --language en --license CC-BY-SA-3.0";

    "wiki-fever", "wiki-pages.zip", "CC BY-SA 3.0", None,
    "June 2017, introductions with FEVER's numbers of sentences",
    "https://fever.ai/download/fever/wiki-pages.zip"
    => "unzip FILE -d DIR",
    "corpus build fever17 --from fever:DIR/wiki-pages --as-of 2017-06-01 --language en --license CC-BY-SA-3.0";

    "wiki-2wiki", "para_with_hyperlink.zip", "Apache-2.0; texts CC BY-SA", None,
    "5,989,847 first paragraphs with sentences; 1.9 GB",
    "https://www.dropbox.com/s/wlhw26kik59wbh8/para_with_hyperlink.zip?dl=1"
    => "unzip FILE -d DIR",
    "corpus build wiki2 --from 2wiki:DIR/para_with_hyperlink.jsonl --language en";

    "beir-hotpotqa", "beir-hotpotqa.zip", "CC BY-SA 4.0", None,
    "2017, BEIR's copy of HotpotQA's first paragraphs, with queries",
    "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/hotpotqa.zip",
    md5 "f412724f78b0d91183a0e86805e16114"
    => "unzip FILE -d DIR",
    "corpus build beir-hotpotqa --from beir:DIR/hotpotqa/corpus.jsonl --as-of 2017-10-01 --language en --license CC-BY-SA-4.0";

    "beir-fever", "beir-fever.zip", "CC BY-SA 3.0", None,
    "2017, BEIR's copy of FEVER's pages, with queries",
    "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/fever.zip",
    md5 "5a818580227bfb4b35bb6fa46d9b6c03"
    => "unzip FILE -d DIR",
    "corpus build beir-fever --from beir:DIR/fever/corpus.jsonl --as-of 2017-06-01 --language en --license CC-BY-SA-3.0";

    "beir-nq", "beir-nq.zip", "CC BY-SA 3.0", None,
    "BEIR's passages for Natural Questions, with queries",
    "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/nq.zip",
    md5 "d4d3d2e48787a744b6f6e691ff534307"
    => "unzip FILE -d DIR",
    "corpus build beir-nq --from beir:DIR/nq/corpus.jsonl --language en --license CC-BY-SA-3.0";
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
            for (digest, digits) in [(source.sha256, 64), (source.md5, 32)] {
                let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
                assert!(digest.is_none_or(|d| d.len() == digits && d.bytes().all(hex)), "{}", source.name);
            }
            assert!(source.about.len() <= 74, "{}: the list has 80 columns", source.name);
        }
        assert_eq!(PublicSource::find(" FEVER ").map(PublicSource::remote_file), Some("paper_dev.jsonl"));
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(&file, "abc").expect("written");
        let wrong = |sha256, md5| {
            let source = PublicSource { sha256, md5, ..PUBLIC_SOURCES[0] };
            source.difference(file.path(), "5ba").expect("a file")
        };
        assert_eq!(wrong(None, Some("900150983cd24fb0d6963f7d28e17f72")), None);
        let told = "its MD5 is `900150983cd24fb0d6963f7d28e17f72`, not `1`";
        assert_eq!(wrong(None, Some("1")).as_deref(), Some(told));
        assert_eq!(wrong(Some("5bb"), Some("1")).as_deref(), Some("its SHA-256 is `5ba`, not `5bb`"));
        assert_eq!((wrong(Some("5ba"), Some("1")), wrong(None, None)), (None, None));
        let mirrored = PublicSource::find("wiki-2wiki").map(PublicSource::remote_file);
        assert_eq!((mirrored, PublicSource::find("nothing")), (Some("para_with_hyperlink.zip"), None));
    }
}
