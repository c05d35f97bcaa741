// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Numbers for people. */
function threeDigits(value) {
	return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

function formatNs(ns) {
	const size = Math.abs(ns), sign = ns < 0 ? "-" : "";
	if (size < 1000)
		return sign + Math.round(size) + " ns";
	if (size < 999500)
		return sign + threeDigits(size / 1e3) + " us";
	if (size < 999500000)
		return sign + threeDigits(size / 1e6) + " ms";
	return sign + (size < 1e12 ? threeDigits(size / 1e9) : (size / 1e9).toFixed(0)) + " s";
}

function formatBytes(bytes) {
	const names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
	let i = 0;
	for (; bytes >= 1023.5 && i + 1 < names.length; i++)
		bytes /= 1024;
	return (i ? threeDigits(bytes) : String(bytes)) + " " + names[i];
}

/* A counter's value in its unit; those that the kernel reports in millionths or thousandths are scaled. */
function formatAmount(value, unit) {
	if (unit === "B")
		return formatBytes(value);
	const small = /^([um])(W|J|V|A|C)$/.exec(unit);
	if (small)
		return Number((value / (small[1] === "u" ? 1e6 : 1e3)).toPrecision(4)) + " " + small[2];
	if (unit === "Hz" && value >= 1e6)
		return value >= 1e9 ? threeDigits(value / 1e9) + " GHz" : threeDigits(value / 1e6) + " MHz";
	return Number(value.toPrecision(4)).toLocaleString("en") + (unit ? " " + unit : "");
}

function formatWeight(weight, unit) {
	if (unit.startsWith("~"))
		return "~" + formatWeight(weight, unit.slice(1));
	if (unit === "ns")
		return formatNs(weight);
	if (unit === "us")
		return formatNs(weight * 1000);
	if (unit === "B")
		return formatBytes(weight);
	return weight.toLocaleString("en") + (unit ? " " + unit : "");
}

const formatShare = (part, whole) => (whole ? 100 * part / whole : 0).toFixed(2) + " %";
