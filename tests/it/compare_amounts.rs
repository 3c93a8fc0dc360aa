//! Every figure of metrics that are not 0 or 1 (F1 and steps of real runs of the baseline), recomputed from the
//! trajectories by the formulas and recipes of `docs/statistics.md`, in code that the program has no part in.

use crate::compare_support::*;
use serde_json::{Value, json};
use statrs::distribution::{ChiSquared, ContinuousCDF as _, StudentsT};

/// Normal quantiles of 1 − 0.05 / 6 and 0.8 together: standard errors between nothing and what is found four times in five.
const REACH: f64 = 2.393_979_800_018_51 + 0.841_621_233_572_914_2;
const RESAMPLES: usize = 10_000;
const SEED: u64 = 12345;

/// F1 of an answer: words that it shares with a gold; the best of all golds. Yes and no share nothing with others.
fn f1(record: &Value) -> f64 {
    let Some(answer) = record["answer"].as_str() else { return 0.0 };
    let of = |gold: &Value| {
        let (said, mut gold) = (words(answer), words(gold.as_str().expect("text")));
        let verdict = |words: &[String]| words.len() == 1 && ["yes", "no", "noanswer"].contains(&&*words[0]);
        if said != gold && (verdict(&said) || verdict(&gold)) {
            return 0.0;
        }
        let both = float(said.len() + gold.len());
        let shared =
            said.iter().filter(|word| gold.iter().position(|g| g == *word).map(|at| gold.remove(at)).is_some());
        2.0 * float(shared.count()) / both
    };
    record["answers"].as_array().expect("golds").iter().map(of).fold(0.0, f64::max)
}

fn steps(record: &Value) -> f64 {
    float(record["steps"].as_array().expect("steps").len())
}

/// A figure that is computed in another way than the program's, or with a library's quantile.
#[track_caller]
fn near(got: &Value, expected: f64) {
    let got = got.as_f64().unwrap_or_else(|| panic!("{got} is no number, and not {expected}"));
    assert!((got - expected).abs() <= 1e-9 * expected.abs().max(1e-6), "{got:e} is not {expected:e}");
}

#[track_caller]
fn ends(interval: &Value, method: &str, (low, high): (f64, f64)) {
    assert_eq!((&interval["method"], &interval["level"]), (&json!(method), &json!(0.95)));
    near(&interval["low"], low);
    near(&interval["high"], high);
}

/// No figure is printed that is not looked at here.
#[track_caller]
fn holds(object: &Value, figures: &str) {
    let names: Vec<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(names, figures.split(' ').collect::<Vec<_>>());
}

fn around(mean: f64, half: f64) -> (f64, f64) {
    (mean - half, mean + half)
}

/// What Student's interval of so many values reaches to, in standard errors.
fn student(n: usize) -> StudentsT {
    StudentsT::new(0.0, 1.0, float(n - 1)).expect("two values or more")
}

fn check_column(shown: &Value, values: &[f64], most: Option<f64>) {
    holds(shown, "column mean se interval intervals not_measured bounds");
    let (mean, se) = (mean(values), standard_error(values));
    near(&shown["mean"], mean);
    near(&shown["se"], se);
    let (low, high) = around(mean, student(values.len()).inverse_cdf(0.975) * se);
    // F1 of a variant that answers all right or all wrong.
    let right = values.iter().filter(|value| **value >= 1.0).count();
    let binary = most == Some(1.0) && values.iter().all(|value| *value <= 0.0 || *value >= 1.0);
    if binary {
        ends(&shown["interval"], "wilson", wilson(right, values.len()));
    } else if let Some(most) = most {
        let (low, high) = padded(values, (0.0, most));
        ends(&shown["interval"], "padded t", (low.max(0.0), high.min(most)));
    } else {
        ends(&shown["interval"], "t", (low, high));
    }
    let first = usize::from(binary);
    assert_eq!(shown["intervals"].as_array().map(Vec::len), Some(first + 2));
    ends(&shown["intervals"][first], "t", (low, high));
    ends(&shown["intervals"][first + 1], "z", around(mean, Z * se));
    assert_eq!((&shown["not_measured"], &shown["bounds"]), (&json!(0), &Value::Null), "all was measured");
}

