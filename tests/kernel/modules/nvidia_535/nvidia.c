// SPDX-License-Identifier: GPL-2.0
/*
 * Stands for NVIDIA's open module 535.288.01. Offsets compiled from its headers.
 */
#define DRIVER_VERSION "535.288.01"
#define GRP_ID 216
#define TIMESLICE 264
#define INTERLEAVE 320
#define API_KCG 1160
#define REF 240
#define GPU 744
#define KC_API 1744
#define GPU_ID 1004
#define CLIENT 160
#include "../nvidia.h"
