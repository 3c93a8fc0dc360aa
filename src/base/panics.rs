//! Work of libraries that panic on damaged files.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread is in [`caught`].
    static CATCHES: Cell<bool> = const { Cell::new(false) };
}

/// What the work returns; nothing where it panics, of which nothing is printed.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if !CATCHES.get() {
                usual(info);
            }
        }));
    });
    let before = CATCHES.replace(true);
    let found = catch_unwind(AssertUnwindSafe(work)).ok();
    CATCHES.set(before);
    found
}

#[cfg(test)]
mod tests {
    use super::{CATCHES, caught};

    #[test]
    fn a_panic_leaves_nothing_behind() {
        assert_eq!(caught(|| 1), Some(1));
        assert_eq!(caught(|| caught(|| panic!("damaged")).is_none() && CATCHES.get()), Some(true));
        assert!(!CATCHES.get());
    }
}
