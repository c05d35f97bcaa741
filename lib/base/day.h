/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Time stamps with a time of day and no date: converted to ns since the
 * midnight before the text.
 */
#ifndef GRT_BASE_DAY_H
#define GRT_BASE_DAY_H

#include "scan.h"

#define GRT_NS_PER_DAY (86400 * GRT_NS_PER_S)

/** struct grt_day - the state; all zero at the beginning of a text */
struct grt_day {
	uint64_t day;
	uint64_t time_of_day;
};

/**
 * grt_scan_time_of_day - parses HH:MM:SS, with or without a fraction, before a blank or the end: ns since
 * midnight
 */
static inline bool grt_scan_time_of_day(const char **p, const char *end, uint64_t *ns)
{
	const char *q = *p;
	uint64_t hour, minute, second;

	if (end - q < 8 || q[2] != ':' || q[5] != ':' || !grt_scan_u64(&q, end, &hour) || hour > 23 ||
	    !grt_scan_char(&q, end, ':') || !grt_scan_u64(&q, end, &minute) || minute > 59 ||
	    !grt_scan_char(&q, end, ':'))
		return false;
	if (!grt_scan_stamp(&q, end, &second)) {
		if (!grt_scan_u64(&q, end, &second))
			return false;
		second *= GRT_NS_PER_S;
	}
	if (second > 60 * GRT_NS_PER_S || (q < end && !grt_is_blank(*q)))
		return false;
	*ns = (hour * 3600 + minute * 60) * GRT_NS_PER_S + second;
	*p = q;
	return true;
}

/**
 * grt_day_time - ns since the first midnight; a step back of less than half a day is taken as disorder
 * between CPUs, not as a new day
 */
static inline uint64_t grt_day_time(struct grt_day *d, uint64_t time_of_day)
{
	if (time_of_day + GRT_NS_PER_DAY / 2 < d->time_of_day)
		d->day++;
	else if (d->day && time_of_day > d->time_of_day + GRT_NS_PER_DAY / 2)
		return (d->day - 1) * GRT_NS_PER_DAY + time_of_day;
	d->time_of_day = time_of_day;
	return d->day * GRT_NS_PER_DAY + time_of_day;
}

#endif /* GRT_BASE_DAY_H */
