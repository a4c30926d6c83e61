// Questions before something counts.

import { button, element } from "./dom.js";

/** Resolves to whether it is confirmed. `careful`: the safe answer has the focus, so that Enter alone does nothing. */
export function confirm({ title, body, action, danger = false, careful = false }) {
    return new Promise((resolve) => {
        const dialog = element("dialog", { "aria-labelledby": "dialog-title" });
        const finish = (isConfirmed) => {
            resolve(isConfirmed);
            dialog.close();
        };
        const yes = button(action, () => finish(true), { class: danger ? "danger" : "primary", data: { confirm: "" } });
        const no = button("Cancel", () => finish(false));
        dialog.append(
            element("h2", { id: "dialog-title" }, title),
            element("div", { class: "dialog-body" }, body),
            element("div", { class: "dialog-actions" }, no, yes),
        );
        present(dialog, () => resolve(false));
        (careful ? no : yes).focus();
    });
}

/** Something to read. */
export function tell(title, body) {
    const dialog = element("dialog", { "aria-labelledby": "dialog-title" });
    const close = button("Close", () => dialog.close(), { class: "primary" });
    dialog.append(
        element("h2", { id: "dialog-title" }, title),
        element("div", { class: "dialog-body" }, body),
        element("div", { class: "dialog-actions" }, close),
    );
    present(dialog);
    close.focus();
}

export function isAsking() {
    return document.querySelector("dialog[open]") !== null;
}

/** What has no answer yet is not to be answered on a page that shows something else. */
export function dismiss() {
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
}

function present(dialog, closed = () => {}) {
    const before = document.activeElement;
    dialog.addEventListener("close", () => {
        closed();
        dialog.remove();
        if (before?.isConnected) before.focus();
    });
    document.body.append(dialog);
    dialog.showModal();
}
