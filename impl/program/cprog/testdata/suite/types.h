/* Datatypes, packing and addresses. */

/* describe says size, bounds and extent of a type. */
static void describe(MPI_Datatype t) {
	int n;
	MPI_Aint lb, ub, extent, low, true_extent;
	MPI_Type_size(t, &n);
	MPI_Type_lb(t, &lb);
	MPI_Type_ub(t, &ub);
	MPI_Type_extent(t, &extent);
	say(" %d [%ld %ld] %ld", n, (long)lb, (long)ub, (long)extent);
	MPI_Type_get_extent(t, &lb, &extent);
	MPI_Type_get_true_extent(t, &low, &true_extent);
	say(" true [%ld %ld] same %d", (long)low, (long)true_extent, ub - lb == extent);
}

/* carry sends elements of a type to this rank itself, and says the bytes that came as another type. */
static void carry(const void *from, int n, MPI_Datatype t, void *to, int m, MPI_Datatype u) {
	MPI_Status s;
	int got, parts;
	MPI_Sendrecv((void *)from, n, t, rank, 0, to, m, u, rank, 0, W, &s);
	MPI_Get_count(&s, u, &got);
	MPI_Get_elements(&s, u, &parts);
	say(" %d/%d", got == MPI_UNDEFINED ? -1 : got, parts);
}

static void basic_sizes(void) {
	MPI_Datatype t[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_FLOAT, MPI_DOUBLE,
	                    MPI_LONG_DOUBLE, MPI_BYTE, MPI_LONG_LONG_INT, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_PACKED};
	for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
		int n;
		MPI_Aint lb, e;
		MPI_Type_size(t[i], &n);
		MPI_Type_get_extent(t[i], &lb, &e);
		say(" %d/%ld", n, (long)e);
	}
}

static void fixed_sizes(void) {
	MPI_Datatype t[] = {MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_C_BOOL, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
	                    MPI_WCHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_LONG_LONG, MPI_AINT, MPI_OFFSET, MPI_COUNT};
	for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
		int n;
		MPI_Type_size(t[i], &n);
		say(" %d", n);
	}
}

static void contiguous(void) {
	MPI_Datatype t;
	int x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
	MPI_Type_contiguous(3, MPI_INT, &t);
	MPI_Type_commit(&t);
	describe(t);
	carry(x, 2, t, y, 6, MPI_INT);
	say(" %d %d", y[0], y[5]);
	MPI_Type_free(&t);
	say(" %d", t == MPI_DATATYPE_NULL);
}

static void vector(void) {
	MPI_Datatype t;
	int x[24], y[6] = {0};
	for (int i = 0; i < 24; i++) x[i] = i;
	MPI_Type_vector(3, 2, 4, MPI_INT, &t);
	MPI_Type_commit(&t);
	describe(t);
	carry(x, 1, t, y, 6, MPI_INT);
	for (int i = 0; i < 6; i++) say(" %d", y[i]);
	MPI_Type_free(&t);
}

static void vector_back(void) {
	MPI_Datatype t;
	int x[6] = {1, 2, 3, 4, 5, 6}, y[12];
	for (int i = 0; i < 12; i++) y[i] = -1;
	MPI_Type_vector(3, 2, 4, MPI_INT, &t);
	MPI_Type_commit(&t);
	carry(x, 6, MPI_INT, y, 1, t);
	for (int i = 0; i < 12; i++) say(" %d", y[i]);
	MPI_Type_free(&t);
}

static void negative_stride(void) {
	MPI_Datatype t;
	int x[8], y[4];
	for (int i = 0; i < 8; i++) x[i] = i;
	MPI_Type_vector(4, 1, -2, MPI_INT, &t);
	MPI_Type_commit(&t);
	describe(t);
	carry(x + 7, 1, t, y, 4, MPI_INT);
	for (int i = 0; i < 4; i++) say(" %d", y[i]);
	MPI_Type_free(&t);
}

