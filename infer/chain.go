package infer

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ppl-lang/ppl/internal/goroutines"
)

// streams are the random number generators of one chain, see [Stream].
type streams struct {
	seed       uint64
	id         int
	init       *rand.Rand
	transition *rand.Rand
	source     *rand.ChaCha8 // source of transition

	generate       *rand.Rand
	generateSource *rand.ChaCha8
}

func newStreams(seed uint64, id int) *streams {
	src := rand.NewChaCha8([32]byte{})
	transition, source := keyed(seed, id, purposeTransition)
	return &streams{
		seed:           seed,
		id:             id,
		init:           Stream(seed, id, purposeInit, 0),
		transition:     transition,
		source:         source,
		generate:       rand.New(src),
		generateSource: src,
	}
}

// generator returns the stream for the values of one draw.
func (st *streams) generator(iteration int) *rand.Rand {
	st.generateSource.Seed(streamKey(st.seed, st.id, purposeGenerate, uint64(iteration)))
	return st.generate
}

const (
	blockBytes = 64 << 10              // size of the values that share one allocation
	blockDraws = 64                    // maximum number of draws in a block
	blockDelay = 10 * time.Millisecond // time after which a block is sent even if it is not full
)

// chain runs one chain and sends its draws.
type chain struct {
	turn      func() // lets other chains compute; nil: no other chain waits for a processor
	cfg       *Config
	workers   int // number of goroutines that share an evaluation
	report    ChainReport
	publish   func(ChainReport)
	out       chan<- message
	abandoned <-chan struct{}

	streams   *streams
	meter     *Meter
	chart     *Chart // coordinates of group-level terms; nil: those of the target
	generator Generator
	names     int
	state     *State
	stages    []Stage
	stage     int                  // number of finished stages
	resumed   bool                 // the chain was resumed in the sampling phase
	saved     int                  // number of draws so far
	skip      int                  // number of draws that were yielded before the run was resumed from its beginning
	answers   <-chan bool          // results of Config.Enough
	canceled  <-chan struct{}      // closed when the run's context ends
	left      *goroutines.Leftover // work that continues after the run was cancelled
	ticks     *atomic.Int64        // see Session

	began      time.Time // when the chain began in this process
	snapshotAt time.Time // when the next snapshot is due
	tablesAt   time.Time // when the tables are due, see Config.TablesEvery

	// the current phase
	warmup    bool
	phase     *Phase
	started   time.Time
	waited    time.Duration // time in the phase spent waiting for the consumer
	gradients int64         // number of gradients before the phase
	charged   float64       // charged cost before the phase
	rejected  int           // number of rejections before the phase

	blocks <-chan []Draw // blocks that the consumer has returned for reuse
	block  []Draw        // draws that have not been sent
	sentAt time.Time
	floats []float64 // unused rest of the block's storage
}

