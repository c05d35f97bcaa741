// SPDX-License-Identifier: GPL-2.0
/*
 * Compares inject/cupti_abi.h, sources/nvidia/pm_abi.h and cuda_calls.def with NVIDIA's headers: when this
 * compiles, they agree; when it runs with status 0, the names do, too.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#if __has_include(<cupti_pmsampling.h>)
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#define HAVE_PM_SAMPLING
#endif

#include "cupti_abi.h"
#include "pm_abi.h"

#define AT(ours, a, theirs, b)                                                         \
	_Static_assert(offsetof(struct ours, a) == offsetof(theirs, b), #ours "." #a); \
	_Static_assert(sizeof(((struct ours *)0)->a) == sizeof(((theirs *)0)->b), #ours "." #a)
#define IS(ours, theirs) _Static_assert((unsigned int)(ours) == (unsigned int)(theirs), #ours)

IS(CUPTI_OK, CUPTI_SUCCESS);
IS(CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
IS(CUPTI_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE);
IS(CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
IS(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
IS(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
IS(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
IS(CUPTI_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
IS(CUPTI_RESOURCE_GRAPH_NODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
IS(CUPTI_RESOURCE_GRAPH_EXEC_CREATING, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING);
IS(CUPTI_RESOURCE_GRAPH_EXEC_CREATED, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
IS(CUPTI_RESOURCE_GRAPH_NODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
IS(CUPTI_SITE_ENTER, CUPTI_API_ENTER);
IS(CUPTI_SITE_EXIT, CUPTI_API_EXIT);
IS(CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
IS(CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
IS(CUPTI_KIND_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
IS(CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
IS(CUPTI_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
IS(CUPTI_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
IS(CUPTI_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
IS(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
IS(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);

AT(cupti_callback, site, CUpti_CallbackData, callbackSite);
AT(cupti_callback, function, CUpti_CallbackData, functionName);
AT(cupti_callback, params, CUpti_CallbackData, functionParams);
AT(cupti_callback, result, CUpti_CallbackData, functionReturnValue);
AT(cupti_callback, symbol, CUpti_CallbackData, symbolName);
AT(cupti_callback, context, CUpti_CallbackData, context);
AT(cupti_callback, context_uid, CUpti_CallbackData, contextUid);
AT(cupti_callback, data, CUpti_CallbackData, correlationData);
AT(cupti_callback, correlation, CUpti_CallbackData, correlationId);

#ifdef CUpti_SubscriberParams_STRUCT_SIZE
AT(cupti_subscriber, size, CUpti_SubscriberParams, structSize);
AT(cupti_subscriber, name, CUpti_SubscriberParams, subscriberName);
AT(cupti_subscriber, other, CUpti_SubscriberParams, oldSubscriberName);
AT(cupti_subscriber, other_room, CUpti_SubscriberParams, oldSubscriberSize);
#endif
#if CUPTI_API_VERSION >= 130300
AT(cupti_subscriber, several, CUpti_SubscriberParams, allowMultipleSubscribers);
_Static_assert(sizeof(struct cupti_subscriber) == CUpti_SubscriberParams_STRUCT_SIZE, "cupti_subscriber");
#endif

#define KERNEL(a, b) AT(cupti_kernel, a, CUpti_ActivityKernel5, b)
KERNEL(kind, kind);
KERNEL(registers, registersPerThread);
KERNEL(start, start);
KERNEL(end, end);
KERNEL(completed, completed);
KERNEL(device, deviceId);
KERNEL(context, contextId);
KERNEL(stream, streamId);
KERNEL(grid[0], gridX);
KERNEL(grid[2], gridZ);
KERNEL(block[0], blockX);
KERNEL(block[2], blockZ);
KERNEL(shared_static, staticSharedMemory);
KERNEL(shared_dynamic, dynamicSharedMemory);
KERNEL(correlation, correlationId);
KERNEL(grid_id, gridId);
KERNEL(name, name);
KERNEL(launch_type, launchType);
KERNEL(graph_node, graphNodeId);
KERNEL(graph, graphId);
_Static_assert(sizeof(struct cupti_kernel) == sizeof(CUpti_ActivityKernel5), "kernel");
#if CUPTI_API_VERSION >= 130000
#define LAST_KERNEL(a, b) AT(cupti_kernel, a, CUpti_ActivityKernel10, b)
LAST_KERNEL(registers, registersPerThread);
LAST_KERNEL(start, start);
LAST_KERNEL(correlation, correlationId);
LAST_KERNEL(name, name);
LAST_KERNEL(launch_type, launchType);
LAST_KERNEL(graph_node, graphNodeId);
LAST_KERNEL(graph, graphId);
IS(CUPTI_KERNEL_BY_GPU, offsetof(CUpti_ActivityKernel10, isDeviceLaunched));
IS(CUPTI_OVERHEAD_CORRELATION, offsetof(CUpti_ActivityOverhead3, correlationId));
#endif

#define COPY(a, b)                                     \
	AT(cupti_memcpy, a, CUpti_ActivityMemcpy4, b); \
	AT(cupti_memcpy, a, CUpti_ActivityMemcpy5, b)
COPY(copy_kind, copyKind);
COPY(bytes, bytes);
COPY(start, start);
COPY(end, end);
COPY(device, deviceId);
COPY(context, contextId);
COPY(stream, streamId);
COPY(correlation, correlationId);
COPY(graph_node, graphNodeId);
COPY(graph, graphId);

#define PEER(a, b)                                              \
	AT(cupti_memcpy_peer, a, CUpti_ActivityMemcpyPtoP3, b); \
	AT(cupti_memcpy_peer, a, CUpti_ActivityMemcpyPtoP4, b)
PEER(copy_kind, copyKind);
PEER(bytes, bytes);
PEER(start, start);
PEER(device, deviceId);
PEER(stream, streamId);
PEER(src_device, srcDeviceId);
PEER(dst_device, dstDeviceId);
PEER(correlation, correlationId);
PEER(graph_node, graphNodeId);
PEER(graph, graphId);

#define SET(a, b)                                      \
	AT(cupti_memset, a, CUpti_ActivityMemset3, b); \
	AT(cupti_memset, a, CUpti_ActivityMemset4, b)
SET(value, value);
SET(bytes, bytes);
SET(start, start);
SET(end, end);
SET(device, deviceId);
SET(context, contextId);
SET(stream, streamId);
SET(correlation, correlationId);
SET(graph_node, graphNodeId);
SET(graph, graphId);

#define TRACE(a, b) AT(cupti_graph_trace, a, CUpti_ActivityGraphTrace, b)
TRACE(correlation, correlationId);
TRACE(start, start);
TRACE(end, end);
TRACE(device, deviceId);
TRACE(graph, graphId);
TRACE(context, contextId);
TRACE(stream, streamId);

#define OVERHEAD(a, b) AT(cupti_overhead, a, CUpti_ActivityOverhead, b)
OVERHEAD(overhead_kind, overheadKind);
OVERHEAD(object_kind, objectKind);
OVERHEAD(start, start);
OVERHEAD(end, end);

AT(cupti_resource, context, CUpti_ResourceData, context);
AT(cupti_resource, descriptor, CUpti_ResourceData, resourceDescriptor);

#define GRAPH(a, b) AT(cupti_graph, a, CUpti_GraphData, b)
GRAPH(graph, graph);
GRAPH(original_graph, originalGraph);
GRAPH(node, node);
GRAPH(original_node, originalNode);
GRAPH(kind, nodeType);

AT(cupti_module, id, CUpti_ModuleResourceData, moduleId);
AT(cupti_module, bytes, CUpti_ModuleResourceData, cubinSize);
AT(cupti_module, cubin, CUpti_ModuleResourceData, pCubin);
IS(CUPTI_RESOURCE_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
IS(CUPTI_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_LOADED);
IS(CUPTI_RESOURCE_MODULE_UNLOAD_STARTING, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
IS(CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
IS(CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
IS(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
IS(CUPTI_VIRTUALIZED_DEVICE, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
IS(CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
IS(CUPTI_OLD_PROFILER, CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED);
IS(CUPTI_VIRTUALIZED_DEVICE_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);

/* PC sampling: the last member is where the size that CUPTI is given ends. */
IS(CUPTI_PC_CONTINUOUS, CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS);
IS(CUPTI_PC_PERIOD, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD);
IS(CUPTI_PC_SERIALIZED, CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED);
IS(CUPTI_PC_MODE, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE);
IS(CUPTI_PC_START_STOP, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL);
IS(CUPTI_PC_BUFFER, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER);
IS(CUPTI_PC_NAME, CUPTI_STALL_REASON_STRING_SIZE);
AT(cupti_pc_reason, number, CUpti_PCSamplingStallReason, pcSamplingStallReasonIndex);
AT(cupti_pc_reason, samples, CUpti_PCSamplingStallReason, samples);
AT(cupti_pc, cubin, CUpti_PCSamplingPCData, cubinCrc);
AT(cupti_pc, offset, CUpti_PCSamplingPCData, pcOffset);
AT(cupti_pc, function, CUpti_PCSamplingPCData, functionName);
AT(cupti_pc, reasons, CUpti_PCSamplingPCData, stallReasonCount);
AT(cupti_pc, reason, CUpti_PCSamplingPCData, stallReason);
#if CUPTI_API_VERSION >= 22
AT(cupti_pc, correlation, CUpti_PCSamplingPCData, correlationId);
_Static_assert(sizeof(struct cupti_pc) == sizeof(CUpti_PCSamplingPCData), "pc");
#endif
_Static_assert(sizeof(struct cupti_pc_data) == sizeof(CUpti_PCSamplingData), "data");
AT(cupti_pc_data, room, CUpti_PCSamplingData, collectNumPcs);
AT(cupti_pc_data, total, CUpti_PCSamplingData, totalSamples);
AT(cupti_pc_data, dropped, CUpti_PCSamplingData, droppedSamples);
AT(cupti_pc_data, pcs, CUpti_PCSamplingData, totalNumPcs);
AT(cupti_pc_data, left, CUpti_PCSamplingData, remainingNumPcs);
AT(cupti_pc_data, pc, CUpti_PCSamplingData, pPcData);
AT(cupti_pc_data, other, CUpti_PCSamplingData, nonUsrKernelsTotalSamples);
AT(cupti_pc_data, full, CUpti_PCSamplingData, hardwareBufferFull);
_Static_assert(sizeof(struct cupti_pc_setting) == sizeof(CUpti_PCSamplingConfigurationInfo), "setting");
AT(cupti_pc_setting, status, CUpti_PCSamplingConfigurationInfo, attributeStatus);
AT(cupti_pc_setting, number, CUpti_PCSamplingConfigurationInfo, attributeData.samplingPeriodData);
AT(cupti_pc_setting, buffer, CUpti_PCSamplingConfigurationInfo, attributeData.samplingDataBufferData);
#define SIZED(ours, theirs) _Static_assert(sizeof(struct ours) == theirs##Size, #ours)
SIZED(cupti_pc_context, CUpti_PCSamplingEnableParams);
SIZED(cupti_pc_context, CUpti_PCSamplingDisableParams);
SIZED(cupti_pc_settings, CUpti_PCSamplingConfigurationInfoParams);
SIZED(cupti_pc_get, CUpti_PCSamplingGetDataParams);
SIZED(cupti_pc_count_reasons, CUpti_PCSamplingGetNumStallReasonsParams);
SIZED(cupti_pc_name_reasons, CUpti_PCSamplingGetStallReasonsParams);
SIZED(cupti_crc, CUpti_GetCubinCrcParams);
AT(cupti_crc, bytes, CUpti_GetCubinCrcParams, cubinSize);
AT(cupti_crc, crc, CUpti_GetCubinCrcParams, cubinCrc);

