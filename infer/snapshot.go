package infer

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Snapshot is the state of a chain between two transitions: everything that the rest of the chain
// depends on. A run with Config.Resume continues from snapshots and makes exactly the draws that
// the original run would have made.
//
// It can be encoded by package encoding/gob.
type Snapshot struct {
	Chain, ID int
	Seed      uint64

	Draws int // number of draws yielded before the snapshot

	stage     int       // number of finished stages of warm-up
	within    []float64 // numbers of the current stage, see State.Resumable; nil: the stage cannot be resumed
	sampling  bool
	iteration int

	position   []float64
	place      []float64 // see Precise; nil: the position is enough
	logDensity float64
	stepSize   float64
	metric     Metric
	recentring []float64 // see Chart; nil: the coordinates of the model
	kernel     []byte    // state of a Resumable kernel
	rng        []byte
	report     ChainReport
}

// snapshotGob is Snapshot with exported fields.
type snapshotGob struct {
	Version              int
	Chain, ID            int
	Seed                 uint64
	Draws                int
	Stage                int
	Within               []float64
	Sampling             bool
	Iteration            int
	Position, Place      []float64
	LogDensity, StepSize float64
	Metric               Metric
	Kernel, Rng          []byte
	Report               ChainReport
	Recentring           []float64
}

const snapshotVersion = 7

// GobEncode implements [gob.GobEncoder].
func (s *Snapshot) GobEncode() ([]byte, error) {
	report := s.report
	report.Err, report.Tables, report.Last = nil, nil, nil
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(snapshotGob{
		snapshotVersion, s.Chain, s.ID, s.Seed, s.Draws, s.stage, s.within, s.sampling, s.iteration,
		s.position, s.place, s.logDensity, s.stepSize, s.metric, s.kernel, s.rng, report, s.recentring,
	})
	return out.Bytes(), err
}

// GobDecode implements [gob.GobDecoder].
func (s *Snapshot) GobDecode(b []byte) error {
	var g snapshotGob
	err := gob.NewDecoder(bytes.NewReader(b)).Decode(&g)
	version := struct{ Version int }{g.Version}
	if err != nil { // the snapshot may come from another version
		_ = gob.NewDecoder(bytes.NewReader(b)).Decode(&version)
	}
	if version.Version != 0 && version.Version != snapshotVersion {
		return fmt.Errorf("infer: a snapshot of version %d; this is version %d", version.Version, snapshotVersion)
	}
	if err != nil {
		return fmt.Errorf("infer: a snapshot cannot be read: %w", err)
	}
	if err := g.check(); err != nil {
		return fmt.Errorf("infer: a snapshot cannot be used: %w", err)
	}
	*s = Snapshot{g.Chain, g.ID, g.Seed, g.Draws, g.Stage, g.Within, g.Sampling, g.Iteration,
		g.Position, g.Place, g.LogDensity, g.StepSize, g.Metric, g.Recentring, g.Kernel, g.Rng, g.Report}
	return nil
}

// check returns an error for values that no chain would have written.
func (g *snapshotGob) check() error {
	finite := func(v []float64) bool {
		return !slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	}
	impossible := func(p Phase) bool {
		return p.Transitions < 0 || p.Gradients < 0 || p.Divergences < 0 || p.Rejected < 0 || !(p.Charged >= 0)
	}
	switch {
	case impossible(g.Report.Warmup) || impossible(g.Report.Sampling) || g.Report.Rejected < 0 ||
		g.Report.Warmup.Transitions+g.Report.Sampling.Transitions != g.Iteration || g.Draws > g.Iteration:
		return errors.New("its counts are impossible")
	case g.Chain < 0 || g.ID < 0 || g.Draws < 0 || g.Stage < 0 || g.Iteration < 0 || g.Report.Chain != g.Chain:
		return errors.New("its counts are impossible")
	case g.Metric.Kind != "" && g.Metric.Check() != nil || g.Metric.Kind == "" && len(g.Metric.Inverse) > 0:
		return errors.New("its metric is impossible")
	case !finite(g.Within):
		return errors.New("what it says of the stage of warm-up is not finite")
	case !finite(g.Position) || !finite(g.Place) || math.IsNaN(g.LogDensity) || math.IsInf(g.LogDensity, 0):
		return errors.New("its position is not finite")
	case !(g.StepSize > 0) || math.IsInf(g.StepSize, 1):
		return errors.New("its step size is not positive and finite")
	}
	return nil
}

// Ran returns the time for which the chain had run.
func (s *Snapshot) Ran() time.Duration { return s.report.Warmup.Elapsed + s.report.Sampling.Elapsed }

// size returns the approximate size of the snapshot in bytes.
func (s *Snapshot) size() int {
	return 8*(2*len(s.position)+len(s.place)+2*len(s.metric.Inverse)+len(s.within)+len(s.recentring)) + len(s.kernel)
}

// snapshotDelay returns the time until the next snapshot, given the size of the last one and the
// time that the chain has run. Encoding and writing snapshots should take about 1 % of a processor,
// and a run that is killed should lose no more than an eighth of its work.
func (c *Config) snapshotDelay(size int, ran time.Duration) time.Duration {
	const rate = 1 << 20 // bytes per second
	switch {
	case c.SnapshotEvery < 0:
		return -1
	case c.SnapshotEvery > 0:
		return c.SnapshotEvery
	}
	return max(min(time.Second/2, ran/8), 5*time.Millisecond, time.Duration(float64(size)/rate*float64(time.Second)))
}

