// The list of questions: a table that has only the rows in sight, however many there are.
import { columnsOf } from "./columns.js";
import { counted, el, thousands } from "./dom.js";
import { headRow, questionRow } from "./rows.js";

/** Rows beyond each edge of what is in sight. */
const SPARE = 10;
/** Rows on paper. */
const PRINTED = 100;

/** The table, its place on the screen and what is in it. */
export class QuestionList {
    /**
     * @param {Table} table
     * @param {Meta} meta
     * @param {Pick<List, "hides" | "judged" | "of">} asks
     * @param {(order: string) => void} sort
     */
    constructor(table, meta, asks, sort) {
        this.table = table;
        this.meta = meta;
        this.asks = asks;
        this.sort = sort;
        /** @type {number[]} */
        this.shown = [];
        /** @type {Filter | null} */
        this.filter = null;
        /** @type {List["found"]} */
        this.found = new Map();
        this.rowHeight = 40;
        this.range = "";
        this.printing = false;
        this.count = el("p", { role: "status", class: "count" });
        this.searched = el("p", { role: "status", class: "count" });
        this.progress = el("progress", { "aria-label": "Search of the steps", hidden: true });
        this.body = el("tbody", { role: "rowgroup" });
        this.head = el("thead", { role: "rowgroup" });
        this.columns = el("colgroup");
        this.grid = el("table", { role: "table", "aria-label": "Questions" }, this.columns, this.head, this.body);
        this.scroller = el("div", { class: "rows", tabindex: "0", role: "region", "aria-label": "Questions, scrollable" }, this.grid);
        this.printed = el("p", { class: "on-paper" });
        this.listen();
    }

    listen() {
        let waiting = false;
        this.scroller.addEventListener("scroll", () => {
            if (!waiting) {
                waiting = true;
                requestAnimationFrame(() => {
                    waiting = false;
                    this.draw();
                });
            }
        });
        this.scroller.addEventListener("click", (event) => this.open(event));
        new ResizeObserver(() => this.draw()).observe(this.scroller);
        addEventListener("beforeprint", () => this.print(true));
        addEventListener("afterprint", () => this.print(false));
    }

    /**
     * A click anywhere in a row opens its question, unless text is being selected.
     * @param {MouseEvent} event
     */
    open(event) {
        const target = /** @type {Element} */ (event.target);
        if (!target.closest("a") && !String(getSelection())) {
            target.closest("tr")?.querySelector("a")?.click();
        }
    }

    /**
     * @param {number[]} shown
     * @param {Filter} filter
     * @param {List["found"]} found
     */
    show(shown, filter, found) {
        const top = Math.floor(this.scroller.scrollTop / this.rowHeight);
        const again = top > 0 ? shown.indexOf(this.shown[top] ?? -1) : -1;
        const same = shown.length === this.shown.length && shown.every((i, at) => i === this.shown[at]);
        if (filter !== this.filter) {
            this.layOut(filter);
            this.scroller.scrollTop = same ? this.scroller.scrollTop : 0;
        }
        const moved = filter === this.filter && again >= 0 ? again - top : 0;
        this.grid.setAttribute("aria-rowcount", String(shown.length + 1));
        this.shown = shown;
        this.filter = filter;
        this.found = found;
        this.count.textContent = `${thousands(shown.length)} of ${counted(this.table.id.length, "question")}`;
        this.refresh();
        if (moved !== 0) {
            // More was found while the reader is in the list: what is in sight stays there.
            this.scroller.scrollTop += moved * this.rowHeight;
        }
    }

    /**
     * The columns, their widths and heads.
     * @param {Filter} filter
     */
    layOut(filter) {
        const columns = columnsOf(this.table, this.meta, filter);
        const longest = this.table.id.reduce((most, id) => Math.max(most, id.length), 4);
        const width = (/** @type {Column} */ { kind, rem }) => (kind === "id" ? Math.min(longest * 0.5 + 1.8, rem) : rem);
        this.columns.replaceChildren(
            ...columns.map((column) => {
                const col = el("col");
                col.style.width = column.rem > 0 ? `${width(column)}rem` : "";
                return col;
            }),
        );
        this.grid.style.minWidth = `${columns.reduce((sum, column) => sum + width(column), 18)}rem`;
        const key = document.activeElement?.closest(".rows thead button")?.getAttribute("data-key");
        this.head.replaceChildren(headRow(columns, this.meta, filter.order, this.sort));
        const buttons = [...this.head.querySelectorAll("button")];
        buttons.find((button) => button.dataset["key"] === key)?.focus({ preventScroll: true });
    }

