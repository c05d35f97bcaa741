-- SPDX-License-Identifier: GPL-2.0
-- What GPUs were idle for, over all hosts: the cause, the code that was before the next launch, and how many GPUs have it.
SELECT cause, coalesce(place, call, set_up, waker, process) AS at, sum(time_ns)::BIGINT AS time_ns,
	sum(parts)::BIGINT AS gaps, count(DISTINCT host) AS hosts, count(DISTINCT (host, device)) AS gpus,
	arg_max(host, time_ns) AS most_on
FROM read_parquet('idle/*/*/*.parquet', hive_partitioning = true)
GROUP BY ALL
ORDER BY time_ns DESC
LIMIT 50;
