// SPDX-License-Identifier: GPL-2.0
/*
 * A stand-in for libnvidia-ml.so.1: two GPUs whose values are known. The first
 * has everything but ECC, the second is lost at its fourth question for power.
 * With NVML_OLD in the environment it is as before version 510.
 */
#include <stdlib.h>

struct use {
	unsigned int gpu, memory;
};
struct memory {
	unsigned long long total, free, used;
};
struct memory_v2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};

static int begun;

int nvmlInit_v2(void)
{
	begun = 1;
	return 0;
}

int nvmlShutdown(void)
{
	begun = 0;
	return 0;
}

int nvmlDeviceGetCount_v2(unsigned int *n)
{
	*n = 2;
	return begun ? 0 : 1;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int i, void **device)
{
	*device = (void *)(unsigned long)(i + 1);
	return 0;
}

static unsigned long number(void *device)
{
	return (unsigned long)device;
}

int nvmlDeviceGetMinorNumber(void *device, unsigned int *minor)
{
	*minor = (unsigned int)number(device) - 1;
	return 0;
}

struct pci {
	char legacy[16];
	unsigned int domain, bus, device, ids[2];
	char address[32];
};

int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci)
{
	*pci = (struct pci){.bus = 0xc6 + (unsigned int)number(device)};
	return 0;
}

struct user {
	unsigned int pid;
	unsigned long long memory;
	unsigned int instance[2];
};

/* 4001 has memory of the first GPU, and paints; from the second question on 4002 has some, how much is not
 * known. */
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *n, struct user *user)
{
	static unsigned int asked;

	if (number(device) != 1)
		return 3;
	user[0] = (struct user){4001, 3ULL << 30, {~0U, ~0U}};
	user[1] = (struct user){4002, ~0ULL, {~0U, ~0U}};
	*n = asked++ ? 2 : 1;
	return 0;
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned int *n, struct user *user)
{
	if (number(device) != 1)
		return 3;
	user[0] = (struct user){4001, 3ULL << 30, {~0U, ~0U}};
	*n = 1;
	return 0;
}

struct use_of {
	unsigned int pid;
	unsigned long long time;
	unsigned int sm, memory, encoder, decoder;
};

/* Samples since the last question; later ones are not asked for again. */
int nvmlDeviceGetProcessUtilization(void *device, struct use_of *use, unsigned int *n,
				    unsigned long long since)
{
	if (number(device) != 1 || since >= 1000002)
		return 6;
	use[0] = (struct use_of){4001, 1000001, 55, 21, 0, 0};
	use[1] = (struct use_of){4001, 1000002, 65, 23, 0, 0};
	*n = 2;
	return 0;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned int *mw)
{
	static unsigned int asked;

	*mw = 70000;
	return number(device) == 2 && ++asked > 3 ? 15 : 0;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned int *mhz)
{
	(void)device;
	*mhz = type == 1 ? 1410 : type == 2 ? 2619 : 1;
	return 0;
}

int nvmlDeviceGetUtilizationRates(void *device, struct use *use)
{
	(void)device;
	*use = (struct use){37, 12};
	return 0;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *m)
{
	(void)device;
	*m = (struct memory){80ULL << 30, 59ULL << 30, 21ULL << 30};
	return 0;
}

int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *m)
{
	(void)device;
	if (m->version != (sizeof(*m) | 2U << 24) || getenv("NVML_OLD"))
		return 25; /* NVML_ERROR_ARGUMENT_VERSION_MISMATCH */
	m->total = 80ULL << 30;
	m->reserved = 1ULL << 30;
	m->free = 59ULL << 30;
	m->used = 20ULL << 30;
	return 0;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *celsius)
{
	(void)device;
	(void)sensor;
	*celsius = 41;
	return 0;
}

int nvmlDeviceGetTotalEccErrors(void *device, int type, int since, unsigned long long *errors)
{
	*errors = (unsigned long long)(type + 1);
	return number(device) == 1 || since ? 3 : 0;
}

/* An idle one is not throttled (1), this one is at its power limit (4). */
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	*reasons = 0x1 | 0x4;
	return number(device) ? 0 : 3;
}
