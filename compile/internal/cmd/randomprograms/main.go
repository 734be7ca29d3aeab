// Command randomprograms compares the ways to evaluate a program, on many random programs and
// mutants. A run can be interrupted and continued.
//
//	go run ./compile/internal/cmd/randomprograms -dir FOLDER -source models -count 10000
//
// The sources are:
//
//   - models: templates that look like the programs of statisticians;
//   - programs: anything that is well typed;
//   - statements: loops whose statements are drawn one by one;
//   - thresholds: models and statements with sizes just below and above those at which passes
//     become active;
//   - rows: several short loops over one set of rows, of such sizes, which share index arrays and
//     read results of earlier loops;
//   - mutants: models with statements dropped, repeated, moved, put under conditions or in loops,
//     and with indices and bounds shifted;
//   - real: mutants of the benchmark suite, of the programs in the folders of -models, and of
//     posteriordb if PPL_POSTERIORDB is the folder posterior_database of a checkout.
//
// A run continues where the last run of the same source in the folder ended; state-SOURCE.json
// there counts the programs and lists their seeds. Each fault is shrunk and written to the folder
// as SOURCE-SEED.stan, .json (data) and .txt (the difference). A program that takes more than 10
// seconds of processor time is a fault. After five minutes a program is stopped.
//
// Map of the command:
//
//	main.go    flags, the supervising process, counts
//	worker.go  the process that evaluates programs
//	source.go  the programs of a seed
//	real.go    the real programs that are mutated
//	stan.go    many functions at once against real Stan
//	stanwhole.go  programs of everyday fragments against real Stan
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/internal/planted"
)

// options are the flags.
type options struct {
	dir     string
	source  string
	from    uint64
	count   uint64
	full    uint64
	plain   uint64
	shrink  time.Duration
	limit   time.Duration
	models  string
	stan    string
	worker  bool
	show    bool
	check   string
	library *library
}

func main() {
	log.SetFlags(0)
	os.Setenv(planted.Panics, "1") // also for the workers
	var o options
	flag.StringVar(&o.dir, "dir", "", "folder for the state and the faults")
	flag.StringVar(&o.source, "source", "models", "models, programs, statements, thresholds, rows, idioms, mutants or real")
	flag.Uint64Var(&o.from, "from", 0, "first seed; 0: where the last run of this source ended")
	flag.Uint64Var(&o.count, "count", 1000, "programs to run; functions with -stan")
	flag.Uint64Var(&o.full, "full", 50, "every so many programs, all ways are compared; 0: never")
	flag.Uint64Var(&o.plain, "plain", 1, "every so many programs, the plain interpreter is the oracle; the others are compared with the evaluator that runs check themselves with, ten times as fast")
	flag.DurationVar(&o.shrink, "shrink", 20*time.Second, "time to shrink a fault")
	flag.DurationVar(&o.limit, "limit", time.Hour, "time of the run")
	flag.StringVar(&o.models, "models", "", "folders with programs for -source real, each NAME.stan or NAME.model with NAME.data.json or NAME.json, separated by commas")
	flag.StringVar(&o.stan, "stan", "", "folder of the tool that runs real Stan (run.sh); compares functions with it, or the programs of -source idioms")
	flag.BoolVar(&o.worker, "worker", false, "evaluate the programs in this process and write a line about each")
	flag.BoolVar(&o.show, "show", false, "print the program of the seed given by -from, with its data")
	flag.StringVar(&o.check, "check", "", "compare the ways on the programs NAME.stan with NAME.json in this folder, and print those that fail")
	flag.Parse()
	o.library = &library{folders: o.models}
	var err error
	switch {
	case o.show:
		err = show(o)
	case o.check != "":
		err = check(o)
	case o.worker:
		err = work(o, os.Stdout)
	case o.dir == "":
		err = fmt.Errorf("-dir is missing: the folder for the state and the faults")
	case o.stan != "" && o.source == "idioms":
		err = idiomsAgainstStan(o)
	case o.stan != "":
		err = againstStan(o)
	default:
		err = supervise(o)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// result is a worker's report about a program.
type result struct {
	Seed        uint64
	Skipped     bool `json:",omitempty"` // the seed gave no program
	Full        bool `json:",omitempty"`
	Compared    int  `json:",omitempty"`
	Rejected    int  `json:",omitempty"`
	Vague       int  `json:",omitempty"`
	Unsupported string
	Wrong       string
	Signature   string   // of the shrunk program
	Kinds       []string `json:",omitempty"` // of statements, or templates, that were compared
	Seconds     float64
}

// state records which programs of a source were run, and the results.
type state struct {
	Next        uint64 // seed
	Runs        []span
	Programs    int
	Full        int // of these with all ways
	Skipped     int
	Compared    int // points
	Rejected    int
	Vague       int
	NotCompared int // programs without a point
	Slow        int
	Faults      map[string]int
	Unsupported map[string]int
	Signatures  map[string]int
	Kinds       map[string]int // number of compared programs with statements of a kind
	Seconds     float64
}

// span is a range of seeds, with the time when it began.
type span struct {
	From, To uint64
	Begun    string
}

func (o options) stateFile() string { return filepath.Join(o.dir, "state-"+o.source+".json") }

func (o options) readState() (*state, error) {
	s := &state{Next: 1}
	b, err := os.ReadFile(o.stateFile())
	if err == nil {
		err = json.Unmarshal(b, s)
	} else if os.IsNotExist(err) {
		err = nil
	}
	for _, m := range []*map[string]int{&s.Faults, &s.Unsupported, &s.Signatures, &s.Kinds} {
		if *m == nil {
			*m = map[string]int{}
		}
	}
	return s, err
}

func (o options) writeState(s *state) error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	temporary := o.stateFile() + ".new"
	if err := os.WriteFile(temporary, append(b, '\n'), 0o666); err != nil {
		return err
	}
	return os.Rename(temporary, o.stateFile())
}

// supervise runs workers one after another. It starts the next one after a program that takes too
// long or ends the process.
func supervise(o options) error {
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return err
	}
	s, err := o.readState()
	if err != nil {
		return err
	}
	if o.from > 0 {
		s.Next = o.from
	}
	end := s.Next + o.count
	s.Runs = append(s.Runs, span{From: s.Next, Begun: time.Now().UTC().Format(time.DateTime)})
	begin := time.Now()
	for s.Next < end && time.Since(begin) < o.limit {
		if err := o.oneWorker(s, end, begin); err != nil {
			return err
		}
		if err := o.writeState(s); err != nil {
			return err
		}
	}
	s.print(os.Stdout)
	return nil
}

