// Package rules checks draws in CmdStan's CSV format, as strictly as the strictest of the programs
// that read it: CmdStanPy, CmdStanR, rstan, ArviZ. Tests check the files of all samplers with it
// where those programs are not installed; internal/clients/run.sh runs the programs themselves.
//
// The rules come from the sources of these programs. A file consists of
//
//   - a head: comment lines "name = value", perhaps with "(Default)", indented as a tree.
//     All read model, method, num_samples, num_warmup, thin and save_warmup; CmdStanPy
//     also metric and, where there are draws of a sampler that adapts, max_depth.
//     CmdStan since 2.35 writes true and false for save_warmup; rstan reads whole numbers only.
//   - a line of column names. CmdStanPy looks for divergent__ and treedepth__, which must
//     be written as whole numbers; CmdStanR also for energy__.
//   - the draws of warm-up, if save_warmup is 1: num_warmup divided by thin, rounded up.
//   - "# Adaptation terminated", "# Step size = number", a title of the metric as the head
//     names it, and its rows. CmdStanPy reads draws from the next line on, and takes a
//     comment there for their end. CmdStanR's inv_metric() needs a diagonal or a matrix.
//     There is no such block if algorithm is fixed_param.
//   - the draws: num_samples divided by thin, rounded up, each with a value per column.
//   - comments. CmdStanR takes any with "=" for a setting that replaces one of the head.
//     rstan reads the seconds in the two lines from "Elapsed Time" on by their digits
//     and points alone, so that there is no exponent.
//
// The files of a run agree in their columns and in the settings that the programs compare.
package rules

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// compared are the settings in which the files of a run must agree: CmdStanPy and CmdStanR
// compare them, the latter with a warning.
var compared = []string{"stan_version_major", "stan_version_minor", "stan_version_patch", "stanc_version", "model", "method",
	"num_samples", "num_warmup", "save_warmup", "thin", "refresh", "gamma", "kappa", "delta", "t0", "init_buffer", "term_buffer", "window",
	"algorithm", "engine", "max_depth", "metric", "stepsize_jitter", "engaged"}

// Check returns an error if the files of a run's chains break a rule, with file and line.
func Check(paths ...string) error {
	if len(paths) == 0 {
		return fmt.Errorf("there are no files")
	}
	var first *file
	for _, path := range paths {
		f, err := read(path)
		if err != nil {
			return err
		}
		if first == nil {
			first = f
			continue
		}
		if !slices.Equal(f.columns, first.columns) {
			return fmt.Errorf("%s: its columns are not those of %s", path, paths[0])
		}
		for _, name := range compared {
			if f.head[name] != first.head[name] {
				return fmt.Errorf("%s: %s is %q, but %q in %s", path, name, f.head[name], first.head[name], paths[0])
			}
		}
	}
	return nil
}

// file is the contents of a file, with the position of the reader.
type file struct {
	path    string
	lines   []string
	at      int
	head    map[string]string
	columns []string
}

func read(path string) (*file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &file{path: path, lines: strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), head: map[string]string{}}
	for _, part := range []func() error{f.readHead, f.readColumns, f.readWarmup, f.readAdaptation, f.readDraws, f.readEnd} {
		if err := part(); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, min(f.at, len(f.lines)-1)+1, err)
		}
	}
	return f, nil
}

// line returns the next line; "" at the end.
func (f *file) line() string {
	if f.at < len(f.lines) {
		return f.lines[f.at]
	}
	return ""
}

// fixed reports whether nothing was adapted.
func (f *file) fixed() bool { return f.head["algorithm"] == "fixed_param" }

func (f *file) readHead() error {
	for ; strings.HasPrefix(f.line(), "#"); f.at++ {
		name, value, ok := strings.Cut(strings.TrimLeft(f.line(), "# \t"), "=")
		if ok && !strings.Contains(value, "=") {
			f.head[strings.TrimSpace(name)] = strings.TrimSpace(strings.Replace(value, "(Default)", "", 1))
		}
	}
	for _, name := range []string{"model", "method", "metric", "algorithm"} {
		if f.head[name] == "" {
			return fmt.Errorf("the head has no %s", name)
		}
	}
	for _, name := range []string{"num_samples", "num_warmup", "thin", "id", "max_depth"} {
		if _, err := f.whole(name); err != nil && !(name == "max_depth" && f.fixed()) {
			return err
		}
	}
	if !slices.Contains([]string{"0", "1", "false", "true"}, f.head["save_warmup"]) {
		return fmt.Errorf("save_warmup is %q in the head", f.head["save_warmup"])
	}
	if n, _ := f.whole("num_warmup"); n == 0 && f.head["engaged"] != "false" && f.head["engaged"] != "0" {
		return fmt.Errorf("adaptation is engaged, but num_warmup is 0")
	}
	return nil
}

