package engine

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
)

// columnsAnswer describes the draws of the run.
type columnsAnswer struct {
	Draws []int `json:"draws"` // number of draws, by chain
}

// columns returns the number of draws of the run.
func (e *Engine) columns(*call, *struct{}) (*columnsAnswer, error) {
	if e.run == nil {
		return nil, errNoRun
	}
	d := e.run.gathered.Fit(false, false).Draws
	a := &columnsAnswer{make([]int, d.Chains())}
	for chain := range a.Draws {
		a.Draws[chain] = d.Len(chain)
	}
	return a, nil
}

// column returns the draws of one quantity, a row of the summary, chain after chain, as
// little-endian float64.
// float64.
func (e *Engine) column(_ context.Context, body []byte, _ Emit) ([]byte, error) {
	var r rowRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	if e.run == nil {
		return nil, errNoRun
	}
	d := e.run.gathered.Fit(false, false).Draws
	if r.Row < 0 || r.Row >= len(d.Names()) {
		return nil, errors.New("the run has no such quantity")
	}
	var out []byte
	for chain := range d.Chains() {
		for _, v := range d.Column(nil, chain, r.Row) {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
	}
	return out, nil
}