#ifdef HAVE_PM_SAMPLING
/* Sizes are those that NVIDIA's macros have for the last member. */
#define PM(ours, last, theirs)                                                     \
	_Static_assert(PM_SIZE(ours, last) == theirs##_Params_STRUCT_SIZE, #ours); \
	_Static_assert(offsetof(struct ours, priv) == offsetof(theirs##_Params, pPriv), #ours)
#define PM_AT(ours, a, theirs, b) AT(ours, a, theirs##_Params, b)
PM(pm_initialize, priv, CUpti_Profiler_Initialize);
PM(pm_chip, name, CUpti_Device_GetChipName);
PM_AT(pm_chip, device, CUpti_Device_GetChipName, deviceIndex);
PM(pm_available, image, CUpti_PmSampling_GetCounterAvailability);
PM_AT(pm_available, bytes, CUpti_PmSampling_GetCounterAvailability, counterAvailabilityImageSize);
PM(pm_enable, sampler, CUpti_PmSampling_Enable);
PM_AT(pm_enable, device, CUpti_PmSampling_Enable, deviceIndex);
PM(pm_sampler_only, sampler, CUpti_PmSampling_Start);
PM(pm_sampler_only, sampler, CUpti_PmSampling_Stop);
PM(pm_sampler_only, sampler, CUpti_PmSampling_Disable);
PM(pm_set_config, append, CUpti_PmSampling_SetConfig);
PM_AT(pm_set_config, sampler, CUpti_PmSampling_SetConfig, pPmSamplingObject);
PM_AT(pm_set_config, bytes, CUpti_PmSampling_SetConfig, configSize);
PM_AT(pm_set_config, config, CUpti_PmSampling_SetConfig, pConfig);
PM_AT(pm_set_config, buffer, CUpti_PmSampling_SetConfig, hardwareBufferSize);
PM_AT(pm_set_config, interval, CUpti_PmSampling_SetConfig, samplingInterval);
PM_AT(pm_set_config, trigger, CUpti_PmSampling_SetConfig, triggerMode);
PM(pm_decode, overflow, CUpti_PmSampling_DecodeData);
PM_AT(pm_decode, image, CUpti_PmSampling_DecodeData, pCounterDataImage);
PM_AT(pm_decode, stopped, CUpti_PmSampling_DecodeData, decodeStopReason);
PM(pm_data_size, bytes, CUpti_PmSampling_GetCounterDataSize);
PM_AT(pm_data_size, metric, CUpti_PmSampling_GetCounterDataSize, pMetricNames);
PM_AT(pm_data_size, samples, CUpti_PmSampling_GetCounterDataSize, maxSamples);
PM(pm_data_init, image, CUpti_PmSampling_CounterDataImage_Initialize);
PM_AT(pm_data_init, bytes, CUpti_PmSampling_CounterDataImage_Initialize, counterDataSize);
PM(pm_data_info, whole, CUpti_PmSampling_GetCounterDataInfo);
PM_AT(pm_data_info, room, CUpti_PmSampling_GetCounterDataInfo, numTotalSamples);
PM_AT(pm_data_info, begun, CUpti_PmSampling_GetCounterDataInfo, numPopulatedSamples);
PM(pm_sample_info, end, CUpti_PmSampling_CounterData_GetSampleInfo);
PM_AT(pm_sample_info, index, CUpti_PmSampling_CounterData_GetSampleInfo, sampleIndex);
PM_AT(pm_sample_info, start, CUpti_PmSampling_CounterData_GetSampleInfo, startTimestamp);
PM(pm_host_init, host, CUpti_Profiler_Host_Initialize);
PM_AT(pm_host_init, type, CUpti_Profiler_Host_Initialize, profilerType);
PM_AT(pm_host_init, available, CUpti_Profiler_Host_Initialize, pCounterAvailabilityImage);
PM(pm_host_only, host, CUpti_Profiler_Host_Deinitialize);
PM(pm_host_add, metrics, CUpti_Profiler_Host_ConfigAddMetrics);
PM_AT(pm_host_add, metric, CUpti_Profiler_Host_ConfigAddMetrics, ppMetricNames);
PM(pm_host_config_size, bytes, CUpti_Profiler_Host_GetConfigImageSize);
PM(pm_host_config, image, CUpti_Profiler_Host_GetConfigImage);
PM(pm_host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses);
PM_AT(pm_host_passes, image, CUpti_Profiler_Host_GetNumOfPasses, pConfigImage);
PM(pm_host_values, value, CUpti_Profiler_Host_EvaluateToGpuValues);
PM_AT(pm_host_values, index, CUpti_Profiler_Host_EvaluateToGpuValues, rangeIndex);
PM_AT(pm_host_values, metric, CUpti_Profiler_Host_EvaluateToGpuValues, ppMetricNames);
IS(PM_TYPE_SAMPLING, CUPTI_PROFILER_TYPE_PM_SAMPLING);
IS(PM_TRIGGER_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
IS(PM_KEEP_LATEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST);
IS(PM_STOPPED_FULL, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
IS(PM_INVALID_OPERATION, CUPTI_ERROR_INVALID_OPERATION);
IS(PM_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
IS(PM_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
IS(PM_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
IS(PM_VIRTUALIZED_DEVICE, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
IS(PM_VIRTUALIZED_DEVICE_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
IS(PM_CONFIDENTIAL_COMPUTING, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
IS(PM_CMP_DEVICE, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
IS(PM_MIG_DEVICE, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
IS(PM_SLI_DEVICE, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
IS(PM_WSL_DEVICE, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
IS(PM_INVALID_CHIP, CUPTI_ERROR_INVALID_CHIP_NAME);
IS(PM_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
IS(PM_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
#define PM_FN(name, symbol, type) _Static_assert(sizeof(symbol) > 0, #symbol);
PM_FUNCTIONS
#undef PM_FN
#endif

/* The functions are there: their arguments are pointers and numbers of the same sizes, by other names. */
#define NEED(name, symbol, args) _Static_assert(sizeof(symbol) > 0, #symbol);
#define MAY NEED
#if CUPTI_API_VERSION >= 130300
#define NEW NEED
#else
#define NEW(name, symbol, args)
#endif
CUPTI_FUNCTIONS
#undef NEW
#undef MAY
#undef NEED

#define NUMBERS_RUNTIME "cupti_runtime_cbid.h"
#define NUMBERS_DRIVER "cupti_driver_cbid.h"

static int wrong;

/* A line of the header: prefix, name, perhaps _v and a version, = number. */
static void compare(const char *file, const char *prefix, unsigned int number, const char *name)
{
	char line[512], theirs[256];
	unsigned int n;
	FILE *f = fopen(file, "r");

	while (f && fgets(line, sizeof(line), f)) {
		char *at = strstr(line, prefix);

		if (!at || sscanf(at + strlen(prefix), "%255s = %u", theirs, &n) != 2 || n != number)
			continue;
		if (strncmp(theirs, name, strlen(name)) ||
		    (theirs[strlen(name)] && strncmp(theirs + strlen(name), "_v", 2))) {
			printf("# %u is %s, not %s\n", number, theirs, name);
			wrong++;
		}
		break;
	}
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
#define GRT_CUDA_CALL(DOMAIN, number, KIND, name) \
	compare(CUPTI_INCLUDE "/" NUMBERS_##DOMAIN, "CUPTI_" #DOMAIN "_TRACE_CBID_", number, #name);
#include <grtrace/cuda_calls.def>
	return wrong != 0;
}
