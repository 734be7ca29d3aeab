package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/files"
	brief "github.com/ppl-lang/ppl/internal/short"
)

// This file: commands in which system calls fail, one at a time, and whose disk loses power after
// any call. When they are repeated or resumed, the result must be that of an undisturbed command.
//
// PPL_DURABLE selects how much is tried. Without it, each run of the tests tries a small part. With
// "sites", it is each place in the program that makes calls, in each phase of a command, and each
// moment at which the power may fail; with "all", each call and every state that the disk may then
// have.

// durableCommand is a command that writes files.
type durableCommand struct {
	name  string
	setup []string // arguments of a command to run first, whose output then exists
	args  []string
	again []string // the command that continues it; nil: the same command
	force []string // arguments to add if the output exists already
	quick bool     // tried in each run of the tests
	whole bool     // work/o has a complete run at any moment, or ppl run --resume completes one

	moments int // about how many moments a loss of power is tried at; 0: all
}

const (
	durableModel = `data { int N; vector[N] y; }
parameters { real mu; vector[2] x; }
model { mu ~ normal(0, 1); x ~ normal(mu, 1); y ~ normal(mu, 1); }
generated quantities { real u = normal_rng(mu, 1); }
`
	durablePlan = `models: m.stan
data: {files: d.json}
options: {sampler: nuts, chains: 1, warmup: 15, draws: 12}
seed: 1
grid:
  delta: [0.8, 0.9]
keep:
  draws: [mu]
`
)

var durableRun = []string{"run", "in/m.stan", "-d", "in/d.json", "-q", "--seed", "3", "--sampler", "nuts", "--chains", "2", "--warmup", "12", "--draws", "10", "--parallel", "1", "--sig-figs", "17", "--save-warmup", "--out", "work/o"}

var durableCommands = []durableCommand{
	{name: "csv", args: durableRun, again: []string{"run", "-q", "--resume", "work/o"}, quick: true, moments: 250},
	{name: "overwrite", setup: durableRun, args: append(slices.Clone(durableRun), "--overwrite", "--seed", "4", "--chains", "1"), quick: true, whole: true, moments: 250},
	{name: "overwrite-optimum", setup: durableRun, args: []string{"optimize", "in/m.stan", "-d", "in/d.json", "-q", "--seed", "3", "--out", "work/o", "--overwrite"}, whole: true, moments: 60},
	{name: "zarr", args: append(slices.Clone(durableRun), "--format", "zarr", "--groups", "log_likelihood"), again: []string{"run", "-q", "--resume", "work/o"}, moments: 60},
	{name: "convert-zarr", setup: durableRun, args: []string{"convert", "work/o", "--to", "zarr", "--groups", "none", "--out", "work/c.zarr", "-q"}, force: []string{"--overwrite"}, moments: 25},
	{name: "convert-csv", setup: durableRun, args: []string{"convert", "work/o", "--to", "csv", "--out", "work/c", "-q"}, force: []string{"--overwrite"}, moments: 100},
	{name: "generate", setup: durableRun, args: []string{"generate", "in/m.stan", "--fit", "work/o", "--seed", "1", "--out", "work/g", "-q"}, force: []string{"--overwrite"}, quick: true, moments: 100},
	{name: "report", setup: durableRun, args: []string{"report", "work/o", "--out", "work/r.html"}, quick: true, moments: 100},
	{name: "study", args: []string{"study", "in/plan.yaml", "--out", "work/s", "-q", "--parallel", "1"}, moments: 100},
}

// phase is the phase that a run has reached.
type phase struct {
	mu   sync.Mutex
	name string
}

func (p *phase) set(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name = name
}

func (p *phase) get() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.name
}

// tried is a folder in which a command is tried: it reads from the subfolder in and writes to the
// subfolder work.
type tried struct {
	durableCommand
	dir   string
	phase phase
	calm  bool              // states are saved no more often than for users
	want  map[string]string // the files in work after an undisturbed command
}

