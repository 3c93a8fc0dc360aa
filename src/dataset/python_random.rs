//! Python's `random.Random(seed).shuffle`, so that the paper's order of questions can be had.
//!
//! `MT19937` seeded by `init_by_array` with the seed's 32-bit words; `_randbelow` draws as many bits as the bound
//! has and rejects what is too large (`CPython`'s Lib/random.py and Modules/_randommodule.c describe both).

use rand_mt::Mt;

/// Shuffles in place as Python 3 does.
pub(super) fn shuffle<T>(seed: u64, items: &mut [T]) {
    let mut generator = Mt::new_with_key(words(seed));
    for i in (1..items.len()).rev() {
        items.swap(i, below(&mut generator, i + 1));
    }
}

/// The seed's 32-bit words, low one first, without leading zeros.
fn words(seed: u64) -> Vec<u32> {
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of a word are what is wanted")]
    let (low, high) = (seed as u32, (seed >> 32) as u32);
    if high == 0 { vec![low] } else { vec![low, high] }
}

/// A whole number from 0 up to `bound`, which is at least 1.
fn below(generator: &mut Mt, bound: usize) -> usize {
    let bits = usize::BITS - bound.leading_zeros();
    loop {
        let drawn = random_bits(generator, bits);
        if drawn < bound {
            return drawn;
        }
    }
}

/// `getrandbits(bits)`: 32 at a time, low words first, the last one cut from its top.
fn random_bits(generator: &mut Mt, bits: u32) -> usize {
    let (mut value, mut have) = (0_usize, 0);
    while have < bits {
        let take = (bits - have).min(32);
        let word = generator.next_u32() >> (32 - take);
        value |= (word as usize) << have;
        have += take;
    }
    value
}
