//! What the library offers, in modules with the names of the program's commands: [`run`], [`score`], [`wiki`], [`compare`].

pub mod run {
    //! Running agents over questions.
    //!
    //! Describe what to run ([`Experiment`], or one from a file with [`load_experiment`]) and [`prepare`] it, which reads every
    //! file and writes nothing. [`Prepared::execute`] then writes the run folder, tells a [`Listener`] what happens, and ends with
    //! a [`Summary`]. [`OneAgent`] answers single questions.
    //!
    //! ```no_run
    //! use wikitrail::run::{Experiment, Interrupts, RunError, RunEvent, VariantSettings, prepare};
    //!
    //! # async fn run() -> Result<(), RunError> {
    //! let method = |name: &str| VariantSettings { method: Some(name.to_owned()), ..Default::default() };
    //! let experiment = Experiment::over("datasets/sample.jsonl")
    //!     .variant("react", method("react"))
    //!     .variant("cot", method("cot"))
    //!     .output("results/two");
    //! let mut listener = |event: &RunEvent| eprintln!("{event:?}");
    //! let finished = prepare(&experiment)?.execute(&mut listener, Interrupts::none()).await?;
    //! for variant in finished.summaries.iter().flat_map(|summary| &summary.variants) {
    //!     println!("{}: EM {:?}", variant.name, variant.score.em);
    //! }
    //! # Ok(())
    //! # }
    //! ```

    pub use crate::base::{
        FinishReason, Method, Outcome, Question, RunEvent, Shard, Step, StopRule, Stopping, Trajectory, Wait,
        WaitReason,
    };
    pub use crate::prompting::protocol::IDS as PROTOCOLS;
    pub use crate::runner::experiment::{
        DatasetSettings, DatasetSpec, Experiment, Overrides, VariantSettings, VariantSpec,
    };
    pub use crate::runner::{
        ErrorKind, Finished, Interrupts, Listener, OneAgent, Prepared, RunError, Summary, load_experiment, prepare,
    };
}

pub mod score {
    //! Scoring answers as the official scripts do, to the last bit.
    //!
    //! [`score_answers`] scores by the metric of a question's dataset; the functions behind it have the names of their scripts.
    //! Scores are shares from 0 to 1. An [`Assessment`] says what an episode read and why its answer is wrong.
    //!
    //! ```
    //! use wikitrail::score::{Metric, ReadOptions, hotpot, load_file, score_answers};
    //!
    //! let score = hotpot("the Eiffel Tower, Paris", "Eiffel Tower");
    //! assert_eq!((score.em, score.precision, score.recall), (0.0, 2.0 / 3.0, 1.0));
    //!
    //! let dataset = load_file("datasets/sample.jsonl".as_ref(), &ReadOptions::default())?;
    //! let question = &dataset.questions[0];
    //! let score = score_answers(Metric::Hotpot, Some(&question.answers[0]), &question.answers).expect("it has an answer");
    //! assert_eq!(score.em, 1.0);
    //! # Ok::<(), wikitrail::score::DatasetError>(())
    //! ```

    pub use crate::base::{Question, Selection, SupportingFact, Trajectory};
    pub use crate::dataset::{Dataset, DatasetError, Format, ReadOptions, load_file, select};
    pub use crate::scoring::{
        AnswerScore, Assessment, GoldEvidence, Metric, characters, fever_label, fid_em, hotpot, hotpot_max, musique,
        normalize, normalize_characters, normalize_fid, normalize_orqa, normalize_trivia, orqa_em, paper_reward,
        rouge_l_max, score_answers, squad11, squad20, strategy_qa, trivia,
    };
}

pub mod wiki {
    //! The Wikipedia tool: `Search`, `Lookup` and `Finish` over a source of pages.
    //!
    //! A [`Session`] holds the open page of one question. Its [`Source`] is a frozen [`Corpus`], a site read as HTML
    //! ([`HtmlSource`]) or through the API of `MediaWiki` ([`ApiSource`]), or a server of passages ([`RetrieverSource`]).
    //!
    //! ```
    //! # #[cfg(feature = "index")]
    //! # #[tokio::main(flavor = "current_thread")]
    //! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    //! use std::sync::Arc;
    //! use wikitrail::wiki::{Compat, Corpus, Session, SessionOptions, Tool};
    //!
    //! let corpus = Arc::new(Corpus::open("datasets/sample-wiki".as_ref())?);
    //! let mut session = Session::new(corpus, Compat::Fixed, SessionOptions::default());
    //! let page = session.call(Tool::Search, "Blaise Pascal").await?;
    //! assert!(page.text.starts_with("Blaise Pascal"));
    //! let sentence = session.call(Tool::Lookup, "mathematician").await?;
    //! assert!(sentence.text.starts_with("(Result 1 / "));
    //! # Ok(())
    //! # }
    //! # #[cfg(not(feature = "index"))]
    //! # fn main() {}
    //! ```

