/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the self-tests share: the module's control files, and captures of its
 * streams. It reads packets by include/grtrace only, not by libgrtrace, so that
 * a mistake in the library cannot hide one in the module.
 */
#ifndef KMOD_H
#define KMOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <grtrace/event.h>
#include <grtrace/stream.h>

#define KMOD_DIR "/sys/kernel/debug/grtrace"

/* Thread ids from here on are made up by a test: no packet names them. */
#define KMOD_FAKE_TID 4100000U

/** kmod_missing - why the module cannot be tested here and what to type; NULL when it can */
const char *kmod_missing(void);

/** kmod_reset - stopped, empty, every setting at its default; fails the case when it cannot */
void kmod_reset(void);

/* Control files, by their names below KMOD_DIR. */

/** kmod_open - opens one. Return: a descriptor or a negative errno */
int kmod_open(const char *file, int flags);

/** kmod_write - writes text in one write(2). Return: 0 or a negative errno */
int kmod_write(const char *file, const char *text);

/** kmod_read - reads all of a text file. Return: bytes or a negative errno; @buf ends with NUL */
ssize_t kmod_read(const char *file, char *buf, size_t size);

/** kmod_config - sets key=value in `config`. Return: 0 or a negative errno */
int kmod_config(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** kmod_config_get - what `config` says of a key, "" when it does not list it. Return: whether it does */
bool kmod_config_get(const char *key, char *value, size_t size);

/** kmod_emit - writes a line to `emit`. Return: 0 or a negative errno */
int kmod_emit(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** kmod_stat - a number of `stats`: that of line @line, or of word @word in it where not NULL */
uint64_t kmod_stat(const char *line, const char *word);

/** kmod_balance - the balance of line "total" or "cpu<N>" of `stats` */
struct grt_balance kmod_balance(const char *line);

/** balance_closes - whether every event emitted is accounted for. Return: false after failing the case */
bool balance_closes(const struct grt_balance *b);

/** kmod_delivered - how many events of a type `events_by_type` counts */
uint64_t kmod_delivered(const char *type);

/** kmod_pin - keeps the calling thread on one CPU. Return: false when it cannot */
bool kmod_pin(int cpu);

/** kmod_unpin - any CPU again */
void kmod_unpin(void);

/** kmod_cpus - number of online CPUs, which are taken to be 0..n-1 */
int kmod_cpus(void);

/** kmod_now - CLOCK_MONOTONIC in ns */
uint64_t kmod_now(void);

/* Captures: the bytes of one or several streams, as read. */

/**
 * struct capture - growing memory
 * @data: the bytes; owned, see capture_free()
 * @len: how many
 */
struct capture {
	uint8_t *data;
	size_t len;
	size_t room;
};

/** capture_add - appends bytes; ends the program when there is no memory */
void capture_add(struct capture *c, const void *data, size_t len);

/** capture_fd - reads on until end of file, or -EAGAIN. Return: 0 or a negative errno */
int capture_fd(struct capture *c, int fd);

/** capture_file - all of a stream of the stopped module. Return: 0 or a negative errno */
int capture_file(struct capture *c, const char *file);

void capture_free(struct capture *c);

/** capture_packet - the packet after @p, the first for NULL; NULL at the end. Only for a capture_valid() one
 */
const struct grt_packet *capture_packet(const struct capture *c, const struct grt_packet *p);

/** capture_record - the record after @e in a packet, the first for NULL; NULL at the end */
const struct grt_event *capture_record(const struct grt_packet *p, const struct grt_event *e);

/** capture_count - records of a type, any for 0 */
uint64_t capture_count(const struct capture *c, unsigned int type);

/**
 * capture_valid - whether every rule of stream.h holds
 *
 * Whole packets with right sizes and numbers; per CPU no packet is missing, each
 * balance goes on where the one before ended and closes, the events delivered
 * are the records that are there, time never goes back; every thread, and every
 * ring the module knows, is named in a packet before it is used there.
 * Return: false after failing the case with the place
 */
bool capture_valid(const struct capture *c);

#endif /* KMOD_H */
