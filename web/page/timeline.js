// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The time axis of a report: all lanes on one canvas. A drag zooms, for whatever else of the page listens; keys do
 * the same. What is narrower than two pixels is drawn by its share of each pixel, so that nothing gets lost.
 */
const LANE = { frame: 16, gpu: 22, idle: 12, thread: 16, value: 34, xid: 16, loss: 16, window: 10 };
const GAP = 3, HEAD = 15, AXIS = 22, FEW_THREADS = 6;
const TEXT = "11px system-ui, sans-serif";
const PALETTE = ["#5f9e2f", "#2f86c1", "#c08022", "#8f60bb", "#249a8d", "#c2567f", "#7c8a22", "#6877c6"];

/* The same name has the same colour on each page. */
function paletteOf(text) {
	let hash = 7;
	for (const c of text)
		hash = (Math.imul(hash, 31) + c.codePointAt(0)) >>> 0;
	return PALETTE[hash % PALETTE.length];
}

const coloursOf = rows => new Map(rows.map(r => [r.name, `rgb(${r.colour.join()})`]));

class Timeline {
	constructor(lanes, listener) {
		this.all = lanes;
		this.listener = listener;
		this.from = 0;
		this.to = lanes.span;
		this.states = coloursOf(lanes.states);
		this.causes = coloursOf(lanes.causes);
		this.canvas = element("canvas", { class: "timeline", tabindex: "0", role: "img",
			"aria-label": "time axis: drag or use plus, minus and the arrow keys to zoom and move" });
		this.details = element("div", { class: "details", id: "timeline-details", "aria-live": "polite" });
		this.range = element("span", { class: "muted", id: "timeline-range", role: "status" });
		this.more = button("", "", () => { this.open = !this.open; this.arrange(); });
		this.element = element("div", { class: "timeline-view" },
			element("div", { class: "bar" }, this.range,
				button("Whole", "all of the recording (0)", () => this.zoom(0, this.all.span)),
				button("+", "zoom in (+)", () => this.scale(0.5)), button("\u2212", "zoom out (-)", () => this.scale(2)),
				button("\u2190", "back (arrow left)", () => this.move(-0.5)), button("\u2192", "on (arrow right)", () => this.move(0.5)),
				this.more),
			this.legend(), this.canvas, this.details);
		this.draw = onceAFrame(() => this.drawNow());
		this.listen();
		this.arrange();
		this.tell(null);
		new ResizeObserver(() => this.draw()).observe(this.element);
		onColours(this.draw);
	}

	legend() {
		const names = this.all.names, seen = new Set(), why = new Set();
		for (const lane of this.all.lanes)
			for (const text of lane.text)
				if (lane.kind === "thread")
					seen.add(names[text]);
				else if (lane.kind === "idle")
					why.add(causeOf(names[text]));
		const item = (background, text, help) => element("li", { title: help }, swatch(background), text);
		const work = this.workNames();
		const list = (title, rows, has, colours) => has.size ? [element("li", { class: "title" }, title),
			rows.filter(r => has.has(r.name)).map(r => item(colours.get(r.name), r.name.replace(/_/g, " "), r.help))] : null;
		return [work.length > 1 ? element("ul", { class: "legend", id: "timeline-work" }, element("li", { class: "title" }, "work of:"),
			work.map(name => item(paletteOf(name), name, "what the GPU ran"))) : null,
			why.size ? element("ul", { class: "legend", id: "timeline-causes" }, list("idle:", this.all.causes, why, this.causes)) : null,
			element("ul", { class: "legend" }, list(why.size ? "threads:" : "", this.all.states, seen, this.states),
			this.all.lanes.some(l => l.kind === "frame") ? [item("var(--odd)", "frame, step", "in time"),
				item("var(--bad)", "late", "a frame that missed its time, or a step that took longer")] : null,
			this.all.lanes.some(l => l.kind === "loss") ? item("repeating-linear-gradient(45deg, #b3261e 0 2px, transparent 2px 4px)",
				"events lost", "the trace has not all events of this time") : null)].filter(Boolean);
	}

	/* What GPUs ran, where it is so few that it has a legend: processes have, kernels have their names in the table. */
	workNames() {
		const work = new Set();
		for (const lane of this.all.lanes.filter(l => l.kind === "gpu" && !l.pid))
			lane.text.forEach(text => work.add(this.all.names[text]));
		return work.size > PALETTE.length ? [] : [...work].filter(Boolean).sort();
	}

