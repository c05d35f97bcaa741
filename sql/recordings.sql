-- SPDX-License-Identifier: GPL-2.0
-- The recordings: when each began by the clock of its host, how long it is, what was lost in it. Stamps are of each
-- host's CLOCK_MONOTONIC; wall_offset_ns added to one is its time since 1970, as exact as the host's clock was.
WITH m AS (
	SELECT host, file, max(CASE WHEN key = 'trace.clock_start' THEN value END) AS clock,
		CAST(max(CASE WHEN key = 'recording.from_ns' THEN value END) AS BIGINT) AS from_ns,
		CAST(max(CASE WHEN key = 'recording.span_ns' THEN value END) AS BIGINT) AS span_ns,
		CAST(max(CASE WHEN key = 'health.events' THEN value END) AS BIGINT) AS events,
		CAST(max(CASE WHEN key = 'balance.lost' THEN value END) AS BIGINT) AS lost,
		max(CASE WHEN key = 'balance.closes' THEN value END) = '1' AS whole
	FROM meta
	GROUP BY host, file
), c AS (
	SELECT *, number_behind(clock, 'realtime') - number_behind(clock, 'monotonic') AS wall_offset_ns
	FROM m
)
SELECT host, span_ns, events, lost, whole, wall_offset_ns, from_ns + wall_offset_ns AS began_ns, file
FROM c
ORDER BY host, began_ns;
