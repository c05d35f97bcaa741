// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Short forms of names for labels: of C++ and Rust what stands in <> and () becomes one sign. What is whole
 * stays whole: operator<, operator(), (anonymous namespace), and the file and line of Python functions.
 */
const CLOSING = { "<": ">", "(": ")" };

/* The index behind the group that opens at @start; 0: it is not closed. */
function endOfGroup(name, start) {
	const open = [];
	for (let i = start; i < name.length; i++) {
		const c = name[i];
		if (c === "<" || c === "(") {
			open.push(CLOSING[c]);
		} else if (c === ">" && (name[i - 1] === "-" || open[open.length - 1] !== ">")) {
			continue;
		} else if (c === ">" || c === ")") {
			while (open.length && open.pop() !== c)
				;
			if (!open.length)
				return i + 1;
		}
	}
	return 0;
}

function shortName(name) {
	if (!/::|<|\(/.test(name) || /^\[(?!GPU\d*_Kernel\])/.test(name) || / \(([^()]*:)?\d+\)$/.test(name))
		return name;
	let out = "", i = 0;
	while (i < name.length) {
		const c = name[i], rest = name.slice(i);
		const whole = /operator *$/.test(out) ? /^(\(\)|<=>|<<=?|>>=?|->\*?|<=?|>=?)/.exec(rest) : null;
		const keep = whole ? whole[0] : (/^\((anonymous namespace)?\)|^\{lambda/.exec(rest) || [""])[0];
		const end = !keep && CLOSING[c] ? endOfGroup(name, i) : 0;
		if (keep)
			out += keep;
		else if (end && !(c === "<" && !/[\w>]$/.test(out)))
			out += c + "\u2026" + CLOSING[c];
		else
			out += c;
		i = keep ? i + keep.length : end && out.endsWith(CLOSING[c]) ? end : i + 1;
	}
	return out.replace(/^void (?=\S)/, "");
}
