/* Errors, handlers, versions, time, memory, info, and what the C library keeps. */
#include <getopt.h>
#include <time.h>
#include <unistd.h>
#include <sys/time.h>

static void versions(void) {
	int v, s, n, flag;
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	MPI_Get_version(&v, &s);
	say(" %d", v == MPI_VERSION && s == MPI_SUBVERSION);
	MPI_Get_library_version(text, &n);
	say(" %d", n > 0);
	MPI_Initialized(&flag);
	say(" %d", flag);
	MPI_Finalized(&flag);
	say(" %d", flag);
	MPI_Is_thread_main(&flag);
	say(" %d", flag);
	MPI_Query_thread(&v);
	say(" %d", v >= MPI_THREAD_SINGLE);
	MPI_Pcontrol(1);
}

static void processor(void) {
	char name[MPI_MAX_PROCESSOR_NAME];
	int n;
	MPI_Get_processor_name(name, &n);
	say(" %d", n == (int)strlen(name) && n > 0);
}

static void wall_clock(void) {
	double a = MPI_Wtime();
	MPI_Barrier(W);
	usleep(2000);
	double b = MPI_Wtime();
	say(" %d %d", b - a >= 0.002, MPI_Wtick() > 0 && MPI_Wtick() < 1);
}

static void clocks(void) {
	struct timespec t = {0, 3000000}, a, b;
	struct timeval u, v;
	time_t begin = time(NULL);
	clock_gettime(CLOCK_MONOTONIC, &a);
	gettimeofday(&u, NULL);
	nanosleep(&t, NULL);
	clock_gettime(CLOCK_MONOTONIC, &b);
	gettimeofday(&v, NULL);
	long d = (b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec, e = (v.tv_sec - u.tv_sec) * 1000000 + v.tv_usec - u.tv_usec;
	say(" %d %d %d", d >= 2999000, e >= 2999, begin > 900000000 && time(NULL) >= begin);
}

static void polling_the_clock(void) {
	double end = MPI_Wtime() + 0.001;
	while (MPI_Wtime() < end) {}
	say(" over");
}

static void memory(void) {
	double *p;
	MPI_Alloc_mem(1000 * sizeof *p, MPI_INFO_NULL, &p);
	for (int i = 0; i < 1000; i++) p[i] = i;
	MPI_Bcast(p, 1000, MPI_DOUBLE, 0, W);
	say(" %g", p[999]);
	MPI_Free_mem(p);
}

static void infos(void) {
	MPI_Info i, j;
	char v[MPI_MAX_INFO_VAL], k[MPI_MAX_INFO_KEY];
	int n, flag;
	MPI_Info_create(&i);
	MPI_Info_set(i, "one", "1");
	MPI_Info_set(i, "two", "22");
	MPI_Info_set(i, "one", "eins");
	MPI_Info_get_nkeys(i, &n);
	say(" %d", n);
	MPI_Info_get(i, "one", 10, v, &flag);
	say(" %d %s", flag, v);
	MPI_Info_get(i, "three", 10, v, &flag);
	say(" %d", flag);
	MPI_Info_get_nthkey(i, 1, k);
	say(" %s", k);
	MPI_Info_dup(i, &j);
	MPI_Info_delete(i, "one");
	MPI_Info_get_nkeys(i, &n);
	say(" %d", n);
	MPI_Info_get_nkeys(j, &n);
	say(" %d", n);
	MPI_Info_free(&i);
	MPI_Info_free(&j);
	say(" %d", i == MPI_INFO_NULL);
}

static void error_strings(void) {
	int codes[] = {MPI_SUCCESS, MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_TAG, MPI_ERR_COMM, MPI_ERR_RANK, MPI_ERR_REQUEST, MPI_ERR_ROOT, MPI_ERR_GROUP,
	               MPI_ERR_OP, MPI_ERR_TOPOLOGY, MPI_ERR_DIMS, MPI_ERR_ARG, MPI_ERR_UNKNOWN, MPI_ERR_TRUNCATE, MPI_ERR_OTHER, MPI_ERR_INTERN, MPI_ERR_PENDING, MPI_ERR_IN_STATUS};
	for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++) {
		char text[MPI_MAX_ERROR_STRING];
		int n, c;
		MPI_Error_string(codes[i], text, &n);
		MPI_Error_class(codes[i], &c);
		say(" %d", n > 0 && n == (int)strlen(text) && c == codes[i]);
	}
}

