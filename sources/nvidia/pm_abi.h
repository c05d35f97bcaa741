/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The used part of CUPTI's PM sampling and of its functions for metrics, declared here so that grtrace
 * builds without a CUDA toolkit. Each function takes one struct that begins with its size: the size in CUPTI
 * 12.6, the first version with these functions; later versions keep the members. tests/inject/abi compares
 * the structs with NVIDIA's headers.
 *
 * Source: cupti_pmsampling.h, cupti_profiler_host.h, cupti_profiler_target.h, cupti_target.h and
 * cupti_result.h of CUDA 13.0.
 */
#ifndef GRTRACE_PM_ABI_H
#define GRTRACE_PM_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a struct up to the end of its last member, which CUPTI expects as its size. */
#define PM_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

/* CUptiResult */
enum {
	PM_OK = 0,
	PM_INVALID_DEVICE = 2,
	PM_INVALID_OPERATION = 7,
	PM_OUT_OF_MEMORY = 8,
	PM_NOT_INITIALIZED = 15,
	PM_INVALID_METRIC = 17,
	PM_HARDWARE_BUSY = 26,
	PM_NOT_SUPPORTED = 27,
	PM_VIRTUALIZED_DEVICE = 33,
	PM_INSUFFICIENT_PRIVILEGES = 35,
	PM_OLD_PROFILER = 36,
	PM_LEGACY_PROFILER = 38,
	PM_VIRTUALIZED_DEVICE_PRIVILEGES = 40,
	PM_CONFIDENTIAL_COMPUTING = 41,
	PM_CMP_DEVICE = 42,
	PM_MIG_DEVICE = 43,
	PM_SLI_DEVICE = 44,
	PM_WSL_DEVICE = 45,
	PM_INVALID_CHIP = 46,
};

/* CUpti_ProfilerType, CUpti_PmSampling_TriggerMode, CUpti_PmSampling_HardwareBuffer_AppendMode,
 * CUpti_PmSampling_DecodeStopReason */
enum {
	PM_TYPE_SAMPLING = 1,
	PM_TRIGGER_CYCLES = 0,
	PM_TRIGGER_TIME = 1,
	PM_KEEP_OLDEST = 0,
	PM_KEEP_LATEST = 1,
	PM_STOPPED_OTHER = 0,
	PM_STOPPED_FULL = 1,
	PM_STOPPED_END = 2,
};

/* cuptiGetVersion() of the CUDA that introduced PM sampling. */
#define PM_VERSION_12_6 24

/* CUpti_Profiler_Initialize_Params */
struct pm_initialize {
	size_t size;
	void *priv;
};

/* CUpti_Device_GetChipName_Params */
struct pm_chip {
	size_t size;
	void *priv;
	size_t device;
	const char *name;
};

/* CUpti_PmSampling_GetCounterAvailability_Params */
struct pm_available {
	size_t size;
	void *priv;
	size_t device;
	size_t bytes;
	uint8_t *image;
};

/* CUpti_PmSampling_Enable_Params */
struct pm_enable {
	size_t size;
	void *priv;
	size_t device;
	void *sampler;
};

/* CUpti_PmSampling_Start_Params, _Stop_Params and _Disable_Params */
struct pm_sampler_only {
	size_t size;
	void *priv;
	void *sampler;
};

/* CUpti_PmSampling_SetConfig_Params */
struct pm_set_config {
	size_t size;
	void *priv;
	void *sampler;
	size_t bytes;
	const uint8_t *config;
	size_t buffer;
	uint64_t interval;
	int trigger;
	int append;
};

/* CUpti_PmSampling_DecodeData_Params */
struct pm_decode {
	size_t size;
	void *priv;
	void *sampler;
	uint8_t *image;
	size_t bytes;
	int stopped;
	uint8_t overflow;
};

/* CUpti_PmSampling_GetCounterDataSize_Params */
struct pm_data_size {
	size_t size;
	void *priv;
	void *sampler;
	const char **metric;
	size_t metrics;
	uint32_t samples;
	size_t bytes;
};

/* CUpti_PmSampling_CounterDataImage_Initialize_Params */
struct pm_data_init {
	size_t size;
	void *priv;
	void *sampler;
	size_t bytes;
	uint8_t *image;
};

