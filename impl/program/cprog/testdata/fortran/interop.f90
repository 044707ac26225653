! What Fortran has beside C: MPI_SIZEOF, weights that are no array of the program's, extra states that procedures
! change, predefined procedures that a program calls, lengths of texts, and attributes that both languages read.
module procedures
contains
  subroutine query(state, status, ierror)
    use mpi
    integer(MPI_ADDRESS_KIND) :: state
    integer :: status(MPI_STATUS_SIZE), ierror
    call MPI_Status_set_cancelled(status, .false., ierror)
    call MPI_Status_set_elements(status, MPI_BYTE, 0, ierror)
  end subroutine
  subroutine release(state, ierror)
    use mpi
    integer(MPI_ADDRESS_KIND) :: state
    integer :: ierror
    state = state - 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel(state, complete, ierror)
    use mpi
    integer(MPI_ADDRESS_KIND) :: state
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
  subroutine check(ok, what)
    logical, intent(in) :: ok
    character(*), intent(in) :: what
    if (.not. ok) print '(2a)', 'wrong: ', what
  end subroutine
end module

program interop
  use mpi
  use procedures
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function get_in_c(comm, key, value, flag) bind(C, name='MPI_Comm_get_attr')
      import
      integer(c_intptr_t), value :: comm
      integer(c_int), value :: key
      type(c_ptr) :: value
      integer(c_int) :: flag
    end function
    integer(c_int) function set_in_c(comm, key, value) bind(C, name='MPI_Comm_set_attr')
      import
      integer(c_intptr_t), value :: comm
      integer(c_int), value :: key
      type(c_ptr), value :: value
    end function
  end interface
  integer :: ierror, n, request, info, key, graph, copy, buffer(4), c_flag
  integer(MPI_ADDRESS_KIND) :: state, value, other
  integer(MPI_ADDRESS_KIND), target :: number
  integer(MPI_ADDRESS_KIND), pointer :: there
  type(c_ptr) :: address
  real(8) :: matrix(3, 3)
  complex :: z
  character(5) :: text
  logical :: flag

  call MPI_Init(ierror)
  call MPI_Sizeof(matrix, n, ierror)
  call check(n == 8, 'size of real(8)')
  call MPI_Sizeof(z, n, ierror)
  call check(n == 8, 'size of complex')
  call MPI_Sizeof(text, n, ierror)
  call check(n == 1, 'size of character')
  call check(MPI_LONG_LONG_INT == MPI_LONG_LONG .and. MPI_C_COMPLEX == MPI_C_FLOAT_COMPLEX, 'synonyms')

  call MPI_Dist_graph_create(MPI_COMM_SELF, 1, (/0/), (/0/), (/0/), MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierror)
  call MPI_Dist_graph_neighbors_count(graph, n, n, flag, ierror)
  call check(.not. flag, 'weights of an unweighted graph')
  call MPI_Comm_free(graph, ierror)
  buffer = 7
  call MPI_Alltoallv(MPI_IN_PLACE, 0, 0, MPI_DATATYPE_NULL, buffer, (/1/), (/0/), MPI_INTEGER, MPI_COMM_SELF, ierror)
  call check(buffer(1) == 7, 'MPI_Alltoallv in place')

  state = 5
  call MPI_Grequest_start(query, release, cancel, state, request, ierror)
  call MPI_Grequest_complete(request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call check(state == 4, 'extra state of a generalized request')

  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, 'key', 'four', ierror)
  n = 0
  text = 'none'
  call MPI_Info_get_string(info, 'key', n, text, flag, ierror)
  call check(flag .and. n == 4 .and. text == 'none', 'length of a value')
  n = 5
  call MPI_Info_get_string(info, 'key', n, text, flag, ierror)
  call check(n == 4 .and. text == 'four', 'value')
  n = 2
  call MPI_Info_get_string(info, 'key', n, text, flag, ierror)
  call check(n == 4 .and. text == 'fo', 'beginning of a value')
  n = 5
  call MPI_Info_get_string(info, 'other', n, text, flag, ierror)
  call check(.not. flag .and. text == 'fo', 'value that is not there')
  call MPI_Info_free(info, ierror)

  flag = .false.
  call MPI_COMM_DUP_FN(MPI_COMM_SELF, 0, 0_MPI_ADDRESS_KIND, 3_MPI_ADDRESS_KIND, value, flag, ierror)
  call check(flag .and. value == 3, 'MPI_COMM_DUP_FN')
  call MPI_WIN_NULL_COPY_FN(MPI_WIN_NULL, 0, 0_MPI_ADDRESS_KIND, 3_MPI_ADDRESS_KIND, value, flag, ierror)
  call check(.not. flag, 'MPI_WIN_NULL_COPY_FN')

  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_set_attr(MPI_COMM_SELF, key, 1234567890123_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_dup(MPI_COMM_SELF, copy, ierror)
  ierror = get_in_c(int(copy, c_intptr_t), key, address, c_flag)
  call c_f_pointer(address, there)
  call check(c_flag == 1 .and. there == 1234567890123_MPI_ADDRESS_KIND, 'attribute of Fortran in C')
  ierror = set_in_c(int(copy, c_intptr_t), key, c_loc(number))
  call MPI_Comm_get_attr(copy, key, value, flag, ierror)
  call check(value == transfer(c_loc(number), other), 'attribute of C in Fortran')
  call MPI_Comm_get_attr(MPI_COMM_SELF, key, value, flag, ierror)
  call check(flag .and. value == 1234567890123_MPI_ADDRESS_KIND, 'attribute of Fortran in Fortran')
  call MPI_Comm_free(copy, ierror)
  call MPI_Comm_free_keyval(key, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, n, ierror)
  call MPI_Finalize(ierror)
  if (n == 0) print '(a)', 'ok'
end program