// runChain runs chain i until it ends or fails. It publishes the chain's report before it sends the
// last message.
func (s *Session) runChain(ctx context.Context, i int, out chan<- message, abandoned <-chan struct{}) {
	c := &chain{
		cfg:       &s.cfg,
		workers:   s.workers,
		report:    ChainReport{Chain: i, ID: s.cfg.FirstID + i, Started: true, Arrival: s.Report().Chains[i].Arrival},
		publish:   s.publish,
		out:       out,
		abandoned: abandoned,
		names:     len(s.names),
		answers:   s.rounds.answers[i],
		blocks:    s.blocks,
		canceled:  ctx.Done(),
		left:      &s.left,
		ticks:     &s.ticks,
	}
	if c.cfg.Enough != nil {
		defer func() { c.send(message{chain: i, ended: true}) }()
	}
	var from *Snapshot
	if i < len(s.cfg.Resume) {
		from = s.cfg.Resume[i]
	}
	if s.pool != nil {
		defer s.pool.leave(i)
		s.slots <- struct{}{}
		defer func() { <-s.slots }()
		if cap(s.slots) < s.cfg.Chains {
			c.turn = func() {
				<-s.slots
				s.slots <- struct{}{}
			}
		}
	}
	if ctx.Err() != nil {
		if from != nil {
			arrival := c.report.Arrival
			c.report = from.report
			c.report.Arrival = arrival
		}
		c.report.Started, c.report.Interrupted = from != nil, true
		s.publish(c.report)
		return
	}
	if from != nil && s.again {
		from, c.skip = nil, from.Draws
	}
	where := "initialization"
	err := func() (err error) {
		// A bug in a target must not destroy the draws of other chains.
		defer func() {
			if r := recover(); r != nil {
				err = NewPanicError(r)
			}
		}()
		if err := c.initialize(ctx, s.clone(), from); err != nil {
			return err
		}
		where = "warm-up"
		if s.pool != nil {
			c.state.exchange = func(part any, combine func([]any) any) (any, error) { return s.meet(c, part, combine) }
		}
		for c.stage < len(c.stages) {
			if err := c.stages[c.stage].Run(ctx, c.state); err != nil {
				return err
			}
			c.state.keep, c.state.within = nil, nil
			c.stage++
			if err := c.takeSnapshot(); err != nil {
				return err
			}
		}
		where = "sampling"
		if err := c.sample(); err != nil {
			return err
		}
		return c.takeSnapshot()
	}()
	if failed := c.conclude(); failed != nil && err == nil {
		err = failed
	}
	switch {
	case err == nil:
	case errors.Is(err, ErrInterrupted) || ctx.Err() != nil && errors.Is(err, ctx.Err()):
		c.report.Interrupted, err = true, nil
	default:
		n := 0
		if c.state != nil {
			n = c.state.Iteration
		}
		err = &ChainError{Chain: i, ID: c.report.ID, Phase: where, Iteration: n, Err: err}
		c.report.Err = err
	}
	s.publish(c.report)
	c.flush(nil, err)
}

// conclude completes the report. It calls methods of the target, kernel and Hamiltonian, which may
// panic.
func (c *chain) conclude() (err error) {
	defer Recover(&err)
	c.endPhase()
	if c.meter != nil {
		c.report.Rejections, c.report.Rejected = slices.Clone(c.meter.rejections), c.meter.rejected
	}
	if c.state != nil {
		c.report.Last = slices.Clone(c.state.Point.Position)
		if c.chart != nil {
			if _, errMap := c.chart.Original(c.state.Point.Position, c.report.Last); errMap != nil {
				c.report.Last = nil
			}
		}
	}
	if c.meter != nil {
		if t, ok := c.meter.target.(Stopper); ok { // the caller's own target, if it is not a Cloner
			t.SetStop(nil)
		}
	}
	if c.state != nil {
		if t, ok := c.state.Kernel.(Tabler); ok {
			c.report.Tables = t.Tables()
		}
	}
	return nil
}

// meet implements State.Exchange. While the chain waits, other chains may compute.
func (s *Session) meet(c *chain, part any, combine func([]any) any) (any, error) {
	c.flush(nil, nil)
	start := time.Now() // other waiting is measured where it occurs
	m := s.pool.join(c.report.Chain, part, combine)
	<-s.slots
	defer func() {
		s.slots <- struct{}{}
		c.waited += time.Since(start)
	}()
	select {
	case <-m.done:
		return m.result, m.err
	case <-c.canceled:
		s.pool.close()
		return nil, ErrInterrupted
	}
}

// beginPhase begins to measure the cost of warm-up or sampling.
func (c *chain) beginPhase(warmup bool, p *Phase) {
	c.warmup, c.phase = warmup, p
	// If the phase was resumed, its earlier part counts too.
	c.started, c.waited = time.Now().Add(-p.Elapsed), 0
	if c.meter != nil {
		c.gradients, c.charged = c.meter.gradients-p.Gradients, c.meter.Charged()-p.Charged
		c.rejected = c.meter.rejected - p.Rejected
	}
}

func (c *chain) endPhase() {
	if c.phase == nil {
		return
	}
	c.phase.Elapsed = time.Since(c.started) - c.waited
	if c.meter != nil {
		c.account(c.phase)
	}
	c.phase = nil
}

// account stores the cost and the number of rejections of the current phase in the report.
func (c *chain) account(p *Phase) {
	p.Gradients, p.Charged = c.meter.gradients-c.gradients, max(0, c.meter.Charged()-c.charged)
	p.Rejected = c.meter.rejected - c.rejected
}

