package main

import (
	"os/exec"
	"syscall"
)

// apart puts a child process into its own process group, so that Ctrl-C does not reach it before
// its unit is handed back. The kernel kills the child when this process ends, even by a crash.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
