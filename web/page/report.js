// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The page of `grtrace report -o FILE.html`: what happened in a sentence and some figures, the time axis, why
 * the GPU was idle, the worst of everything, the flame graphs, and how all of it was measured. Every figure
 * is one of the report's; the page shows whatever tables there are.
 */
const field = (sections, name, key) => {
	const section = sections.find(s => s.fields === name),
	      found = section && section.list.find(f => f.name === key);
	return found ? plain(found.value) : null;
};

/* Which part of the page a table belongs to, by its name; others are sums. */
const PARTS = [
	[ "idle", "Why the GPU was idle", /idle|gap/],
	[ "worst", "The slowest", /^(jobs|frames|steps|waits?|xids?|worst)/],
	[ "sums", "Where the time went", /./],
];

function partOf(section)
{
	return PARTS.find(([, , pattern ]) => pattern.test(section.table))[0];
}

class ReportPage
{
	constructor(sections, lanes)
	{
		this.sections = sections;
		this.tables = sections.filter(s => s.table && s.rows.length);
		this.lanes = lanes;
		this.origin = lanes.from;
		this.timeline = new Timeline(lanes, (from, to) => this.zoomed(from, to));
		this.listeners = [];
	}

	zoomed(from, to)
	{
		for (const listener of this.listeners)
			listener(from, to);
	}

	/* A row's time in the middle third. */
	zoomTo(from, to)
	{
		const margin = Math.max(to - from, 1000);
		this.timeline.zoom(from - margin, to + margin);
		this.timeline.element.scrollIntoView({block : "nearest", behavior : "smooth"});
	}

	/* ------------------------------------------------------ the head */

	get name()
	{
		const command = field(this.sections, "recording", "command") || "";
		return command.split(" -- ")[1] || field(this.sections, "recording", "path") || "recording";
	}

	head()
	{
		const get = key => field(this.sections, "recording", key);
		const facts = [
			get("host"), get("kernel") && "Linux " + get("kernel"),
			get("span") && formatNs(get("span")), this.events()
		];
		return element("header", {}, element("h1", {}, this.name), themeButton(),
			       element("p", {class : "muted"}, facts.filter(Boolean).join(" \u00b7 ")));
	}

	events()
	{
		const read = field(this.sections, "balance", "read"),
		      lost = field(this.sections, "balance", "lost") || 0;
		const missing = field(this.sections, "balance", "missing") || 0;
		if (read === null)
			return null;
		return `${read.toLocaleString("en")} events, ${(lost + missing).toLocaleString("en")} lost`;
	}

	/* The report's own sentence, where it has one; else that of the busiest ring. */
	sentence()
	{
		for (const s of this.sections)
			for (const f of s.list || [])
				if (f.name === "sentence" || f.name === "summary" || f.name === "verdict")
					return element("p", {class : "sentence"}, f.value);
		return null;
	}

	/* [text, what it is, the cell] of the busiest ring or device, and of what else there is. */
	figures()
	{
		const out = [], add = (section, key, text, row) => {
			const i = section ? section.columns.findIndex(c => c.key === key) : -1;
			if (i < 0 || !row || row[i] === null)
				return;
			const c = section.columns[i], inferred = row[section.columns.length].includes(i);
			out.push(element("div", {
				"data-table" : section.table,
				"data-key" : key,
				"data-value" : String(plain(row[i]))
			},
					 element("b", {}, cellText(c.kind, row[i]),
						 inferred ? element("sup", {}, "*") : null),
					 text));
		};
		const most = (name, key) => {
			const section = this.tables.find(s => s.table === name);
			const i = section ? section.columns.findIndex(c => c.key === key) : -1;
			return [
				section,
				i < 0 ? null
				      : section.rows.reduce((a, b) => !a || plain(b[i]) > plain(a[i]) ? b : a,
							    null)
			];
		};
		const [rings, ring] = most("rings", "exec_sum"),
			      [ frames, frame ] = most("frame_summary", "frames");
		const ringName =
			ring ? ring[rings.columns.findIndex(c => c.key === "ring_name")] || "ring" : "";
		add(frames, "frames", "frames", frame);
		add(rings, "busy", `${ringName} ring busy`, ring);
		add(rings, "jobs", "jobs", ring);
		add(rings, "exec_p50", "a job ran, median", ring);
		add(rings, "exec_p99", "99th percentile", ring);
		add(rings, "gpu_wait", "threads waited for them", ring);
		const [devices, device] = most("devices", "busy");
		add(devices, "busy", "GPU busy", device);
		add(devices, "kernels", "kernels", device);
		return out.length ? element("div", {class : "figures"}, out) : null;
	}

