/* Errors of files, and data representations. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

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
	MPI_Error_class(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL), &class);
	good = good && class == MPI_ERR_UNSUPPORTED_DATAREP;
	MPI_Error_class(MPI_File_read_all_end(f, &rank, MPI_STATUS_IGNORE), &class);
	good = good && class == MPI_ERR_OTHER;
	MPI_File_close(&f);
	MPI_Error_class(MPI_File_sync(f), &class);
	good = good && class == MPI_ERR_FILE;
	if (rank == 0) printf(good ? "ok\n" : "bad\n");
	MPI_Finalize();
	return 0;
}
