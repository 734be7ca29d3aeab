package executable

//lint:file-ignore ST1005 errors are in CmdStan's words, which front ends look for

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit/selfcheck"
	"github.com/ppl-lang/ppl/front/cmdstan/grammar"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/model"
)

// checkSample checks that the arguments of sample can be combined.
func (r *run) checkSample() error {
	engaged := r.config.Bool(adaptPath + "engaged")
	switch {
	case r.flag("sample.adapt.save_metric") && !engaged:
		return errors.New("Saving the adapted metric (save_metric=1) can only be enabled when adaptation is engaged (adapt engaged=1)")
	case r.text("sample.algorithm") == "fixed_param":
	case r.chains > 1 && r.config.Text(enginePath) == "static":
		return errors.New("Argument 'num_chains' is unavailable for the 'static' HMC engine.")
	case engaged && r.integer("sample.num_warmup") == 0:
		return errors.New("The number of warmup samples (num_warmup) must be greater than zero if adaptation is enabled.")
	}
	return nil
}

// sampling is a running method sample.
type sampling struct {
	*run
	sampler *chosen
	dim     int // number of unconstrained parameters
	fixed   bool
	warmup  int
	draws   int
	files   []*sampleFile
}

// sampleFile is the output file of a chain.
type sampleFile struct {
	*draws.File
	path       string
	adapted    bool
	diagnostic *diagnosticFile
}

// sample samples the posterior. If the log density turns out to be wrong, it starts again with
// another program.
func (r *run) sample(p *model.Posterior) error {
	check := selfcheck.New(r.ctx, p.Compiled(), r.data, r.config.Seed(), r.chains, r.threads())
	for {
		if !check.Start() {
			if err := r.sampleWith(p, check); !errors.Is(err, selfcheck.ErrWrong) {
				return err
			}
		}
		if err := check.Replace(r.ctx); err != nil {
			return err
		}
		record := check.Record()
		record.Wrong = record.Wrong[len(record.Wrong)-1:]
		r.printDensity(selfcheck.Findings(record))
	}
}

// sampleWith samples with the program that is currently trusted.
func (r *run) sampleWith(p *model.Posterior, check *selfcheck.Check) error {
	c, err := r.sampler(p.Dim())
	if err != nil {
		return err
	}
	s := &sampling{run: r, sampler: c, dim: p.Dim(), warmup: r.integer("sample.num_warmup"), draws: r.integer("sample.num_samples")}
	if !c.adapts {
		s.fixed = true
		if !c.empty {
			s.warmup = 0
		}
	}
	config := infer.Config{
		Sampler: c.Sampler, Chains: r.chains, Warmup: none(s.warmup), Draws: none(s.draws), Thin: r.integer("sample.thin"),
		Seed: r.config.Seed(), FirstID: r.firstID(), SaveWarmup: r.flag("sample.save_warmup"), WarmupValues: true,
		Parallel: r.threads(), Refresh: 1,
	}
	if config.Metric, err = r.metrics(p); err != nil {
		return err
	}
	start, err := r.starts(p)
	if err != nil {
		return err
	}
	if r.refresh() > 0 {
		config.Progress = s.progress
	}
	var record *recorder
	if r.config.Text("output.diagnostic_file") != "" {
		record = newRecorder(c.Sampler, r.chains)
		config.Sampler = record
	}
	defer s.close()
	if err := s.create(p, record); err != nil {
		return err
	}
	at := infer.At{}
	for chain := range r.chains {
		x, err := r.find(p, start, chain, c.adapts)
		if err != nil {
			// Front ends also expect files of chains that could not start. These have no draws.
			return errors.Join(err, s.finishEmpty())
		}
		at.Positions = append(at.Positions, x)
	}
	config.Init = at
	session, err := infer.NewSession(check.Bound(), config)
	if err != nil {
		return err
	}
	if err := s.draw(session, check); err != nil {
		return err
	}
	report := session.Report()
	for _, c := range report.Chains {
		s.evaluations += c.Warmup.Gradients + c.Sampling.Gradients
		s.generated += int64(c.Sampling.Transitions)
		s.point = c.Last
	}
	return s.finish(report)
}

