package engine

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/infer/sampler"
)

// fileName makes a name that is valid as a file name on all systems and as a word in a shell.
func fileName(name, otherwise string) string {
	name = regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(path.Base(name), "_")
	if name = strings.Trim(name, "_.-"); name == "" {
		return otherwise
	}
	return name
}

// folder returns a ZIP file with the model, the data, and the command line that runs them. It
// includes the last report if that belongs to the same run.
func (e *Engine) folder(_ context.Context, body []byte, _ Emit) ([]byte, error) {
	var s Settings
	if err := json.Unmarshal(body, &s); err != nil {
		return nil, err
	}
	model := fileName(def(s.Name, "model.stan"), "model.stan")
	if path.Ext(model) == "" {
		model += ".stan"
	}
	dir := strings.TrimSuffix(model, path.Ext(model))
	values := fileName(def(s.DataName, "data.json"), "data.json")
	command := "ppl run " + model
	if strings.TrimSpace(s.Data) != "" {
		command += " --data " + values
		for _, c := range s.Counts {
			command += " --count " + quoted(c)
		}
	}
	if s.Sampler != "" && s.Sampler != sampler.Names()[0] {
		command += " --sampler " + quoted(s.Sampler)
	}
	for _, o := range slices.Sorted(maps.Keys(s.Options)) {
		if v := s.Options[o]; v != "" {
			command += fmt.Sprintf(" --%s=%s", o, quoted(v))
		}
	}
	for _, n := range []struct {
		option string
		value  int
		usual  int
	}{{"chains", s.Chains, 4}, {"warmup", max(s.Warmup, 0), 1000}, {"draws", s.Draws, 1000}} {
		if n.value != n.usual && (n.value > 0 || n.option == "warmup" && s.Warmup < 0) {
			command += fmt.Sprintf(" --%s %d", n.option, n.value)
		}
	}
	if s.Seed != "" {
		command += " --seed " + quoted(s.Seed)
	}
	readme := fmt.Sprintf("The model %s with its data, as they were in the playground of ppl. To run them:\n\n    %s --out fit\n    ppl report fit\n", model, command)

	var out bytes.Buffer
	w := zip.NewWriter(&out)
	add := func(name string, write func(io.Writer) error) error {
		f, err := w.CreateHeader(&zip.FileHeader{Name: dir + "/" + name, Method: zip.Deflate, Modified: time.Now()})
		if err != nil {
			return err
		}
		return write(f)
	}
	text := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	if err := add(model, text(s.Model)); err != nil {
		return nil, err
	}
	if strings.TrimSpace(s.Data) != "" {
		if err := add(values, text(s.Data)); err != nil {
			return nil, err
		}
	}
	if err := add("README.md", text(readme)); err != nil {
		return nil, err
	}
	if e.last != nil && e.last.settings.Model == s.Model && e.last.settings.Data == s.Data {
		if err := add("report.html", e.last.report.WriteHTML); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// quoted quotes a text as one word for a shell.
func quoted(text string) string {
	if regexp.MustCompile(`^[A-Za-z0-9._/=+-]+$`).MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