/// Student's interval of these values and the two ends of the range, with the degrees of freedom of the values alone.
fn padded(values: &[f64], (from, to): (f64, f64)) -> (f64, f64) {
    let more = [values, &[from, to]].concat();
    around(mean(&more), student(values.len()).inverse_cdf(0.975) * standard_error(&more))
}

/// Everything about two columns but what needs the other pairs.
fn check_pair(shown: &Value, a: &[f64], b: &[f64], range: Option<(f64, f64)>) {
    holds(
        shown,
        "a b n a_mean b_mean difference se unpaired_se correlation interval distribution_free intervals bootstrap tests p \
         p_holm units differing least_differing mde questions_needed questions_needed_interval bounds verdict",
    );
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
    let (n, difference, se) = (differences.len(), mean(&differences), standard_error(&differences));
    assert!(se > 0.0, "the columns differ");
    assert_eq!(shown["n"], n);
    near(&shown["a_mean"], mean(a));
    near(&shown["b_mean"], mean(b));
    near(&shown["difference"], difference);
    near(&shown["se"], se);
    near(&shown["unpaired_se"], (standard_error(a).powi(2) + standard_error(b).powi(2)).sqrt());
    match correlation(a, b) {
        Some(r) => near(&shown["correlation"], r),
        None => assert_eq!(shown["correlation"], Value::Null),
    }
    assert_eq!((&shown["intervals"][0], shown["intervals"].as_array().map(Vec::len)), (&shown["interval"], Some(4)));
    ends(&shown["intervals"][1], "t", around(difference, student(n).inverse_cdf(0.975) * se));
    ends(&shown["intervals"][2], "z", around(difference, Z * se));
    check_interval(shown, &differences, range);
    check_betting(&shown["distribution_free"], &differences, range);
    check_bootstrap(shown, &differences);
    check_tests(&shown["tests"], &differences);
    assert_eq!(shown["p"], json!({"test": "permutation", "value": shown["tests"]["permutation"]["p"]}));
    let differing = differences.iter().filter(|difference| **difference != 0.0).count();
    // Three pairs: 2 / 2^7 is below 0.05 / 3.
    let units = json!([shown["units"], shown["differing"], shown["least_differing"]]);
    assert_eq!(units, json!([n, differing, 7]));
    let moved: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    if moved.iter().all(|difference| (difference - moved[0]).abs() < 1e-12) {
        assert_eq!((&shown["mde"], &shown["questions_needed"]), (&Value::Null, &Value::Null), "they do not vary");
    } else {
        check_reach(shown, differing, se, float(n) * (REACH * se / difference).powi(2));
    }
    assert_eq!(shown["bounds"], Value::Null, "all was measured");
}

fn check_tests(shown: &Value, differences: &[f64]) {
    holds(shown, "mcnemar t_test permutation permutation_sampled wilcoxon");
    assert_eq!(shown["mcnemar"], Value::Null, "it is for right and wrong");
    let t = mean(differences) / standard_error(differences);
    holds(&shown["t_test"], "t freedom p");
    near(&shown["t_test"]["t"], t);
    assert_eq!(shown["t_test"]["freedom"], differences.len() - 1);
    near(&shown["t_test"]["p"], 2.0 * student(differences.len()).sf(t.abs()));
    let (w, n, p) = wilcoxon(differences);
    holds(&shown["wilcoxon"], "w n p");
    near(&shown["wilcoxon"]["w"], w);
    assert_eq!(shown["wilcoxon"]["n"], n);
    near(&shown["wilcoxon"]["p"], p);
    let at_least = sampled_flips(differences);
    let sampled = float(at_least + 1) / float(RESAMPLES + 1);
    let sampled = json!({"p": sampled, "at_least": at_least, "patterns": RESAMPLES, "seed": SEED});
    assert_eq!(shown["permutation_sampled"], sampled);
    let varying: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    if varying.len() > 20 {
        assert_eq!(shown["permutation"], sampled);
    } else {
        let (at_least, patterns) = (all_flips(&varying), 1_usize << varying.len());
        let p = float(at_least) / float(patterns);
        assert_eq!(shown["permutation"], json!({"p": p, "at_least": at_least, "patterns": patterns, "seed": null}));
    }
}

