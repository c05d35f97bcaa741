/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Names that the recorder and the library in recorded programs share.
 */
#ifndef GRT_TRACE_CUDA_RECORDING_H
#define GRT_TRACE_CUDA_RECORDING_H

/* In the environment: the recording's random number, ':' and its directory. */
#define GRT_CUDA_RECORDING_ENV "GRTRACE_RECORDING"
/* The key of this number in the recording's metadata. */
#define GRT_CUDA_RECORDING_KEY "cuda_recording"
/* Hexadecimal digits and NUL. */
#define GRT_CUDA_RECORDING_MAX 33
/* A file that the recorder creates in the recording's directory to end tracing. */
#define GRT_CUDA_STOP ".stop"
/* A socket in this directory, for a recorder that takes the packets itself: one connection per
 * process, instead of files. */
#define GRT_CUDA_SOCKET ".packets"
/* A file with GPU code in this directory; the CRC follows the name, decimal. */
#define GRT_CUDA_CUBIN ".cubin_"

/* In the environment: whether a CUDA graph has one record, or, by default, a record per kernel. */
#define GRT_CUDA_GRAPH_ENV "GRTRACE_GRAPH"
#define GRT_CUDA_GRAPH_WHOLE "graph"

/* In the environment: PyTorch's modules are recorded; not set: they are not. */
#define GRT_CUDA_TORCH_ENV "GRTRACE_TORCH"
/* The domain of their ranges. */
#define GRT_CUDA_TORCH_DOMAIN "torch.nn"

#endif /* GRT_TRACE_CUDA_RECORDING_H */
