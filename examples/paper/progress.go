package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// progress shows the progress of a piece of work: on a terminal in one line, otherwise with a line
// for each chain.
type progress struct {
	mu          sync.Mutex
	terminal    bool
	title       string
	chains, all int // number of chains that are done, and of all
	transitions int
	planned     int
	skipped     int // transitions of chains that need not be run
	began       time.Time
	shown       time.Time
}

// begin starts a piece of work with the given numbers of chains and of all their transitions.
func (p *progress) begin(title string, chains, transitions int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	info, err := os.Stderr.Stat()
	p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	p.title, p.chains, p.all, p.transitions, p.planned = title, 0, chains, 0, transitions
	p.began, p.skipped = time.Now(), 0
}

// skip counts a chain that need not be run.
func (p *progress) skip(transitions int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.transitions += transitions
	p.skipped += transitions
	p.chains++
}

// left estimates the time that the rest of this piece of work takes, from the time so far.
func (p *progress) left() string {
	done := p.transitions - p.skipped
	if done <= 0 || p.transitions >= p.planned {
		return ""
	}
	d := time.Duration(float64(time.Since(p.began)) / float64(done) * float64(p.planned-p.transitions))
	return ", about " + d.Round(time.Second).String() + " left"
}

// advance counts transitions, and completed chains.
func (p *progress) advance(transitions, chains int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.transitions += transitions
	p.chains += chains
	switch {
	case p.terminal && (time.Since(p.shown) > time.Second || p.chains == p.all):
		p.shown = time.Now()
		fmt.Fprintf(os.Stderr, "\r%s: %d of %d chains, %d %%%s      ", p.title, p.chains, p.all, min(100, 100*p.transitions/max(1, p.planned)), p.left())
		if p.chains == p.all {
			fmt.Fprintln(os.Stderr)
		}
	case !p.terminal && chains > 0:
		fmt.Fprintf(os.Stderr, "%s: %d of %d chains%s\n", p.title, p.chains, p.all, p.left())
	}
}
