/* Collective operations and reductions. */

static void bcasts(void) {
	for (int root = 0; root < size; root++) {
		int x[3] = {rank, rank * 2, rank * 3};
		MPI_Bcast(x, 3, MPI_INT, root, W);
		say(" %d,%d,%d", x[0], x[1], x[2]);
	}
}

static void bcast_of_types(void) {
	MPI_Datatype t;
	int x[8];
	for (int i = 0; i < 8; i++) x[i] = rank == 0 ? i : -1;
	MPI_Type_vector(4, 1, 2, MPI_INT, &t);
	MPI_Type_commit(&t);
	if (rank == 0) {
		int y[4] = {0, 2, 4, 6};
		MPI_Bcast(y, 4, MPI_INT, 0, W);
	} else
		MPI_Bcast(x, 1, t, 0, W);
	for (int i = 0; i < 8; i++) say(" %d", x[i]);
	MPI_Type_free(&t);
}

static void gathers(void) {
	int root = size / 2, x[2] = {rank, -rank}, *y = calloc(2 * size, sizeof *y);
	MPI_Gather(x, 2, MPI_INT, y, 2, MPI_INT, root, W);
	for (int i = 0; i < 2 * size; i++) say(" %d", y[i]);
	free(y);
}

static void gather_in_place(void) {
	int *y = calloc(size, sizeof *y), x = rank + 1;
	if (rank == 0) {
		y[0] = 77;
		MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, y, 1, MPI_INT, 0, W);
	} else
		MPI_Gather(&x, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, W);
	for (int i = 0; i < size; i++) say(" %d", y[i]);
	free(y);
}

static void gathervs(void) {
	int *counts = malloc(size * sizeof *counts), *at = malloc(size * sizeof *at), total = 0, x[16];
	for (int i = 0; i < size; i++) { counts[i] = i % 3; at[i] = total; total += counts[i] + 1; }
	int *y = malloc((total + 1) * sizeof *y);
	for (int i = 0; i <= total; i++) y[i] = -1;
	for (int i = 0; i < 16; i++) x[i] = 10 * rank + i;
	MPI_Gatherv(x, rank % 3, MPI_INT, y, counts, at, MPI_INT, 0, W);
	for (int i = 0; i < total; i++) say(" %d", y[i]);
	free(counts);
	free(at);
	free(y);
}

static void scatters(void) {
	int *x = malloc(2 * size * sizeof *x), y[2] = {-1, -1};
	for (int i = 0; i < 2 * size; i++) x[i] = i * i;
	MPI_Scatter(x, 2, MPI_INT, y, 2, MPI_INT, size - 1, W);
	say(" %d %d", y[0], y[1]);
	if (rank == 0)
		MPI_Scatter(x, 2, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, W);
	else
		MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, y, 2, MPI_INT, 0, W);
	say(" %d %d", y[0], y[1]);
	free(x);
}

static void scattervs(void) {
	int *counts = malloc(size * sizeof *counts), *at = malloc(size * sizeof *at), y[8], *x = malloc(8 * size * sizeof *x);
	for (int i = 0; i < size; i++) { counts[i] = 1 + i % 4; at[i] = 8 * (size - 1 - i); }
	for (int i = 0; i < 8 * size; i++) x[i] = i;
	for (int i = 0; i < 8; i++) y[i] = -1;
	MPI_Scatterv(x, counts, at, MPI_INT, y, counts[rank], MPI_INT, 0, W);
	for (int i = 0; i < 5; i++) say(" %d", y[i]);
	free(counts);
	free(at);
	free(x);
}

static void allgathers(void) {
	int x[2] = {rank, rank * rank}, *y = malloc(2 * size * sizeof *y);
	MPI_Allgather(x, 2, MPI_INT, y, 2, MPI_INT, W);
	for (int i = 0; i < 2 * size; i++) say(" %d", y[i]);
	for (int i = 0; i < size; i++) y[i] = i == rank ? 5 + i : -1;
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y, 1, MPI_INT, W);
	for (int i = 0; i < size; i++) say(" %d", y[i]);
	free(y);
}