static void hvector(void) {
	MPI_Datatype t, u;
	double x[12], y[4];
	for (int i = 0; i < 12; i++) x[i] = i;
	MPI_Type_hvector(4, 1, 24, MPI_DOUBLE, &t);
	MPI_Type_create_hvector(2, 1, 8, t, &u);
	MPI_Type_commit(&t);
	describe(t);
	describe(u);
	carry(x, 1, t, y, 4, MPI_DOUBLE);
	for (int i = 0; i < 4; i++) say(" %g", y[i]);
	MPI_Type_free(&t);
	MPI_Type_free(&u);
}

static void indexed(void) {
	MPI_Datatype t;
	int lengths[3] = {2, 0, 3}, at[3] = {5, 1, 0}, x[10], y[5];
	for (int i = 0; i < 10; i++) x[i] = i;
	MPI_Type_indexed(3, lengths, at, MPI_INT, &t);
	MPI_Type_commit(&t);
	describe(t);
	carry(x, 1, t, y, 5, MPI_INT);
	for (int i = 0; i < 5; i++) say(" %d", y[i]);
	MPI_Type_free(&t);
}

static void hindexed(void) {
	MPI_Datatype t, u;
	int lengths[2] = {1, 2}, x[10], y[10];
	MPI_Aint at[2] = {12, 24};
	for (int i = 0; i < 10; i++) x[i] = i;
	MPI_Type_hindexed(2, lengths, at, MPI_INT, &t);
	MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &u);
	MPI_Type_commit(&t);
	MPI_Type_commit(&u);
	describe(t);
	carry(x, 1, t, y, 1, u);
	carry(x, 1, u, y, 3, MPI_INT);
	for (int i = 0; i < 3; i++) say(" %d", y[i]);
	MPI_Type_free(&t);
	MPI_Type_free(&u);
}

static void indexed_block(void) {
	MPI_Datatype t, u;
	int at[3] = {4, 0, 8}, x[12], y[6];
	MPI_Aint bytes[3] = {16, 0, 32};
	for (int i = 0; i < 12; i++) x[i] = i;
	MPI_Type_create_indexed_block(3, 2, at, MPI_INT, &t);
	MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &u);
	MPI_Type_commit(&t);
	MPI_Type_commit(&u);
	describe(t);
	describe(u);
	carry(x, 1, t, y, 6, MPI_INT);
	for (int i = 0; i < 6; i++) say(" %d", y[i]);
	MPI_Type_free(&t);
	MPI_Type_free(&u);
}

struct particle {
	char kind;
	double place[3];
	int id;
};

