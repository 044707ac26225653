/* Linked into Fortran programs by loggp fc: the procedures of MPI by the names that gfortran gives them. procedures.h has
 * those that differ from the functions in C only in how arguments are passed. The rest stands in for what gfortran's
 * library, a copy of which is in each program, must not do in a rank: whatever concerns the process. */
#define _GNU_SOURCE
/* More optimization takes twice the time to compile, and procedures that pass arguments on are no faster. */
#pragma GCC optimize("O1", "optimize-sibling-calls")
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mpi.h"
#include "rank.h"

int64_t loggp_enter(int64_t, intptr_t *, void *);
double loggp_enter_real(int64_t, intptr_t *, void *);
int64_t loggp_set_address_origin(void *);

/* Constants that are addresses. The common blocks are those of mpif.h. */
#define BLOCK __attribute__((common, visibility("hidden")))
BLOCK int loggp_bottom_;
BLOCK int loggp_in_place_;
BLOCK int loggp_buffer_automatic_;
BLOCK int loggp_unweighted_;
BLOCK int loggp_weights_empty_;
BLOCK int loggp_status_ignore_[8];
BLOCK int loggp_statuses_ignore_[8];
BLOCK int loggp_errcodes_ignore_;
BLOCK char loggp_argv_null_;
BLOCK char loggp_argvs_null_;

static inline intptr_t buffer_of(void *b) {
	return b == &loggp_bottom_ ? (intptr_t)MPI_BOTTOM : b == &loggp_in_place_ ? (intptr_t)MPI_IN_PLACE : b == &loggp_buffer_automatic_ ? (intptr_t)MPI_BUFFER_AUTOMATIC : (intptr_t)b;
}
static inline intptr_t weights_of(void *b) {
	return b == &loggp_unweighted_ ? (intptr_t)MPI_UNWEIGHTED : b == &loggp_weights_empty_ ? (intptr_t)MPI_WEIGHTS_EMPTY : (intptr_t)b;
}
static inline intptr_t status_or_null(void *s) { return s == loggp_status_ignore_ || s == loggp_statuses_ignore_ ? 0 : (intptr_t)s; }

/* Arrays of handles: an INTEGER each in Fortran, a pointer each in C. Few are on the stack. */
static intptr_t *widen(intptr_t *few, int *from, int n) {
	intptr_t *h = n > 64 ? malloc(n * sizeof *h) : few;
	for (int i = 0; i < n; i++) h[i] = from[i];
	return h;
}
struct handles {
	intptr_t *h, few[64];
};
static void release(struct handles *x) {
	if (x->h != x->few) free(x->h);
}
#define HANDLES(x, from, n)                                       \
	__attribute__((cleanup(release))) struct handles x##_all; \
	intptr_t *x = x##_all.h = widen(x##_all.few, from, n);
#define BACK(x, to, n) \
	for (int i = 0, end = n; i < end; i++) ((int *)to)[i] = x[i];

