// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of a service of type notify to the service manager: datagrams to the socket that NOTIFY_SOCKET
 * names, sd_notify(3). Without a socket, nothing is sent.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve.h"

static int manager = -1;
/* Half of the time after which the manager takes the service for dead, ns; 0: it does not watch. */
static uint64_t period;
static uint64_t last;

void serve_notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET"), *usec = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t length = path ? strlen(path) : 0;
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);

	if (!length || length >= sizeof(to.sun_path) || (*path != '/' && *path != '@'))
		return;
	memcpy(to.sun_path, path, length);
	/* a name that is not a file's begins with NUL */
	if (*path == '@')
		to.sun_path[0] = '\0';
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (manager >= 0 && connect(manager, (struct sockaddr *)&to, size)) {
		close(manager);
		manager = -1;
	}
	if (usec && (!pid || atol(pid) == getpid()))
		period = strtoull(usec, NULL, 10) * 500;
}

void serve_notify(const char *state)
{
	if (manager >= 0)
		(void)!send(manager, state, strlen(state), MSG_NOSIGNAL);
}

void serve_notify_alive(void)
{
	uint64_t now = grt_now();

	if (!period || now - last < period / 2)
		return;
	last = now;
	serve_notify("WATCHDOG=1");
}
