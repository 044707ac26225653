/* Accumulates and other atomic accesses. */

static void all_operations(void) {
	MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
	enum { n = sizeof ops / sizeof *ops };
	int x[n], v = rank + 2;
	MPI_Win w;
	for (int i = 0; i < n; i++) x[i] = 3;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	for (int i = 0; i < n; i++) MPI_Accumulate(&v, 1, MPI_INT, 0, i, 1, MPI_INT, ops[i], w);
	MPI_Win_fence(0, w);
	for (int i = 0; i < n; i++) say(" %d", x[i]);
	MPI_Win_free(&w);
}

#define SUM_OF(type, datatype, format)                                     \
	do {                                                               \
		type x[2] = {1, 2}, v[2] = {(type)(rank + 1), (type)2};     \
		MPI_Win w;                                                 \
		MPI_Win_create(x, sizeof x, sizeof(type), MPI_INFO_NULL, W, &w); \
		MPI_Win_fence(0, w);                                       \
		MPI_Accumulate(v, 2, datatype, 0, 0, 2, datatype, MPI_SUM, w); \
		MPI_Win_fence(0, w);                                       \
		say(" " format " " format, x[0], x[1]);                    \
		MPI_Win_free(&w);                                          \
	} while (0)

static void all_types(void) {
	SUM_OF(signed char, MPI_SIGNED_CHAR, "%d");
	SUM_OF(unsigned char, MPI_UNSIGNED_CHAR, "%d");
	SUM_OF(short, MPI_SHORT, "%d");
	SUM_OF(unsigned, MPI_UNSIGNED, "%u");
	SUM_OF(long, MPI_LONG, "%ld");
	SUM_OF(long long, MPI_LONG_LONG, "%lld");
	SUM_OF(float, MPI_FLOAT, "%g");
	SUM_OF(double, MPI_DOUBLE, "%g");
	SUM_OF(long double, MPI_LONG_DOUBLE, "%Lg");
}

static void pairs(void) { /* of MPI_2INT: Open MPI's component pt2pt does not combine those of a double */
	struct {
		int value, index;
	} x[2] = {{-1, -1}, {100, 100}}, v = {rank % 2, rank};
	MPI_Win w;
	MPI_Win_create(x, sizeof x, sizeof *x, MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	MPI_Accumulate(&v, 1, MPI_2INT, 0, 0, 1, MPI_2INT, MPI_MAXLOC, w);
	MPI_Accumulate(&v, 1, MPI_2INT, 0, 1, 1, MPI_2INT, MPI_MINLOC, w);
	MPI_Win_fence(0, w);
	MPI_Win_free(&w);
	say(" %d %d, %d %d", x[0].value, x[0].index, x[1].value, x[1].index);
}

static void replaced(void) {
	int x[2] = {5, 6}, v = rank + 100;
	MPI_Win w;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	MPI_Accumulate(&v, 1, MPI_INT, next(), 1, 1, MPI_INT, MPI_REPLACE, w);
	MPI_Win_fence(0, w);
	say(" %d %d", x[0], x[1]);
	MPI_Win_free(&w);
}

static void accumulated_with_gaps(void) {
	enum { n = 400 };
	static int x[2 * n], y[3 * n];
	MPI_Datatype two, three;
	MPI_Win w;
	MPI_Type_vector(n, 1, 2, MPI_INT, &two);
	MPI_Type_vector(n, 1, 3, MPI_INT, &three);
	MPI_Type_commit(&two);
	MPI_Type_commit(&three);
	for (int i = 0; i < 2 * n; i++) x[i] = 1;
	for (int i = 0; i < 3 * n; i++) y[i] = i;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	for (int i = 0; i < size; i++) MPI_Accumulate(y, 1, three, i, 1, 1, two, MPI_SUM, w);
	MPI_Win_fence(0, w);
	long sum = 0, gaps = 0;
	for (int i = 0; i < 2 * n; i++) *(i % 2 ? &sum : &gaps) += x[i];
	say(" %ld %ld %d", sum, gaps, x[2 * n - 1]);
	MPI_Type_free(&two);
	MPI_Type_free(&three);
	MPI_Win_free(&w);
}

static void fetched(void) {
	long *x, one = 1, got, last = -1, rises = 1, now;
	MPI_Win w;
	MPI_Win_allocate(2 * sizeof *x, sizeof *x, MPI_INFO_NULL, W, &x, &w);
	x[0] = x[1] = 0;
	MPI_Barrier(W);
	MPI_Win_lock_all(0, w);
	for (int i = 0; i < 10; i++) {
		MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 1, MPI_SUM, w);
		MPI_Win_flush(0, w);
		rises = rises && got > last;
		last = got;
	}
	MPI_Barrier(W);
	MPI_Fetch_and_op(NULL, &now, MPI_LONG, 0, 1, MPI_NO_OP, w);
	MPI_Win_unlock_all(w);
	say(" %ld %ld", rises, now);
	MPI_Win_free(&w);
}

static void compared(void) {
	int *x, mine = rank + 1, free_value = 0, got;
	MPI_Win w;
	MPI_Win_allocate(sizeof *x, sizeof *x, MPI_INFO_NULL, W, &x, &w);
	*x = 0;
	MPI_Barrier(W);
	MPI_Win_lock_all(0, w);
	int tries = 0, winners;
	MPI_Compare_and_swap(&mine, &free_value, &got, MPI_INT, 0, 0, w);
	MPI_Win_flush(0, w);
	int won = got == 0;
	MPI_Win_unlock_all(w);
	MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_SUM, W);
	say(" %d", winners);
	MPI_Win_free(&w);
}

static void get_accumulated(void) {
	enum { n = 1500 };
	static double x[n], v[n], old[n];
	MPI_Win w;
	for (int i = 0; i < n; i++) x[i] = rank, v[i] = i, old[i] = -1;
	MPI_Win_create(x, sizeof x, sizeof(double), MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	MPI_Get_accumulate(v, n, MPI_DOUBLE, old, n, MPI_DOUBLE, next(), 0, n, MPI_DOUBLE, MPI_SUM, w);
	MPI_Win_fence(0, w);
	say(" %g %g, %g %g", old[0], old[n - 1], x[0], x[n - 1]);
	MPI_Win_fence(0, w);
	MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, old, n, MPI_DOUBLE, next(), 0, n, MPI_DOUBLE, MPI_NO_OP, w);
	MPI_Win_fence(0, w);
	say(", %g", old[n - 1]);
	MPI_Win_free(&w);
}

/* Accumulates of one rank to one place are carried out in order. */
static void ordered_accumulates(void) {
	enum { n = 2000 };
	static int x[n], v[4][n];
	MPI_Win w;
	for (int i = 0; i < n; i++) x[i] = 0;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Win_lock(MPI_LOCK_SHARED, next(), 0, w);
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < n; k++) v[i][k] = 10 * rank + i;
		int many = i % 2 ? 1 : n; /* long ones and short ones */
		MPI_Accumulate(v[i], many, MPI_INT, next(), 0, many, MPI_INT, MPI_REPLACE, w);
	}
	MPI_Win_unlock(next(), w);
	MPI_Barrier(W);
	say(" %d %d %d", x[0], x[1], x[n - 1]);
	MPI_Win_free(&w);
}
