// Not a module: it runs before the first paint, so that the page does not flash in the colours that were not chosen.
try {
    const chosen = localStorage.getItem("exacta-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
    // Storage may be switched off; the colours of the system remain.
}
