-- SPDX-License-Identifier: GPL-2.0
-- What GPUs were idle for, over all hosts: the cause, the code that was before the next launch, and how many GPUs have it.
WITH h AS (
	SELECT cause, coalesce(place, call, set_up, waker, process) AS code, host, sum(i.time_ns) AS h_time_ns, sum(parts) AS h_gaps,
		count(DISTINCT device) AS h_gpus
	FROM idle AS i
	GROUP BY cause, code, host
), t AS (
	SELECT *, max(h_time_ns) OVER (PARTITION BY cause, code) AS most_ns
	FROM h
)
SELECT cause, code, sum(h_time_ns) AS time_ns, sum(h_gaps) AS gaps, count(*) AS hosts, sum(h_gpus) AS gpus,
	min(CASE WHEN h_time_ns = most_ns THEN host END) AS most_on
FROM t
GROUP BY cause, code
ORDER BY time_ns DESC, cause, code
LIMIT 50;
