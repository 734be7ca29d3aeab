//go:build unix && !linux

package files

import "syscall"

// noFollow refuses links.
const noFollow = syscall.O_NOFOLLOW

// exchange swaps two names in one step: not here.
func exchange(a, b string) (done bool, err error) { return false, nil }

// syncFileSystem syncs all that is on the file system of a path: not here.
func syncFileSystem(path string) (done bool, err error) { return false, nil }
