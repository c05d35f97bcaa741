// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A tree of frames on a canvas: as an icicle, its root on top, or flipped. All frames are there; those
 * narrower than half a pixel stand together as one hatched place until one zooms in. The canvas is as high as
 * what is seen of it and moves with the scrolled content.
 */
const ROW = 18, LEAST = 0.5, REST = -2;

class FlameCanvas {
	/* @tell: gets the frame under the mouse or keys, or null; @chosen: one was clicked */
	constructor(tell, chosen) {
		this.canvas = element("canvas", { class: "flame", tabindex: "0", role: "img" });
		this.space = element("div", { class: "space" }, this.canvas);
		this.box = element("div", { class: "scroll" }, this.space);
		this.tell = tell;
		this.chosen = chosen;
		this.flipped = false;
		this.hit = null;
		this.current = null;
		this.zoomed = 0;
		this.draw = onceAFrame(() => this.drawNow());
		this.box.addEventListener("scroll", this.draw);
		this.canvas.addEventListener("mousemove", e => this.hover(e));
		this.canvas.addEventListener("mouseleave", () => this.tell(this.current));
		this.canvas.addEventListener("click", e => this.click(e));
		new ResizeObserver(() => this.layout()).observe(this.box);
		onColours(this.draw);
	}

	show(tree) {
		this.tree = tree;
		this.zoomed = 0;
		this.current = null;
		this.mostChange = tree.before ? this.largestChange() : 0;
		this.layout(true);
	}

	/* ------------------------------------------------------ places */

	/* Rows of boxes: [node, x, width]; of those too narrow together [REST, x, width, frames, weight] */
	layout(begin) {
		const tree = this.tree, width = this.box.clientWidth;
		if (!tree || !width)
			return;
		this.width = width;
		this.rows = [];
		const above = [];
		for (let i = tree.parent[this.zoomed]; i >= 0; i = tree.parent[i])
			above.unshift(i);
		above.forEach((node, row) => { this.rows[row] = [[node, 0, width]]; });
		this.above = above.length;
		const scale = tree.total[this.zoomed] ? width / tree.total[this.zoomed] : 0;
		const work = [[this.zoomed, 0, width, above.length]];
		while (work.length) {
			const [node, x, w, row] = work.pop();
			(this.rows[row] = this.rows[row] || []).push([node, x, w]);
			this.layKids(work, node, x, row + 1, scale);
		}
		for (const row of this.rows)
			row.sort((a, b) => a[1] - b[1]);
		/* the page keeps what is below in view: it is as high as the graph, within bounds */
		const most = Math.max(240, Math.round(window.innerHeight * (this.share || 0.62)));
		const high = this.rows.length * ROW + 2;
		this.box.style.height = Math.min(high, most) + "px";
		this.space.style.height = high + "px";
		if (begin)
			this.box.scrollTop = this.flipped ? high : 0;
		this.draw();
	}

	layKids(work, node, x, row, scale) {
		let frames = 0, rest = 0;
		for (const kid of this.tree.kids(node)) {
			const w = this.tree.total[kid] * scale;
			if (w < LEAST) {
				frames++;
				rest += this.tree.total[kid];
				continue;
			}
			work.push([kid, x, w, row]);
			x += w;
		}
		if (rest * scale >= LEAST)
			(this.rows[row] = this.rows[row] || []).push([REST, x, rest * scale, frames, rest]);
	}

	rowAt(y) {
		const row = Math.floor(y / ROW);
		return this.flipped ? this.rows.length - 1 - row : row;
	}

	boxAt(event) {
		const place = this.canvas.getBoundingClientRect();
		const x = event.clientX - place.left, y = event.clientY - place.top + this.box.scrollTop;
		return (this.rows[this.rowAt(y)] || []).find(b => x >= b[1] && x < b[1] + b[2]) || null;
	}

	/* ----------------------------------------------------- drawing */

	largestChange() {
		let most = 0;
		for (let i = 0; i < this.tree.size; i++)
			most = Math.max(most, Math.abs(this.change(i)));
		return most;
	}

	/* Of a frame's share of all, in points of percent. */
	change(node) {
		const { total, before } = this.tree;
		return (total[0] ? 100 * total[node] / total[0] : 0) - (before[0] ? 100 * before[node] / before[0] : 0);
	}

	/* The same name is the same colour in every picture: that of its kind, a little lighter or darker. */
	colour(node) {
		const name = this.tree.name[node], kind = this.tree.names.kindOf(name);
		if (this.tree.before) {
			const pale = Math.round(245 - (this.mostChange ? 170 * Math.abs(this.change(node)) / this.mostChange : 0));
			const grown = this.change(node) > 0;
			return `rgb(${grown ? 245 : pale},${pale},${this.change(node) < 0 ? 245 : pale})`;
		}
		if (!kind)
			return theme("root");
		const hash = Math.imul(name + 1, 2654435761) >>> 0, light = hash % 25 - 8;
		return "rgb(" + kind.colour.map((c, i) =>
			Math.max(0, Math.min(255, c + light + (hash >>> (8 + 4 * i)) % 11 - 5))).join() + ")";
	}

