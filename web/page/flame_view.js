// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The flame graph of a page: what can be chosen, the legend, the graph or the callers and callees of one name,
 * what the mouse is at, and the names that weigh most.
 */
const HEAVIEST = 100, HEAVIEST_FIRST = 15;
const KEYS = "click or Enter: zoom \u00b7 Backspace: out \u00b7 Esc: all \u00b7 arrows: move \u00b7 /: search \u00b7 " +
	"f: flip \u00b7 i: invert \u00b7 s: callers and callees \u00b7 c: copy the stack";

class FlameView {
	constructor(look, tree) {
		this.look = look;
		this.whole = tree;
		this.hide = tree.names.kinds.some((k, i) => k.name === "interpreter" && tree.names.kind.includes(i));
		this.group = "";
		this.mode = "graph";
		this.text = "";
		this.graph = new FlameCanvas(at => this.tell(this.graph, at), () => this.showFound());
		this.callers = new FlameCanvas(at => this.tell(this.callers, at), () => {});
		this.callees = new FlameCanvas(at => this.tell(this.callees, at), () => {});
		this.callers.flipped = true;
		this.callers.share = this.callees.share = 0.34;
		this.element = element("section", { class: "flame-view" }, this.head(), this.legend(), this.panes(),
			this.heaviest());
		this.element.addEventListener("keydown", e => this.key(e));
		this.rebuild();
	}

	/* ------------------------------------------------------ parts */

	head() {
		this.input = element("input", { type: "search", id: "flame-input", placeholder: "search: regular expression",
			"aria-label": "search", spellcheck: "false", oninput: () => this.search(this.input.value) });
		this.matched = element("span", { class: "muted", id: "flame-matched", role: "status" });
		this.modes = ["graph", "inverted"].map(mode => button(mode === "graph" ? "Flame graph" : "Inverted",
			mode === "graph" ? "callers above what they call" : "innermost frames first, below them their callers",
			() => this.setMode(mode)));
		const groups = this.groups();
		return element("div", { class: "bar" }, element("div", { class: "buttons" }, this.modes),
			groups.length > 1 ? choice("by", groups, value => { this.group = value; this.rebuild(); }) : null,
			button("Flip", "root at the bottom or on top (f)", () => this.shown().flip()),
			this.hide ? element("label", { class: "choice" }, element("input", { type: "checkbox",
				id: "flame-interpreter",
				onchange: e => { this.hide = !e.target.checked; this.rebuild(); } }),
			" interpreter's frames") : null,
			this.reset = button("Reset", "all of it (Esc)", () => this.clear()),
			this.input, this.matched);
	}

	/* What is seen of these colours. */
	legend() {
		const { kinds, kind } = this.whole.names, seen = new Set(kind);
		if (this.look.before)
			return element("ul", { class: "legend" },
				element("li", {}, element("i", { class: "grown" }), "share has grown"),
				element("li", {}, element("i", { class: "shrunk" }), "share has shrunk"));
		return element("ul", { class: "legend", id: "flame-legend" }, kinds.map((k, i) =>
			seen.has(i) ? element("li", {}, swatch(`rgb(${k.colour.join()})`), k.help) : null));
	}

	panes() {
		this.single = element("div", {}, this.graph.box);
		this.title = element("strong", {});
		this.double = element("div", { hidden: true }, element("p", { class: "sandwich" },
			"Callers of ", this.title, ", and below what it calls. ",
			button("Back", "the whole graph (Esc)", () => this.setMode("graph"))),
		this.callers.box, this.callees.box);
		this.details = element("div", { class: "details", id: "flame-details", "aria-live": "polite" });
		return [this.single, this.double, this.details];
	}

	heaviest() {
		this.table = element("tbody", {});
		const heads = [["itself", "self"], ["", "self"], ["with callees", "total"], ["", "total"]];
		if (this.look.before)
			heads.push(["change", "change"]);
		return element("details", { class: "heaviest", open: true },
			element("summary", {}, "Heaviest frames"), element("div", { class: "wide" }, element("table", { id: "heaviest" },
				element("thead", {}, element("tr", {}, heads.map(([text, key]) => element("th", { scope: "col" },
					text ? button(text, "sort by this", () => this.fillTable(key)) : "share")),
				element("th", { class: "name", scope: "col" }, "frame: click for its callers and callees"))),
				this.table)));
	}

	/* ------------------------------------------------- what is shown */

