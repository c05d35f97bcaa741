// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Reads .eh_frame_hdr and .eh_frame. A DWARF expression is not run at each
 * walk: all of those that compilers and the C library write come out as
 * register + number, or the word there + number, when the instruction's address
 * is put in.
 */
#include "cfi.h"

#include <errno.h>
#include <string.h>

#include "arch.h"

/* Bytes to be read; a read past the end returns 0 and sets @bad. */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

static uint64_t cfi_take(struct cursor *c, unsigned int size)
{
	uint64_t value = 0;

	if ((size_t)(c->end - c->at) < size) {
		c->bad = true;
		c->at = c->end;
		return 0;
	}
	memcpy(&value, c->at, size);
	c->at += size;
	return value;
}

static int64_t cfi_take_signed(struct cursor *c, unsigned int size)
{
	unsigned int shift = 64 - 8 * size;

	return (int64_t)(cfi_take(c, size) << shift) >> shift;
}

static uint64_t cfi_take_leb(struct cursor *c, bool is_signed)
{
	uint64_t value = 0, byte;
	unsigned int shift = 0;

	do {
		byte = cfi_take(c, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !c->bad);
	if (is_signed && (byte & 0x40) && shift < 64)
		value |= ~0ULL << shift;
	return value;
}

static uint64_t cfi_uleb(struct cursor *c)
{
	return cfi_take_leb(c, false);
}

static int64_t cfi_sleb(struct cursor *c)
{
	return (int64_t)cfi_take_leb(c, true);
}

static void cfi_skip(struct cursor *c, uint64_t bytes)
{
	if (bytes > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		bytes = (uint64_t)(c->end - c->at);
	}
	c->at += bytes;
}

/* ------------------------------------------------------------- pointers */

enum { PE_OMIT = 0xff, PE_INDIRECT = 0x80, PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_APPLICATION = 0x70 };

static bool cfi_in_object(const struct grt_cfi_object *o, const void *address, size_t size,
			  struct grt_cfi_span *span)
{
	uintptr_t a = (uintptr_t)address;

	for (unsigned int i = 0; i < o->spans; i++)
		if (a >= (uintptr_t)o->span[i].start && a < (uintptr_t)o->span[i].end &&
		    (uintptr_t)o->span[i].end - a >= size) {
			*span = o->span[i];
			return true;
		}
	return false;
}

/* DW_EH_PE_*: the low four bits are the format of the value. */
static uint64_t cfi_take_form(struct cursor *c, uint8_t form)
{
	switch (form & 0xf) {
	case 0x0:
	case 0x4:
	case 0xc:
		return cfi_take(c, 8);
	case 0x1:
		return cfi_uleb(c);
	case 0x2:
		return cfi_take(c, 2);
	case 0x3:
		return cfi_take(c, 4);
	case 0x9:
		return (uint64_t)cfi_sleb(c);
	case 0xa:
		return (uint64_t)cfi_take_signed(c, 2);
	case 0xb:
		return (uint64_t)cfi_take_signed(c, 4);
	default:
		c->bad = true;
		return 0;
	}
}

static uint64_t cfi_take_pointer(struct cursor *c, uint8_t encoding, const struct grt_cfi_object *o)
{
	uint64_t place = (uintptr_t)c->at, value = cfi_take_form(c, encoding);
	struct grt_cfi_span span;

	switch (encoding & PE_APPLICATION) {
	case 0:
		break;
	case PE_PCREL:
		value += place;
		break;
	case PE_DATAREL:
		value += (uintptr_t)o->header.start;
		break;
	default:
		c->bad = true;
		return 0;
	}
	if (!(encoding & PE_INDIRECT))
		return value;
	if (!cfi_in_object(o, (const void *)(uintptr_t)value, 8, &span)) {
		c->bad = true;
		return 0;
	}
	memcpy(&value, (const void *)(uintptr_t)value, 8);
	return value;
}

/* ---------------------------------------------------------- expressions */

enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_SWAP = 0x16,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_NOP = 0x96,
};

