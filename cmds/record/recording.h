/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The output of `record`: a directory with a file per stream, or one raw file.
 * Packets are appended as they come; only their headers are read, to count events and
 * to find where the next packet begins.
 */
#ifndef GRTRACE_RECORDING_H
#define GRTRACE_RECORDING_H

#include "host/meter.h"
#include "trace/cut.h"
#include "trace/metadata.h"
#include "cmds/cmd.h"
#include "segments.h"

/**
 * struct recording_file - a file of packets
 * @fd: -1: closed
 * @bytes: bytes that were written; @whole: of these, in complete packets
 * @source: number of its source
 * @late: it is made with its first packet
 * @in_segment: bytes in the open segment
 * @last: time stamp of the end of its last packet
 */
struct recording_file {
	int fd;
	char name[32];
	uint64_t bytes;
	uint64_t whole;
	unsigned int source;
	bool late;
	uint64_t in_segment;
	uint64_t last;
	struct meter meter;
};

/**
 * struct recording
 * @path: as given
 * @dir: descriptor; -1: a raw file
 * @at: directory of its files: @dir or a segment
 * @seekable: an incomplete packet can be removed by cutting the file
 * @uid, @gid: the owner of its files, set by root; (uid_t)-1: root
 * @files: its @count files
 * @events, @lost: from the packets' balances
 * @adopted: bytes of files that others have written
 * @made: the directory is new
 * @box: it is the directory of a black box, which is not replaced
 * @segments: it is bounded; NULL: it is not
 */
struct recording {
	const char *path;
	int dir;
	int at;
	bool seekable;
	uid_t uid;
	gid_t gid;
	struct recording_file *files;
	unsigned int count;
	uint64_t events;
	uint64_t lost;
	uint64_t adopted;
	bool made;
	bool box;
	struct segments *segments;
};

/**
 * recording_open_dir - makes the directory; an existing recording is renamed to PATH.old
 * Return: 0, or -errno; then nothing of the user's was changed, except recordings
 */
int recording_open_dir(struct recording *r, const char *path, struct grt_err *err);

/** recording_owner - the future owner of a recording at @path; -1: the present user */
void recording_owner(const char *path, uid_t *uid, gid_t *gid);

/** recording_open_raw - as recording_open_dir(), for a plain file; "-" is standard output */
int recording_open_raw(struct recording *r, const char *path, struct grt_err *err);

/** recording_add_file - adds a file SOURCE_INDEX to the directory. Return: its number, or -errno */
int recording_add_file(struct recording *r, const char *source, unsigned int index, struct grt_err *err);

/** recording_name_file - as recording_add_file(), but the file is made with its first packet */
int recording_name_file(struct recording *r, const char *source, unsigned int index, struct grt_err *err);

/** recording_snapshots - the largest number of a snapshot in the directory of a black box */
unsigned long recording_snapshots(const struct recording *r);

/**
 * recording_discard - removes everything that was made since recording_open_dir(), because the recording did
 * not begin
 */
void recording_discard(struct recording *r);

/** recording_give - gives a file in the directory to the owner of the others */
void recording_give(struct recording *r, const char *name);

/**
 * recording_create - makes a file in @at that belongs to the owner of the others. Return: a descriptor or
 * -errno
 */
int recording_create(const struct recording *r, const char *name);

/**
 * recording_enter_dir - makes a directory without a name for all further files. Return: 0 or -errno
 */
int recording_enter_dir(struct recording *r);

/** recording_name_dir - gives it its name, because it has metadata now. Return: 0, or -1 with errno set */
int recording_name_dir(struct recording *r, const char *name);

/** recording_remove_dir - removes such a directory. Return: 0 or -errno */
int recording_remove_dir(struct recording *r, const char *name);

/** recording_write_metadata - as grt_metadata_write(); the file belongs to the owner of the others */
int recording_write_metadata(const struct recording *r, int dir, const struct grt_env *env,
			     int64_t realtime_offset, struct grt_err *err);

/** recording_count_packet - counts the events of a packet; @arg is the struct recording */
void recording_count_packet(void *arg, const struct grt_packet *p);

/** recording_close_files - closes the open files. Return: 0 or -errno */
int recording_close_files(struct recording *r);

/**
 * recording_write - appends bytes to file @i. Return: 0 or -errno; then the file ends with its last complete
 * packet
 */
int recording_write(struct recording *r, unsigned int i, const void *data, size_t len, struct grt_err *err);

/**
 * recording_adopt - adds the files SOURCE_NUMBER_NUMBER that others have written into the directory: their
 * packets are counted and cut to the window of @cut, bytes after the last complete packet are removed, and
 * they get the owner of the other files
 * Return: 0 or -errno
 */
int recording_adopt(struct recording *r, const char *source, struct grt_cut *cut, struct grt_err *err);

/** recording_bytes - bytes in all files */
uint64_t recording_bytes(const struct recording *r);

/** recording_counted - whether @events and @lost are exact: every byte belonged to a packet */
bool recording_counted(const struct recording *r);

/**
 * recording_finish - removes an incomplete packet and closes the files; the counts stay valid. Return: 0 or
 * -errno
 */
int recording_finish(struct recording *r, struct grt_err *err);

/** recording_close - finishes it and frees everything */
void recording_close(struct recording *r);

#endif /* GRTRACE_RECORDING_H */
