/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The used part of CUPTI's binary interface, declared here so that the library
 * builds without a CUDA toolkit and runs with any CUPTI from 11.1 to 13.x. The
 * structs have the members that all of these versions have in common. Members after them
 * depend on the version and are only read after a check of
 * cuptiGetVersion(). tests/inject/abi.c compares them with NVIDIA's headers.
 *
 * Source: cupti_activity.h, cupti_callbacks.h, cupti_result.h, cupti_pcsampling.h of CUDA 13.0; for functions
 * with _v2, NVIDIA's manual of CUPTI 13.3 to 13.5, chapters "Multiple Subscribers" and "Modules".
 */
#ifndef GRT_INJECT_CUPTI_ABI_H
#define GRT_INJECT_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* CUptiResult */
enum {
	CUPTI_OK = 0,
	CUPTI_OUT_OF_MEMORY = 8,
	CUPTI_MAX_LIMIT_REACHED = 12,
	CUPTI_NOT_COMPATIBLE = 14,
	CUPTI_HARDWARE_BUSY = 26,
	CUPTI_NOT_SUPPORTED = 27,
	CUPTI_VIRTUALIZED_DEVICE = 33,
	CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_OLD_PROFILER = 36,
	CUPTI_MULTIPLE_SUBSCRIBERS = 39,
	CUPTI_VIRTUALIZED_DEVICE_PRIVILEGES = 40,
	CUPTI_CONFIDENTIAL_COMPUTING = 41,
};

/* CUpti_CallbackDomain and CUpti_ApiCallbackSite */
enum {
	CUPTI_DOMAIN_DRIVER = 1,
	CUPTI_DOMAIN_RUNTIME = 2,
	CUPTI_DOMAIN_RESOURCE = 3,
	CUPTI_SITE_ENTER = 0,
	CUPTI_SITE_EXIT = 1,
};

/* CUpti_CallbackIdResource */
enum {
	CUPTI_RESOURCE_CONTEXT_CREATED = 1,
	CUPTI_RESOURCE_CONTEXT_DESTROY_STARTING = 2,
	CUPTI_RESOURCE_MODULE_LOADED = 6,
	CUPTI_RESOURCE_MODULE_UNLOAD_STARTING = 7,
	CUPTI_RESOURCE_GRAPH_NODE_CREATED = 13,
	CUPTI_RESOURCE_GRAPH_EXEC_CREATING = 17,
	CUPTI_RESOURCE_GRAPH_EXEC_CREATED = 18,
	CUPTI_RESOURCE_GRAPH_NODE_CLONED = 20,
};

/* CUpti_ActivityKind */
enum {
	CUPTI_KIND_MEMCPY = 1,
	CUPTI_KIND_MEMSET = 2,
	CUPTI_KIND_KERNEL = 3,
	CUPTI_KIND_CONCURRENT_KERNEL = 10,
	CUPTI_KIND_OVERHEAD = 17,
	CUPTI_KIND_MEMCPY2 = 22,
	CUPTI_KIND_GRAPH_TRACE = 51,
};

/* CUpti_ActivityFlag, CUpti_ActivityThreadIdType */
enum {
	CUPTI_FLUSH_FORCED = 1,
	CUPTI_THREAD_ID_SYSTEM = 1,
};

/* cuptiGetVersion() of CUDA versions with a change that matters here. */
enum {
	CUPTI_VERSION_11_1 = 14,
	CUPTI_VERSION_12_4 = 22,
	CUPTI_VERSION_12_6 = 24,
	CUPTI_VERSION_13_0 = 130000,
	CUPTI_VERSION_13_3 = 130300,
};

/* Not a number of any stream or event. */
#define CUPTI_NONE 0xffffffffU

/* CUpti_CallbackData */
struct cupti_callback {
	int site;
	const char *function;
	const void *params;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_uid;
	uint64_t *data;
	uint32_t correlation;
};

/* CUpti_ResourceData, the argument of callbacks of the resource domain */
struct cupti_resource {
	void *context;
	void *handle;
	const void *descriptor;
};

