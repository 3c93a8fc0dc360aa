// A sample of episodes to judge one after another: the one that `wikitrail annotate --sample N --seed S` asks for.
import { counted, el, listed } from "./dom.js";

/** @typedef {{index: number, v: number, repeat: number, key: string, started_at: string | null}} Entry */

/** Outcomes of unmeasured episodes, which cannot be judged. */
const UNMEASURED = ["not_measured", "budget"];

/**
 * How many of each stratum, of these sizes: one more of each in turn, until `total` are there.
 * @param {number[]} sizes
 * @param {number} total
 */
export function parts(sizes, total) {
    const taken = sizes.map(() => 0);
    for (let left = total; left > 0; ) {
        const open = sizes.flatMap((size, at) => ((taken[at] ?? 0) < size ? [at] : []));
        if (open.length === 0) {
            break;
        }
        for (const at of open.slice(0, left)) {
            taken[at] = (taken[at] ?? 0) + 1;
        }
        left -= open.length;
    }
    return taken;
}

/** @param {string} text */
async function sha256(text) {
    const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The episodes of a sample in their order, of each run as many: strata of right and wrong answers of each variant have
 * equal parts, and a place is the digest of seed and key.
 * @param {Meta} meta
 * @param {number} questions
 * @param {(index: number) => Promise<ChunkQuestion>} read
 * @param {number} size
 * @param {string} seed
 * @returns {Promise<Entry[]>}
 */
export async function sampled(meta, questions, read, size, seed) {
    /** @type {Map<string, Map<string, {place: string, entry: Entry}[]>>} strata by run, then by what they have in common */
    const runs = new Map();
    for (let index = 0; index < questions; index++) {
        const { episodes } = await read(index);
        const measured = episodes.flatMap((own, v) => own.map((episode, repeat) => ({ v, repeat, episode }))).filter(({ episode }) => !UNMEASURED.includes(episode.outcome));
        const places = await Promise.all(measured.map(({ episode }) => sha256(`${seed}:${episode.key}`)));
        for (const [i, { v, repeat, episode }] of measured.entries()) {
            const { run = "", variant = "" } = meta.variants[v] ?? {};
            const strata = runs.get(run) ?? new Map();
            const name = `${episode.right ?? "no gold"}\0${variant}`;
            const stratum = strata.get(name) ?? [];
            stratum.push({ place: places[i] ?? "", entry: { index, v, repeat, key: episode.key, started_at: episode.started_at } });
            runs.set(run, strata.set(name, stratum));
        }
    }
    const before = (/** @type {string} */ a, /** @type {string} */ b) => (a < b ? -1 : a > b ? 1 : 0);
    const chosen = [...runs.values()].flatMap((strata) => {
        const ordered = [...strata].sort(([a], [b]) => before(a, b)).map(([, own]) => own.sort((a, b) => before(a.place, b.place)));
        const sizes = parts(ordered.map((own) => own.length), size);
        return ordered.flatMap((own, at) => own.slice(0, sizes[at]));
    });
    return chosen.sort((a, b) => before(a.place, b.place)).map(({ entry }) => entry);
}

/**
 * The place, from 1, of the first entry behind `from` that is not done, else of the first one at all; 0 where all are done.
 * @param {Entry[]} entries
 * @param {number} from
 * @param {(entry: Entry) => boolean} done
 */
export function nextOpen(entries, from, done) {
    const open = entries.flatMap((entry, i) => (done(entry) ? [] : [i + 1]));
    return open.find((at) => at > from) ?? open[0] ?? 0;
}

/**
 * A filter without the queue.
 * @param {Filter} filter
 */
export function withoutQueue(filter) {
    return { ...filter, sample: "", seed: "", at: "" };
}

/**
 * The line above an episode of the queue, with what can be done besides judging.
 * @param {{at: number, count: number, left: number, last: string}} queue
 * @param {(key: string) => void} press
 */
export function queueBar({ at, count, left, last }, press) {
    const button = (/** @type {string} */ text, /** @type {string} */ key) => el("button", { type: "button", click: () => press(key) }, text, " ", el("kbd", {}, key));
    return el(
        "div",
        { class: "queue" },
        el("p", { role: "status" }, el("b", {}, `${at} of ${count}`), `, ${left} left: `, el("kbd", {}, "y"), " right, ", el("kbd", {}, "n"), " wrong, or the key of a class"),
        button("Skip", "-"),
        button("Back", "b"),
        button("Undo", "z"),
        button("Quit", "q"),
        button("Keys", "?"),
        last !== "" && el("p", { class: "facts", dir: "auto" }, last),
    );
}

/**
 * How far a person agrees with each other one, in sentences.
 * @param {Label[]} mine
 * @param {Label[]} labels of others
 */
export function agreements(mine, labels) {
    /** @type {Map<string, [Label, Label][]>} */
    const pairs = new Map();
    for (const label of labels) {
        const own = mine.find((one) => isSameEpisode(one, label));
        if (own && own.by !== label.by) {
            pairs.set(label.by, [...(pairs.get(label.by) ?? []), [own, label]]);
        }
    }
    return [...pairs].map(([by, both]) => {
        const judged = both.filter(([a, b]) => a.correct !== null && b.correct !== null);
        const classed = both.filter(([a, b]) => a.class !== null && b.class !== null);
        const words = [
            judged.length > 0 && `right or wrong alike on ${judged.filter(([a, b]) => a.correct === b.correct).length} of ${counted(judged.length, "episode")}`,
            classed.length > 0 && `the same class on ${classed.filter(([a, b]) => a.class === b.class).length} of ${classed.length}`,
        ].filter((text) => text !== false);
        return `You and ${by}: ${listed(words.length > 0 ? words : ["nothing that can be compared"])}.`;
    });
}

/**
 * Whether two judgements are about one episode; runs with the same settings have episodes with the same key.
 * @param {{key: string, started_at?: string | null | undefined}} a
 * @param {{key: string, started_at?: string | null | undefined}} b
 */
export function isSameEpisode(a, b) {
    return a.key === b.key && (!a.started_at || !b.started_at || a.started_at === b.started_at);
}
