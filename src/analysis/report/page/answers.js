// The tables above the steps of a question: every variant's answer, and the answers of all repeats.
import { el } from "./dom.js";
import { episodeOf, groups, nameOf, ownVariants, repeatOf, wholeNameOf } from "./episodes.js";
import { mark, markOf } from "./rows.js";

/** @typedef {import("./episodes.js").Subject} Subject */
/** @typedef {"left" | "right"} Side */

/** What a verdict is called as long as a blind judge has not judged. */
const UNJUDGED = "hidden until you judge";

/**
 * @param {Subject} subject
 * @param {number[]} variants that did the same
 * @param {number} [repeat] the shown one if it is left out
 */
export function verdictOf(subject, [v = 0, ...more], repeat = repeatOf(subject)) {
    if ([v, ...more].some((own) => subject.hides(own, repeat))) {
        return el("span", { class: "neither" }, UNJUDGED);
    }
    const episode = episodeOf(subject, v, repeat);
    if (episode) {
        return mark(episode.right, episode.class ?? episode.outcome);
    }
    const columns = subject.table.variants[v];
    return columns && !subject.question ? markOf(subject.meta, columns, subject.index) : mark(null, null);
}

/**
 * The scores of an answer, and how it came about.
 * @param {Episode} episode
 * @param {boolean} hidden
 */
function scores(episode, hidden) {
    const em = episode.em === null ? null : `${episode.accuracy ? "accuracy" : "EM"} ${episode.em}`;
    const f1 = episode.f1 === null || episode.accuracy ? null : `F1 ${episode.f1.toFixed(2)}`;
    return hidden ? "" : [em, f1].filter(Boolean).join(", ");
}

/**
 * Shows another variant on one side; the two change places where it is on the other one.
 * @param {Subject} subject
 * @param {[number, number]} pair
 * @param {Side} side
 * @param {number[]} group
 */
function choose(subject, [left, right], side, group) {
    const name = (/** @type {number} */ v) => subject.meta.variants[v]?.name ?? "";
    const [old, other] = side === "left" ? [left, right] : [right, left];
    const own = group.find((v) => v !== other) ?? other;
    const beside = own === other ? old : other;
    subject.change(side === "left" ? { left: name(own), right: name(beside) } : { left: name(beside), right: name(own) });
}

/**
 * @param {Subject} subject
 * @param {[number, number]} pair
 * @param {Side} side
 * @param {number[]} group
 * @param {string} names
 */
function radio(subject, pair, side, group, names) {
    const checked = group.includes(side === "left" ? pair[0] : pair[1]);
    const change = () => choose(subject, pair, side, group);
    const input = el("input", { type: "radio", name: side, checked, "data-choice": `${side} ${group[0]}`, "aria-label": `${names}: ${side} side`, change });
    return el("td", { class: "pick" }, el("label", {}, input));
}

/**
 * @param {Subject} subject
 * @param {[number, number]} pair
 * @param {number[]} group
 */
function answerRow(subject, pair, group) {
    const { table, index } = subject;
    const first = group[0] ?? 0;
    const episode = episodeOf(subject, first);
    const hidden = group.some((own) => subject.hides(own, repeatOf(subject)));
    const columns = table.variants[first];
    const steps = episode ? episode.steps.length + episode.left_out : columns?.steps[index];
    const ordered = [...group].sort((a, b) => Number(pair.includes(b)) - Number(pair.includes(a)));
    const names = ordered.map((own) => el(pair.includes(own) ? "b" : "span", {}, nameOf(subject, own)));
    const several = ownVariants(subject).length > 2 && subject.question !== null;
    const shown = group.some((own) => pair.includes(own));
    const text = ordered.map((own) => nameOf(subject, own)).join(", ");
    const pick = (/** @type {Event} */ event) => {
        const target = /** @type {Element} */ (event.target);
        if (!shown && !target.closest("label") && !String(getSelection())) {
            choose(subject, pair, "right", group);
        }
    };
    return el(
        "tr",
        { class: shown ? "shown" : "", "aria-current": shown ? "true" : null, ...(several ? { click: pick } : {}) },
        ...(several ? [radio(subject, pair, "left", group, text), radio(subject, pair, "right", group, text)] : []),
        el("th", { scope: "row" }, el("span", { class: "names", title: ordered.map((own) => wholeNameOf(subject, own)).join(", ") }, ...names.flatMap((name, i) => (i > 0 ? [", ", name] : [name])))),
        el("td", { class: "verdict-cell" }, verdictOf(subject, group)),
        el("td", { dir: "auto", class: "answer-cell" }, (episode ? episode.answer : columns?.answer[index]) ?? "–"),
        el("td", { class: "scores" }, episode ? scores(episode, hidden) : ""),
        el("td", { class: "n" }, steps === null || steps === undefined ? "–" : String(steps)),
    );
}

