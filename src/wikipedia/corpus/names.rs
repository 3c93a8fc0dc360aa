//! The names of a corpus: titles, redirects and folded names, each leading to the number of an article.
//!
//! Articles are numbered by title order, so the numbers in `names.fst` grow with its names, and the title of a number is
//! found in the same file. The files are mapped, and shared by all processes that read them.

use super::CorpusError;
use crate::base::panics::caught;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::LazyLock;
use tantivy::Directory as _;
use tantivy::directory::{MmapDirectory, OwnedBytes};
use tantivy::tokenizer::{AsciiFoldingFilter, RawTokenizer, TextAnalyzer, TokenStream as _};
use tantivy_fst::raw::Fst;
use tantivy_fst::{IntoStreamer as _, Map, MapBuilder, Streamer as _};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

pub(super) const TITLES: &str = "names.fst";
pub(super) const REDIRECTS: &str = "redirects.fst";
pub(super) const KEYS: &str = "keys.fst";
/// The fewest bytes of a name that another one has to begin with to be like it.
const FEWEST: usize = 3;
/// How many names of a folder are looked at for those that begin alike.
const LOOKED_AT: usize = 100;

pub(super) type NameWriter = MapBuilder<BufWriter<File>>;

pub(super) struct Names {
    titles: Table,
    pub(super) redirects: Table,
    /// By folded name.
    pub(super) keys: Table,
    pub(super) fold: Fold,
    /// How many names are looked at for those that begin alike.
    looked_at: usize,
}

pub(super) struct Table {
    file: &'static str,
    map: Map<OwnedBytes>,
}

impl Names {
    pub(super) fn open(dir: &Path, fold: Fold) -> Result<Self, CorpusError> {
        let (titles, redirects) = (Table::open(dir, TITLES)?, Table::open(dir, REDIRECTS)?);
        Ok(Self { titles, redirects, keys: Table::open(dir, KEYS)?, fold, looked_at: LOOKED_AT })
    }

    /// Titles, redirects and folded names that are not in files.
    pub(super) fn in_memory([titles, redirects, keys]: [BTreeMap<String, u32>; 3]) -> Result<Self, CorpusError> {
        let table = |file, names: BTreeMap<String, u32>| {
            let mut map = MapBuilder::memory();
            let written = map.extend_iter(names.into_iter().map(|(name, number)| (name, u64::from(number))));
            let bytes = written.and_then(|()| map.into_inner()).map_err(CorpusError::in_file(file))?;
            Table::over(file, OwnedBytes::new(bytes))
        };
        let (titles, redirects, keys) = (table(TITLES, titles)?, table(REDIRECTS, redirects)?, table(KEYS, keys)?);
        Ok(Self { titles, redirects, keys, fold: Fold::CURRENT, looked_at: usize::MAX })
    }

    pub(super) fn counts(&self) -> (usize, usize) {
        (self.titles.map.len(), self.redirects.map.len())
    }

    pub(super) fn exact(&self, name: &str) -> Result<Option<u32>, CorpusError> {
        match self.titles.get(name)? {
            Some(found) => Ok(Some(found)),
            None => self.redirects.get(name),
        }
    }

    /// The article whose name is `name` but for case, accents and punctuation.
    pub(super) fn named_like(&self, name: &str) -> Result<Option<u32>, CorpusError> {
        self.fold.keys(name).find_map(|key| self.keys.get(&key).transpose()).transpose()
    }

    pub(super) fn title(&self, number: u32) -> Result<String, CorpusError> {
        let title = self.titles.guarded(|map| name_of(map.as_fst(), u64::from(number)))?;
        let title = title.and_then(|title| String::from_utf8(title).ok());
        title.ok_or_else(|| self.titles.damaged(format!("article {number} has no title")))
    }

    /// Up to `most` articles whose folded names begin as `key` does, for as long as any does.
    pub(super) fn like(&self, key: &str, most: usize) -> Result<Vec<u32>, CorpusError> {
        self.keys.numbers(|map| {
            let common = common_prefix(map.as_fst(), key.as_bytes());
            if common.len() < FEWEST { Vec::new() } else { beginning(map, common, most, self.looked_at) }
        })
    }

