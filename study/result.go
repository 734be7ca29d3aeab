package study

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
)

// Status is the outcome of a fit.
type Status string

const (
	OK       Status = "ok"       // no problems
	Problems Status = "problems" // there are draws, but findings say not to trust them
	Failed   Status = "failed"   // there are no draws
)

// Row is a fit's summary of a quantity.
type Row struct {
	diagnose.Row
	Truth float64 // the value that the data were made from; NaN if there is none
	Rank  int     // number of draws below Truth; -1 if there is none
}

// HeldOut is the log predictive density of an observation that the fit has not seen, with its Monte
// Carlo standard error.
type HeldOut struct {
	ELPD, MCSE float64
}

// Draws are the kept draws of some quantities.
type Draws struct {
	Names         []string // names as in files: theta.1
	Chains, Count int
	Values        []float64 // by chain, then draw, then name
}

// Result is the result of a unit.
type Result struct {
	Key         string
	Status      Status
	Message     string // why it failed
	Findings    []diagnose.Finding
	Draws       int // number of draws of all chains
	Divergences int
	Gradients   int64
	Rows        []Row
	HeldOut     []HeldOut // by observation
	Joint       HeldOut   // joint density of all observations
	Kept        *Draws

	// The wall-clock time in seconds, and the instruction set of the processor. The fields above do
	// not depend on the time, but processors with other instruction sets round differently.
	Seconds, Sampling float64
	CPU               string
}

// failed returns the result of a unit that failed.
func failed(key, code string, err error) *Result {
	message := messageOf(err)
	return &Result{Key: key, Status: Failed, Message: message,
		Findings: []diagnose.Finding{{Code: code, Severity: diagnose.Problem, Summary: message}}}
}

// messageOf describes an error in one line, with its position in the model or the data file. Data
// that were encoded as bytes have no position that users know.
func messageOf(err error) string {
	list := model.Diagnostics(err)
	if len(list) == 0 {
		return strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	d := list[0]
	if !d.Span.IsValid() || d.Span.File.Name == dataName {
		return d.Summary
	}
	at := d.Span.Begin()
	return fmt.Sprintf("%s:%d:%d: %s", at.File, at.Line, at.Column, d.Summary)
}

// resultHeader is the text part of a result; exact numbers are in the payload.
type resultHeader struct {
	Type        string             `json:"type"` // "result"
	Key         string             `json:"key"`
	Status      Status             `json:"status"`
	Message     string             `json:"message,omitempty"`
	Findings    []diagnose.Finding `json:"findings,omitempty"`
	Draws       int                `json:"draws"`
	Divergences int                `json:"divergences"`
	Gradients   int64              `json:"gradients"`
	Names       []string           `json:"names,omitempty"`
	HeldOut     int                `json:"held_out,omitempty"`
	Kept        []string           `json:"kept,omitempty"`
	Chains      int                `json:"chains,omitempty"`
	Count       int                `json:"count,omitempty"`
	Seconds     float64            `json:"seconds"`
	Sampling    float64            `json:"sampling"`
	CPU         string             `json:"cpu,omitempty"`
}

// rowNumbers is the number of numbers in a row.
const rowNumbers = 11

func (r *Row) numbers() [rowNumbers]float64 {
	return [rowNumbers]float64{r.Mean, r.MCSEMean, r.SD, r.Q5, r.Q50, r.Q95, r.ESSBulk, r.ESSTail, r.Rhat, r.Truth, float64(r.Rank)}
}

// appendResult appends the frame of a result.
func appendResult(dst []byte, r *Result) ([]byte, error) {
	h := resultHeader{Type: "result", Key: r.Key, Status: r.Status, Message: r.Message, Findings: r.Findings, Draws: r.Draws, Divergences: r.Divergences,
		Gradients: r.Gradients, HeldOut: len(r.HeldOut), Seconds: r.Seconds, Sampling: r.Sampling, CPU: r.CPU}
	var payload []byte
	put := func(v float64) { payload = binary.LittleEndian.AppendUint64(payload, math.Float64bits(v)) }
	for i := range r.Rows {
		h.Names = append(h.Names, r.Rows[i].Name)
		for _, v := range r.Rows[i].numbers() {
			put(v)
		}
	}
	if len(r.HeldOut) > 0 {
		for _, e := range append(r.HeldOut[:len(r.HeldOut):len(r.HeldOut)], r.Joint) {
			put(e.ELPD)
			put(e.MCSE)
		}
	}
	if k := r.Kept; k != nil {
		h.Kept, h.Chains, h.Count = k.Names, k.Chains, k.Count
		for _, v := range k.Values {
			put(v)
		}
	}
	return appendFrame(dst, h, payload)
}

// decodeResult decodes a result encoded by appendResult.
func decodeResult(header, payload []byte) (*Result, error) {
	var h resultHeader
	if err := json.Unmarshal(header, &h); err != nil {
		return nil, fmt.Errorf("a result that cannot be read: %w", err)
	}
	r := &Result{Key: h.Key, Status: h.Status, Message: h.Message, Findings: h.Findings, Draws: h.Draws, Divergences: h.Divergences,
		Gradients: h.Gradients, Seconds: h.Seconds, Sampling: h.Sampling, CPU: h.CPU}
	heldOut := 0
	if h.HeldOut > 0 {
		heldOut = 2 * (h.HeldOut + 1)
	}
	if h.HeldOut < 0 || h.Chains < 0 || h.Count < 0 || len(payload) != 8*(rowNumbers*len(h.Names)+heldOut+h.Chains*h.Count*len(h.Kept)) {
		return nil, errors.New("a result that cannot be read: it has another number of figures than it says")
	}
	take := func() float64 {
		v := math.Float64frombits(binary.LittleEndian.Uint64(payload))
		payload = payload[8:]
		return v
	}
	for _, name := range h.Names {
		row := Row{Row: diagnose.Row{Name: name}}
		for _, p := range []*float64{&row.Mean, &row.MCSEMean, &row.SD, &row.Q5, &row.Q50, &row.Q95, &row.ESSBulk, &row.ESSTail, &row.Rhat, &row.Truth} {
			*p = take()
		}
		row.Rank = int(take())
		r.Rows = append(r.Rows, row)
	}
	for range heldOut / 2 {
		r.HeldOut = append(r.HeldOut, HeldOut{take(), take()})
	}
	if n := len(r.HeldOut); n > 0 {
		r.Joint, r.HeldOut = r.HeldOut[n-1], r.HeldOut[:n-1]
	}
	if len(h.Kept) > 0 {
		r.Kept = &Draws{Names: h.Kept, Chains: h.Chains, Count: h.Count, Values: make([]float64, h.Chains*h.Count*len(h.Kept))}
		for i := range r.Kept.Values {
			r.Kept.Values[i] = take()
		}
	}
	return r, nil
}