// oneWorker reads the reports of a worker until it ends.
func (o options) oneWorker(s *state, end uint64, begin time.Time) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self, "-worker", "-dir", o.dir, "-source", o.source, "-from", fmt.Sprint(s.Next), "-count", fmt.Sprint(end-s.Next),
		"-full", fmt.Sprint(o.full), "-plain", fmt.Sprint(o.plain), "-shrink", o.shrink.String(), "-models", o.models)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	lines := make(chan string)
	go func() {
		scan := bufio.NewScanner(out)
		scan.Buffer(nil, 1<<24)
		for scan.Scan() {
			lines <- scan.Text()
		}
		close(lines)
	}()
	saved := time.Now()
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				err := c.Wait()
				if err != nil && s.Next < end { // the program ended the process
					s.fault(o, "crash", fmt.Sprint(err))
				}
				return nil
			}
			var r result
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				return fmt.Errorf("the worker says %q: %v", line, err)
			}
			s.add(r)
			if time.Since(saved) > 10*time.Second {
				saved = time.Now()
				if err := o.writeState(s); err != nil {
					return err
				}
			}
			if time.Since(begin) > o.limit {
				_ = c.Process.Kill()
				for range lines {
				}
				_ = c.Wait()
				return nil
			}
		case <-time.After(5*time.Minute + 3*o.shrink):
			_ = c.Process.Kill()
			for range lines {
			}
			_ = c.Wait()
			s.fault(o, "endless", "the program did not end within five minutes")
			return nil
		}
	}
}

// fault records that the next program ended the process of its worker.
func (s *state) fault(o options, kind, text string) {
	if p, err := o.program(s.Next); err == nil {
		o.writeFault(s.Next, p.Text, p.Data, kind+"\n"+text+"\n")
	}
	s.add(result{Seed: s.Next, Wrong: kind, Signature: fmt.Sprint(kind, s.Next)})
}

func (s *state) add(r result) {
	s.Next = r.Seed + 1
	s.Runs[len(s.Runs)-1].To = r.Seed
	s.Seconds += r.Seconds
	if r.Skipped {
		s.Skipped++
		return
	}
	s.Programs++
	if r.Full {
		s.Full++
	}
	s.Compared += r.Compared
	s.Rejected += r.Rejected
	s.Vague += r.Vague
	for _, k := range r.Kinds {
		s.Kinds[k]++
	}
	if r.Compared == 0 {
		s.NotCompared++
	}
	if r.Wrong != "" {
		s.Faults[r.Wrong]++
		s.Signatures[r.Signature]++
	}
	if r.Unsupported != "" {
		s.Unsupported[r.Unsupported]++
	}
}

func (s *state) print(w io.Writer) {
	fmt.Fprintf(w, "%d programs (%d of all ways) with seeds below %d in %.0f s; %d points compared, %d rejected, %d ill-conditioned; %d programs without a comparable point; %d seeds without a program\n",
		s.Programs, s.Full, s.Next, s.Seconds, s.Compared, s.Rejected, s.Vague, s.NotCompared, s.Skipped)
	for _, m := range []struct {
		what   string
		counts map[string]int
	}{{"faults", s.Faults}, {"not supported", s.Unsupported}, {"programs with", s.Kinds}} {
		for _, k := range slices.Sorted(maps.Keys(m.counts)) {
			fmt.Fprintf(w, "%s: %d %s\n", m.what, m.counts[k], k)
		}
	}
}

// writeFault writes a program, its data and a description of the fault.
func (o options) writeFault(seed uint64, text, values, what string) {
	base := filepath.Join(o.dir, fmt.Sprintf("%s-%d", o.source, seed))
	for suffix, content := range map[string]string{".stan": text, ".json": values + "\n", ".txt": strings.TrimRight(what, "\n") + "\n"} {
		if err := os.WriteFile(base+suffix, []byte(content), 0o666); err != nil {
			log.Print(err)
		}
	}
}
