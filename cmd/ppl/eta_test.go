package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/infer"
)

// TestETA checks the estimates in a run of two chains, one of which waits. Transitions of warm-up
// take 20 gradients at first and later 10, those of sampling take 5, and a gradient takes a
// millisecond.
func TestETA(t *testing.T) {
	e := newETA(&runOptions{chains: 2, warmup: 1000, draws: 1000, parallel: 1})
	now := time.Unix(0, 0)
	var gradients int64
	about := func(what string, want float64) {
		t.Helper()
		left, ok := e.left(now)
		if !ok || left.Seconds() < want-1e-6 || left.Seconds() > want+1e-6 {
			t.Errorf("%s: %v (known: %t), want %v s", what, left, ok, want)
		}
	}
	unknown := func(what string) {
		t.Helper()
		if left, ok := e.left(now); ok {
			t.Errorf("%s: %v is claimed to be known", what, left)
		}
	}
	to := func(chain, from, until, each int, warm bool) {
		for i := from; i < until; i += 10 {
			gradients += int64(10 * each)
			now = now.Add(time.Duration(10*each) * time.Millisecond)
			e.update(infer.Progress{Chain: chain, Iteration: i + 10, Total: 2000, Warmup: warm, Gradients: gradients}, now)
		}
	}
	unknown("nothing has begun")
	to(0, 0, 50, 20, true)
	unknown("warm-up has just begun")
	to(0, 50, 500, 10, true)
	// Sampling and the other chain are assumed to take 10 gradients per transition too.
	about("in warm-up", 5+10+20)
	to(0, 500, 1000, 10, true)
	gradients = 0
	to(0, 1000, 1010, 5, false)
	unknown("sampling has just begun")
	to(0, 1010, 1500, 5, false)
	// The cost of warm-up is no longer known: the other chain's warm-up is assumed to cost as much
	// as sampling.
	about("in sampling", 2.5+10)
	now = now.Add(time.Second)
	about("a second later", 1.5+10)
	to(0, 1500, 2000, 5, false)
	gradients = 0
	to(1, 0, 500, 10, true)
	about("the other chain, by the trees of the first", 5+5)
}

// TestETAOfEarlyEnd checks that a warm-up that ends early makes the run shorter, and that progress
// still ends at 100 %.
func TestETAOfEarlyEnd(t *testing.T) {
	o := &runOptions{chains: 1, warmup: 1000, draws: 1000}
	o.samplerFlags.name = "auto"
	e := newETA(o)
	now := time.Unix(0, 0)
	step := func(p infer.Progress) {
		now = now.Add(100 * time.Millisecond)
		e.update(p, now)
	}
	for i := 10; i <= 140; i += 10 {
		step(infer.Progress{Iteration: i, Total: 2000, Warmup: true, Gradients: int64(10 * i)})
	}
	if text := e.text(now); text != "at most about 19 s left" {
		t.Error(text)
	}
	for i := 10; i <= 900; i += 10 {
		step(infer.Progress{Iteration: 140 + i, Total: 1140, Gradients: int64(10 * i)})
	}
	if text := e.text(now); text != "about 1.0 s left" {
		t.Error(text)
	}
	step(infer.Progress{Iteration: 1140, Total: 1140, Gradients: 10000})
	if left, ok := e.left(now); !ok || left != 0 {
		t.Error(left, ok)
	}
	b := newBars(io.Discard, "", e)
	b.chains[0] = barState{Progress: infer.Progress{Iteration: 1140, Total: 1140}, begun: now, updated: now}
	if text, _ := b.line(0, 100); !strings.HasPrefix(text, "chain 1 done") || !strings.Contains(text, "100 %") {
		t.Error(text)
	}
	if text, _ := b.summary(100); text != "1 chains: 1 done, 0 running, 100 %" {
		t.Error(text)
	}
}

// TestETAOfTarget checks that the estimated time follows the effective sample size if a target for
// it is given.
func TestETAOfTarget(t *testing.T) {
	e := newETA(&runOptions{chains: 1, warmup: 200, draws: 100000, targetESS: 400})
	now := time.Unix(0, 0)
	for i := 10; i <= 200; i += 10 {
		now = now.Add(100 * time.Millisecond)
		e.update(infer.Progress{Iteration: i, Total: 100200, Warmup: true, Gradients: int64(10 * i)}, now)
	}
	if text := e.text(now); text != "time left not known yet" {
		t.Error(text)
	}
	for i := 10; i <= 100; i += 10 {
		now = now.Add(100 * time.Millisecond)
		e.update(infer.Progress{Iteration: 200 + i, Total: 100200, Gradients: int64(10 * i)}, now)
	}
	e.reached(100, 50, 1.02)
	// The target needs 800 draws, of which 100 exist; the rest takes 7 seconds.
	if text := e.text(now); text != "ESS 50 of 400 after 100 draws per chain, R-hat 1.020; about 7.0 s left" {
		t.Error(text)
	}
	e.reached(200, 500, 1.02)
	if text := e.text(now); text != "ESS 500 of 400 after 200 draws per chain, R-hat 1.020; time left not known yet" {
		t.Error(text)
	}
}
