package diagnose_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer/diagnose"
)

// planted panics in the column of its last quantity.
type planted struct{ quantities int }

func (p planted) Names() []string {
	names := make([]string, p.quantities)
	for i := range names {
		names[i] = "x." + strconv.Itoa(i)
	}
	return names
}
func (p planted) Chains() int { return 2 }
func (p planted) Len(int) int { return 10 }
func (p planted) Column(dst []float64, chain, quantity int) []float64 {
	if quantity == p.quantities-1 {
		panic("planted")
	}
	for i := range 10 {
		dst = append(dst, float64(i*i%7))
	}
	return dst
}

// A panic of the draws' own code arrives where Summarize and Check were called, which may recover
// it, and not in a goroutine of this package, where it would end the program.
func TestPlantedPanics(t *testing.T) {
	for name, run := range map[string]func(d diagnose.Draws){
		"Summarize": func(d diagnose.Draws) { diagnose.Summarize(d) },
		"Check":     func(d diagnose.Draws) { diagnose.Check(d, diagnose.Summarize(d), diagnose.Options{}) },
	} {
		for _, quantities := range []int{1, 200} {
			func() {
				defer func() {
					if r := fmt.Sprint(recover()); !strings.Contains(r, "planted") {
						t.Errorf("%s of %d quantities: recovered %s", name, quantities, r)
					}
				}()
				run(planted{quantities})
				t.Errorf("%s of %d quantities did not panic", name, quantities)
			}()
		}
	}
}
