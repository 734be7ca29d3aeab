//go:build unix

package main

import (
	"os"
	"time"
)

// awaitParent returns when the parent of this process is no longer pid: the system assigns another
// parent when the original one has ended.
func awaitParent(pid int) {
	for os.Getppid() == pid {
		time.Sleep(200 * time.Millisecond)
	}
}
