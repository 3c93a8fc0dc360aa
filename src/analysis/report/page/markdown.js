// A question as Markdown: what was asked, what was answered, and the steps. Nothing here touches the page.
import { listed, visible } from "./dom.js";
import { divergence, episodeOf, nameOf, repeatOf } from "./episodes.js";
import { partInWords } from "./trail.js";

/** @typedef {import("./episodes.js").Subject} Subject */

/**
 * A text within a line or a cell of a table.
 * @param {string} text
 */
function inline(text) {
    return visible(text)
        .replace(/\s+/g, " ")
        .trim()
        .replace(/[\\`*_[\]<>#|~&!$]/g, "\\$&");
}

/**
 * A text as it is, in a fence that is longer than those within it.
 * @param {string} text
 */
function fenced(text) {
    const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
    const fence = "`".repeat(longest + 1);
    return `${fence}text\n${visible(text)}\n${fence}`;
}

/**
 * @param {Subject} subject
 * @param {number} v
 */
function verdictInWords(subject, v) {
    const episode = episodeOf(subject, v);
    if (!episode || subject.hides(v, repeatOf(subject))) {
        return episode ? "hidden" : "not asked";
    }
    const { right, outcome } = episode;
    return right === null ? outcome.replaceAll("_", " ") : right ? "right" : ["wrong", episode.class].filter(Boolean).join(", ");
}

/**
 * @param {Subject} subject
 * @param {number[]} variants
 */
function answersTable(subject, variants) {
    const rows = variants.map((v) => {
        const episode = episodeOf(subject, v);
        const hidden = subject.hides(v, repeatOf(subject));
        const [em, f1] = hidden || !episode ? [null, null] : [episode.em, episode.f1];
        const steps = episode ? String(episode.steps.length + episode.left_out) : "";
        return [nameOf(subject, v), verdictInWords(subject, v), episode?.answer ?? "", em === null ? "" : String(em), f1 === null ? "" : f1.toFixed(2), steps];
    });
    const accuracy = variants.some((v) => episodeOf(subject, v)?.accuracy);
    const heads = ["variant", "verdict", "answer", accuracy ? "accuracy" : "EM", "F1", "steps"];
    // F1 of an accuracy is the same.
    const shown = [heads, ...rows].map((cells) => cells.filter((_, at) => !accuracy || heads[at] !== "F1"));
    const lines = shown.map((cells) => `| ${cells.map(inline).join(" | ")} |`);
    return [lines[0], `|---|---|---|${"--:|".repeat(accuracy ? 2 : 3)}`, ...lines.slice(1)].join("\n");
}

/** @param {Step} step */
function stepText(step) {
    const read = step.page ? `Page: ${step.page}${step.gold ? " (gold page)" : ""}` : null;
    const parts = [
        step.thought && `Thought: ${step.thought}`,
        step.action && `Action: ${step.action}`,
        step.observation && `Observation: ${step.observation.map(([text]) => text).join("")}`,
        read,
        step.note && `Note: ${step.note}`,
    ];
    return `### ${inline(step.n.replace(/^s/, "S"))}${step.origin ? `, ${inline(step.origin)}` : ""}\n\n${fenced(parts.filter(Boolean).join("\n"))}`;
}

/**
 * @param {Subject} subject
 * @param {number[]} variants that did the same
 */
function episodeText(subject, variants) {
    const episode = episodeOf(subject, variants[0] ?? 0);
    if (!episode) {
        return [];
    }
    const hidden = variants.some((v) => subject.hides(v, repeatOf(subject)));
    const why = [verdictInWords(subject, variants[0] ?? 0), hidden ? null : episode.evidence, episode.detail].filter((text) => text !== null);
    const rest = episode.left_out > 0 ? [`${episode.left_out} more steps are not in the page.`] : [];
    return [`## ${inline(listed(variants.map((v) => nameOf(subject, v))))}`, inline(why.join(": ")), ...episode.steps.map(stepText), ...rest];
}

/**
 * @param {Subject} subject
 * @param {[number, number]} pair
 */
export function asMarkdown(subject, pair) {
    const { table, meta, index, question } = subject;
    const [left, right] = pair;
    const both = pair.filter((v) => v >= 0);
    const asked = both.length > 1 && both.every((v) => episodeOf(subject, v) !== null);
    const where = asked ? divergence(subject, left, right) : null;
    const golds = question?.gold ?? [];
    const facts = [
        `Question ${inline(table.id[index] ?? "")}`,
        `gold ${golds.length === 1 ? "answer" : "answers"}: ${golds.length > 0 ? golds.map(inline).join("; ") : "hidden"}`,
        meta.repeats > 1 ? `repeat ${repeatOf(subject)}` : null,
    ].filter((text) => text !== null);
    const names = both.map((v) => nameOf(subject, v));
    const differ = where ? `${inline(listed(names))} differ from step ${where[0]} on: ${partInWords(where[1])}.` : `${inline(listed(names))} did the same in every step.`;
    const groups = asked && !where ? [both] : both.map((v) => [v]);
    const parts = [
        `# ${inline(table.question[index] ?? "")}`,
        `${facts.join(", ")}.`,
        answersTable(subject, both),
        ...(asked ? [differ] : []),
        ...groups.flatMap((group) => episodeText(subject, group)),
    ];
    return `${parts.join("\n\n")}\n`;
}
