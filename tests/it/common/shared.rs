//! The folder of real data and of vectors with other people's texts, beside the checkout. `build.rs` sets `shared` where it is
//! there. Also a module of `src/tests`.

use std::path::PathBuf;

/// The folder. A test that needs it is ignored where it is absent, which is counted and seen.
pub(crate) fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    assert!(
        folder.is_dir(),
        "../shared is not here: a test that needs it carries `#[cfg_attr(not(shared), ignore = \"needs ../shared\")]`"
    );
    folder
}

/// The bytes of a file in it.
#[allow(dead_code, reason = "not every test program reads files")]
pub(crate) fn bytes(path: &str) -> Vec<u8> {
    let path = folder().join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of a file in it.
#[allow(dead_code, reason = "not every test program reads files")]
pub(crate) fn text(path: &str) -> String {
    String::from_utf8(bytes(path)).expect("shared text is UTF-8")
}