/* A value that depends on one register: base + n, or the word at base + n, + after. */
struct value {
	uint8_t base;
	bool deref;
	int64_t n;
	int64_t after;
};

#define EXPR_DEPTH 16

struct machine {
	const struct grt_arch *arch;
	uint64_t pc;
	struct value stack[EXPR_DEPTH];
	unsigned int depth;
	int error;
};

static void cfi_push(struct machine *m, struct value v)
{
	if (m->depth == EXPR_DEPTH)
		m->error = -EBADMSG;
	else
		m->stack[m->depth++] = v;
}

static struct value cfi_pop(struct machine *m)
{
	if (!m->depth) {
		m->error = -EBADMSG;
		return (struct value){.base = GRT_CFI_CONST};
	}
	return m->stack[--m->depth];
}

static struct value cfi_constant(int64_t n)
{
	return (struct value){.base = GRT_CFI_CONST, .n = n};
}

static struct value cfi_register_plus(struct machine *m, uint64_t reg, int64_t n)
{
	if (reg == m->arch->pc)
		return cfi_constant((int64_t)(m->pc + (uint64_t)n));
	if (reg != m->arch->sp && reg != m->arch->fp)
		m->error = -EOPNOTSUPP;
	return (struct value){.base = reg == m->arch->sp ? GRT_CFI_SP : GRT_CFI_FP, .n = n};
}

static int64_t cfi_wrapping_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Numbers wrap around as on the machine. */
static int64_t cfi_calculate(struct machine *m, uint8_t op, int64_t a, int64_t b)
{
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

	switch (op) {
	case OP_AND:
		return a & b;
	case OP_OR:
		return a | b;
	case OP_XOR:
		return a ^ b;
	case OP_MUL:
		return (int64_t)(ua * ub);
	case OP_MINUS:
		return (int64_t)(ua - ub);
	case OP_SHL:
		return ub < 64 ? (int64_t)(ua << ub) : 0;
	case OP_SHR:
		return ub < 64 ? (int64_t)(ua >> ub) : 0;
	case OP_SHRA:
		return a >> (ub < 63 ? ub : 63);
	case OP_EQ:
		return a == b;
	case OP_GE:
		return a >= b;
	case OP_GT:
		return a > b;
	case OP_LE:
		return a <= b;
	case OP_LT:
		return a < b;
	case OP_NE:
		return a != b;
	default:
		m->error = -EOPNOTSUPP;
		return 0;
	}
}

static void cfi_add(struct machine *m, struct value v, int64_t n)
{
	if (v.deref)
		v.after = cfi_wrapping_add(v.after, n);
	else
		v.n = cfi_wrapping_add(v.n, n);
	cfi_push(m, v);
}

static void cfi_binary(struct machine *m, uint8_t op)
{
	struct value b = cfi_pop(m), a = cfi_pop(m);

	if (op == OP_PLUS && b.base == GRT_CFI_CONST && !b.deref)
		cfi_add(m, a, b.n);
	else if (op == OP_PLUS && a.base == GRT_CFI_CONST && !a.deref)
		cfi_add(m, b, a.n);
	else if (op == OP_MINUS && b.base == GRT_CFI_CONST && !b.deref)
		cfi_add(m, a, (int64_t)(0 - (uint64_t)b.n));
	else if (a.base == GRT_CFI_CONST && b.base == GRT_CFI_CONST && !a.deref && !b.deref)
		cfi_push(m, cfi_constant(cfi_calculate(m, op, a.n, b.n)));
	else
		m->error = -EOPNOTSUPP;
}

