//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// outputClosed reports whether standard output was closed when the program began. Go's runtime then
// opens /dev/null in its place, for reading and writing, which shells do not do. If standard output
// is the same file as standard input or error, the caller has chosen it, and it counts as open.
func outputClosed() bool {
	null, err := os.Stat(os.DevNull)
	if err != nil {
		return false
	}
	readWrite := func(fd int) bool {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		return err == nil && flags&unix.O_ACCMODE == unix.O_RDWR
	}
	isNull := func(f *os.File) bool {
		info, err := f.Stat()
		return err == nil && os.SameFile(info, null) && readWrite(int(f.Fd()))
	}
	return isNull(os.Stdout) && !isNull(os.Stdin) && !isNull(os.Stderr)
}

// fileLimit returns the maximum number of open files of this process. Go has raised it as far as
// possible.
func fileLimit() (limit uint64, ok bool) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, false
	}
	return uint64(l.Cur), true
}