static void allgathervs(void) {
	int *counts = malloc(size * sizeof *counts), *at = malloc(size * sizeof *at), x[4] = {rank, 1, 2, 3};
	for (int i = 0; i < size; i++) { counts[i] = 1 + i % 2; at[i] = 2 * i; }
	int *y = calloc(2 * size, sizeof *y);
	MPI_Allgatherv(x, counts[rank], MPI_INT, y, counts, at, MPI_INT, W);
	for (int i = 0; i < 2 * size; i++) say(" %d", y[i]);
	y[2 * rank] = 50 + rank;
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y, counts, at, MPI_INT, W);
	for (int i = 0; i < 2 * size; i++) say(" %d", y[i]);
	free(counts);
	free(at);
	free(y);
}

static void alltoalls(void) {
	int *x = malloc(2 * size * sizeof *x), *y = malloc(2 * size * sizeof *y);
	for (int i = 0; i < 2 * size; i++) x[i] = 100 * rank + i;
	MPI_Alltoall(x, 2, MPI_INT, y, 2, MPI_INT, W);
	for (int i = 0; i < 2 * size; i++) say(" %d", y[i]);
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, x, 2, MPI_INT, W);
	for (int i = 0; i < 2 * size; i++) if (x[i] != y[i]) say(" wrong");
	free(x);
	free(y);
}

static void alltoallvs(void) {
	int *sc = malloc(size * 4), *sd = malloc(size * 4), *rc = malloc(size * 4), *rd = malloc(size * 4);
	int *x = malloc(4 * size * 4), *y = malloc(4 * size * 4);
	for (int i = 0; i < size; i++) {
		sc[i] = (rank + i) % 3;
		rc[i] = (i + rank) % 3;
		sd[i] = 4 * i;
		rd[i] = 4 * (size - 1 - i);
	}
	for (int i = 0; i < 4 * size; i++) { x[i] = 100 * rank + i; y[i] = -1; }
	MPI_Alltoallv(x, sc, sd, MPI_INT, y, rc, rd, MPI_INT, W);
	for (int i = 0; i < 4 * size; i++) say(" %d", y[i]);
	MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, x, sc, sd, MPI_INT, W);
	for (int i = 0; i < 4 * size; i++) say(" %d", x[i]);
	free(sc); free(sd); free(rc); free(rd); free(x); free(y);
}

static void alltoallws(void) {
	int *sc = malloc(size * 4), *sd = malloc(size * 4), *rc = malloc(size * 4), *rd = malloc(size * 4);
	MPI_Datatype *st = malloc(size * sizeof *st), *rt = malloc(size * sizeof *rt);
	double *x = malloc(2 * size * sizeof *x), *y = calloc(2 * size, sizeof *y);
	for (int i = 0; i < size; i++) {
		int ints = (rank + i) % 2;
		sc[i] = rc[i] = ints ? 3 : 2;
		st[i] = rt[i] = ints ? MPI_INT : MPI_DOUBLE;
		sd[i] = rd[i] = 16 * i;
		if (ints) for (int k = 0; k < 3; k++) ((int *)(x + 2 * i))[k] = 10 * rank + k;
		else x[2 * i] = x[2 * i + 1] = rank + 0.5;
	}
	MPI_Alltoallw(x, sc, sd, st, y, rc, rd, rt, W);
	for (int i = 0; i < size; i++)
		if ((rank + i) % 2) say(" %d,%d,%d", ((int *)(y + 2 * i))[0], ((int *)(y + 2 * i))[1], ((int *)(y + 2 * i))[2]);
		else say(" %g,%g", y[2 * i], y[2 * i + 1]);
	free(sc); free(sd); free(rc); free(rd); free(st); free(rt); free(x); free(y);
}

static void barriers(void) {
	for (int i = 0; i < 3; i++) MPI_Barrier(W);
	say(" passed");
}

