-- SPDX-License-Identifier: GPL-2.0
-- What each step lost most by, more than 3 % of it, and where: a slow GPU, more work than others have, a slow host thread,
-- copies, or a slow link. No row: nothing stands out in the step.
--
-- A rank is late by what it takes above the median but for exposed communication. A link is slow where even the rank that
-- waited least in a communicator is above what is usual for as many ranks and bytes; it is at the ranks that most of the
-- slow communicators have in common. host and rank are NULL where these are several.
WITH s AS (
	SELECT host, rank, gpu, step, time_ns, compute_ns, copy_ns, idle_ns, time_ns - comm_ns AS own_ns
	FROM steps
), m AS (
	SELECT step AS m_step, count(*) AS ranks, median(time_ns) AS m_time_ns, median(own_ns) AS m_own_ns,
		median(compute_ns) AS m_compute_ns, median(copy_ns) AS m_copy_ns, median(idle_ns) AS m_idle_ns
	FROM s
	GROUP BY step
), own AS (
	SELECT step, host, rank, gpu, m_time_ns, own_ns - m_own_ns AS more_ns, compute_ns - m_compute_ns AS compute_ns,
		copy_ns - m_copy_ns AS copy_ns, idle_ns - m_idle_ns AS idle_ns,
		row_number() OVER (PARTITION BY step ORDER BY own_ns DESC, host, rank) AS nth
	FROM s
	JOIN m ON step = m_step
	WHERE ranks > 1
), n AS (
	SELECT step AS n_step, host AS n_host, rank AS n_rank, gpu AS n_gpu, sum(count) AS kernels
	FROM step_work
	WHERE kind = 'kernel'
	GROUP BY step, host, rank, gpu
), usual_n AS (
	SELECT n_step AS u_step, median(kernels) AS usual_kernels
	FROM n
	GROUP BY n_step
), of_ranks AS (
	SELECT step, more_ns, m_time_ns, host, rank,
		CASE WHEN compute_ns >= copy_ns AND compute_ns >= idle_ns THEN
			CASE WHEN kernels > 1.02 * usual_kernels THEN 'more work' ELSE 'slow GPU' END
		WHEN copy_ns >= idle_ns THEN 'copies' ELSE 'slow host thread' END AS cause
	FROM own
	LEFT JOIN n ON step = n_step AND host = n_host AND rank = n_rank AND gpu = n_gpu
	LEFT JOIN usual_n ON step = u_step
	WHERE nth = 1
), c AS (
	SELECT step, communicator, collective, max(ranks) AS of_ranks, min(time_ns) AS took_ns,
		min(time_ns) / coalesce(nullif(max(bytes), 0), 1) AS rate
	FROM step_collectives
	WHERE communicator IS NOT NULL
	GROUP BY step, communicator, collective
), step_rate AS (
	SELECT of_ranks AS r_ranks, collective AS r_collective, step AS r_step, median(rate) AS step_usual
	FROM c
	GROUP BY of_ranks, collective, step
), usual_rate AS (
	SELECT r_ranks AS u_ranks, r_collective AS u_collective, median(step_usual) AS usual
	FROM step_rate
	GROUP BY r_ranks, r_collective
), slow AS (
	SELECT step AS slow_step, communicator AS slow_communicator, collective AS slow_collective, took_ns * (1 - usual / rate) AS slow_ns
	FROM c
	JOIN usual_rate ON of_ranks = u_ranks AND collective = u_collective
	WHERE rate > 1.25 * usual
), members AS (
	SELECT step, host, rank, count(*) AS hits, sum(slow_ns) AS more_ns
	FROM step_collectives
	JOIN slow ON step = slow_step AND communicator = slow_communicator AND collective = slow_collective
	GROUP BY step, host, rank
), most AS (
	SELECT step AS most_step, max(more_ns) AS most_ns
	FROM members
	GROUP BY step
), of_links AS (
	SELECT step AS link_step, min(host) AS link_host, min(rank) AS link_rank, count(*) AS link_ranks,
		count(DISTINCT host) AS link_hosts, max(most_ns) AS link_ns
	FROM members
	JOIN most ON step = most_step
	WHERE more_ns > 0.95 * most_ns
	GROUP BY step
), found AS (
	SELECT step, cause, host, rank, more_ns FROM of_ranks WHERE more_ns > 0.03 * m_time_ns
	UNION ALL
	SELECT link_step AS step, 'slow link' AS cause, CASE WHEN link_hosts = 1 THEN link_host END AS host,
		CASE WHEN link_ranks = 1 THEN link_rank END AS rank, link_ns AS more_ns
	FROM of_links
	JOIN m ON link_step = m_step
	WHERE link_ns > 0.03 * m_time_ns
), best AS (
	SELECT step, cause, host, rank, more_ns, row_number() OVER (PARTITION BY step ORDER BY more_ns DESC, cause) AS nth
	FROM found
)
SELECT step, cause, host, rank, floor(more_ns) AS lost_ns
FROM best
WHERE nth = 1
ORDER BY step;
