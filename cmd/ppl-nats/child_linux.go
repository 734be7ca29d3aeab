package main

import (
	"os/exec"
	"syscall"
)

// apart keeps Ctrl-C from a process, whose unit is to be handed back first, and ends it
// with this one, in whatever way this one ends.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
