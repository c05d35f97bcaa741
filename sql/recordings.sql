-- SPDX-License-Identifier: GPL-2.0
-- The recordings: when each began by the clock of its host, how long it is, what was lost in it. Stamps are of each
-- host's CLOCK_MONOTONIC; wall_offset_ns added to one is its time since 1970, as exact as the host's clock was.
WITH m AS (
	SELECT host, filename,
		max(value) FILTER (key = 'trace.clock_start') AS clock,
		max(value) FILTER (key = 'recording.from_ns')::BIGINT AS from_ns,
		max(value) FILTER (key = 'recording.span_ns')::BIGINT AS span_ns,
		max(value) FILTER (key = 'health.events')::BIGINT AS events,
		max(value) FILTER (key = 'balance.lost')::BIGINT AS lost,
		max(value) FILTER (key = 'balance.closes') = '1' AS whole
	FROM read_parquet('meta/*/*/*.parquet', hive_partitioning = true, filename = true)
	GROUP BY ALL
)
SELECT host, span_ns, events, lost, whole,
	regexp_extract(clock, 'realtime=(\d+)', 1)::BIGINT - regexp_extract(clock, 'monotonic=(\d+)', 1)::BIGINT AS wall_offset_ns,
	make_timestamp_ns(from_ns + wall_offset_ns) AS began, parse_filename(filename) AS file
FROM m
ORDER BY host, began;
