-- SPDX-License-Identifier: GPL-2.0
-- GPUs that take longer than others for the same kernels: each kernel's time against the median of all GPUs, weighted
-- by how much time it takes. Kernels of communication are left out: they wait for others.
WITH k AS (
	SELECT host, rank, gpu, name, sum(count) AS n, sum(time_ns) AS time_ns
	FROM step_work
	WHERE kind = 'kernel'
	GROUP BY host, rank, gpu, name
), m AS (
	SELECT name AS m_name, median(time_ns / n) AS usual_ns
	FROM k
	GROUP BY name
	HAVING count(*) > 2
), s AS (
	SELECT host, rank, gpu, sum(n) AS kernels, sum(time_ns) AS took_ns, sum(n * usual_ns) AS usual_ns
	FROM k
	JOIN m ON name = m_name
	GROUP BY host, rank, gpu
)
SELECT host, rank, gpu, kernels, took_ns AS time_ns, round(took_ns / usual_ns, 3) AS slower
FROM s
ORDER BY slower DESC, host, rank;
