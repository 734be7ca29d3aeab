package fit

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"time"

	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/auto"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/model"
)

// Gathered combines the chains of a run that run separately: in different processes, or in the
// workers of a web page. Each of them calls [Sample] with the same posterior and options, but with
// Chains 1, and the number of its chain as FirstID. From time to time, and at its end, it sends the
// result of [Fit.EncodeFrom]. The draws equal those of one run of all chains, unless the sampler's
// chains learn from each other.
type Gathered struct {
	fit     *Fit
	density []*folder.Density // by chain
}

// Gather prepares to combine a run of o.Chains chains. An error says that an option is invalid.
func Gather(p *model.Posterior, o Options) (*Gathered, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	if o.Sampler == nil {
		o.Sampler = auto.Sampler{}
	}
	session, err := infer.NewSession(p, o.config())
	if err != nil {
		return nil, err
	}
	cfg := session.Config()
	g := &Gathered{density: make([]*folder.Density, cfg.Chains), fit: &Fit{posterior: p, config: cfg, sigFigs: o.SigFigs, started: time.Now(), Report: session.Report()}}
	columns := draws.Columns{Statistics: statistics(o.Sampler), Names: p.OutputNames()}
	g.fit.Draws, err = draws.NewStore(columns, cfg.Chains, (cfg.Draws+cfg.Thin-1)/cfg.Thin)
	return g, err
}

// part is the encoded form of some draws of one chain.
type part struct {
	Version int // version of this encoding
	From    int // number of draws of the chain before these
	Rows    []float64
	Report  infer.ChainReport
	Failure string // why the chain failed
	Density *folder.Density
}

const partVersion = 2

// EncodeFrom encodes a one-chain fit for [Gathered.Add], without its first draws up to from, which
// were sent before. n is the number of draws that have then been sent. The fit may come from
// [Run.SoFar].
func (f *Fit) EncodeFrom(from int) (encoded []byte, n int, err error) {
	if err := f.Err(); err != nil {
		return nil, 0, err
	}
	if f.Draws.Chains() != 1 {
		return nil, 0, fmt.Errorf("ppl: a part of %d chains; each is handed over by itself", f.Draws.Chains())
	}
	p := part{Version: partVersion, From: from, Report: f.Report.Chains[0], Density: f.density}
	if err := p.Report.Err; err != nil {
		p.Report.Err, p.Failure = nil, err.Error()
	}
	n = f.Draws.Len(0)
	for i := from; i < n; i++ {
		statistics, values := f.Draws.Draw(0, i)
		p.Rows = append(append(p.Rows, statistics...), values...)
	}
	var out bytes.Buffer
	err = gob.NewEncoder(&out).Encode(p)
	return out.Bytes(), n, err
}

// Add adds an encoded part of a chain. Add the parts of a chain in order. Do not call Add and Fit
// at the same time.
func (g *Gathered) Add(encoded []byte) error {
	var p part
	if err := gob.NewDecoder(bytes.NewReader(encoded)).Decode(&p); err != nil {
		return fmt.Errorf("ppl: a part of a run cannot be read: %w", err)
	}
	f := g.fit
	chain := p.Report.ID - f.config.FirstID
	switch {
	case p.Version != partVersion:
		return fmt.Errorf("ppl: a part of version %d; this is version %d", p.Version, partVersion)
	case chain < 0 || chain >= f.config.Chains:
		return fmt.Errorf("ppl: a part of chain %d, which is none of the run", p.Report.ID)
	case p.From != f.Draws.Len(chain):
		return fmt.Errorf("ppl: a part of chain %d from draw %d on, after %d draws", p.Report.ID, p.From, f.Draws.Len(chain))
	}
	if err := f.Draws.AddRows(chain, p.Rows); err != nil {
		return err
	}
	if p.Density != nil { // at the end of the chain
		g.density[chain] = p.Density
		f.density = folder.MergeDensities(g.density)
	}
	p.Report.Chain = chain
	if p.Failure != "" {
		p.Report.Err = errors.New(p.Failure)
	}
	f.Report.Chains[chain] = p.Report
	f.Report.Elapsed = time.Since(f.started)
	return nil
}

// Fit returns the fit of all parts so far. Set running if chains still run, and interrupted if they
// were stopped before their end.
func (g *Gathered) Fit(running, interrupted bool) *Fit {
	f := g.fit
	now := &Fit{Draws: f.Draws.Snapshot(), Report: f.Report, posterior: f.posterior, config: f.config, sigFigs: f.sigFigs, started: f.started, density: f.density}
	now.Report.Chains = append([]infer.ChainReport(nil), f.Report.Chains...)
	now.Report.Interrupted = f.Report.Interrupted || interrupted
	if interrupted {
		planned := (f.config.Draws + f.config.Thin - 1) / f.config.Thin
		for i := range now.Report.Chains {
			if c := &now.Report.Chains[i]; c.Err == nil && now.Draws.Len(i) < planned {
				c.Interrupted = true
			}
		}
	}
	if running {
		return now.watched()
	}
	return now
}
