-- SPDX-License-Identifier: GPL-2.0
-- Which rank the others waited for, step by step, and in what it was above the median of all ranks. In a step with
-- collectives all ranks take the same time: the one that was late is the one that waited least in them.
-- Steps are joined by their numbers: the recordings have to begin before the same step.
WITH s AS (
	SELECT host, rank, gpu, step, time_ns, compute_ns, copy_ns, idle_ns, time_ns - comm_ns AS own_ns
	FROM read_parquet('steps/*/*/*.parquet', hive_partitioning = true)
), m AS (
	SELECT step, count(*) AS ranks, median(time_ns) AS time_ns, median(own_ns) AS own_ns,
		median(compute_ns) AS compute_ns, median(copy_ns) AS copy_ns, median(idle_ns) AS idle_ns
	FROM s
	GROUP BY step
)
SELECT s.step, m.ranks, s.host, s.rank, s.gpu, (s.own_ns - m.own_ns)::BIGINT AS late_ns,
	round(100 * late_ns / m.time_ns, 1) AS late_percent,
	CASE greatest(s.compute_ns - m.compute_ns, s.copy_ns - m.copy_ns, s.idle_ns - m.idle_ns)
		WHEN s.compute_ns - m.compute_ns THEN 'compute'
		WHEN s.copy_ns - m.copy_ns THEN 'copy'
		ELSE 'idle'
	END AS by
FROM s
JOIN m USING (step)
WHERE m.ranks > 1
QUALIFY row_number() OVER (PARTITION BY s.step ORDER BY late_ns DESC, s.host, s.rank) = 1
ORDER BY s.step;
