// fetch() with a time limit.

/**
 * fetch() that fails with a TimeoutError when no answer has begun after `ms` (0: no limit). `signal` aborts it, and the
 * reading of its body, at any time.
 * @param {number} ms @param {string} path @param {RequestInit} options @param {AbortSignal} [signal]
 */
export async function fetchWithin(ms, path, options, signal) {
    const controller = new AbortController();
    let isOver = false;
    const timer = ms === 0 ? 0 : setTimeout(() => {
        isOver = true;
        controller.abort();
    }, ms);
    if (signal?.aborted) controller.abort();
    signal?.addEventListener("abort", () => controller.abort());
    try {
        return await fetch(path, { ...options, signal: controller.signal });
    } catch (error) {
        throw isOver ? new DOMException("no answer came in time", "TimeoutError") : error;
    } finally {
        clearTimeout(timer);
    }
}
