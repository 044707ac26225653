! Files: what NPB BT-IO and IOR do with them, in module mpi_f08.
program files
  use mpi_f08
  implicit none
  integer, parameter :: columns = 3, rows = 4
  integer :: rank, size, e, i, n, amode
  integer :: block(rows, columns), back(rows, columns), words(8)
  integer(kind=MPI_OFFSET_KIND) :: offset, bytes
  integer(kind=MPI_ADDRESS_KIND) :: extent
  logical :: flag
  character(len=200) :: path
  character(len=MPI_MAX_INFO_VAL) :: hint
  character(len=MPI_MAX_DATAREP_STRING) :: representation
  type(MPI_File) :: f
  type(MPI_Info) :: info
  type(MPI_Status) :: s
  type(MPI_Request) :: request
  type(MPI_Datatype) :: slab, etype, filetype

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call get_environment_variable('TMPDIR', path)
  if (path == '') path = '/tmp'
  write (path, '(a,i0)') trim(path)//'/loggp-fortran-', getpid()
  call MPI_Bcast(path, 200, MPI_CHARACTER, 0, MPI_COMM_WORLD)

  ! A matrix of which each rank has some columns, by a view.
  block = reshape([(100*rank + i, i = 1, rows*columns)], [rows, columns])
  call MPI_Type_create_subarray(2, [rows, columns*size], [rows, columns], [0, columns*rank], MPI_ORDER_FORTRAN, MPI_INTEGER, slab)
  call MPI_Type_commit(slab)
  call MPI_Info_create(info)
  call MPI_Info_set(info, 'cb_buffer_size', '65536')
  call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, info, f)
  call MPI_Info_free(info)
  call MPI_File_set_view(f, 0_MPI_OFFSET_KIND, MPI_INTEGER, slab, 'native', MPI_INFO_NULL)
  call MPI_File_write_all(f, block, rows*columns, MPI_INTEGER, s)
  call MPI_Get_count(s, MPI_INTEGER, n)
  call say('written', [n])
  call MPI_File_get_view(f, offset, etype, filetype, representation)
  call say('view', [int(offset), merge(1, 0, etype == MPI_INTEGER), merge(1, 0, representation == 'native')])
  call MPI_File_seek(f, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
  back = 0
  call MPI_File_read_all(f, back, rows*columns, MPI_INTEGER, s)
  call say('read', [merge(1, 0, all(back == block))])
  call MPI_File_get_position(f, offset)
  call MPI_File_get_byte_offset(f, 2_MPI_OFFSET_KIND, bytes)
  call say('position', [int(offset), int(bytes) - 4*rows*columns*rank])
  call MPI_File_get_type_extent(f, slab, extent)
  call say('extent', [int(extent)])
  call MPI_File_close(f)
  call say('closed', [merge(1, 0, f == MPI_FILE_NULL)])
  call MPI_Type_free(slab)

  ! The same file without a view, with explicit offsets.
  call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_RDWR, MPI_INFO_NULL, f)
  call MPI_File_get_size(f, bytes)
  call MPI_File_get_amode(f, amode)
  call say('size', [int(bytes), merge(1, 0, amode == MPI_MODE_RDWR)])
  offset = 4*rows*columns*mod(rank + 1, size)
  call MPI_File_read_at(f, offset, words, 8, MPI_INTEGER, s)
  call say('next', words)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_iwrite_at(f, offset, [-rank], 1, MPI_INTEGER, request)
  call MPI_Wait(request, s)
  call MPI_File_sync(f)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_File_read_at_all(f, int(4*rows*columns*rank, MPI_OFFSET_KIND), words, 2, MPI_INTEGER, s)
  call say('changed', words(1:2))

  ! The shared pointer, in the order of ranks.
  call MPI_File_seek_shared(f, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
  call MPI_File_write_ordered(f, [(1000*rank + i, i = 1, rank + 1)], 4*(rank + 1), MPI_BYTE, s)
  call MPI_File_get_position_shared(f, offset)
  call say('shared', [int(offset)])
  call MPI_File_seek(f, -4_MPI_OFFSET_KIND, MPI_SEEK_END)
  call MPI_File_read(f, words, 1, MPI_INTEGER, s)
  call say('last', words(1:1))
  call MPI_File_write_at_all_begin(f, int(8*rank, MPI_OFFSET_KIND), [rank, -rank], 2, MPI_INTEGER)
  call MPI_File_write_at_all_end(f, [rank, -rank], s)
  call MPI_File_set_atomicity(f, .true.)
  call MPI_File_get_atomicity(f, flag)
  call say('atomic', [merge(1, 0, flag)])
  call MPI_File_set_size(f, 20_MPI_OFFSET_KIND)
  call MPI_File_get_size(f, bytes)
  call MPI_File_get_info(f, info)
  call MPI_Info_get(info, 'no such hint', MPI_MAX_INFO_VAL - 1, hint, flag)
  call MPI_Info_free(info)
  call say('cut', [int(bytes), merge(1, 0, flag)])
  call MPI_File_read_at(f, 12_MPI_OFFSET_KIND, words, 8, MPI_INTEGER, s)
  call MPI_Get_count(s, MPI_INTEGER, n)
  call say('end', [n])
  call MPI_File_close(f)

  ! Errors are returned.
  call MPI_File_open(MPI_COMM_WORLD, trim(path)//'.none', MPI_MODE_RDONLY, MPI_INFO_NULL, f, e)
  call MPI_Error_class(e, n)
  call say('none', [merge(1, 0, n == MPI_ERR_NO_SUCH_FILE)])
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call MPI_File_delete(trim(path), MPI_INFO_NULL)
  call MPI_Finalize()
contains
  ! Rank 0 prints the numbers of all ranks.
  subroutine say(name, x)
    character(len=*), intent(in) :: name
    integer, intent(in) :: x(:)
    integer :: y(10), r
    if (rank > 0) then
      call MPI_Send(x, ubound(x, 1), MPI_INTEGER, 0, 0, MPI_COMM_WORLD)
      return
    end if
    print '(a,1x,10(1x,i0))', name//' 0:', x
    do r = 1, size - 1
      call MPI_Recv(y, ubound(x, 1), MPI_INTEGER, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      print '(a,1x,i0,a,10(1x,i0))', name, r, ':', y(1:ubound(x, 1))
    end do
  end subroutine
end program
