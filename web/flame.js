// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * What the picture of a flame graph (SVG) does in a browser: hover, zoom,
 * search, reset, by mouse and by keys. Frames stand
 * in the document as they are walked, parents first, so that all that is below
 * one follows it. Text of the graph only ever enters the document as text.
 */
(function () {
	"use strict";
	const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
	const svg = document.getElementById("flame");
	const margin = Number(svg.dataset.margin), character = Number(svg.dataset.character);
	let width = Number(svg.getAttribute("width"));

	/* parent and the index behind the last frame below it make all of the tree that is needed */
	const frames = [];
	const path = [];
	for (const g of svg.querySelectorAll("#flame-frames > g")) {
		const [title, rect, text] = g.children;
		const depth = Number(g.dataset.d), index = frames.length;
		path.length = depth;
		frames.push({
			g, rect, text, depth, index, end: index + 1,
			title: title.textContent, name: title.textContent.split("\n")[0],
			start: Number(g.dataset.a), weight: Number(g.dataset.w),
			parent: depth ? path[depth - 1] : null,
		});
		g.frame = frames[index];
		path[depth] = frames[index];
		for (let up = frames[index].parent; up; up = up.parent)
			up.end = index + 1;
	}
	let zoomed = frames[0], current = null, searched = "";

	function add(parent, space, tag, attributes) {
		const node = document.createElementNS(space, tag);
		for (const name of Object.keys(attributes))
			node.setAttribute(name, attributes[name]);
		return parent.appendChild(node);
	}

	/* ------------------------------------------------------ places */

	function label(frame, pixels) {
		const room = Math.floor((pixels - 6) / character), all = Array.from(frame.name);
		if (room < 3)
			return "";
		return all.length <= room ? frame.name : all.slice(0, room - 2).join("") + "..";
	}

	function put(frame, x, pixels) {
		frame.rect.setAttribute("x", x.toFixed(2));
		frame.rect.setAttribute("width", Math.max(pixels, 0).toFixed(2));
		frame.text.setAttribute("x", (x + 3).toFixed(2));
		frame.text.textContent = label(frame, pixels);
	}

	function mark(frame, name) {
		frame.g.classList.toggle("hidden", name === "hidden");
		frame.g.classList.toggle("above", name === "above");
	}

	function layout() {
		const room = width - 2 * margin, scale = zoomed.weight ? room / zoomed.weight : 0;
		for (const frame of frames) {
			const inside = frame.index >= zoomed.index && frame.index < zoomed.end;
			const above = frame.index < zoomed.index && zoomed.index < frame.end;
			const pixels = zoomed.weight ? frame.weight * scale : room;
			if (above)
				put(frame, margin, room);
			else if (inside)
				put(frame, margin + (frame.start - zoomed.start) * scale, pixels);
			mark(frame, above ? "above" : inside ? "" : "hidden");
		}
	}

	function fit() {
		const there = document.documentElement.clientWidth || window.innerWidth;
		if (there < 200)
			return;
		width = there;
		svg.setAttribute("width", width);
		layout();
		place();
	}

	/* -------------------------------------------- what can be done */

	const reset = add(svg, SVG, "text", { class: "button off", id: "flame-reset", x: margin, y: 22 });
	const search = add(svg, SVG, "text", { class: "button", id: "flame-search", y: 22 });
	const details = add(svg, SVG, "text", { class: "note", id: "flame-details", x: margin, y: 44 });
	const matched = add(svg, SVG, "text", { class: "note", id: "flame-matched", y: 44 });
	let box = null;
	reset.textContent = "Reset zoom (Esc)";
	search.textContent = "Search (/)";

	function place() {
		search.setAttribute("x", width - margin - 10 * character);
		matched.setAttribute("x", width - margin - matched.textContent.length * character);
		if (box)
			box.parentNode.setAttribute("x", width - margin - 300);
	}

	function tell(frame) {
		const room = Math.floor((width - 2 * margin) / character) - matched.textContent.length - 2;
		const text = frame ? frame.title.replace(/\n/g, "  ") : "";
		details.textContent = text.length > room ? text.slice(0, Math.max(room - 2, 0)) + ".." : text;
	}

	function zoom(frame) {
		zoomed = frame;
		reset.classList.toggle("off", frame === frames[0]);
		layout();
		if (searched)
			show(searched);
	}

	/* A pattern of small letters finds large ones, too. */
	function pattern(text) {
		return new RegExp(text, text === text.toLowerCase() ? "i" : "");
	}

	/* The share is that of the frame zoomed into; a match below a match counts once. */
	function show(text) {
		let found = 0, weight = 0, counted = -1, wanted = null;
		searched = text;
		try {
			wanted = text ? pattern(text) : null;
		} catch (e) {
			matched.textContent = "no regular expression";
		}
		for (const frame of frames) {
			const hit = wanted !== null && wanted.test(frame.name);
			frame.g.classList.toggle("found", hit);
			if (!hit || frame.index < zoomed.index || frame.index >= zoomed.end)
				continue;
			found++;
			if (frame.index < counted)
				continue;
			counted = frame.end;
			weight += frame.weight;
		}
		if (wanted !== null)
			matched.textContent = found + " matched: " +
				(zoomed.weight ? 100 * weight / zoomed.weight : 0).toFixed(2) + " %";
		else if (!text)
			matched.textContent = "";
		place();
	}

	function close() {
		if (box)
			box.parentNode.remove();
		box = null;
	}

	function ask() {
		if (!box) {
			const hold = add(svg, SVG, "foreignObject", { y: 4, width: 300, height: 24 });
			box = add(hold, HTML, "input", { type: "text", id: "flame-input",
				placeholder: "regular expression, Enter, Esc" });
			box.addEventListener("input", () => show(box.value));
		}
		box.value = searched;
		place();
		box.focus();
	}

	function clear() {
		close();
		show("");
		select(null);
		zoom(frames[0]);
	}

	/* ---------------------------------------------------- keyboard */

	function select(frame) {
		if (current)
			current.g.classList.remove("current");
		current = frame;
		tell(frame);
		if (!frame)
			return;
		frame.g.classList.add("current");
		frame.g.scrollIntoView({ block: "nearest" });
	}

	/* Frames that can be seen below one. */
	function children(frame) {
		const all = [];
		for (let i = frame.index + 1; i < frame.end; i = frames[i].end)
			all.push(frames[i]);
		return all;
	}

	function widest(frame) {
		return children(frame).reduce((a, b) => !a || b.weight > a.weight ? b : a, null);
	}

	function beside(frame, step) {
		const all = frame.parent && frame !== zoomed ? children(frame.parent) : [];
		return all[all.indexOf(frame) + step] || frame;
	}

	const keys = {
		ArrowUp: () => select(current ? widest(current) || current : zoomed),
		ArrowDown: () => select(current ? current.parent || current : zoomed),
		ArrowLeft: () => select(current ? beside(current, -1) : zoomed),
		ArrowRight: () => select(current ? beside(current, 1) : zoomed),
		Enter: () => current && zoom(current),
		Backspace: () => zoomed.parent && zoom(zoomed.parent),
		Escape: clear,
		"/": ask,
	};

	function key(event) {
		if (event.target === box) {
			if (event.key === "Enter")
				close();
			else if (event.key === "Escape")
				clear();
			return;
		}
		const known = Object.prototype.hasOwnProperty.call(keys, event.key) &&
			!event.ctrlKey && !event.altKey && !event.metaKey;
		if (!known)
			return;
		event.preventDefault();
		keys[event.key]();
	}

	/* ------------------------------------------------------ events */

	const frameOf = event => {
		const g = event.target.closest ? event.target.closest("#flame-frames > g") : null;
		return g ? g.frame : null;
	};
	// What comes under a mouse that stands still, as after a redraw, says nothing in the place of what keys told.
	let mouse = "";
	const placeOf = event => `${event.screenX} ${event.screenY}`;

	document.addEventListener("mousemove", event => { mouse = placeOf(event); });
	svg.addEventListener("mouseover", event => {
		if (placeOf(event) !== mouse)
			tell(frameOf(event));
	});
	svg.addEventListener("click", event => {
		if (frameOf(event)) {
			select(frameOf(event));
			zoom(frameOf(event));
		}
	});
	reset.addEventListener("click", () => zoom(frames[0]));
	search.addEventListener("click", ask);
	document.addEventListener("keydown", key);
	window.addEventListener("resize", fit);
	fit();
})();
