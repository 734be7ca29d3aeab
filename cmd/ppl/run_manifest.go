package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/ppl-lang/ppl"
)

// manifestName is the file in an output folder that says how the run is made.
const manifestName = "run.json"

// manifest is its contents: what --resume needs, and, at the end, what later
// runs can start from.
type manifest struct {
	Program     string              `json:"program"`
	Model       string              `json:"model"`
	ModelSHA256 string              `json:"model_sha256"`
	Data        string              `json:"data,omitempty"`
	DataSHA256  string              `json:"data_sha256,omitempty"`
	Options     map[string][]string `json:"options"` // as given, those that may be repeated with all their values
	Complete    bool                `json:"complete"`
	Chains      []ppl.Adapted       `json:"chains,omitempty"`
}

// Options that concern how a run is shown and how long it may take, not what it
// draws; they may be given with --resume.
var passing = []string{"json", "quiet", "parallel", "time-limit", "resume", "salvage", "overwrite", "help", "max-source", "max-data"}

// Options whose values are paths.
var paths = []string{"data", "out", "init", "metric-file", "include-path"}

// newManifest describes a run by its command line and what was read for it.
func newManifest(model string, in *input, flags *pflag.FlagSet) *manifest {
	m := &manifest{
		Program: "ppl " + ppl.Version(), Model: absolute(model), ModelSHA256: digest(in.source.Text),
		Options: map[string][]string{},
	}
	if in.data != "" {
		m.Data, m.DataSHA256 = absolute(in.data), digest(in.text)
	}
	flags.Visit(func(f *pflag.Flag) {
		if slices.Contains(passing, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		switch v := f.Value.(type) {
		case *samplerFlag:
			values = []string{v.text}
		case pflag.SliceValue:
			values = v.GetSlice()
		}
		for i, text := range values {
			if _, err := os.Stat(text); slices.Contains(paths, f.Name) && err == nil {
				values[i] = absolute(text)
			}
		}
		m.Options[f.Name] = values
	})
	return m
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

// digest is the SHA-256 of a text.
func digest(text string) string {
	h := sha256.New()
	io.WriteString(h, text)
	return hex.EncodeToString(h.Sum(nil))
}

// unchanged refuses model and data, as they have been read, that are not those
// of the run to resume.
func (o *runOptions) unchanged(m *manifest) error {
	if digest(o.source.Text) != m.ModelSHA256 {
		return fmt.Errorf("--resume %s: the model %s is not what it was when the run began", o.resume, m.Model)
	}
	if m.Data != "" && o.textErr == nil && digest(o.text) != m.DataSHA256 {
		return fmt.Errorf("--resume %s: the data in %s are not what they were when the run began", o.resume, m.Data)
	}
	return nil
}

// write replaces the manifest in a folder.
func (m *manifest) write(dir string) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, manifestName)
	err = os.WriteFile(path+".tmp", ppl.Seal(text), 0o666)
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		os.Remove(path + ".tmp")
		return fmt.Errorf("cannot write to the output folder: %w; choose another one by --out", err)
	}
	return nil
}

func (m *manifest) remove(dir string) { os.Remove(filepath.Join(dir, manifestName)) }

// finish adds what the run has come to.
func (m *manifest) finish(dir string, fit *ppl.Fit, err error) error {
	m.Complete = err == nil && !fit.Report.Interrupted
	m.Chains = fit.Adapted()
	return m.write(dir)
}

// replace looks at a run that is in the output folder already. One that is not
// complete stays, unless it may be overwritten: what it has drawn would be lost.
func (o *runOptions) replace() error {
	old, err := readManifest(o.out)
	if errors.As(err, new(*fs.PathError)) || err == nil && old.Complete {
		return nil // what else may be wrong with the folder will be told
	}
	if !o.overwrite {
		what := "holds a run that is not complete"
		if err != nil {
			what = fmt.Sprintf("holds a run that cannot be read (%v)", err)
		}
		return fmt.Errorf("the folder %s %s. Go on with it by: ppl run --resume %s\nOr choose another folder by --out, or replace it by --overwrite", o.out, what, o.out)
	}
	if err != nil {
		return nil
	}
	// Its files may have other names than those of the new run.
	base := filepath.Join(o.out, modelName(old.Model))
	for _, pattern := range []string{"_*.journal", "_*.state", "_*.csv.tmp"} {
		names, _ := filepath.Glob(base + pattern)
		for _, name := range names {
			if err := os.Remove(name); err != nil {
				return fmt.Errorf("cannot remove the earlier run: %w", err)
			}
		}
	}
	return nil
}

// readManifest reads the manifest in a folder.
func readManifest(dir string) (*manifest, error) {
	path := filepath.Join(dir, manifestName)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := &manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, ppl.CheckSeal(path, text)
}

// option is the value of an option of a run, "" if it was not given.
func (m *manifest) option(name string) string {
	if v := m.Options[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// sameScale refuses positions and metrics of a run whose unconstrained scale is
// another one. path is the folder of that run, or a file in it.
func (o *runOptions) sameScale(option, path string) error {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		path = filepath.Dir(path)
	}
	m, err := readManifest(path)
	if m != nil && err != nil {
		return fmt.Errorf("--%s: %w", option, err)
	}
	if err != nil || m.option("stan-compat") == o.stanCompat {
		return nil
	}
	name := func(version string) string {
		if version == "" {
			return "without --stan-compat"
		}
		return "with --stan-compat " + version
	}
	return fmt.Errorf("--%s %s: that run was made %s, this one is %s: their unconstrained scales can differ", option, path, name(m.option("stan-compat")), name(o.stanCompat))
}

// recall reads the manifest of the run to resume and sets the options that it
// was made with.
func (o *runOptions) recall(flags *pflag.FlagSet) (*manifest, error) {
	var wrong string
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(passing, f.Name) && wrong == "" {
			wrong = f.Name
		}
	})
	if wrong != "" {
		return nil, usagef("--%s cannot be given with --resume: the run goes on with its own options", wrong)
	}
	m, err := readManifest(o.resume)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--resume %s: the folder holds no run: there is no %s", o.resume, manifestName)
	}
	if err != nil { // --salvage does not help: with other options, the draws would be others
		return nil, fmt.Errorf("--resume: %w", err)
	}
	for name, values := range m.Options {
		if flags.Lookup(name) == nil {
			return nil, fmt.Errorf("--resume %s: this program has no option --%s", o.resume, name)
		}
		for _, value := range values {
			if err := flags.Set(name, value); err != nil {
				return nil, fmt.Errorf("--resume %s: --%s: %w", o.resume, name, err)
			}
		}
	}
	o.out = o.resume
	return m, nil
}
