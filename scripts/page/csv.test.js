import assert from "node:assert/strict";
import test from "node:test";
import { cell, csvOf } from "../../src/analysis/report/page/csv.js";

// The cases of src/analysis/export/csv_file.rs.
test("cells that look like formulas are made safe as `export` makes them", () => {
    for (const text of ["=1+1", "+1+1", "-1-1", "-inf", "-1.", "--1", "-x", "@x", "\tx"]) {
        assert.equal(cell(text), `'${text}`);
    }
    assert.equal(cell("\rx"), "\"'\rx\"");
    for (const text of ["", "a=b", " =1", "'=1", "1-2", "-5", "+1", "-0.5", "-1e-3"]) {
        assert.equal(cell(text), text);
    }
    assert.equal(cell("a\0b"), "a\ufffdb");
    assert.equal(cell('say "a", b\n'), '"say ""a"", b\n"');
    assert.equal(cell(null), "");
});

const variant = { right: [1, null], em: [1, null], class: [null, null], outcome: ["finished", "not_measured"], answer: ["=A", null], steps: [2, 0] };
const wrong = { right: [0, 0], em: [0, 0], class: [1, 0], outcome: ["finished", "finished"], answer: ["b", "c"], steps: [3, 4] };
const table = { id: ["q0", "q1"], question: ["Who, then?", "When?"], gold: ["A", null], dataset: [0, 0], variants: [variant, wrong] };
const meta = { variants: [{ name: "x" }, { name: "y" }], datasets: ["d"], classes: ["search", "label"], repeats: 1 };

test("the rows of the filter in their order, with the variants that were asked for", () => {
    assert.deepEqual(csvOf(table, meta, [1, 0], [0, 1], () => false).split("\r\n"), [
        "id,question,gold answer,x: answer,x: right,x: class,x: steps,y: answer,y: right,y: class,y: steps",
        "q1,When?,,,,not_measured,0,c,0,search,4",
        "q0,\"Who, then?\",A,'=A,1,,2,b,0,label,3",
        "",
    ]);
    const several = csvOf(table, { ...meta, datasets: ["d", "e"], repeats: 5 }, [0], [0], () => true).split("\r\n");
    assert.deepEqual(several, ["dataset,id,question,gold answer,x: answer,x: share right,x: class,x: steps", "d,q0,\"Who, then?\",A,'=A,hidden,hidden,2", ""]);
});