/* Each of these calls is wrong. */
#define WRONG(call) say(" %s", class_of(call))

static void wrong_sends(void) {
	int x = 1;
	MPI_Errhandler_set(W, MPI_ERRORS_RETURN);
	WRONG(MPI_Send(&x, 1, MPI_INT, size, 0, W));
	WRONG(MPI_Send(&x, 1, MPI_INT, -17, 0, W));
	WRONG(MPI_Send(&x, 1, MPI_INT, 0, -5, W));
	WRONG(MPI_Send(&x, -1, MPI_INT, 0, 0, W));
	WRONG(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, W));
	WRONG(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
	WRONG(MPI_Send(NULL, 1, MPI_INT, 0, 0, W));
	WRONG(MPI_Send(&x, 1, MPI_INT, 0, MPI_ANY_TAG, W));
	WRONG(MPI_Send(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, W));
	MPI_Errhandler_set(W, MPI_ERRORS_ARE_FATAL);
}

static void wrong_receives(void) {
	int x = 1;
	MPI_Request q;
	MPI_Status s;
	MPI_Errhandler_set(W, MPI_ERRORS_RETURN);
	WRONG(MPI_Recv(&x, 1, MPI_INT, size, 0, W, &s));
	WRONG(MPI_Recv(&x, 1, MPI_INT, 0, -5, W, &s));
	WRONG(MPI_Recv(&x, -1, MPI_INT, 0, 0, W, &s));
	WRONG(MPI_Irecv(&x, 1, MPI_DATATYPE_NULL, 0, 0, W, &q));
	WRONG(MPI_Probe(size, 0, W, &s));
	WRONG(MPI_Irecv(NULL, 1, MPI_INT, 0, 0, W, &q));
	MPI_Errhandler_set(W, MPI_ERRORS_ARE_FATAL);
}

static void truncated(void) {
	int x[4] = {1, 2, 3, 4}, y[2];
	MPI_Request q;
	MPI_Errhandler_set(W, MPI_ERRORS_RETURN);
	MPI_Isend(x, 4, MPI_INT, rank, 6, W, &q);
	WRONG(MPI_Recv(y, 2, MPI_INT, rank, 6, W, MPI_STATUS_IGNORE));
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Errhandler_set(W, MPI_ERRORS_ARE_FATAL);
}

static void wrong_types(void) {
	MPI_Datatype t, u;
	int x = 0, n = -1;
	MPI_Errhandler_set(W, MPI_ERRORS_RETURN);
	WRONG(MPI_Type_contiguous(-1, MPI_INT, &t));
	WRONG(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t));
	WRONG(MPI_Type_vector(-1, 1, 1, MPI_INT, &t));
	WRONG(MPI_Type_size(MPI_DATATYPE_NULL, &n));
	u = MPI_INT;
	WRONG(MPI_Type_free(&u));
	MPI_Type_contiguous(2, MPI_INT, &t);
	WRONG(MPI_Send(&x, 1, t, MPI_PROC_NULL, 0, W) == MPI_SUCCESS ? MPI_SUCCESS : MPI_SUCCESS);
	WRONG(MPI_Send(&x, 1, t, rank, 0, W));
	MPI_Type_free(&t);
	MPI_Errhandler_set(W, MPI_ERRORS_ARE_FATAL);
}

static void wrong_collectives(void) {
	int x = 1, y = 2;
	MPI_Op op = MPI_SUM;
	MPI_Errhandler_set(W, MPI_ERRORS_RETURN);
	WRONG(MPI_Bcast(&x, 1, MPI_INT, size, W));
	WRONG(MPI_Bcast(&x, 1, MPI_INT, -1, W));
	WRONG(MPI_Bcast(&x, -1, MPI_INT, 0, W));
	WRONG(MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, size, W));
	WRONG(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_OP_NULL, W));
	WRONG(MPI_Barrier(MPI_COMM_NULL));
	WRONG(MPI_Op_free(&op));
	WRONG(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE_INT, MPI_SUM, W));
	WRONG(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_BAND, W));
	MPI_Errhandler_set(W, MPI_ERRORS_ARE_FATAL);
}

