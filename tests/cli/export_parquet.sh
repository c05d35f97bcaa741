#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Tables as Parquet, CSV and lines of JSON: readers that are not ours find the rows and sums of the database, which
# export_sqlite.sh compares with reports.

# shellcheck source=tests/cli/_lib.sh
. "$GRTRACE_SRC/tests/cli/_lib.sh"

"$GRTRACE_BUILD/tests/golden/report_traces" .
for kind in all cuda; do
	"$GRTRACE_BUILD/tests/cli/export_traces" $kind $kind.grt
done
readers=$("$GRTRACE_SRC/tools/table-readers" 2>readers.err) || readers=

cat >compare.py <<'END_PY'
import csv, glob, json, sqlite3, sys
name, found = sys.argv[1], json.load(open(sys.argv[2]))[sys.argv[1] + ".parquet"] if len(sys.argv) > 2 else None
db = sqlite3.connect(name + ".sqlite")
compared = 0
wrong = []
def same(what, is_, wanted):
    global compared
    compared += 1
    if is_ != wanted:
        wrong.append(f"{what}: {is_}, the database has {wanted}")
def number(text):
    return float(text) if "." in text else int(text)
def only(form, ending, table):
    files = glob.glob(f"{name}.{form}/{table}/host=*/date=*/*.{ending}")
    same(f"{form} {table}: files", len(files), 1)
    return open(files[0], newline="")
