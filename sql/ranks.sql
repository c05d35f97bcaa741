-- SPDX-License-Identifier: GPL-2.0
-- How often each rank was late by more than 5 % of a step, what that cost, and what it was above the others in.
WITH s AS (
	SELECT host, rank, gpu, step, time_ns, compute_ns, copy_ns, idle_ns, time_ns - comm_ns AS own_ns
	FROM steps
), m AS (
	SELECT step AS m_step, median(time_ns) AS m_time_ns, median(own_ns) AS m_own_ns,
		median(compute_ns) AS m_compute_ns, median(copy_ns) AS m_copy_ns, median(idle_ns) AS m_idle_ns
	FROM s
	GROUP BY step
), d AS (
	SELECT host, rank, gpu, own_ns - m_own_ns > 0.05 * m_time_ns AS is_late, own_ns - m_own_ns AS more_ns,
		compute_ns - m_compute_ns AS more_compute_ns, copy_ns - m_copy_ns AS more_copy_ns, idle_ns - m_idle_ns AS more_idle_ns
	FROM s
	JOIN m ON step = m_step
)
SELECT host, rank, gpu, count(*) AS steps, sum(CASE WHEN is_late THEN 1 ELSE 0 END) AS late,
	floor(sum(CASE WHEN is_late THEN more_ns ELSE 0 END)) AS late_ns,
	floor(sum(CASE WHEN is_late THEN more_compute_ns ELSE 0 END)) AS compute_ns,
	floor(sum(CASE WHEN is_late THEN more_copy_ns ELSE 0 END)) AS copy_ns,
	floor(sum(CASE WHEN is_late THEN more_idle_ns ELSE 0 END)) AS idle_ns
FROM d
GROUP BY host, rank, gpu
ORDER BY late_ns DESC, host, rank;