// snapshot describes the state of the chain between two transitions.
func (c *chain) snapshot() (*Snapshot, error) {
	s := &Snapshot{
		Chain: c.report.Chain, ID: c.report.ID, Seed: c.cfg.Seed,
		Draws: c.saved, stage: c.stage, sampling: !c.warmup, iteration: c.state.Iteration,
		position: slices.Clone(c.state.Point.Position), logDensity: c.state.Point.LogDensity,
		stepSize: c.state.StepSize, report: c.report,
	}
	if c.chart != nil {
		s.recentring = slices.Clone(c.chart.evidence)
	}
	if c.warmup && c.state.keep != nil {
		s.within = c.state.keep()
	}
	if e, ok := c.state.Hamiltonian.(Euclidean); ok {
		s.metric = e.Metric()
	}
	if p, ok := c.state.Hamiltonian.(Precise); ok {
		s.place = p.Coordinates(c.state.Point)
	}
	var err error
	if r, ok := c.state.Kernel.(Resumable); ok {
		if s.kernel, err = r.SaveState(); err != nil {
			return nil, err
		}
	}
	if s.rng, err = c.streams.source.MarshalBinary(); err != nil {
		return nil, err
	}
	p := &s.report.Warmup
	if !c.warmup {
		p = &s.report.Sampling
	}
	p.Elapsed = time.Since(c.started) - c.waited
	c.account(p)
	s.report.Rejections, s.report.Rejected = slices.Clone(c.meter.rejections), c.meter.rejected
	return s, nil
}

// takeSnapshot sends a snapshot together with all draws before it.
func (c *chain) takeSnapshot() error {
	if c.cfg.Snapshot == nil {
		return nil
	}
	s, err := c.snapshot()
	if err != nil {
		return err
	}
	now := time.Now()
	c.snapshotAt = now.Add(c.cfg.snapshotDelay(s.size(), now.Sub(c.began)))
	c.send(message{draws: c.block, chain: c.report.Chain, snapshot: s})
	return nil
}

// resume sets a new chain to the state of a snapshot.
func (c *chain) resume(s *Snapshot, plan Plan) error {
	if s.ID != c.report.ID || s.Seed != c.cfg.Seed || len(s.position) != c.meter.dim || s.stage > len(plan.Stages) {
		return errors.New("the snapshot to resume from is that of another run")
	}
	if s.metric.Kind != "" {
		e, ok := plan.Hamiltonian.(Euclidean)
		if !ok {
			return errors.New("the snapshot to resume from has a constant metric, but the sampler's is not constant")
		}
		if err := e.SetMetric(s.metric); err != nil {
			return err
		}
	}
	if s.recentring != nil {
		if c.chart == nil {
			return errors.New("the snapshot to resume from has other coordinates of effects, which this target has not")
		}
		if err := c.chart.Use(s.recentring); err != nil {
			return err
		}
	}
	var err error
	if c.state, err = NewState(plan, c.meter, c.streams.transition, s.position); err != nil {
		return err
	}
	if p, ok := plan.Hamiltonian.(Precise); ok {
		if err := p.SetCoordinates(c.state.Point, s.place); err != nil {
			return err
		}
	}
	// The log density at a point depends on the model, the data and the processor.
	if now, was := c.state.Point.LogDensity, s.logDensity; now != was {
		if !(math.Abs(now-was) <= 1e-6*(1+math.Abs(was))) {
			return fmt.Errorf("the log density at the position to resume from is %v, but was %v: model or data have changed", now, was)
		}
		c.report.Inexact = true
		s.report.Inexact = true
	}
	if err := c.streams.source.UnmarshalBinary(s.rng); err != nil {
		return err
	}
	if r, ok := plan.Kernel.(Resumable); ok {
		if err := r.LoadState(plan.Hamiltonian, s.kernel); err != nil {
			return err
		}
	}
	c.state.Iteration, c.state.StepSize, c.state.within = s.iteration, s.stepSize, s.within
	c.report = s.report
	c.report.Started, c.report.Interrupted, c.report.Err = true, false, nil
	c.stage, c.saved = s.stage, s.Draws
	c.meter.gradients = s.report.Warmup.Gradients + s.report.Sampling.Gradients
	c.meter.charged = s.report.Warmup.Charged + s.report.Sampling.Charged
	c.meter.restore(s.report.Rejections, s.report.Rejected)
	c.resumed = s.sampling
	return nil
}

// restore sets the counts of rejections.
func (m *Meter) restore(list []Rejection, total int) {
	m.rejections, m.rejected = slices.Clone(list), total
	m.index = make(map[string]int)
	for i, r := range list {
		m.index[statementOf(r.Message)] = i
	}
}

// keyed returns a stream together with its source, whose state can be saved.
func keyed(seed uint64, id int, purpose string) (*rand.Rand, *rand.ChaCha8) {
	source := rand.NewChaCha8(streamKey(seed, id, purpose, 0))
	return rand.New(source), source
}
