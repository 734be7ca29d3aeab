package main

import (
	"context"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/front/serve"
)

// held are fits and texts that a command takes from memory instead of from files, by the names on
// its command line. Processes that can open no files run commands with them, see mcp_work.go.
type held struct {
	fits  map[string]*fit.Fit
	texts map[string]string // models and data
	keep  string            // name of the fit that the command makes
	draws int64             // largest number of transitions, warm-up included

	made *fit.Fit // the fit that the command has made
}

type heldKey struct{}

// heldIn returns what commands in a context take from memory; nil if they use files.
func heldIn(ctx context.Context) *held {
	h, _ := ctx.Value(heldKey{}).(*held)
	return h
}

// fit returns the fit of that name; nil if there is none.
func (h *held) fit(name string) *fit.Fit {
	if h == nil {
		return nil
	}
	return h.fits[name]
}

// text returns the text of that name. Without it, and if there can be no files, the error says so.
func (h *held) text(name string) (text string, ok bool, err error) {
	if h == nil {
		return "", false, nil
	}
	if text, ok = h.texts[name]; !ok {
		err = usagef("there is no %s here, and no files are read", name)
	}
	return text, true, err
}

// allow returns an error if a command would make more transitions than it may.
func (h *held) allow(chains, warmup, draws int) error {
	// A chain counts at least once, since it costs something even without draws.
	n := float64(chains) * max(1, float64(warmup)+float64(draws))
	if h == nil || n <= float64(h.draws) {
		return nil
	}
	return serve.Passed("draws", "this would make %.0f transitions, but the limit is %d", n, h.draws)
}

// take keeps the fit that a run has made, and returns its name.
func (h *held) take(f *fit.Fit) string {
	if h == nil || f == nil || f.Draws.Len(0) == 0 {
		return ""
	}
	h.made = f
	return h.keep
}
