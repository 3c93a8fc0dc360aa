// One question: what was asked, what the variants answered, and their steps side by side.
import { addressOf } from "./address.js";
import { answers, repeats, verdictOf } from "./answers.js";
import { copyText, counted, el, listed, shellWord, unseen } from "./dom.js";
import { distance, divergence, episodeOf, nameOf, ownVariants, repeatOf } from "./episodes.js";
import { shownPair } from "./filter.js";
import { judgeForm, labelInWords } from "./judge_form.js";
import { asMarkdown } from "./markdown.js";
import { queueBar, withoutQueue } from "./queue.js";
import { forkOf, partInWords, trail } from "./trail.js";

/** @typedef {import("./episodes.js").Subject} Subject */

/**
 * Previous, next, and where this question is in the list.
 * @param {Subject} subject
 */
export function walk({ table, filter, index, shown, of, queue }) {
    const place = shown.indexOf(index);
    const wide = (/** @type {string} */ text) => el("span", { class: "wide" }, text);
    const link = (/** @type {number | undefined} */ to, /** @type {(Node | string)[]} */ text, /** @type {string} */ rel) =>
        to === undefined
            ? el("span", { class: "off" }, ...text)
            : el("a", { href: addressOf(filter, table.id[to] ?? "", of(to)), rel, class: rel }, ...text);
    if (queue) {
        return el("nav", { class: "walk", "aria-label": "Questions" }, el("a", { href: addressOf(withoutQueue(filter)), class: "up" }, "All", wide(" questions")));
    }
    const where = place < 0 ? `not among the ${counted(shown.length, "question")} of the list` : `${place + 1} of ${shown.length}`;
    return el(
        "nav",
        { class: "walk", "aria-label": "Questions" },
        el("a", { href: addressOf(filter), class: "up" }, "All", wide(" questions")),
        link(place > 0 ? shown[place - 1] : undefined, ["←", wide(" Previous")], "prev"),
        link(place < 0 ? shown[0] : shown[place + 1], [wide("Next "), "→"], "next"),
        el("span", { class: "where" }, where),
    );
}

/** @param {Subject} subject */
function facts({ table, meta, index, question }) {
    const dataset = meta.datasets.length > 1 ? meta.datasets[table.dataset[index] ?? 0] : null;
    const golds = question ? question.gold : [table.gold[index] ?? ""].filter(Boolean);
    const gold = el("p", { class: "gold" }, golds.length > 1 ? "Gold answers " : "Gold answer ");
    golds.forEach((text, i) => gold.append(i > 0 ? ", " : "", el("b", { dir: "auto" }, text)));
    if (golds.length === 0) {
        gold.append("hidden");
    }
    const pages = question && question.pages.length > 0 ? `gold pages ${listed(question.pages)}` : null;
    const known = [table.id[index], question?.type ?? table.type[index], question?.level, dataset, pages].filter(Boolean);
    gold.append(el("span", {}, ` · ${known.join(" · ")}`));
    return gold;
}

/**
 * The two lines that stay while one reads the steps, and the heading in them that takes the focus.
 * @param {Subject} subject
 */
function topLines(subject) {
    const heading = el("h1", { tabindex: "-1", dir: "auto" }, subject.table.question[subject.index] || "(empty)");
    const gold = facts(subject);
    const all = el("button", { type: "button", class: "all", "aria-expanded": "false", title: "Whole question", click: () => unfold() }, "…", unseen("Whole question"));
    const top = el("div", { class: "question-head" }, el("div", { class: "first" }, heading, all, walk(subject)), gold);
    const unfold = () => all.setAttribute("aria-expanded", String(top.classList.toggle("whole")));
    all.hidden = true;
    // The button is there if it has something to unfold or fold.
    const isCut = () => [heading, gold].some((line) => line.scrollWidth > line.clientWidth);
    new ResizeObserver(() => (all.hidden = !top.classList.contains("whole") && !isCut())).observe(top);
    return { heading, top };
}

/**
 * The command that prints the same in a terminal.
 * @param {Subject} subject
 * @param {number[]} variants one or two
 */
function command({ table, meta, index }, variants) {
    const id = shellWord(table.id[index] ?? "");
    const targets = variants.map((v) => meta.variants[v]?.target ?? "");
    const line = targets.length > 1 ? `wikitrail show ${targets.map((target) => `${target}:${id}`).join(" ")}` : `wikitrail show ${targets[0]} ${id}`;
    const button = el("button", { type: "button", click: () => copyText(button, line) }, "Copy");
    return el("p", { class: "command" }, el("code", {}, line), " ", button);
}

/**
 * How an episode ended and what was found about it, except its verdict.
 * @param {Episode} episode
 * @param {boolean} hidden
 */
function assessment(episode, hidden) {
    const lines = [episode.votes, episode.repairs, hidden || !episode.grounding ? null : `grounding: ${episode.grounding}`, episode.sum];
    return [
        ...(hidden ? [] : episode.readings.map((text) => el("p", { class: "evidence", dir: "auto" }, text))),
        ...lines.filter(Boolean).map((text) => el("p", { class: "aside" }, text)),
    ];
}

/**
 * What is known of one side besides its steps, with the form for a judgement.
 * @param {Subject} subject
 * @param {number[]} variants that did the same
 * @param {string} side
 */
