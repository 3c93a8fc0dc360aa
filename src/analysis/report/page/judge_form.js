// The form for a judgement of one episode.
import { choice, el } from "./dom.js";
import { isBlind, judge, setJudge } from "./judgements.js";

/**
 * @param {Judgement} made
 */
export function judgementInWords(made) {
    const verdict = made.correct === null ? "unsure" : made.correct ? "correct" : "wrong";
    const step = made.step === null ? "" : `, from step ${made.step}`;
    return `${verdict}${made.class ? `, ${made.class}` : ""}${step} (${made.by}${made.blind ? ", blind" : ""})`;
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
 * @param {{meta: Meta, id: string, episode: Episode, variant: string, repeat: number, made: Judgement | null, side: string}} subject
 * @param {(judgement: Judgement) => void} save
 */
export function judgeForm(subject, save) {
    const { meta, episode, made, side } = subject;
    const nothing = () => {};
    const names = meta.judgements.map((name) => /** @type {[string, string]} */ ([name, name]));
    const verdict = verdictField(`correct-${side}`, made);
    const why = choice("Why wrong", [["", "–"], ...names], made?.class ?? "", nothing);
    const steps = episode.steps.map((step, i) => /** @type {[string, string]} */ ([String(i + 1), step.n]));
    const step = choice("First mistake in", [["", "–"], ...steps], made?.step ? String(made.step) : "", nothing);
    const note = textField("Note", made?.note ?? "", { maxlength: 2000 });
    const by = textField("Your name", made?.by ?? judge(), { required: true, maxlength: 80, pattern: "[^\\|]*[^\\s\\|][^\\|]*", title: "a name without |", autocomplete: "name" });
    const form = el("form", {}, verdict, why, step, note.label, by.label, el("button", {}, "Keep this judgement"));
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
            at: `${new Date().toISOString().slice(0, 19)}Z`,
            correct: answer === "unsure" ? null : answer === "yes",
            class: chosen(why),
            step: Number(chosen(step)) || null,
            note: note.input.value.trim() || null,
            blind: made ? made.blind : isBlind(),
            page_sha256: meta.report,
            started_at: episode.started_at ?? undefined,
        });
    });
    const title = made ? `Your judgement: ${judgementInWords(made)}` : "Judge this episode";
    return el("details", { class: "judge", open: isBlind() && !made }, el("summary", { id: `judge-${side}` }, title), form);
}