static MPI_Datatype particle_type(struct particle *p) {
	MPI_Datatype t, of[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
	int lengths[3] = {1, 3, 1};
	MPI_Aint at[3], begin;
	MPI_Address(p, &begin);
	MPI_Address(&p->kind, &at[0]);
	MPI_Address(p->place, &at[1]);
	MPI_Address(&p->id, &at[2]);
	for (int i = 0; i < 3; i++) at[i] -= begin;
	MPI_Type_struct(3, lengths, at, of, &t);
	MPI_Type_commit(&t);
	return t;
}

static void structure(void) {
	struct particle x[2] = {{'a', {1, 2, 3}, rank}, {'b', {4, 5, 6}, rank + 1}}, y[2];
	MPI_Status s;
	int n, e;
	memset(y, 0, sizeof y);
	MPI_Datatype t = particle_type(x);
	describe(t);
	MPI_Sendrecv(x, 2, t, next(), 0, y, 2, t, before(), 0, W, &s);
	MPI_Get_count(&s, t, &n);
	MPI_Get_elements(&s, t, &e);
	say(" %d %d %c %g %d %c %g %d", n, e, y[0].kind, y[0].place[2], y[0].id, y[1].kind, y[1].place[0], y[1].id);
	MPI_Type_free(&t);
}

static void bottom(void) {
	int a = rank, b = 7;
	double c = 2.5, y[1];
	int z[2];
	MPI_Datatype t, u, of[3] = {MPI_INT, MPI_INT, MPI_DOUBLE};
	int lengths[3] = {1, 1, 1};
	MPI_Aint at[3], there[3];
	MPI_Get_address(&a, &at[0]);
	MPI_Get_address(&b, &at[1]);
	MPI_Get_address(&c, &at[2]);
	MPI_Get_address(&z[1], &there[0]);
	MPI_Get_address(&z[0], &there[1]);
	MPI_Get_address(y, &there[2]);
	MPI_Type_create_struct(3, lengths, at, of, &t);
	MPI_Type_create_struct(3, lengths, there, of, &u);
	MPI_Type_commit(&t);
	MPI_Type_commit(&u);
	MPI_Sendrecv(MPI_BOTTOM, 1, t, next(), 0, MPI_BOTTOM, 1, u, before(), 0, W, MPI_STATUS_IGNORE);
	say(" %d %d %g", z[1], z[0], y[0]);
	MPI_Bcast(MPI_BOTTOM, 1, t, 0, W);
	say(" %d", a);
	MPI_Type_free(&t);
	MPI_Type_free(&u);
}

static void resized(void) {
	MPI_Datatype t;
	int x[8], y[4];
	for (int i = 0; i < 8; i++) x[i] = i;
	MPI_Type_create_resized(MPI_INT, 0, 8, &t);
	MPI_Type_commit(&t);
	describe(t);
	carry(x, 4, t, y, 4, MPI_INT);
	for (int i = 0; i < 4; i++) say(" %d", y[i]);
	MPI_Type_free(&t);
	MPI_Type_create_resized(MPI_DOUBLE, -4, 20, &t);
	describe(t);
	MPI_Type_free(&t);
}

static void resized_column(void) {
	MPI_Datatype v, column;
	int x[12], y[12];
	for (int i = 0; i < 12; i++) x[i] = i;
	MPI_Type_vector(3, 1, 4, MPI_INT, &v);
	MPI_Type_create_resized(v, 0, sizeof(int), &column);
	MPI_Type_commit(&column);
	MPI_Type_free(&v);
	carry(x, 4, column, y, 12, MPI_INT);
	for (int i = 0; i < 12; i++) say(" %d", y[i]);
	MPI_Type_free(&column);
}

static void subarray(void) {
	MPI_Datatype t, u;
	int sizes[2] = {4, 5}, parts[2] = {2, 3}, starts[2] = {1, 2}, x[20], y[6];
	for (int i = 0; i < 20; i++) x[i] = i;
	MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t);
	MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &u);
	MPI_Type_commit(&t);
	MPI_Type_commit(&u);
	describe(t);
	describe(u);
	carry(x, 1, t, y, 6, MPI_INT);
	for (int i = 0; i < 6; i++) say(" %d", y[i]);
	carry(x, 1, u, y, 6, MPI_INT);
	for (int i = 0; i < 6; i++) say(" %d", y[i]);
	MPI_Type_free(&t);
	MPI_Type_free(&u);
}

static void subarray_of_three(void) {
	MPI_Datatype t;
	int sizes[3] = {3, 4, 5}, parts[3] = {2, 2, 2}, starts[3] = {1, 0, 3}, x[60], y[8];
	for (int i = 0; i < 60; i++) x[i] = i;
	MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t);
	MPI_Type_commit(&t);
	carry(x, 1, t, y, 8, MPI_INT);
	for (int i = 0; i < 8; i++) say(" %d", y[i]);
	MPI_Type_free(&t);
}

static void nested(void) {
	MPI_Datatype row, block, all;
	int x[32], y[12];
	for (int i = 0; i < 32; i++) x[i] = i;
	MPI_Type_vector(2, 1, 2, MPI_INT, &row);
	MPI_Type_contiguous(2, row, &block);
	MPI_Type_vector(3, 1, 2, block, &all);
	MPI_Type_commit(&all);
	describe(all);
	carry(x, 1, all, y, 12, MPI_INT);
	for (int i = 0; i < 12; i++) say(" %d", y[i]);
	MPI_Type_free(&row);
	MPI_Type_free(&block);
	carry(x, 1, all, y, 12, MPI_INT);
	MPI_Type_free(&all);
}

