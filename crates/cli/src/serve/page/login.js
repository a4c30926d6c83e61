// The field for the token, where it did not come with the address.

import { element, failure, note, replace } from "./dom.js";

export function showLogin(place, error, enter) {
    const field = element("input", {
        type: "password",
        id: "token",
        autocomplete: "off",
        spellcheck: "false",
        required: true,
    });
    const submit = (event) => {
        event.preventDefault();
        if (field.value.trim() !== "") enter(field.value);
    };
    replace(
        place,
        element(
            "form",
            { class: "login card", on: { submit } },
            element("h1", { tabindex: -1 }, "exacta"),
            element("p", {}, "The shell you can hand to an AI agent."),
            error && failure(error),
            element("label", { for: "token" }, "Token"),
            field,
            element("button", { class: "primary" }, "Sign in"),
            note(
                "On the machine that runs it, ",
                element("code", {}, "exacta serve --print-token"),
                " prints the address of this page with the token in it. It is kept for this tab only.",
            ),
        ),
    );
    field.focus();
}