	/* Threads that asked for work come first; the others can be opened. */
	arrange() {
		const order = ["loss", "xid", "frame", "gpu", "idle", "value", "thread", "window"];
		const rank = l => order.indexOf(l.kind === "idle" ? "gpu" : l.kind) * 2 + (l.kind === "thread" && !l.submits ? 1 : 0);
		/* lanes of a device stand where its first one does */
		const place = new Map(this.all.lanes.map((lane, i) => [lane, i]));
		const device = l => place.get(((l.why || l).of || [])[0] || l);
		/* GPUs of processes by their number, whichever worked first */
		const owned = l => l.pid && (l.why || l.kind === "idle") ? l.group : "";
		const processGpu = (a, b) => owned(a).localeCompare(owned(b), "en", { numeric: true });
		const lanes = this.all.lanes.slice().sort((a, b) => rank(a) - rank(b) ||
			(a.kind === "thread" ? b.items - a.items : processGpu(a, b) || device(a) - device(b)) || (a.kind === "idle") - (b.kind === "idle") ||
			place.get(a) - place.get(b));
		let threads = 0, left = 0;
		const submitters = lanes.filter(l => l.kind === "thread" && l.submits).length;
		this.shown = lanes.filter(lane => {
			const few = submitters || FEW_THREADS;
			if (lane.kind !== "thread" || this.open || threads++ < few)
				return true;
			left++;
			return false;
		});
		this.more.hidden = !left && !this.open;
		this.more.textContent = this.open ? "Fewer threads" : `${left} more threads`;
		let y = AXIS, group = null, name = null;
		for (const lane of this.shown) {
			lane.head = lane.group && lane.group !== group && lane.group !== lane.name ? lane.group : "";
			y += lane.head ? HEAD : 0;
			/* work of a stream that ran at the same time as other work of it */
			lane.label = lane.group === group && lane.name === name ? `also ${lane.name}` : lane.name;
			[group, name] = [lane.group, lane.name];
			lane.y = y;
			lane.height = LANE[lane.kind];
			y += lane.height + GAP;
		}
		this.height = y + 4;
		this.draw();
	}

	/* ------------------------------------------------------ drawing */

	get left() {
		return this.width < 560 ? 78 : 150;
	}

	get right() {
		return this.width < 560 ? 0 : 62;
	}

	x(time) {
		return this.left + (time - this.from) / (this.to - this.from) * (this.width - this.left - this.right);
	}

	timeAt(x) {
		const share = (x - this.left) / (this.width - this.left - this.right);
		return this.from + Math.max(0, Math.min(1, share)) * (this.to - this.from);
	}

	drawNow() {
		this.width = this.element.clientWidth;
		if (!this.width)
			return;
		const g = this.g = fitCanvas(this.canvas, this.width, this.height);
		this.colours = { text: theme("text"), muted: theme("muted"), line: theme("line"), card: theme("card"), bad: theme("bad"),
			odd: theme("odd"), even: theme("even") };
		g.textBaseline = "middle";
		this.drawAxis();
		for (const lane of this.shown)
			this.drawLane(lane);
		if (this.drag) {
			const [a, b] = [this.x(this.drag.from), this.x(this.drag.to)].sort((p, q) => p - q);
			g.fillStyle = theme("focus");
			g.globalAlpha = 0.18;
			g.fillRect(a, 0, b - a, this.height);
			g.globalAlpha = 1;
		}
	}