static void reduces(void) {
	int x[2] = {rank + 1, -rank}, y[2] = {-1, -1};
	MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
	for (int i = 0; i < 10; i++) {
		MPI_Reduce(x, y, 2, MPI_INT, ops[i], i % size, W);
		if (rank == i % size) say(" %d,%d", y[0], y[1]);
	}
}

static void reduce_in_place(void) {
	int x = rank + 1;
	if (rank == 0) MPI_Reduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, 0, W);
	else MPI_Reduce(&x, NULL, 1, MPI_INT, MPI_SUM, 0, W);
	say(" %d", x);
	x = rank + 1;
	MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_PROD, W);
	say(" %d", x);
	x = rank + 1;
	MPI_Scan(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, W);
	say(" %d", x);
}

static void allreduce_types(void) {
	char c = rank + 1;
	short s = rank + 1;
	long l = rank + 1;
	unsigned char uc = 200 + rank;
	unsigned u = rank;
	unsigned long ul = rank;
	float f = rank + 0.5f;
	double d = rank + 0.25;
	long double ld = rank + 0.125L, lr;
	long long ll = rank;
	int8_t i8 = rank;
	uint16_t u16 = rank + 1;
	MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_SHORT, MPI_SUM, W);
	MPI_Allreduce(MPI_IN_PLACE, &l, 1, MPI_LONG, MPI_PROD, W);
	MPI_Allreduce(MPI_IN_PLACE, &uc, 1, MPI_UNSIGNED_CHAR, MPI_MAX, W);
	MPI_Allreduce(MPI_IN_PLACE, &u, 1, MPI_UNSIGNED, MPI_MAX, W);
	MPI_Allreduce(MPI_IN_PLACE, &ul, 1, MPI_UNSIGNED_LONG, MPI_BOR, W);
	MPI_Allreduce(MPI_IN_PLACE, &f, 1, MPI_FLOAT, MPI_SUM, W);
	MPI_Allreduce(MPI_IN_PLACE, &d, 1, MPI_DOUBLE, MPI_MIN, W);
	MPI_Allreduce(&ld, &lr, 1, MPI_LONG_DOUBLE, MPI_SUM, W);
	MPI_Allreduce(MPI_IN_PLACE, &ll, 1, MPI_LONG_LONG_INT, MPI_SUM, W);
	MPI_Allreduce(MPI_IN_PLACE, &i8, 1, MPI_INT8_T, MPI_MAX, W);
	MPI_Allreduce(MPI_IN_PLACE, &u16, 1, MPI_UINT16_T, MPI_PROD, W);
	say(" %d %ld %d %u %lu %g %g %Lg %lld %d %d", s, l, uc, u, ul, f, d, lr, ll, i8, u16);
	(void)c;
}

static void long_double(void) {
	long double x[3] = {rank + 1, 1.5L, -rank}, y[3];
	MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};
	for (int i = 0; i < 4; i++) {
		MPI_Allreduce(x, y, 3, MPI_LONG_DOUBLE, ops[i], W);
		say(" %Lg,%Lg,%Lg", y[0], y[1], y[2]);
	}
	struct { long double v; int i; } a = {(rank * 3) % 5, rank}, b;
	MPI_Allreduce(&a, &b, 1, MPI_LONG_DOUBLE_INT, MPI_MAXLOC, W);
	say(" %Lg@%d", b.v, b.i);
	MPI_Allreduce(&a, &b, 1, MPI_LONG_DOUBLE_INT, MPI_MINLOC, W);
	say(" %Lg@%d", b.v, b.i);
}

static void complex_numbers(void) {
	double x[2] = {rank + 1, 1}, y[2];
	MPI_Allreduce(x, y, 1, MPI_C_DOUBLE_COMPLEX, MPI_PROD, W);
	say(" %g%+gi", y[0], y[1]);
	float f[2] = {rank, -1}, g[2];
	MPI_Allreduce(f, g, 1, MPI_C_FLOAT_COMPLEX, MPI_SUM, W);
	say(" %g%+gi", g[0], g[1]);
}

