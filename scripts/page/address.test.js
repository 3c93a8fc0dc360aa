import assert from "node:assert/strict";
import test from "node:test";
import { addressOf, NO_FILTER, placeOf } from "../../src/analysis/report/page/address.js";

test("an address comes back as it was written", () => {
    const filter = { ...NO_FILTER, q: "a&b #1 ?ü", show: "flip", a: "x/y", b: "50%", class: "search", repeat: "2" };
    for (const id of ["plain", "a/b?c#d&e=f %41 ü", "..", "​"]) {
        assert.deepEqual(placeOf(addressOf(filter, id, "1")), { view: "question", id, of: "1", filter });
    }
    assert.deepEqual(placeOf(addressOf(filter)), { view: "list", id: "", of: "", filter });
});

test("what is not set is not in the address", () => {
    assert.equal(addressOf(NO_FILTER), "#/");
    assert.equal(addressOf({ ...NO_FILTER, show: "differ" }, "a/b"), "#/q/a%2Fb?show=differ");
});

test("the id of a question may be empty", () => {
    const place = { view: "question", id: "", of: "", filter: { ...NO_FILTER, show: "wrong" } };
    assert.deepEqual(placeOf("#/q/?show=wrong"), place);
});

test("sections and broken addresses are not questions", () => {
    assert.deepEqual(placeOf("#scores"), { view: "section", id: "scores", of: "", filter: NO_FILTER });
    assert.equal(placeOf("").view, "section");
    assert.equal(placeOf("#/q/%E0%A4%A").id, "%E0%A4%A");
    assert.equal(placeOf("#/q?show=wrong").view, "list");
    assert.deepEqual(placeOf("#/?constructor=1&__proto__=2").filter, NO_FILTER);
});
