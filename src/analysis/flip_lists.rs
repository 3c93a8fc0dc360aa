//! Flipped answers of two variants: both trajectories, and the gold pages in the corpora of both runs.

use crate::analysis::compare::{Comparison, Gold, GoldState, Variant, flips};
use crate::analysis::report::comparison::{Edition, FlipList, FlippedQuestion};
use crate::analysis::results::{Episode, Source};
use crate::base::Trajectory;
use crate::base::text::{is_date, shell_word, visible_line};
use crate::runner::RunError;
use crate::scoring::{Divergence, Share};
use std::collections::HashMap;
use std::rc::Rc;

/// The flipped answers of each pair, of which `most` are printed; with `stale_gold`, whether their gold is stale.
pub(crate) fn flip_lists(
    sources: &[Source],
    columns: &[Variant],
    comparison: &Comparison,
    stale_gold: bool,
    most: usize,
) -> Result<Vec<FlipList>, RunError> {
    let at = |name: &str| columns.iter().position(|column| column.name == name);
    let pairs = comparison.figures.first().map(|figure| figure.pairs.as_slice()).unwrap_or_default();
    let pairs: Vec<(usize, usize)> = pairs.iter().filter_map(|pair| Some((at(&pair.a)?, at(&pair.b)?))).collect();
    let finder = Finder::new(sources);
    let mut opened = CorpusCache::default();
    let lists = pairs.into_iter().map(|(a, b)| {
        let flips = flips(&columns[a], &columns[b]);
        let editions = stale_gold.then(|| Editions::of([a, b].map(|at| (&columns[at], &sources[at])), &mut opened));
        let flipped = |id: &String, right: usize, wrong: usize| -> Result<FlippedQuestion, RunError> {
            // In the order of the pair.
            let (first, second) = (finder.trajectory(a, id, right == a)?, finder.trajectory(b, id, right == b)?);
            let wrong = finder.episode(wrong, id, false);
            let evidence = wrong.and_then(|episode| episode.evidence.as_deref());
            let gold = editions.as_ref().map(|editions| editions.judged(evidence)).transpose()?.flatten();
            Ok(FlippedQuestion {
                gold,
                id: id.clone(),
                question: wrong.map(|episode| episode.question.clone()).unwrap_or_default(),
                class: wrong.and_then(|episode| episode.class),
                parted: first.zip(second).and_then(|(first, second)| Divergence::of(&first, &second)),
                repeats: finder.repeats(a, id).zip(finder.repeats(b, id)).map(<[Share; 2]>::from),
                command: show_command(&sources[a], &sources[b], id),
            })
        };
        Ok(FlipList {
            editions: editions.as_ref().map(|both| (both.described.clone(), both.corpora.as_ref().err().cloned())),
            a: columns[a].name.clone(),
            b: columns[b].name.clone(),
            n: flips.n,
            most,
            gained: flips.gained.iter().map(|id| flipped(id, b, a)).collect::<Result<_, RunError>>()?,
            lost: flips.lost.iter().map(|id| flipped(id, a, b)).collect::<Result<_, RunError>>()?,
        })
    });
    lists.collect()
}

