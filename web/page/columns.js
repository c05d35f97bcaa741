// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Blocks of data in the page: base64, deflated (zlib's format) where grtrace had zlib. Browsers unpack that
 * themselves since Chromium 80, Firefox 113 and Safari 16.4; in an older one the page says so, because an
 * unpacker of our own would be code that is run nowhere else.
 */
function hasBlock(name) {
	return document.getElementById("data-" + name) !== null;
}

function bytesOfBase64(text) {
	const raw = atob(text), bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

async function unpack(name) {
	const block = document.getElementById("data-" + name), bytes = bytesOfBase64(block.textContent);
	if (block.dataset.form === "plain")
		return bytes.buffer;
	if (typeof DecompressionStream === "undefined")
		throw new Error("this browser cannot unpack the page's data: Chromium 80, Firefox 113, Safari 16.4 " +
			"and later ones can");
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Response(stream).arrayBuffer();
}

const unpackText = async name => new TextDecoder().decode(await unpack(name));
const unpackJson = async name => JSON.parse(await unpackText(name));

/* Elements have their lowest byte first, and so have the machines that browsers run on. */
const unpackU32 = async name => new Uint32Array(await unpack(name));
const unpackU16 = async name => new Uint16Array(await unpack(name));
const unpackU8 = async name => new Uint8Array(await unpack(name));

/* Numbers of 64 bits in two columns: exact up to 2^53, which are 104 days of nanoseconds. */
async function unpackU64(name) {
	const [low, high] = await Promise.all([unpackU32(name + "low"), unpackU32(name + "high")]);
	const out = new Float64Array(low.length);
	for (let i = 0; i < low.length; i++)
		out[i] = high[i] * 4294967296 + low[i];
	return out;
}
