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
)

// Kernel is the kernel in use. It adapts nothing by itself.
type Kernel struct {
	setting Setting
	nuts    nuts.Kernel
	static  hmc.Kernel
	relief  float64            // step size of NUTS, which makes every reliefEvery-th transition in place of a static kernel; 0: none
	made    int                // transitions with relief
	told    map[string]float64 // what warm-up has found, for Describe
}

var (
	_ infer.Kernel    = (*Kernel)(nil)
	_ infer.Resumable = (*Kernel)(nil)
	_ infer.Describer = (*Kernel)(nil)
)

func newKernel(o Sampler) *Kernel {
	k := &Kernel{
		nuts:   nuts.Kernel{MaxDepth: o.MaxDepth, MaxEnergyError: o.MaxEnergyError},
		static: hmc.Kernel{FixedLength: true, Jitter: jitter, MaxEnergyError: o.MaxEnergyError},
		told:   map[string]float64{},
	}
	k.use(Setting{Kind: NUTS})
	if o.Kind == Leapfrog || o.Kind == ExactNormal {
		k.use(Setting{o.Kind, max(1, o.Steps)}) // for runs without warm-up
	}
	return k
}

// use makes a setting the one in use.
func (k *Kernel) use(s Setting) {
	k.setting, k.relief, k.made = s, 0, 0
	k.static.Steps = max(1, s.Steps)
}

// Setting is the setting in use.
func (k *Kernel) Setting() Setting { return k.setting }

// Transition implements [infer.Kernel].
func (k *Kernel) Transition(rng *rand.Rand, h infer.Hamiltonian, eps float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	if w, ok := h.(*hmc.Whitened); ok {
		w.Rotate = k.setting.Kind == ExactNormal
	}
	if k.setting.Kind == NUTS {
		return k.nuts.Transition(rng, h, eps, z)
	}
	if k.relief > 0 {
		if k.made++; k.made%reliefEvery == 0 {
			if w, ok := h.(*hmc.Whitened); ok {
				w.Rotate = false
			}
			return k.nuts.Transition(rng, h, k.relief, z)
		}
	}
	return k.static.Transition(rng, h, eps, z)
}

// reliefEvery is how often NUTS makes a transition in place of a static kernel that was
// chosen: where the target is not as normal as it seemed, in tails that warm-up has hardly
// seen, trajectories of fixed length may be rejected for ever.
const reliefEvery = 4

type savedKernel struct {
	Setting Setting
	Relief  float64
	Made    int
	Told    map[string]float64
}

// SaveState implements [infer.Resumable].
func (k *Kernel) SaveState() ([]byte, error) {
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(savedKernel{k.setting, k.relief, k.made, k.told})
	return out.Bytes(), err
}

// LoadState implements [infer.Resumable].
func (k *Kernel) LoadState(_ infer.Hamiltonian, state []byte) error {
	var s savedKernel
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return fmt.Errorf("auto: the saved state of the kernel cannot be read: %w", err)
	}
	if !slices.Contains(Kinds(), s.Setting.Kind) || s.Setting.Steps < 0 || !(s.Relief >= 0) || math.IsInf(s.Relief, 1) || s.Made < 0 {
		return fmt.Errorf("auto: the saved state of the kernel makes no sense")
	}
	k.use(s.Setting)
	k.relief, k.made = s.Relief, s.Made
	if s.Told != nil {
		k.told = s.Told
	}
	return nil
}

// Describe implements [infer.Describer].
func (k *Kernel) Describe() map[string]float64 {
	d := map[string]float64{"kernel": float64(slices.Index(Kinds(), k.setting.Kind))}
	if k.setting.Kind != NUTS {
		d["trajectory_steps"] = float64(k.setting.Steps)
	}
	for name, v := range k.told {
		d[name] = v
	}
	return d
}
