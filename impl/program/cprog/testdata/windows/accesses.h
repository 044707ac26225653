/* Puts and gets, of all sizes and layouts. */

static void put_ring(void) {
	int x[3] = {-1, -1, -1};
	MPI_Win w;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	MPI_Put(&rank, 1, MPI_INT, next(), 0, 1, MPI_INT, w);
	MPI_Put(&size, 1, MPI_INT, before(), 2, 1, MPI_INT, w);
	MPI_Win_fence(0, w);
	say(" %d %d %d", x[0], x[1], x[2]);
	MPI_Win_free(&w);
}

static void get_ring(void) {
	double *x, y[2] = {-1, -1};
	MPI_Win w;
	MPI_Win_allocate(2 * sizeof *x, sizeof *x, MPI_INFO_NULL, W, &x, &w);
	x[0] = rank + .5;
	x[1] = -rank;
	MPI_Win_fence(0, w);
	MPI_Get(y, 2, MPI_DOUBLE, next(), 0, 2, MPI_DOUBLE, w);
	MPI_Win_fence(0, w);
	say(" %g %g", y[0], y[1]);
	MPI_Win_free(&w);
}

static void put_of_all_to_all(void) {
	short *x, y[16];
	MPI_Win w;
	MPI_Win_allocate(size * 2 * sizeof *x, sizeof *x, MPI_INFO_NULL, W, &x, &w);
	MPI_Win_fence(0, w);
	for (int i = 0; i < size; i++) {
		y[2 * i] = 10 * rank + i;
		y[2 * i + 1] = -y[2 * i];
		MPI_Put(&y[2 * i], 2, MPI_SHORT, i, 2 * rank, 2, MPI_SHORT, w);
	}
	MPI_Win_fence(0, w);
	for (int i = 0; i < 2 * size; i++) say(" %d", x[i]);
	MPI_Win_free(&w);
}

static void large_puts_and_gets(void) {
	static int x[20000], y[20000];
	MPI_Win w;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	for (int n = 1; n <= 20000; n = n * 7 + 1) {
		for (int i = 0; i < n; i++) y[i] = rank * 1000000 + i;
		MPI_Win_fence(0, w);
		MPI_Put(y, n, MPI_INT, next(), 0, n, MPI_INT, w);
		MPI_Win_fence(0, w);
		int wrong = 0;
		for (int i = 0; i < n; i++) wrong += x[i] != before() * 1000000 + i;
		MPI_Win_fence(0, w);
		MPI_Get(y, n, MPI_INT, before(), 0, n, MPI_INT, w);
		MPI_Win_fence(0, w);
		for (int i = 0; i < n; i++) wrong += y[i] != (before() + size - 1) % size * 1000000 + i;
		say(" %d:%d", n, wrong);
	}
	MPI_Win_free(&w);
}

static void units(void) {
	char x[16] = {0};
	MPI_Win w;
	MPI_Win_create(x, sizeof x, 1 + rank, MPI_INFO_NULL, W, &w);
	char c = 'a' + rank;
	MPI_Win_fence(0, w);
	MPI_Put(&c, 1, MPI_CHAR, next(), 2, 1, MPI_CHAR, w); /* in units of the target */
	MPI_Win_fence(0, w);
	for (int i = 0; i < 16; i++)
		if (x[i]) say(" %d=%c", i, x[i]);
	MPI_Win_free(&w);
}

static void transposed(void) {
	enum { n = 20 };
	int x[n][n], y[n][n];
	MPI_Datatype column, matrix;
	MPI_Win w;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) y[i][k] = rank * 1000 + i * n + k, x[i][k] = -1;
	MPI_Type_vector(n, 1, n, MPI_INT, &column);
	MPI_Type_create_hvector(n, 1, sizeof(int), column, &matrix);
	MPI_Type_commit(&matrix);
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	MPI_Put(y, n * n, MPI_INT, next(), 0, 1, matrix, w);
	MPI_Type_free(&matrix); /* it lives until the access is complete */
	MPI_Win_fence(0, w);
	int wrong = 0;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) wrong += x[k][i] != before() * 1000 + i * n + k;
	say(" %d %d", x[3][1], wrong);
	MPI_Type_free(&column);
	MPI_Win_free(&w);
}