// none converts a number of transitions for a session, where 0 means the default and -1 means none.
func none(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// firstID returns the number of the first chain, which selects its random numbers. It replaces 0,
// which a session would replace by its default.
func (r *run) firstID() int {
	if r.id == 0 {
		return math.MaxInt32
	}
	return r.id
}

// metrics reads the initial metrics. It returns nil if none are given.
func (r *run) metrics(p *model.Posterior) ([]infer.Metric, error) {
	name := r.config.Text(hmcPath + "metric_file")
	if name == "" || r.text("sample.algorithm") == "fixed_param" || p.Dim() == 0 {
		return nil, nil
	}
	files, err := r.readEach(name)
	if err != nil {
		return nil, err
	}
	all := make([]infer.Metric, r.chains)
	for i, values := range files {
		if all[i], err = r.metric(values, p.Dim()); err != nil {
			r.complain("Cannot get inverse metric from input file.")
			return nil, fmt.Errorf("Caught exception: \n%w", err)
		}
	}
	return all, nil
}

// metric reads an inverse metric from the values of a file.
func (r *run) metric(values *data.Set, dim int) (infer.Metric, error) {
	m := infer.Metric{Kind: infer.MetricKind(r.config.Text(metricPath)), Dim: dim}
	if m.Kind == infer.Unit {
		return m, nil
	}
	v, ok := values.Get("inv_metric")
	if !ok {
		return m, errors.New("variable does not exist; processing stage=read diag inv metric; variable name=inv_metric; base type=vector_d")
	}
	want := []int{dim}
	if m.Kind == infer.Dense {
		want = append(want, dim)
	}
	if !slices.Equal(v.Shape, want) {
		return m, fmt.Errorf("mismatch in number dimensions declared and found in context; processing stage=read inv metric; variable name=inv_metric; dims declared=%v; dims found=%v", want, v.Shape)
	}
	m.Inverse = v.Reals
	for i, x := range m.Inverse {
		if m.Kind == infer.Diagonal && !(x > 0 && !math.IsInf(x, 1)) {
			return m, fmt.Errorf("validate_diag_inv_metric: Inverse Euclidean metric[%d] is %s, but must be positive!", i+1, grammar.Number(x, 6))
		}
	}
	return m, nil
}

// create starts the files of all chains.
func (s *sampling) create(p *model.Posterior, record *recorder) error {
	replaced := map[string]string{metricPath: s.sampler.metric}
	for _, path := range s.fileNames(s.config.Text("output.file"), "", ".csv") {
		file, err := s.run.create(path, s.sampler.columns, p.OutputNames(), replaced)
		if err != nil {
			return err
		}
		s.files = append(s.files, &sampleFile{File: file, path: path})
	}
	if record == nil {
		return nil
	}
	for i, path := range s.fileNames(s.config.Text("output.diagnostic_file"), "", ".csv") {
		d, err := s.createDiagnostic(p, path, i, record)
		if err != nil {
			return err
		}
		s.files[i].diagnostic = d
	}
	return nil
}

// finishEmpty completes files without draws.
func (s *sampling) finishEmpty() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.FinishWith())
		if f.diagnostic != nil {
			errs = append(errs, f.diagnostic.FinishWith())
		}
	}
	return errors.Join(errs...)
}

func (s *sampling) close() {
	for _, f := range s.files {
		f.Close()
		if f.diagnostic != nil {
			f.diagnostic.Close()
		}
	}
}

// draw receives the draws of a session and writes them.
func (s *sampling) draw(session *infer.Session, check *selfcheck.Check) error {
	var failures []error
	flushed := time.Now()
	for d, err := range session.Draws(s.ctx) {
		if err != nil {
			failures = append(failures, err)
			continue
		}
		f := s.files[d.Chain]
		if !d.Warmup && !f.adapted {
			if err := s.adaptation(f, session.Report().Chains[d.Chain]); err != nil {
				return err
			}
		}
		if err := f.Draw(d); err != nil {
			return err
		}
		if f.diagnostic != nil {
			if err := f.diagnostic.draw(d); err != nil {
				return err
			}
		}
		if check.Draw(d.Chain, d.Warmup, d.Position) {
			return selfcheck.ErrWrong
		}
		if time.Since(flushed) > time.Second {
			flushed = time.Now()
			if err := f.Flush(); err != nil {
				return err
			}
		}
	}
	if s.ctx.Err() != nil {
		s.keep(session.Report())
		return context.Cause(s.ctx)
	}
	if len(failures) == 0 {
		if check.End(s.ctx) {
			return selfcheck.ErrWrong
		}
		return nil
	}
	s.printRejections(session.Report())
	err := failures[0]
	if chain := (*infer.ChainError)(nil); errors.As(err, &chain) {
		err = chain.Err
	}
	return err
}

// adaptation writes the adapted values, between the draws of warm-up and the others.
func (s *sampling) adaptation(f *sampleFile, c infer.ChainReport) error {
	f.adapted = true
	if s.sampler.empty {
		kind := infer.MetricKind(s.sampler.metric)
		return f.Adaptation(draws.Adaptation{StepSize: math.NaN(), Metric: infer.Metric{Kind: kind}})
	}
	if s.fixed {
		return nil
	}
	a := draws.Adaptation{StepSize: c.StepSize, Metric: c.Metric}
	if s.sampler.own {
		a = draws.AdaptationOf(c, s.dim)
		if s.sampler.geometry != "" {
			a.Notes = append([]string{"geometry: " + s.sampler.geometry}, a.Notes...)
		}
		if err := f.Restate("metric", string(a.Metric.Kind)); err != nil {
			return err
		}
	}
	if f.diagnostic != nil {
		if err := f.diagnostic.Adaptation(a); err != nil {
			return err
		}
	}
	return f.Adaptation(a)
}

