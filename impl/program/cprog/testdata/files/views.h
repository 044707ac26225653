/* Views. */

static void interleaved(void) {
	MPI_File f = open_new();
	MPI_Status s;
	MPI_Datatype every;
	int x[4], y[4] = {0};
	for (int i = 0; i < 4; i++) x[i] = 100 * rank + i;
	MPI_Type_vector(4, 1, size, MPI_INT, &every);
	MPI_Type_commit(&every);
	MPI_File_set_view(f, 4 * rank, MPI_INT, every, "native", MPI_INFO_NULL);
	MPI_File_write_all(f, x, 4, MPI_INT, &s);
	say(" %d", count_ints(&s));
	MPI_Barrier(W);
	MPI_File_read_at_all(f, 1, y, 3, MPI_INT, &s);
	say(" %d %d %d", y[0], y[1], y[2]);
	say_file(f, 4 * size);
	MPI_Type_free(&every);
	MPI_File_close(&f);
}

static void displaced(void) {
	MPI_File f = open_new();
	MPI_Status s;
	int x = rank + 1;
	MPI_File_set_view(f, 8 + 4 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	MPI_File_write_at(f, 0, &x, 1, MPI_INT, &s);
	say_file(f, 2 + size);
	MPI_File_close(&f);
}

static void blocks_of_an_array(void) {
	MPI_File f = open_new();
	MPI_Status s;
	MPI_Datatype part;
	int whole[] = {4, 2 * size}, sub[] = {4, 2}, start[] = {0, 2 * rank}, x[8];
	for (int i = 0; i < 8; i++) x[i] = 10 * rank + i;
	MPI_Type_create_subarray(2, whole, sub, start, MPI_ORDER_C, MPI_INT, &part);
	MPI_Type_commit(&part);
	MPI_File_set_view(f, 0, MPI_INT, part, "native", MPI_INFO_NULL);
	MPI_Type_free(&part);
	MPI_File_write_all(f, x, 8, MPI_INT, &s);
	say_file(f, 8 * size);
	MPI_File_close(&f);
}

static void resized_types(void) {
	MPI_File f = open_new();
	MPI_Status s;
	MPI_Datatype one;
	int x[3] = {rank, rank + 10, rank + 20}, y[3] = {0};
	MPI_Type_create_resized(MPI_INT, 0, 4 * size, &one);
	MPI_Type_commit(&one);
	MPI_File_set_view(f, 4 * rank, MPI_INT, one, "native", MPI_INFO_NULL);
	MPI_File_write(f, x, 3, MPI_INT, &s);
	MPI_Barrier(W);
	MPI_File_seek(f, 0, MPI_SEEK_SET);
	MPI_File_read(f, y, 3, MPI_INT, &s);
	say(" %d %d %d", y[0], y[1], y[2]);
	say_file(f, 3 * size);
	MPI_Type_free(&one);
	MPI_File_close(&f);
}

static void byte_offsets(void) {
	MPI_File f = open_new();
	MPI_Datatype every;
	MPI_Offset at;
	MPI_Type_vector(2, 2, 5, MPI_INT, &every);
	MPI_Type_commit(&every);
	MPI_File_set_view(f, 100, MPI_INT, every, "native", MPI_INFO_NULL);
	for (int i = 0; i < 9; i++) {
		MPI_File_get_byte_offset(f, i, &at);
		say(" %d", (int)at);
	}
	MPI_Type_free(&every);
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void got_views(void) {
	MPI_File f = open_new();
	MPI_Datatype every, e, t;
	MPI_Offset at;
	char text[MPI_MAX_DATAREP_STRING];
	int n, ints, addresses, types, combiner;
	MPI_Aint lower, extent;
	MPI_File_get_view(f, &at, &e, &t, text);
	say(" %d %d %d %s", (int)at, e == MPI_BYTE, t == MPI_BYTE, text);
	MPI_Type_vector(2, 2, 5, MPI_INT, &every);
	MPI_Type_commit(&every);
	MPI_File_set_view(f, 8, MPI_INT, every, "native", MPI_INFO_NULL);
	MPI_Type_free(&every);
	MPI_File_get_view(f, &at, &e, &t, text);
	MPI_Type_size(t, &n);
	MPI_Type_get_extent(t, &lower, &extent);
	say(" %d %d %s %d %d", (int)at, e == MPI_INT, text, n, (int)extent);
	MPI_Type_free(&t);
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void view_after_view(void) {
	MPI_File f = open_new();
	MPI_Offset at;
	int x = 5;
	MPI_File_seek(f, 8, MPI_SEEK_SET);
	MPI_File_set_view(f, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	MPI_File_get_position(f, &at);
	say(" %d", (int)at);
	MPI_File_get_position_shared(f, &at);
	say(" %d", (int)at);
	MPI_Barrier(W);
	MPI_File_seek(f, rank, MPI_SEEK_SET);
	MPI_File_write(f, &x, 1, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_get_position(f, &at);
	say(" %d", (int)at);
	MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
	MPI_File_get_size(f, &at);
	say(" %d", (int)at);
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void views_and_pointers(void) {
	MPI_File f = open_new();
	MPI_Datatype every;
	MPI_Offset at;
	int x[4] = {1, 2, 3, 4}, y = 0;
	MPI_Type_vector(2, 1, 3, MPI_INT, &every);
	MPI_Type_create_resized(every, 0, 20, &every);
	MPI_Type_commit(&every);
	MPI_File_set_view(f, 0, MPI_INT, every, "native", MPI_INFO_NULL);
	if (rank == 0) MPI_File_write_at(f, 0, x, 4, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_sync(f);
	MPI_Barrier(W);
	MPI_File_seek(f, 0, MPI_SEEK_END);
	MPI_File_get_position(f, &at);
	say(" %d", (int)at);
	MPI_File_seek(f, -1, MPI_SEEK_END);
	MPI_File_read(f, &y, 1, MPI_INT, MPI_STATUS_IGNORE);
	say(" %d", y);
	MPI_Barrier(W);
	MPI_File_seek_shared(f, 1, MPI_SEEK_SET);
	MPI_File_read_ordered(f, &y, rank == 0, MPI_INT, MPI_STATUS_IGNORE);
	say(" %d", y);
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void large_views(void) {
	enum { N = 30000 };
	MPI_File f = open_new();
	MPI_Status s;
	MPI_Datatype every;
	int *x = malloc(N * sizeof *x), wrong = 0;
	for (int i = 0; i < N; i++) x[i] = rank * N + i;
	MPI_Type_vector(N / 10, 10, 10 * size, MPI_INT, &every);
	MPI_Type_commit(&every);
	MPI_File_set_view(f, 40 * rank, MPI_INT, every, "native", MPI_INFO_NULL);
	MPI_File_write_all(f, x, N, MPI_INT, &s);
	say(" %d", count_ints(&s));
	memset(x, 0, N * sizeof *x);
	MPI_Barrier(W);
	MPI_File_read_at(f, 5, x, N - 5, MPI_INT, &s);
	for (int i = 0; i < N - 5; i++) wrong += x[i] != rank * N + 5 + i;
	say(" %d %d", count_ints(&s), wrong);
	MPI_Type_free(&every);
	MPI_Barrier(W);
	MPI_File_close(&f);
	free(x);
}

static void different_views(void) {
	MPI_File f = open_new();
	MPI_Datatype own;
	int x[4] = {rank, rank, rank, rank}, lengths[] = {1, 2}, places[] = {0, 2}, zeros[4] = {0};
	MPI_File_write_at_all(f, 16 * rank, zeros, 4, MPI_INT, MPI_STATUS_IGNORE); /* MPICH puts anything into new gaps */
	MPI_File_sync(f);
	MPI_Barrier(W);
	MPI_Type_indexed(2, lengths, places, MPI_INT, &own);
	MPI_Type_commit(&own);
	MPI_File_set_view(f, 16 * rank, MPI_INT, rank % 2 ? own : MPI_INT, "native", MPI_INFO_NULL);
	MPI_File_write_all(f, x, 3, MPI_INT, MPI_STATUS_IGNORE);
	say_file(f, 4 * size);
	MPI_Type_free(&own);
	MPI_File_close(&f);
}

static void wrong_views(void) {
	MPI_File f = open_new();
	say(" %s", file_class(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "none", MPI_INFO_NULL)));
	say(" %s", file_class(MPI_File_set_view(f, -8, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL)));
	say(" %s", file_class(MPI_File_set_view(f, 0, MPI_DOUBLE, MPI_INT, "native", MPI_INFO_NULL)));
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void extents(void) {
	MPI_File f = open_new();
	MPI_Datatype every;
	MPI_Aint n;
	MPI_File_get_type_extent(f, MPI_DOUBLE, &n);
	say(" %d", (int)n);
	MPI_Type_vector(2, 1, 3, MPI_INT, &every);
	MPI_Type_commit(&every);
	MPI_File_get_type_extent(f, every, &n);
	say(" %d", (int)n);
	MPI_Type_free(&every);
	MPI_Barrier(W);
	MPI_File_close(&f);
}

/* Says bytes in hexadecimal. */
static void say_bytes(MPI_File f, int n) {
	unsigned char b[256];
	MPI_Status s;
	MPI_File_sync(f);
	MPI_Barrier(W);
	MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
	MPI_File_read_at(f, 0, b, n, MPI_BYTE, &s);
	MPI_Get_count(&s, MPI_BYTE, &n);
	say(" ");
	for (int i = 0; i < n; i++) say("%02x", b[i]);
	MPI_Barrier(W);
}

/* Big-endian numbers, which are read as they were written. */
static void external_numbers(void) {
	MPI_File f = open_new();
	MPI_Status s;
	int x[2] = {0x01020304 + rank, -2}, y[2] = {0}, n;
	double d[1] = {-1.5}, e[1] = {0};
	short h[3] = {1, 2, -3}, k[3] = {0};
	char c[4] = "abc", z[4] = "";
	MPI_Offset at = 32 * rank;
	MPI_File_set_view(f, at, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
	MPI_File_write(f, x, 2, MPI_INT, &s);
	MPI_Get_count(&s, MPI_INT, &n);
	say(" %d", n);
	MPI_File_seek(f, 0, MPI_SEEK_SET);
	MPI_File_read(f, y, 2, MPI_INT, &s);
	say(" %d %d", y[0] - x[0], y[1]);
	MPI_File_set_view(f, at + 8, MPI_DOUBLE, MPI_DOUBLE, "external32", MPI_INFO_NULL);
	MPI_File_write_at(f, 0, d, 1, MPI_DOUBLE, &s);
	MPI_File_read_at(f, 0, e, 1, MPI_DOUBLE, &s);
	say(" %.1f", e[0]);
	MPI_File_set_view(f, at + 16, MPI_SHORT, MPI_SHORT, "external32", MPI_INFO_NULL);
	MPI_File_write_at_all(f, 0, h, 3, MPI_SHORT, &s);
	MPI_File_read_at_all(f, 0, k, 3, MPI_SHORT, &s);
	say(" %d %d %d", k[0], k[1], k[2]);
	MPI_File_set_view(f, at + 24, MPI_CHAR, MPI_CHAR, "external32", MPI_INFO_NULL);
	MPI_File_write_at(f, 0, c, 4, MPI_CHAR, &s);
	MPI_File_read_at(f, 0, z, 4, MPI_CHAR, &s);
	say(" %s", z);
	say_bytes(f, 32 * size);
	MPI_File_close(&f);
}

/* Gaps in memory and in the file. Reading ends with the file. */
static void external_layouts(void) {
	MPI_File f = open_new();
	MPI_Status s;
	MPI_Datatype every, apart;
	MPI_Offset at;
	MPI_Aint extent;
	char datarep[MPI_MAX_DATAREP_STRING];
	int x[8], y[8] = {0}, n;
	for (int i = 0; i < 8; i++) x[i] = 100 * rank + i;
	MPI_Type_create_resized(MPI_INT, 0, 4 * size, &every);
	MPI_Type_vector(4, 1, 2, MPI_INT, &apart);
	MPI_Type_commit(&every);
	MPI_Type_commit(&apart);
	MPI_File_set_view(f, 4 * rank, MPI_INT, every, "external32", MPI_INFO_NULL);
	MPI_File_write_all(f, x, 1, apart, &s);
	MPI_Get_count(&s, apart, &n);
	say(" %d", n);
	MPI_Barrier(W);
	MPI_File_seek(f, 0, MPI_SEEK_SET);
	MPI_File_read(f, y, 1, apart, &s);
	say(" %d %d %d %d", y[0], y[1], y[2], y[6]);
	MPI_File_get_byte_offset(f, 2, &at);
	MPI_File_get_type_extent(f, MPI_INT, &extent);
	say(" %d %d", (int)at, (int)extent);
	MPI_File_get_view(f, &at, &every, &apart, datarep);
	say(" %s", datarep);
	say_bytes(f, 16 * size);
	MPI_Type_free(&apart);
	MPI_File_close(&f);
}
