package fit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/model"
)

// Save writes the fit to a folder, and makes the folder if needed. It writes the exact draws as CSV
// files in CmdStan's format, the model, the data and the configuration, so that [ReadFit] and the
// command ppl find all they need. [Fit.Config] is restored, except for functions in it and samplers
// that are not in package infer/sampler. Save fails if the folder already has a run.
func (f *Fit) Save(dir string) error {
	if err := f.Err(); err != nil {
		return err
	}
	r, exact, err := f.saved()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, folder.RecordFile)); err == nil {
		return fmt.Errorf("ppl: the folder %s holds a run already", dir)
	}
	if err := files.MakeFolder(dir); err != nil {
		return err
	}
	p := exact.posterior
	if err := r.Keep(dir, sourceOf(p), p.Data()); err != nil {
		return err
	}
	if f.Files, err = exact.WriteCSV(filepath.Join(dir, r.Name)); err != nil {
		return err
	}
	return r.Write(dir)
}

// saved returns the record of a saved fit, and the fit with the draws as they are saved: exact, and
// with the settings of its own run.
func (f *Fit) saved() (*folder.Record, *Fit, error) {
	p, err := f.Posterior(context.Background())
	if err != nil {
		return nil, nil, err
	}
	r := &folder.Record{
		Options: map[string][]string{}, // a fit has no command line
		Program: "ppl " + model.Version(), Model: p.Name(), Name: folder.BaseName(p.Name()), Seed: p.Options().Seed, StanCompat: p.Options().StanCompat, Legacy: p.Model().Options().Legacy,
	}
	r.Cuts = f.Counts()
	r.Finish(f.Report, f.planFaults(), nil)
	r.Density, r.Config = f.DensityCheck(), folder.ConfigOf(f.config)
	return r, &Fit{Draws: f.Draws, Report: f.Report, posterior: p, config: f.config, started: f.started}, nil
}

func sourceOf(p *model.Posterior) *folder.Source {
	m := p.Model()
	return &folder.Source{Name: m.Name(), Text: m.Text(), Included: m.Included()}
}
