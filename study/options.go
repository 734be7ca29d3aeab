package study

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/model"
)

// Options are the options of a fit, as ppl run has them, by name: sampler, chains, warmup,
// draws, thin, init, target-ess, stan-compat, and those of the sampler.
type Options map[string]string

// option declares an option that is not specific to a sampler.
type option struct {
	name, standard, doc string
	set                 func(*settings, string) error
}

// settings are parsed options.
type settings struct {
	run    fit.Options
	bind   model.BindOptions
	radius float64
}

// runOptions are the options that all samplers share.
var runOptions = []option{
	{"sampler", sampler.Names()[0], "one of " + strings.Join(sampler.Names(), ", "), func(*settings, string) error { return nil }},
	{"chains", "4", "number of chains", whole(1, func(s *settings, n int) { s.run.Chains = n })},
	{"warmup", "1000", "transitions of warm-up per chain", whole(0, func(s *settings, n int) { s.run.Warmup = orNone(n) })},
	{"draws", "1000", "transitions per chain after warm-up", whole(1, func(s *settings, n int) { s.run.Draws = n })},
	{"thin", "1", "keep every n-th draw", whole(1, func(s *settings, n int) { s.run.Thin = n })},
	{"init", "2", "radius of the random values on the unconstrained scale that chains start from", func(s *settings, text string) (err error) {
		if s.radius, err = strconv.ParseFloat(text, 64); err != nil || !(s.radius >= 0) {
			return errors.New("it must be a number, at least 0")
		}
		s.run.Init = infer.Uniform{Radius: s.radius}
		return nil
	}},
	{"target-ess", "0", "end when every quantity has this effective sample size; 0: after all draws", func(s *settings, text string) (err error) {
		if s.run.TargetESS, err = strconv.ParseFloat(text, 64); err != nil || !(s.run.TargetESS >= 0) {
			return errors.New("it must be a number, at least 0")
		}
		return nil
	}},
	{"stan-compat", "", "the version of Stan whose transforms are meant", func(s *settings, text string) error { s.bind.StanCompat = text; return nil }},
}

func whole(least int, set func(*settings, int)) func(*settings, string) error {
	return func(s *settings, text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least {
			return fmt.Errorf("it must be a whole number, at least %d", least)
		}
		set(s, n)
		return nil
	}
}

// orNone converts a number of transitions to [fit.Options], where 0 means the default and -1 none.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// Complete checks options and adds defaults for missing ones. An error names the option.
func (o Options) Complete() (Options, error) {
	out := Options{}
	for _, row := range runOptions {
		out[row.name] = row.standard
	}
	for name, value := range o {
		if _, twice := o[strings.ReplaceAll(name, "_", "-")]; twice && strings.Contains(name, "_") {
			return nil, &OptionError{name, errors.New("it is given twice, with _ and with -")}
		}
		out[strings.ReplaceAll(name, "_", "-")] = value
	}
	_, err := out.read()
	return out, err
}

// OptionError is an error in an option.
type OptionError struct {
	Name string
	Err  error
}

func (e *OptionError) Error() string { return fmt.Sprintf("option %s: %v", e.Name, e.Err) }
func (e *OptionError) Unwrap() error { return e.Err }

// read parses complete options.
func (o Options) read() (*settings, error) {
	s := &settings{}
	for _, row := range runOptions {
		if row.name == "sampler" {
			continue
		}
		if err := row.set(s, o[row.name]); err != nil {
			return nil, &OptionError{row.name, fmt.Errorf("%q: %w", o[row.name], err)}
		}
	}
	row, ok := sampler.Lookup(o["sampler"])
	if !ok {
		hint := "it can be " + strings.Join(sampler.Names(), ", ")
		if near := diag.Nearest(o["sampler"], slices.Values(sampler.Names())); near != "" {
			hint = "did you mean " + near + "?"
		}
		return nil, &OptionError{"sampler", fmt.Errorf("there is no sampler %q; %s", o["sampler"], hint)}
	}
	fs := flag.NewFlagSet(row.Name, flag.ContinueOnError)
	build := row.Options(fs)
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if slices.ContainsFunc(runOptions, func(r option) bool { return r.name == name }) {
			continue
		}
		f := fs.Lookup(name)
		if f == nil {
			return nil, &OptionError{name, unknownOption(name, row.Name, fs)}
		}
		if err := fs.Set(name, o[name]); err != nil {
			return nil, &OptionError{name, fmt.Errorf("%q: %w", o[name], err)}
		}
		if sampler.MeansDefault(f, o[name]) {
			return nil, &OptionError{name, fmt.Errorf("it cannot be %s; leave it out for the default, %s", o[name], f.DefValue)}
		}
	}
	var err error
	if s.run.Sampler, err = build(); err != nil {
		return nil, &OptionError{"sampler", err}
	}
	return s, nil
}

// unknownOption returns the error that there is no such option, with the most similar one.
func unknownOption(name, of string, fs *flag.FlagSet) error {
	for _, row := range sampler.Table() {
		other := flag.NewFlagSet(row.Name, flag.ContinueOnError)
		if row.Options(other); other.Lookup(name) != nil {
			return fmt.Errorf("the sampler %s does not have it, but %s does", of, row.Name)
		}
	}
	names := func(yield func(string) bool) {
		for _, r := range runOptions {
			if !yield(r.name) {
				return
			}
		}
		more := true
		fs.VisitAll(func(f *flag.Flag) { more = more && yield(f.Name) })
	}
	if near := diag.Nearest(name, names); near != "" {
		return fmt.Errorf("there is no such option; did you mean %s?", near)
	}
	return errors.New("there is no such option; they are those of ppl run")
}
