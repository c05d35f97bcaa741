// SPDX-License-Identifier: GPL-2.0
// `node tables.mjs READERS FILE.parquet OUT.parquet`: how fast DuckDB writes the rows of FILE, which it has in
// memory, in one thread: rows per second of CPU time, the best of three, and bytes per row.
import { createRequire } from 'node:module';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [readers, file, out] = process.argv.slice(2);
const require = createRequire(join(readers, 'package.json'));
const { DuckDBInstance } = await import(pathToFileURL(require.resolve('@duckdb/node-api')));
const db = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
await db.run(`CREATE TABLE work AS FROM read_parquet('${file}')`);
const rows = Number((await db.runAndReadAll('SELECT count(*)::INTEGER FROM work')).getRows()[0][0]);
let best = Infinity;
for (let i = 0; i < 3; i++) {
	const before = process.cpuUsage();
	await db.run(`COPY work TO '${out}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)`);
	const took = process.cpuUsage(before);
	best = Math.min(best, (took.user + took.system) / 1e6);
}
console.log(`${(rows / best / 1e6).toFixed(2)} ${(statSync(out).size / rows).toFixed(1)}`);
