//! `SplitMix64`, the random generator of all resampling: a published sequence that others can reproduce.
//!
//! Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014). The state is a counter, which gives random
//! access to the sequence.

/// The counter's increment: 2^64 over the golden ratio, made odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The generator with its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// From a seed, which may be any number.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next of 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.skip(1);
        mix(self.0)
    }

    /// The next number below `n`: the high half of its product with `n`.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        let product = u128::from(self.next_u64()) * u128::from(n);
        // The high half of a product of two 64-bit numbers fits in 64 bits.
        (product >> 64) as u64
    }

    /// Fisher-Yates from the end; the item at `i` goes to a place below `i + 1`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            let place = self.below(u64::try_from(at).unwrap_or(u64::MAX).saturating_add(1));
            items.swap(at, usize::try_from(place).unwrap_or(at));
        }
    }

    /// The number `ahead` places after the next one.
    #[inline]
    pub(super) fn peek(self, ahead: u64) -> u64 {
        mix(self.0.wrapping_add(ahead.wrapping_add(1).wrapping_mul(STEP)))
    }

    #[inline]
    pub(super) fn skip(&mut self, numbers: u64) {
        self.0 = self.0.wrapping_add(numbers.wrapping_mul(STEP));
    }
}

#[inline]
fn mix(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    #[test]
    fn the_sequence_is_the_published_one() {
        // From the reference implementation (java.util.SplittableRandom's mix) for seed 1234567.
        let mut rng = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
