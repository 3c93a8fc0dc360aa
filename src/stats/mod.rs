//! Statistics over plain numbers: intervals for a share and for a mean.

pub mod interval;

pub use interval::{Interval, mean_interval, mean_interval_of, normal_mean_interval, wilson};

#[cfg(test)]
mod shared {
    include!("../../tests/common/shared.rs");
}