    /**
     * Whether the steps were searched, so that unsearched questions are not taken for questions without a match.
     * @param {import("./search.js").StepSearch} steps
     */
    report({ words, parts, left, unread, found }) {
        const more = this.shown.filter((i) => found.has(i)).length;
        const lacking = unread > 0 ? ` The steps of ${counted(unread, "question")} are not in this file: they were not searched.` : "";
        const done = `The steps were searched: they add ${more > 0 ? counted(more, "question") : "none"}.${lacking}`;
        const text = words.length === 0 ? "" : left > 0 ? "Searching the steps …" : done;
        if (this.searched.textContent !== text) {
            this.searched.textContent = text;
        }
        this.progress.hidden = words.length === 0 || left === 0;
        this.progress.max = parts || 1;
        this.progress.value = parts - left;
    }

    /** Draws the rows again, after a judgement for example. */
    refresh() {
        this.range = "";
        this.draw();
    }

    draw() {
        if (!this.filter || (this.scroller.clientHeight === 0 && !this.printing && this.range !== "")) {
            return;
        }
        const total = this.shown.length;
        const height = this.scroller.clientHeight || 600;
        const top = Math.min(Math.floor(this.scroller.scrollTop / this.rowHeight), Math.max(0, total - 1));
        const first = this.printing ? 0 : Math.max(0, top - SPARE);
        const last = Math.min(total, this.printing ? PRINTED : top + Math.ceil(height / this.rowHeight) + SPARE);
        const range = `${first}-${last}-${this.rowHeight}-${this.printing}`;
        if (range !== this.range) {
            this.range = range;
            this.fill(first, last);
            const tall = this.body.querySelector("tr[data-place]")?.getBoundingClientRect().height ?? 0;
            if (tall > 0 && Math.abs(tall - this.rowHeight) > 0.5) {
                this.rowHeight = tall;
                this.draw();
            }
        }
    }

    /**
     * @param {number} first
     * @param {number} last
     */
    fill(first, last) {
        const focused = document.activeElement?.closest("tr[data-question]")?.getAttribute("data-question");
        const filter = /** @type {Filter} */ (this.filter);
        const list = { table: this.table, meta: this.meta, filter, found: this.found, ...this.asks };
        const rows = this.shown.slice(first, last).map((i, at) => questionRow(list, i, first + at));
        const none = this.shown.length === 0 && el("tr", { role: "row" }, el("td", { role: "cell", class: "nothing", colspan: this.columns.childElementCount }, "No question matches these filters."));
        const left = this.printing ? 0 : this.shown.length - last;
        this.body.replaceChildren(this.gap(first), ...rows, ...(none ? [none] : []), this.gap(left));
        if (focused) {
            const again = /** @type {HTMLElement | null} */ (this.body.querySelector(`tr[data-question="${focused}"] a`));
            (again ?? this.scroller).focus({ preventScroll: true });
        }
    }

    /**
     * Room for rows that are not drawn.
     * @param {number} rows
     */
    gap(rows) {
        const cell = el("td", { colspan: this.columns.childElementCount });
        cell.style.height = `${rows * this.rowHeight}px`;
        return el("tr", { "aria-hidden": "true", class: "gap", hidden: rows === 0 }, cell);
    }

    /**
     * @param {number} place
     * @returns {HTMLElement | null}
     */
    link(place) {
        return this.body.querySelector(`tr[data-place="${place}"] a`);
    }

    /**
     * Brings the row at `place` into sight and puts the focus on it.
     * @param {number} place
     */
    focus(place) {
        if (place < 0 || place >= this.shown.length) {
            return;
        }
        const head = this.head.getBoundingClientRect().height;
        const top = place * this.rowHeight;
        const room = this.scroller.clientHeight - head - this.rowHeight;
        if (top < this.scroller.scrollTop || top > this.scroller.scrollTop + room) {
            this.scroller.scrollTop = Math.max(0, top - room / 2);
        }
        this.draw();
        this.link(place)?.focus({ preventScroll: true });
        this.scroller.scrollIntoView({ block: "nearest", behavior: "instant" });
    }

    /**
     * From the focused row to the next one or the one before.
     * @param {number} by
     */
    move(by) {
        const focused = document.activeElement?.closest("tr[data-place]")?.getAttribute("data-place");
        this.focus(focused ? Number(focused) + by : 0);
    }

    /** @param {boolean} printing */
    print(printing) {
        this.printing = printing;
        const rest = this.shown.length > PRINTED ? ` The first ${PRINTED} are printed.` : "";
        this.printed.textContent = `${this.count.textContent} match the filters.${rest}`;
        this.refresh();
    }
}
