// Starts the page: reads the data, follows the address.
import { addressOf, NO_FILTER, placeOf } from "./address.js";
import { showAges } from "./age.js";
import { columnsMenu } from "./columns.js";
import { controlsFor, listenToOverview, searchField } from "./controls.js";
import { csvOf } from "./csv.js";
import { Chunks, fault, unpack } from "./decode.js";
import { byId, complain, el, reason, saveFile } from "./dom.js";
import { matching, unknownNames, variantsOf } from "./filter.js";
import { fillHelp, openHelp } from "./help.js";
import { isBlind } from "./judgements.js";
import { Judging } from "./judging.js";
import { listenForKeys } from "./keys.js";
import { follow } from "./live.js";
import { preparePrint } from "./print.js";
import { questionView } from "./question.js";
import { withoutQueue } from "./queue.js";
import { StepSearch } from "./search.js";
import { QuestionList } from "./table.js";
import { startTheme } from "./theme.js";
import { moveToDifference, moveToStep } from "./trail.js";

/** For scrolling that follows an address. @type {{behavior: ScrollBehavior}} */
const AT_ONCE = { behavior: "instant" };

/** The open page. */
export class Page {
    /**
     * @param {Meta} meta
     * @param {Table} table
     */
    constructor(meta, table) {
        this.meta = meta;
        this.table = table;
        this.title = document.title;
        /** @type {Filter} */
        this.filter = { ...NO_FILTER };
        /** The open question, or -1. */
        this.open = -1;
        this.asked = 0;
        this.chunks = new Chunks((n) => document.querySelector(`script[data-chunk="${n}"]`)?.textContent ?? null);
        /** @type {Map<string, number[]>} */
        this.ids = new Map();
        table.id.forEach((id, i) => this.ids.set(id, [...(this.ids.get(id) ?? []), i]));
        this.judging = new Judging(this);
        this.judgements = this.judging.judgements;
        this.list = new QuestionList(table, meta, {
            hides: (i, v) => isBlind() && table.variants[v]?.outcome[i] !== null && !this.judgements.of(meta.variants[v]?.name ?? "", 0, table.id[i] ?? ""),
            judged: (i) => this.judgements.made.size > 0 && this.judgements.any(table.id[i] ?? ""),
            of: (i) => this.of(i),
        }, (order) => this.change({ order }));
        this.steps = new StepSearch(table, (n) => this.chunks.read(n), () => this.news());
        this.columns = columnsMenu(table, meta, (columns) => this.change({ columns }));
        this.controls = el("div", { class: "controls" });
        this.note = el("p", { class: "notice", role: "status", hidden: true });
        this.search = searchField("", (q) => this.type(q));
        this.waiting = 0;
        this.drawn = 0;
    }

    /**
     * The dataset of a question whose id another one has too.
     * @param {number} i
     */
    of(i) {
        const several = (this.ids.get(this.table.id[i] ?? "")?.length ?? 0) > 1;
        return several ? String(this.table.dataset[i]) : "";
    }

    build() {
        const { list } = this;
        const bar = el("div", { class: "controls" }, this.search.label, this.controls);
        const save = el("button", { type: "button", click: () => this.saveRows() }, "Download CSV");
        const line = el("div", { class: "found" }, list.count, list.searched, list.progress, el("div", { class: "list-tools" }, save, this.columns.menu));
        byId("list").replaceChildren(bar, this.note, line, list.printed, list.scroller, this.judging.tools);
        this.judging.draw();
    }

    saveRows() {
        const { meta, table, list } = this;
        const { dataset } = this.filter;
        const variants = dataset === "" ? meta.variants.map((_, v) => v) : variantsOf(meta, Number(dataset));
        saveFile("questions.csv", "text/csv", csvOf(table, meta, list.shown, variants, list.asks.hides));
    }

    /** @param {string} q */
    type(q) {
        this.filter = { ...this.filter, q };
        this.drawList();
        clearTimeout(this.waiting);
        this.waiting = setTimeout(() => this.tell(), 200);
    }

    /** Writes the filter into the address, without a new entry of the history. */
    tell() {
        clearTimeout(this.waiting);
        const id = this.open < 0 ? undefined : (this.table.id[this.open] ?? "");
        history.replaceState(null, "", addressOf(this.filter, id, this.open < 0 ? "" : this.of(this.open)));
    }

