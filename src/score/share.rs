//! Shares as counts.

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// A share as the two counts that it is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share {
    /// How many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
}

impl Share {
    /// `count / of`, `0.0..=1.0`; absent for a share of nothing.
    #[expect(clippy::cast_precision_loss, reason = "counts of steps and sentences are far below 2^53")]
    pub fn value(self) -> Option<f64> {
        (self.of > 0).then(|| self.count as f64 / self.of as f64)
    }

    pub(super) fn add(&mut self, count: u64, of: u64) {
        self.count += count;
        self.of += of;
    }
}

/// `{"count", "of", "share"}`.
impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Share", 3)?;
        fields.serialize_field("count", &self.count)?;
        fields.serialize_field("of", &self.of)?;
        fields.serialize_field("share", &self.value())?;
        fields.end()
    }
}