/// About what a z test at 0.05 / 3 would ask for, whose spread has that of how many questions differ, too.
fn check_reach(shown: &Value, differing: usize, se: f64, formula: f64) {
    // Absent, or large, where so few questions differ that 60 others seldom have seven.
    let mde = shown["mde"].as_f64().map(|mde| mde / (REACH * se));
    assert!(mde.is_none_or(|mde| mde > 0.9), "{mde:?}");
    assert!(differing < 20 || mde.is_some_and(|mde| mde < 1.3), "{mde:?}, {differing} differ");
    // A large difference needs the seven questions at least, however few the formula asks for.
    let needed = shown["questions_needed"].as_f64().expect("a number");
    let near = (0.8..1.5).contains(&(needed / formula));
    assert!(needed >= 7.0 && (differing < 20 || formula < 20.0 || near), "{needed}, {formula}");
}

/// The interval of the flips, in which 0.05 of 10,001 patterns, of which the observed one is one, contribute to p at the ends, and
/// the padded one together; betting where fewer than six questions differ.
fn check_interval(shown: &Value, differences: &[f64], range: Option<(f64, f64)>) {
    let (mut next, all, n) = (generator(), differences.iter().sum::<f64>(), float(differences.len()));
    let mut means = || {
        let flipped: Vec<f64> = differences.iter().copied().filter(|_| next() >> 63 == 1).collect();
        let (sum, size) = (flipped.iter().sum::<f64>(), float(flipped.len()));
        [sum / size, (all - sum) / (n - size)]
    };
    let drawn: Vec<[f64; 2]> = (0..RESAMPLES).map(|_| means()).collect();
    let sorted = |of: fn(f64, f64) -> f64| {
        let mut ends: Vec<f64> = drawn.iter().map(|[one, other]| of(*one, *other)).collect();
        ends.sort_unstable_by(f64::total_cmp);
        ends
    };
    let (low, high) = (sorted(f64::min)[499], sorted(f64::max)[RESAMPLES - 500]);
    let rejected = shown["tests"]["permutation"]["p"].as_f64() < Some(0.05);
    assert_eq!(rejected, low > 0.0 || high < 0.0, "the sample has no case so close that the end follows the test");
    if differences.iter().filter(|difference| **difference != 0.0).count() < 6 {
        assert_eq!(shown["interval"]["method"], "betting");
        return;
    }
    let largest = differences.iter().map(|difference| difference.abs()).fold(0.0, f64::max);
    let (wide_low, wide_high) = padded(differences, range.unwrap_or((-largest, largest)));
    let low = if low > 0.0 && wide_low <= 0.0 { low } else { low.min(wide_low) };
    let high = if high < 0.0 && wide_high >= 0.0 { high } else { high.max(wide_high) };
    ends(&shown["interval"], "sign flips and t", (low, high));
}

/// Just inside its ends nothing is refuted, just outside one of the two bets is won.
fn check_betting(shown: &Value, differences: &[f64], range: Option<(f64, f64)>) {
    let Some((from, to)) = range else {
        assert_eq!(shown, &Value::Null, "nothing bounds it");
        return;
    };
    let [low, high, level] = ["low", "high", "level"].map(|name| shown[name].as_f64().expect("a number"));
    // Holm's levels of three pairs.
    assert!([3.0, 2.0, 1.0].iter().any(|left| (level - (1.0 - 0.05 / left)).abs() < 1e-9), "{level}");
    let mut scaled: Vec<f64> = differences.iter().map(|difference| (difference - from) / (to - from)).collect();
    // Ids are in the order of the file. Fisher and Yates.
    let mut next = generator();
    for at in (1..scaled.len()).rev() {
        let other = (u128::from(next()) * (at as u128 + 1)) >> 64;
        scaled.swap(at, usize::try_from(other).expect("an index"));
    }
    let mirrored: Vec<f64> = scaled.iter().map(|value| 1.0 - value).collect();
    let refuted = |at: f64| {
        let mean = (at - from) / (to - from);
        wins(&scaled, mean, (1.0 - level) / 2.0) || wins(&mirrored, 1.0 - mean, (1.0 - level) / 2.0)
    };
    assert!(!refuted(low + 1e-6) && !refuted(high - 1e-6), "{shown}");
    assert!(low <= from + 1e-6 || refuted(low - 1e-6), "{shown}");
    assert!(high >= to - 1e-6 || refuted(high + 1e-6), "{shown}");
}

