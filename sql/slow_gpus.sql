-- SPDX-License-Identifier: GPL-2.0
-- GPUs that take longer than others for the same kernels: each kernel's time against the median of all GPUs, weighted
-- by how much time it takes. Kernels of communication are left out: they wait for others.
WITH k AS (
	SELECT host, rank, gpu, uuid, name, count(*) AS n, sum(duration_ns) AS time_ns, avg(duration_ns) AS mean_ns
	FROM read_parquet('work/*/*/*.parquet', hive_partitioning = true)
	WHERE kind = 'kernel' AND duration_ns IS NOT NULL AND NOT regexp_matches(name, '(?i)nccl|rccl|onccl|nvshmem')
	GROUP BY ALL
), m AS (
	SELECT name, median(mean_ns) AS usual_ns
	FROM k
	GROUP BY name
	HAVING count(*) > 2
)
SELECT host, rank, gpu, uuid, sum(n)::BIGINT AS kernels, sum(time_ns)::BIGINT AS time_ns,
	round(sum(time_ns) / sum(n * usual_ns), 3) AS slower
FROM k
JOIN m USING (name)
GROUP BY host, rank, gpu, uuid
ORDER BY slower DESC, host, rank;