/*
 * CUpti_GraphData (CUDA 11.0), the descriptor of callbacks about graphs; CUDA 12.x and later have more
 * members after it
 */
struct cupti_graph {
	void *graph;
	void *original_graph;
	void *node;
	void *original_node;
	int kind;
};

/* CUpti_ActivityKernel5, the members that CUDA 11.1 and all later versions have; the last member of
 * CUpti_ActivityKernel10 is at CUPTI_KERNEL_BY_GPU. */
struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config;
	uint8_t shared_config;
	uint16_t registers;
	uint32_t partitioned[2];
	uint64_t start;
	uint64_t end;
	uint64_t completed;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	int32_t grid[3];
	int32_t block[3];
	int32_t shared_static;
	int32_t shared_dynamic;
	uint32_t local_per_thread;
	uint32_t local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved0;
	uint64_t queued;
	uint64_t submitted;
	uint8_t launch_type;
	uint8_t shared_requested;
	uint8_t carveout;
	uint8_t padding;
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shared_limit;
	uint32_t graph;
} __attribute__((packed, aligned(8)));

/* CUpti_ActivityKernel10.isDeviceLaunched, from CUDA 13.0 on */
#define CUPTI_KERNEL_BY_GPU 208
#define CUPTI_OVERHEAD_CORRELATION 40

/* CUpti_ActivityMemcpy4 (CUDA 11.1) */
struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy_kind;
	uint8_t src_kind;
	uint8_t dst_kind;
	uint8_t flags;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t correlation;
	uint32_t runtime_correlation;
	uint32_t pad;
	void *reserved0;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t padding;
} __attribute__((packed, aligned(8)));

/* CUpti_ActivityMemcpyPtoP3 (CUDA 11.1) */
struct cupti_memcpy_peer {
	uint32_t kind;
	uint8_t copy_kind;
	uint8_t src_kind;
	uint8_t dst_kind;
	uint8_t flags;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t src_device;
	uint32_t src_context;
	uint32_t dst_device;
	uint32_t dst_context;
	uint32_t correlation;
	void *reserved0;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t padding;
} __attribute__((packed, aligned(8)));

/* CUpti_ActivityMemset3 (CUDA 11.1) */
struct cupti_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t correlation;
	uint16_t flags;
	uint16_t memory_kind;
	uint32_t pad;
	void *reserved0;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t padding;
} __attribute__((packed, aligned(8)));

/* CUpti_ActivityOverhead; CUpti_ActivityOverhead3 (CUDA 13.0) has the correlation after it */
struct cupti_overhead {
	uint32_t kind;
	uint32_t overhead_kind;
	uint32_t object_kind;
	uint32_t object[3];
	uint64_t start;
	uint64_t end;
} __attribute__((packed, aligned(8)));

/* CUpti_ActivityGraphTrace (CUDA 11.7); CUpti_ActivityGraphTrace2 has more members after it */
struct cupti_graph_trace {
	uint32_t kind;
	uint32_t correlation;
	uint64_t start;
	uint64_t end;
	uint32_t device;
	uint32_t graph;
	uint32_t context;
	uint32_t stream;
	void *reserved;
} __attribute__((packed, aligned(8)));

/* In place of the device, if the graph begins with a host node. */
#define CUPTI_GRAPH_ON_HOST 0x7fffffffU

/* A record, to be read according to its kind. */
union cupti_record {
	uint32_t kind;
	struct cupti_kernel kernel;
	struct cupti_memcpy copy;
	struct cupti_memcpy_peer peer;
	struct cupti_memset set;
	struct cupti_overhead overhead;
	struct cupti_graph_trace graph;
};

/* CUpti_ModuleResourceData, the descriptor of callbacks about modules */
struct cupti_module {
	uint32_t id;
	size_t bytes;
	const char *cubin;
};

/*
 * PC sampling. Structs for CUPTI begin with their size, the offset after the last member. A setting has
 * a union that is as long as its largest member.
 */

