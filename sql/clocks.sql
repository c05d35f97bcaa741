-- SPDX-License-Identifier: GPL-2.0
-- Behind _clocks.sql. How far the clock of each host is ahead of the reference's, and how fast it goes away from it, each with its error:
-- bounds that hold, not deviations. Hosts that share no collective with the reference are not there; where bounds
-- contradict each other, what was taken for one collective is not one, and there is no offset.
SELECT host, reference, bounds, contradict, floor(offset_ns) AS offset_ns, floor(error_ns) AS error_ns,
	at_ns, floor(drift_ppb) AS drift_ppb, floor(drift_error_ppb) AS drift_error_ppb
FROM clocks
ORDER BY host;
