import assert from "node:assert/strict";
import test from "node:test";
import { NO_FILTER } from "../../src/analysis/report/page/address.js";
import { asMarkdown } from "../../src/analysis/report/page/markdown.js";

const step = (n, own) => ({ n: `step ${n}`, origin: null, thought: null, action: null, observation: null, page: null, gold: false, note: null, ends: false, ...own });
const episode = (right, answer, steps) => ({ right, answer, em: right ? 1 : 0, f1: right ? 1 : 0, class: right ? null : "search", evidence: null, detail: null, outcome: "finished", left_out: 0, branch: null, steps });
const hostile = "````\n# not a heading\n</details> | <script>";
const question = {
    gold: ["a|b"],
    episodes: [
        [episode(true, "one | two\n# three", [step(1, { thought: "look", action: "Search[x]", observation: [[hostile, ""]] })])],
        [episode(false, "`no`", [step(1, { thought: "guess" }), step(2, { action: "Finish[no]", observation: [["reward", ""]], ends: true })])],
    ],
    parted: [[[1, "thought"]]],
};
const subject = (hides) => ({
    meta: { variants: [{ name: "a", dataset: 0 }, { name: "b_c", dataset: 0 }], repeats: 1 },
    table: { id: ["q1"], question: ["What *is* it?"], dataset: [0] },
    filter: NO_FILTER,
    index: 0,
    question,
    hides,
});

test("what models and pages wrote breaks out of no table and no fence", () => {
    const text = asMarkdown(subject(() => false), [0, 1]);
    const lines = text.split("\n");
    assert.equal(lines[0], "# What \\*is\\* it?");
    assert.ok(lines.includes("| a | right | one \\| two \\# three | 1 | 1.00 | 1 |"), text);
    assert.ok(lines.includes("| b\\_c | wrong, search | \\`no\\` | 0 | 0.00 | 2 |"), text);
    assert.ok(lines.includes("a and b\\_c differ from step 1 on: another thought."), text);
    const begin = lines.indexOf("`````text");
    const end = lines.indexOf("`````", begin + 1);
    assert.equal(lines.slice(begin + 1, end).join("\n"), `Thought: look\nAction: Search[x]\nObservation: ${hostile}`);
});

test("a blind judge copies neither names nor verdicts nor the reward", () => {
    const text = asMarkdown(subject(() => true), [0, 1]);
    assert.match(text, /\| variant [AB] \| hidden \| .* \| {2}\| {2}\| 1 \|/);
    assert.doesNotMatch(text, /b\\_c|right|wrong|reward/);
});