static void cfi_stack_op(struct machine *m, uint8_t op)
{
	struct value top = cfi_pop(m), next;

	switch (op) {
	case OP_DUP:
		cfi_push(m, top);
		cfi_push(m, top);
		break;
	case OP_OVER:
		next = cfi_pop(m);
		cfi_push(m, next);
		cfi_push(m, top);
		cfi_push(m, next);
		break;
	case OP_SWAP:
		next = cfi_pop(m);
		cfi_push(m, top);
		cfi_push(m, next);
		break;
	case OP_DEREF:
		if (top.deref)
			m->error = -EOPNOTSUPP;
		top.deref = true;
		cfi_push(m, top);
		break;
	default: /* OP_DROP */
		break;
	}
}

static void cfi_one_op(struct machine *m, struct cursor *c)
{
	uint8_t op = (uint8_t)cfi_take(c, 1);

	if (op >= OP_LIT0 && op <= OP_LIT31)
		cfi_push(m, cfi_constant(op - OP_LIT0));
	else if (op >= OP_BREG0 && op <= OP_BREG31)
		cfi_push(m, cfi_register_plus(m, op - OP_BREG0, cfi_sleb(c)));
	else if (op == OP_ADDR)
		cfi_push(m, cfi_constant(cfi_take_signed(c, 8)));
	else if (op >= OP_CONST1U && op <= OP_CONST8S) /* 1u 1s 2u 2s 4u 4s 8u 8s */
		cfi_push(m, cfi_constant(op & 1 ? cfi_take_signed(c, 1U << ((op - OP_CONST1U) / 2))
						: (int64_t)cfi_take(c, 1U << ((op - OP_CONST1U) / 2))));
	else if (op == OP_CONSTU)
		cfi_push(m, cfi_constant((int64_t)cfi_uleb(c)));
	else if (op == OP_CONSTS)
		cfi_push(m, cfi_constant(cfi_sleb(c)));
	else if (op == OP_PLUS_UCONST)
		cfi_add(m, cfi_pop(m), (int64_t)cfi_uleb(c));
	else if ((op >= OP_DUP && op <= OP_SWAP) || op == OP_DEREF)
		cfi_stack_op(m, op);
	else if (op >= OP_AND && op <= OP_NE)
		cfi_binary(m, op);
	else if (op != OP_NOP)
		m->error = -EOPNOTSUPP;
}

/* No stack frame has an offset beyond 2 GiB. */
static int cfi_to_place(struct value v, struct grt_cfi_place *place)
{
	if (v.n != (int32_t)v.n || v.after != (int32_t)v.after || v.base == GRT_CFI_CONST)
		return -EOPNOTSUPP;
	*place = (struct grt_cfi_place){v.base, v.deref, (int32_t)v.n, (int32_t)v.after};
	return 0;
}

/* struct where - an instruction, and the end of the table entry with its expressions */
struct where {
	const struct grt_arch *arch;
	uint64_t pc;
	const uint8_t *end;
};

/* @code: the block, which begins with its length. */
static int cfi_evaluate(const struct where *w, const uint8_t *code, bool push_cfa,
			struct grt_cfi_place *place)
{
	struct cursor c = {code, w->end, false};
	struct machine m = {.arch = w->arch, .pc = w->pc};
	uint64_t length = cfi_uleb(&c);

	if (c.bad || length > (uint64_t)(c.end - c.at))
		return -EBADMSG;
	c.end = c.at + length;
	if (push_cfa)
		cfi_push(&m, (struct value){.base = GRT_CFI_CFA});
	while (c.at < c.end && !m.error && !c.bad)
		cfi_one_op(&m, &c);
	if (c.bad || m.error)
		return m.error ? m.error : -EBADMSG;
	if (!m.depth)
		return -EBADMSG;
	return cfi_to_place(m.stack[m.depth - 1], place);
}

/* -------------------------------------------------------- CIE and FDE */

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t fde_encoding;
	bool has_length; /* augmentation 'z' */
	bool signal;
	struct cursor program;
};

