/* SPDX-License-Identifier: GPL-2.0 */
/* report --incident: why a snapshot of a black box was written. */
#ifndef GRTRACE_REPORT_INCIDENT_H
#define GRTRACE_REPORT_INCIDENT_H

/** report_incident - prints it. Return: an exit status */
int report_incident(const char *path);

#endif /* GRTRACE_REPORT_INCIDENT_H */
