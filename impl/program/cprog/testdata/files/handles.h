/* Files: opening and closing, sizes, hints and error handlers. */

static void open_and_close(void) {
	MPI_File f = open_new();
	say(" %d", f != MPI_FILE_NULL);
	MPI_File_close(&f);
	say(" %d %d", f == MPI_FILE_NULL, access(path, F_OK));
}

static void modes(void) {
	MPI_File f;
	int mode;
	MPI_File_open(W, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
	MPI_File_get_amode(f, &mode);
	say(" %d", mode == (MPI_MODE_CREATE | MPI_MODE_WRONLY));
	MPI_File_close(&f);
	MPI_File_open(W, path, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN, MPI_INFO_NULL, &f);
	MPI_File_get_amode(f, &mode);
	say(" %d", mode == (MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN));
	MPI_File_close(&f);
}

static void wrong_modes(void) {
	MPI_File f;
	int wrong[] = {MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL};
	for (int i = 0; i < 3; i++) say(" %s", file_class(MPI_File_open(W, path, wrong[i], MPI_INFO_NULL, &f)));
}

static void no_such_file(void) {
	MPI_File f;
	say(" %s", file_class(MPI_File_open(W, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &f)));
	say(" %s", file_class(MPI_File_delete(path, MPI_INFO_NULL)));
}

static void exclusive(void) {
	MPI_File f, g;
	MPI_File_open(W, path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	say(" %s", file_class(MPI_File_open(W, path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &g)));
	MPI_File_close(&f);
}

static void deleted(void) {
	MPI_File f;
	MPI_File_open(W, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	MPI_File_close(&f);
	say(" %d", access(path, F_OK));
	MPI_Barrier(W);
	if (rank == 0) say(" %s", file_class(MPI_File_delete(path, MPI_INFO_NULL)));
	MPI_Barrier(W);
	say(" %d", access(path, F_OK));
}

static void sizes(void) {
	MPI_File f = open_new();
	MPI_Offset n;
	MPI_File_get_size(f, &n);
	say(" %d", (int)n);
	MPI_File_set_size(f, 1000);
	MPI_File_get_size(f, &n);
	say(" %d", (int)n);
	MPI_File_preallocate(f, 500);
	MPI_File_get_size(f, &n);
	say(" %d", (int)n);
	MPI_File_preallocate(f, 2000);
	MPI_File_get_size(f, &n);
	say(" %d", (int)n);
	MPI_File_set_size(f, 10);
	MPI_File_get_size(f, &n);
	say(" %d", (int)n);
	MPI_File_close(&f);
}

static void groups_of_files(void) {
	MPI_File f = open_new();
	MPI_Group g, all;
	int same;
	MPI_File_get_group(f, &g);
	MPI_Comm_group(W, &all);
	MPI_Group_compare(g, all, &same);
	say(" %d", same == MPI_IDENT);
	MPI_Group_free(&g);
	MPI_Group_free(&all);
	MPI_File_close(&f);
}

static void hints_of_files(void) {
	MPI_File f;
	MPI_Info info, used;
	MPI_Info_create(&info);
	MPI_Info_set(info, "cb_buffer_size", "65536");
	say(" %s", file_class(MPI_File_open(W, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &f)));
	MPI_Info_set(info, "access_style", "read_once");
	say(" %s", file_class(MPI_File_set_info(f, info)));
	MPI_Info_free(&info);
	say(" %s", file_class(MPI_File_get_info(f, &used)));
	say(" %d", used != MPI_INFO_NULL);
	MPI_Info_free(&used);
	MPI_File_close(&f);
}

static void atomicity(void) {
	MPI_File f = open_new();
	int flag, x = 7, y = 0;
	MPI_File_get_atomicity(f, &flag);
	say(" %d", flag);
	MPI_File_set_atomicity(f, 1);
	MPI_File_get_atomicity(f, &flag);
	say(" %d", flag);
	MPI_File_write_at(f, 4 * rank, &x, 1, MPI_INT, MPI_STATUS_IGNORE);
	MPI_Barrier(W);
	MPI_File_read_at(f, 4 * next(), &y, 1, MPI_INT, MPI_STATUS_IGNORE);
	say(" %d", y);
	MPI_Barrier(W);
	MPI_File_close(&f);
}

static int handled;
static MPI_File handled_file;
static void note_error(MPI_File *f, int *code, ...) {
	handled++;
	handled_file = *f;
}

static void handlers_of_files(void) {
	MPI_File f = open_new();
	MPI_Errhandler h, got;
	int x;
	MPI_File_get_errhandler(f, &got);
	say(" %d", got == MPI_ERRORS_RETURN);
	MPI_File_create_errhandler(note_error, &h);
	MPI_File_set_errhandler(f, h);
	MPI_File_get_errhandler(f, &got);
	say(" %d", got == h);
	MPI_Errhandler_free(&got);
	MPI_Errhandler_free(&h);
	handled = 0;
	say(" %s", file_class(MPI_File_read_at(f, -1, &x, 1, MPI_INT, MPI_STATUS_IGNORE)));
	say(" %d %d", handled, handled_file == f);
	MPI_File_close(&f);
}

static void handlers_without_a_file(void) {
	MPI_File f;
	MPI_Errhandler h, got;
	MPI_File_get_errhandler(MPI_FILE_NULL, &got);
	say(" %d", got == MPI_ERRORS_RETURN);
	MPI_File_create_errhandler(note_error, &h);
	MPI_File_set_errhandler(MPI_FILE_NULL, h);
	handled = 0;
	say(" %s", file_class(MPI_File_open(W, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &f)));
	say(" %d %d", handled, handled_file == MPI_FILE_NULL);
	f = open_new();
	MPI_File_get_errhandler(f, &got);
	say(" %d", got == h);
	MPI_File_close(&f);
	MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
	MPI_Errhandler_free(&h);
}

static void called_handlers(void) {
	MPI_File f = open_new();
	MPI_Errhandler h;
	MPI_File_create_errhandler(note_error, &h);
	MPI_File_set_errhandler(f, h);
	handled = 0;
	MPI_File_call_errhandler(f, MPI_ERR_OTHER);
	say(" %d %d", handled, handled_file == f);
	MPI_File_set_errhandler(f, MPI_ERRORS_RETURN);
	say(" %s", file_class(MPI_File_call_errhandler(f, MPI_ERR_FILE)));
	MPI_Errhandler_free(&h);
	MPI_File_close(&f);
}

static void numbers_of_handles(void) {
	MPI_File f = open_new();
	say(" %d %d", MPI_File_f2c(MPI_File_c2f(f)) == f, MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
	MPI_File_close(&f);
}

static void files_of_parts(void) {
	MPI_Comm half;
	MPI_File f;
	char own[320];
	int x = 100 + rank, y = 0, me, n;
	MPI_Comm_split(W, rank % 2, rank, &half);
	MPI_Comm_rank(half, &me);
	MPI_Comm_size(half, &n);
	snprintf(own, sizeof own, "%s-%d", path, rank % 2);
	MPI_File_open(half, own, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	MPI_File_write_at_all(f, 4 * me, &x, 1, MPI_INT, MPI_STATUS_IGNORE);
	MPI_Barrier(half);
	MPI_File_read_at_all(f, 4 * ((me + 1) % n), &y, 1, MPI_INT, MPI_STATUS_IGNORE);
	say(" %d", y);
	MPI_Barrier(half);
	MPI_File_close(&f);
	snprintf(own, sizeof own, "%s-own-%d", path, rank);
	MPI_File_open(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	MPI_File_write(f, &x, 1, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_seek(f, 0, MPI_SEEK_SET);
	MPI_File_read(f, &y, 1, MPI_INT, MPI_STATUS_IGNORE);
	say(" %d", y);
	MPI_File_close(&f);
	MPI_Comm_free(&half);
}