	/* Steps of 1, 2, 5 times a power of ten, some 90 pixels wide. */
	drawAxis() {
		const { g, colours } = this, span = this.to - this.from;
		const wanted = span / Math.max(2, (this.width - this.left - this.right) / 90);
		const power = 10 ** Math.floor(Math.log10(wanted)), step = [1, 2, 5, 10].map(n => n * power).find(n => n >= wanted);
		g.font = TEXT;
		for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
			const x = Math.round(this.x(t)) + 0.5, text = this.formatTime(t, step);
			g.strokeStyle = colours.line;
			g.beginPath();
			g.moveTo(x, AXIS - 6);
			g.lineTo(x, this.height);
			g.stroke();
			g.fillStyle = colours.muted;
			if (x + g.measureText(text).width / 2 < this.width)
				g.fillText(text, x - g.measureText(text).width / 2, 8);
		}
	}

	formatTime(t, step) {
		const [unit, name] = step >= 1e8 ? [1e9, "s"] : step >= 1e5 ? [1e6, "ms"] : [1e3, "us"];
		const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
		return (t / unit).toFixed(digits) + " " + name;
	}

	drawLane(lane) {
		const { g, colours } = this, middle = lane.y + lane.height / 2;
		g.font = TEXT;
		if (lane.head) {
			g.fillStyle = colours.muted;
			g.fillText(this.fit(lane.head, this.width - 4), 0, lane.y - HEAD / 2);
		}
		g.fillStyle = colours.text;
		g.fillText(this.fit(lane.label, this.left - 8), 0, middle);
		g.fillStyle = colours.card;
		g.fillRect(this.left, lane.y, this.width - this.left - this.right, lane.height);
		if (lane.kind === "value")
			this.drawValues(lane);
		else
			this.drawItems(lane);
		if (this.right) {
			g.font = TEXT;
			g.fillStyle = colours.muted;
			const text = this.figure(lane);
			g.fillText(text, this.width - g.measureText(text).width, middle);
		}
	}

	/* States of a thread, or causes for which a device was idle, in the time that is seen. */
	namesOf(lane) {
		return namesWithin(lane, this.from, this.to, text => causeOf(this.all.names[text]));
	}

	/* What a lane was in the time that is seen. */
	figure(lane) {
		const span = this.to - this.from;
		if (lane.kind === "gpu")
			return (100 * busyWithin(lane, this.from, this.to) / span).toFixed(1) + " %";
		if (lane.kind === "thread") {
			const running = this.namesOf(lane).get("running");
			return "CPU " + (100 * (running || 0) / span).toFixed(0) + " %";
		}
		if (lane.kind === "idle")
			return (100 * [...this.namesOf(lane).values()].reduce((a, b) => a + b, 0) / span).toFixed(1) + " %";
		if (lane.kind === "value") {
			const last = Math.min(firstBehind(lane, this.to), lane.items - 1);
			return last >= 0 ? formatAmount(lane.ran[last], lane.unit) : "";
		}
		return "";
	}

	fit(text, width) {
		if (this.g.measureText(text).width <= width)
			return text;
		while (text.length > 1 && this.g.measureText(text + "\u2026").width > width)
			text = text.slice(0, -1);
		return text + "\u2026";
	}

	colourOf(lane, i) {
		const text = this.all.names[lane.text[i]] || "";
		if (lane.kind === "thread")
			return this.states.get(text) || "#888";
		if (lane.kind === "idle")
			return this.causes.get(causeOf(text)) || "#888";
		if (lane.kind === "loss" || lane.kind === "xid")
			return this.colours.bad;
		if (lane.kind === "window")
			return this.colours.muted;
		if (lane.kind === "frame")
			return lane.bad[i] ? this.colours.bad : i % 2 ? this.colours.even : this.colours.odd;
		return paletteOf(text);
	}

	drawItems(lane) {
		const { g } = this, end = this.width - this.right, scale = (end - this.left) / (this.to - this.from);
		const narrow = new Map(); /* by colour: the share of each pixel */
		for (let i = firstBehind(lane, this.from); i < lane.items && lane.start[i] <= this.to; i++) {
			const a = Math.max(this.x(lane.start[i]), this.left), b = Math.min(this.x(lane.end[i]), end);
			const colour = this.colourOf(lane, i);
			if (lane.kind === "xid") {
				g.fillStyle = colour;
				g.fillRect(a - 1.5, lane.y, 3, lane.height);
			} else if (b - a >= 2 && lane.ran[i] >= 0.999 * (lane.end[i] - lane.start[i])) {
				this.drawWide(lane, i, a, b, colour);
			} else if (lane.kind === "window") {
				this.drawWide(lane, i, a, Math.max(b, a + 1), colour);
			} else {
				if (!narrow.has(colour))
					narrow.set(colour, new Float32Array(Math.ceil(end) + 2));
				this.spread(narrow.get(colour), a, b, Math.max(lane.ran[i] * scale, 0.02));
			}
		}
		this.drawNarrow(lane, narrow);
	}

	drawWide(lane, i, a, b, colour) {
		const { g } = this, text = this.all.names[lane.text[i]] || "";
		g.fillStyle = lane.kind === "loss" ? this.hatch(colour) : colour;
		g.fillRect(a, lane.y, b - a - (b - a > 4 ? 0.5 : 0), lane.height);
		if (lane.kind === "gpu" && b - a > 34) {
			g.font = "11px " + theme("mono");
			g.fillStyle = "#fff";
			g.fillText(this.fit(shortName(text), b - a - 8), a + 4, lane.y + lane.height / 2);
		}
	}

	hatch(colour) {
		const tile = document.createElement("canvas");
		tile.width = tile.height = 6;
		const t = tile.getContext("2d");
		t.strokeStyle = colour;
		t.lineWidth = 1.5;
		t.beginPath();
		t.moveTo(-1, 7);
		t.lineTo(7, -1);
		t.stroke();
		return this.g.createPattern(tile, "repeat");
	}

	/* @pixels that ran, over the pixels from a to b. */
	spread(share, a, b, pixels) {
		const first = Math.floor(a), last = Math.max(Math.floor(Math.max(b, a) - 1e-9), first), each = pixels / (last - first + 1);
		for (let x = first; x <= last; x++)
			share[x] += each;
	}

	/* One above the other: of each pixel as much as it was. */
	drawNarrow(lane, narrow) {
		const { g } = this, base = new Float32Array(Math.ceil(this.width) + 2);
		const single = narrow.size === 1 || lane.kind === "gpu";
		for (const [colour, share] of narrow) {
			g.fillStyle = lane.kind === "loss" ? this.hatch(colour) : colour;
			for (let x = Math.floor(this.left); x < share.length; x++) {
				if (!share[x])
					continue;
				const part = Math.min(share[x], 1 - base[x]) , high = part * lane.height;
				g.globalAlpha = single ? 0.9 : 1;
				g.fillRect(x, lane.y + lane.height - base[x] * lane.height - high, 1, high);
				base[x] += part;
			}
		}
		g.globalAlpha = 1;
	}

	/* A step line from 0 or the least to the greatest value of the recording. */
	drawValues(lane) {
		const { g } = this;
		if (lane.low === undefined) {
			lane.high = lane.ran.reduce((a, b) => Math.max(a, b), 0);
			lane.low = Math.min(0, lane.ran.reduce((a, b) => Math.min(a, b), 0));
		}
		const y = v => lane.y + lane.height - 1 - (v - lane.low) / ((lane.high - lane.low) || 1) * (lane.height - 3);
		let i = Math.max(firstBehind(lane, this.from) - 1, 0), last = null;
		g.strokeStyle = PALETTE[1];
		g.lineWidth = 1.25;
		g.beginPath();
		for (; i < lane.items && lane.start[i] <= this.to; i++) {
			const x = Math.max(this.x(lane.start[i]), this.left);
			if (last === null)
				g.moveTo(x, y(lane.ran[i]));
			else
				g.lineTo(x, last);
			last = y(lane.ran[i]);
			g.lineTo(x, last);
		}
		if (last !== null)
			g.lineTo(this.width - this.right, last);
		g.stroke();
		g.lineWidth = 1;
		g.font = "10px system-ui, sans-serif";
		g.fillStyle = this.colours.muted;
		g.fillText(formatAmount(lane.high, lane.unit), this.left + 3, lane.y + 10);
	}

	/* ------------------------------------------------ what is done */

	zoom(from, to) {
		const least = 100, span = this.all.span;
		const length = Math.min(Math.max(to - from, least), span);
		this.from = Math.max(0, Math.min(from, span - length));
		this.to = this.from + length;
		this.tell(null);
		this.draw();
		this.listener(this.from, this.to);
	}

	scale(factor, at) {
		const middle = at ?? (this.from + this.to) / 2, share = (middle - this.from) / (this.to - this.from);
		const length = (this.to - this.from) * factor;
		this.zoom(middle - share * length, middle + (1 - share) * length);
	}

	move(share) {
		const by = share * (this.to - this.from);
		this.zoom(this.from + by, this.to + by);
	}

	itemAt(event) {
		const place = this.canvas.getBoundingClientRect(), x = event.clientX - place.left, y = event.clientY - place.top;
		const lane = this.shown.find(l => y >= l.y && y < l.y + l.height);
		if (!lane || x < this.left)
			return lane ? [lane, -1] : null;
		const time = this.timeAt(x), slack = (this.to - this.from) / this.width;
		let i = firstBehind(lane, time - slack);
		if (lane.kind === "value")
			return [lane, Math.max(0, lane.start[i] > time || i >= lane.items ? i - 1 : i)];
		return [lane, i < lane.items && lane.start[i] <= time + slack ? i : -1];
	}

	tell(found) {
		const zoomed = this.from > 0 || this.to < this.all.span;
		this.range.textContent = zoomed ? `${this.formatTime(this.from, (this.to - this.from) / 100)} to ` +
			`${this.formatTime(this.to, (this.to - this.from) / 100)}: ${formatNs(this.to - this.from)}` :
			`all ${formatNs(this.all.span)}`;
		this.details.replaceChildren(...this.words(found));
	}

	words(found) {
		const muted = text => element("span", { class: "muted" }, text);
		if (!found)
			return [muted("drag: zoom \u00b7 double click or 0: all \u00b7 + and -: zoom \u00b7 arrows: move")];
		const [lane, i] = found, name = element("span", { class: "frame" }, [lane.group, lane.name].filter(Boolean).join(" \u00b7 "));
		if (lane.kind === "thread" || lane.kind === "idle") {
			const states = [...this.namesOf(lane)].sort((a, b) => b[1] - a[1]);
			return [name, i < 0 ? "" : `${this.all.names[lane.text[i]].replace(" ", ": ")} ${formatNs(lane.ran[i])} `,
				muted((lane.kind === "idle" ? "idle here: " : "") + states.map(([n, ns]) => `${n} ${formatNs(ns)}`).join(", "))];
		}
		if (lane.kind === "window")
			return [name, muted(`saw everything for ${formatNs(lane.end[0] - lane.start[0])}; dropped before it ` +
				`${lane.window.before_start}, after it ${lane.window.after_end}`)];
		if (i < 0)
			return [name];
		if (lane.kind === "value")
			return [name, formatAmount(lane.ran[i], lane.unit) + " ", muted(`since ${formatNs(lane.start[i])}`)];
		const several = lane.ran[i] < lane.end[i] - lane.start[i];
		return [name, (this.all.names[lane.text[i]] || "") + " ", muted(`at ${formatNs(lane.start[i])}, ` +
			(several ? `several: ${formatNs(lane.ran[i])} in ` : "") + formatNs(lane.end[i] - lane.start[i]))];
	}

	listen() {
		const { canvas } = this, time = e => this.timeAt(e.clientX - canvas.getBoundingClientRect().left);
		canvas.addEventListener("pointerdown", e => {
			if (e.button || e.pointerType === "touch")
				return;
			canvas.setPointerCapture(e.pointerId);
			this.drag = { from: time(e), to: time(e), x: e.clientX };
		});
		canvas.addEventListener("pointermove", e => {
			if (this.drag) {
				this.drag.to = time(e);
				this.draw();
			} else {
				this.tell(this.itemAt(e));
			}
		});
		canvas.addEventListener("pointerup", e => {
			const drag = this.drag;
			this.drag = null;
			if (drag && Math.abs(e.clientX - drag.x) > 4)
				this.zoom(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to));
			else
				this.tell(this.itemAt(e));
			this.draw();
		});
		canvas.addEventListener("pointerleave", () => this.drag || this.tell(null));
		canvas.addEventListener("dblclick", () => this.zoom(0, this.all.span));
		canvas.addEventListener("wheel", e => {
			if (!e.ctrlKey)
				return;
			e.preventDefault();
			this.scale(e.deltaY > 0 ? 1.25 : 0.8, time(e));
		}, { passive: false });
		const keys = { "+": () => this.scale(0.5), "=": () => this.scale(0.5), "-": () => this.scale(2),
			0: () => this.zoom(0, this.all.span), Escape: () => this.zoom(0, this.all.span),
			ArrowLeft: () => this.move(-0.25), ArrowRight: () => this.move(0.25) };
		canvas.addEventListener("keydown", e => {
			if (e.ctrlKey || e.altKey || e.metaKey || !Object.prototype.hasOwnProperty.call(keys, e.key))
				return;
			keys[e.key]();
			e.preventDefault();
		});
	}
}
