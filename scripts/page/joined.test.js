import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

const folder = new URL("../../src/analysis/report/page/", import.meta.url);
const lines = readdirSync(folder)
    .filter((name) => name.endsWith(".js"))
    .flatMap((name) => readFileSync(new URL(name, folder), "utf8").split("\n").map((line) => [name, line]));

test("lines that look like comments or imports are nothing else, as Rust drops them", () => {
    for (const [name, line] of lines) {
        assert.doesNotMatch(line, /^\s*\/\*.*\*\/\s*\S/, `${name}: code behind a comment`);
        assert.doesNotMatch(line, /^import .*[^;]$/, `${name}: an import of several lines`);
        assert.doesNotMatch(line, /^export (default|\{|\*)/, name);
    }
});

test("no name is declared twice, as all files become one script", () => {
    const names = lines.map(([, line]) => /^(?:export )?(?:async )?(?:function|const|let|class) (\w+)/.exec(line)?.[1]).filter(Boolean);
    const twice = names.filter((name, at) => names.indexOf(name) !== at);
    assert.deepEqual(twice, []);
});

test("every file is in the script", () => {
    const joined = readFileSync(new URL("document.rs", folder), "utf8");
    for (const name of new Set(lines.map(([file]) => file))) {
        assert.ok(joined.includes(`include_str!("${name}")`), name);
    }
});
