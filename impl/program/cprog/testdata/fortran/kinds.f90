! Numbers of all kinds of the compiler: their datatypes by name, by kind and by size.
program kinds
  use mpi
  implicit none
  integer, parameter :: wide = selected_real_kind(33, 4931), long = selected_int_kind(38), extended = selected_real_kind(18)
  real(wide) :: q, q_sum
  complex(wide) :: z, z_product
  real(extended) :: x, x_sum
  integer(long) :: i, i_sum
  integer(1) :: small, small_sum
  logical(8) :: yes, all_of
  integer :: rank, n, e, r, t, again, bytes, wrong, total
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call MPI_Comm_size(MPI_COMM_WORLD, n, e)
  wrong = 0
  q = 1 / (3.0_wide + rank)
  call MPI_Allreduce(q, q_sum, 1, MPI_REAL16, MPI_SUM, MPI_COMM_WORLD, e)
  call check(abs(q_sum - sum([(1 / (3.0_wide + r), r = 0, n - 1)])) < 1e-32_wide, 'MPI_REAL16')
  call MPI_Type_create_f90_real(33, 4931, t, e)
  call MPI_Allreduce(q, q_sum, 1, t, MPI_MAX, MPI_COMM_WORLD, e)
  call check(q_sum == 1 / 3.0_wide, 'f90_real(33)')
  z = cmplx(1, rank + 1, wide)
  call MPI_Allreduce(z, z_product, 1, MPI_COMPLEX32, MPI_PROD, MPI_COMM_WORLD, e)
  call check(abs(z_product - product([(cmplx(1, r + 1, wide), r = 0, n - 1)])) < 1e-25_wide, 'MPI_COMPLEX32')
  call MPI_Type_create_f90_complex(33, MPI_UNDEFINED, t, e)
  call MPI_Sendrecv(z, 1, t, rank, 0, z_product, 1, MPI_COMPLEX32, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
  call check(z == z_product, 'f90_complex(33)')
  x = 0.5_extended + rank
  call MPI_Type_create_f90_real(18, MPI_UNDEFINED, t, e)
  call MPI_Allreduce(x, x_sum, 1, t, MPI_SUM, MPI_COMM_WORLD, e)
  call check(x_sum == n / 2.0_extended + n * (n - 1) / 2, 'f90_real(18)')
  i = 10_long**30 + rank
  call MPI_Allreduce(i, i_sum, 1, MPI_INTEGER16, MPI_SUM, MPI_COMM_WORLD, e)
  call check(i_sum == n * 10_long**30 + n * (n - 1) / 2, 'MPI_INTEGER16')
  call MPI_Type_create_f90_integer(38, t, e)
  call MPI_Allreduce(i, i_sum, 1, t, MPI_MAX, MPI_COMM_WORLD, e)
  call check(i_sum == 10_long**30 + n - 1, 'f90_integer(38)')
  small = int(rank, 1)
  call MPI_Type_create_f90_integer(2, t, e)
  call MPI_Type_create_f90_integer(2, again, e)
  call MPI_Allreduce(small, small_sum, 1, t, MPI_SUM, MPI_COMM_WORLD, e)
  call check(small_sum == n * (n - 1) / 2 .and. t == again, 'f90_integer(2)')
  yes = rank /= 0
  call MPI_Allreduce(yes, all_of, 1, MPI_LOGICAL8, MPI_LAND, MPI_COMM_WORLD, e)
  call check(logical(.not. all_of, kind(.true.)), 'MPI_LOGICAL8')
  call MPI_Type_match_size(MPI_TYPECLASS_REAL, storage_size(q) / 8, t, e)
  call MPI_Type_size(t, bytes, e)
  call check(t == MPI_REAL16 .and. bytes == 16, 'match_size')
  call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
  if (rank == 0 .and. total == 0) print '(a)', 'ok'
  call MPI_Finalize(e)
contains
  subroutine check(ok, what)
    logical, intent(in) :: ok
    character(len=*), intent(in) :: what
    if (.not. ok) then
      wrong = wrong + 1
      print '(a)', what
    end if
  end subroutine
end program
