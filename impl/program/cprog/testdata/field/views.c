/* The elements of a file's view lie in ascending order. They overlap only if nothing is written. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	struct { const char *name; int lengths[3], places[3]; } types[] = {
		{"before the file", {1, 1, 1}, {-1, 0, 1}}, {"descending", {1, 1, 1}, {0, 4, 2}},
		{"overlapping", {2, 3, 1}, {0, 1, 6}},      {"touching", {2, 2, 1}, {0, 2, 4}},
	};
	int modes[] = {MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE};
	MPI_Init(&argc, &argv);
	for (int m = 0; m < 2; m++) {
		MPI_File f;
		MPI_File_open(MPI_COMM_SELF, "views.data", modes[m], MPI_INFO_NULL, &f);
		for (int i = 0; i < 4; i++) {
			MPI_Datatype t;
			int whole, part, lower;
			MPI_Type_indexed(3, types[i].lengths, types[i].places, MPI_DOUBLE, &t);
			MPI_Type_commit(&t);
			MPI_Error_class(MPI_File_set_view(f, 8, t, t, "native", MPI_INFO_NULL), &whole);
			MPI_Error_class(MPI_File_set_view(f, 8, MPI_DOUBLE, t, "native", MPI_INFO_NULL), &part);
			MPI_Error_class(MPI_File_set_view(f, 8, MPI_BYTE, t, "native", MPI_INFO_NULL), &lower);
			printf("%s %d%d%d%s", types[i].name, whole == MPI_ERR_IO, part == MPI_ERR_IO, lower == MPI_ERR_IO, i < 3 ? ", " : "\n");
			MPI_Type_free(&t);
		}
		MPI_File_close(&f);
	}
	MPI_Finalize();
	return 0;
}
