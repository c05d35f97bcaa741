// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Elements: text of a trace only ever enters the document as text. */
function element(tag, attributes, ...children) {
	const node = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {})) {
		if (value === undefined || value === false)
			continue;
		if (name.startsWith("on"))
			node.addEventListener(name.slice(2), value);
		else
			node.setAttribute(name, value === true ? "" : value);
	}
	node.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined && c !== false));
	return node;
}

function button(text, title, click) {
	return element("button", { type: "button", title, onclick: click }, text);
}

function swatch(colour) {
	const node = element("span", { class: "swatch" });
	node.style.background = colour;
	return node;
}

/* An option is [value, text]. */
function choice(label, options, change) {
	const select = element("select", { onchange: () => change(select.value) },
		options.map(([value, text]) => element("option", { value }, text)));
	return element("label", { class: "choice" }, label, " ", select);
}

const theme = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

/* A canvas as large as its element, in the screen's own pixels. Return: its context in CSS pixels */
function fitCanvas(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1;
	const w = Math.round(width * ratio), h = Math.round(height * ratio);
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
	}
	const g = canvas.getContext("2d");
	g.setTransform(ratio, 0, 0, ratio, 0, 0);
	g.clearRect(0, 0, width, height);
	return g;
}

/* Calls it once before the next picture, however often it was requested. */
function onceAFrame(draw) {
	let asked = false;
	return () => {
		if (asked)
			return;
		asked = true;
		requestAnimationFrame(() => { asked = false; draw(); });
	};
}

/* Everything is drawn again when the colours change: by the system, or for paper. */
function onColours(draw) {
	for (const query of ["(prefers-color-scheme: dark)", "print"])
		window.matchMedia(query).addEventListener("change", draw);
	window.addEventListener("beforeprint", draw);
	window.addEventListener("themechange", draw);
}

function themeButton() {
	return button("Dark / light", "changes the colours", () => {
		const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
		document.documentElement.dataset.theme = dark ? "light" : "dark";
		window.dispatchEvent(new Event("themechange"));
	});
}

async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
	} catch (e) {
		/* a page of a file may be given no clipboard: the old way */
		const area = element("textarea", { class: "offscreen" });
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
}