	notes()
	{
		const notes = this.sections.flatMap(s => s.notes || []);
		return notes.length ? element("ul", {class : "notes", id : "report-notes"},
					      notes.map(n => element("li", {}, n)))
				    : null;
	}

	/* ------------------------------------------------------ the rest */

	part(id, title, ...children)
	{
		return element("section", {id, "aria-label" : title}, element("h2", {}, title), children);
	}

	tablesOf(id, title)
	{
		const tables = this.tables.filter(s => partOf(s) === id);
		return tables.length
			       ? this.part(
					 id, title,
					 tables.map(s => new ReportTable(s, this.origin,
									 (from, to) => this.zoomTo(from, to))
								 .element))
			       : null;
	}

	method()
	{
		const inferred = this.tables.some(s => s.rows.some(r => r[s.columns.length].length));
		return this.part(
			"method", "How it was measured",
			inferred ? element("p", {class : "muted"}, "* inferred, not observed") : null,
			element("p", {class : "muted"},
				this.lanes.resolution > 1
					? `Lanes have more than can be drawn: neighbours shorter than ${
						  formatNs(this.lanes.resolution)} are drawn as one, ` +
						  "by how long they ran together; of counters the largest value."
					: "Lanes have every item of the recording."),
			element("div", {class : "columns"},
				this.sections.filter(s => s.list).map(reportPairs)));
	}

	graphs()
	{
		const names = [ "gpu", "wall" ].filter(hasBlock);
		if (!names.length)
			return null;
		const place = element("div", {}), tabs = element("div", {class : "buttons"});
		const show = async name => {
			const look = await unpackJson(name),
			      view = new FlameView(look, await loadTree(look, name));
			for (const tab of tabs.children)
				tab.setAttribute("aria-pressed", tab.dataset.graph === name);
			place.replaceChildren(look.notes.length
						      ? element("ul", {class : "notes"},
								look.notes.map(n => element("li", {}, n)))
						      : "",
					      view.element);
			view.graph.layout(true);
			this.view = view;
		};
		for (const [name, text] of [[ "gpu", "GPU time" ], [ "wall", "Time of threads" ]])
			if (names.includes(name))
				tabs.append(element(
					"button",
					{type : "button", "data-graph" : name, onclick : () => show(name)},
					text));
		/* what is first seen comes first */
		setTimeout(() => show(names[names.length - 1]), 0);
		return this.part("flame", "Stacks",
				 element("div", {class : "bar"}, tabs,
					 element("span", {class : "muted"}, "of the whole recording")),
				 place);
	}

	get element()
	{
		return [
			this.head(), this.sentence(), this.figures(), this.notes(),
			this.part("time", "Time", this.timeline.element), this.tablesOf("idle", PARTS[0][1]),
			this.tablesOf("worst", PARTS[1][1]), this.graphs(),
			this.tablesOf("sums", PARTS[2][1]), this.method()
		].filter(Boolean);
	}
}

async function startReport(page)
{
	const [sections, lanes] = await Promise.all([ unpackJson("report"), loadLanes() ]);
	const report = new ReportPage(sections, lanes);
	document.title = report.name + ": grtrace report";
	page.replaceChildren(...report.element);
	report.timeline.drawNow();
	window.grtrace = {report};
}