/* The bytes of the entry at @at, without its length; an empty cursor at the end of the section. */
static int cfi_entry_at(const struct grt_cfi_object *o, const uint8_t *at, struct cursor *c)
{
	struct grt_cfi_span span;
	uint64_t length;

	if (!cfi_in_object(o, at, 4, &span))
		return -EBADMSG;
	*c = (struct cursor){at, span.end, false};
	length = cfi_take(c, 4);
	if (length == 0xffffffff)
		length = cfi_take(c, 8);
	if (c->bad || length > (uint64_t)(c->end - c->at))
		return -EBADMSG;
	c->end = c->at + length;
	return 0;
}

static int cfi_augmentation(struct cie *cie, struct cursor *c, const char *letters)
{
	uint64_t length;
	struct cursor data;

	if (!*letters)
		return 0;
	if (*letters != 'z')
		return -EOPNOTSUPP;
	cie->has_length = true;
	length = cfi_uleb(c);
	data = *c;
	cfi_skip(c, length);
	if (c->bad)
		return -EBADMSG;
	data.end = c->at;
	while (*++letters)
		switch (*letters) {
		case 'R':
			cie->fde_encoding = (uint8_t)cfi_take(&data, 1);
			break;
		case 'P':
			cfi_take_form(&data, (uint8_t)cfi_take(&data, 1));
			break;
		case 'L':
			cfi_take(&data, 1);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':
			break;
		default: /* the rest of the data cannot be distinguished, and is not needed */
			return data.bad ? -EBADMSG : 0;
		}
	return data.bad ? -EBADMSG : 0;
}

/* Return: whether this value, in place of a CIE's address, marks an entry as a CIE. */
static bool cfi_is_cie(const struct grt_cfi_object *o, uint64_t id)
{
	return id == (o->debug ? 0xffffffff : 0);
}

static int cfi_read_cie(const struct grt_cfi_object *o, const uint8_t *at, struct cie *cie)
{
	struct cursor c;
	const char *letters;
	uint8_t version;
	int err = cfi_entry_at(o, at, &c);

	if (err || !cfi_is_cie(o, cfi_take(&c, 4)))
		return -EBADMSG;
	*cie = (struct cie){.fde_encoding = 0};
	version = (uint8_t)cfi_take(&c, 1);
	if (version != 1 && version != 3 && version != 4)
		return -EBADMSG;
	letters = (const char *)c.at;
	while (cfi_take(&c, 1) && !c.bad)
		;
	if (version == 4 && !c.bad && cfi_take(&c, 2) != 8) /* size of an address, no segment selector */
		return -EBADMSG;
	cie->code_align = cfi_uleb(&c);
	cie->data_align = cfi_sleb(&c);
	if ((version == 1 ? cfi_take(&c, 1) : cfi_uleb(&c)) != o->arch->ra || c.bad)
		return -EBADMSG;
	err = cfi_augmentation(cie, &c, letters);
	cie->program = c;
	return err;
}

/* ----------------------------------------------------------- programs */

enum saved_kind { SAME, UNDEFINED, AT_CFA, AT_EXPR, ELSEWHERE };

/* Where a register was saved; @code is the block of the expression. */
struct saved {
	enum saved_kind kind;
	int64_t offset;
	const uint8_t *code;
};

struct row {
	uint64_t cfa_reg;
	int64_t cfa_offset;
	const uint8_t *cfa_code; /* instead of the two */
	struct saved ra;
	struct saved fp;
};

#define REMEMBERED 16

struct program {
	struct row row;
	struct row initial;
	struct row remembered[REMEMBERED];
	unsigned int depth;
	uint64_t location;
	const struct grt_arch *arch;
	const struct cie *cie;
	int error;
};

static void cfi_set_saved(struct program *p, uint64_t reg, enum saved_kind kind, int64_t offset,
			  const uint8_t *code)
{
	struct saved s = {kind, offset, code};

	if (reg == p->arch->ra)
		p->row.ra = s;
	else if (reg == p->arch->fp)
		p->row.fp = s;
}

static void cfi_restore(struct program *p, uint64_t reg)
{
	if (reg == p->arch->ra)
		p->row.ra = p->initial.ra;
	else if (reg == p->arch->fp)
		p->row.fp = p->initial.fp;
}

