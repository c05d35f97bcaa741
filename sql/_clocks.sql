-- SPDX-License-Identifier: GPL-2.0
-- Before clocks.sql and late.sql, for both engines: how far the clocks of hosts are apart, from collectives.
--
-- No rank ends one of these before the last has entered. So in each of them the clock of a host is ahead of that of the
-- reference by no less than `least` and no more than `most`: the reference is the host whose name is the first.

-- The last collective of each step and communicator, by rank: NCCL's number is its identity; where NCCL's plugin was not
-- there it is taken for the one of the same step, stream, kernel and number. What one rank gives to the others, or gets
-- from them, is left out: that may end before the others have come.
CREATE OR REPLACE VIEW meetings AS
SELECT host, rank, gpu, step, coalesce(communicator, '') AS communicator, collective,
	CASE WHEN sequence IS NULL THEN step + 1 ELSE 0 END AS of_step,
	CASE WHEN sequence IS NULL THEN stream ELSE 0 END AS of_stream,
	coalesce(sequence, count) AS number, begin_ns, end_ns
FROM step_collectives
WHERE lower(collective) LIKE '%allreduce%' OR lower(collective) LIKE '%allgather%'
	OR lower(collective) LIKE '%reducescatter%' OR lower(collective) LIKE '%alltoall%';

CREATE TEMPORARY TABLE of_reference AS
SELECT host AS reference, communicator, collective, of_step, of_stream, number, max(begin_ns) AS r_entered_ns, min(end_ns) AS r_left_ns
FROM meetings
WHERE host = (SELECT min(host) FROM steps)
GROUP BY host, communicator, collective, of_step, of_stream, number;

CREATE TEMPORARY TABLE clock_bounds AS
SELECT host, reference, r_left_ns AS at_ns, min(end_ns) - r_left_ns AS about, max(begin_ns) - r_left_ns AS least,
	min(end_ns) - r_entered_ns AS most
FROM meetings
JOIN of_reference USING (communicator, collective, of_step, of_stream, number)
GROUP BY host, reference, communicator, collective, of_step, of_stream, number, r_entered_ns, r_left_ns;

-- A line through the bounds of each host. First about where it is, from the middles of two halves.
CREATE TEMPORARY TABLE clock_spans AS
SELECT host AS of_host, count(*) AS bounds, min(at_ns) + (max(at_ns) - min(at_ns)) / 2 AS mid_ns, (max(at_ns) - min(at_ns)) / 1e9 AS span_s,
	min(about) AS base
FROM clock_bounds
GROUP BY host;

CREATE TEMPORARY TABLE clock_points AS
SELECT host, reference, bounds, base, mid_ns, span_s, (at_ns - mid_ns) / 1e9 AS s, about - base AS about, least - base AS least, most - base AS most
FROM clock_bounds
JOIN clock_spans ON host = of_host;

CREATE TEMPORARY TABLE clock_slopes AS
SELECT of_host, least(greatest(coalesce((y2 - y1) / nullif(s2 - s1, 0), 0), -5e5), 5e5) AS slope
FROM (
	SELECT host AS of_host, median(CASE WHEN s < 0 THEN s END) AS s1, median(CASE WHEN s < 0 THEN about END) AS y1,
		median(CASE WHEN s >= 0 THEN s END) AS s2, median(CASE WHEN s >= 0 THEN about END) AS y2
	FROM clock_points
	GROUP BY host
) AS halves;

-- Of what is left, the tightest bounds in each of 16 parts of the time say how steep it can be. No clock is taken to be off
-- by more than 500 ppm, which is what Linux corrects one by at most.
CREATE TEMPORARY TABLE clock_parts AS
SELECT of_host AS part_host, least(15, floor(16 * (s / nullif(span_s, 0) + 0.5))) AS part,
	max(least - slope * s) AS part_least, argMax(s, least - slope * s) AS least_s, min(most - slope * s) AS part_most,
	argMin(s, most - slope * s) AS most_s
FROM clock_points
JOIN clock_slopes ON host = of_host
WHERE span_s > 0
GROUP BY of_host, part;

CREATE TEMPORARY TABLE clock_ranges AS
SELECT of_host, slope, greatest(coalesce(least_slope, -1e9), -5e5 - slope) AS least_slope, least(coalesce(most_slope, 1e9), 5e5 - slope) AS most_slope
FROM clock_slopes
LEFT JOIN (
	SELECT a.part_host AS pairs_host, max((b.part_least - a.part_most) / (b.least_s - a.most_s)) AS least_slope,
		min((b.part_most - a.part_least) / (b.most_s - a.least_s)) AS most_slope
	FROM clock_parts AS a
	JOIN clock_parts AS b ON a.part_host = b.part_host
	WHERE a.part < b.part
	GROUP BY a.part_host
) AS pairs ON of_host = pairs_host;

-- All bounds, each widened by how steep it can be, say where it can be in the middle.
CREATE TEMPORARY TABLE clock_lines AS
SELECT host, reference, bounds, base, mid_ns, slope + (least_slope + most_slope) / 2 AS drift, (most_slope - least_slope) / 2 AS drift_error,
	max(least - (slope + (least_slope + most_slope) / 2) * s - (most_slope - least_slope) / 2 * abs(s)) AS least,
	min(most - (slope + (least_slope + most_slope) / 2) * s + (most_slope - least_slope) / 2 * abs(s)) AS most
FROM clock_points
JOIN clock_ranges ON host = of_host
GROUP BY host, reference, bounds, base, mid_ns, slope, least_slope, most_slope;

-- offset_ns of the clock of a host when that shows at_ns, to the reference's; drift_ppb more for each second
CREATE TEMPORARY TABLE clocks AS
SELECT host, reference, bounds, least > most OR drift_error < 0 AS contradict,
	CASE WHEN host = reference THEN 0 WHEN least <= most AND drift_error >= 0 THEN base + (least + most) / 2 END AS offset_ns,
	CASE WHEN host = reference THEN 0 WHEN least <= most AND drift_error >= 0 THEN (most - least) / 2 END AS error_ns,
	CASE WHEN host = reference THEN 0 WHEN least <= most AND drift_error >= 0 THEN drift END AS drift_ppb,
	CASE WHEN host = reference THEN 0 WHEN least <= most AND drift_error >= 0 THEN drift_error END AS drift_error_ppb,
	mid_ns + CASE WHEN host = reference THEN 0 ELSE base END AS at_ns
FROM clock_lines;
