/* Reading and writing. */

static int count_ints(MPI_Status *s) {
	int n;
	MPI_Get_count(s, MPI_INT, &n);
	return n;
}

static void at_offsets(void) {
	MPI_File f = open_new();
	MPI_Status s;
	int x[2] = {rank, 10 * rank};
	MPI_File_write_at(f, 8 * rank, x, 2, MPI_INT, &s);
	say(" %d", count_ints(&s));
	say_file(f, 2 * size);
	MPI_File_close(&f);
}

static void at_offsets_by_all(void) {
	MPI_File f = open_new();
	MPI_Status s;
	int x[2] = {rank, 10 * rank}, y[2] = {-1, -1};
	MPI_File_write_at_all(f, 8 * rank, x, 2, MPI_INT, &s);
	say(" %d", count_ints(&s));
	MPI_Barrier(W);
	MPI_File_read_at_all(f, 8 * next(), y, 2, MPI_INT, &s);
	say(" %d %d %d", count_ints(&s), y[0], y[1]);
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void by_individual_pointers(void) {
	MPI_File f = open_new();
	MPI_Status s;
	MPI_Offset at;
	int x[3] = {rank, rank + 1, rank + 2}, y[3] = {0};
	MPI_File_seek(f, 12 * rank, MPI_SEEK_SET);
	MPI_File_write(f, x, 1, MPI_INT, &s);
	MPI_File_get_position(f, &at);
	say(" %d", (int)at);
	MPI_File_write_all(f, x + 1, 2, MPI_INT, &s);
	MPI_File_get_position(f, &at);
	say(" %d", (int)at);
	MPI_Barrier(W);
	MPI_File_seek(f, 12 * next(), MPI_SEEK_SET);
	MPI_File_read(f, y, 2, MPI_INT, &s);
	MPI_File_read_all(f, y + 2, 1, MPI_INT, &s);
	say(" %d %d %d", y[0], y[1], y[2]);
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void by_shared_pointers(void) {
	MPI_File f = open_new();
	MPI_Status s;
	MPI_Offset at;
	int x = rank, y = -1;
	for (int i = 0; i < size; i++) { /* they take turns */
		if (i == rank) MPI_File_write_shared(f, &x, 1, MPI_INT, &s);
		MPI_Barrier(W);
	}
	MPI_File_get_position_shared(f, &at);
	say(" %d", (int)at);
	MPI_Barrier(W);
	MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
	for (int i = size - 1; i >= 0; i--) {
		if (i == rank) MPI_File_read_shared(f, &y, 1, MPI_INT, &s);
		MPI_Barrier(W);
	}
	say(" %d", y);
	MPI_File_close(&f);
}

static void by_shared_pointers_at_once(void) {
	MPI_File f = open_new();
	MPI_Status s;
	MPI_Offset at;
	int x = 1, y[7] = {0}, sum = 0;
	for (int i = 0; i < 10; i++) MPI_File_write_shared(f, &x, 1, MPI_INT, &s);
	MPI_Barrier(W);
	MPI_File_get_position_shared(f, &at);
	say(" %d", (int)at);
	for (int i = 0; i < 10; i++) {
		MPI_File_read_at(f, 4 * (rank * 10 + i), y, 1, MPI_INT, &s);
		sum += y[0];
	}
	say(" %d", sum);
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void ordered(void) {
	MPI_File f = open_new();
	MPI_Status s;
	MPI_Offset at;
	int x[7], y[7] = {0};
	for (int i = 0; i < 7; i++) x[i] = 10 * rank + i;
	MPI_File_write_ordered(f, x, rank + 1, MPI_INT, &s);
	say(" %d", count_ints(&s));
	MPI_Barrier(W);
	MPI_File_get_position_shared(f, &at);
	say(" %d", (int)at);
	MPI_Barrier(W);
	MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
	MPI_File_read_ordered(f, y, size - rank, MPI_INT, &s);
	say(" %d", count_ints(&s));
	for (int i = 0; i < size - rank; i++) say(" %d", y[i]);
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void non_blocking(void) {
	MPI_File f = open_new();
	MPI_Status s[3];
	MPI_Request q[3];
	int x[3] = {rank, rank + 100, 7}, y[3] = {0}, flag = 0;
	MPI_File_iwrite_at(f, 12 * rank, x, 1, MPI_INT, &q[0]);
	MPI_File_seek(f, 12 * rank + 4, MPI_SEEK_SET);
	MPI_File_iwrite(f, x + 1, 1, MPI_INT, &q[1]);
	MPI_Waitall(2, q, s);
	say(" %d %d %d", count_ints(&s[0]), count_ints(&s[1]), q[0] == MPI_REQUEST_NULL);
	MPI_Barrier(W);
	MPI_File_iread_at(f, 12 * next(), y, 1, MPI_INT, &q[0]);
	MPI_File_seek(f, 12 * next() + 4, MPI_SEEK_SET);
	MPI_File_iread(f, y + 1, 1, MPI_INT, &q[1]);
	MPI_Wait(&q[1], &s[0]);
	while (!flag) MPI_Test(&q[0], &flag, &s[1]);
	say(" %d %d %d %d", y[0], y[1], count_ints(&s[0]), count_ints(&s[1]));
	MPI_Barrier(W);
	MPI_File_seek_shared(f, 400, MPI_SEEK_SET);
	MPI_File_iwrite_shared(f, x + 2, 1, MPI_INT, &q[0]);
	MPI_Wait(&q[0], &s[0]);
	MPI_Barrier(W);
	MPI_File_seek_shared(f, 400, MPI_SEEK_SET);
	MPI_File_iread_shared(f, y + 2, 1, MPI_INT, &q[0]);
	MPI_Wait(&q[0], &s[0]);
	say(" %d %d", y[2], count_ints(&s[0]));
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void non_blocking_by_all(void) {
	MPI_File f = open_new();
	MPI_Status s;
	MPIO_Request q;
	int x[2] = {rank, rank + 50}, y[2] = {0};
	MPI_File_iwrite_at_all(f, 8 * rank, x, 1, MPI_INT, &q);
	MPIO_Wait(&q, &s);
	MPI_File_seek(f, 8 * rank + 4, MPI_SEEK_SET);
	MPI_File_iwrite_all(f, x + 1, 1, MPI_INT, &q);
	MPI_Wait(&q, &s);
	say(" %d", count_ints(&s));
	MPI_Barrier(W);
	MPI_File_iread_at_all(f, 8 * next(), y, 1, MPI_INT, &q);
	MPI_Wait(&q, &s);
	MPI_File_seek(f, 8 * next() + 4, MPI_SEEK_SET);
	MPI_File_iread_all(f, y + 1, 1, MPI_INT, &q);
	MPI_Wait(&q, &s);
	say(" %d %d %d", y[0], y[1], count_ints(&s));
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void split(void) {
	MPI_File f = open_new();
	MPI_Status s;
	int x[2] = {rank, rank + 50}, y[2] = {0};
	MPI_File_write_at_all_begin(f, 8 * rank, x, 1, MPI_INT);
	MPI_File_write_at_all_end(f, x, &s);
	MPI_File_seek(f, 8 * rank + 4, MPI_SEEK_SET);
	MPI_File_write_all_begin(f, x + 1, 1, MPI_INT);
	MPI_File_write_all_end(f, x + 1, &s);
	say(" %d", count_ints(&s));
	MPI_Barrier(W);
	MPI_File_read_at_all_begin(f, 8 * next(), y, 1, MPI_INT);
	MPI_File_read_at_all_end(f, y, &s);
	MPI_File_seek(f, 8 * next() + 4, MPI_SEEK_SET);
	MPI_File_read_all_begin(f, y + 1, 1, MPI_INT);
	MPI_File_read_all_end(f, y + 1, &s);
	say(" %d %d %d", y[0], y[1], count_ints(&s));
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void split_ordered(void) {
	MPI_File f = open_new();
	MPI_Status s;
	int x = rank + 3, y = 0;
	MPI_File_write_ordered_begin(f, &x, 1, MPI_INT);
	MPI_File_write_ordered_end(f, &x, &s);
	MPI_Barrier(W);
	MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
	MPI_File_read_ordered_begin(f, &y, 1, MPI_INT);
	MPI_File_read_ordered_end(f, &y, &s);
	say(" %d %d", y, count_ints(&s));
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void seeks(void) {
	MPI_File f = open_new();
	MPI_Offset at;
	MPI_File_set_size(f, 100);
	MPI_File_seek(f, 10, MPI_SEEK_SET);
	MPI_File_seek(f, 5, MPI_SEEK_CUR);
	MPI_File_get_position(f, &at);
	say(" %d", (int)at);
	MPI_File_seek(f, -20, MPI_SEEK_END);
	MPI_File_get_position(f, &at);
	say(" %d", (int)at);
	say(" %s", file_class(MPI_File_seek(f, -1, MPI_SEEK_SET)));
	say(" %s", file_class(MPI_File_seek(f, 0, 12345)));
	MPI_File_get_position(f, &at);
	say(" %d", (int)at);
	MPI_File_seek_shared(f, -40, MPI_SEEK_END);
	MPI_File_seek_shared(f, 3, MPI_SEEK_CUR);
	MPI_File_get_position_shared(f, &at);
	say(" %d", (int)at);
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void end_of_file(void) {
	MPI_File f = open_new();
	MPI_Status s;
	int x[4] = {1, 2, 3, 4}, y[4] = {9, 9, 9, 9};
	if (rank == 0) MPI_File_write_at(f, 0, x, 3, MPI_INT, &s);
	MPI_File_sync(f);
	MPI_Barrier(W);
	MPI_File_read_at(f, 4, y, 4, MPI_INT, &s);
	say(" %d %d %d %d", count_ints(&s), y[0], y[1], y[2]);
	MPI_File_read_at(f, 400, y, 4, MPI_INT, &s);
	say(" %d", count_ints(&s));
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void empty_accesses(void) {
	MPI_File f = open_new();
	MPI_Status s;
	MPI_Offset n;
	say(" %s", file_class(MPI_File_write_at(f, 100, NULL, 0, MPI_INT, &s)));
	say(" %s", file_class(MPI_File_read_at(f, 0, NULL, 0, MPI_INT, &s)));
	say(" %s", file_class(MPI_File_write_all(f, NULL, 0, MPI_INT, &s)));
	MPI_File_get_size(f, &n);
	say(" %d", (int)n);
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void large_accesses(void) {
	enum { N = 700000 };
	MPI_File f = open_new();
	MPI_Status s;
	MPI_Datatype every;
	int *x = malloc(2 * N * sizeof *x), wrong = 0;
	for (int i = 0; i < 2 * N; i++) x[i] = rank * N + i;
	MPI_Type_vector(N, 1, 2, MPI_INT, &every);
	MPI_Type_commit(&every);
	MPI_File_write_at(f, (MPI_Offset)rank * N * 4, x, 1, every, &s);
	say(" %d", count_ints(&s));
	memset(x, 0, 2 * N * sizeof *x);
	MPI_Barrier(W);
	MPI_File_read_at(f, (MPI_Offset)next() * N * 4, x, 1, every, &s);
	say(" %d", count_ints(&s));
	for (int i = 0; i < N; i++) wrong += x[2 * i] != next() * N + 2 * i;
	memset(x, 0, 2 * N * sizeof *x);
	MPI_File_read_at(f, (MPI_Offset)before() * N * 4, x, N, MPI_INT, &s);
	for (int i = 0; i < N; i++) wrong += x[i] != before() * N + 2 * i;
	say(" %d %d", count_ints(&s), wrong);
	MPI_Barrier(W);
	MPI_Type_free(&every);
	MPI_File_close(&f);
	free(x);
}

static void types_of_buffers(void) {
	MPI_File f = open_new();
	MPI_Status s;
	MPI_Datatype pair, struct_type;
	struct { char c; int i; double d; } x = {'a' + rank, rank, rank / 2.0}, y = {0};
	int lengths[] = {1, 1, 1}, n;
	MPI_Aint places[] = {0, (char *)&x.i - (char *)&x, (char *)&x.d - (char *)&x};
	MPI_Datatype types[] = {MPI_CHAR, MPI_INT, MPI_DOUBLE};
	MPI_Type_create_struct(3, lengths, places, types, &struct_type);
	MPI_Type_commit(&struct_type);
	MPI_File_write_at(f, 13 * rank, &x, 1, struct_type, &s);
	MPI_Get_count(&s, struct_type, &n);
	say(" %d", n);
	MPI_Get_elements(&s, struct_type, &n);
	say(" %d", n);
	MPI_Barrier(W);
	MPI_File_read_at(f, 13 * next(), &y, 1, struct_type, &s);
	say(" %c %d %g", y.c, y.i, y.d);
	MPI_Type_contiguous(2, MPI_INT, &pair);
	say(" %s", file_class(MPI_File_write_at(f, 0, &x, 1, pair, &s)) [0] ? "uncommitted" : "");
	MPI_Type_free(&pair);
	MPI_Type_free(&struct_type);
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void appended(void) {
	MPI_File f = open_new(), g;
	MPI_Offset at;
	int x[3] = {1, 2, 3};
	if (rank == 0) MPI_File_write_at(f, 0, x, 3, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_sync(f);
	MPI_Barrier(W);
	MPI_File_open(W, path, MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL, &g);
	MPI_File_get_position(g, &at);
	say(" %d", (int)at);
	MPI_File_get_position_shared(g, &at);
	say(" %d", (int)at);
	MPI_Barrier(W);
	MPI_File_close(&g);
	MPI_File_close(&f);
}

static void sequential(void) {
	MPI_File f;
	MPI_Status s;
	int x = rank + 1, y = 0;
	MPI_File_open(W, path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &f);
	MPI_File_write_ordered(f, &x, 1, MPI_INT, &s);
	say(" %s", file_class(MPI_File_write_at(f, 0, &x, 1, MPI_INT, &s)));
	say(" %s", file_class(MPI_File_seek(f, 0, MPI_SEEK_SET)));
	MPI_File_close(&f);
	MPI_File_open(W, path, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	MPI_File_read_ordered(f, &y, 1, MPI_INT, &s);
	say(" %d", y);
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static void rights(void) {
	MPI_File f;
	MPI_Status s;
	int x = 1;
	MPI_File_open(W, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
	MPI_File_write_at(f, 0, &x, 1, MPI_INT, &s);
	say(" %s", file_class(MPI_File_read_at(f, 0, &x, 1, MPI_INT, &s)));
	MPI_File_close(&f);
	MPI_File_open(W, path, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	say(" %s", file_class(MPI_File_write_at(f, 0, &x, 1, MPI_INT, &s)));
	say(" %s", file_class(MPI_File_read_at(f, 0, &x, -1, MPI_INT, &s)));
	say(" %s", file_class(MPI_File_read_at(f, 0, &x, 1, MPI_DATATYPE_NULL, &s)));
	MPI_Barrier(W);
	MPI_File_close(&f);
}
