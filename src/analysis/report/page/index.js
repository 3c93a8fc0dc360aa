// The list of runs under `wikitrail view`: sorted, searched, and compared by two ticks.
import { showAges } from "./age.js";
import { copyText, counted, el, unseen } from "./dom.js";
import { startTheme } from "./theme.js";

const ROW = "tr[data-run]";

/** @param {string} selector */
function rowsOf(selector = ROW) {
    return /** @type {HTMLTableRowElement[]} */ ([...document.querySelectorAll(selector)]);
}

/** @param {string} text */
function plain(text) {
    return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/**
 * Sorts the rows of each dataset by a column; rows without a value come last.
 * @param {HTMLTableCellElement} head
 */
function sortBy(head) {
    const first = head.dataset["order"] === "up" ? "ascending" : "descending";
    const other = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    document.querySelectorAll("th[aria-sort]").forEach((known) => known.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const key = (/** @type {HTMLTableRowElement} */ row) => row.cells[head.cellIndex]?.dataset["sort"] ?? "";
    for (const body of document.querySelectorAll("tbody")) {
        const rows = /** @type {HTMLTableRowElement[]} */ ([...body.querySelectorAll(ROW)]);
        rows.sort((a, b) => {
            const [one, two] = [key(a), key(b)];
            if (one === "" || two === "") {
                return Number(one === "") - Number(two === "");
            }
            const sign = order === "ascending" ? 1 : -1;
            return sign * (head.matches(".n") ? Number(one) - Number(two) : one.localeCompare(two, "en", { numeric: true }));
        });
        body.append(...rows);
    }
}

function addSorting() {
    for (const head of /** @type {NodeListOf<HTMLTableCellElement>} */ (document.querySelectorAll("th[data-order]"))) {
        if (head.dataset["order"]) {
            head.replaceChildren(el("button", { type: "button", class: "sort", click: () => sortBy(head) }, head.textContent));
        }
    }
}

function addSearch() {
    const count = el("p", { role: "status", class: "count" });
    const input = el("input", { type: "search", autocomplete: "off", input: () => search() });
    const search = () => {
        const words = plain(input.value).split(/\s+/).filter(Boolean);
        for (const row of rowsOf()) {
            const text = plain(`${row.closest("tbody")?.querySelector("th")?.textContent} ${row.textContent}`);
            row.hidden = !words.every((word) => text.includes(word));
        }
        for (const body of document.querySelectorAll("tbody")) {
            body.hidden = ![...body.querySelectorAll(ROW)].some((row) => !(/** @type {HTMLElement} */ (row).hidden));
        }
        const shown = rowsOf().filter((row) => !row.hidden).length;
        count.textContent = words.length > 0 ? `${shown} of ${counted(rowsOf().length, "variant")}` : "";
    };
    return [el("label", { class: "choice search" }, el("span", {}, "search"), input), count];
}

/** A box in each row, and the link to the page that compares those that are ticked. */
function addComparison() {
    const link = el("a", { class: "compare", hidden: true });
    const hint = el("p", { class: "facts" }, "Tick two rows to compare them.");
    const boxes = rowsOf().map((row) => {
        const name = row.dataset["run"] ?? "";
        const box = el("input", { type: "checkbox", "aria-label": `Compare ${name}`, change: () => draw() });
        box.value = name;
        row.cells[0]?.prepend(box);
        return box;
    });
    const draw = () => {
        const names = boxes.filter((box) => box.checked).map((box) => box.value);
        link.hidden = names.length < 2;
        hint.hidden = !link.hidden;
        link.href = `compare/${names.map(encodeURIComponent).join("%0A")}`;
        link.replaceChildren(`Compare ${names.length} variants`, unseen(`: ${names.join(", ")}`));
    };
    // A browser that comes back to the page may bring its ticks.
    addEventListener("pageshow", draw);
    return boxes.length > 1 ? [hint, link] : [];
}

startTheme(document.getElementById("theme"));
addSorting();
document.getElementById("tools")?.append(...addSearch(), ...addComparison());
document.addEventListener("click", (event) => {
    const button = /** @type {Element} */ (event.target).closest("button");
    const copied = button?.dataset["copy"];
    if (button && copied) {
        copyText(button, document.getElementById(copied)?.textContent ?? "");
    }
});
showAges();
setInterval(showAges, 1000);
document.documentElement.dataset["ready"] = "";
