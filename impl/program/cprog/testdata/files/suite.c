/* Files, in small programs. Open MPI 4.1 does not check offsets and sequential files, and stands still in some. */
#include <unistd.h>

#include "../suite/suite.h"

static char directory[256], path[300];

/* Names of error classes of files. */
static const char *file_class(int code) {
	int c;
	MPI_Error_class(code, &c);
	if (c == MPI_ERR_FILE) return "file";
	if (c == MPI_ERR_ACCESS) return "access";
	if (c == MPI_ERR_AMODE) return "amode";
	if (c == MPI_ERR_FILE_EXISTS) return "exists";
	if (c == MPI_ERR_NO_SUCH_FILE) return "no such file";
	if (c == MPI_ERR_READ_ONLY) return "read only";
	if (c == MPI_ERR_IO) return "io";
	if (c == MPI_ERR_UNSUPPORTED_DATAREP) return "datarep";
	if (c == MPI_ERR_UNSUPPORTED_OPERATION) return "operation";
	return class_of(code);
}

/* A new file that all ranks read and write. */
static MPI_File open_new(void) {
	MPI_File f;
	int e = MPI_File_open(W, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	if (e) say(" open: %s", file_class(e));
	return f;
}

/* The bytes of the file, as a word each. */
static void say_file(MPI_File f, int words) {
	int x[256];
	MPI_Status s;
	int n;
	MPI_File_sync(f);
	MPI_Barrier(W);
	MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	memset(x, 0, sizeof x);
	MPI_File_read_at(f, 0, x, words, MPI_INT, &s);
	MPI_Get_count(&s, MPI_INT, &n);
	say(" %d:", n);
	for (int i = 0; i < n; i++) say(" %d", x[i]);
	MPI_Barrier(W);
}

#include "handles.h"
#include "access.h"
#include "views.h"

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	begin_suite(argc, argv);
	if (rank == 0) {
		const char *t = getenv("TMPDIR");
		snprintf(directory, sizeof directory, "%s/files-XXXXXX", t ? t : "/tmp");
		if (!mkdtemp(directory)) MPI_Abort(W, 1);
	}
	MPI_Bcast(directory, sizeof directory, MPI_CHAR, 0, W);
	snprintf(path, sizeof path, "%s/data", directory);

	RUN(open_and_close)
	RUN(modes)
	RUN(wrong_modes)
	RUN(no_such_file)
	RUN(exclusive)
	RUN(deleted)
	RUN(sizes)
	RUN(groups_of_files)
	RUN(hints_of_files)
	RUN(atomicity)
	RUN(handlers_of_files)
	RUN(handlers_without_a_file)
	RUN(called_handlers)
	RUN(numbers_of_handles)
	RUN(files_of_parts)

	RUN(at_offsets)
	RUN(at_offsets_by_all)
	RUN(by_individual_pointers)
	RUN(by_shared_pointers)
	RUN(by_shared_pointers_at_once)
	RUN(ordered)
	RUN(non_blocking)
	RUN(non_blocking_by_all)
	RUN(split)
	RUN(split_ordered)
	RUN(seeks)
	RUN(end_of_file)
	RUN(empty_accesses)
	RUN(large_accesses)
	RUN(types_of_buffers)
	RUN(appended)
	RUN(sequential)
	RUN(rights)

	RUN(interleaved)
	RUN(displaced)
	RUN(blocks_of_an_array)
	RUN(resized_types)
	RUN(byte_offsets)
	RUN(got_views)
	RUN(view_after_view)
	RUN(views_and_pointers)
	RUN(large_views)
	RUN(different_views)
	RUN(wrong_views)
	RUN(extents)
	RUN(external_numbers)
	RUN(external_layouts)

	if (rank == 0) rmdir(directory);
	MPI_Comm_free(&apart);
	MPI_Finalize();
	return 0;
}