// initialize makes the kernel and the geometry for the chain's own target, and finds the starting
// point.
func (c *chain) initialize(ctx context.Context, target LogDensity, from *Snapshot) error {
	c.sentAt = time.Now()
	c.began = c.sentAt
	c.snapshotAt = c.began.Add(c.cfg.snapshotDelay(0, 0))
	c.beginPhase(true, &c.report.Warmup)
	c.generator, _ = target.(Generator)
	if r, ok := c.cfg.Sampler.(Recentred); ok && r.Recentred() || len(c.cfg.Recentring) > 0 {
		var err error
		if c.chart, err = chartOf(target); err != nil {
			return err
		}
		if c.chart != nil {
			target = c.chart
		}
	}
	c.meter = NewMeter(target)
	c.meter.done, c.meter.left = ctx.Done(), c.left
	if c.cfg.Progress != nil && from == nil {
		c.meter.ticks, c.meter.seen, c.meter.report = c.ticks, c.ticks.Load(), c.reportStart
	}
	if c.cfg.Centre != nil {
		c.meter.centre = c.centre
	}
	if t, ok := target.(Stopper); ok {
		t.SetStop(func() error {
			if c.meter.Interrupted() {
				return interruption{c.meter}
			}
			return nil
		})
	}
	if t, ok := target.(Parallel); ok {
		t.SetWorkers(c.workers)
	}
	c.streams = newStreams(c.cfg.Seed, c.report.ID)

	plan, err := c.cfg.Sampler.Plan(c.meter, c.cfg.Warmup)
	if err != nil {
		return err
	}
	if err := plan.validate(); err != nil {
		return err
	}
	if n := len(c.cfg.StepSize); n > 0 {
		plan.StepSize = c.cfg.StepSize[min(c.report.Chain, n-1)]
	}
	if from != nil {
		if err := c.resume(from, plan); err != nil {
			return err
		}
		if !c.resumed {
			c.beginPhase(true, &c.report.Warmup)
		}
		c.adopt(plan)
		return nil
	}
	if n := len(c.cfg.Metric); n > 0 {
		e, ok := plan.Hamiltonian.(Euclidean)
		if !ok {
			return errors.New("a starting metric is given, but the sampler's metric is not constant")
		}
		if err := e.SetMetric(c.cfg.Metric[min(c.report.Chain, n-1)]); err != nil {
			return err
		}
	}
	x, attempts, err := FindStart(c.cfg.Init, c.report.Chain, c.meter, c.streams.init)
	c.report.InitAttempts = attempts
	if err != nil {
		return err
	}
	c.report.Start = slices.Clone(x)
	if c.state, err = NewState(plan, c.meter, c.streams.transition, x); err != nil {
		return err
	}
	c.state.KeepStep = len(c.cfg.StepSize) > 0 && c.cfg.Warmup == 0
	c.adopt(plan)
	return c.recentre()
}

// centre returns Config.Centre in the coordinates of the chain, or nil.
func (c *chain) centre() []float64 {
	x := c.cfg.Centre()
	if x == nil || c.chart == nil || c.chart.evidence == nil {
		return x
	}
	u := make([]float64, len(x))
	if c.chart.At(x, u) != nil {
		return nil
	}
	return u
}

// recentre sets the coordinates of group-level terms to those of an earlier run.
func (c *chain) recentre() error {
	n := len(c.cfg.Recentring)
	if n == 0 {
		return nil
	}
	evidence := c.cfg.Recentring[min(c.report.Chain, n-1)]
	if evidence == nil {
		return nil
	}
	if c.chart == nil {
		return errors.New("the metric given is one over other coordinates of effects, but this target has none that could have such")
	}
	done, err := c.state.Recentre(evidence)
	if err == nil && !done {
		err = errors.New("the chain cannot start where it is in the coordinates that the metric given is over")
	}
	return err
}

// adopt stores the parts of a plan in the chain.
func (c *chain) adopt(plan Plan) {
	c.state.Chart = c.chart
	c.state.Chain, c.state.ID, c.state.Seed = c.report.Chain, c.report.ID, c.cfg.Seed
	_, c.state.RandomStart = c.cfg.Init.(Uniform)
	c.state.observe, c.state.before, c.state.Note, c.state.Emit = c.observe, c.before, c.note, c.report.event
	c.stages = plan.Stages
}

// note adds a sentence to the report's notes, unless it is already there.
func (c *chain) note(sentence string) {
	if !slices.Contains(c.report.Notes, sentence) {
		c.report.Notes = append(slices.Clip(c.report.Notes), sentence)
	}
}