static void locations(void) {
	struct { double v; int i; } a = {(rank * 7) % 5, rank}, b;
	struct { int v, i; } c = {rank % 2, rank}, d;
	struct { float v; int i; } e = {-rank, rank}, f;
	struct { long v; int i; } g = {(rank + 3) % 4, rank}, h;
	struct { short v; int i; } k = {5, rank}, l;
	MPI_Allreduce(&a, &b, 1, MPI_DOUBLE_INT, MPI_MAXLOC, W);
	MPI_Allreduce(&c, &d, 1, MPI_2INT, MPI_MINLOC, W);
	MPI_Allreduce(&e, &f, 1, MPI_FLOAT_INT, MPI_MINLOC, W);
	MPI_Allreduce(&g, &h, 1, MPI_LONG_INT, MPI_MAXLOC, W);
	MPI_Allreduce(&k, &l, 1, MPI_SHORT_INT, MPI_MAXLOC, W);
	say(" %g@%d %d@%d %g@%d %ld@%d %d@%d", b.v, b.i, d.v, d.i, f.v, f.i, h.v, h.i, l.v, l.i);
}

static void bits(void) {
	unsigned char x = 1 << (rank % 8), y;
	MPI_Allreduce(&x, &y, 1, MPI_BYTE, MPI_BOR, W);
	say(" %d", y);
	MPI_Allreduce(&x, &y, 1, MPI_BYTE, MPI_BXOR, W);
	say(" %d", y);
}

static void scans(void) {
	int x[2] = {rank + 1, 2}, y[2] = {0};
	MPI_Scan(x, y, 2, MPI_INT, MPI_SUM, W);
	say(" %d,%d", y[0], y[1]);
	MPI_Scan(x, y, 2, MPI_INT, MPI_PROD, W);
	say(" %d,%d", y[0], y[1]);
	y[0] = y[1] = -5;
	MPI_Exscan(x, y, 2, MPI_INT, MPI_SUM, W);
	if (rank > 0) say(" %d,%d", y[0], y[1]);
	MPI_Exscan(MPI_IN_PLACE, x, 2, MPI_INT, MPI_MAX, W);
	if (rank > 0) say(" %d,%d", x[0], x[1]);
}

static void reduce_scatters(void) {
	int *counts = malloc(size * 4), total = 0, y[8] = {-1, -1, -1};
	for (int i = 0; i < size; i++) total += counts[i] = i % 3;
	int *x = malloc((total + 1) * 4);
	for (int i = 0; i < total; i++) x[i] = i + rank;
	MPI_Reduce_scatter(x, y, counts, MPI_INT, MPI_SUM, W);
	say(" %d %d", y[0], y[1]);
	int *z = malloc(2 * size * 4);
	for (int i = 0; i < 2 * size; i++) z[i] = i * (rank + 1);
	MPI_Reduce_scatter_block(z, y, 2, MPI_INT, MPI_SUM, W);
	say(" %d %d", y[0], y[1]);
	for (int i = 0; i < size; i++) counts[i] = 1;
	for (int i = 0; i < size; i++) z[i] = i + rank;
	MPI_Reduce_scatter(MPI_IN_PLACE, z, counts, MPI_INT, MPI_MAX, W);
	say(" %d", z[0]);
	free(counts); free(x); free(z);
}

static void reduce_local(void) {
	int x[3] = {1, 2, 3}, y[3] = {10, 20, 30};
	MPI_Reduce_local(x, y, 3, MPI_INT, MPI_SUM);
	say(" %d %d %d", y[0], y[1], y[2]);
}

/* Matrices of 2 by 2 do not commute. */
static void multiply(void *in, void *inout, int *n, MPI_Datatype *t) {
	int *a = in, *b = inout;
	for (int k = 0; k < *n; k++, a += 4, b += 4) {
		int c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
		memcpy(b, c, sizeof c);
	}
}

