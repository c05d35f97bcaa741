-- SPDX-License-Identifier: GPL-2.0
-- What GPUs were idle for, over all hosts: the cause, the code that was before the next launch, and how many GPUs have it.
SELECT cause, coalesce(place, call, set_up, waker, process) AS code, sum(i.time_ns) AS time_ns, sum(parts) AS gaps,
	count(DISTINCT host) AS hosts, count(DISTINCT concat(host, ' ', device)) AS gpus, argMax(host, i.time_ns) AS most_on
FROM idle AS i
GROUP BY cause, code
ORDER BY time_ns DESC, cause, code
LIMIT 50;
