-- SPDX-License-Identifier: GPL-2.0
-- Which rank the others waited for, step by step, and in what it was above the median of all ranks. In a step with
-- collectives all ranks take the same time: the one that was late is the one that waited least in them.
-- Steps are joined by their numbers: the recordings have to begin before the same step.
WITH s AS (
	SELECT host, rank, gpu, step, time_ns, compute_ns, copy_ns, idle_ns, time_ns - comm_ns AS own_ns
	FROM steps
), m AS (
	SELECT step AS m_step, count(*) AS ranks, median(time_ns) AS m_time_ns, median(own_ns) AS m_own_ns,
		median(compute_ns) AS m_compute_ns, median(copy_ns) AS m_copy_ns, median(idle_ns) AS m_idle_ns
	FROM s
	GROUP BY step
), l AS (
	SELECT step, ranks, host, rank, gpu, m_time_ns, own_ns - m_own_ns AS late_ns, compute_ns - m_compute_ns AS compute_ns,
		copy_ns - m_copy_ns AS copy_ns, idle_ns - m_idle_ns AS idle_ns,
		row_number() OVER (PARTITION BY step ORDER BY own_ns DESC, host, rank) AS nth
	FROM s
	JOIN m ON step = m_step
	WHERE ranks > 1
)
SELECT step, ranks, host, rank, gpu, floor(late_ns) AS late_ns, round(100 * late_ns / m_time_ns, 1) AS late_percent,
	CASE WHEN compute_ns >= copy_ns AND compute_ns >= idle_ns THEN 'compute' WHEN copy_ns >= idle_ns THEN 'copy' ELSE 'idle' END AS above_in
FROM l
WHERE nth = 1
ORDER BY step;