    /** @param {Partial<Filter>} change */
    change(change) {
        this.filter = { ...this.filter, ...change };
        this.tell();
        this.drawControls();
        this.drawList();
    }

    drawControls() {
        const focused = document.activeElement?.closest("label")?.firstElementChild?.textContent;
        this.controls.replaceChildren(...controlsFor(this.table, this.meta, this.filter, (change) => this.change(change)));
        const again = [...this.controls.querySelectorAll("label")].find((label) => label.firstElementChild?.textContent === focused);
        again?.querySelector("select")?.focus();
        this.columns.update(this.filter);
        if (this.search.input.value !== this.filter.q) {
            this.search.input.value = this.filter.q;
        }
    }

    drawList() {
        const unknown = unknownNames(this.table, this.meta, this.filter);
        this.note.hidden = unknown.length === 0;
        this.note.textContent = unknown.length > 0 ? `The address names what this page does not have: ${unknown.join(", ")}.` : "";
        this.steps.aim(this.filter.q, this.table);
        this.drawFound();
        const listed = new Set(this.list.shown.filter((i) => !this.steps.found.has(i)));
        const rest = this.filter.q ? matching(this.table, this.meta, { ...this.filter, q: "" }).filter((i) => !listed.has(i)) : [];
        this.steps.start(rest);
        this.list.report(this.steps);
    }

    drawFound() {
        const { found } = this.steps;
        this.drawn = performance.now();
        this.list.show(matching(this.table, this.meta, this.filter, found), this.filter, found);
        this.list.report(this.steps);
    }

    /** A part of the steps was searched. */
    async news() {
        const { left, parts, found } = this.steps;
        if (left > 0 && performance.now() - this.drawn < 250) {
            return;
        }
        this.drawFound();
        // A question opened from the search shows its new place, unless its form has the focus.
        if (left === 0 && parts > 0 && found.size > 0 && this.open >= 0 && !this.filter.sample && document.activeElement?.matches("#question h1")) {
            const top = scrollY;
            await this.showQuestion(placeOf(location.hash));
            scrollTo({ top, ...AT_ONCE });
        }
    }

    /** Follows the address. */
    async route() {
        const place = placeOf(location.hash);
        clearTimeout(this.waiting);
        if (place.view !== "section") {
            this.filter = place.filter;
        }
        this.drawControls();
        this.drawList();
        this.judging.at = 0;
        if (place.view !== "section" && place.filter.sample) {
            await this.judging.follow(place.filter);
        } else if (place.view === "question") {
            await this.showQuestion(place);
        } else {
            this.showOverview(place);
        }
    }

    /**
     * The episodes of a question; `null` where the file lacks them.
     * @param {number} index
     */
    episodes(index) {
        const chunk = this.table.chunk[index] ?? null;
        return index >= 0 && chunk !== null ? this.chunks.question(chunk, index) : null;
    }

    /** @param {Place} place */
    showOverview(place) {
        const left = this.open;
        this.open = -1;
        this.asked++;
        byId("overview").hidden = false;
        byId("question").hidden = true;
        byId("question").replaceChildren();
        document.title = this.title;
        this.list.refresh();
        if (place.view === "section") {
            const section = place.id ? document.getElementById(place.id) : document.body;
            if (section instanceof HTMLDetailsElement) {
                section.open = true;
            }
            section?.scrollIntoView(AT_ONCE);
        } else {
            byId("questions").scrollIntoView(AT_ONCE);
            if (left >= 0) {
                this.list.focus(this.list.shown.indexOf(left));
            }
        }
    }

    /** @param {Place} place */
    async showQuestion({ id, of }) {
        const asked = ++this.asked;
        const known = this.ids.get(id) ?? [];
        const index = known.find((i) => String(this.table.dataset[i]) === of) ?? known[0] ?? -1;
        try {
            const question = await this.episodes(index);
            if (asked === this.asked) {
                this.open = index;
                this.drawQuestion(index, id, question);
            }
        } catch (error) {
            if (asked === this.asked) {
                this.open = index;
                this.drawQuestion(index, id, null);
                byId("question").prepend(el("p", { role: "alert", class: "complaint" }, `The steps cannot be read: ${reason(error)}.`));
            }
        }
    }