// keep completes the files of an interrupted run, with the number of draws that they have.
func (s *sampling) keep(report infer.Report) {
	for i, f := range s.files {
		c := report.Chains[i]
		if c.Sampling.Transitions == 0 {
			continue
		}
		f.Restate("num_samples", strconv.Itoa(c.Sampling.Transitions))
		f.Finish(draws.Elapsed{Warmup: c.Warmup.Elapsed, Sampling: c.Sampling.Elapsed})
	}
}

// finish completes the files and prints how long the run took.
func (s *sampling) finish(report infer.Report) error {
	s.printRejections(report)
	for i, f := range s.files {
		c := report.Chains[i]
		if !f.adapted {
			if err := s.adaptation(f, c); err != nil {
				return err
			}
		}
		e := draws.Elapsed{Warmup: c.Warmup.Elapsed, Sampling: c.Sampling.Elapsed}
		if s.fixed {
			e.Warmup = 0
		}
		if err := f.Finish(e); err != nil {
			return err
		}
		if f.diagnostic != nil {
			if err := f.diagnostic.Finish(e); err != nil {
				return err
			}
		}
		lines := elapsed(e.Warmup.Round(time.Millisecond), "Warm-up", e.Sampling.Round(time.Millisecond), "Sampling",
			e.Warmup.Round(time.Millisecond)+e.Sampling.Round(time.Millisecond), "Total")
		for _, line := range lines {
			s.say("%s", line)
		}
		s.adviseEngine(c)
	}
	if s.flag("sample.adapt.save_metric") && !s.fixed {
		return s.saveMetrics(report)
	}
	return nil
}

// manyGradients is the number of gradients of a chain above which the console names another
// sampler. Chains of 1000 + 1000 transitions with trees of depth 5 stay below it.
const manyGradients = 64_000

// adviseEngine names ppl's own choice of sampler after a chain of NUTS that was in trouble or that
// took many gradients. Front ends have no argument for it, so their users may not know of it.
//
// doc/evidence/posteriordb-sampling.md has what that choice gains.
func (s *sampling) adviseEngine(c infer.ChainReport) {
	gradients := c.Warmup.Gradients + c.Sampling.Gradients
	if s.substituted || s.config.Text(enginePath) != "nuts" || c.Sampling.Divergences == 0 && gradients < manyGradients {
		return
	}
	trouble := ""
	if n := c.Sampling.Divergences; n > 0 {
		trouble = fmt.Sprintf(" and had %d divergent transitions", n)
	}
	s.say("%sNUTS took %d gradients%s. With %s=auto in the environment, ppl chooses sampler, metric and coordinates,\n"+
		"%swhich usually takes fewer gradients for the same precision.\n", s.prefix(c.Chain), gradients, trouble, EngineVariable, s.prefix(c.Chain))
}

// saveMetrics writes the adapted step sizes and metrics as JSON.
func (s *sampling) saveMetrics(report infer.Report) error {
	for i, path := range s.fileNames(s.config.Text("output.file"), "_metric", ".json") {
		c := report.Chains[i]
		text, err := infer.Adapted{StepSize: c.StepSize, Metric: c.Metric}.MarshalJSON()
		if err != nil {
			return err
		}
		if err := replaceFile(path, append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// maxRejections is the maximum number of times that the same message is printed.
const maxRejections = 10

// printRejections prints why the model rejected proposals.
func (s *sampling) printRejections(report infer.Report) {
	for _, c := range report.Chains {
		for _, r := range c.Rejections {
			for range min(r.Count, maxRejections) {
				s.say("%sInformational Message: The current Metropolis proposal is about to be rejected because of the following issue:\n%sException: %s\n"+
					"%sIf this warning occurs sporadically, such as for highly constrained variable types like covariance matrices, then the sampler is fine,\n"+
					"%sbut if this warning occurs often then your model may be either severely ill-conditioned or misspecified.\n",
					s.prefix(c.Chain), s.prefix(c.Chain), stanWords(r.Message), s.prefix(c.Chain), s.prefix(c.Chain))
			}
		}
	}
}

// prefix returns the beginning of a chain's lines if there are several chains.
func (s *sampling) prefix(chain int) string {
	if s.chains == 1 {
		return ""
	}
	return fmt.Sprintf("Chain [%d] ", s.id+chain)
}

// progress prints the progress of a chain: after the first iteration of each phase, after every
// refresh iterations, and after the last.
func (s *sampling) progress(p infer.Progress) {
	within, phase, total := p.Iteration, "Warmup", s.warmup+s.draws
	at := within
	if !p.Warmup { // if warm-up ended early, print the planned numbers
		within, phase = p.Iteration-(p.Total-s.draws), "Sampling"
		at = s.warmup + within
	}
	if within < 1 || within != 1 && within%s.refresh() != 0 && at != total {
		return
	}
	s.say("%sIteration: %*d / %d [%3d%%]  (%s)", s.prefix(p.Chain), len(strconv.Itoa(total)), at, total, 100*at/total, phase)
}
