package vm

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/native"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// TestRefusedMemory checks that a system which refuses executable memory is reported. A process
// cannot undo this setting, so a child has it.
func TestRefusedMemory(t *testing.T) {
	const child = "PPL_TEST_REFUSED_MEMORY"
	if !native.Supported || Target() == nil {
		t.Skip("there is no machine code for this processor")
	}
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRefusedMemory$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if strings.Contains(string(out), "--- SKIP") {
			t.Skip("the kernel cannot refuse executable memory (before Linux 6.3)")
		}
		return
	}
	const setMemory, refuse = 65, 1 // PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN
	if _, _, errno := syscall.Syscall6(syscall.SYS_PRCTL, setMemory, refuse, 0, 0, 0, 0); errno != 0 {
		t.Skip(errno)
	}
	g := ad.NewGraph()
	x := g.Input(ad.Type{Shape: []int{3}})
	g.Output(g.Exp(x))
	p, err := Compile(g, passes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if why := p.Mistake(); !strings.Contains(why, "refuses executable memory") {
		t.Errorf("the mistake is %q", why)
	}
	m := p.New()
	if err := m.Run(&ad.Env{}); err != nil || m.Output(0)[0] != 1 {
		t.Errorf("exp(0) is %v (%v)", m.Output(0)[0], err)
	}
}
