// A log as a line: where compactions, forks, runs and failures are, and a handle that goes to any entry.
import { ending, h, listen } from "./h.js";
import { number } from "./words.js";

const colours = { compaction: "--s3", replace: "--s6", fork: "--s4", run_started: "--s1", run_failed: "--bad", run_cancelled: "--warn", document: "--s2", erasure: "--bad" };
const words = { compaction: "compaction", fork: "fork", run_started: "run", run_failed: "failed run", document: "document" };
const tall = new Set(["compaction", "run_failed", "fork"]);

/** @param {{go: (seq: number) => void}} o */
export function scrubber(o) {
    let rev = 0, marks = /** @type {{mark: string, seqs: number[]}[]} */ ([]), timer = 0, latest = -1;
    const ticks = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "ticks", "aria-hidden": "true" }));
    const range = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Entry", class: "scrub" }));
    const legend = h("p", { class: "legend quiet" });
    const element = h("div", { class: "scrubber" }, ticks, range, legend);

    // While the handle is dragged, the server is asked at most every 80 ms; only the last position counts.
    listen(range, "input", () => {
        latest = Number(range.value);
        say(latest);
        if (!timer) timer = window.setTimeout(() => { timer = 0; o.go(latest); }, 80);
    });
    ending(() => clearTimeout(timer));
    const say = (seq) => range.setAttribute("aria-valuetext", `entry ${number(seq)} of ${number(rev)}`);

    function draw() {
        const width = ticks.clientWidth, height = ticks.clientHeight, scale = devicePixelRatio || 1;
        if (width === 0) return;
        ticks.width = width * scale;
        ticks.height = height * scale;
        const pen = ticks.getContext("2d"), style = getComputedStyle(element);
        pen.scale(scale, scale);
        for (const { mark, seqs } of marks) {
            if (!colours[mark]) continue;
            pen.fillStyle = style.getPropertyValue(colours[mark]);
            const top = tall.has(mark) ? 0 : height / 2;
            // The handle of the slider is 16 px wide; its middle is at the value.
            for (const seq of seqs) pen.fillRect(8 + (rev > 1 ? seq / (rev - 1) : 0) * (width - 16) - 1, top, 2, height - top);
        }
    }
    const watch = new ResizeObserver(draw);
    watch.observe(ticks);
    ending(() => watch.disconnect());

    function set(n, list) {
        rev = n;
        marks = list;
        range.max = String(Math.max(0, n - 1));
        // For a long log the server returns one mark for each part: there may be more.
        legend.replaceChildren(...list.filter((m) => words[m.mark]).map((m) => {
            const sign = h("span", { class: "tick", "aria-hidden": "true" });
            sign.style.setProperty("background", `var(${colours[m.mark]})`);
            return h("span", null, sign, `${words[m.mark]} ${number(m.seqs.length)}${n > 1000 ? "+" : ""}`);
        }));
        draw();
    }

    function at(seq) {
        range.value = String(seq);
        say(seq);
    }

    return { element, set, at };
}
