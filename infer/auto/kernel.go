package auto

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/tempered"
)

// Kernel makes the transitions of a chain with the current setting. It does not adapt anything.
type Kernel struct {
	setting Setting
	nuts    nuts.Kernel
	static  hmc.Kernel
	// With a static kernel, every reliefEvery-th transition is one of NUTS with this step size; 0:
	// none is
	relief float64
	made   int     // transitions since the kernel was set, which decide when NUTS makes one
	spare  float64 // average number of extra transitions per draw
	// extra transitions that are due for the draws so far
	owed       float64
	ladder     *tempered.Kernel // replaces the setting unless it is nil
	target     *infer.Meter
	maxPerDraw float64
	modes      *census            // counts the draws in each mode; nil: only one mode is known
	figures    map[string]float64 // figures of warm-up, for Describe
}

var (
	_ infer.Kernel    = (*Kernel)(nil)
	_ infer.Resumable = (*Kernel)(nil)
	_ infer.Describer = (*Kernel)(nil)
	_ infer.Chooser   = (*Kernel)(nil)
	_ infer.Witness   = (*Kernel)(nil)
)

func newKernel(o Sampler, target *infer.Meter) *Kernel {
	k := &Kernel{
		target: target, maxPerDraw: o.limits().maxPerDraw,
		nuts:    nuts.Kernel{MaxDepth: o.MaxDepth, MaxEnergyError: o.MaxEnergyError, Refine: o.Refine},
		static:  hmc.Kernel{FixedLength: true, Jitter: jitter, MaxEnergyError: o.MaxEnergyError},
		figures: map[string]float64{},
	}
	k.use(Setting{Kind: NUTS})
	if o.Kind == Leapfrog || o.Kind == ExactNormal {
		k.use(Setting{o.Kind, max(1, o.Steps)}) // for runs without warm-up
	}
	return k
}

// use makes s the setting in use.
func (k *Kernel) use(s Setting) {
	k.setting, k.relief, k.made, k.spare, k.owed = s, 0, 0, 0, 0
	k.static.Steps = max(1, s.Steps)
}

// Setting returns the setting in use.
func (k *Kernel) Setting() Setting { return k.setting }

// Transition implements [infer.Kernel]. It may make several transitions; Info then has their sums,
// means or maxima. Their number is fixed when warm-up ends, so that each leaves the target
// invariant.
func (k *Kernel) Transition(rng *rand.Rand, h infer.Hamiltonian, eps float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	z, info, err := k.transition(rng, h, eps, z)
	if err == nil && k.modes != nil {
		k.modes.count(z.Position)
	}
	return z, info, err
}

// Events implements [infer.Witness].
func (k *Kernel) Events() []infer.Event {
	if k.modes == nil {
		return nil
	}
	e := k.modes.event()
	if k.ladder == nil {
		return []infer.Event{e}
	}
	all, broad := k.ladder.Restarts()
	e.Figures["tempered"], e.Figures["restarts"], e.Figures["restarts_broad"] = 1, float64(all), float64(broad)
	return append(k.ladder.Events(), e)
}

func (k *Kernel) transition(rng *rand.Rand, h infer.Hamiltonian, eps float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	if k.ladder != nil {
		return k.ladder.Transition(rng, h, eps, z)
	}
	kernel, step := k.next(h, eps)
	if k.spare == 0 {
		return kernel.Transition(rng, h, step, z)
	}
	z, info, err := kernel.Transition(rng, h, step, z)
	if err != nil {
		return z, info, err
	}
	n := 1.0
	for k.owed += k.spare; k.owed >= 1; k.owed-- {
		before := info.Stats
		kernel, step = k.next(h, eps)
		z, info, err = kernel.Transition(rng, h, step, z)
		if err != nil {
			return z, info, err
		}
		n++
		info.AcceptStat = before.AcceptStat + (info.AcceptStat-before.AcceptStat)/n
		info.Leapfrogs += before.Leapfrogs
		info.TreeDepth = max(info.TreeDepth, before.TreeDepth)
		info.Divergent = info.Divergent || before.Divergent
	}
	return z, info, nil
}

