-- SPDX-License-Identifier: GPL-2.0
-- Hosts whose ranks all do: the best rank of a host against the median of all ranks, by step. A slow GPU or thread is
-- of one rank, and does not show here.
WITH s AS (
	SELECT host, rank, step, time_ns, compute_ns, idle_ns, time_ns - comm_ns AS own_ns
	FROM read_parquet('steps/*/*/*.parquet', hive_partitioning = true)
), m AS (
	SELECT step, median(time_ns) AS time_ns, median(own_ns) AS own_ns
	FROM s
	GROUP BY step
), h AS (
	SELECT host, step, count(*) AS ranks, min(own_ns) AS own_ns, median(compute_ns) AS compute_ns, median(idle_ns) AS idle_ns
	FROM s
	GROUP BY host, step
)
SELECT host, max(ranks) AS ranks, count(*) AS steps,
	count(*) FILTER (h.own_ns - m.own_ns > 0.05 * m.time_ns) AS late,
	coalesce(sum(h.own_ns - m.own_ns) FILTER (h.own_ns - m.own_ns > 0.05 * m.time_ns), 0)::BIGINT AS late_ns,
	median(compute_ns)::BIGINT AS compute_ns, median(idle_ns)::BIGINT AS idle_ns
FROM h
JOIN m USING (step)
GROUP BY host
ORDER BY late_ns DESC, host;
