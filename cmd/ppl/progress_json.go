package main

import (
	"io"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
)

// runProgress is the progress of a chain, a line of --progress json; a stable format.
type runProgress struct {
	progressJSON
	Left string `json:"left,omitempty"` // time to the end of the run, in words, once it can be estimated
}

// jsonLines shows progress as JSON for front ends: per chain a line at the start, at the end of
// each phase, and at most one per jsonPause between.
type jsonLines struct {
	w io.Writer

	mu     sync.Mutex
	began  time.Time
	chains []time.Time // time of the last line about each chain
	warm   []bool      // whether that line was about warm-up
	eta    *eta
}

// jsonPause is the minimum time between two lines about a chain.
const jsonPause = 100 * time.Millisecond

func (l *jsonLines) start() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began, l.warm = time.Now(), make([]bool, len(l.chains))
}

func (l *jsonLines) update(p infer.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.eta.update(p, now)
	last := &l.chains[p.Chain]
	if p.Iteration != p.Total && p.Warmup == l.warm[p.Chain] && now.Sub(*last) < jsonPause {
		return
	}
	*last, l.warm[p.Chain] = now, p.Warmup
	line := runProgress{progressJSON: toldProgress(p)}
	if now.Sub(l.began) > linePause {
		line.Left = l.eta.text(now)
	}
	writeJSON(l.w, line)
}

func (l *jsonLines) reached(draws int, ess, rhat float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.eta.reached(draws, ess, rhat)
}

func (l *jsonLines) message(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	writeJSON(l.w, studyNote{text})
}

func (l *jsonLines) stop(*fit.Fit, bool) {}
