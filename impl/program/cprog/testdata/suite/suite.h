/* Small programs that any MPI runs with the same output. Each TEST is one: all ranks run it, say what they see, and rank 0
 * prints that in the order of ranks. */
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define W MPI_COMM_WORLD

static MPI_Comm apart; /* for what is printed */
static int rank, size;
static char said[1 << 16];
static int length;

static void say(const char *f, ...) {
	va_list a;
	va_start(a, f);
	length += vsnprintf(said + length, sizeof said - length, f, a);
	va_end(a);
}

/* Names of error classes, whose numbers differ between implementations. */
static const char *class_of(int code) {
	int c;
	MPI_Error_class(code, &c);
	if (c == MPI_SUCCESS) return "success";
	if (c == MPI_ERR_BUFFER) return "buffer";
	if (c == MPI_ERR_COUNT) return "count";
	if (c == MPI_ERR_TYPE) return "type";
	if (c == MPI_ERR_TAG) return "tag";
	if (c == MPI_ERR_COMM) return "comm";
	if (c == MPI_ERR_RANK) return "rank";
	if (c == MPI_ERR_REQUEST) return "request";
	if (c == MPI_ERR_ROOT) return "root";
	if (c == MPI_ERR_GROUP) return "group";
	if (c == MPI_ERR_OP) return "op";
	if (c == MPI_ERR_TOPOLOGY) return "topology";
	if (c == MPI_ERR_DIMS) return "dims";
	if (c == MPI_ERR_ARG) return "arg";
	if (c == MPI_ERR_TRUNCATE) return "truncate";
	if (c == MPI_ERR_OTHER) return "other";
	if (c == MPI_ERR_PENDING) return "pending";
	if (c == MPI_ERR_IN_STATUS) return "in status";
	if (c == MPI_ERR_KEYVAL) return "keyval";
	return "another";
}

static int next(void) { return (rank + 1) % size; }
static int before(void) { return (rank + size - 1) % size; }

static void print(const char *name) {
	if (rank > 0) {
		MPI_Send(said, length, MPI_CHAR, 0, 0, apart);
		return;
	}
	for (int i = 0; i < size; i++) {
		if (i > 0) {
			MPI_Status s;
			MPI_Recv(said, sizeof said, MPI_CHAR, i, 0, apart, &s);
			MPI_Get_count(&s, MPI_CHAR, &length);
		}
		if (length > 0) printf("%s %d:%.*s\n", name, i, length, said);
	}
	fflush(stdout);
}

#define RUN(name)           \
	if (chosen(#name)) {    \
		length = 0;         \
		MPI_Barrier(apart); \
		name();             \
		print(#name);       \
	}

static int count_of_names;
static char **names;

/* Learns what the program is, after MPI_Init. Arguments are the names of the tests to run; none: all. */
static void begin_suite(int argc, char **argv) {
	MPI_Comm_rank(W, &rank);
	MPI_Comm_size(W, &size);
	MPI_Comm_dup(W, &apart);
	count_of_names = argc - 1;
	names = argv + 1;
}

static int chosen(const char *name) {
	for (int i = 0; i < count_of_names; i++)
		if (strcmp(names[i], name) == 0) return 1;
	return count_of_names == 0;
}

#ifdef LARGE_COUNTS
#include LARGE_COUNTS
#endif

/* Open MPI has not the functions that MPI-3 removed, which have new names. */
#ifdef OPEN_MPI
#undef MPI_Address
#undef MPI_Type_hvector
#undef MPI_Type_hindexed
#undef MPI_Type_struct
#undef MPI_Type_extent
#undef MPI_Errhandler_create
#undef MPI_Errhandler_set
#undef MPI_Errhandler_get
#define MPI_Address(a, b) MPI_Get_address(a, b)
#define MPI_Type_hvector MPI_Type_create_hvector
#define MPI_Type_hindexed MPI_Type_create_hindexed
#define MPI_Type_struct MPI_Type_create_struct
static int old_bounds(MPI_Datatype t, MPI_Aint *lb, MPI_Aint *extent) { return MPI_Type_get_extent(t, lb, extent); }
#define MPI_Type_extent(t, e) old_bounds(t, (MPI_Aint[1]){0}, e)
static int old_ub(MPI_Datatype t, MPI_Aint *ub) {
	MPI_Aint lb;
	int e = MPI_Type_get_extent(t, &lb, ub);
	*ub += lb;
	return e;
}
#define MPI_Type_lb(t, b) old_bounds(t, b, (MPI_Aint[1]){0})
#define MPI_Type_ub(t, b) old_ub(t, b)
#define MPI_Errhandler_create MPI_Comm_create_errhandler
#define MPI_Errhandler_set MPI_Comm_set_errhandler
#define MPI_Errhandler_get MPI_Comm_get_errhandler
#endif