// next returns the kernel and the step size for the next transition. It is the current kernel or,
// for every reliefEvery-th transition of a static kernel, NUTS.
func (k *Kernel) next(h infer.Hamiltonian, eps float64) (infer.Kernel, float64) {
	if k.setting.Kind == NUTS {
		return k.byNUTS(h, eps)
	}
	if k.relief > 0 {
		if k.made++; k.made%reliefEvery == 0 {
			return k.byNUTS(h, k.relief)
		}
	}
	if w, ok := h.(*hmc.Whitened); ok {
		w.Rotate = k.setting.Kind == ExactNormal
	}
	return &k.static, eps
}

func (k *Kernel) byNUTS(h infer.Hamiltonian, eps float64) (infer.Kernel, float64) {
	if w, ok := h.(*hmc.Whitened); ok {
		w.Rotate = false
	}
	return &k.nuts, eps
}

// reliefEvery is the period with which NUTS makes a transition in place of a static kernel. In
// tails that warm-up hardly visited, the target may be less normal than it seemed, and a static
// kernel may reject every proposal there. A transition of NUTS takes about three times as many
// gradients, so these transitions take more than a fourth of all gradients.
const reliefEvery = 8

type savedKernel struct {
	Setting Setting
	Relief  float64
	Made    int
	Spare   float64
	Owed    float64
	Figures infer.Figures
	Modes   *census
	Ladder  []byte // nil: none
}

// SaveState implements [infer.Resumable].
func (k *Kernel) SaveState() ([]byte, error) {
	var out bytes.Buffer
	var ladder []byte
	if k.ladder != nil {
		var err error
		if ladder, err = k.ladder.SaveState(); err != nil {
			return nil, err
		}
	}
	err := gob.NewEncoder(&out).Encode(savedKernel{k.setting, k.relief, k.made, k.spare, k.owed, k.figures, k.modes, ladder})
	return out.Bytes(), err
}

// LoadState implements [infer.Resumable].
func (k *Kernel) LoadState(h infer.Hamiltonian, state []byte) error {
	var s savedKernel
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return fmt.Errorf("auto: the saved state of the kernel cannot be read: %w", err)
	}
	if !slices.Contains(Kinds(), s.Setting.Kind) || s.Setting.Steps < 0 || !(s.Relief >= 0) || math.IsInf(s.Relief, 1) || s.Made < 0 || !(s.Spare >= 0 && s.Spare < k.maxPerDraw) || !(s.Owed >= 0 && s.Owed < 1) {
		return fmt.Errorf("auto: the saved state of the kernel makes no sense")
	}
	if s.Modes != nil && !s.Modes.prepare() {
		return fmt.Errorf("auto: the saved state of the kernel makes no sense")
	}
	k.use(s.Setting)
	k.modes = s.Modes
	if s.Ladder != nil {
		plan, err := tempered.Sampler{}.Plan(k.target, 0)
		if err != nil {
			return err
		}
		k.ladder = plan.Kernel.(*tempered.Kernel)
		if err := k.ladder.LoadState(h, s.Ladder); err != nil {
			return err
		}
	}
	k.relief, k.made, k.spare, k.owed = s.Relief, s.Made, s.Spare, s.Owed
	if s.Figures != nil {
		k.figures = s.Figures
	}
	return nil
}

// Chosen implements [infer.Chooser].
func (k *Kernel) Chosen() string {
	if k.ladder != nil {
		return "tempered"
	}
	return string(k.setting.Kind)
}

// Describe implements [infer.Describer].
func (k *Kernel) Describe() map[string]float64 {
	d := map[string]float64{}
	if k.setting.Kind != NUTS {
		d["trajectory_steps"] = float64(k.setting.Steps)
	}
	if k.spare > 0 {
		d["transitions_per_draw"] = 1 + k.spare
	}
	if k.ladder != nil {
		for name, v := range k.ladder.Describe() {
			d[name] = v
		}
	}
	for name, v := range k.figures {
		d[name] = v
	}
	return d
}
