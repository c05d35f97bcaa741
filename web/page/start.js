// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* What the page has decides what it is. */
async function startFlame(page) {
	const look = await unpackJson("flame"), view = new FlameView(look, await loadTree(look, "flame"));
	const facts = [look.about, formatWeight(look.weight, look.unit) + " in all", `${look.frames - 1} frames`];
	page.replaceChildren(
		element("header", {}, element("h1", {}, look.title || "Flame graph"), themeButton(),
			element("p", { class: "muted", id: "flame-about" }, facts.filter(Boolean).join(" \u00b7 ")),
			look.notes.length ? element("ul", { class: "notes" }, look.notes.map(n => element("li", {}, n))) : null),
		view.element);
	view.graph.layout(true);
	/* keys work wherever the focus is */
	document.addEventListener("keydown", e => view.element.contains(e.target) || view.key(e));
	window.grtrace = { view };
}

addEventListener("DOMContentLoaded", async () => {
	const page = document.getElementById("page");
	try {
		await (hasBlock("report") ? startReport : startFlame)(page);
		document.documentElement.dataset.ready = Math.round(performance.now());
	} catch (e) {
		page.replaceChildren(element("p", { class: "error", role: "alert" }, e.message));
		throw e;
	}
});