/// Whether betting against a mean of at most this ever multiplies the wealth by `1 / chance`.
fn wins(values: &[f64], mean: f64, chance: f64) -> bool {
    let (target, n) = (-chance.ln(), float(values.len()));
    let (mut wealth, mut sum, mut squares) = (0.0, 0.0, 0.25);
    for (at, value) in values.iter().enumerate() {
        let variance = squares / float(at + 1);
        let share = (2.0 * (target - wealth) / ((n - float(at)) * variance)).sqrt().min(0.99 / mean);
        wealth += (1.0 + share * (value - mean)).ln();
        if wealth >= target {
            return true;
        }
        sum += value - mean;
        squares += (value - mean - sum / float(at + 2)).powi(2);
    }
    false
}

fn check_bootstrap(shown: &Value, differences: &[f64]) {
    let (observed, n) = (mean(differences), differences.len());
    let mut next = generator();
    let mut draw = || usize::try_from((u128::from(next()) * n as u128) >> 64).expect("an index");
    let mut means: Vec<f64> =
        (0..RESAMPLES).map(|_| mean(&(0..n).map(|_| differences[draw()]).collect::<Vec<_>>())).collect();
    means.sort_unstable_by(f64::total_cmp);
    let far = means.iter().filter(|mean| (**mean - observed).abs() >= observed.abs() - 1e-9).count();
    let low = means.iter().filter(|mean| **mean <= 0.0).count();
    // Type 7: positions 249.975 and 9749.025 of 0 to 9999.
    let quantile = |at: usize, share: f64| means[at] + share * (means[at + 1] - means[at]);
    let interval = (quantile(249, 0.975), quantile(9749, 0.025));
    ends(&shown["intervals"][3], "bootstrap", interval);
    let shown = &shown["bootstrap"];
    holds(shown, "interval level se p share_at_most_0 resamples seed");
    assert_eq!((&shown["level"], &shown["resamples"], &shown["seed"]), (&json!(0.95), &json!(RESAMPLES), &json!(SEED)));
    near(&shown["interval"]["low"], interval.0);
    near(&shown["interval"]["high"], interval.1);
    near(&shown["se"], standard_error(&means) * float(RESAMPLES).sqrt());
    near(&shown["p"], float(far + 1) / float(RESAMPLES + 1));
    near(&shown["share_at_most_0"], float(low) / float(RESAMPLES));
}

/// `SplitMix64`.
fn generator() -> impl FnMut() -> u64 {
    let mut state = SEED;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn reaches(flipped: f64, differences: &[f64]) -> bool {
    flipped.abs() >= differences.iter().sum::<f64>().abs() - 1e-9
}

/// Random sign patterns whose sum is at least as far from 0 as it was found.
fn sampled_flips(differences: &[f64]) -> usize {
    let mut next = generator();
    let mut sum =
        || differences.iter().map(|difference| if next() >> 63 == 1 { -difference } else { *difference }).sum();
    (0..RESAMPLES).filter(|_| reaches(sum(), differences)).count()
}

/// The same of all sign patterns.
fn all_flips(differences: &[f64]) -> usize {
    let sign = |pattern: usize, at: usize| if pattern >> at & 1 == 1 { -1.0 } else { 1.0 };
    let sum = |pattern: usize| differences.iter().enumerate().map(|(at, value)| sign(pattern, at) * value).sum();
    (0..1 << differences.len()).filter(|pattern| reaches(sum(*pattern), differences)).count()
}

/// Pearson's, where both vary.
fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let products = |x: &[f64], y: &[f64]| -> f64 {
        let (x_mean, y_mean) = (mean(x), mean(y));
        x.iter().zip(y).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum()
    };
    let spread = products(a, a) * products(b, b);
    (spread > 0.0).then(|| products(a, b) / spread.sqrt())
}