static void transposed_by_struct(void) {
	enum { n = 8 };
	double x[n][n], y[n][n];
	MPI_Datatype column, resized;
	MPI_Win w;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) x[i][k] = rank * 100 + i * n + k;
	MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
	MPI_Type_create_resized(column, 0, sizeof(double), &resized);
	MPI_Type_commit(&resized);
	MPI_Win_create(x, sizeof x, sizeof(double), MPI_INFO_NULL, W, &w);
	MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
	MPI_Get(y, n * n, MPI_DOUBLE, next(), 0, n, resized, w);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
	int wrong = 0;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) wrong += y[k][i] != next() * 100 + i * n + k;
	say(" %g %d", y[2][5], wrong);
	MPI_Type_free(&resized);
	MPI_Type_free(&column);
	MPI_Win_free(&w);
}

static void strided(void) {
	enum { n = 700 };
	static int x[3 * n], y[2 * n];
	MPI_Datatype two, three;
	MPI_Win w;
	MPI_Type_vector(n, 1, 2, MPI_INT, &two);
	MPI_Type_vector(n, 1, 3, MPI_INT, &three);
	MPI_Type_commit(&two);
	MPI_Type_commit(&three);
	for (int i = 0; i < 3 * n; i++) x[i] = 0;
	for (int i = 0; i < 2 * n; i++) y[i] = rank + i;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	MPI_Put(y, 1, two, next(), 1, 1, three, w);
	MPI_Win_fence(0, w);
	long sum = 0, gaps = 0;
	for (int i = 0; i < 3 * n; i++) *(i % 3 == 1 ? &sum : &gaps) += x[i];
	say(" %ld %ld", sum, gaps);
	for (int i = 0; i < 2 * n; i++) y[i] = 0;
	MPI_Win_fence(0, w);
	MPI_Get(y + 1, 1, two, before(), 1, 1, three, w);
	MPI_Win_fence(0, w);
	sum = gaps = 0;
	for (int i = 0; i < 2 * n; i++) *(i % 2 == 1 ? &sum : &gaps) += y[i];
	say(" %ld %ld", sum, gaps);
	MPI_Win_free(&w);
	MPI_Type_free(&two);
	MPI_Type_free(&three);
}

static void indexed_and_resized(void) {
	int lengths[] = {2, 1, 3}, at[] = {5, 0, 8}, x[24], y[12];
	MPI_Datatype parts, apart_by_12;
	MPI_Win w;
	MPI_Type_indexed(3, lengths, at, MPI_INT, &parts);
	MPI_Type_create_resized(parts, 0, 12 * sizeof(int), &apart_by_12);
	MPI_Type_commit(&apart_by_12);
	for (int i = 0; i < 24; i++) x[i] = -1;
	for (int i = 0; i < 12; i++) y[i] = 100 * rank + i;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	MPI_Put(y, 12, MPI_INT, next(), 0, 2, apart_by_12, w);
	MPI_Win_fence(0, w);
	for (int i = 0; i < 24; i++) say(" %d", x[i]);
	MPI_Type_free(&parts);
	MPI_Type_free(&apart_by_12);
	MPI_Win_free(&w);
}

static void to_oneself(void) {
	int x[4] = {1, 2, 3, 4}, y[2];
	MPI_Win w;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	MPI_Get(y, 2, MPI_INT, rank, 2, 2, MPI_INT, w);
	MPI_Put(&rank, 1, MPI_INT, rank, 0, 1, MPI_INT, w);
	MPI_Accumulate(&size, 1, MPI_INT, rank, 1, 1, MPI_INT, MPI_SUM, w);
	MPI_Win_fence(0, w);
	say(" %d %d %d %d, %d %d", x[0], x[1], x[2], x[3], y[0], y[1]);
	MPI_Win_free(&w);
}

