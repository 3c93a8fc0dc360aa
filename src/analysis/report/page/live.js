// A run that is still going, under `wikitrail view`. Nothing of it runs in a page from disk.
import { el, thousands } from "./dom.js";

/**
 * Follows the run and says above the page how far it is.
 * @param {Live} live
 * @param {HTMLElement} main
 */
export function follow(live, main) {
    if (live.ended) {
        return;
    }
    const bar = el("progress", { max: "1", value: "0", "aria-label": "Episodes" });
    const text = el("span", {}, "waiting for news of the run");
    const again = el("button", { type: "button", hidden: true, click: () => location.reload() }, "Reload with the new episodes");
    const newest = el("ul", { class: "newest", "aria-label": "Newest episodes" });
    main.prepend(el("section", { class: "live", "aria-label": "Progress" }, el("p", { role: "status" }, bar, " ", text, " ", again), newest));
    const events = new EventSource(live.events);
    events.addEventListener("message", (event) => {
        const news = JSON.parse(event.data);
        bar.max = news.total || 1;
        bar.value = news.done;
        text.textContent = `${thousands(news.done)} of ${thousands(news.total)} episodes`;
        // A connection that was made anew has not seen what the page lacks.
        again.hidden &&= !news.changed;
        newest.replaceChildren(...news.newest.map(latest));
        if (news.done >= news.total && news.total > 0) {
            events.close();
        }
    });
    events.addEventListener("error", () => {
        text.textContent = `${text.textContent?.replace(/ \(.*\)$/, "")} (the server does not answer)`;
    });
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
    for (const judgement of judgements) {
        const headers = { "Content-Type": "application/json", "X-Wikitrail-Token": live.token };
        const answer = await fetch(live.annotations, { method: "POST", headers, body: JSON.stringify(judgement) }).catch(() => null);
        if (!answer?.ok) {
            return answer ? `the server answered ${answer.status}` : "the server does not answer";
        }
    }
    return null;
}
