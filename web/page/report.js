// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The page of `grtrace report -o FILE.html`: what happened in a sentence and some figures, the time axis, why
 * the GPU was idle, the worst of everything, the flame graphs, and how all of it was measured. Every figure is
 * one of the report's; the page shows whatever tables there are.
 */
const field = (sections, name, key) => {
	const section = sections.find(s => s.fields === name), found = section && section.list.find(f => f.name === key);
	return found ? plain(found.value) : null;
};

/* Which part of the page a table belongs to, by its name; others are sums. */
const PARTS = [
	["idle", "Why the GPU was idle", /idle|gap/],
	["worst", "The slowest", /^(frame|step|rank|jobs|waits?|xids?|worst)/],
	["sums", "Where the time went", /./],
];

/* Which of them come first. */
const FIRST = ["frame_clients", "frames", "step_ranks", "steps", "ranks", "jobs", "waits"];

function partOf(section) {
	return PARTS.find(([, , pattern]) => pattern.test(section.table))[0];
}

/* Ranks of a program without collectives, or without steps, have nothing to be compared by. */
const COMPARED = { ranks: "collectives", step_ranks: "steps" };

function saysSomething(section) {
	const i = section.columns.findIndex(c => c.key === COMPARED[section.table]);
	return section.rows.length && (i < 0 || section.rows.some(row => Number(plain(row[i]))));
}

class ReportPage {
	constructor(sections, lanes) {
		this.sections = sections;
		this.tables = sections.filter(s => s.table && saysSomething(s));
		this.lanes = lanes;
		this.origin = lanes.from;
		this.views = this.tables.map(s => new ReportTable(s, this.origin, (from, to) => this.zoomTo(from, to),
			coloursOf(lanes.causes)));
		lanes.lanes.push(...lanesOfTables(this.views, lanes));
		this.timeline = new Timeline(lanes, (from, to) => this.zoomed(from, to));
		this.listeners = [];
	}

	zoomed(from, to) {
		for (const listener of this.listeners)
			listener(from, to);
	}

	/* A row's time in the middle third. */
	zoomTo(from, to) {
		const margin = Math.max(to - from, 1000);
		this.timeline.zoom(from - margin, to + margin);
		this.timeline.element.scrollIntoView({ block: "nearest", behavior: "smooth" });
	}

	/* ------------------------------------------------------ the head */

	get name() {
		const command = field(this.sections, "recording", "command") || "";
		return command.split(" -- ")[1] || field(this.sections, "recording", "path") || "recording";
	}

	head() {
		const get = key => field(this.sections, "recording", key);
		const facts = [get("host"), get("kernel") && "Linux " + get("kernel"), get("span") && formatNs(get("span")),
			this.events()];
		return element("header", {}, element("h1", {}, this.name), themeButton(),
			element("p", { class: "muted" }, facts.filter(Boolean).join(" \u00b7 ")));
	}

	events() {
		const read = field(this.sections, "balance", "read"), lost = field(this.sections, "balance", "lost") || 0;
		const missing = field(this.sections, "balance", "missing") || 0;
		if (read === null)
			return null;
		return `${read.toLocaleString("en")} events, ${(lost + missing).toLocaleString("en")} lost`;
	}

	/* The report's own, one for each device. */
	sentence() {
		const sentences = (this.sections[0].notes || []).map(text => text.trim());

		sentences.push(...this.tables.flatMap(s => {
			const i = s.columns.findIndex(c => c.key === "sentence");
			return i < 0 ? [] : s.rows.map(row => row[i]).filter(Boolean);
		}));
		return sentences.length ? element("div", { class: "sentence", id: "report-sentence" },
			sentences.slice(0, 4).map(text => element("p", {}, text))) : null;
	}

	/* [text, what it is, the cell] of the busiest ring or device, and of what else there is. */
	figures() {
		const out = [], add = (section, key, text, row) => {
			const i = section ? section.columns.findIndex(c => c.key === key) : -1;
			if (i < 0 || !row || row[i] === null)
				return;
			const c = section.columns[i], inferred = row[section.columns.length].includes(i);
			out.push(element("div", { "data-table": section.table, "data-key": key, "data-value": String(plain(row[i])) },
				element("b", {}, cellText(c.kind, row[i]), inferred ? element("sup", {}, "*") : null), text));
		};
		const most = (name, key) => {
			const section = this.tables.find(s => s.table === name);
			const i = section ? section.columns.findIndex(c => c.key === key) : -1;
			return [section, i < 0 ? null : section.rows.reduce((a, b) => !a || plain(b[i]) > plain(a[i]) ? b : a, null)];
		};
		const named = (section, row, key) => row ? row[section.columns.findIndex(c => c.key === key)] : "";
		const [clients, client] = most("frame_clients", "frames"), [rings, ring] = most("rings", "exec_sum");
		const [kernels, kernel] = most("kernels", "total");
		let [ranks, rank] = most("step_ranks", "p50");
		add(clients, "frames", `frames of ${named(clients, client, "process")}`, client);
		add(clients, "p50", "a frame, median", client);
		add(clients, "p99", "99th percentile", client);
		add(clients, "late", "late", client);
		if (rank && !plain(rank[ranks.columns.findIndex(c => c.key === "steps")]))
			rank = null;
		add(ranks, "steps", `steps of rank ${named(ranks, rank, "rank")}`, rank);
		add(ranks, "p50", "a step, median", rank);
		add(ranks, "p99", "99th percentile", rank);
		add(rings, "busy", `${named(rings, ring, "ring_name") || "ring"} busy`, ring);
		add(rings, "jobs", "jobs", ring);
		add(rings, "exec_p50", "a job ran, median", ring);
		if (!client)
			add(rings, "exec_p99", "99th percentile", ring);
		add(rings, "gpu_wait", "threads waited for them", ring);
		add(kernels, "total", `GPU time of ${shortName(named(kernels, kernel, "kernel"))}`, kernel);
		add(kernels, "calls", "calls of it", kernel);
		return out.length ? element("div", { class: "figures" }, out) : null;
	}

