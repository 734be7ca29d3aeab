package main

import (
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer"
)

// progress shows the progress of a run. Several goroutines may call its methods.
type progress interface {
	follower
	start()
	message(string) // shows the output of a print statement, or a remark
	stop(fit *fit.Fit, interrupted bool)
}

// newProgress returns bars for a terminal and lines for everything else.
func newProgress(w io.Writer, model string, o *runOptions) progress {
	title := fmt.Sprintf("%s: %s of %d warm-up + %d draws, %s, seed %d", model,
		count(o.chains, "chain", "chains"), o.warmup, o.draws, o.samplerFlags.name, o.seed)
	if _, _, ok := terminalSize(w); ok {
		return newBars(w, title, newETA(o))
	}
	return &lines{w: w, title: title, chains: make([]lineState, o.chains), eta: newETA(o)}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// silent shows only messages.
type silent struct{ w io.Writer }

func (silent) start()                {}
func (silent) update(infer.Progress) {}

func (silent) reached(int, float64, float64) {}
func (s silent) message(text string)         { printMessage(s.w, "%s", text) }
func (silent) stop(_ *fit.Fit, _ bool)       {}

// lines shows progress as plain lines, for files and pipes. For each chain it writes a line at the
// start, at the end, and at each tenth in between, but not more often than every few seconds.
// Before the first transition it writes a line whenever the time since the start has doubled.
type lines struct {
	w     io.Writer
	title string

	mu     sync.Mutex
	began  time.Time
	chains []lineState
	eta    *eta
}

func (l *lines) reached(draws int, ess, rhat float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.eta.reached(draws, ess, rhat)
}

type lineState struct {
	tenth int
	last  time.Time
	quiet time.Duration // from the start to the last line before the first transition
}

// starting describes the progress of a chain before its first transition.
func starting(p infer.Progress) string {
	switch {
	case !p.Searching:
		return "first transition, " + count(int(p.Gradients), "gradient", "gradients") + " so far"
	case p.Rejected > 0:
		return "looking for a starting point, " + fmt.Sprint(p.Rejected) + " rejected so far, the last one because: " + p.Reason
	}
	return "looking for a starting point"
}

// linePause is the minimum time between two lines about a chain.
const linePause = 3 * time.Second

func (l *lines) start() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began = time.Now()
	fmt.Fprintln(l.w, l.title)
}

func (l *lines) update(p infer.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.eta.update(p, time.Now())
	c := &l.chains[p.Chain]
	if p.Iteration == 0 {
		if since := time.Since(l.began); since >= 2*c.quiet {
			c.quiet = since
			fmt.Fprintf(l.w, "chain %d: %s, %s\n", p.Chain+1, starting(p), clock(since))
		}
		return
	}
	tenth := 10 * p.Iteration / max(p.Total, 1)
	now := time.Now()
	first, last := c.last.IsZero(), p.Iteration == p.Total
	if !first && !last && (tenth == c.tenth || now.Sub(c.last) < linePause) {
		return
	}
	c.tenth, c.last = tenth, now
	phase := "sampling"
	if p.Warmup {
		phase = "warm-up"
	}
	left := ""
	if !first && now.Sub(l.began) > linePause {
		left = "; " + l.eta.text(now)
	}
	fmt.Fprintf(l.w, "chain %d: %d / %d (%d %%), %s, %s%s\n",
		p.Chain+1, p.Iteration, p.Total, 100*p.Iteration/max(p.Total, 1), phase, clock(now.Sub(l.began)), left)
}

func (l *lines) message(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	printMessage(l.w, "%s", text)
}

func (l *lines) stop(fit *fit.Fit, interrupted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !interrupted && fit != nil {
		fmt.Fprintf(l.w, "done in %s\n", clock(time.Since(l.began)))
	}
}

// duration converts seconds to a Duration. It limits them to the largest Duration, about three
// centuries.
func duration(seconds float64) time.Duration {
	const maxSeconds = math.MaxInt64 / int64(time.Second)
	return time.Duration(min(seconds, float64(maxSeconds-1)) * float64(time.Second))
}

// clock formats a duration for people: 0.3 s, 12 s, 3:05, 1:03:05.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
