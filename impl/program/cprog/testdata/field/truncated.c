#include <mpi.h>
#include <stdio.h>
#include <string.h>
/* Every form of receive truncates messages of several lengths; the next message is right. As MPICH. */
static int b[100000];
int main(int c, char **v) {
	int r, bad = 0; MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &r);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	int sizes[] = {10, 1000, 100000};
	for (int i = 0; i < 3; i++) for (int how = 0; how < 4; how++) {
		if (!r) { MPI_Send(b, sizes[i], MPI_INT, 1, 0, MPI_COMM_WORLD); int x = 7 + i; MPI_Send(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD); }
		else {
			int e = 0, k = 0, x = 0; MPI_Request q, q2[2]; MPI_Status st[2];
			int small[3]={0,0,-5};
			if (how == 0) e = MPI_Recv(small, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (how == 1) { MPI_Irecv(small, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, &q); e = MPI_Wait(&q, MPI_STATUS_IGNORE); if (q != MPI_REQUEST_NULL) bad++; }
			if (how == 2) { MPI_Irecv(small, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, &q); int f = 0; while (!f && !e) e = MPI_Test(&q, &f, MPI_STATUS_IGNORE); }
			if (how == 3) { MPI_Irecv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, q2+1); MPI_Irecv(small, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, q2); e = MPI_Waitall(2, q2, st); MPI_Error_class(e, &k); if (k != MPI_ERR_IN_STATUS) {bad++; printf("class %d\n", k);} e = st[0].MPI_ERROR; 
				if (st[1].MPI_ERROR == MPI_ERR_PENDING) MPI_Wait(q2+1, MPI_STATUS_IGNORE); }
			MPI_Error_class(e, &k);
			if (k != MPI_ERR_TRUNCATE || small[2] != -5) { bad++; printf("size %d how %d: class %d\n", sizes[i], how, k); }
			if (how != 3) MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (x != 7 + i) { bad++; printf("size %d how %d: next is %d\n", sizes[i], how, x); }
		}
	}
	if (r) printf("bad %d\n", bad);
	MPI_Finalize();
	return 0;
}