/* A type holds variables by their addresses, between which there is no memory. */
static void variables_by_address(void) {
	const long page = 1 << 16, size = 96 << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int *low = (int *)memory, *high = (int *)(memory + size - page), on_stack[2] = {rank + 1, rank + 2}, y[6] = {0}, lengths[] = {2, 3, 1};
	MPI_Aint at[3];
	MPI_Datatype t, ints[] = {MPI_INT, MPI_INT, MPI_INT};
	munmap(memory + page, size - 2 * page);
	low[0] = rank + 3, low[2] = rank + 5, high[0] = rank + 6;
	MPI_Get_address(on_stack, &at[0]);
	MPI_Get_address(low, &at[1]);
	MPI_Get_address(high, &at[2]);
	MPI_Type_create_struct(3, lengths, at, ints, &t);
	MPI_Type_commit(&t);
	carry(MPI_BOTTOM, 1, t, y, 6, MPI_INT);
	say(" %d %d %d %d %d %d", y[0], y[1], y[2], y[3], y[4], y[5]);
	for (int i = 0; i < 6; i++)
		y[i] *= 10;
	carry(y, 6, MPI_INT, MPI_BOTTOM, 1, t);
	say(" %d %d %d %d", on_stack[1], low[0], low[2], high[0]);
	MPI_Type_free(&t);
	munmap(low, page);
	munmap(high, page);
}

/* The first of two names of the same type is its name. */
static void names_of_synonyms(void) {
	char name[MPI_MAX_OBJECT_NAME];
	int n;
	MPI_Type_get_name(MPI_LONG_LONG, name, &n);
	say(" %s %d", name, n);
	MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, name, &n);
	say(" %s %d", name, n);
}

static void duplicate(void) {
	MPI_Datatype t, u;
	int x[4] = {1, 2, 3, 4}, y[2];
	char name[MPI_MAX_OBJECT_NAME];
	int n;
	MPI_Type_vector(2, 1, 2, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Type_set_name(t, "every second");
	MPI_Type_dup(t, &u);
	MPI_Type_get_name(t, name, &n);
	say(" %s %d", name, n);
	MPI_Type_free(&t);
	describe(u);
	carry(x, 1, u, y, 2, MPI_INT);
	say(" %d %d", y[0], y[1]);
	MPI_Type_get_name(MPI_DOUBLE, name, &n);
	say(" %s %d", name, n);
	MPI_Type_free(&u);
}

static void empty_type(void) {
	MPI_Datatype t;
	int x;
	MPI_Type_contiguous(0, MPI_INT, &t);
	MPI_Type_commit(&t);
	describe(t);
	MPI_Sendrecv(&x, 3, t, rank, 0, &x, 3, t, rank, 0, W, MPI_STATUS_IGNORE);
	MPI_Type_free(&t);
}

static void packing(void) {
	char b[200];
	int n = 0, i = rank, j, need;
	double d[2] = {1.5, 2.5}, e[2];
	MPI_Status s;
	MPI_Pack_size(2, MPI_DOUBLE, W, &need);
	say(" %d", need >= 16);
	MPI_Pack(&i, 1, MPI_INT, b, sizeof b, &n, W);
	MPI_Pack(d, 2, MPI_DOUBLE, b, sizeof b, &n, W);
	char c[200];
	MPI_Sendrecv(b, n, MPI_PACKED, next(), 0, c, sizeof c, MPI_PACKED, before(), 0, W, &s);
	MPI_Get_count(&s, MPI_PACKED, &j);
	say(" %d", j == n);
	n = 0;
	MPI_Unpack(c, sizeof c, &n, &j, 1, MPI_INT, W);
	MPI_Unpack(c, sizeof c, &n, e, 2, MPI_DOUBLE, W);
	say(" %d %g %g", j, e[0], e[1]);
}

static void packed_as_parts(void) {
	char b[64];
	int n = 0, x[3] = {rank, 2, 3}, y[3];
	MPI_Pack(x, 3, MPI_INT, b, sizeof b, &n, W);
	MPI_Sendrecv(b, n, MPI_PACKED, next(), 0, y, 3, MPI_INT, before(), 0, W, MPI_STATUS_IGNORE);
	say(" %d %d %d", y[0], y[1], y[2]);
}

static void pack_strided(void) {
	MPI_Datatype t;
	int x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0}, n = 0;
	char b[64];
	MPI_Type_vector(3, 1, 2, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Pack(x, 1, t, b, sizeof b, &n, W);
	say(" %d", n);
	n = 0;
	MPI_Unpack(b, sizeof b, &n, y, 1, t, W);
	for (int i = 0; i < 6; i++) say(" %d", y[i]);
	MPI_Type_free(&t);
}

static void addresses(void) {
	int x[10];
	MPI_Aint a, b;
	MPI_Get_address(&x[0], &a);
	MPI_Get_address(&x[3], &b);
	say(" %ld %d", (long)MPI_Aint_diff(b, a), MPI_Aint_add(a, 12) == b);
}

static void strided_ring(void) {
	MPI_Datatype column;
	int m[4][5];
	for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) m[i][j] = 100 * rank + 10 * i + j;
	MPI_Type_vector(4, 1, 5, MPI_INT, &column);
	MPI_Type_commit(&column);
	MPI_Sendrecv(&m[0][1], 1, column, next(), 0, &m[0][4], 1, column, before(), 0, W, MPI_STATUS_IGNORE);
	for (int i = 0; i < 4; i++) say(" %d", m[i][4]);
	MPI_Sendrecv_replace(&m[0][0], 1, column, next(), 0, before(), 0, W, MPI_STATUS_IGNORE);
	for (int i = 0; i < 4; i++) say(" %d", m[i][0]);
	MPI_Type_free(&column);
}

