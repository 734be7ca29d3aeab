package infer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// panicking panics at its third evaluation.
type panicking struct{ n int }

func (f *panicking) Dim() int { return 1 }
func (f *panicking) LogDensityGrad(x, grad []float64) (float64, error) {
	if f.n++; f.n == 3 {
		panic(fmt.Errorf("a table of 3 has no row 4\nand more: %w", errPanicking))
	}
	grad[0] = -x[0]
	return -x[0] * x[0] / 2, nil
}

var errPanicking = errors.New("cause")

// TestPanicError checks that a panic of a target becomes a one-line error, with a separate stack.
func TestPanicError(t *testing.T) {
	s, err := infer.NewSession(&panicking{}, infer.Config{Sampler: nuts.Sampler{}, Chains: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got *infer.PanicError
	for _, err := range s.Draws(t.Context()) {
		if err != nil && !errors.As(err, &got) {
			t.Fatal(err)
		}
		if err != nil && (strings.ContainsAny(err.Error(), "\n/") || !strings.Contains(err.Error(), "a table of 3 has no row 4") || !errors.Is(err, errPanicking)) {
			t.Errorf("%v", err)
		}
	}
	if got == nil || !strings.Contains(string(got.Stack), "(*panicking).LogDensityGrad") {
		t.Errorf("%+v", got)
	}
}

// planted panics in the method of this name.
type planted struct {
	infer.Kernel
	where string
}

func (p planted) in(name string) {
	if p.where == name {
		panic("planted")
	}
}

func (p planted) Dim() int { return 1 }
func (p planted) LogDensityGrad(x, grad []float64) (float64, error) {
	grad[0] = -x[0]
	return -x[0] * x[0] / 2, nil
}
func (p planted) SetStop(stop func() error) {
	if stop == nil {
		p.in("SetStop(nil)")
	}
}
func (p planted) OutputNames() []string { return []string{"x"} }
func (p planted) Generate([]float64, *rand.Rand, []float64) error {
	p.in("Generate")
	return nil
}

func (p planted) Plan(target *infer.Meter, n int) (infer.Plan, error) {
	p.in("Plan")
	plan, err := nuts.Sampler{}.Plan(target, n)
	p.Kernel = plan.Kernel
	plan.Kernel = p
	return plan, err
}
func (p planted) Describe() map[string]float64 { p.in("Describe"); return nil }
func (p planted) Tables() []infer.Table        { p.in("Tables"); return nil }
func (p planted) Transition(rng *rand.Rand, h infer.Hamiltonian, eps float64, z *infer.Point) (*infer.Point, infer.Info, error) {
	p.in("Transition")
	return p.Kernel.Transition(rng, h, eps, z)
}

// TestPlantedPanics: a panic of a target or a sampler ends the chain, wherever it is called: also
// at the end, when the report is completed.
func TestPlantedPanics(t *testing.T) {
	for _, where := range []string{"Plan", "Transition", "Describe", "Tables", "SetStop(nil)", "Generate"} {
		p := planted{where: where}
		s, err := infer.NewSession(p, infer.Config{Sampler: p, Chains: 1, Warmup: 3, Draws: 3})
		if err != nil {
			t.Fatal(err)
		}
		var got *infer.PanicError
		for _, err := range s.Draws(t.Context()) {
			errors.As(err, &got)
		}
		if got == nil || got.Value != "planted" || s.Report().Chains[0].Err == nil {
			t.Errorf("%s: %v, and in the report %v", where, got, s.Report().Chains[0].Err)
		}
	}
}

// leaving leaves work behind when it is stopped. The work ends when released is closed.
type leaving struct {
	stop     func() error
	released chan struct{}
	ended    atomic.Bool
}

func (l *leaving) Dim() int                  { return 1 }
func (l *leaving) SetStop(stop func() error) { l.stop = stop }
func (l *leaving) LogDensityGrad(x, grad []float64) (float64, error) {
	for {
		time.Sleep(20 * time.Millisecond)
		if err := l.stop(); err != nil {
			var waits interface{ Leave() (ended func()) }
			if !errors.As(err, &waits) {
				return 0, fmt.Errorf("%T does not take what is left behind", err)
			}
			ended := waits.Leave()
			go func() {
				<-l.released
				l.ended.Store(true)
				ended()
			}()
			return 0, err
		}
	}
}

// TestGrace checks that a cancelled run waits up to Grace for goroutines that its chains left
// behind.
func TestGrace(t *testing.T) {
	for _, test := range []struct {
		grace, want time.Duration
		ended       bool
	}{{0, time.Minute, true}, {time.Second, time.Second, false}, {time.Hour, time.Minute, true}, {-1, 0, false}} {
		synctest.Test(t, func(t *testing.T) {
			target := &leaving{released: make(chan struct{})}
			s, err := infer.NewSession(target, infer.Config{Sampler: nuts.Sampler{}, Chains: 1, Grace: test.grace})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			time.AfterFunc(time.Second+time.Minute, func() { close(target.released) })
			began := time.Now()
			for _, err := range s.Draws(ctx) {
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
			}
			if late := time.Since(began) - time.Second; late < test.want-50*time.Millisecond || late > test.want+50*time.Millisecond || target.ended.Load() != test.ended {
				t.Errorf("grace %v: late by %v, not %v; what was left had ended: %t", test.grace, late, test.want, target.ended.Load())
			}
			synctest.Wait()
			<-target.released
		})
	}
}
