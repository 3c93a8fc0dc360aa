// The form for a judgement of one episode.
import { choice, el } from "./dom.js";
import { judge, setJudge, withdrawn } from "./judgements.js";

/**
 * What a judgement says, without who said it.
 * @param {Label} label
 */
export function labelInWords({ correct, class: own, step }) {
    const verdict = correct === null ? "unsure" : correct ? "correct" : "wrong";
    return `${verdict}${own ? `, ${own}` : ""}${step === null ? "" : `, from step ${step}`}`;
}

/** @param {Judgement} made */
function judgementInWords(made) {
    return `${labelInWords(made)} (${made.by}${made.blind ? ", blind" : ""})`;
}

/**
 * @param {string} name
 * @param {Judgement | null} made
 */
function verdictField(name, made) {
    const answers = /** @type {[string, string, boolean | null][]} */ ([
        ["yes", "yes", true],
        ["no", "no", false],
        ["unsure", "unsure", null],
    ]);
    const radios = answers.map(([value, text, correct]) =>
        el("label", {}, el("input", { type: "radio", name, value, required: true, checked: made !== null && made.correct === correct }), ` ${text}`),
    );
    return el("fieldset", {}, el("legend", {}, "Is the answer correct?"), ...radios);
}

/**
 * @param {string} label
 * @param {string} value
 * @param {Record<string, string | number | boolean>} attributes
 */
function textField(label, value, attributes) {
    const input = el("input", { type: "text", ...attributes });
    input.value = value;
    return { input, label: el("label", { class: "choice" }, el("span", {}, label), input) };
}

/**
 * @param {HTMLElement} field
 */
function chosen(field) {
    return field.querySelector("select")?.value || null;
}

/**
 * What a key fills in, as in `wikitrail annotate`: right or wrong, a class, or the number of the step before them. Whether it
 * is such a key.
 * @param {HTMLFormElement} form
 * @param {Meta} meta
 * @param {string} key
 */
function press(form, meta, key) {
    const [why, step] = form.querySelectorAll("select");
    if (step && /^[1-9]$/.test(key)) {
        step.value = [...step.options].some(({ value }) => value === key) ? key : "";
        return true;
    }
    const plain = key === "y" || key === "n" ? { class: "", correct: key === "y" } : null;
    const meant = plain ?? meta.judgements.find((own) => own.key === key);
    if (!meant || !why) {
        return false;
    }
    why.value = meant.class;
    const value = meant.correct === null ? "unsure" : meant.correct ? "yes" : "no";
    form.querySelectorAll('input[type="radio"]').forEach((radio) => /** @type {HTMLInputElement} */ (radio).checked = radio.getAttribute("value") === value);
    form.requestSubmit();
    return true;
}

/**
 * Gives a key to the form that has the focus, else to the only one that is open. Whether it took it.
 * @param {HTMLElement} holder
 * @param {string} key
 */
export function pressInForm(holder, key) {
    const open = /** @type {HTMLElement[]} */ ([...holder.querySelectorAll(".judge[open]")]);
    const focused = open.find((own) => own.contains(document.activeElement)) ?? (open.length === 1 ? open[0] : null);
    const event = new CustomEvent("judge", { detail: key, cancelable: true });
    return focused?.querySelector("form")?.dispatchEvent(event) === false;
}

/**
 * @param {{meta: Meta, id: string, episode: Episode, variant: string, repeat: number, made: Judgement | null, blind: boolean, open: boolean, side: string}} subject
 * @param {(judgement: Judgement) => void} save
 */
export function judgeForm(subject, save) {
    const { meta, episode, made, side } = subject;
    const nothing = () => {};
    const names = meta.judgements.map(({ class: own, key }) => /** @type {[string, string]} */ ([own, `${own} (${key})`]));
    const verdict = verdictField(`correct-${side}`, made);
    const why = choice("Why wrong", [["", "–"], ...names], made?.class ?? "", nothing);
    const steps = episode.steps.map((step, i) => /** @type {[string, string]} */ ([String(i + 1), step.n]));
    const step = choice("First mistake in", [["", "–"], ...steps], made?.step ? String(made.step) : "", nothing);
    const note = textField("Note", made?.note ?? "", { maxlength: 2000 });
    const by = textField("Your name", made?.by ?? judge(), { required: true, maxlength: 80, pattern: "[^\\|]*[^\\s\\|][^\\|]*", title: "a name without |", autocomplete: "name" });
    const form = el("form", {}, verdict, why, step, note.label, by.label, el("button", {}, "Keep this judgement"));
    if (made) {
        form.append(el("button", { type: "button", class: "withdraw", click: () => save(withdrawn(made)) }, "Withdraw it"));
    }
    form.addEventListener("judge", (event) => press(form, meta, /** @type {CustomEvent} */ (event).detail) && event.preventDefault());
    form.addEventListener("input", () => note.input.setCustomValidity(""));
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        const answer = new FormData(form).get(`correct-${side}`);
        if (answer === "unsure" && !chosen(why) && !note.input.value.trim()) {
            note.input.setCustomValidity("Say what makes you unsure: a judgement that says nothing withdraws the one before.");
            note.input.reportValidity();
            return;
        }
        setJudge(by.input.value.trim());
        save({
            v: 1,
            key: episode.key,
            id: subject.id,
            variant: subject.variant,
            repeat: subject.repeat,
            by: by.input.value.trim(),
            at: new Date().toISOString(),
            correct: answer === "unsure" ? null : answer === "yes",
            class: chosen(why),
            step: Number(chosen(step)) || null,
            note: note.input.value.trim() || null,
            blind: subject.blind,
            page_sha256: meta.report,
            started_at: episode.started_at ?? undefined,
        });
    });
    const title = made ? `Your judgement: ${judgementInWords(made)}` : "Judge this episode";
    return el("details", { class: "judge", open: subject.open }, el("summary", { id: `judge-${side}` }, title), form);
}
