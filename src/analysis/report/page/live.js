// A run under `wikitrail view`: how far it is, and the page renewed in place. Nothing of it runs in a page from disk.
import { ago } from "./age.js";
import { controlsFor } from "./controls.js";
import { Chunks, fault, unpack } from "./decode.js";
import { complain, counted, el, thousands } from "./dom.js";
import { morph } from "./morph.js";
import { walk } from "./question.js";

/** How long after a renewal the next one comes at the earliest, and how often a lost server is looked for, in milliseconds. */
const PAUSE = 2000;

/**
 * Follows the run while the page is in sight.
 * @param {any} page the open page
 * @param {HTMLElement} main
 */
export function follow(page, main) {
    if (page.meta.live.events) {
        new Followed(page, main).open();
    }
}

/** The panel above the page, and the connection that fills it. */
class Followed {
    /**
     * @param {any} page
     * @param {HTMLElement} main
     */
    constructor(page, main) {
        this.page = page;
        /** @type {EventSource | null} */
        this.events = null;
        /** @type {News | null} */
        this.news = null;
        this.heard = 0;
        this.wasGoing = false;
        this.busy = false;
        this.waiting = 0;
        this.bar = el("progress", { max: "1", value: "0", "aria-label": "Episodes" });
        this.done = el("strong", { role: "status" });
        this.figures = el("span");
        this.failed = el("p", { class: "facts" });
        this.newest = el("ul", { class: "newest" });
        const fold = el("details", {}, el("summary", {}, "Newest episodes"), this.newest);
        const line = el("p", {}, this.bar, " ", this.done, " ", this.figures);
        this.panel = el("section", { class: "live", "aria-label": "Progress", hidden: true }, line, this.failed, fold);
        main.prepend(this.panel);
        setInterval(() => this.draw(), 1000);
        document.addEventListener("visibilitychange", () => (document.hidden ? this.close() : this.open()));
    }

    close() {
        clearTimeout(this.waiting);
        this.events?.close();
        this.events = null;
    }

    open() {
        this.close();
        const events = new EventSource(this.page.meta.live.events);
        this.events = events;
        events.addEventListener("message", (event) => {
            this.news = /** @type {News} */ (JSON.parse(event.data));
            this.heard = Date.now();
            this.wasGoing ||= this.news.going;
            this.draw();
            this.newest.replaceChildren(...this.news.newest.map(latest));
            this.catchUp();
        });
        events.addEventListener("error", () => {
            this.close();
            this.draw();
            this.waiting = setTimeout(() => this.find(), PAUSE);
        });
    }

    /** Looks for a server that was started again. */
    async find() {
        if (await isOurs()) {
            this.open();
        } else if (!document.hidden) {
            this.waiting = setTimeout(() => this.find(), PAUSE);
        }
    }

    draw() {
        const { news } = this;
        if (!news) {
            return;
        }
        this.panel.hidden = !this.wasGoing;
        this.bar.max = news.total || 1;
        this.bar.value = news.done;
        const done = `${thousands(news.done)} of ${thousands(news.total)} episodes`;
        if (this.done.textContent !== done) {
            this.done.textContent = done;
        }
        const age = news.age === null ? null : `last episode ${ago(news.age + (Date.now() - this.heard) / 1000)}`;
        const pace = news.going ? [news.rate, news.left && `about ${news.left} left`] : [news.done < news.total ? "stopped" : "the run has ended"];
        const lost = this.events === null && !document.hidden ? "the server does not answer; trying again" : null;
        this.figures.textContent = [...pace, news.cost && `${news.cost} so far`, age, lost].filter(Boolean).map((words) => `· ${words}`).join(" ");
        this.failed.textContent = news.failed === 0 ? "" : `${counted(news.failed, "episode")} not measured${news.reason ? `, most often: ${news.reason}` : ""}`;
    }

    /** Renews the page if it is older than what the server has. */
    async catchUp() {
        const { page } = this;
        if (this.busy || document.hidden || !this.news || this.news.version === page.meta.live.version) {
            return;
        }
        this.busy = true;
        const begun = performance.now();
        const { version } = this.news;
        const answer = await fetch(location.pathname).catch(() => null);
        try {
            if (answer?.ok) {
                await renew(page, new DOMParser().parseFromString(await answer.text(), "text/html"));
            }
        } catch (error) {
            // Until the next episode, as the same page would fail again.
            page.meta.live.version = version;
            complain(`The page is not renewed: ${error instanceof Error ? error.message : String(error)}. Reload it.`);
        }
        // A large page takes the server a while: most of its time is for others.
        const pause = Math.max(PAUSE, 4 * (performance.now() - begun));
        setTimeout(() => {
            this.busy = false;
            this.catchUp();
        }, pause);
    }
}

/**
 * Takes over what a newer version of this page has. The reader stays where they are: scroll, focus, open items, filter
 * and the open question.
 * @param {any} page
 * @param {Document} next
 */