function about(subject, variants, side) {
    const { meta, table, index } = subject;
    const repeat = repeatOf(subject);
    const title = listed(variants.map((v) => nameOf(subject, v)));
    const section = el("section", { class: "side", "aria-label": title }, el("h2", {}, title));
    const first = variants[0] ?? 0;
    const episode = episodeOf(subject, first);
    if (!episode) {
        section.append(el("p", { class: "neither" }, "not asked"));
        return section;
    }
    const hidden = variants.some((v) => subject.hides(v, repeat));
    section.append(el("p", {}, verdictOf(subject, variants)), ...assessment(episode, hidden));
    const names = variants.map((v) => meta.variants[v]?.name ?? "");
    const made = subject.made(first, repeat);
    const blind = hidden && !variants.some((v) => subject.sees(v, repeat));
    const form = { meta, id: table.id[index] ?? "", episode, variant: names[0] ?? "", repeat, made, blind, open: hidden, side };
    const keep = (/** @type {Judgement} */ own) =>
        variants.map((v, i) => {
            const { key, started_at } = episodeOf(subject, v) ?? own;
            return { ...own, variant: names[i] ?? "", key, started_at: started_at ?? undefined };
        });
    section.append(judgeForm(form, (own) => subject.save(keep(own), side)));
    if (!hidden) {
        const line = (/** @type {Label} */ label) => `${label.by}: ${labelInWords(label)}${label.note ? `, “${label.note}”` : ""}`;
        section.append(...subject.labels(episode).map((label) => el("p", { class: "opinion", dir: "auto" }, line(label))));
    }
    return section;
}

/**
 * @param {string} left
 * @param {string} right
 * @param {Divergence} where
 */
function sentence(left, right, where) {
    const text = where ? `${left} and ${right} differ from step ${where[0]} on: ${partInWords(where[1])}.` : `${left} and ${right} did the same in every step.`;
    return el("h2", { class: "divergence" }, text);
}

/**
 * What the sides branch off, and what was edited in each.
 * @param {[string, Episode][]} sides
 */
function forkLine(sides) {
    const fork = forkOf(sides.map(([, own]) => own));
    if (!fork) {
        return null;
    }
    const one = (/** @type {[string, Episode]} */ [name, { branch }]) => el("li", {}, el("b", {}, name), `: ${branch?.edited ?? "the unedited control"}`);
    const line = el("p", {}, sides.length > 1 ? "Both branch" : "It branches", " off ", el("code", {}, fork.parent), `, at step ${fork.at}:`);
    return el("div", { class: "fork" }, line, el("ul", {}, ...sides.map(one)));
}

/**
 * Why an answer is wrong, or why there is none, above the steps.
 * @param {Episode} episode
 * @param {boolean} hidden
 */
function reasons(episode, hidden) {
    const outcome = episode.outcome === "finished" ? null : [episode.outcome.replaceAll("_", " "), episode.detail].filter(Boolean).join(": ");
    const missing = episode.left_out > 0 ? `${counted(episode.left_out, "more step")} not in this page; the command below prints all` : null;
    return [outcome, hidden ? null : episode.evidence, missing].filter((text) => text !== null);
}

/**
 * @param {Subject} subject
 * @param {[number, number]} pair
 */
function comparison(subject, [left, right]) {
    const key = el("p", { class: "key" }, "In what was read: ", el("mark", { class: "sentence" }, "gold sentence"), " ", el("mark", { class: "answer" }, "gold answer"));
    const [one, two] = [episodeOf(subject, left), right < 0 ? null : episodeOf(subject, right)];
    const where = one && two ? divergence(subject, left, right) : null;
    const same = one !== null && two !== null && !where;
    const names = (/** @type {number[]} */ own) => own.map((v) => nameOf(subject, v));
    /** @type {Side[]} */
    const sides = [];
    for (const [variants, episode] of /** @type {[number[], Episode | null][]} */ ([[same ? [left, right] : [left], one], [[right], same ? null : two]])) {
        if (episode) {
            const hidden = variants.some((v) => subject.hides(v, repeatOf(subject)));
            sides.push({ name: listed(names(variants)), episode, verdict: verdictOf(subject, variants), reasons: reasons(episode, hidden) });
        }
    }
    const copy = el("button", { type: "button", class: "copy", click: () => copyText(copy, asMarkdown(subject, [left, right])) }, "Copy as Markdown");
    const line = el("div", { class: "line" }, one && two && sentence(nameOf(subject, left), nameOf(subject, right), where), copy, key);
    const heads = same ? [about(subject, [left, right], "left")] : [about(subject, [left], "left"), right >= 0 && about(subject, [right], "right")];
    const below = el("div", { class: heads.filter(Boolean).length < 2 ? "heads one" : "heads" }, ...heads);
    /** @type {[string, Episode][]} */
    const branches = same ? [[nameOf(subject, left), one], [nameOf(subject, right), two]] : sides.map(({ name, episode }) => [name, episode]);
    return [forkLine(branches), line, ...trail(sides, where), below];
}

/**
 * The question's view, with the heading that takes the focus.
 * @param {Subject} subject
 */
export function questionView(subject) {
    const { meta, question, filter } = subject;
    const pair = shownPair(meta, filter, ownVariants(subject), (left, right) => distance(subject, left, right));
    const { heading, top } = topLines(subject);
    /** @type {HTMLElement[]} */
    const parts = subject.queue ? [top, queueBar(subject.queue, subject.press), answers(subject, pair)] : [top, answers(subject, pair)];
    if (!question) {
        const missing = "The steps of this question are not in this file. This prints them:";
        parts.push(el("p", { class: "notice" }, missing), ...ownVariants(subject).map((v) => command(subject, [v])));
    } else {
        const both = pair.filter((v) => v >= 0);
        const blind = both.some((v) => subject.hides(v, repeatOf(subject)));
        const rest = [subject.queue ? null : repeats(subject, pair), ...comparison(subject, pair), blind ? null : command(subject, both)];
        parts.push(...rest.filter((part) => part !== null));
    }
    return { heading, parts };
}
