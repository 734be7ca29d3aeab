package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	brief "github.com/ppl-lang/ppl/internal/short"
)

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, commands)
}

// tests are the tests, which run unless this process is a command of a script.
type tests struct{ m *testing.M }

func (t tests) Run() int {
	flag.Parse()
	brief.Tune()
	code := t.m.Run()
	if code != 0 {
		brief.Report()
	}
	return code
}

// commands are the programs that scripts may run.
var commands = map[string]func(){"ppl": main, "signalled": signalled}

// signalled is the program `signalled SIGNAL BASE SIZE ARGUMENT…`. It runs ppl with the arguments
// and sends SIGNAL to itself at a certain moment: once the journal of the chain whose files begin
// with BASE has SIZE bytes and the chain has then saved its state. A script that watched the files
// and sent the signal from outside would be too late for a run of a few tenths of a second. If BASE
// is the journal of a study, name.frames, there is no state to wait for.
func signalled() {
	if len(os.Args) < 4 {
		log.Fatal("usage: signalled SIGNAL BASE SIZE ARGUMENT…")
	}
	signals := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "INT": syscall.SIGINT}
	signal, ok := signals[os.Args[1]]
	size, err := strconv.ParseInt(os.Args[3], 10, 64)
	if !ok || err != nil {
		log.Fatalf("%q is no signal, or %q no size", os.Args[1], os.Args[3])
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		log.Fatal(err)
	}
	journal, state := os.Args[2]+".journal", os.Args[2]+".state"
	if strings.HasSuffix(os.Args[2], ".frames") {
		journal, state = os.Args[2], ""
	}
	os.Args = append([]string{"ppl"}, os.Args[4:]...)
	go func() {
		until := func(reached func() bool) {
			for !reached() {
				time.Sleep(100 * time.Microsecond)
			}
		}
		until(func() bool {
			info, err := os.Stat(journal)
			return err == nil && info.Size() >= size
		})
		before, _ := os.Stat(state)
		until(func() bool {
			now, err := os.Stat(state)
			return state == "" || err == nil && (before == nil || !os.SameFile(before, now))
		})
		if err := self.Signal(signal); err != nil {
			log.Fatal(err)
		}
	}()
	main()
}

// TestScript runs the scripts in testdata/script, each in a separate folder. A script stands for a
// user: it has the commands that are typed, what is printed, the exit code, and the files that must
// exist. Beside the commands of testscript there are
//
//	exits CODE COMMAND…   run a command that ends with this exit code
//	wait-for GLOB [SIZE]  wait until a file matches and has at least this many bytes
//	json FILE KEY…        the file is a JSON object with exactly these keys and schema_version
//	flip FILE BYTE        change a bit of a file
//	truncate FILE SIZE    cut a file off, as a process that is killed may leave it
//
// the program `signalled`, and the condition [root].
func TestScript(t *testing.T) {
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                filepath.Join("testdata", "script"),
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", examples)
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return os.Getuid() == 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"wait-for": waitFor,
			"json":     jsonKeys,
			"flip":     flip,
			"truncate": truncate,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: wait-for GLOB [SIZE]")
	}
	size := 0
	if len(args) == 2 {
		var err error
		size, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	for range 600 {
		found, _ := filepath.Glob(ts.MkAbs(args[0]))
		for _, path := range found {
			if info, err := os.Stat(path); err == nil && info.Size() >= int64(size) {
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("%s does not appear", args[0])
}

func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip FILE BYTE")
	}
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	path := ts.MkAbs(args[0])
	text, err := os.ReadFile(path)
	ts.Check(err)
	if at >= len(text) {
		ts.Fatalf("%s has %d bytes", args[0], len(text))
	}
	text[at] ^= 1
	ts.Check(os.WriteFile(path, text, 0o666))
}

func truncate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: truncate FILE SIZE")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if size >= info.Size() {
		ts.Fatalf("%s has %d bytes", args[0], info.Size())
	}
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

func jsonKeys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: json FILE KEY…")
	}
	var object map[string]json.RawMessage
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &object))
	for _, key := range append([]string{versionKey}, args[1:]...) {
		if _, ok := object[key]; !ok {
			ts.Fatalf("there is no %q in %s", key, args[0])
		}
		delete(object, key)
	}
	if len(object) > 0 {
		ts.Fatalf("more keys than expected: %v", fmt.Sprint(object))
	}
}
