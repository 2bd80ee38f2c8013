// News of the workspace: one stream for all tabs of a browser.
//
// The tab that holds the lock reads the stream and forwards the events to the others over a channel. When it
// is closed, another tab gets the lock and continues after the last event that it knows. When it is open but
// sends nothing (it hangs, or the browser has frozen it), another tab steals the lock. Where the browser has no
// locks (an address that is neither loopback nor TLS), every tab reads its own stream.
import { saw, textLines } from "./api.js";
import { effect, ending, signal } from "./h.js";
import { entered, refused, secret } from "./session.js";

/** @typedef {{state: "starting" | "live" | "offline" | "out", since: number}} LiveState */
/** The state of the stream. @type {ReturnType<typeof signal<LiveState>>} */
export const status = signal(/** @type {LiveState} */ ({ state: "starting", since: Date.now() }));

const longest = 30_000, shortest = 1000;
const silence = 45_000; // the server sends a comment every 15 seconds
const heard = new Set();
let lastId = "", channel = null, leads = false, backoff = shortest, stop = /** @type {AbortController | null} */ (null), wake = () => {}, heardAt = Date.now();

/**
 * Calls f with {thread, rev, kinds} for every change, and with {reset: true} when what is shown has to be read
 * again. Ends with the scope.
 */
export function onChange(f) {
    heard.add(f);
    ending(() => heard.delete(f));
}

/** Whether this tab is the one that reads the stream. */
export const isLeader = () => leads;

function tell(message) {
    take(message);
    channel?.postMessage(message);
}

function take(message) {
    const was = status().state;
    heardAt = Date.now();
    if (message.id) lastId = message.id;
    if (message.status) status.set(message.status);
    // Reads may have failed while the server was away: have the screens read again.
    if (was === "offline" && status().state === "live" && !message.change) message = { ...message, change: { reset: true } };
    if (message.change) saw(message.change.thread, message.change.rev);
    if (message.change) for (const f of [...heard]) f(message.change);
}

function say(state) {
    const now = status();
    if (now.state !== state) tell({ status: { state, since: Date.now() } });
}

/** One event of the stream: its name, id and data. */
function handle(event) {
    const id = event.id || lastId;
    if (event.name === "hello") {
        backoff = shortest;
        tell({ id });
        say("live");
    } else if (event.name === "reset") {
        backoff = shortest;
        say("live");
        tell({ id, change: { reset: true } });
    } else if (event.name === "change") {
        tell({ id, change: JSON.parse(event.data) });
    }
}

/** Splits lines into events. */
export function eventReader(handler) {
    let name = "message", id = "", data = [];
    return (line) => {
        if (line === "") {
            if (data.length > 0 || name !== "message") handler({ name, id, data: data.join("\n") });
            name = "message";
            id = "";
            data = [];
            return;
        }
        const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line);
        if (field === "event") name = value;
        else if (field === "id") id = value;
        else if (field === "data") data.push(value);
    };
}

async function readOnce() {
    const mine = secret();
    const mineStop = new AbortController();
    stop = mineStop;
    // The server sends comments when there is no news: without them the connection is dead.
    let last = Date.now();
    const watch = setInterval(() => Date.now() - last > silence && mineStop.abort(), 5000);
    try {
        const headers = { "Accept": "text/event-stream", "X-Heddle": mine };
        if (lastId) headers["Last-Event-ID"] = lastId;
        const answer = await fetch("/api/events", { headers, signal: mineStop.signal });
        if (answer.status === 401) return refused(mine);
        if (!answer.ok) return;
        const feed = eventReader(handle);
        for await (const line of textLines(answer.body)) {
            last = Date.now();
            if (line.startsWith(":")) tell({}); // tells the other tabs that this one works
            feed(line);
        }
    } catch {
        // the connection failed or ended: the loop tries again
    } finally {
        clearInterval(watch);
    }
}

/** Reads until another tab steals the lock. */
async function read() {
    leads = true;
    while (leads) {
        if (entered()) await readOnce();
        if (!leads) break;
        say(entered() ? "offline" : "out");
        if (!entered()) await new Promise((done) => (wake = () => done(null)));
        else await new Promise((done) => { wake = () => done(null); setTimeout(done, backoff); });
        backoff = Math.min(backoff * 2, longest);
    }
}

const lockName = `heddle-live-${location.port}`;

/** Waits for the lock and reads; when another tab steals it, waits again. */
async function lead(options = {}) {
    try {
        await navigator.locks.request(lockName, options, read);
    } catch {
        leads = false; // it was stolen, because this tab was silent for too long
        stop?.abort();
        wake();
        heardAt = Date.now();
        setTimeout(lead, shortest);
    }
}

/** Steals the lock when the tab that holds it is silent. */
function watchLeader() {
    if (leads || !entered() || document.hidden || Date.now() - heardAt < 2 * silence) return;
    heardAt = Date.now();
    lead({ steal: true });
}

/** Begins to listen. */
export function start() {
    if (navigator.locks && window.BroadcastChannel) {
        channel = new BroadcastChannel(lockName);
        channel.onmessage = ({ data }) => {
            if (data.ask && leads) channel.postMessage({ id: lastId, status: status() });
            else if (!data.ask) take(data);
        };
        channel.postMessage({ ask: true });
        lead();
        setInterval(watchLeader, 5000);
    } else {
        read();
    }
    effect(() => {
        if (!entered()) return;
        backoff = shortest;
        wake();
    });
    addEventListener("online", () => wake());
}
