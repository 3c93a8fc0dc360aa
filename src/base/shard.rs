//! A part of a run's questions, for one of several processes that share the run's folder.

use super::digest::sha256_hex;
use super::{LimitHistory, Manifest};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the stored [`ShardRecord`].
pub const SHARD_VERSION: u32 = 1;

/// One of `count` parts of a run's questions, numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    count: u32,
    index: u32,
}

impl Shard {
    /// Most shards that a run can have.
    pub const MOST: u32 = 65_535;

    /// The shard with this number of so many; none where there is no such shard.
    pub fn new(index: u32, count: u32) -> Option<Self> {
        (1..=count).contains(&index).then_some(Self { count, index }).filter(|_| count <= Self::MOST)
    }

    /// Which of them it is, from 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// How many there are.
    pub fn count(self) -> u32 {
        self.count
    }

    /// All shards of its run.
    pub fn all(self) -> impl Iterator<Item = Self> {
        (1..=self.count).map(move |index| Self { index, ..self })
    }

    /// A shard as it is written: `3/16`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parted(text, "/")
    }

    /// A shard in file names: `3-of-16`.
    pub fn in_name(text: &str) -> Option<Self> {
        Self::parted(text, "-of-")
    }

    fn parted(text: &str, between: &str) -> Option<Self> {
        let number = |text: &str| text.parse().ok().filter(|number: &u32| number.to_string() == text);
        let (index, count) = text.split_once(between)?;
        Self::new(number(index)?, number(count)?)
    }

    /// `INDEX-of-COUNT`, as its folder is called.
    pub fn name(self) -> String {
        format!("{}-of-{}", self.index, self.count)
    }

    /// The shard that a question belongs to, of as many as these: the first 8 bytes of the SHA-256 of what the question is,
    /// as a big-endian number, modulo their count. It depends on nothing else, so that the order of the questions and their
    /// selection may change, and all variants and repeats of a question are in one shard.
    #[must_use]
    pub fn of(self, question: &str) -> Self {
        let digest = sha256_hex([question.as_bytes()]);
        let number = digest[..16].bytes().fold(0_u64, |number, digit| {
            number << 4 | u64::from(if digit.is_ascii_digit() { digit - b'0' } else { digit - b'a' + 10 })
        });
        // The rest of a division by a `u32` is one.
        let index = u32::try_from(number % u64::from(self.count)).unwrap_or_default() + 1;
        Self { index, ..self }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is not a shard such as 3/16"))
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

/// `shard.<i>-of-<n>.json`: how one shard of a run went. The run is described in the manifest, which all shards share and
/// which none of them changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardRecord {
    /// Format version, [`SHARD_VERSION`]; always the first field.
    pub v: u32,
    pub shard: Shard,
    /// As in the [`Manifest`], but of this shard; so are the others.
    pub command_line: Vec<String>,
    pub started_at: String,
    pub ended_at: Option<String>,
    #[serde(default)]
    pub active_ms: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limit_history: Vec<LimitHistory>,
}

impl ShardRecord {
    /// What a shard has written down, where the fields of the manifest are its own.
    pub fn of(shard: Shard, manifest: &Manifest) -> Self {
        Self {
            v: SHARD_VERSION,
            shard,
            command_line: manifest.command_line.clone(),
            started_at: manifest.started_at.clone(),
            ended_at: manifest.ended_at.clone(),
            active_ms: manifest.active_ms,
            limit_history: manifest.limit_history.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn shards_are_numbered_from_one_and_written_in_one_way() {
        let third = Shard::new(3, 16).expect("a shard");
        assert_eq!((third.to_string(), third.name()), ("3/16".to_owned(), "3-of-16".to_owned()));
        assert_eq!((Shard::parse("3/16"), Shard::in_name("3-of-16")), (Some(third), Some(third)));
        assert_eq!(serde_json::from_str::<Shard>("\"3/16\"").ok(), Some(third));
        assert_eq!(third.all().count(), 16);
        for bad in ["0/4", "5/4", "1/0", "01/4", "+1/4", "1/65536", "1/4/4", "-1/4", "1", "", "1 / 4", "a/b"] {
            assert_eq!(Shard::parse(bad), None, "{bad}");
            assert_eq!(Shard::in_name(&bad.replace('/', "-of-")), None, "{bad}");
        }
    }

    /// These numbers are those of any run that was ever split: SHA-256 of `abc` begins with ba7816bf8f01cfea.
    #[test]
    fn a_question_stays_in_its_shard() {
        for (count, index) in [(1, 1), (7, 0xba78_16bf_8f01_cfea_u64 % 7 + 1), (16, 0xa + 1)] {
            let shard = Shard::new(1, count).expect("a shard");
            assert_eq!(u64::from(shard.of("abc").index()), index);
        }
        let one = Shard::new(1, 5).expect("a shard");
        let mut counts = [0; 5];
        for n in 0..1000 {
            counts[one.of(&format!("question {n}")).index() as usize - 1] += 1;
        }
        assert!(counts.iter().all(|count| (150..250).contains(count)), "{counts:?}");
    }
}
