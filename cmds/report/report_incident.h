/* SPDX-License-Identifier: GPL-2.0 */
/* report --incident: why a snapshot of a black box was written. */
#ifndef GRTRACE_REPORT_INCIDENT_H
#define GRTRACE_REPORT_INCIDENT_H

#include "trace/names.h"

/**
 * incident_put_name - prints a blank and a name, escaped, or the name of its owner; nothing if there is none
 */
void incident_put_name(const struct grt_names *names, uint32_t kind, uint32_t id, bool owner);

/** report_incident - prints it. Return: an exit status */
int report_incident(const char *path);

#endif /* GRTRACE_REPORT_INCIDENT_H */
