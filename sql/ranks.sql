-- SPDX-License-Identifier: GPL-2.0
-- How often each rank was late by more than 5 % of a step, what that cost, and what it was above the others in.
WITH s AS (
	SELECT host, rank, gpu, step, time_ns, compute_ns, copy_ns, idle_ns, time_ns - comm_ns AS own_ns
	FROM read_parquet('steps/*/*/*.parquet', hive_partitioning = true)
), d AS (
	SELECT host, rank, gpu, step,
		own_ns - median(own_ns) OVER w AS late_ns,
		compute_ns - median(compute_ns) OVER w AS compute_ns,
		copy_ns - median(copy_ns) OVER w AS copy_ns,
		idle_ns - median(idle_ns) OVER w AS idle_ns,
		late_ns > 0.05 * median(time_ns) OVER w AS is_late
	FROM s
	WINDOW w AS (PARTITION BY step)
)
SELECT host, rank, gpu, count(*) AS steps, count(*) FILTER (is_late) AS late,
	coalesce(sum(late_ns) FILTER (is_late), 0)::BIGINT AS late_ns,
	coalesce(sum(compute_ns) FILTER (is_late), 0)::BIGINT AS compute_ns,
	coalesce(sum(copy_ns) FILTER (is_late), 0)::BIGINT AS copy_ns,
	coalesce(sum(idle_ns) FILTER (is_late), 0)::BIGINT AS idle_ns
FROM d
GROUP BY host, rank, gpu
ORDER BY late_ns DESC, host, rank;
