package compile

import (
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestChainOfFunctions binds a program whose functions each name the one before. It runs in a
// separate process with a small limit on stacks, since functions must be resolved one after
// another, without recursion.
func TestChainOfFunctions(t *testing.T) {
	const variable, stack = "PPL_TEST_CHAIN", 1 << 20
	if os.Getenv(variable) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChainOfFunctions$")
		cmd.Env = append(os.Environ(), variable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%.2000s", err, out)
		}
		return
	}
	const n = 2000
	var b strings.Builder
	b.WriteString("functions {\n  int f0(int k) { return 0; }\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "  int f%d(int k) { if (k > 0) return f%d(k - 1); return 1; }\n", i, i-1)
	}
	fmt.Fprintf(&b, "}\ntransformed data { int one = f%d(0); }\n", n)
	prog, list := Compile(source.NewFile("chain", b.String()))
	if prog == nil {
		t.Fatal(list)
	}
	debug.SetMaxStack(stack)
	if _, err := prog.Bind(data.Empty(), BindOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestChainTooLong checks that a long chain of calls, without any function twice, is not reported
// as a recursion.
func TestChainTooLong(t *testing.T) {
	const n = 10_100
	var b strings.Builder
	b.WriteString("functions {\n  real f0(real x) { return x; }\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "  real f%d(real x) { return f%d(x); }\n", i, i-1)
	}
	fmt.Fprintf(&b, "}\ntransformed data { real one = f%d(1); }\n", n)
	prog, list := Compile(source.NewFile("chain", b.String()))
	if prog == nil {
		t.Fatal(list)
	}
	if _, err := prog.Bind(data.Empty(), BindOptions{}); err == nil || !strings.Contains(err.Error(), "too many functions that call one another") {
		t.Errorf("%.300v", err)
	}
}
