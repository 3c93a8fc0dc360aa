"""The statistics of `compare` against scipy and statsmodels, for scripts/fidelity.py."""

import csv
import itertools
import json
import math
import os
import random
import subprocess
import tempfile

import fidelity_cases as cases
import numpy as np
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import cochrans_q, mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

LEVEL = 0.95


def run(program, variants, clusters):
    """What `compare --json` says of the variants."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, variant in enumerate(variants):
            files.append(os.path.join(folder, f"v{number}.csv"))
            with open(files[-1], "w", newline="", encoding="utf-8") as file:
                rows = csv.writer(file)
                rows.writerow(["id", "em", "f1", "cluster"])
                for n, (em, f1) in enumerate(zip(variant["em"], variant["f1"])):
                    rows.writerow([f"q{n}", em, f1, clusters[n] if clusters else ""])
        command = [program, "compare", "--json", "--resamples", "100", "--from-csv", *files]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout)


def interval(shown, method):
    found = [[one["low"], one["high"]] for one in shown["intervals"] if one["method"] == method]
    return found[0] if found else None


def around(mean, se, freedom):
    """The t interval; nothing where there is no spread to estimate."""
    return list(stats.t.interval(LEVEL, freedom, mean, se)) if se > 0 else [mean, mean]


def standard_error(values, clusters):
    """Standard error of the mean, and its degrees of freedom; by cluster as OLS on a constant gives it."""
    if not clusters:
        return stats.sem(values), len(values) - 1
    groups = np.unique(clusters, return_inverse=True)[1]
    fitted = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": groups})
    return fitted.bse[0], len(set(clusters)) - 1


def means(column, shown, clusters):
    values = np.array(column)
    yield "mean", values.mean(), shown["mean"]
    if len(values) < 2 or (clusters and len(set(clusters)) < 2):
        return
    se, freedom = standard_error(values, clusters)
    kind = "cluster " if clusters else ""
    yield "se", se, shown["se"]
    yield "t interval", around(values.mean(), se, freedom), interval(shown, f"{kind}t")
    z = stats.norm.ppf((1 + LEVEL) / 2) * se
    yield "z interval", [values.mean() - z, values.mean() + z], interval(shown, f"{kind}z")
    if set(column) <= {0.0, 1.0} and not clusters and shown["interval"]["method"] == "wilson":
        wilson = proportion_confint(values.sum(), len(values), 1 - LEVEL, "wilson")
        yield "wilson", list(wilson), [shown["interval"]["low"], shown["interval"]["high"]]


def sign_flips(differences):
    """The exact p of the permutation test; nothing where there are too many patterns to list here."""
    differences = [d for d in differences if d != 0]
    if len(differences) > 10:
        return None
    total = abs(math.fsum(differences))
    patterns = list(itertools.product((1, -1), repeat=len(differences)))
    hits = sum(abs(math.fsum(s * d for s, d in zip(signs, differences))) >= total - 1e-12 for signs in patterns)
    return hits / len(patterns)


def discordant(a, b, shown):
    wins = [int(sum((a > b))), int(sum((b > a)))]
    both = [int(sum((a == 1) & (b == 1))), int(sum((a == 0) & (b == 0)))]
    square = [[both[0], wins[0]], [wins[1], both[1]]]
    yield "mcnemar counts", wins, [shown["only_a"], shown["only_b"]]
    yield "mcnemar exact", mcnemar(square, exact=True).pvalue, shown["exact_p"]
    n, fewer = sum(wins), min(wins)
    # statsmodels has no mid-p: it is the exact p less the chance of this very outcome.
    exact = min(1.0, 2 * stats.binom.cdf(fewer, n, 0.5)) if n else 1.0
    yield "mcnemar mid-p", 1.0 if wins[0] == wins[1] else exact - stats.binom.pmf(fewer, n, 0.5), shown["mid_p"]
    if n:
        for name, correction in (("corrected", True), ("uncorrected", False)):
            test = mcnemar(square, exact=False, correction=correction)
            yield f"mcnemar {name}", [test.statistic, test.pvalue], [shown[name]["statistic"], shown[name]["p"]]


def pair_figures(a, b, shown, clusters):
    a, b = np.array(a), np.array(b)
    d = b - a
    yield "difference", d.mean(), shown["difference"]
    if len(d) < 2 or (clusters and len(set(clusters)) < 2):
        return
    se, freedom = standard_error(d, clusters)
    yield "se", se, shown["se"]
    yield "t interval", around(d.mean(), se, freedom), interval(shown, "cluster t" if clusters else "t")
    each = [standard_error(column, clusters)[0] for column in (a, b)]
    yield "unpaired se", math.hypot(*each), shown["unpaired_se"]
    if np.ptp(a) > 0 and np.ptp(b) > 0:
        yield "correlation", stats.pearsonr(a, b).statistic, shown["correlation"]
    tests = shown["tests"]
    if not clusters and np.ptp(d) > 1e-12:
        test = stats.ttest_rel(b, a)
        yield "t test", [test.statistic, test.pvalue], [tests["t_test"]["t"], tests["t_test"]["p"]]
    if tests["mcnemar"]:
        yield from discordant(a, b, tests["mcnemar"])
    if np.any(d != 0):
        test = stats.wilcoxon(d, zero_method="wilcox", correction=False, method="asymptotic")
        yield "wilcoxon", [test.statistic, test.pvalue], [tests["wilcoxon"]["w"], tests["wilcoxon"]["p"]]
    sums = {}
    for name, value in zip(clusters or range(len(d)), d):
        sums[name] = sums.get(name, 0.0) + round(value, 9)
    exact = sign_flips([round(value, 9) for value in sums.values()])
    if exact is not None:
        yield "permutation", exact, tests["permutation"]["p"]


def metric_figures(name, shown, variants, clusters):
    columns = [variant[name] for variant in variants]
    for column, mean in zip(columns, shown["means"]):
        yield from means(column, mean, clusters)
    if shown["cochran_q"]:
        test = cochrans_q(np.array(columns).T)
        yield "cochran_q", [test.statistic, test.pvalue], [shown["cochran_q"]["q"], shown["cochran_q"]["p"]]
    pairs = shown["pairs"]
    places = list(itertools.combinations(range(len(columns)), 2))
    assert len(places) == len(pairs)
    for (a, b), pair in zip(places, pairs):
        yield from pair_figures(columns[a], columns[b], pair, clusters)
    holm = multipletests([pair["p"]["value"] for pair in pairs], method="holm")[1]
    yield "holm", list(holm), [pair["p_holm"] for pair in pairs]


def is_close(expected, got):
    if isinstance(expected, list):
        return isinstance(got, list) and all(map(is_close, expected, got))
    return got is not None and math.isclose(expected, got, rel_tol=1e-9, abs_tol=1e-12)


def plain(value):
    """Numbers as Python's; what is not a number is nothing."""
    values = [float(part) for part in (value if isinstance(value, list) else [value])]
    if any(map(math.isnan, values)):
        return None
    return values if isinstance(value, list) else values[0]


def statistics(Row, program, count, seed):
    from importlib.metadata import version

    rng = random.Random(f"{seed} statistics")
    row = Row("statistics", f"scipy {version('scipy')}, statsmodels {version('statsmodels')}", f"figures of {count} datasets")
    for number in range(count):
        variants, clusters = cases.table(rng)
        for metric in run(program, variants, clusters)["metrics"]:
            name = metric["metric"]["name"]
            for figure, expected, got in metric_figures(name, metric, variants, clusters):
                expected = plain(expected)
                # To nine digits: equal figures are recorded as the same.
                same = expected is not None and is_close(expected, got)
                row.compare(f"dataset {number}, {name}, {figure}", expected, expected if same else got)
    yield row
