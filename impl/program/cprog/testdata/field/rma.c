/* A window that is allocated, fenced and freed: it did not link. The operations of accumulates alone do not commute. */
#include <mpi.h>
int main(int c,char**v){MPI_Init(&c,&v);int*b,replace=1,none=1,sum=0;MPI_Win w;MPI_Win_allocate(8,4,MPI_INFO_NULL,MPI_COMM_WORLD,&b,&w);MPI_Win_fence(0,w);MPI_Win_free(&w);
MPI_Op_commutative(MPI_REPLACE,&replace);MPI_Op_commutative(MPI_NO_OP,&none);MPI_Op_commutative(MPI_SUM,&sum);MPI_Finalize();return replace||none||!sum;}
