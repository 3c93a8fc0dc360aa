//! The policy's vocabulary: words of English at large, none of them about a particular question.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Words that say little about what a sentence is about.
static STOP: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "a according although among because between despite since about after all also an and another any are as at be \
    been before being both but by came can come could did do does during each for from had has have he her here him \
    his how i if in into is it its later made make many more most much near not of on one only or other out over own \
    same she so some such than that the their them there these they this those through to two under until up was \
    were what when where which while who whom whose why will with would name named called first whether"
        .split(' ')
        .collect()
});

/// Words that mean nearly the same in a question and in the sentence that answers it: a group a line, its name first.
const ALIKE: &str = "\
write: wrote written write writes writer author authored novelist poet playwright writing
born: born birth birthplace native
die: died die dies death dead killed
found: founded founder founders established founding formed foundation
discover: found discovered discoverer discovery discover discovers
build: built build constructed construction architect designed design designer building architects erected
film: film films movie movies picture screen documentary motion
direct: directed director directs directing filmmaker
compose: composed composer music score composers scored
star: starred stars star actor actress role played leading plays
marry: married wife husband spouse marry
paint: painted painter painting paintings paint artist
sculpt: sculptor sculpture sculpted statue
situate: located lies lie stands situated stand standing
capital: capital capitals
win: won win winner winning wins awarded award prize received receive
study: studied study studies student educated university trained
sing: sang sung singer song sings songs
band: band group
teach: taught teacher teach lessons pupil
open: opened open opening inaugurated opens
finish: completed finished complete completion
publish: published publication publisher appeared released release issued
flow: flows flow flowing empties joins
lead: led lead leader head headed commanded commander
live: lived lives live home house resided
honour: honour honor honoured honored eponym namesake
astronomer: astronomer astronomers astronomy
invent: invented inventor invention developed developer creator created create
high: high height tall taller tallest higher highest elevation metres feet
long: long length longer longest kilometres";

static GROUPS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let lines = ALIKE.lines().filter_map(|line| line.split_once(": "));
    // Where a word stands in two groups, the first one has it.
    lines.rev().flat_map(|(group, words)| words.split(' ').map(move |word| (word, group))).collect()
});

/// Adjectives of peoples and countries.
static DEMONYMS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "American Argentine Armenian Australian Austrian Belgian Brazilian British Bulgarian Canadian Chilean Chinese \
    Colombian Croatian Cuban Czech Danish Dutch Egyptian English Estonian European Finnish French Georgian German \
    Ghanaian Greek Hungarian Icelandic Indian Indonesian Iranian Irish Israeli Italian Japanese Kenyan Korean \
    Latvian Lithuanian Malaysian Mexican Moroccan Nigerian Norwegian Ottoman Pakistani Persian Peruvian Polish \
    Portuguese Prussian Roman Romanian Russian Scottish Serbian Slovak Slovene Slovenian Soviet Spanish Swedish \
    Swiss Thai Tunisian Turkish Ukrainian Uruguayan Venezuelan Vietnamese Welsh African Asian Catholic Christian"
        .split(' ')
        .collect()
});

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Whether a word, in lower case, says little.
pub(super) fn is_stop(lower: &str) -> bool {
    STOP.contains(lower)
}

/// The name of the group of words that mean nearly the same, for a word in lower case.
pub(super) fn group(lower: &str) -> Option<&'static str> {
    GROUPS.get(lower).copied()
}

/// Whether a word is an adjective of a people.
pub(super) fn is_people(word: &str) -> bool {
    DEMONYMS.contains(word)
}

/// The number of a month from its name, January being 0.
pub(super) fn month(word: &str) -> Option<usize> {
    MONTHS.iter().position(|month| *month == word)
}

/// The value of a number word.
pub(super) fn number(lower: &str) -> Option<f64> {
    Some(match lower {
        "two" => 2.0,
        "three" => 3.0,
        "four" => 4.0,
        "five" => 5.0,
        "six" => 6.0,
        "seven" => 7.0,
        "eight" => 8.0,
        "nine" => 9.0,
        "ten" => 10.0,
        "eleven" => 11.0,
        "twelve" | "dozen" => 12.0,
        "thirteen" => 13.0,
        "fourteen" => 14.0,
        "fifteen" => 15.0,
        "sixteen" => 16.0,
        "seventeen" => 17.0,
        "eighteen" => 18.0,
        "nineteen" => 19.0,
        "twenty" => 20.0,
        "thirty" => 30.0,
        "forty" => 40.0,
        "fifty" => 50.0,
        "sixty" => 60.0,
        "seventy" => 70.0,
        "eighty" => 80.0,
        "ninety" => 90.0,
        "hundred" => 100.0,
        "one" => 1.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{group, is_people, is_stop, month, number};

    #[test]
    fn words_are_known() {
        assert!(is_stop("the") && !is_stop("river"));
        assert_eq!((group("author"), group("wrote"), group("river")), (Some("write"), Some("write"), None));
        assert!(is_people("Danish") && !is_people("Denmark"));
        assert_eq!((month("March"), month("march")), (Some(2), None));
        assert_eq!((number("twelve"), number("dozen"), number("many")), (Some(12.0), Some(12.0), None));
    }
}