static const uint8_t *cfi_block(struct cursor *c)
{
	const uint8_t *code = c->at;

	cfi_skip(c, cfi_uleb(c));
	return code;
}

static int64_t cfi_scaled(int64_t factor, const struct program *p)
{
	return (int64_t)((uint64_t)factor * (uint64_t)p->cie->data_align);
}

/* DW_CFA_def_cfa and its variants. */
static void cfi_define_cfa(struct program *p, bool reg, bool offset, bool is_signed, struct cursor *c)
{
	if (reg)
		p->row.cfa_reg = cfi_uleb(c);
	if (offset)
		p->row.cfa_offset = is_signed ? cfi_scaled(cfi_sleb(c), p) : (int64_t)cfi_uleb(c);
	p->row.cfa_code = NULL;
}

static void cfi_remember(struct program *p)
{
	if (p->depth == REMEMBERED)
		p->error = -EOPNOTSUPP;
	else
		p->remembered[p->depth++] = p->row;
}

static void cfi_recall(struct program *p)
{
	if (!p->depth)
		p->error = -EBADMSG;
	else
		p->row = p->remembered[--p->depth];
}

static void cfi_extended(struct program *p, uint8_t op, struct cursor *c, const struct grt_cfi_object *o)
{
	uint64_t reg;

	switch (op) {
	case 0x00: /* nop */
		break;
	case 0x01: /* set_loc */
		p->location = cfi_take_pointer(c, p->cie->fde_encoding, o);
		break;
	case 0x02: /* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04:
		p->location += cfi_take(c, 1U << (op - 2)) * p->cie->code_align;
		break;
	case 0x05: /* offset_extended */
		reg = cfi_uleb(c);
		cfi_set_saved(p, reg, AT_CFA, cfi_scaled((int64_t)cfi_uleb(c), p), NULL);
		break;
	case 0x06: /* restore_extended */
		cfi_restore(p, cfi_uleb(c));
		break;
	case 0x07: /* undefined */
		cfi_set_saved(p, cfi_uleb(c), UNDEFINED, 0, NULL);
		break;
	case 0x08: /* same_value */
		cfi_set_saved(p, cfi_uleb(c), SAME, 0, NULL);
		break;
	case 0x09: /* register */
		reg = cfi_uleb(c);
		cfi_uleb(c);
		cfi_set_saved(p, reg, ELSEWHERE, 0, NULL);
		break;
	case 0x0a:
		cfi_remember(p);
		break;
	case 0x0b:
		cfi_recall(p);
		break;
	case 0x0c:
		cfi_define_cfa(p, true, true, false, c);
		break;
	case 0x0d:
		cfi_define_cfa(p, true, false, false, c);
		break;
	case 0x0e:
		cfi_define_cfa(p, false, true, false, c);
		break;
	case 0x0f: /* def_cfa_expression */
		p->row.cfa_code = cfi_block(c);
		break;
	case 0x10: /* expression */
		reg = cfi_uleb(c);
		cfi_set_saved(p, reg, AT_EXPR, 0, cfi_block(c));
		break;
	case 0x11: /* offset_extended_sf */
		reg = cfi_uleb(c);
		cfi_set_saved(p, reg, AT_CFA, cfi_scaled(cfi_sleb(c), p), NULL);
		break;
	case 0x12:
		cfi_define_cfa(p, true, true, true, c);
		break;
	case 0x13:
		cfi_define_cfa(p, false, true, true, c);
		break;
	case 0x14: /* val_offset, val_offset_sf */
	case 0x15:
		reg = cfi_uleb(c);
		cfi_uleb(c);
		cfi_set_saved(p, reg, ELSEWHERE, 0, NULL);
		break;
	case 0x16: /* val_expression */
		reg = cfi_uleb(c);
		cfi_block(c);
		cfi_set_saved(p, reg, ELSEWHERE, 0, NULL);
		break;
	case 0x2c: /* AARCH64_negate_ra_state_with_pc, AARCH64_negate_ra_state: what signs is known without */
	case 0x2d:
		p->error = p->arch->signs ? 0 : -EOPNOTSUPP;
		break;
	case 0x2e: /* GNU_args_size: has no effect on rules */
		cfi_uleb(c);
		break;
	case 0x2f: /* GNU_negative_offset_extended */
		reg = cfi_uleb(c);
		cfi_set_saved(p, reg, AT_CFA, cfi_scaled(-(int64_t)cfi_uleb(c), p), NULL);
		break;
	default:
		p->error = -EOPNOTSUPP;
	}
}