    /// Up to `most` articles whose titles are not before `title`, in the order of the titles.
    #[cfg(feature = "serve")]
    pub(super) fn titled_from(&self, title: &str, most: usize) -> Result<Vec<u32>, CorpusError> {
        self.titles.numbers(|map| {
            let mut titles = map.range().ge(title).into_stream();
            std::iter::from_fn(|| titles.next().map(|(_, number)| number)).take(most).collect()
        })
    }

    /// Up to `most` articles with a folded name that begins as `key`, in the order of the names.
    pub(super) fn beginning(&self, key: &str, most: usize) -> Result<Vec<u32>, CorpusError> {
        self.keys.numbers(|map| beginning(map, key.as_bytes(), most, self.looked_at))
    }
}

fn beginning(map: &Map<OwnedBytes>, key: &[u8], most: usize, looked_at: usize) -> Vec<u64> {
    let mut names = map.range().ge(key).into_stream();
    let mut found = Vec::new();
    // Many names of one article may follow each other.
    for _ in 0..looked_at.max(most) {
        match names.next() {
            Some((name, number)) if found.len() < most && name.starts_with(key) => {
                if !found.contains(&number) {
                    found.push(number);
                }
            }
            _ => break,
        }
    }
    found
}

impl Table {
    fn open(dir: &Path, file: &'static str) -> Result<Self, CorpusError> {
        let folder = MmapDirectory::open(dir).map_err(CorpusError::in_file(file))?;
        let bytes = folder.open_read(Path::new(file)).map_err(CorpusError::in_file(file))?;
        Self::over(file, bytes.read_bytes().map_err(CorpusError::in_file(file))?)
    }

    fn over(file: &'static str, bytes: OwnedBytes) -> Result<Self, CorpusError> {
        let fst = caught(|| Fst::new(bytes));
        let fst = fst.ok_or_else(|| CorpusError::damaged(file, "it is not a table of names"))?;
        Ok(Self { file, map: fst.map_err(CorpusError::in_file(file))?.into() })
    }

    fn damaged(&self, reason: impl ToString) -> CorpusError {
        CorpusError::damaged(self.file, reason)
    }

    /// The library panics on a file that was damaged since it was written.
    fn guarded<T>(&self, read: impl FnOnce(&Map<OwnedBytes>) -> T) -> Result<T, CorpusError> {
        caught(|| read(&self.map)).ok_or_else(|| self.damaged("a name leads out of it"))
    }

    fn numbers(&self, read: impl FnOnce(&Map<OwnedBytes>) -> Vec<u64>) -> Result<Vec<u32>, CorpusError> {
        self.guarded(read)?.into_iter().map(|number| self.small(number)).collect()
    }

    pub(super) fn get(&self, name: &str) -> Result<Option<u32>, CorpusError> {
        self.guarded(|map| map.get(name))?.map(|number| self.small(number)).transpose()
    }

    fn small(&self, number: u64) -> Result<u32, CorpusError> {
        u32::try_from(number).map_err(|_| self.damaged(format!("there is no article {number}")))
    }
}

/// The name that has this number, in a table in which numbers grow with names.
fn name_of(fst: &Fst<OwnedBytes>, mut number: u64) -> Option<Vec<u8>> {
    let mut node = fst.root();
    let mut name = Vec::new();
    while !(node.is_final() && node.final_output().value() == number) {
        // The last way on behind which numbers are not larger. A damaged file may have ways in circles.
        let way = node.transitions().take_while(|way| way.out.value() <= number).last();
        let way = way.filter(|_| name.len() <= fst.size())?;
        number -= way.out.value();
        name.push(way.inp);
        node = fst.node(way.addr);
    }
    Some(name)
}

/// As much of the beginning of `key` as a name has.
fn common_prefix<'k>(fst: &Fst<OwnedBytes>, key: &'k [u8]) -> &'k [u8] {
    let mut node = fst.root();
    for (at, byte) in key.iter().enumerate() {
        match node.find_input(*byte) {
            Some(way) => node = fst.node(node.transition_addr(way)),
            None => return &key[..at],
        }
    }
    key
}

