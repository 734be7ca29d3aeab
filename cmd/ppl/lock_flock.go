//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFolder keeps other runs out of an output folder until release is called or the program ends
// in any way. File systems without locks give no protection.
func lockFolder(dir string) (release func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}, nil // the error will be reported when a file is written
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, fmt.Errorf("another run is writing to the folder %s: wait for it, or choose another folder by --out", dir)
	}
	return func() { f.Close() }, nil
}
