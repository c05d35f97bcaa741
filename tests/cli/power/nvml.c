// SPDX-License-Identifier: GPL-2.0
/*
 * A stand-in for libnvidia-ml.so.1: two GPUs whose values are known. The first
 * has everything but ECC, the second is lost at its fourth question for power.
 */
struct use {
	unsigned int gpu, memory;
};
struct memory {
	unsigned long long total, free, used;
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
	*m = (struct memory){80ULL << 30, 60ULL << 30, 20ULL << 30};
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