    /**
     * @param {number} index
     * @param {string} id
     * @param {ChunkQuestion | null} question
     */
    drawQuestion(index, id, question) {
        byId("overview").hidden = true;
        const holder = byId("question");
        holder.hidden = false;
        if (index < 0) {
            const heading = el("h1", { tabindex: "-1" }, `This page has no question ${id}`);
            holder.replaceChildren(heading, el("p", {}, el("a", { href: addressOf(this.filter) }, "All questions")));
            heading.focus();
            return;
        }
        const { heading, parts } = questionView({ ...this.subject(index), question });
        holder.replaceChildren(...parts);
        holder.querySelector('[data-choice^="repeat"][aria-pressed="true"]')?.scrollIntoView({ block: "nearest", ...AT_ONCE });
        document.title = `${heading.textContent} – ${this.title}`;
        scrollTo({ top: 0, ...AT_ONCE });
        heading.focus({ preventScroll: true });
    }

    /** @param {number} index */
    subject(index) {
        const { meta, table, judging } = this;
        return {
            meta,
            table,
            index,
            shown: this.list.shown,
            of: (/** @type {number} */ i) => this.of(i),
            change: (/** @type {Partial<Filter>} */ change) => this.choose(change),
            ...judging.subject(index),
        };
    }

    /**
     * Other variants or another repeat of the open question.
     * @param {Partial<Filter>} change
     */
    async choose(change) {
        const focused = document.activeElement?.getAttribute("data-choice");
        const top = scrollY;
        this.change(change);
        await this.showQuestion(placeOf(location.hash));
        scrollTo({ top, ...AT_ONCE });
        const choices = /** @type {HTMLElement[]} */ ([...byId("question").querySelectorAll("[data-choice]")]);
        choices.find((own) => own.dataset["choice"] === focused)?.focus({ preventScroll: true });
    }

    /**
     * To the next question of the list, or the one before.
     * @param {"next" | "prev"} way
     */
    go(way) {
        if (this.open < 0) {
            this.list.move(way === "next" ? 1 : -1);
        } else {
            const link = /** @type {HTMLElement | null} */ (byId("question").querySelector(`a.${way}`));
            link?.click();
        }
    }

    up() {
        if (!byId("question").hidden) {
            location.hash = addressOf(withoutQueue(this.filter));
        }
    }

    find() {
        if (!byId("question").hidden) {
            this.open = -1;
            addEventListener("hashchange", () => setTimeout(() => this.search.input.focus()), { once: true });
            this.up();
        }
        this.search.input.focus();
        this.search.input.select();
    }
}

async function start() {
    addEventListener("error", (event) => complain(`This page failed: ${event.message}`));
    addEventListener("unhandledrejection", (event) => complain(`This page failed: ${reason(event.reason)}`));
    startTheme(document.getElementById("theme"));
    const dialog = /** @type {HTMLDialogElement} */ (byId("help"));
    document.getElementById("help-button")?.addEventListener("click", () => openHelp(dialog));
    const meta = /** @type {Meta} */ (JSON.parse(byId("wt-meta").textContent ?? ""));
    fillHelp(dialog, meta);
    const table = /** @type {Table} */ (await unpack(byId("wt-table").textContent ?? ""));
    const wrong = fault(table, meta);
    if (wrong) {
        throw new Error(wrong);
    }
    const page = new Page(meta, table);
    page.build();
    listenToOverview(page);
    listenForKeys(
        {
            j: () => page.go("next"),
            k: () => page.go("prev"),
            u: () => page.up(),
            d: () => moveToDifference(byId("question")),
            n: () => moveToStep(byId("question"), 1),
            p: () => moveToStep(byId("question"), -1),
            "/": () => page.find(),
            "?": () => openHelp(dialog),
        },
        (key) => page.judging.press(key),
    );
    addEventListener("hashchange", () => page.route());
    const main = /** @type {HTMLElement} */ (document.querySelector("main"));
    preparePrint(main);
    await page.route();
    if (meta.live) {
        showAges();
        setInterval(showAges, 1000);
        follow(page, main);
    }
    document.documentElement.dataset["ready"] = "";
}

start().catch((error) => {
    const old = typeof DecompressionStream === "undefined" ? " This browser is too old for the list; the tables above need nothing." : "";
    complain(`The questions cannot be shown: ${reason(error)}.${old}`);
    document.documentElement.dataset["ready"] = "";
});