// sample makes the transitions of the sampling phase.
func (c *chain) sample() error {
	if c.resumed {
		c.phase = nil
	} else {
		c.flush(nil, nil) // all draws of a block belong to one phase, so that their sizes agree
		c.endPhase()
		c.report.StepSize = c.state.StepSize
		if e, ok := c.state.Hamiltonian.(Euclidean); ok {
			c.report.Metric = e.Metric()
		}
		if c.chart != nil {
			c.report.Recentring = slices.Clone(c.chart.evidence)
		}
		c.describe()
		c.report.Adapted = c.report.Kernel
	}
	c.publish(c.report)
	c.beginPhase(false, &c.report.Sampling)
	defer func() {
		c.describe()
		c.report.witness(c.state.Kernel)
	}()
	round := nextRound(max(0, c.phase.Transitions-1))
	for c.phase.Transitions < c.cfg.Draws {
		if c.cfg.Enough != nil && c.phase.Transitions == round {
			enough, err := c.wait(round)
			if enough && err == nil && c.cfg.Progress != nil {
				c.progressOf(c.phase, c.state.Iteration)
			}
			if enough || err != nil {
				return err
			}
			round = nextRound(round)
		}
		if c.turn != nil && c.phase.Transitions%turnEvery == 0 {
			start := time.Now()
			c.turn()
			c.waited += time.Since(start)
		}
		if _, err := c.state.Advance(); err != nil {
			return err
		}
	}
	return nil
}

// turnEvery is the number of draws after which a chain that shares warm-up lets another chain
// compute. So a run that is stopped early has draws of all chains.
const turnEvery = 50

// wait sends the draws of a round and waits until Config.Enough has been asked. It reports the
// answer.
func (c *chain) wait(round int) (enough bool, err error) {
	if err := c.takeSnapshot(); err != nil {
		return false, err
	}
	c.send(message{draws: c.block, chain: c.report.Chain, round: round})
	start := time.Now() // other waiting is measured where it occurs
	defer func() { c.waited += time.Since(start) }()
	select {
	case enough = <-c.answers:
		return enough, nil
	case <-c.canceled:
		return false, ErrInterrupted
	}
}

func (c *chain) describe() {
	if d, ok := c.state.Kernel.(Describer); ok {
		c.report.Kernel = d.Describe()
	}
	if d, ok := c.state.Kernel.(Chooser); ok {
		c.report.Chosen = d.Chosen()
	}
	if d, ok := c.state.Hamiltonian.(Describer); ok {
		c.report.Geometry = d.Describe()
	}
}

// observe records a transition after it has been made.
func (c *chain) observe(info Info) error {
	p := c.phase
	p.Transitions++
	if info.Divergent {
		p.Divergences++
	}
	var err error
	if (!c.warmup || c.cfg.SaveWarmup) && (p.Transitions-1)%c.cfg.Thin == 0 {
		err = c.save(info)
	}
	if d := c.cfg.TablesEvery; d < 0 || d > 0 && time.Now().After(c.tablesAt) {
		c.show()
	}
	c.reportProgress(p)
	if err == nil && !c.warmup && c.cfg.Snapshot != nil && time.Now().After(c.snapshotAt) {
		err = c.takeSnapshot()
	}
	return err
}

// show publishes the report with the current tables of the kernel. Making the tables takes at most
// a twentieth of the chain's time, unless Config.TablesEvery is negative.
func (c *chain) show() {
	began := time.Now()
	if t, ok := c.state.Kernel.(Tabler); ok {
		c.report.Tables = t.Tables()
	}
	c.phase.Elapsed = time.Since(c.started) - c.waited
	c.account(c.phase)
	c.publish(c.report)
	now := time.Now()
	c.tablesAt = now.Add(max(c.cfg.TablesEvery, 20*now.Sub(began)))
}

// before prepares the next transition, after a stage of warm-up has used the previous one.
func (c *chain) before() error {
	if c.warmup && c.cfg.Snapshot != nil && c.state.keep != nil && time.Now().After(c.snapshotAt) {
		return c.takeSnapshot()
	}
	return nil
}

