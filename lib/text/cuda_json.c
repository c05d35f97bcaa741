// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The reader of traces of CUDA in JSON: PyTorch's profiler (Kineto) and what
 * writes like it, see cuda/gpu_json.h and cuda_file.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/gpu_json.h"
#include "cuda_file.h"

/* Bytes at the beginning of a file that decide whether it has this format. */
#define HEAD_SEEN (64U << 10)

static int cuda_json_read(void *reader, struct grt_cupti_count *count,
			  int (*record)(void *arg, const struct grt_cupti_record *r), void *arg)
{
	int fd = *(int *)reader;

	return lseek(fd, 0, SEEK_SET) < 0 ? -errno : grt_gpu_json_read_all(fd, count, record, arg);
}

static int cuda_json_judge(void *reader, const char *path, const struct grt_cupti_count *count, int code,
			   struct grt_err *err)
{
	unsigned long long lines = count->lines;

	if (code == -EPROTO)
		return grt_err_set(err, code, "it is no JSON, or ends before any event", NULL,
				   "%s: event %llu: cannot read", path, lines + 1);
	if (code == -ENODATA && !lines)
		return grt_err_set(
			err, -EINVAL, "it is JSON without events of CUDA or work of a GPU",
			"jq keys PATH; torch.profiler with ProfilerActivity.CUDA writes such events",
			"%s: nothing to read", path);
	if (code == -ENODATA)
		return grt_err_set(err, -EINVAL, "none of its events is a call of CUDA or work of a GPU",
				   "torch.profiler with ProfilerActivity.CUDA",
				   "%s: event 1 to %llu: nothing to read", path, lines);
	if (code)
		return grt_err_set(err, code, strerror(-code), NULL, "%s: cannot read", path);
	if (count->cut)
		return grt_err_set(err, -EPROTO, "the file ends before its trace does",
				   "grtrace flame --gpu PATH, which "
				   "shows what precedes the end",
				   "%s: cannot read further after event %llu", path, lines);
	return 0;
}

static void cuda_json_free(void *reader)
{
	close(*(int *)reader);
	free(reader);
}

static const struct grt_cuda_file_kind cuda_json_kind = {
	.form = "cuda_json",
	.one_process = true,
	.nests = true,
	.read = cuda_json_read,
	.judge = cuda_json_judge,
	.free = cuda_json_free,
};

/* --------------------------------------------------------------- opening */

/* Words that only traces of CUDA have, and those of ftrace in JSON have not. */
static const char *const words[] = {"\"cuda_runtime\"",	   "\"cuda_driver\"",  "\"cpu_op\"",
				    "\"gpu_memcpy\"",	   "\"gpu_memset\"",   "\"deviceProperties\"",
				    "\"GPU_Kernel\"",	   "\"CUDA_Runtime\"", "\"CUDA_Driver\"",
				    "\"distributedInfo\"", "\"kernel\"",       "\"user_annotation\""};

static bool cuda_json_takes(const struct stat *st, const char *head, size_t len)
{
	size_t n = len < HEAD_SEEN ? len : HEAD_SEEN;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memmem(head, n, words[i], strlen(words[i])))
			return true;
	return false;
}

static int cuda_json_open(struct grt_session *s, int fd, struct grt_err *err)
{
	int *reader = malloc(sizeof(*reader));
	int ret;

	if (!reader)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", s->path);
	*reader = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (*reader >= 0)
		return grt_cuda_file_open(s, &cuda_json_kind, reader, err);
	ret = -errno;
	free(reader);
	return grt_err_set(err, ret, strerror(-ret), NULL, "%s: cannot open", s->path);
}

const struct grt_reader grt_reader_cuda_json = {
	.name = "cuda_json",
	.begins = "{[",
	.takes = cuda_json_takes,
	.open = cuda_json_open,
};