static void to_null(void) {
	int x = 5, y = 6, z = 7;
	MPI_Request q[2];
	MPI_Win w;
	MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	MPI_Put(&y, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w);
	MPI_Get(&y, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w);
	MPI_Accumulate(&y, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
	MPI_Win_lock_all(0, w);
	MPI_Rput(&y, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w, &q[0]);
	MPI_Rget(&y, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w, &q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	MPI_Win_unlock_all(w);
	say(" %d %d %d", x, y, z);
	MPI_Win_free(&w);
}

static void empty_accesses(void) {
	int x = 5, y = 6;
	MPI_Win w;
	MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	MPI_Put(NULL, 0, MPI_INT, next(), 0, 0, MPI_INT, w);
	MPI_Get(NULL, 0, MPI_INT, next(), 0, 0, MPI_INT, w);
	MPI_Accumulate(&y, 0, MPI_INT, next(), 0, 0, MPI_INT, MPI_SUM, w);
	MPI_Win_fence(0, w);
	say(" %d %d", x, y);
	MPI_Win_free(&w);
}

static void two_windows_of_one_memory(void) {
	int x[8] = {0}, v[] = {rank, -rank};
	MPI_Win a, b;
	MPI_Win_create(x, 6 * sizeof(int), sizeof(int), MPI_INFO_NULL, W, &a);
	MPI_Win_create(x + 2, 6 * sizeof(int), sizeof(int), MPI_INFO_NULL, W, &b);
	MPI_Win_fence(0, a);
	MPI_Put(&v[0], 1, MPI_INT, next(), 2, 1, MPI_INT, a);
	MPI_Win_fence(0, a);
	MPI_Win_fence(0, b);
	MPI_Put(&v[1], 1, MPI_INT, next(), 1, 1, MPI_INT, b);
	MPI_Win_fence(0, b);
	for (int i = 0; i < 8; i++) say(" %d", x[i]);
	MPI_Win_free(&a);
	MPI_Win_free(&b);
}

static void dynamic_memory(void) {
	int x[10] = {0}, *y = calloc(1000, sizeof *y);
	MPI_Aint mine[2], all[2 * 16];
	MPI_Win w;
	MPI_Win_create_dynamic(MPI_INFO_NULL, W, &w);
	MPI_Win_attach(w, x, sizeof x);
	MPI_Win_attach(w, y, 1000 * sizeof *y);
	MPI_Get_address(&x[3], &mine[0]);
	MPI_Get_address(y, &mine[1]);
	MPI_Allgather(mine, 2, MPI_AINT, all, 2, MPI_AINT, W);
	MPI_Win_fence(0, w);
	MPI_Put(&rank, 1, MPI_INT, next(), all[2 * next()], 1, MPI_INT, w);
	for (int i = 0; i < size; i++) MPI_Accumulate(&size, 1, MPI_INT, i, MPI_Aint_add(all[2 * i + 1], 999 * sizeof(int)), 1, MPI_INT, MPI_SUM, w);
	MPI_Win_fence(0, w);
	say(" %d %d %d %d", x[2], x[3], y[0], y[999]);
	MPI_Barrier(W);
	MPI_Win_detach(w, x);
	MPI_Win_detach(w, y);
	MPI_Win_attach(w, y + 500, sizeof(int)); /* a part again */
	MPI_Win_detach(w, y + 500);
	MPI_Win_attach(w, y + 500, 0);
	MPI_Win_detach(w, y + 500);
	MPI_Win_free(&w);
	free(y);
}

/* An access may reach from one attached region into the next if no byte lies between them. */
static void adjacent_regions(void) {
	int *x = calloc(3000, sizeof *x), *y = malloc(2000 * sizeof *y), wrong = 0;
	MPI_Aint mine, *all = malloc(size * sizeof *all);
	MPI_Win w;
	MPI_Win_create_dynamic(MPI_INFO_NULL, W, &w);
	MPI_Win_attach(w, x + 1000, 1000 * sizeof *x);
	MPI_Win_attach(w, x, 1000 * sizeof *x);
	MPI_Win_attach(w, x + 2000, 1000 * sizeof *x);
	MPI_Get_address(x + 500, &mine);
	MPI_Allgather(&mine, 1, MPI_AINT, all, 1, MPI_AINT, W);
	for (int i = 0; i < 2000; i++) y[i] = rank + i;
	MPI_Win_fence(0, w);
	MPI_Put(y, 2000, MPI_INT, next(), all[next()], 2000, MPI_INT, w);
	MPI_Win_fence(0, w);
	MPI_Accumulate(y, 2000, MPI_INT, next(), all[next()], 2000, MPI_INT, MPI_SUM, w);
	MPI_Win_fence(0, w);
	for (int i = 0; i < 3000; i++) wrong += x[i] != (i >= 500 && i < 2500 ? 2 * ((rank + size - 1) % size + i - 500) : 0);
	MPI_Get(y, 1500, MPI_INT, next(), all[next()], 1500, MPI_INT, w);
	MPI_Win_fence(0, w);
	for (int i = 0; i < 1500; i++) wrong += y[i] != 2 * (rank + i);
	say(" %d", wrong);
	for (int i = 0; i < 3; i++) MPI_Win_detach(w, x + 1000 * i);
	MPI_Win_free(&w);
	free(all);
	free(y);
	free(x);
}
