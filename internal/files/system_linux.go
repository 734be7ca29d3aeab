package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// noFollow refuses links.
const noFollow = unix.O_NOFOLLOW

// exchange swaps two names atomically, if the file system can.
func exchange(a, b string) (done bool, err error) {
	err = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return false, nil
	}
	if err != nil {
		return false, &os.LinkError{Op: "rename", Old: a, New: b, Err: err}
	}
	return true, nil
}

// syncFileSystem syncs the whole file system of a path.
func syncFileSystem(path string) (done bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = unix.Syncfs(int(f.Fd()))
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		return false, nil
	}
	if err != nil {
		return false, &os.PathError{Op: "syncfs", Path: path, Err: err}
	}
	return true, nil
}
