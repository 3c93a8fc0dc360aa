import assert from "node:assert/strict";
import test from "node:test";
import { foldText, StepSearch } from "../../src/analysis/report/page/search.js";

test("accents, normal forms and case make no difference", () => {
    for (const [one, other] of [
        ["Târgu", "targu"],
        ["TÂRGU".normalize("NFD"), "targu"],
        ["Jørn Utzon", "jorn utzon"],
        ["Łódź", "lodz"],
        ["Đorđe", "dorde"],
        ["Ærø", "aero"],
        ["Œuvre", "oeuvre"],
        ["Þingvellir", "thingvellir"],
        ["Guðrún", "gudrun"],
        ["Straße STRASSE ẞ", "strasse strasse ss"],
        ["Iğdır İzmir", "igdir izmir"],
        ["ﬁve ＡＢＣ", "five abc"],
    ]) {
        assert.equal(foldText(one), other);
    }
    assert.notEqual(foldText("か"), foldText("が"), "marks of other scripts are letters");
    assert.equal(foldText("हिन्दी"), "हिन्दी");
    assert.equal(foldText("한글"), "한글");
});

const step = (n, observation) => ({ n: `step ${n}`, thought: "I look.", action: `Search[Page ${n}]`, observation: [[observation, ""]] });
const question = (...texts) => ({ episodes: [[], [{ steps: texts.map((text, i) => step(i + 1, text)) }]] });
const column = [null, null, null, null];
const table = { id: ["q0", "q1", "q2", "q3"], question: ["Who?", "Where?", "When?", "What?"], gold: column, chunk: [0, 0, 1, null], variants: [] };
const chunks = [
    { 0: question("Nothing.", "Antonio Ghislanzoni"), 1: question("Jørn Utzon built", "the opera") },
    { 2: question("ghislanzoni again") },
];

/** A search of some text to its end. */
async function search(steps, q, questions) {
    steps.aim(q);
    await steps.start(questions);
    return [...steps.found];
}

test("the steps are searched, and what was searched is not read again", async () => {
    const read = [];
    let news = 0;
    const reading = async (n) => {
        read.push(n);
        return chunks[n];
    };
    const steps = new StepSearch(table, reading, () => news++);
    assert.deepEqual(await search(steps, "GHISLANZONI", [0, 1]), [[0, [1, "step 2"]]]);
    assert.deepEqual([read, news, steps.left, steps.unread], [[0], 1, 0, 0]);
    assert.equal((await search(steps, "ghislanzoni", [0, 1, 2, 3])).length, 2);
    assert.deepEqual([read, steps.unread], [[0, 1], 1], "the last one has no steps in the file");
    assert.deepEqual(await search(steps, "where utzon", [0, 1, 2]), [[1, [1, "step 1"]]], "words of the list and of one step");
    assert.deepEqual(await search(steps, "utzon opera", [0, 1, 2]), [], "words of two steps");
    assert.deepEqual(await search(steps, "[page 1]", [2]), [[2, [1, "step 1"]]]);
    assert.deepEqual(await search(steps, "", [0, 1, 2]), []);

    // A run that goes on has another table: its questions may have other places.
    await search(steps, "ghislanzoni", [0, 1, 2]);
    const renewed = { ...table, id: ["new", ...table.id], question: ["Ghislanzoni?", ...table.question], chunk: [1, 0, 0, 1, null] };
    steps.aim("ghislanzoni", renewed);
    assert.deepEqual([steps.found.size, steps.searched.size, steps.table], [0, 0, renewed]);
});

test("another text ends the search, and a damaged part is told", async () => {
    const read = [];
    let go = null;
    const steps = new StepSearch(
        table,
        (n) => {
            read.push(n);
            const damaged = () => Promise.reject(new Error("damaged"));
            const slow = (done) => {
                go = () => done(chunks[0]);
            };
            return read.length === 1 ? new Promise(slow) : damaged();
        },
        () => {},
    );
    steps.aim("ghislanzoni");
    const first = steps.start([0, 2]);
    while (go === null) {
        await new Promise((done) => {
            setTimeout(done, 5);
        });
    }
    steps.aim("utzon");
    const second = steps.start([0, 2]);
    go();
    await Promise.all([first, second]);
    assert.deepEqual([read, steps.found.size, steps.unread], [[0, 0, 1], 0, 2]);
});
