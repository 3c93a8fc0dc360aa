//! Tests that need `../shared` are ignored where it is absent, as on GitHub. They must not be ignored where it is there; `.ci/run`
//! ends with an error without it.

#[test]
fn the_build_knows_whether_the_folder_is_there() {
    let there = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/README.md").is_file();
    assert_eq!(cfg!(shared), there, "../shared came or went after the build: `touch build.rs`, then test again");
}