/*
 * Runs until the row for @pc is complete; that row is valid up to @p->location, or to the end if @c is
 * empty.
 */
static int cfi_run_on(struct program *p, struct cursor *c, uint64_t pc, const struct grt_cfi_object *o)
{
	uint8_t op;

	while (c->at < c->end && !c->bad && !p->error && p->location <= pc) {
		op = (uint8_t)cfi_take(c, 1);
		switch (op & 0xc0) {
		case 0x40: /* advance_loc */
			p->location += (op & 0x3f) * p->cie->code_align;
			break;
		case 0x80: /* offset */
			cfi_set_saved(p, op & 0x3f, AT_CFA, cfi_scaled((int64_t)cfi_uleb(c), p), NULL);
			break;
		case 0xc0:
			cfi_restore(p, op & 0x3f);
			break;
		default:
			cfi_extended(p, op, c, o);
		}
	}
	return p->error ? p->error : c->bad ? -EBADMSG : 0;
}

static int cfi_run(struct program *p, struct cursor c, uint64_t pc, const struct grt_cfi_object *o)
{
	return cfi_run_on(p, &c, pc, o);
}

static int cfi_place_of(const struct where *w, const struct saved *s, struct grt_cfi_place *place)
{
	*place = (struct grt_cfi_place){.base = GRT_CFI_NONE};
	switch (s->kind) {
	case SAME:
	case UNDEFINED:
		return 0;
	case AT_CFA:
		return cfi_to_place((struct value){.base = GRT_CFI_CFA, .n = s->offset}, place);
	case AT_EXPR:
		return cfi_evaluate(w, s->code, true, place);
	default:
		return -EOPNOTSUPP;
	}
}

static int cfi_finish(const struct where *w, const struct row *row, struct grt_cfi_rule *rule)
{
	struct machine m = {.arch = w->arch, .pc = w->pc};
	int err;

	if (row->ra.kind == UNDEFINED) {
		rule->end = true;
		return 0;
	}
	if (row->ra.kind == SAME && !w->arch->links)
		return -EBADMSG;
	if (row->cfa_code)
		err = cfi_evaluate(w, row->cfa_code, false, &rule->cfa);
	else
		err = cfi_to_place(cfi_register_plus(&m, row->cfa_reg, row->cfa_offset), &rule->cfa);
	err = err ? err : m.error;
	err = err ? err : cfi_place_of(w, &row->ra, &rule->ra);
	return err ? err : cfi_place_of(w, &row->fp, &rule->fp);
}

/* ------------------------------------------------------------- search */

/** struct fde - the code that it describes, and its instructions */
struct fde {
	struct cie cie;
	struct cursor program;
	uint64_t begin;
	uint64_t size;
};

static int cfi_read_fde(const struct grt_cfi_object *o, const uint8_t *at, struct fde *f)
{
	struct cursor c;
	const uint8_t *place;
	uint64_t back;
	int err = cfi_entry_at(o, at, &c);

	place = c.at;
	if (err)
		return err;
	back = cfi_take(&c, 4);
	if (c.bad || cfi_is_cie(o, back))
		return -EBADMSG;
	place = o->debug ? (const uint8_t *)((uintptr_t)o->frames.start + back)
			 : (const uint8_t *)((uintptr_t)place - back);
	err = cfi_read_cie(o, place, &f->cie);
	if (err)
		return err;
	f->begin = cfi_take_pointer(&c, f->cie.fde_encoding, o);
	f->size = cfi_take_form(&c, f->cie.fde_encoding);
	if (f->cie.has_length)
		cfi_skip(&c, cfi_uleb(&c));
	f->program = c;
	return c.bad ? -EBADMSG : 0;
}