/* CUpti_PCSamplingCollectionMode, CUpti_PCSamplingConfigurationAttributeType */
enum {
	CUPTI_PC_CONTINUOUS = 1,
	CUPTI_PC_SERIALIZED = 2,
	CUPTI_PC_PERIOD = 1,
	CUPTI_PC_MODE = 5,
	CUPTI_PC_START_STOP = 6,
	CUPTI_PC_BUFFER = 8,
};

/* CUpti_PCSamplingStallReason */
struct cupti_pc_reason {
	uint32_t number;
	uint32_t samples;
} __attribute__((packed, aligned(8)));

/* CUpti_PCSamplingPCData; the last member came with CUDA 12.4 */
struct cupti_pc {
	size_t size;
	uint64_t cubin;
	uint64_t offset;
	uint32_t index;
	uint32_t pad;
	char *function;
	size_t reasons;
	struct cupti_pc_reason *reason;
	uint32_t correlation;
} __attribute__((packed, aligned(8)));

/* CUpti_PCSamplingData */
struct cupti_pc_data {
	size_t size;
	size_t room;
	uint64_t total;
	uint64_t dropped;
	size_t pcs;
	size_t left;
	uint64_t range;
	struct cupti_pc *pc;
	uint64_t other;
	uint8_t full;
} __attribute__((packed, aligned(8)));

/* CUpti_PCSamplingConfigurationInfo */
struct cupti_pc_setting {
	int attribute;
	int status;
	union {
		uint64_t data[3];
		uint32_t number;
		void *buffer;
	};
};

/* CUpti_PCSamplingEnableParams, and those of Disable, Start and Stop; the members of the others follow */
struct cupti_pc_context {
	size_t size;
	void *priv;
	void *context;
};

/* CUpti_PCSamplingConfigurationInfoParams */
struct cupti_pc_settings {
	size_t size;
	void *priv;
	void *context;
	size_t n;
	struct cupti_pc_setting *setting;
};

/* CUpti_PCSamplingGetDataParams */
struct cupti_pc_get {
	size_t size;
	void *priv;
	void *context;
	struct cupti_pc_data *data;
};

/* CUpti_PCSamplingGetNumStallReasonsParams */
struct cupti_pc_count_reasons {
	size_t size;
	void *priv;
	void *context;
	size_t *n;
};

/* CUpti_PCSamplingGetStallReasonsParams */
struct cupti_pc_name_reasons {
	size_t size;
	void *priv;
	void *context;
	size_t n;
	uint32_t *number;
	char **name;
};

/* Bytes for the text of a name. */
#define CUPTI_PC_NAME 128

/* CUpti_GetCubinCrcParams */
struct cupti_crc {
	size_t size;
	size_t bytes;
	const void *cubin;
	uint64_t crc;
};

typedef void (*cupti_callback_fn)(void *user, int domain, uint32_t number, const struct cupti_callback *data);
typedef void (*cupti_request_fn)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*cupti_complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
/* The same for one of several subscribers, with structs that are not used. */
typedef void (*cupti_request_v2_fn)(uint8_t **buffer, size_t *size, size_t *max_records, void *info);
typedef void (*cupti_complete_v2_fn)(uint8_t *buffer, size_t size, size_t valid, void *info);

/*
 * CUpti_SubscriberParams from CUDA 13.3 on (before 13.3 without the last two members)
 * @other, @other_room: receives the name of the client that made the subscription fail
 * @several: other clients may subscribe, too; the first subscriber decides
 */
struct cupti_subscriber {
	size_t size;
	const char *name;
	char *other;
	size_t other_room;
	uint8_t several;
	uint8_t pad[7];
};

/*
 * The functions, by their names in the library: functions with NEED must exist,
 * functions with MAY are newer than CUDA 11.1, those with NEW came with CUDA 13.3.
 */
