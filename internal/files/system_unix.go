//go:build unix && !linux

package files

import "syscall"

// noFollow refuses links.
const noFollow = syscall.O_NOFOLLOW

// exchange swaps two names atomically, which is not supported here.
func exchange(a, b string) (done bool, err error) { return false, nil }

// syncFileSystem syncs the whole file system of a path, which is not supported here.
func syncFileSystem(path string) (done bool, err error) { return false, nil }
