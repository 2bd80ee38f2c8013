// Runs before the modules, as a plain script, and shows a message when the page does not start. Without it, a module that
// cannot be loaded, or an error before the first screen, would leave an empty window.
(() => {
    const starting = () => document.getElementById("starting");

    function say(why) {
        const place = starting();
        if (!place) return; // the page has started, and shows errors itself
        const again = document.createElement("button");
        again.type = "button";
        again.className = "primary";
        again.textContent = "Load it again";
        again.addEventListener("click", () => location.reload());
        const title = document.createElement("h1"), text = document.createElement("p"), help = document.createElement("p");
        title.textContent = "The page could not be started";
        text.textContent = why;
        help.textContent = "Is the server running? In the workspace, heddle open starts it and makes a new link.";
        place.classList.add("failed");
        place.setAttribute("role", "alert");
        place.replaceChildren(title, text, help, again);
    }

    // Load errors of elements do not bubble: listen in the capture phase.
    addEventListener("error", (event) => {
        const from = event.target;
        if (from instanceof HTMLScriptElement || from instanceof HTMLLinkElement) say(`A part of it did not arrive: ${new URL(from.getAttribute("src") ?? from.getAttribute("href") ?? "", location.href).pathname}`);
        else say(event.message || "A part of it did not arrive.");
    }, true);
    addEventListener("unhandledrejection", (event) => say(String(event.reason?.message ?? event.reason)));
})();
