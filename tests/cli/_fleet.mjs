// SPDX-License-Identifier: GPL-2.0
// Runs queries of sql/ on the tables in this directory: `node _fleet.mjs READERS duckdb|clickhouse SQL QUERY...`
// prints the rows of each as JSON, numbers as text, and on standard error how long each took, and its peak of memory.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [readers, engine, dir, ...queries] = process.argv.slice(2);
const require = createRequire(join(readers, 'package.json'));
const text = (value) => (value === null || value === undefined ? null : String(typeof value === 'boolean' ? Number(value) : value));
const plain = (row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, text(value)]));

const engines = {
	async duckdb() {
		const { DuckDBInstance } = await import(pathToFileURL(require.resolve('@duckdb/node-api')));
		const db = await (await DuckDBInstance.create(':memory:')).connect();
		for (const setting of ['threads = 2', "memory_limit = '1200MB'", 'preserve_insertion_order = false'])
			await db.run(`SET ${setting}`);
		return async (sql) => (await db.runAndReadAll(sql)).getRowObjects();
	},
	async clickhouse() {
		const { Session } = require('chdb');
		const db = new Session();
		process.on('exit', () => db.cleanup());
		for (const setting of ['max_threads = 2', 'max_memory_usage = 1800000000', 'max_bytes_before_external_group_by = 400000000',
			'max_bytes_before_external_sort = 400000000'])
			db.query(`SET ${setting}`);
		return async (sql) => db.query(sql, 'JSONEachRow').trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
	},
};

const statements = (file) => readFileSync(join(dir, file), 'utf8').replace(/^--.*\n/gm, '').split(/;\s*$/m).map((sql) => sql.trim()).filter(Boolean);
const ask = await engines[engine]();
const answers = {}, done = new Set();
async function prepare(file) {
	if (done.has(file))
		return;
	done.add(file);
	for (const sql of statements(file))
		await ask(sql);
}
await prepare(`_${engine}.sql`);
for (const query of queries) {
	const begin = performance.now();
	if (/^-- Behind _clocks.sql/m.test(readFileSync(join(dir, `${query}.sql`), 'utf8')))
		await prepare('_clocks.sql');
	for (const sql of statements(`${query}.sql`))
		answers[query] = (await ask(sql)).map(plain);
	const cpu = process.cpuUsage();
	const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
	console.error(`${engine} ${query} ${((performance.now() - begin) / 1000).toFixed(2)} s, ${((cpu.user + cpu.system) / 1e6).toFixed(2)} s of CPU so far, ${Math.round(peak / 1024)} MiB`);
}
console.log(JSON.stringify(answers));