/* The CIE's part of the program of an FDE. */
static int cfi_begin(struct program *p, const struct fde *f, const struct grt_cfi_object *o)
{
	int err;

	/* remembered rows are written before they are read */
	memset(p, 0, offsetof(struct program, remembered));
	p->depth = 0;
	p->error = 0;
	p->arch = o->arch;
	p->cie = &f->cie;
	p->location = 0;
	err = cfi_run(p, f->cie.program, ~0ULL, o);
	p->initial = p->row;
	p->location = f->begin;
	return err;
}

/* Expressions of the CIE's program end within the CIE, those of the FDE's program within the FDE. */
static int cfi_rule_of_row(const struct program *p, const struct fde *f, uint64_t pc,
			   struct grt_cfi_rule *rule)
{
	const uint8_t *end = f->program.end > f->cie.program.end ? f->program.end : f->cie.program.end;

	*rule = (struct grt_cfi_rule){.signal = f->cie.signal};
	return cfi_finish(&(struct where){p->arch, pc, end}, &p->row, rule);
}

/* The rule of the FDE at @at for @pc; -ENOENT if the FDE covers other addresses. */
static int cfi_rule_of_fde(const struct grt_cfi_object *o, const uint8_t *at, uint64_t pc,
			   struct grt_cfi_rule *rule)
{
	struct program p;
	struct fde f;
	int err = cfi_read_fde(o, at, &f);

	if (err)
		return err;
	if (pc - f.begin >= f.size)
		return -ENOENT;
	err = cfi_begin(&p, &f, o);
	err = err ? err : cfi_run(&p, f.program, pc, o);
	return err ? err : cfi_rule_of_row(&p, &f, pc, rule);
}

/* Without a table: searches every FDE from the start of the section to its terminating 0. */
static int cfi_search_all(const struct grt_cfi_object *o, const uint8_t *at, uint64_t pc,
			  struct grt_cfi_rule *rule)
{
	uint32_t id;
	struct cursor c;
	int err;

	for (;;) {
		err = cfi_entry_at(o, at, &c);
		if (err)
			return err;
		if (c.at == c.end)
			return -ENOENT;
		memcpy(&id, c.at, c.end - c.at >= 4 ? 4 : 0);
		if (c.end - c.at >= 4 && id) {
			err = cfi_rule_of_fde(o, at, pc, rule);
			if (err != -ENOENT)
				return err;
		}
		at = c.end;
	}
}

/* The table's entries are pairs of 32 bits (function, FDE), counted from the header and sorted. */
static int cfi_search_table(const struct grt_cfi_object *o, struct cursor c, uint64_t count, uint64_t pc,
			    struct grt_cfi_rule *rule)
{
	int64_t base = (int64_t)(uintptr_t)o->header.start, want = (int64_t)(pc - (uint64_t)base);
	uint64_t low = 0, high = count, middle;
	int32_t pair[2];