static void halo(void) {
	enum { n = 4 };
	double a[n + 2][n + 2];
	MPI_Datatype column;
	for (int i = 0; i < n + 2; i++) for (int j = 0; j < n + 2; j++) a[i][j] = 100 * rank + 10 * i + j;
	MPI_Type_vector(n, 1, n + 2, MPI_DOUBLE, &column);
	MPI_Type_commit(&column);
	MPI_Sendrecv(&a[1][n], 1, column, next(), 0, &a[1][0], 1, column, before(), 0, W, MPI_STATUS_IGNORE);
	MPI_Sendrecv(&a[1][1], 1, column, before(), 1, &a[1][n + 1], 1, column, next(), 1, W, MPI_STATUS_IGNORE);
	for (int i = 1; i <= n; i++) say(" %g,%g", a[i][0], a[i][n + 1]);
	MPI_Type_free(&column);
}

static void array_of_structs(void) {
	struct particle x[3], y[3];
	memset(y, 0, sizeof y);
	for (int i = 0; i < 3; i++) x[i] = (struct particle){'x' + i, {i, 2 * i, rank}, 10 * i};
	MPI_Datatype t = particle_type(x), ids;
	MPI_Allreduce(MPI_IN_PLACE, &x[0].id, 1, MPI_INT, MPI_SUM, W);
	MPI_Bcast(x, 3, t, size - 1, W);
	for (int i = 0; i < 3; i++) say(" %c%g", x[i].kind, x[i].place[2]);
	MPI_Type_create_resized(MPI_INT, 0, sizeof x[0], &ids);
	MPI_Type_commit(&ids);
	int list[3] = {7, 8, 9};
	carry(list, 3, MPI_INT, &y[0].id, 3, ids);
	say(" %d %d %d", y[0].id, y[1].id, y[2].id);
	MPI_Type_free(&ids);
	MPI_Type_free(&t);
}

static void count_of_pairs(void) {
	struct { double v; int i; } x[3] = {{1, 2}, {3, 4}, {5, 6}}, y[3];
	MPI_Status s;
	int n;
	MPI_Sendrecv(x, 2, MPI_DOUBLE_INT, rank, 0, y, 3, MPI_DOUBLE_INT, rank, 0, W, &s);
	MPI_Get_count(&s, MPI_DOUBLE_INT, &n);
	say(" %d %g %d", n, y[1].v, y[1].i);
}