	/* A note that begins with blanks belongs to the one before. What was not recorded, and how was
	 * computed what is not observed, is told with the method. */
	notes(absent) {
		const all = [];
		for (const note of this.sections.slice(1).flatMap(s => s.notes || []))
			if (note.startsWith(" ") && all.length)
				all[all.length - 1] += " " + note.trim();
			else
				all.push(note);
		const led = new Set((this.sections[0].notes || []).map(text => text.trim()));
		const notes = [...new Set(all)].filter(n => !led.has(n) && /^(the trace has no|no steps found|half_saves: )/.test(n) === absent);
		return notes.length ? element("ul", { class: "notes", id: absent ? "report-absent" : "report-notes" },
			notes.map(n => element("li", {}, n))) : null;
	}

	/* ------------------------------------------------------ the rest */

	part(id, title, ...children) {
		return element("section", { id, "aria-label": title }, element("h2", {}, title), children);
	}

	tablesOf(id, title) {
		const views = this.views.filter(v => partOf(v.section) === id), first = v => FIRST.indexOf(v.section.table) + 1 || 99;
		views.sort((a, b) => first(a) - first(b));
		return views.length ? this.part(id, title, views.map(v => v.element)) : null;
	}

	method() {
		const inferred = this.tables.some(s => s.rows.some(r => r[s.columns.length].length));
		return this.part("method", "How it was measured",
			inferred ? element("p", { class: "muted" }, "* inferred, not observed") : null,
			element("p", { class: "muted" }, this.lanes.resolution > 1 ?
				`Lanes have more than can be drawn: neighbours shorter than ${formatNs(this.lanes.resolution)} are drawn as one, ` +
				"by how long they ran together; of counters the largest value." : "Lanes have every item of the recording."),
			this.notes(true), element("div", { class: "columns" }, this.sections.filter(s => s.list).map(reportPairs)));
	}

	graphs() {
		const names = ["gpu", "wall"].filter(hasBlock);
		if (!names.length)
			return null;
		const place = element("div", {}), tabs = element("div", { class: "buttons" });
		const range = element("span", { class: "muted", id: "flame-range" }, "of the whole recording");
		this.listeners.push((from, to) => this.view && this.ofRange(this.view, range, from, to));
		const show = async name => {
			const look = await unpackJson(name), view = new FlameView(look, await loadTree(look, name));
			for (const tab of tabs.children)
				tab.setAttribute("aria-pressed", tab.dataset.graph === name);
			place.replaceChildren(look.notes.length ? element("ul", { class: "notes" },
				look.notes.map(n => element("li", {}, n))) : "", view.element);
			view.graph.layout(true);
			view.slots = await loadSlots(name);
			this.view = view;
			this.ofRange(view, range, this.timeline.from, this.timeline.to);
		};
		for (const [name, text] of [["gpu", "GPU time"], ["wall", "Time of threads"]])
			if (names.includes(name))
				tabs.append(element("button", { type: "button", "data-graph": name, onclick: () => show(name) }, text));
		/* what is first seen comes first */
		setTimeout(() => show(names[names.length - 1]), 0);
		return this.part("flame", "Stacks", element("div", { class: "bar" }, tabs,
			range), place);
	}

	/* The graph of what is selected on the time axis, in whole slots. */
	ofRange(view, told, from, to) {
		const whole = from <= 0 && to >= this.lanes.span;
		told.textContent = "of the whole recording";
		if (whole || !view.slots) {
			if (view.first)
				view.reweigh(null);
			return;
		}
		const { n, slots, frame, weight } = view.slots, step = this.lanes.span / n;
		const first = Math.floor(from / step), last = Math.min(n - 1, Math.ceil(to / step) - 1);
		const self = new Float64Array((view.first || view.whole).size);
		for (let i = 0; i < slots.length; i++)
			if (slots[i] >= first && slots[i] <= last)
				self[frame[i]] += weight[i];
		told.textContent = `of ${formatNs(first * step)} to ${formatNs((last + 1) * step)}, in steps of ${formatNs(step)}`;
		view.reweigh(self);
	}

	get element() {
		return [this.head(), this.sentence(), this.figures(), this.notes(false),
			this.part("time", "Time", this.timeline.element),
			this.tablesOf("idle", PARTS[0][1]), this.tablesOf("worst", PARTS[1][1]), this.graphs(),
			this.tablesOf("sums", PARTS[2][1]), this.method()].filter(Boolean);
	}
}

/* When the weights of a graph came; null where that is unknown. */
async function loadSlots(graph) {
	if (!hasBlock(graph + "-slots"))
		return null;
	const [{ n }, frame, slots, weight] = await Promise.all([unpackJson(graph + "-slots"), unpackU32(graph + "-slot-frame"),
		unpackU32(graph + "-slot-number"), unpackU64(graph + "-slot-")]);
	return { n, frame, slots, weight };
}

async function startReport(page) {
	const [sections, lanes] = await Promise.all([unpackJson("report"), loadLanes()]);
	const report = new ReportPage(sections, lanes);
	document.title = report.name + ": grtrace report";
	page.replaceChildren(...report.element);
	report.timeline.drawNow();
	window.grtrace = { report };
}