	if (count > (uint64_t)(c.end - c.at) / sizeof(pair))
		return -EBADMSG;
	while (low < high) {
		middle = (low + high) / 2;
		memcpy(pair, c.at + middle * sizeof(pair), sizeof(pair));
		if (pair[0] <= want)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return -ENOENT;
	memcpy(pair, c.at + (low - 1) * sizeof(pair), sizeof(pair));
	return cfi_rule_of_fde(o, (const uint8_t *)(uintptr_t)(base + pair[1]), pc, rule);
}

/* Reads the header, which says where the section is and whether there is a table. */
static int cfi_read_header(const struct grt_cfi_object *o, struct cursor *c, uint64_t *section,
			   uint8_t *count, uint8_t *table)
{
	uint8_t version, frame;

	*c = (struct cursor){o->header.start, o->header.end, false};
	version = (uint8_t)cfi_take(c, 1);
	frame = (uint8_t)cfi_take(c, 1);
	*count = (uint8_t)cfi_take(c, 1);
	*table = (uint8_t)cfi_take(c, 1);
	if (c->bad || version != 1)
		return -EBADMSG;
	*section = cfi_take_pointer(c, frame, o);
	return c->bad ? -EBADMSG : 0;
}

int grt_cfi_find(const struct grt_cfi_object *o, uint64_t pc, struct grt_cfi_rule *rule)
{
	uint64_t section, entries;
	uint8_t count, table;
	struct cursor c;
	int err = cfi_read_header(o, &c, &section, &count, &table);

	if (err)
		return err;
	if (count == PE_OMIT || table != (PE_DATAREL | 0xb))
		return cfi_search_all(o, (const uint8_t *)(uintptr_t)section, pc, rule);
	entries = cfi_take_pointer(&c, count, o);
	if (c.bad)
		return -EBADMSG;
	return cfi_search_table(o, c, entries, pc, rule);
}

/* ---------------------------------------------------------------- all rows */

/*
 * Most bytes, in all tables, of rows whose expression may have another value at each instruction, as in a
 * PLT.
 */
#ifndef ROW_BYTES_MAX
#define ROW_BYTES_MAX (8U << 20)
#endif

static bool cfi_has_code(const struct row *row)
{
	return row->cfa_code || row->ra.kind == AT_EXPR || row->fp.kind == AT_EXPR;
}

/* Reports a row for the code from @pc to @end. With an expression, each byte may have another rule. */
static void cfi_show_row(const struct program *p, const struct fde *f, uint64_t pc, uint64_t end,
			 const struct grt_cfi_visit *visit, uint64_t *left)
{
	bool each = cfi_has_code(&p->row) && end - pc <= *left;
	struct grt_cfi_rule rule, last;
	int err, was = 1;

	*left -= each ? end - pc : 0;
	do {
		err = cfi_rule_of_row(p, f, pc, &rule);
		if (err != was || (!err && memcmp(&rule, &last, sizeof(rule))))
			visit->row(visit->arg, pc, err ? NULL : &rule);
		memcpy(&last, &rule, sizeof(last));
		was = err;
	} while (each && ++pc < end);
}

static void cfi_show_fde(const struct grt_cfi_object *o, const struct fde *f,
			 const struct grt_cfi_visit *visit, uint64_t *left)
{
	uint64_t pc = f->begin, end = f->begin + f->size, next;
	struct cursor c = f->program;
	struct program p;

	if (end < pc || cfi_begin(&p, f, o))
		return;
	while (pc < end) {
		if (cfi_run_on(&p, &c, pc, o)) {
			visit->row(visit->arg, pc, NULL);
			break;
		}
		next = p.location > pc && p.location < end ? p.location : end;
		cfi_show_row(&p, f, pc, next, visit, left);
		pc = next;
	}
	visit->row(visit->arg, end, NULL);
}

int grt_cfi_all(const struct grt_cfi_object *o, const struct grt_cfi_visit *visit)
{
	const uint8_t *at;
	uint8_t count, table;
	uint64_t section = (uintptr_t)o->frames.start, left = ROW_BYTES_MAX;
	struct cursor c;
	struct fde f;
	uint32_t id;
	int err = section ? 0 : cfi_read_header(o, &c, &section, &count, &table);

	for (at = (const uint8_t *)(uintptr_t)section; !err && at != o->frames.end; at = c.end) {
		err = cfi_entry_at(o, at, &c);
		if (err || c.end - c.at < 4)
			break;
		memcpy(&id, c.at, 4);
		if (!cfi_is_cie(o, id) && !cfi_read_fde(o, at, &f) && f.size)
			cfi_show_fde(o, &f, visit, &left);
	}
	return err;
}