// whole returns an integer setting.
func (f *file) whole(name string) (int, error) {
	n, err := strconv.Atoi(f.head[name])
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is %q in the head, but must be a whole number", name, f.head[name])
	}
	return n, nil
}

// kept returns the number of draws kept after thinning, for a setting with a number of transitions.
func (f *file) kept(name string) int {
	n, _ := f.whole(name)
	thin, _ := f.whole("thin")
	return (n + thin - 1) / max(1, thin)
}

func (f *file) readColumns() error {
	f.columns = strings.Split(f.line(), ",")
	f.at++
	wanted := []string{"lp__", "divergent__", "treedepth__", "energy__"}
	if f.fixed() {
		wanted = wanted[:1]
	}
	for _, name := range wanted {
		if !slices.Contains(f.columns, name) {
			return fmt.Errorf("there is no column %s", name)
		}
	}
	if names := slices.Sorted(slices.Values(f.columns)); len(slices.Compact(names)) < len(f.columns) {
		return fmt.Errorf("two columns have the same name")
	}
	return nil
}

func (f *file) readWarmup() error {
	if f.head["save_warmup"] == "0" || f.head["save_warmup"] == "false" || f.fixed() {
		return nil
	}
	return f.rows(f.kept("num_warmup"), "draws of warm-up")
}

func (f *file) readDraws() error { return f.rows(f.kept("num_samples"), "draws") }

// rows reads rows up to a comment.
func (f *file) rows(want int, what string) error {
	start := f.at
	for ; f.line() != "" && !strings.HasPrefix(f.line(), "#"); f.at++ {
		fields := strings.Split(f.line(), ",")
		if len(fields) != len(f.columns) {
			return fmt.Errorf("%d values for %d columns", len(fields), len(f.columns))
		}
		for i, field := range fields {
			if _, err := strconv.ParseFloat(field, 64); err != nil {
				return fmt.Errorf("%s is %q", f.columns[i], field)
			}
			if name := f.columns[i]; name == "divergent__" || name == "treedepth__" {
				if _, err := strconv.Atoi(field); err != nil {
					return fmt.Errorf("%s is %q, but must be a whole number", name, field)
				}
			}
		}
	}
	if got := f.at - start; got != want {
		return fmt.Errorf("%d %s, but the head says %d", got, what, want)
	}
	return nil
}

func (f *file) readAdaptation() error {
	if f.fixed() {
		return nil
	}
	if f.line() != "# Adaptation terminated" {
		return fmt.Errorf("%q is not the start of what was adapted", f.line())
	}
	f.at++
	size, ok := strings.CutPrefix(f.line(), "# Step size = ")
	if _, err := strconv.ParseFloat(size, 64); !ok || err != nil {
		return fmt.Errorf("%q is no step size", f.line())
	}
	f.at++
	title, dense := f.line(), f.head["metric"] == "dense_e"
	switch {
	case dense && title == "# Elements of inverse mass matrix:":
	case f.head["metric"] == "diag_e" && title == "# Diagonal elements of inverse mass matrix:":
	default:
		return fmt.Errorf("%q does not announce a metric of the kind %q, which the head names", title, f.head["metric"])
	}
	f.at++
	for row, size := 0, 1; row < size; row++ {
		elements := strings.Split(strings.TrimPrefix(f.line(), "# "), ", ")
		for _, e := range elements {
			if _, err := strconv.ParseFloat(e, 64); err != nil {
				return fmt.Errorf("%q is no element of a metric", e)
			}
		}
		if dense && row == 0 {
			size = len(elements)
		}
		if dense && len(elements) != size {
			return fmt.Errorf("the metric has rows of %d and of %d elements", size, len(elements))
		}
		f.at++
	}
	return nil
}

func (f *file) readEnd() error {
	timed := 0
	for ; f.at < len(f.lines); f.at++ {
		line := f.line()
		if !strings.HasPrefix(line, "#") {
			return fmt.Errorf("%q follows the draws", line)
		}
		if strings.Contains(line, "=") {
			return fmt.Errorf("CmdStanR takes %q for a setting", line)
		}
		if strings.Contains(line, "Elapsed Time") {
			timed = 1
		}
		if timed == 1 || timed == 2 {
			timed++
			digits := strings.Map(func(r rune) rune {
				if r == '.' || r >= '0' && r <= '9' {
					return r
				}
				return -1
			}, line)
			number := strings.TrimPrefix(strings.TrimLeft(line, "# "), "Elapsed Time: ")
			number, _, _ = strings.Cut(number, " seconds")
			if digits != number {
				return fmt.Errorf("rstan reads the time %q as %q", number, digits)
			}
		}
	}
	if timed == 0 {
		return fmt.Errorf("there is no Elapsed Time")
	}
	return nil
}
