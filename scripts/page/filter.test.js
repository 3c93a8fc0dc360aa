import assert from "node:assert/strict";
import test from "node:test";
import { NO_FILTER } from "../../src/analysis/report/page/address.js";
import { chosenPair, matching, pairIndex, shownPair, unknownNames } from "../../src/analysis/report/page/filter.js";

const variant = (right, own) => ({
    right,
    class: own,
    outcome: right.map((value) => (value === null ? null : "finished")),
    answer: right.map((value, i) => (value === null ? null : `Answer ${i}`)),
    steps: right.map((value, i) => (value === null ? null : i)),
    em: right,
    measured: right.map((value) => (value === null ? 0 : 1)),
});
const meta = { variants: [{ name: "a" }, { name: "b" }, { name: "c" }], classes: ["search", "lookup"] };
const table = {
    id: ["q0", "q1", "q2", "q3"],
    question: ["Who?", "Where in Ærø?", "When?", "What?"],
    gold: ["x", null, "y", "z"],
    type: ["bridge", "comparison", "bridge", null],
    dataset: [0, 0, 1, 1],
    hard: [0, 1, 3, 0],
    variants: [variant([1, 1, 0, null], [null, null, 0, null]), variant([1, 0, 0, 1], [null, 1, 0, null]), variant([1, null, 0, null], [null, null, 1, null])],
};
const found = (filter) => matching(table, meta, { ...NO_FILTER, ...filter });

test("each filter keeps what it says", () => {
    assert.deepEqual(found({}), [0, 1, 2, 3]);
    assert.deepEqual(found({ show: "differ" }), [1]);
    assert.deepEqual(found({ show: "wrong" }), [2]);
    assert.deepEqual(found({ show: "wrong", variant: "b" }), [1, 2]);
    assert.deepEqual(found({ show: "flip", a: "a", b: "b" }), [1]);
    assert.deepEqual(found({ show: "flip", a: "b", b: "a" }), []);
    assert.deepEqual(found({ class: "search" }), [2]);
    assert.deepEqual(found({ class: "lookup", variant: "b" }), [1]);
    assert.deepEqual(found({ class: "unheard of" }), []);
    assert.deepEqual(found({ variant: "c" }), [0, 2]);
    assert.deepEqual(found({ type: "bridge" }), [0, 2]);
    assert.deepEqual(found({ dataset: "1" }), [2, 3]);
});

test("the search looks for every word in id, question, gold answer and answers", () => {
    assert.deepEqual(found({ q: "ærø WHERE" }), [1]);
    assert.deepEqual(found({ q: "q3" }), [3]);
    assert.deepEqual(found({ q: "answer 2" }), [2]);
    assert.deepEqual(found({ q: "who absent" }), []);
});

test("what the steps hold is found beside what the list says", () => {
    assert.deepEqual(matching(table, meta, { ...NO_FILTER, q: "who" }, new Set([2])), [0, 2]);
    assert.deepEqual(matching(table, meta, { ...NO_FILTER, q: "who", type: "comparison" }, new Set([1, 2])), [1]);
});

test("every column sorts both ways: equal ones stay, those without a value come last", () => {
    assert.deepEqual(found({ order: "question" }), [3, 2, 1, 0]);
    assert.deepEqual(found({ order: "-question" }), [0, 1, 2, 3]);
    assert.deepEqual(found({ order: "gold" }), [0, 2, 3, 1]);
    assert.deepEqual(found({ order: "-gold" }), [3, 2, 0, 1]);
    assert.deepEqual(found({ order: "type" }), [0, 2, 1, 3]);
    assert.deepEqual(found({ order: "-dataset" }), [2, 3, 0, 1]);
    assert.deepEqual(found({ order: "right" }), [2, 1, 0, 3], "the hardest first");
    assert.deepEqual(found({ order: "mark:b" }), [2, 1, 0, 3], "wrong ones by class");
    assert.deepEqual(found({ order: "-mark:b" }), [0, 3, 1, 2]);
    assert.deepEqual(found({ order: "answer:a" }), [0, 1, 2, 3]);
    assert.deepEqual(found({ order: "-steps:b", show: "wrong", variant: "b" }), [2, 1]);
    assert.deepEqual(found({ order: "mark:nobody" }), [0, 1, 2, 3]);
    const numbered = { ...table, id: ["q10", "q9", "Q1", "q2"] };
    assert.deepEqual(matching(numbered, meta, { ...NO_FILTER, order: "id" }), [2, 3, 1, 0]);
});

test("unstable are the questions whose repeats disagree", () => {
    const own = (em) => ({ ...variant(em.map((value) => Number(value > 0.5)), [null, null, null, null]), em });
    const repeated = { ...table, variants: [own([1, 0.6, 0, 1]), own([0, 1, 0.2, 1])] };
    const two = { ...meta, variants: meta.variants.slice(0, 2) };
    assert.deepEqual(matching(repeated, two, { ...NO_FILTER, show: "unstable" }), [1, 2]);
    assert.deepEqual(matching(repeated, two, { ...NO_FILTER, show: "unstable", variant: "b" }), [2]);
});

test("names of another page are found", () => {
    assert.deepEqual(unknownNames(table, meta, { ...NO_FILTER, a: "nobody", class: "search", type: "odd", order: "-mark:x" }), ["nobody", "odd", "-mark:x"]);
});

test("pairs are counted row by row", () => {
    const places = [];
    for (let i = 0; i < 4; i++) {
        for (let j = i + 1; j < 4; j++) {
            places.push(pairIndex(i, j, 4), pairIndex(j, i, 4));
        }
    }
    assert.deepEqual(places, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
});

test("the pair side by side is the chosen one, else the first two that differ", () => {
    const none = () => 0;
    const third = (left, right) => (left === 2 || right === 2 ? 2 : 1);
    const pair = (filter, differ = none) => shownPair(meta, { ...NO_FILTER, ...filter }, [0, 1, 2], differ);
    assert.deepEqual(pair({}), [0, 1]);
    assert.deepEqual(pair({}, third), [0, 2]);
    assert.deepEqual(pair({ left: "b" }), [1, 0]);
    assert.deepEqual(pair({ right: "a" }), [1, 0]);
    assert.deepEqual(pair({ show: "flip", a: "c", b: "a" }), [2, 0]);
    assert.deepEqual(pair({ show: "flip", a: "c", b: "a", left: "b", right: "c" }), [1, 2]);
    assert.deepEqual(pair({ variant: "b", right: "b" }), [0, 1]);
    assert.deepEqual(shownPair({ variants: [{ name: "a" }] }, NO_FILTER, [0], none), [0, -1]);
    assert.deepEqual(shownPair(meta, { ...NO_FILTER, left: "a" }, [1, 2], none), [1, 2], "the variants of another dataset");
    assert.deepEqual(chosenPair(meta, { ...NO_FILTER, left: "a", right: "a" })[1], 0);
});
