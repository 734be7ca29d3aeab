package serve

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Harden makes this process non-dumpable. Other processes of the same user, including its children,
// can then neither trace it nor read its memory, which contains secrets. Only processes with the
// capability to trace others still can.
func Harden() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// bind makes the kernel kill a command's process when the thread that starts it ends.
func bind(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = unix.SIGKILL
}

// confine sets the walls of this process that must be set while it can open files. It omits those
// that the system does not support.
func confine() (Walls, error) {
	var w Walls
	// Make the runtime open its files for waiting now, since it cannot open them later.
	r, p, err := os.Pipe()
	if err == nil {
		err = errors.Join(r.Close(), p.Close())
	}
	if err != nil {
		return w, err
	}
	// When memory runs short, the kernel should kill this process before the server. Failing to set
	// this is no error.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if err := Harden(); err != nil {
		return w, err
	}
	// bind has set this only for the first thread, which may differ from this one. If the server
	// has died since then, the pipe is closed.
	w.Orphans = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) == nil
	w.Landlock, err = landlock()
	return w, err
}

// close installs the filter of system calls of a phase.
func (w *Walls) close(p phase) error {
	if p == sealing {
		if !w.Seccomp {
			return nil
		}
		_, err := setFilter(sealed())
		return err
	}
	runtime.LockOSThread() // no_new_privs belongs to this thread until the filter is set
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	var err error
	w.Seccomp, err = setFilter(filter(allowed(os.Getpid())))
	return err
}

// landlock removes all rights to files, TCP ports, and other processes from all threads of this
// process. It returns the version of Landlock. The version is 0 if the kernel has none, or if the
// program has C code, whose threads Go does not know.
func landlock() (version int, err error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, nil // ENOSYS, EOPNOTSUPP, or EPERM in a container
	}
	// Handle all rights that the version knows. Without rules, they are all denied.
	rights := unix.LandlockRulesetAttr{Handled_access_fs: 1<<13 - 1}
	size := unsafe.Offsetof(rights.Handled_access_net)
	for _, more := range []struct {
		version int
		fs      uint64
		net     uint64
		scoped  uint64
	}{
		{2, unix.LANDLOCK_ACCESS_FS_REFER, 0, 0},
		{3, unix.LANDLOCK_ACCESS_FS_TRUNCATE, 0, 0},
		{4, 0, unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, 0},
		{5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV, 0, 0},
		{6, 0, 0, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL},
	} {
		if int(v) < more.version {
			break
		}
		rights.Handled_access_fs |= more.fs
		rights.Handled_access_net |= more.net
		rights.Scoped |= more.scoped
		if more.net != 0 {
			size = unsafe.Offsetof(rights.Scoped)
		}
		if more.scoped != 0 {
			size = unsafe.Offsetof(rights.Quiet_access_fs)
		}
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rights)), size, 0)
	if errno != 0 {
		return 0, errno
	}
	defer unix.Close(int(fd))
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno == unix.ENOTSUP {
		return 0, nil
	} else if errno != 0 {
		return 0, errno
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return 0, errno
	}
	return int(v), nil
}

// setFilter installs a filter of system calls on all threads of this process. This thread must have
// no_new_privs; the others get it. setFilter reports whether the system supports filters.
func setFilter(filter []unix.SockFilter) (bool, error) {
	if len(filter) == 0 {
		return false, nil
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	switch {
	case errno == unix.ENOSYS || errno == unix.EINVAL: // not in this kernel
		return false, nil
	case errno != 0:
		return false, errno
	case thread != 0:
		return false, errors.New("a thread has another filter of system calls")
	}
	return true, nil
}
