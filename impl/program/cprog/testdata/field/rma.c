/* A window that is allocated, fenced and freed: it did not link. */
#include <mpi.h>
int main(int c,char**v){MPI_Init(&c,&v);int*b;MPI_Win w;MPI_Win_allocate(8,4,MPI_INFO_NULL,MPI_COMM_WORLD,&b,&w);MPI_Win_fence(0,w);MPI_Win_free(&w);MPI_Finalize();}
