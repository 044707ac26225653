! Arguments of kind MPI_COUNT_KIND choose the functions with large counts.
program large
  use mpi_f08
  implicit none
  integer :: rank, size, ierror, i
  integer :: x(4), y(4)
  integer(MPI_COUNT_KIND) :: n, counts(8)
  integer(MPI_ADDRESS_KIND) :: at(8)
  type(MPI_Status) :: s
  type(MPI_Datatype) :: t
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  x = [rank, 1, 2, 3]
  call MPI_Sendrecv(x, 3_MPI_COUNT_KIND, MPI_INTEGER, mod(rank + 1, size), 0, y, 4_MPI_COUNT_KIND, MPI_INTEGER, mod(rank + size - 1, size), 0, &
    MPI_COMM_WORLD, s)
  call MPI_Get_count(s, MPI_INTEGER, n)
  if (n /= 3 .or. y(1) /= mod(rank + size - 1, size)) print *, 'receive', n, y(1)
  do i = 1, size
    counts(i) = 1
    at(i) = size - i
  end do
  call MPI_Allgatherv(x, 1_MPI_COUNT_KIND, MPI_INTEGER, y, counts, at, MPI_INTEGER, MPI_COMM_WORLD)
  if (y(1) /= size - 1) print *, 'gather', y(1)
  call MPI_Type_contiguous(3000000000_MPI_COUNT_KIND, MPI_INTEGER, t)
  call MPI_Type_size(t, n)
  if (n /= 12000000000_MPI_COUNT_KIND) print *, 'size', n
  call MPI_Type_free(t)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Send(x, 2_MPI_COUNT_KIND**61, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, ierror)
  if (ierror /= MPI_ERR_COUNT) print *, 'count', ierror
  call MPI_Finalize()
  if (rank == 0) print '(a)', 'ok'
end program
