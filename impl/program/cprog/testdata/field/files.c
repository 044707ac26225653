/* Errors of files, and data representations. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A long has 4 bytes in external32, and so have displacements that count longs. A file can end within a number. */
static int external_longs(void) {
	MPI_File f;
	MPI_Datatype every, pair;
	MPI_Status s;
	MPI_Offset bytes;
	MPI_Aint extent;
	unsigned char b[16];
	long x[3] = {1, -2, 3}, y[3] = {0};
	struct {
		long l;
		int i;
	} p = {7, 8}, q = {0, 0};
	int n, good;
	MPI_Type_vector(3, 1, 2, MPI_LONG, &every);
	MPI_Type_commit(&every);
	MPI_Type_dup(every, &pair);
	char name[] = "/tmp/external-XXXXXX";
	close(mkstemp(name));
	MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	MPI_File_set_view(f, 0, MPI_LONG, pair, "external32", MPI_INFO_NULL);
	MPI_Type_free(&pair);
	MPI_File_write(f, x, 3, MPI_LONG, &s);
	MPI_Get_count(&s, MPI_LONG, &n);
	good = n == 3;
	MPI_File_get_type_extent(f, every, &extent);
	MPI_File_get_size(f, &bytes);
	good = good && bytes == 20 && extent == 20;
	MPI_File_set_size(f, 18);
	MPI_File_seek(f, 0, MPI_SEEK_SET);
	MPI_File_read(f, y, 3, MPI_LONG, &s);
	MPI_Get_count(&s, MPI_LONG, &n);
	good = good && n == 2 && y[0] == 1 && y[1] == -2 && y[2] == 0;
	MPI_File_set_view(f, 0, MPI_LONG_INT, MPI_LONG_INT, "external32", MPI_INFO_NULL);
	MPI_File_write_at(f, 1, &p, 1, MPI_LONG_INT, &s);
	MPI_File_read_at(f, 1, &q, 1, MPI_LONG_INT, &s);
	good = good && q.l == 7 && q.i == 8;
	MPI_File_set_view(f, 8, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
	MPI_File_read_at(f, 0, b, 8, MPI_BYTE, &s);
	good = good && memcmp(b, "\0\0\0\7\0\0\0\10", 8) == 0;
	MPI_File_close(&f);
	MPI_Type_free(&every);
	return good;
}

int main(int argc, char **argv) {
	MPI_File f;
	int rank, class, good = 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc > 1 && strcmp(argv[1], "fatal") == 0) {
		MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
		MPI_File_open(MPI_COMM_WORLD, "/none/such", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
	}
	MPI_Error_class(MPI_Register_datarep("own", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, 0, 0), &class);
	good = good && class == MPI_ERR_UNSUPPORTED_DATAREP;
	MPI_Error_class(MPI_Register_datarep_c("own", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, 0, 0), &class);
	good = good && class == MPI_ERR_UNSUPPORTED_DATAREP;
	MPI_Error_class(MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDWR | 1 << 20, MPI_INFO_NULL, &f), &class);
	good = good && class == MPI_ERR_AMODE && f == MPI_FILE_NULL;
	MPI_Error_class(MPI_File_open(MPI_COMM_WORLD, "/", MPI_MODE_RDWR, MPI_INFO_NULL, &f), &class);
	good = good && class == MPI_ERR_BAD_FILE;
	MPI_Error_class(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_RDWR, MPI_INFO_NULL, &f), &class);
	good = good && class == MPI_SUCCESS;
	MPI_Error_class(MPI_File_write_at(f, 0, &rank, 1, MPI_INT, MPI_STATUS_IGNORE), &class);
	good = good && class == MPI_ERR_NO_SPACE;
	MPI_Error_class(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "own", MPI_INFO_NULL), &class);
	good = good && class == MPI_ERR_UNSUPPORTED_DATAREP;
	MPI_Error_class(MPI_File_read_all_end(f, &rank, MPI_STATUS_IGNORE), &class);
	good = good && class == MPI_ERR_OTHER;
	MPI_File_close(&f);
	MPI_Error_class(MPI_File_sync(f), &class);
	good = good && class == MPI_ERR_FILE;
	good = good && external_longs();
	if (rank == 0) printf(good ? "ok\n" : "bad\n");
	MPI_Finalize();
	return 0;
}
