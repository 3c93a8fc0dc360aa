//! Tests that need `../shared` are ignored where it is absent. They must not be ignored where it is there, nor in CI.

#[test]
fn the_build_knows_whether_the_folder_is_there() {
    let there = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/README.md").is_file();
    assert_eq!(cfg!(shared), there, "../shared came or went after the build: `touch build.rs`, then test again");
    assert!(there || std::env::var_os("CI").is_none(), "../shared is required in CI");
}
