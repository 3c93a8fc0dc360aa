// A source that is made up. Included by test programs and by the tests of layers, which name the crate in different
// ways: whoever includes it has the traits and types in scope.

/// Finds one page, whatever is asked for.
pub(crate) struct OnePage;

impl Source for OnePage {
    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Found, SourceError>> {
        let provenance = Provenance {
            source: "made".to_owned(),
            url: "made:".to_owned(),
            title: query.to_owned(),
            pageid: None,
            revid: None,
            status: 200,
            fetched_at: String::new(),
            sha256: String::new(),
            sentences: None,
        };
        let blocks = Arc::new(["It is a page.".to_owned()]);
        std::future::ready(Ok(Found::Page { title: query.to_owned(), blocks, sentences: None, provenance })).boxed()
    }
}
