package engine

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/front/report"
)

// run is a run whose chains are collected.
type run struct {
	settings Settings
	gathered *fit.Gathered
	live     report.Live
}

// kept is the last complete report, and the settings of its run.
type kept struct {
	settings Settings
	report   *report.Report
}

// reportSize is the maximum size in bytes of the quantities' draws and plots in a report. Plots of
// other quantities are made on request.
const reportSize = 1 << 20

type gathering struct {
	Quantities int `json:"quantities"`
}

// gather starts to collect the chains of a run.
func (e *Engine) gather(c *call, s *Settings) (*gathering, error) {
	o, err := s.options()
	if err != nil {
		return nil, err
	}
	posterior, err := s.bind(c, nil)
	if err != nil {
		return nil, err
	}
	g, err := fit.Gather(posterior, o)
	if err != nil {
		return nil, err
	}
	e.run = &run{settings: *s, gathered: g}
	return &gathering{len(posterior.OutputNames())}, nil
}

// add adds a part of a chain.
func (e *Engine) add(_ context.Context, part []byte, _ Emit) ([]byte, error) {
	if e.run == nil {
		return nil, errNoRun
	}
	return nil, e.run.gathered.Add(part)
}

var errNoRun = errors.New("there is no run")

// stateRequest has the state of the run.
type stateRequest struct {
	Running     bool `json:"running"`
	Interrupted bool `json:"interrupted"`
}

func (r *run) options() report.Options {
	title, _, _ := strings.Cut(def(r.settings.Name, "model"), ".")
	return report.Options{Title: title, Size: reportSize}
}

// sofar returns the report of the draws so far, without plots of quantities.
func (e *Engine) sofar(c *call, r *stateRequest) (*report.Report, error) {
	if e.run == nil {
		return nil, errNoRun
	}
	return e.run.live.New(c, e.run.gathered.Fit(r.Running, r.Interrupted), e.run.options())
}

// report returns the complete report of a run that has ended.
func (e *Engine) report(c *call, r *stateRequest) (*report.Report, error) {
	if e.run == nil {
		return nil, errNoRun
	}
	made, err := report.New(c, e.run.gathered.Fit(false, r.Interrupted), e.run.options())
	if err != nil {
		return nil, err
	}
	e.last = &kept{e.run.settings, made}
	return made, nil
}

type rowRequest struct {
	Row int `json:"row"`
}

// quantity returns the plots of one quantity in the last report of sofar.
func (e *Engine) quantity(_ *call, r *rowRequest) (*report.Quantity, error) {
	if e.run == nil {
		return nil, errNoRun
	}
	q, ok := e.run.live.Quantity(r.Row)
	if !ok {
		return nil, errors.New("the run has no such quantity")
	}
	return &q, nil
}

// page returns the last report as an HTML file.
func (e *Engine) page(context.Context, []byte, Emit) ([]byte, error) {
	if e.last == nil {
		return nil, errNoRun
	}
	var b bytes.Buffer
	err := e.last.report.WriteHTML(&b)
	return b.Bytes(), err
}