tables = [t[0] for t in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
for table in tables:
    columns = db.execute(f"PRAGMA table_info({table})").fetchall()
    rows = db.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
    of_csv = list(csv.reader(only("csv.d", "csv", table)))
    of_json = [json.loads(line) for line in only("jsonl.d", "jsonl", table)]
    same(f"{table}: columns of CSV", of_csv[0], [c[1] for c in columns])
    same(f"{table}: rows", (len(of_csv) - 1, len(of_json)), (len(rows), len(rows)))
    if found:
        same(f"{table}: rows of Parquet", found[table]["rows"], [len(rows)] * 2)
        same(f"{table}: columns of Parquet", list(found[table]["columns"]), [c[1] for c in columns])
    for i, (_, column, type_, *_) in enumerate(columns):
        values = [r[i] for r in rows if r[i] is not None]
        in_csv = [r[i] for r in of_csv[1:] if r[i] != ""]
        in_json = [r[column] for r in of_json if r[column] is not None and r[column] != []]
        if table in ("meta", "notes"):
            # a value of the database has a type
            values = [str(v) for v in values]
            same(f"{table}.{column}: Parquet", found and found[table]["columns"][column][0][0], found and len(values))
            continue
        if type_ == "TEXT":
            if not any(isinstance(v, list) for v in in_json) and not any(v[:1] == "[" for v in values):
                same(f"{table}.{column}: JSON", in_json, [v for v in values])
            wanted = [len(values), len(set(values))] if values else [0, None]
        elif values:
            total = sum(values)
            same(f"{table}.{column}: CSV", round(sum(map(number, in_csv)), 3), round(total, 3))
            same(f"{table}.{column}: JSON", round(sum(in_json), 3), round(total, 3))
            wanted = [len(values), total]
        else:
            wanted = [0, None]
        for reader in found[table]["columns"][column] if found else ():
            if reader[1] is not None and type_ != "TEXT":
                reader[1] = round(float(reader[1]), 3) if type_ == "REAL" else int(reader[1])
                wanted[1] = round(wanted[1], 3)
            same(f"{table}.{column}: Parquet", reader, wanted)
print("\n".join(wrong[:20]) or f"{compared} compared, {len(tables)} tables")
END_PY
# with a clock and a host, for the names of directories
sed -i 's/^\ttracer_name = .*/&\n\tclock_start = "monotonic=1000 realtime=1700000000000001000";\n\thostname = "a b";/' all.grt/metadata
"$GRTRACE_BUILD/tests/golden/monitor_traces" .
names=(all drm gap ops ranks sampled slices power)
for name in "${names[@]}"; do
	for form in sqlite:sqlite parquet:parquet csv_tables:csv.d jsonl_tables:jsonl.d; do
		ending=${form#*:}
		run export -f "${form%:*}" -o "$name.$ending" "$name.grt"
		# a gap in the trace is told as by report
		[ "$status" = 0 ] || [ "$name" = gap ] || not_ok "$name.$ending: it is written"
	done
done
[ -z "$readers" ] || node "$GRTRACE_SRC/tests/cli/_tables.mjs" "$readers" sums "${names[@]/%/.parquet}" >found.json 2>&1
values=0
for name in "${names[@]}"; do
	output=$(python3 compare.py "$name" ${readers:+found.json} 2>&1)
	n=${output%% compared*}
	[ "$n" -ge 0 ] 2>/dev/null || not_ok "$name: all forms have the same rows and sums"
	values=$((values + n))
done
# what has a row for each event
for pair in slices:slices:gpu_slice power:counter_values:counter; do
	IFS=: read -r name table type <<<"$pair"
	check "there is a row for each ${type//_/ }" test "$(cat "$name".csv.d/"$table"/*/*/*.csv | wc -l)" = $(($("$GRTRACE" dump --type "$type" --json "$name.grt" 2>/dev/null | wc -l) + 1))
done
check "the rows and sums of 8 traces are the same in all forms: $values values" test $values -gt 500

# A table that cannot be written: nothing of the others stays, nor directories that were made for them.
blocked=$(cd ops.parquet && echo losses/*/*/*.parquet)
mkdir -p "there/$blocked"
find there >before
run export -f parquet -o there ops.grt
expect "a table that cannot be written is an error" 1 'cannot create there/losses/.*: Is a directory'
check "no other table stays" cmp before <(find there)
# It waits for a reader of a table that is a pipe: others are open by then.
mkdir -p "ended/${blocked%/*}"
mkfifo "ended/$blocked"
find ended >before
"$GRTRACE" export -f parquet -o ended ops.grt >/dev/null 2>&1 &
for _ in $(seq 200); do
	[ -z "$(find ended -name '*.parquet.*')" ] || break
	sleep 0.05
done
find ended >during
kill -TERM $!
wait $! 2>/dev/null
status=$?
check "a signal ends it while it writes" test $status = 143 -a "$(wc -l <during)" -gt "$(wc -l <before)"
check "no table stays then, nor a directory that was made" cmp before <(find ended)
if unshare -m sh -c 'mount -t tmpfs -o size=24k none there' 2>/dev/null; then
	output=$(unshare -m sh -c 'mount -t tmpfs -o size=24k none there && "$GRTRACE" export -f parquet -o there/a/b ops.grt; echo "exit $?"; find there' 2>&1)
	check "a full disk is an error" says 'cannot write to there/a/b.*: No space left on device'
	check "nothing stays on it" test "${output##*exit 1}" = $'\nthere'
fi

"$GRTRACE_BUILD/tests/cli/table_rows" parquet 150000 >rows.parquet 2>/dev/null
# Three groups: the second one takes the place of the first one's columns, and the third one that of the second one's.
"$GRTRACE_BUILD/tests/cli/table_rows" parquet 300000 >alone.parquet 2>/dev/null
"$GRTRACE_BUILD/tests/cli/table_rows" parquet 300000 beside >beside.parquet 2>/dev/null
check "groups that another thread writes have the same bytes" cmp alone.parquet beside.parquet
output=$("$GRTRACE_BUILD/tests/cli/table_rows" parquet 300000 beside 2>&1 >/dev/full)
status=$?
check "what another thread cannot write is an error" exits 1
"$GRTRACE_BUILD/tests/cli/table_rows" parquet 300000 later >later.parquet 2>/dev/null
check "rows that another thread makes have the same bytes" cmp alone.parquet later.parquet
for form in csv json; do
	"$GRTRACE_BUILD/tests/cli/table_rows" "$form" 100000 2>/dev/null | cksum >"alone.$form"
	"$GRTRACE_BUILD/tests/cli/table_rows" "$form" 100000 later 2>/dev/null | cksum >"later.$form"
	check "in $form, too" cmp "alone.$form" "later.$form"
done
output=$("$GRTRACE_BUILD/tests/cli/table_rows" parquet 300000 later 2>&1 >/dev/full)
status=$?
check "rows that another thread cannot write are an error" exits 1
cat >rows.sql <<'END_SQL'
WITH t AS (SELECT *, file_row_number::HUGEINT AS i FROM read_parquet('rows.parquet', file_row_number = true))
SELECT count(*) AS rows,
count(*) FILTER (number IS DISTINCT FROM i * 11400714819323198485 % 18446744073709551616) AS number,
count(*) FILTER (sign IS DISTINCT FROM CASE WHEN i % 2 = 1 THEN -i * 1000003 ELSE i END) AS sign,
count(*) FILTER (small IS DISTINCT FROM i % 7) AS small,
count(*) FILTER ("at" IS DISTINCT FROM 1700000000000000000 + i * 1000 + i * 7919 % 977) AS "at",
count(*) FILTER (took IS DISTINCT FROM CASE WHEN i % 3 > 0 THEN i * i END) AS took,
count(*) FILTER (abs(share - i % 100000 / 1000.0) > 1e-9) AS share,
count(*) FILTER (abs(amount - (i % 3 - 1) / 1000.0) > 1e-9) AS amount,
count(*) FILTER (flag IS DISTINCT FROM CASE WHEN i % 11 > 0 THEN i % 4 = 1 END) AS flag,
count(*) FILTER ("name" IS DISTINCT FROM 'void name' || (i % 1000) || '(float*)') AS "name",
count(*) FILTER (own IS DISTINCT FROM i::VARCHAR) AS own,
count(*) FILTER (bad IS DISTINCT FROM CASE WHEN i % 2 = 1 THEN chr(65533) || '€"' ELSE '' END) AS bad,
count(*) FILTER (list IS DISTINCT FROM CASE i % 3 WHEN 0 THEN '[]' WHEN 1 THEN '[' || (i % 50) || ']' ELSE '[' || (i % 50) || ',18446744073709551615]' END) AS list,
count(*) FILTER (stays IS DISTINCT FROM 'stays' || (i % 700)) AS stays,
count(*) FILTER ("one" IS DISTINCT FROM 5 OR same IS DISTINCT FROM 'same') AS same,
count(*) FILTER (gap IS DISTINCT FROM CASE WHEN i % 1000 <> 997 THEN i END) AS gap,
count(nothing) AS "nothing",
count(*) FILTER (inferred IS DISTINCT FROM CASE WHEN i % 5 = 0 THEN 'small' END) AS inferred FROM t
END_SQL
if [ -n "$readers" ]; then
	output=$(node "$GRTRACE_SRC/tests/cli/_tables.mjs" "$readers" sql "$(cat rows.sql)" \
		"SELECT count(*) AS n, sum(row_group_num_rows) FILTER (column_id = 0)::INTEGER AS r, max(row_group_id) AS g FROM parquet_metadata('rows.parquet')" \
		"SELECT value::VARCHAR AS v FROM parquet_kv_metadata('$(echo all.parquet/work/host=*/date=*/*.parquet)') WHERE key::VARCHAR IN ('trace.format', 'trace.clock_start') ORDER BY 1" 2>&1)
	check "each value of each kind is read, over groups of rows" grep -q '^{"rows":"150000","number":"0","sign":"0","small":"0","at":"0","took":"0","share":"0","amount":"0","flag":"0","name":"0","own":"0","bad":"0","list":"0","stays":"0","same":"0","gap":"0","nothing":"0","inferred":"0"}$' <<<"$output"
	check "there are two groups" grep -q '"r":150000,"g":"1"' <<<"$output"
	check "pairs have the format and the clock" grep -q '"v":"5"' <<<"$output"
	check "the clock is that of the recording" grep -qF "\"v\":\"monotonic=1000 realtime=1700000000000001000\"" <<<"$output"
else
	ok "Parquet by other readers # SKIP $(tail -n 1 readers.err)"
fi
# What two ranks of PyTorch did on two H100: the recording of a tutorial. All tables together, and the work alone.
tar -xJf "$GRTRACE_SRC/examples/tutorials/late-rank.grt.tar.xz"
run export -f parquet -o real.d late-rank.grt
run export -f csv_tables -o real.csv late-rank.grt
rows=$(tail -q -n +2 real.csv/work/*/*/*.csv | wc -l)
bytes=$(find real.d -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')
check "kernels of PyTorch take at most 20 bytes each, with all tables: $bytes bytes, $rows rows" test "$rows" -gt 20000 -a "$bytes" -le $((20 * rows))
check "there is a row for each kernel, copy and fill" test "$rows" = "$("$GRTRACE" dump --type gpu_kernel,gpu_copy --json late-rank.grt 2>/dev/null | wc -l)"
check "host and date are in the names" test "$(cd all.parquet/work && find . -type f)" = "./host=a%20b/date=2023-11-14/1700000000000000900.parquet"
check "files are for their owner only" test -z "$(find all.parquet -type f ! -perm 600 -o -type d ! -perm 700)"
before=$(find all.parquet -type f -exec cksum {} + | sort)
run export -f parquet -o all.parquet all.grt
check "the same again takes its place" test "$(find all.parquet -type f -exec cksum {} + | sort)" = "$before"
run export -f parquet -o all.parquet cuda.grt
check "another recording stands beside it" test "$(find all.parquet/work -type f | wc -l)" = 2
run export -f parquet all.grt
expect "not into a pipe" 2 'tables need a directory: use -o DIR'
run export -f jsonl_tables all.grt
expect "nor lines of JSON" 2 'tables need a directory'
run export -f csv-tables -o compare.py all.grt
expect "not into a file" 2 'tables need a directory'
run export -f parquet -o all.grt all.grt
expect "not into the recording" 2 'would overwrite it'
run export -f parquet -t submit -o x.parquet all.grt
expect "events of some types make no rows" 2 -- '--type'
(ulimit -f 1 && exec "$GRTRACE" export -f csv-tables -o big cuda.grt) 2>/dev/null
check "what has no room is not left half" test -z "$(find big -type f)"
plan