	drawNow() {
		if (!this.tree || !this.rows)
			return;
		const height = this.box.clientHeight, top = this.box.scrollTop;
		const g = fitCanvas(this.canvas, this.width, height);
		g.font = "12px " + theme("mono");
		g.textBaseline = "middle";
		this.character = this.character || g.measureText("mmmmmmmmmm").width / 10;
		this.found = theme("found");
		this.hatch = this.hatching(g);
		for (let y = Math.floor(top / ROW) * ROW; y < top + height; y += ROW)
			for (const box of this.rows[this.rowAt(y)] || [])
				this.drawBox(g, box, y - top, this.rowAt(y) < this.above);
	}

	hatching(g) {
		const tile = document.createElement("canvas");
		tile.width = tile.height = 6;
		const t = tile.getContext("2d");
		t.strokeStyle = theme("muted");
		t.beginPath();
		t.moveTo(0, 6);
		t.lineTo(6, 0);
		t.stroke();
		return g.createPattern(tile, "repeat");
	}

	drawBox(g, [node, x, w], y, above) {
		const tree = this.tree, name = tree.name[node], hit = this.hit && name !== NO_NAME && this.hit[name];
		g.globalAlpha = above ? 0.55 : this.hit && !hit ? 0.6 : 1;
		g.fillStyle = node === REST ? this.hatch : hit ? this.found : this.colour(node);
		g.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), LEAST), ROW - 1);
		if (node !== REST && node === this.current) {
			g.strokeStyle = theme("focus");
			g.lineWidth = 2;
			g.strokeRect(x + 1, y + 1, Math.max(w - 3, 1), ROW - 3);
		}
		const room = Math.floor((w - 7) / this.character);
		if (node !== REST && room >= 3) {
			const label = tree.names.label(name);
			g.globalAlpha = above ? 0.8 : 1;
			g.fillStyle = node === 0 && name === NO_NAME ? theme("text") : hit ? "#fff" : this.ink(name);
			g.fillText(label.length <= room ? label : label.slice(0, room - 1) + "\u2026", x + 4, y + ROW / 2);
		}
		g.globalAlpha = 1;
	}

	/* Dark on light frames, light on dark ones. */
	ink(name) {
		const kind = this.tree.names.kindOf(name);
		if (this.tree.before || !kind)
			return "#16181b";
		const [r, g, b] = kind.colour;
		return 0.299 * r + 0.587 * g + 0.114 * b < 118 ? "#fff" : "#16181b";
	}

	/* ------------------------------------------------ what is done */

	hover(event) {
		const box = this.boxAt(event);
		this.canvas.style.cursor = box ? "pointer" : "default";
		this.tell(box && box[0] === REST ? { frames: box[3], weight: box[4] } : box ? box[0] : this.current);
	}

	click(event) {
		const box = this.boxAt(event);
		if (!box || box[0] === REST)
			return;
		this.select(box[0]);
		this.zoom(box[0]);
	}

	zoom(node) {
		this.zoomed = node;
		this.layout();
		this.reveal(node);
		this.chosen(node);
	}

	select(node) {
		this.current = node;
		this.tell(node);
		this.reveal(node);
		this.draw();
	}

	reveal(node) {
		let row = 0;
		for (let i = this.tree.parent[node]; i >= 0; i = this.tree.parent[i])
			row++;
		const y = (this.flipped ? this.rows.length - 1 - row : row) * ROW, high = this.box.clientHeight;
		if (y < this.box.scrollTop)
			this.box.scrollTop = y;
		else if (y + ROW > this.box.scrollTop + high)
			this.box.scrollTop = y + ROW - high;
	}

	flip() {
		this.flipped = !this.flipped;
		this.layout(true);
	}

	search(hit) {
		this.hit = hit;
		this.draw();
	}

	/* Keys follow what is seen: inwards is down in an icicle. Return: whether it was one of ours */
	key(name) {
		const from = this.current === null ? this.zoomed : this.current, { tree } = this;
		const inwards = () => this.select(this.current === null ? this.zoomed : tree.kids(from)[0] ?? from);
		const outwards = () => this.select(from === 0 || tree.parent[from] < 0 ? from : tree.parent[from]);
		const beside = step => {
			const all = from === this.zoomed || tree.parent[from] < 0 ? [from] : tree.kids(tree.parent[from]);
			this.select(all[all.indexOf(from) + step] ?? from);
		};
		const keys = {
			ArrowDown: this.flipped ? outwards : inwards,
			ArrowUp: this.flipped ? inwards : outwards,
			ArrowLeft: () => beside(-1),
			ArrowRight: () => beside(1),
			Enter: () => this.current !== null && this.zoom(this.current),
			Backspace: () => tree.parent[this.zoomed] >= 0 && this.zoom(tree.parent[this.zoomed]),
		};
		if (!Object.prototype.hasOwnProperty.call(keys, name))
			return false;
		keys[name]();
		return true;
	}

	/* From the outermost frame. */
	stack(node) {
		const out = [];
		for (let i = node; i > 0; i = this.tree.parent[i])
			out.unshift(this.tree.names.whole(this.tree.name[i]));
		return out;
	}
}
