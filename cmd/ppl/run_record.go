package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/model"
)

// newRecord returns a record of a run, with its command line and the files read for it.
func newRecord(compiled string, in *input, flags *pflag.FlagSet) *folder.Record {
	m := &folder.Record{
		Program: "ppl " + model.Version(), Model: absolute(compiled), ModelSHA256: files.Digest(in.source.Text), Name: folder.BaseName(compiled),
		Options: map[string][]string{}, Seed: in.seed, StanCompat: in.stanCompat, Legacy: in.compile.Legacy,
	}
	if f := flags.Lookup("format"); f != nil && f.Value.String() != string(fit.CSV) {
		m.Format = f.Value.String()
	}
	m.Data, m.DataSHA256 = in.dataRecord()
	flags.Visit(func(f *pflag.Flag) {
		if passes(f.Name) {
			return
		}
		values := []string{f.Value.String()}
		switch v := f.Value.(type) {
		case *samplerFlag:
			values = []string{v.text}
		case *dataFlag:
			values = v.files()
		case pflag.SliceValue:
			values = v.GetSlice()
		}
		for i, text := range values {
			if _, err := os.Stat(text); isPath(f.Name) && err == nil {
				values[i] = absolute(text)
			}
		}
		m.Options[f.Name] = values
		if from := noted(f, noteOrigin); from != "" {
			if m.Configured == nil {
				m.Configured = map[string]string{}
			}
			m.Configured[f.Name] = from
		}
	})
	return m
}

// sourceOf returns the source of a model, to store in the folder of a run.
func sourceOf(m *model.Model) *folder.Source {
	return &folder.Source{Name: m.Name(), Text: m.Text(), Included: m.Included()}
}

func absolute(path string) string {
	if path == "-" {
		return path
	}
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// unchanged returns an error if the given model or data differ from those of the run to resume.
func (o *runOptions) unchanged(m *folder.Record) error {
	if o.source != nil && files.Digest(o.source.Text) != m.ModelSHA256 {
		return fmt.Errorf("--resume %s: the model %s is not that of the run; without it, the run goes on with the one that is kept in the folder", o.resume, o.source.Name)
	}
	if o.data != "" && o.textErr == nil && o.digest != m.DataSHA256 {
		return fmt.Errorf("--resume %s: the data in %s are not those of the run; without them, the run goes on with those that are kept in the folder", o.resume, fileName(o.data))
	}
	return o.textErr
}

// writeRecord replaces the record in the output folder.
func writeRecord(m *folder.Record, dir string) error {
	if err := m.Write(dir); err != nil {
		return fmt.Errorf("cannot write to the output folder: %w; choose another one by --out", err)
	}
	return nil
}

// sameScale returns an error if positions and metrics of a run cannot be used because it had
// another unconstrained scale. path is the folder of that run, or a file in it.
func (o *runOptions) sameScale(option, path string) error {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		path = filepath.Dir(path)
	}
	m, err := folder.Read(path)
	if m != nil && err != nil {
		return fmt.Errorf("--%s: %w", option, err)
	}
	if err != nil || m.Option("stan-compat") == o.stanCompat {
		return nil
	}
	name := func(version string) string {
		if version == "" {
			return "without --stan-compat"
		}
		return "with --stan-compat " + version
	}
	return fmt.Errorf("--%s %s: that run was made %s, this one is %s: their unconstrained scales can differ", option, path, name(m.Option("stan-compat")), name(o.stanCompat))
}

// recall reads the record of the run to resume and restores its options.
func (o *runOptions) recall(flags *pflag.FlagSet) (*folder.Record, error) {
	var wrong string
	flags.Visit(func(f *pflag.Flag) {
		if !passes(f.Name) && f.Name != "data" && wrong == "" {
			wrong = f.Name
		}
	})
	if wrong != "" {
		return nil, usagef("--%s cannot be given with --resume: the run goes on with its own options", wrong)
	}
	m, err := settled(o.resume)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--resume %s: the folder holds no run: there is no %s", o.resume, folder.RecordFile)
	}
	if err != nil { // --salvage cannot help: other options would give other draws
		return nil, fmt.Errorf("--resume: %w", err)
	}
	for name, values := range m.Options {
		if name == "data" {
			continue // the run keeps these files, and unchanged compares given ones with them
		}
		if flags.Lookup(name) == nil {
			return nil, fmt.Errorf("--resume %s: this program has no option --%s", o.resume, name)
		}
		for _, value := range values {
			if err := flags.Set(name, value); err != nil {
				return nil, fmt.Errorf("--resume %s: --%s: %w", o.resume, name, err)
			}
		}
	}
	if _, ok := m.Options["sampler"]; !ok { // the default before samplers were recorded
		if err := flags.Set("sampler", "nuts"); err != nil {
			return nil, err
		}
	}
	o.out = o.resume
	return m, nil
}

// dataRecord returns what the record of a run says about the origin of its data. If no single file
// has them, it names none, and the folder keeps them however large they are.
func (in *input) dataRecord() (path, digest string) {
	switch {
	case in.data == "":
		return "", ""
	case len(in.others) > 0:
		return "", in.digest
	}
	return absolute(in.data), in.digest
}
