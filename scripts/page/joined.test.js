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
