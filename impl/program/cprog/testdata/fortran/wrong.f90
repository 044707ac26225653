! What goes wrong, by the first argument.
program wrong
  use mpi
  implicit none
  integer :: rank, e, x(4), n
  character(len=20) :: how
  call get_command_argument(1, how)
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  write(*, '(a)') 'before'
  n = 5
  select case (how)
  case ('deadlock')
    call MPI_Recv(x, 1, MPI_INTEGER, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e) ! deadlock
  case ('bounds')
    if (rank == 1) x(n) = 1 ! bounds
  case ('stop')
    if (rank == 1) stop 7
  case ('error stop')
    if (rank == 1) error stop 'enough'
  case ('file')
    if (rank == 1) open(10, file='/nowhere/file', status='old')
  case ('without finalize')
    if (rank == 1) stop
  end select
  call MPI_Barrier(MPI_COMM_WORLD, e)
  call MPI_Finalize(e)
end program
