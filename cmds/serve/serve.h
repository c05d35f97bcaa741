/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between the files of `grtrace serve`: serve.c drives capture and metrics, serve_http.c
 * answers requests.
 */
#ifndef GRTRACE_SERVE_H
#define GRTRACE_SERVE_H

#include <grtrace/grtrace.h>

#define SERVE_DEFAULT "127.0.0.1:9738"

struct serve_http;

/**
 * serve_http_open - listens; requests are only answered by serve_http_run()
 * @address: "ADDRESS:PORT", "[ADDRESS]:PORT" or "PORT"
 * @text: makes the page, which is freed; NULL: no memory
 * Return: 0, -EINVAL: it is not an address, -ENOSYS: there is no libmicrohttpd, or another negative errno
 */
int serve_http_open(struct serve_http **out, const char *address, char *(*text)(void *arg, size_t *length),
		    void *arg, struct grt_err *err);

/** serve_http_fd - readable when a request waits */
int serve_http_fd(const struct serve_http *h);

/** serve_http_url - the URL of the page */
const char *serve_http_url(const struct serve_http *h);

/** serve_http_run - does the work that needs no waiting */
void serve_http_run(struct serve_http *h);

/** serve_http_close - NULL is allowed */
void serve_http_close(struct serve_http *h);

#endif /* GRTRACE_SERVE_H */
