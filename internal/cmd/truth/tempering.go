package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ppl-lang/ppl/infer/infertest/truth"
	"github.com/ppl-lang/ppl/infer/tempered"
	"github.com/ppl-lang/ppl/internal/figures"
)

// tempering is the result of a run of parallel tempering. Log Z is the estimate from all chains
// together. Estimates that do not exist are left out.
type tempering struct {
	Dim        int       `json:"dim"`
	Normalised bool      `json:"normalised,omitempty"` // log Z is 0 exactly
	Shares     []float64 `json:"shares,omitempty"`     // shares of the modes of the target
	Truths     []float64 `json:"truths,omitempty"`
	Restarts   float64   `json:"restarts"` // the fewest of a chain
	Broad      float64   `json:"broad"`    // those from the broad reference, the fewest of a chain

	LogZ       *float64 `json:"log_z,omitempty"`
	Error      *float64 `json:"log_z_error,omitempty"`
	LogZBroad  *float64 `json:"log_z_broad,omitempty"`
	BroadError *float64 `json:"log_z_broad_error,omitempty"`

	// Chains contains log Z and its error for each chain, from the fitted leg and from the broad
	// one; 0: no estimate.
	Chains [][4]float64 `json:"chains"`
}

// temperingOf returns the result of parallel tempering, or nil if chains were not tempered.
func temperingOf(t *truth.Target, o *truth.Outcome) *tempering {
	out := &tempering{Dim: t.Dim(), Normalised: t.Normalised, Restarts: math.Inf(1), Broad: math.Inf(1)}
	var kernels []map[string]float64
	for _, c := range o.Report.Chains {
		n, ok := c.Kernel["restarts"]
		if !ok {
			return nil
		}
		out.Restarts, out.Broad = min(out.Restarts, n), min(out.Broad, c.Kernel["restarts_broad"])
		kernels = append(kernels, c.Kernel)
		k := c.Kernel
		out.Chains = append(out.Chains, [4]float64{k["log_z"], k["log_z_error"], k["log_z_broad"], k["log_z_broad_error"]})
	}
	if len(kernels) == 0 {
		return nil
	}
	for _, e := range o.Estimates {
		if e.Quantity.Share && !math.IsNaN(e.Value) {
			out.Shares, out.Truths = append(out.Shares, e.Value), append(out.Truths, e.Quantity.Truth)
		}
	}
	number := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	fitted, broad := tempered.EvidenceOf(kernels)
	out.LogZ, out.Error = number(fitted.LogZ), number(fitted.Error)
	out.LogZBroad, out.BroadError = number(broad.LogZ), number(broad.Error)
	return out
}

// off returns the largest error of a share.
func (t *tempering) off() float64 {
	most := 0.0
	for i, v := range t.Shares {
		most = max(most, math.Abs(v-t.Truths[i]))
	}
	return most
}

// errors returns the error of log Z in standard errors; ok is false if it is not known.
func (t *tempering) errors() (n float64, ok bool) {
	if !t.Normalised || t.LogZ == nil || t.Error == nil {
		return 0, false
	}
	return math.Abs(*t.LogZ) / *t.Error, true
}

// closeShare is the largest error of the share of a mode for which a run counts as right.
const closeShare = 0.05

// temperingTable returns a table with a row for each target with modes, and one for all targets.
func (s settings) temperingTable(rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Made on %s by `go run ./internal/cmd/truth --tempering`, version %s, seeds %d to %d, family seed %d; %v.\n\n",
		time.Now().Format(time.DateOnly), s.version, s.firstSeed, s.firstSeed+s.seeds-1, s.familySeed, figures.ThisMachine())
	b.WriteString("| target | dimensions | modes | runs | shares within 0.05 | largest error of a share | log Z within 2 errors | fewest restarts of a chain | gradients (median) |\n")
	b.WriteString("| --- | --: | --: | --: | --: | --: | --: | --: | --: |\n")
	var names []string
	for _, r := range rows {
		if r.Tempering != nil && len(r.Tempering.Shares) > 0 && !slices.Contains(names, r.Target) {
			names = append(names, r.Target)
		}
	}
	line := func(title string, in func(r row) bool) {
		runs, right, known, covered := 0, 0, 0, 0
		off, restarts, dim, modes := 0.0, math.Inf(1), "", ""
		var gradients []float64
		for _, r := range rows {
			t := r.Tempering
			if t == nil || len(t.Shares) == 0 || !in(r) {
				continue
			}
			runs++
			if t.off() <= closeShare {
				right++
			}
			off, restarts = max(off, t.off()), min(restarts, t.Restarts)
			if n, ok := t.errors(); ok {
				known++
				if n <= 2 {
					covered++
				}
			}
			gradients = append(gradients, float64(r.Gradients))
			dim, modes = fmt.Sprint(t.Dim), fmt.Sprint(max(2, len(t.Shares)))
		}
		if title == "all" {
			dim, modes = "", ""
		}
		z := "–"
		if known > 0 {
			z = fmt.Sprintf("%d of %d", covered, known)
		}
		slices.Sort(gradients)
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %.3f | %s | %.0f | %.0f |\n", title, dim, modes, runs, right, off, z, restarts, gradients[len(gradients)/2])
	}
	for _, n := range names {
		line(n, func(r row) bool { return r.Target == n })
	}
	if len(names) > 1 {
		line("all", func(row) bool { return true })
	}
	return b.String()
}