// Text without what people get wrong when they type it: case, accents, punctuation.

/// How names and words are folded before they are compared. Folders keep the version that they were built with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// Version 1: compatibility forms decomposed, accents dropped, lower case, everything but letters, digits, `+` and `#` a gap.
    Marks,
    /// Version 2: letters without a decomposition become those of ASCII besides (`ł` l, `ø` o, `ß` ss), and names that differ in
    /// punctuation alone meet.
    Letters,
}

impl Fold {
    /// That of new folders and of corpora in memory.
    pub(super) const CURRENT: Self = Self::Letters;

    /// That of folders with this version in their manifest.
    pub(super) fn of(version: u32) -> Self {
        if version < 2 { Self::Marks } else { Self::Letters }
    }

    /// The words of `text`, folded and joined by single spaces. Between two Chinese or Japanese characters a mark leaves no gap,
    /// so that `列夫·托尔斯泰` is `列夫托尔斯泰`.
    pub(super) fn name(self, text: &str) -> String {
        self.folded(text, Gaps::Marks)
    }

    /// [`Self::name`] with each Chinese or Japanese character as a word, because nothing else marks words there.
    pub(super) fn words(self, text: &str) -> String {
        self.folded(text, Gaps::Ideographs)
    }

    /// The keys by which `name` is found, the closest first: [`Self::name`], and from version 2 on the same without punctuation, so
    /// that `U.S. Route 66` has `us route 66`, too.
    pub(super) fn keys(self, name: &str) -> impl Iterator<Item = String> {
        let open = self.name(name);
        let closed = (self == Self::Letters).then(|| self.folded(name, Gaps::Spaces)).filter(|closed| *closed != open);
        [open].into_iter().chain(closed).filter(|key| !key.is_empty())
    }

