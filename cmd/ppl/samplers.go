package main

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/lang/diag"
)

// samplerFlags has the options of all samplers. The flag --sampler determines which of them may be
// used, so their values are kept as text until the sampler is known.
type samplerFlags struct {
	name   string
	asked  bool // the user named the sampler; otherwise it is the default
	values map[string]*samplerFlag
}

// samplerFlag is an option of one or more samplers.
type samplerFlag struct {
	flag     *flag.Flag
	samplers []string // names of the samplers that have this option
	text     string
}

// String, Set and Type implement pflag.Value.
func (f *samplerFlag) String() string     { return f.flag.DefValue }
func (f *samplerFlag) Set(s string) error { f.text = s; return nil }
func (f *samplerFlag) Type() string {
	if isBool(f.flag) {
		return "bool"
	}
	name, _ := flag.UnquoteUsage(f.flag)
	return name
}

func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// flags declares --sampler and the options of all samplers.
func (s *samplerFlags) flags(cmd *cobra.Command) {
	s.values = map[string]*samplerFlag{}
	d := declare(cmd)
	d.String(&s.name, "sampler", sampler.Names()[0])
	for _, row := range sampler.Table() {
		fs := flag.NewFlagSet(row.Name, flag.ContinueOnError)
		row.Options(fs)
		fs.VisitAll(func(f *flag.Flag) {
			v, ok := s.values[f.Name]
			if !ok {
				v = &samplerFlag{flag: f}
				s.values[f.Name] = v
			} else if len(f.Usage) > len(v.flag.Usage) { // show the longer text, which has more options
				v.flag = f
			}
			v.samplers = append(v.samplers, row.Name)
		})
	}
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
		v := s.values[name]
		// Usage texts of package flag have -name; this program has --name.
		text := " " + v.flag.Usage
		for other := range s.values {
			text = strings.ReplaceAll(text, " -"+other, " --"+other)
		}
		value, text := valueWord(v.flag, text[1:])
		f := d.set.VarPF(v, name, "", text)
		about := topicShared
		if len(v.samplers) == 1 {
			about = samplerTopic(v.samplers[0])
		} else {
			f.Usage += " [" + strings.Join(v.samplers, ", ") + "]"
		}
		d.note(f, about, slices.Contains(commonSamplerFlags, name), value)
		values := cobra.NoFileCompletions
		if isBool(v.flag) {
			f.NoOptDefVal = "true"
		} else if name == "metric" {
			values = oneOf(metricChoices()...)
		} else if words, ok := v.flag.Value.(interface{ Choices() []string }); ok {
			values = oneOf(words.Choices()...)
		}
		d.complete(name, values)
	}
}

// commonSamplerFlags lists the options of samplers that ppl run --help shows.
var commonSamplerFlags = []string{"delta", "max-depth"}

// samplerTopic returns the topic of the options of a single sampler.
func samplerTopic(name string) topic { return topic("Sampler " + name) }

// valueWord extracts the word for the value from a usage text of package flag. It removes the
// default from the text, because help adds the default itself.
func valueWord(f *flag.Flag, text string) (value, rest string) {
	if before, after, ok := strings.Cut(text, "`"); ok {
		word, after, _ := strings.Cut(after, "`")
		value, text = strings.ToUpper(word), before+word+after
	} else if word, _ := flag.UnquoteUsage(f); !isBool(f) {
		value = map[string]string{"int": "N", "uint": "N", "float": "X"}[word]
		if value == "" {
			value = "WORD"
		}
	}
	if i := strings.Index(text, " (default "); i >= 0 {
		text = text[:i]
	}
	return value, text
}

// build makes the selected sampler. assumed has values for options that the user did not set; those
// that the sampler lacks are ignored.
func (s *samplerFlags) build(flags *pflag.FlagSet, assumed map[string]string) (infer.Sampler, error) {
	row, ok := sampler.Lookup(s.name)
	if !ok {
		names := sampler.Names()
		hint := "it can be " + strings.Join(names, ", ")
		if near := diag.Nearest(s.name, slices.Values(names)); near != "" {
			hint = fmt.Sprintf("did you mean %s? It can be %s", near, strings.Join(names, ", "))
		}
		return nil, usagef("unknown sampler %q; %s", s.name, hint)
	}
	fs := flag.NewFlagSet(row.Name, flag.ContinueOnError)
	build := row.Options(fs)
	var err error
	for name, value := range assumed {
		if fs.Lookup(name) == nil || flags.Changed(name) {
			continue
		}
		if fs.Set(name, value) != nil {
			return nil, usagef("the sampler %s does not take the %s %s, which --metric-file gives", row.Name, name, value)
		}
	}
	flags.Visit(func(f *pflag.Flag) {
		v, ok := s.values[f.Name]
		if !ok || err != nil {
			return
		}
		if !slices.Contains(v.samplers, row.Name) {
			if s.asked {
				err = usagef("--%s is not an option of the sampler %s, but of %s", f.Name, row.Name, strings.Join(v.samplers, ", "))
			} else {
				err = usagef("--%s is not an option of the sampler %s, which is used unless another is asked for, but of %s; add --sampler %s, or leave --%s out",
					f.Name, row.Name, strings.Join(v.samplers, ", "), v.samplers[0], f.Name)
			}
			return
		}
		if e := fs.Set(f.Name, v.text); e != nil {
			err = usagef("invalid value %q for --%s: %w", v.text, f.Name, e)
		} else if own := fs.Lookup(f.Name); sampler.MeansDefault(own, v.text) {
			err = usagef("--%s cannot be %s; leave it out for the default, %s", f.Name, v.text, own.DefValue)
		}
	})
	if err != nil {
		return nil, err
	}
	built, err := build()
	if err != nil {
		return nil, usage(err)
	}
	return built, nil
}
