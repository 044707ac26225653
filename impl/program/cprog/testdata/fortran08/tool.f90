! A profiling tool for one function: it counts calls.
subroutine MPI_Ssend_f08ts(buf, count, datatype, dest, tag, comm, ierror)
  use mpi_f08, only: MPI_Datatype, MPI_Comm, PMPI_Ssend
  implicit none
  type(*), dimension(..), intent(in) :: buf
  integer, intent(in) :: count, dest, tag
  type(MPI_Datatype), intent(in) :: datatype
  type(MPI_Comm), intent(in) :: comm
  integer, optional, intent(out) :: ierror
  integer :: calls
  common /tool/ calls
  calls = calls + 1
  call PMPI_Ssend(buf, count, datatype, dest, tag, comm, ierror)
end subroutine