    fn folded(self, text: &str, gaps: Gaps) -> String {
        let mut key = Folded { key: String::with_capacity(text.len()), gaps, gap: false, after_ideograph: false };
        if text.is_ascii() {
            // There is nothing to decompose, as in most of English.
            text.chars().for_each(|c| key.push(c));
            return key.key;
        }
        for c in text.nfkd().filter(|&c| canonical_combining_class(c) == 0) {
            match ASCII_LETTERS.get(&c).filter(|_| self == Self::Letters) {
                Some(letters) => letters.chars().for_each(|letter| key.push(letter)),
                None => key.push(c),
            }
        }
        key.key
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gaps {
    /// At spaces and at punctuation.
    Marks,
    /// There, and around Chinese and Japanese characters.
    Ideographs,
    /// At spaces and underscores alone.
    Spaces,
}

struct Folded {
    key: String,
    gaps: Gaps,
    gap: bool,
    after_ideograph: bool,
}

impl Folded {
    fn push(&mut self, c: char) {
        if matches!(c, '\'' | '\u{2019}') {
            // `Bein' Green` and `Beins Green` differ in a mark that many leave out.
            return;
        }
        let ideograph = is_ideograph(c);
        let split = self.gaps == Gaps::Ideographs;
        // Letters, digits, and the two signs that tell titles apart (`C`, `C++`, `C#`).
        let kept = c.is_alphanumeric() || matches!(c, '+' | '#');
        let leaves_gap = self.gaps != Gaps::Spaces || c.is_whitespace() || c == '_';
        self.gap |= (split && ideograph) || (!kept && leaves_gap);
        if kept {
            let closed = !split && ideograph && self.after_ideograph;
            if self.gap && !closed && !self.key.is_empty() {
                self.key.push(' ');
            }
            if c.is_ascii() {
                self.key.push(c.to_ascii_lowercase());
            } else {
                self.key.extend(c.to_lowercase());
            }
            self.gap = split && ideograph;
            self.after_ideograph = ideograph;
        }
    }
}

/// Letters that have no decomposition, and what they are in ASCII by the table of Lucene's `ASCIIFoldingFilter`.
static ASCII_LETTERS: LazyLock<HashMap<char, String>> = LazyLock::new(|| {
    // Blocks of Latin letters, up to Latin Extended-C, then Latin Extended-D.
    let letters = ('\u{80}'..='\u{2c7f}').chain('\u{a720}'..='\u{a7ff}').filter(|c| c.is_alphanumeric());
    let mut folding = TextAnalyzer::builder(RawTokenizer::default()).filter(AsciiFoldingFilter).build();
    let ascii = |c: char| {
        let text = c.to_string();
        let mut tokens = folding.token_stream(&text);
        let folded = tokens.next().map(|token| token.text.clone())?;
        folded.chars().all(|c| c.is_ascii_alphanumeric()).then_some((c, folded))
    };
    letters.filter_map(ascii).collect()
});

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::Fold;

    #[test]
    fn letters_without_a_decomposition_are_those_of_ascii() {
        for (text, folded) in [
            ("Łódź", "lodz"),
            ("Ørsted", "orsted"),
            ("Đặng Æsir œuvre", "dang aesir oeuvre"),
            ("Þórr, Guðrún", "thorr gudrun"),
            ("Straße STRAẞE", "strasse strasse"),
            ("Ħaż-Żebbuġ", "haz zebbug"),
            ("Diyarbakır İzmir", "diyarbakir izmir"),
            ("ŋ ŧ ƒ ĸ", "n t f q"),
            ("Лев Ωmega ʻOumuamua", "лев ωmega ʻoumuamua"),
        ] {
            assert_eq!(Fold::Letters.name(text), folded, "{text:?}");
            assert_eq!(Fold::Letters.words(text), folded, "{text:?}");
        }
        assert_eq!(Fold::Marks.name("Łódź"), "łodz", "the version of older folders stays");
        assert_eq!(Fold::of(1), Fold::Marks);
        assert_eq!(Fold::of(2), Fold::CURRENT);
    }

    #[test]
    fn names_that_differ_in_punctuation_alone_have_a_key_in_common() {
        let keys = |name: &str| Fold::Letters.keys(name).collect::<Vec<_>>();
        assert_eq!(keys("U.S. Route 66"), ["u s route 66", "us route 66"]);
        assert_eq!(keys("US Route 66"), ["us route 66"]);
        assert_eq!(keys("Spider-Man_(film)"), ["spider man film", "spiderman film"]);
        assert_eq!(keys("Łódź–Śródmieście"), ["lodz srodmiescie", "lodzsrodmiescie"]);
        assert_eq!(keys("?!"), [""; 0]);
        assert_eq!(Fold::Marks.keys("U.S. Route 66").collect::<Vec<_>>(), ["u s route 66"]);
    }

    #[test]
    fn case_accents_and_punctuation_fold_away() {
        for (text, folded) in [
            ("Beyoncé", "beyonce"),
            ("AC/DC (band)", "ac dc band"),
            ("  Ｆｕｌｌ—width ﬁ ", "full width fi"),
            ("Bein' Green", "bein green"),
            ("رِياضيات", "رياضيات"),
            ("!?", ""),
        ] {
            assert_eq!(Fold::CURRENT.name(text), folded, "{text:?}");
            assert_eq!(Fold::Marks.name(text), folded, "{text:?}");
        }
        for text in ["", " a'B--C# ", "\u{0}x\ty+\n", "It's 7_8.", "'", "?a", "~"] {
            // A mark that is neither a gap nor a character goes through the other rule.
            assert_eq!(Fold::CURRENT.name(text), Fold::CURRENT.name(&format!("{text}\u{301}")), "{text:?}");
        }
        assert_eq!(Fold::CURRENT.words("東京 is 2東京x"), "東 京 is 2 東 京 x");
        assert_eq!(Fold::CURRENT.name("東京"), "東京");
        assert_eq!(Fold::CURRENT.name("《列夫·托尔斯泰》（1） a"), "列夫托尔斯泰 1 a");
        assert_eq!(Fold::CURRENT.words("列夫·托"), "列 夫 托");
    }
}