#define CUPTI_FUNCTIONS                                                                                     \
	NEED(get_version, cuptiGetVersion, (uint32_t * version))                                            \
	NEED(subscribe, cuptiSubscribe, (void **subscriber, cupti_callback_fn fn, void *user))              \
	NEED(unsubscribe, cuptiUnsubscribe, (void *subscriber))                                             \
	NEED(enable_callback, cuptiEnableCallback,                                                          \
	     (uint32_t enable, void *subscriber, int domain, uint32_t number))                              \
	NEED(enable, cuptiActivityEnable, (int kind))                                                       \
	NEED(disable, cuptiActivityDisable, (int kind))                                                     \
	NEED(register_buffers, cuptiActivityRegisterCallbacks,                                              \
	     (cupti_request_fn request, cupti_complete_fn complete))                                        \
	NEED(next_record, cuptiActivityGetNextRecord,                                                       \
	     (uint8_t * buffer, size_t valid, union cupti_record * *record))                                \
	NEED(dropped, cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped)) \
	NEED(flush_all, cuptiActivityFlushAll, (uint32_t flags))                                            \
	MAY(enable_domain, cuptiEnableDomain, (uint32_t enable, void *subscriber, int domain))              \
	MAY(finalize, cuptiFinalize, (void))                                                                \
	MAY(stream_id, cuptiGetStreamIdEx, (void *context, void *stream, uint8_t per_thread, uint32_t *id)) \
	MAY(device_id, cuptiGetDeviceId, (void *context, uint32_t *device))                                 \
	MAY(graph_node_id, cuptiGetGraphNodeId, (void *node, uint64_t *id))                                 \
	MAY(register_clock, cuptiActivityRegisterTimestampCallback, (uint64_t(*clock)(void)))               \
	MAY(set_thread_ids, cuptiSetThreadIdType, (int type))                                               \
	NEW(subscribe_v2, cuptiSubscribe_v2,                                                                \
	    (void **subscriber, cupti_callback_fn fn, void *user, struct cupti_subscriber *what))           \
	NEW(time_v2, cuptiGetTimestamp_v2, (void *subscriber, uint64_t *stamp))                             \
	NEW(enable_v2, cuptiActivityEnable_v2, (void *subscriber, int kind, void *config))                  \
	NEW(disable_v2, cuptiActivityDisable_v2, (void *subscriber, int kind, void *config))                \
	NEW(register_buffers_v2, cuptiActivityRegisterCallbacks_v2,                                         \
	    (void *subscriber, cupti_request_v2_fn request, cupti_complete_v2_fn complete))                 \
	NEW(next_record_v2, cuptiActivityGetNextRecord_v2,                                                  \
	    (void *subscriber, uint8_t *buffer, size_t valid, union cupti_record **record))                 \
	NEW(dropped_v2, cuptiActivityGetNumDroppedRecords_v2,                                               \
	    (void *subscriber, void *context, uint32_t stream, size_t *dropped))                            \
	MAY(pc_enable, cuptiPCSamplingEnable, (struct cupti_pc_context * what))                             \
	MAY(pc_disable, cuptiPCSamplingDisable, (struct cupti_pc_context * what))                           \
	MAY(pc_start, cuptiPCSamplingStart, (struct cupti_pc_context * what))                               \
	MAY(pc_stop, cuptiPCSamplingStop, (struct cupti_pc_context * what))                                 \
	MAY(pc_set, cuptiPCSamplingSetConfigurationAttribute, (struct cupti_pc_settings * what))            \
	MAY(pc_get, cuptiPCSamplingGetData, (struct cupti_pc_get * what))                                   \
	MAY(pc_count_reasons, cuptiPCSamplingGetNumStallReasons, (struct cupti_pc_count_reasons * what))    \
	MAY(pc_name_reasons, cuptiPCSamplingGetStallReasons, (struct cupti_pc_name_reasons * what))         \
	MAY(cubin_crc, cuptiGetCubinCrc, (struct cupti_crc * what))

struct cupti {
#define NEED(name, symbol, args) int(*name) args;
#define MAY NEED
#define NEW NEED
	CUPTI_FUNCTIONS
#undef NEW
#undef MAY
#undef NEED
};

#endif /* GRT_INJECT_CUPTI_ABI_H */