/// The smaller sum of ranks, how many are ranked, and p. A rank is one more than half of those that are smaller and of
/// those that are not larger, so that equals share theirs.
fn wilcoxon(differences: &[f64]) -> (f64, usize, f64) {
    let ranked: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    let count = |of: &dyn Fn(f64) -> bool| float(ranked.iter().filter(|value| of(value.abs())).count());
    let rank = |value: &f64| (count(&|v| v < value.abs()) + count(&|v| v <= value.abs()) + 1.0) / 2.0;
    let sum = |sign: f64| ranked.iter().filter(|value| **value * sign > 0.0).map(rank).sum::<f64>();
    let (w, n) = (sum(1.0).min(sum(-1.0)), float(ranked.len()));
    // Each of t equals adds t² - 1, so that a tie adds t³ - t.
    let ties: f64 = ranked.iter().map(|value| count(&|v| v.total_cmp(&value.abs()).is_eq()).powi(2) - 1.0).sum();
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0;
    let chi_square = (w - n * (n + 1.0) / 4.0).powi(2) / variance;
    (w, ranked.len(), ChiSquared::new(1.0).expect("a degree of freedom").sf(chi_square))
}

#[test]
fn every_figure_of_f1_and_steps_is_that_of_simple_code() {
    let dir = tempfile::tempdir().expect("a folder");
    let long = run(dir.path(), "long", &["--method", "react,standard"]);
    let short = run(dir.path(), "short", &["--max-steps", "6"]);
    let columns = [("react", &long, "react"), ("standard", &long, "standard"), ("main", &short, "main")];
    let compared = compare_json(&[&long, &short, "--metric", "f1,steps"]);
    assert_eq!((&compared["settings"]["seed"], &compared["settings"]["resamples"]), (&json!(SEED), &json!(RESAMPLES)));
    let (mut enumerated, mut told_apart) = (0, 0);
    for (at, (name, value)) in [("f1", f1 as fn(&Value) -> f64), ("steps", steps)].into_iter().enumerate() {
        let shown = &compared["metrics"][at];
        holds(shown, "metric n excluded binary clusters means cochran_q pairs");
        let facts = ["n", "binary", "clusters", "cochran_q"].map(|fact| &shown[fact]);
        assert_eq!((&shown["metric"]["name"], json!(facts)), (&json!(name), json!([60, false, null, null])));
        let values = columns.map(|(_, run, variant)| column(run, variant, value));
        // No episode takes more steps than --max-steps, which is 7.
        let most = shown["metric"]["range"]["high"].as_f64();
        assert_eq!(most, Some(if name == "f1" { 1.0 } else { 7.0 }));
        for (at, (column, ..)) in columns.iter().enumerate() {
            assert_eq!(shown["means"][at]["column"], *column);
            check_column(&shown["means"][at], &values[at], most);
        }
        let pairs = shown["pairs"].as_array().expect("pairs");
        assert_eq!(pairs.len(), 3);
        let p: Vec<f64> = pairs.iter().map(|pair| pair["p"]["value"].as_f64().expect("p")).collect();
        for ((pair, (a, b)), holm) in pairs.iter().zip([(0, 1), (0, 2), (1, 2)]).zip(holm(&p)) {
            assert_eq!((&pair["a"], &pair["b"]), (&json!(columns[a].0), &json!(columns[b].0)));
            check_pair(pair, &values[a], &values[b], most.map(|most| (-most, most)));
            near(&pair["p_holm"], holm);
            let apart = holm < 0.05;
            let ahead = if pair["difference"].as_f64() > Some(0.0) { b } else { a };
            let sure = pair["distribution_free"]
                .as_object()
                .is_some_and(|free| free["low"].as_f64() > Some(0.0) || free["high"].as_f64() < Some(0.0));
            let word = if !apart {
                "not distinguishable"
            } else if sure {
                "beats"
            } else {
                "is ahead of"
            };
            assert_eq!(pair["verdict"]["word"], word);
            let winner = (apart && name == "f1").then_some(columns[ahead].0);
            assert_eq!(pair["verdict"]["distinguishable"], apart);
            assert_eq!(pair["verdict"]["winner"], json!(winner), "steps have no better");
            enumerated += usize::from(pair["tests"]["permutation"]["seed"].is_null());
            told_apart += usize::from(apart);
        }
    }
    // The sample has all there is to tell: few differences and many, pairs told apart and not.
    assert!((1..6).contains(&enumerated) && (1..6).contains(&told_apart), "{enumerated} {told_apart}");
}
