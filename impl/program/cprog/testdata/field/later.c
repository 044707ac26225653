/* Functions of MPI 4.1, which other libraries of the tests have not. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(x) \
	if (!(x)) printf("line %d: " #x "\n", __LINE__)

static void statuses(void) {
	MPI_Status s;
	MPI_F08_status f;
	int source, tag, error, x = 1, y;
	MPI_Sendrecv(&x, 1, MPI_INT, 0, 7, &y, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &s);
	MPI_Status_get_source(&s, &source);
	MPI_Status_get_tag(&s, &tag);
	CHECK(source == 0 && tag == 7);
	MPI_Status_set_source(&s, 3);
	MPI_Status_set_tag(&s, 4);
	MPI_Status_set_error(&s, MPI_ERR_OTHER);
	MPI_Status_get_error(&s, &error);
	CHECK(s.MPI_SOURCE == 3 && s.MPI_TAG == 4 && s.MPI_ERROR == MPI_ERR_OTHER && error == MPI_ERR_OTHER);
	MPI_Status_c2f08(&s, &f);
	s.MPI_TAG = 0;
	MPI_Status_f082c(&f, &s);
	CHECK(s.MPI_TAG == 4);
}

static void requests(void) {
	MPI_Request q[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	MPI_Status s[3];
	int x[2] = {5, 6}, y[2], flag, index, found, indices[3];
	MPI_Request_get_status_all(3, q, &flag, s);
	CHECK(flag == 1 && s[0].MPI_SOURCE == MPI_ANY_SOURCE);
	MPI_Request_get_status_any(3, q, &index, &flag, s);
	CHECK(flag == 1 && index == MPI_UNDEFINED);
	MPI_Request_get_status_some(3, q, &found, indices, s);
	CHECK(found == MPI_UNDEFINED);
	MPI_Irecv(&y[0], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &q[0]);
	MPI_Irecv(&y[1], 1, MPI_INT, 0, 2, MPI_COMM_SELF, &q[2]);
	MPI_Request_get_status_all(3, q, &flag, s);
	CHECK(flag == 0);
	MPI_Request_get_status_any(3, q, &index, &flag, s);
	CHECK(flag == 0 && index == MPI_UNDEFINED);
	MPI_Request_get_status_some(3, q, &found, indices, s);
	CHECK(found == 0);
	MPI_Send(&x[1], 1, MPI_INT, 0, 2, MPI_COMM_SELF);
	do MPI_Request_get_status_any(3, q, &index, &flag, s); while (!flag);
	CHECK(index == 2 && s[0].MPI_TAG == 2 && q[2] != MPI_REQUEST_NULL);
	MPI_Request_get_status_some(3, q, &found, indices, s);
	CHECK(found == 1 && indices[0] == 2 && s[0].MPI_TAG == 2);
	MPI_Send(&x[0], 1, MPI_INT, 0, 1, MPI_COMM_SELF);
	do MPI_Request_get_status_all(3, q, &flag, s); while (!flag);
	CHECK(s[0].MPI_TAG == 1 && s[2].MPI_TAG == 2);
	MPI_Waitall(3, q, s);
	CHECK(y[0] == 5 && y[1] == 6);
}

static void errors(void) {
	int class, code, n, length;
	char text[MPI_MAX_ERROR_STRING];
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Add_error_class(&class);
	MPI_Add_error_code(class, &code);
	MPI_Add_error_string(code, "of mine");
	CHECK(MPI_Remove_error_class(class) != MPI_SUCCESS);
	CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS);
	CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS && length == 0);
	CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS);
	CHECK(MPI_Error_class(code, &n) != MPI_SUCCESS);
	CHECK(MPI_Remove_error_code(code) != MPI_SUCCESS);
	CHECK(MPI_Remove_error_class(class) == MPI_SUCCESS);
	CHECK(MPI_Remove_error_class(MPI_ERR_RANK) != MPI_SUCCESS);
}

int main(int argc, char **argv) {
	MPI_Datatype t;
	MPI_Info info;
	MPI_Request q;
	int n, x = 4, y, size;
	static char room[1000 + MPI_BSEND_OVERHEAD];
	void *back;
	MPI_Init(&argc, &argv);
	statuses();
	requests();
	errors();
	MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &t);
	CHECK(t == MPI_DOUBLE_INT);
	MPI_Type_get_value_index(MPI_DOUBLE, MPI_LONG, &t);
	CHECK(t == MPI_DATATYPE_NULL);
	MPI_Get_hw_resource_info(&info);
	CHECK(MPI_Info_get_nkeys(info, &n) == MPI_SUCCESS);
	MPI_Info_free(&info);
	MPI_Buffer_flush();
	MPI_Buffer_attach(room, sizeof room);
	MPI_Bsend(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
	MPI_Recv(&y, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	MPI_Buffer_flush();
	MPI_Buffer_iflush(&q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Bsend(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
	MPI_Recv(&y, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	MPI_Buffer_detach(&back, &size);
	CHECK(back == room && size == sizeof room);
	MPI_Finalize();
	return 0;
}
