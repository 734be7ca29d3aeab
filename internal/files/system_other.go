//go:build !unix

package files

// noFollow refuses links. That a file must be new does so too.
const noFollow = 0

// exchange swaps two names in one step, which this system cannot do.
func exchange(a, b string) (done bool, err error) { return false, nil }

// syncFileSystem syncs all that is on the file system of a path: not here.
func syncFileSystem(path string) (done bool, err error) { return false, nil }
