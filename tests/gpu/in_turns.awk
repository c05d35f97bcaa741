# SPDX-License-Identifier: GPL-2.0
# in_turns.awk WINDOWS SAMPLES: WINDOWS has lines `off|on PAIR BEGIN END`, SAMPLES `BEGIN END VALUE`.
# A sample counts for the window that it is in as a whole. Prints the medians of all samples
# without and with, how many percent more the median with is, of all pairs the median, its
# standard error (by the median deviation), and the number of samples.

function median(values, n,    i, j, v)
{
	for (i = 2; i <= n; i++) {
		v = values[i]
		for (j = i - 1; j > 0 && values[j] > v; j--)
			values[j + 1] = values[j]
		values[j + 1] = v
	}
	return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
}

function median_of(kind, pair,    n, i, w, list)
{
	for (w = 1; w <= windows; w++)
		if (kinds[w] == kind && (pair == "" || pairs[w] == pair))
			for (i = 1; i <= count[w]; i++)
				list[++n] = sample[w, i]
	return n ? median(list, n) : 0
}

NR == FNR {
	kinds[++windows] = $1
	pairs[windows] = $2
	begin[windows] = $3
	end[windows] = $4
	next
}

{
	for (w = 1; w <= windows; w++)
		if ($1 >= begin[w] && $2 <= end[w]) {
			sample[w, ++count[w]] = $3
			total++
		}
}

END {
	for (w = 1; w <= windows; w++) {
		if (kinds[w] != "off")
			continue
		off = median_of("off", pairs[w])
		on = median_of("on", pairs[w])
		if (!off || !on)
			continue
		more[++n] = (on / off - 1) * 100
	}
	if (n < 2)
		exit 1
	middle = median(more, n)
	for (w = 1; w <= n; w++)
		apart[w] = more[w] < middle ? middle - more[w] : more[w] - middle
	printf "%.1f %.1f %+.2f %.2f %d\n", median_of("off", ""), median_of("on", ""), middle,
	       1.4826 * median(apart, n) * 1.2533 / sqrt(n), total
}