/**
 * A table that scrolls in itself where it is long.
 * @param {string} label
 * @param {HTMLElement[]} titles
 * @param {HTMLElement[]} rows
 * @param {boolean} chosen whether a click on a row chooses it
 */
function scrolled(label, titles, rows, chosen) {
    const grid = el("table", {}, el("thead", {}, el("tr", {}, ...titles)), el("tbody", {}, ...rows));
    return el("div", { class: chosen ? "scroll answers several" : "scroll answers", tabindex: "0", role: "region", "aria-label": label }, grid);
}

/**
 * Every variant's answer, those that did the same in one row, the shown ones first.
 * @param {Subject} subject
 * @param {[number, number]} pair
 */
export function answers(subject, pair) {
    const head = (/** @type {string} */ text, /** @type {string} */ name) => el("th", { scope: "col", class: name }, text);
    const several = ownVariants(subject).length > 2 && subject.question !== null;
    const place = (/** @type {number[]} */ group) => [0, 1].find((side) => group.includes(pair[side] ?? -1)) ?? 2;
    const order = groups(subject).sort((a, b) => place(a) - place(b));
    const sides = several ? [head("left", "pick"), head("right", "pick")] : [];
    const titles = [...sides, head("variant", ""), head("verdict", ""), head("answer", ""), head("scores", "scores"), head("steps", "n")];
    return scrolled("Answers of all variants; those that did the same share a row", titles, order.map((group) => answerRow(subject, pair, group)), several);
}

/**
 * @param {Subject} subject
 * @param {number} v
 * @param {number} repeat
 */
function repeatCell(subject, v, repeat) {
    const episode = episodeOf(subject, v, repeat);
    if (!episode) {
        return el("td", {}, el("span", { class: "neither" }, "not asked"));
    }
    const steps = episode.steps.length + episode.left_out;
    const answer = el("b", { dir: "auto" }, episode.answer ?? "no answer");
    return el("td", {}, verdictOf(subject, [v], repeat), " ", answer, el("span", { class: "facts" }, ` ${steps} ${steps === 1 ? "step" : "steps"}`));
}

/**
 * The answers of all repeats of the shown variants; nothing where questions were asked once.
 * @param {Subject} subject
 * @param {[number, number]} pair
 */
export function repeats(subject, pair) {
    const { meta, change } = subject;
    if (meta.repeats < 2 || !subject.question) {
        return null;
    }
    const both = pair.filter((v) => v >= 0);
    const rows = Array.from({ length: meta.repeats }, (_, repeat) => {
        const own = repeat === repeatOf(subject);
        const choice = () => change({ repeat: repeat === 0 ? "" : String(repeat) });
        const button = el("button", { type: "button", class: "cell", "data-choice": `repeat ${repeat}`, "aria-pressed": String(own) }, `repeat ${repeat}`);
        return el("tr", { class: own ? "shown" : "", "aria-current": own ? "true" : null, click: choice }, el("th", { scope: "row" }, button), ...both.map((v) => repeatCell(subject, v, repeat)));
    });
    const titles = ["", ...both.map((v) => nameOf(subject, v))].map((text) => (text ? el("th", { scope: "col" }, text) : el("td", {})));
    return scrolled("Answers of all repeats", titles, rows, true);
}