/* CUpti_PmSampling_GetCounterDataInfo_Params */
struct pm_data_info {
	size_t size;
	void *priv;
	const uint8_t *image;
	size_t bytes;
	size_t room;
	size_t begun;
	size_t whole;
};

/* CUpti_PmSampling_CounterData_GetSampleInfo_Params */
struct pm_sample_info {
	size_t size;
	void *priv;
	void *sampler;
	const uint8_t *image;
	size_t bytes;
	size_t index;
	uint64_t start;
	uint64_t end;
};

/* CUpti_Profiler_Host_Initialize_Params */
struct pm_host_init {
	size_t size;
	void *priv;
	int type;
	const char *chip;
	const uint8_t *available;
	void *host;
};

/* CUpti_Profiler_Host_Deinitialize_Params */
struct pm_host_only {
	size_t size;
	void *priv;
	void *host;
};

/* CUpti_Profiler_Host_ConfigAddMetrics_Params */
struct pm_host_add {
	size_t size;
	void *priv;
	void *host;
	const char **metric;
	size_t metrics;
};

/* CUpti_Profiler_Host_GetConfigImageSize_Params */
struct pm_host_config_size {
	size_t size;
	void *priv;
	void *host;
	size_t bytes;
};

/* CUpti_Profiler_Host_GetConfigImage_Params */
struct pm_host_config {
	size_t size;
	void *priv;
	void *host;
	size_t bytes;
	uint8_t *image;
};

/* CUpti_Profiler_Host_GetNumOfPasses_Params */
struct pm_host_passes {
	size_t size;
	void *priv;
	size_t bytes;
	uint8_t *image;
	size_t passes;
};

/* CUpti_Profiler_Host_EvaluateToGpuValues_Params */
struct pm_host_values {
	size_t size;
	void *priv;
	void *host;
	const uint8_t *image;
	size_t bytes;
	size_t index;
	const char **metric;
	size_t metrics;
	double *value;
};

/* The functions, by their names in the library. */
#define PM_FUNCTIONS                                                                             \
	PM_FN(version, cuptiGetVersion, uint32_t)                                                \
	PM_FN(initialize, cuptiProfilerInitialize, struct pm_initialize)                         \
	PM_FN(chip, cuptiDeviceGetChipName, struct pm_chip)                                      \
	PM_FN(available, cuptiPmSamplingGetCounterAvailability, struct pm_available)             \
	PM_FN(enable, cuptiPmSamplingEnable, struct pm_enable)                                   \
	PM_FN(disable, cuptiPmSamplingDisable, struct pm_sampler_only)                           \
	PM_FN(set_config, cuptiPmSamplingSetConfig, struct pm_set_config)                        \
	PM_FN(start, cuptiPmSamplingStart, struct pm_sampler_only)                               \
	PM_FN(stop, cuptiPmSamplingStop, struct pm_sampler_only)                                 \
	PM_FN(decode, cuptiPmSamplingDecodeData, struct pm_decode)                               \
	PM_FN(data_size, cuptiPmSamplingGetCounterDataSize, struct pm_data_size)                 \
	PM_FN(data_init, cuptiPmSamplingCounterDataImageInitialize, struct pm_data_init)         \
	PM_FN(data_info, cuptiPmSamplingGetCounterDataInfo, struct pm_data_info)                 \
	PM_FN(sample_info, cuptiPmSamplingCounterDataGetSampleInfo, struct pm_sample_info)       \
	PM_FN(host_init, cuptiProfilerHostInitialize, struct pm_host_init)                       \
	PM_FN(host_end, cuptiProfilerHostDeinitialize, struct pm_host_only)                      \
	PM_FN(host_add, cuptiProfilerHostConfigAddMetrics, struct pm_host_add)                   \
	PM_FN(host_config_size, cuptiProfilerHostGetConfigImageSize, struct pm_host_config_size) \
	PM_FN(host_config, cuptiProfilerHostGetConfigImage, struct pm_host_config)               \
	PM_FN(host_passes, cuptiProfilerHostGetNumOfPasses, struct pm_host_passes)               \
	PM_FN(host_values, cuptiProfilerHostEvaluateToGpuValues, struct pm_host_values)

#endif /* GRTRACE_PM_ABI_H */
