package zzprobe

import (
	"fmt"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/vm"
	"github.com/ppl-lang/ppl/lang/source"
)

func TestProbe(t *testing.T) {
	for _, name := range []string{"eight_schools", "garch", "hierarchical_regression", "logistic_regression", "normal_mixture", "stochastic_volatility"} {
		if w := os.Getenv("PROBE"); w != "" && w != name {
			continue
		}
		dir := "/work/main/examples/" + name + "/" + name
		src, _ := os.ReadFile(dir + ".model")
		set, err := data.ReadJSON(dir + ".data.json")
		if err != nil {
			t.Fatal(err)
		}
		prog, diags := compile.Compile(source.NewFile(name, string(src)))
		if prog == nil {
			t.Fatal(diags)
		}
		t0 := time.Now()
		m, err := prog.Bind(set, compile.BindOptions{})
		if err != nil {
			t.Fatal(err)
		}
		bindTime := time.Since(t0)
		p := (*vm.Program)(reflect.ValueOf(m).Elem().FieldByName("density").UnsafePointer())
		x := make([]float64, m.Dim())
		for i := range x {
			x[i] = 0.1
		}
		g := make([]float64, m.Dim())
		_, err = m.LogDensityGrad(x, g)
		best := time.Hour
		for k := 0; k < 2000; k++ {
			t0 := time.Now()
			for r := 0; r < 10; r++ {
				m.LogDensityGrad(x, g)
			}
			best = min(best, time.Since(t0)/10)
		}
		fmt.Println("#", name, m.Dim(), best, err, "bind", bindTime)
		if os.Getenv("PROBE") != "" {
			fmt.Println(p)
		}
	}
}