static void wrong_groups(void) {
	MPI_Group all, g;
	int twice[2] = {0, 0}, outside[1] = {size};
	MPI_Comm_group(W, &all);
	MPI_Errhandler_set(W, MPI_ERRORS_RETURN);
	WRONG(MPI_Group_incl(all, 1, outside, &g));
	WRONG(MPI_Group_size(MPI_GROUP_NULL, twice));
	MPI_Errhandler_set(W, MPI_ERRORS_ARE_FATAL);
	MPI_Group_free(&all);
}

static void wrong_comms(void) {
	int n;
	MPI_Comm c = MPI_COMM_NULL, d = MPI_COMM_WORLD;
	MPI_Errhandler_set(W, MPI_ERRORS_RETURN);
	WRONG(MPI_Comm_size(c, &n));
	WRONG(MPI_Comm_dup(c, &c));
	WRONG(MPI_Comm_free(&d));
	MPI_Errhandler_set(W, MPI_ERRORS_ARE_FATAL);
}

static void wrong_topologies(void) {
	int d[2] = {size + 1, 2}, p[2] = {0, 0}, n, e[1] = {-1};
	MPI_Comm c;
	MPI_Errhandler_set(W, MPI_ERRORS_RETURN);
	WRONG(MPI_Cartdim_get(W, &n));
	WRONG(MPI_Graphdims_get(W, &n, &n));
	say(" %d", MPI_Cart_create(W, 2, d, p, 0, &c) != MPI_SUCCESS);
	WRONG(MPI_Dims_create(6, 1, e));
	MPI_Errhandler_set(W, MPI_ERRORS_ARE_FATAL);
}

static void wrong_requests(void) {
	MPI_Request q = MPI_REQUEST_NULL;
	MPI_Errhandler_set(W, MPI_ERRORS_RETURN);
	WRONG(MPI_Request_free(&q));
	WRONG(MPI_Start(&q));
	WRONG(MPI_Cancel(&q));
	MPI_Errhandler_set(W, MPI_ERRORS_ARE_FATAL);
}

static int handled, handled_class;
static MPI_Comm handled_on;

static void handler(MPI_Comm *c, int *code, ...) {
	handled++;
	MPI_Error_class(*code, &handled_class);
	handled_on = *c;
}

static void handlers(void) {
	MPI_Errhandler h, g;
	MPI_Comm d;
	int x = 1;
	MPI_Comm_dup(W, &d);
	MPI_Errhandler_create(handler, &h);
	MPI_Errhandler_set(d, h);
	MPI_Errhandler_get(d, &g);
	say(" %d", g == h);
	WRONG(MPI_Send(&x, 1, MPI_INT, size, 0, d));
	say(" %d %d %d", handled, handled_class == MPI_ERR_RANK, handled_on == d);
	MPI_Errhandler_get(W, &g);
	say(" %d", g == MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&h);
	say(" %d", h == MPI_ERRHANDLER_NULL);
	WRONG(MPI_Bcast(&x, 1, MPI_INT, size, d));
	say(" %d", handled);
	MPI_Comm_free(&d);
	handled = 0;
}

static void inherited_handler(void) {
	MPI_Comm d, e;
	int x = 1;
	MPI_Comm_dup(W, &d);
	MPI_Comm_set_errhandler(d, MPI_ERRORS_RETURN);
	MPI_Comm_dup(d, &e);
	WRONG(MPI_Send(&x, 1, MPI_INT, size, 0, e));
	MPI_Comm_free(&d);
	WRONG(MPI_Send(&x, 1, MPI_INT, size, 0, e));
	MPI_Comm_free(&e);
}

