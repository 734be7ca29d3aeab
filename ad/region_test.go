package ad

import "testing"

// TestResultsLinear checks that the cost of reading a result of a region does not depend on the
// number of its results, because scans may carry thousands of values. It counts allocations.
func TestResultsLinear(t *testing.T) {
	allocations := func(carries int) float64 {
		g, body := NewGraph(), NewGraph()
		args := make([]Ref, carries)
		for i := range args {
			args[i] = g.Input(Scalar)
			body.Output(body.Do(OpSin, nil, body.Input(Scalar)))
		}
		scan := g.DoScan(&Scan{Body: body, Carries: carries, Steps: 3}, args)
		next := 0
		return testing.AllocsPerRun(30, func() {
			g.Result(scan, next)
			next++
		})
	}
	if few, many := allocations(20), allocations(4000); many > few+1 {
		t.Errorf("a result of a scan of 4000 carried values takes %v allocations, of 20 %v", many, few)
	}
	g := NewGraph()
	f := &If{Then: NewGraph(), Else: NewGraph()}
	f.Then.Output(f.Then.Const(1))
	f.Else.Output(f.Else.Const(2))
	r := g.Do(OpIf, f, g.Input(Scalar))
	for _, k := range []int{-1, 1} {
		if _, ok := g.Nodes[r].ResultType(k); ok {
			t.Errorf("a conditional of one result has result %d", k)
		}
	}
}
