//go:build linux && (amd64 || arm64)

package vm

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// TestRefused checks that models are interpreted if the system refuses executable memory. A
// separate process makes Linux (6.3 or later) refuse it.
func TestRefused(t *testing.T) {
	if os.Getenv("VM_REFUSED") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRefused$", "-test.v")
		cmd.Env = append(os.Environ(), "VM_REFUSED=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if strings.Contains(string(out), "--- SKIP") {
			t.Skip("this system cannot refuse executable memory")
		}
		return
	}
	runtime.LockOSThread()
	const setMDWE, refuseExecGain = 65, 1
	if _, _, errno := syscall.Syscall6(syscall.SYS_PRCTL, setMDWE, refuseExecGain, 0, 0, 0, 0); errno != 0 {
		t.Skip(errno)
	}
	g := ad.NewGraph()
	x := g.Input(ad.Type{Shape: []int{100}})
	g.Output(g.Sum(g.Exp(x)))
	p, err := Compile(g, passes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := p.New()
	if p.native != nil {
		t.Error("there is machine code")
	}
	if err := m.Run(nil); err != nil || m.Output(0)[0] != 100 {
		t.Errorf("%v, %v", m.Output(0), err)
	}
}