static void called_handler(void) {
	MPI_Errhandler h;
	MPI_Comm d;
	MPI_Comm_dup(W, &d);
	MPI_Comm_create_errhandler(handler, &h);
	MPI_Comm_set_errhandler(d, h);
	MPI_Comm_call_errhandler(d, MPI_ERR_TAG);
	say(" %d %d", handled, handled_class == MPI_ERR_TAG);
	int class, code;
	MPI_Add_error_class(&class);
	MPI_Add_error_code(class, &code);
	say(" %s", class_of(MPI_Comm_call_errhandler(d, code)));
	say(" %d %d", handled, handled_class == class);
	handled = 0;
	MPI_Errhandler_free(&h);
	MPI_Comm_free(&d);
}

/* What every process has of its own. */

static int global = 5;

static void globals(void) {
	static int local = 1;
	global += rank;
	local += rank;
	MPI_Barrier(W);
	say(" %d %d", global, local);
	global = 5;
	local = 1;
}

static void random_numbers(void) {
	srand(rank + 1);
	int a = rand();
	MPI_Barrier(W);
	int b = rand();
	srand(rank + 1);
	say(" %d %d", a == rand(), b == rand());
	srandom(42);
	MPI_Barrier(W);
	say(" %ld", random() % 1000);
	srand48(7);
	MPI_Barrier(W);
	say(" %.6f", drand48());
}

static void tokens(void) {
	char text[] = "a b c d";
	for (char *t = strtok(text, " "); t; t = strtok(NULL, " ")) {
		say(" %s%d", t, rank);
		MPI_Barrier(W);
	}
}

static void options(void) {
	char *argv[] = {"program", "-a", "-n", "12", "--long=x", "file", NULL};
	struct option longs[] = {{"long", required_argument, NULL, 'l'}, {0}};
	int c;
	optind = 1;
	while ((c = getopt_long(6, argv, "an:", longs, NULL)) != -1) {
		say(" %c%s", c, optarg ? optarg : "");
	}
	say(" %s", argv[optind]);
}

static int compare_ints(const void *a, const void *b) { return *(int *)a - *(int *)b; }

static void sorted(void) {
	int x[20], *all = malloc(20 * size * sizeof *all), right = 1;
	srand(rank);
	for (int i = 0; i < 20; i++) x[i] = rand() % 1000;
	qsort(x, 20, sizeof *x, compare_ints);
	MPI_Gather(x, 20, MPI_INT, all, 20, MPI_INT, 0, W);
	if (rank == 0) {
		qsort(all, 20 * size, sizeof *all, compare_ints);
		for (int i = 1; i < 20 * size; i++) right &= all[i - 1] <= all[i];
		say(" %d %d %d", right, all[0], all[20 * size - 1]);
	}
	free(all);
}

static void info_of_comms(void) {
	MPI_Comm d;
	MPI_Info i;
	int n, flag;
	MPI_Comm_dup_with_info(W, MPI_INFO_NULL, &d);
	MPI_Comm_size(d, &n);
	say(" %d", n == size);
	MPI_Comm_free(&d);
	MPI_Info_create(&i);
	MPI_Info_set(i, "key", "value");
	MPI_Info_get_valuelen(i, "key", &n, &flag);
	say(" %d %d", n, flag);
	MPI_Info_free(&i);
}

/* Handles survive the way to Fortran and back. */
static void numbers_of_handles(void) {
	MPI_Comm d;
	MPI_Datatype t;
	MPI_Group g;
	MPI_Request q = MPI_REQUEST_NULL;
	MPI_Comm_dup(W, &d);
	MPI_Comm_group(d, &g);
	MPI_Type_contiguous(2, MPI_INT, &t);
	say(" %d %d %d", MPI_Comm_f2c(MPI_Comm_c2f(d)) == d, MPI_Type_f2c(MPI_Type_c2f(t)) == t, MPI_Group_f2c(MPI_Group_c2f(g)) == g);
	say(" %d %d", MPI_Request_f2c(MPI_Request_c2f(q)) == q, MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
	say(" %d", MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL);
	MPI_Type_free(&t);
	MPI_Group_free(&g);
	MPI_Comm_free(&d);
}