    pub use crate::base::{Compat, PassageHit, Provenance, Tool, Wording};
    pub use crate::net::RetrySettings;
    pub use crate::wikipedia::html::{Article, ArticleOptions, ExtractError, PaperPage, article, paper_page};
    pub use crate::wikipedia::{
        ApiSource, Found, FoundPassage, HtmlSource, LagSettings, LiveSettings, Observation, Retrieval,
        RetrieverAddress, RetrieverSource, Session, SessionError, SessionOptions, SessionState, SitePolicyError,
        Source, SourceError, clean_str,
    };
    #[cfg(feature = "index")]
    pub use crate::wikipedia::{Corpus, CorpusError};
}

pub mod compare {
    //! Comparing variants on the same questions, and the statistics of the comparison.
    //!
    //! [`compare_run`] reads a run folder with several variants. The [`Comparison`] is plain data: means with intervals, paired
    //! tests, and a sentence for each pair.
    //!
    //! ```
    //! use wikitrail::compare::{Settings, compare_run};
    //! use wikitrail::run::RunError;
    //!
    //! fn print(folder: &std::path::Path) -> Result<(), RunError> {
    //!     let comparison = compare_run(folder, &Settings::default())?;
    //!     for pair in comparison.figures.iter().flat_map(|figure| &figure.pairs) {
    //!         println!("{}", pair.verdict.sentence);
    //!     }
    //!     Ok(())
    //! }
    //! ```

    pub use crate::analysis::compare::{Comparison, Settings};

    /// Intervals, tests and designs for paired figures; `docs/statistics.md` has the formulas and their sources.
    ///
    /// ```
    /// use wikitrail::compare::statistics::wilson;
    ///
    /// let interval = wilson(27, 40, 0.95);
    /// assert!(interval.low < 0.675 && 0.675 < interval.high);
    /// ```
    pub mod statistics {
        pub use crate::base::stats::distributions::normal_quantile;
        pub use crate::base::stats::resampling::resampled_means;
        pub use crate::base::stats::rng::SplitMix64;
        pub use crate::base::stats::{
            Agreement, Betting, Between, Coefficient, Decision, Design, Differences, Interval, McNemar, Mean, Moments,
            Rule, Spread, Sums, arms_permutation, benjamini_hochberg, bonferroni, clopper_pearson, holm, permutation,
            questions_needed, smallest_difference, wilson,
        };
    }

    use crate::analysis::compare::{NamedFigure, compare};
    use crate::analysis::results::{RunRef, Wanted, load, names, stopped};
    use crate::runner::RunError;
    use crate::scoring::{Figure, figure};
    use std::path::Path;

    /// Compares the variants of a run question by question: EM and F1 with intervals, paired tests and verdicts.
    ///
    /// The errors are those of reading a run, and of comparing fewer than two variants.
    pub fn compare_run(folder: &Path, settings: &Settings) -> Result<Comparison, RunError> {
        let figures = [&figure::EM, &figure::F1];
        let compared = |figure: &Figure| NamedFigure::new(figure.name);
        let run = RunRef { path: folder.to_owned(), variant: None };
        let (sources, _) = load(&[run], &Wanted { figures: &figures, ..Wanted::default() })?;
        let names = names(&sources);
        let (stopped, figures) = (stopped(&sources, &names)?, figures.map(compared).to_vec());
        let settings = Settings { figures, stopped, ..settings.clone() };
        let figures: Vec<String> = settings.figures.iter().map(|figure| figure.name.clone()).collect();
        let columns = sources.iter().zip(&names).map(|(source, name)| source.column(name, &figures, &[]));
        compare(&columns.collect::<Vec<_>>(), &settings)
            .map_err(|error| RunError::input(error, "compare a run of several variants"))
    }
}
