// SPDX-License-Identifier: GPL-2.0
/*
 * Stands for NVIDIA's open module 580.142. Offsets compiled from its headers.
 */
#define DRIVER_VERSION "580.142"
#define GRP_ID 240
#define TIMESLICE 328
#define INTERLEAVE 384
#define API_KCG 312
#define REF 96
#define GPU 232
#define KC_API 656
#define GPU_ID 1892
#define CLIENT 72
#include "../nvidia.h"
