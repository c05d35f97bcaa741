// SPDX-License-Identifier: GPL-2.0
/*
 * The page of metrics by libmicrohttpd, in the thread that captures. The library is loaded when it is needed.
 * Memory is bounded: 64 connections of 8 KiB, 4 pages at a time. A connection lasts for one request and 30 s
 * at most, however slow its client is.
 */
#include "serve.h"

#include <errno.h>
#include <string.h>

#ifdef GRT_HAVE_MHD

#include <dlfcn.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define HTTP_CONNECTIONS 64U
#define HTTP_PAGES 4U
#define HTTP_CONNECTION_NS (30 * GRT_NS_PER_S)
#define HTTP_MEMORY 8192U
#define HTTP_LIBRARY "libmicrohttpd.so.12"
/* A page is reused for requests within this time. */
#define HTTP_PAGE_NS 100000000ULL

/* clang-format off */
#define HTTP_FUNCTIONS(X) \
	X(start_daemon) X(stop_daemon) X(run) X(get_daemon_info) X(get_connection_info) \
	X(create_response_from_buffer_with_free_callback_cls) X(create_response_from_buffer) \
	X(add_response_header) X(queue_response) X(destroy_response)
/* clang-format on */

/** struct http_library - its functions */
struct http_library {
#define X(name) __typeof__(&MHD_##name) name;
	HTTP_FUNCTIONS(X)
#undef X
};

/** struct http_client - a connection; @fd: -1: unused */
struct http_client {
	int fd;
	uint64_t since;
};

/**
 * struct serve_http - the server
 * @page, @made: the newest page, and when it was made
 * @pages: number of pages that clients still receive, including this one
 */
struct serve_http {
	struct http_library mhd;
	struct MHD_Daemon *daemon;
	struct http_client client[HTTP_CONNECTIONS];
	struct MHD_Response *page;
	uint64_t made;
	unsigned int pages;
	char *(*text)(void *arg, size_t *length);
	void *arg;
	int epoll;
	char url[128];
};

/* A page, and the number of requests that use it. */
struct http_page {
	struct serve_http *h;
	char *text;
};