static void types_of_types_freed(void) {
	MPI_Datatype a, b;
	int x[4] = {1, 2, 3, 4}, y[2] = {0};
	MPI_Request q;
	MPI_Type_vector(2, 1, 2, MPI_INT, &a);
	MPI_Type_contiguous(1, a, &b);
	MPI_Type_commit(&b);
	MPI_Type_free(&a);
	MPI_Irecv(y, 2, MPI_INT, before(), 0, W, &q);
	MPI_Send(x, 1, b, next(), 0, W);
	MPI_Type_free(&b);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	say(" %d %d", y[0], y[1]);
}

static void large_counts(void) {
	MPI_Datatype t;
	MPI_Count n, lb, extent;
	MPI_Status s;
	int x[4] = {0}, y[4];
	MPI_Type_vector(2, 1, 2, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Type_size_x(t, &n);
	MPI_Type_get_extent_x(t, &lb, &extent);
	say(" %d [%d %d]", (int)n, (int)lb, (int)extent);
	MPI_Type_get_true_extent_x(t, &lb, &extent);
	say(" [%d %d]", (int)lb, (int)extent);
	MPI_Sendrecv(x, 1, t, rank, 0, y, 4, MPI_INT, rank, 0, W, &s);
	MPI_Get_elements_x(&s, MPI_INT, &n);
	say(" %d", (int)n);
	MPI_Type_free(&t);
}

/* Datatypes of Fortran's kinds: predefined, one for the same arguments, with the arguments as contents. */
static void selected_kind(const char *name, int e, MPI_Datatype t, MPI_Datatype again) {
	int n, addresses, types, combiner, x[2] = {0, 0}, bytes;
	if (e) {
		say(" %s none", name);
		return;
	}
	MPI_Type_size(t, &bytes);
	MPI_Type_get_envelope(t, &n, &addresses, &types, &combiner);
	MPI_Type_get_contents(t, n, 0, 0, x, NULL, NULL);
	const char *kind = combiner == MPI_COMBINER_F90_REAL ? "real" : combiner == MPI_COMBINER_F90_COMPLEX ? "complex" : combiner == MPI_COMBINER_F90_INTEGER ? "integer" : "?";
	say(" %s %d %s(%d,%d) %d %d %d", name, bytes, kind, x[0], x[1], n + addresses + types, t == again, t == MPI_REAL8);
}

static void selected_kinds(void) {
	MPI_Datatype t, again, derived;
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	for (int p = 6; p < 16; p += 3) {
		int e = MPI_Type_create_f90_real(p, 30, &t);
		MPI_Type_create_f90_real(p, 30, &again);
		selected_kind("r", e, t, again);
	}
	int e = MPI_Type_create_f90_complex(MPI_UNDEFINED, 200, &t);
	MPI_Type_create_f90_complex(10, 200, &again);
	selected_kind("c", e, t, again);
	for (int p = 2; p < 20; p += 5) {
		e = MPI_Type_create_f90_integer(p, &t);
		MPI_Type_create_f90_integer(p, &again);
		selected_kind("i", e, t, again);
	}
	say(" %d %d", MPI_Type_create_f90_integer(400, &t) != MPI_SUCCESS, MPI_Type_create_f90_real(100, 10, &t) != MPI_SUCCESS);
	double x[2] = {rank, 2 * rank}, y[2] = {-1, -1};
	MPI_Type_create_f90_real(15, MPI_UNDEFINED, &t);
	MPI_Sendrecv(x, 2, t, next(), 0, y, 2, MPI_DOUBLE_PRECISION, before(), 0, W, MPI_STATUS_IGNORE);
	say(" %g %g", y[0], y[1]);
	MPI_Type_contiguous(2, t, &derived);
	MPI_Type_commit(&derived);
	MPI_Sendrecv(x, 1, derived, next(), 0, y, 2, t, before(), 0, W, MPI_STATUS_IGNORE);
	say(" %g %g", y[0], y[1]);
	MPI_Type_free(&derived);
	MPI_Comm_set_errhandler(W, MPI_ERRORS_ARE_FATAL);
}
