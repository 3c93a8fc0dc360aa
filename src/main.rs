//! The `wikitrail` program.

use std::process::ExitCode;

/// Reading a page makes and frees thousands of small strings, which the system's allocator takes a third longer for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    wikitrail::main()
}