static int http_load(struct serve_http *h, struct grt_err *err)
{
	void *library = dlopen(HTTP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	const char *missing = library ? NULL : dlerror();

#define X(name)                                                       \
	if (library && !(h->mhd.name = dlsym(library, "MHD_" #name))) \
		missing = "MHD_" #name " is not in it";
	HTTP_FUNCTIONS(X)
#undef X
	return missing ? grt_err_set(err, -ENOSYS, missing, "apt-get install libmicrohttpd12",
				     "cannot load " HTTP_LIBRARY ", which answers requests")
		       : 0;
}

/* -------------------------------------------------------------- address */

static int http_bad_address(const char *address, const char *why, struct grt_err *err)
{
	return grt_err_set(err, -EINVAL, why, "--listen " SERVE_DEFAULT, "--listen %s is no ADDRESS:PORT",
			   address);
}

/* "PORT" alone is only reachable from this machine. */
static int http_split(const char *address, char host[256], char port[8], struct grt_err *err)
{
	const char *colon = strrchr(address, ':'), *end = colon ?: address;
	size_t length = (size_t)(end - address);
	char *rest;

	if (*address == '[') {
		address++;
		if (!colon || colon[-1] != ']')
			return http_bad_address(address - 1, "a ']' is missing before the port", err);
		length -= 2;
	} else if (colon && memchr(address, ':', length)) {
		return http_bad_address(address, "an IPv6 address needs brackets: [::1]:9738", err);
	}
	snprintf(host, 256, "%.*s", colon ? (int)length : 9, colon ? address : "127.0.0.1");
	snprintf(port, 8, "%.7s", colon ? colon + 1 : address);
	if (strtoul(port, &rest, 10) > 65535 || !*port || *rest || *port == '-' || *port == '+')
		return http_bad_address(address, "a port is a number up to 65535", err);
	return host[0] ? 0 : http_bad_address(address, "the address before the port is missing", err);
}

static int http_bind(const struct addrinfo *at, const char *address, struct grt_err *err)
{
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, ret;

	if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) &&
	    !bind(fd, at->ai_addr, at->ai_addrlen) && !listen(fd, (int)HTTP_CONNECTIONS))
		return fd;
	ret = -errno;
	if (fd >= 0)
		close(fd);
	return grt_err_set(err, ret, strerror(-ret),
			   ret == -EADDRINUSE ? "ss -ltnp, and another port: --listen PORT"
					      : "--listen " SERVE_DEFAULT,
			   "cannot listen on %s", address);
}

static int http_listen(const char *address, struct grt_err *err)
{
	const struct addrinfo want = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_PASSIVE};
	struct addrinfo *at;
	char host[256], port[8];
	int ret = http_split(address, host, port, err);

	if (ret)
		return ret;
	if (getaddrinfo(host, port, &want, &at))
		return http_bad_address(address, "the address must be numeric, not a name", err);
	ret = http_bind(at, address, err);
	freeaddrinfo(at);
	return ret;
}

static void http_name(struct serve_http *h, int fd)
{
	struct sockaddr_storage at;
	socklen_t length = sizeof(at);
	char host[64] = "?", port[8] = "?";

	if (!getsockname(fd, (struct sockaddr *)&at, &length))
		getnameinfo((struct sockaddr *)&at, length, host, sizeof(host), port, sizeof(port),
			    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(h->url, sizeof(h->url),
		 strchr(host, ':') ? "http://[%s]:%s/metrics" : "http://%s:%s/metrics", host, port);
}

/* ------------------------------------------------------------- requests */

static void http_page_free(void *arg)
{
	struct http_page *page = arg;

	page->h->pages--;
	free(page->text);
	free(page);
}

static struct MHD_Response *http_make_page(struct serve_http *h)
{
	struct http_page *page = h->pages < HTTP_PAGES ? malloc(sizeof(*page)) : NULL;
	struct MHD_Response *response = NULL;
	size_t length = 0;

	if (!page)
		return NULL;
	*page = (struct http_page){h, h->text(h->arg, &length)};
	if (page->text)
		response = h->mhd.create_response_from_buffer_with_free_callback_cls(length, page->text,
										     http_page_free, page);
	if (!response) {
		free(page->text);
		free(page);
		return NULL;
	}
	h->pages++;
	h->mhd.add_response_header(response, "Content-Type", "text/plain; version=0.0.4; charset=utf-8");
	return response;
}

/*
 * Clients that come at the same time get the same page. NULL: there are too many slow clients, or there is
 * no memory.
 */
static struct MHD_Response *http_page(struct serve_http *h)
{
	if (h->page && grt_now() - h->made < HTTP_PAGE_NS)
		return h->page;
	if (h->page)
		h->mhd.destroy_response(h->page);
	h->page = http_make_page(h);
	h->made = grt_now();
	return h->page;
}

static enum MHD_Result http_say(struct serve_http *h, struct MHD_Connection *c, unsigned int status,
				const char *text)
{
	struct MHD_Response *r =
		h->mhd.create_response_from_buffer(strlen(text), (char *)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result ret = MHD_NO;

	if (!r)
		return MHD_NO;
	h->mhd.add_response_header(r, "Content-Type", "text/plain; charset=utf-8");
	h->mhd.add_response_header(r, "Connection", "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		h->mhd.add_response_header(r, "Allow", "GET, HEAD");
	ret = h->mhd.queue_response(c, status, r);
	h->mhd.destroy_response(r);
	return ret;
}

static enum MHD_Result http_answer(void *arg, struct MHD_Connection *c, const char *url, const char *method,
				   const char *version, const char *data, size_t *size, void **state)
{
	struct serve_http *h = arg;
	struct MHD_Response *page;

	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return http_say(h, c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are allowed\n");
	if (!strcmp(url, "/"))
		return http_say(h, c, MHD_HTTP_OK, "grtrace: the metrics are at /metrics\n");
	if (strcmp(url, "/metrics"))
		return http_say(h, c, MHD_HTTP_NOT_FOUND, "not found: the only page is /metrics\n");
	page = http_page(h);
	if (!page)
		return http_say(h, c, MHD_HTTP_SERVICE_UNAVAILABLE, "too many slow clients, or no memory\n");
	return h->mhd.queue_response(c, MHD_HTTP_OK, page);
}

/* ---------------------------------------------------------- connections */

static void http_connection(void *arg, struct MHD_Connection *c, void **socket_context,
			    enum MHD_ConnectionNotificationCode code)
{
	struct serve_http *h = arg;
	const union MHD_ConnectionInfo *info =
		h->mhd.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	int found = code == MHD_CONNECTION_NOTIFY_STARTED ? -1 : info ? info->connect_fd : -1;

	for (unsigned int i = 0; info && i < HTTP_CONNECTIONS; i++) {
		if (h->client[i].fd != found)
			continue;
		h->client[i].fd = found < 0 ? info->connect_fd : -1;
		h->client[i].since = grt_now();
		return;
	}
}

static void http_end_old(struct serve_http *h)
{
	uint64_t now = grt_now();

	for (unsigned int i = 0; i < HTTP_CONNECTIONS; i++)
		if (h->client[i].fd >= 0 && now - h->client[i].since > HTTP_CONNECTION_NS)
			shutdown(h->client[i].fd, SHUT_RDWR);
}

void serve_http_run(struct serve_http *h)
{
	http_end_old(h);
	h->mhd.run(h->daemon);
	/* frees a page that is no longer used */
	if (h->page && grt_now() - h->made >= HTTP_PAGE_NS) {
		h->mhd.destroy_response(h->page);
		h->page = NULL;
	}
}

static void http_log(void *arg, const char *format, va_list ap)
{
}

static int http_start(struct serve_http *h, int fd, struct grt_err *err)
{
	const union MHD_DaemonInfo *info;

	h->daemon = h->mhd.start_daemon(
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, http_answer, h, MHD_OPTION_EXTERNAL_LOGGER,
		http_log, NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, HTTP_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, 10U, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_MEMORY,
		MHD_OPTION_NOTIFY_CONNECTION, http_connection, h, MHD_OPTION_END);
	info = h->daemon ? h->mhd.get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info) {
		if (!h->daemon)
			close(fd);
		return grt_err_set(err, -EIO, "libmicrohttpd refused", NULL, "cannot answer requests");
	}
	h->epoll = info->epoll_fd;
	return 0;
}

int serve_http_open(struct serve_http **out, const char *address, char *(*text)(void *arg, size_t *length),
		    void *arg, struct grt_err *err)
{
	struct serve_http *h = calloc(1, sizeof(*h));
	int ret, fd;

	*out = h;
	if (!h)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "cannot answer requests");
	h->text = text;
	h->arg = arg;
	for (unsigned int i = 0; i < HTTP_CONNECTIONS; i++)
		h->client[i].fd = -1;
	fd = http_listen(address, err);
	if (fd < 0)
		return fd;
	ret = http_load(h, err);
	if (ret) {
		close(fd);
		return ret;
	}
	http_name(h, fd);
	return http_start(h, fd, err);
}

int serve_http_fd(const struct serve_http *h)
{
	return h->epoll;
}

const char *serve_http_url(const struct serve_http *h)
{
	return h->url;
}

void serve_http_close(struct serve_http *h)
{
	if (!h)
		return;
	if (h->daemon)
		h->mhd.stop_daemon(h->daemon);
	if (h->page)
		h->mhd.destroy_response(h->page);
	free(h);
}

#else

int serve_http_open(struct serve_http **out, const char *address, char *(*text)(void *arg, size_t *length),
		    void *arg, struct grt_err *err)
{
	*out = NULL;
	return grt_err_set(err, -ENOSYS, "this grtrace was built without libmicrohttpd",
			   "apt-get install libmicrohttpd-dev, then build grtrace again",
			   "cannot answer requests on %s", address);
}

int serve_http_fd(const struct serve_http *h)
{
	return 0;
}

const char *serve_http_url(const struct serve_http *h)
{
	return "";
}

void serve_http_run(struct serve_http *h)
{
}

void serve_http_close(struct serve_http *h)
{
}

#endif