static void user_op(void) {
	MPI_Op op;
	MPI_Datatype t;
	int x[4] = {1, rank + 1, 0, 1}, y[4] = {0}, commutes;
	x[2] = rank % 2;
	MPI_Type_contiguous(4, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Op_create(multiply, 0, &op);
	MPI_Op_commutative(op, &commutes);
	say(" %d", commutes);
	MPI_Allreduce(x, y, 1, t, op, W);
	say(" %d,%d,%d,%d", y[0], y[1], y[2], y[3]);
	MPI_Scan(x, y, 1, t, op, W);
	say(" %d,%d,%d,%d", y[0], y[1], y[2], y[3]);
	MPI_Reduce(x, y, 1, t, op, size - 1, W);
	if (rank == size - 1) say(" %d,%d,%d,%d", y[0], y[1], y[2], y[3]);
	MPI_Op_free(&op);
	say(" %d", op == MPI_OP_NULL);
	MPI_Type_free(&t);
	MPI_Op_commutative(MPI_SUM, &commutes);
	say(" %d", commutes);
}

static int calls_of_sum;

/* An operation may ask about its datatype. */
static void sum_by_size(void *in, void *inout, int *n, MPI_Datatype *t) {
	int bytes;
	MPI_Type_size(*t, &bytes);
	calls_of_sum++;
	for (int i = 0; i < *n * bytes / (int)sizeof(double); i++) ((double *)inout)[i] += ((double *)in)[i];
}

static void user_op_asks(void) {
	MPI_Op op;
	MPI_Datatype t;
	double x[4] = {rank, 1, 2, 3}, y[4] = {0};
	MPI_Type_contiguous(2, MPI_DOUBLE, &t);
	MPI_Type_commit(&t);
	MPI_Op_create(sum_by_size, 1, &op);
	MPI_Allreduce(x, y, 2, t, op, W);
	say(" %g %g %g %g %d", y[0], y[1], y[2], y[3], size == 1 || calls_of_sum > 0 || rank > 0);
	MPI_Op_free(&op);
	MPI_Type_free(&t);
}

static void large(void) {
	int n = 50000, right = 1;
	double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
	for (int i = 0; i < n; i++) x[i] = i + rank;
	MPI_Allreduce(x, y, n, MPI_DOUBLE, MPI_SUM, W);
	for (int i = 0; i < n; i++) right &= y[i] == (double)i * size + size * (size - 1) / 2;
	MPI_Bcast(x, n, MPI_DOUBLE, size - 1, W);
	for (int i = 0; i < n; i++) right &= x[i] == i + size - 1;
	say(" %d", right);
	free(x);
	free(y);
}

static void nothing(void) {
	int x = 1, y = 2;
	MPI_Bcast(&x, 0, MPI_INT, 0, W);
	MPI_Allreduce(&x, &y, 0, MPI_INT, MPI_SUM, W);
	MPI_Gather(&x, 0, MPI_INT, &y, 0, MPI_INT, 0, W);
	MPI_Alltoall(&x, 0, MPI_INT, &y, 0, MPI_INT, W);
	say(" %d %d", x, y);
}

static void roots_in_turn(void) {
	int *all = malloc(size * sizeof *all);
	for (int root = 0; root < size; root++) {
		int x = rank * rank + root, y = -1;
		MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, root, W);
		MPI_Scatter(all, 1, MPI_INT, &y, 1, MPI_INT, root, W);
		if (x != y) say(" wrong");
		MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, root, W);
		if (rank == root) say(" %d", y);
	}
	free(all);
}

static void gather_of_columns(void) {
	MPI_Datatype column;
	int x[6] = {rank, 1, rank + 10, 1, rank + 20, 1}, *y = calloc(3 * size, sizeof *y);
	MPI_Type_vector(3, 1, 2, MPI_INT, &column);
	MPI_Type_commit(&column);
	MPI_Gather(x, 1, column, y, 3, MPI_INT, 0, W);
	for (int i = 0; i < 3 * size; i++) say(" %d", y[i]);
	MPI_Type_free(&column);
	free(y);
}

