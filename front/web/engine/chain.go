package engine

import (
	"errors"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/fit"
)

// chainRequest asks for the sampling of one chain of a run.
type chainRequest struct {
	Settings
	Chain int `json:"chain"` // from 1
}

// progress is the progress of a chain.
type progress struct {
	Chain       int    `json:"chain"`
	Iteration   int    `json:"iteration"`
	Total       int    `json:"total"`
	Phase       string `json:"phase"` // warm-up, sampling, done
	Divergences int    `json:"divergences"`
}

// The intervals at which the page gets progress and new draws. Passing draws takes at most 1/20 of
// the chain's time.
const (
	tellEvery = 100 * time.Millisecond
	handEvery = 400 * time.Millisecond
)

// chainAnswer is sent when a chain has ended.
type chainAnswer struct {
	Draws int `json:"draws"`
}

// chain samples one chain. Its events are "bound", when the data match the model; "progress";
// "print", with the model's output; and "part", with draws for [Engine.add].
func (e *Engine) chain(c *call, r *chainRequest) (*chainAnswer, error) {
	o, err := r.options()
	if err != nil {
		return nil, err
	}
	printed := &printer{call: c}
	posterior, err := r.bind(c, printed.print)
	if err != nil {
		printed.flush()
		return nil, err
	}
	if err := r.room(len(posterior.OutputNames())); err != nil {
		return nil, err
	}
	c.emitJSON("bound", map[string]int{"chain": r.Chain, "parameters": posterior.Dim()})
	o.Chains, o.FirstID, o.Refresh = 1, r.Chain, 5
	o.LiveTables = true
	handed := 0
	hand := func(f *fit.Fit) error {
		part, n, err := f.EncodeFrom(handed)
		if err != nil {
			return err
		}
		c.emit("part", part)
		handed = n
		return nil
	}
	var told time.Time
	due := time.Now().Add(handEvery)
	divergences := 0
	run, err := fit.NewRun(c, posterior, o)
	if err != nil {
		return nil, err
	}
	for p, err := range run.Progress() {
		if err != nil {
			break // the remaining draws are in the result of Fit
		}
		divergences = p.Divergences
		now := time.Now()
		if now.Sub(told) < tellEvery {
			continue
		}
		told = now
		phase := "sampling"
		if p.Warmup {
			phase = "warm-up"
		}
		c.emitJSON("progress", progress{r.Chain, p.Iteration, p.Total, phase, divergences})
		printed.flush()
		if now.After(due) && hand(run.SoFar()) == nil {
			took := time.Since(now)
			due = time.Now().Add(max(handEvery, 20*took))
		}
	}
	fit, err := run.Fit()
	printed.flush()
	if fit == nil {
		return nil, err
	}
	if e := hand(fit); e != nil {
		return nil, errors.Join(err, e)
	}
	if err != nil {
		return nil, err
	}
	total := fit.Config().Warmup + fit.Config().Draws
	c.emitJSON("progress", progress{r.Chain, total, total, "done", divergences})
	return &chainAnswer{fit.Draws.Len(0)}, nil
}

// printer collects the lines that a model prints, and passes many at a time to the page.
type printer struct {
	call *call
	text strings.Builder
}

func (p *printer) print(line string) {
	p.text.WriteString(line)
	p.text.WriteByte('\n')
	if p.text.Len() > 4096 {
		p.flush()
	}
}

func (p *printer) flush() {
	if p.text.Len() > 0 {
		p.call.emit("print", []byte(p.text.String()))
		p.text.Reset()
	}
}
