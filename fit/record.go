package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/fit/selfcheck"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/internal/goroutines"
	"github.com/ppl-lang/ppl/model"
)

// recorder stores the draws of a run, and writes them to files if asked for.
type recorder struct {
	left      int64 // bytes of memory still available for draws, unless they are read back from journals
	posterior *model.Posterior
	check     *selfcheck.Check
	options   *Options
	run       *Run
	fit       *Fit
	out       drawOutput // nil: no output

	flushAlways bool // flush after each draw

	journals []*draws.Journal // by chain; nil: no journals
	bases    []string         // prefixes of the names of the journals

	mu  sync.Mutex // guards files, which are flushed from time to time
	err error      // the first write error
}

// flushEvery is the maximum time for which a draw is only in the memory of this process.
const flushEvery = 400 * time.Millisecond

// keepInMemory is the maximum number of bytes of draws that are kept in memory if there are
// journals. Further draws are read back from the journals.
const keepInMemory = 64 << 20

// openJournals starts the journals, or opens those of the run to resume. It returns the snapshots
// found, if they fit the given session.
func (r *recorder) openJournals(o *Options, session *infer.Session) ([]*infer.Snapshot, error) {
	snapshots := make([]*infer.Snapshot, r.fit.config.Chains)
	var found []*draws.Found
	damaged := &DamagedError{}
	for i := range snapshots {
		id := r.fit.config.FirstID + i
		r.bases = append(r.bases, fmt.Sprintf("%s_%d", o.Output, id))
		if !o.Resume {
			continue
		}
		f, err := draws.FindJournal(r.bases[i], r.key(i))
		if err != nil {
			return nil, &OutputError{err}
		}
		found = append(found, f)
		snapshots[i] = f.Snapshot
	}
	again := session.BeginsAgain(snapshots)
	for i, f := range found {
		if f.SetBack {
			r.fit.SetBack = append(r.fit.SetBack, draws.DamagedChain{ID: r.fit.config.FirstID + i, Found: f})
		}
		if f.Damage == nil {
			continue
		}
		if again && f.Lost != nil {
			// If draws were lost, later ones could not be distinguished from repeated ones.
			f.Anew()
			snapshots[i] = nil
		}
		damaged.Chains = append(damaged.Chains, draws.DamagedChain{ID: r.fit.config.FirstID + i, Found: f})
	}
	if damaged.Chains != nil {
		if !o.Salvage {
			return nil, damaged
		}
		r.fit.Salvaged = damaged.Chains
	}
	for i := range snapshots {
		var j *draws.Journal
		var err error
		if o.Resume {
			if j, err = found[i].Resume(); err == nil {
				snapshots[i] = found[i].Snapshot
			}
		} else {
			j, err = draws.CreateJournal(r.bases[i], r.key(i))
		}
		if err != nil {
			if o.Resume {
				r.closeJournals()
			} else {
				r.removeJournals()
			}
			return nil, &OutputError{err}
		}
		if o.SyncEvery > 0 {
			j.SetSyncEvery(o.SyncEvery)
		}
		r.journals = append(r.journals, j)
	}
	// The state states the number of draws in the journals, so their names must be durable first.
	if err := files.SyncFolder(filepath.Dir(o.Output)); err != nil {
		r.closeJournals()
		return nil, &OutputError{err}
	}
	r.fit.Draws.ReadBack(r.journals, cmp.Or(o.keepInMemory, keepInMemory))
	return snapshots, nil
}

// key identifies the journal of a chain.
func (r *recorder) key(chain int) draws.JournalKey {
	return draws.JournalKey{ID: r.fit.config.FirstID + chain, Seed: r.fit.config.Seed, Values: len(r.fit.Draws.Names())}
}

func (r *recorder) closeJournals() {
	for _, j := range r.journals {
		j.Close()
	}
}