static void gather_into_columns(void) {
	MPI_Datatype v, column;
	int x[3] = {rank, rank + 10, rank + 20}, *y = calloc(3 * size, sizeof *y);
	MPI_Type_vector(3, 1, size, MPI_INT, &v);
	MPI_Type_create_resized(v, 0, sizeof(int), &column);
	MPI_Type_commit(&column);
	MPI_Allgather(x, 3, MPI_INT, y, 1, column, W);
	for (int i = 0; i < 3 * size; i++) say(" %d", y[i]);
	MPI_Type_free(&column);
	MPI_Type_free(&v);
	free(y);
}

static void transpose(void) {
	double *x = malloc(size * sizeof *x), *y = malloc(size * sizeof *y);
	for (int i = 0; i < size; i++) x[i] = rank + 0.01 * i;
	MPI_Alltoall(x, 1, MPI_DOUBLE, y, 1, MPI_DOUBLE, W);
	for (int i = 0; i < size; i++) say(" %.2f", y[i]);
	free(x);
	free(y);
}

static void reductions_of_doubles(void) {
	double x[3] = {rank + 0.5, 1.0 / (rank + 1), -rank}, y[3];
	MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};
	for (int i = 0; i < 4; i++) {
		MPI_Allreduce(x, y, 3, MPI_DOUBLE, ops[i], W);
		say(" %.6g,%.6g,%.6g", y[0], y[1], y[2]);
	}
}

static void logic(void) {
	int x[3] = {rank == 0, rank < size, 0}, y[3];
	MPI_Op ops[] = {MPI_LAND, MPI_LOR, MPI_LXOR};
	for (int i = 0; i < 3; i++) {
		MPI_Allreduce(x, y, 3, MPI_INT, ops[i], W);
		say(" %d%d%d", y[0], y[1], y[2]);
	}
}

static void collectives_on_halves(void) {
	MPI_Comm half;
	int r, n, x, y, *all;
	MPI_Comm_split(W, rank < size / 2, rank, &half);
	MPI_Comm_rank(half, &r);
	MPI_Comm_size(half, &n);
	x = rank;
	MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, half);
	all = malloc(n * sizeof *all);
	MPI_Allgather(&y, 1, MPI_INT, all, 1, MPI_INT, half);
	for (int i = 0; i < n; i++) say(" %d", all[i]);
	MPI_Bcast(&x, 1, MPI_INT, n - 1, half);
	say(" %d", x);
	MPI_Comm_free(&half);
	free(all);
}

static void mixed_with_messages(void) {
	int x = rank, y, z;
	MPI_Request q;
	MPI_Irecv(&y, 1, MPI_INT, before(), 0, W, &q);
	MPI_Allreduce(&x, &z, 1, MPI_INT, MPI_MAX, W);
	MPI_Send(&z, 1, MPI_INT, next(), 0, W);
	MPI_Barrier(W);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	say(" %d %d", y, z);
}

static void scan_of_maxloc(void) {
	struct { double v; int i; } a = {(rank * 5) % 7, rank}, b;
	MPI_Scan(&a, &b, 1, MPI_DOUBLE_INT, MPI_MAXLOC, W);
	say(" %g@%d", b.v, b.i);
}

static void concatenate(void *in, void *inout, int *n, MPI_Datatype *t) {
	char *a = in, *b = inout, both[16];
	snprintf(both, sizeof both, "%.7s%.8s", a, b);
	memcpy(b, both, sizeof both);
}

static void strings_in_order(void) {
	MPI_Op op;
	MPI_Datatype t;
	char x[16] = {'a' + rank}, y[16];
	MPI_Type_contiguous(16, MPI_CHAR, &t);
	MPI_Type_commit(&t);
	MPI_Op_create(concatenate, 0, &op);
	MPI_Allreduce(x, y, 1, t, op, W);
	say(" %s", y);
	MPI_Reduce(x, y, 1, t, op, 0, W);
	if (rank == 0) say(" %s", y);
	MPI_Exscan(x, y, 1, t, op, W);
	if (rank > 0) say(" %s", y);
	MPI_Op_free(&op);
	MPI_Type_free(&t);
}