async function renew(page, next) {
    const text = (/** @type {string} */ selector) => next.querySelector(selector)?.textContent ?? "";
    const own = "script[type=module]";
    if (text(own) !== document.querySelector(own)?.textContent) {
        // Another version of the program serves it now.
        location.reload();
        return;
    }
    const meta = /** @type {Meta} */ (JSON.parse(text("#wt-meta")));
    const table = /** @type {Table} */ (await unpack(text("#wt-table")));
    const wrong = fault(table, meta);
    if (wrong) {
        throw new Error(wrong);
    }
    const stay = holdPlace();
    for (const part of ["header.top nav", "#overview"]) {
        const [old, fresh] = [document.querySelector(part), next.querySelector(part)];
        if (old && fresh) {
            morph(old, fresh);
        }
    }
    renewList(page, meta, table);
    page.chunks = new Chunks((n) => next.querySelector(`script[data-chunk="${n}"]`)?.textContent ?? null);
    stay();
}

/** Remembers what is at the top of the window and has the focus; the result brings both back. */
function holdPlace() {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const parts = [...(document.getElementById("overview")?.children ?? [])];
    const top = (/** @type {Element} */ part) => part.getBoundingClientRect().top;
    const anchor = scrollY > 0 ? parts.find((part) => part.getBoundingClientRect().bottom > 60) : undefined;
    const before = anchor ? top(anchor) : 0;
    return () => {
        if (anchor?.isConnected) {
            scrollBy({ top: top(anchor) - before, behavior: "instant" });
        }
        if (focused?.isConnected && document.activeElement !== focused) {
            focused.focus({ preventScroll: true });
        }
    };
}

/**
 * The list with the new questions and answers: the first row in sight and the focused one stay what they are.
 * @param {any} page
 * @param {Meta} meta
 * @param {Table} table
 */
function renewList(page, meta, table) {
    const { list } = page;
    const identity = (/** @type {Table} */ of, /** @type {number | undefined} */ i) => (i === undefined || i < 0 ? "" : `${of.dataset[i]} ${of.id[i]}`);
    const first = Math.floor(list.scroller.scrollTop / list.rowHeight);
    const [top, open] = [identity(page.table, list.shown[first]), identity(page.table, page.open)];
    const row = document.activeElement?.closest("tr[data-place]")?.getAttribute("data-place");
    const focused = row ? identity(page.table, list.shown[Number(row)]) : "";
    const { scrollTop } = list.scroller;
    Object.assign(page.meta, meta);
    // Parts of the page hold the first table, and what is computed of a table is kept by table.
    page.first ??= page.table;
    Object.assign(page.first, table);
    page.table = table;
    list.table = table;
    page.ids.clear();
    table.id.forEach((id, i) => page.ids.set(id, [...(page.ids.get(id) ?? []), i]));
    page.open = table.id.findIndex((_, i) => identity(table, i) === open);
    const controls = el("div", { class: "controls" }, ...controlsFor(page.table, page.meta, page.filter, () => {}));
    if (!controls.isEqualNode(page.controls)) {
        page.drawControls();
    }
    page.drawList();
    if (page.open >= 0) {
        document.querySelector("#question nav.walk")?.replaceWith(walk(page.subject(page.open)));
    }
    const place = (/** @type {string} */ of) => list.shown.findIndex((/** @type {number} */ i) => identity(table, i) === of);
    list.scroller.scrollTop = scrollTop + (place(top) < 0 ? 0 : (place(top) - first) * list.rowHeight);
    list.draw();
    if (focused) {
        list.link(place(focused))?.focus({ preventScroll: true });
    }
}

/** Whether the server at this address knows the page's word: another program may have its port by now. */
async function isOurs() {
    const nonce = crypto.randomUUID();
    const answer = await fetch(`/proof/${nonce}`).catch(() => null);
    const known = new TextEncoder().encode((location.pathname.split("/")[1] ?? "") + nonce);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", known));
    const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return answer !== null && answer.ok && (await answer.text()).trim() === hex;
}

/** @param {{id: string, variant: string, right: boolean | null}} episode */
function latest({ id, variant, right }) {
    const sign = right === null ? "not measured" : right ? "✓ right" : "✗ wrong";
    return el("li", {}, `${id}, ${variant}: `, el("span", { class: right === null ? "neither" : right ? "right" : "wrong" }, sign));
}

/**
 * Sends judgements to the run's folder; what went wrong, or `null`.
 * @param {Live} live
 * @param {Judgement[]} judgements
 */
export async function send(live, judgements) {
    if (!(await isOurs())) {
        return "the server does not answer";
    }
    for (const judgement of judgements) {
        const headers = { "Content-Type": "application/json", "X-Wikitrail-Token": live.token };
        const answer = await fetch(live.annotations, { method: "POST", headers, body: JSON.stringify(judgement) }).catch(() => null);
        if (!answer?.ok) {
            return answer ? `the server answered ${answer.status}` : "the server does not answer";
        }
    }
    return null;
}
