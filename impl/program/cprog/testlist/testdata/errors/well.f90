program well
  use mpi
  implicit none
  integer :: error
  call MPI_Init(error)
  call MPI_Finalize(error)
end program