// save appends the current state to the block of draws.
func (c *chain) save(info Info) error {
	if c.saved < c.skip { // the receiver already has this draw
		c.saved++
		return nil
	}
	dim := c.meter.dim
	// The generator runs even if its values are not stored, because it may print or reject.
	generates, values := c.generator != nil && (!c.warmup || c.cfg.WarmupValues), 0
	if generates {
		values = c.names
	}
	if c.block == nil {
		n := max(1, min(blockDraws, blockBytes/(8*max(1, dim+c.names))))
		select {
		case b := <-c.blocks:
			c.block = b[:0]
		default:
			c.block = make([]Draw, 0, n)
		}
		c.floats = make([]float64, n*(dim+values))
	}
	d := Draw{
		Chain:      c.report.Chain,
		Iteration:  c.state.Iteration - 1,
		Warmup:     c.warmup,
		Position:   c.take(dim),
		LogDensity: c.state.Point.LogDensity,
		Stats:      info.Stats,
	}
	copy(d.Position, c.state.Point.Position)
	if c.chart != nil && c.chart.evidence != nil {
		jacobian, err := c.chart.Original(c.state.Point.Position, d.Position)
		if err != nil {
			return err
		}
		d.LogDensity -= jacobian
	}
	var final error
	if generates {
		d.Values = c.take(values)
		for i := range d.Values {
			d.Values[i] = math.NaN()
		}
		if err := c.generator.Generate(d.Position, c.streams.generator(d.Iteration), d.Values); err != nil {
			if isFatal(err) || errors.Is(err, ErrInterrupted) {
				final = err
			} else if !c.warmup {
				if c.report.Ungenerated == 0 {
					c.report.UngeneratedReason = err.Error()
				}
				c.report.Ungenerated++
			}
		}
	}
	if final != nil {
		return final
	}
	c.block = append(c.block, d)
	c.saved++
	if len(c.block) == cap(c.block) || time.Since(c.sentAt) > blockDelay {
		c.flush(nil, nil)
	}
	return nil
}

// take returns memory for n values from the block's storage.
func (c *chain) take(n int) []float64 {
	v := c.floats[:n:n]
	c.floats = c.floats[n:]
	return v
}

// reportProgress reports the chain's progress if a report is due.
func (c *chain) reportProgress(p *Phase) {
	if c.cfg.Progress == nil {
		return
	}
	last := c.cfg.Draws
	if c.warmup {
		last = c.cfg.Warmup
	}
	if n := p.Transitions; n != 1 && n != last && n%c.cfg.Refresh != 0 {
		return
	}
	total := c.cfg.Warmup + c.cfg.Draws
	if !c.warmup { // warm-up may have ended early
		total = c.report.Warmup.Transitions + c.cfg.Draws
	}
	c.progressOf(p, total)
}

// reportStart reports the progress of a chain that has made no transition yet.
func (c *chain) reportStart() {
	p := &Progress{Chain: c.report.Chain, Total: c.cfg.Warmup + c.cfg.Draws, Warmup: c.warmup, Gradients: c.meter.gradients}
	switch {
	case c.report.Start == nil:
		p.Searching, p.Rejected, p.Reason = true, c.meter.rejected, c.meter.last
	case c.state != nil && c.state.Iteration > 0:
		c.meter.ticks = nil
		return
	}
	c.flush(p, nil)
}

// progressOf reports the chain's progress, with the given planned total.
func (c *chain) progressOf(p *Phase, total int) {
	c.flush(&Progress{
		Chain:       c.report.Chain,
		Iteration:   c.state.Iteration,
		Total:       total,
		Warmup:      c.warmup,
		Divergences: p.Divergences,
		Gradients:   c.meter.gradients - c.gradients,
	}, nil)
}

// flush sends the current block. It waits if the consumer is slower than the chain.
func (c *chain) flush(p *Progress, err error) {
	if len(c.block) == 0 && p == nil && err == nil {
		return
	}
	c.send(message{draws: c.block, progress: p, chain: c.report.Chain, err: err})
}

// send sends a message together with the block of draws.
func (c *chain) send(m message) {
	c.block, c.floats = nil, nil
	start := time.Now()
	if runtime.GOOS == "js" {
		// Nothing in this function yields the processor. Without Gosched, the consumer would run
		// only when the channel is full.
		defer runtime.Gosched()
	}
	select {
	case c.out <- m:
		c.sentAt = start
		return
	default:
	}
	select {
	case c.out <- m:
	case <-c.abandoned:
	}
	c.sentAt = time.Now()
	c.waited += c.sentAt.Sub(start)
}
