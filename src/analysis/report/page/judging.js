// Judging on this page: its tools below the list, the queue of a sample, and what other people said.
import { addressOf, placeOf } from "./address.js";
import { el, reason, saveFile } from "./dom.js";
import { openHelp } from "./help.js";
import { labelInWords, pressInForm } from "./judge_form.js";
import { isBlind, isWithdrawn, judge, Judgements, setBlind } from "./judgements.js";
import { send } from "./live.js";
import { agreements, isSameEpisode, nextOpen, sampled, withoutQueue } from "./queue.js";

/** @typedef {import("./main.js").Page} Page */
/** @typedef {import("./queue.js").Entry} Entry */

/** Judgements, and the episodes that are judged one after another. */
export class Judging {
    /** @param {Page} page */
    constructor(page) {
        this.page = page;
        this.meta = page.meta;
        this.table = page.table;
        this.judgements = new Judgements(page.meta.report);
        this.tools = el("div", { class: "tools" });
        /** Which sample the entries are of. */
        this.name = "";
        /** @type {Entry[]} */
        this.entries = [];
        /** The place of the open episode in the sample, from 1; 0 where none is judged. */
        this.at = 0;
        /** What was said of the episode before. */
        this.last = "";
    }

    /** The switch for blind judgements, the file of those made, and the sample. */
    draw() {
        const box = el("input", { type: "checkbox", change: () => this.hide(box.checked) });
        box.checked = isBlind();
        const { valid, kept } = this.judgements;
        const save = el("button", { type: "button", click: () => this.saveFile() }, `Save my judgements (${valid.length})`);
        const lost = "This browser keeps nothing for this page: save your judgements before you close it.";
        const [mine, others] = [valid.filter(({ by }) => by === judge()), [...this.meta.labels, ...valid].filter(({ by }) => by !== judge())];
        this.tools.replaceChildren(
            el("label", { class: "check" }, box, " Judge blind: hide variants and what the rules say until I have judged"),
            ...(this.judgements.made.size > 0 ? [save] : []),
            this.sampleForm(),
            ...agreements(mine, others).map((text) => el("p", { class: "facts" }, text)),
            ...(kept ? [] : [el("p", { class: "notice" }, lost)]),
        );
    }

