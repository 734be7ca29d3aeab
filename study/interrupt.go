package study

import (
	"os"
	"runtime"
)

// interrupt asks a process to end.
func interrupt(p *os.Process) error {
	if runtime.GOOS == "windows" { // Windows has no such signal
		return p.Kill()
	}
	return p.Signal(os.Interrupt)
}