// replay stores the draws that the run made before it was resumed.
func (r *recorder) replay(session *infer.Session) error {
	for chain, j := range r.journals {
		if err := j.Replay(chain, func(d infer.Draw) error { return r.take(session, d) }); err != nil {
			return &OutputError{err}
		}
	}
	if err := r.out.replayed(); err != nil {
		return &OutputError{err}
	}
	return nil
}

// drawBytes returns the number of bytes that a draw takes in memory.
func (r *recorder) drawBytes() int64 {
	c := r.fit.Draws.Columns()
	return 8 * int64(len(c.Statistics)+len(c.Names))
}

// tooMany returns the error for n draws that do not fit in memory.
func (r *recorder) tooMany(n int) error {
	return &DrawsError{Draws: n, Numbers: int(r.drawBytes() / 8), Memory: r.fit.posterior.MemoryLimit()}
}

// take stores a draw and writes it to the file of its chain.
func (r *recorder) take(session *infer.Session, d infer.Draw) error {
	if r.journals == nil {
		if r.left -= r.drawBytes(); r.left < 0 {
			return r.tooMany(int(r.fit.posterior.MemoryLimit()/r.drawBytes()) + 1)
		}
	}
	if err := r.fit.Draws.Add(d); err != nil {
		return err
	}
	if r.out == nil {
		return nil
	}
	if err := r.out.draw(session, d); err != nil {
		return &OutputError{err}
	}
	return nil
}

// snapshot saves the state of a chain.
func (r *recorder) snapshot(s *infer.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	if err := r.journals[s.Chain].Save(s); err != nil {
		r.err = &OutputError{err}
	}
}

// record stores the draws of a session.
func (r *recorder) record(ctx context.Context, session *infer.Session) error {
	done := make(chan struct{})
	var flushing goroutines.Group
	if r.out != nil {
		flushing.Go(func() { r.flushUntil(done) })
	}
	defer flushing.Wait()
	defer close(done)

	var failures []error
	for d, err := range session.Draws(ctx) {
		if err != nil {
			if d.Chain < 0 && r.run.left {
				continue // the loop over the run was left, which is no error
			}
			if d.Chain < 0 {
				err = &InterruptedError{Cause: err}
			}
			failures = append(failures, locate(r.posterior, err))
			continue
		}
		if err := r.add(session, d); err != nil {
			return err
		}
		if r.check.Draw(d.Chain, d.Warmup, d.Position) {
			return selfcheck.ErrWrong
		}
		if !r.run.take(d, nil) {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(append(together(failures), r.err)...)
}

// add stores a new draw.
func (r *recorder) add(session *infer.Session, d infer.Draw) error {
	if r.out == nil && r.journals == nil {
		return r.take(session, d) // there are no files, so no lock is needed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	if r.journals != nil { // before the store, which may read the draw back from the journal
		if err := r.journals[d.Chain].Add(d); err != nil {
			r.err = &OutputError{err}
			return r.err
		}
	}
	r.err = r.take(session, d)
	if r.err == nil && r.flushAlways {
		r.err = r.out.flush()
	}
	return r.err
}

// flushUntil hands the draws to the system every flushEvery, until done.
func (r *recorder) flushUntil(done <-chan struct{}) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		r.flush()
	}
}

// flush hands the draws to the system.
func (r *recorder) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := func() (err error) {
		defer infer.Recover(&err)
		err = r.out.flush()
		for _, j := range r.journals {
			if err == nil {
				err = j.Flush()
			}
		}
		return err
	}()
	if err != nil && r.err == nil {
		r.err = &OutputError{err}
	}
}

