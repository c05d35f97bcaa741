// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The lanes of a recording: what GPUs ran, why they were idle, the states of threads, counters, Xids, losses, and each source's
 * window, on one time axis. Times are nanoseconds from the begin of what the page shows.
 */
function numbersOf(bytes) {
	const out = [];
	let number = 0, scale = 1;
	for (const byte of bytes) {
		number += (byte & 127) * scale;
		scale *= 128;
		if (byte < 128) {
			out.push(number);
			number = 0;
			scale = 1;
		}
	}
	return out;
}

/* Numbers with a sign: 0, -1, 1, -2 ... are written 0, 1, 2, 3 ... */
const signed = number => number % 2 ? -(number + 1) / 2 : number / 2;

async function loadLanes() {
	const all = await unpackJson("lanes");
	const [start, length, busy, name] = (await Promise.all(["start", "length", "busy", "name"].map(
		column => unpackU8("lane-" + column)))).map(numbersOf);
	let at = 0;
	for (const lane of all.lanes) {
		const n = lane.items;
		lane.start = new Float64Array(n);
		lane.end = new Float64Array(n);
		lane.ran = new Float64Array(n);
		lane.text = Uint32Array.from(name.slice(at, at + n));
		for (let i = 0, time = 0, value = 0; i < n; i++, at++) {
			time += signed(start[at]);
			lane.start[i] = time;
			lane.end[i] = time + length[at];
			value += lane.kind === "value" ? signed(busy[at]) : 0;
			lane.ran[i] = lane.kind === "value" ? value : length[at] - busy[at];
		}
	}
	for (const w of all.windows)
		all.lanes.push({ kind: "window", name: w.source, group: "sources", items: 1, text: [0], ran: [0], busy: 0,
			start: [w.from - all.from], end: [(w.to ?? all.to) - all.from], window: w });
	all.span = all.to - all.from;
	for (const lane of all.lanes.filter(l => l.kind === "idle"))
		takeDevice(lane, all.lanes.filter(l => l.kind === "gpu" && !l.why && isOfDevice(l, lane)));
	return all;
}

/* What precedes the stream: the number of the device in its process, and its UUID where that is known. */
const ofDevice = /^(?:CUDA|HIP) device (\d+)(?: \([^)]*\))?, /;

/* A stream of a process's GPU, or a ring: devices of idle time have the driver's name before that of the ring, and
 * behind it that of the GPU where there are several. */
function isOfDevice(lane, idle) {
	if (idle.pid || lane.pid)
		return lane.pid === idle.pid && ofDevice.exec(lane.name)?.[1] === String(idle.gpu);
	const [, ring, gpu] = /^(.*?)(?: of (\S+))?$/s.exec(idle.name);
	return ` ${ring}`.endsWith(` ${lane.name}`) && (!gpu || lane.group.includes(gpu));
}

/* Lanes of a device stand together, above the reasons for which it was idle. */
function takeDevice(idle, lanes) {
	for (const lane of lanes) {
		lane.why = idle;
		if (idle.pid)
			Object.assign(lane, { group: idle.name, name: lane.name.replace(ofDevice, "") });
	}
	Object.assign(idle, { of: lanes, group: lanes.length ? lanes[0].group : idle.name, name: "idle" });
}

/* A cause of idle time stands before the place. */
const causeOf = text => text.split(" ", 1)[0];

/* The first item that ends behind a moment. */
function firstBehind(lane, time) {
	let low = 0, high = lane.items;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (lane.end[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Time in a range in which something ran; of items that cross its borders, and of such that are several, the share. */
function busyWithin(lane, from, to) {
	let sum = 0;
	for (let i = firstBehind(lane, from); i < lane.items && lane.start[i] < to; i++) {
		const length = lane.end[i] - lane.start[i];
		const inside = Math.min(lane.end[i], to) - Math.max(lane.start[i], from);
		sum += inside === length ? lane.ran[i] : length > 0 ? lane.ran[i] * Math.max(inside, 0) / length : 0;
	}
	return sum;
}

/* The same by what @named makes of the number of a name, for states and causes. */
function namesWithin(lane, from, to, named) {
	const out = new Map();
	for (let i = firstBehind(lane, from); i < lane.items && lane.start[i] < to; i++) {
		const length = lane.end[i] - lane.start[i], name = named(lane.text[i]);
		const inside = Math.min(lane.end[i], to) - Math.max(lane.start[i], from);
		out.set(name, (out.get(name) || 0) + (inside === length ? lane.ran[i] : length > 0 ? lane.ran[i] * inside / length : 0));
	}
	return out;
}

/* Frames and steps of the report's tables, a lane for each display's client and each rank. */
function lanesOfTables(tables, lanes) {
	const found = new Map();
	for (const table of tables.filter(t => t.section.table === "frames" || t.section.table === "steps")) {
		const steps = table.section.table === "steps";
		for (const row of table.section.rows) {
			const value = key => {
				const i = table.columns.findIndex(c => c.key === key);
				return i < 0 || row[i] === null ? "" : plain(row[i]);
			};
			const time = table.timeOf(row), name = steps ? `rank ${value("rank")}` : `${value("process")} ${value("pid")}`;
			if (!time)
				continue;
			if (!found.has(name))
				found.set(name, { kind: "frame", group: steps ? "steps" : "frames", name, unit: "", list: [] });
			found.get(name).list.push([...time, steps ? `step ${value("step")} ${value("why") || value("grew")}` :
				`frame ${value("frame")}: ${value("cause")}`, steps ? value("over") > 0 && value("why") : value("late")]);
		}
	}
	for (const lane of found.values()) {
		lane.list.sort((a, b) => a[0] - b[0]);
		lane.items = lane.list.length;
		lane.start = lane.list.map(i => i[0]);
		lane.end = lane.list.map(i => i[1]);
		lane.ran = lane.list.map(i => i[1] - i[0]);
		lane.text = lane.list.map(i => lanes.names.push(i[2]) - 1);
		lane.bad = lane.list.map(i => Boolean(i[3]));
	}
	return [...found.values()];
}
