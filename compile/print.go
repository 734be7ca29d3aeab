package compile

import (
	"fmt"
	"sync/atomic"

	"github.com/ppl-lang/ppl/lang/source"
)

// These limits exist because a model may print in each of millions of evaluations, or endlessly in
// one.
const (
	maxPrintOnce = 1 << 20 // bytes per evaluation
	defaultPrint = 64 << 20
)

// printer passes on what print statements print, up to limits.
type printer struct {
	out   func(string)
	limit int64
	all   *atomic.Int64 // bytes printed, by clones too
	once  int64         // bytes that this evaluation may still print
}

// newPrinter returns a printer to out, or nil if out is nil. The limit 0 means the default.
func newPrinter(out func(string), limit int64) *printer {
	if out == nil {
		return nil
	}
	if limit <= 0 {
		limit = defaultPrint
	}
	p := &printer{out: out, limit: limit, all: &atomic.Int64{}}
	p.begin()
	return p
}

// begin resets the limit of a single evaluation.
func (p *printer) begin() {
	if p != nil {
		p.once = maxPrintOnce
	}
}

// clone returns a printer for another evaluator. The two share the total limit.
func (p *printer) clone() *printer {
	if p == nil {
		return nil
	}
	c := *p
	c.begin()
	return &c
}

// function returns the function that evaluations call. It is nil if prints are dropped.
func (p *printer) function() func(string) {
	if p == nil {
		return nil
	}
	return p.print
}

func (p *printer) print(text string) {
	n := int64(len(text)) + 1
	if p.once < 0 || p.all.Load() > p.limit {
		return
	}
	if p.once -= n; p.once < 0 {
		p.out(fmt.Sprintf("… what else this evaluation prints is not shown: it is more than %s", source.Bytes(maxPrintOnce)))
		return
	}
	if before := p.all.Add(n) - n; before+n > p.limit {
		if before <= p.limit {
			p.out(fmt.Sprintf("… what else the model prints is not shown: it is more than %s", source.Bytes(p.limit)))
		}
		return
	}
	p.out(text)
}
