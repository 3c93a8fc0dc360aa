//! Damaged input for readers, the same at every run. Also a module of `src/tests`.

/// Makes rubble of what is whole.
pub(crate) struct Rubble(u64);

impl Rubble {
    /// Seeded by `WIKITRAIL_SEED`, for whoever wants other texts.
    pub(crate) fn new() -> Self {
        let seed =
            std::env::var("WIKITRAIL_SEED").ok().map_or(233, |seed| seed.parse().expect("WIKITRAIL_SEED is a number"));
        Self(seed)
    }

    /// How many texts each reader gets: `WIKITRAIL_REPLIES`, or else `usual`.
    pub(crate) fn count(usual: usize) -> usize {
        std::env::var("WIKITRAIL_REPLIES").map_or(usual, |count| count.parse().expect("WIKITRAIL_REPLIES is a number"))
    }

    /// The generator `SplitMix64`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let limit = u64::try_from(limit.max(1)).expect("small");
        usize::try_from((z ^ (z >> 31)) % limit).expect("small")
    }

    /// One of several.
    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// `whole` after up to five damages: bytes flipped, cut out, doubled, moved; pieces put in, sometimes thousands of them.
    pub(crate) fn damaged(&mut self, whole: &[u8], pieces: &[&str]) -> Vec<u8> {
        let mut bytes = whole.to_vec();
        for _ in 0..self.below(6) {
            let at = self.below(bytes.len() + 1);
            let to = (at + self.below(40)).min(bytes.len());
            match self.below(12) {
                0 => bytes.truncate(at),
                1..3 => drop(bytes.drain(at..to)),
                3 => bytes.extend_from_within(at..to),
                4 => bytes[at..to].rotate_left((to - at) / 2),
                5..7 => {
                    let noise: Vec<u8> =
                        (0..=self.below(4)).map(|_| u8::try_from(self.below(256)).expect("a byte")).collect();
                    bytes.splice(at..to.min(at + noise.len()), noise);
                }
                7 if self.below(20) == 0 => {
                    let many = self.of(pieces).repeat(1 + self.below(3000));
                    bytes.splice(at..at, many.into_bytes());
                }
                _ => {
                    let piece = self.of(pieces);
                    bytes.splice(at..if self.below(2) == 0 { at } else { to }, piece.bytes());
                }
            }
        }
        bytes
    }
}