// finish completes the files. After a write error, it keeps what was written. An incomplete run
// keeps its journals. The run becomes complete in a single step, when complete writes its file: all
// other files are durable before that, and the journals are removed after it.
func (r *recorder) finish(err error, complete func(*Fit) error) error {
	if !errors.As(err, new(*OutputError)) {
		var e error
		if r.fit.Files, e = r.out.finish(r.fit.Report); e == nil {
			e = r.writeTables()
		}
		if e == nil && err == nil && r.fit.complete() && complete != nil {
			e = complete(r.fit)
		}
		err = errors.Join(err, e)
	}
	if errors.As(err, new(*OutputError)) && len(r.fit.Files) == 0 {
		kept, keepErr := r.out.keep()
		r.fit.Files = kept
		err = errors.Join(err, keepErr)
	}
	switch {
	case err == nil && r.fit.complete(), !r.fit.drawn() && !r.fit.Report.Interrupted && !errors.As(err, new(*OutputError)):
		return errors.Join(err, r.removeJournals())
	case r.fit.complete():
		return err // the error of the output
	}
	for _, j := range r.journals {
		if e := j.Sync(); e != nil {
			return errors.Join(err, &OutputError{e})
		}
	}
	return err
}

// drawn reports whether there are any draws.
func (f *Fit) drawn() bool {
	for i := range f.Draws.Chains() {
		if f.Draws.Len(i)+f.Draws.Warmup().Len(i) > 0 {
			return true
		}
	}
	return false
}

// writeTables writes the tables of the kernels, see [Fit.Tables].
func (r *recorder) writeTables() error {
	for i, c := range r.fit.Report.Chains {
		for _, table := range c.Tables {
			base := r.out.chainBase(i)
			dir := filepath.Join(filepath.Dir(base), folder.TableFolder)
			path := filepath.Join(dir, fmt.Sprintf("%s_%s.csv", filepath.Base(base), table.Name))
			err := files.MakeFolder(dir)
			if err == nil {
				err = draws.WriteTable(path, table)
			}
			if err != nil {
				return &OutputError{err}
			}
			r.fit.Tables = append(r.fit.Tables, path)
		}
	}
	return nil
}

func (r *recorder) removeJournals() error {
	var errs []error
	for i, j := range r.journals {
		j.Close()
		errs = append(errs, draws.RemoveJournal(r.bases[i]))
	}
	if r.journals != nil {
		errs = append(errs, r.options.removeVerdict())
	}
	if err := errors.Join(errs...); err != nil {
		return &OutputError{err}
	}
	return nil
}

// precision returns the smallest effective sample size, bulk or tail, and the largest R-hat. It
// uses the first n transitions of the chains that have not failed, and the quantities that vary.
// Both are 0 if there are none.
func (r *recorder) precision(n int) (ess, rhat float64) {
	thin := r.fit.config.Thin
	v := prefix{r.fit.Draws, nil, (n + thin - 1) / thin}
	for chain := range r.fit.Draws.Chains() {
		if r.fit.Draws.Len(chain) >= v.length {
			v.chains = append(v.chains, chain)
		}
	}
	if len(v.chains) == 0 {
		return 0, math.NaN()
	}
	ess = math.Inf(1)
	for _, row := range diagnose.Summarize(v) {
		if row.SD == 0 {
			continue // a constant
		}
		if math.IsNaN(row.ESSBulk) || math.IsNaN(row.Rhat) {
			return 0, math.NaN()
		}
		ess, rhat = min(ess, row.ESSBulk), max(rhat, row.Rhat)
		if !math.IsNaN(row.ESSTail) {
			ess = min(ess, row.ESSTail)
		}
	}
	return ess, rhat
}

// prefix holds the first draws of some chains.
type prefix struct {
	*draws.Store
	chains []int
	length int
}

func (p prefix) Chains() int { return len(p.chains) }
func (p prefix) Len(int) int { return p.length }
func (p prefix) Column(dst []float64, chain, quantity int) []float64 {
	before := len(dst)
	return p.Store.Column(dst, p.chains[chain], quantity)[:before+p.length]
}

func (p prefix) Table(dst []float64, chain, first, last int) []float64 {
	return p.Store.Table(dst, p.chains[chain], first, last)
}
