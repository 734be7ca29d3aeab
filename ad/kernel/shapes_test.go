package kernel_test

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/ad/kernel"
)

// shapesFile was written by testdata/shapes.py, which uses mpmath.
const shapesFile = "testdata/shapes.txt"

// shapeFunctions compute what a line has after its arguments: the lower tail, the upper tail, and
// the derivatives of each with respect to the shapes.
var shapeFunctions = map[string]struct {
	args    int
	columns []func(a []float64) float64
	names   []string
}{
	"gamma": {2, []func(a []float64) float64{
		func(a []float64) float64 { return kernel.LogGammaP(0, a[0], a[1]) },
		func(a []float64) float64 { return kernel.LogGammaP(1, a[0], a[1]) },
		func(a []float64) float64 { return kernel.LogGammaQ(0, a[0], a[1]) },
		func(a []float64) float64 { return kernel.LogGammaQ(1, a[0], a[1]) },
	}, []string{"log P", "log P by a", "log Q", "log Q by a"}},
	"beta": {3, []func(a []float64) float64{
		three(kernel.LogBetaI), three(kernel.LogBetaIa), three(kernel.LogBetaIb),
		three(kernel.LogBetaIc), three(kernel.LogBetaIca), three(kernel.LogBetaIcb),
	}, []string{"log I", "log I by a", "log I by b", "log (1-I)", "log (1-I) by a", "log (1-I) by b"}},
	"student": {2, []func(a []float64) float64{
		two(kernel.LogStudentCDF), two(kernel.LogStudentCDFNu),
		func(a []float64) float64 { return kernel.LogStudentCDF(-a[0], a[1]) },
		func(a []float64) float64 { return kernel.LogStudentCDFNu(-a[0], a[1]) },
	}, []string{"log F", "log F by nu", "log (1-F)", "log (1-F) by nu"}},
}

// TestShapes compares with mpmath at shapes from 1e-8 to 1e16. The relative error of values may be
// 1e-12, that of derivatives 1e-9.
func TestShapes(t *testing.T) {
	file, err := os.Open(shapesFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	points := 0
	worst := map[string]float64{}
	at := map[string]string{}
	for in := bufio.NewScanner(file); in.Scan(); {
		words := strings.Fields(in.Text())
		if words[0] == "#" {
			continue
		}
		f := shapeFunctions[words[0]]
		numbers := make([]float64, len(words)-1)
		for i, w := range words[1:] {
			if numbers[i], err = strconv.ParseFloat(w, 64); err != nil {
				t.Fatal(err)
			}
		}
		args, wants := numbers[:f.args], numbers[f.args:]
		for i, want := range wants {
			points++
			got := f.columns[i](args)
			e := math.Abs(got - want)
			bound, floor := 1e-12, 1e-290
			if strings.Contains(f.names[i], " by ") {
				bound = 1e-9
			}
			name := words[0] + " " + f.names[i]
			if got != want && !(e <= bound*math.Abs(want)+floor) {
				t.Errorf("%s at %v is %v, want %v, off by %.2g", name, args, got, want, e/math.Abs(want))
			}
			if r := e / math.Abs(want); want != 0 && math.Abs(want) > 1e-280 && r > worst[name] {
				worst[name], at[name] = r, fmt.Sprint(args)
			}
		}
	}
	for name, w := range worst {
		t.Logf("%-22s worst %.1e at %s", name, w, at[name])
	}
	t.Log(points, "numbers")
}
