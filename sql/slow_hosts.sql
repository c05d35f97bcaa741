-- SPDX-License-Identifier: GPL-2.0
-- Hosts whose ranks all do: the best rank of a host against the median of all ranks, by step. A slow GPU or thread is
-- of one rank, and does not show here.
WITH s AS (
	SELECT host, rank, step, time_ns, compute_ns, idle_ns, time_ns - comm_ns AS own_ns
	FROM steps
), m AS (
	SELECT step AS m_step, median(time_ns) AS m_time_ns, median(own_ns) AS m_own_ns
	FROM s
	GROUP BY step
), h AS (
	SELECT host, step, count(*) AS ranks, min(own_ns) AS best_ns, median(compute_ns) AS h_compute_ns, median(idle_ns) AS h_idle_ns
	FROM s
	GROUP BY host, step
), d AS (
	SELECT host, ranks, h_compute_ns, h_idle_ns, best_ns - m_own_ns AS more_ns, best_ns - m_own_ns > 0.05 * m_time_ns AS is_late
	FROM h
	JOIN m ON step = m_step
)
SELECT host, max(d.ranks) AS ranks, count(*) AS steps, sum(CASE WHEN is_late THEN 1 ELSE 0 END) AS late,
	floor(sum(CASE WHEN is_late THEN more_ns ELSE 0 END)) AS late_ns, floor(median(h_compute_ns)) AS compute_ns,
	floor(median(h_idle_ns)) AS idle_ns
FROM d
GROUP BY host
ORDER BY late_ns DESC, host;
