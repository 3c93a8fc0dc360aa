import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import { agreements, nextOpen, parts, sampled } from "../../src/analysis/report/page/queue.js";

test("strata have equal parts, and what one lacks goes to the others", () => {
    assert.deepEqual(parts([40, 3, 40], 30), [14, 3, 13]);
    assert.deepEqual(parts([5, 5], 100), [5, 5]);
    assert.deepEqual(parts([5, 5], 1), [1, 0]);
    assert.deepEqual(parts([], 3), []);
});

test("a place is the digest of seed and key, run by run, and what was not measured is left out", async () => {
    const meta = { variants: ["one", "two"].flatMap((run) => ["a", "b"].map((variant) => ({ run, variant }))) };
    const episode = (key, right, outcome = "finished") => ({ key, right, outcome, started_at: null });
    const question = (i) => ({ episodes: [0, 1, 2, 3].map((v) => [episode(`${i}-${v}`, (i + v) % 2 === 0), episode(`${i}-${v}-1`, true, v === 0 ? "not_measured" : "finished")]) });
    const found = async (size, seed) => (await sampled(meta, 30, async (i) => question(i), size, seed)).map(({ key }) => key);
    const [few, many] = [await found(8, "7"), await found(20, "7")];
    assert.equal(few.length, 16);
    assert.ok(few.every((key) => many.includes(key)), "a sample is part of a larger one");
    const place = (key) => createHash("sha256").update(`7:${key}`).digest("hex");
    assert.deepEqual(many, [...many].sort((a, b) => (place(a) < place(b) ? -1 : 1)));
    assert.ok(!many.some((key) => /-0-1$/.test(key)));
    assert.notDeepEqual(await found(8, "8"), few);
    for (const variants of [[0, 1], [2, 3]]) {
        assert.equal(few.filter((key) => variants.includes(Number(key.split("-")[1]))).length, 8, "each run has its sample");
    }
});

test("the queue goes on behind the open episode, then with those that were skipped", () => {
    const entries = ["a", "b", "c"].map((key) => ({ key }));
    const next = (from, ...done) => nextOpen(entries, from, ({ key }) => done.includes(key));
    assert.deepEqual([next(0), next(1, "a"), next(2, "b", "c"), next(3, "c"), next(1, "a", "b", "c")], [1, 2, 1, 1, 0]);
});

test("the agreement counts episodes that both judged, of the same run", () => {
    const label = (key, by, correct, own, started_at) => ({ key, by, correct, class: own, step: null, note: null, started_at });
    const mine = [label("1", "me", true, null, "x"), label("2", "me", false, "search", "x"), label("3", "me", null, "ambiguous", "x")];
    const others = [label("1", "ben", true, null), label("2", "ben", false, "lookup", "x"), label("3", "ben", true, null), label("1", "eve", false, null, "y")];
    assert.deepEqual(agreements(mine, others), ["You and ben: right or wrong alike on 2 of 2 episodes and the same class on 0 of 1."]);
});
