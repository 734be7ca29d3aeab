package vm

import (
	"errors"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// TestVastMemory checks large memory. Machine code reaches 2 GiB from the start of memory, so
// larger programs are interpreted. Memory that needs offsets of more than 32 bits is refused.
func TestVastMemory(t *testing.T) {
	for _, c := range []struct {
		n, times       int
		vast, tooLarge bool
	}{{1000, 1, false, false}, {1 << 28, 1, true, false}, {1 << 30, 3, true, true}} {
		g := ad.NewGraph()
		x := g.Input(ad.Type{Shape: []int{c.n}})
		for k := range c.times {
			g.Output(g.Exp(g.Mul(g.Const(float64(k+2)), x)))
		}
		p, err := Compile(g, passes.Options{})
		if limit := (*ad.LimitError)(nil); errors.As(err, &limit) != c.tooLarge {
			t.Fatalf("%d: %v", c.n, err)
		}
		if err == nil && (p.vast() != c.vast || c.vast && p.target != nil) {
			t.Errorf("%d: vast %t", c.n, p.vast())
		}
	}
}

// TestLong checks which evaluations count as long, and so need a goroutine that watches for a stop.
// Many small matrices take less time than one large matrix with as many elements.
func TestLong(t *testing.T) {
	for lanes, long := range map[int]bool{1: true, 10000: false} {
		g := ad.NewGraph()
		n := int(math.Sqrt(float64(640000 / lanes)))
		x := g.Cholesky(g.Input(ad.Type{Lanes: lanes, Shape: []int{n, n}}))
		g.Output(x)
		p, err := Compile(g, passes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.New().mayBeLeft(&ad.Env{Stop: func() error { return nil }}); got != long {
			t.Errorf("%d matrices of order %d: long %t, %v ns", lanes, n, got, p.time)
		}
	}
}

// TestLeftEvaluation checks that a machine whose evaluation was abandoned computes the same as a
// new one. To make sure that the evaluation does not end earlier, its print statement waits until
// the stop function is called.
func TestLeftEvaluation(t *testing.T) {
	g := ad.NewGraph()
	x := g.Input(ad.Type{Shape: []int{300, 300}})
	g.Print(&ad.Message{Parts: []ad.MessagePart{{Text: "begun", Arg: -1}}})
	y := x
	for range 4 {
		y = g.MatMul(y, g.Do(ad.OpSin, nil, y))
	}
	g.Output(g.Sum(y))
	p, err := Compile(g, passes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p.time <= longRun {
		t.Fatal("this takes long")
	}
	fill := func(m *Machine) {
		for i := range m.Input(0) {
			m.Input(0)[i] = math.Sin(float64(i)) / 100
		}
	}
	m, fresh := p.New(), p.New()
	fill(m)
	fill(fresh)
	enough, asked := errors.New("enough"), make(chan struct{})
	err = m.Run(&ad.Env{
		Print: func(string) { <-asked },
		Stop:  func() error { close(asked); return enough },
	})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	if m.mem != nil {
		t.Error("other memory was taken before the machine is used again: a cancelled run would be late")
	}
	quiet := &ad.Env{Print: func(string) {}, Stop: func() error { return nil }}
	if err := m.Run(quiet); err != nil {
		t.Fatal(err)
	}
	if err := fresh.Run(quiet); err != nil {
		t.Fatal(err)
	}
	if got, want := m.Output(0)[0], fresh.Output(0)[0]; got != want {
		t.Errorf("%v, a new machine %v", got, want)
	}
}

// TestLongTrips checks that a while loop with long trips is watched only without machine code,
// which checks for a stop more often, and that the trips of loops within it do not count.
func TestLongTrips(t *testing.T) {
	const statements = 3000 // of one trip
	loop := func(inner bool) *ad.Graph {
		g := ad.NewGraph()
		cond, body := ad.NewGraph(), ad.NewGraph()
		cond.Output(cond.Less(cond.Input(ad.Scalar), cond.Const(3)))
		y := body.Input(ad.Scalar)
		step := body
		if inner {
			step = ad.NewGraph()
			y = step.Input(ad.Scalar)
		}
		for range statements {
			y = step.Add(step.Do(ad.OpSin, nil, y), step.Const(1))
		}
		step.Output(y)
		if inner {
			c := ad.NewGraph()
			c.Output(c.Less(c.Input(ad.Scalar), c.Const(2)))
			r := body.DoWhile(&ad.While{Cond: c, Body: step, Carries: 1, Snapshots: 2}, []ad.Ref{body.Inputs[0]})
			body.Output(body.Add(body.Const(1), body.Final(r, 0)))
		}
		w := &ad.While{Cond: cond, Body: body, Carries: 1, Snapshots: 2}
		g.Output(g.Final(g.DoWhile(w, []ad.Ref{g.Input(ad.Scalar)}), 0))
		return g
	}
	env := &ad.Env{Stop: func() error { return nil }}
	for _, inner := range []bool{false, true} {
		for _, o := range []passes.Options{{}, {Without: []string{passes.NativePass}}} {
			p, err := Compile(loop(inner), o)
			if err != nil {
				t.Fatal(err)
			}
			if least, most := longTrip, longTrip*ad.StopEvery/pauseEvery; p.trip < least || p.trip > most {
				t.Fatalf("a trip of %v ns, not between %v and %v: change the number of statements", p.trip, least, most)
			}
			m := p.New()
			if want := !p.pauses; m.mayBeLeft(env) != want || p.pauses != (p.native != nil) {
				t.Errorf("inner %t, machine code %t: watched %t", inner, p.native != nil, m.mayBeLeft(env))
			}
		}
	}
}
