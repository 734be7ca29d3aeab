//go:build !unix

package files

// noFollow is not available here. Creating only new files refuses links too.
const noFollow = 0

// exchange swaps two names atomically, which this system cannot do.
func exchange(a, b string) (done bool, err error) { return false, nil }

// syncFileSystem syncs the whole file system of a path, which is not supported here.
func syncFileSystem(path string) (done bool, err error) { return false, nil }
