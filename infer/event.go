package infer

import (
	"maps"
	"math"
	"slices"
)

// Event is something that happened to a chain and that its draws do not show. The code says what
// happened, the figures say how much; commands put it into words. Events of all chains are stored
// with the draws, in every format, so that later commands can report them too.
type Event struct {
	Code    string  `json:"code"`              // code of what happened
	Figures Figures `json:"figures,omitempty"` // figures by name
}

// Codes of events. Their figures:
//
//	restart    iterations: transitions made before
//	dropped    iterations: of warm-up; nothing was learnt from this chain
//	unsettled  rhat: the largest in the later half of warm-up; divergent: the share of its
//	           last transitions
//	modes      modes: their number, K; mass_i and error_i: the estimated mass of mode i and
//	           its standard error, for i from 1 to K; share_i: the share of the chain's draws
//	           in that mode; moves: the number of moves of the chain between modes;
//	           laplace_i: 1 if the mass is that of a normal approximation, because no chain
//	           was there in warm-up; tempered: 1 if the draws come from parallel tempering;
//	           restarts: the number of replicas that came to the target from a reference;
//	           restarts_broad: the number of these from the broad reference
//	legs       log_z and log_z_error: the logarithm of the normalising constant by the leg from
//	           the fitted reference of parallel tempering, with its standard error; log_z_broad
//	           and log_z_broad_error: by the leg from the broad one. Every tempered chain has it
const (
	EventRestart   = "restart"
	EventDropped   = "dropped"
	EventUnsettled = "unsettled"
	EventModes     = "modes"
	EventLegs      = "legs"
)

// Witness is the optional interface of a [Kernel] that has events to report at the end of a chain.
// They replace earlier ones with the same code.
type Witness interface {
	Events() []Event
}

// event adds e to the report of the chain.
func (r *ChainReport) event(e Event) {
	figures := Figures{}
	for name, v := range e.Figures {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			figures[name] = v
		}
	}
	r.Events = append(slices.Clip(r.Events), Event{e.Code, figures})
}

// witness adds the events of the kernel to the report.
func (r *ChainReport) witness(k Kernel) {
	w, ok := k.(Witness)
	if !ok {
		return
	}
	for _, e := range w.Events() {
		r.Events = slices.DeleteFunc(slices.Clone(r.Events), func(old Event) bool { return old.Code == e.Code })
		r.event(e)
	}
}

// Equal reports whether two events are the same.
func (e Event) Equal(other Event) bool {
	return e.Code == other.Code && maps.Equal(e.Figures, other.Figures)
}