    sampleForm() {
        const number = (/** @type {string} */ text, /** @type {string} */ value, /** @type {number} */ least) => {
            const input = el("input", { type: "number", min: least, step: "1", required: true, value });
            return { input, label: el("label", { class: "check" }, text, input) };
        };
        const [size, seed] = [number("Judge a sample of ", "20", 1), number(" seed ", "0", 0)];
        const form = el("form", { class: "sample", title: "The same episodes as wikitrail annotate RUN --sample N --seed S" }, size.label, seed.label, el("button", {}, "Start"));
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            location.hash = addressOf({ ...this.page.filter, sample: size.input.value, seed: seed.input.value, at: "" });
        });
        return form;
    }

    /** @param {boolean} blind */
    hide(blind) {
        setBlind(blind);
        this.page.list.refresh();
    }

    saveFile() {
        saveFile("annotations.jsonl", "application/x-ndjson", this.judgements.lines());
    }

    /**
     * Chooses the episodes of a sample.
     * @param {Filter} filter
     */
    async load({ sample, seed }) {
        const name = `${sample}/${seed}`;
        if (name === this.name) {
            return;
        }
        if (!/^[1-9]\d{0,8}$/.test(sample) || !/^\d{0,20}$/.test(seed)) {
            throw new Error("sample and seed are whole numbers, such as sample=20&seed=7");
        }
        if (this.meta.left_out > 0) {
            throw new Error("this file lacks the steps of some questions: write it with all, by a larger --max-size");
        }
        this.page.note.hidden = false;
        this.page.note.textContent = "Choosing the episodes of the sample …";
        const read = async (/** @type {number} */ index) => {
            const question = await this.page.episodes(index);
            if (!question) {
                throw new Error("this file lacks episodes");
            }
            return question;
        };
        const entries = await sampled(this.meta, this.table.id.length, read, Number(sample), BigInt(seed || "0").toString());
        [this.name, this.entries] = [name, entries];
    }

    /**
     * Whether this person has judged it, here or before.
     * @param {Entry} entry
     */
    isDone(entry) {
        const mine = (/** @type {Label} */ own) => own.by === judge() && isSameEpisode(own, entry);
        const here = [...this.judgements.made.values()].find(mine);
        return here ? !isWithdrawn(here) : this.meta.labels.some(mine);
    }

    /**
     * The place that an address names, else the first that is not judged; 0 where all are.
     * @param {string} at
     */
    place(at) {
        return this.entries[Number(at) - 1] ? Number(at) : this.next(0);
    }

    /** @param {number} from */
    next(from) {
        return nextOpen(this.entries, from, (entry) => this.isDone(entry));
    }

    /** How many are not judged. */
    get left() {
        return this.entries.filter((entry) => !this.isDone(entry)).length;
    }

    /**
     * What others said of an episode: in the run's folder, or in this browser under another name.
     * @param {Episode} episode
     * @returns {Label[]}
     */
    labels(episode) {
        return [...this.meta.labels, ...this.judgements.valid].filter((label) => label.by !== judge() && isSameEpisode(label, episode));
    }

    /**
     * What the view of a question asks about judgements.
     * @param {number} index
     */
    subject(index) {
        const { meta, table, judgements } = this;
        const entry = this.entries[this.at - 1];
        const queue = entry ? { at: this.at, count: this.entries.length, left: this.left, v: entry.v, last: this.last } : null;
        const name = (/** @type {number} */ v) => meta.variants[v]?.name ?? "";
        const id = table.id[index] ?? "";
        const made = (/** @type {number} */ v, /** @type {number} */ repeat) => judgements.of(name(v), repeat, id);
        return {
            filter: entry ? { ...this.page.filter, repeat: String(entry.repeat) } : this.page.filter,
            queue,
            made,
            sees: (/** @type {number} */ v, /** @type {number} */ repeat) => judgements.own(name(v), repeat, id).length > 0,
            hides: (/** @type {number} */ v, /** @type {number} */ repeat) => (isBlind() || queue !== null) && !made(v, repeat),
            labels: (/** @type {Episode} */ episode) => this.labels(episode),
            press: (/** @type {string} */ key) => void this.press(key),
            save: (/** @type {Judgement[]} */ own, /** @type {string} */ side) => void this.save(own, side),
        };
    }

    /**
     * An episode of a sample; the list again where there is none left or no sample.
     * @param {Filter} filter
     */
    async follow(filter) {
        try {
            await this.load(filter);
            const at = this.place(filter.at);
            const entry = this.entries[at - 1];
            if (entry) {
                const address = addressOf({ ...filter, at: String(at) }, this.table.id[entry.index] ?? "", this.page.of(entry.index));
                history.replaceState(null, "", address);
                const place = placeOf(address);
                this.page.filter = place.filter;
                this.at = at;
                await this.page.showQuestion(place);
                return;
            }
            this.end(`All ${this.entries.length} episodes of the sample are judged. ${this.last}`);
        } catch (error) {
            this.end(`This sample cannot be judged here: ${reason(error)}.`);
        }
    }

    /** @param {string} note */
    end(note) {
        const { page } = this;
        page.filter = withoutQueue(page.filter);
        history.replaceState(null, "", addressOf(page.filter));
        page.drawList();
        page.showOverview(placeOf(location.hash));
        page.note.hidden = false;
        page.note.textContent = note;
        page.note.scrollIntoView({ block: "nearest", behavior: "instant" });
    }

    /**
     * @param {Judgement[]} made
     * @param {string} side
     */
    async save(made, side) {
        const failed = await this.keep(made);
        const [first] = made;
        if (this.at > 0 && first && !isWithdrawn(first) && !failed) {
            const question = await this.page.episodes(this.page.open);
            const episode = question?.episodes.flat().find((own) => isSameEpisode(own, first));
            const rules = episode?.right === true ? "right" : episode?.right === false ? ["wrong", episode.class].filter(Boolean).join(", ") : "nothing";
            const others = (episode ? this.labels(episode) : []).map((label) => `; ${label.by}: ${labelInWords(label)}`);
            this.last = `${first.id}, ${first.variant}: you say ${labelInWords(first)}; the rules: ${rules}${others.join("")}.`;
            this.toPlace(this.next(this.at));
            return;
        }
        const top = scrollY;
        await this.page.showQuestion(placeOf(location.hash));
        scrollTo({ top, behavior: "instant" });
        const summary = document.getElementById(`judge-${side}`);
        summary?.focus({ preventScroll: true });
        if (failed) {
            summary?.after(el("p", { role: "alert", class: "complaint" }, `Kept in this browser, not in the run's folder: ${failed}.`));
        }
    }

    /**
     * Keeps judgements; why the run's folder has not got them, or `null`.
     * @param {Judgement[]} made
     */
    async keep(made) {
        this.judgements.add(made);
        this.draw();
        return this.meta.live?.token ? send(this.meta.live, made) : null;
    }

    /**
     * To a place of the queue; beyond its ends, to the list.
     * @param {number} at
     */
    toPlace(at) {
        if (this.entries[at - 1]) {
            location.hash = addressOf({ ...this.page.filter, at: String(at) }, this.table.id[this.entries[at - 1]?.index ?? 0] ?? "");
        } else if (this.left === 0) {
            this.end(`All ${this.entries.length} episodes of the sample are judged. ${this.last}`);
        } else {
            this.page.up();
        }
    }

    /** Takes the last judgement back, and returns to its episode. */
    async undo() {
        const before = this.judgements.undone();
        const [first] = before;
        if (first) {
            await this.keep(before);
            const at = this.entries.findIndex((entry) => isSameEpisode(entry, first)) + 1;
            this.last = `The judgement of ${first.id} is taken back.`;
            await (this.at > 0 && at > 0 && at !== this.at ? this.toPlace(at) : this.page.route());
        }
    }

    /**
     * A key that judges, or one of the queue. Whether it was one.
     * @param {string} key
     */
    press(key) {
        const place = this.at + (key === "b" ? -1 : 1);
        if (this.page.open < 0) {
            return false;
        } else if (key === "?") {
            openHelp(/** @type {HTMLDialogElement} */ (document.getElementById("help")));
        } else if (key === "z") {
            void this.undo();
        } else if (this.at > 0 && key === "q") {
            this.page.up();
        } else if (this.at > 0 && (key === "-" || key === "b")) {
            this.toPlace(Math.max(1, place));
        } else {
            return pressInForm(/** @type {HTMLElement} */ (document.getElementById("question")), key);
        }
        return true;
    }
}