	/* The frames that stacks can be put on, of those that the tree has. */
	groups() {
		const levels = this.look.levels ? this.look.levels.split(" ") : [];
		const seen = new Set(Array.from(this.whole.names.kind, i => this.whole.names.kinds[i].name));
		const out = [["", levels.length ? levels.join(", ") : "as recorded"]];
		levels.slice(1).forEach((level, i) => out.push(["level " + (i + 2), level]));
		if (["gpu", "gpu_kernel", "gpu_copy"].some(name => seen.has(name)))
			out.push(["gpu", "device, ring, stream"]);
		if (["running", "runnable", "lock"].some(name => seen.has(name)))
			out.push(["state", "state"]);
		return out;
	}

	groupBy(tree) {
		const { names } = tree, added = new Map();
		const kindOf = i => tree.name[i] === NO_NAME ? "" : names.kinds[names.kind[tree.name[i]]].name;
		const named = text => {
			if (!added.has(text)) {
				const at = names.text.indexOf(text);
				added.set(text, at >= 0 ? at : names.text.push(text) - 1);
				names.kind = Uint8Array.from({ length: names.text.length }, (_, i) =>
					names.kind[i] ?? names.kinds.findIndex(k => k.name === (text.startsWith("[GPU") ? "gpu" : "unknown")));
			}
			return added.get(text);
		};
		const up = (i, wanted) => {
			for (; i > 0; i = tree.parent[i])
				if (wanted(i))
					return i;
			return -1;
		};
		const level = Number(this.group.split(" ")[1]);
		const path = i => {
			const out = [];
			for (; i > 0; i = tree.parent[i])
				out.unshift(i);
			return out;
		};
		const finders = {
			gpu: i => {
				const ring = up(i, k => kindOf(k) === "gpu");
				const leaf = up(i, k => kindOf(k).startsWith("gpu_") && kindOf(k) !== "gpu_wait");
				const number = leaf > 0 && /^\[GPU(\d*)/.exec(names.text[tree.name[leaf]])[1];
				return ring > 0 ? tree.name[ring] : named(leaf > 0 ? `[GPU${number ? " " + number : ""}]` : "[no GPU]");
			},
			state: i => {
				const at = up(i, k => /^\[[a-z]+\]$/.test(names.text[tree.name[k]]));
				return at > 0 ? tree.name[at] : named("[no state]");
			},
			level: i => {
				const at = path(i)[level - 1];
				return at ? tree.name[at] : named("[unknown]");
			},
		};
		return grouped(tree, finders[this.group.split(" ")[0]]);
	}

	/* Of another time: the same frames with other weights. */
	reweigh(self) {
		const { names, name, parent } = this.first || this.whole;
		this.first = this.first || this.whole;
		this.whole = self ? new Tree(names, name, parent, self, null) : this.first;
		this.rebuild();
	}

	rebuild() {
		let tree = this.hide ? withoutInterpreter(this.whole) : this.whole;
		if (this.group)
			tree = this.groupBy(tree);
		this.tree = tree;
		this.inverse = null;
		this.sums = tree.byName();
		this.fillTable("self");
		this.setMode(this.mode === "inverted" ? "inverted" : "graph");
		if (this.text)
			this.search(this.text);
	}

	shown() {
		return this.mode === "callers" ? this.callees : this.graph;
	}

	setMode(mode) {
		this.mode = mode;
		this.single.hidden = mode === "callers";
		this.double.hidden = mode !== "callers";
		this.modes.forEach((b, i) => b.setAttribute("aria-pressed", mode === ["graph", "inverted"][i]));
		if (mode === "inverted")
			this.inverse = this.inverse || inverted(this.tree);
		if (mode !== "callers")
			this.graph.show(mode === "inverted" ? this.inverse : this.tree);
		this.graph.canvas.setAttribute("aria-label", `${mode === "inverted" ? "inverted " : ""}flame graph of ` +
			`${this.tree.size - 1} frames; the table below has the heaviest ones`);
		this.tell(this.shown(), null);
		this.showFound();
	}

	sandwich(name) {
		if (name === NO_NAME)
			return;
		this.setMode("callers");
		this.title.textContent = this.tree.names.whole(name);
		this.callers.show(callersOf(this.tree, name));
		this.callees.show(calleesOf(this.tree, name));
		this.callees.canvas.focus({ preventScroll: true });
		this.double.scrollIntoView({ block: "nearest" });
		this.tell(this.callees, 0);
	}

	/* Of all, and of what one zoomed into. */
	tell(canvas, at) {
		const { unit } = this.look, all = this.tree.total[0], parts = [];
		this.details.replaceChildren();
		if (at === null)
			return void this.details.append(element("span", { class: "muted" }, KEYS));
		if (typeof at === "object") {
			return void this.details.append(`${at.frames} frames that are too narrow here: ` +
				`${formatWeight(at.weight, unit)}, ${formatShare(at.weight, all)}. Zoom in to see them.`);
		}
		const tree = canvas.tree, self = tree.selfOf(at), zoomed = tree.total[canvas.zoomed];
		const source = tree.names.source[tree.name[at]];
		parts.push(`${formatWeight(tree.total[at], unit)}, ${formatShare(tree.total[at], all)}`);
		if (canvas.zoomed && at !== canvas.zoomed)
			parts.push(`${formatShare(tree.total[at], zoomed)} of the frame zoomed into`);
		if (self && self !== tree.total[at])
			parts.push(`itself ${formatWeight(self, unit)}, ${formatShare(self, all)}`);
		if (tree.before) {
			const change = canvas.change(at);
			parts.push(`${change < 0 ? "" : "+"}${change.toFixed(2)} points, was ` +
				formatShare(tree.before[at], tree.before[0]));
		}
		this.details.append(element("span", { class: "frame" }, tree.names.whole(tree.name[at])), " ",
			...(source ? [source, " "] : []), element("span", { class: "muted" }, parts.join("; ")));
	}

	/* -------------------------------------------------- search, table */

	/* A pattern of small letters finds large ones, too. */
	search(text) {
		this.text = text;
		this.hit = null;
		this.wrong = false;
		try {
			if (text)
				this.hit = this.tree.names.matching(new RegExp(text, text === text.toLowerCase() ? "i" : ""));
		} catch (e) {
			this.wrong = true;
		}
		for (const canvas of [this.graph, this.callers, this.callees])
			canvas.search(this.hit);
		this.showFound();
	}

	showFound() {
		let text = this.wrong ? "no regular expression" : "";
		if (this.hit) {
			const top = this.mode === "graph" ? this.graph.zoomed : 0, n = this.tree.matched(this.hit, top);
			text = `${n.frames} matched: ${formatShare(n.weight, this.tree.total[top])}`;
		}
		this.matched.textContent = text;
	}

	fillTable(order) {
		const { self, total, before } = this.sums, { unit } = this.look, all = this.tree.total[0];
		const share = (part, whole) => whole ? 100 * part / whole : 0;
		const change = before ? Float64Array.from(total, (t, i) => share(t, all) - share(before[i], this.tree.before[0])) : null;
		const by = { self, total, change }[order];
		const names = Array.from(self.keys()).filter(i => total[i] || (before && before[i]));
		names.sort((a, b) => by[b] - by[a] || total[b] - total[a] || a - b);
		const most = this.every ? HEAVIEST : HEAVIEST_FIRST;
		this.table.replaceChildren(...names.slice(0, most).map(i => element("tr", {},
			element("td", {}, formatWeight(self[i], unit)), element("td", { class: "muted" }, formatShare(self[i], all)),
			element("td", {}, formatWeight(total[i], unit)), element("td", { class: "muted" }, formatShare(total[i], all)),
			change ? element("td", {}, (change[i] < 0 ? "" : "+") + change[i].toFixed(2)) : null,
			element("td", { class: "name" }, button(shortName(this.tree.names.whole(i)), this.tree.names.whole(i), () => this.sandwich(i))))));
		if (names.length > most)
			this.table.append(element("tr", {}, element("td", { class: "muted name", colspan: change ? 6 : 5 },
				`${names.length - most} more frames have less. `, this.every ? null :
					button(`Show ${Math.min(HEAVIEST, names.length)}`, "", () => { this.every = true; this.fillTable(order); }))));
	}

	/* ------------------------------------------------------ keyboard */

	clear() {
		this.input.value = "";
		this.search("");
		this.setMode(this.mode === "inverted" ? "inverted" : "graph");
		this.graph.canvas.focus({ preventScroll: true });
	}

	key(event) {
		if (event.ctrlKey || event.altKey || event.metaKey)
			return;
		const typing = event.target === this.input, canvas = this.shown();
		const at = canvas.current === null ? canvas.zoomed : canvas.current;
		const keys = {
			Escape: () => this.clear(),
			"/": () => this.input.focus(),
			f: () => canvas.flip(),
			i: () => this.setMode(this.mode === "inverted" ? "graph" : "inverted"),
			s: () => this.sandwich(canvas.tree.name[at]),
			c: () => copyText(canvas.stack(at).join("\n")),
		};
		if (typing && event.key === "Enter")
			return void canvas.canvas.focus({ preventScroll: true });
		if ((typing && event.key !== "Escape") || (!typing && /^(INPUT|SELECT|BUTTON|SUMMARY)$/.test(event.target.tagName) &&
			event.key.length > 1 && event.key !== "Escape"))
			return;
		if (Object.prototype.hasOwnProperty.call(keys, event.key))
			keys[event.key]();
		else if (!canvas.key(event.key))
			return;
		event.preventDefault();
	}
}
