package tempered

import (
	"math"

	"github.com/ppl-lang/ppl/infer"
)

// Barriers returns the communication barriers of the legs from the fitted and the broad reference,
// computed from the rejections since warm-up; 0 for a missing leg.
func (k *Kernel) Barriers() (fitted, broad float64) {
	for i, r := range k.rejections() {
		if k.leg(i) == 0 {
			fitted += r
		} else {
			broad += r
		}
	}
	return fitted, broad
}

// Restarts returns the number of restarts since warm-up, which are arrivals at the target of
// replicas from a reference, and the number of those from the broad reference.
func (k *Kernel) Restarts() (all, broad int) {
	return k.restarts[0] + k.restarts[1], k.restarts[1]
}

// Evidence returns the log integral of the target over the unconstrained space, estimated from the
// fitted and from the broad leg; NaN for a missing leg.
func (k *Kernel) Evidence() (fitted, broad Evidence) {
	fitted = k.evidence.of(0, k.cold)
	broad = k.evidence.of(k.cold, len(k.levels)-1)
	return fitted, broad
}

// Levels returns the number of levels, which is also the number of replicas.
func (k *Kernel) Levels() int { return len(k.levels) }

// Searched returns the number of gradients used by searches for modes between rounds of warm-up.
func (k *Kernel) Searched() int64 { return k.searched }

// Reference returns the fitted reference.
func (k *Kernel) Reference() *Mixture { return k.fitted }

// Describe implements [infer.Describer].
func (k *Kernel) Describe() map[string]float64 {
	out := map[string]float64{}
	if !k.ready() {
		return out
	}
	put := func(name string, v float64) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			out[name] = v
		}
	}
	out["replicas"] = float64(len(k.levels))
	out["components"] = float64(len(k.fitted.parts))
	if k.scans == 0 {
		return out
	}
	fitted, broad := k.Barriers()
	out["barrier"] = fitted
	all, fromBroad := k.Restarts()
	out["restarts"] = float64(all)
	f, b := k.Evidence()
	put("log_z", f.LogZ)
	put("log_z_error", f.Error)
	if k.broad != nil {
		out["barrier_broad"] = broad
		out["restarts_broad"] = float64(fromBroad)
		put("log_z_broad", b.LogZ)
		put("log_z_broad_error", b.Error)
	}
	worst := 0.0
	for _, r := range k.rejections() {
		worst = max(worst, r)
	}
	out["largest_rejection"] = worst
	return out
}

// Events implements [infer.Witness]: the estimates of the normalising constant by both legs.
func (k *Kernel) Events() []infer.Event {
	if k.scans == 0 || k.broad == nil {
		return nil
	}
	all := k.Describe()
	f := infer.Figures{}
	for _, name := range []string{"log_z", "log_z_error", "log_z_broad", "log_z_broad_error"} {
		v, ok := all[name]
		if !ok {
			return nil
		}
		f[name] = v
	}
	return []infer.Event{{Code: infer.EventLegs, Figures: f}}
}

// Tables implements [infer.Tabler]. The table has a row for each level, from the fitted reference
// to the broad one. Rejection is that of swaps with the next row.
func (k *Kernel) Tables() []infer.Table {
	if !k.ready() {
		return nil
	}
	t := infer.Table{Name: "levels", Columns: []string{"leg", "beta", "step_size", "accept_stat", "leapfrogs", "rejection"}}
	rejections := k.rejections()
	n := float64(max(1, k.scans))
	for i, l := range k.levels {
		leg, rejection := 0.0, 0.0
		switch {
		case i == k.cold:
			leg = 1
		case i > k.cold:
			leg = 2
		}
		if i < len(rejections) {
			rejection = rejections[i]
		}
		t.Rows = append(t.Rows, []float64{leg, l.beta, l.step, l.accept / n, float64(l.leapfrogs) / n, rejection})
	}
	return []infer.Table{t}
}
