// SPDX-License-Identifier: GPL-2.0
/*
 * Stands for NVIDIA's open module of a branch that nobody knows.
 */
#define DRIVER_VERSION "999.10.01"
#define GRP_ID 0
#define TIMESLICE 16
#define INTERLEAVE 24
#define API_KCG 32
#define REF 40
#define GPU 48
#define KC_API 64
#define GPU_ID 16
#define CLIENT 16
#include "../nvidia.h"
