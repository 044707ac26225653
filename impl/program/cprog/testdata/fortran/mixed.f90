! A program in Fortran and C: handles, addresses and absolute datatypes are the same in both.
program mixed
  use mpi
  implicit none
  integer :: array(5), wrong, total, e, type, comm, rank, n, old(1), got(5)
  integer(MPI_ADDRESS_KIND) :: address(1), in_c
  call MPI_Init(e)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, e)
  call MPI_Comm_rank(comm, rank, e)
  call MPI_Comm_size(comm, n, e)
  array = [1, 2, 3, 4, 5]
  wrong = 0
  call MPI_Get_address(array, address(1), e)
  call address_in_c(array, in_c)
  if (address(1) /= in_c) wrong = wrong + 1
  call MPI_Get_address(MPI_BOTTOM, in_c, e)
  if (in_c /= 0) wrong = wrong + 1
  call MPI_Type_create_struct(1, [5], address, [MPI_INTEGER], type, e)
  call MPI_Type_commit(type, e)
  call other_language(type, comm, wrong)
  ! The same here.
  got = 0
  call MPI_Sendrecv(MPI_BOTTOM, 1, type, rank, 0, got, 5, MPI_INTEGER, rank, 0, comm, MPI_STATUS_IGNORE, e)
  if (any(got /= array)) wrong = wrong + 1
  call MPI_Type_free(type, e)
  ! Addresses of MPI-1, in default integers, may be used beside them.
  call in_common
  call MPI_Comm_free(comm, e)
  call MPI_Reduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, e)
  if (rank == 0) print '(a,i0)', 'wrong ', total
  call MPI_Finalize(e)
contains
  subroutine in_common
    integer :: numbers(3)
    common /shared/ numbers
    numbers = [7, 8, 9]
    call MPI_Address(numbers, old(1), e)
    call MPI_Type_struct(1, [3], old, [MPI_INTEGER], type, e)
    call MPI_Type_commit(type, e)
    got = 0
    call MPI_Sendrecv(MPI_BOTTOM, 1, type, rank, 0, got, 3, MPI_INTEGER, rank, 0, comm, MPI_STATUS_IGNORE, e)
    if (any(got(1:3) /= numbers)) wrong = wrong + 1
    call MPI_Type_free(type, e)
  end subroutine
end program