/// Finds an episode that represents its variant: of several repeats the first that is as right as most of them.
struct Finder<'a> {
    first: HashMap<(usize, &'a str, bool), &'a Episode>,
    /// The right answers among the scored repeats of each variant and question.
    right: HashMap<(usize, &'a str), Share>,
    sources: &'a [Source],
}

impl<'a> Finder<'a> {
    fn new(sources: &'a [Source]) -> Self {
        let (mut first, mut shares) = (HashMap::new(), HashMap::new());
        for (at, source) in sources.iter().enumerate() {
            for episode in &*source.episodes {
                if let Some(right) = episode.right {
                    first.entry((at, episode.item.id.as_str(), right)).or_insert(episode);
                    let share: &mut Share = shares.entry((at, episode.item.id.as_str())).or_default();
                    share.count += u64::from(right);
                    share.of += 1;
                }
            }
        }
        Self { first, right: shares, sources }
    }

    /// The right answers among the repeats of a question, where no variant was run only once.
    fn repeats(&self, column: usize, id: &'a str) -> Option<Share> {
        self.right.get(&(column, id)).copied().filter(|_| self.right.values().any(|share| share.of > 1))
    }

    fn episode(&self, column: usize, id: &'a str, right: bool) -> Option<&'a Episode> {
        self.first.get(&(column, id, right)).copied()
    }

    /// Its trajectory; absent for tables of figures.
    fn trajectory(&self, column: usize, id: &'a str, right: bool) -> Result<Option<Trajectory>, RunError> {
        let place = self.sources[column].origin.as_ref().zip(self.episode(column, id, right));
        place.map(|(origin, episode)| Ok(origin.graded.episode(episode.at)?.trajectory)).transpose()
    }
}

fn show_command(a: &Source, b: &Source, id: &str) -> Option<String> {
    let one = |source: &Source| source.origin.as_ref().map(|_| shell_word(&format!("{}:{id}", source.typed())));
    Some(format!("wikitrail show {} {}", one(a)?, one(b)?))
}

type Lookup = Box<dyn Fn(&str) -> Result<Option<String>, RunError>>;

pub(crate) struct Corpus {
    id: String,
    /// What a run over it records.
    identity: String,
    as_of: Option<String>,
    /// How much of a page it has, where it says so.
    extent: Option<String>,
    text: Lookup,
}

/// Corpora by the paths in manifests, each opened once.
#[derive(Default)]
pub(crate) struct CorpusCache(HashMap<String, Result<Rc<Corpus>, String>>);

/// The corpora of two variants, or why gold cannot be compared between them.
pub(crate) struct Editions {
    corpora: Result<[Rc<Corpus>; 2], String>,
    described: [Edition; 2],
}

impl Editions {
    /// The one with the later date is the newer one; without two dates, the second.
    pub(crate) fn of(pair: [(&Variant, &Source); 2], opened: &mut CorpusCache) -> Self {
        let found = pair.map(|(_, source)| opened.of(source));
        let as_of = |found: &Result<Rc<Corpus>, String>| found.as_ref().ok().and_then(|corpus| corpus.as_of.clone());
        let mut described = [0, 1].map(|at| Edition {
            variant: pair[at].0.name.clone(),
            wiki: pair[at].1.variant().map(|variant| variant.wiki.clone()),
            as_of: as_of(&found[at]),
        });
        let mut corpora = both(found);
        let dates = described.each_ref().map(|edition| edition.as_of.as_deref().filter(|date| is_date(date)));
        if let [Some(first), Some(second)] = dates
            && first > second
        {
            described.reverse();
            if let Ok(corpora) = &mut corpora {
                corpora.reverse();
            }
        }
        Self { corpora, described }
    }

    /// Whether the gold of a question is stale; none if nothing can be told.
    pub(crate) fn judged(&self, gold: Option<&Gold>) -> Result<Option<GoldState>, RunError> {
        let Ok(corpora) = &self.corpora else { return Ok(None) };
        let none = Gold::default();
        let gold = gold.unwrap_or(&none);
        let texts =
            |corpus: &Corpus| gold.pages.iter().map(|page| (corpus.text)(page)).collect::<Result<Vec<_>, RunError>>();
        Ok(Some(gold.judged(&texts(&corpora[0])?, &texts(&corpora[1])?)))
    }
}

fn both([a, b]: [Result<Rc<Corpus>, String>; 2]) -> Result<[Rc<Corpus>; 2], String> {
    let (a, b) = (a?, b?);
    if a.id == b.id {
        return Err("both read the same corpus".to_owned());
    }
    match (&a.extent, &b.extent) {
        (Some(a), Some(b)) if a != b => Err(format!(
            "one corpus has articles of the extent `{a}` and the other `{b}`, so an answer may be missing for that"
        )),
        _ => Ok([a, b]),
    }
}

impl CorpusCache {
    fn of(&mut self, source: &Source) -> Result<Rc<Corpus>, String> {
        let variant = source.variant().ok_or("tables of figures have no corpus")?;
        let named = visible_line(&variant.wiki, 120);
        let dir = variant.wiki.strip_prefix("corpus:").ok_or_else(|| format!("`{named}` is not a corpus"))?;
        let found = self.0.entry(dir.to_owned()).or_insert_with(|| open(dir).map(Rc::new)).clone();
        let corpus = found.map_err(|error| format!("cannot read `{named}`: {}", visible_line(&error, 300)))?;
        if variant.wiki_origin.as_ref() != Some(&corpus.identity) {
            return Err(format!("`{named}` is not the corpus any more that the run read"));
        }
        Ok(corpus)
    }
}

#[cfg(feature = "index")]
fn open(dir: &str) -> Result<Corpus, String> {
    // The path is somebody's manifest's: a pipe or a device may never end.
    if std::path::Path::new(dir).metadata().is_ok_and(|found| !found.is_dir() && !found.is_file()) {
        return Err("it is neither a file nor a folder".to_owned());
    }
    let corpus = crate::runner::open_corpus(dir).map_err(|error| error.to_string())?;
    let (id, identity, manifest) = (corpus.id().to_owned(), corpus.identity(), corpus.manifest());
    let as_of = manifest.and_then(|manifest| manifest.as_of.clone());
    let extent = manifest.map(|manifest| manifest.extent.name().to_owned());
    let text = move |title: &str| {
        let page = corpus.opens(title).and_then(|number| number.map(|number| corpus.page(number)).transpose());
        let page = page.map_err(|error| RunError::input(error, "`wikitrail corpus verify DIR` lists what is wrong"))?;
        Ok(page.map(|page| page.blocks.join("\n")))
    };
    Ok(Corpus { id, identity, as_of, extent, text: Box::new(text) })
}

#[cfg(not(feature = "index"))]
fn open(_: &str) -> Result<Corpus, String> {
    Err("this program was built without corpora".to_owned())
}
