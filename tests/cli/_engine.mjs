// SPDX-License-Identifier: GPL-2.0
// The command line of DuckDB or ClickHouse as far as `grtrace fleet` uses it, with the engine itself as a library:
// `node _engine.mjs READERS duckdb|clickhouse [ARGS...]` runs the SQL on standard input in this directory and prints the
// rows of the last statement, a line of JSON for each. How a table was asked for is on standard error.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [readers, engine, ...args] = process.argv.slice(2);
const require = createRequire(join(readers, 'package.json'));
const text = (value) => (value === null || value === undefined ? null : String(typeof value === 'boolean' ? Number(value) : value));
const engines = {
	async duckdb() {
		const { DuckDBInstance } = await import(pathToFileURL(require.resolve('@duckdb/node-api')));
		const db = await (await DuckDBInstance.create(':memory:')).connect();
		return async (sql) => (await db.runAndReadAll(sql)).getRowObjects();
	},
	async clickhouse() {
		const { Session } = require('chdb');
		const db = new Session();
		process.on('exit', () => db.cleanup());
		return async (sql) => db.query(sql, 'JSONEachRow').trim().split('\n').filter(Boolean).map((line) => JSON.parse(line));
	},
};

const lines = readFileSync(0, 'utf8').split('\n');
console.error(`told: ${[...args, ...lines.filter((line) => line.startsWith('.'))].join(' ')}`);
const ask = await engines[engine]();
const sql = lines.filter((line) => !/^(\.|--)/.test(line)).join('\n');
let rows = [];
for (const statement of sql.split(/;\s*$/m).map((one) => one.trim()).filter(Boolean))
	rows = await ask(statement);
for (const row of rows)
	console.log(JSON.stringify(Object.fromEntries(Object.entries(row).map(([key, value]) => [key, text(value)]))));
