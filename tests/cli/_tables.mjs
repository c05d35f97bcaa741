// SPDX-License-Identifier: GPL-2.0
// Reads tables in Apache Parquet by readers that are not ours: `node _tables.mjs READERS sums DIR...`
// prints what DuckDB and hyparquet find in each column, `... sql QUERY...` rows as lines of JSON,
// `... files FILE...` the rows of a query in each file.
import { createRequire } from 'node:module';
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [readers, action, ...args] = process.argv.slice(2);
const require = createRequire(join(readers, 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const plain = (key, value) => (typeof value === 'bigint' ? String(value) : value);
const { DuckDBInstance } = await load('@duckdb/node-api');
const db = await (await DuckDBInstance.create(':memory:')).connect();

// How many values there are, and their sum; of texts how many different ones.
function sumOf(values) {
	const there = values.filter((value) => value !== null && value !== undefined);
	if (!there.length)
		return [0, null];
	if (typeof there[0] === 'string')
		return [there.length, new Set(there).size];
	if (typeof there[0] === 'number')
		return [there.length, Number(there.reduce((sum, value) => sum + value, 0).toFixed(3))];
	return [there.length, String(there.reduce((sum, value) => sum + BigInt(value), 0n))];
}

const rowsOf = async (sql) => (await db.runAndReadAll(sql)).getRowObjects();

async function sums(dir) {
	const { parquetReadObjects, asyncBufferFromFile } = await load('hyparquet/src/node.js').catch(() => load('hyparquet'));
	const { compressors } = await load('hyparquet-compressors');
	const out = {};
	for (const table of readdirSync(dir)) {
		const path = readdirSync(join(dir, table), { recursive: true }).filter((file) => file.endsWith('.parquet'))[0];
		const file = join(dir, table, path);
		const rows = await parquetReadObjects({ file: await asyncBufferFromFile(file), compressors });
		const columns = (await db.runAndReadAll(`SELECT column_name FROM (DESCRIBE SELECT * FROM read_parquet('${file}', hive_partitioning = false))`)).getRows();
		const found = (await db.runAndReadAll(`SELECT * FROM read_parquet('${file}', hive_partitioning = false)`)).getColumns();
		out[table] = { rows: [found[0]?.length ?? 0, rows.length], columns: {} };
		columns.forEach(([name], i) => {
			out[table].columns[name] = [sumOf(found[i] ?? []), sumOf(rows.map((row) => row[name]))];
		});
	}
	return out;
}

if (action === 'sums')
	console.log(JSON.stringify(Object.fromEntries(await Promise.all(args.map(async (dir) => [dir, await sums(dir)]))), plain));
else if (action === 'files')
	console.log(JSON.stringify(Object.fromEntries(await Promise.all(args.map(async (file) => [basename(file, '.sql'), await rowsOf(readFileSync(file, 'utf8'))]))), plain));
else
	for (const sql of args)
		for (const row of await rowsOf(sql))
			console.log(JSON.stringify(row, plain));
