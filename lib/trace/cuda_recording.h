/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What a recorder and the library in the programs that it records have agreed on.
 */
#ifndef GRT_TRACE_CUDA_RECORDING_H
#define GRT_TRACE_CUDA_RECORDING_H

/* In the environment: the recording's random number, ':' and its directory. */
#define GRT_CUDA_RECORDING_ENV "GRTRACE_RECORDING"
/* The same number in the recording's metadata. */
#define GRT_CUDA_RECORDING_KEY "cuda_recording"
/* Hexadecimal digits and NUL. */
#define GRT_CUDA_RECORDING_MAX 33
/* A file in the recording's directory, by the recorder: tracing ends. */
#define GRT_CUDA_STOP ".stop"
/* There, too, where the recorder takes the packets itself instead of files: a socket, one connection by
 * process. */
#define GRT_CUDA_SOCKET ".packets"
/* There, too: code of a GPU, and behind it its CRC, decimal. */
#define GRT_CUDA_CUBIN ".cubin_"

/* In the environment: what a CUDA graph is, one record or the default, its kernels. */
#define GRT_CUDA_GRAPH_ENV "GRTRACE_GRAPH"
#define GRT_CUDA_GRAPH_WHOLE "graph"

#endif /* GRT_TRACE_CUDA_RECORDING_H */