// inMemory returns a new folder in memory, where a sync takes no time.
func inMemory(t *testing.T) string {
	t.Helper()
	if dir, err := os.MkdirTemp("/dev/shm", "ppl-test-"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}

func try(t *testing.T, c durableCommand) *tried {
	t.Helper()
	d := &tried{durableCommand: c, dir: inMemory(t)}
	if err := os.Mkdir(filepath.Join(d.dir, "in"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"m.stan": durableModel, "d.json": `{"N": 2, "y": [1, 2]}`, "plan.yaml": durablePlan} {
		if err := os.WriteFile(filepath.Join(d.dir, "in", name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(d.dir)
	d.begin(t)
	if code, said := d.run(c.args); code != 0 {
		t.Fatalf("undisturbed: %d\n%s", code, said)
	}
	d.want = d.found(t)
	return d
}

// begin restores the state of work before the command.
func (d *tried) begin(t *testing.T) {
	t.Helper()
	d.empty(t)
	if d.setup != nil {
		if code, said := d.run(d.setup); code != 0 {
			t.Fatalf("before: %d\n%s", code, said)
		}
	}
}

func (d *tried) empty(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll("work"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("work", 0o777); err != nil {
		t.Fatal(err)
	}
}

// update implements follower.
func (d *tried) update(p infer.Progress) {
	if d.calm {
		return
	}
	if p.Warmup {
		d.phase.set("warm-up")
	} else {
		d.phase.set("sampling")
	}
}

// reached implements follower.
func (*tried) reached(int, float64, float64) {}

// run runs a command in this process. It returns the exit code and the output.
func (d *tried) run(args []string) (int, string) {
	var out bytes.Buffer
	d.phase.set("start")
	ctx := context.WithValue(context.Background(), adjustKey{}, func(o *fit.Options) {
		if d.calm {
			return
		}
		o.SnapshotEvery, o.SyncEvery, o.Refresh = -1, 2*time.Millisecond, 1
		complete := o.Complete
		o.Complete = func(f *fit.Fit) error {
			d.phase.set("clean-up")
			return complete(f)
		}
	})
	ctx = context.WithValue(ctx, followerKey{}, d)
	code := executeIn(ctx, args, &out, &out)
	return code, out.String()
}

// found returns the files in work, without times, durations and paths.
func (d *tried) found(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, b := range filesBelow(t, "work") {
		base := filepath.Base(b.name)
		text := string(b.text)
		switch {
		case b.dir:
			text = "folder"
		case base == "zarr.json", base == "times.csv", base == "r.html", strings.HasSuffix(base, ".frames"):
			text = "file"
		case base == folder.RecordFile:
			r, err := folder.Read(filepath.Dir(filepath.Join("work", b.name)))
			if err != nil {
				text = err.Error()
				break
			}
			delete(r.Options, "out") // as the user gave it, or an absolute path if the folder existed
			text = fmt.Sprintf("complete %v, %v, %s, %s", r.Complete, r.Options, r.ModelSHA256, r.DataFileSHA256)
		case strings.HasSuffix(base, ".csv"):
			var kept strings.Builder
			for line := range strings.Lines(text) {
				if !strings.HasPrefix(line, "#") {
					kept.WriteString(line)
				}
			}
			text = kept.String()
		}
		found[b.name] = text
	}
	return found
}

// same returns an error that describes how the files in work differ from those of an undisturbed
// command.
func (d *tried) same(t *testing.T) error {
	t.Helper()
	got := d.found(t)
	var errs []error
	for name, text := range d.want {
		if g, ok := got[name]; !ok {
			errs = append(errs, fmt.Errorf("%s is not there", name))
		} else if g != text {
			errs = append(errs, fmt.Errorf("%s differs: %.100q, want %.100q", name, g, text))
		}
	}
	for name := range got {
		// In a folder without a lock, temporary files may belong to other processes, so they are
		// kept for an hour.
		if _, ok := d.want[name]; !ok && (d.again != nil || !strings.Contains(name, ".tmp")) {
			errs = append(errs, fmt.Errorf("%s is left", name))
		}
	}
	return errors.Join(errs...)
}

// goOn continues after a crash as a user would, and checks the result.
func (d *tried) goOn(t *testing.T) error {
	t.Helper()
	args := d.args
	if d.again != nil {
		if _, err := os.Stat(filepath.Join("work", "o", folder.RecordFile)); err == nil {
			args = d.again
		}
	}
	d.calm = true
	defer func() { d.calm = false }()
	code, said := d.run(args)
	if code != 0 && d.force != nil && strings.Contains(said, "--overwrite") {
		code, said = d.run(append(slices.Clone(args), d.force...))
	}
	if code != 0 {
		return fmt.Errorf("%s: %d: %s", strings.Join(args, " "), code, said)
	}
	return d.same(t)
}

// keeps returns an error unless a complete run exists after a crash of a command that replaces a
// run.
func (d *tried) keeps() error {
	if !d.whole {
		return nil
	}
	f, err := fit.ReadFit(filepath.Join("work", "o"))
	if errors.As(err, new(*folder.ReplacingError)) {
		if code, said := d.run([]string{"run", "--resume", "work/o"}); code != 0 {
			return fmt.Errorf("the replacement cannot be finished: %s", said)
		}
		f, err = fit.ReadFit(filepath.Join("work", "o"))
	}
	switch {
	case err != nil:
		return fmt.Errorf("the earlier run is lost: %w", err)
	case f.Report.Interrupted:
		return errors.New("the run is not complete")
	}
	return nil
}

// failing is a files.System in which one call fails.
type failing struct {
	phase func() string
	fail  func(site string, n int) error // n counts the calls

	mu    sync.Mutex
	n     int
	sites []string // of each call
	kinds []files.Kind
	done  bool // a call has failed
}

func (f *failing) Do(op files.Op, call func() error) error {
	f.mu.Lock()
	site := f.phase() + " " + string(op.Kind) + callers()
	err := f.fail(site, f.n)
	f.n++
	f.sites, f.kinds = append(f.sites, site), append(f.kinds, op.Kind)
	f.done = f.done || err != nil
	f.mu.Unlock()
	if err != nil {
		return &os.PathError{Op: string(op.Kind), Path: op.Path, Err: err}
	}
	return call()
}

// callers identifies the place in the program that makes the call.
func callers() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)])
	var out strings.Builder
	for n := 0; n < 5; {
		f, more := frames.Next()
		if strings.Contains(f.Function, "ppl-lang/ppl") && !strings.Contains(f.Function, "internal/files.do") {
			fmt.Fprintf(&out, " < %s:%d", f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.Line)
			n++
		}
		if !more {
			break
		}
	}
	return out.String()
}

// reasons returns the errors with which calls of a kind fail.
func reasons(kind files.Kind) []error {
	switch kind {
	case files.CreateOp, files.OpenOp, files.ListOp:
		return []error{syscall.EIO, syscall.ENOSPC, syscall.EMFILE}
	case files.ReadOp, files.CloseOp, files.RemoveOp:
		return []error{syscall.EIO}
	}
	return []error{syscall.EIO, syscall.ENOSPC}
}

func howMuch() string { return os.Getenv("PPL_DURABLE") }

// TestReliabilityPage checks that the page on reliability gives the right number of commands tried
// here.
func TestReliabilityPage(t *testing.T) {
	page, err := os.ReadFile("../../doc/evidence/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(" %d commands", len(durableCommands))
	for _, test := range []string{"TestFailingCalls", "TestPowerCuts"} {
		for line := range strings.Lines(string(page)) {
			if strings.HasPrefix(line, "| `"+test+"`") && !strings.Contains(line, want) {
				t.Errorf("%s tries%s, but the page says: %s", test, want, line)
			}
		}
	}
}

// TestFailingCalls lets one file system call fail per run: each call of a command in turn or, in
// short runs of the tests, one for each place in the code and phase. The command must report the
// failure or have finished its work, and no draws may be lost.
func TestFailingCalls(t *testing.T) {
	total := 0
	for _, c := range durableCommands {
		if howMuch() == "" && !c.quick {
			continue
		}
		if testing.Short() && total > 0 { // one command
			break
		}
		t.Run(c.name, func(t *testing.T) {
			d := try(t, c)
			d.begin(t)
			plan := &failing{phase: d.phase.get, fail: func(string, int) error { return nil }}
			restore := files.Install(plan)
			code, said := d.run(c.args)
			restore()
			if code != 0 {
				t.Fatalf("%d: %s", code, said)
			}
			counts := map[string]int{}
			failed := 0
			for i, site := range plan.sites {
				counts[site]++
				if howMuch() != "all" && counts[site] > 1 || testing.Short() && len(counts)%4 != 1 { // a quarter of the places
					continue
				}
				errs := reasons(plan.kinds[i])
				if howMuch() == "" {
					errs = errs[:1]
				}
				for _, reason := range errs {
					d.begin(t)
					nth, at := counts[site], 0
					f := &failing{phase: d.phase.get, fail: func(s string, _ int) error {
						if s == site {
							if at++; at == nth {
								return reason
							}
						}
						return nil
					}}
					restore := files.Install(f)
					code, said := d.run(c.args)
					restore()
					failed++
					what := fmt.Sprintf("%v at %s (call %d there)", reason, site, nth)
					sync := slices.Contains([]files.Kind{files.SyncOp, files.FolderOp, files.SyncAllOp}, plan.kinds[i])
					switch {
					case !f.done: // syncs come by the clock
					case code == 0 && sync:
						t.Errorf("%s: the exit code is 0", what)
					case code == 0:
						if err := d.same(t); err != nil {
							t.Errorf("%s: the exit code is 0, but %v", what, err)
						}
					case !strings.Contains(said, "\n"):
						t.Errorf("%s: nothing is said", what)
					}
					if drawn := strings.HasPrefix(site, "sampling") || strings.HasPrefix(site, "clean-up"); code != 0 && drawn && d.again != nil {
						if _, err := os.Stat(filepath.Join("work", "o", folder.RecordFile)); err != nil {
							t.Errorf("%s: the run is gone: %s", what, said)
						}
					}
					if err := d.keeps(); err != nil {
						t.Errorf("%s: %v", what, err)
					}
					if err := d.goOn(t); err != nil {
						t.Errorf("%s: then %v", what, err)
					}
				}
			}
			t.Logf("%d calls at %d places, %d failed", len(plan.sites), len(counts), failed)
			total += failed
		})
	}
	t.Logf("%d calls failed in all", total)
}

// TestPowerCuts lets the disk lose power after each call of a command.
func TestPowerCuts(t *testing.T) {
	total, different := 0, 0
	for _, c := range durableCommands {
		if howMuch() == "" && !c.quick {
			continue
		}
		if testing.Short() && total > 0 { // one command
			break
		}
		t.Run(c.name, func(t *testing.T) {
			d := try(t, c)
			d.begin(t)
			root, err := filepath.Abs("work")
			if err != nil {
				t.Fatal(err)
			}
			start := filesBelow(t, root)
			r := newDiskRecorder(t, root)
			restore := files.Install(&absolutePaths{r})
			code, said := d.run(c.args)
			restore()
			if code != 0 {
				t.Fatalf("%d: %s", code, said)
			}
			disk := r.disk(start)
			// Once the record is durable, there is a run to resume.
			promised := len(disk.events)
			for i, e := range disk.events {
				if e.kind == files.RenameOp && e.to == folder.RecordFile {
					promised = disk.synced[i]
					break
				}
			}
			every := 1
			switch howMuch() {
			case "":
				every = max(1, len(disk.events)/brief.Of(40, 5))
			case "sites":
				every = max(1, len(disk.events)/c.moments)
			}
			seen := map[[32]byte]bool{}
			cuts := 0
			for n := 0; n <= len(disk.events); n++ {
				if n%every != 0 && n != len(disk.events) {
					continue
				}
				disk.crashes(n, howMuch() != "all", func(k crash) bool {
					cuts++
					nodes := disk.tree(k)
					s := sum(nodes)
					if n < len(disk.events) && seen[s] {
						return true
					}
					seen[s] = true
					d.empty(t)
					write(t, nodes, 0, "work")
					if c.again != nil && n > promised {
						if _, err := os.Stat(filepath.Join("work", "o", folder.RecordFile)); err != nil {
							t.Errorf("%s: there is nothing to resume", &k)
						}
					}
					if n == len(disk.events) {
						if err := d.finished(t); err != nil {
							t.Errorf("%s, with exit code 0: %v", &k, err)
						}
					}
					if err := d.keeps(); err != nil {
						t.Errorf("%s: %v", &k, err)
					}
					if err := d.goOn(t); err != nil {
						t.Errorf("%s: %v", &k, err)
					}
					return !t.Failed() || howMuch() != ""
				})
			}
			t.Logf("%d events, %d cuts, %d different disks", len(disk.events), cuts, len(seen))
			total, different = total+cuts, different+len(seen)
		})
	}
	t.Logf("%d cuts, %d different disks in all", total, different)
}

// finished checks the files after a command has exited with 0. They must be complete, but files
// that are removed at the end may still be there.
func (d *tried) finished(t *testing.T) error {
	t.Helper()
	got := d.found(t)
	var errs []error
	for name, text := range d.want {
		if got[name] != text {
			errs = append(errs, fmt.Errorf("%s differs: %.100q, want %.100q", name, got[name], text))
		}
	}
	return errors.Join(errs...)
}

// absolutePaths is a files.System that passes absolute paths to a recorder.
type absolutePaths struct{ files.System }

func (a *absolutePaths) Do(op files.Op, call func() error) error {
	for _, path := range []*string{&op.Path, &op.To} {
		if *path != "" {
			if full, err := filepath.Abs(*path); err == nil {
				*path = full
			}
		}
	}
	return a.System.Do(op, call)
}

// counting is a files.System that counts the calls of each kind.
type counting struct {
	mu sync.Mutex
	n  map[files.Kind]int
}

func (c *counting) Do(op files.Op, call func() error) error {
	c.mu.Lock()
	c.n[op.Kind]++
	c.mu.Unlock()
	return call()
}

// TestSyncs checks that durable files cost little: it limits the numbers of syncs and files in a
// run of eight schools. States are synced by the clock, so here never.
func TestSyncs(t *testing.T) {
	example, err := filepath.Abs(filepath.Join("..", "..", "examples", "eight_schools", "eight_schools"))
	if err != nil {
		t.Fatal(err)
	}
	for format, most := range map[string]int{"csv": 20, "zarr": 30} {
		t.Chdir(inMemory(t))
		c := &counting{n: map[files.Kind]int{}}
		ctx := context.WithValue(context.Background(), adjustKey{}, func(o *fit.Options) { o.SyncEvery = time.Hour })
		var out bytes.Buffer
		restore := files.Install(c)
		code := executeIn(ctx, []string{"run", example + ".model", "-d", example + ".data.json", "-q", "--seed", "1", "--out", "o", "--format", format}, &out, &out)
		restore()
		if code != 0 {
			t.Fatalf("%d: %s", code, out.String())
		}
		syncs := c.n[files.SyncOp] + c.n[files.FolderOp] + c.n[files.SyncAllOp]
		written := 0
		for _, b := range filesBelow(t, "o") {
			if !strings.HasPrefix(b.name, "eight_schools.zarr") {
				continue
			}
			if !b.dir {
				written++
			}
		}
		t.Logf("%s: %d syncs, %d files in the store", format, syncs, written)
		if syncs == 0 || syncs > most {
			t.Errorf("%s: %d syncs, %d at most", format, syncs, most)
		}
		if written > 61 { // one of them is written only if a transition has diverged
			t.Errorf("the store has %d files", written)
		}
	}
}
