// The help: keys, their switch, and what the marks mean.
import { el } from "./dom.js";
import { keysOn, switchKeys } from "./keys.js";

const KEYS = [
    ["j", "next question of the list"],
    ["k", "previous question of the list"],
    ["u", "back to the list"],
    ["d", "first step that differs"],
    ["n", "next step"],
    ["p", "previous step"],
    ["/", "search"],
    ["?", "this help"],
];

const MARKS = [
    ["✓", "The answer is right by the run's metric."],
    ["✗ search", "The answer is wrong, with its failure class: here, the page that holds the answer was not found."],
    ["not measured", "The model or Wikipedia failed: neither right nor wrong."],
    ["not asked", "The run has not reached this question under this variant."],
];

/** Keys while a form for a judgement is open, besides those of the classes. */
const JUDGING = [
    ["y", "right"],
    ["n", "wrong, without saying why"],
    ["1 … 9", "the step of the first mistake, before the key that judges"],
    ["-", "skip"],
    ["b", "back"],
    ["z", "undo the last judgement"],
    ["q", "quit"],
];

/** @param {(string | undefined)[][]} rows */
function terms(rows) {
    return rows.flatMap(([term, text]) => [el("dt", {}, el("kbd", {}, term ?? "")), el("dd", {}, text ?? "")]);
}

/**
 * @param {HTMLDialogElement} dialog
 * @param {Meta} meta
 */
export function fillHelp(dialog, meta) {
    const box = el("input", { type: "checkbox", id: "keys-on", change: () => switchKeys(box.checked) });
    box.checked = keysOn();
    dialog.setAttribute("aria-labelledby", "help-title");
    dialog.replaceChildren(
        el("h2", { id: "help-title" }, "Help"),
        el("h3", {}, "Keys"),
        el("dl", { class: "keys" }, ...terms(KEYS)),
        el("p", {}, el("label", { class: "check" }, box, " Use these keys")),
        el("h3", {}, "Marks"),
        el("dl", { class: "marks" }, ...MARKS.flatMap(([sign, text]) => [el("dt", {}, sign ?? ""), el("dd", {}, text ?? "")])),
        el("h3", {}, "Failure classes, by the rules"),
        el("dl", { class: "classes" }, ...meta.classes.flatMap((name, i) => [el("dt", {}, name), el("dd", {}, meta.meanings[i] ?? "")])),
        el("h3", {}, "Keys while a form for a judgement is open, as in wikitrail annotate"),
        el("dl", { class: "keys" }, ...terms([...JUDGING, ...meta.judgements.map(({ key, class: name, about }) => [key, `${name}: ${about}`])])),
        el("h3", {}, "Links and judgements"),
        el("p", {}, "The address of this page holds the filters and the question: copy it to point somebody to what you see."),
        el("p", {}, "Judgements stay in this browser until you save them as a file; `wikitrail annotate RUN --import FILE` adds the file to a run."),
        el("form", { method: "dialog" }, el("button", {}, "Close")),
    );
}

/** @param {HTMLDialogElement} dialog */
export function openHelp(dialog) {
    if (!dialog.open) {
        dialog.showModal();
    }
}
