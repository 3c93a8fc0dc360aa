//! What both numbered systems stand on: the Wikipedia tool of the paper and of the simplified Chinese script, and the
//! metrics.

use super::{each, rows, strings, text};
use crate::base::{Compat, Tool, Wording};
use crate::scoring::{hotpot, normalize, paper_reward};
use crate::tests::golden;
use crate::wikipedia::clean_str::clean_str_or_keep;
use crate::wikipedia::html::ArticleOptions;
use crate::wikipedia::observe::ObservationFormat;
use crate::wikipedia::{HtmlSource, LiveSettings, Session, SessionError, SessionOptions, clean_str};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use wiremock::matchers::path;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

#[tokio::test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
async fn the_environment_equals_the_papers_and_the_scripts() {
    type Check = fn(&Value);
    let checks: [(&str, usize, Check); 3] = [
        ("react_paper.clean_str", 26, check_clean_str),
        ("react_paper.metrics", 21, check_metrics),
        ("react_paper.page_obs", 8, check_page),
    ];
    for (file, count, check) in checks {
        each(file, count, check);
    }
    check_searches(&rows("react_paper.search_html", 10)).await;
    golden::checked("react_paper.search_html", 10);
}

fn check_clean_str(row: &Value) {
    let input = text(&row["input"]);
    let paper = match clean_str(input) {
        Ok(cleaned) => json!({"ok": cleaned}),
        Err(error) => json!({"error": error.kind}),
    };
    assert_eq!(paper, row["wikienv"], "{row}");
    assert_eq!(clean_str_or_keep(input), text(&row["seed"]), "{row}");
}

fn check_metrics(row: &Value) {
    let (prediction, gold) = (text(&row["prediction"]), text(&row["gold"]));
    let (prediction_norm, gold_norm) = (normalize(prediction), normalize(gold));
    assert_eq!([&*prediction_norm, &*gold_norm], [text(&row["norm_prediction"]), text(&row["norm_gold"])], "{row}");
    let score = hotpot(prediction, gold);
    let em = row["em"].as_bool().expect("a verdict");
    assert_eq!((score.em > 0.0, paper_reward(Some(prediction), gold)), (em, em), "{row}");
    let bits = |value: &Value| value.as_f64().expect("a number").to_bits();
    let expected: Vec<u64> = row["f1_p_r"].as_array().expect("three numbers").iter().map(bits).collect();
    assert_eq!([score.f1, score.precision, score.recall].map(f64::to_bits), *expected, "{row}");
    // The wrapper gives the two the other way round, and normalised already.
    let wrapper = hotpot(&gold_norm, &prediction_norm).f1;
    assert_eq!(wrapper.to_bits(), bits(&row["f1_in_wrapper(gold_norm,pred_norm)"]), "{row}");
}

fn check_page(row: &Value) {
    let page = text(&row["page"]);
    for wording in [Wording::English, Wording::Chinese] {
        let voice = ObservationFormat::new(Compat::Paper, wording);
        assert_eq!(voice.page(std::iter::once(page)), text(&row["obs"]), "{row}");
        for (keyword, sentences) in row["lookup"].as_object().expect("keywords") {
            assert_eq!(json!(voice.lookup_list(std::iter::once(page), keyword)), *sentences, "{row}: {keyword:?}");
        }
    }
}

/// Each recorded page through a whole session, over a loopback site that holds them all.
async fn check_searches(rows: &[Value]) {
    let pages: Vec<(String, String)> =
        rows.iter().map(|row| (text(&row["entity"]).to_owned(), text(&row["html"]).to_owned())).collect();
    let site = MockServer::start().await;
    let serve = move |request: &Request| {
        let entity = request.url.query_pairs().find(|(name, _)| name == "search").map(|(_, value)| value);
        let page = pages.iter().find(|(name, _)| Some(Cow::Borrowed(&**name)) == entity);
        let (_, html) = page.expect("a page that was recorded");
        ResponseTemplate::new(200).set_body_raw(html.as_bytes(), "text/html; charset=UTF-8")
    };
    Mock::given(path("/w/index.php")).respond_with(serve).mount(&site).await;
    let settings = LiveSettings { compat: Compat::Paper, ..LiveSettings::default() };
    let source = Arc::new(HtmlSource::new(&site.uri(), &settings, ArticleOptions::default()).expect("a source"));
    let mut served = 0;
    for row in rows {
        for (wording, golden) in [(Wording::English, &row["wikienv"]), (Wording::Chinese, &row["seed"])] {
            let options = SessionOptions { wording, ..SessionOptions::default() };
            let mut session = Session::new(source.clone(), Compat::Paper, options);
            let given = match session.call(Tool::Search, text(&row["entity"])).await {
                Ok(observation) => json!({"obs": observation.text, "page": session.page()}),
                Err(SessionError::Page(error)) => {
                    json!({"exception": format!("{}: {}", error.kind(), error.message())})
                }
                Err(SessionError::Source(error)) => panic!("the source failed: {error}"),
            };
            assert_eq!(given, *golden, "{} in {wording:?}", row["entity"]);
            let requests = site.received_requests().await.expect("a record");
            let asked: Vec<String> = requests[served..].iter().map(plain).collect();
            assert_eq!(asked, strings(&row["urls"]), "{} in {wording:?}", row["entity"]);
            served = requests.len();
        }
    }
}

/// The address as the original wrote it, before its client quoted it.
fn plain(request: &Request) -> String {
    let pairs: Vec<String> = request.url.query_pairs().map(|(name, value)| format!("{name}={value}")).collect();
    format!("https://en.wikipedia.org{}?{}", request.url.path(), pairs.join("&").replace(' ', "+"))
}
