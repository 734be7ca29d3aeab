//go:build unix

package main

import (
	"os"
	"time"
)

// awaitParent returns when this process has another parent than pid: the system gives it one
// when its own has ended.
func awaitParent(pid int) {
	for os.Getppid() == pid {
		time.Sleep(200 * time.Millisecond)
	}
}
