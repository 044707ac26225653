package host

import "strings"

// checkMPI checks whether an MPI is installed and able to start ranks.
func checkMPI(p *Inspection) CheckResult {
	compiler := p.Getenv("MPICC")
	if compiler == "" {
		compiler = "mpicc"
	}
	compiles := p.ProgramPath(compiler)
	starter := "mpirun"
	launcher := p.ProgramPath(starter)
	if launcher == "" {
		starter = "mpiexec"
		launcher = p.ProgramPath(starter)
	}
	switch {
	case compiles == "":
		return okResult("no %s", compiler).withVerdict(Note, "--platform mpi needs one", "install one (Debian: openmpi-bin libopenmpi-dev), or name it: --mpicc, MPICC")
	case launcher == "":
		return okResult("%s, and there is neither mpirun nor mpiexec", formatProgramPath(compiler, compiles)).withVerdict(Note, "--platform mpi needs something to start ranks", "name it with --launcher, such as 'srun -n 2'")
	}
	f := okResult("%s, %s", formatProgramPath(compiler, compiles), formatProgramPath(starter, launcher))
	open := strings.Contains(launcher, "openmpi") || strings.HasSuffix(launcher, "orterun") || strings.HasSuffix(launcher, "prterun")
	if p.IsRoot && open && (p.Getenv("OMPI_ALLOW_RUN_AS_ROOT") != "1" || p.Getenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") != "1") {
		return f.withVerdict(Note, "Open MPI does not run as root: --platform mpi will be refused", "measure as another user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	}
	return f
}

// formatProgramPath names a program as it is called, and the file to which its links lead.
func formatProgramPath(name, file string) string {
	if name == file {
		return name
	}
	return name + " is " + file
}

// minDevShm is the least free space in /dev/shm for other MPI libraries.
const minDevShm = 128 << 20

// checkDevShm checks /dev/shm, in which MPI libraries keep the shared memory of their ranks.
func checkDevShm(p *Inspection) CheckResult {
	const why = "MPI libraries put there what their ranks share (this program does not): they fail, or are slower"
	switch {
	case p.FreeDevShm < 0:
		return okResult("missing").withVerdict(Note, why, "mount a tmpfs there")
	case p.FreeDevShm < minDevShm:
		return okResult("%s free", formatBytes(p.FreeDevShm)).withVerdict(Note, why, "mount -o remount,size=1g /dev/shm (docker: --shm-size 1g)")
	}
	return okResult("%s free", formatBytes(p.FreeDevShm))
}