/* Texts have no end in Fortran, and blanks behind them. */
#define TEXT_IN(s, from, length, skip)                          \
	int b_##s = skip ? blanks(from, length) : 0;             \
	int n_##s = trimmed((char *)from + b_##s, length - b_##s); \
	char s[n_##s + 1];                                       \
	memcpy(s, (char *)from + b_##s, n_##s);                  \
	s[n_##s] = 0;
#define TEXT_OUT(s) char s[8192 + 1] = {1};

static int blanks(const char *s, int n) {
	int i = 0;
	while (i < n && s[i] == ' ') i++;
	return i;
}

static int trimmed(const char *s, int n) {
	while (n > 0 && s[n - 1] == ' ') n--;
	return n;
}

static void text_back(const char *s, char *to, size_t room) {
	if (*s == 1) return; /* nothing was written */
	size_t n = strnlen(s, room);
	memcpy(to, s, n);
	memset(to + n, ' ', room - n);
}

static int loggp_neighbours(int comm, int to) {
	int kind, n, out, weighted, rank;
	MPI_Comm c = (MPI_Comm)(intptr_t)comm;
	if (PMPI_Topo_test(c, &kind)) return 0;
	switch (kind) {
	case MPI_CART: return PMPI_Cartdim_get(c, &n) ? 0 : 2 * n;
	case MPI_GRAPH: return PMPI_Comm_rank(c, &rank) || PMPI_Graph_neighbors_count(c, rank, &n) ? 0 : n;
	case MPI_DIST_GRAPH: return PMPI_Dist_graph_neighbors_count(c, &n, &out, &weighted) ? 0 : to ? out : n;
	}
	return 0;
}
static int loggp_members(int comm) {
	int n;
	MPI_Comm c = (MPI_Comm)(intptr_t)comm;
	if (PMPI_Comm_test_inter(c, &n) == 0 && n)
		PMPI_Comm_remote_size(c, &n);
	else
		PMPI_Comm_size(c, &n);
	return n;
}

/* Programs with module mpi_f08 may leave the error out. */
static int *error_of(int *ierror) {
	static int ignored;
	return ierror ? ierror : &ignored;
}

/* Array descriptors, as in gfortran's ISO_Fortran_binding.h. */
struct descriptor {
	void *base;
	size_t element_bytes;
	int version;
	signed char rank, attribute;
	short type;
	struct {
		intptr_t lower, extent, stride; /* the stride in bytes */
	} dimension[15];
};

static int has_gaps(const struct descriptor *d) {
	int gaps = 0;
	intptr_t next = d->element_bytes;
	for (int i = 0; i < d->rank; i++) {
		intptr_t n = d->dimension[i].extent; /* -1: the last of an array of assumed size */
		if (n == 0) return 0;
		gaps |= n != 1 && d->dimension[i].stride != next;
		next *= n;
	}
	return gaps;
}

/* choice returns what the emulator gets for a choice buffer, argument i: the address, or the descriptor of a section with
 * gaps, and then the bit of the argument is set. */
__attribute__((noinline)) static void *choice(struct descriptor *d, int i, int64_t *descriptors) {
	if (!has_gaps(d)) return d->base;
	*descriptors |= 1 << i;
	return d;
}

/* gfortran's descriptors of procedures that are not interoperable. Strides are in units of the span. */
struct own_descriptor {
	void *base;
	size_t offset, element_bytes;
	int version;
	signed char rank, type;
	short attribute;
	intptr_t span;
	struct {
		intptr_t stride, lower, upper;
	} dimension[15];
};

static void convert(const struct descriptor *d, struct own_descriptor *o) {
	static const signed char types[] = {0, 1, 2, 3, 4, 6, 5, 10}; /* by the lower byte of an interoperable type */
	int type = d->type & 0xff, i;
	intptr_t span = d->element_bytes, offset = 0;
	for (i = 0; i < d->rank; i++)
		if (span && d->dimension[i].stride % span) span = 1;
	for (i = 0; i < d->rank; i++) {
		o->dimension[i].stride = span ? d->dimension[i].stride / span : 1;
		o->dimension[i].lower = 1;
		o->dimension[i].upper = d->dimension[i].extent;
		offset -= o->dimension[i].stride;
	}
	o->base = d->base;
	o->offset = offset;
	o->element_bytes = d->element_bytes;
	o->version = 0;
	o->rank = d->rank;
	o->type = type < (int)sizeof types ? types[type] : 0;
	o->attribute = 0;
	o->span = span;
}

/* A procedure that a profiling tool may define. */
#define TOOL __attribute__((weak, visibility("hidden")))

#include "procedures.h"

#define ENTER(function, ...)                                                                   \
	({                                                                                     \
		intptr_t a[] = {__VA_ARGS__};                                                  \
		loggp_enter(NUMBER_##function, a, __builtin_return_address(0));                \
	})

void pmpi_init_(int *ierror) { *error_of(ierror) = ENTER(MPI_Init, 0, 0); }
void pmpi_init_thread_(int *required, int *provided, int *ierror) { *error_of(ierror) = ENTER(MPI_Init_thread, 0, 0, *required, (intptr_t)provided); }
void pmpi_info_create_env_(int *info, int *ierror) {
	intptr_t h = *info;
	*error_of(ierror) = ENTER(MPI_Info_create_env, 0, 0, (intptr_t)&h);
	*info = h;
}
void pmpi_pcontrol_(int *level) { ENTER(MPI_Pcontrol, *level); }
intptr_t pmpi_aint_add_(intptr_t *base, intptr_t *disp) { return *base + *disp; }
intptr_t pmpi_aint_diff_(intptr_t *a, intptr_t *b) { return *a - *b; }

/* Arguments of programs: texts of one length, without blanks around them; the last is blank. */
static char **arguments_of(const char *first, size_t stride, size_t length) {
	int n = 0;
	while (trimmed(first + n * stride, length) > 0) n++;
	char **all = malloc((n + 1) * sizeof *all);
	for (int i = 0; i < n; i++) {
		const char *text = first + i * stride;
		int skip = blanks(text, length);
		all[i] = strndup(text + skip, trimmed(text + skip, length - skip));
	}
	all[n] = NULL;
	return all;
}
static void free_arguments(char **all) {
	for (int i = 0; all && all[i]; i++) free(all[i]);
	free(all);
}
static intptr_t codes_or_null(void *codes) { return codes == &loggp_errcodes_ignore_ ? 0 : (intptr_t)codes; }

/* Only the root's arguments are read. */
static int is_root(int comm, int root) {
	int rank;
	return PMPI_Comm_rank((MPI_Comm)(intptr_t)comm, &rank) == 0 && rank == root;
}

void pmpi_comm_spawn_(char *command, char *argv, int *maxprocs, int *info, int *root, int *comm, int *intercomm, int *codes, int *ierror, size_t l_command, size_t l_argv) {
	intptr_t h = *intercomm;
	if (!is_root(*comm, *root)) {
		*error_of(ierror) = ENTER(MPI_Comm_spawn, 0, 0, 0, (intptr_t)MPI_INFO_NULL, *root, *comm, (intptr_t)&h, codes_or_null(codes));
		*intercomm = h;
		return;
	}
	TEXT_IN(s, command, l_command, 1)
	char **arguments = argv == &loggp_argv_null_ ? NULL : arguments_of(argv, l_argv, l_argv);
	*error_of(ierror) = ENTER(MPI_Comm_spawn, (intptr_t)s, (intptr_t)arguments, *maxprocs, *info, *root, *comm, (intptr_t)&h, codes_or_null(codes));
	*intercomm = h;
	free_arguments(arguments);
}

void pmpi_comm_spawn_multiple_(int *count, char *commands, char *argv, int *maxprocs, int *infos, int *root, int *comm, int *intercomm, int *codes, int *ierror, size_t l_command, size_t l_argv) {
	intptr_t h = *intercomm;
	if (!is_root(*comm, *root)) {
		*error_of(ierror) = ENTER(MPI_Comm_spawn_multiple, 0, 0, 0, 0, 0, *root, *comm, (intptr_t)&h, codes_or_null(codes));
		*intercomm = h;
		return;
	}
	int n = *count > 0 ? *count : 0;
	char *names[n + 1], **arguments[n + 1];
	HANDLES(i, infos, n)
	for (int k = 0; k < n; k++) {
		char *name = commands + k * l_command;
		int skip = blanks(name, l_command);
		names[k] = strndup(name + skip, trimmed(name + skip, l_command - skip));
		arguments[k] = argv == &loggp_argvs_null_ ? NULL : arguments_of(argv + k * l_argv, n * l_argv, l_argv);
	}
	*error_of(ierror) = ENTER(MPI_Comm_spawn_multiple, *count, (intptr_t)names, (intptr_t)(argv == &loggp_argvs_null_ ? NULL : arguments), (intptr_t)maxprocs, (intptr_t)i, *root, *comm, (intptr_t)&h, codes_or_null(codes));
	*intercomm = h;
	for (int k = 0; k < n; k++) {
		free(names[k]);
		free_arguments(arguments[k]);
	}
}

/* Lengths of texts have no null character. */
void pmpi_info_get_string_(int *info, char *key, int *length, char *value, int *flag, int *ierror, size_t l_key, size_t l_value) {
	TEXT_IN(k, key, l_key, 1)
	int room = *length > 0 ? *length + 1 : *length;
	char text[MPI_MAX_INFO_VAL + 1];
	if (room > (int)sizeof text) room = sizeof text;
	*error_of(ierror) = ENTER(MPI_Info_get_string, *info, (intptr_t)k, (intptr_t)&room, (intptr_t)text, (intptr_t)flag);
	if (*error_of(ierror) || !*flag) return;
	if (*length > 0) text_back(text, value, l_value);
	*length = room - 1;
}

/* Requests are counted from 1. */

static int counted(int i) { return i == MPI_UNDEFINED ? i : i + 1; }

void pmpi_waitany_(int *count, int *requests, int *index, void *status, int *ierror) {
	HANDLES(h, requests, *count)
	int i = MPI_UNDEFINED;
	*error_of(ierror) = ENTER(MPI_Waitany, *count, (intptr_t)h, (intptr_t)&i, status_or_null(status));
	BACK(h, requests, *count)
	*index = counted(i);
}

void pmpi_testany_(int *count, int *requests, int *index, int *flag, void *status, int *ierror) {
	HANDLES(h, requests, *count)
	int i = MPI_UNDEFINED;
	*error_of(ierror) = ENTER(MPI_Testany, *count, (intptr_t)h, (intptr_t)&i, (intptr_t)flag, status_or_null(status));
	BACK(h, requests, *count)
	*index = counted(i);
}

void pmpi_waitsome_(int *count, int *requests, int *found, int *indices, void *statuses, int *ierror) {
	HANDLES(h, requests, *count)
	*error_of(ierror) = ENTER(MPI_Waitsome, *count, (intptr_t)h, (intptr_t)found, (intptr_t)indices, status_or_null(statuses));
	BACK(h, requests, *count)
	for (int i = 0; i < *found; i++) indices[i]++;
}

void pmpi_testsome_(int *count, int *requests, int *found, int *indices, void *statuses, int *ierror) {
	HANDLES(h, requests, *count)
	*error_of(ierror) = ENTER(MPI_Testsome, *count, (intptr_t)h, (intptr_t)found, (intptr_t)indices, status_or_null(statuses));
	BACK(h, requests, *count)
	for (int i = 0; i < *found; i++) indices[i]++;
}

void pmpi_request_get_status_any_(int *count, int *requests, int *index, int *flag, void *status, int *ierror) {
	HANDLES(h, requests, *count)
	int i = MPI_UNDEFINED;
	*error_of(ierror) = ENTER(MPI_Request_get_status_any, *count, (intptr_t)h, (intptr_t)&i, (intptr_t)flag, status_or_null(status));
	*index = counted(i);
}

void pmpi_request_get_status_some_(int *count, int *requests, int *found, int *indices, void *statuses, int *ierror) {
	HANDLES(h, requests, *count)
	*error_of(ierror) = ENTER(MPI_Request_get_status_some, *count, (intptr_t)h, (intptr_t)found, (intptr_t)indices, status_or_null(statuses));
	for (int i = 0; i < *found; i++) indices[i]++;
}

/* Addresses of MPI-1 are counted from a variable: so they fit default integers where they are those of static variables,
 * and where not, their differences do. loggp tells them from others, which are longer. */

void pmpi_address_(void *location, int *address, int *ierror) {
	loggp_set_address_origin(&loggp_bottom_);
	*address = (char *)location - (char *)&loggp_bottom_;
	*error_of(ierror) = 0;
}
void pmpi_get_address_(void *location, intptr_t *address, int *ierror) {
	*address = buffer_of(location);
	*error_of(ierror) = 0;
}
void pmpi_type_extent_(int *type, int *extent, int *ierror) {
	intptr_t e = 0;
	*error_of(ierror) = ENTER(MPI_Type_extent, *type, (intptr_t)&e);
	*extent = e;
}
void pmpi_type_lb_(int *type, int *bound, int *ierror) {
	intptr_t b = 0;
	*error_of(ierror) = ENTER(MPI_Type_lb, *type, (intptr_t)&b);
	*bound = b;
}
void pmpi_type_ub_(int *type, int *bound, int *ierror) {
	intptr_t b = 0;
	*error_of(ierror) = ENTER(MPI_Type_ub, *type, (intptr_t)&b);
	*bound = b;
}
void pmpi_type_hvector_(int *count, int *length, int *stride, int *old, int *new, int *ierror) {
	intptr_t h = *new;
	*error_of(ierror) = ENTER(MPI_Type_hvector, *count, *length, *stride, *old, (intptr_t)&h);
	*new = h;
}
void pmpi_type_hindexed_(int *count, int *lengths, int *at, int *old, int *new, int *ierror) {
	HANDLES(wide, at, *count)
	intptr_t h = *new;
	*error_of(ierror) = ENTER(MPI_Type_hindexed, *count, (intptr_t)lengths, (intptr_t)wide, *old, (intptr_t)&h);
	*new = h;
}
void pmpi_type_struct_(int *count, int *lengths, int *at, int *types, int *new, int *ierror) {
	HANDLES(wide, at, *count)
	HANDLES(t, types, *count)
	intptr_t h = *new;
	*error_of(ierror) = ENTER(MPI_Type_struct, *count, (intptr_t)lengths, (intptr_t)wide, (intptr_t)t, (intptr_t)&h);
	*new = h;
}

struct generalized {
	void (*query)(), (*free)(), (*cancel)();
	intptr_t *extra; /* the program's variable, which the procedures may change */
};
static int query_generalized(void *extra, MPI_Status *s) {
	struct generalized *g = extra;
	int ierror = 0;
	g->query(g->extra, s, &ierror);
	return ierror;
}
static int free_generalized(void *extra) {
	struct generalized *g = extra;
	int ierror = 0;
	g->free(g->extra, &ierror);
	free(g);
	return ierror;
}
static int cancel_generalized(void *extra, int complete) {
	struct generalized *g = extra;
	int ierror = 0;
	g->cancel(g->extra, &complete, &ierror);
	return ierror;
}
void pmpi_grequest_start_(void (*query)(), void (*release)(), void (*cancel)(), intptr_t *extra, int *request, int *ierror) {
	struct generalized *g = malloc(sizeof *g);
	*g = (struct generalized){query, release, cancel, extra};
	intptr_t h = *request;
	*error_of(ierror) = ENTER(MPI_Grequest_start, (intptr_t)query_generalized, (intptr_t)free_generalized, (intptr_t)cancel_generalized, (intptr_t)g, (intptr_t)&h);
	*request = h;
}

/* The address of the buffer is not given back. */
void pmpi_buffer_detach_(void *buffer, int *size, int *ierror) {
	void *b;
	*error_of(ierror) = ENTER(MPI_Buffer_detach, (intptr_t)&b, (intptr_t)size);
}
void pmpi_comm_detach_buffer_(int *comm, void *buffer, int *size, int *ierror) {
	void *b;
	*error_of(ierror) = ENTER(MPI_Comm_detach_buffer, (intptr_t)*comm, (intptr_t)&b, (intptr_t)size);
}
void pmpi_session_detach_buffer_(int *session, void *buffer, int *size, int *ierror) {
	void *b;
	*error_of(ierror) = ENTER(MPI_Session_detach_buffer, (intptr_t)*session, (intptr_t)&b, (intptr_t)size);
}

void pmpi_buffer_detach_f08_(void **buffer, int *size, int *ierror) { *error_of(ierror) = ENTER(MPI_Buffer_detach, (intptr_t)buffer, (intptr_t)size); }
void pmpi_comm_detach_buffer_f08_(int *comm, void **buffer, int *size, int *ierror) { *error_of(ierror) = ENTER(MPI_Comm_detach_buffer, (intptr_t)*comm, (intptr_t)buffer, (intptr_t)size); }
void pmpi_session_detach_buffer_f08_(int *session, void **buffer, int *size, int *ierror) { *error_of(ierror) = ENTER(MPI_Session_detach_buffer, (intptr_t)*session, (intptr_t)buffer, (intptr_t)size); }

void mpi_f_sync_reg_(void *buffer) {}
void mpi_f_sync_reg_f08_(void *buffer) {}
void loggp_mpi_f_sync_reg_f08ts(struct descriptor *buffer) {}
void mpi_status_f2f08_(MPI_Status *f, MPI_Status *f08, int *ierror) {
	*f08 = *f;
	*error_of(ierror) = 0;
}
void mpi_status_f082f_(MPI_Status *f08, MPI_Status *f, int *ierror) {
	*f = *f08;
	*error_of(ierror) = 0;
}

/* Attributes are values, default integers in MPI-1. */

#define PREDEFINED(of, value) \
	void mpi_##of##null_copy_fn_(int *handle, int *key, value *extra, value *in, value *out, int *flag, int *ierror) { *flag = *ierror = 0; } \
	void mpi_##of##dup_fn_(int *handle, int *key, value *extra, value *in, value *out, int *flag, int *ierror) { \
		*out = *in; \
		*flag = 1; \
		*ierror = 0; \
	} \
	void mpi_##of##null_delete_fn_(int *handle, int *key, value *in, value *extra, int *ierror) { *ierror = 0; }
PREDEFINED(, int)
PREDEFINED(comm_, intptr_t)
PREDEFINED(type_, intptr_t)
PREDEFINED(win_, intptr_t)
void mpi_conversion_fn_null_(void) {}

/* C takes the address of a value that Fortran has set, and Fortran the address that C has set as a number (MPI 4.1,
 * 19.3.7). Values of Fortran are kept for the whole run, as duplicates share them. */
enum { CELLS = 255 };
static struct cells {
	struct cells *next;
	intptr_t used, value[CELLS];
} *cells;
static intptr_t new_cell(intptr_t value) {
	if (!cells || cells->used == CELLS) {
		struct cells *more = calloc(1, sizeof *more);
		more->next = cells;
		cells = more;
	}
	cells->value[cells->used] = value;
	return (intptr_t)&cells->value[cells->used++];
}
static intptr_t value_of(intptr_t v) {
	for (struct cells *c = cells; c; c = c->next)
		if (v >= (intptr_t)c->value && v < (intptr_t)(c->value + CELLS)) return *(intptr_t *)v;
	return v;
}

struct keyval {
	void (*copy)(), (*delete)();
	int of_mpi_1;
	intptr_t extra;
};

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
	struct keyval *k = extra;
	int c = (intptr_t)comm, ierror = 0;
	if (k->of_mpi_1) {
		int e = k->extra, i = value_of((intptr_t)in), o = 0;
		k->copy(&c, &key, &e, &i, &o, flag, &ierror);
		*(intptr_t *)out = new_cell(o);
	} else {
		intptr_t i = value_of((intptr_t)in), o = 0;
		k->copy(&c, &key, &k->extra, &i, &o, flag, &ierror);
		*(intptr_t *)out = new_cell(o);
	}
	return ierror;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra) {
	struct keyval *k = extra;
	int c = (intptr_t)comm, ierror = 0;
	if (k->of_mpi_1) {
		int v = value_of((intptr_t)value), e = k->extra;
		k->delete(&c, &key, &v, &e, &ierror);
	} else {
		intptr_t v = value_of((intptr_t)value);
		k->delete(&c, &key, &v, &k->extra, &ierror);
	}
	return ierror;
}

static struct keyval *new_keyval(void (*copy)(), void (*delete)(), int of_mpi_1, intptr_t extra, intptr_t *functions) {
	struct keyval *k = malloc(sizeof *k);
	*k = (struct keyval){copy, delete, of_mpi_1, extra};
	functions[0] = copy == mpi_null_copy_fn_ || copy == mpi_comm_null_copy_fn_ || copy == mpi_type_null_copy_fn_ || copy == mpi_win_null_copy_fn_ ? (intptr_t)MPI_NULL_COPY_FN
	               : copy == mpi_dup_fn_ || copy == mpi_comm_dup_fn_ || copy == mpi_type_dup_fn_ || copy == mpi_win_dup_fn_ ? (intptr_t)MPI_DUP_FN
	                                                                           : (intptr_t)copy_attribute;
	functions[1] = delete == mpi_null_delete_fn_ || delete == mpi_comm_null_delete_fn_ || delete == mpi_type_null_delete_fn_ || delete == mpi_win_null_delete_fn_ ? (intptr_t)MPI_NULL_DELETE_FN : (intptr_t)delete_attribute;
	return k;
}

void pmpi_keyval_create_(void (*copy)(), void (*delete)(), int *key, int *extra, int *ierror) {
	intptr_t f[2];
	struct keyval *k = new_keyval(copy, delete, 1, *extra, f);
	*error_of(ierror) = ENTER(MPI_Keyval_create, f[0], f[1], (intptr_t)key, (intptr_t)k);
}
void pmpi_comm_create_keyval_(void (*copy)(), void (*delete)(), int *key, intptr_t *extra, int *ierror) {
	intptr_t f[2];
	struct keyval *k = new_keyval(copy, delete, 0, *extra, f);
	*error_of(ierror) = ENTER(MPI_Comm_create_keyval, f[0], f[1], (intptr_t)key, (intptr_t)k);
}
void pmpi_type_create_keyval_(void (*copy)(), void (*delete)(), int *key, intptr_t *extra, int *ierror) {
	intptr_t f[2];
	struct keyval *k = new_keyval(copy, delete, 0, *extra, f);
	*error_of(ierror) = ENTER(MPI_Type_create_keyval, f[0], f[1], (intptr_t)key, (intptr_t)k);
}
void pmpi_win_create_keyval_(void (*copy)(), void (*delete)(), int *key, intptr_t *extra, int *ierror) {
	intptr_t f[2];
	struct keyval *k = new_keyval(copy, delete, 0, *extra, f);
	*error_of(ierror) = ENTER(MPI_Win_create_keyval, f[0], f[1], (intptr_t)key, (intptr_t)k);
}
void pmpi_attr_put_(int *comm, int *key, int *value, int *ierror) { *error_of(ierror) = ENTER(MPI_Attr_put, *comm, *key, new_cell(*value)); }
void pmpi_comm_set_attr_(int *comm, int *key, intptr_t *value, int *ierror) { *error_of(ierror) = ENTER(MPI_Comm_set_attr, *comm, *key, new_cell(*value)); }
void pmpi_type_set_attr_(int *type, int *key, intptr_t *value, int *ierror) { *error_of(ierror) = ENTER(MPI_Type_set_attr, *type, *key, new_cell(*value)); }
void pmpi_win_set_attr_(int *win, int *key, intptr_t *value, int *ierror) { *error_of(ierror) = ENTER(MPI_Win_set_attr, *win, *key, new_cell(*value)); }

/* Attributes of the library's are addresses of values. */
static intptr_t attribute(int key, intptr_t v) { return key >= MPI_TAG_UB && key <= MPI_LASTUSEDCODE ? *(int *)v : value_of(v); }

void pmpi_attr_get_(int *comm, int *key, int *value, int *flag, int *ierror) {
	intptr_t v;
	*flag = 0;
	*error_of(ierror) = ENTER(MPI_Attr_get, *comm, *key, (intptr_t)&v, (intptr_t)flag);
	if (*flag) *value = attribute(*key, v);
}
void pmpi_comm_get_attr_(int *comm, int *key, intptr_t *value, int *flag, int *ierror) {
	intptr_t v;
	*flag = 0;
	*error_of(ierror) = ENTER(MPI_Comm_get_attr, *comm, *key, (intptr_t)&v, (intptr_t)flag);
	if (*flag) *value = attribute(*key, v);
}
void pmpi_type_get_attr_(int *type, int *key, intptr_t *value, int *flag, int *ierror) {
	intptr_t v;
	*flag = 0;
	*error_of(ierror) = ENTER(MPI_Type_get_attr, *type, *key, (intptr_t)&v, (intptr_t)flag);
	if (*flag) *value = value_of(v);
}
void pmpi_win_get_attr_(int *win, int *key, intptr_t *value, int *flag, int *ierror) {
	intptr_t v;
	*flag = 0;
	*error_of(ierror) = ENTER(MPI_Win_get_attr, *win, *key, (intptr_t)&v, (intptr_t)flag);
	if (!*flag) return;
	switch (*key) {
	case MPI_WIN_SIZE: *value = *(MPI_Aint *)v; break;
	case MPI_WIN_DISP_UNIT:
	case MPI_WIN_CREATE_FLAVOR:
	case MPI_WIN_MODEL: *value = *(int *)v; break;
	default: *value = value_of(v);
	}
}

/* What gfortran's library does to the process. Its standard units are pipes, whatever loggp's are: they are not cut off,
 * and the emulator handles the signals. */

OURS int fstat(int fd, struct stat *s) {
	if (fd < 0 || fd > 2) return fstatat(fd, "", s, AT_EMPTY_PATH);
	memset(s, 0, sizeof *s);
	s->st_mode = S_IFIFO | 0600;
	s->st_ino = fd + 1;
	return 0;
}
OURS int fstat64(int fd, struct stat64 *s) { return fstat(fd, (struct stat *)s); }
OURS int isatty(int fd) { return 0; }
OURS off_t lseek(int fd, off_t at, int from) {
	if (fd > 2) return syscall(SYS_lseek, fd, at, from);
	errno = ESPIPE;
	return -1;
}
OURS int ftruncate(int fd, off_t n) { return fd > 2 ? syscall(SYS_ftruncate, fd, n) : 0; }
OURS int close(int fd) { return fd > 2 ? syscall(SYS_close, fd) : 0; }

OURS ssize_t writev(int fd, const struct iovec *v, int n) {
	ssize_t all = 0;
	for (int i = 0; i < n; i++) {
		ssize_t k = write(fd, v[i].iov_base, v[i].iov_len);
		if (k < 0) return all ? all : k;
		all += k;
		if (k < v[i].iov_len) break;
	}
	return all;
}

/* Lines are written when they are complete, as C programs write them here. */
OURS char *secure_getenv(const char *name) {
	char *v = getenv(name);
	return !v && strcmp(name, "GFORTRAN_UNBUFFERED_PRECONNECTED") == 0 ? "y" : v;
}

/* Output that is asynchronous elsewhere is not here: there are not as many variables of threads as copies of the program.
 * The one that says which unit a thread works for is a usual variable here, with the place of a thread's null pointer. */
intptr_t thread_unit;

void loggp_fortran_begin(struct loggp_rank *r) { thread_unit = r->null_of_thread; }

void _gfortrani_async_close(void *u) {}
int _gfortrani_async_wait(void *a, void *b) { return 0; }
int _gfortrani_async_wait_id(void *a, void *b, int i) { return 0; }
int _gfortrani_collect_async_errors(void *a, void *b) { return 0; }
void _gfortrani_enqueue_close(void *u) {}
void _gfortrani_enqueue_data_transfer_init(void *u, void *d, int r) {}
void _gfortrani_enqueue_done(void *u, int t) {}
int _gfortrani_enqueue_done_id(void *u, int t) { return 0; }
void _gfortrani_enqueue_transfer(void *u, void *a, int t) {}
void _gfortrani_init_async_unit(void *u) {}

#include "aliases.h"
