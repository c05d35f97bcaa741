-- SPDX-License-Identifier: GPL-2.0
-- Behind _clocks.sql. Stragglers by collective: of the last collective of each step and communicator the rank that came
-- last, on one clock, where the middle one of the ranks waited longer for it than the collective itself took, and longer
-- than the clocks may be off. Ranks of one host have one clock.
WITH m AS (
	SELECT communicator, collective, of_step, of_stream, number, step, meetings.host AS host, rank, gpu, end_ns - begin_ns AS in_it_ns,
		begin_ns - offset_ns - drift_ppb / 1e9 * (begin_ns - at_ns) AS came_ns,
		error_ns + drift_error_ppb / 1e9 * abs(begin_ns - at_ns) AS clock_error_ns
	FROM meetings
	JOIN clocks ON meetings.host = clocks.host
	WHERE offset_ns IS NOT NULL
), c AS (
	SELECT communicator, collective, of_step, of_stream, number, count(*) AS ranks, max(step) AS in_step, argMax(host, came_ns) AS last_host,
		argMax(rank, came_ns) AS last_rank, argMax(gpu, came_ns) AS last_gpu, max(came_ns) - median(came_ns) AS late,
		min(in_it_ns) AS took,
		CASE WHEN min(host) = max(host) THEN 0 ELSE argMax(clock_error_ns, came_ns) + max(clock_error_ns) END AS clock_error
	FROM m
	GROUP BY communicator, collective, of_step, of_stream, number
)
SELECT in_step AS step, communicator, collective, number, ranks, last_host AS host, last_rank AS rank, last_gpu AS gpu,
	floor(late) AS late_ns, floor(clock_error) AS error_ns, took AS took_ns
FROM c
WHERE ranks > 1 AND late > took AND late > clock_error
ORDER BY step, late_ns DESC, communicator, collective, number;
