! A program that starts itself. Parents print what the children tell them.
#ifdef F08
#define COMM type(MPI_Comm)
#define INFO type(MPI_Info)
#else
#define COMM integer
#define INFO integer
#endif
program suite
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  character(len=256) :: program_name
  character(len=16) :: arguments(3), commands(2), several(2, 3)
  character(len=256) :: paths(2)
  character(len=MPI_MAX_PORT_NAME) :: port, found
  COMM :: parent, inter, half
  INFO :: infos(2)
  integer :: e, rank, codes(3), counts(2), n, total
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: flag

  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call get_command_argument(0, program_name)
  call MPI_Comm_get_parent(parent, e)
  if (parent /= MPI_COMM_NULL) then
    call tell(parent)
    call MPI_Comm_disconnect(parent, e)
    call MPI_Finalize(e)
    stop
  end if

  codes = -1
  arguments = [character(len=16) :: 'one', ' two  words', ' ']
  call MPI_Comm_spawn(program_name, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes, e)
  call hear('arguments', inter)
  if (rank == 0) print '(a,3l2)', 'codes', codes == MPI_SUCCESS

  call MPI_Comm_spawn(program_name, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE, e)
  call hear('no arguments', inter)

  paths = program_name
  several(1, :) = [character(len=16) :: 'first', 'command', ' ']
  several(2, :) = [character(len=16) :: 'second', ' ', ' ']
  counts = [1, 2]
  infos = MPI_INFO_NULL
  codes = -1
  call MPI_Comm_spawn_multiple(2, paths, several, counts, infos, 0, MPI_COMM_WORLD, inter, codes, e)
  call hear('several', inter)
  if (rank == 0) print '(a,3l2)', 'codes', codes == MPI_SUCCESS

  call MPI_Comm_spawn_multiple(2, paths, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE, e)
  call hear('several without arguments', inter)

  port = ' '
  if (rank == 0) then
    call MPI_Open_port(MPI_INFO_NULL, port, e)
    call MPI_Publish_name('in Fortran', MPI_INFO_NULL, port, e)
  end if
  call MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 0, MPI_COMM_WORLD, e)
  call MPI_Lookup_name('in Fortran', MPI_INFO_NULL, found, e)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, e)
  if (mod(rank, 2) == 0) then
    call MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, inter, e)
  else
    call MPI_Comm_connect(found, MPI_INFO_NULL, 0, half, inter, e)
  end if
  call MPI_Comm_remote_size(inter, n, e)
  call MPI_Allreduce(n, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
  if (rank == 0) then
    print '(a,l2,i3)', 'port', port == found, total
    call MPI_Unpublish_name('in Fortran', MPI_INFO_NULL, port, e)
    call MPI_Close_port(port, e)
  end if
  call MPI_Comm_disconnect(inter, e)
  call MPI_Finalize(e)

contains

  subroutine tell(to)
    COMM :: to
    character(len=200) :: line
    character(len=32) :: word
    integer :: i
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, value, flag, e)
    write (line, '(i0,a,i0)') rank, ' of command ', value
    do i = 1, command_argument_count()
      call get_command_argument(i, word)
      line = trim(line)//' <'//trim(word)//'>'
    end do
    call MPI_Send(line, 200, MPI_CHARACTER, 0, 0, to, e)
  end subroutine

  subroutine hear(name, from)
    character(len=*) :: name
    COMM :: from
    character(len=200) :: line
    integer :: i, m
    call MPI_Comm_remote_size(from, m, e)
    if (rank == 0) then
      do i = 0, m - 1
        call MPI_Recv(line, 200, MPI_CHARACTER, i, 0, from, MPI_STATUS_IGNORE, e)
        print '(4a)', name, ': ', trim(line)
      end do
    end if
    call MPI_Comm_disconnect(from, e)
  end subroutine
end program
