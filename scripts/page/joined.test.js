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

/** The files that each list in Rust joins into a script. */
const scripts = ["document.rs", "index.rs"].map((name) => [...readFileSync(new URL(name, folder), "utf8").matchAll(/include_str!\("(\w+\.js)"\)/g)].map(([, file]) => file));

test("no name is declared twice in a script", () => {
    for (const files of scripts) {
        const own = lines.filter(([file]) => files.includes(file));
        const names = own.map(([, line]) => /^(?:export )?(?:async )?(?:function|const|let|class) (\w+)/.exec(line)?.[1]).filter(Boolean);
        assert.deepEqual(
            names.filter((name, at) => names.indexOf(name) !== at),
            [],
        );
    }
});

test("every file is in a script", () => {
    const files = new Set(lines.map(([file]) => file));
    assert.deepEqual(new Set(scripts.flat()), files);
});
