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
	const names = ["B", "kB", "MB", "GB", "TB", "PB"];
	let i = 0;
	for (; bytes >= 999.5 && i + 1 < names.length; i++)
		bytes /= 1000;
	return (i ? threeDigits(bytes) : String(bytes)) + " " + names[i];
}

function formatWeight(weight, unit) {
	if (unit === "ns")
		return formatNs(weight);
	if (unit === "us")
		return formatNs(weight * 1000);
	if (unit === "B")
		return formatBytes(weight);
	return weight.toLocaleString("en") + (unit ? " " + unit : "");
}

const formatShare = (part, whole) => (whole ? 100 * part / whole : 0).toFixed(2) + " %";
