//! Tells the tests whether the folder of real data is beside the checkout: tests that need it are ignored where it is
//! absent.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(shared)");
    println!("cargo::rerun-if-changed=build.rs");
    let marker = Path::new("../shared/README.md");
    // A missing file would run this again, and compile everything again, at each build.
    if marker.is_file() {
        println!("cargo::rerun-if-changed={}", marker.display());
        println!("cargo::rustc-cfg=shared");
    }
}
