package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
	"github.com/ppl-lang/ppl/compile/internal/proggen"
)

// slow is the maximum processor time that Bind and an evaluation may take.
const slow = 10 * time.Second

// work evaluates programs and writes a line for each.
func work(o options, w io.Writer) error {
	parent := os.Getppid()
	go func() { // otherwise a program that does not end would outlive the supervisor
		for os.Getppid() == parent {
			time.Sleep(5 * time.Second)
		}
		os.Exit(1)
	}()
	enc := json.NewEncoder(w)
	for seed := o.from; seed < o.from+o.count; seed++ {
		if err := enc.Encode(o.evaluate(seed)); err != nil {
			return err
		}
	}
	return nil
}

// evaluate compares the ways of evaluation for the program of a seed.
func (o options) evaluate(seed uint64) (r result) {
	r.Seed = seed
	p, err := o.program(seed)
	if err != nil {
		r.Skipped = true
		return r
	}
	text, values := p.Text, p.Data
	r.Full = o.full > 0 && seed%o.full == 0
	try := func(text, values string) contest.Report {
		set, err := data.ParseJSON("data.json", []byte(values))
		if err != nil {
			return contest.Report{}
		}
		var rep contest.Report
		switch {
		case r.Full:
			rep = contest.Contend(text, "random.model", set, seed, 2)
		case o.plain > 0 && seed%o.plain == 0:
			rep = contest.Quick(text, "random.model", set, seed, 2)
		default:
			rep = contest.Fast(text, "random.model", set, seed)
		}
		if rep.Bind+rep.Evaluate > slow && rep.Wrong == nil {
			rep.Wrong = &contest.Disagreement{Kind: "slow", Text: fmt.Sprintf("Bind takes %v of processor time, a gradient %v", rep.Bind, rep.Evaluate)}
		}
		return rep
	}
	begin := time.Now()
	rep := try(text, values)
	r.Seconds = time.Since(begin).Seconds()
	r.Compared, r.Rejected, r.Vague, r.Unsupported = rep.Compared, rep.Rejected, rep.Vague, rep.Unsupported
	if rep.Compared > 0 {
		r.Kinds = p.Patterns
	}
	if rep.Wrong == nil {
		return r
	}
	r.Wrong = rep.Wrong.Kind
	fails := func(text, values string) bool {
		again := try(text, values)
		return again.Wrong != nil && again.Wrong.Kind == r.Wrong
	}
	if r.Wrong != "slow" && r.Wrong != "program" { // a shorter text that does not compile is another fault
		text = proggen.Shrink(text, func(text string) bool { return fails(text, values) }, o.shrink)
		values = contest.Reduce(text, values, func(values string) bool { return fails(text, values) }, o.shrink/2)
		text = proggen.Shrink(text, func(text string) bool { return fails(text, values) }, o.shrink)
		values = contest.Reduce(text, values, func(values string) bool { return fails(text, values) }, o.shrink/2)
	}
	r.Signature = signature(r.Wrong, text)
	if again := try(text, values); again.Wrong != nil {
		rep = again
	}
	o.writeFault(seed, text, values, fmt.Sprintf("%s\n%s\n", rep.Wrong.Kind, rep.Wrong.Text))
	return r
}

// check compares the ways of evaluation for the programs of a folder.
func check(o options) error {
	files, err := filepath.Glob(filepath.Join(o.check, "*.stan"))
	if err != nil {
		return err
	}
	failed := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		set, err := data.ReadJSON(strings.TrimSuffix(file, ".stan")+".json", data.Options{})
		if err != nil {
			return err
		}
		rep := contest.Contend(string(text), "random.model", set, 1, 4)
		if rep.Wrong == nil {
			rep = contest.Quick(string(text), "random.model", set, 2, 4)
		}
		what := ""
		if rep.Wrong != nil {
			what, _, _ = strings.Cut(rep.Wrong.Kind+": "+rep.Wrong.Text, "\n")
		}
		if d := rep.Bind + rep.Evaluate; d > slow {
			what += fmt.Sprintf(" (%v)", d)
		}
		if what != "" {
			failed++
			fmt.Printf("%s: %.300s\n", file, what)
		}
	}
	fmt.Printf("%d of %d programs fail\n", failed, len(files))
	return nil
}

var (
	numbered = regexp.MustCompile(`\b([a-z]+)\d+\b`)
	sized    = regexp.MustCompile(`\b([a-zA-Z])[NTJK]{0,2}\b`)
	number   = regexp.MustCompile(`\d+(\.\d+)?`)
)

// signature returns the same text for faults that differ only in names and numbers.
func signature(kind, text string) string {
	if _, model, ok := strings.Cut(text, "parameters {"); ok {
		text = model
	}
	text = numbered.ReplaceAllString(text, "v")
	text = sized.ReplaceAllString(text, "$1")
	text = number.ReplaceAllString(text, "0")
	h := fnv.New32a()
	h.Write([]byte(strings.Join(strings.Fields(text), " ")))
	return fmt.Sprintf("%s %08x", kind, h.Sum32())
}
