import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { Chunks, fault, unpack } from "../../src/analysis/report/page/decode.js";

const packed = (value) => gzipSync(JSON.stringify(value)).toString("base64");

test("what was packed is unpacked", async () => {
    const value = { text: "</script> Ærø 東京 \u0000 \u202e", long: "x".repeat(1_000_000) };
    assert.deepEqual(await unpack(`\n${packed(value)}\n`), value);
    await assert.rejects(unpack("AAAA"));
});

test("chunks are decoded when asked for, and eight are kept", async () => {
    const asked = [];
    const chunks = new Chunks((n) => {
        asked.push(n);
        return n < 20 ? packed({ [n]: { id: n } }) : null;
    });
    assert.deepEqual(await chunks.question(3, 3), { id: 3 });
    for (let n = 0; n < 12; n++) {
        await chunks.question(n, n);
    }
    assert.deepEqual([...chunks.kept.keys()], [4, 5, 6, 7, 8, 9, 10, 11]);
    assert.equal(await chunks.chunk(11), await chunks.chunk(11));
    await assert.rejects(chunks.question(20, 20), /part 20 of the episodes is missing/);
    await assert.rejects(chunks.question(3, 4), /part 3 of the episodes lacks question 5/);
});

test("a chunk that cannot be read is not kept", async () => {
    let good = false;
    const chunks = new Chunks(() => (good ? packed({ 0: {} }) : "AAAA"));
    await assert.rejects(chunks.question(0, 0));
    good = true;
    assert.deepEqual(await chunks.question(0, 0), {});
});

test("a table with columns of different lengths is refused", () => {
    const column = [null];
    const own = { right: column, class: column, outcome: column, answer: column, steps: column };
    const table = { id: ["a"], question: ["?"], gold: column, type: column, dataset: [0], chunk: column, hard: [0], variants: [own] };
    const meta = { variants: [{ name: "a" }] };
    assert.equal(fault(table, meta), null);
    assert.match(fault({ ...table, gold: [] }, meta), /1 entries/);
    assert.match(fault({ ...table, hard: undefined }, meta), /1 entries/);
    assert.match(fault({ ...table, variants: [] }, meta), /0 variants, the page 1/);
});
